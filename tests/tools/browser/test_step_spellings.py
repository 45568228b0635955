"""Steps and calls as other servers and small models write them, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from tests.tools.browser.conftest import Desk
from toolcrib.browser.browsers import Browsers

pytestmark = pytest.mark.asyncio(loop_scope="session")

SPELLED: dict[str, tuple[Any, str]] = {
    "one step beside": ({"action": "click", "target": "Twice"}, "clicked button"),
    "type as the action": ({"type": "fill", "selector": "Name", "text": "Eve"}, ": Eve"),
    "the action as a key": ({"click": "Load"}, "clicked button"),
    "a list of such": ({"actions": [{"click": "Load"}]}, "clicked button"),
    "the target below the action": (
        {"actions": [{"type": {"target": "Name", "text": "Ada"}}]},
        ": Ada",
    ),
    "the target as its value": ({"actions": [{"fill": "Name", "value": "Liv"}]}, ": Liv"),
    "words": ({"actions": ["click Load"]}, "clicked button"),
    "words alone": ({"actions": "click Load"}, "clicked button"),
    "text of a click": ({"actions": [{"action": "click", "text": "Load"}]}, "clicked button"),
    "a fence": (
        {"actions": '```json\n[{"action": "fill", "target": "Name", "value": "Bo"}]\n```'},
        ": Bo",
    ),
    "a second as a number": ({"actions": [{"wait": 1}]}, "waited 1 s"),
    "clear": ({"actions": [{"action": "clear", "target": "Name"}]}, "typed into"),
    "refresh": ({"actions": [{"action": "refresh"}]}, "reloaded"),
    "scroll down": ({"actions": [{"action": "scroll_down"}]}, "scrolled down"),
    "submit": ({"actions": [{"action": "submit", "target": "Name"}]}, "Echo —"),
    "a boolean": ({"actions": [{"action": "check", "target": "Agree", "value": False}]}, "unche"),
    "a list": ({"actions": [{"action": "select", "target": "Colour", "value": ["blue"]}]}, "blue"),
    "a line of the page": (
        {"actions": [{"action": "click", "target": 'button "Load"'}]},
        "clicked button",
    ),
    "a key in capitals": ({"actions": [{"action": "press", "value": "ENTER"}]}, "pressed Enter"),
    "a key in marks": ({"actions": [{"action": "press", "value": "<Enter>"}]}, "pressed Enter"),
}


@each_case("arguments, expected", SPELLED.values(), ids=SPELLED)
async def test_steps_are_understood(desk: Desk, arguments: dict[str, Any], expected: str) -> None:
    await desk("open", url=desk.url)
    assert expected in (await desk("act", **arguments)).text


async def test_a_role_with_a_name_is_of_that_role(desk: Desk) -> None:
    desk.app.pages["/roles"] = "<title>Roles</title><a href=/echo?a=link>Go</a> <button>Go</button>"
    await desk("open", url=f"{desk.url}/roles")
    assert "2 elements say 'Go'" in await desk.refused("act", click="Go")
    assert "No element says 'Go'" in await desk.refused("act", click='heading "Go"')
    assert '"a": "link"' in (await desk("act", click='link "Go"')).text


NAMED: dict[str, tuple[str, dict[str, Any], str]] = {
    "click": ("click", {"element": "the button that loads", "ref": "$Load"}, "clicked button"),
    "double click": ("click", {"ref": "$Twice", "doubleClick": True}, "+ twice"),
    "type": ("type", {"element": "Name", "text": "Eve"}, ": Eve"),
    "type and submit": ("type", {"ref": "$Name", "text": "Eve", "submit": True}, '"name": "Eve"'),
    "hover": ("hover", {"element": "Hover here"}, "+ over it"),
    "press": ("press_key", {"key": "PageDown"}, "pressed PageDown"),
    "select": ("select_option", {"ref": "$Colour", "values": ["blue"]}, "selected blue"),
    "wait": ("wait_for", {"time": 0.1}, "waited 0.1 s"),
    "wait for text": ("wait_for", {"text": "Colour"}, "waited for Colour"),
    "a form": (
        "fill_form",
        {
            "fields": [
                {"name": "Name", "type": "textbox", "ref": "$Name", "value": "Eve"},
                {"name": "Agree", "type": "checkbox", "ref": "$Agree", "value": "true"},
            ]
        },
        "checked checkbox",
    ),
    "a dialog": ("handle_dialog", {"accept": True}, "in one call"),
    "a script": ("evaluate", {"function": "() => 1"}, "browser.evaluate"),
}


@each_case("name, arguments, expected", NAMED.values(), ids=NAMED)
async def test_names_of_playwright_do_one_step(
    desk: Desk, name: str, arguments: dict[str, Any], expected: str
) -> None:
    await desk("open", url=desk.url)
    snapshot = desk.box.use(Browsers).conversation(desk.session).tab().latest
    assert snapshot is not None
    refs = {f"${node.name}": ref for ref, node in snapshot.by_ref.items() if node.acts}

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(each) for each in value]
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        return refs.get(value, value) if isinstance(value, str) else value

    assert expected in (await desk.call(f"browser_{name}", **filled(arguments))).render()


async def test_back_and_a_file_by_names_of_playwright(desk: Desk) -> None:
    (desk.folder / "chosen.txt").write_text("ten lines")
    await desk("open", url=f"{desk.url}/upload")
    await desk("file_upload", paths=["chosen.txt"])
    assert "got ten lines" in (await desk("read")).text
    await desk("act", action="upload", target="File", value="chosen.txt")
    (desk.folder / "File").write_text("a file called as the label")
    for name in ("value", "path"):
        done = await desk("act", actions=[{"upload": "File", name: "chosen.txt"}])
        assert "chose chosen.txt" in done.text
    await desk("open", url=f"{desk.url}/echo")
    assert "Upload" in (await desk("navigate_back")).text
