"""`search_documents`: passages of the workspace's documents that are about a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.documents.library import Library, SyncReport
from toolcrib.files.paths import SafePath, WorkspacePath
from toolcrib.retrieval.entries import PassageRanking
from toolcrib.text.display import counted
from toolcrib.text.tokens import estimate
from toolcrib.tools.documents.library_access import (
    answered_whole,
    sync_notes,
    up_to_date,
    with_kind,
)
from toolcrib.tools.documents.passages import citations, listed, merged

MAX_LIMIT = 20


@tool(
    group="documents",
    rights=READ,
    keywords=("rag", "semantic", "knowledge", "papers", "notes", "vector", "retrieve"),
    aliases=("query_documents", "semantic_search", "search_index"),
    argument_aliases=other_names(
        query=("question", "text"),
        limit=("top_k", "topk", "k", "max_results"),
        path=("folder",),
        kind=("file_type",),
        glob=("file_pattern",),
    ),
    profiles=("research",),
)
async def search_documents(
    query: str,
    path: WorkspacePath | None = None,
    kind: Annotated[str, Param("pdf, code...", plain=True)] = "",
    limit: Annotated[int | None, Param(minimum=1, maximum=MAX_LIMIT)] = None,
    glob: Annotated[str, Param("Only files that fit, as *.pdf.", unlisted=True)] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Find passages in files and folders, by words and meaning.

    For PDF, office files, notes, code; what is not indexed yet is indexed first. For exact text
    use search_files; to have a question answered from all of it use ask_documents.
    """
    if not query.strip():
        raise BadInput("The query is empty.", hint="Send some words, or a question.")
    wanted = limit or ctx.config.documents.limit
    return await answered_whole(lambda: _search(query, path, kind, wanted, glob.strip(), ctx), ctx)


async def _search(
    query: str, path: SafePath | None, kind: str, wanted: int, glob: str, ctx: Ctx
) -> Result:
    report, entries = await up_to_date(path, glob, search_documents.name, ctx)
    library = ctx.use(Library)
    min_score = ctx.config.documents.min_score
    ranking = await library.index.search(query, wanted, with_kind(entries, kind), min_score)
    status = await library.index.status()
    notes = [*sync_notes(report), *ranking_notes(ranking)]
    if not ranking.passages:
        raise nothing_found(ranking, min_score, status.entries, notes, (kind, report))
    found = citations(merged(ranking.passages), ctx)
    files = counted(status.entries, "indexed file")
    head = f"{counted(len(found), 'passage')} by {ranking.method}, of {files}."
    top = "\n".join([head, *notes])
    lines, count = listed(found, room_in(ctx.budget(search_documents.name)) - estimate(top))
    data: dict[str, Any] = {
        "passages": [citation.to_json() for citation in found],
        "files": status.entries,
        "best": ranking.best,
        "method": ranking.method,
        "missing": list(ranking.missing),
        "job": report.job,
        "left": report.left,
    }
    following = found[count].next if count < len(found) else None
    return Result(
        "\n".join([top, "", *lines]), data, truncated=following is not None, next=following
    )


def ranking_notes(ranking: PassageRanking) -> list[str]:
    """What a reader should know of how it was searched."""
    notes = list(ranking.notes)
    for word, others in ranking.instead.items():
        notes.append(f"'{word}' is in no indexed file; searched for {', '.join(others)} instead.")
    if ranking.missing:
        notes.append(f"In no indexed file: {', '.join(ranking.missing[:10])}.")
    return notes


def nothing_found(
    ranking: PassageRanking,
    min_score: float,
    files: int,
    notes: Sequence[str],
    part: tuple[str, SyncReport],
) -> NoResults:
    """Why there is no answer in a part of the files: those of a kind, and indexed by now."""
    kind, report = part
    if report.left:
        job = f"read_job id={report.job} wait=exit waits for it. " if report.job else ""
        return NoResults(
            " ".join([f"Nothing in {counted(files, 'file')} so far.", *sync_notes(report)]),
            hint=f"{job}Then send this call again.",
            files=files,
            left=report.left,
        )
    best = f"best score {ranking.best:.2f}, below {min_score:g}" if ranking.best else "no match"
    hint = "Use other words, or the language of the documents."
    if kind:
        hint = "Leave out 'kind', or use other words."
    what = f"Nothing relevant in {counted(files, 'indexed file')} ({best})."
    return NoResults(
        " ".join([what, *notes]),
        hint=hint,
        best=ranking.best,
        files=files,
    )
