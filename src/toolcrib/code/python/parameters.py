"""The keywords by which callers give a parameter."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from toolcrib.code.python.bound_file import File, last_name
from toolcrib.code.python.classes import Class, binders, method_of
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.members import Members
from toolcrib.code.python.names import Found, local_references
from toolcrib.code.python.program import Program, Symbol

_KNOWN = frozenset(
    [
        "staticmethod",
        "classmethod",
        "property",
        "abstractmethod",
        "override",
        "final",
        "overload",
        "cache",
        "lru_cache",
        "contextmanager",
        "asynccontextmanager",
        "setter",
        "deleter",
        "wraps",
        "cached_property",
    ]
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Parameter:
    """The search for a parameter: in its function, in overrides, and in calls."""

    program: Program
    inference: Inference
    symbol: Symbol

    def found(self) -> Found:
        """All references."""
        name, node = self.symbol.name, self.symbol.scope.node
        found = local_references(self.program, self.symbol)
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

    def _functions(self, found: Found) -> list[tuple[File, Function]]:
        """The function itself, and those that override it or that it overrides."""
        node = self.symbol.scope.node
        assert isinstance(node, Function)
        own = [(self.symbol.file, node)]
        method = method_of(self.symbol.file, self.symbol.scope)
        if method is None or node.name in ("__init__", "__new__", "__call__"):
            return own
        members = Members(self.program, self.inference, method[0], node.name)
        members.files = self.program.mentioning(node.name)[0]
        members.gather()
        for one in members.family:
            for why in self.inference.classes.unknown_bases(one, node.name):
                found.stop(why)
            for binder in binders(one, node.name):
                if isinstance(binder.node, Function) and binder.node is not node:
                    own.append((one.file, binder.node))  # noqa: PERF401 - reads best so
        return own

    def _override(self, found: Found, file: File, function: Function) -> None:
        scope = file.scopes[function]
        if any(b.role == "parameter" for b in scope.bound.get(self.symbol.name, ())):
            more = local_references(self.program, Symbol(file, scope, self.symbol.name))
            found.places.update(more.places)
            found.obstacles.update(more.obstacles)
        elif function.args.kwarg is not None:
            found.stop(f"{file.at(function)}it takes the parameter by **{function.args.kwarg.arg}.")

    def _decorated(self, found: Found, file: File, function: Function) -> None:
        for node in function.decorator_list:
            name = last_name(node.func if isinstance(node, ast.Call) else node)
            if name not in _KNOWN:
                found.stop(f"{file.at(node)}what @{name} does with the parameters cannot be told.")
        is_test = function.name.startswith("test") and file.path.rpartition("/")[2].startswith(
            "test"
        )
        if is_test or file.path.endswith("conftest.py"):
            found.stop(f"{file.at(function)}pytest finds fixtures by the names of parameters.")

    def _keyword(
        self, found: Found, file: File, call: ast.Call, word: ast.keyword, nodes: set[Function]
    ) -> None:
        spot = file.source.spot(word.lineno, word.col_offset, self.symbol.name)
        verdict = self.called(file, call, nodes)
        if verdict == "ours":
            found.add(file, spot, "reference")
        elif verdict == "both":
            found.maybe(file, spot)
            found.stop(f"{file.at(word)}another function may be called there too.")
        elif verdict == "unknown" and self._could_be(file, call, nodes):
            found.maybe(file, spot)
            found.stop(f"{file.at(word)}what is called there cannot be told.")

    def _could_be(self, file: File, call: ast.Call, nodes: set[Function]) -> bool:
        """Whether something unknown that is called can be one of the functions."""
        del file
        names = {node.name for node in nodes}
        called = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and called not in names:
            return "__init__" in names or "__call__" in names
        return True

    def called(self, file: File, call: ast.Call, nodes: set[Function]) -> str:
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

    def _kind(self, kind: str, node: object, of: Class | None, nodes: set[Function]) -> str:
        if kind == "function":
            return "ours" if node in nodes else "others"
        if kind in ("class", "object") and of is not None:
            wanted = ("__init__", "__new__") if kind == "class" else ("__call__",)
            for name in wanted:
                for one in self.inference.classes.own_line(of):
                    made = [b.node for b in binders(one, name)]
                    if made:
                        return "ours" if set(made) & nodes else "others"
            return "others"
        return "others"

    def _spread(self, found: Found, nodes: set[Function]) -> None:
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

    def _mapping(self, found: Found, file: File, value: ast.expr) -> None:
        if isinstance(value, ast.Dict):
            keys = [k.value if isinstance(k, ast.Constant) else None for k in value.keys]
            if None not in keys and self.symbol.name not in keys:
                return
        found.stop(f"{file.at(value)}keywords are given by a mapping.")


def given_to(program: Program, inference: Inference, symbol: Symbol, new: str) -> list[str]:
    """Why a parameter cannot have a new name: callers give that one already."""
    node = symbol.scope.node
    if not isinstance(node, Function) or node.args.kwarg is None:
        return []
    search = Parameter(program, inference, symbol)
    found: list[str] = []
    for file in program.mentioning(new)[0]:
        for call in [n for n in file.within if isinstance(n, ast.Call)]:
            if any(k.arg == new for k in call.keywords):  # noqa: SIM102 - reads best so
                if search.called(file, call, {node}) != "others":
                    found.append(f"{file.at(call)}the call gives {new}= already.")
    return found
