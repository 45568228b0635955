"""Parser of patches: unified diffs, `*** Begin Patch` and SEARCH/REPLACE blocks, prose around."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolcrib.core.errors import BadInput

# SEARCH/REPLACE blocks, the name of the file before or within the fence.

_LABEL = r"(?:SEARCH|ORIGINAL|HEAD|OLD|BEFORE|CURRENT)"
SEARCH = re.compile(rf"\s*(?:[<-]{{5,9}} ?{_LABEL}\b[>:]?\s*(?P<name>\S+\.\w+)?|<{{7}})\s*")
_MIDDLE = re.compile(r"\s*={5,9}\s*")
_REPLACE = re.compile(
    r"\s*(?:[>+]{5,9} ?(?:REPLACE|UPDATED?|NEW|AFTER|INCOMING)\b.*|>{7}(?: \S+)?\s*)",
    re.IGNORECASE,
)
_BLOCK_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?P<info>.*?)\s*")
_LOOKED_BACK = 3
_START_LINE = re.compile(r"\s*:start_line:\s*(\d+)\s*")
_SETTING = re.compile(r"\s*:(?:start|end)_line:\s*\d+\s*|\s*-{5,9}\s*")
_NAME_MARK = re.compile(r"^(?:#+|//|[-*]\s|\*\*|File(?:name)?:|Path:)\s*", re.IGNORECASE)


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
        named = SEARCH.fullmatch(lines[at])
        name = (named and named["name"]) or _name(lines, at) or (files[-1].path if files else "")
        old, new = lines[at + 1 : middles[0]], lines[middles[0] + 1 : stop]
        hunk = Hunk(list(old), list(new), ordered=False)
        _take_settings(hunk)
        _add(files, name, hunk)
        at = stop + 1
    return files


def _take_settings(hunk: Hunk) -> None:
    """The line number that some blocks begin with, and the rule below it, are not of the file."""
    first = _START_LINE.fullmatch(hunk.old[0]) if hunk.old else None
    if first is None:
        return
    hunk.at = max(int(first[1]) - 1, 0)
    while hunk.old and _SETTING.fullmatch(hunk.old[0]):
        del hunk.old[0]


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
        fence = _BLOCK_FENCE.fullmatch(line)
        if not line or fence:
            info = re.split(r"[\s:=]+", fence["info"])[-1].strip("\"'") if fence else ""
            if "." in info and _is_name(info):
                return info
            continue
        name, before = line, ""
        while name != before:
            before, name = name, _NAME_MARK.sub("", name).strip("*`:\"' ")
        return name if _is_name(name) else ""
    return ""


def _is_name(text: str) -> bool:
    return bool(text) and len(text) < 300 and (" " not in text or "/" in text or "." in text)


# The form `*** Begin Patch`: files by name, hunks without line numbers.

END = "*** End Patch"
_BEGIN = re.compile(r"\s*\*{3} ?Begin Patch\s*\**\s*", re.IGNORECASE)
_END = re.compile(r"\s*\*{3} ?End Patch\s*\**\s*", re.IGNORECASE)
_FILE = re.compile(
    r"(?P<pad>\s*)\*{3} ?(?P<does>Add|Create|Delete|Remove|Update|Modify|Edit) File:"
    r"\s*(?P<path>.*?)\s*(?:\*{3})?\s*",
    re.IGNORECASE,
)
_DOES: dict[str, Does] = {
    "add": "add",
    "create": "add",
    "delete": "delete",
    "remove": "delete",
    "update": "update",
    "modify": "update",
    "edit": "update",
}
_MOVE = re.compile(r"\s*\*{3} ?(?:Move|Rename) to:\s*(?P<path>.*?)\s*(?:\*{3})?\s*", re.IGNORECASE)
_EOF = "*** End of File"


def begins_codex(lines: Sequence[str]) -> list[int]:
    """Where patches of the form begin: at their first line, or at a file where that is left out."""
    begins = [index for index, line in enumerate(lines) if _BEGIN.fullmatch(line)]
    if begins:
        return begins
    first = next((i for i, line in enumerate(lines) if _FILE.fullmatch(line)), None)
    return [] if first is None or lines[first][:1].isspace() else [first - 1]


def read_codex(lines: Sequence[str], first: int) -> list[FilePatch]:
    """The files of a patch.

    Args:
        lines: all lines of the text that holds it.
        first: the index of the line `*** Begin Patch`, or before the first file without one.

    Raises:
        BadInput: it does not follow the form, or begins so and ends before `*** End Patch`.
    """
    begun = first >= 0 and _BEGIN.fullmatch(lines[first])
    last = next((i for i in range(first + 1, len(lines)) if _END.fullmatch(lines[i])), None)
    if last is None and begun:
        raise malformed(len(lines), f"the patch ends without '{END}', so it may be cut off")
    if last is None:
        fences = (i for i in range(first + 1, len(lines)) if _DIFF_FENCE.fullmatch(lines[i]))
        last = next(fences, len(lines))
    pads = {"", re.match(r"\s*", lines[first])[0] if begun else ""}  # type: ignore[index]
    files: list[FilePatch] = []
    at = first + 1
    while at < last:
        line = lines[at].rstrip()
        at += 1
        if not line:
            continue
        found = _header(line, pads)
        if found is None:
            raise malformed(at, f"'{line[:60]}' is not the header of a file")
        files.append(found)
        stop = next((i for i in range(at, last) if _header(lines[i].rstrip(), pads)), last)
        _read_body(found, lines, at, stop)
        at = stop
    if not files:
        raise malformed(first + 1, "the patch names no file")
    return files


def _header(line: str, pads: Container[str]) -> FilePatch | None:
    match = _FILE.fullmatch(line)
    if match is None or match["pad"] not in pads:
        return None
    return FilePatch(_DOES[match["does"].lower()], match["path"].strip("`\"' "))


def _read_body(patch: FilePatch, lines: Sequence[str], at: int, stop: int) -> None:
    if patch.does == "add":
        patch.hunks.append(_added(lines, at, stop))
        return
    if patch.does == "delete":
        for index in range(at, stop):
            if lines[index].strip():
                raise malformed(index + 1, "nothing may follow a file that is deleted")
        return
    moved = _MOVE.fullmatch(lines[at]) if at < stop else None
    if moved:
        patch.target = moved["path"]
        at += 1
    if at + 1 < stop and is_header(lines, at):  # a diff's own names beside it
        at += 2
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
            _take_head(hunk, line)
            blank = 0
            continue
        if line.rstrip() == _EOF:
            hunk.at_end = True
            continue
        blank = blank + 1 if line == "" else 0
        _read_line(hunk, line)
    if hunk.old or hunk.new:
        _close(patch, hunk, blank)
    elif hunk.heads:
        raise malformed(stop, "there is nothing after @@")


def _read_line(hunk: Hunk, line: str) -> None:
    """Take a line; one without a sign stays, and so has to be one of the file."""
    sign, text = line[:1], line[1:]
    if sign == "+":
        hunk.new.append(text)
        hunk.bare_new.append(text)
    elif sign == "-":
        hunk.old.append(text)
        hunk.bare_old.append(text)
    else:
        hunk.old.append(text if sign in (" ", "") else line)
        hunk.new.append(hunk.old[-1])
        hunk.bare_old.append(line)
        hunk.bare_new.append(line)


_RANGE = re.compile(r"-(\d+)(?:,(\d+))? +\+(\d+)(?:,(\d+))?")
_LINE = re.compile(r"lines? (\d+)(?:[-, \u2013]+\d+)?:?", re.IGNORECASE)
_NO_HEAD = re.compile(r"[-+?.,\u2026\s\dx]*|(?:existing|unchanged) code", re.IGNORECASE)


def _take_head(hunk: Hunk, line: str) -> re.Match[str] | None:
    """What the line before a hunk says: its line numbers, and the section it stands in."""
    text = line.strip().strip("@").strip()
    counted = _RANGE.match(text)
    if counted:
        none = counted[2] is not None and not int(counted[2])
        hunk.at = None if none else max(int(counted[1]) - 1, 0)
        hunk.below = int(counted[1]) if none else None
        text = text[counted.end() :].strip().removeprefix("@@").strip()
    named = None if counted else _LINE.fullmatch(text)
    if named:
        hunk.at = max(int(named[1]) - 1, 0)
    elif text and not _NO_HEAD.fullmatch(text):
        hunk.heads.append(text)
    return counted


def _close(patch: FilePatch, hunk: Hunk, blank: int) -> None:
    """Keep a hunk, without the empty lines that only divide it from the next."""
    for _ in range(blank):
        hunk.old.pop()
        hunk.new.pop()
    if hunk.old or hunk.new:
        patch.hunks.append(hunk)


# Unified diffs: of git and plain ones, also with wrong counts in the hunk headers.

HUNK = re.compile(r"@@.*")
_GIT = re.compile(r'diff --git (?:"?a/(.+?)"? "?b/(.+?)"?)\s*')
_PAIRS = {("a", "b"), ("i", "w"), ("c", "i"), ("c", "w"), ("o", "w"), ("w", "i"), ("b", "a")}
_SIDE = {"-": "a", "+": "b"}
_NOWHERE = "/dev/null"
_ESCAPES = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}
_ESCAPED = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)


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
            elif self._is_half_named():
                self._finish()
                self._patch = FilePatch(
                    "update", _path(line[4:]).removeprefix(f"{_SIDE[line[0]]}/")
                )
            elif HUNK.fullmatch(line.rstrip()):
                self._read_hunk()
                continue
            elif self._follows_names(line):
                self._read_hunk(headed=False)
                continue
            elif self._git:
                self._read_git(line)
            elif self._patch is not None and line[:1] in "+-" and line.rstrip() not in ("", "--"):
                raise malformed(self._at + 1, "this line of a change belongs to no hunk")
            self._at += 1
        self._finish()
        return self._files

    def _is_half_named(self) -> bool:
        """Whether a line names the file of a diff without the other one beside it."""
        after = self._lines[self._at + 1 : self._at + 2]
        begins = self._lines[self._at].startswith(("--- ", "+++ "))
        return begins and not self._git and bool(after) and after[0].startswith("@@")

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
                self._git[key] = unquoted(line.removeprefix(word).rstrip())
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

    def _follows_names(self, line: str) -> bool:
        """Whether the change of a file begins without a line of @@."""
        if self._patch is None or self._patch.hunks or line[:1] not in ("+", "-", " "):
            return False
        return self._lines[self._at - 1].startswith("+++ ") and not is_header(self._lines, self._at)

    def _read_hunk(self, *, headed: bool = True) -> None:
        if self._patch is None:
            if self._git:
                self._patch = _of_git(self._git) or FilePatch("update", self._git["new"])
                self._git = {}
            else:
                self._patch = FilePatch("update", "")
        hunk = Hunk()
        match = _take_head(hunk, self._lines[self._at]) if headed else None
        start = self._at + headed
        while headed and not match and start < len(self._lines):
            if not self._lines[start].startswith("@@"):  # a section within the section
                break
            match = _take_head(hunk, self._lines[start])
            start += 1
        old_left, new_left = (int(match[2] or 1), int(match[4] or 1)) if match else (-1, -1)
        blank = self._read_lines(hunk, start, old_left, new_left)
        for _ in range(blank):
            hunk.old.pop()
            hunk.new.pop()
        if not hunk.old and not hunk.new:
            line = self._lines[start] if start < len(self._lines) else ""
            what = "the hunk is empty"
            if line and line[0] not in "@-+ \\":
                what = "each line of a hunk begins with a space, - or +"
            raise malformed(start, what)
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
    return unquoted(name)


def unquoted(text: str) -> str:
    """A name as git writes it: in quotation marks where it has unusual characters."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    try:
        raw = text[1:-1].encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # no name that git wrote
        return text
    return _ESCAPED.sub(_meaning, raw).decode("utf-8", "surrogateescape")


