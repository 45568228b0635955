"""Snapshots: the accessibility tree of a page as lines that a small model can read.

Playwright gives the tree as YAML with a reference for each element (`e12`, in a frame `f1e3`).
Here it becomes a tree of `Node`; boxes that say nothing are left out, long lists are folded to
their first entries and a count, and what an action changed is told as added and removed lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from toolcrib.core.names import name_set
from toolcrib.text.display import with_ellipsis

MASK = "••••"
INTERACTIVE = name_set("""
button link textbox searchbox checkbox radio combobox listbox option menuitem menuitemcheckbox
menuitemradio tab switch slider spinbutton treeitem
""")
FIELDS = name_set("textbox searchbox combobox listbox checkbox radio switch slider spinbutton")
_BOXES = frozenset({"generic", "none", "presentation", "group", "text", "rowgroup", "paragraph"})
"""Roles that are left out where they have no name of their own."""
_ROWS = frozenset({"listitem", "row", "menuitem", "option", "article", "group"})
_CELLS = frozenset({"cell", "gridcell", "columnheader", "rowheader", "text", "paragraph"})
MAX_ROW = 200
"""Characters of an entry that is shown on one line."""
FOLD_AT = (40, 20, 10, 6, 3)
"""Children of one element that are shown, tried in this order until the page fits."""
MAX_NAME = 120
MAX_TEXT = 400
AS_ROLE = 0.5
HOLDS = 0.9
"""The likeness of a text that holds the words as they are."""
_ROLES = {
    **dict.fromkeys(("a", "links"), "link"),
    **dict.fromkeys(("input", "textarea", "field", "fields"), "textbox"),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "headings"), "heading"),
    **dict.fromkeys(("select", "dropdown"), "combobox"),
    **dict.fromkeys(("ul", "ol"), "list"),
    "li": "listitem",
    "buttons": "button",
    "img": "image",
    "tr": "row",
    "td": "cell",
}
"""Roles by the names of tags, and by the words of people."""
NEAR = 0.7
"""From this likeness on (0 to 1) a name is thought to be meant by another."""
_LINE = re.compile(
    r"(?P<role>[a-zA-Z/][\w/-]*)"
    r'(?: (?P<name>"(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)*/))?'
    r"(?P<states>(?: \[[^\]]*\])*)"
    r"(?P<rest>:.*)?",
    re.DOTALL,
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_QUOTED_KEY = re.compile(r"'((?:[^']|'')*)")
_STATE = re.compile(r"\[([^\]]*)\]")


@dataclass(slots=True, eq=False)
class Node:
    """One element: `text` is what it holds itself, `url` where a link leads.

    `clickable` says that the mouse shows a hand there, whatever the role.
    """

    role: str
    name: str = ""
    ref: str = ""
    states: tuple[str, ...] = ()
    text: str = ""
    url: str = ""
    clickable: bool = False
    children: list[Node] = field(default_factory=list)

    @property
    def acts(self) -> bool:
        """Whether something can be done with it."""
        return bool(self.ref) and (self.role in INTERACTIVE or self.clickable)

    @property
    def label(self) -> str:
        """What a person would call it."""
        return self.name or self.text

    def walk(self) -> Iterator[Node]:
        """It and all that is in it, in the order of the page."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def line(self, *, urls: bool = False) -> str:
        """It alone, on one line."""
        parts = [self.role] if self.role != "text" else []
        if self.name:
            parts.append(f'"{with_ellipsis(self.name, MAX_NAME)}"')
        parts += [f"[{state}]" for state in self.states]
        if self.ref and (self.acts or self.role == "iframe"):
            parts.append(self.ref)
        if urls and self.url:
            parts.append(f"-> {self.url[:300]}")
        line = " ".join(parts)
        if not self.text:
            return line
        text = with_ellipsis(self.text, MAX_TEXT)
        return f"{line}: {text}" if line else text


@dataclass(slots=True)
class PageSnapshot:
    """A page at one moment: its tree, and the elements by reference."""

    root: Node
    by_ref: dict[str, Node]

    def lines(self) -> list[str]:
        """Every line of the whole page, none folded."""
        return list(_render(self.root, None, urls=False))

    def below(self, ref: str) -> PageSnapshot | None:
        """One element with what is in it; None where the page has no such reference."""
        node = self.by_ref.get(ref)
        return None if node is None else PageSnapshot(node, self.by_ref)

    def render(self, chars: int, *, urls: bool = False) -> str:
        """The page in as many characters, long lists folded as far as that needs.

        What is still longer is longer: the caller cuts it by lines.
        """
        text = ""
        for fold_at in (None, *FOLD_AT):
            text = "\n".join(_render(self.root, fold_at, urls=urls))
            if len(text) <= chars:
                break
        return text


