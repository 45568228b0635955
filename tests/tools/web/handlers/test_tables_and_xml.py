"""CSV and XML."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import Page, RawPage


def read(body: str | bytes, kind: str, form: str = "markdown") -> Page:
    body = body.encode() if isinstance(body, str) else body
    return Handlers().convert(RawPage("https://site.example/f", kind, "", body, form))


@pytest.mark.rows("B22")
@each_case("delimiter", [",", ";", "\t", "|"])
def test_a_small_table_is_markdown_whatever_parts_it(delimiter):
    rows = [["name", "note"], ["a|b", '"x""y"'], ['"two\r\nlines"', '"1,5; 2"'], ["short"]]
    body = "\ufeff" + "\r\n".join(delimiter.join(row) for row in rows) + "\r\n\r\n"
    if delimiter == "|":
        body = body.replace("a|b", '"a|b"')
    page = read(body, "text/csv")
    assert page.text == (
        '| name | note |\n| --- | --- |\n| a\\|b | x"y |\n| two lines | 1,5; 2 |\n| short |  |'
    )
    assert page.notes == ["4 rows, 2 columns."]
    assert page.kind == "csv"


@pytest.mark.rows("B22")
@each_case(
    ("body", "note"),
    [
        ("a,b\n" + "1,2\n" * 500, "501 rows, 2 columns."),
        (",".join("abcdefghijklmnop") + "\n" + ",".join("1" * 16), "2 rows, 16 columns."),
        ("a,b\n" + f"{'x' * 500},y\n" * 100, "101 rows, 2 columns."),
        ("one\ntwo\n", "2 rows, 1 column."),
    ],
)
def test_long_and_wide_tables_stay_rows(body, note):
    page = read(body, "text/csv")
    assert page.text == body
    assert page.notes == [note]


def test_text_and_raw_are_the_rows():
    for form in ("text", "raw"):
        assert read("a,b\n1,2", "text/csv", form).text == "a,b\n1,2"


@each_case(
    "body",
    ["", "\n\n", 'a,"b\n' + "1,2\n" * 200, "a,b\n" + "x" * 200_000 + ",y", '"' * 1001, ",,,\n" * 9],
)
def test_odd_tables_are_shown_as_they_are(body):
    assert read(body, "text/csv").text == body


def test_tables_in_other_charsets():
    page = read("naïve;café\n1;2".encode("cp1252"), "text/csv")
    assert page.text.startswith("| naïve | café |")


@pytest.mark.rows("B21", "D30")
def test_xml_stays_as_it_is():
    body = '<?xml version="1.0"?>\n<a>\n  <!-- c --><b x="1">t &amp; u</b>\n</a>\n'
    page = read(body, "application/xml")
    assert (page.text, page.kind, page.notes) == (body, "xml", [])
    assert read("<a><b>", "text/xml").text == "<a><b>"


@pytest.mark.rows("B21", "D30")
def test_xml_on_one_line_is_laid_out():
    body = "<r xmlns:d='urn:d'>" + "<d:i n='1'><t>a &amp; b</t><e/>tail</d:i>" * 40 + "</r>"
    lines = read(body, "text/xml").text.split("\n")
    assert lines[:6] == [
        "<r>",
        '  <d:i n="1">',
        "    <t>a &amp; b</t>",
        "    <e/>",
        "    tail",
        "  </d:i>",
    ]
    assert lines[-1] == "</r>"


@pytest.mark.rows("D30")
def test_xml_as_plain_text_is_its_words():
    page = read("<a><b>one\n tw&ouml;</b><![CDATA[<three>]]>&nbsp;&lt;</a>", "text/xml", "text")
    assert page.text == "one twö\n<three> <"


def test_broken_xml_is_shown_and_says_so():
    body = "<a>" + "<b>x" * 400
    page = read(body, "application/xml")
    assert page.text == body
    assert "not well formed" in page.notes[0]


def test_xml_of_too_many_elements_is_not_laid_out():
    body = "<r>" + "<i/>" * 120_000 + "</r>"
    page = read(body, "application/xml")
    assert (page.text, page.notes) == (body, [])
