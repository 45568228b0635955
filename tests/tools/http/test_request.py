from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.api import Reported, echo
from tests.servers.site import site
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import Toolbox

METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]


@pytest.mark.rows("C044")
@pytest.mark.parametrize("transport", ["wreq", "aiohttp"])
@pytest.mark.parametrize("method", METHODS)
async def test_every_method(server, settings, method, transport):
    server["/x"] = echo
    config = settings(egress={"allow_hosts": [server.origin], "transport": transport})
    async with Toolbox(config) as box:
        result = await box.call("http_request", {"url": f"{server.url}/x?a=%26b", "method": method})
    assert result.error is None
    assert (server.last.method, server.last.target) == (method, "/x?a=%26b")
    assert result.data["status"] == 200
    assert result.data["method"] == method
    assert result.source == f"{server.url}/x?a=%26b"
    assert result.fenced
    if method == "HEAD":
        assert result.data["body"] is None
        assert "content-type: application/json" in result.text
    else:
        assert result.data["body"]["method"] == method


@pytest.mark.rows("C044")
async def test_the_answer_whole(server, box):
    reported = {"items": [1, 2.5, None, True], "name": "Ünïcode ✓"}
    server["/x"] = Reported(
        reported, 201, headers=(("X-Total", "7"), ("Set-Cookie", "sid=abc; Path=/"))
    )
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert result.data["body"] == reported
    assert (result.data["status"], result.data["reason"]) == (201, "Created")
    assert result.data["content_type"] == "application/json"
    assert result.data["headers"]["x-total"] == "7"
    lines = result.text.split("\n")
    assert lines[1].startswith("HTTP 201 Created, application/json, ")
    assert "x-total: 7" in lines
    assert "Ünïcode ✓" in result.text
    assert "sid=abc" not in str(result.to_json())


@pytest.mark.rows("C045")
@pytest.mark.parametrize("status", [301, 304, 400, 401, 404, 418, 422, 500, 599])
async def test_an_error_status_is_visible(server, settings, status):
    server["/x"] = Reported({"detail": "why"}, status)
    config = settings(egress={"allow_hosts": [server.origin], "retry": {"retries": 0}})
    async with Toolbox(config) as box:
        result = await box.call("http_get_json", {"url": f"{server.url}/x"})
    if status == 301:
        assert result.error.code == "network"  # a redirect to nowhere
        return
    assert result.error is None
    assert result.data["status"] == status
    assert result.data["ok"] == (status < 400)
    assert f"HTTP {status}" in result.text
    if status != 304:
        assert result.data["body"] == {"detail": "why"}
    if status == 401:
        assert "keyed, person, service, unset" in result.text


@pytest.mark.rows("C046")
@pytest.mark.parametrize(
    ("given", "kind", "sent"),
    [
        ({"body": {"a": [1, "é"]}}, "application/json", '{"a": [1, "é"]}'),
        ({"data": '{"a": 1}'}, "application/json", '{"a": 1}'),
        ({"json": [1, 2]}, "application/json", "[1, 2]"),
        ({"payload": "a=1&b=%20"}, "application/x-www-form-urlencoded", "a=1&b=%20"),
        ({"body": "plain words é"}, "text/plain; charset=utf-8", "plain words é"),
        ({"body": '{"broken'}, "text/plain; charset=utf-8", '{"broken'),
        (
            {
                "body": {"a": "x y&", "b": [1, True], "c": None},
                "headers": {"Content-Type": "application/x-www-form-urlencoded"},
            },
            "application/x-www-form-urlencoded",
            "a=x+y%26&b=1&b=true",
        ),
        (
            {"body": {"a": 1}, "headers": '{"content-type": "application/vnd.api+json"}'},
            "application/vnd.api+json",
            '{"a": 1}',
        ),
        ({"body": "<a/>", "headers": {"content-type": "text/xml"}}, "text/xml", "<a/>"),
    ],
)
async def test_bodies(server, box, given, kind, sent):
    server["/x"] = echo
    result = await box.call("http_post_json", {"url": f"{server.url}/x", **given})
    assert result.error is None
    assert server.last.method == "POST"
    assert server.last.headers["content-type"] == kind
    assert server.last.body.decode() == sent
    assert ("sent as text/plain" in result.text) == kind.startswith("text/plain")


