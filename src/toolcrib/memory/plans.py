"""Plans: the steps of a longer task, kept beyond the conversation that made them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.memory.memory_records import Origin, storable
from toolcrib.memory.times import duration
from toolcrib.state.store import Area, Schema, Store
from toolcrib.text.cleaner import one_line
from toolcrib.text.tokens import estimate

SCHEMA = Schema(
    "plans",
    (
        """
        CREATE TABLE plan (
            id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL,
            goal TEXT NOT NULL, created REAL NOT NULL, changed INTEGER NOT NULL
        );
        CREATE INDEX plan_project ON plan (project, changed);
        CREATE TABLE plan_step (
            plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
            number INTEGER NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL,
            note TEXT NOT NULL, started REAL, ended REAL,
            PRIMARY KEY (plan, number)
        ) WITHOUT ROWID;
        CREATE TABLE plan_active (
            seq INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE,
            plan INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE
        );
        """,
        """
        ALTER TABLE plan ADD COLUMN session TEXT NOT NULL DEFAULT '';
        ALTER TABLE plan ADD COLUMN source TEXT NOT NULL DEFAULT '';
        ALTER TABLE plan ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;
        """,
        "ALTER TABLE plan ADD COLUMN private INTEGER NOT NULL DEFAULT 1;",
    ),
)
MAX_PLANS = 200
"""Plans of a project; the ones changed longest ago go first."""
MAX_CONVERSATIONS = 2000
"""Conversations whose own plan is known."""
MAX_STEPS = 30
MAX_STEP_CHARS = 500
MAX_GOAL_CHARS = 1000
MAX_NOTE_CHARS = 1000
COMPACT_TOKENS = 150
UNSAID = "may be outside text"
"""Stands for the goal of such a plan where it is only named."""
UNEXPLAINED = "no reason was given"
"""The note of a step that is written as blocked without one."""
MAX_OTHERS = 5
"""Other plans that are listed with the conversation's own."""
MAX_NAMED = 3
"""Further blocked steps that the compact form names."""

