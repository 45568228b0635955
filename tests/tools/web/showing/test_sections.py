"""Sections by heading, the outline, links and menus."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from toolcrib.text.passages import outline
from toolcrib.text.tokens import estimate
from toolcrib.tools.web.view.outline import near_headings, section_named

WORDS = "Some words that fill a paragraph to a fair length, without saying much at all. " * 4
PAGE = (
    "<title>Guide</title><nav><a href=/home>Home</a> <a href=/news>News</a></nav><h1>Guide</h1>"
    + "".join(
        f"<h2>{name}</h2><p>{name} begins. {WORDS}</p>"
        + "".join(f"<h3>{name} part {n}</h3><p>Detail {n} of {name}. {WORDS}</p>" for n in (1, 2))
        for name in ("Overview", "Installation", "Größen & Maße", "Usage", "Usage notes", "License")
    )
    + "".join(f"<h2>Appendix {n}</h2><p>{WORDS}</p>" for n in range(20))
)


@pytest.fixture
def page(server):
    server["/page"] = Answer(PAGE)
    return f"{server.url}/page"


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("Installation", "Installation"),
        ("installation", "Installation"),
        ("## Installation", "Installation"),
        ("INSTALLATION PART 2", "Installation part 2"),
        ("install", "Installation"),
        ("Installatoin", "Installation"),
        ("grossen & masse", "Größen & Maße"),
        ("Guide > Installation", "Installation"),
        ("notes", "Usage notes"),
        ("usage", "Usage"),
    ],
)
async def test_a_section_is_found_by_what_it_is_called(box, page, name, heading):
    result = await box.call("fetch_url", {"url": page, "section": name})
    assert result.error is None
    reported = result.data["pages"][0]
    assert reported["section"] == heading
    assert reported["content"].lstrip("#").strip().startswith(heading)


async def test_sections_below_belong_to_it_and_the_next_does_not(box, page):
    reported = (await box.call("fetch_url", {"url": page, "section": "Installation"})).data[
        "pages"
    ][0]
    assert "Detail 2 of Installation" in reported["content"]
    assert "Größen" not in reported["content"]
    assert reported["truncated"] is False
    assert reported["end"] - reported["offset"] == len(reported["content"])


async def test_several_that_fit_are_named(box, page):
    result = await box.call("fetch_url", {"url": page, "section": "Append"})
    assert result.data["pages"][0]["section"] == "Appendix 0"
    assert "Other sections of that name: Appendix 1, Appendix 2" in result.text


async def test_no_such_section_names_the_nearest(box, page):
    result = await box.call("fetch_url", {"url": page, "section": "Licence terms and warranty"})
    assert result.error.code == "not_found"
    assert "License" in result.error.hint
    assert 'section="?"' in result.error.hint


async def test_a_page_without_headings_says_so(server, box):
    server["/flat"] = Answer("<p>words</p>")
    result = await box.call("fetch_url", {"url": f"{server.url}/flat", "section": "x"})
    assert result.error.code == "not_found"
    assert "no headings" in result.error.message


async def test_a_long_section_comes_in_parts_and_stops_at_its_end(box, page):
    whole = (await box.call("fetch_url", {"url": page, "section": "overview"})).data["pages"][0]
    arguments = {"url": page, "section": "overview", "max_tokens": 250}
    parts = []
    while True:
        result = await box.call("fetch_url", arguments)
        assert result.error is None
        parts.append(result.data["pages"][0]["content"])
        if result.next is None:
            break
        arguments = dict(result.next.arguments)
        assert arguments["section"] == "overview"
    assert len(parts) > 1
    assert "".join(parts) == whole["content"]


async def test_all_headings_can_be_listed(box, page):
    result = await box.call("fetch_url", {"url": page, "section": "?"})
    lines = result.data["pages"][0]["content"].splitlines()
    assert len(lines) == 1 + 6 * 3 + 20
    offset, title = lines[5].split(maxsplit=1)
    assert title == "Installation part 1" or title.startswith("Installation")
    there = await box.call("fetch_url", {"url": page, "offset": int(offset), "max_tokens": 300})
    assert there.data["pages"][0]["content"].lstrip("#").strip().startswith(title)


async def test_the_first_part_of_a_long_page_lists_its_main_headings(box, page):
    result = await box.call("fetch_url", {"url": page, "max_tokens": 1200})
    head = result.text.partition("\n\n")[0]
    assert "Headings by offset:" in head
    assert "Installation" in head
    assert 'more: section="?" lists all' in head
    assert len(head.split("Headings by offset:")[1].splitlines()) <= 17
    assert estimate(head) < 1200 // 4
    assert estimate(result.text) <= 1200
    later = await box.call(result.next.tool, result.next.arguments)
    assert "Headings by offset:" not in later.text


async def test_a_page_that_fits_has_no_outline(server, box):
    server["/short"] = Answer("<h1>A</h1><p>x</p><h2>B</h2><p>y</p>")
    assert "Headings by" not in (await box.call("fetch_url", {"url": f"{server.url}/short"})).text


def test_a_section_ends_where_one_of_its_level_begins():
    text = "# A\n## B\nx\n### C\ny\n## D\nz\n# E\n"
    headings = outline(text)
    b = section_named("b", headings, len(text))
    assert text[b.start : b.end] == "## B\nx\n### C\ny\n"
    a = section_named("A", headings, len(text))
    assert text[a.start : a.end].endswith("z\n")


@pytest.mark.rows("D13")
async def test_menus_are_left_out_and_shown_on_request(server, box, page):
    without = await box.call("fetch_url", {"url": page})
    assert "News" not in without.data["pages"][0]["content"]
    assert "Left out" not in without.text
    given = {"url": page, "include_navigation": True, "max_tokens": 20_000}
    displayed = await box.call("fetch_url", given)
    assert f"[News]({page.removesuffix('/page')}/news)" in displayed.data["pages"][0]["content"]
    assert "Left out: menus" not in displayed.text
    server["/short"] = Answer("<nav><a href=/home>Home</a></nav><p>Nothing much.</p>")
    short = f"{server.url}/short"
    assert "Left out: menus (navigation=true)" in (await box.call("fetch_url", {"url": short})).text
    start = without.data["pages"][0]["content"][:500]
    assert displayed.data["pages"][0]["content"].startswith(start)


LINKED = "<title>L</title><p>Text.</p>" + "".join(
    f"<p><a href='/item/{n}'>Item number {n}</a></p>" for n in range(60)
)


@pytest.mark.rows("A47")
async def test_links_are_listed_on_request(server, settings):
    from toolcrib.toolbox import Toolbox

    server["/list"] = Answer(
        LINKED + "<a href='/pears'>All pears</a><nav><a href=/n>menu</a></nav>"
    )
    async with Toolbox(config=settings(fetch={"links": 20})) as box:
        url = f"{server.url}/list"
        plain = await box.call("fetch_url", {"url": url, "format": "text"})
        assert "Links:" not in plain.text
        result = await box.call("fetch_url", {"url": url, "format": "text", "links": True})
        listed = result.data["pages"][0]["links"]
        assert len(listed) == 20
        assert listed[0] == {"text": "Item number 0", "url": f"{server.url}/item/0"}
        assert f"- Item number 0: {server.url}/item/0" in result.text
        assert "menu" not in str(listed)
        found = await box.call("fetch_url", {"url": url, "links": True, "find": ["pears"]})
        assert found.data["pages"][0]["links"][0]["url"] == f"{server.url}/pears"
        menus = await box.call(
            "fetch_url", {"url": url, "links": True, "navigation": True, "find": ["menu"]}
        )
        assert menus.data["pages"][0]["links"][0]["url"] == f"{server.url}/n"
    assert server.count("/list") == 1


@pytest.mark.rows("A47")
async def test_links_keep_to_their_share_of_the_budget(server, box):
    server["/list"] = Answer(LINKED + f"<p>{WORDS * 50}</p>")
    arguments = {"url": f"{server.url}/list", "links": True, "max_tokens": 900}
    result = await box.call("fetch_url", arguments)
    assert estimate(result.text) <= 900
    lines = result.text.split("Links:\n")[1].split("\n</untrusted>")[0].splitlines()
    assert all(line.startswith("- Item number") for line in lines)
    assert 3 < len(lines) < 40
    assert result.next is not None


async def test_disarmed_pages_carry_nothing_out(server, settings):
    from toolcrib.toolbox import Toolbox

    server["/x"] = Answer("<p><a href='/go?secret=1#a'>go</a></p><p>words</p>")
    async with Toolbox(config=settings(fetch={"neutralize": True})) as box:
        result = await box.call("fetch_url", {"url": f"{server.url}/x", "links": True})
    assert "secret" not in result.text
    assert f"{server.url}/go" in result.text


CHAPTERS = "".join(
    f"<h2>Chapter {n}: growth</h2><p>{WORDS}</p><h3>Details</h3><p>Of {n}. {WORDS}</p>"
    for n in (1, 2, 10, 17)
)


@pytest.mark.parametrize(
    "name",
    [
        "Chapter 7: growth",
        "chapter 7",
        "Chapter 1: growht of trees",
        "7. growth",
        "Chaptre 3: growth",
    ],
)
async def test_a_number_in_a_name_is_one_in_the_heading(server, box, name):
    server["/book"] = Answer(f"<h1>Book</h1>{CHAPTERS}")
    result = await box.call("fetch_url", {"url": f"{server.url}/book", "section": name})
    assert result.error.code == "not_found"
    assert "Nearest: 'Chapter 1" in result.error.hint
    assert result.error.hint.count("Details") <= 1


async def test_a_part_of_a_number_is_no_match(server, box):
    server["/book"] = Answer(f"<h1>Book</h1>{CHAPTERS.replace('Chapter 1:', 'Chapter 5:')}")
    result = await box.call("fetch_url", {"url": f"{server.url}/book", "section": "Chapter 1"})
    assert result.error.code == "not_found"


async def test_headings_above_choose_among_equal_ones(server, box):
    server["/book"] = Answer(f"<h1>Book</h1>{CHAPTERS}")
    given = {"url": f"{server.url}/book", "section": "Chapter 10: growth > Details"}
    reported = (await box.call("fetch_url", given)).data["pages"][0]
    assert "Of 10." in reported["content"]
    given["section"] = "Chapter 3: growth > Details"
    assert (await box.call("fetch_url", given)).error.code == "not_found"


def test_the_nearest_headings_are_the_most_alike_and_each_once():
    names = [f"Topic {n}" for n in range(30)] + ["Details", "Details", "Warranty", "Licence"]
    headings = outline("\n\n".join(f"## {name}" for name in names))
    near = [h.text for h in near_headings("warranty and licence details", headings)]
    assert set(near[:3]) == {"Details", "Warranty", "Licence"}
    assert len(set(near)) == len(near) == 5


@pytest.mark.rows("A47")
async def test_links_leave_room_for_the_text(server, box):
    server["/list"] = Answer(f"<title>L</title><p>{WORDS * 50}</p>" + LINKED)
    arguments = {"url": f"{server.url}/list", "links": True, "max_tokens": 200}
    result = await box.call("fetch_url", arguments)
    assert estimate(result.text) <= 200
    assert result.data["pages"][0]["content"].startswith("Some words that fill")
    assert "- Item number 0" in result.text
    assert "1 of 40 links listed" in result.text
    assert result.next.tool == "fetch_url"
    assert "To go on" not in result.text


@pytest.mark.rows("A47")
async def test_links_of_a_section_only(server, box):
    server["/two"] = Answer(
        "<h1>T</h1><h2>Apples</h2><p><a href='/a_(b)?x=1&amp;y=2'>apple</a></p>"
        "<h2>Pears</h2><p><a href='/pear'>pear</a> <a href='/pear/2'>second</a></p>"
    )
    url = f"{server.url}/two"
    for name, expected in (("Apples", ["apple"]), ("Pears", ["pear", "second"])):
        result = await box.call("fetch_url", {"url": url, "links": True, "section": name})
        assert [link["text"] for link in result.data["pages"][0]["links"]] == expected
