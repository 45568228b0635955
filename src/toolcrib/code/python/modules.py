"""Which file a module name means: packages, `src` folders, relative imports, scripts."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass

_INIT = "__init__"


@dataclass(frozen=True, slots=True)
class Target:
    """What a dotted name leads to: a file, a folder without code, or nothing of ours.

    `unsure` says that another file could be meant as well.
    """

    path: str = ""
    folder: str | None = None
    unsure: bool = False


class ModuleMap:
    """The Python files of a project as modules.

    Args:
        paths: the paths of all of them, from the project's folder.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        listed = sorted(p for p in paths if p.endswith((".py", ".pyi", ".pyw")))
        self._files = frozenset(listed)
        self._folders = {up for path in listed for up in _above(path)}
        self._roots = {self.root_of(path) for path in listed} | {"", "src"}

    def __contains__(self, path: str) -> bool:
        return path in self._files

    def is_package(self, folder: str) -> bool:
        """Whether a folder has code of its own."""
        return _join(folder, f"{_INIT}.py") in self._files

    def root_of(self, path: str) -> str:
        """The folder from which a file is imported: the first above it that is no package."""
        folder = path.rpartition("/")[0]
        while folder and self.is_package(folder):
            folder = folder.rpartition("/")[0]
        return folder

    def name_of(self, path: str) -> str:
        """The dotted name by which other files import a file."""
        root = self.root_of(path)
        if root:
            # A folder without `__init__.py` between the project's and the file is a package too.
            root = _source_root(root)
        inner = path[len(root) + 1 :] if root else path
        name = inner.rpartition(".")[0].replace("/", ".")
        return name.removesuffix(f".{_INIT}")

    def package_of(self, path: str) -> str:
        """The folder that `from .` in a file means."""
        return path.rpartition("/")[0]

    def absolute(self, importer: str, dotted: str) -> Target:
        """What `import dotted` in a file means."""
        own = self.root_of(importer)
        here = self._below(own, dotted)
        if here is not None:
            return here
        first = dotted.partition(".")[0]
        found: dict[str, Target] = {}
        for root in sorted(self._roots, key=lambda r: (r not in ("", "src"), r)):
            if first in sys.stdlib_module_names and root not in ("", "src"):
                continue
            target = self._below(root, dotted)
            if target is not None:
                found.setdefault(target.path or f"{target.folder}/", target)
        if not found:
            return Target()
        best = next(iter(found.values()))
        files = [t for t in found.values() if t.path]
        if not best.path and files:
            best = files[0]
        return Target(best.path, best.folder, unsure=len(files) > 1)

    def relative(self, importer: str, level: int, dotted: str) -> Target:
        """What `from ..dotted` in a file means."""
        folder = self.package_of(importer)
        for _ in range(level - 1):
            if not folder:
                return Target()
            folder = folder.rpartition("/")[0]
        if not dotted:
            return self._folder(folder)
        return self._below(folder, dotted) or Target()

    def imported(self, importer: str, node: ast.ImportFrom) -> Target:
        """What the module of a `from` import is."""
        if node.level:
            return self.relative(importer, node.level, node.module or "")
        return self.absolute(importer, node.module or "")

    def child(self, target: Target, name: str) -> Target | None:
        """A module inside of a package."""
        if target.folder is None:
            return None
        return self._below(target.folder, name)

    def stub_of(self, path: str) -> str:
        """The stub that stands beside a file, or the file beside a stub; "" without one."""
        other = f"{path}i" if path.endswith(".py") else path.removesuffix("i")
        return other if other != path and other in self._files else ""

    def _below(self, root: str, dotted: str) -> Target | None:
        place = _join(root, dotted.replace(".", "/"))
        if self.is_package(place) or place in self._folders:
            package = self._folder(place)
            if package.path or not self._plain(place):
                return package
        path = self._plain(place)
        return Target(path) if path else None

    def _plain(self, place: str) -> str:
        return next((p for p in (f"{place}.py", f"{place}.pyi") if p in self._files), "")

    def _folder(self, folder: str) -> Target:
        init = _join(folder, f"{_INIT}.py")
        return Target(init if init in self._files else "", folder)


def _source_root(folder: str) -> str:
    parts = folder.split("/")
    return "/".join(parts[: parts.index("src") + 1]) if "src" in parts else ""


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _above(path: str) -> list[str]:
    found = []
    while "/" in path:
        path = path.rpartition("/")[0]
        found.append(path)
    return found
