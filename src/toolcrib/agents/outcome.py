"""The outcome of an agent run: one shape, however it ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self

from toolcrib.core.result import ErrorInfo, Result
from toolcrib.text.display import counted


class Status(StrEnum):
    """How a run ended, in a word."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STALLED = "stalled"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why it ended."""

    NONE = ""
    FINISHED = "finished"
    ANSWERED = "answered"
    GAVE_UP = "gave_up"
    NO_ANSWER = "no_answer"
    STEP_LIMIT = "step_limit"
    TIME_LIMIT = "time_limit"
    TOOL_BUDGET = "tool_budget"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - no secret
    REPEATED_CALL = "repeated_call"
    REPEATED_ERROR = "repeated_error"
    FORMAT_ERRORS = "format_errors"
    NO_CALLS = "no_calls"
    CANCELLED = "cancelled"
    BACKEND_ERROR = "backend_error"
    LOST = "lost"
    INTERNAL = "internal"


STATUS_OF = {
    Reason.NONE: Status.RUNNING,
    Reason.FINISHED: Status.COMPLETED,
    Reason.ANSWERED: Status.COMPLETED,
    Reason.GAVE_UP: Status.FAILED,
    Reason.REPEATED_ERROR: Status.STALLED,  # its last answer says at most what is missing
    Reason.TIME_LIMIT: Status.TIMEOUT,
    Reason.CANCELLED: Status.CANCELLED,
    Reason.BACKEND_ERROR: Status.FAILED,
    Reason.LOST: Status.FAILED,
    Reason.INTERNAL: Status.FAILED,
}
"""The others are stalled, or completed where a last answer came all the same."""


MORE_TIME = "Send it again with a longer time_limit, or in smaller tasks."

NOTHING_USABLE = (
    "It answered nothing usable: do it yourself, or ask the user for another agent.model."
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run.

    `answer` is what it found; where it did not complete, as far as it got. `found` is what its
    tools gave, where the answer of a model that went in circles may have misread it. `handoff`
    is a message for whoever goes on. `files_modified` are absolute paths. `tokens` are all that
    was read and written, as the server counts or else estimated. `trace_id` names the run
    for `get_agent_result` and `toolcrib agent show`.
    """

    status: Status
    reason: Reason
    answer: str = ""
    found: str = ""
    handoff: str = ""
    files_modified: tuple[str, ...] = ()
    steps: int = 0
    tool_calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    trace_id: str = ""
    role: str = ""
    model: str = ""
    note: str = ""
    hint: str = ""
    log: tuple[str, ...] = ()

    @classmethod
    def ended(cls, reason: Reason, *, answered: bool = False, **facts: Any) -> Self:
        """An outcome with the status that belongs to a reason."""
        status = STATUS_OF.get(reason, Status.COMPLETED if answered else Status.STALLED)
        return cls(status, reason, **facts)

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status is not Status.RUNNING

    def and_then(self, later: Outcome) -> Outcome:
        """This one and what went on from it, as one: the later words, the sums of both."""
        return replace(
            later,
            handoff=later.handoff or self.handoff,
            answer=later.answer or self.answer,
            found=later.found or self.found,
            files_modified=tuple(dict.fromkeys((*self.files_modified, *later.files_modified))),
            steps=self.steps + later.steps,
            tool_calls=self.tool_calls + later.tool_calls,
            tokens=self.tokens + later.tokens,
            seconds=round(self.seconds + later.seconds, 1),
            role=" > ".join(part for part in (self.role, later.role) if part),
            log=(*self.log, *later.log),
        )

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        values = asdict(self)
        values["status"], values["reason"] = self.status.value, self.reason.value
        values["files_modified"], values["log"] = list(self.files_modified), list(self.log)
        return values

    @classmethod
    def of_json(cls, values: dict[str, Any]) -> Self:
        """The inverse of `to_json`."""
        given = {name: values[name] for name in cls.__slots__ if name in values}
        given["status"], given["reason"] = Status(values["status"]), Reason(values["reason"])
        for name in ("files_modified", "log"):
            given[name] = tuple(values.get(name, ()))
        return cls(**given)

    def render(self) -> str:
        """The outcome as a model reads it: the answer, then the facts in a line."""
        because = "" if self.reason in ("", self.status) else f" ({self.reason})"
        facts = (
            f"[agent {self.trace_id}: {self.status}{because}; {counted(self.steps, 'step')}, "
            f"{counted(self.tool_calls, 'tool call')}, {counted(self.tokens, 'token')}, "
            f"{self.seconds:.0f} s]"
        )
        parts = [self.answer.strip(), self.found]
        if self.handoff:
            parts.append(f"Handoff: {self.handoff}")
        if self.files_modified:
            parts.append("GENERATED_FILES: " + ", ".join(self.files_modified[:50]))
        if self.note:
            parts.append(f"Note: {self.note}")
        if self.reason is Reason.TIME_LIMIT:
            parts.append(MORE_TIME if self.answer else f"It found nothing in its time. {MORE_TIME}")
        unusable = self.reason in (Reason.FORMAT_ERRORS, Reason.REPEATED_CALL)
        if unusable and not (self.answer.strip() or self.found):
            parts.append(NOTHING_USABLE)
        parts += ["Log:\n" + "\n".join(self.log)] if self.log else []
        return "\n\n".join(part for part in (*parts, facts) if part)


def result_of(outcome: Outcome, *, untrusted: bool, private: bool) -> Result:
    """An outcome as the result of a call: always the same shape."""
    error = None
    if outcome.reason is Reason.BACKEND_ERROR:
        message = outcome.note or "The model server failed."
        error = ErrorInfo("unavailable", message, outcome.hint, {"trace_id": outcome.trace_id})
        outcome = replace(outcome, note="")
    return Result(
        text=outcome.render(),
        data=outcome.to_json(),
        error=error,
        source=f"agent {outcome.trace_id}" if untrusted else "",
        private=private,
    )
