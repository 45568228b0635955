"""The outcome of a run: what became of the files that it changed, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toolcrib.core.errors import PathDenied, StorageFailure, ToolError
from toolcrib.core.result import Next
from toolcrib.execution.sandbox.terms import NetworkAccess
from toolcrib.files.changes.view import ChangedFile, ChangeView
from toolcrib.system.collector import Collected
from toolcrib.text.display import counted

MAX_PREVIEW_FILES = 40

Commit = Literal["auto", "ask", "never"]
COMMITS: tuple[Commit, ...] = ("auto", "ask", "never")
"""From the laxest to the strictest: what the user says and what a call says, the stricter holds."""
State = Literal["none", "applied", "held", "dropped"]

APPLY_TOOL = "apply_changes"
RUN_AGAIN = f"run it again on the files as they are now; {APPLY_TOOL} with drop=true drops this"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of the changes of a run.

    Attributes:
        state: "none" where nothing was changed, "applied" as one step of the undo log,
            "held" until `Runs.apply` or `Runs.drop`, "dropped" for good.
        step: its number in the undo log; 0 where there is none.
        pending_id: the id of the pending run.
        files, more, diff, foremost: see `ChangeView`.
        notes: one line each: what was not taken over and why, what cannot be undone,
            conflicts and how to go on.
        overtaken: whether others changed the same files since, so that it can only be
            dropped.
    """

    state: State = "none"
    step: int = 0
    pending_id: str = ""
    files: tuple[ChangedFile, ...] = ()
    more: int = 0
    diff: str = ""
    notes: tuple[str, ...] = ()
    overtaken: bool = False
    foremost: int = 0

    @property
    def next(self) -> Next | None:
        """The call that applies a pending run; None where it could not."""
        if not self.pending_id or self.overtaken:
            return None
        return Next(APPLY_TOOL, {"id": self.pending_id})

    @property
    def preview(self) -> str:
        """What a person sees of it before they allow it: its files, and the diff."""
        count = max(MAX_PREVIEW_FILES, self.foremost)
        files = [f"{each.kind} {each.path} ({each.extent})" for each in self.files[:count]]
        more = len(self.files) + self.more - len(files)
        files += [f"[{counted(more, 'more file')}]"] if more else []
        return "\n".join((*files, *self.notes, self.diff))

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "state": self.state,
            "step": self.step,
            "held": self.pending_id,
            "files": [changed.to_json() for changed in self.files],
            "more": self.more,
            "diff": self.diff,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class RunResult(Collected):
    """A run that ended.

    Attributes:
        stopped: "" or why the boundary ended it: "memory", "disk", "output", ….
        level: the boundary that held: "strong", "kernel" or "none".
        network: what it could reach.
        lost: files that it made outside of the workspace, which are gone with it.
    """

    stopped: str
    level: str
    outcome: RunOutcome
    network: NetworkAccess = field(default_factory=NetworkAccess)
    lost: tuple[str, ...] = ()


def described(outcome: RunOutcome, view: ChangeView, notes: Iterable[str] = ()) -> RunOutcome:
    """An outcome with what its changes look like; `notes` come before those of the view."""
    return replace(
        outcome,
        files=tuple(view.files),
        more=view.more,
        diff=view.diff,
        foremost=view.foremost,
        notes=(*notes, *view.notes),
    )


def conflict_message(error: ToolError) -> str:
    """The files are not as the run found them, which no second try can change."""
    return f"{error.message.rstrip('.')}; {RUN_AGAIN}"


def recovery_hint(error: ToolError) -> str:
    """What a person has to do before the changes can be made; "" where it is not known."""
    if isinstance(error, PathDenied) and error.details.get("rule") == "permissions":
        first = "first the user has to permit toolcrib to write there"
    elif isinstance(error, StorageFailure):
        full = "full" in error.message
        first = "first some space has to be freed" if full else "first that has to be mended"
    else:
        return ""
    return f"{first}; then {APPLY_TOOL} makes the changes, and with drop=true it drops them"


def cause(error: ToolError) -> str:
    """What stood in the way, in words."""
    return f"{error.message} {recovery_hint(error) or error.hint}".strip().rstrip(".")
