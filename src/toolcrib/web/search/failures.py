"""Why no provider answered: which of their errors is reported, and in what words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.core.errors import (
    BadInput,
    Blocked,
    ChallengePage,
    ConfigError,
    ConnectionFailed,
    DnsFailure,
    HttpStatus,
    MissingExtra,
    Network,
    NoResults,
    NotConfigured,
    RateLimited,
    TimedOut,
    TlsFailure,
    TooLarge,
    ToolError,
    Unavailable,
    as_tool_error,
)

UNREACHABLE_MESSAGE = "Search with {name} is not reachable."
OFFLINE_MESSAGE = "No host name resolves: this machine seems to be offline."
OFFLINE_HINT = "Do not search again now; tell the user to check the connection (toolcrib doctor)."

# When all fail, the error that explains most.
ERROR_PRIORITY: tuple[type[ToolError], ...] = (
    NoResults,
    RateLimited,
    ChallengePage,
    TimedOut,
    HttpStatus,
    Network,
    Blocked,
    TooLarge,
    ConfigError,
    NotConfigured,
    Unavailable,
    BadInput,
    ToolError,
)


def reworded(error: ToolError, message: str, hint: str, details: dict[str, Any]) -> ToolError:
    """The same error in other words; the original may be shared with other calls."""
    kind = type(error) if not isinstance(error, MissingExtra) else Unavailable
    return kind(message, hint=hint, code=error.stable_code, **details)


def is_unconfigured(error: ToolError) -> bool:
    """Whether a provider lacks its address or key, so that it was never asked."""
    return isinstance(error, NotConfigured) and error.details.get("asked") is False


def failed_providers(errors: Mapping[str, ToolError]) -> str:
    """The providers that a reader should know of, each with its code."""
    failed = {name: error for name, error in errors.items() if not is_unconfigured(error)}
    return ", ".join(f"{name} ({error.stable_code})" for name, error in failed.items())


def provider_error(error: Exception, name: str) -> ToolError:
    """The error of a provider, as it is reported."""
    known = as_tool_error(error, name)
    unreached = isinstance(known, DnsFailure | ConnectionFailed | TlsFailure | TimedOut)
    if unreached and known.details.get("asked", True):
        known.hint = UNREACHABLE_MESSAGE.format(name=name)
    return known


def best_error(errors: Sequence[ToolError]) -> ToolError:
    """The error that says most about why all of them happened; of equals the first."""
    return min(
        errors, key=lambda e: next(n for n, k in enumerate(ERROR_PRIORITY) if isinstance(e, k))
    )
