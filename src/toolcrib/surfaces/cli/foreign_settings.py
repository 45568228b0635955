"""Settings of other systems, found where they lie as files, in the words of the settings here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolcrib.core.compat import Argument, argument_of, read_tables
from toolcrib.text.json_values import json_object

MAX_FILE_BYTES = 2_000_000
MAX_FILES = 5_000
MIN_KEYS = 2
"""Known keys by which a file that nobody named is one of a system's settings."""
NAMES = ("mcp-config.json",)
"""Files of settings in the current folder."""
FOLDERS = (".internal", "extensions/plugins", "plugin-data", "plugin-configs")
"""Folders of LM Studio's home in which plugins keep theirs."""
KEYS_OF_SERVICES = {"LLM_CHAT_WEB_SEARCH_API_KEY": "LLM_CHAT_WEB_SEARCH_PROVIDER"}
"""Variables that hold a key, which is never copied, and the one that names its provider."""


@dataclass(slots=True)
class ForeignSettings:
    """What one file, or the environment, says.

    Attributes:
        source: where it came from.
        system: whose settings they are.
        values: settings here with their values, by dotted names, as (their key, ours, value).
        unknown: keys of theirs for which there is no setting here.
    """

    source: str
    system: str
    values: list[tuple[str, str, Any]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def known_settings() -> dict[str, tuple[str, Argument]]:
    """By key, the system that has it and what it means."""
    found: dict[str, tuple[str, Argument]] = {}
    for _, table in read_tables():
        for key, meaning in table.get("settings", {}).items():
            found[key] = table["system"], argument_of(key, meaning)
    return found


def candidates(home: Path | None, here: Path) -> Iterator[Path]:
    """Files that may hold settings: beside the user, and in LM Studio's home."""
    yield from (here / name for name in NAMES if (here / name).is_file())
    count = 0
    for folder in FOLDERS if home is not None else ():
        assert home is not None
        for top, folders, files in os.walk(home / folder):
            folders[:] = [
                name for name in folders if name not in ("node_modules", ".git", "vendor")
            ]
            for name in sorted(files):
                count += 1
                if name.endswith(".json") and count < MAX_FILES:
                    yield Path(top) / name


def of_file(path: Path, *, named: bool) -> ForeignSettings | None:
    """The settings of a file; None where nobody named it and it is none of a known system.

    Raises:
        OSError, ValueError: it cannot be read, or is no JSON.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"it has more than {MAX_FILE_BYTES:,} bytes")
    pairs = dict(_pairs(json.loads(path.read_text("utf-8-sig"))))
    known = known_settings()
    hits = [key for key in pairs if key in known]
    if not named and len(hits) < MIN_KEYS:
        return None
    systems = [known[key][0] for key in hits]
    system = max(systems, key=systems.count) if systems else ""
    return _translated(ForeignSettings(str(path), system), pairs, known)


def of_environment(environment: Mapping[str, str]) -> ForeignSettings | None:
    """The settings in variables of the environment."""
    known = known_settings()
    pairs: dict[str, Any] = {k: v for k, v in environment.items() if k.startswith("LLM_CHAT_WEB_")}
    if not pairs:
        return None
    secrets = {key: pairs.pop(key) for key in list(pairs) if key in KEYS_OF_SERVICES}
    found = _translated(ForeignSettings("environment", "llm-chat-web"), pairs, known)
    for key in secrets:
        provider = str(pairs.get(KEYS_OF_SERVICES[key], "")).strip().lower()
        if provider:
            found.values.append((key, f"web.providers.{provider}.api_key_env", key))
    return found


def _pairs(tree: Any) -> Iterator[tuple[str, Any]]:
    """Keys with their values, also of `{"key": …, "value": …}`, wherever they stand."""
    if isinstance(tree, list):
        for item in tree:
            yield from _pairs(item)
        return
    if not isinstance(tree, dict):
        return
    if isinstance(tree.get("key"), str) and "value" in tree:
        yield tree["key"].rpartition(".")[2], tree["value"]
        return
    for key, value in tree.items():
        if (
            key == "subAgentProfiles"
            or not isinstance(value, dict | list)
            or (isinstance(value, list) and not any(isinstance(item, dict) for item in value))
        ):
            yield key, value
        else:
            yield from _pairs(value)


def _translated(
    found: ForeignSettings, pairs: Mapping[str, Any], known: Mapping[str, tuple[str, Argument]]
) -> ForeignSettings:
    for key, given in pairs.items():
        if key not in known:
            found.unknown.append(key)
            continue
        argument = known[key][1]
        if argument.to == "agent.roles":
            found.values += [(key, *role) for role in _roles(given)]
            continue
        value = _parts(given) if argument.type == "strings" else given
        (meant,) = argument.meaning(value).values()
        found.values += [(key, to.strip(), meant) for to in argument.to.split(",")]
    return found


def _parts(given: Any) -> list[str]:
    """A list as it is, or a text with commas or a line each."""
    items = given if isinstance(given, list) else str(given).replace(",", "\n").split("\n")
    return [text for item in items if (text := str(item).strip())]


def _roles(given: Any) -> Iterator[tuple[str, str]]:
    """The personas of roles: an object, or the same as JSON text, by name."""
    roles = json_object(given) if isinstance(given, str) else given
    for name, role in roles.items() if isinstance(roles, dict) else ():
        persona = (
            role if isinstance(role, str) else _first(role, ("prompt", "persona", "description"))
        )
        if persona:
            yield f"agent.roles.{name}.persona", persona


def _first(role: Any, names: Sequence[str]) -> str:
    found = (role.get(name) for name in names) if isinstance(role, dict) else ()
    return next((text for text in found if isinstance(text, str) and text), "")
