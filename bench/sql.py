"""A CSV of 1 GB summed by `query_database`, beside DuckDB alone; and by `query_table`.

python -m bench.sql [megabytes]
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

from toolcrib.toolbox import Toolbox

SQL = "SELECT city, sum(amount) AS total, count(*) AS n FROM {} GROUP BY city ORDER BY city"
ALONE = """
import duckdb, resource, sys, time
began = time.perf_counter()
duckdb.connect().execute(sys.argv[1]).fetchall()
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
ROUNDS = 3


def make(path: Path, megabytes: int) -> None:
    rows = "".join(f"{n},City{n % 50},{n % 997}.{n % 90 + 10}\n" for n in range(50_000)).encode()
    with path.open("wb") as file:
        file.write(b"id,city,amount\n")
        for _ in range(megabytes * 1_000_000 // len(rows)):
            file.write(rows)


async def watched(peaks: list[int]) -> None:
    """Note the most memory in megabytes that a process below this one has had, again and again."""
    while True:
        for child in psutil.Process().children(recursive=True):
            with suppress(OSError, psutil.Error, IndexError):
                status = Path(f"/proc/{child.pid}/status").read_text()
                peaks.append(int(status.split("VmHWM:")[1].split()[0]) // 1024)
        await asyncio.sleep(0.05)


async def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOOLCRIB_DATA"] = f"{folder}/state"
        os.environ["TOOLCRIB_CONFIG"] = f"{folder}/config.toml"
        workspace = Path(folder) / "ws"
        workspace.mkdir()
        make(workspace / "big.csv", megabytes)
        alone, ours, peaks = [], [], [0]
        async with Toolbox(workspace=workspace) as box:
            for _ in range(ROUNDS):
                sql = SQL.format(f"'{workspace}/big.csv'")
                run = subprocess.run(
                    [sys.executable, "-c", ALONE, sql], capture_output=True, text=True, check=True
                )
                seconds, memory = run.stdout.split()[-2:]
                alone.append((float(seconds), int(memory)))
                watch = asyncio.create_task(watched(peaks))
                began = time.perf_counter()
                result = await box.call(
                    "query_database", {"source": "big.csv", "sql": SQL.format("data")}
                )
                assert result.error is None, result.render()
                ours.append(time.perf_counter() - began)
                watch.cancel()
            began = time.perf_counter()
            plain = await box.call(
                "query_table", {"path": "big.csv", "group": ["city"], "aggregate": ["sum(amount)"]}
            )
            table = time.perf_counter() - began
            outcome = plain.error.code if plain.error else f"{len(plain.data['rows'])} groups"
    best, own = min(alone)[0], min(ours)
    print(f"{megabytes} MB of CSV, best of {ROUNDS}")
    print(f"duckdb alone {best:.2f} s, {min(alone)[1]} MB")
    print(f"query_database {own:.2f} s, {max(peaks)} MB")
    print(f"ratio {own / best:.2f}")
    print(f"query_table {table:.1f} s ({outcome})")


if __name__ == "__main__":
    asyncio.run(main())
