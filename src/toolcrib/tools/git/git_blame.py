"""`git_blame`: which commit each line of a file is from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.git.places import adapt_path
from toolcrib.git.repository import open_repository, text_of
from toolcrib.text.cleaner import one_line

_LINES = re.compile(r"\s*(\d+)\s*[-,:]\s*(\d+)\s*")


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """One line: its number now, the commit that it is from, and its text."""

    number: int
    commit: str
    author: str
    day: str
    subject: str
    text: str


def _adapt(given: dict[str, Any]) -> None:
    """Take a last line for a number of lines too, and "3-7", as `read_file` does."""
    adapt_path(given)
    if between := _LINES.fullmatch(str(given.get("lines", ""))):
        del given["lines"]
        given.update(start=between[1], end=between[2])
    end, start = str(given.get("end", "")), str(given.get("start", 1))
    if end.isdecimal() and start.isdecimal() and "lines" not in given:
        del given["end"]
        given["lines"] = max(int(end) - int(start) + 1, 1)


@tool(
    group="git",
    rights=READ,
    keywords=("annotate", "who wrote", "last changed", "author", "line"),
    argument_aliases={"file_path": "path", "file": "path", "line_number": "start", "line": "start"},
    argument_adapter=_adapt,
)
async def git_blame(
    path: WorkspacePath,
    start: Annotated[Count, Param("First line.")] = 1,
    lines: Annotated[Count, Param(maximum=5000)] = 100,
    revision: str = "",
    *,
    ctx: Ctx,
) -> Result:
    """Show who last changed the lines of a file, when, and in which commit.

    Lines of one commit stand together beneath its hash, day, author and subject.
    """
    async with open_repository(ctx, path) as repository:
        name = repository.name_of(path)
        if not name:
            raise BadInput(f"{path.display} is a folder.", hint="Name a file.")
        commit = [await repository.commit(revision)] if revision else []
        args = ["blame", "--porcelain", f"-L{start},+{lines + 1}", *commit, "--", name]
        found = list(_parse(text_of(await repository.read(*args))))
    more = len(found) > lines
    found = found[:lines]
    following = None
    if more:
        given = {"path": path.display, "start": start + lines, "lines": lines}
        following = Next.of(git_blame.name, **given, revision=revision)
    keys = ("number", "commit", "author", "day")
    return Result(
        text="\n".join(_grouped(found)),
        data={"lines": [{key: getattr(line, key) for key in keys} for line in found]},
        truncated=more,
        next=following,
    )


def _parse(text: str) -> Iterator[BlamedLine]:
    """Read `git blame --porcelain`: what is said of a commit stands at its first line."""
    known: dict[str, dict[str, str]] = {}
    commit, number = "", 0
    for line in text.split("\n"):
        if line.startswith("\t"):
            about = known[commit]
            zone = about.get("author-tz", "+0000")
            minutes = int(zone[-4:-2]) * 60 + int(zone[-2:])
            # The day where the author was, as git tells it.
            there = timezone(timedelta(minutes=-minutes if zone.startswith("-") else minutes))
            moment = datetime.fromtimestamp(int(about.get("author-time", "0")), there)
            yield BlamedLine(
                number,
                commit,
                one_line(about.get("author", ""), 60),
                f"{moment:%Y-%m-%d}",
                one_line(about.get("summary", ""), 100),
                line[1:],
            )
            continue
        word, _, rest = line.partition(" ")
        if len(word) in (40, 64) and rest[:1].isdigit():
            commit, number = word, int(rest.split()[1])
            known.setdefault(commit, {})
        elif commit:
            known[commit][word] = rest


def _grouped(found: list[BlamedLine]) -> Iterator[str]:
    before = ""
    for line in found:
        if line.commit != before:
            before = line.commit
            if set(line.commit) == {"0"}:
                yield "not committed yet"
            else:
                yield f"{line.commit[:8]} {line.day} {line.author}: {line.subject}"
        yield f"{line.number}|{line.text}"
