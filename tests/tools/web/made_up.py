"""Search services that do not exist, spoken to over real HTTP in a simple form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.servers.scripted import Answer
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    records,
)

NAMES = ("alpha", "beta", "gamma")


class MadeUp(Provider):
    """A service at `/NAME/find`."""

    about = "A service for tests."
    base_url = "https://made-up.example"

    async def search(self, ask: SearchRequest, reach: ProviderClient) -> ResultPage:
        """One page."""
        params = {"q": ask.words, "page": str(ask.page), "since": ask.freshness}
        params |= {"safe": ask.safe_search, "region": ask.region, "count": str(ask.count)}
        answer = reach.json(await reach.send("/find", params=params))
        if not isinstance(answer.get("results"), list):
            raise reach.unreadable("it has no results")
        return ResultPage(
            tuple(SearchResult(**item) for item in records(answer["results"])),
            bool(answer.get("more")),
        )


def service(name: str, **attributes: Any) -> Provider:
    """A provider of this name."""
    kind = type(name.title(), (MadeUp,), {"name": name, **attributes})
    return kind()


def answer(*results: dict[str, Any], more: bool = False) -> Answer:
    body = json.dumps({"results": list(results), "more": more})
    return Answer(body, kind="application/json")


def results(names: Iterable[object], host: str = "example.org") -> list[dict[str, Any]]:
    return [
        {"title": f"Title {n}", "url": f"https://{host}/{n}", "snippet": f"Text {n}."}
        for n in names
    ]


EMPTY = answer()
CHALLENGE = Answer("<title>Just a moment...</title>", 403)
LIMITED = Answer("slow down", 429)
UNREADABLE = Answer("<html><body>New form</body></html>")
