"""Documents that are text: tables, JSON, notebooks, mail, feeds, pages."""

from __future__ import annotations

import json
from email.message import EmailMessage

import pytest

from tests.cases import each_case
from tests.documents.texts import atom, rss
from toolcrib.core.document_settings import DocumentsConfig
from toolcrib.core.errors import NotConfigured, TooLarge, UnsupportedContent
from toolcrib.documents.documents import Documents
from toolcrib.execution.workers import Workers


@pytest.mark.rows("E86")
@each_case(
    ("data", "name", "header", "rows", "line"),
    [
        (b"a,b\n1,2\n3,4\n", "x.csv", ["a", "b"], 2, "| 3 | 4 |"),
        (b"a;b\r\n1;2\r\n", "x.csv", ["a", "b"], 1, "| 1 | 2 |"),
        (b"a\tb\n1\tx|y\n", "x.tsv", ["a", "b"], 1, "| 1 | x\\|y |"),
        (b'a,b\n"1\n2",3\n', "x.csv", ["a", "b"], 1, "| 1 2 | 3 |"),
        ("né,b\n1,2\n".encode("cp1252"), "x.csv", ["né", "b"], 1, "| né | b |"),
        ("\ufeffa,b\n1,2\n".encode("utf-16"), "x.csv", ["a", "b"], 1, "| 1 | 2 |"),
        (b"a,b\n1\n1,2,3\n", "x.csv", ["a", "b"], 2, "| 1 |  |  |"),
    ],
)
async def test_tables(documents, data, name, header, rows, line):
    found = await documents.read(data, name=name)
    assert found.kind in ("csv", "tsv")
    assert found.metadata["header"] == header
    assert found.metadata["rows"] == rows
    assert line in found.markdown.split("\n")
    assert "| --- |" in found.markdown


@each_case("data", [b'a,b\n"' + b"x\n" * 1000, b"one\ntwo\n", b"," * 5000, b'"'])
async def test_odd_tables_stay_as_they_are(documents, data):
    found = await documents.read(data, name="x.csv")
    assert found.kind == "csv"


async def test_a_long_table_is_cut(documents):
    found = await documents.read(b"a,b\n" + b"some words,other words\n" * 200_000, name="x.csv")
    assert found.metadata["rows"] == 200_000
    assert len(found.markdown) == 2_000_000
    assert any("Only the first 2,000,000" in warning for warning in found.warnings)


@pytest.mark.rows("E86")
async def test_json_says_whether_it_is_valid(documents):
    good = await documents.read(b'{"a":[1,{"b":"\xc3\xa9"}]}', name="x.json")
    assert good.metadata["valid"] is True
    assert '    {\n      "b": "é"\n    }' in good.markdown
    bad = await documents.read(b'{"a":[1,', name="x.json")
    assert bad.metadata["valid"] is False
    assert bad.markdown == '{"a":[1,'
    assert "not valid JSON" in bad.warnings[0]
    deep = await documents.read(b"[" * 90_000 + b"]" * 90_000, name="x.json")
    assert deep.metadata["valid"] is False
    nested = await documents.read(b"[" * 300 + b"]" * 300, name="x.json")
    assert nested.markdown == "[" * 300 + "]" * 300


def notebook(*cells: dict) -> bytes:
    reported = {"nbformat": 4, "metadata": {"kernelspec": {"language": "julia"}}, "cells": cells}
    return json.dumps(reported).encode()


async def test_notebooks_show_code_and_what_it_gave(documents):
    found = await documents.read(
        notebook(
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {
                "cell_type": "code",
                "source": "f(1)\n```",
                "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["one\n", "two"]},
                    {"output_type": "execute_result", "data": {"text/plain": "42", "x/y": "z"}},
                    {"output_type": "display_data", "data": {"image/png": "AAAA"}},
                    {
                        "output_type": "error",
                        "ename": "E",
                        "evalue": "v",
                        "traceback": ["\x1b[31mE\x1b[0m: v"],
                    },
                ],
            },
            {"cell_type": "raw", "source": "as it is"},
        ),
        name="x.ipynb",
    )
    assert found.kind == "ipynb"
    assert found.title == "Title"
    assert found.metadata == {"language": "julia", "cells": 3}
    text = found.markdown
    assert "# Title\nwords" in text
    assert "````julia\nf(1)\n```\n````" in text
    assert "Output:\n\n```\none\ntwo\n```" in text
    assert "```\n42\n```" in text
    assert "[image/png]" in text
    assert "AAAA" not in text
    assert "E: v" in text
    assert "\x1b" not in text


