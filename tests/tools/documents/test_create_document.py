"""`create_document`: what is made is read again with every heading, cell and row."""

from __future__ import annotations

import io
import re
import zipfile
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image
from pptx import Presentation

from tests.cases import each_case
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.documents.writers import pdf
from toolcrib.toolbox import Toolbox

HEADINGS = ["Annual report: \u00dcberblick", "Zahlen & Fakten", "\u00bfQu\u00e9 tal?"]
ROWS = [
    ["Quarter", "Ships", "Gr\u00f6\u00dfe"],
    ["Q1", "1001", "2.50"],
    ["Q2", "007", "=SUM(A1)"],
    ["Q3", "-3", "a < b"],
]
TABLE = "\n".join(
    ["| " + " | ".join(ROWS[0]) + " |", "|---|---|---|"]
    + ["| " + " | ".join(row) + " |" for row in ROWS[1:]]
)
MARKDOWN = f"""# {HEADINGS[0]}

Intro with **bold**, *italic* and a [link](https://example.com/a?b=1&c=2).

## {HEADINGS[1]}

- first item
- second item

{TABLE}

> A quote stands here.

## {HEADINGS[2]}

The last words.
"""
CHINESE = "# 中文标题\n\n这是一个段落。\n\n# 繁體標題\n\n這是繁體中文。\n"


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        yield opened


async def ask(box: Toolbox, tool: str, /, **arguments: Any) -> Result:
    result = await box.call(tool, arguments)
    assert result.error is None, result.error
    return result


async def made(box: Toolbox, name: str, content: str) -> str:
    """The Markdown of a document that was made of a content."""
    await ask(box, "create_document", path=name, content=content)
    read = await ask(box, "read_document", path=name)
    text: str = read.data["content"]
    return text


def headings(text: str) -> list[str]:
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [re.sub(r"^(?:Slide \d+: )", "", heading).replace("\\", "") for heading in found]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.split("\n") if line.startswith("|")]
    cells = [
        [c.strip().strip("*").replace("\\", "") for c in line.strip("|").split("|")]
        for line in lines
    ]
    return [row for row in cells if not all(set(cell) <= set("-: ") for cell in row)]


async def test_every_heading_cell_and_row_is_equal(box: Toolbox) -> None:
    wrong = []
    for ending in ("docx", "pptx", "pdf", "html"):
        text = await made(box, f"report.{ending}", MARKDOWN)
        seen = [heading for heading in headings(text) if heading in HEADINGS]
        if seen != HEADINGS or rows(text) != ROWS or "The last words." not in text:
            wrong.append((ending, headings(text), rows(text)))
    text = await made(box, "report.xlsx", MARKDOWN)
    if rows(text) != ROWS or f"Sheet 1: {HEADINGS[1]}" not in text:
        wrong.append(("xlsx", headings(text), rows(text)))
    assert wrong == []


async def test_it_is_one_step_that_is_undone(box: Toolbox, ws: Path) -> None:
    (ws / "report.docx").write_bytes(b"what was there")
    await ask(box, "create_document", path="report.docx", content=MARKDOWN)
    assert (ws / "report.docx").read_bytes() != b"what was there"
    await ask(box, "undo_changes")
    assert (ws / "report.docx").read_bytes() == b"what was there"


async def test_what_a_workbook_leaves_out_is_told(box: Toolbox) -> None:
    table = "| a |\n|---|\n| 1 |\n"
    mixed = f"# Report\n\nSome words.\n\n## Ships\n\n{table}\n- one\n- two\n"
    result = await ask(box, "create_document", path="mixed.xlsx", content=mixed)
    assert "left out: Some words.; Report; a list." in result.text
    plain = await ask(box, "create_document", path="plain.xlsx", content=f"## Ships\n\n{table}")
    assert "left out" not in plain.text


async def test_formulas_that_stay_text_are_told(box: Toolbox) -> None:
    content = "| a | b |\n|---|---|\n| = | =SUM(B2:B3) |\n"
    made = await ask(box, "create_document", path="f.xlsx", content=content)
    assert "Formulas stand there as text, such as =SUM(B2:B3)." in made.text
    made = await ask(box, "create_document", path="g.xlsx", content="| a |\n|---|\n| x=1 |\n")
    assert "Formulas" not in made.text


