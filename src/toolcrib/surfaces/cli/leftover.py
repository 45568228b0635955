"""Jobs that end with the command that began them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from toolcrib.execution.jobs import Jobs

if TYPE_CHECKING:
    from toolcrib.toolbox import Toolbox


def tell_stopped(box: Toolbox) -> tuple[str, ...]:
    """Say on stderr that jobs are stopped with this process; their ids.

    Args:
        box: the toolbox, before it is closed.
    """
    running = box.use(Jobs).running
    if running:
        named = ", ".join(running[:3]) + (", ..." if len(running) > 3 else "")
        what = "1 job is" if len(running) == 1 else f"{len(running)} jobs are"
        sys.stdout.flush()
        print(
            f"toolcrib: {what} stopped now, with the command that began it: {named}. "
            "`toolcrib serve` or an MCP host keeps jobs running.",
            file=sys.stderr,
        )
    return running
