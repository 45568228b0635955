"""Names that begin with a dot: programs look for their settings under such names.

Which programs there are on a machine, and what they look for, nobody can list. What holds only
results of programs can be listed, and what is none of it is taken for settings.
"""

from __future__ import annotations

import re

from toolcrib.core.package_data import package_table
from toolcrib.files.path_rules import GENERATED_FOLDERS, PatternSet, fold
from toolcrib.files.paths import SafePath

DOT_NAME = "a name that begins with a dot, as programs have for their settings"
_LISTS = {
    name: PatternSet(text.split())
    for name, text in package_table("files/names/dot_names.toml").items()
}
VERSIONS = PatternSet((".*-version", ".nvmrc"))
MAX_VERSION_BYTES = 1_000
_VERSION = re.compile(
    r"(?:(?:c?python|pypy|graalpy|(?:mini|ana)conda\d?|miniforge\d?|node|(?:j|m|truffle)?ruby|go|deno"
    r"|bun|java|jdk|openjdk|temurin|zulu|corretto|graalvm|perl|php|swift|terraform)[-@]?)?"
    r"v?\d+(?:\.\d+)*(?:[-._]?(?:a|b|rc|p|m|u|t|dev|alpha|beta|pre|lts)\.?\d*)?(?:-\d[\d.-]*)?"
    r"(?:\+[\d.]+)?|lts/[a-z*]+",
    re.ASCII,
)
"""A number, with an implementation before it; any other word may be a folder with a program."""
REPOSITORIES = frozenset({".hg", ".svn", ".jj"})
"""Folders in which each name is asked about by itself."""
TRIED_LINK = "checklink"
"""By it Mercurial sees whether links can be made; other links lead its journals elsewhere."""
RESULTS = (GENERATED_FOLDERS - REPOSITORIES - {".git"}) | {"out", "_build", "obj"}
"""Folders of what builds make."""


def find_dot_name(path: SafePath, *, is_file: bool = True) -> int | None:
    """How many names lead to the first that is taken for settings, it included; None for none.

    Args:
        path: any.
        is_file: whether it is a plain one; by a link a folder may be found there.
    """
    names = [fold(name) for name in path.parts]
    first = next((depth for depth, name in enumerate(names) if name.startswith(".")), None)
    if first is None:
        return None
    if not is_file and names[first] in REPOSITORIES and names[-1] != TRIED_LINK:
        return len(names)
    ends = range(first + 1, len(names) + 1)
    for end in ends:
        found = _LISTS["folders"].find(names, end)
        if is_file and end == len(names):
            found += _LISTS["files"].find(names, end)
        # What begins behind the first lies in a folder of settings.
        if any(end - len(pattern.names) <= first for pattern in found):
            return None
    if names[first] in REPOSITORIES:
        return len(names)
    if not RESULTS.isdisjoint(names[:first]):
        return next((end for end in ends if _LISTS["settings"].find(names, end)), None)
    return first + 1


def is_hidden(path: SafePath) -> bool:
    """Whether names in a folder may be harmless by what lies above, as in a cache."""
    names = list(map(fold, path.parts))
    return not RESULTS.isdisjoint(names) or any(name.startswith(".") for name in names)


def names_version(path: SafePath) -> bool:
    """Whether a program reads there which version is to be used."""
    return bool(VERSIONS.find([fold(path.name)], 1))


def is_version(content: bytes) -> bool:
    """Whether it says nothing but versions, and leads to no program."""
    lines = content.decode("latin-1").split("\n")
    words = [word for line in lines if line[:1] != "#" for word in line.split()]
    is_short = len(content) <= MAX_VERSION_BYTES
    return is_short and all(len(word) < 50 and _VERSION.fullmatch(word) for word in words)
