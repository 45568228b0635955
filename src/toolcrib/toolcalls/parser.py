"""The parser: a whole text, a message, or a stream, from mark to mark; the rest is content."""

# ruff: noqa: RUF001 - quotation marks of several languages

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from toolcrib.toolcalls.calls import CallBlock, bare_calls, begins_call, read_block, read_tags
from toolcrib.toolcalls.decoders.decoder import OPENERS, BrokenCall, Item, cut
from toolcrib.toolcalls.growing_text import NONE, Found, MarkSet, Wait, found_by, joined
from toolcrib.toolcalls.marks import (
    AFTER_TAGS,
    CLOSERS,
    IS_TAG,
    LATER,
    MARK_KINDS,
    MARKS,
    OPENING_ITEMS,
    REASONING_MARKS,
    STRIPPED,
    STRIPPED_FIRST,
    TRIGGER,
    TURN_ENDS,
    WRAPPERS,
    Kind,
    partial_mark_start,
)
from toolcrib.toolcalls.output import Event, ParsedText, ParserOutput, ParserState, TextFlow
from toolcrib.toolcalls.reasoning_text import OPENINGS, read_message, read_reasoning
from toolcrib.toolcalls.tool_schemas import OBJECT, ToolSchemas
from toolcrib.toolcalls.values import calls_of

# Fenced code: content as it is, except for a fence that holds calls and nothing else.

LINE = re.compile(r"[^\n]*")
CALL_INFO_WORDS = {
    "", "json", "jsonc", "json5", "xml", "tool_call", "tool_calls", "tool_code", "tool", "text",
}  # fmt: skip
CODE = {"tool_code", "tool_call", "tool_calls"}
PRINTED = re.compile(r"^print\((.+)\)[ \t]*$", re.MULTILINE)
"""How Gemma asks for the result of a call."""
BLOCKS = OPENERS | frozenset(WRAPPERS)
ENDS = MarkSet(TURN_ENDS)
MAX_INFO_CHARS = 100
MAX_TICKS = 200
MAX_CLOSING_CHARS = 256
"""More than a line break, its indent and a closing run that is not yet long enough."""
MAX_LEAD_CHARS = 400
MAX_AFTER_CHARS = 2_000
COLON = re.compile("[:：]")
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "»": "«", "(": ")"}
GOES_ON = re.compile(r"""[ \t]*[\w.,;:!?)"'”’»…–—。，]""")
"""How a sentence goes on after what it quotes."""
OPENING = ("<", "[")
"""How a further call begins, beside the one that is quoted."""
ENDS_IN_PROSE = re.compile(r"""[\w.,;:!?)"'”’»…][ \t]*\Z""")
EXAMPLE_WORDS = re.compile(
    r"\b(?:e\.?g|ex[ae]mples?|format(?:ted)?|such as|like (?:this|so)|looks|"
    r"look like|syntax|schema|sample|"
    r"documentation|documents?|template|would|could|returns?|response|output|beispiel|"
    r"ejemplo)\b|例|示例|样例|範例|^#",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=64)
def _closing(tick: str, count: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]{{0,40}}{re.escape(tick)}{{{count},{MAX_TICKS}}}")


@lru_cache(maxsize=64)
def _partial(tick: str) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]{{0,40}}{re.escape(tick)}*\Z")


def announces_call(content: TextFlow) -> bool:
    """Whether the content so far announces a call, rather than shows or documents one."""
    return content.size <= MAX_LEAD_CHARS and not _shows(content.text)


def _shows(lead: str) -> bool:
    return "```" in lead or EXAMPLE_WORDS.search(lead) is not None


def read_fence(machine: ParserState, at: int, start: int) -> Wait[None]:
    """Read the fence whose opening run begins at a place; its heading begins at `start`."""
    text = machine.text
    tick = text.text[at]
    run = yield from text.run(re.compile(re.escape(tick) + "+"), at, MAX_INFO_CHARS)
    info = yield from text.run(LINE, at + len(run), MAX_INFO_CHARS)
    body = at + len(run) + len(info)
    word = info.strip().lower()
    if machine.reading.schemas and word in CALL_INFO_WORDS and announces_call(machine.out.content):
        begins = yield from _begins(machine, body, word)
        if begins:
            read = yield from _calls(machine, start, run, body, word)
            if read:
                return
    machine.emit_to(body)
    yield from _fenced_verbatim(machine, tick, len(run))


