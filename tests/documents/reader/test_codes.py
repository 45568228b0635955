from __future__ import annotations

from math import log

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.documents.reader.features import bit_columns, log_code, signed_code, window_sums

NUMBERS = st.integers(0, 10**9)


@given(NUMBERS)
def test_a_logarithm_as_a_byte_is_the_nearest(number: int) -> None:
    assert log_code(number) == min(255, round(22 * log(1 + number)))


@given(st.integers(-(10**7), 10**7), st.integers(-(10**7), 10**7))
def test_signed_numbers_keep_their_order(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert 0 <= signed_code(low) <= signed_code(high) <= 255


@given(st.binary(max_size=40))
def test_bits_are_columns(values: bytes) -> None:
    columns = bit_columns(values)
    assert [sum(column[at] << bit for bit, column in enumerate(columns))
            for at in range(len(values))] == list(values)  # fmt: skip


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(0, 12))
def test_around_a_block_is_what_is_within_reach(values: list[int], reach: int) -> None:
    totals = [sum(values[:end]) for end in range(len(values) + 1)]
    found = list(window_sums(totals, reach))
    assert found == [sum(values[max(0, at - reach) : at + reach + 1]) for at in range(len(values))]
