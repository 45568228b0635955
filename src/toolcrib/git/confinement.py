"""Trusted repositories in the sandbox: git obeys them there, with their hooks and filters.

Outside of it nothing of theirs runs: what talks to a remote is git as in any other repository.
Their settings and hooks are read in there and not changed, since the person's own git obeys them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.core.errors import Denied
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.settings import Setting, listed_settings
from toolcrib.git.layout import SHARED, Layout
from toolcrib.git.program import MAX_OUTPUT_BYTES, remove_view
from toolcrib.system.collector import collect
from toolcrib.system.processes import Finished

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.masks import Mask
    from toolcrib.execution.sandbox.sandbox import Sandbox
    from toolcrib.execution.sandbox.terms import View

GIT_WITH_SCOPES = (2, 26)
"""The first that says of each setting whose it is."""
FIXED = ("config", "config.worktree", "commondir", "hooks", "modules")
"""What git obeys of a repository, and a hook must not change."""
MADE = ("config.worktree", "commondir", "hooks")
"""What it must not make either."""
OBEYED = (*SHARED, "hooks", "lfs", "modules")
LEFT_OUT = frozenset({"credential", "include", "includeif"})
"""Credentials are not seen in there, and what was included stands in its place already."""
FILES = frozenset(
    {
        *("core.hookspath", "core.excludesfile", "core.attributesfile", "commit.template"),
        *("gpg.program", "gpg.ssh.program", "gpg.x509.program"),
        *("gpg.ssh.allowedsignersfile", "user.signingkey"),
    }
)
"""Settings that name files of the user's."""
SIGNING = frozenset({"commit.gpgsign", "tag.gpgsign"})


@dataclass(frozen=True, slots=True)
class GitConfinement:
    """How git is run in one trusted repository.

    Attributes:
        top: of its working tree.
        sandbox: by which.
        views: how it sees the roots of the workspace.
        masks: what cannot be changed in there.
        readable: the user's files that it may read.
        writable: folders that it may write beside the workspace.
        environment: variables for it.
        own: the repository's settings, as it reads them.
        users: the user's and the system's, likewise.
        absent: what must not be there afterwards.
    """

    top: str
    sandbox: Sandbox
    views: Mapping[str, View]
    masks: tuple[Mask, ...]
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    environment: Mapping[str, str]
    own: tuple[Setting, ...]
    users: tuple[Setting, ...]
    absent: tuple[str, ...]

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: SafePath,
        env: Mapping[str, str],
        view: Path,
        stdin: bytes | None,
        seconds: float,
    ) -> Finished:
        """Run git to its end, as `Processes.run` does.

        `view` stands in for the repository's shared folder and holds the settings.
        """
        confined = await self.sandbox.spawn(
            argv,
            cwd=cwd,
            views=self.views,
            env={**env, **self.environment, "GIT_CONFIG_GLOBAL": str(view / "users")},
            stdin=stdin,
            readable=self.readable,
            writable=(*self.writable, view),
            masks=self.masks,
        )
        done = await collect(confined, seconds, None, MAX_OUTPUT_BYTES)
        await asyncio.to_thread(self._refuse_made)
        return Finished(done.exit_code, done.stdout, done.stderr, done.timed_out, done.seconds)

    def _refuse_made(self) -> None:
        """Remove what git would obey and a program of the repository made. It blocks."""
        made = [place for place in self.absent if os.path.lexists(place)]
        for place in made:
            remove_view(Path(place))
        if made:
            raise Denied(
                f"A hook or filter of {self.top} made {', '.join(made)}, by which git would obey "
                "something else; it was removed.",
                hint="git_status shows what else is changed; the user looks at its hooks.",
            )


async def confinement_of(
    ctx: Ctx, layout: Layout, version: tuple[int, ...], listing: bytes
) -> GitConfinement | None:
    """How git is run in a trusted repository; None where no sandbox holds.

    Args:
        ctx: the call.
        layout: its folders.
        version: of git.
        listing: what `git config --list -z --includes --show-scope` printed in it.
    """
    from toolcrib.execution.sandbox.masks import Mask
    from toolcrib.execution.sandbox.sandbox import Sandbox
    from toolcrib.execution.sandbox.terms import Bind

    sandbox = ctx.use(Sandbox)
    folders = (layout.top, layout.git_dir, layout.common_dir)
    workspace = ctx.use(Workspace)
    if version[:2] < GIT_WITH_SCOPES or not all(map(workspace.holds, folders)):
        return None
    if (await sandbox.report()).level != "strong":
        return None
    own, users = _by_scope(listing)
    views = {
        root.real: Bind()
        for root in workspace.roots
        if any(f"{folder}/".startswith(f"{root.real.rstrip('/')}/") for folder in folders)
    }
    places = [f"{d}/{n}" for d in dict.fromkeys(folders[1:]) for n in FIXED]
    there = await asyncio.to_thread(lambda: [p for p in places if os.path.lexists(p)])
    masks = [Mask(place, "fixed") for place in there]
    masks += [Mask(folder, "pinned") for folder in dict.fromkeys(folders[1:])]
    readable = [Path(s.value) for s in users if s.name in FILES and s.value.startswith("/")]
    writable, variables = await asyncio.to_thread(_keys, (*own, *users), readable)
    return GitConfinement(
        layout.top,
        sandbox,
        views,
        tuple(masks),
        tuple(readable),
        writable,
        variables,
        own,
        users,
        tuple(p for p in places if p not in there and p.rpartition("/")[2] in MADE),
    )


def _by_scope(listing: bytes) -> tuple[tuple[Setting, ...], tuple[Setting, ...]]:
    """The repository's own settings, and those of the user and the system."""
    own: list[Setting] = []
    users: list[Setting] = []
    parts = listing.split(b"\0")
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        into = own if scope in (b"local", b"worktree") else users
        for setting in listed_settings(entry):
            if setting.section in LEFT_OUT:
                continue
            if setting.name in FILES and setting.value.startswith("~/"):
                # There the home folder is another.
                into.append(replace(setting, value=str(Path(setting.value).expanduser())))
            else:
                into.append(setting)
    return tuple(own), tuple(users)


def _keys(
    settings: Sequence[Setting], readable: list[Path]
) -> tuple[tuple[Path, ...], dict[str, str]]:
    """What signing needs, where it is wanted: folders to write in, and variables."""
    if not any(s.name in SIGNING and s.value.lower() in ("true", "yes", "on") for s in settings):
        return (), {}
    variables = environment(("SSH_AUTH_SOCK",))
    readable += [Path(place) for place in variables.values()]
    home = Path("~/.gnupg").expanduser()
    if not home.is_dir():
        return (), variables
    if sockets := environment(("XDG_RUNTIME_DIR",)).get("XDG_RUNTIME_DIR"):
        readable.append(Path(sockets, "gnupg"))
    return (home,), {**variables, "GNUPGHOME": str(home)}
