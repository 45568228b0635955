"""The stages that a request's conversation goes through before it goes to the server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.chatflow.flow import run_stages, select_stages, stage_name
from toolcrib.chatflow.prompt import Prompt, PromptMessage, StageContext
from toolcrib.chatflow.token_count import learn_overflow, learn_usage, silent_cut
from toolcrib.core.errors import Unavailable
from toolcrib.net.models.client import error_message, is_overflow
from toolcrib.net.models.upstream import RawHeaders, Upstream
from toolcrib.state.redaction import redact_text
from toolcrib.surfaces.proxy.prompt_forms import PromptForm, prompt_of
from toolcrib.surfaces.proxy.windows import Windows
from toolcrib.toolbox import Toolbox

MIN_BYTES = 4_000
"""A shorter request fits into any window."""
MAX_ANSWER_BYTES = 4_000_000
USAGE = re.compile(rb'"(?:prompt_tokens|input_tokens|prompt_eval_count)": ?(\d+)')
CACHED = re.compile(rb'"cache_(?:read|creation)_input_tokens": ?(\d+)')


@dataclass(slots=True)
class StagedRequest:
    """A request after its stages. `body` is what goes to the server."""

    body: dict[str, Any]
    form: PromptForm
    prompt: Prompt
    context: StageContext
    is_changed: bool


class PromptStages:
    """Runs the stages that are on.

    Args:
        toolbox: settings and services.

    Raises:
        BadInput: a stage is named that there is not.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._config = toolbox.config
        self._windows = Windows()
        on = ["guard"] if self._config.guard.enabled else []
        self._stages = select_stages([*on, *self._config.proxy.stages], self._config)

    @property
    def names(self) -> list[str]:
        """Those that are on, in their order."""
        return [stage_name(stage) for stage in self._stages]

    def may_act(self, body: bytes) -> bool:
        """Whether any stage may have something to do with a request."""
        if self.names not in ([], ["guard"]):
            return True
        return bool(self._stages) and len(body) >= MIN_BYTES

    async def run(
        self,
        form: PromptForm,
        body: dict[str, Any],
        *,
        messages: Sequence[PromptMessage] | None,
        owner: str,
        has_loop: bool,
        upstream: Upstream,
        headers: RawHeaders,
    ) -> StagedRequest:
        """Send a request through the stages.

        Args:
            form: its conversation.
            body: it.
            messages: in place of its own, with what our tools did; None where that is nothing.
            owner: whose it is.
            has_loop: whether the model can call our tools.
            upstream: the server that it goes to.
            headers: those that it goes with.
        """
        prompt = prompt_of(body, form, owner)
        if messages is not None:
            prompt.messages = list(messages)
        prompt.has_tool_choice = prompt.has_tool_choice or not has_loop
        if "guard" in self.names:
            prompt.window = await self._windows.of(upstream, prompt.model, headers)
        complete = ModelCompletion(upstream, headers, prompt.model)
        context = StageContext(self._toolbox.services, complete=complete)
        await run_stages(prompt, context, self._stages)
        self.trace(prompt)
        changed = prompt.changed or messages is not None
        new = form.body_with(prompt.messages) if changed else body
        return StagedRequest(new, form, prompt, context, changed)

    async def again(self, staged: StagedRequest, message: str) -> bool:
        """After a refusal for its length: learn the window; whether the request is another now."""
        if not is_overflow(error_message(message)):
            return False
        if await learn_overflow(staged.prompt, staged.context, message) is None:
            return False
        old = staged.prompt
        # Tools of ours are offered from the next request on; here passages stand in their place.
        fresh = Prompt(
            list(old.originals or old.messages),
            tools=old.tools,
            model=old.model,
            owner=old.owner,
            answer_tokens=old.answer_tokens,
            has_tool_choice=True,
        )
        await run_stages(fresh, staged.context, self._stages)
        self.trace(fresh)
        if fresh.messages == old.messages:
            return False
        staged.prompt = fresh
        staged.body = staged.form.body_with(fresh.messages)
        staged.is_changed = True
        return True

    def lead(self, prompt: Prompt) -> str:
        """What the person is told before the answer."""
        report = prompt.report if self._config.guard.report == "answer" else ""
        parts = [*prompt.notices, report]
        text = "\n\n".join(part for part in parts if part)
        return f"{text}\n\n" if text else ""

    async def learn(self, staged: StagedRequest, tokens_in: int) -> None:
        """Take in how many tokens the server counted."""
        prompt = staged.prompt
        line = silent_cut(prompt, tokens_in)
        if line:
            prompt.note("server", line)
            self.tell(f"{prompt.model}: {line}")
            return
        await learn_usage(prompt, staged.context, tokens_in)

    def note_refusal(self, prompt: Prompt, message: str) -> None:
        """Show that the request goes as it came, since the server refuses what was made of it."""
        if self._config.proxy.trace:
            reason = " ".join(error_message(message).split())[:200]
            self.tell(f"{prompt.model} {prompt.conversation[:13]} sent as it came: {reason}")

    def trace(self, prompt: Prompt) -> None:
        """Show what was done, where that is wanted."""
        if not self._config.proxy.trace:
            return
        for done in prompt.trace:
            self.tell(f"{prompt.model} {prompt.conversation[:13]} {done.stage}: {done.line}")

    @staticmethod
    def tell(line: str) -> None:
        """A line on stderr, without secrets."""
        print(f"toolcrib: {redact_text(line)}", file=sys.stderr, flush=True)  # noqa: T201


class ModelCompletion:
    """Asks the server of a request for a text.

    Args:
        upstream: the server.
        headers: those of the request.
        model: its model, where none is named.
    """

    def __init__(self, upstream: Upstream, headers: RawHeaders, model: str) -> None:
        self._upstream = upstream
        self._model = model
        dropped = (b"content-length", b"content-type", b"accept-encoding", b"transfer-encoding")
        self._headers = [pair for pair in headers if pair[0].lower() not in dropped]

    async def __call__(
        self, messages: Sequence[PromptMessage], *, model: str, max_tokens: int
    ) -> str:
        """What it answers.

        Raises:
            Network: no answer can be had.
        """
        body = json.dumps(
            {
                "model": model or self._model,
                "messages": list(messages),
                "max_tokens": max_tokens,
                "stream": False,
            }
        ).encode()
        lines = [
            *self._headers,
            (b"content-type", b"application/json"),
            (b"accept-encoding", b"identity"),
            (b"content-length", str(len(body)).encode()),
        ]
        path = b"/v1/chat/completions"
        parts, size = [], 0
        async with self._upstream.request("POST", path, lines, body) as reply:
            async for chunk in reply.chunks:
                parts.append(chunk)
                size += len(chunk)
                if size > MAX_ANSWER_BYTES:
                    break
        try:
            value = json.loads(b"".join(parts))
            content = value["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            raise Unavailable(
                f"The model server gave no answer (HTTP {reply.status}).",
                hint="Look at the log of the model server.",
            ) from None
        return content if isinstance(content, str) else ""


class UsageReader:
    """Finds in an answer, as it goes by, how many tokens the server read."""

    def __init__(self) -> None:
        self._tail = b""
        self.tokens = 0

    def add(self, chunk: bytes) -> None:
        """A further piece."""
        if b"_tokens" in chunk or b"_count" in chunk or self._tail:
            window = self._tail + chunk
            found = USAGE.findall(window)
            if found:
                cached = sum(int(number) for number in CACHED.findall(window))
                self.tokens = max(int(found[-1]) + cached, self.tokens)
        self._tail = chunk[-64:]
