"""SEARCH/REPLACE blocks, the name of the file before or within the fence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.files.edits.patches.model import FilePatch, Hunk, malformed

SEARCH = re.compile(r"[<-]{5,9} ?SEARCH>?\s*")
_MIDDLE = re.compile(r"={5,9}\s*")
_REPLACE = re.compile(r"[>+]{5,9} ?REPLACE\s*")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_LOOKED_BACK = 3


def read_blocks(lines: Sequence[str]) -> list[FilePatch]:
    """The files that the blocks of a text name; a block without a name goes on with the last.

    Raises:
        BadInput: a block is not whole, or has several dividing lines.
    """
    files: list[FilePatch] = []
    at = 0
    while at < len(lines):
        if not SEARCH.fullmatch(lines[at]):
            at += 1
            continue
        stop = _end(lines, at)
        middles = [i for i in range(at + 1, stop) if _MIDDLE.fullmatch(lines[i])]
        if len(middles) != 1:
            raise malformed(at + 1, f"the block has {len(middles)} lines of =======, not one")
        name = _name(lines, at) or (files[-1].path if files else "")
        old, new = lines[at + 1 : middles[0]], lines[middles[0] + 1 : stop]
        hunk = Hunk(list(old), list(new), ordered=False)
        _add(files, name, hunk)
        at = stop + 1
    return files


def _end(lines: Sequence[str], at: int) -> int:
    for index in range(at + 1, len(lines)):
        if _REPLACE.fullmatch(lines[index]):
            return index
        if SEARCH.fullmatch(lines[index]):
            break
    raise malformed(at + 1, "the block has no line >>>>>>> REPLACE, so it may be cut off")


def _add(files: list[FilePatch], name: str, hunk: Hunk) -> None:
    if files and files[-1].path == name and files[-1].does == "update" and hunk.old:
        files[-1].hunks.append(hunk)
    elif hunk.old:
        files.append(FilePatch("update", name, hunks=[hunk]))
    else:
        files.append(FilePatch("add", name, hunks=[hunk]))


def _name(lines: Sequence[str], at: int) -> str:
    """The name of the file, in one of the lines before a block."""
    for index in range(at - 1, max(at - 1 - _LOOKED_BACK, -1), -1):
        line = lines[index].strip()
        if _REPLACE.fullmatch(line):
            return ""
        if not line or _FENCE.match(line):
            continue
        name = re.sub(r"^(?:#+|//|[-*]|File(?:name)?:|Path:)\s*", "", line, flags=re.IGNORECASE)
        name = name.strip("*`:\"' ")
        return name if _is_name(name) else ""
    return ""


def _is_name(text: str) -> bool:
    return bool(text) and len(text) < 300 and (" " not in text or "/" in text or "." in text)
