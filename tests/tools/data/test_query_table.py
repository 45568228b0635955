"""Tables without SQL: every form in which they come, and questions to them."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
import xlsxwriter  # type: ignore[import-untyped]

from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.toolbox import Toolbox

ORDERS = """id,city,net amount,day
1,Bonn,10.50,2026-01-02
2,Köln,20.25,2026-02-03
3,Bonn,5,2026-03-04
4,"Bad, Ems",,2025-12-31
"""
GERMAN = "Nr;Ort;Betrag;Datum\n1;Köln;1.234,50 €;02.01.2026\n2;Bonn;-10,25 €;03.02.2026\n"

STYLES = (
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/>'
    '<xf numFmtId="20"/><xf numFmtId="46"/></cellXfs></styleSheet>'
)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(path: Path, rows: str, shared: str = "") -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>'
            '<sheet name="Sales" sheetId="1" r:id="r1"/><sheet name="More" sheetId="2" r:id="r2"/>'
            "</sheets></workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
            '<Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
        )
        archive.writestr("xl/styles.xml", STYLES)
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{shared}</sst>')
        sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{{}}</sheetData></worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", sheet.format(rows))
        one = '<row><c t="inlineStr"><is><t>x</t></is></c></row><row><c><v>7</v></c></row>'
        archive.writestr("xl/worksheets/sheet2.xml", sheet.format(one))


@pytest.mark.rows("E89")
async def test_filter_columns_sort_and_limit(box: Toolbox, ws: Path) -> None:
    (ws / "o.csv").write_text(ORDERS)
    first = await ok(box, "query_table", path="o.csv")
    assert "id (integer) | city (text) | net amount (number) | day (date, year-month-day)" in (
        first.text
    )
    for filter_text, ids in {
        "city = bonn": ["1", "3"],
        '"net amount" >= 10.5': ["1", "2"],
        "net amount < 20.25 and city != Köln": ["1", "3"],
        "city contains 'bad,' or id = 2": ["2", "4"],
        "day > 2026-01-31": ["2", "3"],
        "id in (1, 4)": ["1", "4"],
        "net amount is empty": ["4"],
        "city starts with b and not_there = 1": None,
        "city not contains o": ["2", "4"],
    }.items():
        if ids is None:
            found = await refused(box, "query_table", "bad_input", path="o.csv", filter=filter_text)
            assert found.error
            assert found.error.details["unknown_columns"] == ["not_there"]
            continue
        result = await ok(box, "query_table", path="o.csv", filter=filter_text, columns=["ID"])
        assert [row[0] for row in result.data["rows"]] == ids, filter_text
        assert result.data["matched"] == len(ids)
    ordered = await ok(box, "query_table", path="o.csv", sort="net amount desc", limit=2)
    assert [row[0] for row in ordered.data["rows"]] == ["2", "1"]
    assert "the first 2 of 4 rows" in ordered.text
    await refused(box, "query_table", "bad_input", path="o.csv", filter="city is nice")
    await refused(box, "query_table", "bad_input", path="o.csv", limit=-1)


async def test_spellings_of_a_question(box: Toolbox, ws: Path) -> None:
    """One text for several columns, `between`, and a minus for the greatest first."""
    (ws / "o.csv").write_text(ORDERS)
    two = await ok(box, "query_table", path="o.csv", columns="city, net amount", sort="-net amount")
    assert two.data["rows"][0] == ["Köln", "20.25"]
    grouped = await ok(
        box, "query_table", path="o.csv", group="city, day", aggregate="sum(id), max(net amount)"
    )
    assert [column["name"] for column in grouped.data["columns"]] == [
        *("city", "day", "sum(id)", "max(net amount)")
    ]
    for filter_text, ids in {
        "net amount between 5 and 11": ["1", "3"],
        "city = Bonn and net amount between 6 and 11": ["1"],
        '"net amount" between 6 and 11 or id = 4': ["1", "4"],
        "day between 2026-02-01 and '2026-02-28'": ["2"],
        "net amount not between 5 and 11 and city != Bonn": ["2", "4"],
        "city = Bonn or net amount NOT BETWEEN 6 and 11": ["1", "2", "3", "4"],
        'city = "a between 1 and 2" or id = 2': ["2"],
    }.items():
        found = await ok(box, "query_table", path="o.csv", filter=filter_text, columns=["id"])
        assert [row[0] for row in found.data["rows"]] == ids, filter_text
    (ws / "comma.csv").write_text('"a, b",c\n1,2\n')
    named = await ok(box, "query_table", path="comma.csv", columns=["a, b"])
    assert named.data["rows"] == [["1"]]
    missing = await refused(box, "query_table", "bad_input", path="o.csv", columns="city, x")
    assert missing.error
    assert missing.error.details["unknown_columns"] == ["x"]


SALES = """day,product,qty,price,left,unit price (EUR),sold to
2026-01-05,apple,9,1.5,2026-01-06,1,O'Brien
2026-02-05,pear,2,2.5,2026-02-05,2,"Smith, John"
2026-03-05,pear,9,9.5,2026-03-01,3,New York
2026-04-05,kiwi,4,,2026-04-09,4,New York
"""


@pytest.mark.parametrize(
    ("condition", "days"),
    [
        ("product = 'apple' && qty > 8", "1"),
        ("product=apple||product=kiwi", "14"),
        ("(product = apple or product = pear) and qty = 9", "13"),
        ("product = apple or product = pear and qty = 2", "12"),
        ("qty = 9 and (product = kiwi or (product in (pear, 'x, y')))", "3"),
        ("not (product = apple or qty between 2 and 4)", "3"),
        ("not product = apple and NOT qty in (2, 4)", "3"),
        ("(qty between 2 and 4)and(product = kiwi)", "4"),
        ("qty not between 2 and 4 AND product = pear", "3"),
        ("qty > price", "1"),
        ("price != price", ""),
        ("price = `price` and left >= day", "12"),
        ("unit price (EUR) > 2 and product = pear", "3"),
        ('("unit price (EUR)" > 2 or sold to = "O\'Brien")', "134"),
        ("sold to = O'Brien and product = 'apple'", "1"),
        ("sold to = Smith, John", "2"),
        ("sold to = New York", "34"),
        ("day >= 2026-03", "34"),
        ("day = 2026-02", "2"),
        ("day < 2026", ""),
        ("product = sold out in left", ""),
    ],
)
async def test_filters(box: Toolbox, ws: Path, condition: str, days: str) -> None:
    (ws / "s.csv").write_text(SALES)
    found = await ok(box, "query_table", path="s.csv", filter=condition, columns=["day"])
    assert "".join(row[0][6] for row in found.data["rows"]) == days


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("product = apple, qty > 8", "no single value"),
        ("product = apple; qty contains 8", "no single value"),
        ("product = apple | product = pear", "no single value"),
        ("qty => 8", "no single value"),
        ("product = 'apple and qty = 9", "A quote has no other"),
        ("(product = apple and qty = 9", "A bracket has no other"),
        ("product = apple) and qty = 9", "A bracket has no other"),
        ("(product = apple) qty = 9", "cannot be read"),
        ("product = apple and", "cannot be read"),
        ("product in (apple) qty", "cannot be read"),
        ("qty >", "cannot be read"),
        ("(" * 60 + "qty = 9" + ")" * 60, "brackets in each other"),
        ("qty > nine", "Write it like: qty > 10"),
        ("qty > 'price'", "without quotes: price"),
        ('day < "March 2026"', "Write it like: day < 2026-03-31"),
        ("qty < day", "have no order"),
    ],
)
async def test_filters_that_say_something_else_are_refused(
    box: Toolbox, ws: Path, condition: str, words: str
) -> None:
    (ws / "s.csv").write_text(SALES)
    result = await refused(box, "query_table", "bad_input", path="s.csv", filter=condition)
    assert words in result.render()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("qty = nine", "nine is no number, but qty has numbers"),
        ("price = null", '"price is empty"'),
        ("qty > price", "compares two columns"),
    ],
)
async def test_how_a_filter_was_read_is_noted(
    box: Toolbox, ws: Path, condition: str, words: str
) -> None:
    (ws / "s.csv").write_text(SALES)
    assert words in (await ok(box, "query_table", path="s.csv", filter=condition)).text


async def test_values_that_are_no_numbers_are_noted(box: Toolbox, ws: Path) -> None:
    (ws / "v.csv").write_text("v,w\n1,1\n2,2\nx,3\n")
    aggregates = ["mean(v)", "count(v)", "max(v)", "sum(w)"]
    found = await ok(box, "query_table", path="v.csv", aggregate=aggregates)
    assert found.data["rows"] == [[1.5, 3, "x", 6]]
    assert found.data["notes"] == [
        "mean(v) leaves out what is no number (1 value, such as x).",
        "max(v) compares texts: some values are no numbers (such as x).",
    ]


async def test_half_a_range_is_refused(box: Toolbox, ws: Path) -> None:
    (ws / "o.csv").write_text(ORDERS)
    result = await refused(box, "query_table", "bad_input", path="o.csv", filter="id between 5")
    assert result.error
    assert "between a and b" in result.error.hint


async def test_groups_and_sums(box: Toolbox, ws: Path) -> None:
    (ws / "o.csv").write_text(ORDERS)
    result = await ok(
        box,
        "query_table",
        path="o.csv",
        group=["city"],
        aggregate=["sum(net amount)", "count", "max day"],
        sort="sum(net amount) desc",
    )
    assert result.data["rows"] == [
        ["Köln", 20.25, 1, "2026-02-03"],
        ["Bonn", 15.5, 2, "2026-03-04"],
        ["Bad, Ems", None, 1, "2025-12-31"],
    ]
    total = await ok(box, "query_table", path="o.csv", sum=["net amount"])
    assert total.data["rows"] == [[35.75]]
    await refused(box, "query_table", "bad_input", path="o.csv", aggregate=["median(id)"])


async def test_forms_in_which_tables_come(box: Toolbox, ws: Path) -> None:
    (ws / "german.csv").write_bytes(GERMAN.encode("cp1252"))
    german = await ok(box, "query_table", path="german.csv", aggregate=["sum(Betrag)"])
    assert german.data["rows"] == [[1224.25]]
    ends = await ok(box, "query_table", path="german.csv", aggregate=["max(Datum)"])
    assert ends.data["columns"][0]["type"] == "date"
    later = await ok(box, "query_table", path="german.csv", filter="Datum > 2026-02-01")
    assert later.data["rows"][0][1] == "Bonn"
    over = await ok(box, "query_table", path="german.csv", filter="Betrag > 1000,5")
    assert over.data["matched"] == 1

    (ws / "wide.csv").write_bytes(ORDERS.encode("utf-16"))
    (ws / "packed.csv.gz").write_bytes(gzip.compress(ORDERS.encode()))
    (ws / "mixed.csv").write_bytes(b"a,b\n1,K\xc3\xb6ln\n" * 30 + b"2,K\xf6ln\n")
    (ws / "bare.tsv").write_text("1\t2\n3\t4\n")
    (ws / "twice.csv").write_text("a,a,\n1,2,3\n")
    (ws / "lines.jsonl").write_text('{"a": 1, "b": {"c": 2}}\n{"a": 2.5, "d": null}\n')
    (ws / "one.json").write_text('{"rows": [{"a": 1}, {"a": 2}]}')
    for name, total in {"wide.csv": 35.75, "packed.csv.gz": 35.75}.items():
        result = await ok(box, "query_table", path=name, aggregate=["sum(net amount)"])
        assert result.data["rows"] == [[total]], name
    mixed = await ok(box, "query_table", path="mixed.csv", filter="b = Köln", limit=1)
    assert mixed.data["matched"] == 31
    bare = await ok(box, "query_table", path="bare.tsv", sum=["column2"])
    assert bare.data["rows"] == [[6]]
    twice = await ok(box, "query_table", path="twice.csv")
    assert [c["name"] for c in twice.data["columns"]] == ["a", "a_2", "column3"]
    lines = await ok(box, "query_table", path="lines.jsonl", filter="a >= 1")
    assert lines.data["rows"] == [[1, '{"c": 2}', None], [2.5, None, None]]
    one = await ok(box, "query_table", path="one.json", aggregate=["mean(a)"])
    assert one.data["rows"] == [[1.5]]


async def test_lines_of_two_encodings_in_one_file(box: Toolbox, ws: Path) -> None:
    lines = ["1;München;1.234,50\n", "2;Köln;2,50\n", "3;Łódź;3\n", "4;Spaß“;4\n", "5;Öl;5\n"]
    ours = [line.encode("utf-8" if n in (0, 2) else "cp1252") for n, line in enumerate(lines)]
    (ws / "both.csv").write_bytes(b"id;city;sum\n" + b"".join(ours * 2))
    found = await ok(box, "query_table", path="both.csv", limit=5)
    assert [row[1] for row in found.data["rows"]] == ["München", "Köln", "Łódź", "Spaß“", "Öl"]
    assert "4 places with bytes of another encoding" in found.text
    (ws / "mac.csv").write_bytes("id;city\r1;Köln\r2;Öhr\r".encode("cp1252"))
    assert (await ok(box, "query_table", path="mac.csv")).data["rows"][1] == ["2", "Öhr"]


async def test_a_quote_that_is_open_to_the_end_is_noticed(box: Toolbox, ws: Path) -> None:
    """In the last line it swallows the rest of that line alone, which is easily overlooked."""
    (ws / "open.csv").write_text('a;b\n1,5;2\n"x;3\n')
    result = await box.call("query_table", {"path": "open.csv"})
    assert "Quotes do not match" in result.text
    assert '"x | 3' in result.text
    (ws / "inches.csv").write_text('size,count\n5" disk,3\n"a ""b""",4\n')
    result = await box.call("query_table", {"path": "inches.csv"})
    assert "Quotes" not in result.text
    assert '5" disk | 3' in result.text
    read = await box.call("read_document", {"path": "open.csv"})
    assert '"x;3' in read.text


