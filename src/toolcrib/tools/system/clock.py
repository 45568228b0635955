"""Times in zones: which zone a name means, and what a wall clock says on days of a change."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from difflib import get_close_matches
from functools import cache
from pkgutil import get_data
from zoneinfo import ZoneInfo, available_timezones

from toolcrib.core.errors import BadInput, NotFound
from toolcrib.system.machine import time_zone_name
from toolcrib.text.display import some_of

FORMS = "Write 2026-03-29 02:30, 14:30, or the same with an offset: 2026-03-29T02:30+01:00."
AHEAD = timedelta(days=370)
_OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:at\s+)?(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?",
    re.IGNORECASE,
)
_NOON = re.compile(r"\b(?:noon|midday|(midnight))\b", re.IGNORECASE)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = re.compile(
    rf"(?:\b(?:on|this)\s+|(\bnext\s+))?\b(today|tonight|tomorrow|{'|'.join(_WEEKDAYS)})\b[\s,]*",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)[\s,]+|(\d{1,2})\.(\d{1,2})\.(\d{4})[\s,]*")
_ZONE = re.compile(
    r"(.*(?:\d|[ap]m|noon|night|day|tomorrow))\s+(?!am$|pm$)([A-Za-z][\w/+:-]+)", re.IGNORECASE
)

# Abbreviations are no names of zones. In the database some are, without summer time, which is
# not what people mean who write them all year round.
_ABBREVIATIONS = {
    **dict.fromkeys(("pst", "pdt"), "America/Los_Angeles"),
    **dict.fromkeys(("mst", "mdt"), "America/Denver"),
    **dict.fromkeys(("cst", "cdt"), "America/Chicago"),
    **dict.fromkeys(("est", "edt"), "America/New_York"),
}
_AMBIGUOUS = {"ist": "Asia/Kolkata, Europe/Dublin, Asia/Jerusalem"}
MAX_LISTED = 6


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone and the name to show for it.

    `note` says how an abbreviation was read.
    """

    name: str
    info: tzinfo
    note: str = ""


def zone_of(text: str) -> Zone:
    """The zone that a text means: `Europe/Berlin`, `berlin`, `UTC+2`; the machine's for "".

    Raises:
        NotFound: there is none of this name.
        BadInput: several cities or zones have it.
    """
    wanted = text.strip()
    if name := _ABBREVIATIONS.get(wanted.lower()):
        note = f"{wanted.upper()} is read as {name}, with its summer time."
        return Zone(name, ZoneInfo(name), note)
    if wanted.lower() in ("", "local", "system"):
        return local_zone()
    offset = _OFFSET.fullmatch(wanted)
    if offset is not None:
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        if length > timedelta(hours=15):
            raise BadInput(f"{wanted[:20]} is more than any offset.", hint="They go to +14:00.")
        return _fixed(-length if offset[1] == "-" else length)
    names = _zones()
    plain = wanted.lower().replace(" ", "_")
    found = names.get(plain, [])
    if len(found) > 1 or plain in _AMBIGUOUS:
        listed = _AMBIGUOUS.get(plain) or ", ".join(found)
        raise BadInput(
            f"{wanted[:40]} stands for several zones: {listed}.", hint="Name one of them."
        )
    if not found and (of_country := _zones_of_country(wanted)):
        listed = some_of(of_country, MAX_LISTED)
        raise NotFound(f"{wanted[:60]} is a country.", hint=f"Its zones: {listed}.")
    if not found:
        near = get_close_matches(plain, names, 4, 0.7)
        listed = ", ".join(dict.fromkeys(name for key in near for name in names[key]))
        hint = f"Did you mean {listed}?" if near else "Write it as Europe/Berlin or UTC+2."
        raise NotFound(f"There is no time zone {wanted[:60]}.", hint=hint)
    return Zone(found[0], ZoneInfo(found[0]))


def _fixed(length: timedelta) -> Zone:
    if not length:
        return Zone("UTC", UTC)
    minutes = round(length.total_seconds() / 60)
    sign, (hours, rest) = "+-"[minutes < 0], divmod(abs(minutes), 60)
    return Zone(f"UTC{sign}{hours:02}:{rest:02}", timezone(length))


@cache
def _zones() -> dict[str, list[str]]:
    """Zones by their names, and by their last part where that is a place."""
    found: dict[str, list[str]] = {}
    listed = sorted(available_timezones())
    for name in listed:
        found[name.lower()] = [name]
    for name in listed:
        area, _, place = name.rpartition("/")
        if area and area not in ("Etc", "SystemV") and place.lower() not in found:
            found.setdefault(place.lower(), []).append(name)
    for place, names in found.items():
        if len(names) > 1 and len({_same(name) for name in names}) == 1:
            found[place] = names[:1]
    return found


def _zones_of_country(name: str) -> list[str]:
    """The zones of a country by its English name or code, the biggest first where it has many."""
    known = {country[1].lower(): country[0] for country in _rows("iso3166.tab")}
    code = known.get(name.lower(), name.upper())
    return [zone[2] for zone in _rows("zone.tab") if zone[0] == code]


def _rows(name: str) -> list[list[str]]:
    """A table of the database of time zones; nothing where it came without."""
    with suppress(OSError):
        text = (get_data("tzdata", f"zoneinfo/{name}") or b"").decode()
        return [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]
    return []


