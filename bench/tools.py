"""How often a question in everyday words finds its tool, beside fastmcp's search.

    python -m bench.tools [--tune]

The questions are those of tests/tools/meta: the held-out half, or with --tune the half
that words may be added for. The catalogue is every tool of ours and some ninety others as
distractors. fastmcp (the `bench` extra) gets what an MCP client gets: names, descriptions
with guidance, and schemas. `unknown tools` is ours without the words that are kept for
each tool: how a tool of somebody else is found.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.tools.meta.catalogue import Question, catalogue, questions, recall
from toolcrib.core.registry import Registry
from toolcrib.tools.meta.finding.index import Finder

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


def row(name: str, search: Search, asked: list[Question]) -> None:
    for at in (1, 5):
        found = {language: of for (_, language), of in recall(search, asked, at).items()}
        cells = "  ".join(f"{found[lang][0] / found[lang][1]:7.3f}" for lang in LANGUAGES)
        print(f"{name:22} @{at}  {cells}")
    times = []
    for question in asked:
        start = time.perf_counter()
        search(question.query)
        times.append(time.perf_counter() - start)
    print(f"{'':22}     {median(times) * 1000:.2f} ms a question\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tune", action="store_true")
    part = "tune" if parser.parse_args().tune else "held"
    asked = [question for question in questions() if question.part == part]
    registry = catalogue()
    print(f"{len(asked)} questions ({part}), {len(registry)} tools\n")
    print(f"{'':27}" + "  ".join(f"{language:>7}" for language in LANGUAGES))
    row("toolcrib", ours(registry), asked)
    row("toolcrib, unknown tools", ours(registry, known=False), asked)
    with suppress(ImportError):
        row("fastmcp", fastmcp(registry), asked)


if __name__ == "__main__":
    main()
