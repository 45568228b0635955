"""Which jobs a call has begun: they are of no use to anybody if its result gets lost."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Begun:
    """The jobs of one call. `awaited` until its result is there."""

    ids: list[str] = field(default_factory=list)
    awaited: bool = True


BEGUN: ContextVar[Begun | None] = ContextVar("begun", default=None)
"""That of the call in hand. Tasks that a call starts have it too."""
