"""The structure of a conversation: which messages belong together, and what is wrong in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.chatflow.prompt import SYSTEM_ROLES, PromptMessage, text_of, with_text

NO_RESULT = "[There is no result: the call was interrupted.]"
LOST_CALL = "[Result of a tool call that is no longer in the conversation]"


@dataclass(slots=True)
class ChatEntry:
    """A message with the hash of the conversation up to it, as the client sent it."""

    key: str
    message: PromptMessage

    @property
    def role(self) -> str:
        """Its role."""
        return str(self.message.get("role") or "")


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages that only go together: an assistant's message and the results of its calls."""

    start: int
    end: int


def head_end(entries: Sequence[ChatEntry]) -> int:
    """Where the head ends, which stays: system messages and the first message of the user."""
    at = 0
    while at < len(entries) and entries[at].role in SYSTEM_ROLES:
        at += 1
    return at + 1 if at < len(entries) and entries[at].role == "user" else at


def groups_of(entries: Sequence[ChatEntry], start: int) -> list[MessageGroup]:
    """The groups from a place on."""
    found: list[MessageGroup] = []
    for at in range(start, len(entries)):
        if entries[at].role == "tool" and found and found[-1].end == at:
            found[-1] = MessageGroup(found[-1].start, at + 1)
        else:
            found.append(MessageGroup(at, at + 1))
    return found


def calls_of(message: PromptMessage) -> list[dict[str, Any]]:
    """The calls of an assistant's message."""
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def call_ids(message: PromptMessage) -> list[str]:
    """The ids of its calls."""
    return [str(call.get("id") or "") for call in calls_of(message)]


def function_of(call: dict[str, Any]) -> tuple[str, str]:
    """Name and arguments of a call, the arguments as JSON text."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return str(function.get("name") or ""), str(function.get("arguments") or "")


def without_orphans(entries: Sequence[ChatEntry]) -> tuple[list[ChatEntry], int]:
    """The same conversation without orphans; how many there were.

    A result that stands too late moves to its call, a call that nobody answered gets a result
    that says so, and a result without a call becomes text. Calls at the very end are in flight
    and stay.
    """
    claimed = _claimed(entries)
    lost = [at for at, e in enumerate(entries) if e.role == "tool" and at not in claimed]
    done: list[ChatEntry] = []
    moved: set[int] = set()
    count = 0
    for at, entry in enumerate(entries):
        if at in claimed or at in moved:
            continue
        if entry.role == "tool":
            count += 1
            _add_as_text(done, entry, entries[at + 1 :])
            continue
        done.append(entry)
        calls = call_ids(entry.message) if entry.role == "assistant" else []
        answers, end = _answers(entries, at, calls)
        done += [entries[here] for here in sorted(answers)]
        for number, call in enumerate(calls):
            if number in answers.values():
                continue
            late = (a for a in lost if a > at and call and _id(entries[a]) == call)
            here = next(late, None)
            if here is not None:
                lost.remove(here)
                moved.add(here)
                done.append(entries[here])
            elif end < len(entries):
                result = {"role": "tool", "tool_call_id": call, "content": NO_RESULT}
                done.append(ChatEntry(f"{entry.key}+{number}", result))
            else:
                continue
            count += 1
    return done, count


def _claimed(entries: Sequence[ChatEntry]) -> set[int]:
    """Where the results stand that follow their calls."""
    found: set[int] = set()
    for at, entry in enumerate(entries):
        if entry.role == "assistant":
            found.update(_answers(entries, at, call_ids(entry.message))[0])
    return found


def _id(entry: ChatEntry) -> str:
    return str(entry.message.get("tool_call_id") or "")


def _answers(entries: Sequence[ChatEntry], at: int, calls: list[str]) -> tuple[dict[int, int], int]:
    """Where the results right behind a message stand, with the number of the call of each."""
    found: dict[int, int] = {}
    end = at + 1
    while end < len(entries) and entries[end].role == "tool":
        wanted = _id(entries[end])
        free = [number for number in range(len(calls)) if number not in found.values()]
        number = next((n for n in free if calls[n] == wanted), None)
        if number is None and not wanted and free:
            number = free[0]
        if number is not None:
            found[end] = number
        end += 1
    return found, end


def _add_as_text(done: list[ChatEntry], entry: ChatEntry, following: Sequence[ChatEntry]) -> None:
    """Put a result without a call where it makes no two messages of one role in a row."""
    text = f"{LOST_CALL}\n{text_of(entry.message)}"
    before = done[-1] if done else None
    if before is not None and before.role in ("assistant", "tool"):
        done[-1] = ChatEntry(before.key, with_text(before.message, text))
    elif following and following[0].role == "user":
        done.append(ChatEntry(entry.key, {"role": "assistant", "content": text}))
    else:
        done.append(ChatEntry(entry.key, {"role": "user", "content": text}))
