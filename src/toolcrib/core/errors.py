"""Every way a call can fail.

A tool raises one of these; the outermost middleware turns it into a `Result`.
`code` is stable and meant for programs, the message says what happened, and
`hint` says what to do next.

::

    ToolError                     error
    ├── BadInput                  bad_input
    │   └── UnknownTool           unknown_tool
    ├── Denied                    denied
    │   ├── NeedsApproval         needs_approval
    │   ├── ToolDisabled          tool_disabled
    │   ├── PathDenied            path_denied
    │   ├── RobotsDenied          robots_denied
    │   └── Blocked               blocked_scheme, blocked_host, blocked_address, blocked_port
    ├── NotFound                  not_found
    ├── NoResults                 no_results
    ├── Conflict                  conflict
    ├── TimedOut                  timeout
    ├── Cancelled                 cancelled
    ├── Busy                      busy
    ├── Network                   network
    │   ├── DnsFailure            dns_failure
    │   ├── ConnectionFailed      connection_failed
    │   ├── TlsFailure            tls_failure
    │   ├── TooManyRedirects      too_many_redirects
    │   ├── HttpStatus            http_status
    │   ├── RateLimited           rate_limited
    │   └── ChallengePage         challenge_page
    ├── TooLarge                  too_large
    ├── UnsupportedContent        unsupported_content
    ├── Unavailable               unavailable
    │   ├── MissingExtra          missing_extra
    │   └── NotConfigured         not_configured
    ├── StorageFailure            storage_failure
    ├── ConfigError               config_error
    └── Internal                  internal
"""

from __future__ import annotations

import errno
import sys
from typing import Any, ClassVar


class ToolError(Exception):
    """A failure the caller can read and act on.

    `details` holds small JSON values for programs (a status, an address, an id).
    """

    code: ClassVar[str] = "error"
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str = "", code: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint
        self.stable_code = code or self.code
        self.details = details
        if self.hint:  # so that a traceback of a program shows it too
            self.add_note(self.hint)


class BadInput(ToolError):
    """The arguments are not what the tool takes."""

    code = "bad_input"
    default_hint = "Mend the arguments and send the call again."


class UnknownTool(BadInput):
    """No tool has this name."""

    code = "unknown_tool"


class Denied(ToolError):
    """A rule of the user forbids the call."""

    code = "denied"


class NeedsApproval(Denied):
    """A person has to approve this call first; `details["id"]` names the request."""

    code = "needs_approval"


class ToolDisabled(Denied):
    """The tool exists and is switched off; the hint names the setting."""

    code = "tool_disabled"


class PathDenied(Denied):
    """The path is outside the workspace, protected, or not a plain file or folder."""

    code = "path_denied"


class RobotsDenied(Denied):
    """The site's robots.txt does not want this page to be read by programs."""

    code = "robots_denied"


class Blocked(Denied):
    """The egress guard refused an address; `stable_code` says at which check."""

    code = "blocked_address"


class NotFound(ToolError):
    """The thing named does not exist."""

    code = "not_found"


class NoResults(ToolError):
    """The question was answered, and the answer is that there is nothing."""

    code = "no_results"


class Conflict(ToolError):
    """The thing changed since it was read, or already exists."""

    code = "conflict"


class TimedOut(ToolError):
    """The time given was not enough."""

    code = "timeout"
    default_hint = "Ask for less at a time, or try again later."


class Cancelled(ToolError):
    """The caller cancelled."""

    code = "cancelled"
    default_hint = "Nothing is wrong with the call: send it again if it is still wanted."


class Busy(ToolError):
    """Too many calls at once."""

    code = "busy"
    default_hint = "Wait for a running call to finish, then send this call again."


class Network(ToolError):
    """Reaching another machine failed."""

    code = "network"


class DnsFailure(Network):
    """The name does not resolve."""

    code = "dns_failure"
    default_hint = "Check the spelling of the host."


class ConnectionFailed(Network):
    """The server refused, reset or closed the connection early."""

    code = "connection_failed"
    default_hint = "Try again later, or use another source."


class TlsFailure(Network):
    """The certificate or the handshake is not acceptable."""

    code = "tls_failure"
    default_hint = "Use another source. The user can trust an authority with egress.ca_file."


class TooManyRedirects(Network):
    """The chain of redirects is longer than allowed, or loops."""

    code = "too_many_redirects"
    default_hint = "Use another address of the same page."


class HttpStatus(Network):
    """The server answered with an error status; `details["status"]` holds it."""

    code = "http_status"


class RateLimited(Network):
    """The server asks to slow down; `details["retry_after"]` is in seconds where known."""

    code = "rate_limited"


