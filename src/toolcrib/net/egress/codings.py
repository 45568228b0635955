"""Content codings undone in small steps, so that a bomb stops at the cap.

Decoding is ours rather than the client's: both transports then behave alike, and
wire bytes, decoded bytes and their ratio are all known.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

from toolcrib.core.errors import ConnectionFailed, TooLarge, UnsupportedContent

ACCEPTED = "gzip, deflate, br, zstd"

# Input and output go through in pieces of this size: the decoders copy what they did
# not consume, which would take quadratic time on a whole body.
PIECE = 65_536
# Bodies may be several coded ones in a row; thousands of tiny ones only cost time.
MAX_MEMBERS = 1000
# Below this much output any ratio is fine: small pages of one repeated line exist.
RATIO_FREE = 1 << 20
# 8 MiB, the window that browsers accept (RFC 9659).
ZSTD_WINDOW_LOG = 23


class Coding(Protocol):
    """One content coding, undone step by step."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The output for this input, in pieces of about `PIECE` bytes at most."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the end of the coded data has been seen."""
        ...


class _Zlib:
    def __init__(self, wbits: int, *, members: bool = False) -> None:
        self._wbits = wbits
        self._left = MAX_MEMBERS if members else 0
        self._decoder = zlib.decompressobj(wbits)
        self.complete = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._decoder.eof:
                if not self._left or data[0] != 0x1F:
                    return  # padding after the end
                self._left = _one_less(self._left)
                self._decoder = zlib.decompressobj(self._wbits)
                self.complete = False
            yield self._decoder.decompress(data, PIECE)
            self.complete = self._decoder.eof
            data = self._decoder.unused_data if self.complete else self._decoder.unconsumed_tail


class _Deflate:
    """Both things that servers call deflate: with the zlib header, and without."""

    def __init__(self) -> None:
        self._head = b""
        self._inner: _Zlib | None = None

    @property
    def complete(self) -> bool:
        return self._inner is not None and self._inner.complete

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            data = self._head + data
            if len(data) < 2:
                self._head = data
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = _Zlib(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        yield from self._inner.feed(data)


class _Brotli:
    def __init__(self) -> None:
        import brotli  # type: ignore[import-untyped]

        self._decoder = brotli.Decompressor()
        self._error = brotli.error

    @property
    def complete(self) -> bool:
        return bool(self._decoder.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            piece = self._decoder.process(data, output_buffer_limit=PIECE)
            yield piece
            while piece and not self.complete:
                piece = self._decoder.process(b"", output_buffer_limit=PIECE)
                yield piece
        except self._error as error:
            raise ValueError(str(error)) from None


class _Zstd:
    def __init__(self) -> None:
        self._module = _zstd_module()
        self._decoder = self._fresh()
        self._left = MAX_MEMBERS
        self.complete = False

    def _fresh(self) -> Any:
        limit = {self._module.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG}
        return self._module.ZstdDecompressor(options=limit)

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            while data or not self._decoder.needs_input:
                if self._decoder.eof:
                    self._left = _one_less(self._left)
                    self._decoder = self._fresh()
                yield self._decoder.decompress(data, PIECE)
                self.complete = self._decoder.eof
                data = self._decoder.unused_data if self.complete else b""
                if self.complete and not data:
                    return
        except self._module.ZstdError as error:
            raise ValueError(str(error)) from None


def _zstd_module() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _one_less(left: int) -> int:
    if left == 1:
        raise ValueError(f"more than {MAX_MEMBERS} parts")
    return left - 1


def _coding(name: str) -> Coding:
    match name:
        case "gzip" | "x-gzip":
            return _Zlib(zlib.MAX_WBITS | 16, members=True)
        case "deflate":
            return _Deflate()
        case "br":
            return _Brotli()
        case "zstd":
            return _Zstd()
    raise UnsupportedContent("The server used an unknown content coding.")


class Decoder:
    """All codings of one body, undone under caps.

    Args:
        names: the values of Content-Encoding, in the order they were applied.
        max_codings: how many may lie over each other.
        max_bytes: the most that any step may put out.
        max_ratio: the most that the output may exceed the input, once past 1 MiB.

    Raises:
        UnsupportedContent: an unknown coding, or too many.
    """

    def __init__(
        self, names: list[str], *, max_codings: int, max_bytes: int, max_ratio: int
    ) -> None:
        names = [name for name in names if name != "identity"]
        if len(names) > max_codings:
            raise UnsupportedContent(
                f"The answer is coded {len(names)} times over; at most {max_codings} are accepted.",
                limit="egress.max_codings",
            )
        self._steps = [_coding(name) for name in reversed(names)]
        self._written = [0] * len(self._steps)
        self._max_bytes = max_bytes
        self._max_ratio = max_ratio
        self._read = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The plain bytes for these coded ones, in small pieces.

        Raises:
            TooLarge: the ratio is that of a bomb, or a step inside exceeds the cap.
            ConnectionFailed: the data is not what its coding says.
        """
        self._read += len(data)
        try:
            for start in range(0, len(data), PIECE):
                yield from self._through(0, data[start : start + PIECE])
        except (zlib.error, ValueError) as error:
            raise ConnectionFailed(
                f"The body of the answer is damaged: {error}.", reason="malformed", retryable=False
            ) from None

    def _through(self, step: int, data: bytes) -> Iterator[bytes]:
        if step == len(self._steps):
            yield data
            return
        for piece in self._steps[step].feed(data):
            self._written[step] += len(piece)
            self._check(step)
            if piece:
                yield from self._through(step + 1, piece)

    def _check(self, step: int) -> None:
        written, last = self._written[step], step == len(self._steps) - 1
        if written > RATIO_FREE and written > self._max_ratio * self._read:
            raise TooLarge(
                f"The answer unpacks to more than {self._max_ratio} times its size.",
                hint="Use another source: this looks like an attack.",
                limit="egress.max_ratio",
            )
        if not last and written > self._max_bytes:
            raise TooLarge(
                f"The answer unpacks to more than {self._max_bytes:,} bytes.",
                hint="The limit is egress.max_decoded_bytes.",
                limit="egress.max_decoded_bytes",
            )

    @property
    def complete(self) -> bool:
        """Whether every coding has seen its end."""
        return all(step.complete for step in self._steps)