async def test_broken_quotes_cost_one_row(box: Toolbox, ws: Path) -> None:
    body = "".join(f'{n},"name {n}"\n' for n in range(500))
    (ws / "a.csv").write_text(f'id,name\n{body}500,"open\n' + body)
    (ws / "b.csv").write_text('id,name\n1,"open\n2,two\n3,three\n')
    (ws / "fine.csv").write_text('id,name\n1,"two\nlines"\n2,5" pipe\n')
    assert (await ok(box, "query_table", path="a.csv")).data["total"] >= 1000
    broken = await ok(box, "query_table", path="b.csv")
    assert broken.data["total"] == 3
    assert "Quotes do not match" in broken.text
    (ws / "later.csv").write_text('id,name\n1,"open\n2,two\n3,"three"\n4,four\n')
    later = await ok(box, "query_table", path="later.csv")
    assert later.data["rows"] == [["1", '"open'], ["2", "two"], ["3", "three"], ["4", "four"]]
    assert "Quotes do not match" in later.text
    fine = await ok(box, "query_table", path="fine.csv")
    assert fine.data["rows"] == [["1", "two\nlines"], ["2", '5" pipe']]


async def test_a_folder_is_one_table(box: Toolbox, ws: Path) -> None:
    (ws / "all").mkdir()
    (ws / "all/a.csv").write_text("id,amount\n1,1.5\n2,2.5\n")
    (ws / "all/b.csv").write_text("id;amount;note\n3;1.000,25;x\n")
    (ws / "all/readme.txt").write_text("no table")
    (ws / "empty").mkdir()
    result = await ok(box, "query_table", path="all", sum=["amount"], group=["file"])
    assert dict(result.data["rows"]) == {"all/a.csv": 4, "all/b.csv": 1000.25}
    listed = await ok(box, "query_table", path="all", filter="note = x")
    assert [row[0] for row in listed.data["rows"]] == ["3"]
    await refused(box, "query_table", "no_results", path="empty")


