"""The end of a step: what the conversation knows then, and that nobody leaves before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import TypeVar

from toolcrib.core.session import Session
from toolcrib.files.changes.work import Piece
from toolcrib.system.threads import Checkpoint

T = TypeVar("T")


def remember(session: Session, pieces: Sequence[Piece]) -> None:
    """Tell a conversation how the files look that it changed."""
    for piece in pieces:
        path = piece.path.root.real_path(piece.path.parts)
        if piece.do == "put" and piece.after is not None:
            session.remember_read(path, piece.after.mark)
        elif piece.do in ("remove", "rename", "plant"):
            for known in [k for k in session.reads if k == path or k.startswith(f"{path}/")]:
                mark = session.reads.pop(known)
                session.changed = True
                if piece.do == "rename" and piece.target is not None:
                    there = piece.target.root.real_path(piece.target.parts)
                    session.remember_read(there + known[len(path) :], mark)


async def to_the_end(work: Awaitable[T], check: Checkpoint) -> T:
    """Wait for work that must not be left in the middle: told to stop, it takes itself back."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        check.stop()
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise
