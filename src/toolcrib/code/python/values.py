"""What an expression can be."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.classes import Class

Function = ast.FunctionDef | ast.AsyncFunctionDef
DEEP = 24


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
    of: Class | None = None
    file: File | None = None
    node: Function | None = None
    items: frozenset[Value] | None = None
    name: str = ""


Values = frozenset[Value] | None
"""All that it can be; None: it can be something that is not known."""
PLAIN = frozenset([Value("plain")])
NOTHING: frozenset[Value] = frozenset()
SAME_ITEMS = frozenset(
    ["list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter", "deque", "chain"]
)
PLAIN_CALLS = frozenset(
    [
        "len",
        "str",
        "int",
        "float",
        "bool",
        "bytes",
        "repr",
        "print",
        "range",
        "abs",
        "round",
        "hash",
        "id",
        "isinstance",
        "issubclass",
        "callable",
        "ord",
        "chr",
        "hex",
        "bin",
        "oct",
        "format",
        "input",
        "sum",
        "any",
        "all",
        "open",
        "bytearray",
        "complex",
        "object",
        "memoryview",
        "slice",
        "divmod",
        "pow",
        "ascii",
        "hasattr",
        "setattr",
        "delattr",
    ]
)
ITEM_METHODS = frozenset(["pop", "popleft", "popitem", "setdefault", "get", "__getitem__"])
BOX_METHODS = frozenset(["values", "copy", "union", "intersection", "difference"])
BOXES = frozenset(
    [
        "list",
        "List",
        "Sequence",
        "Iterable",
        "Iterator",
        "Collection",
        "set",
        "Set",
        "frozenset",
        "FrozenSet",
        "deque",
        "Deque",
        "tuple",
        "Tuple",
        "Generator",
        "AsyncIterator",
        "AsyncIterable",
        "MutableSequence",
        "AbstractSet",
        "KeysView",
        "ValuesView",
        "MutableSet",
        "Reversible",
        "Container",
    ]
)
MAPS = frozenset(
    ["dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"]
)
THROUGH = frozenset(
    [
        "Optional",
        "Union",
        "Final",
        "ClassVar",
        "Annotated",
        "Required",
        "NotRequired",
        "ReadOnly",
        "InitVar",
    ]
)
PLAIN_TYPES = frozenset(
    ["str", "int", "float", "bool", "bytes", "None", "complex", "bytearray", "range"]
)
PLAIN_MODULES = frozenset(
    [
        "json",
        "logging",
        "argparse",
        "io",
        "datetime",
        "decimal",
        "pathlib",
        "string",
        "fractions",
        "math",
        "re",
        "time",
        "os",
        "os.path",
        "sys",
        "hashlib",
        "uuid",
        "base64",
        "struct",
        "socket",
        "subprocess",
        "textwrap",
        "csv",
    ]
)
"""Modules whose functions and classes give nothing back of what a program hands to them."""
TRANSPARENT = frozenset(
    [
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "override",
        "final",
        "lru_cache",
        "cache",
        "overload",
    ]
)


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
