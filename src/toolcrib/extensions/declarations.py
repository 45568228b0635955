"""The tools that a module declares, and which of them can be used.

It runs in the process that only looks at them, and in the one that calls them.
"""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from toolcrib.core.catalogue import entry_of
from toolcrib.core.tool import Tool

PACKAGE = "toolcrib_own"
"""The package as which the user's folder of tools is imported."""
TOOLS_ATTRIBUTE = "tools"
"""The name under which a module may have a list of tools, or a function that makes one."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
GROUP = re.compile(r"[a-z][a-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True)
class ToolOrigin:
    """Where tools are declared.

    `folder` is that of the user's files, and empty for a package; `module` is imported, and
    `attribute`, where there is one, is what in it says which tools there are.
    """

    module: str
    attribute: str = ""
    folder: str = ""

    def to_json(self) -> dict[str, str]:
        """The origin as JSON values."""
        return {"module": self.module, "attribute": self.attribute, "folder": self.folder}


@dataclass(slots=True)
class Declared:
    """What was found: usable tools by name, and in words why others are not."""

    tools: dict[str, Tool] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values, each tool as its line of a catalogue."""
        entries = [{"module": t.module, **entry_of(t)} for t in self.tools.values()]
        return {"tools": entries, "skipped": self.skipped}


def declared(origin: ToolOrigin) -> Declared:
    """Import an origin and look at its tools.

    Raises:
        BaseException: whatever the import raises, SystemExit too.
    """
    import_origin(origin)
    found = Declared()
    for tool in _tools_of(origin):
        reason = _unusable(tool)
        if not isinstance(tool, Tool):
            found.skipped.append(reason)
        elif reason:
            found.skipped.append(f"{tool.name}: {reason}")
        elif tool.name in found.tools and found.tools[tool.name] is not tool:
            found.skipped.append(f"{tool.name}: it is declared twice")
        else:
            found.tools[tool.name] = tool
    if not found.tools and not found.skipped:
        found.skipped.append("it declares no tool: write @tool above a function")
    return found


def import_origin(origin: ToolOrigin) -> None:
    """Import what declares the tools.

    Raises:
        BaseException: as `declared`.
    """
    if origin.folder:
        _be_package(origin.folder)
    import_module(origin.module)


def _be_package(folder: str) -> None:
    """Let files of the folder import each other as `toolcrib_own.NAME`."""
    package = sys.modules.get(PACKAGE)
    if package is None:
        package = sys.modules[PACKAGE] = ModuleType(PACKAGE)
    package.__path__ = [folder]


def _tools_of(origin: ToolOrigin) -> list[Any]:
    module = import_module(origin.module)
    if origin.attribute:
        found: Any = module
        for part in origin.attribute.split("."):
            found = getattr(found, part)
        return _listed(found)
    if not hasattr(module, "__path__"):
        return _declared_in(module)
    below = pkgutil.walk_packages(module.__path__, f"{module.__name__}.")
    modules = [module, *(import_module(inner.name) for inner in below if not inner.ispkg)]
    return [tool for each in modules for tool in _declared_in(each)]


def _declared_in(module: ModuleType) -> list[Any]:
    """Those of its functions, and of its list."""
    known = vars(module)
    tools: list[Any] = [
        value
        for value in known.values()
        if isinstance(value, Tool) and value.function.__module__ == module.__name__
    ]
    listed = known.get(TOOLS_ATTRIBUTE)
    if listed is not None and not isinstance(listed, Tool | ModuleType):
        tools += [tool for tool in _listed(listed) if tool not in tools]
    return tools


def _listed(value: Any) -> list[Any]:
    """A tool, a list of tools, a module, or a function that gives one of these."""
    if isinstance(value, ModuleType):
        return _declared_in(value)
    if not isinstance(value, Tool) and callable(value):
        value = value()
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    return [value]


def _unusable(tool: Any) -> str:
    """Why a tool cannot be used; empty where it can."""
    if not isinstance(tool, Tool):
        return f"{str(type(tool).__name__)[:80]} is no tool: write @tool above a function"
    if not NAME.fullmatch(tool.name):
        return "a name has letters, digits and underscores, 64 at most"
    if not GROUP.fullmatch(str(tool.group)):
        return f"'{str(tool.group)[:40]}' is no name of a group: small letters, digits, - and _"
    if not tool.description:
        return "its docstring has no first line, which a model reads"
    try:
        json.dumps(entry_of(tool))
    except Exception as error:  # noqa: BLE001 - annotations are the user's, and may be anything
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def in_words(error: BaseException, file: str = "") -> str:
    """What went wrong at the import, with the line of the file in which it did."""
    if isinstance(error, SystemExit):
        return "it ends the program when it is imported (SystemExit)"
    text = " ".join(str(error).split())[:300]
    line = _line_of(error, file)
    place = f" (line {line})" if line and f"line {line}" not in text else ""
    return f"{type(error).__name__}: {text}{place}" if text else f"{type(error).__name__}{place}"


def _line_of(error: BaseException, file: str) -> int:
    """The last line of the file on the way to the error."""
    line, step = 0, error.__traceback__
    while step is not None:
        if file and step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line