class ChallengePage(Network):
    """The server wants proof of a human instead of answering."""

    code = "challenge_page"


class TooLarge(ToolError):
    """More bytes than the limit."""

    code = "too_large"
    default_hint = "Ask for a part of it, or for something smaller."


class UnsupportedContent(ToolError):
    """A kind of content that no handler takes."""

    code = "unsupported_content"
    default_hint = "Use another source, or another form of the same content."


class Unavailable(ToolError):
    """A part that this call needs cannot work here."""

    code = "unavailable"


def install_line(package: str) -> str:
    """The command that adds a package to this installation, as it was made.

    Args:
        package: its name, or an optional part as `toolcrib[documents]`.
    """
    folders = set(sys.prefix.replace("\\", "/").split("/"))
    is_part = package.startswith("toolcrib[")
    if {"uv", "tools"} <= folders:  # made by `uv tool install`, without pip in it
        return (
            f'uv tool install "{package}"'
            if is_part
            else f"uv tool install toolcrib --with {package}"
        )
    if {"pipx", "venvs"} <= folders:
        return f'pipx install --force "{package}"' if is_part else f"pipx inject toolcrib {package}"
    if {"uv", "archive-v0"} <= folders:  # what uvx has made for this time
        return f'uvx --from "{package}" toolcrib' if is_part else f"uvx --with {package} toolcrib"
    return f'pip install "{package}"' if is_part else f"pip install {package}"


class MissingExtra(Unavailable):
    """An optional package is not installed; the hint gives the command."""

    code = "missing_extra"

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs the optional part '{extra}', which is not installed.",
            hint=f"The user can install it: {install_line(f'toolcrib[{extra}]')}",
            extra=extra,
        )


class NotConfigured(Unavailable):
    """A setting is missing; the hint names it."""

    code = "not_configured"


class StorageFailure(ToolError):
    """The store cannot be read or written (disk full, no permission)."""

    code = "storage_failure"
    default_hint = "The user can find the cause with `toolcrib doctor`."


class ConfigError(ToolError):
    """The configuration is wrong; the message names the file and the key."""

    code = "config_error"
    default_hint = "Mend it there; `toolcrib doctor` checks the configuration."


class Internal(ToolError):
    """A defect of toolcrib itself."""

    code = "internal"
    default_hint = "A defect of toolcrib, not of the call. `toolcrib history` has the trace."


NOT_EVERYWHERE = {
    "turbohtml": ("turbohtml", "Reading web pages and HTML"),
    "quickjs": ("quickjs-ng", "JavaScript that only computes"),
    "re2": ("google-re2", "Searching by a pattern"),
}
"""Modules of the base installation that some systems have no wheel of, and what they are for."""


def missing_module(error: ModuleNotFoundError) -> Unavailable | None:
    """What to say where the base installation lacks a part; None for another module."""
    name = (error.name or "").partition(".")[0]
    if name not in NOT_EVERYWHERE:
        return None
    package, needed_for = NOT_EVERYWHERE[name]
    return Unavailable(
        f"{needed_for} needs the package {package}, which has no wheel for this system.",
        hint=f'"pip install {package}" compiles it where a compiler is; other tools work.',
        code=MissingExtra.code,
        extra=package,
    )


MACHINE_ERRNO = frozenset(
    (
        *(errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE),
        *(errno.EROFS, errno.EACCES, errno.EIO),
    )
)
"""What a machine refuses to any program, whatever it does."""


def as_tool_error(error: BaseException, name: str) -> ToolError:
    """The error of the tree for whatever a tool named `name` raised."""
    if isinstance(error, ToolError):
        return error
    if isinstance(error, ModuleNotFoundError) and (missing := missing_module(error)):
        return missing
    if isinstance(error, TimeoutError):
        return TimedOut(f"{name} took too long.", hint="Ask for less at a time.")
    if isinstance(error, OSError) and error.errno in MACHINE_ERRNO:
        place = f" ({str(error.filename)[:300]})" if error.filename is not None else ""
        return StorageFailure(
            f"{name} could not go on: {error.strerror}{place}.",
            hint="The machine refuses it, whatever the call: the user looks at space, rights, open "
            "files and background jobs; then try again.",
        )
    text = " ".join(str(error).split())[:300]
    kind = type(error).__name__
    return Internal(f"{name} failed: {kind}: {text}" if text else f"{name} failed: {kind}")


def error_class(code: str) -> type[ToolError]:
    """The class of errors with this code; `ToolError` where none has it."""
    waiting: list[type[ToolError]] = [ToolError]
    while waiting:
        found = waiting.pop()
        if found.code == code and found is not ToolError:
            return found
        waiting += found.__subclasses__()
    return Blocked if code.startswith("blocked_") else ToolError
