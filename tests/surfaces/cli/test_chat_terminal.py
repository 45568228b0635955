"""`toolcrib chat` on a real pseudo-terminal, as a person sees and uses it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.servers.model import ModelServer, Turn, model_server
from tests.surfaces.cli.program import PROGRAM, Program
from tests.surfaces.cli.real_terminal import Terminal, on_terminal

READ = Turn("Looking.", [("read_file", {"path": "notes.md"})])
ANSWER = """\
# Title

Some **bold** and `code`, 2 * 3.

| a | b |
|---|---|
| 1 | 22 |

```py
x = 1
```
It is plum."""
ASK = '[policy]\nrules = [{action = "ask", tool = "write_file"}]\n'


class Start(Protocol):
    def __call__(
        self, *words: str, columns: int = 80, **env: str
    ) -> AbstractContextManager[Terminal]: ...


@pytest.fixture
def server(program: Program) -> Iterator[ModelServer]:
    (program.folder / "notes.md").write_text("the word is plum\n")
    with model_server(Turn("fine")) as found:
        yield found


@pytest.fixture
def start(program: Program, server: ModelServer) -> Start:
    def run(*words: str, columns: int = 80, **env: str) -> AbstractContextManager[Terminal]:
        flags = ("--set", f"agent.base_url={server.url}", "--workspace", str(program.folder))
        command = [*PROGRAM, "chat", *flags, *words]
        return on_terminal(command, program.folder, {**program.env, **env}, columns)

    return run


def reply(server: ModelServer, at: int = -1) -> Any:
    return server.requested[at]["messages"][-1]["content"]


def test_a_turn_as_it_is_seen(start: Start, server: ModelServer) -> None:
    server.says(READ, Turn(ANSWER, piece=3, reasoning="let me see"), Turn("again"))
    with start() as terminal:
        terminal.until("you>")
        terminal.type("what is the word?\r")
        terminal.until("plum.")
        text = terminal.until("you>")
        assert "> read_file path=notes.md [1, 0." in text
        assert (
            "Title\n\nSome bold and code, 2 * 3.\n\na │ b\n──┼───\n1 │ 22\n\nx = 1\nIt is" in text
        )
        assert "[thought for 0 s; /show thought]" in text
        assert b"\x1b[1mbold" in terminal.raw
        assert "20 tokens" in text
        terminal.type("\x0f")
        terminal.until("the word is plum")
        terminal.type("/show thought\r")
        terminal.until("let me see")
        terminal.until("you>")
        terminal.type("\x04")
        assert terminal.ended() == 0
        assert terminal.has_line_mode


@pytest.mark.parametrize("words", [(), ("--plain",)])
def test_nothing_that_is_pasted_is_lost(
    start: Start, server: ModelServer, words: tuple[str, ...]
) -> None:
    large = "\n".join(f"line {number}, which is pasted" for number in range(40_000))
    assert len(large) > 1_000_000
    with start(*words) as terminal:
        terminal.until("you>")
        terminal.paste("one\ntwo\n\tthree")
        terminal.type("\r")
        terminal.until("fine")
        assert reply(server) == "one\ntwo\n\tthree"
        terminal.until("you>")
        terminal.paste(large)
        terminal.type(" and this\r")
        terminal.until("fine")
        assert reply(server) == f"{large} and this"
        terminal.until("you>")
        terminal.paste("a\x07b\x1b[31mc\x9b")
        terminal.type("\r")
        terminal.until("fine")
        assert b"\x07" not in terminal.raw
        assert len(server.requested) == 3
        assert len(terminal.raw) < 200_000
        terminal.until("you>")
        terminal.type("\x04")
        assert terminal.ended() == 0


def test_a_plain_line_has_no_limit(start: Start, server: ModelServer) -> None:
    with start("--plain") as terminal:
        terminal.until("you>")
        terminal.type("x" * 9_000 + "ö\n")
        terminal.until("fine")
        assert reply(server) == "x" * 9_000 + "ö"
        terminal.until("you>")
        terminal.type("first\\\nsecnd\x1b[D\x7f\x7fond\n")
        terminal.until("fine")
        assert reply(server) == "first\nsecond"
        terminal.until("you>")
        terminal.type('"""\na\n\nb\n"""\n')
        terminal.until("fine")
        assert reply(server) == "a\n\nb"


def test_ctrl_c_stops_what_runs_and_twice_leaves(start: Start, server: ModelServer) -> None:
    server.says(Turn("a long answer", piece=1, stall=9), Turn("still here"))
    with start() as terminal:
        terminal.until("you>")
        terminal.type("tell\r")
        terminal.until("a long")
        terminal.type("\x03")
        terminal.until("[stopped]")
        terminal.until("you>")
        terminal.type("not this\x03")
        terminal.until("Ctrl-C again")
        terminal.until("you>")
        terminal.type("and now?\r")
        terminal.until("no tool used]")
        terminal.until("you>")
        terminal.type("a draft\x03")
        terminal.until("Ctrl-C again")
        terminal.until("you>")
        terminal.type("\x03")
        assert terminal.ended() == 0
        assert terminal.has_line_mode


def test_what_was_typed_is_known_in_the_next_chat(start: Start, server: ModelServer) -> None:
    with start() as terminal:
        terminal.until("you>")
        terminal.type("the first of all\x1b\rin two lines\r")
        terminal.until("fine")
        terminal.until("you>")
        terminal.type("another one\r")
        terminal.until("fine")
        assert reply(server, 0) == "the first of all\nin two lines"
        terminal.until("you>")
    with start() as terminal:
        terminal.until("you>")
        terminal.type("\x12first of")
        terminal.until("two lines")
        terminal.type("\r\r")
        terminal.until("fine")
        assert reply(server) == "the first of all\nin two lines"
        terminal.until("you>")
        terminal.type("see not\t")
        terminal.until("es.md")
        terminal.type("\r")
        terminal.until("fine")
        assert reply(server) == "see notes.md"
        terminal.until("you>")
        terminal.type("/cont\t")
        terminal.until("ext")
        terminal.type("\r")
        terminal.until("About")


def test_without_its_extra_it_is_a_plain_chat(
    program: Program, start: Start, server: ModelServer, tmp_path: Path
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['prompt_toolkit'] = None\n")
    path = os.pathsep.join([str(hidden), program.env["PYTHONPATH"]])
    with start(PYTHONPATH=path) as terminal:
        terminal.until("you> ")
        terminal.paste("one\ntwo")
        terminal.type("\n")
        terminal.until("fine")
        assert reply(server) == "one\ntwo"


def test_what_is_typed_while_the_model_writes(start: Start, server: ModelServer) -> None:
    server.says(Turn("a long answer of many words", piece=2, pause=0.05), Turn("second"))
    with start() as terminal:
        terminal.until("you>")
        terminal.type("go\r")
        terminal.until("long")
        terminal.type("and now?\r")
        terminal.until("second")
        assert reply(server) == "and now?"


def test_a_change_is_shown_and_refused_with_words(
    program: Program, start: Start, server: ModelServer
) -> None:
    def write(path: str, text: str) -> Turn:
        return Turn("", [("write_file", {"path": path, "content": text})])

    server.says(
        write("notes.md", "the word is fig\n"),
        write("other.md", "fig\n"),
        write("third.md", "fig\n"),
        Turn("all done"),
    )
    config = program.folder / "ask.toml"
    config.write_text(ASK)
    with start("--config", str(config)) as terminal:
        terminal.until("you>")
        terminal.type("write\r")
        text = terminal.until("what to do instead: ")
        assert "\nAllow write_file?\n" in text
        assert "  -the word is plum\n  +the word is fig" in text
        terminal.type("no, into other.md\r")
        terminal.until("what to do instead: ")
        assert "They say: into other.md" in reply(server)
        terminal.type("a\r")
        terminal.until("all done")
        terminal.until("you>")
        assert (program.folder / "notes.md").read_text() == "the word is plum\n"
        assert (program.folder / "third.md").read_text() == "fig\n"


def test_commands(program: Program, start: Start, server: ModelServer) -> None:
    server.models = {
        "data": [{"id": "small", "max_model_len": 100}, {"id": "large"}, {"id": "embed-x"}]
    }
    picture = program.folder / "a picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 100)
    with start() as terminal:

        def does(typed: str, shows: str) -> str:
            terminal.type(f"{typed}\r")
            terminal.until(shows)
            return terminal.until("you>")

        terminal.until("Which? [1] ")
        terminal.type("1\r")
        terminal.until("you>")
        assert "(15%)" in does("hello", "fine")
        assert server.requested[-1]["model"] == "small"
        does("/model", "large")
        does("/model lar", "Now large")
        does("/system You are a pirate", "pirate")
        does(f"/attach {picture}", "Attached: a picture.png")
        does("what is it?", "fine")
        assert server.requested[-1]["model"] == "large"
        assert server.requested[-1]["messages"][0]["content"].startswith("You are a pirate")
        text, image = reply(server)
        assert text == {"type": "text", "text": "what is it?"}
        assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        does("/retry", "fine")
        assert reply(server) == [text, image]
        does("/edit who is it?", "fine")
        assert reply(server)[0]["text"] == "who is it?"
        assert len(server.requested[-1]["messages"]) == 4
        does("/undo", "Forgotten: who")
        does("/tools read_file", "read_file")
        terminal.type("/edit\r")
        terminal.until("hello")  # the last text, to be changed
        terminal.type("\x01well, \r")
        terminal.until("fine")
        terminal.until("you>")
        assert [m["content"] for m in server.requested[-1]["messages"][1:]] == ["well, hello"]
        assert "read_file" in {t["function"]["name"] for t in server.requested[-1]["tools"]}
        assert len(server.requested[-1]["tools"]) < 6
        does("/save chat.md", "Saved")
        assert "## You\n\nwell, hello" in (program.folder / "chat.md").read_text()
        does("/save chat.md", "there already")
        does("/attach nothing.txt", "There is no file")
        does("/tolls", "Nearest: /tools")
        does("/etc/hosts is what?", "fine")
        assert reply(server) == "/etc/hosts is what?"
        does("/clear", "Forgotten")
        assert "the call" not in does("/undo", "Nothing was said")  # those words are for models
        terminal.type("/quit\r")
        assert terminal.ended() == 0


def test_a_model_that_is_not_listed_is_told_at_the_start(start: Start, server: ModelServer) -> None:
    server.models = {"data": [{"id": "small"}, {"id": "la\x1b[2Jrge"}]}
    with start("-m", "nope-model") as terminal:
        output = terminal.until("you>")
        assert "lists no model nope-model. It has: small, " in " ".join(output.split())
        assert "\x1b[2J" not in output


def test_the_temperature(start: Start, server: ModelServer) -> None:
    with start() as terminal:
        for typed, shows in (
            ("/temperature hot", "from 0 to 2, not hot"),
            ("/temperature nan", "from 0 to 2, not nan"),
            ("/temperature 0,25", "Temperature: 0.25"),
            ("hello", "fine"),
            ("/temperature default", "the server's own"),
        ):
            terminal.until("you>")
            terminal.type(f"{typed}\r")
            terminal.until(shows)
        assert server.requested[-1]["temperature"] == 0.25


def test_a_narrow_window_that_changes(start: Start, server: ModelServer) -> None:
    server.says(READ, Turn(ANSWER, piece=2, pause=0.01))
    with start(columns=20) as terminal:
        terminal.until("you>")
        terminal.type("what is it, then?\r")
        terminal.until("Title")
        terminal.resize(60)
        terminal.until("plum.")
        terminal.until("you>")
        terminal.resize(20)
        terminal.type("\x04")
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.text


def test_without_colours(start: Start, server: ModelServer) -> None:
    server.says(READ, Turn(ANSWER, reasoning="hm"))
    with start("--plain", NO_COLOR="1") as terminal:
        terminal.until("you>")
        terminal.type("what?\r")
        terminal.until("plum.")
        assert "Some **bold** and `code`" in terminal.text
        assert b"\x1b[" not in terminal.raw.replace(b"\x1b[?2004h", b"")


def test_told_to_end_in_the_middle_it_leaves_the_terminal_as_it_was(
    start: Start, server: ModelServer
) -> None:
    server.says(Turn("a long answer", piece=1, stall=9))
    with start() as terminal:
        terminal.until("you>")
        assert not terminal.has_line_mode
        terminal.type("go\r")
        terminal.until("a long")
        os.killpg(os.getpgid(terminal.process.pid), signal.SIGTERM)
        terminal.ended()
        assert terminal.has_line_mode
        assert b"Traceback" not in terminal.raw


def test_killed_in_the_middle_what_was_said_is_there(
    program: Program, start: Start, server: ModelServer
) -> None:
    server.says(Turn("a long answer", piece=1, stall=9), Turn("here"))
    with start("--plain", "--session", "mine") as terminal:
        terminal.until("you>")
        terminal.type("remember plum\n")
        terminal.until("a long")
        terminal.process.kill()
        terminal.ended()
    flags = ("--set", f"agent.base_url={server.url}", "--workspace", str(program.folder))
    assert program("chat", *flags, "--session", "mine", "-p", "and?").out == "here\n"
    assert reply(server) == "remember plum\n\nand?"


def test_many_calls_and_an_endless_line(start: Start, server: ModelServer) -> None:
    calls = [("read_file", {"path": "notes.md", "lines": n}) for n in range(1, 51)]
    server.says(Turn("", calls), Turn("word " * 60_000, piece=5_000), Turn("short"))
    with start() as terminal:
        terminal.until("you>")
        terminal.type("go\r")
        terminal.until("[24, 0.")
        terminal.until("you>")
        assert terminal.text.count("> read_file") == 24
        assert len(server.results(1)) == 50
        terminal.type("and?\r")
        terminal.until("short")


def test_a_server_that_goes_away_keeps_the_chat(start: Start, server: ModelServer) -> None:
    server.says(*[Turn("The word", piece=1, drop=4)] * 3, Turn("now it works"))
    with start() as terminal:
        terminal.until("you>")
        terminal.type("go\r")
        terminal.until("Asked again")
        terminal.until("backend error")
        terminal.until("you>")
        terminal.type("/retry\r")
        terminal.until("now it works")


def test_a_server_without_a_model(start: Start, server: ModelServer) -> None:
    server.models = {"data": []}
    with start() as terminal:
        assert terminal.ended() == 1
        assert "has no model" in terminal.text
        assert terminal.has_line_mode


class TestOneQuestion:
    """`chat -p` with its options."""

    @pytest.fixture
    def chat(self, program: Program, server: ModelServer) -> Any:
        flags = ("--set", f"agent.base_url={server.url}", "--workspace", str(program.folder))
        return lambda *words: program("chat", *flags, *words)

    def test_files_and_a_system_text(
        self, chat: Any, program: Program, server: ModelServer
    ) -> None:
        ended = chat("-p", "what?", "-a", "notes.md", "-s", "You are terse.", "-q")
        assert (ended.out, ended.err) == ("fine\n", "")
        assert reply(server) == "notes.md:\nthe word is plum\n\n\nwhat?"
        assert server.requested[-1]["messages"][0]["content"].startswith("You are terse.")
        missing = chat("-p", "x", "-a", "none.md")
        assert missing.code == 1
        assert "There is no file" in missing.err

    def test_an_answer_without_a_tool_says_so(self, chat: Any) -> None:
        assert "without a tool" in chat("-p", "hi").err
        assert "without a tool" not in chat("-p", "hi", "--tools", "none").err

    def test_an_answer_that_fits_a_schema(self, chat: Any, server: ModelServer) -> None:
        server.says(
            READ, Turn("It is plum."), Turn('{"word": 3}'), Turn('```json\n{"word": "plum"}\n```')
        )
        ended = chat("-p", "which word?", "--schema", "word: in small letters")
        assert (ended.code, ended.json) == (0, {"word": "plum"})
        assert "response_format" not in server.requested[1]
        form = server.requested[2]["response_format"]["json_schema"]["schema"]
        assert form["properties"]["word"]["description"] == "in small letters"
        assert "tools" not in server.requested[2]
        assert "word must be string" in reply(server, 3)
        server.says(Turn("no JSON at all"))
        failed = chat("-p", "x", "--schema", '{"type": "object"}', "--tools", "none")
        assert failed.code == 1
        assert "does not fit the schema" in failed.err
        assert chat("-p", "x", "--schema", "{").code == 2