StepStatus = Literal["pending", "in_progress", "done", "blocked"]
STATES: tuple[StepStatus, ...] = get_args(StepStatus)
MOVES: dict[str, tuple[str, ...]] = {
    "pending": ("in_progress", "done", "blocked"),
    "in_progress": ("done", "blocked"),
    "done": ("pending", "in_progress", "blocked"),
    "blocked": ("pending",),
}
MARKS = {"pending": " ", "in_progress": ">", "done": "x", "blocked": "!"}


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step, numbered from 1; `started` and `ended` are in seconds since 1970."""

    number: int
    text: str
    status: StepStatus = "pending"
    note: str = ""
    started: float | None = None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class StepDraft:
    """A step of a plan that is written; without a status it is pending, or as it was."""

    text: str
    status: StepStatus | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A goal and its steps.

    Attributes:
        session: the conversation that made it, as long as no other one wrote into it what may be
            outside text.
        source: where what it says may come from.
        outside: whether it may be outside text: whoever wrote it had read some.
        private: whether whoever wrote it had read something private, as far as that is known.
    """

    id: int
    project: int
    goal: str
    created: float
    steps: tuple[PlanStep, ...] = ()
    session: str = ""
    source: str = ""
    outside: bool = False
    private: bool = True

    def fence_for(self, session: str) -> str:
        """The source that fences it in a conversation; empty where it is that one's own words."""
        if not self.outside or self.session == session:
            return ""
        return f"a plan of a session that had read {one_line(self.source, 80) or 'outside text'}"

    def is_impersonal_for(self, session: str) -> bool:
        """Whether nothing private can be in it, for a conversation that is shown it."""
        return bool(self.fence_for(session)) and not self.private

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(step.status == "done" for step in self.steps)

    @property
    def percent(self) -> int:
        """The share of steps that are done."""
        return round(100 * self.done / len(self.steps)) if self.steps else 0

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.done == len(self.steps)

    def elapsed(self, now: float) -> float:
        """Seconds from its beginning until now, or until its last step was done."""
        ends = [step.ended for step in self.steps if step.ended is not None]
        return max((max(ends) if self.is_finished and ends else now) - self.created, 0.0)

    def summary(self, now: float) -> str:
        """How far it is, in a few words."""
        return (
            f"{self.done} of {len(self.steps)} done, {self.percent} %, "
            f"{duration(self.elapsed(now))}"
        )

    def full(self, now: float) -> str:
        """All steps, one a line."""
        lines = [f"Plan {self.id}: {self.goal}", self.summary(now)]
        return "\n".join([*lines, *(_line(step, now) for step in self.steps)])

    def compact(self, now: float) -> str:
        """What is being done, what is blocked and what comes next, in about 150 tokens."""
        text = ""
        for chars in (160, 80, 40, 12):
            text = "\n".join(self._telling_lines(now, chars))
            if estimate(text) <= COMPACT_TOKENS:
                break
        return text

    def _telling_lines(self, now: float, chars: int) -> list[str]:
        lines = [f"Plan {self.id}: {one_line(self.goal, chars)}", self.summary(now)]
        for title, status in (("Now", "in_progress"), ("Blocked", "blocked")):
            found = [step for step in self.steps if step.status == status]
            for step in found[:1]:
                note = f" ({one_line(step.note, chars // 2)})" if step.note else ""
                lines.append(f"{title}: {step.number}. {one_line(step.text, chars)}{note}")
            if len(found) > 1:
                rest = ", ".join(str(step.number) for step in found[1 : 1 + MAX_NAMED])
                more = len(found) - 1 - MAX_NAMED
                lines.append(f"{title} also: {rest}{f' and {more} more' if more > 0 else ''}")
        following = next((step for step in self.steps if step.status == "pending"), None)
        if following is not None:
            lines.append(f"Next: {following.number}. {one_line(following.text, chars)}")
        return lines

    def to_json(self, now: float) -> dict[str, object]:
        """The plan as JSON values; times are in seconds."""
        return {
            "id": self.id,
            "goal": self.goal,
            "percent": self.percent,
            "done": self.done,
            "elapsed_seconds": round(self.elapsed(now), 1),
            "steps": [
                {
                    "index": step.number,
                    "text": step.text,
                    "status": step.status,
                    "note": step.note,
                    "seconds": _seconds(step, now),
                }
                for step in self.steps
            ],
        }


def progress_of(data: object) -> tuple[str, int, int] | None:
    """What a plan's data says in one line, with the steps that are done and all of them.

    Args:
        data: the `data` of a result; None comes back for anything but a plan.
    """
    if not isinstance(data, dict) or not {"goal", "percent", "steps"} <= data.keys():
        return None
    steps = data["steps"]
    in_work = [step for step in steps if step["status"] == "in_progress"]
    waiting = [step for step in steps if step["status"] == "pending"]
    now = "".join(f": {one_line(step['text'], 80)}" for step in (in_work or waiting)[:1])
    return f"plan {data['done']}/{len(steps)}{now}", int(data["done"]), len(steps)


def _seconds(step: PlanStep, now: float) -> float | None:
    if step.started is None:
        return None
    return round(max((step.ended if step.ended is not None else now) - step.started, 0.0), 1)


def _line(step: PlanStep, now: float) -> str:
    seconds = _seconds(step, now)
    waits = seconds is None or step.status in ("pending", "blocked")
    remarks = [part for part in (step.note, "" if waits else duration(seconds or 0.0)) if part]
    remark = f" ({'; '.join(remarks)})" if remarks else ""
    return f"{step.number}. [{MARKS[step.status]}] {step.text}{remark}"


