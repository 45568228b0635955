"""Changes of ignore files by which the user's `git add -A` and its like take up protected files.

Nothing here is a second git: what is not surely harmless counts. A pattern with signs that are
not understood may fit every file, and a file is left out only by one that surely fits it.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from math import inf

from toolcrib.core.errors import NotFound, ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import read_content
from toolcrib.files.path_rules import GENERATED_FOLDERS, fold
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.places import GIT
from toolcrib.files.search.globs import IgnoreRules, ignore_rules
from toolcrib.files.targets import folders_above
from toolcrib.files.trees import entries_beneath

GITIGNORE, DOCKERIGNORE, EXCLUDE, INFO = ".gitignore", ".dockerignore", "exclude", "info"
HGIGNORE = ".hgignore"
IN_PLACE_OF = {
    **dict.fromkeys((".npmignore", ".gcloudignore", ".ebignore", ".easignore"), GITIGNORE),
    ".containerignore": DOCKERIGNORE,
}
"""Where one of these is, its program does not read the other."""
NAMES = frozenset([
    *IN_PLACE_OF, GITIGNORE, DOCKERIGNORE, HGIGNORE, ".vscodeignore", ".helmignore",
    ".vercelignore", ".cfignore", ".funcignore", ".slugignore", ".cursorignore", ".geminiignore",
    ".aiexclude", ".codeiumignore", ".aiderignore",
])  # fmt: skip
NOT_LOOKED_INTO = GENERATED_FOLDERS - {"dist", "build", "vendor", "target"}
"""Folders of caches and of what programs fetched."""
MAX_BYTES, MAX_LINES, MAX_LINE_CHARS = 256 * 1024, 2_000, 500
MAX_FOLDERS, MAX_DEPTH = 5_000, 200
"""Of the look for protected files."""
INCLUDE = "#!include:"
"""By which some have the patterns of another file."""
UNKNOWN = "[unknown]"
"""Of what cannot be told: no plain pattern, so that it may fit every file."""
_NAME = r"(?:\*\*|(?:[\w.?~@+ -]|\*(?!\*))+)"
_PLAIN = re.compile(rf"/?{_NAME}(?:/{_NAME})*/?", re.ASCII)
"""A pattern that git and `IgnoreRules` understand alike."""


def folder_of(path: SafePath) -> SafePath | None:
    """The folder whose files an ignore file speaks of; None for what is none."""
    name = fold(path.name)
    if name in NAMES or (name.startswith(".") and name.endswith("ignore")):
        return path.parent
    if fold(path.name).endswith(DOCKERIGNORE):
        return _context(path)
    names = list(map(fold, path.parts[-3:]))
    if names[-1:] == [INFO]:
        names = [*names[-2:], EXCLUDE]
    if names[1:] == [INFO, EXCLUDE] and names[0].endswith(".git"):
        return path.ancestor(len(path.parts) - (3 if fold(path.name) == EXCLUDE else 2))
    return None


def _context(path: SafePath) -> SafePath:
    """The folder that the ignore file of one Dockerfile speaks of, which may lie deeper in it."""
    folders = (path.ancestor(depth) for depth in range(len(path.parts) - 1, -1, -1))
    with_list = (each for each in folders if os.path.lexists(f"{each.absolute}/{DOCKERIGNORE}"))
    return next(with_list, path.parent)


def uncovered(workspace: Workspace, delta: Delta) -> str:
    """A file that is protected from reading and was ignored, or not taken up, before.

    Args:
        workspace: its roots.
        delta: a change, of an ignore file or of another.

    Returns:
        Its path from the folder of the ignore file; "" where there is none.
    """
    if delta.path.name == GIT and not delta.before:
        return taken_out(workspace, delta.path.parent)
    folder = folder_of(delta.path)
    if folder is None:
        return ""
    old, new = _lines(_old_content(delta, folder)), _lines(_content(delta))
    if fold(delta.path.name) == HGIGNORE:  # these may be expressions
        old, new = ([f"[{line}" for line in lines] for lines in (old, new))
    less, again = _less(old, new)
    if not less and not again:
        return ""
    lifted, lifted_again = _Patterns(less), _Patterns(again)
    before = _Patterns(line for line in old if line[0] != "!")
    lifting = _Patterns(line[1:] for line in new if line[0] == "!")
    sure = _Patterns(line for line in new if _PLAIN.fullmatch(line))
    for path in _protected_beneath(workspace, folder, [*less, *again]):
        is_left_out = sure.fit(path) and not lifting.may_fit(path)
        is_lifted = lifted.may_fit(path) or (lifted_again.may_fit(path) and before.may_fit(path))
        if is_lifted and not is_left_out:
            return path
    return ""


def taken_out(workspace: Workspace, folder: SafePath) -> str:
    """A file protected from reading that a new repository takes out of ignore files above it.

    Its own that is there counts, and not one that a run makes with it.
    """
    above = folder.absolute.rpartition("/")[0]
    if not any(os.path.lexists(f"{each}/{GIT}") for each in (above, *folders_above(above))):
        return ""
    own = _lines(_read(folder.child(GITIGNORE)))
    sure = _Patterns(line for line in own if _PLAIN.fullmatch(line))
    lifting = _Patterns(line[1:] for line in own if line[0] == "!")
    files = _protected_beneath(workspace, folder, ())
    return next((path for path in files if not sure.fit(path) or lifting.may_fit(path)), "")


def _less(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Patterns by which less may be left out: those gone or new with `!`, and such that move."""
    gone, fresh = Counter(old) - Counter(new), Counter(new) - Counter(old)
    rest = iter(new)
    if not all(line in rest for line in old if not gone[line]):  # they stand in another order
        fresh += Counter(line for line in new if line[0] == "!")
    lifting = [line for line in fresh if line[0] == "!"]
    less = [line for line in gone if line[0] != "!"]
    less += [line[1:] for line in lifting if line not in old]
    return less, [line[1:] for line in lifting if line in old]


