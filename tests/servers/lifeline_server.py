"""A stdio server that is busy in some way. Run by itself: MODE TAG [option ...]

It says `ready` and then does what MODE says. With `children`, it has child processes.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time

from toolcrib.system.processes import Processes
from toolcrib.system.stdin_monitor import Lifeline


async def main(mode: str, tag: str, options: list[str]) -> None:
    processes = Processes()
    lifeline = Lifeline.start(
        processes.kill_all_now,
        grace=10.0 if mode == "polite" else 0.5,
        parent="without-parent" not in options,
    )
    if "children" in options:
        await have_children(processes, tag)
    if "stopped" in options:
        lifeline.stop()
    say("ready")
    await MODES[mode](processes)


async def have_children(processes: Processes, tag: str) -> None:
    sleeper = f"sleep {tag}"
    hidden = f"(setsid sh -c '{sleeper} & exit' &) ; trap '' TERM; {sleeper} & {sleeper}"
    for argv in (sleeper.split(), ["sh", "-c", hidden]):
        await processes.spawn(argv, cwd="/")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def idle(processes: Processes) -> None:
    await asyncio.sleep(600)


async def compute(processes: Processes) -> None:
    while True:
        pass


async def block(processes: Processes) -> None:
    time.sleep(600)


async def block_a_thread(processes: Processes) -> None:
    await asyncio.to_thread(time.sleep, 600)


async def leave_a_thread(processes: Processes) -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()


async def end_by_itself(processes: Processes) -> None:
    await asyncio.to_thread(sys.stdin.read)
    await processes.close()
    say("bye")
    sys.exit(7)


MODES = {
    "idle": idle,
    "computing": compute,
    "blocking": block,
    "in a thread": block_a_thread,
    "in a stubborn thread": leave_a_thread,
    "polite": end_by_itself,
}

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
