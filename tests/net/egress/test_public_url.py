"""The parameter type: what a model typed becomes a canonical, judged URL."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.net.egress.samples import context
from toolcrib.core.config import Config
from toolcrib.core.errors import Blocked, ToolError
from toolcrib.core.tool import schema_of, unwrap
from toolcrib.net.egress.public_url import PublicUrl, check_public_url


def test_is_a_plain_string_in_a_schema() -> None:
    async def tool(url: PublicUrl) -> None: ...

    from toolcrib.core.tool import parameters_of

    assert schema_of(parameters_of(tool))["properties"]["url"] == {
        "type": "string",
        "description": "http(s) URL.",
    }
    assert unwrap(PublicUrl)[1].kind == "url"


@each_case(
    ("typed", "given"),
    [
        ("example.com/a%2Fb", "https://example.com/a%2Fb"),
        ("HTTP://Example.COM:80/#top", "http://example.com/#top"),
        (" https://example.com/a b ", "https://example.com/a%20b"),
    ],
)
async def test_completes_and_canonicalises(typed: str, given: str) -> None:
    assert check_public_url(typed, context()) == given


@pytest.mark.rows("A37", "D14", "D15", "D16", "D17")
@each_case(
    "typed",
    [
        "http://127.0.0.1/",
        "127.1",
        "2130706433",
        "localhost:3000",
        "[::1]",
        "//127.0.0.1/x",
        "http:127.0.0.1",
        "http:/127.0.0.1",
        "http://a@b/",
        "http://192.168.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://169.254.169.254/",
        "http://example.com:22/",
        "http://a.test\\@127.0.0.1/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "",
        "   ",
        "what is this",
        "http://exa\nmple.com",
    ],
)
async def test_refuses_without_any_look_up(typed: str) -> None:
    with pytest.raises(ToolError) as caught:
        check_public_url(typed, context())
    assert caught.value.stable_code in {
        "bad_input",
        "blocked_host",
        "blocked_address",
        "blocked_port",
        "blocked_scheme",
    }


async def test_knows_what_is_open_to_pages() -> None:
    config = Config.load({"web": {"fetch": {"allow_hosts": ["127.0.0.1:8000"]}}})
    assert check_public_url("http://127.0.0.1:8000/", context(config))
    with pytest.raises(Blocked) as caught:
        check_public_url("http://127.0.0.1:8001/", context(config))
    assert "web.fetch.allow_hosts" in caught.value.hint
