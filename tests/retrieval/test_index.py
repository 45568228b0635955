"""An index by words: what is found, what cannot leak into its syntax, what several processes do."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services import Spawn
from toolcrib.core.config import data_folder
from toolcrib.retrieval.chunks import TextChunk
from toolcrib.retrieval.entries import EntryFilter, IndexEntry
from toolcrib.retrieval.index import Index

NOTES = {
    "door": "The keeper of the lighthouse painted its door blue in spring.",
    "bread": "A sourdough loaf rises for twelve hours in a cool kitchen.",
    "code": "The function getUserName reads kubeconfigpath before it connects.",
    "zh": "人工智能正在改变世界的医疗系统。",
    "ja": "東京の地下鉄は朝とても混んでいます。",
    "de": "Die Müllabfuhr kommt am Dienstag in die Gartenstraße.",
    "train": "The night train to the coast leaves from platform nine.",
}


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[Index]:
    opened = Index(tmp_path / "test.db")
    await opened.put([IndexEntry.note(key, text) for key, text in NOTES.items()])
    yield opened
    await opened.close()


async def keys(index: Index, question: str, **more: object) -> list[str]:
    ranking = await index.search(question, **more)  # type: ignore[arg-type]
    return [passage.entry.key for passage in ranking.passages]


@pytest.mark.rows("X10")
async def test_the_best_comes_first(index: Index) -> None:
    wrong = []
    for question, key in [
        ("What colour did the keeper paint the door of the lighthouse?", "door"),
        ("how long does the loaf rise", "bread"),
        ("get user name", "code"),
        ("getusername", "code"),
        ("kubeconfig", "code"),
        ("lighthuose", "door"),
        ("sourdogh", "bread"),
        ("医疗系统怎么样", "zh"),
        ("地下鉄はいつ混みますか", "ja"),
        ("Wann kommt die Mullabfuhr?", "de"),
        ("trains that are leaving", "train"),
    ]:
        found = await keys(index, question)
        if found[:1] != [key]:
            wrong.append((question, found))
    assert wrong == []


async def test_scores_are_ordered_shares(index: Index) -> None:
    ranking = await index.search("lighthouse door keeper volcano")
    assert ranking.missing == ("volcano",)
    assert set(ranking.passages[0].words) == {"lighthouse", "door", "keeper"}
    assert 0.3 < ranking.passages[0].score < 1
    whole = await index.search("lighthouse door keeper")
    assert whole.passages[0].score == 1


async def test_nothing_relevant(index: Index) -> None:
    ranking = await index.search("Which volcano erupted near Reykjavik before the lighthouse?")
    assert ranking.passages == ()
    assert 0 < ranking.best < 0.3
    assert (await index.search("quantum chromodynamics")).best == 0


async def test_a_slip_is_mended_and_said(index: Index) -> None:
    ranking = await index.search("lighthuose")
    assert dict(ranking.instead) == {"lighthuose": ("lighthouse",)}


async def test_no_syntax_leaks(index: Index) -> None:
    """Whatever a question holds, it is only words."""
    odd = ['"', "'", '"door', "door*", "NEAR(door)", "NEAR(door blue, 2)", "-door", "^door",
           "title:door", "door AND NOT blue", "door OR", "(", ")", "{text} : door", "+", "*", "",
           " ", "\0", "\ud800", "door" * 3000, "a b " * 5000, "%", "_",
           ";--", "🚪", "\\", "()[]"]  # fmt: skip
    for question in odd:
        ranking = await index.search(question)
        if "door" in question and "doordoor" not in question:
            assert ranking.passages[0].entry.key == "door", question


async def test_an_entry_is_replaced_and_removed(index: Index) -> None:
    await index.put([IndexEntry.note("door", "The gate is green now.")])
    assert await keys(index, "lighthouse painted blue") == []
    assert await keys(index, "green gate") == ["door"]
    assert await index.remove(["door", "not there"]) == 1
    assert await keys(index, "green gate") == []
    assert (await index.status()).entries == len(NOTES) - 1


async def test_filters(index: Index) -> None:
    await index.put(
        [
            IndexEntry.note(
                f"a%_{n}",
                "The harbour was full of boats.",
                kind="log",
                date=1e9 + n * 86400,
                labels=("port", f"n{n}"),
            )
            for n in range(5)
        ]
    )
    cases = [
        (EntryFilter(), 5),
        (EntryFilter(prefix=("a%_3",)), 1),
        (EntryFilter(prefix=("a_", "b")), 0),
        (EntryFilter(kinds=("log",)), 5),
        (EntryFilter(kinds=("other",)), 0),
        (EntryFilter(labels=("port", "n2")), 1),
        (EntryFilter(since=1e9 + 3 * 86400), 2),
        (EntryFilter(until=1e9 + 86400, labels=("port",)), 2),
    ]
    found = [len(await keys(index, "boats in the harbour", entries=f, limit=20)) for f, _ in cases]
    assert found == [count for _, count in cases]
    assert len(await index.entries(EntryFilter(kinds=("log",)))) == 5
    assert await keys(index, "11 September 2001", entries=EntryFilter(kinds=("log",)), limit=1) == [
        "a%_2"
    ]


async def test_neighbours_help(index: Index) -> None:
    """The turns of a conversation are chunks of one entry: what is asked stands beside them."""
    turns = ["Did you ever find out who repaired the old windmill?", "Yes, it was my uncle Teodor.",
             "Good to know.", "And how is the weather?", "Rainy, all week long."]  # fmt: skip
    chunks, at = [], 0
    for turn in turns:
        chunks.append(TextChunk(turn, at, at + len(turn)))
        at += len(turn) + 1
    await index.put([IndexEntry("talk", chunks, title="Talk with Maren")])
    ranking = await index.search("Who repaired the windmill?")
    assert [p.number for p in ranking.passages[:2]] == [0, 1]
    assert [p.chunk.text for p in await index.passages("talk")] == turns


async def test_a_list_that_is_too_long_says_so(index: Index) -> None:
    await index.put([IndexEntry.note(f"n{n}", f"a tapir {n}") for n in range(10_001)])
    many = await index.best_of_each("tapir")
    assert (len(many.passages), many.complete) == (10_000, False)
    few = await index.best_of_each("77")
    assert (len(few.passages), few.complete) == (1, True)


async def test_clear_removes_all_and_the_index_goes_on(index: Index, tmp_path: Path) -> None:
    other = Index(tmp_path / "test.db")
    assert await keys(other, "lighthouse door") == ["door"]
    assert await index.clear() == len(NOTES)
    assert await keys(index, "lighthouse door") == []
    assert b"lighthouse" not in b"".join(p.read_bytes() for p in tmp_path.glob("test.db*"))
    await index.put([IndexEntry.note("new", "Another lighthouse door.")])
    assert await keys(other, "lighthouse door") == ["new"]
    await other.close()


async def test_a_broken_index_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    first = Index(path)
    await first.put([IndexEntry.note(str(n), "word " * 500) for n in range(40)])
    await first.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 40] = b"\xff" * (4096 * 37)
    path.write_bytes(content)
    index = Index(path)
    assert await keys(index, "word") == []
    await index.put([IndexEntry.note("new", "word")])
    assert await keys(index, "word") == ["new"]
    assert "set aside" in index.warnings[0]
    await index.close()


async def test_six_processes_write_one_of_them_is_killed(spawn: Spawn) -> None:
    """What was acknowledged is there, nothing is there by halves, and words and texts agree."""
    processes = [await spawn("retrieval", f"p{n}", 40) for n in range(6)]

    async def follow(number: int) -> list[str]:
        acknowledged = []
        stream = processes[number].stdout
        assert stream
        async for line in stream:
            acknowledged.append(line.decode().strip())
            if number in (1, 4) and len(acknowledged) == 10 + number:
                processes[number].kill()
        return acknowledged

    reply = await asyncio.gather(*(follow(n) for n in range(6)))
    assert [len(lines) >= 40 for lines in reply] == [n not in (1, 4) for n in range(6)]
    index = Index(data_folder() / "indexes" / "shared.db")
    found = {entry.key: entry for entry in await index.entries()}
    assert {key for lines in reply for key in lines} <= set(found)
    assert {entry.chunks for entry in found.values()} == {3}
    one = await index.search("windmill", limit=1000)
    assert len(one.passages) == 3 * len(found)
    await index.close()
    check = sqlite3.connect(index.path or "")
    check.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()