@each_case(
    "data",
    [b"{", b"[]", b'{"nbformat": 4}', b'{"cells": 3}', b'{"cells": ', b"[" * 100_000],
)
async def test_damaged_notebooks_are_errors(documents, data):
    with pytest.raises(UnsupportedContent):
        await documents.read(data, name="x.ipynb")


@each_case(
    "cells",
    [
        [None, 1, "x"],
        [{"cell_type": "code", "source": 3, "outputs": "x"}],
        [{"cell_type": "code", "outputs": [1, {"output_type": "stream", "text": {"a": 1}}]}],
        [{"cell_type": "code", "outputs": [{"data": [1]}, {"data": {"text/plain": None}}]}],
    ],
)
async def test_odd_cells_do_no_harm(documents, cells):
    found = await documents.read(
        json.dumps({"cells": cells, "metadata": []}).encode(), name="x.ipynb"
    )
    assert found.kind == "ipynb"


async def test_mail(documents):
    message = EmailMessage()
    message["From"], message["To"] = "Ä <a@b.example>", "c@d.example"
    message["Subject"], message["Date"] = "Häfen", "Mon, 05 Jan 2026 10:00:00 +0000"
    message.set_content("Grüße, marker KESTREL.\n", charset="iso-8859-15")
    message.add_alternative("<p>not this</p>", subtype="html")
    message.add_attachment(b"%PDF-x", maintype="application", subtype="pdf", filename="r.pdf")
    found = await documents.read(message.as_bytes())
    assert found.kind == "eml"
    assert found.title == "Häfen"
    text = found.markdown
    assert "Subject: Häfen" in text
    assert "Ä <a@b.example>" in text
    assert "Grüße, marker KESTREL." in text
    assert "not this" not in text
    assert "- r.pdf (application/pdf, 6 bytes)" in text
    html = EmailMessage()
    html["From"], html["To"], html["Subject"] = "a@b.example", "c@d.example", "x"
    html.set_content("<h1>Head</h1><script>no()</script><ul><li>one</li></ul>", subtype="html")
    displayed = (await documents.read(html.as_bytes())).markdown
    assert "# Head" in displayed
    assert "one" in displayed
    assert "no()" not in displayed


MAILBOX = b"""From ann@e.example Mon Jan  1 00:00:00 2024
From: Ann <ann@e.example>
To: Bob
Subject: =?utf-8?q?=C3=9Cberweisung?=
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

U2Now7ZuZSBHcsO8w59lCg==

From bob@e.example Tue Jan  2 00:00:00 2024
From: Bob <bob@e.example>
To: Ann
Subject: Second

From here on it goes.
>From there too.
"""


async def test_a_mailbox_is_all_of_its_messages(documents):
    found = await documents.read(MAILBOX, name="mail.mbox")
    assert found.kind == "eml"
    assert found.metadata["messages"] == 2
    text = found.markdown
    assert text.index("# \u00dcberweisung") < text.index("Sch\u00f6ne Gr\u00fc\u00dfe")
    assert "# Second" in text
    assert "From here on it goes.\nFrom there too." in text
    patch = b"From " + b"a" * 40 + b" Mon Sep 17 00:00:00 2001\nFrom: A\nDate: x\nSubject: y\n\nz\n"
    assert (await documents.read(patch, name="x")).kind == "text"


async def test_a_message_that_was_sent_on_is_read(documents):
    inner = b"From: Cy\nTo: Ann\nSubject: Inner\n\nThe inner text.\n"
    head = b"From: Ann\nTo: Bob\nSubject: Fwd\nContent-Type: multipart/mixed; boundary=x\n\n"
    parts = (b"--x\n\nSee below.\n", b"--x\nContent-Type: message/rfc822\n\n" + inner, b"--x--\n")
    found = await documents.read(head + b"".join(parts), name="m.eml")
    assert "See below." in found.markdown
    assert "Forwarded message:" in found.markdown
    assert "The inner text." in found.markdown


