"""`delete_path`: removing files and folders, so that they can come back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Annotated, Any, Self

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NoResults, NotFound, PathDenied, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import ERASE, READ, WRITE, Decision, Param, Right, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.copies import walk
from toolcrib.files.changes.step import Step, changed_error
from toolcrib.files.handles import Entry
from toolcrib.files.paths import SafePath, Workspace, WritablePath
from toolcrib.files.search.expressions import ExpressionError, compiled_expression
from toolcrib.files.search.globs import translate
from toolcrib.files.search.pattern import reason_of
from toolcrib.files.trees import EntryState, TreeReader, skip_content
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted, moment, size_of, some_of

UNCONFIRMED_MATCHES = 20
"""Matches of a pattern that are deleted without being confirmed."""
MAX_MATCHES = 1000
MAX_PATTERN_CHARS = 200
MAX_LISTED = 30
MAX_LOOKED_AT = 20_000
"""Files in folders below that are looked at for a word on them."""
MAX_DESCRIBED = 200_000
"""Names in a folder that are looked at for a question; a larger one is not deleted for good."""


def _effective_rights(arguments: Mapping[str, Any]) -> Right:
    return READ | WRITE | ERASE if arguments.get("permanent") else READ | WRITE


async def _verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """What a person sees of a deletion for good, who allows that of what stands there now."""
    if not arguments.get("permanent") or arguments.get("dry_run"):
        return None
    pattern, path = arguments.get("pattern") or "", arguments.get("path")
    if path is None and not pattern:
        return None  # it is refused
    found = await _found(path, pattern, [], ctx, confirm=bool(arguments.get("confirm")))
    targets = await in_thread(lambda check: _targets(found, check), ctx.deadline)
    lines = _listed([f"{target.path.display}: {target.description}" for target in targets])
    identity = _identity(targets)
    preview = f"{lines}\nas it stands there now ({identity[:16]})"
    return Decision("allow", "allowed by default", preview=preview, judged=identity)


@tool(
    group="files",
    rights=READ | WRITE | ERASE,
    keywords=("rm", "remove", "unlink", "trash", "erase", "clean"),
    aliases=("delete", "delete_file", "remove_file", "delete_folder"),
    argument_aliases=other_names(
        path=("file_path", "file", "folder", "directory"), pattern=("glob", "regex")
    ),
    destructive=True,
    effective_rights=_effective_rights,
    policy_check=_verdict,
)
async def delete_path(
    path: Annotated[WritablePath | None, Param("What, or the folder of a pattern.")] = None,
    pattern: Annotated[str, Param("Files in it: *.tmp, **/*.tmp, or /regex/")] = "",
    permanent: Annotated[bool, Param("Without undo; asks the user.")] = False,
    confirm: Annotated[bool, Param("Delete many matches.")] = False,
    dry_run: Annotated[bool, Param("Only show what it would be.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Delete a file or folder, or the files that fit a pattern.

    undo_changes brings it back, unless permanent. Never the workspace itself or .git.
    """
    if path is None and not pattern:
        raise BadInput("There is nothing to delete.", hint="Send path, or pattern.")
    step = Step(delete_path.name)
    closed: list[str] = []
    found = await _found(path, pattern, closed, ctx, confirm=confirm or dry_run)
    if dry_run:
        names = [each.display for each in found]
        text = f"Would delete {counted(len(names), 'file')}; nothing was changed:\n{_listed(names)}"
        return Result(text=text, data={"deleted": [], "matches": names})
    if permanent:
        targets = await in_thread(lambda check: _targets(found, check), ctx.deadline)
        if _identity(targets) != ctx.judged:
            raise changed_error(some_of([each.display for each in found]))
        for target in targets:
            step.delete(target.path, permanent=True, tree=target.tree)
    else:
        for each in found:
            step.delete(each, trash=True)
    applied = await ctx.use(Changes).apply(step, ctx)
    names = [each.display for each in found]
    recovery = (
        "for good"
        if permanent
        else "undo_changes brings it back"
        if len(found) == 1
        else "undo_changes brings them back"
    )
    what = names[0] if len(names) == 1 else f"{len(names):,} files"
    text = f"Deleted {what} ({recovery})"
    if pattern and (deeper := await _deeper(path, pattern, ctx)):
        text += f"; {counted(deeper, 'file')} in folders below that fit, too, stayed"
    if len(names) > 1:
        text = f"{text}\n{_listed(names)}"
    text += "" if permanent else applied.note_line
    if closed:
        text += f"\nNot looked into, since the system does not allow it: {some_of(closed)}"
    return Result(text=text, data={"deleted": names, "step": applied.step, "permanent": permanent})


