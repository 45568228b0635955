"""The JavaScript and TypeScript files of a project: modules, and what names mean across them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import Any

from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.scopes import literal, named, read
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.project import Project
from toolcrib.code.scopes import BOTH, Binding, LexicalScope
from toolcrib.core.errors import ToolError, UnsupportedContent
from toolcrib.core.names import name_set
from toolcrib.text.json_values import json_object

ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
SOURCE_ENDINGS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript imports a file by the name that it will have."""
LITERAL = re.compile(r"""["'`]([^"'`\s\\]{1,300})["'`]""")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
MAX_SETTINGS = 200_000


class SpecifierResolver:
    """Resolves what imports say; it remembers. It blocks."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[tuple[str, str], str | None] = {}
        self._settings: dict[str, tuple[str, dict[str, list[str]], str | None]] = {}

    def resolve(self, path: str, specifier: str) -> str | None:
        """The file that an import in a file means; None for what is not of the project."""
        key = (dirname(path) if specifier.startswith(".") else path, specifier)
        if key not in self._found:
            self._found[key] = self._resolve(path, specifier)
        return self._found[key]

    def _resolve(self, path: str, specifier: str) -> str | None:
        specifier = specifier.partition("?")[0]
        if specifier.startswith("."):
            return self._file(join(dirname(path), specifier))
        for candidate in self._mapped(path, specifier):
            found = self._file(candidate)
            if found is not None:
                return found
        return None

    def _file(self, place: str) -> str | None:
        place = normpath(place)
        if place.startswith(".."):
            return None
        stem, dot, ending = place.rpartition(".")
        written = SOURCE_ENDINGS.get(f".{ending}", ()) if dot and stem else ()
        candidates = [
            place,
            *(stem + other for other in written),
            *(place + other for other in ENDINGS),
            *(join(place, f"index{other}") for other in ENDINGS),
        ]
        return next((normpath(c) for c in candidates if normpath(c) in self._project), None)

    def may_mean(self, path: str, specifier: str, files: Iterable[str]) -> bool:
        """Whether a name without a known place may still mean one of some files."""
        if specifier.startswith(".") or self.resolve(path, specifier) is not None:
            return False
        tail = [part for part in specifier.lstrip("@~#/").split("/") if part]
        if not tail:
            return False
        for file in files:
            stem = re.sub(r"(\.d)?\.\w+$", "", file)
            parts = stem.removesuffix("/index").split("/")
            last = re.sub(r"\.\w+$", "", tail[-1])
            if len(tail) > 1 and last == parts[-1]:
                return True
            if specifier in self._packages(file):
                return True
        return False

    def _packages(self, file: str) -> Iterator[str]:
        for folder in folders_around(file):
            package = settings_of(self._project, join(folder, "package.json"))
            name = package.get("name") if package else None
            if isinstance(name, str):
                yield name

    def _mapped(self, path: str, specifier: str) -> Iterator[str]:
        for folder in folders_around(path):
            base, paths, root = self._settings_of(folder)
            for pattern, targets in paths.items():
                head, star, tail = pattern.partition("*")
                if (
                    star and specifier.startswith(head) and specifier.endswith(tail)
                ) or specifier == pattern:
                    inner = specifier[len(head) : len(specifier) - len(tail)] if star else ""
                    yield from (join(folder, base, t.replace("*", inner)) for t in targets)
            if root is not None:
                yield join(folder, root, specifier)

    def _settings_of(self, folder: str) -> tuple[str, dict[str, list[str]], str | None]:
        known = self._settings.get(folder)
        if known is None:
            known = (".", {}, None)
            for name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
                with suppress(AttributeError, TypeError):  # of another form
                    settings = settings_of(self._project, join(folder, name)) or {}
                    options = settings.get("compilerOptions") or {}
                    base = options.get("baseUrl")
                    paths = {k: list(v) for k, v in (options.get("paths") or {}).items()}
                    if paths or base is not None:
                        known = (base or ".", paths, base)
                        break
            self._settings[folder] = known
        return known


def folders_around(path: str) -> Iterator[str]:
    """The folders that a file is in, the nearest first; the last is "", that of the project."""
    while path:
        path = dirname(path)
        yield path


def settings_of(project: Project, path: str) -> dict[str, Any] | None:
    """The object in a JSON file, comments allowed; None where there is none."""
    try:
        data = project.scope.file(path).read_bytes(MAX_SETTINGS)
    except ToolError:
        return None
    text = data.decode("utf-8-sig", "replace")
    found = json_object(text)
    return found if found is not None else json_object(_COMMENT.sub(lambda m: m[1] or "", text))


def literals(text: str) -> set[str]:
    """Every short string of a text that may name a module."""
    return set(LITERAL.findall(text))


Slot = tuple[str, str]
"""A module and a name that it itself exports."""
TRANSPARENT_KINDS = name_set(
    "parenthesized_expression non_null_expression as_expression satisfies_expression"
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What an expression means: a whole module, or a binding of a file."""

    path: str
    binding: Binding | None = None

    @property
    def class_body(self) -> LexicalScope | None:
        """The scope of the class that it is, if it is one."""
        bodies = self.binding.bodies if self.binding is not None else ()
        return next((body for body in bodies if body.kind == "class"), None)


