"""`system_info`: what machine this is, and how busy it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.execution.interpreters.programs import shell_program
from toolcrib.files.paths import Workspace
from toolcrib.system import machine
from toolcrib.system.threads import in_thread
from toolcrib.text.display import size_of

Metric = Literal["cpu", "memory", "disk", "network"]
MAX_LISTED = 12
"""Disks and interfaces that are shown; `data` has all."""
UNIX = "ls, cat, cp, mv, rm, grep, ps, env"
COMMANDS = {
    "darwin": f"{UNIX}, open FILE, pbcopy, pbpaste",
    "win32": "dir, type, copy, move, del, findstr, tasklist, set, start FILE, clip",
}


@tool(
    group="system",
    rights=READ,
    keywords=("os", "cpu", "memory", "ram", "disk space", "network", "load", "platform", "shell"),
    aliases=("get_system_info", "system_monitor", "os_info", "machine_info"),
    argument_aliases={"metric": "metrics", "what": "metrics"},
)
async def system_info(
    metrics: Annotated[list[Metric] | None, Param("Live figures; else facts.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Tell the operating system, hardware, shell, or how busy it all is.

    Without metrics: what machine this is, and which commands fit it. With them: what
    processors, memory, disks and network do now.
    """
    roots = [root.real for root in ctx.use(Workspace).roots]
    if not metrics:
        found = await in_thread(lambda _: machine.facts(), ctx.deadline)
        found["command_shell"] = "" if sys.platform == "win32" else shell_program(ctx)
        return Result("\n".join(_facts(found)), found, impersonal=True)
    data = await in_thread(lambda _: _figures(metrics, roots), ctx.deadline)
    return Result("\n".join(_lines(data)), data, impersonal="network" not in data)


def _facts(found: dict[str, Any]) -> list[str]:
    days, rest = divmod(max(time.time() - found["started"], 0), 86_400)
    limit = found["memory_limit"]
    managers = ", ".join(found["managers"])
    within = f", in {found['container']}" if found["container"] else ""
    lines = [
        f"{found['system']} ({found['kernel']}, {found['architecture']}{within})",
        f"processor: {found['processor'] or found['architecture']}, {found['threads']} threads",
        f"memory: {size_of(found['memory'])}"
        + (f", of which {size_of(limit)} may be used" if limit else ""),
        f"running for {days:.0f} d {rest // 3600:.0f} h; Python {found['python']}",
        f"shell of the user: {found['shell'] or 'unknown'}",
    ]
    if found["command_shell"]:
        lines.append(f"run_command uses {found['command_shell']}")
    lines.append(f"commands: {COMMANDS.get(sys.platform, f'{UNIX}, xdg-open FILE')}")
    return [*lines, f"system packages: {managers}"] if managers else lines


def _figures(metrics: Sequence[Metric], roots: Sequence[str]) -> dict[str, Any]:
    sources = {
        "cpu": machine.processor_use,
        "memory": machine.memory_use,
        "disk": lambda: machine.disk_use(roots),
        "network": machine.network_use,
    }
    return {name: sources[name]() for name in dict.fromkeys(metrics)}


def _lines(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    if "cpu" in data:
        load = " ".join(f"{one:.2f}" for one in data["cpu"]["load"])
        busy = f"{data['cpu']['percent']:g} % of {len(data['cpu']['each'])} threads"
        lines.append(f"cpu: {busy}, load of 1, 5, 15 min: {load}")
    if "memory" in data:
        memory = data["memory"]
        line = f"memory: {size_of(memory['available'])} of {size_of(memory['total'])} available"
        if memory["limit"]:
            used = f"{size_of(memory['used_of_limit'])} of " if memory["used_of_limit"] else ""
            line += f"; this container uses {used}{size_of(memory['limit'])}"
        if memory["swap_total"]:
            line += f"; swap {size_of(memory['swap_used'])} of {size_of(memory['swap_total'])} used"
        lines.append(line)
    for disk in data.get("disk", ())[:MAX_LISTED]:
        free, total = size_of(disk["free"]), size_of(disk["total"])
        lines.append(f"disk {disk['place']}: {free} of {total} free")
    for one in data.get("network", ())[:MAX_LISTED]:
        addresses = ", ".join(one["addresses"]) or "no address"
        rates = (
            f"{size_of(one['received_per_second'])}/s in, {size_of(one['sent_per_second'])}/s out"
        )
        lines.append(f"network {one['name']} ({addresses}): {rates}")
    return lines
