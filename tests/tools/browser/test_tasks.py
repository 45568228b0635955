"""Tasks of people in web apps, through the tools alone, in a real browser."""

from __future__ import annotations

import json
import re

import pytest

from tests.cases import each_case
from tests.tools.browser.conftest import Desk
from toolcrib.browser.browsers import Browsers
from toolcrib.state.history import History

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.rows("C037", "C038", "C039", "E54", "E55"),
]


TASKS: dict[str, tuple[str, list[str], str]] = {
    "fill a form": (
        "/",
        ["type Name = Ann", "check Agree", "select Colour = blue", "click Send"],
        '"name": "Ann", "agree": "on", "colour": "blue"',
    ),
    "answer a prompt": ("/", ["dialog = Ann", "click Prompt"], "+ hello Ann"),
    "a link to a new tab": ("/", ["click New tab"], '"from": "new"'),
    "click in a frame": ("/frames", ["click Inside"], "pressed inside"),
    "click in a shadow root": ("/frames", ["click Shadow"], "+ out of the shadow"),
    "a single-page app": ("/tasks", ["type New task = buy milk", "click Add"], "buy milk"),
    "drag and drop": ("/drag", ["drag Card = Target"], "dropped card"),
    "click what is covered": ("/covered", ["click Below"], "was covered"),
}
# The others are tried at night.
MORE_TASKS: dict[str, tuple[str, list[str], str]] = {
    "pick a date": ("/", ["type Day = 2026-11-23", "click Send"], '"day": "2026-11-23"'),
    "choose a radio button": ("/", ["check Large", "click Send"], '"size": "l"'),
    "write in an area": ("/", ["type Notes = two words", "click Send"], '"notes": "two words"'),
    "typing replaces": ("/", ["type Name = a", "type Name = b", "click Send"], '"name": "b"'),
    "accept what is asked": ("/", ["dialog = accept", "click Ask"], "+ confirmed"),
    "nothing is accepted unasked": ("/", ["click Ask"], "+ kept"),
    "an alert is told": ("/", ["click Warn"], "Dialog (alert) accepted: mind the gap"),
    "wait for what comes late": ("/", ["click Load", "wait = loaded late"], "+ loaded late"),
    "double click": ("/", ["double_click Twice"], "+ twice"),
    "hover": ("/", ["hover Hover here"], "+ over it"),
    "edit rich text": ("/", ["type Page = new text"], "new text"),
    "press a key": ("/", ["click Keys", "press = PageDown"], "+ key PageDown"),
    "press a key in a field": ("/", ["press Keys = x"], "+ key x"),
    "press keys as models write them": (
        "/",
        ["type Name = Eve", "press Name = ctrl+a", "press Name = del", "press Name = return"],
        "/echo?name=&colour",
    ),
    "press Enter to send": ("/", ["type Name = Eve", "press Name = Enter"], '"name": "Eve"'),
    "follow a link": ("/", ["click List"], 'link "Link 0"'),
    "a page that is not there": ("/", ["click Gone"], "(HTTP 404)"),
    "type in a frame": ("/frames", ["type Deep = down"], 'textbox "Deep"'),
    "its routes": ("/tasks", ["click About"], "About these tasks"),
    "endless scrolling": ("/scroll", ["scroll = bottom", "scroll = bottom"], "Row 59"),
    "a calendar": ("/dates", ["click When", "click #c >> text='17'"], "2026-11-17"),
    "pages of a list": ("/pages", ["click Next", "click Next"], "This is page 3"),
    "back and forward": ("/pages", ["click Next", "back", "forward"], "Page 2 —"),
}


async def _do(desk: Desk, path: str, steps: list[str], expected: str) -> None:
    await desk("open", url=f"{desk.url}{path}")
    assert expected in await desk.act(*steps)


@each_case("path, steps, expected", TASKS.values(), ids=TASKS)
async def test_tasks(desk: Desk, path: str, steps: list[str], expected: str) -> None:
    await _do(desk, path, steps, expected)


