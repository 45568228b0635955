"""Bytes that are not changed stay as they are, whatever they are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput, UnsupportedContent
from toolcrib.files.content.faithful import FaithfulText, Splice

pytestmark = pytest.mark.rows("C029")


def changed(data: bytes, old: str, new: str) -> bytes:
    file = FaithfulText.of(data, "f")
    at = file.text.index(old)
    return file.spliced([Splice(at, at + len(old), new)])


@given(st.binary(max_size=200))
def test_nothing_changed_is_the_same_bytes(data: bytes) -> None:
    try:
        file = FaithfulText.of(data, "f")
    except UnsupportedContent:
        return
    assert file.spliced([]) == data
    assert file.spliced([Splice(0, len(file.text), file.text)]) == data


@given(st.lists(st.binary(max_size=12), min_size=1), st.sampled_from([b"\n", b"\r\n"]))
def test_other_lines_keep_their_bytes(lines: list[bytes], end: bytes) -> None:
    lines = [line.replace(b"\r", b"").replace(b"\n", b"") for line in lines]
    head = b"".join(line + end for line in lines)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return
    data = head + b"THE LINE" + end + head
    assert changed(data, "THE LINE\n", "ONE\nTWO\n") == head + b"ONE" + end + b"TWO" + end + head


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.data())
def test_splices_are_those_of_the_text(text: str, data: st.DataObject) -> None:
    file = FaithfulText.of(b"x" + text.encode(), "f")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(file.text)), max_size=6)))
    pairs = [*zip(cuts[::2], cuts[1::2], strict=False)]
    splices = [Splice(a, b, data.draw(st.sampled_from(["", "n", "n\n", "\n"]))) for a, b in pairs]
    if any(b.start == a.end for a, b in pairwise(splices)):
        return
    raw = file.spliced(splices)
    plain = raw.decode()
    if "\r" not in text:
        assert plain == file.spliced_text(splices)


MIXED = b"one\r\ntwo\nthree\r\nfour\nfive"


@each_case(
    ("old", "new", "expected"),
    [
        ("two\n", "2\n", b"one\r\n2\nthree\r\nfour\nfive"),
        ("three\n", "3\n3b\n", b"one\r\ntwo\n3\r\n3b\r\nfour\nfive"),
        ("one\ntwo\nthree\n", "one\n2\nthree\n", b"one\r\n2\nthree\r\nfour\nfive"),
        ("one\n", "", b"two\nthree\r\nfour\nfive"),
        ("five", "5\n6", b"one\r\ntwo\nthree\r\nfour\n5\n6"),
        ("two\nthree", "two three", b"one\r\ntwo three\nfour\nfive"),
        ("o\nt", "o\nnew\nt", b"one\r\ntwo\nnew\nthree\r\nfour\nfive"),
    ],
)
def test_mixed_ends_stay_mixed(old: str, new: str, expected: bytes) -> None:
    assert changed(MIXED, old, new) == expected


@each_case(
    ("codec", "mark"),
    [
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
    ],
)
@each_case("end", ["\n", "\r\n", "\r"])
def test_encodings_and_marks_are_kept(codec: str, mark: bytes, end: str) -> None:
    data = mark + f"größe{end}zwei{end}".encode(codec)
    assert changed(data, "zwei", "drei\nvier") == mark + f"größe{end}drei{end}vier{end}".encode(
        codec
    )


def test_invalid_bytes_survive_in_utf8() -> None:
    data = "é ü ö ß à\n".encode() + b"bad \xff\xfe byte\nlast\n"
    assert changed(data, "last", "schön") == data.replace(b"last", "schön".encode())
    assert changed(data, "byte", "bit") == data.replace(b"byte", b"bit")


def test_what_the_encoding_lacks_is_refused() -> None:
    data = "Größe und Maß für Bücher, Äpfel und Öl\r\nzwei\r\n".encode("cp1252")
    assert changed(data, "zwei", "zwölf") == data.replace(b"zwei", "zwölf".encode("cp1252"))
    with pytest.raises(BadInput, match="U\\+4E2D"):
        changed(data, "zwei", "中")


def test_broken_utf16_is_refused() -> None:
    with pytest.raises(UnsupportedContent, match="broken"):
        FaithfulText.of(b"\xff\xfea\0b", "f")
