"""Facts of pictures, edits of them, comparisons: of every kind, and of what is no picture."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

from tests.cases import each_case
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.toolbox import Toolbox


def picture(width: int = 60, height: int = 40, mode: str = "RGB") -> Image.Image:
    """Red on the left, blue on the right; a green corner at the top left."""
    made = Image.new("RGB", (width, height), (0, 0, 220))
    made.paste((220, 0, 0), (0, 0, width // 2, height))
    made.paste((0, 200, 0), (0, 0, 6, 6))
    return made.convert(mode)


def save(path: Path, image: Image.Image, **options: object) -> None:
    image.save(path, **options)


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header promises very many pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 100_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.rows("C090", "X13")
async def test_facts(box: Toolbox, ws: Path) -> None:
    exif = Image.Exif()
    exif[0x0110] = "Camera 1"
    exif.get_ifd(0x8769)[0x9003] = "2026:05:01 10:20:30"
    place = exif.get_ifd(0x8825)
    place[1], place[2] = "N", (50.0, 30.0, 0.0)
    place[3], place[4] = "W", (7.0, 15.0, 36.0)
    save(ws / "a.jpg", picture(), exif=exif, dpi=(300, 300))
    found = await ok(box, "image_info", path="a.jpg")
    assert found.text.startswith("a.jpg: JPEG, 60 x 40 pixels, ")
    assert {"width": 60, "height": 40, "format": "JPEG"}.items() <= found.data.items()
    assert "DateTimeOriginal: 2026:05:01 10:20:30" in found.text
    assert "Model: Camera 1" in found.text
    assert found.data["dpi"] == [300.0, 300.0]
    assert found.data["modified"]
    assert "50." not in found.text
    assert "position=true" in found.text
    reported = await ok(box, "describe_image", imagePath="a.jpg", position=True)
    assert reported.data["position"] == {"latitude": 50.5, "longitude": -7.26}
    frames = [picture().rotate(n * 90) for n in range(3)]
    frames[0].save(ws / "b.gif", save_all=True, append_images=frames[1:], duration=200)
    assert "frames: 3, 0.6 s" in (await ok(box, "image_info", path="b.gif")).text
    Image.new("I;16", (5, 4)).save(ws / "c.png")
    assert (await ok(box, "image_info", path="c.png")).data["bits"] == 16
    save(ws / "d.png", picture(mode="CMYK"), format="JPEG")
    named = await ok(box, "image_info", path="d.png")
    assert "It is JPEG, whatever its name says." in named.text
    assert named.data["colors"] == "CMYK"
    (ws / "e.svg").write_text(
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 8">'
        "<script>alert(1)</script><rect onclick='x()'/></svg>"
    )
    drawing = await ok(box, "image_info", path="e.svg")
    assert drawing.data["scripts"] is True
    assert drawing.data["viewBox"] == "0 0 9 8"
    await refused(box, "edit_image", "unsupported_content", path="e.svg", resize="50%")


@pytest.mark.rows("C090")
async def test_a_position_in_any_note_is_told_only_on_request(box: Toolbox, ws: Path) -> None:
    xmp = '<x:xmpmeta><rdf:Description exif:GPSLatitude="50,30.5N"/></x:xmpmeta>'
    texts = PngInfo()
    texts.add_itxt("XML:com.adobe.xmp", " " * 500 + xmp)
    texts.add_text("Author", "moss")
    picture().save(ws / "a.png", pnginfo=texts)
    found = await ok(box, "image_info", path="a.png")
    assert "50,30" not in found.render()
    assert "50,30" not in str(found.data)
    assert "note Author: moss" in found.text
    assert "position=true" in found.text
    reported = await ok(box, "image_info", path="a.png", position=True)
    assert "50,30.5N" in reported.text
    exif = Image.Exif()
    exif[700] = xmp.encode()
    save(ws / "a.tiff", picture(), exif=exif)
    assert "50,30" not in (await ok(box, "image_info", path="a.tiff")).render()


async def test_a_turned_photograph_says_how_it_is_shown(box: Toolbox, ws: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    save(ws / "a.jpg", picture(), exif=exif)
    found = await ok(box, "image_info", path="a.jpg")
    assert "60 x 40 pixels" in found.text
    assert "shown turned, 40 x 60" in found.text
    edited = await ok(box, "edit_image", path="a.jpg", output="b.png")
    assert (edited.data["width"], edited.data["height"]) == (40, 60)


@pytest.mark.parametrize("name", ["a.png", "a.webp", "a.bmp", "a.tiff", "a.gif", "a.ico"])
async def test_each_format_is_written_and_undone(box: Toolbox, ws: Path, name: str) -> None:
    save(ws / "in.jpg", picture(), quality=95)
    done = await ok(box, "edit_image", path="in.jpg", output=name, crop="0,0,30,20")
    with Image.open(ws / name) as made:
        assert made.size == (30, 20)
        assert made.convert("RGB").getpixel((20, 15))[0] > 180
    assert done.images
    await ok(box, "undo_changes")
    assert not (ws / name).exists()


async def test_steps_in_their_order(box: Toolbox, ws: Path) -> None:
    save(ws / "a.png", picture())
    before = (ws / "a.png").read_bytes()
    await ok(box, "edit_image", path="a.png", rotate=90)
    with Image.open(ws / "a.png") as made:
        assert made.size == (40, 60)
        assert made.getpixel((38, 2)) == (0, 200, 0)
    await ok(box, "undo_changes")
    assert (ws / "a.png").read_bytes() == before
    for resize, size in (
        *(("30x30", (30, 20)), ("30x", (30, 20)), ("x80", (120, 80)), ("50%", (30, 20))),
        *(("10x50!", (10, 50)), ("120", (120, 80))),
    ):
        await ok(box, "resize_image", path="a.png", output="b.png", resize=resize)
        with Image.open(ws / "b.png") as made:
            assert made.size == size, resize
    marks = [{"x": 5, "y": 15, "width": 30, "height": 15, "color": "#ff0"}, {"x": 2, "y": 2}]
    await refused(box, "edit_image", "bad_input", path="a.png", marks=marks)
    marks[1]["text"] = "Ä1 字"
    await ok(box, "edit_image", path="a.png", output="c.png", resize="600%", marks=marks)
    with Image.open(ws / "c.png") as made:
        assert made.getpixel((5, 20)) == (255, 255, 0)
    await ok(box, "edit_image", path="a.png", output="d.png", rotate=30)
    with Image.open(ws / "d.png") as made:
        assert made.size[0] > 60


async def test_a_photograph_stands_upright_and_says_nothing_of_its_place(
    box: Toolbox, ws: Path
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[1] = "N"
    save(ws / "a.jpg", picture(), exif=exif, quality=95)
    done = await ok(box, "edit_image", path="a.jpg", output="b.jpg", quality=60)
    assert "Notes of the camera are not kept." in done.text
    with Image.open(ws / "b.jpg") as made:
        assert made.size == (40, 60)
        assert not dict(made.getexif())


async def test_animations_keep_their_frames(box: Toolbox, ws: Path) -> None:
    frames = [Image.new("RGB", (30, 20), color) for color in ("red", "green", "blue")]
    frames[0].save(ws / "a.gif", save_all=True, append_images=frames[1:], duration=200, loop=0)
    await ok(box, "edit_image", path="a.gif", output="b.gif", resize="15x")
    await ok(box, "edit_image", path="a.gif", output="c.webp")
    done = await ok(box, "edit_image", path="a.gif", output="d.png", crop="0,0,10,10")
    assert "3 frames" in done.text
    for name, size in (("b.gif", (15, 10)), ("c.webp", (30, 20)), ("d.png", (10, 10))):
        with Image.open(ws / name) as made:
            assert (made.n_frames, made.size) == (3, size), name
            made.seek(2)
            assert made.convert("RGB").getpixel((5, 5))[2] > 200
    first = await ok(box, "edit_image", path="a.gif", output="e.jpg")
    assert "Only the first of 3 frames is kept." in first.text


async def test_times_of_an_animated_webp_are_kept(box: Toolbox, ws: Path) -> None:
    times = [100, 200, 300, 1000]
    frames = [Image.new("RGB", (30, 20), color) for color in ("red", "green", "blue", "white")]
    frames[0].save(ws / "a.webp", save_all=True, append_images=frames[1:], duration=times, loop=2)
    assert "frames: 4, 1.6 s" in (await ok(box, "image_info", path="a.webp")).text
    for name in ("b.webp", "b.gif", "b.png"):
        await ok(box, "edit_image", path="a.webp", output=name, resize="50%")
        found = []
        with Image.open(ws / name) as made:
            for number in range(made.n_frames):
                made.seek(number)
                made.load()
                found.append(int(made.info["duration"]))
        assert found == times, name


async def test_pages_are_no_frames(box: Toolbox, ws: Path) -> None:
    pages = [Image.new("RGB", (30, 20), color) for color in ("red", "green")]
    pages[0].save(ws / "a.tiff", save_all=True, append_images=pages[1:])
    assert "pages: 2" in (await ok(box, "image_info", path="a.tiff")).text
    done = await ok(box, "edit_image", path="a.tiff", output="b.png")
    assert "Only the first of 2 pages is kept." in done.text
    with Image.open(ws / "b.png") as made:
        assert getattr(made, "n_frames", 1) == 1


async def test_an_icon_says_how_large_it_is(box: Toolbox, ws: Path) -> None:
    save(ws / "a.bmp", picture(400, 200))
    done = await ok(box, "edit_image", path="a.bmp", output="a.ico")
    assert "ICO, 256 x 128 pixels" in done.text
    assert "an icon has up to 256 pixels" in done.text
    with Image.open(ws / "a.ico") as made:
        assert made.size == (256, 128)


async def test_texts_of_marks_stay_within_the_picture(box: Toolbox, ws: Path) -> None:
    save(ws / "a.png", Image.new("RGB", (400, 200), "white"))
    text = "The words of a mark at the lower right of a picture that are longer than it is wide"
    for x, y in ((390, 190), (0, 0), (200, 100)):
        marks = [{"x": x, "y": y, "text": text, "size": 14, "color": "#000"}]
        await ok(box, "edit_image", path="a.png", output="b.png", marks=marks)
        with Image.open(ws / "b.png") as made:
            left, top, right, bottom = ImageOps.invert(made.convert("L")).getbbox()
            assert right - left > 300
            assert bottom - top > 20, "it has two lines"
            assert right <= 400 - 1
            assert bottom <= 200 - 1


async def test_other_depths_and_colours(box: Toolbox, ws: Path) -> None:
    deep = Image.new("I;16", (256, 4))
    deep.putdata([n * 257 for n in range(256)] * 4)
    deep.save(ws / "deep.png")
    done = await ok(box, "edit_image", path="deep.png", output="flat.png", quality=100)
    assert "more than 8 bits became 8" in done.text
    with Image.open(ws / "flat.png") as made:
        assert [made.getpixel((n, 0)) for n in (0, 128, 255)] == [0, 128, 255]
    save(ws / "cmyk.jpg", picture(mode="CMYK"))
    made = await ok(box, "edit_image", path="cmyk.jpg", output="rgb.png")
    assert "CMYK, became RGB" in made.text
    with Image.open(ws / "rgb.png") as made:
        assert made.mode == "RGB"
        assert made.getpixel((50, 30))[2] > 180
    clear = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
    save(ws / "clear.png", clear)
    done = await ok(box, "edit_image", path="clear.png", output="clear.jpg")
    assert "became white" in done.text
    with Image.open(ws / "clear.jpg") as made:
        assert made.getpixel((5, 5)) == (255, 255, 255)


async def test_width_and_height_are_a_size_to_fit(box: Toolbox, ws: Path) -> None:
    Image.new("RGB", (50, 40), "red").save(ws / "a.png")
    for given, size in (({"width": 25}, (25, 20)), ({"width": 25, "height": 10}, (12, 10))):
        result = await box.call("resize_image", {"path": "a.png", "output": "b.png", **given})
        assert result.error is None, result.error
        with Image.open(ws / "b.png") as made:
            assert abs(made.width - size[0]) <= 1
            assert made.height == size[1]


async def test_a_picture_in_place_of_another_is_told(box: Toolbox, ws: Path) -> None:
    save(ws / "a.png", picture())
    save(ws / "b.png", picture(30))
    assert "in place of" not in (await ok(box, "edit_image", path="a.png", resize="50%")).text
    other = await ok(box, "edit_image", path="a.png", resize="50%", output="b.png")
    assert "b.png, in place of what was there (undo_changes brings it back)" in other.text


async def test_as_few_bytes_as_asked_for(box: Toolbox, ws: Path) -> None:
    save(ws / "a.png", Image.effect_noise((500, 400), 90).convert("RGB"))
    done = await ok(box, "compress_image", path="a.png", output="b.jpg", max_kb=60)
    assert (ws / "b.jpg").stat().st_size <= 60_000
    assert "Saved at quality" in done.text
    large = await refused(box, "edit_image", "too_large", path="a.png", output="c.jpg", max_kb=5)
    with Image.open(ws / "a.png") as image:
        width, height = image.size
    assert f"resize={width // 2}x{height // 2}." in large.render()
    await refused(box, "edit_image", "too_large", path="a.png", output="c.png", max_kb=5)
    assert not (ws / "c.jpg").exists()


async def test_what_is_no_picture(box: Toolbox, ws: Path) -> None:
    save(ws / "whole.jpg", picture(300, 200))
    save(ws / "whole.png", picture(300, 200))
    (ws / "bomb.png").write_bytes(bomb(50_000, 50_000))
    (ws / "promise.png").write_bytes(bomb(9_000, 9_000))
    (ws / "empty.png").write_bytes(b"")
    (ws / "text.png").write_text("no picture")
    (ws / "report.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    document = await refused(box, "image_info", "unsupported_content", path="report.pdf")
    assert "report.pdf is no picture" in document.render()
    assert "read_document" in document.render()
    (ws / "cut.jpg").write_bytes((ws / "whole.jpg").read_bytes()[:1200])
    (ws / "cut.png").write_bytes((ws / "whole.png").read_bytes()[:-60])
    (ws / "eps.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    facts = await refused(box, "image_info", "too_large", path="bomb.png")
    assert facts.error is not None
    assert facts.error.details["width"] == 50_000
    for name in ("text.png", "empty.png", "eps.png", "cut.jpg", "cut.png", "promise.png"):
        await refused(box, "edit_image", "unsupported_content", path=name, resize="50%")
    await refused(box, "edit_image", "too_large", path="bomb.png", resize="50%")
    await refused(box, "compare_images", "too_large", path="whole.png", other="bomb.png")
    half = await ok(box, "image_info", path="cut.png")
    assert "Only its header can be read." in half.text
    await refused(box, "image_info", "not_found", path="none.png")
    for arguments in (
        {"resize": "0x0"}, {"resize": "big"}, {"crop": "1,2"}, {"crop": "50,0,20,10"},
        {"crop": "0,0,0,10"}, {"output": "x.xyz"}, {}, {"resize": "800x!"},
        {"marks": [{"text": "a", "x": 900, "y": 1}]}, {"marks": [{"text": "\u1300", "color": "?"}]},
    ):  # fmt: skip
        (ws / "ok.png").write_bytes((ws / "whole.png").read_bytes()[:])
        if "crop" in arguments:
            save(ws / "ok.png", picture())
        await refused(box, "edit_image", "bad_input", path="ok.png", **arguments)
    await refused(box, "edit_image", "too_large", path="whole.png", resize="60000x60000!")


@pytest.mark.rows("C092")
async def test_comparing(box: Toolbox, ws: Path) -> None:
    one, two = picture(), picture()
    two.paste((255, 255, 255), (10, 20, 14, 23))
    save(ws / "a.png", one)
    save(ws / "b.png", two)
    save(ws / "c.bmp", one)
    save(ws / "d.png", one.resize((120, 80)))
    await refused(box, "edit_image", "bad_input", path="a.png", output="c.png", format="webp")
    both = await ok(box, "edit_image", path="a.png", output="c.jpg", format="jpeg")
    assert both.data["path"] == "c.jpg"
    same = await ok(box, "compare_images", image1Path="a.png", image2Path="a.png")
    assert same.data["identical"] is True
    assert "identical" in same.text
    pixels = await ok(box, "compare_images", a="a.png", b="c.bmp")
    assert (pixels.data["identical"], pixels.data["differing"]) == (False, 0)
    assert pixels.data["similarity"] == 100
    found = await ok(box, "compare_images", path="a.png", other="b.png", output="diff.png")
    assert found.data["differing"] == 12
    assert found.data["area"] == [10, 20, 14, 23]
    assert 98 < found.data["similarity"] < 100
    assert found.images
    with Image.open(ws / "diff.png") as made:
        assert made.getpixel((11, 21)) == (224, 0, 0)
    await ok(box, "undo_changes")
    assert not (ws / "diff.png").exists()
    sizes = await ok(box, "compare_images", path="a.png", other="d.png")
    assert "The sizes differ" in sizes.text
    loose = await ok(box, "compare_images", path="a.png", other="b.png", tolerance=255)
    assert loose.data["differing"] == 0
    await refused(box, "compare_images", "bad_input", path="a.png", other="b.png", output="x.gif")


def rgb_of_16_bits(red: int) -> bytes:
    """A PNG of one pixel."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checked = kind + body
        return struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(b"\0" + struct.pack(">HHH", red, 0, 0)))
    return b"\x89PNG\r\n\x1a\n" + head + pixel + chunk(b"IEND", b"")


