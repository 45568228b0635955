"""Remotes: their addresses judged, and git's way to them, which is the guard's proxy alone."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import stat
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    Busy,
    Conflict,
    Denied,
    NotFound,
    PathDenied,
    TooLarge,
    ToolError,
)
from toolcrib.core.tool import Decision
from toolcrib.files.handles import last_change
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import real_path
from toolcrib.git.layout import Layout, check_layout, make_view
from toolcrib.git.program import AGENTS, GitProgram, checked, remove_view
from toolcrib.git.repository import (
    Repository,
    inside_of,
    judge,
    open_repository,
)
from toolcrib.git.revisions import remote_name
from toolcrib.git.user_settings import forced, written
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease
from toolcrib.net.egress.url import Target, parse_url
from toolcrib.system.processes import Finished
from toolcrib.system.threads import random_id

SECONDS = 1800.0
SSH_PORT = 22
USUAL_BRANCHES = frozenset({"", "main", "master", "develop", "dev", "trunk"})
"""Names that say nothing to a server."""
TUNNEL = Path(__file__).with_name("ssh_tunnel_child.py")
_NO_REMOTE = re.compile(r"(?:javascript|vbscript|data|blob|about):", re.IGNORECASE)
"""What a page may link to; a host of one of these names is written ssh://."""
_SCP = re.compile(
    r"(?:([\w.+-]+)@)?([\w.-]+|\[[0-9a-fA-F:]+\]):(?!//)(.+)\Z",
    re.ASCII,
)
_SSH = re.compile(
    r"(?:git\+)?ssh://(?:([\w.+-]+)@)?([\w.-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?(/.+)\Z", re.ASCII
)
SSH_OPTIONS = (
    *("BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "VerifyHostKeyDNS=no"),
    *("KnownHostsCommand=none", "PermitLocalCommand=no", "ForwardAgent=no", "ForwardX11=no"),
    *("ClearAllForwardings=yes", "ControlMaster=no", "ControlPath=none", "RequestTTY=no"),
    *("ConnectTimeout=20", "ServerAliveInterval=15", "ServerAliveCountMax=4"),
)
"""It asks nothing, trusts no new key, and passes nothing on."""
PROXIES = ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """Where a remote is.

    Attributes:
        url: as git is given it.
        protocol: "https", "http", "ssh" or "file".
        target: what the guard judges; None for a folder.
        folder: absolute and without links, for a folder.
    """

    url: str
    protocol: str
    target: Target | None = None
    folder: str = ""

    @property
    def display(self) -> str:
        """Without a password."""
        return re.sub(r"//[^/@]*@", "//", self.url) if self.protocol != "ssh" else self.url

    def is_in_workspace(self, ctx: Ctx) -> bool:
        """Whether it is a folder of the workspace: no server learns what is asked of it."""
        return self.target is None and ctx.use(Workspace).holds(self.folder)

    def link(self, name: str) -> str:
        """What a conversation knows once its server was sent the name of a reference."""
        return f"{self.url} {name}"


def read_address(text: str, start: str = "") -> RemoteAddress:
    """Read the address of a remote.

    Args:
        text: a URL, `user@host:path`, or a path.
        start: the folder that a relative path is from.

    Raises:
        BadInput: none that is usable.
    """
    url = text.strip()
    strange = url.startswith("-") or "::" in url.split("[", 1)[0] or _NO_REMOTE.match(url)
    if strange or re.search(r"[\x00-\x20\x7f]", url):
        raise BadInput(
            f"'{url[:100]}' is not the address of a remote.",
            hint="Such as https://host/name.git or git@host:name.git.",
        )
    if re.match(r"https?://", url, re.IGNORECASE):
        target = parse_url(url)
        return RemoteAddress(url, target.scheme, target)
    if found := _SSH.match(url):
        return RemoteAddress(url, "ssh", _target(found[2], int(found[3] or SSH_PORT)))
    if "://" not in url and not url.startswith(("/", ".", "~")):
        if found := _SCP.match(url):
            return RemoteAddress(url, "ssh", _target(found[2], SSH_PORT))
    elif "://" in url and not url.startswith("file://"):
        raise BadInput(
            f"git may not use {url.split('://', 1)[0]}:// here.", hint="https and ssh are open."
        )
    path = os.path.expanduser(url.removeprefix("file://"))  # noqa: PTH111 - as git reads it
    return RemoteAddress(url, "file", folder=real_path(Path(start or "/", path)))


def _target(host: str, port: int) -> Target:
    # The guard judges a tunnel by its host and port alone.
    return parse_url(f"http://{host}:{port}/")


async def remote_address(repository: Repository, name: str, *, push: bool = False) -> RemoteAddress:
    """The address of a configured remote, as the user's own rewriting has it.

    Raises:
        NotFound: there is none of that name.
        Denied: the repository's own settings lead a push elsewhere.
        PathDenied: it is a folder outside of the workspace.
    """
    plain = remote_name(name)
    trusted = repository.is_trusted
    if push and f"remote.{plain}.pushurl" in repository.ignored:
        raise Denied(
            f"The repository sets remote.{plain}.pushurl, which is not obeyed.",
            hint=f"The user pushes, or adds {repository.layout.top} to git.trusted.",
        )
    args = ["remote", "get-url", *(["--push"] if push else []), plain]
    url = (await repository.line(*args)).split("\n")[0]
    known = trusted or any(s.name == f"remote.{plain}.url" for s in repository.settings)
    if not url or not known:
        if f"remote.{plain}.url" in repository.ignored:
            raise Denied(
                f"The address of {plain} is not one that git may use here.",
                hint="https and ssh are open; the user opens a folder with git.local_remotes.",
            )
        names = (await repository.line("remote")).split()
        to_add = "Ask the user to add one: git remote add origin URL"
        raise NotFound(
            f"There is no remote '{plain}'.",
            hint=f"Remotes: {', '.join(names)}." if names else f"It has none. {to_add}.",
        )
    return read_address(url, repository.layout.top)


async def remote_decision(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """What the policy is told of a call that reads from a remote: what it opens.

    A remote that was there before the conversation is the user's own. Another one may have
    been set by a run, with something private in its address.
    """
    try:
        async with open_repository(ctx, arguments["repo"]) as repository:
            remote = await _fetched(repository, arguments["remote"])
            settings = Path(repository.layout.common_dir, "config")
            changed = last_change(await asyncio.to_thread(settings.stat))
            is_local = remote.address.is_in_workspace(ctx)
            opened = [] if is_local or ctx.session.began_after(changed) else remote.links
            branch = arguments["branch"]
            known = is_local or branch in USUAL_BRANCHES
            if not known and not await _was_fetched(repository, remote.name, branch):
                opened.append(remote.address.link(f"refs/heads/{branch}"))
    except (ToolError, OSError):
        return None  # the call itself says what is wrong
    reason = "it reads from a remote"
    return Decision("allow", reason, urls=tuple(opened), judged=remote.judged)


async def _was_fetched(repository: Repository, remote: str, branch: str) -> bool:
    """Whether a branch had come from a remote when the conversation began, so a run made it not."""
    return f"refs/remotes/{remote}/{branch}" in await noted_before(repository, remote)


async def noted_before(repository: Repository, remote: str) -> dict[str, str]:
    """What was noted of a remote when the conversation began: references, each with its object.

    No run of the conversation can have made those.
    """
    top = f"refs/remotes/{remote}"
    noted, common_dir = await repository.references(top), repository.layout.common_dir
    changes = await asyncio.to_thread(lambda: [_changed(common_dir, top, ref) for ref in noted])
    began_after = repository.ctx.session.began_after
    return {ref: noted[ref] for ref, at in zip(noted, changes, strict=True) if began_after(at)}


def _changed(common_dir: str, top: str, ref: str) -> float:
    """When a reference, or a folder of its name beneath a top one, was last changed or renamed."""
    try:
        place = Path(common_dir, ref)
        folders = [*place.parents][: ref.count("/") - top.count("/") - 1]
        return max(last_change(each.lstat()) for each in (place, *folders))
    except FileNotFoundError:
        return last_change(Path(common_dir, "packed-refs").stat())


@dataclass(frozen=True, slots=True)
class Remote:
    """What is fetched from.

    Attributes:
        name: as the repository has it.
        address: where it is.
        names: those of references that its settings have, and that its server is sent.
    """

    name: str
    address: RemoteAddress
    names: tuple[str, ...]

    @property
    def judged(self) -> str:
        """All that a server learns by settings: they may be a run's."""
        return " ".join([self.address.url, *self.names])

    @property
    def links(self) -> list[str]:
        """The same, each name for itself, as a conversation knows it."""
        return [self.address.link(name) for name in self.names] or [self.address.url]


async def fetched_remote(repository: Repository, name: str) -> Remote:
    """The remote of a call that fetches: the one that was judged, where it had to be.

    Raises:
        Conflict: it is another one by now.
        NotFound, PathDenied: see `remote_address`.
    """
    remote = await _fetched(repository, name)
    if repository.ctx.judged != remote.judged:
        raise Conflict(
            f"The remote {remote.name} changed while the call was judged.",
            hint="Send the call again: it is judged as it is now.",
        )
    return remote


async def _fetched(repository: Repository, wanted: str) -> Remote:
    branch = (await repository.head()).branch
    name = wanted or await default_remote(repository, branch)
    # What lies beneath refs/remotes, a run may have made: the server need not know it.
    usual = [f"+refs/heads/*:refs/remotes/{name}/*", *(f"refs/heads/{b}" for b in USUAL_BRANCHES)]
    settings = (f"remote.{name}.fetch", f"branch.{branch}.merge")
    values = [s.value for s in repository.settings if s.name in settings and s.value not in usual]
    return Remote(name, await remote_address(repository, name), tuple(values))


async def default_remote(repository: Repository, branch: str) -> str:
    """The remote that a branch follows, else `origin`, else the only one."""
    named = repository.value(f"branch.{branch}.remote") if branch else ""
    if named and named != ".":
        return named
    names = (await repository.line("remote")).split()
    return "origin" if "origin" in names or len(names) != 1 else names[0]


@dataclass(slots=True)
class RemoteConnection:
    """git's way to one remote while it lasts.

    Attributes:
        ctx: the call.
        address: where to.
        environment: variables for git.
        options: for the command, after its name; by `direction`.
        lease: at the guard's proxy; None for a folder.
    """

    ctx: Ctx
    address: RemoteAddress
    environment: dict[str, str] = field(default_factory=dict)
    upload: list[str] = field(default_factory=list)
    receive: list[str] = field(default_factory=list)
    lease: Lease | None = None

    def checked(self, command: str, done: Finished) -> bytes:
        """What git printed.

        Raises:
            Blocked: the guard refused it; the hint names the setting.
            TooLarge: it brought more than allowed.
            ToolError: it failed otherwise.
        """
        if done.exit_code:
            if self.lease is not None and self.lease.exceeded:
                raise TooLarge(
                    f"The remote sent more than {self.lease.max_bytes // 1_000_000:,} MB.",
                    hint="The user can allow more with git.max_transfer_mb; git_clone takes depth.",
                )
            if self.lease is not None and self.lease.refusals:
                raise self.lease.refusals[-1]
        return checked([command], done)


@asynccontextmanager
async def connected(
    ctx: Ctx, address: RemoteAddress, *, trusted: bool = False
) -> AsyncIterator[RemoteConnection]:
    """Open git's way to a remote.

    Args:
        ctx: the call.
        address: where to.
        trusted: whether git reads the repository's own settings, which ours go before then.

    Raises:
        Blocked: the guard refuses the host; the hint names the setting.
        PathDenied: a folder outside of the workspace and of `git.local_remotes`.
    """
    connection = RemoteConnection(ctx, address)
    connection.environment = {"GIT_ALLOW_PROTOCOL": address.protocol}
    if address.target is None:
        is_of_runs = ctx.use(Workspace).holds(address.folder)
        with _alone() if is_of_runs else nullcontext():
            async with _local(ctx, address.folder) as command:
                connection.upload = [f"--upload-pack={command.format('upload-pack')}"]
                connection.receive = [f"--receive-pack={command.format('receive-pack')}"]
                yield connection
        return
    policy = ctx.use(Egress).policy(session=ctx.session.id)
    if address.protocol == "ssh":
        policy = replace(policy, allow_ports=policy.allow_ports | {address.target.port})
    policy.check(address.target)
    if ctx.check_url is not None:
        ctx.check_url(
            address.url if address.protocol != "ssh" else f"https://{address.target.host}/"
        )
    lease = await ctx.use(GuardProxy).lease()
    lease.policy = policy
    lease.max_bytes = ctx.config.git.max_transfer_mb * 1_000_000
    connection.lease = lease
    try:
        connection.environment |= _through(lease, address, trusted=trusted)
        yield connection
    finally:
        lease.close()


def _through(lease: Lease, address: RemoteAddress, *, trusted: bool) -> dict[str, str]:
    proxies = {**dict.fromkeys(PROXIES, lease.http_url), "no_proxy": "", "NO_PROXY": ""}
    if address.protocol == "http":
        proxies["GIT_ALLOW_PROTOCOL"] = "http:https"
    if trusted:
        proxies |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.proxy",
            "GIT_CONFIG_VALUE_0": lease.http_url,
        }
    if address.protocol != "ssh":
        return proxies
    tunnel = [sys.executable, "-I", "-S", "-B", str(TUNNEL)]
    command = " ".join(shlex.quote(word.replace("%", "%%")) for word in tunnel)
    options = (*SSH_OPTIONS, f"ProxyCommand={command} %h %p")
    words = ["ssh", *(word for option in options for word in ("-o", option))]
    login = b64encode(f"{lease.username}:{lease.password}".encode()).decode()
    return {
        **proxies,
        "GIT_SSH_COMMAND": " ".join(map(shlex.quote, words)),
        "GIT_SSH_VARIANT": "ssh",
        "TOOLCRIB_TUNNEL": f"{lease.port}:{login}",
    }


@contextmanager
def _alone() -> Iterator[None]:
    """Let no program run meanwhile: it could exchange the folder, which git opens by its path."""
    with without_runs() as is_alone:
        if not is_alone:
            raise Busy(
                "With a folder of the workspace git exchanges nothing while a program runs.",
                hint="Wait for the background job or terminal to end, or stop it.",
            )
        yield


@asynccontextmanager
async def _local(ctx: Ctx, folder: str) -> AsyncIterator[str]:
    """The command by which git serves a folder without obeying its settings; `{}` is which."""
    inside = inside_of(ctx)
    if not inside(folder):
        raise PathDenied(
            f"The remote {folder} is outside of the workspace.",
            hint=f"The user can open it: add {folder} to git.local_remotes.",
            rule="outside",
        )
    inner = f"{folder}/.git"
    git_dir = folder
    if await asyncio.to_thread(os.path.lexists, inner):
        git_dir = inner
        if not stat.S_ISDIR((await asyncio.to_thread(os.lstat, inner)).st_mode):
            raise PathDenied(
                f"The remote {folder} is not used: its .git is no folder, and leads elsewhere.",
                hint="Name the repository itself: the folder that its .git leads to.",
                rule="git",
            )
    if not await asyncio.to_thread(Path(git_dir, "HEAD").is_file):
        raise NotFound(f"{folder} is no git repository.", hint="Check the address.")
    program = ctx.use(GitProgram)
    layout = Layout(folder, git_dir, git_dir)
    await asyncio.to_thread(check_layout, layout, inside)
    here = ctx.use(Workspace).start(ctx.session.directory)
    served = Repository(ctx, program, await program.setup(ctx), here, layout)
    await judge(served)
    view = program.views / random_id(16)
    try:
        settings = [s for s in served.settings if s.section not in ("remote", "branch")]
        await asyncio.to_thread(make_view, view, git_dir, written([*settings, *forced()]))
        variables = {"GIT_COMMON_DIR": str(view), "GIT_EXEC_PATH": served.setup.exec_path}
        given = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        yield f"env {given} git-{{}}"
    finally:
        await asyncio.to_thread(remove_view, view)


async def transfer(repository: Repository, connection: RemoteConnection, *args: str) -> bytes:
    """Run a command of git that talks to a remote.

    Raises:
        ToolError: it failed.
    """
    if repository.confinement is not None:  # what runs in there could lead git elsewhere
        inside = inside_of(repository.ctx)
        await asyncio.to_thread(check_layout, repository.layout, inside)
    done = await repository.attempt(
        *args, env=connection.environment, seconds=SECONDS, passed_on=AGENTS, unobeyed=True
    )
    return connection.checked(args[0], done)


async def changes_between(
    repository: Repository, before: Mapping[str, str], after: Mapping[str, str]
) -> list[str]:
    """What happened to references, a line for each."""
    lines = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        label = name.removeprefix("refs/remotes/").removeprefix("refs/")
        if old == new or label.endswith("/HEAD"):
            continue
        if new is None:
            lines.append(f"{label} is gone")
        elif old is None:
            lines.append(f"{label} is new at {new[:8]}")
        else:
            count = await repository.line("rev-list", "--count", f"{old}..{new}")
            forced_note = ", forced" if await _is_forced(repository, old, new) else ""
            lines.append(f"{label} {old[:8]}..{new[:8]} ({count} new{forced_note})")
    return lines


async def _is_forced(repository: Repository, old: str, new: str) -> bool:
    done = await repository.attempt("merge-base", "--is-ancestor", old, new, reads=True)
    return done.exit_code == 1


def new_folder(ctx: Ctx, address: RemoteAddress, path: SafePath | None) -> SafePath:
    """Where a clone goes: the folder that is named, else one by the name of the remote."""
    if path is not None:
        return path
    last = re.split(r"[/:]", address.url.rstrip("/"))[-1].removesuffix(".git")
    name = re.sub(r"[^\w.+-]", "-", last).strip(".-") or "clone"
    found = ctx.use(Workspace).resolve(name, ctx.session.directory)
    found.gate.check(found, "write")
    return found
