"""What a person sees: a file or an address opened by the program of theirs for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from toolcrib.core.config import environment
from toolcrib.core.errors import Unavailable
from toolcrib.system.desktop import NO_SCREEN

WAIT_SECONDS = 5.0


def open_for_person(target: str, opener: str = "") -> None:
    """Open a path or a URL by the program that the desktop has for it.

    Args:
        target: absolute path, or URL.
        opener: the program that knows which one; the system's own for nothing.

    Raises:
        Unavailable: there is no screen, no such program, or it fails.
    """
    if sys.platform == "win32":
        try:
            os.startfile(target)  # noqa: S606
        except OSError as error:
            raise _failed(str(error.strerror)) from None
        return
    if sys.platform == "darwin":
        words = [opener or "/usr/bin/open", target]
    else:
        if not any(environment(("DISPLAY", "WAYLAND_DISPLAY")).values()):
            raise Unavailable(NO_SCREEN, hint="Tell the user where it is, to be opened there.")
        program = opener or shutil.which("xdg-open")
        if not program:
            raise Unavailable("xdg-open is not installed.", hint="On Debian: apt install xdg-utils")
        words = [program, target]
    try:
        # What it starts is the person's, and stays when toolcrib ends.
        process = subprocess.Popen(  # noqa: S603
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        code = process.wait(WAIT_SECONDS)
    except OSError as error:
        raise _failed(str(error.strerror)) from None
    except subprocess.TimeoutExpired:
        return  # it stays until the program ends
    if code:
        raise _failed(f"{words[0]} ended with {code}")


def _failed(reason: str) -> Unavailable:
    return Unavailable(
        f"It could not be opened: {reason}.",
        hint="There may be no program for it. Tell the user where it is.",
    )
