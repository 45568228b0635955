"""Edits whose right answer is known beforehand: files, and what a model sends to change them.

A file is made of lines around a block. The right answer is the same file with the other
block in its place, put together line by line, without any of the code under test. What is
sent is the block and its successor as a model may misquote them (`drifts`), and what stands
elsewhere in the file decides whether there is one right place (`settings`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Lines = list[str]


@dataclass(frozen=True)
class Source:
    """A file: lines before the block, the block, what shall stand there, lines after."""

    name: str
    before: Lines
    old: Lines
    new: Lines
    after: Lines


@dataclass(frozen=True)
class Case:
    """What is sent for which file. `expected` is None where nothing may be written."""

    name: str
    kind: str
    setting: str
    form: str
    file: str
    data: bytes
    old: str
    new: str
    expected: bytes | None


PYTHON = Source(
    "store.py",
    [
        "import os",
        "",
        "",
        "class Store:",
        "    def __init__(self, path):",
        "        self.path = path",
        "",
    ],
    [
        "    def load(self, name, default=None):",
        "        key = self.prefix + name",
        '        if key in self.cache and name != "it\'s":',
        "            return self.cache[key]",
        "",
        "        return default",
    ],
    [
        "    def load(self, name, default=None):",
        "        key = self.prefix + name.lower()",
        '        if key in self.cache and name != "it\'s":',
        "            self.hits += 1",
        "            if self.hits > 10:",
        "                self.trim()",
        "            return self.cache[key]",
        "",
        "        return default",
    ],
    [
        "",
        "    def close(self):",
        "        self.cache.clear()",
        "",
        "",
        "def café():",
        '    return "é"',
    ],
)
TABBED = Source(
    "tabbed.py",
    [line.replace("    ", "\t") for line in PYTHON.before],
    [line.replace("    ", "\t") for line in PYTHON.old],
    [line.replace("    ", "\t") for line in PYTHON.new],
    [line.replace("    ", "\t") for line in PYTHON.after],
)
SCRIPT = Source(
    "page.js",
    ["// café", "export const table = {", "  rows: [],", "};", "", "export function sum(list) {"],
    [
        "  let total = 0;",
        "  for (const item of list) {",
        "    total += item.price * item.count;",
        "  }",
        "  log('the total - so far', total);",
    ],
    [
        "  let total = 0;",
        "  for (const item of list) {",
        "    if (item.count > 0) {",
        "      total += item.price * item.count;",
        "    }",
        "  }",
        "  log('the total - so far', total, list.length);",
    ],
    ["  return total;", "}", "", "export default sum;"],
)
PROSE = Source(
    "notes.md",
    ["# Café", "", "The first paragraph says what this is for.", "", "- one", "- two", ""],
    [
        "The reader\u2019s view \u2013 \u201cas it is\u201d \u2013 comes first.",
        "It\u2019s the same for the writer\u2019s caf\u00e9 (or bar).",
        "The rest follows from that.",
    ],
    [
        "The reader\u2019s view \u2013 \u201cas it is\u201d \u2013 comes second.",
        "It\u2019s the same for the writer\u2019s caf\u00e9 (or bar).",
        "Nothing follows from that.",
    ],
    ["", "## Usage", "", "Call it as shown below.", ""],
)
YAML = Source(
    "deploy.yaml",
    ["# café", "name: web", "services:", "  db:", "    image: postgres:16", "    restart: always"],
    [
        "  web:",
        "    image: shop/web:1.4",
        "    ports:",
        '      - "8080:80"',
        "    depends_on: [db]",
    ],
    [
        "  web:",
        "    image: shop/web:1.5",
        "    ports:",
        '      - "8080:80"',
        '      - "8443:443"',
        "    depends_on: [db]",
    ],
    ["  cache:", "    image: redis:7", "volumes:", "  data: {}"],
)
ALIGNED = Source(
    "limits.h",
    ["/* café */", "#ifndef LIMITS_H", "#define LIMITS_H", ""],
    ["#define MAX_ROWS    100", "#define MAX_COLUMNS 20", "#define MAX_SHEETS  (MAX_ROWS / 4)"],
    ["#define MAX_ROWS    100", "#define MAX_COLUMNS 40", "#define MAX_SHEETS  (MAX_ROWS / 4)"],
    ["", "int check(int rows);", "", "#endif"],
)
SOURCES = (PYTHON, TABBED, SCRIPT, PROSE, YAML, ALIGNED)


@dataclass(frozen=True)
class Sent:
    """What a model sends, as lines; and whether each text ends with a line end."""

    old: Lines
    new: Lines
    old_ends: bool = True
    new_ends: bool = True


Drift = Callable[[Source], Sent | None]


def each(change: Callable[[str], str], *, only_old: bool = False) -> Drift:
    """A drift that changes every line alike."""

    def drift(source: Source) -> Sent | None:
        old = [change(line) for line in source.old]
        if old == source.old:
            return None
        return Sent(old, source.new if only_old else [change(line) for line in source.new])

    return drift


def dedented(width: int) -> Drift:
    def drift(source: Source) -> Sent | None:
        lines = [line for line in (*source.old, *source.new) if line]
        if not all(line.startswith(" " * width) for line in lines):
            return None
        return Sent([x[width:] for x in source.old], [x[width:] for x in source.new])

    return drift


def untabbed(width: int) -> Drift:
    def change(line: str) -> str:
        tabs = len(line) - len(line.lstrip("\t"))
        return " " * (width * tabs) + line[tabs:]

    return each(change)


def tabbed(line: str) -> str:
    spaces = len(line) - len(line.lstrip(" "))
    width = 4 if spaces % 4 == 0 else 2
    return "\t" * (spaces // width) + line[spaces:]


def to_tabs(source: Source) -> Sent | None:
    leads = {len(line) - len(line.lstrip(" ")) for line in (*source.old, *source.new) if line}
    if leads == {0} or any("\t" in line for line in source.old):
        return None
    unit = 4 if all(lead % 4 == 0 for lead in leads) else 2

    def change(line: str) -> str:
        spaces = len(line) - len(line.lstrip(" "))
        return "\t" * (spaces // unit) + line[spaces:]

    return Sent([change(x) for x in source.old], [change(x) for x in source.new])


def rescaled(source: Source) -> Sent | None:
    """Indented by two columns a level instead of four."""
    leads = {len(line) - len(line.lstrip(" ")) for line in (*source.old, *source.new) if line}
    if leads == {0} or any(lead % 4 for lead in leads) or any("\t" in x for x in source.old):
        return None

    def change(line: str) -> str:
        spaces = len(line) - len(line.lstrip(" "))
        return " " * (spaces // 2) + line[spaces:]

    return Sent([change(x) for x in source.old], [change(x) for x in source.new])


def plain(text: str) -> str:
    table = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2013: "-", 0xA0: " "}
    return text.translate(table)


def curly(text: str) -> str:
    text = re.sub(r"'", "\u2019", text)
    return re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text)


def numbered(form: str) -> Drift:
    def drift(source: Source) -> Sent:
        first = len(source.before) + 1

        def lines(texts: Lines) -> Lines:
            return [form.format(number=n, line=x) for n, x in enumerate(texts, first)]

        return Sent(lines(source.old), lines(source.new))

    return drift


def widened(line: str) -> str:
    """Doubled space between words outside of quotation marks, and the indentation as it is."""
    lead = line[: len(line) - len(line.lstrip())]
    parts = re.split(r"""("[^"]*"|'[^']*')""", line.strip())
    for index in range(0, len(parts), 2):
        parts[index] = parts[index].replace(" ", "  ")
    return lead + "".join(parts) if line.strip() and "'" not in "".join(parts[::2]) else line


