"""What a real client gets of pages of several types: their content, and nothing around it."""

from __future__ import annotations

import pytest

from tests.contract.doors import MODERN, stdio
from tests.servers.scripted import Answer, scripted
from tests.tools.web import site_pages
from tests.tools.web.site_pages import SENTENCES

pytestmark = pytest.mark.timeout(120)
AROUND = ("Politics", "We use cookies", "Accept all", "Another story", "All rights reserved")
KINDS = {
    "/2026/bridge-closed": (site_pages.article, SENTENCES, ("First!!",)),
    "/t/which-bridge-is-safe/12": (site_pages.forum, SENTENCES[:5], ()),
    "/docs/installation": (site_pages.documentation, SENTENCES, ()),
    "/products/brass-lamp": (site_pages.product, ("solid brass", "made by hand"), ("Lamp 3",)),
    "/app": (site_pages.application, SENTENCES, ()),
}


@pytest.mark.rows("A17", "B24", "D25", "D31")
@pytest.mark.parametrize("form", ["markdown", "text"])
async def test_a_client_gets_the_main_content_of_every_type(tmp_path, form):
    with scripted() as server:
        for path, (made, _, _) in KINDS.items():
            server[path] = Answer(made())
        config = {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "egress": {"allow_hosts": [server.origin]},
            "web": {"fetch": {"host_gap_seconds": 0}},
        }
        async with stdio(config, tmp_path, MODERN) as send:
            for path, (_, wanted, unwanted) in KINDS.items():
                reported = await send("fetch_url", {"url": server.url + path, "format": form})
                assert reported.code is None, (path, reported.text)
                for words in wanted:
                    assert words in reported.text, (path, words, reported.text)
                for words in (*AROUND, *unwanted):
                    assert words not in reported.text, (path, words, reported.text)
                if form == "markdown" and "bridge-closed" in path:
                    assert f"[all costs]({server.url}/2026/costs?year=2026)" in reported.text
                    assert "| 2026 | 4 million |" in reported.text
                if form == "text":
                    assert "](" not in reported.text
