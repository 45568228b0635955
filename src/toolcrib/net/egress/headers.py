"""HTTP headers: several values a name, names in any case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from toolcrib.core.errors import BadInput

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")

# What the transport decides: a caller that set them could speak to another host, or
# smuggle a second request behind the first.
RESERVED = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


class Headers:
    """The headers of an answer, in order, names in lower case."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = tuple([(name.lower(), value) for name, value in pairs])

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __contains__(self, name: str) -> bool:
        name = name.lower()
        return any(known == name for known, _ in self._pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._pairs == other._pairs

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __repr__(self) -> str:
        return f"Headers({list(self._pairs)!r})"

    def get(self, name: str, default: str = "") -> str:
        """The first value of this name."""
        name = name.lower()
        for known, value in self._pairs:
            if known == name:
                return value
        return default

    def get_all(self, name: str) -> list[str]:
        """Every value of this name."""
        name = name.lower()
        return [value for known, value in self._pairs if known == name]

    def tokens(self, name: str) -> list[str]:
        """The comma-separated parts of every value of this name, in lower case."""
        values = self.get_all(name)
        parts = ",".join(values).split(",") if values else ()
        return [part.strip().lower() for part in parts if part.strip()]

    @property
    def size(self) -> int:
        """Bytes on the wire, about: names, values and the separators of HTTP/1."""
        return sum([len(name) + len(value) + 4 for name, value in self._pairs])


def checked_headers(given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers of a request, names in lower case.

    Raises:
        BadInput: a name or value that is none, or one that the transport sets itself.
    """
    checked: dict[str, str] = {}
    for name, value in given.items():
        if not _NAME.fullmatch(name):
            raise BadInput(f"'{name[:60]}' is not a header name.")
        if name.lower() in RESERVED:
            raise BadInput(f"The header '{name}' cannot be set.")
        if not _VALUE.fullmatch(value):
            raise BadInput(f"The value of the header '{name}' has control characters in it.")
        checked[name.lower()] = value.strip()
    return tuple(checked.items())
