"""The steps in what models send in place of a list of them, and in the words of other servers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, get_args

from toolcrib.browser.browser_step import Action
from toolcrib.core.names import plain
from toolcrib.execution.interpreters.python import unfenced
from toolcrib.text.json_values import json_value

_ADDRESS = re.compile(r"\s*(?:\w+://|[\w-]+\.\w|/|localhost)")
SPELLINGS = {
    "waitforselector": "wait",
    "waitfor": "wait",
    "sleep": "wait",
    "fill": "type",
    "input": "type",
    "dblclick": "double_click",
    "tap": "click",
    "navigate": "goto",
    "open": "goto",
    "selectoption": "select",
    "keypress": "press",
    "presskey": "press",
    "goback": "back",
    "navigateback": "back",
    "goforward": "forward",
    "refresh": "reload",
    "uploadfile": "upload",
    "fileupload": "upload",
    "draganddrop": "drag",
    "handledialog": "dialog",
    "eval": "evaluate",
    **{plain(action): action for action in get_args(Action)},
}
"""The actions, by what they are called."""
IMPLIED = {
    "uncheck": ("check", "false"),
    "clear": ("type", ""),
    "submit": ("press", "Enter"),
    "scrolldown": ("scroll", "down"),
    "scrollup": ("scroll", "up"),
    "acceptdialog": ("dialog", "accept"),
    "dismissdialog": ("dialog", "dismiss"),
}
"""Names that say an action and its value."""
WORDS = SPELLINGS.keys() | IMPLIED.keys()
ACTION_NAMES = ("action", "type", "kind", "name")
TARGETS = ("target", "ref", "selector", "element", "waitforselector")
VALUES = ("value", "text", "key")
_TWICE = plain("double-click")
LOOSE = {
    *ACTION_NAMES,
    *TARGETS,
    *VALUES,
    *("label", "keys", "values", "option", "script", "expression", "function", "to", "url", "href"),
    *("path", "paths", "file", "seconds", "time", "ms", "direction", "amount", "x", "y", "submit"),
    *("slowly", _TWICE, "accept", "prompttext", "fields"),
    *("startref", "startelement", "endref", "endelement"),
    *(WORDS - {"open"}),
}
"""What stands beside `actions`, or in its place, though it belongs into a step."""
_RENAMED = {
    "startref": "target",
    "startelement": "target",
    "endref": "value",
    "endelement": "value",
    "values": "value",
    "keys": "value",
    "function": "value",
    "paths": "path",
    "label": "target",
}
_OPERANDS = {"goto": "url", "upload": "path", **dict.fromkeys(("press", "wait"), "value")}
_OPERANDS |= dict.fromkeys(("scroll", "dialog", "evaluate"), "value")
_FILES = ("path", "paths", "file", *VALUES, "values")
"""What names the file of an upload; beside it the verb's own value is the target."""


def gather_steps(arguments: dict[str, Any], *, loose: bool) -> None:
    """Make `actions` a list of steps: from a text, one step, or arguments beside it.

    Args:
        arguments: by plain names.
        loose: whether the fields of a step may stand beside `actions`, or in its place.
    """
    key = "steps" if "steps" in arguments else "actions"
    given = _decoded(arguments[key]) if isinstance(arguments.get(key), str) else arguments.get(key)
    steps = given if isinstance(given, list) else [given] if given else []
    beside = {name: arguments[name] for name in LOOSE & arguments.keys()} if loose else {}
    if beside and len(steps) < 2 and all(isinstance(step, dict) for step in steps):
        for name in beside:
            del arguments[name]
        steps = [{**beside, **(steps[0] if steps else {})}]
    if steps or key in arguments:
        arguments[key] = [each for step in steps for each in _shaped(step)]


def _decoded(text: str) -> Any:
    """What a text holds as JSON or as Python writes it, in a fence or not; else the text."""
    text = unfenced(text).strip()
    found = json_value(text)
    if found is None:
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            found = ast.literal_eval(text)
    return found if isinstance(found, list | dict) else text


