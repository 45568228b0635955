"""Inline elements before Markdown: breaks, raised text, terms, check boxes, links."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolcrib.documents.reader.markdown.formulas import OPEN, Slots, formulas_in

if TYPE_CHECKING:
    from turbohtml import Element


_PHRASES = frozenset({"b", "strong", "i", "em", "a", "u", "span", "font", "small", "label"})
_HEAVY = "h1, h2, h3, h4, h5, h6, table, pre, dl, img"
_CJK = "\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_JOINED = re.compile(f"(?<=[{_CJK}])[ \t]*\n\\s*(?=[{_CJK}])")
_ASIAN = ("。", "、", "の", "的", "は", "一")
"""A text in Chinese or Japanese has one of them."""
_ODD = (*"\xa0\xad\u200b\ufeff\u2060\u2028\u2029\u180e", "\\(", "\\[", "$$")
_TABLE: dict[int, str | None] = dict.fromkeys((0xAD, 0x180E, 0x200B, 0x2060, 0xFEFF))
_TABLE |= {0xA0: " ", 0x2028: "\n", 0x2029: "\n"}
_PLAIN_RAISED = re.compile(r"\A[\s\[(]*(?:[A-Za-z]{2,}|[®©™℠]|\[.*|)[\s\])]*\Z", re.DOTALL)


def clean_texts(root: Element, slots: Slots) -> None:
    """Spaces that do not break become ordinary, characters of no width go, CJK lines join."""
    from turbohtml import Text

    whole = root.text
    odd = [sign for sign in _ODD if sign in whole]
    asian = "\n" in whole and any(sign in whole for sign in _ASIAN)
    if not odd and not asian:
        return
    for node in list(root.descendants):
        if type(node) is not Text:
            continue
        data = text = node.data
        if asian and "\n" in data:
            text = _JOINED.sub("", text)
        for sign in odd:
            if sign in text:
                text = _plain(text, node, slots)
                break
        if text is not data:
            node.data = text


def _plain(text: str, node: Any, slots: Slots) -> str:
    text = text.translate(_TABLE)
    if "\\" in text or "$$" in text:
        parent = node.parent
        if parent is None or parent.closest("pre, code, samp, kbd, textarea") is None:
            return formulas_in(text, slots)
    return text


def write_phrases(root: Element, tags: dict[str, list[Element]], slots: Slots) -> None:
    """Prepare breaks, raised and lowered text, check boxes, terms and summaries."""
    thin_breaks(tags.get("br", []))
    for tag in ("sup", "sub"):
        for node in tags.get(tag, ()):
            _raise(node, tag, slots)
    ticked: set[Element] = set()
    for box in tags.get("input", ()):
        _tick(box, slots, ticked)
    for quote in tags.get("blockquote", ()):
        if not quote.text.strip() and quote.select_one(_HEAVY) is None:
            quote.extract()
    for summary in tags.get("summary", ()):
        if summary.select_one(_HEAVY) is None:
            _embolden(summary)
    _write_lists(tags)
    if "div" in tags or "span" in tags:
        for node in root.select("[role=heading]"):
            level = (node.attr("aria-level") or "2").strip()
            node.tag = f"h{level}" if level in tuple("123456") else "h2"


def _write_lists(tags: dict[str, list[Element]]) -> None:
    for terms in tags.get("dl", ()):
        _define(terms)
    for tag in ("ul", "ol"):
        for listed in tags.get(tag, ()):
            _itemise(listed)


def thin_breaks(breaks: list[Element]) -> None:
    """Leave two line breaks of a row of them, and one inside emphasis and the like."""
    for line_break in breaks:
        before = _break_before(line_break)
        if before is None:
            continue
        inside = getattr(line_break.parent, "tag", "") in _PHRASES
        if inside or _break_before(before) is not None:
            # With the space before it: what is left would be walked over again and again.
            while (space := line_break.previous_sibling) is not None and space != before:
                space.extract()
            line_break.extract()


def _break_before(line_break: Any) -> Any | None:
    before = line_break.previous_sibling
    while before is not None and not hasattr(before, "tag") and not before.text.strip():
        before = before.previous_sibling
    return before if getattr(before, "tag", "") == "br" else None


def _raise(node: Any, tag: str, slots: Slots) -> None:
    """Keep the tags of raised text where they change what it says: `x<sup>2</sup>`."""
    from turbohtml import Text

    if node.parent is None:
        return
    if not _PLAIN_RAISED.match(node.text) and OPEN not in node.text:
        node.insert(0, Text(slots.put(f"<{tag}>")))
        node.append(Text(slots.put(f"</{tag}>")))
    node.unwrap()


def _tick(box: Any, slots: Slots, ticked: set[Element]) -> None:
    """The first box of an entry of a list as `[x]` or `[ ]` at its start."""
    from turbohtml import Text

    if box.parent is None or (box.attr("type") or "").lower() != "checkbox":
        return
    item = box.closest("li")
    if item is None or item in ticked:
        return
    ticked.add(item)
    mark = "[x] " if box.attr("checked") is not None else "[ ] "
    box.extract()
    target = item
    first = next((one for one in item if one.text.strip()), None)
    if getattr(first, "tag", "") in ("p", "div", "label"):
        target = first
    words = next((one for one in target if one.text.strip()), None)
    if isinstance(words, Text):
        words.data = words.data.lstrip()
    target.insert(0, Text(slots.put(mark)))


def _itemise(listed: Any) -> None:
    """What stands in a list outside its entries becomes an entry, or gives its own up to it."""
    from turbohtml import Element

    for node in list(listed):
        tag = getattr(node, "tag", "")
        if tag in ("li", "ul", "ol") or (not tag and not node.text.strip()):
            continue
        if tag and any(getattr(child, "tag", "") == "li" for child in node):
            node.unwrap()
        elif node.text.strip():
            node.wrap(Element("li"))


def _embolden(node: Any) -> None:
    from turbohtml import Element

    if node.text.strip():
        node.wrap_children(Element("strong"))
    node.tag = "p"


def _define(terms: Any) -> None:
    """A list of terms as a bold line each, with a list of what they mean."""
    from turbohtml import Element

    if terms.parent is None:
        return
    heavy = terms.select_one(_HEAVY) is not None
    parts = [
        node
        for child in terms
        if hasattr(child, "tag")
        for node in (child if child.tag == "div" else (child,))
        if getattr(node, "tag", "") in ("dt", "dd")
    ]
    listed: Any = None
    for part in parts:
        if part.tag == "dt":
            listed = None
            if heavy or part.find(["p", "div"]) is not None:
                part.tag = "div"
            else:
                _embolden(part)
        elif heavy:
            part.tag = "div"
        elif part.text.strip():
            if listed is None:
                listed = Element("ul")
                part.insert_before(listed)
            part.tag = "li"
            listed.append(part)
    terms.tag = "div"


# Links: those without a target or text go, those around blocks move into them.

_BLOCKS = (
    "h1, h2, h3, h4, h5, h6, p, div, ul, ol, dl, table, blockquote, section, article, header,"
    " figure, footer, pre, hr"
)
_WITH_BLOCKS = "a:has(" + _BLOCKS + ")"
_NOWHERE = re.compile(r"\s*(?:javascript:|data:|vbscript:|about:|blob:|#\s*\Z|\Z)", re.IGNORECASE)
_SPACE = re.compile(r"[\t\n\r]+\s*")
_PERMALINKS = frozenset({"", "#", "¶", "§", "🔗", "link", "permalink", "anchor", "\uf0c1"})
_SIGNS = frozenset("¶§🔗\uf0c1")
_EDITS = ".mw-editsection, .section-edit-link"
_PERMANENT = re.compile(r"headerlink|heading-?link|permalink|anchor", re.IGNORECASE)


def write_anchors(root: Element, tags: dict[str, list[Element]]) -> None:
    """Leave only links that lead somewhere from something."""
    for level in range(1, 7):
        for heading in tags.get(f"h{level}", ()):
            _clean_heading(heading)
    for link in tags.get("a", ()):
        if _is_permalink(link):
            link.extract()
        else:
            _clean_address(link)
    if "a" in tags:
        for link in root.select(_WITH_BLOCKS):
            _move_in(link)


def make_absolute(root: Element, base_url: str) -> None:
    """Make every address absolute; all stay as they are where the base is none."""
    with suppress(ValueError):
        root.resolve_links(base_url)


def _is_permalink(link: Any) -> bool:
    """Whether a link is a mere sign beside what it leads to: a term, a formula, a line."""
    words = link.text.strip()
    if not words or len(words) > 2 or "#" not in (link.attr("href") or ""):
        return False
    return words in _SIGNS or bool(_PERMANENT.search(link.attr("class") or ""))


def _clean_address(link: Any) -> None:
    href = link.attr("href")
    if href is None:
        return
    if _NOWHERE.match(href):
        del link.attrs["href"]
        return
    if "\n" in href or "\t" in href or "\r" in href or "`" in href:
        link.attrs["href"] = _SPACE.sub("", href.strip()).replace("`", "%60")
    if next(iter(link.stripped_strings), None) is None and link.find("img") is None:
        del link.attrs["href"]


def _clean_heading(heading: Any) -> None:
    """Drop the link of a heading to itself, and those to change it."""
    heading.remove(_EDITS)
    whole = heading.text.strip()
    for link in heading.find_all("a", limit=8):
        href = link.attr("href") or ""
        words = link.text.strip().lower()
        if href.startswith("#") and words and words == whole.lower():
            link.unwrap()
            continue
        if "#" in href and (words in _PERMALINKS or _is_permalink(link)):
            link.extract()
    if next(iter(heading.stripped_strings), None) is None and heading.find("img") is None:
        heading.extract()


def _move_in(link: Any) -> None:
    """Put a link around the heading, or else the first text, of the blocks inside it."""
    from turbohtml import Element

    href = link.attr("href")
    if href is not None:
        target = _target(link)
        if target is not None:
            target.wrap_children(Element("a", {"href": href}))
    link.tag = "div"
    for name in ("href", "title"):
        if link.attr(name) is not None:
            del link.attrs[name]


def _target(link: Any) -> Any | None:
    for heading in link.find_all(["h1", "h2", "h3", "h4", "h5", "h6"], limit=4):
        if heading.text.strip() and heading.select_one(_BLOCKS) is None:
            return heading
    for block in link.select(_BLOCKS)[:40]:
        if block.tag not in ("ul", "ol", "dl", "table", "hr", "pre"):
            words = block.text.strip() or block.find("img") is not None
            if words and block.select_one(_BLOCKS) is None:
                return block
    return None
