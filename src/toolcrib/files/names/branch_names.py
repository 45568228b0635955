"""Names of branches and tags in files of repositories, which programs hand on as words.

A branch with a file of its own is judged by that file's name; these files name others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.sources import read_content
from toolcrib.files.names.option_names import is_like_an_option
from toolcrib.files.repositories.packed import MAX_PACKED_BYTES, PACKED

HEAD, SYMBOLIC = "HEAD", "ref:"
ONE_NAME = frozenset({"branch", "bookmarks.current"})
LISTS = frozenset({"bookmarks", "localtags", ".hgtags"})
"""Of Mercurial: files with one name, and with a hash and a name in each line."""
COMMENTS = ("#", "^")


def names_an_option(delta: Delta) -> bool:
    """Whether a change names a branch, or tag, that programs take for an option. Blocking."""
    path = delta.path
    is_git = path.name in (HEAD, PACKED)
    if not is_git and path.name not in ONE_NAME | LISTS:
        return False
    new = set(_names_in(path.name, read_content(delta.new, max_bytes=MAX_PACKED_BYTES)))
    if not any(map(_is_like_an_option, new)):
        return False
    new -= set(_names_in(path.name, read_content(delta.old, max_bytes=MAX_PACKED_BYTES)))
    folder = path.parent.absolute
    return any(
        _is_like_an_option(name) and not (is_git and os.path.lexists(f"{folder}/{name}"))
        for name in new
    )


def _names_in(file: str, content: bytes | None) -> Iterator[str]:
    text = (content or b"").decode("utf-8", "surrogateescape")
    if file in ONE_NAME:
        yield text.strip()
        return
    for line in text.split("\n"):
        if file == HEAD:
            words = [SYMBOLIC, line.removeprefix(SYMBOLIC)] * line.startswith(SYMBOLIC)
        else:
            words = line.split(None, 1)
        if len(words) > 1 and not line.startswith(COMMENTS):
            yield words[1].strip()


def _is_like_an_option(name: str) -> bool:
    *folders, last = name.split("/")
    return is_like_an_option(last, folders, is_file=True) or any(
        is_like_an_option(folder, folders[:at], is_file=False) for at, folder in enumerate(folders)
    )
