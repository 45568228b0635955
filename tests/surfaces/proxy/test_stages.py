"""Stages before a request, and tools of ours within its answer."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cases import each_case
from tests.servers.model import Raw, Turn, model_server
from tests.surfaces.proxy.proxies import TOOL, ask, proxied, proxied_box, settings
from tests.surfaces.proxy.test_chat_calls import read
from toolcrib.agents.conversation import estimate_tokens
from toolcrib.state.approvals import Approvals

PATH = "/v1/chat/completions"
WINDOW = {"/props": {"default_generation_settings": {"n_ctx": 4096}}}
NEEDLE = "The number of the locker is 4711."
FILLER = "A line of the log that nobody needs, with some words in it.\n"


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def history(question: str = "What is the number of the locker?") -> list[dict[str, Any]]:
    """Eight results of tools, too long for a window of 4,096 tokens."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Look at the logs, please."},
    ]
    for number in range(8):
        text = FILLER * 40 + (NEEDLE if number == 1 else "") + f"\nend {number}"
        messages += [
            call(number, "get_weather", city=f"C{number}"),
            {"role": "tool", "tool_call_id": f"c{number}", "content": text},
        ]
    return [*messages, {"role": "user", "content": question}]


def state(tmp_path: Path, **more: Any) -> dict[str, Any]:
    url = f"sqlite:///{(tmp_path / 'state.db').as_posix()}"
    return {"store": {"url": url}, "guard": {"summary": "extract"}, **more}


async def test_the_guard_keeps_within_the_window_and_the_model_can_read_on(tmp_path: Path) -> None:
    def reads(body: dict[str, Any]) -> Turn:
        offered = [tool["function"]["name"] for tool in body["tools"]]
        assert offered == ["get_weather", "read_more"]
        text = json.dumps(body["messages"])
        handle = text.split("read_more", 1)[1].split("handle", 1)[1].lstrip("=\\\": '")
        word = "".join(c for c in handle.split()[0] if c.isalnum() or c in "-_")
        return Turn("I look. ", [("read_more", {"handle": word})])

    with model_server(reads, Turn("It is 4711.", usage=(3000, 5))) as server:
        server.pages = WINDOW
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask(tools=[TOOL], stream=True) | {"messages": history()}
            answer = await client.post(PATH, json=body)
            short = await client.post(PATH, json=ask(tools=[TOOL]))
    text, _, calls, finish = read(answer.content)
    assert (text, calls, finish) == ("I look. \n\nIt is 4711.", [], "stop")
    assert len(json.dumps(server.requested[0]["messages"])) < 4096 * 4
    result = server.requested[1]["messages"][-1]
    assert result["role"] == "tool"
    assert "A line of the log" in result["content"]
    assert short.status_code == 200
    assert [tool["function"]["name"] for tool in server.requested[2]["tools"]] == ["get_weather"]


@each_case("stream", [True, False])
async def test_a_window_that_only_an_error_tells(tmp_path: Path, stream: bool) -> None:
    error = {"error": {"message": "This model's maximum context length is 4096 tokens."}}
    tmp_path /= str(stream)
    tmp_path.mkdir()
    refusal = Raw((json.dumps(error).encode(),), 400, "application/json")
    with model_server(refusal, Turn("fine")) as server:
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask(stream=stream) | {"messages": history()}
            answer = await client.post(PATH, json=body)
    assert answer.status_code == 200
    assert "fine" in answer.text
    assert len(json.dumps(server.requested[1])) < len(json.dumps(server.requested[0]))


async def test_what_would_have_passed_passes(tmp_path: Path) -> None:
    body = {"messages": history(), "model": "m", "odd": [1]}
    with model_server(Turn("ok")) as server:
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            for messages in (history(), [{"role": "system", "content": FILLER * 900}] * 2, [7], 7):
                await client.post(PATH, json=body | {"messages": messages})
    assert server.requested[0] == body
    assert len(server.requested) == 4


