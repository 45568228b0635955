"""Nothing found, a captcha, consent, scripts, too often, an unknown page: each its own."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer, scripted
from tests.tools.web.engines.forms import ENGINES, FORMS, HITS, LITE_FORM, bing, page
from toolcrib.core.errors import (
    BadInput,
    Blocked,
    ChallengePage,
    HttpStatus,
    RateLimited,
    ToolError,
    Unavailable,
)

WEB = sorted(FORMS)

NOTHING = {
    "bing": page(
        "zzz - Search",
        '<ol id="b_results"><li class="b_no"><h1>There are no results for <strong>zzz</strong></h1>'
        "<ul><li>Check your spelling</li></ul></li></ol>",
    ),
    "brave_html": page(
        "zzz - Brave Search",
        '<div id="results"><div class="snippet standalone" id="no-results">'
        "<h3>Not many great matches came back for your search</h3></div></div>",
    ),
    "duckduckgo": page(
        "zzz at DuckDuckGo",
        '<div class="serp__results"><div id="links"><div class="result results_links '
        'result--no-result"><div class="no-results">No results found for <b>zzz</b></div></div>'
        "</div></div>",
    ),
    "duckduckgo_lite": page("zzz", LITE_FORM + "<table><tr><td>No results.</td></tr></table>"),
    "google": page(
        "zzz - Google Search",
        '<div id="res"><div id="topstuff"><div class="card-section"><p>Your search - <b>zzz</b> - '
        "did not match any documents.</p></div></div><div id='search'></div></div>",
    ),
    "mojeek": page(
        "zzz - Mojeek Search",
        '<div class="serp-results"><div class="top-info"><p>No pages found matching <strong>zzz'
        "</strong></p></div></div>",
    ),
    "startpage": page(
        "Startpage",
        '<section id="main"><div class="show-results"><p>Sorry, there are no web results for this '
        "search.</p></div></section>",
    ),
    "yahoo": page(
        "zzz - Yahoo Search",
        '<div id="web"><ol><li><div class="dd zrp"><div class="compText"><p>We did not find '
        "results for: <b>zzz</b>.</p></div></div></li></ol></div>",
    ),
}

ANOMALY = page(
    "DuckDuckGo",
    '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&amp;cc=botnet">'
    '<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form>',
)
SORRY = page(
    "https://www.google.com/search?q=q",
    '<form id="captcha-form" action="index" method="post"><div class="g-recaptcha"></div></form>'
    "<p>Our systems have detected unusual traffic from your computer network.</p>",
)
CAPTCHAS = [
    ("duckduckgo", Answer(ANOMALY, 202)),
    ("duckduckgo", Answer(ANOMALY)),
    ("duckduckgo", Answer("<html></html>", 202)),
    (
        "duckduckgo",
        Answer(
            page("q", '<div id="links"></div><form action="//duckduckgo.com/anomaly.js"></form>')
        ),
    ),
    (
        "duckduckgo",
        Answer("If this error persists, please let us know: error-lite@duckduckgo.com", 403),
    ),
    ("duckduckgo_lite", Answer(ANOMALY.replace("sv=html", "sv=lite"), 202)),
    ("duckduckgo_lite", Answer(ANOMALY)),
    ("bing", Answer(page("Search", '<div class="captcha"><h1>One last step</h1></div>'))),
    ("bing", Answer(page("q", '<ol id="b_results"></ol><div id="cf-turnstile"></div>'))),
    (
        "bing",
        Answer(page("Bing", "<h1>Our systems have detected unusual traffic</h1>")),
    ),
    ("brave_html", Answer(page("PoW Captcha", '<a href="/help/pow-captcha">Why?</a>'), 429)),
    ("brave_html", Answer(page("Brave Search", "<p>Solve the challenge below to continue</p>"))),
    (
        "mojeek",
        Answer(
            page(
                "403 - Forbidden",
                "<h1>403 - Forbidden</h1><h2>Sorry your network appears to be sending automated "
                "queries so we cannot process your search at this time.</h2>",
            ),
            403,
        ),
    ),
    ("google", Answer(SORRY, 429)),
    ("google", Answer(SORRY)),
    (
        "startpage",
        Answer(
            page(
                "Startpage",
                '<script>window.___chunkMapping={"component---src-pages-captcha-js":["/c.js"]}'
                '</script><div id="___gatsby"></div>',
            )
        ),
    ),
    ("startpage", Answer(page("CAPTCHA Verification", "<p>suspicious activity</p>"))),
    ("startpage", Answer(page("Making sure", '<script id="anubis_challenge">{}</script>'))),
    ("yahoo", Answer(page("Yahoo", '<div class="g-recaptcha"></div>'))),
]


@pytest.mark.rows("S8.7")
@pytest.mark.parametrize("name", WEB)
async def test_a_page_without_results_is_empty(look, name):
    found = await look(name, Answer(NOTHING[name]), query="zzz")
    assert found.results == ()
    assert not found.more


@pytest.mark.rows("S8.7")
@pytest.mark.parametrize(("name", "answer"), CAPTCHAS)
async def test_a_captcha_is_no_empty_answer(look, name, answer):
    with pytest.raises(ChallengePage) as caught:
        await look(name, answer)
    error = caught.value
    assert error.details["kind"] == name.partition("_")[0]
    assert error.details["status"] == answer.status
    assert name in error.message
    assert "another provider" in error.hint


@pytest.mark.parametrize("name", WEB)
@pytest.mark.parametrize(("headers", "after"), [({"Retry-After": "37"}, 37), ({}, None)])
async def test_too_often(look, name, headers, after):
    with pytest.raises(RateLimited) as caught:
        await look(name, Answer("slow down", 429, headers=headers))
    assert caught.value.details["retry_after"] == after
    assert "another" in caught.value.hint


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (999, "Unable to process request at this time -- error 999"),
        (500, '<img src="https://s.yimg.com/sad-panda-201402200631.png">'),
        (200, page("Yahoo", "<p>Too Many Requests</p>")),
    ],
)
async def test_yahoo_says_too_often_in_its_own_ways(look, status, body):
    with pytest.raises(RateLimited):
        await look("yahoo", Answer(body, status))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "google",
            page(
                "Before you continue to Google Search",
                '<form action="https://consent.google.com/save"><input type="submit"></form>',
            ),
        ),
        ("google", page("Erst zu Google weitergehen", "<p>Cookies</p>")),
        (
            "yahoo",
            page(
                "Yahoo is part of the Yahoo family of brands",
                '<form class="consent-form" method="post"><button>Accept all</button></form>',
            ),
        ),
    ],
)
async def test_consent_is_named(look, name, body):
    with pytest.raises(ChallengePage) as caught:
        await look(name, Answer(body))
    assert caught.value.details["kind"] == f"{name}_consent"
    assert "consent" in caught.value.message


async def test_google_wants_scripts(look):
    body = page(
        "Google Search",
        '<noscript><meta http-equiv="refresh" content="0;url=/httpservice/retry/enablejs?sei=x">'
        "</noscript><script>var a;</script>",
    )
    with pytest.raises(ChallengePage) as caught:
        await look("google", Answer(body))
    assert caught.value.details["kind"] == "google_scripts"
    assert "scripts" in caught.value.message


@pytest.mark.parametrize(
    ("name", "place", "kind"),
    [
        ("google", "https://www.google.com/sorry/index?continue=x&q=y", "google"),
        ("google", "https://consent.google.com/ml?continue=x", "google_consent"),
        ("startpage", "https://www.startpage.com/sp/captcha-block?bc=US", "startpage"),
        ("startpage", "/en/errors/captcha", "startpage"),
        ("yahoo", "https://guce.yahoo.com/consent?gcrumb=x", "yahoo_consent"),
        ("yahoo", "https://consent.yahoo.com/v2/collectConsent?sessionId=x", "yahoo_consent"),
    ],
)
async def test_a_redirect_to_a_refusal_is_not_followed(look, server, name, place, kind):
    with pytest.raises(ChallengePage) as caught:
        await look(name, Answer("", 302, headers={"Location": place}))
    assert caught.value.details["kind"] == kind
    assert all(request.path in ("/", "/search", "/sp/search") for request in server.requested)


async def test_a_redirect_of_a_bang_is_not_taken_for_results(look):
    with pytest.raises(Unavailable, match="redirects to another page"):
        await look("duckduckgo", Answer("", 303, headers={"Location": "https://example.org/?q=q"}))


async def test_a_redirect_to_the_inside_is_refused(look):
    with scripted() as inner:
        with pytest.raises(ToolError) as caught:
            await look("bing", Answer("", 302, headers={"Location": f"{inner.url}/secret"}))
        assert isinstance(caught.value, Blocked | Unavailable)
        assert inner.requested == []


async def test_a_redirect_at_home_is_followed(look, server):
    server["/moved"] = Answer(bing(HITS))
    found = await look("bing", Answer("", 302, headers={"Location": "/moved?q=tool"}))
    assert len(found.results) == len(HITS)


@pytest.mark.parametrize("name", WEB)
@pytest.mark.parametrize(
    "answer",
    [
        Answer("<html><body>Hello</body></html>"),
        Answer(""),
        Answer(b"\xff\x00\x01" * 100, kind="image/png"),
        Answer(page("q", "<div class='new'><h4><a href='https://e.org/'>T</a></h4></div>" * 9)),
    ],
    ids=["hello", "nothing", "noise", "renamed"],
)
async def test_an_unknown_page_is_an_error(look, name, answer):
    with pytest.raises(Unavailable) as caught:
        await look(name, answer)
    assert caught.value.details["provider"] == name
    assert "another provider" in caught.value.hint


@pytest.mark.parametrize("name", WEB)
async def test_other_statuses_stay_what_they_are(look, name):
    with pytest.raises(HttpStatus) as caught:
        await look(name, Answer("<h1>Oops</h1>", 503))
    assert caught.value.details["status"] == 503


async def test_a_long_page_of_an_unknown_form_is_not_believed(look):
    filler = "<p>Words about this and that, and more of them.</p>" * 100
    reported = f"{filler}<p>No results found. Unusual traffic. Too many requests.</p>"
    with pytest.raises(Unavailable):
        await look("bing", Answer(page("q", f'<div id="b_content">{reported}</div>')))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "bing",
            bing(HITS).replace(
                '<ol id="b_results">', '<ol id="b_results"><li class="b_no">No</li>'
            ),
        ),
        (
            "google",
            page(
                "q",
                '<div id="topstuff"><p>No results found for <b>"zzz yyy"</b>.</p></div><div '
                'id="search"><div class="g"><a href="https://e.org/"><h3>zzz</h3></a></div></div>',
            ),
        ),
    ],
)
async def test_results_for_other_words_are_no_results(look, name, body):
    assert (await look(name, Answer(body))).results == ()


async def test_a_puzzle_laid_over_results_hides_nothing(look):
    over = '<dialog open><a href="/help/pow-captcha">I am not a robot</a></dialog>'
    body = FORMS["brave_html"][0](HITS).replace("<body>", f"<body>{over}")
    assert len((await look("brave_html", Answer(body))).results) == len(HITS)


@pytest.mark.parametrize("name", sorted(ENGINES))
async def test_a_query_that_is_too_long_is_not_sent(look, server, name):
    with pytest.raises(BadInput, match="at most"):
        await look(name, query="x" * (ENGINES[name].max_chars + 1))
    assert server.requested == []


async def test_the_limit_holds_for_what_is_sent(look, server):
    with pytest.raises(BadInput):
        await look("duckduckgo", query="!" + "x" * 498)
    with pytest.raises(BadInput):
        await look("duckduckgo", query="x" * 490, site="example.org")
    assert server.requested == []
