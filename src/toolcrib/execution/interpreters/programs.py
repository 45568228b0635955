"""Programs of this machine: where they are (never in the workspace), and what they need to read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError, Unavailable
from toolcrib.core.package_data import package_table
from toolcrib.execution.toolchains import (
    SYSTEM_FOLDERS,
    VARIABLE_FOLDERS,
    home,
    is_above,
    is_among,
    is_in_a_home,
    is_known,
    is_there,
    known_folders,
)
from toolcrib.files.paths import Workspace
from toolcrib.files.real_paths import real_path
from toolcrib.system.processes import Processes

# Programs that are not there: what each is, and how to get it, in one line.

_TABLE: dict[str, dict[str, str]] = package_table("execution/interpreters/programs.toml")
HOW_TO_INSTALL, UNAVAILABLE_PROGRAMS = _TABLE["install"], _TABLE["unavailable"]


def how_to_get(program: str) -> str:
    """What is missing and how to get it, without a full stop at the end."""
    if program in UNAVAILABLE_PROGRAMS:
        return UNAVAILABLE_PROGRAMS[program]
    if program in HOW_TO_INSTALL:
        return f"{program} is not installed. {HOW_TO_INSTALL[program]}"
    return f"{program} is not on this machine, or not where runs may read (run.readable)"


def not_installed(program: str) -> Unavailable:
    """The error for a program that a tool cannot do without."""
    message = f"{program} is not installed."
    return Unavailable(
        message, hint=f"{HOW_TO_INSTALL.get(program, 'Install it, or use another')}."
    )


OFFLINE = {"PIP_RETRIES": "0", "npm_config_fetch_retries": "0", "CARGO_NET_RETRY": "0"}
"""Without network to try once is enough: it would take minutes. Who has one says more."""


@dataclass(frozen=True, slots=True)
class Toolchains:
    """Folders to read, and the variables by which programs find them."""

    readable: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def toolchains(ctx: Ctx) -> Toolchains:
    """The toolchains of this machine and user. It looks at the disk, so it blocks a little."""
    own = home()
    wanted = known_folders()
    for folder in map(Path, ctx.use(Workspace).search_path()):
        # Beneath a home, what is no known toolchain is a project, or else a person's own.
        if not is_in_a_home(folder) or is_known(folder):
            wanted += [folder, *prefix_of(f"{folder}/x")]
    readable = tuple(path for path in dict.fromkeys(wanted) if _is_open(path, own))
    return Toolchains(readable, _variables(own) | OFFLINE)


def _is_open(path: Path, own: Path) -> bool:
    """Whether a folder is there, and holds nothing beside programs."""
    return is_there(path) and not is_above(path, own) and not is_among(path, SYSTEM_FOLDERS)


def _variables(own: Path) -> dict[str, str]:
    """Where programs look for what the run may read, and may write what they must."""
    named = environment(VARIABLE_FOLDERS)
    variables = {
        "GOFLAGS": "-buildvcs=false",
        "GOTOOLCHAIN": "local",
        "npm_config_update_notifier": "false",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONFIG_FILE": "/dev/null",  # the system's and the user's are out of reach
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
    }
    for name, place in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("GOPATH", "go")):
        folder = Path(named.get(name) or own / place)
        if is_there(folder):
            variables[name] = str(folder)
    for name in ("GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"):
        if named.get(name):
            variables[name] = named[name]
    return variables


Folders: TypeAlias = tuple[Path, ...]


def is_program(file: Path | str) -> bool:
    """Whether it is a file that may be run."""
    return os.path.isfile(file) and os.access(file, os.X_OK)  # noqa: PTH113 - see `is_there`


def find_program(ctx: Ctx, name: str, more: Iterable[Path] = ()) -> str:
    """The absolute path of a program; empty where there is none.

    What a run could have put there does not count, unless it is named in full.

    Args:
        ctx: the call.
        name: its name, or an absolute path.
        more: further folders, looked into last.
    """
    named = os.path.expanduser(name)  # noqa: PTH111 - `~` alone, the rest as it is written
    if named.startswith("/"):
        return named if is_program(named) else ""
    return ctx.use(Workspace).outside_program(name, map(str, more))


async def host_output(ctx: Ctx, argv: Sequence[str], seconds: float, **more: Any) -> str:
    """What a program says that is started outside of the boundary; "" where it fails.

    It starts in no project, and finds nothing on PATH that a run could have put there.

    Args:
        ctx: the call.
        argv: the program, as `find_program` found it, and its arguments.
        seconds: how long it may take.
        more: see `Processes.run`.
    """
    env = {**more.pop("env", {}), "PATH": os.pathsep.join(ctx.use(Workspace).search_path())}
    with suppress(ToolError):
        done = await ctx.use(Processes).run(argv, cwd="/", env=env, timeout=seconds, **more)
        return str(done.stdout) if done.exit_code == 0 else ""
    return ""


def shell_program(ctx: Ctx) -> str:
    """bash, else the plain shell that every system has."""
    return find_program(ctx, "bash") or "/bin/sh"


def prefix_of(program: str) -> list[Path]:
    """The folders that a program needs to be read with: those of its installation.

    Args:
        program: an absolute path; links are followed.

    Returns:
        Nothing for what lies among the system's; of a home no more than known toolchains, and
        the folder of the program itself.
    """
    found: list[Path] = []
    for place in dict.fromkeys((Path(program), Path(real_path(program)))):
        folder = place.parent
        prefix = folder.parent if folder.name in ("bin", "Scripts", "shims") else folder
        if is_among(prefix, SYSTEM_FOLDERS):
            continue
        private = is_above(prefix, home()) or (is_in_a_home(prefix) and not is_known(prefix))
        found += [folder, prefix / "lib"] if private else [prefix]
    return [path for path in dict.fromkeys(found) if is_there(path)]
