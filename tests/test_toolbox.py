"""The Python face, as a program uses it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from tests.cases import each_case
from tests.middleware.sample import GATES, TOOLS, Gate
from toolcrib import Config, Result, Toolbox, ToolError
from toolcrib.core.errors import BadInput, ConfigError


def test_the_face_is_small_and_complete() -> None:
    assert set(toolcrib.__all__) == {
        "BadInput", "Config", "Count", "Ctx", "ERASE", "EXEC", "Extraction", "Image", "JsonObject",
        "Line", "MACHINE", "NET", "NONE", "Next", "NotFound", "Offset", "Param", "ParsedText",
        "PublicUrl", "READ", "Result", "SEND", "Seconds", "Tool", "ToolCall", "ToolCallStream",
        "ToolError", "Toolbox", "WRITE", "WorkspacePath", "WritablePath", "extract",
        "parse_tool_calls", "tool",
    }  # fmt: skip
    for name in toolcrib.__all__:
        assert getattr(toolcrib, name).__doc__
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = toolcrib.nothing_here
    assert issubclass(BadInput, ToolError)


def test_importing_is_light() -> None:
    code = "import sys, toolcrib; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "mcp", "starlette", "aiohttp", "wreq", "turbohtml", "sqlite3", "asyncio"}
    assert not heavy & set(run.stdout.split())


def test_a_page_is_read_by_one_call() -> None:
    page = "<title>Bridges</title><main><h1>Bridges</h1><p>Two are <a href=/c>closed</a>.</main>"
    found = toolcrib.extract(page.encode(), "https://river.example/")
    assert isinstance(found, toolcrib.Extraction)
    assert found.title == "Bridges"
    assert found.markdown == "# Bridges\n\nTwo are [closed](https://river.example/c)."


@each_case(
    ("given", "message", "hint"),
    [
        ({"workspace": ["a", "b"]}, "workspace is one folder", "roots"),
        ({"workspace": 3}, "not int", "roots"),
        ({"profile": ["git"]}, "profile is one text, not list", "default,git"),
        ({"profile": None}, "not None", "default,git"),
        ({"profile": "gti"}, "There is no profile, group or tool 'gti'", "Did you mean git?"),
        ({"config": 3}, "config is a dict of settings or the path", "Toolbox("),
        ({"config": {"web": {"serch": {}}}}, "unknown key web.serch", "Did you mean web.search?"),
        (
            {"config": {"web.search.limit": 5}},
            "unknown key web.search.limit",
            'nested: {"web": {"search": {"limit": ...}}}',
        ),
        ({"config": "no.toml"}, "no.toml does not exist", "without one it is"),
        ({"extra": [len]}, "len is no tool", "@tool"),
        ({"tools": ["read_file"]}, "'read_file' is no tool", "profile='read_file"),
    ],
)
def test_a_mistake_in_making_one_says_what_to_write(
    given: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(ToolError, match=re.escape(message)) as caught:
        Toolbox(**given)
    assert hint in caught.value.hint
    printed = "".join(traceback.format_exception(caught.value))
    assert hint in printed, "a person who reads the traceback sees it too"


async def test_a_call_and_its_result(tmp_path: Path) -> None:
    (tmp_path / "todo.md").write_text("buy nails\n")
    async with Toolbox({}, workspace=tmp_path) as box:
        result = await box.call("read_file", {"path": "todo.md"})
        wrong = await box.call("read_file", {"path": "toda.md"})
    assert isinstance(result, Result)
    assert result.text.startswith("buy nails")
    assert (result.error, result.truncated, result.next) == (None, False, None)
    assert wrong.error is not None
    assert (wrong.error.code, wrong.text) == ("not_found", "")
    assert "todo.md" in wrong.error.hint


def test_scripts_call_without_a_loop(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    with Toolbox({}, workspace=tmp_path) as box:
        first = box.call_sync("read_file", {"path": "a.txt"})
        second = box.call_sync("list_directory")
    assert first.text.startswith("one")
    assert "a.txt" in second.text


async def test_scripts_may_call_inside_a_loop(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    with Toolbox({}, workspace=tmp_path) as box:
        assert box.call_sync("read_file", {"path": "a.txt"}).text.startswith("one")
        with pytest.raises(RuntimeError, match="belongs to the event loop"):
            await box.call("list_directory")


def test_a_job_goes_on_between_calls() -> None:
    from toolcrib.core.context import Caller

    with Toolbox({}, tools=[*TOOLS, *jobs()]) as box:
        box.call_sync("echo", {"text": "starts the loop"})
        assert box._thread is not None
        gate = Gate()
        GATES.append(gate)
        caller = Caller("test", answer_within=0.1)
        result = box._thread.run(box.call("wait", caller=caller))
        assert result.next is not None
        box._thread.run(gate.open())
        done = box.call_sync(result.next.tool, result.next.arguments)
    assert "done waiting" in done.text


def jobs() -> list[toolcrib.core.tool.Tool]:  # type: ignore[name-defined]
    from toolcrib.toolbox import installed

    return [t for t in installed() if t.group == "jobs"]


async def test_tools_tell_what_a_program_needs() -> None:
    async with Toolbox({}, profile="default") as box:
        infos = {info.name: info for info in box.tools()}
        openai = box.as_openai_tools()
    assert infos["fetch_url"].rights == ("net",)
    assert infos["fetch_url"].group == "web"
    assert infos["fetch_url"].schema["type"] == "object"
    assert [t["function"]["name"] for t in openai] == list(infos)
    assert all(t["type"] == "function" for t in openai)
    assert json.loads(json.dumps(openai)) == openai


async def test_configuration_in_each_form(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[results]\nmax_tokens = 123\n")
    for config in (
        Config.load(path=file),
        {"results": {"max_tokens": 123}},
        file,
        str(file),
    ):
        async with Toolbox(config) as box:
            assert box.config.results.max_tokens == 123
    with pytest.raises(ConfigError, match="max_tokes"):
        Toolbox({"results": {"max_tokes": 1}})
    with pytest.raises(BadInput, match="nonsense"):
        Toolbox({}, profile="nonsense")


async def test_many_calls_at_once_and_two_boxes_on_one_store(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with Toolbox({}, workspace=tmp_path) as a, Toolbox({}, workspace=tmp_path) as b:
        calls = [box.call("read_file", {"path": "a.txt"}) for box in (a, b) * 20]
        results = await asyncio.gather(*calls)
    assert all(result.error is None for result in results)


@each_case(
    "arguments",
    [
        {"text": "x", "times": 10**400},
        {"text": "x", "times": float("inf")},
        '{"text": "x", "times": ' + "9" * 5000 + "}",
        {1: 2},
        {"text": "\ud800 lone", "times": 1},
        {"text": "nul \x00", "times": 1},
        "[" * 100_000,
    ],
    ids=["huge", "infinite", "many digits", "key", "surrogate", "nul", "deep"],
)
async def test_odd_values_are_no_defect(arguments: object) -> None:
    async with Toolbox({}, tools=TOOLS) as box:
        result = await box.call("echo", arguments)  # type: ignore[arg-type]
        assert result.error is None or result.error.code == "bad_input"
        json.dumps(result.to_json())


@pytest.mark.parametrize("damage", ["corrupt", "unwritable"])
async def test_a_broken_store_is_told_and_nothing_stops(tmp_path: Path, damage: str) -> None:
    place = tmp_path / "data"
    place.mkdir()
    if damage == "corrupt":
        (place / "toolcrib.db").write_bytes(b"this is no database " * 500)
    else:
        (place / "toolcrib.db").mkdir()
    config = {"store": {"url": f"sqlite:///{place}/toolcrib.db"}}
    async with Toolbox(config, tools=TOOLS) as box:
        first = await box.call("echo", {"text": "hello"})
        await box.call("echo", {"text": "more"})
        later = await box.call("echo", {"text": "again"})
    assert first.error is None
    assert first.text.startswith("hello")
    assert "Note: " in first.text, "the person is told once"
    assert later.text == "again"
    if damage == "corrupt":
        quarantined = [p for p in place.iterdir() if ".corrupt-" in p.name]
        assert quarantined, "set aside, never deleted"
        assert quarantined[0].read_bytes().startswith(b"this is no database")
