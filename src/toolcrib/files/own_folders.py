"""The folders of a workspace that hold a person's own work, and the links among that."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from toolcrib.core.config import environment
from toolcrib.files.path_rules import GENERATED_FOLDERS
from toolcrib.files.start_files import IN_FOLDERS
from toolcrib.files.trees import entries_beneath, is_folder

MAX_FOLDERS, MAX_DEPTH, MAX_SECONDS = 2_000, 12, 0.5
MAX_HOME_ENTRIES = 2_000
MAX_HOME_FOLDERS, MAX_HOME_DEPTH = 500, 4
NO_SETTINGS = GENERATED_FOLDERS | {"Cache", "cache", "logs", ".local", ".npm", ".nvm", ".wine"}
"""Folders of the home whose links are not looked for."""
MARKS_OF_REPOSITORY = frozenset({".git", "HEAD"})


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """What a short look finds, absolute, near the top first.

    Attributes:
        repositories: folders in which a name lies by which git may take them for one.
        with_start_files: those that have one of direnv.
        links: in the roots and beneath.
    """

    repositories: Sequence[str] = ()
    with_start_files: Sequence[str] = ()
    links: Sequence[str] = ()


def own_folders(roots: Sequence[str]) -> OwnFolders:
    """Look beneath absolute paths; blocking, for half a second at most."""
    repositories: list[str] = []
    with_start_files: list[str] = []
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
        if entry.name in IN_FOLDERS:
            with_start_files.append(entry.path.rpartition("/")[0])
        if entry.is_symlink():
            links.append(entry.path)
    return OwnFolders(list(dict.fromkeys(repositories)), with_start_files, links)


def home_links() -> list[str]:
    """Links of the user's home by which programs find settings, absolute; blocking.

    Those whose names begin with a dot, those in `~/.config`, and deeper in such folders those to
    files: developers link whole projects there.
    """
    home = os.path.expanduser("~")  # noqa: PTH111 - no home is no error
    named = environment(("XDG_CONFIG_HOME", "ZDOTDIR")).values()
    settings = [f"{home}/.config", *(folder for folder in named if folder.startswith("/"))]
    found: list[str] = []
    folders: list[str] = []
    for folder in (home, *dict.fromkeys(settings)):
        entries = entries_beneath([folder], max_folders=1, max_seconds=MAX_SECONDS, max_depth=0)
        for entry in islice(entries, MAX_HOME_ENTRIES):
            if folder == home and not entry.name.startswith("."):
                continue
            if entry.is_symlink():
                found.append(entry.path)
            elif entry.name not in NO_SETTINGS and is_folder(entry):
                folders.append(entry.path)
    deepest = max(folder.count("/") for folder in (home, *settings))
    beneath = entries_beneath(
        dict.fromkeys(folder for folder in folders if folder not in settings),
        max_folders=MAX_HOME_FOLDERS,
        max_seconds=MAX_SECONDS,
        max_depth=deepest + MAX_HOME_DEPTH,
        left_out=NO_SETTINGS,
    )
    found += [entry.path for entry in beneath if entry.is_symlink() and _leads_to_no_folder(entry)]
    return list(dict.fromkeys(found))


def _leads_to_no_folder(link: os.DirEntry[str]) -> bool:
    """Whether a link leads to a file, or to nothing yet."""
    with suppress(OSError):
        return not link.is_dir()
    return False
