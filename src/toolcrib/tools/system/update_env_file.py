"""`update_env_file`: one variable of a file of variables, the rest of which nobody sees."""

from __future__ import annotations

from collections.abc import Mapping
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
from toolcrib.tools.system.env_file import KEY, entries, written

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
