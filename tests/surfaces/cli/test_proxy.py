"""The proxy from the command line."""

from __future__ import annotations

import json
import signal
import urllib.error
import urllib.request

import pytest

from tests.conditions import until
from tests.servers.model import Turn, model_server
from tests.surfaces.cli.program import PATIENCE, Program
from tests.surfaces.cli.test_serve import free_port

pytestmark = pytest.mark.timeout(120)


async def test_it_says_where_it_listens_and_what_is_on(program: Program) -> None:
    port = free_port()
    with model_server(Turn("hello")) as server:
        process = program.start("proxy", "--port", str(port), "--upstream", server.url)
        answers: list[str] = []

        def answered() -> bool:
            body = json.dumps({"model": "m", "messages": []}).encode()
            url = f"http://127.0.0.1:{port}/v1/chat/completions"
            request = urllib.request.Request(url, body, {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request) as response:
                    answers.append(json.load(response)["choices"][0]["message"]["content"])
            except (urllib.error.URLError, ConnectionError):
                return False
            return True

        await until(answered)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert answers == ["hello"]
    assert f"proxy at http://127.0.0.1:{port}/v1, for {server.url}" in err
    assert "tool calls mended: on; stages: " in err
    assert process.returncode in (0, 130)


def test_a_wrong_address_is_a_clear_message(program: Program) -> None:
    done = program("proxy", "--upstream", "localhost:1234")
    assert done.code == 2
    assert "Write http://localhost:1234." in done.err
