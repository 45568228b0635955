"""Finding a tool by what it does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

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
    result = await box.call("search_tools", {"limit": 0})
    assert result.error
    assert "from 1 to 200" in result.error.message
