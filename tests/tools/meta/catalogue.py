"""Questions to `search_tools`, the tools they are put to, and how many find their tool.

Those of the parts `tune` and `held` were written by somebody who saw only what each tool
is for; those of `tune-names` and `held-names` by somebody who saw only the tools' names.
Questions of a `tune` part may be read when words are added; those of a `held` part are
only counted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolcrib import tools as installed
from toolcrib.core.registry import Registry, discover
from toolcrib.core.result import Result
from toolcrib.core.tool import Tool, tool

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks, the tool that is meant, and those that would be right as well."""

    part: str
    tool: str
    language: str
    query: str
    also: Sequence[str] = ()


def questions() -> list[Question]:
    """Every question of all parts."""
    lines = (HERE / "questions.jsonl").read_text("utf-8").splitlines()
    return [Question(**json.loads(line)) for line in lines]


def catalogue() -> Registry:
    """All tools that are installed, and those of the plan as distractors."""
    own = list(discover(installed))
    names = {name for t in own for name in (t.name, *t.all_aliases)}
    return Registry([*own, *(t for t in _distractors() if t.name not in names)])


def _distractors() -> Iterable[Tool]:
    for line in (HERE / "distractors.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            head, _, description = line.partition(": ")
            group, name = head.split()
            yield _declared(group, name, description)


def _declared(group: str, name: str, description: str) -> Tool:
    async def function() -> Result:
        return Result(text="")

    function.__name__ = name
    function.__doc__ = description
    return tool(group=group)(function)


Search = Callable[[str], Sequence[str]]


def recall(
    search: Search, requested: Iterable[Question], at: int = 5
) -> dict[tuple[str, str], tuple[int, int]]:
    """Questions that find a right tool among the first, and all, by part and language.

    The language "all" is of all together.
    """
    counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for question in requested:
        met = not {question.tool, *question.also}.isdisjoint(search(question.query)[:at])
        for language in (question.language, "all"):
            counts[question.part, language][0] += met
            counts[question.part, language][1] += 1
    return {key: (met, of) for key, (met, of) in counts.items()}
