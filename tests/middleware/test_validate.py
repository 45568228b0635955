"""Arguments on their way in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.middleware.conftest import Make
from toolcrib.toolbox import Toolbox


async def test_aliases_of_tools_and_arguments(box: Toolbox) -> None:
    result = await box.call("say", {"message": "a", "times": "2"})
    assert result.text == "aa"


@pytest.mark.parametrize("broken", ["{broken", "[1, 2]", '"text"'])
async def test_broken_json_is_refused_with_the_usage(box: Toolbox, broken: str) -> None:
    result = await box.call("echo", broken)
    assert result.error is not None
    assert result.error.code == "bad_input"
    assert "echo takes: text, times?" in result.error.hint


async def test_oversized_arguments_are_refused(make: Make) -> None:
    box = make(limits={"max_argument_chars": 1000})
    small = await box.call("echo", {"text": "x" * 900})
    large = await box.call("echo", {"text": "x" * 1100})
    nested = await box.call("echo", {"text": "x", "times": [["y" * 500] * 2]})
    assert small.error is None
    for result in (large, nested):
        assert result.error is not None
        assert result.error.code == "too_large"
        assert "limits.max_argument_chars" in result.error.hint


async def test_a_guess_needs_more_than_a_letter_or_two(tmp_path: Path) -> None:
    async with Toolbox(workspace=tmp_path) as box:
        with_letter = await box.call("diff_files", {"a": "x", "b": "y", "algorithm": "patience"})
        with_two = await box.call("edit_lines", {"path": "x", "operation": "insert", "top": "3"})
    for result in (with_letter, with_two):
        assert result.error is not None and "has no argument" in result.error.message
        assert "Did you mean" not in result.error.hint
