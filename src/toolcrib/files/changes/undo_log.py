"""The undo log: a row for each step in the store of all processes; and how steps are undone."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from time import time as now
from typing import Any

from toolcrib.core.errors import Conflict, NotFound, PathDenied, ToolError, Unavailable
from toolcrib.core.result import well_formed
from toolcrib.files.changes.preparation import expand
from toolcrib.files.changes.step import BULK_KINDS, Change, Step
from toolcrib.files.changes.tree_store import TreeStore
from toolcrib.files.extended_attributes import ACCESS_LIST
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.targets import folders_above
from toolcrib.files.trees import EntryState
from toolcrib.state.blobs import Blobs
from toolcrib.system.threads import random_id

COLUMNS = (
    "id, token, time, tool, session, owner, state, undoable, note, undoes, paths, bytes, record"
)
MAX_STEPS = 10_000
PROGRAM = "program"
"""In the record of a step: it was made by a program with an undo of its own, such as git."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedStep:
    """One change that was made, as a row of the log.

    Attributes:
        id: its number; 0 before it has one.
        token: what its names on disk have in common.
        time: seconds since 1970.
        tool: what made it.
        session: the conversation.
        owner: the process, see `Owner`.
        state: "open" while it is made, "made" while what is old is still there, "done".
        undoable: whether undo can bring everything back.
        note: what it cannot, and why.
        undoes: the steps that it took back.
        paths: what was changed, absolute.
        size: bytes that were newly stored for it.
        record: its changes, packed.
        undone: paths of it, absolute, that were taken back alone; no column of the log.
    """

    id: int = 0
    token: str = field(default_factory=partial(random_id, 12))
    time: float = field(default_factory=now)
    tool: str
    session: str
    owner: str
    state: str
    undoable: bool = True
    note: str = ""
    undoes: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    size: int = 0
    record: bytes = b""
    undone: frozenset[str] = frozenset()

    def of_changes(self, changes: Sequence[Change]) -> LoggedStep:
        """The same with what these changes did."""
        return replace(
            self,
            undoable=all(change.undoable for change in changes),
            paths=tuple(dict.fromkeys(p for change in changes for p in change.absolute_paths)),
            record=_packed([change.to_json() for change in changes]),
        )

    def of_program(self, paths: Iterable[str], about: Mapping[str, Any]) -> LoggedStep:
        """The same with what a program did, and what it needs to take it back itself."""
        return replace(self, paths=tuple(paths), record=_packed([{"do": PROGRAM, "about": about}]))

    @property
    def program(self) -> dict[str, Any] | None:
        """What a program needs to take it back that has its own means; None for changed files."""
        found = _unpacked(self.record)
        return found[0]["about"] if found and found[0]["do"] == PROGRAM else None

    def read_changes(self, workspace: Workspace) -> list[Change]:
        """What was done in it; nothing where a program did it that takes it back itself."""
        found = _unpacked(self.record)
        return [Change.from_json(f, workspace) for f in found if f["do"] != PROGRAM]

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> LoggedStep:
        """From a row with all `COLUMNS`."""
        known = dict(zip((column.name for column in fields(cls)), row, strict=False))
        known["undoable"] = bool(known["undoable"])
        known |= {key: tuple(json.loads(known[key])) for key in ("undoes", "paths")}
        return cls(**known)

    def row(self) -> tuple[Any, ...]:
        """All columns but the number."""
        undoes, paths = json.dumps(self.undoes), json.dumps(self.paths)
        head = (self.token, self.time, self.tool, self.session, self.owner, self.state)
        note = well_formed(self.note)  # a name in it need not be text
        return (*head, int(self.undoable), note, undoes, paths, self.size, self.record)


def _packed(values: list[dict[str, Any]]) -> bytes:
    """The record of a row."""
    return zlib.compress(json.dumps(values, separators=(",", ":")).encode("ascii"), 1)


def _unpacked(record: bytes) -> list[dict[str, Any]]:
    """The inverse of `_packed`."""
    found: list[dict[str, Any]] = json.loads(zlib.decompress(record))
    return found


def save(connection: sqlite3.Connection, step: LoggedStep) -> int:
    """Write a step, new or known by its token; its number."""
    row = step.row()
    names = COLUMNS.removeprefix("id, ").split(", ")
    pairs = ", ".join(f"{name} = ?" for name in names)
    known = connection.execute(
        f"UPDATE step SET {pairs} WHERE token = ? RETURNING id",  # noqa: S608
        (*row, step.token),
    ).fetchone()
    if known is not None:
        return int(known[0])
    marks = ", ".join("?" * len(row))
    made = connection.execute(
        f"INSERT INTO step ({', '.join(names)}) VALUES ({marks})",  # noqa: S608
        row,
    )
    return int(made.lastrowid or 0)


