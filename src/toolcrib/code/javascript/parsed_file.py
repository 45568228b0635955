"""A JavaScript or TypeScript file read: scopes, imports and exports, each name resolved."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from toolcrib.code.javascript.model import (
    BOTH,
    Binding,
    Export,
    Imported,
    Module,
    Scope,
    Token,
)
from toolcrib.code.javascript.names import literal, named, token
from toolcrib.code.javascript.scopes import Walk
from toolcrib.code.languages import language_of
from toolcrib.code.parser import parse

WHOLE = ("module.exports", "exports")


def read(path: str, text: str) -> Module:
    """All that is known of a file.

    Raises:
        MissingExtra: ast-grep is not installed.
    """
    top = Scope("module", None)
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    module = Module(path, text, top, lines=starts)
    root = module.root = parse(text, language_of(path))
    walk = _FileWalk(module)
    walk.run(root)
    walk.finish()
    for use in module.uses:
        use.binding = resolve(use.scope, use.name, use.space)
    if not module.errors and root.find(kind="ERROR") is not None:
        module.errors.append(0)
    return module


def resolve(scope: Scope, name: str, space: int) -> Binding | None:
    """What a name stands for in a scope; None for what the file does not bind."""
    for around in scope.chain():
        binding = around.names.get(name)
        if binding is not None and binding.space & space:
            return binding
    return None


class _FileWalk(Walk):
    """Adds what crosses the border of the file."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self._offers: list[tuple[Scope, Any]] = []

    def _import_statement(self, node: Any, scope: Scope) -> None:
        self.module.esm = True
        module = self._said(node.field("source"))
        for child in named(node):
            if child.kind() == "import_clause":
                self._clause(child, scope, module)
            elif child.kind() == "import_require_clause":
                name, path = named(child)
                binding = self.declare(scope, name, "import", BOTH)
                binding.source = (self._said(path), "*")

    def _said(self, node: Any) -> str:
        found = literal(node)
        return self.module.text[found.start : found.end] if found else ""

    def _clause(self, clause: Any, scope: Scope, module: str) -> None:
        for child in named(clause):
            if child.kind() == "identifier":
                self.declare(scope, child, "import", BOTH).source = (module, "default")
            elif child.kind() == "namespace_import":
                self.declare(scope, named(child)[0], "import", BOTH).source = (module, "*")
            else:
                for one in named(child):
                    if one.kind() == "import_specifier":
                        self._specifier(one, scope, module)

    def _specifier(self, node: Any, scope: Scope, module: str) -> None:
        name, alias = node.field("name"), node.field("alias")
        there = self._name(name)
        if alias is None:
            binding = self.declare(scope, name, "import", BOTH, before=f"{there} as ")
        else:
            binding = self.declare(scope, alias, "import", BOTH)
            made = literal(name) or token(name, "import")
            self.module.imported.append(Imported(module, there, made))
        binding.source = (module, there)

    def _name(self, node: Any) -> str:
        return self._said(node) if node.kind() == "string" else str(node.text())

    def _import_alias(self, node: Any, scope: Scope) -> None:
        name, *others = named(node)
        self.declare(scope, name, "import", BOTH)
        self.all(others, scope)

    def _export_statement(self, node: Any, scope: Scope) -> None:
        if scope.kind == "module":
            self.module.esm = True
        source = node.field("source")
        if source is not None:
            self._passed_on(node, self._said(source))
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

    def _offer(self, scope: Scope, name: str, binding: Binding) -> None:
        binding.exposed = True
        if scope.kind == "module":
            self.module.exports.setdefault(name, Export(name)).binding = binding

    def _clause_out(self, clause: Any, scope: Scope) -> None:
        for one in named(clause):
            if one.kind() != "export_specifier":
                continue
            name, alias = one.field("name"), one.field("alias")
            if name is None:
                continue
            self.use(name, scope, BOTH)
            use = self.module.uses[-1]
            there = self._name(alias) if alias is not None else name.text()
            export = self.module.exports.setdefault(there, Export(there))
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
                self._pass(
                    self._name(child), "*", module, [literal(child) or token(child, "export")]
                )
                continue
            # `export { default } from` has no name node in the grammar.
            name, alias = child.field("name"), child.field("alias")
            there = self._name(name) if name is not None else "default"
            if alias is None:
                tokens = [] if name is None else [literal(name) or token(name, "export")]
                self._pass(there, there, module, tokens)
            else:
                if name is not None:
                    made = literal(name) or token(name, "import")
                    self.module.imported.append(Imported(module, there, made))
                self._pass(
                    self._name(alias), there, module, [literal(alias) or token(alias, "export")]
                )

    def _pass(self, name: str, there: str, module: str, tokens: list[Token]) -> None:
        export = self.module.exports.setdefault(name, Export(name))
        export.source = (module, there)
        export.tokens += tokens

    # CommonJS

    def _assignment_expression(self, node: Any, scope: Scope) -> None:
        left, right = node.field("left"), node.field("right")
        target = left.text() if left.kind() in ("member_expression", "identifier") else ""
        free = resolve(scope, target.partition(".")[0], BOTH) is None
        if target == "module.exports" and free:
            self._whole(right, scope)
            return
        owner, _, name = target.rpartition(".")
        if owner in WHOLE and free and name and left.kind() == "member_expression":
            self.module.common = True
            export = self.module.exports.setdefault(name, Export(name))
            export.tokens.append(token(left.field("property"), "export"))
            if right.kind() == "identifier" and right.text() == name:
                export.source = ("", name)
            self.all([left.field("object"), right], scope)
            return
        self.all([left, right], scope)

    def _whole(self, right: Any, scope: Scope) -> None:
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
                name = child.text()
                export = self.module.exports.setdefault(name, Export(name))
                export.source = ("", name)
                export.tokens.append(token(child, "export"))
                self.use(child, scope, before=f"{name}: ")
            elif key is not None and key.kind() == "property_identifier":
                export = self.module.exports.setdefault(key.text(), Export(key.text()))
                export.tokens.append(token(key, "export"))
                value = child.field("value")
                if (
                    value is not None
                    and value.kind() == "identifier"
                    and value.text() == key.text()
                ):
                    export.source = ("", key.text())
                self.all([value] if kind == "pair" else [child], scope)
            else:
                self.all([child], scope)
