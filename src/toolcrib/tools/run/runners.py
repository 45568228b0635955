"""Test runners: which one a project uses, where it is started, and with which command."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.execution.interpreters.programs import (
    Folders,
    find_program,
    is_program,
    not_installed,
    prefix_of,
    shell_program,
)
from toolcrib.execution.interpreters.python import has_package, python_for
from toolcrib.files.paths import SafePath
from toolcrib.text.json_values import json_object
from toolcrib.tools.run import runner_output
from toolcrib.tools.run.runner_output import SuiteTotals

PYTHON = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py")
FILES = {
    "pytest": PYTHON,
    "unittest": PYTHON,
    "go": ("go.mod",),
    "cargo": ("Cargo.toml",),
    **dict.fromkeys(("jest", "vitest", "mocha", "node"), ("package.json",)),
}
"""The files of a project by the runner."""
OF_TESTS = {"test", "tests", "testing", "__tests__"}
"""Folders that lie in a project: what settings for pytest they hold are for them alone."""


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """What is tested, and from where.

    Attributes:
        root: the folder of the project, where the runner is started.
        near: the folder that was asked for, or that of the file.
        file: the name of the file; empty for a folder.
    """

    root: SafePath
    near: SafePath
    file: str

    @classmethod
    def of(cls, runner: str, near: SafePath, file: str) -> Self:
        """The place of a folder, or of a file in it, for a runner."""
        return cls(_root(runner, near), near, file)

    @property
    def folder_target(self) -> str:
        """The folder as from the root; empty for the root."""
        return "/".join(self.near.parts[len(self.root.parts) :])

    @property
    def target(self) -> str:
        """The file or folder as from the root; empty for all of it."""
        return "/".join(part for part in (self.folder_target, self.file) if part)

    @property
    def is_package(self) -> bool:
        """Whether each folder beneath the root is a package of Python."""
        depths = range(len(self.root.parts) + 1, len(self.near.parts) + 1)
        return all(has(self.near.ancestor(depth), "__init__.py") for depth in depths)


def _root(runner: str, near: SafePath) -> SafePath:
    """The nearest folder upwards with a file of the project, not above its repository.

    Else the highest with a conftest.py there, else the nearest that holds a folder of tests and is
    no package itself, else the repository, else the present folder.
    """
    conftest = holder = None
    for here in near.upwards():
        if any(has(here, name) for name in FILES[runner]):
            return here
        if runner == "pytest" and OF_TESTS.isdisjoint(here.parts) and has(here, "conftest.py"):
            conftest = here
        if runner in ("pytest", "unittest") and not holder and not has(here, "__init__.py"):
            holder = here if has(here, "tests") or has(here, "test") else None
        if has(here, ".git"):
            return conftest or holder or here
    return conftest or holder or near.ancestor(min(len(near.parts), max(near.base, 0)))


def has(folder: SafePath, name: str) -> bool:
    """Whether a folder has something of that name."""
    try:
        folder.child(name).stat()
    except ToolError:
        return False
    return True


MAX_FILE = 2_000_000
NAMES = ("pytest", "unittest", "jest", "vitest", "mocha", "node", "go", "cargo")
QUIET = "--verbosity=-1"
"""As -q, and no more than it where the project's `addopts` have a -q too, which hides counts."""
PYTEST_FILES = ("pytest.ini", "conftest.py", "tox.ini")
IS_PYTEST = re.compile(r"^[ \t]*(?:import|from) pytest\b|^(?:async )?def test_", re.MULTILINE)
IS_UNITTEST = re.compile(r"\bunittest\b")
PARSERS: dict[str, Callable[[str], SuiteTotals]] = {
    "pytest": runner_output.pytest,
    "unittest": runner_output.unittest,
    "jest": runner_output.jest,
    "vitest": runner_output.jest,
    "mocha": runner_output.mocha,
    "node": runner_output.tap,
    "go": runner_output.go,
    "cargo": runner_output.cargo,
}


@dataclass(frozen=True, slots=True)
class SuiteRunner:
    """A command that runs tests: where, with what more to read, and how it is understood.

    Attributes:
        others: what else runs tests beside it, where it was told from the files.
    """

    name: str
    argv: Sequence[str]
    cwd: SafePath
    readable: Folders = ()
    understood: Callable[[str], SuiteTotals] | None = None
    others: Sequence[str] = ()