def last(connection: sqlite3.Connection) -> int:
    """The highest number of a step, made or being made; 0 for none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM step").fetchone()[0])


def refuse_rivals(
    connection: sqlite3.Connection, step: LoggedStep, chosen: int, gone: Container[str]
) -> None:
    """Refuse to take back what another process takes back, or has changed since.

    Args:
        connection: in a transaction that writes, so that only one of two comes through.
        step: the undo that is about to begin.
        chosen: the last step when it was decided what to take back.
        gone: tokens of steps that were given up and are still in the log.

    Raises:
        Conflict: there is such a step.
    """
    rows = connection.execute(
        "SELECT token, tool, undoes, paths FROM step "
        "WHERE (id > ?1 OR state = 'open') AND token <> ?2",
        (chosen, step.token),
    )
    for token, tool, undoes, paths in rows:
        again = not set(json.loads(undoes)).isdisjoint(step.undoes)
        if token not in gone and (again or _meet(step.paths, json.loads(paths))):
            raise Conflict(
                f"{tool} changes the same files at this moment.",
                hint="list_changes shows what is left to undo.",
            )


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether a path of one is a path of the other, or lies in one."""
    one, other = set(some), set(others)
    return any(
        not folders.isdisjoint((path, *folders_above(path)))
        for paths, folders in ((one, other), (other, one))
        for path in paths
    )


def drop(connection: sqlite3.Connection, token: str) -> None:
    """Forget a step that was taken back at once."""
    connection.execute("DELETE FROM step WHERE token = ?", (token,))


def finish(connection: sqlite3.Connection, token: str, note: str) -> None:
    """Nothing of what is old is left on disk."""
    connection.execute("UPDATE step SET state = 'done', note = ? WHERE token = ?", (note, token))


def forget(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Drop finished steps."""
    connection.executemany(
        "DELETE FROM step WHERE id = ? AND state = 'done'", [(number,) for number in numbers]
    )


def _select(connection: sqlite3.Connection, condition: str, *values: int) -> list[LoggedStep]:
    """The steps for which a condition holds."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM step WHERE {condition}", values)  # noqa: S608
    return [LoggedStep.of_row(row) for row in rows]


def find(connection: sqlite3.Connection, number: int) -> LoggedStep | None:
    """One step that was made."""
    return next(iter(_select(connection, "id = ? AND state <> 'open'", number)), None)


HELD = "held: "
"""Before the name of the tool: a run that was taken back and waits for the user, and the step that
took it back. Neither is shown or taken back as others are."""


def unhide(connection: sqlite3.Connection, number: int) -> None:
    """Let a step be seen that was hidden for a held run."""
    connection.execute(
        "UPDATE step SET tool = substr(tool, ?) WHERE id = ? AND tool LIKE ?",
        (len(HELD) + 1, number, f"{HELD}%"),
    )


def unfinished(connection: sqlite3.Connection) -> list[LoggedStep]:
    """Steps that some process is making, or died over."""
    return _select(connection, "state <> 'done'")


def claim(connection: sqlite3.Connection, step: LoggedStep, owner: str) -> bool:
    """Take over a step of a dead process, unless another was quicker."""
    done = connection.execute(
        "UPDATE step SET owner = ? WHERE token = ? AND owner = ?", (owner, step.token, step.owner)
    )
    return done.rowcount == 1


def newest(
    connection: sqlite3.Connection, *, before: int = 0, count: int = 200
) -> list[LoggedStep]:
    """Steps that were made, the last first; those before a number, if one is given."""
    condition = "state <> 'open' AND (?1 = 0 OR id < ?1) ORDER BY id DESC LIMIT ?2"
    return _select(connection, condition, before, count)


def takes_back(connection: sqlite3.Connection, step: LoggedStep) -> bool:
    """Whether a step is an undo: one that takes an undo back makes a change again."""
    turns, current = 0, step
    while current.undoes:
        turns += 1
        before = find(connection, current.undoes[0])
        if before is None:
            break
        current = before
    return turns % 2 == 1


def _taking_back(connection: sqlite3.Connection, step: LoggedStep) -> list[LoggedStep]:
    """The steps that took this one back, or a part of it, the last first."""
    condition = (
        "state <> 'open' AND id > ?1 AND EXISTS "
        "(SELECT 1 FROM json_each(undoes) WHERE value = ?1) ORDER BY id DESC"
    )
    return _select(connection, condition, step.id)


