"""What of a run's changes may be taken over, and as which plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import PathDenied
from toolcrib.core.settings import UndoConfig, WorkspaceConfig
from toolcrib.execution.runs.links import leads_out
from toolcrib.files.changes.deltas import Delta, Reading
from toolcrib.files.changes.inspection import NEVER_DELETED
from toolcrib.files.changes.plan import ANYTHING, Change, Plan
from toolcrib.files.content.sizes import printable, size_of, some
from toolcrib.files.generated_folders import BULK
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories import Repositories
from toolcrib.files.roots import Root
from toolcrib.files.tree_images import Image

GIT = ".git"
"""The rule of the folder itself, which must not be removed. Much in it may."""
NO_GIT = "a repository is removed by the user alone, or by undoing the step that made it"
MOST_SINGLE = 50
"""Files of a tree that are deleted for good one by one, so that the rest can be kept."""


@dataclass(slots=True)
class Judged:
    """What is taken over.

    Attributes:
        deltas: those that are.
        notes: a line for each kind of thing that is not.
        lost: what would be gone for good, since undo cannot keep it.
    """

    deltas: list[Delta] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def judge(
    reading: Reading, roots: Sequence[Root], limits: UndoConfig, names: WorkspaceConfig
) -> Judged:
    """Leave out what is protected, special or leads out of the workspace."""
    judged = Judged()
    own = frozenset({*names.protect_read, *names.protect_write})
    left: dict[str, list[str]] = {}
    for shown, why in reading.left:
        left.setdefault(why, []).append(shown)
    refused: dict[str, str] = {}
    shut: set[SafePath] = set()
    repositories = Repositories.among(reading.deltas, roots)
    for delta in map(repositories.allowed, reading.deltas):
        top, rule = protecting(delta.path)
        repository = repositories.of(delta.path)
        if any(delta.path.ancestor(d) in shut for d in range(1, len(delta.path.parts))):
            continue  # what it would stand in is not made
        if repository is not None and repository.is_refused:
            shut.add(repository.place)
            place = printable(repository.place.display)
            judged.notes.append(f"not taken over: {place}, since {repository.told}")
        elif rule:
            shut.add(delta.path)
            if not (delta.same and delta.after and delta.after.mode == delta.before[0].mode):
                refused[printable(top.display)] = rule
        elif (held := must_stay(delta, own)) is not None:
            refused[printable(held[0].display)] = held[1]
        elif (
            delta.after is not None
            and delta.after.kind == "link"
            and leads_out(delta.path, delta.after.target, roots)
        ):
            why = "is a link that leads out of the workspace"
            left.setdefault(why, []).append(
                f"{printable(delta.path.display)} -> {printable(delta.after.target)[:200]}"
            )
        else:
            judged.deltas.append(delta)
            judged.lost += _lost(delta, limits)
    for path, rule in refused.items():
        left.setdefault(f"is protected ({rule})", []).append(path)
    judged.notes += [
        f"not taken over: {some(paths, 5)} {_plural(why, len(paths))}"
        for why, paths in left.items()
    ]
    judged.notes += [NO_GIT] if GIT in refused.values() else []
    judged.notes += repositories.notes
    return judged


def protecting(path: SafePath) -> tuple[SafePath, str]:
    """The topmost name on the way that must not be written, and the pattern that says so.

    Without a pattern it may be written.
    """
    rule = _rule(path)
    if rule:
        for depth in range(1, len(path.parts)):
            above = path.ancestor(depth)
            found = _rule(above)
            if found and found != GIT:
                return above, found
    return path, rule


def _rule(path: SafePath) -> str:
    try:
        path.gate.check(path, "write")
    except PathDenied as error:
        return str(error.details.get("rule", "")) or "rule"
    return ""


def must_stay(delta: Delta, own: frozenset[str]) -> tuple[SafePath, str] | None:
    """What keeps a tree from being deleted: its path and the pattern."""
    if delta.after is not None and not delta.replaces:
        return None
    for image in delta.before[1:]:
        inner = _beneath(delta.path, image)
        pattern = inner.gate.pattern(inner, "write")
        if pattern in own or pattern in NEVER_DELETED:
            return inner, pattern
    return None


def _lost(delta: Delta, limits: UndoConfig) -> list[str]:
    """What a deletion would lose for good, in folders that hold a person's own work."""
    gone = delta.after is None or delta.replaces
    if not gone or any(part in BULK for part in delta.path.parts):
        return []
    return [
        f"{printable(_beneath(delta.path, image).display)} ({size_of(image.size)})"
        for image in _unkept(delta.before, limits)
    ]


def _unkept(tree: Sequence[Image], limits: UndoConfig) -> list[Image]:
    """Those that undo cannot keep."""
    return [
        image
        for image in tree
        if image.kind == "other" or (image.kind == "file" and image.size > limits.max_file_bytes)
    ]


def plan_of(deltas: Iterable[Delta], tool: str, limits: UndoConfig) -> Plan:
    """The plan that makes the changes: what goes first, then folders before their content."""
    plan, late = Plan(tool, unseen=True), Plan(tool)
    for delta in deltas:
        before, after = delta.before, delta.after
        if before and (after is None or delta.replaces or delta.whole or after.kind == "link"):
            plan.changes += _deleting(delta.path, before, limits)
            before = ()
        if after is None:
            continue
        if before and (after.kind == "folder" or (delta.same and not _touched(before[0], after))):
            late.set_mode(delta.path, after.mode, before[0])
        elif after.kind == "folder":
            late.make_folder(delta.path, mode=_new_mode(after.mode))
        elif after.kind == "link":
            image = Image(
                "", "link", 0o777, after.mtime, (-1, -1), target=after.target
            )  # it belongs to whom we are
            late.plant(delta.path, image)
        elif delta.new is not None:
            late.write(
                delta.path,
                delta.new,
                expected=before[0].mark if before else "",
                mode=None if before and before[0].mode == after.mode else after.mode & 0o777,
                mtime=after.mtime,
                attributes=delta.attributes,
            )
    plan.changes += late.changes
    return plan


def _touched(before: Image, after: Image) -> bool:
    return before.mtime != after.mtime


def _new_mode(mode: int) -> int | None:
    """The bits of a new folder, which we must be able to fill; None for the usual ones."""
    mode = (mode & 0o1777) | 0o700
    return None if mode == 0o755 else mode


def _deleting(path: SafePath, tree: tuple[Image, ...], limits: UndoConfig) -> list[Change]:
    """Delete a tree; what cannot be kept of it goes for good."""
    if sum(image.size for image in tree) > limits.keep_bytes:
        return [Change("delete", path, tree=tree, permanent=True)]
    unkept = _unkept(tree, limits)
    if not unkept:
        return [Change("delete", path, expected=tree[0].mark, tree=tree)]
    if len(unkept) > MOST_SINGLE or unkept[0] is tree[0]:
        return [Change("delete", path, tree=tree, permanent=True)]
    singles = [
        Change("delete", _beneath(path, image), expected=image.mark, permanent=True)
        for image in unkept
    ]
    rest = tuple(image for image in tree if image not in unkept)
    return [*singles, Change("delete", path, expected=ANYTHING, tree=rest)]


def _beneath(path: SafePath, image: Image) -> SafePath:
    parts = (*path.parts, *image.path.split("/")) if image.path else path.parts
    return SafePath(path.root, parts, path.gate, path.base)


def _plural(why: str, count: int) -> str:
    if count == 1:
        return why
    for one, many in (("is a ", "are "), ("is ", "are "), ("lies ", "lie "), ("has ", "have ")):
        if why.startswith(one):
            return many + why[len(one) :]
    return why