def parse(text: str, passwords: AbstractSet[str] = frozenset()) -> PageSnapshot:
    """Read what playwright's `aria_snapshot(mode="ai")` gives.

    Args:
        text: YAML of its own narrow kind: a list of lines, indented by two.
        passwords: values of fields that are not shown.
    """
    root = Node("page")
    by_ref: dict[str, Node] = {}
    stack: list[tuple[int, Node]] = [(-1, root)]
    for raw in text.splitlines():
        body = raw.lstrip(" ")
        if not body.startswith("- "):
            continue
        depth = len(raw) - len(body)
        while stack[-1][0] >= depth:
            stack.pop()
        parent = stack[-1][1]
        node = _node(_unquoted(body[2:]))
        if node is None:
            continue
        if node.role.startswith("/"):
            if node.role == "/url":
                parent.url = node.text
            elif node.role == "/placeholder" and not parent.text:
                parent.states = (*parent.states, f"placeholder {node.text[:60]}")
            continue
        if node.role in FIELDS and node.text in passwords:
            node.text = MASK
        if node.ref:
            by_ref[node.ref] = node
        parent.children.append(node)
        stack.append((depth, node))
    _simplify(root)
    return PageSnapshot(root, by_ref)


def _unquoted(body: str) -> str:
    """The key and value of a line whose key stands in single quotes."""
    key = _QUOTED_KEY.match(body)
    return body if key is None else key[1].replace("''", "'") + body[key.end() + 1 :]


def _node(body: str) -> Node | None:
    found = _LINE.fullmatch(body)
    if found is None:
        return Node("text", text=body)
    states, ref, clickable = [], "", False
    for state in _STATE.findall(found["states"] or ""):
        if state.startswith("ref="):
            ref = state[4:]
        elif state == "cursor=pointer":
            clickable = True
        elif state != "active" and not state.startswith("level="):
            states.append(state)
    rest = (found["rest"] or "").removeprefix(":").strip()
    if len(rest) >= 2 and rest[0] == rest[-1] == '"':
        rest = _plain(rest)
    name = _plain(found["name"]) if found["name"] else ""
    return Node(found["role"], name, ref, tuple(states), rest, "", clickable)


def _plain(quoted: str) -> str:
    """A quoted text as it is meant."""
    return re.sub(r"\\(.)", lambda m: {"n": " ", "t": " "}.get(m[1], m[1]), quoted[1:-1])


def _simplify(root: Node) -> None:
    """Leave out boxes that say nothing, so that what is in them stands in their place."""
    for node in list(root.walk())[::-1]:
        children: list[Node] = []
        for child in node.children:
            nothing = child.role in _BOXES and not child.name and not child.clickable
            if nothing and child.role != "text" and not child.text:
                children += child.children
            elif nothing and not child.children and child.role != "text":
                children.append(Node("text", text=child.text, ref=child.ref))
            else:
                children.append(child)
        node.children = _without_labels(children)
        if node is root:
            continue
        only_text = len(children) == 1 and children[0].role == "text"
        if only_text and (not node.text or node.text == children[0].text):
            # A link or a cell with one text in it says it once.
            if children[0].text != node.name:
                node.text = children[0].text
            node.children = []


def _without_labels(children: list[Node]) -> list[Node]:
    """Without texts that only say once more what the field beside them is called."""
    names = {child.name for child in children if child.name and child.role in FIELDS}
    return [c for c in children if c.role != "text" or c.acts or c.text not in names]


def _render(node: Node, fold_at: int | None, depth: int = 0, *, urls: bool) -> Iterator[str]:
    """The lines of what is in a node, at fold_at so many children of each shown."""
    first = node.children if fold_at is None else node.children[: _fold(node, fold_at)]
    for child in first:
        row = _row(child, urls=urls)
        yield f"{'  ' * depth}- {row or child.line(urls=urls)}"
        if not row:
            yield from _render(child, fold_at, depth + 1, urls=urls)
    folded = node.children[len(first) :]
    if folded:
        kinds = Counter(n.role for child in folded for n in child.walk() if n.acts)
        what = ", ".join(f"{count} {role}" for role, count in kinds.most_common(4))
        where = f"; ref={node.ref} shows them" if node.ref else ""
        yield f"{'  ' * depth}- … {len(folded)} more{f' with {what}' if what else ''}{where}"


