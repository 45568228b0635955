"""How well words find passages, on the sets of the bench; the baselines stand here."""

from __future__ import annotations

import pytest

from bench.retrieval import score
from toolcrib.retrieval.index import Index

BASELINES = {"dialogue": (0.88, 1.25), "abstracts": (0.96, 1.01)}
"""The least score of a set, and how many times that of plain FTS5 it is at least."""


@pytest.mark.rows("X10")
@pytest.mark.parametrize("name", BASELINES)
async def test_scores_do_not_fall(name: str) -> None:
    index = Index(None)
    ours, theirs = await score(name, index)
    await index.close()
    least, ratio = BASELINES[name]
    assert ours >= least
    assert ours / theirs >= ratio
