"""Type inference for Python: what an expression can be, as far as the text proves it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from toolcrib.code.python.classes import (
    ClassHierarchy,
    PythonClass,
    method_at,
    method_of,
    self_stores,
)
from toolcrib.code.python.program import ExternalName, ModuleTarget, Program, PythonSymbol
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import Function, decorator_names, last_name
from toolcrib.code.scopes import Occurrence
from toolcrib.core.names import name_set

MAX_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Value:
    """Something that an expression can be.

    Attributes:
        kind: an "object" of a class of the project or the "class" itself, a "function", a
            "module", a "plain" value of Python's own types, a "box" with items, a "bound"
            method of a box, something "foreign", or what `super()` gives.
        of: the class of an object.
        file, node: where a function stands.
        items: what a box holds, or a coroutine or a context gives.
        name: the name of what is foreign or bound, or the sort of a box.
    """

    kind: Literal[
        "object", "class", "function", "module", "plain", "box", "bound", "foreign", "super"
    ]
    of: PythonClass | None = None
    file: PythonFile | None = None
    node: Function | None = None
    items: frozenset[Value] | None = None
    name: str = ""


Values = frozenset[Value] | None
"""All that it can be; None: it can be something that is not known."""
PLAIN = frozenset([Value("plain")])
NOTHING: frozenset[Value] = frozenset()
SAME_ITEMS = name_set("list tuple set frozenset sorted reversed iter filter deque chain")
PLAIN_CALLS = name_set("""
    len str int float bool bytes repr print range abs round hash id isinstance issubclass
    callable ord chr hex bin oct format input sum any all open bytearray complex object
    memoryview slice divmod pow ascii hasattr setattr delattr
""")
ITEM_METHODS = frozenset(["pop", "popleft", "popitem", "setdefault", "get", "__getitem__"])
BOX_METHODS = frozenset(["values", "copy", "union", "intersection", "difference"])
BOXES = name_set("""
    list List Sequence Iterable Iterator Collection set Set frozenset FrozenSet deque Deque
    tuple Tuple Generator AsyncIterator AsyncIterable MutableSequence AbstractSet KeysView
    ValuesView MutableSet Reversible Container
""")
MAPS = name_set("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict")
THROUGH = name_set("Optional Union Final ClassVar Annotated Required NotRequired ReadOnly InitVar")
PLAIN_TYPES = name_set("str int float bool bytes None complex bytearray range")
PLAIN_MODULES = name_set("""
    json logging argparse io datetime decimal pathlib string fractions math re time os os.path
    sys hashlib uuid base64 struct socket subprocess textwrap csv
""")
"""Modules whose functions and classes give nothing back of what a program hands to them."""
TRANSPARENT = name_set("""
    staticmethod classmethod abstractmethod override final lru_cache cache overload
    property cached_property contextmanager setter
