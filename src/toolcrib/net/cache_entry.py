"""One value of the cache, as it is kept: JSON, bytes, or a remembered error."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Self

from toolcrib.core import errors
from toolcrib.core.errors import ToolError

JSON, BYTES, ERROR = "json", "bytes", "error"


@dataclass(frozen=True, slots=True)
class Entry:
    """Times are UTC in seconds since 1970."""

    form: str
    body: bytes
    created: float
    expires: float
    stale_until: float

    @classmethod
    def of(cls, value: Any, now: float, ttl: float, stale: float = 0) -> Self:
        """An entry for JSON values or bytes.

        Raises:
            TypeError: neither.
        """
        if isinstance(value, bytes | bytearray):
            form, body = BYTES, bytes(value)
        else:
            form = JSON
            body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "surrogatepass"
            )
        return cls(form, body, now, now + ttl, now + ttl + stale)

    @classmethod
    def of_error(cls, error: ToolError, now: float, ttl: float) -> Self:
        """An entry that raises the same error again."""
        kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == errors.__name__)
        kept = {
            "kind": kind,
            "message": error.message,
            "hint": error.hint,
            "code": error.stable_code,
            "details": error.details,
        }
        body = json.dumps(kept, default=str).encode("ascii")
        return cls(ERROR, body, now, now + ttl, now + ttl)

    def renewed(self, now: float, ttl: float, stale: float) -> Self:
        """The same value, known to hold from now on."""
        return replace(self, created=now, expires=now + ttl, stale_until=now + ttl + stale)

    @property
    def is_error(self) -> bool:
        """Whether it is a remembered error."""
        return self.form == ERROR

    def is_fresh(self, now: float) -> bool:
        """Whether it may be used without asking again."""
        return now < self.expires

    def is_usable(self, now: float) -> bool:
        """Whether it may stand in when asking again fails."""
        return self.form != ERROR and now < self.stale_until

    def value(self) -> Any:
        """The value, a new one each time.

        Raises:
            ToolError: the remembered error.
        """
        if self.form == BYTES:
            return self.body
        value = json.loads(self.body.decode("utf-8", "surrogatepass"))
        if self.form == ERROR:
            kind = getattr(errors, value["kind"])
            raise kind(value["message"], hint=value["hint"], code=value["code"], **value["details"])
        return value
