"""Which element of a page is meant: by its reference, by its words, or by a selector.

What fits more than one element, or only nearly, is never acted on: the candidates are named.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.browser.snapshots import FIELDS, ElementMatch, Node, PageSnapshot, folded, search
from toolcrib.browser.tabs import LATE_SECONDS, Tab
from toolcrib.core.errors import BadInput, Conflict, NotFound
from toolcrib.core.names import name_set

if TYPE_CHECKING:
    from playwright.async_api import Locator

REFERENCE = re.compile(r"\[?(?:ref=)?((?:f\d+)?e\d+)\]?")
_LINE = re.compile(r"-? *[a-z]+(?: \".*\")?(?: \[[\w=-]+\])* ((?:f\d+)?e\d+)(?: ->.*|:.*)?")
"""A line of a snapshot, which is copied whole."""
_NAMED = re.compile(r'-? *([a-z]+) "(.*?)"(?: \[[^\]]*\])*(?::.*)?')
"""A role and a name, as a snapshot writes them."""
CANDIDATES = 8
_SELECTOR = re.compile(r"^(?:css=|xpath=|//|#|\.)|[\[>]|^[a-z][a-z0-9]*(?:[.#:][\w-]+)+$")
_TAGS = name_set("""
a abbr address article aside audio body button canvas caption code details dialog div em
fieldset figure footer form h1 h2 h3 h4 h5 h6 header html iframe img input label legend li main
nav ol optgroup option output p pre progress section select small span strong summary svg table
tbody td textarea tfoot th thead tr ul video
""")
_TAG = re.compile(r"[a-z][a-z0-9]*(?=$|[.#:])")


@dataclass(frozen=True, slots=True)
class PageElement:
    """What a step is done to: playwright's handle on it, and its name for people."""

    locator: Locator
    name: str


async def find_element(tab: Tab, target: str, *, field: bool = False) -> PageElement:
    """The one element that a target names; one that comes late is waited for.

    Args:
        tab: where.
        target: a reference of the last snapshot, the visible words, or a CSS selector.
        field: whether something is to be typed into it or chosen in it.

    Raises:
        BadInput: nothing is named.
        NotFound: nothing fits; what nearly does is listed.
        Conflict: several fit, or the reference is of something that is gone.
    """
    loop = asyncio.get_running_loop()
    end, is_last = loop.time() + LATE_SECONDS, bool(REFERENCE.fullmatch(target.strip()))
    while True:
        try:
            return await _found(tab, target, field=field)
        except NotFound:
            if is_last:
                raise
        left = end - loop.time()
        is_last = left <= 0 or not await tab.changes_within(left)


async def _found(tab: Tab, target: str, *, field: bool) -> PageElement:
    wanted = target.strip()
    if not wanted:
        raise BadInput("The step names no element.", hint="Give a ref, its text, or a selector.")
    reference = REFERENCE.fullmatch(wanted) or _LINE.fullmatch(wanted)
    if reference is not None:
        return await _by_reference(tab, reference[1])
    named = _NAMED.fullmatch(wanted)
    if named is not None:
        return await _by_words(tab, named[2], field=field, role=named[1])
    if not _SELECTOR.search(wanted):
        try:
            return await _by_words(tab, wanted, field=field)
        except NotFound:
            if not looks_like_selector(wanted):
                raise
    return await _by_selector(tab, wanted)


def looks_like_selector(target: str) -> bool:
    """Whether a target can be meant as a selector: by its marks, or made of HTML's own names.

    Words of a page may be such names too, such as "select": what the page says goes before.
    """
    if _SELECTOR.search(target):
        return True
    parts = [_TAG.match(part) for part in re.split(r"[\s,+~]+", target.strip())]
    return all(part is not None and part[0] in _TAGS for part in parts)