async def test_what_json_cannot_hold_is_told(server, box):
    server["/x"] = Reported(b'{"a": 1e400, "b": 1, "b": 2}')
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert result.data["body"] == {"a": None, "b": 2}
    assert "Infinity" not in result.text
    assert "A key stands twice" in result.text
    assert "too large to be read are null" in result.text


async def test_an_empty_body_of_a_get_is_none(server, box):
    server["/x"] = echo
    for body in ("", {}, "{}"):
        result = await box.call(
            "http_request", {"url": f"{server.url}/x", "method": "get", "body": body}
        )
        assert result.error is None
        assert server.last.method == "GET"
    assert [requested.body for requested in server.requested[:2]] == [b"", b""]


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer abc"},
        {"authorization": "x"},
        {"Cookie": "a=b"},
        {"X-API-Key": "1"},
        {"X-Auth-Token": "1"},
        {"Proxy-Authorization": "Basic abc"},
        {"Api-Key": "x"},
        {"X-Note": "Bearer abcdefghijkl"},
        {"X-Note": "ghp_0123456789012345678901234567890123456789"},
    ],
)
async def test_typed_logins_are_refused(server, box, headers):
    result = await box.call("http_request", {"url": f"{server.url}/x", "headers": headers})
    assert result.error.code == "bad_input"
    assert "'auth'" in result.error.hint
    assert server.requested == []


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "b\r\nX-Evil: 1"},
        {"X-A": "b\nX-Evil: 1"},
        {"X-A\r\nX-Evil": "1"},
        {"X-A": "b\x00"},
        {"X-A: b": "c"},
        {"": "c"},
        {"Host": "evil.example"},
        {"Content-Length": "0"},
        {"Transfer-Encoding": "chunked"},
        {"X-A": "日本"},
        {"X-A": {"b": 1}},
        {f"X-{n}": "1" for n in range(60)},
        {"X-A": "x" * 9000},
    ],
)
async def test_headers_that_are_none(server, box, headers):
    server["/x"] = echo
    result = await box.call("http_request", {"url": f"{server.url}/x", "headers": headers})
    assert result.error.code == "bad_input"
    assert server.requested == []


@pytest.mark.parametrize("bad", ["/x\r\nX-Evil: 1", "/x y\r\n", "/\x00"])
async def test_line_breaks_in_the_url(server, box, bad):
    result = await box.call("http_request", {"url": server.url + bad})
    assert all("x-evil" not in requested.headers for requested in server.requested)
    assert result.error is not None or server.requested


async def test_plain_headers_are_sent(server, box):
    server["/x"] = echo
    headers = {
        "X-CSRF-Token": "t",
        "If-None-Match": '"1"',
        "X-Count": 3,
        "X-On": True,
        "X-No": None,
    }
    result = await box.call("http_request", {"url": f"{server.url}/x", "headers": headers})
    assert result.error is None
    sent = server.last.headers
    assert (sent["x-csrf-token"], sent["if-none-match"]) == ("t", '"1"')
    assert (sent["x-count"], sent["x-on"], "x-no" in sent) == ("3", "true", False)


async def test_a_cap_is_said_and_kept(server, settings):
    server["/big"] = Reported("word " * 30_000)
    server["/json"] = Reported({"a": "b" * 5000})
    async with Toolbox(settings(requests={"max_bytes": 2000})) as box:
        result = await box.call("http_request", {"url": f"{server.url}/big", "max_tokens": 9})
        assert result.error.code == "bad_input"
        result = await box.call("http_request", {"url": f"{server.url}/big"})
        cut = await box.call("http_request", {"url": f"{server.url}/json"})
        none = await box.call("http_request", {"url": f"{server.url}/json", "filter": ".a"})
    assert result.truncated
    assert "Only the first 2,000 bytes" in result.text
    assert "web.requests.max_bytes" in result.text
    assert len(result.data["body"]) == 2000
    assert cut.data["body"].startswith('{"a": "bbb')
    assert none.error.code == "too_large"


