"""`check_port`: whether something listens on a port, here or elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ConnectionFailed, TimedOut
from toolcrib.core.result import Result
from toolcrib.core.tool import NET, READ, Decision, Param, Right, Seconds, tool
from toolcrib.execution.jobs import Jobs
from toolcrib.net.egress.probe import probe
from toolcrib.net.egress.url import Target, bracketed, parse_url
from toolcrib.system.machine import Listener, listeners
from toolcrib.system.threads import in_thread

HERE = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0", "::"})  # noqa: S104


def _narrowed(given: Mapping[str, Any]) -> Right:
    return READ if _is_here(given["host"]) else NET


def _is_here(host: str) -> bool:
    name = host.strip().lower().rstrip(".")
    return name in HERE or name == platform.node().lower()


async def _opened(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """A name that is looked up can carry something out, as an address can that is opened."""
    del ctx
    if _is_here(arguments["host"]):
        return None
    url = _target(arguments["host"], arguments["port"]).href
    return Decision("allow", "it looks up a name", urls=(url,))


def _target(host: str, port: int) -> Target:
    plain = host.strip().strip("[]")
    if not plain or any(sign in plain for sign in "/@?#\\ "):
        raise BadInput(f"'{host[:60]}' is no host.", hint="Write the name or the address alone.")
    return parse_url(f"https://{bracketed(plain)}:{port}/")


@tool(
    group="system",
    rights=READ | NET,
    keywords=("port open", "listening", "netstat", "lsof", "in use", "reachable", "telnet"),
    aliases=("port_check", "is_port_open"),
    argument_aliases={"hostname": "host", "address": "host"},
    effective_rights=_narrowed,
    policy_check=_opened,
)
async def check_port(
    port: Annotated[int, Param("Of TCP.", minimum=1, maximum=65_535, plain=True)],
    host: Annotated[str, Param("Name or address.", plain=True)] = "localhost",
    timeout: Annotated[Seconds, Param("Seconds.", maximum=30, plain=True)] = 5,  # noqa: ASYNC109 - of the connection
    *,
    ctx: Ctx,
) -> Result:
    """Tell whether a TCP port is open, and which program has it here.

    For this machine it reads the list of listeners and connects to nothing; for other hosts
    it makes one connection through the guard, and sends nothing.
    """
    if _is_here(host):
        found = await in_thread(lambda _: [x for x in listeners() if x.port == port], ctx.deadline)
        result = _here(port, host.strip().strip("[]"), found)
        return result if found else replace(result, text=f"{result.text}{await _runs(port, ctx)}")
    target = _target(host, port)
    if ctx.check_url is not None:
        ctx.check_url(target.href, own=True)
    data: dict[str, Any] = {"host": target.host, "port": port}
    try:
        await probe(ctx, target, ctx.remaining(timeout or 5.0))
        state, text = "open", "open: it takes connections"
    except TimedOut:
        state, text = "timed_out", "timed out: nothing answers, a firewall may drop it"
    except ConnectionFailed as error:
        refused = error.details.get("reason") == "refused"
        state = "closed" if refused else "unreachable"
        text = "closed: the connection is refused" if refused else f"unreachable: {error.message}"
    return Result(f"{target.authority} {text}", {**data, "state": state}, source=target.href)


async def _runs(port: int, ctx: Ctx) -> str:
    """Where a job of the conversation runs, of whose network this machine knows nothing."""
    jobs = [view.record for view in await ctx.use(Jobs).list(ctx.session.id)]
    running = [job.id for job in jobs if job.state == "running" and job.kind == "command"]
    if not running:
        return ""
    return (
        f" The job {running[0]} has a network of its own: a server in it is reached from outside "
        f"where run_command started it with ports=[{port}]."
    )


def _here(port: int, host: str, every: list[Listener]) -> Result:
    found = [one for one in every if _answers(one, host)]
    data = {
        "host": host or "localhost",
        "port": port,
        "state": "open" if found else "closed",
        "listeners": [{"address": one.address, "pid": one.pid, "name": one.name} for one in every],
    }
    if not every:
        return Result(f"Port {port} of this machine is closed: nothing listens on it.", data)
    lines = [f"Port {port} of this machine is open:"]
    if not found:
        lines = [f"Port {port} at {host} is closed; at other addresses of this machine it is open:"]
    for one in dict.fromkeys(every):
        owner = (
            f"{one.name or 'process'} (pid {one.pid})" if one.pid else "a program of another user"
        )
        reach = "this machine alone" if one.is_local else "others can connect"
        lines.append(f"{owner} at {bracketed(one.address)}:{port}, {reach}")
    return Result("\n".join(lines), data)


def _answers(listener: Listener, host: str) -> bool:
    """Whether a listener is reached by an address of this machine; by a name, any is."""
    if host in ("", "localhost"):
        return True
    is_dual = listener.address in ("::", "*")
    return is_dual or (":" in host) == (
        ":" in listener.address and not listener.address.startswith("::ffff:")
    )
