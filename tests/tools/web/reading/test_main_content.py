"""The main content of pages, and the rest of them where it is asked for or looked for."""

from __future__ import annotations

import json

import pytest

from tests.servers.scripted import Answer
from tests.tools.web import site_pages
from tests.tools.web.site_pages import SENTENCES
from toolcrib.execution.workers import Workers
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox

PHONE = "telephone 555 0199"


@pytest.fixture
def article(server) -> str:
    server["/2026/bridge"] = Answer(site_pages.article())
    return f"{server.url}/2026/bridge"


def page_of(result) -> dict:
    assert result.error is None, result.error
    return result.data["pages"][0]


@pytest.mark.rows("A17", "B25", "D31")
async def test_the_data_says_how_the_text_was_found(box, article):
    page = page_of(await box.call("fetch_url", {"url": article}))
    found = page["html_extraction"]
    assert (found["method"], found["readable"], found["fallback"]) == ("main", True, False)
    assert found["title"] == page["title"] == "Old bridge closed for six weeks"
    assert found["page_type"] == "article"
    assert found["words"] > 90
    assert found["words_left"] > 30
    assert found["navigation_detected"]
    assert page["about"]["author"] == "Ada Miller"
    assert page["about"]["site"] == "River Post"
    assert "Politics" not in page["content"]


@pytest.mark.rows("B24")
async def test_the_whole_page_on_request_and_by_setting(server, settings, box, article):
    result = await box.call("fetch_url", {"url": article, "whole": True, "max_tokens": 150})
    page = page_of(result)
    assert page["html_extraction"]["method"] == "whole"
    assert not page["html_extraction"]["fallback"]
    assert result.next.arguments["whole"] is True
    text = ""
    while True:
        text += page_of(result)["content"]
        if result.next is None:
            break
        result = await box.call("fetch_url", result.next.arguments)
    assert all(sentence in text for sentence in SENTENCES)
    assert "First!!" in text
    assert "We use cookies" in text
    assert server.count("/2026/bridge") == 1
    async with Toolbox(config=settings(fetch={"whole": True})) as other:
        assert "First!!" in page_of(await other.call("fetch_url", {"url": article}))["content"]


@pytest.mark.parametrize("cache_seconds", [0, 600])
async def test_words_beside_the_content_are_found(server, settings, article, cache_seconds):
    async with Toolbox(config=settings(fetch={"cache_seconds": cache_seconds})) as box:
        result = await box.call("fetch_url", {"url": article, "find": ["First!!"]})
        assert "Nobody ever repairs" in page_of(result)["content"]
        assert "beside the main content" in result.text
        assert server.count("/2026/bridge") == 1
        inside = await box.call("fetch_url", {"url": article, "find": ["ferry"]})
        assert "beside the main content: this" not in inside.text
        assert page_of(inside)["html_extraction"]["method"] == "main"


async def test_words_of_both_are_found_in_the_whole(box, article):
    result = await box.call("fetch_url", {"url": article, "find": ["ferry", "First!!"]})
    counts = {one["find"]: one["count"] for one in page_of(result)["found"]}
    assert all(counts.values()), counts


async def test_a_section_beside_the_content_is_found(box, article):
    result = await box.call("fetch_url", {"url": article, "section": "Comments"})
    assert "Nobody ever repairs" in page_of(result)["content"]
    result = await box.call("fetch_url", {"url": article, "section": "Costs"})
    assert "all costs" in page_of(result)["content"]
    assert page_of(result)["html_extraction"]["method"] == "main"
    result = await box.call("fetch_url", {"url": article, "section": "No such heading at all"})
    assert result.error.code == "not_found"


async def test_reading_on_from_a_place_beside_the_content_stays_there(server, box):
    many = "".join(
        f"<li class=comment><p>Remark {n} about cheese and the price of it.</p></li>"
        for n in range(60)
    )
    html = site_pages.article().replace('<li class="comment">', f'{many}<li class="comment">')
    server["/long"] = Answer(html)
    arguments = {"url": f"{server.url}/long", "find": ["Remark 55"], "max_tokens": 300}
    result = await box.call("fetch_url", arguments)
    page = page_of(result)
    assert "Remark 55" in page["content"]
    place = page["excerpts"][0]["offset"]
    there = await box.call(
        "fetch_url", {"url": f"{server.url}/long", "offset": place, "whole": True}
    )
    assert "Remark 55" in page_of(there)["content"]