async def test_all_frames_are_compared_and_bits_that_are_not_are_told(
    box: Toolbox, ws: Path
) -> None:
    frames = [Image.new("RGB", (30, 20), (n * 40, 0, 0)) for n in range(6)]
    frames[0].save(ws / "a.gif", save_all=True, append_images=frames[1:])
    frames[4].paste((0, 255, 0), (10, 5, 12, 8))
    frames[0].save(ws / "b.gif", save_all=True, append_images=frames[1:])
    frames[0].save(ws / "short.gif", save_all=True, append_images=frames[1:3])
    found = await ok(box, "compare_images", path="a.gif", other="b.gif")
    assert (found.data["differing"], found.data["area"]) == (6, [10, 5, 12, 8])
    assert "Frames that differ, of 6: 5;" in found.text
    short = await ok(box, "compare_images", path="a.gif", other="short.gif")
    assert "They have 6 and 3 frames; compared: 3." in short.text
    assert "as far as they were compared" in short.text
    (ws / "a.png").write_bytes(rgb_of_16_bits(0x1200))
    (ws / "b.png").write_bytes(rgb_of_16_bits(0x1234))
    deep = await ok(box, "compare_images", path="a.png", other="b.png")
    assert "Compared by 8 bits of a channel; 16 are there." in deep.text
    edited = await ok(box, "edit_image", path="a.png", output="c.png")
    assert "colours of more than 8 bits became 8" in edited.text


