"""Markdown as it streams: marks become styles of the terminal as soon as they are sure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from toolcrib.surfaces.cli.screen import cells, columns

RESET = "\x1b[0m"
BOLD, ITALIC, CODE, LINK = "bold", "italic", "code", "link"
CODES = {
    BOLD: ("\x1b[1m", "\x1b[22m"),
    ITALIC: ("\x1b[3m", "\x1b[23m"),
    CODE: ("\x1b[36m", "\x1b[39m"),
    LINK: ("\x1b[4m", "\x1b[24m"),
}
# What the start of a line may still become, and what it is.
UNSURE = re.compile(r"(?: {0,3}>)*[ \t]*(?:#{1,6}|[`~]{1,2}|[-*+_]+|\d{1,9}[.)]?)?[ \t]*")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+")
FENCE = re.compile(r"[ \t]*(```+|~~~+)")
ITEM = re.compile(r"([ \t]*)(?:[-*+]|(\d{1,9}[.)]))[ \t]+(?:\[([ xX])\][ \t]+)?")
BOX_BEGUN = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]?\]?[ \t]*)?")
QUOTE = re.compile(r" {0,3}>[ \t]?")
FENCE_BEGUN = re.compile(r"[ \t]*(?:```|~~~)[^\n]*")
RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
DIVIDER = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*")
MAY_BECOME = (UNSURE, FENCE_BEGUN, RULE, BOX_BEGUN)
TOKENS = re.compile(r"\*+|_+|`+|\\.?|\[|!\[|[^*_`\\\[!]+|!")
WHOLE_LINK = re.compile(r"(!?)\[([^\]\n]{0,300})\]\((\S{0,2000}?)(?:[ \t]+\"[^\"\n]{0,200}\")?\)")
PART_OF_LINK = re.compile(r"!?\[[^\]\n]{0,300}(?:\](?:\([^)\n]{0,2000})?)?")
ESCAPED = tuple("\\`*_{}[]()#+-.!|~>")
MAX_TABLE_CHARS = 20_000
MAX_HELD_CHARS = 2_400


class MarkdownWriter:
    """Writes Markdown for a terminal, piece by piece.

    What is written stays: nothing on the screen is drawn anew, so that a window can be made
    smaller meanwhile, and text be copied. Only marks that may still become something else are
    held back, and tables until they end. Characters are never lost: what is no mark is shown.

    Args:
        out: takes what goes to the terminal; the text given must be free of control characters.
    """

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out
        self._held = ""
        self._in_line = False
        self._fence = ""
        self._table: list[str] = []
        self._on: list[str] = []
        self._before = ""
        self._styled = False

    def write(self, text: str) -> None:
        """Take the next piece."""
        self._held += text
        while self._held:
            before = self._held
            line, end, rest = self._held.partition("\n")
            if end:
                self._held = rest
                self._end_line(line)
            elif not self._begin(line):
                return
            if self._held == before:
                return

    def close(self) -> None:
        """Show what was held back, and end styles."""
        line, self._held = self._held, ""
        if line:
            self._end_line(line, last=True)
        self._flush_table()
        self._off()
        self._in_line, self._fence = False, ""

    def _begin(self, line: str) -> bool:
        """Show what is sure of a line that goes on; whether anything was."""
        if self._in_line:
            self._held = ""
            self._held = self._inline(line, last=False)
            return self._held != line
        if self._fence:
            mark = line.lstrip()
            if not mark or self._fence.startswith(mark[:3]) or mark.startswith(self._fence):
                return False
        elif len(line) < MAX_HELD_CHARS and (
            line.lstrip().startswith("|") or any(p.fullmatch(line) for p in MAY_BECOME)
        ):
            return False
        self._flush_table()
        self._held = ""
        self._held = self._inline(self._head(line), last=False)
        self._in_line = True
        return True

    def _end_line(self, line: str, *, last: bool = False) -> None:
        """Show a line that is whole, or the rest of one."""
        end = "" if last else "\n"
        if self._in_line:
            self._in_line = False
            self._inline(line, last=True)
            self._off()
        elif self._fence:
            if FENCE.match(line) and line.strip() == self._fence:
                self._fence = ""
                return
            self._code(line)
        elif mark := FENCE.match(line):
            self._flush_table()
            self._fence = mark[1]
            return
        elif line.lstrip().startswith("|") and sum(map(len, self._table)) < MAX_TABLE_CHARS:
            self._table.append(line)
            return
        else:
            self._flush_table()
            if RULE.fullmatch(line):
                self._out("\u2500" * min(columns(), 40))
            elif line:
                self._inline(self._head(line), last=True)
                self._off()
        self._out(end)

    def _head(self, line: str) -> str:
        """Show what stands before the words of a line; the words."""
        self._before = ""
        if self._fence:
            self._heading(CODE)
            return line
        if found := HEADING.match(line):
            self._heading(BOLD)
            if len(found[1]) == 1:
                self._heading(LINK)
            return line[found.end() :]
        while found := QUOTE.match(line):
            self._out("\u2502 ")
            line = line[found.end() :]
        if found := ITEM.match(line):
            box = {" ": "\u2610 ", "x": "\u2611 "}.get((found[3] or "").lower(), "")
            mark = found[2] or ("" if box else "\u2022")
            self._out(f"{found[1]}{mark}{' ' if mark else ''}{box}")
            return line[found.end() :]
        return line

    def _code(self, line: str) -> None:
        self._out(f"{CODES[CODE][0]}{line}{RESET}")

    def _inline(self, text: str, *, last: bool) -> str:
        """Show text within a line; what is not sure yet comes back."""
        at = 0
        if self._fence:
            self._out(text)
            return ""
        while at < len(text):
            found = TOKENS.match(text, at)
            assert found is not None
            mark, end = found[0], found.end()
            may_hold = not last and len(text) - at < MAX_HELD_CHARS
            if mark[0] in "*_`\\!" and end == len(text) and may_hold:
                return text[at:]
            if mark in ("[", "!["):
                end = self._link(text, at, mark, may_hold=may_hold)
            elif mark[0] == "`":
                end = self._span(text, at, mark, may_hold=may_hold)
            elif mark[0] == "\\":
                self._put(mark[1:] if mark[1:] in ESCAPED else mark)
            elif mark[0] in "*_":
                self._emphasis(mark, text[end : end + 1])
            else:
                self._put(mark)
            if end < 0:
                return text[at:]
            at = end
        return ""

    def _span(self, text: str, at: int, ticks: str, *, may_hold: bool) -> int:
        """Show code once it is closed: what never is, is no code. Where it ends; -1 to wait."""
        start = at + len(ticks)
        end = _closing(text, start, ticks)
        if may_hold and (end < 0 or end + len(ticks) == len(text)):
            return -1
        if end < 0:
            self._put(ticks)
            return start
        on, off = CODES[CODE]
        self._out(f"{on}{text[start:end].strip(' ') or ' '}{off}")
        self._before = "`"
        return end + len(ticks)

    def _link(self, text: str, at: int, mark: str, *, may_hold: bool) -> int:
        """Show the words of a link, and where it leads. Where it ends; -1 to wait."""
        found = WHOLE_LINK.match(text, at)
        if found is None:
            if may_hold and PART_OF_LINK.fullmatch(text, at):
                return -1
            self._put(mark)
            return at + len(mark)
        words, address = found[2] or found[3], found[3]
        self._style(LINK)
        self._put(words)
        self._unstyle(LINK)
        if address != words and not address.startswith("#"):
            self._put(f" ({address})")
        return found.end()

    def _put(self, text: str) -> None:
        self._out(text)
        self._before = text[-1:]

    def _emphasis(self, token: str, after: str) -> None:
        """Begin or end what the marks say, where they stand as marks do."""
        styles = {1: [ITALIC], 2: [BOLD], 3: [BOLD, ITALIC]}.get(len(token), [])
        touches_before = bool(self._before.strip())
        touches_after = bool(after.strip())
        inside = token[0] == "_" and (after.isalnum() or after == "_")
        if styles and all(s in self._on for s in styles) and touches_before and not inside:
            for style in styles:
                self._unstyle(style)
        elif (
            styles
            and touches_after
            and not self._before.isalnum()
            and not set(styles) & set(self._on)
        ):
            for style in styles:
                self._style(style)
            self._before = ""
        else:
            self._put(token)

    def _heading(self, name: str) -> None:
        """A style up to the end of the line."""
        self._styled = True
        self._out(CODES[name][0])

    def _style(self, name: str) -> None:
        self._on.append(name)
        self._out(CODES[name][0])

    def _unstyle(self, name: str) -> None:
        if name in self._on:
            self._on.remove(name)
            self._out(CODES[name][1])

    def _off(self) -> None:
        if self._on or self._styled:
            self._out(RESET)
        self._on, self._styled, self._before = [], False, ""

    def _flush_table(self) -> None:
        rows, self._table = self._table, []
        if not rows:
            return
        for line in _aligned(rows):
            self._out(line)
            self._out("\n")


def _closing(text: str, start: int, ticks: str) -> int:
    """Where code ends that these backticks began; -1 where it does not."""
    for run in re.finditer(r"`+", text[start:]):
        if run[0] == ticks:
            return start + run.start()
    return -1


def _aligned(rows: list[str]) -> Iterator[str]:
    """The rows of a table with columns of one width; as they are, where they do not fit."""
    split = [_cells(row) for row in rows]
    count = max(map(len, split))
    split = [row + [""] * (count - len(row)) for row in split]
    is_divider = [bool(DIVIDER.fullmatch(row)) and "-" in row for row in rows]
    plain = [row for row, divider in zip(split, is_divider, strict=True) if not divider]
    widths = [max((cells(row[n]) for row in plain), default=0) for n in range(count)]
    if sum(widths) + 3 * (count - 1) > columns():
        yield from rows
        return
    for row, divider in zip(split, is_divider, strict=True):
        if divider:
            yield "\u2500\u253c\u2500".join("\u2500" * size for size in widths)
        else:
            padded = [
                cell + " " * (size - cells(cell)) for cell, size in zip(row, widths, strict=True)
            ]
            yield " \u2502 ".join(padded).rstrip()


def _cells(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    parts = re.split(r"(?<!\\)\|", inner)
    return [re.sub(r"\*\*|`", "", part).strip().replace("\\|", "|") for part in parts]
