"""Kill -9 during 1,000 writes, many times over: what is half-written, what is lost?

Each round starts a process that writes files one after another through the log of changes and
says so after each, kills it at a random moment, and looks: every file must be whole, every
acknowledged write must be there, and nothing of ours may be left beside them. A second kind
of round does the same with plans of many changes, of which all or none may stand.

    python -m bench.kill [ROUNDS]
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from pathlib import Path

from tests.files.changes.conftest import Bench, picture
from tests.files.changes.test_kill import is_whole, run_and_kill
from tests.files.changes.writer import NAMES, content

WRITES = 1000


async def single(root: Path, seconds: float) -> tuple[int, int, int, int]:
    """Acknowledged, half-written, lost, left behind."""
    acknowledged = run_and_kill(root, [str(WRITES)], seconds)
    bench = Bench.on(root)
    await bench.changes.steps(limit=1)
    found = picture(root)
    files = [root / name for name, what in found.items() if what[0] == "file"]
    half = sum(not is_whole(path) for path in files if ".toolcrib-" not in path.name)
    behind = sum(".toolcrib-" in name for name in found)
    every = 3 * NAMES
    lost = 0
    for number in acknowledged:
        if number + every > acknowledged[-1]:
            name = f"f{number % NAMES}"
            path = root / f"d{number % 3}/{name}"
            fine = (content(name, number), content(name, number + every))
            lost += not path.exists() or path.read_bytes() not in fine
    await bench.services.close()
    return len(acknowledged), half, lost, behind


async def plans(root: Path, seconds: float) -> tuple[int, int]:
    """Acknowledged, and whether more or less than whole plans stands there."""
    (root / "round0").mkdir()
    (root / "tree").mkdir()
    acknowledged = run_and_kill(root, ["plan", "25"], seconds)
    bench = Bench.on(root)
    await bench.changes.steps(limit=1)
    rounds = [p.name for p in root.glob("round*")]
    made = int(rounds[0].removeprefix("round")) if len(rounds) == 1 else -1
    bad = made not in (len(acknowledged), len(acknowledged) + 1)
    for index in range(25 if made > 0 else 0):
        path = root / f"all/{index}"
        bad |= not path.exists() or path.read_bytes() != content(f"{index}", made - 1)
    bad |= any(".toolcrib-" in name for name in picture(root))
    await bench.services.close()
    return len(acknowledged), int(bad)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    totals, broken, many = [0, 0, 0, 0], 0, 0
    dice = random.Random(7)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="toolcrib-kill-") as top:
            os.environ["TOOLCRIB_DATA"] = f"{top}/state"
            for name in ("ws", "plans"):
                Path(top, name).mkdir()
            one = asyncio.run(single(Path(top, "ws"), 0.2 + 3 * dice.random()))
            totals = [a + b for a, b in zip(totals, one, strict=True)]
            count, bad = asyncio.run(plans(Path(top, "plans"), 0.2 + 2 * dice.random()))
            many, broken = many + count, broken + bad
    print(
        f"{rounds} kills during single writes: {totals[0]} acknowledged, {totals[1]} half-written,"
    )
    print(f"  {totals[2]} lost, {totals[3]} names left behind")
    print(f"{rounds} kills during plans of 28 changes: {many} made, {broken} not whole")
    sys.exit(1 if any(totals[1:]) or broken else 0)


if __name__ == "__main__":
    main()