def undone_by(connection: sqlite3.Connection, step: LoggedStep) -> int:
    """The step that took back all of this one and stands itself; 0 where none did."""
    for later in _taking_back(connection, step):
        if set(later.paths).issuperset(step.paths):
            return 0 if undone_by(connection, later) else later.id
    return 0


def undone_paths(connection: sqlite3.Connection, step: LoggedStep) -> frozenset[str]:
    """The paths of a step that were taken back, and not made again."""
    found: set[str] = set()
    for later in _taking_back(connection, step):
        found.update(set(later.paths) - undone_paths(connection, later))
    return frozenset(found)


class StandingSteps:
    """Tells the steps whose changes still hold, of steps in the order of the newest first.

    A step that takes back an undo stands in place of the step that was undone. A step counts as
    taken back only where that was done to all of its paths: an undo of one leaves the others.

    Args:
        within: only what was done to this path and beneath it counts; "" for all.
    """

    def __init__(self, within: str) -> None:
        self._within = within
        self._undone: dict[int, set[str]] = {}

    def takes(self, step: LoggedStep, *, is_undo: bool) -> bool:
        """Whether a step stands; it is the next older one."""
        if is_undo:
            for number in step.undoes:
                self._undone.setdefault(number, set()).update(step.paths)
            return False
        undone = self._undone.get(step.id)
        return undone is None or not all(self._is_undone(path, undone) for path in step.paths)

    def _is_undone(self, path: str, undone: Container[str]) -> bool:
        within = self._within
        if within.startswith(f"{path}/"):  # of a tree that part may have been taken back alone
            return path in undone or within in undone
        return path in undone or (bool(within) and not f"{path}/".startswith(f"{within}/"))

    def with_undone(self, step: LoggedStep) -> LoggedStep:
        """A step that stands, and what of it was taken back."""
        undone = frozenset(self._undone.get(step.id, ()))
        left = tuple(path for path in step.paths if path not in undone)
        return replace(step, paths=left, undone=undone)


def prune(connection: sqlite3.Connection, oldest: float, max_bytes: int) -> None:
    """Forget steps that are too old, too many, or for whose contents there is no room."""
    rows = connection.execute(
        "SELECT id, time, bytes FROM step WHERE state = 'done' ORDER BY id DESC"
    ).fetchall()
    total, gone = 0, []
    for number, (step, made, size) in enumerate(rows):
        total += size
        if made < oldest or number >= MAX_STEPS or total > max_bytes:
            gone.append((step,))
    connection.executemany("DELETE FROM step WHERE id = ?", gone)


def records(connection: sqlite3.Connection) -> list[bytes]:
    """The packed work of all steps."""
    return [row[0] for row in connection.execute("SELECT record FROM step")]


