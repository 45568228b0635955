"""Settings of the user's own file, changed in place: comments and order stay."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from toolcrib.core.config import branch_at, data_folder
from toolcrib.core.errors import BadInput, Busy, ConfigError, StorageFailure
from toolcrib.text.toml_values import inline_toml, toml_key

LOCK_SECONDS = 10.0

FIRST_FILE = """\
# Settings of toolcrib. `toolcrib config` shows all of them with their defaults, and
# the documentation says what each means. A line without # counts.

# profile = "default,files"

[workspace]
# roots = ["~/notes"]

[web.search]
# providers = ["searxng", "duckduckgo"]

[web.providers.searxng]
# base_url = "http://127.0.0.1:8888"

[pin]
# fetch_url.max_tokens = 2000
"""


def begin(file: Path) -> bool:
    """Write a first file with examples in comments; False where there is one.

    Raises:
        StorageFailure: it cannot be written.
    """
    if file.exists():
        return False
    _write(file, FIRST_FILE)
    return True


def set_value(file: Path, key: str, text: str) -> Any:
    """Give a setting a value, and what was written.

    Args:
        file: TOML; it is made where it is missing.
        key: as `web.search.limit`.
        text: a TOML value, else plain text.

    Raises:
        BadInput: no such setting, or no value of it.
        ConfigError: the file is broken, or the setting has to be written by hand.
        StorageFailure: the file cannot be read or written.
    """
    path = _path(key)
    failed: ConfigError | None = None
    with _alone():
        for value in _readings(text):
            document, content = _with_values(file, {key: value})
            try:
                _check(document, path, file)
            except ConfigError as error:
                failed = failed or error
                continue
            _write(file, content)
            return value
    assert failed is not None
    # The file is as it was: what was typed is wrong.
    for wrong, meant in failed.details.get("unknown", {}).items():
        if f"{key}.".startswith(f"{wrong}."):
            hint = f"{meant} docs/configuration.md lists the settings."
            raise BadInput(f"There is no setting {key}.", hint=hint)
    why = failed.details.get("reasons", {}).get(key)
    if why is None:
        raise failed
    raise BadInput(
        f"{key} cannot be '{text[:80]}': {why}.",
        hint="docs/configuration.md lists the settings and what they take.",
    )


def add_values(file: Path, fresh: Mapping[str, Any]) -> None:
    """Write settings that the file does not have, by their dotted names.

    Raises:
        ConfigError, StorageFailure: as `set_value`.
    """
    with _alone():
        _, content = _with_values(file, fresh)
        _write(file, content)


def unset(file: Path, key: str) -> bool:
    """Take a setting out of the file, so that its default counts; False where it is not in it.

    Raises:
        ConfigError, StorageFailure: as `set_value`.
    """
    path = _path(key)
    with _alone():
        document = _read(file)
        branch = branch_at(document, path[:-1])
        if branch is None or path[-1] not in branch:
            return False
        del branch[path[-1]]
        _write(file, document.as_string())
        return True


@contextmanager
def _alone() -> Iterator[None]:
    """Let no other process change settings meanwhile: what it wrote would be lost."""
    from toolcrib.state.store import held, make_private

    late = Busy("Another toolcrib process has been changing settings for too long.")
    with ExitStack() as stack:
        with suppress(OSError):  # with no place for a lock, nobody else has one either
            make_private(data_folder())
            stack.enter_context(held(data_folder() / "settings.lock", LOCK_SECONDS, late))
        yield


def _path(key: str) -> list[str]:
    path = [part.strip() for part in key.split(".")]
    if not all(path):
        raise BadInput(f"'{key[:80]}' is no setting.", hint="Write it like web.search.limit.")
    return path


def _readings(text: str) -> list[Any]:
    """What a typed value may be, the likelier first: `5` is a number, `de-DE` is text."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        value = tomlkit.value(text)
    except (TOMLKitError, ValueError):
        return [text]
    return [value, text]


def _read(file: Path) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigError(
            f"{file} is not valid TOML: {error}.",
            hint="Correct that line first; nothing was written.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailure(f"{file} cannot be read: {error}.") from None


def _with_values(file: Path, values: Mapping[str, Any]) -> tuple[Any, str]:
    """A file with settings by their dotted names: the document, and its text.

    Raises:
        ConfigError, StorageFailure: as `set_value`.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    document = _read(file)
    try:
        for key, value in values.items():
            _put(document, _path(key), value)
        text: str = document.as_string()
        # A table is put between dotted keys of the file, which then would be part of it.
        if tomllib.loads(text) == document.unwrap():
            return document, text
    except (TOMLKitError, ValueError):
        pass  # tables in braces take no further tables
    lines = [
        f"{'.'.join(map(toml_key, _path(key)))} = {inline_toml(tomlkit.item(value).unwrap())}"
        for key, value in values.items()
    ]
    raise ConfigError(
        f"{file} has dotted keys or tables in braces that cannot be added to: write it by hand. "
        "Nothing was written.",
        hint="\n".join(["Add above the first [table], or within the braces of its table:", *lines]),
    )


def _put(document: Any, path: list[str], value: Any) -> None:
    import tomlkit

    branch = document
    for name in path[:-1]:
        if name not in branch:
            branch[name] = tomlkit.table(is_super_table=name != path[-2])
        branch = branch[name]
        if not isinstance(branch, Mapping):
            raise ConfigError(
                f"{'.'.join(path)} is no setting: {name} has a value already.",
                hint="toolcrib config shows the settings.",
            )
    branch[path[-1]] = value


def _check(document: Any, path: list[str], file: Path) -> None:
    """Refuse what this setting must not be, also where the default would stand in for it."""
    from pydantic import ValidationError

    from toolcrib.core.config import Config, explain

    try:
        Config.model_validate(document.unwrap())
    except ValidationError as error:
        for item in error.errors():
            names = [str(part) for part in item["loc"]]
            if names[: len(path)] == path[: len(names)]:
                raise explain(error, Config, file) from None


def _write(file: Path, text: str) -> None:
    from toolcrib.surfaces.cli.host_files import replace_content

    target = file.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_content(target, text.encode())
    except OSError as error:
        raise StorageFailure(f"{file} cannot be written: {error.strerror}.") from None
