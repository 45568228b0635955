"""Programs of jq: what they give, and what they cannot do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from toolcrib.core.result import Result
from toolcrib.core.tool import tool
from toolcrib.execution.jq import MAX_RESULTS, run_program
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox


@tool(group="test")
async def try_program(program: str, text: str = "null", *, ctx: Any) -> Result:
    """Run a program.

    For tests.
    """
    results = await run_program(program, text, ctx)
    return Result(data=results)


@pytest.fixture
async def box():
    async with Toolbox({}, tools=[try_program]) as box:
        yield box


async def run(box: Toolbox, program: str, value: Any = None) -> Any:
    result = await box.call("try_program", {"program": program, "text": json.dumps(value)})
    return result.error.code if result.error else result.data


@pytest.mark.parametrize(
    ("program", "value", "results"),
    [
        (".a", {"a": "é✓"}, ['"é✓"']),
        (".[] | {n: .x}", [{"x": 1}, {"x": 2}], ['{"n": 1}', '{"n": 2}']),
        ("def double: . * 2; map(double)", [1, 2], ["[2, 4]"]),
        (".a # a comment", {"a": 1}, ["1"]),
        ("select(.x)", {}, []),
        ('"a\\nb"', None, ['"a\\nb"']),
        ('map(tostring) | join("-")', [1, "b"], ['"1-b"']),
        ('[.[] | select(test("^a"))]', ["ab", "b"], ['["ab"]']),
        ("halt_error", {}, []),
    ],
)
async def test_results(box, program, value, results):
    assert await run(box, program, value) == results


@pytest.mark.parametrize(
    "program",
    ["", " ", ".a[", "nosuch", ".a.b", "error", "1) | (", "\0", ".a\\", "x" * 20_000, "1 as $x"],
)
async def test_what_is_no_program(box, program):
    assert await run(box, program, {"a": []}) == "bad_input"


@pytest.mark.parametrize(
    "program",
    [
        "[range(1e9)]",
        "last(range(1e9))",
        "def f: [f]; f",
        '"x" * 1000000000',
        '[limit(1e9; repeat("abc"))]',
        "reduce range(1e9) as $n (0; . + 1)",
        "def f(x): f(x | x); f(1)",
        "[.] | until(false; . + .)",
    ],
)
async def test_bombs_end(program):
    async with Toolbox({"limits": {"job_seconds": 1.5}}, tools=[try_program]) as box:
        assert await run(box, program) in ("timeout", "too_large")
        assert box.use(Processes).running == 0


async def test_a_program_has_a_limit_of_its_own(box):
    assert await run(box, "def f: f; f") in ("timeout", "too_large")
    assert box.use(Processes).running == 0


async def test_endless_results_are_cut(box):
    assert len(await run(box, "repeat(1)")) == MAX_RESULTS + 1


@pytest.mark.parametrize(
    "program", ["env", "$ENV", "1), ($ENV", "1) | $ENV | (.", "[env, $ENV][1]", "$ENV | . + env"]
)
async def test_no_environment(box, program, monkeypatch):
    monkeypatch.setenv("SOME_SECRET", "hidden-value")
    results = await run(box, program)
    assert results == "bad_input" or set(results) <= {"1", "{}"}


async def test_no_files(box, tmp_path):
    (tmp_path / "m.jq").write_text('module {"secret": 1}; def f: 1;')
    (tmp_path / "m.json").write_text('["secret"]')
    for program in (
        f'import "{tmp_path}/m" as $m; $m',
        f'import "{tmp_path}/m" as m; m::f',
        f'include "{tmp_path}/m"; f',
        f'1); import "{tmp_path}/m" as $m; ($m',
        f'"{tmp_path}/m" | modulemeta',
        f'module {{}}; import "{tmp_path}/m" as $m; $m',
    ):
        assert await run(box, program) == "bad_input"
    assert await run(box, "input_filename") == ["null"]
    assert await run(box, 'try input catch "none"') == ['"none"']


async def test_a_cancelled_call_leaves_no_process(box):
    call = asyncio.create_task(run(box, "def f: f; f"))
    while not box.use(Processes).running:
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert box.use(Processes).running == 0
