"""Questions and answers of Stack Overflow and its sister sites."""

from __future__ import annotations

import re
import time
from typing import Any

from toolcrib.core.errors import RateLimited
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.refusals import refusal, slow_hint
from toolcrib.web.provider_api.responses import (
    at,
    covers,
    found,
    number,
    page_of,
    start_of,
    texts,
    unmarked,
)

COUNT = 20
SITES = (
    *("stackoverflow.com", "superuser.com", "serverfault.com", "askubuntu.com"),
    *("mathoverflow.net", "stackapps.com", "stackexchange.com"),
)
_SLOW = frozenset({"throttle_violation", "temporarily_unavailable"})
_IN = re.compile(r"available in (\d{1,6}) seconds")


class StackExchange(Provider):
    """Stack Exchange."""

    name = "stackexchange"
    about = "Stack Overflow; with `site` its sister sites. A key is optional."
    base_url = "https://api.stackexchange.com"
    key_env = "STACKEXCHANGE_KEY"
    max_chars = 240
    ignores = ("region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of questions and answers."""
        site = ask.site.lower().partition(":")[0].removeprefix("www.") or SITES[0]
        if not covers(site, *SITES):
            return Page()
        pause = float(ask.cursor.get("until", "0")) - time.time()
        if pause > 0:
            raise _patience(reach, f"a pause of {pause:.0f} s before the next page", pause)
        start = start_of(ask.freshness)
        response = await reach.send(
            "/2.3/search/excerpts",
            params={
                "q": ask.query,
                "site": site,
                "order": "desc",
                "sort": "relevance",
                "page": str(ask.page),
                "pagesize": str(COUNT),
                "fromdate": f"{start.timestamp():.0f}" if start else "",
                "key": reach.key,
            },
            checked=False,
        )
        if response.status >= 400:
            error = refusal(response, reach)
            if any(name in error.message for name in _SLOW):
                wait = _IN.search(error.message)
                raise _patience(reach, error.message, float(wait.group(1)) if wait else None)
            raise error
        answer = reach.json(response)
        items = reach.listed(answer, "items")
        page = page_of((_result(item, site) for item in items), more=answer.get("has_more") is True)
        backoff = number(answer.get("backoff"))
        cursor = {"until": f"{time.time() + backoff:.3f}"} if backoff else {}
        return Page(page.results, page.more, cursor)


def _patience(reach: Reach, why: str, wait: float | None) -> RateLimited:
    seconds = None if wait is None else round(wait, 1)
    return RateLimited(
        why if why.startswith(reach.name) else f"{reach.name} asks for {why}.",
        hint=slow_hint(seconds),
        provider=reach.name,
        retry_after=seconds,
    )


def _result(item: dict[str, Any], site: str) -> Found | None:
    is_answer = item.get("item_type") == "answer"
    place, key = ("a", "answer_id") if is_answer else ("questions", "question_id")
    number_of = number(at(item, key))
    since = number(item.get("creation_date"))
    return found(
        unmarked(item.get("title")),
        f"https://{site}/{place}/{number_of:.0f}" if number_of else "",
        unmarked(item.get("excerpt")),
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since)) if since else "",
        type=one_line(item.get("item_type")),
        votes=number(item.get("score")),
        answers=number(item.get("answer_count")),
        accepted=item.get("is_accepted") or item.get("has_accepted_answer") or None,
        tags=texts(item.get("tags")),
    )
