"""A chat in a small window: room is made as in the proxy, and what was taken out can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.servers.model import Raw, Turn, model_server
from toolcrib import Result, Toolbox
from toolcrib.agents.chat_session import ChatResources, ChatSession
from toolcrib.agents.events import ChatEvent, EndEvent, NoticeEvent, ResultEvent
from toolcrib.core.errors import BadInput

WINDOW = {"/props": {"default_generation_settings": {"n_ctx": 4096}}}
FILLER = "A line of the log that nobody needs, with some words in it.\n"
FILES = 8


def chat_of(box: Toolbox, *stages: str) -> ChatSession:
    """A chat as the command line makes it."""

    async def invoke(tool: str, given: Mapping[str, Any]) -> Result:
        return await box.call(tool, given, session="chat:t")

    means = ChatResources(box.config, box.services, box.listed, invoke, stages)
    return ChatSession("t", means)


async def say(chat: ChatSession, text: str) -> list[ChatEvent]:
    return [event async for event in chat.events(text)]


def answer_of(events: list[ChatEvent]) -> str:
    assert isinstance(events[-1], EndEvent)
    return events[-1].outcome.answer


def written(folder: Path) -> list[Turn]:
    """Files that are too long together for the window, and a model that reads each of them."""
    for number in range(FILES):
        needle = "The number of the locker is 4711.\n" if number == 1 else ""
        (folder / f"{number}.log").write_text(FILLER * 40 + needle)
    return [Turn("", [("read_file", {"path": f"{n}.log"})]) for n in range(FILES)]


@pytest.mark.rows("C166", "C168")
async def test_room_is_made_and_what_was_there_is_read(tmp_path: Path) -> None:
    def reads_on(body: dict[str, Any]) -> Turn:
        handles = re.findall(r"read_more\(handle=\W*(\w+)", json.dumps(body["messages"]))
        return Turn("", [("read_more", {"handle": handles[0]})])

    with model_server(*written(tmp_path), Turn("Read."), reads_on, Turn("It is 4711.")) as server:
        server.pages = WINDOW
        config = server.config(steps=20, seconds=60) | {"guard": {"summary": "extract"}}
        async with Toolbox(config, "default", workspace=tmp_path) as box:
            chat = chat_of(box)
            first = await say(chat, "Read all logs.")
            events = await say(chat, "What is the number of the locker?")
    assert answer_of(first) == "Read."
    assert answer_of(events) == "It is 4711."
    notices = [e.text for e in first + events if isinstance(e, NoticeEvent)]
    assert any("ContextGuard" in text and "saved" in text for text in notices)
    assert max(len(json.dumps(requested["messages"])) for requested in server.requested) < 4096 * 5
    # The chat itself has all of it, and the model read what had been taken out.
    assert sum(FILLER in str(m["content"]) for m in chat.conversation.body) == FILES + 1
    found = [e for e in events if isinstance(e, ResultEvent) and e.name == "read_more"]
    assert [e.error for e in found] == [""]
    assert FILLER in found[0].text


async def test_a_window_that_only_a_refusal_tells(tmp_path: Path) -> None:
    error = {"error": {"message": "This model's maximum context length is 4096 tokens."}}
    refusal = Raw((json.dumps(error).encode(),), 400, "application/json")
    with model_server(*written(tmp_path), refusal, Turn("Read.")) as server:
        config = server.config(steps=20, seconds=60) | {"guard": {"summary": "extract"}}
        async with Toolbox(config, "default", workspace=tmp_path) as box:
            events = await say(chat_of(box), "Read all logs.")
    assert answer_of(events) == "Read."
    before, after = (len(json.dumps(requested["messages"])) for requested in server.requested[-2:])
    assert after < before / 2


async def test_a_server_that_leaves_out_the_beginning_is_told_once(tmp_path: Path) -> None:
    with model_server(Turn("Yes.", usage=(300, 1))) as server:
        async with Toolbox(server.config(), "default", workspace=tmp_path) as box:
            chat = chat_of(box)
            events = [*await say(chat, FILLER * 700), *await say(chat, FILLER * 600)]
    notices = [e.text for e in events if isinstance(e, NoticeEvent)]
    assert len(notices) == 1
    assert "it left out the beginning" in notices[0]


async def test_stages_that_are_named_are_on(tmp_path: Path) -> None:
    with model_server(Turn("Late."), Turn("Yes.")) as server:
        async with Toolbox(server.config(), workspace=tmp_path) as box:
            chat = chat_of(box, "clock")
            await say(chat, "What time is it?")
            await say(chat, "Sure?")
            with pytest.raises(BadInput, match="There is no stage 'clok'"):
                chat_of(box, "clok")
    first, second = (requested["messages"] for requested in server.requested)
    assert first[1]["content"].startswith("What time is it?\n\n[")
    assert second[1] == first[1]
    assert chat.conversation.body[0]["content"] == "What time is it?"


async def test_without_the_guard_the_last_messages_go(tmp_path: Path) -> None:
    with model_server(Turn("a")) as server:
        config = server.config(max_messages=4) | {"guard": {"enabled": False}}
        async with Toolbox(config, "default", workspace=tmp_path) as box:
            chat = chat_of(box)
            for number in range(12):
                await say(chat, f"{number}")
    assert len(server.requested[-1]["messages"]) == 18
