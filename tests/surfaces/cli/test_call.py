"""Calling a tool from a shell."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.conditions import until
from tests.servers.model import Raw, model_server
from tests.surfaces.cli.program import PATIENCE, Program, gone
from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.call import pairs

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


def test_arguments_are_typed_by_the_schema(program: Program) -> None:
    done = program("call", "join_words", "words=a b", "words=c", "times=2", "loud=true")
    assert (done.code, done.out, done.err) == (0, "A B C A B C\n", "")


def test_json_values_in_words(program: Program) -> None:
    done = program("call", "join_words", 'words:=["x", "y=z"]', 'extra:={"a": 1}', "--json")
    assert done.json["data"] == {"words": ["x", "y=z"], "times": 1, "extra": {"a": 1}}


def test_options_may_stand_between_the_arguments(program: Program) -> None:
    done = program("call", "--json", "join_words", "times=2", "--session", "s", "words=a")
    assert done.json["text"] == "a a"


@pytest.mark.parametrize("how", ["flag", "stdin"])
def test_all_arguments_as_json(program: Program, how: str) -> None:
    sent = json.dumps({"words": ["ü", "b"], "times": 2})
    if how == "flag":
        done = program("call", "join_words", "--json-args", sent)
    else:
        done = program("call", "join_words", "-", stdin=sent)
    assert (done.code, done.out) == (0, "ü b ü b\n")


def test_one_word_of_json_is_all_arguments_or_the_first(program: Program) -> None:
    done = program("call", "join_words", '{"words": ["a", "b"], "times": 2}')
    assert (done.code, done.out) == (0, "a b a b\n")
    done = program("call", "join_words", '{"a": 1}')
    assert (done.code, done.out) == (0, '{"a": 1}\n'), "that is no argument of it"


def test_a_url_keeps_its_equals_signs() -> None:
    assert pairs(["url=https://e.org/?a=1&b:=2", "limit:=3"], "t") == {
        "url": "https://e.org/?a=1&b:=2",
        "limit": 3,
    }


def test_a_repeated_key_is_a_list() -> None:
    assert pairs(["a=1", "b=2", "a:=3"], "t") == {"a": ["1", 3], "b": "2"}


@each_case("word", ["plain", "=x", ":=1", "a:={", ""])
def test_words_that_are_no_arguments(word: str) -> None:
    with pytest.raises(BadInput):
        pairs([word], "t")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("join_words", "words=a", "loose"), "'loose' is not an argument"),
        (("join_words", "a b", "c d"), "Write each as key=value: words=…, times=…"),
        (("join_words", "a", "b", "--set", "web.serch=1"), "unknown key web.serch"),
        (("join_words", "words=a", "--json-args", "{}"), "in one way"),
        (("join_words", "--json-args", "{"), "not valid JSON"),
        (("join_words", "word=a"), "Did you mean 'words'?"),
        (("join_words",), "join_words needs 'words'"),
        (("join_words", "words=a", "times=none"), "must be a whole number"),
        (("join_wrods", "words=a"), "Nearest: join_words"),
    ],
)
def test_misuse_is_2_and_says_what_is_right(
    program: Program, words: tuple[str, ...], message: str
) -> None:
    done = program("call", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_failing_tool_is_1_with_code_and_hint(program: Program) -> None:
    done = program("call", "find_nothing")
    assert (done.code, done.out) == (1, "")
    assert done.err == "Error (not_found): Nothing is there.\nLook elsewhere.\n"


def test_json_prints_the_error_too(program: Program) -> None:
    done = program("call", "find_nothing", "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "not_found"
    assert done.json["error"]["hint"] == "Look elsewhere."


def test_what_does_not_fit_goes_on_with_the_printed_command(program: Program) -> None:
    done = program("call", "tell_much", "lines=200", "--set", "results.max_tokens=300")
    assert done.code == 0
    assert "left out here" in done.out
    assert "line 100 of" not in done.out
    start, _, command = done.err.strip().partition("To go on: toolcrib ")
    assert start == ""
    more = program(*shlex.split(command))
    assert more.code == 0, more.err
    assert "line 100 of" in more.out


def test_a_picture_is_named(program: Program) -> None:
    done = program("call", "draw_dot")
    assert "[image/png, 4 bytes" in done.err
    assert "\x1b[31m" in done.out, "a program gets the text as it is"
    assert "\x1b[31m" not in program.on_terminal("call", "draw_dot").out


def test_progress_is_shown_on_a_terminal_only(program: Program) -> None:
    assert program("call", "join_words", "words=a").err == ""
    done = program.on_terminal("call", "join_words", "words=a")
    assert done.out == "joining 1/2\na\n"


def test_the_profile_limits_what_can_be_called(program: Program) -> None:
    done = program("call", "find_nothing", "--profile", "default")
    assert done.code == 1
    assert "not in the profile 'default'" in done.err
    done = program("call", "find_nothing", "--profile", "nope")
    assert done.code == 2
    assert "no profile, group or tool 'nope'" in done.err


def test_a_call_that_asks_fails_without_a_terminal(program: Program) -> None:
    done = program("call", "send_note", "text=hi")
    assert done.code == 1
    assert "needs_approval" in done.err
    assert "toolcrib approve " in done.err


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1), ("\x03", 130)])
def test_a_person_at_the_terminal_is_asked(program: Program, answer: str, code: int) -> None:
    done = program.on_terminal(
        "call", "send_note", "text=hi\u202ethere", type_after={"[y/N]": answer}
    )
    assert done.code == code
    assert "Allow send_note? text=hi\\u{202e}there" in done.out, "nothing stays hidden"
    assert ("sent: hi" in done.out) is (code == 0)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_signal_ends_the_call_and_its_children(
    program: Program, number: signal.Signals, code: int
) -> None:
    process = program.start("call", "wait_long")
    assert process.stderr
    pid = int(process.stderr.readline().split()[1])
    assert not gone(pid)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (code, "", "toolcrib: stopped.\n")
    await until(lambda: gone(pid))
    assert program("history", "--json").json[0]["outcome"] == "cancelled"


def test_a_session_is_gone_on_with(program: Program) -> None:
    for _ in range(2):
        assert program("call", "join_words", "words=a", "--session", "s").code == 0
    assert program("call", "join_words", "words=a").code == 0
    third, second, first = (entry["session"] for entry in program("history", "--json").json)
    assert first == second == "cli:s"
    assert third != second


def test_settings_reach_the_call(program: Program) -> None:
    rule = 'policy.rules=[{"action": "deny", "tool": "join_*"}]'
    done = program("--set", rule, "call", "join_words", "words=a")
    assert done.code == 1
    assert "rule 1 of policy.rules" in done.err


def test_a_file_is_read_in_the_workspace(program: Program, tmp_path: Path) -> None:
    (program.folder / "notes.txt").write_text("one\ntwo\n")
    done = program("call", "read_file", "path=notes.txt", "--workspace", str(program.folder))
    assert done.code == 0
    assert "one" in done.out
    done = program("call", "read_file", "path=../state", "--workspace", str(program.folder))
    assert done.code == 1
    assert "path_denied" in done.err


def test_a_folder_is_listed(program: Program) -> None:
    (program.folder / "notes.txt").write_text("one\n")
    done = program("call", "list_directory", "--workspace", ".")
    assert done.code == 0
    assert "notes.txt" in done.out


def test_stdin_is_left_alone_unless_asked_for(program: Program) -> None:
    read, write = os.pipe()
    try:
        process = program.start("call", "join_words", "words=a", stdin=read)
        out, _ = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (0, "a\n")
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_job_that_ends_with_the_command_is_told(program: Program, form: tuple[str, ...]) -> None:
    with model_server(Raw(mute=True)) as server:
        words = ("task=x", "background=true", "--set", f"agent.base_url={server.url}")
        done = program("call", "delegate_task", *words, *form)
    assert done.code == 0
    assert "1 job is stopped now" in done.err
    assert "toolcrib serve" in done.err
    assert "To go on" not in done.out + done.err
    if form:
        assert done.json.get("next") is None
        assert done.json["data"]["job"] in done.err


def test_nothing_is_told_of_jobs_where_none_runs(program: Program) -> None:
    assert program("call", "join_words", "words=a").err == ""


async def test_ctrl_c_is_answered_with_a_line(program: Program) -> None:
    with model_server(Raw(mute=True)) as server:
        flags = ("--set", f"agent.base_url={server.url}")
        process = program.start("call", "delegate_task", "task=x", *flags)
        await until(lambda: server.requested)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "toolcrib: stopped.\n")


def test_an_agent_of_another_conversation_is_named_by_its_id(program: Program) -> None:
    done = program("call", "get_agent_result")
    assert done.code == 1
    assert "in this conversation" in done.err
    assert "toolcrib agent" in done.err


def test_a_first_call_at_home_works_and_says_how_to_give_a_folder(program: Program) -> None:
    words = ("call", "list_directory", "--config", str(program.folder / "none.toml"))
    (program.folder / "none.toml").write_text("")
    home = Program(Path(program.env["HOME"]), program.env)
    done = home(*words)
    assert done.code == 0
    assert "No folder was given to toolcrib" in done.out
    assert "--workspace DIR" in done.out


def test_a_call_loads_no_other_tools(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    words = ["call", "read_file", "a.txt", "--workspace", str(tmp_path)]
    code = (
        "import sys; from toolcrib.surfaces.cli.main import main; main(sys.argv[1:]); "
        "print(*[m for m in sys.modules if m.startswith('toolcrib.tools.')])"
    )
    ran = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    text, *_, loaded = ran.stdout.splitlines()
    assert text == "one", ran.stderr
    modules = loaded.split()
    assert "toolcrib.tools.files.read_file" in modules
    assert "toolcrib.tools.files.edit_file" not in modules
    assert not [name for name in modules if not name.startswith("toolcrib.tools.files")]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("join_words", "--words", "x"), "Write: toolcrib call join_words words=x"),
        (("join_words", "--words=x", "--json"), "Write: toolcrib call join_words words=x --json"),
        (("join_words", "words=x", "--loud"), "Write: toolcrib call join_words words=x loud=true"),
        (("join_words", "ls", "-la"), "Write: toolcrib call join_words 'ls -la'"),
        (("join_words", "two", "words", "times=2"), "call join_words 'two words' times=2"),
        (("join_words", "-n", "5"), "toolcrib help join_words shows"),
        (("no_such_tool", "--path", "x"), "toolcrib call --help shows"),
    ],
)
def test_options_and_loose_words_name_the_line_that_works(
    program: Program, words: tuple[str, ...], meant: str
) -> None:
    done = program("call", *words)
    assert (done.code, done.out) == (2, "")
    assert meant in done.err
    if "Write: toolcrib " in done.err:
        line = done.err.partition("Write: toolcrib ")[2].splitlines()[0]
        assert program(*shlex.split(line)).code == 0


def test_a_call_of_nothing_says_what_is_missing(program: Program) -> None:
    done = program("call")
    assert (done.code, done.out) == (2, "")
    assert "TOOL is missing: the tool" in done.err
    assert "For example: toolcrib call read_file notes.md" in done.err
    assert "key=value" not in done.err.partition("For example")[0], "that may be left out"
    assert "HOST is missing: lmstudio" in program("install").err
    assert "shell is missing: one of bash, zsh, fish" in program("completion").err
