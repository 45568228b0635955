"""What became of the files that a run changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.call import Next
from toolcrib.system.output import Output

Commit = Literal["auto", "ask", "never"]
State = Literal["none", "applied", "held", "dropped"]
Kind = Literal["created", "changed", "deleted"]

APPLY_TOOL = "apply_changes"


@dataclass(frozen=True, slots=True)
class Changed:
    """One file that a run changed.

    Attributes:
        path: as a call would name it.
        added, removed: lines of a text file; 0 for what is no text or was too large.
        size: bytes that it has now; of a deleted one, that it had.
    """

    path: str
    kind: Kind
    added: int = 0
    removed: int = 0
    size: int = 0

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "path": self.path,
            "kind": self.kind,
            "added": self.added,
            "removed": self.removed,
            "size": self.size,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the changes of a run.

    Attributes:
        state: "none" where nothing was changed, "applied" as one step of the undo log,
            "held" until `Runs.apply` or `Runs.drop`, "dropped" for good.
        step: its number in the undo log; 0 where there is none.
        held: the id of a held run.
        files: what was changed, at most `showing.MOST_FILES`; folders that programs fill
            (`.git`, `node_modules`) are counted in `notes` instead.
        more: how many changed files are not in `files`, bulk folders included.
        diff: a unified diff of the text files, bounded.
        notes: one line each: what was not taken over and why, what cannot be undone,
            conflicts and how to go on.
        overtaken: whether others changed the same files since, so that it can only be
            dropped.
    """

    state: State = "none"
    step: int = 0
    held: str = ""
    files: tuple[Changed, ...] = ()
    more: int = 0
    diff: str = ""
    notes: tuple[str, ...] = ()
    overtaken: bool = False

    @property
    def next(self) -> Next | None:
        """The call that applies a held run; None where it could not."""
        if not self.held or self.overtaken:
            return None
        return Next(APPLY_TOOL, {"id": self.held})

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "state": self.state,
            "step": self.step,
            "held": self.held,
            "files": [changed.to_json() for changed in self.files],
            "more": self.more,
            "diff": self.diff,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that ended.

    Attributes:
        exit_code: minus the signal that ended it.
        stopped: "" or why the boundary ended it: "memory", "disk", "output", ….
        level: the boundary that held: "strong", "kernel" or "none".
    """

    exit_code: int
    stdout: Output
    stderr: Output
    timed_out: bool
    seconds: float
    stopped: str
    level: str
    outcome: Outcome