class Plans:
    """A service: the plans of all projects.

    A conversation's own plan is the last one that it made or changed; else it is that of its
    project which was changed last and is not finished.
    """

    def __init__(self, rows: Area) -> None:
        self._rows = rows

    @classmethod
    def open(cls, services: Services) -> Self:
        """The plans in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA))

    async def create(
        self,
        goal: str,
        steps: Sequence[StepDraft],
        project: int,
        origin: Origin,
        *,
        rewrites: bool = False,
    ) -> Plan:
        """Write a plan, and make it the own one of the conversation that it comes from.

        Args:
            goal: what is to be reached.
            steps: in their order.
            project: the number of the one that it belongs to.
            origin: where it comes from.
            rewrites: write the steps of the conversation's own plan anew where that has this goal
                and one of the steps.

        Raises:
            BadInput: the goal or the steps are empty or too long, or the steps too many.
        """
        goal, drafts = goal.strip(), [replace(step, text=step.text.strip()) for step in steps]
        _check(goal, [step.text for step in drafts])

        def write(connection: sqlite3.Connection) -> Plan:
            old = _rewritten(connection, goal, drafts, origin.session) if rewrites else None
            number = old.id if old else _inserted(connection, goal, project, origin)
            before = list(old.steps) if old else []
            connection.execute("DELETE FROM plan_step WHERE plan = ?", (number,))
            connection.executemany(
                "INSERT INTO plan_step (plan, number, text, status, note, started, ended)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (number, place, draft.text, *_state(draft, _taken(before, draft.text)))
                    for place, draft in enumerate(drafts, 1)
                ],
            )
            connection.execute(
                "UPDATE plan SET changed = ? WHERE id = ?", (_turn(connection), number)
            )
            _mark_origin(connection, _existing(connection, number), origin)
            _activate(connection, number, origin.session)
            connection.execute(
                "DELETE FROM plan WHERE id IN (SELECT id FROM plan WHERE project = ?"
                " ORDER BY changed DESC LIMIT -1 OFFSET ?)",
                (project, MAX_PLANS),
            )
            return _existing(connection, number)

        return await self._rows.write(write)

    async def get(self, number: int | None, project: int, session: str) -> Plan:
        """A plan by its number, or the conversation's own.

        Raises:
            NotFound: there is none.
        """
        return await self._rows.read(lambda c: _found(c, number, project, session))

    async def active(self, session: str) -> Plan | None:
        """The plan that a conversation made or changed last, if it is still there."""

        def read(connection: sqlite3.Connection) -> Plan | None:
            row = connection.execute(
                "SELECT plan FROM plan_active WHERE session = ?", (session,)
            ).fetchone()
            return None if row is None else _existing(connection, row[0])

        return await self._rows.read(read)

    async def own(self, project: int, session: str) -> Plan | None:
        """The conversation's own plan, if there is one."""
        try:
            return await self.get(None, project, session)
        except NotFound:
            return None

    async def others(self, besides: int, project: int) -> list[Plan]:
        """Other plans of the project that are not finished, the last changed first."""

        def read(connection: sqlite3.Connection) -> list[Plan]:
            numbers = connection.execute(
                "SELECT id FROM plan WHERE project = ? AND id != ? AND EXISTS (SELECT 1 FROM"
                " plan_step WHERE plan = id AND status != 'done') ORDER BY changed DESC LIMIT ?",
                (project, besides, MAX_OTHERS),
            ).fetchall()
            return [_existing(connection, number) for (number,) in numbers]

        return await self._rows.read(read)

    async def update_step(
        self,
        number: int | None,
        index: int,
        status: StepStatus,
        note: str,
        place: tuple[int, Origin],
    ) -> Plan:
        """Move a step on, and make its plan the conversation's own.

        Args:
            number: of the plan; None is the conversation's own.
            index: of the step, from 1.
            status: where it is now; the same again only changes the note.
            note: why it is blocked, or what came of it; empty leaves the one that is there.
            place: the project, and where the change comes from.

        Raises:
            NotFound: there is no such plan or step.
            BadInput: the step cannot move there from where it is.
        """
        note, (project, origin) = note.strip(), place
        if len(note) > MAX_NOTE_CHARS:
            raise BadInput(f"'note' has at most {MAX_NOTE_CHARS:,} characters, not {len(note):,}.")

        def write(connection: sqlite3.Connection) -> Plan:
            plan = _found(connection, number, project, origin.session)
            step = _step_of(plan, index)
            _check_move(step, status, note)
            now = time.time()
            started = now if status == "in_progress" != step.status else step.started
            ended = (step.ended if step.status == "done" else now) if status == "done" else None
            remark = note or ("" if step.status == "blocked" != status else step.note)
            connection.execute(
                "UPDATE plan_step SET status = ?, note = ?, started = ?, ended = ?"
                " WHERE plan = ? AND number = ?",
                (status, remark, started, ended, plan.id, index),
            )
            connection.execute(
                "UPDATE plan SET changed = ? WHERE id = ?", (_turn(connection), plan.id)
            )
            if note:
                _mark_origin(connection, plan, origin)
            _activate(connection, plan.id, origin.session)
            return _existing(connection, plan.id)

        return await self._rows.write(write)

    async def remove(self, number: int) -> bool:
        """Delete a plan; whether it was there."""
        return await self._rows.execute("DELETE FROM plan WHERE id = ?", (number,)) > 0

    async def all(self) -> list[Plan]:
        """All plans of all projects, the last changed first."""

        def read(connection: sqlite3.Connection) -> list[Plan]:
            numbers = connection.execute("SELECT id FROM plan ORDER BY changed DESC").fetchall()
            return [_existing(connection, number) for (number,) in numbers]

        return await self._rows.read(read)

    async def clear(self) -> int:
        """Delete all plans; how many there were."""
        return await self._rows.execute("DELETE FROM plan")


