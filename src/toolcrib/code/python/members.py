"""References to attributes and methods of Python classes, and to parameters given by keyword."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field

from toolcrib.code.places import ReferenceCollector
from toolcrib.code.python.classes import ClassHierarchy, PythonClass, defines, method_of
from toolcrib.code.python.inference import Inference, Values
from toolcrib.code.python.names import (
    ATTRIBUTE_CALLS,
    add_occurrence,
    is_python,
    local_references,
    texts,
)
from toolcrib.code.python.program import ExternalName, Program, PythonSymbol
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import Function, decorator_names, last_name
from toolcrib.core.names import name_set

MAX_SCANNED_BYTES = 4_000_000
"""Bytes of Python up to which every file is looked at for classes."""
_OPERATOR_CALLS = ("attrgetter", "methodcaller")
_FIELD_USES = ("asdict", "fields", "vars", "model_dump", "_asdict", "__dict__")


@dataclass(eq=False)
class MemberReferences:
    """The search for what the objects of a class have under a name.

    Attributes:
        family: the classes that define the name and belong together: renaming it in one
            means renaming it in all.
        related: these, and all classes that inherit the name from them.
        result: what was found.
    """

    program: Program
    inference: Inference
    start: PythonClass
    name: str
    family: dict[PythonClass, None] = field(default_factory=dict)
    related: set[PythonClass] = field(default_factory=set)
    files: list[PythonFile] = field(default_factory=list)
    every: list[PythonClass] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.result = ReferenceCollector(self.name)

    @property
    def classes(self) -> ClassHierarchy:
        """What is known of classes."""
        return self.inference.classes

    @property
    def is_private(self) -> bool:
        """Whether Python keeps the name to one class."""
        return self.name.startswith("__") and not self.name.endswith("__")

    def search(self) -> None:
        """Find all references that the text proves; what it does not is an obstacle."""
        found = self.result
        self.files, closed = self.program.mentioning(self.name)
        found.add_obstacles(filter(is_python, closed))
        self.find_family()
        for one in self.family:
            self._defined(found, one)
        for file in self.files:
            for node in file.attributes(self.name):
                self._attribute(found, file, node)
        self._keywords(found)
        self._bars(found)
        texts(found, self.files)

    def find_family(self) -> None:
        """Find the family: definitions that one class has several of go together."""
        if self.is_private:
            self.family, self.related = {self.start: None}, {self.start}
            return
        words = self._words()
        files = {f.path: f for f in self.files}
        if words:
            files.update((f.path, f) for f in self.program.mentioning(*words)[0])
        self.every = self.classes.within(files.values())
        lines = {one: self.classes.project_mro(one) for one in self.every}
        lines.setdefault(self.start, self.classes.project_mro(self.start))
        has = {c: defines(c, self.name) for line in lines.values() for c in line}
        groups = [[c for c in line if has[c]] for line in lines.values()]
        family = {c for c in lines[self.start] if has[c]} or {self.start}
        grew = True
        while grew:
            grew = False
            for group in groups:
                if family & set(group) and not set(group) <= family:
                    family |= set(group)
                    grew = True
        self.family = dict.fromkeys(sorted(family, key=lambda c: (c.file.path, c.node.lineno)))
        self.related = {c for c, line in lines.items() if family & set(line)} | family

    def _words(self) -> list[str]:
        """Words by which all files with classes are found."""
        project = self.program.project
        try:
            size = sum(len(project.text(p)) for p in project.mentioning("class ", ["python"])[0])
        except Exception:  # noqa: BLE001 - a file that cannot be read has no classes for us
            size = MAX_SCANNED_BYTES + 1
        if size <= MAX_SCANNED_BYTES:
            return ["class "]
        return [c.name for c in self.classes.project_mro(self.start)]

    # Places

    def _defined(self, found: ReferenceCollector, one: PythonClass) -> None:
        for use in one.scope.uses(self.name):
            if use.role == "import":
                found.add_obstacle(f"{one.file.path}:{use.token.line}: an import defines it.")
            add_occurrence(found, one.file, use)
        for o in one.scope.occurrences:
            if o.name == self.name and o.mixed:
                found.add_obstacle(
                    f"{one.file.path}:{o.token.line}: it may mean another name there."
                )
        for binder in one.binders("__slots__") + one.binders("__match_args__"):
            parent = one.file.parents.get(binder.node)
            for node in ast.walk(parent) if parent is not None else ():
                if isinstance(node, ast.Constant) and node.value == self.name:
                    self._string(found, one.file, node)

    def _string(self, found: ReferenceCollector, file: PythonFile, node: ast.Constant) -> None:
        at = file.source.segment(node).find(self.name)
        column = file.source.column(node.lineno, node.col_offset) + max(at, 0)
        found.add(file, file.source.token(node.lineno, column, len(self.name)).as_kind("string"))

    def _attribute(self, found: ReferenceCollector, file: PythonFile, node: ast.Attribute) -> None:
        token = file.attribute_token(node)
        if self.is_private:
            if file is self.start.file and file.enclosing(node, ast.ClassDef) is self.start.node:
                found.add(file, token)
            return
        is_module = self.program.module_of(file, node.value) is not None
        if is_module or is_outside(self.program, file, node.value):
            return
        verdict = self.ownership(self.inference.of(file, node.value))
        if verdict == "ours":
            is_store = isinstance(node.ctx, ast.Store)
            found.add(file, token.as_kind("definition") if is_store else token)
        elif verdict == "unknown":
            found.add_possible(file, token)
            text = ast.unparse(node.value)[:40]
            found.add_obstacle(f"{file.at(node)}what {text} is cannot be told.")
        elif verdict == "both":
            found.add_possible(file, token)
            found.add_obstacle(f"{file.at(node)}its object may be of this class, or of another.")

    def ownership(self, values: Values) -> str:
        """Whether an object has the name from the family: ours, others, both, unknown."""
        if values is None:
            return "unknown"
        kinds = set()
        for value in values:
            if value.kind in ("object", "class", "super") and value.of is not None:
                kinds.add(self._relation(value.of))
            elif value.kind in ("function", "module", "bound", "box", "plain") or (
                value.kind == "foreign" and is_standard(value.name)
            ):
                kinds.add("nothing")
            else:
                kinds.add("unknown")
        if "unknown" in kinds:
            return "unknown"
        if "ours" in kinds:
            return "both" if "others" in kinds else "ours"
        return "others"

    def _relation(self, one: PythonClass) -> str:
        line = self.classes.project_mro(one)
        if one in self.related or set(line) & self.family.keys():
            return "ours"
        if any(self.classes.is_kind_of(ours, one) for ours in self.family):
            # A base that does not have the name itself: its object may be one of ours.
            return "unknown"
        return "others" if any(defines(c, self.name) for c in line) else "nothing"

    # Fields and what reaches them by text

    def _keywords(self, found: ReferenceCollector) -> None:
        """The keywords by which fields are given to a dataclass or matched by a pattern."""
        for file in self.files:
            for node in file.within:
                if isinstance(node, ast.Call):
                    for word in node.keywords:
                        if word.arg == self.name and self._is_field_call(found, file, node):
                            token = file.source.token_at(word.lineno, word.col_offset, self.name)
                            found.add(file, token)
                elif isinstance(node, ast.MatchClass) and self.name in node.kwd_attrs:
                    self._matched(found, file, node)
                elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                    if node.slice.value != self.name:
                        continue
                    values = self.inference.of(file, node.value) or ()
                    if any(v.of in self.related for v in values if v.of is not None):
                        found.add_obstacle(f"{file.at(node)}the name is used as a key there.")

    def _is_field_call(self, found: ReferenceCollector, file: PythonFile, node: ast.Call) -> bool:
        if not any(_is_field(c, self.name) for c in self.family):
            return False
        if last_name(node.func) == "replace" and node.args:
            return self.ownership(self.inference.of(file, node.args[0])) == "ours"
        values = self.inference.of(file, node.func)
        if values is None:
            found.add_obstacle(f"{file.at(node)}what is called with {self.name}= cannot be told.")
            return False
        of = [v.of for v in values if v.kind == "class" and v.of is not None]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            base = self.inference.of(file, node.func.value)
            of += [v.of for v in base or () if v.kind == "super" and v.of is not None]
        return any(self._relation(c) == "ours" and not _has_init(self.classes, c) for c in of)

    def _matched(self, found: ReferenceCollector, file: PythonFile, node: ast.MatchClass) -> None:
        of = self.classes.of(file, node.cls)
        if not isinstance(of, PythonClass):
            found.add_obstacle(f"{file.at(node)}what the pattern matches cannot be told.")
        elif self._relation(of) == "ours":
            line, offset = node.cls.end_lineno or node.lineno, node.cls.end_col_offset or 0
            found.add(file, file.source.token_after(line, offset, self.name, "( ,"))

    def _bars(self, found: ReferenceCollector) -> None:
        first = self.start.file
        if self.name.startswith("__") and self.name.endswith("__"):
            found.add_obstacle(
                f"{first.path}:{self.start.node.lineno}: Python itself calls {self.name}."
            )
        if self.is_private:
            mangled = f"_{self.start.name.lstrip('_')}{self.name}"
            for file in self.program.mentioning(mangled)[0]:
                found.add_obstacle(f"{file.path}:1: {mangled} stands there.")
            return
        for one in dict.fromkeys([*self.family, *sorted_classes(self.related)]):
            found.add_obstacles(self.classes.unknown_bases(one, self.name))
            bases = {last_name(base) for base in one.node.bases}
            if "TypedDict" in bases:
                found.add_obstacle(f"{one.file.at(one.node)}the names of a TypedDict are keys.")
            if "Protocol" in bases:
                found.add_obstacle(
                    f"{one.file.at(one.node)}a protocol is met by classes that do not name it."
                )
        for one in self.every:
            is_protocol = any(last_name(b) == "Protocol" for b in one.node.bases)
            if is_protocol and one not in self.related and defines(one, self.name):
                found.add_obstacle(f"{one.file.at(one.node)}a protocol asks for {self.name} too.")
        self._reached(found)
        self._formatted(found)

    def _reached(self, found: ReferenceCollector) -> None:
        """Attributes that are reached by a text."""
        files, _ = self.program.mentioning(*ATTRIBUTE_CALLS, *_OPERATOR_CALLS)
        for file in files:
            for call in file.calls(*ATTRIBUTE_CALLS):
                if len(call.args) < 2 or not isinstance(call.func, ast.Name):
                    continue
                key = call.args[1]
                if isinstance(key, ast.Constant) and key.value != self.name:
                    continue
                if self.program.module_of(file, call.args[0]) is not None:
                    continue
                if self.ownership(self.inference.of(file, call.args[0])) != "others":
                    found.add_obstacle(_by_text(file, call))
            for call in file.calls(*_OPERATOR_CALLS):
                values = [a.value if isinstance(a, ast.Constant) else None for a in call.args]
                if any(v is None or self.name in str(v).split(".") for v in values):
                    found.add_obstacle(_by_text(file, call))
        if any(_is_field(c, self.name) for c in self.family):
            self._dumped(found)

    def _dumped(self, found: ReferenceCollector) -> None:
        """Fields that are turned into the keys of a mapping."""
        for file in self.program.mentioning(*_FIELD_USES)[0]:
            values: list[tuple[ast.AST, ast.expr]] = []
            values += [(c, c.args[0]) for c in file.calls("asdict", "fields", "vars") if c.args]
            for name in ("__dict__", "_asdict"):
                values += [(node, node.value) for node in file.attributes(name)]
            for node, value in values:
                if self.ownership(self.inference.of(file, value)) != "others":
                    found.add_obstacle(f"{file.at(node)}the names of fields are used as text.")

    def _formatted(self, found: ReferenceCollector) -> None:
        """`"{0.name}".format(x)` reads an attribute too."""
        pattern = re.compile(rf"\{{[^{{}}]*\.{re.escape(self.name)}\b[^{{}}]*\}}")
        for file in self.files:
            for node in file.within:
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    parent = file.parents.get(node)
                    is_format = isinstance(parent, ast.Attribute) and parent.attr == "format"
                    if is_format and pattern.search(node.value):
                        found.add_obstacle(f"{file.at(node)}a format reads the attribute.")

    # Another name

    def clashes(self, new: str) -> list[str]:
        """Why the family cannot have a new name."""
        found: dict[str, None] = {}
        if self.is_private != (new.startswith("__") and not new.endswith("__")):
            found[f"{new}: names that begin with two underscores belong to one class."] = None
        if new.startswith("__") and new.endswith("__"):
            found[f"{new} is a name that Python itself would call."] = None
        for one in sorted_classes(self.related):
            for above in self.classes.project_mro(one):
                if defines(above, new):
                    found[f"{above.file.at(above.node)}{above.name} has {new} already."] = None
            if self.classes.foreign_has(one, new):
                where = one.file.at(one.node)
                found[f"{where}a base class of {one.name} has {new} already."] = None
        return list(found)


def sorted_classes(classes: set[PythonClass]) -> list[PythonClass]:
    """In the order of the files."""
    return sorted(classes, key=lambda c: (c.file.path, c.node.lineno))


def _is_field(of: PythonClass, name: str) -> bool:
    """Whether a class is made of fields, and a name is one of them."""
    made = decorator_names(of.node)
    tuples = {last_name(b) for b in of.node.bases}
    if not made and not tuples:
        return False
    return any(b.role in ("annotate", "assign") for b in of.binders(name))


def _by_text(file: PythonFile, call: ast.Call) -> str:
    return f"{file.at(call)}{last_name(call.func)}() reaches attributes by text."


def is_standard(dotted: str) -> bool:
    """Whether a name is of Python itself or of its standard library."""
    first = dotted.partition(".")[0]
    return first == "builtins" or first in sys.stdlib_module_names


def is_outside(program: Program, file: PythonFile, node: ast.AST) -> bool:
    """Whether an expression is a module from outside, or part of the standard library."""
    meaning = program.meaning(file, node)
    if not isinstance(meaning, ExternalName):
        return False
    if is_standard(meaning.name):
        return True
    occurrence = file.names.get(node)
    if occurrence is None or occurrence.owner is None:
        return False
    bound = occurrence.owner.binders(occurrence.name)
    return all(isinstance(file.parents.get(b.node), ast.Import) for b in bound)


def _has_init(classes: ClassHierarchy, of: PythonClass) -> bool:
    return any(c.binders("__init__") for c in classes.project_mro(of))


# Parameters that callers give by keyword

_PLAIN_DECORATORS = name_set("""
    staticmethod classmethod property abstractmethod override final overload cache lru_cache
    contextmanager asynccontextmanager setter deleter wraps cached_property
