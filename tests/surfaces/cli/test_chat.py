"""`toolcrib chat`: the real program against a scripted model server, by pipe and terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.model import ModelServer, Raw, Turn, model_server
from tests.surfaces.cli.program import PATIENCE, Ended, Program
from toolcrib.core.context import Question, Rejection
from toolcrib.surfaces.cli.chat_terminal.approvals import Approver

READ = Turn("Looking.", [("read_file", {"path": "notes.md"})])


@pytest.fixture
def server(program: Program) -> Iterator[ModelServer]:
    (program.folder / "notes.md").write_text("the word is plum\n")
    with model_server(READ, Turn("It is plum.", piece=1)) as found:
        yield found


@pytest.fixture
def chat(program: Program, server: ModelServer) -> Any:
    def run(*words: str, stdin: str | None = None, typed: dict[str, str] | None = None) -> Ended:
        flags = ("--set", f"agent.base_url={server.url}", "--workspace", str(program.folder))
        if typed is not None:
            return program.on_terminal("chat", "--plain", *flags, *words, type_after=typed)
        return program("chat", *flags, *words, stdin=stdin)

    return run


def test_one_question(chat: Any) -> None:
    ended = chat("-p", "what is the word?")
    assert (ended.code, ended.out) == (0, "Looking.\nIt is plum.\n")
    assert "> read_file path=notes.md" in ended.err


def test_a_pipe_and_a_prompt(chat: Any, server: ModelServer) -> None:
    server.says(Turn("fine"))
    ended = chat("-p", "Review this", stdin="+ a line\n")
    assert ended.out == "fine\n"
    assert server.requested[0]["messages"][-1]["content"] == "Review this\n\n+ a line"
    assert chat(stdin="only the pipe").out == "fine\n"
    nothing = chat(stdin="")
    assert nothing.code == 2
    assert "nothing to say" in nothing.err


def test_a_pipe_that_stays_open_is_waited_for_and_that_is_said(
    program: Program, server: ModelServer
) -> None:
    words = ["chat", "-p", "Sum it up", "--set", f"agent.base_url={server.url}"]
    server.says(Turn("fine"))
    folder = ("--workspace", str(program.folder))
    with program.start(*words, *folder, stdin=subprocess.PIPE) as running:
        assert running.stderr is not None
        assert "waiting for the end" in running.stderr.readline()
        out, _ = running.communicate("late")
    assert (running.returncode, out) == (0, "fine\n")
    assert server.requested[0]["messages"][-1]["content"] == "Sum it up\n\nlate"


def test_a_model_that_says_nothing(chat: Any, server: ModelServer) -> None:
    server.says(Turn(""), Turn(" \n"))
    ended = chat("-p", "hello")
    assert (ended.code, ended.out.strip()) == (1, "")
    assert "the model said nothing" in ended.err
    ended = chat("-p", "hello", "--json")
    outcome = ended.events[-1]
    assert (ended.code, outcome["status"], outcome["reason"]) == (1, "stalled", "no_answer")


def test_as_json(chat: Any) -> None:
    ended = chat("-p", "what is the word?", "--json")
    end = ended.events[-1]
    assert (end["answer"], end["status"], end["tool_calls"]) == ("It is plum.", "completed", 1)
    assert end["session"].startswith("c")
    kinds = [event["type"] for event in ended.events]
    assert kinds[:5] == ["request", "text", "answer", "call", "result"]
    assert kinds[-1] == "end"
    call, result = ended.events[3:5]
    assert (call["number"], call["arguments"]) == (1, {"path": "notes.md"})
    assert (result["number"], result["error"]) == (1, "")
    assert "plum" in result["text"]
    reply = [event["text"] for event in ended.events if event["type"] == "text"]
    assert "".join(reply) == "Looking.It is plum."


def test_a_call_in_the_text_is_run_and_not_shown(chat: Any, server: ModelServer) -> None:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.md"}}\n</tool_call>'
    server.says(Turn(f"<think>hm</think>Looking. {call}", piece=1), Turn("plum"))
    ended = chat(typed={"you> ": "go\n", "plum": "/exit\n"})
    assert "tool_call" not in ended.out
    assert "hm" not in ended.out.partition("go")[2]
    assert "> read_file path=notes.md" in ended.out


@pytest.mark.timeout(120)
def test_a_chat_by_name_goes_on(chat: Any, server: ModelServer) -> None:
    server.says(Turn("hello Ada"))
    chat("-p", "I am Ada", "--session", "mine")
    chat("-p", "who am I?", "--session", "mine")
    reply = [m["content"] for m in server.requested[-1]["messages"][1:]]
    assert reply == ["I am Ada", "hello Ada", "who am I?"]
    listed = chat("--list").out
    assert "mine" in listed
    assert "I am Ada" in listed


@pytest.mark.timeout(120)
def test_the_last_chat_goes_on(chat: Any, server: ModelServer) -> None:
    server.says(Turn("hello Ada"))
    chat("-p", "I am Ada", "--session", "old")
    chat("-p", "I am Bob")
    chat("-p", "and again?", "--continue")
    reply = [m["content"] for m in server.requested[-1]["messages"][1:]]
    assert reply == ["I am Bob", "hello Ada", "and again?"]


def test_there_is_nothing_to_continue(chat: Any) -> None:
    ended = chat("--continue", "-p", "x")
    assert ended.code == 1
    assert "no chat to continue" in ended.err


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--tools", "read_file"), {"read_file", "read_more", "read_job"}),
        (("--profile", "meta"), None),
        (("--tools", "none"), set()),
    ],
)
def test_which_tools(
    chat: Any, server: ModelServer, words: tuple[str, ...], names: set[str] | None
) -> None:
    server.says(Turn("ok"))
    assert chat("-p", "x", *words).code == 0
    offered = {t["function"]["name"] for t in server.requested[0].get("tools", ())}
    assert offered == names if names is not None else "call_tool" in offered


def test_the_model_and_the_steps(chat: Any, server: ModelServer) -> None:
    server.models = {"data": [{"id": "first"}, {"id": "second"}]}
    server.says(READ)
    ended = chat("-p", "x", "--max-steps", "2", "-m", "second", "--json")
    assert {a["model"] for a in server.requested} == {"second"}
    assert (ended.code, ended.events[-1]["reason"]) == (1, "step_limit")
    assert len(server.requested) == 2
    assert chat("-p", "x", "--max-steps", "0").code == 2


def test_a_model_that_the_server_does_not_list_is_told(chat: Any, server: ModelServer) -> None:
    server.models = {"data": [{"id": "first"}, {"id": "second"}]}
    server.says(Turn("ok"), Turn("ok"))
    ended = chat("-p", "x", "-m", "nope-model")
    assert ended.code == 0
    assert "lists no model nope-model. It has: first, second." in ended.err
    assert "lists no model" not in chat("-p", "x", "-m", "Second").err


def test_no_server(program: Program) -> None:
    ended = program("chat", "--set", "agent.base_url=http://127.0.0.1:9/v1", "-p", "x")
    assert ended.code == 1
    assert "No model server answers at http://127.0.0.1:9/v1" in ended.err
    assert "agent.base_url" in ended.err


def test_a_server_that_fails_in_the_middle(chat: Any, server: ModelServer) -> None:
    server.says(READ, Raw([b"<html>"], kind="text/html"))
    ended = chat("-p", "x")
    assert ended.code == 1
    assert "HTML" in ended.err


def test_a_conversation_at_a_terminal(chat: Any, server: ModelServer) -> None:
    server.says(READ, Turn("It is plum.", piece=1), Turn("You asked for a word."))
    ended = chat(
        typed={
            "you> ": "what is the word?\n",
            "It is plum.": "/tools\n",
            "web_search, ": "what did I ask?\n",
            "asked for a word.": "\x04",
        }
    )
    assert ended.code == 0
    assert "> read_file path=notes.md" in ended.out
    assert server.requested[-1]["messages"][-1]["content"] == "what did I ask?"


@pytest.mark.parametrize(
    ("answer", "requested", "changed"), [("y", 2, 2), ("n", 2, 0), ("always", 1, 2)]
)
def test_a_person_is_asked(
    program: Program, chat: Any, server: ModelServer, answer: str, requested: int, changed: int
) -> None:
    write = [
        Turn("", [("write_file", {"path": f"{name}.txt", "content": "x"})]) for name in ("a", "b")
    ]
    server.says(*write, Turn("all done"))
    rule = '[{action = "ask", tool = "write_file"}]'
    config = program.folder / "ask.toml"
    config.write_text(f"[policy]\nrules = {rule}\n")
    prompt = "[y]es once, "
    typed = {"you> ": "write\n", prompt: f"{answer}\n", "all done": "\x04"}
    if requested == 2:
        # The second question comes after the line of the second call.
        typed["> write_file path=b.txt content=x"] = f"{answer}\n"
    ended = chat("--config", str(config), typed=typed)
    assert ended.out.count(prompt) == requested
    assert len(list(program.folder.glob("?.txt"))) == changed


def test_control_characters_do_not_reach_the_terminal(chat: Any, server: ModelServer) -> None:
    server.says(Turn("safe \x1b]0;owned\x07 text\x1b[2J"))
    ended = chat(typed={"you> ": "x\n", "text": "\x04"})
    assert "\x1b]0" not in ended.out
    assert "\x1b[2J" not in ended.out


def test_interrupting_a_step_keeps_the_chat(chat: Any, server: ModelServer) -> None:
    server.says(READ, Turn("a long answer", piece=1, stall=9), Turn("still here"))
    ended = chat(
        typed={"you> ": "tell\n", "a long": "\x03", "[stopped]": "and now?\n", "still here": "\x04"}
    )
    assert ended.code == 0
    messages = server.requested[-1]["messages"]
    assert [m["role"] for m in messages][-3:] == ["tool", "assistant", "user"]
    assert "a long" in messages[-2]["content"]


def test_interrupting_twice_leaves(chat: Any, server: ModelServer) -> None:
    server.says(Turn("a long answer", piece=1, stall=9))
    ended = chat(typed={"you> ": "tell\n", "a long": "\x03", "[stopped]": "\x03"})
    assert ended.code == 0
    assert ended.out.count("[stopped]") == 1


def test_interrupting_a_server_that_says_nothing(chat: Any, server: ModelServer) -> None:
    server.says(Raw(mute=True))
    ended = chat(typed={"you> ": "tell\n", "[waiting for the model": "\x03", "[stopped]": "\x03"})
    assert ended.code == 0
    assert ended.out.count("[stopped]") == 1


def test_words_flow_into_a_pipe_and_stay_when_interrupted(
    program: Program, server: ModelServer
) -> None:
    server.says(Turn("a long answer", piece=1, stall=9))
    flags = ("--set", f"agent.base_url={server.url}", "--workspace", str(program.folder))
    process = program.start("chat", *flags, "-p", "x")
    assert process.stdout is not None
    came = b""
    while b"a long" not in came:  # the server says no more, and does not end
        came += os.read(process.stdout.fileno(), 100)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    reply = came.decode() + out
    assert process.returncode == 130
    assert reply.startswith("a long")
    assert reply.endswith("\n")
    assert err == "toolcrib: stopped.\n"


def test_a_call_in_the_text_does_not_flow_into_a_pipe(chat: Any, server: ModelServer) -> None:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.md"}}\n</tool_call>'
    server.says(Turn(f"Looking. {call}", piece=1), Turn("plum"))
    ended = chat("-p", "go")
    assert [line.rstrip() for line in ended.out.splitlines()] == ["Looking.", "plum"]


@pytest.mark.parametrize("silence", [Raw(mute=True), Turn("so far", piece=1, stall=4)])
def test_one_question_comes_back_at_its_budget(
    chat: Any, server: ModelServer, silence: Raw | Turn
) -> None:
    server.says(silence)
    wanted = "" if isinstance(silence, Raw) else "so\n"
    for seconds in (2, 8, 32):  # on a busy machine nothing may have come after 2 s
        ended = chat("-p", "hi", "--set", f"agent.seconds={seconds}")
        assert ended.code == 1
        assert f"[time limit: stopped after {seconds} s (agent.seconds)]" in ended.err
        if ended.out == wanted:
            break
        assert not ended.out
    assert ended.out == wanted
    as_json = chat("-p", "hi", "--json", "--set", "agent.seconds=2").events[-1]
    assert (as_json["status"], as_json["reason"]) == ("timeout", "time_limit")


def test_what_was_said_is_not_printed_twice_at_the_end(chat: Any, server: ModelServer) -> None:
    server.says(READ)
    ended = chat("-p", "x", "--max-steps", "2")
    assert ended.out.count("Looking.") == 2  # once for each answer
    assert "plum" in ended.out


def test_an_address_without_a_scheme(chat: Any, program: Program) -> None:
    for given in ("localhost:18234", "localhost:18234/v1"):
        ended = program("chat", "-p", "hi", "--set", f"agent.base_url={given}")
        assert ended.code == 2
        assert "Write http://localhost:18234/v1." in ended.err


def test_a_reader_that_goes_away(program: Program, server: ModelServer, tmp_path: Path) -> None:
    server.says(Turn("line\n" * 20_000))
    command = (
        f"{sys.executable} -m toolcrib chat --set agent.base_url={server.url} -p x | head -n 1"
    )
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=dict(program.env), capture_output=True, text=True
    )
    assert done.stdout == "line\n"
    assert "Traceback" not in done.stderr


def test_turns_as_json_at_a_terminal(chat: Any, server: ModelServer) -> None:
    server.says(Turn("one"))
    ended = chat("--json", typed={"you> ": "x\n", '"session"': "\x04"})
    line = next(x for x in ended.out.splitlines() if "session" in x)
    assert json.loads(line)["answer"] == "one"


def test_a_beginning_is_not_shown_twice(chat: Any, server: ModelServer) -> None:
    server.says(Turn("The word is plum and", piece=4, drop=5), Turn("The word is plum.", piece=4))
    ended = chat(typed={"you> ": "what?\n", "is plum.": "\x04"})
    assert ended.out.count("The word is") == 1
    assert "The word is plum." in ended.out


def test_another_beginning_is_shown_whole(chat: Any, server: ModelServer) -> None:
    server.says(Turn("The word is", piece=4, drop=4), Turn("It is plum.", piece=1))
    ended = chat(typed={"you> ": "what?\n", "It is plum.": "\x04"})
    assert "It is plum." in ended.out
    assert "Asked again in 1 s." in ended.out


def test_what_looks_like_a_mark_is_shown_at_the_end(chat: Any, server: ModelServer) -> None:
    server.says(Turn("Less is written as <", piece=1))
    ended = chat(typed={"you> ": "x\n", "written as <": "\x04"})
    assert "written as <" in ended.out


def test_a_wait_of_a_day_is_not_begun(chat: Any, server: ModelServer) -> None:
    server.says(Raw([b'{"error": "too many"}'], 429, headers={"Retry-After": "86400"}))
    ended = chat("-p", "x")
    assert ended.code == 1
    assert "HTTP 429" in ended.err


def test_a_half_character_does_not_end_a_turn(chat: Any, server: ModelServer) -> None:
    chunk = rb'data: {"choices":[{"delta":{"content":"so \ud83d far"}}]}' + b"\n\n"
    server.says(Raw([chunk, b"data: [DONE]\n\n"]))
    ended = chat(typed={"you> ": "x\n", " far": "\x04"})
    assert "internal" not in ended.out


def test_too_much_through_a_pipe_is_refused(chat: Any, server: ModelServer) -> None:
    ended = chat("-p", "x", stdin="x" * 2_000_001)
    assert ended.code == 2
    assert "2,000,000 bytes" in ended.err
    assert not server.requested


def test_waiting_for_a_pipe_can_be_interrupted(program: Program, server: ModelServer) -> None:
    flags = ("--set", f"agent.base_url={server.url}")
    with program.start("chat", *flags, "-p", "x", stdin=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert "waiting for the end" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert "Traceback" not in process.stderr.read()


async def test_always_holds_for_one_reason() -> None:
    typed = ["always", "n", "no, only the first"]

    async def read_line(prompt: str) -> str:
        return typed.pop(0)

    approver = Approver(read_line)
    assert await approver(Question("1", "post", "it may send", "x"))
    assert await approver(Question("2", "post", "it may send", "y"))
    tainted = "it would send out what was read outside"
    assert await approver(Question("3", "post", tainted, "y")) is False
    assert await approver(Question("3", "post", tainted, "y")) == Rejection("only the first")
