"""Several files in one answer: a fair share of the budget for each, and each its own errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.core.call import ErrorInfo, Next, Result
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.files.paths import RefusedPath, SafePath
from toolcrib.text.tokens import estimate
from toolcrib.tools.files.reader.request import Part

LEAST = 60
"""Tokens that a file gets at least; files for which so much is not left come with `next`."""
MAX_IMAGE_BYTES = 10_000_000
"""Bytes of all pictures of an answer."""

Read = Callable[[SafePath, int], Awaitable[Part]]


@dataclass(slots=True)
class _Section:
    header: str
    part: Part | None = None
    error: ToolError | None = None

    @property
    def text(self) -> str:
        if self.error is not None:
            return f"{self.header}\n{ErrorInfo.of(self.error).render()}"
        part = self.part or Part()
        go_on = ""
        if part.next:
            arguments = {k: v for k, v in part.next.items() if k != "path"}
            go_on = f"\n[to go on: {', '.join(f'{k}={v}' for k, v in arguments.items())}]"
        return f"{self.header}\n{part.text.rstrip()}{go_on}"


async def read_all(
    tool: str,
    paths: Sequence[SafePath | RefusedPath],
    sizes: Sequence[int],
    read: Read,
    room: int,
    again: dict[str, Any],
) -> tuple[Result, list[Part]]:
    """Read files one after the other, small ones first, and put them in the order given.

    What a small file leaves of its share goes to the others.

    Args:
        tool: the name of the tool, for `next`.
        paths: the files.
        sizes: bytes of each, about.
        read: reads one within a budget.
        room: tokens for all of it.
        again: further arguments for the files that there was no room for.
    """
    fitting = max(room // LEAST, 1)
    now, later = paths[:fitting], paths[fitting:]
    left = room - (LEAST if later else 0)
    sections: dict[int, _Section] = {}
    images = 0
    for done, number in enumerate(sorted(range(len(now)), key=lambda n: sizes[n])):
        share = left // (len(now) - done)
        section = await _section(now[number], read, share)
        part = section.part
        if part is not None and part.image is not None:
            images += len(part.image.data)
            if images > MAX_IMAGE_BYTES:
                message = "There was no room left for this picture."
                section = _Section(section.header, error=BadInput(message, hint="Read it alone."))
        left = max(left - estimate(f"{section.text}\n\n"), 0)
        sections[number] = section
    ordered = [sections[number] for number in range(len(now))]
    return _joined(tool, ordered, later, again), [s.part for s in ordered if s.part and not s.error]


async def _section(path: SafePath | RefusedPath, read: Read, share: int) -> _Section:
    header = f"== {path.display}"
    if isinstance(path, RefusedPath):
        return _Section(header, error=path.error)
    try:
        return _Section(header, await read(path, max(share - estimate(header) - 20, LEAST // 2)))
    except ToolError as error:
        return _Section(header, error=error)


def _joined(
    tool: str,
    sections: list[_Section],
    later: Sequence[SafePath | RefusedPath],
    again: dict[str, Any],
) -> Result:
    parts = [s.part for s in sections if s.part and not s.error]
    errors = [s.error for s in sections if s.error]
    cut = next((part.next for part in parts if part.next), None)
    following = {"paths": [path.display for path in later], **again} if later else cut
    text = "\n\n".join(section.text for section in sections)
    if later:
        text += f"\n\n[{len(later):,} more files had no room]"
    return Result(
        text=text,
        data={"files": [_as_json(section) for section in sections]},
        images=tuple(part.image for part in parts if part.image),
        truncated=bool(following),
        next=Next(tool, following) if following else None,
        error=ErrorInfo.of(errors[0]) if errors and not parts else None,
        source=", ".join(dict.fromkeys(part.source for part in parts if part.source)),
    )


def _as_json(section: _Section) -> dict[str, Any]:
    if section.error is not None:
        return {"path": section.header[3:], "error": ErrorInfo.of(section.error).to_json()}
    return section.part.data if section.part else {}
