"""Pages with their scripts run: what a browser makes of them, as HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolcrib.browser.browsers import Browsers
from toolcrib.browser.tabs import SNAPSHOT_SECONDS, Tab, answering_within, gone
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError, Unavailable, UnsupportedContent
from toolcrib.core.package_data import package_text
from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import Headers
from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from playwright.async_api import Request

MAX_HTML_CHARS = 4_000_000
PAUSE_SECONDS = 0.25
_HTML_TYPES = ("", "text/html", "application/xhtml+xml")
_SERIALIZE = package_text("browser/serialize_page.js")
_TEXT_LENGTH = """() => {
  let length = 0;
  const count = root => {
    length += (root.innerText ?? root.textContent ?? '').trim().length;
    for (const e of root.querySelectorAll('*')) if (e.shadowRoot) count(e.shadowRoot);
  };
  if (document.body) count(document.body);
  return length;
}"""


async def render(
    url: str,
    ctx: Ctx,
    *,
    component: str,
    endpoints: Sequence[str] = (),
    cookies: Mapping[str, str] | None = None,
    min_chars: int = 1,
    seconds: float = 0.0,
) -> Response:
    """Open a page in a browser, apart from all conversations, and let its scripts run.

    Returns:
        The page as the browser then has it: HTML in UTF-8, the final URL, its status.

    Args:
        url: checked already.
        ctx: the call.
        component: the branch of the settings whose allowed hosts hold.
        endpoints: URLs that the user configured, whose hosts are open to it.
        cookies: that the site finds there already, by name.
        min_chars: with fewer characters of text, more is waited for.
        seconds: how long at most; 0 is `browser.timeout`.

    Raises:
        MissingExtra, Unavailable, NotConfigured: there is no browser, or it cannot go on.
        UnsupportedContent: it is no page, such as a download.
        Blocked: the guard does not let it through.
        Network, TimedOut: it could not be reached.
    """
    browsers = ctx.use(Browsers)
    session = ctx.session.id
    lease = await browsers.lease(browsers.side(url, session), session, component, endpoints)
    seconds = ctx.remaining(seconds or ctx.config.browser.timeout)
    async with browsers.page_apart(lease) as tab:
        if cookies:
            given = [{"name": name, "value": value, "url": url} for name, value in cookies.items()]
            await tab.page.context.add_cookies(given)  # type: ignore[arg-type]
        try:
            page = await _rendered(tab, url, min_chars, seconds)
        except ToolError:
            _raise_refusal(lease.refusals, url)
            raise
        if page.status == 403:
            _raise_refusal(lease.refusals, url)
        return page


async def page_html(tab: Tab) -> str:
    """The HTML of the page as it is now, with what stands in shadow roots.

    Raises:
        Unavailable: the page does not answer.
    """
    from playwright.async_api import Error

    async with answering_within(SNAPSHOT_SECONDS):
        for attempt in (1, 2):
            try:
                return str(await tab.page.evaluate(_SERIALIZE, MAX_HTML_CHARS))
            except Error as error:
                # In the middle of going elsewhere the first try may find the page gone.
                if failure := gone(error):
                    raise failure from None
                if attempt == 2:
                    raise _unreadable(error) from None
                await tab.settle(SNAPSHOT_SECONDS)
    raise AssertionError  # the second try returned or raised


async def _rendered(tab: Tab, url: str, min_chars: int, seconds: float) -> Response:
    from playwright.async_api import Error

    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    response = await tab.goto(url, seconds)
    headers = Headers(response.headers.items() if response is not None else ())
    kind = headers.get("content-type").partition(";")[0].strip().lower()
    if response is None or kind not in _HTML_TYPES:
        raise UnsupportedContent(
            f"{url[:300]} is no page of HTML ({kind or 'a download'}).",
            hint="render=never reads it without a browser.",
        )
    if tab.status >= 400:
        min_chars = 0  # the page of an error says what it has to say
    with suppress(Error):
        async with answering_within(SNAPSHOT_SECONDS + seconds):
            while await tab.page.evaluate(_TEXT_LENGTH) < min_chars and loop.time() < end:
                await asyncio.sleep(PAUSE_SECONDS)
                await tab.settle(max(end - loop.time(), PAUSE_SECONDS))
    tab.refuse_scheme()
    html = await page_html(tab)
    passed_on = [(name, value) for name, value in headers if not name.startswith("content-")]
    return Response(
        url=tab.url,
        status=tab.status,
        headers=Headers([*passed_on, ("content-type", "text/html; charset=utf-8")]),
        body=html.encode("utf-8", "replace"),
        redirects=await _redirects(response.request),
        truncated=len(html) >= MAX_HTML_CHARS,
    )


async def _redirects(request: Request) -> tuple[Redirect, ...]:
    """The hops by which a request came to its answer, the first one first."""
    hops = []
    while (before := request.redirected_from) is not None:
        answer = await before.response()
        hops.append(Redirect(before.url, request.url, answer.status if answer else 302))
        request = before
    return tuple(reversed(hops))


def _raise_refusal(refusals: Sequence[ToolError], url: str) -> None:
    """Raise what the guard said of the page's own host, which says more than the browser."""
    host = urlsplit(url).hostname or ""
    for error in refusals:
        if str(error.details.get("host", "")).strip("[]") == host:
            raise error from None


def _unreadable(error: Exception) -> Unavailable:
    return Unavailable(
        f"The page cannot be read: {one_line(str(error).splitlines()[0])[:200]}",
        hint="fetch_url with render=never reads it without scripts.",
    )