@each_case("path, steps, expected", MORE_TASKS.values(), ids=MORE_TASKS)
async def test_more_tasks(desk: Desk, path: str, steps: list[str], expected: str) -> None:
    await _do(desk, path, steps, expected)


async def test_a_line_of_the_page_is_a_target(desk: Desk) -> None:
    page = (await desk("open", url=f"{desk.url}/")).text
    line = next(line for line in page.splitlines() if 'link "List"' in line)
    result = await desk("act", actions=[{"action": "click", "target": line}])
    assert 'link "Link 0"' in result.text


async def test_a_login_is_of_its_conversation_alone(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/login")
    reply = await desk.act("type User = ann", "type Password = s3cret-word", "click Log in")
    assert "Welcome, ann" in reply
    assert "Welcome, ann" in (await desk("open", url=f"{desk.url}/desk")).text
    other = desk.talk("other")
    assert "Welcome" not in (await other("open", url=f"{desk.url}/desk")).text
    assert "/login" not in (await other("tabs")).text
    await other("close")
    await desk("close")
    again = await desk("open", url=f"{desk.url}/desk")
    assert "Password" in again.text, "a new context has no cookies of the one before"


async def test_a_file_is_chosen_and_one_is_downloaded(desk: Desk) -> None:
    (desk.folder / "note.txt").write_text("ten lines")
    await desk("open", url=f"{desk.url}/upload")
    await desk("act", actions=[{"action": "upload", "target": "File", "path": "note.txt"}])
    assert "got ten lines" in (await desk("read")).text
    await desk("open", url=desk.url)
    assert "Download: report.csv" in await desk.act("click Report")
    await desk("logs", kind="downloads", save_as="kept/report.csv")
    assert (desk.folder / "kept/report.csv").read_text() == "a,b\n1,2\n"
    undone = await desk.call("undo_changes")
    assert undone.error is None
    assert not (desk.folder / "kept").exists()


async def test_what_changed_is_told_once_and_the_page_named_where_it_is_another(desk: Desk) -> None:
    await desk("open", url=desk.url)
    reply = await desk.act("type Name = Ann")
    assert '+ textbox "Name"' in reply
    assert '- textbox "Name"' not in reply
    assert "Desk —" not in reply
    assert "Echo —" in await desk.act("click Send")


async def test_a_large_page_is_short_and_everything_on_it_is_found(desk: Desk) -> None:
    opened = await desk("open", url=f"{desk.url}/list")
    assert len(opened.text) <= 8_000
    assert "more" in opened.text
    for number in (0, 150, 299):
        found = (await desk("read", find=f"Delete {number}")).text
        assert f'button "Delete {number}"' in found
    moved = await desk.act("click Delete 277")
    assert "Deleted 277" in moved
    unfolded = await desk("read", offset=opened.next.arguments["offset"]) if opened.next else None
    assert unfolded is None or "Link" in unfolded.text


async def test_what_is_not_the_only_one_is_never_clicked(desk: Desk) -> None:
    await desk("open", url=desk.url)
    reply = await desk.refused("act", actions=[{"action": "click", "target": "Same"}])
    assert reply.count('button "Same"') == 2
    near = await desk.refused("act", actions=[{"action": "click", "target": "Sned"}])
    assert 'button "Send"' in near
    several = await desk.refused("act", actions=[{"action": "click", "target": "css=button"}])
    assert "visible elements fit" in several


async def test_a_ref_that_is_gone_names_what_is_there_now(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/tasks")
    await desk.act("type New task = one", "click Add")
    page = (await desk("read", find="Delete")).text
    ref = page.split('button "Delete" ')[1].split()[0]
    await desk.act(f"click {ref}")
    assert "is no longer there" in await desk.refused(
        "act", actions=[{"action": "click", "target": ref}]
    )


async def test_steps_after_a_failed_one_are_not_done(desk: Desk) -> None:
    await desk("open", url=desk.url)
    reply = await desk.act("type Name = Ann", "click Nowhere at all", "click Send")
    assert "Then it ended. Step 2 (click)" in reply
    assert "Echo" not in reply


async def test_text_pictures_tabs_and_logs(desk: Desk) -> None:
    opened = await desk(
        "open", url=f"{desk.url}/echo?hello=you", text=True, screenshot_path="shot.png"
    )
    assert "You said" in opened.text
    assert opened.images[0].mime_type == "image/png"
    assert (desk.folder / "shot.png").read_bytes().startswith(b"\x89PNG")
    await desk("screenshot", path="page.pdf", format="pdf")
    assert (desk.folder / "page.pdf").read_bytes().startswith(b"%PDF")
    small = await desk("screenshot", width=400, height=300)
    assert small.images
    assert "/echo" in (await desk("tabs")).text
    assert "/echo?hello=you 200 document" in (await desk("logs", kind="network")).text
    await desk("tabs", action="close")
    assert "No page is open" in await desk.refused("read")


FIELDS = """<title>Fields</title><label>Name <input></label>
<label>Day <input type=date></label><label>Count <input type=number></label>
<label>Share <input type=range max=10></label>
<label>Colours <select multiple><option>red<option>green<option>blue</select></label>
<label>City <select><option>Rome<option>Oslo</select></label>
<button disabled>Send</button>
<label for=f>Papers</label><input id=f type=file style="display: none">
<label>City of birth <input></label>
<form method=post action=/fields><button>Again</button></form>
<a download=one.csv href="data:text/csv,one">One</a>
<a download=two.csv href="data:text/csv,two">Two</a>"""


async def test_fields_take_what_they_are_for(desk: Desk) -> None:
    desk.app.pages["/fields"] = FIELDS
    await desk("open", url=f"{desk.url}/fields")

    async def refused(**step: str) -> str:
        return await desk.refused("act", actions=[step])

    no_text = await refused(action="type", target="Name")
    assert "names no text" in no_text
    assert "2026-12-24" in await refused(action="type", target="Day", value="24.12.2026")
    assert '="10"' in await refused(action="type", target="Count", value="ten")
    assert "which says 10 now" in await desk.act("type Share = 99")
    await desk.act("type Day = 2026-12-24", "select Colours = red, blue", "type City = Oslo")
    page = (await desk("read")).text
    assert "2026-12-24" in page
    chosen = await desk.box.use(Browsers).conversation(desk.session).tab().page.evaluate(
        "[...document.querySelectorAll('option:checked')].map(o => o.text)"
    )  # fmt: skip
    assert chosen == ["red", "blue", "Oslo"]


async def test_what_labels_name_is_found_and_a_new_page_is_no_difference(desk: Desk) -> None:
    desk.app.pages["/fields"] = FIELDS
    (desk.folder / "paper.txt").write_text("x")
    opened = await desk("open", url=f"{desk.url}/fields", wait_for="City of birth")
    assert 'textbox "City of birth"' in opened.text
    await desk("act", actions=[{"action": "upload", "target": "Papers", "path": "paper.txt"}])
    chosen = await desk.box.use(Browsers).conversation(desk.session).tab().page.evaluate(
        "document.querySelector('#f').files[0].name"
    )  # fmt: skip
    assert chosen == "paper.txt"
    reply = await desk.act("click Again")
    assert "Wrong password" in reply
    assert "- textbox" not in reply
    there = await desk("act", actions=[{"action": "goto", "target": f"{desk.url}/fields"}])
    assert "Colours" in there.text


async def test_a_button_that_cannot_be_used_says_why(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.app.pages["/fields"] = FIELDS
    await desk("open", url=f"{desk.url}/fields")
    tab = desk.box.use(Browsers).conversation(desk.session).tab()
    tab.page.context.set_default_timeout(500)
    refused = await desk.refused("act", actions=[{"action": "click", "target": "Send"}])
    tab.page.context.set_default_timeout(10_000)
    assert "it is disabled." in refused


async def test_a_download_is_saved_by_its_name(desk: Desk) -> None:
    desk.app.pages["/fields"] = FIELDS
    talk = desk.talk("downloads by name")
    await talk("open", url=f"{talk.url}/fields")
    await talk.act("click One", "click Two")
    saved = (await talk("logs", save_as="one.csv")).text
    assert (talk.folder / "one.csv").read_text() == "one"
    assert "Not saved: two.csv" in saved
    other = (await talk("logs", save_as="other.csv")).text
    assert (talk.folder / "other.csv").read_text() == "two"
    assert "It is two.csv" in other
    assert "Not saved" not in other
    await talk("close")


async def test_a_server_that_is_not_there_is_no_page(desk: Desk) -> None:
    result = await desk.call("browser_open", url="http://no-such-host.invalid/")
    assert result.error is not None
    assert "no-such-host.invalid" in result.error.message
    assert "502" not in result.render()


async def test_pages_that_do_not_come_or_come_by_half_are_told(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/echo?a=b")
    nothing = (await desk("open", url=f"{desk.url}/no-content")).text
    assert "gave no content" in nothing
    assert "You said" in nothing
    half = (await desk("open", url=f"{desk.url}/half")).text
    assert "still loading" in half
    assert "first half" in half


async def test_a_download_behind_a_pdf_is_told_at_once(desk: Desk) -> None:
    talk = desk.talk("pdf")
    await talk("open", url=f"{talk.url}/a.pdf")
    opened = await talk("open", url=f"{talk.url}/file")
    assert "Download: report.csv" in opened.text
    assert "It is a PDF" in opened.text
    assert "It is a PDF" in (await talk("read")).text
    assert "chrome" not in (await talk("logs", kind="network")).text
    await talk("close")


async def test_a_password_stays_out_of_the_history(desk: Desk) -> None:
    talk = desk.talk("password")
    await talk("open", url=f"{talk.url}/login")
    await talk.act("type User = ann", "type Password = W0rd-that-is-typed")
    rows = await talk.box.use(History).query(tool="browser_act", limit=5)
    text = " ".join(row.arguments for row in rows if row.session == talk.session)
    assert "ann" in text
    assert "W0rd-that-is-typed" not in text
    await talk("close")


async def test_the_hint_names_the_setting_that_opens_it(desk: Desk) -> None:
    refused = await desk.refused("open", url="http://127.0.0.1:8099/")
    assert "to egress.allow_hosts" in refused


async def test_nobody_is_asked_where_no_page_is_open(desk: Desk) -> None:
    talk = desk.talk("nothing open")
    before = len(talk.questions)
    step = {"action": "click", "target": "Send"}
    assert "No page is open" in await talk.refused("act", actions=[step])
    assert len(talk.questions) == before


PAGE = """<title>Names</title><h1>Only heading</h1>
<button onclick="document.title = 'Pressed'">Go on</button><p><a href=/echo>On</a></p>
<script>setTimeout(() => document.body.append(document.createElement('main')), 50);
setTimeout(() => document.querySelector('main').textContent = 'came late', 100)</script>"""
CONTROL = "browser_session_control"
SPELLED: dict[str, tuple[str, dict[str, object], str]] = {
    "a tag": (CONTROL, {"actions": [{"type": "click", "selector": "button"}]}, "Pressed —"),
    "tags": (CONTROL, {"actions": [{"type": "click", "selector": "body button"}]}, "Pressed —"),
    "words before tags": (CONTROL, {"actions": [{"type": "hover", "selector": "on"}]}, 'link "On"'),
    "wait for a tag": (
        CONTROL,
        {"actions": [{"type": "wait_for_selector", "selector": "main", "timeout": 3000}]},
        "waited for main",
    ),
    "ms": (CONTROL, {"actions": [{"type": "wait", "ms": 20}]}, "waited 0.02 s"),
    "duration": (CONTROL, {"actions": [{"type": "wait", "duration": 15}]}, "waited 0.015 s"),
    "seconds": (CONTROL, {"actions": [{"type": "wait", "seconds": 0.1}]}, "waited 0.1 s"),
    "a unit": (CONTROL, {"actions": [{"type": "wait", "value": "10ms"}]}, "waited 0.01 s"),
    "many": (CONTROL, {"actions": [{"type": "wait", "value": "100"}]}, "waited 0.1 s"),
    "few": (CONTROL, {"actions": [{"type": "wait", "value": 0.2}]}, "waited 0.2 s"),
    "no time": (CONTROL, {"actions": [{"type": "wait"}]}, "names nothing to wait for"),
    "scroll by": (CONTROL, {"actions": [{"type": "scroll", "x": 0, "y": 300}]}, "scrolled 300"),
    "scroll up": (
        CONTROL,
        {"actions": [{"type": "scroll", "direction": "up", "amount": 40}]},
        "scrolled -40",
    ),
    "goto": (CONTROL, {"actions": [{"type": "goto", "url": "/echo?a=b"}]}, '{"a": "b"}'),
    "only read": (CONTROL, {"read_page": True}, 'button "Go on"'),
    "full read": (CONTROL, {"full_read": True, "actions": []}, "# Only heading"),
    "fuzzy find": (CONTROL, {"fuzzy_find": {"text": "Go onn"}}, 'button "Go on"'),
    "find a kind": ("browser_read", {"find": "h1"}, 'heading "Only heading"'),
    "evaluate": (CONTROL, {"actions": [{"type": "evaluate", "script": "1"}]}, "browser.evaluate"),
    "nothing": (CONTROL, {"actions": []}, "There are no steps"),
    "open": (
        "browser_open_page",
        {
            "url": "/names",
            "wait_for_selector": "main",
            "screenshot_path": "names.png",
            "full_page_screenshot": True,
            "actions": [{"type": "click", "selector": "button"}],
        },
        "Saved names.png",
    ),
    "session open": (
        "browser_session_open",
        {"url": "/names", "wait_for_selector": "h1", "include_page_text": True},
        "# Only heading",
    ),
    "capture": (
        "capture_screenshot",
        {"url": "/names", "output_path": "c.png", "full_page": True, "width": 320, "delay": 20},
        "Saved c.png",
    ),
    "close": ("browser_session_close", {}, "The pages are closed."),
}


@pytest.mark.rows("C040", "E56", "E57", "E58", "X13")
@each_case("name, arguments, expected", SPELLED.values(), ids=SPELLED)
async def test_names_and_arguments_of_other_systems(
    desk: Desk, name: str, arguments: dict[str, object], expected: str
) -> None:
    desk.app.pages["/names"] = PAGE
    talk = desk.talk("names")
    await talk("open", url=f"{desk.url}/names")
    given = json.loads(json.dumps(arguments).replace('"/', f'"{desk.url}/'))
    assert expected in (await talk.call(name, **given)).render()


async def test_several_of_a_tag_are_named_with_their_refs(desk: Desk) -> None:
    await desk("open", url=desk.url)
    reply = await desk.refused("act", actions=[{"action": "click", "target": "button"}])
    assert "visible elements fit 'button'" in reply
    assert re.search(r'button "Send" (?:f\d+)?e\d+', reply)


async def test_a_pdf_is_left_to_fetch_url(desk: Desk) -> None:
    result = await desk("open", url=f"{desk.app.url}/paper.pdf")
    if "Download: " in result.text:
        return  # a browser without a window saves it
    assert "It is a PDF" in result.text
    assert result.next is not None
    assert (result.next.tool, result.next.arguments["url"]) == (
        "fetch_url",
        f"{desk.app.url}/paper.pdf",
    )
    after = await desk("open", url=f"{desk.app.url}/")
    assert "It is a PDF" not in after.text
    saved = await desk("open", url=f"{desk.app.url}/saved.pdf")
    assert "Download: " in saved.text
    assert "It is a PDF" not in saved.text
