"""References and renames of JavaScript and TypeScript."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.group import GroupBuilder, SymbolGroup, find_obstacles, is_shared
from toolcrib.code.javascript.members import find_members, this_class
from toolcrib.code.javascript.model import Member, Module, word_pattern
from toolcrib.code.javascript.program import ScriptProgram, Slot
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.places import NameToken, ReferenceCollector, SymbolReferences
from toolcrib.code.project import Project
from toolcrib.code.scopes import Binding, LexicalScope
from toolcrib.core.errors import BadInput, NotFound, TooLarge, ToolError
from toolcrib.core.names import name_set

# Labels and private names, which stay within one file


@dataclass(frozen=True, slots=True)
class Label:
    """A label: its name, and a node that names it."""

    name: str
    node: Any


def find_label(module: Module, label: Label) -> list[NameToken]:
    """Every place of a label."""
    target = _labelled(label.node, label.name)
    return [
        token
        for name, token, _, node in module.labels
        if name == label.name and _labelled(node, name) == target
    ]


def _labelled(node: Any, name: str) -> Any:
    while node is not None:
        if node.kind() == "labeled_statement" and node.field("label").text() == name:
            return node
        node = node.parent()
    return None


def private_places(module: Module, member: Member) -> list[NameToken]:
    """Every place of a private name."""
    scope = _private_scope(member)
    if scope is None:
        return []
    found = list(scope.private[member.name])
    found += [
        other.token
        for other in module.members
        if other.role == "private" and other.name == member.name and _private_scope(other) is scope
    ]
    return found


def _private_scope(member: Member) -> LexicalScope | None:
    return next((s for s in member.scope.chain() if member.name in s.private), None)


Seed = tuple[Module, Binding] | Slot | Member | Label


def find_references(
    project: Project, path: str, line: int, name: str, new: str = ""
) -> tuple[SymbolReferences, list[str]]:
    """See `toolcrib.code.usages.find_references`; it blocks.

    Raises:
        NotFound: the name does not stand there.
        BadInput: the file has several symbols of that name, and no line was given.
        MissingExtra: ast-grep is not installed.
    """
    program = ScriptProgram(project)
    try:
        found, group = _found(program, path, line, name)
        if not new:
            return found, []
        if group is None:
            return found, _clash(program.module(path), new)
        return found, captures(group, new)
    except RecursionError:
        raise TooLarge(
            f"{project.display(path)} is nested too deeply.", hint="Use search_files."
        ) from None


def _clash(module: Module, new: str) -> list[str]:
    """Whether a label or a private name may exist in a file already."""
    if word_pattern(new).search(module.text):
        return [f"{new} stands in the same file already"]
    return []


def _found(
    program: ScriptProgram, file: str, line: int, name: str
) -> tuple[SymbolReferences, SymbolGroup | None]:
    project = program.project
    module = program.module(file)
    seed = locate(project, module, line, name)
    word = name.lstrip("#")
    paths, closed = project.mentioning(word, SCRIPTS)
    scripts = [program.module(path) for path in paths if language_of(path) in SCRIPTS]
    mixed = [path for path in paths if language_of(path) not in SCRIPTS]
    if isinstance(seed, Label):
        return _collected(name, module, find_label(module, seed), "label"), None
    if isinstance(seed, Member):
        if seed.role == "private" or name.startswith("#"):
            places = private_places(module, seed)
            return _collected(name, module, places, "private member"), None
        group = SymbolGroup(name, program=program, scripts=scripts)
        what = find_members(group, module, seed, mixed, closed)
    else:
        group = GroupBuilder(program, name, scripts).build(seed)
        find_obstacles(group, mixed, closed)
        what = next((b.what for _, b in group.bindings.values() if b.what != "import"), "name")
        if is_shared(group):
            what = find_members(group, module, None, mixed, [])
    _add_texts(group)
    return group.result(what), group


def _collected(
    name: str, module: Module, tokens: Iterable[NameToken], what: str
) -> SymbolReferences:
    """The references of what stays within one file."""
    found = ReferenceCollector(name)
    for token in tokens:
        found.add(module, token)
    return found.result(what)


def _add_texts(group: SymbolGroup) -> None:
    """Add where the name stands in comments and strings."""
    word = re.compile(rf"(?<![\w$#]){re.escape(group.name)}(?![\w$])")
    for module in group.scripts:
        known = set(group.places.get(module.path, ()))
        known.update(each.token.start for each in module.top.all())
        known.update(member.token.start for member in module.members)
        known.update(token.start for e in module.exports.values() for token in e.tokens)
        known.update(one.token.start for one in module.imported)
        known.update(token.start for _, token, _, _ in module.labels)
        for match in word.finditer(module.text):
            if match.start() not in known:
                group.add_possible(module, module.text_token(*match.span()))


def locate(project: Project, module: Module, line: int, name: str) -> Seed:
    """The symbol that a name means at a line, or in a file.

    Raises:
        NotFound, BadInput: there is none, or there are several.
    """
    found = list(_symbols(module, name))
    display = project.display(module.path)
    if line:
        here = [(rank, seed) for rank, seed, token in found if module.line_at(token.start) == line]
        if not here:
            lines = sorted({module.line_at(token.start) for _, _, token in found})
            raise NotFound(
                f"{name} does not stand at line {line} of {display}.",
                hint=_lines_hint(lines) if lines else "Find it with find_symbol.",
            )
        return min(here, key=lambda each: each[0])[1]
    if not found:
        raise NotFound(f"{display} has no {name}.", hint="Find it with find_symbol.")
    best = min(rank for rank, _, _ in found)
    seeds: dict[Any, tuple[Seed, NameToken]] = {}
    for rank, seed, token in found:
        if rank == best:
            seeds.setdefault(_identity(seed), (seed, token))
    if best in (1, 3) and len(seeds) > 1:
        lines = sorted(module.line_at(token.start) for _, token in seeds.values())
        raise BadInput(f"{display} has several {name}.", hint=_lines_hint(lines))
    return next(iter(seeds.values()))[0]


def _lines_hint(lines: list[int]) -> str:
    more = ", ..." if len(lines) > 12 else ""
    return f"Give the line: it stands at {', '.join(map(str, lines[:12]))}{more}."


def _identity(seed: Seed) -> Any:
    if isinstance(seed, Member):
        return id(seed.owner)
    return id(seed[1]) if isinstance(seed, tuple) and not isinstance(seed[0], str) else seed


def _symbols(module: Module, name: str) -> Iterable[tuple[int, Seed, NameToken]]:
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


def _members(module: Module, name: str) -> Iterable[tuple[int, Seed, NameToken]]:
    for member in module.members:
        if member.name == name:
            yield 3 if member.owner is not None else 5, member, member.token
    for scope, token in _private(module, name):
        yield 3, Member(name, token, None, scope, "private", owner=scope), token
    for text, token, _, node in module.labels:
        if text == name:
            yield 6, Label(text, node), token


def _private(module: Module, name: str) -> Iterable[tuple[Any, NameToken]]:
    seen: set[int] = set()
    for member in module.members:
        for scope in member.scope.chain():
            if id(scope) not in seen:
                seen.add(id(scope))
                yield from ((scope, token) for token in scope.private.get(name, ()))


# Why a symbol cannot get a new name

RESERVED_WORDS = name_set("""
    break case catch class const continue debugger default delete do else enum export extends
    false finally for function if import in instanceof new null return super switch this throw
    true try typeof var void while with yield let static await implements interface package
    private protected public arguments eval undefined NaN Infinity async of get set
