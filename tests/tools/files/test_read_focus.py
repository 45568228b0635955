"""`read_file` with `focus`: the regions that matter, with their line numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.core.result import Result
from toolcrib.state.sessions import Sessions
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox


async def focused(box: Toolbox, words: str, path: str = "a.txt") -> Result:
    return await box.call("read_file", {"path": path, "focus": words})


def planted(ws: Path, places: dict[int, str], count: int = 5000) -> list[str]:
    lines = [places.get(n, f"filler line {n}") for n in range(1, count + 1)]
    (ws / "a.txt").write_text("\n".join(lines) + "\n")
    return lines


async def test_the_regions_around_the_words(box: Toolbox, ws: Path) -> None:
    planted(ws, {700: "the needle", 3000: "a needle too"})
    result = await focused(box, "needle")
    assert result.text.split("\n") == [
        "[lines 1-696 left out]",
        *(f"{n}|filler line {n}" for n in (697, 698, 699)),
        "700|the needle",
        *(f"{n}|filler line {n}" for n in (701, 702, 703)),
        "[lines 704-2,996 left out]",
        *(f"{n}|filler line {n}" for n in (2997, 2998, 2999)),
        "3000|a needle too",
        *(f"{n}|filler line {n}" for n in (3001, 3002, 3003)),
        "[lines 3,004-5,000 left out]",
        "[2 of 2 places shown, file of 5,000 lines]",
    ]
    assert result.data["regions"] == [{"start": 697, "end": 703}, {"start": 2997, "end": 3003}]
    assert not result.truncated


async def test_numbers_are_those_of_the_file(box: Toolbox, ws: Path) -> None:
    lines = planted(ws, {n: f"needle {n}" for n in range(50, 5000, 97)})
    result = await focused(box, "needle")
    assert estimate(result.text) <= 4000
    displayed = re.findall(r"^(\d+)\|(.*)$", result.text, re.MULTILINE)
    assert len(displayed) > 50
    assert all(lines[int(number) - 1] == text for number, text in displayed)
    numbers = [int(number) for number, _ in displayed]
    assert numbers == sorted(set(numbers))


async def test_the_best_regions_are_shown_and_the_others_named(ws: Path) -> None:
    places = dict.fromkeys(range(100, 5000, 100), "some needle here")
    places[2450] = "needle in a haystack"
    planted(ws, places)
    async with Toolbox({"results": {"max_tokens": 500}}, workspace=ws) as box:
        result = await focused(box, "needle haystack")
        assert estimate(result.text) <= 500
        assert "2450|needle in a haystack" in result.text
        assert "also at 100, 200" in result.text
        assert result.next is not None
        again = await box.call(result.next.tool, result.next.arguments)
        assert "some needle here" in again.text


async def test_where_a_region_stands(box: Toolbox, ws: Path) -> None:
    body = "".join(f"    value_{n} = {n}\n" for n in range(100))
    (ws / "a.py").write_text(f"class First:\n{body}\nclass Second:\n{body}    needle = 1\n")
    result = await focused(box, "needle", "a.py")
    assert "left out; below line 103: class Second:]" in result.text


async def test_words_that_are_nowhere(box: Toolbox, ws: Path) -> None:
    planted(ws, {10: "needle"})
    some = await focused(box, "needle zebra")
    assert "no line has 'zebra'" in some.text
    none = await focused(box, "zebra")
    assert none.error is not None
    assert none.error.code == "no_results"
    assert "zebra" in none.error.message
    (ws / "short.txt").write_text("The code is 4711.\n")
    short = await focused(box, "locker", "short.txt")
    assert short.error is None
    assert short.text.startswith("The code is 4711.\n")
    assert "No line of short.txt has 'locker'. This is the file." in short.text
    empty = await focused(box, "?!")
    assert empty.error is not None
    assert empty.error.code == "bad_input"


async def test_one_endless_line(box: Toolbox, ws: Path) -> None:
    words = ["lorem"] * 100_000
    for at in (20_000, 50_000, 90_000):
        words[at] = "needle"
    (ws / "a.txt").write_text(" ".join(words))
    result = await focused(box, "needle")
    assert result.text.count("needle") == 3
    assert estimate(result.text) < 1000


async def test_other_encodings_and_line_ends(box: Toolbox, ws: Path) -> None:
    text = "".join(f"Zeile {n}\r\n" for n in range(500)) + "größe\r\n"
    for encoding in ("utf-16", "cp1252", "utf-8-sig"):
        (ws / "a.txt").write_bytes(text.encode(encoding))
        assert "501|größe\n" in (await focused(box, "Größe")).text


async def test_in_several_files(box: Toolbox, ws: Path) -> None:
    planted(ws, {70: "needle"})
    (ws / "b.txt").write_text("nothing\n")
    result = await box.call("read_file", {"paths": ["a.txt", "b.txt"], "focus": "needle"})
    assert "70|needle" in result.text
    assert "Error (no_results)" in result.text
    assert result.error is None


async def test_short_files_show_themselves_where_none_has_the_words(box: Toolbox, ws: Path) -> None:
    (ws / "b.txt").write_text("nothing\n")
    result = await box.call("read_file", {"paths": ["b.txt", "nope.txt"], "focus": "needle"})
    assert "nothing\n\n[No line of b.txt has 'needle'. This is the file.]" in result.text
    assert "nope.txt does not exist" in result.text
    assert result.error is None


async def test_a_line_of_rare_characters_fits(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0:0:0:\ud7b0" + "\U00010000" * 4 + "0", encoding="utf-8")
    (tmp_path / "b.txt").write_text(("0:0:0:\ud7b0" + "\U00010000" * 4) * 30, encoding="utf-8")
    async with Toolbox({"results": {"max_tokens": 300}}, workspace=tmp_path) as box:
        for name in ("a.txt", "b.txt"):
            result = await box.call("read_file", {"path": name, "focus": "0"})
            assert result.error is None
            assert estimate(result.text) <= 300


@settings(max_examples=40)
@given(
    st.lists(st.text(max_size=200), max_size=60).map("\n".join),
    st.text(min_size=1, max_size=20),
    st.integers(1, 30),
)
async def test_whatever_is_looked_for_the_answer_fits(
    tmp_path_factory: pytest.TempPathFactory, text: str, words: str, times: int
) -> None:
    folder = tmp_path_factory.mktemp("focus")
    (folder / "a.txt").write_bytes((text * times + words).encode())
    async with Toolbox({"results": {"max_tokens": 300}}, workspace=folder) as box:
        result = await focused(box, words)
        assert estimate(result.text) <= 300
        if result.next:
            assert (await box.call(result.next.tool, result.next.arguments)).error is None


def smart(ws: Path) -> Toolbox:
    return Toolbox({"workspace": {"roots": [str(ws)], "smart_reading": True}})


async def read_about(box: Toolbox, question: str, **given: object) -> Result:
    """A file read in a conversation in which the user said this."""
    (await box.use(Sessions).load("s")).question = question
    return await box.call("read_file", {"path": "a.txt", **given}, session="s")


@pytest.mark.rows("C171")
async def test_a_long_file_by_what_the_user_said(ws: Path) -> None:
    planted(ws, {3000: "def parse_ledger(text):"})
    async with smart(ws) as box:
        result = await read_about(box, "Why does parse_ledger fail on the last of them?")
        assert "3000|def parse_ledger(text):" in result.text.split("\n")
        assert len(result.text) < 1_000
        assert "start=1 reads it from the beginning" in result.text
        plain = await read_about(box, "Why does parse_ledger fail?", start=1)
        assert plain.text.startswith("filler line 1\n")


@pytest.mark.rows("C171")
async def test_the_ends_of_a_long_file_where_nothing_fits(ws: Path) -> None:
    lines = planted(ws, {})
    async with smart(ws) as box:
        for question in ("And the weather tomorrow?", ""):
            result = await read_about(box, question)
            displayed = [line for line in result.text.split("\n") if line.startswith("filler")]
            assert displayed == [*lines[:50], *lines[-50:]]
            assert result.next is not None
            assert result.next.arguments["start"] == 51
        planted(ws, {}, count=1_000)
        assert (await read_about(box, "filler")).text.count("filler") > 500
    async with Toolbox(workspace=ws) as box:
        assert "filler line 60" in (await read_about(box, "weather")).text


async def test_coded_mail_is_read_as_what_it_says(box: Toolbox, ws: Path) -> None:
    head = "From: Ann\nTo: Bob\nSubject: Greetings\nContent-Type: text/plain; charset=iso-8859-1\n"
    (ws / "qp.eml").write_text(f"{head}Content-Transfer-Encoding: quoted-printable\n\nSch=F6ne\n")
    (ws / "plain.eml").write_text(f"{head}\nHello\n")
    for name in ("qp.eml", "qp.mbox"):
        (ws / name).write_bytes((ws / "qp.eml").read_bytes())
        assert "Sch\u00f6ne" in (await focused(box, "Sch\u00f6ne", name)).text
    assert "charset=iso-8859-1" in (await box.call("read_file", {"path": "plain.eml"})).text
