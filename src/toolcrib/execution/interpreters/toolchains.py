"""What compilers, package managers and their caches keep outside of the workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.execution.interpreters.programs import (
    SYSTEM,
    home,
    is_above,
    is_among,
    prefix_of,
    search_path,
)
from toolcrib.files.workspace import Workspace

# Named one by one: beside them lie tokens, such as ~/.cargo/credentials.toml.
AT_HOME = (
    *(".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/env", ".rustup"),
    *("go/bin", "go/pkg", "sdk", ".local/bin", ".local/lib", ".local/share/uv/python"),
    *(".local/share/uv/tools", ".local/share/pipx/venvs", ".local/share/mise/installs"),
    *(".local/share/fnm", ".local/share/pnpm", ".nvm/versions", ".volta/bin", ".volta/tools"),
    *(".deno/bin", ".bun/bin", ".bun/install/cache", ".pyenv/versions", ".pyenv/bin"),
    *(".pyenv/shims", ".pyenv/libexec", ".rbenv/versions", ".rbenv/shims", ".asdf/installs"),
    *(".asdf/shims", ".sdkman/candidates", ".m2/repository", ".npm/_cacache", ".ghcup/bin"),
    *("miniconda3", "anaconda3", "mambaforge", "miniforge3", ".local/share/virtualenvs"),
)
ELSEWHERE = ("/opt", "/usr/local/go", "/snap", "/nix/store", "/home/linuxbrew/.linuxbrew")
OF_VARIABLES = {
    "CARGO_HOME": ("bin", "registry", "git"),
    "RUSTUP_HOME": ("",),
    "GOROOT": ("",),
    "GOPATH": ("bin", "pkg"),
    "JAVA_HOME": ("",),
    "NVM_DIR": ("versions",),
    "VIRTUAL_ENV": ("",),
    "CONDA_PREFIX": ("",),
}
OFFLINE = {"PIP_RETRIES": "0", "npm_config_fetch_retries": "0", "CARGO_NET_RETRY": "0"}
"""Without network to try once is enough: it would take minutes else."""
SCRATCH = "/tmp"  # noqa: S108 - that of the run


@dataclass(frozen=True, slots=True)
class Toolchains:
    """Folders to read, and the variables by which programs find them."""

    readable: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def toolchains(ctx: Ctx) -> Toolchains:
    """The toolchains of this machine and user. It looks at the disk, so it blocks a little."""
    workspace = ctx.use(Workspace)
    own = home()
    named = environment(OF_VARIABLES)
    wanted = [own / place for place in AT_HOME] + [Path(place) for place in ELSEWHERE]
    for name, parts in OF_VARIABLES.items():
        value = named.get(name, "")
        if value.startswith("/"):
            wanted += [Path(value) / part for part in parts]
    for folder in search_path():
        if not workspace.holds(folder):
            wanted += [Path(folder), *prefix_of(f"{folder}/x")]
    readable = tuple(path for path in dict.fromkeys(wanted) if _is_open(path, own))
    offline = {} if ctx.config.run.network else OFFLINE
    return Toolchains(readable, _variables(own, named) | offline)


def _is_open(path: Path, own: Path) -> bool:
    """Whether a folder is there, and holds nothing beside programs."""
    return path.exists() and not is_above(path, own) and not is_among(path, SYSTEM)


def _variables(own: Path, named: dict[str, str]) -> dict[str, str]:
    """Where programs look for what the run may read, and may write what they must."""
    said = {
        "GOCACHE": f"{SCRATCH}/go-build",
        "GOFLAGS": "-buildvcs=false",
        "GOTOOLCHAIN": "local",
        "npm_config_cache": f"{SCRATCH}/npm",
        "npm_config_update_notifier": "false",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
    }
    for name, place in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("GOPATH", "go")):
        folder = Path(named.get(name) or own / place)
        if folder.is_dir():
            said[name] = str(folder)
    for name in ("GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"):
        if named.get(name):
            said[name] = named[name]
    return said
