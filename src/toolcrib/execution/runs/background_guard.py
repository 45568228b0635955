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
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby

from toolcrib.execution.sandbox.confined import Confined
from toolcrib.execution.sandbox.layout import folders_above
from toolcrib.execution.sandbox.masks import OBEYED_BY_GIT, Mask, masks_of_settings
from toolcrib.execution.sandbox.namespace_helper import NamespaceHelper, has_ended
from toolcrib.execution.sandbox.namespaces import mount_points
from toolcrib.files.handles import read_plain
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import real_path
from toolcrib.files.repositories.credentials import (
    MAX_SETTINGS_BYTES,
    may_be_settings,
    without_credentials,
)
from toolcrib.files.repositories.places import (
    BARE_REPOSITORY,
    COMMONDIR,
    is_repository,
    lies_in_repository,
    may_mislead,
)
from toolcrib.files.repositories.quarantine import (
    GIT_NAMES,
    READ_BY_GIT,
    ContentBefore,
    KindBefore,
    RepositoryQuarantine,
    notes_on,
)
from toolcrib.files.tree_events import TreeEvents
from toolcrib.files.trees import entries_beneath, is_file, is_folder, topmost
from toolcrib.system.processes import Processes
from toolcrib.system.sweep import read
from toolcrib.system.unix_sockets import (
    Diagnostic,
    bound_inodes,
    is_named,
    may_be_connected,
    reaches_ours,
)
from toolcrib.text.display import printable, some_of

DEBOUNCE_SECONDS, CHECK_SECONDS = 0.02, 0.3
MAX_LAST_LOOK_SECONDS = 10.0
MAX_REFUSALS = 5
"""How often a program may make the same that git would obey, until it is ended."""
MAX_NEW_FOLDERS, MAX_LOOK_SECONDS = 2_000, 1.0
MAX_PATH_NAMES = 160
"""Folders in new ones, or in all at the start, that are looked into, for how long, and how many
names their paths may have. Meanwhile nothing is covered, so that no tree may hold it up; the look
at the end goes further (see `take_snapshot`) and tells what lies deeper."""
MAX_MOVES = 100
"""Moves of folders in a few seconds, until a program is ended."""
MAX_FAILURES = 5
"""How often what follows the events may fail until that is told, and how many looks in a row may
cover nothing until the program is ended."""
ONLY_LOOKED_AT = "new protected names were only looked for now and then, not watched for"


