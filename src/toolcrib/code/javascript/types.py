"""Whose a member is, told by the project's own TypeScript where its types say it.

Scopes alone cannot tell whose `run` is meant in `job.run()`. Where Node.js and a `typescript` are
there, the compiler is asked about these places. It is the project's code, or the user's, so it
runs within the boundary of runs, sees the workspace read only and has no network; what it says
can only move a place between the certain ones, the possible ones and those of other symbols.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolcrib.code.javascript.members import UNCLEAR_OWNER
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.places import Place, SymbolReferences
from toolcrib.code.project import Project
from toolcrib.core.errors import ToolError
from toolcrib.core.package_data import package_text
from toolcrib.execution.interpreters.javascript import installer_folders
from toolcrib.execution.interpreters.programs import find_program, prefix_of, toolchains
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.system.collector import collect
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted

COMPILER = "node_modules/typescript/lib/typescript.js"
MAX_PLACES = 2_000
MAX_SECONDS = 20.0
"""A project of 1,000 files takes some three seconds; what takes longer is shown as before."""
MAX_OUTPUT_BYTES = 4_000_000
SCRIPT = package_text("code/javascript/member_owners.js")


async def decide_members(project: Project, found: SymbolReferences) -> None:
    """Move what the types decide out of the possible places; without a compiler nothing moves."""
    places = [p for p in found.possible if p.kind != "text" and language_of(p.path) in SCRIPTS]
    if not found.certain or not 0 < len(places) <= MAX_PLACES:
        return
    definitions = [place for place in found.certain if place.kind == "definition"]
    seed = (definitions or found.certain)[0]
    with suppress(ToolError):  # a boundary that fails, no time: all stays possible
        answer = await _ask(project, found.name, seed, definitions, places)
        verdicts = answer.get("verdicts", ())
        if len(verdicts) == len(places) and all(isinstance(one, str) for one in verdicts):
            _apply(project, found, dict(zip(places, verdicts, strict=True)))
            found.types_by = f"TypeScript {str(answer.get('version', ''))[:20]}"
            if others := verdicts.count("other"):
                found.types_by += f", {counted(others, 'place')} of others left out"


def _apply(project: Project, found: SymbolReferences, verdicts: dict[Place, str]) -> None:
    why = UNCLEAR_OWNER.format(name=found.name)
    found.certain = sorted([*found.certain, *(p for p, one in verdicts.items() if one == "ours")])
    found.possible = [p for p in found.possible if verdicts.get(p) not in ("ours", "other")]
    open_lines = {f"{project.display(p.path)}:{p.line}: {why}" for p in found.possible}
    decided = {f"{project.display(p.path)}:{p.line}: {why}" for p, one in verdicts.items() if one}
    found.obstacles = [each for each in found.obstacles if each not in decided - open_lines]


async def _ask(
    project: Project, name: str, seed: Place, ours: list[Place], places: list[Place]
) -> dict[str, Any]:
    """What the compiler says of some places; nothing where there is none.

    Raises:
        Unavailable: no boundary works here.
    """
    ctx = project.ctx
    if "group:run" in ctx.config.switches.off():  # then nothing runs that is not ours
        return {}
    node = find_program(ctx, "node", installer_folders("node"))
    compiler = _compiler(project, seed.path) if node else ""
    sandbox = ctx.use(Sandbox)
    if not compiler or (await sandbox.report()).level == "none":
        return {}

    def question(_: object) -> bytes:
        def given(place: Place) -> list[object]:
            before = project.text(place.path).split("\n")[place.line - 1][: place.column]
            return [place.path, place.line - 1, len(before.encode("utf-16-le", "replace")) // 2]

        request = {
            "compiler": compiler,
            "name": name.lstrip("#"),
            "seed": given(seed),
            "ours": [given(place) for place in ours],
            "places": [given(place) for place in places],
        }
        return json.dumps(request).encode()

    stdin = await in_thread(question, ctx.deadline)
    left = MAX_SECONDS
    if ctx.deadline is not None:
        left = min(left, (ctx.deadline - asyncio.get_running_loop().time()) / 2)
    readable = [*toolchains(ctx).readable, *prefix_of(node), Path(compiler).parent]
    child = await sandbox.spawn(
        [node, "-e", SCRIPT],
        cwd=project.scope.real,
        stdin=stdin,
        env={"NO_COLOR": "1", "NODE_NO_WARNINGS": "1"},
        readable=readable,
    )
    done = await collect(child, left, None, MAX_OUTPUT_BYTES)
    with suppress(ValueError):
        answer = json.loads(str(done.stdout))
        return answer if isinstance(answer, dict) else {}
    return {}


def _compiler(project: Project, path: str) -> str:
    """The project's own compiler, nearest to a file, else the user's; "" where there is none."""
    top = Path(project.scope.real.absolute)
    for folder in (top / path).parents:
        if (folder / COMPILER).is_file():
            return str(folder / COMPILER)
        if folder == top:
            break
    program = find_program(project.ctx, "tsc", installer_folders("node"))
    library = Path(os.path.realpath(program)).parents[1] / "lib/typescript.js" if program else None
    return str(library) if library is not None and library.is_file() else ""
