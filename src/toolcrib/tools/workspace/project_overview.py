"""`project_overview`: what a project is, at a glance."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import ToolError
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.files.content.display import printable
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.files.repositories import RepositorySummary, repository_of
from toolcrib.files.search.scope import SearchScope, scope_of, walk
from toolcrib.files.trees import TreeFolder
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.tokens import longest_head
from toolcrib.tools.workspace.overview.manifests import (
    MAX_COMMANDS,
    READERS,
    Manifest,
    manifest_of,
)

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
    *,
    ctx: Ctx,
) -> Result:
    """Sum up a project: tree, manifests, commands, languages, branch, commits.

    Use it first in a project that is new to you. It runs nothing.
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
    return Result(text, _as_json(folder, found))


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
    parts = [f"{folder.absolute}: {found.files:,} files"]
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
