"""Rules of paths as text: what is refused or protected, how names compare, generated folders.

Two kinds of rule. Some spellings never mean a file of the workspace and are refused
everywhere: control characters, Windows network and device paths, drive letters, bare
device names, the forks of a file on macOS. Others are ordinary names on Linux and macOS
and traps on Windows (a colon opens a stream, a trailing dot is dropped, `GIT~1` is
another name of `.git`); they are refused when `windows` is true. There a
path may name a drive or a share: whether that lies in the workspace is seen by its names.
Inside of toolcrib all paths have forward slashes, see `slashed`. The rules of Windows and
macOS are tested as text and by a stand-in for those systems, not on them.
"""

from __future__ import annotations

import copy
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from typing import Literal, Self
from urllib.parse import unquote

from toolcrib.core.package_data import package_table

DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
MAX_CHARS = 4096
WINDOWS = sys.platform == "win32"
"""Whether names are those of Windows here: drives, backslashes, and case that does not matter."""

_SEPARATORS = re.compile(r"[\\/]")
_DRIVE = re.compile(r"[A-Za-z]:(?!:)")
_STREAM = re.compile(r":\$", re.IGNORECASE)
_SHORT_NAME = re.compile(r"~[0-9]+(\.|$)")


def refusal(text: str, *, windows: bool = False) -> str:
    """Why a path is refused by its spelling alone, as the end of a sentence; "" if it is not.

    Args:
        text: the path as it was given.
        windows: apply the rules of that system to each name too.
    """
    if not text.strip():
        return "the path is empty"
    if len(text) > MAX_CHARS:
        return f"the path is longer than {MAX_CHARS:,} characters"
    return (
        _bad_characters(text)
        or _windows_path(text, windows=windows)
        or _bad_names(
            anchor(slashed(text, windows=True), windows=True)[1] if windows else text,
            windows=windows,
        )
    )


def _bad_characters(text: str) -> str:
    if text.isascii() and text.isprintable():
        return ""
    for char in text:
        if char == "\0":
            return "it contains a NUL character"
        category = unicodedata.category(char)
        if category == "Cc" or char in "\u2028\u2029":
            return "it contains a control character"
        if category == "Cs":
            return "it is not valid Unicode"
    return ""


def _windows_path(text: str, *, windows: bool) -> str:
    if re.match(r"[\\/]{2}[?.]", text) or text.startswith("\\??\\"):
        return "it is a Windows device path"
    if windows:
        relative = _DRIVE.match(text) and not re.match(r"[A-Za-z]:[\\/]", text)
        return "it has a drive and no folder" if relative else ""
    if text.startswith("\\\\") or re.match(r"//[^/]|/\\|\\/", text):
        return "it is a network path"
    if _DRIVE.match(text):
        return "it names a Windows drive"
    return ""


def _bad_names(text: str, *, windows: bool) -> str:
    if any("\\" in part and ".." in part.split("\\") for part in text.split("/")):
        return "it climbs with backslashes"
    for name in _SEPARATORS.split(text):
        reason = _bad_name(name, windows=windows)
        if reason:
            return reason
    return ""


def _bad_name(name: str, *, windows: bool) -> str:
    bare = name.rstrip(" .").lower()
    if bare in DEVICES:
        return f"'{name}' is a Windows device name"
    if _STREAM.search(name) or bare == "..namedfork":
        return f"'{name}' names a stream of a file"
    if not windows or name in ("", ".", ".."):
        return ""
    if bare.split(".")[0].rstrip() in DEVICES:
        return f"'{name}' is a Windows device name"
    if ":" in name:
        return f"'{name}' names a stream of a file"
    if name != name.rstrip(" ."):
        return f"'{name}' ends with a dot or a space"
    if _SHORT_NAME.search(name):
        return f"'{name}' is a Windows short name"
    if set(name) & set('<>"|?*'):
        return f"'{name}' has a character that Windows does not allow"
    return ""


def slashed(path: str, *, windows: bool = WINDOWS) -> str:
    """An absolute path of this system as toolcrib writes it: with forward slashes alone."""
    if not windows:
        return path
    plain = path.replace("\\", "/")
    if plain.startswith(("//?/UNC/", "//?/unc/")):
        return f"//{plain[8:]}"
    plain = plain.removeprefix("//?/")
    return plain[0].upper() + plain[1:] if _DRIVE.match(plain) else plain


_ANCHOR = re.compile(r"[A-Za-z]:/|//[^/]+/[^/]+/?|/")


