"""The text of a file: a page of it, with an outline of the rest where there is too much."""

from __future__ import annotations

from functools import partial
from typing import Any

from toolcrib.files.content.lines import FittingChars, LinePage, TextFile
from toolcrib.files.content.outline import OutlineEntry, outermost, outline
from toolcrib.files.edits.anchors import anchor
from toolcrib.text.tokens import estimate, longest_head
from toolcrib.tools.files.reader.request import Part, Request

CHARS_A_TOKEN = 10
"""No page has more characters than its tokens times this, whatever the estimate says."""
EOL_NAMES = {"crlf": "CRLF line ends", "cr": "CR line ends", "mixed": "mixed line ends"}
OUTLINED = 8_000_000
"""Bytes of a file that are looked through for an outline."""
LEAST_ENTRIES = 3
LEAST_ROOM = 300
"""Tokens below which an outline leaves too little for anything else."""
SHARE = 1 / 3
"""What the outline may take of the room."""
FOOTER = 40
"""Tokens that the lines around an outline take."""


def page_of(text: TextFile, display: str, size: int, request: Request, room: int) -> Part:
    """A page of a file; where a whole file was asked for that has no room, an outline too.

    Raises:
        BadInput: the file has fewer lines.
    """
    start, lines = request.span(text, display)
    if request.ranged or room < LEAST_ROOM:
        return _part(text, _page(text, start, lines, request, room), display, size, request)
    page = _page(text, start, lines, request, room)
    if not page.more:
        return _part(text, page, display, size, request)
    entries = outline(text.each_line(OUTLINED), display)
    less = _page(text, start, lines, request, int(room * (1 - SHARE)) - FOOTER)
    rest = [entry for entry in entries if entry.line > less.lines - bool(less.column)]
    if len(rest) < LEAST_ENTRIES:
        return _part(text, page, display, size, request)
    part = _part(text, less, display, size, request)
    shown = _outline(rest, int(room * SHARE))
    part.data["outline"] = [{"line": entry.line, "text": entry.text} for entry in rest[:1000]]
    return Part(f"{part.text}\n{shown}", part.data, part.next)


def _page(text: TextFile, start: int, lines: int, request: Request, room: int) -> LinePage:
    fits: FittingChars = partial(longest_head, max_tokens=room)
    if request.numbers or request.anchors:
        first = start if start > 0 else 100_000
        fits = partial(_numbered_head, first=first, max_tokens=room, anchors=request.anchors)
    return text.page(start, lines, request.column, room * CHARS_A_TOKEN, fits)


def _numbered_head(text: str, first: int, max_tokens: int, *, anchors: bool) -> int:
    """How many first characters of a text there is room for when its lines are numbered."""
    lines = text.splitlines(keepends=True)
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(numbered("".join(lines[:middle]), first, anchors=anchors)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    if low:
        return sum(map(len, lines[:low]))
    return longest_head(text, max(max_tokens - 4, 1))


def numbered(text: str, first: int, *, anchors: bool = False, cut: tuple[int, int] = (0, 0)) -> str:
    """The text with the number of each line before it, as in `12|text`.

    Args:
        text: whole lines, but for what `cut` says.
        first: the number of the first.
        anchors: put the anchor of each line there, as in `12:a3f9|text`.
        cut: how many characters the first line lacks, and after how many the last one ends;
            0 for none. Such lines have no anchor.
    """
    ended = text.endswith("\n")
    lines = text.removesuffix("\n").split("\n")
    marks = [anchor(n, line) if anchors else str(n) for n, line in enumerate(lines, first)]
    if cut[0]:
        marks[0] = str(first)
    if cut[1]:
        marks[-1] = str(first + len(lines) - 1)
    shown = (f"{mark}|{line}" for mark, line in zip(marks, lines, strict=True))
    return "\n".join(shown) + ("\n" if ended else "")


def _part(text: TextFile, page: LinePage, display: str, size: int, request: Request) -> Part:
    data = facts(text, size) | {
        "path": display,
        "start": page.first,
        "lines": page.lines,
        "total_lines": page.total,
    }
    if not page.text and page.whole:
        return Part(f"({display} is empty)", data)
    footer = _footer(text, page, size)
    body = page.text
    if (request.numbers or request.anchors) and page.first is not None:
        cut = request.column, page.column
        body = numbered(body, page.first, anchors=request.anchors, cut=cut)
    separator = "" if body.endswith("\n") or not footer else "\n"
    shown = f"{body}{separator}{footer}"
    data["tokens"] = estimate(shown)
    start, column = page.next_start()
    last = start - 1
    reached = request.end is not None and not column and _end(request, page) <= last
    more = page.more and not reached
    return Part(shown, data, request.going_on(display, start, column) if more else None)


def _end(request: Request, page: LinePage) -> int:
    end = request.end or 0
    return end if end > 0 or page.total is None else page.total + end + 1


def facts(text: TextFile, size: int) -> dict[str, Any]:
    """What is known of a text file as a whole."""
    return {
        "size": size,
        "encoding": text.encoding.name,
        "bom": bool(text.encoding.mark),
        "eol": text.eol,
    }


def _footer(text: TextFile, page: LinePage, size: int) -> str:
    """What a reader cannot see: where the page stands, the encoding, the line ends."""
    notes = [] if page.whole else [_where(page, size)]
    return f"[{', '.join(notes + oddities(text))}]" if notes or oddities(text) else ""


def oddities(text: TextFile) -> list[str]:
    """What of the encoding and the line ends is not as usual."""
    notes = []
    if text.encoding.name != "utf-8":
        notes.append(f"{text.encoding.name}{' (guessed)' if text.encoding.guessed else ''}")
    if text.encoding.mark:
        notes.append("byte order mark")
    if text.eol in EOL_NAMES:
        notes.append(EOL_NAMES[text.eol])
    return notes


def _where(page: LinePage, size: int) -> str:
    total = f" of {page.total:,}" if page.total is not None else f", file of {size:,} bytes"
    if page.first is None:
        return f"lines {page.start} to {page.start + page.lines - 1} from the end{total}"
    last = page.first + page.lines - 1
    where = f"line {last:,}" if last == page.first else f"lines {page.first:,}-{last:,}"
    return f"{where}{total}" + (f", cut after {page.column:,} characters" if page.column else "")


def _outline(entries: list[OutlineEntry], room: int) -> str:
    """The entries that fit, the outer ones first, each as `line: text`."""
    low, high = 1, min(len(entries), max(room // 3, 1))
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(_listed(outermost(entries, middle))) <= room:
            low = middle
        else:
            high = middle - 1
    kept = outermost(entries, low)
    left = len(entries) - len(kept)
    return f"Outline of the rest{f', {left:,} entries left out' if left else ''}:\n{_listed(kept)}"


def _listed(entries: list[OutlineEntry]) -> str:
    depths = {level: at for at, level in enumerate(sorted({entry.level for entry in entries}))}
    return "\n".join(f"{e.line}: {'  ' * min(depths[e.level], 4)}{e.text}" for e in entries)