def _begins(machine: ParserState, at: int, word: str) -> Wait[bool]:
    reading, text = machine.reading, machine.text
    at, mark = yield from text.mark_after_blank(at, MARKS)
    if mark in BLOCKS:
        return True
    first = text.text[at : at + 1]
    if first == "[":
        at = yield from text.skip_blank(at + 1)
        first = text.text[at : at + 1]
    if first == "{":
        return (yield from begins_call(reading, at))
    return bool(first) and word in CODE


def _calls(machine: ParserState, at: int, run: str, body: int, word: str) -> Wait[bool]:
    """Take the fences from here on as calls, if they are nothing else and nothing follows."""
    text, out = machine.text, machine.out
    found: list[ParserOutput] = []
    while True:
        end = yield from _search(machine, _closing(run[0], len(run)), body)
        stop = end.start if end else len(text.text)
        part = text.text[body:stop]
        if word in CODE and part.lstrip()[:1] not in ("[", "{", "<"):
            bare = PRINTED.sub(r"\1", part).strip()
            part = f"[{bare}]"
        inner = machine.inner(part)
        if inner is None or inner.content.has_begun or not (inner.calls or inner.notes):
            return False
        found.append(inner)
        after, mark = yield from text.mark_after_blank(end.end if end else stop, ENDS)
        if mark or after >= len(text.text):
            break
        if (yield from text.peek(after, len(run))) != run:
            return False
        info = yield from text.run(LINE, after + len(run), MAX_INFO_CHARS)
        body = after + len(run) + len(info)
    machine.emit_to(at)
    out.content.break_off()
    for inner in found:
        out.adopt(inner)
    machine.pos = after
    return True


def _search(machine: ParserState, pattern: re.Pattern[str], at: int) -> Wait[Found | None]:
    text = machine.text
    while True:
        found = found_by(pattern.search(text.text, at))
        if text.ended or (found and _is_whole(machine, found)):
            return found
        at = found.start if found else max(at, len(text.text) - MAX_CLOSING_CHARS)
        yield


def _is_whole(machine: ParserState, closing: Found) -> bool:
    """Whether nothing that comes can make a closing run longer."""
    return closing.end < len(machine.text.text) or len(closing.mark) >= MAX_TICKS


def _fenced_verbatim(machine: ParserState, tick: str, count: int) -> Wait[None]:
    text, out = machine.text, machine.out
    pattern, partial = _closing(tick, count), _partial(tick)
    while True:
        found = found_by(pattern.search(text.text, machine.pos))
        if found is not None and (text.ended or _is_whole(machine, found)):
            machine.emit_to(found.end)
            break
        if text.ended:
            machine.emit_to(len(text.text))
            break
        near = max(machine.pos, len(text.text) - MAX_CLOSING_CHARS)
        partial_run = found or found_by(partial.search(text.text, near))
        keep = partial_run.start if partial_run else len(text.text)
        machine.emit_to(keep)
        machine.trim()
        yield
    out.end_code()


HEADER = re.compile(
    r"[^\n]{0,200}?<\|(?:channel|message|constrain)\|>|[^\n{]{0,60}to=functions\.[^\n{]{1,100}\{"
)
MAX_MARKS = 10_000
"""What follows so many is text: no model means them."""
ALL = "all\n"
"""How Functionary says that what follows is for the user."""
FIRST_WORDS = MarkSet((*OPENINGS, ALL))
EVERY_THOUGHT = MarkSet(mark for ends in REASONING_MARKS.values() for mark in ends)
ENDS_OF = {mark: joined(*ends) for mark, ends in REASONING_MARKS.items()}
AFTER = MarkSet(AFTER_TAGS)
HEADERS = MarkSet(STRIPPED)
ACTION = MarkSet(("Action:```", "Action: ```"))


