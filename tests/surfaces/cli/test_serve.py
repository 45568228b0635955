"""Serving over HTTP from the command line."""

from __future__ import annotations

import json
import signal
import socket
import urllib.error
import urllib.request

import pytest

from tests.conditions import until
from tests.surfaces.cli.program import Program

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


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
    out, err = process.communicate(timeout=20)
    assert out == ""
    assert f"http://127.0.0.1:{port}/mcp" in err
    assert process.returncode in (0, 130)


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
        f"Another program has port {port}. Serve on another: toolcrib serve --port {port + 1}"
    )


def test_an_address_that_is_not_ours_is_named(program: Program) -> None:
    done = program(
        "serve", "--host", "192.0.2.1", "--port", "8722", env={"TOOLCRIB_TOKEN": "x" * 32}
    )
    assert done.code == 1
    assert "cannot listen on 192.0.2.1, port 8722: " in done.err
    assert "ERROR" not in done.err
