"""`read_document`: documents of the workspace or the web as Markdown, in parts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias
from urllib.parse import unquote, urlsplit

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, NotFound, TooLarge, ToolError
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import NET, READ, Offset, Param, Right, Tokens, other_names, tool
from toolcrib.documents.documents import Documents
from toolcrib.documents.kinds import NAMES
from toolcrib.documents.text import DocumentText
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.net.egress.public_url import References, open_url
from toolcrib.net.page_bodies import read_body
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import clean
from toolcrib.text.display import counted
from toolcrib.text.fence import fence
from toolcrib.text.passages import outline
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut

MAX_HEADINGS = 20
MAX_TITLE_CHARS = 100
MIN_PART_TOKENS = 60
"""Tokens of text that a part has, whatever its header takes."""
CONTENTS_SHARE = 8
CHARS_PER_TOKEN = 12
HEADER_METADATA = ("author", "created", "modified", "published", "rows", "valid")
"""Metadata in the header of an answer."""


async def locate_document(value: str, ctx: Ctx) -> SafePath | None:
    """The checked path; a bare name may be in any folder, if only one has it.

    It is found before policy looks at the call, so that policy sees the file itself.
    """
    if not value.strip():
        return None
    if value.strip().lower().startswith(("http://", "https://", "ref://")):
        raise BadInput("'path' is a file of the workspace.", hint="Send a web address as 'url'.")
    workspace = ctx.use(Workspace)
    path = workspace.resolve(value, ctx.session.directory)
    path.gate.check(path, "read")
    if "/" in value.strip("/"):
        return path
    same = await in_thread(
        lambda _: _same_names(path, workspace, ctx.session.directory), ctx.deadline
    )
    if len(same) == 1:
        path = same[0]
        path.gate.check(path, "read")
    return path


def _same_names(path: SafePath, workspace: Workspace, directory: str) -> list[SafePath]:
    """The places anywhere in the workspace with the name of one that is not there; blocking."""
    others = (workspace.find(r.absolute((path.name,))) for r in workspace.roots if r != path.root)
    found: list[SafePath] = []
    for place in (path, *filter(None, others)):
        try:
            place.stat()
        except NotFound as error:
            names = error.details.get("near") or []
            places = (workspace.resolve(name, directory) for name in names)
            found += [p for p in places if p.name.casefold() == path.name.casefold()]
        except ToolError:
            continue
        else:
            if place is path:
                return []
            found.append(place)
    return list({place.real_absolute: place for place in found}.values())  # roots may overlap


async def open_address(value: str, ctx: Ctx) -> str:
    """The checked URL; nothing for nothing."""
    return await open_url(value, ctx) if value.strip() else ""


DocumentPath: TypeAlias = Annotated[
    SafePath,
    Param("File in the workspace.", kind="path", check=locate_document, json_type="string"),
]
DocumentUrl: TypeAlias = Annotated[
    str, Param("Or a web address.", kind="url", check=open_address, json_type="string")
]


def contents_of(document: DocumentText, text: str, room: int) -> str:
    """Its main headings with their pages, or with offsets where there are no pages.

    Args:
        document: what is listed.
        text: its whole Markdown.
        room: tokens that the list may take.
    """
    if document.unit:
        entries = _by_page(document)
    else:
        entries = [(heading.level, heading.start, heading.text) for heading in outline(text)]
    if len(entries) < 2:
        return ""
    for level in range(6, 1, -1):
        if len(entries) <= MAX_HEADINGS:
            break
        fewer = [entry for entry in entries if entry[0] < level]
        entries = fewer if len(fewer) > 1 else entries
    listed_entries = entries[:MAX_HEADINGS]
    by = document.unit or "offset"
    while listed_entries:
        top = min(level for level, _, _ in listed_entries)
        lines = [
            f"{'  ' * (level - top)}{at} {title[:MAX_TITLE_CHARS]}"
            for level, at, title in listed_entries
        ]
        left = len(entries) - len(listed_entries)
        more = f"\n{left:,} more" if left else ""
        listed = f"Headings by {by}:\n" + "\n".join(lines) + more
        if estimate(listed) <= room:
            return listed
        listed_entries = listed_entries[: len(listed_entries) * 2 // 3]
    return ""


def _by_page(document: DocumentText) -> list[tuple[int, int, str]]:
    found = []
    for page in document.pages:
        if page.name:
            found.append((1, page.number, page.name))
        elif document.unit == "page":
            found += [(h.level, page.number, h.text) for h in outline(page.text)]
    return found


@dataclass(frozen=True, slots=True)
class PartRequest:
    """Which part of a document a call asks for, and the arguments that the next call repeats."""

    source: str
    arguments: Mapping[str, Any]
    offset: int
    budget: int
    facts: Mapping[str, Any]


def document_part(document: DocumentText, request: PartRequest) -> Result:
    """As much of a document as fits, from an offset on, and the call that goes on.

    Raises:
        BadInput: it is shorter than the offset.
    """
    cleaned = clean(document.markdown)
    text, offset = cleaned.text, request.offset
    if offset and offset >= len(text):
        raise BadInput(
            f"The document has {len(text):,} characters, so nothing starts at {offset:,}.",
            hint="Offsets count from 0.",
            length=len(text),
        )
    room = room_in(request.budget) - estimate(fence("", request.source) if request.source else "")
    window = text[offset : offset + room * CHARS_PER_TOKEN]
    contents = ""
    if not offset and (len(window) < len(text) or estimate(window) > room):
        contents = contents_of(document, text, request.budget // CONTENTS_SHARE)
    header = _header(document, sum(cleaned.removed.values()), contents)
    # The line about the place is counted before its second number is known.
    space = room - estimate(header) - estimate(_place(offset, len(text), len(text))) - 4
    content, used = cut(window, max(space, MIN_PART_TOKENS))
    end = offset + used
    place = [] if not offset and end == len(text) else [_place(offset, end, len(text))]
    following = _following(document, request, end, len(text))
    lines = [*header.split("\n", 1)[:1], *place, *header.split("\n", 1)[1:]]
    return Result(
        text="\n".join(lines) + f"\n\n{content or '(no text)'}",
        data={
            **request.facts,
            **_facts(document),
            "content": content,
            "offset": offset,
            "end": end,
            "length": len(text),
            "truncated": following is not None,
        },
        truncated=following is not None,
        next=following,
        source=request.source,
        max_tokens=request.budget,
    )


def _following(document: DocumentText, request: PartRequest, end: int, length: int) -> Next | None:
    if end < length:
        return Next(read_document.name, {**request.arguments, "offset": end})
    if document.rest:
        return Next(read_document.name, {**request.arguments, "pages": document.rest})
    return None


def _place(start: int, end: int, length: int) -> str:
    return f"Characters {start:,} to {end:,} of {length:,}"


def _header(document: DocumentText, removed: int, contents: str) -> str:
    lines = [_described(document)]
    if document.title:
        lines.append(f"Title: {document.title}")
    known = [(name, document.metadata.get(name)) for name in HEADER_METADATA]
    facts = ", ".join(f"{name}: {value}" for name, value in known if value is not None)
    lines += [facts, document.diagnostic, *document.warnings]
    if removed:
        lines.append(f"{removed:,} invisible characters were removed.")
    return clean("\n".join(filter(None, [*lines, contents]))).text


def _described(document: DocumentText) -> str:
    name = NAMES.get(document.kind, document.kind)
    name = name[:1].upper() + name[1:]
    if not document.unit:
        return name
    parts = [name, counted(document.total, document.unit)]
    if len(document.pages) != document.total and document.pages:
        parts.append(f"these are {_ranges([page.number for page in document.pages])}")
    if document.non_empty != len(document.pages):
        parts.append(f"{document.non_empty:,} with text")
    return ", ".join(parts)


def _ranges(numbers: list[int]) -> str:
    """`3-5, 9` for 3, 4, 5 and 9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    ranges = ["-".join(map(str, run)) for run in runs[:10]]
    return ", ".join([*ranges, "…"] if len(runs) > 10 else ranges)


