"""The network of a run that is given hosts: the guard proxy, and nothing beside it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from toolcrib.core.context import Services
from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox import landlock
from toolcrib.execution.sandbox.namespace_helper import NamespaceHelper
from toolcrib.execution.sandbox.terms import Level, NetworkAccess
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease
from toolcrib.net.egress.policy import OnlyHosts
from toolcrib.system.processes import Processes

PROXY_PORT = 3128
"""Where the proxy answers in a network of the run's own."""
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "CARGO_HTTP_PROXY")


@dataclass(slots=True)
class RunNetwork:
    """One run's connection to the guard proxy; closed with the run."""

    lease: Lease
    proxy: GuardProxy
    access: NetworkAccess
    processes: Processes
    level: Level
    _server: asyncio.Server | None = None

    def variables(self) -> dict[str, str]:
        """The environment variables by which programs find it."""
        url = self.lease.http_url
        if self.level == "strong":
            url = f"http://{self.lease.username}:{self.lease.password}@127.0.0.1:{PROXY_PORT}"
        variables = {name: url for upper in PROXY_VARIABLES for name in (upper, upper.lower())}
        # An index on this machine's loopback is not to be looked for in the run's own.
        opened = {host.partition(":")[0] for host in self.access.hosts}
        own = ",".join(host for host in ("localhost", "127.0.0.1") if host not in opened)
        return {**variables, "NO_PROXY": own, "no_proxy": own}

    async def enter(self, pidfd: int) -> None:
        """Let the proxy answer in the run's own network.

        Raises:
            Unavailable: this system does not let us.
        """
        sockets = await enter_network(self.processes, pidfd)
        try:
            self._server = await self.proxy.listen(await sockets.listening(PROXY_PORT), self.lease)
        finally:
            await sockets.close()

    def close(self) -> None:
        """Shut it; what goes through it is cut. A second time does nothing."""
        self.access.refused[:] = dict.fromkeys((*self.access.refused, *self.lease.refusals))
        self.lease.close()
        if self._server is not None:
            self._server.close()


async def enter_network(processes: Processes, pidfd: int) -> NamespaceHelper:
    """A helper in the network of a run.

    Raises:
        Unavailable: this system does not let us.
    """
    try:
        return await NamespaceHelper.open(processes, pidfd, "net")
    except OSError as error:
        raise Unavailable(
            f"The network of the run cannot be reached: {error.strerror or error}.",
            hint="Start it without 'ports' and 'network'.",
        ) from None


async def open_network(services: Services, access: NetworkAccess, level: Level) -> RunNetwork:
    """A network that reaches some hosts; the guard proxy is opened with the first one.

    Raises:
        Unavailable: this kernel cannot keep a run to one port.
        ConfigError: a host that is none.
    """
    if level == "kernel" and landlock.version() < landlock.MIN_PORTS:
        raise Unavailable(
            "This run cannot have a network: the kernel cannot keep it to the guard.",
            hint="It needs Linux 6.7, or the sandbox level strong; see `toolcrib doctor`.",
        )
    opened = services.use(Egress).policy(endpoints=access.endpoints)
    policy = OnlyHosts.within(opened, access.hosts)
    proxy = services.use(GuardProxy)
    lease = await proxy.lease()
    lease.policy = policy
    return RunNetwork(lease, proxy, access, services.use(Processes), level)
