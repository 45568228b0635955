"""Plain text of chosen blocks, each on its own line, apart as they are on the page."""

from __future__ import annotations

from toolcrib.documents.reader.tree import Page

_CELLS = ("td", "th")


def plain_text(page: Page, chosen: list[bool]) -> str:
    """The text: cells of a row side by side, items of a list on lines, the rest apart."""
    parts: list[str] = []
    last = -1
    for number, block in enumerate(page.blocks):
        if not chosen[number]:
            continue
        if parts:
            parts.append(_gap(page, last, block.element))
        starts_item = page.elements[block.element].tag == "li" and block.element != last
        parts.append(f"- {block.text}" if starts_item else block.text)
        last = block.element
    return "".join(parts)


def _gap(page: Page, last: int, this: int) -> str:
    """What stands between the texts of two elements."""
    before, after = page.elements[last], page.elements[this]
    if before.tag in _CELLS and after.tag in _CELLS:
        return "\t" if before.parent == after.parent and last != this else "\n"
    if before.tag == after.tag == "li" or (before.tag, after.tag) == ("dt", "dd"):
        return "\n"
    return "\n\n"
