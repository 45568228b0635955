"""The guard of a background run: what is protected stays so while others change the same files.

A run in the background works on the files themselves. The masks that were mounted before it
started hold for the files that were there then: where an editor of the user puts another file in
the place of one, or a protected name is new, the place is covered again from outside. What git
would obey and the run could have made (a `.git` file, a repository of any name with settings that
run something) is put aside by its content, since git needs to write beside it.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from toolcrib.core.errors import NotFound, ToolError
from toolcrib.execution.runs.snapshots import quarantine, remove_link
from toolcrib.execution.runs.verdict import LINK
from toolcrib.execution.sandbox.confined import Confined
from toolcrib.execution.sandbox.layout import BARE_REPOSITORY, OBEYED_BY_GIT
from toolcrib.execution.sandbox.namespace_helper import (
    MAX_COPY_BYTES,
    Cover,
    NamespaceHelper,
    has_ended,
)
from toolcrib.files.git_credentials import may_be_settings, without_credentials
from toolcrib.files.git_index import INDEX, MAX_INDEX_BYTES, index_trouble
from toolcrib.files.handles import read_plain
from toolcrib.files.path_rules import PatternSet, fold, parts_beneath
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories import lies_in_repository, trouble
from toolcrib.files.trees import names_beneath
from toolcrib.system.processes import Processes
from toolcrib.text.display import printable, some_of

DEBOUNCE_MILLISECONDS, STEP_MILLISECONDS, CHECK_MILLISECONDS = 50, 10, 300
GIT_NAMES = frozenset(
    {".git", "HEAD", "commondir", "config", "config.worktree", "hooks", "objects", "refs"}
    | {"index"}
)
MAX_LAST_LOOK_SECONDS = 10.0
MAX_SETTINGS_BYTES = 65_536
MAX_REFUSALS = 5
"""How often a program may make the same that git would obey, until it is ended."""
MAX_NEW_FOLDERS = 2_000
MAX_LOOK_SECONDS = 1.0
MAX_PATH_NAMES = 160
"""Folders in new ones, or in all at the start, that are looked into, for how long, and how many
names their paths may have. Meanwhile nothing is covered, so that no tree may hold it up; the look
at the end goes further (see `take_snapshot`) and tells what lies deeper."""
MAX_FAILURES = 5
"""How often what follows the events may fail until that is told."""
ONLY_LOOKED_AT = "new protected names were only looked for now and then, not watched for"
LEADS = re.compile(rb"gitdir:\s*(.+?)\s*\Z")
OWN_PLACES = frozenset({"worktrees", "modules"})
"""Where git keeps the folders to which a `.git` file leads; runs cannot write there."""
WORKTREE_SETTINGS = "config.worktree"
"""Of one working tree, where `extensions.worktreeConfig` is on."""
OBEYED = ("commondir", WORKTREE_SETTINGS, "config")
"""What git obeys in a repository, and a run may have added to one that was there."""

KindBefore = Callable[[SafePath], str]
"""The kind of what was there before the run; "" for nothing."""


class BackgroundGuard:
    """Watches the workspace for one run; see `start` and `stop`.

    Args:
        workspace: what is watched.
        processes: looks after what covers.
        confined: gives the run's program; without a namespace of its own nothing is covered.
        kind_before: tells what was there before.

    Attributes:
        notes: what was done, a line each.
    """

    def __init__(
        self,
        workspace: Workspace,
        processes: Processes,
        confined: Callable[[], Confined],
        kind_before: KindBefore,
    ) -> None:
        self.notes: list[str] = []
        self._workspace = workspace
        self._processes = processes
        self._confined = confined
        self._kind_before = kind_before
        self._covered: dict[str, tuple[int, int]] = {}
        self._refusals: Counter[str] = Counter()
        self._stop = anyio.Event()
        self._task: asyncio.Task[None] | None = None

    async def remember(self, paths: Iterable[str]) -> None:
        """Note which files the masks of the run are for, before it starts.

        Args:
            paths: all that there is in the workspace.
        """
        patterns = PatternSet(p.text for p in self._workspace.gate.protection.patterns("write"))

        def work() -> None:
            named = (path for path in paths if patterns.may_match(fold(path.rpartition("/")[2])))
            list(self._covers(named))

        await asyncio.to_thread(work)

    def start(self) -> None:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """End it, after a look that has begun: what that puts aside is to be told."""
        self._stop.set()
        if self._task is not None:
            try:
                await asyncio.wait({self._task}, timeout=MAX_LAST_LOOK_SECONDS)
            finally:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        """Follow what changes; where that fails, look at all of it again and again.

        A name that is no text ends what follows the events, and any program can make one.
        """
        failures = 0
        while not self._stop.is_set():
            try:
                await self._follow()
            except Exception as error:  # noqa: BLE001 - whatever it is, the looks go on
                failures += 1
                if failures == MAX_FAILURES:
                    why = " ".join(str(error).split())[:200]
                    self.notes.append(f"{ONLY_LOOKED_AT}: {why}")
                await self._look_at_all()
                with anyio.move_on_after(CHECK_MILLISECONDS / 1000):
                    await self._stop.wait()

    async def _follow(self) -> None:
        from watchfiles import Change, awatch

        began = False
        async for batch in awatch(
            *(root.real for root in self._workspace.roots),
            watch_filter=lambda change, path: (
                path.count("/") <= MAX_PATH_NAMES
                and (self._concerns(path) or (change == Change.added and os.path.isdir(path)))  # noqa: PTH112
            ),
            debounce=DEBOUNCE_MILLISECONDS,
            step=STEP_MILLISECONDS,
            stop_event=self._stop,
            ignore_permission_denied=True,
            rust_timeout=CHECK_MILLISECONDS,
            yield_on_timeout=True,
        ):
            if not began:  # what came before the watch stood
                began = True
                await self._look_at_all()
            await self._look_at({path for _, path in batch})

    async def _look_at_all(self) -> None:
        """Look into all folders, as far as there are not many, and at what was covered."""
        await self._look_at({*(root.real for root in self._workspace.roots), *self._covered})

    async def _look_at(self, changed: Iterable[str]) -> None:
        """Put aside and cover what is new; a fault with some is not the end of the watch."""
        try:
            await self._cover(changed)  # first what is known by name: it is read meanwhile
            paths = await asyncio.to_thread(self._with_contents, changed)
            refused = await asyncio.to_thread(
                quarantine_repositories, self._workspace, paths, self._kind_before
            )
            self.notes += notes_on(refused)
            self._end_repeating(refused)
            await self._cover(paths)
        except Exception as error:  # noqa: BLE001 - one fault is not the end of the watch
            note = f"not all new protected names were covered: {error}"
            if note not in self.notes:
                self.notes.append(note)

    def _end_repeating(self, refused: Iterable[str]) -> None:
        """End a program that makes the same again and again: git would find it nearly always."""
        self._refusals.update(list(refused))
        name, count = max(self._refusals.items(), key=lambda each: each[1], default=("", 0))
        if count > MAX_REFUSALS:
            self.notes.append(f"the program was ended: it made {name} again and again")
            self._confined().stop("")

    def _concerns(self, path: str) -> bool:
        place = _place(self._workspace, path)
        if place is None or not place.parts:
            return False
        names = {place.parts[-1], *place.parts[-2:-1]}
        if names & GIT_NAMES or place.gate.pattern(place, "write"):
            return True
        return os.path.islink(path) and lies_in_repository(place)  # noqa: PTH114

    def _with_contents(self, paths: Iterable[str]) -> list[str]:
        """The paths, and what new folders hold already: what came before the watch is not told."""
        found = set(paths)
        folders = [p for p in found if os.path.isdir(p) and not os.path.islink(p)]  # noqa: PTH112, PTH114
        names = names_beneath(
            _topmost(folders),
            max_folders=MAX_NEW_FOLDERS,
            max_seconds=MAX_LOOK_SECONDS,
            max_depth=MAX_PATH_NAMES,
        )
        found.update(filter(self._concerns, names))
        return sorted(found)

    async def _cover(self, paths: Iterable[str]) -> None:
        covers = await asyncio.to_thread(lambda: list(self._covers(paths)))
        namespace = self._confined().namespace
        if namespace < 0 or not covers:
            return
        left = [path for _, path, _ in covers]
        with suppress(OSError):
            helper = await NamespaceHelper.open(self._processes, namespace, "mnt")
            try:
                for kind, path, content in covers:
                    with suppress(OSError):
                        await helper.cover(kind, path, content)
                        left.remove(path)
            finally:
                await helper.close()
        if left and not has_ended(self._confined().namespace):
            names = some_of(list(map(printable, left)))
            self.notes.append(f"could not be covered again: {names}")

    def _covers(self, paths: Iterable[str]) -> Iterator[tuple[Cover, str, bytes]]:
        """What to do, where, and what is to be read there instead of the file."""
        for path in paths:
            place = _place(self._workspace, path)
            if place is None or not (
                place.gate.pattern(place, "write") or self._is_obeyed_by_git(place)
            ):
                continue
            if place.parts[-1] == ".git" or self._is_in_new_repository(place):
                continue  # git writes in it; what it obeys has names of its own, or is judged
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if self._covered.get(path) != (status.st_dev, status.st_ino):
                self._covered[path] = (status.st_dev, status.st_ino)
                if place.gate.pattern(place, "read"):
                    yield "hide", path, b""
                else:
                    yield _fixed(path)

    def _is_obeyed_by_git(self, place: SafePath) -> bool:
        """Whether it is among the settings of a repository of any name that was there."""
        return place.name in OBEYED_BY_GIT and all(
            self._kind_before(place.parent.child(name)) for name in BARE_REPOSITORY
        )

    def _is_in_new_repository(self, place: SafePath) -> bool:
        """Whether git is perhaps about to make it, which it could not with fixed settings."""
        for depth, name in enumerate(place.parts[:-1], 1):
            if name.endswith(".git"):
                return not self._kind_before(place.ancestor(depth).child("HEAD"))
        return False


def _fixed(path: str) -> tuple[Cover, str, bytes]:
    """How a file is kept as it is: settings of git with credentials as a copy without them."""
    data = b""
    if may_be_settings(path.rpartition("/")[2]):
        with suppress(OSError):
            data = read_plain(path, MAX_COPY_BYTES, follow=False)
    clean = without_credentials(data)
    if clean == data:
        return "fix", path, b""
    # A part of it would not be what git means; nothing of it is.
    return ("copy", path, clean) if len(data) < MAX_COPY_BYTES else ("hide", path, b"")


def _topmost(folders: Iterable[str]) -> list[str]:
    """Those that lie in none of the others."""
    found: list[str] = []
    for path in sorted(folders, key=lambda path: path.split("/")):
        if not found or not path.startswith(f"{found[-1].rstrip('/')}/"):
            found.append(path)
    return found


def notes_on(refused: Mapping[str, str]) -> list[str]:
    """A line for each kind of what `quarantine_repositories` found."""
    names: dict[str, list[str]] = {}
    for name, why in refused.items():
        names.setdefault(why, []).append(name)
    return [f"{some_of(each, 5)} {why}" for why, each in names.items()]


def quarantine_repositories(
    workspace: Workspace, paths: Iterable[str], kind_before: KindBefore
) -> dict[str, str]:
    """Rename what makes git obey what a run has made; what was done, by name. Blocking.

    Links in a repository are removed: git writes the message of a commit through them, and a run
    may have prepared that message.
    """
    places: dict[SafePath, None] = {}
    refused: dict[str, str] = {}
    for path in paths:
        place = _place(workspace, path)
        if place is not None and _is_new_link(place, kind_before) and _unlinked(place):
            refused[printable(place.display)] = f"removed: {LINK}"
        for depth, name in enumerate(place.parts if place is not None else ()):
            if place is not None and name in GIT_NAMES:
                places[place.ancestor(depth + (name == ".git"))] = None
    for place in places:
        with suppress(ToolError, OSError):
            found = _misleading(workspace, place, kind_before)
            if found is not None and _renamed(found[0]):
                refused[printable(found[0].display)] = f"was put aside: {found[1]}"
    return refused


def _misleading(
    workspace: Workspace, place: SafePath, kind_before: KindBefore
) -> tuple[SafePath, str] | None:
    """The name by which git would obey something, and why; None where there is nothing wrong."""
    kind = _kind(place)
    if kind == "file":
        return None if kind_before(place) else _misleading_file(workspace, place, kind_before)
    names = {entry.name for entry in place.list()} if kind == "folder" else set()
    if "HEAD" not in names or not ({"objects", "refs"} <= names or "commondir" in names):
        return None
    for name in sorted(filter(INDEX.match, names)):
        if why := index_trouble(_read(place.child(name), MAX_INDEX_BYTES)):
            return place.child(name), f"{why}, which git would write to"
    own = _is_in_repository(place, kind_before)
    if kind_before(place.child("HEAD")):
        new = next((n for n in OBEYED if n in names and not kind_before(place.child(n))), "")
        if own and new == WORKTREE_SETTINGS:
            new = new if _trouble(workspace, place, (new,)) else ""
        elif own:
            new = ""
        elif not new and not kind_before(place.child("hooks")) and _has_hooks(place):
            return place.child("hooks"), "git would run what is in it"
        return (place.child(new), "it makes git use other settings") if new else None
    if "commondir" in names and not own:
        return place.child("HEAD"), "git would use settings of another folder"
    why = _trouble(workspace, place)
    return (place.child("HEAD"), f"{why}, and it is new") if why else None


def _has_hooks(place: SafePath) -> bool:
    """Whether a repository has some that git may run; what cannot be listed can be run."""
    try:
        return any(not name.endswith(".sample") for name in _names(place.child("hooks")))
    except (ToolError, OSError):
        return True


def _trouble(
    workspace: Workspace, place: SafePath, names: Iterable[str] = ("config", WORKTREE_SETTINGS)
) -> str:
    """What git would run of a new repository, by its settings of these names; "" for nothing."""
    try:
        settings = [_read(place.child(name)) for name in names]
    except (ToolError, OSError):
        return "its settings cannot be read"
    if any(len(each) > MAX_SETTINGS_BYTES for each in settings):
        return "its settings are too long"
    if _has_hooks(place):
        return "it has hooks"
    found = (trouble(each, lambda path: _place(workspace, path) is not None) for each in settings)
    return next(filter(None, found), "")


def _misleading_file(
    workspace: Workspace, place: SafePath, kind_before: KindBefore
) -> tuple[SafePath, str] | None:
    found = LEADS.match(_read(place))
    if found is None or place.parts[-1] != ".git":
        return None
    target = os.path.normpath(Path(place.parent.absolute, os.fsdecode(found[1])))
    inner = _place(workspace, os.path.realpath(target))
    if inner is None or _is_in_repository(inner, kind_before):
        return None
    return place, "it leads git to a folder that runs can write"


def _is_in_repository(place: SafePath, kind_before: KindBefore) -> bool:
    """Whether git keeps a folder for a working tree or module of a repository that was there."""
    depth = place.parts.index(".git") + 1 if ".git" in place.parts[:-1] else 0
    top = place.ancestor(depth)
    if not depth or place.parts[depth] not in OWN_PLACES or not kind_before(top.child("HEAD")):
        return False
    led = os.fsdecode(_read(place.child("commondir"))).strip()
    return not led or os.path.normpath(Path(place.absolute, led)) == top.absolute


def _kind(place: SafePath) -> str:
    with place.open() as handle:
        return handle.kind


def _read(place: SafePath, max_bytes: int = MAX_SETTINGS_BYTES) -> bytes:
    """A file, up to one byte more than it may have; nothing where there is none."""
    with suppress(NotFound), place.open_read() as handle:
        return handle.file.read(max_bytes + 1)
    return b""


def _names(place: SafePath) -> list[str]:
    """What a folder holds; nothing where there is none."""
    with suppress(NotFound):
        return [entry.name for entry in place.list()]
    return []


def _is_new_link(place: SafePath, kind_before: KindBefore) -> bool:
    """Whether a run made a link in a repository."""
    is_link = os.path.islink(place.absolute)  # noqa: PTH114
    return is_link and kind_before(place) != "link" and lies_in_repository(place)


def _unlinked(place: SafePath) -> bool:
    with suppress(ToolError), SafePath(place.root, (), place.gate, 0).open() as top:
        return remove_link(top.fd, "/".join(place.parts))
    return False


def _renamed(place: SafePath) -> bool:
    with SafePath(place.root, (), place.gate, 0).open() as top:
        return quarantine(top.fd, "/".join(place.parts))


def _place(workspace: Workspace, path: str) -> SafePath | None:
    for root in workspace.roots:
        parts = parts_beneath(path, root.real)
        if parts is not None:
            return SafePath(root, tuple(parts), workspace.gate, -1)
    return None
