"""What stands in the way of a change: names inside a tree, and how refusals are worded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from toolcrib.core.errors import BadInput, Conflict, PathDenied
from toolcrib.files.path_gate import LISTS_HINT
from toolcrib.files.paths import SafePath
from toolcrib.files.protection import OWN
from toolcrib.files.tree_images import Image
from toolcrib.state.blobs import digest_of

NEVER_DELETED = frozenset({".git", OWN})


@dataclass(slots=True)
class Inside:
    """The protected names in a tree that is removed or moved as a whole.

    Args:
        path: the tree.
        real: the same without links on the way.
        own: the patterns that the user added.
        target: where it is moved.
        restoring: an undo, which may take away what it was allowed to make.
        copied: what the tree holds is kept or goes elsewhere, and could be read there.
    """

    path: SafePath
    real: SafePath
    own: frozenset[str]
    target: SafePath | None = None
    restoring: bool = False
    copied: bool = False
    found: list[str] = field(default_factory=list)

    def may_go(self, inner: str, status: os.stat_result) -> None:
        """Note a protected name; refuse the tree for one that must stay."""
        self._refuse_second_name(inner, status)
        pattern = self._pattern(self.real, inner)
        if not pattern or not inner:
            return
        must_stay = pattern in NEVER_DELETED or pattern in self.own
        if pattern == OWN or (must_stay and not self.restoring):
            raise self._refusal(inner, pattern, "is never deleted")
        self.found.append(inner)

    def may_move(self, inner: str, status: os.stat_result) -> None:
        """Refuse the tree for a name that would gain or lose its protection."""
        assert self.target is not None
        self._refuse_second_name(inner, status)
        before = self._pattern(self.real, inner)
        after = self._pattern(self.target, inner)
        if before != after or before == OWN:
            raise self._refusal(inner, before or after, "is protected only in one of the places")

    def _refuse_second_name(self, inner: str, status: os.stat_result) -> None:
        """A copy of a protected file has no second name that would give it away."""
        if not self.copied or status.st_nlink < 2:
            return
        here = _beneath(self.real, inner)
        pattern = here.gate.second_name(here, status)
        if pattern and not here.gate.pattern(here, "read"):
            raise PathDenied(
                f"Access denied: {inner or self.path.display} is another name of a file that is "
                f"protected from reading ({pattern}).",
                hint=f"Name what is beside it; permanent=true deletes it. {LISTS_HINT}",
                rule=pattern,
            )

    def _pattern(self, top: SafePath, inner: str) -> str:
        return top.gate.pattern(_beneath(top, inner), "write")

    def _refusal(self, inner: str, pattern: str, why: str) -> PathDenied:
        return PathDenied(
            f"Access denied: {self.path.display} holds {inner}, which {why} ({pattern}).",
            hint=f"Name what is beside it. {LISTS_HINT}",
            rule=pattern,
        )


def _beneath(top: SafePath, inner: str) -> SafePath:
    parts = (*top.parts, *inner.split("/")) if inner else top.parts
    return SafePath(top.root, parts, top.gate, -1)


def hash_only(size: int, chunks: Iterable[bytes]) -> str:
    """The digest of a content that is not kept."""
    del size
    seen = digest_of()
    for chunk in chunks:
        seen.update(chunk)
    return seen.hexdigest()


def same_tree(one: Sequence[Image], other: Sequence[Image]) -> bool:
    """Whether two trees hold the same."""
    return len(one) == len(other) and all(
        a.holds_as(b) for a, b in zip(sorted_tree(one), sorted_tree(other), strict=True)
    )


def sorted_tree(tree: Iterable[Image]) -> Iterator[Image]:
    """The images of a tree in one order."""
    return iter(sorted(tree, key=lambda image: image.path))


def refuse_into_itself(source: SafePath, target: SafePath, real: SafePath, there: SafePath) -> None:
    """A folder cannot be put into itself.

    Raises:
        BadInput: that was asked for.
    """
    top, way = real.root.real_path(real.parts), there.root.real_path(there.parts)
    if way == top:
        raise BadInput(
            f"{source.display} and {target.display} are the same.", hint="Nothing to do."
        )
    if way.startswith(f"{top}/"):
        raise BadInput(
            f"{target.display} is inside {source.display}.", hint="Use a target outside of it."
        )


def changed(shown: str) -> Conflict:
    """The file is not what it should be."""
    return Conflict(f"{shown} has changed meanwhile.", hint="Look at it again before changing it.")


def read_only(path: SafePath) -> PathDenied:
    """The system protects the file."""
    return PathDenied(
        f"Access denied: the operating system does not let toolcrib write {path.display}.",
        hint="Use another file, or ask the user for the permission.",
        rule="permissions",
    )
