"""What a workspace brings: its `memory.md` is taken over once, files of other systems are named."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Self

from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import ToolError
from toolcrib.files.changes.changes import Changes
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.memory.exchange import parse_file, text_of
from toolcrib.memory.memories import Memories
from toolcrib.memory.place import origin_of, place_of
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import in_thread

SCHEMA = Schema(
    "takeovers",
    ("CREATE TABLE takeover (path TEXT PRIMARY KEY, time REAL NOT NULL) WITHOUT ROWID;",),
)
OWN = "memory.md"
FOREIGN = (
    ".memories.db",
    ".memories.json",
    ".ai_toolbox_memory.json",
    ".ai_toolbox_plans.json",
    "memory.jsonl",
)
"""Files in which other systems keep memories and plans, beside the files of a project."""
MAX_BYTES = 2_000_000
MAX_NAMED = 5


@dataclass(slots=True)
class Takeovers:
    """A service: what was looked at already, by this process and by all."""

    rows: Area
    looked: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing was looked at yet by this process."""
        return cls(services.use(Store).area(SCHEMA))

    async def is_new(self, path: str) -> bool:
        """Whether nobody has seen this file before; from now on somebody has."""
        sql = "INSERT OR IGNORE INTO takeover VALUES (?, ?)"
        return bool(await self.rows.execute(sql, (path, time.time())))


async def take_over(ctx: Ctx) -> None:
    """Look once into the root of a conversation for what was remembered there before.

    Nothing there is changed, and what cannot be read is left alone.
    """
    workspace = ctx.use(Workspace)
    if workspace.is_scratch or not workspace.roots:
        return
    root = workspace.start(ctx.session.directory).ancestor(0)
    takeovers = ctx.use(Takeovers)
    if root.absolute in takeovers.looked:
        return
    takeovers.looked.add(root.absolute)
    there = await in_thread(lambda _: _names(root, workspace), ctx.deadline)
    if OWN in there and await takeovers.is_new(there[OWN].absolute):
        await _take(there[OWN], ctx)
    named = [name for name in FOREIGN if name in there]
    fresh = [name for name in named if await takeovers.is_new(there[name].absolute)]
    if fresh:
        ctx.warn(
            f"{', '.join(fresh)} of another system stands here and is not read. The user can take "
            f"over what it remembers: toolcrib import {fresh[0]}"
        )


def _names(root: SafePath, workspace: Workspace) -> dict[str, SafePath]:
    found = {}
    for name in (OWN, *FOREIGN):
        try:
            path = workspace.resolve(name, root.absolute)
            path.open().close()
            found[name] = path
        except ToolError:
            continue
    return found


async def _take(path: SafePath, ctx: Ctx) -> None:
    try:
        content = await in_thread(lambda _: path.read_bytes(MAX_BYTES), ctx.deadline)
        parsed = parse_file(OWN, text_of(content))
    except ToolError as error:
        ctx.warn(f"{OWN} was not taken over: {error.message}")
        return
    scope = (await place_of(ctx)).scope("project")
    drafts = [replace(found.draft, scope=scope) for found in parsed.memories]
    if not drafts:
        return
    origin = origin_of(ctx, OWN)
    if await ctx.use(Changes).steps(path, 1):  # a run or a model wrote in it: not the user alone
        origin = replace(origin, outside=True)
    saved = await ctx.use(Memories).save_all(drafts, origin)
    count = sum(one.status != "known" for one in saved)
    left = "".join(f"; line {n} holds {why}" for n, why in parsed.left_out[:MAX_NAMED])
    ctx.warn(
        f"{OWN} was taken over, this once: {count} facts of this project{left}. The file stays as "
        "it is; delete_memory forgets single ones, and the user can take back all of it: toolcrib "
        "memory undo."
    )
