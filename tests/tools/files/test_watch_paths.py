"""`watch_paths` through the whole pipeline, with real changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("E23", "E24", "E25", "E26")
SESSION = "watching"


async def call(box: Toolbox, **arguments: Any) -> Result:
    return await box.call("watch_paths", arguments, session=SESSION)


async def seen(box: Toolbox, watch: str, path: str) -> set[tuple[str, str]]:
    """The events until one speaks of a path."""
    found: set[tuple[str, str]] = set()
    while not any(named == path for _, named in found):
        result = await call(box, action="read", id=watch, wait=2)
        assert result.error is None
        found |= {(e["change"], e["path"]) for e in result.data["events"]}
    return found


async def listed(box: Toolbox, condition: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until the list says something of the only watch."""
    while not condition((await call(box, action="list")).data["watches"][0]):
        await asyncio.sleep(0.01)


async def test_changes_are_told_once(ws: Path, box: Toolbox) -> None:
    (ws / "src").mkdir()
    (ws / ".git").mkdir()
    started = await call(box, action="start")
    assert started.error is None
    watch = started.data["id"]
    (ws / ".env").write_text("x")
    (ws / ".git" / "index").write_text("x")
    (ws / "src" / "a.py").write_text("x")
    found = await seen(box, watch, "src/a.py")
    assert ("added", "src/a.py") in found
    assert not any(".env" in path or ".git" in path for _, path in found)
    listed = await call(box, action="list")
    assert [w["id"] for w in listed.data["watches"]] == [watch]
    stopped = await call(box, action="stop", id=watch)
    assert stopped.error is None
    gone = await call(box, action="read", id=watch)
    assert gone.error is not None
    assert gone.error.code == "not_found"


async def test_a_file_that_is_replaced(ws: Path, box: Toolbox) -> None:
    (ws / "a.txt").write_text("x")
    watch = (await call(box, action="start", path="a.txt")).data["id"]
    (ws / "b.txt").write_text("y")
    (ws / "new").write_text("y")
    (ws / "new").rename(ws / "a.txt")
    found = await seen(box, watch, "a.txt")
    assert {path for _, path in found} == {"a.txt"}


async def test_an_edited_file_changed_and_is_told_at_once(ws: Path, box: Toolbox) -> None:
    (ws / "a.txt").write_text("one\n")
    watch = (await call(box, action="start")).data["id"]
    edit = {"path": "a.txt", "old": "one", "new": "two"}
    assert (await box.call("edit_file", edit, session=SESSION)).error is None
    result = await call(box, action="read", id=watch)
    assert [(e["change"], e["path"]) for e in result.data["events"]] == [("changed", "a.txt")]
    (ws / "a.txt").unlink()
    assert await seen(box, watch, "a.txt") == {("deleted", "a.txt")}


async def test_fifty_are_kept_and_ten_shown(ws: Path, box: Toolbox) -> None:
    watch = (await call(box, action="start")).data["id"]
    for number in range(80):
        (ws / f"f{number:02}").write_text("x")
    await listed(box, lambda watch: watch["changes"] >= 80)
    result = await call(box, action="read", id=watch)
    assert len(result.data["events"]) == 10
    assert result.data["total"] >= 80
    assert result.data["kept"] == 50


async def test_what_is_watched_goes_away(ws: Path, box: Toolbox) -> None:
    (ws / "sub").mkdir()
    watch = (await call(box, action="start", path="sub")).data["id"]
    (ws / "sub").rmdir()
    await listed(box, lambda watch: watch["ended"])
    result = await call(box, action="read", id=watch)
    assert "gone" in result.text


async def test_links_that_lead_out_tell_nothing(ws: Path, box: Toolbox, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (ws / "link").symlink_to(outside)
    watch = (await call(box, action="start")).data["id"]
    (outside / "secret.txt").write_text("x")
    (ws / "end.txt").write_text("x")
    found = await seen(box, watch, "end.txt")
    assert not any("secret" in path for _, path in found)


async def test_links_round_and_round_are_refused(ws: Path, box: Toolbox) -> None:
    (ws / "up").mkdir()
    (ws / "up/here").symlink_to("..")  # to a folder above: no way of its own
    started = await box.call("watch_path", {"path": "."})
    assert started.error is None
    for number in range(40):
        (ws / f"f{number}").mkdir()
        for name in "ab":
            (ws / f"f{number}" / name).symlink_to(f"../f{number + 1}")
    refused = (await box.call("watch_path", {"path": "f0"})).error
    assert refused is not None
    assert "more than 50,000 folders" in refused.message


async def test_nothing_is_left_and_there_is_a_limit(ws: Path) -> None:
    async with Toolbox(workspace=ws) as box:
        for number in range(10):
            (ws / f"d{number}").mkdir()
            result = await call(box, action="start", path=f"d{number}")
        assert result.error is not None
        assert result.error.code == "bad_input"
        other = await box.call("watch_paths", {"action": "list"}, session="another")
        assert other.data["watches"] == []
    await until(lambda: not [t for t in threading.enumerate() if "_follow" in t.name])