async def test_workbooks(box: Toolbox, ws: Path) -> None:
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        '<c r="D1" t="inlineStr"><is><t>when</t></is></c></row><row/>'
        '<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3"><v>2.5</v></c>'
        '<c r="D3" s="1"><v>46024</v></c></row>'
        '<row r="4"><c r="A4" t="str"><f>1+1</f><v>two</v></c><c r="B4"><v>4</v></c></row>'
    )
    texts = "<si><t>name</t></si><si><r><t>am</t></r><r><t>ount</t></r></si><si><t>one</t></si>"
    workbook(ws / "w.xlsx", rows, texts)
    result = await ok(box, "query_table", path="w.xlsx")
    assert result.data["rows"] == [["one", "2.5", "", "2026-01-02"], ["two", "4", "", ""]]
    assert "others: More" in result.text
    assert (await ok(box, "query_table", path="w.xlsx", sheet="more", sum=["x"])).data["rows"] == [
        [7]
    ]
    await refused(box, "query_table", "not_found", path="w.xlsx", sheet="None")
    (ws / "bad.xlsx").write_bytes(b"PK\x03\x04" + b"x" * 100)
    await refused(box, "query_table", "unsupported_content", path="bad.xlsx")
    workbook(ws / "evil.xlsx", rows, "")
    with zipfile.ZipFile(ws / "evil.xlsx", "a") as archive:
        archive.writestr("xl/calcChain.xml", "")
    data = (ws / "evil.xlsx").read_bytes().replace(b"<sst", b"<!DOCTYPE a><sst")
    (ws / "evil.xlsx").write_bytes(data)
    assert (await box.call("query_table", {"path": "evil.xlsx"})).error


