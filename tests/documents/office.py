"""Office files written with zipfile and XML by hand, so that no library under test wrote them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006'
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def packed(files: Mapping[str, str | bytes], first: str = "") -> bytes:
    """A zip file; `first` is stored uncompressed, as OpenDocument and EPUB want it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if first:
            archive.writestr(zipfile.ZipInfo("mimetype"), first)
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def relations(*pairs: tuple[str, str]) -> str:
    """A part of relations: kind and target, numbered from rId1 on."""
    listed = "".join(
        f'<Relationship Id="rId{n}" Type="{REL}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(pairs, 1)
    )
    return f'{XML}<Relationships {PACKAGE}/relationships">{listed}</Relationships>'


def content_types(parts: Mapping[str, str]) -> str:
    listed = "".join(
        f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-'
        f'officedocument.{kind}+xml"/>'
        for name, kind in parts.items()
    )
    return (
        f'{XML}<Types {PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/>{listed}</Types>'
    )


CORE = (
    f'{XML}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Harbour Report'
    "</dc:title><dc:creator>A. Writer</dc:creator></cp:coreProperties>"
)


def paragraph(text: str, style: str = "", *, bullet: bool = False) -> str:
    props = f'<w:pStyle w:val="{style}"/>' if style else ""
    if bullet:
        props += '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    return f"<w:p><w:pPr>{props}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str = "", **more: str) -> bytes:
    """A text document with headings, a list and a table, or with another body."""
    rows = "".join(
        "<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
        for row in (("Quarter", "Ships"), ("Q1", "1,001"))
    )
    body = body or (
        paragraph("Annual Harbour Report", "Heading1")
        + paragraph("This paragraph has the marker KESTREL.")
        + paragraph("Methods", "Heading2")
        + paragraph("first item", "ListParagraph", bullet=True)
        + paragraph("second item", "ListParagraph", bullet=True)
        + f'<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="1"/><w:gridCol w:w="1"/></w:tblGrid>{rows}'
        "</w:tbl>"
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/>'
        f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
        for n in (1, 2)
    )
    numbering = (
        f'{XML}<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0">'
        '<w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    return packed(
        {
            "[Content_Types].xml": content_types(
                {
                    "word/document.xml": "wordprocessingml.document.main",
                    "word/styles.xml": "wordprocessingml.styles",
                    "word/numbering.xml": "wordprocessingml.numbering",
                }
            ),
            "_rels/.rels": relations(("officeDocument", "word/document.xml")),
            "docProps/core.xml": CORE,
            "word/_rels/document.xml.rels": relations(
                ("styles", "styles.xml"), ("numbering", "numbering.xml")
            ),
            "word/document.xml": f"{XML}<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"{XML}<w:styles {W}>{styles}</w:styles>",
            "word/numbering.xml": numbering,
            **more,
        }
    )


def shape(text: str, kind: str = "", y: int = 0) -> str:
    """A box of a slide; each line is a paragraph."""
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/>{place}</p:nvSpPr><p:spPr>'
        f'<a:xfrm><a:off x="0" y="{y}"/><a:ext cx="100" cy="100"/></a:xfrm></p:spPr>'
        f"<p:txBody><a:bodyPr/>{lines}</p:txBody></p:sp>"
    )


def slide_table(rows: Sequence[Sequence[str]], y: int = 500) -> str:
    cells = "".join(
        '<a:tr h="1">'
        + "".join(
            f"<a:tc><a:txBody><a:bodyPr/><a:p><a:r><a:t>{c}</a:t></a:r></a:p></a:txBody></a:tc>"
            for c in row
        )
        + "</a:tr>"
        for row in rows
    )
    grid = '<a:gridCol w="1"/>' * len(rows[0])
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="t"/><p:cNvGraphicFramePr/>'
        f'<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="{y}"/><a:ext cx="1" cy="1"/>'
        '</p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/'
        f'2006/table"><a:tbl><a:tblGrid>{grid}</a:tblGrid>{cells}</a:tbl></a:graphicData>'
        "</a:graphic></p:graphicFrame>"
    )


