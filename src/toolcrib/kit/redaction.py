"""Arguments as the history may keep them: without secrets, and cut short.

Redaction here is a belt: a secret belongs into the environment, and tools take its
name. It errs on the side of hiding too much.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

HIDDEN = "[redacted]"
OVERLAP = 4096
"""Characters looked at behind the cut, so that no half of a secret is kept."""
MAX_DEPTH = 8

SECRET_WORDS = {
    *("auth", "authorization", "authentication", "bearer", "cookie", "cookies"),
    *("credential", "credentials", "jwt", "otp", "pass", "passcode", "passphrase"),
    *("passwd", "password", "passwords", "pwd", "secret", "secrets", "token"),
    *("sig", "signature", "apikey", "accesskey", "secretkey", "privatekey", "authkey"),
}
KEY_KINDS = {
    *("access", "account", "api", "app", "auth", "client", "consumer", "encryption"),
    *("license", "master", "private", "secret", "service", "session", "shared", "signing"),
    *("ssh", "subscription", "x"),
}

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HEADER = re.compile(
    r"(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie2?|x-[\w-]{0,40}(?:key|token|auth))"
    r"([\"']?\s{0,9}:\s{0,9})(\"[^\"]*\"?|'[^']*'?|[^\r\n\"']+)",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"\b((?i:bearer)\s+)[\w.~+/=-]{6,}|\b((?i:basic)\s+)(?=[a-z]*[A-Z0-9+/=])[\w.~+/=-]{6,}"
)
_KNOWN = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}-----|\Z)"
    r"|(?<![\w-])(?:"
    r"sk-[\w-]{16,}|[rsp]k_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}"
    r"|ya29\.[\w-]{20,}|hf_\w{20,}|npm_\w{30,}|pypi-[\w-]{40,}|tvly-[\w-]{16,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|\d{8,10}:[\w-]{35}(?!\w)|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_USERINFO = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://)[^\s/?#@\"']{1,300}@", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"(?<![\w-])(-{0,2}[A-Za-z_][\w-]{0,60})\\{0,3}[\"']?\s{0,9}[:=]\s{0,9}\\{0,3}"
)
_FLAG = re.compile(r"(?<!\S)(--?[A-Za-z][\w-]{0,60})\s+(?!-)")
_VALUE = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s&;,\"'})\]]+")


def redact(arguments: Mapping[str, Any], chars: int = 400) -> dict[str, Any]:
    """The arguments without secrets, each with about `chars` characters of text."""
    return {str(n)[:80]: _Keeper(chars).keep(v, str(n)) for n, v in arguments.items()}


def redact_text(text: str) -> str:
    """A text without the secrets that can be told from their shape or their name."""
    text = _KNOWN.sub(HIDDEN, text)
    text = _HEADER.sub(lambda m: f"{m[1]}{m[2]}{_hidden(m[3])}", text)
    text = _SCHEME.sub(lambda m: f"{m[1] or m[2]}{HIDDEN}", text)
    text = _USERINFO.sub(rf"\1{HIDDEN}@", text)
    return _hide_named(_FLAG, _hide_named(_ASSIGNED, text))


def names_secret(name: str) -> bool:
    """Whether a value of this name is likely a secret: `api_key`, `X-Auth-Token`, `pwd`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if SECRET_WORDS.intersection(words):
        return True
    return words == ["key"] or any(
        word == "key" and before in KEY_KINDS for before, word in pairwise(words)
    )


def _hide_named(name: re.Pattern[str], text: str) -> str:
    """Hide the values behind secret names; any other value may hold names itself."""
    parts, done, position = [], 0, 0
    while match := name.search(text, position):
        position = match.end()
        value = _VALUE.match(text, position) if names_secret(match[1]) else None
        if value is not None:
            parts += [text[done:position], _hidden(value.group())]
            done = position = value.end()
    return "".join([*parts, text[done:]])


def _hidden(value: str) -> str:
    quote = value[0] if value[0] in "\"'" else ""
    if value.startswith(f"{quote}{HIDDEN[:-1]}"):
        return value  # an earlier pattern was here
    return f"{quote}{HIDDEN}{quote}"


class _Keeper:
    """Walks one argument and keeps what fits into its share."""

    def __init__(self, chars: int) -> None:
        self.left = chars

    def keep(self, value: Any, name: str = "", depth: int = 0) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if names_secret(name):
            return HIDDEN
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            return self._mapping(value, depth + 1)
        if isinstance(value, list | tuple) and depth < MAX_DEPTH:
            return self._list(value, depth + 1)
        if isinstance(value, int | float):
            self.left -= 8
            return value
        return self._text(value if isinstance(value, str) else str(value))

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for count, (name, item) in enumerate(value.items()):
            if self.left <= 0:
                kept["…"] = f"{len(value) - count:,} more"
                break
            kept[redact_text(str(name)[:80])] = self.keep(item, str(name), depth)
        return kept

    def _list(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        kept: list[Any] = []
        for count, item in enumerate(value):
            if self.left <= 0:
                kept.append(f"… {len(value) - count:,} more")
                break
            kept.append(self.keep(item, depth=depth))
        return kept

    def _text(self, text: str) -> str:
        room = max(self.left, 0)
        kept = redact_text(text[: room + OVERLAP])
        if len(text) <= room + OVERLAP and len(kept) <= room:
            self.left -= len(kept) + 1
            return kept
        self.left = 0
        return f"{kept[:room]}… ({max(len(text) - room, 1):,} more characters)"
