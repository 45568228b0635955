"""Which handler reads what, and what is refused by name."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cases import each_case
from tests.servers.scripted import Answer
from toolcrib.core.errors import BadInput, Internal, UnsupportedContent
from toolcrib.web.handlers import Handlers
from toolcrib.web.page import Page, RawPage

URL = "https://site.example/a/page"
PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    + (640).to_bytes(4, "big")
    + (480).to_bytes(4, "big")
    + bytes(60)
)


def read(body: bytes | str, kind: str = "", charset: str = "", form: str = "markdown") -> Page:
    body = body.encode() if isinstance(body, str) else body
    return Handlers().convert(RawPage(URL, kind, charset, body, form))


@pytest.mark.rows("A24", "D23", "B18")
@each_case(
    ("kind", "body", "read_as"),
    [
        ("text/html", "<p>x", "html"),
        (
            "application/xhtml+xml",
            "<html xmlns='http://www.w3.org/1999/xhtml'><p>x</p></html>",
            "html",
        ),
        ("application/json", "[1]", "json"),
        ("application/ld+json", "{}", "json"),
        ("application/xml", "<a><b/></a>", "xml"),
        ("application/mathml+xml", "<math/>", "xml"),
        ("application/soap+xml", "<a/>", "xml"),
        ("application/rss+xml", "<rss><channel/></rss>", "feed"),
        ("text/xml", '<?xml version="1.0"?><!-- x --><rss version="2.0"><channel/></rss>', "feed"),
        ("text/html", '<?xml version="1.0"?><rss version="0.91"><channel/></rss>', "feed"),
        ("application/xml", '<feed xmlns="http://www.w3.org/2005/Atom"/>', "feed"),
        ("application/xml", "<feed/>", "xml"),
        ("application/json", '{"version": "https://jsonfeed.org/version/1", "items": []}', "feed"),
        ("text/xml", "<!DOCTYPE html><html><p>x</p></html>", "html"),
        ("text/html", '{"a": 1}', "json"),
        ("text/html", "{a brace} <p>x", "html"),
        ("text/csv", "a,b\n1,2", "csv"),
        ("text/tab-separated-values", "a\tb\n1\t2", "csv"),
        ("text/plain", "<p>x", "text"),
        ("text/markdown", "# x", "text"),
        ("text/x-python", "x = 1", "text"),
        ("application/x-ndjson", '{"a": 1}\n{"a": 2}', "text"),
        ("application/javascript", "x()", "text"),
        ("image/png", PNG, "image"),
        ("image/jpeg", PNG, "image"),
        ("text/html", PNG, "image"),
        ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>", "image"),
        ("application/xml", "<?xml version='1.0'?><svg width='4' height='5'/>", "image"),
    ],
)
def test_a_type_has_its_handler(kind, body, read_as):
    assert read(body, kind).kind == read_as


@pytest.mark.rows("A24", "B23", "D23")
@each_case(
    "declared",
    ["", "application/octet-stream", "binary/octet-stream", "application/x-download", "html"],
)
@each_case(
    ("body", "read_as"),
    [
        ("plain words, no more", "text"),
        ("", "text"),
        ("  <!DOCTYPE html><p>x", "html"),
        ("<!-- c --><HTML><p>x", "html"),
        ("<div class=a>x</div>", "html"),
        ("<?xml version='1.0'?><a/>", "xml"),
        ("<?xml version='1.0'?><rdf:RDF xmlns='http://purl.org/rss/1.0/' xmlns:rdf='r'/>", "feed"),
        ('{"a": [1, 2]}', "json"),
        ("[link] in plain text", "text"),
        ("{ not: json", "text"),
        (PNG, "image"),
        ("<svg viewBox='0 0 30 20'/>", "image"),
        ("naïve café".encode("utf-16"), "text"),
        ("<html><p>UTF-16 without a mark".encode("utf-16-le"), "html"),
    ],
)
def test_what_is_not_said_is_sniffed(declared, body, read_as):
    assert read(body, declared).kind == read_as


@pytest.mark.rows("A24", "D23", "D24")
@each_case(
    ("kind", "body", "named"),
    [
        ("application/pdf", b"%PDF-1.7\n" + bytes(100), "application/pdf, a PDF document"),
        ("application/pdf", b"no such thing", "application/pdf"),
        ("application/octet-stream", b"%PDF-1.7\n", "application/octet-stream, a PDF document"),
        ("text/plain", b"%PDF-1.7\n\xe2\xe3", "text/plain, a PDF document"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            b"PK\3\4",
            "word",
        ),
        ("application/msword", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
        ("text/rtf", rb"{\rtf1}", "text/rtf"),
        ("application/zip", b"PK\3\4", "application/zip"),
        ("video/mp4", b"", "video/mp4"),
        ("audio/mpeg", b"ID3", "audio/mpeg"),
        ("font/woff2", b"wOF2", "font/woff2"),
        ("application/x-shockwave-flash", b"CWS", "application/x-shockwave-flash"),
        ("application/wasm", b"\0asm", "application/wasm"),
        ("application/octet-stream", bytes(range(256)), "application/octet-stream"),
        ("", bytes(200), "binary file"),
        ("", b"\x1f\x8b\x08" + bytes(9), "gzip archive"),
        ("text/plain", b"\x7fELF" + bytes(100), "ELF program"),
        ("text/plain", b"words \0\0\0\0\0 words", "binary file"),
        ("image/png", b"<p>not found</p>", "image/png and is text"),
        ("image/png", b"\x7fELF" + bytes(100), "ELF program"),
        ("x" * 500 + "/y", b"x", "unknown type"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(kind, body, named):
    with pytest.raises(UnsupportedContent) as refused:
        read(body, kind)
    assert named in refused.value.message
    assert refused.value.hint
    assert len(refused.value.message) < 200


def test_documents_are_told_from_what_is_never_read():
    with pytest.raises(UnsupportedContent, match="documents reader"):
        read(b"%PDF-1.7", "application/pdf")
    with pytest.raises(UnsupportedContent) as refused:
        read(b"", "video/mp4")
    assert "reader" not in refused.value.message
    assert "HTML" in refused.value.hint


@pytest.mark.rows("B20", "D30")
@each_case("body", ["{", "", "nope", '{"a": 1} x', "[" * 100_000, "9" * 5000 + "x"])
def test_broken_json_is_an_error_and_readable_raw(body):
    with pytest.raises(UnsupportedContent, match="JSON could not be parsed") as refused:
        read(body, "application/json")
    assert "raw" in refused.value.hint
    assert read(body, "application/json", form="raw").text == body


@pytest.mark.rows("A23", "B20", "D30")
def test_json_is_laid_out():
    assert read('{"a":[1,"ü"]}', "application/json").text == '{\n  "a": [\n    1,\n    "ü"\n  ]\n}'
    assert read(")]}',\n[1]", "application/json").text == "[\n  1\n]"


@pytest.mark.rows("A23", "B22")
def test_plain_text_stays_with_its_line_ends_mended():
    assert read("a\r\nb\n\n\n\tc  ", "text/plain").text == "a\nb\n\n\n\tc  "


def thing(raw: RawPage) -> Page:
    return Page(raw.body.decode("utf-8", "replace").upper(), "thing", "A thing")


@pytest.mark.rows("B18")
@each_case("added", ["application/x-thing", "application/*", "+json", "text/html", "text/*"])
def test_a_handler_of_ones_own_comes_first(added):
    handlers = Handlers()
    handlers.add(added, thing)
    kinds = {
        "+json": "application/a+json",
        "text/*": "text/html",
        "application/*": "application/json",
    }
    raw = RawPage(URL, kinds.get(added, added), "", b"<p>x")
    assert handlers.convert(raw).text == "<P>X"
    assert handlers.find(raw.media_type) is thing


def test_documents_are_read_once_there_is_a_handler_for_them():
    handlers = Handlers()
    handlers.add("application/pdf", thing)
    for kind in ("application/pdf", "application/octet-stream", ""):
        assert handlers.convert(RawPage(URL, kind, "", b"%PDF-1.7")).kind == "thing"


@each_case("kind", ["", "html", "/", "a/", "/b"])
def test_a_handler_needs_a_kind(kind):
    with pytest.raises(ValueError, match="media type"):
        Handlers().add(kind, thing)
    with pytest.raises(ValueError, match="called"):
        Handlers().add("text/x", None)


def test_what_a_handler_throws_is_an_error_of_the_page():
    handlers = Handlers()
    handlers.add("text/a", lambda raw: 1 / 0)
    handlers.add("text/b", lambda raw: "no document")
    for kind in ("text/a", "text/b"):
        with pytest.raises(Internal, match=kind):
            handlers.convert(RawPage(URL, kind, "", b"x"))

    def picky(raw):
        raise BadInput("Not today.")

    handlers.add("text/c", picky)
    with pytest.raises(BadInput):
        handlers.convert(RawPage(URL, "text/c", "", b"x"))


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Installed packages that declare handlers: good ones, a mapping, and broken ones."""
    package = tmp_path / "site"
    info = package / "crib_things-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crib-things\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[toolcrib.handlers]\n"
        "application/x-one = crib_things_sample:convert\n"
        "absent = no_such_module_anywhere:convert\n"
        "several = crib_things_sample:KINDS\n"
        "nothing = crib_things_sample:NOTHING\n"
    )
    (package / "crib_things_sample.py").write_text(
        "from toolcrib.web.page import Page\n"
        "def convert(raw):\n    return Page('converted', 'thing')\n"
        "KINDS = {'application/x-two': convert, '+three': convert}\n"
        "NOTHING = 3\n"
    )
    monkeypatch.syspath_prepend(str(package))
    yield
    sys.modules.pop("crib_things_sample", None)


