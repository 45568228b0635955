"""Values of JSON as text."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text.display import MAX_JSON_DEPTH, formatted_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(value=VALUES)
def test_it_is_the_same_value(value):
    text, whole = formatted_json(value, 1_000_000)
    assert whole
    assert json.loads(text) == value


def test_a_long_one_is_cut_and_says_so():
    whole, all_of_it = formatted_json(list(range(1000)), 1_000_000)
    assert all_of_it
    assert formatted_json(list(range(1000)), 100) == (whole[:100], False)


def test_what_indenting_would_multiply_is_left_alone():
    value: list = []
    for _ in range(MAX_JSON_DEPTH - 1):
        value = [value]
    assert formatted_json(value, 100_000) is not None
    assert formatted_json([[value]], 100_000) is None