def anchor(path: str, *, windows: bool = WINDOWS) -> tuple[str, str]:
    """The top that an absolute path counts from ("/", a drive, a share), and the rest.

    The top is empty for a relative path.
    """
    found = (_ANCHOR if windows else _SLASH).match(path)
    return (found[0], path[found.end() :]) if found else ("", path)


_SLASH = re.compile("/")


def is_absolute(path: str, *, windows: bool = WINDOWS) -> bool:
    """Whether a path with forward slashes counts from a top."""
    return bool(anchor(path, windows=windows)[0])


def escaped(text: str) -> str:
    """The start of a path for a message: what cannot be printed stands as an escape."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:200])


def tidied(text: str) -> str:
    """A path as it was probably meant: without quotation marks, `file://` or backslashes."""
    plain = text.strip()
    for quote in ('"', "'", "`"):
        if len(plain) > 2 and plain.startswith(quote) and plain.endswith(quote):
            plain = plain[1:-1]
    found = re.match(r"file://(localhost)?(?=/)", plain, re.IGNORECASE)
    if found:
        path = unquote(plain[found.end() :])
        return path[1:] if re.match(r"/[A-Za-z]:/", path) else path
    return plain.replace("\\", "/")


@lru_cache(maxsize=8192)
def fold(name: str) -> str:
    """A name as it is compared: case and spelling of the same characters do not matter.

    Characters that some file systems ignore (joiners, direction marks) and the dots
    and spaces that Windows drops at the end are left out, so that `.GIT`, `.git.` and
    a decomposed or padded spelling are one name.
    """
    if name.isascii():
        return name.lower().rstrip(" .") or name
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    folded = unicodedata.normalize("NFD", visible).casefold()
    return unicodedata.normalize("NFC", folded).rstrip(" .") or name


def normal_parts(text: str) -> list[str] | None:
    """The names of a POSIX path with `.` and `..` worked out; None where it climbs out."""
    parts: list[str] = []
    for name in text.split("/"):
        if name in ("", "."):
            continue
        if name != "..":
            parts.append(name)
        elif parts:
            parts.pop()
        else:
            return None
    return parts


def parts_beneath(path: str, root: str, *, windows: bool = WINDOWS) -> list[str] | None:
    """The names that lead from a root to an absolute path; None where it is not beneath.

    Whole names are compared, so `/srv/ws_evil` is not beneath `/srv/ws`; on Windows without
    regard to case. What is returned is opened beneath the root itself, whatever its case.
    """
    parts, above = normal_parts(path), normal_parts(root)
    if parts is None or above is None:
        return None
    start = parts[: len(above)]
    if start != above and not (windows and list(map(fold, start)) == list(map(fold, above))):
        return None
    return parts[len(above) :]


_TABLE = package_table("files/path_rules.toml")
GENERATED_FOLDERS = frozenset(_TABLE["generated_folders"])
"""Folders that hold what programs made or fetched. Trees are listed and searched without them."""
DEPENDENCY_FOLDERS = frozenset(_TABLE["dependency_folders"])
"""What programs of the user import from: one question for all of it in a conversation."""
SCRATCH_OF_DEPENDENCIES = frozenset(_TABLE["scratch_of_dependencies"])
"""What tools put there and run again, where they are: in dependencies that were there before."""


# Protected names: what no tool reads or writes, whatever folder it is in; one list for all.
#
# A pattern is one or more names joined by `/`, each a glob, compared without regard to
# case (see `fold`). It protects what it matches and everything beneath, at any
# depth. A pattern that starts with `/` counts from the top of the file system.

Use = Literal["read", "write"]

READ_PATTERNS: tuple[str, ...] = (
    *_TABLE["secrets"],
    *(
        form.format(name)
        for name in _TABLE["secrets"]
        for form in _TABLE["copies_in_front" if name.endswith("*") else "copies"]
    ),
    *_TABLE["read"],
)
WRITE_PATTERNS: tuple[str, ...] = tuple(_TABLE["write"])
"""Written to, these make another program run something. What is not read is not written."""
OWN_FILES_RULE = "toolcrib's own files"


@dataclass(frozen=True, slots=True)
class PathPattern:
    """One protected name: the glob of each part, and the words it was written in."""

    text: str
    names: tuple[str, ...]
    anchored: bool

    @classmethod
    @lru_cache(maxsize=4096)  # for each toolbox the built-in ones, several times
    def of(cls, text: str) -> PathPattern:
        """Read one pattern as a person writes it."""
        plain = text.strip().replace("\\", "/")
        names = tuple(fold(name) for name in plain.split("/") if name not in ("", ".", "**"))
        return cls(text.strip(), names, plain.startswith("/"))

    @property
    def speaks_of_all(self) -> bool:
        """Whether it protects all in a folder: its last glob fits every name."""
        return len(self.names) > 1 and self.names[-1] == "*"

    @property
    def telling(self) -> str:
        """The glob by which it is found: the last, or where that fits every name the one before."""
        return self.names[-2] if self.speaks_of_all else self.names[-1]

    def ends_at(self, names: Sequence[str], end: int) -> bool:
        """Whether the pattern matches the names just before the index `end`."""
        start = end - len(self.names)
        if not self.names or start < 0 or (self.anchored and start > 0):
            return False
        return all(map(fnmatchcase, names[start:end], self.names))


class PatternSet:
    """Many patterns, asked at once: only where a telling glob of one fits are they looked at."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(p for p in map(PathPattern.of, patterns) if p.names)
        self._names = _Globs(p.telling for p in self.patterns if not p.speaks_of_all)
        self._folders = _Globs(p.telling for p in self.patterns if p.speaks_of_all)

    def may_match(self, names: Sequence[str]) -> bool:
        """Whether some pattern may match these names, folded, at their end: two are enough."""
        if not self.patterns:
            return False
        if self._names.fit(names[-1]):
            return True
        return len(names) > 1 and self.may_match_all_in(names[-2])

    def may_match_all_in(self, folder: str) -> bool:
        """Whether some pattern may match every name in a folder of this name, folded."""
        return self._folders.fit(folder)

    def find(self, names: Sequence[str], end: int) -> list[PathPattern]:
        """The patterns that match the names just before the index `end`."""
        if not self.may_match(names[max(end - 2, 0) : end]):
            return []
        return [p for p in self.patterns if p.ends_at(names, end)]


