"""Arrows run one way, and each mechanic stays in its room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "toolcrib"
FILES = sorted(SOURCE.rglob("*.py"))

# A room may import the rooms named for it, and itself.
MAY_IMPORT = {
    "core": set(),
    "kit": {"core"},
    "middleware": {"core", "kit"},
    "tools": {"core", "kit"},
    "toolcalls": {"core", "kit"},
    "agents": {"core", "kit", "toolcalls"},
    "chatflow": {"core", "kit"},
    "toolbox": {"core", "kit", "middleware"},
    "surfaces": {"core", "kit", "tools", "toolcalls", "agents", "chatflow", "toolbox", "__init__"},
    "__init__": {"core", "kit", "toolbox", "toolcalls"},
    "__main__": {"surfaces"},
}

# A group of tools that is a door to a room of its own.
BESIDE = {"tools/agent/": {"agents"}}

# The rooms of a group of tools, each may import those before it. The tools themselves come
# last; `provider` and `document` are what packages of others import.
ROOMS = {
    "web": (
        "converting",
        "handlers",
        "reading",
        "asking",
        "engines",
        "providers",
        "searching",
        "showing",
        "citing",
    ),
    "http": ("sending", "describing"),
}
FOR_OTHERS = {"provider", "document"}

BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}

# Where the world outside is touched. Everywhere else it comes through these.
ROOMS_OF = {
    "environ": ("core/config.py", "kit/process", "surfaces/cli/"),
    "process": ("kit/process", "kit/sandbox", "kit/lifeline.py"),
    "path": ("core/", "kit/", "surfaces/", "toolbox.py"),
    # The model server is the user's own; its address is judged by the policy of the guard.
    "socket": ("kit/egress/", "kit/lifeline.py", "agents/connection.py"),
    "file": (
        "core/layers.py",
        "kit/paths/",
        "kit/process",
        "kit/store",
        "kit/lifeline.py",
        "kit/sandbox/",
        "kit/runs/disk/",  # upper sides of overlays, and looks at trees
        "kit/worker/child.py",  # what the system tells of its memory
        "surfaces/cli/",
    ),
}

MODULES = {
    "subprocess": "process",
    "pty": "process",
    "multiprocessing": "process",
    "socket": "socket",
    "ssl": "socket",
    "http.client": "socket",
    "urllib.request": "socket",
    "requests": "socket",
    "httpx": "socket",
    "httpx2": "socket",
    "aiohttp": "socket",
    "wreq": "socket",
    "pathlib": "path",
    "shutil": "file",
    "tempfile": "file",
}
OS_CALLS = {
    "environ": "environ",
    "getenv": "environ",
    "system": "process",
    "popen": "process",
    "fork": "process",
    "execv": "process",
    "posix_spawn": "process",
    "kill": "process",
    "killpg": "process",
    "open": "file",
    "remove": "file",
    "unlink": "file",
    "rename": "file",
    "replace": "file",
    "mkdir": "file",
    "makedirs": "file",
    "rmdir": "file",
    "listdir": "file",
    "scandir": "file",
    "stat": "file",
}
METHODS = {
    "read_text": "file",
    "read_bytes": "file",
    "write_text": "file",
    "write_bytes": "file",
    "unlink": "file",
    "create_subprocess_exec": "process",
    "create_subprocess_shell": "process",
    "open_connection": "socket",
    "start_server": "socket",
    "start_unix_server": "socket",
    "create_connection": "socket",
    "create_server": "socket",
}


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULE_NAMES = {module_of(path) for path in FILES}


def imports_of(path: Path, *, runtime_only: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    hidden: set[int] = set()
    if runtime_only:
        hidden = set(_deferred(tree))
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULE_NAMES else node.module


def _deferred(tree: ast.AST) -> Iterator[int]:
    """Imports that do not run when the module is loaded."""
    for node in ast.walk(tree):
        late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        )
        if late:
            yield from (id(inner) for inner in ast.walk(node))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_arrows_run_one_way(path: Path) -> None:
    room = room_of(path)
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] != "toolcrib" or len(parts) < 2:
            continue
        target = parts[1] if (SOURCE / parts[1]).is_dir() or parts[1] == "toolbox" else "__init__"
        where = str(path.relative_to(SOURCE))
        more = {r for place, rooms in BESIDE.items() if where.startswith(place) for r in rooms}
        allowed = MAY_IMPORT[room] | more | {room}
        assert target in allowed, f"{room} must not import {name}"


@pytest.mark.parametrize("group", ROOMS)
def test_rooms_of_a_group_have_one_order(group: str) -> None:
    order = ROOMS[group]
    for path in sorted((SOURCE / "tools" / group).rglob("*.py")):
        own = path.relative_to(SOURCE / "tools" / group).parts[0]
        known = order[: order.index(own) + 1] if own in order else order
        for name in imports_of(path):
            parts = name.split(".")
            if parts[:2] != ["toolcrib", "tools"] or own == "__init__.py":
                continue
            assert parts[2] == group, f"{path.name} imports another group: {name}"
            assert parts[3] in known, f"{own} must not import {name}"


def test_beside_the_rooms_there_are_only_tools() -> None:
    for group in ROOMS:
        for path in sorted((SOURCE / "tools" / group).glob("*.py")):
            if path.stem in {"__init__", *FOR_OTHERS}:
                continue
            tree = ast.parse(path.read_text())
            functions = {n.name for n in tree.body if isinstance(n, ast.AsyncFunctionDef)}
            assert path.stem in functions, f"{path.name} is no tool: it belongs in a room"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_each_mechanic_stays_in_its_room(path: Path) -> None:
    where = str(path.relative_to(SOURCE))
    for what, line in uses(path):
        assert where.startswith(ROOMS_OF[what]), f"line {line}: {what} is used outside its room"


def uses(path: Path) -> Iterator[tuple[str, int]]:
    """What a file touches of the world outside, and on which line."""
    tree = ast.parse(path.read_text())
    # Without pathlib, `.read_bytes()` is the method of a checked path.
    harmless = set() if "pathlib" in imports_of(path) else {"read_bytes"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            yield from ((MODULES[n], node.lineno) for n in names if n in MODULES)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "os":
                if node.attr in OS_CALLS:
                    yield OS_CALLS[node.attr], node.lineno
            elif node.attr in METHODS and node.attr not in harmless:
                yield METHODS[node.attr], node.lineno
        elif isinstance(node, ast.Name) and node.id == "open":
            yield "file", node.lineno


def test_no_cycles() -> None:
    modules = {module_of(p): p for p in FILES}
    graph = {
        name: {i for i in imports_of(path, runtime_only=True) if i in modules and i != name}
        for name, path in modules.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name in done:
            return
        for target in graph[name]:
            visit(target, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_sizes_and_names(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400, "more than 400 lines: is a room missing?"
    assert path.stem not in BANNED_NAMES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


def test_every_type_ignore_names_its_code() -> None:
    for path in FILES:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "type: ignore" in line:
                assert "type: ignore[" in line, f"{path.name}:{number}"
