"""Pages that scripts make, read by tools that otherwise need no browser."""

from __future__ import annotations

import pytest

from tests.servers.web_app import WebApp
from tests.tools.browser.conftest import Desk, opened_to
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.rows("E50", "S8.11")]
SHELL = "<!doctype html><title>Shell</title><div id=root></div><script src=/made.js></script>"
# The text comes late, and part of it stands in a shadow root.
SCRIPT = """setTimeout(() => {
  document.title = 'Made';
  const lines = Array.from({length: 9}, (_, n) => `<p>Lamp ${n} gives light to a whole room.</p>`);
  const root = document.getElementById('root');
  root.innerHTML = `<main><h1>Lamps</h1>${lines.join('')}<x-y>and a word in its slot</x-y></main>`;
  root.querySelector('x-y').attachShadow({mode: 'open'}).innerHTML =
    '<h2>Shade</h2><p>What stands in the shade of the lamp is text as well.</p><slot></slot>';
}, 200)"""
RESULTS = """<!doctype html><title>oil lamps - Search</title><ol id=b_results></ol><script>
const asked = new URLSearchParams(location.search).get('q');
for (const n of [1, 2, 3]) document.getElementById('b_results').insertAdjacentHTML('beforeend',
  `<li class=b_algo><h2><a href="https://example.com/${n}">${asked} ${n}</a></h2>
   <div class=b_caption><p>All there is to know of ${asked}, in part ${n}.</p></div></li>`);
</script>"""


@pytest.fixture(autouse=True)
def pages(app: WebApp) -> None:
    app.pages.update({"/shell": SHELL, "/made.js": SCRIPT, "/search": RESULTS})
    app.redirects["/to-shell"] = "/shell"


def _page(result: Result) -> dict[str, object]:
    assert result.error is None, result.render()
    assert result.data is not None
    page: dict[str, object] = result.data["pages"][0]
    return page


async def test_an_empty_shell_is_read_in_a_browser(desk: Desk) -> None:
    talk = desk.talk("shell")
    never = await talk.call("fetch_url", url=f"{desk.url}/shell", render="never")
    assert (_page(never)["unrendered"], _page(never)["rendered"]) == (True, False)
    made = await talk.call("fetch_url", url=f"{desk.url}/shell", find=["Lamp 8"])
    assert _page(made)["rendered"] is True
    assert "read in a browser" in made.text
    assert "Lamp 8 gives light" in made.text
    whole = (await talk.call("fetch_url", url=f"{desk.url}/shell")).text
    assert "What stands in the shade of the lamp is text as well." in whole
    assert "and a word in its slot" in whole
    plain = await talk.call("fetch_url", url=f"{desk.url}/desk")
    assert _page(plain)["rendered"] is False, "what has a text of its own is not opened"


async def test_always_says_where_it_came_from_and_what_it_is(desk: Desk) -> None:
    talk = desk.talk("always")
    made = await talk.call("fetch_url", url=f"{desk.url}/to-shell", render="always")
    assert _page(made)["final_url"] == f"{desk.url}/shell"
    assert f"redirected from {desk.url}/to-shell" in made.text
    table = await talk.call("fetch_url", url=f"{desk.url}/file", render="always")
    assert (_page(table)["kind"], _page(table)["rendered"]) == ("csv", False)
    gone = await talk.call("fetch_url", url=f"{desk.url}/gone", render="always")
    assert gone.error is not None
    assert gone.error.code == "http_status"


async def test_the_user_can_have_it_off(app: WebApp) -> None:
    settings = opened_to(app.url)
    settings["web"]["fetch"]["render"] = "never"
    async with Toolbox(settings) as box:
        page = await box.call("fetch_url", {"url": f"{app.url}/shell"})
        assert _page(page)["rendered"] is False
        always = await box.call("fetch_url", {"url": f"{app.url}/shell", "render": "always"})
        assert always.error is not None
        assert "web.fetch.render" in always.error.hint
    async with Toolbox(opened_to(app.url) | {"tools": {"disabled": ["browser"]}}) as box:
        page = await box.call("fetch_url", {"url": f"{app.url}/shell"})
        assert _page(page)["rendered"] is False


async def test_an_engine_is_read_in_a_browser(desk: Desk, app: WebApp) -> None:
    found = await desk.call("web_search", query="oil lamps", provider="bing_browser")
    assert found.error is None, found.render()
    assert "https://example.com/3" in found.text
    assert "All there is to know of oil lamps, in part 1." in found.text
    nowhere = opened_to(app.url) | {"browser": {"executable": "/nowhere/chromium"}}
    nowhere["web"]["providers"] = {"bing_browser": {"base_url": app.url}}
    async with Toolbox(nowhere) as box:
        missing = await box.call("web_search", {"query": "lamps", "provider": "bing_browser"})
        assert missing.error is not None
        assert "browser.executable" in missing.error.message
