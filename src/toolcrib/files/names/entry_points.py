"""Entry points of Python packages, by which tools of the user load modules as plugins."""

from __future__ import annotations

from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath

PLUGINS = "what tools of Python load as a plugin"
FILE = "entry_points.txt"
FOLDERS = (".dist-info", ".egg-info")
MAX_BYTES = 200_000
HARMLESS = frozenset({"console_scripts", "gui_scripts"})
"""Groups of which pip makes programs, and that nothing loads by itself."""


def holds_entry_points(path: SafePath) -> bool:
    """Whether Python takes a file for the list of a package's entry points."""
    return path.name == FILE and is_of_package(path.parent)


def is_of_package(folder: SafePath) -> bool:
    """Whether a folder has the name of one that says what a package is."""
    return bool(folder.parts) and fold(folder.name).endswith(FOLDERS)


def names_plugins(content: bytes | None) -> bool:
    """Whether there are groups that tools load by themselves; None is too large to tell."""
    if content is None:
        return True
    lines = (line.strip() for line in content.decode("utf-8", "replace").splitlines())
    groups = (line.strip("[]").strip() for line in lines if line.startswith("["))
    return not HARMLESS.issuperset(groups)
