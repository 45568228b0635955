"""The catalogue: what there is to know of each tool before its module is loaded.

It is a generated file beside the tools, `catalogue.json`: one line for each tool, with what is
derived from its declaration, and the names of all modules there. Listing, finding and resolving
work from it, so that a host need not wait until every tool is imported. The declarations stay
the truth: before a call, the tool's module is imported, and what it declares is what counts.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from toolcrib.core.errors import Unavailable
from toolcrib.core.tool import DeferredTool, Right, Tool

FILE = "catalogue.json"
FIELDS = ("name", "group", "destructive", "idempotent", "seconds", "concurrency")
TUPLES = ("keywords", "aliases", "profiles")


class CataloguedTool(DeferredTool):
    """A tool as the catalogue knows it. What only its module knows is taken from there.

    Args:
        module: the name of the module that declares it.
        entry: its line of the catalogue.
    """

    def __init__(self, module: str, entry: Mapping[str, Any]) -> None:
        facts: dict[str, Any] = {name: entry[name] for name in FIELDS}
        facts |= {name: tuple(entry[name]) for name in TUPLES}
        rights = Right.NONE
        for name in entry["rights"]:
            rights |= Right[name.upper()]
        facts |= {"rights": rights, "argument_aliases": entry["argument_aliases"]}
        facts |= {
            "may_use_fewer_rights": entry.get("fewer_rights", True),
            "has_own_rules": entry.get("own_rules", True),
        }
        # These would otherwise be made of the function when they are first looked at.
        facts |= {"schema": entry["schema"], "paragraphs": entry["doc"].split("\n\n")}
        facts |= {"unlisted_nodes": entry.get("unlisted", {})}
        facts |= {"parameter_texts": tuple(map(tuple, entry["parameters"]))}
        vars(self).update(facts, _module=module, _entry=entry)

    @property
    def is_loaded(self) -> bool:
        """Whether its module was imported for it already."""
        return "loaded" in vars(self)

    @cached_property
    def loaded(self) -> Tool:
        """The tool as its module declares it.

        Raises:
            Unavailable: as `load`.
        """
        return self.load()

    def load(self) -> Tool:
        """Import its module.

        Raises:
            Unavailable: that fails, or the module has no such tool any more.
        """
        try:
            module = import_module(self.module)
        except Exception as error:
            raise Unavailable(
                f"{self.name} cannot be loaded: {error!r}.",
                hint="The user starts toolcrib again, or installs it anew.",
            ) from error
        for found in vars(module).values():
            if isinstance(found, Tool) and found.name == self.name:
                self.__dict__["loaded"] = found
                if entry_of(found) != vars(self)["_entry"]:
                    line = f"the catalogue is older than {self.module}: run scripts/docs.py"
                    print(f"toolcrib: {line}", file=sys.stderr)  # noqa: T201
                return found
        raise Unavailable(
            f"{self.name} is no longer in {self.module}: toolcrib was changed while it runs.",
            hint="The user starts toolcrib again.",
        )

    @property
    def module(self) -> str:
        """The name of the module that declares it."""
        return str(vars(self)["_module"])


def entry_of(tool: Tool) -> dict[str, Any]:
    """What the catalogue holds of a tool, as JSON values."""
    return {
        **{name: getattr(tool, name) for name in FIELDS},
        **{name: list(getattr(tool, name)) for name in TUPLES},
        "rights": tool.rights.names,
        "fewer_rights": tool.may_use_fewer_rights,
        "own_rules": tool.has_own_rules,
        "argument_aliases": dict(tool.argument_aliases),
        "doc": "\n\n".join(tool.paragraphs),
        "schema": tool.schema,
        "unlisted": tool.unlisted_nodes,
        "parameters": [list(texts) for texts in tool.parameter_texts],
    }


def catalogue(package: ModuleType, tools: Iterable[Tool]) -> str:
    """The file for the tools of a package."""
    inside = len(package.__name__) + 1
    lines = {f"{tool.module[inside:]} {tool.name}": entry_of(tool) for tool in tools}
    listed = ",\n".join(
        f"{json.dumps(where)}: {json.dumps(entry, ensure_ascii=False)}"
        for where, entry in sorted(lines.items())
    )
    names = ",\n".join(map(json.dumps, sorted(_modules(package))))
    return f'{{"modules": [\n{names}\n],\n"tools": {{\n{listed}\n}}}}\n'


def catalogued(package: ModuleType) -> list[Tool] | None:
    """The tools of a package by its catalogue; None where that does not fit what is there.

    A module that was added or taken away since makes it unfit: then each is to be looked at.
    """
    try:
        text = Path(package.__path__[0], FILE).read_text(encoding="utf-8")
        known = json.loads(text)
        if known["modules"] != sorted(_modules(package)):
            return None
        return [
            CataloguedTool(f"{package.__name__}.{where.partition(' ')[0]}", entry)
            for where, entry in known["tools"].items()
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _modules(package: ModuleType) -> Iterator[str]:
    """The modules below a package by the names of their files, `files.read_file`."""

    def below(folder: str, before: str) -> Iterator[str]:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield f"{before}{entry.name.removesuffix('.py')}"
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    yield from below(entry.path, f"{before}{entry.name}.")

    return below(package.__path__[0], "")
