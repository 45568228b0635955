"""Streams of answers in each dialect, as servers send them, and what a client makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

Read = tuple[str, list[tuple[str, Any]], str]


def event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def events_of(stream: bytes) -> Iterator[dict[str, Any]]:
    for frame in stream.decode().split("\n\n"):
        if "data: {" in frame:
            yield json.loads(frame.split("data: ", 1)[1])


def messages_stream(pieces: Sequence[str]) -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}
    message |= {"stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    out = event({"type": "message_start", "message": message})
    block = {"type": "text", "text": ""}
    out += event({"type": "content_block_start", "index": 0, "content_block": block})
    out += event({"type": "ping"})
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        out += event({"type": "content_block_delta", "index": 0, "delta": delta})
    out += event({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    out += event({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}})
    return out + event({"type": "message_stop"})


def read_messages(stream: bytes) -> Read:
    blocks: list[list[str]] = []
    reason, open_at = "", -1
    for value in events_of(stream):
        kind, index = value["type"], value.get("index", -1)
        if kind == "content_block_start":
            assert (index, open_at) == (len(blocks), -1)
            open_at = index
            blocks.append([value["content_block"]["type"], value["content_block"].get("name"), ""])
        elif kind == "content_block_delta":
            assert index == open_at
            delta = value["delta"]
            kinds = ("text", "partial_json", "thinking")
            blocks[index][2] += next(delta[name] for name in kinds if name in delta)
        elif kind == "content_block_stop":
            assert index == open_at
            open_at = -1
        elif kind == "message_delta":
            assert open_at == -1
            reason = value["delta"]["stop_reason"]
    text = "".join(body for kind, _, body in blocks if kind == "text")
    calls = [(name, json.loads(body)) for kind, name, body in blocks if kind == "tool_use"]
    return text, calls, reason


def ollama_stream(pieces: Sequence[str]) -> bytes:
    lines: list[dict[str, Any]] = [
        {"message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces
    ]
    end = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    return b"".join(
        json.dumps({"model": "m", **line}, ensure_ascii=False).encode() + b"\n"
        for line in [*lines, end]
    )


def read_ollama(stream: bytes) -> Read:
    text, calls, reason = "", [], ""
    for line in stream.decode().split("\n"):
        if not line:
            continue
        assert not reason
        value = json.loads(line)
        text += value["message"]["content"]
        for call in value["message"].get("tool_calls", ()):
            calls.append((call["function"]["name"], call["function"]["arguments"]))
        reason = value.get("done_reason", "")
    return text, calls, reason


def responses_stream(pieces: Sequence[str]) -> bytes:
    numbers = count()
    text = "".join(pieces)
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
    item["status"] = "completed"
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}

    def numbered(kind: str, **more: Any) -> bytes:
        return event({"type": f"response.{kind}", "sequence_number": next(numbers), **more})

    whole = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": "in_progress",
    }  # fmt: skip
    out = numbered("created", response=whole)
    begun = {**item, "content": [], "status": "in_progress"}
    out += numbered("output_item.added", output_index=0, item=begun)
    out += numbered("content_part.added", **place, part={**part, "text": ""})
    for piece in pieces:
        out += numbered("output_text.delta", **place, delta=piece)
    out += numbered("output_text.done", **place, text=text)
    out += numbered("content_part.done", **place, part=part)
    out += numbered("output_item.done", output_index=0, item=item)
    done = {**whole, "output": [item], "status": "completed"}
    return out + numbered("completed", response=done)


def read_responses(stream: bytes) -> Read:
    text, calls, reason, last = "", [], "", -1
    for value in events_of(stream):
        assert value["sequence_number"] > last
        last = value["sequence_number"]
        kind = value["type"].removeprefix("response.")
        if kind == "output_text.delta":
            text += value["delta"]
        elif kind == "output_text.done":
            assert value["text"] == text
        elif kind == "function_call_arguments.done":
            calls.append((value["name"], json.loads(value["arguments"])))
        elif kind == "completed":
            first, *rest = value["response"]["output"]
            assert first["content"][0]["text"] == text
            assert [(i["name"], json.loads(i["arguments"])) for i in rest] == calls
            reason = "completed"
    return text, calls, reason
