"""What all runs of one toolbox have in common."""

from __future__ import annotations

from toolcrib.core.context import Services
from toolcrib.execution.runs.folders import SCHEMA, Folders
from toolcrib.execution.runs.triggers import Question, Triggers
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.snapshots import SnapshotCache
from toolcrib.files.handles import Root
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.state.store import Store


class RunContext:
    """Services and state that runs work with.

    Attributes:
        folders: where the upper directories are.
        rows: those of pending runs.
        triggers: finds what the user has to be asked about.
        caches: what is known of the contents beneath each root, by its real path.
        held_folders: those of dependencies or settings in runs that this process took back, by the
            number of the pending run.
    """

    def __init__(self, services: Services) -> None:
        store = services.use(Store)
        self.workspace = services.use(Workspace)
        self.changes = services.use(Changes)
        self.config = services.config
        self.rows = store.area(SCHEMA)
        self.folders = Folders(store.path)
        self.triggers = Triggers(self.workspace)
        self.held_folders: dict[str, set[Question]] = {}
        self.caches = {
            root.real: SnapshotCache(self.folders.base, root.real) for root in self.workspace.roots
        }

    def top(self, root: Root) -> SafePath:
        """A root as a path."""
        return SafePath(root, (), self.workspace.gate, 0)
