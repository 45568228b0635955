"""`schedule`: a reminder, or a call at a later time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import timedelta
from typing import Annotated, Any, Literal

from toolcrib.core.context import Call, Ctx
from toolcrib.core.errors import BadInput, ToolDisabled
from toolcrib.core.result import Result
from toolcrib.core.tool import (
    CHANGING,
    NET,
    READ,
    WRITE,
    Count,
    Decision,
    JsonObject,
    Param,
    Right,
    Tool,
    decide,
    tool,
)
from toolcrib.files.paths import Workspace
from toolcrib.middleware.policy import decision_on, question_text, rights_of
from toolcrib.middleware.validate import bind
from toolcrib.state.redaction import redact
from toolcrib.state.schedules import ScheduledCall, Schedules
from toolcrib.text.cleaner import one_line
from toolcrib.tools.system.clock import local_zone, moment_of, spelled_moment

MAX_DAYS = 400
MAX_TEXT_CHARS = 2_000
NEVER = {"schedule", "call_tool"}
_UNIT = "seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w"
_PART = rf"(\d{{1,6}}|\ban?\b)\s*({_UNIT})(?![a-z])"
_LENGTH = re.compile(rf"(?:in\s+)?(?:{_PART}[\s,]*(?:and\s+)?)+", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DATED = re.compile(r"\d{4}|\d\.\d|day\b|tonight|tomorrow|now", re.IGNORECASE)


_REPEATED = re.compile(r"\b(?:every|each|daily|weekly|hourly|monthly)\b|\*", re.IGNORECASE)
_REPEATS = ("cron", "every", "repeat", "interval", "recurrence", "recurring", "rrule")
_TIMES = "Send when as 10m, 2h, 18:30 or 2026-12-24 08:00: it runs once, then."
_UNITS = ("seconds", "minutes", "hours", "days")
_ONCE = "Nothing is repeated here."


def _adapt(arguments: dict[str, Any]) -> None:
    """Of tools that repeat; what says that it does not is left out."""
    for name in _REPEATS:
        if arguments.pop(name, None) not in (None, "", False, 0, "false", "once", "none", "never"):
            raise BadInput(_ONCE, hint=_TIMES)
    if {"when", "at", "time", "in", "delay"}.intersection(arguments):
        return
    lengths = [f"{count} {unit}" for unit in _UNITS if (count := arguments.pop(unit, None))]
    if lengths:
        arguments["when"] = " ".join(lengths)


INNER: ContextVar[tuple[str, str]] = ContextVar(
    "why a person is asked, and what they see", default=("", "")
)
"""Set by the verdict on a call that is scheduled, for the tool, which comes after the question."""


async def _verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """What a person is asked: about a call when it is scheduled, about one of others' when it goes.

    Nobody may be there at its time, so it is judged as if it were made now, and what a person
    would be asked about then is asked now.
    """
    INNER.set(("", ""))
    number = arguments.get("id")
    if arguments["action"] == "cancel" and number is not None:
        return await _cancelling(number, ctx)
    name = str(arguments.get("tool") or "")
    if arguments["action"] != "add" or not name:
        return None
    found = _offered(name, ctx)
    given = arguments.get("arguments") or {}
    if found.name in NEVER:
        return None  # it is refused
    _due(arguments["when"])
    call = Call(found, await bind(found, given, ctx), ctx)
    rights = rights_of(call)
    inner, _ = await decision_on(call, rights)
    summary = question_text(call, inner.preview)
    INNER.set((inner.reason if inner.action == "ask" else "", summary))
    if inner.action == "deny":
        return Decision("deny", inner.reason, explicit=True)
    if inner.action == "allow" and (inner.explicit or not rights & (CHANGING | NET)):
        return None
    reason = f"at {one_line(str(arguments['when']), 40)} it will run {found.name}"
    if inner.action == "ask":
        reason += f", and {inner.reason}"
    return Decision("ask", reason, explicit=True, hosts=inner.hosts, preview=summary, is_exact=True)


async def _cancelling(number: int, ctx: Ctx) -> Decision | None:
    """Its own a conversation takes back as it likes; a person decides about those of others."""
    one = await ctx.use(Schedules).waiting(number)
    if one.session == ctx.session.id or ctx.caller.typed_by_user:
        return None
    reason = "another conversation has scheduled it"
    return Decision("ask", reason, explicit=True, preview=one.title, is_exact=True)


def _offered(name: str, ctx: Ctx) -> Tool:
    """The tool of this name, where the caller may call it itself.

    Raises:
        UnknownTool: no tool has the name.
        ToolDisabled: it is switched off, or not in the profile.
    """
    found = ctx.registry.resolve(name).loaded
    is_denied = decide(ctx.config.policy, found, ()).action == "deny"
    if not is_denied and all(tool.name != found.name for tool in ctx.offered):
        raise ToolDisabled(
            f"{found.name} is not in the profile.",
            hint=f"The user can add it: --profile …,{found.name}",
        )
    return found


def _needed(given: Mapping[str, Any]) -> Right:
    return READ if given["action"] == "list" else WRITE


@tool(
    group="system",
    rights=READ | WRITE,
    keywords=("remind", "reminder", "later", "timer", "alarm", "cron", "at", "delay"),
    aliases=("remind_me", "set_reminder", "set_timer", "schedule_task"),
    argument_aliases={
        "time": "when",
        "at": "when",
        "in": "when",
        "delay": "when",
        "message": "text",
        "args": "arguments",
    },
    effective_rights=_needed,
    policy_check=_verdict,
    argument_adapter=_adapt,
)
async def schedule(
    action: Literal["add", "list", "cancel"] = "add",
    when: Annotated[str, Param("As 10m, 18:30, 2026-12-24 08:00.")] = "",
    text: Annotated[str, Param("Of a reminder.", plain=True)] = "",
    tool: Annotated[str, Param("To call then.")] = "",
    arguments: Annotated[JsonObject | None, Param("Its arguments.", plain=True)] = None,
    id: Annotated[Count | None, Param("To cancel.", plain=True)] = None,  # noqa: A002 - as elsewhere
    *,
    ctx: Ctx,
) -> Result:
    """Remind of something, or call a tool, at a later time.

    The user approves a call when it is scheduled. It runs at most once, by a server of
    toolcrib that runs then; what came while none did is told as missed. What happened is told
    with the next answer, and by action list.
    """
    schedules = ctx.use(Schedules)
    if ctx.within is not None and not ctx.caller.single:
        schedules.start(ctx.registry, ctx.within, ctx.use(Workspace).holds)
    if action == "list":
        found = await schedules.listed()
        lines = [_line(one) for one in found] or ["Nothing is scheduled."]
        return _marked(found, "\n".join(lines), {"scheduled": [_json(one) for one in found]})
    if action == "cancel":
        if id is None:
            raise BadInput("Which one? Send its id.", hint="action list shows them.")
        gone = await schedules.cancel(id)
        return _marked([gone], f"Cancelled {gone.id}: {gone.title}", _json(gone))
    due = _due(when)
    name, given = await _checked(ctx, tool, arguments or {})
    if not name and not text.strip():
        raise BadInput("Of what? Send text, or tool with arguments.")
    if len(text) > MAX_TEXT_CHARS:
        raise BadInput(f"text has more than {MAX_TEXT_CHARS:,} characters.")
    reason, summary = INNER.get()
    number = await schedules.add(
        due,
        text.strip(),
        name,
        given,
        ctx.session,
        _folder(ctx),
        reason=reason,
        summary=summary,
    )
    zone = local_zone()
    moment, _ = moment_of(str(int(due)), zone)
    line = f"Scheduled as {number} for {spelled_moment(moment, zone)}."
    if not schedules.is_running:
        line += " It needs a server of toolcrib that runs then (toolcrib mcp or serve)."
    return Result(line, {"id": number, "due": moment.isoformat()})


def _folder(ctx: Ctx) -> str:
    """Where the conversation is now, by its real path: another server may spell it otherwise."""
    workspace = ctx.use(Workspace)
    if not workspace.roots:
        return ""
    start = workspace.start(ctx.session.directory)
    return start.real_absolute


def _due(when: str) -> float:
    wanted = when.strip()
    if not wanted:
        raise BadInput("When? Send it as 10m, 18:30 or 2026-12-24 08:00.")
    now = time.time()
    if _LENGTH.fullmatch(wanted):
        parts = re.findall(_PART, wanted.lower().removeprefix("in "))
        due = now + sum(
            int(n) * _SECONDS[u[0]] if n.isdigit() else _SECONDS[u[0]] for n, u in parts
        )
    else:
        zone = local_zone()
        try:
            moment, notes = moment_of(wanted, zone)
        except BadInput as error:
            message = _ONCE if _REPEATED.search(wanted) else error.message
            raise BadInput(message, hint=_TIMES) from None
        if notes:
            raise BadInput(notes[0], hint="Send it with its offset: 2026-10-25T02:30+01:00.")
        if not _DATED.search(wanted) and moment.timestamp() <= now:
            moment += timedelta(days=1)
        due = moment.timestamp()
    if due < now - 1:
        raise BadInput(f"{wanted[:40]} is in the past.", hint=_TIMES)
    if due > now + MAX_DAYS * 86_400:
        raise BadInput(f"{wanted[:40]} is more than {MAX_DAYS} days away.")
    return due


async def _checked(ctx: Ctx, name: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name of the tool and its arguments, once it is seen that they fit."""
    if not name.strip():
        if given:
            raise BadInput("There are arguments and no tool.", hint="Name the tool to call.")
        return "", {}
    found = _offered(name, ctx)
    if found.name in NEVER:
        raise BadInput(f"{found.name} cannot be scheduled.", hint="Name the tool itself.")
    await bind(found, given, ctx)
    return found.name, given


def _marked(calls: Sequence[ScheduledCall], text: str, data: dict[str, Any]) -> Result:
    """A result that marks whoever reads it as what is shown had been marked."""
    private = any(one.private for one in calls)
    source = "what was scheduled" if any(one.untrusted for one in calls) else ""
    return Result(text, data, source=source, private=private, impersonal=not private)


def _line(one: ScheduledCall) -> str:
    zone = local_zone()
    moment, _ = moment_of(str(int(one.due)), zone)
    line = f"{one.id} {one.state} {moment:%Y-%m-%d %H:%M} {one.title}"
    return f"{line}: {one.outcome.splitlines()[0][:200]}" if one.outcome else line


def _json(one: ScheduledCall) -> dict[str, Any]:
    moment, _ = moment_of(str(int(one.due)), local_zone())
    call = {"tool": one.tool, "arguments": redact(one.arguments)} if one.tool else {}
    facts = {"id": one.id, "due": moment.isoformat(), "state": one.state, "text": one.text}
    return {**facts, **call, "outcome": one.outcome}
