"""How well and how fast the reader finds the main content, over the whole development set.

    TOOLCRIB_WCXB=DATA python bench/reader.py [--pages N] [--write-baseline]

Word F1 by page type; pages per CPU second, bytes to text and Markdown, as a ratio to
trafilatura's Markdown in the same run where trafilatura is installed (on a sample). The
shipped tables were trained on these pages, so that the F1 here is that of known pages: a
guard against loss, not a measure. scripts/train_reader.py prints figures for unseen sites.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import os
import random
import re
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolcrib.documents.reader.extraction import extract
from toolcrib.text.cleaner import clean

BASELINE = Path(__file__).parents[1] / "tests" / "documents" / "reader" / "baseline.json"
WORD = re.compile(r"\w+")
SAMPLE = 240
"""Pages of the gate."""
COMPARED = 150
"""Pages that the other reader gets too."""


def truth(folder: Path) -> Iterator[dict[str, Any]]:
    """Each page's row of the truth."""
    with gzip.open(folder / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def page(folder: Path, name: str) -> bytes:
    """The bytes of a page."""
    return gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())


def pages(folder: Path) -> Iterator[dict[str, Any]]:
    """Each page's row of the truth, with its bytes as `html`."""
    return (row | {"html": page(folder, row["id"])} for row in truth(folder))


def sampled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pages of the gate in the tests."""
    return random.Random(20).sample(sorted(rows, key=lambda row: row["id"]), SAMPLE)


def means(rows: list[dict[str, Any]], answers: dict[str, str]) -> dict[str, float]:
    """Mean word F1 by page type; the truth has soft hyphens, which divide its words."""
    scores: dict[str, list[float]] = collections.defaultdict(list)
    for row in rows:
        value = word_f1(answers[row["id"]], clean(row["main_content"]).text)
        for key in ("all", row["page_type"]):
            scores[key].append(value)
    return {key: round(sum(some) / len(some), 4) for key, some in sorted(scores.items())}


def word_f1(answer: str, truth: str) -> float:
    got, want = WORD.findall(answer.lower()), WORD.findall(truth.lower())
    shared = sum((collections.Counter(got) & collections.Counter(want)).values())
    return 2 * shared / max(1, len(got) + len(want))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pages", type=int, help="a seeded sample of so many")
    options.add_argument("--rounds", type=int, default=3, help="of the comparison")
    options.add_argument("--write-baseline", action="store_true")
    options.add_argument("--answers", type=Path, help="write the plain texts for score.py")
    given = options.parse_args()
    folder = Path(os.environ["TOOLCRIB_WCXB"])
    rows = list(truth(folder))
    if given.pages:
        rows = random.Random(4).sample(rows, given.pages)
    extract(page(folder, rows[0]["id"]))  # loads the tables
    before = peak()
    answers, right, spent = {}, 0, 0.0
    for row in rows:
        html = page(folder, row["id"])
        started = time.process_time()
        result = extract(html, row["url"])
        spent += time.process_time() - started
        answers[row["id"]] = result.text
        right += result.page_type == row["page_type"]
    print(f"peak memory {peak()} MB, of which before the first page {before} MB")
    figures = means(rows, answers)
    for key, value in figures.items():
        print(f"{key:14} {value:.4f}")
    print(f"page type right {right / len(rows):.3f}")
    print(f"{len(rows) / spent:.1f} pages per CPU second")
    if given.answers:
        given.answers.write_text(json.dumps(answers), encoding="utf-8")
    if given.write_baseline:
        both = {"development": figures, "sample": means(sampled(rows), answers)}
        BASELINE.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")
    some = random.Random(5).sample(rows, min(COMPARED, len(rows)))
    compare([row | {"html": page(folder, row["id"])} for row in some], given.rounds)


def peak() -> int:
    """The most memory that this process has had, in MB, with the truth of all pages."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def compare(rows: list[dict[str, Any]], rounds: int) -> None:
    """The ratio of speeds to trafilatura's Markdown: page by page, so that both meet the same
    load of the machine."""
    try:
        import trafilatura
    except ImportError:
        print("trafilatura is not installed: no ratio")
        return

    def other(row: dict[str, Any]) -> None:
        trafilatura.extract(
            row["html"], output_format="markdown", include_links=True, include_images=True
        )

    def ours(row: dict[str, Any]) -> None:
        extract(row["html"], row["url"])

    other(rows[0])
    ratios = []
    for number in range(rounds):
        slow = fast = 0.0
        for row in rows:
            slow += seconds(other, row)
            fast += seconds(ours, row)
        ratios.append(slow / fast)
        print(f"round {number + 1}: trafilatura {len(rows) / slow:.1f} pages per CPU second,")
        print(f"  this reader {len(rows) / fast:.1f} on the same {len(rows)}")
    print(f"median of the ratios: {statistics.median(ratios):.2f}")


def seconds(read: Callable[[dict[str, Any]], None], row: dict[str, Any]) -> float:
    started = time.process_time()
    read(row)
    return time.process_time() - started


if __name__ == "__main__":
    main()
