"""Programs made by chance print the same after every rename that is not refused."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.code.programs import contents, fill, node
from tests.tools.code.random_scripts import NAMES, program
from toolcrib.toolbox import Toolbox
from toolcrib.tools.code.rename_symbol import rename_symbol

pytestmark = pytest.mark.rows("E41")
NEW = (*NAMES, "p", "fresh")


async def rename_by_chance(folder: Path, seed: int, tries: int) -> tuple[int, int]:
    """Rename some symbols; each state of the program is run. Returns done and refused."""
    ws, states = folder / "ws", folder / "states"
    ws.mkdir()
    fill(ws, program(seed))
    shutil.copytree(ws, states / "0")
    random = Random(seed)
    done = 0
    async with Toolbox(tools=[rename_symbol], workspace=ws) as box:
        for _ in range(tries):
            name = random.choice(["lib.mjs", "main.mjs"])
            text = (ws / name).read_text()
            places = [
                (number, match[0])
                for number, line in enumerate(text.split("\n"), 1)
                for match in re.finditer(r"\b[abcd]2?\b|\bp\b|\bfresh\b", line)
            ]
            line, old = random.choice(places)
            call = {"name": old, "new_name": random.choice(NEW), "path": name, "line": line}
            before = contents(ws)
            result = await box.call("rename_symbol", call)
            if result.error is not None:
                assert result.error.code != "internal", (call, result.error)
                assert contents(ws) == before
                continue
            done += 1
            shutil.copytree(ws, states / str(done))
    for number in range(done + 1):
        fill(states / str(number), {"package.json": "{}"})
    runner = "".join(
        f"console.log('== state');\nawait import('./{number}/main.mjs');\n"
        for number in range(done + 1)
    )
    fill(states, {"run.mjs": runner})
    first, *others = node(states, "run.mjs").split("== state\n")[1:]
    for number, other in enumerate(others, 1):
        assert other == first, f"seed {seed}: state {number} of {states}"
    return done, tries - done


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_random_programs_run_as_before(seed: int) -> None:
    import asyncio

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(rename_by_chance(Path(folder), seed, 8))
