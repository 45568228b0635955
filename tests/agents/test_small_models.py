"""What small models do, and what becomes of it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.servers.model import ModelServer, Turn, model_server
from toolcrib import Result, Toolbox, tool
from toolcrib.core.context import Ctx
from toolcrib.core.tool import NET, READ
from toolcrib.net.models.repetition import RepetitionDetector
from toolcrib.toolbox import installed

LINE = "The capital of the country is the city that was named above.\n"
CALL = '<tool_call>\n{"name": "list_directory", "arguments": {}}\n</tool_call>\n'
ALL_RIGHT = (
    "Yes.\n" * 12,
    "| | | |\n" * 60,
    "    }\n" * 20,
    f"```py\n{'    self.assertEqual(first_value, second_value)  # checked' + chr(10)}" * 1
    + "    self.assertEqual(first_value, second_value)  # checked\n" * 5
    + "```\n",
    "\n" * 200,
    "-" * 3_000,
    "".join(f"{n}. The capital of the country number {n} is a city.\n" for n in range(100)),
)


def closed_at(text: str, cuts: list[int]) -> int | None:
    detector = RepetitionDetector(3)
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found = detector.feed(text[start:end])
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("text", ALL_RIGHT)
def test_what_is_no_loop_is_left_alone(text: str) -> None:
    assert closed_at(text, list(range(3, len(text), 7))) is None


@pytest.mark.parametrize(
    ("before", "copy"),
    [
        ("", LINE),
        ("Here it is:\n\n", LINE),
        ("", CALL),
        ("I look.\n", f"{LINE}\nAnd then there is more to be said about it, as follows.\n"),
        ("So ", "it goes on and on, "),
    ],
)
def test_what_comes_three_times_is_closed_and_the_first_taken(before: str, copy: str) -> None:
    text = before + copy * 60
    pieces = random.Random(1)
    for _ in range(20):
        cuts = sorted(pieces.sample(range(1, len(text)), 200))
        end = closed_at(text, cuts)
        assert end is not None
        assert text[:end].strip() == (before + copy).strip()


@pytest.fixture
async def box(tmp_path: Path) -> Any:
    (tmp_path / "notes.md").write_text("the word is plum\n")
    with model_server(Turn("done")) as server:
        async with Toolbox(server.config(), workspace=tmp_path) as found:
            found.server = server  # type: ignore[attr-defined]
            yield found


async def delegated(box: Any, **given: Any) -> dict[str, Any]:
    result = await box.call("delegate_task", {"task": "What is the word?", **given})
    return dict(result.data)


async def test_an_answer_that_repeats_itself(box: Any) -> None:
    server: ModelServer = box.server
    # The server never ends: only what closes the stream ends the run before its deadline.
    server.says(Turn(LINE * 50, piece=20, stall=120))
    outcome = await delegated(box)
    assert outcome["status"] == "completed"
    assert outcome["answer"] == LINE.strip()
    assert "repeated itself" in outcome["note"]


async def test_a_call_that_is_repeated_in_the_text(box: Any) -> None:
    call = CALL.replace("list_directory", "read_file").replace("{}", '{"path": "notes.md"}')
    box.server.says(Turn(call * 40, piece=9), Turn("plum"))
    outcome = await delegated(box)
    assert (outcome["answer"], outcome["tool_calls"]) == ("plum", 1)
    assert box.server.words().count("the word is plum") == 1


async def test_a_call_that_is_repeated(box: Any) -> None:
    calls = [("read_file", {"path": "notes.md"})] * 40
    box.server.says(Turn("", calls, piece=7), Turn("plum"))
    outcome = await delegated(box)
    assert (outcome["answer"], outcome["tool_calls"]) == ("plum", 1)
    assert len(box.server.results()) == 1


async def test_reasoning_that_repeats_itself(box: Any) -> None:
    box.server.says(Turn("", reasoning=LINE * 60, piece=30, stall=150), Turn("plum"))
    outcome = await delegated(box)
    assert outcome["answer"] == "plum"


async def test_an_answer_that_calls_every_tool_changes_nothing(box: Any) -> None:
    every = [
        ("delete_path", {"path": "notes.md"}),
        ("write_file", {"path": "notes.md", "text": "gone"}),
        ("find_files", {"query": "*.md"}),
        ("list_directory", {}),
        ("read_file", {"path": "notes.md"}),
    ]
    box.server.says(Turn("", every), Turn("plum"))
    outcome = await delegated(box)
    assert (outcome["answer"], outcome["tool_calls"]) == ("plum", 3)
    assert "5 different tools were called in one answer" in box.server.words()
    assert "the word is plum" in box.server.words()


BROKEN_CALLS = (  # as Qwen2.5-Coder-0.5B wrote them
    (
        '{"name": "make_directory", "arguments": {"path": "task", "required": ["path"]}}, '
        '{"name": "move_path", "arguments": {"source": "task", "destination": "/'
    ),
    '{"\nname": "delete_path", "arguments": {"path": "/tmp/task", "permanent": true}}',
    '{"name": "edit_file", "arguments": {"path": "app.ini", "edits": [["old", "new"]]}]}',
)


@pytest.mark.parametrize("text", BROKEN_CALLS)
async def test_a_broken_call_is_no_answer(box: Any, text: str) -> None:
    box.server.says(Turn(text), Turn("plum"))
    outcome = await delegated(box)
    assert (outcome["answer"], outcome["tool_calls"]) == ("plum", 0)
    assert "could not be read" in box.server.words()


@pytest.mark.parametrize("text", BROKEN_CALLS)
async def test_a_broken_call_as_the_last_answer_is_no_answer(box: Any, text: str) -> None:
    call = Turn("", [("read_file", {"path": "notes.md"})])
    box.server.says(call, call, call, Turn(text))
    outcome = await delegated(box)
    assert outcome["status"] == "stalled"
    assert "the word is plum" in outcome["answer"]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "arguments": "none"}',
        '{"name": "Ada", "age": 3',
        '{"name": "read_file", "arguments": {]} is what the file holds.',
        "{name} is a slot",
    ],
)
async def test_json_that_is_no_broken_call_is_an_answer(box: Any, text: str) -> None:
    box.server.says(Turn(text))
    assert (await delegated(box))["answer"] == text


@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("Compute 2 ** 9 with Python", "run_python"),
        ("Delete old.txt", "delete_path"),
        ("Is there a file about colours? Name it.", "list_directory"),
    ],
)
async def test_the_tools_that_fit_a_task_come_first(box: Any, task: str, first: str) -> None:
    box.server.says(Turn("512"))
    names = ["move_path", "delete_path", "list_directory", "read_file", "run_python"]
    await box.call("delegate_task", {"task": task, "tools": names})
    offered = [spec["function"]["name"] for spec in box.server.requested[-1]["tools"]]
    assert offered[0] == first
    assert set(names) <= set(offered)


@pytest.mark.parametrize("name", ["read_file", "Read_File", "`read_file"])
async def test_a_call_as_hints_write_it_is_one(box: Any, name: str) -> None:
    end = "`" if name.startswith("`") else ""
    box.server.says(Turn(f'{name} {{"path": "notes.md"}}{end}'), Turn("plum"))
    outcome = await delegated(box)
    assert (outcome["answer"], outcome["tool_calls"]) == ("plum", 1)
    # Of no tool that there is, and with what it gave, it is no call.
    for text in ('settings {"path": "notes.md"}', f'{name} {{"path": "notes.md"}} gave: no'):
        box.server.says(Turn(text))
        assert (await delegated(box))["tool_calls"] == 0, text


async def test_a_call_made_again_is_met_with_one_that_fits_the_task(box: Any) -> None:
    call = Turn("", [("read_file", {"path": "notes.md"})])
    box.server.says(call, call, Turn("done"))
    await delegated(box, task="Delete the file notes.md.", tools=["read_file", "delete_path"])
    words = box.server.words()
    assert "send something else, for example: delete_path" in words
    box.server.says(call, call, Turn("plum"))
    await delegated(box)
    assert "send something else; once more" in box.server.words()


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("Which is longer, a.txt or notes.md?", "notes.md"),
        ("What is older, the house on the hill or the mill?", "the house on the hill"),
    ],
)
async def test_words_of_the_task_may_be_the_answer(box: Any, task: str, text: str) -> None:
    call = Turn("", [("read_file", {"path": "notes.md"})])
    box.server.says(call, Turn(text))
    outcome = await delegated(box, task=task)
    assert (outcome["answer"], outcome["steps"]) == (text, 2)


async def test_one_file_said_twice_is_an_answer(box: Any) -> None:
    box.server.says(Turn("", [("read_file", {"path": "notes.md"})]), Turn("notes.md"))
    outcome = await delegated(box, task="Is there a file notes.md? Name it.")
    assert (outcome["status"], outcome["answer"]) == ("completed", "notes.md")


@pytest.mark.parametrize("text", ["notes.md", "`notes.md`.", "No more tools can be called."])
async def test_a_name_or_a_rule_said_again_is_no_answer(box: Any, text: str) -> None:
    box.server.says(Turn(text), Turn("plum"))
    outcome = await delegated(box, task="Which word does notes.md hold?")
    assert outcome["answer"] == "plum"


MET: dict[str, Any] = {}


@tool(group="test", rights=READ)
async def meet(name: str, *, ctx: Ctx) -> Result:
    """Wait for two others.

    For tests.
    """
    MET["began"].append(name)
    if len(MET["began"]) == 3:
        MET["all"].set()
    await MET["all"].wait()
    return Result(f"{name} met")


@tool(group="test", rights=NET)
async def look(*, ctx: Ctx) -> Result:
    """Look.

    For tests.
    """
    return Result("looked")


async def test_calls_that_read_are_made_at_once(tmp_path: Path) -> None:
    MET.update(began=[], all=asyncio.Event())
    calls = [("meet", {"name": name}) for name in "abc"]
    with model_server(Turn("", [*calls, ("meet", {"name": "a"})]), Turn("done")) as server:
        tools = [*installed(), meet, look]
        async with Toolbox(server.config(), workspace=tmp_path, tools=tools) as box:
            outcome = await delegated(box, tools=["meet"])
    assert outcome["status"] == "completed"
    assert outcome["tool_calls"] == 3
    assert MET["began"] == ["a", "b", "c"]
    results = server.results()
    assert [r.split()[0] for r in results[:3]] == ["a", "b", "c"]
    assert results[3].startswith("Not run again")


async def test_arguments_that_say_nothing(box: Any) -> None:
    given = {
        "path": "notes.md",
        "paths": ["", "notes.md"],
        "start": 0,
        "end": 0,
        "lines": 0,
        "focus": "",
        "column": "0",
    }
    result = await box.call("read_file", given)
    assert result.error is None
    assert result.text.startswith("the word is plum")
    assert "==" not in result.text
    aliased = await box.call("read_file", {"path": "", "file_path": "notes.md"})
    assert aliased.text == result.text
    # An empty text is one where a tool takes texts.
    assert (await box.call("write_file", {"path": "empty.txt", "content": ""})).error is None
    edit = {"path": "notes.md", "old": "the word is ", "new": ""}
    assert (await box.call("edit_file", edit)).error is None
    assert (await box.call("read_file", {"path": "notes.md"})).text.startswith("plum")


async def test_amounts_beyond_their_limits(box: Any) -> None:
    result = await box.call("read_file", {"path": "notes.md", "lines": 99_999})
    assert result.error is None
    assert "'lines' is at most 2000: 2000, not 99999." in result.text
    negative = await box.call("read_file", {"path": "notes.md", "lines": -3})
    assert negative.error.code == "bad_input"
    # Another page is another thing.
    page = await box.call("web_search", {"query": "x", "page": 1_000})
    assert page.error.code == "bad_input"


async def test_tools_that_the_policy_denies_are_not_offered(tmp_path: Path) -> None:
    rules = [
        {"action": "allow", "tool": "write_file", "target": "*/notes/*"},
        {"action": "deny", "rights": ["write"]},
        {"action": "deny", "group": "web"},
        {"action": "deny", "tool": "read_file", "target": "*secret*"},
    ]
    with model_server(Turn("done")) as server:
        config = {**server.config(), "policy": {"rules": rules}}
        async with Toolbox(config, "default,agent,meta", workspace=tmp_path) as box:
            names = {t.name for t in box.listed}
            assert {"write_file", "read_file", "list_directory"} <= names
            assert not names & {"edit_file", "delete_path", "web_search", "fetch_url"}
            found = await box.call("search_tools", {"query": "change text of a file"})
            assert "edit_file" not in found.text
            refused = await box.call("edit_file", {"path": "a", "old": "b", "new": "c"})
            assert refused.error is not None
            assert refused.error.code == "denied"
            await delegated(box, tools=["default"])
        offered = {t["function"]["name"] for t in server.requested[0]["tools"]}
        assert not offered & {"edit_file", "web_search", "fetch_url"}
        assert "read_file" in offered
        only = {"default": "deny", "rules": [{"action": "allow", "rights": ["read"]}]}
        async with Toolbox({"policy": only}, "default", workspace=tmp_path) as box:
            assert {"read_file", "list_directory"} <= {t.name for t in box.listed}
            assert not {t.name for t in box.listed} & {"write_file", "web_search"}
