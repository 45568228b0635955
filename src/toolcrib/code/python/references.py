"""References and renames of Python: the symbol that is meant, and why it cannot be renamed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from toolcrib.code.places import ReferenceCollector, SymbolReferences
from toolcrib.code.project import Project
from toolcrib.code.python.classes import PythonClass
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.members import (
    MemberReferences,
    ParameterReferences,
    given_to,
    sorted_classes,
)
from toolcrib.code.python.names import (
    GlobalReferences,
    invented,
    keywords,
    listed,
    local_references,
    star_import_gives,
    texts_seen,
    what_is,
)
from toolcrib.code.python.program import ExternalName, Program, PythonSymbol, exported
from toolcrib.code.python.scopes import BINDING, PythonFile
from toolcrib.code.python.source import Function, is_name
from toolcrib.code.scopes import Occurrence
from toolcrib.core.errors import BadInput, NotFound

# The symbol that a line means

_LINE_HINT = "Give the line on which the name is defined or used."


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A name of the objects of a class."""

    of: PythonClass
    name: str


Subject = PythonSymbol | ClassMember | ExternalName


def subject(
    program: Program, inference: Inference, file: PythonFile, line: int, name: str
) -> Subject:
    """What a name is.

    Args:
        program: the files.
        inference: for attributes.
        file: the one with the name.
        line: from 1; 0 is wherever the file defines it.
        name: the name, or `PythonClass.member`.

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


def _dotted(program: Program, file: PythonFile, name: str) -> Subject:
    scope = file.top
    *holders, last = name.split(".")
    for part in holders:
        inner = next((c for c in scope.children if c.name == part), None)
        if inner is None:
            return _method_of_class(file, part, last)
        scope = inner
    if scope.kind == "class" and isinstance(scope.node, ast.ClassDef):
        return ClassMember(PythonClass(file, scope.node), last)
    if last not in scope.names:
        raise _absent(file, last, 0)
    return _symbol(program, PythonSymbol(file, scope, last))


def _method_of_class(file: PythonFile, kind: str, name: str) -> ClassMember:
    for node in file.within:
        if isinstance(node, ast.ClassDef) and node.name == kind:
            return ClassMember(PythonClass(file, node), name)
    raise NotFound(f"{file.path} defines no {kind}.", hint=_LINE_HINT)


def _anywhere(program: Program, inference: Inference, file: PythonFile, name: str) -> Subject:
    if file.top.binders(name):
        return _symbol(program, PythonSymbol(file, file.top, name))
    found: dict[Subject, int] = {}
    for scope in file.top.walk():
        for binder in scope.binders(name):
            one = _of_binder(program, file, binder)
            found.setdefault(one, binder.token.line)
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
        raise BadInput(
            f"{file.path} defines {name} several times, on lines {lines}.", hint=_LINE_HINT
        )
    return next(iter(found))


def _on_line(  # noqa: C901 - one list of cases
    program: Program, inference: Inference, file: PythonFile, line: int, name: str
) -> Subject | None:
    here = [o for o in file.top.all() if o.name == name and o.token.line == line]
    for roles in (("function", "class"), ("parameter",), tuple(BINDING)):
        for occurrence in here:
            if occurrence.role in roles:
                return _of_binder(program, file, occurrence)
    attributes = [n for n in file.attributes(name) if file.attribute_token(n).line == line]
    attributes.sort(key=lambda n: not isinstance(n.ctx, ast.Store))
    for store in (n for n in attributes if isinstance(n.ctx, ast.Store)):
        found = _of_attribute(inference, file, store)
        if found is not None:
            return found
    for occurrence in here:
        return _of_use(program, file, occurrence)
    for node in attributes:
        meaning = program.meaning(file, node)
        if isinstance(meaning, PythonSymbol | ExternalName):
            return meaning
        found = _of_attribute(inference, file, node)
        if found is not None:
            return found
    for imported, alias in file.imports(name):
        if alias.lineno == line:
            meaning = program.origin(program.from_import(file, imported, name))
            return meaning if isinstance(meaning, PythonSymbol | ExternalName) else None
    if attributes:
        raise BadInput(
            f"{file.path}:{line}: what has the attribute {name} cannot be told.",
            hint="Give the file and the line of its definition.",
        )
    return None


def _of_binder(program: Program, file: PythonFile, binder: Occurrence) -> Subject:
    owner = binder.owner or binder.scope
    if owner.kind == "class" and isinstance(owner.node, ast.ClassDef):
        return ClassMember(PythonClass(file, owner.node), binder.name)
    return _symbol(program, PythonSymbol(file, owner, binder.name))


def _of_use(program: Program, file: PythonFile, occurrence: Occurrence) -> Subject | None:
    if occurrence.owner is not None:
        return _of_binder(program, file, occurrence)
    if isinstance(occurrence.node, ast.Name):
        found = program.named(file, occurrence.node)
        if isinstance(found, PythonSymbol | ExternalName):
            return found
    return None


def _symbol(program: Program, symbol: PythonSymbol) -> PythonSymbol | ExternalName:
    """The name that an import leads to, unless the import gives it another one."""
    for _ in range(40):
        binders = symbol.binders
        if not binders or any(b.role != "import" for b in binders):
            return symbol
        alias = binders[0].node
        if not isinstance(alias, ast.alias) or alias.asname:
            return symbol
        meaning = program.imported(symbol.file, binders[0])
        if isinstance(meaning, ExternalName):
            return meaning
        if not isinstance(meaning, PythonSymbol):
            return ExternalName(symbol.name)
        symbol = meaning
    return symbol


def _of_attribute(
    inference: Inference, file: PythonFile, node: ast.Attribute
) -> ClassMember | None:
    values = inference.of(file, node.value)
    for value in values or ():
        if value.of is not None:
            return ClassMember(value.of, node.attr)
    return None


def _absent(file: PythonFile, name: str, line: int) -> NotFound:
    lines = [o.token.line for o in file.top.all() if o.name == name]
    lines += [n.lineno for n in file.attributes(name)]
    where = f"{file.path}:{line}" if line else file.path
    if not lines:
        return NotFound(f"{where}: there is no {name} in that file.", hint=_LINE_HINT)
    numbers = ", ".join(str(n) for n in sorted(set(lines))[:12])
    return NotFound(f"{where}: there is no {name}.", hint=f"It stands on lines {numbers}.")


def find_references(
    project: Project, path: str, line: int, name: str, new: str = ""
) -> tuple[SymbolReferences, list[str]]:
    """See `toolcrib.code.usages.find_references`; it blocks.

    Raises:
        NotFound: there is no such name.
        BadInput: the file has several.
        UnsupportedContent: the file is not valid Python.
    """
    program = Program(project)
    inference = Inference(program)
    found, what, about = _found_references(program, inference, path, line, name)
    references = found.result(what)
    if not new:
        return references, []
    return references, _conflicts(program, inference, references, about, new)


def _found_references(
    program: Program, inference: Inference, path: str, line: int, name: str
) -> tuple[ReferenceCollector, str, Subject | MemberReferences]:
    """The references, what the name is, and the subject (of a member: its finished search)."""
    if path not in program.modules:
        raise NotFound(f"{path} is no Python file of the project.", hint="Give one of its files.")
    about = subject(program, inference, program.file(path), line, name)
    if isinstance(about, PythonSymbol):
        if about.is_global:
            return GlobalReferences(program, about).found(), what_is(about), about
        if any(b.role == "parameter" for b in about.binders):
            return ParameterReferences(program, inference, about).found(), "parameter", about
        return local_references(about), what_is(about), about
    if isinstance(about, ClassMember):
        members = MemberReferences(program, inference, about.of, about.name)
        members.search()
        return members.result, _member_kind(about), members
    found = ReferenceCollector(name.rpartition(".")[2])
    found.add_obstacle(f"{path}:{max(line, 1)}: {about.name} is defined outside of the project.")
    return found, "import", about


def _member_kind(member: ClassMember) -> str:
    for binder in member.of.binders(member.name):
        if isinstance(binder.node, Function):
            return "method"
        return "class" if isinstance(binder.node, ast.ClassDef) else "attribute"
    return "attribute"


def _conflicts(
    program: Program,
    inference: Inference,
    found: SymbolReferences,
    about: Subject | MemberReferences,
    new: str,
) -> list[str]:
    """Why what was found cannot have a new name; empty where it can."""
    if not is_name(new):
        return [f"{new!r} is not a name that Python allows."]
    clashes: dict[str, None] = {}
    paths = {place.path for place in found.certain}
    for path in sorted(paths):
        file = program.file(path)
        places = {(p.line, p.column) for p in found.certain if p.path == path}
        mine = [o for o in file.top.all() if (o.token.line, o.token.column) in places]
        for why in _captures(program, file, mine, new):
            clashes[why] = None
        if any(o.owner is None for o in mine):  # brought in by `import *`, as the new name will be
            for other in (o for o in file.top.all() if o.name == new):
                clashes[f"{path}:{other.token.line}: {new} is a name of its own there."] = None
    clashes.update(dict.fromkeys(texts_seen(program, found)))
    if isinstance(about, MemberReferences):
        clashes.update(dict.fromkeys(about.clashes(new)))
        family = sorted_classes(about.related)
        clashes.update(dict.fromkeys(invented(program, family, new)))
        bound = [b for one in family for b in one.binders(about.name)]
        clashes.update(dict.fromkeys(listed(program, bound)))
    elif isinstance(about, PythonSymbol):
        clashes.update(dict.fromkeys(_of_symbol(program, inference, about, new)))
    return list(clashes)


def _of_symbol(
    program: Program, inference: Inference, about: PythonSymbol, new: str
) -> Iterator[str]:
    if new.startswith("__") and new.endswith("__"):
        yield f"{new} is a name that means something to Python."
    if any(b.role == "parameter" for b in about.binders):
        yield from given_to(program, inference, about, new)
        yield from keywords(program, about)
    yield from listed(program, about.binders)
    if not about.is_global:
        return
    target = program.modules.absolute(about.file.path, program.modules.name_of(about.file.path))
    if about.file.path.endswith("__init__.py"):
        children = {name: program.modules.child(target, name) for name in (new, about.name)}
        for name in (n for n, child in children.items() if child is not None and child.path):
            yield f"{about.file.path}:1: the package has a module {name}."
    if about.name.startswith("_") and not new.startswith("_") and exported(about.file) is None:
        yield from _by_stars(program, about, new)


def _by_stars(program: Program, about: PythonSymbol, new: str) -> Iterator[str]:
    """Where a name that becomes public is brought in by `import *`."""
    for file in program.mentioning("import *")[0]:
        for node in file.stars:
            if program.modules.imported(file.path, node).path == about.file.path:
                yield f"{file.at(node)}`import *` would bring {new} in."


def _captures(  # noqa: C901 - one list of cases
    program: Program, file: PythonFile, mine: list[Occurrence], new: str
) -> Iterator[str]:
    """Where a new name would mean something else, or take the place of something else."""
    owners = {o.owner for o in mine if o.owner is not None}
    for owner in owners:
        for taken in owner.binders(new)[:1]:
            yield f"{file.path}:{taken.token.line}: {new} is defined in the same scope already."
        for other in owner.all():
            if other.name == new and other.owner is not owner and other.would_mean(owner):
                yield f"{file.path}:{other.token.line}: {new} means something else there."
    for use in mine:
        for scope in use.passed():
            if new in scope.names or new in scope.globals or new in scope.nonlocals:
                line = next(iter([*scope.binders(new), use])).token.line
                yield f"{file.path}:{line}: {new} is a name of its own in there."
        if new.startswith("__") and any(s.kind == "class" for s in use.scope.chain()):
            yield f"{file.path}:{use.token.line}: names with two underscores are private there."
        if use.owner is file.top and new not in file.top.names:
            for star in file.stars:
                target = program.modules.imported(file.path, star)
                module = program.maybe(target.path) if target.path else None
                if module is None or star_import_gives(module, new) or module.stars:
                    yield f"{file.at(star)}`import *` may bring {new} in already."
