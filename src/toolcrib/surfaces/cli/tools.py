"""`toolcrib tools`: what a profile shows, by group."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import table, wrapped

if TYPE_CHECKING:
    from toolcrib.core.config import Config
    from toolcrib.core.registry import Registry
    from toolcrib.core.tool import Tool


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="a profile, group or tool instead of the configured profile",
    )
    parser.add_argument("--json", action="store_true", help="print as JSON, with the schemas")
    parser.epilog = "toolcrib tools all shows every tool, toolcrib tools git those of a group."


def run(options: Namespace, flags: Flags) -> int:
    """Print the list."""
    if options.names:
        flags = replace(flags, profile=",".join(options.names))
    config = flags.load()
    from toolcrib.core.compat import systems_of
    from toolcrib.core.registry import Registry
    from toolcrib.surfaces.cli.mcp_servers import looked_at, unmet
    from toolcrib.toolbox import available

    found = available(config, retry=True)
    everything = found.tools
    off = config.switches.off()
    profile = config.listed_profile
    systems, unknown = systems_of(profile), unmet(config, found.skipped)
    registry = Registry(everything, config.tools.disabled, systems, off, unknown)
    registry.select(profile)  # says what is wrong in it
    listed = registry.listed(profile)
    disabled = [tool for tool in everything if registry.is_disabled(tool)]
    if options.json:
        data = _data(config.profile, registry, listed, disabled)
        left_out = [{"where": s.where, "reason": s.reason} for s in found.skipped]
        print(json.dumps({**data, "skipped": left_out}, indent=2))
    else:
        lines = _lines(config, registry, listed, disabled)
        lines += [wrapped(f"Left out: {s}.") for s in found.skipped]
        lines += [wrapped(f"Not known yet: the tools of {n}. {looked_at(n)}") for n in unknown]
        print("\n".join(lines))
    return 0


def _data(
    profile: str, registry: Registry, listed: list[Tool], disabled: list[Tool]
) -> dict[str, Any]:
    return {
        "profile": profile,
        "count": len(listed),
        "total": len(registry),
        "disabled": [tool.name for tool in disabled],
        "profiles": registry.profiles(),
        "tools": [
            {
                "name": tool.name,
                "group": tool.group,
                "description": tool.description,
                "rights": tool.rights.names,
                "profiles": list(tool.profiles),
                "aliases": list(tool.all_aliases),
                "schema": tool.schema,
            }
            for tool in listed
        ],
    }


def _lines(
    config: Config, registry: Registry, listed: list[Tool], disabled: list[Tool]
) -> list[str]:
    from toolcrib.core.languages import label, translated
    from toolcrib.system.language import chosen_language

    language = chosen_language(config.language)
    rows = table(
        [
            (
                tool.name,
                ", ".join(tool.rights.names) or "-",
                translated(tool.description, language, "descriptions", tool.name),
            )
            for tool in listed
        ],
        indent="  ",
        cut=False,
    )
    lines: list[str] = []
    group = None
    for tool, row in zip(listed, rows, strict=True):
        if tool.group != group:
            group = tool.group
            lines += ["", translated(group, language, "groups", group)]
        lines.append(row)
    counts = {"count": len(listed), "total": len(registry)}
    lines += ["", label("profile", language, profile=config.profile, **counts)]
    for setting in dict.fromkeys(registry.setting_of(tool) for tool in disabled):
        off = ", ".join(tool.name for tool in disabled if registry.setting_of(tool) == setting)
        lines.append(wrapped(label("switched_off", language, setting=setting, tools=off)))
    lines.append(wrapped(label("profiles", language, names=", ".join(registry.profiles()))))
    return lines[1:]
