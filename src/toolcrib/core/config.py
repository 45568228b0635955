"""The configuration: one typed tree, read once and handed down as values.

Layers, each overriding the one before, field by field: the defaults below, the
user's file (TOML), environment variables (`TOOLCRIB_WEB__SEARCH__LIMIT=5`: two
underscores between levels, `a,b` or JSON for lists), flags or the constructor.
No file in a workspace is ever read. Secrets are named, never held: a field
`api_key_env` is the name of an environment variable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Self

import platformdirs
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from toolcrib.core.agent_settings import AgentConfig
from toolcrib.core.errors import ConfigError, NotConfigured
from toolcrib.core.layers import (
    explain,
    merge,
    read_environment,
    read_toml,
    with_new_names,
)
from toolcrib.core.run_settings import RunConfig
from toolcrib.core.settings import (
    BackupConfig,
    DocumentsConfig,
    EgressConfig,
    HistoryConfig,
    HttpConfig,
    LimitsConfig,
    PolicyConfig,
    ResultsConfig,
    Section,
    StoreConfig,
    ToolsConfig,
    UndoConfig,
    WorkspaceConfig,
)
from toolcrib.core.web_settings import WebConfig


class Config(Section):
    """The whole tree."""

    profile: Annotated[
        str, Field(description="Which tools are shown: profiles, groups, tools, joined by commas.")
    ] = "default"
    workspace: WorkspaceConfig = WorkspaceConfig()
    policy: PolicyConfig = PolicyConfig()
    tools: ToolsConfig = ToolsConfig()
    egress: EgressConfig = EgressConfig()
    web: WebConfig = WebConfig()
    documents: DocumentsConfig = DocumentsConfig()
    run: RunConfig = RunConfig()
    agent: AgentConfig = AgentConfig()
    limits: LimitsConfig = LimitsConfig()
    results: ResultsConfig = ResultsConfig()
    history: HistoryConfig = HistoryConfig()
    store: StoreConfig = StoreConfig()
    undo: UndoConfig = UndoConfig()
    backup: BackupConfig = BackupConfig()
    http: HttpConfig = HttpConfig()
    _file: Path | None = PrivateAttr(None)
    _renamed: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="before")
    @classmethod
    def _new_names(cls, given: Any) -> Any:
        return with_new_names(given) if isinstance(given, Mapping) else given

    @property
    def renamed(self) -> tuple[str, ...]:
        """In words, the settings that were given by a name of before."""
        return self._renamed

    @property
    def file(self) -> Path | None:
        """The file that it was read from, or would have been; None if it was made by hand."""
        return self._file

    @classmethod
    def instead_of(cls, file: Path) -> Self:
        """The defaults, in place of a file that cannot be used."""
        tree = cls()
        tree._file = file
        return tree

    @classmethod
    def load(
        cls,
        overrides: Mapping[str, Any] | None = None,
        path: Path | str | None = None,
    ) -> Self:
        """Read all layers.

        Args:
            overrides: a dict of the tree's shape that wins over everything.
            path: the file to read instead of the user's own.

        Raises:
            ConfigError: a file that cannot be read, an unknown key, a wrong value.
        """
        file = Path(path).expanduser() if path else user_config_file()
        if path and not file.is_file():
            raise ConfigError(f"The configuration file {file} does not exist.")
        merged: dict[str, Any] = {}
        renamed: list[str] = []
        for layer in (
            read_toml(file) if file.is_file() else {},
            read_environment(os.environ, cls),
            overrides or {},
        ):
            merged = merge(merged, with_new_names(layer, renamed))
        try:
            tree = cls.model_validate(merged)
        except ValidationError as error:
            raise explain(error, cls, file) from None
        tree._file = file  # noqa: SLF001 - its own
        tree._renamed = tuple(dict.fromkeys(renamed))  # noqa: SLF001 - its own
        return tree


def user_config_file() -> Path:
    """The user's own configuration file; `TOOLCRIB_CONFIG` names another."""
    named = os.environ.get("TOOLCRIB_CONFIG")
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_config_dir("toolcrib", appauthor=False)) / "config.toml"


def data_folder() -> Path:
    """Where the store and other state live; `TOOLCRIB_DATA` names another place."""
    named = os.environ.get("TOOLCRIB_DATA")
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_data_dir("toolcrib", appauthor=False))


def store_file(url: str) -> Path | None:
    """The file of a `store.url`: `sqlite:///relative`, `sqlite:////absolute`, `sqlite://`.

    An empty URL is the user's data folder; `sqlite://` alone is a store in memory.

    Raises:
        ConfigError: another scheme.
    """
    if not url:
        return data_folder() / "toolcrib.db"
    scheme, _, rest = url.partition("://")
    if scheme != "sqlite" or (rest and not rest.startswith("/")):
        raise ConfigError(
            f"store.url is not understood: {url.partition('@')[0][:80]}.",
            hint="Write sqlite:///path, with four slashes for an absolute path.",
        )
    return Path(rest[1:]).expanduser() if rest.strip("/") else None


def secret(env_name: str, needed_for: str) -> str:
    """The value behind a configured name.

    Raises:
        NotConfigured: no name was configured, or the variable is unset or empty.
    """
    if not env_name:
        raise NotConfigured(
            f"{needed_for} needs a key and none is configured.",
            hint="Name the environment variable that holds it (api_key_env), never the key.",
        )
    value = os.environ.get(env_name)
    if value is None:
        raise NotConfigured(
            f"{needed_for} takes its key from {env_name}, which is not set.",
            hint=f"Set {env_name} in the environment of toolcrib and start it again.",
        )
    if not value.strip():
        raise NotConfigured(
            f"{needed_for} takes its key from {env_name}, which is empty.",
            hint=f"Put the key into {env_name} and start toolcrib again.",
        )
    return value.strip()


def environment(allowed: Iterable[str]) -> dict[str, str]:
    """The variables of this process whose names fit one of the globs, for its children."""
    globs = tuple(allowed)
    return {n: v for n, v in os.environ.items() if any(fnmatchcase(n, glob) for glob in globs)}
