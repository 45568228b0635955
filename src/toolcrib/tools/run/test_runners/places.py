"""Where a runner is started: in the root of the project, as a person would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from toolcrib.core.errors import ToolError
from toolcrib.files.paths import SafePath

PYTHON = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py")
FILES = {
    "pytest": PYTHON,
    "unittest": PYTHON,
    "go": ("go.mod",),
    "cargo": ("Cargo.toml",),
    **dict.fromkeys(("jest", "vitest", "mocha", "node"), ("package.json",)),
}
"""The files of a project by the runner."""
OF_TESTS = {"test", "tests", "testing", "__tests__"}
"""Folders that lie in a project: what settings for pytest they hold are for them alone."""


@dataclass(frozen=True, slots=True)
class Place:
    """What is tested, and from where.

    Attributes:
        root: the folder of the project, where the runner is started.
        near: the folder that was asked for, or that of the file.
        file: the name of the file; empty for a folder.
    """

    root: SafePath
    near: SafePath
    file: str

    @classmethod
    def of(cls, runner: str, near: SafePath, file: str) -> Self:
        """The place of a folder, or of a file in it, for a runner."""
        return cls(_root(runner, near), near, file)

    @property
    def folder_target(self) -> str:
        """The folder as from the root; empty for the root."""
        return "/".join(self.near.parts[len(self.root.parts) :])

    @property
    def target(self) -> str:
        """The file or folder as from the root; empty for all of it."""
        return "/".join(part for part in (self.folder_target, self.file) if part)

    @property
    def is_package(self) -> bool:
        """Whether each folder beneath the root is a package of Python."""
        depths = range(len(self.root.parts) + 1, len(self.near.parts) + 1)
        return all(has(self.near.ancestor(depth), "__init__.py") for depth in depths)


def _root(runner: str, near: SafePath) -> SafePath:
    """The nearest folder upwards with a file of the project, not above its repository.

    Else the highest with a conftest.py there, else the repository, else the present folder.
    """
    conftest = None
    for depth in range(len(near.parts), -1, -1):
        here = near.ancestor(depth)
        if any(has(here, name) for name in FILES[runner]):
            return here
        if runner == "pytest" and OF_TESTS.isdisjoint(here.parts) and has(here, "conftest.py"):
            conftest = here
        if has(here, ".git"):
            return conftest or here
    return conftest or near.ancestor(min(len(near.parts), max(near.base, 0)))


def has(folder: SafePath, name: str) -> bool:
    """Whether a folder has something of that name."""
    try:
        folder.child(name).stat()
    except ToolError:
        return False
    return True
