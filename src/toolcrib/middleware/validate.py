"""Validation: what a caller sent becomes checked arguments, or is refused with the right names."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, is_typeddict

from toolcrib.core.compat import Naming, compat_tables
from toolcrib.core.context import Call, Ctx, Proceed
from toolcrib.core.errors import BadInput, ConfigError, ConnectionFailed, TooLarge, ToolError
from toolcrib.core.names import nearest, plain
from toolcrib.core.result import Result
from toolcrib.core.tool import Parameter, Tool, record_fields
from toolcrib.files.paths import Workspace
from toolcrib.middleware.coercion import MAX_ITEMS, as_number, coerce, json_inside, one_of
from toolcrib.net.egress.public_url import is_reference

# Forgiving in form, strict in meaning. Accepted: declared aliases, other cases and dashes in
# names, "3" and "3,000" for numbers, "true" for true, one value where a list is wanted, JSON
# inside a string, for an optional parameter null and what says as little, amounts beyond their
# limits (with a note), the arguments of other systems (tables and a tool's argument adapter),
# unknown names without a value, and a model's remarks. Refused, with the right names: anything
# else unknown, and what else is out of range.

REMARKS = {"explanation", "instruction", "reason", "reasoning", "thought"}
"""Why a model makes a call: hosts teach it to say so, and no tool needs it."""
EMPTY: tuple[Any, ...] = (None, "", [], {})
AMOUNTS = {
    *("limit", "lines", "line_length", "max_chars", "depth", "context"),
    *("timeout", "time_limit", "wait", "delay"),
}
"""Arguments of which the nearest possible value means the same, but for how much."""


MIN_LIKENESS = 0.75
"""How like a name of an argument must be for a guess; limit and delimiter are 0.71."""
MIN_GUESS = 3
"""Characters of a name that is guessed: top is no `to`."""
Pins = Mapping[str, Mapping[str, Any]]
NOTHING: Pins = {}


async def bind(
    tool: Tool, given: Any, ctx: Ctx, naming: Naming | None = None, pins: Pins = NOTHING
) -> dict[str, Any]:
    """The keyword arguments for the tool's function.

    `given` is an object, the same as JSON text, or None for no arguments. `naming` is what
    another system means by the name that was called, `pins` what the user has set.

    Raises:
        BadInput: broken JSON, an unknown or missing argument, a value that does not fit.
    """
    named = rename(tool, _as_mapping(tool, given), naming)
    if pins:
        named = _pinned(tool, named, pins, ctx)
    _move_lists(tool, named)
    bound: dict[str, Any] = {}
    for parameter in tool.parameters:
        value = named.get(parameter.name)
        if value is not None and not parameter.required:
            value = _within_limits(parameter, _or_absent(parameter, value), ctx)
        if value is None:
            if parameter.required:
                raise _missing(tool, parameter)
            bound[parameter.name] = parameter.default
            continue
        bound[parameter.name] = await _checked(parameter, _fitting(tool, parameter, value), ctx)
    return bound


def _move_lists(tool: Tool, named: dict[str, Any]) -> None:
    """Several values for a parameter of one go to its plural, as from `url` to `urls`."""
    lists = {parameter.name for parameter in tool.parameters if parameter.is_list}
    for parameter in tool.parameters:
        name, value = parameter.name, named.get(parameter.name)
        several = isinstance(value, list) and len(value) > 1 and not parameter.is_list
        for plural in (f"{name}s", f"{name.removesuffix('y')}ies"):
            if several and plural in lists and not named.get(plural):
                named[plural] = named.pop(name)
                break


def _pinned(tool: Tool, named: dict[str, Any], pins: Pins, ctx: Ctx) -> dict[str, Any]:
    """The arguments with those that the user has set, whatever the caller sent for them.

    Raises:
        ConfigError: what is set is no argument of the tool, or no value of it.
    """
    known = {plain(name) for name in (tool.name, *tool.all_aliases)}
    for wanted, values in pins.items():
        if plain(wanted) not in known:
            continue
        for key, value in values.items():
            name = next((p.name for p in tool.parameters if plain(p.name) == plain(key)), "")
            if not name:
                raise ConfigError(f"pin.{wanted}.{key} is no argument.", hint=usage(tool))
            if value is not False and (value == 0 or str(value).lower() == "auto"):
                continue  # the model decides
            if name in named and named[name] != value:
                ctx.warn(
                    f"'{name}' is {json.dumps(value)} here: the user has set it (pin.{wanted})."
                )
            named[name] = value
    return named


def _or_absent(parameter: Parameter, value: Any) -> Any:
    """The value of an optional argument; None where it says nothing, as small models write it.

    An empty text is one for a tool that takes texts, and an empty list one for most.
    """
    meta = parameter.meta
    item = parameter.item if parameter.is_list else parameter
    is_place = item.meta.kind in ("path", "url")
    if parameter.is_list and is_place and isinstance(value, list):
        return [part for part in value if part not in ("", None)] or None
    if isinstance(value, str) and not value.strip():
        plain_text = item.type is str and not is_place and meta.kind != "json"
        return value if plain_text and not parameter.is_list else None
    is_number = parameter.type in (int, float)
    if is_number and str(value).strip() in ("0", "0.0") and not isinstance(value, bool):
        return None if meta.minimum is not None and meta.minimum > 0 else value
    return value


def _within_limits(parameter: Parameter, value: Any, ctx: Ctx) -> Any:
    """An amount that is too large as the largest that can be had, with a note."""
    high = parameter.meta.maximum
    if value is None or high is None or parameter.name not in AMOUNTS:
        return value
    number = as_number(parameter, value, limited=False)
    if number <= high:
        return value
    ctx.warn(f"'{parameter.name}' is at most {high:.15g}: {high:.15g}, not {number:.15g}.")
    return type(number)(high)


def _fitting(tool: Tool, parameter: Parameter, value: Any) -> Any:
    """A value as its parameter takes it; one of another system's tool of this name as ours."""
    try:
        return coerce(parameter, value)
    except BadInput:
        tables = compat_tables()
        naming = tables.naming(tool.name)
        argument = ((naming and naming.arguments) or {}).get(plain(parameter.name))
        words = dict(tables.words.get(tool.name, {}).get(parameter.name, {}))
        words |= argument.values if argument else {}
        meant = _meant(value, words)
        if meant == value:
            raise
        return coerce(parameter, meant)