def runner_for(ctx: Ctx, path: SafePath, wanted: str) -> SuiteRunner:
    """The runner that is named, or that the project uses. It blocks.

    Raises:
        Unavailable: its program is not there.
        BadInput: no tests can be told from the project.
        NotFound: the path is not there.
    """
    path.stat()
    folder, target = _split(path)
    name, marks, inside = wanted.strip().partition("::")
    if marks and (name.lower() != "pytest" or not target):
        name, inside = wanted.strip(), ""
    aliases = {
        "go-test": "go",
        "go test": "go",
        "cargo test": "cargo",
        "node --test": "node",
        "rust": "cargo",
        "py.test": "pytest",
        "python -m pytest": "pytest",
    }
    name = aliases.get(name.lower(), name.lower() if name.lower() in NAMES else name)
    if name:
        return _named(ctx, name, folder, target, inside)
    names, root = _detected(folder, target)
    return replace(_named(ctx, names[0], folder, target, inside, root), others=names[1:])


def _named(
    ctx: Ctx, name: str, folder: SafePath, target: str, inside: str, root: SafePath | None = None
) -> SuiteRunner:
    """The runner of a name, or a command; `root` is where the files are that tell of it."""
    if name not in NAMES:
        argv = [shell_program(ctx), "-c", name]
        return SuiteRunner("command", argv, root or folder)
    if name in ("pytest", "unittest"):
        return _of_interpreter(ctx, name, ProjectPlace.of(name, folder, target), inside)
    # What was told from a package.json is started beside that one: a nearer may say nothing.
    place = ProjectPlace(root, folder, target) if root else ProjectPlace.of(name, folder, target)
    return _of_program(ctx, name, place)


def _split(path: SafePath) -> tuple[SafePath, str]:
    """The folder to work in, and the file in it that was asked for."""
    import stat

    if stat.S_ISDIR(path.stat().st_mode):
        return path, ""
    return path.parent, path.name


def _detected(folder: SafePath, target: str) -> tuple[list[str], SafePath]:
    """The runners by what lies in the folder, else in those above it; and where that lies."""
    for here in folder.upwards():
        found = list(dict.fromkeys(_by_files(here, target)))
        if found:
            return found, here
    raise BadInput(
        f"Which program runs the tests of '{folder.display}' is not clear.",
        hint=nested_projects(folder)
        or f"Name the runner ({', '.join(NAMES)}) or give a command as 'runner'.",
    )


MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.py", "setup.cfg")
MAX_FOLDERS = 200


def nested_projects(folder: SafePath) -> str:
    """Where a folder is no project: the hint that names those in it; empty for none."""
    with suppress(ToolError):
        inside = [folder.child(e.name) for e in folder.list() if e.kind == "folder"][:MAX_FOLDERS]
        found = [f.display for f in inside if any(has(f, name) for name in MANIFESTS)][:3]
        return f"Send path={' or path='.join(found)}." if found else ""
    return ""


def _by_files(folder: SafePath, target: str) -> Iterator[str]:
    """What the files of a folder tell of; of several, the first is the likeliest."""
    if not target.endswith(".py"):
        if has(folder, "Cargo.toml"):
            yield "cargo"
        if has(folder, "go.mod"):
            yield "go"
        if name := _of_package(package_of(folder)):
            yield name
        if _has_pytest_settings(folder):
            yield "pytest"
            return
    if name := _of_python(folder, target if target.endswith(".py") else ""):
        yield name


def _has_pytest_settings(folder: SafePath) -> bool:
    if any(has(folder, name) for name in PYTEST_FILES):
        return True
    return "[tool.pytest" in text_of(folder, "pyproject.toml") + text_of(folder, "setup.cfg")


def _of_python(folder: SafePath, target: str) -> str:
    """pytest, unless the tests are written for unittest alone."""
    names = [(folder, target)] if target else []
    if not names:
        for inside in (folder, *(folder.child(n) for n in ("tests", "test"))):
            names += [
                (inside, n)
                for n in names_in(inside)
                if re.fullmatch(r"test_.*\.py|.*_test\.py|test\w*\.py", n)
            ]
    texts = [text_of(where, name) for where, name in names[:20]]
    if not any(texts):
        return "pytest" if any(n == "conftest.py" for n in names_in(folder)) else ""
    if any(IS_PYTEST.search(text) for text in texts):
        return "pytest"
    return "unittest" if any(IS_UNITTEST.search(text) for text in texts) else "pytest"


