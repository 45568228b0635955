"""What is asked of `github_read`, and what it is answered with; texts of people, without marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.text.cleaner import one_line
from toolcrib.tools.github.authors import Authors
from toolcrib.tools.github.client import GitHubClient, ListPage
from toolcrib.tools.github.repository import GitHubRepository

TITLE_CHARS = 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """One call of `github_read`, checked; see its parameters."""

    ctx: Ctx
    client: GitHubClient
    kind: str
    repository: str = ""
    number: int = 0
    path: str = ""
    ref: str = ""
    query: str = ""
    state: str = "open"
    labels: Sequence[str] = ()
    limit: int = 20
    page: int = 1

    async def open_repository(self) -> GitHubRepository:
        """The repository that it is about."""
        return await GitHubRepository.open(self.client, self.repository)

    def numbered(self, what: str) -> int:
        """Its number.

        Raises:
            BadInput: none is given.
        """
        if self.number < 1:
            raise BadInput(f"kind={self.kind} needs number, that of the {what}.")
        return self.number


@dataclass(slots=True)
class View:
    """What is shown.

    Attributes:
        url: of the page that shows the same.
        lines: the text.
        data: the same for programs.
        is_private: whether not everybody may read it.
        more: whether another page follows.
        notes: what the reader should know besides; before the text.
        age: seconds since it was true, where the server does not answer now.
    """

    url: str
    lines: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    is_private: bool = False
    more: bool = False
    notes: list[str] = field(default_factory=list)
    age: float = 0.0

    @classmethod
    def of(cls, repository: GitHubRepository, path: str = "") -> View:
        """A view of something of a repository, whose page has this path."""
        url = f"{repository.url}/{path}".rstrip("/")
        return cls(url, is_private=repository.is_private, notes=repository.notes)

    def head(self, name: str, page: ListPage, request: ReadOptions, left_out: int = 0) -> None:
        """Begin with what is listed, how much of it, and out of how many."""
        self.more, self.age = page.more, page.age
        displayed, total = len(page.items), page.total
        of = f"{displayed} of {total:,}" if total is not None else f"{displayed}"
        where = f", page {request.page}" if request.page > 1 or page.more else ""
        self.lines.append(f"{name}: {of}{where}")
        if left_out:
            self.lines.append(f"({left_out} left out: by people who may not push)")
        self.data |= {"total": total, "page": request.page}


def day(value: Any) -> str:
    """The day of a moment as the API writes it."""
    return str(value or "")[:10]


def login(item: Mapping[str, Any], member: str = "user") -> str:
    """Who it is from."""
    person = item.get(member)
    return one_line(person.get("login"), 60) if isinstance(person, Mapping) else ""


def title(item: Mapping[str, Any]) -> str:
    """Its title in one line."""
    return one_line(item.get("title"), TITLE_CHARS)


def label_names(item: Mapping[str, Any]) -> list[str]:
    """The names of its labels."""
    labels = item.get("labels") or []
    return [one_line(v.get("name") if isinstance(v, Mapping) else v, 60) for v in labels]


def prose(text: Any) -> str:
    """What people see of a text in Markdown: comments of HTML in it are for nobody's eyes."""
    if not isinstance(text, str):
        return ""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0:
        parts.append(text[at:start])
        end = text.find("-->", start)
        at = len(text) if end < 0 else end + 3
    return "".join([*parts, text[at:]]).replace("\r\n", "\n").strip()


async def visible_items(
    repository: GitHubRepository, items: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Those whose author may speak here; all where `github.lockdown` is off."""
    if not repository.client.ctx.config.github.lockdown:
        return list(items)
    judge = Authors(repository)
    return [item for item in items if await judge.may_speak(login(item))]
