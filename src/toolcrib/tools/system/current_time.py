"""`current_time`: what the clock says, here and elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import Param, tool
from toolcrib.system.threads import in_thread
from toolcrib.tools.system.clock import Zone, moment_of, next_change, spelled_moment, zone_of


@tool(
    group="system",
    keywords=("date", "today", "now", "clock", "weekday", "timezone", "convert time", "utc"),
    aliases=("get_current_time", "get_time", "now", "convert_time", "get_date"),
    argument_aliases={"timezone": "zone", "tz": "zone", "time": "at", "target_timezone": "to"},
)
async def current_time(
    zone: Annotated[str, Param("As Europe/Berlin; else the machine's.")] = "",
    at: Annotated[str, Param("A time there in place of now.")] = "",
    to: Annotated[str, Param("Zone to convert to.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Tell date, weekday and time, also in another time zone.

    `at` with `to` converts a time. Days on which the clocks change are told: a time that is
    skipped or comes twice, and when the next change is.
    """
    return await in_thread(lambda _: _answer(zone, at, to), ctx.deadline)


def _answer(zone: str, at: str, to: str) -> Result:
    source = zone_of(zone)
    target = zone_of(to) if to.strip() else None
    try:
        when, notes = moment_of(at, source)
        notes = [*filter(None, (source.note, target.note if target else "")), *notes]
        lines = [spelled_moment(when, source)]
        data = _facts(when, source)
        if target is not None:
            there = when.astimezone(target.info)
            lines.append(spelled_moment(there, target))
            data["to"] = _facts(there, target)
        change = next_change(when, target or source)
    except (OverflowError, ValueError):
        raise BadInput("This time is out of range.", hint="Years go from 1 to 9999.") from None
    week = when.isocalendar()
    day = when.timetuple().tm_yday
    lines.append(f"week {week.week}, day {day} of the year; epoch {data['epoch']} s")
    if change is not None:
        lines.append(f"next change of the clocks: {change:%Y-%m-%d %H:%M %Z}")
        data["next_change"] = change.isoformat()
    data["notes"] = notes
    return Result("\n".join([*lines, *(f"Note: {note}" for note in notes)]), data)


def _facts(when: datetime, zone: Zone) -> dict[str, Any]:
    return {
        "time": when.isoformat(timespec="seconds"),
        "zone": zone.name,
        "weekday": f"{when:%A}",
        "week": when.isocalendar().week,
        "epoch": int(when.astimezone(UTC).timestamp()),
        "dst": bool(when.dst()),
    }
