// The page of `show` in a host with MCP Apps. It speaks JSON-RPC with the host by postMessage,
// and shows what the result brings: known elements alone, so that nothing of it can run or load.
"use strict";
(() => {
  const PAGE = "toolcrib/page";
  const SVG = "http://www.w3.org/2000/svg";
  const words = (text) => new Set(text.split(" "));
  const DROPPED = words(
    "script noscript template iframe frame object embed applet base meta link head title",
  );
  const ELEMENTS = words(
    "a abbr article aside b blockquote br button caption code col colgroup dd del details dfn div " +
      "dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd label " +
      "legend fieldset li main mark meter nav ol option p pre progress q s samp section select " +
      "small span strong style sub summary sup table tbody td textarea tfoot th thead time tr u " +
      "ul var wbr",
  );
  const SHAPES = words(
    "svg g path rect circle ellipse line polyline polygon text tspan title desc defs clipPath " +
      "linearGradient radialGradient stop marker",
  );
  const ATTRIBUTES = words(
    "style class id title alt role dir lang colspan rowspan scope headers start reversed value " +
      "type for name placeholder checked disabled selected multiple min max step rows cols open " +
      "datetime width height viewBox x y x1 y1 x2 y2 cx cy r rx ry d points transform dx dy fill " +
      "stroke opacity offset preserveAspectRatio",
  );
  const PREFIXES = /^(?:aria|data|fill|stroke|font|text|clip|stop|marker|dominant|gradient)-/;
  const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;
  const LINK = /^(?:https?:|mailto:)/i;
  const root = document.getElementById("page");
  const waiting = new Map();
  let last = 0;

  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params) => send({ method, params });
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      send({ id: last, method, params });
    });

  function copy(from, to) {
    for (const node of from.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) to.append(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      const name = node.localName;
      const drawn = node.namespaceURI === SVG;
      if (DROPPED.has(name) && !(drawn && name === "title")) continue;
      if (!(drawn ? SHAPES : ELEMENTS).has(name)) {
        copy(node, to); // a form, or what nobody knows: its content stays
        continue;
      }
      const made = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
      for (const { name: key, value } of node.attributes) {
        const known = ATTRIBUTES.has(key) || PREFIXES.test(key);
        if (known || (key === "src" && name === "img" && PICTURE.test(value))) {
          made.setAttribute(key, value);
        }
      }
      if (name === "a") link(made, node.getAttribute("href") || "");
      copy(node, made);
      to.append(made);
    }
  }

  // The host opens it after asking; nothing leads this page elsewhere.
  function link(element, url) {
    if (!LINK.test(url)) return;
    element.setAttribute("role", "link");
    element.tabIndex = 0;
    element.title = url;
    const open = () => request("ui/open-link", { url }).catch(() => {});
    element.addEventListener("click", open);
    element.addEventListener("keydown", (event) => event.key === "Enter" && open());
  }

  function show(result) {
    const page = (result._meta || {})[PAGE];
    root.replaceChildren();
    if (typeof page === "string" && page && !result.isError) {
      const parsed = new DOMParser().parseFromString(page, "text/html");
      for (const style of parsed.head.querySelectorAll("style")) {
        const own = document.createElement("style");
        own.textContent = style.textContent;
        root.append(own);
      }
      copy(parsed.body, root);
      return;
    }
    for (const block of result.content || []) {
      const element = document.createElement(block.type === "image" ? "img" : "pre");
      if (block.type === "image") element.src = `data:${block.mimeType};base64,${block.data}`;
      else element.textContent = block.text || "";
      root.append(element);
    }
  }

  function adopt(context) {
    if (context && context.theme) document.documentElement.dataset.theme = context.theme;
  }

  const HANDLERS = {
    "ui/notifications/tool-result": show,
    "ui/notifications/host-context-changed": adopt,
    "ui/notifications/tool-cancelled": () => root.replaceChildren("Cancelled."),
  };

  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !data || data.jsonrpc !== "2.0") return;
    if (!data.method) {
      const { resolve, reject } = waiting.get(data.id) || {};
      waiting.delete(data.id);
      if (resolve) data.error ? reject(new Error(data.error.message)) : resolve(data.result);
      return;
    }
    const handle = HANDLERS[data.method];
    if (handle) handle(data.params || {});
    if (data.id !== undefined) send({ id: data.id, result: {} });
  });

  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    notify("ui/notifications/size-changed", { width: Math.ceil(width), height: Math.ceil(height) });
  }).observe(document.documentElement);

  request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "toolcrib", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline"] },
  })
    .then((answer) => adopt(answer && answer.hostContext))
    .catch(() => {})
    .then(() => notify("ui/notifications/initialized", {}));
})();
