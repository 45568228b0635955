"""The calls that were made."""

from __future__ import annotations

import json

import pytest

from tests.surfaces.cli.program import Program

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


@pytest.mark.rows("E134")
def test_calls_are_listed_newest_first(program: Program) -> None:
    assert program("history").out == "No calls yet.\n"
    program("call", "join_words", "words=" + "long " * 100, "times=2")
    program("call", "find_nothing")
    program("call", "nope")
    header, *lines = program("history").out.splitlines()
    assert header.split() == ["id", "time", "tool", "outcome", "took", "tokens", "arguments"]
    assert [line.split()[3:5] for line in lines] == [
        ["nope", "unknown_tool"],
        ["find_nothing", "not_found"],
        ["join_words", "ok"],
    ]
    assert "words=long" in lines[2]
    assert all(len(line) <= 80 for line in lines)

    rows = program("history", "--json").json
    assert [row["status"] for row in rows] == ["error", "error", "ok"]
    assert rows[2]["surface"] == "cli"
    ndjson = program("history", "--ndjson").out.splitlines()
    assert [json.loads(line) for line in ndjson] == rows[::-1]
    ndjson = program("history", "--ndjson", "--outcome", "error").out.splitlines()
    assert [json.loads(line) for line in ndjson] == [rows[1], rows[0]]
    (last,) = program("history", "--ndjson", "--limit", "1").out.splitlines()
    assert json.loads(last) == rows[0]
    assert [row["tool"] for row in program("history", "--limit", "1", "--json").json] == ["nope"]
    found = program("history", "--tool", "join_words", "--json").json
    assert [row["tool"] for row in found] == ["join_words"]
    found = program("history", "--outcome", "error", "--json").json
    assert [row["tool"] for row in found] == ["nope", "find_nothing"]


def test_one_call_whole_with_its_trace(program: Program) -> None:
    done = program("call", "break_down", "--json")
    assert done.json["error"]["code"] == "internal"
    (row,) = program("history", "--json").json
    done = program("history", "--trace", row["id"][:6])
    assert done.code == 0
    assert f"id         {row['id']}\n" in done.out
    assert "RuntimeError: a defect" in done.out


def test_an_unknown_or_ambiguous_id(program: Program) -> None:
    for _ in range(2):
        program("call", "join_words", "words=a")
    done = program("history", "--trace", "zzz")
    assert (done.code, done.out) == (1, "")
    assert "no call zzz" in done.err
    done = program("history", "--trace", "")
    assert (done.code, done.out) == (2, "")
    assert "Several calls start with" in done.err


def test_a_tool_without_calls_and_a_tool_that_is_none(program: Program) -> None:
    assert program("history", "--tool", "join_words").out == "No calls of join_words yet.\n"
    assert program("history", "--outcome", "busy").out == "No calls with the outcome busy yet.\n"
    done = program("history", "--tool", "no_such")
    assert (done.code, done.out) == (2, "")
    assert "There is no tool 'no_such'. No call has that name." in done.err
    assert "toolcrib tools all" in done.err
    program("call", "no_such")
    assert "no_such" in program("history", "--tool", "no_such").out, "calls of it are there"
    program("call", "list_directory", "path=.")
    assert "list_directory" in program("history", "--tool", "ls").out, "an alias"


def test_a_limit_must_make_sense(program: Program) -> None:
    done = program("history", "--limit", "0")
    assert done.code == 2
    assert "send the call again" not in done.err
    assert program("history", "--limit", "x").code == 2


def test_secrets_of_arguments_are_not_kept(program: Program) -> None:
    program("call", "join_words", "words=a", 'extra:={"password": "hunter2"}')
    assert "hunter2" not in program("history", "--ndjson").out
