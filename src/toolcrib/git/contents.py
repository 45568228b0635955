"""What a commit would hold: what may be staged, secrets, marks of a conflict, and what is told."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import BadInput, Conflict, NotFound, TooLarge
from toolcrib.git.attributes import filtered
from toolcrib.git.patches import PATCH_OPTIONS, PatchedFile, patch_of
from toolcrib.git.repository import Repository, lines_of, text_of
from toolcrib.git.status import FileStatus, status_of
from toolcrib.git.steps import git_step
from toolcrib.state.secret_finder import secret_kinds
from toolcrib.text.display import printable, some_of

BATCH = 200
COMMIT_HOOKS = ("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit")
_GLOB = re.compile(r"[*?[]")
_HUNK = re.compile(r"@@+ .*?\+(\d+)")
_MARK = re.compile(r"(?:<{7,}|>{7,}|\|{7,})(?: |\Z)|={7,}\Z")
"""With `conflict-marker-size` they are longer."""


@dataclass(slots=True)
class Staged:
    """What was staged, and what was left out for a reason."""

    names: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    filtered: dict[str, str] = field(default_factory=dict)
    nested: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """In words, what was left out."""
        found = []
        if self.hidden:
            found.append(f"left out, protected: {_some(self.hidden)}")
        if self.nested:
            found.append(f"left out, repositories of their own: {_some(self.nested)}")
        if self.filtered:
            kinds = ", ".join(sorted(set(self.filtered.values())))
            found.append(
                f"left out, as their filter ({kinds}) does not run here: {_some(self.filtered)}; "
                "the user adds them, or trusts the repository (git.trusted)"
            )
        return found


def _some(names: Iterable[str]) -> str:
    return some_of(names, 5)


async def stage(
    repository: Repository, names: Sequence[str] = (), *, untracked: bool = True
) -> Staged:
    """Stage changes as they are in the working tree.

    Args:
        repository: an open one.
        names: of files and folders; none is all.
        untracked: whether new files too.

    Raises:
        NotFound: a name is of no file, or nothing of what is named is changed.
        BadInput: git ignores one.
        Conflict: a file still has marks of a conflict.
    """
    status = await status_of(repository, *names, untracked="all" if untracked else "no")
    files = [file for file in status.files if file.unstaged != " "]
    found = Staged(hidden=[file.name for file in files if repository.is_hidden(file.name)])
    found.nested = [file.name for file in files if file.name.endswith("/")]
    left_out = {*found.hidden, *found.nested}
    changed = [f.name for f in files if f.name not in left_out]
    there = [f.name for f in files if f.unstaged != "D" and f.name in changed]
    found.filtered = await filtered(repository, there)
    found.names = [name for name in changed if name not in found.filtered]
    await _refuse_idle(repository, [n for n in names if not _has_change(n, status.files)])
    if names and not status.files:
        raise NotFound(f"Nothing is changed in {_some(names)}.", hint="git_status shows what is.")
    await refuse_marks(repository, [f.name for f in files if f.is_unmerged])
    for start in range(0, len(found.names), BATCH):
        await repository.run("add", "-A", "--", *found.names[start : start + BATCH])
    return found


def _has_change(name: str, files: Iterable[FileStatus]) -> bool:
    names = [each for file in files for each in (file.name, file.old_name)]
    return any(each == name or each.startswith(f"{name}/") for each in names)


async def _refuse_idle(repository: Repository, names: Sequence[str]) -> None:
    """Refuse names without a change that are of no file, or that git ignores.

    Raises:
        NotFound, BadInput: naming one.
    """
    if not names:
        return
    for name in names:
        there = await asyncio.to_thread(os.path.lexists, repository.path_of(name).absolute)
        if not there and not await repository.line("ls-files", "--", name):
            raise NotFound(
                f"{printable(name)} does not exist.",
                hint="Name the files or their folder, as git_status shows them"
                f"{'; globs are not expanded here' if _GLOB.search(name) else ''}.",
            )
    # It takes no literal names, but reads wildcards in none either; ":" at a start would count.
    done = await repository.attempt(
        "check-ignore",
        "--",
        *(f"./{name}" for name in names),
        env={"GIT_LITERAL_PATHSPECS": "0"},
        reads=True,
    )
    if ignored := lines_of(bytes(done.stdout)):
        raise BadInput(
            f"git ignores {printable(ignored[0].removeprefix('./'))} (.gitignore).",
            hint="Name another file; the user changes .gitignore.",
        )


async def refuse_marks(repository: Repository, names: Iterable[str]) -> None:
    """Refuse files of a conflict that still have its marks.

    Raises:
        Conflict: naming them.
    """
    marked = []
    for name in names:
        output = await repository.attempt("diff", "--no-ext-diff", "--no-textconv", "--", name)
        lines = text_of(bytes(output.stdout)).splitlines()
        if any(_MARK.match(line.lstrip("+- ")) and line[:1] in "+ " for line in lines):
            marked.append(name)
    if marked:
        raise Conflict(
            f"Marks of a conflict (<<<<<<<) are left in {_some(marked)}.",
            hint="git_conflicts shows the sides and takes a choice, or edit the file first.",
        )


async def staged_patch(repository: Repository, *, all_tracked: bool = False) -> list[PatchedFile]:
    """What the next commit would change; with `all_tracked`, with what is not staged yet.

    Raises:
        TooLarge: it is more text than can be looked through.
    """
    base = "HEAD" if await repository.hash_of("HEAD") else ""
    what = base if all_tracked and base else "--cached"
    try:
        return await patch_of(repository, "diff", *PATCH_OPTIONS, "-U0", what, "--")
    except TooLarge as error:
        raise TooLarge(
            f"What is to be committed is too much text to be looked through for secrets and marks "
            f"of conflicts ({error.message.removesuffix('.')}).",
            hint="Commit it in parts: git_reset with paths takes files out again. The user commits "
            "a file of that size by git itself.",
        ) from None


def added_lines(file: PatchedFile) -> Iterator[tuple[int, str]]:
    """The new lines of a file, each with its number."""
    number = 0
    for line in file.hunks.split("\n"):
        if found := _HUNK.match(line):
            number = int(found[1])
        elif line.startswith("+"):
            yield number, line[1:].removesuffix("\r")
            number += 1


def secrets_in(files: Iterable[PatchedFile]) -> list[str]:
    """Where new lines hold what looks like a secret: file, line and kind."""
    found = []
    for file in files:
        lines = list(added_lines(file))
        text = "\n".join(line for _, line in lines)
        for at, kind in secret_kinds(text):
            number = lines[text.count("\n", 0, at)][0]
            found.append(f"{printable(file.name)} line {number} ({kind})")
    return list(dict.fromkeys(found))


def marks_in(files: Iterable[PatchedFile]) -> list[str]:
    """Files whose new lines hold all the marks of a conflict."""
    return [
        file.name for file in files if has_marks("\n".join(line for _, line in added_lines(file)))
    ]


async def commit_files(repository: Repository, names: Sequence[str], message: str) -> str:
    """Commit some changed files of a repository in which nothing else is changed.

    Returns:
        Why it was not done; "" where it was, or nothing was to be done.

    Raises:
        ToolError: git failed; then nothing is staged either.
    """
    status = await status_of(repository, *names, untracked="all")
    changed = [file.name for file in status.files]
    if not changed:
        return ""
    async with git_step(repository, "git.auto_commit", files=False):
        staged = await stage(repository, changed)
        patch = await staged_patch(repository)
        secrets, marked = secrets_in(patch), marks_in(patch)
        if secrets or marked:
            await repository.run("reset", "-q")
            why = f"it looks like a secret: {secrets[0]}" if secrets else "marks of a conflict"
            return f"Not committed by git.auto_commit: {why}."
        if staged.names:
            given = message.encode("utf-8", "replace")
            await repository.run("commit", "--no-status", "-F", "-", stdin=given)
    return "; ".join(staged.notes)


def has_marks(text: str) -> bool:
    """Whether a text holds all the marks of a conflict."""
    lines = (line.rstrip("\r") for line in text.split("\n"))
    starts = {line[:7] for line in lines if _MARK.match(line)}
    return {"<<<<<<<", "=======", ">>>>>>>"} <= starts


def not_run(repository: Repository) -> list[str]:
    """What a commit by plain git would have done, and this one does not."""
    if repository.is_trusted:
        return []
    found = []
    if "core.hookspath" in repository.ignored or any(map(repository.has_hook, COMMIT_HOOKS)):
        found.append("its hooks did not run (git.trusted)")
    signs = [s.value.lower() for s in repository.setup.settings if s.name == "commit.gpgsign"]
    if signs[-1:] in (["true"], ["yes"], ["on"], ["1"]):
        found.append("it is not signed (git.trusted)")
    return found
