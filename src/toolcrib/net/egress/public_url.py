"""`PublicUrl`: the type of a tool parameter that is fetched."""

from __future__ import annotations

import re
import sqlite3
import time
from collections import OrderedDict
from functools import partial
from typing import Annotated, Self, TypeAlias

from toolcrib.core.context import Ctx, Services, Session
from toolcrib.core.errors import ConfigError, NotFound, StorageFailure, ToolError
from toolcrib.core.tool import Param
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.url import complete_url, parse_url
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import content_id, plain_id

# Short references that stand for long URLs in a conversation: `ref://` and eight signs.

LONG = 150
"""Characters from which on a URL is worth a reference."""
KNOWN = 2000
SCHEMA = Schema(
    "references",
    (
        """
        CREATE TABLE reference (
            session TEXT NOT NULL, id TEXT NOT NULL, url TEXT NOT NULL, expires REAL NOT NULL,
            PRIMARY KEY (session, id)
        ) WITHOUT ROWID;
        CREATE INDEX reference_expires ON reference (expires);
        """,
    ),
)
_REFERENCE = re.compile(r"\s*<?ref:/{0,2}([0-9a-z]{8})/?>?\s*", re.IGNORECASE)


def is_reference(text: str) -> bool:
    """Whether a text is a reference instead of a URL."""
    return _REFERENCE.fullmatch(text) is not None


def unknown_reference(text: str) -> NotFound:
    """The error for a reference that the conversation was not shown."""
    return NotFound(
        f"There is no reference {text.strip()[:40]} in this conversation.",
        hint="Give the whole URL, or send the call again that showed the reference.",
    )


class References:
    """A service: gives references for URLs of a conversation, and takes them back.

    A reference opens in the conversation that was shown it, and nowhere else. To have
    been shown one counts as having seen the URL itself, so that it is judged alike.

    Args:
        rows: where they are kept.
        seconds: how long.
    """

    def __init__(self, rows: Area, seconds: float) -> None:
        self._rows = rows
        self._seconds = seconds
        self._known: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """The references in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.results.keep_seconds)

    async def shorten(self, url: str, session: Session, *, over: int = LONG) -> str:
        """The reference of a URL, or the URL itself where it is no longer than `over`.

        In a conversation of one call too: there nobody could name the reference.
        """
        if len(url) <= over or session.single:
            return url
        try:
            target = parse_url(complete_url(url))
        except ToolError:
            return url
        session.remember_link(target.href)
        name = content_id(session.id, target.full)
        now = time.time()
        known = self._known.get((session.id, name))
        if known is None or known[1] < now + self._seconds / 2:
            self._remember(session.id, name, target.full, now + self._seconds)
            await self._keep(session.id, name, target.full, now)
        return f"ref://{name}"

    async def expand(self, text: str, session: Session) -> str:
        """The URL behind a reference; any other text comes back as it is.

        Raises:
            NotFound: this conversation was shown no such reference, or long ago.
        """
        match = _REFERENCE.fullmatch(text)
        if match is None:
            return text
        name = plain_id(match[1])
        known = self._known.get((session.id, name))
        if known is not None and known[1] > time.time():
            return known[0]
        found = await self._stored(session.id, name)
        if found is None:
            raise unknown_reference(f"ref://{name}")
        return found

    async def _stored(self, session: str, name: str) -> str | None:
        sql = "SELECT url FROM reference WHERE session = ? AND id = ? AND expires > ?"
        try:
            row = await self._rows.first(sql, (session, name, time.time()))
            return None if row is None else str(row[0])
        except (StorageFailure, ConfigError):
            return None

    async def _keep(self, session: str, name: str, url: str, now: float) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM reference WHERE expires < ?", (now,))
            connection.execute(
                "REPLACE INTO reference VALUES (?, ?, ?, ?)",
                (session, name, url, now + self._seconds),
            )

        try:
            await self._rows.write(write, quick=True)
        except (StorageFailure, ConfigError):
            return  # this process still knows it

    def _remember(self, session: str, name: str, url: str, expires: float) -> None:
        self._known[session, name] = (url, expires)
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)


def check_public_url(text: str, ctx: Ctx, component: str = PAGES) -> str:
    """The canonical URL for what a model typed; the scheme may be missing.

    Args:
        text: what was typed.
        ctx: the call.
        component: whose policy judges it, see `Egress.policy`.

    Raises:
        BadInput: it is not a URL.
        Blocked: the policy refuses it before any name is resolved.
        NotFound: it is a reference; those that are known were expanded before.
    """
    if is_reference(text):
        raise unknown_reference(text)
    egress = ctx.use(Egress)
    target = parse_url(complete_url(text))
    egress.policy(component, session=ctx.session.id).check(target)
    return target.full


async def open_url(text: str, ctx: Ctx, component: str = PAGES) -> str:
    """The same, also for a reference (`ref://…`) that the conversation was shown.

    Raises:
        NotFound: the conversation was shown no such reference.
    """
    if is_reference(text):
        text = await ctx.use(References).expand(text, ctx.session)
    return check_public_url(text, ctx, component)


async def expand_reference(text: str, ctx: Ctx) -> str:
    """The URL behind a reference; everything else, and an unknown one, as it is.

    For lists of URLs that the tool checks one by one: policy must see the URL itself.
    """
    if not is_reference(text):
        return text
    try:
        return await ctx.use(References).expand(text, ctx.session)
    except NotFound:
        return text


PublicUrl: TypeAlias = Annotated[str, Param("http(s) URL.", kind="url", check=open_url)]
BrowserUrl: TypeAlias = Annotated[
    str, Param("http(s) URL.", kind="url", check=partial(open_url, component=""))
]
"""The same for the browser, to which only `egress.allow_hosts` opens more: pages run scripts."""
