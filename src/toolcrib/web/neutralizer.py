"""Links and images made harmless: what could carry data out is removed before they are shown."""

from __future__ import annotations

import html
import re

MAX_TARGET_CHARS = 4_000
"""Characters of a link target that are read as one."""
MAX_ROUNDS = 4
_REMOVED = "link removed"
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]{0,40})((?:[\s/](?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?)>")
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_BARE_TAG = re.compile(r"<(?!/?[a-zA-Z][\w-]{0,40}>|https?://[^\s<>?#@]*>)(?=[a-zA-Z/!?])")
_AUTOLINK = re.compile(r"<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^<>\s]*)>")
_BRACKET = re.compile(r"!\[|\[|\](?:\(|\[[^\[\]\n]{0,200}\](?!\())?")
_TARGET = re.compile(
    rf"\(\s*(<[^<>\n]{{0,{MAX_TARGET_CHARS}}}>"
    rf"|(?:[^\s()<]|\((?:[^\s()]|\([^\s()]*\))*\)){{0,{MAX_TARGET_CHARS}}})"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_DEFINITION = re.compile(
    r"^((?:[ \t]|>|[-*+]|\d{1,9}[.)]){0,20}\[[^\]\n]{1,300}\]:[ \t]*\n?[ \t]*)"
    r"(<[^<>\n]*>|(?=\S*[:/&\\])[^\s<]\S*)"
    r"([ \t]*\n?[ \t]*(?:\"[^\"]*\"|'[^']*'|\([^()]*\))[ \t]*$)?",
    re.MULTILINE,
)
_BARE = re.compile(
    r"(?:\b(?:https?|ftp|wss?):[/\\]{0,9}|(?<![\w:/\\])[/\\]{2}(?=[\w.-]{1,200}\.)|\bwww\.)"
    r"[^\s<>\"`]*",
    re.IGNORECASE,
)
_DATA = re.compile(r"\bdata:[\w.+/-]{0,80}(?:;[\w=.+-]{0,80}){0,5},[^\s<>\"`)]*", re.IGNORECASE)
_MAIL = re.compile(r"\bmailto:([^\s<>\"`?)]*)[^\s<>\"`)]*", re.IGNORECASE)
_QUERY = re.compile(
    r"[?#]|&(?:quest|num|amp;(?:quest|num|#)|#0{0,6}(?:35|63)|#x0{0,6}(?:23|3f));?", re.IGNORECASE
)
_CLOSERS = re.compile(r"[)\]}*_~'.,;:!|]{0,4}\Z")
_WEB = re.compile(
    r"(?:(https?|ftp|wss?):)?[/\\]{2,}(?:[^/\\?#]*@)?([^/\\?#@]*)([^?#]*)", re.IGNORECASE
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_INVISIBLE = re.compile(r"[\x00-\x20\x7f\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")


def neutralize(markdown: str) -> str:
    """The text with links and images that can carry nothing out.

    Images become their alternative texts, links lose query, fragment and user name and
    keep host and path; `data:`, `javascript:` and other schemes lose their targets. Bare
    URLs, reference definitions, autolinks and HTML are treated alike, also in code.
    Doing it twice changes nothing more, and the time is linear in the text.
    """
    for _ in range(MAX_ROUNDS):
        done = _once(markdown)
        if done == markdown:
            break
        markdown = done
    return markdown.replace("![", "! [")


def _once(text: str) -> str:
    text = _TAG.sub(_tag, text)
    text = _DEFINITION.sub(_definition, text)
    text = _brackets(text)
    text = _AUTOLINK.sub(lambda match: _autolink(match[1]), text)
    text = _BARE_TAG.sub("&lt;", text)
    text = _DATA.sub(f"data: {_REMOVED}", text)
    text = _MAIL.sub(lambda match: f"mailto:{match[1]}", text)
    return _BARE.sub(lambda match: _bare(match[0]), text)


def _tag(match: re.Match[str]) -> str:
    """A tag without attributes; an image as its alternative text."""
    slash, name, rest = match.groups()
    if name.lower() != "img":
        return f"<{slash}{name}>"
    alt = _ALT.search(rest)
    words = next(filter(None, alt.groups()), "") if alt else ""
    return words.replace("<", "").replace(">", "")


def _autolink(target: str) -> str:
    if target.lower().startswith(("http:", "https:")):
        return f"<{_cleaned(target)}>"
    return _cleaned(target)


def _definition(match: re.Match[str]) -> str:
    target = match[2]
    decoded = _decoded(target.strip("<>"))
    if not (_SCHEME.match(decoded) or decoded.startswith(("/", "\\")) or match[3]):
        return match[0]
    return match[1] + (_cleaned(target.strip("<>")) or "#")


def _brackets(text: str) -> str:
    """Inline links with harmless targets, and images of all three kinds as their texts."""
    parts: list[str] = []
    images: list[int | None] = []
    done = at = 0
    while (match := _BRACKET.search(text, at)) is not None:
        at, mark = match.end(), match[0]
        if mark in ("![", "["):
            images.append(len(parts) + 1 if mark == "![" else None)
            if mark == "![":
                parts += [text[done : match.start()], "!["]
                done = at
            continue
        target = _TARGET.match(text, at - 1) if mark == "](" else None
        if mark == "](" and target is None:  # whatever it is, no reader shall take it for a link
            at = match.start() + 1
            parts += [text[done:at], " "]
            done = at
        opener = images.pop() if images else None
        if target is not None:
            at = target.end()
        if opener is not None:
            parts[opener] = ""
            parts.append(text[done : match.start()])
            done = at
        elif target is not None:
            parts += [text[done : match.start()], f"]({_cleaned(target[1].strip('<>'))})"]
            done = at
    parts.append(text[done:])
    return "".join(parts)


def _decoded(target: str) -> str:
    """A target as a browser ends up with it: entities and backslash escapes undone."""
    for _ in range(3):
        once = html.unescape(target)
        if once == target:
            break
        target = once
    target = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", target)
    return _INVISIBLE.sub("", target)


def _cleaned(target: str) -> str:
    """What is left of a link's target."""
    decoded = _decoded(target)
    web = _WEB.match(decoded)
    if web is not None:
        scheme, host, path = web.groups()
        path = path.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")
        start = f"{scheme.lower()}:" if scheme else ""
        return _stopped(f"{start}//{host}{path}")
    scheme_only = _SCHEME.match(decoded)
    if scheme_only is not None:
        name = scheme_only[1].lower()
        if name == "mailto":
            return _stopped(decoded.partition("?")[0])
        return ""
    return _stopped(re.split(r"[?#]", decoded, maxsplit=1)[0])


def _stopped(target: str) -> str:
    """A target without characters that would end it or begin something else."""
    return re.sub(r"[\s<>\[\]()\"'`\\&]", lambda match: f"%{ord(match[0]):02X}", target)


def _bare(token: str) -> str:
    """A URL in running text, cut where its query starts."""
    found = _QUERY.search(token)
    head = token
    if found is not None:
        head = token[: found.start()] + _CLOSERS.search(token)[0]  # type: ignore[index]
    start, slashes, rest = re.match(r"([a-zA-Z]*:?)([/\\]*)(.*)", head, re.DOTALL).groups()  # type: ignore[union-attr]
    authority = re.split(r"[/\\]", rest, maxsplit=1)
    if "@" in authority[0] and slashes:
        rest = rest[authority[0].rfind("@") + 1 :]
    return f"{start}{slashes}{rest}"
