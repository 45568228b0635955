"""A process that writes files through the log and says which writes it has made.

writer.py ROOT COUNT        writes COUNT files of one of a few names, one after another
writer.py ROOT plan COUNT   one plan of COUNT writes, a move and a delete, over and over
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from pathlib import Path

from tests.files.changes.conftest import Bench
from toolcrib.files.changes.step import Step

NAMES = 20


def content(name: str, number: int) -> bytes:
    """Bytes that tell whether they are whole."""
    body = f"{name} {number} ".encode() * (1 + number * 37 % 3000)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def say(text: str) -> None:
    """One line for the parent, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def single(bench: Bench, count: int) -> None:
    for number in range(count):
        name = f"f{number % NAMES}"
        bench.session.reads.clear()
        await bench.write(f"d{number % 3}/{name}", content(name, number))
        say(f"{number}")


async def plans(bench: Bench, count: int) -> None:
    for number in range(10_000):
        bench.session.reads.clear()
        step = Step("x")
        for index in range(count):
            step.write(bench.path(f"all/{index}"), content(f"{index}", number))
        step.move(bench.path(f"round{number}"), bench.path(f"round{number + 1}"))
        step.delete(bench.path("tree"))
        step.write(bench.path("tree/new/leaf"), str(number).encode())
        await bench.apply(step)
        say(f"{number}")


async def main() -> None:
    root, *rest = sys.argv[1:]
    bench = Bench.on(Path(root))
    say("ready")
    await (plans(bench, int(rest[1])) if rest[0] == "plan" else single(bench, int(rest[0])))
    await bench.services.close()


if __name__ == "__main__":
    asyncio.run(main())
