"""Why the places of a symbol may not be all of them."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.code.javascript.group import Group
from toolcrib.code.javascript.model import BOTH, Binding, Module, Scope
from toolcrib.code.javascript.names import literal, named
from toolcrib.code.javascript.parsed_file import resolve
from toolcrib.code.javascript.program import PASSED, Program
from toolcrib.code.languages import ending_of

GLOBALS = ("globalThis", "window", "self", "global")
ESCAPES = "the module is used as a whole here, so that {} may be reached unseen"
_SCRIPT = re.compile(
    r"<script\b.*?</script>|\son\w+\s*=\s*(?:\"[^\"]*\"|'[^']*')", re.DOTALL | re.IGNORECASE
)


def find_obstacles(program: Program, group: Group, mixed: list[str], closed: list[str]) -> None:
    """Add to the obstacles of a group all that could hide a use.

    Args:
        program: the files.
        group: with its places.
        mixed: files that mix languages and mention the name.
        closed: sentences on files that could not be read.
    """
    group.obstacles += closed
    for module in group.scripts:
        for start in module.errors[:1]:
            group.says(program, module, start, "a syntax error: the file cannot be understood")
    for module, binding in group.bindings.values():
        _about_binding(program, group, module, binding)
    if group.slots:
        _unknown_imports(program, group)
        _escapes(program, group)
    wide = group.slots or any(_is_global(m, b) for m, b in group.bindings.values())
    if wide:
        for path in mixed:
            mixed_obstacle(program, group, path)


def mixed_obstacle(program: Program, group: Group, path: str) -> None:
    """Refuse for a name in a file whose code is not understood."""
    text = program.project.text(path)
    word = re.compile(rf"(?<![\w$]){re.escape(group.name)}(?![\w$])")
    regions = [(0, len(text))]
    if ending_of(path) in ("html", "htm"):
        regions = [match.span() for match in _SCRIPT.finditer(text)]
    for start, end in regions:
        found = word.search(text, start, end)
        if found is not None:
            line = 1 + text.count("\n", 0, found.start())
            shown = program.project.display(path)
            group.obstacles.append(f"{shown}:{line}: {group.name} stands in code of a mixed file")
            return


def _is_global(module: Module, binding: Binding) -> bool:
    """Whether other scripts of the same page see it."""
    plain = not module.esm and not module.common and not module.calls
    return plain and binding.scope is module.top


def _about_binding(program: Program, group: Group, module: Module, binding: Binding) -> None:
    start = binding.tokens[0].start
    for scope in module.evals:
        if scope.within(binding.scope):
            group.says(program, module, start, "eval is called where it can be seen")
    if any(scope.dynamic.startswith("declare") for scope in binding.scope.chain()):
        group.says(program, module, start, "it is declared for another module or for all")
    if binding.what == "parameter property":
        group.says(program, module, start, "it is a parameter and a property at once")
    if binding.sloppy and not module.esm:
        _sloppy(program, group, module, binding)
    if binding.what == "namespace" and len(binding.bodies) > 1 and binding.exposed:
        group.says(program, module, start, "the namespace has several parts")
    if _is_global(module, binding):
        _other_scripts(program, group, module)


def _sloppy(program: Program, group: Group, module: Module, binding: Binding) -> None:
    outer = next(s for s in binding.scope.chain() if s.kind in ("module", "body"))
    for use in module.uses:
        if use.name == group.name and use.binding is not binding and use.scope.within(outer):
            group.says(program, module, use.token.start, "a function of a block may be meant")


def _other_scripts(program: Program, group: Group, module: Module) -> None:
    name = group.name
    for other in group.scripts:
        for member in other.members:
            if member.name == name and member.base is not None and member.base.text() in GLOBALS:
                group.says(program, other, member.token.start, "it may be the global one")
        if other is module:
            continue
        for use in other.uses:
            if use.name == name and use.binding is None:
                group.says(program, other, use.token.start, "it may be the global one")
        if name in other.top.names and _is_global(other, other.top.names[name]):
            start = other.top.names[name].tokens[0].start
            if other.top.names[name].what != "function" or program.importers(other.path):
                continue
            group.says(program, other, start, "another script defines the same global name")


def _unknown_imports(program: Program, group: Group) -> None:
    files = {path for path, _ in group.slots}
    for module in group.scripts:
        for said in sorted(program.bare(module.path)):
            if program.specifiers.may_mean(module.path, said, files):
                start = max(module.text.find(f'"{said}'), module.text.find(f"'{said}"), 0)
                why = f"{said!r} may be a module that exports {group.name}"
                group.says(program, module, start, why)
        for said, start in module.mentions:
            target = program.specifiers.resolve(module.path, said)
            if program.slot(target, group.name) in group.slots:
                group.says(program, module, start, "the module is named in a call")


def _escapes(program: Program, group: Group) -> None:
    seen: set[str] = set()
    left = [path for path, _ in group.slots]
    while left:
        provider = left.pop()
        for path in sorted(program.importers(provider)):
            if path in seen:
                continue
            seen.add(path)
            module = program.module(path)
            _whole_uses(program, group, module)
            whole = any(e.source and e.source[1] == "*" for e in module.exports.values())
            if (
                whole
                or program.slot(path, group.name) in group.slots
                or any(module.top.names.get(n) for n in module.exports)
            ):
                left.append(path)


def _whole_uses(program: Program, group: Group, module: Module) -> None:
    found = [(use.node, use.token, use.scope) for use in module.uses if use.binding is not None]
    found += [
        (member.base.parent(), member.token, member.scope)
        for member in module.members
        if member.base is not None and member.base.kind() == "identifier"
    ]
    for node, token, scope in found:
        meant = program.meant(module, node, scope)
        if meant is None or meant.binding is not None:
            continue
        if program.slot(meant.path, group.name) in group.slots and not is_plain(node):
            group.says(program, module, token.start, ESCAPES.format(group.name))
    for node, scope, said in module.calls:
        target = program.specifiers.resolve(module.path, said)
        if program.slot(target, group.name) not in group.slots:
            continue
        free = resolve(scope, "require", BOTH) is None
        if not free or not _is_plain_call(node):
            start = node.range().start.index
            group.says(program, module, start, ESCAPES.format(group.name))


def _is_plain_call(node: Any) -> bool:
    if node.field("function").text() == "import":
        parent = _outer(node)
        if parent is None or parent.kind() != "await_expression":
            return False
        node = parent
    around = _outer(node)
    if around is not None and around.kind() == "expression_statement":
        return True
    return is_plain(node)


def _outer(node: Any) -> Any:
    parent = node.parent()
    while parent is not None and parent.kind() in PASSED:
        parent = parent.parent()
    return parent


def is_plain(node: Any) -> bool:
    """Whether only one member of it, known by name, is used."""
    parent, child = node.parent(), node
    while parent is not None and parent.kind() in PASSED:
        parent, child = parent.parent(), parent
    kind = parent.kind() if parent is not None else ""
    if kind == "member_expression":
        return bool(parent.field("object") == child)
    if kind in ("nested_identifier", "nested_type_identifier"):
        return bool(named(parent)[0] == child)
    if kind == "subscript_expression":
        return bool(parent.field("object") == child) and literal(parent.field("index")) is not None
    if kind == "variable_declarator":
        name = parent.field("name")
        if name.kind() == "identifier":
            return bool(parent.children()[0] == name)
        parts = [part.kind() for part in named(name)]
        keys = [part.field("key") for part in named(name) if part.kind() == "pair_pattern"]
        plain = all(key.kind() == "property_identifier" for key in keys)
        return name.kind() == "object_pattern" and "rest_pattern" not in parts and plain
    return kind in ("export_specifier", "import_alias")


def scopes_of(module: Module) -> set[Scope]:
    """Every scope in which something is bound."""
    return {module.top, *(binding.scope for binding in module.bindings)}
