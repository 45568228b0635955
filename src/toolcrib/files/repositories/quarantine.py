"""Repositories that a program made or changed on disk: what git would obey of it is put aside.

Judged is what lies there now, against what was there before: see `judgement` for changes
that are judged before they are made.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from toolcrib.core.errors import NotFound, ToolError
from toolcrib.files.handles import read_plain
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.credentials import hash_size_in
from toolcrib.files.repositories.index import INDEX, MAX_INDEX_BYTES, index_trouble
from toolcrib.files.repositories.judgement import LINK
from toolcrib.files.repositories.membership import repository_depth
from toolcrib.files.repositories.places import (
    BARE_REPOSITORY,
    COMMONDIR,
    GIT,
    MAX_CONFIG_BYTES,
    STATE_FOLDERS,
    file_trouble,
    is_repository,
    led_to,
    lies_in_repository,
    looked_at_bytes,
    may_mislead,
    named_in,
    unfinished_names,
)
from toolcrib.files.repositories.settings import trouble
from toolcrib.files.repositories.unfinished import state_trouble
from toolcrib.files.writer import (
    drop_name,
    folder_of,
    is_closed,
    open_up,
    rename,
    status_of,
    write_new,
)
from toolcrib.system.threads import random_id
from toolcrib.text.display import printable, some_of

GIT_NAMES = frozenset(
    {".git", "HEAD", "commondir", "config", "config.worktree", "hooks", "objects", "refs"}
    | {"index"}
)
READ_BY_GIT = frozenset({".gitattributes", ".gitignore", ".gitmodules", ".mailmap"})
"""Files of any folder that git opens by itself; for a named pipe it would wait for good."""
OWN_PLACES = frozenset({"worktrees", "modules"})
"""Where git keeps the folders to which a `.git` file leads; runs cannot write there."""
UP = "../.."
"""From the folder of a working tree to the repository that it is one of."""
WORKTREE_SETTINGS = "config.worktree"
"""Of one working tree, where `extensions.worktreeConfig` is on."""
OBEYED = ("commondir", WORKTREE_SETTINGS, "config")
"""What git obeys in a repository, and a run may have added to one that was there."""

KindBefore = Callable[[SafePath], str]
"""The kind of what was there before the run; "" for nothing."""
ContentBefore = Callable[[SafePath], bytes | None]
"""What a file held before the run; None for no file, and where that is not known."""
SUFFIX = ".refused"
MAX_QUOTED_BYTES = 100
"""Of what is removed for good."""


@dataclass(frozen=True, slots=True)
class RepositoryQuarantine:
    """Puts aside what a run made of repositories.

    Args:
        workspace: where.
        kind_before: tells what was there before the run.
        content_before: gives what a file held then.
    """

    workspace: Workspace
    kind_before: KindBefore
    content_before: ContentBefore = lambda _: None

    def take(self, paths: Iterable[str]) -> dict[str, str]:
        """Rename what makes git obey what a run has made; what was done, by name. Blocking.

        Links in a repository are removed: git writes the message of a commit through them, and
        a run may have prepared that message. So are named pipes where git reads.

        Args:
            paths: what may have changed, absolute.
        """
        places: dict[SafePath, None] = {}
        refused: dict[str, str] = {}
        for place in filter(None, map(self.workspace.find, paths)):
            # What no call of the system takes, as a path of 5,000 bytes, hides nothing else.
            with suppress(ToolError, OSError):
                if done := self._taken(place):
                    refused[printable(place.display)] = done
            for depth, name in enumerate(place.parts):
                if name in GIT_NAMES:
                    places[place.ancestor(depth + (name == ".git"))] = None
        for place in places:
            with suppress(ToolError, OSError):
                found = self._misleading(place)
                if found is not None:
                    done = "was put aside" if _renamed(found[0]) else "could not be put aside"
                    refused[printable(found[0].display)] = f"{done}: {found[1]}"
        return refused

    def _taken(self, place: SafePath) -> str:
        """Take away a single thing by which git could be misled; what was done, "" for nothing."""
        for each in (place.parent, place) if place.parts else ():
            self._open_up(each)
        if self._is_new_link(place) and _unlinked(place):
            return f"removed: {LINK}"
        if self._is_new_pipe(place) and _unlinked(place):
            return "removed: a pipe, for which git would wait"
        if (why := self._file_trouble(place)) and (done := self._taken_back(place)):
            return f"{done}: {why}"
        return ""

    def _misleading(self, place: SafePath) -> tuple[SafePath, str] | None:
        """The name by which git would obey something, and why; None where nothing is wrong."""
        kind = place.kind()
        if kind == "file":
            return None if self.kind_before(place) else self._misleading_file(place)
        names = {entry.name for entry in place.list()} if kind == "folder" else set()
        if not is_repository(names):
            return None
        hash_size = hash_size_in(self._common(place).absolute)
        for name in sorted(filter(INDEX.match, names)):
            if why := index_trouble(_read(place.child(name), MAX_INDEX_BYTES), hash_size):
                return place.child(name), f"{why}, which git would write to"
        own = self._is_in_repository(place)
        if self._was_repository(place):
            return self._added(place, names, own=own)
        if "commondir" in names and not own:
            return place.child("HEAD"), "git would use settings of another folder"
        if why := self._trouble(place):
            return place.child("HEAD"), f"{why}, and it is new"
        return self._hooks_in(place)

    def _added(self, place: SafePath, names: set[str], *, own: bool) -> tuple[SafePath, str] | None:
        """The same of what came to a repository that was there."""
        added = (n for n in OBEYED if n in names and not self.kind_before(place.child(n)))
        new = next(added, "")
        if own and new == WORKTREE_SETTINGS:
            new = new if self._trouble(place, (new,)) else ""
        elif own:
            new = ""
        elif not new and not self.kind_before(place.child("hooks")):
            return self._hooks_in(place)
        return (place.child(new), "it makes git use other settings") if new else None

    def _hooks_in(self, place: SafePath) -> tuple[SafePath, str] | None:
        """New hooks: without them a repository is as good as any, and may be the user's."""
        has_hooks = _has_hooks(place)
        return (place.child("hooks"), "git would run what is in it") if has_hooks else None

    def _trouble(
        self, place: SafePath, names: Iterable[str] = ("config", WORKTREE_SETTINGS)
    ) -> str:
        """What git would run of a new repository, by settings of these names; "" for nothing."""
        try:
            settings = [_read_settings(place.child(name)) for name in names]
        except (ToolError, OSError):
            return "its settings cannot be read"
        if any(len(each) > MAX_CONFIG_BYTES for each in settings):
            return "its settings are too long"
        found = (trouble(each, self.workspace.holds) for each in settings)
        return next(filter(None, found), "")

    def _misleading_file(self, place: SafePath) -> tuple[SafePath, str] | None:
        folder = led_to(place.absolute) if place.parts[-1] == ".git" else ""
        inner = self.workspace.find(folder) if folder else None
        if not folder or (inner is not None and self._is_in_repository(inner)):
            return None
        return place, "it leads git to a folder that is no part of a repository that was there"

    def _is_in_repository(self, place: SafePath) -> bool:
        """Whether git keeps it for a working tree or module of a repository that was there."""
        top = self._common(place)
        if top == place or place.parts[len(top.parts)] not in OWN_PLACES:
            return False
        if not self._was_repository(top):
            return False
        led = named_in(COMMONDIR, _read(place.child(COMMONDIR)))
        # As git itself writes it: another way to the same place may go through a link.
        return not led or (led == UP and place.parent.parent == top)

    def _common(self, place: SafePath) -> SafePath:
        """The `.git` that a folder lies in; itself, where it lies in none."""
        inside = GIT in place.parts[:-1]
        return place.ancestor(place.parts.index(GIT) + 1) if inside else place

    def _was_repository(self, place: SafePath) -> bool:
        """Whether all was there by which git takes a folder for one, not only some of it."""
        names = (*BARE_REPOSITORY, COMMONDIR)
        return is_repository([name for name in names if self.kind_before(place.child(name))])

    def _open_up(self, place: SafePath) -> None:
        """Give ourselves the rights on a new folder that git, which lists none, can do without."""
        with suppress(ToolError, OSError):
            status = os.lstat(place.absolute)
            is_fixed = stat.S_ISDIR(status.st_mode) and not status.st_mode & stat.S_IWUSR
            if not (is_closed(status) or (is_fixed and lies_in_repository(place))):
                return
            if not self.kind_before(place):
                with folder_of(place) as (folder, name):
                    open_up(folder, name)

    def _is_new_link(self, place: SafePath) -> bool:
        """Whether a run made a link in a repository."""
        is_link = os.path.islink(place.absolute)  # noqa: PTH114
        return is_link and self.kind_before(place) != "link" and lies_in_repository(place)

    def _file_trouble(self, place: SafePath) -> str:
        """What git would do elsewhere by a file of a repository; "" for nothing."""
        depth = repository_depth(place) if may_mislead(place.parts) else None
        if depth is None:
            return ""
        inner = place.parts[depth:]
        if not STATE_FOLDERS.isdisjoint(map(fold, inner)) and self._goes_on(place):
            return ""
        with suppress(ToolError, OSError):
            limit = looked_at_bytes(inner)
            data = _read(place, limit) if place.kind() == "file" else None
            unfinished = unfinished_names(inner)
            if data is None or (unfinished and SUFFIX in inner[-1]):
                return ""
            # Whoever began a rebase or a pick meanwhile, a user may have: see what it would do.
            why = state_trouble(unfinished, data) if unfinished else file_trouble(inner, data)
            if why:
                before = self.content_before(place)
                return why if before is None or data != before[: limit + 1] else ""
        return ""

    def _goes_on(self, place: SafePath) -> bool:
        """Whether it is of an operation that the user has begun before the run."""
        return bool(place.gate.pattern(place, "write") and self.kind_before(place.parent))

    def _taken_back(self, place: SafePath) -> str:
        """Undo what a run did to a file of a repository; what was done, "" for nothing.

        A reference is one under any name, so none is put aside beside it.
        """
        before, depth = self.content_before(place), repository_depth(place) or 0
        if before is None and "refs" not in map(fold, place.parts[depth:]):
            return "was put aside" if _renamed(place) else ""
        held = _read(place, MAX_QUOTED_BYTES)[:MAX_QUOTED_BYTES]
        is_removed = False
        with suppress(ToolError, OSError), _writable_folder(place):
            is_removed = _unlinked(place)
            if is_removed and before is not None:
                write_new(place.granted(), before)
                return "was put back as it was"
        if not is_removed:
            return ""
        return f"was removed (it held {printable(held.decode('utf-8', 'replace').strip())!r})"

    def _is_new_pipe(self, place: SafePath) -> bool:
        """Whether a run made a named pipe where git reads a file."""
        try:
            is_pipe = stat.S_ISFIFO(os.lstat(place.absolute).st_mode)
        except OSError:
            return False
        if not is_pipe or not place.parts or self.kind_before(place) == "pipe":
            return False
        return place.name in READ_BY_GIT or lies_in_repository(place)


