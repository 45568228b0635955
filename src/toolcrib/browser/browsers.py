"""The browser service: one Chromium for a toolbox, a fresh context for each conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from toolcrib.browser.downloads import MAX_UNSAVED_BYTES, size_of
from toolcrib.browser.launcher import (
    LAUNCH_SECONDS,
    connect,
    launch,
    obeys_guard,
    profile_folder,
    proxy_of,
    user_agent,
)
from toolcrib.browser.logins import Login, Logins, State, changed, state_of
from toolcrib.browser.masks import SecretMasks
from toolcrib.browser.program import variables
from toolcrib.browser.tabs import (
    Tab,
    add_quote,
    answering_within,
    ended,
    fence_quote,
    gone,
    says_closed,
)
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import Busy, Conflict, MissingExtra, NoResults, ToolError, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease
from toolcrib.net.egress.url import web_origin
from toolcrib.system.processes import Processes
from toolcrib.system.sweep import HAS_PROC

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, StorageState

Side = Literal["web", "runs"]
"""What a context may reach: the web, or servers of the conversation's own runs alone.

Two, since a page of a run could else leak what the run itself may not send.
"""
EXTRA = "browser"
CLOSE_SECONDS = 5.0
TEND_SECONDS = 3.0
MAX_TABS = 20
"""Tabs of one conversation; a page that opens more has them closed."""
MAX_CONVERSATIONS = 10
MAX_JUDGED = 100
MAX_SOCKET_FOLDER = 60
"""Characters of the folder that the browser's own socket has room for its name in."""
MAX_ENDED = 100
"""Conversations that are remembered by why their pages are gone."""
ENDED_ITSELF = "the browser ended, as by a crash or a signal"
PING_SECONDS = 10.0
MAX_SILENCES = 2
"""A browser that says nothing for so long, so often one after the other, is given up."""
MAX_PAGES_APART = 3
"""Pages that are read at the same time outside of conversations."""
VIEWPORT = (1280, 800)
# A page may call for a printer; a headless browser has none, and a window would wait for one.
_NO_PRINTING = "window.print = () => {};"


