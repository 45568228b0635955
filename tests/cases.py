"""Tables of cases: one test that tries them all and lists what failed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import pytest

SKIPPED = pytest.skip.Exception
OUTCOMES = (Exception, pytest.fail.Exception, SKIPPED)
MAX_DISPLAYED = 20
"""Failures that are shown whole."""
Test = Callable[..., Any]
Ids = Callable[[Any], object] | Iterable[object] | None


def each_case(
    names: str | Iterable[str],
    values: Iterable[Any],
    *,
    ids: Ids = None,
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but all cases are one test, with the same fixtures.

    For cases that leave nothing behind in a fixture: behind a cache, the second case would
    see what the first one got. Failures are told by case, all of them.

    Args:
        names: of the parameters.
        values: one value for each case, or a row of them.
        ids: the names of the cases, or what to call a value; without, it is shown as it is.
    """
    arguments = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    show = ids if callable(ids) else ascii
    cases = dict(_case(arguments, value, number, show) for number, value in enumerate(values))
    if ids is not None and not callable(ids):
        cases = dict(zip(map(str, ids), cases.values(), strict=True))

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        rest = [one for name, one in signature.parameters.items() if name not in arguments]

        @wraps(test)
        def in_turn(**fixtures: Any) -> None:
            failed = {}
            for name, case in cases.items():
                try:
                    test(**fixtures, **case)
                except OUTCOMES as error:
                    failed[name] = error
            _tell(failed, len(cases))

        @wraps(test)
        async def in_turn_async(**fixtures: Any) -> None:
            failed = {}
            for name, case in cases.items():
                try:
                    await test(**fixtures, **case)
                except OUTCOMES as error:
                    failed[name] = error
            _tell(failed, len(cases))

        made = in_turn_async if inspect.iscoroutinefunction(test) else in_turn
        made.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return made

    return decorate


def _case(
    arguments: list[str], value: Any, number: int, show: Callable[[Any], object]
) -> tuple[str, Mapping[str, Any]]:
    """The name of a case, and its arguments."""
    name = ""
    row = value if len(arguments) > 1 else (value,)
    if hasattr(value, "marks"):  # made by pytest.param
        assert not value.marks, "a case of a table has no marks"
        row, name = value.values, value.id or ""
    assert len(row) == len(arguments), f"case {number} has {len(row)} values"
    name = name or ", ".join(str(show(one)) for one in row)
    return f"{number}: {name[:200]}", dict(zip(arguments, row, strict=True))


def _tell(failed: Mapping[str, BaseException], count: int) -> None:
    """Fail with all that failed; a single one is raised as it is, with its place.

    Where cases were skipped and none failed, the test is skipped, though the others ran.
    """
    assert count, "a table without cases"
    faults = {name: why for name, why in failed.items() if not isinstance(why, SKIPPED)}
    if failed and not faults:
        pytest.skip("; ".join(sorted({str(why) for why in failed.values()})))
    failed = faults
    if not failed:
        return
    if len(failed) == 1:
        ((name, error),) = failed.items()
        error.add_note(f"in case {name}")
        raise error
    reported = [f"{name}\n    {type(why).__name__}: {why}" for name, why in failed.items()]
    raise AssertionError("\n".join([f"{len(failed)} of {count} cases:", *reported[:MAX_DISPLAYED]]))
