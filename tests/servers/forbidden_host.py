"""A host that no page may reach, and a page that tries every way to it."""

from __future__ import annotations

import socket
import threading

from tests.servers.web_app import WebApp

# What the page does; {bad} is the forbidden host, {ws} the same for web sockets.
CHANNELS = {
    "fetch": "fetch('{bad}/fetch', {mode: 'no-cors'})",
    "fetch-redirect": "fetch('/to/fetch-redirect', {mode: 'no-cors'})",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', '{bad}/xhr'); x.send()",
    "img": "new Image().src = '{bad}/img'",
    "img-redirect": "new Image().src = '/to/img-redirect'",
    "iframe": "add('iframe', {src: '{bad}/iframe'})",
    "iframe-redirect": "add('iframe', {src: '/to/iframe-redirect'})",
    "object": "add('object', {data: '{bad}/object', type: 'text/html'})",
    "embed": "add('embed', {src: '{bad}/embed', type: 'text/html'})",
    "pdf": "add('embed', {src: '{bad}/pdf', type: 'application/pdf'})",
    "beacon": "navigator.sendBeacon('{bad}/beacon', 'x')",
    "keepalive": "fetch('{bad}/keepalive', {method: 'POST', keepalive: true, mode: 'no-cors'})",
    "websocket": "new WebSocket('{ws}/websocket')",
    "events": "new EventSource('{bad}/events')",
    "worker-fetch": "work(`fetch('{bad}/worker-fetch', {mode: 'no-cors'})`)",
    "worker-websocket": "work(`new WebSocket('{ws}/worker-websocket')`)",
    "worker-import": "work(`importScripts('{bad}/worker-import')`)",
    "service-worker": "navigator.serviceWorker.register('/sw.js')",
    "popup": "window.open('{bad}/popup')",
    "link": "const a = add('a', {href: '{bad}/link', target: 'other'}); a.click()",
    "ping": "const p = add('a', {href: '#', ping: '{bad}/ping'}); p.click()",
    "form": "const f = add('form', {action: '{bad}/form', target: 'third'}); f.submit()",
    "script": "add('script', {src: '{bad}/script'})",
    "module": "import('{bad}/module').catch(() => 0)",
    "css": "add('link', {rel: 'stylesheet', href: '{bad}/css'})",
    "font": "new FontFace('f', 'url({bad}/font)').load().catch(() => 0)",
    "background": "document.body.style.background = 'url({bad}/background)'",
    "prefetch": "add('link', {rel: 'prefetch', href: '{bad}/prefetch'})",
    "preload": "add('link', {rel: 'preload', as: 'image', href: '{bad}/preload'})",
    "preconnect": "add('link', {rel: 'preconnect', href: '{bad}'})",
    "dns-prefetch": "add('link', {rel: 'dns-prefetch', href: '{bad}'})",
    "favicon": "add('link', {rel: 'icon', href: '{bad}/favicon'})",
    "manifest": "add('link', {rel: 'manifest', href: '{bad}/manifest'})",
    "video": "add('video', {src: '{bad}/video', preload: 'auto'})",
    "track": "const v = add('video', {}); const t = document.createElement('track'); "
    "t.src = '{bad}/track'; t.default = true; v.append(t)",
    "svg": "document.body.insertAdjacentHTML('beforeend', "
    "`<svg><image href='{bad}/svg' width=9 height=9 /></svg>`)",
    "download": "const d = add('a', {href: '{bad}/download', download: 'x', target: 'fourth'}); "
    "d.click()",
    "meta": "add('iframe', {srcdoc: `<meta http-equiv=refresh content='0;url={bad}/meta'>`})",
    "speculation": "const s = add('script', {type: 'speculationrules'}); s.textContent = "
    "JSON.stringify({prerender: [{source: 'list', urls: ['{bad}/speculation']}]})",
    "report": "new Image().src = '/reporting.png'",
    "shared-worker": "new SharedWorker(URL.createObjectURL(new Blob([`fetch('{bad}/shared-worker', "
    "{mode: 'no-cors'})`])))",
    "worklet": "CSS.paintWorklet.addModule('{bad}/worklet').catch(() => 0)",
    "audio-worklet": "new AudioContext().audioWorklet.addModule('{bad}/audio-worklet')"
    ".catch(() => 0)",
    "module-preload": "add('link', {rel: 'modulepreload', href: '{bad}/module-preload'})",
    "dictionary": "add('link', {rel: 'compression-dictionary', href: '{bad}/dictionary'})",
    "css-import": "add('style', {}).textContent = '@import url({bad}/css-import)'",
    "mask": "add('div', {style: 'mask-image: url({bad}/mask); width: 9px; height: 9px'})",
    "svg-filter": "document.body.insertAdjacentHTML('beforeend', `<svg><filter id=f><feImage "
    "href='{bad}/svg-filter' /></filter><rect width=9 height=9 filter='url(#f)' /></svg>`)",
    "blob-frame": "add('iframe', {src: URL.createObjectURL(new Blob(["
    "`<img src={bad}/blob-frame>`], {type: 'text/html'}))})",
    "empty-popup": "window.open().document.body.innerHTML = `<img src={bad}/empty-popup>`",
    "web-socket-stream": "new WebSocketStream('{ws}/web-socket-stream').opened.catch(() => 0)",
    "payment": "new PaymentRequest([{supportedMethods: '{bad}/payment'}], {total: {label: 'x', "
    "amount: {currency: 'USD', value: '1'}}}).canMakePayment().catch(() => 0)",
    "identity": "navigator.credentials.get({identity: {providers: [{configURL: "
    "'{bad}/identity', clientId: 'x'}]}}).catch(() => 0)",
    "other-name": "fetch('{bad}/other-name'.replace('127.0.0.1', 'a.localhost'), "
    "{mode: 'no-cors'})",
    "other-number": "fetch('{bad}/other-number'.replace('127.0.0.1', '2130706433'), "
    "{mode: 'no-cors'})",
    "webrtc": "const r = new RTCPeerConnection({iceServers: [{urls: '{stun}'}]}); "
    "r.createDataChannel('x'); r.createOffer().then(o => r.setLocalDescription(o))",
}
NEVER_SEEN = {"preconnect", "dns-prefetch", "favicon", "manifest", "track", "speculation", "report"}
"""What this browser may not do without a window, or not for such a page, guard or none."""
PAGE = """<!doctype html><title>Leaks</title><body><script>
function add(tag, attributes) { const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  document.body.append(e); return e; }
function work(code) { new Worker(URL.createObjectURL(new Blob([code]))); }
%s
setTimeout(() => document.body.append('Tried'), 500);
</script>"""


