"""Finding a tool by what it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.meta.catalogue import questions
from toolcrib.retrieval.tool_index.index import finder
from toolcrib.toolbox import Toolbox


@pytest.fixture
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox() as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("search the internet", "web_search"),
        ("read a web page", "fetch_url"),
        ("open a file", "read_file"),
        ("ls", "list_directory"),
        ("how often was each tool used", "usage_stats"),
    ],
)
async def test_the_best_comes_first(box: Toolbox, query: str, best: str) -> None:
    result = await box.call("search_tools", {"query": query})
    assert result.data["tools"][0]["name"] == best
    head, first, *_ = result.text.splitlines()
    assert head == f"{len(result.data['tools'])} of {result.data['total']} tools"
    assert first.startswith(f"{best}: ")


async def test_an_empty_query_lists_all(box: Toolbox) -> None:
    tools = list(box.registry)
    for arguments in ({}, {"query": "  "}, {"limit": None}):
        result = await box.call("search_tools", arguments)
        assert [t["name"] for t in result.data["tools"]] == [t.name for t in tools]
        assert result.text.splitlines()[1:] == [f"{t.name}: {t.description}" for t in tools]


@pytest.mark.parametrize("query", ["", "read"])
async def test_a_limit_holds(box: Toolbox, query: str) -> None:
    result = await box.call("search_tools", {"query": query, "limit": 2})
    assert len(result.data["tools"]) == 2
    assert result.text.startswith("2 of ")


async def test_nothing_fits(box: Toolbox) -> None:
    result = await box.call("search_tools", {"query": "xylophone"})
    assert result.error
    assert result.error.code == "no_results"
    assert "empty query" in result.error.hint


async def test_a_limit_out_of_range_is_refused(box: Toolbox) -> None:
    result = await box.call("search_tools", {"limit": -1})
    assert result.error
    assert "from 1 to 200" in result.error.message


WISHES = tuple(
    line
    for line in Path(__file__).with_name("wishes.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)


async def test_wishes_that_no_tool_serves_are_said_to_fit_nothing() -> None:
    assert len(set(WISHES)) == 100
    async with Toolbox(profile="search") as box:
        found = [await box.call("search_tools", {"query": wish}) for wish in WISHES]
        requested = [
            await box.call("search_tools", {"query": q}) for q in ("read a pdf", "git diff")
        ]
    unfit = [r for r in found if r.error is not None or r.data["fits"] is False]
    assert len(unfit) >= 90
    for result in unfit:
        assert "fits '" in result.text or result.error is not None
    assert all(result.data["fits"] for result in requested)


def test_what_a_tool_does_is_seldom_said_to_fit_nothing() -> None:
    registry = Toolbox().registry
    index, names = finder(registry), {tool.name for tool in registry}
    requested = [q.query for q in questions() if q.tool in names]
    assert sum(not index.fits(query) for query in requested) <= 0.06 * len(requested)
