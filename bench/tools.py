"""How often a question in everyday words finds its tool, beside fastmcp's search.

    python -m bench.tools [--part PART ...]
    python -m bench.tools --baseline > tests/tools/meta/recall.json

The questions are those of tests/tools/meta, by part: the held-out ones if none is named.
With --baseline, what the gate of tests/tools/meta/test_finding.py holds. The catalogue is
every tool of ours and some ninety others as distractors. fastmcp (the `bench` extra) gets
what an MCP client gets: names, descriptions with guidance, and schemas. `unknown tools` is
ours without the words that are kept for each tool: how a tool of somebody else is found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.tools.meta.catalogue import Question, catalogue, questions, recall
from toolcrib.core.registry import Registry
from toolcrib.retrieval.tool_index.index import Finder

LANGUAGES = ("all", "en", "de", "es", "zh-Hans", "zh-Hant")
Search = Callable[[str], Sequence[str]]


def ours(registry: Registry, *, known: bool = True) -> Search:
    finder = Finder(registry, known=known)
    return lambda query: [tool.name for tool in finder.find(query, 10)]


def fastmcp(registry: Registry) -> Search:
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools import Tool

    search = BM25SearchTransform(max_results=10)
    tools = [
        Tool(name=t.name, description=f"{t.description}\n\n{t.guidance}", parameters=t.schema)
        for t in registry
    ]
    loop = asyncio.new_event_loop()
    return lambda query: [
        t.name
        for t in loop.run_until_complete(search._search(tools, query))  # noqa: SLF001
    ]


def row(name: str, search: Search, requested: list[Question]) -> None:
    for at in (1, 5):
        found = {language: of for (_, language), of in recall(search, requested, at).items()}
        cells = "  ".join(f"{found[lang][0] / found[lang][1]:7.3f}" for lang in LANGUAGES)
        print(f"{name:22} @{at}  {cells}")
    times = []
    for question in requested:
        start = time.perf_counter()
        search(question.query)
        times.append(time.perf_counter() - start)
    print(f"{'':22}     {median(times) * 1000:.2f} ms a question\n")


def show(part: str, requested: list[Question], registry: Registry) -> None:
    print(f"{len(requested)} questions ({part}), {len(registry)} tools\n")
    print(f"{'':27}" + "  ".join(f"{language:>7}" for language in LANGUAGES))
    row("toolcrib", ours(registry), requested)
    row("toolcrib, unknown tools", ours(registry, known=False), requested)
    with suppress(ImportError):
        row("fastmcp", fastmcp(registry), requested)


def baseline(requested: list[Question], registry: Registry) -> str:
    """Questions that find their tool among the first five, as JSON."""
    found = {
        kind: {
            f"{part} {language}": met
            for (part, language), (met, _) in recall(ours(registry, known=known), requested).items()
        }
        for kind, known in (("known", True), ("unknown", False))
    }
    return json.dumps(found, indent=2, sort_keys=True)


def main() -> None:
    requested = questions()
    parts = list(dict.fromkeys(question.part for question in requested))
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", nargs="+", choices=parts)
    parser.add_argument("--baseline", action="store_true")
    wanted = parser.parse_args()
    registry = catalogue()
    if wanted.baseline:
        print(baseline(requested, registry))
        return
    for part in wanted.part or [part for part in parts if part.startswith("held")]:
        show(part, [question for question in requested if question.part == part], registry)


if __name__ == "__main__":
    main()
