"""Every reference to an attribute, a method or a property of a class, in all files."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field

from toolcrib.code.python.bound_file import File, last_name
from toolcrib.code.python.classes import Class, Classes, binders, defines
from toolcrib.code.python.inference import Inference
from toolcrib.code.python.names import Found, is_python, texts
from toolcrib.code.python.program import Foreign, Program
from toolcrib.code.python.source import Spot
from toolcrib.code.python.values import Values

SMALL = 4_000_000
"""Bytes of Python up to which every file is looked at for classes."""
_REACH = ("getattr", "setattr", "hasattr", "delattr")
_BY_NAME = ("attrgetter", "methodcaller")
_FIELD_USES = ("asdict", "fields", "vars", "model_dump", "_asdict", "__dict__")


@dataclass(eq=False)
class Members:
    """The search for what the objects of a class have under a name.

    Attributes:
        family: the classes that define the name and belong together: renaming it in one
            means renaming it in all.
        related: these, and all classes that inherit the name from them.
        result: what was found.
    """

    program: Program
    inference: Inference
    start: Class
    name: str
    family: dict[Class, None] = field(default_factory=dict)
    related: set[Class] = field(default_factory=set)
    files: list[File] = field(default_factory=list)
    every: list[Class] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.result = Found(self.program, self.name)

    @property
    def classes(self) -> Classes:
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
        for why in closed:
            if is_python(why):
                found.stop(why)
        self.gather()
        for one in self.family:
            self._defined(found, one)
        for file in self.files:
            for node in file.attributes(self.name):
                self._attribute(found, file, node)
        self._keywords(found)
        self._bars(found)
        texts(found, self.files)

    def gather(self) -> None:
        """Find the family: definitions that one class has several of go together."""
        if self.is_private:
            self.family, self.related = {self.start: None}, {self.start}
            return
        words = self._words()
        files = {f.path: f for f in self.files}
        if words:
            files.update((f.path, f) for f in self.program.mentioning(*words)[0])
        self.every = self.classes.within(files.values())
        lines = {one: self.classes.own_line(one) for one in self.every}
        lines.setdefault(self.start, self.classes.own_line(self.start))
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
            size = SMALL + 1
        return ["class "] if size <= SMALL else [c.name for c in self.classes.own_line(self.start)]

    # Places

    def _defined(self, found: Found, one: Class) -> None:
        for use in one.scope.uses(self.name):
            if use.role == "import":
                found.stop(f"{one.file.path}:{use.spot.line}: an import defines it.")
            found.occurrence(one.file, use)
        for scope in one.scope.walk():
            for o in scope.occurrences:
                if o.name == self.name and o.mixed and scope is one.scope:
                    found.stop(f"{one.file.path}:{o.spot.line}: it may mean another name there.")
        for binder in binders(one, "__slots__") + binders(one, "__match_args__"):
            parent = one.file.parents.get(binder.node)
            for node in ast.walk(parent) if parent is not None else ():
                if isinstance(node, ast.Constant) and node.value == self.name:
                    self._string(found, one.file, node)

    def _string(self, found: Found, file: File, node: ast.Constant) -> None:
        at = file.source.segment(node).find(self.name)
        column = file.source.column(node.lineno, node.col_offset) + max(at, 0)
        found.add(file, Spot(node.lineno, column, column + len(self.name)), "string")

    def _attribute(self, found: Found, file: File, node: ast.Attribute) -> None:
        spot = file.attribute_spot(node)
        if self.is_private:
            if file is self.start.file and file.enclosing(node, ast.ClassDef) is self.start.node:
                found.add(file, spot, "reference")
            return
        if self.program.module_of(file, node.value) is not None or is_outside(
            self.program, file, node.value
        ):
            return
        verdict = self.verdict(self.inference.of(file, node.value))
        if verdict == "ours":
            is_store = isinstance(node.ctx, ast.Store)
            found.add(file, spot, "definition" if is_store else "reference")
        elif verdict == "unknown":
            found.maybe(file, spot)
            shown = ast.unparse(node.value)[:40]
            found.stop(f"{file.at(node)}what {shown} is cannot be told.")
        elif verdict == "both":
            found.maybe(file, spot)
            found.stop(f"{file.at(node)}its object may be of this class, or of another.")

    def verdict(self, values: Values) -> str:
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

    def _relation(self, one: Class) -> str:
        line = self.classes.own_line(one)
        if one in self.related or set(line) & self.family.keys():
            return "ours"
        if any(self.classes.is_kind_of(ours, one) for ours in self.family):
            # A base that does not have the name itself: its object may be one of ours.
            return "unknown"
        return "others" if any(defines(c, self.name) for c in line) else "nothing"

    # Fields and what reaches them by text

    def _keywords(self, found: Found) -> None:
        """The keywords by which fields are given to a dataclass or matched by a pattern."""
        for file in self.files:
            for node in file.within:
                if isinstance(node, ast.Call):
                    for word in node.keywords:
                        if word.arg == self.name and self._is_field_call(found, file, node):
                            spot = file.source.spot(word.lineno, word.col_offset, self.name)
                            found.add(file, spot, "reference")
                elif isinstance(node, ast.MatchClass) and self.name in node.kwd_attrs:
                    self._matched(found, file, node)
                elif isinstance(node, ast.Subscript) and _key(node) == self.name:
                    values = self.inference.of(file, node.value) or ()
                    if any(v.of in self.related for v in values if v.of is not None):
                        found.stop(f"{file.at(node)}the name is used as a key there.")

    def _is_field_call(self, found: Found, file: File, node: ast.Call) -> bool:
        if not any(_is_field(c, self.name) for c in self.family):
            return False
        if last_name(node.func) == "replace" and node.args:
            return self.verdict(self.inference.of(file, node.args[0])) == "ours"
        values = self.inference.of(file, node.func)
        if values is None:
            found.stop(f"{file.at(node)}what is called with {self.name}= cannot be told.")
            return False
        of = [v.of for v in values if v.kind == "class" and v.of is not None]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
            base = self.inference.of(file, node.func.value)
            of += [v.of for v in base or () if v.kind == "super" and v.of is not None]
        return any(self._relation(c) == "ours" and not _has_init(self.classes, c) for c in of)

    def _matched(self, found: Found, file: File, node: ast.MatchClass) -> None:
        of = self.classes.of(file, node.cls)
        if not isinstance(of, Class):
            found.stop(f"{file.at(node)}what the pattern matches cannot be told.")
        elif self._relation(of) == "ours":
            line, offset = node.cls.end_lineno or node.lineno, node.cls.end_col_offset or 0
            found.add(file, file.source.spot_after(line, offset, self.name, "( ,"), "reference")

    def _bars(self, found: Found) -> None:
        first = self.start.file
        if self.name.startswith("__") and self.name.endswith("__"):
            found.stop(f"{first.path}:{self.start.node.lineno}: Python itself calls {self.name}.")
        if self.is_private:
            mangled = f"_{self.start.name.lstrip('_')}{self.name}"
            for file in self.program.mentioning(mangled)[0]:
                found.stop(f"{file.path}:1: {mangled} stands there.")
            return
        for one in dict.fromkeys([*self.family, *sorted_classes(self.related)]):
            for why in self.classes.unknown_bases(one, self.name):
                found.stop(why)
            if any(last_name(b) == "TypedDict" for b in one.node.bases):
                found.stop(f"{one.file.at(one.node)}the names of a TypedDict are keys.")
            if any(last_name(b) == "Protocol" for b in one.node.bases):
                found.stop(
                    f"{one.file.at(one.node)}a protocol is met by classes that do not name it."
                )
        for one in self.every:
            is_protocol = any(last_name(b) == "Protocol" for b in one.node.bases)
            if is_protocol and one not in self.related and defines(one, self.name):
                found.stop(f"{one.file.at(one.node)}a protocol asks for {self.name} too.")
        self._reached(found)
        self._formatted(found)

    def _reached(self, found: Found) -> None:
        """Attributes that are reached by a text."""
        files, _ = self.program.mentioning(*_REACH, *_BY_NAME)
        for file in files:
            for call in file.calls(*_REACH):
                if len(call.args) < 2 or not isinstance(call.func, ast.Name):
                    continue
                key = call.args[1]
                if isinstance(key, ast.Constant) and key.value != self.name:
                    continue
                if self.program.module_of(file, call.args[0]) is not None:
                    continue
                if self.verdict(self.inference.of(file, call.args[0])) != "others":
                    found.stop(
                        f"{file.at(call)}{last_name(call.func)}() reaches attributes by text."
                    )
            for call in file.calls(*_BY_NAME):
                values = [a.value if isinstance(a, ast.Constant) else None for a in call.args]
                if any(v is None or self.name in str(v).split(".") for v in values):
                    found.stop(
                        f"{file.at(call)}{last_name(call.func)}() reaches attributes by text."
                    )
        if any(_is_field(c, self.name) for c in self.family):
            self._dumped(found)

    def _dumped(self, found: Found) -> None:
        """Fields that are turned into the keys of a mapping."""
        for file in self.program.mentioning(*_FIELD_USES)[0]:
            calls = [
                (c, c.args[0] if c.args else None) for c in file.calls("asdict", "fields", "vars")
            ]
            dicts = [
                (n, n.value) for n in (*file.attributes("__dict__"), *file.attributes("_asdict"))
            ]
            for node, value in (*calls, *dicts):
                if value is not None and self.verdict(self.inference.of(file, value)) != "others":
                    found.stop(f"{file.at(node)}the names of fields are used as text.")

    def _formatted(self, found: Found) -> None:
        """`"{0.name}".format(x)` reads an attribute too."""
        pattern = re.compile(rf"\{{[^{{}}]*\.{re.escape(self.name)}\b[^{{}}]*\}}")
        for file in self.files:
            for node in file.within:
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    parent = file.parents.get(node)
                    is_format = isinstance(parent, ast.Attribute) and parent.attr == "format"
                    if is_format and pattern.search(node.value):
                        found.stop(f"{file.at(node)}a format reads the attribute.")

    # Another name

    def clashes(self, new: str) -> list[str]:
        """Why the family cannot have a new name."""
        found: dict[str, None] = {}
        if self.is_private != (new.startswith("__") and not new.endswith("__")):
            found[f"{new}: names that begin with two underscores belong to one class."] = None
        if new.startswith("__") and new.endswith("__"):
            found[f"{new} is a name that Python itself would call."] = None
        for one in sorted_classes(self.related | set(self.family)):
            for above in self.classes.own_line(one):
                if defines(above, new):
                    found[f"{above.file.at(above.node)}{above.name} has {new} already."] = None
            if self.classes.foreign_has(one, new):
                found[f"{one.file.at(one.node)}a base class of {one.name} has {new} already."] = (
                    None
                )
        return list(found)


def sorted_classes(classes: set[Class]) -> list[Class]:
    """In the order of the files."""
    return sorted(classes, key=lambda c: (c.file.path, c.node.lineno))


def _is_field(of: Class, name: str) -> bool:
    """Whether a class is made of fields, and a name is one of them."""
    made = {last_name(d.func if isinstance(d, ast.Call) else d) for d in of.node.decorator_list}
    tuples = {last_name(b) for b in of.node.bases}
    if not made and not tuples:
        return False
    return any(b.role in ("annotate", "assign") for b in binders(of, name))


def _key(node: ast.Subscript) -> object:
    return node.slice.value if isinstance(node.slice, ast.Constant) else None


def is_standard(dotted: str) -> bool:
    """Whether a name is of Python itself or of its standard library."""
    first = dotted.partition(".")[0]
    return first == "builtins" or first in sys.stdlib_module_names


def is_outside(program: Program, file: File, node: ast.AST) -> bool:
    """Whether an expression is a module from outside, or part of the standard library."""
    meaning = program.meaning(file, node)
    if not isinstance(meaning, Foreign):
        return False
    if is_standard(meaning.name):
        return True
    occurrence = file.names.get(node)
    if occurrence is None or occurrence.owner is None:
        return False
    bound = occurrence.owner.bound.get(occurrence.name, ())
    return all(isinstance(file.parents.get(b.node), ast.Import) for b in bound)


def _has_init(classes: Classes, of: Class) -> bool:
    return any(binders(c, "__init__") for c in classes.own_line(of))
