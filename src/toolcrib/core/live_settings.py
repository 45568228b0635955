"""Settings that change while a server runs: which count with the next call, which after a start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolcrib.core.config import Config
from toolcrib.core.errors import ConfigError

AT_ONCE = (
    *("policy", "pin", "results.max_tokens", "results.ceiling", "results.per_tool"),
    *("history.enabled", "history.argument_chars", "limits.repeats"),
    *(f"web.search.{n}" for n in ("providers", "at_once", "limit", "snippets", "max_chars")),
    *(f"web.search.{n}" for n in ("enrich", "safe_search", "region")),
    *(f"web.fetch.{n}" for n in ("max_tokens", "ceiling", "format", "max_bytes", "robots")),
    *(f"web.fetch.{n}" for n in ("links", "whole", "neutralize")),
    *(f"web.images.{n}" for n in ("providers", "limit", "save_limit", "folder", "max_bytes")),
    *("web.research", "web.requests.max_bytes", "web.requests.secrets"),
)
"""What is looked at in each call: contents and permissions. What times and connects is not."""

Stamp = tuple[int, int, int] | None


def stamp_of(file: Path | None) -> Stamp:
    """How a file looks now; None without one."""
    try:
        found = file.stat() if file is not None else None
    except OSError:
        found = None
    return found and (found.st_mtime_ns, found.st_size, found.st_ino)


class LiveSettings:
    """Reads the user's file again when it has changed.

    Args:
        config: as it was read at the start.
    """

    def __init__(self, config: Config) -> None:
        self._stamp = stamp_of(config.file)

    def refreshed(self, current: Config) -> tuple[Config, list[str]] | None:
        """The configuration from now on, and what the user should know; None if all is as before.

        What counts only after a start keeps the value of before in it.
        """
        stamp = stamp_of(current.file)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        try:
            wanted = current.reloaded()
        except ConfigError as error:
            why = f"{error.message.rstrip('.')}. {error.hint}"
            return current, [f"The settings of before hold on. {why}"]
        new, waiting = _mixed(current, wanted)
        notes = [f"Settings: {problem}." for problem in wanted.problems]
        if waiting:
            names = ", ".join(waiting)
            notes.append(f"Changed settings that count once toolcrib is started again: {names}.")
        return new, notes


def _mixed(current: Config, wanted: Config) -> tuple[Config, list[str]]:
    """What counts at once from `wanted`, all else from `current`, and the names of that."""
    before, after = dict(_leaves(current.model_dump())), dict(_leaves(wanted.model_dump()))
    changed = sorted(
        key for key in {*before, *after} if before.get(key, ...) != after.get(key, ...)
    )
    now = {branch for branch in AT_ONCE if any(_is_in(key, branch) for key in changed)}
    tree = current
    for branch in now:
        tree = _replaced(tree, branch.split("."), wanted)
    waiting = [key for key in changed if not any(_is_in(key, branch) for branch in AT_ONCE)]
    return tree, waiting


def _is_in(key: str, branch: str) -> bool:
    return f"{key}.".startswith(f"{branch}.")


def _replaced(tree: Any, path: list[str], source: Any) -> Any:
    """A copy of the tree with the value that `source` has at the path."""
    name, *rest = path
    value = getattr(source, name)
    if rest:
        value = _replaced(getattr(tree, name), rest, value)
    return tree.model_copy(update={name: value})


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
