"""Links that a conversation has seen, so that one made up by a model is recognised.

A link that the caller wrote itself, in a query or a search term, comes back in many
answers. Once something private was read, that must not count as seen: the link may hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from itertools import islice
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from toolcrib.core.context import Call, Session
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, SEND
from toolcrib.net.egress.url import Target, complete_url, parse_url

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
DECODINGS = 3
"""How often a text may have been encoded, one time in the other."""
LOCAL = "localhost"
SENT_TO = "sent to "
READINGS = 4
"""How many ends of one link are thought possible."""


def remember_links(call: Call, result: Result) -> None:
    """Note the links that outside text or a file names. `result` is whole: nothing is cut yet."""
    session = call.ctx.session
    written = _own_words(call) if session.private else ""
    for url in links_of(written):
        if not session.has_seen(canonical(url)):
            session.note_written(_bare(url))
            session.note_written(_bare(canonical(url)))
    if session.private:
        _note_places(call, result)
    from_outside = call.tool.rights_for(call.arguments) & NET
    is_reported = bool(result.source) and not session.private
    if not (from_outside or is_reported or _is_of_others(result, session)):
        return
    found = dict.fromkeys(links_of(result.text))
    if not found:
        return
    own = "\n".join({_bare(form) for form in _forms(written)})
    near = servers_near(call, result.source.split(", ")) if session.private else None
    for url in found:
        if session.private:
            bare = _bare(url)
            made_up = result.outside is not None and url not in result.outside
            if made_up or bare in own or session.has_written(bare):
                continue
            if near is not None and not _is_of(url, near):
                continue
        session.remember_link(canonical(url))


def leads_out(call: Call, source: str, url: str) -> bool:
    """Whether a page leads on to a URL that a call or a run of the conversation may have made up.

    That is so where the page may repeat what they wrote, and the URL is not of its own server.
    """
    session = call.ctx.session
    if not session.private or session.has_seen(canonical(url)):
        return False
    near = servers_near(call, [source])
    return near is not None and not _is_of(url, near)


def _own_words(call: Call) -> str:
    """All that the caller wrote, but for the URLs, which are judged themselves."""
    urls = {p.name for p in call.tool.parameters if p.kind == "url"}
    return "\n".join(_texts({n: v for n, v in call.arguments.items() if n not in urls}))


def _forms(text: str) -> set[str]:
    """A text, and what a page makes of it that takes it for a part of a URL or of HTML."""
    forms = {text}
    for _ in range(DECODINGS):
        forms |= {unescape(form) for form in forms if "&" in form}
        forms |= {unquote(form) for form in forms if "%" in form}
    return forms | {canonical(url) for form in tuple(forms) for url in links_of(form)}


def _is_of_others(result: Result, session: Session) -> bool:
    """Whether a result shows files as they are that were there before the conversation.

    The time of change is set by the system whoever writes, renames or unpacks a file, so
    neither a call nor a run of the conversation can have written one that is older.
    """
    changed = result.newest_change
    return changed is not None and session.began_after(changed)


def servers_near(call: Call, sources: Iterable[str]) -> set[tuple[str, int]] | None:
    """Host and port of the servers that may repeat what the conversation wrote.

    Those are the ones of this machine and of its network, which may show files of the
    workspace, and those that a call has sent something to since private things were read.

    Args:
        call: it; the URLs that it was given count as sources.
        sources: URLs that were read, and other names of sources.

    Returns:
        None where none of them was read.
    """
    session = call.ctx.session
    targets = _targets((*values_of(call, "url"), *sources))
    if session.has_written(f"{SENT_TO}{call.tool.group}") and not values_of(call, "url"):
        return {(target.host, target.port) for target in targets}
    found = {
        (target.host, target.port)
        for target in targets
        if session.has_written(f"{SENT_TO}{target.host}")
        or _is_here(target, call)
        or is_own_server(call, target.href)
    }
    return found or None


def _note_places(call: Call, result: Result) -> None:
    """Note where a call has sent something: what is read there may be it."""
    rights = call.tool.rights_for(call.arguments)
    if not (rights & SEND and rights & NET):
        return
    targets = _targets((*values_of(call, "url"), *result.source.split(", ")))
    for place in {target.host for target in targets} or {call.tool.group}:
        call.ctx.session.note_written(f"{SENT_TO}{place}")


def _targets(texts: Iterable[str]) -> list[Target]:
    targets = []
    for text in texts:
        with suppress(ToolError):
            targets.append(parse_url(complete_url(text)))
    return targets


def _is_here(target: Target, call: Call) -> bool:
    """Whether a server is of this machine, of its network, or one that the user opened."""
    if target.literal is not None:
        return not target.literal.is_global
    if target.host == LOCAL or target.host.endswith(f".{LOCAL}"):
        return True
    config = call.ctx.config
    opened = (*config.egress.allow_hosts, *config.web.fetch.allow_hosts)
    return any(_host_of(entry) == target.host for entry in opened)


def _host_of(entry: str) -> str:
    return entry.rpartition("://")[2].partition("/")[0].partition(":")[0].lower()


def _is_of(url: str, servers: set[tuple[str, int]]) -> bool:
    try:
        target = parse_url(complete_url(url))
    except ToolError:
        return False
    return (target.host, target.port) in servers


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
    elif value is not None and not isinstance(value, bool | int | float):
        # A path: results repeat it in one of its spellings.
        yield str(value)
        yield str(getattr(value, "display", ""))


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


def values_of(call: Call, kind: str) -> list[Any]:
    """What a call was given of one kind, such as `url`."""
    found: list[Any] = []
    for parameter in call.tool.parameters if kind in call.tool.kinds else ():
        found += parameter.of_kind(kind, call.arguments.get(parameter.name))
    return found


def is_own_server(call: Call, url: str) -> bool:
    """Whether a URL is of a server in a run of the conversation that can send nothing anywhere."""
    from toolcrib.net.egress.client import Egress  # a call without an address needs no network

    session = call.ctx.session.id
    egress = call.ctx.use(Egress)
    try:
        return egress.serves(complete_url(url), session, offline=True)
    except ToolError:
        return False