class BrowserSession:
    """The tabs of one conversation, in a context for the web and one for servers of its runs.

    Args:
        browsers: the service.
        session: the id of the conversation.

    Attributes:
        done: the steps that the call did which is at work; None where it does none.
        is_over: whether all of it was closed, so that nothing is to be opened in it.
        tab_came: that a tab was opened, since it was last cleared.
        masked: a text without the secrets that were typed into its pages.
    """

    def __init__(self, browsers: Browsers, session: str) -> None:
        self._browsers = browsers
        self.session = session
        self.tabs: list[Tab] = []
        self.current: Tab | None = None
        self.used_at = 0.0
        self.lock = asyncio.Lock()
        self.done: list[str] | None = None
        self.is_over = False
        self.tab_came = asyncio.Event()
        self.masked = SecretMasks()
        self._judged: dict[str, str] = {}
        self._contexts: dict[Side, BrowserContext] = {}
        self._logins: list[Login] = []
        self._leases: dict[Side, Lease] = {}
        self._taken_refusals: list[ToolError] = []

    def tab(self) -> Tab:
        """The tab that is being used.

        Raises:
            NoResults: none is open.
        """
        if self.current is None or self.current.page.is_closed():
            self._forget_closed()
        if self.current is None:
            why = self._browsers.take_end_reason(self.session)
            raise NoResults(
                f"No page is open: {why}." if why else "No page is open.",
                hint="browser_open url=… opens one.",
            )
        return self.current

    def judge(self, call_id: str, site: str) -> None:
        """Remember of which site it was decided that a call may act there."""
        while len(self._judged) >= MAX_JUDGED:  # calls that were refused never take theirs
            self._judged.pop(next(iter(self._judged)))
        self._judged[call_id] = site

    def take_judged(self, call_id: str) -> str:
        """The site on which a call may act, once; "" for none.

        While somebody was asked, the page may have gone to another one.
        """
        return self._judged.pop(call_id, "")

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """The time of one call, of which there is one at a time.

        Raises:
            Unavailable: the browser, or what drives it, ended meanwhile.
            Conflict: the tab was closed meanwhile, or all of the conversation.
        """
        async with self.lock:
            if self.is_over:
                raise Conflict("The pages were closed meanwhile.", hint="Send the call again.")
            self.done = None
            try:
                yield
            except Exception as error:
                await self._browsers.check_alive()
                if why := self._browsers.take_end_reason(self.session):
                    raise ended(why, self.done) from None
                if failure := gone(error):
                    raise failure from None
                if isinstance(error, ToolError):
                    if isinstance(error, Unavailable) and self.current is not None:
                        # What the page did before says why, such as windows without end.
                        add_quote(error, self.current.take_notes())
                    fence_quote(error)
                raise

    async def open(self, side: Side) -> Tab:
        """A new tab, which is then the one being used.

        Raises:
            Busy: too many are open.
        """
        self._forget_closed()
        if len(self.tabs) >= MAX_TABS:
            raise Busy(f"{MAX_TABS} tabs are open.", hint="browser_tabs action=close closes one.")
        context = await self._context(side)
        async with answering_within(LAUNCH_SECONDS):
            page = await context.new_page()
        tab = next((tab for tab in self.tabs if tab.page == page), None) or self._added(page)
        if why := self._browsers.take_end_reason(self.session):
            tab.note(f"The pages before are gone: {why}.")
        self.current = tab
        return tab

    def side_of(self, tab: Tab) -> Side:
        """By which context a tab reaches what it shows."""
        return "runs" if tab.page.context is self._contexts.get("runs") else "web"

    async def close_tab(self, tab: Tab) -> None:
        """Close one; the last one that is left is used then."""
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await tab.page.close(run_before_unload=False)
        self.forget(tab)

    def forget(self, tab: Tab) -> None:
        """Use a tab no longer."""
        if tab in self.tabs:
            self.tabs.remove(tab)
        self._forget_closed()

    @property
    def guarded(self) -> bool:
        """Whether its pages reach the network through the guard alone."""
        return self._browsers.guarded

    def is_logged_in(self, tab: Tab) -> bool:
        """Whether a tab shows a site with the user's own login."""
        site = web_origin(tab.pdf) or tab.site
        return any(login.origin == site for login in self._logins)

    async def state(self) -> State:
        """The cookies and the storage of its pages of the web."""
        context = self._contexts["web"]
        async with answering_within(CLOSE_SECONDS):
            return cast("State", await context.storage_state(indexed_db=True))

    def refusals(self) -> list[ToolError]:
        """What the guard refused to pages of this conversation, oldest first."""
        return [error for lease in self._leases.values() for error in lease.refusals]

    def failures(self) -> list[ToolError]:
        """What pages of this conversation could not reach, oldest first."""
        return [error for lease in self._leases.values() for error in lease.failures]

    def take_refusals(self) -> list[ToolError]:
        """Those of them that were not taken yet: a page may ask between two calls."""
        found = self.refusals()
        fresh = [each for each in found if not any(each is old for old in self._taken_refusals)]
        self._taken_refusals = found
        return fresh

    async def close(self) -> None:
        """Close its tabs and contexts, and its ways out."""
        if self._logins and "web" in self._contexts:
            with suppress(Exception):
                await self._browsers.logins.keep(changed(self._logins, await self.state()))
        self._logins = []
        contexts, self._contexts = list(self._contexts.values()), {}
        for lease in self._leases.values():
            lease.close()
        self._leases = {}
        self.tabs, self.current = [], None
        for context in contexts:
            with suppress(Exception):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await context.close()

    def _forget_closed(self) -> None:
        self.tabs = [tab for tab in self.tabs if not tab.page.is_closed()]
        if self.current not in self.tabs:
            self.current = self.tabs[-1] if self.tabs else None

    async def _context(self, side: Side) -> BrowserContext:
        context = self._contexts.get(side)
        if context is None:
            if side == "runs" and not await self._browsers.is_guarded():
                raise Unavailable(
                    "Servers of runs are not opened in a browser without the guard: their pages "
                    "could send what a run may not.",
                    hint="The user empties browser.cdp_url for that; fetch_url reads them.",
                )
            lease = await self._browsers.lease(side, self.session)
            self._leases[side] = lease
            if side == "web" and self._browsers.config.profile == "workspace":
                self._logins = await self._browsers.logins.all()
            context = await self._browsers.context(lease, self._logins if side == "web" else ())
            self._contexts[side] = context
            context.on("page", self._popped_up)
        return context

    def _popped_up(self, page: Page) -> None:
        if any(tab.page == page for tab in self.tabs):
            return
        self._forget_closed()
        if len(self.tabs) < MAX_TABS:
            self._added(page)
            return
        if self.current is not None:
            self.current.note(f"The page opened more than {MAX_TABS} tabs: the rest were closed.")
        self._browsers.spawn(page.close())

    def _added(self, page: Page) -> Tab:
        tab = Tab(page, masked=self.masked)
        tab.watch()
        self.tabs.append(tab)
        self.tab_came.set()
        return tab


