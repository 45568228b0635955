"""What a new name would mean elsewhere, or take away from others."""

from __future__ import annotations

import re

from toolcrib.code.javascript.group import Group
from toolcrib.code.javascript.members import this_class
from toolcrib.code.javascript.model import Binding, Module, Scope
from toolcrib.code.javascript.program import Program
from toolcrib.code.languages import SCRIPTS
from toolcrib.core.errors import ToolError

RESERVED = frozenset(
    [
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "import",
        "in",
        "instanceof",
        "new",
        "null",
        "return",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
        "let",
        "static",
        "await",
        "implements",
        "interface",
        "package",
        "private",
        "protected",
        "public",
        "arguments",
        "eval",
        "undefined",
        "NaN",
        "Infinity",
        "async",
        "of",
        "get",
        "set",
    ]
)
BUILTIN = frozenset(
    [
        "Array",
        "ArrayBuffer",
        "BigInt",
        "Boolean",
        "DataView",
        "Date",
        "Error",
        "Function",
        "Intl",
        "JSON",
        "Map",
        "Math",
        "Number",
        "Object",
        "Promise",
        "Proxy",
        "RangeError",
        "ReferenceError",
        "Reflect",
        "RegExp",
        "Set",
        "String",
        "Symbol",
        "SyntaxError",
        "TypeError",
        "URIError",
        "WeakMap",
        "WeakSet",
        "WeakRef",
        "console",
        "decodeURI",
        "decodeURIComponent",
        "encodeURI",
        "encodeURIComponent",
        "globalThis",
        "isFinite",
        "isNaN",
        "parseFloat",
        "parseInt",
        "require",
        "module",
        "exports",
        "process",
        "window",
        "document",
        "any",
        "unknown",
        "never",
        "string",
        "number",
        "boolean",
        "object",
        "symbol",
        "bigint",
    ]
)
_NAME = re.compile(r"(?:[^\W\d]|\$)[\w$]*\Z")


def bad_name(new: str, *, private: bool = False, member: bool = False) -> str:
    """Why a text cannot be a new name; "" where it can."""
    plain = new.removeprefix("#") if private else new
    if not _NAME.match(plain) or not plain.replace("$", "a").isidentifier():
        return f"{new!r} is not a name of JavaScript"
    if not private and not member:
        if plain in RESERVED:
            return f"{new} is a word of the language"
        if plain in BUILTIN:
            return f"{new} is a name that the language gives"
    return "#constructor is not allowed" if private and plain == "constructor" else ""


def captures(program: Program, group: Group, new: str) -> list[str]:
    """Why a group cannot get a name, a sentence each. It blocks."""
    found = Group(group.name)
    if group.kin:
        _members(program, group, new, found)
        return found.obstacles
    touched = {path: program.module(path) for path in group.places}
    for module in touched.values():
        bindings = {id(b): b for m, b in group.bindings.values() if m.path == module.path}
        _declared(program, module, bindings, new, found)
        _taken(program, module, bindings, group, new, found)
        _given(program, module, bindings, new, found)
    for path, _ in group.slots:
        _exported(program, path, group, new, found)
    return found.obstacles


def _declared(
    program: Program, module: Module, bindings: dict[int, Binding], new: str, found: Group
) -> None:
    for binding in bindings.values():
        around = [binding.scope, *_beside(module, binding.scope)]
        for scope in binding.through:
            around += _between(scope, binding.scope)
        for scope in around:
            other = scope.names.get(new)
            if other is not None:
                start = other.tokens[0].start
                found.says(program, module, start, f"{new} is bound in the same scope already")
        for other in module.bindings:
            if other.name != new or other.scope is binding.scope:
                continue
            if any(binding.scope in _between(scope, other.scope) for scope in other.through):
                start = other.tokens[0].start
                found.says(program, module, start, f"a var {new} passes through the scope")


def _beside(module: Module, scope: Scope) -> list[Scope]:
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


def _between(scope: Scope, end: Scope) -> list[Scope]:
    """A scope and those around it, up to one that is not counted."""
    found: list[Scope] = []
    for each in scope.chain():
        if each is end:
            return found
        found.append(each)
    return []


def _taken(
    program: Program,
    module: Module,
    bindings: dict[int, Binding],
    group: Group,
    new: str,
    found: Group,
) -> None:
    """Uses that would mean another thing that has the name already."""
    for use in module.uses:
        if use.name != group.name or use.binding is None or id(use.binding) not in bindings:
            continue
        for scope in use.scope.chain():
            if scope is use.binding.scope:
                break
            if new in scope.names:
                why = f"{new} would mean another {scope.names[new].what} here"
                found.says(program, module, use.token.start, why)
        tag = use.node.parent().kind() if use.node.parent() is not None else ""
        is_tag = tag.startswith("jsx_") and tag != "jsx_expression"
        if is_tag and not new[:1].isupper():
            why = "a component of JSX must start with a capital letter"
            found.says(program, module, use.token.start, why)


def _given(
    program: Program, module: Module, bindings: dict[int, Binding], new: str, found: Group
) -> None:
    """Uses of the new name that would come to mean the renamed symbol."""
    for use in module.uses:
        if use.name != new:
            continue
        home = use.binding.scope if use.binding is not None else None
        for binding in bindings.values():
            inside = use.scope.within(binding.scope)
            if inside and (
                home is None or (home is not binding.scope and binding.scope.within(home))
            ):
                why = f"{new} means something else here and would be captured"
                found.says(program, module, use.token.start, why)


def _exported(program: Program, path: str, group: Group, new: str, found: Group) -> None:
    module = program.module(path)
    slot = program.slot(path, new)
    if slot is not None and slot not in group.slots:
        start = module.text.find(new)
        found.says(program, module, max(start, 0), f"the module exports {new} already")
    seen, left = {path}, [path]
    while left:
        for importer in sorted(program.importers(left.pop()) - seen):
            seen.add(importer)
            other = program.module(importer)
            leads = [program.specifiers.resolve(importer, said) for said in other.stars]
            if not any(each in seen for each in leads):
                continue
            left.append(importer)
            if program.slot(importer, new) is not None:
                why = f"the module passes on another {new}"
                found.says(program, other, 0, why)


def _members(program: Program, group: Group, new: str, found: Group) -> None:
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
            if owner is not None and any(_same(owner, kin) for kin in group.kin):
                found.says(program, module, member.token.start, f"the class has a {new} already")


def _same(one: object, other: object) -> bool:
    nodes = getattr(one, "node", None), getattr(other, "node", None)
    return one is other or (nodes[0] is not None and nodes[0] == nodes[1])
