"""The client of a model server, against a server that behaves as real ones do, and worse."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.cases import each_case
from tests.conditions import until
from tests.servers.model import ModelServer, Raw, Turn, model_server
from toolcrib.core.config import Config
from toolcrib.core.errors import Blocked, Network, RateLimited, TooLarge, ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import (
    ChatRequest,
    ModelClient,
    is_about_tools,
    is_overflow,
    retry_after,
)
from toolcrib.net.models.connection import Connection

ASK = ChatRequest("scripted", [{"role": "user", "content": "hi"}])


class Waits:
    """Stands for sleeping, and notes how long."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(round(seconds, 1))


@asynccontextmanager
async def client(
    server: ModelServer, *, waits: Waits | None = None, **more: Any
) -> AsyncIterator[ModelClient]:
    config = Config.load(server.config(**more.pop("agent", {})) | more.pop("config", {}))
    egress = Egress(config)
    found = ModelClient(
        Connection(server.url, config, egress), sleep=waits or Waits(), **{"stall": 0.3, **more}
    )
    try:
        yield found
    finally:
        await found.close()
        await egress.close()


async def fails(server: ModelServer, **more: Any) -> ToolError:
    async with client(server, **more) as found:
        with pytest.raises(ToolError) as caught:
            await found.answer(ASK)
    return caught.value


@pytest.mark.rows("E127")
@each_case(
    "turn",
    [
        Turn("grüße 😀", piece=1, cut=1),
        Turn("grüße 😀", piece=1, line_end="\r\n", comments=True),
        Turn("grüße 😀", done=False),
        Turn("grüße 😀", done=False, finish="none"),
        Turn("grüße 😀", empty_calls=True, piece=2),
        Turn("grüße 😀", usage=None),
    ],
)
async def test_content_comes_whole(turn: Turn) -> None:
    with model_server(turn) as server:
        async with client(server) as found:
            pieces: list[str] = []

            async def reply(content: str, reasoning: str) -> None:
                pieces.append(content)

            answer = await found.answer(ASK, reply)
    assert answer.content == "".join(pieces) == "grüße 😀"
    assert answer.calls == []
    assert answer.complete


@pytest.mark.rows("E127")
@each_case("piece", [0, 1, 7])
@each_case("indexed", [True, False])
async def test_calls_come_whole(piece: int, indexed: bool) -> None:
    calls = [("read_file", {"path": "ä.txt"}), ("ls", {})]
    with model_server(Turn(None, calls, "hm", piece=piece, indexed=indexed, cut=3)) as server:
        async with client(server) as found:
            answer = await found.answer(ASK)
    assert [(c.name, c.parsed()) for c in answer.calls] == calls
    assert answer.reasoning == "hm"


async def test_a_server_that_does_not_stream() -> None:
    whole = b'{"choices": [{"message": {"content": "all at once", "tool_calls": []}}]}'
    with model_server(Raw([whole], kind="application/json")) as server:
        async with client(server) as found:
            assert (await found.answer(ASK)).content == "all at once"


@pytest.mark.rows("E115")
async def test_network_failures_are_tried_twice_more() -> None:
    waits = Waits()
    with model_server(Turn("x", drop=1), Turn("y", drop=0), Turn("fine")) as server:
        async with client(server, waits=waits) as found:
            assert (await found.answer(ASK)).content == "fine"
    assert waits.seconds == [1.0, 2.0]
    with model_server(Turn("x", drop=2)) as server:
        error = await fails(server, waits=waits)
        assert isinstance(error, Network)
        assert len(server.requested) == 3


@pytest.mark.rows("E115")
@each_case("status", [500, 502, 503])
async def test_faults_of_the_server_are_tried_again(status: int) -> None:
    with model_server(Raw([b'{"error": "loading"}'], status), Turn("fine")) as server:
        async with client(server) as found:
            assert (await found.answer(ASK)).content == "fine"
        server.says(Raw([b'{"error": {"message": "crashed"}}'], status))
        error = await fails(server)
    assert "crashed" in error.message
    assert str(status) in error.message


