"""Which checks a project uses, the commands that run them, and what they found."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.execution.interpreters.programs import Folders, find_program, is_program, prefix_of
from toolcrib.execution.interpreters.python import python_for
from toolcrib.files.paths import SafePath

MAX_FILE = 1_000_000
PLACE = re.compile(
    r"^(?:[ ]*--> )?(?P<file>[^\s:|][^:|\n]*?):(?P<line>\d+)(?::(?P<column>\d+))?:?\s*(?P<what>.*)$"
)
RULED = re.compile(r"\s+(?:FIXABLE\s+)?━{3,}$")
BIOME_SAYS = re.compile(r"^\s*[!i\u00d7\u2716\u24d8]\s+(.+)$", re.MULTILINE)
ESLINT_FILE = re.compile(r"^(?:/|\w:\\)\S.*\.\w+$")
ESLINT_LINE = re.compile(r"^\s+(\d+):(\d+)\s+(error|warning)\s+(.+?)\s*$")
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
    for depth in range(len(path.parts), -1, -1):
        here = path.ancestor(depth)
        if any(_has(here, mark) for mark in marks):
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
        _text(folder, "pyproject.toml") + _text(folder, "setup.cfg") + _text(folder, "tox.ini")
    )
    names = {entry.name for entry in _list(folder)}
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
    return any(e.name.endswith(".py") for n in ("src", target) if n for e in _list(folder, n))


def _for_python(settings: str, names: set[str]) -> str:
    if "[tool.ruff" in settings or names & {"ruff.toml", ".ruff.toml"}:
        return "ruff"
    if "[flake8]" in settings or ".flake8" in names:
        return "flake8"
    if "[tool.pylint" in settings or names & {".pylintrc", "pylintrc"}:
        return "pylint"
    return "python"


def _for_javascript(folder: SafePath, names: set[str]) -> list[str]:
    try:
        package = json.loads(_text(folder, "package.json") or "{}")
    except (ValueError, RecursionError):
        package = {}
    package = package if isinstance(package, dict) else {}
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
    program = {"npm run lint": "npm", "clippy": "cargo", "go vet": "go"}.get(name, name)
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
    for line in text.splitlines():
        if ESLINT_FILE.match(line):
            file = line.strip()
        inner = ESLINT_LINE.match(line)
        if inner and file:
            what = re.sub(r"\s{2,}", "  ", inner[4])
            found.append(Problem(file, int(inner[1]), int(inner[2]), f"{inner[3]}: {what}"))
            continue
        place = PLACE.match(line.removeprefix("vet: "))
        if place and place["what"]:
            column, what = int(place["column"] or 1), place["what"]
            if RULED.search(what):  # of biome: what it says of the place stands further below
                said = BIOME_SAYS.search(text, text.find(line) + len(line))
                what = RULED.sub("", what) + (f" {said[1]}" if said else "")
            found.append(Problem(place["file"], int(place["line"]), column, what))
    return found


def as_json(problem: Problem) -> dict[str, Any]:
    """A problem as JSON values."""
    return {
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "message": problem.message,
    }


def _has(folder: SafePath, name: str) -> bool:
    try:
        folder.child(name).stat()
    except ToolError:
        return False
    return True


def _list(folder: SafePath, name: str = "") -> list[Any]:
    try:
        return (folder.child(name) if name else folder).list()
    except ToolError:
        return []


def _text(folder: SafePath, name: str) -> str:
    try:
        return folder.child(name).read_bytes(MAX_FILE).decode("utf-8", "replace")
    except ToolError:
        return ""
