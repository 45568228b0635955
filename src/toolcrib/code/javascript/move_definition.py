"""Moves of a function, class or type of JavaScript or TypeScript to another module."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from posixpath import join
from typing import Any

from toolcrib.code.javascript.extract_analysis import is_write
from toolcrib.code.javascript.group import is_plain
from toolcrib.code.javascript.imports import (
    SCRIPT_ENDING,
    ImportedName,
    ImportStatement,
    LoadEffects,
    SpecifierWriter,
    ends_plainly,
    import_place,
    is_pure,
    quote_of,
    specifier_of,
    statements,
)
from toolcrib.code.javascript.model import Module, word_pattern
from toolcrib.code.javascript.program import ScriptProgram, folders_around
from toolcrib.code.javascript.scopes import descendants, named
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.operations import MovePlan, import_cycle
from toolcrib.code.rewrite import Rewrite
from toolcrib.code.scopes import TYPE, Binding, Occurrence
from toolcrib.core.errors import BadInput, Conflict, NotFound, ToolError, UnsupportedContent
from toolcrib.core.names import name_set
from toolcrib.files.content.faithful import Splice

MOVABLE_KINDS = name_set("""
    function_declaration generator_function_declaration class_declaration
    abstract_class_declaration interface_declaration type_alias_declaration enum_declaration
    lexical_declaration
