"""The end of a server that was told to end, whatever its event loop is doing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def end_within(seconds: float, on_late: Callable[[], object]) -> None:
    """End this process after some seconds, should it still be there.

    Args:
        seconds: what a clean end may take.
        on_late: called first, from another thread, to kill child processes.
    """

    def end() -> None:
        try:
            on_late()
        finally:
            os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