def collapsed(line: str) -> str:
    lead = line[: len(line) - len(line.lstrip())]
    return lead + re.sub(r" +", " ", line.strip())


def trailing(source: Source) -> Sent:
    old = [f"{x}   " if index % 2 == 0 else x for index, x in enumerate(source.old)]
    return Sent(old, source.new)


def clipped(source: Source) -> Sent | None:
    """The indentation of the first line is missing, and one line has a trailing space."""
    first = source.old[0].lstrip()
    if first == source.old[0] or source.old[0] != source.new[0]:
        return None
    return Sent([first, *source.old[1:-1], f"{source.old[-1]} "], [first, *source.new[1:]])


def margins(source: Source) -> Sent:
    return Sent(["", *source.old, ""], ["", *source.new, ""])


DRIFTS: dict[str, Drift] = {
    "exact": lambda s: Sent(s.old, s.new),
    "no line end": lambda s: Sent(s.old, s.new, old_ends=False, new_ends=False),
    "line end only in old": lambda s: Sent(s.old, s.new, new_ends=False),
    "trailing space": trailing,
    "trailing space everywhere": each(lambda x: f"{x}  "),
    "dedented by 2": dedented(2),
    "dedented by 4": dedented(4),
    "indented by 4": each(lambda x: f"    {x}" if x else x),
    "spaces for tabs (4)": untabbed(4),
    "spaces for tabs (2)": untabbed(2),
    "tabs for spaces": to_tabs,
    "2 columns for 4": rescaled,
    "wider space in old": each(widened, only_old=True),
    "collapsed space": each(collapsed),
    "plain quotes and dashes": each(plain),
    "curly quotes": each(curly),
    "no-break spaces": each(lambda x: re.sub(r"(?<=\w) (?=\w)", "\u00a0", x)),
    "decomposed": each(lambda x: unicodedata.normalize("NFD", x)),
    "full width": each(lambda x: x.replace("(", "\uff08").replace(")", "\uff09")),
    "numbers, tab": numbered("{number:>6}\t{line}"),
    "numbers, bar": numbered("{number}| {line}"),
    "numbers, arrow": numbered("{number:>5}\u2192{line}"),
    "numbers, colon": numbered("{number}: {line}"),
    "numbers with hash": numbered("{number}:a3f9|{line}"),
    "first indentation missing": clipped,
    "blank lines around": margins,
    "curly and dedented": lambda s: _both(each(curly), dedented(4), s),
    "curly and trailing": lambda s: _both(each(curly), each(lambda x: f"{x} "), s),
    "numbers and trailing": lambda s: _both(
        numbered("{number:>6}\t{line}"), each(lambda x: f"{x} "), s
    ),
}


