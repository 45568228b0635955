"""The bindings and exports that are one symbol, with every place that names it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolcrib.code.javascript.model import BOTH, Binding, Member, Module, Scope, Token, Use
from toolcrib.code.javascript.names import named
from toolcrib.code.javascript.parsed_file import resolve
from toolcrib.code.javascript.program import Program, Slot

WHOLE = ("module.exports", "exports")


@dataclass(eq=False, slots=True)
class Group:
    """One symbol.

    Attributes:
        places: for each file, the tokens by where they start.
        scripts: the files that mention the name, read.
        kin: for a member of a class, that class and its relatives.
    """

    name: str
    bindings: dict[int, tuple[Module, Binding]] = field(default_factory=dict)
    slots: set[Slot] = field(default_factory=set)
    places: dict[str, dict[int, Token]] = field(default_factory=dict)
    scripts: list[Module] = field(default_factory=list)
    kin: list[Scope] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)

    def add(self, path: str, token: Token) -> None:
        """Note a place; where it is named by both sides of a short form, it stays short."""
        file = self.places.setdefault(path, {})
        known = file.get(token.start)
        if known is not None and known != token:
            order = ("definition", "export", "import", "string", "reference")
            kind = min(known.kind, token.kind, key=order.index)
            if known.before or known.after or token.before or token.after:
                token = Token(token.start, token.end, kind)
        file[token.start] = token

    def says(self, program: Program, module: Module, start: int, why: str) -> None:
        """Note an obstacle."""
        line = 1 + module.text.count("\n", 0, start)
        told = f"{program.project.display(module.path)}:{line}: {why}"
        if told not in self.obstacles:
            self.obstacles.append(told)


class Gathering:
    """Grows a group from one binding or export. It blocks."""

    def __init__(self, program: Program, name: str, scripts: list[Module]) -> None:
        self.program = program
        self.group = Group(name, scripts=scripts)
        self._left: list[Any] = []

    def gather(self, seed: tuple[Module, Binding] | Slot) -> Group:
        """The whole group, its places and what stands in the way."""
        self._left = [seed]
        while self._left:
            one = self._left.pop()
            if isinstance(one[0], str):
                self._take_slot(one)
            else:
                self._take_binding(*one)
        for module in self.group.scripts:
            self._collect(module)
        return self.group

    def _take_binding(self, module: Module, binding: Binding) -> None:
        group, name = self.group, self.group.name
        if id(binding) in group.bindings:
            return
        group.bindings[id(binding)] = module, binding
        if binding.scope is module.top and name in module.exports:
            export = module.exports[name]
            if export.binding is binding or export.source == ("", name):
                self._left.append((module.path, name))
        if binding.source is not None and binding.source[1] == name:
            self._link(module, binding.source[0], name)
        starts = {token.start for token in binding.tokens}
        for member in module.members:
            if member.role == "pattern" and member.token.start in starts and member.name == name:
                meant = self.program.meant(module, member.base, member.scope)
                if meant is not None and meant.binding is None:
                    slot = self.program.slot(meant.path, name)
                    if slot is not None:
                        self._left.append(slot)

    def _link(self, module: Module, said: str, name: str) -> None:
        program = self.program
        target = program.specifiers.resolve(module.path, said)
        slot = program.slot(target, name)
        if slot is not None:
            self._left.append(slot)
        elif target is not None and program.is_script(target):
            start = module.text.find(said)
            self.group.says(program, module, start, f"{said} is not seen to export {name}")

    def _take_slot(self, slot: Slot) -> None:
        group, name, program = self.group, self.group.name, self.program
        if slot in group.slots:
            return
        group.slots.add(slot)
        module = program.module(slot[0])
        export = module.exports[name]
        if export.binding is not None:
            self._left.append((module, export.binding))
        elif export.source is not None:
            said, there = export.source
            if not said and there == name:
                binding = resolve(module.top, there, BOTH)
                if binding is not None:
                    self._left.append((module, binding))
            elif said and there == name:
                self._link(module, said, name)
        self._twins(slot)
        for other in group.scripts:
            self._users(other, slot)

    def _twins(self, slot: Slot) -> None:
        """The declaration file of a script is the same module."""
        stem = re.sub(r"(\.d)?\.[cm]?[jt]sx?$", "", slot[0])
        for ending in (".js", ".d.ts", ".mjs", ".cjs", ".d.mts", ".d.cts", ".ts"):
            other = stem + ending
            if other != slot[0] and other in self.program.project:
                found = self.program.slot(other, slot[1])
                if found is not None and found[0] == other and ".d." in other + slot[0]:
                    self._left.append(found)

    def _users(self, module: Module, slot: Slot) -> None:
        program, name = self.program, self.group.name
        for binding in module.bindings:
            if binding.source is not None and binding.source[1] == name == binding.name:
                target = program.specifiers.resolve(module.path, binding.source[0])
                if program.slot(target, name) == slot:
                    self._left.append((module, binding))
        export = module.exports.get(name)
        if export is not None and export.source is not None and export.source[1] == name:
            said = export.source[0]
            if said and program.slot(program.specifiers.resolve(module.path, said), name) == slot:
                self._left.append((module.path, name))
        self._taken_apart(module, slot)

    def _taken_apart(self, module: Module, slot: Slot) -> None:
        """`const { name } = require(...)`."""
        program, name = self.program, self.group.name
        for member in module.members:
            if member.role != "pattern" or member.name != name or member.base is None:
                continue
            meant = program.meant(module, member.base, member.scope)
            if meant is None or meant.binding is not None:
                continue
            if program.slot(meant.path, name) == slot:
                start = member.token.start
                for binding in module.bindings:
                    if any(token.start == start for token in binding.tokens):
                        self._left.append((module, binding))

    # Places

    def _collect(self, module: Module) -> None:
        group, name = self.group, self.group.name
        for held, binding in list(group.bindings.values()):
            if held is module:
                for token in binding.tokens:
                    group.add(module.path, token)
        for use in module.uses:
            if use.name == name and use.binding and id(use.binding) in group.bindings:
                self._used(module, use)
        export = module.exports.get(name)
        if (module.path, name) in group.slots and export is not None:
            self._offered(module, export.tokens, export.source)
        if group.slots:
            self._named_there(module)

    def _used(self, module: Module, use: Use) -> None:
        group, token = self.group, use.token
        if token.after and (module.path, group.name) in group.slots:
            token = Token(token.start, token.end, "export")
        group.add(module.path, token)
        if any(scope.dynamic == "with" for scope in use.scope.chain()):
            group.says(self.program, module, token.start, "it stands in a with statement")
        parent = use.node.parent()
        if parent is not None and parent.kind() == "member_expression":
            parts = named(parent)
            value = use.binding.value if use.binding else None
            runs = value is not None and ("function" in value.kind() or "class" in value.kind())
            if parts[0] == use.node and parts[-1].text() == "name" and runs:
                group.says(
                    self.program, module, token.start, f"{group.name}.name is its name as text"
                )

    def _offered(self, module: Module, tokens: list[Token], source: tuple[str, str] | None) -> None:
        group, name = self.group, self.group.name
        inside = source is not None and source[0] and source[1] == name
        if inside and source is not None:
            target = self.program.specifiers.resolve(module.path, source[0])
            if self.program.slot(target, name) not in group.slots:
                tokens = [Token(t.start, t.end, t.kind, f"{name} as ") for t in tokens]
        for token in tokens:
            # It may be the short form of a use too, and then stays short.
            file = group.places.setdefault(module.path, {})
            short = token.start in file
            file[token.start] = Token(token.start, token.end, "export") if short else token

    def _named_there(self, module: Module) -> None:
        group, name = self.group, self.group.name
        for one in module.imported:
            if one.name == name and self._leads_in(module, one.module):
                group.add(module.path, one.token)
        file = group.places.setdefault(module.path, {})
        for binding in module.bindings:
            same = binding.source is not None and binding.source[1] == name == binding.name
            if same and binding.source and self._leads_in(module, binding.source[0]):
                for token in binding.tokens:
                    file[token.start] = Token(token.start, token.end, "import")
        for member in module.members:
            if member.name == name and member.base is not None:
                self._member_there(module, member)
        if not file:
            del group.places[module.path]

    def _member_there(self, module: Module, member: Member) -> None:
        program, group = self.program, self.group
        if self._is_own(module, member.base, member.scope):
            group.add(module.path, member.token)
            return
        meant = program.meant(module, member.base, member.scope)
        if meant is None or meant.binding is not None:
            return
        if program.slot(meant.path, member.name) in group.slots:
            self._behind_dot(module, member)

    def _behind_dot(self, module: Module, member: Member) -> None:
        file, token = self.group.places[module.path], member.token
        after = ""
        if token.start not in file and member.role == "pattern" and _is_short(module, token):
            after = f": {member.name}"
        file[token.start] = Token(token.start, token.end, token.kind, "", after)

    def _leads_in(self, module: Module, said: str) -> bool:
        target = self.program.specifiers.resolve(module.path, said)
        return self.program.slot(target, self.group.name) in self.group.slots

    def _is_own(self, module: Module, base: Any, scope: Scope) -> bool:
        own = (module.path, self.group.name) in self.group.slots
        return (
            own and base.text() in WHOLE and resolve(scope, base.text().split(".")[0], BOTH) is None
        )


def _is_short(module: Module, token: Token) -> bool:
    return re.match(r"\s*(?![\s:])", module.text[token.end :]) is not None


def is_shared(group: Group) -> bool:
    """Whether a symbol is reached behind the name of an enum or a namespace."""
    return any(
        b.exposed and b.scope.kind in ("enum", "namespace") for _, b in group.bindings.values()
    )
