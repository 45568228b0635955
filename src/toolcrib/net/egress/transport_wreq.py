"""wreq: looks to servers like Chrome (TLS, HTTP/2, header order), and pins addresses."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.addresses import IPAddress, plain
from toolcrib.net.egress.transport import (
    MAX_CLIENTS,
    Request,
    certificates,
    failure,
    system_authorities,
)
from toolcrib.net.egress.url import Headers, Target

if TYPE_CHECKING:
    import wreq

ClientKey = tuple[str, tuple[IPAddress, ...]]


def newest_profile(browser: str = "chrome") -> Any:
    """The youngest version of a browser ("firefox") that this wreq can look like."""
    from wreq import Profile

    named = (
        re.fullmatch(rf"{browser}(\d+(?:_\d+)*)", name, re.IGNORECASE) for name in dir(Profile)
    )
    found = [match for match in named if match]
    newest = max(found, key=lambda match: [int(part) for part in match[1].split("_")])
    return getattr(Profile, newest.string)


class WreqTransport:
    """One client per host and set of addresses, the least used ones dropped.

    A client's pool therefore holds connections to those addresses only.
    """

    def __init__(self, config: EgressConfig) -> None:
        self._config = config
        self._clients: OrderedDict[ClientKey, wreq.Client] = OrderedDict()
        self._options: dict[str, Any] | None = None

    async def send(self, request: Request) -> WreqResponse:
        """Send one request and wait for the headers."""
        import wreq

        target = request.target
        options: dict[str, Any] = {}
        if request.headers:
            options["headers"] = dict(request.headers)
        if request.body is not None:
            options["body"] = request.body
        client = self._client(target.host, request.addresses)
        try:
            method = getattr(wreq.Method, request.method)
            return WreqResponse(await client.request(method, target.href, **options), target)
        except Exception as error:
            raise _translated(error, target) from error

    def _client(self, host: str, addresses: tuple[IPAddress, ...]) -> wreq.Client:
        key = (host, addresses)
        client = self._clients.get(key)
        if client is None:
            client = self._clients[key] = self._new_client(host, addresses)
            if len(self._clients) > MAX_CLIENTS:
                # Not closed: that would cancel its running requests. The last of
                # them lets it go.
                self._clients.popitem(last=False)
        else:
            self._clients.move_to_end(key)
        return client

    def _new_client(self, host: str, addresses: tuple[IPAddress, ...]) -> wreq.Client:
        import wreq

        if self._options is None:
            self._options = self._shared_options()
        if self._config.proxy and not addresses:
            return wreq.Client(proxies=[wreq.Proxy.all(self._config.proxy)], **self._options)
        dns = wreq.DnsOptions(system_dns=True)
        dns.add_resolve(host, list(addresses))
        return wreq.Client(no_proxy=True, dns_options=dns, **self._options)

    def _shared_options(self) -> dict[str, Any]:
        import wreq

        config = self._config
        options: dict[str, Any] = {
            "emulation": newest_profile(config.browser),
            "redirect": wreq.redirect.Policy.none(),
            "referer": False,
            "connect_timeout": timedelta(seconds=config.connect_timeout),
            "pool_idle_timeout": timedelta(seconds=30),
            "pool_max_idle_per_host": 16,
            "http1_options": wreq.Http1Options(
                max_buf_size=max(config.max_header_bytes, 16_384), max_headers=512
            ),
        }
        options |= dict.fromkeys(("gzip", "brotli", "deflate", "zstd"), False)
        # Its own store is that of browsers, in which no authority of a company is.
        known = system_authorities()
        trusted = [*known, *certificates(config.ca_file)]
        if trusted:
            options["tls_verify"] = wreq.CertStore(der_certs=trusted, default_paths=not known)
        return options

    async def close(self) -> None:
        """Cancel what is running and close every connection."""
        while self._clients:
            self._clients.popitem()[1].close()


class WreqResponse:
    """An answer of wreq, its body as it came over the wire."""

    __slots__ = ("_open", "_raw", "_target", "headers", "http_version", "length", "peer", "status")

    def __init__(self, raw: wreq.Response, target: Target) -> None:
        self._raw = raw
        self._open = True
        self._target = target
        self.status = raw.status.as_int()
        self.headers = Headers([(_text(name), _text(value)) for name, value in raw.headers])
        self.http_version = _VERSIONS.get(str(raw.version), "1.1")
        address = raw.remote_addr
        self.peer = None if address is None else plain(address.ip())
        self.length = None if "transfer-encoding" in self.headers else raw.content_length

    async def read(self) -> bytes:
        """The whole body."""
        try:
            body = bytes(await self._raw.bytes())
        except Exception as error:
            raise _translated(error, self._target) from error
        self._open = False
        return body

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes."""
        async with self._raw.stream() as stream:
            chunks = aiter(stream)
            while True:
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    self._open = False
                    return
                except Exception as error:
                    raise _translated(error, self._target) from error
                if isinstance(chunk, memoryview):  # else it is a map of trailers
                    yield bytes(chunk)

    async def close(self) -> None:
        """Discard what was not read; a connection read to its end is kept."""
        if self._open:
            self._open = False
            await self._raw.close()


_VERSIONS = {
    "Version.HTTP_09": "0.9",
    "Version.HTTP_10": "1.0",
    "Version.HTTP_11": "1.1",
    "Version.HTTP_2": "2",
    "Version.HTTP_3": "3",
}

# wreq has few exception classes; the Rust cause in the text tells more. First match wins.
_CAUSES = (
    (re.compile(r"dns error|DnsError"), "dns"),
    (re.compile(r"[Pp]roxy(?:Connect| connect| error)|socks", re.IGNORECASE), "proxy"),
    (re.compile(r"Parse\(TooLarge\)|header list too large"), "headers"),
    (re.compile(r"ConnectionRefused"), "refused"),
    (re.compile(r"Unreachable"), "unreachable"),
    (re.compile(r"[Cc]ert|[Tt]ls|TLS|[Ss]sl|SSL|[Hh]andshake"), "tls"),
    (re.compile(r"IncompleteMessage|IncompleteBody|UnexpectedEof|BrokenPipe"), "closed_early"),
    (re.compile(r"ConnectionReset|ConnectionAborted"), "reset"),
    (re.compile(r"Parse\(|[Cc]hunk|PROTOCOL_ERROR|FRAME_SIZE|COMPRESSION_ERROR"), "malformed"),
)


def _translated(error: Exception, target: Target) -> ToolError:
    import wreq

    text = str(error)
    connecting = isinstance(error, wreq.exceptions.ConnectionError)
    if isinstance(error, wreq.exceptions.BuilderError):
        return BadInput(f"The request to {target.host} cannot be built.")
    if isinstance(error, wreq.exceptions.TimeoutError) or re.search(r"TimedOut|Elapsed", text):
        return failure("connect_timeout" if connecting else "timeout", target)
    if isinstance(error, wreq.exceptions.ProxyConnectionError):
        return failure("proxy", target)
    for pattern, reason in _CAUSES:
        found = pattern.search(text)
        if found:
            return failure(reason, target, _tls_cause(text) if reason == "tls" else "")
    return failure("connect" if connecting else "reset", target)


def _tls_cause(text: str) -> str:
    found = re.search(r"CERTIFICATE_VERIFY_FAILED[^\"]*|certificate verify failed: [^\"]*", text)
    if found:
        return found[0].split(":", 1)[-1].strip(" )]}")
    return "certificate not trusted" if "ertificate" in text else ""


def _text(value: memoryview) -> str:
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        return str(value, "latin-1")
