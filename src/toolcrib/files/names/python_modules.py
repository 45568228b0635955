"""Names by which files stand for modules that Python has itself."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection

from toolcrib.core.package_data import package_table
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.places import GIT

_TABLE = package_table("files/names/python_modules.toml")
MODULES_OF_PYTHON = sys.stdlib_module_names | frozenset(_TABLE["modules"].split())
"""Of other versions than the server's too."""
LOADED = frozenset(_TABLE["loaded"].split())
"""Of these, what usual commands of Python load, in the folder where they are started."""
_MODULE = re.compile(r"(?:\.[\w-]+)*\.(?:py|pyc|so|pyd)\Z")


def place_of_module(delta: Delta, modules: Collection[str]) -> SafePath | None:
    """The file or folder of a module of one of these names, if a change makes one; else None."""
    is_package = delta.path.name.startswith("__init__.")
    path = delta.path.parent if is_package else delta.path
    name, dot, ending = path.name.partition(".") if path.parts else ("", "", "")
    if name not in modules:
        return None
    is_plain = is_package or (delta.is_link and not dot)
    return path if (not dot if is_plain else _MODULE.match(dot + ending)) else None


def stands_for_module(delta: Delta) -> bool:
    """Whether usual commands of Python would load it, in a folder where people start them.

    Those are the top of a workspace and of a repository. Blocking.
    """
    if delta.before and not delta.is_link:
        return False
    path = place_of_module(delta, LOADED)
    if path is None:
        return False
    return len(path.parts) == 1 or os.path.lexists(f"{path.parent.absolute}/{GIT}")
