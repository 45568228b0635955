"""The stage `repeats`: a word to a model that makes the same call again and again."""

from __future__ import annotations

import json
import re
from typing import Any

from toolcrib.chatflow.prompt import Prompt, PromptMessage, StageContext, text_of, with_text

DURATION = re.compile(r"\d+(\.\d+)? ?m?s\b")
"""What differs between two runs of the same thing."""
REMINDER = (
    "[Reminder: this very call was made {count} times in a row, with the same result. "
    "Do something else, or answer with what there is.]"
)


async def repeats(prompt: Prompt, context: StageContext) -> None:
    """Add a reminder to each result that is the same call's once more, whoever runs the tools.

    It follows from the messages alone, so that it stands there byte for byte in later requests.
    """
    limit = context.config.limits.repeats
    places = repeated(prompt.messages, limit) if limit else {}
    for at, count in places.items():
        prompt.messages[at] = with_text(prompt.messages[at], REMINDER.format(count=count))
        prompt.changed = True
    prompt.note("repeats", f"{len(places)} reminders")


def repeated(messages: list[PromptMessage], limit: int) -> dict[int, int]:
    """Where results of equal calls stand, from the one of this number in a row on."""
    calls: dict[str, str] = {}
    found: dict[int, int] = {}
    before, count = None, 0
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            if isinstance(call, dict):
                calls[str(call.get("id"))] = _call_text(call)
        if message.get("role") == "user":
            before, count = None, 0
        elif message.get("role") == "tool":
            call_text = calls.get(str(message.get("tool_call_id")))
            mark = (call_text, DURATION.sub("", text_of(message)))
            count = count + 1 if mark == before and call_text is not None else 1
            before = mark
            if count >= limit:
                found[at] = count
    return found


def _call_text(call: dict[str, Any]) -> str:
    """A call as text that is the same however its arguments are written."""
    function = call.get("function")
    if not isinstance(function, dict):
        return ""
    arguments = function.get("arguments")
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        value = arguments
    return json.dumps([function.get("name"), value], sort_keys=True, default=str)
