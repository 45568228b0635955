"""A person answers for a call."""

from __future__ import annotations

import re

import pytest

from tests.surfaces.cli.program import Ended, Program

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


def requested(program: Program, text: str = "hi", session: str = "s") -> tuple[Ended, str]:
    done = program("call", "send_note", f"text={text}", "--session", session)
    found = re.search(r"toolcrib approve (\w+)", done.err)
    assert found, done.err
    return done, found[1]


def test_once(program: Program) -> None:
    assert program("approve").out == "No call waits for approval.\n"
    _, request = requested(program)
    displayed = program("approve").out
    assert request in displayed
    assert "send_note" in displayed
    assert "text=hi" in displayed
    done = program("approve", request.upper())
    assert (done.code, done.err) == (0, "")
    assert "Allowed this once: send_note." in done.out
    assert program("call", "send_note", "text=hi").out == "sent: hi\n"
    assert program("call", "send_note", "text=hi").code == 1, "once is once"


def test_held_changes_are_shown_before_they_are_allowed(program: Program) -> None:
    line = "printf 'obey \\033[2J\\n' > AGENTS.md"
    held = re.search(r"held back as (\w+)", program("call", "run_command", f"command={line}").out)
    assert held
    found = re.search(r"approve (\w+)", program("call", "apply_changes", f"id={held[1]}").err)
    assert found
    for displayed in program("approve").out, program("approve", found[1]).out:
        lines = [line.strip() for line in displayed.splitlines()]
        assert f"id={held[1]}" in lines
        assert "| created AGENTS.md (+1 -0)" in lines
        assert "| +obey \\x1b[2J" in lines
    assert program("call", "apply_changes", f"id={held[1]}").code == 0
    assert (program.folder / "AGENTS.md").exists()


def test_a_long_argument_says_how_much_is_missing(program: Program) -> None:
    requested(program, text="word " * 2_000)
    assert "[NOT SHOWN: 9,400 characters]" in program("approve").out


def test_for_the_session(program: Program) -> None:
    _, request = requested(program)
    allowed = program("approve", request, "--session")
    assert allowed.code == 0
    lines = allowed.out.splitlines()
    assert lines[2].strip() == "text=hi", "it says what is allowed"
    assert lines[-1] == "That is each call with --session s."
    done = program("call", "send_note", "text=other", "--session", "s")
    assert done.out == "sent: other\n"
    requested(program, session="another")


def test_without_a_name_there_is_no_conversation_to_allow_it_for(program: Program) -> None:
    asking = ("call", "send_note", "text=hi")
    [first, again] = [re.search(r"approve (\w+)", program(*asking).err) for _ in range(2)]
    assert first
    assert again
    assert first[1] == again[1], "the same question is asked once"
    done = program("approve", first[1], "--session")
    assert done.code == 2
    assert "--session NAME" in done.err
    assert program("approve", first[1]).code == 0, "it is still open"
    assert program(*asking).out == "sent: hi\n"
    assert program("approve", _requested_again(program, *asking), "--refuse").code == 0
    _requested_again(program, *asking)


def _requested_again(program: Program, *words: str) -> str:
    found = re.search(r"approve (\w+)", program(*words).err)
    assert found
    return found[1]


def test_the_newest_question_comes_first(program: Program) -> None:
    requested(program, text="older")
    requested(program, text="newer")
    displayed = program("approve").out
    assert displayed.index("text=newer") < displayed.index("text=older")


def test_for_good_and_back(program: Program) -> None:
    _, request = requested(program)
    assert program("approve", request, "--always").code == 0
    for _ in range(2):
        assert program("call", "send_note", "text=hi").code == 0
    requested(program, text="other")
    listed = program("approve").out
    number = re.search(r"^  (\d+): send_note, the very same arguments$", listed, re.MULTILINE)
    assert number, listed
    assert program("approve", "--withdraw", number[1]).code == 0
    requested(program)
    assert program("approve", "--withdraw", number[1]).code == 1


def test_refused(program: Program) -> None:
    _, request = requested(program)
    assert program("approve", request, "--refuse").out == "Refused: send_note.\n"
    assert program("approve").out == "No call waits for approval.\n"
    done = program("approve", request)
    assert (done.code, done.out) == (1, "")
    assert "No open request" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\x03", 130)])
def test_on_a_terminal_it_shows_what_is_asked(program: Program, answer: str, code: int) -> None:
    _, request = requested(program, text="hi\u202e")
    done = program.on_terminal("approve", request, type_after={"[y/N]": answer})
    assert done.code == code
    assert "text=hi\\u{202e}" in done.out
    assert "because " in done.out
    again = program("call", "send_note", "text=hi\u202e", "--session", "s")
    assert (again.code == 0) is (code == 0)


@pytest.mark.parametrize(
    "words",
    [("--always",), ("x", "--target", "*"), ("x", "--always", "--refuse"), ("--withdraw", "x")],
)
def test_misuse(program: Program, words: tuple[str, ...]) -> None:
    done = program("approve", *words)
    assert (done.code, done.out) == (2, "")