class _Patterns:
    """Lines of an ignore file, without `!`, asked at once."""

    def __init__(self, lines: Iterable[str]) -> None:
        given = list(lines)
        plain = [line for line in given if _PLAIN.fullmatch(line) and len(line) < MAX_LINE_CHARS]
        self._is_odd = len(plain) < len(given)
        self._rules = IgnoreRules(ignore_rules("\n".join(plain).encode()), "")
        self._folded = IgnoreRules(ignore_rules("\n".join(plain).lower().encode()), "")

    def fit(self, path: str) -> bool:
        """Whether one of those that are understood fits a file, or a folder above it."""
        return _fits(self._rules, path)

    def may_fit(self, path: str) -> bool:
        """Whether one may, with upper and lower case alike, as on some systems."""
        return self._is_odd or _fits(self._folded, path.lower())


def _fits(rules: IgnoreRules, path: str) -> bool:
    names = path.split("/")
    places = ["/".join(names[:depth]) + "/" for depth in range(1, len(names))]
    return any(rules.verdict(place.encode("utf-8", "surrogateescape")) for place in (*places, path))


def _lines(data: bytes | None) -> list[str]:
    """The patterns of a file as git has them; `UNKNOWN` where that is too much to tell."""
    if data is None or len(data) > MAX_BYTES:
        return [UNKNOWN]
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    lines = [line.removesuffix("\r").rstrip(" ") for line in text.split("\n")]
    found = [line for line in lines if line and (line[0] != "#" or line.startswith(INCLUDE))]
    return found if len(found) <= MAX_LINES else [UNKNOWN]


def _old_content(delta: Delta, folder: SafePath) -> bytes | None:
    """What held before; None where that cannot be told any more."""
    name = fold(delta.path.name)
    if not delta.before:
        is_of_one = name != DOCKERIGNORE and name.endswith(DOCKERIGNORE)
        other = DOCKERIGNORE if is_of_one else IN_PLACE_OF.get(name, "")
        return _read(folder.child(other)) if other else b""
    if name == INFO:
        return None
    return read_content(delta.old, max_bytes=MAX_BYTES) if delta.old else _read(delta.path)


def _content(delta: Delta) -> bytes | None:
    """What holds now: nothing of a file that git may not read; None where that did not change."""
    after = delta.after
    if after is None or not after.mode & 0o400:
        return b""
    if fold(delta.path.name) == INFO and after.kind == "folder":
        return None
    return read_content(delta.new, max_bytes=MAX_BYTES) if delta.new else b""


def _read(path: SafePath) -> bytes | None:
    try:
        return path.read_bytes(MAX_BYTES)
    except NotFound:
        return b""
    except (ToolError, OSError):
        return None


def _protected_beneath(
    workspace: Workspace, folder: SafePath, patterns: Iterable[str]
) -> Iterator[str]:
    """The files that are protected from reading, by their paths from a folder.

    Not those that programs fetched. Where there are too many folders, what the patterns are
    called stands for the files that were not looked at.
    """
    top = folder.real_absolute.rstrip("/")
    names: dict[str, list[str]] = defaultdict(list)
    for entry in entries_beneath(
        [top],
        max_folders=MAX_FOLDERS,
        max_seconds=inf,
        max_depth=MAX_DEPTH,
        left_out=NOT_LOOKED_INTO,
    ):
        names[entry.path.rpartition("/")[0]].append(entry.name)
    for above, found in names.items():
        place = workspace.find(above or "/")
        barred = place.gate.barring(place, "read") if place is not None else bool
        yield from (f"{above}/{name}"[len(top) + 1 :] for name in found if barred(name))
    if len(names) >= MAX_FOLDERS // 2:
        for pattern in patterns:
            is_plain = _PLAIN.fullmatch(pattern) is not None
            parts = tuple(name for name in pattern.split("/") if name not in ("", "**"))
            if not is_plain or folder.gate.pattern(folder.at((*folder.parts, *parts)), "read"):
                yield "/".join(parts) if is_plain else ".env"