""")
_OWN_VALUES = ("arrow_function", "function_expression", "generator_function", "class")


@dataclass(frozen=True, slots=True)
class MovedDefinition:
    """What is moved: its statements, one after the other, and where they stand in the text."""

    name: str
    nodes: list[Any]
    start: int
    end: int
    exported: bool
    typed: bool

    def holds(self, at: int) -> bool:
        """Whether a position of the source lies in it."""
        return self.start <= at < self.end


def plan_move(rewrite: Rewrite, path: str, name: str, target: str) -> MovePlan:
    """See `toolcrib.code.operations.move`."""
    program = ScriptProgram(rewrite.project)
    if target == path or language_of(target) not in SCRIPTS:
        raise BadInput(
            "target is the same file, or no file of JavaScript or TypeScript.",
            hint="Name another file.",
        )
    module = program.module(path)
    there = program.module(target) if target in rewrite.project else None
    _need_modules(program, module, there, target)
    moved = _definition(rewrite, module, name)
    needs = RequiredImports(rewrite, program, module, there, target, moved)
    users = ImporterUpdate(rewrite, program, module, there, target, moved)
    obstacles = [*_about(program, module, moved), *needs.find(), *users.find()]
    obstacles += users.load_order_changes(needs.edges)
    if not obstacles:
        users.write()
        _write(rewrite, module, there, target, moved, needs)
    return MovePlan(list(dict.fromkeys(obstacles)), users.importers, users.notes)


def _need_modules(
    program: ScriptProgram, module: Module, there: Module | None, target: str
) -> None:
    for each in (module, there):
        if each is None:
            continue
        program.understood(each.path)
        empty = each is there and not named(each.root)
        if each.common or each.whole is not None or not (each.esm or empty):
            raise UnsupportedContent(
                f"{program.project.display(each.path)} is no ES module (it has no import or "
                "export, or it is CommonJS).",
                hint="Things are moved between ES modules only; use edit_file.",
            )
    typed = [language_of(each) != "javascript" for each in (module.path, target)]
    if typed[0] != typed[1]:
        raise BadInput(
            "One of the files is TypeScript and the other is not.",
            hint="Name a target of the same language.",
        )
    if target.endswith((".cjs", ".cts", ".d.ts")) or module.path.endswith(".d.ts"):
        raise BadInput("No code can be moved there.", hint="Name another target.")


def _definition(rewrite: Rewrite, module: Module, name: str) -> MovedDefinition:
    display = rewrite.project.display(module.path)
    found: list[tuple[Any, Any]] = []
    for node in named(module.root):
        inner = node.field("declaration") if node.kind() == "export_statement" else node
        if inner is not None and name in _names(inner):
            found.append((node, inner))
    binding = module.top.names.get(name)
    if not found or binding is None:
        raise NotFound(
            f"{display} has no {name} at its top level.",
            hint="Functions, classes and types of a module are moved, not methods.",
        )
    kinds = {inner.kind() for _, inner in found}
    overloaded = kinds == {"function_signature", "function_declaration"} and all(
        inner.kind() == "function_signature" and _follows(outer, found[number + 1][0])
        for number, (outer, inner) in enumerate(found[:-1])
    )
    if len(binding.tokens) != len(found) or (len(found) > 1 and not overloaded):
        raise Conflict(
            f"{name} is defined several times in {display}.",
            hint="Leave one definition, then move it.",
        )
    outer, inner = found[-1]
    words = {child.text() for child in outer.children()}
    if "default" in words:
        raise Conflict(
            f"{name} is the default export of {display}.", hint="Export it by its name first."
        )
    if inner.kind() not in MOVABLE_KINDS or not _is_whole(inner):
        raise NotFound(
            f"{name} is no function, class or type of its own in {display}.",
            hint="A const is moved when it holds one function or class.",
        )
    first = found[0][0].range().start.index
    exported = any(node.kind() == "export_statement" for node, _ in found)
    span = (_with_comments(module, found[0][0], first), outer.range().end.index)
    nodes = [node for node, _ in found]
    return MovedDefinition(name, nodes, *span, exported, binding.space == TYPE)


def _follows(one: Any, other: Any) -> bool:
    """Whether a statement stands right behind another, comments not counted."""
    after = one.next()
    while after is not None and (after.kind() == "comment" or not after.is_named()):
        after = after.next()
    return after is not None and bool(after == other)


def _names(node: Any) -> list[str]:
    if node.kind() in ("lexical_declaration", "variable_declaration"):
        return [c.field("name").text() for c in named(node) if c.kind() == "variable_declarator"]
    name = node.field("name")
    return [name.text()] if name is not None else []


def _is_whole(node: Any) -> bool:
    if node.kind() != "lexical_declaration":
        return True
    parts = named(node)
    value = parts[0].field("value")
    constant = node.children()[0].text() == "const"
    return len(parts) == 1 and constant and value is not None and value.kind() in _OWN_VALUES


def _with_comments(module: Module, node: Any, first: int) -> int:
    """Where the comments right above a statement start."""
    while (above := node.prev()) is not None and above.kind() == "comment":
        between = module.text[above.range().end.index : first]
        start = above.range().start.index
        line = module.text.rfind("\n", 0, start) + 1
        license_ = above.text().startswith(("/*!", "// @ts-", "/* eslint", "// eslint", "/// <"))
        if between.strip() or between.count("\n") != 1 or module.text[line:start].strip():
            break
        if license_ or (not line and above.text().startswith("/*") and "@" not in above.text()):
            break
        node, first = above, start
    return first


def _about(program: ScriptProgram, module: Module, moved: MovedDefinition) -> list[str]:
    """What the moved code itself says against it."""
    found: list[str] = []

    def add_obstacle(node: Any, why: str) -> None:
        line = int(node.range().start.line) + 1
        found.append(f"{program.project.display(module.path)}:{line}: {why}.")

    last = moved.nodes[-1]
    inner = last.field("declaration") if last.kind() == "export_statement" else last
    decorated = any(child.kind() == "decorator" for child in last.children())
    if decorated or not is_pure(inner):
        add_obstacle(
            last, "it does something when it is defined, such as a decorator or a static field"
        )
    for node in (n for each in moved.nodes for n in descendants(each, *_OUTER)):
        kind, text = node.kind(), node.text()
        if kind == "this" and _is_of_module(node, inner):
            add_obstacle(node, "`this` depends on how it is called")
        elif kind == "meta_property" and text == "import.meta":
            add_obstacle(node, "import.meta is that of its module")
        elif kind == "call_expression" and node.field("function").text() in _CALLS:
            called = node.field("function").text()
            add_obstacle(node, f"{called}(...) is looked up from its file")
        elif kind == "call_expression" and node.field("function").text() == "eval":
            add_obstacle(node, "eval may use any name of its module")
    return found


_CALLS = ("import", "require", "require.resolve")
_OUTER = ("this", "meta_property", "call_expression")
_FUNCTIONS = name_set("""
    function_declaration generator_function_declaration function_expression generator_function
    method_definition