def of_cells(*cells: str) -> str:
    return "<row>" + "".join(f"<c{cell}</c>" for cell in cells) + "</row>"


async def test_numbers_and_times_of_workbooks(box: Toolbox, ws: Path) -> None:
    """All digits of whole numbers, and times of day without a date."""
    heads = [f' t="inlineStr"><is><t>{name}</t></is>' for name in ("n", "t", "long", "sum")]
    first = of_cells("><v>1234567890123456</v>", ' s="2"><v>0.39652777777777776</v>',
                     ' s="3"><v>1.5</v>', "><f>A2+1</f>")  # fmt: skip
    second = of_cells("><v>1.234567890123457E15</v>", ' s="2"><v>0.75</v>',
                      ' s="3"><v>0.25</v>', "><f>A3+1</f>")  # fmt: skip
    third = of_cells("><v>0.30000000000000004</v>", ' s="2"><v>46024.5</v>')
    workbook(ws / "n.xlsx", of_cells(*heads) + first + second + third)
    result = await ok(box, "query_table", path="n.xlsx")
    assert [row[:3] for row in result.data["rows"]] == [
        ["1234567890123456", "09:31:00", "36:00:00"],
        ["1234567890123457", "18:00:00", "06:00:00"],
        ["0.3", "2026-01-02 12:00:00", ""],
    ]
    assert "2 formulas in D read as empty" in result.text
    at = await ok(box, "query_table", path="n.xlsx", filter="t = 09:31", columns=["n"])
    assert at.data["rows"] == [["1234567890123456"]]
    groups = await ok(box, "query_table", path="n.xlsx", group=["n"], filter="n > 1")
    assert [row[0] for row in groups.data["rows"]] == ["1234567890123456", "1234567890123457"]
    made = await ok(box, "convert_format", path="n.xlsx", to="json")
    assert [row["n"] for row in json.loads(made.data["content"])] == [
        1234567890123456,
        1234567890123457,
        0.3,
    ]
    assert "2 formulas in D" in made.text


async def test_first_days_of_workbooks(box: Toolbox, ws: Path) -> None:
    days = "".join(of_cells(f' s="1"><v>{day}</v>') for day in (1, 1.5, 59, 61, 46024))
    workbook(ws / "d.xlsx", of_cells(' t="inlineStr"><is><t>day</t></is>') + days)
    result = await ok(box, "query_table", path="d.xlsx")
    assert [row[0] for row in result.data["rows"]] == [
        *("1900-01-01", "1900-01-01 12:00:00", "1900-02-28", "1900-03-01", "2026-01-02")
    ]


async def test_saved_rows_are_an_undoable_step(box: Toolbox, ws: Path) -> None:
    (ws / "o.csv").write_text(ORDERS)
    saved = await ok(box, "query_table", path="o.csv", limit=1, save_to="out/o.json")
    assert "Saved to out/o.json" in saved.text
    assert '"city": "Köln"' in (ws / "out/o.json").read_text()
    await ok(box, "undo_changes")
    assert not (ws / "out/o.json").exists()
    await refused(box, "query_table", "bad_input", path="o.csv", save_to="o.png")


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        ("query_table", {"path": "t/a.csv", "save_to": "t/a.csv"}),
        ("query_table", {"path": "t", "save_to": "t/a.csv"}),
        ("query_table", {"path": "link.csv", "save_to": "t/../t/a.csv"}),
        ("query_database", {"source": "t/a.csv", "sql": "SELECT 1", "save_to": "t/a.csv"}),
        ("query_database", {"source": "t", "sql": "SELECT 1", "save_to": "t/a.csv"}),
        ("convert_format", {"path": "t/a.csv", "to": "json", "output": "t/a.csv"}),
        ("preview_html", {"path": "page.html", "output": "page.html", "show": False}),
        ("compare_images", {"path": "a.png", "other": "b.png", "output": "b.png"}),
    ],
)
async def test_results_keep_off_what_is_read(
    box: Toolbox, ws: Path, tool: str, call: dict[str, object]
) -> None:
    (ws / "t").mkdir()
    (ws / "t" / "a.csv").write_text("a\n1\n")
    (ws / "link.csv").symlink_to("t/a.csv")
    for name in ("page.html", "a.png", "b.png"):
        (ws / name).write_text("<p>x</p>")
    result = await refused(box, tool, "bad_input", **call)
    assert "is what is read" in result.render()
    assert (ws / "t" / "a.csv").read_text() == "a\n1\n"


@pytest.mark.parametrize(
    ("tool", "call"),
    [
        ("query_table", {"path": "a.csv", "save_to": "old.json"}),
        ("convert_format", {"path": "a.csv", "to": "json", "output": "old.json"}),
        ("markdown_table", {"data": [{"a": 1}], "output": "old.json"}),
        ("query_database", {"sql": "SELECT 1", "save_to": "old.json"}),
        ("make_chart", {"path": "a.csv", "output": "old.svg"}),
        ("make_qr", {"text": "a", "output": "old.svg"}),
        ("create_document", {"path": "old.html", "content": "# a"}),
        ("preview_html", {"content": "# a", "output": "old.html", "show": False}),
    ],
)
async def test_what_was_replaced_is_told(
    box: Toolbox, ws: Path, tool: str, call: dict[str, object]
) -> None:
    (ws / "a.csv").write_text("a,b\nx,1\n")
    for name in ("old.json", "old.svg", "old.html"):
        (ws / name).write_text("before")
    notice = "in place of what was there (undo_changes brings it back)"
    assert notice in (await ok(box, tool, **call)).text
    await ok(box, "undo_changes")
    for name in ("old.json", "old.svg", "old.html"):
        assert (ws / name).read_text() == "before"
        (ws / name).unlink()
    assert "in place" not in (await ok(box, tool, **call)).text