async def test_running_text_beside_the_content_is_told_and_whole_is_the_next_call(server, box):
    many = "".join(f"<p>Remark {n} about the cheese and the price of it.</p>" for n in range(9))
    html = site_pages.article().replace('<ol class="comment-list">', f'{many}<ol class="comments">')
    server["/remarks"] = Answer(html)
    first = await box.call("fetch_url", {"url": f"{server.url}/remarks"})
    assert "Remark 5" not in page_of(first)["content"]
    assert "words of running text beside the main content (whole=true)" in first.text
    assert not first.truncated
    assert first.next.arguments == {"url": f"{server.url}/remarks", "whole": True}
    everything = await box.call("fetch_url", first.next.arguments)
    assert "Remark 5" in page_of(everything)["content"]
    assert everything.next is None
    part = await box.call("fetch_url", {"url": f"{server.url}/remarks", "max_tokens": 130})
    assert part.truncated
    assert "whole" not in part.next.arguments


async def test_links_of_the_content_come_first_and_the_others_follow(server, box, article):
    result = await box.call("fetch_url", {"url": article, "links": True})
    urls = [link["url"] for link in page_of(result)["links"]]
    assert urls[0] == f"{server.url}/2026/costs?year=2026"
    assert f"{server.url}/r3" in urls
    assert f"{server.url}/politics" not in urls
    result = await box.call("fetch_url", {"url": article, "links": True, "navigation": True})
    urls = [link["url"] for link in page_of(result)["links"]]
    assert f"{server.url}/politics" in urls


@pytest.mark.rows("D27")
async def test_a_page_with_little_main_content_is_shown_whole(server, box):
    rows = "".join(
        f"<tr><td><a href=/bus/{n}>{n}</a></td><td>{n % 24}:15</td><td>Stop {n}</td></tr>"
        for n in range(200)
    )
    server["/times"] = Answer(
        f"<title>Times</title><form><select><option>Line</select></form><table>{rows}</table>"
    )
    page = page_of(await box.call("fetch_url", {"url": f"{server.url}/times", "max_tokens": 9_000}))
    assert "Stop 199" in page["content"]
    if page["html_extraction"]["fallback"]:
        assert not page["html_extraction"]["readable"]
        assert any("whole page" in note for note in page["notes"])


@pytest.mark.rows("D27")
async def test_menus_alone_are_no_main_content_and_that_is_said(server, box):
    server["/menu"] = Answer(f"<nav><ul>{site_pages.MENU}</ul></nav>")
    result = await box.call("fetch_url", {"url": f"{server.url}/menu"})
    page = page_of(result)
    assert page["html_extraction"]["fallback"]
    assert not page["html_extraction"]["readable"]
    assert page["html_extraction"]["reason"] == "no main content was found"
    assert "Only hidden or navigation text was found." in result.text


async def test_text_from_the_data_of_scripts_says_where_it_is_from(server, box):
    server["/app"] = Answer(site_pages.application())
    result = await box.call("fetch_url", {"url": f"{server.url}/app"})
    assert page_of(result)["html_extraction"]["method"] == "data"
    assert "The text comes from the page's script data." in result.text


async def test_a_question_is_answered_from_beside_the_content(box, article):
    arguments = {"url": article, "question": "What is the telephone number of the press office?"}
    result = await box.call("ask_url", arguments)
    assert PHONE in result.text
    if result.next is not None:
        assert result.next.arguments["whole"] is True


async def test_research_reads_the_main_content(server, settings):
    url = f"{server.url}/2026/bridge"
    server["/search"] = Answer(
        json.dumps({"results": [{"title": "Bridge", "url": url, "content": "closed"}]}),
        kind="application/json",
    )
    server["/2026/bridge"] = Answer(site_pages.article())
    async with Toolbox(config=settings(providers=["searxng"])) as box:
        result = await box.call("web_research", {"question": "How long is the bridge closed?"})
        assert "six weeks" in result.text
        assert "We use cookies" not in result.text
        assert "Another story" not in result.text


@pytest.mark.rows("D26")
async def test_addresses_that_lead_to_no_page_are_no_links(server, box):
    body = (
        '<p>Write to <a href="mailto:a@b.example">us</a>, call <a href="tel:+1">now</a> or '
        '<a href="javascript:x()">press</a>, and read <a href="/more">more</a>.</p>'
    )
    server["/a"] = Answer(site_pages.article(body))
    content = page_of(await box.call("fetch_url", {"url": f"{server.url}/a"}))["content"]
    assert f"[more]({server.url}/more)" in content
    for scheme in ("mailto:", "tel:", "javascript:"):
        assert scheme not in content


