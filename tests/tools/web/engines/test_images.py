"""Images of Bing and of DuckDuckGo."""

from __future__ import annotations

import json
from html import escape

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.engines.forms import page
from toolcrib.core.errors import ChallengePage, RateLimited, Unavailable


def tile(data: object, size: str = "") -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    info = f'<div class="img_info"><span class="nowrap">{size} · jpeg</span></div>' if size else ""
    return (
        f'<li><div class="iuscp"><a class="iusc" m="{escape(text)}" href="#"></a>{info}</div></li>'
    )


def image(name: str, **more: object) -> dict[str, object]:
    data: dict[str, object] = {"murl": f"https://i.example/{name}", "t": f"Title {name}"}
    return {**data, "purl": f"https://p.example/{name}.html", "turl": "https://t.example/1", **more}


def tiles(*items: str) -> Answer:
    return Answer(page("q - Images", f'<ul class="dgControl_list">{"".join(items)}</ul>'))


@pytest.mark.rows("A10")
async def test_tiles_of_bing(look):
    found = await look(
        "bing_images",
        tiles(
            tile(image("a%26b.jpg?w=1%2F2"), "1200 x 800"),
            tile("{not json"),
            tile("[1, 2]"),
            tile("null"),
            tile(image("b.PNG", t=None, purl="javascript:x", turl=7)),
            tile({"murl": 5}),
            tile({"t": "nothing"}),
            tile(image("a%26b.jpg?w=1%2F2", t="again")),
        ),
    )
    assert [(r.url, r.title, r.extra) for r in found.results] == [
        (
            "https://i.example/a%26b.jpg?w=1%2F2",
            "Title a%26b.jpg?w=1%2F2",
            {
                "page": "https://p.example/a%26b.jpg?w=1%2F2.html",
                "thumbnail": "https://t.example/1",
                "width": 1200,
                "height": 800,
            },
        ),
        ("https://i.example/b.PNG", "", {"page": "", "thumbnail": ""}),
    ]
    assert not found.more


@pytest.mark.rows("A10")
async def test_only_addresses_of_images_that_can_be_shown(look):
    good = ["a.jpg", "a.jpeg", "a.png", "a.gif", "a.webp", "a.svg", "a.JPG?x=1", "a.png#x"]
    bad = ["a.bmp", "a.html", "a", "a.jpg/page", "a.php?f=a.jpg", "a.tiff"]
    found = await look("bing_images", tiles(*(tile(image(name)) for name in [*bad, *good])))
    assert [r.url for r in found.results] == [f"https://i.example/{name}" for name in good]


@pytest.mark.rows("A11", "A03")
@pytest.mark.parametrize(("number", "first"), [(1, "1"), (2, "36"), (3, "71")])
async def test_pages_of_bing_are_35_apart(look, server, number, first):
    full = tiles(*(tile(image(f"{n}.jpg")) for n in range(35)))
    found = await look("bing_images", full, page=number, safe_search="strict", freshness="day")
    assert len(found.results) == 35
    assert found.more
    sent = server.requested[0]
    assert sent.query["first"] == first
    assert sent.query["adlt"] == "strict"
    assert sent.query["form"]
    assert sent.query["qft"] == "+filterui:age-lt1440"
    assert sent.headers["referer"] == f"{server.url}/"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (page("q", '<div class="captcha">One last step</div>'), ChallengePage),
        (page("q", "<p>Hello</p>"), Unavailable),
    ],
)
async def test_refusals_of_bing(look, body, error):
    with pytest.raises(error):
        await look("bing_images", Answer(body))


async def test_no_images_of_bing(look):
    body = page("q", '<div id="b_content"><div id="no_results">There are no results</div></div>')
    assert (await look("bing_images", Answer(body))).results == ()


HOME = Answer(page("q at DuckDuckGo", "<script>vqd='4-1234-5';DDG.ready(x)</script>"))


def found_by_duck(*items: object, following: str = "") -> Answer:
    answer = {"results": list(items), "next": following}
    return Answer(json.dumps(answer), kind="application/x-javascript")


async def test_images_of_duckduckgo(look, server):
    server["/"] = HOME
    one = {"image": "https://i.example/a%26b.jpg", "title": "A  b", "url": "https://p.example/"}
    one |= {"thumbnail": "https://t.example/", "width": 10, "height": 20, "source": "Bing"}
    found = await look(
        "duckduckgo_images",
        found_by_duck(one, one, {"image": 5}, 7, following="i.js?q=q&s=100&vqd=x"),
        region="de-DE",
        safe_search="strict",
        freshness="week",
    )
    (result,) = found.results
    assert (result.url, result.title) == ("https://i.example/a%26b.jpg", "A b")
    known = {"page": "https://p.example/", "thumbnail": "https://t.example/"}
    assert result.extra == {**known, "width": 10, "height": 20}
    sent = server.requested[-1]
    wanted = {"vqd": "4-1234-5", "l": "de-de", "p": "1", "o": "json", "f": "time:Week,,,,,"}
    assert sent.query.items() >= wanted.items()
    assert sent.headers["referer"] == f"{server.url}/"
    assert found.cursor == {"vqd": "4-1234-5", "s": "100"}
    await look("duckduckgo_images", page=2, cursor=found.cursor)
    assert server.count("/") == 1
    assert server.requested[-1].query["s"] == "100"


@pytest.mark.rows("S8.7")
@pytest.mark.parametrize(
    ("home", "answer", "error"),
    [
        (Answer("<html></html>"), None, Unavailable),
        (Answer('<form id="challenge-form"></form>', 202), None, ChallengePage),
        (HOME, Answer("Forbidden", 403), ChallengePage),
        (HOME, Answer("", 202), ChallengePage),
        (HOME, Answer("slow down", 429), RateLimited),
        (HOME, Answer("{}", kind="application/json"), Unavailable),
        (HOME, Answer("<html>", kind="text/html"), Unavailable),
    ],
)
async def test_refusals_of_duckduckgo(look, server, home, answer, error):
    server["/"] = home
    with pytest.raises(error):
        await look("duckduckgo_images", answer)


async def test_no_images_of_duckduckgo(look, server):
    server["/"] = HOME
    assert (await look("duckduckgo_images", found_by_duck())).results == ()
