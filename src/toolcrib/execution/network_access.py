"""Network access of one run: the hosts that its call and the user's settings name, and asking.

A call names hosts, or `packages` for the indexes that the user's own package managers use. Hosts
are asked about once a conversation, by name; what the user configured for all runs likewise. Where
an index has its files it is asked itself, as soon as it may be reached: these are further hosts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import BadInput, ConfigError, Unavailable
from toolcrib.core.tool import Decision
from toolcrib.execution.package_indexes import authority, file_hosts, origin, package_indexes
from toolcrib.execution.sandbox.terms import NetworkAccess
from toolcrib.net.egress.policy import HostRule
from toolcrib.net.egress.url import bracketed

PACKAGES = "packages"
MAX_HOSTS = 20
"""Hosts that one call may name: a person has to read them."""
MAX_INDEXES = 20
"""For which a run may ask at once, for the same reason."""
MAX_CALLS = 64
NO_HOSTS = ("", "auto", "ask", "never", "none", "no", "off", "false", "null", "default")
"""What small models write for no host at all, or for the values of another argument."""
ALL_HOSTS = ("true", "yes", "on", "1", "all", "any", "full", "enabled", "internet", "*")
"""What they write for all hosts, which no run can have."""
NO_INDEX = "No pip, npm, uv, cargo or go of this machine says where it gets packages from."
ONLINE = {
    "PIP_RETRIES": "1",
    "PIP_DEFAULT_TIMEOUT": "15",
    "npm_config_fetch_retries": "1",
    "npm_config_fetch_timeout": "30000",
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "CARGO_NET_RETRY": "1",
}
"""An index that does not answer is not waited for until the run's time is up."""
VIRTUAL_ENVIRONMENT = {"PIP_REQUIRE_VIRTUALENV": "1"}
"""Outside of the workspace nothing that is installed would last."""


class NetworkRequests:
    """A service: works out what a call's run may reach, once for its policy and for itself."""

    def __init__(self) -> None:
        # With the indexes that were asked where their files are.
        self._known: OrderedDict[str, tuple[NetworkAccess, tuple[str, ...]]] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is asked before a run wants it."""
        del services
        return cls()

    async def of(self, ctx: Ctx, wanted: Sequence[str] | None) -> NetworkAccess:
        """What the run of a call may reach: of what it names, what is allowed by now.

        Args:
            ctx: the call.
            wanted: what it names.

        Raises:
            BadInput: what is no host, or too many.
            Unavailable: no package manager is there.
        """
        access = await self.judged(ctx, wanted)
        hosts = [host for host in access.hosts if host in _open_hosts(ctx)]
        endpoints = tuple(url for url in access.endpoints if _is_open(ctx, url))
        hosts += map(authority, endpoints)
        return replace(access, hosts=tuple(dict.fromkeys(hosts)), endpoints=endpoints)

    async def judged(self, ctx: Ctx, wanted: Sequence[str] | None) -> NetworkAccess:
        """What the run of a call would reach beside its endpoints; errors as of `of`."""
        access, read = self._known.get(ctx.call_id) or (await _access(ctx, wanted or ()), ())
        fresh = [url for url in access.endpoints if url not in read and _is_open(ctx, url)]
        if fresh:
            hosts = (*access.hosts, *await file_hosts(ctx, fresh))
            access = replace(access, hosts=tuple(dict.fromkeys(hosts)))
        self._known[ctx.call_id] = access, (*read, *fresh)
        while len(self._known) > MAX_CALLS:
            self._known.popitem(last=False)
        return access


def _open_hosts(ctx: Ctx) -> set[str]:
    return {*ctx.config.run.network, *ctx.session.hosts}


def _is_open(ctx: Ctx, index: str) -> bool:
    """Whether an index may be asked: that opens its origin also where it is not public.

    A yes to a host of the web, whose addresses are public, says nothing of it.
    """
    return origin(index) in ctx.session.hosts or authority(index) in ctx.config.run.network


async def network_decision(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """Ask about hosts that this conversation was not let to yet; None where there are none."""
    wanted = arguments.get("network") or ()
    access = await ctx.use(NetworkRequests).judged(ctx, wanted)
    missing = [host for host in access.hosts if host not in ctx.session.hosts]
    indexes = [url for url in access.endpoints if origin(url) not in ctx.session.hosts]
    named = list(dict.fromkeys([*missing, *map(authority, indexes)]))
    if not named:
        return None
    own = set(ctx.config.run.network)
    # What a model asks for is more than any rule for the tool has allowed.
    explicit = any(host not in own for host in named)
    # A host alone does not tell what it is sent: settings can have been written by a run.
    preview = "\n".join(f"get packages from {url}" for url in indexes)
    reason = f"it may reach {', '.join(named)}"
    return Decision(
        "ask", reason, explicit, (*missing, *dict.fromkeys(map(origin, indexes))), preview=preview
    )


async def _access(ctx: Ctx, wanted: Sequence[str]) -> NetworkAccess:
    hosts = list(ctx.config.run.network)
    named = [word.strip() for word in wanted if word.strip().lower() not in NO_HOSTS]
    if vague := [word for word in named if word.lower() in ALL_HOSTS]:
        raise BadInput(
            f"network takes the names of hosts, not '{vague[0]}': a run never reaches all.",
            hint='Name hosts, as network=["example.com"], or network=["packages"] to install some.',
        )
    hosts += [_checked(host) for host in named if host.lower() != PACKAGES]
    if len(named) > MAX_HOSTS:
        raise BadInput(f"At most {MAX_HOSTS} hosts for one run, not {len(named):,}.")
    if all(host.lower() != PACKAGES for host in named):
        return NetworkAccess(tuple(dict.fromkeys(hosts)), environment=ONLINE if hosts else {})
    indexes = await package_indexes(ctx)
    if not indexes.urls:
        raise Unavailable(NO_INDEX, hint="Name the hosts in 'network'.")
    if len(indexes.urls) > MAX_INDEXES:
        raise Unavailable(
            f"{len(indexes.urls):,} package indexes are set, more than {MAX_INDEXES}: "
            f"{indexes.urls[0]} …",
            hint="Look at the settings of pip and npm (~/.npmrc), or name the hosts in 'network'.",
        )
    return NetworkAccess(
        tuple(dict.fromkeys(hosts)),
        endpoints=indexes.urls,
        environment={**ONLINE, **VIRTUAL_ENVIRONMENT, **indexes.environment},
        notes=indexes.notes,
    )


def _checked(host: str) -> str:
    """A host as a person is shown it, and as the guard takes it."""
    try:
        rule = HostRule.parse(host.lower())
    except ConfigError:
        raise BadInput(
            f"'{host[:100]}' is no host.",
            hint='Forms: host, host:port, *.suffix, or "packages"; no scheme and no path.',
        ) from None
    return rule.host if rule.port is None else f"{bracketed(rule.host)}:{rule.port}"
