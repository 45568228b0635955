"""What a person has been asked to allow, and what was allowed.

A request is opened by a call that needs approval, and answered by a person through a
surface. No tool grants anything.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from toolcrib.core.context import AGENT_MARK, Services, conversation_of
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.tool import fits
from toolcrib.state.redaction import redact_tokens
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import plain_id, random_id

SCHEMA = Schema(
    "approvals",
    (
        """
        CREATE TABLE approval_request (
            id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, tool TEXT NOT NULL,
            targets TEXT NOT NULL, summary TEXT NOT NULL, session TEXT NOT NULL,
            reason TEXT NOT NULL, created REAL NOT NULL,
            UNIQUE (fingerprint, session)
        );
        CREATE TABLE approval_grant (
            id INTEGER PRIMARY KEY, scope TEXT NOT NULL, tool TEXT NOT NULL,
            fingerprint TEXT NOT NULL, session TEXT NOT NULL, target TEXT NOT NULL,
            created REAL NOT NULL
        );
        CREATE INDEX approval_grant_tool ON approval_grant (tool);
        """,
        "ALTER TABLE approval_request ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;",
        "ALTER TABLE approval_request ADD COLUMN site TEXT NOT NULL DEFAULT '';",
    ),
)
GRANT = (
    "INSERT INTO approval_grant (scope, tool, fingerprint, session, target, created) "
    "VALUES (?,?,?,?,?,?)"
)
OPEN_SECONDS = 86_400.0
SESSION_SECONDS = 7 * 86_400.0
MAX_OPEN = 50
"""Open requests of a session; the oldest go."""
MAX_TARGETS = 20
TARGET_CHARS = 2048
SUMMARY_CHARS = 16_384

Scope = Literal["once", "site", "session", "rule"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that waits for a person. `created` is UTC in seconds since 1970.

    `site` is the origin whose addresses may be allowed for the conversation; empty without one.
    """

    id: str
    tool: str
    targets: tuple[str, ...]
    summary: str
    session: str
    reason: str
    created: float
    site: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """A lasting permission: `target` is a glob; empty means the very same arguments."""

    id: int
    tool: str
    target: str
    created: float


