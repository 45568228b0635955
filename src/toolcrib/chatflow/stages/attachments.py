"""The stage `attachments`: files that come with a message, kept as text for the conversation."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Attachment, Prompt, StageContext
from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.documents.documents import Documents
from toolcrib.documents.file_entries import read_text
from toolcrib.memory.memory_records import storable
from toolcrib.state.results import Results
from toolcrib.state.store import Area, Schema, Store
from toolcrib.text.cleaner import one_line

SCHEMA = Schema(
    "chat_attachments",
    (
        """
        CREATE TABLE chat_attachment (
            seq INTEGER PRIMARY KEY, conversation TEXT NOT NULL, name TEXT NOT NULL,
            body TEXT NOT NULL, added REAL NOT NULL,
            UNIQUE (conversation, name)
        );
        """,
    ),
)
DAY_SECONDS = 86_400.0
MAX_BYTES = 64_000_000
MAX_NAME_CHARS = 120
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".heic", ".tif", ".tiff", ".svg")


@dataclass(frozen=True, slots=True)
class AttachedText:
    """The text of a file that was attached."""

    name: str
    text: str


class AttachedFiles:
    """A service: the texts of attached files, by conversation and name.

    Args:
        rows: where they are kept.
        keep_days: for how long.
    """

    def __init__(self, rows: Area, keep_days: float) -> None:
        self._rows = rows
        self._keep_seconds = keep_days * DAY_SECONDS

    @classmethod
    def open(cls, services: Services) -> Self:
        """Those in the toolbox's store."""
        days = services.config.stages.attachment_days
        return cls(services.use(Store).area(SCHEMA), days)

    async def put(self, conversation: str, files: Sequence[AttachedText]) -> None:
        """Keep files; one of the same name takes the place of the one before.

        Raises:
            StorageFailure: they cannot be kept.
        """
        now = time.time()

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM chat_attachment WHERE added < ?", (now - self._keep_seconds,)
            )
            connection.executemany(
                "REPLACE INTO chat_attachment (conversation, name, body, added) VALUES (?,?,?,?)",
                [(conversation, file.name, storable(file.text), now) for file in files],
            )
            connection.execute(
                "DELETE FROM chat_attachment WHERE seq IN (SELECT seq FROM (SELECT seq, "
                "sum(length(body)) OVER (ORDER BY seq DESC) AS total FROM chat_attachment) "
                "WHERE total > ?)",
                (MAX_BYTES,),
            )

        await self._rows.write(write)

    async def listed(self, conversation: str) -> list[AttachedText]:
        """The files of a conversation, the first attached first."""
        rows = await self._rows.fetch(
            "SELECT name, body FROM chat_attachment WHERE conversation = ? ORDER BY seq",
            (conversation,),
        )
        return [AttachedText(name, text) for name, text in rows]


async def attachments(prompt: Prompt, context: StageContext) -> None:
    """Keep the texts of attached files, and name them with the handles that read them."""
    if not prompt.attachments or not prompt.is_new_turn:
        prompt.note("attachments", "none")
        return
    language = context.config.stages.language or language_of(prompt.question)
    lines, files = [], []
    for attachment in prompt.attachments:
        name = one_line(attachment.name, MAX_NAME_CHARS) or "file"
        if name.lower().endswith(IMAGES):
            continue  # the model sees pictures itself
        await context.show(worded("reading", language, name=name))
        try:
            text = await _text(attachment, context)
        except ToolError as error:
            lines.append(f"- {name}: not read, {one_line(error.message, 200)}")
            continue
        files.append(AttachedText(name, text))
        handle = await context.use(Results).keep(text, prompt.conversation, name)
        lines.append(f'- {name}: {len(text):,} characters; read_more(handle="{handle}") reads it')
    if files:
        await context.use(AttachedFiles).put(prompt.conversation, files)
    if lines:
        prompt.add("attachments", "\n".join([worded("attached", language), *lines, "]"]))
    prompt.note("attachments", f"{len(files)} of {len(prompt.attachments)} read")


async def _text(attachment: Attachment, context: StageContext) -> str:
    found = await read_text(attachment.content, attachment.name, context.use(Documents))
    return found.text