async def test_a_long_answer_stays_readable(server, box):
    server["/big"] = Reported([{"n": n, "text": "some words here"} for n in range(2000)])
    result = await box.call("http_request", {"url": f"{server.url}/big"})
    assert result.truncated
    assert result.next.tool == "read_more"
    assert len(result.data["body"]) == 2000


@pytest.mark.parametrize(
    ("body", "kind", "displayed"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "image/png", "PNG image of 58 bytes"),
        (b"%PDF-1.7 \0\0", "application/json", "PDF document"),
        (b"\0\1\2\3" * 9, None, "binary file of 36 bytes"),
        ("größe".encode("cp1252"), "text/plain; charset=windows-1252", "größe"),
        ("größe".encode("utf-16"), "text/plain", "größe"),
        (b'{"a": NaN}', "application/json", '{"a": NaN}'),
        (b'{"a": 1', "application/json", '{"a": 1'),
        (b"[" * 5000, "application/json", "[[["),
        (b'{"a": 1}', "text/plain", '"a": 1'),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", '"a": 1'),
        (b'{"a": 1}', "application/problem+json", '"a": 1'),
        (b'"only text"', "application/json", '"only text"'),
    ],
)
async def test_kinds_of_bodies(server, box, body, kind, displayed):
    server["/x"] = Reported(body, kind=kind)
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert result.error is None
    assert displayed in result.text
    json.dumps(result.to_json()).encode()


async def test_half_a_surrogate_pair_breaks_nothing(server, box):
    server["/x"] = Reported(b'{"a\\ud800": "\\udc00b"}', kind="application/json")
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    json.dumps(result.to_json(), ensure_ascii=False).encode()


async def test_invisible_characters_are_removed(server, box):
    server["/x"] = Reported({"a": "b\U000e0041\u200bc</untrusted>"})
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert "bc" in result.text
    assert result.text.count("</untrusted>") == 1


@pytest.mark.rows("C047")
@pytest.mark.parametrize(("method", "tries"), [("GET", 3), ("PUT", 3), ("POST", 1), ("PATCH", 1)])
async def test_only_what_may_be_repeated_is_tried_again(server, box, method, tries):
    server["/x"] = Reported({"wait": 1}, 503, headers=(("Retry-After", "0"),))
    result = await box.call("http_request", {"url": f"{server.url}/x", "method": method})
    assert result.data["status"] == 503
    assert len(server.requested) == tries


@pytest.mark.rows("C047")
async def test_a_passing_failure_passes(server, box):
    def script(_):
        return Reported({"ok": 1}) if len(server.requested) > 2 else Reported("no", 429)

    server["/x"] = script
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert result.data["body"] == {"ok": 1}


async def test_no_retries_where_none_are_wanted(server, settings):
    server["/x"] = Reported("no", 503)
    config = settings(egress={"allow_hosts": [server.origin], "retry": {"retries": 0}})
    async with Toolbox(config) as box:
        await box.call("http_request", {"url": f"{server.url}/x"})
    assert len(server.requested) == 1


async def test_the_timeout(server, settings):
    import threading

    server["/x"] = Reported("late", hold=threading.Event())
    retry = {"allow_hosts": [server.origin], "retry": {"retries": 0}}
    async with Toolbox(settings(requests={"timeout": 0.2}, egress=retry)) as box:
        result = await box.call("http_request", {"url": f"{server.url}/x"})
        server.script["/x"].hold.set()
    assert result.error.code == "timeout"


async def test_a_bomb_is_cut(server, box):
    bomb = gzip.compress(b"[" + b"0," * 20_000_000 + b"0]")
    server["/x"] = Reported(bomb, kind="application/json", headers=(("Content-Encoding", "gzip"),))
    result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert result.error is not None or result.truncated


# --- redirects -------------------------------------------------------------------------


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_body_does_not_follow_to_another_host(server, other, box, status, method):
    server["/x"] = Reported(status=status, headers=(("Location", f"{other.url}/y"),))
    other["/y"] = echo
    given = {"url": f"{server.url}/x", "method": method, "body": {"my": "data"}}
    result = await box.call("http_request", given)
    assert result.error is None
    assert result.data["status"] == status
    assert f"redirects to {other.url}/y" in result.text
    assert other.requested == []


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [(301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST")],
)
async def test_redirects_on_the_same_host(server, box, status, method, becomes):
    server["/x"] = Reported(status=status, headers=(("Location", "/y"),))
    server["/y"] = echo
    given = {"url": f"{server.url}/x", "method": method, "body": {"my": "data"}}
    result = await box.call("http_request", given)
    assert result.data["status"] == 200
    assert server.last.method == becomes
    assert (server.last.body != b"") == (becomes != "GET")
    assert result.data["redirects"][0]["status"] == status
    assert f"Redirected to {server.url}/y" in result.text
    lost = f"(the body was not sent again: {status} makes it a GET)"
    assert (lost in result.text) == (becomes == "GET")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_inside_are_refused(server, settings, status):
    with site("127.0.0.1") as (inside, hits):
        server["/x"] = Reported(status=status, headers=(("Location", f"{inside}/page"),))
        async with Toolbox(settings()) as box:
            for method in ("GET", "POST", "DELETE"):
                given = {"url": f"{server.url}/x", "method": method}
                result = await box.call("http_request", given)
                assert result.error is not None or result.data["status"] == status
    assert hits == {}


async def test_a_rule_holds_for_redirects(server, other, settings):
    server["/x"] = Reported(status=302, headers=(("Location", f"{other.url}/y"),))
    rules = [
        {"action": "deny", "target": f"{other.url}/*"},
        {"action": "allow", "group": "http"},
    ]
    async with Toolbox(settings(policy={"rules": rules})) as box:
        result = await box.call("http_request", {"url": f"{server.url}/x"})
    assert result.error.code == "denied"
    assert other.requested == []


# --- filters ---------------------------------------------------------------------------

DATA = {"items": [{"id": 9007199254740993, "name": "é"}, {"id": 2, "name": "b"}], "next": None}


@pytest.mark.parametrize(
    ("program", "values", "displayed"),
    [
        (".items[].name", ["é", "b"], '"é"\n"b"'),
        (".items | length", [2], "\n2\n"),
        (".items[1]", [{"id": 2, "name": "b"}], '"name": "b"'),
        (".items[0].id", ["9007199254740993"], "9007199254740993"),
        (".items[0].name", ["é"], "\né\n"),
        ("empty", [], "(the filter gives nothing)"),
        (".next", [None], "null"),
    ],
)
async def test_filters(server, box, program, values, displayed):
    server["/x"] = Reported(DATA)
    result = await box.call("http_request", {"url": f"{server.url}/x", "jq": program})
    assert result.error is None
    assert result.data["results"] == values
    assert displayed in result.text
    assert "body" not in result.data


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (".items[", "bad_input"),
        (".items.x", "bad_input"),
        ("nosuch(1)", "bad_input"),
        ('import "a" as a; .', "bad_input"),
        ("[limit(9e9; repeat(0))]", "too_large"),
        ('"x" * 900000000', "too_large"),
    ],
)
async def test_filters_that_fail(server, box, program, code):
    server["/x"] = Reported(DATA)
    result = await box.call("http_request", {"url": f"{server.url}/x", "filter": program})
    assert result.error.code in (code, "timeout")
    assert result.error.hint