async def test_ten_megabytes_of_a_result_in_a_small_window(tmp_path: Path) -> None:
    small = {"/props": {"default_generation_settings": {"n_ctx": 2048}}}
    large = FILLER * (10_000_000 // len(FILLER)) + NEEDLE
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Help."},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look at the log."},
        call(1, "get_weather", city="A"),
        {"role": "tool", "tool_call_id": "c1", "content": large},
        {"role": "user", "content": "What is the number of the locker?"},
    ]
    with model_server(Turn("4711"), Turn("Still here.")) as server:
        server.pages = small
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=120) as client,
        ):
            answer = await client.post(PATH, json=ask() | {"messages": messages})
            # What cannot be made shorter goes as it is: the server says what it thinks of it.
            system = [{"role": "system", "content": FILLER * 400}] * 2
            over = await client.post(PATH, json=ask() | {"messages": [*system, messages[-1]]})
    assert (answer.status_code, over.status_code) == (200, 200)
    sent = server.requested[0]["messages"]
    assert len(json.dumps(sent)) < 2048 * 5
    reply = [m for m in messages if m["role"] in ("system", "user")]
    assert [m for m in sent if m["role"] in ("system", "user")] == reply
    # No tools are offered, so the line that fits the question stands in the place of the result.
    assert NEEDLE in json.dumps(sent)
    assert server.requested[1]["messages"] == [*system, messages[-1]]


async def test_what_is_read_again_fits_in_a_small_window(tmp_path: Path) -> None:
    large = FILLER * (400_000 // len(FILLER))
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Look at the log."},
        call(1, "get_weather", city="A"),
        {"role": "tool", "tool_call_id": "c1", "content": large},
        {"role": "user", "content": "Read the log again and tell its number."},
    ]

    def reads(body: dict[str, Any]) -> Turn:
        last = body["messages"][-1]["content"]
        handle = re.search(r"read_more\W+handle\W+(\w+)", json.dumps(body["messages"]))
        if handle is None or len(body["messages"]) > 12:
            return Turn(f"no handle in {last[:80]}")
        return Turn("", [("read_more", {"handle": handle[1]})])

    with model_server(reads, reads, reads, Turn("4711")) as server:
        server.pages = {"/props": {"default_generation_settings": {"n_ctx": 2048}}}
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=120) as client,
        ):
            body = ask() | {"messages": messages, "tools": [TOOL]}
            answer = await client.post(PATH, json=body)
    assert answer.json()["choices"][0]["message"]["content"] == "4711"
    assert len(server.requested) == 4
    for sent in server.requested:
        assert estimate_tokens(sent["messages"]) < 2048