def _meant(value: Any, words: Mapping[str, Any]) -> Any:
    """A value in the words here, or a list of such; what has no other word stays."""
    if not isinstance(value, list):
        return words.get(str(value).strip().lower(), value)
    found = [_meant(one, words) for one in value]
    return [one for part in found for one in (part if isinstance(part, list) else [part])]


def _as_mapping(tool: Tool, given: Any) -> Mapping[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"The arguments of {tool.name} are not valid JSON: {error}.", hint=usage(tool)
            ) from None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadInput(f"The arguments of {tool.name} must be a JSON object.", hint=usage(tool))
    return given


def rename(tool: Tool, given: Mapping[str, Any], naming: Naming | None = None) -> dict[str, Any]:
    """The arguments under their canonical names, still unchecked.

    `naming` is what another system means by the name that was called. The name of a tool here
    is one of other systems too: then only what the tool does not know itself is theirs.

    Raises:
        BadInput: a name that the tool does not know, or one given twice.
    """
    names = tool.argument_names
    given = _with_others_within(tool, given)
    spelt = {plain(name): name for name in given}
    if naming is not None:
        sent = naming.meaning(given)
        others = compat_tables().parameters.get(tool.name, {})
        spellings = {**others, **names}
        meant = {spellings.get(plain(name), name) for name, value in sent if value is not None}
        sent += [(name, value) for name, value in naming.fixed.items() if name not in meant]
    elif spelt.keys() <= names.keys():
        sent = list(given.items())
    else:
        shared = compat_tables().naming(tool.name)
        sent = shared.meaning(given, names) if shared else list(given.items())
    named: dict[str, Any] = {}
    words: dict[str, str] = {}
    for name, value in _understood(tool, sent):
        known = names.get(name)
        if known is None and name not in REMARKS:
            known = compat_tables().parameters.get(tool.name, {}).get(name)
        if known is None:
            if name in REMARKS or value is None or value in ("", [], {}):
                continue
            if name in compat_tables().ignored.get(tool.name, ()):
                continue
            raise _unknown(tool, spelt.get(name, name), value)
        if known in named and value in EMPTY:
            continue
        if named.get(known, EMPTY[0]) not in EMPTY and named[known] != value:
            both = " and ".join(f"'{spelt.get(n, n)}'" for n in (words[known], name))
            also = f", as {both}" if words[known] != name else ""
            raise BadInput(f"{tool.name}: '{known}' was given twice{also}, with different values.")
        named[known], words[known] = value, name
    return named


