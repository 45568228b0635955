"""Watches on files and folders: what changed lately, bounded, for as long as the server runs."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Self

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotFound, ToolError, Unavailable
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import count_ways
from toolcrib.files.writer import PREFIX
from toolcrib.system.threads import plain_id, random_id

MAX_EVENTS = 50
"""Events that a watch remembers."""
MAX_SESSION_WATCHES = 8
"""Watches of a session."""
MAX_WATCHES = 32
CHECK_MILLISECONDS = 250
"""How often it is checked that what is watched is still there."""
START_SECONDS = 20.0
END_SECONDS = 2.0
MAX_WAYS = 50_000
"""Ways by which the folders beneath a watched one are reached, links followed: each is watched."""
WatchChange = Literal["added", "changed", "deleted"]
_CHANGES: dict[int, WatchChange] = {1: "added", 2: "changed", 3: "deleted"}


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change. `number` counts from 1 within the watch, `path` is as the user spells it."""

    number: int
    when: float
    change: WatchChange
    path: str


@dataclass(slots=True, eq=False)
class PathWatch:
    """A watch that runs, or that ended since what it watched is gone (`ended`)."""

    id: str
    session: str
    path: SafePath
    real: SafePath
    recursive: bool
    kind: str
    events: deque[WatchEvent] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    count: int = 0
    read: int = 0
    ended: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    ready: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add_event(self, change: WatchChange, path: str) -> None:
        """Take down a change; the oldest gives way."""
        with self.lock:
            self.count += 1
            self.events.append(WatchEvent(self.count, time.time(), change, path))

    def unread(self) -> tuple[list[WatchEvent], int]:
        """What nobody has read yet, oldest first, and how many of it were dropped."""
        with self.lock:
            found = [event for event in self.events if event.number > self.read]
            lost = self.count - self.read - len(found)
            self.read = self.count
        return found, lost


class PathWatches:
    """A service: the watches of all sessions; they end with it."""

    def __init__(self) -> None:
        self._all: dict[str, PathWatch] = {}

    @classmethod
    def open(cls, services: Services) -> Self:
        """None runs yet."""
        del services
        return cls()

    def start(self, path: SafePath, session: str, *, recursive: bool) -> PathWatch:
        """Begin to watch; returns when changes are noticed. It blocks.

        Raises:
            BadInput: there are too many watches.
            Unavailable: the system does not let us watch so much.
            PathDenied, NotFound: the path cannot be opened.
        """
        with path.open() as handle:
            real, kind = path.place_of(handle), handle.kind
        mine = self.of(session)
        for watch in mine:
            if watch.real == real and watch.recursive == recursive and not watch.ended:
                return watch
        if len(mine) >= MAX_SESSION_WATCHES or len(self._all) >= MAX_WATCHES:
            raise BadInput(f"{len(mine)} watches run already.", hint="Stop one first.")
        if recursive and kind != "file":
            _check_ways(real.absolute, path)
        watch = PathWatch(random_id(), session, path, real, recursive, kind)
        watch.thread = threading.Thread(target=_run_watch, args=(watch,), daemon=True)
        self._all[watch.id] = watch
        watch.thread.start()
        if not watch.ready.wait(START_SECONDS) or watch.ended:
            self.stop(watch)
            why = watch.ended or "it took too long"
            raise _unwatchable(path, why)
        return watch

    def of(self, session: str) -> list[PathWatch]:
        """The watches of a session, in the order of their start."""
        return [watch for watch in self._all.values() if watch.session == session]

    def get(self, name: str, session: str) -> PathWatch:
        """One by its id or by its path.

        Raises:
            NotFound: this session has none of that name.
        """
        mine = self.of(session)
        for watch in mine:
            if name in (watch.path.display, watch.path.absolute) or plain_id(name) == watch.id:
                return watch
        if not name and len(mine) == 1:
            return mine[0]
        known = ", ".join(watch.id for watch in mine)
        raise NotFound(
            f"There is no watch '{name}'." if name else "Which watch is meant?",
            hint=f"These run: {known}." if known else "None runs; action=start starts one.",
        )

    def stop(self, watch: PathWatch) -> None:
        """End one. It blocks for a moment."""
        self._all.pop(watch.id, None)
        watch.stop.set()
        if watch.thread is not None:
            watch.thread.join(END_SECONDS)

    async def close(self) -> None:
        """End all of them."""
        for watch in self._all.values():
            watch.stop.set()
        for watch in tuple(self._all.values()):
            await asyncio.to_thread(self.stop, watch)


