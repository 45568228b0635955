"""Import statements of JavaScript and TypeScript: read, written anew, and what loading does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from posixpath import dirname, join, relpath
from typing import Any

from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.program import ScriptProgram, folders_around, settings_of
from toolcrib.code.javascript.scopes import descendants, literal, named
from toolcrib.code.project import Project
from toolcrib.core.errors import ToolError
from toolcrib.core.names import name_set

SCRIPT_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
EMITTED_ENDINGS = {"ts": "js", "tsx": "js", "mts": "mjs", "cts": "cjs"}


@dataclass(frozen=True, slots=True)
class ImportedName:
    """A name of an import: `there` is "default" or "*" for the other forms, `text` as it stands."""

    node: Any
    there: str
    local: str
    text: str
    typed: bool = False


@dataclass(slots=True)
class ImportStatement:
    """An import with names, or one of its like."""

    node: Any
    specifier: str
    typed: bool
    parts: list[ImportedName] = field(default_factory=list)

    @property
    def span(self) -> tuple[int, int]:
        """Where it starts and ends."""
        span = self.node.range()
        return span.start.index, span.end.index

    def written(self, parts: list[ImportedName]) -> str:
        """The same with only some of its names, at least one."""
        text, start = self.node.text(), self.span[0]
        clause = next(c for c in named(self.node) if c.kind() == "import_clause").range()
        first, last = clause.start.index - start, clause.end.index - start
        single = [p.text for p in parts if p.there in ("default", "*") and not _in_list(p)]
        inner = [p for p in parts if _in_list(p)]
        if inner:
            single.append(self._list(inner))
        return f"{text[:first]}{', '.join(single)}{text[last:]}"

    def _list(self, parts: list[ImportedName]) -> str:
        whole = parts[0].node.parent().text()
        inside = whole[1:-1]
        if "\n" not in inside:
            gap = " " if inside.startswith(" ") else ""
            return f"{{{gap}{', '.join(p.text for p in parts)}{gap}}}"
        match = re.search(r"\n([ \t]*)\S", inside)
        indent = match[1] if match else "  "
        comma = "," if inside.rstrip().endswith(",") else ""
        tail = inside[len(inside.rstrip()) :]
        return f"{{\n{indent}" + f",\n{indent}".join(p.text for p in parts) + f"{comma}{tail}}}"

    @property
    def commented(self) -> bool:
        """Whether a comment stands between the names."""
        return next(descendants(self.node, "comment"), None) is not None


def _in_list(part: ImportedName) -> bool:
    return bool(part.node.kind() == "import_specifier")


def specifier_of(node: Any) -> str:
    """What a statement says that it takes from; "" for a statement of another kind."""
    if node.kind() not in ("import_statement", "export_statement"):
        return ""
    source = node.field("source")
    if source is None:
        clause = next((c for c in named(node) if c.kind() == "import_require_clause"), None)
        source = named(clause)[-1] if clause is not None else None
    if literal(source) is None:
        return ""
    return str(source.text()[1:-1])


def is_typed(node: Any) -> bool:
    """Whether it is `import type` or `export type`."""
    return any(child.kind() == "type" and not child.is_named() for child in node.children())


def statements(module: Module) -> list[ImportStatement]:
    """The imports at the top of a file that bind names."""
    found = []
    for node in named(module.root):
        if node.kind() != "import_statement":
            continue
        one = ImportStatement(node, specifier_of(node), is_typed(node))
        for child in named(node):
            if child.kind() == "import_clause":
                one.parts += _parts(child)
            elif child.kind() == "import_require_clause":
                name = named(child)[0]
                one.parts.append(ImportedName(child, "*", name.text(), child.text()))
        if one.parts:
            found.append(one)
    return found


def _parts(clause: Any) -> list[ImportedName]:
    found: list[ImportedName] = []
    for child in named(clause):
        if child.kind() == "identifier":
            found.append(ImportedName(child, "default", child.text(), child.text()))
        elif child.kind() == "namespace_import":
            found.append(ImportedName(child, "*", named(child)[0].text(), child.text()))
        elif child.kind() == "named_imports":
            found += [_specifier(one) for one in named(child) if one.kind() == "import_specifier"]
    return found


def _specifier(node: Any) -> ImportedName:
    name, alias = node.field("name"), node.field("alias")
    there = name.text()[1:-1] if name.kind() == "string" else name.text()
    return ImportedName(node, there, (alias or name).text(), node.text(), is_typed(node))


def quote_of(module: Module) -> str:
    """The quotation mark of its imports."""
    for node in named(module.root):
        source = node.field("source") if node.kind().endswith("port_statement") else None
        if source is not None:
            return str(source.text()[0])
    return '"' if module.text.count('"') > module.text.count("'") else "'"


def ends_plainly(module: Module) -> bool:
    """Whether its statements end with a semicolon."""
    if re.search(r";[ \t]*$", module.text, re.MULTILINE):
        return True
    return not re.search(r"^(?:import|export|const|let)\b[^{(;]*$", module.text, re.MULTILINE)


class SpecifierWriter:
    """How a file names another one: as it, or the files around it, do already."""

    def __init__(self, program: ScriptProgram, *models: str) -> None:
        self._program = program
        self._models = models

    def name(self, path: str, target: str, like: str = "", meant: str = "") -> str:
        """The text of an import of a file.

        Args:
            path: the file that imports.
            target: the file that is imported.
            like: an import of another file whose form is taken.
            meant: the file that this one means.
        """
        style = self._style(like, meant) if like.startswith(".") else self._usual(path)
        stem = SCRIPT_ENDING.sub("", target)
        ending = target[len(stem) :].lstrip(".")
        if style == "none":
            name = stem
        elif style == "own":
            name = target
        else:
            name = f"{stem}.{EMITTED_ENDINGS.get(ending, ending)}"
        found = relpath(name or ".", dirname(path) or ".")
        return found if found.startswith("../") else f"./{found}"

    @staticmethod
    def _style(specifier: str, meant: str) -> str:
        match = SCRIPT_ENDING.search(specifier)
        if match is None:
            return "none"
        return "own" if meant.endswith(match[0]) else "written"

    def _usual(self, path: str) -> str:
        program = self._program
        others = [p for p in program.project.paths if program.is_script(p)]
        same = [p for p in others if _family(p) == _family(path)]
        for each in dict.fromkeys([path, *self._models, *same[:200]]):
            if each not in program.project:
                continue
            for node in named(program.module(each).root):
                specifier = specifier_of(node)
                meant = program.resolve(each, specifier) if specifier.startswith("./") else None
                if meant is not None and program.is_script(meant):
                    return self._style(specifier, meant)
        return "own" if _family(path) == "js" else "none"


def _family(path: str) -> str:
    return "ts" if re.search(r"\.[cm]?tsx?$", path) else "js"


def import_place(module: Module) -> int:
    """Where another import goes: behind those at the top, and behind what heads the file."""
    at, start = 0, True
    for node in named(module.root):
        kind = node.kind()
        is_directive = kind == "expression_statement" and all(
            c.kind() == "string" for c in named(node)
        )
        if kind == "import_statement" or is_directive or kind == "hash_bang_line":
            end = node.range().end.index
            line = module.text.find("\n", end)
            at, start = len(module.text) if line < 0 else line + 1, False
        elif kind != "comment":
            break
        elif start and module.text[node.range().end.index :].startswith("\n\n"):
            at = node.range().end.index + 1
    return at


def is_module(project: Project, path: str) -> bool:
    """Whether the package of a file says that its files are modules."""
    for folder in folders_around(path):
        package = settings_of(project, join(folder, "package.json"))
        if package is not None:
            return bool(package.get("type") == "module")
    return False


# Effects of loading a module

_PURE_KINDS = name_set("""
    function_declaration generator_function_declaration function_expression generator_function
    arrow_function function_signature interface_declaration type_alias_declaration
    ambient_declaration import_alias empty_statement comment hash_bang_line identifier this
    string number regex true false null undefined export_clause namespace_export
    method_definition shorthand_property_identifier
