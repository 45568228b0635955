"""The service that refuses sources which a parser does not get done with."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Self

from toolcrib.code.trial_parse import FUNCTION, OWN
from toolcrib.core.errors import MissingExtra, TimedOut, TooLarge, UnsupportedContent
from toolcrib.execution.worker.task import Task
from toolcrib.execution.worker.workers import Workers

if TYPE_CHECKING:
    from toolcrib.core.services import Services

FREE = 4_000
"""Characters that no known text makes a parser work on for long."""
MOST_SECONDS = 1.5
"""Of the processor, for a text that is parsed in this process."""
REMEMBERED = 20_000
HINT = "search_files finds text in it, and read_file shows it; or leave it out by .gitignore."
TASK = Task(FUNCTION, "Understanding the source", seconds=6.0, megabytes=2_000, hint=HINT)
Trial = Callable[[str, str, str], None]
"""Takes a text, its language and the name to show; raises when it must not be parsed here."""


class Trials:
    """Remembers which texts were parsed well; each is tried once."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._known: OrderedDict[bytes, bool] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """No child before the first text."""
        return cls(services.use(Workers))

    def by_thread(self, deadline: float | None) -> Trial:
        """A trial for the threads of a call, whose event loop must be the running one."""
        loop = asyncio.get_running_loop()

        def trial(text: str, language: str, shown: str) -> None:
            if len(text) <= FREE:
                return
            data = text.encode("utf-8", "replace")
            key = blake2b(data, digest_size=16, person=language.encode()).digest()
            if key in self._known:
                ok = self._known[key]
            else:
                if language != OWN:
                    _need_parser()
                asked = self._ask(language, data, deadline)
                ok = self._known[key] = asyncio.run_coroutine_threadsafe(asked, loop).result()
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            if not ok:
                raise TooLarge(f"{shown} takes too long to understand.", hint=HINT)

        return trial

    async def _ask(self, language: str, data: bytes, deadline: float | None) -> bool:
        loop = asyncio.get_running_loop()
        try:
            answer, _ = await self._workers.run(TASK, {"language": language}, data, deadline)
        except TimedOut:
            if deadline is not None and loop.time() >= deadline:
                raise
            return False
        except (TooLarge, UnsupportedContent):  # out of memory, or a crash
            return False
        return float(answer["seconds"]) <= MOST_SECONDS


def _need_parser() -> None:
    from importlib.util import find_spec

    if find_spec("ast_grep_py") is None:
        raise MissingExtra("code", "Understanding the structure of code")
