"""Where LM Studio runs on this machine, and how it lets a plugin in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from toolcrib.core.config import Config, environment
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.execution.interpreters.lmstudio import LMSTUDIO_PORTS, lmstudio_home
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.upstream import Upstream
from toolcrib.surfaces.proxy.wire import json_answer
from toolcrib.system.threads import random_id

GREETING = b"/lmstudio-greeting"
GREETING_SECONDS = 3.0
MAX_GREETING_BYTES = 4_096
BASE_URL = "LMS_PLUGIN_BASE_URL"
IDENTIFIER = "LMS_PLUGIN_CLIENT_IDENTIFIER"
PASSKEY = "LMS_PLUGIN_CLIENT_PASSKEY"
SCHEMES = {"ws": "http", "wss": "https", "http": "http", "https": "https"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who a client of LM Studio says it is; a plugin's are known to it, others are made up."""

    identifier: str
    passkey: str

    @classmethod
    def made_up(cls) -> Credentials:
        """Those of a client that is no plugin yet."""
        return cls(f"toolcrib-{random_id(8)}", random_id(32))

    @classmethod
    def given(cls) -> Credentials | None:
        """Those with which LM Studio started this process; None where it did not.

        Raises:
            BadInput: only one of the two is there.
        """
        found = environment((IDENTIFIER, PASSKEY))
        if not any(found.values()):
            return None
        if not all(found.get(name) for name in (IDENTIFIER, PASSKEY)):
            raise BadInput(
                f"Of {IDENTIFIER} and {PASSKEY} one is missing.",
                hint="LM Studio sets both for a plugin. Unset the other to register by hand.",
            )
        return cls(found[IDENTIFIER], found[PASSKEY])


def given_address() -> str:
    """The address that LM Studio gave this process; "" where it gave none."""
    return environment((BASE_URL,)).get(BASE_URL, "")


def http_address(named: str) -> str:
    """An address as `http://host:port`, whatever scheme it was written with.

    Raises:
        BadInput: it is none.
    """
    text = named.strip()
    parts = urlsplit(text if "://" in text else f"ws://{text}")
    try:
        fits = parts.scheme in SCHEMES and parts.hostname and (parts.port or 1)
    except ValueError:
        fits = False
    if not fits or parts.path.strip("/"):
        raise BadInput(
            f"'{named[:80]}' is no address of LM Studio.", hint="Write ws://127.0.0.1:41343."
        )
    return f"{SCHEMES[parts.scheme]}://{parts.netloc}"


async def find_host(
    config: Config, egress: Egress, named: str = "", ports: Sequence[int] = LMSTUDIO_PORTS
) -> str:
    """The address of the LM Studio that runs, as `http://127.0.0.1:41343`.

    Args:
        config: the whole tree.
        egress: the guard.
        named: an address to look at instead of the usual ports.
        ports: those of this machine to look at.

    Raises:
        BadInput: `named` is no address.
        Unavailable: it does not run; the hint says what to do.
    """
    places = [http_address(named)] if named else [f"http://127.0.0.1:{port}" for port in ports]
    answers = await asyncio.gather(*(_greets(place, config, egress) for place in places))
    for place, greets in zip(places, answers, strict=True):
        if greets:
            return place
    if named:
        raise Unavailable(
            f"LM Studio does not answer at {places[0]}.",
            hint="Start LM Studio, or leave the address out, so that its usual ones are tried.",
        )
    home = lmstudio_home()
    if home is None:
        raise Unavailable(
            "LM Studio was not found on this machine.",
            hint="Install and start it (lmstudio.ai), then run this again. If it runs on another "
            "machine or port, name it: toolcrib lmstudio --url ws://HOST:PORT",
        )
    raise Unavailable(
        f"LM Studio is installed ({home}), but does not run.",
        hint="Open LM Studio, or start it without a window by `lms server start`; then run this "
        "again, or leave it waiting: toolcrib lmstudio --wait",
    )


async def _greets(place: str, config: Config, egress: Egress) -> bool:
    """Whether LM Studio answers at an address."""
    upstream = Upstream(place, config, egress)
    accept = [(b"accept", b"application/json")]
    try:
        answer = await json_answer(upstream, GREETING, accept, GREETING_SECONDS, MAX_GREETING_BYTES)
    finally:
        await upstream.close()
    return answer is not None and answer.get("lmstudio") is True
