"""The stages that the prompts of a chat go through: those of the proxy, with a person near."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolcrib.chatflow.flow import run_stages, select_stages, stage_name
from toolcrib.chatflow.prompt import Prompt, PromptMessage, StageContext, text_of
from toolcrib.chatflow.token_count import learn_overflow, learn_usage, silent_cut
from toolcrib.core.context import Services
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import ChatRequest, ModelClient
from toolcrib.net.models.connection import Connection
from toolcrib.net.models.endpoint import Endpoint

SUMMARY_TEMPERATURE = 0.1
READING_ON = "read_more"
MIN_CHARS = 4_000
"""What is shorter fits into any window."""
FindWindow = Callable[[], Awaitable[int]]
Tell = Callable[[str], Awaitable[None]]
"""Shows the person a line or a few."""


class ChatStages:
    """Sends each request of a chat through its stages.

    Args:
        services: settings and shared services.
        session: of the chat's calls, so that `read_more` finds what was taken out.
        names: stages that are on besides the guard; `stages.use` adds to them.

    Raises:
        BadInput: there is no such stage.
    """

    def __init__(self, services: Services, session: str, names: Sequence[str] = ()) -> None:
        self._services = services
        self._session = session
        on = ["guard"] if services.config.guard.enabled else []
        self._stages = select_stages([*on, *names], services.config)
        self._prompt: Prompt | None = None
        self._context: StageContext | None = None
        self._model = ""
        self._reported_cut = False
        self._find_window: FindWindow | None = None

    @property
    def names(self) -> list[str]:
        """Those that are on, in their order."""
        return [stage_name(stage) for stage in self._stages]

    def begin_turn(self, endpoint: Endpoint, find_window: FindWindow, tell: Tell) -> None:
        """Say who is asked from now on.

        Args:
            endpoint: the model.
            find_window: gives the tokens that it can read; 0 where its server does not tell.
            tell: shows the person what was done.
        """
        self._model, self._find_window, self._prompt = endpoint.model, find_window, None
        complete = ChatCompletion(self._services, endpoint)
        self._context = StageContext(self._services, complete=complete, status=tell)

    async def prepare(
        self, messages: list[PromptMessage], specs: list[dict[str, Any]]
    ) -> list[PromptMessage]:
        """What goes to the model in place of all messages of the chat."""
        context = self._context
        size = sum(len(text_of(message)) for message in messages)
        if context is None or (self.names in ([], ["guard"]) and size < MIN_CHARS):
            return messages
        window = await self._find_window() if self._find_window else 0
        names = {spec["function"]["name"] for spec in specs}
        prompt = Prompt(
            list(messages),
            tools=list(specs),
            model=self._model,
            window=window or None,
            answer_tokens=self._services.config.agent.answer_tokens,
            has_tool_choice=READING_ON not in names,
            session=self._session,
        )
        self._prompt = await run_stages(prompt, context, self._stages)
        report = prompt.report if self._services.config.guard.report != "off" else ""
        for text in (*prompt.notices, _brief(report)):
            if text:
                await context.show(text)
        return prompt.messages

    async def learn(self, tokens_in: int) -> None:
        """Take in how many tokens the server counted for the last request."""
        if self._prompt is None or self._context is None:
            return
        cut = silent_cut(self._prompt, tokens_in)
        if cut and not self._reported_cut:
            self._reported_cut = True
            await self._context.show(f"{self._model}: {cut}")
        elif not cut:
            await learn_usage(self._prompt, self._context, tokens_in)

    async def learn_refusal(self, message: str) -> bool:
        """Take in that the last request was refused for its length; whether that says anything."""
        if self._prompt is None or self._context is None:
            return False
        return await learn_overflow(self._prompt, self._context, message) is not None


class ChatCompletion:
    """Asks the model of a chat for a text.

    Args:
        services: settings and the guard of the network.
        endpoint: its server.
    """

    def __init__(self, services: Services, endpoint: Endpoint) -> None:
        self._services = services
        self._endpoint = endpoint

    async def __call__(
        self, messages: Sequence[PromptMessage], *, model: str, max_tokens: int
    ) -> str:
        """What it answers.

        Raises:
            ToolError: no answer can be had.
        """
        config = self._services.config
        connection = Connection(self._endpoint.base_url, config, self._services.use(Egress))
        client = ModelClient(connection, stall=config.agent.stall_seconds)
        request = ChatRequest(
            model or self._endpoint.model,
            list(messages),
            temperature=SUMMARY_TEMPERATURE,
            max_tokens=max_tokens,
        )
        try:
            return (await client.answer(request)).content
        finally:
            await client.close()


def _brief(report: str) -> str:
    """The lines of a report without the summary itself: that is for the model."""
    return "\n".join(
        line.replace("**", "")
        for line in report.splitlines()
        if line.startswith(("**ContextGuard**", "[ContextGuard]"))
    )