class BackgroundGuard:
    """Watches the workspace for one run; see `start` and `stop`.

    Args:
        workspace: what is watched.
        processes: looks after what covers.
        confined: gives the run's program; without a namespace of its own nothing is covered.
        kind_before: tells what was there before.
        content_before: gives what a file held then.

    Attributes:
        notes: what was done, a line each.
    """

    def __init__(
        self,
        workspace: Workspace,
        processes: Processes,
        confined: Callable[[], Confined],
        kind_before: KindBefore,
        content_before: ContentBefore = lambda _: None,
    ) -> None:
        self.notes: list[str] = []
        self._workspace = workspace
        self._processes = processes
        self._confined = confined
        self._kind_before = kind_before
        self._quarantine = RepositoryQuarantine(workspace, kind_before, content_before)
        self._covered: dict[str, tuple[int, int]] = {}
        self._pinned: dict[str, tuple[int, int]] = {}
        self._mounted: set[str] = set()
        self._uncovered: set[str] = set()
        self._refusals: Counter[str] = Counter()
        self._failures = 0
        self._is_apart = False
        self._link: Diagnostic | None = None
        self._covers_sockets = False
        self._stop = asyncio.Event()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, after: float = 0.0) -> None:
        """Begin to watch, for a run that has begun just now.

        Args:
            after: seconds until then; what is new in them is covered too.
        """
        masked = set(self._confined().masked)
        self._mounted = self._mount_points()
        list(self._new_masks(masked & self._mounted))  # these are covered
        self._uncovered = masked - self._mounted  # replaced since
        self._task = asyncio.create_task(self._watch(after))

    async def stop(self) -> None:
        """End it, after a look that has begun: what that puts aside is to be told."""
        self._stop.set()
        self._wake.set()
        if self._task is not None:
            try:
                await asyncio.wait({self._task}, timeout=MAX_LAST_LOOK_SECONDS)
            finally:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._link is not None:
            self._link.close()

    async def _watch(self, after: float) -> None:
        """Follow what changes; where that fails, look at all of it again and again.

        A name that is no text ends what follows the events, and any program can make one.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(after):
                await self._stop.wait()
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
                with suppress(TimeoutError):
                    async with asyncio.timeout(CHECK_SECONDS):
                        await self._stop.wait()

    async def _follow(self) -> None:
        tops = [root.real for root in self._workspace.roots]
        events = await asyncio.to_thread(TreeEvents, tops, MAX_PATH_NAMES)
        try:
            await self._look_at_all()  # what came before the watch stood
            while not self._stop.is_set():
                await self._until_readable(events.fd)
                try:
                    changed = await asyncio.to_thread(events.read)
                finally:  # also where some were lost
                    if events.moves() > MAX_MOVES:
                        self._end("it moves folders without end: new names in them are not found")
                looked_at = await asyncio.to_thread(self._looked_at, changed)
                await self._look_at([*looked_at, *self._uncovered])
        finally:
            events.close()

    async def _until_readable(self, fd: int) -> None:
        """Wait for events, and a moment more for what comes with them; not for long."""
        loop = asyncio.get_running_loop()
        loop.add_reader(fd, self._wake.set)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._wake.wait()
                await asyncio.sleep(DEBOUNCE_SECONDS)
        finally:
            loop.remove_reader(fd)  # it would be called again and again meanwhile
        self._wake.clear()

    def _looked_at(self, changed: Iterable[str]) -> list[str]:
        """What has to be looked at of what changed: by its name, or as a folder."""
        near = (path for path in changed if path.count("/") <= MAX_PATH_NAMES)
        return [path for path in near if self._concerns(path) or os.path.isdir(path)]  # noqa: PTH112

    async def _look_at_all(self) -> None:
        """Look into all folders, as far as there are not many, and at what was covered."""
        roots = (root.real for root in self._workspace.roots)
        await self._look_at({*roots, *self._covered, *self._uncovered})

    async def _look_at(self, changed: Iterable[str]) -> None:
        """Put aside and cover what is new; where one of them fails, the other is done."""
        paths = list(changed)
        covered = await self._is_covered(paths)  # first what is known by name: it is read meanwhile
        try:
            paths = await asyncio.to_thread(self._with_contents, paths)
            refused = await asyncio.to_thread(self._quarantine.take, paths)
            self.notes += notes_on(refused)
            self._end_repeating(refused)
        except Exception as error:  # noqa: BLE001 - one fault is not the end of the watch
            self._note(f"not all that git would obey was put aside: {error}")
        if await self._is_covered(paths) and covered:
            self._failures = 0
            return
        self._failures += 1
        if self._failures == MAX_FAILURES:
            self._end("new protected names could not be covered")

    async def _is_covered(self, paths: Iterable[str]) -> bool:
        """Cover what is new; False where that failed, and is tried again with the next look."""
        try:
            await self._cover(paths)
            await self._end_connected()
        except Exception as error:  # noqa: BLE001 - one fault is not the end of the watch
            self._uncovered.update(paths)
            self._note(f"not all new protected names were covered: {error}")
            return False
        return True

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _end(self, why: str) -> None:
        self._note(f"the program was ended: {why}")
        self._confined().stop("")

    def _end_repeating(self, refused: Iterable[str]) -> None:
        """End a program that makes the same again and again: git would find it nearly always."""
        self._refusals.update(list(refused))
        name, count = max(self._refusals.items(), key=lambda each: each[1], default=("", 0))
        if count > MAX_REFUSALS:
            self._end(f"it made {name} again and again")

    def _concerns(self, path: str) -> bool:
        place = self._workspace.find(path)
        if place is None or not place.parts:
            return False
        names = {place.parts[-1], *place.parts[-2:-1]}
        if (
            names & GIT_NAMES
            or place.name in READ_BY_GIT
            or may_mislead(place.parts)
            or place.gate.pattern(place, "write")
        ):
            return True
        with suppress(OSError):
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode) or stat.S_ISFIFO(mode):
                return lies_in_repository(place)
            return stat.S_ISSOCK(mode)
        return False

    def _with_contents(self, paths: Iterable[str]) -> list[str]:
        """The paths, and what new folders hold already: what came before the watch is not told."""
        found = set(paths)
        folders = [p for p in found if os.path.isdir(p) and not os.path.islink(p)]  # noqa: PTH112, PTH114
        entries = entries_beneath(
            topmost(folders),
            max_folders=MAX_NEW_FOLDERS,
            max_seconds=MAX_LOOK_SECONDS,
            max_depth=MAX_PATH_NAMES,
        )
        found.update(self._concerning(entries))
        return sorted(found)

    def _concerning(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[str]:
        """Those of the paths in folders that `_concerns` is true of.

        A tree has tens of thousands of ordinary names: what holds for a folder is asked once.
        """
        for folder, inner in groupby(entries, lambda entry: os.path.dirname(entry.path)):  # noqa: PTH120
            is_ordinary = self._ordinary_names(folder)
            for entry in inner:
                if not is_ordinary(entry) and self._concerns(entry.path):
                    yield entry.path

    def _ordinary_names(self, folder: str) -> Callable[[os.DirEntry[str]], bool]:
        """Tells what in a folder `_concerns` is surely false of."""
        place = self._workspace.find(folder)
        if (
            place is None
            or GIT_NAMES.intersection(place.parts[-1:])
            or may_mislead((*place.parts, ""))
            or place.gate.pattern(place, "write")
        ):
            return lambda _: False
        parts = (*place.root.real_parts, *place.parts)
        protecting = place.gate.protection.of_folder(parts, "write")

        def is_ordinary(entry: os.DirEntry[str]) -> bool:
            name = entry.name
            return not (
                name in GIT_NAMES or name in READ_BY_GIT or may_mislead((name,)) or protecting(name)
            ) and (is_file(entry) or is_folder(entry))

        return is_ordinary

    async def _cover(self, paths: Iterable[str]) -> None:
        self._uncovered.difference_update(paths)
        covers = await asyncio.to_thread(lambda: masks_of_settings(self._new_masks(paths), ()))
        namespace = self._confined().namespace
        if namespace < 0 or (self._is_apart and not covers):
            return
        # A name alone in its folder may be somebody's own, where a program makes many in others.
        crowds = Counter(os.path.dirname(mask.path) for mask in covers)  # noqa: PTH120
        covers.sort(key=lambda mask: crowds[os.path.dirname(mask.path)])  # noqa: PTH120
        left = [mask.path for mask in covers]
        with suppress(OSError):
            helper = await NamespaceHelper.open(self._processes, namespace, "mnt")
            self._is_apart = True
            try:
                for mask in covers:
                    with suppress(OSError):
                        await helper.cover(mask)
                        left.remove(mask.path)
            finally:
                await helper.close()
        self._mounted |= self._mount_points()
        if left and not has_ended(self._confined().namespace):
            # What lies in a folder that could not be pinned is tried again with it.
            again = [c for c in self._covered if any(c.startswith(f"{path}/") for path in left)]
            for path in (*left, *again):  # it is tried with the next look, also if it is gone
                self._covered.pop(path, None)
                self._pinned.pop(path, None)
            self._uncovered.update(left, again)
            if there := [printable(p) for p in left if os.path.lexists(p)]:  # noqa: ASYNC240 - a look
                self._note(f"could not be covered at once: {some_of(there)}")

    async def _end_connected(self) -> None:
        """End a program that was quicker than the cover of a server of the user's, or went round.

        Where the kernel does not say with whom it is connected, it may be such a server.
        """
        pidfd = self._confined().namespace
        if has_ended(pidfd):
            return
        if not await asyncio.to_thread(may_be_connected, _number_of(pidfd)):
            return
        try:
            if self._link is None:
                helper = await NamespaceHelper.open(self._processes, pidfd, "net")
                try:
                    self._link = await helper.diagnostic()
                finally:
                    await helper.close()
            is_connected = await asyncio.to_thread(reaches_ours, self._link)
        except OSError:
            is_connected = self._covers_sockets and not has_ended(pidfd)
        if is_connected:
            self._end("it connected to a server outside of it")

    def _new_masks(self, paths: Iterable[str]) -> Iterator[Mask]:
        """What is protected and not covered, or not covered any more."""
        lost = self._mounted - self._mount_points()
        for link in paths:
            place = self._workspace.find(link)
            if place is None:
                continue
            is_socket = _is_socket_of_others(link)
            if not (
                is_socket or place.gate.pattern(place, "write") or self._is_obeyed_by_git(place)
            ):
                continue
            # In `.git` git writes; what it obeys has names of its own, or is judged.
            is_new = self._is_in_new_repository(place) and not _is_secret(place)
            path = real_path(link)
            if place.parts[-1] == ".git" or is_new or not self._workspace.holds(path):
                continue
            if os.path.islink(link):  # noqa: PTH114 - what it leads to may come yet, or another
                self._uncovered.add(link)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            # A file that is removed takes its cover along, and the next one may get its number.
            if self._covered.get(path) != (status.st_dev, status.st_ino) or path in lost:
                self._covered[path] = (status.st_dev, status.st_ino)
                yield from self._above(path)
                self._covers_sockets |= is_socket
                is_hidden = is_socket or place.gate.pattern(place, "read")
                yield Mask(path, "hidden file" if is_hidden else "fixed")

    def _mount_points(self) -> set[str]:
        """What is covered in the run at this moment, its other mounts among them."""
        return set(mount_points(int(_number_of(self._confined().namespace))))

    def _above(self, path: str) -> Iterator[Mask]:
        """The folders above a place that can still be moved away with it."""
        for folder in reversed(folders_above(path, [r.real for r in self._workspace.roots])):
            with suppress(OSError):
                status = os.lstat(folder)
                if self._pinned.get(folder) != (status.st_dev, status.st_ino):
                    self._pinned[folder] = (status.st_dev, status.st_ino)
                    yield Mask(folder, "pinned")

    def _is_obeyed_by_git(self, place: SafePath) -> bool:
        """Whether it is among the settings of a repository of any name that was there."""
        names = (*BARE_REPOSITORY, COMMONDIR)
        return place.name in OBEYED_BY_GIT and is_repository(
            [name for name in names if self._kind_before(place.parent.child(name))]
        )

    def _is_in_new_repository(self, place: SafePath) -> bool:
        """Whether git is perhaps about to make it, which it could not with fixed settings."""
        for depth, name in enumerate(place.parts[:-1], 1):
            if name.endswith(".git"):
                return not self._kind_before(place.ancestor(depth).child("HEAD"))
        return False


def _is_socket_of_others(path: str) -> bool:
    """Whether a program outside of the run listens there: it would be a way out.

    One that nobody is bound to is left where it is: who made it may want to remove it.
    """
    try:
        status = os.lstat(path)
        return stat.S_ISSOCK(status.st_mode) and status.st_ino & 0xFFFFFFFF in bound_inodes()
    except OSError:  # it is gone, or the kernel does not say
        return is_named(path)


def _number_of(pidfd: int) -> str:
    """The number of a process that is held; "0" for none."""
    found = re.search(rb"^Pid:\s*(\d+)", read(f"/proc/self/fdinfo/{pidfd}"), re.MULTILINE)
    return found[1].decode() if found else "0"


def _is_secret(place: SafePath) -> bool:
    """Whether it must not be read, or has settings with credentials: git is done with those."""
    if place.gate.pattern(place, "read"):
        return True
    with suppress(OSError):
        is_read = may_be_settings(place.name)
        data = read_plain(place.absolute, MAX_SETTINGS_BYTES, follow=False) if is_read else b""
        return without_credentials(data) != data
    return False
