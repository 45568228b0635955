"""The official inspector as a client: no schema that some host cannot take, and calls work."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.node.tools import ROOT, TOOLS, Finished, node
from tests.servers.asgi import served
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.needs_node, pytest.mark.timeout(120)]
PACKAGE = TOOLS / "node_modules" / "@modelcontextprotocol" / "inspector"
PROFILES = Toolbox().registry.profiles()
every_profile = pytest.mark.parametrize("profile", PROFILES)


async def inspector(*arguments: str) -> Finished:
    found = json.loads((PACKAGE / "package.json").read_text())["bin"]["mcp-inspector"]
    # It gives the server a bare environment but for what it is told.
    given = [f"{name}={os.environ[name]}" for name in ("TOOLCRIB_CONFIG", "TOOLCRIB_DATA")]
    flags = [word for pair in given for word in ("-e", pair)]
    return await node(PACKAGE / found, "--cli", *arguments, *flags, cwd=ROOT)


def stdio(profile: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "toolcrib", "mcp", "--profile", profile)


def names(done: Finished) -> list[str]:
    return [tool["name"] for tool in json.loads(done.out)["tools"]]


@every_profile
async def test_listing_over_stdio(profile: str) -> None:
    done = await inspector(*stdio(profile), "--method", "tools/list", "--strict")
    assert done.code == 0, done
    assert names(done) == [t.name for t in Toolbox(profile=profile).listed]


@every_profile
async def test_listing_over_http(profile: str) -> None:
    async with served(create_app(Toolbox(profile=profile))) as base:
        done = await inspector(
            *(f"{base}/mcp", "--transport", "http", "--method", "tools/list", "--strict")
        )
    assert done.code == 0, done
    assert names(done) == [t.name for t in Toolbox(profile=profile).listed]


async def test_calling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\n")
    call = ("--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=notes.txt")
    config = tmp_path / "config.toml"
    config.write_text(f'[workspace]\nroots = ["{tmp_path}"]\n')
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(config))
    over_stdio = await inspector(*stdio("default"), *call)
    assert over_stdio.code == 0, over_stdio
    async with served(create_app(Toolbox(config, profile="default"))) as base:
        over_http = await inspector(f"{base}/mcp", "--transport", "http", *call)
    assert over_http.code == 0, over_http
    texts = [json.loads(done.out)["content"][0]["text"] for done in (over_stdio, over_http)]
    assert texts[0] == texts[1]
    assert "two" in texts[0]
