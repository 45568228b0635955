"""Scholarly works: arXiv, through its Atom API, and OpenAlex."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.core.errors import RateLimited
from toolcrib.documents.xml_tree import XmlNode, read_tree
from toolcrib.net.egress.response import Response
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    day_of,
    is_web,
    member,
    number,
    result_page,
    search_result,
    serves_site,
    slow_hint,
    start_of,
    unmarked,
    wait_of,
)

PAGE_SIZE = 20
MAX_ABSTRACT_WORDS = 2000
FIELDS = (
    "id,doi,display_name,publication_date,abstract_inverted_index,authorships,"
    "primary_location,open_access,cited_by_count,type,language"
)
# A query in arXiv's own language is passed on as it is.
_OWN = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all):\S|\b(?:AND|OR|ANDNOT)\b")
_TERM = re.compile(r'"([^"]+)"|([^\s"]+)')


class ArXiv(Provider):
    """arXiv."""

    name = "arxiv"
    about = "Preprints of arXiv, with their abstracts."
    base_url = "https://export.arxiv.org"
    ignores = ("region", "safe_search")

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of papers."""
        words = _query(request)
        if not words or not serves_site(request.site, "arxiv.org"):
            return ResultPage()
        response = await client.fetch(
            "/api/query",
            params={
                "search_query": words,
                "start": str(PAGE_SIZE * (request.page - 1)),
                "max_results": str(PAGE_SIZE),
                "sortBy": "relevance",
            },
            headers={"accept": "application/atom+xml"},
        )
        return _page(response, request, client)


def _query(request: SearchRequest) -> str:
    """The words as arXiv wants them: each with a field, joined by AND."""
    if _OWN.search(request.query):
        words = request.query
    else:
        terms = []
        for phrase, word in _TERM.findall(request.query):
            inner = re.sub(r"[^\w.'-]+", " ", phrase or word).strip(" .'-")
            if inner:
                terms.append(f'all:"{inner}"' if " " in inner else f"all:{inner}")
        words = " AND ".join(terms)
    start = start_of(request.freshness)
    if start and words:
        return f"({words}) AND submittedDate:[{start:%Y%m%d%H%M} TO 299912312359]"
    return words


def _page(response: Response, request: SearchRequest, client: ProviderClient) -> ResultPage:
    text = response.body.decode("utf-8", "replace")
    if text.strip() == "Rate exceeded.":
        raise RateLimited(
            f"{client.name} asks to slow down.",
            hint=slow_hint(wait_of(response)),
            provider=client.name,
            status=response.status,
            retry_after=wait_of(response),
        )
    tree = read_tree(text)
    feed = tree.root
    if feed is None or feed.name != "feed" or tree.broken:
        raise client.unreadable("its answer is not an Atom feed")
    entries = _all(feed, "entry")
    for entry in entries:
        if "/api/errors" in _text(entry, "id"):
            raise client.unreadable(f"it says {_text(entry, 'summary')[:300]}")
    count = _text(feed, "totalResults")
    more = (
        request.page * PAGE_SIZE < int(count[:9])
        if count.isdecimal()
        else len(entries) >= PAGE_SIZE
    )
    return result_page(map(_paper, entries), more=more)


def _paper(entry: XmlNode) -> SearchResult | None:
    pdf = next((at.attrs.get("href") for at in _all(entry, "link") if _is_pdf(at)), "")
    # The addresses of the API are those without TLS.
    url = re.sub(r"^http://arxiv\.org/", "https://arxiv.org/", _text(entry, "id"))
    abstract = _text(entry, "summary")
    return search_result(
        _text(entry, "title"),
        url,
        abstract,
        _text(entry, "published"),
        abstract,
        authors=[_text(author, "name") for author in _all(entry, "author")][:20],
        pdf=re.sub(r"^http://arxiv\.org/", "https://arxiv.org/", str(pdf or "")),
    )


def _is_pdf(link: XmlNode) -> bool:
    return link.attrs.get("title") == "pdf" or link.attrs.get("type") == "application/pdf"


def _all(node: XmlNode, name: str) -> list[XmlNode]:
    return [child for child in node.children if child.name == name]


def _text(node: XmlNode, name: str) -> str:
    """The text of the first element of a name."""
    return next((one_line(child.text) for child in _all(node, name)), "")


class OpenAlex(Provider):
    """OpenAlex."""

    name = "openalex"
    about = "Scholarly works, with their abstracts. A free key is optional; without one few."
    base_url = "https://api.openalex.org"
    key_env = "OPENALEX_API_KEY"
    max_bytes = 5_000_000
    ignores = ("safe_search",)

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of works."""
        if request.site:
            return ResultPage()
        since = day_of(request.freshness)
        filters = [f"from_publication_date:{since}"] if since else []
        filters += [f"language:{request.language}"] if request.language else []
        answer = await client.call(
            "/works",
            params={
                "search": request.query,
                "filter": ",".join(filters),
                "per_page": str(PAGE_SIZE),
                "page": str(request.page),
                "select": FIELDS,
                "api_key": client.key,
            },
        )
        total = number(member(answer, "meta", "count")) or 0
        items = client.listed(answer, "results")
        return result_page(map(_work, items), more=request.page * PAGE_SIZE < total)


def _work(item: dict[str, Any]) -> SearchResult | None:
    places = (
        *(item.get("doi"), member(item, "primary_location", "landing_page_url"), item.get("id")),
    )
    url = next((p for p in places if isinstance(p, str) and is_web(p)), "")
    authors = item.get("authorships")
    names = (
        [one_line(member(a, "author", "display_name")) for a in authors or []][:20]
        if isinstance(authors, list)
        else []
    )
    abstract = _abstract(item.get("abstract_inverted_index"))
    return search_result(
        unmarked(item.get("display_name")),
        url,
        abstract,
        item.get("publication_date"),
        abstract,
        authors=[name for name in names if name],
        journal=one_line(member(item, "primary_location", "source", "display_name")),
        pdf=one_line(member(item, "open_access", "oa_url")),
        cited=number(item.get("cited_by_count")),
        type=one_line(item.get("type")),
    )


def _abstract(index: Any) -> str:
    """The text behind `{"word": [places]}`."""
    if not isinstance(index, dict):
        return ""
    places = [
        (place, word)
        for word, listed in index.items()
        if isinstance(listed, list)
        for place in listed
        if isinstance(place, int)
    ]
    return one_line(" ".join(word for _, word in sorted(places)[:MAX_ABSTRACT_WORDS]))
