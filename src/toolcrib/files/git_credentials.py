"""Credentials in the settings of git: which entries are some, and the rest without them.

Git itself has to read its settings, and people and CI systems keep tokens there: in the address
of a remote or a proxy, as a header that is sent along, as a helper that prints them. Settings of
Mercurial have the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

IN_ANY_FOLDER = frozenset({".gitmodules", ".gitconfig"})
IN_A_REPOSITORY = re.compile(r"(?:config|hgrc)(?:[.~].*)?", re.IGNORECASE | re.DOTALL)
"""`config.lock` and `config.bak` hold what `config` holds."""
MAX_SETTINGS_BYTES = 1_000_000
_HEAD = re.compile(rb'\s*\[\s*([\w.-]+)(?:\s*"(?:[^"\\]|\\.)*")?\s*\]', re.DOTALL)
ENTRY = re.compile(rb"\s*([\w.-]+)\s*=\s*(.*)", re.DOTALL)
_SECRET_KEY = re.compile(
    rb"^(?:\s*\[.*\])?\s*[\w.-]*(?:pass|token|secret|extraheader|oauth|api-?key|access-?key)[\w.-]*\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_SECRET_WORD = re.compile(rb"pass|token|secret|authorization|bearer|api.?key", re.IGNORECASE)
_LOGIN = re.compile(rb"(?<=://)[^/]*@")
_PROXY_LOGIN = re.compile(rb'(proxy\s*=\s*"?)[^\s"/]*@', re.IGNORECASE)
_IN_QUERY = re.compile(rb"([?&][\w-]*(?:token|key|secret|pass)[\w-]*=)[^&\s\"]+", re.IGNORECASE)

_PASSWORD = re.compile(rb"://[^/\s:@]*:[^/\s@]+@|://(?![^/\s:@]*%40)(?=[^/\s:@]*\d)[^/\s:@]{20,}@")
"""A login with its password, or one that is a token by its length and a digit."""
_PROXY_PASSWORD = re.compile(rb'proxy\s*=\s*"?[^\s"/:@]*:[^\s"/@]+@', re.IGNORECASE)
_CONTINUED = re.compile(rb"\\\r?\n")
_SECRET_VALUE = re.compile(rb"(?:pass|token|secret)[\w-]*\s*=\s*[\w-]", re.IGNORECASE)


def may_be_settings(name: str) -> bool:
    """Whether a file of this name may have settings of git."""
    return name.lower() in IN_ANY_FOLDER or bool(IN_A_REPOSITORY.fullmatch(name))


def are_settings(parts: Sequence[str]) -> bool:
    """Whether a file of this path has settings of git, as far as its names tell."""
    *folders, name = [part.lower() for part in parts] or [""]
    if name in IN_ANY_FOLDER:
        return True
    in_repository = any(folder.endswith((".git", ".hg")) for folder in folders)
    return in_repository and bool(IN_A_REPOSITORY.fullmatch(name))


def _logical_lines(data: bytes) -> Iterator[bytes]:
    """Lines, each with those that a backslash at its end joins to it."""
    waiting = b""
    for line in data.splitlines(keepends=True):
        waiting += line
        ended = line.rstrip(b"\r\n")
        open_end = (len(ended) - len(ended.rstrip(b"\\"))) % 2
        if not open_end or waiting.lstrip()[:1] in (b"#", b";"):
            yield waiting
            waiting = b""
    yield waiting


def entries(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Each line in two parts, its head `[...]` and the rest, with the section that it is in."""
    section = b""
    for line in _logical_lines(data.removeprefix(b"\xef\xbb\xbf")):
        head = _HEAD.match(line)
        if head:
            section = head[1].lower().split(b".")[0]
        end = head.end() if head else 0
        yield section, line[:end], line[end:]


def _is_secret(section: bytes, text: bytes) -> bool:
    entry = ENTRY.match(text)
    if entry is None:
        return False
    value = entry[2].lstrip(b'" \t')
    is_command = value.startswith(b"!") or entry[1].lower().endswith((b"command", b"cmd"))
    return (
        section == b"credential"
        or bool(_SECRET_KEY.search(text))
        or (is_command and bool(_SECRET_WORD.search(value)))
    )


def without_credentials(data: bytes) -> bytes:
    """Settings without the entries and logins that are credentials."""
    remaining: list[bytes] = []
    for section, head, text in entries(data):
        remaining.append(_LOGIN.sub(b"", head))
        if _is_secret(section, text):
            remaining.append(b"\n" if head else b"")
        else:
            plain = _PROXY_LOGIN.sub(rb"\1", _LOGIN.sub(b"", text))
            remaining.append(_IN_QUERY.sub(rb"\1", plain))
    return b"".join(remaining)


def holds_credentials(data: bytes) -> bool:
    """Whether settings hold a password or token itself; a helper or a user's name is none."""
    for section, head, continued in entries(data):
        text = _CONTINUED.sub(b"", continued)
        line = head + text
        if _PASSWORD.search(line) or _PROXY_PASSWORD.search(text) or _IN_QUERY.search(text):
            return True
        entry = ENTRY.match(text)
        if entry is None or entry[1].lower() == b"askpass" or not entry[2].strip():
            continue
        is_command = entry[2].lstrip(b'" \t').startswith(b"!")
        if is_command and _SECRET_VALUE.search(entry[2]):
            return True
        if section != b"credential" and not is_command and _SECRET_KEY.search(text):
            return True
    return False
