"""The outline of a text (headings, definitions), and the regions of it that match some words.

Found line by line with patterns, in any language that looks like the usual ones: quick,
for files of any size, and good enough to choose what to read. It is no parser.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from toolcrib.text.bm25 import stem
from toolcrib.text.display import with_ellipsis

MAX_OUTLINE_ENTRIES = 20_000
"""Entries of an outline."""
ENTRY_CHARS = 100
"""Characters of an entry."""
MAX_HEADING_LINE_CHARS = 300
"""A longer line is no heading and defines nothing."""

_PROSE = frozenset(
    ["", "txt", "text", "md", "markdown", "mdx", "rst", "adoc", "org", "tex"]
) | frozenset(
    # Documents, which are read as Markdown.
    ["pdf", "doc", "docx", "odt", "rtf", "ppt", "pptx", "odp", "xls", "xlsx", "ods", "epub"]
)
_MARKED = frozenset(["html", "htm", "xhtml"])
_SETTINGS = frozenset(["ini", "cfg", "conf", "toml", "properties", "editorconfig", "service"])
_KEYED = frozenset(["yaml", "yml", "json", "jsonc", "json5"])
_NONE = frozenset(["csv", "tsv", "log", "jsonl", "ndjson", "svg", "xml", "lock", "map", "diff"])

_DEFINITION = re.compile(
    r"""(?x) [ \t]*
    (?: (?:@\w[\w.]*(?:\([^()]*\))?[ \t]+)*
        (?: (?:export|default|declare|pub(?:\([^()]*\))?|public|private|protected|internal|static
            |abstract|final|sealed|virtual|override|async|unsafe|extern(?:[ ]"[^"]*")?|inline
            |constexpr|const|partial|open|data|readonly|suspend|native|synchronized|local
            |implicit|lazy|case)[ \t]+ )*
        (?: (?:def|class|interface|enum|struct|union|trait|impl|module|namespace|object|record
              |protocol|extension|actor|fn|func|fun|function\*?|sub|proc|macro|macro_rules!|mod
              |defmodule|defp|defmacro|contract|type|typedef|procedure|package)
            [ \t]+ [\w$*&<("'\[:~]
          | function[ \t]*\* )
      | (?i:(?:create|alter)[ \t]+(?:or[ \t]+replace[ \t]+)?(?:temp(?:orary)?[ \t]+)?
            (?:table|view|function|procedure|trigger|index|type))[ \t]+\S
      | (?:export[ \t]+)?(?:default[ \t]+)?(?:const|let|var)[ \t]+[\w$]+[ \t]*(?::[^=]*)?=[ \t]*
            (?:async[ \t]*)?(?:function\b|\([^()]*\)[ \t]*(?::[^=]*)?=>|[\w$]+[ \t]*=>|class\b)
      | (?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async
            |readonly|synchronized)[ \t]+)+ [\w<>\[\],.?&: \t]* [\w$~]+ [ \t]* \(
      | (?:async[ \t]+|get[ \t]+|set[ \t]+|\*)? (?!(?:if|for|while|switch|catch|return|with|else|do
            |elif|try|until|unless|when|match|assert|print|sizeof)\b)
            [#\w$]+ [ \t]* \([^()]*\) [ \t]* (?::[ \t]*[\w<>\[\]|. ]+)? \{ [ \t]*$
      | \#define[ \t]+\w+\(
    )"""
)
# In C and its like, a definition stands at the margin: a type, a name, parentheses, no `;`.
_C_FUNCTION = re.compile(
    r"(?!return\b|else\b|if\b|for\b|while\b|switch\b)[A-Za-z_][\w:<>,*& \t~]*[ \t*&]"
    r"[\w:~]+[ \t]*\([^;]*$"
)
_C_LIKE = frozenset(["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "cu", "ino"])
_HEADING = re.compile(r"(#{1,6}|={1,6}|\*{1,6})[ \t]+\S")
_TEX = re.compile(r"\\(part|chapter|(?:sub)*section|paragraph)\*?\{")
_CHAPTER = re.compile(
    r"(?:chapter|part|book|section|appendix|act|scene|kapitel|chapitre)[ \t]+"
    r"(?:\d+|[ivxlc]+|[a-z])\b.{0,80}$",
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"([=\-~^\"'#*+])\1{2,}[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_TAG = re.compile(r"[ \t]*<(h[1-6]|section|article|nav|main|header|footer|title)\b", re.IGNORECASE)
_SECTION = re.compile(r"[ \t]*\[{1,2}[^\[\]]+\]{1,2}[ \t]*(?:#.*)?$")
_KEY = re.compile(r"([ \t]*)(?:\"(?:[^\"\\]|\\.)+\"|[\w.$/-]+)[ \t]*:(?:[ \t]|$)")
_STARTS = frozenset("#=*`~-^\"'+\\cpbsakCPBSAK")
"""How a heading, an underline or a fence begins; most lines are passed over by this alone."""
_TEX_LEVELS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4}


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading or a definition: its line, counted from 1, its depth, its words."""

    line: int
    level: int
    text: str


Reader = Callable[[str], int | None]
"""The level of a line that is an entry; None for any other."""


def outline(lines: Iterable[str], name: str) -> list[OutlineEntry]:
    """The headings or definitions of a text.

    Args:
        lines: without their ends.
        name: the name of the file, for its extension.
    """
    ending = ending_of(name)
    if ending in _NONE:
        return []
    if ending in _PROSE:
        return _headings(lines)
    read = _reader(ending)
    found: list[OutlineEntry] = []
    for number, line in enumerate(lines, 1):
        level = read(line) if line and len(line) <= MAX_HEADING_LINE_CHARS else None
        if level is not None:
            found.append(OutlineEntry(number, level, _shortened(line)))
            if len(found) == MAX_OUTLINE_ENTRIES:
                break
    return found


def ending_of(name: str) -> str:
    """The extension of a file's name, in lower case, without its dot."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last.lstrip(".") else ""


def is_prose(name: str) -> bool:
    """Whether a file is prose by its name: Markdown, plain text, one without an extension."""
    return ending_of(name) in _PROSE


def is_definition(line: str) -> bool:
    """Whether a line heads something: a definition of code, or a heading of Markdown."""
    if not line or len(line) > MAX_HEADING_LINE_CHARS:
        return False
    return _HEADING.match(line) is not None or _DEFINITION.match(line) is not None


def outermost(entries: list[OutlineEntry], count: int) -> list[OutlineEntry]:
    """At most so many entries, the outer ones first, in their order."""
    if len(entries) <= count:
        return entries
    depth = sorted({entry.level for entry in entries})
    chosen: list[OutlineEntry] = []
    for level in depth:
        more = [entry for entry in entries if entry.level == level]
        if len(chosen) + len(more) > count:
            # Of the level that does not fit, some from everywhere rather than the first.
            room = count - len(chosen)
            chosen += [more[i * len(more) // room] for i in range(room)]
            break
        chosen += more
    return sorted(chosen, key=lambda entry: entry.line)


def _reader(ending: str) -> Reader:
    if ending in _MARKED:
        return _tag
    if ending in _SETTINGS:
        return lambda line: 0 if _SECTION.match(line) else None
    if ending in _KEYED:
        return _key
    return _c_definition if ending in _C_LIKE else _definition


def _definition(line: str) -> int | None:
    return _indent(line) if _DEFINITION.match(line) else None


def _c_definition(line: str) -> int | None:
    if _DEFINITION.match(line) and not line.rstrip().endswith(";"):
        return _indent(line)
    return 0 if _C_FUNCTION.match(line) else None


def _key(line: str) -> int | None:
    match = _KEY.match(line)
    if match is None or len(match[1]) > 8:
        return None
    return _indent(line)


def _tag(line: str) -> int | None:
    match = _TAG.match(line)
    if match is None:
        return None
    return int(match[1][1]) if match[1][1:].isdigit() else 0


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _headings(lines: Iterable[str]) -> list[OutlineEntry]:
    found: list[OutlineEntry] = []
    before, fenced = "", False
    for number, line in enumerate(lines, 1):
        if len(found) == MAX_OUTLINE_ENTRIES:
            break
        start = line.lstrip()[:1]
        if len(line) > MAX_HEADING_LINE_CHARS or not start or start not in _STARTS:
            before = line if start and len(line) <= MAX_HEADING_LINE_CHARS else ""
            continue
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            _add_heading(found, number, line, before)
        before = line
    return found


def _add_heading(found: list[OutlineEntry], number: int, line: str, before: str) -> None:
    marked, tex = _HEADING.match(line), _TEX.match(line)
    if marked:
        found.append(OutlineEntry(number, len(marked[1]), _shortened(line)))
    elif tex:
        found.append(OutlineEntry(number, _TEX_LEVELS.get(tex[1], 5), _shortened(line)))
    elif _CHAPTER.match(line.strip()) and not before.strip():
        found.append(OutlineEntry(number, 1, _shortened(line)))
    elif _UNDERLINE.match(line) and _is_title(before, line):
        found.append(OutlineEntry(number - 1, "=-~^".find(line[0]) % 5 + 1, _shortened(before)))


def _is_title(before: str, line: str) -> bool:
    title = before.strip()
    known = len(title) >= 3 and len(title) <= len(line.strip()) + 3
    return known and len(title) <= ENTRY_CHARS and any(c.isalpha() for c in title)


def _shortened(line: str) -> str:
    return with_ellipsis(" ".join(line.split()).rstrip("{ "), ENTRY_CHARS)


MAX_GAP_LINES = 6
"""Lines between two hits that still belong to one region."""
MAX_REGION_LINES = 40
"""Lines of a region."""
MAX_REGIONS = 20_000
"""Regions of one text."""
MAX_FOCUS_WORDS = 12
FULLY_SEARCHED_CHARS = 2000
"""Characters up to which a line is looked through to its end for each word."""
HEADING_FACTOR = 1.5
"""What a region counts more that has a definition or a heading with the words."""
COVERAGE_WEIGHT = 0.6
"""How much of a score depends on the share of the words that are met."""
_STOP = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "in", "is"),
        *("it", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where"),
        *("which", "who", "why", "with"),
    )
)
_FOCUS_WORD = re.compile(r'"([^"]+)"|([^\s,;]+)')


@dataclass(frozen=True, slots=True)
class FocusWord:
    """A word that is looked for, as it was given, and how it is found."""

    text: str
    pattern: re.Pattern[str]


@dataclass(slots=True)
class Region:
    """Lines that belong together, counted from 1, with how often each word is in them.

    `under` is the last definition or heading before them, with its line, if any; `score`
    says how much they are about the words, beside other regions of the same text.
    """

    first: int
    last: int
    counts: Counter[str] = field(default_factory=Counter)
    heads: bool = False
    under: tuple[int, str] | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class FoundRegions:
    """The regions, best first; the words that no line has; how many lines were looked at."""

    regions: tuple[Region, ...]
    missing: tuple[str, ...]
    lines: int
    partly: bool


def words_of(focus: str) -> list[FocusWord]:
    """The words of a focus; what stands in quotes is one. Common ones count only if alone."""
    given = [quoted or bare.strip(".:?!()[]{}'`") for quoted, bare in _FOCUS_WORD.findall(focus)]
    texts = list(dict.fromkeys(text for text in given if text.strip()))
    distinctive = [text for text in texts if text.casefold() not in _STOP]
    return [FocusWord(text, _pattern(text)) for text in (distinctive or texts)[:MAX_FOCUS_WORDS]]


def _pattern(text: str) -> re.Pattern[str]:
    """Any case; a short word only as a whole, a longer one also in its other forms."""
    literal = r"\s+".join(map(re.escape, text.split()))
    if text.isalpha() and text.isascii():
        if len(text) <= 3:
            literal = rf"(?<![^\W_]){literal}(?![^\W_])"
        else:
            root = stem(text.lower())
            if len(root) >= 4 and not text.lower().startswith(root):
                literal = rf"{literal}|{root[:-1]}"
            elif len(root) >= 4:
                literal = root
    return re.compile(literal, re.IGNORECASE)


def find_regions(
    lines: Iterable[str], words: Sequence[FocusWord], check: Callable[[], None]
) -> FoundRegions:
    """Where the words are.

    Args:
        lines: without their ends.
        words: at least one.
        check: called now and then; it raises when the work should stop.
    """
    found: list[Region] = []
    having: Counter[str] = Counter()
    any_pattern = re.compile("|".join(word.pattern.pattern for word in words), re.IGNORECASE)
    under: tuple[int, str] | None = None
    number, partly = 0, False
    for number, line in enumerate(lines, 1):
        if number % 4096 == 0:
            check()
        heads = is_definition(line)
        if any_pattern.search(line):
            counts = {w.text: n for w in words if (n := _times(w, line))}
            for word in counts:
                having[word] += 1
            partly = len(found) == MAX_REGIONS
            if not partly:
                _add(found, number, counts, heads=heads, under=under)
        if heads:
            under = (number, line.strip()[:100])
    worth = {word: math.log(1 + number / count) for word, count in having.items()}
    for region in found:
        region.score = _score(region, worth, len(words))
    ranked = sorted(found, key=lambda region: (-region.score, region.first))
    missing = tuple(word.text for word in words if not having[word.text])
    return FoundRegions(tuple(ranked), missing, number, partly)


def _times(word: FocusWord, line: str) -> int:
    if len(line) <= FULLY_SEARCHED_CHARS:
        return len(word.pattern.findall(line))
    return sum(1 for _ in islice(word.pattern.finditer(line), 20))


def _add(
    found: list[Region],
    number: int,
    counts: dict[str, int],
    *,
    heads: bool,
    under: tuple[int, str] | None,
) -> None:
    last = found[-1] if found else None
    near = (
        last is not None
        and number - last.last <= MAX_GAP_LINES
        and number - last.first < MAX_REGION_LINES
    )
    if last is None or not near:
        last = Region(number, number, under=under)
        found.append(last)
    last.last = number
    for word, times in counts.items():
        last.counts[word] += times
    last.heads |= heads


def _score(region: Region, worth: dict[str, float], words: int) -> float:
    total = sum(worth[word] * (1 + math.log(n)) for word, n in region.counts.items())
    share = len(region.counts) / words
    return (
        total
        * (1 - COVERAGE_WEIGHT + COVERAGE_WEIGHT * share)
        * (HEADING_FACTOR if region.heads else 1.0)
    )
