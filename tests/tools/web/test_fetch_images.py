"""`fetch_images`: what is saved, under which name, and what never is."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.conditions import until
from tests.servers.scripted import Answer
from tests.servers.site import site
from tests.tools.web.pictures import AVIF, BMP, GIF, JPEG, SVG, WEBP, Recorded, png
from toolcrib.toolbox import Toolbox
from toolcrib.tools.web.fetch_images import ImageSource, escaped, markdown, reference
from toolcrib.web.providers import Providers


@pytest.fixture
def workspace(tmp_path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    return root


@pytest.fixture
async def open_box(settings, server, workspace):
    boxes = []

    async def build(*, policy=None, **images):
        tree = settings(fetch={"host_gap_seconds": 0, "host_concurrency": 16})
        tree["egress"]["retry"] = {"retries": 0}
        tree["web"]["images"] = {"providers": ["recorded"], **images}
        tree["web"]["providers"]["recorded"] = {"base_url": server.url}
        tree["policy"] = policy or {}
        box = Toolbox(config=tree, workspace=workspace)
        boxes.append(box)
        await box.__aenter__()
        box.use(Providers).add(Recorded())
        return box

    yield build
    for box in boxes:
        await box.__aexit__(None, None, None)


@pytest.fixture
async def box(open_box):
    return await open_box()


def files(workspace: Path) -> list[str]:
    return sorted(str(p.relative_to(workspace)) for p in workspace.rglob("*") if p.is_file())


@pytest.mark.rows("A27", "A32", "A49")
async def test_saved_as_files(server, box, workspace):
    server["/a.png"] = Answer(png(), kind="image/png")
    server["/b"] = Answer(JPEG, kind=None)
    result = await box.call(
        "view_images", {"imageURLs": [f"{server.url}/a.png", f"{server.url}/b"]}
    )
    assert result.error is None
    first, second = result.data["images"]
    assert re.fullmatch(r"images/\d{13}-1\.png", first["path"])
    assert re.fullmatch(r"images/\d{13}-2\.jpg", second["path"])
    assert first["image"] == f"![a.png]({first['path']})"
    assert (first["width"], first["height"], first["bytes"]) == (3, 2, len(png()))
    assert (workspace / first["path"]).read_bytes() == png()
    assert (workspace / second["path"]).read_bytes() == JPEG
    assert f"1. {first['image']} (png, 3x2, {len(png())} bytes) from {server.url}/a" in result.text
    assert f"from {server.url}/b" in result.text.split("\n2. ")[1]
    assert [i.mime_type for i in result.images] == ["image/png", "image/jpeg"]
    assert len(files(workspace)) == 2


@pytest.mark.rows("A31")
@pytest.mark.parametrize(
    ("path", "body", "kind", "ending"),
    [
        ("/x.gif", png(), "image/gif", "png"),
        ("/x", GIF, "text/plain", "gif"),
        ("/x", JPEG, "text/html", "jpg"),
        ("/x", WEBP, None, "webp"),
        ("/x", SVG, "image/svg+xml", "svg"),
        ("/x", b"\xef\xbb\xbf<!-- x -->" + SVG[21:], "text/plain", "svg"),
        ("/x", AVIF, "application/octet-stream", "avif"),
        ("/x", BMP, None, "bmp"),
        ("/x.png", b"\x01\x02\x03odd", "image/webp", "webp"),
        ("/x.jpeg", b"\x01\x02\x03odd", None, "jpg"),
        ("/x.webp?y=.gif", b"\x01\x02\x03odd", "application/octet-stream", "webp"),
        ("/x.exe", b"\x01\x02\x03odd", None, "jpg"),
        ("/x", b"\x01\x02\x03odd", "image/jpeg; charset=binary", "jpg"),
    ],
)
async def test_the_kind(server, box, path, body, kind, ending):
    server[path.partition("?")[0]] = Answer(body, kind=kind)
    result = await box.call("fetch_images", {"urls": [server.url + path]})
    assert result.error is None
    assert result.data["images"][0]["path"].endswith(f"-1.{ending}")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "image/png"),
        (b"<!doctype html><title>Log in</title>", "text/html"),
        (b"<html><body>no", "image/png"),
        (b'{"error": 1}', "application/json"),
        (b"%PDF-1.7 x", "image/png"),
        (b"PK\x03\x04zip", "application/octet-stream"),
        (b"\x7fELF\0\0", "image/jpeg"),
        (b"not a picture", "text/plain"),
        (b"<?xml version='1.0'?><rss/>", "image/svg+xml"),
    ],
)
async def test_what_is_no_image_is_not_saved(server, box, workspace, body, kind):
    server["/x.png"] = Answer(body, kind=kind)
    result = await box.call("fetch_images", {"urls": [f"{server.url}/x.png"]})
    assert result.error.code == "unsupported_content"
    assert result.error.hint
    assert files(workspace) == []


async def test_a_page_is_sent_elsewhere(server, box):
    server["/page"] = Answer("<!doctype html><title>Log in</title>")
    server["/a.png"] = Answer(png(), kind="image/png")
    result = await box.call("fetch_images", {"urls": [f"{server.url}/page"]})
    assert result.error.code == "no_results"
    server["/with"] = Answer("<!doctype html><title>A</title><p>Hen<img src=/a.png alt=hen>")
    found = await box.call("fetch_images", {"url": f"{server.url}/with"})
    assert found.error is None
    assert "![hen](" in found.text
    both = await box.call("fetch_images", {"urls": [f"{server.url}/page", f"{server.url}/a.png"]})
    assert f"{server.url}/page Send it as page_url.\n" in both.text


async def test_svg_is_saved_and_not_shown(server, box):
    server["/x.svg"] = Answer(SVG, kind="image/svg+xml")
    result = await box.call("fetch_images", {"urls": [f"{server.url}/x.svg"]})
    assert result.images == ()
    assert "can hold scripts" in result.text


@pytest.mark.rows("A27")
async def test_an_error_for_each_in_order(server, box, workspace):
    server["/a.png"] = Answer(png(), kind="image/png")
    server["/gone.png"] = Answer("no", 404)
    urls = [
        f"{server.url}/gone.png",
        "ftp://example.org/x.png",
        f"{server.url}/a.png",
        "http://127.0.0.9/x.png",
        "not a url at all",
    ]
    result = await box.call("fetch_images", {"urls": urls})
    codes = [image.get("error", {}).get("code") for image in result.data["images"]]
    assert codes == ["http_status", "blocked_scheme", None, "blocked_address", "bad_input"]
    assert [image["url"] for image in result.data["images"]] == urls
    assert "Saved 1 of 5 images" in result.text
    assert result.text.count("Error (") == 4
    assert len(files(workspace)) == 1


@pytest.mark.rows("A27")
async def test_nothing_given(box):
    for given_ in ({}, {"urls": []}, {"urls": ["", " "]}, {"query": " "}):
        result = await box.call("fetch_images", given_)
        assert result.error.code == "bad_input"
        assert "at least one" in result.error.message


PAGE = """<!doctype html><title>p</title><main><p>Some words about the pictures here.</p>
<img src="/one.png" alt="The  [first]" title="T &amp; 1"><img src="two.gif?x=1#f">
<img src="/one.png" alt="again"><img src="data:image/png;base64,AAAA"><img src="/film.mp4">
<img src="https://127.0.0.9/in.png" alt="inside"></main>"""


@pytest.mark.rows("A28", "A47")
async def test_the_images_of_a_page(server, box):
    server["/dir/page"] = Answer(PAGE)
    server["/one.png"] = Answer(png(), kind="image/png")
    server["/dir/two.gif"] = Answer(GIF, kind="image/gif")
    result = await box.call("fetch_images", {"websiteURL": f"{server.url}/dir/page"})
    assert result.error is None
    first, second, third = result.data["images"]
    assert (first["alt"], first["title"]) == ("The [first]", "T & 1")
    assert first["image"].startswith(r"![The \[first\]](images/")
    assert second["filename"] == "two.gif"
    assert third["error"]["code"] == "blocked_address"
    assert server.requested[-1].headers["referer"] == f"{server.url}/"


async def test_a_page_without_images(server, box):
    server["/page"] = Answer("<main><p>Nothing to see here, only words.</p></main>")
    result = await box.call("fetch_images", {"page_url": f"{server.url}/page"})
    assert result.error.code == "no_results"
    assert "No images found" in result.error.message


async def test_a_search(server, box):
    images = [
        {
            "title": f"Cat {n}",
            "url": f"{server.url}/{n}.png",
            "extra": {"page": "https://p.example/"},
        }
        for n in range(3)
    ]
    server["/images"] = Answer(json.dumps({"images": images}), kind="application/json")
    for n in range(3):
        server[f"/{n}.png"] = Answer(png(n + 1), kind="image/png")
    result = await box.call("fetch_images", {"query": "cats", "limit": 2})
    assert [image["alt"] for image in result.data["images"]] == ["Cat 0", "Cat 1"]


@pytest.mark.rows("A29")
async def test_the_limit_and_the_way_on(server, open_box):
    for n in range(15):
        server[f"/{n}.png"] = Answer(png(n + 1), kind="image/png")
    urls = [f"{server.url}/{n}.png" for n in range(15)]
    box = await open_box()
    result = await box.call("fetch_images", {"urls": urls})
    assert len(result.data["images"]) == 10
    assert "5 more images were not saved" in result.text
    rest = await box.call(result.next.tool, dict(result.next.arguments))
    assert [image["url"] for image in rest.data["images"]] == urls[10:]
    assert rest.next is None
    assert (await box.call("fetch_images", {"urls": urls, "limit": -1})).error is not None
    assert (
        len((await box.call("fetch_images", {"urls": urls, "max_images": 3})).data["images"]) == 3
    )
    box = await open_box(save_limit=2)
    assert len((await box.call("fetch_images", {"urls": urls})).data["images"]) == 2


@pytest.mark.rows("A30")
async def test_the_size_and_the_time_of_one(server, open_box, workspace):
    held = threading.Event()
    server["/big.png"] = Answer(png(extra=b"x" * 5000), kind="image/png")
    server["/slow.png"] = Answer(png(), kind="image/png", hold=held)
    server["/a.png"] = Answer(png(), kind="image/png")
    box = await open_box(max_bytes=2000, timeout=4)
    urls = [f"{server.url}/{name}.png" for name in ("big", "slow", "a")]
    result = await box.call("fetch_images", {"urls": urls})
    held.set()
    codes = [image.get("error", {}).get("code") for image in result.data["images"]]
    assert codes == ["too_large", "timeout", None]
    assert "web.images.max_bytes" in result.data["images"][0]["error"]["hint"]
    assert len(files(workspace)) == 1


@pytest.mark.rows("A30")
async def test_how_many_at_once(server, open_box):
    running, maximum, lock = 0, 0, threading.Lock()

    def script(_):
        nonlocal running, maximum
        with lock:
            running += 1
            maximum = max(maximum, running)
        threading.Event().wait(0.05)
        with lock:
            running -= 1
        return Answer(png(), kind="image/png")

    for n in range(12):
        server[f"/{n}.png"] = script
    box = await open_box(concurrency=3)
    urls = [f"{server.url}/{n}.png" for n in range(12)]
    assert (await box.call("fetch_images", {"urls": urls, "limit": 12})).error is None
    assert maximum <= 3


async def test_few_and_small_ones_are_shown(server, box):
    for n in range(6):
        server[f"/{n}.png"] = Answer(png(n + 1), kind="image/png")
    server["/big.png"] = Answer(png(extra=b"x" * 500_000), kind="image/png")
    urls = [f"{server.url}/big.png", *(f"{server.url}/{n}.png" for n in range(6))]
    result = await box.call("fetch_images", {"urls": urls})
    assert len(result.images) == 4
    assert all(len(image.data) <= 400_000 for image in result.images)


async def test_never_over_another_file(server, open_box, workspace):
    server["/a.png"] = Answer(png(), kind="image/png")
    boxes = [await open_box() for _ in range(4)]
    calls = [b.call("fetch_images", {"urls": [f"{server.url}/a.png"]}) for b in boxes * 8]
    results = await asyncio.gather(*calls)
    paths = {result.data["images"][0]["path"] for result in results}
    assert len(paths) == len(files(workspace)) == 32


# --- the guard -------------------------------------------------------------------------


async def test_no_image_from_inside(server, settings, workspace):
    with site("127.0.0.1") as (inside, hits):
        port = inside.rpartition(":")[2]
        server["/r"] = Answer(status=302, headers={"Location": f"{inside}/page"})
        server["/page"] = Answer(f"<p>Words</p><img src='{inside}/page'><img src='/r'>")
        tree = settings()
        async with Toolbox(config=tree, workspace=workspace) as box:
            urls = [
                f"{inside}/page",
                f"http://localhost:{port}/page",
                f"http://2130706433:{port}/page",
                f"http://[::ffff:127.0.0.1]:{port}/page",
                f"http://0x7f.1:{port}/page",
                f"{server.url}/r",
            ]
            result = await box.call("fetch_images", {"urls": urls})
            await box.call("fetch_images", {"page_url": f"{server.url}/page"})
    assert result.error.code.startswith("blocked")
    assert hits == {}
    assert files(workspace) == []


async def test_a_rule_holds_for_images_of_a_page(server, open_box, workspace):
    server["/page"] = Answer("<p>Words</p><img src='/secret/a.png'>")
    server["/secret/a.png"] = Answer(png(), kind="image/png")
    rules = [{"action": "deny", "target": f"{server.url}/secret/*"}]
    box = await open_box(policy={"rules": rules})
    result = await box.call("fetch_images", {"page_url": f"{server.url}/page"})
    assert result.error.code == "denied"
    assert server.count("/secret/a.png") == 0
    assert files(workspace) == []


@pytest.mark.parametrize("folder", ["../out", "/tmp/out", ".git/x", "link", "file.txt", ".env"])
async def test_only_into_the_workspace(server, open_box, workspace, tmp_path, folder):
    (workspace / "link").symlink_to(tmp_path)
    (workspace / "file.txt").write_text("mine")
    server["/a.png"] = Answer(png(), kind="image/png")
    box = await open_box(folder=folder)
    result = await box.call("fetch_images", {"urls": [f"{server.url}/a.png"]})
    assert result.error.code in ("path_denied", "not_found")
    assert files(workspace) == ["file.txt"]
    assert not [p for p in tmp_path.iterdir() if p.suffix == ".png"]


async def test_the_folder_follows_the_conversation(server, open_box, workspace):
    server["/a.png"] = Answer(png(), kind="image/png")
    box = await open_box(folder="deep/down (1)")
    result = await box.call("fetch_images", {"urls": [f"{server.url}/a.png"]})
    image = result.data["images"][0]
    assert (workspace / image["path"]).is_file()
    assert re.fullmatch(r"!\[a\.png\]\(deep/down%20%281%29/\d+-1\.png\)", image["image"])


async def test_without_a_workspace(server, settings, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    async with Toolbox(config=settings()) as box:
        result = await box.call("fetch_images", {"urls": [f"{server.url}/a.png"]})
    # What is saved goes to the scratch folder of the conversation; here the server has nothing.
    assert result.error is None or result.error.code == "http_status"


# --- halves ----------------------------------------------------------------------------


async def test_a_broken_off_image_is_not_saved(server, box, workspace):
    server["/a.png"] = Answer(png(), kind="image/png", headers={"Content-Length": "999999"})
    result = await box.call("fetch_images", {"urls": [f"{server.url}/a.png"]})
    assert result.error is not None
    assert files(workspace) == []


async def test_cancelled_in_the_middle(server, box, workspace):
    held = threading.Event()
    server["/a.png"] = Answer(png(), kind="image/png", hold=held)
    call = asyncio.create_task(box.call("fetch_images", {"urls": [f"{server.url}/a.png"]}))
    await until(lambda: server.requested)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    held.set()
    assert files(workspace) == []


# --- texts -----------------------------------------------------------------------------


@pytest.mark.rows("A33")
@each_case(
    ("path", "displayed"),
    [
        ("images/1-1.png", "images/1-1.png"),
        ("a (1)/[b]\\c.png", "a%20%281%29/%5Bb%5D%5Cc.png"),
        ("C:\\Users\\me\\a(b).png", "/Users/me/a%28b%29.png"),
        ("d:/x/y.png", "/x/y.png"),
        ("100%/é.png", "100%25/%C3%A9.png"),
    ],
)
def test_references(path, displayed):
    assert reference(path) == displayed


@pytest.mark.rows("A33")
@given(st.text(), st.text(min_size=1))
def test_nothing_gets_out_of_a_reference(alt, path):
    written = markdown(alt, path)
    body = re.fullmatch(r"!\[((?:[^\\\[\]]|\\.)*)\]\(([^()\s<>\[\]\\]*)\)", written)
    assert body is not None
    assert "\n" not in escaped(alt)


@pytest.mark.rows("A34")
@each_case(
    ("url", "name"),
    [
        ("https://x.example/a/b%20c.png?d=e/f.gif#g", "b_c.png"),
        ("https://x.example/%E0%A4%A.png", "%E0%A4%A.png"),
        ("https://x.example/%D0%BA.png", "к.png"),
        ("https://x.example/..%2F..%2Fetc", ".._.._etc"),
        ("https://x.example/", ""),
        ("https://x.example", ""),
        ("https://[x/a.png", "a.png"),
        ("https://x.example/%00%0A%E2%80%AEgnp.exe", "_gnp.exe"),
    ],
)
def test_file_names(url, name):
    assert ImageSource(url).filename == name


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_folder_that_may_not_be_written(server, box, workspace):
    (workspace / "images").mkdir(mode=0o500)
    server["/a.png"] = Answer(png(), kind="image/png")
    result = await box.call("fetch_images", {"urls": [f"{server.url}/a.png"]})
    assert result.error.code == "path_denied"
