"""The stage `paths`: folders that a message names, so that the model asks before it goes there."""

from __future__ import annotations

import re

from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.text.cleaner import one_line

MAX_PATHS = 5
MAX_CHARS = 200
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_PATH = re.compile(
    r"[\"'`](?P<quoted>(?:[A-Za-z]:[\\/]|\\\\|~?/|\.\.?[\\/])[^\"'`\n]{1,300})[\"'`]"
    r"|(?<![\w/\\.:~-])(?P<plain>(?:[A-Za-z]:[\\/]|\\\\[\w.-]+\\|~/|\.\.?[\\/]|/)"
    r"(?=[\w.~-])[^\s\"'`<>|,;:!?()\[\]{}]*)"
)


async def paths(prompt: Prompt, context: StageContext) -> None:
    """Name the paths of a new message; nothing is changed."""
    found = paths_in(prompt.question) if prompt.is_new_turn else []
    if not found:
        prompt.note("paths", "none named")
        return
    language = context.config.stages.language or language_of(prompt.question)
    prompt.add("paths", worded("paths", language, paths=", ".join(found)))
    prompt.note("paths", f"asks about {', '.join(found)}")


def paths_in(text: str) -> list[str]:
    """Paths of Windows and Unix, absolute or with a dot at the start, in their order."""
    without = _URL.sub(" ", text[:20_000])
    found = []
    for match in _PATH.finditer(without):
        path = (match["quoted"] or match["plain"]).rstrip(".,")
        if len(path.strip("./\\~")) > 1:
            found.append(one_line(path, MAX_CHARS))
    return list(dict.fromkeys(found))[:MAX_PATHS]
