"""A model that repeats itself: noticed in its stream, so that it is closed."""

from __future__ import annotations

MAX_PERIOD_LINES = 30
MAX_PERIOD_CHARS = 300
MIN_BLOCK_CHARS = 40
"""Characters of a block of lines that counts as it is; shorter ones have to come more often."""
SHORT_FACTOR = 8
CODE_FACTOR = 4
"""Times as often for short blocks, and for lines of code, where equal ones may be meant."""
MIN_TAIL_CHARS = 600
CHECK_CHARS = 200
MAX_LINE_CHARS = 8_000
CALL_MARKS = ("<tool_call", "<function", "[TOOL_CALLS]", '"name"', "<|tool")
FENCES = ("```", "~~~")


class RepetitionDetector:
    """Finds lines, blocks of lines and stretches of one line that come again and again.

    A repetition counts where its copies follow each other directly. Blocks without a letter or
    a digit, as lines of tables, never count.

    Args:
        max_repeats: copies that are one too many.
    """

    def __init__(self, max_repeats: int) -> None:
        self._max = max_repeats
        self._lines: list[str] = []
        self._ends: list[int] = []
        self._line: list[str] = []
        self._line_size = 0
        self._checked = 0
        self._size = 0
        self._in_code = False

    def feed(self, text: str) -> int | None:
        """Take a piece; the characters of all so far up to the end of the first copy."""
        *whole, rest = text.split("\n")
        for part in whole:
            self._line.append(part)
            line = "".join(self._line)
            self._size += len(part) + 1
            self._line, self._line_size, self._checked = [], 0, 0
            end = self._end_line(line)
            if end is not None:
                return end
        if rest:
            self._line.append(rest)
            self._line_size += len(rest)
            self._size += len(rest)
            if self._line_size - self._checked >= CHECK_CHARS:
                self._checked = self._line_size
                return self._within_line()
        return None

    def _end_line(self, line: str) -> int | None:
        self._lines.append(line)
        self._ends.append(self._size)
        if line.lstrip().startswith(FENCES):
            self._in_code = not self._in_code
        lines = self._lines
        for period in range(1, min(MAX_PERIOD_LINES, len(lines) // 2) + 1):
            if lines[-1] != lines[-1 - period]:
                continue
            block = lines[-period:]
            needed = self._needed("\n".join(block))
            if (
                needed
                and len(lines) >= needed * period
                and block * needed == lines[-needed * period :]
            ):
                return self._ends[len(lines) - (needed - 1) * period - 1]
        del lines[: -MAX_PERIOD_LINES * self._max * SHORT_FACTOR * 2]
        del self._ends[: -len(lines) or None]
        return None

    def _needed(self, block: str) -> int:
        """How many copies of a block are too many; 0 where any number is all right."""
        if not any(char.isalnum() for char in block):
            return 0
        if any(mark in block for mark in CALL_MARKS):
            return self._max
        long = len(block.strip()) >= MIN_BLOCK_CHARS
        return self._max * (1 if long else SHORT_FACTOR) * (CODE_FACTOR if self._in_code else 1)

    def _within_line(self) -> int | None:
        # A repetition is found soon after it began: what is far behind is not looked at again.
        line = "".join(self._line)[-MAX_LINE_CHARS:]
        self._line = [line]
        if len(line) < MIN_TAIL_CHARS:
            return None
        tail = line[-MIN_TAIL_CHARS:]
        mark = tail[-40:]
        before = tail.rfind(mark, 0, -1)
        period = len(tail) - 40 - before
        if before < 0 or period > MAX_PERIOD_CHARS or not any(char.isalnum() for char in tail):
            return None
        start = len(line)
        while start > period and line[start - 1] == line[start - 1 - period]:
            start -= 1
        copies = (len(line) - start + period) / period
        if len(line) - start < MIN_TAIL_CHARS - period or copies < self._max:
            return None
        return self._size - len(line) + start