def _rewritten(
    connection: sqlite3.Connection, goal: str, drafts: Sequence[StepDraft], session: str
) -> Plan | None:
    """The conversation's own plan, where it has this goal and one of these steps.

    Lists of tasks may all have the same goal, whatever they are about.
    """
    row = connection.execute(
        "SELECT plan FROM plan_active WHERE session = ?", (session,)
    ).fetchone()
    plan = None if row is None else _existing(connection, row[0])
    if plan is None or plan.goal.casefold() != goal.casefold():
        return None
    texts = {draft.text.casefold() for draft in drafts}
    return plan if any(step.text.casefold() in texts for step in plan.steps) else None


def _taken(steps: list[PlanStep], text: str) -> PlanStep | None:
    """The first of some steps that has this text, which is taken out of them."""
    places = (n for n, step in enumerate(steps) if step.text.casefold() == text.casefold())
    place = next(places, None)
    return None if place is None else steps.pop(place)


def _inserted(connection: sqlite3.Connection, goal: str, project: int, origin: Origin) -> int:
    """The number of a new plan without steps."""
    number = connection.execute(
        "INSERT INTO plan (project, goal, created, changed, session, source, outside, private)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (project, goal, time.time(), _turn(connection), origin.session,
         storable(origin.source), origin.outside, origin.private),
    ).lastrowid  # fmt: skip
    assert number is not None
    return number


def _state(
    draft: StepDraft, before: PlanStep | None
) -> tuple[str, str, float | None, float | None]:
    """Status, note, beginning and end of a step that is written, by what it was."""
    before = before or PlanStep(0, draft.text)
    status = draft.status or before.status
    remark = "" if before.status == "blocked" != status else before.note
    note = draft.note or remark or (UNEXPLAINED if status == "blocked" else "")
    now = time.time()
    started = before.started or (now if status == "in_progress" else None)
    ended = (before.ended or now) if status == "done" else None
    return status, note, started, ended


def _mark_origin(connection: sqlite3.Connection, plan: Plan, origin: Origin) -> None:
    """Note on a plan where words of it come from now."""
    if origin.outside and (not plan.outside or plan.session != origin.session):
        connection.execute(
            "UPDATE plan SET outside = 1, source = ?,"
            " session = CASE session WHEN ? THEN session ELSE '' END WHERE id = ?",
            (storable(origin.source), origin.session, plan.id),
        )
    if origin.private:
        connection.execute("UPDATE plan SET private = 1 WHERE id = ?", (plan.id,))


