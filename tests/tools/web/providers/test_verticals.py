"""Services about one thing, most of them without a key."""

from __future__ import annotations

import re
import time

import pytest

from tests.cases import each_case
from tests.servers.scripted import Answer
from tests.tools.web.providers.bench import KEY, OPEN, answer
from toolcrib.core.errors import HttpStatus, RateLimited
from toolcrib.core.settings import ProviderConfig
from toolcrib.web.provider import ProviderClient
from toolcrib.web.providers import Providers
from toolcrib.web.providers.wikipedia import edition


async def test_wikipedia(bench, server):
    server["/w/api.php"] = answer(
        {
            "batchcomplete": True,
            "continue": {"sroffset": 20, "continue": "-||"},
            "query": {
                "searchinfo": {"totalhits": 40},
                "search": [
                    {
                        "ns": 0,
                        "title": "C++ & me: a/b?",
                        "pageid": 7,
                        "snippet": 'A <span class="searchmatch">word</span> &amp; more',
                        "timestamp": "2026-01-02T03:04:05Z",
                    },
                    {"ns": 0, "title": "", "pageid": 8},
                ],
            },
        }
    )
    page = await bench.page("wikipedia", "a word", page=2)
    (found,) = page.results
    assert found.url == f"{server.url}/wiki/C%2B%2B_%26_me:_a/b%3F"
    assert (found.snippet, found.published) == ("A word & more", "2026-01-02T03:04:05Z")
    assert page.more
    assert bench.sent.query == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "list": "search",
        "srsearch": "a word",
        "srlimit": "20",
        "sroffset": "20",
        "srprop": "snippet|timestamp|wordcount",
    }
    assert bench.sent.headers["user-agent"].startswith("toolcrib/")


async def test_wikipedia_of_other_sites_is_not_asked(bench, server):
    assert await bench.results("wikipedia", site="example.org") == ()
    assert server.requested == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": "ratelimited", "info": "slow down"}, "rate_limited"),
        ({"code": "badvalue", "info": "what?"}, "unavailable"),
        ("odd", "unavailable"),
    ],
)
async def test_wikipedia_calls_errors_by_code(bench, server, error, code):
    server["/w/api.php"] = answer({"error": error})
    assert (await bench.error("wikipedia")).code == code


@pytest.mark.rows("X20")
@each_case(
    ("text", "code"),
    [
        ("en", "en"),
        (" DE ", "de"),
        ("simple", "simple"),
        ("zh-min-nan", "zh-min-nan"),
        ("pt-BR", "pt"),
        ("zh_Hans", "zh"),
        ("", ""),
        ("english", ""),
        ("en.evil.example", ""),
        ("en/../x", ""),
        ("evil.example#", ""),
        ("evil.example/?", ""),
        ("a@b", ""),
        ("en\n", "en"),
        ("e\nn", ""),
        ("\u0435n", ""),
        ("-", ""),
        ("xn--en", ""),
    ],
)
def test_a_language_is_a_known_form_or_nothing(text, code):
    assert edition(text) == code


@pytest.mark.rows("X20")
@pytest.mark.parametrize(
    ("region", "host"), [("", "en"), ("fr-CH", "fr"), ("evil.example/-x", "en")]
)
async def test_the_edition_of_wikipedia_comes_from_the_region(bench, monkeypatch, region, host):
    provider = bench.services.use(Providers).named("wikipedia")
    reach = ProviderClient(provider, ProviderConfig(), bench.ctx)
    requested = reach.at(f"https://{edition(region) or 'en'}.wikipedia.org")
    assert requested.base_url == f"https://{host}.wikipedia.org"
    assert reach.base_url == "https://en.wikipedia.org"


