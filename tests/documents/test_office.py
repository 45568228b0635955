"""Office files and books: what they say, and files that are broken or hostile."""

from __future__ import annotations

import asyncio
import io
import socket
import subprocess
import sys
import zipfile

import pytest

from tests.cases import each_case
from tests.documents import office
from tests.documents.office import (
    TABLE,
    XML,
    A,
    docx,
    odf,
    odf_table,
    packed,
    paragraph,
    pptx,
    shape,
    xlsx,
)
from toolcrib.core.errors import (
    BadInput,
    TimedOut,
    TooLarge,
    ToolError,
    UnsupportedContent,
)
from toolcrib.system.processes import Processes

pytest.importorskip("xberg", reason="needs the extra 'documents'")

ROW = "| Quarter | Ships |"
CASES = [
    (
        "docx",
        docx,
        ["# Annual Harbour Report", "## Methods", "- first item", ROW, "| Q1 | 1,001 |"],
    ),
    ("pptx", pptx, ["## Slide 1: Annual Harbour Report", ROW, "| Q1 | 1,001 |", "first item"]),
    ("xlsx", xlsx, ["## Sheet 1: Ships", ROW, "| Q1 | 1001 |", "## Sheet 2: Crew", "| OSPREY |"]),
    ("odt", office.odt, ["# Annual Harbour Report", "## Methods", "- second item", ROW]),
    ("ods", office.ods, ["## Sheet 1: Ships", ROW, "## Sheet 2: Crew"]),
    ("odp", office.odp, ["Annual Harbour Report"]),
    ("rtf", office.rtf, ["**Annual Harbour Report**", ROW]),
    ("epub", office.epub, ["# Annual Harbour Report", "# Methods", "- first item", ROW]),
]


@pytest.mark.rows("C068", "E86")
@each_case(("kind", "make", "lines"), CASES, ids=[c[0] for c in CASES])
async def test_structure(documents, kind, make, lines):
    found = await documents.read(make())
    assert found.kind == kind
    assert found.title in ("Harbour Report", "Annual Harbour Report")
    displayed = found.markdown.replace(" ----- ", " --- ").split("\n")
    for line in lines:
        assert line in displayed
    assert "KESTREL" in found.markdown


async def test_books_are_read_in_the_order_of_their_spine(documents):
    text = (await documents.read(office.epub())).markdown
    assert text.index("KESTREL") < text.index("first item")


async def test_slides_come_as_they_are_shown_with_their_notes(documents):
    found = await documents.read(pptx(order=(3, 1, 2)))
    assert [page.name for page in found.pages] == ["Closing", "Annual Harbour Report", "Figures"]
    assert found.pages[0].text == "### Speaker notes\n\nThank the pilots, marker HERON."
    assert found.pages[1].text.endswith("### Speaker notes\n\nSay hello first, marker OSPREY.")
    assert "Notes" not in found.pages[2].text


async def test_a_table_stands_where_it_does_on_its_slide(documents):
    table = office.slide_table([["Pier", "Depth"], ["North", "11 m"]])
    other = office.slide_table([["Crane", "Load"], ["K1", "40 t"]])
    shapes = shape("Title", "title") + shape("before it", "body") + table + shape("after it")
    found = await documents.read(pptx([(shapes + other, ""), (other + shape("last"), "")]))
    texts = [page.text for page in found.pages]
    order = ["before it", "| North | 11 m |", "after it", "| K1 | 40 t |"]
    assert [texts[0].index(one) for one in order] == sorted(texts[0].index(one) for one in order)
    assert "| K1 | 40 t |" in texts[1]


async def test_many_slides_keep_their_own_notes(documents):
    slides = [(shape(f"Title {n}", "title"), f"Note {n}\nand more") for n in range(1, 13)]
    found = await documents.read(pptx(slides, order=tuple(range(12, 0, -1))))
    assert [page.name for page in found.pages] == [f"Title {n}" for n in range(12, 0, -1)]
    for page, number in zip(found.pages, range(12, 0, -1), strict=True):
        assert page.text == f"### Speaker notes\n\nNote {number}\nand more"
    few = await documents.read(pptx(slides), pages="2,11")
    assert [page.name for page in few.pages] == ["Title 2", "Title 11"]


async def test_formulas_without_values_are_told(documents):
    rows = [["n", "twice"], [1, "=A2*2"], [2, "=A3*2"]]
    found = await documents.read(xlsx({"Sums": rows}))
    (note,) = found.warnings
    assert note.startswith("2 formulas in B read as empty, for the file has no values of them")
    several = await documents.read(xlsx({"Plain": [["a"], [1]], "Sums": rows}))
    assert [warning.partition(" in ")[0] for warning in several.warnings] == ["Sums: 2 formulas"]
    first = await documents.read(xlsx({"Plain": [["a"], [1]], "Sums": rows}), pages="1")
    assert first.warnings == ()


