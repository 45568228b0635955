"""The links of a page as they are listed: those that were looked for first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.core.context import Ctx
from toolcrib.net.egress.references import References
from toolcrib.system.threads import in_thread
from toolcrib.tools.web.view.find import Term
from toolcrib.tools.web.view.normalization import folded
from toolcrib.tools.web.view.outline import LIST, headings_of, section_named
from toolcrib.web.conversion.document import Link
from toolcrib.web.pages.neutralize import disarm
from toolcrib.web.pages.pages import PageText

MAX_WORDS = 100
# `](url)`, `](<url>)` or `<url>`, and parentheses inside.
_TARGET = re.compile(r"(?:\]\(<?|<)((?:[^()\s<>]|\([^()\s<>]*\))+)")
_WORD = re.compile(r"\w{2,}")


async def links_of(
    page: PageText, terms: Sequence[Term], ctx: Ctx, *, navigation: bool, section: str = ""
) -> tuple[tuple[str, str], ...]:
    """Texts and URLs of a page's links, at most `web.fetch.links`, each URL once.

    Args:
        page: the page.
        terms: links that speak of them come first.
        ctx: the call; long URLs get references in its conversation.
        navigation: also those of menus, behind the others.
        section: only those under this heading; empty and "?" are the whole page.

    Raises:
        NotFound: the page has no such section.
    """
    chosen: dict[str, Link] = {}
    links: Sequence[Link] = page.links
    if section and section != LIST:
        links = await in_thread(lambda _: _links_under(section, page, ctx), ctx.deadline)
    for link in links:
        if navigation or not link.navigation:
            known = chosen.get(link.url)
            if known is None or (not known.text and link.text):
                chosen[link.url] = link
    ordered = sorted(chosen.values(), key=lambda link: (-_share(link, terms), link.navigation))
    shown = []
    for link in ordered[: ctx.config.web.fetch.links]:
        url = _as_shown(link, ctx)
        shown.append((link.text[:MAX_WORDS], await ctx.use(References).shorten(url, ctx.session)))
    return tuple(shown)


def _links_under(section: str, page: PageText, ctx: Ctx) -> list[Link]:
    """The links of a page whose URLs stand in the text of a section."""
    under = section_named(section, headings_of(page), len(page.text))
    text = page.text[under.start : under.end].replace("\\", "")
    there = set(_TARGET.findall(text))
    return [link for link in page.links if _as_shown(link, ctx).replace("\\", "") in there]


def _as_shown(link: Link, ctx: Ctx) -> str:
    return disarm(link.url) if ctx.config.web.fetch.disarm else link.url


def _share(link: Link, terms: Sequence[Term]) -> float:
    """How much of the best term a link meets, from 0 to 1."""
    text = f"{link.text} {link.url}"
    plain = folded(text)
    best = 0.0
    for term in terms:
        if term.pattern is not None:
            best = max(best, float(bool(term.pattern.search(text))))
        elif term.text and term.text in plain:
            best = 1.0
        elif term.kind == "words":
            words = _WORD.findall(term.text)
            met = sum(word in plain for word in words)
            best = max(best, met / len(words) if words else 0.0)
    return best
