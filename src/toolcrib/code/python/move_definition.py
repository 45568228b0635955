"""Moves of a Python function or class to another module, with the imports that it needs."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

from toolcrib.code.operations import MovePlan, import_cycle, indent_of
from toolcrib.code.places import Place
from toolcrib.code.python.names import GlobalReferences
from toolcrib.code.python.program import ModuleTarget, Program, PythonSymbol
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import Function, first_line
from toolcrib.code.rewrite import Rewrite
from toolcrib.code.scopes import Occurrence
from toolcrib.core.errors import BadInput, Conflict, NotFound
from toolcrib.files.content.faithful import Splice

Definition = Function | ast.ClassDef


def import_order(line: str) -> tuple[bool, bool, str]:
    """Where an import stands among others."""
    return line.startswith("from ."), line.startswith("from "), line


def is_run(file: PythonFile | None, node: ast.AST) -> bool:
    """Whether an import runs when its file is loaded."""
    assert file is not None
    at = file.parents.get(node)
    while at is not None:
        if isinstance(at, Function | ast.Lambda):
            return False
        if isinstance(at, ast.If) and "TYPE_CHECKING" in ast.dump(at.test):
            return False
        at = file.parents.get(at)
    return True


def is_typing(file: PythonFile, symbol: PythonSymbol) -> bool:
    """Whether a name is imported for type checkers only."""
    return all(not is_run(file, b.node) for b in symbol.binders)


# What a definition needs when it is made, as against when it runs

_PLAIN = frozenset(n for n in dir(builtins) if isinstance(getattr(builtins, n), type))
FIXED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias)


def made_with(node: Definition) -> Iterator[ast.AST]:
    """What is computed when a function or a class is defined, annotations left out."""
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from [*node.bases, *node.keywords]
        for statement in node.body:
            yield from made_with(statement) if isinstance(statement, Function) else [statement]
    else:
        yield from [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


def changing(
    file: PythonFile, node: Definition, uses: Iterator[Occurrence]
) -> Iterator[Occurrence]:
    """Names of the module whose value at that moment may not be that at the end of the module."""
    early = {inner for part in made_with(node) for inner in ast.walk(part)}
    for use in uses:
        if use.owner is not file.top or use.node not in early:
            continue
        if not all(_is_fixed(file, b) for b in file.top.binders(use.name)):
            yield use


def _is_fixed(file: PythonFile, binder: Occurrence) -> bool:
    if isinstance(binder.node, FIXED):
        return True
    at: ast.AST | None = binder.node
    while at is not None and not isinstance(at, ast.stmt):
        at = file.parents.get(at)
    value = at.value if isinstance(at, ast.Assign | ast.AnnAssign) else None
    once = len([b for b in file.top.binders(binder.name) if b.role != "annotate"]) == 1
    return once and value is not None and _is_constant(value)


def _is_constant(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_is_constant(each) for each in value.elts)
    if isinstance(value, ast.UnaryOp):
        return _is_constant(value.operand)
    if isinstance(value, ast.BinOp):
        return _is_constant(value.left) and _is_constant(value.right)
    return isinstance(value, ast.Constant | ast.Lambda)


def has_open_annotations(node: Definition) -> bool:
    """Whether an annotation has more than names of the language's own types."""
    notes: list[ast.expr | None] = []
    for inner in ast.walk(node):
        if isinstance(inner, Function):
            notes.append(inner.returns)
        elif isinstance(inner, ast.arg | ast.AnnAssign):
            notes.append(inner.annotation)
    names = [n for note in notes if note is not None for n in ast.walk(note)]
    return any(isinstance(n, ast.Name) and n.id not in _PLAIN for n in names)


_OWN = ("__name__", "__file__", "__path__", "__package__", "__spec__", "__doc__")
FUTURE = "from __future__ import annotations"


def plan_move(rewrite: Rewrite, path: str, name: str, target: str) -> MovePlan:
    """See `toolcrib.code.operations.move`."""
    program = Program(rewrite.project)
    if target == path or not target.endswith(".py"):
        raise BadInput("target is the same file, or no Python file.", hint="Name another .py file.")
    file = program.file(path)
    moving = _Move(rewrite, program, file, _definition(file, name), target)
    moving.plan()
    return MovePlan(moving.obstacles, moving.importers, moving.notes)


