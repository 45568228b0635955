"""What is asked or refused before git writes files: those on which other programs act, old states.

Whoever can put a commit into a repository could else write, by a checkout of it, what no tool
may write; and a state of a rebase that came with a repository may name programs.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Busy, Denied, TimedOut, TooLarge, ToolError
from toolcrib.core.tool import Decision
from toolcrib.files.live_runs import without_runs
from toolcrib.files.own_folders import own_folders
from toolcrib.files.path_rules import DEPENDENCY_FOLDERS
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.targets import find_git_targets
from toolcrib.files.repositories.unfinished import (
    JUDGED,
    MAX_TODO_BYTES,
    SIGNING,
    TODO_LISTS,
    state_trouble,
    words_of,
)
from toolcrib.files.repositories.writes import made_repositories
from toolcrib.git.layout import read_own
from toolcrib.git.obstacles import refuse_covered
from toolcrib.git.repository import Repository, lines_of, open_repository
from toolcrib.git.status import in_progress, status_of
from toolcrib.git.written_names import (
    names_between,
    names_by_pick,
    names_by_switch,
)
from toolcrib.state.blobs import digest_of
from toolcrib.text.display import some_of

COMPILED = frozenset({*DEPENDENCY_FOLDERS, "__pycache__"})
ANY_NAME = "*"
NamesOf = Callable[[Repository, Mapping[str, Any]], Awaitable[list[str]]]


async def names_that_act(repository: Repository, names: Iterable[str]) -> list[str]:
    """Those of written names on which other programs act: protected, or by their place."""
    written = list(dict.fromkeys(names))
    if repository.is_trusted or not written:
        return []
    found = list(filter(repository.is_protected, written))
    rest = [name for name in written if name not in set(found)]
    return [*found, *(await _acting_among(repository, rest) if rest else [])]


async def ask_about(
    ctx: Ctx, arguments: Mapping[str, Any], names_of: NamesOf, path: SafePath | None = None
) -> Decision | None:
    """Ask where git would write protected files; None where it would not, or fails anyway.

    Raises:
        Busy: it could not, beside a run.
    """
    try:
        async with open_repository(ctx, path) as repository:
            try:
                names = await names_of(repository, arguments)
                names += await names_of_autostash(repository)
            except (TimedOut, TooLarge):
                why = "it cannot be told whether it writes files that act"
                return Decision("ask", why, judged=ANY_NAME)
            if found := await names_that_act(repository, names):
                await refuse_covered(repository, found)
                listed = some_of(found, 5)
                # What was allowed is what it would write now, not what a branch holds later.
                references = await repository.run(
                    "for-each-ref", "--format=%(objectname)%(refname)"
                )
                state = digest_of(bytes(references)).hexdigest()[:8]
                why = f"it writes {listed}, on which other programs act (branches as of {state})"
                return Decision("ask", why, explicit=True, judged=json.dumps(found))
    except Busy:
        raise
    except ToolError:
        pass
    return None


async def acting_unasked(repository: Repository, written: Iterable[str]) -> list[str]:
    """Those of the files that a call has written that act, and that no question named.

    A job may have moved a branch since, and an index may hide what is written.
    """
    judged = repository.ctx.judged
    if judged == ANY_NAME:
        return []
    found = await names_that_act(repository, written)
    return sorted(set(found) - set(json.loads(judged) if judged.startswith("[") else ()))


def asking(names_of: NamesOf) -> Callable[[Mapping[str, Any], Ctx], Awaitable[Decision | None]]:
    """The policy check of a tool with `repo` that writes these files."""

    async def ask(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
        return await ask_about(ctx, arguments, names_of, arguments.get("repo"))

    return ask


async def _acting_among(repository: Repository, wanted: Sequence[str]) -> list[str]:
    """Those that make git or an interpreter run something, which a run may have committed.

    What a person reads in a diff, such as settings of an editor, is not asked about again.
    """
    top = repository.layout.top
    roots = [root.real for root in repository.ctx.use(Workspace).roots]
    own = await asyncio.to_thread(own_folders, roots)
    changed = [f"{top}/{name}" for name in wanted]
    targets = await find_git_targets(
        repository.ctx, repository.setup.path, changed, own.repositories
    )
    folders = tuple(f"{folder}/" for folder in await repositories_among(top, wanted))
    return [
        name
        for name in wanted
        if targets.has(f"{top}/{name}")
        or f"{top}/{name}".startswith(folders)
        or not COMPILED.isdisjoint(name.split("/")[:-1])
    ]


async def repositories_among(top: str, names: Sequence[str]) -> list[str]:
    """Folders that git takes for a repository once files of these names are there."""
    made: dict[str, set[str]] = defaultdict(set)
    for name in names:
        parts = name.split("/")
        for depth, part in enumerate(parts):
            made["/".join((top, *parts[:depth]))].add(part)
    return await asyncio.to_thread(list, made_repositories(made))


async def refuse_foreign_state(repository: Repository) -> None:
    """Refuse to go on with a rebase or pick that would run a program, or that a run may change.

    Raises:
        Denied: naming what it would do.
        Busy: a run goes on.
    """
    if not repository.is_trusted:
        refuse_beside_runs(repository)
        why = await asyncio.to_thread(_danger, repository.layout.git_dir)
        if why:
            raise Denied(
                f"This rebase or series of picks is not gone on with: {why}.",
                hint="The user does it, or git_conflicts with abort=true ends it.",
            )


def refuse_beside_runs(repository: Repository) -> None:
    """Refuse where a run could change what git goes on with; none begins until it is closed.

    Raises:
        Busy: a run goes on.
    """
    if not repository.until_closed.enter_context(without_runs()):
        raise Busy(
            "A program that runs in the background could change what git goes on with here.",
            hint="Stop it first (list_jobs, stop_job), then send the call again.",
        )


def _danger(git_dir: str) -> str:
    if Path(git_dir, "rebase-apply").exists():
        return "it was not begun here"
    for name in JUDGED:
        if why := state_trouble(name.split("/"), _data(git_dir, name)):
            return why
    signed = [line for line in _lines(git_dir, "sequencer/opts") if "gpg" in line.lower()]
    return "it is to be signed" if any((*signed, *_lines(git_dir, SIGNING))) else ""


STARTS = (
    *("rebase-merge/orig-head", "rebase-merge/onto", "rebase-apply/orig-head"),
    *("rebase-apply/onto", "sequencer/head"),
)
"""Where git notes what it was at before, and goes back to."""
AUTOSTASHES = ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash")
"""Where git notes the changes that it brings back at the end."""


async def names_of_going_on(repository: Repository, action: str) -> list[str]:
    """The files that "continue", "skip" or "abort" of what git is in the middle of may write.

    Its state may have come with the repository, and then nobody was asked about its commits.
    """
    git_dir = repository.layout.git_dir
    names: list[str] = []
    if not in_progress(repository) and not (await status_of(repository, untracked="no")).unmerged:
        return names
    if action in ("continue", "skip"):
        todo = [words for name in TODO_LISTS for words in _orders(git_dir, name)]
        replayed = [word for order, *words in todo if order not in TARGETED for word in words]
        targets = [word for order, *words in todo if order in TARGETED for word in words]
        for commit in await repository.commits_among(replayed):
            names += await names_by_pick(repository, commit)
            names += await names_by_pick(repository, commit, revert=True)
    else:
        targets = [line for name in STARTS for line in _lines(git_dir, name)]
    for commit in await repository.commits_among(targets):
        names += await names_by_switch(repository, commit)
    if action != "continue" and (await repository.head()).commit:
        names += await names_between(repository, "HEAD")
    return names


TARGETED = frozenset({"reset", "t", "merge", "m"})
"""Orders by which all of a commit is checked out or merged."""


def _orders(git_dir: str, name: str) -> Iterator[list[str]]:
    """The orders of a list, each with the words that may be commits."""
    for line in _lines(git_dir, name):
        order, *rest = words_of(line) or [""]
        words = [word for word in rest if not word.startswith("-")]
        if order in TARGETED:
            yield [order, *words[: words.index("#") if "#" in words else None]]
        elif order:
            yield [order, *words[:1]]  # then its message


async def refuse_hidden_changes(
    repository: Repository, target: str, *, no_ff: bool = False
) -> None:
    """Refuse what stores all changes in objects, which any run may read, before it begins.

    Args:
        repository: an open one.
        target: the commit to be merged, or rebased onto.
        no_ff: it is merged also where the branch could just move on, which stores nothing.

    Raises:
        Denied: a changed file is protected from reading.
    """
    moves = await repository.attempt("merge-base", "--is-ancestor", "HEAD", target)
    if not moves.exit_code and not no_ff:
        return
    files = (await status_of(repository, untracked="no")).files
    if found := [file.name for file in files if repository.is_hidden(file.name)]:
        listed = some_of(found, 3)
        raise Denied(
            f"git would store {listed}, which is protected from reading and changed.",
            hint="The user can commit it, put it back, or merge in a terminal.",
        )


async def names_of_autostash(repository: Repository) -> list[str]:
    """The files of changes that git brings back as soon as a merge or rebase ends."""
    noted = [line for name in AUTOSTASHES for line in _lines(repository.layout.git_dir, name)]
    names: list[str] = []
    for commit in await repository.commits_among(noted):
        if await repository.hash_of(f"{commit}^"):
            names += await names_between(repository, f"{commit}^", commit)
    return names


def _lines(git_dir: str, name: str) -> list[str]:
    return lines_of(_data(git_dir, name))


def _data(git_dir: str, name: str) -> bytes:
    with suppress(ToolError):
        return read_own(f"{git_dir}/{name}", MAX_TODO_BYTES)
    return b"?"