async def test_orphans_in_a_history_are_mended_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = {"role": "tool", "tool_call_id": "gone", "content": "nobody asked for it"}
    messages = [*history()[:2], alone, call(1, "get_weather", city="A"), *history()[-1:]]
    with model_server(Turn("ok")) as server:
        async with (
            proxied(server.url, config=state(tmp_path), trace=True) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask() | {"messages": messages, "padding": "x" * 5_000}
            answer = await client.post(PATH, json=body)
    assert answer.status_code == 200
    called, answered = set(), set()
    for message in server.requested[0]["messages"]:
        called |= {made["id"] for made in message.get("tool_calls") or ()}
        answered |= {message["tool_call_id"]} if message["role"] == "tool" else set()
    assert called == answered
    assert "mended 2 calls or results that stood alone" in capsys.readouterr().err


@pytest.mark.rows("C123")
async def test_a_clients_own_call_made_again_and_again(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read it."}]
    for number in range(3):
        messages += [
            call(number, "my_read", path="a.txt"),
            {"role": "tool", "tool_call_id": f"c{number}", "content": "no such file"},
        ]
    with model_server(Turn("I stop.")) as server:
        async with (
            proxied(server.url, config=state(tmp_path), stages=["repeats"]) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask() | {"messages": messages})
    assert answer.status_code == 200
    contents = [m["content"] for m in server.requested[0]["messages"] if m["role"] == "tool"]
    assert contents[:2] == ["no such file"] * 2
    assert contents[2].startswith("no such file\n\n[Reminder: this very call was made 3 times")


async def test_the_guard_in_the_messages_api(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for number in range(8):
        use = {"type": "tool_use", "id": f"t{number}", "name": "f", "input": {"n": number}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": FILLER * 40}
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        messages += [
            {"role": "assistant", "content": [thought, use]},
            {"role": "user", "content": [result]},
        ]
    messages.append({"role": "user", "content": [{"type": "text", "text": "And?"}]})
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    body = {"model": "m", "system": "Help.", "messages": messages, "tools": tools}
    with model_server(Raw((b'{"content": []}',), kind="application/json")) as server:
        server.any_path, server.pages = True, WINDOW
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post("/v1/messages", json=body)
    assert answer.status_code == 200
    sent = server.requested[0]
    assert len(json.dumps(sent)) < 4096 * 4
    assert sent["messages"][-1] == messages[-1]
    assert sent["messages"][-2] == messages[-2]
    used = {b["id"] for m in sent["messages"] for b in _blocks(m) if b["type"] == "tool_use"}
    answered = {
        b["tool_use_id"] for m in sent["messages"] for b in _blocks(m) if b["type"] == "tool_result"
    }
    assert used == answered


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []


def own_tools(url: str, tmp_path: Path) -> dict[str, Any]:
    root = tmp_path / "work"
    root.mkdir(exist_ok=True)
    (root / "notes.md").write_text("the word is plum\n")
    tree = settings([url], tools="read_file,write_file") | state(tmp_path)
    return tree | {"workspace": {"roots": [str(root)]}}


@each_case("stream", [True, False])
async def test_tools_of_ours_for_clients_without(tmp_path: Path, stream: bool) -> None:
    first = Turn("I read. ", [("read_file", {"path": "notes.md"})], piece=4)
    with model_server(first, Turn("It is plum."), Turn("As I words.")) as server:
        async with (
            proxied_box(own_tools(server.url, tmp_path)) as (base, _),
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask("Which?", stream=stream))
            if stream:
                text, _, calls, finish = read(answer.content)
                assert (calls, finish) == ([], "stop")
                assert answer.text.count("[DONE]") == 1
            else:
                choice = answer.json()["choices"][0]
                text = choice["message"]["content"]
                assert (choice["finish_reason"], choice["message"].get("tool_calls")) == (
                    "stop",
                    None,
                )
            reply = [{"role": "assistant", "content": text}, {"role": "user", "content": "Sure?"}]
            body = ask("Which?", stream=stream)
            body["messages"] += reply
            await client.post(PATH, json=body)
    assert text.split("\n\n") in (["I read. ", "It is plum."], ["I read.", "It is plum."])
    offered = {tool["function"]["name"] for tool in server.requested[0]["tools"]}
    assert offered >= {"read_file", "write_file"}
    assert "the word is plum" in server.results(1)[0]
    # What our tools did is there again in later requests.
    assert "the word is plum" in server.results(2)[0]
    roles = [message["role"] for message in server.requested[2]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]


async def test_ours_run_first_and_the_clients_are_handed_on(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "read_file", "parameters": {}}}
    calls = [("toolcrib_read_file", {"path": "notes.md"}), ("read_file", {"p": 1})]
    with model_server(Turn("Both.", calls), Turn("Plum.")) as server:
        async with (
            proxied_box(own_tools(server.url, tmp_path)) as (base, _),
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask(tools=[tool], stream=True))
            text, _, found, finish = read(answer.content)
            assert (text, found, finish) == ("Both.", [("read_file", '{"p": 1}')], "tool_calls")
            made = {"id": "call_1", "type": "function"}
            made["function"] = {"name": "read_file", "arguments": '{"p": 1}'}  # type: ignore[assignment]
            body = ask(tools=[tool], stream=True)
            body["messages"] += [
                {"role": "assistant", "content": "Both.", "tool_calls": [made]},
                {"role": "tool", "tool_call_id": "call_1", "content": "of the client"},
            ]
            await client.post(PATH, json=body)
    assert server.results(1)[1] == "of the client"
    assert "the word is plum" in server.results(1)[0]


@each_case("allow", [True, False])
async def test_a_person_decides_while_the_stream_is_open(tmp_path: Path, allow: bool) -> None:
    tmp_path /= str(allow)
    tmp_path.mkdir()
    write = Turn("", [("write_file", {"path": "new.txt", "content": "x"})])
    tree: dict[str, Any] = {}
    with model_server(write, Turn("Done.")) as server:
        tree = own_tools(server.url, tmp_path)
        tree["policy"] = {"rules": [{"action": "ask", "tool": "write_file"}]}
        async with (
            proxied_box(tree) as (base, toolbox),
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
            client.stream("POST", PATH, json=ask(stream=True)) as answer,
        ):
            got, decide = "", toolbox.use(Approvals)
            async for chunk in answer.aiter_text():
                got += chunk
                if "approve" in got and (waiting := await decide.list_open()):
                    (request,) = waiting
                    await (decide.grant(request.id, "once") if allow else decide.refuse(request.id))
    assert "toolcrib" in got
    assert "Done." in got
    assert (tmp_path / "work" / "new.txt").exists() is allow


async def test_rounds_have_an_end(tmp_path: Path) -> None:
    def always(body: dict[str, Any]) -> Turn:
        calls = [("read_file", {"path": "notes.md"})] if body.get("tools") else []
        return Turn("." if calls else "End.", calls)

    with model_server(always) as server:
        tree = own_tools(server.url, tmp_path)
        tree["proxy"]["rounds"] = 3
        async with (
            proxied_box(tree) as (base, _),
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask(stream=True))
    assert read(answer.content)[0] == ".\n\n.\n\n.\n\nEnd."
    assert len(server.requested) == 4


@pytest.mark.parametrize("stream", [True, False])
async def test_a_model_that_writes_calls_for_ever_comes_to_an_end(
    tmp_path: Path, stream: bool
) -> None:
    """As small ones do, offered tools or not, once what went before is full of calls."""
    text = '<tool_call>{"name": "read_file", "arguments": {"path": "notes.md"}}</tool_call>'
    with model_server(lambda body: Turn(text)) as server:
        tree = own_tools(server.url, tmp_path)
        tree["proxy"]["rounds"] = 3
        async with (
            proxied_box(tree) as (base, _),
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask(stream=stream))
    assert len(server.requested) == 4
    if stream:
        words = read(answer.content)[0]
    else:
        (choice,) = answer.json()["choices"]
        words = choice["message"]["content"]
        assert choice["finish_reason"] == "stop"
        assert not choice["message"].get("tool_calls")
    assert "proxy.rounds" in words
    assert "<tool_call>" not in words


async def test_the_trace_has_no_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with model_server(Turn("ok", usage=(10, 1))) as server:
        server.pages = WINDOW
        config = state(tmp_path)
        async with (
            proxied(server.url, config=config, trace=True) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask() | {"messages": history(), "model": "sk-abcdefghijklmnop1234"}
            await client.post(PATH, json=body)
            await asyncio.sleep(0)
    err = capsys.readouterr().err
    assert "guard: " in err
    assert "sk-abcdef" not in err
    assert "it left out the beginning" in err


async def test_stages_that_are_on_add_to_the_prompt(tmp_path: Path) -> None:
    question = "What time is it?"
    with model_server(Turn("Late.")) as server:
        async with (
            proxied(server.url, config=state(tmp_path), stages=["clock"]) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask(question)
            await client.post(PATH, json=body)
            body["messages"] += [
                {"role": "assistant", "content": "Late."},
                {"role": "user", "content": "Sure?"},
            ]
            await client.post(PATH, json=body)
    first, second = (requested["messages"] for requested in server.requested)
    assert question in first[0]["content"]
    assert first[0]["content"] != question
    # What was added once stands there byte for byte in every later request.
    assert second[0] == first[0]


def test_a_stage_that_there_is_not_is_a_clear_error() -> None:
    from toolcrib.core.errors import BadInput
    from toolcrib.surfaces.proxy.server import create_proxy
    from toolcrib.toolbox import Toolbox

    with pytest.raises(BadInput, match="There is no stage 'clok'"):
        create_proxy(Toolbox(settings(["http://127.0.0.1:9/v1"], stages=["clok"])))


@each_case("stream", [True, False])
async def test_the_usage_is_that_of_all_rounds(tmp_path: Path, stream: bool) -> None:
    tmp_path /= str(stream)
    tmp_path.mkdir()
    reads = Turn("I look. ", [("read_more", {"handle": "none"})], usage=(200, 7))
    with model_server(reads, Turn("Nothing.", usage=(300, 5))) as server:
        server.pages = WINDOW
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask(tools=[TOOL], stream=stream) | {"messages": history()}
            answer = (await client.post(PATH, json=body)).text
    assert len(server.requested) == 2
    found = re.findall(r'"usage": ?(\{[^}]*\})', answer)
    total = {"prompt_tokens": 500, "completion_tokens": 12, "total_tokens": 512}
    assert [json.loads(usage) for usage in found] == [total]
