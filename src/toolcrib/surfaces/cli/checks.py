"""The checks of `toolcrib doctor`. Each tries the thing itself and trusts no version number."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from toolcrib.core.config import Config, secret, user_config_file
from toolcrib.core.errors import ToolError
from toolcrib.core.services import Services

State = Literal["ok", "set", "missing", "broken"]
"""`set`: what it takes is there, and whether it works was not tried."""
PROBE_SECONDS = 10.0
NAME = "example.com"
"""Looked up to see whether names resolve; reserved for uses like this."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `fix` is the one line that would help.

    `essential` says that every use needs it, or that the configuration asks for it.
    """

    name: str
    state: State
    detail: str
    fix: str = ""
    essential: bool = False

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return asdict(self)


Probe = Callable[[Services], Awaitable[list[Check]]]


async def run_all(config: Config, *, offline: bool = False) -> list[Check]:
    """Every check, in the order in which they are shown."""
    services = Services(config)
    from toolcrib.surfaces.cli import web_checks

    probes: list[Probe] = [python, store, workspace, opener, web]
    probes += [] if offline else [names]
    probes += [web_checks.offline if offline else web_checks.online]
    probes += [token, programs, sandbox]
    found: list[Check] = []
    try:
        for probe in probes:
            try:
                found += await probe(services)
            except Exception as error:  # noqa: BLE001 - a check that fails is a finding
                message = error.message if isinstance(error, ToolError) else repr(error)
                hint = error.hint if isinstance(error, ToolError) else ""
                needed = probe in (store, workspace)
                found.append(Check(probe.__name__, "broken", message, hint, essential=needed))
    finally:
        await services.close()
    return found


async def python(services: Services) -> list[Check]:
    """The interpreter."""
    del services
    detail = f"{platform.python_version()}, {sys.executable}"
    return [Check("python", "ok", detail, essential=True)]


async def store(services: Services) -> list[Check]:
    """Whether history, sessions and approvals can be kept."""
    from toolcrib.kit.store import Schema, Store

    kept = services.use(Store)
    try:
        await kept.write(Schema("doctor", ()), lambda connection: connection.execute("SELECT 1"))
    except ToolError as error:
        fix = error.hint or "point TOOLCRIB_DATA or store.url at a folder that you can write"
        return [Check("store", "broken", error.message, fix, essential=True)]
    detail = " ".join([str(kept.path or "in memory"), *kept.warnings])
    return [Check("store", "ok", detail, essential=True)]


async def workspace(services: Services) -> list[Check]:
    """Whether the folders of the file tools are there."""
    from toolcrib.kit.paths import Workspace

    roots = [root.name for root in services.use(Workspace).roots]
    if not roots:
        fix = setting(services, "workspace", 'roots = ["/path/to/folder"]')
        return [Check("workspace", "missing", "no folder is configured for the file tools", fix)]
    return [_folder(root) for root in roots]


def _folder(root: str) -> Check:
    if not Path(root).is_dir():
        fix = f"mkdir -p {shlex.quote(root)}"
        return Check("workspace", "broken", f"{root} is no folder", fix, essential=True)
    if not os.access(root, os.R_OK | os.X_OK):
        fix = f"chmod u+rx {shlex.quote(root)}"
        return Check("workspace", "broken", f"{root} cannot be read", fix, essential=True)
    writable = "" if os.access(root, os.W_OK) else " (read only)"
    return Check("workspace", "ok", f"{root}{writable}", essential=True)


async def opener(services: Services) -> list[Check]:
    """Who keeps paths inside the workspace: the kernel, or our own walk."""
    from toolcrib.kit.paths.beneath import has_openat2

    del services
    if has_openat2():
        return [Check("openat2", "ok", "the kernel keeps paths inside the workspace")]
    fix = "use Linux 5.6 or newer; in a container, allow openat2 in its seccomp profile"
    return [Check("openat2", "missing", "a slower walk keeps paths inside the workspace", fix)]


async def web(services: Services) -> list[Check]:
    """The libraries that fetch and read pages."""
    wanted = services.config.egress.transport
    found = [
        _library("wreq", "fetches pages as a browser does", essential=wanted == "wreq"),
        _library("aiohttp", "fetches pages where wreq does not run", essential=wanted == "aiohttp"),
        _library("turbohtml", "reads HTML", essential=True),
    ]
    if wanted == "auto" and all(check.state == "broken" for check in found[:2]):
        fix = _pip("wreq aiohttp")
        found.append(Check("fetching", "broken", "no transport can be loaded", fix, essential=True))
    return found


def _library(name: str, use: str, *, essential: bool) -> Check:
    try:
        import_module(name)
        detail = f"{version(name)}, {use}"
    except (ImportError, OSError, PackageNotFoundError) as error:
        return Check(name, "broken", f"{use}; {error}", _pip(name), essential=essential)
    return Check(name, "ok", detail, essential=essential)


def _pip(names: str) -> str:
    return f"{sys.executable} -m pip install --upgrade {names}"


async def names(services: Services) -> list[Check]:
    """Whether host names resolve, in the way that pages are fetched."""
    from toolcrib.kit.egress import Egress

    if services.config.egress.proxy:
        return [Check("names", "ok", "left to egress.proxy")]
    try:
        addresses = await services.use(Egress).resolver.addresses(NAME)
    except ToolError as error:
        fix = "check the network; behind a proxy, set egress.proxy"
        return [Check("names", "broken", error.message, fix, essential=True)]
    return [Check("names", "ok", f"{NAME} is {addresses[0]}")]


def setting(services: Services, table: str, line: str) -> str:
    """The line of the configuration that would help, and where it goes."""
    file = services.config.file or user_config_file()
    return f"in {file}, under [{table}]: {line}"


async def token(services: Services) -> list[Check]:
    """Whether the HTTP server may be reached from other machines."""
    name = services.config.http.token_env
    try:
        secret(name, "HTTP")
    except ToolError:
        fix = f"export {name}=$(openssl rand -hex 32)"
        return [Check("token", "missing", "toolcrib serve answers on this machine alone", fix)]
    return [Check("token", "ok", f"{name} guards toolcrib serve")]


KERNEL = Path("/proc/sys/kernel")
PACKAGES = {
    "rg": ("for fast search in files", "ripgrep"),
    "git": ("for work with repositories", "git"),
    "node": ("for running JavaScript", "nodejs"),
}
INSTALLERS = (
    ("apt-get", "sudo apt-get install -y"),
    ("dnf", "sudo dnf install -y"),
    ("pacman", "sudo pacman -S --noconfirm"),
    ("zypper", "sudo zypper install -y"),
    ("apk", "sudo apk add"),
    ("brew", "brew install"),
)


async def programs(services: Services) -> list[Check]:
    """Programs that some tools use where they are there."""
    found = []
    for name, (use, package) in PACKAGES.items():
        path = shutil.which(name)
        if path is None:
            found.append(Check(name, "missing", use, _package(package)))
            continue
        fault = await _run(services, [path, "--version"])
        state: State = "broken" if fault else "ok"
        detail = f"{path}: {fault}" if fault else f"{path}, {use}"
        found.append(Check(name, state, detail, _package(package)))
    return found


async def sandbox(services: Services) -> list[Check]:
    """Whether bubblewrap can really confine something here; its version says nothing."""
    path = shutil.which("bwrap")
    if path is None:
        return [Check("bwrap", "missing", "for confining what is run", _package("bubblewrap"))]
    confined = [path, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc"]
    fault = await _run(services, [*confined, "/proc", "--dev", "/dev", "true"])
    if fault:
        return [Check("bwrap", "broken", f"{path}: {fault}", _namespaces(path))]
    return [Check("bwrap", "ok", f"{path}, it confines what is run")]


def _namespaces(path: str) -> str:
    """The line that lets bubblewrap make user namespaces, by what forbids it here."""
    if (KERNEL / "apparmor_restrict_unprivileged_userns").exists():
        profile = f"abi <abi/4.0>,\\nprofile bwrap {path} flags=(unconfined) {{ userns, }}\\n"
        return (
            f"printf '{profile}' | sudo tee /etc/apparmor.d/bwrap && sudo systemctl reload apparmor"
        )
    if (KERNEL / "unprivileged_userns_clone").exists():
        return "sudo sysctl kernel.unprivileged_userns_clone=1"
    return "allow user namespaces; in Docker: --security-opt seccomp=unconfined"


def _package(name: str) -> str:
    for program, command in INSTALLERS:
        if shutil.which(program):
            return f"{command} {name}"
    return f"install {name}"


async def _run(services: Services, words: list[str]) -> str:
    """What went wrong with a command; empty when it worked."""
    from toolcrib.kit.process import Processes

    done = await services.use(Processes).run(words, cwd="/", timeout=PROBE_SECONDS)
    if done.timed_out:
        return "it does not answer"
    if done.exit_code:
        said = " ".join(str(done.stderr).split())[:200]
        return said or f"it ended with {done.exit_code}"
    return ""
