"""What a program writes, as it stands on the screen."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execution.terminals.screen import MAX_ROWS, Screen


def displayed(data: str | bytes, rows: int = 5, columns: int = 10) -> list[str]:
    screen = Screen(rows, columns)
    screen.feed(data.encode() if isinstance(data, str) else data)
    lines = screen.grid.lines()
    while lines and not lines[-1]:
        lines.pop()
    return lines


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("hello\r\nworld", ["hello", "world"]),
        ("one\ntwo", ["one", "   two"]),
        ("50%\r100%", ["100%"]),
        ("abc\b\bX", ["aXc"]),
        ("a\tb", ["a       b"]),
        ("0123456789ab", ["0123456789", "ab"]),
        ("0123456789\r\nab", ["0123456789", "ab"]),
        ("\x1b[?7l0123456789ab", ["012345678b"]),
        ("\x1b[31;1mred\x1b[0m", ["red"]),
        ("\x1b[2;3Hx", ["", "  x"]),
        ("\x1b[2;3Hx\x1b[Hy", ["y", "  x"]),
        ("abc\x1b[2Dx", ["axc"]),
        ("abc\x1b[1G\x1b[K", []),
        ("abcdef\x1b[4G\x1b[1K", ["    ef"]),
        ("abc\r\ndef\x1b[2J", []),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[J", ["a"]),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[1J", ["", "", "c"]),
        ("abcdef\x1b[2G\x1b[2P", ["adef"]),
        ("abcdef\x1b[2G\x1b[2@", ["a  bcdef"]),
        ("abcdef\x1b[2G\x1b[3X", ["a   ef"]),
        ("abc\x1b[2G\x1b[4hX\x1b[4l", ["aXbc"]),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[L", ["a", "", "b", "c"]),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[M", ["a", "c"]),
        ("a\r\nb\r\nc\x1b[1;1H\x1bM", ["", "a", "b", "c"]),
        ("1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4;1H\nX", ["1", "3", "4", "X", "5"]),
        ("ab\x1b7\x1b[3;3Hx\x1b8c", ["abc", "", "  x"]),
        ("x\x1b[5b", ["xxxxxx"]),
        ("\x1b(0lqk\x1b(Bl", ["┌─┐l"]),
        ("\x1b]0;title\x07ok", ["ok"]),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        ("\x1bPqjunk\x1b\\ok", ["ok"]),
        ("\x1b[?25l\x1b[?2026hok", ["ok"]),
        ("ab\x1b[3\rCx", ["ab x"]),
        ("你好", ["你好"]),
        ("你好\x1b[2GX", [" X好"]),
        ("012345678你", ["012345678", "你"]),
        ("e\u0301a", ["e\u0301a"]),
        ("1\r\n2\r\n3\r\n4\r\n5\r\n6", ["2", "3", "4", "5", "6"]),
    ],
)
def test_shows_what_a_person_would_see(written: str, lines: list[str]) -> None:
    assert displayed(written) == lines


def test_lines_that_scroll_away_are_kept_by_number() -> None:
    screen = Screen(3, 10, scrollback=4)
    screen.feed("\r\n".join(str(n) for n in range(10)).encode())

    assert screen.grid.lines() == ["7", "8", "9"]
    assert screen.grid.scrolled == 7
    assert screen.grid.history() == ["3", "4", "5", "6"]
    assert screen.grid.history(5) == ["5", "6"]
    assert screen.grid.history(7) == []


def test_a_full_screen_program_leaves_the_shell_as_it_was() -> None:
    screen = Screen(4, 10)
    screen.feed(b"$ vi\r\n\x1b[?1049h\x1b[H\x1b[2J~\r\n~\x1b[4;1H:wq")
    assert screen.grid.full_screen
    assert screen.grid.lines() == ["~", "~", "", ":wq"]

    screen.feed(b"\x1b[?1049l$ ")
    assert not screen.grid.full_screen
    assert screen.grid.lines() == ["$ vi", "$", "", ""]
    assert screen.grid.history() == []


def test_answers_what_a_program_asks_its_terminal() -> None:
    screen = Screen(5, 10)
    screen.feed(b"\x1b[3;4H\x1b[6n\x1b[5n\x1b[c\x1b[?6n")

    assert bytes(screen.replies) == b"\x1b[3;4R\x1b[0n\x1b[?1;2c\x1b[?3;4R"


def test_modes_that_change_what_keys_send() -> None:
    screen = Screen()
    screen.feed(b"\x1b[?1h\x1b[?2004h")
    assert screen.application_keys

    screen.feed(b"\x1bc")
    assert not screen.application_keys


def test_another_size_keeps_the_cursor_and_what_stands_above_it() -> None:
    screen = Screen(5, 10)
    screen.feed(b"1\r\n2\r\n3\r\n4\r\n5")
    screen.resize(3, 4)

    assert screen.grid.lines() == ["3", "4", "5"]
    assert screen.grid.history() == ["1", "2"]
    screen.feed(b"\r\nlonger")
    assert screen.grid.lines() == ["5", "long", "er"]


def test_a_size_that_makes_no_sense_is_brought_into_bounds() -> None:
    assert Screen(0, 0).grid.rows == 1
    assert Screen(10**6, 10**6).grid.rows == MAX_ROWS


def test_an_endless_sequence_is_given_up() -> None:
    screen = Screen(3, 20)
    for _ in range(100):
        screen.feed(b"\x1b]0;" + b"x" * 10_000)
    screen.feed(b"\x07\r\nback")

    assert "back" in "\n".join(screen.grid.lines())


PIECES = st.sampled_from(
    [
        b"text",
        "wide 你好 e\u0301".encode(),
        b"\x1b[",
        b"\x1b]0;t",
        b"\x07",
        b"\x1b\\",
        b"\r\n",
        b"\x1b[5;3r",
        b"\x1b[2;99H",
        b"\x1b[99999999999L",
        b"\x1b[9M",
        b"\x1b[?1049h",
        b"\x1b[?1049l",
        b"\x1b[4h",
        b"\x1b[9@",
        b"\x1b[9P",
        b"\x1b[J",
        b"\x1bM",
        b"\x1bc",
        b"\xff\xfe",
        b"\x1b[?6h",
        b"\t\b\x0e",
        b"\x1b[999999b",
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=6), max_size=25).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 200), max_size=6))
def test_the_split_does_not_matter(data: bytes, cuts: list[int]) -> None:
    whole, parts = Screen(4, 9), Screen(4, 9)
    whole.feed(data)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in itertools.pairwise(edges):
        parts.feed(data[start:end])

    assert parts.grid.lines() == whole.grid.lines()
    assert (parts.grid.row, parts.grid.column) == (whole.grid.row, whole.grid.column)
    assert parts.replies == whole.replies


@given(STREAMS, st.integers(1, 9), st.integers(2, 30))
def test_the_screen_keeps_its_shape_whatever_comes(data: bytes, rows: int, columns: int) -> None:
    screen = Screen(4, 9)
    screen.feed(data)
    screen.resize(rows, columns)
    screen.feed(data)

    lines = screen.grid.lines()
    assert len(lines) == rows
    assert all(len(cells) == columns for cells in screen.grid._cells)
    assert 0 <= screen.grid.row < rows
    assert 0 <= screen.grid.column < columns


def test_a_flood_of_lines_shows_the_same_as_one_after_the_other() -> None:
    lines = [f"{n} {'x' * (n % 13)} ".encode() for n in range(300)]
    at_once, one_by_one = Screen(5, 10, scrollback=50), Screen(5, 10, scrollback=50)
    at_once.feed(b"\r\n".join(lines))
    for line in lines:
        for byte in line + b"\r\n" * (line is not lines[-1]):
            one_by_one.feed(bytes([byte]))

    assert at_once.grid.lines() == one_by_one.grid.lines()
    assert at_once.grid.history() == one_by_one.grid.history()
    assert at_once.grid.scrolled == one_by_one.grid.scrolled
    assert at_once.grid.column == one_by_one.grid.column
