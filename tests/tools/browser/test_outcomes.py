"""What steps and readings bring about is what they say, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio

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


RICH = """<title>Rich</title><div contenteditable role=textbox aria-label=Editor>old <b>text</b>
</div><label>Plain <input></label><div contenteditable role=textbox aria-label=Note></div>"""


async def test_what_is_typed_into_rich_text_is_seen(desk: Desk) -> None:
    desk.app.pages["/rich"] = RICH
    assert "old text" in (await desk("open", url=f"{desk.url}/rich")).text
    assert '+ textbox "Editor"' in await desk.act("type Editor = brand new")
    assert 'textbox "Editor"' in (await desk("read", find="brand new")).text
    assert ": later" in await desk.act("type Note = later")


LATE = """<title>Late</title><div id=app></div><script>
fetch('/slow').then(() => setTimeout(() => app.innerHTML = '<p>Here it is</p>', 500))</script>"""


async def test_a_page_that_comes_late_is_waited_for(desk: Desk) -> None:
    desk.app.pages["/late"] = LATE
    assert "Here it is" in (await desk("open", url=f"{desk.url}/late")).text
    assert "Here it is" in (await desk("open", url=f"{desk.url}/late", text=True)).text


async def test_a_page_without_a_text_says_so(desk: Desk) -> None:
    desk.app.pages["/bare"] = "<title>Bare</title><script>fetch('/nothing')</script>"
    opened = (await desk("open", url=f"{desk.url}/bare")).text
    assert "shows no text yet" in opened
    assert "wait_for" in opened
    assert "shows no text yet" in (await desk("read")).text


REQUIRED = """<title>Required</title><form action=/echo>
<label>User name <input name=user required></label>
<input name=mail type=email placeholder=Mail value=none><button>Send</button>
<button formnovalidate name=draft value=yes>Draft</button></form>"""


async def test_a_form_that_is_not_sent_says_which_field_is_missing(desk: Desk) -> None:
    desk.app.pages["/required"] = REQUIRED
    await desk("open", url=f"{desk.url}/required")
    for steps in (["click Send"], ["press Mail = Enter"]):
        reply = await desk.act(*steps)
        assert "The form is not sent: User name: " in reply
        assert "The form is not sent: Mail: " in reply
    assert "is not sent" not in await desk.act("click Draft")
    await desk("open", url=f"{desk.url}/required")
    assert '"user": "ann"' in await desk.act(
        "type User name = ann", "type Mail = a@example.com", "click Send"
    )


async def test_goto_goes_on_from_the_page(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/pages")
    assert '{"a": "b"}' in await desk.act("goto /echo?a=b")
    opened = await desk("open", url=f"{desk.url}/pages", actions=[step("goto /echo?c=d")])
    assert '{"c": "d"}' in opened.text
    assert "This is page 3" in await desk.act(f"goto {desk.url}/pages", "goto ?page=3")
    empty = desk.talk("nothing there")
    refused = await empty.refused("act", actions=[step("goto /echo")])
    assert "no page is open" in refused.lower()


async def test_a_failed_goto_leaves_the_page_where_it_was(desk: Desk) -> None:
    await desk("open", url=f"{desk.url}/echo?still=here")
    await desk.refused("act", actions=[step("goto http://no-such-host.invalid/")])
    after = (await desk("read")).text
    assert "/echo?still=here" in after
    assert "chrome-error" not in after
    await desk.refused("open", url="http://no-such-host.invalid/")
    assert "/echo?still=here" in (await desk("read")).text


LOCKED = """<title>Locked</title>
<label>Language <select><option value=en>English<option value=de>German</select></label>"""


async def test_an_option_is_chosen_whatever_its_case(desk: Desk) -> None:
    desk.app.pages["/locked"] = LOCKED
    talk = desk.talk("locked")
    await talk("open", url=f"{talk.url}/locked")
    assert "[selected]" in await talk.act("select Language = german")
    assert '- option "German"' in await talk.act("select Language = EN")
    assert "English, German" in await talk.refused(
        "act", actions=[step("select Language = French")]
    )
    await talk("close")


IMPOSSIBLE: dict[str, tuple[dict[str, object], str]] = {
    "a script": ({"action": "evaluate", "value": "1"}, "browser.evaluate"),
    "a file without a path": ({"action": "upload", "target": "File"}, "path=report.csv"),
    "a file that is not there": (
        {"action": "upload", "target": "File", "path": "nowhere.txt"},
        "nowhere.txt does not exist",
    ),
    "a key that no keyboard has": ({"action": "press", "value": "Foo"}, "no key 'Foo'"),
    "no key": ({"action": "press"}, "names no key"),
    "no text": ({"action": "type", "target": "Name"}, "names no text"),
    "a dialog that nothing opens": ({"action": "dialog", "value": "accept"}, "in one call"),
}


@each_case("last, expected", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
async def test_nobody_is_asked_about_a_step_that_no_page_takes(
    desk: Desk, last: dict[str, object], expected: str
) -> None:
    talk = desk.talk(f"impossible {last}")
    await talk("open", url=talk.url)
    before = len(talk.questions)
    refused = await talk.refused("act", actions=[step("click Twice"), last])
    assert expected in refused
    assert "Step 2" in refused or last.get("path")
    assert len(talk.questions) == before
    await talk("close")


async def test_a_page_of_the_workspace_is_left_to_its_preview(desk: Desk) -> None:
    for name in ("open", "screenshot"):
        assert "preview_html path=page.html" in await desk.refused(name, url="page.html")
    assert "preview_html" not in await desk.refused("open", url="notes.txt")


async def test_a_file_that_is_not_named_is_none_that_was_read(desk: Desk) -> None:
    talk = desk.talk("unnamed file")
    await talk("open", url=f"{talk.url}/upload")
    await talk.refused("act", actions=[{"action": "upload", "target": "File"}])
    before = len(talk.questions)
    assert "got" not in await talk.act("hover File")
    await talk.act("press = Tab")
    assert not [each for each in talk.questions[before:] if "private files" in each]
    await talk("close")


BY_TIMER = """<title>Feed</title><style>p {height: 300px}</style><div id=feed><p>Post 10</p><p>x</p>
<p>x</p><p>x</p></div><label>Search <input id=search></label>
<label>Files <input id=files type=file multiple></label><label>Day <input type=date></label>
<button id=more>More</button><script>
let count = 0;
const later = (text, tag) => setTimeout(() => {
  const made = document.createElement(tag);
  made.textContent = text; feed.append(made);
}, 400);
addEventListener('scroll', () => {
  if (innerHeight + scrollY >= document.body.scrollHeight - 2 && count < 2)
    later('Batch ' + ++count, 'p');
});
search.addEventListener('input', () => later('Bern', 'button'));
more.addEventListener('click', () => later('Another', 'p'));
</script>"""


@pytest_asyncio.fixture(loop_scope="session")
async def feed(desk: Desk) -> Desk:
    desk.app.pages["/feed"] = BY_TIMER
    await desk("open", url=f"{desk.url}/feed")
    return desk


async def test_what_comes_by_a_timer_is_waited_for(feed: Desk) -> None:
    reply = await feed.act("scroll = bottom", "scroll = bottom")
    assert "Batch 1" in reply and "Batch 2" in reply, reply
    assert "Another" in await feed.act("click More")
    assert 'clicked button "Bern"' in await feed.act("type Search = B", "click Bern")


async def test_a_find_without_a_hit_says_so(feed: Desk) -> None:
    near = (await feed("read", find="Post 100")).text
    assert "Nothing says 'Post 100' as it is; near it:" in near
    assert "Post 10" in near
    for words in ("post 10", "button"):
        assert "Nothing says" not in (await feed("read", find=words)).text


async def test_a_date_is_shown_as_its_field_takes_it(feed: Desk) -> None:
    for value, form in (("3.2.2024", "2024-02-03"), ("2/3/2024", "YYYY-MM-DD")):
        step = {"action": "type", "target": "Day", "value": value}
        assert f'Write it like value="{form}".' in await feed.refused("act", actions=[step])


async def test_files_for_one_field_are_chosen_together(feed: Desk) -> None:
    for name in ("one.txt", "two.txt"):
        (feed.folder / name).write_text(name)
    names = "[...document.querySelector('#files').files].map(file => file.name)"
    step = {"action": "upload", "target": "Files"}
    for steps in (
        [{**step, "path": "one.txt"}, {**step, "path": "two.txt"}],
        [{**step, "path": ["one.txt", "two.txt"]}],
    ):
        await feed("open", url=f"{feed.url}/feed")
        reply = await feed("act", actions=steps)
        assert "chose one.txt, two.txt in Files" in reply.text
        page = feed.box.use(Browsers).conversation(feed.session).tab().page
        assert await page.evaluate(names) == ["one.txt", "two.txt"]
