"""What a run may leave in git repositories, judged by its changes before they are made.

The names in them are protected since git runs programs by their content. A new one as
`git init` and `git clone` make it has no such content, and is taken over. What is checked
is what is written then: of the settings, the very bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from string import hexdigits

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.step import Source
from toolcrib.files.handles import Root, read_plain
from toolcrib.files.path_rules import fold, parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.credentials import hash_size_in, hash_size_of
from toolcrib.files.repositories.index import (
    HASH_SIZES,
    INDEX,
    MAX_INDEX_BYTES,
    SIGNATURE,
    UNREADABLE,
    GitIndexEntry,
    index_trouble,
    plain_index,
    read_index,
)
from toolcrib.files.repositories.places import (
    BARE_REPOSITORY,
    GIT,
    HOOKS,
    MAX_CONFIG_BYTES,
    file_trouble,
    is_bare_repository,
    lies_in_repository,
    may_mislead,
)
from toolcrib.files.repositories.settings import trouble, trouble_of_change
from toolcrib.state.blobs import digest_of
from toolcrib.text.display import printable

LINK = "a link in a repository, through which git would write"
CONFIG = "config"
ALTERNATES = (("objects", "info", "alternates"), ("objects", "info", "http-alternates"))
ALTERNATES_NAMES = frozenset(names[-1] for names in ALTERNATES)
LEGACY = ("remotes", "branches")
"""Old places of settings."""
ATTRIBUTES = ("info", "attributes")
WORKTREES, MODULES = "worktrees", "modules"
CHANGED_BY_COMMITS = frozenset({"index", "logs", "COMMIT_EDITMSG", "HEAD", "ORIG_HEAD"})
"""Of a working tree that was there; its other names lead git, or hold what it goes on with."""
HEAD = re.compile(rb"ref: refs/\S+\s*|[0-9a-f]{40}(?:[0-9a-f]{24})?\s*")
ENDS = "git would take the folder for part of a repository around it"
OF_A_MODULE = CHANGED_BY_COMMITS | {
    *("refs", "packed-refs", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG", "TAG_EDITMSG"),
}
"""Of a submodule that was there: what git changes in it beside objects, without an operation that
it goes on with later."""
USUAL = (
    "one as git init and git clone make it, without hooks and with plain settings, is taken "
    "over; the user can make any"
)
Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BytesSource:
    """A content in memory: what was checked is what is written."""

    data: bytes

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        yield self.data


@dataclass(slots=True)
class RunRepository:
    """One that a run made, or something of one that was there.

    Attributes:
        top: its own folder, `.git` or `NAME.git`.
        place: what is checked: the same, or one file in it.
        why: what git could run of it, or where it leads; "" for nothing.
        config: its settings.
        added_settings: the names of what is new in the settings of one that was there.
        holds: the names in its folder.
    """

    top: SafePath
    place: SafePath
    why: str = ""
    config: bytes | None = None
    added_settings: list[str] = field(default_factory=list)
    holds: set[str] = field(default_factory=set)

    @property
    def is_bare(self) -> bool:
        """Whether it is one without files, or a folder that only has such a name."""
        return self.top.parts[-1:] != (GIT,)

    @property
    def start(self) -> str:
        """The folder that git takes relative addresses from."""
        return str(self.top.absolute if self.is_bare else self.top.parent.absolute)

    @property
    def explanation(self) -> str:
        """Why it is left out, and what can be done."""
        return f"{self.why}; {USUAL if self.place == self.top else 'the user can change it'}"

    @property
    def is_refused(self) -> bool:
        """Whether all of it is left out."""
        return bool(self.why) and (not self.is_bare or self.holds >= BARE_REPOSITORY)


@dataclass(slots=True)
class RunRepositories:
    """All of them.

    Args:
        roots: of the workspace.
    """

    roots: Sequence[Root]
    _found: dict[Key, RunRepository] = field(default_factory=dict)
    _unpacked: int = 0

    @classmethod
    def among(cls, deltas: Iterable[Delta], roots: Sequence[Root]) -> RunRepositories:
        """Judge all that is new; folders come before what they hold."""
        found = cls(roots)
        for delta in deltas:
            found._examine(delta)
        return found

    def of(self, path: SafePath) -> RunRepository | None:
        """The one that a path belongs to."""
        found = None
        if self._found:
            for depth in range(1, len(path.parts) + 1):
                known = self._found.get((path.root.real, path.parts[:depth]))
                if known is not None:
                    found = known
                    if not known.is_bare:
                        break
        return found

    def allowed(self, delta: Delta) -> Delta:
        """A change as it may be made: with leave where it was found harmless.

        An index is taken over by its entries: what git has noted in it beside them, such as the
        tree that they make, may be false, and git makes it anew.
        """
        found = self.of(delta.path)
        depth = _index_depth(delta) if fold(delta.path.name) == "index" else None
        if depth is not None and (found is None or not found.why):
            with suppress(ValueError, IndexError):
                size = self._hash_size(found, delta.path.ancestor(depth))
                plain = plain_index(_index_content(delta), size)
                delta = replace(delta, new=BytesSource(plain))
        if found is None and (_belongs_to_working_tree(delta) or _belongs_to_module(delta)):
            return replace(delta, path=delta.path.granted())
        if found is None or found.why or not _pattern(delta.path):
            return delta
        inner = _inner(found, delta)
        if inner == (CONFIG,) and found.config is not None:
            return replace(delta, path=delta.path.granted(), new=BytesSource(found.config))
        if delta.before or not _is_gits_own(inner):
            return delta
        return replace(delta, path=delta.path.granted())

    @property
    def notes(self) -> list[str]:
        """What is new in settings that were there."""
        return [
            f"{printable(known.place.display)}: added {printable(', '.join(known.added_settings))}"
            for known in self._found.values()
            if known.added_settings and not known.why
        ]

    def _examine(self, delta: Delta) -> None:
        found, after = self.of(delta.path), delta.after
        if found is None and _ends_repository(delta):
            top = delta.path.parent
            self._add(delta, RunRepository(top, delta.path, ENDS, holds=set(BARE_REPOSITORY)))
        elif _is_new_top(delta) and (found is None or found.is_bare):
            self._add(delta, RunRepository(delta.path, delta.path))
        elif found is not None:
            found.holds.update(_inner(found, delta)[:1])
            found.why = found.why or self._trouble(found, delta)
        elif after is not None and after.kind == "file":
            self._examine_existing(delta)

    def _examine_existing(self, delta: Delta) -> None:
        """Files of a repository that was there by which git finds others, and its settings."""
        if why := self._object_trouble(delta):
            top = delta.path.ancestor(delta.path.parts.index("objects"))
            self._add(delta, RunRepository(top, delta.path, why, holds=set(BARE_REPOSITORY)))
            return
        depth = repository_depth(delta.path)
        if depth is None:
            return
        found = RunRepository(delta.path.ancestor(depth), delta.path, holds=set(BARE_REPOSITORY))
        inner = delta.path.parts[depth:]
        if inner == (CONFIG,) and delta.before and not delta.replaces:
            found.why = self._changed(found, delta)
        elif _folded(inner) in ALTERNATES:
            found.why = "git would take objects from elsewhere"
        elif _folded(inner)[0] in LEGACY or _folded(inner) == ATTRIBUTES:
            found.why = "git reads settings there"
        elif INDEX.match(_folded(inner)[-1]):
            found.why = _index_trouble(delta, hash_size_in(found.top.absolute))
        else:
            found.why = _file_trouble(inner, delta)
        if not found.why and inner != (CONFIG,):
            return
        self._add(delta, found)

    def _object_trouble(self, delta: Delta) -> str:
        """Why what stands under the name of an object, which is its hash, is not that object."""
        if delta.same or delta.new is None or not OBJECT.search("/".join(delta.path.parts)):
            return ""
        if not lies_in_repository(delta.path):
            return ""
        if delta.before:
            return CHANGED
        digits = "".join(delta.path.parts[-2:])
        if not set(digits) <= set(hexdigits):
            return ""  # a pack
        left = MAX_OBJECTS_BYTES - self._unpacked
        found, size = _object_hash(delta.new, len(digits), left)
        self._unpacked += size
        if found == digits:
            return ""
        return TOO_MUCH if size > left else FALSE

    def _add(self, delta: Delta, found: RunRepository) -> None:
        self._found[delta.path.root.real, delta.path.parts] = found

    def _trouble(self, found: RunRepository, delta: Delta) -> str:
        inner, after = _inner(found, delta), delta.after
        display, folded = printable("/".join(inner))[:100], _folded(inner)
        if after is None or delta.before:
            return f"{display} was there"
        if after.kind not in ("file", "folder"):
            return f"{display} in it is {'a link' if after.kind == 'link' else 'no plain file'}"
        if inner == (CONFIG,) and after.kind == "file":
            return self._settled(found, delta)
        if folded in ALTERNATES:
            return self._leads(delta)
        if folded[0] in LEGACY and len(inner) > 1:
            return f"it has settings in {display}"
        if (
            INDEX.match(folded[-1])
            and after.kind == "file"
            and (why := _index_trouble(delta, hash_size_of(found.config or b"")))
        ):
            return why
        if after.kind == "file" and (why := _file_trouble(inner, delta)):
            return why
        if not _pattern(delta.path) or delta.path.gate.pattern(delta.path, "read"):
            return ""  # what must not be read is left out alone
        if _is_gits_own(inner):
            return "" if (after.kind == "folder") == (len(inner) == 1) else f"it has {display}"
        return f"it has {'the hook ' if folded[0] == HOOKS else ''}{display}"

    def _hash_size(self, found: RunRepository | None, top: SafePath) -> int:
        if found is not None and found.config is not None:
            return hash_size_of(found.config)
        return hash_size_in(top.absolute)

    def _settled(self, found: RunRepository, delta: Delta) -> str:
        found.config = _content(delta.new, delta.after.digest if delta.after else "")
        if found.config is None:
            return "its config cannot be read"
        return trouble(found.config, self._inside, found.start)

    def _changed(self, found: RunRepository, delta: Delta) -> str:
        old = _content(delta.old, delta.before[0].digest)
        new = _content(delta.new, delta.after.digest if delta.after else "")
        if old is None or new is None:
            return "its config cannot be read"
        found.config = new
        why, found.added_settings = trouble_of_change(old, new, self._inside, found.start)
        return why

    def _leads(self, delta: Delta) -> str:
        """Objects of another repository."""
        content = _content(delta.new) or b"?"
        for line in content.decode("utf-8", "replace").split("\n"):
            if line and not self._inside(line):
                return "it uses objects outside of the workspace"
        return ""

    def _inside(self, path: str) -> bool:
        tops = {top for root in self.roots for top in (root.real, root.name)}
        return path.startswith("/") and any(parts_beneath(path, t) is not None for t in tops)


def _ends_repository(delta: Delta) -> bool:
    """Whether git would take the folder for no repository any more, but for part of another.

    Then ignore files and settings of that other one count in it.
    """
    path, after = delta.path, delta.after
    if not delta.before or path.name not in BARE_REPOSITORY or not path.parts[:-1]:
        return False
    top = path.parent
    # Where the files themselves were changed, `.git` is none any more.
    if top.name != GIT and not (top.name.endswith(GIT) and is_bare_repository(top)):
        return False
    if path.name != "HEAD":
        return after is None or after.kind != "folder"
    if after is None or after.kind != "file":
        return True
    data = b"" if delta.same or delta.new is None else _content(delta.new) or b"?"
    return bool(data) and not HEAD.fullmatch(data)


def repository_depth(path: SafePath) -> int | None:
    """How many names lead to the repository that holds a path and was there; None for none.

    Of one that is not called so, only what leads git to other files is looked for: the rest of it
    is asked about, see `triggers`.
    """
    for depth, name in enumerate(path.parts[:-1], 1):
        if name == GIT or (name.endswith(GIT) and is_bare_repository(path.ancestor(depth))):
            return depth
    last = fold(path.parts[-1]) if path.parts else ""
    if INDEX.match(last) or last in ALTERNATES_NAMES or may_mislead(path.parts):
        folders = (d for d in range(len(path.parts)) if is_bare_repository(path.ancestor(d)))
        return next(folders, None)
    return None


def _belongs_to_working_tree(delta: Delta) -> bool:
    """Whether commits change it in what a repository keeps for a further working tree."""
    path, after = delta.path, delta.after
    if WORKTREES not in path.parts or (after is not None and after.kind not in ("file", "folder")):
        return False
    depth = repository_depth(path)
    inner = path.parts[depth:] if depth is not None else ()
    if len(inner) < 3 or inner[0] != WORKTREES or inner[2] not in CHANGED_BY_COMMITS:
        return False
    return is_bare_repository(path.ancestor(len(path.parts) - len(inner) + 2))


def _belongs_to_module(delta: Delta) -> bool:
    """Whether commits change it in what a repository keeps for a submodule."""
    path, after = delta.path, delta.after
    if MODULES not in path.parts or (after is not None and after.kind not in ("file", "folder")):
        return False
    top = _module_depth(path)
    inner = path.parts[top:] if top is not None else ()
    if inner[:1] == ("objects",):
        is_folder = len(inner) == 2 and len(inner[1]) == 2
        return is_folder or OBJECT.search("/".join(inner)) is not None
    return bool(inner) and inner[0] in OF_A_MODULE


def _module_depth(path: SafePath) -> int | None:
    """How many names lead to the submodule's own folder that holds a path; None for none.

    Its name may have slashes, and it may have modules of its own: the innermost counts.
    """
    depth = repository_depth(path) if MODULES in path.parts else None
    if depth is None or path.parts[depth : depth + 1] != (MODULES,):
        return None
    tops = range(len(path.parts) - 1, depth + 1, -1)
    return next((size for size in tops if is_bare_repository(path.ancestor(size))), None)


def _inner(found: RunRepository, delta: Delta) -> tuple[str, ...]:
    return delta.path.parts[len(found.top.parts) :]


def _is_new_top(delta: Delta) -> bool:
    """Whether a new folder is that of a repository, spelt as git spells it."""
    after = delta.after
    if after is None or after.kind != "folder" or delta.before:
        return False
    # Not against what the user protects.
    return delta.path.parts[-1].endswith(GIT) and not _pattern(delta.path.granted())


def _folded(inner: Sequence[str]) -> tuple[str, ...]:
    """As a file system takes it that does not tell capitals apart."""
    return tuple(map(fold, inner))


def _is_gits_own(inner: tuple[str, ...]) -> bool:
    """Whether it is the folder itself or an example of a hook, as each new repository has."""
    if inner in ((), (HOOKS,)):
        return True
    return len(inner) == 2 and inner[0] == HOOKS and inner[1].endswith(".sample")


def _pattern(path: SafePath) -> str:
    return path.gate.pattern(path, "write")


def _index_trouble(delta: Delta, hash_size: int) -> str:
    data = _content(delta.new, delta.after.digest if delta.after else "", MAX_INDEX_BYTES)
    if data is not None and not data.startswith(SIGNATURE):
        return ""  # a branch of that name, or what git does not read
    if data is None:
        return UNREADABLE
    why = index_trouble(data, hash_size)
    if not why and fold(delta.path.name) != "index":
        # Its checksum is part of its name, so it is taken as it is; git writes no more to one.
        others = [e for e in read_index(data, hash_size).extensions if not e.is_position]
        why = "the shared part of its index says more than names" if others and data else ""
    return why


def staged(delta: Delta) -> list[tuple[SafePath, bytes]]:
    """What an index has that it did not have before: each path, with its hash, b"" for a folder.

    The index stands for an entry without a name. What it has no more counts, as a folder does, if
    it must not be read.

    That of a further working tree, or of a repository with a name of its own, is taken to lie
    where the repository does, that of a submodule where its name says.
    """
    depth = _index_depth(delta)
    new = b"" if depth is None else _index_content(delta)  # few of thousands are one
    if depth is None or not new:
        return []
    top = delta.path.ancestor(depth)
    is_there = os.path.lexists(f"{top.absolute}/{CONFIG}")
    old = _content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
    place, found = top.ancestor(max(depth - 1, 0)), dict[SafePath, bytes]()
    if (module := _module_depth(delta.path)) is not None:
        # It usually lies where its name says, from the repository around it.
        inner = (name for name in delta.path.parts[depth + 1 : module] if name != MODULES)
        place = place.at((*place.parts, *inner))
    # The settings of a new one are among the changes: what it says with either size counts.
    for hash_size in (hash_size_in(top.absolute),) if is_there else HASH_SIZES:
        for entry in _new_entries(old, new, hash_size):
            if not entry.name:  # of a shared part, which says the name
                found[delta.path] = b""
                continue
            names = os.fsdecode(entry.name).removesuffix("/").split("/")
            digest = b"" if entry.name.endswith(b"/") else entry.hash(hash_size)
            found[place.at((*place.parts, *names))] = digest
        for name in _gone_names(old, new, hash_size):
            path = place.at((*place.parts, *os.fsdecode(name).split("/")))
            if path.gate.pattern(path, "read"):  # `git add` would store it anew
                found[path] = b""
    return list(found.items())


def _new_entries(old: bytes, new: bytes, hash_size: int) -> list[GitIndexEntry]:
    """The entries that an index did not have before; none of one that is none with such hashes."""
    with suppress(ValueError, IndexError):
        before = read_index(old, hash_size).entries if old else []
        entries, known = read_index(new, hash_size).entries, set(before)
        nameless = [entry for entry in entries if not entry.name]
        # They count by their order. Of a new index, the shared part is new too, and names them.
        if not old or nameless == [entry for entry in before if not entry.name]:
            nameless = []
        return nameless + [entry for entry in entries if entry.name and entry not in known]
    return []


def _gone_names(old: bytes, new: bytes, hash_size: int) -> set[bytes]:
    """The names that an index has no more."""
    with suppress(ValueError, IndexError):
        before = {entry.name for entry in read_index(old, hash_size).entries} if old else set()
        return before - {entry.name for entry in read_index(new, hash_size).entries} - {b""}
    return set()


CHANGED = "git never changes an object that is there"
TOO_MUCH = "objects that unpack to so much are not looked at"
FALSE = "its content is not the object that its name says"
MAX_OBJECTS_BYTES, MAX_PIECE_BYTES = 4_000_000_000, 1_000_000
"""Of all that new objects unpack to: a small file may say very much."""
OBJECT = re.compile(
    r"(?:^|/)objects/(?:[0-9a-f]{2}/[0-9a-f]{38,62}|pack/pack-[0-9a-f]+\.(?:pack|idx))\Z"
)


def _object_hash(source: Source, digits: int, max_bytes: int) -> tuple[str, int]:
    """The hash of what an object of git unpacks to, and its size; "" for none, or a larger one."""
    unpacker, size = zlib.decompressobj(), 0
    hasher = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    with suppress(ToolError, OSError, zlib.error):
        for packed in source.chunks():
            rest = packed
            while rest:
                unpacked = unpacker.decompress(rest, MAX_PIECE_BYTES)
                hasher.update(unpacked)
                size += len(unpacked)
                rest = unpacker.unconsumed_tail
                if size > max_bytes:
                    return "", size
        return hasher.hexdigest() if unpacker.eof else "", size
    return "", size


REPLACEMENT = re.compile(rb"refs/replace/[0-9a-f]+")
REPLACING = re.compile(rb"\srefs/replace/")
MADE_AGAIN = re.compile(
    r"(?:^|/)objects/(?:info/commit-graphs?(?:/.*)?"
    r"|pack/(?:pack-[0-9a-f]+\.(?:rev|bitmap)|multi-pack-index(?:[.-].*)?))\Z"
)
"""What git finds out from its objects once more where it is not there; it believes what it says."""
SHOWING_OTHERS = frozenset({"packed-refs", "shallow"})
"""Files of a repository by which git may show other commits than there are."""


def is_made_again(path: SafePath) -> bool:
    """Whether git makes what is there from its objects, and can do without it."""
    found = "objects" in path.parts and MADE_AGAIN.search("/".join(path.parts))
    return bool(found) and (GIT in path.parts or lies_in_repository(path))


def shows_others(delta: Delta) -> bool:
    """Whether git would show other contents or parents of commits by what a run wrote."""
    name, after = fold(delta.path.name), delta.after
    if is_made_again(delta.path):
        return after is not None and after.kind == "file"
    if name not in SHOWING_OTHERS or after is None or not lies_in_repository(delta.path):
        return False
    new = _content(delta.new, max_bytes=MAX_INDEX_BYTES)
    if name == "shallow":  # a new repository may have been cloned so
        return bool(delta.before) or os.path.lexists(delta.path.parent.absolute)
    if new is None:
        return True
    old = _content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
    known = {line for line in old.split(b"\n") if REPLACING.search(line)}
    added = [line for line in new.split(b"\n") if REPLACING.search(line) and line not in known]
    return not all(_was_loose(line, delta.path.parent) for line in added)


def _was_loose(line: bytes, repository: SafePath) -> bool:
    """Whether a line of packed references stood in a file of its own before."""
    digest, _, name = line.partition(b" ")
    if REPLACEMENT.fullmatch(name):
        with suppress(OSError):
            place = f"{repository.absolute}/{name.decode()}"
            return read_plain(place, MAX_CONFIG_BYTES, follow=False).strip() == digest
    return False


def _index_depth(delta: Delta) -> int | None:
    """How many names lead to the repository whose index it is; None where it is none."""
    is_file = delta.after is not None and delta.after.kind == "file"
    is_one = is_file and INDEX.match(fold(delta.path.name))
    return repository_depth(delta.path) if is_one else None


def _index_content(delta: Delta) -> bytes:
    digest = delta.after.digest if delta.after else ""
    return _content(delta.new, digest, MAX_INDEX_BYTES) or b""


def _file_trouble(inner: Sequence[str], delta: Delta) -> str:
    """What git would do elsewhere by it; nothing by what cannot be read."""
    data = bytearray()
    if not may_mislead(inner) or delta.new is None:
        return ""
    with suppress(ToolError, OSError):
        for chunk in delta.new.chunks():
            data += chunk
            if len(data) > MAX_CONFIG_BYTES:
                break
    return file_trouble(inner, bytes(data))


def _content(
    source: Source | None, digest: str = "", max_bytes: int = MAX_CONFIG_BYTES
) -> bytes | None:
    """A small content; None where it cannot be had, or is not the one of that digest."""
    if source is None:
        return None
    data = bytearray()
    with suppress(ToolError, OSError):
        for chunk in source.chunks():
            data += chunk
            if len(data) > max_bytes:
                return None
        if digest:
            hasher = digest_of()
            hasher.update(data)
            if hasher.hexdigest() != digest:
                return None
        return bytes(data)
    return None
