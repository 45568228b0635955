"""The flags that every command takes, before its name or after it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.core.config import Config

NAMES = ("--config", "--profile", "--workspace", "--set")
"""Each takes a value."""


def declare(parser: ArgumentParser) -> None:
    """Add the flags to a parser."""
    group = parser.add_argument_group("options of every command")
    group.add_argument("--config", metavar="FILE", help="read this file instead of your own")
    group.add_argument(
        "--profile", metavar="NAMES", help="which tools: profiles, groups and tools, by commas"
    )
    group.add_argument(
        "--workspace",
        metavar="DIR",
        action="append",
        help="a folder that the tools may use; repeat for more",
    )
    group.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        dest="settings",
        help="a setting, like web.search.limit=5; repeat for more",
    )


@dataclass(frozen=True, slots=True)
class Flags:
    """What was given for them."""

    config: str | None = None
    profile: str | None = None
    workspace: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @classmethod
    def of(cls, before: Namespace, after: Namespace) -> Flags:
        """The flags before the command and those after it as one; the later wins."""
        return cls(
            config=after.config or before.config,
            profile=after.profile or before.profile,
            workspace=(*(before.workspace or ()), *(after.workspace or ())),
            settings=(*(before.settings or ()), *(after.settings or ())),
        )

    @property
    def file(self) -> Path:
        """The file of settings that is meant."""
        from toolcrib.core.config import user_config_file

        return Path(self.config).expanduser() if self.config else user_config_file()

    def layer(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The settings that they make, with `more` over them.

        Raises:
            ConfigError: `--set` was not given as key=value.
        """
        from toolcrib.core.config import merge, setting
        from toolcrib.core.errors import ConfigError

        layer: dict[str, Any] = {}
        for text in self.settings:
            key, equals, value = text.partition("=")
            if not equals or not key.strip(". "):
                raise ConfigError(
                    f"--set {text[:80]} is not understood.",
                    hint="Write --set key=value, like --set web.search.limit=5.",
                )
            layer = merge(layer, setting(key.strip().split("."), value, f"--set {key.strip()}"))
        if self.profile:
            layer["profile"] = self.profile
        if self.workspace:
            layer = merge(layer, {"workspace": {"roots": self.roots}})
        return merge(layer, more or {})

    def load(self, more: Mapping[str, Any] | None = None) -> Config:
        """The configuration with these flags over it.

        Raises:
            ConfigError: the file, the environment or a flag is wrong.
        """
        from toolcrib.core.config import Config

        return Config.load(self.layer(more), self.config)

    def load_for_server(self, more: Mapping[str, Any] | None = None) -> Config:
        """As `load`, for what runs on: nothing that others can write is imported from here on.

        Raises:
            ConfigError: as `load`; another toolcrib than the installed one was started.
        """
        from toolcrib.files.paths import chosen_roots
        from toolcrib.system.installation import drop_beneath, require_isolated

        config = self.load(more)
        roots = chosen_roots(config)
        folders = ", ".join(roots) or "none given (the host's, or an empty scratch folder)"
        where = f"folder: {folders}; profile: {config.profile}"
        for line in (*require_isolated(), *drop_beneath(roots), *config.problems, where):
            print(f"toolcrib: {line}", file=sys.stderr)
        return config

    def require_folders(self) -> None:
        """Refuse folders that are none.

        Raises:
            BadInput: naming the first.
        """
        from toolcrib.surfaces.cli.folders import folder_fault

        for folder in self.roots:
            if "${" not in folder and (fault := folder_fault(folder)) is not None:
                fault.message = f"{fault.message.rstrip('.')}, so nothing was begun."
                raise fault

    @property
    def roots(self) -> list[str]:
        """The folders as absolute paths."""
        return [_absolute(folder) for folder in self.workspace]

    def words(self) -> list[str]:
        """The same flags for another command line, whatever directory it starts in."""
        words: list[str] = []
        if self.config:
            words += ["--config", _absolute(self.config)]
        if self.profile:
            words += ["--profile", self.profile]
        for root in self.roots:
            words += ["--workspace", root]
        for text in self.settings:
            words += ["--set", text]
        return words


def split(words: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """What stands before the command, the command, and what stands after it."""
    at = 0
    while at < len(words):
        word = words[at]
        if not word.startswith("-"):
            return list(words[:at]), word, list(words[at + 1 :])
        at += 2 if word in NAMES else 1
    return list(words), None, []


def _absolute(path: str) -> str:
    """As it is where a host fills in a part of it, as `${workspaceFolder}`."""
    return path if "${" in path else str(Path(path).expanduser().absolute())
