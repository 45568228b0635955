"""`toolcrib config`: the effective settings, and the layer that each comes from."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, ConfigError
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.text.toml_values import inline_toml, toml_key

if TYPE_CHECKING:
    from toolcrib.core.config import Config

# A configuration as TOML, each value with the layer that it comes from.

SettingPath = tuple[str, ...]
Origin = Callable[[SettingPath], str]


def document(tree: Mapping[str, Any], origin: Origin) -> str:
    """The tree as TOML text; `origin` names the layer of a value, shown behind it."""
    return "\n".join(_table(tree, (), origin)).strip("\n") + "\n"


def _table(tree: Mapping[str, Any], path: SettingPath, origin: Origin) -> Iterator[str]:
    values = {k: v for k, v in tree.items() if not _is_table(v) and not _is_table_list(v)}
    if path and values:
        yield f"\n[{'.'.join(map(toml_key, path))}]"
    for name, value in values.items():
        comment = f"  # {origin((*path, name))}"
        yield (
            f"# {name} is not set"
            if value is None
            else f"{toml_key(name)} = {inline_toml(value)}{comment}"
        )
    for name, value in tree.items():
        if _is_table(value):
            yield from _table(value, (*path, name), origin)
        elif _is_table_list(value):
            yield from _table_list(value, (*path, name), origin)


def _table_list(
    items: Sequence[Mapping[str, Any]], path: SettingPath, origin: Origin
) -> Iterator[str]:
    for item in items:
        yield f"\n[[{'.'.join(map(toml_key, path))}]]  # {origin(path)}"
        for name, value in item.items():
            if value is not None:
                yield f"{toml_key(name)} = {inline_toml(value)}"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


WORDS = {"show": 0, "path": 0, "check": 0, "get": 1, "set": 2, "unset": 1, "init": 0}
"""What the command does, and how many words follow."""
ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
WHAT = """\
what to do:
  show     every setting as TOML, with the layer it comes from (the default)
  path     the file that is read
  check    whether the settings are right
  get KEY          one setting, like web.search.limit
  set KEY VALUE    write it to the file; comments in it stay
  unset KEY        take it out of the file again
  init             write a first file, with examples in comments

