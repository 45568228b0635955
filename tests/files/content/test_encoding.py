"""Encodings and line ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.content.kinds import detect, eol_of


@each_case(
    ("codec", "name", "mark"),
    [
        ("utf-8", "utf-8", 0),
        ("utf-8-sig", "utf-8", 3),
        ("utf-16", "utf-16-le", 2),
        ("utf-32", "utf-32-le", 4),
        ("ascii", "utf-8", 0),
    ],
)
def test_certain(codec: str, name: str, mark: int) -> None:
    found = detect("hello".encode(codec), complete=True)
    assert (found.name, len(found.mark), found.guessed) == (name, mark, False)


def test_big_ends() -> None:
    for name in ("utf-16-be", "utf-32-be"):
        found = detect("\ufeffhi".encode(name), complete=True)
        assert (found.name, found.wide) == (name, True)


@each_case(
    ("text", "codec"),
    [
        ("café\n", "cp1252"),
        ("naïve résumé — “quoted”", "cp1252"),
        ("Größe: 5 µm", "latin-1"),
        ("Привет, мир, как дела", "cp1251"),
        ("日本語のテキストです", "cp932"),
        ("이것은 한국어 텍스트입니다", "euc-kr"),
        ("这是一个中文文本文件", "gb18030"),
    ],
)
def test_guessed(text: str, codec: str) -> None:
    data = text.encode(codec)
    found = detect(data, complete=True)
    assert found.guessed
    assert data.decode(found.name) == text


@pytest.mark.parametrize(
    "text",
    [
        *("naïve", "The naïve price is £5.", "£5", "Price: £3.50\nTotal: £ 7", "©2020 Foo", "naïf"),
        *(
            "« oui »",
            "le drapeau « %s » est en dehors",
            "fil «a», linje 3",
            "œuf",
            "lunedì",
            "10 µm",
        ),
        *("¡Hola!", "¿en qué directorio estoy?", "¿sigue todo después de mi cambio?", "5 m³"),
    ],
)
def test_signs_of_the_west_are_no_letters_of_the_east(text: str) -> None:
    data = text.encode("cp1252")
    assert data.decode(detect(data, complete=True).name) == text


@pytest.mark.parametrize("codec", ["cp1250", "iso8859-2"])
@pytest.mark.parametrize(
    "text",
    [
        *("łódka", "Łódź", "mąż i żona", "Wiesz, że to prawda?", "był"),
        *("Dvořák", "děti", "mezipaměť (vynutit)", "Získať zameranie"),
        *("szőlő", "Erdős", "Aranžman", "čevapčići"),
    ],
)
def test_letters_of_the_east_stay_letters(text: str, codec: str) -> None:
    data = text.encode(codec)
    assert data.decode(detect(data, complete=True).name) == text


def test_the_east_quotes_too() -> None:
    data = "Řekl «děti, ježek» a šel".encode("cp1250")
    assert data.decode(detect(data, complete=True).name) == "Řekl «děti, ježek» a šel"


def test_what_has_no_meaning_in_windows_1252_is_latin_1() -> None:
    data = bytes(range(32, 256))
    found = detect(data, complete=True)
    assert data.decode(found.name)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50))
def test_a_cut_character_at_the_end_is_still_utf_8(text: str) -> None:
    data = text.encode()
    for end in range(len(data) + 1):
        assert detect(data[:end], complete=False).name in ("utf-8", "utf-16-le", "utf-16-be")


@given(st.binary(max_size=200), st.booleans())
def test_everything_gets_an_encoding_that_exists(data: bytes, complete: bool) -> None:
    found = detect(data, complete=complete)
    data[len(found.mark) :].decode(found.name, "replace")


@each_case(
    ("text", "eol"),
    [
        ("", ""),
        ("one line", ""),
        ("a\nb\n", "lf"),
        ("a\r\nb\r\n", "crlf"),
        ("a\rb\r", "cr"),
        ("a\r\nb\n", "mixed"),
        ("50%\r100%\n", "lf"),
    ],
)
def test_line_ends(text: str, eol: str) -> None:
    assert eol_of(text) == eol_of(text.encode()) == eol


CAFE = "café"


@each_case(
    ("data", "declared", "name", "text"),
    [
        (CAFE.encode("latin-1"), "ISO-8859-1", "iso8859-1", CAFE),
        (CAFE.encode(), "iso-8859-1", "utf-8", CAFE),
        (CAFE.encode("cp1252"), "utf-8", "cp1252", CAFE),
        (CAFE.encode(), "klingon", "utf-8", CAFE),
        ("日本".encode("cp932"), "shift_jis", "cp932", "日本"),
        ("\ufeffcafé".encode("utf-16-le"), "utf-8", "utf-16-le", CAFE),
        (b"a\x81\xffb", "utf-16le", "utf-16-le", "腡拿"),
    ],
)
def test_a_declared_charset_counts_unless_contradicted(
    data: bytes, declared: str, name: str, text: str
) -> None:
    found = detect(data, complete=True, declared=declared, lenient=True)
    assert found.name == name
    assert found.decode(data) == text


def test_pages_may_have_bytes_that_are_not_valid() -> None:
    data = b"<meta charset=euc-jp>" + "日本語のテキスト".encode("euc-jp") + b"\xff"
    assert detect(data, complete=True, lenient=True).name == "euc_jp"
    assert detect(data, complete=True).name != "euc_jp"
