"""aiohttp's side of a connection, counting what HTTP brings beside the content.

The caps on bodies see content only. Interim answers, chunk sizes and their extensions
are parsed below them, and a server could send those for ever.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

from aiohttp import TCPConnector
from aiohttp.client_proto import ResponseHandler

MAX_INTERIM = 10
"""Answers of status 1xx before the real one."""


class FramingError(Exception):
    """More framing than content, or too many interim answers."""


class CountingHandler(ResponseHandler):
    """Stops an answer whose framing exceeds its content by more than `spare` bytes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, spare: int) -> None:
        super().__init__(loop)
        self._spare = spare
        self._start()

    def _start(self) -> None:
        self._earlier = self._payload
        self._received = 0
        self._interim = 0

    def set_response_params(self, **params: Any) -> None:
        """Begin to read the answer to the next request."""
        self._start()
        super().set_response_params(**params)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """Hand on the head of an answer."""
        self._interim += 100 <= data[0].code < 200
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Take bytes off the wire."""
        self._received += len(data)
        super().data_received(data)
        # While reading is paused, content waits in the parser and is not counted yet.
        if self._interim > MAX_INTERIM or (not self._reading_paused and self._is_excessive()):
            self._stop()

    def _is_excessive(self) -> bool:
        payload = None if self._payload is self._earlier else self._payload
        content = payload.total_bytes if payload is not None else 0
        return self._received > 2 * content + self._spare

    def _stop(self) -> None:
        error = FramingError()
        self.set_exception(error)
        if self._payload is not None and self._payload is not self._earlier:
            self._payload.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class CountingConnector(TCPConnector):
    """A connector whose connections count. `spare` is in bytes for each answer."""

    def __init__(self, *, spare: int, **options: Any) -> None:
        super().__init__(**options)
        factory = partial(CountingHandler, loop=self._loop, spare=spare)
        self._factory = cast("partial[ResponseHandler]", factory)
