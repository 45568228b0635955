"""`PublicUrl`: the type of a tool parameter that is fetched."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound
from toolcrib.core.params import Param
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.references import References, is_reference, unknown_reference
from toolcrib.net.egress.url import complete_url, parse_url


def check_public_url(text: str, ctx: Ctx) -> str:
    """The canonical URL for what a model typed; `https://` may be missing.

    Raises:
        BadInput: it is not a URL.
        Blocked: the policy refuses it before any name is resolved.
        NotFound: it is a reference; those that are known were expanded before.
    """
    if is_reference(text):
        raise unknown_reference(text)
    target = parse_url(complete_url(text))
    ctx.use(Egress).policy(PAGES).check(target)
    return target.full


async def open_url(text: str, ctx: Ctx) -> str:
    """The same, also for a reference (`ref://…`) that the conversation was shown.

    Raises:
        NotFound: the conversation was shown no such reference.
    """
    if is_reference(text):
        text = await ctx.use(References).expand(text, ctx.session)
    return check_public_url(text, ctx)


async def expand_reference(text: str, ctx: Ctx) -> str:
    """The URL behind a reference; everything else, and an unknown one, as it is.

    For lists of URLs that the tool checks one by one: policy must see the URL itself.
    """
    if not is_reference(text):
        return text
    try:
        return await ctx.use(References).expand(text, ctx.session)
    except NotFound:
        return text


PublicUrl: TypeAlias = Annotated[str, Param("http(s) URL.", kind="url", check=open_url)]
