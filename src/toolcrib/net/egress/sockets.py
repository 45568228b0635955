"""Plain sockets to servers that the user configured, for protocols other than HTTP."""

from __future__ import annotations

import asyncio
import errno
import socket

from toolcrib.core.errors import ConnectionFailed, TimedOut, Unavailable
from toolcrib.net.egress.addresses import plain
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.transport import failure
from toolcrib.net.egress.url import bracketed, parse_url


async def open_socket(
    egress: Egress, host: str, port: int, component: str, seconds: float
) -> socket.socket:
    """A blocking socket that is connected to a host and port of the configuration.

    Args:
        egress: the guard; the host and port are open as an endpoint of the user's.
        host: a name or an address.
        port: it.
        component: the branch of the configuration that names them.
        seconds: to wait for each address.

    Raises:
        Blocked: the policy refuses it.
        DnsFailure, ConnectionFailed, TimedOut: it cannot be reached.
        Unavailable: a proxy is configured, which carries HTTP alone.
    """
    endpoint = f"http://{bracketed(host)}:{port}"
    policy = egress.policy(component, (endpoint,))
    target = parse_url(endpoint)
    policy.check(target)
    addresses = await egress.addresses(target, policy)
    if not addresses:
        raise Unavailable(
            "Database servers are not reached through egress.proxy.",
            hint="Tell the user; a server in the own network needs no proxy.",
        )
    reason = "unreachable"
    for address in addresses:
        family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            await _connect(opened, (str(plain(address)), target.port), seconds)
        except TimeoutError:
            reason = "connect_timeout"
        except OSError as error:
            reason = "refused" if error.errno == errno.ECONNREFUSED else "unreachable"
        else:
            return opened
        opened.close()
    raise failure(reason, target)


async def open_local_socket(path: str, seconds: float) -> socket.socket:
    """A blocking socket that is connected to one of this machine, by its path.

    Raises:
        ConnectionFailed, TimedOut: nobody answers there.
        Unavailable: this system has no such sockets.
    """
    family = getattr(socket, "AF_UNIX", None)
    if family is None:
        raise Unavailable("This system has no local sockets.", hint="Configure host and port.")
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        await _connect(opened, path, seconds)
    except TimeoutError:
        opened.close()
        raise TimedOut(f"The socket {path} does not answer.") from None
    except OSError as error:
        opened.close()
        raise ConnectionFailed(
            f"The socket {path} cannot be used: {error.strerror}.", hint="Is the server running?"
        ) from None
    return opened


async def _connect(opened: socket.socket, address: tuple[str, int] | str, seconds: float) -> None:
    opened.setblocking(False)
    async with asyncio.timeout(seconds):
        await asyncio.get_running_loop().sock_connect(opened, address)
    opened.setblocking(True)
