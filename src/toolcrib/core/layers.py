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


def merge(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Both layers as one, field by field; where both have a value, the upper's."""
    merged = dict(lower)
    for key, value in upper.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = merge(below, value)  # noqa: PLW2901
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
            near = nearest(path[-1], known, count=1, least=0.6)
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