async def _by_reference(tab: Tab, ref: str) -> PageElement:
    known = tab.seen.get(ref)
    if known is not None:
        locator = tab.page.locator(f"aria-ref={ref}")
        if await locator.count() == 1:
            return PageElement(locator, _name(known))
    now = await tab.snapshot()
    if known is None and ref in now.by_ref:
        return PageElement(tab.page.locator(f"aria-ref={ref}"), _name(now.by_ref[ref]))
    if known is None:
        raise NotFound(
            f"The page has no element {ref}.",
            hint="References are of the last snapshot of this tab: browser_read shows one.",
        )
    near = search(now, known.label, CANDIDATES) if known.label else []
    raise Conflict(
        f"{ref} is no longer there.",
        hint="Now there is:" if near else "browser_read shows the page as it is now.",
        quote=_candidates([f"(before: {_name(known)})"], near),
    )


async def _by_words(tab: Tab, words: str, *, field: bool, role: str = "") -> PageElement:
    snapshot = await tab.snapshot()
    exact = _fitting(snapshot, folded(words), field=field, role=role)
    if len(exact) == 1:
        return PageElement(tab.page.locator(f"aria-ref={exact[0].ref}"), _name(exact[0]))
    if exact:
        raise Conflict(
            f"{len(exact)} elements say '{words[:80]}'.",
            hint="Name one by its ref:",
            quote="; ".join(node.line(urls=True) for node in exact[:CANDIDATES]),
        )
    near = [match for match in search(snapshot, words, CANDIDATES) if match.node.ref]
    raise NotFound(
        f"No element says '{words[:80]}'.",
        hint="Near it:" if near else "browser_read find=… searches the page.",
        quote=_candidates([], near),
    )


def _fitting(snapshot: PageSnapshot, wanted: str, *, field: bool, role: str) -> list[Node]:
    """The elements that say just this: what can be acted on goes before plain text."""
    nodes = [node for node in snapshot.by_ref.values() if role in ("", node.role)]
    named = [node for node in nodes if folded(node.name) == wanted]
    fitting = named or [node for node in nodes if folded(node.text) == wanted]
    preferred = [node for node in fitting if (node.role in FIELDS if field else node.acts)]
    return preferred or [node for node in fitting if node.acts] or fitting


async def _by_selector(tab: Tab, selector: str) -> PageElement:
    from playwright.async_api import Error

    locator = tab.page.locator(selector)
    try:
        visible = [one for one in await locator.all() if await one.is_visible()]
        count = await locator.count()
    except Error as error:
        raise BadInput(
            f"'{selector[:100]}' is no selector: {str(error).splitlines()[0][:150]}",
            hint="Give a ref of the last snapshot, the visible text, or a CSS selector.",
        ) from None
    if len(visible) == 1 or (count == 1 and not visible):
        return PageElement(visible[0] if visible else locator, selector[:80])
    if count == 0:
        raise NotFound(
            f"Nothing on the page fits the selector '{selector[:100]}'.",
            hint="browser_read shows what is there, with refs.",
        )
    near = [match for match in search(await tab.snapshot(), selector, CANDIDATES) if match.node.ref]
    if near:  # a bare name of a tag is the name of a role as well
        raise Conflict(
            f"{len(visible)} visible elements fit '{selector[:100]}'.",
            hint="Name one by its ref:",
            quote=_candidates([], near),
        )
    texts = [(await one.inner_text())[:40].strip() or "(no text)" for one in visible[:CANDIDATES]]
    raise Conflict(
        f"{len(visible)} visible elements fit '{selector[:100]}'.",
        hint="Name one by its ref: browser_read shows them. They say:",
        quote="; ".join(texts),
    )


def _name(node: Node) -> str:
    return f'{node.role} "{node.label[:60]}"' if node.label else f"{node.role} {node.ref}"


def _candidates(before: Sequence[str], matches: Sequence[ElementMatch]) -> str:
    return "; ".join([*before, *(match.line() for match in matches)])