def parse_steps(machine: ParserState, *, reasoning: bool = False) -> Wait[None]:
    """Read the text to its end.

    Args:
        machine: what is read, and where to.
        reasoning: whether the text begins within reasoning.
    """
    if reasoning:
        yield from read_reasoning(machine, EVERY_THOUGHT)
    text, out = machine.text, machine.out
    is_fresh = True
    while True:
        if is_fresh:
            is_fresh = yield from _at_start(machine)
            continue
        found = None
        if machine.marks < MAX_MARKS:
            pattern = TRIGGER if out.content.size <= MAX_LEAD_CHARS else LATER
            found = pattern.search(text.text, machine.pos)
        if found is not None:
            mark, (start, end), found = found[0], found.span(), None
            is_fresh = yield from _at_mark(machine, mark, start, end)
            continue
        if text.ended:
            machine.emit_to(len(text.text))
            break
        keep = partial_mark_start(text.text, machine.pos)
        machine.emit_to(keep)
        machine.trim()
        yield
    out.content.end()
    out.settle()


def parse_whole(
    text: str, schemas: ToolSchemas, *, inner: bool = True, reasoning: bool = False
) -> ParserOutput:
    """Read a text that is all there."""
    machine = ParserState(schemas, None if inner else parse_whole)
    machine.text.text = text
    machine.text.ended = True
    for _ in parse_steps(machine, reasoning=reasoning):
        raise AssertionError("a text that is all there was waited for")
    return machine.out


def _at_start(machine: ParserState) -> Wait[bool]:
    """Look for calls without a mark where nothing went before, or only calls and reasoning."""
    text, out = machine.text, machine.out
    at = machine.pos
    if text.text.startswith("<", at):
        return False  # a mark, most often
    at = yield from text.skip_blank(at)
    if at >= len(text.text):
        return False
    first, is_first = text.text[at], not out.content.has_begun
    if first == "<":
        return False
    if is_first or machine.is_stripped:
        mark = yield from text.mark_at(at, FIRST_WORDS)
        if mark == ALL and machine.reading.schemas:
            machine.pos = at + len(mark)
            return False
        if mark and mark != ALL and (yield from _is_header(machine, at)):
            yield from read_message(machine, at, mark)
            return True
    if machine.is_final:
        return False
    if first in "`~" and (yield from text.peek(at, 3)) == first * 3:
        machine.emit_to(at)
        yield from read_fence(machine, at, at)
        return False
    if first == "A" and (yield from _at_action(machine, at)):
        return True
    is_first = is_first or bool(out.calls)
    return (yield from _bare(machine, at, is_first=is_first))


def _is_header(machine: ParserState, at: int) -> Wait[bool]:
    while True:
        if HEADER.match(machine.text.text, at):
            return True
        rest = machine.text.text[at : at + 240]
        if machine.text.ended or "\n" in rest or len(rest) >= 240:
            return False
        yield


def _bare(machine: ParserState, at: int, *, is_first: bool) -> Wait[bool]:
    """Take calls without a mark, if they stand here."""
    answer = yield from bare_calls(machine.reading, at, is_first=is_first)
    if answer is None:
        return False
    machine.emit_to(at)
    if isinstance(answer, Item):
        _take(machine, CallBlock(answer.end, list(answer.calls)), at)
    else:
        _take(machine, CallBlock(answer.end, cut=answer), at)
    return True


