"""Which folders an interpreter needs to be read."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

MAX_LINKS = 40


@cache
def own_folders() -> tuple[str, ...]:
    """Those of the interpreter that toolcrib itself runs on, without its packages."""
    base = os.path.realpath(sys.executable)
    found = [os.path.realpath(p) for p in (sys.base_prefix, sys.base_exec_prefix)]
    home = str(Path(base).parent)
    if not any(home.startswith(f"{prefix}/") for prefix in found):
        found.append(home)
    return tuple(dict.fromkeys(found))


def folders_of(program: str) -> tuple[str, ...]:
    """Those of a Python in a virtual environment, with the one it was made from.

    Links are followed one by one, as each may lie in a folder of its own (`.venv/bin`,
    `~/.pyenv/versions/3.12/bin`, `~/.local/share/uv/python/…`).

    Args:
        program: an absolute path. For what is no Python there are none.
    """
    if not program.startswith("/") or not Path(program).name.startswith("python"):
        return ()
    found: list[str] = []
    path = Path(program)
    for _ in range(MAX_LINKS):
        prefix = path.parent.parent if path.parent.name in ("bin", "Scripts") else path.parent
        found.append(str(prefix))
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    home = _home_of(Path(found[0]))
    if home:
        found.append(home)
    real = os.path.realpath(program)
    found.append(str(Path(real).parent.parent))
    return tuple(dict.fromkeys(p for p in found if p.count("/") > 1 or p == "/opt"))


def _home_of(environment: Path) -> str:
    """What a virtual environment says that it was made from; "" where it is none."""
    try:
        text = (environment / "pyvenv.cfg").read_text("utf-8", "replace")
    except OSError:
        return ""
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            home = Path(value.strip())
            return str(home.parent if home.name == "bin" else home)
    return ""
