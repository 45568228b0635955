"""`lint_project`: the checks that a project uses, and the problems they find."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import EXEC, READ, Param, Seconds, other_names, tool
from toolcrib.execution.command_policy import code_verdict
from toolcrib.execution.interpreters.programs import (
    Folders,
    find_program,
    how_to_get,
    is_program,
    not_installed,
    prefix_of,
    toolchains,
)
from toolcrib.execution.interpreters.python import python_for
from toolcrib.execution.network_access import NetworkRequests
from toolcrib.execution.runs.outcome import RunResult
from toolcrib.execution.runs.runs import Runs
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import in_thread, in_thread_if_large
from toolcrib.text.cleaner import printed
from toolcrib.text.display import counted
from toolcrib.tools.run import argument_adapters
from toolcrib.tools.run.argument_adapters import MAX_SECONDS
from toolcrib.tools.run.report import OutputFollower, fit_to_budget
from toolcrib.tools.run.runners import has, names_in, nested_projects, package_of, text_of

PLACE = re.compile(
    r"^(?:[ ]*--> )?(?P<file>[^\s:|][^:|\n]*?):(?P<line>\d+)(?::(?P<column>\d+))?:?\s*(?P<what>.*)$"
)
BIOME_SAYS = re.compile(r"\s*[!i\u00d7\u2716\u24d8]\s+(\S.*)$")
ESLINT_FILE = re.compile(r"^(?:/|\w:\\)\S.*\.\w+$")
ESLINT_LINE = re.compile(r"^\s+(\d+):(\d+)\s+(error|warning)\s+(\S.*)$")
CLIPPY = re.compile(
    r"^(warning|error)(?:\[[\w:]+\])?: (.+)\n\s*--> ([^:\n]+):(\d+):(\d+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Linter:
    """One check: its command, and what more it has to read."""

    name: str
    argv: Sequence[str]
    readable: Folders = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check found, and where."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


def project_of(path: SafePath) -> SafePath:
    """The folder of the project around a path: the nearest with a file of its settings."""
    marks = (
        *("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.cfg", ".git"),
        *("ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "mypy.ini", "biome.json"),
        *("eslint.config.js", "eslint.config.mjs", "setup.py", "requirements.txt"),
    )
    for here in path.upwards():
        if any(has(here, mark) for mark in marks):
            return here
    return path.ancestor(min(len(path.parts), max(path.base, 0)))


def linters_of(ctx: Ctx, folder: SafePath, target: str) -> tuple[list[Linter], list[str]]:
    """The checks that a project uses and that are here, and the names of those that are not."""
    wanted = _wanted(folder, target)
    found, missing = [], []
    for name in wanted:
        made = _made(ctx, name, folder, target)
        if made is None:
            missing.append(name)
        else:
            found.append(made)
    return found, missing


def _wanted(folder: SafePath, target: str) -> list[str]:
    """Names of checks in the order of preference; one a purpose."""
    settings = (
        text_of(folder, "pyproject.toml")
        + text_of(folder, "setup.cfg")
        + text_of(folder, "tox.ini")
    )
    names = set(names_in(folder))
    chosen = []
    if _is_python(folder, names, target):
        chosen.append(_for_python(settings, names))
        if "[tool.mypy" in settings or "[mypy]" in settings or "mypy.ini" in names:
            chosen.append("mypy")
    if "package.json" in names and not target.endswith(".py"):
        chosen += _for_javascript(folder, names)
    if "Cargo.toml" in names:
        chosen.append("clippy")
    if "go.mod" in names:
        chosen.append("go vet")
    return chosen


def _is_python(folder: SafePath, names: set[str], target: str) -> bool:
    if target.endswith((".py", ".pyi")):
        return True
    marks = {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "ruff.toml", ".flake8"}
    if names & marks or any(name.endswith(".py") for name in names):
        return True
    inside = (folder.child(place) for place in ("src", target) if place)
    return any(name.endswith(".py") for place in inside for name in names_in(place))


def _for_python(settings: str, names: set[str]) -> str:
    if "[tool.ruff" in settings or names & {"ruff.toml", ".ruff.toml"}:
        return "ruff"
    if "[flake8]" in settings or ".flake8" in names:
        return "flake8"
    if "[tool.pylint" in settings or names & {".pylintrc", "pylintrc"}:
        return "pylint"
    return "python"


def _for_javascript(folder: SafePath, names: set[str]) -> list[str]:
    package = package_of(folder)
    if (package.get("scripts") or {}).get("lint"):
        return ["npm run lint"]
    if names & {"biome.json", "biome.jsonc"}:
        return ["biome"]
    needs = {**(package.get("devDependencies") or {}), **(package.get("dependencies") or {})}
    configured = any(name.startswith((".eslintrc", "eslint.config.")) for name in names)
    return ["eslint"] if configured or "eslint" in needs else []


def _made(ctx: Ctx, name: str, folder: SafePath, target: str) -> Linter | None:
    if name == "python":
        # The project says nothing: whichever is here, the quickest first.
        options = (_made(ctx, option, folder, target) for option in ("ruff", "flake8", "pylint"))
        return next((made for made in options if made is not None), None)
    at = target or "."
    words = {
        "ruff": ["check", "--output-format=concise", "--no-cache", at],
        "flake8": [at],
        "pylint": ["--output-format=text", "--score=n", "--recursive=y", at],
        "mypy": ["--no-error-summary", "--no-color-output", "--cache-dir=/dev/null", at],
        "eslint": ["--format=stylish", "--no-color", at],
        "biome": ["lint", "--colors=off", at],
        "npm run lint": ["run", "--silent", "lint"],
        "clippy": ["clippy", "--offline", "--color=never", "--quiet"],
        "go vet": ["vet", "./..." if not target else f"./{target}"],
    }[name]
    program = _program(name)
    own = _own(folder, program)
    where = own or find_program(ctx, program)
    if not where:
        return None
    # One of the project's own environment is run by the Python that this was made of.
    readable = python_for(ctx, folder).readable if own else tuple(prefix_of(where))
    return Linter(name, [where, *words], readable)


def _own(folder: SafePath, program: str) -> str:
    """The program among the project's own packages; empty for none."""
    for place in (".venv/bin", "venv/bin", "node_modules/.bin"):
        own = f"{folder.absolute}/{place}/{program}"
        if is_program(own):
            return own
    return ""


