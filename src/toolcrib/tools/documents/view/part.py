"""The part of a document that an answer shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.call import Next, Result
from toolcrib.core.context import room_in
from toolcrib.core.errors import BadInput
from toolcrib.documents.kinds import NAMES
from toolcrib.documents.text import DocumentText
from toolcrib.files.content.sizes import counted
from toolcrib.text.cleaner import clean
from toolcrib.text.fence import fence
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut
from toolcrib.tools.documents.view.contents import contents_of

LEAST = 60
"""Tokens of text that a part has, whatever its header takes."""
CONTENTS_SHARE = 8
CHARS_A_TOKEN = 12
SHOWN = ("author", "created", "modified", "published", "rows", "valid")
"""Metadata that the header tells."""


@dataclass(frozen=True, slots=True)
class Want:
    """What is wanted: where it comes from, and the arguments that the next call repeats."""

    tool: str
    source: str
    arguments: Mapping[str, Any]
    offset: int = 0
    budget: int = 4000
    facts: Mapping[str, Any] = field(default_factory=dict)


def part_of(document: DocumentText, want: Want) -> Result:
    """As much of a document as fits, from an offset on, and the call that goes on.

    Raises:
        BadInput: it is shorter than the offset.
    """
    cleaned = clean(document.markdown)
    text, offset = cleaned.text, want.offset
    if offset and offset >= len(text):
        raise BadInput(
            f"The document has {len(text):,} characters, so nothing starts at {offset:,}.",
            hint="Offsets count from 0.",
            length=len(text),
        )
    room = room_in(want.budget) - estimate(fence("", want.source) if want.source else "")
    window = text[offset : offset + room * CHARS_A_TOKEN]
    contents = ""
    if not offset and (len(window) < len(text) or estimate(window) > room):
        contents = contents_of(document, text, want.budget // CONTENTS_SHARE)
    header = _header(document, sum(cleaned.removed.values()), contents)
    # The line about the place is counted before its second number is known.
    space = room - estimate(header) - estimate(_place(offset, len(text), len(text))) - 4
    shown, used = cut(window, max(space, LEAST))
    end = offset + used
    place = [] if not offset and end == len(text) else [_place(offset, end, len(text))]
    following = _following(document, want, end, len(text))
    lines = [*header.split("\n", 1)[:1], *place, *header.split("\n", 1)[1:]]
    return Result(
        text="\n".join(lines) + f"\n\n{shown or '(no text)'}",
        data={
            **want.facts,
            **_facts(document),
            "content": shown,
            "offset": offset,
            "end": end,
            "length": len(text),
            "truncated": following is not None,
        },
        truncated=following is not None,
        next=following,
        source=want.source,
        max_tokens=want.budget,
    )


def _following(document: DocumentText, want: Want, end: int, length: int) -> Next | None:
    if end < length:
        return Next(want.tool, {**want.arguments, "offset": end})
    if document.rest:
        return Next(want.tool, {**want.arguments, "pages": document.rest})
    return None


def _place(start: int, end: int, length: int) -> str:
    return f"Characters {start:,} to {end:,} of {length:,}"


def _header(document: DocumentText, removed: int, contents: str) -> str:
    lines = [_described(document)]
    if document.title:
        lines.append(f"Title: {document.title}")
    told = (f"{n}: {document.metadata[n]}" for n in SHOWN if document.metadata.get(n) is not None)
    facts = ", ".join(told)
    lines += [facts, document.diagnostic, *document.warnings]
    if removed:
        lines.append(f"{removed:,} invisible characters were removed.")
    return clean("\n".join(filter(None, [*lines, contents]))).text


def _described(document: DocumentText) -> str:
    name = NAMES.get(document.kind, document.kind)
    name = name[:1].upper() + name[1:]
    if not document.unit:
        return name
    parts = [name, counted(document.total, document.unit)]
    if len(document.pages) != document.total and document.pages:
        parts.append(f"these are {_ranges([page.number for page in document.pages])}")
    if document.non_empty != len(document.pages):
        parts.append(f"{document.non_empty:,} with text")
    return ", ".join(parts)


def _ranges(numbers: list[int]) -> str:
    """`3-5, 9` for 3, 4, 5 and 9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    shown = ["-".join(map(str, run)) for run in runs[:10]]
    return ", ".join([*shown, "…"] if len(runs) > 10 else shown)


def _facts(document: DocumentText) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": document.kind,
        "title": document.title,
        "metadata": dict(document.metadata),
        "warnings": list(document.warnings),
        "readable": document.readable,
        "diagnostic": document.diagnostic,
    }
    if document.unit:
        facts |= {
            f"{document.unit}s": document.total,
            f"non_empty_{document.unit}s": document.non_empty,
            "read": [page.number for page in document.pages],
        }
    return facts
