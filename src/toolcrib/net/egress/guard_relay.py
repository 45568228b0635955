"""Bytes between two sockets at the level of asyncio protocols, with back-pressure."""

from __future__ import annotations

import asyncio
from typing import cast

WRITE_HIGH = 262_144


class Pipe(asyncio.Protocol):
    """One end of a relay: what it reads, its partner writes.

    A partner that cannot keep up pauses this end. An end of file is passed on, and a
    lost connection closes both ends, after what was read has been written. What is
    read before there is a partner is kept for it.

    `allowance` is how many bytes more may be read; None is any number.
    """

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.partner: Pipe | None = None
        self.allowance: int | None = None
        self.ended = False
        self.lost = False
        self.early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=WRITE_HIGH)

    def join(self, partner: Pipe) -> None:
        """Make the two ends partners, and pass on what came before."""
        self.partner, partner.partner = partner, self
        for end in (self, partner):
            early, end.early = end.early, b""
            if early:
                end.data_received(early)
            if end.transport is not None:
                end.transport.resume_reading()
        for end in (self, partner):
            if end.lost:
                end.connection_lost(None)
            elif end.ended:
                end.eof_received()

    def keep(self, data: bytes) -> None:
        """Hold bytes back for a partner to come."""
        self.early += data
        if self.transport is not None:
            self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Bytes from this end."""
        partner = self.partner
        if partner is None:
            self.keep(data)
            return
        if self.allowance is not None:
            # A plain HTTP request has come whole: what follows would be another
            # request, which nobody has judged.
            if len(data) > self.allowance:
                self.close()
                return
            self.allowance -= len(data)
        if partner.transport is not None:
            partner.transport.write(data)

    def eof_received(self) -> bool:
        """This end sends no more."""
        self.ended = True
        partner = self.partner
        if partner is None:
            return True
        if partner.transport is None or partner.ended:
            # Both directions are over: close, after the last bytes have gone out.
            if partner.transport is not None:
                partner.transport.close()
            if self.transport is not None:
                self.transport.close()
            return False
        if not partner.transport.is_closing():
            partner.transport.write_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the interface
        """This end is gone."""
        self.lost = True
        partner = self.partner
        if partner is not None and partner.transport is not None and not partner.lost:
            partner.transport.close()

    def pause_writing(self) -> None:
        """This end cannot keep up."""
        if self.partner is not None and self.partner.transport is not None:
            self.partner.transport.pause_reading()

    def resume_writing(self) -> None:
        """This end has caught up."""
        if self.partner is not None and self.partner.transport is not None:
            self.partner.transport.resume_reading()

    def close(self) -> None:
        """Drop both ends at once."""
        for end in (self, self.partner):
            if end is not None and end.transport is not None:
                end.transport.abort()
