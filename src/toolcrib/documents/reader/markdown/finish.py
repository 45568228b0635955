"""The last pass over Markdown: fewer escapes, no empty lines in a row, no spaces at line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_BLOCK = 100_000
"""Characters between two empty lines up to which escapes are looked at."""

_FENCED = re.compile(r"^[ >]*(`{3,})[^`\n]*\n(?:.*\n)*?[ >]*\1[ ]*$", re.MULTILINE)
# Each branch starts with a plain sign, which lets the search skip to the next of them.
_ESCAPES = re.compile(
    r"`(?P<code>`*)(?!`).+?(?<!`)`(?P=code)(?!`)"
    r"|\\(?:(?P<pair>\[(?P<inner>(?:[^\[\]\\`\n]|\\[_*~.#-])*)\\\](?![(\[:]))"
    r"|(?P<run>_(?:\\_)*|\*(?:\\\*)*|~(?:\\~)*)|(?P<slash>\\)|.)",
    re.DOTALL,
)
_EMPTY_LINK = re.compile(r"^([ >]*)\[\]\([^()\s]*\)$|(?<![!\\])\[\]\((?:<[^<>\n]*>|[^()\s<>]*)\)")
_BREAKS = re.compile(r"(?:\\\n([ >]*))(?:(?:&#160;)?\\\n[ >]*)+")
_LONE = re.compile(
    r"^([ >]*)([-*+]|\d{1,9}[.)])[ ]*\n(?:[ >]*\n)+(?:([ >]+)(?=[^ >\n])|\Z)", re.MULTILINE
)
_LONE_LINE = re.compile(r"\n[ >]*(?:[-*+]|\d{1,9}[.)])[ ]*\n")
"""A line of a sign alone; it starts with a plain sign, which makes the search fast."""
# With letters at both ends the signs open and close, whatever stands around them.
_TAGGED = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?<![*\\])<(?P<tag>strong|em)>(?P<said>[^\W_](?:[^<>*`\\\n]{0,300}[^\W_])?)</(?P=tag)>(?!\*)"
)
_TICK = frozenset({"", " ", "x", "X"})


def finish(markdown: str) -> str:
    """Markdown as it is given out: see the module. Blocks of code stay as they are."""
    if "```" not in markdown:
        return _prose(markdown).strip("\n")
    parts: list[str] = []
    end = 0
    for match in _FENCED.finditer(markdown):
        parts += [_prose(markdown[end : match.start()]), _bare(match[0])]
        end = match.end()
    parts.append(_prose(markdown[end:]))
    return "".join(parts).strip("\n")


def _bare(code: str) -> str:
    """Code without the white space that only indents its empty lines."""
    if " \n" not in code:
        return code
    return "\n".join("" if line.isspace() else line for line in code.split("\n"))


def _prose(text: str) -> str:
    if _LONE_LINE.search(f"\n{text}"):
        text = _LONE.sub(_begun, text)
    if "\\\n" in text:
        text = _BREAKS.sub(r"\n\1\n\1", text)
    if "\\" in text:
        text = "\n\n".join(
            _relaxed(block) if "\\" in block and len(block) < MAX_BLOCK else block
            for block in text.split("\n\n")
        )
    if "<strong>" in text or "<em>" in text:
        text = _TAGGED.sub(_signed, text)
    if "[](" not in text:
        text = "\n".join([line.rstrip() for line in text.split("\n")])
        if "\n\n\n" not in text and ">\n" not in text:
            return text
    return "\n".join(_lines(text.split("\n")))


def _signed(match: re.Match[str]) -> str:
    """Emphasis by tags as emphasis by signs."""
    sign = {"strong": "**", "em": "*"}.get(match["tag"], "")
    return f"{sign}{match['said']}{sign}" if sign else match[0]


def _begun(match: re.Match[str]) -> str:
    """The sign of an entry with its first line, which an empty line would cut off from it."""
    outer, sign, inner = match.groups()
    if inner is None:
        return f"{outer}{sign}\n"
    return f"{outer}{sign} " if len(inner) > len(outer) else match[0]


def _lines(lines: list[str]) -> Iterator[str]:
    """Lines without space at their ends, and never two empty ones in a row."""
    empty = False
    last = len(lines) - 1
    for number, line in enumerate(lines):
        if "[](" in line:
            line = _EMPTY_LINK.sub(r"\1", line)  # noqa: PLW2901 - the same line, cleaned
        line = line.rstrip()  # noqa: PLW2901 - the same line, cleaned
        # The first and the last are what is left of the lines of code around.
        nothing = 0 < number < last and (not line or (line[0] in " >" and not line.strip(" >")))
        if nothing and empty:
            continue
        empty = nothing
        yield line


def _relaxed(block: str) -> str:
    """A block without the escapes that change nothing."""
    stars = block.count("*")

    def replaced(match: re.Match[str]) -> str:
        kind, text = match.lastgroup, match[0]
        before = block[match.start() - 1] if match.start() else "\n"
        after = block[match.end()] if match.end() < len(block) else "\n"
        if kind == "pair":
            inner = match["inner"]
            if inner in _TICK:
                return text
            return f"[{_relaxed(inner) if chr(92) in inner else inner}]"
        if kind == "run":
            earlier = block[match.start() - 2] if match.start() > 1 else ""
            idle = _is_idle(text, f"{earlier}{before}", after, stars)
            return text.replace("\\", "") if idle else text
        if kind == "slash" and (after.isalnum() or after == " "):
            return "\\"
        return text

    return _ESCAPES.sub(replaced, block)


def _is_idle(text: str, before: str, after: str, stars: int) -> bool:
    """Whether a run of signs between what is around it can neither open nor close anything."""
    sign, single = text[1], len(text) == 2
    opens = not after.isspace()
    if before[-1].isspace() and not opens:
        return single and before[0].isalnum() and before[-1] == " "
    if sign == "_":
        return before[-1].isalnum() and after.isalnum()
    if sign == "*":
        return single and stars == 1 and (opens or before[-1].isalnum())
    return single and before[-1].isspace() and (after.isalnum() or after in "/$€£.")
