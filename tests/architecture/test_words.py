"""One word for one concept, and the field's word: what names may not be."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from types import CodeType

from tests.architecture.tree import modules

ROOT = Path(__file__).parents[2]

# Words that told nobody outside what a thing is; each has one of the field instead.
HOME_WORDS = {"told", "said", "kept", "shown", "asked", "most", "way", "aside"}
NOT_OURS = {"most_common", "ASIDE"}  # of collections.Counter; an element of HTML
PART = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")


def test_no_name_is_a_home_word() -> None:
    sources = {module.where: module.text for module in modules().values()}
    for folder in (ROOT / "tests", ROOT / "bench"):
        for path in folder.rglob("*.py"):
            if path != Path(__file__):
                sources[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    found = {where: home_words(text) for where, text in sources.items()}
    assert {where: names for where, names in found.items() if names} == {}


def home_words(text: str) -> set[str]:
    """Names of code that are home words, or made of them; a test's name is a sentence."""
    names = {name for name in names_of(text) if is_home_word(name)}
    return {name for name in names - NOT_OURS if not name.startswith("test_")}


def names_of(text: str) -> set[str]:
    """All names that a source has, as the compiler notes them."""
    names: set[str] = set()
    left: list[object] = [compile(text, "source", "exec", dont_inherit=True)]
    while left:
        code = left.pop()
        if isinstance(code, CodeType):
            names.update(code.co_names, code.co_varnames, code.co_freevars, (code.co_name,))
            left.extend(code.co_consts)
    return names


def is_home_word(name: str) -> bool:
    """Whether a name holds one."""
    return any(part.lower() in HOME_WORDS for part in PART.split(name))


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
