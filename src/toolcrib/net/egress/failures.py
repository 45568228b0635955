"""Transport errors in short words: a cause, and whether trying again makes sense."""

from __future__ import annotations

from toolcrib.core.errors import (
    ConnectionFailed,
    DnsFailure,
    TimedOut,
    TlsFailure,
    TooLarge,
    ToolError,
)
from toolcrib.net.egress.url import Target

# reason: (error, what happened, whether a second try may work)
_FAILURES: dict[str, tuple[type[ToolError], str, bool]] = {
    "dns": (DnsFailure, "The host name {host} does not resolve", False),
    "refused": (ConnectionFailed, "{host} refused the connection on port {port}", True),
    "unreachable": (ConnectionFailed, "{host} cannot be reached", True),
    "connect": (ConnectionFailed, "No connection to {host}", True),
    "connect_timeout": (TimedOut, "No connection to {host} in the time given", True),
    "timeout": (TimedOut, "{host} did not answer in the time given", True),
    "tls": (TlsFailure, "No trusted TLS connection to {host}", False),
    "reset": (ConnectionFailed, "{host} reset the connection", True),
    "closed_early": (ConnectionFailed, "{host} closed the connection before the end", True),
    "malformed": (ConnectionFailed, "{host} sent an answer that is not valid HTTP", False),
    "headers": (TooLarge, "The headers of the answer from {host} exceed the limit", False),
    "framing": (TooLarge, "{host} sends more framing than content", False),
    "proxy": (ConnectionFailed, "The proxy of egress.proxy failed for {host}", True),
    "peer": (ConnectionFailed, "The connection to {host} went to another address", False),
}
# What to do where the default of the error says something else.
_LATER = "Try again later, or use another source."
_HINTS = {
    "refused": "Check the port, or use another source.",
    "connect_timeout": _LATER,
    "timeout": _LATER,
    "malformed": "Use another source.",
    "headers": "Use another source. The limit is egress.max_header_bytes.",
    "framing": "Use another source: this looks like an attack.",
    "proxy": "The user can check egress.proxy.",
    "peer": "Use another source: the connection was not the one that was allowed.",
}


def failure(reason: str, target: Target, detail: str = "") -> ToolError:
    """The error for a reason of the table, with a word on the cause where one is known."""
    kind, text, retryable = _FAILURES[reason]
    message = text.format(host=target.host, port=target.port)
    if detail:
        message += f": {detail}"
    return kind(
        f"{message}.",
        hint=_HINTS.get(reason, ""),
        reason=reason,
        retryable=retryable,
        host=target.host,
        port=target.port,
    )
