"""Tools of the user's own: Python files in a folder of theirs, and packages that bring some.

A process of its own imports each file once and says what it declares; that is kept until a file
changes. Here a file is imported when one of its tools is called first. So one that raises, hangs,
prints or ends the program takes nothing with it: it is left out, and the reason is told.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from toolcrib.core.catalogue import CataloguedTool, entry_of
from toolcrib.core.config import Config, data_folder, user_config_file
from toolcrib.core.errors import StorageFailure, Unavailable
from toolcrib.core.names import plain
from toolcrib.core.tool import Function, Tool
from toolcrib.core.version import VERSION
from toolcrib.extensions.declarations import PACKAGE, ToolOrigin, declared, import_origin, in_words
from toolcrib.extensions.json_files import read_object, write_object
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import chosen_roots
from toolcrib.files.real_paths import real_path
from toolcrib.files.roots import plain_path
from toolcrib.system.trials import run_trial

T = TypeVar("T")
FOLDER = "tools"
POINTS = "toolcrib.tools"
"""The group of entry points by which packages bring tools."""
CACHE_NAME = "own_tools.json"
CHILD = str(Path(__file__).with_name("inspection_child.py"))
IMPORT_SECONDS = 10.0
HUNG = (
    f"its import does not end within {IMPORT_SECONDS:g} seconds; "
    "it is tried again when a file there has changed"
)
AT_ONCE = 4
MAX_FILES = 200
MAX_STAMPED = 2_000
WRITABLE_BY_OTHERS = 0o002
CODE_ENDINGS = (".py", ".pyc", ".so", ".pyd")


@dataclass(frozen=True, slots=True)
class Skipped:
    """What is left out, and why."""

    where: str
    reason: str

    def __str__(self) -> str:
        """Both in a line."""
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class OwnTools:
    """What there is."""

    tools: tuple[Tool, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class _Source:
    """A file or an entry point; `stamp` changes whenever its code may have."""

    where: str
    origin: ToolOrigin
    file: str
    stamp: str


def tools_folder() -> Path:
    """Where the user's own files are: `tools` beside their configuration."""
    return user_config_file().parent / FOLDER


def own_tools(config: Config, others: Iterable[Tool], *, retry: bool = False) -> OwnTools:
    """The tools of the user's files and of installed packages.

    Args:
        config: whose workspace says where nothing is loaded from. One that was made by hand has
            only the packages.
        others: the tools that there are already; their names are taken.
        retry: whether to look again at what could not be used before, except what hung: that
            would cost its seconds each time.
    """
    skipped: list[Skipped] = []
    sources = list(_files(config, skipped)) if config.file is not None else []
    sources += _packages()
    if not sources and not skipped:
        return OwnTools()
    taken = {plain(name): tool.name for tool in others for name in (tool.name, *tool.aliases)}
    tools: list[Tool] = []
    for source, found in zip(sources, _inspected(sources, retry=retry), strict=True):
        skipped += [Skipped(source.where, reason) for reason in found["skipped"]]
        for entry in found["tools"]:
            tool = OwnTool(source.origin, source.file, entry)
            names = {plain(name): name for name in (tool.name, *tool.aliases)}
            clash = next((key for key in names if key in taken), "")
            if clash:
                reason = f"{tool.name}: the name {names[clash]} is taken by the tool {taken[clash]}"
                skipped.append(Skipped(source.where, reason))
                continue
            taken |= dict.fromkeys(names, tool.name)
            tools.append(tool)
    return OwnTools(tuple(tools), tuple(skipped))


def lies_in(roots: Iterable[str], path: str | Path, *, files: bool = False) -> str:
    """The root that a path lies in, by its name or behind links; empty where in none.

    Args:
        roots: folders.
        path: absolute.
        files: whether only a file that is there counts.
    """
    if files and not os.path.isfile(path):  # noqa: PTH113 - also of names that are too long
        return ""
    for place in (plain_path(path), real_path(path)):
        for root in roots:
            if any(
                parts_beneath(place, top) is not None for top in {plain_path(root), real_path(root)}
            ):
                return root
    return ""


def why_not_loaded(path: Path, roots: Sequence[str]) -> str:
    """Why nothing may be imported from here; empty where it may."""
    root = lies_in(roots, path)
    if root:
        return f"it lies in the workspace {root}, where models may write"
    if sys.platform == "win32":
        return ""
    found = path.stat()
    if found.st_uid not in (0, os.getuid()):
        return "it belongs to another user"
    if found.st_mode & WRITABLE_BY_OTHERS:
        return "every user can write to it: chmod o-w"
    return ""


