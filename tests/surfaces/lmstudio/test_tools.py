"""Tools in LM Studio: their schemas, calls at once, status lines, cancelling, the panel."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from tests.servers.lmstudio_host import HostedPlugin
from tests.servers.scripted import Answer, Scripted, scripted
from tests.surfaces.lmstudio.plugins import hosted
from toolcrib.toolbox import Toolbox

PAGE = "<html><title>T</title><body><p>The harbour opens at six.</p></body></html>"


def settings(tmp_path: Path, site: Scripted | None = None) -> dict[str, Any]:
    (tmp_path / "work").mkdir(exist_ok=True)
    tree: dict[str, Any] = {"workspace": {"roots": [str(tmp_path / "work")]}}
    if site is not None:
        tree["egress"] = {"allow_hosts": [site.origin]}
    return tree


@pytest.mark.rows("F01")
async def test_every_tool_of_the_profile_has_its_schema(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path)) as plugin:
        tools = await plugin.open_session()
        async with Toolbox(settings(tmp_path), profile="default") as box:
            expected = {t.name: t for t in box.tools() if t.group != "run"}
    assert set(expected) == set(tools)
    for name, tool in expected.items():
        assert tools[name]["parameters"] == tool.schema
        assert tools[name]["description"] == tool.description
        assert tool.schema["type"] == "object"
        assert isinstance(tool.schema["properties"], dict)


@pytest.mark.rows("F01", "F09", "C188")
async def test_the_panel_switches_kinds_of_tools(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path)) as plugin:
        usual = await plugin.open_session("s1")
        moved = await plugin.open_session("s2", gitOperations=True, fileSystem=False)
        runs = await plugin.open_session("s3", backgroundCommands=True)
        refused = await plugin.result("c1", "git_status", "s1")
        all_on = await plugin.open_session("s4", toolProfile="all", webSearch=False)
    assert "read_file" in usual
    assert not {"git_status", "run_command", "http_request"} & set(usual)
    assert "git_status" in moved
    assert "read_file" not in moved
    assert "run_command" in runs
    assert "tool_disabled" in refused
    assert "switches.git" in refused
    assert len(all_on) > 2 * len(usual)
    assert "web_search" not in all_on


@pytest.mark.rows("C195", "E147")
async def test_the_panel_speaks_the_language_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    async with hosted(settings(tmp_path)) as plugin:
        german = {f["shortKey"]: f["typeParams"] for f in plugin.schematics["fields"]}
    async with hosted({**settings(tmp_path), "language": "en"}) as plugin:
        english = {f["shortKey"]: f["typeParams"] for f in plugin.schematics["fields"]}
    assert german["fileSystem"]["displayName"] == "Dateien"
    assert german["fileSystem"]["hint"] != english["fileSystem"]["hint"]
    titles = [option["displayName"] for option in german["toolProfile"]["options"]]
    assert "Alle eingeschalteten" in titles
    assert english["fileSystem"]["displayName"] == "Files"


@pytest.mark.rows("A44", "E148", "F02")
async def test_calls_at_once_with_status_lines_and_one_that_is_cancelled(tmp_path: Path) -> None:
    with scripted() as site:
        hold, long_hold = threading.Event(), threading.Event()
        site["/slow"] = Answer(PAGE, hold=hold)
        site["/never"] = Answer(PAGE, hold=long_hold)
        site["/quick"] = Answer(PAGE)
        async with hosted(settings(tmp_path, site)) as plugin:
            await plugin.open_session(contentLimit=4000)
            await plugin.call("slow", "fetch_url", url=f"{site.url}/slow")
            await plugin.call("never", "fetch_url", url=f"{site.url}/never")
            await until(lambda: site.count("/slow") and site.count("/never"))
            await plugin.result("quick", "search_tools", query="undo")
            assert not plugin.heard("toolCallComplete", callId="slow")
            status = await plugin.hears("toolCallStatus", callId="slow")
            assert status["statusText"].startswith(f"Fetching {site.url}/slow")
            abort = {"type": "abortToolCall", "sessionId": "s1", "callId": "never"}
            await plugin.send("setToolsProvider", abort)
            # Its key is free again once it has cleaned up.
            hold.set()
            slow = await plugin.hears("toolCallComplete", callId="slow")
            assert "opens at six" in slow["result"]
            long_hold.set()
            again = await plugin.result("never", "fetch_url", url=f"{site.url}/quick")
            assert "opens at six" in again
            assert len(plugin.heard("toolCallComplete", callId="never")) == 1
            pinned = await plugin.result(
                "p", "fetch_url", url=f"{site.url}/quick", max_tokens=77, offset=0
            )
            assert "'max_tokens' is 1000 here: the user has set it" in pinned


async def test_what_a_call_changed_is_in_the_history_and_can_be_undone(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path)) as plugin:
        await plugin.open_session(folder=str(tmp_path / "chat"))
        await plugin.result("c1", "write_file", path="a.txt", content="one")
        assert (tmp_path / "work" / "a.txt").read_text() == "one"
        await plugin.result("c2", "undo_changes")
        assert not (tmp_path / "work" / "a.txt").exists()


async def test_without_a_workspace_it_is_the_folder_of_the_chat(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    async with hosted({}) as plugin:
        await plugin.open_session("s1", str(tmp_path / "one"))
        await plugin.open_session("s2", str(tmp_path / "two"))
        await plugin.result("c1", "write_file", "s1", path="a.txt", content="1")
        await plugin.result("c2", "write_file", "s2", path="a.txt", content="2")
        outside = await plugin.result("c3", "read_file", "s1", path=str(tmp_path / "two" / "a.txt"))
    assert [(tmp_path / name / "a.txt").read_text() for name in ("one", "two")] == ["1", "2"]
    assert "path_denied" in outside


async def test_the_question_of_lm_studio_is_enough_where_the_person_says_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "work").mkdir()
    tree = settings(tmp_path) | {"policy": {"rules": [{"action": "ask", "tool": "list_directory"}]}}
    async with hosted(tree) as plugin:
        await plugin.open_session("s1")
        await plugin.open_session("s2", hostConfirms=True)
        requested = await plugin.result("c1", "list_directory", "s1", path=".")
        displayed = await plugin.result("c2", "list_directory", "s2", path=".")
    assert "needs_approval" in requested
    assert "toolcrib approve" in requested
    assert "needs_approval" not in displayed


async def test_errors_are_for_the_model_and_are_shown(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path)) as plugin:
        await plugin.open_session()
        missing = await plugin.result("c1", "read_file", path="no.txt")
        warned = await plugin.hears("toolCallWarn", callId="c1")
        unknown = await plugin.result("c2", "no_such_tool")
        await plugin.call("c3", "read_file", "other", path="a")
        strange = await plugin.hears("toolCallError", callId="c3")
        listed = {"type": "callTool", "sessionId": "s1", "callId": "c4", "toolName": "read_file"}
        await plugin.send("setToolsProvider", {**listed, "parameters": ["no.txt"]})
        shape = await plugin.hears("toolCallComplete", callId="c4")
    assert "not_found" in missing
    assert "no.txt" in warned["warnText"]
    assert "unknown_tool" in unknown
    assert "not open" in strange["error"]["title"]
    assert "bad_input" in shape["result"]


async def test_a_session_that_is_discarded_ends_its_calls(tmp_path: Path) -> None:
    with scripted() as site:
        hold = threading.Event()
        site["/slow"] = Answer(PAGE, hold=hold)
        async with hosted(settings(tmp_path, site)) as plugin:
            await plugin.open_session("s1")
            await plugin.call("c1", "fetch_url", url=f"{site.url}/slow")
            await until(lambda: site.count("/slow"))
            await plugin.send("setToolsProvider", {"type": "discardSession", "sessionId": "s1"})
            await plugin.call("c2", "fetch_url", url=f"{site.url}/slow")
            gone = await plugin.hears("toolCallError", callId="c2")
            hold.set()
            await plugin.open_session("s2")
            assert not plugin.heard("toolCallComplete")
    assert "not open" in gone["error"]["title"]


async def test_settings_that_are_wrong_say_so(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path)) as plugin:
        tools = await plugin.open_session("s1", webMaxResults="many", safeSearch=7, unheard=1)
        assert "web_search" in tools
        await plugin.send(
            "setToolsProvider",
            {
                "type": "initSession",
                "sessionId": "s2",
                "pluginConfig": None,
                "globalPluginConfig": {"fields": [{"key": "workspaceFolder", "value": "x\0y"}]},
            },
        )
        await until(
            lambda: any(
                m.get("sessionId") == "s2"
                and m["type"] in ("sessionInitialized", "sessionInitializationFailed")
                for _, m in plugin.reply
            )
        )


async def _flood(plugin: HostedPlugin, count: int) -> None:
    for number in range(count):
        await plugin.call(f"f{number}", "list_directory", path=".")


async def test_a_flood_of_calls_is_answered_or_refused(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path)) as plugin:
        await plugin.open_session("s1")
        await asyncio.gather(_flood(plugin, 600))

        def answered() -> int:
            return len(plugin.heard("toolCallComplete")) + len(plugin.heard("toolCallError"))

        await until(lambda: answered() == 600)
        assert plugin.heard("toolCallComplete")
        assert "Error" not in await plugin.result("after", "list_directory", path=".")
