"""The JavaScript and TypeScript files of a project, and what names mean across them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.model import BOTH, Binding, Module, Scope
from toolcrib.code.javascript.names import literal, named
from toolcrib.code.javascript.parsed_file import read, resolve
from toolcrib.code.javascript.specifiers import Specifiers, literals
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.project import Project
from toolcrib.core.errors import ToolError

Slot = tuple[str, str]
"""A module and a name that it itself exports."""
PASSED = (
    "parenthesized_expression",
    "non_null_expression",
    "as_expression",
    "satisfies_expression",
)


@dataclass(frozen=True, slots=True)
class Meant:
    """What an expression means: a whole module, or a binding of a file."""

    path: str
    binding: Binding | None = None


class Program:
    """Reads files when they are needed. It blocks."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.specifiers = Specifiers(project)
        self._modules: dict[str, Module] = {}
        self._importers: dict[str, set[str]] | None = None
        self._bare: dict[str, set[str]] = {}

    def module(self, path: str) -> Module:
        """A file, read."""
        known = self._modules.get(path)
        if known is None:
            self.project.check()
            known = self._modules[path] = read(path, self.project.parsable(path))
        return known

    def is_script(self, path: str | None) -> bool:
        """Whether a path is that of a file of these languages."""
        return path is not None and language_of(path) in SCRIPTS

    def importers(self, path: str) -> set[str]:
        """The files with a string that means a file."""
        if self._importers is None:
            self._importers = {}
            for each in self.project.paths:
                if not self.is_script(each):
                    continue
                for said in literals(self._text(each)):
                    found = self.specifiers.resolve(each, said)
                    if found is not None:
                        self._importers.setdefault(found, set()).add(each)
                    elif "/" in said or said.startswith("@"):
                        self._bare.setdefault(each, set()).add(said)
        return self._importers.get(path, set())

    def _text(self, path: str) -> str:
        try:
            return self.project.text(path)
        except ToolError:
            return ""  # told where it matters: by what mentions the name

    def bare(self, path: str) -> set[str]:
        """The strings of a file that may name modules of an unknown place."""
        self.importers("")
        return self._bare.get(path, set())

    def slot(self, path: str | None, name: str, seen: frozenset[str] = frozenset()) -> Slot | None:
        """The module that itself exports what a module offers under a name."""
        if path is None or not self.is_script(path) or path in seen:
            return None
        module = self.module(path)
        if name in module.exports:
            return path, name
        if name == "default":
            return None
        for said in module.stars:
            found = self.slot(self.specifiers.resolve(path, said), name, seen | {path})
            if found is not None:
                return found
        return None

    def offered(self, path: str | None, name: str, depth: int = 0) -> Meant | None:
        """What a module offers under a name."""
        slot = self.slot(path, name)
        if slot is None and path is not None and name == "default" and self.is_script(path):
            return Meant(path) if self._is_common(path) else None
        if slot is None or depth > 50:
            return None
        module = self.module(slot[0])
        export = module.exports[slot[1]]
        if export.binding is not None:
            return self.bound(module, export.binding, depth + 1)
        if export.source is None:
            return None
        said, there = export.source
        if not said:
            binding = resolve(module.top, there, BOTH)
            return self.bound(module, binding, depth + 1) if binding else None
        target = self.specifiers.resolve(slot[0], said)
        if there == "*":
            return Meant(target) if self.is_script(target) and target else None
        return self.offered(target, there, depth + 1)

    def bound(self, module: Module, binding: Binding, depth: int = 0) -> Meant | None:
        """What a binding stands for, through imports; None where that is unknown."""
        if depth > 50:
            return None
        if binding.source is not None:
            said, there = binding.source
            target = self.specifiers.resolve(module.path, said)
            if target is None or not self.is_script(target):
                return None
            if there == "*" or (there == "default" and self._is_common(target)):
                return Meant(target)
            return self.offered(target, there, depth + 1)
        if binding.value is not None and binding.what == "variable":
            found = self.meant(module, binding.value, binding.scope, depth + 1)
            if found is not None and found.binding is None:
                return found
        return Meant(module.path, binding)

    def _is_common(self, path: str) -> bool:
        module = self.module(path)
        return module.common and not module.esm

    def meant(self, module: Module, node: Any, scope: Scope, depth: int = 0) -> Meant | None:
        """What an expression means."""
        if node is None or depth > 50:
            return None
        kind = node.kind()
        if kind in PASSED:
            return self.meant(module, named(node)[0], scope, depth + 1)
        if kind == "await_expression":
            return self._called(module, named(node)[0], scope, "import")
        if kind == "call_expression":
            return self._called(module, node, scope, "require")
        if kind in ("identifier", "type_identifier", "shorthand_property_identifier"):
            binding = resolve(scope, node.text(), BOTH)
            return self.bound(module, binding, depth + 1) if binding else None
        if kind in ("member_expression", "nested_identifier", "nested_type_identifier"):
            parts = named(node)
            base = self.meant(module, parts[0], scope, depth + 1)
            return self.inside(base, parts[-1].text(), depth + 1) if base else None
        return None

    def inside(self, base: Meant, name: str, depth: int = 0) -> Meant | None:
        """What a module, a namespace or an enum holds under a name."""
        if base.binding is None:
            return self.offered(base.path, name, depth + 1)
        for body in base.binding.bodies:
            found = body.names.get(name)
            if found is not None and found.exposed:
                return Meant(base.path, found)
        return None

    def _called(self, module: Module, node: Any, scope: Scope, by: str) -> Meant | None:
        if node.kind() != "call_expression":
            return None
        arguments = node.field("arguments")
        inner = named(arguments) if arguments is not None else []
        path = literal(inner[0]) if len(inner) == 1 else None
        if node.field("function").text() != by or path is None:
            return None
        if by == "require" and resolve(scope, "require", BOTH) is not None:
            return None
        target = self.specifiers.resolve(module.path, module.text[path.start : path.end])
        return Meant(target) if target and self.is_script(target) else None
