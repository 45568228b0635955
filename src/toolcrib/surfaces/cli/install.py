"""`toolcrib install`: the entry that makes an application start toolcrib, and where it goes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import platformdirs

from toolcrib.core.errors import Conflict, StorageFailure, ToolError
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.system.installation import start_flag

# Adding one entry to a JSON file that belongs to another program.


def add(file: Path, key: str, name: str, entry: dict[str, Any]) -> Path | None:
    """Put `entry` at `key`, `name` of the file, and keep everything else as it is.

    What the file had at that place keeps the fields that the entry does not name
    (an `env` that the user added). Nothing is written when nothing changes.

    Returns:
        The copy of the file as it was; the file itself where it did not exist before;
        None when nothing had to change.

    Raises:
        Conflict: the file is not valid JSON or has another shape, and was not touched.
        StorageFailure: it cannot be read or written.
    """
    # A link to the real file stays a link.
    target = Path(os.path.realpath(file))
    try:
        before = target.read_bytes() if target.exists() else None
    except OSError as error:
        raise StorageFailure(f"{file} cannot be read: {error.strerror}.") from None
    tree = _parsed(file, before)
    servers = tree.setdefault(key, {})
    if not isinstance(servers, dict):
        raise _untouched(file, f"'{key}' is not an object")
    old = servers.get(name)
    new = {**old, **entry} if isinstance(old, dict) else entry
    if before is not None and old == new:
        return None
    servers[name] = new
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = file if before is None else _backed_up(target, before)
        _replace(target, as_json(tree).encode() + b"\n")
    except OSError as error:
        raise StorageFailure(f"{file} cannot be written: {error.strerror}.") from None
    return backup


def _parsed(file: Path, content: bytes | None) -> dict[str, Any]:
    if content is None or not content.strip():
        return {}
    try:
        tree = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _untouched(file, f"it is not valid JSON ({error})") from None
    if not isinstance(tree, dict):
        raise _untouched(file, "it does not hold an object")
    return tree


def _untouched(file: Path, reason: str) -> ToolError:
    return Conflict(
        f"{file} was not touched: {reason}.",
        hint="Correct it, or add the entry by hand: the same command with --print shows it.",
    )


def _backed_up(target: Path, content: bytes) -> Path:
    """A copy beside the file that no earlier copy is lost to."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for count in range(1000):
        name = f"{target.name}.{stamp}{f'-{count}' if count else ''}.bak"
        copy = target.with_name(name)
        with contextlib.suppress(FileExistsError):
            mode = target.stat().st_mode & 0o777
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return copy
    raise FileExistsError(17, "too many copies", str(target))


def _replace(target: Path, content: bytes) -> None:
    """Write beside the file and rename over it, so that it is never half written."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _make_alike(fresh, target)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _make_alike(fresh: Path, target: Path) -> None:
    """The mode and the owner that the file had; a new one is readable like any other."""
    if not target.exists():
        fresh.chmod(0o644)
        return
    status = target.stat()
    fresh.chmod(status.st_mode & 0o777)
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(fresh, status.st_uid, status.st_gid)


NAME = "toolcrib"
SUMMARY = "Search the web, read pages and files"
TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Launch:
    """How toolcrib is started: an absolute interpreter, since hosts have another PATH."""

    interpreter: str
    flags: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8722

    @property
    def stdio(self) -> list[str]:
        """The command of the stdio server."""
        return [*self._program, "mcp", *self.flags]

    def serve(self, *more: str) -> list[str]:
        """The command of the HTTP server."""
        return [*self._program, "serve", *self.flags, *more]

    @property
    def _program(self) -> list[str]:
        # A host starts us in some project, whose toolcrib.py must not be taken for ours.
        return [self.interpreter, start_flag(), "-m", "toolcrib"]

    @property
    def entry(self) -> dict[str, Any]:
        """The command as most hosts write it."""
        return {"command": self.stdio[0], "args": self.stdio[1:]}

    @property
    def url(self) -> str:
        """Where the HTTP server answers on this machine."""
        return f"http://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Host:
    """One application.

    `text` is what a person pastes or runs, `where` says where it belongs. `file` is its
    file where toolcrib may write it: then `key` holds the servers and `entry` makes one.
    """

    title: str
    text: Callable[[Launch], str]
    where: Callable[[Launch], str]
    file: Callable[[], Path] | None = None
    key: str = "mcpServers"
    entry: Callable[[Launch], dict[str, Any]] = field(default=lambda launch: launch.entry)
    link: Callable[[Launch], str] | None = None


def _json_host(
    title: str,
    file: Callable[[], Path],
    *,
    key: str = "mcpServers",
    more: Mapping[str, Any] | None = None,
    link: Callable[[Launch], str] | None = None,
) -> Host:
    def entry(launch: Launch) -> dict[str, Any]:
        return {**(more or {}), **launch.entry}

    return Host(
        title,
        text=lambda launch: as_json({key: {NAME: entry(launch)}}),
        where=lambda _: f"It belongs in {file()}",
        file=file,
        key=key,
        entry=entry,
        link=link,
    )


def as_json(value: Any) -> str:
    """JSON as these files are written by hand."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _base64_link(start: str) -> Callable[[Launch], str]:
    def link(launch: Launch) -> str:
        packed = base64.b64encode(json.dumps(launch.entry).encode()).decode("ascii")
        return f"{start}?name={NAME}&config={quote(packed, safe='')}"

    return link


