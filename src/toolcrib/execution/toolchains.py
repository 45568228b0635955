"""Folders of toolchains: where package managers keep compilers, interpreters and packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from toolcrib.core.config import environment
from toolcrib.files.handles import read_plain
from toolcrib.files.real_paths import real_path

# Named one by one: beside them lie tokens, such as ~/.cargo/credentials.toml.
HOME_FOLDERS = (
    *(".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/env", ".rustup"),
    *("go/bin", "go/pkg", "sdk", ".local/bin", ".local/lib", ".local/share/uv/python"),
    *(".local/share/uv/tools", ".local/share/pipx/venvs", ".local/share/mise/installs"),
    *(".local/share/fnm", ".local/share/pnpm", ".nvm/versions", ".volta/bin", ".volta/tools"),
    *(".deno/bin", ".bun/bin", ".bun/install/cache", ".pyenv/versions", ".pyenv/bin"),
    *(".pyenv/shims", ".pyenv/libexec", ".pyenv/plugins", ".pyenv/version"),
    *(".rbenv/versions", ".rbenv/shims"),
    *(".asdf/installs", ".asdf/shims", ".sdkman/candidates", ".m2/repository"),
    *(".npm/_cacache", ".ghcup/bin", "miniconda3", "anaconda3", "mambaforge", "miniforge3"),
    ".local/share/virtualenvs",
)
OTHER_FOLDERS = ("/opt/homebrew", "/usr/local/go", "/snap", "/home/linuxbrew/.linuxbrew")
VARIABLE_FOLDERS = {
    "CARGO_HOME": ("bin", "registry", "git"),
    "RUSTUP_HOME": ("",),
    "GOROOT": ("",),
    "GOPATH": ("bin", "pkg"),
    "JAVA_HOME": ("",),
    "NVM_DIR": ("versions",),
    "VIRTUAL_ENV": ("",),
    "CONDA_PREFIX": ("",),
}
MARKS_OF_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What a Python environment has at its top, wherever it lies."""
SYSTEM_FOLDERS = ("/usr", "/bin", "/lib", "/lib64", "/sbin")
"""Folders that every run may read anyway."""
HOMES = ("/home", "/root", "/Users")
MAX_LINKS = 40
"""How many links may lead from a name to an interpreter."""
MAX_VENV_SETTINGS_BYTES = 10_000


def home() -> Path:
    """The home folder; the root where there is none."""
    try:
        return Path.home()
    except RuntimeError:  # a user without an entry in the password file
        return Path("/")


def known_folders() -> list[Path]:
    """Those of this user, there or not."""
    named = environment(VARIABLE_FOLDERS)
    return [Path(place) for place in _places(str(home()), tuple(sorted(named.items())))]


def environment_settings(text: bytes) -> dict[str, str]:
    """What the `pyvenv.cfg` of a Python environment says; the first line of a name counts.

    A run can have written it: a value with a zero in it, which is no path, is left out.
    """
    found: dict[str, str] = {}
    for line in text.decode("utf-8", "replace").splitlines():
        name, equals, value = line.partition("=")
        if equals and "\0" not in value:
            found.setdefault(name.strip().lower(), value.strip())
    return found


@cache
def _places(own: str, named: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    found = [*(f"{own}/{place}" for place in HOME_FOLDERS), *OTHER_FOLDERS]
    for name, value in named:
        # A variable that names the home folder, or one above it, would open all of it.
        if value.startswith("/") and not is_among(own, [os.path.normpath(value)]):
            found += [os.path.normpath(f"{value}/{part}") for part in VARIABLE_FOLDERS[name]]
    return tuple(dict.fromkeys(found))


def is_known(path: Path) -> bool:
    """Whether it belongs to a toolchain, and so holds what was installed and nobody's own files."""
    named = environment(VARIABLE_FOLDERS)
    folders = _spellings(_places(str(home()), tuple(sorted(named.items()))))
    places = {str(path), real_path(path)}
    return any(is_among(place, folders) for place in places) or _in_environment(path)


@cache
def _spellings(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Folders as they are written, and without links."""
    return tuple(dict.fromkeys(place for f in folders for place in (f, real_path(f))))


@cache
def _in_environment(path: Path) -> bool:
    return any(
        is_there(place / mark) for place in (path, path.parent) for mark in MARKS_OF_ENVIRONMENT
    )


def is_there(path: str | Path) -> bool:
    """Whether something is there; not, where it may not be entered (pathlib raises then)."""
    return os.path.exists(path)  # noqa: PTH110


def is_in_a_home(path: Path) -> bool:
    """Whether it lies in the home folder of a person."""
    own = home()
    return own in path.parents or any(Path(top) in path.parents for top in HOMES)


def is_among(path: Path | str, folders: Iterable[str]) -> bool:
    """Whether a path is one of the folders or beneath one."""
    place = str(path)
    return any(place == folder or place.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def is_above(path: Path, other: Path) -> bool:
    """Whether a path is the other, or holds it."""
    return path == other or path in other.parents


@cache
def own_interpreter_folders() -> tuple[str, ...]:
    """Those of the interpreter that toolcrib itself runs on, without its packages."""
    base = real_path(sys.executable)
    found = [real_path(p) for p in (sys.base_prefix, sys.base_exec_prefix)]
    home = str(Path(base).parent)
    if not any(home.startswith(f"{prefix}/") for prefix in found):
        found.append(home)
    return tuple(dict.fromkeys(found))


def interpreter_folders(program: str) -> tuple[str, ...]:
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
    real = real_path(program)
    found.append(str(Path(real).parent.parent))
    plain = map(os.path.normpath, found)
    return tuple(dict.fromkeys(p for p in plain if p.count("/") > 1 or p == "/opt"))


def _home_of(environment: Path) -> str:
    """What a virtual environment says that it was made from; "" where it is none."""
    text = b""
    with suppress(OSError):
        text = read_plain(environment / "pyvenv.cfg", MAX_VENV_SETTINGS_BYTES)
    home = Path(environment_settings(text).get("home", ""))
    return str(home.parent if home.name == "bin" else home) if home.name else ""
