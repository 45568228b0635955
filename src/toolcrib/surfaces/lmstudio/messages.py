"""The messages of a chat in LM Studio's form, and the same in that of the OpenAI chat API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolcrib.chatflow.prompt import PromptMessage

ROLES = ("system", "user", "assistant", "tool")
IMAGE = "image"


def chat_messages(history: Any) -> list[PromptMessage]:
    """The messages of a history; what is none of the form is left out.

    Args:
        history: `{"messages": [{"role": …, "content": [parts]}]}`.
    """
    listed = history.get("messages") if isinstance(history, Mapping) else None
    found: list[PromptMessage] = []
    for message in listed if isinstance(listed, list) else ():
        if isinstance(message, Mapping) and message.get("role") in ROLES:
            found += _converted(str(message["role"]), list(parts_of(message)))
    return found


def parts_of(message: Mapping[str, Any], kind: str = "") -> Iterator[Mapping[str, Any]]:
    """The parts of a message, all or those of a kind."""
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and kind in ("", part.get("type")):
            yield part


def text_of_parts(message: Mapping[str, Any]) -> str:
    """The text of a message."""
    return "\n".join(str(part.get("text") or "") for part in parts_of(message, "text"))


def _converted(role: str, parts: list[Mapping[str, Any]]) -> list[PromptMessage]:
    if role == "tool":
        return [
            {
                "role": "tool",
                "tool_call_id": str(part.get("toolCallId") or ""),
                "content": str(part.get("content") or ""),
            }
            for part in parts
            if part.get("type") == "toolCallResult"
        ]
    texts = [_text(part) for part in parts]
    message: PromptMessage = {"role": role, "content": "\n".join(text for text in texts if text)}
    calls = [_call(part.get("toolCallRequest")) for part in parts]
    if role == "assistant" and any(calls):
        message["tool_calls"] = [call for call in calls if call]
    return [message]


def _text(part: Mapping[str, Any]) -> str:
    if part.get("type") == "text":
        return str(part.get("text") or "")
    if part.get("type") == "file":
        # A file that nobody read is named, so that the model knows of it.
        return f"[file: {part.get('name')}]"
    return ""


def _call(request: Any) -> dict[str, Any]:
    if not isinstance(request, Mapping):
        return {}
    function = {
        "name": str(request.get("name") or ""),
        "arguments": json.dumps(request.get("arguments") or {}, ensure_ascii=False),
    }
    return {"id": str(request.get("id") or ""), "type": "function", "function": function}
