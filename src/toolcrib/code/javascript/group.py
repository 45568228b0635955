"""One symbol of JavaScript or TypeScript: its bindings and exports in all files, and its places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolcrib.code.javascript.model import Member, Module, word_pattern
from toolcrib.code.javascript.program import TRANSPARENT_KINDS, ScriptProgram, Slot
from toolcrib.code.javascript.scopes import EXPORT_OBJECTS, literal, named
from toolcrib.code.places import NameToken, ReferenceCollector
from toolcrib.code.scopes import BOTH, Binding, LexicalScope, Occurrence
from toolcrib.files.content.outline import ending_of

_KIND_ORDER = ("definition", "export", "import", "string", "reference")


@dataclass(eq=False, slots=True)
class SymbolGroup(ReferenceCollector):
    """One symbol: what is found of it.

    Attributes:
        scripts: the files that mention the name, read.
        family: for a member of a class, that class and its relatives.
    """

    program: ScriptProgram = field(kw_only=True)
    bindings: dict[int, tuple[Module, Binding]] = field(default_factory=dict)
    slots: set[Slot] = field(default_factory=set)
    scripts: list[Module] = field(default_factory=list)
    family: list[LexicalScope] = field(default_factory=list)

    def merged(self, known: NameToken, token: NameToken) -> NameToken:
        """Where a place is named by both sides of a short form, it stays short."""
        short = known.before or known.after or token.before or token.after
        if known == token or not short:
            return token
        return token.as_kind(min(known.kind, token.kind, key=_KIND_ORDER.index))

    def add_obstacle_at(self, module: Module, start: int, why: str) -> None:
        """Note an obstacle."""
        display = self.program.project.display(module.path)
        self.add_obstacle(f"{display}:{module.line_at(start)}: {why}")


class GroupBuilder:
    """Grows a group from one binding or export. It blocks."""

    def __init__(self, program: ScriptProgram, name: str, scripts: list[Module]) -> None:
        self.program = program
        self.group = SymbolGroup(name, program=program, scripts=scripts)
        self._left: list[Any] = []

    def build(self, seed: tuple[Module, Binding] | Slot) -> SymbolGroup:
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

    def _link(self, module: Module, specifier: str, name: str) -> None:
        program = self.program
        target = program.resolve(module.path, specifier)
        slot = program.slot(target, name)
        if slot is not None:
            self._left.append(slot)
        elif target is not None and program.is_script(target):
            start = module.text.find(specifier)
            self.group.add_obstacle_at(module, start, f"{specifier} is not seen to export {name}")

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
            specifier, there = export.source
            if not specifier and there == name:
                binding = module.top.resolve(there, BOTH)
                if binding is not None:
                    self._left.append((module, binding))
            elif specifier and there == name:
                self._link(module, specifier, name)
        self._declaration_files(slot)
        for other in group.scripts:
            self._users(other, slot)

    def _declaration_files(self, slot: Slot) -> None:
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
                target = program.resolve(module.path, binding.source[0])
                if program.slot(target, name) == slot:
                    self._left.append((module, binding))
        export = module.exports.get(name)
        if export is not None and export.source is not None and export.source[1] == name:
            specifier = export.source[0]
            if specifier and program.slot(program.resolve(module.path, specifier), name) == slot:
                self._left.append((module.path, name))
        self._destructured(module, slot)

    def _destructured(self, module: Module, slot: Slot) -> None:
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
        for owner, binding in list(group.bindings.values()):
            if owner is module:
                for token in binding.tokens:
                    group.add(module, token)
        for use in module.uses:
            if use.name == name and use.binding and id(use.binding) in group.bindings:
                self._used(module, use)
        export = module.exports.get(name)
        if (module.path, name) in group.slots and export is not None:
            self._offered(module, export.tokens, export.source)
        if group.slots:
            self._named_there(module)

    def _used(self, module: Module, use: Occurrence) -> None:
        group, token = self.group, use.token
        if token.after and (module.path, group.name) in group.slots:
            token = token.as_kind("export")
        group.add(module, token)
        if any(scope.dynamic == "with" for scope in use.scope.chain()):
            group.add_obstacle_at(module, token.start, "it stands in a with statement")
        parent = use.node.parent()
        if parent is not None and parent.kind() == "member_expression":
            parts = named(parent)
            value = use.binding.value if use.binding else None
            runs = value is not None and ("function" in value.kind() or "class" in value.kind())
            if parts[0] == use.node and parts[-1].text() == "name" and runs:
                group.add_obstacle_at(module, token.start, f"{group.name}.name is its name as text")

    def _offered(
        self, module: Module, tokens: list[NameToken], source: tuple[str, str] | None
    ) -> None:
        group, name = self.group, self.group.name
        inside = source is not None and source[0] and source[1] == name
        if inside and source is not None:
            target = self.program.resolve(module.path, source[0])
            if self.program.slot(target, name) not in group.slots:
                tokens = [t.as_kind(t.kind, f"{name} as ") for t in tokens]
        for token in tokens:
            # It may be the short form of a use too, and then stays short.
            file = group.places.setdefault(module.path, {})
            short = token.start in file
            file[token.start] = token.as_kind("export") if short else token

    def _named_there(self, module: Module) -> None:
        group, name = self.group, self.group.name
        for one in module.imported:
            if one.name == name and self._leads_in(module, one.module):
                group.add(module, one.token)
        file = group.places.setdefault(module.path, {})
        for binding in module.bindings:
            same = binding.source is not None and binding.source[1] == name == binding.name
            if same and binding.source and self._leads_in(module, binding.source[0]):
                for token in binding.tokens:
                    file[token.start] = token.as_kind("import")
        for member in module.members:
            if member.name == name and member.base is not None:
                self._member_there(module, member)
        if not file:
            del group.places[module.path]

    def _member_there(self, module: Module, member: Member) -> None:
        program, group = self.program, self.group
        if self._is_own(module, member.base, member.scope):
            group.add(module, member.token)
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
        file[token.start] = token.as_kind(token.kind, "", after)

    def _leads_in(self, module: Module, specifier: str) -> bool:
        target = self.program.resolve(module.path, specifier)
        return self.program.slot(target, self.group.name) in self.group.slots

    def _is_own(self, module: Module, base: Any, scope: LexicalScope) -> bool:
        if (module.path, self.group.name) not in self.group.slots:
            return False
        text = base.text()
        return text in EXPORT_OBJECTS and scope.resolve(text.partition(".")[0], BOTH) is None


def _is_short(module: Module, token: NameToken) -> bool:
    return re.match(r"\s*(?![\s:])", module.text[token.end :]) is not None


def is_shared(group: SymbolGroup) -> bool:
    """Whether a symbol is reached behind the name of an enum or a namespace."""
    return any(
        b.exposed and b.scope.kind in ("enum", "namespace") for _, b in group.bindings.values()
    )


# What may hide other places of a symbol

GLOBALS = ("globalThis", "window", "self", "global")
MODULE_ESCAPES_REASON = "the module is used as a whole here, so that {} may be reached unseen"
_SCRIPT = re.compile(
    r"<script\b.*?</script>|\son\w+\s*=\s*(?:\"[^\"]*\"|'[^']*')", re.DOTALL | re.IGNORECASE
)


def find_obstacles(group: SymbolGroup, mixed: list[str], closed: list[str]) -> None:
    """Add to the obstacles of a group all that could hide a use.

    Args:
        group: with its places.
        mixed: files that mix languages and mention the name.
        closed: sentences on files that could not be read.
    """
    group.add_obstacles(closed)
    for module in group.scripts:
        for start in module.errors[:1]:
            group.add_obstacle_at(module, start, "a syntax error: the file cannot be understood")
    for module, binding in group.bindings.values():
        _about_binding(group, module, binding)
    if group.slots:
        _unknown_imports(group)
        _escapes(group)
    wide = group.slots or any(_is_global(m, b) for m, b in group.bindings.values())
    if wide:
        for path in mixed:
            mixed_obstacle(group, path)


def mixed_obstacle(group: SymbolGroup, path: str) -> None:
    """Refuse for a name in a file whose code is not understood."""
    text = group.program.project.text(path)
    word = word_pattern(group.name)
    regions = [(0, len(text))]
    if ending_of(path) in ("html", "htm"):
        regions = [match.span() for match in _SCRIPT.finditer(text)]
    for start, end in regions:
        found = word.search(text, start, end)
        if found is not None:
            line = 1 + text.count("\n", 0, found.start())
            display = group.program.project.display(path)
            group.add_obstacle(f"{display}:{line}: {group.name} stands in code of a mixed file")
            return


def _is_global(module: Module, binding: Binding) -> bool:
    """Whether other scripts of the same page see it."""
    return module.is_script and binding.scope is module.top


def _about_binding(group: SymbolGroup, module: Module, binding: Binding) -> None:
    start = binding.start
    for scope in module.evals:
        if scope.within(binding.scope):
            group.add_obstacle_at(module, start, "eval is called where it can be seen")
    if any(scope.dynamic.startswith("declare") for scope in binding.scope.chain()):
        group.add_obstacle_at(module, start, "it is declared for another module or for all")
    if binding.what == "parameter property":
        group.add_obstacle_at(module, start, "it is a parameter and a property at once")
    if binding.sloppy and not module.esm:
        _sloppy(group, module, binding)
    if binding.what == "namespace" and len(binding.bodies) > 1 and binding.exposed:
        group.add_obstacle_at(module, start, "the namespace has several parts")
    if _is_global(module, binding):
        _other_scripts(group, module)


def _sloppy(group: SymbolGroup, module: Module, binding: Binding) -> None:
    outer = next(s for s in binding.scope.chain() if s.kind in ("module", "body"))
    for use in module.uses:
        if use.name == group.name and use.binding is not binding and use.scope.within(outer):
            group.add_obstacle_at(module, use.token.start, "a function of a block may be meant")


def _other_scripts(group: SymbolGroup, module: Module) -> None:
    name = group.name
    for other in group.scripts:
        for member in other.members:
            if member.name == name and member.base is not None and member.base.text() in GLOBALS:
                group.add_obstacle_at(other, member.token.start, "it may be the global one")
        if other is module:
            continue
        for use in other.uses:
            if use.name == name and use.binding is None:
                group.add_obstacle_at(other, use.token.start, "it may be the global one")
        if name in other.top.names and _is_global(other, other.top.names[name]):
            start = other.top.names[name].tokens[0].start
            if other.top.names[name].what != "function" or group.program.importers(other.path):
                continue
            group.add_obstacle_at(other, start, "another script defines the same global name")


def _unknown_imports(group: SymbolGroup) -> None:
    program = group.program
    files = {path for path, _ in group.slots}
    for module in group.scripts:
        for specifier in sorted(program.bare(module.path)):
            if program.specifiers.may_mean(module.path, specifier, files):
                start = max(module.text.find(f'"{specifier}'), module.text.find(f"'{specifier}"), 0)
                why = f"{specifier!r} may be a module that exports {group.name}"
                group.add_obstacle_at(module, start, why)
        for specifier, start in module.mentions:
            target = program.resolve(module.path, specifier)
            if program.slot(target, group.name) in group.slots:
                group.add_obstacle_at(module, start, "the module is named in a call")


def _escapes(group: SymbolGroup) -> None:
    program = group.program
    seen: set[str] = set()
    left = [path for path, _ in group.slots]
    while left:
        provider = left.pop()
        for path in sorted(program.importers(provider)):
            if path in seen:
                continue
            seen.add(path)
            module = program.module(path)
            _whole_uses(group, module)
            whole = any(e.source and e.source[1] == "*" for e in module.exports.values())
            if (
                whole
                or program.slot(path, group.name) in group.slots
                or any(module.top.names.get(n) for n in module.exports)
            ):
                left.append(path)


def _whole_uses(group: SymbolGroup, module: Module) -> None:
    program = group.program
    found = [(use.node, use.token, use.scope) for use in module.uses if use.binding is not None]
    found += [
        (member.base.parent(), member.token, member.scope)
        for member in module.members
        if member.base is not None and member.base.kind() == "identifier"
    ]
    for node, token, scope in found:
        meant = program.meant(module, node, scope)
        if meant is None or meant.binding is not None:
            continue
        if program.slot(meant.path, group.name) in group.slots and not is_plain(node):
            group.add_obstacle_at(module, token.start, MODULE_ESCAPES_REASON.format(group.name))
    for node, scope, specifier in module.calls:
        target = program.resolve(module.path, specifier)
        if program.slot(target, group.name) not in group.slots:
            continue
        free = scope.resolve("require", BOTH) is None
        if not free or not _is_plain_call(node):
            start = node.range().start.index
            group.add_obstacle_at(module, start, MODULE_ESCAPES_REASON.format(group.name))


def _is_plain_call(node: Any) -> bool:
    if node.field("function").text() == "import":
        parent = _outer(node)
        if parent is None or parent.kind() != "await_expression":
            return False
        node = parent
    around = _outer(node)
    if around is not None and around.kind() == "expression_statement":
        return True
    return is_plain(node)


def _outer(node: Any) -> Any:
    parent = node.parent()
    while parent is not None and parent.kind() in TRANSPARENT_KINDS:
        parent = parent.parent()
    return parent


def is_plain(node: Any) -> bool:
    """Whether only one member of it, known by name, is used."""
    parent, child = node.parent(), node
    while parent is not None and parent.kind() in TRANSPARENT_KINDS:
        parent, child = parent.parent(), parent
    kind = parent.kind() if parent is not None else ""
    if kind == "member_expression":
        return bool(parent.field("object") == child)
    if kind in ("nested_identifier", "nested_type_identifier"):
        return bool(named(parent)[0] == child)
    if kind == "subscript_expression":
        return bool(parent.field("object") == child) and literal(parent.field("index")) is not None
    if kind == "variable_declarator":
        name = parent.field("name")
        if name.kind() == "identifier":
            return bool(parent.children()[0] == name)
        parts = [part.kind() for part in named(name)]
        keys = [part.field("key") for part in named(name) if part.kind() == "pair_pattern"]
        plain = all(key.kind() == "property_identifier" for key in keys)
        return name.kind() == "object_pattern" and "rest_pattern" not in parts and plain
    return kind in ("export_specifier", "import_alias")
