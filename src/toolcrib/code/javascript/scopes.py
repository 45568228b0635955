"""The scopes of a JavaScript or TypeScript file: each name resolved, imports and exports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from toolcrib.code.javascript.model import Export, Imported, Member, Module
from toolcrib.code.languages import language_of, parse
from toolcrib.code.places import Kind, NameToken
from toolcrib.code.scopes import BOTH, TYPE, VALUE, Binding, LexicalScope, Occurrence
from toolcrib.core.names import name_set


def token(node: Any, kind: Kind = "reference", before: str = "", after: str = "") -> NameToken:
    """The token of a leaf."""
    span = node.range()
    start = span.start
    return NameToken(start.index, span.end.index, start.line + 1, start.column, kind, before, after)


def literal(node: Any) -> NameToken | None:
    """What stands between the quotes of a plain string."""
    if node is None or node.kind() != "string":
        return None
    text, span = node.text(), node.range()
    if "\\" in text or len(text) < 2:
        return None
    start = span.start
    return NameToken(
        start.index + 1, span.end.index - 1, start.line + 1, start.column + 1, "string"
    )


def named(node: Any) -> list[Any]:
    """The children that are not punctuation."""
    return [child for child in node.children() if child.is_named()]


def holds(node: Any, at: int) -> bool:
    """Whether a position of the text lies in a node."""
    span = node.range()
    return bool(span.start.index <= at < span.end.index)


def descendants(node: Any, *kinds: str) -> Iterator[Any]:
    """A node and all beneath it that are of some kinds, in the order of the text.

    Unlike a search by rules it allows kinds that the language of the file does not know.
    """
    left = [node]
    while left:
        one = left.pop()
        if one.kind() in kinds:
            yield one
        left += reversed(one.children())


FUNCTIONS = name_set("""
    function_declaration generator_function_declaration function_expression generator_function
    function_signature arrow_function method_definition method_signature
    abstract_method_signature call_signature construct_signature function_type constructor_type
