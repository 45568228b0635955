"""The agent loop: ask the model, run the tools it calls, send the results, until it answers."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.agents import prompts as wording
from toolcrib.agents.conversation import (
    Conversation,
    Message,
    as_text,
    estimate_tokens,
    in_turns,
)
from toolcrib.agents.observer import RunObserver
from toolcrib.agents.outcome import Outcome, Reason
from toolcrib.agents.reply import (
    CUT_OFF_PROBLEM,
    ParsedReply,
    RequestedCall,
    parse_reply,
    read_markers,
)
from toolcrib.agents.tool_executor import ExecutedCall, ToolExecutor
from toolcrib.core.errors import ToolError
from toolcrib.core.names import plain
from toolcrib.net.models.client import ChatRequest, ModelClient
from toolcrib.net.models.completion import REPEATED, Completion
from toolcrib.text.tokens import estimate

NUMBERS = re.compile(r"\d+")
QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"")


@dataclass(slots=True)
class Budget:
    """Steps, seconds, tool calls and tokens. `deadline` is `time.monotonic()` at the end."""

    steps: int
    deadline: float
    calls: int
    tokens: int
    used_steps: int = 0
    used_calls: int = 0
    used_tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds until the deadline; below 0 when it has passed."""
        return self.deadline - time.monotonic()

    @property
    def is_last_step(self) -> bool:
        """Whether only one more answer may be asked for, so that it must be the answer."""
        return self.steps - self.used_steps <= 1

    def exhausted(self) -> Reason:
        """Which limit is reached, so that the model may not be asked again."""
        if self.left <= 0:
            return Reason.TIME_LIMIT
        if self.used_steps >= self.steps:
            return Reason.STEP_LIMIT
        return Reason.TOKEN_LIMIT if self.used_tokens >= self.tokens else Reason.NONE


class LoopDetector:
    """Counts calls, errors and malformed calls that repeat.

    A call that was made after a file was written counts as new: a test is run after each edit.

    Args:
        max_repeats: how many of a kind end a run.
    """

    def __init__(self, max_repeats: int) -> None:
        self._max_repeats = max_repeats
        self._calls: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._bad_forms = 0
        self._going_on = ""

    def count_call(self, name: str, arguments: Mapping[str, Any]) -> int:
        """Count a call; how often it was made so far, this time included."""
        key = call_key(name, arguments)
        if key == self._going_on:  # the last result said to send just this
            return 1
        self._calls[key] += 1
        return self._calls[key]

    def times(self, name: str, arguments: Mapping[str, Any]) -> int:
        """How often a call was counted so far; 0 for the one that the last result asked for."""
        key = call_key(name, arguments)
        return 0 if key == self._going_on else self._calls[key]

    def count_result(
        self,
        following: tuple[str, Mapping[str, Any]] | None,
        error: str,
        *,
        wrote: bool,
        key: tuple[str, Mapping[str, Any]],
    ) -> int:
        """Take in what a call gave; how often this error came so far, 0 without one."""
        self._going_on = call_key(*following) if following else ""
        if not error:
            self._errors.clear()
            if wrote:
                own = call_key(*key)
                self._calls = Counter({own: self._calls[own]})
            return 0
        kind = _kind_of(error)
        self._errors[kind] += 1
        return self._errors[kind]

    def count_malformed(self, *, good: bool) -> int:
        """Count answers in a row whose calls could not be read."""
        self._bad_forms = 0 if good else self._bad_forms + 1
        return self._bad_forms

    def reaches_limit(self, count: int) -> bool:
        """Whether so many are enough to end a run."""
        return count >= self._max_repeats

    def is_last_chance(self, count: int) -> bool:
        """Whether one more would end the run, so that the model must be warned."""
        return count == self._max_repeats - 1


def call_key(name: str, arguments: Mapping[str, Any]) -> str:
    """What two equal calls have in common."""
    arguments_json = json.dumps(dict(arguments), sort_keys=True, default=str, ensure_ascii=True)
    return f"{plain(name)} {arguments_json}"


