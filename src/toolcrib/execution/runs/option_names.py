"""Names that programs take for an option or a command, where a shell puts in all names of a folder.

As `tar *` and most others do with `-x`, `vim *` with `+command`, `gcc *` with `@file`, `perl -n *`
with what ends in `|`; xargs parts names at blanks.
"""

from __future__ import annotations

import re
from collections.abc import Collection

LIKE_AN_OPTION = "a name that programs take for an option, as by `tar *`"
ROUTES = "routes"
_ROUTE = re.compile(
    r"\+[A-Za-z][\w-]*(?:@[\w()\[\]-]*)?(?:\.\w+)*\.(?:svelte|[jt]sx?|vue|mdx?|css|html)"
)
"""A name as frameworks of the web have it (`+page.svelte`), and no command of an editor."""
_NO_ROUTE = re.compile(r"-[a-z]{2}[a-z-]*(?:\.(?:[jt]sx?|css))?")
"""What they leave out in their folder of that name."""
_IN_NAMES = re.compile(r"^[|<>]|\|$|\s--[a-z]")


def is_like_an_option(name: str, above: Collection[str], *, is_file: bool) -> bool:
    """Whether a new file or folder has such a name.

    Args:
        name: its own.
        above: those of the folders that hold it.
        is_file: whether it is none of a folder.
    """
    if name.startswith("-"):
        return ROUTES not in above or not _NO_ROUTE.fullmatch(name)
    if is_file and (name.startswith("@") or (name.startswith("+") and not _ROUTE.fullmatch(name))):
        return True
    return _IN_NAMES.search(name) is not None
