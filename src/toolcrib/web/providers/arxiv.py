"""arXiv, through its Atom API."""

from __future__ import annotations

import re

from toolcrib.core.errors import RateLimited
from toolcrib.documents.markup.xml_tree import Node, read_tree
from toolcrib.net.egress.response import Response
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.refusals import slow_hint, wait_of
from toolcrib.web.provider_api.responses import covers, found, page_of, start_of

COUNT = 20
# A query in arXiv's own language is passed on as it is.
_OWN = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all):\S|\b(?:AND|OR|ANDNOT)\b")
_TERM = re.compile(r'"([^"]+)"|([^\s"]+)')


class ArXiv(Provider):
    """arXiv."""

    name = "arxiv"
    about = "Preprints of arXiv, with their abstracts."
    base_url = "https://export.arxiv.org"
    ignores = ("region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of papers."""
        words = _query(ask)
        if not words or not covers(ask.site, "arxiv.org"):
            return Page()
        response = await reach.fetch(
            "/api/query",
            params={
                "search_query": words,
                "start": str(COUNT * (ask.page - 1)),
                "max_results": str(COUNT),
                "sortBy": "relevance",
            },
            headers={"accept": "application/atom+xml"},
        )
        return _page(response, ask, reach)


def _query(ask: Ask) -> str:
    """The words as arXiv wants them: each with a field, joined by AND."""
    if _OWN.search(ask.query):
        words = ask.query
    else:
        terms = []
        for phrase, word in _TERM.findall(ask.query):
            inner = re.sub(r"[^\w.'-]+", " ", phrase or word).strip(" .'-")
            if inner:
                terms.append(f'all:"{inner}"' if " " in inner else f"all:{inner}")
        words = " AND ".join(terms)
    start = start_of(ask.freshness)
    if start and words:
        return f"({words}) AND submittedDate:[{start:%Y%m%d%H%M} TO 299912312359]"
    return words


def _page(response: Response, ask: Ask, reach: Reach) -> Page:
    text = response.body.decode("utf-8", "replace")
    if text.strip() == "Rate exceeded.":
        raise RateLimited(
            f"{reach.name} asks to slow down.",
            hint=slow_hint(wait_of(response)),
            provider=reach.name,
            status=response.status,
            retry_after=wait_of(response),
        )
    tree = read_tree(text)
    feed = tree.root
    if feed is None or feed.name != "feed" or tree.broken:
        raise reach.unreadable("its answer is not an Atom feed")
    entries = _all(feed, "entry")
    for entry in entries:
        if "/api/errors" in _text(entry, "id"):
            raise reach.unreadable(f"it says {_text(entry, 'summary')[:300]}")
    count = _text(feed, "totalResults")
    more = ask.page * COUNT < int(count[:9]) if count.isdecimal() else len(entries) >= COUNT
    return page_of(map(_result, entries), more=more)


def _result(entry: Node) -> Found | None:
    pdf = next((at.attrs.get("href") for at in _all(entry, "link") if _is_pdf(at)), "")
    # The addresses of the API are those without TLS.
    url = re.sub(r"^http://arxiv\.org/", "https://arxiv.org/", _text(entry, "id"))
    abstract = _text(entry, "summary")
    return found(
        _text(entry, "title"),
        url,
        abstract,
        _text(entry, "published"),
        abstract,
        authors=[_text(author, "name") for author in _all(entry, "author")][:20],
        pdf=re.sub(r"^http://arxiv\.org/", "https://arxiv.org/", str(pdf or "")),
    )


def _is_pdf(link: Node) -> bool:
    return link.attrs.get("title") == "pdf" or link.attrs.get("type") == "application/pdf"


def _all(node: Node, name: str) -> list[Node]:
    return [child for child in node.children if child.name == name]


def _text(node: Node, name: str) -> str:
    """The text of the first element of a name."""
    return next((one_line(child.text) for child in _all(node, name)), "")
