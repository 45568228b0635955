"""The first day of five newcomers: each from an empty home, with no step that no page tells.

A host's user, somebody who is no technician, a person at a terminal, a developer who writes
Python, and one who runs it as a server. What they type stands in the README or in docs/; what
they start are real processes, and nothing leaves the machine.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.servers.model import Turn, model_server
from tests.servers.scripted import Answer, scripted

pytestmark = pytest.mark.timeout(180)

ROOT = Path(__file__).parents[2]
PAGES = {
    page.name: page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}


def reported(page: str, text: str) -> str:
    """The text, which a page has to say."""
    assert " ".join(text.split()) in " ".join(PAGES[page].split()), f"{page} says no {text!r}"
    return text


def block(page: str, kind: str, heading: str) -> str:
    """The first block of code of a kind under a heading of a page."""
    before, _, section = PAGES[page].partition(f"# {heading}\n")
    found = re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)
    assert found, (heading, before[:80])
    return found[1]


@dataclass
class Newcomer:
    """Somebody with an empty home, in a new terminal."""

    home: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        bin_folder = Path(sys.executable).parent
        named = {"HOME": str(self.home), "PATH": f"{bin_folder}:/usr/bin:/bin", "LANG": "C.UTF-8"}
        return named | self.more

    def types(self, line: str, at: str = "", stdin: str = "") -> str:
        """A command as it is typed, and what it prints."""
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.home / at,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done)
        return done.stdout

    @asynccontextmanager
    async def host(self, file: str) -> Any:
        """The program that starts the entry in its file, with the variables that hosts pass on."""
        entry = json.loads((self.home / file).read_text())["mcpServers"]["toolcrib"]
        parameters = StdioServerParameters(
            command=entry["command"],
            args=entry["args"],
            env={"HOME": str(self.home), "PATH": "/usr/bin:/bin"},
            cwd="/",
        )
        async with Client(stdio_client(parameters), mode="legacy") as client:
            yield client

    @contextmanager
    def serves(self, line: str) -> Iterator[str]:
        """A server that is started by a line, until the end of the block; its address."""
        words = [
            os.path.expandvars(word.replace("~", str(self.home))) for word in shlex.split(line)
        ]
        process = subprocess.Popen(
            words, cwd=self.home, env=self.env, stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stderr
            found = (re.search(r"http://\S+(?=/mcp)", line) for line in process.stderr)
            yield next(address[0] for address in found if address)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    (tmp_path / "home").mkdir()
    return Newcomer(tmp_path / "home")


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


async def test_a_day_with_lmstudio(newcomer: Newcomer) -> None:
    folder = newcomer.home / "toolcrib"
    newcomer.types(reported("README.md", "toolcrib install lmstudio"))
    async with newcomer.host(".lmstudio/mcp.json") as client:
        await client.call_tool("write_file", {"path": "hello.txt", "content": "Good morning\n"})
        result = await client.call_tool("run_python", {"code": "print(open('hello.txt').read())"})
        assert "Good morning" in text_of(result)
    assert (folder / "hello.txt").read_text() == "Good morning\n"
    assert "write_file" in newcomer.types(reported("README.md", "toolcrib history"))
    assert "Taken back: write_file" in newcomer.types(reported("README.md", "toolcrib undo"))
    assert os.listdir(folder) == []
    reported("README.md", "toolcrib uninstall HOST")
    newcomer.types("toolcrib uninstall lmstudio")
    left = json.loads((newcomer.home / ".lmstudio" / "mcp.json").read_text())
    assert left == {"mcpServers": {}}


async def test_a_day_of_somebody_who_is_no_technician(newcomer: Newcomer) -> None:
    reply = newcomer.types(reported("README.md", "toolcrib install claude-desktop"))
    assert "Start Claude Desktop again" in reply
    call = ("run_command", {"command": "echo done", "network": ["example.com"]})
    async with newcomer.host(".config/Claude/claude_desktop_config.json") as client:
        # Nobody can be asked through this host: the answer has the one line to paste.
        requested = await client.call_tool(*call)
        assert "needs_approval" in text_of(requested)
        line = re.search(r"`(.+ approve \w+)`", text_of(requested))
        assert line
        newcomer.types(line[1])
        assert "done\n[exit code 0" in text_of(await client.call_tool(*call))


def test_a_day_at_the_terminal(newcomer: Newcomer) -> None:
    notes = newcomer.home / "notes"
    notes.mkdir()
    (notes / "notes.md").write_text("The moss is watered on Fridays.\n")
    line = reported("README.md", 'toolcrib call run_python code="print(2 + 2)"')
    assert newcomer.types(line, at="notes").startswith("4\n")

    found = {"url": "https://example.org/wal", "title": "Checkpoints", "content": "WAL explained"}
    settings = block("README.md", "toml", "Configure")
    agent = block("agents.md", "toml", "Set up")
    turns = Turn(calls=[("read_file", {"path": "notes.md"})]), Turn("It is watered on Fridays.")
    with scripted() as engine, model_server(*turns) as model:
        engine["/search"] = Answer(json.dumps({"results": [found]}), kind="application/json")
        settings = settings.replace("http://127.0.0.1:8888", engine.url)
        agent = agent.replace("http://127.0.0.1:1234", model.origin).partition("\n\n")[2]
        file = newcomer.home / ".config" / "toolcrib" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(settings + agent)
        line = reported("README.md", 'toolcrib call web_search query="sqlite wal checkpoint"')
        assert "WAL explained" in newcomer.types(line)
        line = reported("README.md", "toolcrib call read_file path=notes.md --json")
        assert "watered on Fridays" in json.loads(newcomer.types(line))["text"]
        question = "When is the moss watered?\n"
        reply = newcomer.types(reported("README.md", "toolcrib chat"), stdin=question)
        assert "on Fridays" in model.results()[0]
        assert "It is watered on Fridays." in reply
    history = newcomer.types(reported("README.md", "toolcrib history"))
    assert all(name in history for name in ("run_python", "web_search", "read_file"))


PROGRAM = """
{}
{}
with box:
    print(box.call_sync("grow", {{"name": "moss"}}).raise_for_error().data)