async def test_sheets_are_chosen(documents):
    found = await documents.read(xlsx(), pages="2")
    assert found.markdown.startswith("## Sheet 2: Crew")
    assert "KESTREL" not in found.markdown
    named = await documents.read(xlsx(), pages="crew")
    assert named.markdown == found.markdown
    both = await documents.read(xlsx(), pages="Ships, Crew")
    assert [page.name for page in both.pages] == ["Ships", "Crew"]
    with pytest.raises(BadInput, match="does not name pages"):
        await documents.read(xlsx(), pages="Nobody")
    with pytest.raises(BadInput, match="sheet 3"):
        await documents.read(xlsx(), pages="3")
    whole = await documents.read(docx(), pages="2")
    assert "KESTREL" in whole.markdown
    assert any("no fixed pages" in warning for warning in whole.warnings)


@each_case("kind", [c[0] for c in CASES if c[0] != "rtf"])
async def test_torn_and_empty_archives_are_errors(documents, kind):
    data = {c[0]: c[1] for c in CASES}[kind]()
    names = {"docx": "x.docx"}
    for torn in (data[: len(data) // 2], data[:-30], data[:10]):
        with pytest.raises(UnsupportedContent) as raised:
            await documents.read(torn, name=names.get(kind, f"x.{kind}"))
        assert raised.value.hint


def item(text: str, of: str = "", level: int = 0) -> str:
    """A paragraph of a list: by its style, or of another list."""
    listed = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{of}"/></w:numPr>' if of else ""
    style = "" if of else '<w:pStyle w:val="Steps"/>'
    return f"<w:p><w:pPr>{style}{listed}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


NUMBERING = f"""{XML}<w:numbering {office.W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0">
<w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId
w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
</w:numbering>"""
STYLES = f"""{XML}<w:styles {office.W}><w:style w:type="paragraph" w:styleId="Steps"><w:name
w:val="Steps"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>"""


async def test_a_numbered_list_goes_on_after_other_text(documents):
    body = item("Cut the wood") + item("Sand it") + paragraph("Let it rest.")
    body += item("Paint it") + item("Dry it") + paragraph("Then the lid:")
    body += item("Measure", "2") + item("Saw", "2") + paragraph("At last:") + item("Sand it", "2")
    parts = {"word/numbering.xml": NUMBERING, "word/styles.xml": STYLES}
    found = await documents.read(docx(body, **parts))
    lines = [line for line in found.markdown.splitlines() if line[:1].isdigit()]
    assert lines == [
        *("1. Cut the wood", "2. Sand it", "3. Paint it", "4. Dry it"),
        *("1. Measure", "2. Saw", "3. Sand it"),
    ]


async def test_headers_and_footers_of_a_text_document_are_given_once(documents):
    def margin(kind: str, text: str) -> str:
        return f"{XML}<w:{kind} {office.W}>{paragraph(text)}</w:{kind}>"

    parts = {
        "word/header1.xml": margin("hdr", "Harbour Office"),
        "word/header2.xml": margin("hdr", "Harbour Office"),
        "word/footer1.xml": margin("ftr", "Contract 55-A"),
        "word/footer2.xml": margin("ftr", "7"),
    }
    text = (await documents.read(docx(**parts))).markdown
    assert text.count("Header: Harbour Office") == 1
    assert text.rstrip().endswith("Footer: Contract 55-A")
    assert text.index("Header: ") < text.index("KESTREL") < text.index("Footer: ")
    assert "Header:" not in (await documents.read(docx())).markdown


@each_case("name", ["x.docx", "x.pdf", "x.csv", ""])
async def test_nothing_is_an_error(documents, name):
    with pytest.raises(UnsupportedContent, match="empty"):
        await documents.read(b"", name=name)


async def test_other_archives_are_refused(documents):
    with pytest.raises(UnsupportedContent, match="ZIP archive"):
        await documents.read(packed({"a.txt": "x"}), name="x.docx")
    with pytest.raises(UnsupportedContent, match="gzip"):
        await documents.read(b"\x1f\x8b\x08" + bytes(50), name="x.docx")


async def test_locked_files_are_told(documents):
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    locked += "EncryptedPackage".encode("utf-16-le") + bytes(600)
    for name in ("x.docx", "x.xlsx", ""):
        with pytest.raises(UnsupportedContent, match="encrypted") as raised:
            await documents.read(locked, name=name)
        assert "password" in raised.value.hint


async def test_parts_that_are_missing_are_errors(documents):
    with pytest.raises(UnsupportedContent):
        await documents.read(packed({"word/document.xml.bak": "x", "[Content_Types].xml": "y"}))


def zip_bomb() -> bytes:
    return docx("<w:p/>", **{"word/media/zeros.bin": "\0" * 300_000_000})


def text_bomb() -> bytes:
    return docx(paragraph("A" * 150_000_000))


def deep_xml() -> bytes:
    return docx("<w:sdt>" * 200_000)


def entity_bomb() -> bytes:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "lol">{lol}]>'
    return docx(
        **{
            "word/document.xml": f"{text}<w:document {office.W}><w:body><w:p><w:r><w:t>"
            "&l11;</w:t></w:r></w:p></w:body></w:document>"
        }
    )


def notes_bomb() -> bytes:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bad = (
        f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "lol">{lol}]>'
        f"<p:notes {A} {office.P}><p:sp><a:p><a:r><a:t>&l11;</a:t></a:r></a:p></p:sp></p:notes>"
    )
    data = pptx()
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, bad if "notesSlide9" in name else old.read(name))
    return out.getvalue()


