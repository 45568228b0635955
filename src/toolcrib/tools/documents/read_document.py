"""`read_document`: documents of the workspace or the web as Markdown, in parts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.core.params import Offset, Param, Tokens
from toolcrib.core.tool import NET, READ, Right, tool
from toolcrib.documents.documents import Documents
from toolcrib.files.paths import SafePath
from toolcrib.net.bodies import read_body
from toolcrib.net.egress.references import References
from toolcrib.system.threads import in_thread
from toolcrib.tools.documents.view.part import Want, part_of
from toolcrib.tools.documents.view.places import DocumentPath, DocumentUrl


def _narrowed(given: Mapping[str, Any]) -> Right:
    """A file of the workspace needs no network, and a page of the web no file."""
    if given.get("path") is None:
        return NET
    return READ | NET if given.get("url") else READ


@tool(
    group="documents",
    rights=READ | NET,
    keywords=(
        "pdf",
        "docx",
        "word",
        "pptx",
        "powerpoint",
        "slides",
        "xlsx",
        "excel",
        "spreadsheet",
        "epub",
        "ebook",
        "notebook",
        "mail",
        "attachment",
        "scan",
        "ocr",
        "markdown",
    ),
    aliases=(
        "read_pdf",
        "read_docx",
        "read_word",
        "read_excel",
        "read_xlsx",
        "read_pptx",
        "read_spreadsheet",
        "read_presentation",
        "read_attachment",
        "read_epub",
        "read_notebook",
        "parse_document",
        "parse_pdf",
        "parse_docx",
        "open_document",
        "open_pdf",
        "view_document",
        "get_document",
        "fetch_document",
        "fetch_pdf",
        "document_read",
        "extract_document",
        "extract_pdf",
        "extract_pdf_text",
        "extract_document_text",
        "extract_text_from_pdf",
        "pdf_to_text",
        "pdf_to_markdown",
        "document_to_markdown",
        "convert_to_markdown",
        "markitdown",
    ),
    argument_aliases={
        "file_path": "path",
        "filepath": "path",
        "file_name": "path",
        "filename": "path",
        "file": "path",
        "document": "path",
        "document_path": "path",
        "pdf_path": "path",
        "attachment": "path",
        "attachment_name": "path",
        "name": "path",
        "uri": "url",
        "link": "url",
        "document_url": "url",
        "pdf_url": "url",
        "page": "pages",
        "page_range": "pages",
        "page_numbers": "pages",
        "sheets": "pages",
        "slides": "pages",
        "start": "offset",
        "token_limit": "max_tokens",
    },
    profiles=("research",),
    narrowing=_narrowed,
    seconds=120.0,
)
async def read_document(
    path: DocumentPath | None = None,
    url: DocumentUrl = "",
    pages: Annotated[str, Param('Pages, slides or sheets: "3-5,9".')] = "",
    offset: Annotated[Offset, Param("Character to start at.")] = 0,
    max_tokens: Tokens | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Read a PDF, office file, e-book, mail or notebook as Markdown.

    Give `path` or `url`. A long document comes in parts; the answer
    names the call for the next one. For web pages use `fetch_url`, for plain text `read_file`.
    """
    if (path is None) == (not url):
        raise BadInput("Give 'path' or 'url', one of them.", hint='As path="report.pdf".')
    budget = ctx.budget(read_document.name, max_tokens or 0)
    same = {"pages": pages.strip(), "max_tokens": max_tokens}
    given = {name: value for name, value in same.items() if value}
    if path is not None:
        content, facts = await _from_workspace(path, ctx)
        media_type, source, arguments = "", "", {"path": path.display, **given}
        name = path.name
    else:
        content, media_type, facts, name = await _from_web(url, ctx)
        source = facts["final_url"]
        short = await ctx.use(References).shorten(url, ctx.session)
        arguments = {"url": short, **given}
    started = time.monotonic()
    document = await ctx.use(Documents).read(
        content, name=name, media_type=media_type, pages=pages, deadline=ctx.deadline
    )
    facts["seconds"] = round(time.monotonic() - started, 3)
    want = Want(read_document.name, source, arguments, offset, budget, facts)
    return await in_thread(lambda _: part_of(document, want), ctx.deadline)


async def _from_workspace(path: SafePath, ctx: Ctx) -> tuple[bytes, dict[str, Any]]:
    most = ctx.config.documents.max_bytes
    try:
        content = await in_thread(lambda _: path.read_bytes(most), ctx.deadline)
    except TooLarge as error:
        error.hint = "The user can raise documents.max_bytes."
        raise
    return content, {"path": path.display, "bytes": len(content)}


async def _from_web(url: str, ctx: Ctx) -> tuple[bytes, str, dict[str, Any], str]:
    """The body, its media type, what is known of it, and a name for it."""
    await ctx.progress(f"Fetching {url[:200]}")
    body = await read_body(url.partition("#")[0], ctx)
    if body.truncated:
        raise TooLarge(
            f"The document has more than {len(body.content):,} bytes, and a part cannot be read.",
            hint="The user can raise web.fetch.max_bytes and egress.max_wire_bytes.",
        )
    media_type = f"{body.media_type}; charset={body.charset}" if body.charset else body.media_type
    facts = {
        "url": url,
        "final_url": body.url,
        "content_type": body.media_type[:80],
        "bytes": len(body.content),
        "cached": body.cached,
        "stale": body.stale,
    }
    return body.content, media_type, facts, unquote(urlsplit(body.url).path).rpartition("/")[2]
