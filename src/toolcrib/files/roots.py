"""Which folders become the workspace: the user's, a host's, the current one, a scratch one."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from toolcrib.files.path_rules import escaped, normal_parts, parts_beneath, slashed
from toolcrib.files.real_paths import real_path

VARIABLE = re.compile(r"\$\{[^}]*\}")
"""What a host was to fill in, as `${workspaceFolder}`."""
HOW_TO_CHOOSE = "The user chooses a folder with --workspace DIR or workspace.roots."
SCRATCH_PREFIX = "toolcrib-"


def configured_roots(roots: Iterable[str]) -> list[str]:
    """Those that name a folder, absolute: what a host left as a variable names none."""
    return [plain_path(root) for root in roots if not VARIABLE.search(root)]


def plain_path(path: str | Path) -> str:
    """Absolute and without `..`, links left alone."""
    absolute = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - resolve() follows
    return slashed(absolute)


def home_folder() -> str:
    """The user's own, `/` for one without an entry in the password file."""
    try:
        return slashed(str(Path.home()))
    except RuntimeError:
        return "/"


def too_wide(folder: str, own: Sequence[str]) -> str:
    """Why a folder that nobody named is not taken, as the end of a sentence; "" if it may be.

    Args:
        folder: an absolute path without links.
        own: places of toolcrib's own settings and state.
    """
    home = real_path(home_folder())
    if not normal_parts(folder):
        return "it holds the whole machine"
    if folder == home:
        return "it is the home folder"
    if parts_beneath(home, folder) is not None:
        return "it holds the home folder"
    if any(parts_beneath(folder, path) is not None for path in own):
        return "toolcrib keeps its own files there"
    return ""


def current_folder(own: Sequence[str]) -> str:
    """The current folder without links, or nothing where it is too much or gone."""
    try:
        here = real_path(os.getcwd())  # noqa: PTH109 - a Path would hide a deleted one
    except FileNotFoundError:
        return ""
    return "" if too_wide(here, own) else here


def offered_folders(uris: Iterable[str], own: Sequence[str]) -> tuple[list[str], list[str]]:
    """The folders that a host offers, and why others of them are not taken.

    Args:
        uris: `file:` URLs.
        own: as for `too_wide`.
    """
    taken, refused = [], []
    for uri in uris:
        folder = _folder_of(uri)
        why = "it is no folder of this machine"
        if folder and os.path.isdir(folder):  # noqa: PTH112
            real = real_path(folder)
            above = any(parts_beneath(path, real) is not None for path in own)
            why = too_wide(real, own) or ("it holds toolcrib's own files" if above else "")
        if why:
            refused.append(
                f"The folder {escaped(folder or uri)[:200]} that the host offers is not used: "
                f"{why}. {HOW_TO_CHOOSE}"
            )
        else:
            taken.append(folder)
    return list(dict.fromkeys(taken)), refused


def _folder_of(uri: str) -> str:
    """The path of a `file:` URL; nothing for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    if os.name == "nt":  # /C:/folder
        path = path.lstrip("/")
    return plain_path(path) if path and "\0" not in path else ""


class ScratchFolder:
    """An empty folder for calls where nobody gave one. It goes at the end, if it is empty."""

    def __init__(self) -> None:
        self.path = real_path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX))
        self._why = ""
        with suppress(FileNotFoundError):
            here = real_path(os.getcwd())  # noqa: PTH109 - a Path would hide a deleted one
            why = too_wide(here, ())
            self._why = f", and {here} is not used unless it is named ({why})" if why else ""

    @property
    def note(self) -> str:
        """What whoever calls should know."""
        return (
            f"No folder was given to toolcrib{self._why}, so files are in a scratch folder that "
            f"was empty at the start: {self.path}. {HOW_TO_CHOOSE}"
        )

    def close(self) -> None:
        """Remove it, unless something was left in it."""
        with suppress(OSError):
            Path(self.path).rmdir()
