"""Unused imports of JavaScript and TypeScript."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.code.javascript.imports import (
    ImportedName,
    ImportStatement,
    LoadEffects,
    is_module,
    statements,
)
from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.program import ScriptProgram
from toolcrib.code.javascript.scopes import descendants, literal, named
from toolcrib.code.languages import language_of
from toolcrib.code.operations import CleanupPlan, without_lines
from toolcrib.code.project import Project
from toolcrib.code.scopes import Binding
from toolcrib.core.errors import UnsupportedContent
from toolcrib.files.content.faithful import Splice

_MARK = re.compile(
    r"eslint-disable(?:-line|-next-line)?(?![^\n]*:)(?:[^\n]*unused|\s*(?:\*/|$|--))"
    r"|@ts-(?:ignore|expect-error)|biome-ignore",
    re.MULTILINE,
)
_PRAGMA = re.compile(r"@jsx(?:Frag)?\s+([\w$]+)")
_JSX = frozenset(["React", "h", "Fragment", "jsx"])
"""Names that compiled JSX may call."""


def plan_cleanup(project: Project, path: str) -> CleanupPlan:
    """See `toolcrib.code.operations.remove_unused_imports`."""
    program = ScriptProgram(project)
    module = program.understood(path)
    inside = (scope for use in module.uses for scope in use.scope.chain())
    if module.evals or any(scope.dynamic == "with" for scope in inside):
        raise UnsupportedContent(
            f"{project.display(path)} calls eval or has a with statement, so that any name may be "
            "used.",
            hint="Remove imports by edit_file.",
        )
    cleanup = _ImportCleanup(program, module)
    cleanup.plan()
    return CleanupPlan(cleanup.names, cleanup.splices, cleanup.notes)


class _ImportCleanup:
    def __init__(self, program: ScriptProgram, module: Module) -> None:
        self.program = program
        self.module = module
        self.loading = LoadEffects(program)
        self.splices: list[Splice] = []
        self.names: list[str] = []
        self.notes: list[str] = []
        self.used = {id(use.binding) for use in module.uses if use.binding is not None}
        self.reserved = self._reserved_names()
        self.is_types = language_of(module.path) != "javascript"

    def _reserved_names(self) -> set[str]:
        """Names that comments or the compiler use."""
        text = self.module.text
        found = set(_PRAGMA.findall(text))
        elements = ("jsx_element", "jsx_self_closing_element")
        for node in descendants(self.module.root, "comment", *elements):
            if node.kind() in elements:
                found |= _JSX
                continue
            words = node.text()
            if words.startswith("/**"):
                for part in re.findall(r"\{[^}]*\}|@(?:see|link)\s+\S+", words):
                    found |= set(re.findall(r"[\w$]+", part))
        return found

    def plan(self) -> None:
        """Collect the changes."""
        left = False
        for statement in statements(self.module):
            gone = [part for part in statement.parts if self._is_unused(part, statement)]
            if gone:
                left = self._without(statement, gone) or left
        for node in named(self.module.root):
            if node.kind() in ("lexical_declaration", "variable_declaration"):
                self._required(node)
        if left and not self._stays_module():
            end = max(splice.start for splice in self.splices)
            self.splices = [
                Splice(s.start, s.end, "export {};\n") if s.start == end and not s.new else s
                for s in self.splices
            ]

    def _is_marked(self, node: Any) -> bool:
        lines = self.module.text.split("\n")
        span = node.range()
        around = lines[max(span.start.line - 1, 0) : span.end.line + 1]
        own = "\n".join(around[1:] if span.start.line else around)
        above = around[0] if span.start.line and "disable-line" not in around[0] else ""
        return _MARK.search(own) is not None or _MARK.search(above) is not None

    def _is_unused(self, part: ImportedName, statement: ImportStatement) -> bool:
        binding = self.module.top.names.get(part.local)
        if binding is None or not self._is_free(binding) or self._is_marked(statement.node):
            return False
        return not statement.node.text().startswith("export")

    def _is_free(self, binding: Binding) -> bool:
        module = self.module
        alone = len(binding.tokens) == 1 and id(binding) not in self.used
        taken = any(e.binding is binding for e in module.exports.values())
        if not alone or taken:
            return False
        if binding.name in self.reserved:
            line = module.line_at(binding.start)
            self.notes.append(f"Kept on line {line}: {binding.name}, JSX or a comment may use it.")
            return False
        return True

    def _without(self, statement: ImportStatement, gone: list[ImportedName]) -> bool:
        """Take names out of an import; True where the whole of it goes."""
        names = [part.local for part in gone]
        line = statement.node.range().start.line + 1
        if len(gone) < len(statement.parts):
            if statement.commented:
                self.notes.append(f"Kept on line {line}: {', '.join(names)}, beside comments.")
                return False
            remaining = [part for part in statement.parts if part not in gone]
            self.splices.append(Splice(*statement.span, statement.written(remaining)))
            self.names += names
            return False
        loud = "" if statement.typed else self._load_effect(statement.specifier)
        if loud and self.is_types:
            self.notes.append(
                f"Kept on line {line}: {', '.join(names)}, since loading {loud} does something."
            )
            return False
        self.names += names
        if loud:
            start, end = statement.span
            source = statement.node.field("source").range()
            text = self.module.text
            self.splices.append(Splice(start, end, f"import {text[source.start.index : end]}"))
            return False
        self.splices.append(self._cut(statement.node))
        return True

    def _load_effect(self, specifier: str) -> str:
        target = self.program.resolve(self.module.path, specifier)
        if target is not None:
            loud = self.loading.first_effect(target) if self.program.is_script(target) else ""
            return self.program.project.display(loud) if loud else ""
        if specifier.startswith("."):
            return "" if specifier.endswith(".json") else specifier
        return ""

    def _cut(self, node: Any) -> Splice:
        """A statement with its line, where it has it for itself."""
        text, span = self.module.text, node.range()
        start, end = span.start.index, span.end.index
        if text[end : end + 1] == ";":
            end += 1
        return without_lines(text, start, end, "//") or Splice(start, end, "")

    def _required(self, node: Any) -> None:
        """`const a = require("a")` and `const { a, b } = require("a")`."""
        parts = named(node)
        if len(parts) != 1 or parts[0].kind() != "variable_declarator":
            return
        name, value = parts[0].field("name"), parts[0].field("value")
        specifier = self._called(value)
        if not specifier or self._is_marked(node):
            return
        if name.kind() == "identifier":
            keys = [name]
        elif name.kind() == "object_pattern":
            keys = named(name)
        else:
            return
        gone = [key for key in keys if self._is_unused_key(key)]
        target = self.program.resolve(self.module.path, specifier)
        own = target is not None and self.program.is_script(target)
        if not gone or any(key.kind() == "rest_pattern" for key in keys):
            return
        names = [_local(key) for key in gone]
        if len(gone) < len(keys):
            if next(descendants(name, "comment"), None) is None and "\n" not in name.text():
                remaining = [key.text() for key in keys if key not in gone]
                span = name.range()
                text = f"{{ {', '.join(remaining)} }}"
                self.splices.append(Splice(span.start.index, span.end.index, text))
                self.names += names
            return
        self.names += names
        if self._load_effect(specifier) or (
            target is None and specifier.startswith(".") and not own
        ):
            span = node.range()
            self.splices.append(Splice(span.start.index, span.end.index, f"{value.text()};"))
        else:
            self.splices.append(self._cut(node))

    def _called(self, value: Any) -> str:
        if value is None or value.kind() != "call_expression":
            return ""
        if value.field("function").text() != "require" or "require" in self.module.top.names:
            return ""
        inner = named(value.field("arguments"))
        return str(inner[0].text()[1:-1]) if len(inner) == 1 and literal(inner[0]) else ""

    def _is_unused_key(self, key: Any) -> bool:
        local = _local(key)
        binding = self.module.top.names.get(local) if local else None
        return binding is not None and not self.module.is_script and self._is_free(binding)

    def _stays_module(self) -> bool:
        """Whether a file is a module still, without the imports that go."""
        cut = {splice.start for splice in self.splices if not splice.new}
        for node in named(self.module.root):
            if node.kind() in ("import_statement", "export_statement"):
                start = node.range().start.index
                first = self.module.text.rfind("\n", 0, start) + 1
                if start not in cut and first not in cut:
                    return True
        path = self.module.path
        return path.endswith((".mjs", ".mts")) or (
            not self.is_types and is_module(self.program.project, path)
        )


def _local(key: Any) -> str:
    """The name that an entry of a pattern binds; "" for one that is not plain."""
    if key.kind() in ("identifier", "shorthand_property_identifier_pattern"):
        return str(key.text())
    if key.kind() == "pair_pattern" and key.field("key").kind() == "property_identifier":
        value = key.field("value")
        return str(value.text()) if value.kind() == "identifier" else ""
    return ""
