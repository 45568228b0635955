"""What an archive may hold is decided before anything of it is unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput, TooLarge, ToolError, UnsupportedContent
from toolcrib.files.archives import Archive, ArchiveLimits, format_of, open_archive

pytestmark = pytest.mark.rows("C021")
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}
FORMS = ["zip", *PACKED]


def made(form: str, *members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return PACKED[form](out.getvalue())


def opened(data: bytes, **limits: int) -> Archive:
    return open_archive(io.BytesIO(data), len(data), ArchiveLimits(**limits), lambda: None)


def names(archive: Archive) -> list[tuple[str, str]]:
    return [(member.name, member.kind) for member in archive.members]


@each_case("form", FORMS)
def test_what_it_holds(form: str) -> None:
    archive = opened(made(form, ("./a/", b""), ("a/b", b"one"), ("c", b"")))
    assert names(archive) == [("a", "folder"), ("a/b", "file"), ("c", "file")]
    assert b"".join(archive.content(archive.members[1])) == b"one"


@each_case("form", FORMS)
@each_case(
    "name",
    ["../x", "a/../../x", "a/../b", "/x", "//x", "~/x", "a//b", "a/./b", "..", "a\\..\\b", "C:\\x"],
)
def test_names_that_lead_elsewhere(form: str, name: str) -> None:
    with pytest.raises(BadInput) as refused:
        opened(made(form, ("good", b"x"), (name, b"x")))
    assert "Nothing was unpacked" in refused.value.hint


@each_case("form", FORMS)
@each_case(
    ("one", "two"),
    [
        ("Read", "READ"),
        ("a/Read", "A/rEAD"),
        ("caf\u00e9", "cafe\u0301"),
        ("\u212b", "\u00c5"),
        ("stra\u00dfe", "STRASSE"),
        ("same", "./same"),
        ("file", "file/below"),
        ("File/below", "file"),
    ],
)
def test_names_that_clash(form: str, one: str, two: str) -> None:
    with pytest.raises(BadInput, match=r"twice|what is a file|differs"):
        opened(made(form, (one, b"x"), (two, b"y")))


@each_case("form", FORMS)
def test_more_entries_than_allowed(form: str) -> None:
    data = made(form, *((f"f{number}", b"") for number in range(40)))
    assert len(opened(data, entries=40).members) == 40
    with pytest.raises(TooLarge, match="39 entries"):
        opened(data, entries=39)


@pytest.mark.parametrize(("form", "count"), [("zip", 100_000), ("tar", 20_000)])
@pytest.mark.timeout(120)
def test_many_thousand_entries(form: str, count: int) -> None:
    """A zip is refused by its last record; a tar where the limit is reached."""
    data = made(form, *((f"f{number}", b"") for number in range(count)))
    with pytest.raises(TooLarge, match="10,000 entries"):
        opened(data)


@each_case("form", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
def test_ratios(form: str) -> None:
    zeros = made(form, ("zeros", bytes(3_000_000)))
    with pytest.raises(TooLarge, match="unpacks to more than"):
        opened(zeros, ratio=20, free=1_000_000)
    archive = opened(zeros, ratio=20, free=3_000_000)
    assert sum(map(len, archive.content(archive.members[0]))) == 3_000_000
    with pytest.raises(TooLarge):
        opened(zeros, total=2_999_999)


def test_a_list_that_lies_is_noticed_while_it_is_unpacked() -> None:
    data = bytearray(made("zip", ("zeros", bytes(3_000_000))))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(mark) + offset
        data[at : at + 4] = (10).to_bytes(4, "little")
    archive = opened(bytes(data), ratio=1, free=1000)
    with pytest.raises(ToolError):
        list(archive.content(archive.members[0]))


@each_case("outer", FORMS)
@each_case("inner", FORMS)
def test_archives_in_archives_stay_closed(outer: str, inner: str) -> None:
    """A bomb within is a file like any other: its bytes, and not what it would unpack to."""
    bomb = made(inner, ("../evil", bytes(1_000_000)), ("link", b"x"))
    archive = opened(made(outer, (f"in.{inner}", bomb)), total=len(bomb))
    assert names(archive) == [(f"in.{inner}", "file")]
    assert b"".join(archive.content(archive.members[0])) == bomb


@each_case("form", FORMS)
def test_cut_anywhere(form: str) -> None:
    """What ends early is refused, at once or while it is unpacked."""
    data = made(form, *((f"f{number}", bytes([number]) * 3000) for number in range(6)))
    for end in range(1, len(data) - 1, max(1, len(data) // 60)):
        cut = data[:end]
        try:
            archive = opened(cut)
            held = {m.name: b"".join(archive.content(m)) for m in archive.members}
        except ToolError as error:
            assert error.hint
        else:  # a tar may end after any member
            assert form.startswith("tar")
            assert all(data == bytes([int(name[1:])]) * 3000 for name, data in held.items())


@given(st.binary(max_size=400), st.sampled_from([b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b""]))
def test_any_bytes(data: bytes, head: bytes) -> None:
    try:
        archive = opened(head + data)
        for member in archive.members:
            list(archive.content(member))
    except (BadInput, TooLarge, UnsupportedContent) as error:
        assert error.hint


@each_case(("name", "form"), [("a.ZIP", "zip"), ("b.tgz", "tar.gz"), ("c.tar.xz", "tar.xz")])
def test_formats_by_name(name: str, form: str) -> None:
    assert format_of(name) == form


@each_case("name", ["a.rar", "zip", "a.gz", ""])
def test_other_formats(name: str) -> None:
    with pytest.raises(BadInput):
        format_of(name)
