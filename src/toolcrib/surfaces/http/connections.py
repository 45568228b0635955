"""Connections of the HTTP server: how many there may be, and how long their requests may take.

uvicorn has no limit for either. Without one, whoever reaches the port takes all descriptors of the
process by connections that say nothing, and needs no token for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as HttpProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as HttpProtocol

MAX_CONNECTIONS = 500
"""Of all clients at once; many systems give a process 1,024 descriptors, and runs need some."""
HEADER_SECONDS = 15.0
"""What a client may take from its connection, or a further request's first byte, to its headers."""
BODY_SECONDS = 30.0
"""Of silence amid a body; one that comes slowly is waited for."""


class ClientConnection(HttpProtocol):
    """One that is closed where there are too many, or where a request does not come."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The connection stands."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request; what comes slowly gets no more time by that."""
        super().data_received(data)
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            self._wait_for_headers()
        else:
            self._stop_waiting()
            if cycle.more_body:
                self._wait_for_body()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _wait_for_body(self) -> None:
        self._timer = self.loop.call_later(BODY_SECONDS, self._end_silence)

    def _end_silence(self) -> None:
        if self.flow.read_paused:  # it is not read: the client may be waiting for us
            self._wait_for_body()
        else:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
