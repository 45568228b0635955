"""Downloads: files that a page gave, which the browser fetched through the guard."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.core.errors import Busy, NotFound, TooLarge, Unavailable
from toolcrib.system.threads import in_thread

if TYPE_CHECKING:
    from playwright.async_api import Download

MAX_DOWNLOAD_BYTES = 200_000_000
DROP_SECONDS = 3.0
MAX_UNSAVED_BYTES = 500_000_000
"""On the disk, of all conversations; beyond it all that is not saved is dropped."""
FINISH_SECONDS = 20.0
"""A call waits so long for the end of a download; the conversation does nothing else then."""


@dataclass(slots=True)
class FileDownload:
    """A download: what the site calls it, and playwright's handle on it."""

    name: str
    url: str
    handle: Download
    is_saved: bool = False

    async def content(self, deadline: float | None) -> bytes:
        """Its bytes, once it is finished.

        Raises:
            Busy: it is not finished.
            Unavailable: it failed.
            TooLarge: it is larger than a file may be.
            NotFound: it is gone.
        """
        try:
            async with asyncio.timeout(FINISH_SECONDS):
                failure = await self.handle.failure()
        except TimeoutError:
            raise Busy(
                f"The download of {self.name} is not finished.",
                hint="Send the call again later; browser_close ends it.",
            ) from None
        if failure:
            raise Unavailable(
                f"The download of {self.name} failed: {failure[:200]}", hint="Click it again."
            )
        place = Path(await self.handle.path())

        def read(_: object) -> bytes:
            if place.stat().st_size > MAX_DOWNLOAD_BYTES:
                raise TooLarge(f"{self.name} has more than {MAX_DOWNLOAD_BYTES:,} bytes.")
            return place.read_bytes()

        try:
            return await in_thread(read, deadline)
        except OSError as error:
            raise NotFound(
                f"The download is gone: {error.strerror}.", hint="Click it again."
            ) from None

    async def drop(self) -> None:
        """End it, and remove what came of it."""
        with suppress(Exception):
            async with asyncio.timeout(DROP_SECONDS):
                await self.handle.cancel()
                await self.handle.delete()


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder and below."""
    total = 0
    for place in folder.rglob("*"):
        with suppress(OSError):  # the browser renames and removes them
            total += place.lstat().st_size
    return total