def _of_package(package: dict[str, Any]) -> str:
    script = str((package.get("scripts") or {}).get("test") or "")
    needs = {**(package.get("dependencies") or {}), **(package.get("devDependencies") or {})}
    for name in ("vitest", "jest", "mocha"):
        if re.search(rf"\b{name}\b", script) or (name in needs and "--test" not in script):
            return name
    if "node --test" in script or "node:test" in script:
        return "node"
    return "npm test" if script and "no test specified" not in script else ""


def _of_program(ctx: Ctx, name: str, place: ProjectPlace) -> SuiteRunner:
    program, readable = _program(ctx, name, place.near)
    target = [place.target] if place.target else []
    package = "/".join(part for part in (".", place.folder_target) if part)
    words = {
        "jest": ["--json", "--ci", "--testLocationInResults", *target],
        "vitest": ["run", "--reporter=json", *target],
        "mocha": ["--reporter", "json", *target],
        "node": ["--test", "--test-reporter=tap", *target],
        "go": ["test", "-json", package if target else "./..."],
        "cargo": ["test", "--offline", "--color=never", "--no-fail-fast"],
    }[name]
    return SuiteRunner(name, [program, *words], place.root, readable, PARSERS[name])


def _of_interpreter(ctx: Ctx, name: str, place: ProjectPlace, inside: str) -> SuiteRunner:
    chosen = python_for(ctx, place.near)
    start = [chosen.program, "-B", "-m"]
    readable = chosen.readable
    if name == "unittest":
        words = ["unittest", *_of_unittest(place)]
        return SuiteRunner(name, [*start, *words], place.root, readable, runner_output.unittest)
    if chosen.origin == "toolcrib":
        own = find_program(ctx, "pytest")
        if not own and not has_package(chosen.program, "pytest"):
            raise not_installed("pytest")
        if own:
            start, readable = [own], tuple(prefix_of(own)) + readable
    is_module = start[-1] == "-m"
    words = ["pytest"] if is_module else []
    if not is_module and not _has_python_path(place.root):
        # As `python -m pytest` has it: code beside the tests is found without being installed.
        # In PYTHONPATH it would stand before the modules of Python that pytest itself loads.
        words += ["-o", f"pythonpath={shlex.quote(place.root.absolute)}"]
    words += ["-p", "no:cacheprovider", "--color=no", "-rfE", "--tb=short", QUIET]
    if place.target:
        words.append(f"{place.target}::{inside}" if inside else place.target)
    return SuiteRunner(name, [*start, *words], place.root, readable, runner_output.pytest)


def _has_python_path(root: SafePath) -> bool:
    """Whether settings of pytest, here or above, may say themselves where code is found."""
    names = (*PYTHON, ".pytest.ini", "pytest.toml", ".pytest.toml")
    return any("pythonpath" in text_of(here, name) for here in root.upwards() for name in names)


def _of_unittest(place: ProjectPlace) -> list[str]:
    """Its words: tests of a package as parts of it, others by the folder that they lie in."""
    if place.file and place.is_package:
        return ["-v", place.target]
    words = ["discover", "-v"]
    if place.folder_target:
        words += ["-s", place.folder_target]
        words += ["-t", "."] if place.is_package else []
    return words + (["-p", glob.escape(place.file)] if place.file else [])


def _program(ctx: Ctx, name: str, folder: SafePath) -> tuple[str, Folders]:
    """A runner's program: that of the project's own packages, else of this machine."""
    if name in ("jest", "vitest", "mocha"):
        for here in folder.upwards():
            own = f"{here.absolute}/node_modules/.bin/{name}"
            if is_program(own):
                node = find_program(ctx, "node")
                if not node:
                    raise not_installed("node")
                return own, tuple(prefix_of(node))
    found = find_program(ctx, name)
    if not found:
        raise not_installed(name)
    return found, tuple(prefix_of(found))


def names_in(folder: SafePath) -> list[str]:
    """The names of what lies in a folder, in order; none where it cannot be read."""
    try:
        return sorted(entry.name for entry in folder.list())
    except ToolError:
        return []


def text_of(folder: SafePath, name: str) -> str:
    """The text of a file in a folder; empty where it cannot be read."""
    try:
        return folder.child(name).read_bytes(MAX_FILE).decode("utf-8", "replace")
    except ToolError:
        return ""


def package_of(folder: SafePath) -> dict[str, Any]:
    """What the package.json of a folder says; empty where there is none."""
    return json_object(text_of(folder, "package.json")) or {}


def command_line(argv: Sequence[str]) -> str:
    """A command in one line."""
    return shlex.join([argv[0].rpartition("/")[2], *argv[1:]])
