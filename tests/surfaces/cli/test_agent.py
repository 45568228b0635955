"""`toolcrib agent`: the runs and their traces."""

from __future__ import annotations

import json

import pytest

from tests.servers.model import Turn, model_server
from tests.surfaces.cli.program import Program

pytestmark = pytest.mark.rows("E126")


def test_list_and_show(program: Program) -> None:
    (program.folder / "notes.md").write_text("the word is plum\n")
    assert program("agent").out == "No agents yet.\n"
    missing = program("agent", "show")
    assert missing.code == 1
    script = (Turn("\x1b[2J", [("read_file", {"path": "notes.md"})]), Turn("It is plum."))
    with model_server(*script) as server:
        done = program(
            *("call", "delegate_task", "task=find the word", "--json"),
            *("--set", f"agent.base_url={server.url}", "--workspace", str(program.folder)),
        )
    run_id = done.json["data"]["trace_id"]
    listed = program("agent", "list").out
    assert run_id in listed
    assert "completed" in listed
    assert "find the word" in listed
    displayed = program("agent", "show", run_id).out
    assert displayed == program("agent", "show").out
    for words in ("find the word", "request", "read_file", "the word is plum", "It is plum."):
        assert words in displayed
    assert "\x1b" not in displayed
    lines = [json.loads(x) for x in program("agent", "show", run_id, "--json").out.splitlines()]
    assert lines[0]["outcome"]["status"] == "completed"
    assert [x["kind"] for x in lines[1:]][-1] == "end"
    assert json.loads(program("agent", "--json").out)["id"] == run_id
    assert program("agent", "show", "a0000000").code == 1