def _both(first: Drift, second: Drift, source: Source) -> Sent | None:
    one = first(source)
    if one is None:
        return None
    return second(Source(source.name, source.before, one.old, one.new, source.after))


SHAPES = ("dedented", "indented", "spaces for", "tabs for", "2 columns", "missing", "and dedented")


def reworded(lines: Lines) -> Lines:
    """The same block about other things: near, and not the same."""
    return [re.sub(r"\b(\w{4,})\b", lambda m: f"{m[1]}_x", line, count=1) for line in lines]


def settings(source: Source, kind: str, sent: Sent) -> Iterator[tuple[str, Source, Sent, bool]]:
    """The file, what is sent, and whether one place is right."""
    yield "unique", source, sent, True
    if source.old not in ([], [""]):
        twice = [*source.after, "", *source.old, "end of it"]
        if kind != "blank lines around":  # they tell the two apart
            yield "duplicate", _with(source, after=twice), sent, False
        near = [*source.after, "", *reworded(source.old), "end of it"]
        yield "near-duplicate", _with(source, after=near), sent, True
        before = [*source.before, *reworded(source.old), ""]
        if not kind.startswith("numbers"):
            yield "near-duplicate before", _with(source, before=before), sent, True
    deeper = [*source.after, "", *(f"        {x}" if x else x for x in source.old), "end of it"]
    if not any(shape in kind for shape in SHAPES):
        yield "deeper copy", _with(source, after=deeper), sent, True
    absent = Sent(reworded(sent.old), sent.new, sent.old_ends, sent.new_ends)
    yield "absent", source, absent, False
    middle = max(range(len(sent.old)), key=lambda i: (0 < i < len(sent.old) - 1, len(sent.old[i])))
    for name, at in (("stale middle", middle), ("stale end", _last_solid(sent.old))):
        stale = list(sent.old)
        stale[at] = re.sub(r"(\w)(\W*)$", r"\1z\2", stale[at])
        yield name, source, Sent(stale, sent.new, sent.old_ends, sent.new_ends), False
    if kind == "exact":
        dropped = [x for i, x in enumerate(sent.old) if i != middle]
        yield "line left out", source, Sent(dropped, sent.new), False


