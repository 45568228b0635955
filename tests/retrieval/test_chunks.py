"""Texts cut into chunks: nothing is lost, offsets are exact, the work grows with the text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput
from toolcrib.retrieval.chunks import ChunkSize, split_text
from toolcrib.text.passages import Heading

PROSE = "The keeper climbed the stairs. He looked out over the bay, and wrote it down.\n" * 40
TEXTS = st.text(st.sampled_from("abc. \n#\t\u3002\u6587\u00e9"), max_size=3000)


def uncovered(text: str, chunks: list) -> str:
    """What of a text is in no chunk."""
    left = list(text)
    for chunk in chunks:
        left[chunk.start : chunk.end] = " " * (chunk.end - chunk.start)
    return "".join(left).strip()


@given(TEXTS, st.integers(100, 400), st.integers(0, 50))
def test_every_character_is_in_a_chunk(text: str, chars: int, overlap: int) -> None:
    chunks = split_text(text, ChunkSize(chars, overlap))
    assert uncovered(text, chunks) == ""
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text == chunk.text.strip()
        assert 0 < len(chunk.text) <= chars
        assert chunk.line == text.count("\n", 0, chunk.start) + 1
        assert chunk.last_line == text.count("\n", 0, chunk.end) + 1
    ends = [(chunk.start, chunk.end) for chunk in chunks]
    assert ends == sorted(set(ends))


@pytest.mark.rows("X9")
@each_case(
    ("what", "text"),
    [
        ("prose", PROSE * 3300),
        ("one word", "x" * 1_000_000),
        ("blank lines", ("\n" * 50 + "a") * 20_000),
        ("no blanks", "\u6587\u5b57" * 300_000),
    ],
)
def test_the_work_grows_with_the_text_alone(what: str, text: str) -> None:
    """Ten megabytes end, and with the most overlap that there is, in as many chunks as are due."""
    chunks = split_text(text, ChunkSize(1200, 600))
    assert len(chunks) <= len(text) / 300 + 1, what
    assert chunks[-1].end == len(text.rstrip())


def test_headings_and_pages() -> None:
    first, second = "# One\n\n" + PROSE, "## Two\n\nShort.\n"
    text = first + second + PROSE
    headings = [Heading("One", 1, 0), Heading("Two", 2, len(first))]
    pages = [(0, 3), (len(first), 4)]
    chunks = split_text(text, ChunkSize(600, 100), headings, pages)
    begins = [chunk for chunk in chunks if chunk.start == len(first)]
    assert [chunk.headings for chunk in begins] == [("One", "Two")]
    assert {chunk.page for chunk in chunks if chunk.end <= len(first)} == {3}
    assert {chunk.last_page for chunk in chunks if chunk.start >= len(first)} == {4}
    assert all(chunk.page == chunk.last_page for chunk in chunks)


def test_chunks_end_where_sentences_do() -> None:
    for chunk in split_text(PROSE, ChunkSize(500, 100)):
        assert chunk.text.endswith("."), chunk.text


@each_case(("chars", "overlap"), [(50, 0), (9000, 0), (1000, 501), (1000, -1)])
def test_bounds(chars: int, overlap: int) -> None:
    with pytest.raises(BadInput):
        ChunkSize(chars, overlap)
