"""Guarded fetch against raw aiohttp: a 50 KB page, 16 at once, plain and over TLS.

    python bench/fetch.py [--rounds 7] [--requests 800]

The server runs in a process of its own. The rounds of all clients are interleaved;
each figure is the median of its rounds, each ratio the median of the round's ratios.
TLS is verified against an authority made for the run, by every client.
"""

from __future__ import annotations

import argparse
import asyncio
import ssl
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp
from web_server import HOST, PAGE_BYTES, Pages, pages

from toolcrib.core.config import Config
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.guard_proxy import GuardProxy

AT_ONCE = 16
AIMS = {"plain": 0.9, "TLS": 0.8}
Fetch = Callable[[str], Awaitable[int]]


def guarded(transport: str, ca_file: str) -> Egress:
    """The service as a user has it, with the bench's server opened."""
    settings = {"allow_networks": [f"{HOST}/32"], "ca_file": ca_file, "transport": transport}
    return Egress(Config.load({"egress": settings}))


async def rate(fetch: Fetch, url: str, requests: int) -> float:
    """Requests a second, `AT_ONCE` in flight."""
    numbers = iter(range(requests))

    async def worker() -> None:
        for _ in numbers:
            if await fetch(url) != PAGE_BYTES:
                raise RuntimeError("a page came back with another size")

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return requests / (time.perf_counter() - started)


async def compare(clients: dict[str, Fetch], url: str, rounds: int, requests: int, aim: float):
    for fetch in clients.values():
        await rate(fetch, url, AT_ONCE * 4)
    rates: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(rounds):
        for name, fetch in clients.items():
            rates[name].append(await rate(fetch, url, requests))
    raw = next(iter(rates.values()))
    for name, values in rates.items():
        ratio = statistics.median(value / base for value, base in zip(values, raw, strict=True))
        verdict = f"aim >= {aim}: {'met' if ratio >= aim else 'NOT met'}" if "wreq" in name else ""
        print(f"  {name:28} {statistics.median(values):7.0f} /s  {ratio:5.2f}x  {verdict}")


async def run(where: Pages, rounds: int, requests: int) -> None:
    context = ssl.create_default_context(cafile=where.ca_file)
    services = {name: guarded(name, where.ca_file) for name in ("wreq", "aiohttp")}
    guard = GuardProxy(services["wreq"], Config().egress)
    lease = await guard.lease()
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def raw(url: str) -> int:
            async with session.get(url) as answer:
                return len(await answer.read())

        def through(egress: Egress) -> Fetch:
            async def fetch(url: str) -> int:
                return len((await egress.fetch(url)).body)

            return fetch

        async def proxied(url: str) -> int:
            async with session.get(url, proxy=lease.http_url) as answer:
                return len(await answer.read())

        clients = {"aiohttp, raw": raw, "aiohttp by the guard proxy": proxied}
        clients |= {f"guarded, {name}": through(egress) for name, egress in services.items()}
        print(f"server: {where.kind}; {rounds} rounds of {requests}, {AT_ONCE} at once")
        for name, url in (("plain", where.plain), ("TLS", where.tls)):
            print(f"{name}:")
            await compare(clients, url, rounds, requests, AIMS[name])
    for service in (guard, *services.values()):
        await service.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=800)
    options = parser.parse_args()
    with pages() as where:
        asyncio.run(run(where, options.rounds, options.requests))


if __name__ == "__main__":
    main()
