# ruff: noqa: RUF001 - texts in many scripts
"""`ask_url`: passages of one page for a question, or an honest no."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from toolcrib.core.result import Result
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C034", "E52")

SECTIONS = {
    "Growing": "Seeds are sown in March under glass and kept at eighteen degrees.",
    "Pruning": "Side shoots are pinched out every week, and the top is cut after five trusses.",
    "Watering": "Water in the morning, and never on the leaves: wet leaves bring blight.",
    "Blight": "Brown spots spread within days. Remove the plant at once and do not compost it.",
    "Harvest": "A ripe fruit comes off at the joint when it is lifted. Green ones ripen indoors.",
}
FILLER = (
    "<p>Paragraph {n} of section {s} tells a story about the village garden show of {y}, who "
    "won it, who came late, and why the marquee fell down in the afternoon.</p>"
)
PAGE = (
    "<!doctype html><title>Tomatoes</title><main><h1>Tomatoes</h1>"
    + "".join(
        f"<h2>{title}</h2>"
        + "".join(FILLER.format(n=n, s=s, y=1900 + 12 * s + n) for n in range(12))
        + f"<p>{text}</p>"
        for s, (title, text) in enumerate(SECTIONS.items())
    )
    + "<h2>Yield</h2><table><tr><th>Sort</th><th>Kilograms</th></tr>"
    + "<tr><td>Moneymaker</td><td>4.5</td></tr><tr><td>Sungold</td><td>3.2</td></tr></table>"
    + "</main>"
)


@pytest.fixture
def page(server) -> str:
    server["/tomatoes"] = Answer(PAGE)
    return f"{server.url}/tomatoes"


async def ask(box: Toolbox, url: str, question: str) -> Result:
    return await box.call("ask_url", {"url": url, "question": question})


def code(result: Result) -> str | None:
    return result.error.code if result.error else None


@pytest.mark.parametrize(
    ("question", "heading", "answer"),
    [
        ("What should I do about blight?", "Blight", "Remove the plant at once"),
        ("When is the best time to water?", "Watering", "Water in the morning"),
        ("how many kilograms does Sungold give", "Yield", "| Sungold | 3.2 |"),
        ("At how many degrees are the seeds kept?", "Growing", "eighteen degrees"),
    ],
)
async def test_the_passage_that_answers(box, page, question, heading, answer):
    result = await ask(box, page, question)
    assert code(result) is None
    assert result.data["answered"] is True
    best = [p for p in result.data["passages"] if answer in p["text"]]
    assert best, result.text
    assert best[0]["headings"] == ["Tomatoes", heading]
    assert f"[offset {best[0]['offset']}, Tomatoes > {heading}]" in result.text
    assert estimate(result.text) < estimate(PAGE) / 3
    assert result.text.count("Tomatoes\n") == 1


async def test_it_comes_in_the_order_of_the_page_and_reads_on(box, page):
    result = await ask(box, page, "ripe fruit or wet leaves")
    offsets = [p["offset"] for p in result.data["passages"]]
    assert offsets == sorted(offsets)
    assert len(offsets) > 1
    for passage in result.data["passages"]:
        read = await box.call(passage["next"]["tool"], passage["next"]["arguments"])
        assert read.data["pages"][0]["content"].startswith(passage["text"])
    assert result.next.arguments["url"] == page


@pytest.mark.parametrize(
    ("question", "near"),
    [
        ("Who invented the jet engine?", False),
        ("Wie wird das Wetter?", False),
        ("What is the population of Monaco in the morning?", True),
    ],
)
async def test_a_page_that_does_not_answer_says_so(box, page, question, near):
    result = await ask(box, page, question)
    assert code(result) is None
    assert result.data["answered"] is False
    assert "No passage of this page answers that." in result.text
    assert "Not on the page: '" in result.text
    assert "Its headings:\nTomatoes (offset 0)\n  Growing (offset" in result.text
    assert ("Its start:\n# Tomatoes" in result.text) is not near
    assert ("What comes nearest:" in result.text) is near
    assert ("Water in the morning" in result.text) is near
    assert result.next.tool == "fetch_url"
    read = await box.call(result.next.tool, result.next.arguments)
    first = read.data["pages"][0]
    assert near or first["offset"] == len(result.data["start"])
    assert not near or "Water in the morning" in first["content"]


async def test_a_word_that_the_page_lacks_is_named(box, page):
    result = await ask(box, page, "watering in the morning with rainwater zeppelins")
    assert result.data["answered"] is True
    assert "Not on the page: 'rainwater', 'zeppelins'." in result.text


async def test_a_short_page_is_given_whole(box, server):
    server["/short"] = Answer("<title>Short</title><h1>Short</h1><p>One.</p><p>Two.</p>")
    result = await ask(box, f"{server.url}/short", "anything else?")
    assert "The whole page:\n\n# Short\n\nOne.\n\nTwo." in result.text
    assert (result.data["whole"], result.truncated, result.next) == (True, False, None)


async def test_the_page_is_fetched_once_for_all_questions(box, server, page):
    for question in ("blight", "harvest", "seeds"):
        await ask(box, page, question)
    await box.call("fetch_url", {"url": page})
    assert server.count("/tomatoes") == 1


async def test_the_budget_is_kept(settings, page):
    config = settings()
    config["web"]["research"] = {"max_tokens": 300}
    async with Toolbox(config=config) as box:
        for question in ("garden show marquee", "Who invented the jet engine?"):
            result = await ask(box, page, question)
            assert code(result) is None
            assert estimate(result.render()) <= 300


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"url": "", "question": "x"}, "bad_input"),
        ({"url": "https://example.org/", "question": " "}, "bad_input"),
        ({"url": "https://example.org/"}, "bad_input"),
        ({"url": "http://127.0.0.1/", "question": "x"}, "blocked_address"),
        ({"url": "file:///etc/passwd", "question": "x"}, "blocked_scheme"),
    ],
)
async def test_bad_arguments(settings, arguments, expected):
    async with Toolbox(config=settings(allow=False)) as box:
        result = await box.call("ask_url", arguments)
    assert code(result) == expected
    assert result.error.hint


async def test_what_the_server_says_comes_through(box, server):
    server["/gone"] = Answer("gone", 410, "text/plain")
    assert code(await ask(box, f"{server.url}/gone", "x")) == "http_status"


@pytest.mark.parametrize("name", ["rag_web_content", "query_url", "ask_page"])
async def test_the_names_that_others_gave_it(box, page, name):
    result = await box.call(name, {"link": page, "query": "blight"})
    assert code(result) is None
    assert "Remove the plant" in result.text


async def test_japanese(box, server):
    body = "".join(f"<p>第{n}章では市場の歴史と魚の値段について述べる。</p>" * 12 for n in range(9))
    server["/ja"] = Answer(f"<title>市場</title>{body}<p>駐車場は北門の外にあり、無料です。</p>")
    result = await ask(box, f"{server.url}/ja", "駐車場はどこにありますか？")
    assert result.data["answered"] is True
    assert "北門の外" in result.text


async def test_an_old_copy_says_so(box, server, page, grow_older):
    await ask(box, page, "blight")
    grow_older(3600)
    server["/tomatoes"] = Answer("", 503)
    result = await ask(box, page, "blight")
    assert (result.data["cached"], result.data["stale"]) == (True, True)
    assert "old copy: reading it anew failed" in result.text


async def test_comments_of_a_program_are_no_headings(box, server):
    source = "".join(
        f"# comment {n}\nvalue_{n} = {n} * 3 + len(names[{n}])\n\n" for n in range(300)
    )
    server["/x.py"] = Answer(source, kind="text/plain")
    given = {"url": f"{server.url}/x.py", "question": "zebra crossing?"}
    result = await box.call("ask_url", given)
    assert result.data["answered"] is False
    assert result.data["outline"] == []


async def test_a_page_without_text_says_so_once(box, server):
    server["/app"] = Answer("<title>App</title><div id=root></div><script>x()</script>")
    result = await box.call("ask_url", {"url": f"{server.url}/app", "question": "dogs"})
    assert result.error is None
    assert result.text.count("has no text") + result.text.count("this is all it has") == 1
