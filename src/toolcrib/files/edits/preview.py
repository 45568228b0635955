"""A short unified diff of what a change does, with line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcrib.files.content.difference import DifferenceBlock, differences, unified

CONTEXT = 2
UNENDED = "\\ No newline at end of file"
MOST_LINES = 60
MOST_CHARS = 200


def preview(before: str, after: str, most: int = MOST_LINES) -> str:
    """The difference of two texts.

    Args:
        before: line ends are line feeds.
        after: the same.
        most: lines of the answer; a last line tells how many more there are.
    """
    old, new = _split(before), _split(after)
    blocks = differences(old, new)
    for block in blocks:
        _cut_apart(old, new, block)
    lines = list(unified(old, new, blocks, CONTEXT))
    shown = list(_around_cut(lines[:most]))
    if len(lines) > len(shown):
        shown.append(f"[{len(lines) - len(shown):,} more lines of the difference]")
    return "\n".join(shown)


def _split(text: str) -> list[str]:
    """The lines; one without a line end says so."""
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, f"{last}\n{UNENDED}"] if last else lines


def _cut_apart(old: list[str], new: list[str], block: DifferenceBlock) -> None:
    """Cut the lines of a change, each where it differs from what stands beside it."""
    removed, added = old[block.a1 : block.a2], new[block.b1 : block.b2]
    old[block.a1 : block.a2] = _cut_beside(removed, added)
    new[block.b1 : block.b2] = _cut_beside(added, removed)


def _cut_beside(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield _cut(line, others[index] if index < len(others) else line)


def _around_cut(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f" {_cut(line[1:], line[1:])}" if line.startswith(" ") else line


def _cut(line: str, other: str) -> str:
    """The part of a line where it differs from another, in bounded length."""
    if not line.isascii():
        line = line.encode("utf-8", "replace").decode()
    if len(line) <= MOST_CHARS:
        return line
    differs = next((i for i, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), 0)
    start = max(0, min(differs - MOST_CHARS // 3, len(line) - MOST_CHARS))
    part = line[start : start + MOST_CHARS]
    head = "…" if start else ""
    return f"{head}{part}… ({len(line):,} characters)"
