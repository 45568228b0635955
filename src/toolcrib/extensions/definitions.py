"""What is known of another server's tools: as they were accepted, and as they are now.

A definition is text of somebody else that a model reads before each choice. So the first one is
noted, and one that changes later is held back until the user has accepted it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from toolcrib.core.config import data_folder
from toolcrib.core.extension_settings import McpServerConfig
from toolcrib.core.live_settings import Stamp, stamp_of
from toolcrib.core.names import plain
from toolcrib.extensions.json_files import read_object, write_object

FOLDER = "mcp"
MAX_TOOLS = 500
MAX_DEFINITION_CHARS = 60_000
MAX_NAME = 64
HASH_CHARS = 6
UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
FIELDS = ("name", "title", "description", "inputSchema", "annotations")
"""What a definition is: what a model is shown, and what is promised of it."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as its server defines it: `content` has the fields of `FIELDS` that it has.

    `digest` changes with every change of it; each call compares two.
    """

    content: Mapping[str, Any]
    digest: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        text = json.dumps(self.content, sort_keys=True, ensure_ascii=True)
        object.__setattr__(self, "digest", hashlib.sha256(text.encode()).hexdigest())

    @classmethod
    def of(cls, tool: Mapping[str, Any]) -> Self:
        """Of a tool as `tools/list` has it, in the names of the protocol."""
        return cls({name: tool[name] for name in FIELDS if tool.get(name) is not None})

    @property
    def name(self) -> str:
        """Its name on the server."""
        return str(self.content.get("name", ""))

    @property
    def fits(self) -> bool:
        """Whether it has a name, and is not longer than any tool needs."""
        return bool(self.name) and len(json.dumps(self.content)) <= MAX_DEFINITION_CHARS


@dataclass(frozen=True, slots=True)
class DefinitionChanges:
    """How what a server says now differs from what was accepted, by names on the server."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    def __str__(self) -> str:
        """In words."""
        parts = (("new", self.added), ("changed", self.changed), ("gone", self.removed))
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)


@dataclass(slots=True)
class ServerFacts:
    """What is known of one server.

    `accepted` are the definitions that count, `current` those that it had at its last start.
    """

    file: Path
    identity: str
    accepted: dict[str, ToolDefinition] = field(default_factory=dict)
    current: dict[str, ToolDefinition] = field(default_factory=dict)
    is_met: bool = False
    stamp: Stamp = None

    @classmethod
    def load(cls, name: str, server: McpServerConfig) -> Self:
        """As they were written; nothing for a server that is another one by now."""
        found = cls(data_folder() / FOLDER / f"{name}.json", identity_of(server))
        found.reload()
        return found

    def reload(self) -> bool:
        """Read them again where another process has written; whether it has."""
        stamp = stamp_of(self.file)
        if stamp == self.stamp:
            return False
        self.stamp = stamp
        content = read_object(self.file)
        is_same = content.get("identity") == self.identity
        self.is_met = is_same
        self.accepted = _read(content.get("accepted")) if is_same else {}
        self.current = _read(content.get("current")) if is_same else {}
        return True

    def note(self, tools: Iterable[ToolDefinition]) -> DefinitionChanges:
        """Take over what a server says now; the first time it is accepted as it is.

        Raises:
            StorageFailure: it cannot be written.
        """
        self.reload()
        current = {tool.name: tool for tool in tools}
        changes = differences(self.accepted, current) if self.is_met else DefinitionChanges()
        if self.is_met and current == self.current:
            return changes
        self.current = current
        if not self.is_met:
            self.accepted, self.is_met = dict(current), True
        self._write()
        return changes

    def accept(self) -> None:
        """Let what the server says now count.

        Raises:
            StorageFailure: it cannot be written.
        """
        self.accepted, self.is_met = dict(self.current), True
        self._write()

    @property
    def changes(self) -> DefinitionChanges:
        """What waits to be accepted."""
        return differences(self.accepted, self.current)

    def held_back(self, name: str) -> str:
        """Why a tool that was accepted may not be called now; empty where it may."""
        now, accepted = self.current.get(name), self.accepted.get(name)
        if now is None or accepted is None:
            return "the server does not have it any more"
        if now.digest != accepted.digest:
            return "the server has changed what it says of it"
        return ""

    def _write(self) -> None:
        content = {
            "identity": self.identity,
            "accepted": [dict(tool.content) for tool in self.accepted.values()],
            "current": [dict(tool.content) for tool in self.current.values()],
        }
        write_object(self.file, content)
        self.stamp = stamp_of(self.file)


def identity_of(server: McpServerConfig) -> str:
    """Which server it is: the program with its arguments, or the address."""
    text = json.dumps([server.command, server.args, server.cwd, server.url])
    return hashlib.sha256(text.encode()).hexdigest()


def differences(
    accepted: Mapping[str, ToolDefinition], current: Mapping[str, ToolDefinition]
) -> DefinitionChanges:
    """What is new, changed and gone."""
    return DefinitionChanges(
        tuple(sorted(current.keys() - accepted.keys())),
        tuple(
            sorted(n for n in current.keys() & accepted if current[n].digest != accepted[n].digest)
        ),
        tuple(sorted(accepted.keys() - current.keys())),
    )


def listed_names(server: str, names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """The name under which each tool of a server stands here, by its name there.

    It is `SERVER_tool`, in letters, digits, dashes and underscores, 64 at most. Where that would
    be the name of another tool, also in another case or with other dashes, a part of the hash
    of the name there follows: of each of them, so that it does not depend on the order.
    """
    names = list(dict.fromkeys(names))
    short = {name: f"{server}_{UNFIT.sub('_', name).strip('_') or 'tool'}" for name in names}
    count: dict[str, int] = {}
    for text in short.values():
        count[plain(text)] = count.get(plain(text), 0) + 1
    held = {plain(name) for name in taken}
    found = {}
    for name, text in short.items():
        if len(text) > MAX_NAME or plain(text) in held or count[plain(text)] > 1:
            mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]
            text = f"{text[: MAX_NAME - HASH_CHARS - 1]}_{mark}"  # noqa: PLW2901
        if plain(text) not in held:  # else two hashes are alike, and it is left out
            held.add(plain(text))
            found[name] = text
    return found


def wanted(server: McpServerConfig, tools: Iterable[ToolDefinition]) -> list[ToolDefinition]:
    """Those that the user wants, of those that fit."""
    fitting = [tool for tool in tools if tool.fits][:MAX_TOOLS]
    return [tool for tool in fitting if any(fnmatchcase(tool.name, g) for g in server.tools)]


def _read(content: Any) -> dict[str, ToolDefinition]:
    if not isinstance(content, list):
        return {}
    tools = [ToolDefinition.of(item) for item in content if isinstance(item, dict)]
    return {tool.name: tool for tool in tools if tool.name}
