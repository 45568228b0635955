"""What is shown of a turn: the answer on stdout, and a line for each call on stderr."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from toolcrib.agents.events import (
    AnswerEvent,
    CallEvent,
    ChatEvent,
    EndEvent,
    FormEvent,
    NoticeEvent,
    QuestionEvent,
    ReasoningEvent,
    RequestEvent,
    ResultEvent,
    RetryEvent,
    TextEvent,
    compact,
)
from toolcrib.agents.outcome import Outcome, Reason
from toolcrib.memory.plans import progress_of
from toolcrib.surfaces.cli.chat_terminal.markdown import MarkdownWriter
from toolcrib.surfaces.cli.screen import coloured, columns, one_line, visible, width

WAITING = "[waiting for the model, {seconds:.0f} s; Ctrl-C stops]"
WAITING_SECONDS = 5.0
TICK_SECONDS = 1.0
MAX_CALLS = 500
"""Calls of a chat that can be opened again."""
MAX_DETAIL_CHARS = 20_000
CLEAR_LINE = "\r\x1b[2K"


@dataclass(frozen=True, slots=True)
class Look:
    """How a chat is shown.

    Attributes:
        styled: Markdown as styles, reasoning dimmed.
        clean: keep control characters away from who reads stdout.
        live: lines on stderr may be written anew.
        quiet: nothing on stderr but failures and questions.
        words: show the answer as it comes.
        reasoning: show reasoning as it comes; else a line says how long it was.
    """

    styled: bool = False
    clean: bool = False
    live: bool = False
    quiet: bool = False
    words: bool = True
    reasoning: bool = False


def write_error(text: str) -> None:
    """Something beside the answer, on stderr."""
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()


def note(text: str) -> None:
    """A line beside the answer, on stderr."""
    write_error(f"{visible(text)}\n")


@dataclass(slots=True)
class TurnFigures:
    """What the answers of a turn took; `tokens_in` is what the last one had to read."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def add(self, event: AnswerEvent) -> None:
        """Count an answer."""
        self.tokens_in = event.tokens_in
        self.tokens_out += event.tokens_out
        self.seconds += event.seconds

    def line(self, window: int, outcome: Outcome, *, has_tools: bool) -> str:
        """The figures in a line, and whether nothing was looked up although it could be."""
        used = self.tokens_in + self.tokens_out
        parts = [f"{used:,} tokens" if not window else f"{used:,} of {window:,} tokens"]
        if window:
            parts[0] += f" ({100 * used // window}%)"
        # Of an answer that came in one piece no speed is known.
        if self.seconds > 0.05 and self.tokens_out > 1:
            parts.append(f"{self.tokens_out / self.seconds:.1f}/s")
        parts.append(f"{outcome.seconds:.1f} s")
        if has_tools and not outcome.tool_calls:
            parts.append("no tool used")
        return f"[{', '.join(parts)}]"


@dataclass(slots=True)
class RecordedCall:
    """A call as it can be opened again."""

    call: CallEvent
    result: ResultEvent | None = None


