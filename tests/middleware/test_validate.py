"""Arguments on their way in."""

from __future__ import annotations

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
