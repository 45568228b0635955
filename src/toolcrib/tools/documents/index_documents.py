"""`index_documents`: files and folders into the index of the workspace."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, WRITE, Count, Offset, Param, other_names, tool
from toolcrib.documents.library import IndexedPath, JobOwner, Library, SyncReport, report_lines
from toolcrib.files.paths import Workspace, WorkspacePath
from toolcrib.retrieval.chunks import CHUNK_CHARS, OVERLAP_CHARS, ChunkSize
from toolcrib.text.display import counted
from toolcrib.tools.documents.library_access import progress_of, real_path, sync_notes

MAX_PATHS = 50
MAX_FAILED = 10


@tool(
    group="documents",
    rights=READ | WRITE,
    keywords=("rag", "embed", "ingest", "vector", "knowledge", "library", "folder"),
    aliases=("index_files", "index_folder", "ingest_documents", "add_documents"),
    argument_aliases=other_names(
        paths=("path", "folder", "directory", "directory_path", "file_path"),
        glob=("file_pattern", "pattern"),
        overlap=("chunk_overlap",),
    ),
    idempotent=True,
)
async def index_documents(
    paths: list[WorkspacePath] | None = None,
    glob: Annotated[str, Param("As *.md.")] = "",
    watch: Annotated[bool, Param("Follow changes.", unlisted=True)] = False,
    chunk_size: Annotated[Count | None, Param("Characters of a passage.", unlisted=True)] = None,
    overlap: Annotated[
        Offset | None, Param("Characters that passages share.", unlisted=True)
    ] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Index files or folders for search_documents.

    Only what is new or changed is read, and searching does that itself: use it for large
    folders, for some files alone, or with watch to follow changes. Without `paths`: the current
    directory. What .gitignore names and hidden folders are left out.
    """
    if paths is not None and len(paths) > MAX_PATHS:
        raise BadInput(f"{len(paths):,} paths are too many.", hint="Name a folder and a glob.")
    size = None
    if chunk_size is not None or overlap is not None:
        chars = chunk_size or CHUNK_CHARS
        size = ChunkSize(chars, min(OVERLAP_CHARS, chars // 6) if overlap is None else overlap)
    library = ctx.use(Library)
    start = ctx.use(Workspace).start(ctx.session.directory)
    sources = []
    for path in paths or [start]:
        sources.append(IndexedPath(await real_path(path, ctx), glob.strip(), size, watch))
        await library.add(sources[-1])
    caller = JobOwner(ctx.session.id, index_documents.name)
    report = await library.sync_all(sources, caller, progress_of(ctx))
    return await _as_result(report, library, ctx)


async def _as_result(report: SyncReport, library: Library, ctx: Ctx) -> Result:
    status = await library.index.status()
    head = (
        f"The index has {counted(status.entries, 'file')} in {counted(status.chunks, 'passage')}."
    )
    lines = [*report_lines(report), *sync_notes(report)[len(report.notes) :], head]
    if report.failed:
        lines.append("Not read:")
        listed = list(report.failed.items())
        for key, why in listed[:MAX_FAILED]:
            name = ctx.use(Workspace).resolve(key, ctx.session.directory).display
            lines.append(f"- {name}: {why}")
        lines += [f"{len(listed) - MAX_FAILED:,} more"] if len(listed) > MAX_FAILED else []
    if library.embedder_note:
        lines.append(library.embedder_note)
    following = Next("read_job", {"id": report.job, "wait": "exit"}) if report.job else None
    data = {
        "files": report.files,
        "read": report.read,
        "removed": report.removed,
        "failed": report.failed,
        "left": report.left,
        "job": report.job,
        "index": {"files": status.entries, "passages": status.chunks},
    }
    return Result("\n".join(lines), data, next=following)
