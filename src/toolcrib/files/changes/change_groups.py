"""The changes of a step in groups: those that do not depend on each other are made together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolcrib.files.changes.step import BULK_KINDS, Change
from toolcrib.files.targets import folders_above


class _PathConflicts:
    def __init__(self) -> None:
        self.exact: dict[str, str] = {}
        self.whole: set[str] = set()
        self.above: set[str] = set()

    def meets(self, change: Change) -> bool:
        """Whether a change would find something else than what stands there now."""
        # Whether a folder is empty by then is looked at when it is taken away.
        whole = _is_whole(change) and change.kind != "remove_folder"
        for path in _paths(change):
            known = self.exact.get(path)
            if known is not None and not (known == change.kind == "folder"):
                return True
            if whole and path in self.above:
                return True
            if any(above in self.whole for above in folders_above(path)):
                return True
        return False

    def add(self, change: Change) -> None:
        for path in _paths(change):
            self.exact[path] = change.kind
            self.above.update(folders_above(path))
            if _is_whole(change):
                self.whole.add(path)


def groups(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Runs of changes that do not depend on each other, in order."""
    run: list[Change] = []
    touched = _PathConflicts()
    for change in changes:
        if touched.meets(change):
            yield run
            run, touched = [], _PathConflicts()
        run.append(change)
        touched.add(change)
    if run:
        yield run


def _is_whole(change: Change) -> bool:
    return change.kind not in ("write", "folder")


def _paths(change: Change) -> Iterator[str]:
    if change.kind in BULK_KINDS:
        yield from change.absolute_paths
        return
    yield change.path.absolute
    if change.target is not None:
        yield change.target.absolute
