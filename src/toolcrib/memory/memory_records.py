"""Memories and entries as values: where they come from, drafts, changes, what a search found."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from toolcrib.core.errors import BadInput

MAX_FACT_CHARS = 4000
MAX_FILE_CHARS = 100_000
MAX_TAGS = 20
MAX_TAG_CHARS = 60

ChangeKind = Literal["saved", "updated", "deleted", "imported"]
SaveStatus = Literal["saved", "known", "replaced"]
USER = "user"
EntryType = Literal["decision", "pattern", "configuration", "file_change", "error", "summary"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)
MAX_TITLE_CHARS = 200
MAX_CONTENT_CHARS = 4000


def storable(text: str) -> str:
    """The text with "?" for what is no character, as names of files may hold: SQLite takes none."""
    return text.encode("utf-8", "replace").decode()


def where_visible(scopes: Sequence[str] | None) -> tuple[str, list[Any]]:
    """The condition, and its values, for what is there of some scopes, or of all."""
    where, values = "NOT gone AND (expires IS NULL OR expires > ?)", [time.time()]
    if scopes is None:
        return where, [*values]
    return f"{where} AND scope IN ({', '.join('?' * len(scopes))})", [*values, *scopes]


def project_scope(number: int) -> str:
    """The scope of a project."""
    return f"project:{number}"


def session_scope(session: str) -> str:
    """The scope of one conversation."""
    return f"session:{session}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory comes from.

    Attributes:
        session: the conversation.
        caller: the surface and the program behind it.
        source: what it was read in; empty for what a conversation says itself.
        outside: whether the conversation had read text from outside before.
        private: whether it had read something private before, as far as that is known.
    """

    session: str = ""
    caller: str = ""
    source: str = ""
    outside: bool = False
    private: bool = True


@dataclass(frozen=True, slots=True)
class Memory:
    """One fact, or one file of the `memory` tool. Times are in seconds since 1970.

    `outside` and `private` are those of the conversations that it comes from; see `Origin`.
    """

    id: int
    scope: str
    fact: str
    tags: tuple[str, ...] = ()
    source: str = ""
    outside: bool = False
    created: float = 0.0
    changed: float = 0.0
    expires: float | None = None
    version: int = 1
    path: str = ""
    private: bool = True

    def to_json(self) -> dict[str, Any]:
        """The memory as JSON values."""
        return {
            "id": self.id,
            "scope": self.scope.partition(":")[0],
            "fact": self.fact,
            "tags": list(self.tags),
            "source": self.source,
            "outside": self.outside,
            "created": self.created,
            "changed": self.changed,
            "expires": self.expires,
            **({"path": self.path} if self.path else {}),
        }


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory that is to be saved.

    `created`, `source` and `outside` are for what comes from elsewhere and says so itself.
    `is_own`: it was exported by toolcrib, so all that it says of itself holds, also `changed`,
    `private` and an empty source, and it takes no other one's place.
    """

    fact: str
    scope: str = USER
    tags: tuple[str, ...] = ()
    expires: float | None = None
    created: float | None = None
    path: str = ""
    source: str = ""
    outside: bool = False
    changed: float | None = None
    private: bool = True
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """A context entry that is to be saved: what happened, in a title and more words."""

    type: EntryType
    title: str
    content: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a draft.

    Attributes:
        memory: as it is now; the one that was there, if it was known.
        status: whether it is new, was known, or stands in the place of `before`.
        similar: others that are much like it.
    """

    memory: Memory
    status: SaveStatus
    before: Memory | None = None
    similar: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One change in the history of a memory; `before` is what it was."""

    id: int
    kind: str
    time: float
    session: str
    caller: str
    before: Memory | None
    undone: bool


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory that was found, with a score from 0 to 1."""

    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class MemoryList:
    """Some memories, and how many there are of their kind."""

    memories: tuple[Memory, ...]
    count: int


@dataclass(frozen=True, slots=True)
class MemoryHits:
    """Memories, best first, and what the caller should know of the search."""

    hits: tuple[MemoryHit, ...]
    notes: tuple[str, ...] = ()


def check_draft(draft: MemoryDraft) -> MemoryDraft:
    """The draft without blanks around it.

    Raises:
        BadInput: it is empty or too long, or has too many tags.
    """
    fact = draft.fact if draft.path else draft.fact.strip()
    limit = MAX_FILE_CHARS if draft.path else MAX_FACT_CHARS
    if not fact and not draft.path:
        raise BadInput("The fact is empty.", hint="Say in a sentence what is to be remembered.")
    if len(fact) > limit:
        raise BadInput(
            f"A memory has at most {limit:,} characters, not {len(fact):,}.",
            hint="Save what matters in a sentence; write the rest to a file and name its path.",
        )
    return replace(draft, fact=fact, tags=checked_tags(draft.tags))


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without blanks around them, each once; a comma parts two.

    Raises:
        BadInput: they are too many or too long.
    """
    named = (" ".join(tag.split()) for listed in tags for tag in listed.split(","))
    found = tuple(dict.fromkeys(filter(None, named)))
    if len(found) > MAX_TAGS or any(len(tag) > MAX_TAG_CHARS for tag in found):
        raise BadInput(f"There are at most {MAX_TAGS} tags of at most {MAX_TAG_CHARS} characters.")
    return found