def many_parts() -> bytes:
    return docx(**{f"word/x{n}.xml": "" for n in range(25_000)})


def many_sheets() -> bytes:
    return xlsx({f"S{n}": [["a", n]] for n in range(3_000)})


def many_rows() -> bytes:
    return xlsx({"Long": [["a", "b"], *([f"row {n}", n] for n in range(100_000))]})


def wide_sheet() -> bytes:
    cells = '<c r="XFD1048576" t="inlineStr"><is><t>far</t></is></c>'
    row = f'<row r="1048576">{cells}</row>'
    sheet = f"{XML}<worksheet {office.S}><sheetData>{row}</sheetData></worksheet>"
    data = xlsx()
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, sheet if name.endswith("sheet1.xml") else old.read(name))
    return out.getvalue()


def repeated_cells() -> bytes:
    row = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell '
        'table:number-columns-repeated="10000" office:value-type="string"><text:p>x</text:p>'
        "</table:table-cell></table:table-row>"
    )
    return odf("spreadsheet", f'<table:table table:name="T">{row}</table:table>')


def nested() -> bytes:
    data = b"x"
    for _ in range(10):
        data = packed({"inner.zip": data})
    return docx(**{"word/embeddings/inner.zip": data})


BOMBS = [
    zip_bomb,
    text_bomb,
    deep_xml,
    entity_bomb,
    notes_bomb,
    many_parts,
    many_sheets,
    many_rows,
    wide_sheet,
    repeated_cells,
    nested,
]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("make", BOMBS)
async def test_hostile_files_end(services, documents, make):
    try:
        found = await asyncio.wait_for(documents.read(make()), 60)
    except ToolError as error:
        assert isinstance(error, TooLarge | TimedOut | UnsupportedContent)
        assert error.hint
    else:
        assert len(found.markdown) < 2_600_000
        assert "lol" * 100 not in found.markdown
    assert services.use(Processes).running <= 1
    again = await documents.read(docx(paragraph("still fine")))
    assert "still fine" in again.markdown


async def test_a_hundred_thousand_rows_are_cut_and_told(documents):
    found = await documents.read(many_rows())
    assert found.markdown.startswith("## Sheet 1: Long")
    assert "| row 9 | 9 |" in found.markdown
    assert "row 99999" in found.markdown or any("Only the first" in w for w in found.warnings)


async def test_nothing_outside_is_fetched(documents):
    """References to other machines and files stay references."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        there = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        relation = (
            f'{XML}<Relationships {office.PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{office.REL}/attachedTemplate" Target="{there}" TargetMode="External"/>'
            "</Relationships>"
        )
        found = await documents.read(
            docx(paragraph("words"), **{"word/_rels/settings.xml.rels": relation})
        )
        assert "words" in found.markdown
        rtf = rf"{{\rtf1{{\field{{\*\fldinst INCLUDEPICTURE {there}}}{{\fldrslt words}}}}}}"
        await documents.read(rtf.encode())
        with pytest.raises(TimeoutError):
            server.accept()


async def test_tables_keep_what_would_break_them(documents):
    rows = [*TABLE, ("a|b", "c")]
    found = await documents.read(odf("text", odf_table(rows)))
    assert any(
        line.count("|") in (3, 4) and "a" in line and "b" in line
        for line in found.markdown.split("\n")
    )


def test_without_the_extra_the_error_names_it(tmp_path):
    """In a process that cannot import the library."""
    (tmp_path / "x.docx").write_bytes(docx())
    code = (
        "import sys, asyncio\n"
        "from importlib.machinery import PathFinder\n"
        "class Without(PathFinder):\n"
        "    @classmethod\n"
        "    def find_spec(cls, name, path=None, target=None):\n"
        "        return None if name == 'xberg' else super().find_spec(name, path, target)\n"
        "sys.meta_path[sys.meta_path.index(PathFinder)] = Without\n"
        "from toolcrib.toolbox import Toolbox\n"
        "async def main():\n"
        f"    async with Toolbox({{'workspace': {{'roots': [{str(tmp_path)!r}]}}}}) as box:\n"
        "        r = await box.call('read_document', {'path': 'x.docx'})\n"
        "        print(r.error.code, r.error.message, r.error.hint)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert "missing_extra" in done.stdout, done.stderr
    assert "Word document" in done.stdout
    assert 'pip install "toolcrib[documents]"' in done.stdout
