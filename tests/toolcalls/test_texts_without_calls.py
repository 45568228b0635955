"""What is no call is none: prose, documents, code, answers in JSON, reasoning, cut texts."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.toolcalls.corpus import CASES, FAMILIES
from tests.toolcalls.more_texts_without_calls import QUIET
from tests.toolcalls.quoted_calls import PROSE
from tests.toolcalls.scenarios import TOOLS
from tests.toolcalls.texts_without_calls import SILENT
from tests.toolcalls.unusual_calls import OFFERED
from toolcrib.toolcalls import ToolCallStream, parse_tool_calls

EVERYWHERE = {"single", "parallel", "empty", "marks"}
MEANT_BADLY = {"cut off", "cut off, bare", "cut off tags", "no JSON", "empty", "template"}


@pytest.mark.rows("X2", "X1")
@each_case("name", SILENT)
def test_no_false_call(name: str) -> None:
    assert parse_tool_calls(SILENT[name], TOOLS).calls == []


@each_case("name", SILENT)
def test_content_is_kept_as_it_is(name: str) -> None:
    text, parsed = SILENT[name], parse_tool_calls(SILENT[name], TOOLS)
    if name in MEANT_BADLY:
        assert [note.code for note in parsed.diagnostics]
        assert parsed.content == ""
    elif not parsed.reasoning:
        assert parsed.content == text


@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_cut_anywhere_runs_nothing_that_is_not_whole(family: str) -> None:
    for case in (case for case in CASES if case.family == family):
        step = 1 if case.scenario.name in EVERYWHERE else 7
        for end in range(0, len(case.text), step):
            calls = parse_tool_calls(case.text[:end], TOOLS).calls
            got = [(call.name, call.arguments) for call in calls]
            assert got == case.wanted[: len(got)], case.text[:end][-80:]


def test_a_call_in_a_value_that_is_cut_off_does_not_run() -> None:
    text = (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n"
        "<parameter=content>\nExample:\n<tool_call>\n<function=list_files>\n</function>\n"
        "</tool_call>\nmore"
    )
    for end in range(len(text)):
        assert parse_tool_calls(text[:end], TOOLS).calls == []


def test_diagnostics_say_what_to_send_again() -> None:
    (note,) = parse_tool_calls(SILENT["cut off"], TOOLS).diagnostics
    assert (note.code, note.name) == ("truncated", "get_weather")
    assert "get_weather" in note.message
    assert note.text.startswith("<tool_call>")
    (note,) = parse_tool_calls(SILENT["closed reasoning"], TOOLS).diagnostics
    assert note.code == "in_reasoning"


@pytest.mark.rows("X2", "X1")
@each_case("text", QUIET, ids=range(len(QUIET)))
def test_no_false_call_in_more_texts(text: str) -> None:
    parsed = parse_tool_calls(text, OFFERED)
    assert parsed.calls == []
    assert parsed.reasoning or parsed.content == text


def test_the_quiet_texts_are_enough() -> None:
    assert len(set(QUIET)) == len(QUIET) >= 75


@pytest.mark.rows("X2")
@each_case("text", PROSE, ids=range(len(PROSE)))
def test_no_false_call_in_prose_that_quotes_calls(text: str) -> None:
    parsed = parse_tool_calls(text, TOOLS)
    assert parsed.calls == []
    assert parsed.diagnostics == []
    assert "Oslo" in parsed.content or "book_flight" in parsed.content
    stream = ToolCallStream(TOOLS)
    for character in text:
        stream.feed(character)
    assert stream.close() == parsed


def test_the_prose_is_enough() -> None:
    assert len(set(PROSE)) == len(PROSE) == 100


FINAL = "<|channel|>final<|message|>"


@each_case(
    "text",
    [
        f"{FINAL}{{call}}<|return|>",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant{FINAL}{{call}}<|return|>",
        f"{FINAL}Here it is:\n{{call}}<|return|>",
        f"{FINAL}```json\n{{call}}\n```<|return|>",
        "analysisHm.assistantfinal{call}",
    ],
)
def test_what_a_final_channel_holds_is_for_the_user(text: str) -> None:
    call = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    parsed = parse_tool_calls(text.replace("{call}", call), TOOLS)
    assert parsed.calls == []
    assert call in parsed.content