async def test_a_pattern_of_files_leads_to_their_folder(box: Toolbox, ws: Path) -> None:
    (ws / "sales").mkdir()
    (ws / "sales" / "a.csv").write_text("a\n1\n")
    result = await refused(box, "query_table", "bad_input", path="sales/*.csv")
    assert "the folder sales for all its tables" in result.render()


async def test_what_is_no_table(box: Toolbox, ws: Path) -> None:
    (ws / "empty.csv").write_bytes(b"")
    (ws / "blank.csv").write_bytes(b" \n\n")
    (ws / "p.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (ws / "x.json").write_text("[")
    for name in ("empty.csv", "blank.csv", "p.csv", "x.json"):
        await refused(box, "query_table", "unsupported_content", path=name)
    wide = io.StringIO()
    wide.write(",".join(f"c{n}" for n in range(10_000)) + "\n" + ",".join(["1"] * 10_000) + "\n")
    (ws / "wide.csv").write_text(wide.getvalue())
    assert (await ok(box, "query_table", path="wide.csv", sum=["c9999"])).data["rows"] == [[1]]
    (ws / "head.csv").write_text("a,b\n")
    assert (await ok(box, "query_table", path="head.csv")).data["total"] == 0


@pytest.mark.parametrize(
    ("cells", "delimiter"),
    [
        (["+49 30 123456", "+44 20 7946 0958"], ","),
        (["+49 301 234 567"], ","),
        (["030 999 12", "030 999 123"], ","),
        (["4111 1111 1111 1111"], ","),
        (["+4930123456", "+442079460958"], ","),
        (["10.100.200.250", "192.168.100.200"], ";"),
        (["10.100.200.250"] * 40 + ["10.0.0.1"], ";"),
        (["555 123"] * 40 + ["555 12 34"], ","),
        (["1E5", "12E34"], ","),
    ],
)
async def test_codes_of_digits_stay_texts(
    box: Toolbox, ws: Path, cells: list[str], delimiter: str
) -> None:
    lines = "".join(f"{cell}{delimiter}x\n" for cell in cells)
    (ws / "c.csv").write_text(f"code{delimiter}name\n{lines}")
    made = await ok(box, "convert_format", path="c.csv", to="json")
    assert [row["code"] for row in json.loads(made.data["content"])] == cells


async def test_a_first_row_of_codes_is_no_head(box: Toolbox, ws: Path) -> None:
    (ws / "c.csv").write_text("030 999 12,10.0.0.1\n030 888 11,10.0.0.2\n")
    assert len((await ok(box, "query_table", path="c.csv")).data["rows"]) == 2


async def test_numbers_in_groups_and_with_units(box: Toolbox, ws: Path) -> None:
    cells = {"1 234 567": 1234567, "1'234": 1234, "-\u20ac1,234.5": -1234.5, "(5)": -5, "5 %": 5}
    for cell, number in cells.items():
        (ws / "n.csv").write_text(f'n,name\n"{cell}",x\n')
        summed = await ok(box, "query_table", path="n.csv", aggregate=["sum(n)"])
        assert summed.data["rows"] == [[number]], cell


async def test_amounts_of_money_in_points_are_a_guess(box: Toolbox, ws: Path) -> None:
    (ws / "m.csv").write_text("item,price\na,1.200 EUR\nb,3.400 EUR\n")
    summed = await ok(box, "query_table", path="m.csv", aggregate=["sum(price)"])
    assert "a guess: 1.200 EUR is 1.2" in summed.text
    (ws / "m.csv").write_text("item,price\na,1.200\nb,3.40 EUR\n")
    assert "a guess" not in (await ok(box, "query_table", path="m.csv")).text


async def test_a_column_of_dates_has_one_reading(box: Toolbox, ws: Path) -> None:
    (ws / "us.csv").write_text("day,n\n01/13/2026,1\n02/03/2026,2\n12/31/2025,3\n")
    found = await ok(box, "query_table", path="us.csv", filter="day = 2026-02-03", columns=["n"])
    assert found.data["rows"] == [["2"]]
    assert "month/day/year" in (await ok(box, "query_table", path="us.csv")).text
    ordered = await ok(box, "query_table", path="us.csv", sort="day", columns=["n"])
    assert [row[0] for row in ordered.data["rows"]] == ["3", "1", "2"]


async def test_files_of_one_question_with_dates_in_other_orders(box: Toolbox, ws: Path) -> None:
    european = "day,n\n25/12/2025,1\n02/03/2026,2\n"
    american = "day,n\n12/26/2025,3\n03/04/2026,4\n"
    for folder, texts in {"a": (european, american), "b": (american, european)}.items():
        (ws / folder).mkdir()
        for name, text in zip(("1.csv", "2.csv"), texts, strict=True):
            (ws / folder / name).write_text(text)
        found = await ok(box, "query_table", path=folder, sort="day", columns=["n"])
        assert [row[0] for row in found.data["rows"]] == ["1", "3", "2", "4"]
        us = "2.csv" if folder == "a" else "1.csv"
        assert f"{us}: day has month/day/year" in found.text


async def test_rows_with_more_cells_than_the_head_are_told(box: Toolbox, ws: Path) -> None:
    (ws / "w.csv").write_text("item,price\nA,$1,200.50\nB,200.25\n")
    for tool, arguments in {
        "query_table": {"path": "w.csv", "aggregate": ["sum(price)"]},
        "query_database": {"source": "w.csv", "sql": "select sum(price) from w"},
        "convert_format": {"path": "w.csv", "to": "json"},
    }.items():
        found = await ok(box, tool, **arguments)
        assert "1 row with more cells than the head" in found.text, tool
        assert "A | $1 | 200.50" in found.text
    (ws / "even.csv").write_text("item,price,\nA,1,\nB,2,  \n")
    assert "more cells" not in (await ok(box, "query_table", path="even.csv")).text


async def test_values_that_numbers_say_less_of_are_told(box: Toolbox, ws: Path) -> None:
    (ws / "v.csv").write_text("version,off,cost,price\n1.9,5%,$3,10.50\n1.10,10%,$4,2.00\n")
    made = await ok(box, "convert_format", path="v.csv", to="json")
    for note in ("version: 1.10 is the number 1.1.", "off: 5% is the number 5.", "cost: $3 is"):
        assert note in made.text
    assert "price:" not in made.text
    found = await ok(box, "query_database", source="v.csv", sql="select version from v")
    assert "version: 1.10 is the number 1.1." in found.text
    (ws / "plain.csv").write_text("version,n\n1.9,1\n1.10,2\n")
    found = await ok(box, "query_database", source="plain.csv", sql="select version from plain")
    assert found.text.count("version: 1.10 is the number 1.1.") == 1
    saved = await ok(box, "query_table", path="v.csv", save_to="y.json")
    assert json.loads((ws / "y.json").read_text())[0] == {
        "version": 1.9, "off": 5, "cost": 3, "price": 10.5,
    }  # fmt: skip
    assert "off: 5% is the number 5." in saved.text


async def test_numbers_of_articles_are_texts_to_each_tool(box: Toolbox, ws: Path) -> None:
    (ws / "a.csv").write_text("article,n\n1E5,1\n12E4,2\n")
    found = await ok(box, "query_database", source="a.csv", sql="select article from a")
    assert found.data["rows"] == [["1E5"], ["12E4"]]
    assert "1E5 | 1" in (await ok(box, "query_table", path="a.csv")).text


REPORT = """Umsatzbericht 2026;;
erstellt am 03.11.2026;;
;;
Datum;Filiale;Umsatz
01.01.2026;Köln;1.000,50
02.01.2026;Ulm;2.000,50
"""


async def test_titles_above_the_head_are_left_out_and_named(box: Toolbox, ws: Path) -> None:
    (ws / "u.csv").write_text(REPORT)
    found = await ok(box, "query_table", path="u.csv", group=["Filiale"], aggregate=["sum(Umsatz)"])
    assert found.data["rows"] == [["Köln", 1000.5], ["Ulm", 2000.5]]
    assert "Above the head, left out: Umsatzbericht 2026, erstellt am 03.11.2026." in found.text
    sql = await ok(box, "query_database", source="u.csv", sql="SELECT Filiale, Umsatz FROM u")
    assert sql.data["rows"] == [["Köln", 1000.5], ["Ulm", 2000.5]]
    assert "Above the head, left out" in sql.text
    (ws / "short.csv").write_text("Sales\n\nday,amount\n2026-01-02,5\n2026-01-03,6\n")
    assert (await ok(box, "query_table", path="short.csv", sum=["amount"])).data["rows"] == [[11]]
    cells = '<row><c t="inlineStr"><is><t>{}</t></is></c>{}</row>'
    rows = [("Report", ""), ("name", '<c t="str"><v>n</v></c>'), ("a", "<c><v>1</v></c>")]
    workbook(ws / "w.xlsx", "".join(cells.format(*row) for row in rows))
    assert (await ok(box, "query_table", path="w.xlsx", sum=["n"])).data["rows"] == [[1]]


@pytest.mark.parametrize(
    "text, columns",
    [
        (",name\nx,Anna\ny,Bob\n", ["column1", "name"]),
        ("name,\nAnna,5\nBob,6\n", ["name", "column2"]),
        ("note\nhello, world\nplain\nand, more\n", ["note", "column2"]),
        ("item,price\nx,$1,200\ny,$2,300\n", ["item", "price", "column3"]),
        (",2025,,2026\nRegion,Sales,Cost,Sales\nNorth,1,2,3\n", None),
        ("a,b,c\n1,,\n2,x,y\n", ["a", "b", "c"]),
        ("1,,\n2,x,y\n3,u,v\n", ["column1", "column2", "column3"]),
        (
            "Team,Members,,\nRed,Ann,Bob,Cid\nBlue,Dan,Eve,Fay\n",
            ["Team", "Members", "column3", "column4"],
        ),
        (
            "word,translations,,,\nhouse,Haus,maison,casa,dom\ncat,Katze,chat,gato,kot\n",
            ["word", "translations", "column3", "column4", "column5"],
        ),
        (
            "Name,Phones,,,\nAnn,home,work,mobile,fax\nBob,home,mobile,x,y\n",
            ["Name", "Phones", "column3", "column4", "column5"],
        ),
        (
            "recipe,minutes\nsoup,carrot,leek,onion\nstew,5,6,7\nbroth,3,4,5\n",
            ["recipe", "minutes", "column3", "column4"],
        ),
        ("Bob,,,\nAnn,x,y,z\nCid,u,v,w\n", ["Bob", "column2", "column3", "column4"]),
    ],
)
async def test_a_table_without_titles_is_as_it_was(
    box: Toolbox, ws: Path, text: str, columns: list[str] | None
) -> None:
    (ws / "t.csv").write_text(text)
    found = await ok(box, "query_table", path="t.csv")
    assert "Above the head" not in found.text
    assert columns is None or [column["name"] for column in found.data["columns"]] == columns


async def test_a_total_that_is_counted_with_its_parts_is_noted(box: Toolbox, ws: Path) -> None:
    (ws / "v.csv").write_text(REPORT.rsplit(";;\n", maxsplit=1)[-1] + ";Summe;3.001,00\n")
    summed = await ok(box, "query_table", path="v.csv", aggregate=["sum(Umsatz)"])
    assert 'sum(Umsatz) counts the last row too, which is the total of the others: filter="Fi' in (
        summed.text
    )
    filtered = {"path": "v.csv", "aggregate": ["sum(Umsatz)"], "filter": "Filiale != Summe"}
    rest = await ok(box, "query_table", **filtered)
    assert rest.data["rows"] == [[3001]] and "counts the last row" not in rest.text
    counted = await ok(box, "query_table", path="v.csv", aggregate=["count"])
    assert "counts the last row" not in counted.text


def sheet(path: Path, rows: list[list[object]], *merged: str) -> None:
    """A workbook as libraries write it that do not calculate."""
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet()
    for number, row in enumerate(rows):
        page.write_row(number, 0, row)
    for area in merged:
        page.merge_range(area, rows[int(area[1]) - 1][ord(area[0]) - 65])
    book.close()


async def test_merged_cells_have_their_value_in_each_row(box: Toolbox, ws: Path) -> None:
    rows: list[list[object]] = [["Staff", "", "", ""], ["Dept", "Name", "Salary", "Room"]]
    rows += [["Sales", "A", 100, 7], ["", "B", 200, ""], ["", "C", 300, ""]]
    rows += [["IT", "D", 400, 8], ["", "E", 500, 9], ["Total", "", 1500, 10]]
    sheet(ws / "m.xlsx", rows, "A1:D1", "A3:A5", "A6:A7", "D3:D5", "A8:B8")
    found = await ok(box, "query_table", path="m.xlsx", group=["Dept"], sum=["Salary", "Room"])
    assert found.data["rows"] == [["Sales", 600, 7], ["IT", 900, 17], ["Total", 1500, 10]]
    assert "Merged cells in A: their text stands in each of their cells." in found.text
    assert "Merged cells in D: their number stands in the first cell alone." in found.text
    it = await ok(box, "query_table", path="m.xlsx", filter="Dept = IT")
    assert it.data["matched"] == 2
    assert "Above the head, left out: Staff." in it.text


async def test_formulas_that_were_never_calculated_are_told(box: Toolbox, ws: Path) -> None:
    rows: list[list[object]] = [["n", "twice"], [1, "=A2*2"], [2, "=A3*2"]]
    sheet(ws / "f.xlsx", rows)
    found = await ok(box, "query_table", path="f.xlsx", sum=["twice"])
    assert "All 2 formulas in B have the value 0" in found.text
    cells = "><f>A1</f><v>0</v>", "><f>A2</f><v>5</v>"
    workbook(ws / "g.xlsx", of_cells(' t="inlineStr"><is><t>n</t></is>') + of_cells(*cells))
    assert "formulas" not in (await ok(box, "query_table", path="g.xlsx")).text


async def test_dates_with_names_of_months(box: Toolbox, ws: Path) -> None:
    for first, second, third in (
        ("12-Jan-24", "03-Mar-24", "01-Dec-23"),
        ("12. Januar 2024", "3. M\u00e4rz 2024", "1. Dez. 2023"),
        ("12 January 2024", "3 March 2024", "1 Dec 2023"),
        ("Jan 12, 2024", "March 3rd, 2024", "December 1, 2023"),
        ("12-JAN-2024 10:30", "03-MAR-2024 09:00", "01-DEC-2023 00:00"),
    ):
        (ws / "d.csv").write_text(f"n;d\n1;{first}\n2;{second}\n3;{third}\n")
        found = await ok(box, "query_table", path="d.csv", sort="d desc", filter="d > 2024-01-01")
        assert [row[0] for row in found.data["rows"]] == ["2", "1"], first
        assert found.data["columns"][1]["type"] == "date"
        same = await ok(box, "query_table", path="d.csv", filter=f'd = "{first}"')
        assert same.data["matched"] == 1
    (ws / "d.csv").write_text("n,d\n1,12 Maybe 24\n2,3 Marching 24\n")
    found = await ok(box, "query_table", path="d.csv")
    assert found.data["columns"][1]["type"] == "text"


async def test_the_last_date_is_no_label(box: Toolbox, ws: Path) -> None:
    days = "".join(f"2024-01-{day:02},{day}\n" for day in range(1, 25))
    (ws / "d.csv").write_text(f"d,n\n{days}Total,300\n")
    found = await ok(box, "query_table", path="d.csv", max=["d"], min=["d"])
    assert sorted(found.data["rows"][0]) == ["2024-01-01", "2024-01-24"]
    assert "max(d) leaves out what is no date (1 value, such as Total)." in found.text


async def test_a_number_of_a_filter_is_read_as_those_of_the_column(box: Toolbox, ws: Path) -> None:
    (ws / "b.csv").write_text("n;b\n1;4.900,50\n2;4,95\n3;5.000,00\n")
    for condition, numbers in (
        ("b > 4.900", ["1", "3"]),
        ("b > 4.96", ["1", "3"]),
        ("b >= 4,96", ["1", "3"]),
        ("b > 4,900.60", ["3"]),
        ("b in (4.95, 5000)", ["2", "3"]),
    ):
        found = await ok(box, "query_table", path="b.csv", filter=condition)
        assert [row[0] for row in found.data["rows"]] == numbers, condition
        noted = "4.900 is read as 4900, for b has decimal commas." in found.text
        assert noted == (condition == "b > 4.900")


async def test_groups_that_differ_in_case_alone_are_told(box: Toolbox, ws: Path) -> None:
    (ws / "s.csv").write_text("s,n\npaid,1\nPaid ,2\nopen,3\n")
    found = await ok(box, "query_table", path="s.csv", group=["s"])
    note = 'Groups that differ in case or blanks alone stand apart: "paid", "Paid ".'
    assert note in found.text
    found = await ok(box, "query_table", path="s.csv", group=["s"], filter="s = open")
    assert "stand apart" not in found.text


async def test_what_other_tools_do_is_named(box: Toolbox, ws: Path) -> None:
    (ws / "o.csv").write_text(ORDERS)
    (ws / "p.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    for code, tool, more in (
        ("bad_input", "query_database", {"aggregate": ["median(id)"]}),
        ("bad_input", "query_database", {"aggregate": ["sum(id) as t"]}),
        ("bad_input", "query_database", {"group": ["month(day)"]}),
        ("bad_input", ".xlsx", {"save_to": "x.xls"}),
        ("unsupported_content", "query_database", {"path": "p.parquet"}),
    ):
        found = await refused(box, "query_table", code, **{"path": "o.csv", **more})
        assert tool in found.render(), more
    found = await refused(box, "convert_format", "unsupported_content", path="p.parquet", to="csv")
    assert "query_database" in found.render()
    for call in ({"to": "xlsx"}, {"action": "csv_to_xlsx"}, {"format": "XLSX"}):
        found = await refused(box, "convert_format", "bad_input", path="o.csv", **call)
        assert "table.xlsx" in found.render(), call


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-05,Bonn\n2024-01-06,Ulm\n",
        "05.01.2024;Bonn;1,5\n06.01.2024;Ulm;2,5\n",
        "Bonn,12.5\nUlm,9\n",
        "Bonn,34,12\nUlm,3,15\n",
    ],
)
async def test_a_first_row_like_the_others_is_no_head(box: Toolbox, ws: Path, text: str) -> None:
    (ws / "a.csv").write_text(text)
    found = await ok(box, "query_table", path="a.csv")
    assert found.data["total"] == 2
    assert "It has no head" in found.text
    counted = await ok(box, "query_database", source="a.csv", sql="SELECT count(*) FROM data")
    assert counted.data["rows"] == [[2]]
    described = await ok(box, "describe_database", source="a.csv")
    assert described.data["tables"][0]["rows"] == 2
    converted = await ok(box, "convert_format", path="a.csv", to="json")
    assert '"column1"' in converted.text


