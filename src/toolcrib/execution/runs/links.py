"""Where a symbolic link that a run made may lead."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.roots import Root

PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""Folders that belong to the system and hold nothing of a person's: an environment of Python
made by a run has links there."""


def leads_out(path: SafePath, target: str, roots: Sequence[Root]) -> bool:
    """Whether a link may lead out of the workspace.

    Only what the names say counts, so `..` after another name, which may be a link itself,
    is taken as leading out.

    Args:
        path: the link; no link is on the way to it.
        target: as it is written.
        roots: those of the workspace.
    """
    names = [name for name in target.split("/") if name not in ("", ".")]
    if target.startswith("/"):
        if ".." in names:
            return True
        inside = [*(r.name for r in roots), *(r.real for r in roots), *PROGRAMS, sys.base_prefix]
        return not any(parts_beneath(target, top) is not None for top in inside)
    ups = 0
    while ups < len(names) and names[ups] == "..":
        ups += 1
    return ".." in names[ups:] or ups > len(path.parts) - 1
