"""Pages for a person: previews, components, data of HTML, and what is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conditions import until
from tests.contract.test_compat_calls import has_browser
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.toolbox import Toolbox
from toolcrib.tools.ui.pages import POLICY, guarded_page

ALLOWED = {"policy": {"rules": [{"action": "allow", "group": "ui"}]}}
HTML = """<html><script>document.write('<table><tr><td>made</table>')</script>
<table><caption>First</caption><tr><th>Name<th>Age</tr><tr><td rowspan=2>Anna<td>30<tr><td>31
</table><table><tr><td colspan=2>wide<td>x</table>
<form action=/go method=POST><label for=n>Your name</label><input id=n name=name required value=Bo>
<select name=s><option>a<option selected>b</select><input type=password name=p value=secret>
<label><input type=checkbox name=c checked> Agree</label><button>Go</button></form>
<ul><li>one<ul><li>inner</ul><li>two</ul><ol><li>1</ol><a href=/x>link</a>"""


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A desktop whose opener notes what it was given."""
    programs, noted = tmp_path / "bin", tmp_path / "opened"
    programs.mkdir()
    (programs / "xdg-open").write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" >> {noted}\n')
    (programs / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":77")
    return noted


@pytest.mark.rows("C096")
async def test_data_of_html(box: Toolbox, ws: Path) -> None:
    tables = await ok(box, "extract_ui_data", html_content=HTML, extraction_type="table")
    assert (await ok(box, "extract_html_data", html=HTML, what="tables")).data == tables.data
    first, second = tables.data["tables"]
    assert first == {
        "caption": "First", "columns": ["Name", "Age"], "rows": [["Anna", "30"], ["Anna", "31"]],
    }  # fmt: skip
    assert second["rows"] == [["wide", "wide", "x"]]
    assert "made" not in tables.text
    everything = await ok(box, "extract_html_data", html=HTML)
    (form,) = everything.data["forms"]
    assert (form["method"], form["action"]) == ("post", "/go")
    fields = {field["name"]: field for field in form["fields"]}
    assert (fields["name"]["label"], fields["name"]["required"]) == ("Your name", True)
    assert fields["s"]["options"] == ["a", "b"]
    assert fields["s"]["value"] == "b"
    assert fields["c"]["checked"] is True
    assert "secret" not in everything.text
    assert everything.data["lists"][0]["items"] == [[0, "one"], [1, "inner"], [0, "two"]]
    assert everything.data["links"] == [{"text": "link", "url": "/x"}]
    (ws / "a.html").write_text(HTML)
    assert (await ok(box, "extract_html_data", path="a.html", kind="link")).data["links"]
    await refused(box, "extract_html_data", "no_results", html="<p>x", kind="form")
    await refused(box, "extract_html_data", "bad_input")
    huge = "<table><tr><td colspan=99999>a<td rowspan=99999>b</table>" + "<ul><li>" * 3000
    assert (await box.call("extract_html_data", {"html": huge})).error is None


async def test_heads_over_two_rows_are_one_name(box: Toolbox) -> None:
    html = (
        "<table><tr><th colspan=5>Sales<tr><th rowspan=2>City<th colspan=2>2023<th colspan=2>2024"
        "<tr><th>Units<th>EUR<th>Units<th>EUR<tr><td>Bonn<td>1<td>2<td>3<td>4</table>"
    )
    found = await ok(box, "extract_html_data", html=html, kind="table")
    (table,) = found.data["tables"]
    assert table["columns"] == ["City", "2023 Units", "2023 EUR", "2024 Units", "2024 EUR"]
    assert table["rows"] == [["Bonn", "1", "2", "3", "4"]]


@pytest.mark.rows("C096", "X13")
async def test_words_of_cells_and_items_stay_as_a_reader_sees_them(box: Toolbox) -> None:
    html = (
        "<table><tr><td>one<br>two<p>th<b>ree</b></p><table><tr><td>inner</table></table>"
        "<ul><li>apple<ul><li>a</ul></ul><dl><dt>term<dd>text<ul><li>below</ul></dl>"
        "<form id=f><input name=a></form><input name=b form=f>"
    )
    found = await ok(box, "extract_html_data", html=html)
    assert [table["rows"] for table in found.data["tables"]] == [[["one two three"]], [["inner"]]]
    bullets, terms = found.data["lists"]
    assert bullets["items"] == [[0, "apple"], [1, "a"]]
    assert terms["items"] == [[0, "term"], [0, "text"], [1, "below"]]
    assert [field["name"] for field in found.data["forms"][0]["fields"]] == ["a", "b"]
    assert "Table 2: 1 row\n" in found.text


async def test_fields_of_a_page_say_what_is_chosen(box: Toolbox) -> None:
    html = (
        "<form><input type=checkbox name=c value=1 checked><input type=radio name=r value=2>"
        "<select name=s><option value=de>Germany<option value='' selected>None</select>"
        "<select name=m multiple><option selected>a<option>b<option selected>c</select></form>"
    )
    found = await ok(box, "extract_html_data", html=html, kind="form")
    assert "- c (checkbox) = 1, checked\n- r (radio) = 2\n" in found.text
    assert "- s (select) = None of Germany [de], None []\n" in found.text
    assert "- m (select) = a, c of a, b, c\n" in found.text
    assert found.data["forms"][0]["fields"][2]["option_values"] == ["de", ""]