def _facts(document: DocumentText) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": document.kind,
        "title": document.title,
        "metadata": dict(document.metadata),
        "warnings": list(document.warnings),
        "readable": document.readable,
        "diagnostic": document.diagnostic,
    }
    if document.unit:
        facts |= {
            f"{document.unit}s": document.total,
            f"non_empty_{document.unit}s": document.non_empty,
            "read": [page.number for page in document.pages],
        }
    return facts


def _narrowed(given: Mapping[str, Any]) -> Right:
    """A file of the workspace needs no network, and a page of the web no file."""
    if given.get("path") is None:
        return NET
    return READ | NET if given.get("url") else READ


@tool(
    group="documents",
    rights=READ | NET,
    keywords=(
        *("pdf", "docx", "word", "pptx", "powerpoint", "slides", "xlsx", "excel", "spreadsheet"),
        *("epub", "ebook", "notebook", "mail", "attachment", "scan", "ocr", "markdown"),
    ),
    aliases=("read_pdf", "read_docx", "read_word", "read_excel"),
    argument_aliases=other_names(
        path=(
            *("file_path", "filepath", "file_name", "filename", "file"),
            *("document", "document_path", "pdf_path"),
        )
    ),
    profiles=("research",),
    effective_rights=_narrowed,
    seconds=120.0,
)
async def read_document(
    path: DocumentPath | None = None,
    url: DocumentUrl = "",
    pages: Annotated[str, Param('Pages, slides or sheets: "3-5,9".')] = "",
    offset: Annotated[Offset, Param("Character to start at.", unlisted=True)] = 0,
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
        content, facts, changed = await _from_workspace(path, ctx)
        media_type, source, arguments = "", "", {"path": path.display, **given}
        name = path.name
    else:
        content, media_type, facts, name = await _from_web(url, ctx)
        changed = None
        source = facts["final_url"]
        short_url = await ctx.use(References).shorten(url, ctx.session)
        arguments = {"url": short_url, **given}
    started = time.monotonic()
    document = await ctx.use(Documents).read(
        content, name=name, media_type=media_type, pages=pages, deadline=ctx.deadline
    )
    facts["seconds"] = round(time.monotonic() - started, 3)
    request = PartRequest(source, arguments, offset, budget, facts)
    result = await in_thread(lambda _: document_part(document, request), ctx.deadline)
    return replace(result, newest_change=changed)


async def _from_workspace(path: SafePath, ctx: Ctx) -> tuple[bytes, dict[str, Any], float | None]:
    max_bytes = ctx.config.documents.max_bytes
    try:
        content, changed = await in_thread(lambda _: path.read_with_change(max_bytes), ctx.deadline)
    except TooLarge as error:
        error.hint = "The user can raise documents.max_bytes."
        raise
    return content, {"path": path.display, "bytes": len(content)}, changed


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
