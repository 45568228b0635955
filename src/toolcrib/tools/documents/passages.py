"""Passages as an answer shows them: merged where they touch, numbered, with their places."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Next
from toolcrib.files.paths import Workspace
from toolcrib.retrieval.chunks import TextChunk
from toolcrib.retrieval.entries import EntryInfo, FoundPassage
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import printable
from toolcrib.text.fence import escape_fence
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut

MAX_HEADINGS_CHARS = 160
MIN_PASSAGE_TOKENS = 60
"""Tokens of a passage below which it is left out."""
MAX_DATA_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage with what names its place to a reader: `report.pdf, page 3`."""

    passage: FoundPassage
    file: str
    place: str

    @property
    def label(self) -> str:
        """File and place."""
        return f"{self.file}{self.place}"

    @property
    def facts(self) -> str:
        """Score, date and headings, in one line."""
        entry = self.passage.entry
        parts = [f"score {self.passage.score:.2f}"]
        if entry.date:
            parts.append(time.strftime("%Y-%m-%d", time.gmtime(entry.date)))
        headings = one_line(" > ".join(self.passage.chunk.headings), MAX_HEADINGS_CHARS)
        title = "" if entry.title in self.file else one_line(entry.title, MAX_HEADINGS_CHARS)
        return ", ".join(filter(None, [*parts, title if title not in headings else "", headings]))

    @property
    def next(self) -> Next:
        """The call that reads on there."""
        chunk = self.passage.chunk
        if chunk.page:
            return Next("read_document", {"path": self.file, "pages": str(chunk.page)})
        if self.passage.entry.facts.get("unit") or self.passage.entry.kind not in ("text", "code"):
            return Next("read_document", {"path": self.file})
        return Next("read_file", {"path": self.file, "start": chunk.line})

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        passage, chunk = self.passage, self.passage.chunk
        return {
            "path": self.file,
            "text": chunk.text[:MAX_DATA_CHARS],
            "score": passage.score,
            "title": passage.entry.title,
            "kind": passage.entry.kind,
            "date": passage.entry.date or None,
            "headings": list(chunk.headings),
            "page": chunk.page or None,
            "last_page": chunk.last_page or None,
            "line": chunk.line,
            "last_line": chunk.last_line,
            "start": chunk.start,
            "end": chunk.end,
            "chunk": passage.number,
            "words": list(passage.words),
        }


def place_of(entry: EntryInfo, chunk: TextChunk) -> str:
    """Where a chunk stands in its file: `, page 3`, or `:12-30` for lines."""
    unit = str(entry.facts.get("unit") or "")
    if chunk.page and unit:
        several = chunk.last_page > chunk.page
        return f", {unit}{'s' if several else ''} {_range(chunk.page, chunk.last_page)}"
    if entry.kind in ("text", "code"):
        return f":{_range(chunk.line, chunk.last_line)}"
    return f", characters {chunk.start:,}-{chunk.end:,}" if chunk.start else ""


def _range(first: int, last: int) -> str:
    return f"{first}-{last}" if last > first else str(first)


def citations(passages: Iterable[FoundPassage], ctx: Ctx) -> list[Citation]:
    """Passages with their places, in their order; those that may not be read are left out."""
    found = []
    for passage in passages:
        file = displayed(passage.entry, ctx)
        if file:
            found.append(Citation(passage, file, place_of(passage.entry, passage.chunk)))
    return found


def displayed(entry: EntryInfo, ctx: Ctx) -> str:
    """How a call names the file of an entry; empty where it may not be read."""
    try:
        path = ctx.use(Workspace).resolve(entry.key, ctx.session.directory)
        path.gate.check(path, "read")
    except ToolError:
        return ""
    return printable(path.display)


def merged(passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Passages, neighbours in one file as one, where the better of them stood."""
    found: list[FoundPassage] = []
    for passage in passages:
        for place, other in enumerate(found):
            if other.entry.key == passage.entry.key and _touch(other, passage):
                found[place] = _joined(other, passage)
                break
        else:
            found.append(passage)
    return found


def _touch(one: FoundPassage, other: FoundPassage) -> bool:
    first, second = sorted((one.chunk, other.chunk), key=lambda chunk: chunk.start)
    return second.start <= first.end and first.page == second.page


def _joined(one: FoundPassage, other: FoundPassage) -> FoundPassage:
    first, second = sorted((one, other), key=lambda passage: passage.chunk.start)
    a, b = first.chunk, second.chunk
    chunk = replace(
        a,
        text=a.text + b.text[max(a.end - b.start, 0) :],
        end=max(a.end, b.end),
        last_line=max(a.last_line, b.last_line),
        last_page=max(a.last_page, b.last_page),
    )
    words = tuple(dict.fromkeys([*one.words, *other.words]))
    best = max(one.score, other.score)
    return replace(first, chunk=chunk, score=best, words=words)


def listed(found: Sequence[Citation], room: int, first: int = 1) -> tuple[list[str], int]:
    """Passages under numbered heads, as many as fit, the last one cut; and how many those are."""
    lines: list[str] = []
    for count, citation in enumerate(found):
        head = f"[{first + count}] {citation.label} ({citation.facts})"
        space = room - estimate(head) - 2
        if space < MIN_PASSAGE_TOKENS and lines:
            return lines, count
        text, used = cut(citation.passage.chunk.text, max(space, MIN_PASSAGE_TOKENS))
        more = " \u2026" if used < len(citation.passage.chunk.text) else ""
        body = f"{escape_fence(text.rstrip())}{more}"
        lines += [head, body, ""]
        room -= estimate(head) + estimate(body) + 2
    return lines[:-1] if lines else lines, len(found)
