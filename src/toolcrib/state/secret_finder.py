"""Secrets in files and texts: where they are and of what kind, with few false alarms.

Stricter than `redact_text`, which rather hides too much: code is full of names of secrets whose
values are none. What is found has the shape that a service gives its keys, stands where only a
secret stands, or is the value of a secret's name and looks made up by chance or by a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from toolcrib.state.redaction import (
    KEY_KINDS,
    KNOWN,
    SECRET_ENDS,
    WORDS,
    names_secret,
    redact_text,
)
from toolcrib.state.sentence_secrets import find_in_sentences


class FoundSecret(NamedTuple):
    """A secret: from where to where in the text, and its kind in words."""

    start: int
    end: int
    kind: str


KINDS = (
    ("-----BEGIN", "private key"),
    (("gh", "github_pat"), "GitHub token"),
    ("glpat", "GitLab token"),
    (("AKIA", "ASIA"), "AWS key"),
    (("AIza", "ya29", "GOCSPX"), "Google key"),
    ("xox", "Slack token"),
    ("hf_", "Hugging Face token"),
    ("npm_", "npm token"),
    ("pypi-", "PyPI token"),
    ("eyJ", "JSON web token"),
    (("sk_", "rk_"), "Stripe key"),
    ("AGE-SECRET", "age key"),
    ("hvs.", "Vault token"),
)
PUBLIC = ("pk_",)
"""Keys that are made to be listed, though the history hides them."""
MIN_PASSWORD_CHARS = 8
MIN_KEY_CHARS = 16
MIN_BARE_KEY_CHARS = 24
"""Of the value of a name that is nothing but `key`."""

PASSWORDS = {"password", "passwd", "pwd", "pass", "passphrase", "passcode", "pw"}
LAST_WORDS = PASSWORDS | {"secret", "token", "apikey", "credential", "jwt", "bearer", "auth"}
QUALIFIERS = {
    *("prod", "production", "staging", "stage", "dev", "live", "value", "str", "string", "text"),
    *("b64", "base64", "hex", "raw", "old", "new", "default", "base", "main", "backup"),
}
_DUMMY = re.compile(
    r"example|sample|dummy|change.?me|placeholder|your|xxx|fake|redacted|insert|replace|todo"
    r"|12345678|abcdefg|foobar",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\$\{|\$\(|^\$[A-Za-z_]|\{\{|^\{|\{[A-Za-z_]\w*\}|%\(|^%\w+%$|%s|^<.*>?$|^\[|^@[A-Za-z]+$|…|\.\.\."
)
_NO_SECRET = re.compile(
    r"^(?:\$(?:2[abxy]?|argon2\w*|[156]|pbkdf2\S*|scrypt|y)\$|(?:sha\d{1,3}|md5)[-:=]|ENC\[|\{cipher\}"
    r"|\{SSHA|vault:|secret:|arn:|ref\+|op://|https?://|file:|data:|ssh-|AAAA|[~.]{0,2}/[\w.-]+/"
    r"|[A-Za-z]:\\|sops|#)",
    re.IGNORECASE,
)
_MEANT = {"none", "null", "nil", "true", "false", "undefined", "string", "secret", "required"}
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HEX = re.compile(r"[0-9a-f]{24,}|[0-9A-F]{24,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ASSIGNED = re.compile(
    r"(?<![\w-])(-{0,2}[A-Za-z_][\w.-]{0,60})\\{0,3}[\"']?\]?\s{0,9}(?::=|=>|[:=])\s{0,9}"
    r"(?:\\{0,3}[brfuBRFU]{0,2}(?P<q>[\"'`])(?P<quoted>(?:[^\"'`\\\n]|\\.){6,400}?)\\{0,3}(?P=q)"
    r"|(?P<bare>[^\s\"'`<>(){}\[\],;]{8,400})(?P<after>[ \t]*(?:$|[\n;,#}<\"']|//)))",
    re.MULTILINE,
)
_XML = re.compile(r"<([A-Za-z_][\w.-]{0,40})>([^<>\s]{8,200})</\1>")
_XML_PAIR = re.compile(
    r"(?:key|name)=[\"']([A-Za-z_][\w.:-]{0,60})[\"']\s{1,9}value=[\"']([^\"'<>\s]{8,300})[\"']",
    re.IGNORECASE,
)
_USERINFO = re.compile(
    r"\b([a-z][a-z0-9+.-]{1,20})://([^\s/:@\"'`<>]{0,80}):([^\s/@\"'`<>]{3,200})@([\w.-]*)"
)
_BEARER = re.compile(r"\b(?:bearer|token)\s+([\w.~+/=-]{20,400})", re.IGNORECASE)
_PLACES = (
    (re.compile(r"hooks\.slack\.com/(?:services|workflows)/([\w/+-]{20,})"), "Slack webhook"),
    (
        re.compile(r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,30}/([\w-]{20,})"),
        "Discord webhook",
    ),
    (re.compile(r"(?<!\S)-(?:u|-user)[\s=]{1,3}[\"']?[\w.@-]{1,60}:([^\s\"']{6,})"), "login"),
    (re.compile(r"\b(?:mysql|mariadb)\w{0,20}\b[^\r\n|;&]{0,200}?\s-p([^\s\"']{6,})"), "login"),
    (re.compile(r"\bsshpass\s{1,9}-p\s{0,9}[\"']?([^\s\"']{6,})"), "login"),
    (
        re.compile(r"\b(?:login|user|account)\s{1,9}\S{1,100}\s{1,9}password\s{1,9}(\S{6,})"),
        "login",
    ),
)
_LOCAL = re.compile(r"localhost|127\.|\[?::1|(?:host(?:name)?|.*\bexample\.(?:com|org|net))?$")
_WEAK = {
    *("password", "passwd", "pass", "pwd", "secret", "postgres", "root", "admin", "user", "guest"),
}


def find_secrets(text: str) -> list[FoundSecret]:
    """The secrets of a text by their place; one that two rules find stands there once."""
    found = sorted(_candidates(text))
    unique: list[FoundSecret] = []
    for one in found:
        if not unique or one.start >= unique[-1].end:
            unique.append(one)
    return unique


def secret_kinds(text: str) -> Iterator[tuple[int, str]]:
    """Where a text holds what is very likely a secret, and of what kind."""
    for one in find_secrets(text):
        yield one.start, one.kind


def secret_kind(text: str) -> str:
    """What kind of secret a text in plain words seems to hold; empty where it seems to hold none.

    As strict as `redact_text`: what would be hidden in the history counts, and so does what a
    sentence gives away ("my PIN is …").
    """
    for _, kind in secret_kinds(text):
        return kind
    if any(find_in_sentences(text)):
        return "password"
    if redact_text(text) == text:
        return ""
    if known := KNOWN.search(text):
        return _kind_of(known.group())
    named = (name.lstrip("-") for name in _NAMED.findall(text) if names_secret(name))
    return next((f"value of {name[:40]}" for name in named), "secret")


_NAMED = re.compile(r"(?<![\w-])(-{0,2}[A-Za-z_][\w-]{0,60})\\{0,3}[\"']?\s{0,9}[:=]")


def looks_random(text: str) -> bool:
    """Whether a whole value looks like a key: one long word of letters and digits in turn."""
    word = text.strip()
    return bool(re.fullmatch(r"[A-Za-z0-9_+=-]{20,}", word)) and _is_random(word)


def _candidates(text: str) -> Iterator[FoundSecret]:
    for match in KNOWN.finditer(text):
        found = match.group()
        if _is_key(match.group()):
            yield FoundSecret(match.start(), match.end(), _kind_of(found))
    for pattern, kind in _PLACES:
        for match in pattern.finditer(text):
            if _is_password(match[1]) or _is_random(match[1]):
                yield FoundSecret(match.start(1), match.end(1), kind)
    for match in _USERINFO.finditer(text):
        weak = match[3].lower() in _WEAK or match[3] == match[2] or _is_blank(match[3])
        if not weak and not _LOCAL.match(match[4]):
            yield FoundSecret(match.start(3), match.end(3), f"password in a {match[1]} address")
    for match in _BEARER.finditer(text):
        if _is_random(match[1]) and not _is_blank(match[1]):
            yield FoundSecret(match.start(1), match.end(1), "bearer token")
    yield from _named(text)


def _kind_of(key: str) -> str:
    return next((kind for start, kind in KINDS if key.startswith(start)), "API key")


def _named(text: str) -> Iterator[FoundSecret]:
    for match in _ASSIGNED.finditer(text):
        value, group = match["quoted"], "quoted"
        if value is None:
            value, group = match["bare"], "bare"
        if _is_value_of(match[1], value, quoted=group == "quoted"):
            yield FoundSecret(match.start(group), match.end(group), f"value of {_short(match[1])}")
    for pattern in (_XML, _XML_PAIR):
        for match in pattern.finditer(text):
            if _is_value_of(match[1], match[2], quoted=True):
                yield FoundSecret(match.start(2), match.end(2), f"value of {_short(match[1])}")


def _short(name: str) -> str:
    return name.lstrip("-")[:40]


def _is_key(found: str) -> bool:
    """Whether what has the shape of a key is one, and no example of it."""
    if found.startswith("-----BEGIN"):
        body = re.sub(r"\\[nr]|\s", "", found[:4000].partition("KEY")[2])
        return bool(re.search(r"[A-Za-z0-9+/]{40}", body)) and not _DUMMY.search(found[:200])
    if found.startswith(PUBLIC) or _DUMMY.search(found) or _TEMPLATE.search(found):
        return False
    return len(set(found)) >= 8


def _is_value_of(name: str, value: str, *, quoted: bool) -> bool:
    """Whether a value of this name is a secret."""
    words = [word.lower() for word in WORDS.findall(name)]
    while len(words) > 1 and (words[-1] in QUALIFIERS or words[-1].isdigit()):
        words.pop()
    if not words:
        return False
    last = words[-1]
    is_password = last in PASSWORDS or last.endswith(("password", "passwd", "passphrase"))
    is_key = last == "key" and (len(words) == 1 or words[-2] in KEY_KINDS)
    if not (is_password or is_key or last in LAST_WORDS or last.endswith(SECRET_ENDS)):
        return False
    if _is_blank(value) or (not quoted and _is_code(value)):
        return False
    if is_password:
        return _is_password(value) or (len(value) >= MIN_KEY_CHARS and _is_random(value))
    if is_key and len(words) == 1 and len(value) < MIN_BARE_KEY_CHARS:
        return False
    return len(value) >= MIN_KEY_CHARS and _is_random(value)


def _is_blank(value: str) -> bool:
    """Whether a value is an example, a template, a hash, a reference: no secret itself."""
    plain = value.strip()
    return (
        plain.lower() in _MEANT
        or len(set(plain)) < 4
        or any(pattern.search(plain) for pattern in (_DUMMY, _TEMPLATE, _NO_SECRET))
        or bool({part.lower() for part in _PARTS.findall(plain)} & _TELLING)
    )


_TELLING = {"password", "passwd", "token", "secret", "credentials", "passphrase", "test", "wrong"}
"""Words that say what a value is for; what is made by chance does not have them."""


def _is_code(value: str) -> bool:
    """Whether a bare value is rather an expression of a program: `config.api.key`, `self.token`."""
    parts = re.split(r"[.:?|&]|->|!=", value)
    return all(re.fullmatch(r"[A-Za-z_$]*\d{0,3}", part) for part in parts)


def _is_password(value: str) -> bool:
    """Whether it is made like the passwords of people or of programs that make them."""
    if len(value) < MIN_PASSWORD_CHARS or any(sign.isspace() for sign in value):
        return False
    kinds = sum(bool(re.search(each, value)) for each in ("[a-z]", "[A-Z]", r"\d", r"[^\w]"))
    return bool(re.search(r"\d", value)) and kinds >= 2 and bool(re.search("[A-Za-z]", value))


def _is_random(text: str) -> bool:
    """Whether a text looks made by chance: letters and digits in turn, or capitals and small."""
    if _UUID.fullmatch(text) or _HEX.fullmatch(text):
        return len(set(text)) >= 8
    turns = len(re.findall(r"[A-Za-z]\d|\d[A-Za-z]", text))
    changes = len(re.findall(r"[a-z][A-Z]|[A-Z]{2}[a-z]", text))
    enough = turns >= 2 or (changes >= 4 and len(text) >= 24)
    return enough and len(set(text)) >= 8 and not _is_blank(text) and not re.search(r"\s", text)
