"""Whatever a file is, every answer about it is below its budget, soon, and in little memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.core.result import Result
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

BUDGET = 4000
CALLS: list[dict[str, Any]] = [
    {},
    {"start": 2},
    {"start": -5},
    {"start": -2000, "end": -1},
    {"numbers": True},
    {"column": 7},
    {"focus": "needle word"},
    {"start": 10**9},
]


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"a line of words\n" * 1000)
        file.truncate(5 * 10**9)


def words(path: Path) -> None:
    chance = random.Random(5)
    alphabet = [chr(c) for c in (*range(97, 123), 228, 1078, 20013, 128512)]
    line = ["".join(chance.choices(alphabet, k=5)) for _ in range(4000)]
    path.write_text("\n".join(" ".join(chance.choices(line, k=9)) for _ in range(50_000)))


FILES: dict[str, Callable[[Path], object]] = {
    "one line": lambda p: p.write_text("x" * 250_000 + " needle " + "y" * 250_000),
    "one line of words": lambda p: p.write_text("needle in a word stack; " * 21_000),
    "2.7 MB of text": words,
    "binary": lambda p: p.write_bytes(random.Random(1).randbytes(300_000)),
    "5 GB, sparse": sparse,
    "5 GB of nothing": lambda p: (p.touch(), os.truncate(p, 5 * 10**9)),
    "empty": lambda p: p.touch(),
    "only line ends": lambda p: p.write_bytes(b"\n" * 2_000_000),
    "only returns": lambda p: p.write_bytes(b"\r" * 300_000),
    "no valid text": lambda p: p.write_bytes(b"\xff\xfe\xfd\xc3\x28\n" * 50_000),
    "UTF-16 cut in half": lambda p: p.write_bytes("größe\n".encode("utf-16") * 5000 + b"\0"),
    "controls": lambda p: p.write_bytes(b"\x1b[31mred\x1b[0m \x08\x07 word\n" * 30_000),
    "long names of nothing": lambda p: p.write_text("def " * 500_000),
    "a heading each line": lambda p: p.write_text("# needle\n" * 200_000),
    "emoji": lambda p: p.write_text("\U0001f469\u200d\U0001f469\u200d\U0001f467" * 60_000),
    "marks": lambda p: p.write_text("e" + "\u0301" * 200_000),
}


@pytest.mark.rows("C002", "E03")
@pytest.mark.parametrize("name", FILES)
async def test_every_answer_is_below_its_budget(tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / "file")
    async with Toolbox(workspace=tmp_path) as box:
        for call in CALLS:
            result = await box.call("read_file", {"path": "file", **call})
            assert size(result) <= BUDGET, call
            assert result.error is None or result.error.hint, call
            if result.next:
                again = await box.call(result.next.tool, result.next.arguments)
                assert size(again) <= BUDGET
                assert again.error is None
        for tool in ("file_info", "diff_files"):
            given = {"path": "file"} if tool == "file_info" else {"a": "file", "b": "file"}
            result = await box.call(tool, given)
            assert result.error is None
            assert size(result) <= BUDGET


def size(result: Result) -> int:
    return estimate(result.render())


async def test_a_file_that_grows_all_the_time(tmp_path: Path) -> None:
    stop = threading.Event()

    def grow() -> None:
        with (tmp_path / "log").open("a") as file:
            while not stop.is_set():
                file.write("another line\n" * 50)
                file.flush()
                time.sleep(0.002)  # how often it grows

    (tmp_path / "log").write_text("first\n")
    writer = threading.Thread(target=grow)
    writer.start()
    try:
        async with Toolbox(workspace=tmp_path) as box:
            for call in [*CALLS[:5], {"focus": "another"}] * 3:
                result = await box.call("read_file", {"path": "log", **call})
                assert result.error is None, call
                assert size(result) <= BUDGET
            assert (await box.call("file_info", {"path": "log"})).error is None
    finally:
        stop.set()
        writer.join()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="this system has no /proc")
async def test_files_that_the_kernel_makes_up() -> None:
    async with Toolbox(workspace="/proc") as box:
        for name in ("version", "cpuinfo", "meminfo", "self/status", "filesystems"):
            result = await box.call("read_file", {"path": name})
            assert result.error is None, result.render()
            assert len(result.text) > 20
            assert (await box.call("read_file", {"path": name, "start": -1})).error is None


def test_memory_stays_small(tmp_path: Path) -> None:
    """One line of 120 MB, read in a process that never has 400 MB."""
    with (tmp_path / "line").open("wb") as file:
        for _ in range(120):
            file.write(b"word " * 200_000)
    program = """
        import asyncio, sys
        from toolcrib.toolbox import Toolbox
        async def main():
            async with Toolbox(workspace=sys.argv[1]) as box:
                for more in ({}, {"start": -1}, {"focus": "needle"}, {"column": 80_000_000}):
                    result = await box.call("read_file", {"path": "line", **more})
                    print(result.error.code if result.error else len(result.text))
        asyncio.run(main())
        # getrusage would tell at least what the process of the tests had.
        status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: 0"
        print("most", status.split("VmHWM:")[1].split()[0])
    """
    argv = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True)
    (tmp_path / "line").unlink()
    *answers, last = done.stdout.split("\n")[:-1]
    assert len(answers) == 4, done.stderr
    assert "no_results" in answers
    assert "internal" not in answers
    kilobytes = int(last.split()[1])
    assert kilobytes < 400_000


@settings(max_examples=60)
@given(
    st.one_of(st.binary(max_size=3000), st.text(max_size=800).map(str.encode)),
    st.integers(1, 40),
    st.sampled_from(CALLS),
    st.sampled_from(["a.txt", "a.py", "a.json", "a.md", "a", "a.c"]),
)
async def test_any_bytes_under_any_name(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    times: int,
    call: dict[str, Any],
    name: str,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / name).write_bytes(data * times)
    async with Toolbox({"results": {"max_tokens": 400}}, workspace=folder) as box:
        result = await box.call("read_file", {"path": name, **call})
        assert estimate(result.text) <= 400
        assert result.error is None or result.error.code != "internal"
        if result.next:
            again = await box.call(result.next.tool, result.next.arguments)
            assert again.error is None
