"""Lines that stand for text which a model did not write out: "... rest of file unchanged"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_PLACEHOLDER_CHARS = 120
MAX_DOTTED_WORDS = 10
MIN_LOST_LINES = 3
"""Lines that a text has fewer than the one it replaces, where dots alone stand for them."""

_MARKER = re.compile(
    r"\.\.|\u2026|rest|remain|exist|same|unchanged|unmodified|untouched|omitted|snip|truncated"
    r"|previous|original",
    re.IGNORECASE,
)
_PROSE = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".tex")
_COMMENT = re.compile(
    r"(?P<before>.*?)(?P<sign>#+|//+|/\*+|<!--+|\{/\*|--(?=\s)|;+(?=\s)|%+(?=\s)|\*(?=\s))"
    r"(?P<inner>.*)"
)
_CLOSING = re.compile(r"\s*(?:\*+/\}?|--+>)\s*$")
_BRACKETS = {"(": ")", "[": "]", "<": ">", "{": "}"}
_OPENED = re.compile(r"(?:\.{2,}|\u2026)(?![./\\])\s*")
_CLOSED = re.compile(r"\s*(?:\.{2,}|\u2026)$")
_SPREAD = re.compile(r"(?:\.{3}|\u2026)[\w$.(\[{]+")
_WORD = re.compile(r"[a-z']+|\d+")
_SENTENCE = re.compile(r"[\w\s,'/&:;()\-\u2013.\u2026]*")

_WHAT = (
    r"(?:code|file|contents?|lines?|functions?|methods?|class(?:es)?|implementations?|imports?"
    r"|logic|body|definitions?|styles?|rules|sections?|document|text|script|program|module"
    r"|component|template|markup|html|css|tests?|cases?|entries|items|elements|fields|properties"
    r"|attributes|rows|paragraphs?|page|configuration|config|routes|handlers|helpers|variables"
    r"|constants|statements)"
)
_STATE = (
    r"(?:unchanged|untouched|unmodified|omitted|the same|same|as is|as before|not shown|left out"
    r"|snipped|truncated|intact)"
)
_STAYS = (
    rf"(?:(?: (?:code|here|above|below|is|are|remains?|stays?|left|kept|all|exactly))*"
    rf" {_STATE}(?: as before| for brevity| here| as is)*)"
)
_OF = rf"(?: of (?:the |this |your |my )?(?:\w+ )?{_WHAT})"
_HERE = r"(?: here| above| below| goes here| continues?| follows?| as before)"
_STATEMENT = re.compile(
    rf"(?:the )?(?:rest|remainder){_OF}(?:{_STAYS}|{_HERE})?"
    rf"|(?:the |all )?(?:rest|remainder|others?|everything else){_STAYS}"
    rf"|(?:the )?(?:rest|remainder) of (?:\w+ ){{0,2}}\w+{_STAYS}"
    rf"|(?:the |all |your )?existing {_WHAT}(?:{_STAYS}|{_HERE})?"
    rf"|(?:the |all |your )?existing (?:\w+ )?{_WHAT}{_STAYS}"
    rf"|(?:the |all )*(?:remaining|previous|original|other)(?: \w+)? ?{_WHAT}{_STAYS}"
    r"|(?:the )?(?:remaining|previous|original) (?:code|contents?|implementation|logic)"
    rf"{_HERE}?"
    rf"|(?:keep|leave) (?:the |all )*(?:rest|existing|remaining|other|same|everything else)"
    rf"(?:{_OF}|(?: \w+)? {_WHAT})?{_STAYS}?"
    rf"|(?:(?:lines? )?\d+(?: (?:to )?\d+)? |{_WHAT} )?(?:is |are |remains? |stays? )?"
    r"(?:unchanged|omitted|snip|same as before)"
    r"(?: (?:code|lines?|here|for brevity))*"
)
"""What says by itself that text is left out, without punctuation."""
_LEAVES_OUT = re.compile(
    r"unchanged|unmodified|untouched|existing|rest|remaining|remainder|omitted|same|previous"
    r"|original|others?|snip|snipped|truncated|etc|continues?|more"
)
_GOES_ON = re.compile(r"and so (?:on|forth)|(?:keep|continue|continues|etc|same)\b.*")
_BY_ITSELF = ("unchanged", "and so on", "and so forth")
_FILLING = re.compile(
    rf"{_WHAT}|the|of|is|are|as|stays?|remains?|here|and|all|this|that|in|above|below|before|so|on"
    r"|your|my|for|brevity|it|exactly|with|goes|go|left|out|not|shown|from|everything|else|to"
    r"|keep|kept"
)


def placeholder(new: str, before: str, replaced: str = "", name: str = "") -> str:
    """The first line of a text that stands for what was left out; "" for none.

    Args:
        new: what shall be written.
        before: what is there now: a line of it is no placeholder.
        replaced: the part of it that goes. Dots alone are no placeholder where this has about
            as many lines as `new`.
        name: the file name; its ending tells what dots mean in it.
    """
    if not _MARKER.search(new):
        return ""
    known = {line.strip() for line in before.split("\n")}
    lines = new.split("\n")
    lost = _is_shorter(new.count("\n"), replaced.count("\n"), name)
    for index, line in enumerate(lines):
        text = line.strip()
        if len(line) > MAX_PLACEHOLDER_CHARS or not _MARKER.search(line) or text in known:
            continue
        if _stands_for_more(text) or (lost and _is_only_dots(lines, index, name)):
            return text
    return ""


def _is_shorter(new: int, replaced: int, name: str) -> bool:
    """Whether so many lines are lost that dots may stand for them; prose has more of these."""
    if name.lower().endswith(_PROSE):
        return new * 2 < replaced - MIN_LOST_LINES
    return replaced - new >= MIN_LOST_LINES


def _stands_for_more(line: str) -> bool:
    return any(_says_left_out(text, apart=apart) for text, apart in _inner(line))


def _inner(line: str) -> Iterator[tuple[str, bool]]:
    """What of a line may be a placeholder, and whether it is set apart as a comment or so."""
    bare, bracketed = _unbracketed(line)
    yield bare, bracketed and " " in bare
    match = _COMMENT.match(line)
    if match is None:
        return
    text, _ = _unbracketed(_CLOSING.sub("", match["inner"]).strip())
    yield text, not match["before"].strip() and match["sign"] != "*"  # which begins a list too


def _unbracketed(text: str) -> tuple[str, bool]:
    """A text without the brackets around all of it, and whether there were any."""
    inner, found = text, False
    while len(inner) > 2 and _BRACKETS.get(inner[0]) == inner[-1]:
        inner, found = inner[1:-1].strip(), True
    return inner, found


def _says_left_out(text: str, *, apart: bool) -> bool:
    """Whether words say so; they need dots, or four words, where they are not set apart."""
    opened, closed = _OPENED.match(text), _CLOSED.search(text)
    if not _SENTENCE.fullmatch(text) or (_SPREAD.fullmatch(text.rstrip(",;")) and not apart):
        return False
    inner = _CLOSED.sub("", _OPENED.sub("", text, count=1))
    inner, _ = _unbracketed(inner.strip())
    words = _WORD.findall(inner.lower())
    phrase = " ".join(words)
    if _STATEMENT.fullmatch(phrase) and (apart or opened or closed or len(words) > 3):
        return apart or not inner.endswith(".")
    if not opened or not words:
        return False
    return _trails_off(words, phrase, closed=bool(closed))


def _trails_off(words: Sequence[str], phrase: str, *, closed: bool) -> bool:
    """Whether words after dots stand for what follows: all of them do, or dots close them."""
    if len(words) > MAX_DOTTED_WORDS:
        return False
    leaving = [word for word in words if _LEAVES_OUT.fullmatch(word)]
    if closed:
        return bool(leaving or _GOES_ON.fullmatch(phrase))
    if phrase in _BY_ITSELF:
        return True
    others = [word for word in words if word not in leaving and not _FILLING.fullmatch(word)]
    return bool(leaving) and not others and len(words) > 1


_ONLY_DOTS = re.compile(
    r"(?:(?:#+|//+|/\*+|<!--+|\{/\*|--|;+|%+|\*)\s*)?"
    r"(?:D|\(\s*D\s*\)|\[\s*D\s*\]|<\s*D\s*>)"
    r"(?:\s*(?:\*+/\}?|--+>))?".replace("D", r"(?:\.{3,}|\u2026)")
)
_DOCTEST = (">>>", "...")
_STUB_ENDS = (":", '"""', "'''")


def _is_only_dots(lines: Sequence[str], index: int, name: str) -> bool:
    """Whether a line is nothing but dots, and these are no text of their own."""
    line = lines[index]
    if not _ONLY_DOTS.fullmatch(line.strip()):
        return False
    if line.strip() not in ("...", "\u2026"):
        return True
    if line.rstrip() == "..." and name.lower().endswith((".yaml", ".yml")):
        return False
    above = next((x.strip() for x in reversed(lines[:index]) if x.strip()), "")
    if above.startswith(_DOCTEST):
        return False
    # The body of a Python stub: below its head, its text or a comment.
    stub = above.endswith(_STUB_ENDS) or above.startswith("#")
    return not (stub and line[:1] in (" ", "\t"))
