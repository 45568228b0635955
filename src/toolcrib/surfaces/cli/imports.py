"""`toolcrib import`: settings and memories of other systems, taken over from where they lie."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.surfaces.cli.config import inline, toml_key
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.foreign_settings import (
    ForeignSettings,
    candidates,
    of_environment,
    of_file,
)
from toolcrib.text.display import counted

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
    from toolcrib.core.errors import NoResults

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
    file = Path(flags.config).expanduser() if flags.config else _user_file()
    there = _read(file)
    for one in found:
        _tell(one, fresh, there)
    if not fresh:
        print("Nothing to write. Files of memories: toolcrib memory import FILE.")
        return 0 if memories or any(one.values for one in found) else 1
    if options.write:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text("utf-8") if file.is_file() else ""
        file.write_text(with_settings(text, fresh), "utf-8")
        print(f"Written to {file}: {counted(len(fresh), 'setting')}.")
    else:
        what = counted(len(fresh), "setting")
        print(f"Nothing is written yet: toolcrib import --write puts {what} into {file}.")
    return 0


def _memory_files(files: list[Path]) -> list[Path]:
    """Those of some files that are about memories; without files, those in this folder."""
    from toolcrib.core.errors import BadInput
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
    from toolcrib.surfaces.cli.screen import visible

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


def _user_file() -> Path:
    from toolcrib.core.config import user_config_file

    return user_config_file()


def _read(file: Path) -> Mapping[str, Any]:
    from toolcrib.core.config import read_toml

    return read_toml(file) if file.is_file() else {}


def _found(files: list[Path]) -> Iterable[ForeignSettings]:
    from toolcrib.core.errors import BadInput
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
    from toolcrib.surfaces.cli.screen import visible

    of = f" ({found.system})" if found.system else ""
    print(f"{visible(found.source)}{of}")
    for key, setting, value in found.values:
        if value == []:
            continue
        fault = _fault(setting, value)
        if fault:
            outcome = f"left out: {setting} {fault}"
        elif stands_in(there, setting.split(".")):
            outcome = f"{setting} is set already, and stays"
        else:
            known = fresh.get(setting)
            is_list = isinstance(known, list) and isinstance(value, list)
            fresh[setting] = [*known, *value] if is_list else value  # type: ignore[misc]
            outcome = f"{setting} = {inline(value)}"
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


def with_settings(text: str, fresh: Mapping[str, Any]) -> str:
    """TOML text with settings added that it does not have, comments and order kept.

    Args:
        text: the file as it is.
        fresh: settings by their dotted names.
    """
    lines = text.split("\n") if text else []
    for setting, value in fresh.items():
        *tables, name = setting.split(".")
        entry = f"{toml_key(name)} = {inline(value)}"
        header = f"[{'.'.join(map(toml_key, tables))}]"
        at = next((n for n, line in enumerate(lines) if _bare(line) == header), None)
        if at is not None:
            lines.insert(at + 1, entry)
        elif tables:
            while lines and not lines[-1].strip():
                lines.pop()
            lines += ["", header, entry] if lines else [header, entry]
        else:
            first = next((n for n, ln in enumerate(lines) if ln.startswith("[")), len(lines))
            lines.insert(first, entry)
    return "\n".join(lines).rstrip("\n") + "\n"


def _bare(line: str) -> str:
    """The header of a table without spaces and a comment."""
    return line.partition("#")[0].replace(" ", "").strip()
