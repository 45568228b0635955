"""Links of the user by whose names programs act: what is written where they lead is obeyed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from toolcrib.files.changes.deltas import Delta
from toolcrib.files.names.dot_names import is_hidden
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import follow
from toolcrib.files.targets import Targets, folders_above
from toolcrib.text.display import printable

BY_A_LINK = "a link, or what works as one, in the place of a folder on whose content programs act"
AT_HOME = "programs read it at their start"


class OwnLinks:
    """What they are and lead to. Making one blocks.

    Args:
        workspace: its roots.
        links: those that were found, absolute: in the workspace, and in the user's home.
        acts: whether programs act by the name of one, or by names beneath it.
        kind: what acts on a place; "" for nothing.
    """

    def __init__(
        self,
        workspace: Workspace,
        links: Iterable[str],
        acts: Callable[[SafePath], bool],
        kind: Callable[[SafePath], str],
    ) -> None:
        self._kind = kind
        self._ends: dict[str, list[tuple[str, SafePath | None]]] = defaultdict(list)
        self._targets = Targets([root.real for root in workspace.roots])
        for name in links:
            link = workspace.find(name)
            real, _ = follow("/", name)
            end = workspace.find(real) if real else None
            if end is None or not self._targets.is_inside(real):
                continue
            if link is None or acts(link):
                self._targets.add(name)
                self._ends[real].append((name if link is None else "/".join(link.parts), link))
            elif is_hidden(end):
                self.add(link, real)

    def add(self, link: SafePath, real: str) -> None:
        """Judge what lies at a place by the names that it has through a link, too."""
        self._ends[real].append(("/".join(link.parts), link))

    def kind(self, delta: Delta) -> str:
        """What acts on a change by the name that it has beneath one of them; "" for nothing."""
        place = delta.path.real_absolute
        if delta.is_link and (place in self._targets.files or self._targets.has_beneath(place)):
            return BY_A_LINK
        for above in (place, *folders_above(place)) if self._ends else ():
            for name, link in self._ends.get(above, ()):
                rest = tuple(filter(None, place[len(above) :].split("/")))
                kind = AT_HOME if link is None else self._kind(link.at((*link.parts, *rest)))
                if kind:
                    return f"by the link {printable(name)}: {kind}"
        return ""
