"""`GuardProxy`: a local proxy that puts other programs under the same policy.

A browser, a renderer or a sandboxed program is given its address and one-time
credentials. Each connection it asks for is resolved and judged here, and only the
judged addresses are connected to. One port speaks HTTP (CONNECT and plain) and
SOCKS5, since Chromium knows no SOCKS password and other programs know nothing else.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from toolcrib.core.errors import Blocked, Busy
from toolcrib.core.services import Services
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_connection import ClientEnd
from toolcrib.net.egress.guard_dial import connect, connect_by_proxy
from toolcrib.net.egress.guard_relay import Pipe
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.url import Target

MAX_REFUSALS = 100
MAX_CONNECTIONS = 512


class Lease:
    """One program's way out: credentials, a policy, and what was refused to it.

    Ends with `close` or with the `with` block: its connections are then cut and its
    credentials are worth nothing.
    """

    def __init__(self, proxy: GuardProxy, policy: EgressPolicy) -> None:
        self._proxy = proxy
        self.policy = policy
        self.username = secrets.token_hex(8)
        self.password = secrets.token_hex(16)
        self.ends: set[ClientEnd] = set()
        self._refusals: deque[Blocked] = deque(maxlen=MAX_REFUSALS)

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return self._proxy.port

    @property
    def server(self) -> str:
        """The proxy without credentials, for programs that are given those apart."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def http_url(self) -> str:
        """The proxy as `HTTPS_PROXY` takes it."""
        return f"http://{self.username}:{self.password}@127.0.0.1:{self.port}"

    @property
    def socks_url(self) -> str:
        """The proxy for SOCKS5 clients, which must leave names to it."""
        return f"socks5h://{self.username}:{self.password}@127.0.0.1:{self.port}"

    @property
    def refusals(self) -> tuple[Blocked, ...]:
        """What was refused, oldest first; a tool can raise one of these."""
        return tuple(self._refusals)

    def refused(self, error: Blocked) -> None:
        """Note a refusal."""
        self._refusals.append(error)

    def close(self) -> None:
        """Cut its connections and forget its credentials."""
        self._proxy.forget(self)
        for end in list(self.ends):
            end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GuardProxy:
    """The proxy server: started with the first lease, on a free port of 127.0.0.1.

    Args:
        egress: where policy and resolver come from.
        config: time limits and the upstream proxy.
    """

    def __init__(self, egress: Egress, config: EgressConfig) -> None:
        self._egress = egress
        self._config = config
        self._leases: dict[str, Lease] = {}
        self._server: asyncio.Server | None = None
        self._unix: dict[str, asyncio.Server] = {}
        self._starting = asyncio.Lock()
        self.port = 0

    @classmethod
    def open(cls, services: Services) -> Self:
        """The service of a toolbox."""
        return cls(services.use(Egress), services.config.egress)

    async def lease(self, component: str = "", *, endpoints: Sequence[str] = ()) -> Lease:
        """Open a way out for one program.

        Args:
            component: its branch of the configuration, as for `Egress.policy`.
            endpoints: configured URLs whose hosts and ports are open to it.
        """
        async with self._starting:
            if self._server is None:
                loop = asyncio.get_running_loop()
                self._server = await loop.create_server(self._client, "127.0.0.1", 0)
                self.port = self._server.sockets[0].getsockname()[1]
        lease = Lease(self, self._egress.policy(component, endpoints))
        self._leases[lease.username] = lease
        return lease

    async def listen_unix(self, path: str) -> None:
        """Answer on a unix socket too, for a sandbox without network; only its owner may connect.

        Raises:
            OSError: the path cannot be bound.
        """
        listener = _bound_unix(path)
        loop = asyncio.get_running_loop()
        self._unix[path] = await loop.create_unix_server(self._client, sock=listener)

    async def close_unix(self, path: str) -> None:
        """Stop answering on a unix socket; its file goes with the folder it was put in."""
        server = self._unix.pop(path, None)
        if server is not None:
            server.close()

    def forget(self, lease: Lease) -> None:
        """Make a lease's credentials worthless."""
        self._leases.pop(lease.username, None)

    async def close(self) -> None:
        """End every lease and stop listening."""
        for lease in list(self._leases.values()):
            lease.close()
        for path in list(self._unix):
            await self.close_unix(path)
        if self._server is not None:
            self._server.close()
            self._server = None

    def _client(self) -> ClientEnd:
        return ClientEnd(self._login, self._dial)

    def _login(self, username: str, password: str) -> Lease | None:
        lease = self._leases.get(username)
        expected = lease.password if lease else secrets.token_hex(16)
        matches = hmac.compare_digest(expected.encode(), password.encode())
        return lease if matches else None

    async def _dial(self, lease: Lease, target: Target, pipe: Pipe) -> None:
        if sum(len(each.ends) for each in self._leases.values()) > MAX_CONNECTIONS:
            raise Busy("Too many connections through the proxy.")
        seconds = self._config.connect_timeout
        addresses = await self._egress.addresses(target, lease.policy)
        if self._config.proxy:
            await connect_by_proxy(pipe, target, self._config.proxy, seconds)
        else:
            await connect(pipe, target, addresses, seconds)


def _bound_unix(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        Path(path).chmod(0o600)  # before it listens: nobody can have connected
    except OSError:
        listener.close()
        raise
    return listener
