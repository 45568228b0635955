"""Unused imports of Python.

ruff's F401 is not used: it would remove imports that other files, doctests, fixtures, type
comments, `eval` or the effects of loading need.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from toolcrib.code.operations import CleanupPlan, without_lines
from toolcrib.code.project import Project
from toolcrib.code.python.program import ModuleTarget, Program, PythonSymbol, exported
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import Function, last_name
from toolcrib.code.scopes import LexicalScope, Occurrence
from toolcrib.files.content.faithful import Splice

Import = ast.Import | ast.ImportFrom
_NOQA = re.compile(
    r"#\s*noqa\b(?!\s*:)|#\s*noqa\s*:[^#]*\bF401\b|unused-import|#\s*nopycln", re.IGNORECASE
)
_FALLBACK = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException", "AttributeError")
_EVALUATING_CALLS = ("eval", "exec", "globals", "locals", "vars")


def plan_cleanup(project: Project, path: str) -> CleanupPlan:
    """See `toolcrib.code.operations.remove_unused_imports`."""
    program = Program(project)
    file = program.file(path)
    gone: dict[Import, list[ast.alias]] = {}
    notes: list[str] = []
    if not path.endswith("__init__.py") and not _is_dynamic(file):
        for scope, occurrence in _imports(file):
            node = file.parents[occurrence.node]
            alias = occurrence.node
            if not isinstance(node, Import) or not isinstance(alias, ast.alias):
                continue
            if _is_used(file, scope, occurrence) or _is_marked(file, node, alias):
                continue
            why = _reason(program, file, scope, occurrence, node)
            if why:
                notes.append(f"Kept on line {alias.lineno}: {occurrence.name}, {why}.")
            else:
                gone.setdefault(node, []).append(alias)
    splices, names = _removed(file, gone)
    return CleanupPlan(names, splices, notes)


def _is_dynamic(file: PythonFile) -> bool:
    """Whether a file may use any of its names by text."""
    return any(isinstance(c.func, ast.Name) for c in file.calls(*_EVALUATING_CALLS))


def _imports(file: PythonFile) -> Iterator[tuple[LexicalScope, Occurrence]]:
    for scope in file.top.walk():
        for occurrence in scope.occurrences:
            if occurrence.role == "import":
                yield occurrence.owner or scope, occurrence


def _is_used(file: PythonFile, scope: LexicalScope, occurrence: Occurrence) -> bool:
    name = occurrence.name
    if any(b.role != "import" for b in scope.binders(name)):
        return True
    if any(o.role != "import" for o in scope.uses(name)):
        return True
    if scope.kind == "class" or any(o.name == name and o.mixed for o in file.top.all()):
        return True
    return scope is file.top and name in (exported(file) or ())


def _is_marked(file: PythonFile, node: Import, alias: ast.alias) -> bool:
    """Whether an import says itself that it is meant to be there."""
    lines = {node.lineno, alias.lineno, node.end_lineno or node.lineno}
    if any(_NOQA.search(file.source.lines[n - 1]) for n in lines):
        return True
    if alias.asname is not None and alias.asname == alias.name:
        return True
    at: ast.AST | None = node
    while at is not None:
        above = file.parents.get(at)
        if isinstance(above, ast.Try) and _is_fallback(above):
            return True
        at = above
    return False


def _is_fallback(node: ast.Try) -> bool:
    for handler in node.handlers:
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(kind is None or last_name(kind) in _FALLBACK for kind in kinds):
            return True
    return False


def _reason(
    program: Program, file: PythonFile, scope: LexicalScope, occurrence: Occurrence, node: Import
) -> str:
    """Why an import is kept that its own file does not use."""
    name = occurrence.name
    if _in_strings(file, name):
        return "a string or a doctest names it"
    if any(o.role == "parameter" and o.name == name for o in file.top.all()):
        return "a parameter has its name, as for a fixture"
    if scope is file.top and _is_taken(program, file, name):
        return "another file takes it from here"
    meaning = (
        program.modules.imported(file.path, node)
        if isinstance(node, ast.ImportFrom)
        else program.imported(file, occurrence)
    )
    if isinstance(meaning, ModuleTarget) and meaning.path and _has_effects(program, meaning.path):
        return f"loading {meaning.path} does something"
    return ""


def _in_strings(file: PythonFile, name: str) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    for node in file.within:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if not word.search(node.value):
                continue
            if re.search(rf"^\s*(>>>|\.\.\. ).*\b{re.escape(name)}\b", node.value, re.MULTILINE):
                return True
            parent = file.parents.get(node)
            if isinstance(parent, ast.Subscript | ast.Tuple | ast.BinOp) and _is_type(node.value):
                return True
            if isinstance(parent, ast.Call) and last_name(parent.func) in ("ForwardRef", "NewType"):
                return True
    return any(
        "type:" in t.string and word.search(t.string)
        for t in file.source.tokens
        if t.string.startswith("#")
    )


def _is_type(text: str) -> bool:
    try:
        found = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(found, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp)


def _is_taken(program: Program, file: PythonFile, name: str) -> bool:
    """Whether another file gets a name from a module that only imports it."""
    symbol = PythonSymbol(file, file.top, name)
    for other in program.mentioning(name)[0]:
        if other is file:
            continue
        imports = (program.modules.imported(other.path, n) for n, _ in other.imports(name))
        if any(target.path == file.path for target in imports):
            return True
        for attribute in other.attributes(name):
            target = program.module_of(other, attribute.value)
            if target is not None and program.member(target, name) == symbol:
                return True
    for other in program.mentioning("import *")[0]:
        for node in other.stars:
            if program.modules.imported(other.path, node).path == file.path:
                return not name.startswith("_") and exported(file) is None
    return False


def _has_effects(program: Program, path: str) -> bool:
    """Whether a module does more than define things when it is loaded."""
    file = program.maybe(path)
    if file is None:
        return True
    for statement in file.source.tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test):
            continue
        for node in _run(statement):
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
                return True
            if isinstance(node, ast.Assign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
                    return True
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and any(
                isinstance(d, ast.Call | ast.Attribute)
                and last_name(d.func if isinstance(d, ast.Call) else d)
                in ("register", "route", "command", "task")
                for d in node.decorator_list
            ):
                return True
    return False


def _run(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and what runs with it, functions left out."""
    yield statement
    if isinstance(statement, Function):
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _run(child)  # type: ignore[arg-type]


