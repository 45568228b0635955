"""The entry that people write first, `toolcrib mcp` without a word: what its tools answer."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import STORED

pytestmark = pytest.mark.timeout(120)

LEGACY = "legacy"
PATH = "/usr/local/bin:/usr/bin:/bin"
"""What a host has that was not started in a terminal."""
NO_NETWORK = {"dns_failure", "connection_failed", "timeout", "blocked_address"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    return tmp_path / "home"


@asynccontextmanager
async def host(
    home: Path, cwd: Path, *words: str, offers: list[str] | None = None, **env: str
) -> AsyncIterator[Client]:
    """A host that starts the entry, and offers folders where it has some."""
    stored = {name: os.environ[name] for name in STORED if name in os.environ}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-I", "-m", "toolcrib", "mcp", *words],
        env={
            "HOME": str(home),
            "PATH": PATH,
            "TMPDIR": str(home.parent / "temporary"),
            **stored,
            **env,
        },
        cwd=cwd,
    )

    async def roots(context: Any) -> types.ListRootsResult:
        del context
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in offers or []])

    more = {} if offers is None else {"list_roots_callback": roots}
    async with Client(stdio_client(parameters), mode=LEGACY, **more) as client:
        yield client


def text_of(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


def code_of(result: types.CallToolResult) -> str:
    return str((result.meta or {}).get("toolcrib/error", {}).get("code", ""))


@pytest.mark.parametrize("where", ["/", "home"])
async def test_all_default_tools_answer_where_nobody_named_a_folder(home: Path, where: str) -> None:
    done: dict[str, str] = {}
    async with host(home, home if where == "home" else Path("/")) as client:

        async def call(name: str, **arguments: Any) -> types.CallToolResult:
            result = await client.call_tool(name, arguments)
            done[name] = code_of(result)
            return result

        first = text_of(await call("write_file", path="a.txt", content="one\n"))
        scratch = re.search(r"scratch folder .*: (/\S+)\. .*--workspace DIR", first)
        assert scratch, first
        assert "created" in first
        edited = text_of(await call("edit_file", path="a.txt", old="one", new="two"))
        assert "No folder was given" not in edited, "it is said once"
        assert "two" in text_of(await call("read_file", path="a.txt"))
        assert "a.txt" in text_of(await call("list_directory"))
        assert "a.txt" in text_of(await call("find_files", query="a.txt"))
        assert "a.txt" in text_of(await call("search_files", pattern="two"))
        await call("undo_changes")
        assert "one" in text_of(await call("read_file", path="a.txt"))
        assert text_of(await call("run_python", code="print(2 + 2)")).startswith("4\n")
        long = await call("run_command", command="seq 1 30000")
        more = (long.meta or {})["toolcrib/next"]
        assert more["tool"] == "read_more"
        assert not (await call("read_more", **more["arguments"])).is_error
        waits = "until [ -e go ]; do sleep 0.05; done; echo over"
        begun = await call("run_command", command=waits, background=True)
        await call("write_file", path="go", content="")
        job = (begun.meta or {})["toolcrib/next"]
        assert "over" in text_of(await call("read_job", **job["arguments"]))
        for name, arguments in (
            ("fetch_url", {"url": "https://example.com/"}),
            ("web_search", {"query": "x"}),
            ("web_research", {"question": "x"}),
        ):
            await call(name, **arguments)
        assert set(done) == {tool.name for tool in (await client.list_tools()).tools}
    assert {name for name, code in done.items() if code and code not in NO_NETWORK} <= {
        *("web_search", "web_research")  # what providers say when there is a network
    }
    # What was left in the folder is not thrown away.
    assert Path(scratch[1], "a.txt").read_text() == "one\n"
    assert os.listdir(home) == [".local"]


async def test_the_folders_of_a_host_are_the_workspace(home: Path, tmp_path: Path) -> None:
    project, second, named = (tmp_path / name for name in ("a project", "second", "named"))
    for folder in (project, second, named):
        folder.mkdir()
        (folder / f"in {folder.name}.txt").touch()
    offers = [project.as_uri(), second.as_uri()]
    async with host(home, home, offers=offers) as client:
        listed = text_of(await client.call_tool("list_directory", {}))
        assert "in a project.txt" in listed
        assert "Note" not in listed
        assert not (await client.call_tool("list_directory", {"path": str(second)})).is_error
        offers.append(named.as_uri())
        await client.session.send_notification(types.RootsListChangedNotification())
        reported = ""
        while "started again" not in reported:
            reported = text_of(await client.call_tool("list_directory", {}))
    # A flag, or the configuration, goes before them.
    async with host(home, home, "--workspace", str(named), offers=offers) as client:
        assert "in named.txt" in text_of(await client.call_tool("list_directory", {}))
    async with host(home, home, offers=offers, TOOLCRIB_WORKSPACE__ROOTS=str(named)) as client:
        assert "in named.txt" in text_of(await client.call_tool("list_directory", {}))
    # A variable that the host did not fill in is no folder.
    async with host(home, home, "--workspace", "${workspaceFolder}", offers=offers) as client:
        assert "in a project.txt" in text_of(await client.call_tool("list_directory", {}))


async def test_folders_that_are_too_wide_are_refused_with_what_to_set(
    home: Path, tmp_path: Path
) -> None:
    (home / "secret.txt").touch()
    data = home / ".local" / "share" / "toolcrib"
    data.mkdir(parents=True)
    wide = {
        "file:///": "it holds the whole machine",
        home.as_uri(): "it is the home folder",
        tmp_path.as_uri(): "it holds the home folder",
        data.as_uri(): "toolcrib keeps its own files there",
        data.parent.as_uri(): "it holds toolcrib's own files",
        (home / "gone").as_uri(): "it is no folder of this machine",
        "file://server/share": "it is no folder of this machine",
    }
    async with host(home, home, offers=list(wide)) as client:
        first = text_of(await client.call_tool("list_directory", {}))
    for reason in set(wide.values()):
        assert reason in first, first
    assert "--workspace DIR" in first
    assert "scratch folder" in first
    assert "secret.txt" not in first


async def test_the_command_that_approves_works_from_anywhere(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one")
    words = ("--profile", "files", "--workspace", str(project))
    for env in ({}, {"TOOLCRIB_DATA": str(tmp_path / "other place")}):
        async with host(home, Path("/"), *words, **env) as client:
            call = ("delete_path", {"path": "a.txt", "permanent": True})
            refused = text_of(await client.call_tool(*call))
            command = re.search(r"`([^`]*approve \w+[^`]*)`", refused)
            assert command, refused
            shell = {"HOME": str(home), "PATH": PATH}
            ran = subprocess.run(
                shlex.split(command[1]), cwd="/", env=shell, capture_output=True, text=True
            )
            assert ran.returncode == 0, ran
            assert not (await client.call_tool(*call)).is_error
            (project / "a.txt").write_text("again")


async def test_a_host_that_asks_for_each_call_can_stand_for_us(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one")
    words = ("--profile", "files", "--workspace", str(project), "--set", "policy.ask=host")
    async with host(home, Path("/"), *words) as client:
        call = ("delete_path", {"path": "a.txt", "permanent": True})
        assert not (await client.call_tool(*call)).is_error
        denied = await client.call_tool("delete_path", {"path": "../home", "permanent": True})
        assert code_of(denied) == "path_denied", "what is denied stays so"
    assert not (project / "a.txt").exists()


@pytest.mark.rows("F08")
async def test_descriptions_say_that_the_web_may_be_stale(home: Path) -> None:
    async with host(home, home) as client:
        reported = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    for name in ("web_search", "fetch_url"):
        assert "untrusted, may be stale" in reported[name]
