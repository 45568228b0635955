limit => {
  // The page as it is seen: what stands in a shadow root stands in the place of its host's content.
  const inert = document.implementation.createHTMLDocument();
  const copy = (node, into) => {
    if (node.nodeType !== 1) { into.append(inert.importNode(node, false)); return; }
    if (node.localName === 'slot' && node.getRootNode() !== document) {
      const given = node.assignedNodes({flatten: true});
      for (const one of given.length ? given : node.childNodes) copy(one, into);
      return;
    }
    const made = inert.importNode(node, false);
    into.append(made);
    for (const one of (node.shadowRoot || node).childNodes) copy(one, made);
  };
  const shadows = [...document.querySelectorAll('*')].some(e => e.shadowRoot);
  if (!shadows) return document.documentElement.outerHTML.slice(0, limit);
  const holder = inert.createElement('template').content;
  copy(document.documentElement, holder);
  return holder.firstElementChild.outerHTML.slice(0, limit);
}
