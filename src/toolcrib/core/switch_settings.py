"""The branch `switches` of the configuration: kinds of tools, each on or off as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from toolcrib.core.settings import Section

SWITCHES: Mapping[str, tuple[str, ...]] = {
    "files": ("files", "backup", "workspace"),
    "web": ("web",),
    "documents": ("read_document", "create_document"),
    "images": ("images",),
    "retrieval": (
        *("search_documents", "ask_documents", "index_documents", "list_index", "clear_index"),
    ),
    "memory": ("memory", "context"),
    "text": (
        *("transform_text", "extract_text", "markdown_table", "convert_format", "query_json"),
    ),
    "code": ("code",),
    "system": ("system",),
    "notifications": ("send_notification",),
    "plan": ("plan",),
    "browser": ("browser",),
    "git": ("git",),
    "github": ("github",),
    "packages": ("manage_packages",),
    "databases": ("query_database", "describe_database", "change_database", "query_table"),
    "runs": ("run",),
    "http": ("http",),
    "ui": ("ui",),
    "agents": ("agent",),
}
"""Each switch with the groups and tools that it is about."""
PARTS = frozenset(part for parts in SWITCHES.values() for part in parts)
GROUP = "group:"
"""Stands before the name of a group where there are names of tools too."""


def _about(what: str) -> Any:
    return Field(description=f"{what} true: shown beside the profile, false: not there.")


class SwitchesConfig(Section):
    """Kinds of tools, on or off. Unset is the safe default: as the profile shows them.

    A switch never takes away a question: what asks by its rights asks as before.
    """

    all: Annotated[
        bool, Field(description="Every kind at once. true: all of them, whatever each says.")
    ] = False
    files: Annotated[bool | None, _about("Files and backups.")] = None
    web: Annotated[bool | None, _about("Search and pages.")] = None
    documents: Annotated[bool | None, _about("Reading and making documents.")] = None
    images: Annotated[bool | None, _about("Pictures.")] = None
    retrieval: Annotated[bool | None, _about("Passages of indexed documents.")] = None
    memory: Annotated[bool | None, _about("Memories and the context of sessions.")] = None
    text: Annotated[bool | None, _about("Texts, formats and JSON.")] = None
    code: Annotated[bool | None, _about("Symbols and refactorings.")] = None
    system: Annotated[bool | None, _about("This machine.")] = None
    notifications: Annotated[bool | None, _about("Notes on the desktop.")] = None
    plan: Annotated[bool | None, _about("Plans of tasks.")] = None
    browser: Annotated[bool | None, _about("The browser.")] = None
    git: Annotated[bool | None, _about("Repositories.")] = None
    github: Annotated[bool | None, _about("Issues and pull requests.")] = None
    packages: Annotated[bool | None, _about("Packages of a project.")] = None
    databases: Annotated[bool | None, _about("Databases and tables.")] = None
    runs: Annotated[bool | None, _about("Commands, code, terminals.")] = None
    http: Annotated[bool | None, _about("Requests to services.")] = None
    ui: Annotated[bool | None, _about("Pages to look at.")] = None
    agents: Annotated[bool | None, _about("Agents that work on a task.")] = None

    @property
    def on(self) -> Iterator[str]:
        """The groups and tools that are switched on."""
        for name, parts in SWITCHES.items():
            if self.all or getattr(self, name):
                yield from parts

    def off(self) -> dict[str, str]:
        """Tools, and groups with `GROUP` before them, that are off, each with its setting."""
        return {
            key: f"switches.{name}"
            for name, parts in SWITCHES.items()
            if getattr(self, name) is False and not self.all
            for part in parts
            for key in ((part,) if "_" in part else (f"{GROUP}{part}",))
        }
