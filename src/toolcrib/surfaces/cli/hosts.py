"""The applications that toolcrib can be added to: what their entry is, and where it goes."""

from __future__ import annotations

import base64
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

import platformdirs

from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.host_files import as_json

NAME = "toolcrib"
SUMMARY = "Search the web, read pages and files"
TIMEOUT_SECONDS = 60
OWN_FOLDER = "~/toolcrib"
"""Where a model works whose host knows no project."""


def wsl_path(word: str) -> str:
    """A path of Windows as its Linux sees it: drives stand in /mnt. Other words stay.

    Raises:
        BadInput: a share of the network, which is not there.
    """
    path = PureWindowsPath(word)
    if path.drive.lower().startswith(("\\\\wsl$\\", "\\\\wsl.localhost\\")):
        return str(PurePosixPath("/", *path.parts[1:]))
    if path.drive.startswith("\\\\"):
        raise BadInput(
            f"{word} is a share, which WSL does not see.", hint="Name a folder of a drive."
        )
    if not path.drive or not path.root:
        return word
    return str(PurePosixPath("/mnt", path.drive[0].lower(), *path.parts[1:]))


@dataclass(frozen=True, slots=True)
class Launch:
    """How toolcrib is started: by an absolute path, since hosts have another PATH.

    `program` starts it without a command; `flags` are those of every command. `in_wsl` starts
    the one that is installed in the Linux of Windows instead, where programs can be run.
    """

    program: tuple[str, ...]
    flags: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8722
    in_wsl: bool = False

    @property
    def stdio(self) -> list[str]:
        """The command of the stdio server."""
        return self._command("mcp")

    def serve(self, *more: str) -> list[str]:
        """The command of the HTTP server."""
        return self._command("serve", *more)

    def _command(self, name: str, *more: str) -> list[str]:
        if not self.in_wsl:
            return [*self.program, name, *self.flags, *more]
        words = [wsl_path(word) for word in self.flags]
        # A login shell, since that has the folder of `uv tool install` on its PATH.
        line = shlex.join(["exec", "toolcrib", name, *words, *more])
        return ["wsl.exe", "--exec", "bash", "-lc", line]

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
    `folder` is the one that the model works in where the user names none: OWN_FOLDER, a
    variable that the host fills in, or nothing where the host starts or tells us in which
    project it is. `confirms` says that the host shows its user every call. `starts` is false
    where it is the user who starts the server. `removal` says how its entry goes away.
    """

    title: str
    text: Callable[[Launch], str]
    where: Callable[[Launch], str]
    file: Callable[[], Path] | None = None
    key: str = "mcpServers"
    entry: Callable[[Launch], dict[str, Any]] = field(default=lambda launch: launch.entry)
    link: Callable[[Launch], str] | None = None
    folder: str = OWN_FOLDER
    confirms: bool = False
    starts: bool = True
    removal: str = ""


def _json_host(
    title: str,
    file: Callable[[], Path],
    *,
    key: str = "mcpServers",
    more: Mapping[str, Any] | None = None,
    link: Callable[[Launch], str] | None = None,
    **facts: Any,
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
        **facts,
    )


def _usual_json(launch: Launch) -> str:
    return as_json({"mcpServers": {NAME: launch.entry}})


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


def _lmstudio_file() -> Path:
    from toolcrib.execution.interpreters.lmstudio import lmstudio_home

    return (lmstudio_home() or Path.home() / ".lmstudio") / "mcp.json"


def _opencode(launch: Launch) -> str:
    server = {"type": "local", "command": launch.stdio, "enabled": True}
    return as_json({"$schema": "https://opencode.ai/config.json", "mcp": {NAME: server}})


def _as_yaml(value: Any) -> str:
    import yaml  # type: ignore[import-untyped]

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1_000)
    return text.rstrip()


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
    return _as_yaml({"extensions": {NAME: extension}})


def _librechat(launch: Launch) -> str:
    server = {"type": "stdio", **launch.entry, "timeout": TIMEOUT_SECONDS * 1000}
    return _as_yaml({"mcpServers": {NAME: server}})


def _command_host(title: str, add: Sequence[str], remove: Sequence[str]) -> Host:
    """A host whose own command adds servers; it starts them in the project."""
    return Host(
        title,
        lambda launch: shlex.join([*add, NAME, "--", *launch.stdio]),
        lambda _: "Run the command in a terminal.",
        folder="",
        removal=shlex.join([*remove, NAME]),
    )


def _zed_file() -> Path:
    # On macOS it is beneath ~/.config as well.
    if sys.platform == "win32":
        return _settings("Zed", "settings.json")()
    return _home(".config", "zed", "settings.json")()


def _llama_cpp(launch: Launch) -> str:
    origins = "http.allow_origins=http://127.0.0.1:8080,http://localhost:8080"
    return shlex.join(launch.serve("--set", origins))


def _llama_cpp_where(launch: Launch) -> str:
    servers = json.dumps({"mcpServers": {NAME: launch.entry}})
    return (
        f"Run the command, then add {launch.url}/mcp under MCP in the web UI. If the web UI has "
        "another address than port 8080, name that in http.allow_origins.\n"
        "Builds since August 2026 can start toolcrib themselves: llama-server "
        f"--mcp-servers-json {shlex.quote(servers)}"
    )


def _open_webui_where(launch: Launch) -> str:
    return (
        "Run the command, then open Admin Settings > External Tools > +: type MCP (Streamable "
        f"HTTP), URL {launch.url}/mcp; or type OpenAPI, URL {launch.url}.\n"
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
        _lmstudio_file,
        link=_base64_link("lmstudio://add_mcp"),
        confirms=True,
    ),
    "claude-desktop": _json_host(
        "Claude Desktop", _settings("Claude", "claude_desktop_config.json")
    ),
    "claude-code": _command_host(
        "Claude Code",
        ("claude", "mcp", "add", "--scope", "user"),
        ("claude", "mcp", "remove", "--scope", "user"),
    ),
    "cursor": _json_host(
        "Cursor",
        _home(".cursor", "mcp.json"),
        link=_base64_link("cursor://anysphere.cursor-deeplink/mcp/install"),
        folder="",
    ),
    "vscode": _json_host(
        "VS Code",
        _settings("Code", "User", "mcp.json"),
        key="servers",
        more={"type": "stdio"},
        link=_vscode_link,
        folder="${workspaceFolder}",
    ),
    "windsurf": _json_host("Windsurf", _home(".codeium", "windsurf", "mcp_config.json")),
    "zed": _json_host("Zed", _zed_file, key="context_servers", folder=""),
    "cline": Host(
        "Cline",
        _usual_json,
        lambda _: (
            "It belongs in the file that MCP Servers > Configure opens; its command line "
            "tool reads ~/.cline/data/settings/cline_mcp_settings.json."
        ),
    ),
    "codex": _command_host("Codex", ("codex", "mcp", "add"), ("codex", "mcp", "remove")),
    "gemini-cli": _json_host("Gemini CLI", _home(".gemini", "settings.json"), folder=""),
    "qwen-code": _json_host("Qwen Code", _home(".qwen", "settings.json"), folder=""),
    "goose": Host(
        "Goose",
        _goose,
        lambda _: f"It belongs in {_home('.config', 'goose', 'config.yaml')()}",
        folder="",
    ),
    "opencode": Host(
        "opencode",
        _opencode,
        lambda _: f"It belongs in {_home('.config', 'opencode', 'opencode.json')()}",
        folder="",
    ),
    "anythingllm": _json_host(
        "AnythingLLM",
        _settings("anythingllm-desktop", "storage", "plugins", "anythingllm_mcp_servers.json"),
    ),
    "jan": Host(
        "Jan",
        _usual_json,
        lambda _: (
            "Add it under Settings > MCP Servers > +: transport STDIO, then the command and "
            "its arguments, each in a field of its own."
        ),
    ),
    "librechat": Host("LibreChat", _librechat, _librechat_where),
    "open-webui": Host(
        "Open WebUI", lambda launch: shlex.join(launch.serve()), _open_webui_where, starts=False
    ),
    "llama-cpp": Host("the llama.cpp web UI", _llama_cpp, _llama_cpp_where, starts=False),
}
