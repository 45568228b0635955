"""`project_overview`: what a project is, at a glance."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.files.repositories.summary import RepositorySummary, repository_of
from toolcrib.files.search.scope import SearchScope, scope_of, walk
from toolcrib.files.trees import TreeFolder
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted, printable
from toolcrib.text.tokens import longest_head
from toolcrib.text.toml_values import toml_value
from toolcrib.tools.workspace.project_checks import MAX_LISTED, findings_of, sources_of

# Manifests of projects: name, version and what can be run, by the file that says so.

MAX_COMMANDS = 12


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one file says. `commands` are ready to be typed, tests and checks first."""

    kind: str
    name: str = ""
    version: str = ""
    commands: tuple[str, ...] = ()


def manifest_of(file: str, text: str) -> Manifest | None:
    """Read a manifest; None where the file is none or cannot be read as one."""
    reader = READERS.get(file)
    if reader is None:
        return None
    try:
        return reader(text)
    except (ValueError, RecursionError, TypeError, AttributeError):
        return Manifest(f"{file} (cannot be read)")


def _python(text: str) -> Manifest:
    tree = toml_value(text)
    project = _table(tree, "project") or _table(tree, "tool", "poetry")
    tools = _table(tree, "tool")
    commands = ["pytest"] if "pytest" in tools or "pytest" in text else []
    commands += [name for name in ("ruff check", "mypy") if name.split()[0] in tools]
    scripts = _table(project, "scripts") or _table(tools, "poetry", "scripts")
    return Manifest(
        "Python",
        _manifest_text(project, "name"),
        _manifest_text(project, "version"),
        (*commands, *scripts),
    )


def _node(text: str) -> Manifest:
    tree = json.loads(text)
    scripts = sorted(_table(tree, "scripts"), key=_importance)
    commands = tuple(f"npm run {name}" for name in scripts if isinstance(name, str))
    return Manifest("Node", _manifest_text(tree, "name"), _manifest_text(tree, "version"), commands)


def _rust(text: str) -> Manifest:
    package = _table(toml_value(text), "package")
    commands = ("cargo test", "cargo clippy", "cargo build")
    return Manifest(
        "Rust", _manifest_text(package, "name"), _manifest_text(package, "version"), commands
    )


def _go(text: str) -> Manifest:
    module = re.search(r"^module\s+(\S{1,200})", text, re.MULTILINE)
    version = re.search(r"^go\s+(\S{1,20})", text, re.MULTILINE)
    commands = ("go test ./...", "go vet ./...", "go build ./...")
    name = module[1] if module else ""
    return Manifest("Go", name, f"go {version[1]}" if version else "", commands)


def _maven(text: str) -> Manifest:
    before, _, rest = text[:200_000].partition("<parent>")
    own = before + rest.partition("</parent>")[2] if rest else before
    own = min((own.partition(f"<{part}>")[0] for part in _INNER), key=len)
    name = re.search(r"<artifactId>\s*([^<\s]{1,200})", own)
    version = re.search(r"<version>\s*([^<\s]{1,100})", own)
    commands = ("mvn test", "mvn package")
    return Manifest("Maven", name[1] if name else "", version[1] if version else "", commands)


_INNER = ("dependencies", "dependencyManagement", "build", "profiles", "modules")
"""Parts of a pom.xml that have names of their own in them."""


def _php(text: str) -> Manifest:
    tree = json.loads(text)
    scripts = sorted(_table(tree, "scripts"), key=_importance)
    commands = tuple(f"composer {name}" for name in scripts)
    return Manifest("PHP", _manifest_text(tree, "name"), _manifest_text(tree, "version"), commands)


def _deno(text: str) -> Manifest:
    tree = json.loads(text)
    tasks = tuple(f"deno task {name}" for name in sorted(_table(tree, "tasks"), key=_importance))
    return Manifest("Deno", _manifest_text(tree, "name"), _manifest_text(tree, "version"), tasks)


def _make(text: str) -> Manifest:
    targets = re.findall(r"^([A-Za-z][\w-]{0,40}):(?!=)", text, re.MULTILINE)
    commands = tuple(f"make {name}" for name in sorted(dict.fromkeys(targets), key=_importance))
    return Manifest("Make", commands=commands)


def _only(kind: str, *commands: str) -> Callable[[str], Manifest]:
    return lambda _: Manifest(kind, commands=commands)


