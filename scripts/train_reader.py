"""Make the learned tables of the reader from pages with their reviewed main content.

    TOOLCRIB_WCXB=DATA python scripts/train_reader.py [--write] [--cache FILE]

Needs catboost and numpy beside the package. DATA holds `html/ID.html.gz` and
`truth.jsonl.gz`. Pages are split by site into five parts; every figure printed comes from
a model that has seen no page of the same site. With --write a model of all pages is put
into the package.
"""

from __future__ import annotations

import argparse
import base64
import collections
import gzip
import hashlib
import json
import math
import os
import pathlib
import pickle
import tempfile
import time
import zlib
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from catboost import CatBoostClassifier, Pool
from reader_alignment import align, words_of
from turbohtml import parse

from toolcrib.documents.reader import choice, features, lexicon, scorer, signals
from toolcrib.documents.reader.tree import read_tree

PARTS = 5
HELD_OUT = 4
"""The part that was used least while the method was chosen."""
TARGET = pathlib.Path(scorer.__file__).with_name(scorer.MODEL)
FIRST = {"iterations": 200, "depth": 6, "learning_rate": 0.11, "border_count": 32, "rsm": 0.35}
SECOND = {"iterations": 100, "depth": 6, "learning_rate": 0.1, "border_count": 24, "rsm": 0.4}
TYPES = {
    "iterations": 80, "depth": 4, "learning_rate": 0.12, "border_count": 24, "rsm": 0.5,
    "loss_function": "MultiClass",
}  # fmt: skip