Slide = tuple[str, str]
"""The shapes of a slide and its notes."""
SLIDES: tuple[Slide, ...] = (
    (
        shape("Annual Harbour Report", "ctrTitle") + shape("The marker KESTREL", "subTitle", 100),
        "Say hello first, marker OSPREY.",
    ),
    (
        shape("Figures", "title")
        + shape("first item\nsecond item", "body", 100)
        + slide_table([["Quarter", "Ships"], ["Q1", "1,001"]]),
        "",
    ),
    (shape("Closing", "title"), "Thank the pilots, marker HERON."),
)


def pptx(slides: Sequence[Slide] = SLIDES, order: Sequence[int] = ()) -> bytes:
    """Slides with notes; `order` is the order in which they are shown, from 1."""
    order = order or range(1, len(slides) + 1)
    files: dict[str, str] = {}
    kinds = {"ppt/presentation.xml": "presentationml.presentation.main"}
    for number, (shapes, notes) in enumerate(slides, 1):
        kinds[f"ppt/slides/slide{number}.xml"] = "presentationml.slide"
        files[f"ppt/slides/slide{number}.xml"] = (
            f"{XML}<p:sld {A} {P} {R}><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}"
            "</p:spTree></p:cSld></p:sld>"
        )
        if notes:
            # Numbered as programs do: not like the slides.
            other = 100 - number
            kinds[f"ppt/notesSlides/notesSlide{other}.xml"] = "presentationml.notesSlide"
            files[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
                ("notesSlide", f"../notesSlides/notesSlide{other}.xml")
            )
            files[f"ppt/notesSlides/notesSlide{other}.xml"] = (
                f"{XML}<p:notes {A} {P} {R}><p:cSld><p:spTree>{shape(str(number), 'sldNum')}"
                f"{shape(notes, 'body')}</p:spTree></p:cSld></p:notes>"
            )
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in order)
    files["ppt/presentation.xml"] = (
        f"{XML}<p:presentation {A} {P} {R}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    )
    files["ppt/_rels/presentation.xml.rels"] = relations(
        *(("slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
    )
    return packed(
        {
            "[Content_Types].xml": content_types(kinds),
            "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
            "docProps/core.xml": CORE,
            **files,
        }
    )


SHEETS: Mapping[str, Sequence[Sequence[str | float]]] = {
    "Ships": [["Quarter", "Ships"], ["Q1", 1001], ["KESTREL", 2]],
    "Crew": [["Name"], ["OSPREY"]],
}


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float]]] = SHEETS) -> bytes:
    files, kinds = {}, {"xl/workbook.xml": "spreadsheetml.sheet.main"}
    for number, rows in enumerate(sheets.values(), 1):
        kinds[f"xl/worksheets/sheet{number}.xml"] = "spreadsheetml.worksheet"
        lines = []
        for r, row in enumerate(rows, 1):
            cells = "".join(_cell(f"{chr(65 + c)}{r}", value) for c, value in enumerate(row))
            lines.append(f'<row r="{r}">{cells}</row>')
        files[f"xl/worksheets/sheet{number}.xml"] = (
            f"{XML}<worksheet {S}><sheetData>{''.join(lines)}</sheetData></worksheet>"
        )
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1)
    )
    return packed(
        {
            "[Content_Types].xml": content_types(kinds),
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "docProps/core.xml": CORE,
            "xl/workbook.xml": f"{XML}<workbook {S} {R}><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(
                *(("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1))
            ),
            **files,
        }
    )


def _cell(place: str, value: str | float) -> str:
    if isinstance(value, str) and value.startswith("="):  # as libraries write it
        return f'<c r="{place}"><f>{value[1:]}</f></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


ODF = (
    " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "presentation")
    )
    + ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
)
ODF_META = (
    f'{XML}<office:document-meta {ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
    "<dc:title>Harbour Report</dc:title></office:meta></office:document-meta>"
)


