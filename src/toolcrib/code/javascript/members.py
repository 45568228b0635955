"""References to members of classes, enums and namespaces of JavaScript and TypeScript."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.group import SymbolGroup, mixed_obstacle
from toolcrib.code.javascript.model import Member, Module
from toolcrib.code.javascript.scopes import named
from toolcrib.code.scopes import Binding, LexicalScope
from toolcrib.core.names import name_set

SPECIAL_MEMBERS = name_set("""
    constructor toString valueOf toJSON then next return throw name length prototype call apply
    bind connectedCallback disconnectedCallback attributeChangedCallback render
""")
"""Members that the language or a usual framework calls."""
ERROR_MEMBERS = frozenset(["message", "name", "stack", "cause", "toString"])
FIELD_LISTING = re.compile(
    r"\b(?:JSON\.stringify|Object\.(?:keys|values|entries|assign|getOwnPropertyNames)"
    r"|structuredClone|Reflect\.\w+)\s*\(|\bfor\s*\([^;()]*\bin\b|\.\.\.this\b"
)
UNCLEAR_OWNER = "whose {name} this is cannot be told"
LITERALS = name_set("string template_string number array regex true false null object")
_PLAIN_USES = name_set("nested_identifier nested_type_identifier export_specifier export_statement")
"""In what a name stands of which one member is used."""
BUILTIN_OBJECTS = name_set("""
    console Math JSON Object Array Promise Number String Symbol Reflect process document Date
    Intl Atomics Buffer URL performance
