"""`git_show`: one commit, or a file as it was then."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NotFound, UnsupportedContent
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.patches import PATCH_OPTIONS, parse_patch, rendered
from toolcrib.git.places import RepositoryFolder, adapt_repo
from toolcrib.git.repository import Repository, entries_of, open_repository, text_of
from toolcrib.text.display import printable

FORMAT = "%H%x00%an%x00%ad%x00%D%x00%P%x00%B%x00"
BINARY_SNIFF_BYTES = 8_000


def _adapt(given: dict[str, Any]) -> None:
    """A file as git itself names it, `HEAD:README.md`."""
    adapt_repo(given)
    name = next((name for name in ("revision", "commit", "rev", "sha") if name in given), "")
    commit, colon, path = str(given.get(name, "")).partition(":")
    if commit and colon and path and not {"path", "file"} & given.keys():
        given |= {name: commit, "path": path}


@tool(
    group="git",
    rights=READ,
    keywords=("commit", "details", "old version", "file at", "previous version", "cat-file"),
    argument_aliases={"commit": "revision", "rev": "revision", "sha": "revision", "file": "path"},
    argument_adapter=_adapt,
)
async def git_show(
    revision: str = "HEAD",
    path: Annotated[WorkspacePath | None, Param("Content then.")] = None,
    stat: Annotated[bool, Param("Counts only.")] = False,
    repo: RepositoryFolder = None,
    *,
    ctx: Ctx,
) -> Result:
    """Show a commit with its changes, or a file or folder as it was then.

    With path the answer is the content at that commit; git_diff with a range and a path shows how
    it changed.
    """
    async with open_repository(ctx, repo or path) as repository:
        commit = await repository.commit(revision)
        if path is not None:
            return await _content(repository, commit, path.display, repository.name_of(path))
        output = text_of(
            await repository.read(
                "show", f"--format={FORMAT}", "--date=iso-strict",
                "--patch", *PATCH_OPTIONS, "--end-of-options", commit, "--",
            )
        )  # fmt: skip
        full, author, day, names, parents, message, rest = output.split("\0", 6)
        files = list(parse_patch(rest))
        changes = rendered(repository, files, stat=stat)
    head = f"{full[:10]} {day} {author}" + (f" ({names})" if names else "")
    merged = f"merge of {' '.join(p[:10] for p in parents.split())}\n" * (" " in parents)
    return Result(
        text=f"{head}\n{merged}{message.strip()}\n\n{changes}".rstrip(),
        data={"id": full, "author": author, "date": day, "message": message.strip()},
    )


async def _content(repository: Repository, commit: str, display: str, name: str) -> Result:
    spec = f"{commit}:{name}"
    kind = await repository.line("cat-file", "-t", spec)
    if kind == "tree":
        listed = entries_of(await repository.read("ls-tree", "-z", spec))
        entries = [entry.partition("\t") for entry in listed]
        rows = [printable(f"{file}/" if " tree " in state else file) for state, _, file in entries]
        return Result(text="\n".join(rows) or "(empty)", data={"entries": rows})
    if kind != "blob":
        raise NotFound(
            f"{display} was not in {commit[:8]}.", hint="git_log with its path shows where it was."
        )
    data = await repository.read("cat-file", "blob", spec)
    if b"\0" in data[:BINARY_SNIFF_BYTES]:
        raise UnsupportedContent(f"{display} is binary at {commit[:8]} ({len(data):,} bytes).")
    return Result(text=data.decode("utf-8", "replace"), data={"bytes": len(data)})