def _with_others_within(tool: Tool, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, with those that have no parameter in the one that holds such, if any."""
    name = tool.parameter_of_others
    if not name:
        return given
    others = {key: value for key, value in given.items() if plain(key) not in tool.argument_names}
    if not others:
        return given
    rest = {key: value for key, value in given.items() if key not in others}
    held = next((key for key in rest if plain(key) == plain(name)), name)
    before = json_inside(rest[held]) if isinstance(rest.get(held), str) else rest.get(held)
    return {**rest, held: {**(before if isinstance(before, Mapping) else {}), **others}}


def _understood(tool: Tool, given: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What was given under plain names, said as this tool says it."""
    offered = [(plain(name), value) for name, value in given]
    if tool.argument_adapter is None or len({name for name, _ in offered}) < len(offered):
        return offered
    adapted = dict(offered)
    tool.argument_adapter(adapted)
    return list(adapted.items())


def usage(tool: Tool) -> str:
    """The parameters in one line, as an error shows them."""
    text = [p.name if p.required else f"{p.name}?" for p in tool.parameters]
    return f"{tool.name} takes: {', '.join(text) or 'no arguments'}."


def _unknown(tool: Tool, name: str, value: Any) -> BadInput:
    """The error for a name that is none; it guesses what was meant where the value fits, too."""
    known = {p.name: p for p in tool.parameters if len(p.name) >= MIN_GUESS}
    near = nearest(name, known, count=1, min_ratio=MIN_LIKENESS)
    near = near or [other for other in known if _begins_with(name, other)][:1]
    near = [other for other in near if _is_of_kind(known[other], value)]
    guess = f"Did you mean '{near[0]}'? " if near else ""
    message = f"{tool.name} has no argument '{str(name)[:80]}'."
    facts = {} if near else {"unknown": str(name)[:80]}  # no slip of the pen, but another's
    return BadInput(message, hint=guess + usage(tool), **facts)


def _begins_with(name: str, other: str) -> bool:
    """Whether a name is another and more, with enough of it the same to be no chance."""
    whole, start = plain(name), plain(other)
    return 2 * len(start) >= len(whole) and whole.startswith(start)


def _is_of_kind(parameter: Parameter, value: Any) -> bool:
    """Whether a value is one for a parameter; no number is for a text, though it can be read so."""
    if parameter.type is str and isinstance(value, bool | int | float):
        return False
    with suppress(BadInput):
        coerce(parameter, value)
        return True
    return False


def _missing(tool: Tool, parameter: Parameter) -> BadInput:
    choices = parameter.choices
    adapted = one_of(choices) if choices else parameter.meta.description
    described = f" ({adapted})" if adapted else ""
    return BadInput(f"{tool.name} needs '{parameter.name}'{described}.", hint=usage(tool))


_FILE_NAMES = re.compile(r"[\w./~-]*[./][\w./~-]*(?:,\s*[\w./~-]*[./][\w./~-]*)+")


def _paths_in(text: str, ctx: Ctx) -> list[str]:
    """The paths in one text with commas or blanks, where there is no file of just that name."""
    if "," not in text:
        words = text.split()
        return (
            words if not _is_there(text, ctx) and all(_is_there(w, ctx) for w in words) else [text]
        )
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if _is_there(text, ctx) or len(parts) > MAX_ITEMS:
        return [text]
    are_paths = _FILE_NAMES.fullmatch(text.strip()) or any(_is_there(part, ctx) for part in parts)
    return parts if are_paths else [text]


def _is_there(path: str, ctx: Ctx) -> bool:
    with suppress(ToolError):
        place = ctx.use(Workspace).resolve(path, ctx.session.directory)
        return os.path.lexists(place.absolute)
    return False


async def _checked(parameter: Parameter, value: Any, ctx: Ctx) -> Any:
    if parameter.is_list:
        item = parameter.item
        if item.meta.kind == "path" and len(value) == 1 and ("," in value[0] or " " in value[0]):
            value = _paths_in(value[0], ctx)
        return [await _checked(item, given, ctx) for given in value]
    if is_typeddict(parameter.type):
        known = {f.name: f for f in record_fields(parameter.type)}
        return {name: await _checked(known[name], item, ctx) for name, item in value.items()}
    if parameter.meta.check is None:
        return value
    checked = parameter.meta.check(value, ctx)
    return await checked if inspect.isawaitable(checked) else checked


async def validate(call: Call, proceed: Proceed) -> Result:
    """Replace the caller's arguments by checked keyword arguments.

    Raises:
        TooLarge: more text than `limits.max_argument_chars`.
        BadInput: anything that the tool does not take.
    """
    limit = call.ctx.config.limits.max_argument_chars
    if _size(call.arguments) > limit:
        raise TooLarge(
            f"The arguments of {call.tool.name} are larger than {limit:,} characters.",
            hint="Send less at a time, or raise limits.max_argument_chars.",
        )
    try:
        bound = await bind(call.tool, call.arguments, call.ctx, call.naming, call.ctx.config.pin)
        return await proceed(replace(call, arguments=bound))
    except BadInput as error:
        if error.hint == BadInput.default_hint:
            error.hint = usage(call.tool)
        raise
    except ConnectionFailed as error:
        named = rename(call.tool, _as_mapping(call.tool, call.arguments), call.naming)
        typed, url = str(named.get("url") or ""), str(bound.get("url") or "")
        has_scheme = "://" in typed or typed.lstrip(" \t\r\n<>\"'").startswith("//")
        is_bare = typed and not has_scheme and not is_reference(typed)
        if is_bare and url.startswith("https://"):
            error.hint = f"https:// was added to the address; try http:{url[6:206]}."
        raise


def _size(value: Any) -> int:
    """Characters of text in a JSON value."""
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
        total += 1
    return total
