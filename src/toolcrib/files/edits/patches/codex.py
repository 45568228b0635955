"""The form `*** Begin Patch`: files by name, hunks without line numbers."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.files.edits.patches.model import FilePatch, Hunk, malformed

BEGIN, END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File:", "*** Delete File:", "*** Update File:"
_MOVE, _EOF = "*** Move to:", "*** End of File"


def read_codex(lines: Sequence[str], first: int) -> list[FilePatch]:
    """The files of a patch.

    Args:
        lines: all lines of the text that holds it.
        first: the index of the line `*** Begin Patch`.

    Raises:
        BadInput: it does not follow the form, or ends before `*** End Patch`.
    """
    last = next((i for i in range(first, len(lines)) if lines[i].strip() == END), None)
    if last is None:
        raise malformed(len(lines), f"the patch ends without '{END}', so it may be cut off")
    files: list[FilePatch] = []
    at = first + 1
    while at < last:
        line = lines[at].rstrip()
        at += 1
        if not line:
            continue
        found = _header(line)
        if found is None:
            raise malformed(at, f"'{line[:60]}' is not the header of a file")
        files.append(found)
        stop = next((i for i in range(at, last) if _header(lines[i].rstrip())), last)
        _read_body(found, lines, at, stop)
        at = stop
    if not files:
        raise malformed(first + 1, "the patch names no file")
    return files


def _header(line: str) -> FilePatch | None:
    if line.startswith(_ADD):
        return FilePatch("add", line.removeprefix(_ADD).strip())
    if line.startswith(_DELETE):
        return FilePatch("delete", line.removeprefix(_DELETE).strip())
    if line.startswith(_UPDATE):
        return FilePatch("update", line.removeprefix(_UPDATE).strip())
    return None


def _read_body(patch: FilePatch, lines: Sequence[str], at: int, stop: int) -> None:
    if patch.does == "add":
        patch.hunks.append(_added(lines, at, stop))
        return
    if patch.does == "delete":
        for index in range(at, stop):
            if lines[index].strip():
                raise malformed(index + 1, "nothing may follow a file that is deleted")
        return
    if at < stop and lines[at].startswith(_MOVE):
        patch.target = lines[at].removeprefix(_MOVE).strip()
        at += 1
    _read_hunks(patch, lines, at, stop)
    if not patch.hunks and not patch.target:
        raise malformed(at, f"there is no change for {patch.path}")


def _added(lines: Sequence[str], at: int, stop: int) -> Hunk:
    body = list(lines[at:stop])
    while body and not body[-1].strip():
        body.pop()
    for offset, line in enumerate(body):
        if not line.startswith("+"):
            raise malformed(at + offset + 1, "a line of a new file must start with +")
    return Hunk(new=[line[1:] for line in body])


def _read_hunks(patch: FilePatch, lines: Sequence[str], at: int, stop: int) -> None:
    hunk = Hunk()
    blank = 0
    for index in range(at, stop):
        line = lines[index]
        if line.startswith("@@"):
            if hunk.old or hunk.new:
                _close(patch, hunk, blank)
                hunk = Hunk()
            head = line[2:].strip().removesuffix("@@").strip()
            hunk.heads += [head] if head else []
            blank = 0
            continue
        if line.rstrip() == _EOF:
            hunk.at_end = True
            continue
        blank = blank + 1 if line == "" else 0
        if not _read_line(hunk, line):
            raise malformed(index + 1, "a line of a change must start with +, - or a space")
    if hunk.old or hunk.new:
        _close(patch, hunk, blank)
    elif hunk.heads:
        raise malformed(stop, "there is nothing after @@")


def _read_line(hunk: Hunk, line: str) -> bool:
    sign, text = line[:1], line[1:]
    if sign == "+":
        hunk.new.append(text)
    elif sign == "-":
        hunk.old.append(text)
    elif sign in (" ", ""):
        hunk.old.append(text)
        hunk.new.append(text)
    return sign in ("+", "-", " ", "")


def _close(patch: FilePatch, hunk: Hunk, blank: int) -> None:
    """Keep a hunk, without the empty lines that only divide it from the next."""
    for _ in range(blank):
        hunk.old.pop()
        hunk.new.pop()
    if hunk.old or hunk.new:
        patch.hunks.append(hunk)
