"""What a text file consists of: its headings or definitions, each with its line.

Found line by line with patterns, in any language that looks like the usual ones: quick,
for files of any size, and good enough to choose what to read. It is no parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MOST = 20_000
"""Entries of an outline."""
WIDTH = 100
"""Characters of an entry."""
LONGEST = 300
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
class Entry:
    """A heading or a definition: its line, counted from 1, its depth, its words."""

    line: int
    level: int
    text: str


Reader = Callable[[str], int | None]
"""The level of a line that is an entry; None for any other."""


def outline(lines: Iterable[str], name: str) -> list[Entry]:
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
    found: list[Entry] = []
    for number, line in enumerate(lines, 1):
        level = read(line) if line and len(line) <= LONGEST else None
        if level is not None:
            found.append(Entry(number, level, _shown(line)))
            if len(found) == MOST:
                break
    return found


def ending_of(name: str) -> str:
    """The extension of a file's name, in lower case, without its dot."""
    last = name.rpartition("/")[2]
    return last.rpartition(".")[2].lower() if "." in last.lstrip(".") else ""


def is_definition(line: str) -> bool:
    """Whether a line heads something: a definition of code, or a heading of Markdown."""
    if not line or len(line) > LONGEST:
        return False
    return _HEADING.match(line) is not None or _DEFINITION.match(line) is not None


def most_telling(entries: list[Entry], count: int) -> list[Entry]:
    """At most so many entries, the outer ones first, in their order."""
    if len(entries) <= count:
        return entries
    depth = sorted({entry.level for entry in entries})
    kept: list[Entry] = []
    for level in depth:
        more = [entry for entry in entries if entry.level == level]
        if len(kept) + len(more) > count:
            # Of the level that does not fit, some from everywhere rather than the first.
            room = count - len(kept)
            kept += [more[i * len(more) // room] for i in range(room)]
            break
        kept += more
    return sorted(kept, key=lambda entry: entry.line)


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


def _headings(lines: Iterable[str]) -> list[Entry]:
    found: list[Entry] = []
    before, fenced = "", False
    for number, line in enumerate(lines, 1):
        if len(found) == MOST:
            break
        start = line.lstrip()[:1]
        if len(line) > LONGEST or not start or start not in _STARTS:
            before = line if start and len(line) <= LONGEST else ""
            continue
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            _add_heading(found, number, line, before)
        before = line
    return found


def _add_heading(found: list[Entry], number: int, line: str, before: str) -> None:
    marked, tex = _HEADING.match(line), _TEX.match(line)
    if marked:
        found.append(Entry(number, len(marked[1]), _shown(line)))
    elif tex:
        found.append(Entry(number, _TEX_LEVELS.get(tex[1], 5), _shown(line)))
    elif _CHAPTER.match(line.strip()) and not before.strip():
        found.append(Entry(number, 1, _shown(line)))
    elif _UNDERLINE.match(line) and _is_title(before, line):
        found.append(Entry(number - 1, "=-~^".find(line[0]) % 5 + 1, _shown(before)))


def _is_title(before: str, line: str) -> bool:
    title = before.strip()
    known = len(title) >= 3 and len(title) <= len(line.strip()) + 3
    return known and len(title) <= WIDTH and any(c.isalpha() for c in title)


def _shown(line: str) -> str:
    text = " ".join(line.split()).rstrip("{ ")
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}\u2026"