@pytest.mark.rows("E115")
async def test_429_waits_as_it_is_told() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    headers = [{"Retry-After": "2"}, {"Retry-After": soon}, {}]
    script = [Raw([b"slow"], 429, headers=h) for h in headers]
    waits = Waits()
    with model_server(*script, Turn("fine")) as server:
        async with client(server, waits=waits) as found:
            assert (await found.answer(ASK)).content == "fine"
    assert waits.seconds[0] == 2.0
    assert 20 < waits.seconds[1] <= 30
    assert waits.seconds[2] == 5.0


@pytest.mark.rows("E115")
async def test_429_ends_after_three_more() -> None:
    waits = Waits()
    with model_server(Raw([b""], 429)) as server:
        assert isinstance(await fails(server, waits=waits), RateLimited)
        assert len(server.requested) == 4
    assert waits.seconds == [5.0, 5.0, 5.0]


@pytest.mark.rows("E115")
async def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    waits = Waits()
    with model_server(Raw([b""], 429, headers={"Retry-After": "3600"})) as server:
        error = await fails(server, waits=waits, deadline=time.monotonic() + 10)
        assert isinstance(error, RateLimited)
        assert len(server.requested) == 1
    assert waits.seconds == []


@each_case("value", ["", "soon", "-3", "nan", "1e999", "Fri, 99 Foo"])
def test_a_retry_after_that_names_no_time(value: str) -> None:
    assert retry_after(value) is None


def test_a_date_that_has_passed_is_no_wait() -> None:
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@each_case("error", ["boom", {"message": "boom"}, {"error": {"message": "boom"}}])
async def test_an_error_inside_the_stream(error: Any) -> None:
    with model_server(Turn("half of", error=error)) as server:
        async with client(server) as found:
            with pytest.raises(Network, match="boom"):
                await found.answer(ASK)
            assert found.current.finished().content == "half of"
        assert len(server.requested) == 3


async def test_a_stall_in_mid_stream_ends() -> None:
    with model_server(Turn("a long answer", piece=1, stall=5)) as server:
        async with client(server) as found:
            with pytest.raises(Network, match="silent"):
                await found.answer(ASK)
            assert found.current.finished().content == "a lo"


@each_case("kind", ["text/html", "text/event-stream", "application/json"])
async def test_an_html_page(kind: str) -> None:
    with model_server(Raw([b"<!DOCTYPE html><h1>Router</h1>"], kind=kind)) as server:
        assert "HTML" in (await fails(server)).message


@pytest.mark.parametrize("location", ["http://127.0.0.1:9/v1/chat/completions", "/v1/other"])
async def test_redirects_are_refused(location: str) -> None:
    answer = Raw([b""], 307, headers={"Location": location})
    with model_server(answer) as server:
        error = await fails(server)
        assert "redirect" in error.message
        assert server.paths == ["/v1/chat/completions"]


async def test_ten_megabytes_are_bounded() -> None:
    words = random.Random(1).randbytes(50_000).hex().encode()  # what repeats itself is closed
    chunk = b'data: {"choices": [{"delta": {"content": "' + words + b'"}}]}\n\n'
    with model_server(Raw([chunk] * 110)) as server:
        async with client(server) as found:
            answer = await found.answer(ASK)
    assert len(answer.content) == 1_000_000
    assert answer.finish == "length"


async def test_one_event_of_ten_megabytes_is_refused() -> None:
    with model_server(Raw([b"data: " + b"x" * 10_000_000])) as server:
        assert isinstance(await fails(server), TooLarge)


async def test_an_answer_that_breaks_off_is_not_taken() -> None:
    whole = b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": '
    call = whole + b'{"name": "delete_path", "arguments": "{}"}}]}}]}\n\n'
    with model_server(Raw([call])) as server:
        assert "early" in (await fails(server)).message
        server.says(Raw([call], length=5000))
        assert "broke off" in (await fails(server)).message