def _at_mark(machine: ParserState, mark: str, start: int, end: int) -> Wait[bool]:
    """Deal with a mark; whether something was taken out of the content here."""
    out = machine.out
    machine.marks += mark[-1] not in "[{:" or mark in MARK_KINDS
    if mark[0] == "\n":
        return (yield from _at_line(machine, mark, start, end))
    machine.emit_to(start)
    if out.in_code:
        return _verbatim(machine, mark)
    kind = MARK_KINDS[mark]
    if kind in ("arrow", "block", "tags"):
        return (yield from _at_call(machine, mark, kind))
    if kind == "harmony":
        yield from read_message(machine, start, mark)
        return True
    if kind == "ending":
        return (yield from _at_ending(machine, mark))
    if kind == "stripped":
        return (yield from _at_stripped(machine, mark))
    if kind == "closer" and not (out.calls or out.notes) and mark in IS_TAG:
        return _verbatim(machine, mark)
    machine.pos = start + len(mark)
    if kind == "orphan" and not out.is_settled:
        out.move_to_reasoning("thought\n")
        out.settle()
    out.content.break_off()
    if kind == "thought":
        yield from read_reasoning(machine, ENDS_OF[mark])
    return True


def _at_stripped(machine: ParserState, mark: str) -> Wait[bool]:
    """A header without its marks counts where the text began with one."""
    out = machine.out
    if not machine.is_stripped:
        content = out.content.text
        if not content.startswith(STRIPPED_FIRST) or not content[len(STRIPPED_FIRST) :][:1].strip():
            return _verbatim(machine, mark)
        out.move_to_reasoning(STRIPPED_FIRST)
        out.settle()
    machine.is_stripped = True
    machine.is_final = mark == STRIPPED[0]
    machine.pos += len(mark)
    out.content.break_off()
    if mark.endswith(STRIPPED_FIRST):
        yield from read_reasoning(machine, NONE, HEADERS)
    return True


def _at_call(machine: ParserState, mark: str, kind: Kind) -> Wait[bool]:
    start = machine.pos
    if kind == "block":
        return (yield from _at_block(machine, mark))
    if kind == "arrow":
        is_taken = yield from _bare(machine, start, is_first=False)
        return is_taken or _verbatim(machine, mark)
    block = yield from read_tags(machine.reading, start, AFTER)
    if block is None:
        return _verbatim(machine, mark)
    return (yield from _take_or_leave(machine, block, start))


def _verbatim(machine: ParserState, mark: str) -> bool:
    machine.emit_to(machine.pos + len(mark))
    return False


def _at_line(machine: ParserState, line: str, start: int, end: int) -> Wait[bool]:
    """A line that may begin a fence or a call without a mark."""
    sign = line.lstrip()
    at = end - len(sign)
    machine.emit_to(start)
    if sign in ("```", "~~~"):
        yield from read_fence(machine, at, at)
        return True
    if machine.reading.schemas and not machine.is_final:
        if (yield from _at_action(machine, at)):
            return True
        is_announced = sign == "Action:" or announces_call(machine.out.content)
        if is_announced and (yield from _bare(machine, at, is_first=False)):
            return True
    machine.emit_to(at)
    return False


def _at_action(machine: ParserState, at: int) -> Wait[bool]:
    """`Action:` and a fence on its line, as Command-R writes."""
    mark = yield from machine.text.mark_at(at, ACTION)
    if mark:
        yield from read_fence(machine, at + len(mark) - 3, at)
    return bool(mark)


def _at_block(machine: ParserState, mark: str) -> Wait[bool]:
    start, after = machine.pos, machine.pos + len(mark) - (mark in OPENING_ITEMS)
    block = yield from read_block(machine.reading, after, CLOSERS[mark])
    if block is None:
        if mark in IS_TAG:
            end = (yield from _unread(machine, mark, after)) if machine.out.calls else -1
            if end < 0:
                return _verbatim(machine, mark)
            return _take(machine, CallBlock(end, [None]), start)
        broken = yield from cut(machine.reading, after - 1, CLOSERS[mark])
        if broken.closed and machine.text.text.endswith(tuple(CLOSERS[mark].marks), 0, broken.end):
            return _take(machine, CallBlock(broken.end, cut=broken), start)
        machine.pos = after
        machine.out.content.break_off()
        return True
    if block.is_empty:
        yield from machine.text.peek(block.end, 1)  # whether it is the end of the text
    if mark[0] == "✿":  # which ends in a colon, like the mark that closes it
        block.end += len((yield from machine.text.run(COLON, block.end, 1)))
    return (yield from _take_or_leave(machine, block, start))


