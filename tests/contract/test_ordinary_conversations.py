"""How often fifty ordinary conversations with pages and files ask a person, and what about."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.scripted import Answer, Request, Scripted, scripted
from toolcrib.core.context import Caller, PersonAnswer, Question, SiteApproval
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import Toolbox

Step = tuple[str, dict[str, Any]]
TOPICS = ("bread", "bridges", "comets", "maps", "violins")
NOTES = "notes.md"


def call(tool_name: str, /, **arguments: Any) -> Step:
    return tool_name, arguments


def conversations(web: str, topic: str) -> dict[str, list[Step]]:
    """Ten of one topic. TYPED is an address that only the user has named, outside of the tools."""
    found = f"{web}/page/{topic}/0"
    notes = call("read_file", path=NOTES)
    search = call("web_search", query=f"{topic} history")
    return {
        "search, read, my notes, on": [
            search, call("fetch_url", url=found), notes, call("fetch_url", url=f"{found}/more"),
            call("ask_url", url=f"{found}/more", question=f"who made {topic}?"),
        ],
        "my notes, then their link": [
            search, notes, call("fetch_url", url=f"{web}/mine/{topic}"),
            call("fetch_url", url=f"{web}/mine/{topic}/more"),
        ],
        "my notes, then a search": [
            notes, search, call("fetch_url", url=found),
            call("write_file", path=f"{topic}.md", content=f"# {topic}\n"),
            call("fetch_url", url=f"{found}#end"),
        ],
        "a page, an edit, the page again": [
            search, call("fetch_url", url=found), notes,
            call("edit_file", path=NOTES, old="See", new="see"), call("fetch_url", url=found),
        ],
        "a research, then its pages": [
            notes, call("web_research", question=f"{topic} history"),
            call("fetch_url", url=found), call("fetch_url", url=f"{found}/more"),
        ],
        "an article, then what it names": [
            notes, call("wikipedia_search", query=topic), call("fetch_url", url=f"{web}/w"),
        ],
        "pictures of a page": [
            notes, search, call("fetch_images", page_url=found), call("list_directory", path="."),
        ],
        "what I have, in pages and files": [
            search, call("search_files", pattern=topic, path="."), notes,
            call("http_request", url=found), call("read_file", path=NOTES, focus=topic),
        ],
        "my notes, then a link that I say": [
            search, notes, call("fetch_url", url=f"{web}/typed/{topic}"),
            call("fetch_url", url=f"{web}/typed/{topic}/more"),
        ],
        "pages of an API that I say, one by one": [
            search, notes,
            *(call("http_request", url=f"{web}/typed/{topic}?page={n}") for n in range(1, 5)),
        ],
    }  # fmt: skip


def filled(server: Scripted) -> None:
    def search(request: Request) -> Answer:
        word = request.query["q"].split()[0]
        found = {"title": word, "url": f"{server.url}/page/{word}/0", "content": f"On {word}."}
        return as_json({"query": "", "results": [found]})

    def wiki(request: Request) -> Answer:
        if request.query.get("list") == "search":
            return as_json({"query": {"search": [{"pageid": 7, "title": "Crib"}]}})
        page = {"pageid": 7, "title": "Crib", "extract": "A crib.", "fullurl": f"{server.url}/w"}
        return as_json({"query": {"pages": [page]}})

    server["/search"], server["/w/api.php"] = search, wiki
    server["/w"] = Answer("<title>W</title><p>An article.</p>")
    for topic in TOPICS:
        for start in (f"/page/{topic}/0", f"/mine/{topic}", f"/typed/{topic}"):
            text = f"<p>The history of {topic} is long. Somebody made {topic} first.</p>" * 8
            server[start] = Answer(
                f"<title>{topic}</title><h1>{topic}</h1>{text}<p>See "
                f"<a href='{start}/more'>more</a>.</p><img src='/{topic}.png' width=300>"
            )
            server[f"{start}/more"] = Answer(f"<title>More</title><h1>More</h1>{text}")
        server[f"/{topic}.png"] = Answer(b"\x89PNG\r\n\x1a\n" + bytes(40), kind="image/png")


def as_json(value: Any) -> Answer:
    return Answer(json.dumps(value), kind="application/json")


@pytest.fixture
def web() -> Iterator[Scripted]:
    with scripted() as server:
        filled(server)
        yield server


async def test_fifty_conversations_ask_only_about_what_the_user_alone_has_named(
    web: Scripted, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    links = "\n".join(f"See {web.url}/mine/{topic} on {topic}." for topic in TOPICS)
    (folder / NOTES).write_text(f"# Notes\n\n{links}\n")
    names = ("searxng", "searxng_images", "wikipedia")
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "egress": {"allow_hosts": [web.origin], "retry": {"initial_seconds": 0}},
        "web": {
            "search": {"providers": ["searxng"], "gap_seconds": 0},
            "fetch": {"host_gap_seconds": 0},
            "providers": {name: {"base_url": web.url} for name in names},
        },
    }
    requested: dict[str, int] = {}
    number = 0
    async with Toolbox(config, workspace=folder) as box:
        for topic in TOPICS:
            for name, steps in conversations(web.url, topic).items():
                number += 1
                session = f"talk {number}"
                sessions = box.use(Sessions)
                state = await sessions.load(session)
                state.began, state.changed = time.time() + 3600, True
                await sessions.save(state)

                async def answer(question: Question, about: str = name) -> PersonAnswer:
                    assert question.site == web.url
                    requested[about] = requested.get(about, 0) + 1
                    return SiteApproval()

                caller = Caller("test", ask=answer)
                for tool_name, arguments in steps:
                    result = await box.call(tool_name, arguments, caller=caller, session=session)
                    code = result.error.code if result.error else ""
                    assert code not in ("denied", "needs_approval"), (name, tool_name)
    assert number == 50
    assert requested == {
        "my notes, then a link that I say": len(TOPICS),
        "pages of an API that I say, one by one": len(TOPICS),
    }
