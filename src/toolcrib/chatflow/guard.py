"""The context guard: the stage that keeps a conversation within the window of its model.

It acts past its trigger, in few large steps, and never makes a request fail that would pass
without it. What it takes out stands byte for byte in the stored results of the conversation.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolcrib.chatflow.edits import EditLog, Edits
from toolcrib.chatflow.groups import ChatEntry, without_orphans
from toolcrib.chatflow.guard_pass import (
    EARLY_SHARE,
    GuardPass,
    Summarize,
    TokenBudget,
    compaction_range,
    with_edits,
)
from toolcrib.chatflow.guard_summary import SummaryRequest, summarize
from toolcrib.chatflow.guard_texts import content_text, transcript
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.chatflow.token_count import Calibration, count_tools
from toolcrib.core.context import PlainService
from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state.results import Results

KINDS = ("clear", "compact", "floor")
UNCOUNTED_SHARE = 0.25
"""A prompt of so many characters for each token of the room is not even counted."""
GROWTH = 0.1
"""How much of the room a conversation must grow after a pass that freed less than that."""
MAX_CONVERSATIONS = 500
REQUESTS_BETWEEN = 3
"""Requests that lie between two summaries of a conversation by a model."""


@dataclass(slots=True)
class SummaryPace(PlainService):
    """A service: how many requests ago a model summed a conversation up.

    A client that changes earlier messages with every request makes each of them another
    conversation to the guard, and a model would be asked every time.
    """

    since: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def count(self, conversation: str) -> None:
        """A request of a conversation has come."""
        if conversation in self.since:
            self.since[conversation] += 1

    def may_ask(self, conversation: str) -> bool:
        """Whether enough requests have come since."""
        return self.since.get(conversation, REQUESTS_BETWEEN) >= REQUESTS_BETWEEN

    def note(self, conversation: str) -> None:
        """A model has summed it up."""
        self.since[conversation] = 0
        while len(self.since) > MAX_CONVERSATIONS:
            self.since.popitem(last=False)


@dataclass(slots=True)
class HandleTimes(PlainService):
    """A service: when the handles of a conversation were last seen to."""

    seen: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def is_due(self, conversation: str, seconds: float) -> bool:
        """Whether so many seconds have passed, which is noted."""
        now = time.monotonic()
        last = self.seen.get(conversation)
        if last is not None and now - last < seconds:
            return False
        self.seen[conversation] = now
        while len(self.seen) > MAX_CONVERSATIONS:
            self.seen.popitem(last=False)
        return True


async def guard(prompt: Prompt, context: StageContext) -> None:
    """Keep the prompt within the window of the model."""
    config = context.config.guard
    if not config.enabled:
        prompt.note("guard", "off: guard.enabled")
        return
    if prompt.server_keeps_history:
        prompt.note("guard", "off: the server keeps the history")
        return
    started = time.monotonic()
    window = await _window(prompt, context)
    room = window - min(prompt.answer_tokens, window // 4)
    chars = sum(len(str(m.get("content") or "")) for m in prompt.messages)
    entries = [ChatEntry(k, m) for k, m in zip(prompt.keys, prompt.messages, strict=True)]
    entries, orphans = without_orphans(entries)
    if orphans:
        prompt.changed = True
        prompt.messages = [entry.message for entry in entries]
        prompt.keys = [entry.key for entry in entries]
        prompt.note("guard", f"mended {orphans} calls or results that stood alone")
    if chars < UNCOUNTED_SHARE * room:
        prompt.note(
            "guard", f"not counted: {chars:,} characters of a window of {_k(window)} tokens"
        )
        return
    context.use(SummaryPace).count(prompt.conversation)
    calibration = context.use(Calibration)
    budget = TokenBudget(
        room,
        int(room * config.trigger),
        int(room * min(config.target, config.trigger * 0.8)),
        await calibration.ratio(prompt.model, prompt.conversation),
        count_tools(prompt.tools),
    )
    edits = Edits()
    if config.offload or budget.count(entries) > budget.target:
        # In a window that has become larger, what was taken out has its place again.
        edits = await context.use(EditLog).load(prompt.keys, KINDS)
    known = with_edits(entries, edits)
    tokens = budget.count(known)
    work = GuardPass(
        entries,
        edits,
        budget,
        config,
        prompt.conversation,
        prompt.question,
        bool(prompt.tools) and not prompt.has_tool_choice,
        _summarizer(prompt, context, window),
    )
    await _refresh_handles(work, prompt, context)
    if tokens > budget.trigger and not _rests(entries, edits, tokens, room):
        await context.show(f"Context guard: {_k(tokens)} of {_k(window)} tokens, making room")
        await work.run()
        _set_floor(work, tokens)
    elif config.offload and tokens > EARLY_SHARE * room:
        work.clear_early()
    after = work.tokens()
    if after > tokens:  # never larger than before
        after, work.new = tokens, Edits()
    else:
        known = work.current()
    await _store(work, prompt, context)
    _use(prompt, known, edits)
    prompt.tokens = after
    prompt.room = max(room - after, 1)
    prompt.estimated_tokens = round(after / budget.ratio)
    _tell(prompt, work, tokens, window, time.monotonic() - started)


async def _window(prompt: Prompt, context: StageContext) -> int:
    """The real window where it is known, else the one that is set."""
    if prompt.window:
        return prompt.window
    learned = await context.use(Calibration).window(prompt.model)
    return learned or context.config.guard.limit


def _summarizer(prompt: Prompt, context: StageContext, window: int) -> Summarize | None:
    config = context.config.guard
    complete = context.complete
    if complete is None or config.summary != "model":
        return None

    async def ask(entries: Sequence[ChatEntry], previous: str, max_tokens: int) -> str:
        pace = context.use(SummaryPace)
        if not pace.may_ask(prompt.conversation):
            prompt.note("guard", "summed up by rules: a model did so just before")
            return ""
        pace.note(prompt.conversation)
        own = config.summary_model
        known = await context.use(Calibration).window(own) if own else window
        request = SummaryRequest(
            entries,
            previous,
            prompt.question,
            own,
            max_tokens,
            known or config.limit,
            config.summary_seconds,
        )
        text, problem = await summarize(request, complete)
        if problem:
            prompt.note("guard", f"summed up by rules: {problem}")
        return text

    return ask


def _rests(entries: Sequence[ChatEntry], edits: Edits, tokens: int, room: int) -> bool:
    """Whether the last pass freed little and the conversation has hardly grown since."""
    for entry in reversed(entries):
        floor = edits.floors.get(entry.key)
        if floor is not None:
            return tokens <= room and tokens <= floor + GROWTH * room
    return False


def _set_floor(work: GuardPass, before: int) -> None:
    after = work.tokens()
    budget = work.budget
    if after > budget.trigger or before - after < GROWTH * budget.room:
        key = next((e.key for e in reversed(work.entries) if "+" not in e.key and e.key), "")
        if key:
            work.new.floors[key] = after


async def _store(work: GuardPass, prompt: Prompt, context: StageContext) -> None:
    """Store what was taken out, and only then what stands in its place."""
    if not work.new.rows():
        return
    handles = {c.handle for c in work.new.clearings.values()}
    handles |= {c.handle for c in work.new.compactions.values()}
    texts = [text for handle, text in work.taken_out.items() if handle in handles]
    if texts:
        await context.use(Results).keep_all(texts, prompt.conversation)
    await context.use(EditLog).save(prompt.owner, work.new)


async def _refresh_handles(work: GuardPass, prompt: Prompt, context: StageContext) -> None:
    """Keep what the prompt names by a handle as long as the conversation goes on."""
    start, end = compaction_range(work.entries, work.edits)
    needed = {
        clearing.handle: content_text(entry)
        for entry in work.entries
        if (clearing := work.edits.clearings.get(entry.key)) is not None
    }
    if end > start:
        made = work.edits.compactions[work.entries[end - 1].key]
        needed[made.handle] = transcript(work.entries[start:end])
    seconds = context.config.results.keep_seconds / 4
    if not needed or not context.use(HandleTimes).is_due(prompt.conversation, seconds):
        return
    results = context.use(Results)
    try:
        there = await results.extend(list(needed), prompt.conversation)
    except (StorageFailure, ConfigError):
        there = set()
    lost = [text for handle, text in needed.items() if handle not in there]
    if lost:
        await results.keep_all(lost, prompt.conversation)


def _use(prompt: Prompt, known: Sequence[ChatEntry], edits: Edits) -> None:
    messages = [entry.message for entry in known]
    if messages == prompt.messages:
        return
    prompt.messages = messages
    prompt.keys = [entry.key for entry in known]
    prompt.changed = True
    has_handles = any(c.handle for c in edits.clearings.values()) or bool(edits.compactions)
    readable = bool(prompt.tools) and not prompt.has_tool_choice
    prompt.offers_read_more = prompt.offers_read_more or (has_handles and readable)


def _tell(prompt: Prompt, work: GuardPass, before: int, window: int, seconds: float) -> None:
    """Say in the trace what was done, and in the report for the person where it was new."""
    after = prompt.tokens
    share = after * 100 // window
    budget = f"[ContextGuard] Budget: {_k(after)}/{_k(window)} tokens ({share}% used)"
    cleared, made = len(work.new.clearings), len(work.new.compactions)
    if not cleared and not made:
        prompt.note("guard", budget)
        return
    summed = 0
    summary = ""
    for compaction in work.new.compactions.values():
        summed, summary = compaction.messages, compaction.text
    saved = before - after
    parts = [
        f"{summed} messages compressed" if summed else "",
        f"{cleared} results taken out" if cleared else "",
        f"tokens {_k(before)} -> {_k(after)}, saved {_k(saved)} ({saved * 100 // before}%)",
        f"{seconds:.1f} s",
        "" if not made or work.by_model else "without a model: by rules",
    ]
    line = ", ".join(part for part in parts if part)
    prompt.note("guard", f"{line}. {budget}")
    lines = ["---", f"**ContextGuard**: {line}."]
    if summary:
        lines += ["", f"### CONTEXT SUMMARY (from {summed} messages)", "", summary]
    prompt.report = "\n".join([*lines, "", budget, "---"])


def _k(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k"
