"""The folders of a workspace that hold a person's own work, and the links among that."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from toolcrib.files.path_rules import GENERATED_FOLDERS
from toolcrib.files.trees import entries_beneath

MAX_FOLDERS, MAX_DEPTH, MAX_SECONDS = 2_000, 12, 0.5
MAX_HOME_ENTRIES = 2_000
MARKS_OF_REPOSITORY = frozenset({".git", "HEAD"})


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """What a short look finds, absolute, near the top first.

    Attributes:
        repositories: folders in which a name lies by which git may take them for one.
        links: in the roots and beneath.
    """

    repositories: Sequence[str] = ()
    links: Sequence[str] = ()


def own_folders(roots: Sequence[str]) -> OwnFolders:
    """Look beneath absolute paths; blocking, for half a second at most."""
    repositories: list[str] = []
    links: list[str] = []
    for entry in entries_beneath(
        roots,
        max_folders=MAX_FOLDERS,
        max_seconds=MAX_SECONDS,
        max_depth=MAX_DEPTH + max((root.count("/") for root in roots), default=0),
        left_out=GENERATED_FOLDERS,
    ):
        if entry.name in MARKS_OF_REPOSITORY:
            repositories.append(entry.path.rpartition("/")[0])
        if entry.is_symlink():
            links.append(entry.path)
    return OwnFolders(list(dict.fromkeys(repositories)), links)


def home_links() -> list[str]:
    """Links of the user's home by which programs find settings, absolute; blocking.

    Those whose names begin with a dot, and those in `~/.config`.
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - no home is no error
    found: list[str] = []
    for folder, start in ((home, "."), (f"{home}/.config", "")):
        entries = entries_beneath([folder], max_folders=1, max_seconds=MAX_SECONDS, max_depth=0)
        found += [
            entry.path
            for entry in islice(entries, MAX_HOME_ENTRIES)
            if entry.name.startswith(start) and entry.is_symlink()
        ]
    return found
