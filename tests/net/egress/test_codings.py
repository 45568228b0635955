"""Codings are undone exactly, and never past a cap."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.net.egress.samples import PACKED, zstd
from toolcrib.core.errors import ConnectionFailed, TooLarge, UnsupportedContent
from toolcrib.net.egress.codings import PIECE, Decoder


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACK = {**PACKED, "x-gzip": gzip.compress}


def decoder(*names: str, **caps: int) -> Decoder:
    limits = {"max_codings": 5, "max_bytes": 1 << 30, "max_ratio": 1 << 30, **caps}
    return Decoder(list(names), **limits)


def decoded(packed: bytes, step: int, *names: str) -> bytes:
    work = decoder(*names)
    chunks = [packed[i : i + step] for i in range(0, len(packed), step)]
    out = b"".join(piece for chunk in chunks for piece in work.feed(chunk))
    assert work.complete
    return out


@given(
    st.binary(max_size=3000),
    st.integers(1, 700),
    st.lists(st.sampled_from(sorted(PACK)), max_size=4),
)
def test_undoes_what_was_done(data: bytes, step: int, names: list[str]) -> None:
    packed = data
    for name in names:
        packed = PACK[name](packed)
    assert decoded(packed, step, *names) == data


@each_case("step", [1, 2, 3, 10_000])
def test_deflate_without_its_header(step: int) -> None:
    assert decoded(raw_deflate(b"plain" * 100), step, "deflate") == b"plain" * 100


@each_case("step", [1, 7, 10_000])
@each_case("name", ["gzip", "zstd"])
def test_several_members_are_one_body(name: str, step: int) -> None:
    assert decoded(PACK[name](b"one ") + PACK[name](b"two"), step, name) == b"one two"


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_thousands_of_tiny_members_are_refused(name: str) -> None:
    with pytest.raises(ConnectionFailed):
        list(decoder(name).feed(PACK[name](b"") * 5000))


def test_padding_after_the_end_is_ignored() -> None:
    assert decoded(gzip.compress(b"x") + b"\0" * 50, 10, "gzip") == b"x"


def test_identity_is_nothing() -> None:
    assert decoded(b"x", 1, "identity") == b"x"


@each_case("name", sorted(PACK))
def test_pieces_stay_small(name: str) -> None:
    packed = PACK[name](b"\0" * 20_000_000)
    assert max(len(piece) for piece in decoder(name).feed(packed)) <= 2 * PIECE


@each_case("name", sorted(PACK))
def test_a_bomb_is_seen_by_its_ratio(name: str) -> None:
    packed = PACK[name](b"\0" * 50_000_000)
    produced = 0
    with pytest.raises(TooLarge) as caught:
        for piece in decoder(name, max_ratio=200).feed(packed):
            produced += len(piece)
    assert caught.value.details["limit"] == "egress.max_ratio"
    assert produced < max(1 << 20, 200 * len(packed)) + 2 * PIECE


def test_small_bodies_may_shrink_as_much_as_they_like() -> None:
    work = decoder("gzip", max_ratio=2)
    assert sum(map(len, work.feed(gzip.compress(b"\0" * 1_000_000)))) == 1_000_000


def test_a_bomb_between_two_codings_is_seen() -> None:
    inner = gzip.compress(b"\0" * 30_000_000, 9)
    packed = gzip.compress(inner, 9)
    with pytest.raises(TooLarge):
        list(decoder("gzip", "gzip", max_bytes=10_000).feed(packed))


def test_too_many_codings() -> None:
    with pytest.raises(UnsupportedContent):
        decoder(*["gzip"] * 6)
    assert decoded(b"", 1, *["identity"] * 9) == b""


@each_case("name", ["compress", "x", "aes128gcm"])
def test_unknown_codings(name: str) -> None:
    with pytest.raises(UnsupportedContent):
        decoder(name)


@pytest.mark.parametrize("name", sorted(PACK))
@given(junk=st.binary(min_size=4, max_size=200))
def test_junk_is_a_failure_or_nothing(name: str, junk: bytes) -> None:
    try:
        sum(map(len, decoder(name).feed(junk)))
    except ConnectionFailed as error:
        assert error.details["retryable"] is False


@each_case("name", sorted(PACK))
def test_a_body_that_breaks_off_is_not_complete(name: str) -> None:
    packed = PACK[name](bytes(range(256)) * 400)
    work = decoder(name)
    list(work.feed(packed[: len(packed) // 2]))
    assert not work.complete


def test_a_window_larger_than_browsers_take_is_refused() -> None:
    options = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.content_size_flag: 0,
    }
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(bytes(1000)) + packer.flush()
    with pytest.raises(ConnectionFailed):
        list(decoder("zstd").feed(packed))