def load(folder: pathlib.Path, cache: pathlib.Path | None) -> list[dict[str, Any]]:
    """Each page's tables, labels, signals and part."""
    if cache and cache.exists():
        return pickle.loads(cache.read_bytes())
    pages = []
    with gzip.open(folder / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        pages += [prepared(folder, json.loads(line)) for line in lines]
    if cache:
        cache.write_bytes(pickle.dumps(pages))
    return pages


def prepared(folder: pathlib.Path, row: dict[str, Any]) -> dict[str, Any]:
    source = gzip.decompress((folder / "html" / f"{row['id']}.html.gz").read_bytes())
    document = parse(source.decode("utf-8", "replace"), positions=False)
    url = row["url"] or ""
    linked = document.json_ld()
    found = signals.page_signals(signals.meta_values(document), linked, url)
    title = signals.title_of(document)
    page = read_tree(document.find("body") or document.root)
    for block in page.blocks:
        block.nodes = []
    for element in page.elements:
        element.node = None
    page.hidden = []
    blocks = [words_of(block.text) for block in page.blocks]
    truth = words_of(row["main_content"])
    on_page = collections.Counter(word for block in blocks for word in block)
    shared = sum((on_page & collections.Counter(truth)).values())
    return {
        "id": row["id"], "type": row["page_type"], "page": page, "words": blocks, "truth": truth,
        "labels": align(blocks, truth), "signals": found, "title": title,
        "recall": shared / max(1, len(truth)), "part": part_of(url or row["id"]),
    }  # fmt: skip


def part_of(url: str) -> int:
    """The part of a site, so that no site is in two."""
    host = urlsplit(url).hostname or url
    site = host if host.endswith(".uk") else ".".join(host.split(".")[-2:])
    number = int(hashlib.sha256(site.encode()).hexdigest(), 16)
    return HELD_OUT if number % 100 < 20 else (number // 100) % 4


def vocabulary(pages: list[dict[str, Any]]) -> lexicon.Lexicon:
    """Log-odds by word over some pages, each page counting once for a word."""
    seen = [(collections.Counter(), collections.Counter()) for _ in range(2)]
    base = 0.0
    for item in pages:
        if "rates" not in item:
            item["rates"] = rates(item)
        base += item["rates"][2] / len(pages)
        for (number, share), table in zip(seen, item["rates"], strict=False):
            for word, rate in table.items():
                number[word] += 1
                share[word] += rate
    text_base = sum(seen[1][1].values()) / sum(seen[1][0].values())
    return lexicon.Lexicon(log_odds(*seen[0], base, 6), log_odds(*seen[1], text_base, 9))


def log_odds(number: Any, share: Any, base: float, min_pages: int) -> dict[str, int]:
    """In tenths."""
    result = {}
    for word, count in number.items():
        if count >= min_pages:
            odds = (share[word] + 3 * base) / (count - share[word] + 3 * (1 - base))
            value = math.log(odds) - math.log(base / (1 - base))
            if abs(value) >= 0.35:
                result[word] = round(10 * value)
    return result


def rates(item: dict[str, Any]) -> tuple[dict[str, float], dict[str, float], float]:
    """By word of names and of texts, how much of what it marks is main content."""
    page = item["page"]
    words, hits = [0], [0.0]
    for block, label in zip(item["words"], item["labels"], strict=True):
        words.append(words[-1] + len(block))
        hits.append(hits[-1] + len(block) * label)
    names: dict[str, list[float]] = collections.defaultdict(lambda: [0.0, 0.0])
    texts: dict[str, list[float]] = collections.defaultdict(lambda: [0.0, 0.0])
    for element in page.elements:
        size = words[element.end] - words[element.start]
        if size and element.name:
            for word in lexicon.name_words(element.name):
                names[word][0] += size
                names[word][1] += hits[element.end] - hits[element.start]
    for block, label, own in zip(page.blocks, item["labels"], item["words"], strict=True):
        for word in lexicon.name_words(block.inline_name) if own else ():
            names[word][0] += len(own)
            names[word][1] += len(own) * label
        if block.words <= lexicon.MAX_SHORT_WORDS:
            for word in lexicon.text_words(block.text, block.words):
                texts[word][0] += 1
                texts[word][1] += label
    return (
        {word: both[1] / both[0] for word, both in names.items()},
        {word: both[1] / both[0] for word, both in texts.items()},
        hits[-1] / max(1, words[-1]),
    )


def fitted(settings: dict[str, Any], rows: Any, labels: Any, weights: Any = None) -> Any:
    model = CatBoostClassifier(
        **{"loss_function": "CrossEntropy"} | settings, l2_leaf_reg=4, thread_count=2, verbose=0,
        random_seed=1, allow_writing_files=False, bootstrap_type="Bernoulli", subsample=0.7,
        leaf_estimation_iterations=2,
    )  # fmt: skip
    model.fit(Pool(rows, labels, weight=weights))
    return model


def exported(model: Any) -> dict[str, Any]:
    """A model as the tables that `documents.reader.scorer` reads."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        model.save_model(file.name, format="json")
        plain = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))
    factor, bias = plain["scale_and_bias"]
    kinds = len(bias)
    trees = plain["oblivious_trees"]
    used = sorted({ask["float_feature_index"] for tree in trees for ask in tree["splits"]})
    borders = [
        sorted({ask["border"] for tree in trees for ask in tree["splits"]
                if ask["float_feature_index"] == column})
        for column in used
    ]  # fmt: skip
    values = [np.array(tree["leaf_values"]).reshape(-1, kinds) for tree in trees]
    span = max((one.max(axis=0) - one.min(axis=0)).max() for one in values)
    total = np.array(bias, dtype=float)
    rows = []
    for tree, own in zip(trees, values, strict=True):
        questions = []
        for ask in tree["splits"]:
            column = used.index(ask["float_feature_index"])
            questions += [column, borders[column].index(ask["border"])]
        lowest = own.min(axis=0)
        total += factor * lowest
        leaves = np.rint((own - lowest) / span * 255).astype(np.uint8).tobytes()
        rows.append([questions, base64.b85encode(leaves).decode()])
    rounded = [[float(f"{border:.6g}") for border in some] for some in borders]
    shift = [round(float(one), 6) for one in total]
    return {"columns": used, "borders": rounded, "scale": factor * span / 255,
            "bias": shift if kinds > 1 else shift[0], "trees": rows}  # fmt: skip


class Training:
    """All pages as rows, and the models over them."""

    def __init__(self, pages: list[dict[str, Any]]) -> None:
        self.pages = pages
        self.part = np.array([item["part"] for item in pages])
        self.kinds = np.array([signals.PAGE_TYPES.index(item["type"]) for item in pages])
        self.words = [vocabulary([i for i in pages if i["part"] != k]) for k in range(PARTS)]
        self.sheets = [
            features.PageFeatures(item["page"], item["title"], self.words[item["part"]])
            for item in pages
        ]
        counts = [len(item["labels"]) for item in pages]
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.of = np.repeat(np.arange(len(pages)), counts)
        self.labels = np.array([one for item in pages for one in item["labels"]], dtype=np.float32)
        sizes = [len(words) for item in pages for words in item["words"]]
        self.sizes = np.array(sizes, dtype=np.float32)
        truth_sizes = np.array([len(item["truth"]) for item in pages])[self.of]
        self.weights = np.minimum(self.sizes, 150) / (truth_sizes + 60) + 0.0005
        self.weights[np.array([item["recall"] for item in pages])[self.of] < 0.5] = 0

    def page_models(self, *, last: bool) -> Any:
        """Chances of the types from models without the own part, and a model of all if `last`."""
        self.figures = np.array([sheet.page_row() for sheet in self.sheets], dtype=np.float32)
        own = np.array([item["signals"] for item in self.pages], dtype=np.float32)
        rows = np.concatenate([self.figures, own], axis=1)
        self.types = np.zeros((len(rows), len(signals.PAGE_TYPES)), dtype=np.float32)
        for part in range(PARTS):
            model = fitted(TYPES, rows[self.part != part], self.kinds[self.part != part])
            self.types[self.part == part] = model.predict_proba(rows[self.part == part])
        right = (self.types.argmax(axis=1) == self.kinds).mean()
        print(f"page type: {right:.3f} of pages right")
        return fitted(TYPES, rows, self.kinds) if last else None

    def first_rows(self) -> Any:
        rows = np.concatenate(
            [as_rows(sheet.columns()) for sheet in self.sheets if sheet.page.blocks]
        )
        shared = np.concatenate([self.types, self.figures], axis=1)[self.of]
        return np.concatenate([rows, shared], axis=1, dtype=np.float32)

    def cross(self, settings: dict[str, Any], rows: Any, *, last: bool) -> tuple[Any, Any]:
        """Chances from models without the own part, and a model of all if `last`."""
        part, good = self.part[self.of], self.weights > 0
        result = np.zeros(len(rows))
        for number in range(PARTS):
            some = (part != number) & good
            model = fitted(settings, rows[some], self.labels[some], self.weights[some])
            result[part == number] = chance(model, rows[part == number])
            print(f"  part {number} at {time.process_time():.0f} s", flush=True)
        if not last:
            return result, None
        return result, fitted(settings, rows[good], self.labels[good], self.weights[good])

    def second_rows(self, first: Any) -> Any:
        rows, known = [], np.zeros((len(self.pages), len(features.SHARED_NAMES)), dtype=np.float32)
        for number, (item, sheet) in enumerate(zip(self.pages, self.sheets, strict=True)):
            own = first[self.starts[number] : self.starts[number + 1]].tolist()
            if own:
                columns, known[number] = features.second_columns(item["page"], sheet.chains, own)
                rows.append(as_rows(columns + sheet.texts))
        shared = np.concatenate([known, self.types], axis=1)[self.of]
        return np.concatenate([np.concatenate(rows), shared], axis=1, dtype=np.float32)

    def report(self, name: str, chances: Any) -> None:
        scores: dict[str, list[float]] = collections.defaultdict(list)
        for number, item in enumerate(self.pages):
            own = chances[self.starts[number] : self.starts[number + 1]].tolist()
            chosen = choice.choose_blocks(item["page"], own, item["type"])
            got = [w for words, ok in zip(item["words"], chosen, strict=True) if ok for w in words]
            value = f1(got, item["truth"])
            group = "held out" if item["part"] == HELD_OUT else "parts 0-3"
            for key in ("all", group, item["type"]):
                scores[key].append(value)
        print(name, {key: round(sum(v) / len(v), 4) for key, v in sorted(scores.items())})


def as_rows(columns: list[bytes]) -> Any:
    return np.frombuffer(b"".join(columns), dtype=np.uint8).reshape(len(columns), -1).T


def chance(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows)[:, 1]


def f1(got: list[str], truth: list[str]) -> float:
    shared = sum((collections.Counter(got) & collections.Counter(truth)).values())
    return 2 * shared / max(1, len(got) + len(truth))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true", help="put the model into the package")
    options.add_argument("--cache", type=pathlib.Path, help="keep the prepared pages here")
    options.add_argument("--chances", type=pathlib.Path, help="write the blocks' chances here")
    given = options.parse_args()
    pages = load(pathlib.Path(os.environ["TOOLCRIB_WCXB"]), given.cache)
    training = Training(pages)
    print(f"{len(pages)} pages, {len(training.labels)} blocks")
    type_model = training.page_models(last=given.write)
    first, first_model = training.cross(FIRST, training.first_rows(), last=given.write)
    training.report("first pass", first)
    final, second_model = training.cross(SECOND, training.second_rows(first), last=given.write)
    training.report("second pass", final)
    running = training.types[training.of][:, list(scorer.RUNNING)].sum(axis=1) > 0.5
    training.report("as shipped", np.where(running, final, first))
    if given.chances:
        np.savez(given.chances, first=first, final=final, types=training.types)
    if given.write:
        everything = vocabulary(pages)
        table = {
            "names": everything.names, "texts": everything.texts,
            "types": exported(type_model),
            "first": exported(first_model), "second": exported(second_model),
        }  # fmt: skip
        plain = json.dumps(table, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        TARGET.write_bytes(zlib.compress(plain.encode(), 9))
        print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, {len(plain):,} unpacked")


if __name__ == "__main__":
    main()