async def _found(
    path: SafePath | None, pattern: str, closed: list[str], ctx: Ctx, *, confirm: bool
) -> list[SafePath]:
    """What a call would delete."""
    if pattern:
        folder = path or ctx.use(Workspace).start(ctx.session.directory)
        found = await _matches(folder, pattern, closed, ctx)
        _need_confirmed(found, pattern, confirm=confirm)
        return found
    assert path is not None
    _need_free(path, ctx)
    await _need_no_glob(path, ctx)
    return [path]


async def _need_no_glob(path: SafePath, ctx: Ctx) -> None:
    """Refuse a pattern in the place of a path, with the words that do what is meant."""
    globs = [n for n, part in enumerate(path.parts) if not {"*", "?"}.isdisjoint(part)]
    if not globs:
        return
    try:
        await in_thread(lambda _: path.stat(), ctx.deadline)
    except NotFound:
        folder, pattern = path.ancestor(globs[0]).display, "/".join(path.parts[globs[0] :])
        raise NotFound(
            f"{path.display} does not exist.",
            hint=f'For the files that fit: path="{folder}" pattern="{pattern}".',
        ) from None


@dataclass(frozen=True, slots=True)
class _Target:
    """What stands at a place: for a person, for the step that deletes it, and told from others."""

    path: SafePath
    description: str
    tree: tuple[EntryState, ...]
    identity: str

    @classmethod
    def at(cls, path: SafePath, check: Checkpoint) -> Self:
        """What stands there now.

        Raises:
            TooLarge: a folder that holds more than is looked at.
        """
        facts: list[str] = []

        def visit(inner: str, status: os.stat_result) -> None:
            # The time of change of the entry, unlike that of its content, can be set by nobody.
            parts = (status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
            facts.append(f"{inner}\0{parts}")

        with path.place(whole=True) as place:
            if place.status is None:
                path.stat()
            reader = TreeReader(skip_content, check, MAX_DESCRIBED, visit)
            tree = reader.take(place, path.display)
        return cls(path, _described(tree), tree, "\0".join(facts))


def _targets(found: Sequence[SafePath], check: Checkpoint) -> list[_Target]:
    return [_Target.at(path, check) for path in found]


def _identity(targets: Iterable[_Target]) -> str:
    """A mark of all that stands at some places; another thing in one of them has another."""
    mark = blake2b(digest_size=16)
    for target in targets:
        facts = f"{target.path.absolute}\0{target.identity}\0"
        mark.update(facts.encode("utf-8", "surrogateescape"))
    return mark.hexdigest()


def _described(tree: Sequence[EntryState]) -> str:
    top, inner = tree[0], tree[1:]
    if top.kind == "link":
        return f"link to {one_line(top.target, 200)}"
    changed = f"changed {moment(top.mtime / 1e9)}"
    if top.kind != "folder":
        return f"{top.kind}, {size_of(top.size)}, {changed}"
    size = sum(state.size for state in inner)
    return f"folder, {counted(len(inner), 'name')}, {size_of(size)}, {changed}"


def _need_free(path: SafePath, ctx: Ctx) -> None:
    """Refuse what holds a workspace folder, or where the conversation is."""
    workspace = ctx.use(Workspace)
    real = path.settled()
    top = real.real_absolute
    for root in workspace.roots:
        if root.real == top or root.real.startswith(f"{top}/"):
            raise PathDenied(
                f"Access denied: {path.display} holds the workspace {root.name}.",
                hint="Name a file or a folder inside it.",
            )
    here = workspace.start(ctx.session.directory).settled()
    path_of_directory = here.real_absolute
    if here.parts and (path_of_directory == top or path_of_directory.startswith(f"{top}/")):
        raise Conflict(
            f"The current directory is in {path.display}.",
            hint="Go elsewhere first: change_directory.",
        )


async def _matches(folder: SafePath, pattern: str, closed: list[str], ctx: Ctx) -> list[SafePath]:
    fits = _matcher(pattern)
    deep = not _is_regex(pattern) and "/" in pattern

    def work(check: Checkpoint) -> list[SafePath]:
        pairs: Iterable[tuple[str, SafePath, Entry]] = (
            (("/".join(f.names), f.path, f.entry) for f in walk(folder, check, left_out=closed))
            if deep
            else ((e.name, folder.child(e.name), e) for e in folder.list())
        )
        return [
            path
            for name, path, entry in pairs
            if entry.kind in ("file", "link")
            and fits(name)
            and not entry.protected
            and not path.gate.pattern(path, "write")
        ]

    found = await in_thread(work, ctx.deadline)
    if not found:
        deeper = await _deeper(folder, pattern, ctx)
        where = f"; {deeper:,} in folders below" if deeper else ""
        raise NoResults(
            f"No file in {folder.display} fits {pattern}{where}.",
            hint=f'For those: path="{folder.display}" pattern="**/{pattern}".'
            if deeper
            else "list_directory shows what is there.",
        )
    return sorted(found, key=lambda path: path.absolute)


async def _deeper(folder: SafePath | None, pattern: str, ctx: Ctx) -> int:
    """How many files in folders below fit a pattern of names as well."""
    if "/" in pattern or not pattern.strip("*"):
        return 0
    top, fits = folder or ctx.use(Workspace).start(ctx.session.directory), _matcher(pattern)

    def work(check: Checkpoint) -> int:
        looked_at = islice(walk(top, check, left_out=[]), MAX_LOOKED_AT)
        return sum(
            len(f.names) > 1
            and f.entry.kind in ("file", "link")
            and not f.entry.protected
            and fits(f.names[-1])
            for f in looked_at
        )

    count = 0
    with suppress(ToolError):  # what was deleted is deleted
        count = await in_thread(work, ctx.deadline)
    return count


def _need_confirmed(found: list[SafePath], pattern: str, *, confirm: bool) -> None:
    listed = _listed([path.display for path in found])
    if len(found) > MAX_MATCHES:
        raise BadInput(
            f"{pattern} fits {len(found):,} files, more than {MAX_MATCHES:,}.",
            hint="Narrow it down.",
        )
    if len(found) > UNCONFIRMED_MATCHES and not confirm:
        raise BadInput(
            f"{pattern} fits {len(found):,} files; nothing was deleted.\n{listed}",
            hint="confirm=true deletes them.",
        )


def _listed(names: list[str]) -> str:
    more = [f"and {len(names) - MAX_LISTED:,} more"] if len(names) > MAX_LISTED else []
    return "\n".join([*names[:MAX_LISTED], *more])


def _is_regex(pattern: str) -> bool:
    return len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/")


def _matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a name fits, in time linear to it, whatever the pattern is."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise BadInput(
            f"'pattern' has at most {MAX_PATTERN_CHARS} characters, not {len(pattern):,}."
        )
    glob = f"^{translate(pattern.removeprefix('./'))}$"
    try:
        found = compiled_expression(pattern[1:-1] if _is_regex(pattern) else glob)
    except ExpressionError as error:
        raise BadInput(
            f"The pattern is not understood: {reason_of(error)}.",
            hint="Lookaround and back references are not supported.",
        ) from None
    return lambda name: found.search(name.encode("utf-8", "surrogateescape")) is not None
