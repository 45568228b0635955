"""News of a SearXNG instance."""

from __future__ import annotations

from toolcrib.web.providers.searxng import SearXNG


class SearXNGNews(SearXNG):
    """News of SearXNG."""

    name = "searxng_news"
    about = "News by your SearXNG instance."
    kind = "news"
    shares = "searxng"
    category = "news"
