# ruff: noqa: RUF001, E501 - texts in many scripts, markup in one piece
"""The charset of a page: by its mark, its header, what it says of itself, or its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.files.content.charset_pages import LANGUAGES, unlabelled
from toolcrib.files.content.kinds import charset_of, decoded

pytestmark = pytest.mark.rows("X21", "A23")

RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах. "
FRENCH = "Élève naïf, où est la forêt ? À côté du café, très près de l’école. "
JAPANESE = "すべての人間は、生まれながらにして自由である。"
KOREAN = "모든 인간은 태어날 때부터 자유롭다. 똠방각하 펲시콜라"


def read(data: bytes, declared: str = "") -> str:
    return charset_of(data, declared).decode(data)


def page(text: str, codec: str, head: str = "") -> bytes:
    return f"<html><head>{head}<title>x</title></head><body><p>{text}</p></body></html>".encode(
        codec
    )


@each_case("long", [True, False], ids=["page", "text"])
@each_case("name", LANGUAGES)
def test_a_page_without_any_label_is_read_by_its_bytes(name: str, long: bool) -> None:
    data, text = unlabelled(name, long=long)
    assert read(data) == text.removeprefix("\ufeff")


@each_case(
    ("text", "codec", "header", "head"),
    [
        # The mark comes first.
        (RUSSIAN, "utf-8-sig", "windows-1251", "<meta charset=koi8-r>"),
        (RUSSIAN, "utf-16", "utf-8", "<meta charset=utf-8>"),
        # Then the header.
        (RUSSIAN, "koi8-r", "koi8-r", "<meta charset=windows-1251>"),
        (RUSSIAN, "cp1251", "windows-1251", "<meta charset=koi8-r>"),
        (RUSSIAN, "iso-8859-5", "iso-8859-5", "<meta charset=utf-8>"),
        (JAPANESE, "cp932", "shift_jis", "<meta charset=euc-jp>"),
        (JAPANESE, "euc-jp", "euc-jp", "<meta charset=shift_jis>"),
        (FRENCH, "cp1252", "iso-8859-1", "<meta charset=iso-8859-2>"),
        (FRENCH, "utf-8", "utf-8", "<meta charset=iso-8859-1>"),
        # Then what the page says.
        (RUSSIAN, "koi8-r", "", "<meta charset=koi8-r>"),
        (RUSSIAN, "koi8-r", "", "<META CHARSET = 'KOI8-R' >"),
        (RUSSIAN, "iso-8859-5", "", "<meta http-equiv=content-type content='text/html; charset=iso-8859-5'>"),
        (RUSSIAN, "iso-8859-5", "", "<meta content='text/html;charset=\"iso-8859-5\"' http-equiv='Content-Type'/>"),
        (RUSSIAN, "cp866", "", "<meta charset=ibm866>"),
        (RUSSIAN, "mac_cyrillic", "", "<meta charset=x-mac-cyrillic>"),
        (RUSSIAN, "koi8-r", "x-unknown", "<meta charset=koi8-r>"),
        (RUSSIAN, "koi8-r", "", "<!-- <meta charset=utf-8> --><meta charset=koi8-r>"),
        (RUSSIAN, "koi8-r", "", f"<!-- {'x' * 900} --><meta charset=koi8-r>"),
        (RUSSIAN, "koi8-r", "", f"<script>{'x' * 3000}</script><meta charset=koi8-r>"),
        (RUSSIAN, "koi8-r", "", "<meta charset=x-nonsense><meta charset=koi8-r>"),
        (RUSSIAN, "koi8-r", "", "<meta name=a content='charset=utf-8'><meta charset=koi8-r>"),
        # Labels as browsers read them.
        (FRENCH, "cp1252", "latin1", ""),
        (FRENCH, "cp1252", "", "<meta charset=us-ascii>"),
        (FRENCH, "cp1252", "", "<meta charset=iso-8859-15x><meta charset=iso8859-1>"),
        ("这是一个测试页面，用来检查编码的识别。镕", "gbk", "gb2312", ""),
        ("这是一个测试页面，用来检查编码。㐀😀", "gb18030", "", "<meta charset=gb2312>"),
        (KOREAN, "cp949", "ks_c_5601-1987", ""),
        (KOREAN, "cp949", "", "<meta charset=ks_c_5601-1987>"),
        (KOREAN, "cp949", "", "<meta charset=korean>"),
        ("①髙﨑", "cp932", "x-sjis", ""),
        ("İstanbul’da güneşli bir gün, şöyle böyle.", "cp1254", "iso-8859-9", ""),
        (FRENCH, "utf-8", "", "<meta charset=utf-16>"),
        (FRENCH, "utf-8", "", "<meta charset=utf-16le>"),
        (RUSSIAN, "utf-16-le", "utf-16", ""),
        (RUSSIAN, "utf-16-be", "utf-16be", ""),
        # Wrong labels, and bytes that tell.
        (FRENCH, "utf-8", "iso-8859-1", ""),
        (FRENCH, "cp1252", "utf-8", ""),
        (JAPANESE * 3, "cp932", "utf-8", ""),
        (RUSSIAN, "cp1251", "", "<meta charset=utf-8>"),
    ],
)  # fmt: skip
def test_labels_count_as_in_browsers_unless_the_bytes_contradict(
    text: str, codec: str, header: str, head: str
) -> None:
    found = read(page(text, codec, head), header)
    assert text in found
    assert "\ufeff" not in found


@pytest.mark.parametrize(
    "declaration",
    ["<?xml version='1.0' encoding='koi8-r'?>", '<?xml version="1.0" encoding="KOI8-R" ?>\n'],
)
def test_an_xml_declaration_tells_too(declaration: str) -> None:
    data = declaration.encode() + page(RUSSIAN, "koi8-r")
    assert RUSSIAN in read(data)


def test_x_user_defined_is_windows_1252_in_a_page_and_itself_in_a_header() -> None:
    data = page("caf\xe9 cr\xe8me", "latin-1", "<meta charset=x-user-defined>")
    assert "café crème" in read(data)
    assert "caf\uf7e9" in read(page("caf\xe9", "latin-1"), "x-user-defined")


@each_case("label", ["iso-2022-kr", "hz-gb-2312", "iso-2022-cn", "replacement"])
def test_encodings_that_hide_markup_are_not_used(label: str) -> None:
    data = page("plain words ~{<script>~}", "ascii", f"<meta charset={label}>")
    assert "<script>" in read(data) or read(data) == "\ufffd"


@each_case(
    ("label", "codec"),
    [
        ("ks_c_5601-1987", "cp949"), ("windows-949", "cp949"), ("gb_2312-80", "gbk"),
        ("iso_8859-2:1987", "iso-8859-2"), ("ansi_x3.4-1968", "cp1252"), ("dos-874", "cp874"),
        ("l2", "iso-8859-2"), ("csshiftjis", "cp932"), ("UTF8", "utf-8"), (" koi8_r ", "koi8-r"),
    ],
)  # fmt: skip
def test_rare_labels_are_known(label: str, codec: str) -> None:
    # Too short to be told by its bytes.
    text = {"cp949": "가각", "gbk": "啊", "iso-8859-2": "ł", "cp1252": "é", "cp874": "ก"}
    reply = text.get(codec, {"cp932": "ア", "utf-8": "é", "koi8-r": "ж"}.get(codec, ""))
    assert read(f"a {reply} b".encode(codec), label) == f"a {reply} b"


@each_case("label", ["", " ", "none", "utf-7", "🤔", "utf-8;", "x" * 5000, "\0"])
def test_an_unknown_label_counts_as_none(label: str) -> None:
    assert FRENCH in read(page(FRENCH, "utf-8"), label)


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "gbk", "utf-16", "iso-2022-jp", "?"]))
def test_any_bytes_can_be_read(data: bytes, declared: str) -> None:
    assert isinstance(read(data, declared), str)


@given(st.binary(max_size=300), st.sampled_from(list(LANGUAGES)))
def test_the_start_of_a_page_does_not_break_it(data: bytes, name: str) -> None:
    assert isinstance(read(data + unlabelled(name, long=False)[0]), str)


@each_case("codec", ["koi8-r", "cp1251", "iso-8859-5", "utf-8"])
@each_case("before", [0, 300_000])
def test_a_long_page_is_told_by_the_part_that_tells(codec: str, before: int) -> None:
    text = f"<p>{'plain ' * (before // 6)}</p>" + f"<p>{RUSSIAN}</p>" * 6000
    assert read(text.encode(codec)) == text


def test_a_long_page_with_escapes_is_told_by_them() -> None:
    text = "<p>" + "plain " * 60_000 + JAPANESE * 50
    assert read(text.encode("iso-2022-jp")) == text


@given(
    st.one_of(
        st.binary(max_size=300),
        st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")),
        st.text(alphabet="aé\ufffd\ufeff\x1b\x00я", max_size=40).map(str.encode),
    ),
    st.sampled_from(["", "utf-8", "utf8", "windows-1251", "nonsense"]),
)
def test_the_text_of_a_page_is_in_the_encoding_that_is_found(body: bytes, declared: str) -> None:
    assert decoded(body, declared) == charset_of(body, declared).decode(body)


def test_a_long_page_is_read_whole_where_its_end_is_broken() -> None:
    text = FRENCH * 5000
    assert decoded(text.encode() + b"\xff") == f"{text}\ufffd"
