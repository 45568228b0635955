"""Credentials in the settings of git: which entries are some, and the rest without them.

Git itself has to read its settings, and people and CI systems keep tokens there: in the address
of a remote or a proxy, as a header that is sent along, as a helper that prints them. Settings of
Mercurial have the same form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from toolcrib.files.handles import read_plain
from toolcrib.files.repositories.index import HASH_SIZES
from toolcrib.state.redaction import KNOWN

IN_ANY_FOLDER = frozenset({".gitmodules", ".gitconfig"})
IN_A_REPOSITORY = re.compile(
    r"(?:.*[^a-z])?(?:config|hgrc)(?:[^a-z].*)?", re.IGNORECASE | re.DOTALL
)
"""`config.lock`, `old-config`, `#config#` and `.config.swp` hold what `config` holds."""
MAX_SETTINGS_BYTES = 1_000_000
_HEAD = re.compile(rb'\s*\[\s*([\w.-]+)(?:\s*"(?:[^"\\]|\\.)*")?\s*\]', re.DOTALL)
_ENTRY = re.compile(rb"\s*([\w.-]+)\s*=\s*(.*)", re.DOTALL)
_SECRET_KEY = re.compile(
    rb"^(?:\s*\[.*\])?\s*[\w.-]{0,99}(?:pass|token|secret|extraheader|oauth|api-?key|access-?key)"
    rb"[\w.-]{0,99}\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_SHORT_KEY = re.compile(rb"(?:[\w.-]*[-._])?(?:pat|pwd?|auth|cookies?|credentials?)", re.IGNORECASE)
"""Words too short, or too usual in longer names, to be looked for anywhere in a key."""
_SWITCH = re.compile(rb"(?:true|false|yes|no|on|off|none|[01])?", re.IGNORECASE)
_SECRET_WORD = re.compile(
    rb"pass|token|secret|authorization|bearer|api.?key|cookie|credential", re.IGNORECASE
)
_LOGIN_OPTION = re.compile(
    rb"(?:\bcurl\b[^|;\n]{0,300}?\s-[a-z]{0,9}u|(?<![\w-])--(?:proxy-)?user(?=[\s=]))"
    rb"[\s=]{0,9}[\"']{0,3}(?!\d{1,9}:\d{1,9}\b)[^\s:\"'$/]{0,99}:[^\s\"'$/]",
    re.IGNORECASE,
)
"""`curl -u me:password`; a user of a container with its group has numbers there."""
_PROXY_ARGUMENT = re.compile(rb"\S+\s+(?!for\s)\S")
"""Behind the program of `core.gitProxy`, which may be one for a host alone."""
_LOGIN = re.compile(rb"(?<=://)[^/]*@")
_PROXY_LOGIN = re.compile(rb'(proxy\s{0,9}=\s{0,9}"?)[^\s"/]{0,999}@', re.IGNORECASE)
_IN_QUERY = re.compile(
    rb"([?&;](?:[\w-]{0,40}(?:token|key|secret|pass)[\w-]{0,40}|pat|pwd?|auth|sig|cookie|credentials?)=)"
    rb"[^&\s\"]+",
    re.IGNORECASE,
)

_PASSWORD = re.compile(rb"://[^/\s:@]*:[^/\s@]+@|://(?![^/\s:@]*%40)(?=[^/\s:@]*\d)[^/\s:@]{20,}@")
"""A login with its password, or one that is a token by its length and a digit."""
_PROXY_PASSWORD = re.compile(
    rb'proxy\s{0,9}=\s{0,9}"?[^\s"/:@]{0,99}:[^\s"/@]{1,999}@', re.IGNORECASE
)
_CONTINUED = re.compile(rb"\\\r?\n")
_SECRET_VALUE = re.compile(
    rb"(?:pass|token|secret|authorization|cookie|api-?key)[\w-]{0,40}\s{0,9}[=:]\s{0,9}"
    rb"(?:(?:basic|bearer|token)\s{1,9})?(?!(?:yes|no|true|false)\b)[\w-]"
    rb"|(?<![\w-])(?:sshpass\s{1,9}-p\s{0,9}"
    rb"|--[\w-]{0,40}(?:pass|token|secret|bearer)\w{0,20}\s{1,9})\w",
    re.IGNORECASE,
)
_COMMENT_SIGNS = re.compile(rb"[\s#;]+")

_LINE = re.compile(
    rb"""(?:[^"\\\n#;]+|\\(?:\r?\n|[^\n])?|"(?:[^"\\\n]+|\\(?:\r?\n|[^\n])?)*"?)*"""
    rb"(?:[#;][^\n]*)?\n?"
)
"""As git reads one: with the next where a backslash ends it, unless that stands in a comment.
It always matches, so nothing is tried twice. (Possessive groups fail before Python 3.11.5.)"""
_TOKEN = re.compile(rb"\\\r?\n|\\.|[^\\\s\"#;]+|.", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"b": b"\b"}


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


def entries(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Each line in two parts, its heads `[...]` and the rest, with the section that it is in."""
    section = b""
    for match in _LINE.finditer(data.removeprefix(b"\xef\xbb\xbf")):
        line, end = match[0], 0
        while head := _HEAD.match(line, end):
            section, end = head[1].lower().split(b".")[0], head.end()
        yield section, line[:end], line[end:]


def settings_in(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """The section, key (both in lower case) and value of each, as git understands them."""
    for section, _, text in entries(data):
        entry = _ENTRY.match(text)
        if entry is not None:
            yield section, entry[1].lower(), value_of(entry[2])


def hash_size_in(repository: str) -> int:
    """The bytes of a hash in a repository that is there; blocking."""
    with suppress(OSError):
        return hash_size_of(read_plain(f"{repository}/config", MAX_SETTINGS_BYTES, follow=False))
    return HASH_SIZES[0]


def hash_size_of(config: bytes) -> int:
    """The bytes of a hash in a repository with these settings."""
    return HASH_SIZES[_value_in(config, b"extensions", b"objectformat") == b"sha256"]


def is_sparse_by(config: bytes) -> bool:
    """Whether files of the working tree may be left out, by these settings."""
    value = _value_in(config, b"core", b"sparsecheckout")
    return value not in (b"false", b"no", b"off", b"0", b"")


def _value_in(config: bytes, section: bytes, key: bytes) -> bytes:
    """The value of a setting, in lower case; b"" for none. The last one counts."""
    values = [value for *name, value in settings_in(config) if name == [section, key]]
    return values[-1].lower() if values else b""


def value_of(text: bytes) -> bytes:
    """What git takes for the value of what stands behind `=`."""
    found, quoted, end = bytearray(), False, 0
    for token in _TOKEN.findall(text):
        if token == b'"':
            quoted = not quoted
        elif not quoted and token in (b"#", b";"):
            break
        elif token[:1] != b"\\":
            found += token
        elif token[-1:] != b"\n":
            found += _ESCAPED.get(token[1:], token[1:])
        if quoted or not token.isspace():
            end = len(found)  # spaces outside of quotes that end it are no part of it
        elif not end:
            found.clear()
    return bytes(found[:end])


def _is_command(key: bytes, value: bytes) -> bool:
    return value.startswith(b"!") or key.endswith((b"command", b"cmd"))


def _is_secret(section: bytes, text: bytes) -> bool:
    entry = _ENTRY.match(text)
    if entry is None:
        return False
    key, value = entry[1].lower(), value_of(entry[2])
    return (
        section == b"credential"
        or bool(_SECRET_KEY.search(text))
        or _is_secret_by_form(key, value)
        or (_is_command(key, value) and bool(_SECRET_WORD.search(value)))
    )


def _is_secret_by_form(key: bytes, value: bytes) -> bool:
    return (
        bool(_SHORT_KEY.fullmatch(key) and not _SWITCH.fullmatch(value))
        or bool(_LOGIN_OPTION.search(value))
        or (key == b"gitproxy" and bool(_PROXY_ARGUMENT.match(value)))
    )


def without_credentials(data: bytes) -> bytes:
    """Settings without the entries and logins that are credentials, in comments too."""
    remaining: list[bytes] = []
    for section, head, continued in entries(data):
        comment = _COMMENT_SIGNS.match(continued)
        remaining.append(without_logins(head))
        if _is_secret(section, continued[comment.end() :] if comment else continued):
            remaining.append(b"\n" if head else b"")
        else:
            text = _CONTINUED.sub(b"", continued)
            plain = without_logins(text)
            remaining.append(continued if plain == text else plain)
    return b"".join(remaining)


def without_logins(text: bytes) -> bytes:
    """A text without logins in addresses and tokens of a known form."""
    plain = _IN_QUERY.sub(rb"\1", _PROXY_LOGIN.sub(rb"\1", _LOGIN.sub(b"", text)))
    return KNOWN.sub("", plain.decode("latin-1")).encode("latin-1")


def holds_credentials(data: bytes) -> bool:
    """Whether settings hold a password or token itself; a helper or a user's name is none.

    What an editor keeps of them in a form of its own is taken to.
    """
    if b"\0" in data:
        return True
    for section, head, continued in entries(data):
        text = _CONTINUED.sub(b"", continued)
        line = head + text
        if _PASSWORD.search(line) or _PROXY_PASSWORD.search(text) or _IN_QUERY.search(text):
            return True
        if KNOWN.search(line.decode("latin-1")):
            return True
        entry = _ENTRY.match(continued)
        if entry is None or entry[1].lower() == b"askpass" or not entry[2].strip():
            continue
        key, value = entry[1].lower(), value_of(entry[2])
        if _is_command(key, value) and _SECRET_VALUE.search(value):
            return True
        if section == b"credential":
            continue
        if _is_secret_by_form(key, value):
            return True
        if not value.startswith(b"!") and _SECRET_KEY.search(continued):
            return True
    return False