def _definition(file: PythonFile, name: str) -> Definition:
    for statement in file.source.tree.body:
        if isinstance(statement, Definition) and statement.name == name:
            if len([b for b in file.top.binders(name) if b.role != "declare"]) != 1:
                raise Conflict(
                    f"{name} is defined several times in {file.path}.",
                    hint="Leave one definition, then move it.",
                )
            return statement
    raise NotFound(
        f"{file.path} has no function {name} at its top level.",
        hint="Only functions and classes of a module are moved, not methods.",
    )


@dataclass(eq=False)
class _Move:
    """One move: what it needs, and who is affected.

    Attributes:
        rewrite: gets the changes.
        program: all files.
        source: the file that is left.
        node: what is moved.
        target: the path of the file that gets it.
        obstacles: what stands in the way.
        notes: lines for the answer.
        importers: files whose imports change.
        edges: which file will import which, by their paths.
        drops: imports that go away.
    """

    rewrite: Rewrite
    program: Program
    source: PythonFile
    node: Definition
    target: str
    obstacles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    importers: set[str] = field(default_factory=set)
    edges: list[tuple[str, str]] = field(default_factory=list)
    drops: dict[str, list[ast.ImportFrom]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of what is moved."""
        return self.node.name

    def __post_init__(self) -> None:
        self.there = self.program.file(self.target) if self.target in self.program.modules else None
        self.start, self.stop = self._lines()
        self.needed: dict[str, str] = {}
        self.typed: dict[str, str] = {}

    def plan(self) -> None:
        """Collect all changes, and what is against them."""
        symbol = PythonSymbol(self.source, self.source.top, self.name)
        found = GlobalReferences(self.program, symbol).found().result("")
        self._needs()
        self._target_is_free()
        places = [p for p in found.certain if not self._is_inside(p)]
        back = self._importers(places)
        if back or found.obstacles:
            self._reimport()
        for place in found.possible:
            if place.kind == "text" and not self._is_inside(place):
                self.notes.append(f"Left as it is: {place.path}:{place.line}")
        self.notes[10:] = []
        self._cycles()
        if not self.obstacles:
            self._cut()
            self._paste()

    # The text

    def _lines(self) -> tuple[int, int]:
        first = first_line(self.node)
        while first > 1 and self.source.source.lines[first - 2].startswith("#"):
            if first == 2 and self.source.source.lines[0].startswith(("#!", "# -*-")):
                break
            first -= 1
        return first, self.node.end_lineno or self.node.lineno

    def _is_inside(self, place: Place) -> bool:
        return place.path == self.source.path and self.start <= place.line <= self.stop

    @property
    def text(self) -> str:
        """The text of the function with its comments and decorators."""
        return "\n".join(self.source.source.lines[self.start - 1 : self.stop])

    # What it needs

    def _needs(self) -> None:
        future = FUTURE in self.source.source.text
        for use in self._outer_uses():
            name = use.name
            if use.owner is None:
                if name in _OWN:
                    self.obstacles.append(f"{self._at(use)}{name} is that of its module.")
                elif self.there is not None and self.there.top.binders(name):
                    self.obstacles.append(
                        f"{self._at(use)}{name} is something else in {self.target}."
                    )
                continue
            if name == self.name or name in self.needed:
                continue
            if use.role != "load":
                self.obstacles.append(f"{self._at(use)}it changes {name} of its module.")
                continue
            symbol = PythonSymbol(self.source, self.source.top, name)
            self._need(symbol, use, typed=future and is_typing(self.source, symbol))
        if self.source.stars and any(u.owner is None for u in self._outer_uses()):
            star = self.source.stars[0]
            self.obstacles.append(f"{self.source.at(star)}`import *` may give names that it needs.")

        for use in changing(self.source, self.node, self._outer_uses()):
            self.obstacles.append(
                f"{self._at(use)}{use.name} may have another value when the module is loaded whole."
            )
        bare = self.there is not None and FUTURE not in self.there.source.text
        if future and bare and has_open_annotations(self.node):
            self.obstacles.append(f"{self.target}:1: it needs `{FUTURE}`.")

    def _outer_uses(self) -> Iterator[Occurrence]:
        for occurrence in self.source.top.all():
            line = occurrence.token.line
            if not self.start <= line <= self.stop:
                continue
            if (occurrence.owner is None and occurrence.role == "load") or (
                occurrence.owner is self.source.top and occurrence.node is not self.node
            ):
                yield occurrence

    def _at(self, use: Occurrence) -> str:
        return f"{self.source.path}:{use.token.line}: "

    def _need(self, symbol: PythonSymbol, use: Occurrence, *, typed: bool) -> None:
        binders = symbol.binders
        alias = binders[0].node if len(binders) == 1 else None
        parent = self.source.parents.get(alias) if alias is not None else None
        own = self._in_target(symbol)
        if own == "same":
            return
        if own:
            self.obstacles.append(
                f"{self._at(use)}{symbol.name} is something else in {self.target}."
            )
            return
        if isinstance(alias, ast.alias) and isinstance(parent, ast.Import | ast.ImportFrom):
            plain = parent in self.source.source.tree.body
            if plain or typed:
                written = self._import_of(parent, alias)
                if written:
                    (self.needed if plain else self.typed)[symbol.name] = written
                return
        if self._changes(symbol):
            self.obstacles.append(
                f"{self._at(use)}{symbol.name} is bound anew while the program runs: an import "
                "would not see that."
            )
            return
        module = self._name_for(self.target, self.source.path)
        self.needed[symbol.name] = f"from {module} import {symbol.name}"
        self.edges.append((self.target, self.source.path))

    def _changes(self, symbol: PythonSymbol) -> bool:
        bound = [b for b in symbol.binders if b.role != "annotate"]
        if any(b.scope is not self.source.top for b in bound):
            return True
        return len(bound) > 1 and any(b.role == "assign" for b in bound)

    def _in_target(self, symbol: PythonSymbol) -> str:
        """Whether the target has a name already: "same" thing, "other", or ""."""
        if self.there is None or not self.there.top.binders(symbol.name):
            return ""
        here = self.program.origin(symbol)
        there = self.program.origin(PythonSymbol(self.there, self.there.top, symbol.name))
        return "same" if here is not None and here == there else "other"

    def _import_of(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """An import of the source as the target writes it."""
        written = alias.name + (f" as {alias.asname}" if alias.asname else "")
        if isinstance(node, ast.Import):
            found = self.program.modules.absolute(self.source.path, alias.name)
            if found.path:
                self.edges.append((self.target, found.path))
            return f"import {written}"
        found = self.program.modules.imported(self.source.path, node)
        child = self.program.modules.child(found, alias.name)
        inner = child if child is not None and child.path else found
        if inner.path == self.target:
            if child is not None and child.path:
                self.obstacles.append(f"{self.source.at(node)}it uses the target as a module.")
            elif alias.asname:
                self.obstacles.append(
                    f"{self.source.at(node)}it uses another name for {alias.name}."
                )
            return ""
        if inner.path:
            self.edges.append((self.target, inner.path))
        module = node.module or ""
        if node.level:
            module = self._relative(found)
        return f"from {module} import {written}"

    def _relative(self, found: ModuleTarget) -> str:
        if found.path:
            return self._name_for(self.target, found.path)
        folder = found.folder or ""
        return self._name_for(self.target, f"{folder}/__init__.py" if folder else "__init__.py")

    # Who uses it

    def _target_is_free(self) -> None:
        if self.there is None:
            return
        for binder in self.there.top.binders(self.name):
            node = self.there.parents.get(binder.node)
            if not (isinstance(node, ast.ImportFrom) and self._is_of_source(self.target, node)):
                self.obstacles.append(
                    f"{self.target}:{binder.token.line}: {self.name} is there already."
                )

    def _is_of_source(self, path: str, node: ast.ImportFrom) -> bool:
        return self.program.modules.imported(path, node).path == self.source.path

    def _importers(self, places: list[Place]) -> bool:
        """Rewrite `from source import name`; True where other uses of the source remain."""
        remains = any(p.path == self.source.path for p in places)
        for path in sorted({p.path for p in places if p.path != self.source.path}):
            file = self.program.file(path)
            for node in file.within:
                if not isinstance(node, ast.ImportFrom):
                    continue
                aliases = [a for a in node.names if a.name == self.name]
                if aliases and self._is_of_source(path, node):
                    self._redirect(file, node, aliases)
            for node in file.attributes(self.name):
                found = self.program.module_of(file, node.value)
                if found is not None and found.path == self.source.path:
                    remains = True
        return remains

    def _redirect(self, file: PythonFile, node: ast.ImportFrom, aliases: list[ast.alias]) -> None:
        source, path = file.source, file.path
        self.importers.add(self.rewrite.project.display(path))
        remaining = [a for a in node.names if a not in aliases]
        if path == self.target:
            if any(a.asname not in (None, self.name) for a in aliases):
                self.obstacles.append(f"{file.at(node)}it is imported under another name there.")
            self.drops.setdefault(path, []).append(node)
            new = ""
        else:
            written = ", ".join(source.segment(a) for a in aliases)
            new = f"from {self._module_in(file, node)} import {written}"
            if file.parents.get(node) in (None, source.tree):
                self.edges.append((path, self.target))
        if remaining and "#" in source.segment(node):
            self.obstacles.append(f"{file.at(node)}its import has comments between the names.")
        start, end = source.start(node), source.end(node)
        indent = indent_of(source.lines[node.lineno - 1])
        old = ""
        if remaining:
            head = source.text[start : source.start(node.names[0])].split("import")[0]
            old = f"{head}import {', '.join(source.segment(a) for a in remaining)}"
        parts = [p for p in (old, new) if p]
        if not parts:
            self._drop(file, node)
            return
        self.rewrite.replace(path, Splice(start, end, f"\n{indent}".join(parts)))

    def _drop(self, file: PythonFile, node: ast.ImportFrom) -> None:
        start, end = file.source.start(node), file.source.end(node)
        alone = not file.source.lines[node.lineno - 1][: node.col_offset].strip()
        if node in file.source.tree.body and alone and file.source.text[end : end + 1] == "\n":
            self.rewrite.replace(file.path, Splice(start, end + 1, ""))
        else:
            self.rewrite.replace(file.path, Splice(start, end, "pass"))

    def _reimport(self) -> None:
        """Let the source import what it had."""
        module = self._name_for(self.source.path, self.target)
        self.edges.append((self.source.path, self.target))
        at = _import_line(self.source)
        text = f"from {module} import {self.name}\n"
        self.rewrite.replace(self.source.path, Splice(at, at, text))

    # The changes of the two files

    def _cut(self) -> None:
        source = self.source.source
        lines = source.lines
        start, stop = self.start, self.stop
        while stop < len(lines) and not lines[stop].strip():
            stop += 1
        end = source.starts[stop]
        if stop >= len(lines):
            end = len(source.text)
            while start > 1 and not lines[start - 2].strip():
                start -= 1
        self.rewrite.replace(source.path, Splice(source.starts[start - 1], end, ""))

    def _paste(self) -> None:
        imports = sorted(dict.fromkeys(self.needed.values()), key=import_order)
        typed = sorted(dict.fromkeys(self.typed.values()))
        if typed:
            imports.append("from typing import TYPE_CHECKING")
        block = "".join(f"{line}\n" for line in imports)
        if typed:
            block += "\nif TYPE_CHECKING:\n" + "".join(f"    {line}\n" for line in typed)
        future = FUTURE in self.source.source.text
        if self.there is None:
            head = f"{FUTURE}\n\n" if future else ""
            gap = "\n\n" if head or block else ""
            self.rewrite.create(
                self.target,
                f"{head}{block}{gap if block else gap[1:] if head else ''}{self.text}\n",
            )
            return
        there = self.there.source
        if future and FUTURE not in there.text and typed:
            self.obstacles.append(f"{self.target}:1: it needs `{FUTURE}`.")
        at = _import_line(self.there)
        if block:
            self.rewrite.replace(self.target, Splice(at, at, block))
        place = at if self.target in self.drops else _end_of(self.there)
        if place == at:
            text = f"\n\n{self.text}\n"
        elif place == len(there.text):
            gap = "\n\n" if there.text.endswith("\n") else "\n\n\n"
            text = f"{gap if there.text.strip() else ''}{self.text}\n"
        else:
            text = f"{self.text}\n\n\n"
        self.rewrite.replace(self.target, Splice(place, place, text))

    # How files name each other in imports

    def _name_for(self, importer: str, path: str) -> str:
        """How a file names another one in an import: relative inside of a package."""
        modules = self.program.modules
        here, there = importer.rpartition("/")[0], path.rpartition("/")[0]
        root = modules.root_of(path)
        in_package = here == there and modules.is_package(here) and here != modules.root_of(path)
        has_relative = any(isinstance(n, ast.ImportFrom) and n.level for n in self.source.within)
        if in_package and has_relative:
            base = path.rpartition("/")[2].removesuffix(".py")
            return "." if base == "__init__" else f".{base}"
        if here == root == there or (not modules.is_package(here) and here == root):
            inner = path[len(root) + 1 :] if root else path
            return inner.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return modules.name_of(path)

    def _module_in(self, file: PythonFile, node: ast.ImportFrom) -> str:
        """The target's name as an importer writes it: relative where its import was."""
        if not node.level:
            return self._absolute(file, node)
        here = file.path.rpartition("/")[0].split("/") if "/" in file.path else []
        folder = self.target.rpartition("/")[0].split("/") if "/" in self.target else []
        common = 0
        while common < min(len(here), len(folder)) and here[common] == folder[common]:
            common += 1
        dots = "." * (len(here) - common + 1)
        base = self.target.rpartition("/")[2].removesuffix(".py")
        rest = [*folder[common:], *([] if base == "__init__" else [base])]
        return dots + ".".join(rest)

    def _absolute(self, file: PythonFile, node: ast.ImportFrom) -> str:
        """As the source was named: with the same folders left out."""
        written = (node.module or "").split(".")
        real = self.source.path.removesuffix(".py").removesuffix("/__init__").split("/")
        cut = len(real) - len(written)
        there = self.target.removesuffix(".py").removesuffix("/__init__").split("/")
        if cut >= 0 and there[:cut] == real[:cut]:
            return ".".join(there[cut:])
        return self._name_for(file.path, self.target)

    # Cycles

    def _cycles(self) -> None:
        cycle = import_cycle(self.edges, self._imports)
        if cycle:
            self.obstacles.append(
                f"{cycle[0]}:1: it would make a cycle of imports: {' -> '.join(cycle)}."
            )

    def _imports(self, path: str) -> set[str]:
        """The files that a file loads when it is loaded, as it will be."""
        file = self.program.maybe(path) if path in self.program.modules else None
        found: set[str] = set()
        for node in file.within if file is not None else ():
            if not isinstance(node, ast.Import | ast.ImportFrom) or not is_run(file, node):
                continue
            if node in self.drops.get(path, ()) and all(a.name == self.name for a in node.names):
                continue
            if isinstance(node, ast.Import):
                found |= {self.program.modules.absolute(path, a.name).path for a in node.names}
                continue
            target = self.program.modules.imported(path, node)
            names = [a.name for a in node.names]
            if target.path == self.source.path and names == [self.name]:
                continue
            children = [self.program.modules.child(target, n) for n in names]
            inner = [c.path for c in children if c is not None and c.path]
            if inner:
                found |= set(inner)
            if not inner or len(inner) < len(names):
                found.add(target.path)
        return found - {"", path}


def _import_line(file: PythonFile) -> int:
    """Where another import goes: behind those at the top."""
    at = 0
    for index, statement in enumerate(file.source.tree.body):
        value = statement.value if isinstance(statement, ast.Expr) and not index else None
        is_doc = isinstance(value, ast.Constant)
        if not is_doc and not isinstance(statement, ast.Import | ast.ImportFrom):
            break
        at = statement.end_lineno or statement.lineno
    if not at:
        lines = file.source.lines
        while at < len(lines) and lines[at].startswith("#!"):
            at += 1
    return min(file.source.starts[at], len(file.source.text))


def _end_of(file: PythonFile) -> int:
    """Where another function goes: at the end, but before what runs a script."""
    last = file.source.tree.body[-1] if file.source.tree.body else None
    if isinstance(last, ast.If) and "__name__" in ast.dump(last.test):
        return file.source.starts[last.lineno - 1]
    return len(file.source.text)
