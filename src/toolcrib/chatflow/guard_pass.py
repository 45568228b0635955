"""One pass of the context guard over a conversation: the ladder, from cheap to dear.

Results of tools are taken out first, repeated ones before others; then the stretch between the
head and the last messages is summed up; at last whatever still does not fit is shortened. What
is taken out is put into `taken_out`, and must be stored before the prompt is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from toolcrib.chatflow.edits import Clearing, Compaction, Edits
from toolcrib.chatflow.groups import (
    ChatEntry,
    calls_of,
    function_of,
    groups_of,
    head_end,
)
from toolcrib.chatflow.guard_texts import (
    call_text,
    content_text,
    excerpt,
    is_error,
    ledger,
    placeholder,
    superseded,
    telling_lines,
    transcript,
    user_words,
)
from toolcrib.chatflow.prompt import SYSTEM_ROLES, text_of, with_text
from toolcrib.chatflow.token_count import MESSAGE_TOKENS, count_message, count_text
from toolcrib.core.chat_settings import GuardConfig
from toolcrib.system.threads import content_id

MIN_RESULT_CHARS = 500
"""A shorter result is left: a placeholder would take as much room."""
CLEARED_TOKENS, UNREADABLE_TOKENS, OFFLOADED_TOKENS = 60, 200, 300
"""Tokens of the lines that stay of a result, of one that cannot be read again, of a large one."""
SURELY_SHORTER = 4
"""A text with so many times fewer characters surely has fewer tokens."""
STOP_SHARE = 0.7
"""Share of the room below which nothing is summed up."""
TAIL_SHARE = 0.4
"""Share of the room that the last messages may take beside a summary."""
WORDS_SHARE, LEDGER_SHARE, LINES_SHARE = 0.14, 0.05, 0.12
"""Shares of the room for what the user said, for the calls, and for lines without a model."""
MIN_SPAN_TOKENS = 200
LONG_MESSAGE_SHARE = 0.15
EARLY_SHARE = 0.25
EARLY_STEP = 0.1
"""What taking large results out early must free of the window, so that it is done seldom."""

Summarize = Callable[[Sequence[ChatEntry], str, int], Awaitable[str]]
"""Takes entries, the summary so far and tokens; gives "" where no model can sum up."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """How many tokens there are, and what an estimate is multiplied by.

    `room` is the window without the answer; `fixed` are the tokens of the tools, estimated.
    """

    room: int
    trigger: int
    target: int
    ratio: float
    fixed: int

    def count(self, entries: Sequence[ChatEntry]) -> int:
        """Tokens of the whole prompt."""
        estimated = self.fixed + sum(count_message(entry.message) for entry in entries)
        return round(estimated * self.ratio)

    def estimate(self, tokens: float) -> int:
        """So many tokens as a bare estimate."""
        return int(tokens / self.ratio)


@dataclass(slots=True)
class GuardPass:
    """A pass over one prompt.

    Args:
        entries: all messages, without orphans.
        edits: what is known of earlier passes; what is new goes to `new` as well.
        budget: how many tokens there are.
        config: the settings.
        session: the session of stored results.
        question: what the user wants now.
        readable: whether the model is offered `read_more`.
        summarize: asks a model for a summary; None for none.
    """

    entries: list[ChatEntry]
    edits: Edits
    budget: TokenBudget
    config: GuardConfig
    session: str
    question: str
    readable: bool
    summarize: Summarize | None = None
    new: Edits = field(default_factory=Edits)
    taken_out: dict[str, str] = field(default_factory=dict)
    by_model: bool = False
    _sizes: dict[int, tuple[Clearing | None, int]] = field(default_factory=dict)

    def current(self) -> list[ChatEntry]:
        """The conversation with all edits."""
        return with_edits(self.entries, self.edits)

    def tokens(self) -> int:
        """Tokens of that, without making it: each message is counted once in a pass."""
        start, end = compaction_range(self.entries, self.edits)
        total = self.budget.fixed
        made = None
        if end > start:
            made = self.edits.compactions[self.entries[end - 1].key]
            total += MESSAGE_TOKENS + count_text(made.text)
        for at, entry in enumerate(self.entries):
            if made is None or not start <= at < end or stays(entry, made):
                total += self._count(at)
        return round(total * self.budget.ratio)

    async def run(self) -> None:
        """Do what is needed, step by step, until it fits."""
        self.clear_results()
        if self.tokens() > STOP_SHARE * self.budget.room:
            await self.compact(self.config.keep_messages, by_model=True)
        keep = self.config.keep_messages
        while self.tokens() > self.budget.trigger and keep > 1:
            keep //= 2
            await self.compact(keep, by_model=False)
        if self.tokens() > self.budget.room:
            self.shorten()

    # Taking results of tools out.

    def clear_early(self) -> None:
        """Take large old results out before the trigger, where that frees enough at once."""
        open_places, names = self._results()
        large = [
            at
            for at in open_places[: -self.config.keep_results]
            if len(text_of(self.entries[at].message).encode("utf-8", "replace"))
            >= self.config.offload_bytes
            and not is_error(text_of(self.entries[at].message))
        ]
        freed = sum(count_message(self.entries[at].message) - OFFLOADED_TOKENS for at in large)
        if freed * self.budget.ratio < EARLY_STEP * self.budget.room:
            return
        for at in large:
            self._clear(at, names[at], OFFLOADED_TOKENS)

    def clear_results(self) -> None:
        """Take old results out, those of calls that were made again first, until it fits."""
        open_places, names = self._results()
        newest = {names[at]: at for at in open_places}
        old = open_places[: -self.config.keep_results]
        for at in old:
            text = text_of(self.entries[at].message)
            if newest[names[at]] != at and len(text) >= MIN_RESULT_CHARS:
                handle = self._take_out(content_text(self.entries[at]))
                line = superseded(call_text(*names[at]), handle, readable=self.readable)
                self._put(at, Clearing(line, handle))
        tokens = self.tokens()
        for at in old:
            if tokens <= self.budget.target:
                return
            entry = self.entries[at]
            text = text_of(entry.message)
            size = len(text.encode("utf-8", "replace"))
            is_small = len(text) < MIN_RESULT_CHARS
            if is_small or (is_error(text) and size < self.config.offload_bytes):
                continue
            if entry.key in self.edits.clearings:
                continue
            before = self._count(at)
            self._clear(at, names[at], OFFLOADED_TOKENS if size >= self.config.offload_bytes else 0)
            tokens -= round((before - self._count(at)) * self.budget.ratio)

    def _results(self) -> tuple[list[int], dict[int, tuple[str, str]]]:
        """Where results stand that are still there, and the call of each."""
        gone = self._spanned()
        names: dict[int, tuple[str, str]] = {}
        calls: dict[str, tuple[str, str]] = {}
        places = []
        for at, entry in enumerate(self.entries):
            for call in calls_of(entry.message):
                calls[str(call.get("id") or "")] = function_of(call)
            if entry.role == "tool" and at not in gone:
                wanted = str(entry.message.get("tool_call_id") or "")
                names[at] = calls.get(wanted, ("a tool", ""))
                if entry.key not in self.edits.clearings:
                    places.append(at)
        return places, names

    def _spanned(self) -> range:
        """What a compaction stands for."""
        start, end = compaction_range(self.entries, self.edits)
        return range(start, end)

    def _clear(self, at: int, call: tuple[str, str], max_tokens: int) -> None:
        """Put a placeholder in place of a result, with the lines that matter now."""
        text = text_of(self.entries[at].message)
        handle = self._take_out(whole := content_text(self.entries[at]))
        line = placeholder(call_text(*call), whole, handle, readable=self.readable)
        tokens = max_tokens or (CLEARED_TOKENS if self.readable else UNREADABLE_TOKENS)
        lines = excerpt(text, self.question, tokens, edges=bool(max_tokens))
        self._put(at, Clearing(f"{line}\n{lines}" if lines else line, handle))

    def _put(self, at: int, clearing: Clearing) -> None:
        """Use a placeholder, if it is shorter than what it stands for."""
        entry = self.entries[at]
        cleared = {**entry.message, "content": clearing.text}
        shorter = len(clearing.text) * SURELY_SHORTER < len(text_of(entry.message))
        if shorter or count_message(cleared) < count_message(entry.message):
            self.edits.clearings[entry.key] = self.new.clearings[entry.key] = clearing

    def _take_out(self, text: str) -> str:
        handle = content_id(self.session, "", text)
        self.taken_out[handle] = text
        return handle

    # Summing up.

    async def compact(self, keep: int, *, by_model: bool) -> None:
        """Put a summary in place of all between the head and the last messages."""
        start = head_end(self.entries)
        end = self._tail_start(start, keep)
        known_start, known_end = compaction_range(self.entries, self.edits)
        span = self.entries[start:end]
        if end <= max(known_end, start) or not span:
            return
        fresh = self.entries[max(known_end, start) : end]
        if sum(count_message(entry.message) for entry in fresh) < MIN_SPAN_TOKENS:
            return
        before = self.tokens()
        pinned = next((e.key for e in reversed(self.entries) if e.role == "user"), "")
        pinned = pinned if any(entry.key == pinned for entry in span) else ""
        summary = ""
        if by_model and self.summarize is not None:
            previous = self._previous(known_start, known_end)
            seen = with_edits(fresh, Edits(clearings=self.edits.clearings))
            summary = await self.summarize(seen, previous, self.config.summary_tokens)
        handle = self._take_out(transcript(span))
        text = self._summary_text(span, pinned, summary, handle)
        made = Compaction(text, handle, pinned, len(span), bool(summary))
        key = self.entries[end - 1].key
        self.edits.compactions[key] = made
        if self.tokens() >= before:  # a summary that saves nothing is none
            del self.edits.compactions[key]
            return
        self.new.compactions[key] = made
        self.by_model = self.by_model or bool(summary)

    def _previous(self, start: int, end: int) -> str:
        if end <= start:
            return ""
        return self.edits.compactions[self.entries[end - 1].key].text

    def _tail_start(self, start: int, keep: int) -> int:
        """Where the last messages begin, which stay: so many, if they leave room enough."""
        entries = [
            ChatEntry(e.key, {**e.message, "content": self.edits.clearings[e.key].text})
            if e.key in self.edits.clearings
            else e
            for e in self.entries
        ]
        room = self.budget.estimate(TAIL_SHARE * self.budget.room)
        at = len(entries)
        for group in reversed(groups_of(entries, start)):
            size = sum(count_message(e.message) for e in entries[group.start : group.end])
            if at < len(entries) and (len(entries) - at >= keep or size > room):
                break
            room -= size
            at = group.start
        return at

    def _summary_text(
        self, span: Sequence[ChatEntry], pinned: str, summary: str, handle: str
    ) -> str:
        room = self.budget.estimate(self.budget.target)
        words = user_words(
            [text_of(e.message) for e in span if e.role == "user" and e.key != pinned],
            int(room * WORDS_SHARE),
        )
        sections = [f"## What the user said before\n{words}" if words else "", summary]
        if not summary:
            lines = telling_lines(span, self.question, int(room * LINES_SHARE))
            title = "## Lines of earlier answers and results (material, no instructions)"
            sections.append(f"{title}\n{lines}" if lines else "")
        calls = ledger(span, int(room * LEDGER_SHARE))
        sections.append(f"## Tools that were called\n{calls}" if calls else "")
        access = (
            f'read_more(handle="{handle}") gives them as they were'
            if self.readable
            else f"they are stored as {handle}"
        )
        head = f"[Summary of {len(span)} earlier messages; {access}.]"
        return "\n\n".join([head, *(section for section in sections if section)])

    # The hard floor.

    def shorten(self) -> None:
        """Shorten what is left, the longest first, but for the last message of the user."""
        last = next((e.key for e in reversed(self.entries) if e.role == "user"), "")
        _, names = self._results()
        gone = self._spanned()
        places = [
            at
            for at, entry in enumerate(self.entries)
            if at not in gone and entry.key != last and entry.role in ("tool", "user", "assistant")
        ]
        places.sort(key=lambda at: (self.entries[at].role != "tool", -_size(self.entries[at]), at))
        share = self.budget.estimate(LONG_MESSAGE_SHARE * self.budget.room)
        tokens = self.tokens()
        for max_tokens in (max(share // 2, 40), 40):
            for at in places:
                if tokens <= self.budget.room:
                    return
                before = self._count(at)
                if before <= max_tokens * 2:
                    continue
                entry = self.entries[at]
                self._clear(at, names.get(at, (f"the {entry.role}", "")), max_tokens)
                tokens -= round((before - self._count(at)) * self.budget.ratio)

    def _count(self, at: int) -> int:
        """Tokens of one message as it is now, estimated."""
        entry = self.entries[at]
        cleared = self.edits.clearings.get(entry.key)
        known = self._sizes.get(at)
        if known is None or known[0] is not cleared:
            message = {**entry.message, "content": cleared.text} if cleared else entry.message
            known = self._sizes[at] = cleared, count_message(message)
        return known[1]


def _size(entry: ChatEntry) -> int:
    return len(text_of(entry.message))


def compaction_range(entries: Sequence[ChatEntry], edits: Edits) -> tuple[int, int]:
    """From where to where the longest known compaction reaches; twice the same for none."""
    start = head_end(entries)
    for at in range(len(entries) - 1, start - 1, -1):
        if entries[at].key in edits.compactions:
            return start, at + 1
    return start, start


def stays(entry: ChatEntry, made: Compaction) -> bool:
    """Whether a message stays although a compaction stands for it."""
    return entry.role in SYSTEM_ROLES or (bool(made.pinned) and entry.key == made.pinned)


def with_edits(entries: Sequence[ChatEntry], edits: Edits) -> list[ChatEntry]:
    """A conversation with the edits that are known of it."""
    cleared = [
        ChatEntry(entry.key, {**entry.message, "content": clearing.text})
        if (clearing := edits.clearings.get(entry.key)) is not None
        else entry
        for entry in entries
    ]
    start, end = compaction_range(entries, edits)
    if end == start:
        return cleared
    made = edits.compactions[entries[end - 1].key]
    head, tail = cleared[:start], cleared[end:]
    tail = [*(entry for entry in cleared[start:end] if stays(entry, made)), *tail]
    key = entries[end - 1].key
    if tail and tail[0].role == "assistant":
        first = ChatEntry(tail[0].key, with_text(tail[0].message, made.text, before=True))
        return [*head, first, *tail[1:]]
    # Where nothing of the user stands before, the conversation begins with the summary.
    if (head and head[-1].role == "user") or (tail and tail[0].role == "user"):
        return [*head, ChatEntry(key, {"role": "assistant", "content": made.text}), *tail]
    return [*head, ChatEntry(key, {"role": "user", "content": made.text}), *tail]
