"""Logins of a person: used where the settings say so, kept by origin, and of no other site."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.servers.web_app import WebApp, web_app
from tests.tools.browser.conftest import Desk, opened_to
from toolcrib.browser.browsers import Browsers
from toolcrib.browser.logins import Login, Logins, changed, logins_in, state_of
from toolcrib.surfaces.cli.browser import store_login
from toolcrib.toolbox import Toolbox

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(170)]


def _cookie(name: str, domain: str, value: str = "v") -> dict[str, Any]:
    return {"name": name, "domain": domain, "path": "/", "value": value, "expires": -1}


def _storage(origin: str, value: str) -> dict[str, Any]:
    return {"origin": origin, "localStorage": [{"name": "token", "value": value}]}


async def test_what_belongs_to_an_origin() -> None:
    state = {
        "cookies": [
            _cookie("own", "shop.example"),
            _cookie("wide", ".shop.example"),
            _cookie("other", "evilshop.example"),
            _cookie("below", "www.shop.example"),
        ],
        "origins": [_storage("https://shop.example", "a"), _storage("https://x.example", "b")],
    }
    (login,) = logins_in(state, ["https://shop.example"])
    assert [cookie["name"] for cookie in login.cookies] == ["own", "wide"]
    assert login.storage == _storage("https://shop.example", "a")
    old = Login("https://a.shop.example", 1.0, (_cookie("wide", ".shop.example", "old"),))
    assert state_of([login, old])["cookies"][0]["value"] == "v", "the later one"


async def test_what_changed_is_written_back_and_nothing_else() -> None:
    origin = "https://shop.example"
    before = Login(origin, 1.0, (_cookie("own", "shop.example"),), _storage(origin, "a"))
    same = {"cookies": [_cookie("own", "shop.example")], "origins": []}
    assert changed([before], same) == [], "a site that was not visited keeps its storage"
    renewed = {"cookies": [_cookie("own", "shop.example", "new")], "origins": []}
    (login,) = changed([before], renewed)
    assert login.storage == before.storage
    (gone,) = changed([before], {"cookies": [], "origins": []})
    assert (gone.cookies, gone.storage) == ((), None), "logged out"


async def test_a_login_is_kept_used_written_back_and_forgotten(app: WebApp, tmp_path: Path) -> None:
    settings = opened_to(app.url) | {"store": {"url": f"sqlite:///{tmp_path}/store.db"}}
    work = tmp_path / "work"
    work.mkdir()
    app.pages["/renew"] = (
        "<title>Renewed</title><script>document.cookie = 'extra=1; path=/; max-age=9999';"
        "localStorage.setItem('token', 'mine')</script>"
    )
    app.pages["/token"] = (
        "<title>Token</title><p id=p></p><script>document.getElementById('p').textContent ="
        "'token ' + localStorage.getItem('token') + ' ' + document.cookie</script>"
    )
    with web_app() as other:
        hosts = [urlsplit(each.url).netloc for each in (app, other)]
        settings["egress"] = {"allow_hosts": hosts}
        settings["web"] = {"fetch": {"allow_hosts": hosts}}
        stored = {**settings, "browser": {"profile": "workspace"}}
        async with Toolbox(stored, workspace=work) as box:
            person = Desk(app, box, work, [], session="person")
            await person("open", url=f"{app.url}/login")
            assert "Welcome, ann" in await person.act(
                "type User = ann", "type Password = s3cret-word", "click Log in"
            )
            finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            finished.set_result(None)
            conversation = box.use(Browsers).conversation("person")
            assert await store_login(conversation, box.use(Logins), finished) == [app.url]
        async with Toolbox(settings, workspace=work) as box:
            without = await Desk(app, box, work, [])("open", url=f"{app.url}/desk")
            assert "Welcome" not in without.text
        async with Toolbox(stored, workspace=work) as box:
            desk = Desk(app, box, work, [])
            inside = await desk("open", url=f"{app.url}/desk")
            assert "Welcome, ann" in inside.text
            assert inside.private
            assert not (await desk("open", url=f"{other.url}/echo")).private
            await desk("open", url=f"{app.url}/renew")
            await desk("close")
            again = (await desk.talk("again")("open", url=f"{app.url}/token", text=True)).text
            assert "token mine" in again
            assert "extra=1" in again
            assert [login.origin for login in await box.use(Logins).all()] == [app.url]
        async with Toolbox(stored, workspace=tmp_path) as box:
            assert await box.use(Logins).all() == [], "another workspace has its own"
        async with Toolbox(stored, workspace=work) as box:
            assert await box.use(Logins).forget(app.url) == 1
            out = await Desk(app, box, work, [])("open", url=f"{app.url}/desk")
            assert "Welcome" not in out.text
