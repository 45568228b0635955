"""A model's reply, parsed: its tool calls (native or in the text), end and handoff markers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolcrib.core.names import plain
from toolcrib.net.models.completion import CLOSED, Completion, SentCall
from toolcrib.system.threads import content_id
from toolcrib.text.json_values import json_object

if TYPE_CHECKING:
    from toolcrib.toolcalls.output import ParsedText


CUT_OFF_PROBLEM = "cut off"
MAX_CALL_CHARS = 20_000
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}")
_NAMED_CALL = re.compile(r"`?([A-Za-z_][\w.-]{0,63}) ?(\{.*\})`?", re.DOTALL)
_BROKEN_CALL = re.compile(
    r"(?:```\w*)?\s*[\[{][\s\[{\"]{0,20}name\"\s*:\s*\"[A-Za-z_][\w.-]{0,63}\"\s*,\s*"
    r"\"(?:arguments|parameters)\"\s*:"
)
MANY_KEYS = 3
"""Keys of JSON in the last line of an answer that was cut off within a call."""
BROKEN_CALL_PROBLEM = "it is JSON of a call, and does not parse"


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """One call. `arguments` is None where they could not be read."""

    name: str
    arguments: Mapping[str, Any] | None
    id: str

    def message(self) -> dict[str, Any]:
        """The call as it stands in an assistant's message."""
        text = json.dumps(dict(self.arguments or {}), ensure_ascii=False)
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": text},
        }


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """An answer, parsed: its text, its calls, and what could not be read of them.

    Calls in reasoning are no calls, nor is one that was cut off.
    """

    text: str
    calls: list[RequestedCall] = field(default_factory=list)
    problem: str = ""


def parse_reply(
    answer: Completion,
    tools: Sequence[Mapping[str, Any]],
    used: set[str],
    *,
    lenient: bool = False,
) -> ParsedReply:
    """What an answer asks for.

    Args:
        answer: a complete one.
        tools: those on offer, in the OpenAI form.
        used: the ids of earlier calls of this run; new ones are added.
        lenient: take an answer that is nothing but a call, of whatever tool, for one, and one
            that begins as a call and cannot be read for a broken one.
    """
    from toolcrib.toolcalls import parse_tool_calls

    parsed = parse_tool_calls(answer.content, list(tools))
    text = str(parsed.content).strip()
    cut = answer.finish in ("length", CLOSED)
    if answer.calls:
        calls = [
            RequestedCall(c.name.strip(), _arguments(c), _id(c.id, c.name, place, used))
            for place, c in enumerate(answer.calls)
        ]
        # Of a call that was just begun, no arguments are no arguments `{}`.
        begun = [cut and not c.arguments.strip() for c in answer.calls]
        broken = [
            call
            for call, empty in zip(calls, begun, strict=True)
            if call.arguments is None or not call.name or empty
        ]
        if cut and broken:  # the last one was being written when the room ran out
            return ParsedReply(text, [c for c in calls if c not in broken], CUT_OFF_PROBLEM)
        if all(not call.name for call in calls):
            return ParsedReply(text, [], "a call without a name")
        return ParsedReply(text, [c for c in calls if c.name])
    calls = [
        RequestedCall(c.name, c.arguments, _id(c.id, c.name, place, used))
        for place, c in enumerate(parsed.calls)
    ]
    problem = _problem(parsed, text)
    if lenient and not calls and not problem and (alone := _call_alone(text, tools)):
        name, arguments = alone
        return ParsedReply("", [RequestedCall(name, arguments, _id("", name, 0, used))])
    if lenient and not calls and not problem and _is_broken_call(text):
        problem = BROKEN_CALL_PROBLEM  # shown as the answer it would tell nobody anything
    return ParsedReply(text, calls, problem)


def _arguments(call: SentCall) -> dict[str, Any] | None:
    """The arguments of a call; what is no JSON is read as kindly as by the proxy."""
    from toolcrib.toolcalls.values import as_arguments

    found = call.parsed()
    return as_arguments(call.arguments) if found is None else found


def _is_broken_call(text: str) -> bool:
    """Whether an answer begins as a call in JSON does, ends within JSON, and is none."""
    last = text[text.rfind("\n", 0, -4) + 1 :]
    if not _BROKEN_CALL.match(text) or not (
        text.endswith(("}", "]", '"', "```")) or last.count('":') >= MANY_KEYS
    ):
        return False
    inside = _FENCED.fullmatch(text)
    try:
        json.loads(inside[1] if inside else text)
    except (ValueError, RecursionError):
        return True
    return False


