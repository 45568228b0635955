"""Rules of paths as text: what is refused, how names are compared, which folders are generated.

Two kinds of rule. Some spellings never mean a file of the workspace and are refused
everywhere: control characters, Windows network and device paths, drive letters, bare
device names, the forks of a file on macOS. Others are ordinary names on Linux and macOS
and traps on Windows (a colon opens a stream, a trailing dot is dropped, `GIT~1` is
another name of `.git`); they are refused when `windows` is true. The Windows and macOS
rules are unit-tested here and have not been run on those systems.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
MAX_CHARS = 4096

_SEPARATORS = re.compile(r"[\\/]")
_DRIVE = re.compile(r"[A-Za-z]:(?!:)")
_STREAM = re.compile(r":\$", re.IGNORECASE)
_SHORT_NAME = re.compile(r"~[0-9]+(\.|$)")


def refusal(text: str, *, windows: bool = False) -> str:
    """Why a path is refused by its spelling alone, as the end of a sentence; "" if it is not.

    Args:
        text: the path as it was given.
        windows: apply the rules of that system to each name too.
    """
    if not text.strip():
        return "the path is empty"
    if len(text) > MAX_CHARS:
        return f"the path is longer than {MAX_CHARS:,} characters"
    return _bad_characters(text) or _windows_path(text) or _bad_names(text, windows=windows)


def _bad_characters(text: str) -> str:
    if text.isascii() and text.isprintable():
        return ""
    for char in text:
        if char == "\0":
            return "it contains a NUL character"
        category = unicodedata.category(char)
        if category == "Cc" or char in "\u2028\u2029":
            return "it contains a control character"
        if category == "Cs":
            return "it is not valid Unicode"
    return ""


def _windows_path(text: str) -> str:
    if re.match(r"[\\/]{2}[?.]", text) or text.startswith("\\??\\"):
        return "it is a Windows device path"
    if text.startswith("\\\\") or re.match(r"//[^/]|/\\|\\/", text):
        return "it is a network path"
    if _DRIVE.match(text):
        return "it names a Windows drive"
    return ""


def _bad_names(text: str, *, windows: bool) -> str:
    if any("\\" in part and ".." in part.split("\\") for part in text.split("/")):
        return "it climbs with backslashes"
    for name in _SEPARATORS.split(text):
        reason = _bad_name(name, windows=windows)
        if reason:
            return reason
    return ""


def _bad_name(name: str, *, windows: bool) -> str:
    bare = name.rstrip(" .").lower()
    if bare in DEVICES:
        return f"'{name}' is a Windows device name"
    if _STREAM.search(name) or bare == "..namedfork":
        return f"'{name}' names a stream of a file"
    if not windows or name in ("", ".", ".."):
        return ""
    if bare.split(".")[0].rstrip() in DEVICES:
        return f"'{name}' is a Windows device name"
    if ":" in name:
        return f"'{name}' names a stream of a file"
    if name != name.rstrip(" ."):
        return f"'{name}' ends with a dot or a space"
    if _SHORT_NAME.search(name):
        return f"'{name}' is a Windows short name"
    if set(name) & set('<>"|?*'):
        return f"'{name}' has a character that Windows does not allow"
    return ""


def tidied(text: str) -> str:
    """A path as it was probably meant: without quotation marks, `file://` or backslashes."""
    plain = text.strip()
    for quote in ('"', "'", "`"):
        if len(plain) > 2 and plain.startswith(quote) and plain.endswith(quote):
            plain = plain[1:-1]
    found = re.match(r"file://(localhost)?(?=/)", plain, re.IGNORECASE)
    if found:
        return unquote(plain[found.end() :])
    return plain.replace("\\", "/")


@lru_cache(maxsize=8192)
def fold(name: str) -> str:
    """A name as it is compared: case and spelling of the same characters do not matter.

    Characters that some file systems ignore (joiners, direction marks) and the dots
    and spaces that Windows drops at the end are left out, so that `.GIT`, `.git.` and
    a decomposed or padded spelling are one name.
    """
    if name.isascii():
        return name.lower().rstrip(" .") or name
    kept = "".join(char for char in name if unicodedata.category(char) != "Cf")
    folded = unicodedata.normalize("NFD", kept).casefold()
    return unicodedata.normalize("NFC", folded).rstrip(" .") or name


def normal_parts(text: str) -> list[str] | None:
    """The names of a POSIX path with `.` and `..` worked out; None where it climbs out."""
    parts: list[str] = []
    for name in text.split("/"):
        if name in ("", "."):
            continue
        if name != "..":
            parts.append(name)
        elif parts:
            parts.pop()
        else:
            return None
    return parts


def parts_beneath(path: str, root: str) -> list[str] | None:
    """The names that lead from a root to an absolute path; None where it is not beneath.

    Whole names are compared, so `/srv/ws_evil` is not beneath `/srv/ws`.
    """
    parts, above = normal_parts(path), normal_parts(root)
    if parts is None or above is None or parts[: len(above)] != above:
        return None
    return parts[len(above) :]


GENERATED_FOLDERS = frozenset([
    ".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", "vendor", "dist",
    "build", "target", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".cache",
    ".gradle", ".terraform", ".tox", ".nox", ".venv", "venv", "site-packages", "__pycache__",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints",
    "coverage", "htmlcov",
])  # fmt: skip
"""Folders that hold what programs made or fetched. Trees are listed and searched without them."""
