"""Marks in an answer: the task is done, it cannot be done, and a word for whoever goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FENCE = re.compile(r" {0,3}(```+|~~~+)")
END = re.compile(r"[\s*_#]*TASK_(COMPLETED|FAILED)\b[*_]*")
OPENED = re.compile(r"\[HANDOFF_MESSAGE\]", re.IGNORECASE)
CLOSED = re.compile(r"\[/HANDOFF_MESSAGE\]", re.IGNORECASE)
FIELDS = ("handoff_message", "handoffMessage", "handoff", "HANDOFF_MESSAGE")
ANSWERS = ("answer", "result", "summary", "output", "response", "message")
MOST_JSON = 200_000


@dataclass(frozen=True, slots=True)
class Marked:
    """What an answer says beside its words. `end` is "completed", "failed" or empty."""

    text: str
    end: str = ""
    handoff: str = ""


def read_marks(content: str) -> Marked:
    """Take the marks out of an answer. Give it no reasoning: marks there do not count.

    The end counts on a line of its own, outside code; the last one wins. So does the last
    handoff message, which goes to the end of the text where it is not closed.
    """
    text, handoff = _handoff(content)
    end, kept = "", []
    for line, in_code in lines_of(text):
        found = None if in_code else END.match(line)
        said = line[found.end() :].strip() if found else ""
        if found is None or (said.strip("*_ ") and said[0] not in ":.!-\u2013\u2014"):
            kept.append(line)
            continue
        end = found[1].lower()
        if said[1:].strip("*_ "):
            kept.append(said[1:].strip())
    text = "\n".join(kept).strip() if end else text.strip()
    if not handoff:
        text, handoff = _from_json(text)
    return Marked(text, end, handoff)


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
    opened = list(OPENED.finditer(content))
    if not opened:
        return content, ""
    kept, at, message = [], 0, ""
    for place, start in enumerate(opened):
        if start.start() < at:
            continue
        kept.append(content[at : start.start()])
        after = opened[place + 1].start() if place + 1 < len(opened) else len(content)
        closed = CLOSED.search(content, start.end(), after)
        end = closed.start() if closed else after
        message = content[start.end() : end].strip() or message
        at = closed.end() if closed else after
    return "".join([*kept, content[at:]]), message


def _from_json(text: str) -> tuple[str, str]:
    """A handoff message in a field of an answer that is JSON, or of a block of it."""
    if not any(name in text for name in FIELDS):
        return text, ""
    whole = _object(text)
    if whole is not None:
        message = _field(whole, FIELDS)
        return (_field(whole, ANSWERS) or text, message) if message else (text, "")
    found = ""
    for block in re.findall(r"(?:^|\n)```(?:json)?[ \t]*\n(.*?)\n```", text[:MOST_JSON], re.DOTALL):
        value = _object(block)
        found = (_field(value, FIELDS) if value is not None else "") or found
    return text, found


def _object(text: str) -> dict[str, Any] | None:
    stripped = text.strip()
    if not stripped.startswith("{") or len(stripped) > MOST_JSON:
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _field(value: dict[str, Any], names: tuple[str, ...]) -> str:
    return next(
        (found.strip() for n in names if isinstance(found := value.get(n), str) and found.strip()),
        "",
    )