def _call_alone(
    text: str, tools: Sequence[Mapping[str, Any]]
) -> tuple[str, Mapping[str, Any]] | None:
    """The call that is all of an answer, of whatever tool.

    The parser takes a call of an unknown tool for words. Where it is the whole answer it was meant:
    small models make up names, and the error names the tools that there are.
    """
    inside = _FENCED.fullmatch(text)
    text = inside[1] if inside else text
    if len(text) > MAX_CALL_CHARS:
        return None
    named = _NAMED_CALL.fullmatch(text)  # as hints write a call
    try:
        value = json.loads(named[2] if named else text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if named:
        known = {plain(tool.get("function", {}).get("name", "")) for tool in tools}
        return (named[1], value) if plain(named[1]) in known else None
    name, arguments = value.get("name"), value.get("arguments")
    if value.keys() != {"name", "arguments"} or not isinstance(arguments, dict):
        return None
    return (name, arguments) if isinstance(name, str) and _NAME.fullmatch(name) else None


def _problem(parsed: ParsedText, text: str) -> str:
    """What could not be read, in words; a call in reasoning matters where nothing else is."""
    for found in parsed.diagnostics:
        if found.code == "truncated":
            return CUT_OFF_PROBLEM
        if found.code != "in_reasoning" or not (text or parsed.calls):
            return " ".join(found.message.split())[:200]
    return ""


def _id(given: str, name: str, place: int, used: set[str]) -> str:
    """An id that no earlier call of the run has."""
    found = given or f"call_{content_id(name, str(place), str(len(used)))}"
    while found in used:
        found = f"call_{content_id(found, str(len(used)))}"
    used.add(found)
    return found


FENCE = re.compile(r" {0,3}(```+|~~~+)")
TASK_END = re.compile(r"[\s*_#]*TASK_(COMPLETED|FAILED)\b[*_]*")
HANDOFF_START = re.compile(r"\[HANDOFF_MESSAGE\]", re.IGNORECASE)
HANDOFF_END = re.compile(r"\[/HANDOFF_MESSAGE\]", re.IGNORECASE)
HANDOFF_FIELDS = ("handoff_message", "handoffMessage", "handoff", "HANDOFF_MESSAGE")
ANSWER_FIELDS = ("answer", "result", "summary", "output", "response", "message")
MAX_JSON_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text without its markers, and what they say. `end` is "completed", "failed" or empty."""

    text: str
    end: str = ""
    handoff: str = ""


def read_markers(content: str) -> MarkedText:
    """Take the marks out of an answer. Give it no reasoning: marks there do not count.

    The end counts on a line of its own, outside code; the last one wins. So does the last
    handoff message, which goes to the end of the text where it is not closed.
    """
    text, handoff = _handoff(content)
    end, remaining = "", []
    for line, in_code in lines_of(text):
        found = None if in_code else TASK_END.match(line)
        rest = line[found.end() :].strip() if found else ""
        if found is None or (rest.strip("*_ ") and rest[0] not in ":.!-\u2013\u2014"):
            remaining.append(line)
            continue
        end = found[1].lower()
        if rest[1:].strip("*_ "):
            remaining.append(rest[1:].strip())
    text = "\n".join(remaining).strip() if end else text.strip()
    if not handoff:
        text, handoff = _from_json(text)
    return MarkedText(text, end, handoff)


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a text, each with whether it belongs to a block of code."""
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            yield line, True
            closes = mark and mark[1].startswith(fence) and not line.strip(" \t`~\r")
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
            yield line, True
        else:
            yield line, False


def _handoff(content: str) -> tuple[str, str]:
    opened = list(HANDOFF_START.finditer(content))
    if not opened:
        return content, ""
    remaining, at, message = [], 0, ""
    for place, start in enumerate(opened):
        if start.start() < at:
            continue
        remaining.append(content[at : start.start()])
        after = opened[place + 1].start() if place + 1 < len(opened) else len(content)
        closed = HANDOFF_END.search(content, start.end(), after)
        end = closed.start() if closed else after
        message = content[start.end() : end].strip() or message
        at = closed.end() if closed else after
    return "".join([*remaining, content[at:]]), message


def _from_json(text: str) -> tuple[str, str]:
    """A handoff message in a field of an answer that is JSON, or of a block of it."""
    if not any(name in text for name in HANDOFF_FIELDS):
        return text, ""
    whole = _object(text)
    if whole is not None:
        message = _field(whole, HANDOFF_FIELDS)
        return (_field(whole, ANSWER_FIELDS) or text, message) if message else (text, "")
    found = ""
    for block in re.findall(
        r"(?:^|\n)```(?:json)?[ \t]*\n(.*?)\n```", text[:MAX_JSON_CHARS], re.DOTALL
    ):
        value = _object(block)
        found = (_field(value, HANDOFF_FIELDS) if value is not None else "") or found
    return text, found


def _object(text: str) -> dict[str, Any] | None:
    stripped = text.strip()
    if not stripped.startswith("{") or len(stripped) > MAX_JSON_CHARS:
        return None
    return json_object(stripped)


def _field(value: dict[str, Any], names: tuple[str, ...]) -> str:
    return next(
        (found.strip() for n in names if isinstance(found := value.get(n), str) and found.strip()),
        "",
    )
