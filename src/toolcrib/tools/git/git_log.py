"""`git_log`: the last commits."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Offset, Param, other_names, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.places import adapt_path, need_path
from toolcrib.git.repository import open_repository, text_of
from toolcrib.git.revisions import date
from toolcrib.text.cleaner import one_line

FORMAT = "%h%x00%ad%x00%an%x00%D%x00%s"
SUBJECT_CHARS = 200


@tool(
    group="git",
    rights=READ,
    keywords=("history", "commits", "who", "when", "messages", "graph"),
    argument_aliases=other_names(
        limit=("max_count", "count", "n"),
        path=("file_path", "file"),
        range=("branch", "revision"),
        since=("start_timestamp",),
        grep=("search", "query"),
        offset=("skip",),
    ),
    argument_adapter=adapt_path,
)
async def git_log(
    range: str = "",  # noqa: A002
    path: WorkspacePath | None = None,
    author: str = "",
    grep: Annotated[str, Param("Text in messages.")] = "",
    since: str = "",
    graph: Annotated[bool, Param("All branches, as a graph.")] = False,
    limit: Annotated[Count, Param(maximum=500)] = 20,
    offset: Offset = 0,
    *,
    ctx: Ctx,
) -> Result:
    """List commits, the newest first.

    Each line is a short hash, day, author, subject, and the branches and tags there. git_show
    shows one of them whole.
    """
    async with open_repository(ctx, path) as repository:
        args = ["log", "--no-color", "--date=short", f"--format={FORMAT}", f"-n{limit + 1}"]
        args += [f"--skip={offset}"] if offset else []
        args += ["--fixed-strings", "--regexp-ignore-case"] if author or grep else []
        args += [f"--author={author}"] if author else []
        args += [f"--grep={grep}"] if grep else []
        args += [f"--since={date(since)}"] if since else []
        args += ["--graph", "--exclude=refs/toolcrib/*", "--exclude=refs/stash"] if graph else []
        args += ["--all"] if graph and not range else []
        args.append(await repository.range(range or "HEAD"))
        name = repository.name_of(path) if path else ""
        output = await repository.read(*args, "--", *([name] if name else []))
    lines, commits = _lines(text_of(output))
    if path and not commits and not offset:
        await need_path(path, ctx)
    more = len(commits) > limit
    if more:
        cut = commits[limit]["line"]
        lines, commits = lines[: int(str(cut))], commits[:limit]
    following = None
    if more:
        given: dict[str, object] = {"range": range, "author": author, "grep": grep}
        given |= {"path": path.display} if path else {}
        given |= {"since": since, "graph": graph, "limit": limit, "offset": offset + limit}
        following = Next.of(git_log.name, **given)
    data = [{k: v for k, v in commit.items() if k != "line"} for commit in commits]
    text = "\n".join(lines) or "(no commits)"
    return Result(text=text, data={"commits": data}, truncated=more, next=following)


def _lines(text: str) -> tuple[list[str], list[dict[str, object]]]:
    """The lines to show, and the commits, each with the number of its line."""
    lines: list[str] = []
    commits: list[dict[str, object]] = []
    for line in text.split("\n"):
        parts = line.split("\0", 4)
        if len(parts) < 5:
            if line.strip():
                lines.append(line.rstrip())
            continue
        start, day, author, names, subject = parts
        mark, _, short = start.rpartition(" ")
        commit = {"id": short, "date": day, "author": author, "subject": subject, "names": names}
        commits.append({**commit, "line": len(lines)})
        labels = f" ({names})" if names else ""
        text_line = (
            f"{short} {day} {one_line(author, 60)}: {one_line(subject, SUBJECT_CHARS)}{labels}"
        )
        lines.append(f"{mark} {text_line}" if mark else text_line)
    return lines, commits
