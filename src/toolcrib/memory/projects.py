"""Projects: folders under a name, to which memories, plans and conversations belong."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from typing import Self

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, Conflict, NotFound
from toolcrib.files.paths import Workspace
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "projects",
    (
        """
        CREATE TABLE project (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, path TEXT NOT NULL UNIQUE,
            about TEXT NOT NULL, registered INTEGER NOT NULL, created REAL NOT NULL
        );
        """,
    ),
)
COLUMNS = "id, name, path, about, registered, created"
MAX_PROJECTS = 1000
NOWHERE = "(no folder)"
"""The name of the project of conversations to which nobody gave a folder."""


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    """A folder with a name. `path` is absolute, without links; empty where there is no folder.

    A project that nobody registered stands for a folder in which something was kept.
    """

    id: int
    name: str
    path: str
    about: str = ""
    registered: bool = False
    created: float = 0.0


class Projects:
    """A service: the projects of this user, and which one a conversation is in.

    Args:
        rows: where they are kept.
        workspace: the folders that may be used here.
    """

    def __init__(self, rows: Area, workspace: Workspace) -> None:
        self._rows = rows
        self._workspace = workspace

    @classmethod
    def open(cls, services: Services) -> Self:
        """The projects in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.use(Workspace))

    async def current(self, directory: str = "") -> ProjectInfo:
        """The project of a conversation: the innermost registered one, else the root it is in.

        Args:
            directory: the current directory of the conversation.
        """
        here, root = self._places(directory)
        found = await self._rows.read(lambda c: _holding(c, here, root), quick=True)
        if found is None:
            found = await self._rows.write(lambda c: _ensured(c, root))
        return found

    async def register(self, path: str, name: str = "", about: str = "") -> ProjectInfo:
        """Give a folder a name, by which it is found again.

        Args:
            path: absolute, without links.
            name: empty for the name of the folder.
            about: what it is, in a line.

        Raises:
            Conflict: another project has the name.
            BadInput: there are too many.
        """
        path = _listed(path)
        name = name or _last_part(path)

        def write(connection: sqlite3.Connection) -> ProjectInfo | str:
            (count,) = connection.execute("SELECT count(*) FROM project").fetchone()
            taken = _named(connection, name, besides=path)
            if taken is not None:
                return taken.path
            if count >= MAX_PROJECTS:
                return ""
            connection.execute(
                "INSERT INTO project (name, path, about, registered, created)"
                " VALUES (?1, ?2, ?3, 1, ?4) ON CONFLICT (path) DO UPDATE SET name = ?1,"
                " registered = 1, about = CASE ?3 WHEN '' THEN about ELSE ?3 END",
                (name, path, about, time.time()),
            )
            return _one(connection, "path = ?", path)

        return _checked(await self._rows.write(write), name)

    async def in_folder(self, path: str, name: str) -> ProjectInfo:
        """The project of a folder; where there is none yet, one that nobody registered.

        Args:
            path: absolute, without links; empty for that of conversations without a folder.
            name: what it is called where it is new.
        """

        def write(connection: sqlite3.Connection) -> ProjectInfo:
            return _ensured(connection, _listed(path), name)

        return await self._rows.write(write)

    async def update(
        self, project: ProjectInfo, *, name: str = "", path: str = "", about: str = ""
    ) -> ProjectInfo:
        """Change what is given; what was kept for it stays with it, also in another folder.

        Raises:
            Conflict: another project has the name, or is in that folder.
        """
        path = _listed(path)

        def write(connection: sqlite3.Connection) -> ProjectInfo | str:
            taken = _named(connection, name, besides=project.path) if name else None
            if taken is None and path and path != project.path:
                taken = _at(connection, path)
            if taken is not None:
                return taken.path
            connection.execute(
                "UPDATE project SET name = ?, path = ?, about = ?, registered = 1 WHERE id = ?",
                (name or project.name, path or project.path, about or project.about, project.id),
            )
            return _one(connection, "id = ?", project.id)

        return _checked(await self._rows.write(write), name or path)

    async def unregister(self, ids: list[int]) -> None:
        """Forget the names; what was kept for the folders stays."""
        await self._rows.write(
            lambda c: c.executemany(
                "UPDATE project SET registered = 0 WHERE id = ?", [(number,) for number in ids]
            )
        )

    async def clear(self) -> int:
        """Forget all names and folders; what was kept for them belongs to nobody then."""
        return await self._rows.execute("DELETE FROM project")

    async def all(self, words: str = "") -> list[ProjectInfo]:
        """All of them by name, or those in whose name, folder or text all of some words are."""
        rows = await self._rows.fetch(f"SELECT {COLUMNS} FROM project ORDER BY name, id")  # noqa: S608
        wanted = words.casefold().split()
        return [
            project
            for project in map(_project, rows)
            if all(w in f"{project.name} {project.path} {project.about}".casefold() for w in wanted)
        ]

    async def find(self, name: str) -> ProjectInfo:
        """One by its name, number or folder.

        Raises:
            NotFound: there is none; the hint names those that there are.
            BadInput: several have the name; the hint names their numbers.
        """
        known = await self.all()
        wanted = name.strip().casefold()
        found = [p for p in known if wanted in (str(p.id), p.path.casefold())]
        found = found or [p for p in known if p.registered and p.name.casefold() == wanted]
        found = found or [p for p in known if p.name.casefold() == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            listed = "; ".join(f"{p.id}: {p.path}" for p in found[:10])
            raise BadInput(
                f"{len(found)} projects are named '{name}'.", hint=f"Say which: {listed}"
            )
        names = ", ".join(p.name for p in known[:20] if p.registered)
        hint = f"There are: {names}." if names else "None is registered yet; action=register does."
        raise NotFound(f"There is no project '{name[:100]}'.", hint=hint)

    def _places(self, directory: str) -> tuple[str, str]:
        """The real paths of the current directory and of the root that it is in."""
        if self._workspace.is_scratch or not self._workspace.roots:
            return "", ""
        place = self._workspace.start(directory)
        return _listed(place.real_absolute), _listed(place.root.real)


def _listed(path: str) -> str:
    """A path as it is stored: bytes of a name that are no text are written out."""
    return path.encode("utf-8", "backslashreplace").decode()


def _holding(connection: sqlite3.Connection, here: str, root: str) -> ProjectInfo | None:
    """The innermost registered project around a folder, else the one of the root."""
    around = (
        "registered AND path != '' AND (?1 = path OR substr(?1, 1, length(path) + 1) = path || '/')"
        " ORDER BY length(path) DESC LIMIT 1"
    )
    return _maybe(connection, around, here) or _at(connection, root)


def _ensured(connection: sqlite3.Connection, root: str, name: str = "") -> ProjectInfo:
    connection.execute(
        "INSERT OR IGNORE INTO project (name, path, about, registered, created)"
        " VALUES (?, ?, '', 0, ?)",
        (name or (_last_part(root) if root else NOWHERE), root, time.time()),
    )
    return _one(connection, "path = ?", root)


def _named(connection: sqlite3.Connection, name: str, besides: str) -> ProjectInfo | None:
    """A registered project of this name, in any case of letters, in another folder."""
    for row in connection.execute(
        f"SELECT {COLUMNS} FROM project WHERE registered AND path != ?",  # noqa: S608
        (besides,),
    ):
        if str(row[1]).casefold() == name.casefold():
            return _project(row)
    return None


def _at(connection: sqlite3.Connection, path: str) -> ProjectInfo | None:
    return _maybe(connection, "path = ?", path)


def _maybe(connection: sqlite3.Connection, condition: str, value: object) -> ProjectInfo | None:
    row = connection.execute(
        f"SELECT {COLUMNS} FROM project WHERE {condition}",  # noqa: S608 - ours
        (value,),
    ).fetchone()
    return None if row is None else _project(row)


def _one(connection: sqlite3.Connection, condition: str, value: object) -> ProjectInfo:
    found = _maybe(connection, condition, value)
    assert found is not None
    return found


def _project(row: tuple[int, str, str, str, int, float]) -> ProjectInfo:
    number, name, path, about, registered, created = row
    return ProjectInfo(number, name, path, about, bool(registered), created)


def _checked(found: ProjectInfo | str, name: str) -> ProjectInfo:
    """What was written; a text is the folder of the project that is in the way."""
    if isinstance(found, ProjectInfo):
        return found
    if not found:
        raise BadInput(f"There are {MAX_PROJECTS:,} projects already.", hint="Unregister some.")
    raise Conflict(
        f"There is a project like that already: '{name}' in {found}.",
        hint="Choose another name, or update that one.",
        path=found,
    )


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
