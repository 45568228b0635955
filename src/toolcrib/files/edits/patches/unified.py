"""Unified diffs: of git and plain ones, also with wrong counts in the hunk headers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.files.edits.patches.model import FilePatch, Hunk, malformed

HUNK = re.compile(r"@@+ ?(?:-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? )?@@(?: ?(.*))?|@@\s*")
_GIT = re.compile(r'diff --git (?:"?a/(.+?)"? "?b/(.+?)"?)\s*')
_PAIRS = {("a", "b"), ("i", "w"), ("c", "i"), ("c", "w"), ("o", "w"), ("w", "i"), ("b", "a")}
_NOWHERE = "/dev/null"
_ESCAPE = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
_NAMED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b"}


def is_header(lines: Sequence[str], at: int) -> bool:
    """Whether a line and the one after it name the files of a diff."""
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def read_unified(lines: Sequence[str]) -> list[FilePatch]:
    """The files of a diff; text before, between and after them is passed over.

    Raises:
        BadInput: a line of a change stands in no hunk, or the diff is of a binary file.
    """
    return _Reader(lines).read()


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self._files: list[FilePatch] = []
        self._patch: FilePatch | None = None
        self._git: dict[str, str] = {}

    def read(self) -> list[FilePatch]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --git "):
                self._finish()
                self._begin_git(line)
            elif is_header(self._lines, self._at):
                self._begin_named()
            elif HUNK.fullmatch(line.rstrip()):
                self._read_hunk()
                continue
            elif self._git:
                self._read_git(line)
            elif self._patch is not None and line[:1] in "+-" and line.rstrip() not in ("", "--"):
                raise malformed(self._at + 1, "this line of a change belongs to no hunk")
            self._at += 1
        self._finish()
        return self._files

    def _begin_git(self, line: str) -> None:
        match = _GIT.fullmatch(line)
        self._git = {"old": match[1], "new": match[2]} if match else {"old": "", "new": ""}

    def _read_git(self, line: str) -> None:
        for word, key in (
            ("rename from ", "from"),
            ("rename to ", "to"),
            ("new file mode ", "add"),
            ("deleted file mode ", "delete"),
            ("copy from ", "copy"),
        ):
            if line.startswith(word):
                self._git[key] = _unquoted(line.removeprefix(word).rstrip())
        if line.startswith(("Binary files ", "GIT binary patch")):
            raise malformed(self._at + 1, "it is of a binary file, which a patch cannot hold")
        if "copy" in self._git:
            raise malformed(self._at + 1, "copies are not supported: use copy_path")

    def _begin_named(self) -> None:
        old = _path(self._lines[self._at].removeprefix("--- "))
        new = _path(self._lines[self._at + 1].removeprefix("+++ "))
        self._at += 1
        git = self._git
        if not git:
            self._finish()
        self._git = {}
        pair = (old.partition("/")[0], new.partition("/")[0])
        if pair in _PAIRS or (_NOWHERE in (old, new) and {*pair} & {"a", "b"}):
            old, new = (p if p == _NOWHERE else p.partition("/")[2] for p in (old, new))
        if old == _NOWHERE:
            self._patch = FilePatch("add", new)
        elif new == _NOWHERE:
            self._patch = FilePatch("delete", old, checked=True)
        elif "from" in git:
            self._patch = FilePatch("update", git["from"], target=git.get("to", new))
        else:
            self._patch = FilePatch("update", new, other=old if old != new else "")

    def _finish(self) -> None:
        git, patch = self._git, self._patch
        if patch is None and git:
            patch = _of_git(git)
        self._git, self._patch = {}, None
        if patch is None:
            return
        if patch.does == "update" and not patch.hunks and not patch.target:
            return
        self._files.append(patch)

    def _read_hunk(self) -> None:
        match = HUNK.fullmatch(self._lines[self._at].rstrip())
        if self._patch is None:
            if self._git:
                self._patch = _of_git(self._git) or FilePatch("update", self._git["new"])
                self._git = {}
            else:
                self._patch = FilePatch("update", "")
        counted = match is not None and match[1] is not None
        hunk = Hunk()
        old_left = new_left = -1
        if match and counted:
            old_left, new_left = int(match[2] or 1), int(match[4] or 1)
            hunk.at = max(int(match[1]) - 1, 0) if old_left else None
        elif match and match[5]:
            hunk.heads = [match[5].strip()]
        start = self._at + 1
        blank = self._read_lines(hunk, start, old_left, new_left)
        for _ in range(blank):
            hunk.old.pop()
            hunk.new.pop()
        if not hunk.old and not hunk.new:
            raise malformed(start, "the hunk is empty")
        self._patch.hunks.append(hunk)

    def _read_lines(self, hunk: Hunk, at: int, old_left: int, new_left: int) -> int:
        """Take the lines of a hunk; gives how many empty ones at its end are not of it."""
        counted, blank = old_left >= 0, 0
        last = ""
        while at < len(self._lines):
            line = self._lines[at]
            done = counted and old_left <= 0 and new_left <= 0
            if self._ends(at, done=done):
                break
            sign, text = line[:1], line[1:]
            if sign == "\\":
                _mark_unended(hunk, last)
            if sign in ("-", " ", ""):
                hunk.old.append(text)
                old_left -= 1
            if sign in ("+", " ", ""):
                hunk.new.append(text)
                new_left -= 1
            if sign != "\\":
                last = sign
            blank = blank + 1 if line == "" and (done or not counted or blank) else 0
            at += 1
        self._at = at
        return blank

    def _ends(self, at: int, *, done: bool) -> bool:
        line = self._lines[at]
        if line[:1] not in ("", " ", "+", "-", "\\") or line == "-- ":
            return True
        if not is_header(self._lines, at):
            return False
        third = self._lines[at + 2] if at + 2 < len(self._lines) else ""
        return done or third.startswith("@@")


def _mark_unended(hunk: Hunk, last: str) -> None:
    if last in ("-", " ", ""):
        hunk.old_ended = False
    if last in ("+", " ", ""):
        hunk.new_ended = False
    if hunk.old_ended is None:
        hunk.old_ended = True
    if hunk.new_ended is None:
        hunk.new_ended = True


def _of_git(git: dict[str, str]) -> FilePatch | None:
    """A change without hunks: a rename, an empty file made or deleted."""
    if "from" in git and "to" in git:
        return FilePatch("update", git["from"], target=git["to"])
    if "add" in git:
        return FilePatch("add", git["new"], hunks=[Hunk()])
    if "delete" in git:
        return FilePatch("delete", git["old"], checked=True)
    return None


def _path(text: str) -> str:
    name = text.partition("\t")[0].strip()
    name = re.sub(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*$", "", name)
    return _unquoted(name)


def _unquoted(name: str) -> str:
    """A name as git writes it: in quotation marks where it has unusual characters."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    raw = _ESCAPE.sub(
        lambda m: chr(int(m[1], 8)) if m[1].isdigit() else _NAMED.get(m[1], m[1]), name[1:-1]
    )
    try:
        return raw.encode("latin-1").decode()
    except UnicodeError:
        return raw
