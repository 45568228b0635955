"""The one thread in which a store does what blocks."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state.database import Database, Schema, Work

BATCH = 64
"""Writes that wait at the same time share one commit, up to this many."""


@dataclass(frozen=True, slots=True)
class Request:
    """One piece of work and who waits for it."""

    schema: Schema
    work: Work
    writes: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]

    def answer(self, value: Any, error: BaseException | None = None) -> None:
        """Hand the outcome over to the waiter's loop; nobody may be left there."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._settle, value, error)

    def _settle(self, value: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


class Worker:
    """Takes requests in order, and commits waiting writes together.

    Args:
        database: used by this thread alone.
        quick: a second connection, for work that its callers do themselves (see `Store`).
    """

    def __init__(self, database: Database, quick: Database | None) -> None:
        self._database = database
        self._quick = quick
        self.quick_lock = threading.Lock()
        self._queue: SimpleQueue[Request | str] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, request: Request) -> None:
        """Queue a request; the thread starts with the first."""
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    # A daemon: a toolbox that nobody closed must not keep the program alive.
                    self._thread = threading.Thread(
                        target=self._run, name="toolcrib-store", daemon=True
                    )
                    self._thread.start()
        self._queue.put(request)

    def checkpoint(self) -> None:
        """Ask for a checkpoint at some time."""
        if self._thread is not None:
            self._queue.put("checkpoint")

    def close(self) -> None:
        """Finish what is queued, then close the file."""
        if self._thread is not None:
            self._queue.put("stop")
            self._thread.join()

    def _run(self) -> None:
        waiting: Request | str | None = None
        while True:
            item = self._queue.get() if waiting is None else waiting
            waiting = None
            if item == "stop":
                break
            if isinstance(item, str):
                self._database.checkpoint()
            elif item.writes:
                batch = [item]
                waiting = self._gather(batch)
                self._write(batch)
            else:
                self._read(item)
        self._database.close()
        if self._quick is not None:
            with self.quick_lock:
                self._quick.close()

    def _gather(self, batch: list[Request]) -> Request | str | None:
        """Add the writes that wait already; what came between them is returned."""
        while len(batch) < BATCH:
            try:
                item = self._queue.get_nowait()
            except Empty:
                return None
            if isinstance(item, str) or not item.writes:
                return item
            batch.append(item)
        return None

    def _write(self, batch: list[Request]) -> None:
        try:
            values = self._database.write([(r.schema, r.work) for r in batch])
        except (StorageFailure, ConfigError) as error:
            for request in batch:
                request.answer(None, error)
        except BaseException as error:  # noqa: BLE001 - belongs to whoever sent the work
            if len(batch) == 1:
                batch[0].answer(None, error)
                return
            for request in batch:  # one of them failed: the others must not suffer
                self._write([request])
        else:
            for request, value in zip(batch, values, strict=True):
                request.answer(value)
            self._prepare_quick(batch[-1].schema)

    def _read(self, request: Request) -> None:
        try:
            value = self._database.read(request.schema, request.work)
        except BaseException as error:  # noqa: BLE001 - belongs to whoever sent the work
            request.answer(None, error)
        else:
            request.answer(value)
            self._prepare_quick(request.schema)

    def _prepare_quick(self, schema: Schema) -> None:
        if self._quick is not None:
            with self.quick_lock, contextlib.suppress(StorageFailure, ConfigError):
                self._quick.ready(schema)