@pytest.mark.parametrize(
    "head",
    [
        *("city,2023,2022", "city,2023,n", "city,1,2", "city,0,n", "city,0.25,0.5"),
        *("city,2024-01-01,2024-02-01", "city,Q1 2023,n"),
    ],
)
async def test_a_head_may_have_years_dates_and_rising_numbers(
    box: Toolbox, ws: Path, head: str
) -> None:
    (ws / "a.csv").write_text(f"{head}\nBonn,5,7\nUlm,6,9\n")
    found = await ok(box, "query_table", path="a.csv")
    assert [column["name"] for column in found.data["columns"]] == head.split(",")


async def test_dates_that_no_date_settles_are_told_where_they_matter(
    box: Toolbox, ws: Path
) -> None:
    (ws / "u.csv").write_text("day,until,n\n1/5/2024,2/6/2024,1\n2/3/2024,3/4/2024,2\n")
    note = "day: dates read as day/month; none of them settles it."
    for question in (
        {"filter": "day > 2024-04-01"},
        {"filter": "day = 1/5/2024 or day = 2/3/2024", "sort": "-day"},
        {"filter": "day < until"},
        {"sort": "day desc"},
        {"aggregate": ["max(day)", "min(day)"]},
        {"group": ["day"], "sort": "day"},
    ):
        found = await ok(box, "query_table", path="u.csv", **question)
        assert found.text.count(note) == 1, question
    for other in ({}, {"filter": "n = 1"}, {"filter": "day >= 2024"}, {"aggregate": ["sum(n)"]}):
        found = await ok(box, "query_table", path="u.csv", **other)
        assert "read as day/month" not in found.text, other
    sql = "SELECT n FROM data WHERE day > '2024-04-01'"
    found = await ok(box, "query_database", source="u.csv", sql=sql)
    assert (found.data["rows"], found.text.count(note)) == ([[1]], 1)
    found = await ok(box, "query_database", source="u.csv", sql="SELECT sum(n) FROM data")
    assert "read as day/month" not in found.text
    (ws / "s.csv").write_text("day,n\n1/5/2024,1\n13/2/2024,2\n")
    found = await ok(box, "query_table", path="s.csv", sort="day")
    assert "day (date, day/month/year)" in found.text
    assert "read as day/month" not in found.text
    found = await ok(box, "query_database", source="s.csv", sql="SELECT day FROM data")
    assert "read as day/month" not in found.text


