"""The references of a Python name, and whether it can have another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from toolcrib.code.places import References
from toolcrib.code.project import Project
from toolcrib.code.python.bound_file import File
from toolcrib.code.python.classes import binders
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.members import Members, sorted_classes
from toolcrib.code.python.name_lookup import Member, Subject, subject
from toolcrib.code.python.names import (
    Found,
    GlobalNames,
    gives,
    local_references,
    what_is,
)
from toolcrib.code.python.parameters import Parameter, given_to
from toolcrib.code.python.program import Program, Symbol, exported
from toolcrib.code.python.scopes import Occurrence, Scope
from toolcrib.code.python.source import is_name
from toolcrib.code.python.text_occurrences import invented, keywords, listed, texts_seen
from toolcrib.core.errors import NotFound
from toolcrib.system.threads import in_thread


@dataclass
class _State:
    """What was found out for one project."""

    program: Program
    inference: Inference
    subjects: dict[int, tuple[References, Subject]] = field(default_factory=dict)


_STATES: WeakKeyDictionary[Project, _State] = WeakKeyDictionary()


def state_of(project: Project) -> _State:
    """The parsed files of a project, kept as long as it is."""
    found = _STATES.get(project)
    if found is None:
        program = Program(project)
        found = _STATES[project] = _State(program, Inference(program))
    return found


async def references(project: Project, file: str, line: int, name: str) -> References:
    """Every place that means a name; see `toolcrib.code.places`.

    Args:
        project: the files.
        file: the one in which the name stands.
        line: from 1; 0 is wherever the file defines it.
        name: the name, or `Class.member`.

    Raises:
        NotFound: there is no such name.
        BadInput: the file has several.
        UnsupportedContent: the file is not valid Python.
        TimedOut, Cancelled: as they say.
    """
    deadline = project.ctx.deadline
    found, what, about = await in_thread(lambda _: _gathered(project, file, line, name), deadline)
    answer = found.result(what)
    state_of(project).subjects[id(answer)] = (answer, about)
    return answer


def _gathered(project: Project, path: str, line: int, name: str) -> tuple[Found, str, Subject]:
    state = state_of(project)
    program = state.program
    if path not in program.modules:
        raise NotFound(f"{path} is no Python file of the project.", hint="Give one of its files.")
    about = subject(program, state.inference, program.file(path), line, name)
    if isinstance(about, Symbol):
        if about.is_global:
            return GlobalNames(program, about).found(), what_is(about), about
        if any(b.role == "parameter" for b in about.binders):
            return Parameter(program, state.inference, about).found(), "parameter", about
        return local_references(program, about), what_is(about), about
    if isinstance(about, Member):
        members = Members(program, state.inference, about.of, about.name)
        members.search()
        return members.result, _member_kind(about), about
    found = Found(program, name.rpartition(".")[2])
    found.stop(f"{path}:{max(line, 1)}: {about.name} is defined outside of the project.")
    return found, "import", about


def _member_kind(member: Member) -> str:
    for binder in binders(member.of, member.name):
        if isinstance(binder.node, ast.FunctionDef | ast.AsyncFunctionDef):
            return "method"
        return "class" if isinstance(binder.node, ast.ClassDef) else "attribute"
    return "attribute"


async def conflicts(project: Project, found: References, new: str) -> list[str]:
    """Why what was found cannot be called otherwise; empty where it can.

    Args:
        project: the one that was searched.
        found: what `references` gave.
        new: the new name.
    """
    return await in_thread(lambda _: _conflicts(project, found, new), project.ctx.deadline)


def _conflicts(project: Project, found: References, new: str) -> list[str]:
    if not is_name(new):
        return [f"{new!r} is not a name that Python allows."]
    state = state_of(project)
    program = state.program
    held = state.subjects.get(id(found))
    clashes: dict[str, None] = {}
    paths = {place.path for place in found.certain}
    for path in sorted(paths):
        file = program.file(path)
        spots = {(p.line, p.column) for p in found.certain if p.path == path}
        mine = [o for o in file.module.all() if (o.spot.line, o.spot.column) in spots]
        for why in _captures(program, file, mine, new):
            clashes[why] = None
    about = held[1] if held is not None else None
    clashes.update(dict.fromkeys(texts_seen(program, found)))
    if isinstance(about, Member):
        members = Members(program, state.inference, about.of, about.name)
        members.search()
        clashes.update(dict.fromkeys(members.clashes(new)))
        family = sorted_classes(members.related | set(members.family))
        clashes.update(dict.fromkeys(invented(program, family, new)))
        bound = [b for one in family for b in binders(one, about.name)]
        clashes.update(dict.fromkeys(listed(program, bound)))
    elif isinstance(about, Symbol):
        clashes.update(dict.fromkeys(_of_symbol(program, state.inference, about, new)))
    return list(clashes)


def _of_symbol(program: Program, inference: Inference, about: Symbol, new: str) -> Iterator[str]:
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


def _by_stars(program: Program, about: Symbol, new: str) -> Iterator[str]:
    """Where a name that becomes public is brought in by `import *`."""
    for file in program.mentioning("import *")[0]:
        for scope in file.module.walk():
            for node in scope.stars:
                if program.modules.imported(file.path, node).path == about.file.path:
                    yield f"{file.at(node)}`import *` would bring {new} in."


def _captures(program: Program, file: File, mine: list[Occurrence], new: str) -> Iterator[str]:  # noqa: C901 - one list of cases
    """Where a new name would mean something else, or take the place of something else."""
    owners = {o.owner for o in mine if o.owner is not None}
    for owner in owners:
        for taken in owner.bound.get(new, ())[:1]:
            yield f"{file.path}:{taken.spot.line}: {new} is defined in the same scope already."
        for other in owner.all():
            if other.name == new and other.owner is not owner and _is_outward(other, owner):
                yield f"{file.path}:{other.spot.line}: {new} means something else there."
    for use in mine:
        for scope in _between(use):
            if new in scope.bound or new in scope.globals or new in scope.nonlocals:
                line = scope.bound[new][0].spot.line if scope.bound.get(new) else use.spot.line
                yield f"{file.path}:{line}: {new} is a name of its own in there."
        if new.startswith("__") and any(s.kind == "class" for s in _above(use.scope)):
            yield f"{file.path}:{use.spot.line}: names with two underscores are private there."
        if use.owner is file.module and new not in file.module.bound:
            for star in file.module.stars:
                target = program.modules.imported(file.path, star)
                module = program.maybe(target.path) if target.path else None
                if module is None or gives(module, new) or module.module.stars:
                    yield f"{file.at(star)}`import *` may bring {new} in already."


def _is_outward(other: Occurrence, owner: Scope) -> bool:
    """Whether a name that is used inside of a scope means one outside of it."""
    if other.owner is None:
        return owner in set(other.scope.chain()) or other.role == "declare"
    return other.owner in set(_above(owner)) - {owner} and owner in set(other.scope.chain())


def _above(scope: Scope) -> Iterator[Scope]:
    at: Scope | None = scope
    while at is not None:
        yield at
        at = at.parent


def _between(use: Occurrence) -> Iterator[Scope]:
    """The scopes that a name passes on the way to its owner."""
    for scope in use.scope.chain():
        if scope is use.owner:
            return
        yield scope
