"""Secrets by name: which request may carry one, and hiding it in whatever comes back."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from toolcrib.core.config import secret
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ConfigError, Denied, ToolError
from toolcrib.core.web_settings import SecretConfig
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.headers import checked_headers
from toolcrib.net.egress.policy import HostRule
from toolcrib.net.egress.url import Target, parse_url
from toolcrib.state.redaction import names_secret, redact_text

SETTING = "web.requests.secrets"
NOT_SECRET = ("csrf", "xsrf")


@dataclass(frozen=True, slots=True)
class Credential:
    """A header that proves who asks, and the secrets that must not be shown."""

    header: str
    value: str
    secrets: tuple[str, ...]


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
    return Credential(header, sent, tuple(parts))
