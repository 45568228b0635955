"""Labels and private names: both stay within one statement or class of one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.model import Member, Module, Scope, Token


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label: its name, and a node that names it."""

    name: str
    node: Any


def find_label(module: Module, label: Labelled) -> list[Token]:
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


def private_places(module: Module, member: Member) -> list[Token]:
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


def _private_scope(member: Member) -> Scope | None:
    return next((s for s in member.scope.chain() if member.name in s.private), None)
