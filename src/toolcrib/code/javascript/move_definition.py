"""A function, class or type of a module of JavaScript or TypeScript, moved to another module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.effects import is_silent
from toolcrib.code.javascript.imports import import_place
from toolcrib.code.javascript.model import TYPE, Module
from toolcrib.code.javascript.names import descendants, named
from toolcrib.code.javascript.needs import Needs
from toolcrib.code.javascript.parsed_file import read
from toolcrib.code.javascript.program import Program
from toolcrib.code.javascript.users import Users
from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.rewrite import Done, Rewrite
from toolcrib.core.errors import BadInput, Conflict, NotFound, UnsupportedContent
from toolcrib.files.content.faithful import Splice

MOVED = frozenset(
    [
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
        "interface_declaration",
        "type_alias_declaration",
        "enum_declaration",
        "lexical_declaration",
    ]
)
_OWN_VALUES = ("arrow_function", "function_expression", "generator_function", "class")


@dataclass(frozen=True, slots=True)
class Moved:
    """What is moved: its statements, one after the other, and where they stand in the text."""

    name: str
    nodes: list[Any]
    start: int
    end: int
    exported: bool
    typed: bool

    def holds(self, at: int) -> bool:
        """Whether a position of the source lies in it."""
        return self.start <= at < self.end


def move(rewrite: Rewrite, path: str, name: str, target: str) -> Done:
    """Plan to move something of the top of a module to another file, which need not exist.

    Raises:
        BadInput: the target is the same file, or of another language.
        NotFound: there is nothing of that name at the top of the file.
        Conflict: it would change what the program does.
        UnsupportedContent: one of the files is no ES module, or has a syntax error.
    """
    program = Program(rewrite.project)
    shown = rewrite.project.display
    if target == path or language_of(target) not in SCRIPTS:
        raise BadInput(
            "target is the same file, or no file of JavaScript or TypeScript.",
            hint="Name another file.",
        )
    module = program.module(path)
    there = program.module(target) if target in rewrite.project else None
    _need_modules(rewrite, module, there, target)
    moved = _definition(rewrite, module, name)
    needs = Needs(program, module, there, target, moved)
    users = Users(rewrite, program, module, there, target, moved)
    against = [*_about(program, module, moved), *needs.find(), *users.find()]
    against += users.orders(needs.edges)
    if against:
        against = list(dict.fromkeys(against))
        raise Conflict(
            f"{name} is not moved; this stands in the way:\n" + "\n".join(against[:20]),
            hint="Resolve these lines first, or move what it depends on with it.",
            obstacles=against[:100],
        )
    users.write()
    _write(rewrite, module, there, target, moved, needs)
    _need_valid(rewrite, path, target)
    data = {"name": name, "target": shown(target), "importers": sorted(users.importers)}
    return Done(f"move {name} from {shown(path)} to {shown(target)}", data, tuple(users.notes))


def _need_modules(rewrite: Rewrite, module: Module, there: Module | None, target: str) -> None:
    shown = rewrite.project.display
    for each in (module, there):
        if each is None:
            continue
        if each.errors:
            raise UnsupportedContent(
                f"{shown(each.path)} has a syntax error: it cannot be understood.",
                hint="Mend the file first.",
            )
        empty = each is there and not named(each.root)
        if each.common or each.whole is not None or not (each.esm or empty):
            raise UnsupportedContent(
                f"{shown(each.path)} is no ES module (it has no import or export, or it is "
                "CommonJS).",
                hint="Things are moved between ES modules only; use edit_file.",
            )
    typed = [language_of(each) != "javascript" for each in (module.path, target)]
    if typed[0] != typed[1]:
        raise BadInput(
            "One of the files is TypeScript and the other is not.",
            hint="Name a target of the same language.",
        )
    if target.endswith((".cjs", ".cts", ".d.ts")) or module.path.endswith(".d.ts"):
        raise BadInput("No code can be moved there.", hint="Name another target.")


def _definition(rewrite: Rewrite, module: Module, name: str) -> Moved:
    shown = rewrite.project.display(module.path)
    found: list[tuple[Any, Any]] = []
    for node in named(module.root):
        inner = node.field("declaration") if node.kind() == "export_statement" else node
        if inner is not None and name in _names(inner):
            found.append((node, inner))
    binding = module.top.names.get(name)
    if not found or binding is None:
        raise NotFound(
            f"{shown} has no {name} at its top level.",
            hint="Functions, classes and types of a module are moved, not methods.",
        )
    kinds = {inner.kind() for _, inner in found}
    overloaded = kinds == {"function_signature", "function_declaration"} and all(
        inner.kind() == "function_signature" and _follows(outer, found[number + 1][0])
        for number, (outer, inner) in enumerate(found[:-1])
    )
    if len(binding.tokens) != len(found) or (len(found) > 1 and not overloaded):
        raise Conflict(
            f"{name} is defined several times in {shown}.",
            hint="Leave one definition, then move it.",
        )
    outer, inner = found[-1]
    words = {child.text() for child in outer.children()}
    if "default" in words:
        raise Conflict(
            f"{name} is the default export of {shown}.", hint="Export it by its name first."
        )
    if inner.kind() not in MOVED or not _is_whole(inner):
        raise NotFound(
            f"{name} is no function, class or type of its own in {shown}.",
            hint="A const is moved when it holds one function or class.",
        )
    first = found[0][0].range().start.index
    exported = any(node.kind() == "export_statement" for node, _ in found)
    span = (_with_comments(module, found[0][0], first), outer.range().end.index)
    nodes = [node for node, _ in found]
    return Moved(name, nodes, *span, exported, binding.space == TYPE)


def _follows(one: Any, other: Any) -> bool:
    """Whether a statement stands right behind another, comments not counted."""
    after = one.next()
    while after is not None and (after.kind() == "comment" or not after.is_named()):
        after = after.next()
    return after is not None and bool(after == other)


def _names(node: Any) -> list[str]:
    if node.kind() in ("lexical_declaration", "variable_declaration"):
        return [c.field("name").text() for c in named(node) if c.kind() == "variable_declarator"]
    name = node.field("name")
    return [name.text()] if name is not None else []


def _is_whole(node: Any) -> bool:
    if node.kind() != "lexical_declaration":
        return True
    parts = named(node)
    value = parts[0].field("value")
    constant = node.children()[0].text() == "const"
    return len(parts) == 1 and constant and value is not None and value.kind() in _OWN_VALUES


def _with_comments(module: Module, node: Any, first: int) -> int:
    """Where the comments right above a statement start."""
    while (above := node.prev()) is not None and above.kind() == "comment":
        between = module.text[above.range().end.index : first]
        start = above.range().start.index
        line = module.text.rfind("\n", 0, start) + 1
        license_ = above.text().startswith(("/*!", "// @ts-", "/* eslint", "// eslint", "/// <"))
        if between.strip() or between.count("\n") != 1 or module.text[line:start].strip():
            break
        if license_ or (not line and above.text().startswith("/*") and "@" not in above.text()):
            break
        node, first = above, start
    return first


def _about(program: Program, module: Module, moved: Moved) -> list[str]:
    """What the moved code itself says against it."""
    found: list[str] = []

    def says(node: Any, why: str) -> None:
        line = int(node.range().start.line) + 1
        found.append(f"{program.project.display(module.path)}:{line}: {why}.")

    last = moved.nodes[-1]
    inner = last.field("declaration") if last.kind() == "export_statement" else last
    decorated = any(child.kind() == "decorator" for child in last.children())
    if decorated or not is_silent(inner):
        says(last, "it does something when it is defined, such as a decorator or a static field")
    for node in (n for each in moved.nodes for n in descendants(each, *_OUTER)):
        kind, text = node.kind(), node.text()
        if kind == "this" and _is_of_module(node, inner):
            says(node, "`this` depends on how it is called")
        elif kind == "meta_property" and text == "import.meta":
            says(node, "import.meta is that of its module")
        elif kind == "call_expression" and node.field("function").text() in _CALLS:
            called = node.field("function").text()
            says(node, f"{called}(...) is looked up from its file")
        elif kind == "call_expression" and node.field("function").text() == "eval":
            says(node, "eval may use any name of its module")
    return found


_CALLS = ("import", "require", "require.resolve")
_OUTER = ("this", "meta_property", "call_expression")
_FUNCTIONS = (
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "method_definition",
)


def _is_of_module(node: Any, top: Any) -> bool:
    """Whether `this` is not that of a class, or of a function within."""
    while (node := node.parent()) is not None and node != top:
        kind = node.kind()
        if kind == "class_body":
            return False
        if kind in _FUNCTIONS:
            around = node.parent()
            return (
                around is not None
                and around.kind() == "variable_declarator"
                and (around.parent() == top)
            )
    return True


def _write(
    rewrite: Rewrite,
    module: Module,
    there: Module | None,
    target: str,
    moved: Moved,
    needs: Needs,
) -> None:
    """The definition in its new place, and gone from the old one."""
    text = module.text
    end = moved.end + (text[moved.end : moved.end + 1] == ";")
    body = text[moved.start : end]
    if not moved.exported:
        at = moved.nodes[-1].range().start.index - moved.start
        for node in reversed(moved.nodes):
            at = node.range().start.index - moved.start
            body = f"{body[:at]}export {body[at:]}"
    imports = needs.written()
    if there is None:
        head = f"{imports}\n" if imports else ""
        rewrite.create(target, f"{head}{body}\n")
    else:
        if imports:
            at = import_place(there)
            rewrite.replace(target, Splice(at, at, imports))
        size = len(there.text)
        gap = "" if not there.text.strip() else "\n" if there.text.endswith("\n") else "\n\n"
        rewrite.replace(target, Splice(size, size, f"{gap}{body}\n"))
    start, stop = text.rfind("\n", 0, moved.start) + 1, end
    alone = not text[start : moved.start].strip()
    line_end = text.find("\n", stop)
    line_end = len(text) if line_end < 0 else line_end
    if alone and not text[stop:line_end].strip():
        stop = min(line_end + 1, len(text))
        while text[stop : stop + 1] == "\n":
            stop += 1
        if stop >= len(text):
            while text[max(start - 2, 0) : start] == "\n\n":
                start -= 1
        rewrite.replace(module.path, Splice(start, stop, ""))
    else:
        rewrite.replace(module.path, Splice(moved.start, end, ""))


def _need_valid(rewrite: Rewrite, *paths: str) -> None:
    """See that the new texts are understood as the old ones were."""
    changed = {*rewrite.splices, *rewrite.created}
    for path in sorted({*paths, *changed}):
        if path in changed and read(path, rewrite.after(path)).errors:
            raise Conflict(
                f"{rewrite.project.display(path)} would not be valid after the change.",
                hint="Name a target whose language allows all of its syntax (JSX needs .tsx).",
            )