def _check(goal: str, steps: Sequence[str]) -> None:
    if not goal or len(goal) > MAX_GOAL_CHARS:
        raise BadInput(f"'goal' has 1 to {MAX_GOAL_CHARS:,} characters, not {len(goal):,}.")
    if not 1 <= len(steps) <= MAX_STEPS:
        raise BadInput(
            f"A plan has 1 to {MAX_STEPS} steps, not {len(steps)}.",
            hint="Join small steps, or make a plan for the first part." if steps else "",
        )
    for place, text in enumerate(steps, 1):
        if not text or len(text) > MAX_STEP_CHARS:
            raise BadInput(
                f"Step {place} has {len(text):,} characters; a step has 1 to {MAX_STEP_CHARS}.",
                hint="Say in a sentence what is done; details belong into a file.",
            )


def _check_move(step: PlanStep, status: str, note: str) -> None:
    if status == "blocked" and not note and not (step.status == "blocked" and step.note):
        raise BadInput(
            f"Step {step.number} cannot be blocked without a note.",
            hint="Say in 'note' what it waits for.",
        )
    if status == step.status or status in MOVES[step.status]:
        return
    ways = " or ".join(MOVES[step.status])
    raise BadInput(
        f"Step {step.number} is {step.status} and cannot become {status}.",
        hint=f"It can become {ways}. The way is pending, in_progress, done; a blocked step "
        "becomes pending first.",
    )


def _step_of(plan: Plan, index: int) -> PlanStep:
    for step in plan.steps:
        if step.number == index:
            return step
    raise NotFound(
        f"Plan {plan.id} has no step {index}.", hint=f"Its steps are 1 to {len(plan.steps)}."
    )


def _found(connection: sqlite3.Connection, number: int | None, project: int, session: str) -> Plan:
    """The plan meant; one that is asked for by number may be of any project."""
    if number is None:
        row = (
            connection.execute(
                "SELECT plan FROM plan_active WHERE session = ?", (session,)
            ).fetchone()
            or connection.execute(
                "SELECT id FROM plan WHERE project = ? AND EXISTS (SELECT 1 FROM plan_step"
                " WHERE plan = id AND status != 'done') ORDER BY changed DESC LIMIT 1",
                (project,),
            ).fetchone()
        )
        if row is None:
            raise NotFound("There is no plan here.", hint="create_plan makes one.")
        number = int(row[0])
    plan = _maybe(connection, number)
    if plan is None:
        last = connection.execute(
            "SELECT id, CASE outside WHEN 0 THEN goal ELSE ? END FROM plan WHERE project = ?"
            " ORDER BY changed DESC LIMIT 5",
            (UNSAID, project),
        ).fetchall()
        listed = "; ".join(f"{there}: {one_line(goal, 60)}" for there, goal in last)
        hint = f"There are: {listed}" if listed else "create_plan makes one."
        raise NotFound(f"There is no plan {number}.", hint=hint)
    return plan


def _existing(connection: sqlite3.Connection, number: int) -> Plan:
    plan = _maybe(connection, number)
    assert plan is not None
    return plan


def _maybe(connection: sqlite3.Connection, number: int) -> Plan | None:
    row = connection.execute(
        "SELECT id, project, goal, created, session, source, outside, private FROM plan"
        " WHERE id = ?",
        (number,),
    ).fetchone()
    if row is None:
        return None
    steps = connection.execute(
        "SELECT number, text, status, note, started, ended FROM plan_step WHERE plan = ?"
        " ORDER BY number",
        (number,),
    )
    plan_id, project, goal, created, session, source, outside, private = row
    return Plan(
        plan_id, project, goal, created, tuple(PlanStep(*step) for step in steps), session, source,
        bool(outside), bool(private),
    )  # fmt: skip


def _activate(connection: sqlite3.Connection, number: int, session: str) -> None:
    last = connection.execute(
        "REPLACE INTO plan_active (session, plan) VALUES (?, ?)", (session, number)
    ).lastrowid
    assert last is not None
    connection.execute("DELETE FROM plan_active WHERE seq <= ?", (last - MAX_CONVERSATIONS,))


def _turn(connection: sqlite3.Connection) -> int:
    """The next number in the order of changes, which no clock can turn round."""
    (last,) = connection.execute("SELECT coalesce(max(changed), 0) FROM plan").fetchone()
    return int(last) + 1
