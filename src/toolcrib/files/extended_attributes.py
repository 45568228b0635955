"""Extended attributes of files: those of users, and access lists (Linux)."""

from __future__ import annotations

import os
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeAlias

Attributes: TypeAlias = tuple[tuple[str, bytes], ...]
"""Names and values."""
OVERLAY_MARK = "user.overlay."
"""How the names of an overlay's own marks start."""
ACCESS_LIST, DEFAULT_LIST = "system.posix_acl_access", "system.posix_acl_default"
MAX_ATTRIBUTES = 64
MAX_BYTES = 65_536
"""Of the values of one file together; what does not fit is left out."""


def attributes_of(fd: int, *, access_lists: bool = False) -> Attributes:
    """What programs gave to an open file or folder, and its access lists if wanted."""
    found: list[tuple[str, bytes]] = []
    if sys.platform != "linux":
        return ()
    size = 0
    with suppress(OSError):
        for name in os.listxattr(fd)[:MAX_ATTRIBUTES]:
            is_of_user = name.startswith("user.") and not name.startswith(OVERLAY_MARK)
            if not is_of_user and not (access_lists and name in (ACCESS_LIST, DEFAULT_LIST)):
                continue
            with suppress(OSError):
                value = os.getxattr(fd, name)
                size += len(value)
                if size <= MAX_BYTES:
                    found.append((name, value))
    return tuple(sorted(found))


def set_attributes(fd: int, attributes: Attributes) -> None:
    """Give attributes to an open file or folder, as far as the system lets us."""
    if sys.platform != "linux":
        return
    for name, value in attributes:
        with suppress(OSError):
            os.setxattr(fd, name, value)


def drop_access_lists(fd: int) -> None:
    """Take away from something new the lists that its folder gave to it.

    They would let in whom the one that it replaces did not.
    """
    if sys.platform != "linux":
        return
    for name in (ACCESS_LIST, DEFAULT_LIST):
        with suppress(OSError):
            os.removexattr(fd, name)


def attributes_to_json(attributes: Attributes) -> list[list[str]]:
    """As pairs of texts, the values in base64."""
    return [[name, b64encode(value).decode()] for name, value in attributes]


def attributes_from_json(pairs: Iterable[Iterable[str]]) -> Attributes:
    """The inverse of `attributes_to_json`."""
    return tuple((name, b64decode(value)) for name, value in pairs)
