"""What git goes on with: a rebase, a series of picks or of patches that is not done yet.

Its state is a folder of small files. Which of them could have git run a program, or write another
reference than a branch, is judged here by what they hold, as git's sequencer reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

HARMLESS_ORDERS = frozenset(
    {
        *("pick", "p", "drop", "d", "noop", "fixup", "f", "squash", "s", "label", "l", "reset"),
        *("t", "merge", "m", "update-ref", "u", "edit", "e", "reword", "r", "break"),
        *("b", "revert"),
    }
)
STRATEGIES = frozenset({"", "ort", "recursive", "resolve", "octopus", "ours", "subtree"})
"""Any other is a program `git-merge-NAME`."""
MAX_TODO_BYTES = 2_000_000
TODO = "rebase-merge/git-rebase-todo"
SIGNING = "rebase-merge/gpg_sign_opt"
TODO_LISTS = (TODO, "sequencer/todo")
BLANKS = " \t\r\n"
_WORD = re.compile(r"[^ \t\r]+")
_AUTHOR = re.compile(r"(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)='(?:[^']|'\\[!']')*'\s*)*")
"""Which old versions of git have a shell read."""
_SIGNED = re.compile(r"-S[\w.@+<> -]*")
_OPTIONS = re.compile(r"[\w\s'=%-]*", re.ASCII)
_BRANCH = re.compile(r"refs/heads/(?!.*\.\.)\S+|detached HEAD")
_LABELS = re.compile(r"(?:refs/rewritten/[^\s]+\s*)+")
_SERIES_LINE = re.compile(
    r"(?:\[options\]|([a-z-]+)[ \t]*=[ \t]*([\w.,/@+<>%= -]*))?", re.ASCII | re.IGNORECASE
)
"""As git writes it: what else its settings may look like is not read here."""


def words_of(line: str) -> list[str]:
    """The words of a line as git parts them; none of a comment.

    Other blanks that `str.split` knows may stand in the names of branches.
    """
    words = _WORD.findall(line)
    return [] if words and words[0].startswith("#") else words


def _todo_trouble(text: str) -> str:
    orders = (words[0] for words in map(words_of, text.split("\n")) if words)
    order = next((order for order in orders if order not in HARMLESS_ORDERS), "")
    return order and f"it has the order '{order[:30]}' to come"


def _strategy_trouble(text: str) -> str:
    return "" if text.strip(BLANKS) in STRATEGIES else "it has a strategy of its own"


def _series_trouble(text: str) -> str:
    for line in text.split("\n"):
        found = _SERIES_LINE.fullmatch(line.strip(BLANKS))
        if found is None:
            return "it has options of its own"
        if (found[1] or "").lower() == "strategy" and (why := _strategy_trouble(found[2])):
            return why
    return ""


def _unless(pattern: re.Pattern[str], why: str) -> Callable[[str], str]:
    def judge(text: str) -> str:
        bare = text.strip(BLANKS)
        return why if bare and not pattern.fullmatch(bare) else ""

    return judge


def _references_trouble(text: str) -> str:
    """Of three lines a reference, where git moves branches along (`--update-refs`)."""
    return next(filter(None, map(_JUDGES["rebase-merge/head-name"], text.split("\n")[::3])), "")


_JUDGES: dict[str, Callable[[str], str]] = {
    TODO: _todo_trouble,
    f"{TODO}.backup": _todo_trouble,
    "sequencer/todo": _todo_trouble,
    "rebase-merge/strategy": _strategy_trouble,
    "sequencer/opts": _series_trouble,
    "rebase-merge/strategy_opts": _unless(_OPTIONS, "it has options of its own"),
    SIGNING: _unless(_SIGNED, "it has options of its own"),
    "rebase-apply/apply-opt": _unless(_OPTIONS, "it has options of its own"),
    "rebase-merge/author-script": _unless(_AUTHOR, "its author is more than a name"),
    "rebase-apply/author-script": _unless(_AUTHOR, "its author is more than a name"),
    "rebase-merge/head-name": _unless(_BRANCH, "it would write to what is no branch"),
    "rebase-apply/head-name": _unless(_BRANCH, "it would write to what is no branch"),
    "rebase-merge/update-refs": _references_trouble,
    "rebase-merge/refs-to-delete": _unless(_LABELS, "it would delete what is no label of its own"),
}
JUDGED = tuple(_JUDGES)
"""Paths in the folder of a repository, of what is not harmless whatever it holds."""


def state_trouble(names: Sequence[str], data: bytes) -> str:
    """What git would do by a file of such a state, beyond picking commits; "" for nothing.

    Args:
        names: its folder (`rebase-merge`, `rebase-apply`, `sequencer`) and its own name.
        data: what it holds.
    """
    judge = _JUDGES.get("/".join(names).lower())
    if judge and len(data) > MAX_TODO_BYTES:
        return "it is too long to be judged"
    return judge(data.decode("utf-8", "replace")) if judge else ""