@pytest.mark.rows("B18")
def test_packages_bring_handlers_and_a_broken_one_harms_nothing(plugins):
    handlers = Handlers()
    for kind in ("application/x-one", "application/x-two", "application/a+three"):
        assert handlers.convert(RawPage(URL, kind, "", b"x")).text == "converted"
    assert handlers.convert(RawPage(URL, "text/plain", "", b"x")).text == "x"
    reported = " ".join(handlers.warnings)
    assert len(handlers.warnings) == 2
    assert "'absent'" in reported
    assert "'nothing'" in reported


async def test_fetch_url_reads_with_the_handler_that_was_added(server, box):
    server["/thing"] = Answer("a thing", kind="application/x-thing")
    address = f"{server.url}/thing"
    refused = await box.call("fetch_url", {"url": address})
    assert refused.error.code == "unsupported_content"
    assert "application/x-thing" in refused.error.message
    box.use(Handlers).add("application/x-thing", thing)
    server["/other"] = Answer("a thing", kind="application/x-thing")
    result = await box.call("fetch_url", {"url": f"{server.url}/other"})
    assert result.data["pages"][0]["content"] == "A THING"


@each_case("form", ["markdown", "text", "raw"])
def test_every_form_is_json_ready(form):
    document = read("<title>t</title><p>x<a href=/y>z</a><img src=/i.png>", "text/html", form=form)
    assert json.dumps(document.text)