async def watch_changes(path: SafePath) -> AsyncIterator[None]:
    """Say each time that something at a path has changed, until nobody listens any more.

    Raises:
        NotFound, PathDenied: the path cannot be opened.
        Unavailable: the system does not let us watch so much.
    """
    from watchfiles import awatch

    with path.open() as handle:
        single, place = handle.kind == "file", handle.absolute
    folder = place.rpartition("/")[0] if single else place
    if not single:
        await asyncio.to_thread(_check_ways, folder, path)
    try:
        async for _ in awatch(
            folder,
            watch_filter=lambda _, changed: changed == place if single else PREFIX not in changed,
            debounce=400,
            rust_timeout=CHECK_MILLISECONDS,
            recursive=not single,
            ignore_permission_denied=True,
        ):
            yield
    except OSError as error:
        raise _unwatchable(path, str(error)) from None


def _check_ways(top: str, path: SafePath) -> None:
    """Refuse what the library, which follows links, would not come to an end with.

    Two links in each of some dozens of folders are more ways than can be gone, and meanwhile
    nothing else runs.

    Raises:
        Unavailable: there are too many ways.
    """
    if count_ways(top, MAX_WAYS) > MAX_WAYS:
        why = (
            f"it has more than {MAX_WAYS:,} folders, or links that lead to the same ones again and"
        )
        raise _unwatchable(path, f"{why} again")


def _unwatchable(path: SafePath, why: str) -> Unavailable:
    return Unavailable(f"{path.display} cannot be watched: {why}.", hint="Watch a smaller folder.")


def _run_watch(watch: PathWatch) -> None:
    """The thread of a watch."""
    from watchfiles import watch as changes

    single = watch.kind == "file"
    # A file may be replaced by another of its name, so its folder is watched.
    top = watch.real.parent if single else watch.real
    place = top.real_absolute
    wanted = _filter(watch, single=single)
    try:
        for batch in changes(
            place,
            watch_filter=lambda _, path: wanted(path),
            debounce=200,
            step=50,
            stop_event=watch.stop,
            rust_timeout=CHECK_MILLISECONDS,
            yield_on_timeout=True,
            recursive=watch.recursive and not single,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            watch.ready.set()
            for path, change in sorted(_joined(batch).items()):
                watch.add_event(change, _display(watch, path))
            if not _exists(top):
                watch.add_event("deleted", watch.path.display)
                watch.ended = "what it watched is gone"
                break
    except Exception as error:  # noqa: BLE001 - reported to whoever reads the watch
        watch.ended = " ".join(str(error).split())[:200] or type(error).__name__
    finally:
        watch.ready.set()


def _joined(batch: Iterable[tuple[int, str]]) -> dict[str, WatchChange]:
    """One change for each path: a file that another replaced was added and deleted at once."""
    changes: dict[str, set[WatchChange]] = {}
    for number, path in batch:
        changes.setdefault(path, set()).add(_CHANGES[int(number)])
    return {path: _joined_change(path, found) for path, found in changes.items()}


def _joined_change(path: str, found: set[WatchChange]) -> WatchChange:
    if "deleted" not in found:
        return "added" if "added" in found else "changed"
    return "changed" if len(found) > 1 and os.path.lexists(path) else "deleted"


def _filter(watch: PathWatch, *, single: bool) -> Callable[[str], bool]:
    """Tells whether a changed path is one to speak of."""
    real = watch.real

    def wanted(path: str) -> bool:
        parts = parts_beneath(path, real.root.real)
        if parts is None or ".git" in parts or any(name.startswith(PREFIX) for name in parts):
            return False
        place = real.real_at(parts)
        if (place.parts if single else place.parts[: len(real.parts)]) != real.parts:
            return False
        return not real.gate.pattern(place, "read") and _is_free_of_links(place)

    return wanted


def _is_free_of_links(place: SafePath) -> bool:
    """Whether the nearest folder that still exists is where its name says."""
    folder = place.parent
    while True:
        try:
            with folder.open() as handle:
                return handle.absolute == folder.real_absolute
        except NotFound:
            if not folder.parts:
                return False
            folder = folder.parent
        except ToolError:
            return False


def _display(watch: PathWatch, path: str) -> str:
    """A changed path as the user would write it."""
    parts = parts_beneath(path, watch.real.real_absolute) or []
    below = "/".join(parts)
    start = watch.path.display
    return below if start == "." and below else "/".join(part for part in (start, below) if part)


def _exists(folder: SafePath) -> bool:
    with suppress(ToolError):
        folder.open().close()
        return True
    return False
