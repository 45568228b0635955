"""Names that programs take for an option or a command, where a shell puts in all names of a folder.

As `tar *` and most others do with `-x`, `vim *` with `+command`, `gcc *` with `@file`, `perl -n *`
with what ends in `|`, blanks aside; `git add *` with `:(top)x`. xargs parts names at blanks, and
takes quotes off. What a script puts into a line for a shell is run there.
"""

from __future__ import annotations

import re
from collections.abc import Collection

LIKE_AN_OPTION = "a name that programs take for an option, as by `tar *`"
ROUTES = "routes"
_ROUTE = re.compile(
    r"\+(?:[Pp]age|[Ll]ayout|[Hh]ead|server|error|types|not-found|html|native-intent|middleware"
    r"|config|data|guard|route)(?:@[\w()\[\]-]*)?(?:\.\w+)*\.(?:svelte|[jt]sx?|vue|mdx?|css|html)"
)
"""A name as frameworks of the web have it (`+page.svelte`), and no command of an editor."""
_LINE = re.compile(r"\+\d[\d ()-]*(?:\.[A-Za-z]\w*)?")
"""A number, to which editors go."""
_NO_ROUTE = re.compile(
    r"-(?:components?|hooks|lib|queries|shared|styles|tests|types|utils)(?:\.\w+)*"
)
"""What frameworks leave out in their folder of that name: none is an option of common programs."""
_IN_NAMES = re.compile(
    r"[\x00-\x1f\x7f`|<>]|\$[({]|;\S|^:|(?:^|\s)[\"'\\]*-(?!\d+(?:[\s.,%)]|$))(?:[^\s-]|-(?![\w-]+\.[^\s=]*(?:\s|$))\S)",
    re.ASCII,
)
"""Signs of a shell and of git, and a word that is an option by itself: no long one has a dot."""


_PATTERN = re.compile(
    r"(?:(?:rel|root)?(?:glob|path|re)|rootfilesin|filepath|set|listfile0?|(?:sub)?include):\S"
)
"""What Mercurial takes for a pattern, or for files with some, as by `hg add *`."""
_HOME = "~"
"""It is the home folder in a line for a shell: whoever removes it there removes all."""


def is_like_an_option(name: str, above: Collection[str], *, is_file: bool) -> bool:
    """Whether a new file or folder has such a name.

    Args:
        name: its own.
        above: those of the folders that hold it.
        is_file: whether it is none of a folder.
    """
    if name == _HOME or _PATTERN.match(name):
        return True
    if name.startswith("-"):
        return ROUTES not in above or not _NO_ROUTE.fullmatch(name)
    if is_file and name.startswith("@"):
        return True
    if is_file and name.startswith("+") and not (_ROUTE.fullmatch(name) or _LINE.fullmatch(name)):
        return True
    return _IN_NAMES.search(name) is not None
