"""Edits that misquote the file in every known way: done right, or refused; never wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.cases import each_case
from tests.files.edits.drift import DRIFTS, Case, cases
from toolcrib.core.errors import ToolError
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.edits.edits import Edit, resolve_edits

pytestmark = pytest.mark.rows("C005", "C029", "E09")


def written(case: Case) -> bytes | None:
    """What the engine would write; None where it refuses."""
    file = FaithfulText.of(case.data, case.file)
    try:
        outcome = resolve_edits(file.text, [Edit(case.old, case.new)], cr=file.eol == "\r")
        return file.spliced(outcome.splices)
    except ToolError as error:
        assert error.hint
        return None


@each_case("kind", DRIFTS)
def test_drift(kind: str) -> None:
    # Some of the cases: each form, setting and source still comes up; bench/ has them all.
    every = list(cases(kind))
    chosen = every[:: 3 if len(every) > 100 else 1]
    assert len(chosen) > 5
    results: Counter[str] = Counter()
    for case in chosen:
        found = written(case)
        if case.expected is None:
            assert found is None, f"{case.name}: written, and should be refused"
            results["refused"] += 1
        elif found is not None:
            assert found == case.expected, f"{case.name}: wrong"
            results["done"] += 1
        else:
            results["not done"] += 1
    assert results["done"] >= 0.95 * (results["done"] + results["not done"])


def test_there_are_enough_of_them() -> None:
    every = list(cases())
    assert len(every) > 200
    assert {case.setting for case in every} >= {"unique", "duplicate", "near-duplicate", "absent"}
    assert {case.form for case in every} >= {"LF", "CRLF", "BOM", "UTF-16", "cp1252", "mixed ends"}
