"""A process that saves and changes memories: each line that it prints is acknowledged."""

from __future__ import annotations

import asyncio
import sys

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, MemoryDraft, Origin


async def main(name: str, count: int) -> None:
    """Save a fact, read it back, change it; one line for each."""
    services = Services(Config.load())
    memories, origin = services.use(Memories), Origin(name)
    for number in range(count):
        # So different from each other that none takes another's place.
        fact = f"{name} {number} {number * 7919:x} {'abcdefghij'[number % 10] * 9}"
        saved = (await memories.save(MemoryDraft(fact), origin)).memory
        seen = await memories.get(saved.id)
        changed = f"{seen.fact} changed"
        await memories.update(seen.id, (USER,), origin, fact=changed)
        sys.stdout.write(f"{seen.id}\t{changed}\n")
        sys.stdout.flush()
    await services.close()


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
