"""Files whose attributes name a filter: git would hand them to a program that does not run here."""

from __future__ import annotations

from collections.abc import Iterable

from toolcrib.git.repository import Repository, text_of
from toolcrib.git.written_names import names_between
from toolcrib.text.display import some_of

UNSET = frozenset({"unspecified", "unset", "set", ""})


async def filtered(repository: Repository, names: Iterable[str]) -> dict[str, str]:
    """Those of some files that have a filter, with its name, such as `lfs`; none where it runs.

    Args:
        repository: an open one; in one that is trusted filters run.
        names: as git names them.
    """
    wanted = list(names)
    if repository.is_trusted or not wanted:
        return {}
    given = "\0".join([*wanted, ""])
    output = await repository.read("check-attr", "-z", "--stdin", "filter", stdin=given)
    words = text_of(output).split("\0")
    found = zip(words[0::3], words[2::3], strict=False)
    return {name: value for name, value in found if value not in UNSET}


async def note_as_stored(repository: Repository, before: str, after: str) -> str:
    """Which files that another commit brought lie here as git stores them; empty for none.

    Args:
        repository: an open one.
        before: the commit that was checked out.
        after: the one that is now.
    """
    if not repository.names_filters or not before or before == after:
        return ""
    found = await filtered(repository, await names_between(repository, before, after))
    kinds = ", ".join(sorted(set(found.values())))
    names = some_of(found, 5)
    if not found:
        return ""
    return f"as git stores them, since their filter ({kinds}) does not run here: {names}"
