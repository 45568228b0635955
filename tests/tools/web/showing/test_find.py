"""Finding in a page: words, phrases, expressions; what stands around them; nothing found."""

from __future__ import annotations

import random

import pytest

from tests.cases import each_case
from tests.servers.scripted import Answer
from toolcrib.core.errors import BadInput
from toolcrib.text.tokens import estimate
from toolcrib.tools.web.view.page_search import chunks_of, find, terms_of

pytestmark = pytest.mark.rows("A21", "A14")

SUBJECTS = ["harbour", "mountain", "orchard", "railway", "kitchen", "theatre", "glacier", "market"]


def filler(count: int, seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    return [
        f"Paragraph {n} speaks of the {rng.choice(SUBJECTS)} and its {rng.choice(SUBJECTS)}, "
        "at some length and without any hurry, as such paragraphs do."
        for n in range(count)
    ]


def long_page(*special: tuple[int, str], count: int = 400) -> str:
    paragraphs = filler(count)
    for place, text in special:
        paragraphs[place] = text
    parts = []
    for n, paragraph in enumerate(paragraphs):
        if n % 50 == 0:
            parts.append(f"<h2>Chapter {n // 50}</h2>")
        parts.append(paragraph if paragraph.startswith("<") else f"<p>{paragraph}</p>")
    return f"<title>Long</title><h1>Book</h1>{''.join(parts)}"


PAGE = long_page(
    (123, "The solar panel reached an efficiency of 23.5 % in Göteborg."),
    (256, "A <b>solar</b> <a href='/p'>panel</a> needs little care; écoles use them."),
    (371, "Contact: sales@panels.example or +49 30 1234567."),
)


def found(text: str, *terms: str) -> list[str]:
    given = terms_of(terms)
    finding = find(text, 0, len(text), given, lambda: None)
    return [text[c.start : c.end].strip() for c in (finding.chunks[n] for n in finding.ranked)]


@pytest.fixture
def page(server):
    server["/page"] = Answer(PAGE)
    return f"{server.url}/page"


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("solar panel", "efficiency of 23.5"),
        ("SOLAR PANELS", "efficiency of 23.5"),
        ("soalr panell efficiencey", "efficiency of 23.5"),
        ("goteborg", "Göteborg"),
        ("ecoles", "écoles"),
        ("efficient", "efficiency"),
        ('"solar panel needs"', "little care"),
        ("sales@panels.example", "Contact"),
        (r"/\+\d{2} \d+/", "Contact"),
        (r"/\bGöteborg\b/", "Göteborg"),
        (r"/[\w.]+@\w+/", "Contact"),
        ("/EFFICIENCY/", "efficiency"),
    ],
)
async def test_each_kind_of_term_finds_its_place(box, page, term, expected):
    result = await box.call("fetch_url", {"url": page, "find": [term], "max_tokens": 500})
    assert result.error is None
    reported = result.data["pages"][0]
    assert expected in reported["content"]
    assert reported["found"][0]["count"] >= 1
    assert estimate(result.text) <= 500


async def test_excerpts_name_their_place_and_reading_on_works_there(box, page):
    result = await box.call("fetch_url", {"url": page, "find": "efficiency", "max_tokens": 400})
    reported = result.data["pages"][0]
    [excerpt] = reported["excerpts"]
    assert excerpt["heading"] == "Book > Chapter 2"
    assert f"[from {excerpt['offset']}, under 'Book > Chapter 2']" in result.text
    there = await box.call("fetch_url", {"url": page, "offset": excerpt["offset"]})
    displayed = there.data["pages"][0]["content"]
    body = reported["content"].split("\n", 1)[1]
    assert displayed.startswith(body[:200])


async def test_excerpts_are_in_page_order_and_grow_around_what_was_found(box, page):
    arguments = {"url": page, "find": ["sales@panels.example", "efficiency"], "max_tokens": 900}
    reported = (await box.call("fetch_url", arguments)).data["pages"][0]
    first, second = reported["excerpts"]
    assert first["end"] < second["offset"]
    before, after = reported["content"].split("efficiency of 23.5")
    assert "Paragraph 122" in before
    assert "Paragraph 124" in after
    assert "Paragraph 120" in before  # more than the next neighbours, as there is room


async def test_a_page_that_fits_is_given_whole(server, box):
    server["/short"] = Answer("<h1>One</h1><p>alpha</p><p>beta</p>")
    result = await box.call("fetch_url", {"url": f"{server.url}/short", "find": ["beta"]})
    reported = result.data["pages"][0]
    assert reported["content"] == "# One\n\nalpha\n\nbeta"
    assert reported["found"] == [{"find": "beta", "count": 1}]
    assert "excerpts" not in reported


async def test_nothing_found_is_said_with_the_nearest_headings(box, page):
    result = await box.call("fetch_url", {"url": page, "find": ["chapter seven xylophones"]})
    assert result.error is None
    assert "Nothing on this page is like: chapter seven xylophones" in result.text or (
        "in part only" in result.text
    )
    nothing = await box.call("fetch_url", {"url": page, "find": ["qqqqzzzz", '"wx yz"']})
    assert nothing.error is None
    assert "Nothing on this page is like: qqqqzzzz, " in nothing.text
    assert "Chapter" in nothing.text
    assert dict(nothing.next.arguments) == {"url": page}
    assert estimate(nothing.text) < 400


