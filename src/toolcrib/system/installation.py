"""The installation that runs toolcrib: where its code lies, and what may not stand in for it.

Python imports from every folder on `sys.path`. Who can write to one of them runs code in the
server, outside of every boundary: a cloned repository does when the current folder is on the
path (`python -m`), a confined run when the environment of toolcrib lies in its workspace.
"""

from __future__ import annotations

import os
import shlex
import shutil
import site
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from toolcrib.core.config import environment
from toolcrib.core.errors import ConfigError

FIND_SECONDS = 20.0
FIND = "import importlib.util as u; s = u.find_spec('toolcrib'); print(s.origin if s else '')"
PACKAGE = Path(__file__).parents[1]
HOW_TO_START = "Start it with `toolcrib mcp`, or `python -I -m toolcrib mcp`; `toolcrib install` "
HOW_TO_START += "writes such an entry."


def program_on(path: str, name: str) -> str:
    """Where a search path has a program; "" where it has none."""
    return shutil.which(name, path=path) or ""


def code_folders() -> list[str]:
    """The folders and files whose code runs in this process, with and without links.

    They are: the package, the virtual environment, installed packages, the standard library
    and the interpreter. Other folders on `sys.path` are not among them: see `drop_beneath`.
    """
    places = [str(PACKAGE), os.path.dirname(os.__file__), sys.executable]  # noqa: PTH120
    places += site.getsitepackages()
    if sys.prefix != sys.base_prefix:
        places.append(sys.prefix)
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    absolute = [os.path.abspath(place) for place in places if place]  # noqa: PTH100
    return list(dict.fromkeys([*absolute, *map(os.path.realpath, absolute)]))


def start_flag() -> str:
    """The flag of Python with which a host starts us: -I, or -P where that does not find us."""
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
    return "-P" if user and PACKAGE.is_relative_to(user) else "-I"


CACHE_PARTS = frozenset({".cache", "archive-v0", "builds-v0", "environments-v2"})
"""Folders of the caches of uv and pipx, wherever those are."""


def in_cache(path: str | Path) -> bool:
    """Whether a program lies where it may be gone tomorrow: `uvx` and `pipx run` put it there."""
    cache = str(platformdirs.user_cache_path())
    return bool(CACHE_PARTS.intersection(Path(path).parts)) or _is_beneath(str(path), [cache])


def program_words() -> list[str]:
    """The command that starts this toolcrib from any folder, without arguments.

    It is `toolcrib` where that is this installation's, else the program by its path; for one
    in a cache, `uvx toolcrib`.
    """
    script = Path(sys.executable).with_name("toolcrib.exe" if os.name == "nt" else "toolcrib")
    if in_cache(sys.executable) and (uvx := shutil.which("uvx")):
        return [uvx, "toolcrib"]
    if not script.is_file():
        return [sys.executable, start_flag(), "-m", "toolcrib"]
    found = shutil.which("toolcrib")
    return ["toolcrib"] if found and real_path(found) == real_path(script) else [str(script)]


def command_line(words: Iterable[str]) -> str:
    """A command as a person can paste it into a terminal of this system."""
    words = list(words)
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def require_isolated() -> list[str]:
    """Take the current folder from `sys.path`; what the user should know, a line each.

    Raises:
        ConfigError: it is not the toolcrib that the interpreter finds in isolated mode.
    """
    if sys.flags.isolated:
        return []
    here, ours = real_path(""), real_path(PACKAGE.parent)
    named = environment(["PYTHONPATH"]).get("PYTHONPATH", "").split(os.pathsep)
    doubtful = {here, *map(real_path, named)}
    if ours in doubtful and _found_isolated() != real_path(PACKAGE / "__init__.py"):
        raise ConfigError(
            f"This is not the installed toolcrib: it was imported from {ours}, which is on "
            "Python's path only for the current folder or PYTHONPATH.",
            hint=HOW_TO_START,
        )
    before = len(sys.path)
    sys.path[:] = [path for path in sys.path if real_path(path) != here or here == ours]
    if len(sys.path) == before:
        return []
    line = "Python was started with the current folder on its path, so that files in it can run"
    return [f"{line} as parts of toolcrib. {HOW_TO_START}"]


def drop_beneath(roots: Iterable[str]) -> list[str]:
    """Take from `sys.path` what lies in a workspace and is no part of the installation.

    Such a folder is the project's own: it stays writable, and nothing is imported from it.

    Returns:
        What the user should know of code that lies in the workspace, a line each.
    """
    tops = [real_path(root) for root in roots]
    fixed = code_folders()
    dropped = {
        path
        for path in sys.path
        if _is_beneath(real_path(path), tops) and not _is_beneath(path, fixed)
    }
    sys.path[:] = [path for path in sys.path if path not in dropped]
    inside = [path for path in fixed if _is_beneath(path, tops)]
    # Of folders in each other the outermost says it all.
    outer = [path for path in inside if not _is_beneath(path, {*inside} - {path})]
    if not outer:
        return []
    line = f"toolcrib itself is installed in the workspace: {', '.join(outer)} can be read and not"
    hint = "Another installation has no such limit, such as `uv tool install toolcrib`."
    return [f"{line} changed. {hint}"]


def real_path(path: str | Path) -> str:
    """Absolute and without links; as it is written where the current folder was deleted."""
    try:
        return os.path.realpath(path)
    except FileNotFoundError:
        return str(path)


def _found_isolated() -> str:
    """The package that this interpreter finds in isolated mode, without links."""
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-I", "-c", FIND],
            capture_output=True,
            text=True,
            timeout=FIND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return real_path(done.stdout.strip())


def _is_beneath(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
