"""Texts without secrets: guessed ones in what the history keeps, known ones in answers.

Guessing is a belt: a secret belongs into the environment, and tools take its name. It
errs on the side of hiding too much. A secret that was sent is known, so `SecretFilter` hides
just that, in every spelling.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote, quote_plus

from toolcrib.core.errors import ToolError
from toolcrib.core.result import well_formed
from toolcrib.state.sentence_secrets import SIGNS, find_in_sentences
from toolcrib.text.cleaner import clean

HIDDEN = "[redacted]"
OVERLAP = 4096
"""Characters looked at behind the cut, so that no half of a secret is kept."""
MAX_DEPTH = 8
TELLING = 4
"""Characters from which on a part of a known secret, or a form of it, is hidden."""

SECRET_WORDS = {
    *("auth", "authorization", "authentication", "bearer", "cookie", "cookies"),
    *("credential", "credentials", "jwt", "otp", "pass", "passcode", "passphrase"),
    *("passwd", "password", "passwords", "pwd", "secret", "secrets", "token"),
    *("sig", "signature", "apikey", "accesskey", "secretkey", "privatekey", "authkey"),
    *("sessionid", "phpsessid", "jsessionid"),
}
SECRET_ENDS = ("password", "passwd", "passphrase", "pwd", "secret", "token", "apikey")
"""As in `PGPASSWORD`, which is one word."""
KEY_KINDS = {
    *("access", "account", "api", "app", "auth", "client", "consumer", "encryption"),
    *("license", "master", "private", "secret", "service", "session", "shared", "signing"),
    *("ssh", "subscription", "x"),
}

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HEADER = re.compile(
    r"(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie2?|x-[\w-]{0,40}(?:key|token|auth))"
    r"([\"']?\s{0,9}:\s{0,9})(\"[^\"]*\"?|'[^']*'?|[^\r\n\"']+)",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"\b((?i:bearer)\s+)[\w.~+/=-]{6,}|\b((?i:basic)\s+)(?=[a-z]*[A-Z0-9+/=])[\w.~+/=-]{6,}"
)
KNOWN = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}-----|\Z)"
    r"|(?<![\w-])(?:"
    r"sk-[\w-]{16,}|[rsp]k_(?:live|test)_\w{10,}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}"
    r"|ya29\.[\w-]{20,}|hf_\w{20,}|npm_\w{30,}|pypi-[\w-]{40,}|tvly-[\w-]{16,}"
    r"|whsec_[\w+/=-]{8,}|GOCSPX-[\w-]{10,}"
    r"|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|do[por]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-\d)?"
    r"|glsa_\w{32,}|dckr_pat_[\w-]{20,}|lin_api_\w{32,}|AGE-SECRET-KEY-1[0-9A-Z]{50,}"
    r"|hv[sb]\.[\w-]{24,}|key-[0-9a-f]{32}|sq0(?:atp|csp)-[\w-]{20,}"
    r"|figd_[\w-]{30,}|PMAK-[\w-]{40,}|rubygems_[0-9a-f]{48}|NRAK-[A-Z0-9]{27}|pul-[0-9a-f]{40}"
    r"|sntry[su]_[\w+/=-]{40,}|ATATT3[\w=-]{50,}|dp\.pt\.\w{40,}|ntn_\w{40,}|SK[0-9a-f]{32}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|\d{8,10}:[\w-]{35}(?!\w)|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
KNOWN_CHARS = 14
"""What `KNOWN` finds is at least as long, without a space unless it is a private key."""
_USERINFO = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://)[^\s/?#@\"']{1,300}@", re.IGNORECASE)
# Secrets that their place gives away: what is captured stays, the rest goes.
_PLACES = re.compile(
    r"([?&;#](?:code|sid|session_?id)=)[^\s&#\"'<>]+"
    r"|(hooks\.slack\.com/[a-z]{1,20}/)[\w/-]+"
    r"|(discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/)\d{1,30}/[\w-]+"
    r"|(/bot)\d{5,12}:[\w-]{20,}"
    r"|(?<!\S)(-[uU]\s{0,9}|--(?:proxy-)?user[\s=]\s{0,9})"
    r"(?:\"[^\":]{1,100}:[^\"]*\"?|'[^':]{1,100}:[^']*'?|[^\s:\"']{1,100}:\S+)"
    r"|(\bsshpass\s{1,9}-p\s{0,9})\S+"
    r"|(\b(?:mysql|mariadb)\w{0,20}\b[^\r\n|;&]{0,200}?\s-p)\S+"
    r"|(\b(?:login|user|account)\s{1,9}\S{1,100}\s{1,9}password\s{1,9})\S+"
    r"|^([ \t]{0,9}password[ \t]{1,9})\S+(?=[ \t]{0,9}$)",
    re.IGNORECASE | re.MULTILINE,
)
_PLACE_SIGNS = ("=", "slack", "scord", "/bot", "-u", "user", "-p", "password")
"""One of these is in every text in which `_PLACES` finds something."""
_PAIR = re.compile(
    r"[\"'](-{0,2}[A-Za-z_][\w-]{0,60})\\{0,3}[\"']\s{0,9},\s{0,9}"
    r"(?:\\{0,3}[\"']value\\{0,3}[\"']\s{0,9}:\s{0,9})?\\{0,3}(?=[\"'])"
)
_ENCODED = re.compile(
    r"(?:%(?:25){0,2}(?:3F|26|23))?([A-Za-z_][\w-]{0,60})%(?:25){0,2}3D", re.IGNORECASE
)
_ENCODED_VALUE = re.compile(r"(?:(?!%(?:25){0,2}26)[^\s&\"'<>])+")
_NAME = re.compile(r"-{0,2}[A-Za-z_][\w-]{0,60}")
_ASSIGNED = re.compile(
    r"(?<![\w-])(-{0,2}[A-Za-z_][\w-]{0,60})\\{0,3}[\"']?\s{0,9}[:=]\s{0,9}\\{0,3}"
)
_FLAG = re.compile(r"(?<!\S)(--?[A-Za-z][\w-]{0,60})\s+(?!-)")
_VALUE = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s&;,\"'})\]]+")


def redact(arguments: Mapping[str, Any], chars: int = 400) -> dict[str, Any]:
    """The arguments without secrets, each with about `chars` characters of text."""
    if any(_is_label(arguments.get(label)) for label in ("key", "name")) and "value" in arguments:
        arguments = {**arguments, "value": HIDDEN}
    return {str(n)[:80]: _Keeper(chars).keep(v, str(n)) for n, v in arguments.items()}


MAX_HIDDEN_CHARS = 200
"""No secret is longer that is one by the name of its argument alone."""


def redact_question(arguments: Mapping[str, str], chars: int) -> dict[str, str]:
    """The arguments as a person sees them who decides by them.

    Who may send a call must not choose which part of it is seen, also of what a server gets: only
    what has the form of a known kind of token is hidden, beside a short value that is a secret by
    the name of its argument. Of a long text the begin and the end are there, and it is said.

    Args:
        arguments: of a call.
        chars: of each argument.
    """
    beside = any(_is_label(arguments.get(label)) for label in ("key", "name"))
    displayed: dict[str, str] = {}
    for name, text in arguments.items():
        is_named = names_secret(name) and name not in ("key", "auth")
        if is_named or (beside and name == "value"):
            is_long = len(text) > MAX_HIDDEN_CHARS
            displayed[name] = text if is_long or text == '""' else _counted(text)
            continue
        safe = redact_tokens(text)
        if len(safe) > chars:
            left = f"\n[NOT SHOWN: {len(safe) - chars:,} characters]\n"
            safe = safe[: chars - chars // 3] + left + safe[len(safe) - chars // 3 :]
        displayed[name] = safe
    return displayed


def redact_tokens(text: str) -> str:
    """A text without tokens of a known form; how long they are stands there."""
    return KNOWN.sub(lambda m: m[0] if " " in m[0] else _counted(m[0]), text)


def _counted(text: str) -> str:
    """How long a secret is, in place of it."""
    return f"{HIDDEN[:-1]}: {len(text):,} characters]"


def redact_text(text: str) -> str:
    """A text without the secrets that can be told from their shape or their name."""
    folded = text.casefold()

    def has(*signs: str) -> bool:
        """Whether a pattern may find something: it is only run where its signs are there."""
        return any(sign in folded for sign in signs)

    if "-----BEGIN" in text or any(len(word) >= KNOWN_CHARS for word in text.split()):
        text = KNOWN.sub(HIDDEN, text)
    if has(":"):
        text = _HEADER.sub(lambda m: f"{m[1]}{m[2]}{_hidden(m[3])}", text)
    if has("bearer", "bas"):
        text = _SCHEME.sub(lambda m: f"{m[1] or m[2]}{HIDDEN}", text)
    if has("://"):
        text = _USERINFO.sub(rf"\1{HIDDEN}@", text)
    if has(*_PLACE_SIGNS):
        text = _PLACES.sub(lambda m: f"{m[m.lastindex or 0]}{HIDDEN}", text)
    if has("%"):
        text = _hide_named(_ENCODED, text, _ENCODED_VALUE)
    if has(","):
        text = _hide_named(_PAIR, text)
    if has(":", "="):
        text = _hide_named(_ASSIGNED, text)
    text = _hide_in_sentences(text, folded)
    return _hide_named(_FLAG, text) if has("-") else text


def _hide_in_sentences(text: str, folded: str) -> str:
    """Hide what a sentence gives away: "my PIN is …"; `folded` is the text in small letters."""
    if not any(sign in folded for sign in SIGNS):
        return text
    parts, done = [], 0
    for start, end in sorted(find_in_sentences(text)):
        if start >= done:
            parts += [text[done:start], HIDDEN]
            done = end
    return "".join([*parts, text[done:]])


def names_secret(name: str) -> bool:
    """Whether a value of this name is likely a secret: `api_key`, `X-Auth-Token`, `pwd`."""
    words = [word.lower() for word in WORDS.findall(name)]
    if SECRET_WORDS.intersection(words) or any(word.endswith(SECRET_ENDS) for word in words):
        return True
    if name.isupper() and name.endswith("_KEY"):
        return True
    return words == ["key"] or any(
        word == "key" and before in KEY_KINDS for before, word in pairwise(words)
    )


def _hide_named(name: re.Pattern[str], text: str, shape: re.Pattern[str] = _VALUE) -> str:
    """Hide the values behind secret names; any other value may hold names itself."""
    parts, done, position = [], 0, 0
    while match := name.search(text, position):
        position = match.end()
        value = shape.match(text, position) if names_secret(match[1]) else None
        if value is not None:
            parts += [text[done:position], _hidden(value.group())]
            done = position = value.end()
    return "".join([*parts, text[done:]])


def _hidden(value: str) -> str:
    quote = value[0] if value[0] in "\"'" else ""
    if value.startswith(f"{quote}{HIDDEN[:-1]}"):
        return value  # an earlier pattern was here
    return f"{quote}{HIDDEN}{quote}"


def _is_label(value: Any) -> bool:
    """Whether what stands beside this is likely a secret: a header's name, a flag."""
    return isinstance(value, str) and bool(_NAME.fullmatch(value)) and names_secret(value)


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
        cleaned: dict[str, Any] = {}
        pair = any(_is_label(value.get(field)) for field in ("name", "key", "header"))
        for count, (name, item) in enumerate(value.items()):
            if self.left <= 0:
                cleaned["…"] = f"{len(value) - count:,} more"
                break
            hidden = pair and name == "value"
            cleaned_item = HIDDEN if hidden else self.keep(item, str(name), depth)
            cleaned[redact_text(str(name)[:80])] = cleaned_item
        return cleaned

    def _list(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        cleaned: list[Any] = []
        for count, item in enumerate(value):
            if self.left <= 0:
                cleaned.append(f"… {len(value) - count:,} more")
                break
            named = count and isinstance(item, str) and _is_label(value[count - 1])
            cleaned.append(HIDDEN if named else self.keep(item, depth=depth))
        return cleaned

    def _text(self, text: str) -> str:
        room = max(self.left, 0)
        cleaned = redact_text(text[: room + OVERLAP])
        if len(text) <= room + OVERLAP and len(cleaned) <= room:
            self.left -= len(cleaned) + 1
            return cleaned
        self.left = 0
        return f"{cleaned[:room]}… ({max(len(text) - room, 1):,} more characters)"


class SecretFilter:
    """Hides secrets that are known, if there are any, in texts and JSON values.

    They are found in any case of letters, and as answers write them in URLs, JSON, HTML
    and base64.

    Args:
        secrets: the first is hidden however short it is; of the others, and of the
            forms of all, what has fewer than `TELLING` characters is left.
    """

    def __init__(self, *secrets: str) -> None:
        self._hidden = _spellings(secrets) if secrets else ()
        self._pattern = re.compile("|".join(map(re.escape, self._hidden)), re.IGNORECASE)

    def text(self, text: str, *, cut: bool = False) -> str:
        """The text without it. `cut` says that the text may stop in the middle of it."""
        text = well_formed(text)
        if not self._hidden:
            return text
        # What stands between its letters is taken out of a result later on.
        cleaned = clean(text).text
        if cleaned != text and self._pattern.search(cleaned):
            text = cleaned
        text = self._pattern.sub(HIDDEN, text)
        return self._without_half(text) if cut else text

    def _without_half(self, text: str) -> str:
        for form in self._hidden:
            length = min(len(form) - 1, len(text))
            while length >= TELLING and text[-length:].lower() != form[:length].lower():
                length -= 1
            if length >= TELLING:
                return text[:-length] + HIDDEN
        return text

    def value(self, value: Any) -> Any:
        """The same for JSON values, names of members included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if self._hidden and isinstance(value, int | float) and not isinstance(value, bool):
            return HIDDEN if str(value) in self._hidden else value
        return value

    def error(self, error: ToolError) -> ToolError:
        """The same error, with nothing of it in its words."""
        error.message, error.hint = self.text(error.message), self.text(error.hint)
        error.details = self.value(dict(error.details))
        error.args = (error.message,)
        return error


def _spellings(parts: Sequence[str]) -> tuple[str, ...]:
    found: set[str] = {parts[0]}
    for part in parts:
        found.update(form for form in _forms(part) if len(form) >= TELLING)
    return tuple(sorted(found, key=len, reverse=True))


def _forms(text: str) -> Iterator[str]:
    """A text as it stands, and as answers write it in URLs, JSON, HTML and base64."""
    yield text
    yield from (quote(text, safe=""), quote(text), quote_plus(text))
    yield json.dumps(text)[1:-1]
    yield json.dumps(text)[1:-1].replace("/", "\\/")
    yield html.escape(text)
    for coded in (b64encode(text.encode()), urlsafe_b64encode(text.encode())):
        yield coded.decode().rstrip("=")