def _files(config: Config, skipped: list[Skipped]) -> Iterator[_Source]:
    """The files of the folder; why it or one of them is left out goes to `skipped`."""
    folder = tools_folder()
    try:
        names = sorted(file.name for file in folder.iterdir() if file.suffix == ".py")
    except NotADirectoryError:
        skipped.append(Skipped(str(folder), "it is no folder"))
        return
    except FileNotFoundError:
        return
    except OSError as error:
        skipped.append(Skipped(str(folder), f"it cannot be read: {error.strerror}"))
        return
    names = [name for name in names if not name.startswith(("_", "."))]
    roots = chosen_roots(config)
    reason = names and (why_not_loaded(folder, roots) or _why_no_helper(folder, names, roots))
    if reason:
        skipped.append(Skipped(str(folder), reason))
        return
    stamp = _stamp_of_folder(folder)
    for number, name in enumerate(names):
        where, file = f"{FOLDER}/{name}", folder / name
        reason = _why_no_tool_file(file, roots, number)
        if reason:
            skipped.append(Skipped(where, reason))
            continue
        origin = ToolOrigin(f"{PACKAGE}.{file.stem}", folder=str(folder))
        yield _Source(where, origin, str(file), stamp)


def _why_no_helper(folder: Path, tools: Collection[str], roots: Sequence[str]) -> str:
    """Why nothing of the folder is loaded, for what its files could import from it."""
    walked: set[str] = set()
    for top, folders, files in os.walk(folder, followlinks=True):
        code = [name for name in files if name.endswith(CODE_ENDINGS)]
        names = [name for name in (*folders, *code) if not name.startswith(".")]  # can be imported
        if os.path.realpath(top) in walked:
            names = []
        walked.add(os.path.realpath(top))
        folders[:] = [name for name in folders if name in names]
        for name in names:
            helper = Path(top, name)
            if helper.parent == folder and name in tools:
                continue  # judged by itself
            try:
                reason = why_not_loaded(helper, roots)
            except OSError as error:
                reason = f"it cannot be read: {error.strerror}"
            if reason:
                return f"{helper.relative_to(folder)}: {reason}"
    return ""


def _why_no_tool_file(file: Path, roots: Sequence[str], number: int) -> str:
    if number >= MAX_FILES:
        return f"there are more than {MAX_FILES} files"
    if not file.stem.isidentifier():
        return "a file is named like a name of Python: letters, digits and underscores"
    try:
        return why_not_loaded(file, roots) or ("" if file.is_file() else "it is no file")
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def _packages() -> list[_Source]:
    found = []
    for point in _points():
        module, _, attribute = point.value.partition(":")
        where = f"package {point.dist.name if point.dist else point.name}"
        version = point.dist.version if point.dist else ""
        origin = ToolOrigin(module.strip(), attribute.partition("[")[0].strip())
        stamp = json.dumps([version, _stamp_of_module(origin.module)])
        found.append(_Source(where, origin, "", stamp))
    return found


@cache
def _points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=POINTS))


def _stamp_of_module(name: str) -> str:
    """What changes with the files of a module; the top of its package is not imported for it."""
    top = name.partition(".")[0]
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return ""
    if spec is None or not spec.origin:
        return ""
    if spec.submodule_search_locations:
        return _stamp_of_folder(Path(spec.origin).parent)
    return _stamp(Path(spec.origin))


def _stamp_of_folder(folder: Path) -> str:
    stamps: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        stamps += [_stamp(Path(place, name)) for name in sorted(names) if name.endswith(".py")]
        if len(stamps) > MAX_STAMPED:
            break
    return " ".join([str(folder), *stamps])


def _stamp(file: Path) -> str:
    with suppress(OSError):
        found = file.stat()
        return f"{file.name}:{found.st_mtime_ns}:{found.st_size}"
    return f"{file.name}:?"


def _inspected(sources: Sequence[_Source], *, retry: bool) -> list[dict[str, Any]]:
    """What each declares: as it was kept, or by importing it in a process of its own."""
    # What is installed beside them decides whether they can be imported.
    surroundings = [VERSION, sys.version, _stamp(Path(sysconfig.get_path("purelib") or sys.prefix))]
    file = data_folder() / CACHE_NAME
    cached = read_object(file)
    known = cached.get("sources") if cached.get("surroundings") == surroundings else None
    known = known if isinstance(known, dict) else {}
    fresh = [source for source in sources if not _is_known(known, source, retry=retry)]
    if fresh:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            results = dict(zip((s.where for s in fresh), pool.map(_inspect, fresh), strict=True))
        known = {s.where: known[s.where] for s in sources if s.where not in results} | {
            s.where: {"stamp": s.stamp, "found": results[s.where]} for s in fresh
        }
        with suppress(StorageFailure):  # then it is looked at again at the next start
            write_object(file, {"surroundings": surroundings, "sources": known})
    return [known[source.where]["found"] for source in sources]


