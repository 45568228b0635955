"""The plan that takes steps back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolcrib.core.errors import Conflict, Unavailable
from toolcrib.files.changes.plan import ANYTHING, Change, Plan
from toolcrib.files.changes.steps import Step, unpack
from toolcrib.files.changes.work import Piece
from toolcrib.files.paths import SafePath
from toolcrib.files.workspace import Workspace
from toolcrib.state.blobs import Blobs


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept content as a source."""

    blobs: Blobs
    digest: str

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        return self.blobs.read(self.digest)


def reversal(
    steps: Iterable[Step],
    workspace: Workspace,
    blobs: Blobs,
    tool: str,
    only: SafePath | None,
    start: SafePath | None = None,
) -> Plan:
    """Take steps back, the last first.

    Args:
        steps: in that order.
        workspace: finds their paths.
        blobs: what was kept.
        tool: who asks.
        only: take back only what was done to this path.
        start: the current directory, from which files are named.

    Raises:
        Unavailable: something of it was not kept.
    """
    steps = list(steps)
    plan = Plan(tool, undoes=tuple(step.id for step in steps))
    for step in steps:
        pieces = [Piece.from_json(found, workspace) for found in unpack(step.record)]
        for piece in reversed(pieces):
            if only is None or _concerns(piece, only):
                if start is not None:
                    piece.path = piece.path.seen_from(start)
                    piece.target = piece.target and piece.target.seen_from(start)
                plan.changes += _back(piece, step, blobs)
    return plan


def _concerns(piece: Piece, only: SafePath) -> bool:
    wanted = str(only)
    for path in piece.places:
        if path == wanted or path.startswith(f"{wanted}/"):
            return True
        if piece.do in ("remove", "rename", "plant") and wanted.startswith(f"{path}/"):
            return True
    return False


def _back(piece: Piece, step: Step, blobs: Blobs) -> Iterator[Change]:
    """The change that takes a piece back; none where it turned out to do nothing."""
    if piece.after is None and piece.do != "remove":
        return
    if not piece.kept:
        raise Unavailable(
            f"Step {step.id} ({step.tool}) cannot be undone: {step.note or 'it was not kept'}.",
            hint="Undo only later steps, or name another path.",
        )
    path, before, after = piece.path, piece.before, piece.after
    if piece.do == "put" and after is not None:
        if before is None:
            yield Change(
                "delete",
                path,
                expected=after.mark,
                digest=after.digest,
                meaning=piece.meaning,
            )
        else:
            yield Change(
                "write",
                path,
                Kept(blobs, before.digest),
                expected=after.mark,
                digest=after.digest,
                meaning=piece.meaning,
                mode=before.mode,
                mtime=before.mtime,
            )
    elif piece.do == "folder":
        yield Change("unmake", path)
    elif piece.do == "unmake" and before is not None:
        yield Change("folder", path, mode=before.mode)
    elif piece.do == "remove":
        yield Change("plant", path, tree=piece.tree)
    elif piece.do == "plant":
        yield Change("delete", path, expected=ANYTHING, tree=piece.tree)
    else:
        yield from _renamed_or_set(piece)


def _renamed_or_set(piece: Piece) -> Iterator[Change]:
    path, before, after = piece.path, piece.before, piece.after
    if piece.do == "mode" and before is not None and after is not None:
        yield Change("mode", path, mode=before.mode, tree=(after,))
    elif piece.do == "rename" and piece.target is not None and before is not None:
        yield Change("move", piece.target, target=path, expected="", tree=(before,))


def explain(error: Conflict, steps: Iterable[Step]) -> Conflict:
    """A conflict of an undo, in its words."""
    numbers = ", ".join(str(step.id) for step in steps)
    return Conflict(
        f"Nothing was undone (step {numbers}): {error.message}",
        hint=f"{error.hint} A path of its own can be undone with path=…",
    )
