"""`update_env_file`: one variable of a file of variables, the rest of which nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import MACHINE, WRITE, Decision, Param, Right, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.text_loader import load_or_new, need_size
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath, resolve_meant
from toolcrib.system.threads import Checkpoint, in_thread

# Files of variables: where the value of a key stands, and how a value is written.

KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
MAX_VALUE_CHARS = 32_768
_ENTRY = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*", re.ASCII)
_PLAIN = re.compile(r"[\w./:@%+,=~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class EnvEntry:
    """A key and where its value stands: the characters from `start` to `end`, quotes included."""

    key: str
    start: int
    end: int
    line: int


def entries(text: str) -> Iterator[EnvEntry]:
    """The entries of a file; a value in quotes may go on over several lines.

    Raises:
        BadInput: a quotation mark is never closed, so nobody knows what belongs to what.
    """
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        found = _ENTRY.match(text, at, end)
        if found is None:
            at = end + 1
            continue
        line = text.count("\n", 0, at) + 1
        stop = _value_end(text, found.end(), end, line)
        yield EnvEntry(found[1], found.end(), stop, line)
        after = text.find("\n", stop)
        at = len(text) if after < 0 else after + 1


def _value_end(text: str, start: int, line_end: int, line: int) -> int:
    quote = text[start : start + 1]
    if quote not in ('"', "'", "`") or start >= line_end:
        bare = text[start:line_end]
        comment = re.search(r"(?:^|[ \t])#", bare)
        return start + len((bare[: comment.start()] if comment else bare).rstrip(" \t\r"))
    at = start + 1
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    raise BadInput(
        f"The quotation mark in line {line} is never closed.", hint="Mend the file first."
    )


def written(value: str, before: str = "") -> str:
    """A value as it stands in a file, in the quotes that `before` had where they do.

    Raises:
        BadInput: however it is written, programs read it differently.
    """
    if len(value) > MAX_VALUE_CHARS:
        raise BadInput(f"The value has more than {MAX_VALUE_CHARS:,} characters.")
    if any(ord(sign) < 32 and sign not in "\t\n" for sign in value) or "\x7f" in value:
        raise BadInput("The value holds control characters.", hint="Send it as plain text.")
    quote = before[:1]
    if _PLAIN.fullmatch(value) and quote not in ('"', "'"):
        return value
    if "\n" not in value and "'" not in value and quote != '"':
        return f"'{value}'"
    if quote == "'" and "'" not in value and "\n" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("$", "\\$").replace("`", "\\`") + '"'


PROTECTED = (".env*", "?*.env")
"""The built-in patterns that this tool may pass, once a person has let it."""
TEMPLATES = (".env.example", ".env.sample", ".env.template", ".env.dist")
USUAL = ".env"


def _resolve(value: str, ctx: Ctx) -> SafePath:
    """A file of variables that may be written; what else protects it still does."""
    path = resolve_meant(value, ctx, PROTECTED)
    path.gate.check(path, "write")
    name = fold(path.name)
    if not (name.startswith(".env") or name.endswith(".env")):
        raise BadInput(
            f"{path.display} is no file of variables.",
            hint="Their names are .env, .env.local, app.env; edit_file changes other files.",
        )
    return path


EnvFilePath: TypeAlias = Annotated[SafePath, Param(kind="path", check=_resolve, json_type="string")]


def _key(value: str, ctx: Ctx) -> str:
    """Refused before anybody is asked about it."""
    del ctx
    if not KEY.fullmatch(value):
        raise BadInput(
            f"'{value[:60]}' is no name of a variable.",
            hint="Letters, digits and _, not beginning with a digit.",
        )
    return value


def _needed(given: Mapping[str, Any]) -> Right:
    path = given["path"]
    return WRITE if path is not None and fold(path.name) in TEMPLATES else WRITE | MACHINE


async def _reason(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    del ctx
    if _needed(arguments) == WRITE:
        return None
    path = arguments["path"]
    return Decision("ask", f"{path.display if path else USUAL} holds secrets and is protected")


@tool(
    group="system",
    rights=WRITE | MACHINE,
    keywords=("dotenv", "environment file", ".env", "set variable", "configuration"),
    aliases=("env_update", "set_env_variable"),
    argument_aliases={"file": "path", "file_path": "path", "name": "key", "variable": "key"},
    idempotent=True,
    effective_rights=_needed,
    policy_check=_reason,
)
async def update_env_file(
    key: Annotated[str, Param("Of the variable.", plain=True, check=_key)],
    value: Annotated[str, Param("Its new value.", plain=True)],
    path: Annotated[EnvFilePath | None, Param("Else .env.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Set one variable in a .env file.

    All else in the file stays as it is, to the byte, and is not shown. The file is made if
    it is missing. The user is asked, since such files are protected.
    """
    file = path or _resolve(USUAL, ctx)

    def work(_: Checkpoint) -> tuple[Step, str, int]:
        return _step(file, key, value)

    step, done, line = await in_thread(work, ctx.deadline)
    applied = await ctx.use(Changes).apply(step, ctx)
    text = f"{file.display}: {key} {done} (line {line})"
    data = {"path": file.display, "key": key, "line": line, "done": done, "step": applied.step}
    return Result(f"{text}\n{applied.note}" if applied.note else text, data, private=True)


def _step(file: SafePath, key: str, value: str) -> tuple[Step, str, int]:
    loaded = load_or_new(file)
    text = loaded.text
    found = [entry for entry in entries(text) if entry.key == key]
    if found:
        last = found[-1]  # the one that counts
        before = text[last.start : last.end]
        new = written(value, before)
        splice, line = Splice(last.start, last.end, new), last.line
        done = "is so already" if new == before else "changed"
        if len(found) > 1:
            done += f"; it stands {len(found)} times, and the last one counts"
    else:
        gap = "\n" if text and not text.endswith("\n") else ""
        splice = Splice(len(text), len(text), f"{gap}{key}={written(value)}\n")
        done, line = "added", text.count("\n") + 1 + len(gap)
    step = Step("update_env_file")
    data = need_size(file, loaded.faithful.spliced([splice]))
    step.write(file, data, expected=loaded.fingerprint, merged=True)
    return step, done, line
