"""Credentials in the settings of git: runs read copies of these files without them.

Git itself has to read its settings, and people and CI systems keep tokens there: in the address
of a remote or a proxy, as a header that is sent along, as a helper that prints them, in a file
that is included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from toolcrib.execution.sandbox.layout import Mask
from toolcrib.files.handles import read_plain
from toolcrib.files.path_rules import parts_beneath

SETTINGS = frozenset({"config", "config.worktree", ".gitmodules", ".gitconfig"})
IN_REPOSITORY = ("config", "config.worktree", "commondir", "hooks", "info/attributes")
SUBMODULES = ("*/config", "*/*/config", "*/modules/*/config")
MAX_SETTINGS_BYTES = 1_000_000
MAX_INCLUDED = 50
_HEAD = re.compile(rb'\s*\[\s*([\w.-]+)(?:\s*"(?:[^"\\]|\\.)*")?\s*\]', re.DOTALL)
ENTRY = re.compile(rb"\s*([\w.-]+)\s*=\s*(.*)", re.DOTALL)
_SECRET_KEY = re.compile(
    rb"^(?:\s*\[.*\])?\s*[\w.-]*(?:pass|token|secret|extraheader|oauth|apikey)[\w.-]*\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_SECRET_WORD = re.compile(rb"pass|token|secret|authorization|bearer|api.?key", re.IGNORECASE)
_LOGIN = re.compile(rb"(?<=://)[^/]*@")
_PROXY_LOGIN = re.compile(rb'(proxy\s*=\s*"?)[^\s"/]*@', re.IGNORECASE)
_IN_QUERY = re.compile(rb"([?&][\w-]*(?:token|key|secret|pass)[\w-]*=)[^&\s\"]+", re.IGNORECASE)
_LEADS = re.compile(rb"(?:gitdir:)?\s*(.+?)\s*\Z")


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


def masks_of_settings(masks: Iterable[Mask], tops: Sequence[str]) -> list[Mask]:
    """Masks, with copies in the place of settings that hold credentials.

    Args:
        masks: what is protected in what a run sees; settings of git are among that.
        tops: the folders that it sees.
    """
    found: dict[str, Mask] = {}
    for mask in masks:
        found.setdefault(mask.path, mask)
        for path in _behind(mask, tops):
            found.setdefault(path, Mask(path, "fixed"))
    waiting = [m.path for m in found.values() if m.kind == "fixed" and _is_settings(m.path)]
    for number, path in enumerate(waiting):
        data = b""
        with suppress(OSError):
            data = read_plain(path, MAX_SETTINGS_BYTES, follow=False)
        clean = without_credentials(data)
        if clean != data:
            found[path] = Mask(path, "copy", clean)
        if number < MAX_INCLUDED:
            waiting += [p for p in _included(data, path, tops) if p not in waiting]
    return list(found.values())


def _is_settings(path: str) -> bool:
    return PurePosixPath(path).name in SETTINGS


def _behind(mask: Mask, tops: Sequence[str]) -> Iterator[str]:
    """Settings in folders that are masked as a whole, or that a `.git` file leads to."""
    name = PurePosixPath(mask.path).name
    if mask.kind == "fixed" and name == "modules":
        for level in SUBMODULES:
            yield from map(str, Path(mask.path).glob(level))
    elif mask.kind == "fixed" and name == ".git":
        folder = _led_to(mask.path, str(PurePosixPath(mask.path).parent))
        for place in (folder, _led_to(f"{folder}/commondir", folder) if folder else ""):
            if place and _is_seen(place, tops):
                yield from filter(os.path.lexists, (f"{place}/{n}" for n in IN_REPOSITORY))


def _led_to(file: str, start: str) -> str:
    """The folder that a `.git` file or a `commondir` names; "" for none."""
    with suppress(OSError):
        led = _LEADS.match(read_plain(file, MAX_SETTINGS_BYTES, follow=False))
        if led is not None:
            return os.path.realpath(Path(start, os.fsdecode(led[1])))
    return ""


def _included(data: bytes, path: str, tops: Sequence[str]) -> Iterator[str]:
    """Files that settings include, as far as a run sees them."""
    for section, _, text in entries(data):
        entry = ENTRY.match(text)
        if section in (b"include", b"includeif") and entry and entry[1].lower() == b"path":
            named = os.fsdecode(entry[2].split(b"#")[0].strip().strip(b'"'))
            place = os.path.realpath(Path(path).parent / Path(named).expanduser())
            if _is_seen(place, tops) and os.path.isfile(place):  # noqa: PTH113
                yield place


def _is_seen(place: str, tops: Sequence[str]) -> bool:
    return any(parts_beneath(place, top) is not None for top in tops)