def contents(packed: Iterable[bytes]) -> Iterator[str]:
    """The stored contents and trees that steps need."""
    for record in packed:
        for change in _unpacked(record):
            if "at" in change:
                yield change["at"]
                continue
            states = [*change.get("tree", ()), *([change["before"]] if "before" in change else ())]
            yield from (state[8] for state in states if state[8])


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A stored content as a source."""

    blobs: Blobs
    digest: str

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        return self.blobs.read(self.digest)


def step_back(
    steps: Iterable[LoggedStep],
    workspace: Workspace,
    blobs: Blobs,
    trees: TreeStore,
    tool: str,
    only: SafePath | None,
    start: SafePath | None = None,
) -> Step:
    """Take steps back, the last first.

    Args:
        steps: in that order.
        workspace: finds their paths.
        blobs: what was stored.
        trees: where trees are put that are undone.
        tool: who asks.
        only: take back only what was done to this path.
        start: the current directory, from which files are named.

    Raises:
        Unavailable: something of it was not stored.
    """
    steps = list(steps)
    back = Step(tool, undoes=tuple(step.id for step in steps))
    for step in steps:
        changes: list[Change] = []
        if step.program is not None:
            raise Unavailable(
                f"Step {step.id} ({step.tool}) is one of git, and is taken back by itself.",
                hint="list_changes counts them: take back the later ones first, then steps=1.",
            )
        for change in reversed(step.read_changes(workspace)):
            if only is None or _concerns(change, only):
                if start is not None:
                    change.path = change.path.named_from(start)
                    change.target = change.target and change.target.named_from(start)
                many = change.kind in BULK_KINDS
                changes += (
                    _of_many(change, trees, only)
                    if many
                    else _reversed(change, step, blobs, trees, only)
                )
        left = list(_without(changes, step.undone))
        back.changes += left
        back.undone_paths[step.id] = [path for change in left for path in change.absolute_paths]
    return back


def _without(changes: Iterable[Change], undone: frozenset[str]) -> Iterator[Change]:
    """Changes that take something back, but for what was taken back before."""
    for change in changes:
        if change.kind in BULK_KINDS:
            names = zip(change.absolute_paths, change.tree, strict=True)
            change.tree = tuple(state for name, state in names if name not in undone)
            if change.tree:
                yield change
        elif change.stored and any(path.startswith(f"{change.path}/") for path in undone):
            yield from (single for single in expand(change) if str(single.path) not in undone)
        elif not undone.issuperset(change.absolute_paths):
            yield change


def _concerns(change: Change, only: SafePath) -> bool:
    wanted = str(only)
    for path in change.absolute_paths:
        if path == wanted or path.startswith(f"{wanted}/"):
            return True
        if change.kind in ("delete", "move", "create_tree") and wanted.startswith(f"{path}/"):
            return True
    return False


def _reversed(
    change: Change, step: LoggedStep, blobs: Blobs, trees: TreeStore, only: SafePath | None
) -> list[Change]:
    """The change that takes another back; none where that turned out to do nothing."""
    path, before, after = change.path, change.before, change.after
    if after is None and change.kind != "delete":
        return []
    if not change.undoable:
        raise Unavailable(
            f"Step {step.id} ({step.tool}) cannot be undone: {step.note or 'it was not kept'}.",
            hint="Undo only later steps, or name another path.",
        )
    if change.kind == "delete" or after is None:
        return [Change("create_tree", path, tree=change.tree, stored=change.stored)]
    match change.kind:
        case "write":
            back = _unwritten(change, after, blobs)
        case "folder":
            back = Change("remove_folder", path)
        case "remove_folder":
            back = Change("folder", path, mode=before.mode if before else None)
        case "create_tree":
            return _undo_creation(change, trees, only)
        case "mode":
            back = Change("mode", path, mode=before.mode if before else None, before=after)
        case "move":
            back = Change("move", change.target or path, target=path, expected="", before=before)
    return [back]


def _of_many(change: Change, trees: TreeStore, only: SafePath | None) -> list[Change]:
    """Move out what was moved in, and the other way round, or just one path of it."""
    names, wanted = zip(change.absolute_paths, change.tree, strict=True), str(only)
    tree = tuple(s for name, s in names if only is None or f"{name}/".startswith(f"{wanted}/"))
    if change.kind == "move_out":
        return [Change("move_in", change.path, tree=tree, stored=change.stored)]
    stored, placed = trees.place_for(change.stored), change.placed_ns
    return [Change("move_out", change.path, tree=tree, stored=stored, placed_ns=placed)]


def _undo_creation(change: Change, trees: TreeStore, only: SafePath | None) -> list[Change]:
    back = Change("delete", change.path, tree=change.tree, placed_ns=change.placed_ns)
    if change.stored:
        back.stored = trees.place_for(change.stored)
        if only is not None and len(only.parts) > len(change.path.settled().parts):
            return [single for single in expand(back) if _concerns(single, only)]
    return [back]


def _unwritten(change: Change, after: EntryState, blobs: Blobs) -> Change:
    back = Change(
        "delete",
        change.path,
        expected=after.mark,
        expected_digest=after.digest,
        expected_index=change.index_digest,
    )
    if change.before is not None:
        back.kind, back.data = "write", StoredSource(blobs, change.before.digest)
        back.mtime = change.before.mtime
        has_list = ACCESS_LIST in dict(after.attributes)
        # The bits of a group beside a list are its mask: without the list they would let it in.
        if not has_list or change.before.mode != after.mode:
            back.mode = change.before.mode
        if not after.attributes:  # else it has them, but for what the user took away since
            back.attributes = change.before.attributes
    return back


def undone_already(number: int, by: int) -> Conflict:
    """What to say of a step that is taken back a second time."""
    return Conflict(
        f"Step {number} is undone already, by step {by}; nothing was changed.",
        hint=f"id={by} makes it again. Other steps: list_changes.",
    )


def explain_conflict(error: Conflict | NotFound, steps: Iterable[LoggedStep]) -> Conflict:
    """A conflict of an undo, in its words."""
    return Conflict(_nothing_undone(error, steps), hint=f"{error.hint} {ALONE}")


def explain_denial(error: PathDenied, steps: Iterable[LoggedStep]) -> PathDenied:
    """What may not be changed, in the words of an undo."""
    error.message = _nothing_undone(error, steps)
    error.hint = f"{error.hint} {ALONE}"
    return error


ALONE = "A path of its own can be undone with path=…"


def _nothing_undone(error: ToolError, steps: Iterable[LoggedStep]) -> str:
    numbers = ", ".join(str(step.id) for step in steps)
    return f"Nothing was undone (step {numbers}): {error.message}"