@pytest.mark.rows("C094")
async def test_fields_say_their_type(box: Toolbox) -> None:
    fields = [{"name": "Age", "type": "number"}, {"label": "Mailing address"}, "News: checkbox"]
    form = await ok(box, "generate_ui_component", component_type="form", fields=fields)
    assert 'name="age" type="number" required>' in form.text
    assert 'name="mailing-address" type="text"' in form.text
    assert 'name="news" type="checkbox">' in form.text
    candidate = await ok(box, "make_ui_component", kind="form", parts=["Candidate", "Note: a: b"])
    assert 'type="date"' not in candidate.text
    assert ">Note: a: b</label>" in candidate.text
    board = await ok(box, "make_ui_component", kind="dashboard", parts=["Sales: 4 < 5", "Visits"])
    assert ">Sales</h2><p>4 &lt; 5</p>" in board.text
    assert ">Visits</h2><p>No data yet.</p>" in board.text
    await refused(box, "make_ui_component", "bad_input", kind="form", parts=[{"x": 1}])


async def test_nobody_is_asked_about_nothing(box: Toolbox) -> None:
    for name in ("preview_html", "open_path"):
        await refused(box, name, "bad_input")


@pytest.mark.rows("C094")
async def test_components(box: Toolbox, ws: Path) -> None:
    made = await ok(box, "generate_ui_component", component_type="button", label="<Go>")
    assert "&lt;Go&gt;</button>" in made.data["html"]
    form = await ok(box, "make_ui_component", kind="form", label="F", fields=["Name", "E-mail"])
    assert '<label for="e-mail-2">E-mail</label>' in form.text
    assert 'type="email"' in form.text
    chart = await ok(box, "make_ui_component", kind="chart", chart_data=[{"a": "x", "b": 3}])
    assert "<svg" in chart.text
    assert "<td>x</td><td>3</td>" in chart.text
    board = await ok(box, "make_ui_component", kind="dashboard", dashboard_titles=["A", "B"])
    assert board.text.count("<section") == 2
    for page in (made, form, chart, board):
        assert page.data["html"].startswith("<!doctype html>")
        assert POLICY in page.data["html"]
    for kind in ("form", "chart", "dashboard"):
        await refused(box, "make_ui_component", "bad_input", kind=kind)
    assert list(ws.iterdir()) == []


@pytest.mark.rows("C042", "C088", "E84")
async def test_previews(ws: Path, desktop: Path) -> None:
    async with Toolbox(ALLOWED, workspace=ws) as box:
        done = await ok(box, "preview_html", html_content="<h1>Hi</h1>", file_name="p.html")
        assert done.data["opened"] is True
        await until(desktop.exists)
        assert desktop.read_text() == f"{ws / 'p.html'}\n"
        page = (ws / "p.html").read_text()
        assert POLICY in page
        (ws / "a.md").write_text("# One\n\n- two")
        await ok(box, "markdown_preview", file_path="a.md")
        assert "<h1>One</h1>" in (ws / "preview.html").read_text()
        await ok(box, "undo_changes")
        assert not (ws / "preview.html").exists()
        await refused(box, "preview_html", "bad_input", content="x", output="p.txt")
        await refused(box, "preview_html", "bad_input")
    async with Toolbox(workspace=ws) as box:
        await refused(box, "preview_html", "needs_approval", content="<b>x")
        await ok(box, "preview_html", content="<b>x", open=False)


@pytest.mark.rows("C095")
@pytest.mark.skipif(not has_browser(), reason="needs a browser and the extra browser")
async def test_a_preview_with_its_picture(ws: Path) -> None:
    async with Toolbox(ALLOWED, workspace=ws) as box:
        done = await ok(
            box,
            "render_and_preview_ui",
            html_content="<h1>Hi</h1><img src=https://example.org/x.png>",
            screenshot_path="s.png",
            open=False,
        )
    assert done.images[0].data == (ws / "s.png").read_bytes()
    assert done.images[0].data.startswith(b"\x89PNG")


async def test_without_a_screen_the_page_is_saved(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with Toolbox(ALLOWED, workspace=ws) as box:
        done = await ok(box, "preview_html", content="<p>x")
        assert done.data["opened"] is False
        assert "no desktop" in done.text
        (ws / "a.pdf").write_bytes(b"%PDF-")
        await refused(box, "open_path", "unavailable", path="a.pdf")


@pytest.mark.rows("C043", "E83")
async def test_what_is_opened(box: Toolbox, ws: Path, desktop: Path) -> None:
    (ws / "a.pdf").write_bytes(b"%PDF-")
    (ws / "run").write_text("#!/bin/sh\n")
    (ws / "run").chmod(0o755)
    (ws / "a.desktop").write_text("[Desktop Entry]\n")
    await refused(box, "open_path", "needs_approval", path="a.pdf")
    async with Toolbox(ALLOWED, workspace=ws) as free:
        await ok(free, "open_file", target="a.pdf")
        await ok(free, "open_file", target="https://example.org/a")
        await until(lambda: desktop.exists() and desktop.read_text().count("\n") == 2)
        assert desktop.read_text() == f"{ws / 'a.pdf'}\nhttps://example.org/a\n"
        for name in ("run", "a.desktop"):
            await refused(free, "open_path", "denied", path=name)
        await refused(free, "open_path", "not_found", path="none.pdf")
        await refused(free, "open_path", "bad_input")
        await refused(free, "open_path", "path_denied", path="/etc/passwd")


def test_every_page_has_the_policy_first() -> None:
    for html in (
        "<!doctype html><html><head><title>x</title></head><body>a",
        "<html><body><script>'<head>'</script>",
        "<!doctype html><p>x",
        "<img src=https://example.org/x>",
        "<HTML lang=de>\n<HEAD class=x><script src=https://example.org/x></script>",
    ):
        page = guarded_page(html, "t")
        at = page.index(POLICY)
        assert "example.org" not in page[:at]
        assert "<script" not in page[:at]
