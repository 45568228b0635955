"""What a client library must do for us: one request to checked addresses, no more."""

from __future__ import annotations

import ssl
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from toolcrib.core import errors
from toolcrib.core.errors import ConfigError, ToolError
from toolcrib.core.package_data import package_table
from toolcrib.net.egress.addresses import IPAddress
from toolcrib.net.egress.url import Headers, Target

# Which certificates are trusted: the system's, and those of `egress.ca_file` beside them.


def certificates(ca_file: str) -> list[bytes]:
    """The configured certificates in DER form; empty where none are configured.

    Raises:
        ConfigError: the file cannot be read or has no certificate in it.
    """
    if not ca_file:
        return []
    store = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        store.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"egress.ca_file: {ca_file} cannot be used: {error}.") from None
    return store.get_ca_certs(binary_form=True)


def client_context(ca_file: str) -> ssl.SSLContext:
    """A context that verifies against the system's store and the configured file.

    Raises:
        ConfigError: the file cannot be read or has no certificate in it.
    """
    context = ssl.create_default_context()
    extra = certificates(ca_file)
    if extra:
        context.load_verify_locations(cadata=b"".join(extra))
    return context


def system_authorities() -> list[bytes]:
    """What Linux trusts in DER form, among it what a company added; empty elsewhere.

    Windows fetches most of its authorities only when they are needed, and macOS does not give
    them to OpenSSL: there those that the transport brings are better.
    """
    if sys.platform != "linux":
        return []
    return ssl.create_default_context().get_ca_certs(binary_form=True)


def all_authorities(ca_file: str) -> bytes:
    """All that `client_context` trusts in DER form, for a process that opens no files.

    OpenSSL opens the files of a folder of authorities only as it meets their names.

    Raises:
        ConfigError: the file cannot be read or has no certificate in it.
    """
    context = client_context(ca_file)
    for path in Path(ssl.get_default_verify_paths().capath or "/nowhere").glob("*.0"):
        with suppress(OSError):
            context.load_verify_locations(path)
    return b"".join(context.get_ca_certs(binary_form=True))


# Transport errors in short words: a cause, and whether trying again makes sense.

_FAILURES = package_table("net/egress/failures.toml")
HTTPS_PORT = 443


def failure(reason: str, target: Target, detail: str = "") -> ToolError:
    """The error for a reason of the table, with a word on the cause where one is known."""
    entry = _FAILURES[reason]
    kind: type[ToolError] = getattr(errors, entry["error"])
    message = entry["message"].format(host=target.host, port=target.port)
    hint = entry.get("hint", "")
    if detail:
        message += f": {detail}"
    elif reason == "tls" and target.port != HTTPS_PORT:
        hint = (
            "It may speak plain HTTP: the same URL with http:// before it. Else use another source."
        )
    return kind(
        f"{message}.",
        hint=hint,
        reason=reason,
        retryable=entry.get("retryable", True),
        host=target.host,
        port=target.port,
    )


MAX_CLIENTS = 256


@dataclass(frozen=True, slots=True)
class Request:
    """One request.

    Attributes:
        method: in capitals.
        target: where it goes.
        headers: names in lower case, with their values.
        body: the bytes to send.
        addresses: the checked addresses; nothing else may be connected to. None before the
            name was resolved, and where the proxy of `egress.proxy` connects.
        same_origin_writes: whether a redirect to another origin is handed out, not followed,
            when it would carry a body or a method that changes things.
        secret: whether a header is one, which no run may be sent.
    """

    method: str
    target: Target
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    addresses: tuple[IPAddress, ...] = ()
    same_origin_writes: bool = False
    secret: bool = False


class StreamingResponse(Protocol):
    """An answer whose headers have come. Its body is still coded, and is read once.

    `peer` is the address at the other end, None where the client does not tell.
    `length` is the exact number of bytes to come, None where that is not certain.
    """

    status: int
    headers: Headers
    http_version: str
    peer: IPAddress | None
    length: int | None

    async def read(self) -> bytes:
        """The whole body; for a `length` that is known and small enough."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, no faster than it is taken."""
        ...

    async def close(self) -> None:
        """Give the connection up; what was not read is never fetched."""
        ...


class Transport(Protocol):
    """Sends requests. Follows no redirect, decodes nothing, keeps no cookies, retries nothing."""

    async def send(self, request: Request) -> StreamingResponse:
        """Send one request and wait for the headers.

        Raises:
            ToolError: one of `failures`.
        """
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...
