"""New links of a run: where they lead in the workspace as it will be, and what speaks against it.

The user's own programs follow a link wherever it leads, when they read and when they write: `cat
out/*` shows what is protected, `make > log.txt` overwrites settings of git.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from toolcrib.core.errors import PathDenied, ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.handles import Root
from toolcrib.files.path_rules import (
    DEPENDENCY_FOLDERS,
    SCRATCH_OF_DEPENDENCIES,
    parts_beneath,
)
from toolcrib.files.paths import SafePath
from toolcrib.files.real_paths import follow, target_of
from toolcrib.files.repositories.judgement import LINK
from toolcrib.files.repositories.places import is_bare_repository, lies_in_repository
from toolcrib.files.trees import EntryState

PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Folders that belong to the system and hold nothing of a person's: an environment of Python
made by a run has links there."""
LEADS_OUT = "a link out of the workspace"
LEADS_TO_PROTECTED = "a link to what is protected"
LEADS_TO_HOLDER = "a link to a folder that holds what is protected"
TOO_LONG = "a link by a path too long to follow"
LINKED_FOLDERS = DEPENDENCY_FOLDERS | {"vendor"}
"""In which tools for packages put links to the packages of a workspace."""
MAX_TARGET_NAMES = 200


class RunLinks:
    """The links among the changes of a run. Blocking.

    Args:
        deltas: the changes.
        roots: those of the workspace.
    """

    def __init__(self, deltas: Iterable[Delta], roots: Sequence[Root]) -> None:
        self._roots = roots
        self._targets: dict[str, str] = {}
        self._holders: dict[str, bool] = {}
        self._troubles: dict[SafePath, str] | None = None
        self._is_bare = cache(is_bare_repository)
        self._links: list[Delta] = []
        self._led_to: set[str] = set()
        for delta in deltas:
            after, before = delta.after, delta.before
            self._targets[delta.path.real_absolute] = after.target if after else ""
            self._links += [delta] if delta.is_link else []
            if before and before[0].kind == "link":
                self._led_to.add(_as_written(delta.path, before[0].target))

    def trouble(self, delta: Delta) -> str:
        """Why a link is not made; "" where it may be, or where it leads as it did before."""
        if self._troubles is None:
            self._troubles = self._found_troubles()
        return self._troubles.get(delta.path, "")

    def _found_troubles(self) -> dict[SafePath, str]:
        found: dict[SafePath, str] = {}
        # One that is not made leaves what was there in its place, by which others lead elsewhere.
        while more := {
            delta.path: trouble
            for delta in self._links
            if delta.path not in found and (trouble := self._judged(delta))
        }:
            found |= more
            for path in more:
                del self._targets[path.real_absolute]
        return found

    def _judged(self, delta: Delta) -> str:
        after = delta.after
        assert after is not None
        if leads_out(delta.path, after.target, self._roots):
            return LEADS_OUT
        if lies_in_repository(delta.path, self._is_bare):
            return LINK
        if _leads_as_before(delta):
            return ""
        if after.target.count("/") > MAX_TARGET_NAMES:
            return TOO_LONG
        real = self._followed(delta.path, after.target)
        place = self._place(real, delta.path)
        if real.count("/") > MAX_TARGET_NAMES:
            return TOO_LONG
        if place is None:
            return "" if not real or is_program(delta.path, real) else LEADS_OUT
        if _as_written(delta.path, after.target) in self._led_to:
            return ""  # the user's own link, moved
        if _is_protected(place) or lies_in_repository(place, self._is_bare):
            return LEADS_TO_PROTECTED
        return LEADS_TO_HOLDER if self._shows_protected(delta, place) else ""

    def _shows_protected(self, delta: Delta, place: SafePath) -> bool:
        """Whether a new link to a folder brings what is protected in there under another name."""
        parts, before = delta.path.parts, delta.before
        # Tools for packages link the packages of a workspace; that is asked about as a whole.
        if SCRATCH_OF_DEPENDENCIES.isdisjoint(parts) and not LINKED_FOLDERS.isdisjoint(parts):
            return False
        if before and before[0].kind == "link":
            old = self._place(self._followed(delta.path, before[0].target), delta.path)
            if old is not None and self._holds_protected(old):
                return False  # as `current`, from one release to the next
        return self._holds_protected(place)

    def place(self, delta: Delta) -> SafePath | None:
        """Where a new link leads, with no link on the way; None for no link, or out."""
        if delta.after is None or not delta.is_link or _leads_as_before(delta):
            return None
        return self._place(self._followed(delta.path, delta.after.target), delta.path)

    def _place(self, real: str, link: SafePath) -> SafePath | None:
        found = [(root, parts_beneath(real, root.real)) for root in self._roots if real]
        held = [(len(parts), root, parts) for root, parts in found if parts is not None]
        if not held:
            return None
        _, root, parts = min(held, key=lambda each: each[0])
        return SafePath(root, tuple(parts), link.gate, -1)

    def _followed(self, link: SafePath, target: str) -> str:
        """The absolute path, without links, that a link leads to; "" where it leads in a circle."""
        return follow(link.parent.real_absolute, target, self._target)[0]

    def _target(self, place: str) -> str:
        if place not in self._targets:
            self._targets[place] = target_of(place)
        return self._targets[place]

    def _holds_protected(self, folder: SafePath) -> bool:
        """Whether `cat FOLDER/*` shows some of it: that passes over names with a dot in front."""
        place = folder.real_absolute
        if place not in self._holders:
            self._holders[place] = False
            with suppress(ToolError):  # no folder, or none that can be read
                self._holders[place] = any(
                    entry.protected and not entry.name.startswith(".") for entry in folder.list()
                )
        return self._holders[place]


