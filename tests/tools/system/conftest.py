"""A toolbox over a workspace of its own, in which somebody says yes to what is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.context import Caller, Question
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox


@dataclass
class Machine:
    """A toolbox and what was asked; calls are of one conversation.

    Attributes:
        box: the toolbox.
        folder: its workspace.
        questions: what a person was asked, and said yes to.
        says: what they say.
    """

    box: Toolbox
    folder: Path
    questions: list[str] = field(default_factory=list)
    says: bool = True

    @property
    def caller(self) -> Caller:
        """Who asks that person."""

        async def ask(question: Question) -> bool:
            self.questions.append(f"{question.reason}: {question.summary}")
            return self.says

        return Caller("test", ask=ask)

    async def call(self, name: str, /, **arguments: Any) -> Result:
        """A call, whatever comes of it."""
        return await self.box.call(name, arguments, session="one", caller=self.caller)

    async def __call__(self, name: str, /, **arguments: Any) -> Result:
        """A call that works."""
        result = await self.call(name, **arguments)
        assert result.error is None, result.render()
        return result

    async def text(self, name: str, /, **arguments: Any) -> str:
        """What a call that works says."""
        return (await self(name, **arguments)).text

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """The code and the words of a call that does not work."""
        result = await self.call(name, **arguments)
        assert result.error is not None, result.render()
        assert result.error.code != "internal", result.render()
        return result.error.render()


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def machine(ws: Path) -> AsyncIterator[Machine]:
    async with Toolbox(workspace=ws) as opened:
        yield Machine(opened, ws)