""")


def _is_of_module(node: Any, top: Any) -> bool:
    """Whether `this` is not that of a class, or of a function within."""
    while (node := node.parent()) is not None and node != top:
        kind = node.kind()
        if kind == "class_body":
            return False
        if kind in _FUNCTIONS:
            around = node.parent()
            is_value = around is not None and around.kind() == "variable_declarator"
            return is_value and bool(around.parent() == top)
    return True


def _write(
    rewrite: Rewrite,
    module: Module,
    there: Module | None,
    target: str,
    moved: MovedDefinition,
    needs: RequiredImports,
) -> None:
    """The definition in its new place, and gone from the old one."""
    text = module.text
    end = moved.end + (text[moved.end : moved.end + 1] == ";")
    body = text[moved.start : end]
    if not moved.exported:
        for node in reversed(moved.nodes):
            at = node.range().start.index - moved.start
            body = f"{body[:at]}export {body[at:]}"
    imports = needs.written()
    if there is None:
        head = f"{imports}\n" if imports else ""
        rewrite.create(target, f"{head}{body}\n")
    else:
        if imports:
            at = import_place(there)
            rewrite.replace(target, Splice(at, at, imports))
        size = len(there.text)
        gap = "" if not there.text.strip() else "\n" if there.text.endswith("\n") else "\n\n"
        rewrite.replace(target, Splice(size, size, f"{gap}{body}\n"))
    start, stop = text.rfind("\n", 0, moved.start) + 1, end
    alone = not text[start : moved.start].strip()
    line_end = text.find("\n", stop)
    line_end = len(text) if line_end < 0 else line_end
    if alone and not text[stop:line_end].strip():
        stop = min(line_end + 1, len(text))
        while text[stop : stop + 1] == "\n":
            stop += 1
        if stop >= len(text):
            while text[max(start - 2, 0) : start] == "\n\n":
                start -= 1
        rewrite.replace(module.path, Splice(start, stop, ""))
    else:
        rewrite.replace(module.path, Splice(moved.start, end, ""))


@dataclass(eq=False)
class _Move:
    """What both sides of a move know: the source, and the target, which may not exist yet."""

    rewrite: Rewrite
    program: ScriptProgram
    module: Module
    there: Module | None
    target: str
    moved: MovedDefinition

    def __post_init__(self) -> None:
        self.specifiers = SpecifierWriter(self.program, self.module.path)
        self._obstacles: list[str] = []

    def _refuse(self, module: Module, start: int, why: str) -> None:
        display = self.program.project.display(module.path)
        self._obstacles.append(f"{display}:{module.line_at(start)}: {why}.")


# What the moved code needs in its new module


class RequiredImports(_Move):
    """The imports that a target gets.

    Attributes:
        edges: which file will load which.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.edges: list[tuple[str, str]] = []
        self._lines: dict[str, str] = {}

    def find(self) -> list[str]:
        """Look at each name that the code uses; what stands in the way."""
        parts = {p.local: (s, p) for s in statements(self.module) for p in s.parts}
        for use in self._outer():
            binding = use.binding
            if binding is None:
                self._free(use)
            elif use.name in self._lines:
                continue
            elif is_write(use.node):
                self._refuse_use(
                    use, f"it changes {use.name} of its module, which an import cannot"
                )
            elif binding.source is not None and use.name in parts:
                self._import(use, *parts[use.name])
            elif binding.what == "import":
                self._refuse_use(use, f"{use.name} is an import of a kind that is not moved")
            else:
                self._own(use, binding)
        return self._obstacles

    def _outer(self) -> list[Occurrence]:
        """Uses of what is bound outside of the moved code."""
        found = []
        for use in self.module.uses:
            if not self.moved.holds(use.token.start):
                continue
            outer = use.binding is None or use.binding.scope is self.module.top
            if outer and (use.name != self.moved.name or use.binding is None):
                found.append(use)
        return found

    def _refuse_use(self, use: Occurrence, why: str) -> None:
        self._refuse(self.module, use.token.start, why)

    def _free(self, use: Occurrence) -> None:
        if self.there is not None and use.name in self.there.top.names:
            self._refuse_use(
                use, f"{use.name} is the global one here, but something else in the target"
            )

    def _import(self, use: Occurrence, statement: ImportStatement, part: ImportedName) -> None:
        program = self.program
        target = program.resolve(self.module.path, statement.specifier)
        if target == self.target:
            own = self.there is not None and part.there == part.local
            export = self.there.exports.get(part.there) if self.there is not None else None
            local = export is not None and (
                export.binding is not None or export.source == ("", part.there)
            )
            if not own or not local:
                self._refuse_use(use, f"{use.name} is the target's own, under another name")
            self._lines[use.name] = ""
            return
        typed = statement.typed or part.typed
        if self._has_same(part.local, target, statement.specifier, part.there, typed=typed):
            self._lines[use.name] = ""
            return
        if self._is_taken(use):
            return
        specifier = statement.specifier
        if specifier.startswith("."):
            if target is None:
                self._refuse_use(use, f"{specifier} is not found, so that its new path is unknown")
                return
            specifier = self.specifiers.name(self.target, target, specifier, target)
        if target is not None and not typed and program.is_script(target):
            self.edges.append((self.target, target))
        self._add(use.name, part.text, specifier, typed=statement.typed, kind=part.there)

    def _has_same(
        self, name: str, target: str | None, specifier: str, there: str, *, typed: bool
    ) -> bool:
        """Whether the target imports the same thing under the same name."""
        if self.there is None:
            return False
        for statement in statements(self.there):
            for part in statement.parts:
                if part.local != name or part.there != there:
                    continue
                if (statement.typed or part.typed) and not typed:
                    continue
                found = self.program.resolve(self.target, statement.specifier)
                if found == target and (target is not None or statement.specifier == specifier):
                    return True
        return False

    def _is_taken(self, use: Occurrence) -> bool:
        there = self.there
        if there is not None and (
            use.name in there.top.names
            or any(u.name == use.name and u.binding is None for u in there.uses)
        ):
            self._refuse_use(use, f"{use.name} is something else in the target")
            return True
        return False

    def _own(self, use: Occurrence, binding: Binding) -> None:
        """A name of the source itself."""
        export = self.module.exports.get(use.name)
        offered = export is not None and (
            export.binding is binding or export.source == ("", use.name)
        )
        if not offered:
            self._refuse_use(
                use,
                f"it needs {use.name}, which its module keeps to itself: export {use.name}, "
                "or move it too",
            )
            return
        typed = binding.space == TYPE
        if self._has_same(use.name, self.module.path, "", use.name, typed=typed):
            self._lines[use.name] = ""
            return
        if self._is_taken(use):
            return
        specifier = self.specifiers.name(self.target, self.module.path)
        if not typed:
            self.edges.append((self.target, self.module.path))
        self._add(use.name, use.name, specifier, typed=typed, kind=use.name)

    def _add(self, name: str, text: str, specifier: str, *, typed: bool, kind: str) -> None:
        model = self.there or self.module
        quote = quote_of(model if model.esm else self.module)
        end = ";" if ends_plainly(self.module) else ""
        word = "import type" if typed else "import"
        names = text if kind in ("default", "*") and "{" not in text else f"{{ {text} }}"
        if kind == "default" and text.startswith("default"):
            names = f"{{ {text} }}"
        if text.split() and "require" in text and kind == "*" and " as " not in text:
            self._lines[name] = f"import {text}{end}\n"
            return
        self._lines[name] = f"{word} {names} from {quote}{specifier}{quote}{end}\n"

    def written(self) -> str:
        """The imports as text, a line each; those of one module together."""
        return "".join(sorted({line for line in self._lines.values() if line}))


