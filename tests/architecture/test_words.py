"""One word for one concept, and the field's word: what names may not be."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections import defaultdict

from tests.architecture.tree import modules

# Words that told nobody outside what a thing is; each has one of the field instead.
HOME_WORDS = {"told", "said", "kept", "shown", "asked", "most", "way", "aside"}
NOT_OURS = {"most_common", "ASIDE"}  # of collections.Counter; an element of HTML
PART = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")


def test_no_name_is_a_home_word() -> None:
    found = defaultdict(set)
    for module in modules().values():
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            if token.type != tokenize.NAME or keyword.iskeyword(token.string):
                continue
            words = {part.lower() for part in PART.split(token.string)}
            if words & HOME_WORDS and token.string not in NOT_OURS:
                found[module.where].add(token.string)
    assert dict(found) == {}


def test_a_public_class_name_stands_once() -> None:
    places = defaultdict(list)
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module.where)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_modules_are_nouns() -> None:
    assert [m.where for m in modules().values() if m.stem.endswith("ing")] == []


def test_a_tool_stands_in_a_file_of_its_name() -> None:
    wrong = []
    for module in modules().values():
        for node in module.tree.body:
            if not isinstance(node, ast.AsyncFunctionDef) or module.room != "tools":
                continue
            declared = any(ast.unparse(mark).startswith("tool(") for mark in node.decorator_list)
            if declared and node.name != module.stem:
                wrong.append(f"{module.where} holds {node.name}")
    assert wrong == []
