"""Arrows run one way, and each mechanic stays in its room."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.tree import Module, modules

# A room imports itself and rooms of lower floors, never one of its own floor.
FLOORS = (
    ("core", "text"),
    ("system", "toolcalls"),
    ("state",),
    ("files", "net"),
    ("execution", "retrieval"),
    ("documents", "code", "memory", "browser", "git"),
    ("web", "chatflow", "data", "extensions", "images"),
    ("middleware", "agents"),
    ("tools",),
    ("toolbox",),
    ("surfaces", "__init__", "__main__", "kit"),  # kit: import paths of the version before
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
SAME_FLOOR = {("text", "core"), ("__main__", "surfaces")}

# Within a room of several packages and modules, each may import those before it.
ORDER = {
    "web": (
        *("page.py", "converters", "handlers.py", "neutralizer.py", "page_reader.py"),
        *("provider.py", "result_markup.py", "search_engine.py", "providers", "search"),
    ),
}

BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
MAX_LINES = 800
MAX_FUNCTION_LINES = 80

# Where the world outside is touched. Everywhere else it comes through these.
ROOMS_OF = {
    "environ": ("core/config.py", "surfaces/cli/", "git/ssh_tunnel_child.py",
                "system/processes.py",  # marks what a library starts
                "images/screen_child.py"),
    "process": ("system/", "execution/sandbox/"),
    "path": ("core/", "system/", "state/", "files/", "net/", "execution/", "documents/", "code/",
             "git/", "browser/", "retrieval/", "extensions/", "surfaces/", "toolbox.py",
             "images/fonts.py"),
    # The model server is the user's own; its address is judged by the policy of the guard.
    # Ports of runs are passed on between loopbacks alone.
    "socket": ("net/egress/", "net/models/connection.py", "net/models/upstream.py",
               "system/stdin_monitor.py",
               "system/unix_sockets.py",  # asks the kernel alone
               "data/sql_child.py",  # by a socket of the guard's that it is given
               "net/remote_client.py",  # by way of the guard's proxy
               "execution/ports.py", "execution/sandbox/namespace_child.py",
               "execution/sandbox/namespace_helper.py",
               "git/ssh_tunnel_child.py"),
    "file": (
        *("core/catalogue.py", "core/package_data.py"),  # tables of the package itself
        "surfaces/mcp/apps.py",  # the script of its page
        # Which browsers there are; what the browser fetched into its own folder.
        *("browser/program.py", "browser/downloads.py"),
        "core/names.py",  # tables of the package itself
        "core/config.py",
        "files/handles.py",
        "files/live_runs.py",
        "retrieval/vectors.py",  # the mapped file beside an index
        "images/fonts.py",  # fonts of the machine
        "files/path_gate.py",
        "files/roots.py",  # a scratch folder in the system's place for such
        "files/tree_events.py",  # what is watched for moves is held
        "files/trees.py",
        "files/writer.py",
        "state/blobs.py",
        "state/store.py",
        "state/store.py",
        "state/vault.py",
        "system/",
        "execution/sandbox/",
        "execution/runs/folders.py",
        # Upper directories of overlays, and snapshots of trees.
        *("files/changes/overlay_upper.py", "files/changes/snapshots.py"),
        # What is renamed between folders of our own and the workspace.
        *("files/changes/tree_store.py", "files/changes/takeover.py"),
        *("files/names/dot_names.py", "execution/runs/environment.py"),  # the tables
        "execution/runs/triggers.py",  # beside them
        "execution/git_identity.py",
        "files/repositories/targets.py",  # settings of git, the user's own too
        # The folder that stands in for a repository's, and going back to how one was.
        *("git/exec_path.py", "git/layout.py", "git/program.py"),
        *("git/restoration.py", "git/snapshots.py"),
        # What is known of tools of others, and the user's folder of tools.
        *("extensions/json_files.py", "extensions/own_tools.py"),
        "execution/worker_child.py",  # what the system tells of its memory
        "surfaces/cli/",
    ),
}  # fmt: skip

MODULES = {
    "subprocess": "process",
    "psutil": "process",
    "pty": "process",
    "multiprocessing": "process",
    "socket": "socket",
    "ssl": "socket",
    "http.client": "socket",
    "urllib.request": "socket",
    "requests": "socket",
    "httpx": "socket",
    "httpx2": "socket",
    "httpcore2": "socket",
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


def ours(module: Module) -> Iterator[tuple[Module, int]]:
    """The modules of toolcrib that a module imports, with the line of each import."""
    for name, line in module.imports:
        if name in modules() and name != module.name:
            yield modules()[name], line


def test_arrows_run_one_way() -> None:
    wrong = [
        f"{module.where}:{line} imports {target.where}"
        for module in modules().values()
        for target, line in ours(module)
        if module.room != target.room
        and (module.room, target.room) not in SAME_FLOOR
        and FLOOR_OF[target.room] >= FLOOR_OF[module.room]
    ]
    assert wrong == []


def test_packages_of_a_room_have_one_order() -> None:
    wrong = []
    for room, order in ORDER.items():
        for module in modules().values():
            own = module.where.split("/")
            if own[0] != room or own[1] not in order:
                continue
            for target, line in ours(module):
                there = target.where.split("/")
                if there[0] == room and there[1] in order[order.index(own[1]) + 1 :]:
                    wrong.append(f"{module.where}:{line} imports {target.where}")
    assert wrong == []


def test_groups_of_tools_do_not_know_each_other() -> None:
    wrong = [
        f"{module.where}:{line} imports {target.where}"
        for module in modules().values()
        for target, line in ours(module)
        if module.room == target.room == "tools"
        and module.where.split("/")[1] != target.where.split("/")[1]
    ]
    assert wrong == []


def test_private_modules_stay_in_their_room() -> None:
    wrong = [
        f"{module.where}:{line} imports {target.where}"
        for module in modules().values()
        for target, line in ours(module)
        if module.room != target.room and target.stem.startswith("_") and target.stem != "__init__"
    ]
    assert wrong == []


def test_each_mechanic_stays_in_its_room() -> None:
    wrong = [
        f"{module.where}:{line} uses {what}"
        for module in modules().values()
        for what, line in uses(module)
        if not module.where.startswith(ROOMS_OF[what])
    ]
    assert wrong == []


def uses(module: Module) -> Iterator[tuple[str, int]]:
    """What a file touches of the world outside, and on which line."""
    # Without pathlib, `.read_bytes()` is the method of a checked path.
    harmless = set() if any(n == "pathlib" for n, _ in module.imports) else {"read_bytes"}
    for node in ast.walk(module.tree):
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
    """Imports inside functions and for types count: a reader follows them like any other."""
    graph = {name: [t.name for t, _ in ours(module)] for name, module in modules().items()}
    done: set[str] = set()
    cycles: list[str] = []

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            cycles.append(" -> ".join([*trail[trail.index(name) :], name]))
            return
        if name not in done:
            for target in graph[name]:
                visit(target, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())
    assert cycles == []


def test_sizes_and_names() -> None:
    wrong = []
    for module in modules().values():
        if (lines := module.text.count("\n")) > MAX_LINES:
            wrong.append(f"{module.where} has {lines} lines: is it about one thing?")
        if module.stem in BANNED_NAMES:
            wrong.append(f"{module.where} says nothing of what is in it")
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    wrong.append(f"{module.where}: {node.name} has {length} lines")
    assert wrong == []


def test_every_type_ignore_names_its_code() -> None:
    wrong = [
        f"{module.where}:{number}"
        for module in modules().values()
        for number, line in enumerate(module.text.splitlines(), 1)
        if "type: ignore" in line and "type: ignore[" not in line
    ]
    assert wrong == []
