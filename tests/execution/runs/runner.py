"""Runs a script in a workspace until it is killed: `runner.py ROOT COMMIT SCRIPT`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.execution.runs.conftest import RunBench


async def main(root: str, commit: str, script: str) -> None:
    bench = RunBench.on(Path(root))
    assert isinstance(bench, RunBench)
    await bench.sh("true")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    outcome = (await bench.sh(script, commit, seconds=60.0)).outcome
    sys.stdout.write(f"{outcome.state} {outcome.pending_id}\n")
    sys.stdout.flush()
    await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
