"""Zip archives that office files are: looked at before anything unpacks them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from toolcrib.core.errors import TooLarge, UnsupportedContent

MAX_ENTRIES = 20_000
MAX_UNPACKED = 400_000_000
MAX_RATIO = 200
FREE = 20_000_000
"""Unpacked bytes up to which the ratio does not matter."""
MAX_PART = 20_000_000


class Archive:
    """A checked archive whose parts can be read, each up to `MAX_PART` bytes.

    Raises:
        UnsupportedContent: it is damaged or encrypted.
        TooLarge: it would unpack to too much.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._what = name
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise damaged(name, str(error)) from None
        entries = self._zip.infolist()
        self.names: Sequence[str] = self._zip.namelist()
        size = sum(entry.file_size for entry in entries)
        if len(entries) > MAX_ENTRIES:
            raise TooLarge(f"The {name} has {len(entries):,} parts, more than {MAX_ENTRIES:,}.")
        if size > MAX_UNPACKED or (size > FREE and size > MAX_RATIO * len(data)):
            raise TooLarge(
                f"The {name} has {len(data):,} bytes and would unpack to {size:,}.",
                hint="It looks like a bomb of compressed data. Use another file.",
            )
        if any(entry.flag_bits & 1 for entry in entries):
            raise UnsupportedContent(
                f"The {name} is encrypted.", hint="Use a copy that was saved without a password."
            )

    def read(self, name: str) -> bytes:
        """A part; empty where there is none, or it is damaged or too long."""
        try:
            with self._zip.open(name) as part:
                data = part.read(MAX_PART + 1)
        except (KeyError, zipfile.BadZipFile, OSError, NotImplementedError, EOFError, ValueError):
            return b""
        return data if len(data) <= MAX_PART else b""


def damaged(name: str, why: str = "") -> UnsupportedContent:
    """The error for a file that cannot be opened."""
    told = f": {' '.join(why.split())[:200].rstrip('.')}" if why else ""
    return UnsupportedContent(
        f"The {name} is damaged or incomplete{told}.",
        hint="Use another copy of the file.",
    )
