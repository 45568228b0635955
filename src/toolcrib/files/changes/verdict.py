"""The verdict on a run's changes: which may be taken over, as which step, and why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import filterfalse
from typing import Self

from toolcrib.core.errors import PathDenied, ToolError
from toolcrib.core.settings import UndoConfig, WorkspaceConfig
from toolcrib.files import mercurial
from toolcrib.files.changes.cached_code import CODE_CACHE
from toolcrib.files.changes.deltas import Delta, RunDeltas
from toolcrib.files.changes.links import RunLinks
from toolcrib.files.changes.preparation import NEVER_DELETED, state_path
from toolcrib.files.changes.step import ANYTHING, Change, Step
from toolcrib.files.handles import Root
from toolcrib.files.path_rules import (
    DEPENDENCY_FOLDERS,
    GENERATED_FOLDERS,
    SCRATCH_OF_DEPENDENCIES,
    fold,
)
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.judgement import RunRepositories
from toolcrib.files.repositories.objects import is_made_again
from toolcrib.files.repositories.places import STATE_FOLDERS
from toolcrib.files.trees import EntryState
from toolcrib.text.display import printable, size_of, some_of

GIT = ".git"
"""The rule of the folder itself, which must not be removed. Much in it may."""
NO_GIT = "a repository is removed by the user alone, or by undoing the step that made it"
NO_GIT_FILE = "git worktree add and git submodule add are for the user to run"
NO_STATE = (
    "what git goes on with is no run's: end a rebase or the like in the run that begins it, or "
    "undo that run"
)
LEFT_TO_GIT = "left as it was, since git makes it of its objects"
MAX_SINGLE = 50
"""Files of a tree that are deleted for good one by one, so that the rest can be kept."""


@dataclass(slots=True)
class Verdict:
    """What is taken over.

    Attributes:
        deltas: those that are.
        notes: a line for each kind of thing that is not.
        lost: what would be gone for good, since undo cannot keep it.
    """

    deltas: list[Delta] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def verdict_on(
    found: RunDeltas, roots: Sequence[Root], limits: UndoConfig, names: WorkspaceConfig
) -> Verdict:
    """Leave out what is protected, special or leads out of the workspace."""
    verdict = Verdict()
    left: dict[str, list[str]] = {}
    to_git, git_notes = list[str](), list[str]()
    for display, why in found.refused:
        left.setdefault(why, []).append(display)
    shut: set[SafePath] = set()
    judge = ChangeJudge.of(found.deltas, roots, names)
    for delta in filterfalse(_is_made_again, judge.deltas):
        if shut and any(delta.path.ancestor(d) in shut for d in range(1, len(delta.path.parts))):
            continue  # what it would stand in is not made
        objection = judge.objection(delta)
        if objection is None:
            if _is_left_to_git(delta):
                to_git.append(printable(delta.path.display))
                continue
            verdict.deltas.append(delta)
            verdict.lost += _lost(delta, limits)
            continue
        git_notes += _git_notes(objection, delta)
        shut.add(objection.place if objection.is_repository else delta.path)
        display = printable(objection.place.display)
        if objection.is_repository:
            verdict.notes.append(f"not taken over: {display}, since {objection.why}")
        elif delta.after is not None and delta.is_link and not objection.rule:
            display += f" -> {printable(delta.after.target)[:200]}"
            left.setdefault(f"is {objection.why}", []).append(display)
        elif not (delta.same and delta.after and delta.after.mode == delta.before[0].mode):
            left.setdefault(f"is {objection.why}", []).append(display)
    sizes = [image.size for each in verdict.deltas for image in _taken_away(each)]
    total = sum(size for size in sizes if size <= limits.max_file_bytes)  # others: see `_lost`
    if total > limits.keep_bytes and not verdict.lost:
        verdict.lost.append(f"{size_of(total)} in all")
    verdict.notes += [
        f"not taken over: {some_of(list(dict.fromkeys(paths)), 5)} {_plural(why, len(set(paths)))}"
        for why, paths in left.items()
    ]
    verdict.notes += [f"{LEFT_TO_GIT}: {some_of(to_git)}"] * bool(to_git)
    verdict.notes += dict.fromkeys(git_notes)
    verdict.notes += judge.repositories.notes
    return verdict


def is_git_state(place: SafePath) -> bool:
    """Whether git keeps there what it goes on with; its index and files are changed without it."""
    return GIT in place.parts[:-1] and place.name in STATE_FOLDERS


def _is_made_again(delta: Delta) -> bool:
    """Whether Python or Mercurial believes it without a look at its source, and makes it again.

    No diff shows what compiled code does. What lies in dependencies is asked about as a whole.
    """
    if delta.after is not None and mercurial.is_cache(delta.path):
        return True
    names = tuple(map(fold, delta.path.parts))
    if delta.after is None or CODE_CACHE not in names:
        return False
    above = names[: names.index(CODE_CACHE)]
    return DEPENDENCY_FOLDERS.isdisjoint(above) or not SCRATCH_OF_DEPENDENCIES.isdisjoint(above)


def _is_left_to_git(delta: Delta) -> bool:
    """Whether git believes it without a look at its objects, and can do without it."""
    if not is_made_again(delta.path):
        return False
    if delta.after is None:
        return "commit-graphs" in delta.path.parts  # the list of them stays
    # The old one of several packs would not go with those that are there now.
    return not (delta.before and delta.path.name.startswith("multi-pack-index"))


def _git_notes(objection: Objection, delta: Delta) -> list[str]:
    """What can be done instead, where git is kept from something."""
    if is_git_state(objection.place):
        return [NO_STATE]
    is_whole = objection.rule == GIT and objection.place == delta.path
    return [NO_GIT if delta.after is None else NO_GIT_FILE] if is_whole else []


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a change of a run is not made.

    Attributes:
        place: what is left out, or put back.
        why: in words.
        rule: the pattern that protects it; "" where none does.
        is_repository: whether git would run something of all that is there.
    """

    place: SafePath
    why: str
    rule: str = ""
    is_repository: bool = False


