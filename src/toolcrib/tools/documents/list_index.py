"""`list_index`: what is in the index of the workspace."""

from __future__ import annotations

import time
from collections import Counter
from typing import Annotated, Any

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Offset, Param, tool
from toolcrib.documents.library import Library
from toolcrib.retrieval.entries import EntryInfo
from toolcrib.text.display import counted, size_of
from toolcrib.text.tokens import estimate, lines_within
from toolcrib.tools.documents.library_access import path_name


@tool(
    group="documents",
    rights=READ,
    keywords=("indexed", "rag", "documents", "status"),
    aliases=("index_status", "list_indexed_documents", "list_documents"),
)
async def list_index(
    start: Annotated[Offset, Param("Files to skip.", unlisted=True)] = 0, *, ctx: Ctx
) -> Result:
    """List the indexed files and folders.

    It says how many files of which kind, what could not be read, and whether there are vectors.
    """
    library = ctx.use(Library)
    sources = await library.sources()
    status = await library.index.status()
    entries = await library.index.entries()
    kinds = Counter(entry.kind for entry in entries)
    counts = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    lines = [
        f"{counted(status.entries, 'file')} in {counted(status.chunks, 'passage')}, "
        f"{size_of(status.bytes)}" + (f": {counts}" if counts else "")
    ]
    if status.model:
        lines.append(f"Vectors by {status.model}: {status.vectors:.0%} of the passages.")
    elif library.index.embedder is not None:
        lines.append(f"Vectors by {library.index.embedder.model}: none yet.")
    lines += [library.embedder_note] if library.embedder_note else []
    for source in sources:
        more = [f"files {source.glob}"] if source.glob else []
        more += [f"passages of {source.size.chars}"] if source.size else []
        more += ["watched"] if source.watched else []
        lines.append(f"Indexed: {path_name(source.path, ctx)} {', '.join(more)}".rstrip())
    if not sources:
        lines.append("Nothing is indexed. search_documents does it by itself.")
    rows = []
    for entry in entries[start:]:
        error = entry.facts.get("error")
        what = (
            f"not read: {str(error).rstrip('.')}"
            if error
            else f"{entry.kind}, {counted(entry.chunks, 'passage')}"
        )
        day = time.strftime("%Y-%m-%d", time.gmtime(entry.indexed))
        rows.append(f"{path_name(entry.key, ctx)} ({what}, {day})")
    head = "\n".join(lines)
    room = room_in(ctx.budget(list_index.name)) - estimate(head)
    fitting = lines_within(rows, room) if rows else []
    end = start + len(fitting)
    more_rows = end < len(entries)
    data = {
        "sources": [
            {"path": source.path, "glob": source.glob, "watched": source.watched}
            for source in sources
        ],
        "files": status.entries,
        "passages": status.chunks,
        "bytes": status.bytes,
        "kinds": dict(kinds),
        "model": status.model,
        "vectors": status.vectors,
        "entries": [_row(entry) for entry in entries[start:end]],
    }
    following = Next(list_index.name, {"start": end}) if more_rows else None
    text = "\n".join([head, *fitting])
    return Result(text, data, truncated=more_rows, next=following)


def _row(entry: EntryInfo) -> dict[str, Any]:
    return {
        "path": entry.key,
        "kind": entry.kind,
        "title": entry.title,
        "passages": entry.chunks,
        "chars": entry.chars,
        "indexed": entry.indexed,
        "error": entry.facts.get("error", ""),
    }
