"""A browser that the user runs: a context of our own behind the guard, or a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conditions import settled
from tests.servers.forbidden_host import ForbiddenHost
from tests.servers.running_browser import open_pages, running_browser, without_proxies
from tests.servers.web_app import WebApp
from tests.tools.browser.conftest import Desk, opened_to
from toolcrib.browser.browsers import Browsers
from toolcrib.toolbox import Toolbox

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.rows("C041"),
    pytest.mark.timeout(170),
]


async def test_a_browser_that_the_user_runs(
    app: WebApp, browser_program: str, forbidden: ForbiddenHost, tmp_path: Path
) -> None:
    bad = f"http://127.0.0.1:{forbidden.port}"
    app.pages["/calls"] = (
        f"<title>Calls</title><p id=p>calling</p><script>fetch('{bad}/x', {{mode: 'no-cors'}})"
        ".finally(() => document.getElementById('p').textContent = 'called')</script>"
    )
    async with running_browser(browser_program) as url:
        before = open_pages(url)
        settings = opened_to(app.url) | {"browser": {"cdp_url": url}}
        async with Toolbox(settings, workspace=tmp_path) as box:
            desk = Desk(app, box, tmp_path, [])
            opened = await desk("open", url=f"{app.url}/calls", wait_for="called")
            assert "guard: off" not in opened.text
            assert desk.questions == []
            assert await settled(lambda: forbidden.connections) == 0
            await desk("open", url=app.url)
            assert "Echo" in await desk.act("type Name = Ann", "click Send")
        assert open_pages(url) == before, "it goes on as it was"

        async with without_proxies(url) as bare:
            settings["browser"] = {"cdp_url": bare}
            async with Toolbox(settings, workspace=tmp_path) as box:
                desk = Desk(app, box, tmp_path, [])
                nobody = await box.call("browser_open", {"url": app.url}, session="other")
                assert nobody.error is not None
                assert nobody.error.code == "needs_approval"
                assert not box.use(Browsers).has("other")
                opened = await desk("open", url=app.url)
                assert "[guard: off]" in opened.text
                assert len(desk.questions) == 1
                assert "without the guard" in desk.questions[0]
                assert "[guard: off]" in (await desk("read")).text
                assert "[guard: off]" in (await desk("open", url=app.url)).text
                assert len(desk.questions) == 1, "once for a conversation"
                acting = replace(desk, session="acting", questions=[])
                await acting("open", url=app.url, actions=[{"action": "click", "target": "Warn"}])
                assert len(acting.questions) == 1
                assert "may act on" in acting.questions[0]
                read = await desk.call("fetch_url", url=app.url, render="always")
                assert read.error is not None
                assert "does not go through the guard" in read.error.message
        assert open_pages(url) == before
    async with Toolbox(settings, workspace=tmp_path) as box:
        gone = await box.call("browser_open", {"url": app.url})
        assert gone.error is not None
        assert "browser.cdp_url" in gone.error.message
