"""PDF: structure, pages, and files that are broken, locked, scanned or hostile."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.cases import each_case
from tests.documents.pdfs import (
    REPORT_PAGES,
    assembled,
    encrypted,
    grid,
    page_of,
    pdf,
    report,
    scan,
)
from toolcrib.core.errors import BadInput, TimedOut, TooLarge, UnsupportedContent
from toolcrib.documents.pdf import whole_words
from toolcrib.system.processes import Processes

GREY = bytes([200]) * 10_000


@pytest.mark.rows("A22", "D29")
async def test_structure(documents):
    found = await documents.read(report(), name="report.pdf")
    assert (found.kind, found.title, found.unit, found.total) == (
        "pdf",
        "Harbour Report",
        "page",
        2,
    )
    assert found.non_empty == 2
    assert found.readable
    assert not found.diagnostic
    lines = found.markdown.split("\n")
    for line in (
        "## Page 1",
        "# Annual Harbour Report",
        "## Methods",
        "- first item of the list",
        "- second item of the list",
        "## Page 2",
        "## Figures",
        "| Quarter | Ships | Tons |",
        "| Q2 | 1,210 | 61 |",
    ):
        assert line in lines
    assert (
        "which is more than ever before. This paragraph has the marker KESTREL." in found.markdown
    )


@pytest.mark.rows("D29")
async def test_pages_are_read_by_number(documents):
    pages = [page_of([(12, 72, 700, f"Only on page {n}.")]) for n in range(1, 13)]
    found = await documents.read(pdf(pages), pages="3-4,9")
    assert [page.number for page in found.pages] == [3, 4, 9]
    assert found.total == 12
    assert "## Page 3\n\nOnly on page 3." in found.markdown
    assert "Only on page 5." not in found.markdown
    with pytest.raises(BadInput) as raised:
        await documents.read(pdf(pages), pages="13")
    assert "12 pages" in raised.value.hint


@pytest.mark.rows("D29")
async def test_scans_are_told(documents):
    found = await documents.read(scan(100, 100, GREY, 3))
    assert (found.total, found.non_empty, found.readable) == (3, 0, False)
    assert found.scanned == (1, 2, 3)
    assert "scanned: 3 of 3 pages" in found.diagnostic
    assert "documents.ocr" in found.diagnostic


async def test_empty_pages_are_no_scans(documents):
    found = await documents.read(pdf([b"", page_of([(12, 72, 700, "Some words.")])]))
    assert (found.total, found.non_empty, found.scanned) == (2, 1, ())
    assert "## Page 1\n\n(no text)" in found.markdown
    nothing = await documents.read(pdf([b""]))
    assert nothing.diagnostic == "It has no text."


@pytest.mark.rows("D29")
@each_case(
    "data",
    [
        b"%PDF-1.4\n",
        b"%PDF-1.7\n" + bytes(1000),
        report()[:300],
        pdf([]),
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\ntrailer << /Root 1 0 R >>",
    ],
)
async def test_what_is_damaged_is_an_error(documents, data):
    with pytest.raises(UnsupportedContent, match="damaged") as raised:
        await documents.read(data, name="x.pdf")
    assert raised.value.hint


async def test_what_is_left_of_a_torn_file_is_read(documents):
    found = await documents.read(report()[:-250])
    assert "KESTREL" in found.markdown
    assert any("damaged" in warning for warning in found.warnings)


async def test_locked_files(documents):
    with pytest.raises(UnsupportedContent, match="encrypted") as raised:
        await documents.read(encrypted("secret"))
    assert "password" in raised.value.hint
    found = await documents.read(encrypted(""))
    assert "Hidden words, marker KESTREL" in found.markdown


async def test_scripts_and_attached_files_are_not_run(documents, tmp_path):
    script = f"/OpenAction << /S /JavaScript /JS (app.launchURL\\('file://{tmp_path}'\\)) >>"
    names = "/Names << /EmbeddedFiles << /Names [(evil.exe) 5 0 R] >> >> "
    attached = b"<< /Type /Filespec /F (evil.exe) /UF (evil.exe) /EF << /F 6 0 R >> >>"
    stream = b"<< /Type /EmbeddedFile /Length 3 >>\nstream\nabc\nendstream"
    found = await documents.read(pdf(REPORT_PAGES, extra=names + script, more=[attached, stream]))
    assert "KESTREL" in found.markdown
    assert any("evil.exe" in warning for warning in found.warnings)
    assert "launchURL" not in found.markdown


def looped() -> bytes:
    """Pages that hold themselves."""
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [2 0 R 3 0 R 3 0 R] /Count 100000000 >>",
            b"<< /Type /Pages /Kids [2 0 R] /Parent 3 0 R /Count 5 >>",
        ]
    )


def bomb() -> bytes:
    """A page that unpacks to much."""
    return pdf([b"q " * 60_000_000])


def form() -> bytes:
    """A drawing that draws itself twice, and so on."""
    body = b"/Fm Do /Fm Do"
    drawing = (
        (
            "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject "
            f"<< /Fm 5 0 R >> >> /Length {len(body)} >>\nstream\n"
        ).encode()
        + body
        + b"\nendstream"
    )
    return pdf([body], resources="/XObject << /Fm 5 0 R >>", more=[drawing])


@pytest.mark.parametrize("make", [looped, bomb, form])
async def test_hostile_files_end(services, documents, make):
    try:
        reading = documents.read(make(), deadline=time.monotonic() + 10)
        found = await asyncio.wait_for(reading, 40)
    except (UnsupportedContent, TooLarge, TimedOut) as error:
        assert error.hint
    else:
        assert len(found.markdown) < 100_000
    assert services.use(Processes).running <= 1


async def test_a_thousand_pages(documents):
    pages = [page_of([(12, 72, 700, f"Words of page {n}, and more of them.")]) for n in range(1000)]
    found = await documents.read(pdf(pages, "Long"))
    assert found.total == 1000
    last = found.pages[-1].number
    assert last == 1000 or found.rest == f"{last + 1}-1000"
    assert f"Words of page {last - 1}," in found.pages[-1].text


async def test_a_document_is_converted_once(documents):
    first = await documents.read(report())
    assert await documents.read(report()) is first
    assert await documents.read(report(), pages="1") is not first


@pytest.mark.parametrize("footer_first", [False, True])
async def test_tables_stand_where_they_are_on_the_page(documents, footer_first):
    """Among the text, though pdf-oxide takes tables in the middle for a column of their own."""
    footer = page_of([(10, 72, 40, "Orchards")])
    parts = [page_of([(18, 238, 745, "Annual report")])]
    for number, name in enumerate(("North", "South", "West"), 1):
        top = 860 - 180 * number
        parts.append(page_of([(16, 72, top, f"Region {name}"), (10, 72, top - 20, f"In {name}:")]))
        parts.append(grid([("Product", "Units"), ("Apples", f"{number}00")], x=257, top=top - 40))
        parts.append(page_of([(10, 72, top - 100, f"This was all of {name}, word by word.")]))
    parts = [footer, *parts] if footer_first else [*parts, footer]
    text = (await documents.read(pdf([b"\n".join(parts)]))).markdown
    places = [
        text.index(wanted)
        for wanted in (
            *("Annual report", "Region North", "| Apples | 100 |", "all of North"),
            *("Region South", "| Apples | 200 |", "all of South"),
            *("Region West", "| Apples | 300 |", "all of West"),
            "\n\nOrchards",
        )
    ]
    assert places == sorted(places), text


@pytest.mark.parametrize("form", ["{}", "- {} -", "Page {}", "{} / 3", "Page {} of 3"])
async def test_the_numbers_of_pages_are_no_text(documents, form):
    words = "Apples are cut in winter, before the buds open, and thinned in June by hand."
    lines = [(10, 72, 700 - 14 * number, words) for number in range(20)]
    pages = [page_of([*lines, (10, 290, 40, form.format(number))]) for number in (1, 2, 3)]
    read = await documents.read(pdf(pages))
    assert [page.text.split() for page in read.pages] == [words.split() * 20] * 3


@pytest.mark.parametrize(
    ("y", "number", "above"),
    [(40, "2", 700), (200, "1", 700), (40, "1", 52), (40, "1,1", 700), (40, "1 / 9", 700)],
    ids=["of another page", "not in the margin", "below a line", "amount", "of other pages"],
)
async def test_other_numbers_at_the_end_stay(documents, y, number, above):
    page = page_of([(10, 72, above, "Rooms of the house"), (10, 72, y, number)])
    text = (await documents.read(pdf([page]))).pages[0].text
    assert "".join(text.split()).endswith("house" + number.replace(" ", ""))


async def test_a_page_with_nothing_but_its_number_has_it(documents):
    assert (await documents.read(pdf([page_of([(10, 290, 40, "1")])]))).pages[0].text == "1"


async def test_rows_of_amounts_without_lines_stay_whole(documents):
    rows = [
        ("01.02.", "Rent for the flat in Main Street, second floor", "-850,00"),
        ("03.02.", "Salary", "2.500,00"),
        ("05.02.", "Groceries at the market", "-45,10"),
        ("09.02.", "Power and water for the flat in Main Street", "-120,00"),
    ]
    lines = [(18, 72, 740, "Statement"), (10, 72, 720, "Day"), (10, 450, 720, "Amount")]
    for number, row in enumerate(rows):
        places = zip((72, 130, 450), row, strict=True)
        lines += [(10, x, 700 - 14 * number, cell) for x, cell in places]
    found = await documents.read(pdf([page_of(lines)]))
    assert "\n".join(map(" ".join, rows)) in found.markdown
    assert "\n# Statement\n" in found.markdown


async def test_fields_of_forms_are_listed(documents):
    fields = (
        "/FT /Tx /T (Last name) /V (Berg)",
        "/FT /Btn /T (Member) /V /Yes /AS /Yes",
        "/FT /Btn /T (News) /V /Off /AS /Off",
        "/FT /Ch /T (City) /Opt [(Graz) (Wien)] /V (Graz)",
        "/T (address) /Kids [10 0 R]",
        "/FT /Tx /T (street) /Parent 9 0 R",
    )
    widget = "/Subtype /Widget /Type /Annot /Rect [150 700 300 720]"
    data = pdf(
        [page_of([(11, 72, 700, "Application")]), page_of([(11, 72, 700, "Back")])],
        extra="/AcroForm << /Fields [5 0 R 6 0 R 7 0 R 8 0 R 9 0 R] >>",
        more=[f"<< {field} {widget} >>".encode() for field in fields],
    )
    found = await documents.read(data)
    listed = "- Last name: Berg\n- Member: yes\n- News: no\n- City: Graz\n- address.street: (empty)"
    assert found.pages[0].text == f"Application\n\nFields of the form:\n\n{listed}"
    assert found.pages[1].text == "Back"


async def test_words_whose_letters_are_set_close_together_stay_whole(documents):
    """Such as browsers print them: in pieces, which pdf-oxide takes apart."""
    kerned = [(10, 72, 700, "Founded in 1949 by W"), (10, 167.2, 700, "ile Coyote. Here is more.")]
    head = [(10, 81.7, 584, "ear"), (10, 211.7, 584, "alue")]
    parts = [
        page_of([(18, 72, 745, "Annual report"), *kerned]),
        grid([("Y", "V"), ("2024", "15"), ("2025", "25")], top=600),
        page_of([*head, (10, 72, 400, "A good end of it.")]),
    ]
    text = (await documents.read(pdf([b"\n".join(parts)]))).markdown
    assert "Founded in 1949 by Wile Coyote. Here is more.\n" in text
    assert "| Year | Value |\n|---|---|\n| 2024 | 15 |" in text
    assert text.rstrip().endswith("A good end of it.")


def test_pieces_of_words_are_put_where_the_word_begins():
    markdown = "| Y | V |\n|---|---|\n| 1 | 2 |\n\near alue\n\nA Fern and T\n\nokyo too."
    mended = whole_words(markdown, "Year Value\n1 2\nA Fern and Tokyo too.")
    assert mended.strip() == "| Year | Value |\n|---|---|\n| 1 | 2 |\n\nA Fern and Tokyo too."
    nested = whole_words("We saw T\n\nokyo and V\n\nienna, all.", "We saw Tokyo and Vienna, all.")
    assert nested.rstrip() == "We saw Tokyo and Vienna, all."
    assert whole_words("a b", "ab c") == "ab "
    assert whole_words("an ex-panded one", "an expanded one") == "an ex-panded one"
    for same in ("exam\nple text", "| a | b |", ""):
        assert whole_words(same, same) == same
