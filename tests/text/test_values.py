"""What the cells of tables mean."""

from __future__ import annotations

import pytest

from toolcrib.text.values import date_key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2024-02-29", "2024-02-29"),
        ("30. Juni 2024", "2024-06-30"),
        ("31/12/1999 8:05", "1999-12-31 08:05"),
        ("2023-02-29", ""),
        ("31 Jun 2024", ""),
        ("31.04.24", ""),
    ],
)
def test_a_date_is_a_day_that_there_is(text: str, key: str) -> None:
    assert date_key(text) == key
