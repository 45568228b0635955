"""The configuration: one typed tree, read once and handed down as values.

Layers, each overriding the one before, field by field: the defaults below, the
user's file (TOML), environment variables (`TOOLCRIB_WEB__SEARCH__LIMIT=5`: two
underscores between levels, `a,b` or JSON for lists), flags or the constructor.
No file in a workspace is ever read. Secrets are named, never held: a field
`api_key_env` is the name of an environment variable.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import platformdirs
from pydantic import BaseModel, Field, PrivateAttr, ValidationError, model_validator

from toolcrib.core.chat_settings import GuardConfig, StagesConfig
from toolcrib.core.document_settings import DocumentsConfig, EmbeddingsConfig, SqlConfig
from toolcrib.core.errors import ConfigError, NotConfigured
from toolcrib.core.extension_settings import McpConfig, UiConfig
from toolcrib.core.llm_chat_web import read_variables
from toolcrib.core.memory_settings import MemoryConfig, PlanConfig
from toolcrib.core.names import nearest
from toolcrib.core.proxy_settings import ProxyConfig
from toolcrib.core.settings import (
    AgentConfig,
    BackupConfig,
    BrowserConfig,
    EgressConfig,
    GitConfig,
    GitHubConfig,
    HistoryConfig,
    HttpConfig,
    LimitsConfig,
    PolicyConfig,
    ResultsConfig,
    RunConfig,
    Section,
    StoreConfig,
    ToolsConfig,
    UndoConfig,
    WebConfig,
    WorkspaceConfig,
)
from toolcrib.core.switch_settings import SwitchesConfig

# Reading the layers of the configuration: files, environment, and what is wrong with them.

PREFIX = "TOOLCRIB_"
STORE_NAME = "toolcrib.db"
NEW_NAMES = {
    "egress.retry.most_seconds": "max_seconds",
    "web.search.cooldown_most": "max_cooldown_seconds",
    "web.fetch.disarm": "neutralize",
    "run.held_hours": "pending_hours",
    "run.held_mb": "pending_mb",
    "agent.most_calls": "max_calls",
    "agent.most_tokens": "max_tokens",
    "agent.kept_messages": "max_messages",
    "agent.most_tools": "max_listed_tools",
}
"""Settings that had another name before, which is still read."""


def read_environment(environ: Mapping[str, str], tree: type[BaseModel]) -> dict[str, Any]:
    """`TOOLCRIB_A__B=x` as `{"a": {"b": "x"}}`; other `TOOLCRIB_*` names are not settings."""
    layer: dict[str, Any] = {}
    for name, value in environ.items():
        path = name.removeprefix(PREFIX).lower().split("__")
        if not name.startswith(PREFIX) or (len(path) == 1 and path[0] not in tree.model_fields):
            continue
        layer = merge(layer, setting(path, value, name))
    return layer


def setting(path: Sequence[str], text: str, name: str) -> dict[str, Any]:
    """One value at its place, as a layer.

    What begins like a list, a table or a quoted text is read as JSON, or as TOML.

    Raises:
        ConfigError: it begins like a list or a table and is none; `name` says where it stands.
    """
    value: Any = text
    if text.lstrip().startswith(("[", "{", '"', "'")):
        try:
            value = _read_value(text)
        except (ValueError, RecursionError) as error:
            if text.lstrip().startswith(("[", "{")):
                raise ConfigError(f"{name} looks like JSON and is not valid: {error}") from None
    return nested(path, value)


def _read_value(text: str) -> Any:
    """A value written as JSON or as TOML.

    Raises:
        ValueError: it is neither; what is wrong with it as JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        with suppress(tomllib.TOMLDecodeError):
            found = tomllib.loads(f"value = {text}")
            if len(found) == 1:
                return found["value"]
        raise


def nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    """A value at its place, as a layer."""
    for part in reversed(path):
        value = {part: value}
    return cast("dict[str, Any]", value)


def branch_at(layer: Any, path: Iterable[str]) -> Any:
    """The table at a path of nested tables; None where there is none."""
    for part in path:
        layer = layer.get(part) if isinstance(layer, Mapping) else None
    return layer if isinstance(layer, Mapping) else None


