"""The quality of the reader on a seeded sample of the development pages."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bench.reader import means, pages, sampled
from toolcrib.documents.reader.extraction import extract

BASELINE = Path(__file__).with_name("baseline.json")
SLACK = 0.01
"""How far a figure may fall before this fails."""

pytestmark = pytest.mark.skipif(
    not os.environ.get("TOOLCRIB_WCXB"),
    reason="TOOLCRIB_WCXB does not name the folder of the reader's pages",
)


@pytest.mark.timeout(300)
def test_word_f1_does_not_fall() -> None:
    rows = sampled(list(pages(Path(os.environ["TOOLCRIB_WCXB"]))))
    found = means(rows, {row["id"]: extract(row["html"], row["url"]).text for row in rows})
    wanted = json.loads(BASELINE.read_text(encoding="utf-8"))["sample"]
    low = {
        name: (found[name], value) for name, value in wanted.items() if found[name] < value - SLACK
    }
    assert not low, f"fell below the baseline (found, baseline): {low}"
