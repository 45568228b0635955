"""Names that models write without a system of their own do what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.servers.scripted import Answer, scripted
from toolcrib.toolbox import Toolbox

ALLOWED = {"policy": {"rules": [{"action": "allow"}]}}
LINES = "".join(f"line {number}\n" for number in range(1, 21))


async def answer(folder: Path, name: str, given: dict[str, Any]) -> Any:
    config = {**ALLOWED, "store": {"url": f"sqlite:///{folder}/store.db"}}
    root = folder / "work"
    root.mkdir(exist_ok=True)
    async with Toolbox(config, workspace=root) as box:
        result = await box.call(name, given)
    assert result.error is None, result.render()
    return result


@each_case(
    ("name", "given", "first", "count"),
    [
        ("tail_file", {"lines": 3}, 18, 3),
        ("tail_file", {"n": "2"}, 19, 2),
        ("tail_file", {}, 11, 10),
        ("head_file", {}, 1, 10),
        ("head_file", {"n": 2}, 1, 2),
        ("head_file", {"lines": 3}, 1, 3),
    ],
)
async def test_ends_of_a_file(
    tmp_path: Path, name: str, given: dict[str, Any], first: int, count: int
) -> None:
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / "work/a.txt").write_text(LINES)
    result = await answer(tmp_path, name, {"path": "a.txt", **given})
    wanted = [f"line {number}" for number in range(first, first + count)]
    assert [line for line in result.text.splitlines() if line.startswith("line")] == wanted


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("http_post", "POST"),
        ("post_request", "POST"),
        ("http_put", "PUT"),
        ("delete_request", "DELETE"),
        ("http_get", "GET"),
    ],
)
async def test_the_verb_of_a_name(tmp_path: Path, name: str, method: str) -> None:
    with scripted() as web:
        web["/z"] = Answer("done", kind="text/plain")
        config = {**ALLOWED, "egress": {"allow_hosts": [web.origin]}}
        async with Toolbox(config, workspace=tmp_path) as box:
            result = await box.call(name, {"url": f"{web.url}/z"})
            assert result.error is None, result.render()
        assert [request.method for request in web.requested] == [method]


@each_case(
    ("name", "given", "facts"),
    [
        ("show_table", {"data": [{"a": 1}]}, {"kind": "table"}),
        ("show_chart", {"data": {"May": 3, "June": 5}}, {"kind": "chart"}),
        ("show_diff", {"diff": "--- a\n+++ b\n-x\n+y\n"}, {"kind": "diff"}),
        ("display", {"html": "<p>x</p>"}, {"kind": "html"}),
        ("show", {"html": "<p>x</p>"}, {"kind": "html"}),
        ("show", {"diff": "-x\n+y\n"}, {"kind": "diff"}),
        ("show", {"text": "# x"}, {"kind": "markdown"}),
        ("create_pdf", {"path": "one", "content": "x"}, {"path": "one.pdf"}),
        ("create_spreadsheet", {"path": "two", "content": "|a|\n|-|\n|1|\n"}, {"path": "two.xlsx"}),
    ],
)
async def test_what_a_name_makes(
    tmp_path: Path, name: str, given: dict[str, Any], facts: dict[str, Any]
) -> None:
    result = await answer(tmp_path, name, given)
    assert {key: result.data[key] for key in facts} == facts


@each_case(
    ("name", "given", "says"),
    [
        ("csv_to_json", {"data": "x,y\n1,2\n"}, '"x": 1'),
        ("json_to_csv", {"data": '[{"a": 1}]'}, "a\n1"),
        ("json_to_csv", {"data": '[{"a": 1}]', "target_format": "yaml"}, "a: 1"),
        ("remove_unused_imports", {"path": "a.py"}, "remove 1 unused import"),
    ],
)
async def test_what_a_name_says(
    tmp_path: Path, name: str, given: dict[str, Any], says: str
) -> None:
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / "work/a.py").write_text("import os\nimport sys\n\nprint(sys.path)\n")
    assert says in (await answer(tmp_path, name, given)).text


async def test_tasks_as_objects(tmp_path: Path) -> None:
    tasks = [{"content": "sow", "status": "pending"}, {"content": "reap", "activeForm": "reaping"}]
    result = await answer(tmp_path, "todo_write", {"todos": tasks})
    assert "1. [ ] sow\n2. [ ] reap" in result.text


async def test_a_list_of_tasks_that_is_written_again_is_the_same_plan(tmp_path: Path) -> None:
    async with Toolbox(workspace=tmp_path) as box:
        tasks = [
            {"content": "sow", "status": "completed"},
            {"content": "reap", "status": "pending"},
        ]
        first = await box.call("todo_write", {"todos": tasks})
        assert "1. [x] sow" in first.text
        assert "1 of 2 done" in first.text
        more = [
            {"content": "sow", "status": "completed"},
            {"content": "reap", "status": "in_progress"},
            {"content": "sell", "status": "cancelled"},
        ]
        second = await box.call("todo_write", {"todos": more})
        assert second.data["id"] == first.data["id"]
        states = [(step["text"], step["status"]) for step in second.data["steps"]]
        assert states == [("sow", "done"), ("reap", "in_progress"), ("sell", "blocked")]
        assert second.data["steps"][0]["seconds"] is None
        other = await box.call("create_plan", {"goal": "Eat", "steps": ["- [x] Cook", "- [ ] Sit"]})
        assert other.data["id"] != first.data["id"]
        assert [step["text"] for step in other.data["steps"]] == ["Cook", "Sit"]
        assert other.data["done"] == 1


async def test_arguments_of_reference_servers(tmp_path: Path) -> None:
    given = {"source_timezone": "Europe/Berlin", "time": "16:30", "target_timezone": "Asia/Tokyo"}
    assert "(Asia/Tokyo" in (await answer(tmp_path, "convert_time", given)).text
    with scripted() as web:
        web["/z"] = Answer("<h1>Heron</h1><p>In the water.</p>")
        config: dict[str, Any] = {**ALLOWED, "egress": {"allow_hosts": [web.origin]}}
        config["web"] = {"fetch": {"allow_hosts": [web.origin], "render": "never"}}
        async with Toolbox(config, workspace=tmp_path) as box:
            limits = {"max_length": 5000, "start_index": 0, "raw": True}
            raw = await box.call("fetch", {"url": f"{web.url}/z", **limits})
            read = await box.call("WebFetch", {"url": f"{web.url}/z", "prompt": "Which bird?"})
        assert raw.error is None
        assert "<h1>" in raw.text
        assert read.error is None
        assert "# Heron" in read.text


async def test_a_step_that_is_complete(tmp_path: Path) -> None:
    async with Toolbox(ALLOWED, workspace=tmp_path) as box:
        await box.call("create_plan", {"goal": "a house", "steps": ["plan it", "build it"]})
        result = await box.call("complete_step", {"step": 1})
        assert "1 of 2 done" in result.text