INVOICES = """\
Region;Umsatz;Datum;Nr;US
Nord;1.234,50;03.02.2024;007;01/02/2024
S\u00fcd;2.000,00;;008;03/04/2024
"""


async def test_tables_become_workbooks_with_numbers_and_dates(box, ws):
    """Codes and what can be read in two ways stay as they are; what has no rows keeps its head."""
    (ws / "sales.csv").write_text(INVOICES)
    sql = "SELECT * FROM data"
    calls = {
        "a.xlsx": ("convert_format", {"path": "sales.csv", "to": "excel", "output": "a.xlsx"}),
        "b.xlsx": ("query_table", {"source": "sales.csv", "save_to": "b.xlsx"}),
        "c.xlsx": ("query_database", {"source": "sales.csv", "sql": sql, "save_to": "c.xlsx"}),
    }
    for name, (tool, arguments) in calls.items():
        await ok(box, tool, **arguments)
        first, second = (await ok(box, "query_table", path=name)).data["rows"]
        assert first[:3] == ["Nord", "1234.5", "2024-02-03"]
        assert (second[1], not second[2]) == ("2000", True)
        assert tool == "query_database" or first[3:] == ["007", "01/02/2024"]
    none = await ok(box, "query_table", path="a.xlsx", filter="Nr = 1", save_to="none.xlsx")
    assert "0 rows" in none.text
    result = await ok(box, "query_table", path="none.xlsx")
    names = [column["name"] for column in result.data["columns"]]
    assert ";".join(names) == INVOICES.partition("\n")[0]
    for arguments in ({"to": "xlsx"}, {"to": "xlsx", "output": "a.csv"}):
        given = {"path": "sales.csv", **arguments}
        error = (await box.call("convert_format", given)).error
        assert error is not None and ".xlsx" in error.hint
    await refused(box, "convert_format", "bad_input", input="[]", to="xlsx", output="e.xlsx")
    ragged = '{"A": [], "B": [[1, 2], [3]]}'
    await ok(box, "convert_format", input=ragged, to="xlsx", output="ragged.xlsx")
