"""What the last step before a program tells: that it was reached, or why not."""

from __future__ import annotations

import asyncio
import os

SECONDS = 20.0


async def told(fd: int) -> bytes:
    """What the launcher tells: R and no more where the program took over, or why not."""
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    said = b""

    def hear() -> None:
        nonlocal said
        data = os.read(fd, 4096)
        said += data
        if not data:
            loop.remove_reader(fd)
            heard.set()

    loop.add_reader(fd, hear)
    try:
        async with asyncio.timeout(SECONDS):
            await heard.wait()
    except TimeoutError:
        pass
    finally:
        loop.remove_reader(fd)
    return said


def reason(said: bytes) -> tuple[bytes, str]:
    """A letter for what went wrong, and what the system says of it."""
    said = said.removeprefix(b"R")
    what, _, error = said[1:].partition(b"\0")
    words = [what.decode("utf-8", "replace")] if what else []
    words += [os.strerror(int.from_bytes(error, "little"))] if error else []
    return said[:1], ": ".join(words)