def _last_solid(lines: Lines) -> int:
    return max(i for i, line in enumerate(lines) if re.search(r"\w", line))


def _with(source: Source, before: Lines | None = None, after: Lines | None = None) -> Source:
    return Source(
        source.name, before or source.before, source.old, source.new, after or source.after
    )


@dataclass(frozen=True)
class Form:
    """How text becomes bytes: the encoding, its mark, the ends of lines."""

    name: str
    codec: str = "utf-8"
    mark: bytes = b""
    end: str = "\n"
    mixed: bool = False
    last_end: bool = True

    def encode(self, before: Lines, block: Lines, after: Lines) -> bytes | None:
        """The bytes of a file; None where the encoding lacks a character."""
        lines = [*before, *block, *after]
        ends = [self.end] * len(lines)
        if self.mixed:
            # The block and what is beside it end alike; what is further off does not.
            first, last = len(before) - 1, len(before) + len(block)
            ends = ["\r\n" if first <= i <= last else "\n" for i in range(len(lines))]
        if not self.last_end:
            ends[-1] = ""
        text = "".join(x + end for x, end in zip(lines, ends, strict=True))
        try:
            return self.mark + text.encode(self.codec)
        except UnicodeEncodeError:
            return None


FORMS = (
    Form("LF"),
    Form("CRLF", end="\r\n"),
    Form("CR", end="\r"),
    Form("BOM", mark=b"\xef\xbb\xbf"),
    Form("BOM CRLF", mark=b"\xef\xbb\xbf", end="\r\n"),
    Form("UTF-16", codec="utf-16-le", mark=b"\xff\xfe"),
    Form("UTF-16 BE CRLF", codec="utf-16-be", mark=b"\xfe\xff", end="\r\n"),
    Form("cp1252", codec="cp1252"),
    Form("mixed ends", mixed=True),
    Form("no last end", last_end=False),
)


def cases(*kinds: str) -> Iterator[Case]:
    """Those of some kinds of drift, or all of them, in a fixed order."""
    for source in SOURCES:
        for kind in kinds or DRIFTS:
            sent = DRIFTS[kind](source)
            if sent is None:
                continue
            for setting, file, message, one in settings(source, kind, sent):
                for form in FORMS:
                    case = _case(kind, setting, form, file, message, one=one)
                    if case is not None:
                        yield case
            yield from _at_the_end(source, kind, sent)


def _at_the_end(source: Source, kind: str, sent: Sent) -> Iterator[Case]:
    """The block is the last of the file, with and without a line end."""
    file = Source(source.name, [*source.before, *source.after], source.old, source.new, [])
    if kind.startswith("numbers"):
        return
    for form in (FORMS[0], FORMS[-1]):
        case = _case(kind, "at the end", form, file, sent, one=True)
        if case is not None:
            yield case


def _case(
    kind: str, setting: str, form: Form, file: Source, sent: Sent, *, one: bool
) -> Case | None:
    data = form.encode(file.before, file.old, file.after)
    expected = form.encode(file.before, file.new, file.after)
    if data is None or expected is None:
        return None
    old = "\n".join(sent.old) + ("\n" if sent.old_ends else "")
    new = "\n".join(sent.new) + ("\n" if sent.new_ends else "")
    name = f"{file.name}, {kind}, {setting}, {form.name}"
    return Case(
        name, kind, setting, form.name, file.name, data, old, new, expected if one else None
    )
