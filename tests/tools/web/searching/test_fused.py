"""Several providers at once, their results as one list."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer
from tests.tools.web.made_up import CHALLENGE, EMPTY, answer, results, service

pytestmark = pytest.mark.rows("E50")


def found(result) -> list[str]:
    return [r["url"].rpartition("/")[2] for r in result.data["queries"][0]["results"]]


async def test_named_providers_are_asked_together_and_fused(server, made_up):
    server["/alpha/find"] = answer(*results("abc"))
    server["/beta/find"] = answer(*results("dc"))
    box = await made_up()
    result = await box.call("web_search", {"query": "q", "provider": "alpha, beta"})
    (reported,) = result.data["queries"]
    assert found(result) == ["c", "a", "d", "b"]
    assert reported["results"][0]["providers"] == ["alpha", "beta"]
    assert [r["provider"] for r in reported["results"]] == ["alpha", "alpha", "beta", "alpha"]
    assert reported["provider"] == "alpha, beta"
    assert reported["providers"] == [
        {"provider": "alpha", "status": "ok", "count": 3, "cached": False},
        {"provider": "beta", "status": "ok", "count": 2, "cached": False},
    ]
    assert result.text.startswith('<untrusted source="alpha, beta">')
    assert "Note:" not in result.text
    assert server.count("/gamma/find") == 0
    again = await box.call("web_search", {"query": "q", "providers": ["alpha", "beta"]})
    assert found(again) == found(result)


async def test_the_setting_asks_several_too(server, made_up):
    server["/alpha/find"] = answer(*results("ab"))
    server["/beta/find"] = answer(*results("ba"))
    box = await made_up(at_once=2)
    result = await box.call("web_search", {"query": "q"})
    assert found(result) == ["a", "b"]
    assert len(server.requested) == 2


async def test_duplicates_are_merged_by_page_and_urls_stay_as_given(server, made_up):
    one = "https://www.example.org/a%2Fb?x=%26&utm_source=alpha"
    server["/alpha/find"] = answer({"title": "One", "url": one})
    server["/beta/find"] = answer(
        {"title": "Uno", "url": "http://example.org/a%2fb/?x=%26#top", "snippet": "Text"},
        {"title": "Other", "url": "https://example.org/a/b?x=%26"},
    )
    box = await made_up()
    result = await box.call("web_search", {"query": "q", "provider": "alpha,beta"})
    first, second = result.data["queries"][0]["results"]
    assert (first["title"], first["url"], first["snippet"]) == ("One", one, "Text")
    assert second["title"] == "Other"


async def test_one_that_fails_is_told_of_and_the_other_answers(server, made_up):
    server["/alpha/find"] = CHALLENGE
    server["/beta/find"] = answer(*results("b"))
    box = await made_up()
    result = await box.call("web_search", {"query": "q", "provider": "alpha,beta"})
    (reported,) = result.data["queries"]
    assert found(result) == ["b"]
    assert reported["provider"] == "beta"
    assert [p["status"] for p in reported["providers"]] == ["challenge_page", "ok"]
    assert result.text.endswith("Note: No answer from alpha (challenge_page).")


async def test_one_with_nothing_does_not_hide_the_other(server, made_up):
    server["/alpha/find"] = EMPTY
    server["/beta/find"] = answer(*results("b"))
    box = await made_up()
    result = await box.call("web_search", {"query": "q", "provider": "alpha,beta"})
    assert found(result) == ["b"]
    assert [p["status"] for p in result.data["queries"][0]["providers"]] == ["empty", "ok"]


async def test_all_that_fail_are_listed(server, made_up):
    server["/alpha/find"] = CHALLENGE
    server["/beta/find"] = Answer("", 500)
    box = await made_up()
    result = await box.call("web_search", {"query": "q", "provider": "alpha,beta"})
    assert result.error.code == "challenge_page"
    assert [p["status"] for p in result.error.details["providers"]] == [
        "challenge_page",
        "http_status",
    ]


async def test_who_rests_makes_room_for_the_next(server, made_up):
    server["/alpha/find"] = CHALLENGE
    server["/beta/find"] = answer(*results("ab"))
    server["/gamma/find"] = answer(*results("bc"))
    box = await made_up(at_once=2)
    await box.call("web_search", {"query": "one"})
    result = await box.call("web_search", {"query": "two"})
    assert found(result) == ["b", "a", "c"]
    assert [p["status"] for p in result.data["queries"][0]["providers"]] == [
        "challenge_page",
        "ok",
        "ok",
    ]


async def test_pages_of_a_fused_list_follow_on_each_other(server, made_up):
    def pages(names):
        def serve(request):
            start = (int(request.query["page"]) - 1) * 10
            return answer(*results(names[start : start + 10]), more=start + 10 < len(names))

        return serve

    server["/alpha/find"] = pages(range(30))
    server["/beta/find"] = pages(range(45, 15, -1))
    box = await made_up(service("alpha"), service("beta"), at_once=2)
    seen, call = [], {"query": "q"}
    while call:
        result = await box.call("web_search", call)
        seen += found(result)
        call = dict(result.next.arguments) if result.next else None
    assert len(seen) == len(set(seen)) == 46
    assert len(server.requested) == 6


@pytest.mark.rows("D06")
async def test_the_same_answers_give_the_same_data(server, made_up):
    server["/alpha/find"] = answer(*results("abc"))
    server["/beta/find"] = answer(*results("cba"))
    box = await made_up(cache_seconds=0)
    calls = [
        await box.call("web_search", {"query": "q", "provider": "alpha,beta"}) for _ in range(3)
    ]
    assert calls[0].to_json() == calls[1].to_json() == calls[2].to_json()
