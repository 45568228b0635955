"""One connection to see whether something listens, through the guard and with nothing sent."""

from __future__ import annotations

import asyncio

from toolcrib.core.context import Ctx
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_tunnel import Pipe, connect, connect_by_proxy
from toolcrib.net.egress.transport import failure
from toolcrib.net.egress.url import Target


async def probe(ctx: Ctx, target: Target, seconds: float) -> None:
    """Connect to where the policy lets it, and close the connection.

    Raises:
        Blocked: the policy refuses the target or one of its addresses.
        DnsFailure: the name has no address.
        ConnectionFailed: refused or unreachable, as `details["reason"]` says.
        TimedOut: nobody answers.
    """
    egress, pipe = ctx.use(Egress), Pipe()
    policy = egress.policy()
    policy.check(target)
    try:
        async with asyncio.timeout(seconds):
            addresses = await egress.addresses(target, policy)
            if addresses:
                await connect(pipe, target, addresses, seconds)
            else:
                await connect_by_proxy(pipe, target, ctx.config.egress.proxy, seconds)
    except TimeoutError:
        raise failure("connect_timeout", target) from None
    finally:
        pipe.close()
