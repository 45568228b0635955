"""What in repositories of other programs than git has these write elsewhere, or run something.

Mercurial plays back what its journal names, wherever that lies; the hooks of a Subversion
repository are programs in a folder; Fossil runs what settings in its database say, which any file
may be.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import Source, read_content
from toolcrib.files.handles import read_plain
from toolcrib.files.names.dot_names import find_dot_name
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import EntryState

OTHER_REPOSITORY = "by it, another program than git runs something, or writes elsewhere"
MAX_JOURNAL_BYTES = 1_000_000
SQLITE_BESIDE = ("-journal", "-wal", "-shm")
"""The ends of the names of files that say what a database holds, too."""
SQLITE_MAGIC = b"SQLite format 3\0"
FOSSIL_IDS = (252_006_673, 252_006_674)
"""By which Fossil marks its databases, of a repository and of a checkout."""
ID_AT, ID_END, MIN_PAGE = 68, 72, 512
_BACKUPS = ("undo.backupfiles", "undo")
HOOKS, TEMPLATE, MARKS = "hooks", ".tmpl", ("format", "db")
"""Of a Subversion repository: the folder of programs, examples of these, what else it has."""
CONF = frozenset({"svnserve.conf", "hooks-env", "authz", "passwd"})
"""In the folder `conf` of a Subversion repository: what its server obeys."""
PRISTINE = re.compile(r"(?:^|/)\.svn/pristine/[0-9a-f]{2}/([0-9a-f]{40})\.svn-base\Z")
"""A content that `svn revert` brings back, by its hash."""
CVS_ROOT, CVS_NOTES = "cvsroot", frozenset({"history", "val-tags"})
"""The folder of a repository of CVS with programs, and what each command notes there."""
TABLE_OF_FOSSIL, MAX_SCHEMA_BYTES = b"rcvfrom", 4_000_000
"""By what its repositories are known too, and how much is looked at."""
_LOCATIONS = {b"": "store/", b"store": "store/", b"plain": ""}


def database_of(path: SafePath) -> SafePath | None:
    """The database to which a file belongs by its name; None for none."""
    stem, dash, _ = path.name.rpartition("-")
    if not fold(path.name).endswith(SQLITE_BESIDE) or not dash or stem in ("", ".", ".."):
        return None
    return path.at((*path.parts[:-1], stem))


def acts_by_content(delta: Delta) -> bool:
    """Whether a program other than git would do something by what a change writes. Blocking."""
    path, before, after = delta.path, delta.before, delta.after
    if before and _is_of_fossil(before[0], delta.old):
        return True
    if after is not None and _is_of_fossil(after, delta.new):
        return True
    if (database := database_of(path)) is not None:
        with suppress(OSError):
            return _has_mark(read_plain(database.absolute, ID_END, follow=False))
    if (found := PRISTINE.search("/".join(path.parts))) is not None and not delta.same:
        return _hash_of(delta.new) != found[1]
    names = list(map(fold, path.parts))
    if CVS_ROOT in names[:-1]:
        return names[-1] not in CVS_NOTES
    if ".hg" not in names[:-1]:
        return False
    depth = names.index(".hg") + 1
    inner = "/".join(names[depth:])
    if inner in ("requires", "store/requires"):
        return bool(delta.before)
    if inner not in tuple(f"store/{name}" for name in _BACKUPS):
        return False
    content = read_content(delta.new, max_bytes=MAX_JOURNAL_BYTES)
    return content is None or not _is_plain(path.ancestor(depth), inner, content)


def _is_plain(folder: SafePath, inner: str, content: bytes) -> bool:
    """Whether what Mercurial notes to take back a commit speaks of that commit's files alone."""
    lines = content.split(b"\n")
    if inner.endswith("files"):
        fields = [line.split(b"\0") for line in lines[1:] if line]
        named = [
            _LOCATIONS[entry[0]] + os.fsdecode(name)
            for entry in fields
            if len(entry) == 4 and entry[0] in _LOCATIONS
            for name in entry[1:3]
            if name
        ]
        if any(len(entry) != 4 or entry[0] not in _LOCATIONS for entry in fields):
            return False
    else:
        named = ["store/" + os.fsdecode(line.partition(b"\0")[0]) for line in lines if line]
    return all(_is_of_commit(folder, name.split("/")) for name in named)


def _is_of_commit(folder: SafePath, names: list[str]) -> bool:
    """Whether a commit writes a file of these names in the folder of Mercurial."""
    if any(name in ("", ".", "..") or "requires" in fold(name) for name in names):
        return False
    return find_dot_name(folder.at((".hg", *names))) is None


def _is_of_fossil(state: EntryState, content: Source | None) -> bool:
    """Whether a file is a database of Fossil; one of SQLite has whole pages."""
    if content is None or not state.size or state.size % MIN_PAGE:
        return False
    data = bytearray()
    with suppress(ToolError, OSError):
        for chunk in content.chunks():
            data += chunk
            is_database = data.startswith(SQLITE_MAGIC)
            if len(data) >= (MAX_SCHEMA_BYTES if is_database else ID_END):
                break
    # Old ones have no mark.
    has_table = data.startswith(SQLITE_MAGIC) and TABLE_OF_FOSSIL in data.lower()
    return has_table or _has_mark(bytes(data[:ID_END]))


def _hash_of(content: Source | None) -> str:
    hasher = hashlib.sha1(usedforsecurity=False)
    with suppress(ToolError, OSError):
        for chunk in content.chunks() if content is not None else ():
            hasher.update(chunk)
        return hasher.hexdigest()
    return ""


def _has_mark(data: bytes) -> bool:
    found = int.from_bytes(data[ID_AT:ID_END], "big")
    return data.startswith(SQLITE_MAGIC) and found in FOSSIL_IDS


def _settles(delta: Delta) -> bool:
    """Whether more stands there than the comments of a new repository."""
    content = read_content(delta.new)
    lines = (content or b"?").split(b"\n")
    return any(line.strip() and not line.startswith((b"#", b"[")) for line in lines)


class SubversionHooks:
    """The programs of Subversion repositories among changes, and what names some. Blocking.

    Args:
        made: what is there that was not.
    """

    def __init__(self, made: Iterable[Delta]) -> None:
        self._made = {delta.path.absolute for delta in made}

    def has(self, delta: Delta) -> bool:
        """Whether a change is one, or makes a repository of a folder that has some."""
        path = delta.path
        if len(path.parts) > 1 and path.parts[-2] == "conf" and path.name in CONF:
            return _settles(delta) and self._is_repository(path.parent.parent)
        if len(path.parts) > 1 and path.parts[-2] == HOOKS and not path.name.endswith(TEMPLATE):
            return self._is_repository(path.parent.parent)
        if path.name == HOOKS:
            return delta.is_link and self._is_repository(path.parent)
        if path.name not in MARKS or not self._is_repository(path.parent):
            return False
        with suppress(ToolError, OSError):
            names = (entry.name for entry in path.parent.child(HOOKS).list())
            return not all(name.endswith(TEMPLATE) for name in names)
        return False

    def _is_repository(self, folder: SafePath) -> bool:
        places = (f"{folder.absolute}/{name}" for name in MARKS)
        return all(place in self._made or os.path.lexists(place) for place in places)
