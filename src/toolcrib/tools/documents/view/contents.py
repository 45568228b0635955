"""The headings of a long document, so that a reader can ask for the right pages."""

from __future__ import annotations

from toolcrib.documents.text import DocumentText
from toolcrib.text.passages import outline
from toolcrib.text.tokens import estimate

MOST = 20
MAX_TITLE = 100


def contents_of(document: DocumentText, text: str, room: int) -> str:
    """Its main headings with their pages, or with offsets where there are no pages.

    Args:
        document: what is listed.
        text: its whole Markdown.
        room: tokens that the list may take.
    """
    entries = _by_page(document) if document.unit else _by_offset(text)
    if len(entries) < 2:
        return ""
    for level in range(6, 1, -1):
        if len(entries) <= MOST:
            break
        fewer = [entry for entry in entries if entry[0] < level]
        entries = fewer if len(fewer) > 1 else entries
    shown = entries[:MOST]
    by = document.unit or "offset"
    while shown:
        top = min(level for level, _, _ in shown)
        lines = [f"{'  ' * (level - top)}{at} {title[:MAX_TITLE]}" for level, at, title in shown]
        left = len(entries) - len(shown)
        more = f"\n{left:,} more" if left else ""
        listed = f"Headings by {by}:\n" + "\n".join(lines) + more
        if estimate(listed) <= room:
            return listed
        shown = shown[: len(shown) * 2 // 3]
    return ""


def _by_page(document: DocumentText) -> list[tuple[int, int, str]]:
    found = []
    for page in document.pages:
        if page.name:
            found.append((1, page.number, page.name))
        elif document.unit == "page":
            found += [(h.level, page.number, h.text) for h in outline(page.text)]
    return found


def _by_offset(text: str) -> list[tuple[int, int, str]]:
    return [(heading.level, heading.start, heading.text) for heading in outline(text)]
