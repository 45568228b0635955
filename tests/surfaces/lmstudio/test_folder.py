"""The folder from which LM Studio starts the plugin: written, run as its shell runs it, removed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from tests.servers.lmstudio_host import LmStudioHost

PLUGIN = "plugin:toolcrib/toolcrib"


async def toolcrib(*words: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolcrib", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


def command_of(folder: Path) -> list[str]:
    shell = (folder / "src" / "index.ts").read_text()
    found = re.search(r"COMMAND: string\[\] = (\[.*\]);", shell)
    assert found is not None
    return list(json.loads(found[1]))


async def started(command: list[str], host: LmStudioHost) -> Any:
    host.passkeys[PLUGIN] = "given"
    return await asyncio.create_subprocess_exec(
        *command,
        env={
            **os.environ,
            "LMS_PLUGIN_BASE_URL": host.url,
            "LMS_PLUGIN_CLIENT_IDENTIFIER": PLUGIN,
            "LMS_PLUGIN_CLIENT_PASSKEY": "given",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.mark.rows("F01")
async def test_a_folder_that_is_written_starts_the_plugin_and_ends_with_its_shell(
    tmp_path: Path,
) -> None:
    folder, work = tmp_path / "plugin", tmp_path / "work"
    work.mkdir()
    words = ("install", "lmstudio", "--plugin", "--file", str(folder), "--workspace", str(work))
    code, out = await toolcrib(*words)
    assert code == 0, out
    assert "lms dev --install" in out
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest == {
        "type": "plugin",
        "runner": "node",
        "owner": "toolcrib",
        "name": "toolcrib",
        "revision": 1,
    }
    package = json.loads((folder / "package.json").read_text())
    assert list(package["dependencies"]) == ["@lmstudio/sdk"]
    assert "scripts" not in package
    async with LmStudioHost().running() as host:
        process = await started(command_of(folder), host)
        line = await process.stdout.readline()
        assert line == b"ready\n", (await process.communicate())[1].decode()
        (plugin,) = (p for p in host.plugins if "setToolsProvider" in p.channels)
        # The shell says itself that all is registered.
        assert plugin.ready == 0
        assert host.registered == 0
        await plugin.open_session()
        await plugin.result("c1", "write_file", path="a.txt", content="one")
        assert (work / "a.txt").read_text() == "one"
        process.stdin.close()
        _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert await until(lambda: plugin.ended) is None
    again = await toolcrib(*words)
    assert "nothing was changed" in again[1]
    moved = await toolcrib("install", "lmstudio", "--plugin", "--file", str(folder))
    assert moved[0] == 0
    assert json.loads((folder / "manifest.json").read_text())["revision"] == 2
    (folder / "mine.txt").write_text("kept")
    gone = await toolcrib("uninstall", "lmstudio", "--plugin", "--file", str(folder))
    assert "Took away" in gone[1]
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


async def test_a_program_in_the_folder_that_lm_studio_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "toolcrib", "lmstudio", "--workspace", str(tmp_path)]
    async with LmStudioHost().running() as host:
        process = await started([*command, "--shell"], host)
        await process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        await process.communicate()
        assert process.returncode == 0
        wrong = await started([*command, "--shell"], host)
        await wrong.stdout.readline()
        await host.stop()
        _, err = await wrong.communicate()
        assert wrong.returncode == 1
        assert "Traceback" not in err.decode()
        await host.start()


async def test_folders_and_hosts_that_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"owner": "somebody", "name": "other"}')
    code, out = await toolcrib("install", "lmstudio", "--plugin", "--file", str(tmp_path))
    assert code == 1
    assert "something else" in out
    code, out = await toolcrib("uninstall", "lmstudio", "--plugin", "--file", str(tmp_path))
    assert code == 1
    assert (tmp_path / "manifest.json").exists()
    code, out = await toolcrib("install", "cursor", "--plugin")
    assert code == 2
    assert "for LM Studio" in out
    code, out = await toolcrib("uninstall", "lmstudio", "--plugin")
    assert code == 0
    assert "no plugin" in out
