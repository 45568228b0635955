"""The steps of acting on a page: a flat list, done in order, each waiting for what it causes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolcrib.browser.browser_step import LOOKING, BrowserStep, check_steps, key_of
from toolcrib.browser.browsers import Browsers, BrowserSession
from toolcrib.browser.elements import PageElement, find_element, looks_like_selector
from toolcrib.browser.snapshots import folded
from toolcrib.browser.tabs import LATE_SECONDS, SNAPSHOT_SECONDS, Tab, answering_within, gone
from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied, NotConfigured, TimedOut, ToolError
from toolcrib.files.paths import SafePath
from toolcrib.net.egress.url import web_origin
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, FilePayload

MAX_WAIT_SECONDS = 30.0
MAX_UPLOAD_BYTES = 50_000_000
SECRET = "secret:"  # noqa: S105 - how a value names one
SCROLL_SHARE = 0.8
"""Of the height of the window, for one step of scrolling."""


_Act = Callable[[Tab, BrowserStep], Awaitable[str]]
_METHODS = {
    "double_click": "click", "back": "history", "forward": "history", "reload": "history"
}  # fmt: skip
"""The actions whose method in `Steps` has another name than they have."""


class Steps:
    """Does steps in the tabs of a conversation.

    Args:
        conversation: whose tabs.
        ctx: the call.
        site: the only site on which it may act; the call is over where the page leaves it.
    """

    def __init__(self, conversation: BrowserSession, ctx: Ctx, site: str) -> None:
        self._conversation = conversation
        self._ctx = ctx
        self._site = site
        self._seconds = ctx.config.browser.timeout
        self._files: list[SafePath] = []
        self.done: list[str] = []

    async def run(self, steps: Sequence[BrowserStep]) -> None:
        """Do them in order; what was done is in `done`, also after an error.

        Raises:
            BadInput: a step says too little, or there are too many.
            Denied: a step may not be done here.
            NotFound, Conflict: its element is not there, or is not the only one.
            TimedOut: it was not possible in time.
        """
        check_steps(steps, self._ctx)
        for number, step in enumerate(steps, 1):
            if _is_together(step, steps[number] if number < len(steps) else None):
                self._files.append(step["path"])
                continue
            tab = self._conversation.tab()
            if step["action"] not in LOOKING:
                self._refuse_other_site(tab)
            try:
                note = await self._one(tab, step)
            except ToolError as error:
                error.message = f"Step {number} ({step['action']}): {error.message}"
                raise
            self.done.append(note)
            tab = self._conversation.tab()
            await tab.settle(self._seconds)
            await self._ctx.progress(f"Step {number} of {len(steps)}", number, len(steps))

    def _refuse_other_site(self, tab: Tab) -> None:
        if tab.site and tab.site != self._site:
            allowed = self._site or "no site"
            raise Denied(
                f"The page is now on {tab.site}; this call may act on {allowed} alone.",
                hint="Send the other steps in a call of their own: that asks for the new site.",
            )

    async def _one(self, tab: Tab, step: BrowserStep) -> str:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as Late

        act: _Act = getattr(self, f"_{_METHODS.get(step['action'], step['action'])}")
        for attempt in (1, 2):
            try:
                async with answering_within(self._longest(step)):
                    return await act(tab, step)
            except Late as error:
                if "performing" in str(error):  # done once is done: a second time could harm
                    return f"{step['action']} {_target(step)} (the page is still busy with it)"
                if attempt == 2 or any(state in str(error) for state in _LASTING):
                    raise TimedOut(
                        f"{_target(step)} could not be used within {self._seconds:g} s: it is "
                        f"{_obstacle(str(error))}.",
                        hint="browser_read shows the page as it is now.",
                    ) from None
            except Error as error:
                if failure := gone(error):
                    raise failure from None
                if attempt == 2:
                    raise _plain_error(error, step) from None
        raise AssertionError  # the second try returned or raised

    def _longest(self, step: BrowserStep) -> float:
        """Seconds after which the page is given up; what a step waits for comes on top."""
        waits = MAX_WAIT_SECONDS if step["action"] == "wait" else 0.0
        return 2 * self._seconds + SNAPSHOT_SECONDS + waits

    async def _element(self, tab: Tab, step: BrowserStep, *, field: bool = False) -> PageElement:
        return await find_element(tab, step.get("target", ""), field=field)

    async def _click(self, tab: Tab, step: BrowserStep) -> str:
        element = await self._element(tab, step)
        return await self._clicked(tab, element, double=step["action"] == "double_click")

    async def _clicked(self, tab: Tab, element: PageElement, *, double: bool) -> str:
        from playwright.async_api import TimeoutError as Late

        handle = await element.locator.element_handle()  # a failed click ends the reference
        opens, came = await handle.evaluate(_OPENS_A_TAB), self._conversation.tab_came
        await _note_invalid_fields(tab, handle, pressed=False)
        came.clear()
        try:
            if double:
                await element.locator.dblclick()
            else:
                await element.locator.click()
        except Late as error:
            if "intercepts pointer events" not in str(error):
                raise
            # Something lies over it, such as a banner: the page is told of the click itself.
            await handle.dispatch_event("dblclick" if double else "click")
            tab.note(f"{element.name} was covered: the click was sent to it directly.")
        if opens:
            with suppress(TimeoutError):
                async with asyncio.timeout(NEW_TAB_SECONDS):
                    await came.wait()
        return f"{'double-clicked' if double else 'clicked'} {element.name}"

    async def _type(self, tab: Tab, step: BrowserStep) -> str:
        from playwright.async_api import Error

        element = await self._element(tab, step, field=True)
        value = step.get("value", "")
        if value.startswith(SECRET):
            await self._type_secret(tab, element, step)
            return f"typed into {element.name}"
        if value and await element.locator.evaluate("e => e.type === 'password'"):
            self._ctx.secrets.append(value)
        try:
            await element.locator.fill(value)
        except Error as error:
            if "Cannot type text into input" in str(error):
                raise _unfit("number", step) from None
            if "not an <input>" not in str(error):
                raise
            if await element.locator.evaluate("e => e.tagName === 'SELECT'"):
                return await self._select(tab, step)
            await element.locator.click()
            await tab.page.keyboard.press("ControlOrMeta+A")
            await tab.page.keyboard.type(value)
            return f"typed into {element.name}"
        with suppress(Error):  # what is typed may lead to another page
            kind, now = await element.locator.evaluate("e => [e.type, e.value]", timeout=1000)
            if kind in _FORMS and value and not now:
                raise _unfit(kind, step)
            if kind in _FORMS and now != value:
                return f"typed into {element.name}, which says {now} now"
        return f"typed into {element.name}"

    async def _type_secret(self, tab: Tab, element: PageElement, step: BrowserStep) -> None:
        """Give a field a secret, only where the field's own frame has its origin.

        It is given to the very element whose frame was judged. A keyboard types to what has the
        focus, and a locator waits for what fits: either may be of another origin by then.

        Raises:
            NotConfigured: there is no such secret.
            Denied: it is not for this origin.
            BadInput: the element is no field.
        """
        name = step.get("value", "").removeprefix(SECRET)
        known = self._ctx.config.browser.secrets
        if name not in known:
            raise NotConfigured(
                f"There is no secret '{name[:60]}'.",
                hint=f"The user can set it: [browser.secrets.{name[:60]}] with env and origins."
                + (f" Known: {', '.join(known)}." if known else ""),
            )
        handle = await element.locator.element_handle()
        frame = await handle.owner_frame()
        url = frame.url if frame is not None else ""
        parts, origin = urlsplit(url), web_origin(url)
        safe = parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")
        if not safe or origin not in [each.rstrip("/").lower() for each in known[name].origins]:
            raise Denied(
                f"The secret {name} is not for {origin}.",
                hint=f"It is typed into pages of {', '.join(known[name].origins)} alone.",
            )
        text = secret(known[name].env, f"browser.secrets.{name}")
        tab.masked.add(text)
        if not await handle.evaluate(
            "e => e instanceof HTMLInputElement || e.tagName === 'TEXTAREA'"
        ):
            raise BadInput(
                f"{_target(step)} is no field for a secret.", hint="Name an input of the form."
            )
        await handle.wait_for_element_state("visible", timeout=self._seconds * 1000)
        await handle.wait_for_element_state("editable", timeout=self._seconds * 1000)
        await handle.evaluate(_SET_VALUE, text)

    async def _press(self, tab: Tab, step: BrowserStep) -> str:
        key = key_of(step.get("value", ""))
        if step.get("target"):
            element = await self._element(tab, step)
            if key == "Enter":
                field = await element.locator.element_handle()
                await _note_invalid_fields(tab, field, pressed=True)
            await element.locator.press(key)
            return f"pressed {key[:30]} in {element.name}"
        await tab.page.keyboard.press(key)
        return f"pressed {key[:30]}"

    async def _select(self, tab: Tab, step: BrowserStep) -> str:
        from playwright.async_api import Error

        element = await self._element(tab, step, field=True)
        wanted = step.get("value", "")
        options: list[list[str]] = await element.locator.evaluate(
            "e => Array.from(e.options || [], o => [o.label || o.text, o.value])"
        )
        labels = [label for label, _ in options]
        if not options:
            raise BadInput(
                f"{_target(step)} is no list of the browser's own.",
                hint="Click it, then click the entry that it shows.",
            )
        is_parted = wanted not in labels and await element.locator.evaluate("e => e.multiple")
        parts = [each.strip() for each in wanted.split(",")] if is_parted else [wanted]
        found = [_option(part, options) for part in parts]
        try:
            if None in found:  # it may still be on its way to the list
                await element.locator.select_option(label=parts, timeout=1000)
            else:
                indices = [each for each in found if each is not None]
                await element.locator.select_option(index=indices, timeout=1000)
        except Error:
            raise BadInput(
                f"{_target(step)} has no option '{wanted[:60]}'.",
                hint="It has:",
                quote=", ".join(labels[:20])[:500],
            ) from None
        return f"selected {wanted[:60]} in {element.name}"

    async def _check(self, tab: Tab, step: BrowserStep) -> str:
        element = await self._element(tab, step, field=True)
        on = step.get("value", "").lower() not in ("false", "off", "no", "0", "uncheck")
        await element.locator.set_checked(on)
        return f"{'checked' if on else 'unchecked'} {element.name}"

    async def _hover(self, tab: Tab, step: BrowserStep) -> str:
        element = await self._element(tab, step)
        await element.locator.hover()
        return f"hovered over {element.name}"

    async def _drag(self, tab: Tab, step: BrowserStep) -> str:
        source = await self._element(tab, step)
        target = await find_element(tab, step.get("value", ""))
        await source.locator.drag_to(target.locator)
        return f"dragged {source.name} to {target.name}"

    async def _scroll(self, tab: Tab, step: BrowserStep) -> str:
        where = step.get("value", "").strip().lower() or "down"
        if step.get("target"):
            element = await self._element(tab, step)
            await element.locator.scroll_into_view_if_needed()
            return f"scrolled to {element.name}"
        if where in ("top", "bottom"):
            await tab.page.keyboard.press("Home" if where == "top" else "End")
            if where == "bottom":  # more may come there, for the next step too
                await tab.changes_within(LATE_SECONDS)
        else:
            size = tab.page.viewport_size
            page = (size["height"] if size else 800) * SCROLL_SHARE
            pixels = {"down": page, "up": -page}.get(where)
            await tab.page.mouse.wheel(0, _number(where) if pixels is None else pixels)
        return f"scrolled {where}"

    async def _wait(self, tab: Tab, step: BrowserStep) -> str:
        value, target = step.get("value", "").strip(), step.get("target", "").strip()
        time = _duration(value)
        if time is None and not target:
            target = value
        if target:
            await wait_for(tab, target, self._ctx.remaining(time or self._seconds))
            return f"waited for {target[:60]}"
        if time is None:
            raise BadInput(
                "The step names nothing to wait for.",
                hint='A target or a text that appears, or a time as value="2 s".',
            )
        await tab.page.wait_for_timeout(time * 1000)
        return f"waited {time:g} s"

    async def _goto(self, tab: Tab, step: BrowserStep) -> str:
        url = step.get("url", "")
        await visit(self._conversation, tab, url, self._ctx)
        return f"went to {url[:200]}"

    async def _history(self, tab: Tab, step: BrowserStep) -> str:
        action = step["action"]
        if action == "reload":
            await tab.page.reload(wait_until="commit")
        elif action == "back":
            await tab.page.go_back(wait_until="commit")
        else:
            await tab.page.go_forward(wait_until="commit")
        return {"reload": "reloaded", "back": "went back"}.get(action, "went forward")

    async def _upload(self, tab: Tab, step: BrowserStep) -> str:
        files = [*self._files, step["path"]]
        element = await self._file_field(tab, step)
        payload = await in_thread(lambda _: _payloads(files), self._ctx.deadline)
        self._files.clear()
        if await element.locator.evaluate("e => e.tagName === 'INPUT' && e.type === 'file'"):
            await element.locator.set_input_files(payload)
        else:
            async with tab.page.expect_file_chooser() as chooser:
                await element.locator.click()
            await (await chooser.value).set_files(payload)
            tab.take_notes()
        return f"chose {', '.join(file.display for file in files)} in {element.name}"

    async def _file_field(self, tab: Tab, step: BrowserStep) -> PageElement:
        """The element for an upload; pages like to hide the field itself behind its label."""
        if not step.get("target"):
            return await find_element(tab, "input[type=file]")
        fields = tab.page.get_by_label(step.get("target", ""), exact=True)
        labelled = fields.and_(tab.page.locator("input[type=file]"))
        if await labelled.count() == 1:
            return PageElement(labelled, _target(step))
        return await self._element(tab, step)

    async def _dialog(self, tab: Tab, step: BrowserStep) -> str:
        text = step.get("value", "")
        tab.dialog_answer, tab.prompt_text = _ANSWERS.get(text.strip().lower(), text), text
        return f"dialogs are answered with {tab.dialog_answer[:60]}"

    async def _evaluate(self, tab: Tab, step: BrowserStep) -> str:
        found = await tab.page.evaluate(step.get("value", ""))
        return f"evaluated to {one_line(tab.masked(repr(found)))[:2000]}"


_ANSWERS = {
    **dict.fromkeys(("", "accept", "yes", "ok", "true", "confirm"), "accept"),
    **dict.fromkeys(("dismiss", "no", "cancel", "false", "deny", "reject"), "dismiss"),
}
"""The words for the buttons of a dialog; any other text is for a prompt."""
NEW_TAB_SECONDS = 1.0
"""A link to a new tab is waited for so long: the browser tells of the tab after the click."""
_SET_VALUE = """(e, value) => {
  e.focus();
  const kind = e.tagName === 'TEXTAREA' ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, 'value').set.call(e, value);
  e.dispatchEvent(new InputEvent('input', {bubbles: true, composed: true}));
  e.dispatchEvent(new Event('change', {bubbles: true}));
}"""
_OPENS_A_TAB = """e => {
  const link = e.closest('a[target], area[target]');
  return !!link && !['', '_self', '_parent', '_top'].includes(link.target);
}"""
_INVALID_FIELDS = """(e, pressed) => {
  const sender = e.closest('button, input'), form = sender && sender.form;
  if (!form || form.noValidate || sender.formNoValidate) return [];
  if (!pressed && !['submit', 'image'].includes(sender.type)) return [];
  const named = f =>
    String(f.ariaLabel || f.labels?.[0]?.innerText || f.placeholder || f.name || f.type || '');
  return [...form.elements].filter(f => f.willValidate && !f.validity.valid).slice(0, 5)
    .map(f => named(f).trim().slice(0, 60) + ': ' + f.validationMessage);
}"""
_DURATION = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|milliseconds|s|secs?|seconds?)?", re.IGNORECASE
)


def _duration(text: str) -> float | None:
    """A time in seconds, 30 at most; None where the text is none.

    A bare number is seconds up to 30 and milliseconds beyond.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    number, unit = float(found[1]), (found[2] or "").lower()
    if unit.startswith("m") or (not unit and number > MAX_WAIT_SECONDS):
        number /= 1000
    return min(number, MAX_WAIT_SECONDS)


