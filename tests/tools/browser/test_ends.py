"""What ends by itself: the browser, what drives it, a page, a call. All of it is really killed."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conditions import until
from tests.servers.web_app import WebApp
from tests.tools.browser.conftest import Desk, opened_to, step
from toolcrib.browser.browsers import Browsers
from toolcrib.browser.launcher import profile_folder
from toolcrib.system.processes import Processes
from toolcrib.system.sweep import look_around
from toolcrib.toolbox import Toolbox

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.rows("C041"),
    pytest.mark.timeout(170),
]
Kill = Callable[[Desk], None]


@pytest_asyncio.fixture(loop_scope="session")
async def own(app: WebApp, tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk whose browser a test may end."""
    async with Toolbox(opened_to(app.url), workspace=tmp_path) as box:
        yield Desk(app, box, tmp_path, [])


def drivers() -> set[int]:
    """The programs of playwright that this process started."""
    return {
        pid
        for pid, seen in look_around().items()
        if seen.parent == os.getpid() and seen.alive and b"run-driver" in _command(pid)
    }


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def kill_browser(desk: Desk) -> None:
    desk.box.use(Processes).kill_marked("browser")


def kill_driver_beside(others: set[int]) -> Kill:
    def kill(_: Desk) -> None:
        for pid in drivers() - others:
            os.kill(pid, signal.SIGKILL)

    return kill


async def _ends(desk: Desk, kill: Kill) -> None:
    """Between two calls, and in the middle of each kind of call, the end is told once."""
    await desk("open", url=desk.url)
    kill(desk)
    reported = await desk.refused("read")
    assert (
        "are gone: the browser ended" in reported
        or "No page is open: the browser ended" in reported
    )
    assert await desk.refused("read") == (
        "Error (no_results): No page is open.\nbrowser_open url=… opens one."
    )
    middle: dict[str, tuple[str, dict[str, Any]]] = {
        "open": ("browser_open", {"url": f"{desk.url}/silent"}),
        "act": ("browser_act", {"actions": [step("hover Send"), step("wait = nowhere")]}),
        "screenshot": ("browser_screenshot", {"wait_for": "nowhere"}),
        "render": ("fetch_url", {"url": f"{desk.url}/silent", "render": "always"}),
    }
    for name, (tool, arguments) in middle.items():
        talk = desk.talk(name)
        assert "Desk" in (await talk("open", url=desk.url)).text
        tab = desk.box.use(Browsers).conversation(name).tab()
        requested = len(desk.app.requested)
        call = asyncio.ensure_future(talk.call(tool, **arguments))
        if "/silent" in arguments.get("url", ""):
            await until(lambda requested=requested: "/silent" in desk.app.requested[requested:])
        else:
            await until(lambda name=name: desk.box.use(Browsers).conversation(name).lock.locked())
        assert not tab.page.is_closed()
        kill(desk)
        result = await call
        assert result.error is not None
        # By the second it was seen before the page was looked at again.
        assert result.error.code in ("unavailable", "no_results"), f"{name}: {result.render()}"
        assert "the browser ended" in result.error.message, f"{name}: {result.render()}"
    assert "Desk" in (await desk("open", url=desk.url)).text


async def test_a_killed_driver_is_told_once_and_starts_anew(own: Desk) -> None:
    others = drivers()
    await own("open", url=own.url)
    first = drivers() - others
    arguments = own.box.use(Processes).marked_arguments("browser")
    profile = profile_folder(arguments)
    assert profile is not None
    assert profile.is_dir()
    kill_driver_beside(others)(own)
    assert "the browser ended" in await own.refused("read")
    assert not profile.exists()
    assert "Desk" in (await own("open", url=own.url)).text
    assert first.isdisjoint(drivers())


@pytest.mark.asyncio(loop_scope="function")  # whose failures nobody else's are
async def test_a_call_that_is_cancelled_while_the_browser_starts_leaves_nothing(
    app: WebApp, tmp_path: Path
) -> None:
    others, reported = drivers(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    async with Toolbox(opened_to(app.url), workspace=tmp_path) as box:
        call = asyncio.ensure_future(box.call("browser_open", {"url": app.url}))
        await until(lambda: drivers() - others)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    del call
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []
    assert drivers() == others


async def test_a_page_that_hangs_is_left_for_a_fresh_one(desk: Desk) -> None:
    talk = desk.talk("hanging")
    await talk("open", url=f"{desk.url}/busy")
    page = desk.box.use(Browsers).conversation("hanging").tab().page
    hanging = asyncio.ensure_future(page.evaluate("for (;;);"))
    opened = await talk("open", url=desk.url)
    assert 'button "Send"' in opened.text
    assert f"{desk.url}/busy did not answer any more: its tab was closed." in opened.text
    assert len((await talk("tabs")).data["tabs"]) == 1
    await asyncio.gather(hanging, return_exceptions=True)  # it ends with its page
    await talk("close")


async def test_a_page_whose_process_is_killed(desk: Desk) -> None:
    talk = desk.talk("crashed")
    await talk("open", url=desk.url)
    page = desk.box.use(Browsers).conversation("crashed").tab().page
    session = await page.context.new_cdp_session(page)
    crashed = asyncio.Event()
    page.on("crash", lambda _: crashed.set())
    crash = asyncio.ensure_future(session.send("Page.crash"))
    await crashed.wait()
    crash.cancel()
    for name, arguments in {
        "read": {},
        "act": {"actions": [step("click Send")]},
        "screenshot": {},
    }.items():
        assert "The page crashed" in await talk.refused(name, **arguments), name
    assert 'button "Send"' in (await talk("open", url=desk.url)).text
    await talk("close")


# Tests of the night.


async def test_a_killed_browser_is_told_in_every_call(own: Desk) -> None:
    await _ends(own, kill_browser)


async def test_a_killed_driver_is_told_in_every_call(own: Desk) -> None:
    await _ends(own, kill_driver_beside(drivers()))


@pytest.mark.asyncio(loop_scope="function")
async def test_calls_that_are_cancelled_at_any_moment(app: WebApp, tmp_path: Path) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    async with Toolbox(opened_to(app.url), workspace=tmp_path) as box:
        await _cancelled(Desk(app, box, tmp_path, []))
    gc.collect()
    await asyncio.sleep(0)
    assert reported == []


async def _cancelled(own: Desk) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("browser_open", {"url": f"{own.url}/list"}),
        ("browser_open", {"url": own.url, "wait_for": "nowhere"}),
        ("browser_act", {"actions": [step("click List"), step("back"), step("click Prompt")]}),
        ("browser_act", {"actions": [step("click Locked")]}),
        ("browser_act", {"actions": [step("click Report")]}),
        ("browser_act", {"actions": [step("wait = nowhere")]}),
        ("browser_screenshot", {"delay": 3}),
        ("browser_read", {"full": True}),
        ("fetch_url", {"url": f"{own.url}/list", "render": "always"}),
    ]
    for turns in (1, 3, 10, 30, 100):
        for name, arguments in calls:
            await own("open", url=own.url)
            call = asyncio.ensure_future(own.call(name, **arguments))
            for _ in range(turns):  # of the loop, so that each is cut at another place
                await asyncio.sleep(0.001)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
    assert "Desk" in (await own("open", url=own.url)).text
