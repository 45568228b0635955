"""A secret goes where it may go, and is shown nowhere."""

from __future__ import annotations

import base64
import html
import json
import sqlite3
from urllib.parse import quote

import pytest

from tests.servers.api import Reported, echo
from tests.tools.http.conftest import TOKEN, USER
from toolcrib.core.context import Caller
from toolcrib.net.egress.public_url import References
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import Toolbox

BASIC = base64.b64encode(USER.encode()).decode()
SPELLINGS = [
    TOKEN,
    f"Bearer {TOKEN}",
    quote(TOKEN, safe=""),
    quote(TOKEN, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
    json.dumps(TOKEN)[1:-1],
    html.escape(TOKEN),
    base64.b64encode(TOKEN.encode()).decode(),
    TOKEN.upper(),
]


def everything(result) -> str:
    return json.dumps(result.to_json(), ensure_ascii=False) + result.render()


@pytest.mark.parametrize(
    ("name", "header", "value"),
    [
        ("service", "authorization", f"Bearer {TOKEN}"),
        ("person", "authorization", f"Basic {BASIC}"),
        ("keyed", "x-api-key", TOKEN),
    ],
)
async def test_each_scheme_is_sent_and_hidden(server, box, name, header, value):
    server["/x"] = echo
    result = await box.call("http_request", {"url": f"{server.url}/x", "auth": name})
    assert result.error is None
    assert server.last.headers[header] == value
    assert "[redacted]" in result.text
    displayed = everything(result)
    for secret in (TOKEN, json.dumps(TOKEN)[1:-1], USER, BASIC, USER.partition(":")[2]):
        assert secret not in displayed


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("method", ["text", "json", "name", "header", "type", "filter", "html"])
async def test_an_echo_in_any_spelling(server, box, spelling, method):
    given = {"url": f"{server.url}/x", "auth": "service"}
    if method == "text":
        server["/x"] = Reported(f"You sent {spelling} to us")
    elif method == "json":
        server["/x"] = Reported({"deep": [{"er": f"-{spelling}-"}]})
    elif method == "name":
        server["/x"] = Reported({spelling: 1})
    elif method == "header":
        server["/x"] = Reported({}, headers=(("X-Echo", spelling),))
    elif method == "type":
        server["/x"] = Reported(b"x", kind=f"text/{quote(spelling, safe='')}")
    elif method == "filter":
        server["/x"] = Reported({"a": spelling})
        given["filter"] = ".a | explode | map(. + 1) | implode"
    else:
        server["/x"] = Reported(f"<p>{spelling}</p>", 500, "text/html")
    result = await box.call("http_request", given)
    displayed = everything(result)
    assert spelling.lower() not in displayed.lower()
    assert json.dumps(spelling)[1:-1].lower() not in displayed.lower()
    if method == "filter":
        moved = "".join(chr(ord(c) + 1) for c in spelling)
        assert moved not in json.dumps(result.data["results"], ensure_ascii=False)


async def test_an_echo_cut_by_the_cap(server, settings):
    server["/x"] = Reported("x" * 90 + TOKEN)
    async with Toolbox(settings(requests={"max_bytes": 90 + len(TOKEN) - 3})) as box:
        result = await box.call("http_request", {"url": f"{server.url}/x", "auth": "service"})
    assert TOKEN[:8] not in everything(result)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_another_origin_never_sees_it(server, other, box, status):
    server["/x"] = Reported(status=status, headers=(("Location", f"{other.url}/y"),))
    other["/y"] = echo
    for name in ("service", "person", "keyed"):
        result = await box.call("http_request", {"url": f"{server.url}/x", "auth": name})
        assert result.error is None
        sent = json.dumps([requested.headers for requested in other.requested])
        assert "authorization" not in sent
        assert "x-api-key" not in sent
    assert len(other.requested) == 3


async def test_the_same_origin_still_does(server, box):
    server["/x"] = Reported(status=302, headers=(("Location", "/y"),))
    server["/y"] = echo
    await box.call("http_request", {"url": f"{server.url}/x", "auth": "service"})
    assert server.last.headers["authorization"] == f"Bearer {TOKEN}"


async def test_a_redirect_that_carries_it_in_the_url(server, other, box):
    server["/x"] = Reported(
        status=302, headers=(("Location", f"{other.url}/y?k={quote(TOKEN, safe='')}"),)
    )
    server["/loop"] = Reported(
        status=302, headers=(("Location", f"http://127.0.0.9/?k={quote(TOKEN, safe='')}"),)
    )
    for path in ("/x", "/loop"):
        result = await box.call("http_request", {"url": server.url + path, "auth": "service"})
        assert quote(TOKEN, safe="") not in everything(result)


@pytest.mark.parametrize(
    ("url", "auth", "code"),
    [
        ("https://example.org/", "elsewhere", "denied"),
        ("https://api.example.com.evil.org/", "elsewhere", "denied"),
        ("https://example.net/", "elsewhere", "denied"),
        ("http://api.example.com/", "elsewhere", "denied"),
        ("https://api.example.com/", "service", "denied"),
        ("SERVER", "nosuch", "bad_input"),
        ("SERVER", "unset", "not_configured"),
        ("OTHER", "service", "denied"),
    ],
)
async def test_where_it_may_not_go(server, other, box, url, auth, code):
    url = url.replace("SERVER", server.url).replace("OTHER", other.url)
    result = await box.call("http_request", {"url": url, "auth": auth})
    assert result.error.code == code
    assert result.error.hint
    assert server.requested == other.requested == []


async def test_plain_http_to_a_host_that_the_user_opened(server, box):
    server["/x"] = echo
    result = await box.call("http_request", {"url": f"{server.url}/x", "auth": "service"})
    assert result.error is None


async def test_a_secret_as_the_name_is_refused_and_not_sent(server, box):
    result = await box.call("http_request", {"url": f"{server.url}/x", "auth": "sk-something"})
    assert result.error.code == "bad_input"
    assert server.requested == []


async def test_nothing_of_it_in_history_and_progress(server, box, tmp_path):
    heard: list[str] = []

    async def note(progress):
        heard.append(progress.message)

    server["/x"] = lambda requested: Reported({"you": requested.headers}, 503)
    given = {"url": f"{server.url}/x", "auth": "service", "body": {"a": 1}, "method": "PUT"}
    result = await box.call("http_request", given, caller=Caller("test", notify=note))
    assert heard
    with sqlite3.connect(tmp_path / "store.db") as store:
        stored = "\n".join(store.iterdump())
    for displayed in (stored, str(heard), everything(result)):
        assert TOKEN not in displayed
        assert json.dumps(TOKEN)[1:-1] not in displayed


async def test_an_answer_to_a_login_is_private(server, box):
    server["/x"] = Reported({})
    assert (await box.call("http_request", {"url": f"{server.url}/x", "auth": "service"})).private
    assert not (await box.call("http_request", {"url": f"{server.url}/x"})).private


@pytest.mark.parametrize(
    "broken",
    [
        {"env": "TEST_TOKEN", "hosts": ["https://x/"]},
        {"env": "TEST_TOKEN", "hosts": ["HOST"], "scheme": "header"},
        {"env": "TEST_TOKEN", "hosts": ["HOST"], "scheme": "header", "header": "Host"},
        {"env": "TEST_LINES", "hosts": ["HOST"]},
    ],
)
async def test_a_wrong_configuration_says_so(server, settings, broken, monkeypatch):
    monkeypatch.setenv("TEST_LINES", "a\nb")
    hosts = [h.replace("HOST", server.origin) for h in broken["hosts"]]
    config = settings(requests={"secrets": {"s": {**broken, "hosts": hosts}}})
    async with Toolbox(config) as box:
        result = await box.call("http_request", {"url": f"{server.url}/x", "auth": "s"})
    assert result.error.code == "config_error"
    assert "web.requests.secrets.s" in result.error.message
    assert "a\nb" not in everything(result)
    assert server.requested == []


@pytest.mark.parametrize("between", ["\u200b", "\x1b[0m", "\x01", "\u00ad"])
@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", "application/json"])
async def test_an_echo_with_something_invisible_in_it(server, box, between, kind):
    """What nobody sees is taken out of a result, so it must not hide the secret until then."""
    broken = between.join((TOKEN[:9], TOKEN[9:]))
    body = json.dumps({broken: [broken]}) if "json" in kind else f"You sent {broken} to us"
    server["/x"] = Reported(body.encode(), kind=kind)
    result = await box.call("http_request", {"url": f"{server.url}/x", "auth": "service"})
    assert result.error is None
    assert "[redacted]" in result.text
    for secret in (TOKEN, broken, TOKEN[9:]):
        assert secret not in everything(result)
        assert json.dumps(secret)[1:-1] not in everything(result)


@pytest.mark.parametrize(
    ("answer", "program"),
    [
        ({"a": TOKEN[:9], "b": TOKEN[9:]}, ".a + .b"),
        ({"a": list(TOKEN)}, ".a | add"),
        ({"a": [ord(c) for c in TOKEN]}, "{(.a | implode): 1}"),
    ],
)
async def test_a_filter_that_puts_it_together(server, box, answer, program):
    server["/x"] = Reported(answer)
    given = {"url": f"{server.url}/x", "auth": "service", "filter": program}
    result = await box.call("http_request", given)
    assert result.error is None
    assert "[redacted]" in result.text
    assert json.dumps(TOKEN)[1:-1] not in everything(result)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"auth": "nowhere", "body": {"a": 1}}, "no secret named 'nowhere'"),
        ({"auth": "service", "save_as": "p.json", "body": {"a": 1}}, "pick what you need with"),
        ({"headers": {"Authorization": "Bearer abc"}}, "never typed"),
    ],
)
async def test_nobody_is_asked_about_a_login_that_cannot_be(settings, server, arguments, expected):
    questions = []

    async def ask(question):
        questions.append(question)
        return True

    async with Toolbox(settings(ask=True)) as box:
        call = {"url": f"{server.url}/x", **arguments}
        result = await box.call("http_request", call, caller=Caller("test", ask=ask))
        assert expected in result.render()
        assert questions == []


async def test_an_address_completed_with_https_that_does_not_answer_names_http(settings):
    egress = {"allow_hosts": ["127.0.0.1:443"], "retry": {"retries": 0}}
    async with Toolbox(settings(egress=egress)) as box:
        failed = await box.call("http_request", {"url": "127.0.0.1:443/x"})
        assert "https:// was added to the address; try http://127.0.0.1/x" in failed.render()
        for typed in ("https://127.0.0.1:443/x", "HTTPS://127.0.0.1:443/x", "//127.0.0.1/x"):
            named = await box.call("http_request", {"url": typed})
            assert "was added" not in named.render() and named.error, typed
        session = await box.use(Sessions).load("s")
        name = await box.use(References).shorten(f"https://127.0.0.1:443/{'x' * 200}", session)
        for typed in (name, name.replace("://", ":")):
            referred = await box.call("http_request", {"url": typed}, session="s")
            assert "was added" not in referred.render(), typed
            assert referred.error and referred.error.code == "connection_failed", referred.render()