READERS: Mapping[str, Callable[[str], Manifest]] = {
    "pyproject.toml": _python,
    "package.json": _node,
    "Cargo.toml": _rust,
    "go.mod": _go,
    "pom.xml": _maven,
    "composer.json": _php,
    "deno.json": _deno,
    "Makefile": _make,
    "setup.py": _only("Python (setup.py)", "pytest"),
    "requirements.txt": _only("Python requirements"),
    "build.gradle": _only("Gradle", "gradle test", "gradle build"),
    "build.gradle.kts": _only("Gradle", "gradle test", "gradle build"),
    "CMakeLists.txt": _only("CMake", "cmake -B build", "ctest --test-dir build"),
    "Gemfile": _only("Ruby", "bundle exec rake"),
    "mix.exs": _only("Elixir", "mix test"),
    "Package.swift": _only("Swift", "swift test"),
    "tox.ini": _only("tox", "tox"),
    "Dockerfile": _only("Docker"),
}


def _importance(name: Any) -> tuple[bool, str]:
    return not re.match(r"test|lint|check|build|typecheck|format", str(name)), str(name)


def _table(tree: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def _manifest_text(tree: Mapping[str, Any], key: str) -> str:
    value = tree.get(key)
    return value[:200] if isinstance(value, str) else ""


MAX_DEPTH = 4
MAX_MANIFESTS = 12
MAX_BYTES = 500_000
README_CHARS = 400
ENDINGS = 12
MAX_NAMES_PER_FOLDER = 25
"""Names shown of a folder."""
MAX_FILES = 200_000
_README = re.compile(r"readme(\.(md|rst|txt|adoc))?$", re.IGNORECASE)


@dataclass(slots=True)
class Findings:
    """What was seen on the way through a project."""

    tree: list[str] = field(default_factory=list)
    endings: Counter[str] = field(default_factory=Counter)
    files: int = 0
    manifests: list[tuple[str, Manifest]] = field(default_factory=list)
    readme: str = ""
    repository: RepositorySummary | None = None


Check = Literal["typecheck", "circular", "eslint", "config", "imports"]
RUNNING = ("typecheck", "eslint")
"""Checks that need a program."""


@tool(
    group="workspace",
    rights=READ,
    keywords=("analyze", "structure", "summary", "languages", "manifest", "repository"),
    aliases=("analyse_project", "project_info", "describe_project"),
    argument_aliases={"directory": "path", "root": "path", "max_depth": "depth"},
)
async def project_overview(
    path: Annotated[WorkspacePath | None, Param("Folder of the project.")] = None,
    depth: Annotated[Count, Param("Levels of the tree.", maximum=MAX_DEPTH)] = 2,
    checks: Annotated[list[Check] | None, Param("What to check besides.")] = None,
    max_imports: Annotated[Count, Param("Imports of a file that are not too many.")] = 20,
    *,
    ctx: Ctx,
) -> Result:
    """Sum up a project: tree, manifests, commands, languages, branch, commits.

    Use it first in a project that is new to you. It runs nothing itself: `checks` that need
    a program (typecheck, eslint) are a call of lint_project.
    """
    folder = path or ctx.use(Workspace).start(ctx.session.directory)

    def work(check: Checkpoint) -> Findings:
        return _look(scope_of(folder), depth, check)

    found = await in_thread(work, ctx.deadline)
    text = _text(folder, found)
    room = room_in(ctx.budget(project_overview.name))
    end = longest_head(text, room)
    if end < len(text):
        text = f"{text[:end].rpartition(chr(10))[0]}\n[the tree is cut; directory_tree shows more]"
    data = _as_json(folder, found)
    if not checks:
        return Result(text, data)
    lines, data["checks"] = await _checked(folder, list(dict.fromkeys(checks)), max_imports, ctx)
    return Result("\n".join((text, "", *lines)), data)


async def _checked(
    folder: SafePath, checks: list[Check], max_imports: int, ctx: Ctx
) -> tuple[list[str], dict[str, Any]]:
    """What the checks say, in lines and as data."""
    sources = await in_thread(lambda check: sources_of(scope_of(folder), check), ctx.deadline)
    lines: list[str] = []
    data: dict[str, Any] = {}
    for name in checks:
        if name in RUNNING:
            continue
        head, found = findings_of(name, sources, max_imports)
        more = [f"  [{len(found) - MAX_LISTED:,} more]"] if len(found) > MAX_LISTED else []
        lines += [head, *(f"  {printable(line)}" for line in found[:MAX_LISTED]), *more]
        data[name] = found
    running = [name for name in checks if name in RUNNING]
    if running:
        ran = await ctx.invoke("lint_project", {"path": folder.display})
        lines.append(f"{', '.join(running)}, by lint_project: {ran.render()}")
        data |= dict.fromkeys(running, ran.data)
    return lines, data


def _look(scope: SearchScope, depth: int, check: Checkpoint) -> Findings:
    found = Findings()
    with suppress(ToolError):
        found.repository = repository_of(scope.real)
    with scope.real.open() as top:
        for level in walk(scope, top, check):
            found.files += len(level.files)
            found.endings.update(_ending(name) for name in level.files)
            far = level.prefix.count("/")
            if far < depth:
                _add_names(found, level, far, last=far == depth - 1)
            if far < MAX_DEPTH:
                _read(found, level)
            if found.files > MAX_FILES:
                break
    return found


def _ending(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 and len(name) - dot <= 12 else ""


def _add_names(found: Findings, level: TreeFolder, far: int, *, last: bool) -> None:
    """A folder and the files in it; the folders in it follow on levels of their own."""
    if far:
        name = level.prefix.rstrip("/").rpartition("/")[2]
        found.tree.append(f"{'  ' * (far - 1)}{printable(name)}/")
    indent = "  " * far
    found.tree += [
        f"{indent}{printable(name)}" for name in islice(level.files, MAX_NAMES_PER_FOLDER)
    ]
    if len(level.files) > MAX_NAMES_PER_FOLDER:
        found.tree.append(f"{indent}… {len(level.files) - MAX_NAMES_PER_FOLDER:,} more files")
    if last:
        found.tree += [
            f"{indent}{printable(name)}/" for name in islice(level.folders, MAX_NAMES_PER_FOLDER)
        ]


def _read(found: Findings, level: TreeFolder) -> None:
    for name in level.files:
        if name in READERS and len(found.manifests) < MAX_MANIFESTS:
            manifest = manifest_of(name, _content(level, name))
            if manifest is not None:
                found.manifests.append((level.prefix + name, manifest))
        elif not level.prefix and not found.readme and _README.match(name):
            found.readme = _first_paragraph(_content(level, name))


def _content(level: TreeFolder, name: str) -> str:
    return (level.read(name, MAX_BYTES) or b"").decode("utf-8-sig", "replace")


def _first_paragraph(text: str) -> str:
    """The first lines of prose: no headings, badges, marks or rules."""
    for block in re.split(r"\n\s*\n", text[:20_000].replace("\r\n", "\n")):
        lines = [line.strip() for line in block.strip().splitlines()]
        prose = [line for line in lines if re.match(r"[\w*_`\"'(]", line)]
        underlined = len(lines) == 2 and re.fullmatch(r"[=\-~^]{3,}", lines[1])
        if prose and not underlined:
            return one_line(" ".join(prose), README_CHARS)
    return ""


def _text(folder: SafePath, found: Findings) -> str:
    parts = [f"{folder.absolute}: {counted(found.files, 'file')}"]
    if found.readme:
        parts.append(f"README: {found.readme}")
    parts += [_manifest_line(path, manifest) for path, manifest in found.manifests]
    endings = [f"{end or 'no ending'} {n:,}" for end, n in found.endings.most_common(ENDINGS)]
    if endings:
        parts.append(f"Files by ending: {', '.join(endings)}")
    if found.repository is not None:
        parts.append(f"Git branch: {found.repository.branch or 'none (a commit is checked out)'}")
        parts += [f"  {c.id} {c.subject} ({c.author})" for c in found.repository.commits]
    return "\n".join((*parts, "Tree:", *found.tree))


def _manifest_line(path: str, manifest: Manifest) -> str:
    named = " ".join(one_line(part, 100) for part in (manifest.name, manifest.version) if part)
    line = f"{printable(path)}: {manifest.kind}{f', {named}' if named else ''}"
    commands = [one_line(command, 80) for command in manifest.commands[:MAX_COMMANDS]]
    return f"{line}; commands: {', '.join(commands)}" if commands else line


def _as_json(folder: SafePath, found: Findings) -> dict[str, Any]:
    repository = found.repository
    return {
        "path": folder.absolute,
        "files": found.files,
        "endings": dict(found.endings.most_common(ENDINGS)),
        "readme": found.readme,
        "manifests": [
            {
                "path": path,
                "kind": manifest.kind,
                "name": manifest.name,
                "version": manifest.version,
                "commands": list(manifest.commands[:MAX_COMMANDS]),
            }
            for path, manifest in found.manifests
        ],
        "branch": repository.branch if repository else None,
        "commits": [
            {"id": c.id, "subject": c.subject, "author": c.author}
            for c in (repository.commits if repository else ())
        ],
    }
