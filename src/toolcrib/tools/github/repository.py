"""Which repository a call is about, what is known of it, and whether it may be used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied, NotConfigured, NotFound, ToolError
from toolcrib.git.remotes import default_remote, remote_address
from toolcrib.git.repository import open_repository
from toolcrib.text.cleaner import one_line
from toolcrib.tools.github.client import (
    JSON,
    Answer,
    GitHubClient,
    GitHubState,
    ListPage,
    place,
)
from toolcrib.tools.github.failures import SIGN_IN
from toolcrib.tools.github.server import Server

_PART = re.compile(r"[\w.-]{1,100}\Z", re.ASCII)
_SCP = re.compile(r"[\w.+-]+@([\w.-]+):(.+)\Z", re.ASCII)
HOW = (
    "Name it as OWNER/NAME, work in a clone of it, or the user sets github.repository "
    "(or the variable GITHUB_REPOSITORY)."
)


def parse_name(text: str, server: Server) -> str:
    """`OWNER/NAME` of a name or an address.

    Raises:
        BadInput: it is none, or of another server.
    """
    given, path = text.strip().removesuffix("/"), ""
    if found := _SCP.match(given):
        host, path = found[1].lower(), found[2]
    elif "://" in given:
        parts = urlsplit(given)
        host, path = parts.netloc.rpartition("@")[2].lower(), parts.path
        if parts.scheme == "ssh":
            host = host.partition(":")[0]
    else:
        host = server.host
    if host.removeprefix("ssh.").removeprefix("www.") not in (
        server.host,
        server.host.partition(":")[0],
    ):
        raise BadInput(
            f"{given[:100]} is on {host[:100]}, and github.base_url on {server.host}.",
            hint="The user can set github.base_url to that server's API.",
        )
    names = (path or given).strip("/").split("/")
    if not path and len(names) != 2:
        names = []
    owner, name = names[0] if names else "", names[1] if len(names) > 1 else ""
    name = name.removesuffix(".git")
    parts_are_fine = all(_PART.match(part) and part not in (".", "..") for part in (owner, name))
    if not parts_are_fine:
        raise BadInput(f"'{given[:100]}' is no repository.", hint="Write it as OWNER/NAME.")
    return f"{owner}/{name}"


async def resolve_name(ctx: Ctx, server: Server, given: str) -> str:
    """The repository of a call: the one given, of the environment, the clone, or the settings.

    Raises:
        NotConfigured: none of these names one.
    """
    if given.strip():
        return parse_name(given, server)
    found = environment(("GITHUB_REPOSITORY", "GITHUB_REPO"))
    if found.get("GITHUB_REPOSITORY", "").strip():
        return parse_name(found["GITHUB_REPOSITORY"], server)
    why = ""
    with suppress(ToolError):
        async with open_repository(ctx) as clone:
            remote = await default_remote(clone, (await clone.head()).branch)
            address = await remote_address(clone, remote)
            try:
                return parse_name(address.url, server)
            except BadInput as error:
                why = f" The remote {remote} is none of it: {error.message}"
    configured = ctx.config.github.repository or found.get("GITHUB_REPO", "")
    if configured.strip():
        return parse_name(configured, server)
    raise NotConfigured(f"It is not known which repository is meant.{why}", hint=HOW)


def is_allowed(ctx: Ctx, name: str) -> bool:
    """Whether the settings let a repository be used."""
    globs = ctx.config.github.repositories
    return not globs or any(fnmatchcase(name.lower(), glob.lower()) for glob in globs)


def check_allowed(ctx: Ctx, name: str) -> None:
    """Refuse a repository that the settings do not name.

    Raises:
        Denied: naming the setting.
    """
    if not is_allowed(ctx, name):
        raise Denied(
            f"{name} is not among the repositories of github.repositories.",
            hint="The user can add it there.",
        )


@dataclass(slots=True)
class GitHubRepository:
    """One repository, as a call uses it.

    Attributes:
        client: of the call.
        name: `OWNER/NAME` as it is called now.
        about: what the server says of it; empty where nobody is signed in, who sees only
            public ones.
        notes: what the reader should know besides.
    """

    client: GitHubClient
    name: str
    about: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    async def open(cls, client: GitHubClient, given: str) -> GitHubRepository:
        """The repository of a call.

        Raises:
            NotConfigured, BadInput: it is not known which.
            Denied: it may not be used.
            NotFound: there is none, or no right to see it.
        """
        name = await resolve_name(client.ctx, client.server, given)
        check_allowed(client.ctx, name)
        found = cls(client, name)
        if client.token.value:
            await found.look()
        return found

    async def look(self) -> None:
        """Learn what the server says of it, its name of now included."""
        try:
            answer = await self.client.get(place("repos", *self.name.split("/")))
        except NotFound:
            raise self._hidden() from None
        about = answer.json()
        if not isinstance(about, dict):
            raise self._hidden()
        self.about = about
        now = one_line(about.get("full_name"), 210) or self.name
        if now.lower() != self.name.lower():
            check_allowed(self.client.ctx, now)
            self.notes.append(f"{self.name} is called {now} now.")
        self.name = now
        if self.is_private:
            session = self.client.ctx.session.id
            self.client.ctx.use(GitHubState).private_read.setdefault(session, set()).add(now)

    def _hidden(self) -> NotFound:
        token = self.client.token
        who = f"the token from {token.source} has no right to see it" if token.value else ""
        who = who or "it is private and nobody is signed in"
        return NotFound(
            f"{self.client.server.name} has no repository {self.name}, or {who}.",
            hint=f"Check the spelling with kind=search_repositories. {SIGN_IN}",
        )

    @property
    def is_private(self) -> bool:
        """Whether not everybody may read it."""
        visibility = self.about.get("visibility", "public")
        return bool(self.about.get("private")) or visibility not in ("public", None)

    @property
    def default_branch(self) -> str:
        """The branch that pull requests go to by default; "" where it is not known."""
        return str(self.about.get("default_branch") or "")

    @property
    def may_push(self) -> bool:
        """Whether who is signed in may push."""
        rights = self.about.get("permissions") or {}
        return bool(rights.get("push") or rights.get("admin") or rights.get("maintain"))

    @property
    def url(self) -> str:
        """Its page."""
        return f"{self.client.server.web}/{self.name}"

    def path(self, *parts: object) -> str:
        """The path of something of it below the address of the API."""
        return place("repos", *self.name.split("/"), *parts)

    async def get(
        self,
        *parts: object,
        what: str,
        params: Mapping[str, Any] | None = None,
        accept: str = JSON,
    ) -> Answer:
        """Read something of it.

        Raises:
            NotFound: it has no `what`, or there is no such repository, or no right to see it.
        """
        try:
            answer = await self.client.get(self.path(*parts), params, accept)
        except NotFound as error:
            raise await self._missing(what, error) from None
        if answer.moved and not self.about:
            await self.look()
        return answer

    async def page(
        self,
        *parts: object,
        what: str,
        number: int = 1,
        limit: int = 100,
        params: Mapping[str, Any] | None = None,
        inside: str = "",
    ) -> ListPage:
        """One page of a list of it; errors as of `get`."""
        try:
            return await self.client.page(self.path(*parts), number, limit, params, inside=inside)
        except NotFound as error:
            raise await self._missing(what, error) from None

    async def _missing(self, what: str, error: NotFound) -> NotFound:
        if not self.about:
            await self.look()
        message = error.message if "Not Found" not in error.message else ""
        return NotFound(f"{self.name} has no {what}. {message}".strip(), hint=error.hint)