def _take_or_leave(machine: ParserState, block: CallBlock, start: int) -> Wait[bool]:
    """Keep what a block holds, unless it is quoted in a sentence: then it is text."""
    if (yield from _is_quoted(machine, block)):
        machine.emit_to(block.end)
        return False
    return _take(machine, block, start)


def _is_quoted(machine: ParserState, block: CallBlock) -> Wait[bool]:
    """Whether whole calls stand in quotation marks, or in a sentence and are of no offered tool."""
    schemas, out, text = machine.reading.schemas, machine.out, machine.text
    if not schemas or not block.calls or block.cut is not None or None in block.calls:
        return False
    quote = QUOTES.get(out.line[-1:])
    if quote and (yield from text.peek(block.end, 1)) == quote:
        return True
    if all(raw and schemas.resolve(raw.name) for raw in block.calls):
        return False
    rest = yield from text.run(LINE, block.end, MAX_AFTER_CHARS)
    if GOES_ON.match(rest) or (rest.lstrip()[:1] in OPENING and ENDS_IN_PROSE.search(rest)):
        return True
    is_begun = bool(out.line.strip()) and out.content.size <= MAX_LEAD_CHARS
    return is_begun and _shows(out.content.text)


def _unread(machine: ParserState, mark: str, at: int) -> Wait[int]:
    """Where a block beside calls ends that holds nothing which could be read, or -1.

    In prose its end mark would have more words after it.
    """
    text = machine.text
    found = yield from text.first(joined(mark, CLOSERS[mark]), at)
    if found is None or found.mark == mark:
        return -1
    after, again = yield from text.mark_after_blank(found.end, joined(mark))
    is_end = after >= len(text.text) or "\n" in text.text[found.end : after]
    return found.end if is_end or again else -1


def _take(machine: ParserState, block: CallBlock, start: int) -> bool:
    """Keep what a block holds, and go on after it."""
    out, text = machine.out, machine.text
    written = text.text[start : block.end]
    for raw in block.calls:
        if raw is None:
            out.note("malformed", written)
        else:
            out.add(raw)
    is_end = block.end >= len(text.text)
    if block.cut is not None:
        out.note_cut(block.cut, written, ended=is_end)
    elif block.is_empty and is_end:
        out.note_cut(BrokenCall(block.end, closed=False), written, ended=True)
    machine.pos = block.end
    out.content.break_off()
    return True


def _at_ending(machine: ParserState, mark: str) -> Wait[bool]:
    """An end of a turn is dropped where the text ends, or something is taken out."""
    text, after = machine.text, machine.pos + len(mark)
    at = yield from text.skip_blank(after)
    yield from text.peek(at, MARKS.max_length)
    follows = at >= len(text.text) or TRIGGER.match(text.text, at) is not None
    if not follows and (not machine.out.calls or mark in IS_TAG):
        return _verbatim(machine, mark)
    machine.pos = after
    machine.out.content.break_off()
    return True


REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


