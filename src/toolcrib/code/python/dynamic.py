"""Code that reaches names by text: what keeps a rename from being provable."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from toolcrib.code.python.bound_file import File, last_name
from toolcrib.code.python.modules import Target
from toolcrib.code.python.program import Program
from toolcrib.code.python.scopes import Scope

_RUNS = ("eval", "exec")
_TABLES = ("locals", "vars", "globals")
_REACH = ("getattr", "setattr", "hasattr", "delattr")
_BY_NAME = ("import_module", "__import__")


def in_scope(file: File, scope: Scope, name: str) -> Iterator[str]:
    """What may use a local name by its text."""
    inside = set(scope.walk())
    for call in file.calls(*_RUNS, "locals", "vars"):
        if file.within[call] not in inside or not _is_builtin(file, call):
            continue
        called = last_name(call.func)
        if called == "vars" and call.args:
            continue
        if called in _RUNS and not _may_name(call, name):
            continue
        yield f"{file.at(call)}{called}() may use the name."


def in_module(file: File, name: str) -> Iterator[str]:
    """What in a module itself may use one of its names by its text."""
    for call in file.calls(*_RUNS, *_TABLES):
        if not _is_builtin(file, call):
            continue
        called = last_name(call.func)
        if called in _RUNS:
            if _may_name(call, name):
                yield f"{file.at(call)}{called}() may use the name."
            continue
        at_module = file.within[call].kind in ("module", "comprehension")
        if (called == "globals" or (at_module and not call.args)) and _is_reached(file, call, name):
            yield f"{file.at(call)}{called}() may use the name."


def _is_builtin(file: File, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    found = file.names.get(call.func)
    return found is None or found.owner is None


def _may_name(call: ast.Call, name: str) -> bool:
    """Whether code that is run from a text can have a name in it."""
    text = call.args[0] if call.args else None
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return re.search(rf"\b{re.escape(name)}\b", text.value) is not None
    return True


def _is_reached(file: File, call: ast.Call, name: str) -> bool:
    """Whether a table of names is asked for this one, or for any."""
    parent = file.parents.get(call)
    key: ast.AST | None = None
    if isinstance(parent, ast.Subscript) and parent.value is call:
        key = parent.slice
    elif isinstance(parent, ast.Attribute) and parent.attr in ("get", "pop", "setdefault"):
        above = file.parents.get(parent)
        key = above.args[0] if isinstance(above, ast.Call) and above.args else None
    return not isinstance(key, ast.Constant) or key.value == name


def of_modules(program: Program, paths: set[str], name: str) -> Iterator[str]:
    """Where a module is asked for a name by its text, in any file."""
    files, _ = program.mentioning(*_REACH)
    for file in files:
        for call in file.calls(*_REACH):
            if len(call.args) < 2 or not _is_builtin(file, call):
                continue
            found = program.meaning(file, call.args[0])
            if not isinstance(found, Target) or found.path not in paths:
                continue
            key = call.args[1]
            if not isinstance(key, ast.Constant) or key.value == name:
                yield f"{file.at(call)}{last_name(call.func)}() reaches names of the module."
    yield from _by_import(program, paths, name)


def _by_import(program: Program, paths: set[str], name: str) -> Iterator[str]:
    """Modules that are imported by their names, and then asked for one of theirs."""
    files, _ = program.mentioning(*_BY_NAME, "sys.modules")
    for file in files:
        uses = bool(file.attributes(name)) or _reaches(file, name)
        tables = [n for n in file.attributes("modules") if last_name(n.value) == "sys"]
        for node in (*file.calls(*_BY_NAME), *tables):
            if uses and _may_be(program, file, node, paths):
                yield f"{file.at(node)}a module is loaded by its name, and asked for {name}."


def _reaches(file: File, name: str) -> bool:
    for call in file.calls(*_REACH):
        key = call.args[1] if len(call.args) > 1 else None
        if not isinstance(key, ast.Constant) or key.value == name:
            return True
    return False


def _may_be(program: Program, file: File, node: ast.AST, paths: set[str]) -> bool:
    key: ast.AST | None = None
    if isinstance(node, ast.Call):
        key = node.args[0] if node.args else None
    else:
        parent = file.parents.get(node)
        key = parent.slice if isinstance(parent, ast.Subscript) else None
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        dotted = key.value.lstrip(".")
        return any(_fits(program, path, dotted) for path in paths)
    return True


def _fits(program: Program, path: str, dotted: str) -> bool:
    name = program.modules.name_of(path)
    return name == dotted or name.endswith(f".{dotted}") or dotted.endswith(f".{name}")


def module_escapes(program: Program, paths: set[str]) -> list[str]:
    """Where one of some modules is used as a value, not only asked for a name."""
    found: dict[str, None] = {}
    words = {program.modules.name_of(path).rpartition(".")[2] for path in paths}
    files, _ = program.mentioning(*sorted(word for word in words if word))
    for file in files:
        for node in file.within:
            if not isinstance(node, ast.Name | ast.Attribute):
                continue
            if not isinstance(node.ctx, ast.Load) or not _is_value(file, node):
                continue
            if isinstance(node, ast.Name) and file.names.get(node) is None:
                continue
            target = program.module_of(file, node)
            if target is not None and target.path in paths:
                found[f"{file.at(node)}the module is handed on as a value."] = None
    return list(found)


def _is_value(file: File, node: ast.AST) -> bool:
    parent = file.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return False
    if isinstance(parent, ast.Call) and node in parent.args:
        # What asks for names by text is looked at apart.
        return last_name(parent.func) not in (*_REACH, "reload")
    return True
