"""`github.lockdown`: whose texts are shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.core.errors import Denied, ToolError
from toolcrib.tools.github.client import place

if TYPE_CHECKING:
    from toolcrib.tools.github.repository import GitHubRepository

PUSHING = frozenset({"admin", "write", "maintain", "owner"})
_HASH = re.compile(r"[0-9a-fA-F]{4,64}\Z")


class Authors:
    """Who may push to a repository. Who cannot be judged may not."""

    def __init__(self, repository: GitHubRepository) -> None:
        self._repository = repository
        self._known: dict[str, bool] = {}

    async def may_speak(self, name: str) -> bool:
        """Whether texts of a person are shown."""
        if name not in self._known:
            self._known[name] = await self._may_push(name)
        return self._known[name]

    async def _may_push(self, name: str) -> bool:
        repository = self._repository
        if not name:
            return False
        if name.lower() == repository.name.partition("/")[0].lower():
            return True
        try:
            path = repository.path("collaborators") + f"/{place(name)}/permission"
            found = (await repository.client.get(path)).json()
        except ToolError:
            return False
        return isinstance(found, dict) and found.get("permission") in PUSHING


def check_ref(repository: GitHubRepository, ref: str) -> None:
    """Refuse what a fork could have put there: in lockdown only branches and tags are read.

    Raises:
        Denied: it is a commit or a pull request by name.
    """
    is_foreign = bool(_HASH.match(ref)) or "pull/" in ref or ref.startswith("refs/")
    if repository.client.ctx.config.github.lockdown and is_foreign:
        raise Denied(
            f"'{ref[:80]}' may be of somebody who may not push (github.lockdown).",
            hint="Name a branch or a tag.",
        )