class Browsers:
    """Starts the browser with the first page, and ends it when nobody has used it for long.

    Args:
        config: the whole tree; `browser` is read.
        proxy: the guard that every context goes through.
        egress: where the servers of runs are known.
        processes: whose janitor ends the browser should this process be killed.
        logins: of the workspace.
    """

    def __init__(
        self,
        config: Config,
        proxy: GuardProxy,
        egress: Egress,
        processes: Processes,
        logins: Logins,
    ) -> None:
        self.logins = logins
        self.config = config.browser
        self._own_user_agent = config.egress.user_agent
        self._proxy = proxy
        self._egress = egress
        self._processes = processes
        self._conversations: dict[str, BrowserSession] = {}
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._user_agent = ""
        self._guarded = True
        self._beginning: asyncio.Task[Browser] | None = None
        self._changing = asyncio.Lock()
        self._ended: dict[str, str] = {}
        self._silences = 0
        self._places_apart = asyncio.Semaphore(MAX_PAGES_APART)
        self._pages_apart = 0
        self._read_apart_at = 0.0
        self._scratch: Path | None = None
        self._tender: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    @classmethod
    def open(cls, services: Services) -> Self:
        """The service of a toolbox; nothing is started yet."""
        guard, egress = services.use(GuardProxy), services.use(Egress)
        logins = services.use(Logins)
        return cls(services.config, guard, egress, services.use(Processes), logins)

    async def is_guarded(self) -> bool:
        """Whether pages reach the network through the guard alone.

        Always so in a browser that is started here; one at `browser.cdp_url` is tried.

        Raises:
            Unavailable: it does not answer.
        """
        if self.config.cdp_url:
            await self._running()
        return self._guarded

    @property
    def guarded(self) -> bool:
        """The same, as it was found when the browser was last begun with."""
        return self._guarded

    def conversation(self, session: str) -> BrowserSession:
        """The tabs of a conversation, none at first."""
        found = self._conversations.get(session)
        if found is None:
            if len(self._conversations) >= MAX_CONVERSATIONS:
                idle = min(self._conversations.values(), key=lambda each: each.used_at)
                self.spawn(self.end(idle.session))
            found = self._conversations[session] = BrowserSession(self, session)
        found.used_at = asyncio.get_running_loop().time()
        return found

    def has(self, session: str) -> bool:
        """Whether a conversation has a page open."""
        found = self._conversations.get(session)
        return found is not None and bool(found.tabs)

    def side(self, url: str, session: str) -> Side:
        """By which context a URL is opened."""
        return "runs" if self._egress.serves(url, session) else "web"

    async def end(self, session: str) -> None:
        """Close all of a conversation."""
        found = self._conversations.pop(session, None)
        if found is not None:
            found.is_over = True
            await found.close()

    async def lease(
        self, side: Side, session: str, component: str = EXTRA, endpoints: Sequence[str] = ()
    ) -> Lease:
        """A way out for one context.

        Args:
            side: what it may reach.
            session: the conversation, for servers of its runs.
            component: the branch of the settings whose allowed hosts hold.
            endpoints: URLs that the user configured, whose hosts are open to it.
        """
        if side == "runs":
            return await self._proxy.lease(component, session=session, only_servers=True)
        return await self._proxy.lease(component, endpoints=endpoints)

    async def context(self, lease: Lease, logins: Sequence[Login] = ()) -> BrowserContext:
        """A fresh context that reaches what the lease lets it, and nothing else.

        Args:
            lease: its way out.
            logins: what it starts from.
        """
        browser = await self._running()
        width, height = VIEWPORT
        context = await browser.new_context(
            proxy=proxy_of(lease) if self._guarded else None,
            service_workers="block",
            accept_downloads=True,
            viewport={"width": width, "height": height},
            user_agent=self._user_agent or None,
            storage_state=cast("StorageState", state_of(logins)) if logins else None,
        )
        context.set_default_timeout(self.config.timeout * 1000)
        await context.add_init_script(_NO_PRINTING)
        return context

    @asynccontextmanager
    async def page_apart(self, lease: Lease) -> AsyncIterator[Tab]:
        """A page in a context of its own, of no conversation; both end with the block.

        Args:
            lease: the way out of that context; it ends with the block too.
        """
        with lease:
            if not await self.is_guarded():
                raise Unavailable(
                    "The browser at browser.cdp_url does not go through the guard.",
                    hint="Open the page with browser_open, which asks the user.",
                )
            async with self._places_apart:
                self._pages_apart += 1
                context = None
                try:
                    context = await self.context(lease)
                    async with answering_within(LAUNCH_SECONDS):
                        tab = Tab(await context.new_page())
                    tab.watch()
                    yield tab
                except Exception as error:
                    if context is not None and not await self.check_alive():
                        raise Unavailable(
                            f"The page was not read: {ENDED_ITSELF}.", hint="Send the call again."
                        ) from None
                    if failure := gone(error):
                        raise failure from None
                    raise
                finally:
                    self._pages_apart -= 1
                    self._read_apart_at = asyncio.get_running_loop().time()
                    if context is not None:
                        self.spawn(context.close())  # not waited for: the call may be cancelled

    def spawn(self, work: Any) -> None:
        """Do something beside the call, such as closing a page nobody wanted."""

        async def quietly() -> None:
            with suppress(Exception):
                await work

        task = asyncio.ensure_future(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End the browser and all that belongs to it."""
        self._closed = True
        if self._tender is not None:
            self._tender.cancel()
        if self._beginning is not None:
            await asyncio.wait([self._beginning], timeout=CLOSE_SECONDS)
            await asyncio.to_thread(self._processes.kill_marked, EXTRA)
        await self._stop()

    def take_end_reason(self, session: str) -> str:
        """Why the pages of a conversation are gone, told once; "" where nothing ended them."""
        return self._ended.pop(session, "")

    async def check_alive(self) -> bool:
        """Ask the browser for a sign of life; where it or its driver gives none, put all away.

        The death of the driver is told by no event.
        """
        browser = self._browser
        if browser is None:
            return False
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(PING_SECONDS):
                await (await browser.new_browser_cdp_session()).detach()
            self._silences = 0
        except TimeoutError:  # once may be a page that floods what drives the browser
            self._silences += 1
            if self._silences >= MAX_SILENCES:
                await self._lose(browser, "the browser answered no more")
        except Error as error:  # an engine that does not know this answers all the same
            if says_closed(error):
                await self._lose(browser, ENDED_ITSELF)
        return self._browser is browser

    async def _lose(self, browser: Browser, why: str) -> None:
        """Put away what is left of a browser that ended by itself."""
        if browser is self._browser:
            await self._stop(why)

    async def _running(self) -> Browser:
        if self._closed:
            raise Unavailable("toolcrib is closing.", hint="Start it again.")
        if not await self.check_alive():
            if self._beginning is None:
                self._beginning = asyncio.create_task(self._begin())
                self._beginning.add_done_callback(self._has_begun)
            # A call that is cancelled meanwhile must not leave half a browser.
            return await asyncio.shield(self._beginning)
        assert self._browser is not None
        return self._browser

    def _has_begun(self, beginning: asyncio.Task[Browser]) -> None:
        self._beginning = None
        if not beginning.cancelled():
            beginning.exception()  # whoever waited has it; nobody may

    async def _begin(self) -> Browser:
        async with self._changing:
            try:
                browser = await self._start()
                self._user_agent = self._own_user_agent
                self._guarded = True
                if self.config.cdp_url:
                    with await self._proxy.lease(EXTRA) as lease:
                        self._guarded = await obeys_guard(browser, lease)
                elif not self._user_agent:
                    self._user_agent = await user_agent(browser)
            except BaseException:
                await self._end_driver()
                raise
            browser.on("disconnected", self._gone)
            self._browser, self._silences = browser, 0
        if self._tender is None or self._tender.done():
            self._tender = asyncio.create_task(self._tend())
        return browser

    async def _start(self) -> Browser:
        if find_spec("playwright") is None:
            raise MissingExtra(EXTRA, "The browser")
        from playwright.async_api import async_playwright

        if self._playwright is None:
            manager = async_playwright()
            # Its driver ends by itself with this process, and removes the profile that it made,
            # unless that is killed just while the driver starts a browser.
            place = await asyncio.to_thread(self._processes.scratch_folder)
            with self._processes.marked_environment(f"{EXTRA}-driver", TMPDIR=str(place)):
                self._playwright = await manager.start()
            with suppress(AttributeError):  # without this its end is logged as nobody's
                failure = manager._client._transport.on_error_future  # type: ignore[union-attr] # noqa: SLF001
                failure.add_done_callback(lambda it: it.cancelled() or it.exception())
        if self.config.cdp_url:
            return await connect(self._playwright, self.config)
        mark = self._processes.mark(EXTRA)
        environment, scratch = variables({mark.name: mark.value}), None
        if HAS_PROC:
            # A browser that is killed leaves its socket where temporary files are.
            self._scratch = scratch = await asyncio.to_thread(self._processes.scratch_folder)
            if len(str(scratch)) <= MAX_SOCKET_FOLDER:
                environment["TMPDIR"] = str(scratch)
        browser = await launch(self._playwright, self.config, environment, scratch)
        arguments = await asyncio.to_thread(self._processes.marked_arguments, EXTRA)
        if profile := profile_folder(arguments):
            self._processes.remove_later(profile)
        return browser

    def _gone(self, browser: Browser) -> None:
        """The browser crashed, or was closed: what was open in it is no more."""
        self.spawn(self._lose(browser, ENDED_ITSELF))

    async def _tend(self) -> None:
        """Close what nobody uses, and end a browser that takes too much memory."""
        loop = asyncio.get_running_loop()
        while self._browser is not None:
            await asyncio.sleep(TEND_SECONDS)
            long_ago = loop.time() - self.config.idle_seconds
            for session, conversation in list(self._conversations.items()):
                if conversation.used_at < long_ago and not conversation.lock.locked():
                    if conversation.tabs:
                        self._note_end(session, f"it was unused for {self.config.idle_seconds:g} s")
                    await self.end(session)
            await self._limit_downloads()
            used = await asyncio.to_thread(self._processes.marked_memory, EXTRA)
            if used > self.config.memory_mb * 1_000_000:
                await self._stop(
                    f"it used more than browser.memory_mb ({self.config.memory_mb} MB)"
                )
            elif not self._conversations and not self._reads_apart(long_ago):
                await self._stop()

    async def _limit_downloads(self) -> None:
        """Drop what was downloaded and not saved, where it takes too much room on the disk."""
        if self._scratch is None:
            return
        if await asyncio.to_thread(size_of, self._scratch) > MAX_UNSAVED_BYTES:
            for conversation in list(self._conversations.values()):
                for tab in conversation.tabs:
                    await tab.drop_downloads()

    def _reads_apart(self, long_ago: float) -> bool:
        """Whether pages are read apart, or were lately, so that the browser stays for more."""
        return self._pages_apart > 0 or 0 < long_ago < self._read_apart_at

    def _note_end(self, session: str, why: str) -> None:
        if len(self._ended) >= MAX_ENDED:
            self._ended.clear()
        self._ended[session] = why

    async def _stop(self, why: str = "") -> None:
        """End it all; the next call may begin anew at once.

        Args:
            why: told to the conversations that had pages.
        """
        browser, self._browser = self._browser, None
        async with self._changing:
            for conversation in list(self._conversations.values()):
                if why and conversation.tabs:
                    self._note_end(conversation.session, why)
                await conversation.close()
            if browser is not None:
                with suppress(Exception):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await browser.close()
            await self._end_driver()

    async def _end_driver(self) -> None:
        playwright, self._playwright = self._playwright, None
        if playwright is None:
            return
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await playwright.stop()
        if not self.config.cdp_url:
            await asyncio.to_thread(self._processes.kill_marked, EXTRA)
            await asyncio.to_thread(self._processes.remove_folders)