# Who uses the moved code, and what the target means to others


@dataclass(frozen=True, slots=True)
class ImportRedirect:
    """An import that is to name the target."""

    module: Module
    statement: ImportStatement
    parts: tuple[ImportedName, ...]


class ImporterUpdate(_Move):
    """The imports of what is moved.

    Attributes:
        remains: whether the source itself uses it.
        reexports: whether the source has to go on exporting it.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.loading = LoadEffects(self.program)
        self.redirects: list[ImportRedirect] = []
        self.importers: set[str] = set()
        self.notes: list[str] = []
        self.remains = False
        self.reexports = False

    def find(self) -> list[str]:
        """Find them; what stands in the way."""
        self._uses_in_source()
        self._in_target()
        if self.moved.exported:
            for path in sorted(self.program.importers(self.module.path)):
                if path != self.module.path:
                    self._user(self.program.module(path))
            self.reexports = self.reexports or self._has_unseen_users()
        return self._obstacles

    def _uses_in_source(self) -> None:
        binding = self.module.top.names[self.moved.name]
        for use in self.module.uses:
            if use.binding is binding and not self.moved.holds(use.token.start):
                self.remains = True
                parent = use.node.parent()
                out = parent is not None and parent.kind() == "export_specifier"
                if out and self.moved.typed:
                    self._refuse(
                        self.module, use.token.start, "a list exports it: export it itself"
                    )

    def _in_target(self) -> None:
        there, name = self.there, self.moved.name
        if there is None:
            return
        binding = there.top.names.get(name)
        if binding is not None:
            specifier, under = binding.source or ("", "")
            same = self.program.resolve(there.path, specifier) == self.module.path
            if not (specifier and same and under == name):
                self._refuse(there, binding.start, f"{name} is there already")
        elif name in there.exports:
            self._refuse(there, 0, f"it exports a {name} already")
        for use in there.uses:
            if use.name == name and use.binding is None:
                self._refuse(there, use.token.start, f"{name} means the global one here")
        for path in sorted(self.program.importers(self.target)):
            self._of_target(self.program.module(path))

    def _of_target(self, other: Module) -> None:
        """Whoever sees all names of the target would see a new one."""
        program, name = self.program, self.moved.name
        for specifier in other.stars:
            if program.resolve(other.path, specifier) != self.target:
                continue
            slot = program.slot(other.path, name)
            if slot is not None and slot != (self.module.path, name):
                self._refuse(other, 0, f"it passes on another {name} beside all of the target")
        for use in other.uses:
            source = use.binding.source if use.binding is not None else None
            if source is None or source[1] != "*" or is_plain(use.node):
                continue
            if program.resolve(other.path, source[0]) == self.target:
                self._refuse(other, use.token.start, "the names of the target are seen as a whole")

    def _user(self, other: Module) -> None:
        program, name = self.program, self.moved.name
        if other.errors:
            self._refuse(other, other.errors[0], "a syntax error: the file cannot be understood")
            return
        for specifier, start in other.mentions:
            if program.resolve(other.path, specifier) == self.module.path:
                self._refuse(other, start, "the module is named in a call, as for a mock")
        for statement in statements(other):
            if program.resolve(other.path, statement.specifier) != self.module.path:
                continue
            parts = tuple(part for part in statement.parts if part.there == name)
            spaces = [part.local for part in statement.parts if part.there == "*"]
            self.reexports = self.reexports or any(
                self._is_used_by(other, local) for local in spaces
            )
            if not parts:
                continue
            if statement.commented:
                self._refuse(other, statement.span[0], "its import has comments between the names")
            if other is self.there and any(part.local != name for part in parts):
                self._refuse(other, statement.span[0], "it is imported under another name there")
            self.redirects.append(ImportRedirect(other, statement, parts))
        passed = [export.source for export in other.exports.values() if export.source]
        specifiers = [*other.stars, *(specifier for _, _, specifier in other.calls)]
        specifiers += [specifier for specifier, there in passed if there in (name, "*")]
        found = {program.resolve(other.path, specifier) for specifier in specifiers if specifier}
        self.reexports = self.reexports or self.module.path in found

    def _is_used_by(self, other: Module, local: str) -> bool:
        """Whether the moved name is read from the module object, or may be."""
        binding = other.top.names.get(local)
        for use in other.uses:
            if use.binding is not binding:
                continue
            parent = use.node.parent()
            if not is_plain(use.node) or parent is None:
                return True
            last = parent.field("property") or parent.field("index") or parent
            if word_pattern(self.moved.name).search(last.text()):
                return True
        return False

    def _has_unseen_users(self) -> bool:
        """Whether somebody may use it who is not seen."""
        program, path = self.program, self.module.path
        mentioned, closed = program.project.mentioning(self.moved.name, SCRIPTS)
        if closed or any(language_of(each) not in SCRIPTS for each in mentioned):
            return True
        for each in mentioned:
            for specifier in program.bare(each):
                if program.specifiers.may_mean(each, specifier, {path}):
                    return True
        for folder in folders_around(path):
            with suppress(ToolError):
                file = program.project.scope.file(join(folder, "package.json"))
                text = file.read_bytes(200_000).decode("utf-8", "replace")
                stem = SCRIPT_ENDING.sub("", path.removeprefix(f"{folder}/" if folder else ""))
                return stem in text or stem.removeprefix("src/") in text.replace("dist/", "")
        return False

    # Cycles, and what loading does

    def load_order_changes(self, edges: list[tuple[str, str]]) -> list[str]:
        """What new imports would change when the program is loaded."""
        source, target = self.module.path, self.target
        display = self.program.project.display
        new = list(edges)
        if (self.remains or self._is_reexported()) and not self.moved.typed:
            new.append((source, target))
        new += [
            (each.module.path, target)
            for each in self.redirects
            if each.module.path != target and not each.statement.typed and not self.moved.typed
        ]
        found = []
        cycle = import_cycle(new, self._loads)
        if cycle:
            route = " -> ".join(display(path) for path in cycle)
            found.append(f"{display(cycle[0])}:1: it would make a cycle of imports: {route}.")
        known = self.loading.imports(target) if self.there is not None else set()
        for start, end in dict.fromkeys(new):
            fresh = end == target and self.there is not None
            fresh = fresh and target not in self.loading.imports(start)
            fresh = fresh or (start == target and self.there is not None and end not in known)
            noise = self.loading.first_effect(end) if fresh else ""
            if noise:
                found.append(
                    f"{display(noise)}:1: loading it does something, and {display(start)} would "
                    "load it anew or earlier."
                )
        return found

    def _is_reexported(self) -> bool:
        return self.reexports and self.moved.exported

    def _loads(self, path: str) -> set[str]:
        """The files that a file loads, as it will be."""
        if path == self.target and self.there is None:
            return set()
        found = set(self.loading.imports(path))
        if path == self.target and self.there is not None:
            rest = [
                s
                for s in statements(self.there)
                if self.program.resolve(path, s.specifier) == self.module.path
                and any(part.there != self.moved.name for part in s.parts)
            ]
            if not rest and not any(self.module.path == b for b in self._others(path)):
                found.discard(self.module.path)
        return found

    def _others(self, path: str) -> list[str]:
        """What a file loads by other means than an import of names."""
        module = self.program.module(path)
        specifier = [*module.stars, *(specifier for _, _, specifier in module.calls)]
        specifier += [e.source[0] for e in module.exports.values() if e.source and e.source[0]]
        plain = {specifier_of(node) for node in named(module.root)} - {""}
        plain -= {statement.specifier for statement in statements(module)}
        found = [self.program.resolve(path, each) for each in [*specifier, *plain]]
        return [each for each in found if each]

    # The changes

    def write(self) -> None:
        """Let each import name the target."""
        for each in self.redirects:
            self._redirect(each)
        if not (self.remains or self._is_reexported()):
            return
        module, name = self.module, self.moved.name
        specifier = self.specifiers.name(module.path, self.target)
        quote, end = quote_of(module), ";" if ends_plainly(module) else ""
        typed = " type" if self.moved.typed else ""
        lines = []
        if self.remains:
            lines.append(f"import{typed} {{ {name} }} from {quote}{specifier}{quote}{end}\n")
        if self._is_reexported():
            lines.append(f"export{typed} {{ {name} }} from {quote}{specifier}{quote}{end}\n")
            self.notes.append(f"{self.program.project.display(module.path)} still exports {name}.")
        at = import_place(module)
        if self.moved.start <= at < self.moved.end:
            at = self.moved.start
        self.rewrite.replace(module.path, Splice(at, at, "".join(lines)))

    def _redirect(self, each: ImportRedirect) -> None:
        other, statement = each.module, each.statement
        path, text = other.path, other.text
        remaining = [part for part in statement.parts if part not in each.parts]
        start, end = statement.span
        lines = [statement.written(remaining)] if remaining else []
        quiet = (
            statement.typed or self.moved.typed or not self.loading.first_effect(self.module.path)
        )
        if not remaining and not quiet:
            source = statement.node.field("source").range()
            lines.append(f"import {text[source.start.index : end]}")
        if path != self.target:
            self.importers.add(self.program.project.display(path))
            specifier = self.specifiers.name(
                path, self.target, statement.specifier, self.module.path
            )
            quote = statement.node.field("source").text()[0]
            tail = ";" if text[start:end].endswith(";") else ""
            word = "import type" if statement.typed else "import"
            names = ", ".join(part.text for part in each.parts)
            lines.append(f"{word} {{ {names} }} from {quote}{specifier}{quote}{tail}")
        if not lines and text[end : end + 1] == "\n":
            end += 1
        self.rewrite.replace(path, Splice(start, end, "\n".join(lines)))
