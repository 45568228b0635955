"""`toolcrib browser`: a person logs in to a site, for the browser of this workspace."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import TYPE_CHECKING

from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import visible
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from toolcrib.browser.browsers import BrowserSession
    from toolcrib.browser.logins import Logins
    from toolcrib.core.config import Config

SESSION = "cli:login"
OPEN_SECONDS = 30.0
POLL_SECONDS = 0.5


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("what", choices=("login", "logins", "logout"))
    parser.add_argument("url", metavar="URL", nargs="?", default="", help="the site")
    parser.epilog = (
        "login opens a window on the site; when you are logged in, press Enter here or close the "
        "window. The logins are used where browser.profile is workspace. logins lists the sites, "
        "logout forgets one, or all."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Log in, or show or forget logins."""
    config = flags.load()
    if options.what == "login":
        return asyncio.run(_login(options.url, config))
    return asyncio.run(_others(options.what, options.url, config))


async def _login(url: str, config: Config) -> int:
    from toolcrib.browser.browsers import Browsers
    from toolcrib.browser.logins import Logins
    from toolcrib.browser.program import has_screen
    from toolcrib.net.egress.url import complete_url, parse_url
    from toolcrib.toolbox import Toolbox

    if not url:
        raise BadInput("Which site?", hint="Such as: toolcrib browser login https://example.com")
    target = parse_url(complete_url(url)).href
    if not has_screen() and not config.browser.cdp_url:
        raise Unavailable(
            "There is no screen here, so no window can be opened.",
            hint="Run it where there is one. A model logs in with browser_act and secret:NAME.",
        )
    own = {"headless": False, "profile": "workspace", "idle_seconds": float("inf")}
    browser = config.browser.model_copy(update=own)
    async with Toolbox(config.model_copy(update={"browser": browser})) as box:
        conversation = box.use(Browsers).conversation(SESSION)
        tab = await conversation.open("web")
        await tab.goto(target, OPEN_SECONDS)
        print("Log in there. When you are in, press Enter here, or close the window.")
        stored = await store_login(conversation, box.use(Logins), _enter())
    for origin in stored:
        print(f"Kept: {visible(origin)}")
    if not stored:
        print("Nothing was kept: no site there set a cookie or stored anything.")
    elif config.browser.profile != "workspace":
        print("toolcrib config set browser.profile workspace lets the browser use it.")
    return 0 if stored else 1


async def store_login(
    conversation: BrowserSession, logins: Logins, finished: asyncio.Future[None]
) -> list[str]:
    """Wait for the person, and keep the logins of the sites that their window came to.

    Args:
        conversation: whose window it is.
        logins: where they are kept.
        finished: done when the person says so; to close the window says it too.

    Returns:
        The origins of which something is kept.
    """
    from toolcrib.browser.logins import logins_in

    tabs = set(conversation.tabs)
    while not finished.done() and any(not tab.page.is_closed() for tab in tabs):
        await asyncio.wait({finished}, timeout=POLL_SECONDS)
        tabs |= set(conversation.tabs)
    state = await conversation.state()
    found = logins_in(state, {site for tab in tabs for site in tab.sites})
    return await logins.keep(found)


def _enter() -> asyncio.Future[None]:
    """Done when a line is typed; never where nobody can type one."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        if not typed.done():
            typed.set_result(None)

    def read() -> None:
        if sys.stdin.readline():
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(end)

    # A thread of its own, since one of the pool would hold up the end of the process.
    threading.Thread(target=read, daemon=True).start()
    return typed


async def _others(what: str, url: str, config: Config) -> int:
    from toolcrib.browser.logins import Logins
    from toolcrib.core.context import Services
    from toolcrib.net.egress.url import complete_url, web_origin

    async with Services(config) as services:
        logins = services.use(Logins)
        if what == "logout":
            count = await logins.forget(web_origin(complete_url(url)) if url else "")
            print(f"Forgotten: {counted(count, 'site')}.")
            return 0 if count else 1
        found = await logins.all()
    for login in found:
        when = time.strftime("%d %b %Y %H:%M", time.localtime(login.saved))
        print(f"{visible(login.origin)}  {when}, {len(login.cookies)} cookies")
    if not found:
        print("No site is logged in to: toolcrib browser login URL does that.")
    return 0