""")


@dataclass(eq=False)
class ParameterReferences:
    """The search for a parameter: in its function, in overrides, and in calls."""

    program: Program
    inference: Inference
    symbol: PythonSymbol

    def found(self) -> ReferenceCollector:
        """All references."""
        name, node = self.symbol.name, self.symbol.scope.node
        found = local_references(self.symbol)
        if not isinstance(node, Function) or self._is_positional(node):
            return found
        functions = self._functions(found)
        for file, function in functions[1:]:
            self._override(found, file, function)
        for file, function in functions:
            self._decorated(found, file, function)
        nodes = {function for _, function in functions}
        files, _ = self.program.mentioning(name)
        for file in files:
            for call in [n for n in file.within if isinstance(n, ast.Call)]:
                for word in call.keywords:
                    if word.arg == name:
                        self._keyword(found, file, call, word, nodes)
        self._spread(found, nodes)
        return found

    def _is_positional(self, node: Function) -> bool:
        """Whether no caller can give it by its name."""
        arguments = node.args
        only = [*arguments.posonlyargs, arguments.vararg, arguments.kwarg]
        method = method_of(self.symbol.file, self.symbol.scope)
        own = method is not None and method[1].first == self.symbol.name
        return own or any(a is not None and a.arg == self.symbol.name for a in only)

    def _functions(self, found: ReferenceCollector) -> list[tuple[PythonFile, Function]]:
        """The function itself, and those that override it or that it overrides."""
        node = self.symbol.scope.node
        assert isinstance(node, Function)
        own = [(self.symbol.file, node)]
        method = method_of(self.symbol.file, self.symbol.scope)
        if method is None or node.name in ("__init__", "__new__", "__call__"):
            return own
        members = MemberReferences(self.program, self.inference, method[0], node.name)
        members.files = self.program.mentioning(node.name)[0]
        members.find_family()
        for one in members.family:
            found.add_obstacles(self.inference.classes.unknown_bases(one, node.name))
            others = (binder.node for binder in one.binders(node.name))
            own += [(one.file, n) for n in others if isinstance(n, Function) and n is not node]
        return own

    def _override(self, found: ReferenceCollector, file: PythonFile, function: Function) -> None:
        scope = file.scopes[function]
        if any(b.role == "parameter" for b in scope.binders(self.symbol.name)):
            more = local_references(PythonSymbol(file, scope, self.symbol.name))
            for path, tokens in more.places.items():
                found.places.setdefault(path, {}).update(tokens)
            found.obstacles.update(more.obstacles)
        elif function.args.kwarg is not None:
            found.add_obstacle(
                f"{file.at(function)}it takes the parameter by **{function.args.kwarg.arg}."
            )

    def _decorated(self, found: ReferenceCollector, file: PythonFile, function: Function) -> None:
        for node in function.decorator_list:
            name = last_name(node.func if isinstance(node, ast.Call) else node)
            if name not in _PLAIN_DECORATORS:
                found.add_obstacle(
                    f"{file.at(node)}what @{name} does with the parameters cannot be told."
                )
        name = file.path.rpartition("/")[2]
        is_test = function.name.startswith("test") and name.startswith("test")
        if is_test or name.endswith("conftest.py"):
            found.add_obstacle(
                f"{file.at(function)}pytest finds fixtures by the names of parameters."
            )

    def _keyword(
        self,
        found: ReferenceCollector,
        file: PythonFile,
        call: ast.Call,
        word: ast.keyword,
        nodes: set[Function],
    ) -> None:
        token = file.source.token_at(word.lineno, word.col_offset, self.symbol.name)
        verdict = self.called(file, call, nodes)
        if verdict == "ours":
            found.add(file, token)
        elif verdict == "both":
            found.add_possible(file, token)
            found.add_obstacle(f"{file.at(word)}another function may be called there too.")
        elif verdict == "unknown" and self._could_be(call, nodes):
            found.add_possible(file, token)
            found.add_obstacle(f"{file.at(word)}what is called there cannot be told.")

    def _could_be(self, call: ast.Call, nodes: set[Function]) -> bool:
        """Whether something unknown that is called can be one of the functions."""
        names = {node.name for node in nodes}
        called = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and called not in names:
            return "__init__" in names or "__call__" in names
        return True

    def called(self, file: PythonFile, call: ast.Call, nodes: set[Function]) -> str:
        """Whether a call is one of the functions: ours, others, both, unknown."""
        function: ast.AST = call.func
        if last_name(function) in ("partial", "partialmethod") and call.args:
            function = call.args[0]
        values = self.inference.of(file, function)
        if values is None:
            return "unknown"
        kinds = {self._kind(value.kind, value.node, value.of, nodes) for value in values}
        if any(v.kind == "foreign" and not v.name.startswith("builtins.") for v in values):
            # What is from outside has parameters of its own.
            kinds.add("others")
        if "ours" not in kinds:
            return "unknown" if "unknown" in kinds else "others"
        return "ours" if kinds == {"ours"} else "both"

    def _kind(self, kind: str, node: object, of: PythonClass | None, nodes: set[Function]) -> str:
        if kind == "function":
            return "ours" if node in nodes else "others"
        if kind in ("class", "object") and of is not None:
            wanted = ("__init__", "__new__") if kind == "class" else ("__call__",)
            for name in wanted:
                for one in self.inference.classes.project_mro(of):
                    made = {b.node for b in one.binders(name)}
                    if made:
                        return "ours" if made & nodes else "others"
        return "others"

    def _spread(self, found: ReferenceCollector, nodes: set[Function]) -> None:
        """Calls that give keywords from a mapping."""
        words = {node.name for node in nodes if not node.name.startswith("__")}
        method = method_of(self.symbol.file, self.symbol.scope)
        if not words and method is not None:
            words = {method[0].name, "__init__", "super"}
        for file in self.program.mentioning(*sorted(words))[0] if words else ():
            for call in [n for n in file.within if isinstance(n, ast.Call)]:
                spread = [k.value for k in call.keywords if k.arg is None]
                if spread and self.called(file, call, nodes) in ("ours", "both"):
                    for value in spread:
                        self._mapping(found, file, value)

    def _mapping(self, found: ReferenceCollector, file: PythonFile, value: ast.expr) -> None:
        if isinstance(value, ast.Dict):
            keys = [k.value if isinstance(k, ast.Constant) else None for k in value.keys]
            if None not in keys and self.symbol.name not in keys:
                return
        found.add_obstacle(f"{file.at(value)}keywords are given by a mapping.")


def given_to(program: Program, inference: Inference, symbol: PythonSymbol, new: str) -> list[str]:
    """Why a parameter cannot have a new name: callers give that one already."""
    node = symbol.scope.node
    if not isinstance(node, Function) or node.args.kwarg is None:
        return []
    search = ParameterReferences(program, inference, symbol)
    found: list[str] = []
    for file in program.mentioning(new)[0]:
        for call in [n for n in file.within if isinstance(n, ast.Call)]:
            gives = any(k.arg == new for k in call.keywords)
            if gives and search.called(file, call, {node}) != "others":
                found.append(f"{file.at(call)}the call gives {new}= already.")
    return found
