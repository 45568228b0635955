"""Text, codes and meaning read from pictures; pictures of a screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from tests.servers.model import Turn, model_server
from tests.tools.files.test_tree_changes import ok, refused
from tests.tools.images.pages import page, png
from toolcrib.documents.ocr_child import ready
from toolcrib.toolbox import Toolbox

TEXT = "The harbour lies quiet today\nTwo boats return at 5:30 with fish"
needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="needs the program tesseract"
)


@needs_tesseract
async def test_a_few_words_on_a_large_page_are_read(box: Toolbox, ws: Path) -> None:
    image = Image.new("RGB", (2480, 3508), (250, 249, 244))
    image.paste(page(TEXT).point([min(gray, 245) for gray in range(256)]), (300, 300))
    image.save(ws / "sparse.jpg", quality=50)
    found = await ok(box, "ocr_image", path="sparse.jpg", language="eng")
    assert found.data["text"] == TEXT


@needs_tesseract
@pytest.mark.rows("C089")
async def test_text_of_pictures(box: Toolbox, ws: Path) -> None:
    image = page(TEXT)
    image.save(ws / "a.png")
    found = await ok(box, "image_to_text", imagePath="a.png", language="eng")
    assert TEXT in found.text
    assert found.data["text"] == TEXT
    assert found.data["confidence"] > 85
    assert found.data["words"] == 12
    line = found.data["lines"][0]
    assert line["text"] == TEXT.splitlines()[0]
    assert abs(line["box"][0] - 40) < 8
    assert abs(line["box"][1] - 45) < 12
    displayed = await ok(box, "ocr_image", path="a.png", boxes=True)
    assert f"%: {TEXT.splitlines()[1]}" in displayed.text


@needs_tesseract
@pytest.mark.parametrize("name", ["side.png", "dark.jpg", "small.png", "specks.png", "p.gif"])
async def test_pages_as_they_come(box: Toolbox, ws: Path, name: str) -> None:
    image = page(TEXT)
    if name == "side.png":
        image = page("\n".join([TEXT] * 4)).rotate(90, expand=True)
    elif name == "dark.jpg":
        image = image.point(lambda v: 230 - v * 0.8)
    elif name == "small.png":
        image = page(TEXT, 15, 400)
    elif name == "specks.png":
        noise = Image.effect_noise(image.size, 60).point(lambda v: 255 if v > 253 else 0)
        image.paste(0, mask=noise)
    image.save(ws / name)
    found = await ok(box, "ocr_image", path=name, language="en")
    assert TEXT.splitlines()[0] in found.text, found.text
    box_of = found.data["lines"][0]["box"]
    assert box_of[0] + box_of[2] <= image.width
    assert box_of[1] + box_of[3] <= image.height


@needs_tesseract
@pytest.mark.rows("C089")
@pytest.mark.parametrize("degrees", [90, 180, 270])
async def test_a_few_words_that_lie_on_a_side(box: Toolbox, ws: Path, degrees: int) -> None:
    upright = page(TEXT)
    upright.rotate(degrees, expand=True).save(ws / "turned.png")
    upright.save(ws / "upright.png")
    found = await ok(box, "ocr_image", path="turned.png")
    assert TEXT in found.text, found.text
    wanted = (await ok(box, "ocr_image", path="upright.png")).data["lines"][0]["box"]
    left, top, width, height = found.data["lines"][0]["box"]
    x, y, across, down = wanted
    full_width, full_height = upright.size
    expected = {
        90: (y, full_width - x - across, down, across),
        180: (full_width - x - across, full_height - y - down, across, down),
        270: (full_height - y - down, x, down, across),
    }[degrees]
    for got, want in zip((left, top, width, height), expected, strict=True):
        assert abs(got - want) <= 12, (found.data["lines"][0]["box"], expected)


def test_a_picture_without_a_line_is_enlarged_in_bounds() -> None:
    request = {"scale": 3.0, "median": False, "quarters": 0, "max_enlarged": 1_000_000}
    for size, scale in (((500, 500), 2.0), ((2000, 1000), 1.0), ((200, 100), 3.0)):
        answer, _ = ready(request, png(Image.new("L", size, 255)))
        assert answer["scale"] == scale, size


@needs_tesseract
async def test_what_cannot_be_read(box: Toolbox, ws: Path) -> None:
    Image.new("L", (400, 300), 255).save(ws / "blank.png")
    (ws / "no.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    await refused(box, "ocr_image", "no_results", path="blank.png")
    await refused(box, "ocr_image", "unsupported_content", path="no.png")
    gone = await refused(box, "ocr_image", "unavailable", path="blank.png", language="xyz")
    assert gone.error is not None
    assert "tesseract-ocr-xyz" in gone.error.hint
    for language in ("eng;rm", "-h", "../../x"):
        await refused(box, "ocr_image", "bad_input", path="blank.png", language=language)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="needs the extra ocr")
async def test_rapidocr_reads_where_tesseract_is_not(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page(TEXT).save(ws / "a.png")
    monkeypatch.setenv("PATH", str(ws))
    async with Toolbox(workspace=ws) as box:
        found = await ok(box, "ocr_image", path="a.png")
        assert found.data["engine"] == "rapidocr"
        assert "harbour" in found.text
        await refused(box, "ocr_image", "unavailable", path="a.png", language="deu")


async def test_codes_are_made_and_read(box: Toolbox, ws: Path) -> None:
    for text, name in (
        ("https://example.org/a?b=1", "a.png"),
        ("WIFI:S:net;T:WPA;P:päss 字;;", "b.png"),
        ("x" * 1500, "c.png"),
    ):
        made = await ok(box, "make_qr", text=text, output=name)
        assert made.images[0].mime_type == "image/png"
        found = await ok(box, "read_qr", path=name)
        assert found.data["codes"][0]["text"] == text
        assert found.data["codes"][0]["kind"].startswith("QR")
    await ok(box, "make_qr", data="1", path="d.svg")
    assert "<svg" in (ws / "d.svg").read_text()
    await ok(box, "undo_changes")
    assert not (ws / "d.svg").exists()
    with Image.open(ws / "a.png") as small:
        large = Image.new("RGB", (4000, 3000), "white")
        large.paste(small.convert("RGB").rotate(20, expand=True, fillcolor="white"), (2500, 1500))
        large.save(ws / "photo.jpg", quality=60)
    found = await ok(box, "scan_barcode", path="photo.jpg")
    x, y, *_ = found.data["codes"][0]["box"]
    assert x > 2400
    assert y > 1400
    page(TEXT).save(ws / "none.png")
    await refused(box, "read_qr", "no_results", path="none.png")
    await refused(box, "make_qr", "too_large", text="x" * 3000, output="e.png")
    await refused(box, "make_qr", "bad_input", text="x", output="e.gif")
    await refused(box, "make_qr", "bad_input", text="", output="e.png")


@pytest.mark.rows("C093")
async def test_the_users_vision_model_is_asked(ws: Path) -> None:
    Image.new("RGB", (4000, 1000), "red").save(ws / "a.png")
    with model_server(Turn("A red field.")) as model:
        async with Toolbox(model.config(), workspace=ws) as box:
            found = await ok(box, "analyze_image", imagePath="a.png", prompt="What is it?")
    assert "A red field." in found.text
    parts = model.requested[-1]["messages"][0]["content"]
    assert parts[0]["text"].startswith("What is it?")
    sent = parts[1]["image_url"]["url"]
    assert sent.startswith("data:image/jpeg;base64,")
    assert len(sent) < 100_000


async def test_a_picture_is_made_smaller_without_what_reads_codes(
    ws: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "zxingcpp.py").write_text("raise ModuleNotFoundError('zxingcpp')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "blocked"))
    monkeypatch.setitem(sys.modules, "zxingcpp", None)
    Image.new("RGB", (4000, 1000), "red").save(ws / "a.png")
    with model_server(Turn("A red field.")) as model:
        async with Toolbox(model.config(), workspace=ws) as box:
            assert "A red field." in (await ok(box, "analyze_image", path="a.png")).text
            await refused(box, "read_qr", "missing_extra", path="a.png")


async def test_a_model_without_eyes_is_told(ws: Path) -> None:
    Image.new("RGB", (40, 10), "red").save(ws / "a.png")
    with model_server(Turn("")) as model:
        async with Toolbox(model.config(), workspace=ws) as box:
            await refused(box, "analyze_image", "no_results", path="a.png")
    async with Toolbox({"agent": {"base_url": "http://127.0.0.1:9/v1"}}, workspace=ws) as box:
        await refused(box, "analyze_image", "unavailable", path="a.png")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    program = shutil.which("Xvfb")
    if program is None:
        if os.environ.get("CI"):
            raise RuntimeError("xvfb is missing; .ci/run installs it")
        pytest.skip("needs Xvfb")
    ready, reported = os.pipe()
    size = ["-screen", "0", "320x240x24"]
    with subprocess.Popen(
        [program, "-displayfd", str(reported), *size, "-nolisten", "tcp"], pass_fds=[reported],
        stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        os.close(reported)
        with os.fdopen(ready) as stream:
            monkeypatch.setenv("DISPLAY", f":{stream.readline().strip()}")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield
        server.terminate()


ALLOWED = {"policy": {"rules": [{"action": "allow", "tool": "screenshot_desktop"}]}}


@pytest.mark.rows("C091", "X13")
@pytest.mark.usefixtures("screen")
async def test_a_picture_of_the_screen(ws: Path) -> None:
    async with Toolbox(ALLOWED, workspace=ws) as box:
        seen = await ok(box, "screenshot_desktop")
        assert seen.data["width"] == 320
        assert seen.images
        await ok(box, "screenshot_desktop", outputPath="a.jpg", format="jpeg", quality=40)
        await ok(box, "screenshot_desktop", output="a.png", monitor=1)
        await refused(box, "screenshot_desktop", "bad_input", monitor=7)
        await refused(box, "screenshot_desktop", "bad_input", output="a.gif")
    for name, kind in (("a.jpg", "JPEG"), ("a.png", "PNG")):
        with Image.open(ws / name) as made:
            assert (made.format, made.size) == (kind, (320, 240))


async def test_without_a_screen_it_is_said(
    box: Toolbox, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    await refused(box, "screenshot_desktop", "needs_approval")
    async with Toolbox(ALLOWED, workspace=ws) as free:
        await refused(free, "screenshot_desktop", "unavailable")
        monkeypatch.setenv("DISPLAY", ":987654")
        gone = await refused(free, "screenshot_desktop", "unavailable")
        assert gone.error is not None
        assert "cannot be read" in gone.error.message
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-9")
        gone = await refused(free, "screenshot_desktop", "unavailable")
        assert gone.error is not None
        assert "Wayland" in gone.error.message


def test_pages_are_what_they_should_be() -> None:
    assert png(page("a")).startswith(b"\x89PNG")
