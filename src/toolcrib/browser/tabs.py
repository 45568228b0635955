"""A tab: one page with what it logged, its dialogs, downloads, and the snapshot last shown."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.browser.downloads import FileDownload
from toolcrib.browser.masks import SecretMasks
from toolcrib.browser.snapshots import FIELDS, Node, PageSnapshot, parse, spaced_once
from toolcrib.core.errors import Conflict, Denied, Network, TimedOut, ToolError, Unavailable
from toolcrib.net.egress.url import web_origin
from toolcrib.text.cleaner import one_line
from toolcrib.text.fence import fence

if TYPE_CHECKING:
    from playwright.async_api import (
        ConsoleMessage,
        Dialog,
        Download,
        Frame,
        Page,
        Request,
        Response,
        Route,
    )

LOGGED = 200
"""Lines of a log that are kept, the last ones."""
MAX_LOGGED = 500
MAX_MASKED = 10_000
"""Characters of a line that are looked through for secrets; no more is kept of any."""
QUOTE = "quote"
"""The detail of an error in which words of a page stand until they are fenced."""
MAX_DIALOGS = 20
BUTTONS = frozenset({"", "accept", "dismiss", "cancel"})
"""Words for the buttons of a prompt; any other text is typed into it."""
"""Dialogs of one call that are written down; more are closed without a word."""
OWN_SCHEMES = ("chrome:", "chrome-extension:")
"""Of what the browser asks itself, such as its viewer of PDF."""
MAX_DOWNLOADS = 20
QUIET_SECONDS = 0.15
"""Without a request for so long, a page has done what an action caused."""
SETTLE_SECONDS = 2.0
"""A page that goes on loading is not waited for any longer."""
MAX_TRIES = 3
INTERRUPTION_SECONDS = 2.0
MAX_ROUNDS = 5
ROUND_SECONDS = 3.0
"""A page that goes on to another so often, each time within so long, is held where it is."""
LATE_SECONDS = 1.0
"""What a page brings of itself, such as by a timer, is waited for so long where it is missed."""
CONTENT_SECONDS = 3.0
"""A page that shows nothing at all is waited for so long."""
SNAPSHOT_SECONDS = 10.0
FRAME_SECONDS = 1.0
"""A frame that holds no document yet is waited for so long, once."""
ANSWER_SECONDS = 1.0
"""A page whose scripts keep it busy for longer is not used for another URL."""
MAX_RICH_TEXTS = 50
MAX_SEEN = 20_000
"""Elements that are remembered, so that a stale reference can be told what it was."""
SCHEMES = ("http", "https", "about", "blob", "data", "chrome-error")
"""What a tab may show; a page of any other scheme is closed."""
ELSEWHERE = "Check the URL; fetch_url says more about a server that answers."
_PASSWORDS = """() => {
  const found = [];
  const walk = root => {
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot);
      if (e.tagName === 'INPUT' && e.type === 'password' && e.value) found.push(e.value);
    }
  };
  walk(document);
  return found.slice(0, 50);
}"""
# Changes of the page within two frames; a page that is not painted counts by the clock, and
# one without scripts changes nothing.
_FRAMES = """() => new Promise(done => {
  const alive = document.querySelector('script,iframe,frame,object,embed');
  if (!alive && document.readyState === 'complete') { done(0); return; }
  let changes = 0, frames = 0;
  const observer = new MutationObserver(list => changes += list.length);
  observer.observe(document, {subtree: true, childList: true, characterData: true});
  const end = () => { observer.disconnect(); done(changes); };
  const next = () => ++frames < 2 ? requestAnimationFrame(next) : end();
  requestAnimationFrame(next);
  setTimeout(end, 100);
})"""
# Whether the page changes within a time; one without scripts does not.
_CHANGES = """wait => new Promise(done => {
  if (!document.querySelector('script,iframe,frame,object,embed')) { done(false); return; }
  const end = changed => { observer.disconnect(); clearTimeout(timer); done(changed); };
  const observer = new MutationObserver(() => end(true));
  observer.observe(document, {subtree: true, childList: true, characterData: true});
  const timer = setTimeout(end, wait, false);
})"""
_RICH_TEXT = "e => e.isContentEditable ? e.innerText.slice(0, 2000) : ''"
_LOAD_LAZY_FRAMES = """() => {
  for (const e of document.querySelectorAll('iframe[loading=lazy]')) e.loading = 'eager';
}"""
_CRASHED = re.compile(r"\b(?:Page|Target) crashed\b")
_NET_ERROR = re.compile(r"net::(ERR_[A-Z_]+)")
_REASONS = {
    "ERR_TUNNEL_CONNECTION_FAILED": "the guard did not let it through, or the host is not there",
    "ERR_NAME_NOT_RESOLVED": "the name has no address",
    "ERR_CONNECTION_REFUSED": "nothing listens there",
    "ERR_TOO_MANY_REDIRECTS": "it redirects for ever",
    "ERR_UNSAFE_REDIRECT": "it redirects to a scheme that pages may not open",
    "ERR_UNKNOWN_URL_SCHEME": "the scheme is none of the web",
    "ERR_INVALID_AUTH_CREDENTIALS": "it wants a name and a password of the browser itself",
    "ERR_EMPTY_RESPONSE": "the server sent nothing",
    "ERR_CONNECTION_CLOSED": "the server closed the connection",
    "ERR_CONNECTION_RESET": "the server closed the connection",
    "ERR_SOCKET_NOT_CONNECTED": "the server closed the connection",
    "ERR_BAD_SSL_CLIENT_AUTH_CERT": "the server wants a client certificate",
    "ERR_SSL_CLIENT_AUTH_CERT_NEEDED": "the server wants a client certificate",
}


@dataclass(eq=False)  # playwright notes something on what listens, so no slots
class Tab:
    """One page of a conversation.

    Attributes:
        page: playwright's.
        dialog_answer: what dialogs are answered with in this call: None for the usual way,
            "accept", "dismiss", or the text for a prompt.
        prompt_text: the same as it was given.
        notes: what happened since they were last taken: dialogs, downloads, file choosers.
        seen: the elements of all its snapshots, by reference.
        head: how a result named it last.
        masked: a text without the secrets that were typed in this conversation.
        sites: where it has been.
        given_up: frames of it that did not load when they were waited for.
        pdf: the address of the PDF that it displays, of which it gives no text.
        documents: how many answers it got for itself, each in place of the page before.
    """

    page: Page
    console: deque[str] = field(default_factory=lambda: deque(maxlen=LOGGED))
    network: deque[str] = field(default_factory=lambda: deque(maxlen=LOGGED))
    downloads: list[FileDownload] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    masked: SecretMasks = field(default_factory=SecretMasks)
    sites: set[str] = field(default_factory=set)
    latest: PageSnapshot | None = None
    seen: dict[str, Node] = field(default_factory=dict)
    status: int = 0
    pdf: str = ""
    documents: int = 0
    head: str = ""
    dialog_answer: str | None = None
    prompt_text: str = ""
    pending: set[Request] = field(default_factory=set)
    dialogs: int = 0
    changed_at: float = 0.0
    rounds: int = 0
    holding: asyncio.Task[None] | None = None
    given_up: set[Frame] = field(default_factory=set)
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def watch(self) -> None:
        """Listen to the page from now on."""
        page = self.page
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self._write_down(f"error: {error.message}"))
        page.on("request", self._requested)
        page.on("requestfinished", self._over)
        page.on("requestfailed", self._failed)
        page.on("response", self._responded)
        page.on("dialog", self._opened_dialog)
        page.on("download", self._downloaded)
        page.on("filechooser", lambda _: self.note("The page asks for a file: use upload."))
        page.on("framenavigated", self._went)

    @property
    def url(self) -> str:
        """Where it is, without a password in it."""
        return self.page.url

    @property
    def site(self) -> str:
        """Scheme and host of the page, by which acting on it is allowed; "" for none."""
        return web_origin(self.page.url)

    def note(self, text: str) -> None:
        """Say something with the next result."""
        if text not in self.notes and len(self.notes) < MAX_DIALOGS:
            self.notes.append(text)

    def take_notes(self) -> list[str]:
        """What there is to say, once."""
        notes, self.notes = self.notes, []
        return [self.masked(note) for note in notes]

    async def answers(self) -> bool:
        """Whether it can be used: it is there, did not crash, and its scripts let it speak."""
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.page.evaluate("0")
        except TimeoutError:
            return False
        except Error as error:
            return gone(error) is None
        return True

    async def goto(self, url: str, seconds: float) -> Response | None:
        """Go to a URL, and wait until its first content is there.

        Returns:
            The answer; None where it became a download, or is the page that was there.

        Raises:
            TimedOut: no answer came in time.
            Network: it could not be reached; the guard's own reason is raised by the caller.
        """
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        before, pdf = list(self.downloads), self.pdf
        self.status, self.pdf = 0, ""
        try:
            response = await self._go(url, seconds)
        except Late:
            raise TimedOut(
                f"{url[:300]} did not answer within {seconds:g} s.",
                hint="Try again, or raise browser.timeout.",
                reason="timeout",
            ) from None
        except Error as error:
            if "Download is starting" in str(error) or "net::ERR_ABORTED" in str(error):
                await self.settle(seconds)
                if self.downloads == before and not self.pdf:
                    self.note(f"{url[:200]} gave no content: the page is the one before it.")
                self.pdf = self.pdf or pdf
                return None  # what came is said among the notes
            if failure := gone(error):
                raise failure from None
            raise _network_error(url, str(error)) from None
        self.status = response.status if response is not None else 0
        await self.settle(seconds, arrived=True)
        return response

    async def leave_error_page(self) -> None:
        """Go back from what stands in place of a URL that could not be opened."""
        from playwright.async_api import Error

        wrong, self.status = self.url, 0
        with suppress(Error):
            await self.page.go_back(wait_until="commit", timeout=INTERRUPTION_SECONDS * 1000)
        if self.url == wrong:
            with suppress(Error):
                await self.page.goto("about:blank")
        await self.settle(INTERRUPTION_SECONDS, arrived=True)

    async def _go(self, url: str, seconds: float) -> Response | None:
        """Navigate; once more where another navigation, begun before, came between."""
        from playwright.async_api import Error

        for attempt in range(1, MAX_TRIES + 1):
            try:
                return await self.page.goto(url, timeout=seconds * 1000, wait_until="commit")
            except Error as error:
                if attempt == MAX_TRIES or "interrupted by another navigation" not in str(error):
                    raise
            with suppress(Error):  # the other one ends first, else it comes between again
                wait = min(seconds, INTERRUPTION_SECONDS) * 1000
                await self.page.wait_for_load_state("domcontentloaded", timeout=wait)
        raise AssertionError  # the last try returned or raised

    async def settle(self, seconds: float, *, arrived: bool = False) -> None:
        """Wait until the page has done what was caused: loading, and a pause of requests.

        Args:
            seconds: for loading, at most.
            arrived: it only came to a page: one that stands still is waited for no longer.
        """
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        self.rounds = 0
        try:
            await self.page.wait_for_load_state("domcontentloaded", timeout=seconds * 1000)
        except Late:
            self.note("The page is still loading: this is what came of it so far.")
        except Error:
            pass  # it went elsewhere, or is gone: what is done next says so
        loop = asyncio.get_running_loop()
        end = loop.time() + min(SETTLE_SECONDS, seconds)
        self.changed_at = loop.time()
        while (now := loop.time()) < end:
            idle = now - self.changed_at
            if not self.pending and arrived:
                arrived = False
                if await self._stands_still():
                    break
            elif not self.pending and idle >= QUIET_SECONDS:
                break
            wait = end - now if self.pending else QUIET_SECONDS - idle
            self.moved.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(max(wait, 0.0), end - now)):
                    await self.moved.wait()

    async def _hold(self) -> None:
        """Keep a page that goes on to another without end where it is, until the next call."""
        from playwright.async_api import Error

        with suppress(Error):
            await self.page.route("**/*", _refuse_to_go_on)
        self.note("The page goes on to another without end: it is held where it is.")

    async def _let_go(self) -> None:
        from playwright.async_api import Error

        self.holding, self.rounds = None, 0
        with suppress(Error, Unavailable):
            async with answering_within(ANSWER_SECONDS):
                await self.page.unroute("**/*", _refuse_to_go_on)

    async def _stands_still(self) -> bool:
        """Whether a page changes nothing and asks for nothing in the time of some frames."""
        from playwright.async_api import Error

        before = self.changed_at
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                changes = await self.page.evaluate(_FRAMES)
        except (Error, TimeoutError):
            return False
        return changes == 0 and not self.pending and self.changed_at == before

    async def changes_within(self, seconds: float) -> bool:
        """Whether it changes in a time, such as by a timer; what that causes is waited for."""
        from playwright.async_api import Error

        changed = False
        with suppress(Error, TimeoutError):  # it went elsewhere, or is busy
            async with asyncio.timeout(seconds + ANSWER_SECONDS):
                changed = bool(await self.page.evaluate(_CHANGES, seconds * 1000))
        if changed:
            await self.settle(seconds)
        return changed

    async def wait_for_content(self) -> None:
        """Wait for the first text of a page whose scripts are still to make it."""
        from playwright.async_api import Error

        with suppress(Error):
            timeout = CONTENT_SECONDS * 1000
            await self.page.wait_for_function("document.body?.innerText.trim()", timeout=timeout)
            await self.settle(CONTENT_SECONDS)

    async def snapshot(self) -> PageSnapshot:
        """The accessible content of the page as it is now, passwords and secrets hidden.

        Raises:
            Unavailable: the page does not answer.
            Denied: it shows what no page of the web is.
        """
        from playwright.async_api import Error

        self.refuse_scheme()
        try:
            async with asyncio.timeout(SNAPSHOT_SECONDS):
                text = await self._tree()
                snapshot = parse(self.masked(text))
                # Most pages have no field with a text in it, and none to ask about.
                filled = any(node.role in FIELDS and node.text for node in snapshot.by_ref.values())
                passwords = await self._passwords() if filled else frozenset[str]()
        except (Error, TimeoutError) as error:
            if failure := gone(error):
                raise failure from None
            raise no_answer(one_line(str(error))[:200]) from None
        self.latest = parse(self.masked(text), passwords) if passwords else snapshot
        await self._fill_in_rich_text(self.latest)
        if len(self.seen) > MAX_SEEN:
            self.seen.clear()
        self.seen.update(self.latest.by_ref)
        return self.latest

    async def _tree(self) -> str:
        """The page as playwright gives it; a frame that never loads is not waited for long."""
        from playwright.async_api import TimeoutError as Late

        if self._unloaded() - self.given_up:
            await self._load_frames()
        if self.given_up:
            with suppress(Late):  # where all of it takes longer, it is another matter
                return await self.page.aria_snapshot(mode="ai", timeout=FRAME_SECONDS * 1000)
        # Less than the whole has: playwright leaves a frame out when its own time is up.
        timeout = (SNAPSHOT_SECONDS - FRAME_SECONDS - 1) * 1000
        return await self.page.aria_snapshot(mode="ai", timeout=timeout)

    def _unloaded(self) -> set[Frame]:
        """Frames that hold no document: further down, refused, or of a server that is silent."""
        return {frame for frame in self.page.frames if not frame.url}

    async def _load_frames(self) -> None:
        """Have frames loaded that would be when somebody scrolls there; give up the others."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FRAME_SECONDS):
                await self.page.evaluate(_LOAD_LAZY_FRAMES)
                while self._unloaded() - self.given_up:
                    self.moved.clear()
                    await self.moved.wait()
        self.given_up = self._unloaded()

    async def _fill_in_rich_text(self, snapshot: PageSnapshot) -> None:
        """Give text boxes without a text the one that they hold as content, not as a value.

        Playwright leaves out what is in an element of this role, unless it is a box of its own.
        """
        from playwright.async_api import Error

        boxes = [
            node
            for node in snapshot.by_ref.values()
            if node.role == "textbox" and not any(it.text for it in node.walk())
        ][:MAX_RICH_TEXTS]
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                counts = [
                    await frame.locator("[contenteditable]").count()
                    for frame in (self.page.frames if boxes else ())
                ]
                for node in boxes if any(counts) else ():
                    box = self.page.locator(f"aria-ref={node.ref}")
                    text = str(await box.evaluate(_RICH_TEXT, timeout=ANSWER_SECONDS * 1000))
                    node.text = self.masked(spaced_once(text))

    async def _passwords(self) -> frozenset[str]:
        from playwright.async_api import Error

        found: set[str] = set()
        for frame in self.page.frames:
            with suppress(Error):
                found.update(map(spaced_once, await frame.evaluate(_PASSWORDS)))
        return frozenset(found)

    def refuse_scheme(self) -> None:
        """Refuse to show what a page may not lead to.

        Raises:
            Denied: the page, or a frame in it, is a file or a page of the browser itself.
        """
        for frame in self.page.frames:
            scheme = frame.url.partition(":")[0]
            if frame.url and scheme not in SCHEMES:
                raise Denied(
                    f"The tab shows {frame.url[:100]}, which is no page of the web.",
                    hint="Go back, or close the tab with browser_tabs.",
                )

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        """One call: dialogs are counted anew, and answered as its steps say."""
        self.dialogs = 0
        if self.holding is not None:
            await self._let_go()
        try:
            yield
        finally:
            self.dialog_answer, self.prompt_text = None, ""

    def _logged(self, message: ConsoleMessage) -> None:
        self._write_down(f"{message.type}: {message.text}")

    def _write_down(self, line: str) -> None:
        # Masked before it is cut: half a secret is not known again.
        self.console.append(self.masked(line[:MAX_MASKED])[:MAX_LOGGED])

    def _requested(self, request: Request) -> None:
        self.pending.add(request)
        before = self.changed_at
        self._touch()
        if request.redirected_from is None and _is_of_tab(request):
            self.rounds = self.rounds + 1 if self.changed_at - before < ROUND_SECONDS else 1
            if self.rounds > MAX_ROUNDS and self.holding is None:
                self.holding = asyncio.ensure_future(self._hold())

    def _over(self, request: Request) -> None:
        self.pending.discard(request)
        self._touch()

    def _failed(self, request: Request) -> None:
        self._over(request)
        if not request.url.startswith(OWN_SCHEMES):
            url = self.masked(request.url[:MAX_MASKED])[:300]
            self.network.append(f"{request.method} {url} failed: {request.failure or 'aborted'}")

    def _responded(self, response: Response) -> None:
        request = response.request
        url = self.masked(response.url[:MAX_MASKED])[:300]
        if not response.url.startswith(OWN_SCHEMES):
            line = f"{request.method} {url} {response.status} {request.resource_type}"
            self.network.append(line)
        if _is_of_tab(request):
            self.documents += 1
            self.status = response.status
            kind = response.headers.get("content-type", "")
            is_pdf = kind.partition(";")[0].strip().lower() == "application/pdf"
            if is_pdf or web_origin(response.url):  # the viewer's own page is of no site
                self.pdf = response.url if is_pdf else ""

    def _touch(self) -> None:
        self.changed_at = asyncio.get_running_loop().time()
        self.moved.set()

    def _went(self, frame: Frame) -> None:
        self._touch()
        if frame == self.page.main_frame:
            self.pending.clear()
            self.sites |= {self.site} - {""}

    async def _opened_dialog(self, dialog: Dialog) -> None:
        """Answer a dialog at once: until then the page stands still."""
        self.dialogs += 1
        usual = "accept" if dialog.type in ("alert", "beforeunload") else "dismiss"
        answer, text = self.dialog_answer, None
        if dialog.type == "prompt" and self.prompt_text.strip().lower() not in BUTTONS:
            answer, text = "accept", self.prompt_text  # "yes" may be what it asks for
        elif answer not in (None, "accept", "dismiss"):  # a text says nothing to other dialogs
            answer = None
        did = "dismissed" if (answer or usual) == "dismiss" else "accepted"
        with suppress(Exception):
            await (dialog.dismiss() if did == "dismissed" else dialog.accept(text))
        if self.dialogs > MAX_DIALOGS:
            return
        note = f"Dialog ({dialog.type}) {did}: {self.masked(one_line(dialog.message))[:300]}"
        if answer is None and did == "dismissed":
            note += " [to accept it: a step dialog, value=accept, before the one that opens it]"
        self.note(note)

    async def drop_downloads(self) -> None:
        """End and forget what was downloaded and not saved."""
        dropped, self.downloads = self.downloads, []
        for download in dropped:
            await download.drop()
            self.note(f"The download of {download.name} was dropped: too much is not saved.")

    def _downloaded(self, download: Download) -> None:
        name = self.masked(one_line(download.suggested_filename))[:150] or "download"
        url = self.masked(download.url[:MAX_MASKED])[:500]
        self.downloads.append(FileDownload(name, url, download))
        while len(self.downloads) > MAX_DOWNLOADS:
            self.downloads.pop(0)
        self.pdf = ""  # it is saved, not displayed
        self.note(f"Download: {name}. Save it with browser_logs kind=downloads save_as=<file>.")


