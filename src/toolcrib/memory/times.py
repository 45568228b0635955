"""Times as a model reads them: how long something took, and from which day it is."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta

from toolcrib.core.errors import BadInput

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


def duration(seconds: float) -> str:
    """A length of time in its two largest units at most; a clock that went back counts as 0."""
    seconds = max(seconds, 0.0)
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < DAY:
        hours, minutes = divmod(round(seconds / MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(round(seconds / HOUR), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def day(when: float) -> str:
    """The local day of a time, as `2026-11-23`."""
    return time.strftime("%Y-%m-%d", time.localtime(when))


_LENGTH = re.compile(r"(\d{1,5})\s*(h|hours?|d|days?|w|weeks?|m|months?|y|years?)?", re.IGNORECASE)
_UNITS = {"h": HOUR, "d": DAY, "w": 7 * DAY, "m": 30 * DAY, "y": 365 * DAY}


def end_of(text: str, now: float) -> float | None:
    """When something ends that is said to end so: `2027-01-31`, `30d`, `12 hours`; None for "".

    Raises:
        BadInput: it is no date and no length of time, or lies in the past.
    """
    text = text.strip()
    if not text or text.lower() in ("never", "none"):
        return None
    length = _LENGTH.fullmatch(text)
    if length is not None:
        unit = (length[2] or "d")[0].lower()
        return now + int(length[1]) * _UNITS[unit]
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"'{text[:40]}' is no date.", hint="Write 2027-01-31, 30d or 12h.") from None
    if "T" not in text and " " not in text:
        when += timedelta(days=1)  # to the end of that day
    end = when.timestamp()
    if end <= now:
        raise BadInput(f"{text[:40]} is in the past.", hint="Leave it out to keep the memory.")
    return end
