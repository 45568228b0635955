"""`fetch_url`: pages as Markdown or text, in parts that fit a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.params import Offset, Param, Tokens
from toolcrib.core.tool import NET, tool
from toolcrib.kit.egress import PublicUrl
from toolcrib.kit.egress.public_url import check_public_url
from toolcrib.kit.threads import in_thread
from toolcrib.tools.web.chain import most_telling
from toolcrib.tools.web.document import Format
from toolcrib.tools.web.pages import read_page
from toolcrib.tools.web.parts import Part, failed_data, failed_text, part_of

MAX_URLS = 10
LEAST = 200
"""Tokens for each page: below that there is no room for more than its header."""
# Checked one by one in the tool, so that a bad one does not fail the others.
EachUrl: TypeAlias = Annotated[str, Param("Several URLs.", kind="url")]


@tool(
    group="web",
    rights=NET,
    keywords=("read", "open", "page", "website", "download", "visit", "browse", "article", "link"),
    aliases=(
        "visit_website",
        "fetch_web_content",
        "fetch_webpage",
        "fetch_web_page",
        "fetch_page",
        "fetch",
        "fetch_content",
        "web_fetch",
        "webfetch",
        "read_url",
        "read_webpage",
        "read_website",
        "open_url",
        "visit_url",
        "visit_page",
        "browse_url",
        "get_url",
        "scrape_url",
        "url_fetch",
    ),
    argument_aliases={
        "link": "url",
        "uri": "url",
        "href": "url",
        "page_url": "url",
        "website": "url",
        "website_url": "url",
        "links": "urls",
        "start_index": "offset",
        "start": "offset",
        "content_format": "format",
        "output_format": "format",
        "token_limit": "max_tokens",
    },
    profiles=("default", "research"),
)
async def fetch_url(
    url: PublicUrl = "",
    urls: list[EachUrl] | None = None,
    offset: Annotated[Offset, Param("Character to start at.")] = 0,
    max_tokens: Annotated[Tokens | None, Param("Budget of the answer.")] = None,
    format: Format = "markdown",  # noqa: A002 - the name that models know
    *,
    ctx: Ctx,
) -> Result:
    """Read a web page (HTML, JSON, XML, text) as Markdown.

    A long page comes in parts; the answer names the call for the next one. Several
    pages are read at once with `urls`. To find pages use `web_search`, for files on
    this machine `read_file`.
    """
    asked = list(dict.fromkeys([*([url] if url else []), *(urls or [])]))
    if not asked:
        raise BadInput("Give 'url', or 'urls' as a non-empty array of strings.")
    if len(asked) > MAX_URLS:
        raise BadInput(f"At most {MAX_URLS} URLs in one call, not {len(asked)}.")
    budget = ctx.budget(fetch_url.name, max_tokens or 0, ctx.config.web.fetch.max_tokens)
    budget = max(budget, LEAST * len(asked))
    same = {"max_tokens": max_tokens, "format": "" if format == "markdown" else format}
    given = {name: value for name, value in same.items() if value}
    gate = asyncio.Semaphore(ctx.config.web.fetch.concurrency)

    async def one(address: str) -> Part | ToolError:
        try:
            async with gate:
                checked = _checked(address, ctx)
                await ctx.progress(f"Fetching {checked[:200]}")
                page = await read_page(checked, format, ctx)
            share = budget // len(asked)
            return await in_thread(
                lambda _: part_of(checked, page, offset, share, given), ctx.deadline
            )
        except ToolError as error:
            return error

    return _result(asked, await asyncio.gather(*map(one, asked)), budget, ctx)


def _checked(address: str, ctx: Ctx) -> str:
    if not address.strip():
        raise BadInput("URL must be a non-empty string.")
    return check_public_url(address, ctx)


def _result(
    asked: Sequence[str], parts: Sequence[Part | ToolError], budget: int, ctx: Ctx
) -> Result:
    shown = [part for part in parts if isinstance(part, Part)]
    if not shown:
        raise _failed(dict(zip(asked, parts, strict=True)))
    for part in shown:
        if part.page.removed:
            count = sum(part.page.removed.values())
            ctx.warn(f"{count} invisible characters were removed from {part.page.url[:200]}.")
    texts, data = [], []
    for address, outcome in zip(asked, parts, strict=True):
        if isinstance(outcome, ToolError):
            texts.append(failed_text(address, outcome))
            data.append(failed_data(address, outcome))
            continue
        several = len(parts) > 1
        more = f"\nTo go on: {outcome.following}" if outcome.following and several else ""
        texts.append(outcome.text + more)
        data.append(outcome.data)
    following = next((part.following for part in shown if part.following), None)
    return Result(
        text="\n\n---\n\n".join(texts),
        data={"pages": data},
        truncated=following is not None,
        next=following,
        source=", ".join(dict.fromkeys(part.page.url for part in shown)),
        max_tokens=budget,
    )


def _failed(failures: Mapping[str, Any]) -> ToolError:
    error = most_telling(list(failures.values()))
    if len(failures) > 1:
        listed = [failed_data(address, e) for address, e in failures.items()]
        error.details = {**error.details, "pages": listed}
    return error