class Protection:
    """The lists of one toolbox.

    Args:
        protect_read: more patterns that are never read.
        protect_write: more patterns that are never written.
        unprotect: patterns that lift built-in ones: one as listed, or something narrower
            (`.env.test`, `.vscode/settings.json`). They do not lift the user's own.
        own: absolute paths of toolcrib's own configuration, state and code, never written.
        hidden: those that are never read either: contents stored for undo, and backups.
    """

    def __init__(
        self,
        protect_read: Iterable[str] = (),
        protect_write: Iterable[str] = (),
        unprotect: Iterable[str] = (),
        own: Iterable[str] = (),
        hidden: Iterable[str] = (),
    ) -> None:
        unprotect = tuple(unprotect)
        lifted = {PathPattern.of(text).names for text in unprotect}
        read = [text for text in READ_PATTERNS if PathPattern.of(text).names not in lifted]
        write = [text for text in WRITE_PATTERNS if PathPattern.of(text).names not in lifted]
        self._built_in = {"read": PatternSet(read), "write": PatternSet([*read, *write])}
        self._exceptions = PatternSet((*_TABLE["exceptions"], *unprotect))
        own_read, own_write = list(protect_read), [*protect_read, *protect_write]
        self._added = {"read": PatternSet(own_read), "write": PatternSet(own_write)}
        self._hidden = [[fold(name) for name in path.split("/") if name] for path in hidden]
        self._own = [[fold(name) for name in path.split("/") if name] for path in own]
        self._own += self._hidden
        self._granted: tuple[tuple[str, ...], ...] = ()

    def granting(self, places: Iterable[Sequence[str]]) -> Self:
        """The same lists, under which these very names and those above them may be written.

        That lifts only what a built-in pattern protects from writing alone: not what must
        not be read either, nor the user's own patterns, nor toolcrib's own files.

        Args:
            places: the names of absolute paths, as they are spelt.
        """
        found = copy.copy(self)  # patterns that are added later are added to both
        found._granted = tuple(tuple(names) for names in places)  # noqa: SLF001 - its own class
        return found

    def without(self, pattern: str) -> Self:
        """The same lists without one built-in pattern; the user's own and our own files stay.

        Args:
            pattern: as it is listed.
        """
        names = PathPattern.of(pattern).names
        found = copy.copy(self)  # patterns that are added later are added to both
        found._built_in = {  # noqa: SLF001 - its own class
            use: PatternSet(each.text for each in known.patterns if each.names != names)
            for use, known in self._built_in.items()
        }
        return found

    def patterns(self, use: Use) -> tuple[PathPattern, ...]:
        """All patterns that forbid a use, whatever exceptions say."""
        return (*self._built_in[use].patterns, *self._added[use].patterns)

    def may_bar_all_in(self, folder: str, use: Use) -> bool:
        """Whether all in a folder of this name may be forbidden, as by `.git/remotes/*`."""
        folded = fold(folder)
        return any(
            known.may_match_all_in(folded) for known in (self._added[use], self._built_in[use])
        )

    @property
    def hidden_names(self) -> frozenset[str]:
        """The last names, folded, of our own places that are never read."""
        return frozenset(place[-1] for place in self._hidden if place)

    def add(self, patterns: Iterable[str]) -> None:
        """Protect more names from reading and writing, for as long as this object lives."""
        more = [p.text for p in map(PathPattern.of, patterns) if p.names]
        for use, known in self._added.items():
            texts = [p.text for p in known.patterns]
            if not set(more) <= set(texts):
                self._added[use] = PatternSet(dict.fromkeys([*texts, *more]))

    @property
    def exceptions(self) -> tuple[PathPattern, ...]:
        """What is lifted from the built-in patterns."""
        return self._exceptions.patterns

    def match(self, parts: Sequence[str], inside: int, use: Use) -> str:
        """The pattern that forbids a path, as written; "" where none does.

        Args:
            parts: the names of the absolute path.
            inside: how many of them, from the end, lie beneath the root. A pattern
                must end there: what leads to the root was the user's own choice.
            use: what is about to happen. What must not be read must not be written.
        """
        names = [fold(part) for part in parts]
        granted = use == "write" and self._is_granted(parts)
        built_in = self._built_in["read" if granted else use]
        for end in range(max(len(names) - inside, 0) + 1, len(names) + 1):
            found = self._added[use].find(names, end)
            if not found:
                found = built_in.find(names, end)
                found = found if found and not self._is_lifted(names, end) else []
            if found:
                return found[0].text
        if use == "read":
            return OWN_FILES_RULE if _leads_into(names, self._hidden) else ""
        return self._never_written(names, 0 if granted else inside)

    def of_folder(self, parts: Sequence[str], use: Use) -> Callable[[str], str]:
        """Tells of each name in a folder the pattern that forbids it, as `match` would.

        Args:
            parts: the names of the folder's absolute path, which nothing forbids.
            use: what is about to happen.
        """
        above = [fold(part) for part in parts]
        places = self._hidden if use == "read" else self._own
        closed = _leads_into(above, places)
        lasts = {place[-1] for place in places if place and place[:-1] == above}
        sets = (self._added[use], self._built_in[use])

        def pattern(name: str) -> str:
            folded = fold(name)
            plain = not (closed or folded in lasts or folded == ".git")
            if plain and not any(known.may_match((*above[-1:], folded)) for known in sets):
                return ""
            return self.match([*parts, name], 1, use)

        return pattern

    def _is_granted(self, parts: Sequence[str]) -> bool:
        names = tuple(parts) if self._granted else ()
        return any(place[: len(names)] == names for place in self._granted)

    def _is_lifted(self, names: list[str], index: int) -> bool:
        """Whether an exception speaks of the name before `index`, alone or with what follows."""
        return any(
            end - len(pattern.names) < index
            for end in range(index, len(names) + 1)
            for pattern in self._exceptions.find(names, end)
        )

    def _never_written(self, names: list[str], inside: int) -> str:
        if inside and names[-1] == ".git":
            return ".git"
        return OWN_FILES_RULE if _leads_into(names, self._own) else ""


class _Globs:
    """Globs asked at once: a name is compared with those of its last letter, or its first."""

    def __init__(self, globs: Iterable[str]) -> None:
        by_last, by_first = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for glob in globs:
            if glob[-1] not in "*?]":
                by_last[glob[-1]].append(glob)
            else:
                by_first[glob[0] if glob[0] not in "*?[" else ""].append(glob)
        anywhere = by_first.pop("", [])
        self._others = _any_of(tuple(anywhere))
        self._by_last = {last: _any_of((*found, *anywhere)) for last, found in by_last.items()}
        self._by_first = {first: _any_of(tuple(found)) for first, found in by_first.items()}

    def fit(self, name: str) -> bool:
        """Whether one of them fits a name."""
        if self._by_last.get(name[-1:], self._others).match(name):
            return True
        first = self._by_first.get(name[:1])
        return first is not None and first.match(name) is not None


@lru_cache(maxsize=512)
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{translate(glob)})" for glob in globs) or r"(?!)")


def _leads_into(names: list[str], places: Iterable[list[str]]) -> bool:
    return any(names[: len(place)] == place for place in places if place)
