"""The classes of a Python project: bases, members and methods."""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from toolcrib.code.python.program import ExternalName, Program, PythonSymbol
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import Function, last_name
from toolcrib.code.scopes import LexicalScope, Occurrence
from toolcrib.core.names import name_set

_KNOWN_MODULES = name_set("""
    abc enum typing collections collections.abc threading unittest json logging argparse io
    contextlib dataclasses types asyncio string queue functools datetime decimal pathlib ast
    html.parser http.server socketserver numbers fractions cmd configparser
""")
"""Modules of the standard library that can be loaded to see what their classes have."""
_PLAIN = name_set("typing.Generic typing.Protocol typing.NamedTuple typing.TypedDict typing.Any")


@dataclass(frozen=True, slots=True)
class PythonClass:
    """A class statement of a file."""

    file: PythonFile
    node: ast.ClassDef

    @property
    def scope(self) -> LexicalScope:
        """The scope of its body."""
        return self.file.scopes[self.node]

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    def binders(self, name: str) -> list[Occurrence]:
        """Where its body binds a name."""
        return self.scope.binders(name)


@dataclass(frozen=True, slots=True)
class Method:
    """A function of a class body, with the name of its first parameter."""

    node: Function
    first: str
    of_class: bool


class ClassHierarchy:
    """What is known of the classes of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._lines: dict[PythonClass, list[PythonClass | ExternalName | None]] = {}

    def of(self, file: PythonFile, node: ast.AST) -> PythonClass | ExternalName | None:
        """The class that a plain or dotted name stands for."""
        if isinstance(node, ast.Subscript):
            node = node.value
        return self.of_meaning(self.program.meaning(file, node))

    def of_meaning(self, meaning: object) -> PythonClass | ExternalName | None:
        """The class that something stands for, where it is only ever one."""
        if isinstance(meaning, ExternalName):
            return meaning
        if not isinstance(meaning, PythonSymbol):
            return None
        binders = [b for b in meaning.binders if b.role != "delete"]
        if len(binders) != 1:
            return None
        node = binders[0].node
        if isinstance(node, ast.ClassDef):
            return PythonClass(meaning.file, node)
        parent = meaning.file.parents.get(node)
        if isinstance(parent, ast.Assign) and parent.targets == [node]:
            return self.of(meaning.file, parent.value)
        return None

    def mro(self, of: PythonClass) -> list[PythonClass | ExternalName | None]:
        """The class and all above it, in the order in which names are looked up."""
        known = self._lines.get(of)
        if known is not None:
            return known
        self._lines[of] = [of]
        found: list[PythonClass | ExternalName | None] = []
        for base in of.node.bases:
            above = self.of(of.file, base)
            found += self.mro(above) if isinstance(above, PythonClass) else [above]
        line: list[PythonClass | ExternalName | None] = []
        for index, one in enumerate(found):
            if one is None or one not in found[index + 1 :]:
                line.append(one)
        self._lines[of] = [of, *line]
        return self._lines[of]

    def project_mro(self, of: PythonClass) -> list[PythonClass]:
        """Those of the line that are in the project."""
        return [c for c in self.mro(of) if isinstance(c, PythonClass)]

    def is_kind_of(self, one: PythonClass, other: PythonClass) -> bool:
        """Whether a class is another, or below it."""
        return other in self.mro(one)

    def unknown_bases(self, of: PythonClass, name: str) -> Iterator[str]:
        """Bases from outside that have a name, or of which that is not known."""
        for above in self.project_mro(of):
            for base in above.node.bases:
                found = self.of(above.file, base)
                if isinstance(found, PythonClass):
                    continue
                where = above.file.at(base)
                base_text = ast.unparse(base)
                has = _foreign_has(found.name, name) if isinstance(found, ExternalName) else None
                if has is None:
                    yield f"{where}the base class {base_text} is outside of the project."
                elif has:
                    yield f"{where}the base class {base_text} has {name} too."
            for word in above.node.keywords:
                if word.arg == "metaclass" and last_name(word.value) not in ("ABCMeta", "EnumMeta"):
                    yield f"{above.file.at(word.value)}a metaclass may use the name."

    def foreign_has(self, of: PythonClass, name: str) -> bool | None:
        """Whether a base from outside has a name; None where that is not known."""
        found: bool | None = False
        for above in self.mro(of):
            if isinstance(above, PythonClass):
                continue
            has = _foreign_has(above.name, name) if above is not None else None
            if has:
                return True
            found = found if has is False else None
        return found

    def within(self, files: Iterable[PythonFile]) -> list[PythonClass]:
        """Every class of some files."""
        return [
            PythonClass(file, node)
            for file in files
            for node in file.within
            if isinstance(node, ast.ClassDef)
        ]


def method_of(file: PythonFile, scope: LexicalScope) -> tuple[PythonClass, Method] | None:
    """The class that a function is a method of, and how it calls its object."""
    node = scope.node
    if not isinstance(node, Function):
        return None
    above = scope.parent
    while above is not None and above.kind == "types":
        above = above.parent
    if above is None or above.kind != "class" or not isinstance(above.node, ast.ClassDef):
        return None
    decorators = {last_name(d) for d in node.decorator_list}
    listed = [*node.args.posonlyargs, *node.args.args]
    if "staticmethod" in decorators or not listed:
        return PythonClass(file, above.node), Method(node, "", of_class=False)
    implicit = ("__new__", "__init_subclass__", "__class_getitem__")
    of_class = "classmethod" in decorators or node.name in implicit
    return PythonClass(file, above.node), Method(node, listed[0].arg, of_class)


def method_at(file: PythonFile, scope: LexicalScope) -> tuple[PythonClass, Method] | None:
    """The method in which a scope lies, also where it is of a function inside of it."""
    found = (method_of(file, around) for around in scope.chain())
    return next((method for method in found if method is not None), None)


def self_stores(of: PythonClass, name: str) -> list[ast.Attribute]:
    """Where methods of a class set an attribute of their object."""
    found = []
    for node in of.file.attributes(name):
        if not isinstance(node.ctx, ast.Store) or not isinstance(node.value, ast.Name):
            continue
        method = method_at(of.file, of.file.within[node])
        is_own = method is not None and method[0] == of and method[1].first == node.value.id
        if is_own and of.file.enclosing(node, ast.ClassDef) is of.node:
            found.append(node)
    return found


def defines(of: PythonClass, name: str) -> bool:
    """Whether a class itself gives its objects a name."""
    return bool(of.binders(name)) or bool(self_stores(of, name))


@cache
def _foreign_has(dotted: str, name: str) -> bool | None:
    """Whether a class of Python itself has a name; None for any other."""
    module, _, kind = dotted.rpartition(".")
    if dotted in _PLAIN or module == "typing_extensions":
        return hasattr(object, name) or (kind == "NamedTuple" and hasattr(tuple, name))
    if module == "builtins":
        found = getattr(builtins, kind, None)
    elif module in _KNOWN_MODULES:
        found = getattr(importlib.import_module(module), kind, None)
    else:
        return None
    return hasattr(found, name) if isinstance(found, type) else None