async def test_rows_of_json_and_several_sheets(box: Toolbox) -> None:
    content = '{"Ships": [{"name": "Tern", "length": 12}, {"name": "Skua"}], "Ships ": [[1, true]]}'
    text = await made(box, "ships.xlsx", content)
    assert "Sheet 1: Ships" in text
    assert "Sheet 2: Ships 2" in text
    assert ["Tern", "12"] in rows(text)


async def test_what_is_written_from_right_to_left_is_read_in_its_order(box: Toolbox) -> None:
    content = (
        "# \u062a\u0642\u0631\u064a\u0631\n\n\u0627\u0644\u0645\u062f\u064a\u0631 2026\n\nWords.\n"
    )
    result = await box.call("create_document", {"path": "ar.pdf", "content": content})
    if result.error is not None:  # no font here has these letters
        assert result.error.code == "unavailable"
        return
    text = (await ask(box, "read_document", path="ar.pdf")).text
    assert "\u0627\u0644\u0645\u062f\u064a\u0631" in text
    assert "Words." in text


MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


async def cells(box: Toolbox, ws: Path, *columns: str) -> dict[str, tuple[list[Any], list[str]]]:
    """What a spreadsheet program has of columns, each as `head: cell; cell`: values and formats."""
    heads, bodies = zip(*(column.split(": ", 1) for column in columns), strict=True)
    lines = zip(*(body.split("; ") for body in bodies), strict=True)
    table = [heads, ["---"] * len(heads), *lines]
    content = "\n".join("| " + " | ".join(line) + " |" for line in table)
    await ask(box, "create_document", path="typed.xlsx", content=content)
    with zipfile.ZipFile(ws / "typed.xlsx") as archive:
        parts = ("sharedStrings", "styles", "worksheets/sheet1")
        shared, styles, sheet = (ET.fromstring(archive.read(f"xl/{part}.xml")) for part in parts)
    texts = [entry.findtext(f"{MAIN}t") for entry in shared]
    codes = {"0": "", "2": "0.00", "9": "0%"}
    codes |= {f.get("numFmtId", ""): f.get("formatCode", "") for f in styles.iter(f"{MAIN}numFmt")}
    known = [codes.get(xf.get("numFmtId", ""), "?") for xf in styles.find(f"{MAIN}cellXfs") or ()]

    def value(cell: ET.Element) -> Any:
        number = float(cell.findtext(f"{MAIN}v") or "")
        return texts[int(number)] if cell.get("t") == "s" else round(number, 5)

    body = list(sheet.iter(f"{MAIN}row"))[1:]
    return {
        head: ([value(c) for c in column], [known[int(c.get("s", "0"))] for c in column])
        for head, *column in zip(heads, *body, strict=True)
    }


async def test_numbers_and_dates_of_tables_are_no_texts(box: Toolbox, ws: Path) -> None:
    found = await cells(
        box,
        ws,
        "Price: 12.50; 3.20; -1.25",
        "Sum: 1,234.00; 5.00; 12.00",
        "Euro: \u20ac5.00; \u20ac1,200.50; n/a",
        "Betrag: 1.234,50 EUR; 2,00 EUR; 3,10 EUR",
        "Share: 10%; 7.5 %; 100%",
        "Day: 2024-01-05; 2024-02-29; 2023-12-31",
        "Tag: 5.1.24; 31.12.23; 1.2.24",
        "At: 2024-01-05 10:30; 2024-01-05T10:31:07; 2024-01-06 00:00",
        "Change: +2.5%; -3.0%; +0.1%",
    )
    assert found["Price"] == ([12.5, 3.2, -1.25], ["0.00"] * 3)
    assert found["Sum"] == ([1234, 5, 12], ["#,##0.00", "0.00", "0.00"])
    assert found["Euro"] == ([5, 1200.5, "n/a"], ['"\u20ac"0.00', '"\u20ac"#,##0.00', ""])
    assert found["Betrag"] == ([1234.5, 2, 3.1], ['#,##0.00" EUR"', *['0.00" EUR"'] * 2])
    assert found["Share"] == ([0.1, 0.075, 1], ["0%", '0.0" "%', "0%"])
    assert found["Day"] == ([45296, 45351, 45291], ["yyyy-mm-dd"] * 3)
    assert found["Tag"] == ([45296, 45291, 45323], ["d.m.yy", "dd.mm.yy", "d.m.yy"])
    assert found["At"][0] == [45296.4375, 45296.43828, 45297]
    assert found["At"][1] == ["yyyy-mm-dd hh:mm", "yyyy-mm-dd hh:mm:ss", "yyyy-mm-dd hh:mm"]
    assert found["Change"] == ([0.025, -0.03, 0.001], ["+0.0%;-0.0%", "0.0%", "+0.0%;-0.0%"])


