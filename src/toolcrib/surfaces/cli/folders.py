"""Folders that a person names for the workspace: what is wrong with one, and what to do."""

from __future__ import annotations

import os
import shlex

from toolcrib.core.errors import BadInput


def folder_fault(folder: str) -> BadInput | None:
    """The error for what is no folder that can be used; None where it is one.

    Args:
        folder: its path; `~` is the home folder.
    """
    place = os.path.expanduser(folder)  # noqa: PTH111 - a Path raises for a user without a home
    if os.path.isdir(place):  # noqa: PTH112 - a Path raises where it may not be looked at
        return None
    try:
        os.stat(place)  # noqa: PTH116
    except FileNotFoundError:
        hint = f"Make it first: mkdir -p {shlex.quote(folder)}"
    except OSError as error:
        return BadInput(
            f"{folder} cannot be used: {error.strerror or error}.",
            hint="Name a folder that you may read.",
        )
    else:
        hint = "Name the folder that it is in."
    return BadInput(f"{folder} is no folder.", hint=hint)
