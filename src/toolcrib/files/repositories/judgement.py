"""What a run may leave in git repositories, judged by its changes before they are made.

The names in them are protected since git runs programs by their content. A new one as
`git init` and `git clone` make it has no such content, and is taken over. What is checked
is what is written then: of the settings, the very bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from string import hexdigits

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import BytesSource, read_content
from toolcrib.files.handles import Root, read_plain
from toolcrib.files.path_rules import fold, parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.credentials import hash_size_in, hash_size_of, is_sparse_by
from toolcrib.files.repositories.index import INDEX, MAX_INDEX_BYTES, plain_index
from toolcrib.files.repositories.index_changes import (
    CONFIG,
    hiding_trouble,
    index_content,
    index_depth,
    staging_trouble,
)
from toolcrib.files.repositories.membership import (
    ALTERNATES,
    belongs_to_module,
    belongs_to_working_tree,
    repository_depth,
)
from toolcrib.files.repositories.objects import (
    CHANGED,
    FALSE,
    LARGE_FILE,
    MAX_OBJECTS_BYTES,
    OBJECT,
    TOO_MUCH,
    large_file_hash,
    object_hash,
)
from toolcrib.files.repositories.packed import MAX_PACKED_BYTES, PACKED, plain_packed
from toolcrib.files.repositories.places import (
    BARE_REPOSITORY,
    GIT,
    HOOKS,
    MAX_CONFIG_BYTES,
    file_trouble,
    is_bare_repository,
    lies_in_repository,
    looked_at_bytes,
    may_mislead,
)
from toolcrib.files.repositories.settings import trouble, trouble_of_change
from toolcrib.text.display import printable

LINK = "a link in a repository, through which git would write"
SETTINGS = (CONFIG, "config.worktree")
LEGACY = ("remotes", "branches")
"""Old places of settings."""
ATTRIBUTES = ("info", "attributes")
HEAD = re.compile(rb"ref: refs/\S+\s*|[0-9a-f]{40}(?:[0-9a-f]{24})?\s*")
ENDS = "git would take the folder for part of a repository around it"
USUAL = (
    "one as git init and git clone make it, without hooks and with plain settings, is taken "
    "over; the user can make any"
)
Key = tuple[str, tuple[str, ...]]


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
        in_place: whether the changes stand in the files already, so that none is made otherwise.
    """

    roots: Sequence[Root]
    in_place: bool = False
    _found: dict[Key, RunRepository] = field(default_factory=dict)
    _unpacked: int = 0

    @classmethod
    def among(
        cls, deltas: Iterable[Delta], roots: Sequence[Root], *, in_place: bool = False
    ) -> RunRepositories:
        """Judge all that is new; folders come before what they hold."""
        found = cls(roots, in_place)
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
        tree that they make, may be false, and git makes it anew. So are packed references.
        """
        found = self.of(delta.path)
        if self._is_packed(found, delta):
            data = read_content(delta.new, max_bytes=MAX_PACKED_BYTES)
            delta = delta if data is None else replace(delta, new=BytesSource(plain_packed(data)))
        depth = index_depth(delta) if fold(delta.path.name) == "index" else None
        if depth is not None and not self.in_place and (found is None or not found.why):
            with suppress(ValueError, IndexError):
                old = read_content(delta.old, max_bytes=MAX_INDEX_BYTES) or b""
                top, is_sparse = delta.path.ancestor(depth), self._is_sparse(found, delta)
                size = self._hash_size(found, top)
                plain = plain_index(index_content(delta), size, old, is_sparse=is_sparse)
                delta = replace(delta, new=BytesSource(plain))
        if found is None and (belongs_to_working_tree(delta) or belongs_to_module(delta)):
            return replace(delta, path=delta.path.granted())
        if found is None or found.why or not _pattern(delta.path):
            return delta
        inner = _inner(found, delta)
        if inner == (CONFIG,) and found.config is not None:
            return replace(delta, path=delta.path.granted(), new=BytesSource(found.config))
        if delta.before or not _is_gits_own(inner):
            return delta
        return replace(delta, path=delta.path.granted())

    def _is_packed(self, found: RunRepository | None, delta: Delta) -> bool:
        if self.in_place or delta.path.name != PACKED or delta.new is None or delta.same:
            return False
        return not found.why if found is not None else repository_depth(delta.path) is not None

    @property
    def notes(self) -> list[str]:
        """What is new in settings that were there."""
        return [
            f"{printable(known.place.display)}: added {printable(', '.join(known.added_settings))}"
            for known in self._found.values()
            if known.added_settings and not known.why
        ]

    def _examine(self, delta: Delta) -> None:
        found = self.of(delta.path)
        if found is None and _ends_repository(delta):
            top = delta.path.parent
            self._add(delta, RunRepository(top, delta.path, ENDS, holds=set(BARE_REPOSITORY)))
        elif _is_new_top(delta) and (found is None or found.is_bare):
            self._add(delta, RunRepository(delta.path, delta.path))
        elif found is not None:
            found.holds.update(_inner(found, delta)[:1])
            found.why = found.why or self._trouble(found, delta)
        elif delta.kind == "file":
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
            found.why = self._index_trouble(found, delta, hash_size_in(found.top.absolute))
        else:
            found.why = _file_trouble(inner, delta)
        if not found.why and inner != (CONFIG,):
            return
        self._add(delta, found)

    def _object_trouble(self, delta: Delta) -> str:
        """Why what stands under the name of an object, which is its hash, is not that object."""
        name = "/".join(delta.path.parts)
        is_large = LARGE_FILE.search(name) is not None
        if delta.same or delta.new is None or not (is_large or OBJECT.search(name)):
            return ""
        if not lies_in_repository(delta.path):
            return ""
        if delta.before:
            return CHANGED
        digits = delta.path.name if is_large else "".join(delta.path.parts[-2:])
        if not set(digits) <= set(hexdigits):
            return ""  # a pack
        left = MAX_OBJECTS_BYTES - self._unpacked
        found, size = (
            large_file_hash(delta.new, left)
            if is_large
            else object_hash(delta.new, len(digits), left)
        )
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
            and (why := self._index_trouble(found, delta, hash_size_of(found.config or b"")))
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

    def _index_trouble(self, found: RunRepository, delta: Delta, hash_size: int) -> str:
        why = staging_trouble(delta, hash_size)
        if why or not self.in_place:
            return why
        return hiding_trouble(delta, hash_size, is_sparse=self._is_sparse(found, delta))

    def _is_sparse(self, found: RunRepository | None, delta: Delta) -> bool:
        """Whether the repository, or the working tree, of an index may leave files out."""
        if found is not None and found.config is not None:
            return is_sparse_by(found.config)
        folders = {delta.path.parent, delta.path.ancestor(repository_depth(delta.path) or 0)}
        names = (f"{folder.absolute}/{name}" for folder in folders for name in SETTINGS)
        return any(is_sparse_by(_settings_at(name)) for name in names)

    def _settled(self, found: RunRepository, delta: Delta) -> str:
        found.config = read_content(delta.new, delta.digest)
        if found.config is None:
            return "its config cannot be read"
        return trouble(found.config, self._inside, found.start)

    def _changed(self, found: RunRepository, delta: Delta) -> str:
        old = read_content(delta.old, delta.before[0].digest)
        new = read_content(delta.new, delta.digest)
        if old is None or new is None:
            return "its config cannot be read"
        found.config = new
        why, found.added_settings = trouble_of_change(old, new, self._inside, found.start)
        return why

    def _leads(self, delta: Delta) -> str:
        """Objects of another repository."""
        content = read_content(delta.new) or b"?"
        for line in content.decode("utf-8", "replace").split("\n"):
            if line and not self._inside(line):
                return "it uses objects outside of the workspace"
        return ""

    def _inside(self, path: str) -> bool:
        tops = {top for root in self.roots for top in (root.real, root.name)}
        return path.startswith("/") and any(parts_beneath(path, t) is not None for t in tops)


def _settings_at(place: str) -> bytes:
    with suppress(OSError):
        return read_plain(place, MAX_CONFIG_BYTES, follow=False)
    return b""


def _ends_repository(delta: Delta) -> bool:
    """Whether git would take the folder for no repository any more, but for part of another.

    Then ignore files and settings of that other one count in it.
    """
    path = delta.path
    if not delta.before or path.name not in BARE_REPOSITORY or not path.parts[:-1]:
        return False
    top = path.parent
    # Where the files themselves were changed, `.git` is none any more.
    if top.name != GIT and not (top.name.endswith(GIT) and is_bare_repository(top)):
        return False
    if path.name != "HEAD":
        return delta.kind != "folder"
    if delta.kind != "file":
        return True
    data = b"" if delta.same or delta.new is None else read_content(delta.new) or b"?"
    return bool(data) and not HEAD.fullmatch(data)


def _inner(found: RunRepository, delta: Delta) -> tuple[str, ...]:
    return delta.path.parts[len(found.top.parts) :]


def _is_new_top(delta: Delta) -> bool:
    """Whether a new folder is that of a repository, spelt as git spells it."""
    if delta.kind != "folder" or delta.before:
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


def _file_trouble(inner: Sequence[str], delta: Delta) -> str:
    """What git would do elsewhere by it; nothing by what cannot be read."""
    data = bytearray()
    if not may_mislead(inner) or delta.new is None:
        return ""
    with suppress(ToolError, OSError):
        for chunk in delta.new.chunks():
            data += chunk
            if len(data) > looked_at_bytes(inner):
                break
    return file_trouble(inner, bytes(data))
