"""Scans and pictures read by tesseract, where that is installed and configured."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.cases import each_case
from tests.documents.pdfs import drawn, page_of, pdf, picture, png, scan
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, TimedOut, ToolError, Unavailable, UnsupportedContent
from toolcrib.documents.documents import Documents
from toolcrib.system.processes import Processes

if shutil.which("tesseract") is None:
    if os.environ.get("CI"):
        raise RuntimeError("tesseract-ocr is missing; .ci/run installs it")
    pytest.skip("needs the program tesseract", allow_module_level=True)

WORDS = "The harbour KESTREL opens"


def reader(**settings):
    return Services(Config(documents={"ocr": "tesseract", **settings}))


async def test_pictures_are_read():
    services = reader()
    found = await services.use(Documents).read(png(*drawn(WORDS)), name="x.png")
    assert found.kind == "image"
    assert "KESTREL" in found.markdown
    assert found.metadata["ocr"] == "eng"
    processes = services.use(Processes)
    await services.close()
    assert processes.running == 0


async def test_scanned_pages_are_read_and_the_others_left():
    services = reader()
    width, height, grey = drawn(WORDS)
    data = pdf(
        [page_of([(12, 72, 700, "Text that is text.")]), b"q 612 0 0 792 0 0 cm /Im1 Do Q"],
        resources="/XObject << /Im1 5 0 R >>",
        more=[picture(width, height, grey)],
    )
    found = await services.use(Documents).read(data)
    assert found.pages[0].text == "Text that is text."
    assert "KESTREL" in found.pages[1].text
    assert found.scanned == ()
    assert not found.diagnostic
    assert any("Read by OCR: page 2" in warning for warning in found.warnings)
    await services.close()


async def test_pages_are_bounded_and_the_rest_is_told():
    services = reader(ocr_pages=1)
    found = await services.use(Documents).read(scan(*drawn(WORDS), pages=3))
    assert "KESTREL" in found.pages[0].text
    assert found.scanned == (2, 3)
    assert "2 of 3 pages" in found.diagnostic
    assert any("pages 2, 3" in warning for warning in found.warnings)
    more = await services.use(Documents).read(scan(*drawn(WORDS), pages=3), pages="2")
    assert "KESTREL" in more.pages[0].text
    await services.close()


async def test_what_it_cannot_do_is_said():
    services = reader(ocr_language="xyz")
    with pytest.raises(Unavailable, match="language xyz") as raised:
        await services.use(Documents).read(png(*drawn(WORDS)))
    assert "documents.ocr_language" in raised.value.hint
    await services.close()
    services = reader()
    documents = services.use(Documents)
    with pytest.raises(UnsupportedContent, match="picture"):
        await documents.read(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises((TimedOut, ToolError)):
        await documents.read(png(*drawn(WORDS)), deadline=0.0)
    await services.close()


@each_case("language", ["", "-h", "eng deu", "../../x", "eng;x"])
async def test_a_language_is_a_name(language):
    services = reader(ocr_language=language)
    with pytest.raises(ConfigError):
        services.use(Documents)
    await services.close()