def atom(*entries: str, total: int = 1) -> Answer:
    return Answer(
        f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?search_query=x" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: x</title>
  <id>http://arxiv.org/api/abc</id>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{total}</opensearch:totalResults>
  {"".join(entries)}
</feed>""",
        kind="application/atom+xml",
    )


ENTRY = """<entry>
    <id>http://arxiv.org/abs/2101.00001v2</id>
    <updated>2021-02-01T00:00:00Z</updated>
    <published>2021-01-01T00:00:00Z</published>
    <title>On &amp; on,
  again</title>
    <summary>  We show that x &lt; y.
  It holds. </summary>
    <author><name>Ann One</name></author><author><name>Bob Two</name></author>
    <link href="http://arxiv.org/abs/2101.00001v2" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/2101.00001v2" type="application/pdf"/>
    <category term="cs.AI" scheme="http://arxiv.org/schemas/atom"/>
  </entry>"""


async def test_arxiv(bench, server):
    server["/api/query"] = atom(ENTRY, total=41)
    page = await bench.page("arxiv", 'deep "neural nets" (2.0)', page=2)
    (found,) = page.results
    assert (found.title, found.url) == ("On & on, again", "https://arxiv.org/abs/2101.00001v2")
    assert found.snippet == found.content == "We show that x < y. It holds."
    assert found.published == "2021-01-01T00:00:00Z"
    assert found.extra == {
        "authors": ["Ann One", "Bob Two"],
        "pdf": "https://arxiv.org/pdf/2101.00001v2",
    }
    assert page.more
    assert not (await bench.page("arxiv", page=3)).more
    server.requested.pop()
    assert bench.sent.query == {
        "search_query": 'all:deep AND all:"neural nets" AND all:2.0',
        "start": "20",
        "max_results": "20",
        "sortBy": "relevance",
    }


async def test_arxiv_takes_its_own_language_and_a_time(bench, server):
    server["/api/query"] = atom()
    await bench.page("arxiv", "ti:attention AND cat:cs.CL", freshness="week")
    requested = bench.sent.query["search_query"]
    assert re.fullmatch(
        r"\(ti:attention AND cat:cs.CL\) AND submittedDate:\[\d{12} TO \d{12}\]", requested
    )
    assert await bench.results("arxiv", "?? ()") == ()
    assert await bench.results("arxiv", "x", site="example.org") == ()
    assert len(server.requested) == 1


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (Answer("Rate exceeded.", kind="text/plain"), "rate_limited"),
        (Answer("Rate exceeded.", 429, "text/plain"), "rate_limited"),
        (Answer("wait", 503, headers={"Retry-After": "5"}), "rate_limited"),
        (Answer("down", 503), "http_status"),
        (Answer("<html><p>x</html>"), "unavailable"),
        (Answer("<html><p>x</p></html>"), "unavailable"),
        (Answer("{}"), "unavailable"),
        (
            atom("<entry><id>http://arxiv.org/api/errors#x</id><summary>bad id</summary></entry>"),
            "unavailable",
        ),
    ],
)
async def test_arxiv_refusals(bench, server, script, code):
    server["/api/query"] = script
    error = await bench.error("arxiv")
    assert error.code == code
    if "bad id" in str(script.body):
        assert "bad id" in error.message


QUESTION = {
    "item_type": "question",
    "question_id": 11,
    "title": "How &amp; why",
    "excerpt": 'A <span class="highlight">word</span> &lt;b&gt;',
    "score": 5,
    "answer_count": 2,
    "has_accepted_answer": True,
    "tags": ["python", "c++"],
    "creation_date": 1_767_323_045,
}


async def test_stackexchange(bench, server):
    server["/2.3/search/excerpts"] = answer(
        {
            "items": [
                QUESTION,
                {"item_type": "answer", "answer_id": 22, "question_id": 11, "title": "A"},
                {"item_type": "question", "title": "no number"},
            ],
            "has_more": True,
            "quota_remaining": 299,
        }
    )
    page = await bench.page("stackexchange", "a word", freshness="year", page=2)
    first, second = page.results
    assert (first.title, first.url) == ("How & why", "https://stackoverflow.com/questions/11")
    assert (first.snippet, first.published) == ("A word <b>", "2026-01-02T03:04:05Z")
    assert first.extra == {
        "type": "question",
        "votes": 5,
        "answers": 2,
        "accepted": True,
        "tags": ["python", "c++"],
    }
    assert second.url == "https://stackoverflow.com/a/22"
    assert page.more
    sent = dict(bench.sent.query)
    assert time.time() - int(sent.pop("fromdate")) > 364 * 86_400
    assert sent == {
        "q": "a word",
        "site": "stackoverflow.com",
        "order": "desc",
        "sort": "relevance",
        "page": "2",
        "pagesize": "20",
    }
    page = await bench.page("stackexchange", site="www.superuser.com")
    assert page.results[0].url == "https://superuser.com/questions/11"
    assert bench.sent.query["site"] == "superuser.com"
    count = len(server.requested)
    assert await bench.results("stackexchange", site="example.org") == ()
    assert len(server.requested) == count


async def test_stackexchange_waits_as_long_as_it_is_asked_to(bench, server):
    server["/2.3/search/excerpts"] = answer({"items": [QUESTION], "has_more": True, "backoff": 60})
    page = await bench.page("stackexchange")
    assert len(page.results) == 1
    error = await bench.error("stackexchange", page=2, cursor=page.cursor)
    assert isinstance(error, RateLimited)
    assert 50 < error.details["retry_after"] <= 60
    assert len(server.requested) == 1
    await bench.page("stackexchange", page=2, cursor={"until": "1"})


@pytest.mark.parametrize(("status", "seconds"), [(400, 52), (502, 52), (503, None)])
async def test_stackexchange_throttles(bench, server, status, seconds):
    more = ", more requests available in 52 seconds" if seconds else ""
    server["/2.3/search/excerpts"] = answer(
        {
            "error_id": 502,
            "error_name": "throttle_violation",
            "error_message": f"too many requests from this IP{more}",
        },
        status,
    )
    error = await bench.error("stackexchange")
    assert isinstance(error, RateLimited)
    assert error.details["retry_after"] == seconds
    assert "throttle_violation" in error.message


async def test_stackexchange_does_not_know_the_key(bench, server):
    server["/2.3/search/excerpts"] = answer(
        {
            "error_id": 400,
            "error_name": "bad_parameter",
            "error_message": "`key` doesn't match a known application",
        },
        400,
    )
    error = await bench.error("stackexchange")
    assert isinstance(error, HttpStatus)
    assert "web.providers.stackexchange.api_key_env" in error.hint


async def test_github(bench, server):
    server["/search/repositories"] = answer(
        {
            "total_count": 5000,
            "incomplete_results": False,
            "items": [
                {
                    "full_name": "owner/name",
                    "html_url": "https://github.com/owner/name",
                    "description": "About it",
                    "stargazers_count": 12,
                    "language": "Python",
                    "pushed_at": "2026-01-02T03:04:05Z",
                    "license": {"spdx_id": "MIT"},
                    "topics": ["a", "b"],
                    "archived": False,
                },
                {"full_name": "o/n", "html_url": "https://github.com/o/n", "license": None},
            ],
        }
    )
    page = await bench.page("github", "a word", freshness="month")
    assert page.results[0].extra == {
        "stars": 12,
        "language": "Python",
        "license": "MIT",
        "topics": ["a", "b"],
    }
    assert page.results[1].snippet == ""
    assert page.more
    assert not (await bench.page("github", page=50)).more
    sent = server.requested[0]
    assert re.fullmatch(r"a word pushed:>=\d{4}-\d\d-\d\d", sent.query["q"])
    assert sent.headers["accept"] == "application/vnd.github+json"
    assert "authorization" not in sent.headers


@pytest.mark.parametrize(
    ("script", "code", "after"),
    [
        (
            Answer("{}", 403, headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"}),
            "rate_limited",
            30,
        ),
        (
            answer({"message": "You have exceeded a secondary rate limit."}, 403, retry_after="60"),
            "rate_limited",
            60,
        ),
        (Answer("{}", 429, headers={"retry-after": "1"}), "rate_limited", 1),
        (answer({"message": "Bad credentials"}, 401), "http_status", None),
        (answer({"message": "Validation Failed"}, 422), "http_status", None),
    ],
)
async def test_github_refusals(bench, server, script, code, after):
    server["/search/repositories"] = script
    error = await bench.error("github")
    assert (error.code, error.details["retry_after"]) == (code, after)
    if error.details["status"] == 401:
        assert "web.providers.github.api_key_env" in error.hint
        assert "GITHUB_TOKEN" in error.hint


@pytest.mark.parametrize(
    ("name", "path", "body"),
    [
        ("github", "/search/repositories", {"items": []}),
        ("stackexchange", "/2.3/search/excerpts", {"items": []}),
        ("openalex", "/works", {"results": []}),
    ],
)
async def test_an_optional_key_is_sent_only_where_it_is_configured(
    bench, server, monkeypatch, name, path, body
):
    provider = bench.services.use(Providers).named(name)
    monkeypatch.setenv(provider.key_env, "never-named")
    server[path] = answer(body)
    await bench.page(name)
    assert "never-named" not in repr(bench.sent)
    config = ProviderConfig(base_url=server.url, api_key_env="TEST_KEY")
    from toolcrib.web.provider import SearchRequest

    await provider.search(SearchRequest("q"), ProviderClient(provider, config, bench.ctx))
    carried = [*bench.sent.headers.values(), *bench.sent.query.values()]
    assert KEY in carried or f"Bearer {KEY}" in carried


async def test_hackernews(bench, server):
    server["/api/v1/search"] = answer(
        {
            "hits": [
                {
                    "objectID": "41",
                    "title": "One &amp; two",
                    "url": "https://blog.example.org/?a=b%26c",
                    "points": 10,
                    "num_comments": 3,
                    "author": "ann",
                    "created_at": "2026-01-02T03:04:05Z",
                },
                {
                    "objectID": "42",
                    "title": "Ask HN: why?",
                    "url": None,
                    "story_text": "<p>Because &#x27;x&#x27;</p>",
                    "points": 1,
                },
            ],
            "nbPages": 3,
            "page": 0,
        }
    )
    page = await bench.page("hackernews", "word", freshness="day")
    first, second = page.results
    assert (first.title, first.url) == ("One & two", "https://blog.example.org/?a=b%26c")
    assert first.snippet == "10 points, 3 comments"
    assert first.extra["discussion"] == "https://news.ycombinator.com/item?id=41"
    assert second.url == "https://news.ycombinator.com/item?id=42"
    assert second.snippet == "Because 'x'"
    assert page.more
    sent = bench.sent.query
    assert re.fullmatch(r"created_at_i>\d+", sent["numericFilters"])
    assert (sent["tags"], sent["hitsPerPage"]) == ("story", "20")
    assert not (await bench.page("hackernews", page=3)).more
    assert len(await bench.results("hackernews", site="example.org")) == 1
    assert len(await bench.results("hackernews", site="news.ycombinator.com")) == 1


async def test_openalex(bench, server):
    server["/works"] = answer(
        {
            "meta": {"count": 41},
            "results": [
                {
                    "id": "https://openalex.org/W1",
                    "doi": "https://doi.org/10.1/a%3Cb%3E",
                    "display_name": "On <i>x</i>",
                    "publication_date": "2026-01-02",
                    "abstract_inverted_index": {"We": [0], "show": [1, 3], "that": [2], "odd": "x"},
                    "authorships": [{"author": {"display_name": "Ann"}}, "odd", {}],
                    "primary_location": {"source": {"display_name": "Journal"}},
                    "open_access": {"oa_url": "https://example.org/p.pdf"},
                    "cited_by_count": 9,
                    "type": "article",
                },
                {"id": "https://openalex.org/W2", "display_name": "Two", "authorships": None},
            ],
        }
    )
    page = await bench.page("openalex", "word", page=2, freshness="year", region="de-DE")
    first, second = page.results
    assert (first.title, first.url) == ("On x", "https://doi.org/10.1/a%3Cb%3E")
    assert first.snippet == "We show that show"
    assert first.extra == {
        "authors": ["Ann"],
        "journal": "Journal",
        "pdf": "https://example.org/p.pdf",
        "cited": 9,
        "type": "article",
    }
    assert second.url == "https://openalex.org/W2"
    assert page.more
    assert re.fullmatch(
        r"from_publication_date:\d{4}-\d\d-\d\d,language:de", bench.sent.query["filter"]
    )
    assert "api_key" not in bench.sent.query
    server["/works"] = answer({"error": "Rate limit exceeded", "message": "slow"}, 403)
    assert (await bench.error("openalex")).code == "rate_limited"


PATHS = {
    "wikipedia": "/w/api.php",
    "arxiv": "/api/query",
    "stackexchange": "/2.3/search/excerpts",
    "github": "/search/repositories",
    "hackernews": "/api/v1/search",
    "openalex": "/works",
    "searxng": "/search",
}


@pytest.mark.parametrize("name", OPEN)
async def test_what_they_have_in_common(bench, server, name):
    assert not bench.services.use(Providers).named(name).needs_key
    server[PATHS[name]] = Answer("", 429, headers={"Retry-After": "7"})
    error = await bench.error(name)
    assert (error.code, error.details["retry_after"]) == ("rate_limited", 7)
    server[PATHS[name]] = Answer("<h1>Oh</h1>", 500)
    assert (await bench.error(name)).code == "http_status"
    for body in ("[1]", "{", "", '{"a": 1}', "<a>"):
        server[PATHS[name]] = Answer(body, kind="application/json")
        assert (await bench.error(name)).code == "unavailable"
