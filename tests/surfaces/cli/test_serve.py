"""Serving over HTTP from the command line."""

from __future__ import annotations

import json
import re
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.conditions import until
from tests.servers.listening import free_port
from tests.surfaces.cli.program import PATIENCE, Program

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


async def test_flags_say_where_and_which_tools(program: Program) -> None:
    port = free_port()
    process = program.start("serve", "--port", str(port), "--profile", "samples")

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json") as response:
                return "/tools/send_note" in json.load(response)["paths"]
        except (urllib.error.URLError, ConnectionError):
            return False

    await until(answers)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert out == ""
    assert f"http://127.0.0.1:{port}/mcp" in err
    assert "No token is asked for" in err
    assert "TOOLCRIB_TOKEN sets one." in err
    assert "a header X-Toolcrib-Session: NAME gives a client its own" in err
    assert process.returncode in (0, 130)


async def test_it_says_at_the_start_that_a_token_is_asked_for(program: Program) -> None:
    process = Program(program.folder, {**program.env, "TOOLCRIB_TOKEN": "x" * 32}).start(
        "serve", "--port", "0"
    )
    assert process.stderr
    displayed = ""
    while "token" not in displayed:
        line = process.stderr.readline()
        assert line, displayed
        displayed += line
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert displayed.endswith("A token is asked for, the one in TOOLCRIB_TOKEN.\n")
    assert "xxx" not in displayed


def test_off_loopback_needs_a_token(program: Program) -> None:
    done = program("serve", "--host", "0.0.0.0", "--port", str(free_port()))
    assert done.code == 2
    assert "a token is needed" in done.err


def test_a_wrong_port_is_a_clear_message(program: Program) -> None:
    done = program("serve", "--port", "http")
    assert done.code == 2
    assert "http.port" in done.err


def test_a_port_in_use_says_what_to_do(program: Program) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = program("serve", "--port", str(port))
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        f"Another program has port {port}. Serve on another: toolcrib serve --port {port + 2}"
    )


def test_an_address_that_is_not_ours_is_named(program: Program) -> None:
    done = program(
        "serve", "--host", "192.0.2.1", "--port", "8722", env={"TOOLCRIB_TOKEN": "x" * 32}
    )
    assert done.code == 1
    assert "cannot listen on 192.0.2.1, port 8722: " in done.err
    assert "ERROR" not in done.err


@contextmanager
def served(program: Program) -> Iterator[httpx2.Client]:
    """A server on a port of its own, until the end of the block."""
    process = program.start("serve", "--port", "0", "--profile", "all")
    try:
        assert process.stderr
        reply = next(
            found for line in process.stderr if (found := re.search(r"http://\S+(?=/mcp)", line))
        )
        with httpx2.Client(base_url=reply[0], timeout=PATIENCE) as client:
            yield client
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


@pytest.mark.rows("E93")
def test_what_a_profile_protects_stays_so_when_the_server_starts_again(program: Program) -> None:
    source = program.folder / "src"
    source.mkdir()
    for name in ("dump.sql", "a.log", "b.txt"):
        (source / name).write_text("moss")

    def call(client: httpx2.Client, tool: str, who: str = "one", /, **arguments: Any) -> Any:
        reply = client.post(f"/tools/{tool}", json=arguments, headers={"x-toolcrib-session": who})
        error = reply.json()["error"]
        return error["code"] if error else reply.json()["text"]

    def save(client: httpx2.Client, name: str, *protect: str) -> None:
        reply = call(client, "manage_profiles", action="save", name=name, protect=[*protect])
        assert "Saved" in reply

    with served(program) as client:
        call(client, "change_directory", path="src")
        save(client, "back end", "*.sql")
        save(client, "more", "*.log")
        call(client, "manage_profiles", "two", action="switch", name="back end")
        assert call(client, "read_file", "three", path="src/dump.sql") == "path_denied"
    with served(program) as client:
        # Their directory returns with the conversations, and so must what is protected in it.
        assert "moss" in call(client, "read_file", "two", path="b.txt")
        assert call(client, "read_file", "two", path="dump.sql") == "path_denied"
        assert call(client, "write_file", "two", path="new.sql", content="x") == "path_denied"
        assert call(client, "read_file", path="a.log") == "path_denied"
        assert call(client, "run_command", command="cat a.log dump.sql b.txt").count("moss") == 1
