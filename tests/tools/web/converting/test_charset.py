# ruff: noqa: RUF001 - texts in many scripts
"""Pages whose headers, meta elements and bytes disagree."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from toolcrib.core.errors import UnsupportedContent
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import RawPage

TEXTS = {
    "latin": "café naïve “quotes” — dash élève ",
    "japanese": "日本語のページです。これは試験です。",
    "chinese": "这是一个测试页面，用来检查编码的识别。",
    "russian": "Все люди рождаются свободными и равными. ",
}


def displayed(body: bytes, charset: str = "") -> str:
    return Handlers().convert(RawPage("https://site.example/", "text/html", charset, body)).text


def page(text: str, meta: str = "") -> str:
    reply = f'<meta charset="{meta}">' if meta else ""
    return f"<html><head>{reply}<title>t</title></head><body><p>{text * 4}</p></body></html>"


@pytest.mark.rows("A23", "X6")
@each_case(
    ("name", "real", "header", "meta"),
    [
        ("latin", "utf-8", "iso-8859-1", ""),
        ("latin", "utf-8", "", "windows-1252"),
        ("latin", "cp1252", "utf-8", ""),
        ("latin", "cp1252", "", "utf-8"),
        ("latin", "cp1252", "windows-1252", "utf-8"),
        ("latin", "cp1252", "", ""),
        ("latin", "utf-8", "x-nonsense", ""),
        ("chinese", "gbk", "utf-8", "gbk"),
        ("chinese", "gbk", "", "utf-8"),
        ("chinese", "gbk", "gb2312", ""),
        ("chinese", "utf-8", "gbk", "utf-8"),
        ("chinese", "utf-8", "big5", ""),
        ("japanese", "shift_jis", "", ""),
        ("japanese", "shift_jis", "utf-8", ""),
        ("japanese", "shift_jis", "", "utf-8"),
        ("japanese", "utf-8", "shift_jis", ""),
        ("japanese", "euc-jp", "shift_jis", ""),
        ("japanese", "iso-2022-jp", "", "iso-2022-jp"),
        ("russian", "koi8-r", "koi8-r", ""),
        ("russian", "cp1251", "utf-8", ""),
        ("russian", "cp1251", "", "utf-8"),
        ("latin", "utf-16-le", "", ""),
        ("latin", "utf-16-be", "", ""),
        ("japanese", "utf-16-le", "utf-8", "utf-16"),
        ("japanese", "utf-16-be", "utf-16", ""),
        ("latin", "utf-16", "utf-8", "utf-8"),
        ("latin", "utf-8-sig", "iso-8859-1", "gbk"),
    ],
)
def test_the_bytes_are_believed_where_the_rest_is_wrong(name, real, header, meta):
    body = page(TEXTS[name], meta).encode(real, "replace")
    expected = (TEXTS[name] * 4).encode(real, "replace").decode(real).strip().removeprefix("\ufeff")
    assert displayed(body, header) == expected


def test_a_single_broken_byte_does_not_change_the_charset():
    body = page(TEXTS["latin"] + "X").encode().replace(b"X", b"\xff", 1)
    assert displayed(body, "utf-8").startswith("café naïve “quotes” — dash élève \ufffd")
    assert "“quotes”" in displayed(page(TEXTS["latin"] * 3).encode()[:-70], "utf-8")


@pytest.mark.rows("D24")
@each_case("charset", ["", "utf-8", "iso-8859-1"])
def test_a_stray_nul_is_passed_over_and_many_are_refused(charset):
    body = page("Plain words here. " * 20).encode().replace(b"words", b"wo\0rds", 1)
    assert "Plain wo" in displayed(body, charset)
    with pytest.raises(UnsupportedContent, match="binary file"):
        displayed(b"a\0b\0\0c" * 100, charset)


@each_case("body", [b"", b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"ab", b"a\0"])
def test_tiny_pages_do_not_break(body):
    try:
        assert isinstance(displayed(body), str)
    except UnsupportedContent as refused:
        assert refused.message