async def test_places_that_do_not_fit_can_be_read_on(server, box):
    server["/many"] = Answer(
        long_page(*((n, f"<p>needle {n} {'hay ' * 30}</p>") for n in range(0, 400, 8)))
    )
    arguments = {"url": f"{server.url}/many", "find": ["/needle/"], "max_tokens": 700}
    seen: list[str] = []
    while True:
        result = await box.call("fetch_url", arguments)
        assert result.error is None
        assert estimate(result.text) <= 700
        content = result.data["pages"][0]["content"]
        seen += [word for n in range(400) if (word := f"needle {n} ") in content]
        if result.next is None:
            break
        assert result.next.tool == "fetch_url"
        arguments = dict(result.next.arguments)
        assert arguments["find"] == ["/needle/"]
    assert seen == [f"needle {n} " for n in range(0, 400, 8)]
    assert server.count("/many") == 1


@pytest.mark.parametrize(
    "expression", [r"(a+)+$", r"(.*)*x\d", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(\w+\s?)*\$"]
)
async def test_no_expression_hangs(server, box, expression):
    server["/aaa"] = Answer("a" * 500_000 + "\n\n" + "word " * 100_000, kind="text/plain")
    result = await box.call("fetch_url", {"url": f"{server.url}/aaa", "find": [f"/{expression}/"]})
    assert result.error is None


@pytest.mark.parametrize("expression", ["/(/", "/(?=a)b/", r"/(a)\1/", "/a{5000}/", "/[z-a]/"])
async def test_a_wrong_expression_is_told(box, page, expression):
    result = await box.call("fetch_url", {"url": page, "find": [expression]})
    assert result.error.code == "bad_input"
    assert "cannot be used" in result.error.message
    assert "slashes" in result.error.hint


def test_terms_are_bounded():
    with pytest.raises(BadInput):
        terms_of([f"term {n}" for n in range(11)])
    with pytest.raises(BadInput):
        terms_of(["x" * 301])
    assert terms_of(["", "  "]) == []


@each_case("text", ["", "one", "a\n\nb\n\n\n  \nc", "x" * 5000, "w. " * 3000, "\n\n"])
def test_chunks_are_the_whole_text(text):
    chunks = chunks_of(text, 0, len(text))
    assert "".join(text[c.start : c.end] for c in chunks) == text
    assert all(0 < c.end - c.start <= 1200 for c in chunks)


@each_case(
    ("text", "term", "count"),
    [
        ("東京は日本の首都です。\n\n大阪は都市です。", "日本の首都", 1),
        ("Привет, мир.\n\nИ ещё.", "привет мир", 1),
        ("Der Größte.\n\nStraße", "strasse", 1),
        ("the cat sat\n\nthe dog ran", "cat", 1),
        ("version 2.5.1\n\nversion 2.6", "2.5.1", 1),
        ("alpha\n\nbeta", "12", 0),
        ("“smart quotes” here\n\nnone", '"smart quotes"', 1),
        ("it costs 300 dollars\n\nit costs 301 dollars", "300", 1),
    ],
)
def test_terms_of_many_kinds(text, term, count):
    assert len(found(text, term)) == count


def test_the_best_comes_first():
    text = "efficiency alone\n\nsolar something\n\nsolar efficiency\n\nnothing"
    assert found(text, "solar efficiency")[0] == "solar efficiency"


def test_terms_take_turns():
    text = "\n\n".join([*(f"apple {n}" for n in range(20)), "one pear"])
    assert found(text, "apple", "pear")[1] == "one pear"


async def test_find_within_a_section(box, page):
    arguments = {"url": page, "find": ["paragraph"], "section": "chapter 5", "max_tokens": 600}
    reported = (await box.call("fetch_url", arguments)).data["pages"][0]
    assert reported["section"] == "Chapter 5"
    assert reported["found"][0]["count"] == 49
    assert "Paragraph 249" not in reported["content"]
    assert "Paragraph 300" not in reported["content"]


@pytest.mark.parametrize("name", ["findInPage", "find_in_page", "query", "search_terms"])
async def test_other_names_of_find(box, page, name):
    result = await box.call("visit_website", {"url": page, name: ["efficiency"]})
    assert "efficiency of 23.5" in result.text


def mossy(count: int = 80) -> str:
    parts = []
    for n in range(count):
        parts.append(
            f"<h2>{'Moss' if n % 2 else 'Acid'} number {n}</h2><p>In {n}: {filler(1, n)[0]}</p>"
        )
        parts.append(f"<p>{'acid' if n % 2 else 'moss'} place {n}. {filler(1, n)[0]}</p>")
        parts.append(f"<p>On {n}: {filler(1, n + 500)[0]}</p>")
    return f"<h1>Book</h1>{''.join(parts)}"


@pytest.mark.parametrize("budget", [150, 300, 800])
@pytest.mark.parametrize("find_it", [["moss", "acid"], ["moss"], ["acid place", "/Moss number/"]])
async def test_reading_on_shows_every_place_and_no_heading_alone(server, box, find_it, budget):
    server["/mossy"] = Answer(mossy())
    arguments = {"url": f"{server.url}/mossy", "find": find_it, "max_tokens": budget}
    whole = (await box.call("fetch_url", {"url": f"{server.url}/mossy", "max_tokens": 30_000})).data
    text = whole["pages"][0]["content"]
    finding = find(text, 0, len(text), terms_of(find_it), lambda: None)
    unseen = {finding.chunks[n] for n in finding.ranked}
    offsets = [-1]
    while True:
        result = await box.call("fetch_url", arguments)
        assert result.error is None
        assert estimate(result.text) <= budget
        [page] = result.data["pages"]
        displayed = [range(e["offset"], e["end"]) for e in page.get("excerpts", [page])]
        unseen = {c for c in unseen if not any(c.start in part for part in displayed)}
        for part in displayed:
            last = text[part.start : part.stop].strip().splitlines()[-1]
            assert not last.startswith("#") or part.stop == len(text)
        if result.next is None:
            break
        arguments = dict(result.next.arguments)
        assert arguments["offset"] > offsets[-1]
        offsets.append(arguments["offset"])
    assert not unseen


async def test_the_counts_fit_what_is_said(server, box):
    server["/mossy"] = Answer(mossy())
    arguments = {"url": f"{server.url}/mossy", "find": ["moss", "acid"], "max_tokens": 400}
    result = await box.call("fetch_url", arguments)
    text = result.text
    assert "Places found: moss 80, acid 80; " in text
    body = result.data["pages"][0]["content"].lower()
    displayed = int(text.split("acid 80; ")[1].split(" shown")[0])
    assert displayed == body.count("moss place") + body.count("acid place") + body.count("\n## ")
    later = await box.call("fetch_url", {**arguments, "offset": 20_000})
    assert "Places found from 20,000 on: moss " in later.text


async def test_a_place_at_the_very_start_is_not_passed_over(server, box):
    best = "moss acid together"
    weak = "moss alone. " * 40
    server["/start"] = Answer(
        "\n\n".join([weak, *(filler(40)), f"{best} {' '.join(filler(3))}"]), kind="text/plain"
    )
    arguments = {"url": f"{server.url}/start", "find": ["moss acid", "moss"], "max_tokens": 300}
    contents, offsets = [], []
    while True:
        result = await box.call("fetch_url", arguments)
        contents.append(result.data["pages"][0]["content"])
        if result.next is None:
            break
        arguments = dict(result.next.arguments)
        assert arguments.get("offset", 0) not in offsets
        offsets.append(arguments["offset"])
    assert any(best in content for content in contents)
    assert any("moss alone" in content for content in contents)


async def test_nearest_headings_are_named_once(server, box):
    details = "".join(f"<h2>Details</h2><p>{' '.join(filler(8, n))}</p>" for n in range(30))
    server["/twice"] = Answer(f"<h1>Book</h1>{details}")
    given = {"url": f"{server.url}/twice", "find": ["qqqqzzzz", '"wxwx yzyz"'], "max_tokens": 400}
    result = await box.call("fetch_url", given)
    assert result.text.count("Details") == 1


async def test_words_that_are_only_like_a_term_are_counted_by_themselves(box, server) -> None:
    topics = "".join(f"<p>Here topic{n % 8} is what it is about.</p>" for n in range(80))
    server["/topics"] = Answer(f"<title>T</title><h1>All</h1>{topics}")
    url = f"{server.url}/topics"
    near = await box.call("fetch_url", {"url": url, "find": ["topic3"]})
    assert "topic3 10, words like it 3 of 70" in near.text
    assert near.data["pages"][0]["found"] == [{"find": "topic3", "count": 80, "exact": 10}]
    typo = await box.call("fetch_url", {"url": url, "find": ["topik3"]})
    assert "topik3 nowhere, words like it " in typo.text


async def test_one_place_is_not_shown_with_the_whole_page(box, page) -> None:
    result = await box.call("fetch_url", {"url": page, "find": ["Göteborg"]})
    assert "23.5 %" in result.text
    assert "Paragraph 122 " in result.text
    assert estimate(result.text) < 1300


async def test_beside_what_stands_there_little_that_is_like_it_is_added(box, server) -> None:
    towns = "".join(
        f"<p>The mayor of town {n}-{k} keeps {n * k} sheep. {' '.join(filler(12, n * k))}</p>"
        for n in range(1, 21)
        for k in range(1, 5)
    )
    server["/towns"] = Answer(f"<title>T</title><h1>All</h1>{towns}")
    given = {"url": f"{server.url}/towns", "find": ["mayor of town 19-3"]}
    found = await box.call("fetch_url", given)
    assert "mayor of town 19-3 keeps" in found.text
    assert "'mayor of town 19-3' 4, words like it 3 of 76" in found.text
    assert "in all" not in found.text