def stands_in(layer: Any, path: Sequence[str]) -> bool:
    """Whether a layer has a value at a path, be it None."""
    branch = branch_at(layer, path[:-1])
    return branch is not None and path[-1] in branch


def with_new_names(layer: Mapping[str, Any], found: list[str] | None = None) -> dict[str, Any]:
    """A layer with the names of now; where it has both names, the new one counts.

    Args:
        layer: a tree of settings.
        found: takes, in words, what had an old name.
    """
    renamed = merge({}, layer)
    for old, new in NEW_NAMES.items():
        *path, name = old.split(".")
        branch = branch_at(renamed, path)
        if branch is not None and name in branch:
            branch.setdefault(new, branch.pop(name))
            branch.pop(name, None)
            if found is not None:
                found.append(f"{old} is {'.'.join([*path, new])} now")
    return renamed


def merge(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Both layers as one, field by field; where both have a value, the upper's."""
    merged = dict(lower)
    for key, value in upper.items():
        below = merged.get(key)
        if isinstance(value, Mapping):
            value = merge(below if isinstance(below, Mapping) else {}, value)  # noqa: PLW2901
        merged[key] = value
    return merged


def read_toml(file: Path) -> dict[str, Any]:
    """A TOML file as a layer.

    Raises:
        ConfigError: it cannot be read or is not valid.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None


def _nested(path: list[str]) -> str:
    """A setting as a dict or a table in JSON has it."""
    return "{" + f'"{path[0]}": ' + (_nested(path[1:]) if path[1:] else "...") + "}"


def explain(error: ValidationError, tree: type[BaseModel], file: Path) -> ConfigError:
    """What is wrong with the merged layers, in words, with the likely right names.

    `reasons` in its details says of each setting why its value is none, `unknown` of each key
    that is no setting what it may have been meant to be.
    """
    lines = []
    reasons: dict[str, str] = {}
    unknown: dict[str, str] = {}
    given = "the flags (in Python: what Toolbox was given)"
    for item in error.errors():
        path = [str(part) for part in item["loc"]]
        key = ".".join(path)
        if item["type"] == "extra_forbidden":
            known = _keys_at(tree, path[:-1])
            near = nearest(path[-1], known, count=1, min_ratio=0.6)
            lines.append(f"unknown key {key}")
            if "." in path[-1] and path[-1].partition(".")[0] in known:
                unknown[key] = f"It is nested: {_nested(path[-1].split('.'))}."
                continue
            unknown[key] = (
                f"Did you mean {'.'.join([*path[:-1], near[0]])}?"
                if near
                else f"Known there: {', '.join(sorted(known))}."
            )
        else:
            lines.append(f"{key}: {item['msg']}")
            reasons[key] = item["msg"]
    return ConfigError(
        f"The configuration is wrong: {'; '.join(lines)}.",
        hint=" ".join(
            [*unknown.values(), f"Look in {file}, the TOOLCRIB_* variables and {given}."]
        ),
        reasons=reasons,
        unknown=unknown,
    )


STRICT = (
    *(
        "policy",
        "workspace",
        "egress",
        "run",
        "tools",
        "http",
        "store",
        "pin",
        "agent.roles",
        "mcp",
        "switches",
    ),
    "github",
    *("web.search.providers", "web.images.providers", "web.requests", "web.fetch.neutralize"),
)
"""Where a wrong value is an error: a default in its place could allow or send more."""


def without_wrong_values(
    error: ValidationError, merged: dict[str, Any], overrides: Mapping[str, Any]
) -> list[str]:
    """Take wrong values out of the merged layers, so that the defaults stand in for them.

    Args:
        error: what is wrong.
        merged: all layers; it is changed.
        overrides: those of flags or a program, which are never wrong in silence.

    Returns:
        What was taken out, in words; nothing where anything else is wrong.
    """
    found: dict[tuple[str, ...], str] = {}
    for item in error.errors():
        # Of a list with a wrong item nothing is used.
        names = takewhile(lambda part: isinstance(part, str), item["loc"])
        path = tuple(str(name) for name in names)
        key = ".".join(path)
        if (
            item["type"] == "extra_forbidden"
            or not path
            or any(f"{key}.".startswith(f"{strict}.") for strict in STRICT)
            or stands_in(overrides, path)
        ):
            return []
        found[path] = f"{key}: {item['msg']}; the default is used"
    for path in found:
        branch = branch_at(merged, path[:-1])
        if branch is not None:
            branch.pop(path[-1], None)
    return list(found.values())


def _keys_at(tree: type[BaseModel], path: list[str]) -> list[str]:
    current: Any = tree
    for part in path:
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            return []
        found = current.model_fields.get(part)
        if found is None:
            return []
        current = found.annotation
    if isinstance(current, type) and issubclass(current, BaseModel):
        return list(current.model_fields)
    return []


class Config(Section):
    """The whole tree."""

    profile: Annotated[
        str, Field(description="Which tools are shown: profiles, groups, tools, joined by commas.")
    ] = "default"
    language: Annotated[
        Literal["auto", "en", "de", "es", "zh-CN", "zh-TW"],
        Field(description="Language of names, lists and panels for people; auto: the system's."),
    ] = "auto"
    workspace: WorkspaceConfig = WorkspaceConfig.model_construct()
    policy: PolicyConfig = PolicyConfig.model_construct()
    tools: ToolsConfig = ToolsConfig.model_construct()
    switches: SwitchesConfig = SwitchesConfig.model_construct()
    egress: EgressConfig = EgressConfig.model_construct()
    web: WebConfig = WebConfig.model_construct()
    documents: DocumentsConfig = DocumentsConfig.model_construct()
    embeddings: EmbeddingsConfig = EmbeddingsConfig.model_construct()
    sql: SqlConfig = SqlConfig.model_construct()
    run: RunConfig = RunConfig.model_construct()
    git: GitConfig = GitConfig.model_construct()
    github: GitHubConfig = GitHubConfig.model_construct()
    browser: BrowserConfig = BrowserConfig.model_construct()
    agent: AgentConfig = AgentConfig.model_construct()
    plan: PlanConfig = PlanConfig.model_construct()
    memory: MemoryConfig = MemoryConfig.model_construct()
    limits: LimitsConfig = LimitsConfig.model_construct()
    results: ResultsConfig = ResultsConfig.model_construct()
    history: HistoryConfig = HistoryConfig.model_construct()
    store: StoreConfig = StoreConfig.model_construct()
    undo: UndoConfig = UndoConfig.model_construct()
    backup: BackupConfig = BackupConfig.model_construct()
    http: HttpConfig = HttpConfig.model_construct()
    proxy: ProxyConfig = ProxyConfig.model_construct()

    guard: GuardConfig = GuardConfig.model_construct()
    stages: StagesConfig = StagesConfig.model_construct()
    mcp: McpConfig = McpConfig.model_construct()
    ui: UiConfig = UiConfig.model_construct()
    pin: Annotated[
        dict[str, dict[str, Any]],
        Field(description="Arguments that a model cannot override, by tool; 0 or auto: it may."),
    ] = {}  # noqa: RUF012 - pydantic copies it
    _file: Path | None = PrivateAttr(None)
    _renamed: tuple[str, ...] = PrivateAttr(())
    _problems: tuple[str, ...] = PrivateAttr(())
    _overrides: Mapping[str, Any] = PrivateAttr({})
    _path: Path | str | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _new_names(cls, given: Any) -> Any:
        return with_new_names(given) if isinstance(given, Mapping) else given

    @property
    def renamed(self) -> tuple[str, ...]:
        """In words, the settings that were given by a name of before."""
        return self._renamed

    @property
    def problems(self) -> tuple[str, ...]:
        """In words, the settings whose value was wrong, so that their default is used."""
        return self._problems

    @property
    def switched_off(self) -> dict[str, str]:
        """Tools and groups that are off until a setting turns them on, each with its setting."""
        found = {} if self.memory.verbs else {"memory": "memory.verbs"}
        if not (self.run.packages or self.switches.packages or self.switches.all):
            found["manage_packages"] = "run.packages"
        return {**found, **self.switches.off()}

    @property
    def listed_profile(self) -> str:
        """The profile, with what is switched on beside it."""
        return ",".join(dict.fromkeys([self.profile, *self.switches.on]))

    def with_roots(self, roots: Sequence[str]) -> Self:
        """The same with these folders as the workspace, also when it is read again."""
        workspace = self.workspace.model_copy(update={"roots": list(roots)})
        tree = self.model_copy(update={"workspace": workspace})
        tree._overrides = merge(  # noqa: SLF001 - its own
            self._overrides, {"workspace": {"roots": list(roots)}}
        )
        return tree

    def reloaded(self) -> Self:
        """The same layers, read again.

        Raises:
            ConfigError: as `load`.
        """
        return self.load(self._overrides, self._path)

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
            fault = "is no file" if file.exists() else "does not exist"
            raise ConfigError(
                f"The configuration file {file} {fault}.",
                hint=f"Name another; without one it is {user_config_file()}, where that exists.",
            )
        merged, problems = read_variables(os.environ)
        renamed: list[str] = []
        for layer in (
            read_toml(file) if file.is_file() else {},
            read_environment(os.environ, cls),
            overrides or {},
        ):
            merged = merge(merged, with_new_names(layer, renamed))
        tree = cls._validated(merged, overrides or {}, file, problems)
        tree._file, tree._path = file, path  # noqa: SLF001 - its own
        tree._overrides, tree._problems = overrides or {}, tuple(problems)  # noqa: SLF001
        tree._renamed = tuple(dict.fromkeys(renamed))  # noqa: SLF001 - its own
        return tree

    @classmethod
    def _by_branches(cls, merged: Mapping[str, Any]) -> Self | None:
        """The tree, for which only the branches that are set were looked at; None if it cannot be.

        Raises:
            ValidationError: something in a branch is wrong.
        """
        checked: dict[str, Any] = {}
        for name, value in merged.items():
            field = cls.model_fields.get(name)
            kind = field.annotation if field is not None else None
            if isinstance(kind, type) and issubclass(kind, Section):
                checked[name] = kind.model_validate(value)
            elif kind is str and isinstance(value, str):
                checked[name] = value
            else:
                return None
        return cls.model_construct(**checked)

    @classmethod
    def _validated(
        cls, merged: dict[str, Any], overrides: Mapping[str, Any], file: Path, problems: list[str]
    ) -> Self:
        with suppress(ValidationError):  # which is explained below, by the whole tree
            if (tree := cls._by_branches(merged)) is not None:
                return tree
        while True:
            try:
                return cls.model_validate(merged)
            except ValidationError as error:
                wrong = without_wrong_values(error, merged, overrides)
                if not wrong or set(wrong) <= set(problems):
                    raise explain(error, cls, file) from None
                problems += wrong


def user_config_file() -> Path:
    """The user's own configuration file; `TOOLCRIB_CONFIG` names another."""
    named = os.environ.get("TOOLCRIB_CONFIG")
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_config_dir("toolcrib", appauthor=False)) / "config.toml"


