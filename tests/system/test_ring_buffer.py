"""Bounded output, by byte offsets."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.system.collector import HEAD_BYTES, TAIL_BYTES, Ring, Segment, join


def test_fifty_megabytes_leave_the_beginning_and_the_end() -> None:
    ring = Ring()
    line = b"%0255d\n"
    for number in range(50 * 2**20 // 256):
        ring.write(line % number)
    assert ring.total == 50 * 2**20
    head, tail = ring.segments()
    assert (head.start, len(head.data)) == (0, HEAD_BYTES)
    assert (tail.end, len(tail.data)) == (ring.total, TAIL_BYTES)
    assert head.data.startswith(line % 0)
    assert tail.data.endswith(line % (50 * 2**20 // 256 - 1))
    assert tail.start == ring.tail_start


def test_one_write_that_is_larger_than_all_room() -> None:
    ring = Ring(head=4, tail=4)
    ring.write(b"abcdefghijkl")
    assert ring.segments() == [Segment(0, b"abcd"), Segment(8, b"ijkl")]
    assert ring.segments(2) == [Segment(2, b"cd"), Segment(8, b"ijkl")]
    assert ring.segments(5) == [Segment(8, b"ijkl")]
    assert ring.segments(12) == []


@given(
    st.lists(st.binary(max_size=30), max_size=30), st.integers(0, 40), st.integers(1, 40), st.data()
)
def test_what_is_kept_is_what_was_written(
    writes: list[bytes], head: int, tail: int, data: st.DataObject
) -> None:
    ring = Ring(head, tail)
    for write in writes:
        ring.write(write)
    whole = b"".join(writes)
    offset = data.draw(st.integers(0, len(whole) + 5))
    segments = ring.segments(offset)
    assert ring.total == len(whole)
    for segment in segments:
        assert whole[segment.start : segment.end] == segment.data != b""
        assert segment.start >= offset
    stored = {i for s in segments for i in range(s.start, s.end)}
    wanted = set(range(min(head, len(whole)))) | set(range(max(len(whole) - tail, 0), len(whole)))
    assert stored == {i for i in wanted if i >= offset}
    assert len(segments) <= 2


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 10)), max_size=8), st.integers(0, 30))
def test_joined_segments_are_apart_and_in_order(spans: list[tuple[int, int]], offset: int) -> None:
    whole = bytes(range(40))
    segments = [Segment(start, whole[start : start + size]) for start, size in sorted(spans)]
    joined = join(segments, offset)
    for before, after in pairwise(joined):
        assert before.end < after.start
    assert all(whole[s.start : s.end] == s.data for s in joined)
