"""Who watches a run: told of each step, and able to send it a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.agents.call_requests import Asked
from toolcrib.agents.tool_executor import Performed
from toolcrib.net.models.answer import Answer
from toolcrib.net.models.client import Request


class Watch:
    """Watches nothing; others override what they want to hear of."""

    async def mail(self) -> list[str]:
        """Words for the model that came since the last step."""
        return []

    async def step(self, number: int, most: int) -> None:
        """The model is about to be asked for its answer of this number."""

    async def asking(self, request: Request) -> None:
        """A request goes out."""

    async def said(self, content: str, reasoning: str) -> None:
        """A piece of an answer came."""

    async def again(self, why: str) -> None:
        """The answer that was coming is asked for anew; its pieces come from the start."""

    async def answered(self, answer: Answer, asked: Asked) -> None:
        """A whole answer came, and was understood like this."""

    async def calling(self, name: str, arguments: Mapping[str, Any]) -> None:
        """A call is about to be made."""

    async def called(self, name: str, performed: Performed) -> None:
        """A call gave this."""

    async def failed(self, message: str) -> None:
        """The model could not be asked."""
