"""What steps and readings bring about is what they say, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each_case
from tests.servers.web_app import WebApp
from tests.tools.browser.conftest import Desk, opened_to, step
from toolcrib.browser.browsers import Browsers
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANSWERS: dict[str, tuple[str, str, str]] = {
    "no": ("dialog = no", "click Ask", "+ kept"),
    "cancel": ("dialog = Cancel", "click Ask", "+ kept"),
    "yes": ("dialog = yes", "click Ask", "+ confirmed"),
    "no name": ("dialog = cancel", "click Prompt", "+ hello null"),
    "a text is for a prompt alone": ("dialog = Ann", "click Ask", "+ kept"),
}


@each_case("answer, click, expected", ANSWERS.values(), ids=ANSWERS)
async def test_dialogs_are_answered_as_meant(
    desk: Desk, answer: str, click: str, expected: str
) -> None:
    await desk("open", url=desk.url)
    assert expected in await desk.act(answer, click)


async def test_an_answer_of_true_or_false_is_one(desk: Desk) -> None:
    await desk("open", url=desk.url)
    for value, expected in ((False, "+ kept"), (True, "+ confirmed")):
        reply = await desk("act", actions=[{"action": "dialog", "value": value}, step("click Ask")])
        assert expected in reply.text


async def test_nothing_but_the_page_is_requested_where_there_are_forms(
    app: WebApp, tmp_path: Path
) -> None:
    settings = opened_to(app.url)
    settings["egress"]["only_hosts"] = settings["egress"]["allow_hosts"]
    async with Toolbox(settings, workspace=tmp_path) as box:
        for url in (f"{app.url}/login", app.url, f"{app.url}/login"):
            opened = await box.call("browser_open", {"url": url}, session="forms")
            assert opened.error is None, opened.render()
            assert "guard refused" not in opened.text
        conversation = box.use(Browsers).conversation("forms")
        assert conversation.refusals() == []
        assert conversation.failures() == []


WHOLE = """<title>Orders</title><header><h1>Orders</h1><a href=/orders.csv>Download CSV</a></header>
<main><p>There are two orders of this month, of which the first one is paid and the other is not
yet, as the office says. They go out on Friday, with the last van of the day.</p></main>
<footer><form action=/echo><label>Search <input name=q></label><button>Find</button></form>
</footer>"""


async def test_the_text_of_a_page_is_all_of_it(desk: Desk) -> None:
    desk.app.pages["/orders"] = WHOLE
    await desk("open", url=f"{desk.url}/orders")
    text = (await desk("read", full=True)).text
    for expected in ("# Orders", "Download CSV", "two orders", "Search"):
        assert expected in text


async def test_a_picture_is_what_its_name_says(desk: Desk) -> None:
    await desk("open", url=desk.url)
    for name in ("x.webp", "x.gif", "x.bmp"):
        assert ".png, .jpg or .pdf" in await desk.refused("screenshot", path=name)
        click = [step("click Twice")]
        assert ".png" in await desk.refused("act", actions=click, screenshot_path=name)
        assert ".png" in await desk.refused("open", url=desk.url, screenshot_path=name)
        assert not (desk.folder / name).exists()
    assert ".jpg" in await desk.refused("screenshot", path="x.png", format="jpeg")
    await desk("screenshot", path="x.jpg")
    assert (desk.folder / "x.jpg").read_bytes().startswith(b"\xff\xd8")


async def test_names_of_one_kind_show_that_kind(desk: Desk) -> None:
    talk = desk.talk("kinds")
    await talk("open", url=f"{talk.url}/echo?kind=named")
    assert "/echo?kind=named 200 document" in (await talk("network_requests")).text
    assert "No downloads yet." in (await talk("downloads")).text
    assert "# " not in (await talk("read")).text
    await talk("open", url=f"{talk.url}/list")
    assert "# All" in (await talk("get_text")).text
    await talk("close")


LINES = "".join(f"<p>Line {n} of many that the page has</p>" for n in range(400))


async def test_a_page_is_read_on_where_it_was_left(desk: Desk) -> None:
    desk.app.pages["/lines"] = f"<title>Lines</title><h1>Lines</h1>{LINES}"
    talk = desk.talk("lines")
    await talk("open", url=f"{talk.url}/lines")
    beyond = await talk.refused("read", offset=3000, max_tokens=60)
    assert "The page ends before 3,000" in beyond
    assert "ref" in beyond
    for tokens in (60, 300):
        arguments: dict[str, object] = {"full": True, "max_tokens": tokens}
        seen = ""
        for _ in range(3):
            part = await talk("read", **arguments)
            assert "left out" not in part.text
            assert "To go on" not in part.text
            assert part.next is not None
            assert part.next.arguments["max_tokens"] == tokens
            arguments = dict(part.next.arguments)
            seen += part.text
        last = max(n for n in range(400) if f"Line {n} of" in seen)
        assert all(f"Line {n} of" in seen for n in range(last))
    await talk("close")
