"""A model server that is broken or hostile: a run keeps its limits, and nothing half is run."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.agents.boxes import box_of
from tests.cases import each_case
from tests.servers.model import Raw, Script, Turn, model_server
from toolcrib import Result
from toolcrib.agents import prompts as wording
from toolcrib.agents.conversation import Conversation
from toolcrib.agents.reply import CUT_OFF_PROBLEM, parse_reply, read_markers
from toolcrib.core.context import Caller
from toolcrib.net.models.client import is_overflow
from toolcrib.net.models.completion import CLOSED, Assembly, Completion, SentCall, error_text
from toolcrib.toolbox import installed

READ = Turn("Looking.", [("read_file", {"path": "notes.md"})])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.md").write_text("the word is plum\n")
    return folder


async def delegated(root: Path, *script: Script, **arguments: Any) -> Result:
    with model_server(*script) as server:
        async with box_of(server, root) as box:
            return await box.call("delegate_task", {"task": "do it", **arguments})


def parts(*sent: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The calls of a stream with one part a chunk."""
    assembly = Assembly()
    for part in sent:
        assembly.add({"choices": [{"delta": {"tool_calls": [part]}}]})
    return [(c.name, c.arguments, c.id) for c in assembly.finished().calls]


def part(name: str = "", arguments: str | None = None, **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {**more, "function": {k: v for k, v in function.items() if v not in ("", None)}}


def test_calls_with_one_id_are_two() -> None:
    assert parts(part("f", '{"a":1}', index=0, id="x"), part("g", '{"b":1}', index=1, id="x")) == [
        ("f", '{"a":1}', "x"),
        ("g", '{"b":1}', "x"),
    ]
    assert parts(
        part("f", index=0, id="x"),
        part("g", index=1, id="x"),
        part(arguments='{"a":', index=0),
        part(arguments="{}", index=1),
        part(arguments="1}", index=0),
    ) == [("f", '{"a":1}', "x"), ("g", "{}", "x")]
    whole = Assembly()
    calls = [part("f", "", id="x"), part("g", "{}", id="x")]
    whole.add({"choices": [{"message": {"tool_calls": calls}}]})
    assert [c.name for c in whole.finished().calls] == ["f", "g"]


def test_calls_under_one_index_without_ids_are_two() -> None:
    assert parts(part("f", '{"a":1}', index=0), part("f", '{"a":2}', index=0)) == [
        ("f", '{"a":1}', ""),
        ("f", '{"a":2}', ""),
    ]


def test_a_part_that_repeats_name_and_id_goes_on() -> None:
    assert parts(
        part("f", '{"a"', index=0, id="x"),
        part("f", ":{}", index=0, id="x"),
        part("f", "}", index=0, id="x"),
        part("f", "", index=0, id="x"),
    ) == [("f", '{"a":{}}', "x")]


def test_a_name_without_an_end_is_bounded() -> None:
    ((name, _, call_id),) = parts(*[part("x" * 100, index=0, id="i" * 5000)] * 50)
    assert len(name) <= 256
    assert call_id == ""


@pytest.mark.parametrize("finish", ["length", CLOSED])
def test_a_call_that_was_just_begun_is_not_run(finish: str) -> None:
    whole, begun = SentCall("1", "read_file", '{"path": "a"}'), SentCall("2", "list_directory", "")
    requested = parse_reply(
        Completion(calls=[whole, begun], finish=finish, complete=True), [], set()
    )
    assert [call.name for call in requested.calls] == ["read_file"]
    assert requested.problem == CUT_OFF_PROBLEM
    requested = parse_reply(
        Completion(calls=[begun], finish="tool_calls", complete=True), [], set()
    )
    assert [call.arguments for call in requested.calls] == [{}]


@pytest.mark.rows("E117")
async def test_a_stream_that_ends_within_a_call_runs_nothing(root: Path) -> None:
    begun = Turn("", [("list_directory", "")], finish="none", done=False, usage=None)
    result = await delegated(root, begun, Turn("I have nothing"))
    assert result.data["tool_calls"] == 0
    assert result.data["answer"] == "I have nothing"


SLOW: dict[str, Callable[[], object]] = {
    "a mark and spaces": lambda: read_markers(f"TASK_FAILED{' ' * 200_000}x"),
    "a mark and stars": lambda: read_markers(f"TASK_FAILED{'*' * 200_000}x"),
    "tildes": lambda: wording.paths_in("~" * 100_000),
    "slashes": lambda: wording.paths_in("a/" * 100_000),
    "many arguments": lambda: wording.example_of(
        next(tool for tool in installed() if tool.name == "read_file"),
        {f"k{n}" * 50: 1 for n in range(20_000)},
    ),
}


@each_case("what", SLOW)
def test_no_text_of_a_model_holds_the_loop(what: str) -> None:
    began = time.process_time()
    SLOW[what]()
    assert time.process_time() - began < 5  # a second on a slow machine; it was minutes


async def test_blanks_without_an_end_do_not_hold_a_run(root: Path) -> None:
    blanks = Raw([b"\n" * 20_000] * 400)
    began = time.process_time()
    result = await delegated(root, blanks, time_limit=4)
    assert time.process_time() - began < 20
    assert result.data["status"] in ("timeout", "failed")


async def test_a_result_of_blanks_does_not_hold_a_run(root: Path) -> None:
    (root / "blank.txt").write_text(f"a{' ' * 200_000}b\n")
    began = time.process_time()
    script = [Turn("", [("read_file", {"path": "blank.txt"})]), Turn("done")]
    assert (await delegated(root, *script)).data["reason"] == "answered"
    assert time.process_time() - began < 20


async def test_a_limit_of_calls_below_that_of_the_run_still_gives_a_result(root: Path) -> None:
    with model_server(READ, Turn("half an answer", piece=4, stall=3)) as server:
        async with box_of(server, root, limits={"job_seconds": 4}) as box:
            result = await box.call("delegate_task", {"task": "x", "time_limit": 60})
    assert (result.data["status"], result.data["reason"]) == ("timeout", "time_limit")
    assert "plum" in result.data["answer"]


async def test_a_compressed_answer_is_not_unpacked(root: Path) -> None:
    bomb = gzip.compress(b"\0" * 20_000_000)
    with model_server(Raw([bomb], headers={"Content-Encoding": "gzip"})) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
    assert result.error is not None
    assert "compressed" in result.error.message
    assert len(server.requested) == 1


def test_errors_within_errors_are_told() -> None:
    error: Any = "x"
    for _ in range(5000):
        error = {"error": error}
    assert error_text(error)


@pytest.mark.rows("C123")
async def test_equal_calls_of_one_answer_run_once(root: Path) -> None:
    call = ("read_file", {"path": "notes.md"})
    with model_server(Turn("", [call] * 2), Turn("It is plum.")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        results = server.results()
    assert (result.data["reason"], result.data["tool_calls"]) == ("answered", 1)
    assert "plum" in results[0]
    assert [("Not run again" in text) for text in results] == [False, True]


@pytest.mark.rows("E110")
@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_is_missing_is_named(root: Path, status: int) -> None:
    with model_server() as server:
        server.models, server.models_status = {"error": {"message": "no key"}}, status
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
    assert result.error is not None
    assert f"HTTP {status}" in result.error.message
    assert "api_key_env" in result.error.hint
    assert "OpenAI-compatible" not in result.error.message


@pytest.mark.rows("E110")
async def test_a_server_that_is_not_ready_says_so(root: Path) -> None:
    with model_server() as server:
        server.models, server.models_status = {"error": {"message": "Loading model"}}, 503
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
    assert result.error is not None
    assert "not ready: HTTP 503, Loading model" in result.error.message


@pytest.mark.rows("E110")
async def test_an_address_without_its_path_is_understood_with_a_named_model(root: Path) -> None:
    with model_server(Turn("fine")) as server:
        async with box_of(server, root, agent={"base_url": server.origin}) as box:
            result = await box.call("delegate_task", {"task": "x"})
    assert result.data["answer"] == "fine", result.text


async def test_the_model_of_one_role_is_not_that_of_the_next(root: Path) -> None:
    roles = {"clerk": {"model": "SMALL"}}
    with model_server(Turn("fine")) as server:
        server.models = {"data": [{"id": "large"}, {"id": "small"}]}
        async with box_of(server, root, agent={"model": "", "roles": roles}) as box:
            given = {"task": "x", "chain": ["clerk", "coder"]}
            assert (await box.call("delegate_task", given)).error is None
    assert [requested["model"] for requested in server.requested] == ["small", "large"]


async def test_a_model_that_the_server_does_not_have(root: Path) -> None:
    body = json.dumps({"error": {"message": "model 'x' not found"}}).encode()
    result = await delegated(root, Raw([body], 404, kind="application/json"))
    assert result.error is not None
    assert "agent.model" in result.error.hint


@pytest.mark.rows("E119")
async def test_one_result_that_is_too_long_is_cut(root: Path) -> None:
    (root / "long.txt").write_text("plum tree\n" * 3000)

    def answer(body: dict[str, Any]) -> Raw | Turn:
        if not any(m["role"] == "tool" for m in body["messages"]):
            return Turn("", [("read_file", {"path": "long.txt"})])
        if len(json.dumps(body["messages"])) > 9_000:
            error = {"error": {"message": "the request exceeds the available context size"}}
            return Raw([json.dumps(error).encode()], 400, kind="application/json")
        return Turn("many plums")

    result = await delegated(root, answer)
    assert result.data["answer"] == "many plums", result.text


async def test_a_model_without_room_for_the_tools_says_what_to_do(root: Path) -> None:
    error = {"error": {"message": "context length of only 4096 tokens exceeded"}}
    result = await delegated(root, Raw([json.dumps(error).encode()], 400))
    assert result.error is not None
    assert "larger context" in result.error.hint
    assert is_overflow("prompt is too long: 210000 tokens > 200000 maximum")


async def test_an_overflow_in_a_stream_is_not_asked_for_again(root: Path) -> None:
    error = Turn("", error={"message": "context size exceeded"})
    with model_server(error) as server:
        async with box_of(server, root) as box:
            await box.call("delegate_task", {"task": "x"})
    assert len(server.requested) == 1


def test_shrinking_results_ends() -> None:
    conversation = Conversation([{"role": "system", "content": ""}], 4)
    conversation.add({"role": "tool", "tool_call_id": "1", "content": "x" * 100_000})
    times = 0
    while conversation.shrink():
        times += 1
    assert 5 <= times <= 10


@pytest.mark.rows("E117")
async def test_a_store_that_another_process_holds_does_not_hold_a_run(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_DATA", str(tmp_path / "state"))
    with model_server(Turn("half an answer", piece=4, stall=2)) as server:
        async with box_of(server, root) as box:
            await box.call("get_agent_result", {})
            (file,) = (tmp_path / "state").rglob("*.db")
            with closing(sqlite3.connect(file, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                result = await box.call("delegate_task", {"task": "x", "time_limit": 2})
                other.execute("ROLLBACK")
    assert result.data["status"] == "timeout"


async def test_a_call_that_became_a_job_is_found_by_its_job(root: Path) -> None:
    caller = Caller("mcp", answer_within=1.0)
    with model_server(READ, Turn("slowly" * 5, piece=1, pause=0.15)) as server:
        async with box_of(server, root) as box:
            handed = await box.call("delegate_task", {"task": "x"}, caller=caller)
            assert handed.job
            running = await box.call("get_agent_result", {"id": handed.job})
            await box.call("steer_agent", {"id": handed.job, "cancel": True})
            await box.call("read_job", {"id": handed.job, "wait": "exit", "timeout": 20})
            ended = await box.call("get_agent_result", {"id": handed.job})
    assert running.data["status"] == "running"
    assert running.next is not None
    assert running.next.arguments["id"] == handed.job
    assert ended.data["status"] == "cancelled"


async def test_ten_at_once_come_back_with_their_own(root: Path) -> None:
    def answer(body: dict[str, Any]) -> Turn:
        return Turn(f"answer to {body['messages'][1]['content'].split()[-1]}")

    with model_server(answer) as server:
        async with box_of(server, root) as box:
            tasks = [box.call("delegate_task", {"task": f"say {n}"}) for n in range(10)]
            results = await asyncio.gather(*tasks)
    assert [r.data["answer"] for r in results] == [f"answer to {n}" for n in range(10)]
