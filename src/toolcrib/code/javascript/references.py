"""Every place that names one symbol of a JavaScript or TypeScript file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from toolcrib.code.javascript.capture import captures
from toolcrib.code.javascript.group import Gathering, Group, is_shared
from toolcrib.code.javascript.labels import Labelled, find_label, private_places
from toolcrib.code.javascript.members import find_members
from toolcrib.code.javascript.model import Binding, Member, Module, Token
from toolcrib.code.javascript.obstacles import find_obstacles
from toolcrib.code.javascript.program import Program, Slot
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.places import Kind, Place, References
from toolcrib.code.project import Project
from toolcrib.core.errors import BadInput, NotFound, TooLarge
from toolcrib.system.threads import in_thread

Seed = tuple[Module, Binding] | Slot | Member | Labelled


async def references(project: Project, file: str, line: int, name: str) -> References:
    """See `toolcrib.code.places`.

    Raises:
        NotFound: the name does not stand there.
        BadInput: the file has several symbols of that name, and no line was given.
        MissingExtra: ast-grep is not installed.
    """
    found, _ = await examined(project, file, line, name)
    return found


async def examined(
    project: Project, file: str, line: int, name: str, new: str = ""
) -> tuple[References, list[str]]:
    """The same, and why the symbol cannot get a new name, a sentence each."""

    def work(_: object) -> tuple[References, list[str]]:
        program = Program(project)
        try:
            found, group = _found(program, file, line, name)
            if not new:
                return found, []
            if group is None:
                return found, _clash(program.module(file), new)
            return found, captures(program, group, new)
        except RecursionError:
            raise TooLarge(
                f"{project.display(file)} is nested too deeply.", hint="Use search_files."
            ) from None

    return await in_thread(work, project.ctx.deadline)


def _clash(module: Module, new: str) -> list[str]:
    """Whether a label or a private name may exist in a file already."""
    if re.search(rf"(?<![\w$]){re.escape(new)}(?![\w$])", module.text):
        return [f"{new} stands in the same file already"]
    return []


def _found(program: Program, file: str, line: int, name: str) -> tuple[References, Group | None]:
    project = program.project
    module = program.module(file)
    seed = locate(project, module, line, name)
    word = name.lstrip("#")
    paths, closed = project.mentioning(word, SCRIPTS)
    scripts = [program.module(path) for path in paths if language_of(path) in SCRIPTS]
    mixed = [path for path in paths if language_of(path) not in SCRIPTS]
    if isinstance(seed, Labelled):
        places = [(module, token) for token in find_label(module, seed)]
        return _told(places, name, "label"), None
    if isinstance(seed, Member):
        if seed.role == "private" or name.startswith("#"):
            places = [(module, token) for token in private_places(module, seed)]
            return _told(places, name, "private member"), None
        group = Group(name, scripts=scripts)
        what = find_members(program, group, module, seed, mixed, closed)
    else:
        group = Gathering(program, name, scripts).gather(seed)
        find_obstacles(program, group, mixed, closed)
        what = next((b.what for _, b in group.bindings.values() if b.what != "import"), "name")
        if is_shared(group):
            what = find_members(program, group, module, None, mixed, [])
    return _of_group(program, group, what), group


def _of_group(program: Program, group: Group, what: str) -> References:
    modules = {path: program.module(path) for path in group.places}
    pairs = [(modules[p], token) for p, found in group.places.items() for token in found.values()]
    told = _told(pairs, group.name, what)
    told.obstacles = group.obstacles
    told.possible = sorted({*told.possible, *_texts(group)})
    return told


def _told(pairs: Iterable[tuple[Module, Token]], name: str, what: str) -> References:
    certain = sorted(place_of(module, token) for module, token in pairs)
    return References(certain, [], [], name, what)


def place_of(module: Module, token: Token, kind: Kind | None = None) -> Place:
    """A token as a place."""
    line = bisect_right(module.lines, token.start)
    at = module.lines[line - 1]
    return Place(
        module.path,
        line,
        token.start - at,
        token.end - at,
        kind or token.kind,
        token.before,
        token.after,
    )


def _texts(group: Group) -> Iterable[Place]:
    """Where the name stands in comments and strings."""
    word = re.compile(rf"(?<![\w$#]){re.escape(group.name)}(?![\w$])")
    for module in group.scripts:
        known = set(group.places.get(module.path, ()))
        known.update(use.token.start for use in module.uses)
        known.update(member.token.start for member in module.members)
        known.update(token.start for b in module.bindings for token in b.tokens)
        known.update(token.start for e in module.exports.values() for token in e.tokens)
        known.update(one.token.start for one in module.imported)
        known.update(token.start for _, token, _, _ in module.labels)
        for match in word.finditer(module.text):
            if match.start() not in known:
                yield place_of(module, Token(match.start(), match.end()), "text")


def locate(project: Project, module: Module, line: int, name: str) -> Seed:
    """The symbol that a name means at a line, or in a file.

    Raises:
        NotFound, BadInput: there is none, or there are several.
    """
    found = list(_symbols(module, name))
    shown = project.display(module.path)
    if line:
        here = [(rank, seed) for rank, seed, token in found if module_line(module, token) == line]
        if not here:
            lines = sorted({module_line(module, token) for _, _, token in found})
            raise NotFound(
                f"{name} does not stand at line {line} of {shown}.",
                hint=_lines_hint(lines) if lines else "Find it with find_symbol.",
            )
        return min(here, key=lambda each: each[0])[1]
    if not found:
        raise NotFound(f"{shown} has no {name}.", hint="Find it with find_symbol.")
    best = min(rank for rank, _, _ in found)
    seeds: dict[Any, tuple[Seed, Token]] = {}
    for rank, seed, token in found:
        if rank == best:
            seeds.setdefault(_identity(seed), (seed, token))
    if best in (1, 3) and len(seeds) > 1:
        lines = sorted(module_line(module, token) for _, token in seeds.values())
        raise BadInput(f"{shown} has several {name}.", hint=_lines_hint(lines))
    return next(iter(seeds.values()))[0]


def _lines_hint(lines: list[int]) -> str:
    more = ", ..." if len(lines) > 12 else ""
    return f"Give the line: it stands at {', '.join(map(str, lines[:12]))}{more}."


def _identity(seed: Seed) -> Any:
    if isinstance(seed, Member):
        return id(seed.owner)
    return id(seed[1]) if isinstance(seed, tuple) and not isinstance(seed[0], str) else seed


def module_line(module: Module, token: Token) -> int:
    """The line of a token, from 1."""
    return bisect_right(module.lines, token.start)


def _symbols(module: Module, name: str) -> Iterable[tuple[int, Seed, Token]]:
    """What has a name: how well it fits, what it is, where it stands."""
    for binding in module.bindings:
        if binding.name == name:
            for token in binding.tokens:
                yield 0 if binding.scope is module.top else 1, (module, binding), token
    if name in module.exports:
        for token in module.exports[name].tokens:
            yield 2, (module.path, name), token
    for use in module.uses:
        if use.name == name and use.binding is not None:
            yield 4, (module, use.binding), use.token
    yield from _members(module, name)


def _members(module: Module, name: str) -> Iterable[tuple[int, Seed, Token]]:
    for member in module.members:
        if member.name == name:
            yield 3 if member.owner is not None else 5, member, member.token
    for scope, token in _private(module, name):
        yield 3, Member(name, token, None, scope, "private", owner=scope), token
    for text, token, _, node in module.labels:
        if text == name:
            yield 6, Labelled(text, node), token


def _private(module: Module, name: str) -> Iterable[tuple[Any, Token]]:
    seen: set[int] = set()
    for member in module.members:
        for scope in member.scope.chain():
            if id(scope) not in seen:
                seen.add(id(scope))
                yield from ((scope, token) for token in scope.private.get(name, ()))
