"""LM Studio's own clients on the scripted host, and our frames by their rules.

What they register is taken by the host, and what the host says is understood by them; so it
speaks to our plugin as LM Studio would.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.node.tools import TOOLS
from tests.servers.lmstudio_host import HostedPlugin, LmStudioHost, message, text
from tests.surfaces.lmstudio.plugins import hosted
from tests.surfaces.lmstudio.test_model import generate, reply

HERE = Path(__file__).parent
SDK = TOOLS / "node_modules" / "@lmstudio" / "sdk"


@asynccontextmanager
async def referee(host: LmStudioHost, *command: str) -> AsyncIterator[HostedPlugin]:
    """The plugin of a program that is started for it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, "NODE_PATH": str(TOOLS / "node_modules")},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    gone = asyncio.create_task(process.communicate())
    there = asyncio.create_task(host.plugin())
    try:
        await asyncio.wait({gone, there}, return_when=asyncio.FIRST_COMPLETED)
        assert there.done(), (await gone)[1].decode()
        yield there.result()
    finally:
        there.cancel()
        if process.returncode is None:
            process.kill()
        await gone


async def check_tools_and_prompts(plugin: HostedPlugin) -> None:
    tools = await plugin.open_session(loud=False)
    assert tools["add"]["description"] == "Add two numbers."
    assert await plugin.result("c1", "add", a=2) == "7"
    assert (await plugin.hears("toolCallStatus", callId="c1"))["statusText"] == "adding"
    await plugin.preprocess("t1", text("Hello"), loud=True)
    processed = (await plugin.hears("complete", taskId="t1"))["processed"]
    assert processed["content"] == [text("by the referee")]
    assert plugin.updates[-1]["state"]["text"].startswith("seen")
    abort = {"type": "abortToolCall", "sessionId": "s1", "callId": "none"}
    await plugin.send("setToolsProvider", abort)
    await plugin.send("setToolsProvider", {"type": "discardSession", "sessionId": "s1"})
    assert "add" in await plugin.open_session("s2")


async def test_the_client_for_python(tmp_path: Path) -> None:
    if find_spec("lmstudio") is None:
        absent("the package lmstudio is not installed")
    host = LmStudioHost()
    async with host.running():
        place = host.url.removeprefix("ws://")
        program = (sys.executable, str(HERE / "referee.py"), place, str(tmp_path / "plugin"))
        async with referee(host, *program) as plugin:
            assert plugin.identifier == "plugin:referee/python"
            (field,) = plugin.schematics["fields"]
            assert (field["fullKey"], field["typeKey"]) == ("loud", "boolean")
            await check_tools_and_prompts(plugin)


@pytest.mark.needs_node
async def test_the_client_for_node() -> None:
    node = shutil.which("node")
    if node is None or not SDK.is_dir():
        absent("@lmstudio/sdk is not installed: scripts/install-node-tools")
    history = [message("user", text("One")), message("assistant", text("Two"))]
    host = LmStudioHost(history=history)
    async with (
        host.running(),
        referee(host, str(node), str(HERE / "referee.cjs"), host.url) as plugin,
    ):
        assert plugin.identifier == "plugin:referee/node"
        kinds = {field["fullKey"]: field["typeKey"] for field in plugin.schematics["fields"]}
        assert kinds == {"loud": "boolean", "key": "string", "style": "select", "limit": "numeric"}
        await check_tools_and_prompts(plugin)
        await generate(plugin, "g1", *history)
        await plugin.hears("complete", taskId="g1")
        theirs = reply(plugin, "g1")
    # The same fields in the same form as ours.
    async with hosted() as ours:
        shapes = {f["typeKey"]: set(f) for f in ours.schematics["fields"]}
        assert shapes["select"] == set(plugin.schematics["fields"][0])
        assert json.dumps(ours.schematics)
    assert theirs[0] == ("text", "heard 2")
    assert [kind for kind, _ in theirs][1:] == [
        "toolCallGenerationStarted",
        "toolCallGenerationNameReceived",
        "toolCallGenerationArgumentFragmentGenerated",
        "toolCallGenerationEnded",
        "complete",
    ]