""")
"""Decorators behind which a function gives back what it says."""


def box(items: Values, name: str = "") -> frozenset[Value]:
    """A container of some items; a "dict" holds them as its values."""
    return frozenset([Value("box", items=items, name=name)])


def union(parts: list[Values]) -> Values:
    """What can be any of some."""
    if any(part is None for part in parts):
        return None
    return frozenset().union(*(part for part in parts if part is not None))


OPERATORS = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.MatMult: "__matmul__",
    ast.BitOr: "__or__",
    ast.BitAnd: "__and__",
}


class Inference:
    """Follows values through the files of a program; one for a call, since it remembers."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.classes = ClassHierarchy(program)
        self._known: dict[tuple[int, ast.AST], Values] = {}
        self._busy: set[object] = set()

    def of(self, file: PythonFile, node: ast.AST | None) -> Values:
        """What an expression can be."""
        if node is None:
            return None
        key = (id(file), node)
        if key in self._known:
            return self._known[key]
        if key in self._busy or len(self._busy) > MAX_DEPTH * 4:
            return NOTHING if key in self._busy else None
        self._busy.add(key)
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        try:
            found: Values = method(file, node) if method is not None else None
        except RecursionError:
            found = None
        finally:
            self._busy.discard(key)
        if not self._busy:
            self._known[key] = found
        return found

    # Names

    def _name(self, file: PythonFile, node: ast.Name) -> Values:
        narrowed = self._narrowed(file, node)
        if narrowed is not None:
            return narrowed
        return self.of_meaning(self.program.named(file, node))

    def _narrowed(self, file: PythonFile, node: ast.Name) -> Values:
        """What `isinstance` says of a name in the branch that depends on it."""
        child: ast.AST = node
        parent = file.parents.get(node)
        while parent is not None and not isinstance(parent, Function | ast.Lambda | ast.ClassDef):
            if isinstance(parent, ast.If | ast.IfExp) and is_taken(parent, child):
                kinds = checked_kinds(parent.test, node.id)
                bound = {n.id for n in ast.walk(parent) if isinstance(n, ast.Name) and stores(n)}
                if kinds and node.id not in bound:
                    return self.annotated(file, kinds)
            child, parent = parent, file.parents.get(parent)
        return None

    def of_meaning(self, meaning: object) -> Values:
        """What a name of the project, or of others, can be."""
        meaning = self.program.origin(meaning)  # type: ignore[arg-type]
        if isinstance(meaning, ModuleTarget):
            return frozenset([Value("module", name=meaning.path)])
        if isinstance(meaning, ExternalName):
            return frozenset([Value("foreign", name=meaning.name)])
        if not isinstance(meaning, PythonSymbol):
            return None
        binders = [b for b in meaning.binders if b.role != "delete"]
        declared = [b for b in binders if _annotation(meaning.file, b) is not None]
        if not binders:
            return None
        return union([self.bound(meaning.file, b, meaning) for b in declared or binders])

    def bound(self, file: PythonFile, binder: Occurrence, symbol: PythonSymbol) -> Values:
        """What one place that binds a name gives it."""
        node = binder.node
        if isinstance(node, ast.ClassDef):
            return frozenset([Value("class", of=PythonClass(file, node))])
        if isinstance(node, Function):
            return frozenset([Value("function", file=file, node=node)])
        if isinstance(node, ast.arg):
            return self._parameter(file, binder, node)
        if isinstance(node, ast.alias):
            found = self.program.imported(file, binder)
            return None if found == symbol else self.of_meaning(found)
        if isinstance(node, ast.ExceptHandler):
            return PLAIN if node.type is None else self.annotated(file, node.type)
        annotation = _annotation(file, binder)
        if annotation is not None:
            return self.annotated(file, annotation)
        if isinstance(node, ast.Name):
            value = self._stored(file, node)
            return self._filled(file, value, symbol)
        return None

    def _parameter(self, file: PythonFile, binder: Occurrence, node: ast.arg) -> Values:
        found = method_of(file, binder.scope)
        if found is not None and found[1].first == node.arg:
            return frozenset([Value("class" if found[1].of_class else "object", of=found[0])])
        if node.annotation is None:
            return None
        kind = self.annotated(file, node.annotation)
        arguments = getattr(binder.scope.node, "args", None)
        if arguments is not None and node in (arguments.vararg, arguments.kwarg):
            return box(kind, "dict" if node is arguments.kwarg else "")
        return kind

    def _stored(self, file: PythonFile, node: ast.AST) -> Values:
        """What a statement puts into a name, an attribute or an element of a pattern."""
        parent = file.parents.get(node)
        if isinstance(parent, ast.Assign | ast.NamedExpr):
            return self.of(file, parent.value)
        if isinstance(parent, ast.AnnAssign):
            return self.annotated(file, parent.annotation)
        if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension) and parent.target is node:
            return self.items(self.of(file, parent.iter))
        if isinstance(parent, ast.withitem):
            return self._entered(file, parent.context_expr)
        if isinstance(parent, ast.Tuple | ast.List):
            return self._unpacked(file, parent, node)
        if isinstance(parent, ast.AugAssign):
            value = self.of(file, parent.value)
            return value if value is not None and value <= PLAIN else None
        return None

    def _unpacked(self, file: PythonFile, pattern: ast.Tuple | ast.List, node: ast.AST) -> Values:
        above = file.parents.get(pattern)
        index = pattern.elts.index(node)  # type: ignore[arg-type]
        if isinstance(above, ast.Assign) and isinstance(above.value, ast.Tuple):
            values = above.value.elts
            return self.of(file, values[index]) if len(values) == len(pattern.elts) else None
        if isinstance(above, ast.For | ast.comprehension) and isinstance(above.iter, ast.Call):
            called = last_name(above.iter.func)
            if called == "enumerate" and above.iter.args and isinstance(above.iter.func, ast.Name):
                return PLAIN if not index else self.items(self.of(file, above.iter.args[0]))
            if called == "zip" and index < len(above.iter.args):
                return self.items(self.of(file, above.iter.args[index]))
            if called == "items" and isinstance(above.iter.func, ast.Attribute):
                if not index:
                    return PLAIN
                return self.items(self.of(file, above.iter.func.value), mapped=True)
        return None

    def _entered(self, file: PythonFile, node: ast.expr) -> Values:
        parts: list[Values] = []
        for value in self.of(file, node) or [None]:
            if value is not None and value.kind == "object":
                parts.append(self.called(self.member(value, "__enter__")))
            elif value is not None and value.name == "context":
                parts.append(value.items)
            else:
                parts.append(PLAIN if value is not None and value.kind == "plain" else None)
        return union(parts)

    def _filled(self, file: PythonFile, value: Values, symbol: PythonSymbol) -> Values:
        """A box that is empty at first holds what is put into it later."""
        if value is None or not any(v.kind == "box" and v.items == NOTHING for v in value):
            return value
        put: list[Values] = []
        for use in symbol.scope.uses(symbol.name):
            parent = file.parents.get(use.node)
            call = file.parents.get(parent) if parent is not None else None
            if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.args:
                if parent.attr in ("append", "add", "appendleft", "insert"):
                    put.append(self.of(file, call.args[-1]))
                elif parent.attr in ("extend", "update"):
                    put.append(self.items(self.of(file, call.args[0])))
            elif isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                put.append(self._stored(file, parent))
        items = union(put) if put else None
        return box(items, next(iter(value)).name)

    # Attributes and calls

    def _attribute(self, file: PythonFile, node: ast.Attribute) -> Values:
        meaning = self.program.meaning(file, node)
        if meaning is not None:
            return self.of_meaning(meaning)
        base = self.of(file, node.value)
        if base is None:
            return None
        return union([self.member(value, node.attr) for value in base])

    def member(self, value: Value, name: str) -> Values:
        """What an attribute of a value can be."""
        if value.kind in ("object", "class", "super") and value.of is not None:
            return self._of_class(value, name)
        if value.kind == "plain":
            return PLAIN
        if value.kind == "box":
            return frozenset([Value("bound", items=value.items, name=name, file=value.file)])
        if value.kind == "foreign":
            return frozenset([Value("foreign", name=f"{value.name}.{name}")])
        return None

    def _of_class(self, value: Value, name: str) -> Values:
        assert value.of is not None
        own = self.classes.project_mro(value.of)
        for above in own[1:] if value.kind == "super" else own:
            symbol = PythonSymbol(above.file, above.scope, name)
            bound = [b for b in symbol.binders if b.role != "delete"]
            found = [self._given(above.file, binder, symbol) for binder in bound]
            if not any(_annotation(above.file, b) for b in bound):
                stores = self_stores(above, name)
                found += [self._stored_value(above.file, store) for store in stores]
            if found:
                return union(found)
        if name == "__class__" and value.kind == "object":
            return frozenset([Value("class", of=value.of)])
        return None

    def _stored_value(self, file: PythonFile, store: ast.Attribute) -> Values:
        value = self._stored(file, store)
        if value is not None and any(v.kind == "box" and v.items == NOTHING for v in value):
            return box(None)
        return value

    def _given(self, file: PythonFile, binder: Occurrence, symbol: PythonSymbol) -> Values:
        node = binder.node
        if isinstance(node, Function):
            names = {last_name(d) for d in node.decorator_list}
            if names & {"property", "cached_property"}:
                return self.returned(file, node)
            if names & {"setter", "deleter"}:
                return NOTHING
        return self.bound(file, binder, symbol)

    def _call(self, file: PythonFile, node: ast.Call) -> Values:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            method = method_at(file, file.within[node])
            return frozenset([Value("super", of=method[0])]) if method else None
        function = self.of(file, node.func)
        if function is None:
            return None
        return union([self._result(file, node, value) for value in function])

    def _result(self, file: PythonFile, node: ast.Call, value: Value) -> Values:
        if value.kind == "foreign":
            return self._foreign(file, node, value.name)
        if value.kind == "bound":
            if value.name in ITEM_METHODS:
                more = [self.of(file, a) for a in node.args[1:]]
                return union([value.items, *more, PLAIN])
            if value.name in BOX_METHODS:
                return box(value.items)
            return PLAIN if value.name != "items" else None
        return self.called(frozenset([value]))

    def called(self, function: Values) -> Values:
        """What a call of something gives."""
        parts: list[Values] = []
        for value in function or [Value("foreign")]:
            if value.kind == "class":
                parts.append(frozenset([Value("object", of=value.of)]))
            elif value.kind == "function" and value.file is not None and value.node is not None:
                parts.append(self.returned(value.file, value.node))
            elif value.kind == "object":
                parts.append(self.called(self.member(value, "__call__")))
            else:
                parts.append(PLAIN if value.kind == "plain" else None)
        return union(parts)

    def returned(self, file: PythonFile, node: Function) -> Values:
        """What a function gives back."""
        names = decorator_names(node)
        if names - TRANSPARENT:
            return None
        if node.returns is not None:
            found = self.annotated(file, node.returns, node)
        else:
            found = self._returns(file, node)
        if "contextmanager" in names:
            return box(self.items(found), "context")
        if isinstance(node, ast.AsyncFunctionDef):
            return box(found, "coroutine")
        return found

    def _returns(self, file: PythonFile, node: Function) -> Values:
        scope = file.scopes[node]
        inside = [n for n in ast.walk(node) if file.within.get(n) is scope]
        yields = [n for n in inside if isinstance(n, ast.Yield | ast.YieldFrom)]
        if yields:
            plain = [self.of(file, y.value) for y in yields if isinstance(y, ast.Yield)]
            others = [self.of(file, y.value) for y in yields if isinstance(y, ast.YieldFrom)]
            return box(union([*plain, *map(self.items, others)]))
        given = [n.value for n in inside if isinstance(n, ast.Return)]
        return union([PLAIN, *(self.of(file, v) for v in given if v is not None)])

    def _foreign(self, file: PythonFile, node: ast.Call, name: str) -> Values:
        module, _, last = name.rpartition(".")
        first = self.of(file, node.args[0]) if node.args else None
        if last in PLAIN_CALLS and module == "builtins":
            return PLAIN
        if last in SAME_ITEMS:
            source = node.args[-1] if node.args else None
            items = self.items(self.of(file, source)) if source is not None else NOTHING
            return box(items)
        if last in ("dict", "defaultdict", "OrderedDict"):
            return box(NOTHING if last != "dict" or not node.args else None, "dict")
        if module == "builtins" and last in ("next", "max", "min"):
            if last == "next" or len(node.args) == 1:
                more = [self.of(file, k.value) for k in node.keywords if k.arg == "default"]
                more += [self.of(file, a) for a in node.args[1:]]
                return union([self.items(first), *more])
            return union([self.of(file, a) for a in node.args])
        if name in ("copy.copy", "copy.deepcopy", "dataclasses.replace"):
            return first
        if name == "builtins.type" and len(node.args) == 1 and first is not None:
            known = all(v.kind == "object" for v in first)
            return frozenset(Value("class", of=v.of) for v in first) if known else None
        if last == "cast" and len(node.args) == 2:
            return self.annotated(file, node.args[0])
        if name in {"builtins.enumerate", "builtins.zip"}:
            return box(None)
        return self.builtin_instance(name)

    def builtin_instance(self, name: str) -> Values:
        """An object of a class of Python's own."""
        module, _, last = name.rpartition(".")
        if module == "builtins":
            known = last in PLAIN_TYPES or last.endswith(("Error", "Exception", "Warning"))
            return PLAIN if known else None
        return PLAIN if module in PLAIN_MODULES else None

    # Other expressions

    def _constant(self, file: PythonFile, node: ast.Constant) -> Values:
        del file, node
        return PLAIN

    _joinedstr = _compare = _constant

    def _list(self, file: PythonFile, node: ast.List | ast.Tuple | ast.Set) -> Values:
        parts = [
            self.items(self.of(file, e.value)) if isinstance(e, ast.Starred) else self.of(file, e)
            for e in node.elts
        ]
        return box(union(parts))

    _tuple = _set = _list

    def _dict(self, file: PythonFile, node: ast.Dict) -> Values:
        if None in node.keys:
            return box(None, "dict")
        items = union([self.of(file, v) for v in node.values])
        return box(items, "dict")

    def _listcomp(self, file: PythonFile, node: ast.ListComp) -> Values:
        return box(self.of(file, node.elt))

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, file: PythonFile, node: ast.DictComp) -> Values:
        return box(self.of(file, node.value), "dict")

    def _subscript(self, file: PythonFile, node: ast.Subscript) -> Values:
        base = self.of(file, node.value)
        if base is None:
            return None
        if isinstance(node.slice, ast.Slice):
            return base
        parts: list[Values] = []
        for value in base:
            if value.kind == "box":
                parts.append(value.items)
            elif value.kind == "class" and value.of is not None:
                parts.append(frozenset([value]))
            elif value.kind == "object":
                parts.append(self.called(self.member(value, "__getitem__")))
            else:
                parts.append(PLAIN if value.kind == "plain" else None)
        return union(parts)

    def _ifexp(self, file: PythonFile, node: ast.IfExp) -> Values:
        return union([self.of(file, node.body), self.of(file, node.orelse)])

    def _boolop(self, file: PythonFile, node: ast.BoolOp) -> Values:
        return union([self.of(file, v) for v in node.values])

    def _namedexpr(self, file: PythonFile, node: ast.NamedExpr) -> Values:
        return self.of(file, node.value)

    def _await(self, file: PythonFile, node: ast.Await) -> Values:
        values = self.of(file, node.value) or [Value("foreign")]
        return union([v.items if v.name == "coroutine" else None for v in values])

    def _unaryop(self, file: PythonFile, node: ast.UnaryOp) -> Values:
        if isinstance(node.op, ast.Not):
            return PLAIN
        value = self.of(file, node.operand)
        return value if value is not None and value <= PLAIN else None

    def _binop(self, file: PythonFile, node: ast.BinOp) -> Values:
        left, right = self.of(file, node.left), self.of(file, node.right)
        if left is None or right is None:
            return None
        if left <= PLAIN and right <= PLAIN:
            return PLAIN
        if all(v.kind == "box" for v in left | right):
            return left | right
        name = OPERATORS.get(type(node.op), "")
        return self.called(union([self.member(v, name) for v in left])) if name else None

    def items(self, values: Values, *, mapped: bool = False) -> Values:
        """What iterating gives; with `mapped`, the values of a mapping and not its keys."""
        if values is None:
            return None
        parts: list[Values] = []
        for value in values:
            if value.kind == "box":
                is_keys = value.name == "dict" and not mapped
                parts.append(PLAIN if is_keys else value.items)
            elif value.kind == "object":
                parts.append(self.items(self.called(self.member(value, "__iter__"))))
            else:
                parts.append(PLAIN if value.kind == "plain" else None)
        return union(parts)

    # Annotations

    def annotated(  # noqa: C901 - one list of cases
        self, file: PythonFile, node: ast.AST, function: Function | None = None
    ) -> Values:
        """What an annotation allows."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self._quoted(file, node)
            return PLAIN
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return union([self.annotated(file, e, function) for e in (node.left, node.right)])
        if isinstance(node, ast.Tuple):
            return union([self.annotated(file, e, function) for e in node.elts])
        if isinstance(node, ast.Subscript):
            return self._generic(file, node, function)
        name = last_name(node)
        if name == "Self":
            method = method_at(file, file.within.get(node, file.top))
            if method is None and function is not None:
                method = method_of(file, file.scopes[function])
            return frozenset([Value("object", of=method[0])]) if method else None
        found = self.classes.of(file, node)
        if isinstance(found, PythonClass):
            return frozenset([Value("object", of=found)])
        if isinstance(found, ExternalName):
            if name in BOXES | MAPS:
                return box(None, "dict" if name in MAPS else "")
            return PLAIN if name in PLAIN_TYPES else self.builtin_instance(found.name)
        return None

    def _quoted(self, file: PythonFile, node: ast.Constant) -> Values:
        for inner, shift in file.shifts.items():
            if (
                shift.line == node.lineno
                and isinstance(inner, ast.expr)
                and file.parents.get(inner) is None
            ):
                column = file.source.column(node.lineno, node.col_offset)
                if 0 < shift.column - column <= 4 and ast.unparse(inner):
                    return self.annotated(file, inner)
        return None

    def _generic(self, file: PythonFile, node: ast.Subscript, function: Function | None) -> Values:
        name = last_name(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in THROUGH:
            wanted = parts[:1] if name == "Annotated" else parts
            allowed = [self.annotated(file, p, function) for p in wanted]
            return union([PLAIN, *allowed] if name == "Optional" else allowed)
        if name in BOXES:
            arguments = [p for p in parts if not (isinstance(p, ast.Constant) and p.value is ...)]
            arguments = arguments[:1] if "Generator" in name else arguments
            return box(union([self.annotated(file, p, function) for p in arguments]))
        if name in MAPS and len(parts) == 2:
            return box(self.annotated(file, parts[1], function), "dict")
        if name in ("type", "Type"):
            found = self.annotated(file, parts[0], function)
            if not found or not all(v.of for v in found):
                return None
            return frozenset(Value("class", of=v.of) for v in found)
        if name in ("Literal", "Callable"):
            return PLAIN if name == "Literal" else None
        return self.annotated(file, node.value, function)


def is_taken(parent: ast.If | ast.IfExp, child: ast.AST) -> bool:
    """Whether a part of a condition runs only where the test holds."""
    if isinstance(parent, ast.IfExp):
        return child is parent.body
    return child in parent.body


def checked_kinds(test: ast.expr, name: str) -> ast.expr | None:
    """The classes that a test with `isinstance` asks for."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        if (
            isinstance(part, ast.Call)
            and last_name(part.func) == "isinstance"
            and len(part.args) == 2
            and isinstance(part.args[0], ast.Name)
            and part.args[0].id == name
        ):
            return part.args[1]
    return None


def stores(node: ast.Name) -> bool:
    """Whether a name is bound or deleted."""
    return not isinstance(node.ctx, ast.Load)


def _annotation(file: PythonFile, binder: Occurrence) -> ast.expr | None:
    parent = file.parents.get(binder.node)
    if isinstance(parent, ast.AnnAssign) and parent.target is binder.node:
        return parent.annotation
    return None
