"""How a browser is got: one that is started here, or one that the user runs already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolcrib.browser.program import CLOSED_WAYS, NOWHERE, find_program, has_screen, own_sandbox
from toolcrib.core.errors import ConfigError, Unavailable
from toolcrib.core.settings import BrowserConfig
from toolcrib.net.egress.guard_proxy import Lease
from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from playwright.async_api import Browser, ProxySettings
    from playwright.async_api import Playwright as PlaywrightDriver

LAUNCH_SECONDS = 30.0
LAUNCHES = 2
PROBE_SECONDS = 5.0
PROBE_URL = "http://192.0.2.1/"
"""An address of the range for documentation: nothing is there, and the guard refuses it."""
_PROFILE = "playwright_"
_SCHEMES = ("http", "https", "ws", "wss")
_NO_SANDBOX = (
    "Its own sandbox needs user namespaces, which this system forbids it: install the "
    "distribution's own package of the browser."
)
_OTHER_BROWSER = "`toolcrib doctor` tries it; another browser can be named in browser.executable."


async def launch(
    driver: PlaywrightDriver,
    config: BrowserConfig,
    environment: Mapping[str, str],
    scratch: Path | None = None,
) -> Browser:
    """Start the browser of this machine, with every way past the guard closed.

    Args:
        driver: what starts it.
        config: `browser`.
        environment: its variables.
        scratch: for downloads that are not saved yet, and the like.

    Raises:
        NotConfigured: there is none.
        Unavailable: it does not start.
    """
    from playwright.async_api import Error
    from playwright.async_api import TimeoutError as PlaywrightTimeout

    program = find_program(config.executable)
    headless = not has_screen() if config.headless is None else config.headless
    for attempt in range(1, LAUNCHES + 1):
        try:
            return await driver.chromium.launch(
                executable_path=program,
                headless=headless,
                chromium_sandbox=own_sandbox(),
                args=list(CLOSED_WAYS),
                proxy={"server": NOWHERE},
                artifacts_dir=scratch,
                env=dict[str, str | float | bool](environment),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=LAUNCH_SECONDS * 1000,
            )
        except Error as error:
            # One that says nothing says nothing again, and callers wait a minute at most.
            if attempt == LAUNCHES or isinstance(error, PlaywrightTimeout):
                raise _failed_start(str(program), str(error)) from None
    raise AssertionError  # the last try returned or raised


async def connect(driver: PlaywrightDriver, config: BrowserConfig) -> Browser:
    """Connect to the browser at `browser.cdp_url`; nothing in it is touched.

    Raises:
        ConfigError: that is no address of one.
        Unavailable: no browser answers there.
    """
    from playwright.async_api import Error

    place = urlsplit(config.cdp_url)
    if place.scheme not in _SCHEMES or not place.hostname:
        raise ConfigError(
            "browser.cdp_url must be an address such as http://127.0.0.1:9222.",
            hint="The user corrects browser.cdp_url in the configuration, or empties it.",
        )
    where = f"{place.scheme}://{place.hostname}:{place.port or ''}".rstrip(":")
    try:
        return await driver.chromium.connect_over_cdp(
            config.cdp_url, timeout=LAUNCH_SECONDS * 1000, no_defaults=True
        )
    except Error as error:
        reason = one_line(str(error).splitlines()[0]).replace(config.cdp_url, where)[:200]
        raise Unavailable(
            f"No browser answers at browser.cdp_url ({where}): {reason}",
            hint="Start it with --remote-debugging-port=9222 and a --user-data-dir of its own; "
            "Chrome refuses the profile that people use every day.",
        ) from None


def proxy_of(lease: Lease) -> ProxySettings:
    """The guard, as a context is given it."""
    return {
        "server": lease.server,
        "username": lease.username,
        "password": lease.password,
        "bypass": "<-loopback>",  # loopback too goes through the guard
    }


async def obeys_guard(browser: Browser, lease: Lease) -> bool:
    """Whether a context of a browser that runs already uses the proxy that it is given.

    Found out by a page in such a context: what it asks for has to arrive at the guard. An
    engine may know no proxies for contexts, and one on another machine does not reach ours.
    """
    from playwright.async_api import Error

    try:
        context = await browser.new_context(proxy=proxy_of(lease))
    except Error:
        return False
    with suppress(Error):  # the refusal of the guard, or nothing at all
        page = await context.new_page()
        await page.goto(PROBE_URL, timeout=PROBE_SECONDS * 1000)
    with suppress(Error):
        await context.close()
    return lease.admitted > 0


async def user_agent(browser: Browser) -> str:
    """What it calls itself with a window: sites turn away one that says it has none."""
    session = await browser.new_browser_cdp_session()
    version = await session.send("Browser.getVersion")
    await session.detach()
    return str(version["userAgent"]).replace("HeadlessChrome/", "Chrome/")


def profile_folder(arguments: Iterable[str]) -> Path | None:
    """Where a browser that was started here has its profile, which is made for it alone."""
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name == "--user-data-dir" and Path(value).name.startswith(_PROFILE):
            return Path(value)
    return None


def _failed_start(program: str, message: str) -> Unavailable:
    lines = [line for line in message.splitlines() if line.strip() and "╔" not in line]
    return Unavailable(
        f"{program} did not start: {one_line(lines[0] if lines else message)[:300]}",
        hint=_NO_SANDBOX if "No usable sandbox" in message else _OTHER_BROWSER,
    )
