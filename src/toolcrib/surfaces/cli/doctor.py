"""`toolcrib doctor`: what works on this machine, and the one line that would enable the rest."""

from __future__ import annotations

import asyncio
import platform
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from toolcrib.core.errors import ConfigError, ToolError
from toolcrib.core.version import VERSION
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import json_text, wrapped

if TYPE_CHECKING:
    from toolcrib.core.config import Config
    from toolcrib.surfaces.cli.checks import Check


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.add_argument(
        "--offline",
        action="store_true",
        help="leave out what needs the network (a name look-up, your own search instances)",
    )
    parser.epilog = "exit status: 0, or 1 when something is broken that is needed or configured"


def run(options: Namespace, flags: Flags) -> int:
    """Check and print; a broken configuration is one of the findings."""
    config, first = _configuration(flags)
    found = [first, *asyncio.run(run_all(config, offline=options.offline))]
    broken = [check for check in found if check.state == "broken" and check.essential]
    if options.json:
        data = {
            "version": VERSION,
            "ok": not broken,
            "checks": [check.to_json() for check in found],
        }
        print(json_text(data, indent=2))
    else:
        _show(found)
        print(_verdict(found, broken))
    return 1 if broken else 0


async def run_all(config: Config, *, offline: bool = False) -> list[Check]:
    """Every check, in the order in which they are shown."""
    from toolcrib.core.context import Services
    from toolcrib.surfaces.cli import checks, peer_checks
    from toolcrib.surfaces.cli.checks import Check

    probes = [
        checks.python,
        checks.store,
        checks.workspace,
        checks.backups,
        checks.opener,
        checks.web,
    ]
    probes += [] if offline else [checks.names]
    probes += [checks.offline if offline else checks.online]
    probes += [peer_checks.unprobed_servers if offline else peer_checks.model_servers]
    probes += [peer_checks.host_entries]
    probes += [
        checks.token,
        checks.programs,
        checks.finder,
        checks.documents,
        checks.sandbox,
        checks.browser,
        checks.extras,
        peer_checks.own_tools,
    ]
    probes += [] if offline else [peer_checks.mcp_servers]
    found: list[Check] = []
    async with Services(config) as services:
        for probe in probes:
            try:
                found += await probe(services)
            except Exception as error:  # noqa: BLE001 - a check that fails is a finding
                message = error.message if isinstance(error, ToolError) else repr(error)
                hint = error.hint if isinstance(error, ToolError) else ""
                needed = probe in (checks.store, checks.workspace)
                found.append(Check(probe.__name__, "broken", message, hint, essential=needed))
    return found


def _configuration(flags: Flags) -> tuple[Config, Check]:
    from toolcrib.core.config import Config
    from toolcrib.surfaces.cli.checks import Check
    from toolcrib.surfaces.cli.settings_check import faults, unmatched_rules

    file = flags.file
    detail = str(file) if file.is_file() else f"the defaults; there is no {file}"
    try:
        config = flags.load()
        found = faults(config)  # folders and providers have checks of their own
        wrong = [f"profile: {found['profile'].message}"] if "profile" in found else []
        if config.problems or wrong:
            detail = "; ".join([*config.problems, *wrong])
            fix = f"correct {file}, or the variable"
            return config, Check("configuration", "broken", detail, fix, essential=True)
        detail = "; ".join([detail, *config.renamed, *unmatched_rules(config)])
        return config, Check("configuration", "ok", detail, essential=True)
    except ConfigError as error:
        fix = error.hint or f"correct {file}"
        return Config.instead_of(file), Check(
            "configuration", "broken", error.message, fix, essential=True
        )


def _show(found: list[Check]) -> None:
    print(f"toolcrib {VERSION} on {platform.system()} {platform.release()}\n")
    size = max(len(check.name) for check in found)
    for check in found:
        lines = wrapped(check.detail, indent=" " * (size + 11)).lstrip()
        print(f"{check.state:<7}  {check.name:<{size}}  {lines}")
        if check.fix and check.state in ("missing", "broken"):
            # Not wrapped: it is there to be copied.
            print(f"{' ' * (size + 11)}-> {check.fix}")


def _verdict(found: list[Check], broken: list[Check]) -> str:
    if broken:
        return f"\nBroken: {', '.join(dict.fromkeys(check.name for check in broken))}."
    spare = list(dict.fromkeys(check.name for check in found if check.state == "broken"))
    works = f"It works, except: {', '.join(spare)}." if spare else "It works."
    missing = sum(check.state == "missing" for check in found)
    if missing:
        return f"\n{works} {missing} more could be enabled as shown."
    return f"\n{works}" if spare else "\nEverything works."
