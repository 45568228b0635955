"""Downloads: files that a page gave, which the browser fetched through the guard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.core.errors import NotFound, TooLarge, Unavailable
from toolcrib.system.threads import in_thread

if TYPE_CHECKING:
    from playwright.async_api import Download

MAX_DOWNLOAD_BYTES = 200_000_000


@dataclass(slots=True)
class FileDownload:
    """A download: what the site calls it, and playwright's handle on it."""

    name: str
    url: str
    handle: Download

    async def content(self, deadline: float | None) -> bytes:
        """Its bytes, once it is finished.

        Raises:
            Unavailable: it failed.
            TooLarge: it is larger than a file may be.
            NotFound: it is gone.
        """
        failure = await self.handle.failure()
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
