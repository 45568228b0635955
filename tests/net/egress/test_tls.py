"""TLS with a real authority, made for the test."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers.authority import Authority
from tests.servers.wire import Requested, WireServer, reply
from toolcrib.core.errors import Blocked, ConfigError, TlsFailure
from toolcrib.net.egress.client import Egress

Make = Callable[..., Egress]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def test_trusts_the_configured_authority(make_egress: Make, authority: Authority) -> None:
    egress = make_egress(ca_file=str(authority.ca_file))
    context = authority.context("public.test", "127.0.0.2")
    async with WireServer({"/": reply(b"secure")}, context=context) as server:
        assert (await egress.fetch(server.url("/", "public.test"))).body == b"secure"
        assert (await egress.fetch(server.url())).body == b"secure"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the transport brings its own")
async def test_trusts_what_the_system_trusts(
    make_egress: Make, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the authority of a company, beside those of the web."""
    usual = ssl.get_default_verify_paths().cafile
    bundle = tmp_path / "bundle.pem"
    bundle.write_text((Path(usual).read_text() if usual else "") + authority.ca_file.read_text())
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    context = authority.context("public.test")
    async with WireServer({"/": reply(b"secure")}, context=context) as server:
        assert (await make_egress().fetch(server.url("/", "public.test"))).body == b"secure"


@pytest.mark.rows("A40")
async def test_refuses_an_unknown_authority(make_egress: Make, authority: Authority) -> None:
    async with WireServer({"/": reply(b"x")}, context=authority.context("public.test")) as server:
        with pytest.raises(TlsFailure) as caught:
            await make_egress().fetch(server.url("/", "public.test"))
        assert caught.value.details["retryable"] is False
        assert "plain HTTP" not in caught.value.hint
        assert not server.requested


async def test_refuses_a_certificate_of_another_name(
    make_egress: Make, authority: Authority
) -> None:
    egress = make_egress(ca_file=str(authority.ca_file))
    async with WireServer({"/": reply(b"x")}, context=authority.context("public.test")) as server:
        with pytest.raises(TlsFailure):
            await egress.fetch(server.url("/", "other.test"))
        assert not server.requested


async def test_plain_http_where_tls_is_asked(make_egress: Make) -> None:
    async def plain(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"x"))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(TlsFailure) as caught:
        await make_egress().fetch(f"https://127.0.0.2:{port}/")
    assert "the same URL with http://" in caught.value.hint
    server.close()


async def test_redirects_to_http_are_refused(make_egress: Make, authority: Authority) -> None:
    ca_file = str(authority.ca_file)
    context = authority.context("127.0.0.2")
    async with WireServer({"/": reply(b"plain")}) as plain:
        answers = {"/": reply(status="302 Found", Location=plain.url())}
        async with WireServer(answers, context=context) as secure:
            with pytest.raises(Blocked) as caught:
                await make_egress(ca_file=ca_file).fetch(secure.url())
            assert caught.value.stable_code == "blocked_scheme"
            assert not plain.requested
            lax = make_egress(ca_file=ca_file, allow_downgrade=True)
            assert (await lax.fetch(secure.url())).body == b"plain"


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_broken_ca_file(make_egress: Make, tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "broken.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        await make_egress(ca_file=str(file)).fetch("https://127.0.0.2:8009/x", timeout=5)
    assert "egress.ca_file" in caught.value.message
