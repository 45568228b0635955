"""`toolcrib help`: the manual of a tool, or how a command is used."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from toolcrib.core.errors import UnknownTool
from toolcrib.surfaces.cli.commands import COMMANDS, load
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import wrapped

if TYPE_CHECKING:
    from toolcrib.core.tool import Tool

EXAMPLES = {
    "list_directory": "src depth=2",
    "directory_tree": ". depth=2",
    "read_file": "notes.md lines=20",
    "file_info": "notes.md",
    "find_files": '"*.md"',
    "search_files": "TODO glob='*.py' context=1",
    "write_file": "new.txt content='one line'",
    "append_file": "notes.md content='one more line'",
    "edit_file": "notes.md old=draft new=final",
    "edit_lines": "notes.md operation=insert start=1 content='a first line'",
    "replace_in_files": "TODO replacement=DONE glob='*.py'",
    "make_directory": "drafts",
    "copy_path": "notes.md destination=copy.md",
    "move_path": "notes.md destination=old.md",
    "delete_path": "notes.md",
    "diff_files": "notes.md b=src/app.py",
    "list_changes": "",
    "project_overview": "depth:=1",
    "get_workspace": "",
    "code_outline": "src/app.py",
    "find_symbol": "main",
    "run_command": "'ls -l'",
    "run_python": "'print(6 * 7)'",
    "read_document": "notes.md",
    "search_tools": "'rename a symbol'",
    "tool_help": "read_file",
    "web_search": "'rust borrow checker' limit=3",
    "fetch_url": "https://example.org",
}
"""A call of a tool that runs as it stands, in a folder with `notes.md` and `src/app.py`."""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("name", metavar="TOOL", nargs="?", help="a tool, or a command")


def run(options: Namespace, flags: Flags) -> int:
    """Print it."""
    from toolcrib.surfaces.cli import main

    if options.name is None:
        main.overview().print_help()
    elif options.name in COMMANDS:
        main.parser_of(load(options.name)).print_help()
    else:
        _manual(options.name, flags)
    return 0


def _manual(name: str, flags: Flags) -> None:
    from toolcrib.core.names import plain
    from toolcrib.core.registry import Registry
    from toolcrib.surfaces.cli.mcp_servers import looked_at, unmet
    from toolcrib.toolbox import available
    from toolcrib.tools.meta.tool_help import manual

    config = flags.load()
    found = available(config)
    try:
        tool = Registry(found.tools).resolve(name)
    except UnknownTool as error:
        servers = [n for n in unmet(config, found.skipped) if plain(name).startswith(plain(n))]
        if servers:
            error.hint = f"The tools of {servers[0]} are not known yet. {looked_at(servers[0])}"
        raise
    for line in manual(tool).splitlines():
        text = wrapped(line.removeprefix("- "), indent="  " if line.startswith("- ") else "")
        print(text)
    words = EXAMPLES.get(tool.name) or example_words(tool)
    print(f"\nexample:\n  toolcrib call {tool.name} {words}".rstrip())


def example_words(tool: Tool) -> str:
    """What a call of a tool takes at least, as words of `toolcrib call`."""
    import json
    import shlex

    from toolcrib.agents.sample_calls import SAMPLES

    given = SAMPLES.get(tool.name, {})
    written = [
        f"{name}={shlex.quote(value)}"
        if isinstance(value, str)
        else f"{name}:={shlex.quote(json.dumps(value))}"
        for name, value in given.items()
    ]
    return " ".join(written or [f"{p.name}=..." for p in tool.parameters if p.required])