@dataclass(slots=True)
class TurnView:
    """Shows a chat's events.

    Attributes:
        look: how.
        calls: those that can be opened again, by number.
        thought: the reasoning of the last answer that had any.
        wrote: text stands on the last line of stdout.
        gone: who read stdout has closed it.
    """

    look: Look
    calls: dict[int, RecordedCall] = field(default_factory=dict)
    thought: str = ""
    wrote: bool = False
    gone: BrokenPipeError | None = None
    figures: TurnFigures = field(default_factory=TurnFigures)
    _markdown: MarkdownWriter | None = None
    _status: bool = False
    _timer: asyncio.TimerHandle | None = None
    _requested_at: float = 0.0
    _thinking: float = 0.0
    _dimmed: bool = False
    _thoughts: list[str] = field(default_factory=list)
    _displayed: list[str] = field(default_factory=list)
    _earlier: str = ""

    def begin(self) -> None:
        """A turn begins."""
        self.figures = TurnFigures()
        self._displayed, self._earlier = [], ""

    def show(self, event: ChatEvent) -> None:
        """Show an event; for questions and the end only a line is cleared.

        Raises:
            BrokenPipeError: who read stdout has closed it.
        """
        if isinstance(event, TextEvent):
            self._text(event.text)
        elif isinstance(event, ReasoningEvent):
            self._reasoning(event.text)
        elif isinstance(event, RequestEvent):
            self._requested()
        elif isinstance(event, AnswerEvent):
            self._answered(event)
        elif isinstance(event, RetryEvent | NoticeEvent | QuestionEvent | FormEvent):
            self._beside(event)
        elif isinstance(event, CallEvent):
            self._call(event)
        elif isinstance(event, ResultEvent):
            self._result(event)
        elif isinstance(event, EndEvent):
            self._clear()

    def _beside(self, event: ChatEvent) -> None:
        """What stands between the answer and the calls, on a line of its own."""
        self._clear()
        self.end_line()
        if isinstance(event, RetryEvent):
            self._note(f"[{event.reason}]")
        elif isinstance(event, NoticeEvent):
            self._note(event.text)

    def stop(self) -> None:
        """The turn is over, however: nothing is waited for, and styles end."""
        self._clear()
        self._end_thought()
        if self._markdown is not None:
            self._markdown.close()

    def end_line(self) -> None:
        """Begin a new line where text stands on this one."""
        if self._markdown is not None:
            self._markdown.close()
        if self.wrote:
            self._out("\n")
            self.wrote = False

    def rest_of(self, answer: str) -> str:
        """What of an answer does not stand there yet."""
        if self.wrote:
            return ""
        for text in ("".join(self._displayed).strip(), self._earlier):
            if text and answer.startswith(text):
                return answer[len(text) :].lstrip()
        return answer

    def detail(self, number: int | None = None) -> None:
        """Open a call: its arguments and result; without a number the last one."""
        number = max(self.calls, default=0) if number is None else number
        record = self.calls.get(number)
        self._clear()
        if record is None:
            note(self.thought or "Nothing to show yet." if not self.calls else "No such call.")
            return
        note(f"[{number}] {record.call.name}")
        for name, value in record.call.arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            note(f"  {name}: {_cut(text)}")
        result = record.result
        note("  (it still runs)" if result is None else _cut(result.text))

    def _requested(self) -> None:
        self._clear()
        self._earlier = "".join(self._displayed).strip() or self._earlier
        self._displayed, self._thoughts = [], []
        self._requested_at = time.monotonic()
        self._timer = asyncio.get_running_loop().call_later(WAITING_SECONDS, self._waiting)

    def _waiting(self) -> None:
        text = WAITING.format(seconds=time.monotonic() - self._requested_at)
        if self.look.live:
            self._set_status(text)
            self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._waiting)
        else:
            self._note(text)

    def _text(self, text: str) -> None:
        self._clear()
        self._end_thought()
        self._displayed.append(text)
        if not self.look.words:
            return
        text = text if self.wrote else text.lstrip("\n")
        if not text:
            return
        text = text.encode("utf-8", "replace").decode()
        text = visible(text) if self.look.clean else text
        self.wrote = True
        if not self.look.styled:
            self._out(text)
            return
        self._markdown = self._markdown or MarkdownWriter(self._out)
        self._markdown.write(text)

    def _reasoning(self, text: str) -> None:
        if self._timer is not None:
            self._clear()
        self._thoughts.append(text)
        self._thinking = self._thinking or time.monotonic()
        if self.look.quiet or not self.look.words:
            return
        if self.look.reasoning:
            if not self._dimmed:
                self.end_line()
                write_error(coloured("dim")[0])
                self._dimmed = True
            write_error(visible(text))
        elif self.look.live:
            self._set_status(f"[thinking, {time.monotonic() - self._thinking:.0f} s]")

    def _end_thought(self) -> None:
        if not self._thinking:
            return
        seconds, self._thinking = time.monotonic() - self._thinking, 0.0
        self.thought = "".join(self._thoughts)
        if self._dimmed:
            write_error(f"{coloured('dim')[1]}\n")
            self._dimmed = False
        elif self.look.words and not self.look.quiet:
            self._clear()
            self._dim(f"[thought for {seconds:.0f} s; /show thought]")

    def _answered(self, event: AnswerEvent) -> None:
        self._clear()
        self._end_thought()
        self.figures.add(event)
        if event.calls:
            self.end_line()

    def _call(self, event: CallEvent) -> None:
        self.end_line()
        self.calls[event.number] = RecordedCall(event)
        if len(self.calls) > MAX_CALLS:
            del self.calls[min(self.calls)]
        if self.look.live:
            self._set_status(_line_of(event))
        else:
            self._note(one_line(_line_of(event), width() - 1))

    def _result(self, event: ResultEvent) -> None:
        self._clear()
        record = self.calls.get(event.number)
        if record is not None:
            record.result = event
            if self.look.live:
                after = f" [{event.number}, {event.seconds:.1f} s]"
                line = one_line(_line_of(record.call), max(columns() - 1 - len(after), 8))
                self._note(f"{line}{after}")
        plan = progress_of(event.data)
        if plan is not None:
            self._note(one_line(f"  {plan[0]}", width() - 1))
        if event.error:
            red, end = coloured("red")
            text = one_line(f"  {event.error}", max(columns() - 1, 20))
            write_error(f"{red}{text}{end}\n")
        waiting = [s.call for s in self.calls.values() if s.result is None]
        if waiting and self.look.live:
            self._set_status(_line_of(waiting[-1]))

    def _note(self, text: str) -> None:
        if not self.look.quiet:
            note(text)

    def _dim(self, text: str) -> None:
        start, end = coloured("dim")
        write_error(f"{start}{visible(text)}{end}\n")

    def figures_line(self, window: int, outcome: Outcome, *, has_tools: bool) -> None:
        """The figures of the turn, where anything was answered."""
        if self.figures.tokens_in and not self.look.quiet:
            self._dim(self.figures.line(window, outcome, has_tools=has_tools))

    def _set_status(self, text: str) -> None:
        if not self.look.quiet:
            self.end_line()
            # Never as wide as the window, so that it stays one line.
            write_error(f"{CLEAR_LINE}{one_line(text, columns() - 1)}")
            self._status = True

    def _clear(self) -> None:
        """Say no more that anything is waited for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._status:
            write_error(CLEAR_LINE)
            self._status = False

    def _out(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError as error:
            self.gone = error
            raise


def _line_of(call: CallEvent) -> str:
    given = " ".join(f"{name}={compact(value)[:500]}" for name, value in call.arguments.items())
    return f"> {call.name} {given}".rstrip()


def _cut(text: str) -> str:
    if len(text) <= MAX_DETAIL_CHARS:
        return text
    return f"{text[:MAX_DETAIL_CHARS]}\n[{len(text) - MAX_DETAIL_CHARS:,} more characters]"


def close_with(outcome: Outcome, seconds: float | None = None) -> None:
    """Say why a turn ended, where it is not an answer."""
    if outcome.reason in (Reason.ANSWERED, Reason.FINISHED) and not outcome.note:
        return
    words: dict[Any, str] = {
        Reason.ANSWERED: "answered",
        Reason.FINISHED: "answered",
        Reason.NO_ANSWER: "the model said nothing",
        Reason.STEP_LIMIT: "stopped after its last step; say something to go on",
        Reason.REPEATED_CALL: "no more tools: it went round in circles",
        Reason.REPEATED_ERROR: "no more tools: the same error came again and again",
    }
    if seconds is not None:
        words[Reason.TIME_LIMIT] = f"time limit: stopped after {seconds:g} s (agent.seconds)"
    text = words.get(outcome.reason, str(outcome.reason).replace("_", " "))
    note(f"[{text}]" + (f" {outcome.note}" if outcome.note else ""))
    if outcome.hint:
        note(outcome.hint)