# What is cut out


def _removed(
    file: PythonFile, gone: dict[Import, list[ast.alias]]
) -> tuple[list[Splice], list[str]]:
    splices: list[Splice] = []
    names: list[str] = []
    emptied: list[Import] = []
    for node, aliases in gone.items():
        if len(aliases) == len(node.names):
            emptied.append(node)
        else:
            part = _without(file, node, aliases)
            if not part:
                continue
            splices += part
        names += [a.asname or a.name for a in aliases]
    for node in emptied:
        body = _body_of(file, node) or []
        sole = body is not file.source.tree.body and all(_is_whole(gone, s) for s in body)
        keep = sole and body[:1] == [node]
        splices.append(_statement(file, node, instead="pass" if keep else ""))
    return sorted(splices, key=lambda s: s.start), names


def _is_whole(gone: dict[Import, list[ast.alias]], node: ast.stmt) -> bool:
    return isinstance(node, Import) and len(gone.get(node, ())) == len(node.names)


def _body_of(file: PythonFile, node: ast.stmt) -> list[ast.stmt] | None:
    parent = file.parents.get(node, file.source.tree)
    for name in ("body", "orelse", "finalbody"):
        body = getattr(parent, name, None)
        if isinstance(body, list) and node in body:
            return body
    return None


def _statement(file: PythonFile, node: Import, instead: str) -> Splice:
    """Cut out a whole statement, with its lines where it has them for itself."""
    text, start, end = file.source.text, file.source.start(node), file.source.end(node)
    if instead:
        return Splice(start, end, instead)
    lines = without_lines(text, start, end, "#")
    if lines is not None:
        return lines
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    if alone and text[end:stop].strip().startswith(";"):
        after = text.index(";", end) + 1
        while after < stop and text[after] in " \t":
            after += 1
        return Splice(start, after, "" if after < stop and text[after] != "#" else "pass")
    return Splice(start, end, "pass")


def _without(file: PythonFile, node: Import, aliases: list[ast.alias]) -> list[Splice]:
    """Cut some names out of an import that keeps others."""
    source = file.source
    notes = [a for a in node.names if a not in aliases]
    first, last = source.start(node.names[0]), source.end(node.names[-1])
    span = source.text[first:last]
    if "\n" not in span:
        return [Splice(first, last, ", ".join(source.segment(a) for a in notes))]
    if all(_own_line(file, a) for a in aliases):
        return [
            Splice(source.starts[a.lineno - 1], source.starts[a.end_lineno or a.lineno], "")
            for a in aliases
        ]
    if "#" in span:
        return []
    return [Splice(first, last, ", ".join(source.segment(a) for a in notes))]


def _own_line(file: PythonFile, alias: ast.alias) -> bool:
    source = file.source
    line = source.lines[alias.lineno - 1]
    start, end = source.start(alias), source.end(alias)
    before = line[: start - source.starts[alias.lineno - 1]].strip()
    after = line[end - source.starts[alias.lineno - 1] :].strip().lstrip(",").strip()
    return not before and (not after or after.startswith("#")) and alias.lineno == alias.end_lineno