@dataclass(frozen=True, slots=True)
class MovedLink:
    """A link that gets another place, or a second one.

    Attributes:
        old, new: where it is and will be; no link is on the way to either.
        state: itself.
    """

    old: SafePath
    new: SafePath
    state: EntryState


def misled(links: Sequence[MovedLink], roots: Sequence[Root]) -> Iterator[tuple[MovedLink, str]]:
    """Those against which something speaks in their new place alone, and what; blocking."""
    before = [Delta(link.old, after=link.state) for link in links]
    after = [Delta(link.new, after=link.state) for link in links]
    old, new = RunLinks(before, roots), RunLinks(after, roots)
    for link, was, becomes in zip(links, before, after, strict=True):
        trouble = new.trouble(becomes)
        if trouble and not old.trouble(was):
            yield link, trouble


def refuse_misled_links(
    source: SafePath, target: SafePath, tree: Iterable[EntryState], roots: Sequence[Root]
) -> None:
    """Refuse to move links to where they would lead out, or to what is protected; blocking.

    Args:
        source: the tree's place, no link on the way.
        target: the new one, the same.
        tree: what it holds.
        roots: those of the workspace.

    Raises:
        PathDenied: naming the first.
    """
    links: list[MovedLink] = []
    for state in tree:
        if state.kind == "link":
            inner = tuple(filter(None, state.path.split("/")))
            old, new = source.at((*source.parts, *inner)), target.at((*target.parts, *inner))
            links.append(MovedLink(old, new, state))
    for link, trouble in misled(links, roots):
        raise PathDenied(
            f"Access denied: from there {link.old.display} would be {trouble}.",
            hint="Remove it, or move what it leads to with it.",
            rule="link",
        )


def _as_written(link: SafePath, target: str) -> str:
    """Where a link leads, with no link followed."""
    return os.path.normpath(
        f"{link.parent.real_absolute}/{target}" if target[:1] != "/" else target
    )


def _leads_as_before(delta: Delta) -> bool:
    """Whether the same link stood there: that was somebody else's choice."""
    after, before = delta.after, delta.before
    was_link = bool(before) and before[0].kind == "link"
    return was_link and after is not None and before[0].target == after.target


def _is_protected(path: SafePath) -> bool:
    try:
        path.gate.check(path, "write")
    except PathDenied:
        return True
    return False


def leads_above(path: SafePath, target: str) -> bool:
    """Whether a relative link leads above its root.

    Only what the names say counts, so `..` after another name, which may be a link itself, is
    taken as leading there.
    """
    names = [name for name in target.split("/") if name not in ("", ".")]
    ups = 0
    while ups < len(names) and names[ups] == "..":
        ups += 1
    return not target.startswith("/") and (".." in names[ups:] or ups > len(path.parts) - 1)


def leads_out(link: SafePath, target: str, roots: Sequence[Root]) -> bool:
    """Whether a link may lead out of the workspace, as it is written.

    Args:
        link: its place; no link is on the way to it.
        target: where it leads.
        roots: those of the workspace.
    """
    if not target.startswith("/"):
        return leads_above(link, target)
    if ".." in target.split("/"):
        return True
    inside = (*(root.name for root in roots), *(root.real for root in roots))
    if any(parts_beneath(target, top) is not None for top in inside):
        return False
    return not is_program(link, target)


def is_program(link: SafePath, target: str) -> bool:
    """Whether a link leads to what belongs to the system, and nobody changes by writing to it.

    Python of an environment may be one that its user installed.

    Args:
        link: its place.
        target: an absolute path without `..`.
    """
    is_system = any(parts_beneath(target, top) is not None for top in PROGRAMS)
    pythons = (sys.base_prefix, os.path.realpath(sys.base_prefix))
    if not is_system and all(parts_beneath(target, top) is None for top in pythons):
        return False
    ends = [link.parts[-2:], tuple(target.split("/")[-2:])]
    if all(len(end) == 2 and end[0] == "bin" and "python" in end[1] for end in ends):
        return True
    if is_system and sys.platform != "win32" and not os.geteuid():
        return True  # root may change all of it, and is not kept from such links
    there = target
    while not os.path.exists(there):  # noqa: PTH110
        there = there.rpartition("/")[0] or "/"
    return not os.access(there, os.W_OK)
