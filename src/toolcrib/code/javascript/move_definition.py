"""A function, class or type of a module of JavaScript or TypeScript, moved to another module."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from posixpath import dirname, join
from typing import Any

from toolcrib.code.javascript.extract_analysis import is_write
from toolcrib.code.javascript.group import is_plain
from toolcrib.code.javascript.imports import (
    ENDING,
    ImportedName,
    ImportStatement,
    LoadEffects,
    SpecifierWriter,
    ends_plainly,
    import_place,
    is_silent,
    quote_of,
    said_of,
    statements,
)
from toolcrib.code.javascript.model import TYPE, Binding, Module, NameUse
from toolcrib.code.javascript.program import ScriptProgram
from toolcrib.code.javascript.scopes import descendants, named, read
from toolcrib.code.languages import SCRIPTS, language_of, name_set
from toolcrib.code.rewrite import Rewrite, RewriteSummary
from toolcrib.core.errors import BadInput, Conflict, NotFound, ToolError, UnsupportedContent
from toolcrib.files.content.faithful import Splice

MOVED = name_set("""
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


def move(rewrite: Rewrite, path: str, name: str, target: str) -> RewriteSummary:
    """Plan to move something of the top of a module to another file, which need not exist.

    Raises:
        BadInput: the target is the same file, or of another language.
        NotFound: there is nothing of that name at the top of the file.
        Conflict: it would change what the program does.
        UnsupportedContent: one of the files is no ES module, or has a syntax error.
    """
    program = ScriptProgram(rewrite.project)
    shown = rewrite.project.display
    if target == path or language_of(target) not in SCRIPTS:
        raise BadInput(
            "target is the same file, or no file of JavaScript or TypeScript.",
            hint="Name another file.",
        )
    module = program.module(path)
    there = program.module(target) if target in rewrite.project else None
    _need_modules(rewrite, module, there, target)
    moved = _definition(rewrite, module, name)
    needs = RequiredImports(program, module, there, target, moved)
    users = ImporterUpdate(rewrite, program, module, there, target, moved)
    against = [*_about(program, module, moved), *needs.find(), *users.find()]
    against += users.orders(needs.edges)
    if against:
        against = list(dict.fromkeys(against))
        raise Conflict(
            f"{name} is not moved; this stands in the way:\n" + "\n".join(against[:20]),
            hint="Resolve these lines first, or move what it depends on with it.",
            obstacles=against[:100],
        )
    users.write()
    _write(rewrite, module, there, target, moved, needs)
    _need_valid(rewrite, path, target)
    data = {"name": name, "target": shown(target), "importers": sorted(users.importers)}
    return RewriteSummary(
        f"move {name} from {shown(path)} to {shown(target)}", data, tuple(users.notes)
    )


