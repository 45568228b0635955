"""The stage `clock`: the time, at the end of a message."""

from __future__ import annotations

from datetime import datetime

from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext


async def clock(prompt: Prompt, context: StageContext) -> None:
    """Add the local time to a new message of the user."""
    if not prompt.is_new_turn:
        prompt.note("clock", "no new message")
        return
    settings = context.config.stages
    language = settings.language or language_of(prompt.question)
    now = datetime.now().astimezone()
    text = time_text(now, settings.clock, language)
    prompt.add("clock", text)
    prompt.note("clock", text)


def time_text(now: datetime, style: str, language: str) -> str:
    """A time in one of the styles."""
    if style == "iso":
        return f"[{now.isoformat(timespec='minutes')}]"
    if style == "standard":
        return worded("time", language, time=f"{now:%d.%m.%Y, %H:%M}")
    day = worded("days", language).split()[now.weekday()]
    return worded("today", language, day=f"{day}, {now:%d.%m.%Y}", time=f"{now:%H:%M}")
