"""Watches on files and folders: what changed lately, bounded, for as long as the server runs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Self

from toolcrib.core.errors import BadInput, NotFound, ToolError, Unavailable
from toolcrib.core.services import Services
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.staged_entries import PREFIX
from toolcrib.system.ids import plain_id, random_id

KEPT = 50
"""Events kept of each watch."""
MOST_EACH = 8
"""Watches of a session."""
MOST = 32
CHECKED_MS = 250
"""How often it is checked that what is watched is still there."""
STARTED_WITHIN = 20.0
ENDED_WITHIN = 2.0
Change = Literal["added", "changed", "deleted"]
_CHANGES: dict[int, Change] = {1: "added", 2: "changed", 3: "deleted"}


@dataclass(frozen=True, slots=True)
class Event:
    """One change. `number` counts from 1 within the watch, `path` is as the user spells it."""

    number: int
    when: float
    change: Change
    path: str


@dataclass(slots=True, eq=False)
class Watch:
    """A watch that runs, or that ended since what it watched is gone (`ended`)."""

    id: str
    session: str
    path: SafePath
    real: SafePath
    recursive: bool
    kind: str
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=KEPT))
    count: int = 0
    read: int = 0
    ended: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    ready: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, change: Change, path: str) -> None:
        """Take down a change; the oldest gives way."""
        with self.lock:
            self.count += 1
            self.events.append(Event(self.count, time.time(), change, path))

    def fresh(self) -> tuple[list[Event], int]:
        """What nobody has read yet, oldest first, and how many of it were not kept."""
        with self.lock:
            found = [event for event in self.events if event.number > self.read]
            lost = self.count - self.read - len(found)
            self.read = self.count
        return found, lost


class Watches:
    """A service: the watches of all sessions; they end with it."""

    def __init__(self) -> None:
        self._all: dict[str, Watch] = {}

    @classmethod
    def open(cls, services: Services) -> Self:
        """None runs yet."""
        del services
        return cls()

    def start(self, path: SafePath, session: str, *, recursive: bool) -> Watch:
        """Begin to watch; returns when changes are noticed. It blocks.

        Raises:
            BadInput: there are too many watches.
            Unavailable: the system does not let us watch so much.
            PathDenied, NotFound: the path cannot be opened.
        """
        with path.open() as handle:
            parts = parts_beneath(handle.absolute, path.root.real) or []
            kind = handle.kind
        real = SafePath(path.root, tuple(parts), path.gate, -1)
        mine = self.of(session)
        for watch in mine:
            if watch.real == real and watch.recursive == recursive and not watch.ended:
                return watch
        if len(mine) >= MOST_EACH or len(self._all) >= MOST:
            raise BadInput(f"{len(mine)} watches run already.", hint="Stop one first.")
        watch = Watch(random_id(), session, path, real, recursive, kind)
        watch.thread = threading.Thread(target=_follow, args=(watch,), daemon=True)
        self._all[watch.id] = watch
        watch.thread.start()
        if not watch.ready.wait(STARTED_WITHIN) or watch.ended:
            self._end(watch)
            why = watch.ended or "it took too long"
            raise Unavailable(
                f"{path.display} cannot be watched: {why}.", hint="Watch a smaller folder."
            )
        return watch

    def of(self, session: str) -> list[Watch]:
        """The watches of a session, in the order of their start."""
        return [watch for watch in self._all.values() if watch.session == session]

    def get(self, name: str, session: str) -> Watch:
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

    def stop(self, watch: Watch) -> None:
        """End one. It blocks for a moment."""
        self._end(watch)

    def _end(self, watch: Watch) -> None:
        self._all.pop(watch.id, None)
        watch.stop.set()
        if watch.thread is not None:
            watch.thread.join(ENDED_WITHIN)

    async def close(self) -> None:
        """End all of them."""
        for watch in self._all.values():
            watch.stop.set()
        for watch in tuple(self._all.values()):
            await asyncio.to_thread(self._end, watch)


def _follow(watch: Watch) -> None:
    """The thread of a watch."""
    from watchfiles import watch as changes

    single = watch.kind == "file"
    # A file may be replaced by another of its name, so its folder is watched.
    top = watch.real.parent if single else watch.real
    place = top.root.real_path(top.parts)
    wanted = _filter(watch, single=single)
    try:
        for batch in changes(
            place,
            watch_filter=lambda _, path: wanted(path),
            debounce=200,
            step=50,
            stop_event=watch.stop,
            rust_timeout=CHECKED_MS,
            yield_on_timeout=True,
            recursive=watch.recursive and not single,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            watch.ready.set()
            for change, path in sorted(batch, key=lambda item: item[1]):
                watch.note(_CHANGES[int(change)], _shown(watch, path))
            if not _is_there(top):
                watch.note("deleted", watch.path.display)
                watch.ended = "what it watched is gone"
                break
    except Exception as error:  # noqa: BLE001 - told to whoever reads the watch
        watch.ended = " ".join(str(error).split())[:200] or type(error).__name__
    finally:
        watch.ready.set()


def _filter(watch: Watch, *, single: bool) -> Callable[[str], bool]:
    """Tells whether a changed path is one to speak of."""
    gate, root = watch.real.gate, watch.real.root

    def wanted(path: str) -> bool:
        parts = parts_beneath(path, root.real)
        if parts is None or ".git" in parts or any(name.startswith(PREFIX) for name in parts):
            return False
        place = SafePath(root, tuple(parts), gate, -1)
        if single and place.parts != watch.real.parts:
            return False
        if place.parts[: len(watch.real.parts)] != watch.real.parts:
            return False
        return not gate.pattern(place, "read") and _no_link_on_the_way(place)

    return wanted


def _no_link_on_the_way(place: SafePath) -> bool:
    """Whether the nearest folder that still exists is where its name says."""
    folder = place.parent
    while True:
        try:
            with folder.open() as handle:
                return handle.absolute == folder.root.real_path(folder.parts)
        except NotFound:
            if not folder.parts:
                return False
            folder = folder.parent
        except ToolError:
            return False


def _shown(watch: Watch, path: str) -> str:
    """A changed path as the user would write it."""
    parts = parts_beneath(path, watch.real.root.real_path(watch.real.parts)) or []
    below = "/".join(parts)
    start = watch.path.display
    return below if start == "." and below else "/".join(part for part in (start, below) if part)


def _is_there(folder: SafePath) -> bool:
    with suppress(ToolError):
        folder.open().close()
        return True
    return False
