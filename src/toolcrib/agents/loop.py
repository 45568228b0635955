"""The loop: ask the model, run what it calls, tell it what came, until there is an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.agents import prompts as wording
from toolcrib.agents.budget import Budget, Circles, call_key
from toolcrib.agents.call_requests import CUT, Asked, Wanted, understand
from toolcrib.agents.conversation import Conversation, Message, weigh
from toolcrib.agents.detachment import leave
from toolcrib.agents.markers import read_marks
from toolcrib.agents.observer import Watch
from toolcrib.agents.outcome import Outcome, Reason
from toolcrib.agents.tool_executor import Hands, Performed
from toolcrib.core.errors import ToolError
from toolcrib.net.models.answer import Answer
from toolcrib.net.models.client import ModelClient, Request
from toolcrib.text.tokens import estimate

FOUND_CHARS = 600
Fallback = Callable[[], Sequence[tuple[str, Mapping[str, Any]]]]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a loop behaves.

    `nudges`: remind a model that refuses, announces or says nothing; a chat with a person
    needs none. `text_head` gives the head of the conversation for a server that takes no
    tools, with them in words. `fallback` gives calls to make for a model that makes none; the
    first that works is enough.
    """

    model: str
    nudges: bool = True
    native: bool = True
    may_change: bool = True
    temperature: float | None = None
    answer_tokens: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    text_head: Callable[[str], Sequence[Message]] | None = None
    fallback: Fallback | None = None