""")


def find_members(
    group: SymbolGroup, module: Module, member: Member | None, mixed: list[str], closed: list[str]
) -> str:
    """Add the places of a member to a group, and what stands in the way; tells its kind."""
    group.add_obstacles(closed)
    for path in mixed:
        mixed_obstacle(group, path)
    if member is None:
        return _shared(group)
    owner, static = member.owner, member.static
    if owner is None and member.base is not None and member.base.text() == "this":
        owner, static = this_class(member)
    if owner is None:
        group.add(module, member.token)
        group.add_obstacle_at(
            module, member.token.start, "it is a property: which objects have it is unknown"
        )
        _list_others(group, set())
        return "property"
    _Family(group, module, owner, static).collect()
    return "field" if member.role == "field" else "method"


def _shared(group: SymbolGroup) -> str:
    owners = {
        id(b.scope.owner): (m, b.scope.owner)
        for m, b in group.bindings.values()
        if b.scope.owner is not None
    }
    for module in group.scripts:
        for member in module.members:
            if member.name != group.name or member.base is None:
                continue
            meant = group.program.meant(module, member.base, member.scope)
            if meant is not None and id(meant.binding) in owners:
                group.add(module, member.token)
    for module, owner in owners.values():
        if len(owner.bodies) > 1:
            group.add_obstacle_at(module, owner.start, f"{owner.name} has several parts")
        _owner_escapes(group, owner)
    return next(b.what for _, b in group.bindings.values())


def _owner_escapes(group: SymbolGroup, owner: Binding) -> None:
    program = group.program
    paths, _ = program.project.mentioning(owner.name)
    for path in paths:
        if not program.is_script(path):
            continue
        module = program.module(path)
        for use in module.uses:
            meant = program.bound(module, use.binding) if use.binding else None
            if meant is None or meant.binding is not owner:
                continue
            parent = use.node.parent()
            kind = parent.kind() if parent is not None else ""
            plain = use.node.kind() == "type_identifier" or kind in _PLAIN_USES
            if kind == "member_expression":
                plain = bool(parent.field("object") == use.node)
            if kind == "subscript_expression" and parent.field("index") is not None:
                plain = parent.field("index").kind() == "string"
            if not plain:
                why = f"{owner.name} is used as a whole, so that its names may be seen"
                group.add_obstacle_at(module, use.token.start, why)


def this_class(member: Member) -> tuple[LexicalScope | None, bool]:
    """The class that `this` is of, and whether it is the class itself."""
    node = member.base.parent()
    while node is not None:
        kind = node.kind()
        if kind in ("method_definition", "field_definition", "public_field_definition"):
            body = node.parent()
            if body is None or body.kind() != "class_body":
                return None, False
            static = any(child.kind() == "static" for child in node.children())
            return _class_of(member.scope, body.parent()), static
        if kind == "class_static_block":
            return _class_of(member.scope, node.parent().parent()), True
        if kind != "arrow_function" and "function" in kind:
            return None, False
        node = node.parent()
    return None, False


def _class_of(scope: LexicalScope, node: Any) -> LexicalScope | None:
    return next((s for s in scope.chain() if s.kind == "class" and s.node == node), None)


@dataclass(eq=False)
class _Family:
    """The classes that share a member."""

    group: SymbolGroup
    module: Module
    owner: LexicalScope
    static: bool

    def __post_init__(self) -> None:
        self.program = self.group.program
        self.homes: dict[int, Module] = {id(self.owner): self.module}

    def collect(self) -> None:
        """Find the relatives, and their places."""
        group, name = self.group, self.group.name
        if name in SPECIAL_MEMBERS:
            start = self._start(self.owner)
            group.add_obstacle_at(self.module, start, f"{name} is called by the language itself")
        line = [self.owner, *self._ancestors(self.module, self.owner, report=True)]
        touched = {id(scope) for module in group.scripts for scope in self._touching(module)}
        root = [scope for scope in line if id(scope) in touched or scope is self.owner][-1]
        kin = {id(scope): scope for scope in line[: line.index(root) + 1]}
        for module in group.scripts:
            for scope in self._classes(module):
                self.homes[id(scope)] = module
                above = [scope, *self._ancestors(module, scope, report=False)]
                if root in above:
                    kin.update((id(s), s) for s in above[: above.index(root)])
        group.family = list(kin.values())
        for scope in group.family:
            self._decorated(scope)
        taken: set[int] = set()
        for module in group.scripts:
            for member in module.members:
                if member.name == name and self._is_ours(module, member, kin):
                    token = member.token
                    group.add(module, token.as_kind(token.kind))
                    taken.add(id(member))
            self._dynamic(module, kin)
        _list_others(group, taken, self._is_other)
        self._listed()

    def _decorated(self, scope: LexicalScope) -> None:
        """A decorator sees the name of what it stands before."""
        body = scope.node.field("body") if scope.node is not None else None
        marks: list[Any] = []
        for child in named(body) if body is not None else ():
            if child.kind() == "decorator":
                marks.append(child)
                continue
            name = child.field("name") or child.field("property")
            marks += [c for c in child.children() if c.kind() == "decorator"]
            if marks and name is not None and name.text() == self.group.name:
                module = self.homes[id(scope)]
                start = marks[0].range().start.index
                self.group.add_obstacle_at(module, start, "a decorator may use its name")
            if child.kind() != "comment":
                marks = []

    def _start(self, scope: LexicalScope) -> int:
        return int(scope.node.range().start.index)

    def _touching(self, module: Module) -> list[LexicalScope]:
        found = []
        for member in module.members:
            if member.name == self.group.name:
                if member.owner is not None:
                    found.append(member.owner)
                elif member.base is not None and member.base.kind() in ("this", "super"):
                    scope, _ = this_class(member)
                    found += [scope] if scope is not None else []
        return found

    def _classes(self, module: Module) -> list[LexicalScope]:
        found: dict[int, LexicalScope] = {}
        for member in module.members:
            for scope in member.scope.chain():
                if scope.kind == "class":
                    found[id(scope)] = scope
        for binding in module.bindings:
            found.update((id(s), s) for s in binding.bodies if s.kind == "class")
        return list(found.values())

    def _ancestors(
        self, module: Module, scope: LexicalScope, *, report: bool
    ) -> list[LexicalScope]:
        found: list[LexicalScope] = []
        while scope.node is not None and len(found) < 50:
            heritage = next((c for c in named(scope.node) if c.kind() == "class_heritage"), None)
            if heritage is None:
                break
            clauses = {c.kind(): c for c in named(heritage)}
            if "implements_clause" in clauses and report:
                self._refuse(
                    module, scope, "the class implements an interface, which may ask for it"
                )
            parent = clauses.get("extends_clause")
            expression = named(heritage)[0] if "extends_clause" not in clauses else None
            if parent is not None:
                expression = parent.field("value")
            if expression is None or expression.kind() == "implements_clause":
                break
            meant = self.program.meant(module, expression, scope)
            body = meant.class_body if meant is not None else None
            if body is None or meant is None or body in found:
                harmless = expression.text() == "Error" and self.group.name not in ERROR_MEMBERS
                if report and not harmless:
                    why = f"the class extends {expression.text()[:60]}, which may define it"
                    self._refuse(module, scope, why)
                break
            module, scope = self.program.module(meant.path), body
            self.homes[id(scope)] = module
            found.append(scope)
        return found

    def _refuse(self, module: Module, scope: LexicalScope, why: str) -> None:
        self.group.add_obstacle_at(module, self._start(scope), why)

    def _is_ours(self, module: Module, member: Member, kin: dict[int, LexicalScope]) -> bool:
        if member.owner is not None:
            return id(member.owner) in kin and member.static == self.static
        if member.base is None or member.role == "pattern":
            return False
        kind = member.base.kind()
        if kind in ("this", "super"):
            scope, static = this_class(member)
            return scope is not None and id(scope) in kin and static == self.static
        if self.static:
            scope = self._class(module, member.base, member.scope)
        else:
            scope = self._instance(module, member.base, member.scope)
        return scope is not None and id(scope) in kin

    def _instance(
        self, module: Module, node: Any, scope: LexicalScope, depth: int = 0
    ) -> LexicalScope | None:
        """The class of which an expression is an instance."""
        kind = node.kind()
        if kind == "parenthesized_expression" and depth < 20:
            return self._instance(module, named(node)[0], scope, depth + 1)
        if kind == "new_expression":
            return self._class(module, node.field("constructor"), scope)
        if kind != "identifier":
            return None
        name = node.text()
        binding = next((s.names[name] for s in scope.chain() if name in s.names), None)
        if binding is None:
            return None
        if binding.annotation is not None:
            inner = named(binding.annotation)
            return self._class(module, inner[0], scope) if inner else None
        value = binding.value
        meant = self.program.bound(module, binding)
        if meant is not None and meant.binding is not None and meant.binding.value is not None:
            value, module = meant.binding.value, self.program.module(meant.path)
            scope = meant.binding.scope
            declared = value.parent()
            constant = declared is not None and declared.kind() == "variable_declarator"
            constant = constant and declared.parent().children()[0].text() == "const"
            if value.kind() == "new_expression" and constant:
                return self._class(module, value.field("constructor"), scope)
        return None

    def _class(self, module: Module, node: Any, scope: LexicalScope) -> LexicalScope | None:
        meant = self.program.meant(module, node, scope)
        return meant.class_body if meant is not None else None

    def _is_other(self, module: Module, member: Member) -> bool:
        """Whether a member of the same name surely belongs to something else."""
        if member.owner is not None or member.role == "private":
            return True
        if member.base is None:
            return member.role == "property" and member.scope.kind == "block"
        if member.role == "pattern":
            return False
        base = member.base
        if base.kind() in LITERALS or (
            base.kind() == "identifier" and base.text() in BUILTIN_OBJECTS
        ):
            return True
        if base.kind() in ("this", "super"):
            scope, _ = this_class(member)
            return scope is not None and scope not in self.group.family
        meant = self.program.meant(module, base, member.scope)
        if meant is not None and (
            meant.binding is None or meant.binding.what in ("enum", "namespace", "class")
        ):
            return True
        return self._instance(module, base, member.scope) is not None

    def _dynamic(self, module: Module, kin: dict[int, LexicalScope]) -> None:
        for base, scope, start in module.dynamic:
            around = next((s for s in scope.chain() if s.kind == "class"), None)
            of_this = base is not None and base.kind() == "this"
            if of_this and around is not None and id(around) in kin:
                self.group.add_obstacle_at(module, start, "a member is taken by a computed name")

    def _listed(self) -> None:
        """Refuse for a field, whose name is data, where names of fields are listed."""
        group, program = self.group, self.program
        ours = {id(scope) for scope in group.family}
        kinds = {
            m.role
            for module in group.scripts
            for m in module.members
            if m.name == group.name and (m.owner is None or id(m.owner) in ours)
        }
        if "method" in kinds and "field" not in kinds:
            return
        modules = {module.path: module for module in group.scripts}
        for scope in group.family:
            if scope.owner is not None:
                for path in program.project.mentioning(scope.owner.name)[0]:
                    if program.is_script(path):
                        modules[path] = program.module(path)
        for module in modules.values():
            match = FIELD_LISTING.search(module.text)
            if match is not None:
                group.add_obstacle_at(module, match.start(), "it lists the names of fields")


def _list_others(group: SymbolGroup, taken: set[int], is_other: Any = None) -> None:
    """Refuse for each member of the same name of which nobody knows whose it is."""
    for module in group.scripts:
        if module.errors:
            group.add_obstacle_at(
                module, module.errors[0], "a syntax error: the file cannot be understood"
            )
        for member in module.members:
            if member.name != group.name or id(member) in taken or member.role == "private":
                continue
            if is_other is None or not is_other(module, member):
                start = member.token.start
                if start not in group.places.get(module.path, {}):
                    group.add_possible(module, member.token)
                    group.add_obstacle_at(module, start, UNCLEAR_OWNER.format(name=group.name))