def _shaped(step: Any) -> Iterator[Any]:
    """The steps that one means, by plain names; what is none stays as it is."""
    if isinstance(step, str):
        word, _, rest = step.strip().partition(" ")
        is_step = plain(word) in WORDS and (plain(word) != "open" or _ADDRESS.match(rest))
        step = {word: rest.strip()} if is_step else step
    if not isinstance(step, dict):
        yield step
        return
    made = {plain(name): value for name, value in step.items()}
    fields = made.pop("fields", None)
    if isinstance(fields, list) and all(isinstance(field, dict) for field in fields):
        for field in fields:
            yield from _shaped(_field_step({plain(name): item for name, item in field.items()}))
        return
    _name_action(made)
    _rename(made)
    sends = made.pop("submit", False)
    paths = made.get("path")
    yield from [{**made, "path": each} for each in paths] if isinstance(paths, list) else [made]
    is_typed = SPELLINGS.get(str(made.get("action")), made.get("action")) == "type"
    if is_typed and (sends is True or str(sends).lower() == "true"):
        target = {name: made[name] for name in TARGETS if name in made}
        yield {"action": "press", **target, "value": "Enter"}


def _field_step(field: dict[str, Any]) -> dict[str, Any]:
    """The step for one field of a form, as Playwright's server takes forms."""
    action = {"checkbox": "check", "radio": "check", "combobox": "select"}
    kind = action.get(str(field.pop("type", "")), "type")
    name = field.pop("name", None)
    target = field.pop("ref", None) or field.pop("target", None) or name
    return {"action": kind, "target": target, **field}


def _name_action(step: dict[str, Any]) -> None:
    """Have `action` say what is done, by its name here: also for `{"click": "Count"}`."""
    name = next((n for n in ACTION_NAMES if plain(step.get(n)) in WORDS), "")
    if not name:
        name = next((n for n in step if n in WORDS and n != "submit"), "")
        if not name or any(isinstance(step.get(n), str) for n in ACTION_NAMES if n != name):
            return
        operand, step["action"] = step.pop(name), name
        action = SPELLINGS.get(name, name)
        if isinstance(operand, dict):
            step |= {plain(key): value for key, value in operand.items()}
        elif operand is not True and operand not in (None, ""):
            names_file = action == "upload" and any(step.get(name) for name in _FILES)
            step.setdefault("target" if names_file else _OPERANDS.get(action, "target"), operand)
        name = "action"
    word = plain(step.pop(name))
    step["action"], value = IMPLIED.get(word, (SPELLINGS.get(word, word), None))
    if value is not None:
        step["value"] = value


def _rename(step: dict[str, Any]) -> None:
    """Say what is meant by the names of a step here."""
    if any(step.get(name) for name in TARGETS if name != "element"):
        step.pop("element", None)  # beside a reference it describes it to people
    step.pop("slowly", None)
    for name, known in _RENAMED.items():
        if step.get(name) is not None and step.get(known) is None:
            step[known] = step.pop(name)
    if str(step.pop(_TWICE, "")).lower() == "true":
        step["action"] = "double_click"
    if step.get("action") == "dialog" and "accept" in step:
        accepts = str(step.pop("accept")).lower() == "true"
        text = step.pop("prompttext", "")
        step["value"] = (text or "accept") if accepts else "dismiss"
    for name in VALUES:
        if isinstance(step.get(name), list):
            joint = "+" if step.get("action") == "press" else ","
            step[name] = joint.join(map(str, step[name]))
    _place_value(step)


def _place_value(step: dict[str, Any]) -> None:
    """Take the value as the target, or the file, where a step has no other use for one."""
    places = {"click": "target", "double_click": "target", "hover": "target", "upload": "path"}
    place = places.get(step.get("action", ""))
    has_one = any(step.get(name) for name in (("path", "file") if place == "path" else TARGETS))
    value = next((name for name in VALUES if step.get(name)), "")
    if place is not None and value and not has_one:
        step[place] = step.pop(value)