class ForbiddenHost:
    """The host that no page may reach: every connection and packet is written down."""

    def __init__(self) -> None:
        self.reached: set[str] = set()
        self.connections = 0
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("", 0))  # a page asks STUN servers by the network, never by loopback
        self.port = self._tcp.getsockname()[1]
        self.udp_port = self._udp.getsockname()[1]
        self._threads = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._packets, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._tcp.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(20)
            try:
                line = connection.recv(4096).split(b"\r\n")[0].decode("latin-1")
                self.reached.add(line.split()[1].strip("/?") if " " in line else "preconnect")
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            except (OSError, IndexError):
                self.reached.add("preconnect")

    def _packets(self) -> None:
        while True:
            try:
                self._udp.recvfrom(4096)
            except OSError:
                return
            self.reached.add("webrtc")

    def close(self) -> None:
        # A thread that is waiting for a connection is woken by one.
        self._tcp.shutdown(socket.SHUT_RDWR)
        self._tcp.close()
        self._udp.close()


def set_up(app: WebApp, forbidden: ForbiddenHost) -> str:
    """The URL of a page of the app that tries every channel."""
    bad = f"http://127.0.0.1:{forbidden.port}"
    tries = "\n".join(
        f"try {{ {_filled(code, forbidden)} }} catch (e) {{ console.log(String(e)) }}"
        for code in CHANNELS.values()
    )
    app.pages["/leaks"] = PAGE % tries
    app.pages["/sw.js"] = f"fetch('{bad}/service-worker')"
    for name in CHANNELS:
        app.redirects[f"/to/{name}"] = f"{bad}/{name}"
    return f"{app.url}/leaks"


def own_address() -> str:
    """An address of this machine in a network; loopback where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _filled(code: str, forbidden: ForbiddenHost) -> str:
    host = f"127.0.0.1:{forbidden.port}"
    return (
        code.replace("{bad}", f"http://{host}")
        .replace("{ws}", f"ws://{host}")
        .replace("{stun}", f"stun:{own_address()}:{forbidden.udp_port}")
    )
