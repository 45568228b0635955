"""Secrets by name: which request may carry one, and hiding it in whatever comes back."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

from toolcrib.core.call import well_formed
from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ConfigError, Denied, ToolError
from toolcrib.core.web_settings import SecretConfig
from toolcrib.kit.egress import PAGES, Egress
from toolcrib.kit.egress.headers import checked_headers
from toolcrib.kit.egress.policy import HostRule
from toolcrib.kit.egress.url import Target, parse_url
from toolcrib.kit.redaction import HIDDEN, names_secret, redact_text

SETTING = "web.requests.secrets"
TELLING = 4
"""Characters from which on a part of a secret, or a form of it, is hidden."""
NOT_SECRET = ("csrf", "xsrf")


@dataclass(frozen=True, slots=True)
class Credential:
    """A header that proves who asks, and all the spellings in which it must not be shown."""

    header: str
    value: str
    hidden: tuple[str, ...]


def credential(name: str, url: str, ctx: Ctx) -> Credential:
    """The configured secret of this name, for a request to this URL.

    Raises:
        BadInput: there is no such secret.
        Denied: it is not for this host, or the way there is not encrypted.
        NotConfigured, ConfigError: it has no value, or is configured wrongly.
    """
    known = ctx.config.web.requests.secrets
    found = known.get(name.strip())
    if found is None:
        names = ", ".join(sorted(known)) or "none is configured"
        raise BadInput(
            f"There is no secret named '{name[:60]}'.",
            hint=f"'auth' takes a name of {SETTING}, never a key. Names: {names}.",
        )
    target = parse_url(url)
    setting = f"{SETTING}.{name.strip()}"
    if not _is_for(found, target, setting):
        raise Denied(
            f"The secret '{name.strip()}' is not for {target.host}.",
            hint=f"It goes to {', '.join(found.hosts) or 'no host'} only ({setting}.hosts).",
        )
    if not _is_private_way(target, ctx):
        raise Denied(
            f"The secret '{name.strip()}' is not sent over plain http to {target.host}.",
            hint="Use the https address.",
        )
    return _built(found, secret(found.env, f"'{name.strip()}' ({setting}.env)"), setting)


def names_for(url: str, ctx: Ctx) -> list[str]:
    """The names of the secrets that a host may be sent."""
    target = parse_url(url)
    secrets = ctx.config.web.requests.secrets
    return sorted(n for n, s in secrets.items() if _is_for(s, target, f"{SETTING}.{n}"))


def refuse_typed(headers: Mapping[str, str]) -> None:
    """Refuse credentials that stand in a call.

    Raises:
        BadInput: a header whose name or value is that of a secret.
    """
    for name, value in headers.items():
        tokens = any(word in name.lower() for word in NOT_SECRET)
        if (names_secret(name) and not tokens) or redact_text(f"x: {value}") != f"x: {value}":
            raise BadInput(
                f"The header '{name[:60]}' looks like a login, which is never typed in a call.",
                hint=f"Name a secret with 'auth'; the user keeps them in {SETTING}.",
            )


def _is_for(found: SecretConfig, target: Target, setting: str) -> bool:
    try:
        return any(HostRule.parse(host).matches(target) for host in found.hosts)
    except ConfigError:
        raise ConfigError(
            f"{setting}.hosts: {', '.join(found.hosts)[:200]} is not a list of hosts.",
            hint="Forms: host, host:port, *.suffix; no scheme and no path.",
        ) from None


def _is_private_way(target: Target, ctx: Ctx) -> bool:
    """Whether nobody in between can read along: https, this machine, or as the user opened it."""
    if target.scheme == "https" or (target.literal is not None and target.literal.is_loopback):
        return True
    if target.host == "localhost" or target.host.endswith(".localhost"):
        return True
    policy = ctx.use(Egress).policy(PAGES)
    opened = any(rule.matches(target) for rule in policy.allow_hosts)
    literal = target.literal
    return opened or (literal is not None and any(literal in n for n in policy.allow_networks))


def _built(found: SecretConfig, value: str, setting: str) -> Credential:
    parts = [value]
    if found.scheme == "header":
        header, sent = found.header, value
    elif found.scheme == "basic":
        sent = f"Basic {b64encode(value.encode()).decode()}"
        header = "authorization"
        parts += [sent.removeprefix("Basic "), value.partition(":")[2]]
    else:
        header, sent = "authorization", f"Bearer {value}"
        parts.append(sent)
    try:
        checked_headers({header: sent})
        sent.encode("latin-1")
    except (ToolError, UnicodeEncodeError):
        raise ConfigError(
            f"{setting} cannot be sent as a header.",
            hint="Scheme header needs a header name; a key has no line breaks.",
        ) from None
    return Credential(header, sent, _spellings(parts))


def _spellings(parts: list[str]) -> tuple[str, ...]:
    found: set[str] = {parts[0]}
    for part in parts:
        found.update(form for form in _forms(part) if len(form) >= TELLING)
    return tuple(sorted(found, key=len, reverse=True))


def _forms(text: str) -> Iterator[str]:
    """A text as it stands, and as answers write it in URLs, JSON, HTML and base64."""
    yield text
    yield from (quote(text, safe=""), quote(text), quote_plus(text))
    yield json.dumps(text)[1:-1]
    yield json.dumps(text)[1:-1].replace("/", "\\/")
    yield html.escape(text)
    for coded in (b64encode(text.encode()), urlsafe_b64encode(text.encode())):
        yield coded.decode().rstrip("=")


class Screen:
    """Hides a credential, if there is one, in texts and JSON values, in any case of letters."""

    def __init__(self, used: Credential | None) -> None:
        self._hidden = used.hidden if used else ()
        self._pattern = re.compile("|".join(map(re.escape, self._hidden)), re.IGNORECASE)

    def text(self, text: str, *, cut: bool = False) -> str:
        """The text without it. `cut` says that the text may stop in the middle of it."""
        text = well_formed(text)
        if not self._hidden:
            return text
        text = self._pattern.sub(HIDDEN, text)
        return self._without_half(text) if cut else text

    def _without_half(self, text: str) -> str:
        for form in self._hidden:
            length = min(len(form) - 1, len(text))
            while length >= TELLING and text[-length:].lower() != form[:length].lower():
                length -= 1
            if length >= TELLING:
                return text[:-length] + HIDDEN
        return text

    def value(self, value: Any) -> Any:
        """The same for JSON values, names of members included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.value(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if self._hidden and isinstance(value, int | float) and not isinstance(value, bool):
            return HIDDEN if str(value) in self._hidden else value
        return value

    def error(self, error: ToolError) -> ToolError:
        """The same error, with nothing of it in its words."""
        error.message, error.hint = self.text(error.message), self.text(error.hint)
        error.details = self.value(dict(error.details))
        error.args = (error.message,)
        return error
