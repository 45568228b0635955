"""What moved code of JavaScript or TypeScript needs in its new module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.code.javascript.imports import (
    Part,
    Specifiers,
    Statement,
    ends_plainly,
    quote_of,
    statements,
)
from toolcrib.code.javascript.model import TYPE, Binding, Module, Use
from toolcrib.code.javascript.program import Program
from toolcrib.code.javascript.variables import is_write

if TYPE_CHECKING:
    from toolcrib.code.javascript.move_definition import Moved


class Needs:
    """The imports that a target gets.

    Attributes:
        edges: which file will load which.
    """

    def __init__(
        self, program: Program, module: Module, there: Module | None, target: str, moved: Moved
    ) -> None:
        self.program = program
        self.module = module
        self.there = there
        self.target = target
        self.moved = moved
        self.specifiers = Specifiers(program, module.path)
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

    def _outer(self) -> list[Use]:
        """Uses of what is bound outside of the moved code."""
        found = []
        for use in self.module.uses:
            if not self.moved.holds(use.token.start):
                continue
            outer = use.binding is None or use.binding.scope is self.module.top
            if outer and (use.name != self.moved.name or use.binding is None):
                found.append(use)
        return found

    def _says(self, use: Use, why: str) -> None:
        line = 1 + self.module.text.count("\n", 0, use.token.start)
        self._against.append(f"{self.program.project.display(self.module.path)}:{line}: {why}.")

    def _free(self, use: Use) -> None:
        if self.there is not None and use.name in self.there.top.names:
            self._says(use, f"{use.name} is the global one here, but something else in the target")

    def _import(self, use: Use, statement: Statement, part: Part) -> None:
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

    def _is_taken(self, use: Use) -> bool:
        there = self.there
        if there is not None and (
            use.name in there.top.names
            or any(u.name == use.name and u.binding is None for u in there.uses)
        ):
            self._says(use, f"{use.name} is something else in the target")
            return True
        return False

    def _own(self, use: Use, binding: Binding) -> None:
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
