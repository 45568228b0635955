"""What a name on a line of a file is: a name of a scope, or an attribute of a class."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.classes import Class
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.program import Foreign, Program, Symbol
from toolcrib.code.python.scopes import BINDING, Occurrence
from toolcrib.core.errors import BadInput, NotFound

_LINES = "Give the line on which the name is defined or used."


@dataclass(frozen=True, slots=True)
class Member:
    """A name of the objects of a class."""

    of: Class
    name: str


Subject = Symbol | Member | Foreign


def subject(program: Program, inference: Inference, file: File, line: int, name: str) -> Subject:
    """What a name is.

    Args:
        program: the files.
        inference: for attributes.
        file: the one with the name.
        line: from 1; 0 is wherever the file defines it.
        name: the name, or `Class.member`.

    Raises:
        NotFound: it is not there.
        BadInput: it is several things.
    """
    if "." in name and not line:
        return _dotted(program, file, name)
    short = name.rpartition(".")[2]
    if not line:
        return _anywhere(program, inference, file, short)
    found = _on_line(program, inference, file, line, short)
    if found is None:
        raise _absent(file, short, line)
    return found


def _dotted(program: Program, file: File, name: str) -> Subject:
    scope = file.module
    *way, last = name.split(".")
    for part in way:
        inner = next((c for c in scope.children if c.name == part), None)
        if inner is None:
            return _method_of_class(file, part, last)
        scope = inner
    if scope.kind == "class" and isinstance(scope.node, ast.ClassDef):
        return Member(Class(file, scope.node), last)
    if last not in scope.bound:
        raise _absent(file, last, 0)
    return _symbol(program, Symbol(file, scope, last))


def _method_of_class(file: File, kind: str, name: str) -> Member:
    for node in file.within:
        if isinstance(node, ast.ClassDef) and node.name == kind:
            return Member(Class(file, node), name)
    raise NotFound(f"{file.path} defines no {kind}.", hint=_LINES)


def _anywhere(program: Program, inference: Inference, file: File, name: str) -> Subject:
    if file.module.bound.get(name):
        return _symbol(program, Symbol(file, file.module, name))
    found: dict[Subject, int] = {}
    for scope in file.module.walk():
        for binder in scope.bound.get(name, ()):
            one = _of_binder(program, file, binder)
            found.setdefault(one, binder.spot.line)
    if not found:
        for node in file.attributes(name):
            if isinstance(node.ctx, ast.Store):
                one_more = _of_attribute(inference, file, node)
                if one_more is not None:
                    found.setdefault(one_more, node.lineno)
    if not found:
        raise _absent(file, name, 0)
    if len(found) > 1:
        lines = ", ".join(str(line) for line in sorted(set(found.values()))[:12])
        raise BadInput(f"{file.path} defines {name} several times, on lines {lines}.", hint=_LINES)
    return next(iter(found))


def _on_line(  # noqa: C901, PLR0912 - one list of cases
    program: Program, inference: Inference, file: File, line: int, name: str
) -> Subject | None:
    here = [o for o in file.module.all() if o.name == name and o.spot.line == line]
    for roles in (("function", "class"), ("parameter",), tuple(BINDING)):
        for occurrence in here:
            if occurrence.role in roles:
                return _of_binder(program, file, occurrence)
    attributes = [n for n in file.attributes(name) if file.attribute_spot(n).line == line]
    attributes.sort(key=lambda n: not isinstance(n.ctx, ast.Store))
    stored = [n for n in attributes if isinstance(n.ctx, ast.Store)]
    for store in stored:
        found = _of_attribute(inference, file, store)
        if found is not None:
            return found
    for occurrence in here:
        return _of_use(program, file, occurrence)
    for node in attributes:
        meaning = program.meaning(file, node)
        if isinstance(meaning, Symbol | Foreign):
            return meaning
        found = _of_attribute(inference, file, node)
        if found is not None:
            return found
    for imported in file.within:
        if isinstance(imported, ast.ImportFrom):
            for alias in imported.names:
                if alias.name == name and alias.lineno == line:
                    meaning = program.origin(program.from_import(file, imported, name))
                    return meaning if isinstance(meaning, Symbol | Foreign) else None
    if attributes:
        raise BadInput(
            f"{file.path}:{line}: what has the attribute {name} cannot be told.",
            hint="Give the file and the line of its definition.",
        )
    return None


def _of_binder(program: Program, file: File, binder: Occurrence) -> Subject:
    owner = binder.owner or binder.scope
    if owner.kind == "class" and isinstance(owner.node, ast.ClassDef):
        return Member(Class(file, owner.node), binder.name)
    return _symbol(program, Symbol(file, owner, binder.name))


def _of_use(program: Program, file: File, occurrence: Occurrence) -> Subject | None:
    if occurrence.owner is not None:
        return _of_binder(program, file, occurrence)
    if isinstance(occurrence.node, ast.Name):
        found = program.named(file, occurrence.node)
        if isinstance(found, Symbol | Foreign):
            return found
    return None


def _symbol(program: Program, symbol: Symbol) -> Symbol | Foreign:
    """The name that an import leads to, unless the import gives it another one."""
    for _ in range(40):
        binders = symbol.binders
        if not binders or any(b.role != "import" for b in binders):
            return symbol
        alias = binders[0].node
        if not isinstance(alias, ast.alias) or alias.asname:
            return symbol
        meaning = program.imported(symbol.file, binders[0])
        if isinstance(meaning, Foreign):
            return meaning
        if not isinstance(meaning, Symbol):
            return Foreign(symbol.name)
        symbol = meaning
    return symbol


def _of_attribute(inference: Inference, file: File, node: ast.Attribute) -> Member | None:
    values = inference.of(file, node.value)
    for value in values or ():
        if value.of is not None:
            return Member(value.of, node.attr)
    return None


def _absent(file: File, name: str, line: int) -> NotFound:
    lines = [o.spot.line for o in file.module.all() if o.name == name]
    lines += [n.lineno for n in file.attributes(name)]
    where = f"{file.path}:{line}" if line else file.path
    if not lines:
        return NotFound(f"{where}: there is no {name} in that file.", hint=_LINES)
    shown = ", ".join(str(n) for n in sorted(set(lines))[:12])
    return NotFound(f"{where}: there is no {name}.", hint=f"It stands on lines {shown}.")
