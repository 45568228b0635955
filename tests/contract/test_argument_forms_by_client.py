"""Arguments in forms that small models give them: the same as if they were written well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.servers.scripted import Answer, scripted
from toolcrib.core.errors import BadInput
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.middleware.validate import rename
from toolcrib.toolbox import Toolbox, installed

ALLOWED = {"policy": {"rules": [{"action": "allow"}]}}


async def answer(folder: Path, name: str, given: dict[str, Any]) -> Result:
    config = {**ALLOWED, "store": {"url": f"sqlite:///{folder}/store.db"}}
    root = folder / "work"
    root.mkdir(exist_ok=True)
    (root / "a.csv").write_text("x,y\n1,2\n")
    (root / "b.csv").write_text("x,y\n3,4\n")
    async with Toolbox(config, workspace=root) as box:
        return await box.call(name, given)


@each_case(
    ("name", "given", "says"),
    [
        ("markdown_table", {"data": "[[1, 2]]", "headers": "x, y"}, "| x | y |"),
        ("markdown_table", {"data": "[[1, 2]]", "headers": ["x, z", "y"]}, "| x, z | y |"),
        ("make_ui_component", {"kind": "form", "parts": "Name, Age: number"}, 'type="text"'),
        (
            "make_ui_component",
            {"kind": "form", "fields": [{"name": "Mail", "type": "email"}]},
            'type="email"',
        ),
        ("query_json", {"query": "a", "input": {"a": 5}}, "5"),
        ("read_file", {"path": ["a.csv", "b.csv"]}, "3,4"),
        ("query_database", {"source": "`a.csv`", "sql": "select 7 as one"}, "7"),
        ("count_tokens", {"text": "a", "path": ""}, "1"),
        ("check_port", {"port": "#9", "timeout": "500ms"}, "Port 9 "),
        ("start_terminal", {"command": "```bash\necho hi-$((1+1))\n```", "height": 30}, "hi-2"),
    ],
)
async def test_what_is_meant_is_done(
    tmp_path: Path, name: str, given: dict[str, Any], says: str
) -> None:
    result = await answer(tmp_path, name, given)
    assert result.error is None, result.render()
    assert says in result.text


@each_case(
    "given",
    [
        {"expression": "20+22"},
        {"parameters": {"expression": "20+22"}},
        {"arguments": '```json\n{"expression": "20+22"}\n```'},
        {"arguments": "{'expression': '20+22'}"},
        {"expression": "20+22", "reason": "to know it"},
    ],
)
async def test_a_tool_that_is_called_by_name(tmp_path: Path, given: dict[str, Any]) -> None:
    result = await answer(tmp_path, "call_tool", {"name": "calculate", **given})
    assert result.error is None, result.render()
    assert "42" in result.text


async def test_what_is_no_object_says_where(tmp_path: Path) -> None:
    sent = {"name": "calculate", "arguments": "expression=1"}
    result = await answer(tmp_path, "call_tool", sent)
    assert result.error
    assert result.error.message == "'arguments' is not valid JSON at line 1, column 1."
    assert "{" in result.error.hint


@each_case(
    ("name", "given", "says"),
    [
        ("system_info", {"metrics": ["ram"]}, "memory:"),
        ("system_info", {"metrics": "all"}, "disk"),
        ("process_list", {"sort": "mem", "limit": 1}, "by memory"),
        ("process_list", {"sort": "ram", "top": "1"}, "by memory"),
        ("archive_files", {"action": "create", "archive": "a.zip", "paths": ["a.csv"]}, "Packed"),
        ("track_event", {"title": "A fence broke", "type": "bug"}, "error"),
        ("create_backup", {"name": " before refactor"}, "Backup before-refactor:"),
        ("current_time", {"timezone": "UTC"}, "UTC"),
    ],
)
async def test_words_for_a_choice(
    tmp_path: Path, name: str, given: dict[str, Any], says: str
) -> None:
    result = await answer(tmp_path, name, given)
    assert result.error is None, result.render()
    assert says in result.text


async def test_a_step_is_opened_again(tmp_path: Path) -> None:
    async with Toolbox(ALLOWED, workspace=tmp_path) as box:
        await box.call("create_plan", {"goal": "a house", "steps": ["plan it", "build it"]})
        for status, done in (("✓", "1 of 2"), ("todo", "0 of 2"), ("complete", "1 of 2")):
            moved = await box.call("update_plan_step", {"step_number": 1, "status": status})
            assert done in moved.text
        doing = {"index": 1, "status": "doing"}
        assert "0 of 2" in (await box.call("update_plan_step", doing)).text


async def test_a_job_by_its_title(tmp_path: Path) -> None:
    async with Toolbox(ALLOWED, workspace=tmp_path) as box:
        job = {"command": "sleep 60", "background": True, "name": "sleeper"}
        assert (await box.call("run_command", job)).error is None
        look = await box.call("read_job", {"id": "sleeper", "wait": "none"})
        assert "(sleeper)" in look.text
        foreign = await box.call("stop_job", {"id": "sleeper"}, session="another")
        assert foreign.error
        stopped = await box.call("stop_job", {"id": "sleeper"})
        assert "(sleeper): stopped" in stopped.text


@each_case(
    ("given", "meant"),
    [
        (
            {"url": "https://github.com/ann/x/issues/7"},
            {"repository": "ann/x", "kind": "issue", "number": "7"},
        ),
        ({"url": "https://github.com/ann/x.git"}, {"repository": "ann/x", "kind": "repository"}),
        (
            {"url": "https://github.com/ann/x/pull/7", "kind": "diff"},
            {"repository": "ann/x", "kind": "diff", "number": "7"},
        ),
        (
            {"owner": "ann", "repo": "x", "kind": "issues"},
            {"repository": "ann/x", "kind": "issues"},
        ),
    ],
)
def test_a_repository_by_its_parts(given: dict[str, Any], meant: dict[str, Any]) -> None:
    tool = Registry(installed()).resolve("github_read").loaded
    assert rename(tool, given) == meant


@each_case("given", [{"owner": "ann"}, {"url": "https://git.example.org/ann/x"}])
def test_another_repository_is_not_meant(given: dict[str, Any]) -> None:
    tool = Registry(installed()).resolve("github_read").loaded
    with pytest.raises(BadInput, match="no argument"):
        rename(tool, {**given, "kind": "repository"})


async def test_a_source_as_an_address_of_a_file(tmp_path: Path) -> None:
    given = {"source": f"file://{tmp_path}/work/a.csv", "sql": "select 7"}
    result = await answer(tmp_path, "query_database", given)
    assert result.error is None, result.render()
    remote = {"source": "postgres://a.csv", "sql": "select 7"}
    refused = await answer(tmp_path, "query_database", remote)
    assert refused.error
    assert "not an address" in refused.error.message


async def test_a_file_of_variables_is_where_it_was_meant(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for number, path in enumerate((f"file://{work}/.env", "`.env`", '".env"')):
        given = {"key": f"A{number}", "value": "1", "path": path}
        result = await answer(tmp_path, "update_env_file", given)
        assert result.error is None, result.render()
    assert (work / ".env").read_text() == "A0=1\nA1=1\nA2=1\n"
    assert {place.name for place in work.iterdir()} == {".env", "a.csv", "b.csv"}


@each_case("form", ["`{}`", "[the page]({})", "<{}>", '"{}"', "[{}]({})"])
async def test_an_address_as_markdown_has_it(tmp_path: Path, form: str) -> None:
    with scripted() as web:
        web["/a_(b)"] = Answer("<h1>Heron</h1><p>It stands in the water.</p>")
        address = f"{web.url}/a_(b)"
        config = {**ALLOWED, "egress": {"allow_hosts": [web.origin]}}
        config["web"] = {"fetch": {"allow_hosts": [web.origin], "render": "never"}}
        async with Toolbox(config, workspace=tmp_path) as box:
            result = await box.call("fetch_url", {"url": form.format(address, address)})
        assert result.error is None, result.render()
        assert "Heron" in result.text
        assert web.count("/a_(b)") == 1