def problems_in(text: str) -> list[Problem]:
    """What the checks say, in whichever of the usual forms."""
    found = [Problem(m[3], int(m[4]), int(m[5]), f"{m[1]}: {m[2]}") for m in CLIPPY.finditer(text)]
    if found:
        return found
    file = ""
    unexplained: list[int] = []  # problems of biome: what it says of the place stands further below
    for line in text.splitlines():
        reason = BIOME_SAYS.match(line) if unexplained else None
        if reason:
            for number in unexplained:
                old = found[number]
                found[number] = replace(old, message=f"{old.message} {reason[1]}")
            unexplained.clear()
        if ESLINT_FILE.match(line):
            file = line.strip()
        inner = ESLINT_LINE.match(line)
        if inner and file:
            what = re.sub(r"\s{2,}", "  ", inner[4].rstrip())
            found.append(Problem(file, int(inner[1]), int(inner[2]), f"{inner[3]}: {what}"))
            continue
        place = PLACE.match(line.removeprefix("vet: "))
        if place and place["what"]:
            column, what = int(place["column"] or 1), place["what"]
            rule = _before_rule(what)
            if rule:
                what = rule
                unexplained.append(len(found))
            found.append(Problem(place["file"], int(place["line"]), column, what))
    return found


def _before_rule(what: str) -> str:
    """What stands before a rule to the end of the line, as biome draws it; "" without one."""
    rest = what.rstrip("━")
    if len(what) - len(rest) < 3 or not rest[-1:].isspace():
        return ""
    return rest.rstrip().removesuffix(" FIXABLE").rstrip()


DEFAULT_SECONDS = 120.0
MAX_LISTED = 60
MAX_PROBLEMS = 1_000