class ScriptProgram:
    """Reads files when they are needed. It blocks."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.specifiers = SpecifierResolver(project)
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

    def understood(self, path: str) -> Module:
        """The same for a file that is to be changed.

        Raises:
            UnsupportedContent: it has a syntax error.
        """
        module = self.module(path)
        if module.errors:
            raise UnsupportedContent(
                f"{self.project.display(path)} has a syntax error: it cannot be understood.",
                hint="Mend the file first.",
            )
        return module

    def resolve(self, path: str, specifier: str) -> str | None:
        """The file of the project that an import in a file means."""
        return self.specifiers.resolve(path, specifier)

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
                for specifier in literals(self._text(each)):
                    found = self.resolve(each, specifier)
                    if found is not None:
                        self._importers.setdefault(found, set()).add(each)
                    elif "/" in specifier or specifier.startswith("@"):
                        self._bare.setdefault(each, set()).add(specifier)
        return self._importers.get(path, set())

    def _text(self, path: str) -> str:
        try:
            return self.project.text(path)
        except ToolError:
            return ""  # reported where it matters: by what mentions the name

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
        for specifier in module.stars:
            found = self.slot(self.resolve(path, specifier), name, seen | {path})
            if found is not None:
                return found
        return None

    def offered(self, path: str | None, name: str, depth: int = 0) -> Resolution | None:
        """What a module offers under a name."""
        slot = self.slot(path, name)
        if slot is None and path is not None and name == "default" and self.is_script(path):
            return Resolution(path) if self._is_common(path) else None
        if slot is None or depth > 50:
            return None
        module = self.module(slot[0])
        export = module.exports[slot[1]]
        if export.binding is not None:
            return self.bound(module, export.binding, depth + 1)
        if export.source is None:
            return None
        specifier, there = export.source
        if not specifier:
            binding = module.top.resolve(there, BOTH)
            return self.bound(module, binding, depth + 1) if binding else None
        target = self.resolve(slot[0], specifier)
        if there == "*":
            return Resolution(target) if self.is_script(target) and target else None
        return self.offered(target, there, depth + 1)

    def bound(self, module: Module, binding: Binding, depth: int = 0) -> Resolution | None:
        """What a binding stands for, through imports; None where that is unknown."""
        if depth > 50:
            return None
        if binding.source is not None:
            specifier, there = binding.source
            target = self.resolve(module.path, specifier)
            if target is None or not self.is_script(target):
                return None
            if there == "*" or (there == "default" and self._is_common(target)):
                return Resolution(target)
            return self.offered(target, there, depth + 1)
        if binding.value is not None and binding.what == "variable":
            found = self.meant(module, binding.value, binding.scope, depth + 1)
            if found is not None and found.binding is None:
                return found
        return Resolution(module.path, binding)

    def _is_common(self, path: str) -> bool:
        module = self.module(path)
        return module.common and not module.esm

    def meant(
        self, module: Module, node: Any, scope: LexicalScope, depth: int = 0
    ) -> Resolution | None:
        """What an expression means."""
        if node is None or depth > 50:
            return None
        kind = node.kind()
        if kind in TRANSPARENT_KINDS:
            return self.meant(module, named(node)[0], scope, depth + 1)
        if kind == "await_expression":
            return self._called(module, named(node)[0], scope, "import")
        if kind == "call_expression":
            return self._called(module, node, scope, "require")
        if kind in ("identifier", "type_identifier", "shorthand_property_identifier"):
            binding = scope.resolve(node.text(), BOTH)
            return self.bound(module, binding, depth + 1) if binding else None
        if kind in ("member_expression", "nested_identifier", "nested_type_identifier"):
            parts = named(node)
            base = self.meant(module, parts[0], scope, depth + 1)
            return self.inside(base, parts[-1].text(), depth + 1) if base else None
        return None

    def inside(self, base: Resolution, name: str, depth: int = 0) -> Resolution | None:
        """What a module, a namespace or an enum holds under a name."""
        if base.binding is None:
            return self.offered(base.path, name, depth + 1)
        for body in base.binding.bodies:
            found = body.names.get(name)
            if found is not None and found.exposed:
                return Resolution(base.path, found)
        return None

    def _called(self, module: Module, node: Any, scope: LexicalScope, by: str) -> Resolution | None:
        if node.kind() != "call_expression":
            return None
        arguments = node.field("arguments")
        inner = named(arguments) if arguments is not None else []
        path = literal(inner[0]) if len(inner) == 1 else None
        if node.field("function").text() != by or path is None:
            return None
        if by == "require" and scope.resolve("require", BOTH) is not None:
            return None
        target = self.resolve(module.path, module.written(path))
        return Resolution(target) if target and self.is_script(target) else None
