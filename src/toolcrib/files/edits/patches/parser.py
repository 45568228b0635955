"""Finding the patch in what a model sent: with prose around, in fences, in one of three forms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.core.errors import BadInput
from toolcrib.files.edits.patches.blocks import SEARCH, read_blocks
from toolcrib.files.edits.patches.codex import BEGIN, read_codex
from toolcrib.files.edits.patches.model import FilePatch
from toolcrib.files.edits.patches.unified import HUNK, is_header, read_unified

FORMS = (
    "Send a unified diff, a patch between '*** Begin Patch' and '*** End Patch', or "
    "SEARCH/REPLACE blocks."
)
MOST_FILES = 500
_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")


def read_patch(text: str) -> list[FilePatch]:
    """The files that a patch changes.

    Raises:
        BadInput: there is no patch in the text, or it is not whole.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    files = _read(lines)
    if not files:
        raise BadInput("There is no patch in that text.", hint=FORMS)
    if len(files) > MOST_FILES:
        raise BadInput(f"The patch has {len(files)} files, more than {MOST_FILES}.", hint=FORMS)
    return _joined(files)


def _read(lines: Sequence[str]) -> list[FilePatch]:
    begins = [index for index, line in enumerate(lines) if line.strip() == BEGIN]
    if begins:
        return [file for first in begins for file in read_codex(lines, first)]
    if any(SEARCH.fullmatch(line) for line in lines):
        return read_blocks(lines)
    parts = _fenced(lines)
    return [file for part in parts for file in read_unified(part)]


def _fenced(lines: Sequence[str]) -> list[Sequence[str]]:
    """The fenced parts that hold a diff; the whole text where none is."""
    parts: list[Sequence[str]] = []
    start, mark = 0, ""
    for index, line in enumerate(lines):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if not mark:
            start, mark = index + 1, match[1]
        elif match[1].startswith(mark) and not match[2].strip():
            parts.append(lines[start:index])
            mark = ""
    if mark:
        parts.append(lines[start:])
    diffs = [part for part in parts if _is_diff(part)]
    return diffs or [lines]


def _is_diff(lines: Sequence[str]) -> bool:
    return any(
        HUNK.fullmatch(line.rstrip()) or line.startswith("diff --git ") or is_header(lines, index)
        for index, line in enumerate(lines)
    )


def _joined(files: Sequence[FilePatch]) -> list[FilePatch]:
    """Each file once: parts of a patch that change the same file become one.

    Raises:
        BadInput: a file is changed and also made, moved or deleted.
    """
    kept: dict[str, FilePatch] = {}
    for file in files:
        before = kept.get(file.path)
        if before is None:
            kept[file.path] = file
        elif before.does == file.does == "update" and not before.target and not file.target:
            before.hunks += file.hunks
        else:
            raise BadInput(
                f"The patch has {file.path or 'a file'} twice, in ways that do not go together.",
                hint="Put all that happens to a file into one part.",
            )
    return list(kept.values())