def notes_on(refused: Mapping[str, str]) -> list[str]:
    """A line for each kind of what `RepositoryQuarantine.take` found."""
    names: dict[str, list[str]] = {}
    for name, why in refused.items():
        names.setdefault(why, []).append(name)
    return [f"{some_of(each, 5)} {why}" for why, each in names.items()]


def _read(place: SafePath, max_bytes: int = MAX_CONFIG_BYTES) -> bytes:
    """A file, up to one byte more than it may have; nothing where there is none."""
    with suppress(NotFound), place.open_read() as handle:
        return handle.file.read(max_bytes + 1)
    return b""


def _read_settings(place: SafePath) -> bytes:
    """The same of settings, with credentials too, which are a user's own: they are only judged."""
    with suppress(FileNotFoundError):
        return read_plain(place.absolute, MAX_CONFIG_BYTES + 1, follow=False)
    return b""


def _has_hooks(place: SafePath) -> bool:
    """Whether a repository has some that git may run; what cannot be listed can be run."""
    try:
        return any(not entry.name.endswith(".sample") for entry in place.child("hooks").list())
    except NotFound:
        return False
    except (ToolError, OSError):
        return True


@contextmanager
def _writable_folder(place: SafePath) -> Iterator[tuple[int, str]]:
    """The folder that holds a path, open, and its name; meanwhile it may be written.

    A run can leave it closed, and git that reads all in it minds that not.
    """
    with folder_of(place) as (folder, name):
        mode = stat.S_IMODE(os.fstat(folder).st_mode)
        if is_closed := not mode & stat.S_IWUSR:
            os.chmod(folder, mode | stat.S_IRWXU)  # noqa: PTH101 - a descriptor
        try:
            yield folder, name
        finally:
            if is_closed:
                os.chmod(folder, mode)  # noqa: PTH101


def _unlinked(place: SafePath) -> bool:
    """Remove a link; whether that worked."""
    with suppress(ToolError, OSError), _writable_folder(place) as (folder, name):
        drop_name(folder, name)
        return True
    return False


def _renamed(place: SafePath) -> bool:
    """Give a file another name, which no program looks for; whether that worked."""
    with suppress(OSError), _writable_folder(place) as (fd, name):
        other = f"{name}{SUFFIX}"
        if status_of(fd, other) is not None:
            other = f"{other}-{random_id(8)}"
        rename(fd, name, fd, other)
        return True
    return False