def parse_tool_calls(
    text: str, tools: Iterable[Any] | None = None, *, reasoning: bool = False
) -> ParsedText:
    """Take a model's text apart into content, reasoning and tool calls.

    Args:
        text: what the model wrote, with whatever marks its format has.
        tools: the tools that it was offered, in OpenAI's form or bare (`name`,
            `parameters`). Their schemas say of what type an argument is where the format
            does not. Without any, only calls with marks are seen.
        reasoning: whether the text begins within reasoning, because the prompt ended with
            its opening mark. Where that is not known, the closing mark tells.

    Returns:
        Content and reasoning without marks, whole calls in order, and a diagnostic for
        each thing that began like a call and is none. Never raises for what a text holds.

    Raises:
        TypeError: `text` is no str, or `tools` no list of tools.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"text must be a str, not {type(text).__name__}; parse_message takes a whole message"
        )
    return parse_whole(text, _schemas(tools), inner=False, reasoning=reasoning).result()


class ToolCallStream:
    """Parses a model's text as it comes, and gives events for what is sure.

    `feed` gives events that are never taken back: pieces of content, pieces of reasoning,
    calls. A call is told when it is whole and no later mark can make it part of the
    reasoning: after reasoning has ended, in formats that say where they are, else at the
    end. The result of `close` is that of `parse_tool_calls` on the whole text, however it
    was split. One thing only the result can tell: reasoning whose opening mark was part of
    the prompt (pass `reasoning=True` where that is known) flows as content until its
    closing mark comes.

    Args:
        tools: as for `parse_tool_calls`.
        reasoning: as for `parse_tool_calls`.

    Raises:
        TypeError: `tools` is no list of tools.
    """

    def __init__(self, tools: Iterable[Any] | None = None, *, reasoning: bool = False) -> None:
        self._machine = ParserState(_schemas(tools), parse_whole)
        self._steps = parse_steps(self._machine, reasoning=reasoning)
        self._result: ParsedText | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Take the next piece; the events that it made sure.

        Raises:
            ValueError: after `close`.
            TypeError: `chunk` is no str.
        """
        if not isinstance(chunk, str):
            raise TypeError(f"chunk must be a str, not {type(chunk).__name__}")
        if self._result is not None:
            raise ValueError("the stream is closed")
        if chunk:
            self._machine.text.add(chunk)
            next(self._steps, None)
        return self._machine.out.take()

    def close(self) -> ParsedText:
        """The end of the text: everything that was read."""
        if self._result is None:
            self._machine.text.ended = True
            for _ in self._steps:
                raise AssertionError("a text that is all there was waited for")
            self._result = self._machine.out.result()
        return self._result

    def last(self) -> list[Event]:
        """Close, and the events that the end made sure."""
        self.close()
        return self._machine.out.take()


def parse_message(message: Mapping[str, Any], tools: Iterable[Any] | None = None) -> ParsedText:
    """Take an assistant's message apart, as a chat endpoint sends it.

    Structured calls (`tool_calls`, or the older `function_call`) come first; only without
    any are the calls looked for in the content, and only without content in reasoning that
    ends with them.

    Args:
        message: `content`, `tool_calls`, `reasoning_content` (or `reasoning`, `thinking`);
            what is missing, null or of a wrong type is passed over.
        tools: as for `parse_tool_calls`.

    Raises:
        TypeError: `message` is no mapping, or `tools` no list of tools.
    """
    if not isinstance(message, OBJECT):
        raise TypeError(
            f"message must be a mapping, not {type(message).__name__}; "
            "parse_tool_calls takes a text"
        )
    schemas = _schemas(tools)
    out = parse_whole(_text(message.get("content")), schemas, inner=False)
    given = [message[key] for key in ("tool_calls", "calls", "function_call") if message.get(key)]
    thought = next((_text(message[key]) for key in REASONING_KEYS if _text(message.get(key))), "")
    structured = ParserOutput(schemas)
    for raw in calls_of(given, schemas) if given else ():
        if raw is None:
            structured.note("malformed", str(given))
        else:
            structured.add(raw)
    if structured.calls:
        out.forget()
    out.adopt(structured)
    if thought and not out.calls and not out.content.has_begun:
        out.adopt(inner := parse_whole(thought, schemas, inner=False, reasoning=True))
        thought = inner.reasoning.text
    found = out.result()
    reasoning = "\n".join(part for part in (thought, found.reasoning) if part)
    return replace(found, reasoning=reasoning)


def _schemas(tools: Iterable[Any] | None) -> ToolSchemas:
    """The tools, of which one by itself is a likely slip: its parts would be taken for tools."""
    if tools is not None and (
        isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable)
    ):
        raise TypeError(f"tools must be a list of tools, not {type(tools).__name__}")
    return ToolSchemas(tools)


def _text(value: Any) -> str:
    if isinstance(value, list):  # parts
        texts = [part.get("text") for part in value if isinstance(part, OBJECT)]
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""