""")
BUILTIN_NAMES = name_set("""
    Array ArrayBuffer BigInt Boolean DataView Date Error Function Intl JSON Map Math Number
    Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError
    TypeError URIError WeakMap WeakSet WeakRef console decodeURI decodeURIComponent encodeURI
    encodeURIComponent globalThis isFinite isNaN parseFloat parseInt require module exports
    process window document any unknown never string number boolean object symbol bigint
""")
_NAME = re.compile(r"(?:[^\W\d]|\$)[\w$]*\Z")


def need_name(new: str, *, private: bool = False) -> None:
    """See that a text can be a new name.

    Raises:
        BadInput: it cannot.
    """
    why = _bad_name(new, private=private)
    if why:
        raise BadInput(f"{why[0].upper()}{why[1:]}.", hint="Give another new_name.")


def _bad_name(new: str, *, private: bool) -> str:
    """Why a text cannot be a new name; "" where it can."""
    plain = new.removeprefix("#") if private else new
    if not _NAME.match(plain) or not plain.replace("$", "a").isidentifier():
        return f"{new!r} is not a name of JavaScript"
    if not private:
        if plain in RESERVED_WORDS:
            return f"{new} is a word of the language"
        if plain in BUILTIN_NAMES:
            return f"{new} is a name that the language gives"
    return "#constructor is not allowed" if private and plain == "constructor" else ""


def captures(group: SymbolGroup, new: str) -> list[str]:
    """Why a group cannot get a name, a sentence each. It blocks."""
    program = group.program
    found = SymbolGroup(group.name, program=program)
    if group.family:
        _member_clashes(group, new, found)
        return list(found.obstacles)
    touched = {path: program.module(path) for path in group.places}
    for module in touched.values():
        bindings = {id(b): b for m, b in group.bindings.values() if m.path == module.path}
        _declared(module, bindings, new, found)
        _taken(module, bindings, group, new, found)
        _given(module, bindings, new, found)
    for path, _ in group.slots:
        _exported(program, path, group, new, found)
    return list(found.obstacles)


def _declared(module: Module, bindings: dict[int, Binding], new: str, found: SymbolGroup) -> None:
    for binding in bindings.values():
        around = [binding.scope, *_beside(module, binding.scope)]
        for scope in binding.through:
            around += _between(scope, binding.scope)
        for scope in around:
            other = scope.names.get(new)
            if other is not None:
                start = other.start
                found.add_obstacle_at(module, start, f"{new} is bound in the same scope already")
        for other in module.bindings:
            if other.name != new or other.scope is binding.scope:
                continue
            if any(binding.scope in _between(scope, other.scope) for scope in other.through):
                start = other.start
                found.add_obstacle_at(module, start, f"a var {new} passes through the scope")


def _beside(module: Module, scope: LexicalScope) -> list[LexicalScope]:
    """Scopes that see each other: parameters and body, a caught error and its block."""
    pairs = {"function": "body", "catch": "block"}
    inner = pairs.get(scope.kind)
    found = {
        id(b.scope): b.scope
        for b in module.bindings
        if b.scope.parent is scope and b.scope.kind == inner
    }
    outer = scope.parent
    if outer is not None and pairs.get(outer.kind) == scope.kind:
        found[id(outer)] = outer
    return list(found.values())


def _between(scope: LexicalScope, end: LexicalScope) -> list[LexicalScope]:
    """A scope and those around it, up to one that is not counted."""
    found: list[LexicalScope] = []
    for each in scope.chain():
        if each is end:
            return found
        found.append(each)
    return []


def _taken(
    module: Module, bindings: dict[int, Binding], group: SymbolGroup, new: str, found: SymbolGroup
) -> None:
    """Uses that would mean another thing that has the name already."""
    for use in module.uses:
        if use.name != group.name or use.binding is None or id(use.binding) not in bindings:
            continue
        for scope in use.passed():
            if new in scope.names:
                why = f"{new} would mean another {scope.names[new].what} here"
                found.add_obstacle_at(module, use.token.start, why)
        tag = use.node.parent().kind() if use.node.parent() is not None else ""
        is_tag = tag.startswith("jsx_") and tag != "jsx_expression"
        if is_tag and not new[:1].isupper():
            why = "a component of JSX must start with a capital letter"
            found.add_obstacle_at(module, use.token.start, why)


def _given(module: Module, bindings: dict[int, Binding], new: str, found: SymbolGroup) -> None:
    """Uses of the new name that would come to mean the renamed symbol."""
    for use in module.uses:
        if use.name != new:
            continue
        for binding in bindings.values():
            if use.would_mean(binding.scope):
                why = f"{new} means something else here and would be captured"
                found.add_obstacle_at(module, use.token.start, why)


def _exported(
    program: ScriptProgram, path: str, group: SymbolGroup, new: str, found: SymbolGroup
) -> None:
    module = program.module(path)
    slot = program.slot(path, new)
    if slot is not None and slot not in group.slots:
        start = module.text.find(new)
        found.add_obstacle_at(module, max(start, 0), f"the module exports {new} already")
    seen, left = {path}, [path]
    while left:
        for importer in sorted(program.importers(left.pop()) - seen):
            seen.add(importer)
            other = program.module(importer)
            leads = [program.resolve(importer, specifier) for specifier in other.stars]
            if not any(each in seen for each in leads):
                continue
            left.append(importer)
            if program.slot(importer, new) is not None:
                why = f"the module passes on another {new}"
                found.add_obstacle_at(other, 0, why)


def _member_clashes(group: SymbolGroup, new: str, found: SymbolGroup) -> None:
    program = group.program
    paths, _ = program.project.mentioning(new, SCRIPTS)
    for path in paths:
        if not program.is_script(path):
            continue
        try:
            module = program.module(path)
        except ToolError:
            continue
        for member in module.members:
            if member.name != new:
                continue
            owner = member.owner
            if owner is None and member.base is not None and member.base.kind() == "this":
                owner, _ = this_class(member)
            if owner is not None and any(_same(owner, kin) for kin in group.family):
                found.add_obstacle_at(module, member.token.start, f"the class has a {new} already")


def _same(one: object, other: object) -> bool:
    nodes = getattr(one, "node", None), getattr(other, "node", None)
    return one is other or (nodes[0] is not None and nodes[0] == nodes[1])
