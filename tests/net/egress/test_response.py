from __future__ import annotations

from tests.cases import each_case
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import Headers


@each_case(("status", "phrase"), [(200, "OK"), (404, "Not Found"), (522, ""), (799, "")])
def test_phrase(status: int, phrase: str) -> None:
    assert Response("https://a.example/", status, Headers(()), b"").phrase == phrase
