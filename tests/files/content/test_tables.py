"""Tables in CSV and its kin."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.text.display import DELIMITERS, delimiter_of, markdown_table, rows_of

FIELDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)
ROWS = st.lists(st.lists(FIELDS.map(str.strip), min_size=1, max_size=5), max_size=8)


@given(rows=ROWS, delimiter=st.sampled_from(DELIMITERS))
def test_what_was_written_is_read(rows, delimiter):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    assert rows_of(out.getvalue(), delimiter) == [row for row in rows if any(row)]


@each_case("delimiter", DELIMITERS)
def test_the_delimiter_is_what_parts_the_lines_alike(delimiter):
    lines = [delimiter.join(("a b", "1", "x")) for _ in range(5)]
    assert delimiter_of("\n".join([*lines, "a note, and; more | of it"])) == delimiter


def test_space_behind_a_delimiter_does_not_hide_a_quote():
    assert rows_of('a, "b, c"\n', ",") == [["a", "b, c"]]


@pytest.mark.parametrize("source", ['a,"b\n' + "1,2\n" * 300, "a," + "x" * 200_000])
def test_a_quote_that_nobody_closed_and_an_endless_field_are_no_table(source):
    assert rows_of(source, ",") is None


def test_a_line_end_in_the_last_field_is_no_open_quote():
    assert rows_of('a,"b\n"\n', ",") == [["a", "b\n"]]
    assert rows_of('a,b\n"b,c', ",") is None


def test_a_sample_that_ends_within_quotes_tells_the_delimiter():
    text = "a line, with one comma\nand one without\n" * 20
    assert delimiter_of("".join(f'{n};"{text}"\n' for n in range(200))) == ";"


def test_rows_as_markdown():
    table = markdown_table([["a", "b"], ["x|y"], ["one\n two", "3"]], 2)
    assert table.split("\n") == ["| a | b |", "| --- | --- |", "| x\\|y |  |", "| one two | 3 |"]