@pytest.mark.rows("A18", "A19", "A20")
async def test_markdown_and_text_have_one_style(server, box):
    body = (
        "<h3>Parts</h3><ul><li>stone</li><li>rope</li></ul><p>It is <b>very</b> <i>old</i>.</p>"
        "<p>   </p><br><br><br><p>Last.   </p><img src=/a.png alt='A bridge'>"
        "<pre><code class='language-sh'>ls -l</code></pre>"
    )
    server["/a"] = Answer(site_pages.article(body))
    url = f"{server.url}/a"
    markdown = page_of(await box.call("fetch_url", {"url": url}))["content"]
    for piece in ("### Parts", "- stone\n- rope", "**very** *old*", "```sh\nls -l\n```"):
        assert piece in markdown
    assert "\n\n\n" not in markdown
    assert "a.png" not in markdown
    text = page_of(await box.call("fetch_url", {"url": url, "format": "text"}))["content"]
    assert "It is very old." in text
    assert "\n\n\n" not in text
    assert "http" not in text
    assert "A bridge" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))
    assert max(map(len, text.split("\n"))) > 90


@pytest.mark.parametrize("whole", [False, True])
async def test_plain_text_joins_no_numbers(server, box, whole):
    body = (
        "<p>It is 3\u00d710<sup>8</sup> m<sup class='u'>-2</sup>, as a note<sup>4</sup> says; "
        "H<sub>2</sub>O.</p>"
        "<p>Price: <del>100</del> <span>80</span> euros <S>off</S>.</p>"
    )
    server["/a"] = Answer(site_pages.article(body))
    arguments = {"url": f"{server.url}/a", "format": "text", "whole": whole}
    text = page_of(await box.call("fetch_url", arguments))["content"]
    assert "3\u00d710^8 m^-2, as a note4 says; H2O." in text
    assert "Price: ~~100~~ 80 euros ~~off~~." in text


@pytest.mark.parametrize("form", ["markdown", "text"])
@pytest.mark.parametrize(
    "html",
    [
        f"<main><p>{SENTENCES[0]}</p>{'<p>Some words of a long page.</p>' * 40_000}</main>",
        f"<p>{SENTENCES[0]}</p>" + "<div>" * 200_000 + "deep down",
        f"<p>{SENTENCES[0]}</p>" + "".join(f"<a href=/{n}>n{n}</a>" for n in range(60_000)),
        f"<p>{SENTENCES[0]}</p><table>{'<tr><td>a<td>b' * 40_000}</table>",
    ],
    ids=["long", "deep", "links", "table"],
)
async def test_heavy_pages_are_converted_in_a_process_of_their_own(server, box, html, form):
    server["/heavy"] = Answer(html)
    arguments = {"url": f"{server.url}/heavy", "format": form}
    page = page_of(await box.call("fetch_url", arguments))
    assert SENTENCES[0] in page["content"]
    assert page["kind"] == "html"
    assert box.use(Workers).idle == 1


async def test_a_heavy_page_has_the_time_of_its_call_only(server, settings):
    server["/heavy"] = Answer("<b><i>" * 2_000_000)  # ten times the time that the call has
    config = settings(fetch={"max_bytes": 20_000_000})
    config["limits"] = {"job_seconds": 0.4}
    async with Toolbox(config=config) as box:
        result = await box.call("fetch_url", {"url": f"{server.url}/heavy"})
        assert result.error.code == "timeout"
        # A child that had not got the page yet, or was done with it, may stay for the next one.
        workers = box.use(Workers)
        assert box.use(Processes).running == workers.idle
        assert all(child.sound for child, _ in workers._idle)


async def test_two_pages_that_are_equally_heavy(server, box):
    for name in ("/one", "/two"):
        server[name] = Answer(f"<title>{name}</title>" + f"<p>Words of {name}.</p>" * 50_000)
    urls = [f"{server.url}/one", f"{server.url}/two"]
    result = await box.call("fetch_url", {"urls": urls, "max_tokens": 600})
    assert [page["title"] for page in result.data["pages"]] == ["/one", "/two"]
