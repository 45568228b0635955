"""The scopes of a JavaScript or TypeScript file, found in one walk over its syntax tree."""

from __future__ import annotations

from typing import Any

from toolcrib.code.javascript.model import BOTH, TYPE, Scope
from toolcrib.code.javascript.names import Names, literal, named, token

FUNCTIONS = frozenset(
    [
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "function_signature",
        "arrow_function",
        "method_definition",
        "method_signature",
        "abstract_method_signature",
        "call_signature",
        "construct_signature",
        "function_type",
        "constructor_type",
    ]
)
DECLARED = frozenset(
    ["function_declaration", "generator_function_declaration", "function_signature"]
)
CLASSES = frozenset(["class_declaration", "abstract_class_declaration", "class"])
VARIABLE_SCOPES = frozenset(["module", "body", "namespace"])


class Walk(Names):
    """Collects what a file binds and uses, into `module`; nothing is resolved yet."""

    def run(self, root: Any) -> None:
        """Walk over the whole tree."""
        self.left = [(root, self.module.top)]
        while self.left:
            node, scope = self.left.pop()
            kind = node.kind()
            if kind == "ERROR":
                self.module.errors.append(node.range().start.index)
            handler = getattr(self, f"_{kind}", None)
            if kind in FUNCTIONS:
                self._callable(node, scope)
            elif kind in CLASSES:
                self._a_class(node, scope)
            elif handler is not None:
                handler(node, scope)
            else:
                self.all(node.children(), scope)

    # Regions

    def _statement_block(self, node: Any, scope: Scope) -> None:
        self.all(node.children(), Scope("block", scope))

    _switch_body = _statement_block
    _for_statement = _statement_block

    def _class_static_block(self, node: Any, scope: Scope) -> None:
        for child in named(node):
            self.all(child.children(), Scope("body", scope))

    def _with_statement(self, node: Any, scope: Scope) -> None:
        self.all([node.field("object")], scope)
        self.all([node.field("body")], Scope("block", scope, dynamic="with"))

    def _call_expression(self, node: Any, scope: Scope) -> None:
        called = node.field("function")
        arguments = node.field("arguments")
        first = next(iter(named(arguments)), None) if arguments is not None else None
        text = called.text() if called is not None else ""
        path = literal(first)
        if text == "eval":
            self.module.evals.append(scope)
        elif path is not None and text in ("require", "import"):
            said = self.module.text[path.start : path.end]
            self.module.calls.append((node, scope, said))
        elif path is not None and text != "require.resolve":
            said = self.module.text[path.start : path.end]
            if "/" in said:
                self.module.mentions.append((said, path.start))
        self.all(node.children(), scope)

    def _for_in_statement(self, node: Any, scope: Scope) -> None:
        inner = Scope("block", scope)
        kind, left = node.field("kind"), node.field("left")
        if kind is None:
            self.all([left], inner)
        else:
            self.pattern(
                left, _variables(inner) if kind.text() == "var" else inner, inner, "variable"
            )
        self.all([node.field("right"), node.field("body")], inner)

    def _catch_clause(self, node: Any, scope: Scope) -> None:
        inner = Scope("catch", scope)
        parameter = node.field("parameter")
        if parameter is not None:
            self.pattern(parameter, inner, inner, "variable")
        self.all([node.field("type"), node.field("body")], inner)

    def _labeled_statement(self, node: Any, scope: Scope) -> None:
        label = node.field("label")
        self.module.labels.append((label.text(), token(label, "definition"), scope, node))
        self.all([node.field("body")], scope)

    def _statement_identifier(self, node: Any, scope: Scope) -> None:
        self.module.labels.append((node.text(), token(node), scope, node))

    # Functions

    def _callable(self, node: Any, scope: Scope) -> None:
        kind, name = node.kind(), node.field("name")
        inner = Scope("function", scope)
        if kind in DECLARED and name is not None:
            where = _merged(scope, name.text())
            binding = self.declare(where, name, "function")
            binding.value = node
            binding.sloppy = scope.kind == "block"
        elif kind in ("function_expression", "generator_function") and name is not None:
            inner = Scope("function", Scope("block", scope))
            assert inner.parent is not None
            self.declare(inner.parent, name, "function").value = node
        elif name is not None:
            self._method(node, name, scope)
        self.all([child for child in node.children() if child.kind() == "decorator"], scope)
        self.all(
            [node.field("type_parameters"), node.field("return_type"), node.field("type")], inner
        )
        single = node.field("parameter")
        if single is not None:
            self.pattern(single, inner, inner, "parameter")
        parameters = node.field("parameters")
        for child in named(parameters) if parameters is not None else ():
            self.pattern(child, inner, inner, "parameter")
        body = node.field("body")
        if body is not None:
            held = body.children() if body.kind() == "statement_block" else [body]
            self.all(held, Scope("body", inner))

    def _method(self, node: Any, name: Any, scope: Scope) -> None:
        static = any(child.kind() == "static" for child in node.children())
        role = "method" if scope.kind == "class" else "property"
        self._named_member(name, scope, role, static=static)

    def _named_member(self, name: Any, scope: Scope, role: str, *, static: bool = False) -> None:
        owner = scope if scope.kind == "class" else None
        kind = name.kind()
        if kind == "private_property_identifier":
            scope.private.setdefault(name.text(), []).append(token(name, "definition"))
        elif kind == "property_identifier":
            self.member(name, None, scope, role, owner=owner, static=static)
        elif (text := literal(name)) is not None:
            self.member(name, None, scope, role, owner=owner, static=static, token=text)
        else:
            self.all([name], scope)

    def _required_parameter(self, node: Any, scope: Scope) -> None:
        self.pattern(node, scope, scope, "parameter")

    _optional_parameter = _required_parameter

    # Classes and types

    def _a_class(self, node: Any, scope: Scope) -> None:
        name = node.field("name")
        inner = Scope("class", scope)
        if node.kind() == "class":
            inner = Scope("class", Scope("block", scope))
        inner.node = node
        if name is not None:
            where = inner.parent if node.kind() == "class" else scope
            assert where is not None
            inner.owner = self.declare(where, name, "class", BOTH)
            inner.owner.value = node
            inner.owner.bodies.append(inner)
        for child in node.children():
            if child != name:
                self.all([child], scope if child.kind() == "decorator" else inner)

    def _field_definition(self, node: Any, scope: Scope) -> None:
        name = node.field("name") or node.field("property")
        static = any(child.kind() == "static" for child in node.children())
        if name is not None:
            self._named_member(name, scope, "field", static=static)
        for child in node.children():
            if child != name:
                self.all([child], scope)

    _public_field_definition = _field_definition

    def _property_signature(self, node: Any, scope: Scope) -> None:
        name = node.field("name")
        if name is not None:
            self._named_member(name, scope, "property")
        self.all([child for child in named(node) if child != name], scope)

    def _pair(self, node: Any, scope: Scope) -> None:
        key = node.field("key")
        if key is not None:
            self._named_member(key, Scope("block", scope), "property")
        self.all([node.field("value")], scope)

    def _interface_declaration(self, node: Any, scope: Scope) -> None:
        name, inner = node.field("name"), Scope("types", scope)
        self.declare(scope, name, "interface", TYPE)
        self.all([child for child in named(node) if child != name], inner)

    def _type_alias_declaration(self, node: Any, scope: Scope) -> None:
        name, inner = node.field("name"), Scope("types", scope)
        self.declare(scope, name, "type", TYPE)
        self.all([child for child in named(node) if child != name], inner)

    def _type_parameter(self, node: Any, scope: Scope) -> None:
        name = node.field("name")
        self.declare(scope, name, "type parameter", TYPE)
        self.all([child for child in named(node) if child != name], scope)

    def _conditional_type(self, node: Any, scope: Scope) -> None:
        self.all(node.children(), Scope("conditional", scope))

    def _infer_type(self, node: Any, scope: Scope) -> None:
        first, *others = named(node)
        where = next((s for s in scope.chain() if s.kind == "conditional"), scope)
        self.declare(where, first, "type parameter", TYPE)
        self.all(others, scope)

    def _index_signature(self, node: Any, scope: Scope) -> None:
        name, inner = node.field("name"), Scope("types", scope)
        for child in named(node):
            if child.kind() == "mapped_type_clause":
                key = child.field("name")
                self.declare(inner, key, "type parameter", TYPE)
                self.all([part for part in named(child) if part != key], inner)
            elif child != name:
                self.all([child], inner)

    def _enum_declaration(self, node: Any, scope: Scope) -> None:
        binding = self.declare(scope, node.field("name"), "enum", BOTH)
        inner = Scope("enum", scope, owner=binding)
        binding.bodies.append(inner)
        body = node.field("body")
        for child in named(body) if body is not None else ():
            name = child.field("name") if child.kind() == "enum_assignment" else child
            if name is not None and name.kind() == "property_identifier":
                self.declare(inner, name, "enum member", BOTH).exposed = True
            if child.kind() == "enum_assignment":
                self.all([child.field("value")], inner)

    def _internal_module(self, node: Any, scope: Scope) -> None:
        name = node.field("name")
        parts: list[Any] = []
        while name is not None and name.kind() == "nested_identifier":
            *others, last = named(name)
            parts.insert(0, last)
            name = others[0]
        if name is not None and name.kind() == "identifier":
            parts.insert(0, name)
        for part in parts:
            binding = self.declare(scope, part, "namespace", BOTH)
            binding.exposed = scope.kind == "namespace"
            scope = Scope("namespace", scope, owner=binding)
            binding.bodies.append(scope)
        body = node.field("body")
        if body is not None:
            inner = scope if parts else Scope("namespace", scope, dynamic="declare module")
            self.all(body.children(), inner)

    _module = _internal_module

    def _ambient_declaration(self, node: Any, scope: Scope) -> None:
        for child in node.children():
            if child.kind() == "statement_block":  # declare global
                self.all(child.children(), Scope("namespace", scope, dynamic="declare global"))
            else:
                self.all([child], scope)

    # Variables

    def _variable_declaration(self, node: Any, scope: Scope) -> None:
        self._variables(node, _variables(scope), scope)

    def _lexical_declaration(self, node: Any, scope: Scope) -> None:
        self._variables(node, scope, scope)

    def _variables(self, node: Any, where: Scope, scope: Scope) -> None:
        constant = node.children()[0].text() == "const"
        for child in named(node):
            if child.kind() != "variable_declarator":
                self.all([child], scope)
                continue
            name, value = child.field("name"), child.field("value")
            if name.kind() == "identifier":
                where_ = _merged(where, name.text()) if where is not scope else where
                binding = self.declare(where_, name, "variable")
                binding.through.append(scope)
                binding.value = value if constant or binding.value is None else None
                binding.annotation = child.field("type")
            else:
                self.pattern(name, where, scope, "variable", value)
            self.all([child.field("type"), value], scope)

    def pattern(self, node: Any, where: Scope, scope: Scope, what: str, base: Any = None) -> None:
        """Bind the names of a pattern. What it computes is walked over in `scope`."""
        kind = node.kind()
        if kind == "identifier":
            self.declare(_merged(where, node.text()), node, what).through.append(scope)
        elif kind == "shorthand_property_identifier_pattern":
            name = node.text()
            bound = self.declare(_merged(where, name), node, what, before=f"{name}: ")
            bound.through.append(scope)
            self.member(node, base, scope, "pattern")
        elif kind == "pair_pattern":
            key = node.field("key")
            if key.kind() == "property_identifier":
                self.member(key, base, scope, "pattern")
            else:
                self.all([key], scope)
            self.pattern(node.field("value"), where, scope, what)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            self.pattern(node.field("left"), where, scope, what, base)
            self.all([node.field("right")], scope)
        elif kind in ("required_parameter", "optional_parameter"):
            self._parameter(node, where, scope)
        elif kind in ("object_pattern", "array_pattern", "rest_pattern"):
            for child in named(node):
                self.pattern(child, where, scope, what, base if kind == "object_pattern" else None)
        else:
            self.all([node], scope)

    def _parameter(self, node: Any, where: Scope, scope: Scope) -> None:
        inside = node.field("pattern") or node.field("name")
        modified = any(c.kind() in ("accessibility_modifier", "readonly") for c in node.children())
        if inside is not None and inside.kind() != "this":
            what = "parameter property" if modified else "parameter"
            self.pattern(inside, where, scope, what)
            bound = where.names.get(inside.text())
            if bound is not None:
                bound.annotation = node.field("type")
        self.all([c for c in node.children() if c != inside], scope)


def _variables(scope: Scope) -> Scope:
    return next(s for s in scope.chain() if s.kind in VARIABLE_SCOPES or s.parent is None)


def _merged(scope: Scope, name: str) -> Scope:
    """Where a name is bound: a `var` that repeats a parameter is that parameter."""
    outer = scope.parent
    if (
        scope.kind == "body"
        and outer is not None
        and outer.kind == "function"
        and name in outer.names
    ):
        return outer
    return scope
