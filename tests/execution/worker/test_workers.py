"""Functions in children: answers, bounds, what stays and what is ended."""

from __future__ import annotations

import asyncio
import os
import socket
import time

import pytest

from tests.conditions import until
from toolcrib.core.errors import (
    Internal,
    MissingExtra,
    NotFound,
    TimedOut,
    TooLarge,
    ToolError,
    UnsupportedContent,
)
from toolcrib.execution.workers import MAX_IDLE, MAX_RUNNING, Task, Workers
from toolcrib.system.processes import Processes

ROOM = "tests.execution.worker.tasks"
ECHO = Task(f"{ROOM}:echo", "Echoing")
ACT = Task(f"{ROOM}:act", "The act", seconds=20, megabytes=400, hint="Act less.")
FLOOD = Task(f"{ROOM}:flood", "The flood", max_bytes=100_000)
GROW = Task(f"{ROOM}:grow", "Growing", megabytes=2000)


@pytest.fixture
async def processes():
    processes = Processes()
    yield processes
    await processes.close()


@pytest.fixture
async def workers(processes):
    workers = Workers(processes)
    yield workers
    await workers.close()
    assert processes.running == 0


async def act(workers: Workers, what: str, data: bytes = b"", **more):
    answer, _ = await workers.run(ACT, {"act": what}, data, **more)
    return answer["ok"]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_001])
async def test_answers_are_json_and_bytes(workers, size):
    data = os.urandom(size)
    request = {"words": "é✓\ud83d\ude00"[:2], "list": [1, None, {"a": 1.5}]}
    answer, content = await workers.run(ECHO, request, data)
    assert content == data[::-1]
    assert {name: answer[name] for name in request} == request
    assert answer["prepared"] == [str(answer["pid"])]


async def test_a_child_stays_for_the_next_call(workers, processes):
    first, _ = await workers.run(ECHO, {})
    second, _ = await workers.run(ECHO, {})
    assert first["pid"] == second["pid"] != os.getpid()
    assert workers.idle == processes.running == 1
    other, _ = await workers.run(GROW, {"megabytes": 1})
    assert other["pid"] != first["pid"]


async def test_an_idle_child_is_ended(processes):
    workers = Workers(processes, idle_seconds=0.2)
    answer, _ = await workers.run(ECHO, {})
    await until(lambda: not processes.running)
    assert workers.idle == processes.running == 0
    assert not is_running(answer["pid"])
    again, _ = await workers.run(ECHO, {})
    assert again["pid"] != answer["pid"]
    await workers.close()


async def test_a_child_that_was_killed_meanwhile_is_replaced(workers):
    answer, _ = await workers.run(ECHO, {})
    os.kill(answer["pid"], 9)
    while is_running(answer["pid"]):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    again, _ = await workers.run(ECHO, {})
    assert again["pid"] != answer["pid"]


async def test_a_child_that_grew_is_not_kept(workers, processes):
    answer, _ = await workers.run(GROW, {"megabytes": 600})
    await until(lambda: not processes.running)
    assert workers.idle == 0
    assert not is_running(answer["pid"])


async def test_calls_at_once_have_children_of_their_own(workers, processes):
    calls = [workers.run(ECHO, {"n": n}, bytes([n]) * 1000) for n in range(3 * MAX_RUNNING)]
    answers = await asyncio.gather(*calls)
    assert [a["n"] for a, _ in answers] == list(range(3 * MAX_RUNNING))
    assert [content for _, content in answers] == [bytes([n]) * 1000 for n in range(12)]
    # Used again; where all end at one moment, one more than stays idle is let go.
    assert len({a["pid"] for a, _ in answers}) < 2 * MAX_RUNNING
    assert workers.idle <= MAX_IDLE


@pytest.mark.parametrize("what", ["spin", "nap"])
async def test_time_is_bounded(workers, processes, what):
    began = time.monotonic()
    with pytest.raises(TimedOut) as raised:
        await act(workers, what, deadline=began + 1.5)
    assert time.monotonic() - began < 60
    assert raised.value.hint == "Act less."
    assert processes.running == 0