@tool(
    group="run",
    rights=READ | EXEC,
    keywords=("ruff", "flake8", "pylint", "mypy", "eslint", "clippy", "vet", "check", "style"),
    aliases=("lint", "run_lint", "run_linter", "lint_code"),
    argument_aliases=other_names(path=("file", "file_path", "directory", "dir", "folder", "cwd")),
    seconds=MAX_SECONDS + 60,
    policy_check=code_verdict,
    argument_adapter=argument_adapters.javascript,
)
async def lint_project(
    path: Annotated[WorkspacePath | None, Param("File or folder.")] = None,
    timeout: Annotated[Seconds, Param(maximum=MAX_SECONDS)] = DEFAULT_SECONDS,  # noqa: ASYNC109 - of the run
    *,
    ctx: Ctx,
) -> Result:
    """Run the linters that the project uses and list the problems.

    Knows ruff, flake8, pylint, mypy, eslint, biome, clippy, go vet and `npm run lint`. It
    changes no file.
    """
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    folder, linters, missing = await in_thread(lambda _: _plan(ctx, start), ctx.deadline)
    lines: list[str] = [f"[{how_to_get(_program(name))}]" for name in missing]
    facts: list[dict[str, Any]] = []
    listed: list[str] = []
    clean = True
    level = ""
    for linter in linters:
        ran = await _run(ctx, linter, folder, timeout or DEFAULT_SECONDS)
        text, problems = await in_thread_if_large(ran.stdout.size + ran.stderr.size, _output, ran)
        fine = ran.exit_code == 0 and not problems and not ran.timed_out
        clean, level = clean and fine, ran.level
        listed.append(_headline(linter, ran, len(problems), fine=fine))
        listed += [str(problem) for problem in problems[:MAX_LISTED]]
        if len(problems) > MAX_LISTED:
            listed.append(f"... {len(problems) - MAX_LISTED:,} more")
        if not problems and not fine and text:
            listed.append(text)
        facts.append(
            {
                "linter": linter.name,
                "exit_code": ran.exit_code,
                "problems": len(problems),
                "found": [asdict(problem) for problem in problems[:MAX_PROBLEMS]],
                "output": text if not problems else "",
                "timed_out": ran.timed_out,
            }
        )
    if level and level != "strong":
        lines.append(f"[sandbox: {level}]")
    text, more = await fit_to_budget(ctx, lint_project.name, "\n".join(listed), "\n".join(lines))
    data = {"clean": clean, "linters": facts, "missing": missing, "sandbox": {"level": level}}
    return Result(text=text, data=data, truncated=more is not None, next=more, private=True)


def _plan(ctx: Ctx, start: SafePath) -> tuple[SafePath, list[Linter], list[str]]:
    start.stat()
    folder = project_of(start)
    target = "/".join(start.parts[len(folder.parts) :])
    linters, missing = linters_of(ctx, folder, target)
    if not linters and missing:
        raise not_installed(_program(missing[0]))
    if not linters:
        raise BadInput(
            f"No linter can be told from '{folder.display}'.",
            hint=nested_projects(folder)
            or "Give the folder of the project, or run one with run_command.",
        )
    return folder, linters, missing


async def _run(ctx: Ctx, linter: Linter, folder: SafePath, limit: float) -> RunResult:
    tools = await in_thread(lambda _: toolchains(ctx), ctx.deadline)
    async with OutputFollower(ctx) as follower:
        return await ctx.use(Runs).run(
            linter.argv,
            ctx,
            tool=lint_project.name,
            cwd=folder,
            commit="never",
            seconds=limit,
            env={**tools.environment, "CI": "true"},
            readable=(*tools.readable, *linter.readable),
            network=await ctx.use(NetworkRequests).of(ctx, None),
            on_output=follower,
        )


def _output(ran: RunResult) -> tuple[str, list[Problem]]:
    """What a linter wrote, and the problems in it."""
    text = printed(f"{ran.stdout}\n{ran.stderr}").strip("\n")
    return text, problems_in(text)


def _headline(linter: Linter, ran: RunResult, count: int, *, fine: bool) -> str:
    if ran.timed_out:
        return f"{linter.name}: stopped, its time was up"
    if fine:
        return f"{linter.name}: no problems"
    if not count:
        return f"{linter.name}: exit code {ran.exit_code}"
    return f"{linter.name}: {counted(count, 'problem')}"


def _program(name: str) -> str:
    return {"npm run lint": "npm", "clippy": "cargo", "go vet": "go", "python": "ruff"}.get(
        name, name
    )
