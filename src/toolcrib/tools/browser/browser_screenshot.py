"""`browser_screenshot`: a picture or a PDF of a page."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from toolcrib.browser.browsers import Browsers
from toolcrib.browser.elements import find_element
from toolcrib.browser.steps import wait_for as wait_until
from toolcrib.browser.tabs import Tab, answering_within, gone
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import NET, WRITE, Param, Right, Seconds, other_names, tool
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.net.egress.public_url import BrowserUrl
from toolcrib.net.egress.url import web_origin
from toolcrib.tools.browser.page_view import (
    MAX_PICTURE_BYTES,
    header,
    open_decision,
    open_tab,
    save,
)

if TYPE_CHECKING:
    from playwright.async_api import Locator

Picture = Literal["png", "jpeg", "pdf"]
_ENDINGS: dict[str, Picture] = {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "pdf": "pdf"}
JPEG_QUALITY = 80
CAPTURE_SECONDS = 20.0
_PASSWORDS = "input[type=password]"
_TEXTS = "input:not([type=password]), textarea"


def _rights(arguments: Mapping[str, Any]) -> Right:
    return NET | (WRITE if arguments.get("path") else NET)


@tool(
    group="browser",
    rights=WRITE | NET,
    keywords=("picture", "image", "capture", "pdf", "print", "look", "see"),
    aliases=("capture_screenshot", "browser_take_screenshot", "take_screenshot", "screenshot"),
    argument_aliases=other_names(
        path=("output_path", "screenshot_path", "file"),
        full_page=("full_page_screenshot",),
        wait_for=("wait_for_selector",),
        format=("type",),
    ),
    effective_rights=_rights,
    policy_check=open_decision,
)
async def browser_screenshot(
    path: WritablePath | None = None,
    url: Annotated[BrowserUrl, Param("Else the open page.")] = "",
    wait_for: Annotated[str, Param("Text or selector.")] = "",
    full_page: Annotated[bool, Param("Whole page.", plain=True)] = False,
    width: Annotated[int | None, Param("Pixels.", plain=True, minimum=320, maximum=3840)] = None,
    height: Annotated[int | None, Param("Pixels.", plain=True, minimum=240, maximum=2160)] = None,
    ref: Annotated[str, Param("One element.")] = "",
    delay: Annotated[Seconds, Param(maximum=10)] = 0,
    format: Picture = "png",  # noqa: A002 - the name that models use
    *,
    ctx: Ctx,
) -> Result:
    """Take a picture of a page; shows it, and saves it to `path`.

    Fields for passwords are covered. A PDF is of the whole page and needs a path.
    """
    if format == "pdf" and path is None:
        raise BadInput("A PDF is not shown: it needs a path.", hint="Such as path=page.pdf.")
    kind = kind_of(path, format)
    conversation = ctx.use(Browsers).conversation(ctx.session.id)
    async with conversation.at_work():
        tab = (await open_tab(url, ctx))[1] if url else conversation.tab()
        old = tab.page.viewport_size
        if width or height:
            size = old or {"width": 1280, "height": 800}
            await tab.page.set_viewport_size(
                {"width": width or size["width"], "height": height or size["height"]}
            )
        try:
            if wait_for:
                await wait_until(tab, wait_for, ctx.remaining(ctx.config.browser.timeout))
            if delay:
                await tab.page.wait_for_timeout(delay * 1000)
            note, images = await take(tab, path, ctx, ref=ref, full_page=full_page, kind=kind)
        finally:
            if (width or height) and old is not None and not tab.page.is_closed():
                await tab.page.set_viewport_size(old)
        lines = [await header(conversation, tab, ctx), note, *tab.take_notes()]
        return Result(
            text="\n".join(lines),
            data={"url": tab.masked(tab.url), "path": path.display if path else None},
            images=images,
            source=web_origin(tab.url) or tab.url[:100],
            private=conversation.is_logged_in(tab),
        )


async def take(
    tab: Tab,
    path: SafePath | None,
    ctx: Ctx,
    *,
    ref: str = "",
    full_page: bool = False,
    kind: Picture = "png",
) -> tuple[str, tuple[Image, ...]]:
    """Take a picture, and save it where a path is given: what was done, and the picture.

    Raises:
        TimedOut: the page did not hold still.
        Unavailable: the browser could not.
    """
    tab.refuse_scheme()
    content = await _captured(tab, ref, kind, full_page=full_page)
    saved = "" if path is None else await save(path, content, browser_screenshot.name, ctx)
    if kind == "pdf" or len(content) > MAX_PICTURE_BYTES:
        large = "" if kind == "pdf" else " It is too large to be shown here."
        return f"{saved or 'The picture was taken.'}{large}", ()
    return saved or "The picture:", (Image(content, f"image/{kind}"),)


def kind_of(path: SafePath | None, kind: Picture = "png") -> Picture:
    """What the name of a file says that a picture is; without an ending it is of the kind given.

    Raises:
        BadInput: the name is of another kind, or of one that browsers do not write.
    """
    if path is None or "." not in path.name:
        return kind
    named = _ENDINGS.get(path.name.rpartition(".")[2].lower())
    if named is None or kind not in ("png", named):  # png is the usual one
        raise BadInput(
            f"{path.name} is no name for a {kind}.", hint="End it in .png, .jpg or .pdf."
        )
    return named


async def _captured(tab: Tab, ref: str, kind: Picture, *, full_page: bool) -> bytes:
    from playwright.async_api import Error

    try:
        async with answering_within(CAPTURE_SECONDS):
            return await _picture(tab, ref, kind, full_page=full_page)
    except Error as error:
        if failure := gone(error):
            raise failure from None
        raise Unavailable(
            f"The browser took no picture: {str(error).splitlines()[0][:200]}",
            hint="A page can be too long for one: without full_page, or format=pdf.",
        ) from None


async def _hidden_fields(tab: Tab) -> list[Locator]:
    """The fields that a picture must not show: for passwords, and those that hold a secret."""
    from playwright.async_api import Error

    hidden = [frame.locator(_PASSWORDS) for frame in tab.page.frames]
    for frame in tab.page.frames if tab.masked else ():
        fields = frame.locator(_TEXTS)
        with suppress(Error):  # a frame in the middle of going elsewhere
            values: list[str] = await fields.evaluate_all("all => all.map(e => e.value)")
            hidden += [fields.nth(n) for n, it in enumerate(values) if tab.masked(it) != it]
    return hidden


async def _picture(tab: Tab, ref: str, kind: Picture, *, full_page: bool) -> bytes:
    if kind == "pdf":
        return await tab.page.pdf(print_background=True)
    hidden = await _hidden_fields(tab)
    quality = JPEG_QUALITY if kind == "jpeg" else None
    timeout = CAPTURE_SECONDS * 1000
    if ref:
        element = await find_element(tab, ref)
        return await element.locator.screenshot(
            type=kind, quality=quality, mask=hidden, timeout=timeout
        )
    return await tab.page.screenshot(
        type=kind, quality=quality, full_page=full_page, mask=hidden, timeout=timeout
    )
