"""Reading the layers of the configuration: files, environment, and what is wrong with them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from toolcrib.core.errors import ConfigError
from toolcrib.core.names import nearest

PREFIX = "TOOLCRIB_"
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
    """One value at its place, as a layer; text that starts like JSON is read as JSON.

    Raises:
        ConfigError: it looks like JSON and is not; `name` says where it stands.
    """
    value: Any = text
    if text.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ConfigError(f"{name} looks like JSON and is not valid: {error}") from None
    for part in reversed(path):
        value = {part: value}
    return cast("dict[str, Any]", value)


def with_new_names(layer: Mapping[str, Any], found: list[str] | None = None) -> dict[str, Any]:
    """A layer with the names of now; where it has both names, the new one counts.

    Args:
        layer: a tree of settings.
        found: takes, in words, what had an old name.
    """
    renamed = merge({}, layer)
    for old, new in NEW_NAMES.items():
        *path, name = old.split(".")
        branch: Any = renamed
        for part in path:
            branch = branch.get(part) if isinstance(branch, dict) else None
        if isinstance(branch, dict) and name in branch:
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


def explain(error: ValidationError, tree: type[BaseModel], file: Path) -> ConfigError:
    """What is wrong with the merged layers, in words, with the likely right names."""
    lines, hints = [], []
    for item in error.errors():
        path = [str(part) for part in item["loc"]]
        key = ".".join(path)
        if item["type"] == "extra_forbidden":
            known = _keys_at(tree, path[:-1])
            near = nearest(path[-1], known, count=1, min_ratio=0.6)
            lines.append(f"unknown key {key}")
            hints.append(
                f"Did you mean {'.'.join([*path[:-1], near[0]])}?"
                if near
                else f"Known there: {', '.join(sorted(known))}."
            )
        else:
            lines.append(f"{key}: {item['msg']}")
    return ConfigError(
        f"The configuration is wrong: {'; '.join(lines)}.",
        hint=" ".join([*hints, f"Look in {file}, the TOOLCRIB_* variables and the flags."]),
    )


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
