"""The conversations of each dialect in the form of the OpenAI chat API, and back.

What stages did not touch goes back as it came: a message of the client is kept beside the ones
that were made of it, and used again where all of these are still there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.chatflow.prompt import SYSTEM_ROLES, Prompt, PromptMessage, text_of

Native = dict[str, Any]


@dataclass(slots=True)
class _Unit:
    """Messages of the client that belong together, and what they are in the chat form."""

    natives: list[Any]
    messages: list[PromptMessage] = field(default_factory=list)


class PromptForm:
    """One request's conversation.

    Args:
        body: the request.
        units: its messages.
        key: the field that holds them.
        convert: makes messages of the dialect of one in the chat form.
        system_key: the field that holds the system text by itself, where the dialect has one.
    """

    def __init__(
        self,
        body: dict[str, Any],
        units: Sequence[_Unit],
        key: str,
        convert: Callable[[PromptMessage], list[Any]],
        system_key: str = "",
    ) -> None:
        self._body = body
        self._units = list(units)
        self._key = key
        self._convert = convert
        self._system_key = system_key
        self._system: PromptMessage | None = None
        system = _system_text(body.get(system_key)) if system_key else ""
        if system:
            self._system = {"role": "system", "content": system}

    @property
    def messages(self) -> list[PromptMessage]:
        """All messages in the chat form."""
        head = [self._system] if self._system is not None else []
        return head + [message for unit in self._units for message in unit.messages]

    def body_with(self, messages: Sequence[PromptMessage]) -> dict[str, Any]:
        """The request with these messages."""
        rest = list(messages)
        body = dict(self._body)
        if self._system_key:
            system: list[PromptMessage] = []
            while rest and rest[0].get("role") in SYSTEM_ROLES:
                system.append(rest.pop(0))
            if system != ([self._system] if self._system is not None else []):
                text = "\n\n".join(filter(None, map(text_of, system)))
                body[self._system_key] = _system_value(self._body.get(self._system_key), text)
        body[self._key] = self._natives(rest)
        return body

    def _natives(self, messages: Sequence[PromptMessage]) -> list[Any]:
        firsts = {id(unit.messages[0]): unit for unit in self._units if unit.messages}
        natives: list[Any] = []
        made: list[Any] = []
        at = 0
        while at < len(messages):
            unit = firsts.get(id(messages[at]))
            if unit is not None:
                count = len(unit.messages)
                same = messages[at : at + count]
                if len(same) == count and all(
                    a is b for a, b in zip(same, unit.messages, strict=True)
                ):
                    natives += self._merged(natives, unit.natives, made)
                    at += count
                    continue
            converted = self._convert(messages[at])
            made += converted
            natives += self._merged(natives, converted, made)
            at += 1
        return natives

    def _merged(self, before: list[Any], more: list[Any], made: list[Any]) -> list[Any]:
        """Messages to add; results of the calls of one answer have to stand in one message."""
        if self._system_key != "system" or not before or len(more) != 1:
            return more
        last, (new,) = before[-1], more
        is_user = last.get("role") == new.get("role") == "user"
        if not is_user or not any(one is last or one is new for one in made):
            return more
        joined = {"role": "user", "content": _blocks(last) + _blocks(new)}
        made.append(joined)
        before[-1] = joined
        return []


def prompt_form(name: str, body: dict[str, Any]) -> PromptForm | None:
    """The conversation of a request; None where it has none that is understood."""
    key = "input" if name == "responses" else "messages"
    listed = body.get(key)
    if name == "responses" and isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        return None
    if name == "chat":
        return PromptForm(body, [_Unit([one], [one]) for one in listed], key, lambda m: [m])
    if name == "ollama":
        return PromptForm(body, _ollama_units(listed), key, _to_ollama)
    if name == "messages":
        return PromptForm(body, list(map(_anthropic_unit, listed)), key, _to_anthropic, "system")
    if name == "responses":
        return PromptForm(body, _response_units(listed), key, _to_responses, "instructions")
    return None


def prompt_of(body: dict[str, Any], form: PromptForm, owner: str) -> Prompt:
    """The prompt that stages work on."""
    tools = body.get("tools")
    choice = body.get("tool_choice")
    chosen = choice.get("type") if isinstance(choice, dict) else choice
    options = body.get("options")
    limits = (
        *(body.get(k) for k in ("max_completion_tokens", "max_tokens", "max_output_tokens")),
        options.get("num_predict") if isinstance(options, dict) else None,
    )
    answer = next((n for n in limits if isinstance(n, int) and n > 0), 0)
    model = body.get("model")
    return Prompt(
        form.messages,
        tools=[tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else [],
        model=model if isinstance(model, str) else "",
        owner=owner,
        answer_tokens=answer,
        has_tool_choice=chosen not in (None, "auto"),
        server_keeps_history=bool(body.get("previous_response_id") or body.get("conversation")),
    )


def _system_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return text_of({"content": value}) if isinstance(value, list) else ""


def _system_value(native: Any, text: str) -> Any:
    """The system text in the form it came in; blocks that are still right stay as they are."""
    if not isinstance(native, list):
        return text
    before = _system_text(native)
    if before and text.startswith(before):
        rest = text[len(before) :].lstrip("\n")
        return [*native, {"type": "text", "text": rest}] if rest else native
    return [{"type": "text", "text": text}]


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments or {}
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {"text": arguments}


def _chat_call(call_id: str, name: Any, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


# Ollama: calls without ids, arguments as objects.


def _ollama_units(listed: Sequence[Native]) -> list[_Unit]:
    units: list[_Unit] = []
    open_ids: list[str] = []
    for number, native in enumerate(listed):
        message: PromptMessage = {"role": native.get("role"), "content": native.get("content", "")}
        calls = native.get("tool_calls")
        if isinstance(calls, list) and calls:
            found = [call for call in calls if isinstance(call, dict)]
            open_ids = []
            message["tool_calls"] = []
            for place, call in enumerate(found):
                function = call.get("function")
                function = function if isinstance(function, dict) else {}
                call_id = str(call.get("id") or f"o{number}_{place}")
                open_ids.append(call_id)
                made = _chat_call(call_id, function.get("name"), function.get("arguments") or {})
                message["tool_calls"].append(made)
        elif native.get("role") == "tool":
            given = native.get("tool_call_id")
            message["tool_call_id"] = str(given or (open_ids.pop(0) if open_ids else f"o{number}"))
        units.append(_Unit([native], [message]))
    return units


def _to_ollama(message: PromptMessage) -> list[Any]:
    native: Native = {"role": message.get("role"), "content": text_of(message)}
    if message.get("images"):
        native["images"] = message["images"]
    calls = message.get("tool_calls")
    if calls:
        native["tool_calls"] = [
            {
                "function": {
                    "name": call["function"]["name"],
                    "arguments": _parsed(call["function"].get("arguments")),
                }
            }
            for call in calls
        ]
    return [native]


# Anthropic's messages: results of tools are blocks of the user's messages.


def _anthropic_unit(native: Native) -> _Unit:
    role, content = native.get("role"), native.get("content")
    if not isinstance(content, list):
        return _Unit([native], [{"role": role, "content": content or ""}])
    messages: list[PromptMessage] = []
    parts: list[Any] = []
    calls: list[dict[str, Any]] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_result":
            text = block.get("content")
            inner = text if isinstance(text, str) else text_of({"content": text})
            messages.append(
                {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": inner}
            )
        elif kind == "tool_use":
            made = _chat_call(str(block.get("id")), block.get("name"), block.get("input") or {})
            calls.append(made)
        elif kind not in ("thinking", "redacted_thinking"):
            parts.append(block)
    if parts or calls or not messages:
        message: PromptMessage = {"role": role, "content": parts}
        if calls:
            message["tool_calls"] = calls
        messages.append(message)
    return _Unit([native], messages)


def _blocks(message: Native) -> list[Any]:
    content = message.get("content")
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _to_anthropic(message: PromptMessage) -> list[Any]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        block = {
            "type": "tool_result",
            "tool_use_id": message.get("tool_call_id"),
            "content": text_of(message),
        }
        return [{"role": "user", "content": [block]}]
    blocks = content if isinstance(content, list) else []
    if isinstance(content, str) and content:
        blocks = [{"type": "text", "text": content}]
    blocks = [*blocks]
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        blocks.append(
            {
                "type": "tool_use",
                "id": call.get("id"),
                "name": function.get("name"),
                "input": _parsed(function.get("arguments")),
            }
        )
    return [{"role": "assistant" if role == "assistant" else "user", "content": blocks}]


# The responses API: calls and their outputs are items of their own.


def _response_units(listed: Sequence[Native]) -> list[_Unit]:
    units: list[_Unit] = []
    waiting: list[Any] = []
    last: _Unit | None = None
    for item in listed:
        kind = item.get("type", "message")
        if kind == "function_call":
            call = _chat_call(
                str(item.get("call_id")), item.get("name"), item.get("arguments") or "{}"
            )
            if last is not None and not waiting:
                last.natives.append(item)
                last.messages[0]["tool_calls"] = [*last.messages[0].get("tool_calls", ()), call]
                continue
            message = {"role": "assistant", "content": "", "tool_calls": [call]}
            last = _Unit([*waiting, item], [message])
            waiting = []
            units.append(last)
        elif kind == "function_call_output":
            output = item.get("output")
            text = output if isinstance(output, str) else _response_text(output)
            made = {"role": "tool", "tool_call_id": item.get("call_id"), "content": text}
            units.append(_Unit([*waiting, item], [made]))
            waiting, last = [], None
        elif kind == "message":
            role = item.get("role")
            content = item.get("content")
            if isinstance(content, list):
                content = [_as_text_part(part) for part in content]
            unit = _Unit([*waiting, item], [{"role": role, "content": content or ""}])
            waiting, last = [], unit if role == "assistant" else None
            units.append(unit)
        else:
            waiting.append(item)
    if waiting:
        units.append(_Unit(waiting, [{"role": "assistant", "content": _response_text(waiting)}]))
    return units


def _as_text_part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("input_text", "output_text", "text"):
        return {"type": "text", "text": part.get("text", "")}
    return part


def _response_text(value: Any) -> str:
    text = text_of({"content": value})
    return text or ("" if value in (None, []) else json.dumps(value, ensure_ascii=False))


def _to_responses(message: PromptMessage) -> list[Any]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        return [
            {
                "type": "function_call_output",
                "call_id": message.get("tool_call_id"),
                "output": text_of(message),
            }
        ]
    kind = "output_text" if role == "assistant" else "input_text"
    given = content if isinstance(content, list) else [{"type": "text", "text": content}]
    parts = [
        {"type": kind, "text": part.get("text")}
        if isinstance(part, dict) and part.get("type") == "text"
        else part
        for part in given
        if part
    ]
    items: list[Any] = []
    if text_of(message) or not message.get("tool_calls"):
        items.append({"type": "message", "role": role, "content": parts})
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        items.append(
            {
                "type": "function_call",
                "call_id": call.get("id"),
                "name": function.get("name"),
                "arguments": function.get("arguments") or "{}",
            }
        )
    return items
