"""Finding the command, and failing in plain words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import toolcrib
from tests.cases import each_case
from tests.surfaces.cli.program import PATIENCE, PROGRAM, Program
from toolcrib.surfaces.cli.commands import COMMANDS
from toolcrib.surfaces.cli.flags import split

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)

HEAVY = ("pydantic", "mcp", "mcp_types", "anyio", "starlette", "asyncio", "sqlite3", "wreq")


def test_help_lists_every_command_and_loads_nothing_heavy(program: Program) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *PROGRAM[1:], "--help"],
        env=dict(program.env),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "toolcrib.surfaces.cli.main" in loaded
    assert not loaded.intersection(HEAVY)
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_the_common_flags(program: Program, name: str) -> None:
    done = program(name, "--help")
    assert done.code == 0
    assert done.out.startswith(f"usage: toolcrib {name} ")
    assert "--workspace DIR" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_version(program: Program) -> None:
    for words in ("--version", "-V", "version"):
        assert program(words).out == f"toolcrib {toolcrib.__version__}\n"


def test_what_is_said_in_general_is_said_to_a_person(program: Program) -> None:
    done = program("import", "bad.json")
    assert done.code == 2
    assert done.err.endswith("toolcrib import --help shows how it is called.\n")
    for words in (("help", "zzzzzz"), ("call", "zzzzzz")):
        done = program(*words)
        assert done.code == 2
        assert "`toolcrib tools all` lists every tool." in done.err


def test_no_command_on_a_terminal_is_help(program: Program) -> None:
    done = program.on_terminal()
    assert done.code == 0
    assert "commands:" in done.out


def test_the_stdio_server_on_a_terminal_says_what_it_waits_for(program: Program) -> None:
    done = program.on_terminal("mcp", type_after={"Ctrl-C leaves.": "\x03"})
    assert "waits for a host" in done.out
    assert "toolcrib install HOST" in done.out
    assert done.code in (0, 130)


@pytest.mark.parametrize("words", [("mcp",), ("call", "get_workspace"), ("chat", "-p", "Hi")])
def test_a_folder_that_is_none_is_refused(program: Program, words: tuple[str, ...]) -> None:
    done = program(*words, "--workspace", "no/such")
    assert (done.code, done.out) == (2, "")
    assert "no/such is no folder, so nothing was begun." in done.err
    assert "mkdir -p" in done.err


def test_no_command_without_a_terminal_is_the_stdio_server(program: Program) -> None:
    hello = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    )
    process = program.start(stdin=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(hello)
    process.stdin.flush()
    assert '"serverInfo"' in process.stdout.readline()
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "")
    assert re.fullmatch(r"toolcrib: folder: .+; profile: default\n", err)


def test_an_unknown_command_names_the_nearest(program: Program) -> None:
    done = program("hist0ry")
    assert (done.code, done.out) == (2, "")
    assert "no command 'hist0ry'" in done.err
    assert "Nearest: history" in done.err


def test_a_tool_in_place_of_a_command_says_how_to_call_it(program: Program) -> None:
    done = program("join_words", "words=a")
    assert done.code == 2
    assert "toolcrib call join_words" in done.err


def test_a_wrong_option_is_usage(program: Program) -> None:
    assert program("--nonsense", "tools").code == 2
    assert program("tools", "--nonsense").code == 2


@pytest.mark.parametrize("words", [("tools", "--json", "--profile", "all"), ("--help",)])
def test_a_reader_that_leaves_is_no_error(program: Program, words: tuple[str, ...]) -> None:
    with program.start(*words) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.wait(PATIENCE) in (0, 141)
        assert process.stderr.read() == ""


def test_characters_that_the_terminal_cannot_show(program: Program) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    done = program.in_new_interpreter("call", "join_words", "words=naïve", env=ascii_only)
    assert (done.code, done.out) == (0, "na?ve\n")


@each_case(
    ("words", "parts"),
    [
        ([], ([], None, [])),
        (["tools"], ([], "tools", [])),
        (
            ["--set", "a=b", "call", "x", "--set", "c=d"],
            (["--set", "a=b"], "call", ["x", "--set", "c=d"]),
        ),
        (["--config=f", "tools"], (["--config=f"], "tools", [])),
        (["--profile", "web"], (["--profile", "web"], None, [])),
        (["-h", "call"], (["-h"], "call", [])),
    ],
)
def test_split(words: list[str], parts: tuple[list[str], str | None, list[str]]) -> None:
    assert split(words) == parts


def test_flags_before_and_after_the_command_add_up(program: Program, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    b.mkdir()
    done = program(
        *("--workspace", str(a), "--set", "web.search.limit=3", "--profile", "web"),
        *("config", "--workspace", str(b), "--set", "web.fetch.max_tokens=500"),
        *("--profile", "files"),
    )
    assert f'roots = ["{a}", "{b}"]  # flag' in done.out
    assert "limit = 3  # flag" in done.out
    assert "max_tokens = 500  # flag" in done.out
    assert 'profile = "files"  # flag' in done.out
