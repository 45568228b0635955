"""References to names of Python modules and functions, and code that reaches them by text."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from toolcrib.code.places import Kind, NameToken, Place, ReferenceCollector, SymbolReferences
from toolcrib.code.python.classes import PythonClass
from toolcrib.code.python.program import (
    ModuleTarget,
    Program,
    PythonSymbol,
    all_strings,
    exported,
    is_written_out,
)
from toolcrib.code.python.scopes import PythonFile
from toolcrib.code.python.source import Function, decorator_names, last_name
from toolcrib.code.scopes import LexicalScope, Occurrence

_KINDS: dict[str, Kind] = {"load": "reference", "declare": "reference", "import": "import"}
_WHAT = {
    "function": "function",
    "class": "class",
    "parameter": "parameter",
    "assign": "variable",
    "annotate": "variable",
    "import": "import",
}
MAX_TEXTS = 200


def add_occurrence(
    found: ReferenceCollector, file: PythonFile, one: Occurrence, before: str = ""
) -> None:
    """Add a name of a scope."""
    found.add(file, one.token.as_kind(_KINDS.get(one.role, "definition"), before))
    if one.mixed:
        found.add_obstacle(
            f"{file.path}:{one.token.line}: it may mean another {found.name} there, "
            "depending on what ran before."
        )


def what_is(symbol: PythonSymbol) -> str:
    """The kind of a symbol as a word."""
    roles = [b.role for b in symbol.binders if b.role != "delete"]
    return _WHAT.get(roles[0], "variable") if roles else "variable"


def local_references(symbol: PythonSymbol) -> ReferenceCollector:
    """The references of a name that only its own function or class body knows."""
    found = ReferenceCollector(symbol.name)
    for use in symbol.scope.uses(symbol.name):
        add_occurrence(found, symbol.file, use, _as_import(symbol, use))
    found.add_obstacles(in_scope(symbol.file, symbol.scope, symbol.name))
    _mangled(found, symbol.file)
    texts(found, [symbol.file])
    return found


def _as_import(symbol: PythonSymbol, use: Occurrence) -> str:
    """A local name that an import gives keeps the name of what is imported."""
    alias = use.node
    if use.role != "import" or not isinstance(alias, ast.alias) or alias.asname:
        return ""
    return f"{symbol.name} as "


def _mangled(found: ReferenceCollector, file: PythonFile) -> None:
    if not found.name.startswith("__") or found.name.endswith("__"):
        return
    for token in list(found.places.get(file.path, {}).values()):
        if file.scope_at(token.line).kind == "class":
            found.add_obstacle(
                f"{file.path}:{token.line}: names with two underscores are private there."
            )


@dataclass(eq=False)
class GlobalReferences:
    """The search for a name that a module gives to others.

    `group` holds each binding that must have the same name: of the module itself, and of
    all that import it under that name.
    """

    program: Program
    symbol: PythonSymbol
    files: list[PythonFile] = field(default_factory=list)
    group: dict[PythonSymbol, None] = field(default_factory=dict)
    by_star: dict[str, PythonFile] = field(default_factory=dict)
    """The files that have the name by an `import *` whose `__all__` names it."""

    def found(self) -> ReferenceCollector:
        """All references."""
        name = self.symbol.name
        found = ReferenceCollector(name)
        self.files, closed = self.program.mentioning(name)
        found.add_obstacles(filter(is_python, closed))
        self.group = {self.symbol: None}
        self._join(found)
        for member in list(self.group):
            self._uses(found, member)
        self._stars(found)
        for file in self.files:
            self._attributes(found, file)
        self._bars(found)
        texts(found, self.files)
        return found

    def _join(self, found: ReferenceCollector) -> None:
        """Let the imports of what is in the group join it, until no more does."""
        name = self.symbol.name
        todo = True
        seen: set[ast.AST] = set()
        while todo:
            todo = False
            imports = ((file, *found) for file in self.files for found in file.imports(name))
            for file, node, alias in imports:
                if alias in seen:
                    continue
                meaning = self.program.from_import(file, node, alias.name)
                if not isinstance(meaning, PythonSymbol) or meaning not in self.group:
                    continue
                if self.program.modules.imported(file.path, node).unsure:
                    found.add_obstacle(f"{file.path}:{node.lineno}: several files could be meant.")
                seen.add(alias)
                todo = True
                token = file.source.token_at(alias.lineno, alias.col_offset, name)
                found.add(file, token.as_kind("import"))
                scope = file.within.get(node)
                if alias.asname in (None, name) and scope is not None:
                    local = scope.resolve(name)
                    if local is not None and alias.asname is None:
                        self.group[PythonSymbol(file, local.scope, name)] = None

    def _uses(self, found: ReferenceCollector, member: PythonSymbol) -> None:
        file = member.file
        for use in member.scope.uses(member.name):
            is_import = use.role == "import"
            before = self._import_prefix(found, file, use) if is_import else ""
            add_occurrence(found, file, use, before)
        if member.is_global:
            for node in all_strings(file):
                if node.value == member.name:
                    _add_string(found, file, node)
        for scope in file.top.walk():
            for occurrence in scope.occurrences:
                if occurrence.name == member.name and occurrence.mixed and scope.kind == "class":
                    found.add_obstacle(
                        f"{file.path}:{occurrence.token.line}: it may mean the {member.name} of "
                        "the class or of the module there."
                    )

    def _import_prefix(self, found: ReferenceCollector, file: PythonFile, use: Occurrence) -> str:
        """What to write before the new name in an import."""
        alias = use.node
        node = file.parents.get(alias)
        if not isinstance(alias, ast.alias) or alias.asname:
            return ""
        if not isinstance(node, ast.ImportFrom):
            if "." in alias.name:
                found.add_obstacle(
                    f"{file.path}:{alias.lineno}: an import of a module has this name."
                )
            return f"{use.name} as "
        meaning = self.program.from_import(file, node, alias.name)
        if isinstance(meaning, PythonSymbol) and meaning in self.group:
            return ""
        return f"{use.name} as "

    def _attributes(self, found: ReferenceCollector, file: PythonFile) -> None:
        escapes = None
        for node in file.attributes(self.symbol.name):
            meaning = self.program.meaning(file, node.value)
            token = file.attribute_token(node)
            if isinstance(meaning, ModuleTarget):
                member = self.program.member(meaning, node.attr)
                if isinstance(member, PythonSymbol) and member in self.group:
                    found.add(file, token)
            elif meaning is None or isinstance(meaning, PythonSymbol):
                if escapes is None:
                    escapes = module_escapes(self.program, self._paths())
                if escapes and not _is_own(node):
                    found.add_possible(file, token)
                    found.add_obstacles(escapes)
                    found.add_obstacle(f"{file.at(node)}it may be an attribute of that module.")

    def _paths(self) -> set[str]:
        """The files of the modules that have the name."""
        return {member.file.path for member in self.group if member.is_global} | {*self.by_star}

    def _stars(self, found: ReferenceCollector) -> None:
        name, todo = self.symbol.name, True
        members = {m.file.path: m.file for m in self.group if m.is_global}
        files, _ = self.program.mentioning("import *", "import(*", "import (*", "import  *")
        while todo:
            todo = False
            for file in files:
                for node in file.stars:
                    target = self.program.modules.imported(file.path, node)
                    giver = members.get(target.path)
                    if giver is None or not star_import_gives(giver, name):
                        continue
                    if why := self._star_bar(file, node, target, giver):
                        found.add_obstacle(f"{file.path}:{node.lineno}: {why}")
                    elif file.path not in members:
                        members[file.path] = self.by_star[file.path] = file
                        self._star_uses(found, file)
                        todo = True

    def _star_bar(
        self, file: PythonFile, node: ast.ImportFrom, target: ModuleTarget, giver: PythonFile
    ) -> str:
        """Why it cannot be told what an `import *` brings in; "" where it can."""
        name = self.symbol.name
        if target.unsure or not is_written_out(giver):
            return "`import *` brings the name in."
        if file.top.binders(name):
            return "`import *` brings the name in, which is defined there too."
        for other in file.stars:
            path = self.program.modules.imported(file.path, other).path
            module = self.program.maybe(path) if path else None
            if other is not node and (module is None or star_import_gives(module, name)):
                return "`import *` brings the name in, and another one may."
        return ""

    def _star_uses(self, found: ReferenceCollector, file: PythonFile) -> None:
        """Add the uses of the name in a file that has it by an `import *`."""
        name = self.symbol.name
        for occurrence in file.names.values():
            if occurrence.name == name and occurrence.owner is None:
                add_occurrence(found, file, occurrence)
        for string in all_strings(file):
            if string.value == name:
                _add_string(found, file, string)

    def _bars(self, found: ReferenceCollector) -> None:
        name = self.symbol.name
        for member in self.group:
            file = member.file
            _mangled(found, file)
            if not member.is_global:
                found.add_obstacles(in_scope(file, member.scope, name))
                continue
            found.add_obstacles(in_module(file, name))
            stub = self.program.modules.stub_of(file.path)
            if stub and re.search(rf"\b{name}\b", self.program.project.text(stub)):
                found.add_obstacle(f"{stub}:1: a stub declares the names of that module too.")
            for binder in member.binders:
                if decorator_names(binder.node) & {"fixture", "hookimpl"}:
                    found.add_obstacle(f"{file.at(binder.node)}pytest finds a fixture by its name.")
        everywhere = {m.file.path for m in self.group} | {*self.by_star}
        for file in self.by_star.values():
            found.add_obstacles(in_module(file, name))
        found.add_obstacles(of_modules(self.program, everywhere, name))
        if name.startswith("__") and name.endswith("__"):
            found.add_obstacle(f"{self.symbol.file.path}:1: {name} is a name of Python itself.")


def is_python(why: str) -> bool:
    """Whether a file that cannot be looked into could hold Python."""
    return re.match(r".*?\.(py|pyi|pyw|ipynb)\b", why) is not None


def star_import_gives(file: PythonFile, name: str) -> bool:
    """Whether `import *` of a module brings a name, if it has it."""
    listed = exported(file)
    return name in listed if listed is not None else not name.startswith("_")


def _is_own(node: ast.Attribute) -> bool:
    """Whether an attribute is one of `self`, which is no module."""
    value = node.value
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def _add_string(found: ReferenceCollector, file: PythonFile, node: ast.Constant) -> None:
    text = file.source.segment(node)
    at = text.find(found.name, len(text) - len(text.lstrip("rRuU")))
    if at < 0 or text[at:].strip("'\"") != found.name or text[:at].strip("rRuU'\""):
        found.add_obstacle(f"{file.at(node)}the name is written in another way there.")
        return
    column = file.source.column(node.lineno, node.col_offset) + at
    found.add(file, file.source.token(node.lineno, column, len(found.name)).as_kind("string"))


def texts(found: ReferenceCollector, files: list[PythonFile]) -> None:
    """Add the comments and strings in which the name stands as a word."""
    word = re.compile(rf"(?<!\w){re.escape(found.name)}(?!\w)")
    for file in files:
        known = {o.token.start for o in file.top.all() if o.name == found.name}
        known |= {file.attribute_token(each).start for each in file.attributes(found.name)}
        if all(match.start() in known for match in word.finditer(file.source.text)):
            continue  # to part it into tokens takes longest of all
        for token in _words(file, word):
            if sum(map(len, found.possible.values())) >= MAX_TEXTS:
                return
            if token.start not in known:
                found.add_possible(file, token)


def _words(file: PythonFile, word: re.Pattern[str]) -> Iterator[NameToken]:
    middle = getattr(tokenize, "FSTRING_MIDDLE", -1)
    for token in file.source.tokens:
        if token.type not in (tokenize.STRING, tokenize.COMMENT, middle):
            continue
        for row, line in enumerate(token.string.split("\n")):
            shift = token.start[1] if not row else 0
            for match in word.finditer(line):
                at = file.source.token(token.start[0] + row, match.start() + shift, len(match[0]))
                yield at.as_kind("text")


# Code that reaches names by text

_EVALUATING_CALLS = ("eval", "exec")
_NAMESPACE_CALLS = ("locals", "vars", "globals")
ATTRIBUTE_CALLS = ("getattr", "setattr", "hasattr", "delattr")
_IMPORT_CALLS = ("import_module", "__import__")


def in_scope(file: PythonFile, scope: LexicalScope, name: str) -> Iterator[str]:
    """What may use a local name by its text."""
    inside = set(scope.walk())
    for call in file.calls(*_EVALUATING_CALLS, "locals", "vars"):
        if file.within[call] not in inside or not _is_builtin(file, call):
            continue
        called = last_name(call.func)
        if called == "vars" and call.args:
            continue
        if called in _EVALUATING_CALLS and not _may_name(call, name):
            continue
        yield f"{file.at(call)}{called}() may use the name."


def in_module(file: PythonFile, name: str) -> Iterator[str]:
    """What in a module itself may use one of its names by its text."""
    for call in file.calls(*_EVALUATING_CALLS, *_NAMESPACE_CALLS):
        if not _is_builtin(file, call):
            continue
        called = last_name(call.func)
        if called in _EVALUATING_CALLS:
            if _may_name(call, name):
                yield f"{file.at(call)}{called}() may use the name."
            continue
        at_module = file.within[call].kind in ("module", "comprehension")
        if (called == "globals" or (at_module and not call.args)) and _is_reached(file, call, name):
            yield f"{file.at(call)}{called}() may use the name."


def _is_builtin(file: PythonFile, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    found = file.names.get(call.func)
    return found is None or found.owner is None


def _may_name(call: ast.Call, name: str) -> bool:
    """Whether code that is run from a text can have a name in it."""
    text = call.args[0] if call.args else None
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return re.search(rf"\b{re.escape(name)}\b", text.value) is not None
    return True


def _is_reached(file: PythonFile, call: ast.Call, name: str) -> bool:
    """Whether a namespace is read at this name, or at any."""
    parent = file.parents.get(call)
    key: ast.AST | None = None
    if isinstance(parent, ast.Subscript) and parent.value is call:
        key = parent.slice
    elif isinstance(parent, ast.Attribute) and parent.attr in ("get", "pop", "setdefault"):
        above = file.parents.get(parent)
        key = above.args[0] if isinstance(above, ast.Call) and above.args else None
    return not isinstance(key, ast.Constant) or key.value == name


def of_modules(program: Program, paths: set[str], name: str) -> Iterator[str]:
    """Where any file reads an attribute of a module by its text."""
    files, _ = program.mentioning(*ATTRIBUTE_CALLS)
    for file in files:
        for call in file.calls(*ATTRIBUTE_CALLS):
            if len(call.args) < 2 or not _is_builtin(file, call):
                continue
            found = program.meaning(file, call.args[0])
            if not isinstance(found, ModuleTarget) or found.path not in paths:
                continue
            key = call.args[1]
            if not isinstance(key, ast.Constant) or key.value == name:
                yield f"{file.at(call)}{last_name(call.func)}() reaches names of the module."
    yield from _by_import(program, paths, name)


def _by_import(program: Program, paths: set[str], name: str) -> Iterator[str]:
    """Modules that are imported by their names, and whose attribute is then read."""
    files, _ = program.mentioning(*_IMPORT_CALLS, "sys.modules")
    for file in files:
        uses = bool(file.attributes(name)) or _reaches(file, name)
        tables = [n for n in file.attributes("modules") if last_name(n.value) == "sys"]
        for node in (*file.calls(*_IMPORT_CALLS), *tables):
            if uses and _may_be(program, file, node, paths):
                yield f"{file.at(node)}a module is loaded by its name, and asked for {name}."


def _reaches(file: PythonFile, name: str) -> bool:
    for call in file.calls(*ATTRIBUTE_CALLS):
        key = call.args[1] if len(call.args) > 1 else None
        if not isinstance(key, ast.Constant) or key.value == name:
            return True
    return False


def _may_be(program: Program, file: PythonFile, node: ast.AST, paths: set[str]) -> bool:
    key: ast.AST | None = None
    if isinstance(node, ast.Call):
        key = node.args[0] if node.args else None
    else:
        parent = file.parents.get(node)
        key = parent.slice if isinstance(parent, ast.Subscript) else None
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        dotted = key.value.lstrip(".")
        return any(_fits(program, path, dotted) for path in paths)
    return True


def _fits(program: Program, path: str, dotted: str) -> bool:
    name = program.modules.name_of(path)
    return name == dotted or name.endswith(f".{dotted}") or dotted.endswith(f".{name}")


def module_escapes(program: Program, paths: set[str]) -> list[str]:
    """Where one of some modules is used as a value, not only for its attributes."""
    found: dict[str, None] = {}
    words = {program.modules.name_of(path).rpartition(".")[2] for path in paths}
    files, _ = program.mentioning(*sorted(word for word in words if word))
    for file in files:
        for node in file.within:
            if not isinstance(node, ast.Name | ast.Attribute):
                continue
            if not isinstance(node.ctx, ast.Load) or not _is_value(file, node):
                continue
            if isinstance(node, ast.Name) and file.names.get(node) is None:
                continue
            target = program.module_of(file, node)
            if target is not None and target.path in paths:
                found[f"{file.at(node)}the module is handed on as a value."] = None
    return list(found)


def _is_value(file: PythonFile, node: ast.AST) -> bool:
    parent = file.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return False
    if isinstance(parent, ast.Call) and node in parent.args:
        # What asks for names by text is looked at apart.
        return last_name(parent.func) not in (*ATTRIBUTE_CALLS, "reload")
    return True


# Code that shows the text of a name

_DEBUG_FIELD = re.compile(r"[^{}]*?(?<![=!<>])=\s*(?:[!:][^}]*)?\}")
_NAME_ATTRIBUTES = ("__name__", "__qualname__")
_ANNOTATION_READERS = ("__annotations__", "get_type_hints", "get_annotations", "inspect.signature")
_CALLBACK_TAKERS = frozenset(["sort", "sorted", "map", "filter", "min", "max", "reduce", "groupby"])


def texts_seen(program: Program, found: SymbolReferences) -> Iterator[str]:
    """Where the name of something that was found is seen as text."""
    for path in sorted({place.path for place in found.certain}):
        file = program.file(path)
        places = [place for place in found.certain if place.path == path]
        yield from _named_by_fstrings(file, places)
        ends = {(place.line, place.end_column) for place in places}
        for attribute in (a for name in _NAME_ATTRIBUTES for a in file.attributes(name)):
            value = attribute.value
            line = value.end_lineno or value.lineno
            if (line, file.source.column(line, value.end_col_offset or 0)) in ends:
                yield f"{file.at(attribute)}{found.name}.{attribute.attr} is its name as text."
    for place in found.possible:
        if place.kind == "text":
            line_text = program.file(place.path).source.lines[place.line - 1].lstrip()
            if line_text.startswith((">>> ", "... ")):
                yield f"{place.path}:{place.line}: a doctest uses it."


def _named_by_fstrings(file: PythonFile, places: Iterable[Place]) -> Iterator[str]:
    """`f"{name=}"`, which shows the name."""
    strings = [node for node in file.within if isinstance(node, ast.JoinedStr)]
    if not strings:
        return
    for place in places:
        after = file.source.lines[place.line - 1][place.end_column :]
        if not _DEBUG_FIELD.match(after):
            continue
        if any(n.lineno <= place.line <= (n.end_lineno or n.lineno) for n in strings):
            yield f"{file.path}:{place.line}: an f-string shows the name itself."


def listed(program: Program, bound: Iterable[Occurrence]) -> Iterator[str]:
    """Where the names of what is annotated are listed."""
    if not any(occurrence.role == "annotate" for occurrence in bound):
        return
    for word in _ANNOTATION_READERS:
        for file in program.mentioning(word)[0]:
            at = next(n for n, line in enumerate(file.source.lines, 1) if word in line)
            yield f"{file.path}:{at}: the names of what is annotated are listed."


def invented(program: Program, family: Iterable[PythonClass], new: str) -> Iterator[str]:
    """Where a class computes its attributes, and the new name is read from it."""
    for one in family:
        maker = next((m for m in ("__getattr__", "__getattribute__") if one.binders(m)), "")
        if not maker:
            continue
        for file in program.mentioning(new)[0]:
            for attribute in file.attributes(new):
                yield f"{file.at(attribute)}{new} may be what {maker} of {one.name} gives."


def keywords(program: Program, symbol: PythonSymbol) -> Iterator[str]:
    """Where a parameter of a lambda may be given by its name."""
    node, name = symbol.scope.node, symbol.name
    if not isinstance(node, ast.Lambda):
        return
    plain = {a.arg for a in [*node.args.args, *node.args.kwonlyargs]}
    parent = symbol.file.parents.get(node)
    if isinstance(parent, ast.keyword):
        parent = symbol.file.parents.get(parent)
    if name not in plain or (
        isinstance(parent, ast.Call) and last_name(parent.func) in _CALLBACK_TAKERS
    ):
        return
    for file in program.mentioning(name)[0]:
        for call in [n for n in file.within if isinstance(n, ast.Call)]:
            spread = any(word.arg is None for word in call.keywords) and file is symbol.file
            given = any(word.arg == name for word in call.keywords)
            if (given or spread) and not _is_other(program, file, call):
                yield f"{file.at(call)}whether this calls the lambda cannot be told."


def _is_other(program: Program, file: PythonFile, call: ast.Call) -> bool:
    """Whether a call surely calls a function with a body, or a class."""
    meaning = program.meaning(file, call.func)
    if isinstance(meaning, PythonSymbol):
        nodes = [b.node for b in meaning.binders]
        return bool(nodes) and all(isinstance(n, Function | ast.ClassDef) for n in nodes)
    if isinstance(call.func, ast.Name):
        found = file.names.get(call.func)
        return found is None or found.owner is None or meaning is not None
    return meaning is not None
