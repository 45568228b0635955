"""A form at a terminal: its fields one after the other, each with a line for the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from toolcrib.core.context import Form
from toolcrib.surfaces.cli.screen import visible

MAX_TRIES = 3
"""How often a field is asked for, before the form counts as not filled in."""
TRUTH = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
ReadLine = Callable[[str], Awaitable[str | None]]


async def filled(
    form: Form, read_line: ReadLine, say: Callable[[str], object]
) -> Mapping[str, Any] | None:
    """The fields as the person fills them in; None where they leave one out that is needed.

    Args:
        form: what is asked; each field is a text, a number, yes or no, or one of some.
        read_line: shows a prompt and reads a line; None at the end of input.
        say: shows a line.
    """
    say(visible(form.message))
    required = form.schema.get("required") or ()
    answers: dict[str, Any] = {}
    for name, field in form.schema.get("properties", {}).items():
        for _ in range(MAX_TRIES):
            choices = [str(choice) for choice in field.get("enum", ())]
            for number, choice in enumerate(choices, 1):
                say(f"  {number}. {visible(choice)}")
            line = await read_line(f"{visible(_label(name, field))}: ")
            if line is None:
                return None
            answer = _value(line.strip(), field, choices)
            if answer is not None:
                answers[name] = answer
                break
            if not line.strip() and name not in required:
                break
            say(_wanted(field, choices))
        else:
            return None
    return answers


def _label(name: str, field: Mapping[str, Any]) -> str:
    label = str(field.get("title") or name)
    about = str(field.get("description") or "")
    return f"{label} ({about})" if about and about != label else label


def _value(line: str, field: Mapping[str, Any], choices: Sequence[str]) -> Any:
    """What a line means for a field; None where it is none of its values."""
    kind = field.get("type")
    if not line:
        return field.get("default")
    if choices:
        if line in choices:
            return line
        numbers = {str(number): choice for number, choice in enumerate(choices, 1)}
        return numbers.get(line)
    if kind == "boolean":
        return TRUTH.get(line.lower())
    if kind in ("integer", "number"):
        try:
            return int(line) if kind == "integer" else float(line)
        except ValueError:
            return None
    return line


def _wanted(field: Mapping[str, Any], choices: Sequence[str]) -> str:
    if choices:
        return f"A number from 1 to {len(choices)}, or the words."
    kinds = {"boolean": "Yes or no.", "integer": "A whole number.", "number": "A number."}
    return kinds.get(str(field.get("type")), "An answer is needed; Ctrl-D gives none.")
