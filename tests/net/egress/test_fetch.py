"""`Egress.fetch` against real servers, the same for every transport."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Callable

import pytest

from tests.cases import each_case
from tests.conditions import until
from tests.net.egress.samples import PACKED, context
from tests.servers.wire import Requested, WireServer, reply
from toolcrib.core.errors import (
    BadInput,
    Blocked,
    ConnectionFailed,
    DnsFailure,
    TimedOut,
    TooLarge,
    TooManyRedirects,
    UnsupportedContent,
)
from toolcrib.net.egress.client import Egress

Make = Callable[..., Egress]


async def test_gives_the_answer_whole(egress: Egress, public: WireServer) -> None:
    public.answers["/x?a=%26"] = reply(
        b"body \xff",
        "418 I'm a teapot",
        Content_Type="Text/HTML; charset=ISO-8859-1",
        Set_Cookie="a=1",
    )
    answer = await egress.fetch(public.url("/x?a=%26#part"))
    assert answer.status == 418
    assert answer.body == b"body \xff"
    assert answer.url == public.url("/x?a=%26#part")
    assert (answer.media_type, answer.charset) == ("text/html", "iso-8859-1")
    assert answer.headers.get("Set-Cookie") == "a=1"
    assert (answer.redirects, answer.truncated, answer.http_version) == ((), False, "1.1")
    assert answer.wire_bytes == 6
    assert answer.elapsed > 0


@each_case(
    "path",
    [
        "/a%2Fb%2fc%41%7E",
        "/?q=%26%3D%23%2B+%20&r=",
        "/%C3%BC?%C3%BC=%FF",
        "/~u/;p=1/@a:b,c!$()*+=&",
        "/?a[]=1|2&b={x}&c=^",
        "/a//b/",
    ],
)
async def test_asks_for_exactly_that_path(egress: Egress, public: WireServer, path: str) -> None:
    await egress.fetch(public.url(path))
    assert public.requested[-1].path == path


async def test_sends_method_headers_and_body(egress: Egress, public: WireServer) -> None:
    await egress.fetch(
        public.url(), method="post", headers={"X-Own": "1", "User-Agent": "me"}, body=b"{}"
    )
    requested = public.requested[-1]
    assert (requested.method, requested.body) == ("POST", b"{}")
    assert (requested.headers["x-own"], requested.headers["user-agent"]) == ("1", "me")
    assert requested.headers["host"] == f"127.0.0.2:{public.port}"


@pytest.mark.rows("A35")
@each_case(("browser", "sign"), [("firefox", "Firefox/"), ("safari", "Version/"), ("edge", "Edg/")])
async def test_the_browser_to_look_like(
    make_egress: Make, public: WireServer, browser: str, sign: str
) -> None:
    await make_egress(browser=browser, transport="wreq").fetch(public.url())
    assert sign in public.requested[-1].headers["user-agent"]


@pytest.mark.rows("B30")
async def test_user_agent(make_egress: Make, public: WireServer) -> None:
    await make_egress().fetch(public.url())
    assert "Mozilla/5.0" in public.requested[-1].headers["user-agent"]
    await make_egress(user_agent="mine/1").fetch(public.url())
    assert public.requested[-1].headers["user-agent"] == "mine/1"
    await make_egress(user_agent="mine/1").fetch(public.url(), headers={"User-Agent": "yours"})
    assert public.requested[-1].headers["user-agent"] == "yours"


async def test_configured_headers_go_to_pages_only(make_egress: Make, public: WireServer) -> None:
    egress = make_egress(headers={"X-Mine": "1"})
    await egress.fetch(public.url(), component="web.fetch")
    assert public.requested[-1].headers["x-mine"] == "1"
    await egress.fetch(public.url())
    assert "x-mine" not in public.requested[-1].headers


async def test_head_and_empty_answers(egress: Egress, public: WireServer) -> None:
    public.answers |= {
        "/head": reply(b"", length=False, Content_Length="5000"),
        "/204": reply(status="204 No Content", length=False),
        "/304": reply(status="304 Not Modified", length=False, Location="http://127.0.0.1/"),
        "/300": reply(b"pick", "300 Multiple Choices", Location="http://127.0.0.1/"),
    }
    assert (await egress.fetch(public.url("/head"), method="HEAD")).body == b""
    assert (await egress.fetch(public.url("/204"))).status == 204
    assert (await egress.fetch(public.url("/304"))).status == 304
    assert (await egress.fetch(public.url("/300"))).body == b"pick"


@each_case("method", ["CONNECT", "TRACE", "GET /x", "", "GÉT"])
async def test_refuses_other_methods(egress: Egress, public: WireServer, method: str) -> None:
    with pytest.raises(BadInput):
        await egress.fetch(public.url(), method=method)


async def test_connections_are_used_again(egress: Egress, public: WireServer) -> None:
    for _ in range(5):
        await egress.fetch(public.url())
    assert len(public.requested) == 5
    assert public.connections == 1


async def test_a_body_until_the_end_of_the_connection(egress: Egress, public: WireServer) -> None:
    async def close(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"until the end", length=False))
        await writer.drain()

    public.answers["/"] = close
    assert (await egress.fetch(public.url())).body == b"until the end"


# --- addresses


@pytest.mark.rows("A37", "E132", "X4", "X5")
@each_case(
    "host",
    ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "internal.test"],
)
async def test_the_inside_is_out_of_reach(egress: Egress, internal: WireServer, host: str) -> None:
    with pytest.raises(Blocked) as caught:
        await egress.fetch(internal.url("/", host))
    assert "Destination not allowed" in caught.value.message


async def test_names_go_to_the_checked_address_alone(
    egress: Egress, public: WireServer, names: dict[str, list[str]]
) -> None:
    answer = await egress.fetch(public.url("/", "public.test"))
    assert answer.body == b"public"
    assert public.requested[-1].headers["host"] == f"public.test:{public.port}"


async def test_a_name_that_turns_inside(
    egress: Egress, public: WireServer, internal: WireServer, names: dict[str, list[str]]
) -> None:
    egress.resolver._cache_seconds = 0
    await egress.fetch(public.url("/", "public.test"))
    names["public.test"] = ["127.0.0.1"]
    with pytest.raises(Blocked):
        await egress.fetch(public.url("/", "public.test"))
    names["public.test"] = ["127.0.0.2", "127.0.0.1"]
    with pytest.raises(Blocked):
        await egress.fetch(public.url("/", "public.test"))


async def test_a_pooled_connection_serves_its_own_address_only(
    make_egress: Make, names: dict[str, list[str]]
) -> None:
    # One component may reach the inside by this name; what it leaves in the pool must
    # not serve another, for which the same name means an address outside.
    async with (
        WireServer({"/": reply(b"SECRET")}, host="127.0.0.1") as inside,
        WireServer({"/": reply(b"public")}, port=inside.port) as outside,
    ):
        egress = make_egress({"web": {"fetch": {"allow_hosts": ["wiki.test"]}}})
        egress.resolver._cache_seconds = 0
        names["wiki.test"] = ["127.0.0.1"]
        first = await egress.fetch(outside.url("/", "wiki.test"), component="web.fetch")
        assert first.body == b"SECRET"
        with pytest.raises(Blocked):
            await egress.fetch(outside.url("/", "wiki.test"))
        names["wiki.test"] = ["127.0.0.2"]
        assert (await egress.fetch(outside.url("/", "wiki.test"))).body == b"public"


async def test_endpoints_open_their_origin_for_one_fetch(egress: Egress) -> None:
    async with WireServer({"/": reply(b"searx")}, host="127.0.0.1") as endpoint:
        answer = await egress.fetch(endpoint.url(), endpoints=[endpoint.url("/search")])
        assert answer.body == b"searx"
        with pytest.raises(Blocked):
            await egress.fetch(endpoint.url())


@pytest.mark.rows("D20")
async def test_a_component_may_reach_more(make_egress: Make) -> None:
    async with WireServer({"/": reply(b"inside")}, host="127.0.0.1") as inside:
        egress = make_egress({"web": {"fetch": {"allow_networks": ["127.0.0.1/32"]}}})
        assert (await egress.fetch(inside.url(), component="web.fetch")).body == b"inside"
        for component in ("", "web", "web.search", "http", "no.such.branch"):
            with pytest.raises(Blocked):
                await egress.fetch(inside.url(), component=component)


@pytest.mark.rows("D18", "A40")
async def test_a_name_that_does_not_resolve(egress: Egress) -> None:
    with pytest.raises(DnsFailure):
        await egress.fetch("http://nowhere.test/")


async def test_the_proxies_of_the_environment_are_ignored(
    make_egress: Make, public: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with WireServer(host="127.0.0.3") as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url())
            monkeypatch.setenv(name.lower(), proxy.url())
        assert (await make_egress().fetch(public.url())).body == b"public"
        assert proxy.connections == 0


async def test_the_configured_proxy_is_used(make_egress: Make, names: dict[str, list[str]]) -> None:
    async with WireServer(host="127.0.0.3") as proxy:
        proxy.answers["http://far.test/x"] = reply(b"by proxy")
        egress = make_egress(proxy=proxy.url(""))
        assert (await egress.fetch("http://far.test/x")).body == b"by proxy"
        with pytest.raises(Blocked):
            await egress.fetch("http://internal.test/")
        with pytest.raises(Blocked):
            await egress.fetch("http://127.1/")
        assert len(proxy.requested) == 1


# --- redirects


@pytest.mark.rows("A36", "D19")
async def test_follows_redirects_and_tells(egress: Egress, public: WireServer) -> None:
    public.answers |= {
        "/1": reply(status="301 Moved", Location="/2?q"),
        "/2?q": reply(b"ignored", "302 Found", Location=public.url("/3")),
        "/3": reply(b"there"),
    }
    answer = await egress.fetch(public.url("/1"))
    assert answer.body == b"there"
    assert answer.url == public.url("/3")
    assert [(r.source, r.target, r.status) for r in answer.redirects] == [
        (public.url("/1"), public.url("/2?q"), 301),
        (public.url("/2?q"), public.url("/3"), 302),
    ]


@pytest.mark.rows("A36", "A37", "D19", "X4", "X14")
@each_case("status", [301, 302, 303, 307, 308])
@each_case(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "//127.0.0.1:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.1:{port}/",
        "http://127.%30.0.1:{port}/",
        "http://\uff11\uff12\uff17.0.0.1:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://[::1]:{port}/",
        "http:\\\\127.0.0.1:{port}\\",
        "http://localhost:{port}/",
        "http://internal.test:{port}/",
        "http://user@127.0.0.1:{port}/",
        "http://169.254.169.254/latest/",
        "http://public.test:22/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "javascript:alert(1)",
    ],
)
async def test_every_hop_is_judged(
    egress: Egress, public: WireServer, internal: WireServer, location: str, status: int
) -> None:
    there = location.format(port=internal.port)
    public.answers["/"] = reply(status=f"{status} Moved", Location=there)
    with pytest.raises(Blocked):
        await egress.fetch(public.url())


@pytest.mark.rows("A36")
async def test_chains_end(make_egress: Make, public: WireServer) -> None:
    public.answers |= {
        f"/{n}": reply(status="302 Found", Location=f"/{n + 1}") for n in range(20)
    } | {
        "/a": reply(status="302 Found", Location="/b"),
        "/b": reply(status="302 Found", Location="/a"),
        "/none": reply(status="302 Found"),
    }
    with pytest.raises(TooManyRedirects) as caught:
        await make_egress(max_redirects=3).fetch(public.url("/0"))
    assert len(public.requested) == 4
    assert "3 redirects" in caught.value.message
    with pytest.raises(TooManyRedirects):
        await make_egress().fetch(public.url("/a"))
    assert len(public.requested) == 6
    for path in ("/none", "/0"):
        with pytest.raises(Exception, match="redirect"):
            await make_egress(max_redirects=0).fetch(public.url(path))


async def test_refresh_is_never_followed(
    egress: Egress, public: WireServer, internal: WireServer
) -> None:
    public.answers["/"] = reply(b"stay", Refresh=f"0; url={internal.url()}", Alt_Svc='h3=":443"')
    answer = await egress.fetch(public.url())
    assert (answer.body, answer.redirects) == (b"stay", ())


async def test_secrets_stay_with_their_origin(egress: Egress, public: WireServer) -> None:
    async with WireServer({"/": reply(b"other")}) as other:
        public.answers |= {
            "/same": reply(status="302 Found", Location="/"),
            "/other": reply(status="302 Found", Location=other.url()),
        }
        secret = {"Authorization": "Bearer s", "Cookie": "s=1", "X-Api-Key": "s", "Accept": "a/b"}
        await egress.fetch(public.url("/same"), headers=secret)
        assert public.requested[-1].headers["authorization"] == "Bearer s"
        await egress.fetch(public.url("/other"), headers=secret)
        sent = other.requested[-1].headers
        assert sent["accept"] == "a/b"
        assert not {"authorization", "cookie", "x-api-key"} & set(sent)


async def test_cookies_live_for_one_chain(egress: Egress, public: WireServer) -> None:
    async def gate(requested: Requested, writer: asyncio.StreamWriter) -> None:
        seen = requested.headers.get("cookie", "")
        again = reply(status="302 Found", Location="/gate", Set_Cookie="seen=1; Path=/")
        writer.write(reply(b"welcome") if seen == "seen=1" else again)
        await writer.drain()

    public.answers["/gate"] = gate
    assert (await egress.fetch(public.url("/gate"))).body == b"welcome"
    await egress.fetch(public.url("/"))
    assert "cookie" not in public.requested[-1].headers


# --- caps


def endless(chunk: bytes, head: bytes) -> Callable[[Requested, asyncio.StreamWriter], object]:
    async def write(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(chunk)
            await writer.drain()

    return write


HEAD = b"HTTP/1.1 200 OK\r\n"


async def test_an_endless_stream_stops_at_the_cap(make_egress: Make, public: WireServer) -> None:
    gone = asyncio.Event()

    async def stream(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
        except OSError:
            gone.set()

    public.answers["/"] = stream
    with pytest.raises(TooLarge) as caught:
        await make_egress(max_wire_bytes=300_000).fetch(public.url())
    assert caught.value.details["max_bytes"] == 300_000
    await asyncio.wait_for(gone.wait(), 20)


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "again"),
    [(CHUNKED, b"1\r\nx\r\n" * 2000), (CHUNKED + b"5;", b"extension" * 2000)],
)
async def test_framing_without_content_stops(
    make_egress: Make, transport: str, public: WireServer, head: bytes, again: bytes
) -> None:
    sent = 0
    gone = asyncio.Event()

    async def frames(requested: Requested, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(head)
        try:
            while True:
                writer.write(again)
                sent += len(again)
                await writer.drain()
        except OSError:
            gone.set()

    public.answers["/"] = frames
    # wreq refuses long extensions itself.
    with pytest.raises((TooLarge, ConnectionFailed)) as caught:
        await make_egress().fetch(public.url())
    assert transport == "wreq" or isinstance(caught.value, TooLarge)
    await asyncio.wait_for(gone.wait(), 20)
    assert sent < 20_000_000


@pytest.mark.parametrize("transport", ["aiohttp"], indirect=True)
@pytest.mark.parametrize(("count", "status"), [(10, 200), (11, 0)])
async def test_interim_answers_have_a_cap(
    egress: Egress, public: WireServer, count: int, status: int
) -> None:
    public.answers["/"] = INTERIM * count + reply(b"at last")
    public.answers["/again"] = INTERIM * 9 + reply(b"and again")
    if status:
        assert (await egress.fetch(public.url())).body == b"at last"
        assert (await egress.fetch(public.url("/again"))).body == b"and again"
        assert public.connections == 1
        return
    with pytest.raises(TooLarge):
        await egress.fetch(public.url())


async def test_a_large_body_in_small_chunks_comes_whole(egress: Egress, public: WireServer) -> None:
    async def chunks(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        for _ in range(50):
            writer.write((b"14\r\n" + b"y" * 20 + b"\r\n") * 1000)
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    public.answers["/"] = chunks
    assert (await egress.fetch(public.url())).body == b"y" * 1_000_000


async def test_a_length_above_the_cap_is_not_read(make_egress: Make, public: WireServer) -> None:
    public.answers["/"] = reply(b"x" * 100, length=False, Content_Length="999999999")
    with pytest.raises(TooLarge):
        await make_egress().fetch(public.url())


@each_case("length", [True, False])
async def test_the_cap_is_exact(make_egress: Make, public: WireServer, *, length: bool) -> None:
    async def answer(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"x" * 1000, length=length))
        await writer.drain()

    public.answers["/"] = answer
    egress = make_egress(max_wire_bytes=10, max_decoded_bytes=10)
    assert len((await egress.fetch(public.url(), max_bytes=1000)).body) == 1000
    with pytest.raises(TooLarge):
        await egress.fetch(public.url(), max_bytes=999)


@each_case("length", [True, False])
async def test_part_of_a_body_where_that_is_enough(
    make_egress: Make, public: WireServer, *, length: bool
) -> None:
    async def answer(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(bytes(range(250)) * 4, length=length))
        await writer.drain()

    public.answers["/"] = answer
    part = await make_egress().fetch(public.url(), max_bytes=300, allow_truncated=True)
    assert part.truncated
    assert part.body == (bytes(range(250)) * 4)[:300]
    whole = await make_egress().fetch(public.url(), max_bytes=1000, allow_truncated=True)
    assert (len(whole.body), whole.truncated) == (1000, False)


@each_case("coding", sorted(PACKED))
async def test_codings_are_undone(make_egress: Make, public: WireServer, coding: str) -> None:
    text = b"the same words again and again " * 2000
    public.answers["/"] = reply(PACKED[coding](text), Content_Encoding=coding)
    public.answers["/two"] = reply(
        gzip.compress(PACKED[coding](text)), Content_Encoding=f"{coding}, gzip"
    )
    egress = make_egress(max_ratio=100_000)
    answer = await egress.fetch(public.url())
    assert answer.body == text
    assert answer.wire_bytes < len(text)
    assert (await egress.fetch(public.url("/two"))).body == text
    assert coding in public.requested[0].headers["accept-encoding"]


@each_case("coding", sorted(PACKED))
async def test_a_bomb_stops_at_the_cap(make_egress: Make, public: WireServer, coding: str) -> None:
    public.answers["/"] = reply(PACKED[coding](bytes(30_000_000)), Content_Encoding=coding)
    egress = make_egress(max_decoded_bytes=500_000)
    with pytest.raises(TooLarge):
        await egress.fetch(public.url())
    part = await egress.fetch(public.url(), allow_truncated=True)
    assert (len(part.body), part.truncated) == (500_000, True)


async def test_a_coded_body_that_breaks_off_is_truncated(
    egress: Egress, public: WireServer
) -> None:
    packed = gzip.compress(bytes(range(256)) * 200)
    public.answers["/"] = reply(packed[: len(packed) - 9], Content_Encoding="gzip")
    answer = await egress.fetch(public.url())
    assert answer.truncated
    assert answer.body.startswith(bytes(range(256)))


async def test_codings_that_are_unknown_or_too_many(egress: Egress, public: WireServer) -> None:
    public.answers["/"] = reply(b"x", Content_Encoding="rot13")
    public.answers["/many"] = reply(b"x", Content_Encoding=", ".join(["gzip"] * 6))
    for path in ("/", "/many"):
        with pytest.raises(UnsupportedContent):
            await egress.fetch(public.url(path))


async def test_damaged_codings(egress: Egress, public: WireServer) -> None:
    public.answers["/"] = reply(b"this is not gzip", Content_Encoding="gzip")
    with pytest.raises(ConnectionFailed) as caught:
        await egress.fetch(public.url())
    assert caught.value.details["reason"] == "malformed"


@each_case("count", [1, 30])
async def test_headers_have_a_cap(make_egress: Make, public: WireServer, count: int) -> None:
    lines = {f"X_{n}": "y" * (90_000 // count) for n in range(count)}
    public.answers["/"] = reply(b"x", **lines)
    with pytest.raises(TooLarge):
        await make_egress().fetch(public.url())
    answer = await make_egress(max_header_bytes=200_000).fetch(public.url())
    assert answer.headers.size > 90_000


# --- time and failures


async def test_slow_headers_and_slow_bodies_have_an_end(
    make_egress: Make, public: WireServer
) -> None:
    async def drip(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD if requested.path == "/head" else HEAD + b"Content-Length: 99\r\n\r\n")
        while True:
            writer.write(b"X" if requested.path == "/body" else b"X-A: b\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)  # time is the subject: it never ends, and never stops

    public.answers |= {"/head": drip, "/body": drip}
    for path in ("/head", "/body"):
        with pytest.raises(TimedOut) as caught:
            await make_egress().fetch(public.url(path), timeout=0.3)
        assert caught.value.details["retryable"]


async def test_the_deadline_of_the_call_holds(egress: Egress, public: WireServer) -> None:
    async def silent(requested: Requested, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    public.answers["/"] = silent
    ctx = context(deadline=time.monotonic() + 0.2)
    with pytest.raises(TimedOut):
        await egress.fetch(public.url(), ctx=ctx)


@each_case("where", ["head", "length", "stream"])
async def test_cancelling_closes_the_socket(egress: Egress, public: WireServer, where: str) -> None:
    written, gone = 0, asyncio.Event()
    heads = {
        "head": HEAD,
        "length": HEAD + b"Content-Length: 900000\r\n\r\nabc",
        "stream": HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    }

    async def hang(requested: Requested, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(heads[where])
        await writer.drain()
        try:
            while True:
                written += 1
                await asyncio.sleep(0.01)  # slow, so that a socket that stays open is not full
                if where == "stream":
                    writer.write(b"3\r\nabc\r\n")
                else:
                    writer.write(b"a: b\r\n")
                await writer.drain()
        except OSError:
            gone.set()

    public.answers["/"] = hang
    task = asyncio.create_task(egress.fetch(public.url()))
    await until(lambda: written > 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone.wait()


@pytest.mark.rows("A40")
@each_case(
    ("sent", "reason", "retryable"),
    [
        (b"", "closed_early", True),
        (HEAD + b"Content-Length: 100\r\n\r\nabc", "closed_early", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", "closed_early", True),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n", "malformed", False),
        (HEAD + b"no colon here\r\n\r\n", "malformed", False),
        (HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", "malformed", False),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "malformed", False),
    ],
)
async def test_broken_answers(
    egress: Egress, public: WireServer, sent: bytes, reason: str, *, retryable: bool
) -> None:
    async def answer(requested: Requested, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()

    public.answers["/"] = answer
    with pytest.raises(ConnectionFailed) as caught:
        await egress.fetch(public.url())
    assert caught.value.details["reason"] == reason
    assert caught.value.details["retryable"] is retryable
    assert len(caught.value.message) < 120


@pytest.mark.rows("A40")
async def test_a_refused_connection(egress: Egress) -> None:
    async with WireServer() as server:
        url = server.url()
    with pytest.raises(ConnectionFailed) as caught:
        await egress.fetch(url)
    assert caught.value.details["reason"] == "refused"
    assert str(server.port) in caught.value.message


async def test_ipv6(make_egress: Make, names: dict[str, list[str]]) -> None:
    async with WireServer({"/": reply(b"six")}, host="::1") as server:
        egress = make_egress(allow_networks=["::1/128"])
        assert (await egress.fetch(server.url("/", "[::1]"))).body == b"six"
        names["six.test"] = ["::1"]
        assert (await egress.fetch(server.url("/", "six.test"))).body == b"six"
        names["both.test"] = ["127.0.0.2", "::1"]
        with pytest.raises(Blocked):
            await egress.fetch(server.url("/", "both.test"))


async def test_many_hosts_keep_few_clients(
    egress: Egress, public: WireServer, names: dict[str, list[str]]
) -> None:
    for n in range(300):
        names[f"{n}.test"] = ["127.0.0.2"]
        await egress.fetch(public.url("/", f"{n}.test"))
    assert len(egress._transport._clients) <= 256  # type: ignore[union-attr]
    assert (await egress.fetch(public.url("/", "0.test"))).body == b"public"


async def test_many_at_once(egress: Egress, public: WireServer) -> None:
    public.answers["/"] = reply(b"x" * 100_000)
    answers = await asyncio.gather(*(egress.fetch(public.url()) for _ in range(50)))
    assert {len(answer.body) for answer in answers} == {100_000}
