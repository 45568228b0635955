"""All codecs of the web at once, for a process that can open no file later."""

from __future__ import annotations

import codecs
from contextlib import suppress

from toolcrib.files.content.charset import charset_of

NAMES = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-7",
    "ascii",
    "latin-1",
    "cp437",
    "cp850",
    "cp1250",
    "cp1251",
    "cp1252",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp1258",
    "cp866",
    "cp874",
    "iso8859-2",
    "iso8859-3",
    "iso8859-4",
    "iso8859-5",
    "iso8859-6",
    "iso8859-7",
    "iso8859-8",
    "iso8859-10",
    "iso8859-13",
    "iso8859-14",
    "iso8859-15",
    "iso8859-16",
    "koi8-r",
    "koi8-u",
    "mac-roman",
    "mac-cyrillic",
    "gbk",
    "gb18030",
    "gb2312",
    "big5",
    "big5hkscs",
    "euc-jp",
    "iso2022-jp",
    "shift-jis",
    "cp932",
    "euc-kr",
    "cp949",
    "idna",
    "punycode",
    "unicode-escape",
]


def load_codecs() -> None:
    """Load what decodes text, so that nothing of it is loaded later."""
    for sample, label in (
        (b"\xfcber " * 40, "windows-1252"),
        ("これは日本語の文章です。".encode("shift-jis"), ""),
        ("это русский текст".encode("cp1251"), ""),
    ):
        charset_of(sample, label).decode(sample)
    for name in NAMES:
        for form in (name, f"whatwg-{name}"):
            with suppress(LookupError):
                codecs.lookup(form)
