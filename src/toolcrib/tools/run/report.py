"""What a run answers with: its output, how it ended, and what became of the files."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Mapping, Sequence
from typing import Any, Self

from toolcrib.core.call import ErrorInfo, Next, Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import StorageFailure, TimedOut, TooLarge
from toolcrib.execution.runs.outcome import RunOutcome, RunResult
from toolcrib.state.results import Results
from toolcrib.system.child import Chunk
from toolcrib.system.ring_buffer import Ring
from toolcrib.system.threads import aside
from toolcrib.text.program_output import printed
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import head_and_tail

# Output while it comes: kept in its order, and told to whoever waits.

TELL_SECONDS = 0.25
MOST_TOLD = 4_000
"""Characters of one message; of more, the end."""
MOST_WAITING = 4 * MOST_TOLD
"""Bytes between two messages that are looked at; of a flood, the end."""


class Follower:
    """Takes the chunks of a run.

    Attributes:
        ring: both streams in the order of arrival; the head and the tail of them.
    """

    def __init__(self, ctx: Ctx) -> None:
        self.ring = Ring()
        self._ctx = ctx
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._new = bytearray()
        self._waiting = ""
        self._telling: asyncio.Task[None] | None = None

    def __call__(self, chunk: Chunk) -> None:
        """Keep a chunk; it is told soon after. Nothing more is done with it for now."""
        self.ring.write(chunk.data)
        self._new += chunk.data[-MOST_WAITING:]
        if len(self._new) > MOST_WAITING:
            del self._new[:-MOST_WAITING]
            self._decoder.reset()
            self._waiting = ""

    async def __aenter__(self) -> Self:
        self._telling = asyncio.create_task(self._tell())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        """Tell whole lines a few times a second."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            self._waiting += self._decoder.decode(bytes(self._new))
            self._new.clear()
            lines, end, rest = self._waiting.rpartition("\n")
            if not end and len(self._waiting) < MOST_TOLD:
                continue
            self._waiting = rest if end else ""
            text = printed(lines if end else rest).strip("\n")
            if text:
                await self._ctx.progress(text[-MOST_TOLD:])


MOST_FILES = 12
HEAD_SHARE = 0.3
"""Of the room for output: the end of it usually says what went wrong."""
BY_USER = (
    "[to make these changes run it again with commit=auto; or the user does it with: "
    "toolcrib call apply_changes id={id}]"
)
CRASHES = {132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 137: "SIGKILL"}
CRASHES |= {139: "SIGSEGV", 143: "SIGTERM"}
NETWORKED = "a program with network"
LIMITS = {
    "memory": ("run.limits.memory_mb", "memory"),
    "disk": ("run.limits.disk_mb", "room on the disk"),
    "output": ("run.limits.output_mb", "output"),
    "processes": ("run.limits.processes", "processes"),
}