def _same(name: str) -> tuple[str, ...]:
    """What tells zones apart: their offsets through a year."""
    info = ZoneInfo(name)
    return tuple(str(datetime(2026, month, 1, tzinfo=info).utcoffset()) for month in range(1, 13))


def local_zone() -> Zone:
    """The zone of this machine, or its offset where the zone has no name."""
    name = time_zone_name()
    if name in available_timezones():
        return Zone(name, ZoneInfo(name))
    now = datetime.now().astimezone()
    return Zone(now.tzname() or "local", now.tzinfo or UTC)


def moment_of(text: str, zone: Zone) -> tuple[datetime, list[str]]:
    """The moment that a text means in a zone, and notes where its clock leaves that open.

    Raises:
        BadInput: it is no time.
    """
    wanted = text.strip()
    now = datetime.now(zone.info)
    if wanted.lower() in ("", "now"):
        return now, []
    if re.fullmatch(r"\d{9,11}(\.\d+)?", wanted):
        return datetime.fromtimestamp(float(wanted), zone.info), []
    try:
        when = _clock_time(wanted, now.replace(tzinfo=None, fold=0))
        if when is None and (named := _ZONE.fullmatch(wanted)) and not _DAY.fullmatch(named[2]):
            moment_of(named[1], zone)  # which says what is no time with or without a zone
            there = zone_of(named[2])
            moment, notes = moment_of(named[1], there)
            return moment.astimezone(zone.info), [*filter(None, (there.note,)), *notes]
        if when is None:
            when = datetime.fromisoformat(wanted)
        if when.tzinfo is not None:
            return when.astimezone(zone.info), []
        return _placed(when, zone)
    except (ValueError, OverflowError):
        raise BadInput(f"'{wanted[:60]}' is no time.", hint=FORMS) from None


def _clock_time(wanted: str, now: datetime) -> datetime | None:
    """A clock's time as people write it: `9pm`, `tomorrow 9am`, `Friday 15:00`, `24.12.2026 8:00`.

    Raises:
        ValueError: there is no such time.
    """
    text = _NOON.sub(lambda found: "0:00" if found[1] else "12:00", wanted)
    date, day = _DATE.match(text), _DAY.search(text)
    found = date or day
    clock = _CLOCK.fullmatch(
        f"{text[: found.start()]}{text[found.end() :]}".strip() if found else text
    )
    if clock is None or not (clock[2] or clock[4]):
        return None
    half = (clock[4] or "").lower().replace(".", "")
    when = now.replace(
        hour=_hour(int(clock[1]), half),
        minute=int(clock[2] or 0),
        second=int(clock[3] or 0),
        microsecond=0,
    )
    if date:
        year, month, of_month = (
            (date[1], date[2], date[3]) if date[1] else (date[6], date[5], date[4])
        )
        return when.replace(year=int(year), month=int(month), day=int(of_month))
    if day is None:
        return when
    name = day[2].lower()
    if name not in _WEEKDAYS:
        return when + timedelta(days=name == "tomorrow")
    when += timedelta(days=(_WEEKDAYS.index(name) - when.weekday()) % 7)
    is_over = when <= now or (bool(day[1]) and when.date() == now.date())
    return when + timedelta(days=7 * is_over)


def _hour(hour: int, half: str) -> int:
    if half and not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + 12 * (half == "pm") if half else hour


def _placed(when: datetime, zone: Zone) -> tuple[datetime, list[str]]:
    """A wall clock's time in a zone: told where it is skipped, or comes twice."""
    first = when.replace(tzinfo=zone.info, fold=0)
    second = when.replace(tzinfo=zone.info, fold=1)
    if first.utcoffset() == second.utcoffset():
        return first, []
    clock = f"{when:%H:%M} on {when:%Y-%m-%d}"
    if first.astimezone(UTC).astimezone(zone.info).replace(tzinfo=None) != when:
        real = first.astimezone(UTC).astimezone(zone.info)
        note = (
            f"{clock} does not exist there: the clocks go forward. Taken as {real:%Y-%m-%d %H:%M}."
        )
        return real, [note]
    other = f"{_spelled_offset(second)}, which is {second.astimezone(UTC):%H:%M} UTC"
    return first, [f"{clock} comes twice there: the clocks go back. The other is at {other}."]


def _spelled_offset(when: datetime) -> str:
    text = when.strftime("%z")
    return f"{text[:3]}:{text[3:5]}"


def spelled_moment(when: datetime, zone: Zone) -> str:
    """A moment in a zone in one line: date, weekday, time, offset."""
    short = when.tzname() or ""
    named = f"{zone.name}, {short}" if short.isalpha() and short != zone.name else zone.name
    return f"{when:%Y-%m-%d %H:%M:%S} {when:%A} ({named}, UTC{_spelled_offset(when)})"


def next_change(when: datetime, zone: Zone) -> datetime | None:
    """The next moment at which the clocks of a zone change, within a year."""
    start = when.astimezone(UTC)
    offset = start.astimezone(zone.info).utcoffset()
    low, step = start, timedelta(days=7)
    while low - start < AHEAD:
        high = low + step
        if high.astimezone(zone.info).utcoffset() != offset:
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) / 2
                same = middle.astimezone(zone.info).utcoffset() == offset
                low, high = (middle, high) if same else (low, middle)
            return high.replace(microsecond=0).astimezone(zone.info)
        low = high
    return None