async def test_processor_time_is_bounded(workers, processes):
    spin = Task(f"{ROOM}:act", "The act", seconds=1, megabytes=400)
    with pytest.raises(TimedOut):
        await workers.run(spin, {"act": "spin"})
    assert processes.running == 0


async def test_a_deadline_that_has_passed_starts_nothing(workers, processes):
    with pytest.raises((TimedOut, ToolError)):
        await act(workers, "nap", deadline=time.monotonic() - 1)
    assert processes.running == 0


@pytest.mark.parametrize(
    ("what", "kind", "output"),
    [
        ("hoard", TooLarge, "memory"),
        ("die", UnsupportedContent, "SIGSEGV"),
        ("leave", UnsupportedContent, "exit code"),
        ("err", Internal, "KeyError"),
        ("deep", Internal, "RecursionError"),
    ],
)
async def test_what_goes_wrong_is_said(workers, processes, what, kind, output):
    with pytest.raises(kind, match=output) as raised:
        await act(workers, what)
    assert raised.value.message.startswith("The act ")
    assert raised.value.hint
    # The next call works, whatever happened to the child.
    assert await act(workers, "environment")
    assert processes.running == workers.idle == 1


async def test_errors_of_the_function_come_through_whole(workers):
    with pytest.raises(NotFound) as raised:
        await act(workers, "complain")
    assert raised.value.message == "No such thing."
    assert raised.value.hint == "Look elsewhere."
    assert raised.value.details == {"near": ["a"]}
    with pytest.raises(MissingExtra, match="'thing'") as missing:
        await act(workers, "lack")
    assert "toolcrib[thing]" in missing.value.hint


@pytest.mark.parametrize("flood", [{"text": 200_000, "data": 0}, {"text": 0, "data": 200_000}])
async def test_answers_are_bounded(workers, flood):
    with pytest.raises(TooLarge, match="gives too much"):
        await workers.run(FLOOD, flood)
    answer, content = await workers.run(FLOOD, {"text": 10, "data": 20})
    assert len(answer["text"]) == 10
    assert len(content) == 20


@pytest.mark.parametrize(
    "function", [f"{ROOM}:nothing", "tests.kit.worker.nowhere:x", "no.such.package:x"]
)
async def test_a_function_that_is_not_there_is_a_defect(workers, processes, function):
    with pytest.raises(Internal):
        await workers.run(Task(function, "It"), {})
    assert processes.running == 0 or workers.idle == 1


async def test_a_cancelled_call_leaves_no_process(workers, processes):
    call = asyncio.create_task(act(workers, "nap"))
    while not processes.running:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert processes.running == workers.idle == 0


async def test_a_waiting_call_can_be_cancelled(workers, processes):
    busy = [asyncio.create_task(act(workers, "nap")) for _ in range(MAX_RUNNING + 2)]
    await asyncio.sleep(0.3)
    for call in busy:
        call.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    assert processes.running == 0
    answer, _ = await workers.run(ECHO, {"n": 1})
    assert answer["n"] == 1


async def test_a_child_reaches_nothing(workers, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_SECRET", "hidden")
    file = tmp_path / "file"
    file.write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert "Too many" in await act(workers, "connect", str(port).encode())
    assert "Too many" in await act(workers, "open", str(file).encode())
    assert "Too many" in await act(workers, "write", str(tmp_path / "new").encode())
    # Which of them depends on how Python starts programs.
    assert await act(workers, "start") in ("Too many open files", "Bad file descriptor")
    seen = await act(workers, "environment")
    assert "hidden" not in str(seen)
    assert "HOME" not in seen
    assert not (tmp_path / "new").exists()


async def test_a_child_loads_little(workers):
    loaded = await act(workers, "modules")
    assert not [name for name in loaded if not name.startswith(("toolcrib", "toolcrib.core"))]
    assert "toolcrib.core.config" not in loaded
