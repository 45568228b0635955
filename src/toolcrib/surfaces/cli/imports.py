"""`toolcrib import`: settings and memories of other systems, taken over from where they lie."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.core.errors import BadInput, NoResults
from toolcrib.surfaces.cli import config_file
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.foreign_settings import (
    ForeignSettings,
    candidates,
    of_environment,
    of_file,
)
from toolcrib.surfaces.cli.screen import visible
from toolcrib.text.display import counted
from toolcrib.text.toml_values import inline_toml

WHERE = """\
Without files it looks for settings of plugins in LM Studio's home folder, for
mcp-config.json in the current folder, and for LLM_CHAT_WEB_* variables. Keys of
services are not copied: the setting names the variable. What you have set
yourself stays.

Memories and plans of other systems are found in the current folder by these
names: .memories.db, .memories.json, .ai_toolbox_memory.json,
.ai_toolbox_plans.json, memory.jsonl.
Files of other names (JSON, JSONL, Markdown, SQLite) are to be named. They are
kept for the project of the current folder, all of a file or nothing;
`toolcrib memory import` keeps them for you, in every folder.

examples:
  toolcrib import
  toolcrib import mcp-config.json
  toolcrib import memories.json --write
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = WHERE
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="settings or memories of another system"
    )
    parser.add_argument("--write", action="store_true", help="write them; else they are shown")


def run(options: Namespace, flags: Flags) -> int:
    """Show what was found, and write it where that was asked for."""
    files = [Path(name).expanduser() for name in options.files]
    memories = _memory_files(files)
    found = (
        []
        if files and len(memories) == len(files)
        else list(_found([file for file in files if file not in memories]))
    )
    if memories:
        asyncio.run(_take_memories(memories, flags, write=options.write))
    if memories and not found:
        return 0
    if not found:
        raise NoResults(
            "No settings or memories of another system were found.",
            hint="Name the file: toolcrib import FILE. toolcrib import --help says where it looks.",
        )
    fresh: dict[str, Any] = {}
    file = flags.file
    there = _read(file)
    for one in found:
        _tell(one, fresh, there)
    if not fresh:
        print("Nothing to write. Files of memories: toolcrib memory import FILE.")
        return 0 if memories or any(one.values for one in found) else 1
    if options.write:
        config_file.add_values(file, fresh)
        print(f"Written to {file}: {counted(len(fresh), 'setting')}.")
    else:
        what = counted(len(fresh), "setting")
        print(f"Nothing is written yet: toolcrib import --write puts {what} into {file}.")
    return 0


def _memory_files(files: list[Path]) -> list[Path]:
    """Those of some files that are about memories; without files, those in this folder."""
    from toolcrib.surfaces.cli.foreign_memories import beside, holds_memories

    try:
        return [file for file in files if holds_memories(file)] if files else beside(Path.cwd())
    except OSError as error:
        raise BadInput(f"{error.filename} cannot be read: {error.strerror}.") from None


async def _take_memories(files: list[Path], flags: Flags, *, write: bool) -> None:
    """Show what files remember, or take it over."""
    from toolcrib.core.context import Services
    from toolcrib.surfaces.cli.foreign_memories import PLANS, memories_of, plans_of, take_plans
    from toolcrib.surfaces.cli.memory import take_in

    async with Services(flags.load()) as services:
        for file in files:
            is_plans = file.name == PLANS
            if not write:
                count = len(plans_of(file) if is_plans else memories_of(file).memories)
                what = ("plan", "plans") if is_plans else ("memory", "memories")
                found = counted(count, *what)
                print(f"{visible(str(file))}: {found}, taken over with --write.")
            elif is_plans:
                count = await take_plans(services, plans_of(file))
                taken = counted(count, "plan")
                print(f"{visible(str(file))}: {taken} taken over; the file stays as it is.")
            else:
                await take_in(services, file, for_project=True)


def _read(file: Path) -> Mapping[str, Any]:
    from toolcrib.core.config import read_toml

    return read_toml(file) if file.is_file() else {}


def _found(files: list[Path]) -> Iterable[ForeignSettings]:
    from toolcrib.execution.interpreters.lmstudio import lmstudio_home

    for path in files:
        try:
            one = of_file(path, named=True)
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"{path} cannot be read: {error}.") from None
        if one is not None:
            yield one
    if files:
        return
    for path in candidates(lmstudio_home(), Path.cwd()):
        try:
            one = of_file(path, named=False)
        except (OSError, ValueError, RecursionError):
            continue  # one of many files that may be anything
        if one is not None:
            yield one
    variables = of_environment(os.environ)
    if variables is not None:
        yield variables


def _tell(found: ForeignSettings, fresh: dict[str, Any], there: Mapping[str, Any]) -> None:
    """Print what a source says, and add what is new and fits."""
    from toolcrib.core.config import stands_in

    of = f" ({found.system})" if found.system else ""
    print(f"{visible(found.source)}{of}")
    for key, setting, value in found.values:
        if value == []:
            continue
        fault = _fault(setting, value) if all(setting.split(".")) else "lacks a name"
        if fault:
            outcome = f"left out: {setting} {fault}"
        elif stands_in(there, setting.split(".")):
            outcome = f"{setting} is set already, and stays"
        else:
            known = fresh.get(setting)
            is_list = isinstance(known, list) and isinstance(value, list)
            fresh[setting] = [*known, *value] if is_list else value  # type: ignore[misc]
            outcome = f"{setting} = {inline_toml(value)}"
        print(f"  {visible(key)}: {visible(outcome)}")
    if _has_servers(found.source):
        print("  its MCP servers are not taken over: add them under [mcp.servers] of the settings")
    if found.unknown:
        listed = ", ".join(sorted(found.unknown)[:30])
        print(f"  no setting here: {visible(listed)}", file=sys.stdout)


def _has_servers(source: str) -> bool:
    """Whether a file lists MCP servers, as hosts write them."""
    try:
        return '"mcpServers"' in Path(source).read_text("utf-8")
    except (OSError, ValueError):
        return False


def _fault(setting: str, value: Any) -> str:
    """Why a value does not fit its setting; empty where it does."""
    from pydantic import ValidationError

    from toolcrib.core.config import Config, nested

    try:
        Config.model_validate(nested(setting.split("."), value))
    except ValidationError as error:
        return error.errors()[0]["msg"].lower()
    return ""