def fingerprint(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same for the same tool with the same arguments, whatever their order."""
    canonical = json.dumps(
        [tool, dict(arguments)], sort_keys=True, separators=(",", ":"), default=str
    )
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


class Approvals:
    """A service: requests and grants, shared by all processes on the store.

    Its methods raise `StorageFailure` when the store cannot be used: without it
    nothing counts as granted.
    """

    def __init__(self, rows: Area) -> None:
        self._rows = rows

    @classmethod
    def open(cls, services: Services) -> Self:
        """The approvals in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA))

    async def request(
        self,
        fingerprint: str,
        tool: str,
        summary: str,
        session: str,
        reason: str,
        targets: Sequence[str] = (),
        site: str = "",
    ) -> str:
        """Ask for an approval; the id of the request.

        The same call of the same session gets the same id while the request is open,
        which is 24 hours, or until the session has 50 younger ones. An empty session is
        that of all calls that stand alone. Long or many targets are kept in part, the
        summary without secrets.
        """
        now = time.time()
        listed_targets = json.dumps(_listed(targets), ensure_ascii=False)
        safe_summary = redact_tokens(summary[:SUMMARY_CHARS])
        if len(summary) > SUMMARY_CHARS:
            safe_summary += f"… ({len(summary) - SUMMARY_CHARS:,} more characters)"

        def write(connection: sqlite3.Connection) -> str:
            _expire(connection, now)
            found = connection.execute(
                "SELECT id, refused FROM approval_request WHERE fingerprint = ? AND session = ?",
                (fingerprint, session),
            ).fetchone()
            if found and not found[1]:
                return str(found[0])
            if found:  # refused before, and asked again where a person can answer
                connection.execute("DELETE FROM approval_request WHERE id = ?", (found[0],))
            request_id = _free_id(connection)
            row = (
                request_id,
                fingerprint,
                tool,
                listed_targets,
                safe_summary,
                session,
                reason,
                now,
                site,
            )
            connection.execute("INSERT INTO approval_request VALUES (?,?,?,?,?,?,?,?,0,?)", row)
            connection.execute(
                "DELETE FROM approval_request WHERE session = ?1 AND rowid NOT IN (SELECT rowid "
                "FROM approval_request WHERE session = ?1 ORDER BY created DESC, rowid DESC "
                "LIMIT ?2)",
                (session, MAX_OPEN),
            )
            return request_id

        return await self._rows.write(write)

    async def is_granted(
        self,
        fingerprint: str,
        tool: str,
        session: str,
        targets: Sequence[str] = (),
        *,
        exact: bool = False,
    ) -> bool:
        """Whether this call was allowed. A grant for one call is used up by this.

        `exact`: only what was asked about this very call counts.
        """
        now = time.time()

        def write(connection: sqlite3.Connection) -> bool:
            _expire(connection, now)
            grants = connection.execute(
                "SELECT id, scope, fingerprint, session, target FROM approval_grant WHERE tool = ?",
                (tool,),
            ).fetchall()
            for _, scope, mark, owner, _ in grants:
                if scope == "session" and owner == session and (mark == fingerprint or not exact):
                    return True
                if scope == "rule" and mark == fingerprint:
                    return True
            globs = [glob for _, scope, mark, _, glob in grants if scope == "rule" and not mark]
            if exact:
                globs = []
            if "*" in globs or (targets and all(_matches(t, globs) for t in targets)):
                return True
            # A person who answers one conversation does not answer the agents of another.
            once = [
                i
                for i, scope, mark, owner, _ in grants
                if scope == "once"
                and mark == fingerprint
                and (
                    AGENT_MARK not in session
                    or conversation_of(owner or session) == conversation_of(session)
                )
            ]
            if once:
                connection.execute("DELETE FROM approval_grant WHERE id = ?", (once[0],))
            return bool(once)

        return await self._rows.write(write)

    async def is_site_granted(self, site: str, session: str) -> bool:
        """Whether a person allowed every address of an origin for a conversation."""
        statement = (
            "SELECT 1 FROM approval_grant WHERE scope = 'site' AND session = ? AND target = ? "
            "AND created > ?"
        )
        since = time.time() - SESSION_SECONDS
        return await self._rows.first(statement, (session, site, since)) is not None

    async def grant(
        self, request_id: str, scope: Scope = "once", target: str = ""
    ) -> ApprovalRequest:
        """Allow what was asked for, and close the request.

        Args:
            request_id: the id that the call was given.
            scope: `once` for one call with the same arguments from any session, but for
                those of other conversations' agents,
                `site` for every address of the site in the session that asked,
                `session` for every call of the tool in the session that asked,
                `rule` for good.
            target: for a rule, the glob that all targets of a call must match; `*` is
                every call of the tool, empty the very same arguments.

        Raises:
            NotFound: no such open request.
            BadInput: for the session, where the call stood alone, or for the site, where the
                question is about none; the request stays open.
        """

        def write(connection: sqlite3.Connection) -> ApprovalRequest:
            request, mark = _take(connection, request_id)
            if scope == "site" and not request.site:
                raise BadInput(
                    "This question is not about an address of one site.",
                    hint="Allow the call once, for the conversation, or for good.",
                )
            if scope in ("session", "site") and not request.session:
                raise BadInput(
                    "This call was a conversation of its own: there is none to allow it for.",
                    hint="Allow it once or for good; or send it with --session NAME, "
                    "and allow what asks then.",
                )
            row = (
                scope,
                request.tool,
                "" if scope == "site" or (target and scope == "rule") else mark,
                request.session if scope != "rule" else "",
                {"rule": target, "site": request.site}.get(scope, ""),
                time.time(),
            )
            connection.execute(GRANT, row)
            return request

        return await self._rows.write(write)

    async def restore(self, fingerprint: str, tool: str, session: str) -> None:
        """Give back a grant for one call that was used up by a call which did not go on.

        Where a rule had allowed it, none was.
        """
        rule = "SELECT 1 FROM approval_grant WHERE scope = 'rule' AND tool = ? AND fingerprint = ?"
        row = ("once", tool, fingerprint, session, "", time.time())

        def write(connection: sqlite3.Connection) -> None:
            if connection.execute(rule, (tool, fingerprint)).fetchone() is None:
                connection.execute(GRANT, row)

        await self._rows.write(write)

    async def refuse(self, request_id: str) -> ApprovalRequest:
        """Close a request without allowing it. Raises NotFound like `grant`."""

        def write(connection: sqlite3.Connection) -> ApprovalRequest:
            request, mark = _take(connection, request_id)
            connection.execute(
                "INSERT INTO approval_request VALUES (?,?,?,'[]','',?,'',?,1,'')",
                (request.id, mark, request.tool, request.session, time.time()),
            )
            return request

        return await self._rows.write(write)

    async def was_refused(self, fingerprint: str, session: str) -> bool:
        """Whether a person refused this very call in this session in the last 24 hours."""
        statement = (
            "SELECT 1 FROM approval_request WHERE fingerprint = ? AND session = ? "
            "AND refused AND created > ?"
        )
        since = time.time() - OPEN_SECONDS
        return await self._rows.first(statement, (fingerprint, session, since)) is not None

    async def list_open(self) -> list[ApprovalRequest]:
        """The requests that wait for an answer, oldest first."""
        rows = await self._rows.fetch(
            "SELECT id, tool, targets, summary, session, reason, created, site "
            "FROM approval_request WHERE created > ? AND NOT refused ORDER BY created, id",
            (time.time() - OPEN_SECONDS,),
        )
        return [
            ApprovalRequest(i, tool, tuple(json.loads(ts)), *rest) for i, tool, ts, *rest in rows
        ]

    async def list_rules(self) -> list[ApprovalRule]:
        """The lasting permissions, oldest first."""
        statement = (
            "SELECT id, tool, target, created FROM approval_grant WHERE scope = 'rule' ORDER BY id"
        )
        return [ApprovalRule(*row) for row in await self._rows.fetch(statement)]

    async def withdraw(self, rule_id: int) -> None:
        """Delete a lasting permission.

        Raises:
            NotFound: no such rule.
        """
        statement = "DELETE FROM approval_grant WHERE id = ? AND scope = 'rule'"
        if not await self._rows.execute(statement, (rule_id,)):
            raise NotFound(
                f"There is no rule {rule_id}.", hint="`toolcrib approve` lists the rules."
            )


