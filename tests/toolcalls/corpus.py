"""The rendered texts, each with what it means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from tests.toolcalls.scenarios import BY_NAME, Scenario

FILE = Path(__file__).with_name("corpus.json")


class Case(NamedTuple):
    """One text in one format."""

    family: str
    text: str
    scenario: Scenario

    @property
    def wanted(self) -> list[tuple[str, dict]]:
        return [(call.name, call.arguments) for call in self.scenario.calls]


def cases() -> list[Case]:
    return [
        Case(case["family"], case["text"], BY_NAME[case["scenario"]])
        for case in json.loads(FILE.read_text(encoding="utf-8"))
    ]


CASES = cases()
FAMILIES = sorted({case.family for case in CASES})
