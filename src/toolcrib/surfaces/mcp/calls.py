"""A call that came by MCP: who sent it, in which conversation, and the person behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from toolcrib.core.context import (
    Caller,
    Form,
    Notify,
    PersonAnswer,
    Progress,
    Question,
    SiteApproval,
)
from toolcrib.core.result import Result
from toolcrib.execution.jobs import Jobs
from toolcrib.state.approvals import fingerprint
from toolcrib.surfaces.mcp.roots import HostRoots
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import visible
from toolcrib.toolbox import Toolbox

Context = ServerRequestContext[Any, Any]
CLEAN_UP_SECONDS = 5.0


class HostCalls:
    """Sends what hosts ask for through the pipeline of a toolbox: the one way to its tools."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox
        self.roots = HostRoots(toolbox)

    async def send(
        self,
        ctx: Context,
        params: types.InputResponseRequestParams,
        name: str,
        arguments: Mapping[str, Any] | None,
    ) -> Result | types.InputRequiredResult:
        """The result of a call, or what its person has to answer first.

        Args:
            ctx: the request.
            params: its parameters, with the answers of a person.
            name: the tool.
            arguments: its arguments, as they came.
        """
        await self.roots.adopt(ctx)
        toolbox = self.toolbox
        within = toolbox.config.limits.answer_within
        person = PersonBehind(ctx, params, within * 0.9)
        # Behind a balancer the answer may reach another server than the one that asked.
        stateless = ctx.request is not None and toolbox.config.http.stateless
        caller = Caller(
            surface="mcp",
            name=_client_name(ctx),
            ask=person.ask if person.reachable and not stateless else None,
            notify=_notifier(ctx),
            answer_within=within,
            asks_midway=person.waits,
            fill=person.fill if person.reachable and not stateless else None,
            refused=person.refused,
        )
        result = await _uncancelled_by_halves(
            toolbox.use(Jobs),
            toolbox.call(name, arguments, session=session_of(ctx), caller=caller),
        )
        return person.open_question or result

    async def look_up(self, ctx: Context, name: str, arguments: Mapping[str, Any]) -> Result:
        """The result of a call that nobody is asked about: for what a host shows as one types."""
        await self.roots.adopt(ctx)
        caller = Caller(surface="mcp", name=_client_name(ctx), unattended=True)
        return await self.toolbox.call(name, arguments, session=session_of(ctx), caller=caller)


# Asking the person behind an MCP client, in either way that the protocol has.
#
# Handshake revisions: the server sends `elicitation/create` in the middle of the call.
# 2026-07-28: the call ends with "input required"; the client asks, and sends the call again
# with the answer.

QUESTION = "approval"
MAX_REASON_CHARS = 4_000
FORM = "form"
ALLOWED = ":allowed"
"""Ends the state of a form whose call a person has let through."""
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["allow"],
}


