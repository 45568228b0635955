"""What the proxy passes on: byte for byte, to the right server, with the right key."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from tests.cases import each_case
from tests.conditions import until
from tests.servers.model import Raw, Turn, model_server
from tests.surfaces.proxy.proxies import (
    CALL,
    TOOL,
    ask,
    asking,
    proxied,
    proxied_box,
    settings,
)

STREAM = (
    b": hello\n\n",
    b'data: {"id":"1", "unknown":{"a":1},"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n',
    b'\ndata: {"choices":[{"index":0,"delta":{"content":"gr\xc3',
    b'\xbc\xc3\x9fe "}}]}\n\nevent: x\r\ndata: [1]\r\n\r\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"\\n"},"finish_reason":null}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{}}\n\n',
    b"data: [DONE]\n\n",
)


@each_case("tools", [[], [TOOL]])
async def test_a_stream_goes_through_byte_for_byte(tools: list[Any]) -> None:
    with model_server(Raw(STREAM, pause=0.01)) as server:
        async with asking(server.url) as client:
            answer = await client.post("/v1/chat/completions", json=ask(tools=tools, stream=True))
    assert answer.content == b"".join(STREAM)
    assert answer.headers["content-type"] == "text/event-stream"


async def test_pieces_come_as_the_server_sends_them() -> None:
    with model_server(Raw(STREAM, stall=True)) as server:
        async with (
            asking(server.url) as client,
            client.stream(
                "POST", "/v1/chat/completions", json=ask(tools=[TOOL], stream=True)
            ) as answer,
        ):
            read = b""
            async for chunk in answer.aiter_raw():
                read += chunk
                if read == b"".join(STREAM):
                    break
    assert read == b"".join(STREAM)


async def test_unknown_fields_headers_and_paths_go_through() -> None:
    body = b'{"model": "x",  "made_up": [1.50, "\\u00e4"], "tools": [{"type": "web_search"}]}'
    with model_server(Raw((b'{"a":  1}',), 207, "application/json", {"X-Made-Up": "2"})) as server:
        async with asking(server.url) as client:
            head = {"x-session-id": "7", "content-type": "application/json", "openai-beta": "r"}
            answer = await client.post("/v1/chat/completions?a=%2F", content=body, headers=head)
            listed = await client.get("/v1/models?x=1")
            other = await client.delete("/v1/files/7")
    assert (answer.status_code, answer.content, answer.headers["x-made-up"]) == (
        207,
        b'{"a":  1}',
        "2",
    )
    assert server.headers[0]["x-session-id"] == "7"
    assert server.headers[0]["openai-beta"] == "r"
    assert server.paths[1] == "/v1/models?x=1"
    assert listed.status_code == 200
    assert other.status_code == 501


async def test_head_of_the_root_is_answered_without_a_server() -> None:
    async with asking("http://127.0.0.1:9/v1") as client:
        answer = await client.head("/")
        assert answer.status_code == 200


@each_case(
    ("path", "where"),
    [
        ("/v1/chat/completions", ("error", "message")),
        ("/v1/embeddings", ("error", "message")),
        ("/v1/messages", ("error", "message")),
        ("/api/chat", ("error",)),
    ],
)
async def test_a_server_that_is_not_there_is_an_error_in_the_form_of_the_client(
    path: str, where: tuple[str, ...]
) -> None:
    async with asking("http://127.0.0.1:9/v1") as client:
        answer = await client.post(path, json=ask())
    found = answer.json()
    for key in where:
        found = found[key]
    assert answer.status_code in (403, 502)
    assert isinstance(found, str)
    assert (answer.json().get("type") == "error") is (path == "/v1/messages")


@each_case("status", [400, 401, 404, 422, 429, 500, 503])
async def test_refusals_of_the_server_go_through(status: int) -> None:
    reply = b'{"error":{"message":"no","code":123}}\n'
    raw = Raw((reply,), status, "application/json", {"Retry-After": "7"})
    with model_server(raw) as server:
        async with asking(server.url) as client:
            answer = await client.post("/v1/chat/completions", json=ask(tools=[TOOL]))
    assert (answer.status_code, answer.content) == (status, reply)
    assert answer.headers["retry-after"] == "7"


@each_case("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
async def test_a_stream_that_breaks_off_ends_as_its_dialect_wants(path: str) -> None:
    turn = Raw((b'data: {"choices":[{"index":0,"delta":{"content":"Hal',), length=5000)
    with model_server(turn) as server:
        server.any_path = True
        async with asking(server.url) as client:
            answer = await client.post(path, json=ask(stream=True))
    last = answer.text.strip().split("\n\n")
    ends = {"/v1/chat/completions": "[DONE]", "/v1/responses": "response.failed"}
    assert ends.get(path, "message_stop") in last[-1]
    assert "broke off" in answer.text
    for event in last[1:]:
        data = event.rpartition("data: ")[2]
        assert data == "[DONE]" or json.loads(data)


async def test_a_client_that_leaves_cancels_the_request() -> None:
    with model_server(Raw((b"data: {}\n\n",), stall=True)) as server:
        async with proxied(server.url) as base, httpx2.AsyncClient(timeout=30) as client:
            async with client.stream(
                "POST", f"{base}/v1/chat/completions", json=ask(stream=True)
            ) as answer:
                async for _ in answer.aiter_raw():
                    break
                assert not server.left.is_set()
            await until(server.left.is_set)


async def test_the_model_chooses_the_server() -> None:
    with model_server(Turn("one")) as first, model_server(Turn("two")) as second:
        first.models = {"object": "list", "data": [{"id": "alpha"}]}
        second.models = {"object": "list", "data": [{"id": "beta"}, {"id": "alpha"}]}
        async with asking(first.url, second.url) as client:
            texts = []
            for model in ("beta", "alpha", "other"):
                body = ask() | {"model": model}
                answer = await client.post("/v1/chat/completions", json=body)
                texts.append(answer.json()["choices"][0]["message"]["content"])
            listed = (await client.get("/v1/models")).json()
    assert texts == ["two", "one", "one"]
    assert [model["id"] for model in listed["data"]] == ["alpha", "beta"]


async def test_globs_come_before_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_KEY", "s2")
    with model_server(Turn("one")) as first, model_server(Turn("two")) as second:
        upstreams = [
            {"base_url": first.url},
            {"base_url": second.url, "models": ["big-*"], "api_key_env": "SECOND_KEY"},
        ]
        async with asking(config={"proxy": {"upstreams": upstreams}}) as client:
            await client.post("/v1/chat/completions", json=ask() | {"model": "big-7b"})
    assert second.headers[-1]["authorization"] == "Bearer s2"
    assert not first.requested


async def test_keys_go_to_the_server_and_our_token_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", "up")
    with model_server(Turn("x")) as server:
        upstreams = [{"base_url": server.url, "api_key_env": "UPSTREAM_KEY"}]
        config = {"proxy": {"upstreams": upstreams}}
        async with asking(config=config) as client:
            for head in ({"authorization": "Bearer mine"}, {}):
                await client.post("/v1/chat/completions", json=ask(), headers=head)
        assert [h["authorization"] for h in server.headers] == ["Bearer mine", "Bearer up"]
        monkeypatch.setenv("OUR_TOKEN", "o" * 20)
        token = {"http": {"token_env": "OUR_TOKEN"}}
        async with asking(config=config | token) as client:
            none = await client.post("/v1/messages", json=ask())
            wrong = await client.get("/health")
            root = await client.head("/")
            for head in ({"authorization": "Bearer " + "o" * 20}, {"x-api-key": "o" * 20}):
                answer = await client.post("/v1/chat/completions", json=ask(), headers=head)
                assert answer.status_code == 200
    assert (none.status_code, none.json()["type"]) == (401, "error")
    assert (wrong.status_code, root.status_code) == (401, 200)
    assert [h["authorization"] for h in server.headers[2:]] == ["Bearer up"] * 2
    assert "x-api-key" not in server.headers[-1]


async def test_pictures_of_pages_of_elsewhere_reach_no_model_server() -> None:
    """A browser sends them without an Origin, and says whose they are."""
    with model_server(Turn("x")) as server:
        async with asking(server.url) as client:
            sent = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
            answer = await client.get("/api/any/path?x=1", headers=sent)
    assert answer.status_code == 403
    assert not server.requested


@each_case("origin", ["https://evil.example", "http://127.0.0.1:8000", "http://localhost", "null"])
async def test_pages_of_elsewhere_are_refused(origin: str) -> None:
    """Also those of this machine, which a run may serve; plain text needs no preflight."""
    with model_server(Turn("x")) as server:
        async with asking(server.url) as client:
            page = {"origin": origin, "content-type": "text/plain"}
            answer = await client.post("/v1/chat/completions", json=ask(), headers=page)
            name = await client.get("/v1/models", headers={"host": "evil.example"})
    assert (answer.status_code, name.status_code) == (403, 421)
    assert not server.requested


async def test_a_preflight_is_answered_here_and_other_options_need_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OUR_TOKEN", "o" * 20)
    with model_server(Turn("x")) as server:
        allowed = {"token_env": "OUR_TOKEN", "allow_origins": ["http://localhost:3000"]}
        config = {"http": allowed, "proxy": {"upstreams": [{"base_url": server.url}]}}
        async with asking(config=config) as client:
            before = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
            path = "/v1/chat/completions"
            answer = await client.request("OPTIONS", path, json=ask(), headers=before)
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == "http://localhost:3000"
            page = {"origin": "http://localhost:3000"}
            for head in ({}, page, {"access-control-request-method": "POST"}):
                refused = await client.request("OPTIONS", path, json=ask(), headers=head)
                assert refused.status_code == 401
    assert not server.headers


async def test_many_at_once() -> None:
    def turn(body: dict[str, Any]) -> Turn:
        return Turn(body["messages"][0]["content"] + CALL, piece=7)

    async def one(client: httpx2.AsyncClient, number: int) -> str:
        body = ask(f"n{number} ", tools=[TOOL], stream=True)
        answer = await client.post("/v1/chat/completions", json=body)
        return answer.text

    with model_server(turn) as server:
        async with asking(server.url) as client:
            texts = await asyncio.gather(*(one(client, number) for number in range(100)))
    for number, text in enumerate(texts):
        assert f"n{number}" in text
        assert '"finish_reason":"tool_calls"' in text


async def test_a_body_of_ten_megabytes() -> None:
    with model_server(Turn("x")) as server:
        async with asking(server.url) as client:
            body = ask("ä" * 5_000_000, tools=[TOOL])
            answer = await client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200
    assert len(server.requested[0]["messages"][0]["content"]) == 5_000_000


@each_case(
    ("path", "end"),
    [
        ("/v1/chat/completions", "data: [DONE]\n\n"),
        ("/v1/completions", "data: [DONE]\n\n"),
        ("/v1/messages", '{"type":"message_stop"}\n\n'),
        ("/api/chat", '{"error":"The model server ended its answer early."}\n'),
    ],
)
async def test_a_stream_without_its_end_gets_one(path: str, end: str) -> None:
    lines = path == "/api/chat"
    part = b'{"a":1}\n' if lines else b'data: {"finish_reason":"stop"}\n\n'
    kind = "application/x-ndjson" if lines else "text/event-stream"
    with model_server(Raw((part, part), kind=kind)) as server:
        server.any_path = True
        async with asking(server.url) as client:
            answer = await client.post(path, json=ask(stream=True))
    assert answer.content.startswith(part * 2)
    assert answer.text.endswith(end)


HALF = '{"id":"x","created":7,"model":"m","choices":[{"index":0,"delta":{"content":"Hal"}}]}'


@each_case("tools", [(), (TOOL,)])
@each_case("offered", ["", "default"])
async def test_half_an_answer_is_not_taken_for_a_whole(
    tools: tuple[Any, ...], offered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    openai = pytest.importorskip("openai")
    with model_server(Raw((f"data: {HALF}\n\n".encode(),))) as server:
        tree = settings([server.url], tools=offered)
        async with (
            proxied_box(tree) as (base, _),
            openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="x", max_retries=0) as client,
        ):
            body = ask(stream=True, **({"tools": tools} if tools else {}))
            stream = await client.chat.completions.create(**body)
            chunks: list[Any] = []
            with pytest.raises(openai.APIError, match="ended its answer early"):
                async for chunk in stream:
                    chunks.append(chunk)
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["Hal", None]
    assert chunks[-1].choices[0].finish_reason == "length"
    assert (chunks[-1].id, chunks[-1].created, chunks[-1].model) == ("x", 7, "m")
    assert "/v1/chat/completions: The model server ended its answer early." in (
        capsys.readouterr().err
    )


async def test_an_error_that_the_server_tells_is_told_once() -> None:
    with model_server(Turn("Hal", error={"message": "out of memory"}, done=False)) as server:
        async with asking(server.url) as client:
            answer = await client.post("/v1/chat/completions", json=ask(stream=True))
    assert answer.text.count('"error"') == 1
    assert answer.text.endswith("data: [DONE]\n\n")


async def test_without_settings_the_servers_that_answer_are_used() -> None:
    with model_server(Turn("alive")) as server:
        agent = {"agent": {"servers": ["http://127.0.0.1:9/v1", server.url]}}
        async with asking(config=agent) as client:
            answer = await client.post("/v1/chat/completions", json=ask())
        none = {"agent": {"servers": ["http://127.0.0.1:9/v1", "http://127.0.0.1:7/v1"]}}
        async with asking(config=none) as client:
            refused = await client.post("/v1/messages", json=ask())
    assert answer.json()["choices"][0]["message"]["content"] == "alive"
    assert (refused.status_code, refused.json()["type"]) == (503, "error")
    assert "No model server answers" in refused.json()["error"]["message"]
