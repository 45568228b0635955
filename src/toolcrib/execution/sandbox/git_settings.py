"""Settings of git with credentials, those that are included too: runs read copies without them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.toolchains import is_among
from toolcrib.files.handles import read_plain
from toolcrib.files.repositories.credentials import (
    MAX_SETTINGS_BYTES,
    may_be_settings,
    settings_in,
    without_credentials,
)
from toolcrib.files.repositories.places import led_to

IN_REPOSITORY = ("config", "config.worktree", "commondir", "hooks", "info/attributes")
SUBMODULES = ("*/config", "*/*/config", "*/modules/*/config")
WORKTREES = ("*/config.worktree",)
MAX_INCLUDED = 50


def masks_of_settings(masks: Iterable[Mask], tops: Sequence[str]) -> list[Mask]:
    """Masks, with copies in the place of settings that hold credentials.

    Args:
        masks: what is protected in what a run sees; settings of git are among that.
        tops: the folders that it sees.
    """
    found: dict[str, Mask] = {}
    for mask in masks:
        found.setdefault(mask.path, mask)
        for path in _behind(mask, tops):
            found.setdefault(path, Mask(path, "fixed"))
    fixed = (mask.path for mask in found.values() if mask.kind == "fixed")
    waiting = [path for path in fixed if may_be_settings(PurePosixPath(path).name)]
    for number, path in enumerate(waiting):
        data = b""
        with suppress(OSError):
            data = read_plain(path, MAX_SETTINGS_BYTES, follow=False)
        clean = without_credentials(data)
        if clean != data:
            found[path] = Mask(path, "copy", clean)
        if number < MAX_INCLUDED:
            waiting += [p for p in _included(data, path, tops) if p not in waiting]
    return list(found.values())


def _behind(mask: Mask, tops: Sequence[str]) -> Iterator[str]:
    """Settings in folders that are masked as a whole, or that a `.git` file leads to."""
    name = PurePosixPath(mask.path).name
    if mask.kind == "fixed" and name in ("modules", "worktrees"):
        for level in SUBMODULES if name == "modules" else WORKTREES:
            yield from map(str, Path(mask.path).glob(level))
    elif mask.kind == "fixed" and name == ".git":
        folder = led_to(mask.path)
        for place in (folder, led_to(f"{folder}/commondir") if folder else ""):
            if place and is_among(place, tops):
                yield from filter(os.path.lexists, (f"{place}/{n}" for n in IN_REPOSITORY))


def _included(data: bytes, path: str, tops: Sequence[str]) -> Iterator[str]:
    """Files that settings include, as far as a run sees them."""
    for section, key, value in settings_in(data):
        if section in (b"include", b"includeif") and key == b"path" and b"\0" not in value:
            named = os.path.expanduser(os.fsdecode(value))  # noqa: PTH111 - no user is no error
            place = os.path.realpath(Path(path).parent / named)
            if is_among(place, tops) and os.path.isfile(place):  # noqa: PTH113
                yield place
