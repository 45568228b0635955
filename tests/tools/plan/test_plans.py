"""Plans through the whole pipeline: states and moves, several plans, compact form, bad input."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.model import Turn, model_server
from tests.tools.memory.test_memories import outside
from toolcrib.agents.events import ResultEvent
from toolcrib.core.context import Caller, Progress
from toolcrib.memory.plans import COMPACT_TOKENS, MOVES
from toolcrib.surfaces.cli.chat_terminal.view import Look, TurnView
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox, installed

STEPS = ["Write the notes", "Build the wheels", "Upload them"]


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=tmp_path) as opened:
        yield opened


async def made(box: Toolbox, steps: list[str] | None = None, **more: Any) -> int:
    result = await box.call("create_plan", {"goal": "Ship it", "steps": steps or STEPS}, **more)
    assert result.error is None, result.error
    return int(result.data["id"])


async def moved(box: Toolbox, index: int, status: str, note: str = "", **more: Any) -> Any:
    given = {"index": index, "status": status, "note": note, **more}
    return await box.call("update_plan_step", given)


@pytest.mark.rows("C084", "C085", "C086")
async def test_a_plan_is_worked_through(box: Toolbox) -> None:
    number = await made(box)
    for index in (1, 2, 3):
        assert (await moved(box, index, "in_progress")).error is None
        result = await moved(box, index, "done", "fine" if index == 2 else "")
        assert result.error is None
    assert result.data["percent"] == 100
    displayed = await box.call("get_plan", {})
    assert displayed.data["id"] == number
    assert [step["status"] for step in displayed.data["steps"]] == ["done"] * 3
    assert "3 of 3 done, 100 %" in displayed.text
    assert "2. [x] Build the wheels (fine; " in displayed.text
    assert all(step["seconds"] is not None for step in displayed.data["steps"])


async def test_a_plan_that_may_be_outside_text_is_fenced_in_other_conversations(
    tmp_path: Path,
) -> None:
    async with Toolbox(workspace=tmp_path, tools=[*installed(), outside]) as box:
        given = {"goal": "Run evil", "steps": ["Send it", "Hide it"]}
        await box.call("outside", {}, session="web")
        await box.call("create_plan", given, session="web")
        own = await box.call("get_plan", {}, session="web")
        assert own.source == ""  # its own words, in a conversation that is tainted already
        for call in (
            ("get_plan", {}),
            ("get_plan", {"compact": True}),
            ("update_plan_step", {"index": 1, "status": "in_progress"}),
        ):
            displayed = await box.call(*call, session=f"clean {call[1]}")
            assert "https://evil.example/page" in displayed.source, call
            assert displayed.render().startswith("<untrusted"), call
        await box.call("summarize_session", {"task": "Clean"}, session="s")
        dossier = await box.call("restore_session", {}, session="t")
        assert "Run evil" not in dossier.text
        assert "get_plan" in dossier.render()
        # It is only named beside another one.
        await box.call("create_plan", {"goal": "Paint", "steps": ["Sand"]}, session="mine")
        for call in (("get_plan", {}), ("get_plan", {"id": 99})):
            named = (await box.call(*call, session="mine")).render()
            assert "may be outside text" in named
            assert "Run evil" not in named
        # Its own it knows.
        await box.call("create_plan", {"goal": "Second", "steps": ["x"]}, session="web")
        own = await box.call("get_plan", {}, session="web")
        assert "Run evil (2 steps, 0 % done, from 20" in own.text
        # A note of a tainted conversation marks the plan into which it is written.
        note = {"id": 2, "index": 1, "status": "blocked", "note": "Evil"}
        await box.call("update_plan_step", note, session="web")
        assert (await box.call("get_plan", {"id": 2}, session="mine")).source


async def test_the_words_that_models_write_for_a_status(box: Toolbox) -> None:
    await made(box)
    for status, meant in (("In Progress", "in_progress"), ("completed", "done")):
        result = await moved(box, 1, status)
        assert result.error is None, result.render()
        assert result.data["steps"][0]["status"] == meant
    refused = await moved(box, 2, "sleeping")
    assert refused.error is not None
    assert refused.error.code == "bad_input"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("Write it\nTest it, twice\n\nShip it", ["Write it", "Test it, twice", "Ship it"]),
        ("1. Write it\n2) Test it", ["Write it", "Test it"]),
        ("- [ ] Write it\n- Test it", ["Write it", "Test it"]),
        ("1. Write it. 2. Test it; 3. Ship it", ["Write it.", "Test it", "Ship it"]),
        ("Write it, test it, ship it", ["Write it, test it, ship it"]),
        ("Write it; test it; ship it;", ["Write it", "test it", "ship it"]),
        ("Write it; keep it short", ["Write it; keep it short"]),
        ("Raise it from 1. to 2. step by step", ["Raise it from 1. to 2. step by step"]),
        (["1. Write it", "2. Test it"], ["1. Write it", "2. Test it"]),
        (["1. [x] Write it", "2) [ ] Test it"], ["Write it", "Test it"]),
    ],
)
async def test_steps_in_one_text_are_split(box: Toolbox, steps: object, expected: object) -> None:
    result = await box.call("create_plan", {"goal": "Ship", "steps": steps})
    assert [step["text"] for step in result.data["steps"]] == expected


async def test_a_step_may_be_done_at_once(box: Toolbox) -> None:
    await made(box)
    result = await moved(box, 1, "done")
    assert result.error is None, result.render()
    assert result.data["percent"] == 33
    assert "[x] Write the notes" in (await box.call("get_plan")).text


@pytest.mark.rows("C086")
async def test_each_move_that_is_allowed_and_no_other(box: Toolbox) -> None:
    ways = {
        "pending": [],
        "in_progress": ["in_progress"],
        "done": ["in_progress", "done"],
        "blocked": ["blocked"],
    }
    wrong = []
    for before, method in ways.items():
        for after in MOVES:
            number = await made(box)
            for status in method:
                assert (await moved(box, 1, status, "waits", id=number)).error is None
            result = await moved(box, 1, after, "again", id=number)
            allowed = after == before or after in MOVES[before]
            code = result.error.code if result.error else ""
            if code != ("" if allowed else "bad_input"):
                wrong.append((before, after, code))
            if not allowed:
                assert result.error is not None
                assert all(state in result.error.hint for state in MOVES[before])
    assert not wrong
    refused = await moved(box, 2, "blocked")
    assert refused.error is not None
    assert "note" in refused.error.hint


async def test_a_note_of_a_blocked_step_goes_with_the_block(box: Toolbox) -> None:
    await made(box)
    await moved(box, 1, "blocked", "waits for the key")
    assert (
        "Blocked: 1. Write the notes (waits for the key)"
        in (await box.call("get_plan", {"compact": True})).text
    )
    freed = await moved(box, 1, "pending")
    assert freed.data["steps"][0]["note"] == ""


def tasks(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"todos": [{"content": text, "status": status} for text, status in pairs]}


async def test_a_list_that_is_written_again_says_only_what_is_so(box: Toolbox) -> None:
    await box.call("todo_write", tasks(("Sow", "blocked"), ("Pick", "cancelled")))
    again = await box.call("todo_write", tasks(("Sow", "done"), ("Pick", "cancelled")))
    assert [step["note"] for step in again.data["steps"]] == ["", "cancelled"]


async def test_a_list_of_other_tasks_leaves_the_unfinished_one(box: Toolbox) -> None:
    first = await box.call("todo_write", tasks(("Mend login", "in_progress"), ("Write", "pending")))
    other = await box.call("todo_write", tasks(("Look at the weather", "pending")))
    assert other.data["id"] != first.data["id"]
    there = await box.call("get_plan", {"id": first.data["id"]})
    assert [step["text"] for step in there.data["steps"]] == ["Mend login", "Write"]


async def test_steps_of_the_same_text_have_their_own_states(box: Toolbox) -> None:
    await box.call("todo_write", tasks(("Test", "done"), ("Code", "done"), ("Test", "pending")))
    again = {"goal": "Tasks", "steps": ["Test", "[x] Code", "Test"]}
    result = await box.call("create_plan", again)
    assert [step["status"] for step in result.data["steps"]] == ["done", "done", "pending"]


async def test_several_plans_and_the_one_in_work(box: Toolbox) -> None:
    first = await made(box, session="a")
    second = await made(box, session="a")
    other = await made(box, session="b")
    displayed = await box.call("get_plan", {}, session="a")
    assert displayed.data["id"] == second
    assert set(displayed.data["others"]) == {first, other}
    await box.call(
        "update_plan_step", {"id": first, "index": 1, "status": "in_progress"}, session="a"
    )
    assert (await box.call("get_plan", {}, session="a")).data["id"] == first
    # A conversation without one of its own goes on with what was worked on last.
    assert (await box.call("get_plan", {}, session="new")).data["id"] == first


async def test_it_is_there_after_a_restart_and_only_in_its_project(
    box: Toolbox, tmp_path: Path
) -> None:
    number = await made(box)
    async with Toolbox(workspace=tmp_path) as again:
        assert (await again.call("get_plan", {})).data["id"] == number
    (tmp_path / "other").mkdir()
    async with Toolbox(workspace=tmp_path / "other") as elsewhere:
        missing = await elsewhere.call("get_plan", {})
        assert missing.error is not None
        assert missing.error.code == "not_found"
        assert "create_plan" in missing.error.hint


@pytest.mark.parametrize("letter", ["word ", "字"])
async def test_the_compact_form_is_short_however_long_the_plan(box: Toolbox, letter: str) -> None:
    steps = [(letter * 500)[:500]] * 30
    given = {"goal": (letter * 1000)[:1000], "steps": steps}
    assert (await box.call("create_plan", given)).error is None
    await moved(box, 1, "in_progress", (letter * 400)[:1000])
    for index in range(2, 28):
        await moved(box, index, "blocked", (letter * 400)[:1000])
    compact = await box.call("get_plan", {"compact": True})
    assert estimate(compact.text) <= COMPACT_TOKENS
    assert "Next: 28." in compact.text
    assert "Blocked also: 3, 4, 5 and 22 more" in compact.text


async def test_bad_input_is_refused_with_the_way_on(box: Toolbox) -> None:
    number = await made(box)
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("create_plan", {"goal": " ", "steps": STEPS}, "bad_input"),
        ("create_plan", {"goal": "x" * 1001, "steps": STEPS}, "bad_input"),
        ("create_plan", {"goal": "x", "steps": []}, "bad_input"),
        ("create_plan", {"goal": "x", "steps": ["y"] * 31}, "bad_input"),
        ("create_plan", {"goal": "x", "steps": ["y", ""]}, "bad_input"),
        ("create_plan", {"goal": "x", "steps": ["y" * 501]}, "bad_input"),
        ("get_plan", {"id": number + 100}, "not_found"),
        ("update_plan_step", {"index": 9, "status": "done"}, "not_found"),
        ("update_plan_step", {"index": 0, "status": "done"}, "bad_input"),
        ("update_plan_step", {"index": 1, "status": "sleeping"}, "bad_input"),
        (
            "update_plan_step",
            {"index": 1, "status": "in_progress", "note": "x" * 1001},
            "bad_input",
        ),
    ]
    wrong = []
    for name, given, code in cases:
        result = await box.call(name, given)
        if result.error is None or result.error.code != code or not result.error.hint:
            wrong.append((name, given, result.error))
    assert not wrong
    missing = await box.call("get_plan", {"id": number + 100})
    assert missing.error is not None
    assert f"{number}: Ship it" in missing.error.hint


@pytest.mark.rows("E143")
async def test_agents_are_told_to_plan_and_show_their_steps(tmp_path: Path) -> None:
    steps: list[tuple[str, float | None, float | None]] = []

    async def notify(progress: Progress) -> None:
        steps.append((progress.message, progress.done, progress.total))

    planning = Turn(calls=[("create_plan", {"goal": "x", "steps": ["Look", "Tell"]})])
    moving = Turn(calls=[("update_plan_step", {"index": 1, "status": "in_progress"})])
    hints = {}
    for mode in ("always", "when_useful", "never"):
        with model_server(planning, moving, Turn("done")) as server:
            config = {**server.config(), "plan": {"hint": mode}}
            async with Toolbox(config, workspace=tmp_path) as box:
                given = {"task": "x", "role": "coder", "tools": ["plan"]}
                caller = Caller("python", notify=notify)
                result = await box.call("delegate_task", given, caller=caller)
                assert result.data["answer"] == "done"
                hints[mode] = str(server.requested[0]["messages"][0]["content"])
    assert "Begin with create_plan" in hints["always"]
    assert "more than three steps" in hints["when_useful"]
    assert "create_plan" not in hints["never"]
    assert any(m.endswith("plan 0/2: Look") and (d, t) == (0, 2) for m, d, t in steps)


async def test_the_chat_shows_how_far_the_plan_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Toolbox(workspace=tmp_path) as box:
        result = await box.call("create_plan", {"goal": "x", "steps": ["Look", "Tell"]})
    TurnView(Look()).show(ResultEvent(1, "create_plan", "", "", 0.1, result.data))
    assert "plan 0/2: Look" in capsys.readouterr().err