def _listed(targets: Sequence[str]) -> list[str]:
    listed = [
        t if len(t) <= TARGET_CHARS else f"{t[:TARGET_CHARS]}…" for t in targets[:MAX_TARGETS]
    ]
    left = len(targets) - len(listed)
    return [*listed, f"… {left:,} more"] if left else listed


def _matches(target: str, globs: Sequence[str]) -> bool:
    return any(fits(glob, target) for glob in globs)


def _expire(connection: sqlite3.Connection, now: float) -> None:
    connection.execute("DELETE FROM approval_request WHERE created < ?", (now - OPEN_SECONDS,))
    connection.execute(
        "DELETE FROM approval_grant WHERE (scope = 'once' AND created < ?) "
        "OR (scope IN ('session', 'site') AND created < ?)",
        (now - OPEN_SECONDS, now - SESSION_SECONDS),
    )


def _free_id(connection: sqlite3.Connection) -> str:
    while True:
        request_id = random_id(6)
        statement = "SELECT 1 FROM approval_request WHERE id = ?"
        if connection.execute(statement, (request_id,)).fetchone() is None:
            return request_id


def _take(connection: sqlite3.Connection, request_id: str) -> tuple[ApprovalRequest, str]:
    """Remove an open request; the request and its fingerprint."""
    row = connection.execute(
        "DELETE FROM approval_request WHERE id = ? AND created > ? AND NOT refused RETURNING "
        "fingerprint, id, tool, targets, summary, session, reason, created, site",
        (plain_id(request_id), time.time() - OPEN_SECONDS),
    ).fetchone()
    if row is None:
        raise NotFound(
            f"No open request has the id {request_id[:40]}.",
            hint="`toolcrib approve` lists the open ones; a request is open for 24 hours.",
        )
    mark, found, tool, targets, *rest = row
    return ApprovalRequest(found, tool, tuple(json.loads(targets)), *rest), mark
