"""The one guard around SQL: what a source is, which engine answers, and what its child may open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, Literal, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    BadInput,
    MissingExtra,
    NotFound,
    TooLarge,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.core.tool import Param
from toolcrib.data.sql_servers import LESS_HINT, ask_server
from toolcrib.data.table_files import open_files
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.paths import SafePath, resolve_readable
from toolcrib.system.openat import pread
from toolcrib.system.threads import in_thread

MEMORY = ":memory:"
QUERY_SECONDS = 120.0
Engine = Literal["sqlite", "duckdb"]
FILE_KINDS = {
    **dict.fromkeys(("csv", "tsv", "tab", "txt"), "csv"),
    "parquet": "parquet",
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    **dict.fromkeys(("xlsx", "xlsm"), "xlsx"),
}
ENDINGS = (*(f".{ending}" for ending in FILE_KINDS if ending != "txt"), ".csv.gz", ".json.gz")
SQLITE_ENDINGS = (".db", ".sqlite", ".sqlite3", ".db3")
MAX_COPIED_BYTES = 200_000_000
"""Bytes of a database that is read whole, where a child cannot be kept to its files."""
_FENCE = re.compile(r"\s*```(?:\w*[ \t]*\n|sql\s)?(.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)
SQLITE_SIGN, DUCKDB_SIGN, PARQUET_SIGN = b"SQLite format 3\0", b"DUCK", b"PAR1"


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source that is no file: a server of the configuration, or the empty database in memory."""

    name: str

    @property
    def display(self) -> str:
        """The name."""
        return self.name

    def spellings(self) -> list[str]:
        """The name, as a rule may use it."""
        return [self.name]


Source: TypeAlias = SafePath | NamedSource


def resolve_source(value: str, ctx: Ctx) -> Source:
    """What the text of an argument means.

    Raises:
        BadInput: it is an address.
        PathDenied, NotConfigured: as for any path.
    """
    bare = value.strip().strip("`")
    if bare in ("", MEMORY):
        return NamedSource(MEMORY)
    if bare in ctx.config.sql.sources:
        return NamedSource(bare)
    if "://" in bare and not bare.lower().startswith("file://"):
        servers = ", ".join(ctx.config.sql.sources)
        raise BadInput(
            "A source is a file of the workspace or a configured name, not an address.",
            hint="Name a SQLite, CSV, Parquet or JSON file, or a folder of them"
            f"{f', or one of: {servers}' if servers else ''}.",
        )
    return resolve_readable(value, ctx)


SourceArgument: TypeAlias = Annotated[
    Any, Param(kind="path", check=resolve_source, json_type="string")
]


def bare_sql(text: str) -> str:
    """SQL as models hand it over, without the fence of Markdown around it."""
    fenced = _FENCE.fullmatch(text)
    return fenced[1] if fenced else text


def task(engine: str, function: str, access: Literal["", "read", "write", "change"]) -> Task:
    """A function of the child of an engine, with its bounds."""
    return Task(
        f"toolcrib.data.{engine}_child:{function}",
        "The database",
        seconds=QUERY_SECONDS,
        megabytes=6000 if engine == "duckdb" else 1500,
        max_bytes=200_000_000,
        hint=LESS_HINT,
        access=access,
    )


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source whose files are open: its engine, what the child is told, and their descriptors."""

    engine: Engine
    request: Mapping[str, Any]
    descriptors: Sequence[int]
    size: int


async def ask(
    source: Source, function: str, request: Mapping[str, Any], ctx: Ctx
) -> tuple[dict[str, Any], bytes]:
    """The answer of a source to a function that reads; see the children.

    Raises:
        MissingExtra: its engine is not installed.
        Denied: the statement does more than read.
        NotFound, UnsupportedContent, BadInput, TimedOut, TooLarge: as they say.
    """
    workers = ctx.use(Workers)
    if isinstance(source, NamedSource) and source.name != MEMORY:
        return await ask_server(source.name, function, request, ctx)
    if isinstance(source, NamedSource):
        return await workers.run(task("sqlite", function, ""), request, b"", ctx.deadline)
    with ExitStack() as stack:
        opened = await in_thread(lambda _: stack.enter_context(open_source(source)), ctx.deadline)
        if opened.engine == "duckdb" and find_spec("duckdb") is None:
            raise MissingExtra("duckdb", "SQL over files")
        whole = {**request, **opened.request}
        reading = task(opened.engine, function, "read")
        try:
            return await workers.run(reading, whole, b"", ctx.deadline, opened.descriptors)
        except Unavailable:
            if opened.engine != "sqlite":
                raise
        # Without Landlock the child opens nothing at all, and is given a copy.
        if opened.size > MAX_COPIED_BYTES or opened.request["log"]:
            raise TooLarge("The database cannot be read here.", hint="Use a smaller, closed one.")
        fd = opened.descriptors[0]
        data = await in_thread(lambda _: pread(fd, opened.size, 0), ctx.deadline)
        return await workers.run(task("sqlite", function, ""), request, data, ctx.deadline)


@contextmanager
def open_source(path: SafePath) -> Iterator[OpenSource]:
    """A file or folder as a source, open until the end. It blocks.

    Raises:
        NotFound, NoResults, UnsupportedContent: there is nothing that an engine reads.
    """
    with ExitStack() as stack:
        files = stack.enter_context(open_files(path, ENDINGS))
        head = pread(files[0].fd, 16, 0)
        name = path.name.lower()
        is_database = name.endswith(SQLITE_ENDINGS)
        if len(files) == 1 and (head == SQLITE_SIGN or is_database):
            fds = [files[0].fd]
            log = False
            for ending in ("-wal", "-shm", "-journal"):
                with suppress(NotFound, ToolError):
                    beside = path.parent.child(path.name + ending)
                    handle = stack.enter_context(beside.open_read())
                    fds.append(handle.fd)
                    log = log or (ending == "-wal" and handle.size > 0)
            request = {"path": files[0].absolute, "fd": fds[0], "log": log}
            yield OpenSource("sqlite", request, fds, files[0].size)
            return
        listed = [{**file.request, "kind": _kind(file.fd, file.path.name)} for file in files]
        yield OpenSource(
            "duckdb",
            {"files": listed},
            [file.fd for file in files],
            sum(file.size for file in files),
        )


def _kind(fd: int, name: str) -> str:
    head = pread(fd, 64, 0)
    if head[8:12] == DUCKDB_SIGN:
        raise UnsupportedContent(
            f"{name} is a database of DuckDB itself, which is not read.",
            hint="Export its tables as Parquet or CSV.",
        )
    if head.startswith(PARQUET_SIGN):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    plain = name.lower().removesuffix(".gz")
    if head.lstrip()[:1] in (b"[", b"{"):
        return "json"
    kind = FILE_KINDS.get(plain.rpartition(".")[2], "")
    if not kind and b"\0" in head:
        raise UnsupportedContent(
            f"{name} is no database and no table.",
            hint="Sources are SQLite, CSV, TSV, Parquet, JSON and XLSX files, or folders of them.",
        )
    return kind or "csv"