@each_case(
    "data",
    [
        b"From: =?x?q?\nTo: <<<>>>\nDate: x\nSubject: =?utf-16?b?/w==?=\n\nbody",
        b"From: a\nTo: b\nContent-Type: multipart/mixed; boundary=x\n\n--x\n--x\n--x--",
        b"From: a\nTo: b\nContent-Type: multipart/mixed\n\nno boundary",
        b"From: a\nTo: b\nContent-Type: text/plain; charset=nonsense\n\n\xff\xfe",
        b"From: a\nTo: b\nContent-Transfer-Encoding: base64\n\n@@@@",
        b"From: a\nTo: b\nContent-Type: message/rfc822\n\n" * 300 + b"x",
        b"From: a\nTo: b\nSubject: " + b"x" * 900_000 + b"\n\nbody",
    ],
)
async def test_odd_mail_does_no_harm(documents, data):
    found = await documents.read(data, name="x.eml")
    assert found.kind == "eml"
    assert "From: " in found.markdown


@pytest.mark.parametrize(("data", "kind"), [(rss(), "rss"), (atom(), "atom")])
async def test_feeds(documents, data, kind):
    found = await documents.read(data, name="feed.xml")
    assert found.kind == kind
    assert found.metadata["items"] == 1
    assert found.markdown.startswith("# Harbour")
    assert "## One\n\nhttps://e.example/1\n" in found.markdown
    assert "KESTREL" in found.markdown
    assert "2026" in found.markdown


async def test_xml_and_its_bombs_stay_as_they_are(documents):
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    for text in (
        "<?xml version='1.0'?><a>KESTREL</a>",
        f"<?xml version='1.0'?><!DOCTYPE a [{lol}]><a>&l11;</a>",
        f"<?xml version='1.0'?><!DOCTYPE rss [{lol}]><rss version='2.0'><title>&l11;</title></rss>",
    ):
        found = await documents.read(text.encode(), name="x.xml")
        assert len(found.markdown) < 2 * len(text)
    assert found.kind in ("xml", "rss")


async def test_pages_of_html_are_read_by_the_reader(documents):
    words = "<p>" + "Some words about a harbour and its ships. " * 20 + "</p>"
    page = (
        "<!doctype html><html><head><title>Harbour</title></head><body><nav><a href=/>Menu</a>"
        f"</nav><article><h1>Harbour</h1>{words * 4}<table><tr><th>a</th><th>b</th></tr><tr><td>1"
        "</td><td>2</td></tr></table></article></body></html>"
    )
    found = await documents.read(page.encode(), name="x.html")
    assert found.kind == "html"
    assert found.title == "Harbour"
    assert "about a harbour" in found.markdown


async def test_text_is_itself(documents):
    found = await documents.read("# Häfen\n\nwords\r\n".encode(), name="x.md")
    assert (found.kind, found.title, found.markdown) == ("text", "Häfen", "# Häfen\n\nwords")


@each_case("codec", ["shift-jis", "koi8-r", "gb18030", "big5", "euc-kr", "cp1251"])
async def test_charsets_work_where_no_file_can_be_opened(documents, codec):
    words = {
        "shift-jis": "港の船",
        "gb18030": "港口的船",
        "big5": "港口的船",
        "euc-kr": "항구의 배",
    }
    text = words.get(codec, "корабли в гавани") * 5
    found = await documents.read(text.encode(codec), media_type=f"text/plain; charset={codec}")
    assert found.markdown == text


async def test_what_is_binary_is_refused(documents):
    with pytest.raises(UnsupportedContent) as raised:
        await documents.read(bytes(range(256)) * 10, name="x.csv")
    assert "PDF" in raised.value.hint
    with pytest.raises(UnsupportedContent):
        await documents.read(b"\1\2\3\4" * 100, name="x.csv")
    with pytest.raises(NotConfigured, match="OCR") as image:
        await documents.read(b"\x89PNG\r\n\x1a\n" + bytes(50), name="x.png")
    assert "documents.ocr" in image.value.hint


async def test_size_is_bounded(services):
    small = Documents(services.use(Workers), None, DocumentsConfig(max_bytes=100))
    with pytest.raises(TooLarge, match="101 bytes") as raised:
        await small.read(b"x" * 101)
    assert "documents.max_bytes" in raised.value.hint
