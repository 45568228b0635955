"""Run as a program: calls tools on a repository at random, and says what work there is.

Each line of output is a word that now stands in a file; it must never be lost.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from toolcrib import Toolbox

STEPS = 12


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with Toolbox({"policy": {"default": "allow"}}, workspace=folder) as box:
        for step in range(STEPS):
            word = f"work-{seed}-{step}-{chance.randrange(10**9)}"
            name = chance.choice(["a.txt", "b.txt", f"new-{step}.txt"])
            place = folder / name
            text = place.read_text() if place.is_file() else ""
            place.write_text(f"{text}{word}\n")
            say(word)
            for tool, arguments in chance.sample(CALLS, 2):
                result = await box.call(tool, arguments)
                if result.error is not None and result.error.code == "internal":
                    say(f"FAULT {tool}: {result.render()}")


CALLS = [
    ("git_add", {"all": True}),
    ("git_commit", {"message": "x", "all": True}),
    ("git_commit", {"message": "y", "amend": True}),
    ("git_stash", {"untracked": True}),
    ("git_stash", {"action": "pop"}),
    ("git_stash", {"action": "drop"}),
    ("git_checkout", {"branch": "side"}),
    ("git_checkout", {"branch": "main"}),
    ("git_checkout", {"paths": ["a.txt"]}),
    ("git_merge", {"branch": "side"}),
    ("git_rebase", {"onto": "side"}),
    ("git_pick", {"commits": ["side"]}),
    ("git_reset", {"revision": "HEAD~1"}),
    ("git_conflicts", {"path": "a.txt", "take": "ours"}),
    ("git_conflicts", {"abort": True}),
    ("git_branch", {"action": "delete", "name": "side", "force": True}),
    ("undo_changes", {}),
]

if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
