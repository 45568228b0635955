"""JavaScript engines: which one runs the code, and how it is handed to it."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.package_data import package_text
from toolcrib.execution.interpreters.lmstudio import lmstudio_utils
from toolcrib.execution.interpreters.programs import find_program, prefix_of
from toolcrib.execution.interpreters.python import unfenced
from toolcrib.execution.toolchains import home

Name = Literal["deno", "node", "quickjs"]
HINT = (
    'Install Deno with `pip install "toolcrib[js]"` or from https://deno.com, or Node.js 20 or '
    "later from https://nodejs.org."
)

DENO_FLAGS = (
    *("--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"),
    *("--cached-only", "--deny-net", "--deny-run", "--deny-env", "--deny-sys", "--deny-ffi"),
    *("--allow-read=.", "--allow-write=.", "--ext=ts", "--no-check"),
)
# Models write for Node: names of its modules without their prefix, and `require`.
NODE_MODULES = (
    *("assert", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "http"),
    *("https", "module", "net", "os", "path", "perf_hooks", "process", "querystring"),
    *("readline", "stream", "string_decoder", "timers", "timers/promises", "tty", "url"),
    *("util", "v8", "vm", "worker_threads", "zlib"),
)
IMPORT_MAP = "data:application/json," + json.dumps(
    {"imports": {name: f"node:{name}" for name in NODE_MODULES}}
)
REQUIRE_PRELUDE = (
    "data:text/javascript,"
    'import{createRequire}from"node:module";'
    "globalThis.__dirname=Deno.cwd();globalThis.__filename=`${__dirname}/code.js`;"
    "globalThis.require=createRequire(__filename);"
    "globalThis.module={exports:{}};globalThis.exports=module.exports;"
)
USES_REQUIRE = re.compile(r"\b(?:require\s*\(|require\.main\b|__dirname\b|module\.exports\b)")


@dataclass(frozen=True, slots=True)
class JavaScriptEngine:
    """An engine: `argv` is empty for the one that runs inside of a worker of ours."""

    name: Name
    program: str = ""
    readable: tuple[Path, ...] = ()

    def argv(self, code: str) -> list[str]:
        """The command that runs the code on its input."""
        if self.name == "deno":
            more = [f"--import-map={IMPORT_MAP}"]
            if USES_REQUIRE.search(code):
                more.append(f"--preload={REQUIRE_PRELUDE}")
            return [self.program, "run", *DENO_FLAGS, *more, "-"]
        return [self.program, "-e", package_text("execution/interpreters/node_boot.js")]

    @property
    def environment(self) -> dict[str, str]:
        """Variables that it needs: it must not look for a cache in the workspace."""
        if self.name == "deno":
            return {"DENO_DIR": "/tmp/deno", "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}  # noqa: S108
        return {"NO_COLOR": "1", "NODE_NO_WARNINGS": "1"}


def engine_for(ctx: Ctx, *, confined: bool) -> JavaScriptEngine:
    """The configured engine, else Deno, else Node, else the one for computing alone.

    Args:
        ctx: the call.
        confined: whether programs can be started here; else only the last one may run.

    Raises:
        Unavailable: the configured one, or any, is not there.
    """
    wanted = ctx.config.run.javascript
    if wanted != "quickjs" and (confined or wanted != "auto"):
        names: tuple[Name, ...] = ("deno", "node")
        for name in names:
            program = (
                find_program(ctx, name, installer_folders(name)) if wanted in ("auto", name) else ""
            )
            if program:
                return JavaScriptEngine(name, program, tuple(prefix_of(program)))
    if wanted in ("auto", "quickjs") and find_spec("quickjs") is not None:
        return JavaScriptEngine("quickjs")
    if wanted == "quickjs":
        raise Unavailable(
            "The package quickjs-ng is not installed here.",
            hint="The user can install it: pip install quickjs-ng",
        )
    missing = {"deno": "Deno is not", "node": "Node.js is not"}
    message = missing.get(wanted, "Neither Deno nor Node.js is")
    raise Unavailable(f"{message} on this machine.", hint=HINT)


def clean_code(code: str) -> str:
    """Code without the fence of Markdown around it.

    Raises:
        BadInput: it is nothing, or no text.
    """
    code = unfenced(code)
    if not code.strip():
        raise BadInput("The code is empty.")
    if "\0" in code:
        raise BadInput("The code is not text: it holds NUL characters.", hint="Send source code.")
    return code


def installer_folders(name: str) -> list[Path]:
    """Where installers put it, beside PATH."""
    folders = [Path(sys.executable).parent] if sys.executable and name == "deno" else []
    if name == "deno":
        return [*folders, home() / ".deno/bin", *lmstudio_utils()]
    found = sorted((home() / ".nvm/versions/node").glob("v*/bin"), key=_version, reverse=True)
    return [*found, home() / ".volta/bin"]


def _version(folder: Path) -> tuple[int, ...]:
    parts = folder.parent.name.lstrip("v").split(".")
    return tuple(int(part) if part.isdigit() else 0 for part in parts)