async def _note_invalid_fields(tab: Tab, sender: ElementHandle, *, pressed: bool) -> None:
    """Say which fields keep the browser from sending a form, as it shows a person in a bubble."""
    from playwright.async_api import Error

    with suppress(Error, TypeError):  # what a page makes of its own form is no reason not to click
        for field in await sender.evaluate(_INVALID_FIELDS, pressed):
            tab.note(f"The form is not sent: {one_line(str(field))[:300]}")


async def visit(conversation: BrowserSession, tab: Tab, url: str, ctx: Ctx) -> None:
    """Go to a URL; what the guard refuses is raised in its own words.

    Raises:
        Blocked: the guard does not let it through.
        BadInput: the tab may not go there.
        Network, TimedOut: it could not be reached.
    """
    side = ctx.use(Browsers).side(url, conversation.session)
    if conversation.side_of(tab) != side:
        raise BadInput(
            "Servers of runs and the web are not opened in the same tab.",
            hint=f"Open it in a tab of its own: browser_open url={url[:200]}",
        )
    known = set(map(id, (*conversation.refusals(), *conversation.failures())))
    host = urlsplit(url).hostname or ""

    def new(errors: Iterable[ToolError]) -> ToolError | None:
        """The first that came since, of this host."""
        found = (e for e in errors if id(e) not in known)
        return next((e for e in found if str(e.details.get("host", "")).strip("[]") == host), None)

    try:
        await tab.goto(url, ctx.remaining(ctx.config.browser.timeout))
    except ToolError as failure:
        if tab.url.startswith("chrome-error:"):
            await tab.leave_error_page()
        if (error := new(conversation.refusals())) is not None:
            conversation.take_refusals()  # the failure tells it
            raise error from None
        raise new(conversation.failures()) or failure from None
    # Of a site without TLS the guard's own answer looks like a page of it.
    answers = {403: conversation.refusals, 502: conversation.failures, 504: conversation.failures}
    if tab.status in answers and (error := new(answers[tab.status]())) is not None:
        await tab.leave_error_page()
        raise error


