"""Steps as other tools and models write them, turned into those of `browser_act`."""

from __future__ import annotations

from typing import Any

from toolcrib.core.names import plain

SPELLINGS = {
    "waitforselector": "wait",
    "waitfor": "wait",
    "sleep": "wait",
    "fill": "type",
    "input": "type",
    "dblclick": "double_click",
    plain("double-click"): "double_click",
    "tap": "click",
    "navigate": "goto",
    "open": "goto",
    "selectoption": "select",
    "keypress": "press",
    "goback": "back",
    "goforward": "forward",
    "uploadfile": "upload",
    "draganddrop": "drag",
    "handledialog": "dialog",
    "eval": "evaluate",
}
ACTION_NAMES = ("action", "type", "kind", "name")


def adapt_steps(arguments: dict[str, Any]) -> None:
    """Give actions their names here; `uncheck` and a value of another kind are understood."""
    for step in arguments.get("actions") or arguments.get("steps") or ():
        if not isinstance(step, dict):
            continue
        for name, value in list(step.items()):
            if isinstance(value, int | float) and not isinstance(value, bool):
                step[name] = str(value)
        name = next((n for n in ACTION_NAMES if isinstance(step.get(n), str)), "")
        if not name:
            continue
        action = plain(step[name])
        if action == "uncheck":
            step[name], step["value"] = "check", "false"
        elif action == "goto" and "value" in step and "url" not in step:
            step["url"] = step.pop("value")
        step[name] = SPELLINGS.get(action, step[name])