async def test_filters_see_no_secrets_of_the_machine(server, box, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "hidden-value")
    server["/x"] = Reported(DATA)
    for program in ("env", "$ENV", "[$ENV[]]", "input_filename"):
        result = await box.call("http_request", {"url": f"{server.url}/x", "filter": program})
        assert result.data["results"] in ([{}], [[]], [None])


async def test_a_filter_needs_json(server, box):
    server["/x"] = Reported("words")
    result = await box.call("http_request", {"url": f"{server.url}/x", "filter": "."})
    assert result.error.code == "unsupported_content"
    result = await box.call(
        "http_request", {"url": f"{server.url}/x", "filter": ".", "method": "HEAD"}
    )
    assert result.error.code == "bad_input"


async def test_a_failure_is_shown_without_the_filter(server, box):
    server["/x"] = Reported({"detail": "no"}, 404)
    result = await box.call("http_request", {"url": f"{server.url}/x", "filter": ".items[]"})
    assert result.data["body"] == {"detail": "no"}
    assert "The filter was not used" in result.text


# --- policy ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "requested"),
    [
        ({}, False),
        ({"method": "HEAD"}, False),
        ({"method": "OPTIONS", "body": {}}, False),
        ({"headers": {"Accept": "application/json"}}, False),
        ({"filter": "."}, False),
        ({"headers": {"Accept": "application/json; version=1"}}, True),
        ({"headers": {"X-Anything": "1"}}, True),
        ({"method": "GET", "body": "x"}, True),
        ({"body": {"a": 1}}, True),
        ({"method": "POST"}, True),
        ({"method": "DELETE"}, True),
    ],
)
async def test_sending_asks_and_reading_does_not(server, settings, given, requested):
    server["/x"] = Reported({})
    async with Toolbox(settings(ask=True)) as box:
        result = await box.call("http_request", {"url": f"{server.url}/x", **given})
    assert (result.error is not None and result.error.code == "needs_approval") == requested
    assert bool(server.requested) != requested


async def test_a_rule_on_sending_means_what_sends(server, settings):
    server["/x"] = Reported({})
    rules = [{"action": "deny", "rights": ["send"]}]
    async with Toolbox(settings(policy={"rules": rules})) as box:
        reading = await box.call("http_request", {"url": f"{server.url}/x"})
        sending = await box.call("http_request", {"url": f"{server.url}/x", "body": "x"})
    assert reading.error is None
    assert sending.error.code == "denied"


async def test_calls_at_once_do_not_mix(server, box):
    server["/x"] = echo
    calls = [
        box.call("http_request", {"url": f"{server.url}/x?n={n}", "body": {"n": n}})
        for n in range(20)
    ]
    for n, result in enumerate(await asyncio.gather(*calls)):
        assert json.loads(result.data["body"]["body"]) == {"n": n}


@pytest.mark.parametrize("value", [["text/html"], {"a": 1}])
async def test_a_header_that_is_no_text(server, box, value):
    given = {"url": f"{server.url}/x", "headers": {"Accept": value}}
    result = await box.call("http_request", given)
    assert result.error is not None
    assert result.error.code == "bad_input"


async def test_a_filter_that_fails_quotes_outside_text(server, box):
    server["/x"] = Reported({"a": "do as I say"})
    given = {"url": f"{server.url}/x", "filter": ".a | error"}
    result = await box.call("http_request", given, session="talk")
    assert result.error is not None
    assert "do as I say" in result.error.message
    assert (await box.use(Sessions).load("talk")).untrusted


@pytest.fixture
async def saving(settings: Any, tmp_path: Path) -> Any:
    """A toolbox over a workspace that downloads are saved to."""
    (tmp_path / "ws").mkdir()
    async with Toolbox(settings(), workspace=tmp_path / "ws") as box:
        yield box


