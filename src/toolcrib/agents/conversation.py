"""The messages of a run, pruned so that no call loses its result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolcrib.text.tokens import estimate

Message = dict[str, Any]
MIN_RESULT_CHARS = 1_000
"""Characters down to which a result is cut where a model has no room for it."""
CUT_RESULT = "[the rest was left out: it is longer than the model can read]"
IMAGE_TOKENS = 1_000
"""About what a picture takes of a model's window."""
RESPONSE_MARK = "<tool_response>"
LEFT_OUT = "[{count} earlier messages are left out here. What they found still holds.]"


class Conversation:
    """The messages between a run and its model.

    Args:
        head: system prompt and task, which always stay.
        keep: how many of the other messages stay at most.
        earlier: messages that were said before.
    """

    def __init__(self, head: Sequence[Message], keep: int, earlier: Sequence[Message] = ()) -> None:
        self._head = list(head)
        self._body: list[Message] = list(earlier)
        self._keep = keep

    def __len__(self) -> int:
        return len(self._head) + len(self._body)

    def say(self, text: str, images: Sequence[str] = ()) -> None:
        """Add words of the user's side; two in a row become one, since templates want turns.

        Args:
            text: the words.
            images: pictures as data URLs.
        """
        content: Any = text
        if images:
            parts = [{"type": "image_url", "image_url": {"url": image}} for image in images]
            content = [{"type": "text", "text": text}, *parts]
        last = self._body[-1] if self._body else None
        if last is not None and last["role"] == "user":
            last["content"] = _joined(last["content"], content)
        elif last is None and self._head and self._head[-1]["role"] == "user":
            task = self._head[-1]
            self._head[-1] = {**task, "content": _joined(task["content"], content)}
        else:
            self._body.append({"role": "user", "content": content})

    def take_back(self) -> Message | None:
        """Forget the last thing that the user said, and all that came of it."""
        for at in range(len(self._body) - 1, -1, -1):
            message = self._body[at]
            if message["role"] == "user" and not content_text(message).startswith(RESPONSE_MARK):
                del self._body[at:]
                return message
        return None

    def add(self, message: Message) -> None:
        """Add a message as it is."""
        self._body.append(message)

    def messages(self) -> list[Message]:
        """What the model is sent."""
        body = pruned(self._body, self._keep)
        left_out = len(self._body) - len(body)
        if not left_out:
            return [*self._head, *body]
        note = LEFT_OUT.format(count=left_out)
        head = [*self._head]
        if head and head[-1]["role"] == "user":
            head[-1] = {**head[-1], "content": f"{head[-1]['content']}\n\n{note}"}
        else:
            body = [{"role": "user", "content": note}, *body]
        return [*head, *body]

    def shrink(self) -> bool:
        """Keep half as many from now on, at last half of the longest result.

        False when there is nothing left to leave out.
        """
        if self._keep <= 2 or len(self._body) <= 2:
            return self._cut_longest()
        self._keep = max(2, min(self._keep, len(self._body)) // 2)
        return True

    def _cut_longest(self) -> bool:
        results = [at for at, m in enumerate(self._body) if m["role"] == "tool"]
        longest = max(results, key=lambda at: len(self._body[at]["content"]), default=None)
        if longest is None or len(self._body[longest]["content"]) <= MIN_RESULT_CHARS:
            return False
        message = self._body[longest]
        half = message["content"][: len(message["content"]) // 2]
        self._body[longest] = {**message, "content": f"{half}\n{CUT_RESULT}"}
        return True

    @property
    def body(self) -> list[Message]:
        """All messages behind the head, also those that are no longer sent."""
        return list(self._body)

    def close_calls(self, content: str) -> None:
        """Give each call without a result this one, after a step that was cut short."""
        answered = {m["tool_call_id"] for m in self._body if m["role"] == "tool"}
        last = next((m for m in reversed(self._body) if m["role"] != "tool"), None)
        for call in (last or {}).get("tool_calls") or ():
            if call["id"] not in answered:
                self.add({"role": "tool", "tool_call_id": call["id"], "content": content})

    def replace_head(self, head: Sequence[Message]) -> None:
        """Put another head before the rest."""
        self._head = list(head)

    @property
    def tokens(self) -> int:
        """Tokens of all of it, estimated."""
        return estimate_tokens(self.messages())


def pruned(messages: Sequence[Message], keep: int) -> list[Message]:
    """The last messages, from a place where no result stands without its call."""
    if len(messages) <= keep:
        return list(messages)
    start = len(messages) - keep
    # A group is an assistant's message with the results that follow it.
    while start < len(messages) and messages[start]["role"] == "tool":
        start += 1
    if start == len(messages):  # one group is longer than what may stay: it stays whole
        start = len(messages) - 1
        while start and messages[start]["role"] == "tool":
            start -= 1
    return list(messages[start:])


def in_turns(messages: Iterable[Message]) -> list[Message]:
    """The messages with those of the user that follow one another as one: templates want turns."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1]["role"] == message["role"] == "user":
            found[-1] = {**found[-1], "content": _joined(found[-1]["content"], message["content"])}
        else:
            found.append(message)
    return found


def _joined(first: Any, second: Any) -> Any:
    """Two contents as one: words, or parts where there are pictures."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    parts = [[{"type": "text", "text": c}] if isinstance(c, str) else c for c in (first, second)]
    return [*parts[0], *parts[1]]


def as_text(message: Message) -> Message:
    """A message without calls or results of its own kind."""
    if message["role"] == "tool":
        return {
            "role": "user",
            "content": f"{RESPONSE_MARK}\n{message['content']}\n</tool_response>",
        }
    calls = message.get("tool_calls")
    if not calls:
        return message
    parts = [message.get("content") or ""]
    for call in calls:
        function = call["function"]
        parts.append(
            f'<tool_call>\n{{"name": {json.dumps(function["name"])}, '
            f'"arguments": {function["arguments"]}}}\n</tool_call>'
        )
    return {"role": "assistant", "content": "\n".join(part for part in parts if part)}


def content_text(message: Mapping[str, Any]) -> str:
    """The words of a message, without pictures."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n\n".join(part["text"] for part in content if part["type"] == "text")


def images_of(message: Mapping[str, Any]) -> list[str]:
    """The pictures of a message, as data URLs."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return []
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


def estimate_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of messages, estimated."""
    total = 0
    for message in messages:
        total += 4 + estimate(content_text(message))
        total += IMAGE_TOKENS * len(images_of(message))
        for call in message.get("tool_calls", ()):
            total += 8 + estimate(str(call["function"]["arguments"]))
    return total