@dataclass(slots=True)
class ChangeJudge:
    """Judges the changes of a run, whichever way it saw the files.

    Attributes:
        deltas: the changes, with leave where their content was found harmless.
        repositories: those among them.
        links: those among them.
    """

    deltas: list[Delta]
    repositories: RunRepositories
    links: RunLinks
    _own: frozenset[str]
    _barring: dict[tuple[str, ...], Callable[[str], str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        deltas: Sequence[Delta],
        roots: Sequence[Root],
        names: WorkspaceConfig,
        *,
        in_place: bool = False,
    ) -> Self:
        """Of these changes; `names` are those that the user protects.

        For `in_place` see `RunRepositories`.
        """
        repositories = RunRepositories.among(deltas, roots, in_place=in_place)
        allowed = list(map(repositories.allowed, deltas))
        if not in_place:
            allowed = list(map(mercurial.without_times, allowed))
        own = frozenset({*names.protect_read, *names.protect_write})
        return cls(allowed, repositories, RunLinks(allowed, roots), own)

    def objection(self, delta: Delta) -> Objection | None:
        """What speaks against a change; None where it may be made."""
        repository = self.repositories.of(delta.path)
        if repository is not None and repository.is_refused:
            return Objection(repository.place, repository.explanation, is_repository=True)
        place, rule = self._protecting(delta.path)
        if not rule:
            place, rule = must_stay(delta, self._own) or (place, "")
        if rule:
            return Objection(place, f"protected ({rule})", rule)
        if trouble := self.links.trouble(delta):
            return Objection(delta.path, trouble)
        return None

    def _protecting(self, path: SafePath) -> tuple[SafePath, str]:
        """As `protecting`; what is forbidden in a folder is found out once."""
        if path.gate.grants:
            return protecting(path)
        folder = (path.root.real, *path.parts[:-1])
        if folder not in self._barring:
            self._barring[folder] = path.gate.barring(path.parent, "write")
        return protecting(path) if self._barring[folder](path.name) else (path, "")


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
        inner = state_path(delta.path, image)
        pattern = inner.gate.pattern(inner, "write")
        if pattern in own or pattern in NEVER_DELETED:
            return inner, pattern
    return None


def _lost(delta: Delta, limits: UndoConfig) -> list[str]:
    """What a change would lose for good, in folders that hold a person's own work."""
    unkept = _unkept(_taken_away(delta), limits)
    if not unkept or (not _is_gone(delta) and _continues(delta)):
        return []
    total = sum(image.size for image in delta.before)
    return [
        f"{printable(state_path(delta.path, image).display)} "
        f"({size_of(image.size if image.path else total)})"
        for image in unkept
    ]


def _taken_away(delta: Delta) -> Sequence[EntryState]:
    """What undo would have to bring back, but for what programs make again."""
    is_written = delta.kind == "file" and not delta.same
    if any(part in GENERATED_FOLDERS for part in delta.path.parts):
        return ()
    return delta.before if _is_gone(delta) or is_written else ()


def _is_gone(delta: Delta) -> bool:
    return delta.after is None or delta.replaces


def _continues(delta: Delta) -> bool:
    """Whether a file holds at its begin all that it held, as a log that grows."""
    with suppress(ToolError, OSError):
        new = iter(()) if delta.new is None else delta.new.chunks()
        rest = b""
        for chunk in delta.old.chunks() if delta.old is not None else (b"?",):
            while len(rest) < len(chunk) and (more := next(new, b"")):
                rest += more
            if not rest.startswith(chunk):
                return False
            rest = rest[len(chunk) :]
        return True
    return False


def _unkept(tree: Sequence[EntryState], limits: UndoConfig) -> list[EntryState]:
    """Those that undo cannot keep: the top alone, where it can keep nothing of a tree."""
    found = [
        image
        for image in tree
        if image.kind == "other" or (image.kind == "file" and image.size > limits.max_file_bytes)
    ]
    is_too_much = sum(image.size for image in tree) > limits.keep_bytes
    return [tree[0]] if is_too_much or len(found) > MAX_SINGLE else found


def step_of(deltas: Iterable[Delta], tool: str, limits: UndoConfig) -> Step:
    """The step that makes the changes: what goes first, then folders before their content."""
    step, late = Step(tool, ignores_reads=True), Step(tool)
    for delta in deltas:
        before, after = delta.before, delta.after
        if before and (after is None or delta.replaces or delta.whole or after.kind == "link"):
            step.changes += _deleting(delta.path, before, limits)
            before = ()
        if after is None:
            continue
        if before and (after.kind == "folder" or (delta.same and before[0].mtime == after.mtime)):
            late.set_mode(delta.path, after.mode, before[0])
        elif after.kind == "folder":
            late.make_folder(delta.path, mode=_new_mode(after.mode))
        elif after.kind == "link":
            image = EntryState(
                "", "link", 0o777, after.mtime, (-1, -1), target=after.target
            )  # it belongs to whom we are
            late.create_tree(delta.path, image)
        elif delta.new is not None:
            late.write(
                delta.path,
                delta.new,
                expected=before[0].mark if before else "",
                mode=None if before and before[0].mode == after.mode else after.mode & 0o777,
                mtime=_new_time(delta),
                attributes=delta.attributes(),
            )
    step.changes += late.changes
    return step


def _new_time(delta: Delta) -> int | None:
    """That of a new content; None for now, where programs would take the file for unchanged."""
    before, after = delta.before, delta.after
    if after is None or (before and not delta.same and before[0].mtime == after.mtime):
        return None
    return after.mtime


def _new_mode(mode: int) -> int | None:
    """The bits of a new folder, which we must be able to fill; None for the usual ones."""
    mode = (mode & 0o1777) | 0o700
    return None if mode == 0o755 else mode


def _deleting(path: SafePath, tree: tuple[EntryState, ...], limits: UndoConfig) -> list[Change]:
    """Delete a tree; what cannot be kept of it goes for good."""
    unkept = _unkept(tree, limits)
    if not unkept:
        return [Change("delete", path, expected=tree[0].mark, tree=tree)]
    if unkept[0] is tree[0]:
        return [Change("delete", path, tree=tree, permanent=True)]
    singles = [
        Change("delete", state_path(path, image), expected=image.mark, permanent=True)
        for image in unkept
    ]
    rest = tuple(image for image in tree if image not in unkept)
    return [*singles, Change("delete", path, expected=ANYTHING, tree=rest)]


def _plural(why: str, count: int) -> str:
    if count == 1:
        return why
    for one, many in (
        ("is a link", "are links"),
        ("is a ", "are "),
        ("is ", "are "),
        ("lies ", "lie "),
        ("has ", "have "),
    ):
        if why.startswith(one):
            return many + why[len(one) :]
    return why
