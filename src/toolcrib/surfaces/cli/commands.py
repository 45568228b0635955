"""Which commands there are; nothing of them is loaded until one is asked for."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from toolcrib.surfaces.cli.flags import Flags

    Run = Callable[[Namespace, Flags], int]

COMMANDS = {
    "mcp": "serve one MCP client over stdin and stdout",
    "serve": "serve MCP and OpenAPI over HTTP",
    "proxy": "stand before model servers, with mended tool calls, memory and tools",
    "lmstudio": "be a plugin of LM Studio: tools, prompts with memory and documents, a model",
    "chat": "talk with a model of yours that has these tools",
    "call": "call one tool",
    "tools": "list the tools",
    "help": "show how a tool or a command is used",
    "completion": "print what bash, zsh or fish completes",
    "parse-calls": "find the tool calls in a model's text",
    "history": "show recent calls",
    "undo": "take back what was changed in files",
    "memory": "show and change what is remembered",
    "agent": "show what agents did, step by step",
    "browser": "log in to sites for the browser of this workspace",
    "approve": "list, approve or refuse calls that wait for a person",
    "config": "show or change the settings, and where each value comes from",
    "cache": "show or clear what is kept of the web",
    "doctor": "check what works on this machine",
    "install": "add toolcrib to an application",
    "uninstall": "take it out again",
    "import": "take over settings and memories of other systems",
}
MODULES = {"import": "imports"}
"""Where the module of a command is not called like it."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is called with, and what it does."""

    name: str
    summary: str
    arguments: Callable[[ArgumentParser], None]
    run: Run


def load(name: str) -> Command:
    """The command of this name; its module has `arguments(parser)` and `run(options, flags)`."""
    module = import_module(f"toolcrib.surfaces.cli.{MODULES.get(name, name).replace('-', '_')}")
    return Command(name, COMMANDS[name], module.arguments, cast("Run", module.run))