def _is_known(known: Mapping[str, Any], source: _Source, *, retry: bool) -> bool:
    entry = known.get(source.where)
    if not isinstance(entry, dict) or entry.get("stamp") != source.stamp:
        return False
    found = entry.get("found")
    if not isinstance(found, dict) or not {"tools", "skipped"} <= found.keys():
        return False
    return bool(not retry or not found["skipped"] or found.get("hung"))


def _inspect(source: _Source) -> dict[str, Any]:
    order = {"path": sys.path, "origin": source.origin.to_json(), "file": source.file}
    reason, hung = "it ends the program when it is imported", False
    try:
        argv = [sys.executable, "-I", CHILD]
        done = run_trial(argv, json.dumps(order).encode(), IMPORT_SECONDS)
        if done.exit_code is None:
            reason, hung = HUNG, True
        found = json.loads(done.output)
    except OSError as error:
        return {"tools": [], "skipped": [f"it cannot be looked at: {error.strerror or error}"]}
    except ValueError:
        return {"tools": [], "skipped": [reason], "hung": hung}
    return found if isinstance(found, dict) else {"tools": [], "skipped": [reason]}


class OwnTool(CataloguedTool):
    """A tool of the user's own, known by what was found in it; it is imported at its first call.

    Args:
        origin: where it is declared.
        file: the file that is imported; empty for a package.
        entry: its line of the catalogue.
    """

    def __init__(self, origin: ToolOrigin, file: str, entry: Mapping[str, Any]) -> None:
        line = {name: value for name, value in entry.items() if name != "module"}
        super().__init__(str(entry["module"]), line)
        vars(self).update(_origin=origin, _file=file)

    def load(self) -> Tool:
        """Import what declares it.

        Raises:
            Unavailable: that fails or takes too long, or it declares something else now.
        """
        origin, file = vars(self)["_origin"], vars(self)["_file"]
        with OUTPUT:
            try:
                # Looking at the tools is no work for the thread: properties of a tool are locked
                # by whoever looks at this one, up to Python 3.11 for all tools together.
                _within(IMPORT_SECONDS, lambda: import_origin(origin))
                found = _declared(origin).get(self.name)
            except TimeoutError:
                why = f"its import does not end within {IMPORT_SECONDS:g} seconds"
                raise self._unavailable(why) from None
            except BaseException as error:
                raise self._unavailable(in_words(error, file)) from error
        if found is None or entry_of(found) != vars(self)["_entry"]:
            raise self._unavailable("it was changed since toolcrib was started")
        return replace(found, function=_guarded(found.function))

    def _unavailable(self, reason: str) -> Unavailable:
        where = vars(self)["_file"] or self.module
        return Unavailable(
            f"{self.name} cannot be loaded from {where}: {reason}.",
            hint="The user corrects it and starts toolcrib again; toolcrib doctor shows it.",
        )

    def lies_in(self, roots: Sequence[str]) -> bool:
        """Whether its file is in one of these folders, so that models may write to it."""
        file = vars(self)["_file"]
        return bool(file) and "workspace" in why_not_loaded(Path(file), roots)


_found: dict[ToolOrigin, Mapping[str, Tool]] = {}


def _declared(origin: ToolOrigin) -> Mapping[str, Tool]:
    """The tools of an origin, which is imported once."""
    if origin not in _found:
        _found[origin] = declared(origin).tools
    return _found[origin]


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Work in a thread that is left behind when its time is over."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


class _Output:
    """What own code prints goes to stderr: stdout is the protocol, or the result of a command.

    Calls may overlap in any order, so they are counted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = sys.stdout

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before, sys.stdout = sys.stdout, sys.stderr
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                sys.stdout = self._before


OUTPUT = _Output()


def _guarded(function: Function) -> Function:
    """The function, from which `sys.exit` does not end the server."""

    @wraps(function)
    async def run(**arguments: Any) -> Any:
        with OUTPUT:
            try:
                return await function(**arguments)
            except SystemExit as error:
                raise Unavailable(
                    f"The tool ended itself (SystemExit: {error.code}).",
                    hint="The user changes it: a tool returns, or raises a ToolError.",
                ) from None

    return run