""")
DECLARED = name_set("function_declaration generator_function_declaration function_signature")
CLASSES = frozenset(["class_declaration", "abstract_class_declaration", "class"])
VARIABLE_SCOPES = frozenset(["module", "body", "namespace"])
EXPORT_OBJECTS = ("module.exports", "exports")
_NAME_KINDS = ("identifier", "shorthand_property_identifier")


def read(path: str, text: str) -> Module:
    """All that is known of a file.

    Raises:
        MissingExtra: ast-grep is not installed.
    """
    top = LexicalScope("module", None)
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    module = Module(path, text, top, lines=starts)
    root = module.root = parse(text, language_of(path))
    walk = _ScopeBuilder(module)
    walk.run(root)
    walk.finish()
    for use in module.uses:
        use.binding = use.scope.resolve(use.name, use.space)
    if not module.errors and root.find(kind="ERROR") is not None:
        module.errors.append(0)
    return module


def is_valid(path: str, text: str) -> bool:
    """Whether a text has no syntax error."""
    return not read(path, text).errors


class _ScopeBuilder:
    """Collects what a file binds, uses, imports and exports; names are resolved afterwards."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._left: list[tuple[Any, LexicalScope]] = []
        self._offers: list[tuple[LexicalScope, Any]] = []

    def run(self, root: Any) -> None:
        """Walk over the whole tree."""
        self._left = [(root, self.module.top)]
        while self._left:
            node, scope = self._left.pop()
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

    # Names

    def all(self, nodes: Any, scope: LexicalScope) -> None:
        """Walk over some nodes later."""
        self._left.extend((node, scope) for node in nodes if node is not None)

    def declare(
        self, scope: LexicalScope, node: Any, what: str, space: int = VALUE, before: str = ""
    ) -> Binding:
        """Bind the name of a leaf."""
        name, made = node.text(), token(node, "definition", before)
        known = name in scope.names
        binding = scope.bind(name, what, space)
        if not known:
            self.module.bindings.append(binding)
        declared = Occurrence(name, made, what, scope, node, space=space, binding=binding)
        binding.declarations.append(declared)
        scope.occurrences.append(declared)
        return binding

    def use(self, node: Any, scope: LexicalScope, space: int = VALUE, before: str = "") -> None:
        """Note a name that is used."""
        made = token(node, "reference", before)
        if "\\" in node.text():  # an escape in a name
            self.module.errors.append(made.start)
        found = Occurrence(node.text(), made, "load", scope, node, space=space)
        self.module.uses.append(found)
        scope.occurrences.append(found)

    def member(
        self, node: Any, base: Any, scope: LexicalScope, role: str = "use", **more: Any
    ) -> None:
        """Note a name behind a dot."""
        kind: Kind = "definition" if role in ("method", "field") else "reference"
        found = more.pop("token", None) or token(node, kind)
        name = self.module.written(found)
        self.module.members.append(Member(name, found, base, scope, role, **more))

    def _identifier(self, node: Any, scope: LexicalScope) -> None:
        self.use(node, scope)

    def _type_identifier(self, node: Any, scope: LexicalScope) -> None:
        self.use(node, scope, TYPE)

    def _shorthand_property_identifier(self, node: Any, scope: LexicalScope) -> None:
        self.use(node, scope, VALUE, f"{node.text()}: ")

    def _shorthand_property_identifier_pattern(self, node: Any, scope: LexicalScope) -> None:
        self.use(node, scope, VALUE, f"{node.text()}: ")
        self.member(node, None, scope, "pattern")

    def _pair_pattern(self, node: Any, scope: LexicalScope) -> None:
        key = node.field("key")
        if key.kind() == "property_identifier":
            self.member(key, None, scope, "pattern")
        else:
            self.all([key], scope)
        self.all([node.field("value")], scope)

    def _private_property_identifier(self, node: Any, scope: LexicalScope) -> None:
        self.member(node, None, scope, "private")

    def _member_expression(self, node: Any, scope: LexicalScope) -> None:
        base, name = node.field("object"), node.field("property")
        if name is not None and name.kind() == "property_identifier":
            self.member(name, base, scope)
        elif name is not None:
            self.all([name], scope)
        self.all([base], scope)

    def _subscript_expression(self, node: Any, scope: LexicalScope) -> None:
        base, index = node.field("object"), node.field("index")
        text = literal(index)
        if text is not None:
            self.member(index, base, scope, token=text)
        elif index is not None and index.kind() != "number":
            self.module.dynamic.append((base, scope, node.range().start.index))
        self.all([base, index], scope)

    def _lookup_type(self, node: Any, scope: LexicalScope) -> None:
        children = named(node)
        inner = named(children[-1]) if children else []
        text = literal(inner[0]) if inner and children[-1].kind() == "literal_type" else None
        if text is not None:
            self.member(inner[0], None, scope, token=text)
        self.all(children, scope)

    def _nested_identifier(self, node: Any, scope: LexicalScope) -> None:
        self._dotted(node, scope, VALUE)

    def _nested_type_identifier(self, node: Any, scope: LexicalScope) -> None:
        self._dotted(node, scope, BOTH)

    def _dotted(self, node: Any, scope: LexicalScope, space: int) -> None:
        *bases, last = named(node)
        self.member(last, bases[0], scope)
        if bases[0].kind() == "identifier":
            self.use(bases[0], scope, BOTH if space == BOTH else VALUE)
        else:
            self.all(bases, scope)

    def _jsx_opening_element(self, node: Any, scope: LexicalScope) -> None:
        name = node.field("name")
        plain = name is not None and name.kind() == "identifier"
        for child in named(node):
            if not (plain and child == name and not name.text()[:1].isupper()):
                self.all([child], scope)

    _jsx_closing_element = _jsx_self_closing_element = _jsx_opening_element

    # Regions

    def _statement_block(self, node: Any, scope: LexicalScope) -> None:
        self.all(node.children(), LexicalScope("block", scope))

    _switch_body = _statement_block
    _for_statement = _statement_block

    def _class_static_block(self, node: Any, scope: LexicalScope) -> None:
        for child in named(node):
            self.all(child.children(), LexicalScope("body", scope))

    def _with_statement(self, node: Any, scope: LexicalScope) -> None:
        self.all([node.field("object")], scope)
        self.all([node.field("body")], LexicalScope("block", scope, dynamic="with"))

    def _call_expression(self, node: Any, scope: LexicalScope) -> None:
        called = node.field("function")
        arguments = node.field("arguments")
        first = next(iter(named(arguments)), None) if arguments is not None else None
        text = called.text() if called is not None else ""
        path = literal(first)
        if text == "eval":
            self.module.evals.append(scope)
        elif path is not None:
            specifier = self.module.written(path)
            if text in ("require", "import"):
                self.module.calls.append((node, scope, specifier))
            elif text != "require.resolve" and "/" in specifier:
                self.module.mentions.append((specifier, path.start))
        self.all(node.children(), scope)

    def _for_in_statement(self, node: Any, scope: LexicalScope) -> None:
        inner = LexicalScope("block", scope)
        kind, left = node.field("kind"), node.field("left")
        if kind is None:
            self.all([left], inner)
        else:
            self.pattern(
                left, _variables(inner) if kind.text() == "var" else inner, inner, "variable"
            )
        self.all([node.field("right"), node.field("body")], inner)

    def _catch_clause(self, node: Any, scope: LexicalScope) -> None:
        inner = LexicalScope("catch", scope)
        parameter = node.field("parameter")
        if parameter is not None:
            self.pattern(parameter, inner, inner, "variable")
        self.all([node.field("type"), node.field("body")], inner)

    def _labeled_statement(self, node: Any, scope: LexicalScope) -> None:
        label = node.field("label")
        self.module.labels.append((label.text(), token(label, "definition"), scope, node))
        self.all([node.field("body")], scope)

    def _statement_identifier(self, node: Any, scope: LexicalScope) -> None:
        self.module.labels.append((node.text(), token(node), scope, node))

    # Functions

    def _callable(self, node: Any, scope: LexicalScope) -> None:
        kind, name = node.kind(), node.field("name")
        inner = LexicalScope("function", scope)
        if kind in DECLARED and name is not None:
            where = _merged(scope, name.text())
            binding = self.declare(where, name, "function")
            binding.value = node
            binding.sloppy = scope.kind == "block"
        elif kind in ("function_expression", "generator_function") and name is not None:
            inner = LexicalScope("function", LexicalScope("block", scope))
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
            statements = body.children() if body.kind() == "statement_block" else [body]
            self.all(statements, LexicalScope("body", inner))

    def _method(self, node: Any, name: Any, scope: LexicalScope) -> None:
        static = any(child.kind() == "static" for child in node.children())
        role = "method" if scope.kind == "class" else "property"
        self._named_member(name, scope, role, static=static)

    def _named_member(
        self, name: Any, scope: LexicalScope, role: str, *, static: bool = False
    ) -> None:
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

    def _required_parameter(self, node: Any, scope: LexicalScope) -> None:
        self.pattern(node, scope, scope, "parameter")

    _optional_parameter = _required_parameter

    # Classes and types

    def _a_class(self, node: Any, scope: LexicalScope) -> None:
        name = node.field("name")
        inner = LexicalScope("class", scope)
        if node.kind() == "class":
            inner = LexicalScope("class", LexicalScope("block", scope))
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

    def _field_definition(self, node: Any, scope: LexicalScope) -> None:
        name = node.field("name") or node.field("property")
        static = any(child.kind() == "static" for child in node.children())
        if name is not None:
            self._named_member(name, scope, "field", static=static)
        for child in node.children():
            if child != name:
                self.all([child], scope)

    _public_field_definition = _field_definition

    def _property_signature(self, node: Any, scope: LexicalScope) -> None:
        name = node.field("name")
        if name is not None:
            self._named_member(name, scope, "property")
        self.all([child for child in named(node) if child != name], scope)

    def _pair(self, node: Any, scope: LexicalScope) -> None:
        key = node.field("key")
        if key is not None:
            self._named_member(key, LexicalScope("block", scope), "property")
        self.all([node.field("value")], scope)

    def _interface_declaration(self, node: Any, scope: LexicalScope) -> None:
        name, inner = node.field("name"), LexicalScope("types", scope)
        self.declare(scope, name, node.kind().partition("_")[0], TYPE)
        self.all([child for child in named(node) if child != name], inner)

    _type_alias_declaration = _interface_declaration

    def _type_parameter(self, node: Any, scope: LexicalScope) -> None:
        name = node.field("name")
        self.declare(scope, name, "type parameter", TYPE)
        self.all([child for child in named(node) if child != name], scope)

    def _conditional_type(self, node: Any, scope: LexicalScope) -> None:
        self.all(node.children(), LexicalScope("conditional", scope))

    def _infer_type(self, node: Any, scope: LexicalScope) -> None:
        first, *others = named(node)
        where = next((s for s in scope.chain() if s.kind == "conditional"), scope)
        self.declare(where, first, "type parameter", TYPE)
        self.all(others, scope)

    def _index_signature(self, node: Any, scope: LexicalScope) -> None:
        name, inner = node.field("name"), LexicalScope("types", scope)
        for child in named(node):
            if child.kind() == "mapped_type_clause":
                key = child.field("name")
                self.declare(inner, key, "type parameter", TYPE)
                self.all([part for part in named(child) if part != key], inner)
            elif child != name:
                self.all([child], inner)

    def _enum_declaration(self, node: Any, scope: LexicalScope) -> None:
        binding = self.declare(scope, node.field("name"), "enum", BOTH)
        inner = LexicalScope("enum", scope, owner=binding)
        binding.bodies.append(inner)
        body = node.field("body")
        for child in named(body) if body is not None else ():
            name = child.field("name") if child.kind() == "enum_assignment" else child
            if name is not None and name.kind() == "property_identifier":
                self.declare(inner, name, "enum member", BOTH).exposed = True
            if child.kind() == "enum_assignment":
                self.all([child.field("value")], inner)

    def _internal_module(self, node: Any, scope: LexicalScope) -> None:
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
            scope = LexicalScope("namespace", scope, owner=binding)
            binding.bodies.append(scope)
        body = node.field("body")
        if body is not None:
            inner = scope if parts else LexicalScope("namespace", scope, dynamic="declare module")
            self.all(body.children(), inner)

    _module = _internal_module

    def _ambient_declaration(self, node: Any, scope: LexicalScope) -> None:
        for child in node.children():
            if child.kind() == "statement_block":  # declare global
                self.all(
                    child.children(), LexicalScope("namespace", scope, dynamic="declare global")
                )
            else:
                self.all([child], scope)

    # Variables

    def _variable_declaration(self, node: Any, scope: LexicalScope) -> None:
        self._variables(node, _variables(scope), scope)

    def _lexical_declaration(self, node: Any, scope: LexicalScope) -> None:
        self._variables(node, scope, scope)

    def _variables(self, node: Any, where: LexicalScope, scope: LexicalScope) -> None:
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

    def pattern(
        self, node: Any, where: LexicalScope, scope: LexicalScope, what: str, base: Any = None
    ) -> None:
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

    def _parameter(self, node: Any, where: LexicalScope, scope: LexicalScope) -> None:
        inside = node.field("pattern") or node.field("name")
        modified = any(c.kind() in ("accessibility_modifier", "readonly") for c in node.children())
        if inside is not None and inside.kind() != "this":
            what = "parameter property" if modified else "parameter"
            self.pattern(inside, where, scope, what)
            bound = where.names.get(inside.text())
            if bound is not None:
                bound.annotation = node.field("type")
        self.all([c for c in node.children() if c != inside], scope)

    # Imports and exports

    def _import_statement(self, node: Any, scope: LexicalScope) -> None:
        self.module.esm = True
        module = self._string_value(node.field("source"))
        for child in named(node):
            if child.kind() == "import_clause":
                self._clause(child, scope, module)
            elif child.kind() == "import_require_clause":
                name, path = named(child)
                binding = self.declare(scope, name, "import", BOTH)
                binding.source = (self._string_value(path), "*")

    def _string_value(self, node: Any) -> str:
        found = literal(node)
        return self.module.written(found) if found else ""

    def _clause(self, clause: Any, scope: LexicalScope, module: str) -> None:
        for child in named(clause):
            if child.kind() == "identifier":
                self.declare(scope, child, "import", BOTH).source = (module, "default")
            elif child.kind() == "namespace_import":
                self.declare(scope, named(child)[0], "import", BOTH).source = (module, "*")
            else:
                for one in named(child):
                    if one.kind() == "import_specifier":
                        self._specifier(one, scope, module)

    def _specifier(self, node: Any, scope: LexicalScope, module: str) -> None:
        name, alias = node.field("name"), node.field("alias")
        there = self._name(name)
        if alias is None:
            binding = self.declare(scope, name, "import", BOTH, before=f"{there} as ")
        else:
            binding = self.declare(scope, alias, "import", BOTH)
            self._imported(name, module)
        binding.source = (module, there)

    def _imported(self, name: Any, module: str) -> None:
        """A name of another module that stands apart from the binding that it gets."""
        made = literal(name) or token(name, "import")
        self.module.imported.append(Imported(module, self._name(name), made))

    def _name(self, node: Any) -> str:
        return self._string_value(node) if node.kind() == "string" else str(node.text())

    def _import_alias(self, node: Any, scope: LexicalScope) -> None:
        name, *others = named(node)
        self.declare(scope, name, "import", BOTH)
        self.all(others, scope)

    def _export_statement(self, node: Any, scope: LexicalScope) -> None:
        if scope.kind == "module":
            self.module.esm = True
        source = node.field("source")
        if source is not None:
            self._passed_on(node, self._string_value(source))
            return
        words = {child.text() for child in node.children() if not child.is_named()}
        declared = node.field("declaration")
        value = node.field("value")
        if declared is not None:
            if "default" not in words:
                self._offers += [(scope, name) for name in self._names(declared)]
            self.all(named(node), scope)
            return
        if value is not None and "default" not in words and "=" in words:
            self.module.whole = value
        for child in named(node):
            if child.kind() == "export_clause":
                self._clause_out(child, scope)
            else:
                self.all([child], scope)

    def _names(self, declared: Any) -> list[Any]:
        """The nodes that hold the names of a declaration."""
        kind = declared.kind()
        if kind == "ambient_declaration":
            return [name for child in named(declared) for name in self._names(child)]
        if kind in ("lexical_declaration", "variable_declaration"):
            parts = [c for c in named(declared) if c.kind() == "variable_declarator"]
            return [part.field("name") for part in parts]
        name = declared.field("name")
        if name is not None and name.kind() == "nested_identifier":
            while name.kind() == "nested_identifier":
                name = named(name)[0]
        return [] if name is None else [name]

    def finish(self) -> None:
        """Mark what is exported, when all is bound."""
        for scope, name in self._offers:
            span = name.range()
            for binding in scope.names.values():
                if any(span.start.index <= t.start < span.end.index for t in binding.tokens):
                    self._offer(scope, binding.name, binding)

    def _offer(self, scope: LexicalScope, name: str, binding: Binding) -> None:
        binding.exposed = True
        if scope.kind == "module":
            self._export(name).binding = binding

    def _export(self, name: str) -> Export:
        return self.module.exports.setdefault(name, Export(name))

    def _clause_out(self, clause: Any, scope: LexicalScope) -> None:
        for one in named(clause):
            if one.kind() != "export_specifier":
                continue
            name, alias = one.field("name"), one.field("alias")
            if name is None:
                continue
            self.use(name, scope, BOTH)
            use = self.module.uses[-1]
            there = self._name(alias) if alias is not None else name.text()
            export = self._export(there)
            export.source = ("", name.text())
            if alias is not None:
                export.tokens.append(literal(alias) or token(alias, "export"))
            else:
                use.token = token(name, "export", "", f" as {name.text()}")

    def _passed_on(self, node: Any, module: str) -> None:
        clauses = [c for c in named(node) if c.kind() in ("export_clause", "namespace_export")]
        if not clauses:
            self.module.stars.append(module)
            return
        for child in named(clauses[0]):
            if clauses[0].kind() == "namespace_export":
                self._pass(child, "*", module)
                continue
            # `export { default } from` has no name node in the grammar.
            name, alias = child.field("name"), child.field("alias")
            there = self._name(name) if name is not None else "default"
            if alias is None:
                self._pass(name, there, module)
            else:
                if name is not None:
                    self._imported(name, module)
                self._pass(alias, there, module)

    def _pass(self, node: Any, there: str, module: str) -> None:
        """A name of another module that is exported, as a node says, or as it is there."""
        name = self._name(node) if node is not None else there
        export = self._export(name)
        export.source = (module, there)
        if node is not None:
            export.tokens.append(literal(node) or token(node, "export"))

    # CommonJS

    def _assignment_expression(self, node: Any, scope: LexicalScope) -> None:
        left, right = node.field("left"), node.field("right")
        target = left.text() if left.kind() in ("member_expression", "identifier") else ""
        free = scope.resolve(target.partition(".")[0], BOTH) is None
        if target == "module.exports" and free:
            self._whole(right, scope)
            return
        owner, _, name = target.rpartition(".")
        if owner in EXPORT_OBJECTS and free and name and left.kind() == "member_expression":
            self.module.common = True
            self._assigned(left.field("property"), right)
            self.all([left.field("object"), right], scope)
            return
        self.all([left, right], scope)

    def _assigned(self, name: Any, value: Any) -> None:
        """`exports.name = value`."""
        export = self._export(name.text())
        export.tokens.append(token(name, "export"))
        if value is not None and value.kind() in _NAME_KINDS and value.text() == name.text():
            export.source = ("", name.text())

    def _whole(self, right: Any, scope: LexicalScope) -> None:
        """`module.exports = ...`."""
        self.module.common = True
        if right.kind() != "object":
            self.module.whole = right
            self.all([right], scope)
            return
        for child in named(right):
            kind = child.kind()
            key = child.field("key") if kind == "pair" else child.field("name")
            if kind == "shorthand_property_identifier":
                self._assigned(child, child)
                self.use(child, scope, before=f"{child.text()}: ")
            elif key is not None and key.kind() == "property_identifier":
                value = child.field("value")
                self._assigned(key, value)
                self.all([value] if kind == "pair" else [child], scope)
            else:
                self.all([child], scope)


def _variables(scope: LexicalScope) -> LexicalScope:
    return next(s for s in scope.chain() if s.kind in VARIABLE_SCOPES or s.parent is None)


def _merged(scope: LexicalScope, name: str) -> LexicalScope:
    """Where a name is bound: a `var` that repeats a parameter is that parameter."""
    outer = scope.parent
    if scope.kind == "body" and outer is not None and outer.kind == "function":
        return outer if name in outer.names else scope
    return scope
