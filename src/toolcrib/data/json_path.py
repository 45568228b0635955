"""Paths into JSON: names, indexes and wildcards, `items[0].name` or `$.items[*].name`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.data.json_lines import json_or_lines

_STEP = re.compile(
    r"""\.?(?P<name>[^\s.\[\]"'|()*?:,{}]+)|\[\s*(?P<index>-?\d+)\s*\]"""
    r"""|\.?\[\s*(?P<quote>["'])(?P<key>.*?)(?P=quote)\s*\]|(?P<all>\.?\[\s*\*?\s*\]|\.?\*)"""
)
_BARE_NAME = re.compile(r"[a-z][a-z_0-9]*")
_OPERATOR = re.compile(r"[-+/%=<>!]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_SHELL = re.compile(r"^jq\s+(?:-\w+\s+)*(?=['\"`.])")
_FILTER = re.compile(r"(\$?[\w.\[\]*-]*)\[\?\s*\(?(.+?)\)?\s*\]([\w.\[\]*-]*)")
_AT = re.compile(r"@\.?")
_SLICED = re.compile(r"\$?\.?[\w.\[\]*:-]*\[-?\d*:-?\d*\][\w.\[\]*:-]*")
Step = str | int | None
"""A name, an index, or None for all."""


def steps_of(path: str) -> list[Step] | None:
    """The steps of a plain path; None for what is an expression of jq."""
    rest = path.strip().removeprefix("$")
    if rest in ("", "."):
        return []
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None or match.end() == at:
            return None
        if match["name"] is not None:
            if steps and rest[at] != ".":
                return None
            name = match["name"]
            steps.append(int(name) if name.isdigit() else name)
        elif match["index"] is not None:
            steps.append(int(match["index"]))
        elif match["key"] is not None:
            steps.append(match["key"])
        else:
            steps.append(None)
        at = match.end()
    return steps


def bare_query(text: str) -> str:
    """A query without what is written around it (backticks, `jq '…'`), in the spelling of jq.

    Filters and slices of JSONPath are taken as they are meant: `$.a[?(@.b > 3)].c`, `a[0:2].c`.
    """
    bare = text.strip()
    bare = _SHELL.sub("", bare)
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "`'":
        bare = bare.strip(bare[0]).strip()
    filtered = _FILTER.fullmatch(bare)
    if filtered:
        test = _AT.sub(".", filtered[2]).replace("'", '"')
        test = test.replace("&&", " and ").replace("||", " or ")
        before = f".{filtered[1].strip('$.')}".replace("[*]", "[]")
        after = f" | .{filtered[3].removeprefix('.')}".replace("[*]", "[]") if filtered[3] else ""
        return f"{before}[] | select({test}){after}"
    if _SLICED.fullmatch(bare):
        items = re.sub(r"(\[-?\d*:-?\d*\])(?=[.\[])", r"\1[]", bare.lstrip("$."))
        return f".{items}".replace("[*]", "[]")
    return bare


def pointed(path: str) -> list[Step] | None:
    """The steps of a JSON pointer: `/users/0/name`; None for what is none."""
    if not path.startswith("/") or path == "/":
        return None
    names = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    return [int(name) if name.isdigit() else name for name in names]


def may_be_program(path: str) -> bool:
    """Whether a plain path may be meant for jq: `length`, `.a+1`, `.b//7`."""
    return bool(_BARE_NAME.fullmatch(path.strip()) or _OPERATOR.search(_BRACKETS.sub("", path)))


def find(value: Any, steps: list[Step]) -> tuple[list[Any], str]:
    """What a path leads to, and where it ends otherwise: a line about what is there."""
    found = [value]
    for number, step in enumerate(steps):
        further = [item for one in found for item in _children(one, step)]
        if not further:
            return [], _described(found[0], steps[:number], step)
        found = further
    return found, ""


def _children(value: Any, step: Step) -> Iterator[Any]:
    if step is None:
        yield from (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )
    elif isinstance(value, dict):
        if str(step) in value:
            yield value[str(step)]
    elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        yield value[step]


def _described(value: Any, before: list[Step], step: Step) -> str:
    place = "".join(
        "[*]" if s is None else f"[{s}]" if isinstance(s, int) else f".{s}" for s in before
    )
    if isinstance(value, dict):
        there = f"an object with {', '.join(list(map(str, value))[:30]) or 'nothing'}"
    elif isinstance(value, list):
        there = f"a list of {len(value):,}"
    else:
        there = "a plain value"
    return f"{place or 'The top'} is {there}; there is no {'part' if step is None else step}."


def loads(text: str, name: str) -> Any:
    """JSON, or a list of the lines of JSON Lines.

    Raises:
        BadInput: it is neither.
    """
    try:
        return json_or_lines(text.removeprefix("\ufeff"))
    except RecursionError:
        raise BadInput(f"{name} is nested too deep.") from None
    except ValueError as error:
        raise BadInput(f"{name} is not valid JSON: {error}.", hint="Mend it first.") from None
