"""Searches of one field each: arXiv, OpenAlex, Stack Exchange, GitHub, Hacker News."""

from __future__ import annotations

import re
import time
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
    refusal,
    result_page,
    search_result,
    serves_site,
    start_of,
    texts,
    unmarked,
    wait_of,
)

PAGE_SIZE = 20
HN_ITEM = "https://news.ycombinator.com/item?id="
MAX_GITHUB_RESULTS = 1000
"""Results that GitHub gives of one query, however many there are."""
STACK_SITES = (
    *("stackoverflow.com", "superuser.com", "serverfault.com", "askubuntu.com"),
    *("mathoverflow.net", "stackapps.com", "stackexchange.com"),
)
_SLOW_ERRORS = frozenset({"throttle_violation", "temporarily_unavailable"})
_WAIT = re.compile(r"available in (\d{1,6}) seconds")
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
        message = f"{client.name} asks to slow down."
        raise client.slow_down(message, wait_of(response), status=response.status)
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


class HackerNews(Provider):
    """Hacker News."""

    name = "hackernews"
    about = "Stories of Hacker News, each with its discussion."
    base_url = "https://hn.algolia.com"
    ignores = ("region", "safe_search")

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of stories."""
        start = start_of(request.freshness)
        site = request.site.lower()
        answer = await client.call(
            "/api/v1/search",
            params={
                "query": f"{request.query} {site}" if site else request.query,
                "tags": "story",
                "hitsPerPage": str(PAGE_SIZE),
                "page": str(request.page - 1) if request.page > 1 else "",
                "numericFilters": f"created_at_i>{start.timestamp():.0f}" if start else "",
            },
        )
        hits = [hit for hit in client.listed(answer, "hits") if _is_of(hit, site)]
        more = request.page < (number(answer.get("nbPages")) or 0)
        return result_page(map(_story, hits), more=more)


def _is_of(hit: dict[str, Any], site: str) -> bool:
    """Whether the page of a story stands on a site."""
    host = str(hit.get("url") or HN_ITEM).lower().partition("://")[2].partition("/")[0]
    return not site or host == site or host.endswith(f".{site}")


def _story(hit: dict[str, Any]) -> SearchResult | None:
    key = one_line(hit.get("objectID"))
    discussion = f"{HN_ITEM}{key}" if key.isdecimal() else ""
    url = one_line(hit.get("url"))
    points, comments = number(hit.get("points")), number(hit.get("num_comments"))
    counts = f"{points or 0} points, {comments or 0} comments"
    return search_result(
        unmarked(hit.get("title")),
        url if is_web(url) else discussion,
        unmarked(hit.get("story_text")) or counts,
        hit.get("created_at"),
        discussion=discussion,
        points=points,
        comments=comments,
        author=one_line(hit.get("author")),
    )


class GitHub(Provider):
    """GitHub."""

    name = "github"
    about = "Repositories of GitHub. A key is optional; with it more may be asked."
    base_url = "https://api.github.com"
    key_env = "GITHUB_TOKEN"
    max_chars = 256
    ignores = ("region", "safe_search")

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of repositories."""
        if not serves_site(request.site, "github.com"):
            return ResultPage()
        since = day_of(request.freshness)
        answer = await client.call(
            "/search/repositories",
            params={
                "q": f"{request.query} pushed:>={since}" if since else request.query,
                "per_page": str(PAGE_SIZE),
                "page": str(request.page),
            },
            headers={
                **client.bearer,
                "accept": "application/vnd.github+json",
                "x-github-api-version": "2022-11-28",
            },
        )
        items = client.listed(answer, "items")
        total = number(answer.get("total_count")) or 0
        return result_page(
            map(_repository, items), more=request.page * PAGE_SIZE < min(total, MAX_GITHUB_RESULTS)
        )


def _repository(item: dict[str, Any]) -> SearchResult | None:
    return search_result(
        one_line(item.get("full_name")),
        item.get("html_url"),
        one_line(item.get("description")),
        item.get("pushed_at"),
        stars=number(item.get("stargazers_count")),
        language=one_line(item.get("language")),
        license=one_line(member(item, "license", "spdx_id")),
        topics=texts(item.get("topics"))[:10],
        archived=item.get("archived") or None,
    )


class StackExchange(Provider):
    """Stack Exchange."""

    name = "stackexchange"
    about = "Stack Overflow; with `site` its sister sites. A key is optional."
    base_url = "https://api.stackexchange.com"
    key_env = "STACKEXCHANGE_KEY"
    max_chars = 240
    ignores = ("region", "safe_search")

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of questions and answers."""
        site = request.site.lower().partition(":")[0].removeprefix("www.") or STACK_SITES[0]
        if not serves_site(site, *STACK_SITES):
            return ResultPage()
        pause = float(request.cursor.get("until", "0")) - time.time()
        if pause > 0:
            raise _slow_down(client, f"a pause of {pause:.0f} s before the next page", pause)
        start = start_of(request.freshness)
        response = await client.send(
            "/2.3/search/excerpts",
            params={
                "q": request.query,
                "site": site,
                "order": "desc",
                "sort": "relevance",
                "page": str(request.page),
                "pagesize": str(PAGE_SIZE),
                "fromdate": f"{start.timestamp():.0f}" if start else "",
                "key": client.key,
            },
            checked=False,
        )
        if response.status >= 400:
            error = refusal(response, client)
            if any(name in error.message for name in _SLOW_ERRORS):
                wait = _WAIT.search(error.message)
                raise _slow_down(client, error.message, float(wait.group(1)) if wait else None)
            raise error
        answer = client.json(response)
        items = client.listed(answer, "items")
        page = result_page(
            (_post(item, site) for item in items), more=answer.get("has_more") is True
        )
        backoff = number(answer.get("backoff"))
        cursor = {"until": f"{time.time() + backoff:.3f}"} if backoff else {}
        return ResultPage(page.results, page.more, cursor)


def _slow_down(client: ProviderClient, why: str, wait: float | None) -> RateLimited:
    message = why if why.startswith(client.name) else f"{client.name} asks for {why}."
    return client.slow_down(message, None if wait is None else round(wait, 1))


def _post(item: dict[str, Any], site: str) -> SearchResult | None:
    is_answer = item.get("item_type") == "answer"
    place, key = ("a", "answer_id") if is_answer else ("questions", "question_id")
    number_of = number(member(item, key))
    since = number(item.get("creation_date"))
    return search_result(
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
