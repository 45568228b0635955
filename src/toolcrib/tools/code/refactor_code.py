"""`refactor_code`: a change of the structure of source code that keeps what it does."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from toolcrib.code.javascript.extract_function import extract as js_extract
from toolcrib.code.javascript.move_definition import move as js_move
from toolcrib.code.javascript.unused_imports import clean as js_clean
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.project import Project
from toolcrib.code.python.extract_function import extract as py_extract
from toolcrib.code.python.move_definition import move as py_move
from toolcrib.code.python.unused_imports import clean as py_clean
from toolcrib.code.rewrite import Rewrite, RewriteSummary
from toolcrib.code.usages import find_renamed
from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NoResults, NotFound, UnsupportedContent
from toolcrib.core.names import plain
from toolcrib.core.params import Param
from toolcrib.core.tool import WRITE, tool
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.system.threads import in_thread

Operation = Literal[
    "rename_identifier", "move_function", "extract_function", "unused_import_cleanup"
]
SHOWN = 30
WORDS: dict[str, Operation] = {
    "unused": "unused_import_cleanup",
    "import": "unused_import_cleanup",
    "extract": "extract_function",
    "move": "move_function",
    "rename": "rename_identifier",
}
"""What an operation is called elsewhere: by a word that its name begins with, or has."""


def _spoken(said: dict[str, Any]) -> None:
    """Other names of the operations: `move`, `extract_method`, `remove_unused_imports`."""
    name = next((n for n in ("operation", "action", "refactoring") if said.get(n)), "")
    wanted = plain(said.get(name))
    for word, operation in WORDS.items():
        # "remove" is no "move".
        if wanted.startswith(word) or (operation == "unused_import_cleanup" and word in wanted):
            said[name] = operation
            return


@tool(
    group="code",
    rights=WRITE,
    keywords=("refactor", "extract", "move", "rename", "method", "unused", "imports", "organize"),
    aliases=(
        "refactor",
        "refactor_python",
        "extract_function",
        "extract_method",
        "move_function",
        "move_symbol",
        "remove_unused_imports",
        "unused_import_cleanup",
        "organize_imports",
    ),
    argument_aliases={
        "file_path": "path",
        "file": "path",
        "filename": "path",
        "action": "operation",
        "refactoring": "operation",
        "old_name": "name",
        "function_name": "name",
        "symbol": "name",
        "identifier": "name",
        "target_path": "target",
        "target_file": "target",
        "destination": "target",
        "to": "target",
        "start_line": "start",
        "line": "start",
        "end_line": "end",
        "preview": "dry_run",
    },
    destructive=True,
    dialect=_spoken,
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
    if operation == "unused_import_cleanup":
        clean = py_clean if language == "python" else js_clean
        done = await in_thread(lambda _: clean(rewrite, file), deadline)
        if done is None:
            raise NoResults(
                f"{rewrite.project.display(file)} has no import that is plainly unused.",
                hint="Imports that others may use, or that are marked to stay, are kept.",
            )
        return done
    if operation == "extract_function":
        _need(new_name or name, "new_name")
        extract = py_extract if language == "python" else js_extract
        return await in_thread(lambda _: extract(rewrite, file, lines, new_name or name), deadline)
    if target is None:
        raise BadInput("To move something, give `target`, the file to move to.")
    there = _path_of(rewrite.project, target)
    move = py_move if language == "python" else js_move
    return await in_thread(lambda _: move(rewrite, file, _need(name, "name"), there), deadline)


async def _renamed(rewrite: Rewrite, file: str, line: int, name: str, new: str) -> str:
    last = name.rpartition(".")[2]
    if last == new:
        raise BadInput(f"{new} is the name already.")
    found, clashes = await find_renamed(rewrite.project, file, line, name, new)
    against = [*found.obstacles, *clashes]
    if against:
        shown = "\n".join(against[:SHOWN])
        more = f"\n[{len(against) - SHOWN:,} more]" if len(against) > SHOWN else ""
        raise Conflict(
            f"{found.name} is not renamed; this stands in the way:\n{shown}{more}",
            hint="Mend these lines, choose another name, or rename by hand with edit_file.",
            obstacles=against[:100],
        )
    rewrite.rename(found.certain, new)
    files = len({place.path for place in found.certain})
    return (
        f"rename {found.what} {found.name} to {new} in {len(found.certain):,} "
        f"{'place' if len(found.certain) == 1 else 'places'} of {files:,} "
        f"{'file' if files == 1 else 'files'}"
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
