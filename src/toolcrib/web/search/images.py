"""A search for images, whichever tool wants them."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotConfigured
from toolcrib.web.provider_api.provider import Ask
from toolcrib.web.providers import IMAGES, Providers
from toolcrib.web.search.chain import Outcome, Window, search
from toolcrib.web.search.regions import usual_region


async def find_images(query: str, window: Window, ctx: Ctx) -> Outcome:
    """Images for a query, from the providers of `web.images`.

    Raises:
        NotConfigured: no provider of images is configured.
        ToolError: see `chain.search`.
    """
    names = ctx.config.web.images.providers
    fit = sorted(ctx.use(Providers).of_kind("images"))
    wrong = [name for name in names if name.strip().lower() not in fit]
    if wrong or not names:
        found = f"'{wrong[0][:60]}' finds no images." if wrong else "No provider is configured."
        raise NotConfigured(found, hint=f"The user lists some of these in {IMAGES}: {_said(fit)}.")
    settings = ctx.config.web.search
    ask = Ask(query, safe_search=settings.safe_search, region=usual_region(ctx.config))
    await ctx.progress(f"Searching for images of '{query[:80]}'")
    outcome = await search(ask, window, names, ctx, setting=IMAGES)
    await ctx.progress(f"Found {len(outcome.results)} images with {outcome.provider}")
    return outcome


def _said(names: list[str]) -> str:
    return ", ".join(names) or "none is installed"