async def wait_for(tab: Tab, target: str, seconds: float) -> None:
    """Wait until a selector fits something visible, or a text is to be seen.

    Raises:
        TimedOut: it did not come.
    """
    from playwright.async_api import Error
    from playwright.async_api import TimeoutError as Late

    text = tab.page.get_by_text(target).or_(tab.page.get_by_label(target))
    try:
        try:
            either = text.or_(tab.page.locator(_as_selector(target)))
            await either.first.wait_for(state="visible", timeout=seconds * 1000)
        except Late:
            raise
        except Error as error:
            if gone(error):
                raise
            await text.first.wait_for(state="visible", timeout=seconds * 1000)  # no selector
    except Late:
        raise TimedOut(
            f"'{target[:80]}' did not appear within {seconds:g} s.",
            hint="browser_read shows the page as it is now.",
        ) from None


def _as_selector(target: str) -> str:
    """The target where it can be a selector, else one that fits nothing."""
    return target if looks_like_selector(target) else ":not(*)"


def _is_together(step: BrowserStep, following: BrowserStep | None) -> bool:
    """Whether a file is chosen together with that of the next step, for the same field."""
    return (
        following is not None
        and step["action"] == following["action"] == "upload"
        and step.get("target") == following.get("target")
    )


def _payloads(files: Sequence[SafePath]) -> list[FilePayload]:
    kind, left = "application/octet-stream", MAX_UPLOAD_BYTES
    payloads: list[FilePayload] = []
    for file in files:
        content = file.read_bytes(left)
        left -= len(content)
        payloads.append({"name": file.name, "mimeType": kind, "buffer": content})
    return payloads


