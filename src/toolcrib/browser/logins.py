"""Logins of a workspace: cookies and storage of the sites that a person logged in to, by origin."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from toolcrib.core.context import Services
from toolcrib.files.paths import Workspace
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "browser_logins",
    (
        """
        CREATE TABLE login (
            workspace TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL,
            saved REAL NOT NULL, PRIMARY KEY (workspace, origin)
        ) WITHOUT ROWID;
        """,
    ),
)
MAX_STATE_CHARS = 2_000_000
"""Of one origin; what is larger is not kept."""
State = Mapping[str, Any]
"""Cookies and origins, as playwright writes them."""


@dataclass(frozen=True, slots=True)
class Login:
    """What is kept of one origin: `saved` is when, in seconds since 1970."""

    origin: str
    saved: float
    cookies: tuple[dict[str, Any], ...] = ()
    storage: Mapping[str, Any] | None = None


class Logins:
    """A service: the logins of the workspace, in the store.

    Args:
        rows: where they are.
        workspace: whose.
    """

    def __init__(self, rows: Area, workspace: str) -> None:
        self._rows = rows
        self._workspace = workspace

    @classmethod
    def open(cls, services: Services) -> Self:
        """Those of the toolbox's workspace."""
        roots = services.use(Workspace).roots
        return cls(services.use(Store).area(SCHEMA), "\0".join(map(str, roots)))

    async def all(self) -> list[Login]:
        """What is kept, by origin."""
        rows = await self._rows.fetch(
            "SELECT origin, state, saved FROM login WHERE workspace = ? ORDER BY origin",
            (self._workspace,),
        )
        return [_login(origin, json.loads(state), saved) for origin, state, saved in rows]

    async def keep(self, logins: Iterable[Login]) -> list[str]:
        """Keep logins in place of those of the same origins; an empty one is forgotten.

        Returns:
            The origins of which something is kept now.
        """
        packed = [(login.origin, _packed(login), login.saved) for login in logins]
        gone = [(self._workspace, origin) for origin, text, _ in packed if not text]
        new = [
            (self._workspace, origin, text, saved)
            for origin, text, saved in packed
            if 0 < len(text) <= MAX_STATE_CHARS
        ]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM login WHERE workspace = ? AND origin = ?", gone)
            connection.executemany(
                "INSERT INTO login VALUES (?, ?, ?, ?) ON CONFLICT (workspace, origin) "
                "DO UPDATE SET state = excluded.state, saved = excluded.saved "
                "WHERE excluded.saved >= login.saved",
                new,
            )

        await self._rows.write(write)
        return [row[1] for row in new]

    async def forget(self, origin: str = "") -> int:
        """Forget one, or all; how many there were."""
        return await self._rows.execute(
            "DELETE FROM login WHERE workspace = ? AND (? = '' OR origin = ?)",
            (self._workspace, origin, origin),
        )


def state_of(logins: Iterable[Login]) -> dict[str, Any]:
    """What a context starts from; of a cookie that several origins share, the latest."""
    ordered = sorted(logins, key=lambda login: login.saved)
    cookies = {_name(cookie): cookie for login in ordered for cookie in login.cookies}
    return {
        "cookies": list(cookies.values()),
        "origins": [login.storage for login in ordered if login.storage],
    }


def logins_in(state: State, origins: Iterable[str]) -> list[Login]:
    """What a state holds of some origins, as of now."""
    now = time.time()
    return [_login(origin, state, now) for origin in sorted(set(origins))]


def changed(before: Iterable[Login], state: State) -> list[Login]:
    """The logins of a context's beginning that are others at its end.

    Storage of an origin that was not visited is not in its state, and stays.
    """
    found = []
    for old in before:
        (new,) = logins_in(state, [old.origin])
        same_cookies = _comparable(old.cookies) == _comparable(new.cookies)
        if same_cookies and new.storage in (None, old.storage):
            continue
        if new.cookies and new.storage is None:
            new = Login(new.origin, new.saved, new.cookies, old.storage)
        found.append(new)
    return found


def _login(origin: str, state: State, saved: float) -> Login:
    host = urlsplit(origin).hostname or ""
    cookies = tuple(c for c in state.get("cookies", ()) if _is_sent_to(c["domain"], host))
    storage = next((o for o in state.get("origins", ()) if o["origin"] == origin), None)
    return Login(origin, saved, cookies, storage)


def _packed(login: Login) -> str:
    if not login.cookies and not login.storage:
        return ""
    state = {"cookies": login.cookies, "origins": [login.storage] if login.storage else []}
    return json.dumps(state)


def _is_sent_to(domain: str, host: str) -> bool:
    bare = domain.lstrip(".")
    return host == bare or (domain.startswith(".") and host.endswith(f".{bare}"))


def _name(cookie: Mapping[str, Any]) -> tuple[str, str, str]:
    return cookie["name"], cookie["domain"], cookie["path"]


def _comparable(cookies: Iterable[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((*_name(c), c["value"], int(c.get("expires", -1))) for c in cookies)