def _meaning(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPES.get(code, code)


# What a patch says, whatever form it was written in.

Does = Literal["update", "add", "delete"]


@dataclass(slots=True)
class Hunk:
    """Lines that are to be found, and the lines that take their place.

    Attributes:
        old: what stands there, the lines around included.
        new: what shall stand there.
        at: the index at which the patch expects the first line; None where it does not say.
        below: the number of the line below which lines are added, where the patch says that
            none is taken away; None where it does not.
        heads: lines that stand somewhere above, the outermost first.
        ordered: it stands below the hunk before it.
        at_end: the last line is the last one of the file.
        old_ended: whether the last line of the file has a line end before; None: not said.
        new_ended: the same, after.
        bare_old: what stands there if lines that stay were sent without their sign; empty
            where that is not so.
        bare_new: the same, after.
        unclear: whether nobody can tell what numbers in `new` are copied ones.
    """

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at: int | None = None
    below: int | None = None
    heads: list[str] = field(default_factory=list)
    ordered: bool = True
    at_end: bool = False
    old_ended: bool | None = None
    new_ended: bool | None = None
    bare_old: list[str] = field(default_factory=list, compare=False, repr=False)
    bare_new: list[str] = field(default_factory=list, compare=False, repr=False)
    unclear: bool = False


@dataclass(slots=True)
class FilePatch:
    """What happens to one file.

    Attributes:
        does: what happens.
        path: the file as the patch names it; "" where it names none.
        other: another name by which a plain diff may mean the file; "" for none.
        target: where the file is moved; "" where it stays.
        hunks: what changes in it; of a new file one, without old lines.
        checked: a file that is deleted must be as the hunks say.
    """

    does: Does
    path: str
    other: str = ""
    target: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    checked: bool = False


def malformed(number: int, why: str) -> BadInput:
    """The error for a patch that cannot be read. `number` is its line, from 1."""
    return BadInput(
        f"Line {number} of the patch: {why}.",
        hint="Send the patch again, whole; nothing was changed.",
    )


FORMS = (
    "Send a unified diff, a patch between '*** Begin Patch' and '*** End Patch', or "
    "SEARCH/REPLACE blocks."
)
MAX_PATCH_FILES = 500
_WRAPPERS = ("patch", "diff", "input")
_DIFF_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")


def read_patch(text: str) -> list[FilePatch]:
    """The files that a patch changes.

    Raises:
        BadInput: there is no patch in the text, or it is not whole.
    """
    lines = _unescaped(_unwrapped(text.removeprefix("\ufeff"))).replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    files = _read(_dedented(lines))
    if not files:
        raise BadInput("There is no patch in that text.", hint=FORMS)
    if len(files) > MAX_PATCH_FILES:
        raise BadInput(
            f"The patch has {len(files)} files, more than {MAX_PATCH_FILES}.", hint=FORMS
        )
    return _joined(files)


def _unwrapped(text: str) -> str:
    """A patch that was sent as the arguments of a call."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        values = json.loads(text)
    except ValueError:
        return text
    found = [values[name] for name in _WRAPPERS if isinstance(values.get(name), str)]
    return found[0] if len(found) == 1 else text


def _unescaped(text: str) -> str:
    r"""A patch that was escaped once too often: one line, with `\n` for each line end."""
    if "\n" in text.strip() or "\\n" not in text:
        return text
    try:
        return str(json.loads(f'"{text.strip()}"'))
    except ValueError:
        return text


def _dedented(lines: list[str]) -> list[str]:
    """A patch without the indentation that all of it has, its headers too."""
    first = next((line for line in lines if line.strip()), "")
    pad = first[: len(first) - len(first.lstrip(" "))]
    starts = ("--- ", "*** ", "diff --git ", "<<<<<", "@@")
    if not pad or not first.lstrip().startswith(starts):
        return lines
    if not all(line.startswith(pad) for line in lines if line.strip()):
        return lines
    return [line.removeprefix(pad) for line in lines]


def _read(lines: Sequence[str]) -> list[FilePatch]:
    begins = begins_codex(lines)
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
        match = _DIFF_FENCE.fullmatch(line)
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
    by_path: dict[str, FilePatch] = {}
    for file in files:
        before = by_path.get(file.path)
        if before is None:
            by_path[file.path] = file
        elif before.does == file.does == "update" and not before.target and not file.target:
            before.hunks += file.hunks
        else:
            raise BadInput(
                f"The patch has {file.path or 'a file'} twice, in ways that do not go together.",
                hint="Put all that happens to a file into one part.",
            )
    return list(by_path.values())
