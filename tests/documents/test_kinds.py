"""What kind of document some bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.documents import office, pdfs
from toolcrib.core.errors import BadInput
from toolcrib.documents.kinds import BINARY_KINDS, MEDIA_TYPES, NAMES, is_document, kind_of_document
from toolcrib.documents.text import page_numbers
from toolcrib.files.content.kinds import kind_of

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
FILES = {
    "pdf": pdfs.report,
    "docx": office.docx,
    "pptx": office.pptx,
    "xlsx": office.xlsx,
    "odt": office.odt,
    "ods": office.ods,
    "odp": office.odp,
    "rtf": office.rtf,
    "epub": office.epub,
}


@each_case("kind", FILES)
@each_case("name", ["", "wrong.txt", "wrong.csv", "wrong.pdf", "x.html", "none"])
@each_case("media_type", ["", "application/octet-stream", "text/plain"])
def test_first_bytes_win(kind, name, media_type):
    data = FILES[kind]()
    assert kind_of_document(data, name, media_type) == kind
    assert is_document(data)


@each_case(
    ("data", "name", "media_type", "kind"),
    [
        (b"a,b\n1,2\n", "x.csv", "", "csv"),
        (b"a,b\n1,2\n", "", "text/csv; charset=utf-8", "csv"),
        (b"a,b\n1,2\n", "x.csv", "text/tab-separated-values", "tsv"),
        (b"a,b\n1,2\n", "", "", "text"),
        (b'{"a": 1}', "", "", "json"),
        (b'{"cells": [{"cell_type": "code"}], "nbformat": 4}', "", "", "ipynb"),
        (b'{"cells": [{"cell_type": "code"}]}', "a.json", "application/json", "ipynb"),
        (b'{"a": 1}', "x.ipynb", "", "ipynb"),
        (b"<?xml version='1.0'?><a/>", "", "", "xml"),
        (b"<?xml version='1.0'?><rss version='2.0'/>", "", "", "rss"),
        (b"<?xml version='1.0'?>\n<!-- x -->\n<feed xmlns='a'/>", "x.xml", "text/xml", "atom"),
        (b"<!doctype html><title>x</title>", "", "", "html"),
        (b"\xef\xbb\xbf<html>", "", "", "html"),
        (b"<p>a fragment", "x.html", "", "html"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nBody", "", "", "eml"),
        (b"Received: from x\n by y\nFrom: a@b.c\r\nTo: d@e.f\r\n\r\nBody", "m.eml", "", "eml"),
        (b"Dear reader,\nFrom: here\n", "", "", "text"),
        (b"\x89PNG\r\n\x1a\n", "x.pdf", "", "image"),
        (b"\xff\xd8\xff\xe0", "", "application/pdf", "image"),
        (b"just text", "x.pdf", "application/pdf", "text"),
        (b"# Title", "x.md", "", "text"),
        (b"\0\1\2" * 100, "x.pdf", "application/pdf", ""),
        (b"\0\1\2" * 100, "x.csv", "text/csv", ""),
        (b"junk before\n%PDF-1.4\n", "", "", "pdf"),
        (b"\xff\xfea\0,\0b\0", "x.csv", "", "csv"),
        (OLE + "WordDocument".encode("utf-16-le"), "x.xls", "", "doc"),
        (OLE + "Workbook".encode("utf-16-le"), "", "", "xls"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "", "", "ppt"),
        (OLE + "__substg1.0_0037001F".encode("utf-16-le"), "", "", "msg"),
        (OLE, "x.ppt", "", "ppt"),
        (office.packed({"a.txt": "x", "b.docx": office.docx()}), "x.docx", "", ""),
        (office.packed({"word.txt": "xl ppt word"}), "", "", ""),
        (b"PK\x05\x06" + bytes(18), "x.xlsx", "", ""),
    ],
)
def test_kinds(data, name, media_type, kind):
    assert kind_of_document(data, name, media_type) == kind


def test_only_what_nothing_else_shows_is_a_document():
    assert all(is_document(kind) for kind in BINARY_KINDS)
    assert all(is_document(NAMES[kind]) for kind in BINARY_KINDS)
    assert all(is_document(m) == (kind in BINARY_KINDS) for m, kind in MEDIA_TYPES.items())
    assert is_document("Application/PDF; version=1.7")
    for no in ("", "text/plain", "json", "PNG image", "ZIP archive", "text/html", "csv"):
        assert not is_document(no)
    for no in (b"", b"text", b"\x89PNG\r\n\x1a\n", office.packed({"a": "b"}), bytes(100)):
        assert not is_document(no)


@each_case("kind", FILES)
def test_the_kinds_of_files_are_known_too(kind):
    head = FILES[kind]()[:8192]
    seen = kind_of(head)
    assert is_document(seen.name if seen is not None else head)


@given(st.binary(max_size=300), st.text(max_size=20), st.text(max_size=30))
def test_any_bytes_have_a_kind_or_none(data, name, media_type):
    assert kind_of_document(data, name, media_type) in {*NAMES, ""}


@each_case(
    ("spec", "numbers"),
    [
        ("", list(range(1, 13))),
        ("3", [3]),
        ("3-5,9", [3, 4, 5, 9]),
        ("9, 3 - 5", [3, 4, 5, 9]),
        ("10-", [10, 11, 12]),
        ("-2", [1, 2]),
        ("11-99", [11, 12]),
        ("1,1,1-2", [1, 2]),
        ("2..3", [2, 3]),
        ("2\u20133; 5 7", [2, 3, 5, 7]),
        ("0-2", [1, 2]),
    ],
)
def test_pages_are_chosen(spec, numbers):
    assert page_numbers(spec, 12) == numbers


@each_case("spec", ["x", "3-5-7", "-", ",", "1;;x", "three", "99", "0", "5-3", "9999999"])
def test_what_names_no_page_is_an_error(spec):
    with pytest.raises(BadInput) as raised:
        page_numbers(spec, 12)
    assert raised.value.hint


@given(st.text(alphabet="0123456789-, ;x", max_size=20), st.integers(1, 50))
def test_chosen_pages_exist(spec, total):
    try:
        numbers = page_numbers(spec, total)
    except BadInput:
        return
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, total + 1))