async def report(
    ctx: Ctx,
    tool: str,
    ran: RunResult,
    ring: Ring,
    *,
    limit: float,
    notes: Sequence[str] = (),
    lead: str = "",
    facts: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> Result:
    """The result of a run that ended.

    Args:
        ctx: the call.
        tool: its name.
        ran: how it ended.
        ring: what it wrote, both streams in one.
        limit: seconds that it had.
        notes: further lines behind the output.
        lead: what stands before the output and is never cut.
        facts: more data.
        quiet: the output is left out of the text: `lead` says all that matters.
    """
    size = ring.total + ran.stdout.size + ran.stderr.size
    body, data = await aside(size, lambda: (printed(kept(ring)).strip("\n"), _facts(ctx, ran)))
    body, whole = ("", body) if quiet else (body, "")
    outcome = ran.outcome
    error = _stopped(ran, limit, tool)
    lines = [_ending(ran, empty=not body and not quiet), *notes, *changes(outcome)]
    apply = outcome.next
    if apply is not None and all(tool.name != apply.tool for tool in ctx.offered):
        lines.append(BY_USER.format(id=outcome.pending_id))
        apply = None
    if ran.level != "strong":
        lines.append(f"[sandbox: {ran.level}]")
    text, more = await fitted(ctx, tool, body, "\n".join(lines), lead)
    if whole:
        more = await _behind(ctx, whole)
    if (apply or whole) and more:
        text += f"\n[the rest of the output: {more}]"
    return Result(
        text=text,
        data=data | dict(facts or {}),
        truncated=more is not None and not whole,
        next=apply or (None if whole else more),
        error=error,
        source=NETWORKED if ctx.config.run.network else "",
        private=True,
    )


def _facts(ctx: Ctx, ran: RunResult) -> dict[str, Any]:
    return {
        "exit_code": ran.exit_code,
        "stdout": str(ran.stdout),
        "stderr": str(ran.stderr),
        "bytes": ran.stdout.size + ran.stderr.size,
        "seconds": round(ran.seconds, 3),
        "timed_out": ran.timed_out,
        "stopped": ran.stopped,
        "sandbox": {"level": ran.level, "network": list(ctx.config.run.network)},
        "changes": ran.outcome.to_json(),
    }


def kept(ring: Ring) -> str:
    """What a ring holds, with a line in the place of what it dropped."""
    parts: list[str] = []
    end = 0
    for segment in ring.segments():
        if segment.start > end:
            parts.append(f"\n[{segment.start - end:,} bytes not kept, from offset {end}]\n")
        parts.append(segment.data.decode("utf-8", "replace"))
        end = segment.end
    return "".join(parts)


async def fitted(
    ctx: Ctx, tool: str, body: str, tail: str, lead: str = ""
) -> tuple[str, Next | None]:
    """Output with what stands around it, cut to the budget; and the call that reads the rest."""
    room = max(room_in(ctx.budget(tool)) - estimate(tail) - estimate(lead), 50)
    around = [lead, "", tail]
    head, end, (first, last) = await aside(len(body), head_and_tail, body, room, HEAD_SHARE)
    if first >= last:
        around[1] = body
        return "\n".join(part for part in around if part), None
    more = await _behind(ctx, body, first)
    middle = f"[{last - first:,} of {len(body):,} characters left out here]"
    around[1] = f"{head.rstrip()}\n{middle}\n{end}"
    return "\n".join(part for part in around if part), more


async def _behind(ctx: Ctx, body: str, offset: int = 0) -> Next | None:
    """The call that reads output on, or all of it."""
    source = NETWORKED if ctx.config.run.network else ""
    try:
        handle = await ctx.use(Results).keep(body, ctx.session.id, source)
    except StorageFailure as error:
        ctx.warn(f"The rest could not be kept: {error.message}")
        return None
    return Next("read_more", {"handle": handle, "offset": offset})


def changes(outcome: RunOutcome) -> list[str]:
    """What became of the files, a line each."""
    lines = list(outcome.notes)
    if outcome.state == "none":
        return lines
    named = [_named(changed) for changed in outcome.files[:MOST_FILES]]
    rest = len(outcome.files) + outcome.more - len(named)
    listed = ", ".join(named + ([f"{rest:,} more"] if rest > 0 else []))
    if outcome.state == "applied":
        return [f"[files: {listed}]", *lines]
    said = {
        "held": f"[held back as {outcome.pending_id}, nothing is changed yet: {listed}]",
        "dropped": f"[dropped, nothing is changed: {listed}]",
    }[outcome.state]
    return [said, *([outcome.diff.rstrip("\n")] if outcome.diff else []), *lines]


def _named(changed: Any) -> str:
    counts = f" +{changed.added} -{changed.removed}" if changed.added or changed.removed else ""
    return f"{changed.path} {changed.kind}{counts}"


def _ending(ran: RunResult, *, empty: bool) -> str:
    signal = CRASHES.get(ran.exit_code)
    parts = [f"exit code {ran.exit_code}{f' ({signal})' if signal else ''}"]
    if ran.timed_out:
        parts = ["stopped: its time was up"]
    elif ran.stopped:
        parts = [f"stopped: too much {LIMITS.get(ran.stopped, ('', ran.stopped))[1]}"]
    if empty:
        parts.append("no output")
    return f"[{', '.join([*parts, f'{ran.seconds:.1f} s'])}]"


def _stopped(ran: RunResult, limit: float, tool: str) -> ErrorInfo | None:
    """The failure of a run that did not come to its own end."""
    if ran.timed_out or ran.stopped == "time":
        return ErrorInfo(
            TimedOut.code,
            f"{tool} was stopped after {limit:g} seconds.",
            "Give a longer 'timeout', or do less at a time.",
        )
    if ran.stopped:
        setting, what = LIMITS.get(ran.stopped, ("run.limits", ran.stopped))
        return ErrorInfo(
            TooLarge.code,
            f"{tool} was stopped: too much {what}.",
            f"Do less at a time. The user can raise {setting}.",
        )
    return None