def _need_modules(rewrite: Rewrite, module: Module, there: Module | None, target: str) -> None:
    shown = rewrite.project.display
    for each in (module, there):
        if each is None:
            continue
        if each.errors:
            raise UnsupportedContent(
                f"{shown(each.path)} has a syntax error: it cannot be understood.",
                hint="Mend the file first.",
            )
        empty = each is there and not named(each.root)
        if each.common or each.whole is not None or not (each.esm or empty):
            raise UnsupportedContent(
                f"{shown(each.path)} is no ES module (it has no import or export, or it is "
                "CommonJS).",
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
    shown = rewrite.project.display(module.path)
    found: list[tuple[Any, Any]] = []
    for node in named(module.root):
        inner = node.field("declaration") if node.kind() == "export_statement" else node
        if inner is not None and name in _names(inner):
            found.append((node, inner))
    binding = module.top.names.get(name)
    if not found or binding is None:
        raise NotFound(
            f"{shown} has no {name} at its top level.",
            hint="Functions, classes and types of a module are moved, not methods.",
        )
    kinds = {inner.kind() for _, inner in found}
    overloaded = kinds == {"function_signature", "function_declaration"} and all(
        inner.kind() == "function_signature" and _follows(outer, found[number + 1][0])
        for number, (outer, inner) in enumerate(found[:-1])
    )
    if len(binding.tokens) != len(found) or (len(found) > 1 and not overloaded):
        raise Conflict(
            f"{name} is defined several times in {shown}.",
            hint="Leave one definition, then move it.",
        )
    outer, inner = found[-1]
    words = {child.text() for child in outer.children()}
    if "default" in words:
        raise Conflict(
            f"{name} is the default export of {shown}.", hint="Export it by its name first."
        )
    if inner.kind() not in MOVED or not _is_whole(inner):
        raise NotFound(
            f"{name} is no function, class or type of its own in {shown}.",
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

    def says(node: Any, why: str) -> None:
        line = int(node.range().start.line) + 1
        found.append(f"{program.project.display(module.path)}:{line}: {why}.")

    last = moved.nodes[-1]
    inner = last.field("declaration") if last.kind() == "export_statement" else last
    decorated = any(child.kind() == "decorator" for child in last.children())
    if decorated or not is_silent(inner):
        says(last, "it does something when it is defined, such as a decorator or a static field")
    for node in (n for each in moved.nodes for n in descendants(each, *_OUTER)):
        kind, text = node.kind(), node.text()
        if kind == "this" and _is_of_module(node, inner):
            says(node, "`this` depends on how it is called")
        elif kind == "meta_property" and text == "import.meta":
            says(node, "import.meta is that of its module")
        elif kind == "call_expression" and node.field("function").text() in _CALLS:
            called = node.field("function").text()
            says(node, f"{called}(...) is looked up from its file")
        elif kind == "call_expression" and node.field("function").text() == "eval":
            says(node, "eval may use any name of its module")
    return found


_CALLS = ("import", "require", "require.resolve")
_OUTER = ("this", "meta_property", "call_expression")
_FUNCTIONS = (
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "method_definition",
)


def _is_of_module(node: Any, top: Any) -> bool:
    """Whether `this` is not that of a class, or of a function within."""
    while (node := node.parent()) is not None and node != top:
        kind = node.kind()
        if kind == "class_body":
            return False
        if kind in _FUNCTIONS:
            around = node.parent()
            return (
                around is not None
                and around.kind() == "variable_declarator"
                and (around.parent() == top)
            )
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
        at = moved.nodes[-1].range().start.index - moved.start
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


def _need_valid(rewrite: Rewrite, *paths: str) -> None:
    """See that the new texts are understood as the old ones were."""
    changed = {*rewrite.splices, *rewrite.created}
    for path in sorted({*paths, *changed}):
        if path in changed and read(path, rewrite.after(path)).errors:
            raise Conflict(
                f"{rewrite.project.display(path)} would not be valid after the change.",
                hint="Name a target whose language allows all of its syntax (JSX needs .tsx).",
            )


# What moved code of JavaScript or TypeScript needs in its new module.


class RequiredImports:
    """The imports that a target gets.

    Attributes:
        edges: which file will load which.
    """

    def __init__(
        self,
        program: ScriptProgram,
        module: Module,
        there: Module | None,
        target: str,
        moved: MovedDefinition,
    ) -> None:
        self.program = program
        self.module = module
        self.there = there
        self.target = target
        self.moved = moved
        self.specifiers = SpecifierWriter(program, module.path)
        self.edges: list[tuple[str, str]] = []
        self._lines: dict[str, str] = {}
        self._against: list[str] = []

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
                self._says(use, f"it changes {use.name} of its module, which an import cannot")
            elif binding.source is not None and use.name in parts:
                self._import(use, *parts[use.name])
            elif binding.what == "import":
                self._says(use, f"{use.name} is an import of a kind that is not moved")
            else:
                self._own(use, binding)
        return self._against

    def _outer(self) -> list[NameUse]:
        """Uses of what is bound outside of the moved code."""
        found = []
        for use in self.module.uses:
            if not self.moved.holds(use.token.start):
                continue
            outer = use.binding is None or use.binding.scope is self.module.top
            if outer and (use.name != self.moved.name or use.binding is None):
                found.append(use)
        return found

    def _says(self, use: NameUse, why: str) -> None:
        line = 1 + self.module.text.count("\n", 0, use.token.start)
        self._against.append(f"{self.program.project.display(self.module.path)}:{line}: {why}.")

    def _free(self, use: NameUse) -> None:
        if self.there is not None and use.name in self.there.top.names:
            self._says(use, f"{use.name} is the global one here, but something else in the target")

    def _import(self, use: NameUse, statement: ImportStatement, part: ImportedName) -> None:
        program = self.program
        target = program.specifiers.resolve(self.module.path, statement.said)
        if target == self.target:
            own = self.there is not None and part.there == part.local
            export = self.there.exports.get(part.there) if self.there is not None else None
            local = export is not None and (
                export.binding is not None or export.source == ("", part.there)
            )
            if not own or not local:
                self._says(use, f"{use.name} is the target's own, under another name")
            self._lines[use.name] = ""
            return
        typed = statement.typed or part.typed
        if self._has_same(part.local, target, statement.said, part.there, typed=typed):
            self._lines[use.name] = ""
            return
        if self._is_taken(use):
            return
        said = statement.said
        if said.startswith("."):
            if target is None:
                self._says(use, f"{said} is not found, so that its new path is unknown")
                return
            said = self.specifiers.name(self.target, target, said, target)
        if target is not None and not typed and program.is_script(target):
            self.edges.append((self.target, target))
        self._add(use.name, part.text, said, typed=statement.typed, kind=part.there)

    def _has_same(
        self, name: str, target: str | None, said: str, there: str, *, typed: bool
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
                found = self.program.specifiers.resolve(self.target, statement.said)
                if found == target and (target is not None or statement.said == said):
                    return True
        return False

    def _is_taken(self, use: NameUse) -> bool:
        there = self.there
        if there is not None and (
            use.name in there.top.names
            or any(u.name == use.name and u.binding is None for u in there.uses)
        ):
            self._says(use, f"{use.name} is something else in the target")
            return True
        return False

    def _own(self, use: NameUse, binding: Binding) -> None:
        """A name of the source itself."""
        export = self.module.exports.get(use.name)
        offered = export is not None and (
            export.binding is binding or export.source == ("", use.name)
        )
        if not offered:
            self._says(
                use,
                f"it needs {use.name}, which its module keeps to itself: export {use.name}, "
                "or move it too",
            )
            return
        if self.there is not None:
            source = self.module.path
            typed = binding.space == TYPE
            if self._has_same(use.name, source, "", use.name, typed=typed):
                self._lines[use.name] = ""
                return
            if self._is_taken(use):
                return
        typed = binding.space == TYPE
        said = self.specifiers.name(self.target, self.module.path)
        if not typed:
            self.edges.append((self.target, self.module.path))
        self._add(use.name, use.name, said, typed=typed, kind=use.name)

    def _add(self, name: str, text: str, said: str, *, typed: bool, kind: str) -> None:
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
        self._lines[name] = f"{word} {names} from {quote}{said}{quote}{end}\n"

    def written(self) -> str:
        """The imports as text, a line each; those of one module together."""
        return "".join(sorted({line for line in self._lines.values() if line}))


# Who uses what is moved to another module, and what that module means to others.


@dataclass(frozen=True, slots=True)
class ImportRedirect:
    """An import that is to name the target."""

    module: Module
    statement: ImportStatement
    parts: tuple[ImportedName, ...]


class ImporterUpdate:
    """The imports of what is moved."""

    def __init__(
        self,
        rewrite: Rewrite,
        program: ScriptProgram,
        module: Module,
        there: Module | None,
        target: str,
        moved: MovedDefinition,
    ) -> None:
        self.rewrite = rewrite
        self.program = program
        self.module = module
        self.there = there
        self.target = target
        self.moved = moved
        self.loading = LoadEffects(program)
        self.specifiers = SpecifierWriter(program, module.path)
        self.redirects: list[ImportRedirect] = []
        self.importers: set[str] = set()
        self.notes: list[str] = []
        self.remains = False
        self.whole = False
        """Whether the source has to go on exporting it."""
        self._against: list[str] = []

    def find(self) -> list[str]:
        """Find them; what stands in the way."""
        self._at_home()
        self._in_target()
        if self.moved.exported:
            for path in sorted(self.program.importers(self.module.path)):
                if path != self.module.path:
                    self._user(self.program.module(path))
            self.whole = self.whole or self._unseen()
        return self._against

    def _says(self, module: Module, start: int, why: str) -> None:
        line = 1 + module.text.count("\n", 0, start)
        self._against.append(f"{self.program.project.display(module.path)}:{line}: {why}.")

    def _at_home(self) -> None:
        binding = self.module.top.names[self.moved.name]
        for use in self.module.uses:
            if use.binding is binding and not self.moved.holds(use.token.start):
                self.remains = True
                parent = use.node.parent()
                out = parent is not None and parent.kind() == "export_specifier"
                if out and self.moved.typed:
                    self._says(self.module, use.token.start, "a list exports it: export it itself")

    def _in_target(self) -> None:
        there, name = self.there, self.moved.name
        if there is None:
            return
        binding = there.top.names.get(name)
        if binding is not None:
            said, under = binding.source or ("", "")
            same = self.program.specifiers.resolve(there.path, said) == self.module.path
            if not (said and same and under == name):
                self._says(there, binding.tokens[0].start, f"{name} is there already")
        elif name in there.exports:
            self._says(there, 0, f"it exports a {name} already")
        for use in there.uses:
            if use.name == name and use.binding is None:
                self._says(there, use.token.start, f"{name} means the global one here")
        for path in sorted(self.program.importers(self.target)):
            self._of_target(self.program.module(path))

    def _of_target(self, other: Module) -> None:
        """Whoever sees all names of the target would see a new one."""
        program, name = self.program, self.moved.name
        for said in other.stars:
            if program.specifiers.resolve(other.path, said) != self.target:
                continue
            slot = program.slot(other.path, name)
            if slot is not None and slot != (self.module.path, name):
                self._says(other, 0, f"it passes on another {name} beside all of the target")
        for use in other.uses:
            source = use.binding.source if use.binding is not None else None
            if source is None or source[1] != "*" or is_plain(use.node):
                continue
            if program.specifiers.resolve(other.path, source[0]) == self.target:
                self._says(other, use.token.start, "the names of the target are seen as a whole")

    def _user(self, other: Module) -> None:
        program, name = self.program, self.moved.name
        if other.errors:
            self._says(other, other.errors[0], "a syntax error: the file cannot be understood")
            return
        for said, start in other.mentions:
            if program.specifiers.resolve(other.path, said) == self.module.path:
                self._says(other, start, "the module is named in a call, as for a mock")
        for statement in statements(other):
            if program.specifiers.resolve(other.path, statement.said) != self.module.path:
                continue
            parts = tuple(part for part in statement.parts if part.there == name)
            spaces = [part.local for part in statement.parts if part.there == "*"]
            self.whole = self.whole or any(self._is_asked(other, local) for local in spaces)
            if not parts:
                continue
            if statement.commented:
                self._says(other, statement.span[0], "its import has comments between the names")
            if other is self.there and any(part.local != name for part in parts):
                self._says(other, statement.span[0], "it is imported under another name there")
            self.redirects.append(ImportRedirect(other, statement, parts))
        passed = [export.source for export in other.exports.values() if export.source]
        saids = [*other.stars, *(said for said, there in passed if there in (name, "*"))]
        saids += [said for _, _, said in other.calls]
        resolve = program.specifiers.resolve
        if any(resolve(other.path, said) == self.module.path for said in saids if said):
            self.whole = True

    def _is_asked(self, other: Module, local: str) -> bool:
        """Whether the whole module, under a name, is asked for what moves, or for anything."""
        binding = other.top.names.get(local)
        for use in other.uses:
            if use.binding is not binding:
                continue
            parent = use.node.parent()
            if not is_plain(use.node) or parent is None:
                return True
            last = parent.field("property") or parent.field("index") or parent
            if re.search(rf"(?<![\w$]){re.escape(self.moved.name)}(?![\w$])", last.text()):
                return True
        return False

    def _unseen(self) -> bool:
        """Whether somebody may use it who is not seen."""
        program, path = self.program, self.module.path
        mentioned, closed = program.project.mentioning(self.moved.name, SCRIPTS)
        if closed or any(language_of(each) not in SCRIPTS for each in mentioned):
            return True
        for each in mentioned:
            for said in program.bare(each):
                if program.specifiers.may_mean(each, said, {path}):
                    return True
        folder = dirname(path)
        while True:
            with suppress(ToolError):
                file = program.project.scope.file(join(folder, "package.json"))
                text = file.read_bytes(200_000).decode("utf-8", "replace")
                stem = ENDING.sub("", path.removeprefix(f"{folder}/" if folder else ""))
                return stem in text or stem.removeprefix("src/") in text.replace("dist/", "")
            if not folder:
                return False
            folder = dirname(folder)

    # Cycles, and what loading does

    def orders(self, edges: list[tuple[str, str]]) -> list[str]:
        """What new imports would change when the program is loaded."""
        source, target = self.module.path, self.target
        shown = self.program.project.display
        new = list(edges)
        if (self.remains or self._is_kept()) and not self.moved.typed:
            new.append((source, target))
        new += [
            (each.module.path, target)
            for each in self.redirects
            if each.module.path != target and not each.statement.typed and not self.moved.typed
        ]
        found = []
        for start, end in dict.fromkeys(new):
            way = self._way(end, start, new)
            if way:
                told = " -> ".join(shown(path) for path in [start, *way])
                found.append(f"{shown(start)}:1: it would make a cycle of imports: {told}.")
                break
        known = self.loading.imports(target) if self.there is not None else set()
        for start, end in dict.fromkeys(new):
            fresh = end == target and self.there is not None
            fresh = fresh and target not in self.loading.imports(start)
            fresh = fresh or (start == target and self.there is not None and end not in known)
            noise = self.loading.noise(end) if fresh else ""
            if noise:
                found.append(
                    f"{shown(noise)}:1: loading it does something, and {shown(start)} would load "
                    "it anew or earlier."
                )
        return found

    def _is_kept(self) -> bool:
        return self.whole and self.moved.exported

    def _way(self, start: str, end: str, new: list[tuple[str, str]]) -> list[str]:
        before: dict[str, str] = {start: ""}
        todo = [start]
        while todo:
            path = todo.pop(0)
            if path == end:
                way = [path]
                while before[way[0]]:
                    way.insert(0, before[way[0]])
                return way
            for other in sorted({b for a, b in new if a == path} | self._loads(path)):
                if other not in before:
                    before[other] = path
                    todo.append(other)
        return []

    def _loads(self, path: str) -> set[str]:
        """The files that a file loads, as it will be."""
        if path == self.target and self.there is None:
            return set()
        found = set(self.loading.imports(path))
        if path == self.target and self.there is not None:
            rest = [
                s
                for s in statements(self.there)
                if self.program.specifiers.resolve(path, s.said) == self.module.path
                and any(part.there != self.moved.name for part in s.parts)
            ]
            if not rest and not any(self.module.path == b for b in self._others(path)):
                found.discard(self.module.path)
        return found

    def _others(self, path: str) -> list[str]:
        """What a file loads by other means than an import of names."""
        module = self.program.module(path)
        said = [*module.stars, *(said for _, _, said in module.calls)]
        said += [e.source[0] for e in module.exports.values() if e.source and e.source[0]]
        named_ = {s.said for s in statements(module)}
        plain = {line for line in self._all_said(module) if line not in named_}
        found = [self.program.specifiers.resolve(path, each) for each in [*said, *plain]]
        return [each for each in found if each]

    @staticmethod
    def _all_said(module: Module) -> set[str]:
        """What its imports and exports say."""
        return {said_of(node) for node in named(module.root)} - {""}

    # The changes

    def write(self) -> None:
        """Let each import name the target."""
        for each in self.redirects:
            self._redirect(each)
        if not (self.remains or self._is_kept()):
            return
        module, name = self.module, self.moved.name
        said = self.specifiers.name(module.path, self.target)
        quote, end = quote_of(module), ";" if ends_plainly(module) else ""
        typed = " type" if self.moved.typed else ""
        lines = []
        if self.remains:
            lines.append(f"import{typed} {{ {name} }} from {quote}{said}{quote}{end}\n")
        if self._is_kept():
            lines.append(f"export{typed} {{ {name} }} from {quote}{said}{quote}{end}\n")
            self.notes.append(f"{self.program.project.display(module.path)} still exports {name}.")
        at = import_place(module)
        if self.moved.start <= at < self.moved.end:
            at = self.moved.start
        self.rewrite.replace(module.path, Splice(at, at, "".join(lines)))

    def _redirect(self, each: ImportRedirect) -> None:
        other, statement = each.module, each.statement
        path, text = other.path, other.text
        kept = [part for part in statement.parts if part not in each.parts]
        start, end = statement.span
        lines = [statement.written(kept)] if kept else []
        quiet = statement.typed or self.moved.typed or not self.loading.noise(self.module.path)
        if not kept and not quiet:
            source = statement.node.field("source").range()
            lines.append(f"import {text[source.start.index : end]}")
        if path != self.target:
            self.importers.add(self.program.project.display(path))
            said = self.specifiers.name(path, self.target, statement.said, self.module.path)
            source_text = statement.node.field("source").text()
            quote = source_text[0]
            tail = ";" if text[start:end].endswith(";") else ""
            word = "import type" if statement.typed else "import"
            names = ", ".join(part.text for part in each.parts)
            lines.append(f"{word} {{ {names} }} from {quote}{said}{quote}{tail}")
        if not lines and text[end : end + 1] == "\n":
            end += 1
        self.rewrite.replace(path, Splice(start, end, "\n".join(lines)))
