"""Who uses what is moved to another module, and what that module means to others."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from posixpath import dirname, join
from typing import TYPE_CHECKING

from toolcrib.code.javascript.effects import Loading
from toolcrib.code.javascript.imports import (
    ENDING,
    Part,
    Specifiers,
    Statement,
    ends_plainly,
    import_place,
    quote_of,
    said_of,
    statements,
)
from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.names import named
from toolcrib.code.javascript.obstacles import is_plain
from toolcrib.code.javascript.program import Program
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.rewrite import Rewrite
from toolcrib.core.errors import ToolError
from toolcrib.files.content.faithful import Splice

if TYPE_CHECKING:
    from toolcrib.code.javascript.move_definition import Moved


@dataclass(frozen=True, slots=True)
class Redirect:
    """An import that is to name the target."""

    module: Module
    statement: Statement
    parts: tuple[Part, ...]


class Users:
    """The imports of what is moved."""

    def __init__(
        self,
        rewrite: Rewrite,
        program: Program,
        module: Module,
        there: Module | None,
        target: str,
        moved: Moved,
    ) -> None:
        self.rewrite = rewrite
        self.program = program
        self.module = module
        self.there = there
        self.target = target
        self.moved = moved
        self.loading = Loading(program)
        self.specifiers = Specifiers(program, module.path)
        self.redirects: list[Redirect] = []
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
            self.redirects.append(Redirect(other, statement, parts))
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

    def _redirect(self, each: Redirect) -> None:
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