def _vscode_link(launch: Launch) -> str:
    described = {"name": NAME, "type": "stdio", **launch.entry}
    return f"vscode:mcp/install?{quote(json.dumps(described), safe='')}"


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _settings(*parts: str) -> Callable[[], Path]:
    """Below the folder in which applications of this system keep their settings."""
    return lambda: platformdirs.user_config_path(roaming=True, appauthor=False).joinpath(*parts)


def _opencode(launch: Launch) -> str:
    server = {"type": "local", "command": launch.stdio, "enabled": True}
    return as_json({"$schema": "https://opencode.ai/config.json", "mcp": {NAME: server}})


def yaml(value: Any, indent: str = "") -> str:
    """YAML of plain objects, lists and scalars; strings are quoted as in JSON."""
    lines = []
    for name, item in value.items():
        if isinstance(item, Mapping):
            lines += [f"{indent}{name}:", yaml(item, f"{indent}  ")]
        elif isinstance(item, list):
            lines.append(f"{indent}{name}:")
            lines += [f"{indent}  - {_scalar(element)}" for element in item]
        else:
            lines.append(f"{indent}{name}: {_scalar(item)}")
    return "\n".join(lines)


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _goose(launch: Launch) -> str:
    extension = {
        "enabled": True,
        "type": "stdio",
        "name": NAME,
        "description": SUMMARY,
        "cmd": launch.stdio[0],
        "args": launch.stdio[1:],
        "timeout": TIMEOUT_SECONDS,
    }
    return yaml({"extensions": {NAME: extension}})


def _librechat(launch: Launch) -> str:
    server = {"type": "stdio", **launch.entry, "timeout": TIMEOUT_SECONDS * 1000}
    return yaml({"mcpServers": {NAME: server}})


def _claude_code(launch: Launch) -> str:
    return shlex.join(["claude", "mcp", "add", "--scope", "user", NAME, "--", *launch.stdio])


def _llama_cpp(launch: Launch) -> str:
    origins = "http.allow_origins=http://127.0.0.1:8080,http://localhost:8080"
    return shlex.join(launch.serve("--set", origins))


def _llama_cpp_where(launch: Launch) -> str:
    servers = json.dumps({"mcpServers": {NAME: launch.entry}})
    return (
        f"Run it, then add {launch.url}/mcp under MCP in the web UI. If the web UI has another "
        "address than port 8080, name that in http.allow_origins.\n"
        "Builds since August 2026 can start toolcrib themselves: llama-server "
        f"--mcp-servers-json {shlex.quote(servers)}"
    )


def _open_webui_where(launch: Launch) -> str:
    return (
        "Run it, then Admin Settings > External Tools > +: type MCP (Streamable HTTP), "
        f"URL {launch.url}/mcp; or type OpenAPI, URL {launch.url}.\n"
        "Open WebUI in Docker reaches it as http://host.docker.internal: add --host 0.0.0.0 "
        "and --set http.allow_hosts=host.docker.internal, and set TOOLCRIB_TOKEN."
    )


def _librechat_where(launch: Launch) -> str:
    return (
        "It belongs in librechat.yaml; then start LibreChat again.\n"
        "LibreChat in Docker cannot start it: run "
        f"{shlex.join(launch.serve('--host', '0.0.0.0'))} with TOOLCRIB_TOKEN set, and give "  # noqa: S104 - shown, not bound
        "LibreChat a server of type streamable-http with that token."
    )


