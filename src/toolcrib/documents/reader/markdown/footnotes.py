"""Footnotes: `[^1]` in the text and `[^1]: …` where the note stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from toolcrib.documents.reader.markdown.formulas import Slots

if TYPE_CHECKING:
    from turbohtml import Element

_NOTE = re.compile(
    r"\A(?:user-content-)?(?:[\w.:-]*[-_:.])?_?(?:fn|footnote|note|cite_note|endnote|ftn|edn|sdfootnote"
    r"|easy-footnote-bottom|en|ref|reference|bib|cit|CR|r)[-_:.]?[\w:.%-]*\Z",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"fnref|ftnref|ednref|cite_ref|backref|back-?link|noteref|footnote-?ref|ref-?back",
    re.IGNORECASE,
)
# Names by number alone, which only the class of the reference marks as notes.
_NUMBERED = re.compile(r"(?:foot|end)note-ref", re.IGNORECASE)
_ROLE = re.compile(r"footnote|noteref|reference|fnref|fn-?ref|citation|bibr|endnote", re.IGNORECASE)
_LABEL = re.compile(r"[\[(]?\s*([\w*†‡§-]{1,6})\s*[\])]?\.?\Z")
_BACK_SIGNS = frozenset({"↩", "↩\ufe0e", "↑", "^", "⏎", "↵", "back", "jump up", "⇑", "↥"})
_LABELS = "span.label, td.label, .footnote-label, .footnote-number"
_CARRIERS = frozenset({"li", "p", "div", "aside", "dd", "section", "td"})


def write_notes(links: list[Element], root: Element, slots: Slots) -> None:
    """Turn references to notes and the notes, where the page has both, into footnotes.

    A reference whose note is not part of the tree keeps its sign and loses its link.
    """
    found = [(link, name) for link in links if (name := _reference(link))]
    if not found:
        return
    wanted = {name for _, name in found}
    notes: dict[str, Any] = {}
    for node in root.select("[id], a[name]"):
        for name in (node.attr("id") or "", node.attr("name") or ""):
            if name in wanted and name not in notes:
                notes[name] = node
    notes = {name: _carrier(node) for name, node in notes.items()}
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for link, name in found:
        note = notes.get(name)
        sign = _sign(link, len(labels) + 1)
        if note is None:
            _place(link, slots.put(f"[{sign}]"))
            continue
        if name not in labels:
            labels[name] = sign if sign not in taken else str(len(labels) + 1)
            taken.add(labels[name])
        _place(link, slots.put(f"[^{labels[name]}]"))
    for name, label in labels.items():
        note = notes[name]
        if note is not None:
            _define(note, slots.put(f"[^{label}]: "))


def _reference(link: Element) -> str:
    """The name of the note that a link refers to, or empty."""
    href = link.attr("href") or ""
    _, mark, name = href.partition("#")
    if not mark or not name or len(name) > 200 or _BACK.search(name):
        return ""
    if not _NOTE.match(name) and not _NUMBERED.search(link.attr("class") or ""):
        return ""
    if not _LABEL.match(link.text.strip()):
        return ""
    parent: Any = link.parent
    around = getattr(parent, "tag", "")
    names = " ".join(
        [
            link.attr("class") or "",
            link.attr("role") or "",
            link.attr("epub:type") or "",
            (parent.attr("class") or "") if around in ("sup", "span", "cite") else "",
        ]
    )
    if (
        around == "sup"
        or link.find("sup") is not None
        or link.attr("data-footnote-ref") is not None
    ):
        return unquote(name)
    return unquote(name) if _ROLE.search(names) else ""


def _sign(link: Element, number: int) -> str:
    match = _LABEL.match(link.text.strip())
    return match[1] if match and match[1].isalnum() else str(number)


def _place(link: Element, mark: str) -> None:
    """The mark in the place of a link and of the `sup` that holds nothing else."""
    from turbohtml import Text

    node: Any = link
    while node.parent is not None and getattr(node.parent, "tag", "") in ("sup", "span", "cite"):
        if node.parent.text.strip(" []()") != link.text.strip(" []()"):
            break
        node = node.parent
    if node.parent is not None:
        node.replace_with(Text(mark))


def _carrier(node: Any) -> Any | None:
    """The block that holds a note, from the element that bears its name."""
    if getattr(node, "tag", "") == "dt":
        node = _meaning(node)
    elif getattr(node, "tag", "") == "table":
        return _only_row(node)
    for _ in range(4):
        tag = getattr(node, "tag", "")
        if not tag or tag == "body":
            return None
        if tag in _CARRIERS:
            return node
        node = node.parent
    return None


def _only_row(table: Any) -> Any | None:
    """A table of one note, beside its sign, as a block."""
    cells = table.find_all("td", limit=3)
    if len(cells) != 2 or not _LABEL.match(cells[0].text.strip()):
        return None
    from turbohtml import Element

    block = Element("div")
    for node in list(cells[1]):
        block.append(node.extract())
    table.replace_with(block)
    return block


def _meaning(term: Any) -> Any | None:
    """The next `dd`, for a note whose sign is a `dt`."""
    near = term.next_sibling
    while near is not None and not hasattr(near, "tag"):
        near = near.next_sibling
    return near if getattr(near, "tag", "") == "dd" else None


def _define(note: Any, mark: str) -> None:
    from turbohtml import Text

    dropped = [link for link in note.find_all("a", limit=40) if _is_back(link)]
    for link in dropped:
        _drop(link, note)
    _drop_sign(note)
    words = note.text.split(None, 2)
    if len(words) < 2 or words[1][:1] in "\"'(":
        # A single word after the mark would be read as the address of a reference.
        note.append(Text(" ↩"))
    _open(note)
    target = note
    while True:
        first = next((one for one in target if one.text.strip()), None)
        if getattr(first, "tag", "") not in ("p", "div", "span"):
            break
        target = first
    target.insert(0, Text(mark))
    if first is not None and hasattr(first, "data"):
        first.data = first.data.lstrip(" \t\n\r.)]:" if dropped else None)


def _drop_sign(note: Any) -> None:
    """Take out the sign of a note where it stands before its text."""
    for label in note.select(_LABELS)[:2]:
        if _LABEL.match(label.text.strip()):
            label.extract()
    before: Any = note.previous_sibling if note.tag == "dd" else None
    while before is not None and not hasattr(before, "tag"):
        before = before.previous_sibling
    if before is not None and before.tag == "dt" and _LABEL.match(before.text.strip()):
        before.extract()


def _open(note: Any) -> None:
    """Make a block of an entry of a list or of a cell."""
    from turbohtml import Element

    if note.tag == "li":
        outer = note.parent
        note.tag = "div"
        if getattr(outer, "tag", "") in ("ol", "ul"):
            _open_list(outer)
    elif note.tag == "dd" and _is_of_notes(note.parent):
        note.tag = note.parent.tag = "div"
    elif note.tag in ("dd", "td"):
        note.wrap_children(Element("div"))


def _is_of_notes(outer: Any) -> bool:
    return getattr(outer, "tag", "") == "dl" and "footnote" in (outer.attr("class") or "")


def _open_list(outer: Any) -> None:
    """A list whose entries are notes is a row of blocks."""
    outer.tag = "div"
    for item in outer:
        if getattr(item, "tag", "") == "li":
            item.tag = "div"


def _is_back(link: Any) -> bool:
    href = link.attr("href") or ""
    if "#" not in href:
        return False
    names = f"{href.rpartition('#')[2]} {link.attr('class') or ''} {link.attr('role') or ''}"
    return bool(_BACK.search(names)) or link.text.strip().lower() in _BACK_SIGNS


def _drop(link: Any, note: Any) -> None:
    """Take a link back to the text out, with the `sup` or `span` around it."""
    node = link
    while node.parent is not None and node.parent != note:
        parent = node.parent
        if getattr(parent, "tag", "") not in ("sup", "span", "b", "cite"):
            break
        if len(parent.text.strip(" ^[]().,")) > len(link.text.strip(" ^[]().,")):
            break
        node = parent
    node.extract()
