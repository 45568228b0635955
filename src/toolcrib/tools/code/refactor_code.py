"""`refactor_code`: a change of the structure of source code that keeps what it does."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from toolcrib.code import operations
from toolcrib.code.javascript.extract_function import plan_extraction as script_extraction
from toolcrib.code.javascript.move_definition import plan_move as script_move
from toolcrib.code.javascript.scopes import is_valid as is_valid_script
from toolcrib.code.javascript.unused_imports import plan_cleanup as script_cleanup
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.operations import LanguageFrontend
from toolcrib.code.project import Project
from toolcrib.code.python.extract_function import plan_extraction as python_extraction
from toolcrib.code.python.move_definition import plan_move as python_move
from toolcrib.code.python.source import is_valid as is_valid_python
from toolcrib.code.python.unused_imports import plan_cleanup as python_cleanup
from toolcrib.code.rewrite import Rewrite, RewriteSummary
from toolcrib.code.usages import find_references
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NoResults, NotFound, UnsupportedContent
from toolcrib.core.names import plain
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, other_names, tool
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted, some_lines

PYTHON = LanguageFrontend(python_extraction, python_move, python_cleanup, is_valid_python)
SCRIPT = LanguageFrontend(script_extraction, script_move, script_cleanup, is_valid_script)
Operation = Literal[
    "rename_identifier", "move_function", "extract_function", "unused_import_cleanup"
]
MAX_OBSTACLES = 30
OPERATION_WORDS: dict[str, Operation] = {
    "unused": "unused_import_cleanup",
    "import": "unused_import_cleanup",
    "extract": "extract_function",
    "move": "move_function",
    "rename": "rename_identifier",
}
"""What an operation is called elsewhere: by a word that its name begins with, or has."""


def _use_operation_alias(arguments: dict[str, Any]) -> None:
    """Other names of the operations: `move`, `extract_method`, `remove_unused_imports`."""
    name = next((n for n in ("operation", "action", "refactoring") if arguments.get(n)), "")
    wanted = plain(arguments.get(name))
    for word, operation in OPERATION_WORDS.items():
        # "remove" is no "move".
        if wanted.startswith(word) or (operation == "unused_import_cleanup" and word in wanted):
            arguments[name] = operation
            return


@tool(
    group="code",
    rights=WRITE,
    keywords=("refactor", "extract", "move", "rename", "method", "unused", "imports", "organize"),
    aliases=("refactor", "refactor_python"),
    argument_aliases=other_names(
        path=("file_path", "file", "filename"),
        operation=("action", "refactoring"),
        name=("symbol", "identifier"),
    ),
    destructive=True,
    argument_adapter=_use_operation_alias,
)
async def refactor_code(
    path: Annotated[WritablePath, Param("Source file.")],
    operation: Operation,
    name: Annotated[str, Param("What is renamed or moved; Class.member for a member.")] = "",
    new_name: Annotated[str, Param("New name, or that of the extracted function.")] = "",
    target: Annotated[WritablePath | None, Param("File to move to.")] = None,
    start: Annotated[int, Param("First line to extract; the line of `name`.")] = 0,
    end: Annotated[int, Param("Last line to extract.")] = 0,
    dry_run: Annotated[bool, Param("Only show the difference.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Rename, move or extract a function, or remove unused imports, in all files.

    For Python, JavaScript and TypeScript. What cannot be proven to keep the program as it
    is, is refused with the lines that stand in the way.
    """
    ctx.session.taint(private=True)
    language = language_of(path.name)
    project = await Project.open(ctx, path.ancestor(0))
    file = project.name_of(path)
    rewrite = Rewrite(project, refactor_code)
    data: dict[str, Any] = {"operation": operation}
    if operation == "rename_identifier":
        head = await _renamed(
            rewrite, file, start, _need(name, "name"), _need(new_name, "new_name")
        )
        return await rewrite.carry_out(head, data, ctx, dry_run=dry_run)
    if language not in ("python", *SCRIPTS):
        raise UnsupportedContent(
            f"{path.display} is not Python, JavaScript or TypeScript.",
            hint="edit_file and apply_patch change any text.",
        )
    done = await _changed(rewrite, file, operation, name, new_name, target, (start, end), language)
    data.update(done.data)
    return await rewrite.carry_out(done.head, data, ctx, dry_run=dry_run, notes=done.notes)


async def _changed(
    rewrite: Rewrite,
    file: str,
    operation: Operation,
    name: str,
    new_name: str,
    target: SafePath | None,
    lines: tuple[int, int],
    language: str,
) -> RewriteSummary:
    deadline = rewrite.project.ctx.deadline
    frontend = PYTHON if language == "python" else SCRIPT
    if operation == "unused_import_cleanup":
        done = await in_thread(
            lambda _: operations.remove_unused_imports(frontend, rewrite, file), deadline
        )
        if done is None:
            raise NoResults(
                f"{rewrite.project.display(file)} has no import that is plainly unused.",
                hint="Imports that others may use, or that are marked to stay, are kept.",
            )
        return done
    if operation == "extract_function":
        _need(new_name or name, "new_name")
        return await in_thread(
            lambda _: operations.extract(frontend, rewrite, file, lines, new_name or name), deadline
        )
    if target is None:
        raise BadInput("To move something, give `target`, the file to move to.")
    there = _path_of(rewrite.project, target)
    return await in_thread(
        lambda _: operations.move(frontend, rewrite, file, _need(name, "name"), there), deadline
    )


async def _renamed(rewrite: Rewrite, file: str, line: int, name: str, new: str) -> str:
    last = name.rpartition(".")[2]
    if last == new:
        raise BadInput(f"{new} is the name already.")
    found, clashes = await find_references(rewrite.project, file, line, name, new)
    obstacles = [*found.obstacles, *clashes]
    if obstacles:
        raise Conflict(
            f"{found.name} is not renamed; this stands in the way:\n"
            + some_lines(obstacles, MAX_OBSTACLES),
            hint="Mend these lines, choose another name, or rename by hand with edit_file.",
            obstacles=obstacles[:100],
        )
    rewrite.rename(found.certain, new)
    files = len({place.path for place in found.certain})
    return (
        f"rename {found.what} {found.name} to {new} in {counted(len(found.certain), 'place')} of "
        f"{counted(files, 'file')}"
    )


def _need(value: str, what: str) -> str:
    if not value.strip():
        raise BadInput(f"{what} is missing.")
    return value.strip()


def _path_of(project: Project, target: SafePath) -> str:
    """How the project names a file that need not exist."""
    try:
        return project.name_of(target)
    except NotFound:
        real = target.settled()
        depth = len(project.scope.real.parts)
        if real.parts[:depth] != project.scope.real.parts or real.root != project.scope.real.root:
            raise BadInput(f"{target.display} is in another workspace folder.") from None
        name = "/".join(real.parts[depth:])
    with suppress(NotFound):
        target.stat()
        raise Conflict(
            f"{target.display} is there, but is ignored or of a language that is not known.",
            hint="Choose another target.",
        )
    return name
