"""robots.txt, where the user wants it obeyed (RFC 9309)."""

from __future__ import annotations

import pytest

from tests.servers.scripted import Answer, scripted
from tests.tools.web.pictures import png
from toolcrib.toolbox import Toolbox

TEXT = "text/plain"
RULES = """User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.cgi$

User-agent: toolcrib
Disallow: /private
Disallow: /ours
Allow: /private/open
Disallow: /*.cgi$
"""


@pytest.fixture
async def polite(settings):
    async with Toolbox(config=settings(fetch={"robots": True})) as box:
        yield box


def rules(server, text: str = RULES, status: int = 200, **more) -> None:
    server["/robots.txt"] = Answer(text, status, TEXT, **more)


async def get(box, url: str):
    return await box.call("fetch_url", {"url": url})


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/page", True),
        ("/private/x", False),
        ("/private", False),
        ("/private/open/x", True),
        ("/ours", False),
        ("/a/b.cgi", False),
        ("/a/b.cgi?x=1", True),
    ],
)
async def test_rules_are_obeyed(server, polite, path, allowed):
    rules(server)
    server[path.partition("?")[0]] = Answer("<p>words")
    result = await get(polite, server.url + path)
    if allowed:
        assert result.error is None
    else:
        assert result.error.code == "robots_denied"
        assert "do not try other ways" in result.error.hint
        assert "web.fetch.robots" in result.error.hint
        assert server.count(path) == 0


async def test_nobody_asks_unless_the_user_wants_it(server, box):
    rules(server)
    server["/private"] = Answer("<p>words")
    assert (await get(box, f"{server.url}/private")).error is None
    assert server.count("/robots.txt") == 0


@pytest.mark.parametrize("status", [404, 401, 403, 410, 429])
async def test_without_the_file_everything_is_allowed(server, polite, status):
    rules(server, "User-agent: *\nDisallow: /", status)
    server["/page"] = Answer("<p>words")
    assert (await get(polite, f"{server.url}/page")).error is None


@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_that_cannot_say_allows_nothing(server, polite, status):
    rules(server, "", status)
    server["/page"] = Answer("<p>words")
    result = await get(polite, f"{server.url}/page")
    assert result.error.code == "robots_denied"
    assert "Try again later" in result.error.hint
    assert server.count("/page") == 0
    rules(server)
    assert (await get(polite, f"{server.url}/page")).error is None


async def test_a_site_that_is_not_there_has_its_own_error(settings):
    with scripted() as gone:
        pass
    config = settings(fetch={"robots": True})
    config["egress"]["allow_hosts"].append(gone.origin)
    async with Toolbox(config=config) as box:
        result = await get(box, f"{gone.url}/page")
    assert result.error.code == "connection_failed"
    assert "robots" not in result.error.message


async def test_it_is_read_once(server, polite):
    rules(server)
    for n in range(4):
        server[f"/{n}"] = Answer("<p>words")
    await polite.call("fetch_url", {"urls": [f"{server.url}/{n}" for n in range(4)]})
    assert server.count("/robots.txt") == 1


async def test_an_old_copy_stands_in_while_the_server_fails(server, polite, grow_older):
    rules(server)
    server["/one"] = server["/two"] = Answer("<p>words")
    assert (await get(polite, f"{server.url}/one")).error is None
    grow_older(4000)
    rules(server, "", 503)
    assert (await get(polite, f"{server.url}/two")).error is None


async def test_each_hop_is_asked_about(server, settings):
    with scripted() as other:
        rules(server)
        rules(other, "User-agent: *\nDisallow: /\n")
        server["/go"] = Answer("", 302, headers={"Location": f"{other.url}/page"})
        server["/inside"] = Answer("", 302, headers={"Location": "/private"})
        config = settings(fetch={"robots": True})
        config["egress"]["allow_hosts"].append(other.origin)
        async with Toolbox(config=config) as box:
            assert (await get(box, f"{server.url}/go")).error.code == "robots_denied"
            assert (await get(box, f"{server.url}/inside")).error.code == "robots_denied"
        assert [r.path for r in other.requested] == ["/robots.txt"]
        assert server.count("/private") == 0


async def test_the_file_may_be_redirected_but_not_inside(server, polite):
    server["/robots.txt"] = Answer("", 301, headers={"Location": "/rules.txt"})
    server["/rules.txt"] = Answer("User-agent: *\nDisallow: /page", kind=TEXT)
    assert (await get(polite, f"{server.url}/page")).error.code == "robots_denied"


async def test_the_guard_judges_its_redirects(server, polite):
    server["/robots.txt"] = Answer("", 302, headers={"Location": "http://169.254.169.254/robots"})
    server["/page"] = Answer("<p>words")
    result = await get(polite, f"{server.url}/page")
    assert result.error.code == "blocked_address"
    assert server.count("/page") == 0


@pytest.mark.parametrize(
    "text",
    [
        "\x00\xff nonsense",
        "<html><body>not found</body></html>",
        "User-agent: *\nDisallow: /" + "*a" * 900 + "b\n" * 1000,
        "User-agent: *\n" + "Disallow: /x\n" * 40_000,
        "Disallow: /" * 40_000,
    ],
)
async def test_odd_files_do_no_harm(server, polite, text):
    rules(server, text)
    server["/page" + "a" * 500] = Answer("<p>words")
    assert (await get(polite, f"{server.url}/page{'a' * 500}")).error is None


async def test_a_refused_page_harms_no_other(server, polite):
    rules(server)
    server["/page"] = Answer("<p>words")
    urls = [f"{server.url}/private", f"{server.url}/page"]
    result = await polite.call("fetch_url", {"urls": urls})
    assert [page["status"] for page in result.data["pages"]] == ["error", "ok"]
    assert result.data["pages"][0]["error"]["code"] == "robots_denied"


async def test_images_are_asked_for_like_pages(server, settings, tmp_path):
    rules(server)
    server["/private/a.png"] = Answer(png(2, 2), kind="image/png")
    config = {**settings(fetch={"robots": True}), "workspace": {"roots": [str(tmp_path)]}}
    async with Toolbox(config=config) as box:
        result = await box.call("fetch_images", {"urls": [f"{server.url}/private/a.png"]})
    assert result.error.code == "robots_denied"
    assert server.count("/private/a.png") == 0
