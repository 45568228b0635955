from __future__ import annotations

import pytest

from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import Headers


@pytest.mark.parametrize(
    ("status", "phrase"), [(200, "OK"), (404, "Not Found"), (522, ""), (799, "")]
)
def test_phrase(status: int, phrase: str) -> None:
    assert Response("https://a.example/", status, Headers(()), b"").phrase == phrase
