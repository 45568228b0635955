"""`PublicUrl`: the type of a tool parameter that is fetched."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.params import Param
from toolcrib.kit.egress.client import PAGES, Egress
from toolcrib.kit.egress.url import complete_url, parse_url


def check_public_url(text: str, ctx: Ctx) -> str:
    """The canonical URL for what a model typed; `https://` may be missing.

    Raises:
        BadInput: it is not a URL.
        Blocked: the policy refuses it before any name is resolved.
    """
    target = parse_url(complete_url(text))
    ctx.use(Egress).policy(PAGES).check(target)
    return target.full


PublicUrl: TypeAlias = Annotated[str, Param("http(s) URL.", kind="url", check=check_public_url)]