async def test_codes_and_what_can_be_read_in_two_ways_stay_texts(box: Toolbox, ws: Path) -> None:
    columns = {
        "Code": "007; 1001; 12",
        "Phone": "+49 30 123456; 0171 2345678; 112",
        "Tel": "555 123 456; 555 123 457; 555 123 458",
        "Version": "3.9; 3.10; 3.11",
        "Slash": "01/02/2024; 03/04/2024; 05/06/2024",
        "Mixed": "10%; 0.2; 0.3",
        "Card": "1234567890123456; 1234567890123457; 1234567890123458",
        "Zone": "2024-01-05T10:30Z; 2024-01-05T10:30+01:00; 2024-02-30",
        "Money": "\u20ac1.234; \u20ac2.345; \u20ac3.456",
    }
    found = await cells(box, ws, *(f"{head}: {body}" for head, body in columns.items()))
    assert {head: "; ".join(values) for head, (values, _) in found.items()} == columns
    content = "| Version |\n|---|\n| 3.9 |\n| 3.10 |\n"
    result = await ask(box, "create_document", path="v.xlsx", content=content)
    assert "Version stays text, for 3.10 can be read in two ways." in result.text


async def test_large_numbers_keep_their_digits(box: Toolbox) -> None:
    text = await made(box, "ids.xlsx", '[{"id": 1234567890123456789, "n": 123456789012345}]')
    assert ["1234567890123456789", "123456789012345"] in rows(text)


async def test_chinese(box: Toolbox) -> None:
    for ending in ("docx", "pptx", "html"):
        text = await made(box, f"zh.{ending}", CHINESE)
        assert "\u4e2d\u6587\u6807\u9898" in text, ending
        assert "\u9019\u662f\u7e41\u9ad4\u4e2d\u6587" in text, ending
    result = await box.call("create_document", {"path": "zh.pdf", "content": CHINESE})
    if result.error is not None:  # no font here has these characters: it is told, no gaps are made
        assert result.error.code == "unavailable"
        assert "fonts-noto-cjk" in result.error.hint
    else:
        text = (await ask(box, "read_document", path="zh.pdf")).text
        assert "\u4e2d\u6587\u6807\u9898" in text


def test_what_no_font_has_is_told() -> None:
    """Characters of the private use area are in no font."""
    pdf.prepare()
    answer, _ = pdf.create({"title": ""}, f"# One\n\n{'Words. ' * 100}\U0010fffd\n".encode())
    assert "No font here has" in answer["notes"][0]
    with pytest.raises(ToolError, match="No font on this machine"):
        pdf.create({"title": ""}, ("\U0010fffd\U0010fffc" * 50).encode())


def picture(kind: str, width: int, height: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (200, 40, 40)).save(buffer, kind)
    return buffer.getvalue()


