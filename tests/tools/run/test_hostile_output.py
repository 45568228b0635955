"""What a run prints, made to keep whoever reads it busy: the time grows as the text does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.tools.run import lint_project, run_javascript, runner_output, runners

CHARS = 200_000
PIECES = [
    *("\n", " ", " \n", "1 111 ", "1 a, ", "=", "=\n", "=== ", "___ a ", "___ a\n", "1"),
    *("Tests: 1 a, ", "not ok 1 - a # ", "not ok 1 - a\n", "error: |-\n", "error: |-\n    \n"),
    *("    at ", "    at \n", "FAIL  a > ", "FAILED a - ", "FAIL: a\n-----------\n", "-"),
    *("---- a stdout ----\n", "---- a", "error: a\n", "error: a\n\n", "error[::", "Ran 1 test "),
    *(
        "{",
        "\n{",
        '\n{"a":',
        '\n{"',
        '\n{"a":1}',
        "\n!",
        "a:1:1 x ━━━\n",
        "a:1:1 x ━━━",
        " FIXABLE",
    ),
    *("a:", "a:1:", "   --> a:1", "/a.b\n 1:1 error a  b", "process "),
]
HEADS = [
    *(
        "1 passed",
        "error: a\n",
        "error: |-\n",
        "not ok 1 - a\n",
        "a:1:1 x ",
        "a:1:1 x ━━━\n" * 4_000,
    ),
    *("/a.b\n 1:1 error a", "FAIL: a\n", "FAIL  ", "FAILED ", "=== ", "___ ", "---- "),
]
READERS: dict[str, Callable[[str], Any]] = {
    **{name: getattr(runner_output, name) for name in ("jest", "mocha", "tap", "summary", "cargo")},
    **{name: getattr(runner_output, name) for name in ("go", "pytest", "unittest", "own_frames")},
    "problems": lint_project.problems_in,
    "is pytest": runners.IS_PYTEST.search,
    "needs more": run_javascript.NEEDS_MORE.search,
    "typescript": run_javascript.TYPESCRIPT_SIGNS.search,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@each_case("piece", PIECES)
def test_output_is_read_in_time_that_grows_as_it_does(
    reader: Callable[[str], Any], piece: str
) -> None:
    reader(piece * (CHARS // len(piece)) + "x")


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@each_case("head", HEADS)
def test_blanks_behind_a_head_are_too(reader: Callable[[str], Any], head: str) -> None:
    for blanks in (" ", "\n", " \n"):
        reader(head + blanks * (CHARS // len(blanks)) + "x")


def test_many_packages_that_fail() -> None:
    events = ({"Action": "fail", "Package": f"p{number}"} for number in range(20_000))
    totals = runner_output.go("\n".join(map(json.dumps, events)))
    assert totals.failed == len(totals.failures) == 20_000


def test_each_problem_of_biome_has_the_reason_that_follows_it() -> None:
    text = "a.js:1:1 x ━━━\n\n  ! one\na.js:1:1 x  FIXABLE ━━━\nb.js:2:2 y ━━━\n  \u00d7 two  \n"
    found = [re.sub(r"\s+$", "", str(problem)) for problem in lint_project.problems_in(text)]
    assert found == ["a.js:1:1: x one", "a.js:1:1: x two", "b.js:2:2: y two"]
