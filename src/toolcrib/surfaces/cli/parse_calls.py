"""`toolcrib parse-calls`: what a model's text says, thinks and calls."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import json_text


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", nargs="?", default="-", help="the text; - or nothing reads stdin")
    parser.add_argument(
        "--tools",
        metavar="FILE",
        help="the offered tools as JSON: an array in OpenAI's form; without it, toolcrib's own",
    )
    parser.add_argument("--reasoning", action="store_true", help="the text begins in reasoning")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.epilog = "The end is 0 where a call was found, 1 where none was."


def run(options: Namespace, flags: Flags) -> int:
    """Print the calls, one a line, or everything as JSON."""
    from toolcrib.toolcalls import parse_tool_calls

    tools = _tools(options.tools) if options.tools else _own(flags)
    found = parse_tool_calls(_read(options.file), tools, reasoning=options.reasoning)
    if options.json:
        print(json_text(found.to_json(), indent=2))
        return 0 if found.calls else 1
    for call in found.calls:
        print(f"{call.name} {json_text(call.arguments)}")
    for note in found.diagnostics:
        print(f"{note.code}: {note.message}", file=sys.stderr)
    if not found.calls and not found.diagnostics:
        print("toolcrib: there is no tool call in this text.", file=sys.stderr)
    return 0 if found.calls else 1


def _own(flags: Flags) -> list[dict[str, Any]]:
    from toolcrib.core.registry import Registry
    from toolcrib.toolbox import available

    config = flags.load()
    tools = Registry(available(config).tools, config.tools.disabled).select("all")
    return [{"name": tool.name, "parameters": tool.schema} for tool in tools]


def _tools(file: str) -> list[Any]:
    from toolcrib.toolcalls.tool_schemas import ToolSchemas

    hint = "Give an array of tools as a request to a model has it."
    try:
        value = json.loads(_read(file))
    except ValueError as error:
        raise BadInput(f"{file} is not JSON: {error}.", hint=hint) from None
    if isinstance(value, dict) and isinstance(value.get("tools"), list):
        value = value["tools"]
    tools = value if isinstance(value, list) else [value]
    if not ToolSchemas(tools):
        raise BadInput(f"{file} holds no tool.", hint=hint)
    return tools


def _read(file: str) -> str:
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise BadInput(
            f"{file} cannot be read: {error.strerror}.", hint="Check the path."
        ) from None
