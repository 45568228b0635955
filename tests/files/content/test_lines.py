"""Pages of a file, whatever its size, encoding and line ends."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput, Cancelled, TooLarge
from toolcrib.files.content import lines as module
from toolcrib.files.content.lines import LinePage, TextFile
from toolcrib.system.threads import Checkpoint


def opened(data: bytes) -> TextFile:
    return TextFile(io.BytesIO(data), "file.txt", Checkpoint())


def page(
    data: bytes, start: int = 1, lines: int = 2000, column: int = 0, room: int = 10_000
) -> LinePage:
    return opened(data).page(start, lines, column, 100_000, lambda text: min(len(text), room))


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % n for n in range(1, count + 1))


def test_a_whole_file_is_exact() -> None:
    got = page(b"a\n\n  b\n")
    assert (got.text, got.first, got.lines, got.total) == ("a\n\n  b\n", 1, 3, 3)
    assert got.whole
    assert not got.more


def test_some_lines() -> None:
    got = page(numbered(10), start=3, lines=2)
    assert (got.text, got.first, got.lines, got.total) == ("line 3\nline 4", 3, 2, 10)
    assert got.more
    assert got.next_start() == (5, 0)


def test_the_last_lines() -> None:
    got = page(numbered(10), start=-2)
    assert (got.text, got.first, got.more) == ("line 9\nline 10", 9, False)
    assert page(numbered(3), start=-50).first == 1
    assert page(b"a\nb", start=-1).text == "b"


def test_line_nought_is_the_first() -> None:
    assert page(numbered(3), start=0, lines=1).text == "line 1"


def test_past_the_end() -> None:
    with pytest.raises(BadInput, match="3 lines"):
        page(numbered(3), start=4)
    with pytest.raises(BadInput, match="ends before column"):
        page(numbered(3), start=2, column=50)
    with pytest.raises(BadInput, match="ends before column"):
        page(b"abc", start=1, column=3)
    with pytest.raises(BadInput, match="ends before column 200,000"):
        page(b"a" * 150_000 + b"\n", start=1, column=200_000)


def test_an_empty_file() -> None:
    got = page(b"")
    assert (got.text, got.lines, got.total, got.whole) == ("", 0, 0, True)


def test_what_does_not_fit_goes_to_the_next_page() -> None:
    got = page(numbered(10), room=20)
    assert (got.text, got.next_start()) == ("line 1\nline 2", (3, 0))


def test_a_long_line_is_read_in_parts() -> None:
    data = b"first\n" + b"0123456789" * 10 + b"\nlast\n"
    got = page(data, start=2, room=30)
    assert (got.text, got.column, got.next_start()) == ("0123456789" * 3, 30, (2, 30))
    got = page(data, start=2, column=95, room=30)
    assert (got.text, got.more) == ("56789\nlast", False)


def test_a_line_longer_than_is_read_at_once() -> None:
    data = b"x" * 500_000 + b"\nlast\n"
    got = page(data, room=1_000_000)
    assert (len(got.text), got.next_start()) == (100_000, (1, 100_000))
    assert page(data, column=499_999).text == "x\nlast"


@each_case("eol", ["\n", "\r\n", "\r"])
@each_case("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1251"])
def test_encodings_and_line_ends(codec: str, eol: str) -> None:
    words = ["Привет, мир", "", "как дела", "хорошо"]
    data = (eol.join(words) + eol).encode(codec)
    got = page(data)
    assert (got.text, got.total) == ("\n".join(words) + "\n", 4)
    assert page(data, start=3, lines=1).text == "как дела"
    assert page(data, start=-1).text == "хорошо"


TEXT = st.text(st.sampled_from("ab é文\n\n\r"), max_size=60)


@given(TEXT, st.integers(2, 9), st.integers(1, 4), st.sampled_from(["utf-8", "utf-16"]))
def test_pages_put_together_are_the_file(text: str, room: int, lines: int, codec: str) -> None:
    file = opened(text.encode(codec))
    start, column, read = 1, 0, ""
    for _ in range(len(text) + 2):
        got = file.page(start, lines, column, 20, lambda part: min(len(part), room))
        read += got.text + ("\n" if got.more and not got.column else "")
        if not got.more:
            break
        assert got.next_start() > (start, column)
        start, column = got.next_start()
    newline = "\r" if file.eol == "cr" else "\r\n"
    plain = text.replace(newline, "\n")
    assert read == (plain if got.whole else plain.removesuffix("\n"))
    assert not got.more


@given(TEXT, st.integers(1, 8))
def test_the_tail_is_the_same_counted_or_not(text: str, lines: int) -> None:
    file = opened(text.encode())
    if file.eol == "cr":
        return
    displayed = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    got = file.page(-lines, 2000, 0, 1000, len)
    assert (got.text.removesuffix("\n") if got.whole else got.text) == "\n".join(displayed[-lines:])
    file._file.seek(file._tail(lines))
    tail = file._file.read().decode().replace("\r\n", "\n")
    assert tail.removesuffix("\n") == "\n".join(displayed[-lines:])


class Endless(io.RawIOBase):
    """A file of the given size, all of it the same line, that is never held in memory."""

    LINE = b"x" * 99 + b"\n"

    def __init__(self, size: int) -> None:
        self.size, self.at, self.taken = size, 0, 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = offset + (self.size if whence == 2 else 0)
        return self.at

    def read(self, size: int = -1) -> bytes:
        size = max(0, min(size, self.size - self.at))
        skip = self.at % 100
        self.at += size
        self.taken += size
        return (self.LINE * (size // 100 + 2))[skip : skip + size]


def test_a_huge_file_is_read_in_windows() -> None:
    raw = Endless(10**12)
    file = TextFile(raw, "huge", Checkpoint())  # type: ignore[arg-type]
    got = file.page(1000, 20, 0, 10_000, len)
    assert (got.lines, got.total, got.first) == (20, None, 1000)
    got = file.page(-20, 5, 0, 10_000, len)
    assert (got.lines, got.first, got.next_start()) == (5, None, (-15, 0))
    assert raw.taken < 10_000_000


def test_a_long_search_can_be_stopped() -> None:
    check = Checkpoint()
    check.stop()
    raw = Endless(10**12)
    with pytest.raises(Cancelled):
        TextFile(raw, "huge", check).page(10**9, 1, 0, 1000, len)  # type: ignore[arg-type]
    check = Checkpoint(deadline=time.monotonic() + 0.05)
    with pytest.raises(Exception, match="used up"):
        TextFile(raw, "huge", check).page(10**10, 1, 0, 1000, len)  # type: ignore[arg-type]


def test_wide_text_is_bounded() -> None:
    data = b"\xff\xfe" + b"a\0" * (module.MAX_WIDE_BYTES // 2 + 1)
    with pytest.raises(TooLarge, match="utf-16-le"):
        opened(data)


def test_each_line_one_by_one(tmp_path: Path) -> None:
    for data, lines in {
        b"a\nb\n": ["a", "b"],
        b"a\r\nb": ["a", "b"],
        b"a\rb\r": ["a", "b"],
        b"": [],
        b"\n\n": ["", ""],
        "zwö\nx".encode("utf-16"): ["zwö", "x"],
        b"\xef\xbb\xbfa\n": ["a"],
    }.items():
        (tmp_path / "f").write_bytes(data)
        with (tmp_path / "f").open("rb") as file:
            text = TextFile(file, "f", lambda: None)
            assert list(text.each_line(1_000_000)) == lines
            assert text.ended == data.endswith((b"\n", b"\r"))


def test_each_line_stops_at_its_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789\n" * 1000)
    with (tmp_path / "f").open("rb") as file:
        assert len(list(TextFile(file, "f", lambda: None).each_line(110))) == 10


def test_what_is_too_far_inside_a_file_is_said(tmp_path: Path) -> None:
    with (tmp_path / "f").open("w+b") as file:
        file.write(b"start\n")
        file.truncate(1 << 43)
        text = TextFile(file, "f", lambda: None)
        with pytest.raises(TooLarge, match="further in"):
            text._refuse_far((1 << 30) + 1)
        with pytest.raises(TooLarge, match="last 5 lines"):
            text.page(-5, 5, 0, 1000, len)
