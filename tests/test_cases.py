"""A table of cases that fails for one of them fails, whatever the others do."""

from __future__ import annotations

import pytest

from tests.cases import each_case


@each_case(("one", "other"), [(1, 1), (1, 2), pytest.param(2, 3, id="named")])
def equal(one: int, other: int) -> None:
    assert one == other


@each_case("number", [1, 2], ids=["small", "large"])
async def small(number: int, limit: int) -> None:
    assert number < limit


@each_case("number", [1, 2])
def skipped(number: int) -> None:
    if number == 2:
        pytest.skip("not here")


@each_case("number", [])
def empty(number: int) -> None:
    assert number


async def test_what_failed_is_told_by_case() -> None:
    with pytest.raises(AssertionError, match=r"2 of 3 cases:\n1: 1, 2\n(.|\n)*2: named"):
        equal()
    await small(limit=3)
    with pytest.raises(AssertionError) as caught:
        await small(limit=2)
    assert caught.value.__notes__ == ["in case large"]


def test_nothing_passes_unseen() -> None:
    with pytest.raises(pytest.skip.Exception, match="not here"):
        skipped()
    with pytest.raises(AssertionError, match="without cases"):
        empty()
