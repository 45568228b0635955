"""Which statements some lines of a script are, and what may not leave its function with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.code.javascript.model import Module
from toolcrib.code.javascript.names import descendants, named
from toolcrib.code.javascript.variables import FUNCTIONS, function_of
from toolcrib.core.errors import BadInput

BLOCKS = ("program", "statement_block", "switch_case", "switch_default")
LOOPS = ("for_statement", "for_in_statement", "while_statement", "do_statement")
_DIRECT = frozenset(["return_statement", "await_expression", "yield_expression"])


@dataclass(frozen=True, slots=True)
class Selection:
    """Statements of one block, with their place in the text."""

    module: Module
    block: Any
    statements: list[Any]
    start: int
    end: int
    first: int
    last: int

    def holds(self, at: int) -> bool:
        """Whether a position lies in it."""
        return self.start <= at < self.end

    @property
    def function(self) -> Any:
        """The function around it, or None."""
        return function_of(self.statements[0])

    @property
    def top(self) -> Any:
        """The statement of the file that holds it."""
        node = self.statements[0]
        while (around := node.parent()) is not None and around.kind() != "program":
            node = around
        return node

    def loops(self, within: int) -> bool:
        """Whether it stands in a loop that begins behind a position."""
        node = self.statements[0].parent()
        while node is not None and node.kind() not in FUNCTIONS:
            if node.kind() in LOOPS and node.range().start.index >= within:
                return True
            node = node.parent()
        return False


def select(module: Module, shown: str, first: int, last: int) -> Selection:
    """The statements on some lines.

    Raises:
        BadInput: they are not whole statements of one block.
    """
    lines = module.text.split("\n")
    if not 1 <= first <= last <= len(lines):
        raise BadInput(
            f"Lines {first} to {last} are not in {shown}, which has {len(lines)}.",
            hint="Give start and end, the first and the last line, from 1.",
        )
    while first < last and not lines[first - 1].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    block = _block(module.root, first, last)
    held = [c for c in named(block) if _touches(c, first, last)] if block is not None else []
    chosen = [child for child in held if child.kind() != "comment"]
    if block is None or not chosen:
        raise BadInput(
            f"Lines {first} to {last} of {shown} are not whole statements of one block.",
            hint="Give the first line of the first statement and the last line of the last.",
        )
    start = module.lines[first - 1]
    end = module.lines[last] - 1 if last < len(module.lines) else len(module.text)
    before = module.text[start : held[0].range().start.index].strip()
    after = module.text[held[-1].range().end.index : end].strip(" \t;")
    if before or after:
        raise BadInput(
            "The statements share a line with others.", hint="Put each on a line of its own first."
        )
    return Selection(module, block, chosen, start, min(end, len(module.text)), first, last)


def _touches(node: Any, first: int, last: int) -> bool:
    span = node.range()
    return bool(span.start.line + 1 <= last and span.end.line + 1 >= first)


def _block(node: Any, first: int, last: int) -> Any:
    """The outermost block of which the lines hold whole statements only."""
    todo = [node]
    while todo:
        here = todo.pop(0)
        inner = [child for child in named(here) if _touches(child, first, last)]
        if here.kind() in BLOCKS and inner:
            whole = [c for c in inner if c.kind() != "comment"]
            if whole and all(
                first <= c.range().start.line + 1 and c.range().end.line + 1 <= last for c in whole
            ):
                return here if here.kind() in ("program", "statement_block") else None
        todo += inner
    return None


def crossings(selection: Selection, shown: str) -> list[str]:
    """What in the statements belongs to the function around them."""
    found: list[str] = []
    for statement in selection.statements:
        for node in descendants(statement, *_LOOKED):
            why = _crossing(selection, node)
            if why:
                found.append(f"{shown}:{node.range().start.line + 1}: {why}.")
    return list(dict.fromkeys(found))


_LOOKED = (
    "return_statement",
    "await_expression",
    "yield_expression",
    "for_in_statement",
    "break_statement",
    "continue_statement",
    "this",
    "super",
    "identifier",
    "meta_property",
    "with_statement",
    "private_property_identifier",
    "import_statement",
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "assignment_expression",
    "expression_statement",
)


def _crossing(selection: Selection, node: Any) -> str:
    kind = node.kind()
    if kind in _UNLIKE:
        return _UNLIKE[kind]
    if kind in ("this", "super") or (kind == "meta_property" and "new" in node.text()):
        outer = _is_outer(selection, node)
        return f"{node.text()} is that of the function around it" if outer else ""
    if kind == "identifier" and node.text() == "arguments" and _is_outer(selection, node):
        return "arguments are those of the function around it"
    if kind == "identifier" and node.text() == "eval":
        return "eval may use any name"
    if kind == "private_property_identifier" and _is_private(selection, node):
        return f"{node.text()} is known inside its class only"
    if kind == "expression_statement" and node in selection.statements:
        directive = [child.kind() for child in named(node)] == ["string"]
        return "a directive belongs to the function around it" if directive else ""
    return _leaving(selection, node, kind) if _is_direct(selection, node) else ""


_UNLIKE = {
    "with_statement": "a with statement may use any name",
    "import_statement": "imports and exports stand at the top of a file",
    "export_statement": "imports and exports stand at the top of a file",
}


def _leaving(selection: Selection, node: Any, kind: str) -> str:
    """Why a statement of the function itself cannot stand in another one."""
    if kind in _DIRECT:
        return f"{kind.partition('_')[0]} belongs to the function around it"
    if kind == "for_in_statement" and any(c.kind() == "await" for c in node.children()):
        return "for await belongs to the function around it"
    if kind in ("break_statement", "continue_statement"):
        return "" if _is_caught(selection, node) else f"{node.text()} leaves the lines"
    if any(child.kind() == "using" for child in node.children()[:2]):
        return "`using` ends with the block around it"
    return ""


def _is_direct(selection: Selection, node: Any) -> bool:
    """Whether no function within the statements is around a node."""
    around = function_of(node)
    return around is None or not selection.holds(around.range().start.index)


def _is_outer(selection: Selection, node: Any) -> bool:
    """The same, where arrow functions do not count."""
    around = function_of(node)
    while around is not None and around.kind() == "arrow_function":
        around = function_of(around)
    return around is None or not selection.holds(around.range().start.index)


def _is_caught(selection: Selection, node: Any) -> bool:
    label = next((c.text() for c in named(node) if c.kind() == "statement_identifier"), "")
    around = node.parent()
    while around is not None and selection.holds(around.range().start.index):
        kind = around.kind()
        if label:
            if kind == "labeled_statement" and around.field("label").text() == label:
                return True
        elif kind in LOOPS or (kind == "switch_statement" and node.kind() == "break_statement"):
            return True
        around = around.parent()
    return False


def _is_private(selection: Selection, node: Any) -> bool:
    around = node.parent()
    while around is not None and selection.holds(around.range().start.index):
        if around.kind() == "class_body":
            return False
        around = around.parent()
    return True
