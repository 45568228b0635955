"""Names in a syntax tree of JavaScript or TypeScript, each noted with what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolcrib.code.javascript.model import (
    BOTH,
    TYPE,
    VALUE,
    Binding,
    Member,
    Module,
    Scope,
    Token,
    Use,
)
from toolcrib.code.places import Kind


def token(node: Any, kind: Kind = "reference", before: str = "", after: str = "") -> Token:
    """The token of a leaf."""
    span = node.range()
    return Token(span.start.index, span.end.index, kind, before, after)


def literal(node: Any) -> Token | None:
    """What stands between the quotes of a plain string."""
    if node is None or node.kind() != "string":
        return None
    text, span = node.text(), node.range()
    if "\\" in text or len(text) < 2:
        return None
    return Token(span.start.index + 1, span.end.index - 1, "string")


def named(node: Any) -> list[Any]:
    """The children that are not punctuation."""
    return [child for child in node.children() if child.is_named()]


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


class Names:
    """Notes names where they stand; `Walk` goes on from here."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.left: list[tuple[Any, Scope]] = []

    def all(self, nodes: Any, scope: Scope) -> None:
        """Walk over some nodes later."""
        self.left.extend((node, scope) for node in nodes if node is not None)

    def declare(
        self, scope: Scope, node: Any, what: str, space: int = VALUE, before: str = ""
    ) -> Binding:
        """Bind the name of a leaf."""
        name = node.text()
        binding = scope.names.get(name)
        if binding is None:
            binding = Binding(name, scope, what, 0)
            scope.names[name] = binding
            self.module.bindings.append(binding)
        binding.space |= space
        binding.tokens.append(token(node, "definition", before))
        return binding

    def use(self, node: Any, scope: Scope, space: int = VALUE, before: str = "") -> None:
        """Note a name that is used."""
        made = token(node, "reference", before)
        if "\\" in node.text():  # an escape in a name
            self.module.errors.append(made.start)
        self.module.uses.append(Use(node.text(), made, scope, space, node))

    def member(self, node: Any, base: Any, scope: Scope, role: str = "use", **more: Any) -> None:
        """Note a name behind a dot."""
        kind: Kind = "definition" if role in ("method", "field") else "reference"
        found = more.pop("token", None) or token(node, kind)
        name = self.module.text[found.start : found.end]
        self.module.members.append(Member(name, found, base, scope, role, **more))

    def _identifier(self, node: Any, scope: Scope) -> None:
        self.use(node, scope)

    def _type_identifier(self, node: Any, scope: Scope) -> None:
        self.use(node, scope, TYPE)

    def _shorthand_property_identifier(self, node: Any, scope: Scope) -> None:
        self.use(node, scope, VALUE, f"{node.text()}: ")

    def _shorthand_property_identifier_pattern(self, node: Any, scope: Scope) -> None:
        self.use(node, scope, VALUE, f"{node.text()}: ")
        self.member(node, None, scope, "pattern")

    def _pair_pattern(self, node: Any, scope: Scope) -> None:
        key = node.field("key")
        if key.kind() == "property_identifier":
            self.member(key, None, scope, "pattern")
        else:
            self.all([key], scope)
        self.all([node.field("value")], scope)

    def _private_property_identifier(self, node: Any, scope: Scope) -> None:
        self.member(node, None, scope, "private")

    def _member_expression(self, node: Any, scope: Scope) -> None:
        base, name = node.field("object"), node.field("property")
        if name is not None and name.kind() == "property_identifier":
            self.member(name, base, scope)
        elif name is not None:
            self.all([name], scope)
        self.all([base], scope)

    def _subscript_expression(self, node: Any, scope: Scope) -> None:
        base, index = node.field("object"), node.field("index")
        text = literal(index)
        if text is not None:
            self.member(index, base, scope, token=text)
        elif index is not None and index.kind() != "number":
            self.module.dynamic.append((base, scope, node.range().start.index))
        self.all([base, index], scope)

    def _lookup_type(self, node: Any, scope: Scope) -> None:
        children = named(node)
        inner = named(children[-1]) if children else []
        text = literal(inner[0]) if inner and children[-1].kind() == "literal_type" else None
        if text is not None:
            self.member(inner[0], None, scope, token=text)
        self.all(children, scope)

    def _nested_identifier(self, node: Any, scope: Scope) -> None:
        self._dotted(node, scope, VALUE)

    def _nested_type_identifier(self, node: Any, scope: Scope) -> None:
        self._dotted(node, scope, BOTH)

    def _dotted(self, node: Any, scope: Scope, space: int) -> None:
        *bases, last = named(node)
        self.member(last, bases[0], scope)
        if bases[0].kind() == "identifier":
            self.use(bases[0], scope, BOTH if space == BOTH else VALUE)
        else:
            self.all(bases, scope)

    def _type_query(self, node: Any, scope: Scope) -> None:
        self.all(node.children(), scope)

    def _jsx_opening_element(self, node: Any, scope: Scope) -> None:
        self._tag(node, scope)

    def _jsx_closing_element(self, node: Any, scope: Scope) -> None:
        self._tag(node, scope)

    def _jsx_self_closing_element(self, node: Any, scope: Scope) -> None:
        self._tag(node, scope)

    def _tag(self, node: Any, scope: Scope) -> None:
        name = node.field("name")
        plain = name is not None and name.kind() == "identifier"
        for child in named(node):
            if not (plain and child == name and not name.text()[:1].isupper()):
                self.all([child], scope)