def _is_of_tab(request: Request) -> bool:
    """Whether by it the tab itself goes somewhere, and not a frame in it."""
    try:
        return request.is_navigation_request() and request.frame.parent_frame is None
    except Exception:  # noqa: BLE001 - there is no frame yet, or none any more
        return False


async def _refuse_to_go_on(route: Route) -> None:
    if _is_of_tab(route.request):
        await route.fulfill(status=204)  # by which a tab stays where it is
    else:
        await route.continue_()


@asynccontextmanager
async def answering_within(seconds: float) -> AsyncIterator[None]:
    """Bound what is asked of a page whose scripts may run without end.

    Raises:
        Unavailable: the time is up.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise no_answer() from None


def no_answer(why: str = "") -> Unavailable:
    """The error for a page that says nothing any more."""
    return Unavailable(
        f"The page does not answer{f': {why}' if why else '.'}",
        hint="Its scripts may run without end, or it is too large. browser_open opens a URL in "
        "its place; fetch_url reads it without scripts.",
    )


def gone(error: Exception) -> ToolError | None:
    """What to say where the browser says that the page is no more; None for another error."""
    if says_closed(error):
        return Conflict(
            "The tab is closed.", hint="browser_open opens a page; browser_tabs lists what is open."
        )
    if _CRASHED.search(str(error)):
        return Unavailable(
            "The page crashed: its process ended, as by too little memory.",
            hint="browser_open opens it anew in its place; fetch_url reads it without scripts.",
        )
    return None


def why_it_ended(error: ToolError) -> str:
    """An error that came after other steps, as a line of a result that is fenced whole."""
    quote = str(error.details.get(QUOTE, ""))
    return " ".join(filter(None, ["Then it ended.", error.message, error.hint, quote]))


def add_quote(error: ToolError, notes: Sequence[str]) -> None:
    """Have an error name what a page did, beside what it names already."""
    quote = "\n".join(filter(None, [str(error.details.get(QUOTE, "")), *notes]))
    if quote:
        error.details[QUOTE] = quote


def fence_quote(error: ToolError) -> None:
    """Put what an error quotes of a page behind its hint, fenced as any text of a page."""
    quote = str(error.details.pop(QUOTE, ""))
    if quote:
        error.hint = f"{error.hint}\n{fence(quote, 'the page')}".lstrip()


def says_closed(error: Exception) -> bool:
    """Whether an error of playwright says that what was asked is closed."""
    # The class of these has no public name.
    return type(error).__name__ == "TargetClosedError"


def ended(why: str, done: Sequence[str] | None) -> Unavailable:
    """The error for a call during which the browser ended; `done` are its steps, if it had any."""
    before = f" Done before: {'; '.join(done)}." if done else ""
    unknown = "" if done is None else " What the step after them did is not known."
    return Unavailable(
        f"The pages of this conversation are gone: {why}.{before}{unknown}",
        hint="browser_open url=… starts the browser again.",
    )


def _network_error(url: str, message: str) -> ToolError:
    found = _NET_ERROR.search(message)
    if found is None:
        return Network(
            f"{url[:300]} could not be opened: {one_line(message)[:200]}", hint=ELSEWHERE
        )
    why = _REASONS.get(found[1], "the browser could not load it")
    return Network(
        f"{url[:300]} could not be opened: {why} ({found[1]}).", hint=ELSEWHERE, reason=found[1]
    )


def listed(tabs: Iterable[Tab], current: Tab | None) -> list[str]:
    """One line a tab, the current one marked."""
    return [
        f"{'*' if tab is current else ' '} {number} {tab.masked(tab.url)[:200]}"
        for number, tab in enumerate(tabs, 1)
    ]
