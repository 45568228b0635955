"""`toolcrib parse-calls`."""

from __future__ import annotations

import json

import pytest

from tests.surfaces.cli.program import Program

pytestmark = [pytest.mark.timeout(180), pytest.mark.rows("X1")]
TEXT = (
    "<think>Hm.</think>Sure.\n<tool_call>\n<function=add>\n<parameter=n>\n3\n</parameter>\n"
    "</function>\n</tool_call>"
)
TOOLS = [{"name": "add", "parameters": {"properties": {"n": {"type": "integer"}}}}]


def test_a_text_on_stdin(program: Program) -> None:
    (program.folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    done = program("parse-calls", "--tools", "tools.json", stdin=TEXT)
    assert (done.code, done.out, done.err) == (0, 'add {"n": 3}\n', "")


def test_everything_as_json_from_a_file(program: Program) -> None:
    (program.folder / "answer.txt").write_text(TEXT)
    done = program("parse-calls", "answer.txt", "--json")
    assert done.json["content"] == "Sure."
    assert done.json["reasoning"] == "Hm."
    assert done.json["calls"][0]["arguments"] == {"n": "3"}


def test_own_tools_are_offered_without_a_file(program: Program) -> None:
    done = program("parse-calls", stdin='{"name": "join_words", "parameters": {"words": ["a"]}}')
    assert done.out == 'join_words {"words": ["a"]}\n'


def test_no_call_is_1_and_says_why(program: Program) -> None:
    done = program("parse-calls", stdin='<tool_call>{"name": "add", "argum')
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("truncated: ")


def test_files_that_are_not_there_or_no_json(program: Program) -> None:
    done = program("parse-calls", "nowhere.txt")
    assert done.code == 2
    assert "nowhere.txt cannot be read" in done.err
    (program.folder / "tools.json").write_text("{")
    done = program("parse-calls", "--tools", "tools.json", stdin="x")
    assert done.code == 2
    assert "is not JSON" in done.err


def test_json_without_a_tool_is_a_wrong_use(program: Program) -> None:
    for content in ('{"a": 1}', "[1, null]", '{"tools": [{}]}'):
        (program.folder / "tools.json").write_text(content)
        done = program("parse-calls", "--tools", "tools.json", stdin=TEXT)
        assert (done.code, done.out) == (2, "")
        assert "holds no tool" in done.err


def test_prose_is_1_and_says_so(program: Program) -> None:
    done = program("parse-calls", stdin="Nothing to do here.")
    assert (done.code, done.out) == (1, "")
    assert done.err == "toolcrib: there is no tool call in this text.\n"