@each_case("ending", ["docx", "pptx", "pdf", "html"])
async def test_pictures_of_the_workspace_are_in_it(tmp_path: Path, ending: str) -> None:
    ws = tmp_path / "ws"
    (ws / "out").mkdir(parents=True, exist_ok=True)
    (tmp_path / "secret.png").write_bytes(picture("PNG", 9, 9))
    (ws / "logo.png").write_bytes(picture("PNG", 300, 5000))
    (ws / "out" / "a b.jpg").write_bytes(picture("JPEG", 3000, 200))
    (ws / "fake.png").write_bytes(picture("PNG", 9, 9)[:20])
    (ws / "notes.txt").write_text("words")
    content = (
        "# Report ![Logo](logo.png)\n\n- item ![Photo](a%20b.jpg)\n\n![Again](<logo.png>) text\n\n"
        "![Out](../secret.png) ![Web](https://a.example/x.png) ![Text](notes.txt) ![Gone](no.png)"
        "\n\n`![Code](code.png)`\n\n| a |\n|---|\n| ![Cell][ref] |\n\n[ref]: logo.png\n"
    )
    (ws / "own.png").write_bytes(picture("PNG", 8, 8))
    (ws / ".ssh").mkdir(exist_ok=True)
    (ws / ".ssh" / "key.png").write_bytes(picture("PNG", 8, 8))
    content += "\n![Denied](own.png) ![Key](.ssh/key.png)\n"
    rule = {"action": "deny", "target": "**/own.png"}
    config = {"workspace": {"roots": [str(ws)]}, "policy": {"rules": [rule]}}
    async with Toolbox(config) as box:
        result = await ask(box, "create_document", path=f"out/p.{ending}", content=content)
        for name in (
            "../secret.png",
            "https://a.example/x.png",
            "notes.txt",
            "no.png",
            "own.png",
            ".ssh/key.png",
        ):
            assert name in " ".join(result.data["notes"]), name
        assert "code.png" not in result.text
        assert "is no PNG or JPEG" in result.text
        data = (ws / "out" / f"p.{ending}").read_bytes()
        if ending == "html":
            assert (data.count(b"data:image/png;"), data.count(b"data:image/jpeg;")) == (3, 1)
        elif ending == "pdf":
            assert data.count(b"/Subtype /Image") + data.count(b"/Subtype/Image") >= 2
        else:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                media = [name for name in archive.namelist() if "/media/" in name]
            assert sorted(name.rpartition(".")[2] for name in media) in (
                ["jpg", "png"], ["jpeg", "png"],
            )  # fmt: skip
        content = "![Broken](fake.png)\n"
        broken = await ask(box, "create_document", path=f"b.{ending}", content=content)
        assert ending == "html" or "cannot be read" in broken.text


async def test_text_beside_a_table_has_room_on_a_slide(box: Toolbox, ws: Path) -> None:
    await made(box, "t.pptx", f"# One\n\n- item\n\n{TABLE}\n")
    (slide,) = Presentation(str(ws / "t.pptx")).slides
    assert all(shape.width and shape.height for shape in slide.shapes)


async def test_html_as_content_is_told(box: Toolbox) -> None:
    result = await box.call(
        "create_document", {"path": "x.pdf", "content": "<h1>Report</h1>\n<p>words</p>"}
    )
    assert result.error is not None
    assert "HTML" in result.error.message
    content = "# One\n\nfirst<br>second `<b>`\n\n```\n<p>\n```\n"
    made = await ask(box, "create_document", path="x.html", content=content)
    assert "HTML stands there as text: <br>." in made.text