layers, each over the one before: default, LLM_CHAT_WEB_*, file, env
(TOOLCRIB_*), flag
"""


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = WHAT
    parser.add_argument("what", nargs="?", choices=tuple(WORDS), default="show")
    parser.add_argument("key", metavar="KEY", nargs="?", help="a setting, like web.search.limit")
    parser.add_argument("value", metavar="VALUE", nargs="?", help="as in TOML, or plain text")


def run(options: Namespace, flags: Flags) -> int:
    """Print what was asked for."""
    file = flags.file
    _check_words(options)
    if options.key is not None:
        options.key = _own_name(options.key)
    if options.what == "path":
        print(file)
        return 0
    if options.what in ("set", "unset", "init"):
        return _change(options, file, flags)
    config = flags.load()
    if options.what == "check":
        return _check(file, config)
    for problem in config.problems:
        print(f"warning: {problem}", file=sys.stderr)
    layers = _layers(file, flags)
    if options.what == "get":
        return _get(str(options.key), config, layers)
    print(f"# {file}{'' if file.is_file() else ' (no such file)'}")
    print("# each value with its layer: default, LLM_CHAT_WEB_*, file, env or flag\n")
    tree = displayed(config.model_dump(mode="json"))
    print(document(tree, lambda path: _origin(path, layers)), end="")
    return 0


def _check_words(options: Namespace) -> None:
    given = sum(word is not None for word in (options.key, options.value))
    if given != WORDS[options.what]:
        wanted = ("", " KEY", " KEY VALUE")[WORDS[options.what]]
        raise BadInput(
            f"toolcrib config {options.what} takes {WORDS[options.what] or 'no'} more words.",
            hint=f"Write: toolcrib config {options.what}{wanted}",
        )


def _change(options: Namespace, file: Path, flags: Flags) -> int:
    from toolcrib.surfaces.cli import config_file

    if options.what == "init":
        begun = config_file.begin(file)
        print(f"{'Wrote' if begun else 'There is one already:'} {file}")
        return 0
    if options.what == "unset":
        done = config_file.unset(file, options.key)
        if not done:
            _value(options.key, flags.load())  # of no setting it is said that there is none
        print(f"{options.key} is {'no longer' if done else 'not'} in {file}")
        return 0
    _require_existing(options, flags)
    value = config_file.set_value(file, options.key, options.value)
    print(f"{options.key} = {inline_toml(_plain(value))} in {file}")
    for name in os.environ:
        if name.upper() == f"TOOLCRIB_{options.key.replace('.', '__')}".upper():
            print(f"note: {name} is set and goes before the file.", file=sys.stderr)
    return 0


def _own_name(key: str) -> str:
    """The name here of a switch that another system calls so; else the key as it is."""
    from toolcrib.surfaces.cli.foreign_settings import known_settings

    found = known_settings().get(key.removeprefix("switches."))
    return found[1].to if found is not None and found[1].to.startswith("switches.") else key


def _require_existing(options: Namespace, flags: Flags) -> None:
    """Refuse a value that names what does not exist.

    Raises:
        ToolError: it does; with the names that there are.
    """
    from toolcrib.surfaces.cli.settings_check import faults

    setting = f"{options.key}={options.value}"
    try:
        config = replace(flags, settings=(*flags.settings, setting)).load()
    except ConfigError:
        return  # writing it says what is wrong with its form
    wrong = faults(config).get(options.key)
    if wrong is not None:
        raise wrong


def _plain(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value


def _value(key: str, config: Config) -> Any:
    value: Any = displayed(config.model_dump(mode="json"))
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise BadInput(f"There is no setting {key[:80]}.", hint="toolcrib config shows them.")
        value = value[part]
    return value


def _get(key: str, config: Config, layers: Mapping[str, Mapping[str, Any]]) -> int:
    value = _value(key, config)
    print("not set" if value is None else inline_toml(value))
    print(f"from: {_origin(tuple(key.split('.')), layers)}", file=sys.stderr)
    return 0


def _layers(file: Path, flags: Flags) -> dict[str, Mapping[str, Any]]:
    """What each layer says, the strongest first."""
    from toolcrib.core.config import Config, read_environment, read_toml, with_new_names
    from toolcrib.core.llm_chat_web import read_variables

    layers = {
        "flag": flags.layer(),
        "env": read_environment(os.environ, Config),
        "file": read_toml(file) if file.is_file() else {},
        "LLM_CHAT_WEB_*": read_variables(os.environ)[0],
    }
    return {name: with_new_names(layer) for name, layer in layers.items()}


def _origin(path: tuple[str, ...], layers: Mapping[str, Mapping[str, Any]]) -> str:
    from toolcrib.core.config import stands_in

    return next((name for name, layer in layers.items() if stands_in(layer, path)), "default")


def displayed(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree without what could be a secret: keys, passwords in addresses, tokens in headers."""
    from toolcrib.state.redaction import HIDDEN, names_secret, redact_text

    def value_of(name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: value_of(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [value_of(name, item) for item in value]
        if not isinstance(value, str) or not value:
            return value
        if name.endswith("_env"):
            return value if _is_variable(value) else HIDDEN
        return HIDDEN if names_secret(name) else redact_text(value)

    return {key: value_of(key, item) for key, item in tree.items()}


def _is_variable(name: str) -> bool:
    """Whether this can be the name of a variable, and not a key put in its place."""
    return name in os.environ or ENV_NAME.fullmatch(name) is not None


def _check(file: Path, config: Config) -> int:
    from toolcrib.surfaces.cli.settings_check import faults, unmatched_rules

    tree = config.model_dump(mode="json")
    problems = [*config.problems]
    problems += [f"{name}: {error.message} {error.hint}" for name, error in faults(config).items()]
    warnings = [
        *_misplaced_keys(tree, ""),
        *_misspelt_variables(tree),
        *unmatched_rules(config),
    ]
    for warning in (*problems, *warnings):
        print(f"warning: {warning}")
    if problems:
        print(f"Correct that in {file} or in the variables of the environment.")
        return 1
    print(f"The settings are right. File: {file}{'' if file.is_file() else ' (no such file)'}")
    return 0


def _misplaced_keys(tree: Mapping[str, Any], prefix: str) -> list[str]:
    found: list[str] = []
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found += _misplaced_keys(value, f"{prefix}{name}.")
        elif name.endswith("_env") and value and not _is_variable(value):
            found.append(
                f"{prefix}{name} wants the name of an environment variable, not the secret itself."
            )
    return found


def _misspelt_variables(tree: Mapping[str, Any]) -> list[str]:
    """Variables that look like settings and are none."""
    from difflib import get_close_matches

    found = []
    for name in sorted(os.environ):
        rest = name.removeprefix("TOOLCRIB_")
        if rest == name or "__" in rest or rest.lower() in tree:
            continue
        near = get_close_matches(rest.lower(), tree, n=1, cutoff=0.8)
        if near:
            found.append(f"{name} is not a setting. Did you mean TOOLCRIB_{near[0].upper()}?")
    return found