def odf(kind: str, body: str) -> bytes:
    """An OpenDocument file: `text`, `spreadsheet` or `presentation`."""
    mime = f"application/vnd.oasis.opendocument.{kind}"
    return packed(
        {
            "content.xml": f"{XML}<office:document-content {ODF}><office:body><office:{kind}>"
            f"{body}</office:{kind}></office:body></office:document-content>",
            "meta.xml": ODF_META,
            "META-INF/manifest.xml": f'{XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:'
            'opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
            f'manifest:media-type="{mime}"/></manifest:manifest>',
        },
        first=mime,
    )


def odf_table(rows: Sequence[Sequence[str]], name: str = "Ships") -> str:
    lines = "".join(
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string"><text:p>'
            f"{cell}</text:p></table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    return f'<table:table table:name="{name}">{lines}</table:table>'


TABLE = (("Quarter", "Ships"), ("Q1", "1,001"), ("KESTREL", "2"))


def odt() -> bytes:
    return odf(
        "text",
        '<text:h text:outline-level="1">Annual Harbour Report</text:h><text:p>This paragraph has '
        'the marker KESTREL.</text:p><text:h text:outline-level="2">Methods</text:h><text:list>'
        "<text:list-item><text:p>first item</text:p></text:list-item><text:list-item><text:p>"
        f"second item</text:p></text:list-item></text:list>{odf_table(TABLE)}",
    )


def ods() -> bytes:
    return odf("spreadsheet", odf_table(TABLE) + odf_table([["Name"], ["OSPREY"]], "Crew"))


def odp() -> bytes:
    return odf(
        "presentation",
        '<draw:page draw:name="page1"><draw:frame presentation:class="title"><draw:text-box>'
        "<text:p>Annual Harbour Report</text:p></draw:text-box></draw:frame><draw:frame>"
        "<draw:text-box><text:p>the marker KESTREL</text:p></draw:text-box></draw:frame>"
        "</draw:page>",
    )


def rtf() -> bytes:
    return (
        rb"{\rtf1\ansi\deff0{\fonttbl{\f0 Helvetica;}}{\info{\title Harbour Report}}"
        rb"{\fs48\b Annual Harbour Report\par}{This paragraph has the marker KESTREL."
        rb"\par}{\trowd\cellx1000\cellx2000 Quarter\cell Ships\cell\row\trowd\cellx1000"
        rb"\cellx2000 Q1\cell 1,001\cell\row}}"
    )


def epub() -> bytes:
    page = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>{0}</title>'
        "</head><body><h1>{0}</h1>{1}</body></html>"
    )
    return packed(
        {
            "META-INF/container.xml": '<?xml version="1.0"?><container version="1.0" xmlns="urn:'
            'oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf"'
            ' media-type="application/oebps-package+xml"/></rootfiles></container>',
            "book.opf": '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" '
            'version="3.0" unique-identifier="i"><metadata xmlns:dc="http://purl.org/dc/elements/'
            '1.1/"><dc:identifier id="i">x</dc:identifier><dc:title>Harbour Report</dc:title>'
            "<dc:creator>A. Writer</dc:creator><dc:language>en</dc:language></metadata><manifest>"
            '<item id="a" href="one.xhtml" media-type="application/xhtml+xml"/><item id="b" '
            'href="two.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref '
            'idref="b"/><itemref idref="a"/></spine></package>',
            "one.xhtml": page.format(
                "Methods",
                "<ul><li>first item</li><li>second item</li></ul><table><tr><th>Quarter</th><th>"
                "Ships</th></tr><tr><td>Q1</td><td>1,001</td></tr></table>",
            ),
            "two.xhtml": page.format("Annual Harbour Report", "<p>the marker KESTREL</p>"),
        },
        first="application/epub+zip",
    )
