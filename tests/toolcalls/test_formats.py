"""Every format, in texts rendered by the models' own templates from our messages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.toolcalls.corpus import CASES, FAMILIES, Case
from tests.toolcalls.scenarios import TOOLS
from toolcrib.toolcalls import ParsedText, parse_tool_calls
from toolcrib.toolcalls.marks import MARK_KINDS

pytestmark = pytest.mark.rows("X1", "E127")
BASELINE = Path(__file__).with_name("baseline.json")
FEWEST = 8


def found(parsed: ParsedText) -> list[tuple[str, dict]]:
    return [(call.name, call.arguments) for call in parsed.calls]


def of(family: str) -> list[Case]:
    return [case for case in CASES if case.family == family]


@each_case("family", FAMILIES)
def test_calls_are_exact_and_in_order(family: str) -> None:
    for case in of(family):
        parsed = parse_tool_calls(case.text, TOOLS)
        assert found(parsed) == case.wanted, case.scenario.name
        assert parsed.diagnostics == []


@each_case("family", FAMILIES)
def test_content_and_reasoning_are_told_apart(family: str) -> None:
    for case in of(family):
        parsed = parse_tool_calls(case.text, TOOLS)
        content, thought = case.scenario.content, case.scenario.reasoning
        if family == "gpt-oss":  # its template puts what was said before a call into analysis
            assert {parsed.content, parsed.reasoning} <= {"", content, thought}
            continue
        assert parsed.content == (content if content in case.text else "")
        if thought and thought in case.text:
            assert parsed.reasoning == thought


@each_case("family", FAMILIES)
def test_no_mark_is_left_in_content(family: str) -> None:
    for case in of(family):
        content = parse_tool_calls(case.text, TOOLS).content
        assert not [mark for mark in MARK_KINDS if mark in content]


@each_case("family", FAMILIES)
def test_without_tools_marked_calls_are_still_found(family: str) -> None:
    for case in of(family):
        names = [call.name for call in parse_tool_calls(case.text, []).calls]
        assert names in ([], [name for name, _ in case.wanted])


def test_each_family_has_enough_scenarios() -> None:
    counts = Counter(case.family for case in CASES)
    # A form for a text that says nothing else has fewer.
    assert not {family: count for family, count in counts.items() if count < FEWEST}
    assert len(counts) >= 60


def test_the_score_does_not_fall() -> None:
    right = sum(found(parse_tool_calls(case.text, TOOLS)) == case.wanted for case in CASES)
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    assert right / len(CASES) >= baseline["exact"]
    assert len(CASES) >= baseline["texts"]


def test_ids_of_the_model_are_kept_and_others_are_stable() -> None:
    kimi = next(case for case in of("kimi-k2") if case.scenario.name == "parallel")
    assert [call.id for call in parse_tool_calls(kimi.text, TOOLS).calls] == [
        "functions.write_file:0",
        "functions.get_weather:1",
        "functions.get_weather:2",
    ]
    mistral = next(case for case in of("mistral-small-3.2") if case.scenario.name == "parallel")
    ids = [call.id for call in parse_tool_calls(mistral.text, TOOLS).calls]
    assert ids == ["abcdefgh1", "abcdefgh2", "abcdefgh3"]
    qwen = next(case for case in of("qwen-3") if case.scenario.name == "parallel")
    once, again = (parse_tool_calls(qwen.text, TOOLS).calls for _ in range(2))
    assert [call.id for call in once] == [call.id for call in again]
    assert len({call.id for call in once}) == 3
