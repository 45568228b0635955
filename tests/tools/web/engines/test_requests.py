"""What is sent: words, pages, periods, safe search, region, and the marks of a browser."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.engines import forms

FIRST = {name: Answer(each[0](forms.HITS)) for name, each in forms.FORMS.items()}


@pytest.mark.parametrize("name", sorted(forms.FORMS))
async def test_a_request_looks_like_one_of_a_browser(look, server, name):
    await look(name, FIRST[name])
    sent = server.requested[-1]
    assert sent.path == forms.PATHS[name]
    assert sent.headers["referer"] == f"{server.url}/"
    assert sent.headers["sec-fetch-mode"] == "navigate"
    assert sent.headers["sec-fetch-site"] == "same-origin"
    assert ("origin" in sent.headers) == (sent.method == "POST")


@pytest.mark.rows("B06", "A02", "A03")
@pytest.mark.parametrize(
    ("options", "form", "cookie"),
    [
        ({}, {"q": "tool crib", "b": "", "kl": "wt-wt", "p": "", "df": ""}, ""),
        ({"safe_search": "strict"}, {"p": "1"}, "p=1"),
        ({"safe_search": "off"}, {"p": "-1"}, "p=-2"),
        ({"freshness": "week", "site": "e.org"}, {"q": "tool crib site:e.org", "df": "w"}, "df=w"),
        ({"region": "de-DE"}, {"kl": "de-de"}, "kl=de-de"),
        ({"region": "en-US"}, {"kl": "us-en"}, "kl=us-en"),
        ({"region": "en-GB"}, {"kl": "uk-en"}, "kl=uk-en"),
        ({"region": "ja-JP"}, {"kl": "jp-jp"}, "kl=jp-jp"),
        ({"region": "de-CH"}, {"kl": "ch-de"}, "kl=ch-de"),
        ({"region": "fr"}, {"kl": "fr-fr"}, "kl=fr-fr"),
        ({"region": "sv"}, {"kl": "se-sv"}, "kl=se-sv"),
        ({"region": "xx-XX"}, {"kl": "wt-wt"}, ""),
        ({"query": "!w python hello! a!b"}, {"q": '"!w" python "hello!" a!b'}, ""),
    ],
)
@pytest.mark.parametrize("name", ["duckduckgo", "duckduckgo_lite"])
async def test_duckduckgo(look, server, name, options, form, cookie):
    await look(name, FIRST[name], **options)
    sent = server.requested[0]
    assert sent.method == "POST"
    assert sent.form.items() >= form.items()
    if name == "duckduckgo" or "p=" not in cookie:
        assert sent.headers.get("cookie", "") == cookie


@pytest.mark.parametrize(("name", "vqd"), [("duckduckgo", "4-123"), ("duckduckgo_lite", "4-123")])
async def test_the_next_page_of_duckduckgo_needs_the_form_of_the_one_before(
    look, server, name, vqd
):
    first = await look(name, FIRST[name])
    assert first.more
    await look(name, page=2, cursor=first.cursor)
    sent = server.requested[-1].form
    assert (sent["s"], sent["vqd"]) == ("10", vqd)
    assert "b" not in sent


@pytest.mark.parametrize(("page", "offset"), [(2, "10"), (3, "25"), (4, "40")])
async def test_pages_of_duckduckgo_without_that_form(look, server, page, offset):
    await look("duckduckgo", FIRST["duckduckgo"], page=page)
    sent = server.requested[0].form
    assert (sent["s"], sent["dc"]) == (offset, str(int(offset) + 1))
    assert "b" not in sent


@pytest.mark.parametrize(
    ("name", "options", "sent", "cookies"),
    [
        ("bing", {"safe_search": "strict"}, {"q": "tool crib", "adlt": "strict"}, ""),
        ("bing", {"freshness": "week"}, {"filters": 'ex1:"ez2"'}, ""),
        ("bing", {"page": 3}, {"first": "21", "FORM": "PERE1"}, ""),
        ("bing", {"region": "de-DE"}, {"cc": "DE", "setlang": "de"}, "_EDGE_S=mkt=de-de"),
        ("brave_html", {"freshness": "month", "page": 2}, {"tf": "pm", "offset": "1"}, ""),
        ("brave_html", {"safe_search": "off"}, {"q": "tool crib"}, "safesearch=off"),
        ("brave_html", {"region": "fr-FR"}, {}, "country=fr"),
        ("mojeek", {"safe_search": "off", "page": 2}, {"safe": "0", "s": "11"}, ""),
        ("mojeek", {"region": "fr-FR"}, {"safe": "1"}, "lb=fr; arc=fr"),
        ("yahoo", {"freshness": "day", "page": 2}, {"p": "tool crib", "btf": "d", "b": "8"}, "sB="),
        ("yahoo", {"safe_search": "strict"}, {"vm": "r"}, "vm=r"),
        ("google", {"freshness": "year", "page": 3}, {"tbs": "qdr:y", "start": "20"}, ""),
        (
            "google",
            {"safe_search": "strict", "region": "de-DE"},
            {"safe": "active", "gl": "de"},
            "",
        ),
        ("google", {"region": "pt-BR"}, {"hl": "pt", "lr": "lang_pt"}, "CONSENT="),
    ],
)
async def test_options(look, server, name, options, sent, cookies):
    await look(name, FIRST[name], **options)
    requested = server.requested[-1]
    assert requested.query.items() >= sent.items()
    assert cookies in requested.headers.get("cookie", "")


async def test_the_first_page_of_mojeek_has_no_offset(look, server):
    await look("mojeek", FIRST["mojeek"])
    assert "s" not in server.requested[0].query


async def test_since_is_a_day(look, server):
    await look("mojeek", FIRST["mojeek"], freshness="week")
    since = server.requested[0].query["since"]
    assert len(since) == 8
    assert since.isdigit()


@pytest.mark.parametrize(
    ("name", "cursor"),
    [
        ("bing", {"first": "11"}),
        ("brave_html", {"offset": "1"}),
        ("google", {"start": "10"}),
        ("mojeek", {"s": "11"}),
        ("yahoo", {"b": "8", "pz": "7", "bct": "0", "xargs": "0"}),
    ],
)
async def test_the_page_tells_how_the_next_one_is_asked_for(look, server, name, cursor):
    each = forms.FORMS[name][1] if name == "google" else forms.FORMS[name][0]
    first = await look(name, Answer(each(forms.HITS)))
    assert first.more
    assert first.cursor == cursor
    await look(name, page=2, cursor=first.cursor)
    assert server.requested[-1].query.items() >= cursor.items()


@pytest.mark.parametrize(
    ("name", "form"),
    [("brave_html", forms.brave_2022), ("bing", forms.bing_rendered), ("yahoo", None)],
)
async def test_without_a_link_to_a_next_page_there_is_none(look, name, form):
    body = form(forms.HITS) if form else forms.yahoo(forms.HITS).replace('class="next"', "")
    assert not (await look(name, Answer(body))).more


async def test_startpage_posts_the_form_of_its_home(look, server):
    home = """<form id="search" action="/sp/search" method="post"><input type="hidden" name="sc"
      value="abc123"><input type="hidden" name="lui" value="english"><input name="query"></form>"""
    server["/"] = Answer(forms.page("Startpage", home))
    found = await look(
        "startpage",
        FIRST["startpage"],
        freshness="month",
        safe_search="strict",
        region="de-DE",
    )
    sent = server.requested[-1]
    wanted = {"query": "tool crib", "sc": "abc123", "qadf": "heavy", "with_date": "m"}
    assert sent.method == "POST"
    assert sent.form.items() >= {**wanted, "language": "deutsch", "qsr": "de_DE"}.items()
    assert found.cursor == {"query": "q", "sc": "abc", "page": "2"}
    await look("startpage", page=2, cursor=found.cursor)
    assert [request.path for request in server.requested] == ["/", "/sp/search", "/sp/search"]
    assert server.requested[-1].form.items() >= {"sc": "abc", "page": "2"}.items()


async def test_startpage_works_where_its_home_shows_no_form(look):
    assert (await look("startpage", FIRST["startpage"])).results


async def test_the_language_of_the_region_is_accepted(look, server):
    await look("bing", FIRST["bing"], region="de-DE")
    assert server.requested[0].headers["accept-language"] == "de-DE,de;q=0.9,en;q=0.6"
    await look("bing", FIRST["bing"], region="en-GB")
    assert server.requested[1].headers["accept-language"] == "en-GB,en;q=0.9"