async def test_text_stays_text(box: Toolbox, ws: Path) -> None:
    content = (
        "# <script>alert(1)</script>\n\n[x](javascript:alert(1)) [y](file:///etc/passwd)\n\n"
        '#let x = read("/etc/passwd") $x$ @ref \\u{41} `raw`\n\n<img src=x onerror=alert(1)>\n'
        "&lt;b&gt; \x00\x01\x0b\ufffe \ud800\n\n- [ ] a\n\n| a |\n|---|\n| =cmd() |\n"
    )  # fmt: skip
    for ending in ("docx", "pptx", "pdf", "html", "xlsx"):
        await made(box, f"odd.{ending}", content)
    page = (ws / "odd.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "javascript:" not in page.replace("[x](javascript:", "")
    assert "file://" not in page.replace("[y](file://", "")


@each_case(
    ("path", "content", "code"),
    [
        ("a.doc", "x", "bad_input"),
        ("a", "x", "bad_input"),
        ("a.xlsx", "no table", "bad_input"),
        ("a.xlsx", "[1, 2", "bad_input"),
        ("a.docx", " ", "bad_input"),
        ("../a.docx", "x", "path_denied"),
    ],
)
async def test_bad_input(tmp_path: Path, path: str, content: str, code: str) -> None:
    async with Toolbox(workspace=tmp_path) as box:
        result = await box.call("create_document", {"path": path, "content": content})
        assert result.error is not None, path
        assert result.error.code == code


NOTES = (
    "---\ntitle: ignored\n---\n# Moss report\n\nSome *soft* text.\n\n![alt](pic.png)\n\n"
    "| a | b |\n| --- | --- |\n| 1 | two |\n"
)


@each_case("ending", ["docx", "pptx", "pdf", "html"])
async def test_a_file_as_source(box: Toolbox, ws: Path, ending: str) -> None:
    """With its pictures, which are named from its own folder."""
    (ws / "docs").mkdir(exist_ok=True)
    (ws / "docs/notes.md").write_text(NOTES)
    (ws / "docs/pic.png").write_bytes(picture("PNG", 30, 20))
    path = f"made.{ending}"
    result = await ask(box, "create_document", path=path, source="docs/notes.md")
    assert "Left out" not in result.text
    read = (await ask(box, "read_document", path=path)).text
    assert "Title: Moss report" in read
    assert "ignored" not in read
    assert ["1", "two"] in rows(read)
    again = await ask(box, "create_document", path="again.docx", source=path)
    assert again.data["format"] == "docx"
    text = (await ask(box, "read_document", path="again.docx")).text
    assert "soft" in text
    assert "Page 1" not in text


async def test_pictures_of_a_source_are_its_own(box: Toolbox, ws: Path) -> None:
    """Not those that happen to have the same name elsewhere."""
    (ws / "docs/media").mkdir(parents=True)
    (ws / "media").mkdir()
    for place, size in (("docs/pic.png", 30), ("pic.png", 9), ("media/image1.png", 8)):
        (ws / place).write_bytes(picture("PNG", size, size))
    (ws / "docs/notes.md").write_text("# Moss\n\n![alt](pic.png)\n")
    await ask(box, "create_document", path="made.html", source="docs/notes.md")
    own = b64encode((ws / "docs/pic.png").read_bytes())
    assert own in (ws / "made.html").read_bytes()
    await ask(box, "create_document", path="made.docx", source="docs/notes.md")
    result = await ask(box, "create_document", path="again.html", source="made.docx")
    assert b"data:image" not in (ws / "again.html").read_bytes()
    assert "Left out" in result.text


async def test_what_is_missing_of_a_source_is_told(box: Toolbox, ws: Path) -> None:
    (ws / "a.txt").write_bytes(b"word " * 500_000)
    result = await ask(box, "create_document", path="a.html", source="a.txt")
    assert "Only the first 2,000,000 of 2,500,000 characters" in result.text


@each_case(
    ("tool", "given"),
    [
        ("create_document", {"path": "docs/notes.md", "format": "pdf"}),
        ("create_document", {"input": "docs/notes.md", "output": "docs/notes.pdf"}),
        ("create_pdf", {"path": "docs/notes.md"}),
        ("create_pdf", {"path": "docs/notes.md", "output": "docs/notes.pdf"}),
        ("convert_document", {"file": "docs/notes.md", "to": "pdf"}),
        ("markdown_to_pdf", {"file_path": "docs/notes.md"}),
    ],
)
async def test_conversions_as_models_ask_for_them(
    box: Toolbox, ws: Path, tool: str, given: dict[str, Any]
) -> None:
    (ws / "docs").mkdir(exist_ok=True)
    (ws / "docs/notes.md").write_text("# Moss\n\nSoft.\n")
    assert (await ask(box, tool, **given)).data["path"] == "docs/notes.pdf"
    assert (ws / "docs/notes.md").read_text() == "# Moss\n\nSoft.\n"
    assert (ws / "docs/notes.pdf").read_bytes().startswith(b"%PDF")
    (ws / "docs/notes.pdf").unlink()


@each_case(
    ("name", "text", "parts"),
    [
        (
            "a.txt",
            "Ms *A*\nFern_Lane_1\n\nNo. # 5",
            ["<p>Ms *A*<br", "Fern_Lane_1</p>", "<p>No. # 5</p>"],
        ),
        ("a.txt", "Moss\n  &amp;\tin", ["Moss<br", "\u00a0\u00a0&amp;amp;"]),
        ("a.txt", "Moss\n====\nFern", ["<h1>Moss</h1>"]),
        ("a.txt", "# Head\n\n- *one*", ["<h1>Head</h1>", "<em>one</em>"]),
        ("a.py", "def f():\n    '```'", ["def f():\n    '```'</code>"]),
        ("a.json", '[{"a": "*b*"}]', ["*b*"]),
        ("a.csv", "a,b\n1,two\n", ["<td>two</td>"]),
        ("a.html", "<title>T</title><h1>Moss</h1><p>Soft <b>text</b>", ["Moss</h1>", "<strong>"]),
    ],
)
async def test_text_of_any_kind_as_source(
    box: Toolbox, ws: Path, name: str, text: str, parts: list[str]
) -> None:
    (ws / name).write_text(text)
    await ask(box, "create_document", path="made.html", source=name)
    made = (ws / "made.html").read_text().replace("&#x27;", "'")
    for part in parts:
        assert part in made


@each_case(
    ("given", "hint"),
    [
        ({"path": "a.md", "to": "pdf"}, 'create_document takes path="a.pdf", source="a.md".'),
        ({"input": "# A", "to": "word"}, 'create_document takes path="new.docx", and the text'),
        (
            {"path": "a.png", "action": "png_to_jpg"},
            'edit_image takes path="a.png", output="a.jpg"',
        ),
    ],
)
async def test_a_format_of_documents_names_the_tool(
    box: Toolbox, given: dict[str, Any], hint: str
) -> None:
    result = await box.call("convert_format", given)
    assert result.error is not None
    assert hint in result.error.hint


async def test_pictures_alone(box: Toolbox, ws: Path) -> None:
    for name in ("a b.png", "c.png"):
        (ws / name).write_bytes(picture("PNG", 30, 20))
    await ask(box, "create_document", path="album.html", images=["a b.png", "c.png"])
    assert (ws / "album.html").read_bytes().count(b"data:image/png;") == 2


@each_case(
    ("given", "part"),
    [
        ({"path": "a.pdf"}, "content is empty"),
        ({"path": "a.pdf", "content": "x", "source": "b.md"}, "one of them"),
        ({"path": "a.pdf", "source": "gone.md"}, "does not exist"),
        ({"path": "a.pdf", "source": "a.pdf"}, "take its place"),
        ({"path": "a.pdf", "source": "empty.md"}, "is empty"),
        ({"path": "a.xlsx", "source": "rows.csv"}, "holds rows"),
        ({"path": "a.pdf", "content": "b.md"}, "is a file"),
    ],
)
async def test_what_is_no_source(box: Toolbox, ws: Path, given: dict[str, Any], part: str) -> None:
    (ws / "b.md").write_text("# B\n")
    (ws / "a.pdf").write_text("no PDF\n")
    (ws / "empty.md").touch()
    (ws / "rows.csv").write_text("a,b\n1,2\n")
    result = await box.call("create_document", given)
    assert result.error is not None
    assert part in result.error.message
    assert (ws / "a.pdf").read_text() == "no PDF\n"


@pytest.mark.parametrize("kind", ["docx", "html"])
async def test_escaped_line_breaks_are_line_breaks(box: Toolbox, ws: Path, kind: str) -> None:
    content = r"# Title\n\nText of it.\n\n- one\n- two"
    await box.call("create_document", {"path": f"a.{kind}", "content": content})
    text = (await box.call("read_document", {"path": f"a.{kind}"})).text
    assert "# Title\n" in text
    assert "\nText of it.\n" in text


async def test_a_rule_before_a_heading_makes_no_slide_of_its_own(box: Toolbox, ws: Path) -> None:
    content = "---\n\n# One\n\n- a\n\n---\n\n# Two\n\n- b\n\n---\n\nmore\n\n---\n"
    await made(box, "r.pptx", content)
    slides = Presentation(str(ws / "r.pptx")).slides
    assert [slide.shapes.title.text for slide in slides] == ["One", "Two", ""]
