"""Every known form of every page: all results, exact addresses, no ads, no wrappers."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.engines import forms

ALL = [pytest.param(n, f, id=f"{n}-{f.__name__}") for n, fs in forms.FORMS.items() for f in fs]


@pytest.mark.rows("A04", "X8", "X13", "C030", "E50")
@pytest.mark.parametrize(("name", "form"), ALL)
async def test_every_result_and_nothing_else(look, name, form):
    found = await look(name, Answer(form(forms.HITS)))
    assert [(r.title, r.url, r.snippet) for r in found.results] == forms.HITS


@pytest.mark.parametrize(("name", "form"), ALL)
async def test_wrapped_or_not(look, name, form):
    wrap = forms.WRAPS.get(name, forms.same)
    for each in (wrap, forms.same):
        found = await look(name, Answer(form(forms.HITS, each)))
        assert [r.url for r in found.results] == forms.EXACT


@pytest.mark.parametrize(("name", "form"), ALL)
async def test_an_address_counts_once_and_the_first_stays(look, name, form):
    hits = [forms.HITS[0], ("Again", forms.HITS[0][1], "x"), forms.HITS[1]]
    found = await look(name, Answer(form(hits)))
    assert [r.title for r in found.results] == [forms.HITS[0][0], forms.HITS[1][0]]


@pytest.mark.parametrize(("name", "form"), ALL)
async def test_results_about_captchas_and_nothing_are_results(look, name, form):
    hits = [
        ("Unusual traffic: what to do about captchas", "https://example.org/1", "Not a robot."),
        ("No results found", "https://example.org/2", "Too many requests: there are no results."),
    ]
    found = await look(name, Answer(form(hits)))
    assert [(r.title, r.url, r.snippet) for r in found.results] == hits


@pytest.mark.parametrize(
    ("reply", "date", "text"),
    [
        ("Mar 3, 2024 — Words", "Mar 3, 2024", "Words"),
        ("14 Oct 2023 ... Words", "14 Oct 2023", "Words"),
        ("2 days ago · Words", "2 days ago", "Words"),
        ("2024-03-01 - Words", "2024-03-01", "Words"),
        ("Windows 2000 - Words", "", "Windows 2000 - Words"),
        ("12 Monkeys 1995 - Words", "", "12 Monkeys 1995 - Words"),
        ("May 2020 was warm", "", "May 2020 was warm"),
    ],
)
async def test_a_date_at_the_beginning_of_a_text(look, reply, date, text):
    found = await look("startpage", Answer(forms.startpage([("T", "https://example.org/", reply)])))
    assert (found.results[0].published, found.results[0].snippet) == (date, text)


async def test_a_date_beside_the_text(look):
    page = forms.duck([("T", "https://example.org/", "Words")]).replace(
        " example.org </a>", " example.org </a><span>&nbsp; 2026-01-30T00:00:00.0000000</span>"
    )
    found = await look("duckduckgo", Answer(page))
    assert found.results[0].published == "2026-01-30"
    page = forms.duck_react([("T", "https://example.org/", "Words")]).replace(
        '<div><span class="x">', '<div><span class="y">Aug 12, 2023</span><span class="x">'
    )
    found = await look("duckduckgo", Answer(page))
    assert (found.results[0].published, found.results[0].snippet) == ("Aug 12, 2023", "Words")


async def test_invisible_characters_are_gone(look):
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    page = forms.duck([(f"Ti{hidden}tle", "https://example.org/", f"Snip\u202epet{hidden}")])
    (found,) = (await look("duckduckgo", Answer(page))).results
    assert (found.title, found.snippet) == ("Title", "Snippet")


async def test_a_wrapper_that_cannot_be_undone_is_no_result(look):
    page = forms.bing([("T", "https://example.org/", "x")], lambda _: "/ck/a?!&p=1&u=a1!!!&ntb=1")
    page += (
        '<ol id="b_results"><li class="b_algo"><h2><a href="https://e.org/">Good</a></h2></li></ol>'
    )
    found = await look("bing", Answer(page))
    assert [r.url for r in found.results] == ["https://e.org/"]


async def test_a_page_may_be_nested_as_deep_as_it_likes(look):
    deep = "<i>" * 30_000 + "Title" + "</i>" * 30_000
    page = forms.mojeek([("T", "https://example.org/", "Words")]).replace(">T\n", f">{deep}\n")
    (found,) = (await look("mojeek", Answer(page))).results
    assert found.title.endswith("Title")