class PersonBehind:
    """The person behind one request. `open_question` is set when the answer must wait."""

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.InputResponseRequestParams,
        patience: float,
    ) -> None:
        self._ctx = ctx
        self._params = params
        self._patience = patience
        self._modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        self._allowed = False
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

    @property
    def refused(self) -> str:
        """The question that came back with a no; "" where none did. The state is sealed."""
        state = self._params.request_state or ""
        given = (self._params.input_responses or {}).get(QUESTION)
        return state if given is not None and not _allows(given) else ""

    async def ask(self, question: Question) -> PersonAnswer:
        """True, False, or None where no answer came in time or can come only later."""
        reason = one_line(visible(question.reason))
        if len(reason) > MAX_REASON_CHARS:
            reason = f"{reason[:MAX_REASON_CHARS]} [NOT ALL IS SHOWN]"
        message = f"Allow {question.tool}? Asked because: {reason}.\n{question.summary}"
        return (
            self._answered(question, message)
            if self._modern
            else await self._elicit(question, message)
        )

    def _answered(self, question: Question, message: str) -> PersonAnswer:
        state = self._params.request_state or ""
        if state.startswith(f"{FORM}:") and state.endswith(ALLOWED):
            self._allowed = True  # in the round before; this one brings the form
            return True
        given = (self._params.input_responses or {}).get(QUESTION)
        # The state is sealed and bound to these very arguments, so an answer counts only
        # for the question that was asked about them.
        if given is not None and state == question.id:
            answer = answer_in(given, question)
            self._allowed = bool(answer)
            return answer
        form = types.ElicitRequestFormParams(message=message, requested_schema=form_for(question))
        self.open_question = types.InputRequiredResult(
            input_requests={QUESTION: types.ElicitRequest(params=form)},
            request_state=question.id,
        )
        return None

    async def fill(self, form: Form) -> Mapping[str, Any] | None:
        """What the person fills into a form; None where they do not, or not in time."""
        schema = dict(form.schema)
        if self._modern:
            answer = self._filled(form.message, schema)
        else:
            answer = await self._answer_to(form.message, schema)
        if not isinstance(answer, types.ElicitResult) or answer.action != "accept":
            return None
        return answer.content or {}

    def _filled(self, message: str, schema: dict[str, Any]) -> Any:
        """The answer that came with the call, or None and the form as the open question."""
        mark = f"{FORM}:{fingerprint(message, schema)}{ALLOWED if self._allowed else ''}"
        given = (self._params.input_responses or {}).get(FORM)
        if given is not None and self._params.request_state == mark:
            return given
        form = types.ElicitRequestFormParams(message=message, requested_schema=schema)
        self.open_question = types.InputRequiredResult(
            input_requests={FORM: types.ElicitRequest(params=form)}, request_state=mark
        )
        return None

    async def _elicit(self, question: Question, message: str) -> PersonAnswer:
        answer = await self._answer_to(message, form_for(question))
        return None if answer is None else answer_in(answer, question)

    async def _answer_to(self, message: str, schema: dict[str, Any]) -> types.ElicitResult | None:
        try:
            async with asyncio.timeout(self._patience):
                return await self._ctx.session.elicit_form(
                    message, schema, related_request_id=self._ctx.request_id
                )
        except (TimeoutError, MCPError, NoBackChannelError, ValidationError):
            return None  # an answer that is none allows nothing


def form_for(question: Question) -> dict[str, Any]:
    """The form of a question: whether the call is allowed, and its site where it has one."""
    if not question.site:
        return ANSWER
    site = {
        "type": "boolean",
        "title": f"Also every other address of {question.site} in this conversation",
        "default": False,
    }
    return {**ANSWER, "properties": {**ANSWER["properties"], "site": site}}


def answer_in(answer: Any, question: Question) -> PersonAnswer:
    """Yes, no, or yes for the site. What is no form that was accepted is no."""
    if not _allows(answer):
        return False
    return SiteApproval() if question.site and answer.content.get("site") is True else True


def _allows(answer: Any) -> bool:
    is_accepted = isinstance(answer, types.ElicitResult) and answer.action == "accept"
    return is_accepted and (answer.content or {}).get("allow") is True


def session_of(ctx: Context) -> str | None:
    """The conversation of a request; None is the one that this process itself is.

    Over HTTP a client may name it in a header of ours, and an older one brings a session id;
    otherwise the bearer token stands for the conversation, and without one all local clients
    share the process's.
    """
    request = ctx.request
    if request is None:
        return None
    own: str | None = request.scope.get("toolcrib.session")
    # The newer revision has no session id: one in its headers is anybody's word. Nothing else
    # in it tells clients apart: a connection may carry several of them, and two may have one name.
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    if modern or request.scope.get("toolcrib.named"):
        return own
    found = request.headers.get("mcp-session-id")
    return f"mcp:{found}" if found else own


def _client_name(ctx: Context) -> str:
    client = ctx.session.client_params
    return client.client_info.name[:80] if client and client.client_info else ""


def _notifier(ctx: Context) -> Notify:
    """Progress over MCP: the number must rise, so steps are counted where none is given."""
    steps = 0.0

    async def notify(progress: Progress) -> None:
        nonlocal steps
        steps = max(steps + 1, progress.done or 0)
        await ctx.session.report_progress(steps, progress.total, progress.message)

    return notify


async def _uncancelled_by_halves(jobs: Jobs, work: Coroutine[Any, Any, Result]) -> Result:
    """Run a call in a task of its own, so that cancellation reaches it once and it cleans up.

    The SDK's cancel scopes deliver cancellation again at every await, which would cut
    short the clean-up of a call that runs inside them. From the return of this on, nothing
    is cancelled any more; a call that had just ended before loses its result.
    """
    with jobs.noted() as begun:
        task = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({task}, timeout=CLEAN_UP_SECONDS)
                await jobs.withdraw(begun)
            raise
