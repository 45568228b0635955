"""What goes over the pipes of a stdio server, line by line."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.servers.mcp_wire import (
    CLIENT,
    HANDSHAKE,
    MODERN,
    ROOT,
    TEST_TOOLS,
    Wire,
    wire,
    written,
)

pytestmark = pytest.mark.timeout(60)
both_revisions = pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])


@both_revisions
async def test_nothing_but_the_protocol_reaches_stdout(revision: str) -> None:
    async with wire(revision=revision) as server:
        answer = await server.answer_to(server.call("shout"))
        assert answer["result"]["content"][0]["text"] == "shouted"
        assert await server.say("after") == "after"
        for line in server.lines:
            assert json.loads(line)["jsonrpc"] == "2.0"
        server.close()
        complaints = await server.complaints()
    assert "printed" in complaints
    assert "written" in complaints


@both_revisions
async def test_a_line_that_is_no_message_is_answered(revision: str) -> None:
    async with wire(revision=revision) as server:
        for line, code in {
            '{"jsonrpc": "2.0", "id": 7, "method": "tools/li': -32700,
            "not JSON at all": -32700,
            "[" * 100_000: -32700,
            '{"json": "but no message"}': -32600,
            "[]": -32600,
            "42": -32600,
        }.items():
            server.write(line)
            answer = await server.read()
            assert (answer["error"]["code"], line[:50]) == (code, line[:50])
            assert answer.get("id") is None
            assert (await server.say("still here")).startswith("still here")


async def test_a_broken_line_before_the_first_request_is_answered() -> None:
    server = await Wire.start(*TEST_TOOLS)
    try:
        server.write("{broken")
        assert (await server.read())["error"]["code"] == -32700
        await server.open()
        assert await server.say("hello") == "hello"
    finally:
        await server.finish()


@both_revisions
async def test_an_unknown_method_is_an_error(revision: str) -> None:
    async with wire(revision=revision) as server:
        answer = await server.ask("tools/sharpen")
        assert answer["error"]["code"] == -32601
        assert await server.say("still here") == "still here"


@both_revisions
async def test_a_call_that_fails_says_why(revision: str) -> None:
    async with wire(revision=revision) as server:
        for name, arguments, code, reply in (
            ("ecko", {"text": "x"}, "unknown_tool", "echo"),
            ("echo", {"txt": "x"}, "bad_input", "text"),
            ("echo", {}, "bad_input", "text"),
            ("echo", {"text": "x" * 3_000_000}, "too_large", "limits.max_argument_chars"),
            ("lose", {}, "not_found", "Look elsewhere."),
            ("crash", {}, "internal", "ZeroDivisionError"),
        ):
            result = (await server.answer_to(server.call(name, **arguments)))["result"]
            assert result["isError"] is True
            assert result["_meta"]["toolcrib/error"]["code"] == code
            assert reply in result["content"][0]["text"]
            assert (await server.say("still here")).startswith("still here")


async def test_a_message_without_end_is_refused_and_not_kept() -> None:
    async with wire() as server:
        server.write('{"text": "' + "x" * 33_000_000 + '"}')
        answer = await server.read()
        assert answer["error"]["code"] == -32600
        assert "32,000,000 bytes" in answer["error"]["message"]
        assert await server.say("still here") == "still here"


@both_revisions
async def test_a_client_that_reads_slowly_gets_all(revision: str) -> None:
    async with wire(revision=revision) as server:
        text = "long " * 2000
        calls = [server.call("echo", text=f"{n} {text}") for n in range(60)]
        await asyncio.sleep(1)  # time is the subject: the pipe is full long before
        seen = {(await server.read())["id"] for _ in calls}
        assert seen == set(calls)


@both_revisions
@pytest.mark.rows("A43", "C197")
async def test_cancelling_ends_the_tool_and_lets_it_clean_up(revision: str, tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire(revision=revision) as server:
        call = server.call("wait", seconds=600, note=str(note))
        await written(note)
        server.tell("notifications/cancelled", {"requestId": call, "reason": "enough"})
        assert await written(note, 2) == ["began", "cleaned up"]
        assert await server.say("still here") == "still here"


@both_revisions
async def test_calls_run_side_by_side(revision: str, tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with wire(revision=revision) as server:
        slow = server.call("wait", seconds=0.5, note=str(note))
        await written(note)
        assert await server.say("first") == "first"
        assert (await server.answer_to(slow))["result"]["content"][0]["text"] == "slept"


@both_revisions
@pytest.mark.rows("A44")
async def test_progress_comes_where_it_was_asked_for(revision: str) -> None:
    async with wire(revision=revision) as server:
        params = {"name": "steps", "arguments": {"count": 3}, "_meta": {"progressToken": "t"}}
        await server.ask("tools/call", params)
        reported = [json.loads(line) for line in server.lines]
        found = [m["params"] for m in reported if m.get("method") == "notifications/progress"]
        assert [(p["progressToken"], p["progress"], p["total"]) for p in found] == [
            ("t", 1, 3),
            ("t", 2, 3),
            ("t", 3, 3),
        ]
        before = len(server.lines)
        await server.answer_to(server.call("steps", count=3))
        assert len(server.lines) == before + 1


async def test_a_silent_tool_gives_a_sign_of_life_within_ten_seconds() -> None:
    async with wire() as server:
        params = {
            "name": "wait",
            "arguments": {"seconds": 12},
            "_meta": {"progressToken": 1},
        }
        await server.ask("tools/call", params)
        reported = [json.loads(line) for line in server.lines]
        found = [m["params"] for m in reported if m.get("method") == "notifications/progress"]
        assert [p["message"] for p in found] == ["working, 10 s"]


ELICITS = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
YES = {"approval": {"action": "accept", "content": {"allow": True}}}


async def test_an_answer_counts_only_for_the_question_that_was_asked() -> None:
    async with wire(revision=MODERN) as server:

        async def post(text: str, **extra: Any) -> dict[str, Any]:
            params = {"name": "post", "arguments": {"text": text}, "_meta": ELICITS, **extra}
            return await server.ask("tools/call", params)

        question = (await post("a letter"))["result"]
        state = question["requestState"]
        assert question["resultType"] == "input_required"
        assert "a letter" in question["inputRequests"]["approval"]["params"]["message"]

        unasked = await post("a letter", inputResponses=YES)
        assert unasked["result"]["resultType"] == "input_required"
        forged = await post("a letter", inputResponses=YES, requestState=f"A{state}")
        assert forged["error"]["code"] == -32602
        other = await post("another letter", inputResponses=YES, requestState=state)
        assert other["error"]["code"] == -32602

        answered = (await post("a letter", inputResponses=YES, requestState=state))["result"]
        assert answered["content"][0]["text"] == "posted a letter"
        again = (await post("a letter", inputResponses=YES, requestState=state))["result"]
        assert again["resultType"] == "input_required"


NO_ANSWERS: tuple[Any, ...] = (
    {},
    {"action": "accept", "content": ["allow"]},
    {"action": "accept", "content": {"allow": {"allow": True}}},
    {"action": ["accept"], "content": {"allow": True}},
    {"action": "Accept", "content": {"allow": True}},
    {"action": "accept", "content": "allow"},
    {"content": {"allow": True}},
)


async def test_an_answer_that_is_none_allows_nothing() -> None:
    async with wire(capabilities={"elicitation": {}}) as server:
        for number, answer in enumerate(NO_ANSWERS):
            call = server.call("post", text=f"letter {number}")
            question = await server.read()
            assert question["method"] == "elicitation/create"
            server.write(json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": answer}))
            result = (await server.answer_to(call))["result"]
            assert result["isError"], (answer, result)
            assert "Error (internal)" not in result["content"][0]["text"], answer
        call = server.call("post", text="a letter")
        question = await server.read()
        server.write(
            json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": YES["approval"]})
        )
        assert (await server.answer_to(call))["result"]["content"][0]["text"] == "posted a letter"


async def test_messages_may_come_from_a_file(tmp_path: Path) -> None:
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    requested = tmp_path / "asked"
    requested.write_text(f"{json.dumps(message)}\n")
    with requested.open("rb") as stdin:
        server = await asyncio.create_subprocess_exec(
            *TEST_TOOLS, cwd=ROOT, stdin=stdin, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await server.communicate()
    assert server.returncode == 0
    assert json.loads(out)["result"]["serverInfo"]["name"] == "toolcrib"


async def test_a_client_that_no_longer_listens_does_no_harm(tmp_path: Path) -> None:
    note = tmp_path / "note"
    reading, writing = os.pipe()
    server = await asyncio.create_subprocess_exec(
        *TEST_TOOLS,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=writing,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writing)
    speaker = Wire(server)
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}
    speaker.request("initialize", params)
    await asyncio.to_thread(os.read, reading, 65_536)
    os.close(reading)
    speaker.tell("notifications/initialized")
    for _ in range(20):
        speaker.call("echo", text="into the void")
    speaker.call("wait", seconds=0, note=str(note))
    assert await written(note, 2) == ["began", "cleaned up"]
    speaker.close()
    assert "Traceback" not in await speaker.complaints()
    assert await server.wait() == 0
