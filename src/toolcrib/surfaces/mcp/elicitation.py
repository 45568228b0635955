"""Asking the person behind an MCP client, in either way that the protocol has.

Handshake revisions: the server sends `elicitation/create` in the middle of the call.
2026-07-28: the call ends with "input required"; the client asks, and sends the call again
with the answer.
"""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.core.context import Question

QUESTION = "approval"
ANSWER = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["allow"],
}


class PersonBehind:
    """The person behind one request. `open_question` is set when the answer must wait."""

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        patience: float,
    ) -> None:
        self._ctx = ctx
        self._params = params
        self._patience = patience
        self._modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        self.open_question: types.InputRequiredResult | None = None

    @property
    def reachable(self) -> bool:
        """Whether the client said that it can show a form to a person."""
        wanted = types.ClientCapabilities(elicitation=types.ElicitationCapability())
        return self._ctx.session.check_client_capability(wanted) and (
            self._modern or self._ctx.session.can_send_request
        )

    @property
    def waits(self) -> bool:
        """Whether the call can wait for an answer; else it is sent again with it."""
        return not self._modern

    async def ask(self, question: Question) -> bool | None:
        """True, False, or None where no answer came in time or can come only later."""
        message = f"Allow {question.tool}? {question.summary}\nAsked because: {question.reason}."
        return self._answered(question, message) if self._modern else await self._elicit(message)

    def _answered(self, question: Question, message: str) -> bool | None:
        given = (self._params.input_responses or {}).get(QUESTION)
        # The state is sealed and bound to these very arguments, so an answer counts only
        # for the question that was asked about them.
        if given is not None and self._params.request_state == question.id:
            return _is_yes(given)
        form = types.ElicitRequestFormParams(message=message, requested_schema=ANSWER)
        self.open_question = types.InputRequiredResult(
            input_requests={QUESTION: types.ElicitRequest(params=form)},
            request_state=question.id,
        )
        return None

    async def _elicit(self, message: str) -> bool | None:
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._ctx.session.elicit_form(
                    message, ANSWER, related_request_id=self._ctx.request_id
                )
        except (TimeoutError, MCPError, NoBackChannelError):
            return None
        return _is_yes(answer)


def _is_yes(answer: Any) -> bool:
    return (
        isinstance(answer, types.ElicitResult)
        and answer.action == "accept"
        and (answer.content or {}).get("allow") is True
    )
