"""What `toolcrib doctor` says of what is beside it: model servers, hosts, own tools, MCP."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.extensions.own_tools import OwnTool, tools_folder
from toolcrib.extensions.servers import ForeignServers, KnownServers
from toolcrib.surfaces.cli import host_files
from toolcrib.surfaces.cli.checks import Check
from toolcrib.surfaces.cli.hosts import HOSTS, NAME
from toolcrib.surfaces.cli.mcp_servers import ENTRY, left_out
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted, some_of
from toolcrib.toolbox import available

MAX_MODELS = 3


async def model_servers(services: Services) -> list[Check]:
    """Each model server that agents and the chat would ask: whether it answers, with what."""
    from toolcrib.net.egress.client import Egress
    from toolcrib.net.models.endpoint import NoServer, probe_servers

    agent = services.config.agent
    found = []
    for url, models in await probe_servers(services.config, services.use(Egress)):
        name = f"model server {url.removeprefix('http://').removesuffix('/v1')}"
        if not isinstance(models, NoServer):
            listed = some_of(models, MAX_MODELS) or "no model is loaded"
            found.append(Check(name, "ok", f"it answers: {listed}"))
        elif agent.base_url:
            fix = "start it, or set agent.base_url to where it listens"
            found.append(Check(name, "broken", models.why, fix, essential=True))
        elif models.answers:
            detail = f"something answers there, and no model server: {models.why}"
            found.append(Check(name, "unknown", detail))
        else:
            found.append(Check(name, "unknown", "nothing listens there (for chat and agents)"))
    return found


async def unprobed_servers(services: Services) -> list[Check]:
    """What stands for the model servers where nothing is asked."""
    agent = services.config.agent
    urls = [agent.base_url] if agent.base_url else agent.servers
    return [Check("model servers", "unknown", f"{', '.join(urls)} (not asked)")]


async def host_entries(services: Services) -> list[Check]:
    """The entries in the files of hosts: whether what they start is there."""
    del services
    found = []
    for word, host in HOSTS.items():
        file = host.file() if host.file is not None else None
        if file is None or not file.is_file():
            continue
        label, fix = f"host {word}", f"toolcrib install {word}"
        try:
            entry = host_files.find(file, host.key, NAME)
        except ToolError as error:
            found.append(Check(label, "broken", error.message, f"correct {file}"))
            continue
        if entry is not None:
            wrong = _fault(entry)
            detail = wrong or f"{file} starts {entry['command']}"
            found.append(Check(label, "broken" if wrong else "ok", detail, fix if wrong else ""))
    return found


def _fault(entry: dict[str, Any]) -> str:
    """Why a host could not start an entry; empty where it can."""
    command, words = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not isinstance(words, list):
        return "its entry names no command"
    if Path(command).is_absolute() and not os.access(command, os.X_OK):
        return f"its entry starts {command}, which is not there any more"
    if not Path(command).is_absolute() and shutil.which(command) is None:
        return f"its entry starts {command}, which is not on PATH"
    for flag, folder in pairwise(words):
        gone = flag == "--workspace" and "${" not in str(folder) and not Path(folder).is_dir()
        if gone:
            return f"the folder of its entry is gone: {folder}"
    return ""


async def own_tools(services: Services) -> list[Check]:
    """The user's own tools and those of packages."""
    found = await in_thread(lambda _: available(services.config, retry=True), None)
    own = [tool.name for tool in found.tools if isinstance(tool, OwnTool)]
    checks = [
        Check("own tools", "broken", str(skipped), f"correct {skipped.where}, or take it away")
        for skipped in found.skipped
        if not skipped.where.startswith(ENTRY)
    ]
    if own or not checks:
        detail = f"{len(own)}: {', '.join(own)}" if own else f"none in {tools_folder()}"
        checks.insert(0, Check("own tools", "ok", detail))
    return checks


async def mcp_servers(services: Services) -> list[Check]:
    """The other MCP servers, each started."""
    known, servers = services.use(KnownServers), services.use(ForeignServers)
    reasons = await in_thread(lambda _: left_out(services.config), None)
    checks = []
    for name in known.settings:
        where = f"mcp {name}"
        if name in reasons:
            checks.append(
                Check(where, "broken", f"left out: {reasons[name]}", f"rename {ENTRY}{name}")
            )
            continue
        try:
            changes = await servers.look(name)
        except ToolError as error:
            fix = error.hint or f"correct mcp.servers.{name}"
            checks.append(Check(where, "broken", error.message, fix, essential=True))
            continue
        count = len(known.facts[name].accepted)
        checks.append(
            Check(where, "broken", f"changed: {changes}", f"toolcrib mcp accept {name}")
            if changes
            else Check(where, "ok", counted(count, "tool"))
        )
    return checks
