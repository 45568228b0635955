"""Which model a chat asks: those of all servers that answer, and choosing one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from toolcrib.core.config import Config
from toolcrib.core.errors import NotFound
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.endpoint import Endpoint, NoServer, chat_models, probe_servers
from toolcrib.surfaces.cli.chat_terminal.view import note
from toolcrib.surfaces.cli.screen import table

MAX_LISTED = 60


async def endpoints(config: Config, egress: Egress) -> list[Endpoint]:
    """Each model that can be chatted with, of every server that answers."""
    found: list[Endpoint] = []
    for url, models in await probe_servers(config, egress):
        if not isinstance(models, NoServer):
            found += [Endpoint(url, tuple(models), model) for model in chat_models(models)]
    return found


def show_models(choices: Sequence[Endpoint], current: Endpoint | None) -> None:
    """The list to choose from."""
    rows = [
        (str(number), e.model, e.base_url, "*" if current and _same(e, current) else "")
        for number, e in enumerate(choices[:MAX_LISTED], 1)
    ]
    for line in table(rows, right=(0,)):
        note(line)
    if len(choices) > MAX_LISTED:
        note(f"and {len(choices) - MAX_LISTED} more")


def chosen(word: str, choices: Sequence[Endpoint]) -> Endpoint:
    """The model of this number or name, or of the only name that has the word in it.

    Raises:
        NotFound: there is none, or more than one.
    """
    word = word.strip()
    if word.isdecimal() and 0 < int(word) <= len(choices):
        return choices[int(word) - 1]
    low = word.lower()
    exact = [e for e in choices if e.model.lower() in (low, f"{low}:latest")]
    like = exact[:1] or [e for e in choices if low and low in e.model.lower()]
    if len(like) == 1:
        return like[0]
    why = "Several models fit" if like else "There is no model like"
    raise NotFound(f"{why} '{word[:80]}'.", hint="/model lists them.")


async def choose(
    choices: Sequence[Endpoint], read_line: Callable[[str], Awaitable[str | None]]
) -> Endpoint | None:
    """Let the person choose; None where they leave. Enter takes the first."""
    note("There are several models (-m NAME or agent.model takes one without this question):")
    show_models(choices, None)
    while True:
        word = await read_line("Which? [1] ")
        if word is None:
            return None
        try:
            return chosen(word.strip() or "1", choices)
        except NotFound as error:
            note(error.message)


def _same(one: Endpoint, other: Endpoint) -> bool:
    return (one.base_url, one.model) == (other.base_url, other.model)
