"""Places of a workspace where programs act on whatever folder comes to stand there.

Tools that make a whole folder at once ask about these, as runs do: nobody sees what it holds.
"""

from __future__ import annotations

import sys

from toolcrib.core.context import Ctx
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.trees import EntryState

LINK = EntryState("", "link", 0o777, 0, (-1, -1), target="/")


async def acting_place(folder: SafePath, ctx: Ctx) -> str:
    """What acts on a folder that comes to stand at a place, in words; "" for nothing.

    It is judged as a link there, of which nobody knows what it leads to either. By its name alone
    a folder stands for no module of Python's: `copy` and `test` are usual.
    """
    if sys.platform == "win32":
        return ""
    from toolcrib.execution.runs.triggers import FOR_A_MODULE, Triggers

    workspace = ctx.use(Workspace)
    place = folder.settled().named_from(workspace.start(ctx.session.directory))
    report = await Triggers(workspace).among([Delta(place, after=LINK)], ctx)
    return "; ".join(line for line in report.lines if FOR_A_MODULE not in line)