""")
"""Nodes whose evaluation nobody can see."""
_CONTAINER_KINDS = name_set("""
    array parenthesized_expression object ternary_expression lexical_declaration
    variable_declaration non_null_expression
""")
"""Nodes that are silent when all their parts are."""
_PURE_CONSTRUCTORS = name_set("Map Set WeakMap WeakSet Array Object AbortController")
_FIELD_KINDS = ("field_definition", "public_field_definition")


def is_pure(node: Any) -> bool:
    """Whether the evaluation of a statement or an expression does nothing that can be seen."""
    kind = node.kind()
    if kind in _PURE_KINDS:
        return True
    if kind in _CONTAINER_KINDS:
        return all(is_pure(child) for child in named(node))
    if kind in ("as_expression", "satisfies_expression"):
        return is_pure(named(node)[0])
    if kind in ("unary_expression", "binary_expression"):
        return all(_is_plain(node.field(part)) for part in ("argument", "left", "right"))
    return _is_pure_part(node, kind)


def _is_pure_part(node: Any, kind: str) -> bool:
    if kind in ("class_declaration", "class", "abstract_class_declaration"):
        return _is_pure_class(node)
    if kind == "variable_declarator":
        value, name = node.field("value"), node.field("name")
        return name.kind() == "identifier" and (value is None or is_pure(value))
    if kind == "expression_statement":
        return all(child.kind() == "string" for child in named(node))
    if kind == "pair":
        return node.field("key").kind() != "computed_property_name" and is_pure(node.field("value"))
    if kind == "enum_declaration":
        return next(descendants(node, "call_expression"), None) is None
    if kind == "template_string":
        return next(descendants(node, "template_substitution"), None) is None
    if kind == "new_expression":
        arguments = node.field("arguments")
        plain = arguments is None or not named(arguments)
        return plain and node.field("constructor").text() in _PURE_CONSTRUCTORS
    return False


def _is_plain(node: Any) -> bool:
    return (
        node is None
        or node.kind() in ("number", "string", "true", "false", "null")
        or (node.kind() in ("unary_expression", "binary_expression") and is_pure(node))
    )


def _is_pure_class(node: Any) -> bool:
    for child in named(node):
        if child.kind() == "decorator":
            return False
        if child.kind() == "class_heritage":
            value = next((c for c in child.children() if c.kind() == "extends_clause"), None)
            parent = value.field("value") if value is not None else named(child)[0]
            if parent.kind() not in ("identifier", "implements_clause"):
                return False
    return all(_is_pure_member(member) for member in named(node.field("body")))


def _is_pure_member(member: Any) -> bool:
    kind = member.kind()
    if kind in ("class_static_block", "decorator"):
        return False
    name = member.field("name") or member.field("property")
    if name is not None and name.kind() == "computed_property_name":
        return False
    if kind not in _FIELD_KINDS:
        return True
    kinds = {child.kind() for child in member.children()}
    value = member.field("value")
    loud = "static" in kinds and value is not None and not is_pure(value)
    return "decorator" not in kinds and not loud


class LoadEffects:
    """What is known of loading the files of a program; it remembers. It blocks."""

    def __init__(self, program: ScriptProgram) -> None:
        self._program = program
        self._own: dict[str, tuple[bool, set[str]]] = {}

    def first_effect(self, path: str) -> str:
        """The first file that does something when a file is loaded; "" for none.

        Packages from outside of the project are taken to be quiet.
        """
        seen, left = {path}, [path]
        while left:
            one = left.pop()
            loud, others = self._of(one)
            if loud:
                return one
            left += sorted(others - seen)
            seen |= others
        return ""

    def imports(self, path: str) -> set[str]:
        """The files that a file loads when it is loaded."""
        return self._of(path)[1]

    def _of(self, path: str) -> tuple[bool, set[str]]:
        known = self._own.get(path)
        if known is None:
            try:
                known = self._read(path)
            except ToolError:
                known = (True, set())
            self._own[path] = known
        return known

    def _read(self, path: str) -> tuple[bool, set[str]]:
        program = self._program
        if not program.is_script(path):
            return False, set()
        module = program.module(path)
        loud, others = bool(module.errors), set()
        for node in named(module.root):
            kind = node.kind()
            specifier = specifier_of(node)
            if specifier and not is_typed(node):
                target = program.resolve(path, specifier)
                if target is not None and program.is_script(target):
                    others.add(target)
            elif kind == "export_statement":
                inner = node.field("declaration") or node.field("value")
                decorated = any(child.kind() == "decorator" for child in node.children())
                loud = loud or decorated or (inner is not None and not is_pure(inner))
            elif kind != "import_statement":
                loud = loud or not is_pure(node)
        for _, _, specifier in module.calls:  # `require` may stand anywhere
            target = program.resolve(path, specifier)
            if target is not None and program.is_script(target):
                others.add(target)
        return loud, others
