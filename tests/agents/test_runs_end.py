"""However a run goes, it comes back in time with one shape of result."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agents.boxes import HUNG, box_of
from tests.conditions import until
from tests.servers.model import Raw, Script, Turn, model_server
from toolcrib import Result

SHAPE = {
    "status", "reason", "answer", "handoff", "files_modified", "steps", "tool_calls", "tokens",
    "seconds", "trace_id",
}  # fmt: skip
LIMIT = 4
"""Seconds; enough for a slow machine to get to where the run is held up."""
STATUSES = {"completed", "failed", "stalled", "timeout", "cancelled"}


async def delegated(
    root: Path, *script: Script, agent: dict[str, Any] | None = None, **arguments: Any
) -> Result:
    with model_server(*script) as server:
        async with box_of(server, root, agent=agent or {}) as box:
            result = await box.call("delegate_task", {"task": "do it", **arguments})
    assert set(result.data) >= SHAPE
    assert result.data["status"] in STATUSES
    assert result.data["trace_id"]
    return result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.md").write_text("the word is plum\n")
    return folder


READ = Turn("Looking.", [("read_file", {"path": "notes.md"})])


@pytest.mark.rows("E101", "E125")
async def test_an_answer(root: Path) -> None:
    result = await delegated(root, READ, Turn("It is plum."))
    assert result.error is None
    assert result.data["status"] == "completed"
    assert result.data["reason"] == "answered"
    assert result.data["answer"] == "It is plum."
    assert (result.data["steps"], result.data["tool_calls"]) == (2, 1)
    assert result.data["tokens"] == 30
    assert result.text.startswith("It is plum.")
    assert "2 steps, 1 tool call, 30 tokens" in result.text


STALLS: dict[str, Script] = {
    "in mid stream": Turn("half an answer that", piece=4, stall=4),
    "before the first word": Turn("", stall=0),
    "after the head": Raw([b""], stall=True),
    "in a call": Turn("I call", [("read_file", '{"path": "no')], stall=3),
    "word by word": Turn("word " * 1000, piece=5, pause=0.1),
    "told to wait": Raw([b""], 429, headers={"Retry-After": "1"}),
    "comments only": Raw([b": wait\n\n"] * 400, pause=0.05),
}


@pytest.mark.rows("E117", "E111")
async def test_a_server_that_stalls_does_not_hold_a_run(root: Path) -> None:
    runs = (delegated(root, READ, script, time_limit=LIMIT) for script in STALLS.values())
    results = dict(zip(STALLS, await asyncio.gather(*runs), strict=True))
    for how, result in results.items():
        assert result.data["status"] in ("timeout", "failed"), how
        assert result.data["reason"] in ("time_limit", "backend_error"), how
    assert "half an answ" in results["in mid stream"].data["answer"]


@pytest.mark.rows("E117", "E111")
@pytest.mark.parametrize("tool", ["hang", "stubborn"])
async def test_a_tool_that_hangs_does_not_hold_a_run(root: Path, tool: str) -> None:
    HUNG.clear()
    with model_server(READ, Turn("", [(tool, {})])) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "do it", "time_limit": LIMIT})
            assert HUNG[0] == "began"
            HUNG.append("let go")
    assert result.data["status"] == "timeout"
    assert "plum" in result.data["answer"]
    assert "cancelled" in HUNG


async def test_tools_are_told_the_deadline_of_the_run(root: Path) -> None:
    with model_server(Turn("", [("deadline_of", {})]), Turn("ok")) as server:
        async with box_of(server, root) as box:
            await box.call("delegate_task", {"task": "x", "time_limit": 20})
        reported = server.results()[0]
    assert 5 < float(reported.split()[0]) <= 20
    assert reported.endswith("budget 4000")


@pytest.mark.rows("E117")
@pytest.mark.parametrize(
    ("script", "status", "reason"),
    [
        ([Turn("", [("finish_task", {"answer": "plum"})])], "completed", "finished"),
        ([Turn("plum\nTASK_COMPLETED")], "completed", "finished"),
        ([Turn("no way\nTASK_FAILED")], "failed", "gave_up"),
        (
            [Turn("", [("finish_task", {"answer": "plum", "status": "failed"})])],
            "failed",
            "gave_up",
        ),
        ([Turn("I say TASK_FAILED when it fails: plum")], "completed", "answered"),
        ([Turn("plum\n```\nTASK_FAILED\n```\nend")], "completed", "answered"),
        ([Turn("plum", reasoning="TASK_FAILED")], "completed", "answered"),
        ([Turn("<think>\nTASK_FAILED\n</think>\nplum")], "completed", "answered"),
    ],
)
async def test_words_that_end_a_run(
    root: Path, script: list[Script], status: str, reason: str
) -> None:
    result = await delegated(root, *script)
    assert (result.data["status"], result.data["reason"]) == (status, reason)
    if status == "completed":
        assert "plum" in result.data["answer"]
        assert "TASK_COMPLETED" not in result.data["answer"]


@pytest.mark.rows("E111")
async def test_the_last_step_is_an_answer(root: Path) -> None:
    script = [Turn("", [("echo", {"text": str(n)})]) for n in range(3)]
    with model_server(*script, Turn("what I have")) as server:
        async with box_of(server, root, agent={"steps": 4}) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert "tools" not in server.requested[-1]
        assert "answer now: x" in server.words()
        assert len(server.requested) == 4
    assert result.data["status"] == "completed"
    assert result.data["reason"] == "step_limit"
    assert result.data["answer"] == "what I have"


@pytest.mark.rows("E111")
async def test_the_last_step_without_an_answer_stalls(root: Path) -> None:
    calls = Turn("", [("echo", {"text": "found this"})])
    more = Turn("", [("echo", {"text": "and that"})])
    result = await delegated(root, calls, more, agent={"steps": 2})
    assert (result.data["status"], result.data["reason"]) == ("stalled", "step_limit")
    assert "found this" in result.data["answer"]


async def test_the_budget_of_calls(root: Path) -> None:
    calls = Turn("", [("echo", {"text": str(n)}) for n in range(5)])
    result = await delegated(root, calls, Turn("enough"), agent={"max_calls": 3})
    assert result.data["tool_calls"] == 3
    assert (result.data["status"], result.data["reason"]) == ("completed", "tool_budget")
    assert result.data["answer"] == "enough"


async def test_the_budget_of_tokens(root: Path) -> None:
    dear = Turn("", [("echo", {"text": "x"})], usage=(900, 200))
    result = await delegated(root, dear, agent={"max_tokens": 1000})
    assert (result.data["reason"], result.data["steps"]) == ("token_limit", 1)


@pytest.mark.rows("C123")
async def test_the_same_call_again_is_followed_by_an_answer_without_tools(root: Path) -> None:
    with model_server(READ, READ, READ, Turn("It says plum.")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        last = server.requested[3]
        assert "tools" not in last
        assert len(server.requested) == 4
    roles = [message["role"] for message in last["messages"]]
    assert roles == ["system", "user", "assistant", "user"]  # "Looking." once
    words = last["messages"][3]["content"]
    assert words.startswith('read_file {"path": "notes.md"} gave:\n')
    assert words.count("plum") == 1
    assert "Reminder" not in words
    assert words.endswith("answer now: x")
    assert (result.data["status"], result.data["reason"]) == ("completed", "repeated_call")
    assert result.data["tool_calls"] == 2
    assert result.data["answer"] == "It says plum."
    assert result.data["found"].startswith("Found so far:\n- read_file: ")
    assert result.text.startswith("It says plum.\n\nFound so far:\n- read_file: ")


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (Turn("Let me read the file again."), "stalled"),
        (Turn('{"name": "look_up", "arguments": {"path": "notes.md"}}'), "stalled"),
        (Turn("", [("finish_task", {"answer": "plum"})]), "completed"),
        (Turn("It cannot be read.\nTASK_FAILED"), "stalled"),
        (Turn("No more tools can be called. From what stands above, answer now: do it"), "stalled"),
    ],
)
async def test_only_an_answer_completes_a_run_that_went_round(
    root: Path, last: Turn, status: str
) -> None:
    result = await delegated(root, READ, READ, READ, last)
    assert result.data["status"] == status
    assert "plum" in result.data["answer"]


async def test_what_is_said_of_a_file_that_was_never_read_is_asked_for_again(root: Path) -> None:
    task = "What does notes.md say?"
    with model_server(Turn("It says apple."), Turn("It says plum.")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": task})
        words = server.requested[1]["messages"][-1]["content"]
    assert words.startswith("No call of yours that worked")
    assert 'this was called: read_file {"path": "notes.md"}' in words
    assert "the word is plum" in words
    assert (result.data["answer"], result.data["tool_calls"]) == ("It says plum.", 1)


async def test_an_answer_that_repeats_the_rules_is_none(root: Path) -> None:
    with model_server(lambda body: Turn(body["messages"][0]["content"]), Turn("Plum.")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert server.requested[1]["messages"][-1]["content"].startswith("That was no call.")
    assert result.data["answer"] == "Plum."


async def test_an_answer_that_stays_without_a_call_is_taken(root: Path) -> None:
    task = "Write a poem that could stand in poem.txt, and only tell it to me."
    result = await delegated(root, Turn("Roses."), Turn("Roses."), task=task)
    assert (result.data["status"], result.data["answer"]) == ("completed", "Roses.")


async def test_the_same_error_stalls_whatever_the_last_answer_says(root: Path) -> None:
    wrong = [Turn("", [("missing", {"name": f"thing {n}"})]) for n in range(3)]
    result = await delegated(root, *wrong, Turn("", [("finish_task", {"answer": "pear"})]))
    assert (result.data["status"], result.data["reason"]) == ("stalled", "repeated_error")


async def test_a_limit_before_the_last_answer_leaves_the_reason(root: Path) -> None:
    result = await delegated(root, READ, READ, READ, agent={"steps": 3, "repeats": 3})
    assert result.data["status"] == "stalled"
    assert "plum" in result.data["answer"]


TOOLS = ["read_file", "list_directory"]


@pytest.mark.parametrize("task", ["What does notes.md say?", "Which word is in the notes?"])
async def test_what_the_task_names_is_read_for_a_model_that_goes_round(
    root: Path, task: str
) -> None:
    wrong = [Turn("", [("read_file", {"path": f"{n}.md"})]) for n in range(3)]
    with model_server(*wrong, Turn("It says plum.")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": task, "tools": TOOLS})
        last = server.requested[-1]["messages"][-1]["content"]
    assert 'this was called: read_file {"path": "notes.md"}' in last
    assert "the word is plum" in last
    assert (result.data["status"], result.data["answer"]) == ("completed", "It says plum.")
    assert "same error" in result.data["note"]


async def test_what_was_read_ahead_is_told_to_a_model_that_must_answer(root: Path) -> None:
    (root / "other.md").write_text("the fruit is pear\n")
    wrong = [("missing", {"name": f"thing {n}"}) for n in range(3)]
    both = Turn("", [wrong[2], ("read_file", {"path": "other.md"})])
    turns = [*(Turn("", [call]) for call in wrong[:2]), both, Turn("pear")]
    with model_server(*turns) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        words = server.requested[-1]["messages"][-1]["content"]
    assert "pear" in words
    assert result.data["reason"] == "repeated_error"


async def test_a_server_without_tools_is_asked_for_the_answer_without_calls(root: Path) -> None:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.md"}}\n</tool_call>'
    with model_server(Turn(call), Turn(call), Turn(call), Turn("plum")) as server:
        server.tools_refused = "this model does not support tools"
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        last = server.requested[-1]["messages"]
    assert not any(m["role"] == "assistant" for m in last)
    assert "<tool_call>" not in last[-1]["content"]
    assert last[-1]["content"].count("the word is plum") == 1
    assert (result.data["answer"], result.data["status"]) == ("plum", "completed")


@pytest.mark.rows("C123")
async def test_a_model_that_only_repeats_a_call_leaves_what_was_found(root: Path) -> None:
    with model_server(READ) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        first, second = server.results(2)
    assert (result.data["status"], result.data["reason"]) == ("stalled", "repeated_call")
    assert result.data["tool_calls"] == 2
    assert "Reminder" not in first
    assert "Reminder" in second
    assert "plum" in result.data["answer"]


@pytest.mark.rows("C123")
async def test_a_call_after_an_edit_is_no_repetition(root: Path) -> None:
    script: list[Script] = []
    for n in range(4):
        script.append(READ)
        script.append(Turn("", [("write_file", {"path": f"f{n}.txt", "content": "x"})]))
    result = await delegated(root, *script, Turn("fine"), agent={"steps": 20})
    assert result.data["reason"] == "answered"


@pytest.mark.rows("C123")
async def test_the_same_error_again_ends_a_run(root: Path) -> None:
    script = [Turn("", [("missing", {"name": f"thing {n}"})]) for n in range(5)]
    with model_server(*script) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert "Reminder" in server.results(2)[1]
        assert len(server.requested) == 4
        assert "tools" not in server.requested[3]
    assert (result.data["status"], result.data["reason"]) == ("stalled", "repeated_error")
    assert "There is no" in result.text


@pytest.mark.parametrize(
    "turn",
    [
        Turn('<tool_call>\n{"name": "write_file", "arguments": {"path": "x.txt", "conte'),
        Turn("", [("write_file", '{"path": "x.txt", "content": "ha')], finish="length"),
        Turn("", [("write_file", '{"path": "x.txt", "content": "ha')]),
    ],
)
async def test_calls_that_cannot_be_read_are_never_run(root: Path, turn: Turn) -> None:
    result = await delegated(root, turn)
    assert (result.data["status"], result.data["reason"]) == ("stalled", "format_errors")
    assert "It answered nothing usable: do it yourself" in result.text
    assert result.data["tool_calls"] == 0
    assert not (root / "x.txt").exists()


@pytest.mark.rows("E118")
async def test_an_answer_that_is_only_a_call_of_a_made_up_tool_is_one(root: Path) -> None:
    unknown = Turn('```json\n{"name": "set_port", "arguments": {"port": "9090"}}\n```')
    known_elsewhere = Turn('{"name": "save_file", "arguments": {"file_name": "x", "content": "y"}}')
    with model_server(unknown, known_elsewhere, Turn("done")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert "There is no tool 'set_port'" in server.results()[0]
    assert (result.data["status"], result.data["answer"]) == ("completed", "done")


@pytest.mark.rows("E116")
async def test_a_refusal_is_answered_with_the_tools(root: Path) -> None:
    refusal = Turn("I'm sorry, but I don't have access to your files.")
    with model_server(refusal, READ, Turn("plum")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "read notes.md"})
        assert "You have tools" in str(server.requested[1]["messages"])
    assert result.data["answer"] == "plum"


@pytest.mark.rows("E116")
@pytest.mark.parametrize("text", ["Let me read the file.", "", "Sure! I'll now look at notes.md:"])
async def test_an_announcement_is_reminded_and_stalls(root: Path, text: str) -> None:
    with model_server(Turn(text)) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "what is in notes.md"})
        assert 'read_file {"path": "notes.md"}' in server.requested[1]["messages"][-1]["content"]
        assert len(server.requested) == 3
    assert (result.data["status"], result.data["reason"]) == ("stalled", "no_calls")


@pytest.mark.rows("E121")
@pytest.mark.parametrize(
    ("task", "seen"), [("what is in notes.md", "the word is plum"), ("look around", "notes.md")]
)
async def test_what_a_task_names_is_read_for_a_model_that_calls_nothing(
    root: Path, task: str, seen: str
) -> None:
    with model_server(Turn("Let me see."), Turn("Let me see."), Turn("It says plum.")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": task})
        assert seen in server.requested[2]["messages"][-1]["content"]
    assert result.data["answer"] == "It says plum."
    assert result.data["tool_calls"] == 1


@pytest.mark.rows("E110")
@pytest.mark.parametrize(
    ("set_up", "words"),
    [
        ("nobody", "No model server answers"),
        ("page", "is no OpenAI-compatible server"),
        ("hangs", "No model server answers"),
        ("empty", "has no model"),
    ],
)
async def test_the_server_is_checked_before_a_run(root: Path, set_up: str, words: str) -> None:
    with model_server() as server:
        agent: dict[str, Any] = {}
        if set_up == "nobody":
            agent = {"base_url": "http://127.0.0.1:9/v1"}
        elif set_up == "page":
            server.models, server.models_kind = b"<html>hello</html>", "text/html"
        elif set_up == "hangs":
            server.models_stall = True
        else:
            server.models, agent = {"data": []}, {"model": ""}
        async with box_of(server, root, agent=agent) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert server.requested == []
    assert result.error is not None
    assert words in result.error.message
    assert result.error.hint
    assert (result.data["status"], result.data["reason"]) == ("failed", "backend_error")


@pytest.mark.rows("E110")
async def test_the_first_server_that_answers_is_found(root: Path) -> None:
    with model_server() as other, model_server(Turn("found")) as server:
        other.models, other.models_kind = b"<html></html>", "text/html"
        server.models = {"data": [{"id": "text-embedding-x"}, {"id": "chatty"}]}
        servers = ["http://127.0.0.1:9/v1", other.url, server.origin]
        async with box_of(None, root, agent={"servers": servers}) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert server.requested[0]["model"] == "chatty"
    assert result.data["answer"] == "found"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Raw([b'{"error": {"message": "out of memory"}}'], 500), "out of memory"),
        (Raw([b"<html>oops</html>"], kind="text/html"), "HTML"),
        (Raw([b""], 302, headers={"Location": "http://example.org/"}), "redirect"),
        (Turn("x", error="crashed"), "crashed"),
    ],
)
async def test_a_server_that_fails(root: Path, answer: Script, words: str) -> None:
    result = await delegated(root, READ, answer, time_limit=20)
    assert (result.data["status"], result.data["reason"]) == ("failed", "backend_error")
    assert result.error is not None
    assert words in result.error.message
    assert "plum" in result.data["answer"]


async def test_a_server_that_takes_no_tools_gets_them_in_words(root: Path) -> None:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.md"}}\n</tool_call>'
    with model_server(Turn(call), Turn("plum")) as server:
        server.tools_refused = "this model does not support tools"
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        assert "read_file" in server.requested[0]["messages"][0]["content"]
        assert {m["role"] for m in server.requested[-1]["messages"]} == {
            "system",
            "user",
            "assistant",
        }
        assert "the word is plum" in server.words()
    assert result.data["answer"] == "plum"


async def test_a_conversation_that_is_too_long_is_shortened(root: Path) -> None:
    long = Raw([b'{"error": {"message": "exceeds the available context size"}}'], 400)
    calls = [Turn("", [("echo", {"text": f"{n}"})]) for n in range(5)]
    with model_server(*calls, long, Turn("short now")) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        before, after = (len(a["messages"]) for a in server.requested[-2:])
    assert result.data["answer"] == "short now"
    assert after < before


@pytest.mark.rows("E127")
async def test_a_call_in_the_text_is_run_and_one_in_reasoning_is_not(root: Path) -> None:
    call = '<tool_call>\n{"name": "write_file", "arguments": %s}\n</tool_call>'
    thought = call % '{"path": "thought.txt", "content": "x"}'
    reply = call % '{"path": "said.txt", "content": "x"}'
    result = await delegated(
        root,
        Turn(f"<think>{thought}</think>{reply}", reasoning=thought),
        Turn(f"<think>{thought}</think>"),
        Turn("done", reasoning=thought),
    )
    assert result.data["answer"] == "done"
    assert (root / "said.txt").exists()
    assert not (root / "thought.txt").exists()
    assert result.data["files_modified"] == [str(root / "said.txt")]


@pytest.mark.parametrize(
    "arguments", ["{'path': 'notes.md',}", '{"path": "notes.md",}', "{path: 'notes.md'}"]
)
async def test_arguments_that_are_nearly_json_are_read(root: Path, arguments: str) -> None:
    with model_server(Turn("", [("read_file", arguments)]), Turn("plum")) as server:
        async with box_of(server, root) as box:
            await box.call("delegate_task", {"task": "x"})
        (text,) = server.results()
    assert "the word is plum" in text


@pytest.mark.rows("E118")
async def test_a_wrong_call_is_answered_with_a_right_one(root: Path) -> None:
    with model_server(
        Turn("", [("read_file", {"pth": "notes.md", "lines": "many"})]),
        Turn("", [("reed_files", {"path": "notes.md"})]),
        Turn("", [("cat", {"file_name": "notes.md"})]),
        Turn("", [("functions.read_file", {"path": "/etc/passwd"})]),
        Turn("", [("read_file", "[1]")]),
        Turn("plum"),
    ) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        wrong, unknown, alias, outside, broken = server.results()
    assert "no argument 'pth'" in wrong
    assert 'For example: read_file {"path": "notes.md"' in wrong
    assert "Nearest: read_file" in unknown
    assert "the word is plum" in alias
    assert "outside the workspace" in outside
    assert "could not be read" in broken
    assert result.data["answer"] == "plum"


@pytest.mark.rows("E124")
@pytest.mark.parametrize(
    "turn",
    [
        Turn("plum [HANDOFF_MESSAGE]old[/HANDOFF_MESSAGE] [HANDOFF_MESSAGE]mind the gap"),
        Turn('{"answer": "plum", "handoff_message": "mind the gap"}'),
        Turn("", [("finish_task", {"answer": "plum", "handoff": "mind the gap"})]),
        Turn("plum [HANDOFF_MESSAGE]mind the gap", reasoning="[HANDOFF_MESSAGE]no"),
    ],
)
async def test_a_handoff_message(root: Path, turn: Turn) -> None:
    result = await delegated(root, turn)
    assert result.data["handoff"] == "mind the gap"
    assert result.data["answer"] == "plum"


async def test_a_cancelled_caller_leaves_what_was_found(root: Path) -> None:
    with model_server(READ, Turn("", [("hang", {})])) as server:
        async with box_of(server, root) as box:
            call = asyncio.create_task(box.call("delegate_task", {"task": "x"}, session="s"))
            HUNG.clear()
            await until(lambda: HUNG)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            found = await box.call("get_agent_result", session="s")
    assert (found.data["status"], found.data["reason"]) == ("cancelled", "cancelled")
    assert "plum" in found.data["answer"]


@pytest.mark.parametrize(
    "given", [{"task": ""}, {"task": "x", "role": "wizard"}, {"task": "x", "tools": ["nosuch"]}]
)
async def test_bad_input_is_said_at_once(root: Path, given: dict[str, Any]) -> None:
    with model_server() as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", given)
        assert server.paths == []
    assert result.error is not None
    assert result.error.code == "bad_input"
    assert result.error.hint


async def test_an_answer_of_ten_megabytes_is_bounded(root: Path) -> None:
    chunk = b'data: {"choices": [{"delta": {"content": "' + b"word " * 20_000 + b'"}}]}\n\n'
    result = await delegated(root, Raw([chunk] * 105), time_limit=30)
    assert result.data["status"] == "completed"
    assert len(result.data["answer"]) <= 1_000_000
    assert len(result.text) < 40_000
    assert result.truncated


async def test_what_came_before_a_retry_is_not_lost(root: Path) -> None:
    broken = [Turn("the long part of it", piece=4, drop=4), Turn("", drop=0), Turn("", stall=0)]
    result = await delegated(root, *broken, time_limit=6)
    assert result.data["status"] == "timeout"
    assert "the long" in result.data["answer"]


async def test_what_a_reading_tool_does_not_take_is_left_out_and_said(root: Path) -> None:
    wrong = {"path": "notes.md", "show": "files", "pattern": "x"}
    writing = {"path": "new.txt", "content": "x", "show": "files"}
    turns = [Turn("", [("read_file", wrong)]), Turn("", [("write_file", writing)]), Turn("plum")]
    with model_server(*turns) as server:
        async with box_of(server, root) as box:
            result = await box.call("delegate_task", {"task": "x"})
        read, written = server.results()
    assert "the word is plum" in read
    assert "left out, since read_file does not take it: show, pattern" in read
    assert "write_file has no argument 'show'" in written
    assert not (root / "new.txt").exists()
    assert result.data["tool_calls"] == 2


async def test_a_run_that_needs_more_time_says_what_helps(root: Path) -> None:
    result = await delegated(root, Turn("", stall=0), time_limit=LIMIT)
    assert result.data["status"] == "timeout"
    assert "longer time_limit" in result.text
