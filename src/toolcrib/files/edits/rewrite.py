"""The new text as it belongs into the file, where the old one was not quoted exactly."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from toolcrib.files.edits.alignment import Opcode, opcodes
from toolcrib.files.edits.indentation import Indentation, lead_of
from toolcrib.files.edits.lookalikes import kept_spelling, respelt, spaced


def rewritten(
    old: Sequence[str], new: Sequence[str], there: Sequence[str], indentation: Indentation
) -> list[str]:
    """Lines to write instead of those that are there.

    Lines that old and new share stay as they are in the file. The others are indented as
    the file is, and keep its spelling where old and new agree.

    Raises:
        Unmapped: a new line is indented in a way that nothing in old explains.
    """
    lines: list[str] = []
    old, new = [spaced(line) for line in old], [spaced(line) for line in new]
    before, standing = "\n".join(map(str.strip, old)), "\n".join(map(str.strip, there))
    old, new = (
        respelt(before, standing, "\n".join(texts)).split("\n")
        if before != standing and texts
        else texts
        for texts in (old, new)
    )
    tails = [_tail(line) for line, sent in zip(there, old, strict=True) if _tail(sent)]
    if tails and not any(tails):
        # What was sent has space at ends of lines that the file does not have.
        old, new = ([line.rstrip() for line in texts] for texts in (old, new))
    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            lines += there[i1:i2]
        elif j1 < j2:
            lines += _changed(old, new, there, indentation, (i1, i2, j1, j2))
    return lines


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    return opcodes([line.rstrip() for line in old], [line.rstrip() for line in new])


def _changed(
    old: Sequence[str],
    new: Sequence[str],
    there: Sequence[str],
    indentation: Indentation,
    hunk: tuple[int, int, int, int],
) -> list[str]:
    i1, i2, j1, j2 = hunk
    contents = _contents(old[i1:i2], there[i1:i2], new[j1:j2])
    paired = i2 - i1 == j2 - j1
    solid = [index for index, line in enumerate(old) if line.strip()]
    lines = []
    for offset, (line, content) in enumerate(zip(new[j1:j2], contents, strict=True)):
        index = min(i1 + offset, max(i2 - 1, i1))
        if not line.strip():
            lines.append(line if indentation.same else "")
            continue
        near = bisect_left(solid, index)
        placed = indentation.place(lead_of(line), near, first=j1 + offset == 0)
        tail = line[len(line.rstrip()) :]
        if paired and _tail(old[index]) == tail:
            tail = _tail(there[index])
        lines.append(f"{placed}{content}{tail}")
    return lines


def _contents(old: Sequence[str], there: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new lines without outer space, in the spelling of the file."""
    plain = [line.strip(" \t") for line in new]
    before, standing = ("\n".join(line.strip() for line in lines) for lines in (old, there))
    kept = kept_spelling(before, standing, "\n".join(plain)).split("\n")
    return kept if len(kept) == len(plain) else plain


def _tail(line: str) -> str:
    return line[len(line.rstrip()) :]
