"""The tree drawn in the docstring is the tree that exists."""

from __future__ import annotations

import re

from toolcrib.core import errors


def classes() -> dict[str, type[errors.ToolError]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.ToolError)
    }


def drawn() -> dict[str, tuple[str, list[str]]]:
    """Each drawn class with its parent and its codes."""
    found: dict[str, tuple[str, list[str]]] = {}
    trail: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^    ([│├└─ ]*)([A-Z]\w+)\s+([a-z_, ]+)$", line)
        if not match:
            continue
        depth, name = len(match[1]), match[2]
        while trail and trail[-1][0] >= depth:
            trail.pop()
        found[name] = (trail[-1][1] if trail else "", [c.strip() for c in match[3].split(",")])
        trail.append((depth, name))
    return found


def test_every_class_is_drawn_with_its_parent_and_code() -> None:
    tree = drawn()
    assert set(tree) == set(classes())
    for name, kind in classes().items():
        parent, codes = tree[name]
        assert kind.code in codes
        if parent:
            assert kind.__bases__[0].__name__ == parent


def test_codes_are_unique() -> None:
    codes = [code for _, listed in drawn().values() for code in listed]
    assert len(codes) == len(set(codes))
