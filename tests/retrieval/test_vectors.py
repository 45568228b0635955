"""Vectors beside words: other embedders meanwhile, servers that are down, what is found by them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conditions import until
from tests.servers.embeddings import EmbeddingServer, embedding_server
from tests.services import Spawn
from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.retrieval.embedders import configured_embedder
from toolcrib.retrieval.entries import EntryFilter, IndexEntry
from toolcrib.retrieval.fusion import measured_weight, reciprocal_rank_fusion
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.indexes import Indexes
from toolcrib.retrieval.vectors import VectorFile

DOOR = "The keeper of the lighthouse painted its door blue in spring."
OTHERS = [f"Loaf number {n} of sourdough rises in kitchen {n} for hours." for n in range(120)]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


Open = Callable[..., Awaitable[Index]]


@pytest.fixture
async def open_index(tmp_path: Path, server: EmbeddingServer) -> AsyncIterator[Open]:
    opened: list[tuple[Index, Services]] = []

    async def open_one(**settings: Any) -> Index:
        services = Services(Config.load({"embeddings": server.settings | settings}))
        embedder = configured_embedder(services.config, services.use(Egress))
        index = Index(tmp_path / "test.db", embedder)
        opened.append((index, services))
        return index

    yield open_one
    for index, services in opened:
        await index.close()
        assert index.embedder is not None
        await index.embedder.close()
        await services.close()


async def filled(index: Index) -> Index:
    notes = [IndexEntry.note("door", DOOR)]
    await index.put(notes + [IndexEntry.note(f"loaf{n}", text) for n, text in enumerate(OTHERS)])
    return index


async def first_key(index: Index, question: str, **more: Any) -> str:
    ranking = await index.search(question, **more)
    return ranking.passages[0].entry.key if ranking.passages else ""


async def test_what_shares_no_word_is_found(open_index: Open, server: EmbeddingServer) -> None:
    index = await filled(await open_index())
    assert await first_key(index, "Leuchtturm T\u00fcr blau") == ""
    assert await index.embed_missing()
    ranking = await index.search("Leuchtturm T\u00fcr blau")
    assert ranking.passages[0].entry.key == "door"
    assert ranking.method == "words and vectors"
    assert (
        await first_key(index, "lighthouse door", entries=EntryFilter(prefix=("loaf",))) != "door"
    )
    status = await index.status()
    assert (status.vectors, status.weight is not None) == (1.0, True)
    assert server.calls[0]["model"] == "words"


async def test_sides_have_their_prefixes(open_index: Open, server: EmbeddingServer) -> None:
    index = await open_index(model="multilingual-e5-small")
    await index.put([IndexEntry.note("door", DOOR)])
    await index.embed_missing()
    await index.search("which door")
    assert server.texts == [f"passage: {DOOR}", "query: which door"]


async def test_equal_texts_are_embedded_once(open_index: Open, server: EmbeddingServer) -> None:
    index = await open_index()
    await index.put([IndexEntry.note(str(n), DOOR) for n in range(5)])
    await index.embed_missing()
    await index.put([IndexEntry.note("again", DOOR)])
    await index.embed_missing()
    assert len(set(server.texts)) == 1
    assert (await index.status()).vectors == 1.0
    assert len((await index.search("lighthouse", limit=10)).passages) == 6


async def test_the_share_of_vectors_follows_this_process_and_others(
    open_index: Open, server: EmbeddingServer
) -> None:
    index, other = await open_index(), await open_index()
    shares = []

    async def both() -> None:
        shares.append([round((await i.status()).vectors, 2) for i in (index, other)])

    await index.put([IndexEntry.note("one", "a door")])
    await index.embed_missing()
    await both()
    await index.put([IndexEntry.note("two", "a gate")])
    await both()
    await other.embed_missing()
    await both()
    await other.put([IndexEntry.note(f"n{n}", f"a gate {n}") for n in range(2)])
    await both()
    assert shares == [[1, 1], [0.5, 0.5], [1, 1], [0.5, 0.5]]


async def test_another_length_in_the_middle(open_index: Open, server: EmbeddingServer) -> None:
    """384 values become 768: no error, results at all times, the old space goes in the end."""
    server.dims = 384
    index = await filled(await open_index())
    found: list[str] = []

    async def swap(done: int) -> None:
        found.append(await first_key(index, "lighthouse door"))
        server.dims = 768 if done > 50 else 384

    assert await index.embed_missing(swap)
    assert set(found) == {"door"}
    assert len(found) > 4
    assert await first_key(index, "Leuchtturm T\u00fcr blau") == "door"
    assert (await index.status()).vectors == 1.0
    assert len(list(index.path.parent.glob("test.db.vectors-*"))) == 1


async def test_another_length_after_all_was_done(open_index: Open, server: EmbeddingServer) -> None:
    index = await filled(await open_index())
    await index.embed_missing()
    server.dims = 128
    assert await first_key(index, "lighthouse door paint") == "door"
    assert (await index.status()).vectors == 0.0
    await index.embed_missing()
    assert await first_key(index, "Leuchtturm T\u00fcr blau") == "door"


async def test_another_model(open_index: Open, server: EmbeddingServer) -> None:
    """Vectors of two models are never compared; those of the old one go once all are there."""
    first = await filled(await open_index())
    await first.embed_missing()
    second = await open_index(model="others")
    assert (await second.status()).vectors == 0.0
    assert (await second.search("lighthouse door")).method == "words"
    await second.embed_missing()
    assert await first_key(second, "Leuchtturm T\u00fcr blau") == "door"
    assert (await first.search("lighthouse door")).passages[0].entry.key == "door"


async def test_a_server_that_fails_or_hangs(open_index: Open, server: EmbeddingServer) -> None:
    """Searching goes on by words and says so; embedding goes on where it was."""
    index = await filled(await open_index())

    async def fail(done: int) -> None:
        server.mode = "error" if done > 60 else "ok"

    with pytest.raises(ToolError, match="HTTP 500"):
        await index.embed_missing(fail)
    before = (await index.status()).vectors
    assert 0.4 < before < 0.9
    calls = len(server.calls)
    ranking = await index.search("lighthouse door")
    assert ranking.passages[0].entry.key == "door"
    assert "words alone" in ranking.notes[0]
    assert len(server.calls) == calls  # it is left alone for a while
    server.mode = "ok"
    again = await open_index()
    await again.embed_missing()
    assert (await again.status()).vectors == 1.0
    assert len(server.texts) < 2 * len(OTHERS)
    for mode in ("stall", "junk"):
        server.mode = mode
        other = await open_index()
        ranking = await other.search("lighthouse door")
        assert ranking.passages[0].entry.key == "door"
        assert ranking.notes
        server.over.set()


async def test_one_process_at_a_time(open_index: Open, server: EmbeddingServer) -> None:
    first, second = await filled(await open_index()), await open_index()
    entered = asyncio.Event()
    go_on = asyncio.Event()

    async def hold(done: int) -> None:
        entered.set()
        await go_on.wait()

    running = asyncio.create_task(first.embed_missing(hold))
    await entered.wait()
    assert not await second.embed_missing()
    go_on.set()
    assert await running
    assert await second.embed_missing()


async def test_killed_while_vectors_are_made_it_goes_on(
    server: EmbeddingServer, spawn: Spawn
) -> None:
    """Each process is killed behind its first batch; nothing that was written is made again."""
    services = Services(Config.load({"embeddings": server.settings}))
    embedder = configured_embedder(services.config, services.use(Egress))
    index = Index(data_folder() / "embedded.db", embedder)
    await filled(index)
    await index.put([IndexEntry.note(f"more{n}", f"Barrel {n} of pier {n}.") for n in range(400)])
    shares = [0.0]
    for _ in range(3):
        process = await spawn("embedding", server.origin)
        assert process.stdout
        assert await process.stdout.readline()
        process.kill()
        await process.wait()
        shares.append((await index.status()).vectors)
        # There are results at all times.
        assert await first_key(index, "lighthouse door") == "door"
    assert shares == sorted(set(shares)), "each went on where the one before was ended"
    process = await spawn("embedding", server.origin)
    await process.communicate()
    assert process.returncode == 0
    assert (await index.status()).vectors == 1
    assert await first_key(index, "Leuchtturm T\u00fcr blau") == "door"
    await index.close()
    assert embedder is not None
    await embedder.close()
    await services.close()


async def test_a_file_that_is_gone_or_cut(open_index: Open, server: EmbeddingServer) -> None:
    index = await filled(await open_index())
    await index.embed_missing()
    await index.close()
    path = next(index.path.parent.glob("test.db.vectors-*"))
    os.truncate(path, 1000)
    again = await open_index()
    assert await first_key(again, "lighthouse door") == "door"
    await again.embed_missing()
    assert await first_key(again, "Leuchtturm T\u00fcr blau") == "door"


async def test_in_the_background(server: EmbeddingServer) -> None:
    services = Services(Config.load({"embeddings": server.settings}))
    indexes = services.use(Indexes)
    index = await filled(indexes.index("background"))
    indexes.embed_soon("background")
    await until(lambda: len(server.texts) >= len(OTHERS) + 1)
    while (await index.status()).vectors < 1.0:
        await asyncio.sleep(0.01)
    await services.close()


async def test_closing_ends_what_hangs(server: EmbeddingServer) -> None:
    server.mode = "stall"
    services = Services(Config.load({"embeddings": server.settings}))
    indexes = services.use(Indexes)
    await filled(indexes.index("background"))
    indexes.embed_soon("background")
    await asyncio.to_thread(server.reached.wait)
    await services.close()


async def test_the_key_of_the_agent_is_for_its_server(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THEIR_KEY", "agents")
    monkeypatch.setenv("OWN_KEY", "own")
    cases = [
        ({}, None),
        ({"api_key_env": "OWN_KEY"}, "Bearer own"),
        ({"base_url": ""}, "Bearer agents"),
    ]
    for number, (more, sent) in enumerate(cases):
        settings = {
            "agent": {"base_url": server.settings["base_url"], "api_key_env": "THEIR_KEY"},
            "embeddings": server.settings | more,
        }
        services = Services(Config.load(settings))
        index = Index(
            tmp_path / f"{number}.db", configured_embedder(services.config, services.use(Egress))
        )
        await index.put([IndexEntry.note("door", DOOR)])
        await index.embed_missing()
        assert server.headers[-1].get("authorization") == sent
        await index.close()
        assert index.embedder is not None
        await index.embedder.close()
        await services.close()


def test_the_nearest_are_found_among_many(tmp_path: Path) -> None:
    """Where the signs are looked at first, at least 99 of 100 of the nearest are found."""
    random = np.random.default_rng(1)
    middles = random.standard_normal((300, 96))
    rows = middles[random.integers(0, 300, 20_000)] + 0.7 * random.standard_normal((20_000, 96))
    rows += 3.0  # all point in much the same direction, as those of some models do
    file = VectorFile(tmp_path / "vectors", 96)
    file.write(0, rows[:15_000])
    file.nearest(list(rows[0]), 15_000, 10)
    file.write(15_000, rows[15_000:])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    apart = unit - unit.mean(axis=0)
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    found = 0
    for query, seen in zip(unit[::500], apart[::500], strict=True):
        exact = set(np.argsort(-(apart @ seen))[:10].tolist())
        found += len(exact & {slot for slot, _ in file.nearest(list(query), 20_000, 10)})
    assert found >= 0.99 * 10 * len(unit[::500])
    assert file.nearest(list(unit[7]), 20_000, 1, only=[3, 7, 9])[0][0] == 7


def test_weights() -> None:
    """Vectors that find nothing count nothing, and never as much as words."""
    words = [1, 2, 3]
    assert reciprocal_rank_fusion(words, [3, 2, 1], 0.5) == [1, 2, 3]
    assert measured_weight([(1, [1, 2], [9, 8])] * 40) == 0.0
    assert measured_weight([(1, [1, 2], [8, 9, 1])] * 40) == 0.33
    assert measured_weight([(1, [2, 1], [2, 1])] * 40) == 0.75
    assert measured_weight([(1, [2, 3, 1], [1, 8])] * 40) == 0.75
    assert measured_weight([]) == 0.5


def test_what_all_vectors_share_tells_nothing(tmp_path: Path) -> None:
    """Those of some models point in much the same direction: as they are, all are near to all."""
    random = np.random.default_rng(2)
    rows = random.standard_normal((200, 64))
    question = rows[7] + random.standard_normal(64)
    file = VectorFile(tmp_path / "vectors", 64)
    file.write(0, rows + 5.0)
    (slot, nearness), (_, second) = file.nearest(list(question + 5.0), 200, 2)
    assert slot == 7
    assert nearness > 0.6 > second
    usual, spread = file.background(list(question + 5.0), 200)
    assert abs(usual) < spread < 0.3


def test_a_single_vector_is_found(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "vectors", 4)
    file.write(0, [[1.0, 0.0, 0.0, 0.0]])
    assert file.nearest([1.0, 0.0, 0.0, 0.0], 1, 5) == [(0, pytest.approx(1.0, abs=0.01))]
    assert file.nearest([0.0, 0.0, 0.0, 0.0], 1, 5)[0][1] < 0.1
