"""`list_env`: the variables of the environment, without their secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from toolcrib.core.config import Config, environment
from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.state.redaction import HIDDEN, names_secret, redact_text
from toolcrib.state.secret_finder import looks_random, secret_kind
from toolcrib.text.cleaner import one_line

VALUE_CHARS = 200
FOLDERS = {"PWD", "OLDPWD"}
"""Named as a password is, and none."""


@tool(
    group="system",
    rights=READ,
    keywords=("environment variables", "printenv", "path", "export", "getenv", "variable"),
    aliases=("env", "get_env", "environment_variables", "env_inspect"),
    argument_aliases={"name": "filter", "pattern": "filter"},
)
async def list_env(
    filter: Annotated[str, Param("Part of a name.")] = "",  # noqa: A002 - as elsewhere
    prefix: Annotated[str, Param("How a name begins.", unlisted=True)] = "",
    *,
    ctx: Ctx,
) -> Result:
    """List the environment variables of toolcrib; secrets are hidden.

    Of a secret it says that it is set, and no more. Programs that run_command starts see
    fewer of them.
    """
    own = set(_named_secrets(ctx.config))
    wanted, start = filter.casefold().strip(), prefix.casefold().strip()
    found = {
        name: value
        for name, value in sorted(environment(("*",)).items())
        if wanted in name.casefold() and name.casefold().startswith(start)
    }
    listed = {name: HIDDEN if name in own else safe_value(name, v) for name, v in found.items()}
    chars = VALUE_CHARS if len(listed) > 1 else 8 * VALUE_CHARS
    lines = [f"{name}={one_line(value, chars)}" for name, value in listed.items()]
    hidden = sum(HIDDEN in value for value in listed.values())
    head = f"{len(listed)} variables" + (f", {hidden} with something hidden" if hidden else "")
    return Result("\n".join([head, *lines]), {"variables": listed, "hidden": hidden})


def safe_value(name: str, value: str) -> str:
    """A value without what seems to be a secret; rather too little than too much is listed."""
    if name in FOLDERS:
        return redact_text(value)
    if value and (names_secret(name) or secret_kind(value) or looks_random(value)):
        return HIDDEN
    return redact_text(value)


def _named_secrets(config: Config) -> Iterator[str]:
    """The variables that the configuration says hold secrets."""
    yield from _names_in(config.model_dump())


def _names_in(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _names_in(item, str(name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _names_in(item, key)
    elif isinstance(value, str) and value and (key == "env" or key.endswith("_env")):
        yield value