async def test_other_refusals_are_not_repeated() -> None:
    with model_server(Raw([b'{"error": {"message": "no such model"}}'], 404)) as server:
        error = await fails(server)
        assert "no such model" in error.message
        assert len(server.requested) == 1


async def test_a_server_that_knows_no_stream_options() -> None:
    refused = Raw([b'{"error": "Unknown field: stream_options"}'], 400)
    with model_server(refused, Turn("fine")) as server:
        async with client(server) as found:
            assert (await found.answer(ASK)).content == "fine"
        assert "stream_options" not in server.requested[1]


async def test_the_key_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-verysecret")
    with model_server(Raw([b'{"error": "bad key"}'], 401)) as server:
        error = await fails(server, agent={"api_key_env": "MODEL_KEY"})
        assert server.headers[0]["authorization"] == "Bearer sk-verysecret"
    assert "verysecret" not in f"{error.message}{error.hint}{error.details}"


async def test_what_the_user_denies_stays_denied() -> None:
    with model_server() as server:
        config = {"config": {"egress": {"deny_hosts": ["127.0.0.1"]}}}
        assert isinstance(await fails(server, **config), Blocked)
        assert server.paths == []


async def test_the_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with model_server(Turn("fine")) as server:
        async with client(server) as found:
            assert (await found.answer(ASK)).content == "fine"


async def test_a_name_resolves_to_judged_addresses_alone() -> None:
    with model_server(Turn("fine")) as server:
        config = Config.load(server.config())
        url = server.url.replace("127.0.0.1", "model.example")

        async def lookup(host: str) -> list[str]:
            return ["127.0.0.1"]

        egress = Egress(config, lookup=lookup)
        found = ModelClient(Connection(url, config, egress))
        assert (await found.answer(ASK)).content == "fine"
        assert server.headers[0]["host"].startswith("model.example:")
        await found.close()


async def test_cancelling_leaves_no_connection() -> None:
    with model_server(Turn("x" * 1000, piece=1, pause=0.05)) as server:
        async with client(server) as found:
            task = asyncio.create_task(found.answer(ASK))
            await until(lambda: server.requested and found.current.finished().content)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert found.current.finished().content.startswith("x")


def test_what_a_refusal_is_about() -> None:
    assert is_overflow("the request exceeds the available context size")
    assert is_overflow("This model's maximum context length is 4096 tokens")
    assert not is_overflow("model not found")
    assert is_about_tools("registry.ollama.ai/x does not support tools")
    assert not is_about_tools("no such model")


@pytest.mark.parametrize("silence", [Raw(mute=True), Raw([], stall=True)])
async def test_silence_before_an_answer_ends_and_is_not_waited_for_again(silence: Raw) -> None:
    with model_server(silence) as server:
        async with client(server, agent={"first_seconds": 0.5}) as asking:
            with pytest.raises(Network, match=r"said nothing for 0\.5 s") as caught:
                await asking.answer(ASK)
    assert "agent.first_seconds" in caught.value.hint
    assert len(server.requested) == 1


async def test_a_stalled_model_names_what_can_be_set() -> None:
    with model_server(Turn("a long answer", piece=1, stall=5)) as server:
        async with client(server) as asking:
            with pytest.raises(Network, match="fell silent") as caught:
                await asking.answer(ASK)
    assert "agent.stall_seconds" in caught.value.hint
    assert "another source" not in caught.value.hint


async def test_why_it_is_asked_again_is_a_sentence() -> None:
    reply: list[str] = []

    async def again(why: str) -> None:
        reply.append(why)

    with model_server(Turn(error="out of VRAM"), Turn("fine")) as server:
        async with client(server) as asking:
            await asking.answer(ASK, again=again)
    assert reply == ["The model server failed: out of VRAM. Asked again in 1 s."]
    assert asking.retries == ["The model server failed: out of VRAM. Tried again after 1 s."]