def data_folder() -> Path:
    """Where the store and other state live; `TOOLCRIB_DATA` names another place."""
    named = os.environ.get("TOOLCRIB_DATA")
    return Path(named).expanduser() if named else usual_data_folder()


def usual_data_folder() -> Path:
    """Where it is for who names no other."""
    return Path(platformdirs.user_data_dir("toolcrib", appauthor=False))


def store_file(url: str) -> Path | None:
    """The file of a `store.url`: `sqlite:///relative`, `sqlite:////absolute`, `sqlite://`.

    An empty URL is the user's data folder; `sqlite://` alone is a store in memory.

    Raises:
        ConfigError: another scheme.
    """
    if not url:
        return data_folder() / STORE_NAME
    scheme, _, rest = url.partition("://")
    if scheme != "sqlite" or (rest and not rest.startswith("/")):
        raise ConfigError(
            f"store.url is not understood: {url.partition('@')[0][:80]}.",
            hint="Write sqlite:///path, with four slashes for an absolute path.",
        )
    return Path(rest[1:]).expanduser() if rest.strip("/") else None


_HELD: dict[str, str] = {}


def hold_secret(name: str, value: str) -> None:
    """Keep a secret that did not come by the environment, for `secret`; no child process sees it.

    Args:
        name: no variable has it, such as `lmstudio-panel:brave`.
        value: the secret.
    """
    _HELD[name] = value


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
    value = _HELD.get(env_name) or os.environ.get(env_name)
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