@dataclass(slots=True)
class Loop:
    """One run, from the task to its outcome. `run` never raises for what goes wrong in it.

    Args:
        client: asks the model.
        conversation: begins with the task; the run adds to it.
        hands: makes the calls.
        budget: what it may use.
        circles: sees repetition.
        manner: how it behaves.
        watch: is told what happens, and brings what others say.
    """

    client: ModelClient
    conversation: Conversation
    hands: Hands
    budget: Budget
    circles: Circles
    manner: Manner
    watch: Watch
    answer: str = ""
    handoff: str = ""
    note: str = ""
    hint: str = ""
    model: str = ""
    answered: bool = False
    _native: bool = True
    _closing: Reason = Reason.NONE
    _last_text: str = ""
    _found: list[str] = field(default_factory=list)
    _reminders: int = 0
    _ids: set[str] = field(default_factory=set)
    _step_ended: bool = True

    async def run(self, stopped: asyncio.Event | None = None) -> Outcome:
        """Run to the end, to the deadline, or until `stopped` is set: half a second more.

        Raises:
            CancelledError: the caller was cancelled; `outcome(Reason.CANCELLED)` tells what
                was found.
        """
        self._native = self.manner.native
        work = asyncio.create_task(self._steps())
        waiting = asyncio.create_task((stopped or asyncio.Event()).wait())
        try:
            await asyncio.wait(
                {work, waiting},
                timeout=max(self.budget.left, 0),
                return_when=asyncio.FIRST_COMPLETED,
            )
        except asyncio.CancelledError:
            await asyncio.shield(leave(work))
            raise
        finally:
            told = waiting.done()
            waiting.cancel()
        if work.done():
            return self.outcome(self._ended(work))
        outcome = self.outcome(Reason.CANCELLED if told else Reason.TIME_LIMIT)
        await leave(work)
        return outcome

    def outcome(self, reason: Reason) -> Outcome:
        """What there is now, under a reason."""
        return Outcome.ended(
            reason,
            answered=self.answered,
            answer=self.answer if self.answered else self.partial(),
            handoff=self.handoff,
            steps=self.budget.used_steps,
            tool_calls=self.budget.used_calls,
            tokens=self.budget.used_tokens,
            seconds=round(self.budget.seconds, 1),
            model=self.model or self.manner.model,
            note=self.note,
            hint=self.hint,
        )

    def partial(self) -> str:
        """What was found by a run that has no answer: its last words, then its last results."""
        said = self.answer or self._last_text
        if not self._step_ended:
            said = self.client.partial.strip() or said
        found = "\n".join(self._found[-5:])
        parts = [said, f"Found so far:\n{found}" if found and not self.answered else ""]
        return "\n\n".join(part for part in parts if part)

    def _ended(self, work: asyncio.Task[Reason]) -> Reason:
        if work.cancelled():
            return Reason.CANCELLED
        error = work.exception()
        if error is None:
            return work.result()
        self.note = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return Reason.INTERNAL

    async def _steps(self) -> Reason:
        while True:
            reason = self.budget.exhausted()
            if reason:
                return reason
            for word in await self.watch.mail():
                self.conversation.say(f"A word from whoever gave you the task:\n{word}")
            final = bool(self._closing) or (self.manner.nudges and self.budget.is_last_step)
            if final:
                self.conversation.say(wording.ANSWER_NOW)
            answer = await self._ask(final=final)
            if answer is None:
                return Reason.TIME_LIMIT if self.budget.left <= 0 else Reason.BACKEND_ERROR
            reason = await self._closed(answer) if final else await self._take(answer)
            if reason:
                return reason

    async def _ask(self, *, final: bool) -> Answer | None:
        """The next answer; None where none can be had."""
        self.budget.used_steps += 1
        await self.watch.step(self.budget.used_steps, self.budget.steps)
        while True:
            specs = [] if final or not self._native else self.hands.specs
            messages = self.conversation.messages()
            request = Request(
                self.manner.model,
                messages,
                specs,
                self.manner.temperature,
                self.manner.answer_tokens,
                dict(self.manner.extra),
            )
            await self.watch.asking(request)
            self._step_ended = False
            try:
                answer = await self.client.answer(request, self.watch.said, self.watch.again)
            except ToolError as error:
                self._count(messages, self.client.current.finished())
                if self._another_way(error):
                    continue
                self.note, self.hint = error.message, error.hint
                await self.watch.failed(error.message)
                return None
            self._count(messages, answer)
            self._step_ended = True
            self.model = answer.model or self.model
            return answer

    def _another_way(self, error: ToolError) -> bool:
        """Whether the same can be asked in another way."""
        if error.details.get("overflow"):
            return self.conversation.shrink()
        head = self.manner.text_head
        if error.details.get("about_tools") and self._native and self.manner.may_change and head:
            self._native = False
            self.conversation.as_text()
            self.conversation.replace_head(head(wording.manual(self.hands.specs)))
            return True
        return False

    def _count(self, messages: Sequence[Message], answer: Answer) -> None:
        said = answer.tokens_out or estimate(answer.text)
        self.budget.used_tokens += (answer.tokens_in or weigh(messages)) + said

    async def _closed(self, answer: Answer) -> Reason:
        """Take the last answer, for which no tools were left."""
        asked = understand(answer, self.hands.specs, self._ids)
        await self.watch.answered(answer, asked)
        for call in asked.calls:
            if self.hands.is_finish(call.name):
                return self._finish(call)
        marked = read_marks(asked.text)
        self._say(answer.content)
        self.handoff = marked.handoff or self.handoff
        if marked.text:
            self.answer, self.answered = marked.text, marked.end != "failed"
        return self._closing or Reason.STEP_LIMIT

    async def _take(self, answer: Answer) -> Reason:
        asked = understand(answer, self.hands.specs, self._ids)
        await self.watch.answered(answer, asked)
        self._last_text = asked.text or self._last_text
        if asked.calls:
            return await self._perform(asked)
        self._say(answer.content if asked.problem else asked.text)
        if asked.problem:
            return self._bad_form(asked.problem)
        marked = read_marks(asked.text)
        self.handoff = marked.handoff or self.handoff
        if marked.end:
            self.answer, self.answered = marked.text or self.partial(), True
            return Reason.GAVE_UP if marked.end == "failed" else Reason.FINISHED
        return await self._no_call(marked.text or marked.handoff)

    def _say(self, content: str) -> None:
        if content.strip():
            self.conversation.add({"role": "assistant", "content": content})

    def _bad_form(self, problem: str) -> Reason:
        if self.circles.is_too_often(self.circles.sees_form(good=False)):
            return Reason.FORMAT_ERRORS
        example = self.hands.example()
        said = wording.CUT_OFF if problem == CUT else wording.BAD_FORM
        self.conversation.say(said.format(why=problem, example=example))
        return Reason.NONE

    async def _no_call(self, text: str) -> Reason:
        """An answer without a call: the end, or a model that must be reminded."""
        hands = self.hands
        example = hands.example(self.manner.fallback)
        if not self.manner.nudges:
            word = ""
        elif not text:
            word = wording.NO_ANSWER.format(example=example)
        elif hands.tools and not self.budget.used_calls and wording.is_refusal(text):
            word = wording.HAVE_TOOLS.format(names=", ".join(hands.names[:12]))
        elif hands.tools and wording.is_announcement(text):
            word = wording.CALL_NOW.format(example=example)
        else:
            word = ""
        if not word:
            self.answer, self.answered = text, bool(text)
            return Reason.ANSWERED if text else Reason.NO_ANSWER
        self._reminders += 1
        if self.circles.is_too_often(self._reminders):
            return Reason.NO_CALLS
        fetched = await self._fetch() if self.circles.is_again(self._reminders) else ""
        self.conversation.say(f"{word}\n\n{fetched}" if fetched else word)
        return Reason.NONE

    async def _fetch(self) -> str:
        """What the task names, read for a model that does not read it itself."""
        for name, arguments in self.manner.fallback() if self.manner.fallback else ():
            if self.budget.used_calls >= self.budget.calls:
                break
            performed = await self._one(Wanted(name, arguments, ""))
            if not performed.error:
                call = f"{name} {json.dumps(dict(arguments), ensure_ascii=False)}"
                return wording.FETCHED.format(call=call, text=performed.text)
        return ""

    async def _perform(self, asked: Asked) -> Reason:
        """Make the calls of an answer, one after another."""
        calls = asked.calls
        self.conversation.add(
            {
                "role": "assistant",
                "content": asked.text,
                "tool_calls": [call.message() for call in calls],
            }
        )
        ended = Reason.NONE
        made: set[str] = set()
        for call in calls:
            key = call_key(call.name, call.arguments or {})
            if ended:
                text, reason = "Not run: the task has ended.", Reason.NONE
            elif self.hands.is_finish(call.name):
                text, reason = "Done.", self._finish(call)
            elif key in made and call.arguments is not None:
                # Its model cannot know yet what the first one gives.
                text, reason = wording.EQUAL, Reason.NONE
            else:
                text, reason = await self._checked(call)
            made.add(key)
            ended = ended or reason
            self.conversation.add({"role": "tool", "tool_call_id": call.id, "content": text})
        if not self._native:
            self.conversation.as_text()
        if asked.problem and not ended:
            return self._bad_form(asked.problem)
        return ended

    async def _checked(self, call: Wanted) -> tuple[str, Reason]:
        """Make a call, if it may be made; what the model is told, and whether that is the end."""
        if call.arguments is None:
            example = self.hands.example_for(call.name)
            text = wording.BAD_FORM.format(why="its arguments are no JSON object", example=example)
            bad = self.circles.sees_form(good=False)
            return text, Reason.FORMAT_ERRORS if self.circles.is_too_often(bad) else Reason.NONE
        self.circles.sees_form(good=True)
        if self.budget.used_calls >= self.budget.calls:
            self._closing = Reason.TOOL_BUDGET
            return wording.NO_MORE, Reason.NONE
        times = self.circles.sees_call(call.name, call.arguments)
        if self.circles.is_too_often(times):
            self.note = f"{call.name} was called {times} times with the same arguments."
            return wording.NOT_RUN, Reason.REPEATED_CALL
        performed = await self._one(call)
        errors = self.circles.sees_result(
            performed.following,
            performed.error,
            wrote=performed.wrote,
            key=(call.name, call.arguments),
        )
        text = performed.text
        if self.circles.is_too_often(errors):
            self.note = f"The same error came {errors} times: {performed.error[:300]}"
            return text, Reason.REPEATED_ERROR
        if errors and self.circles.is_again(errors):
            text += f"\n{wording.SAME_ERROR}"
        if self.circles.is_again(times):
            text += f"\n{wording.AGAIN}"
        return text, Reason.NONE

    async def _one(self, call: Wanted) -> Performed:
        self.budget.used_calls += 1
        await self.watch.calling(call.name, call.arguments or {})
        performed = await self.hands.perform(call.name, call.arguments or {})
        await self.watch.called(call.name, performed)
        if performed.text and not performed.error:
            lines = (line.strip() for line in performed.text[: 20 * FOUND_CHARS].splitlines())
            head = "\n".join(line for line in lines if line)[:FOUND_CHARS]
            self._found.append(f"- {call.name}: {head}")
            del self._found[:-10]
        return performed

    def _finish(self, call: Wanted) -> Reason:
        """Take the answer of `finish_task`."""
        given = dict(call.arguments or {})
        names = ("answer", "result", "summary", "message", "output", "text")
        said = next((str(given[n]) for n in names if given.get(n)), "")
        marked = read_marks(said or self._last_text)
        self.handoff = str(given.get("handoff") or given.get("handoff_message") or marked.handoff)
        failed = marked.end == "failed" or str(given.get("status", "")).lower() in (
            "failed",
            "failure",
            "error",
        )
        self.answer, self.answered = marked.text or self.partial(), True
        return Reason.GAVE_UP if failed else Reason.FINISHED
