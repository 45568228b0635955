"""What programs write, as a terminal would leave it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.text.cleaner import printed
from toolcrib.text.display import some_of


@each_case(
    ("raw", "left"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("bar\r", "bar"),
        ("abc\b\b\bxyz", "xyz"),
        ("\x1b[2K\rone\x1b[2K\rtwo\n", "two\n"),
    ],
)
def test_printed(raw: str, left: str) -> None:
    assert printed(raw) == left


@given(st.text(alphabet="ab\r\n\b\x1b[0m;]\x07", max_size=200))
def test_nothing_invisible_is_left(text: str) -> None:
    assert not set(printed(text)) & set("\r\b\x1b\x07")


def test_names_in_a_row_are_shown_as_text() -> None:
    assert some_of(["a", "b\x1b[0m\n", "c", "d"], 2) == r"a, b\x1b[0m\n and 2 more"
