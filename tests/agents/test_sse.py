"""Events as model servers really send them, cut anywhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.net.models.completion import MAX_EVENT_CHARS, EventReader, EventTooLong

pytestmark = pytest.mark.rows("E101")

TEXTS = st.lists(st.text(max_size=20).map(lambda t: json.dumps({"t": t}, ensure_ascii=False)))


def read(data: bytes, cuts: list[int] | None = None) -> list[str]:
    reader, found, at = EventReader(), [], 0
    for cut in [*sorted(cuts or []), len(data)]:
        found += reader.feed(data[at:cut])
        at = max(at, cut)
    return found + reader.close()


@given(TEXTS, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_cuts_change_nothing(texts: list[str], end: str, data: st.DataObject) -> None:
    stream = "".join(f": note{end}{end}event: x{end}data: {t}{end}{end}" for t in texts).encode()
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20))
    assert read(stream, cuts) == texts


def test_a_character_cut_in_two_stays_whole() -> None:
    stream = 'data: {"t": "é€😀"}\n\n'.encode()
    assert read(stream, list(range(len(stream)))) == ['{"t": "é€😀"}']


@each_case("end", ["\n", "\r\n", "\r"])
def test_line_ends_one_byte_at_a_time(end: str) -> None:
    stream = f"data: 1{end}{end}data: 2{end}{end}{end}data: 3{end}{end}".encode()
    assert read(stream, list(range(len(stream)))) == ["1", "2", "3"]


@each_case(
    ("stream", "found"),
    [
        ("data:{}\n\n", ["{}"]),
        ("\ufeffdata: {}\n\n", ["{}"]),
        ('data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n', ['{"a":1}', '{"b":2}', "[DONE]"]),
        ('data: {"a":\ndata: 1}\n\n', ['{"a":\n1}']),
        ('data: {"a":1}', ['{"a":1}']),
        ('{"error": "bad"}\n', ['{"error": "bad"}']),
        ("retry: 3\nid: 4\n\n", []),
        ("data: a\u2028b\n\n", ["a\u2028b"]),
    ],
)
def test_what_servers_send(stream: str, found: list[str]) -> None:
    assert read(stream.encode()) == found


def test_an_event_without_an_end_is_bounded() -> None:
    reader = EventReader()
    with pytest.raises(EventTooLong):
        for _ in range(MAX_EVENT_CHARS // 1000):
            reader.feed(b"data: " + b"x" * 2000)


def test_comments_may_go_on_for_ever() -> None:
    reader = EventReader()
    for _ in range(MAX_EVENT_CHARS // 10_000 + 10):
        assert reader.feed(b":" + b"-" * 10_000 + b"\n") == []
    assert reader.feed(b"data: 1\n\n") == ["1"]
