"""The texts that the context guard puts in place of what it takes out, made without a model."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate

from toolcrib.chatflow.groups import ChatEntry, calls_of, function_of
from toolcrib.chatflow.prompt import text_of
from toolcrib.chatflow.token_count import count_text
from toolcrib.text.display import with_ellipsis
from toolcrib.text.json_values import json_object
from toolcrib.text.relevance import content_words

CHARS_OF_A_TOKEN = 3
"""Characters that surely fit into a token's room, for budgets of excerpts."""
MAX_LINE_CHARS = 300
EDGE_LINES = 3
MAX_WORDS = 24
ARGUMENT_CHARS = 80
_ERROR_START = re.compile(
    r"\s*(?:\W{0,4}(?:error|exception|failed|failure|fatal|traceback|fehler|panic|denied)\b"
    r'|\{\s*"(?:error|is_?error)"\s*:)',
    re.IGNORECASE,
)
_ERROR_ANYWHERE = re.compile(
    r"Traceback \(most recent call last\)|\bexit(?:ed with)? (?:code|status):? ?[1-9]"
)
_ERROR_WORDS = ("error", "exception", "fail", "fatal", "panic", "denied")
MAX_ERROR_LINES = 200
_FACTS = re.compile(r"\d{2,}|https?://|(?<![\w.-])[\w.-]++/\w|\"[^\"\n]{3,60}\"|`[^`\n]{2,60}`")
_DECISION = re.compile(
    r"\b(?:decid|chose|must|never|always|because|instead|agreed|root cause|fixed|todo|next step)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - signs of other scripts


def is_error(text: str) -> bool:
    """Whether a result says that something went wrong."""
    if _ERROR_START.match(text[:200]):
        return True
    return bool(_ERROR_ANYWHERE.search(text[:2_000]) or _ERROR_ANYWHERE.search(text[-2_000:]))


def call_text(name: str, arguments: str) -> str:
    """A call in a few words: its name and the beginning of each argument."""
    values = json_object(arguments) if arguments.strip() else {}
    if values is None:
        return f"{name}({_short(arguments, ARGUMENT_CHARS)})"
    parts = [f"{key}={_short(json.dumps(v, ensure_ascii=False), 60)}" for key, v in values.items()]
    return f"{name}({_short(', '.join(parts), ARGUMENT_CHARS)})"


def placeholder(call: str, text: str, handle: str, *, readable: bool) -> str:
    """The line that stands in place of a result."""
    hint = f'read_more(handle="{handle}") gives it' if readable else f"it is stored as {handle}"
    return f"[Taken out to save room: result of {call}, {len(text):,} characters; {hint}.]"


def superseded(call: str, handle: str, *, readable: bool) -> str:
    """The line that stands in place of an older result of a call that was made again."""
    where = f'read_more(handle="{handle}")' if readable else f"stored as {handle}"
    return f"[An older result of {call}; the newest stands further down. This one: {where}.]"


def excerpt(text: str, question: str, max_tokens: int, *, edges: bool = True) -> str:
    """The lines of a text that matter: those about a question, errors, the first and last.

    Args:
        text: any, also a single line of megabytes.
        question: what is wanted now.
        max_tokens: of the excerpt.
        edges: whether its first and last lines count.
    """
    lines = _lines(text)
    scores = _scores(text, lines, question)
    for at in {*range(EDGE_LINES), *range(len(lines) - EDGE_LINES, len(lines))} if edges else ():
        if 0 <= at < len(lines):
            scores[at] = scores.get(at, 0.0) + 1.0
    for at in _error_lines(text, lines):
        scores[at] = scores.get(at, 0.0) + 1.5
    room = max_tokens * CHARS_OF_A_TOKEN
    chosen: list[int] = []
    for at, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        start, end = lines[at]
        cost = min(end - start, MAX_LINE_CHARS) + 1
        if cost <= room and end > start:
            room -= cost
            chosen.append(at)
    return _joined(text, lines, sorted(chosen), question)


def user_words(messages: Sequence[str], max_tokens: int) -> str:
    """What the user said, verbatim where there is room, else the sentences with facts."""
    texts = [text.strip() for text in messages if text.strip()]
    for max_chars in (4_000, 1_000, 400, 200, 100):
        listed = [f"- {_trimmed(text, max_chars)}" for text in texts]
        if sum(count_text(line) + 1 for line in listed) <= max_tokens:
            return "\n".join(listed)
    taken = _last_fitting(listed, max_tokens)
    left = len(listed) - len(taken)
    return "\n".join([*([f"- ({left} earlier messages)"] if left else []), *taken])


def _last_fitting(lines: Sequence[str], max_tokens: int) -> list[str]:
    taken: list[str] = []
    for line in reversed(lines):
        max_tokens -= count_text(line) + 1
        if max_tokens < 0:
            break
        taken.append(line)
    return taken[::-1]


def ledger(entries: Sequence[ChatEntry], max_tokens: int) -> str:
    """The calls of a stretch, one a line, the newest where not all fit."""
    results = {
        str(entry.message.get("tool_call_id") or ""): text_of(entry.message)
        for entry in entries
        if entry.role == "tool"
    }
    lines: Counter[str] = Counter()
    for entry in entries:
        for call in calls_of(entry.message):
            result = results.get(str(call.get("id") or ""), "")
            status = "failed" if is_error(result) else f"{len(result):,} characters"
            lines[f"- {call_text(*function_of(call))} -> {status}"] += 1
    written = [line if n == 1 else f"{line}, {n} times" for line, n in lines.items()]
    taken = _last_fitting(written, max_tokens)
    left = len(written) - len(taken)
    return "\n".join([*([f"- {left} earlier calls"] if left and taken else []), *taken])


def telling_lines(entries: Sequence[ChatEntry], question: str, max_tokens: int) -> str:
    """Lines of assistants and tools that matter: about the question, with facts, newer ones."""
    texts = [text_of(e.message) for e in entries if e.role in ("assistant", "tool")]
    text = "\n".join(texts)
    lines = _lines(text)
    scores = _scores(text, lines, question)
    ends = list(accumulate(len(part) + 1 for part in texts))
    for at, (start, end) in enumerate(lines):
        if end - start < 12:
            scores.pop(at, None)
            continue
        bonus = 0.6 * bool(_DECISION.search(text, start, min(end, start + 300)))
        bonus += 0.4 * bool(_FACTS.search(text, start, min(end, start + 300)))
        if bonus or at in scores:
            newness = bisect_right(ends, start) / max(len(ends), 1)
            scores[at] = scores.get(at, 0.0) + bonus + 0.3 * newness
    room = max_tokens * CHARS_OF_A_TOKEN
    chosen: list[int] = []
    seen: set[str] = set()
    for at, _ in sorted(scores.items(), key=lambda item: (-item[1], -item[0])):
        start, end = lines[at]
        line = text[start:end].strip()
        cost = min(len(line), MAX_LINE_CHARS) + 3
        if line not in seen and cost <= room:
            seen.add(line)
            room -= cost
            chosen.append(at)
    found = [_clipped(text[slice(*lines[at])].strip(), question) for at in sorted(chosen)]
    return "\n".join(f"> {line}" for line in found)


def transcript(entries: Sequence[ChatEntry], clip: Callable[[str], str] = str) -> str:
    """Messages as text, each under its role; `clip` shortens the results of tools."""
    names: dict[str, str] = {}
    parts = []
    for entry in entries:
        role, text = entry.role, content_text(entry)
        if role == "tool":
            name = names.get(str(entry.message.get("tool_call_id") or ""), "")
            parts.append(
                f"### result of {name}\n{clip(text)}" if name else f"### result\n{clip(text)}"
            )
            continue
        calls = []
        for call in calls_of(entry.message):
            name, arguments = function_of(call)
            names[str(call.get("id") or "")] = name
            calls.append(f"[call {name} {arguments}]")
        parts.append("\n".join([f"### {role}", *([text] if text else []), *calls]))
    return "\n\n".join(parts)


def content_text(entry: ChatEntry) -> str:
    """All of a message as text, parts that are none as JSON."""
    content = entry.message.get("content")
    if isinstance(content, list):
        parts = [
            part["text"]
            if isinstance(part, dict) and isinstance(part.get("text"), str)
            else json.dumps(part, ensure_ascii=False, default=str)
            for part in content
        ]
        return "\n".join(parts)
    return text_of(entry.message)


def _lines(text: str) -> list[tuple[int, int]]:
    """Where lines begin and end; a very long one counts as many."""
    found = []
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start <= 2 * MAX_LINE_CHARS:
            found.append((start, end))
        else:
            steps = range(start, end, MAX_LINE_CHARS)
            found += [(at, min(at + MAX_LINE_CHARS, end)) for at in steps]
        start = end + 1
    return found


def _error_lines(text: str, lines: Sequence[tuple[int, int]]) -> set[int]:
    """The lines that say that something went wrong."""
    low = text.lower()
    if len(low) != len(text):
        low = text
    starts = [start for start, _ in lines]
    found: set[int] = set()
    for word in _ERROR_WORDS:
        at = low.find(word)
        while at >= 0 and len(found) < MAX_ERROR_LINES:
            line = bisect_right(starts, at) - 1
            found.add(line)
            at = low.find(word, max(lines[line][1], at + 1))
    return found


def _scores(text: str, lines: Sequence[tuple[int, int]], question: str) -> dict[int, float]:
    """How much each line is about a question: rare words count more, and each word once."""
    words = _words(question)
    if not words:
        return {}
    starts = [start for start, _ in lines]
    low = text.casefold()
    if len(low) != len(text):
        low = text.lower() if len(text.lower()) == len(text) else text
    met: dict[int, set[str]] = {}
    counts: Counter[str] = Counter()
    for word in words:
        at = low.find(word)
        steps = 0
        while at >= 0 and steps < 2_000:
            line = bisect_right(starts, at) - 1
            if word not in met.setdefault(line, set()):
                met[line].add(word)
                counts[word] += 1
            at = low.find(word, lines[line][1] if lines[line][1] > at else at + 1)
            steps += 1
    rarity = {word: math.log(1 + len(lines) / counts[word]) for word in counts}
    top = sum(sorted(rarity.values(), reverse=True)[:4]) or 1.0
    return {line: 6.0 * sum(rarity[w] for w in found) / top for line, found in met.items()}


@lru_cache(maxsize=64)
def _words(question: str) -> tuple[str, ...]:
    words = dict.fromkeys(w.casefold() for w in content_words(question[:4_000]) if len(w) > 1)
    return tuple(words)[:MAX_WORDS]


def _joined(text: str, lines: Sequence[tuple[int, int]], chosen: Sequence[int], q: str) -> str:
    parts: list[str] = []
    previous = -1
    for at in chosen:
        gap = at - previous - 1
        if gap:
            parts.append(f"[… {gap:,} lines]" if gap > 1 else "[… 1 line]")
        parts.append(_clipped(text[slice(*lines[at])], q))
        previous = at
    if chosen and (gap := len(lines) - 1 - previous):
        parts.append(f"[… {gap:,} lines]" if gap > 1 else "[… 1 line]")
    return "\n".join(parts)


def _clipped(line: str, question: str) -> str:
    """A line, or the part of a long one around a word of the question."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    low = line.casefold()
    at = next((found for word in _words(question) if (found := low.find(word)) >= 0), 0)
    start = max(min(at - MAX_LINE_CHARS // 3, len(line) - MAX_LINE_CHARS), 0)
    return f"…{line[start : start + MAX_LINE_CHARS - 2]}…"


def _trimmed(text: str, max_chars: int) -> str:
    """A text, or its sentences that say most: the first, and those with facts and decisions."""
    if len(text) <= max_chars:
        return text
    sentences = [part for part in _SENTENCE.split(text[:40_000]) if part.strip()]
    order = sorted(
        range(len(sentences)),
        key=lambda at: (
            -(at == 0) - bool(_FACTS.search(sentences[at])) - bool(_DECISION.search(sentences[at])),
            at,
        ),
    )
    chosen: list[int] = []
    room = max_chars - 2
    for at in order:
        cost = len(sentences[at]) + 1
        if cost <= room:
            room -= cost
            chosen.append(at)
    if not chosen:
        return f"{text[: max_chars - 1]}…"
    return f"{' '.join(sentences[at].strip() for at in sorted(chosen))} …"


def _short(text: str, max_chars: int) -> str:
    return with_ellipsis(" ".join(text.split()), max_chars)
