"""Documents that come out of a process as they went in."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.web.page import (
    Choice,
    Facts,
    Link,
    Page,
    Picture,
    packed,
    unpacked,
)

WORDS = st.text(max_size=20)
DOCUMENTS = st.builds(
    Page,
    text=st.text(),
    kind=st.just("html"),
    title=WORDS,
    encoding=WORDS,
    notes=st.lists(WORDS, max_size=3),
    hidden=st.integers(0, 9),
    links=st.lists(st.builds(Link, WORDS, WORDS, st.booleans()), max_size=3),
    pictures=st.lists(st.builds(Picture, WORDS, WORDS, WORDS), max_size=3),
    facts=st.builds(Facts, published=WORDS, author=WORDS),
    navigation=WORDS,
    choice=st.none()
    | st.builds(Choice, st.just("main"), st.booleans(), WORDS, WORDS, st.integers(0, 9)),
    removed=st.dictionaries(st.just("tag"), st.integers(1, 9)),
)


@given(DOCUMENTS)
def test_nothing_is_lost_on_the_way(document: Page):
    reported, text = packed(document)
    assert unpacked(json.loads(json.dumps(reported)), text) == document


def test_half_a_character_is_no_end_of_the_way():
    document = Page("a\ud800b", "html", "\udc00")
    reported, text = packed(document)
    assert unpacked(json.loads(json.dumps(reported)), text) == document