async def test_a_picture_that_changes_meanwhile_is_not_overwritten(ws: Path) -> None:
    buffer = BytesIO()
    picture().save(buffer, "PNG")
    (ws / "a.png").write_bytes(buffer.getvalue())
    async with Toolbox(workspace=ws) as box:
        first = await ok(box, "edit_image", path="a.png", resize="50%")
        second = await ok(box, "edit_image", path="a.png", resize="50%")
    assert first.data["width"] == 30
    assert second.data["width"] == 15


@each_case("operation", ["resize", "crop", "rotate", "compress", "annotate", "sharpen"])
async def test_an_operation_that_nothing_does_is_not_passed_over(
    box: Toolbox, ws: Path, operation: str
) -> None:
    picture().save(ws / "a.png")
    given = {"path": "a.png", "operation": operation, "output": "b.png"}
    result = await box.call("edit_image", given)
    assert result.error is not None
    assert not (ws / "b.png").exists()


@each_case(
    ("given", "size"),
    [
        ({"resize": [8, 6]}, (8, 6)),
        ({"resize": {"width": 8, "height": 6}}, (8, 6)),
        ({"crop": [0, 0, 5, 4]}, (5, 4)),
        ({"crop": {"x": 0, "y": 0, "width": 5, "height": 4}}, (5, 4)),
        ({"x": 1, "y": 1, "width": 5, "height": 4}, (5, 4)),
        ({"angle": "90 degrees"}, (12, 16)),
        ({"operation": "resize", "width": 8}, (8, 6)),
    ],
)
async def test_sizes_as_other_tools_have_them(
    box: Toolbox, ws: Path, given: dict[str, Any], size: tuple[int, int]
) -> None:
    Image.new("RGB", (16, 12)).save(ws / "a.png")
    done = await ok(box, "edit_image", image="a.png", output="b.png", **given)
    assert (done.data["width"], done.data["height"]) == size


async def test_a_picture_in_another_format(box: Toolbox, ws: Path) -> None:
    Image.new("RGB", (16, 12)).save(ws / "a.png")
    done = await ok(box, "edit_image", path="a.png", format="WEBP")
    assert (done.data["path"], done.data["format"]) == ("a.webp", "WEBP")
    (ws / "a.jpg").write_bytes(b"another picture")
    refused = await box.call("edit_image", {"path": "a.png", "format": "jpg"})
    assert refused.error is not None
    assert (ws / "a.jpg").read_bytes() == b"another picture"
    same = await ok(box, "compare_images", paths=["a.png", "a.webp"])
    assert "All pixels are the same" in same.text
