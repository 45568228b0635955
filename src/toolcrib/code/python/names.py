"""Every reference to a name of a module or of a function, in all files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolcrib.code.places import Kind, Place, References
from toolcrib.code.python import dynamic
from toolcrib.code.python.bound_file import File, last_name
from toolcrib.code.python.modules import Target
from toolcrib.code.python.program import Program, Symbol, all_strings, exported
from toolcrib.code.python.scopes import BUILTINS, Occurrence
from toolcrib.code.python.source import Spot

_KINDS: dict[str, Kind] = {"load": "reference", "declare": "reference", "import": "import"}
_WHAT = {
    "function": "function",
    "class": "class",
    "parameter": "parameter",
    "assign": "variable",
    "annotate": "variable",
    "import": "import",
}
MOST_TEXTS = 200


@dataclass
class Found:
    """What is gathered; `places` by where they are, so that none is there twice."""

    program: Program
    name: str
    places: dict[tuple[str, Spot], Place] = field(default_factory=dict)
    possible: dict[tuple[str, Spot], Place] = field(default_factory=dict)
    obstacles: dict[str, None] = field(default_factory=dict)

    def add(self, file: File, spot: Spot, kind: Kind, before: str = "") -> None:
        """Add a place that is one, if the text says so."""
        if file.source.written(spot) != self.name:
            self.stop(f"{file.path}:{spot.line}: the name is written in another way there.")
            return
        key = (file.path, spot)
        if key not in self.places:
            self.places[key] = Place(
                file.path, spot.line, spot.column, spot.end, kind, before=before
            )

    def maybe(self, file: File, spot: Spot, kind: Kind = "reference") -> None:
        """Add a place that may be one."""
        self.possible.setdefault(
            (file.path, spot), Place(file.path, spot.line, spot.column, spot.end, kind)
        )

    def stop(self, why: str) -> None:
        """Add an obstacle."""
        self.obstacles[why] = None

    def occurrence(self, file: File, found: Occurrence, before: str = "") -> None:
        """Add a name of a scope."""
        self.add(file, found.spot, _KINDS.get(found.role, "definition"), before)
        if found.mixed:
            self.stop(
                f"{file.path}:{found.spot.line}: it may mean another {self.name} there, "
                "depending on what ran before."
            )

    def result(self, what: str) -> References:
        """All of it, in order."""
        certain = sorted(self.places.values())
        possible = sorted(p for key, p in self.possible.items() if key not in self.places)
        return References(certain, possible, list(self.obstacles), self.name, what)


def what_is(symbol: Symbol) -> str:
    """The kind of a symbol as a word."""
    roles = [b.role for b in symbol.binders if b.role != "delete"]
    return _WHAT.get(roles[0], "variable") if roles else "variable"


def local_references(program: Program, symbol: Symbol) -> Found:
    """The references of a name that only its own function or class body knows."""
    found = Found(program, symbol.name)
    for use in symbol.scope.uses(symbol.name):
        found.occurrence(symbol.file, use, _as_import(symbol, use))
    for why in dynamic.in_scope(symbol.file, symbol.scope, symbol.name):
        found.stop(why)
    _mangled(found, symbol.file)
    texts(found, [symbol.file])
    return found


def _as_import(symbol: Symbol, use: Occurrence) -> str:
    """A local name that an import gives keeps the name of what is imported."""
    alias = use.node
    if use.role != "import" or not isinstance(alias, ast.alias) or alias.asname:
        return ""
    return f"{symbol.name} as "


def _mangled(found: Found, file: File) -> None:
    if not found.name.startswith("__") or found.name.endswith("__"):
        return
    for place in list(found.places.values()):
        if place.path == file.path and file.scope_at(place.line).kind == "class":
            found.stop(f"{place.path}:{place.line}: names with two underscores are private there.")


@dataclass(eq=False)
class GlobalNames:
    """The search for a name that a module gives to others.

    `group` holds each binding that must have the same name: of the module itself, and of
    all that import it under that name.
    """

    program: Program
    symbol: Symbol
    files: list[File] = field(default_factory=list)
    group: dict[Symbol, None] = field(default_factory=dict)

    def found(self) -> Found:
        """All references."""
        name = self.symbol.name
        found = Found(self.program, name)
        self.files, closed = self.program.mentioning(name)
        for why in closed:
            if is_python(why):
                found.stop(why)
        self.group = {self.symbol: None}
        self._join(found)
        for member in list(self.group):
            self._uses(found, member)
        for file in self.files:
            self._attributes(found, file)
        self._stars(found)
        self._bars(found)
        texts(found, self.files)
        return found

    def _join(self, found: Found) -> None:
        """Let the imports of what is in the group join it, until no more does."""
        name = self.symbol.name
        todo = True
        seen: set[ast.AST] = set()
        while todo:
            todo = False
            for file, alias, node in self._imports(name):
                if alias in seen:
                    continue
                meaning = self.program.from_import(file, node, alias.name)
                if not isinstance(meaning, Symbol) or meaning not in self.group:
                    continue
                if self.program.modules.imported(file.path, node).unsure:
                    found.stop(f"{file.path}:{node.lineno}: several files could be meant.")
                seen.add(alias)
                todo = True
                spot = file.source.spot(alias.lineno, alias.col_offset, name)
                found.add(file, spot, "import")
                scope = file.within.get(node)
                if alias.asname in (None, name) and scope is not None:
                    owner = scope.find(name)
                    if owner is not None and alias.asname is None:
                        self.group[Symbol(file, owner, name)] = None

    def _imports(self, name: str) -> Iterator[tuple[File, ast.alias, ast.ImportFrom]]:
        for file in self.files:
            for node in file.within:
                if isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        if alias.name == name:
                            yield file, alias, node

    def _uses(self, found: Found, member: Symbol) -> None:
        file = member.file
        for use in member.scope.uses(member.name):
            before: str | None = ""
            if use.role == "import":
                before = self._kept(found, file, use)
            if before is not None:
                found.occurrence(file, use, before)
        if member.is_global:
            for node in all_strings(file):
                if node.value == member.name:
                    _add_string(found, file, node)
        for scope in file.module.walk():
            for occurrence in scope.occurrences:
                if occurrence.name == member.name and occurrence.mixed and scope.kind == "class":
                    found.stop(
                        f"{file.path}:{occurrence.spot.line}: it may mean the {member.name} of "
                        "the class or of the module there."
                    )

    def _kept(self, found: Found, file: File, use: Occurrence) -> str | None:
        """What to write before the new name in an import; None where it has its own place."""
        alias = use.node
        node = file.parents.get(alias)
        if not isinstance(alias, ast.alias):
            return ""
        if alias.asname:
            return ""
        if not isinstance(node, ast.ImportFrom):
            if "." in alias.name:
                found.stop(f"{file.path}:{alias.lineno}: an import of a module has this name.")
            return f"{use.name} as "
        meaning = self.program.from_import(file, node, alias.name)
        if isinstance(meaning, Symbol) and meaning in self.group:
            return ""
        return f"{use.name} as "

    def _attributes(self, found: Found, file: File) -> None:
        escapes = None
        for node in file.attributes(self.symbol.name):
            meaning = self.program.meaning(file, node.value)
            spot = file.attribute_spot(node)
            if isinstance(meaning, Target):
                member = self.program.member(meaning, node.attr)
                if isinstance(member, Symbol) and member in self.group:
                    found.add(file, spot, "reference")
            elif meaning is None or isinstance(meaning, Symbol):
                escapes = self._escapes() if escapes is None else escapes
                if escapes and not _is_own(file, node):
                    found.maybe(file, spot)
                    for why in escapes:
                        found.stop(why)
                    found.stop(f"{file.at(node)}it may be an attribute of that module.")

    def _escapes(self) -> list[str]:
        """Where a module of the group is handed on as a value."""
        paths = {member.file.path for member in self.group if member.is_global}
        return dynamic.module_escapes(self.program, paths)

    def _stars(self, found: Found) -> None:
        members = {m.file.path: m.file for m in self.group if m.is_global}
        files, _ = self.program.mentioning("import *", "import(*", "import (*", "import  *")
        for file in files:
            for scope in file.module.walk():
                for node in scope.stars:
                    target = self.program.modules.imported(file.path, node)
                    if target.path in members and gives(members[target.path], self.symbol.name):
                        found.stop(f"{file.path}:{node.lineno}: `import *` brings the name in.")

    def _bars(self, found: Found) -> None:
        name = self.symbol.name
        for member in self.group:
            file = member.file
            _mangled(found, file)
            if not member.is_global:
                for why in dynamic.in_scope(file, member.scope, name):
                    found.stop(why)
                continue
            for why in dynamic.in_module(file, name):
                found.stop(why)
            stub = self.program.modules.stub_of(file.path)
            if stub and re.search(rf"\b{name}\b", self.program.project.text(stub)):
                found.stop(f"{stub}:1: a stub declares the names of that module too.")
            for binder in member.binders:
                if _is_fixture(binder.node):
                    found.stop(f"{file.at(binder.node)}pytest finds a fixture by its name.")
        for why in dynamic.of_modules(self.program, {m.file.path for m in self.group}, name):
            found.stop(why)
        if name.startswith("__") and name.endswith("__"):
            found.stop(f"{self.symbol.file.path}:1: {name} is a name of Python itself.")


def is_python(why: str) -> bool:
    """Whether a file that cannot be looked into could hold Python."""
    return re.match(r".*?\.(py|pyi|pyw|ipynb)\b", why) is not None


def gives(file: File, name: str) -> bool:
    """Whether `import *` of a module brings a name, if it has it."""
    listed = exported(file)
    return name in listed if listed is not None else not name.startswith("_")


def _is_fixture(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", ())
    return any(
        last_name(d.func if isinstance(d, ast.Call) else d) in ("fixture", "hookimpl")
        for d in decorators
    )


def _is_own(file: File, node: ast.Attribute) -> bool:
    """Whether an attribute is one of `self`, which is no module."""
    value = node.value
    return isinstance(value, ast.Name) and value.id in ("self", "cls") and bool(file)


def _add_string(found: Found, file: File, node: ast.Constant) -> None:
    text = file.source.segment(node)
    at = text.find(found.name, len(text) - len(text.lstrip("rRuU")))
    if at < 0 or text[at:].strip("'\"") != found.name or text[:at].strip("rRuU'\""):
        found.stop(f"{file.at(node)}the name is written in another way there.")
        return
    column = file.source.column(node.lineno, node.col_offset) + at
    found.add(file, Spot(node.lineno, column, column + len(found.name)), "string")


def texts(found: Found, files: list[File]) -> None:
    """Add the comments and strings in which the name stands as a word."""
    word = re.compile(rf"(?<!\w){re.escape(found.name)}(?!\w)")
    for file in files:
        known = {
            (spot.line, spot.column)
            for spot in [o.spot for o in file.module.all() if o.name == found.name]
        }
        known |= {(s.line, s.column) for s in map(file.attribute_spot, file.attributes(found.name))}
        for spot in _words(file, word):
            if len(found.possible) >= MOST_TEXTS:
                return
            if (spot.line, spot.column) not in known:
                found.maybe(file, spot, "text")


def _words(file: File, word: re.Pattern[str]) -> Iterator[Spot]:
    import tokenize

    middle = getattr(tokenize, "FSTRING_MIDDLE", -1)
    for token in file.source.tokens:
        if token.type not in (tokenize.STRING, tokenize.COMMENT, middle):
            continue
        for row, line in enumerate(token.string.split("\n")):
            shift = token.start[1] if not row else 0
            for match in word.finditer(line):
                yield Spot(token.start[0] + row, match.start() + shift, match.end() + shift)


def shadows_builtin(name: str) -> bool:
    """Whether a name is one of Python's own."""
    return name in BUILTINS
