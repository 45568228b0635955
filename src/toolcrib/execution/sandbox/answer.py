"""What the last step before a program tells: that it was reached, or why not."""

from __future__ import annotations

import asyncio
import os

from toolcrib.core.errors import NotFound, Unavailable

SECONDS = 20.0


class BoundaryFailed(Exception):
    """The boundary itself could not be made, though the probe had worked."""

    def unavailable(self) -> Unavailable:
        """The same for who called."""
        return Unavailable(
            f"The sandbox could not be started: {self}.", hint="`toolcrib doctor` says more."
        )


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


def fault(said: bytes, program: str, folder: str, words: str) -> Exception:
    """Why a program was not reached.

    Args:
        said: what the launcher told.
        program: it.
        folder: where it was to start.
        words: what the boundary said last.
    """
    kind, text = reason(said)
    match kind:
        case b"M":
            return Unavailable(
                f"The program {program} is not there.",
                hint="Install it, name another, or make its folder readable with run.readable.",
            )
        case b"X":
            return Unavailable(
                f"The program cannot be run: {text}.",
                hint="It must be a program of this machine, or a script whose first line"
                " names one, and have the right to be executed.",
            )
        case b"D":
            return NotFound(
                f"The folder {folder} cannot be used: {text}.",
                hint="Name a folder of the workspace that exists.",
            )
    return BoundaryFailed(text or words or "it ended before the program was reached")