_FORMS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    "month": "YYYY-MM",
    "week": "YYYY-W01",
    "color": "#rrggbb",
    "range": "50",
    "number": "10",
}
"""How browsers take the values of fields that have a form of their own."""
_DAY = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_OBSTACLES = {
    "element is not enabled": "disabled",
    "element is not visible": "hidden",
    "element is not stable": "moving",
    "element is outside of the viewport": "outside of the window",
    "intercepts pointer events": "covered",
    "element is not editable": "not to be changed",
}
_LASTING = ("element is not enabled", "element is not editable")


def _option(wanted: str, options: Sequence[Sequence[str]]) -> int | None:
    """Where an option stands by its label or value, also where case is all that differs."""
    for form in (str, folded):
        for part in (0, 1):
            names = [form(option[part]) for option in options]
            if form(wanted) in names:
                return names.index(form(wanted))
    return None


def _unfit(kind: str, step: BrowserStep) -> BadInput:
    form = _FORMS[kind]
    day = _DAY.fullmatch(step.get("value", "").strip()) if kind == "date" else None
    if day:
        form = f"{day[3]}-{int(day[2]):02}-{int(day[1]):02}"
    return BadInput(
        f"{_target(step)} is a field of the type {kind}, which does not take "
        f"'{step.get('value', '')[:40]}'.",
        hint=f'Write it like value="{form}".',
    )


def _obstacle(log: str) -> str:
    """Why an element could not be used, by what playwright waited for last."""
    found = {log.rfind(text): why for text, why in _OBSTACLES.items() if text in log}
    return found[max(found)] if found else "hidden, disabled, covered, or moves"


def _number(text: str) -> float:
    try:
        return float(text.removesuffix("px"))
    except ValueError:
        raise BadInput(
            f"'{text[:40]}' is no way to scroll.", hint="up, down, top, bottom, or pixels."
        ) from None


def _target(step: BrowserStep) -> str:
    return step.get("target", "")[:80] or "The page"


def _plain_error(error: Exception, step: BrowserStep) -> ToolError:
    first = one_line(str(error).splitlines()[0] if str(error) else "")
    return BadInput(
        f"{_target(step)}: {first.partition(': ')[2][:200] or first[:200]}",
        hint="browser_read shows the page as it is now.",
    )