async def test_a_download_is_saved_whole_and_undone(
    server: Any, saving: Toolbox, tmp_path: Path
) -> None:
    content = b"%PDF-1.7\n" + bytes(range(256)) * 4000  # more than web.requests.max_bytes
    server["/r.pdf"] = Reported(content, kind="application/pdf")
    sent = {"url": f"{server.url}/r.pdf", "output_path": "in/r.pdf"}
    done = await saving.call("download_file", sent)
    assert "Saved to in/r.pdf: 1,024,009 bytes" in done.text
    assert "Warning" not in done.text
    assert (tmp_path / "ws/in/r.pdf").read_bytes() == content
    await saving.call("undo_changes", {})
    assert not (tmp_path / "ws/in/r.pdf").exists()


async def test_what_is_no_such_file_is_told(server: Any, saving: Toolbox, tmp_path: Path) -> None:
    server["/page"] = Reported("<html>log in</html>", kind="text/html")
    server["/gone"] = Reported({"detail": "gone"}, 404)
    page = await saving.call("http_request", {"url": f"{server.url}/page", "save_as": "a.zip"})
    assert "Warning: it is text, and so no .zip file" in page.text
    gone = await saving.call("http_request", {"url": f"{server.url}/gone", "save_as": "b.zip"})
    assert "Nothing was saved to b.zip." in gone.text
    assert "gone" in gone.text
    assert [path.name for path in (tmp_path / "ws").iterdir()] == ["a.zip"]


@pytest.mark.parametrize(
    "more", [{"save_as": ".env"}, {"save_as": "../out"}, {"save_as": "a", "auth": "service"}]
)
async def test_a_download_that_is_refused(
    server: Any, saving: Toolbox, more: dict[str, Any]
) -> None:
    server["/x"] = echo
    refused = await saving.call("http_request", {"url": f"{server.url}/x", **more})
    assert refused.error is not None
    assert server.requested == []


async def test_query_parameters_beside_the_url_go_into_it(server, box):
    server["/x"] = Reported({})
    sent = [("page", "2"), ("tag", "a b"), ("tag", "c")]
    for params, query in (({"page": 2, "tag": ["a b", "c"]}, sent), ({}, [])):
        result = await box.call("http_request", {"url": f"{server.url}/x#top", "params": params})
        assert result.error is None, result.render()
        assert server.last.query == query
    await box.call("http_request", {"url": f"{server.url}/x?a=1", "params": {"b": 2}})
    assert server.last.query == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    ("given", "query"),
    [
        ({"params": "q=x%20y&page=2"}, [("q", "x y"), ("page", "2")]),
        ({"params": "?q=x"}, [("q", "x")]),
        ({"params": '{"q": "a&b"}'}, [("q", "a&b")]),
        ({"query": '{"q": "a&b"}'}, [("q", "a&b")]),
        ({"params": [{"name": "q", "value": "x"}, {"key": "n", "value": 1}]}, ["q=x", "n=1"]),
        ({"params": {"a": True, "b": None, "c": [False, 2.5]}}, ["a=true", "c=false", "c=2.5"]),
        ({"params": {"a": None}}, []),
    ],
)
@pytest.mark.parametrize("place", ["url", "uri", "endpoint", "link"])
async def test_forms_of_query_parameters(server, box, place, given, query):
    server["/x"] = Reported({})
    result = await box.call("http_request", {place: f"{server.url}/x", **given})
    assert result.error is None, result.render()
    assert server.last.query == [tuple(p.split("=")) if isinstance(p, str) else p for p in query]


@pytest.mark.parametrize(
    "given",
    [
        {"method": "POST", "query": "{ viewer { login } }"},
        {"query": "plain=words"},
        {"params": "words"},
        {"params": "a=1#b"},
        {"params": {"a": {"x": 1}}},
        {"params": [{"name": "q", "val": "x"}]},
        {"params": ["q"]},
        {"params": 7},
    ],
)
async def test_what_are_no_query_parameters_is_refused(server, box, given):
    server["/x"] = Reported({})
    result = await box.call("http_request", {"url": f"{server.url}/x", **given})
    assert result.error is not None and "has no argument" in result.error.message
    assert server.requested == []