HOSTS: dict[str, Host] = {
    "lmstudio": _json_host(
        "LM Studio",
        _home(".lmstudio", "mcp.json"),
        link=_base64_link("lmstudio://add_mcp"),
    ),
    "claude-desktop": _json_host(
        "Claude Desktop", _settings("Claude", "claude_desktop_config.json")
    ),
    "claude-code": Host("Claude Code", _claude_code, lambda _: "Run it in a terminal."),
    "cursor": _json_host(
        "Cursor",
        _home(".cursor", "mcp.json"),
        link=_base64_link("cursor://anysphere.cursor-deeplink/mcp/install"),
    ),
    "vscode": _json_host(
        "VS Code",
        _settings("Code", "User", "mcp.json"),
        key="servers",
        more={"type": "stdio"},
        link=_vscode_link,
    ),
    "goose": Host(
        "Goose", _goose, lambda _: f"It belongs in {_home('.config', 'goose', 'config.yaml')()}"
    ),
    "opencode": Host(
        "opencode",
        _opencode,
        lambda _: f"It belongs in {_home('.config', 'opencode', 'opencode.json')()}",
    ),
    "librechat": Host("LibreChat", _librechat, _librechat_where),
    "open-webui": Host("Open WebUI", lambda launch: shlex.join(launch.serve()), _open_webui_where),
    "llama-cpp": Host("the llama.cpp web UI", _llama_cpp, _llama_cpp_where),
}


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("host", metavar="HOST", help=", ".join(HOSTS))
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--print", action="store_true", dest="show", help="print the entry and change nothing"
    )
    form.add_argument(
        "--link", action="store_true", help="print a link that adds it, for hosts that have one"
    )
    parser.add_argument("--file", metavar="FILE", help="write this file instead of the usual one")
    parser.epilog = (
        "--config, --profile, --workspace and --set become part of the entry. Written are the "
        "files of " + ", ".join(n for n, h in HOSTS.items() if h.file) + "; for others the "
        "entry is printed."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Print the entry, or write it into the file of the host."""
    name, host = _host(options.host)
    # What an entry holds is checked now, not when the host fails to start it.
    config = flags.load()
    http = config.http
    local = http.host if http.host not in ("0.0.0.0", "::", "") else "127.0.0.1"  # noqa: S104
    launch = Launch(sys.executable, tuple(flags.words()), local, http.port)
    _warn(launch, has_folder=bool(config.workspace.roots))
    if options.link:
        _link(name, host, launch)
    elif options.show or host.file is None:
        print(host.text(launch), flush=True)
        _tell(host, launch)
    else:
        _write(host, launch, Path(options.file).expanduser() if options.file else host.file())
    return 0


def _host(wanted: str) -> tuple[str, Host]:
    from difflib import get_close_matches

    from toolcrib.core.errors import BadInput

    plain = wanted.lower().replace("_", "-").replace(" ", "-")
    by_letters = {name.replace("-", ""): name for name in HOSTS}
    name = by_letters.get(plain.replace("-", ""))
    if name is None:
        near = get_close_matches(plain, HOSTS, n=3, cutoff=0.4)
        guess = f"Nearest: {', '.join(near)}. " if near else ""
        raise BadInput(
            f"toolcrib knows no host '{wanted[:40]}'.",
            hint=f"{guess}Known: {', '.join(HOSTS)}. For others, see --print of lmstudio.",
        )
    return name, HOSTS[name]


def _link(name: str, host: Host, launch: Launch) -> None:
    from toolcrib.core.errors import BadInput

    if host.link is None:
        raise BadInput(
            f"There is no link that adds a command of your machine to {host.title}.",
            hint=f"toolcrib install {name} --print shows what to add.",
        )
    print(host.link(launch))


def _tell(host: Host, launch: Launch) -> None:
    """Where it belongs, beside what was printed, so that that can be piped."""
    print(f"\n{host.title}. {host.where(launch)}", file=sys.stderr)
    if host.link is not None:
        print(f"Or open: {host.link(launch)}", file=sys.stderr)


def _write(host: Host, launch: Launch, file: Path) -> None:
    written = add(file, host.key, NAME, host.entry(launch))
    if written is None:
        print(f"{file} has the entry already; nothing was changed.")
        return
    print(f"Wrote {file}")
    if written != file:
        print(f"As it was: {written}")
    print(f"Start {host.title} again to see the tools.")


def _warn(launch: Launch, *, has_folder: bool) -> None:
    """What works in this shell and would not where the host starts it."""
    import platformdirs

    warnings = []
    if Path(launch.interpreter).is_relative_to(platformdirs.user_cache_path()):
        warnings.append(
            f"{launch.interpreter} is in a cache and may go. Install toolcrib first "
            "(uv tool install toolcrib), then run this from there."
        )
    if not has_folder:
        warnings.append("No folder is given for the file tools: add --workspace DIR.")
    own = sorted(name for name in os.environ if name.startswith("TOOLCRIB_"))
    if own:
        warnings.append(f"The host may not see these variables of your shell: {', '.join(own)}.")
    for warning in warnings:
        print(f"note: {warning}", file=sys.stderr)