def _row(node: Node, *, urls: bool) -> str:
    """An entry of a list or a table on one line, where all that is in it has room there."""
    if node.role not in _ROWS or not node.children or any(c.children for c in node.children):
        return ""
    parts = [_cell(child, urls=urls) for child in node.children]
    head = node.line(urls=urls)
    line = f"{head}{' ' if node.text else ': '}{' | '.join(part for part in parts if part)}"
    return line if len(line) <= MAX_ROW else ""


def _cell(node: Node, *, urls: bool) -> str:
    plain = node.role in _CELLS and not node.acts and not node.states
    return with_ellipsis(node.label, MAX_NAME) if plain else node.line(urls=urls)


def _fold(node: Node, fold_at: int) -> int:
    """How many children are shown; one or two more are not worth a line about them."""
    count = len(node.children)
    return count if count <= fold_at + 2 else fold_at


# What changed between two snapshots.


def difference(before: PageSnapshot, after: PageSnapshot) -> list[str]:
    """The lines that went (`-`) and came (`+`), in the order of the page.

    How an element was before is left out where its line came anew.
    """
    old, new = Counter(_stripped(before)), Counter(_stripped(after))
    came = list(_marked(after, new - old, "+"))
    there = {ref for line in came for ref in _REF_IN_LINE.findall(line)}
    gone = [
        line
        for line in _marked(before, old - new, "-")
        if not (refs := set(_REF_IN_LINE.findall(line))) or not refs <= there
    ]
    return [*gone, *came]


_REF_IN_LINE = re.compile(r"(?<= )(?:f\d+)?e\d+(?=[ :]|\Z)")


def _stripped(snapshot: PageSnapshot) -> Iterator[str]:
    return (line.strip() for line in snapshot.lines())


def _marked(snapshot: PageSnapshot, wanted: Counter[str], sign: str) -> Iterator[str]:
    left = Counter(wanted)
    for line in _stripped(snapshot):
        if left[line] > 0:
            left[line] -= 1
            yield f"{sign} {line.removeprefix('- ')}"


# Finding elements by what they say.


@dataclass(frozen=True, slots=True)
class ElementMatch:
    """An element that a search found, with the names above it.

    Attributes:
        near: it does not hold the words as they are, and is none of that kind.
    """

    node: Node
    where: str
    score: float
    near: bool

    def line(self) -> str:
        """It on one line, with where it stands."""
        return f"{self.node.line(urls=True)}{f'  (in {self.where})' if self.where else ''}"


def search(snapshot: PageSnapshot, words: str, limit: int) -> list[ElementMatch]:
    """The elements and texts that fit words best: whole, in part, or with a typo.

    A role or the name of a tag finds the elements of that kind, after what says the word.
    """
    wanted = folded(words)
    role = _ROLES.get(wanted, wanted)
    found = []
    for node, where in _placed(snapshot.root):
        score = likeness(wanted, folded(f"{node.name} {node.text}".strip()))
        near = score < HOLDS
        if not score and node.ref and node.role == role:
            score, near = AS_ROLE, False
        if score:
            found.append(ElementMatch(node, where, score + 0.01 * node.acts, near))
    return sorted(found, key=lambda match: -match.score)[:limit]


def likeness(wanted: str, text: str) -> float:
    """How well a text fits: 1 for the same, 0.9 where it holds it, less for typos."""
    if not text or not wanted:
        return 0.0
    if wanted == text:
        return 1.0
    if wanted in text:
        return HOLDS
    words = wanted.split()
    if len(words) > 1 and all(word in text for word in words):
        return 0.8
    if len(text) > 3 * len(wanted) + 20:
        return 0.0  # a long text is near only if it holds the words
    matcher = SequenceMatcher(None, wanted, text, autojunk=False)
    if matcher.quick_ratio() < NEAR:
        return 0.0
    ratio = matcher.ratio()
    return ratio * 0.75 if ratio >= NEAR else 0.0


def spaced_once(text: str) -> str:
    """A text as playwright's tree has it: each run of spaces is one, and some letters go."""
    return " ".join(re.sub("[\u200b\u00ad]", "", text).split())


def folded(text: str) -> str:
    """A text as it is compared: without case, doubled spaces and what nobody sees."""
    return " ".join(_INVISIBLE.sub("", text).casefold().split())


def _placed(root: Node) -> Iterator[tuple[Node, str]]:
    """Every node with the last name above it."""
    stack: list[tuple[Node, str]] = [(child, "") for child in reversed(root.children)]
    while stack:
        node, where = stack.pop()
        yield node, where
        inner = f'{node.role} "{with_ellipsis(node.name, 40)}"' if node.name else where
        if not node.name and node.role in ("listitem", "row", "article") and not where:
            inner = node.role
        stack.extend((child, inner) for child in reversed(node.children))