def _kind_of(error: str) -> str:
    """An error without what differs from one to the next."""
    return NUMBERS.sub("#", QUOTED.sub("'*'", error))[:500].lower()


GRACE_SECONDS = 0.3
"""Seconds that cancelled work has to clean up before it is left behind."""
_left_behind: set[asyncio.Task[Any]] = set()


async def cancel_and_detach(task: asyncio.Task[Any], grace: float = GRACE_SECONDS) -> None:
    """Cancel work and give it a moment; what does not end by then is not waited for."""
    if task.done():
        return
    task.cancel()
    _left_behind.add(task)
    task.add_done_callback(_forget)
    await asyncio.wait({task}, timeout=grace)


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()


def run_detached(writing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Let something be written, also after nobody waits for it any more."""
    task = asyncio.create_task(writing)
    _left_behind.add(task)
    task.add_done_callback(_forget)
    return task


MAX_FOUND_CHARS = 600
MAX_AT_ONCE = 8
"""Calls of one answer that run at once."""
Fallback = Callable[[], Sequence[tuple[str, Mapping[str, Any]]]]


class PromptPreparation(Protocol):
    """Changes what goes to the model, and learns from what its server says to it."""

    async def prepare(self, messages: list[Message], specs: list[dict[str, Any]]) -> list[Message]:
        """The messages that go in place of these."""
        ...

    async def learn(self, tokens_in: int) -> None:
        """So many tokens the server counted."""
        ...

    async def learn_refusal(self, message: str) -> bool:
        """It was refused for its length; whether another try would be shorter."""
        ...


MAX_ARGUMENT_CHARS = 4_000
"""Characters of the arguments of a call that are looked at for what the task names."""
MAX_TOOLS_OF_AN_ANSWER = 4
"""Different tools in one answer, beyond which those of them that change something are not run."""
STUCK = (Reason.REPEATED_CALL, Reason.REPEATED_ERROR)


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """Configuration of a loop.

    `nudges`: remind a model that refuses, announces or says nothing; a chat with a person
    needs none. `text_mode_head` gives the head of the conversation for a server that takes no
    tools, with them in words. `fallback` gives calls to make for a model that makes none; the
    first that works is enough. `task` is what the last answer is asked for. `preparation`
    changes each request.
    """

    model: str
    nudges: bool = True
    native_tools: bool = True
    may_switch_to_text: bool = True
    temperature: float | None = None
    answer_tokens: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    text_mode_head: Callable[[str], Sequence[Message]] | None = None
    fallback: Fallback | None = None
    task: str = ""
    preparation: PromptPreparation | None = None


@dataclass(slots=True)
class Loop:
    """One run, from the task to its outcome. `run` never raises for what goes wrong in it.

    Args:
        client: asks the model.
        conversation: begins with the task; the run adds to it.
        executor: makes the calls.
        budget: what it may use.
        detector: sees repetition.
        config: how it behaves.
        observer: receives the events, and brings messages for the model.

    Attributes:
        is_bound: the server was given a schema for the answer.
    """

    client: ModelClient
    conversation: Conversation
    executor: ToolExecutor
    budget: Budget
    detector: LoopDetector
    config: LoopConfig
    observer: RunObserver
    answer: str = ""
    found: str = ""
    handoff: str = ""
    note: str = ""
    hint: str = ""
    model: str = ""
    answered: bool = False
    is_bound: bool = False
    _native_tools: bool = True
    _closing: Reason = Reason.NONE
    _last_text: str = ""
    _found: list[str] = field(default_factory=list)
    _worked: list[str] = field(default_factory=list)
    _reminders: int = 0
    _ids: set[str] = field(default_factory=set)
    _step_ended: bool = True
    _begun: int = 0
    _refusals: int = 0

    async def run(self, stopped: asyncio.Event | None = None) -> Outcome:
        """Run to the end, to the deadline, or until `stopped` is set: half a second more.

        Raises:
            CancelledError: the caller was cancelled; `outcome(Reason.CANCELLED)` tells what
                was found.
        """
        self._native_tools = self.config.native_tools
        self._begun = len(self.conversation.body)
        work = asyncio.create_task(self._steps())
        waiting = asyncio.create_task((stopped or asyncio.Event()).wait())
        try:
            await asyncio.wait(
                {work, waiting},
                timeout=max(self.budget.left, 0),
                return_when=asyncio.FIRST_COMPLETED,
            )
        except asyncio.CancelledError:
            await asyncio.shield(cancel_and_detach(work))
            raise
        finally:
            was_stopped = waiting.done()
            waiting.cancel()
        if work.done():
            return self.outcome(self._ended(work))
        outcome = self.outcome(Reason.CANCELLED if was_stopped else Reason.TIME_LIMIT)
        await cancel_and_detach(work)
        return outcome

    def outcome(self, reason: Reason) -> Outcome:
        """What there is now, under a reason."""
        return Outcome.ended(
            reason,
            answered=self.answered,
            answer=self.answer if self.answered else self.partial(),
            found=self.found,
            handoff=self.handoff,
            steps=self.budget.used_steps,
            tool_calls=self.budget.used_calls,
            tokens=self.budget.used_tokens,
            seconds=round(self.budget.seconds, 1),
            model=self.model or self.config.model,
            note=self.note,
            hint=self.hint,
        )

    def partial(self) -> str:
        """What was found by a run that has no answer: its last words, then its last results."""
        text = self.answer or self._last_text
        if not self._step_ended:
            text = self.client.partial.strip() or text
        parts = [text, "" if self.answered else self._found_so_far()]
        return "\n\n".join(part for part in parts if part)

    def _found_so_far(self) -> str:
        """The last results, each once."""
        found = "\n".join(dict.fromkeys(self._found[-5:]))
        return f"Found so far:\n{found}" if found else ""

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
                return self._closing or reason
            for word in await self.observer.pending_messages():
                self.conversation.say(f"A word from whoever gave you the task:\n{word}")
            await self._read_for_stuck()
            final = bool(self._closing) or (self.config.nudges and self.budget.is_last_step)
            answer = await self._ask(final=final)
            if answer is None:
                return Reason.TIME_LIMIT if self.budget.left <= 0 else Reason.BACKEND_ERROR
            reason = await self._closed(answer) if final else await self._take(answer)
            if reason:
                return reason

    async def _ask(self, *, final: bool) -> Completion | None:
        """The next answer; None where none can be had."""
        self.budget.used_steps += 1
        await self.observer.on_step(self.budget.used_steps, self.budget.steps)
        while True:
            specs = [] if final or not self._native_tools else self.executor.specs
            messages = self._messages(final=final)
            if self.config.preparation is not None:
                messages = await self.config.preparation.prepare(messages, specs)
            request = ChatRequest(
                self.config.model,
                messages,
                specs,
                self.config.temperature,
                self.config.answer_tokens,
                dict(self.config.extra),
            )
            await self.observer.on_request(request)
            self._step_ended = False
            try:
                answer = await self.client.answer(
                    request, self.observer.on_delta, self.observer.on_retry
                )
            except ToolError as error:
                self._count(messages, self.client.current.finished())
                if await self._retry_differently(error):
                    continue
                self.note, self.hint = error.message, error.hint
                await self.observer.on_error(error.message)
                return None
            self._count(messages, answer)
            if self.config.preparation is not None and answer.tokens_in:
                await self.config.preparation.learn(answer.tokens_in)
            self._step_ended = True
            self.model = answer.model or self.model
            return answer

    def _messages(self, *, final: bool) -> list[Message]:
        """What goes to the model: the conversation, in the form that it needs now."""
        messages = self.conversation.messages()
        if self._closing in STUCK:
            # What was said before this run stays as it was said.
            own = min(len(self.conversation.body) - self._begun, len(messages))
            before = messages[: len(messages) - own]
            messages = [*before, *wording.without_calls(messages[len(before) :])]
        if not self._native_tools:
            messages = [as_text(message) for message in messages]
        if final:
            messages = [
                *messages,
                {"role": "user", "content": wording.answer_now(self.config.task)},
            ]
        return in_turns(messages)

    async def _retry_differently(self, error: ToolError) -> bool:
        """Whether the same can be asked in another way."""
        if error.details.get("overflow"):
            preparation, self._refusals = self.config.preparation, self._refusals + 1
            if preparation is not None and self._refusals == 1:
                return await preparation.learn_refusal(error.message) or self.conversation.shrink()
            return self.conversation.shrink()
        head = self.config.text_mode_head
        if (
            error.details.get("about_tools")
            and self._native_tools
            and self.config.may_switch_to_text
            and head
        ):
            self._native_tools = False
            self.conversation.replace_head(head(wording.manual(self.executor.specs)))
            return True
        return False

    def _count(self, messages: Sequence[Message], answer: Completion) -> None:
        output_tokens = answer.tokens_out or estimate(answer.text)
        self.budget.used_tokens += (answer.tokens_in or estimate_tokens(messages)) + output_tokens

    async def _closed(self, answer: Completion) -> Reason:
        """Take the last answer, for which no tools were left."""
        lenient = self.config.nudges and bool(self.executor.tools)
        reply = parse_reply(answer, self.executor.specs, self._ids, lenient=lenient)
        await self.observer.on_completion(answer, reply)
        for call in reply.calls:
            if self.executor.is_finish(call.name):
                reason = self._finish(call)
                stalled = self._closing is Reason.REPEATED_ERROR and reason is Reason.FINISHED
                return self._closing if stalled else reason
        marked = read_markers(reply.text)
        self._say(answer.content)
        self.handoff = marked.handoff or self.handoff
        if marked.text:
            self.answer = marked.text
            # Words beside a call announce it, as do those of what it will do: no answer.
            announced = (
                reply.calls
                or reply.problem
                or (lenient and wording.is_announcement(marked.text))
                or self._is_echo(marked.text)
            )
            self.answered = marked.end != "failed" and not announced
        if self.answered and self._closing is Reason.REPEATED_CALL:
            # A model that is stuck may misread what it has: whoever asked sees both.
            self.found = self._found_so_far()
        return self._closing or Reason.STEP_LIMIT

    async def _take(self, answer: Completion) -> Reason:
        lenient = self.config.nudges and bool(self.executor.tools)
        reply = parse_reply(answer, self.executor.specs, self._ids, lenient=lenient)
        await self.observer.on_completion(answer, reply)
        self._last_text = reply.text or self._last_text
        if answer.finish == REPEATED and not reply.calls:
            self.note = wording.REPEATED_ITSELF
        if reply.calls:
            return await self._perform(reply)
        self._say(answer.content if reply.problem else reply.text)
        if reply.problem:
            return self._bad_form(reply.problem)
        marked = read_markers(reply.text)
        self.handoff = marked.handoff or self.handoff
        if marked.end:
            self.answer, self.answered = marked.text or self.partial(), True
            return Reason.GAVE_UP if marked.end == "failed" else Reason.FINISHED
        return await self._no_call(marked.text or marked.handoff)

    def _say(self, content: str) -> None:
        if content.strip():
            self.conversation.add({"role": "assistant", "content": content})

    def _bad_form(self, problem: str) -> Reason:
        if self.detector.reaches_limit(self.detector.count_malformed(good=False)):
            return Reason.FORMAT_ERRORS
        example = self.executor.example(self.config.fallback)
        template = wording.CUT_OFF if problem == CUT_OFF_PROBLEM else wording.BAD_FORM
        self.conversation.say(template.format(why=problem, example=example))
        return Reason.NONE

    async def _no_call(self, text: str) -> Reason:
        """An answer without a call: the end, or a model that must be reminded."""
        executor = self.executor
        example = executor.example(self.config.fallback)
        if not self.config.nudges:
            word = ""
        elif not text:
            word = wording.NO_ANSWER.format(example=example)
        elif executor.tools and not self.budget.used_calls and wording.is_refusal(text):
            word = wording.HAVE_TOOLS.format(names=", ".join(executor.names[:12]))
        elif (executor.tools and (wording.is_announcement(text) or self._is_echo(text))) or (
            executor.tools and not self._reminders and wording.is_only_path(text, self.config.task)
        ):
            word = wording.CALL_NOW.format(example=example)
        else:
            word = ""
        # What was said of a file that was never looked at is made up.
        unread = not word and self.config.nudges and self._names_unread()
        if unread:
            word = wording.NOT_LOOKED_AT.format(example=example)
        if not word:
            self.answer, self.answered = text, bool(text)
            return Reason.ANSWERED if text else Reason.NO_ANSWER
        self._reminders += 1
        if self.detector.reaches_limit(self._reminders):
            return Reason.NO_CALLS
        is_last = unread or self.detector.is_last_chance(self._reminders)
        fetched = await self._fetch() if is_last else ""
        self.conversation.say(f"{word}\n\n{fetched}" if fetched else word)
        return Reason.NONE

    def _is_echo(self, text: str) -> bool:
        rules = self.conversation.messages()[0]
        return wording.is_echo(text, self.config.task, str(rules.get("content", "")))

    def _names_unread(self) -> bool:
        """Whether the task names a file or page, and no call that worked was about it; once."""
        if self._reminders or not self.executor.tools:
            return False
        calls = self.config.fallback() if self.config.fallback else ()
        named = [str(value) for _, arguments in calls for value in arguments.values()]
        return bool(named) and not any(
            name.rpartition("/")[2] in arguments for name in named for arguments in self._worked
        )

    async def _read_for_stuck(self) -> None:
        """Read what the task names for a model that went round, before its last answer."""
        if self.config.nudges and self._closing in STUCK:
            read = await self._fetch(only_named=True)
            if read:  # then that answer can be one
                self._closing = Reason.REPEATED_CALL
                self.conversation.say(read)

    async def _fetch(self, *, only_named: bool = False) -> str:
        """What the task names, read for a model that does not read it itself; else a look around.

        What its model has called already is passed over.
        """
        for name, arguments in self.config.fallback() if self.config.fallback else ():
            if self.budget.used_calls >= self.budget.calls:
                break
            if self.detector.times(name, arguments) or (only_named and not arguments):
                continue
            performed = await self._one(RequestedCall(name, arguments, ""))
            if not performed.error:
                call = f"{name} {json.dumps(dict(arguments), ensure_ascii=False)}"
                return wording.FETCHED.format(call=call, text=performed.text)
        return ""

    async def _perform(self, reply: ParsedReply) -> Reason:
        """Make the calls of an answer: those that read at once, others one after another."""
        calls = reply.calls
        self.conversation.add(
            {
                "role": "assistant",
                "content": reply.text,
                "tool_calls": [call.message() for call in calls],
            }
        )
        ended = Reason.NONE
        made: set[str] = set()
        # A small model may call every tool that there is, deleting first what it is asked about.
        crowd = len({call.name for call in calls})
        is_crowd = self.config.nudges and crowd > MAX_TOOLS_OF_AN_ANSWER
        early = await self._read_at_once(calls)
        for call in calls:
            key = call_key(call.name, call.arguments or {})
            if ended:
                text, reason = "Not run: the task has ended.", Reason.NONE
            elif self.executor.is_finish(call.name):
                text, reason = "Done.", self._finish(call)
            elif is_crowd and not self.executor.only_reads(call.name):
                text, reason = wording.CROWD.format(count=crowd), Reason.NONE
            elif self._closing and call.id not in early:
                text, reason = wording.NO_MORE, Reason.NONE
            elif key in made and call.arguments is not None:
                # Its model cannot know yet what the first one gives.
                text, reason = wording.EQUAL, Reason.NONE
            else:
                text, reason = await self._checked(call, early.get(call.id))
            made.add(key)
            ended = ended or reason
            self.conversation.add({"role": "tool", "tool_call_id": call.id, "content": text})
        if reply.problem and not ended and not self._closing:
            return self._bad_form(reply.problem)
        return ended

    async def _read_at_once(self, calls: Sequence[RequestedCall]) -> dict[str, ExecutedCall]:
        """What the first calls of an answer gave, as long as they only read, by their ids.

        Only those are made ahead that would be made in any case.
        """
        ahead: dict[str, RequestedCall] = {}
        for call in calls[: self.budget.calls - self.budget.used_calls]:
            if call.arguments is None or not self.executor.only_reads(call.name):
                break
            key = call_key(call.name, call.arguments)
            if not self.detector.reaches_limit(self.detector.times(call.name, call.arguments) + 1):
                ahead.setdefault(key, call)
        if len(ahead) < 2:
            return {}
        at_once = asyncio.Semaphore(MAX_AT_ONCE)

        async def make(call: RequestedCall) -> ExecutedCall:
            async with at_once:
                return await self._one(call)

        # A group, so that all end where the run is cancelled.
        async with asyncio.TaskGroup() as group:
            tasks = {call.id: group.create_task(make(call)) for call in ahead.values()}
        return {id_: task.result() for id_, task in tasks.items()}

    async def _checked(
        self, call: RequestedCall, performed: ExecutedCall | None
    ) -> tuple[str, Reason]:
        """Make a call, if it may be made; what the model is told, and whether that is the end.

        `performed` is what it gave already.
        """
        if call.arguments is None:
            example = self.executor.example_for(call.name)
            text = wording.BAD_FORM.format(why="its arguments are no JSON object", example=example)
            bad = self.detector.count_malformed(good=False)
            return text, Reason.FORMAT_ERRORS if self.detector.reaches_limit(bad) else Reason.NONE
        self.detector.count_malformed(good=True)
        if performed is None and self.budget.used_calls >= self.budget.calls:
            self._closing = Reason.TOOL_BUDGET
            return wording.NO_MORE, Reason.NONE
        times = self.detector.count_call(call.name, call.arguments)
        if self.detector.reaches_limit(times):
            # Small models answer well from what they have once no tools are offered any more.
            self.note = f"{call.name} was called {times} times with the same arguments."
            self._closing = Reason.REPEATED_CALL
            return wording.NOT_RUN, Reason.NONE
        performed = performed or await self._one(call)
        errors = self.detector.count_result(
            performed.following,
            performed.error,
            wrote=performed.wrote,
            key=(call.name, call.arguments),
        )
        text = performed.text
        if self.detector.reaches_limit(errors):
            self.note = f"The same error came {errors} times: {performed.error[:300]}"
            self._closing = Reason.REPEATED_ERROR
            return text, Reason.NONE
        if errors and self.detector.is_last_chance(errors):
            text += f"\n{wording.SAME_ERROR}"
        if self.detector.is_last_chance(times):
            paths = wording.paths_in(self.config.task)
            other = self.executor.other_example(call.name, paths)
            example = wording.FOR_EXAMPLE.format(call=other) if other else ""
            text += f"\n{wording.AGAIN.format(example=example)}"
        return text, Reason.NONE

    async def _one(self, call: RequestedCall) -> ExecutedCall:
        self.budget.used_calls += 1
        await self.observer.on_tool_call(call)
        performed = await self.executor.perform(call.name, call.arguments or {})
        await self.observer.on_tool_result(call, performed)
        if performed.text and not performed.error:
            lines = (line.strip() for line in performed.text[: 20 * MAX_FOUND_CHARS].splitlines())
            head = "\n".join(line for line in lines if line)[:MAX_FOUND_CHARS]
            arguments = json.dumps(dict(call.arguments or {}), ensure_ascii=False)
            self._worked.append(arguments[:MAX_ARGUMENT_CHARS])
            self._found.append(f"- {call.name}: {head}")
            del self._found[:-10]
        return performed

    def _finish(self, call: RequestedCall) -> Reason:
        """Take the answer of `finish_task`."""
        given = dict(call.arguments or {})
        names = ("answer", "result", "summary", "message", "output", "text")
        answer = next((str(given[n]) for n in names if given.get(n)), "")
        marked = read_markers(answer or self._last_text)
        self.handoff = str(given.get("handoff") or given.get("handoff_message") or marked.handoff)
        failed = marked.end == "failed" or str(given.get("status", "")).lower() in (
            "failed",
            "failure",
            "error",
        )
        self.answer, self.answered = marked.text or self.partial(), True
        return Reason.GAVE_UP if failed else Reason.FINISHED
