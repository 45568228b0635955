"""Six processes on one store, some of them killed; and what one record costs alone.

Run: python bench/store.py [processes] [records]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.state.history import History, HistoryEntry
from toolcrib.state.store import Area, Schema, Store

NUMBERS = Schema("bench", ("CREATE TABLE number (id INTEGER PRIMARY KEY, text TEXT);",))


def entry(name: str) -> HistoryEntry:
    return HistoryEntry(
        name, time.time(), "bench", "client", "s", "echo", '{"n": 1}', "ok", 1.0, 10, 40
    )


async def record(prefix: str, count: int) -> None:
    """One of the processes: says the milliseconds of each record, or what went wrong."""
    services = Services(Config.load())
    history = services.use(History)
    await history.query(limit=1)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        began = time.perf_counter()
        await history.record(entry(f"{prefix}-{number}"))
        ms = (time.perf_counter() - began) * 1000
        print(history.warning.replace("\n", " ") or f"{prefix}-{number} {ms:.4f}", flush=True)
    await services.close()


def several(processes: int, records: int, *, kill: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TOOLCRIB_DATA": folder}
        command = [sys.executable, __file__, "--record"]
        running = [
            subprocess.Popen(
                [*command, f"p{n}", str(records)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for n in range(processes)
        ]
        for process in running:
            process.stdout.readline()
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        reply = []
        if kill:
            reply += [running[0].stdout.readline() for _ in range(records // 2)]
            running[0].kill()
        for process in running:
            reply += process.stdout.read().splitlines()
            process.wait()
        lines = [line.split() for line in reply if line.strip()]
        good = {line[0]: float(line[1]) for line in lines if len(line) == 2}
        store = sqlite3.connect(Path(folder) / "toolcrib.db")
        stored = {row[0] for row in store.execute("SELECT id FROM history")}
        sound = store.execute("PRAGMA integrity_check").fetchone()[0]
        store.close()
        times = sorted(good.values())
        print(
            f"{processes} processes x {records}{', one killed' if kill else ''}: "
            f"{len(good)} acknowledged, {len(good.keys() - stored)} of them missing, "
            f"{len(lines) - len(good)} errors, {len(stored)} rows, integrity {sound}; "
            f"record p50 {quantile(times, 0.5)} p99 {quantile(times, 0.99)} ms"
        )


def quantile(times: list[float], share: float) -> str:
    return f"{times[min(int(len(times) * share), len(times) - 1)]:.3f}"


async def alone(count: int = 2000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        services = Services(Config.load({"store": {"url": f"sqlite:///{folder}/toolcrib.db"}}))
        numbers = services.use(Store).area(NUMBERS)
        history = services.use(History)
        await history.record(entry("first"))
        await asyncio.sleep(0.1)

        async def one(n: int) -> None:
            await history.record(entry(f"a{n}"))

        async def thread(n: int) -> None:
            await insert(numbers, n, quick=False)

        async def quick(n: int) -> None:
            await insert(numbers, n, quick=True)

        for name, act in (
            ("one insert in the store's thread", thread),
            ("one insert on the loop", quick),
            ("History.record", one),
        ):
            times = []
            for n in range(count):
                began = time.perf_counter()
                await act(n)
                times.append((time.perf_counter() - began) * 1000)
            times.sort()
            print(f"{name}: p50 {quantile(times, 0.5)} p99 {quantile(times, 0.99)} ms")
        await services.close()


async def insert(area: Area, n: int, *, quick: bool) -> None:
    text = f"{n}" * 50
    await area.write(
        lambda c: c.execute("INSERT INTO number (text) VALUES (?)", (text,)), quick=quick
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("processes", nargs="?", type=int, default=6)
    parser.add_argument("records", nargs="?", type=int, default=150)
    parser.add_argument("--record", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record:
        asyncio.run(record(options.record[0], int(options.record[1])))
        return
    several(options.processes, options.records, kill=False)
    several(options.processes, options.records, kill=True)
    asyncio.run(alone())


if __name__ == "__main__":
    main()
