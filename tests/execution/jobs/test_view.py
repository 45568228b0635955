"""What a reader sees of the output of a job."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execution.job_store import JobView, OutputSpan, Record
from toolcrib.system.collector import Ring, Segment, join


def view_of(segments: list[Segment], offset: int, total: int) -> JobView:
    record = Record(
        *("j1", "command", "title", "tool", "s", "place:1:1", 0.0, None, 0.0, 0.0),
        *("running", None, total, "", "", "", ""),
    )
    return JobView.of(record, offset, segments)


@given(st.text(min_size=1), st.data())
def test_offsets_of_a_view_are_exact(text: str, data: st.DataObject) -> None:
    text = text.encode("utf-8", "replace").decode()
    encoded = text.encode()
    offset = data.draw(st.integers(0, len(encoded)))
    view = view_of(join([Segment(0, encoded)], offset), offset, len(encoded))
    assert encoded.decode().endswith(view.text)
    at = data.draw(st.integers(0, len(view.text)))
    assert encoded[view.offset_at(at) :].decode() == view.text[at:]


def test_a_gap_is_named_and_counted() -> None:
    ring = Ring(head=5, tail=5)
    ring.write(("ü" * 10).encode())
    view = view_of(ring.segments(), 0, ring.total)
    assert view.text == "üü\n[12 bytes were not kept]\nüü"
    assert view.dropped == 12
    assert view.offset_at(2) == 4
    assert view.offset_at(len(view.text) - 1) == 18
    assert [p.start for p in view.pieces] == [0, 16]


def test_a_piece_leaves_out_half_characters() -> None:
    data = "aüb".encode()
    assert OutputSpan.of(Segment(2, data[2:])) == OutputSpan(3, "b")
    assert OutputSpan.of(Segment(0, data[:2])) == OutputSpan(0, "a")
