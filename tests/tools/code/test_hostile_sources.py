"""Sources that a parser does not get done with: the server goes on, and the call ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tools.code.programs import contents, fill
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.rows("E41", "C083"), pytest.mark.timeout(180)]

HOSTILE = {
    "a.sh": "f<a,(b" * 30_000,
    "a.cs": "a<" * 50_000,
    "a.ts": "f<a,(b" * 300_000,
    "a.js": "@#$ if else ( {" * 100_000,
    "a.scala": "f<a,(b" * 20_000,
}
SILENT = 4.0
"""Seconds that the loop may stand still: a generous ceiling on a busy machine."""


async def longest_pause(stop: asyncio.Event) -> float:
    longest, last = 0.0, time.monotonic()
    while not stop.is_set():
        await asyncio.sleep(0.02)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return longest


@pytest.mark.parametrize("name", sorted(HOSTILE))
async def test_the_loop_goes_on(ws: Path, box: Toolbox, name: str) -> None:
    fill(ws, {name: HOSTILE[name]})
    stop = asyncio.Event()
    watch = asyncio.create_task(longest_pause(stop))
    result = await box.call("code_outline", {"path": name})
    stop.set()
    assert await watch < SILENT
    reported = result.text or (result.error.message if result.error else "")
    assert "takes too long" in reported or "defines nothing" in reported


async def test_ten_megabytes_are_refused_at_once(ws: Path, box: Toolbox) -> None:
    fill(ws, {"a.ts": "a<" * 5_000_000, "b.ts": "export const one = 1;\n"})
    result = await box.call("code_outline", {"path": "a.ts"})
    assert result.error is not None
    assert result.error.code == "too_large"
    found = await box.call("find_symbol", {"name": "one"})
    assert found.error is None, found.render()


async def test_a_rename_that_cannot_look_into_a_file_is_refused(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "a.ts": "export const one = 1;\n",
            "b.ts": "import { one } from './a';\n" + "f<a,(b" * 300_000,
        },
    )
    before = contents(ws)
    result = await box.call("rename_symbol", {"name": "one", "new_name": "two", "path": "a.ts"})
    assert result.error is not None
    assert "b.ts takes too long to understand" in result.error.message
    assert result.error.hint
    assert contents(ws) == before


async def test_a_long_usual_source_is_understood(ws: Path, box: Toolbox) -> None:
    text = "".join(
        f"export function f{n}(a: number): number {{ return a + {n}; }}\n" for n in range(5_000)
    )
    fill(ws, {"a.ts": text})
    result = await box.call("code_outline", {"path": "a.ts"})
    assert result.error is None
    assert result.data["total"] == 5_000
    assert "patterns" not in result.text


BEYOND_TABLES = """
import asyncio, sys
from toolcrib import Toolbox

async def main():
    async with Toolbox(workspace=sys.argv[1]) as box:
        for number in range(8):
            await box.call("code_outline", {"path": f"{number}.sh"})

asyncio.run(main())
"""


async def test_characters_beyond_the_tables_of_c(tmp_path: Path) -> None:
    """The scanner for bash reads beyond them; what ends a process is tried in another one."""
    for number in range(8):
        name = chr(0x100 << number * 2 if number < 5 else 0x10FFFF - number)
        text = f"f() {{ echo {{{name}; ({{{name}a/<; {{1{name}, {{1..{name}; }}\n"
        (tmp_path / f"{number}.sh").write_text(text * 20, encoding="utf-8")
    script = [sys.executable, "-c", BEYOND_TABLES, str(tmp_path)]
    done = subprocess.run(script, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


async def test_names_keep_their_characters(ws: Path, box: Toolbox) -> None:
    fill(ws, {"a.sh": "v1\u2603() { echo {a..b}; }\n"})
    assert "v1\u2603" in (await box.call("code_outline", {"path": "a.sh"})).text
