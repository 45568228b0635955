"""What reaches the terminal."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.surfaces.cli.screen import cells, json_text, one_line, table, visible, wrapped
from toolcrib.text.display import BLANK


@given(st.text())
def test_nothing_hidden_stays_hidden(text: str) -> None:
    displayed = visible(text).replace("\n", "").replace("\t", "")
    assert displayed.isprintable() or all(c.isprintable() or c.isspace() for c in displayed)
    assert "\x1b" not in displayed
    assert "\u202e" not in displayed


ORDINARY = st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp", "M"))


@given(st.text(alphabet=ORDINARY.filter(lambda char: char not in BLANK)))
def test_ordinary_text_is_not_changed(text: str) -> None:
    assert visible(text) == text


def test_visible_writes_out_what_could_deceive() -> None:
    assert visible("a\x1b[2Kb\u202ec\u200bd") == "a\\x1b[2Kb\\u{202e}c\\u{200b}d"
    # Blanks that count as letters, and marks that nobody sees, in which a text can be written.
    unseen = "\u3164\u2800\ufe00\ufe0f\U000e0100\u034f\u17b4\u180b"
    assert visible(f"a{unseen}") == "a" + "".join(f"\\u{{{ord(char):x}}}" for char in unseen)
    assert visible("\u2764\ufe0f cafe\u0301") == "\u2764\ufe0f cafe\u0301"
    assert visible("\u2764\ufe0f\ufe0f") == "\u2764\ufe0f\\u{fe0f}"


@given(st.text())
def test_json_for_a_terminal_says_the_same(text: str) -> None:
    written = json_text({"a": text})
    assert json.loads(written) == {"a": text}
    assert not any("\x7f" <= char <= "\x9f" or char in "\u202e\u2066" for char in written)


@given(st.text(), st.integers(3, 120))
def test_one_line_fits(text: str, columns: int) -> None:
    line = one_line(text, columns)
    assert "\n" not in line
    assert cells(line) <= columns


def test_a_table_fits_80_columns() -> None:
    lines = table(
        [("id", "ms", "what"), ("a", "1,234", "x" * 200), ("bb", "5", "日本語" * 50)], right=(1,)
    )
    assert lines[0] == "id     ms  what"
    assert lines[2].startswith("bb      5  日")
    assert all(cells(line) <= 80 for line in lines)


def test_a_table_that_is_not_cut_keeps_every_word() -> None:
    words = " ".join(f"word{n}" for n in range(40))
    (row,) = table([("name", words)], indent="  ", cut=False)
    lines = row.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(row.split()) == f"name {words}"


def test_wrapped_leaves_long_words_whole() -> None:
    path = "/very/long" * 20
    assert path in wrapped(f"see {path}", indent="  ")
