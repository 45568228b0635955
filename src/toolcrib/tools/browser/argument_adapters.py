"""Steps as other tools and models write them, turned into those of `browser_act`."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

from toolcrib.browser.browser_step import WHOLE_URL, is_relative
from toolcrib.core.errors import BadInput
from toolcrib.net.egress.url import complete_url
from toolcrib.tools.browser.step_shapes import gather_steps

# How long a step waits, by the names that it is given; a bare number is of that unit.
_UNITS = {
    "ms": "ms",
    "milliseconds": "ms",
    "duration": "ms",
    "timeout": "ms",
    "timeoutms": "ms",
    "time": "s",
    "seconds": "s",
}


def adapt_steps(arguments: dict[str, Any], *, loose: bool = False) -> None:
    """Give actions their names here; a value of another kind is understood.

    Args:
        arguments: by plain names.
        loose: whether the fields of a step may stand beside `actions`, or in its place.
    """
    gather_steps(arguments, loose=loose)
    base = complete_url(str(arguments["url"])) if arguments.get("url") else ""
    for step in arguments.get("actions") or arguments.get("steps") or ():
        if isinstance(step, dict) and "action" in step:
            _adapt(step)
            base = _based(step, base)


def adapt_control(arguments: dict[str, Any]) -> None:
    """The same for a call that may only look: without steps, or with `fuzzy_find` as an object."""
    adapt_steps(arguments, loose=True)
    for name in ("find", "fuzzyfind"):
        wanted = arguments.get(name)
        if isinstance(wanted, dict):
            arguments[name] = str(wanted.get("text") or wanted.get("query") or "")
            if "max_results" in wanted:
                arguments.setdefault("limit", wanted["max_results"])
    if not {"actions", "steps"} & arguments.keys():
        arguments["actions"] = []


def _adapt(step: dict[str, Any]) -> None:
    action = step["action"]
    _adapt_wait(step, waits=action == "wait")
    for key, value in list(step.items()):
        if isinstance(value, int | float):
            step[key] = str(value).lower() if isinstance(value, bool) else str(value)
    if action == "goto" and "url" not in step:
        given = next((key for key in ("value", "target", "path") if step.get(key)), "")
        if given:
            step["url"] = step.pop(given)
    elif action == "scroll":
        _adapt_scroll(step)


def _based(step: dict[str, Any], base: str) -> str:
    """Complete the URL of a step by the one that is opened before it; the one of the next."""
    url = step.get("url")
    if not isinstance(url, str):
        return base
    if not is_relative(url):
        return complete_url(url)
    if base and not base.startswith(("http://", "https://")):  # of a reference nobody knows it yet
        raise BadInput(f"'{url[:80]}' is relative to a reference.", hint=WHOLE_URL)
    step["url"] = urljoin(base, url.strip()) if base else url
    return base and step["url"]


def _adapt_wait(step: dict[str, Any], *, waits: bool) -> None:
    """A time with its unit; how long another action may take is decided here alone."""
    for key, unit in _UNITS.items():
        if key in step:
            value = step.pop(key)
            if waits and "value" not in step:
                step["value"] = f"{value} {unit}" if _is_number(value) else str(value)


def _adapt_scroll(step: dict[str, Any]) -> None:
    """`direction` and `amount`, or `y`, as one value; `x` is understood where it is 0."""
    if _is_number(step.get("x")) and not float(step["x"]):
        del step["x"]
    far = next((step.pop(key) for key in ("y", "amount", "pixels") if key in step), None)
    where = str(step.pop("direction", "")).lower()
    if far is not None and where in ("", "up", "down") and _is_number(far):
        step.setdefault("value", f"{-float(far) if where == 'up' else float(far):g}")
    elif where:
        step.setdefault("value", where)


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return not isinstance(value, bool)
