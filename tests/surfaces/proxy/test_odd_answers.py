"""Answers and requests of any shape: nothing is raised, and what is not understood goes through."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.cases import each_case
from tests.surfaces.proxy.proxies import CALL, TOOL
from toolcrib.surfaces.proxy.chat_mender import ChatStreamMender, mended_chat
from toolcrib.surfaces.proxy.messages_mender import MessagesStreamMender, mended_messages
from toolcrib.surfaces.proxy.ollama_mender import OllamaStreamMender, mended_ollama
from toolcrib.surfaces.proxy.own_calls import OwnCallFilter
from toolcrib.surfaces.proxy.prompt_forms import prompt_form, prompt_of
from toolcrib.surfaces.proxy.responses_mender import ResponsesStreamMender, mended_response

TEXTS = ["", "Hi", "get_weather", '{"city": "A"}', CALL, "<tool_call>", "</tool_call>", "\ud800",
         "text", "tool_use", "tool_result", "function_call", "function_call_output", "message",
         "assistant", "user", "stop", "<think>"]  # fmt: skip
KEYS = ["choices", "delta", "content", "tool_calls", "function", "name", "arguments", "id", "index",
        "finish_reason", "message", "role", "type", "text", "input", "output", "item",
        "part"]  # fmt: skip
BLOCKS = ["start", "delta", "stop"]
EVENTS = ["output_text.delta", "output_item.added", "output_item.done", "completed",
          "function_call_arguments.delta", "function_call_arguments.done",
          "output_text.done", "content_part.done"]  # fmt: skip


class Odd:
    """Makes values that look like answers, with anything in any place."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def value(self, depth: int = 3) -> Any:
        kind = self.random.random()
        if depth <= 0 or kind < 0.4:
            return self.random.choice([None, True, 0, 1, -1, 2.5, *TEXTS])
        size = range(self.random.randint(0, 4))
        if kind < 0.6:
            return [self.value(depth - 1) for _ in size]
        return {self.random.choice(KEYS): self.value(depth - 1) for _ in size}

    def either(self, *choices: Any) -> Any:
        return self.random.choice([*choices, self.value()])

    def call(self) -> Any:
        function = {"name": self.either("get_weather", "", 7), "arguments": self.either(*TEXTS)}
        return {
            "index": self.either(0, 0, 1, None, "x", []),
            "id": self.either("a", "b", None, 7),
            "function": self.either(function, function, None),
        }

    def chat(self) -> Any:
        delta = {
            "content": self.either(*TEXTS, None),
            "tool_calls": self.either([self.call()], [self.call(), self.call()], None),
        }
        some = {key: item for key, item in delta.items() if self.random.random() < 0.6}
        end = self.either("stop", None, None)
        choice = {"index": self.either(0, 0, 1), "delta": self.either(some, some, some)}
        return {"choices": self.either([{**choice, "finish_reason": end}])}

    def messages(self) -> Any:
        use = {"type": "tool_use", "id": "t", "name": "get_weather"}
        return {
            "type": self.either(*(f"content_block_{kind}" for kind in BLOCKS), "message_delta"),
            "index": self.either(0, 0, 1),
            "content_block": self.either({"type": "text"}, use),
            "delta": self.either(
                {"type": "text_delta", "text": self.either(*TEXTS)},
                {"type": "input_json_delta", "partial_json": self.either(*TEXTS)},
                {"stop_reason": "end_turn"},
            ),
        }

    def responses(self) -> Any:
        text = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "x"}]}
        item = self.either(text, {"type": "function_call", "id": "f", "name": "get_weather"})
        return {
            "type": "response." + self.random.choice(EVENTS),
            "item_id": self.either("m", "f"),
            "output_index": self.either(0, 1),
            "content_index": self.either(0),
            "delta": self.either(*TEXTS),
            "item": item,
            "part": self.either(text["content"]),
            "response": self.either({"output": [item]}),
        }

    def ollama(self) -> Any:
        message = {"content": self.either(*TEXTS), "tool_calls": self.either(None)}
        return {"message": self.either(message, message), "done": self.either(False, True)}


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


@each_case("dialect", ["chat", "messages", "responses", "ollama"])
def test_streams(dialect: str) -> None:
    makers: dict[str, Any] = {
        "chat": ChatStreamMender,
        "messages": MessagesStreamMender,
        "responses": ResponsesStreamMender,
        "ollama": OllamaStreamMender,
    }
    for seed in range(600):
        odd = Odd(seed)
        values = [getattr(odd, dialect)() for _ in range(5)]
        stream = b"".join(
            json.dumps(value).encode() + b"\n" if dialect == "ollama" else event(value)
            for value in values
        )
        mender = makers[dialect]([TOOL])
        out = mender.feed(stream) + mender.close()
        if dialect == "chat":
            own = OwnCallFilter(["get_weather"])
            own.feed(out)
            own.close()
            own.ending()


def test_whole_answers() -> None:
    for seed in range(600):
        odd = Odd(seed)
        message = {"content": odd.value(), "tool_calls": odd.either([odd.call()])}
        mended_chat({"choices": odd.either([{"message": odd.either(message)}])}, [TOOL])
        mended_messages({"content": odd.either([odd.value() for _ in range(3)])}, [TOOL])
        mended_ollama({"message": odd.either(message)}, [TOOL])
        mended_response({"output": odd.either([odd.responses()["item"]])}, [TOOL])


@each_case("name", ["chat", "messages", "responses", "ollama"])
def test_requests_that_nothing_changes_stay(name: str) -> None:
    key = "input" if name == "responses" else "messages"
    for seed in range(400):
        odd = Odd(seed)
        fields = ("content", "tool_calls", "tool_call_id", "output", "call_id", "arguments")
        listed = [
            {"role": odd.either(*TEXTS), "type": odd.either(*TEXTS)}
            | {field: odd.value() for field in fields}
            for _ in range(3)
        ]
        body = {key: listed, "system": odd.value(), "tools": odd.value(), "options": odd.value()}
        form = prompt_form(name, body)
        assert form is not None
        prompt_of(body, form, "")
        assert form.body_with(form.messages)[key] == listed
        form.body_with([dict(message) for message in form.messages])
