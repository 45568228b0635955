from __future__ import annotations

import json

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.pictures import Recorded
from toolcrib.toolbox import Toolbox
from toolcrib.web.providers import Providers


def listed(count: int, first: int = 1, *, more: bool = True) -> Answer:
    images = [
        {
            "title": f"Picture <{n}>",
            "url": f"https://img.example/{n}.png?a=%26",
            "extra": {"page": f"https://page.example/{n}", "width": 800, "height": 600},
        }
        for n in range(first, first + count)
    ]
    return Answer(json.dumps({"images": images, "more": more}), kind="application/json")


@pytest.fixture
async def open_box(settings, server):
    boxes = []

    async def build(**images):
        tree = settings()
        tree["web"]["images"] = {"providers": ["recorded"], **images}
        tree["web"]["providers"]["recorded"] = {"base_url": server.url}
        box = Toolbox(config=tree)
        boxes.append(box)
        await box.__aenter__()
        box.use(Providers).add(Recorded())
        return box

    yield build
    for box in boxes:
        await box.__aexit__(None, None, None)


@pytest.mark.rows("A10")
async def test_title_image_and_page(open_box, server):
    server["/images"] = listed(3, more=False)
    box = await open_box()
    result = await box.call("image_search", {"query": "cats"})
    assert result.error is None
    first = result.data["images"][0]
    assert first["title"] == "Picture <1>"
    assert first["url"] == "https://img.example/1.png?a=%26"
    assert first["page"] == "https://page.example/1"
    assert [image["rank"] for image in result.data["images"]] == [1, 2, 3]
    assert "1. Picture <1> (800x600)" in result.text
    assert "   https://img.example/1.png?a=%26\n   on https://page.example/1" in result.text
    assert (result.source, result.fenced, result.next) == ("recorded", True, None)


@pytest.mark.rows("A12")
async def test_the_limit(open_box, server):
    server["/images"] = listed(30)
    box = await open_box()
    assert len((await box.call("image_search", {"query": "a"})).data["images"]) == 10
    seven = await box.call("image_search", {"query": "a", "max_results": 7})
    assert len(seven.data["images"]) == 7
    for wrong in (-1, "many"):
        result = await box.call("image_search", {"query": "a", "limit": wrong})
        assert result.error.code == "bad_input"
    box = await open_box(limit=3)
    assert len((await box.call("image_search", {"query": "a"})).data["images"]) == 3


@pytest.mark.rows("A11")
async def test_pages_go_on(open_box, server):
    def script(request):
        page = int(request.query["page"])
        return listed(30, 30 * (page - 1) + 1, more=page < 3)

    server["/images"] = script
    box = await open_box()
    result = await box.call("image_search", {"query": "a", "limit": 20})
    seen = [image["rank"] for image in result.data["images"]]
    while result.next:
        result = await box.call(result.next.tool, dict(result.next.arguments))
        seen += [image["rank"] for image in result.data["images"]]
    assert seen == list(range(1, 91))


@pytest.mark.rows("A13", "A09")
async def test_results_are_kept_apart_and_said_to_be_cached(open_box, server, grow_older):
    server["/images"] = listed(3, more=False)
    box = await open_box()
    first = await box.call("image_search", {"query": "cats"})
    again = await box.call("image_search", {"query": "cats"})
    assert (first.data["cached"], again.data["cached"]) == (False, True)
    assert "3 images for 'cats'" in first.text
    assert "3 images (cached) for 'cats'" in again.text
    assert server.count("/images") == 1
    grow_older(901)
    assert not (await box.call("image_search", {"query": "cats"})).data["cached"]
    assert server.count("/images") == 2


@pytest.mark.rows("A42")
async def test_nothing_found(open_box, server):
    server["/images"] = listed(0, more=False)
    box = await open_box()
    result = await box.call("image_search", {"query": "no such thing"})
    assert result.error.code == "no_results"
    assert 'No images found for your search: "no such thing"' in result.error.message


async def test_a_page_too_far(open_box, server):
    server["/images"] = listed(3, more=False)
    box = await open_box()
    far = await box.call("image_search", {"query": "cats", "page": 9})
    assert far.error.message == "There are no results on page 9."
    assert far.error.hint == "Ask for an earlier page."


async def test_the_same_image_once(open_box, server):
    image = {"title": "x", "url": "https://img.example/1.png"}
    server["/images"] = Answer(json.dumps({"images": [image] * 5}), kind="application/json")
    box = await open_box()
    result = await box.call("image_search", {"query": "a"})
    assert len(result.data["images"]) == 1


@pytest.mark.parametrize(
    ("providers", "words"),
    [([], "No provider"), (["duckduckgo"], "'duckduckgo' finds no images"), (["nosuch"], "nosuch")],
)
async def test_what_finds_no_images_is_named(open_box, providers, words):
    box = await open_box(providers=providers)
    result = await box.call("image_search", {"query": "a"})
    assert result.error.code == "not_configured"
    assert words in result.error.message
    assert "web.images.providers" in result.error.hint
    assert "recorded" in result.error.hint


async def test_an_empty_query(open_box):
    box = await open_box()
    result = await box.call("image_search", {"query": "  "})
    assert result.error.code == "bad_input"


async def test_failures_name_the_right_setting(open_box, server):
    server["/images"] = Answer("no", 500)
    box = await open_box()
    result = await box.call("image_search", {"query": "a"})
    assert result.error is not None
    assert "web.search.providers" not in result.error.hint
    assert "web.images.providers can name other providers" in result.error.hint
