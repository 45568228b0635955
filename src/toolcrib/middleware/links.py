"""Which links a conversation has seen, so that a made-up one is recognised.

A link that the caller wrote itself, in a query or a search term, comes back in many
answers. Once something private was read, that must not count as seen: the link may hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from unicodedata import normalize

from toolcrib.core.call import Call, Result
from toolcrib.core.errors import ToolError
from toolcrib.core.tool import NET
from toolcrib.net.egress.url import complete_url, parse_url

# Looking back comes after the letters, so that a search can run to the next h or w.
LINK = re.compile(r"(?:https?://|www\.(?<![\w/.@]www\.))[^\s<>\"]+")
# Where a link may be over, though each of these can also be a part of it.
LINK_ENDS = re.compile(
    "[\\]'`\\\\)}|*\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\uff09\u300d\u300f\u3011]"
)
# What parsing would leave as it is: most links, and parsing hundreds of them takes long.
CANONICAL = re.compile(
    r"https?://(?:(?:[a-z0-9-]{1,40}\.){1,5}[a-z]{2,20}|(?:OCTET\.){3}OCTET)"
    r"(?::(?:[1-9][0-9]{3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?"
    r"/[A-Za-z0-9/._~!$&()*+,;=:@%-]*(?:\?[A-Za-z0-9/._~!$&()*+,;=:@%?-]*)?".replace(
        "OCTET", "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    )
)
DOTTED = re.compile(r"/(?:\.|%2e)", re.IGNORECASE)
NO_WORD = re.compile(r"[\W_]+")
LINKS_A_RESULT = 500
READINGS = 4
"""How many ends of one link are thought possible."""


def remember_shown(call: Call, result: Result) -> None:
    """Note the links that outside text names. `result` is whole: nothing is cut yet."""
    session = call.ctx.session
    if not (call.tool.rights & NET or (result.source and not session.private)):
        return
    own = _own_words(call) if session.private else ""
    for url in dict.fromkeys(links_of(result.text)):
        made_up = result.outside is not None and url not in result.outside
        if not session.private or not (made_up or _bare(url) in own):
            session.remember_link(canonical(url))


def _own_words(call: Call) -> str:
    """All that the caller wrote, but for the URLs, which are judged themselves."""
    urls = {p.name for p in call.tool.parameters if p.kind == "url"}
    return _bare("".join(_texts({n: v for n, v in call.arguments.items() if n not in urls})))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _bare(text: str) -> str:
    """Letters and digits alone: answers repeat words in other quotes, spaces and cases."""
    return NO_WORD.sub("", normalize("NFKC", text).casefold())


def links_of(text: str) -> Iterable[str]:
    """The links in a text. Where it is not sure which characters belong, every reading."""
    for count, match in enumerate(LINK.finditer(text)):
        if count >= LINKS_A_RESULT:
            return
        whole = match.group()
        if text[match.start() - 1 : match.start()] == "(":
            whole = whole[: _balanced(whole)]
        ends = [end.start() for end in islice(LINK_ENDS.finditer(whole), READINGS)]
        for end in (len(whole), *ends):
            reading = whole[:end].rstrip(".,;:!?*_~")
            yield reading
            if "&amp;" in reading:
                yield reading.replace("&amp;", "&")


def _balanced(link: str) -> int:
    """Where a bracket closes that the link did not open, as in Markdown."""
    first = link.find(")")
    if first < 0 or link.find("(", 0, first) < 0:
        return first if first >= 0 else len(link)
    depth = 0
    for at, char in enumerate(link):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(link)


def canonical(url: str) -> str:
    """One spelling for each page, so that it is recognised."""
    if CANONICAL.fullmatch(url) and not DOTTED.search(url):
        return url
    try:
        return parse_url(complete_url(url)).href
    except ToolError:
        return url