async def main():
{}
    assert len(offer_to_model) > 100

import asyncio
asyncio.run(main())
"""


def test_a_day_of_a_python_developer(newcomer: Newcomer, tmp_path: Path) -> None:
    (newcomer.home / "notes").mkdir()
    (newcomer.home / "notes" / "todo.md").write_text("Water the moss\n")
    sync = block("library.md", "python", "toolcrib in a program of yours")
    own = block("library.md", "python", "Tools of your own")
    awaited = block("README.md", "python", "Use")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(sync, own, indent(awaited, "    ")))
    reply = newcomer.types(f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")
    assert reply.splitlines() == [
        "Water the moss",
        "",
        "{'plant': 'moss', 'height': 4}",
        "Water the moss",
        "",
    ]


def test_a_day_of_a_self_hoster(newcomer: Newcomer) -> None:
    (newcomer.home / "notes").mkdir()
    (newcomer.home / "notes" / "plan.md").write_text("Plant moss\n")
    make = reported("deploy.md", "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'")
    token = newcomer.types(make).strip()
    reported("deploy.md", "export TOOLCRIB_TOKEN=")
    newcomer.more = {"TOOLCRIB_TOKEN": token, "TOOLCRIB_HTTP__PORT": "0"}
    line = reported("deploy.md", "toolcrib serve --profile default,files --workspace ~/notes")
    name = reported("deploy.md", "toolcrib serve --set http.allow_hosts=tools.example.org")
    with newcomer.serves(f"{line} {name.removeprefix('toolcrib serve ')}") as address:
        proxied, bearer = {"host": "tools.example.org"}, {"authorization": f"Bearer {token}"}
        with httpx2.Client(base_url=address, headers=proxied, timeout=60) as client:
            read = {"url": "/tools/read_file", "json": {"path": "plan.md"}}
            statuses = [
                client.get("/health").status_code,
                client.post(**read).status_code,
                client.post(**read, headers={"host": "evil.example"} | bearer).status_code,
                client.get("/docs", auth=("", token)).status_code,
                client.post("/tools/read_file", json={"path": "no"}, headers=bearer).status_code,
            ]
            assert statuses == [200, 401, 421, 200, 404]
            assert "Plant moss" in client.post(**read, headers=bearer).json()["text"]
            listed = client.get("/openapi.json", headers=bearer).json()["paths"]
            assert {"/tools/read_file", "/tools/move_path"} <= set(listed)
    assert "read_file" in newcomer.types(reported("deploy.md", "toolcrib history"))
