"""What is shown to a person: text, picture and page of each kind, and what cannot be shown."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.cases import each_case
from tests.contract.test_compat_calls import has_browser
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox
from toolcrib.tools.ui.pages import POLICY

ROWS = [{"name": "Moss", "height": 3}, {"name": "<i>Fern</i>", "height": 40.5}]
MARKDOWN_TABLE = "| name | height |\n|---|---|\n| Moss | 3 |\n"
DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old <b>\n+new <b>\n same\n"
SPEC = {
    "mark": "bar",
    "data": {"values": [{"a": "x", "b": 3}, {"a": "y", "b": 5}]},
    "encoding": {"x": {"field": "a"}, "y": {"field": "b", "type": "quantitative"}},
}


def picture(result: Result) -> Image.Image:
    (image,) = result.images
    assert image.mime_type == "image/png"
    return Image.open(BytesIO(image.data))


def colours(image: Image.Image) -> set[tuple[int, ...]]:
    found = image.convert("RGB").getcolors(1 << 24) or []
    return {colour for count, colour in found if count > 20 and isinstance(colour, tuple)}


async def test_tables_in_whatever_form_they_come(box: Toolbox, ws: Path) -> None:
    forms: list[Any] = [ROWS, json.dumps(ROWS), [["name", "height"], ["Moss", 3]]]
    forms += ["name,height\nMoss,3\n", MARKDOWN_TABLE]
    for number, content in enumerate(forms, 1):
        displayed = await ok(box, "show", content=content, kind="table", title="Garden")
        assert "| Moss | 3 |" in displayed.text
        assert displayed.data["columns"] == 2
        assert picture(displayed).width > 300
        name = f"garden{f'-{number}' if number > 1 else ''}.html"
        assert displayed.data["path"] == name
        page = (ws / name).read_text()
        assert POLICY in page
        assert "<td>Moss</td><td>3</td>" in page
    assert "&lt;i&gt;Fern&lt;/i&gt;</td><td>40.5" in (ws / "garden.html").read_text()
    await ok(box, "undo_changes")
    assert not (ws / "garden-5.html").exists()


async def test_charts(box: Toolbox, ws: Path) -> None:
    bars = await ok(box, "show_chart", data={"May": 3, "June": 5}, kind="chart")
    assert "| May | 3 |" in bars.text
    assert "<svg" in (ws / "chart.html").read_text()
    assert (0x4C, 0x78, 0xA8) in colours(picture(bars))
    dates = {"labels": ["2026-01-01", "2026-01-02"], "values": [1, 2]}
    line = await ok(box, "show", content=dates, kind="chart", title="Days")
    assert "<path" in line.page
    vega = await ok(box, "show", content=SPEC, kind="chart", title="Own")
    assert picture(vega).width > 20
    assert "<svg" in vega.page
    await refused(box, "show", "bad_input", content="no JSON", kind="chart")
    await refused(box, "show", "bad_input", content={"a": "words"}, kind="chart")


async def test_markdown_and_diffs(box: Toolbox, ws: Path) -> None:
    text = (
        "# Moss\n\n- one\n- **two**\n\n> said\n\n```\ncode()\n```\n\n---\n\n1. <script>x</script>\n"
    )
    displayed = await ok(box, "show", content=f"{text}\n{MARKDOWN_TABLE}")
    assert text in displayed.text
    page = (ws / "markdown.html").read_text()
    assert "<h1>Moss</h1>" in page
    assert "<script>x" not in page
    assert (0xF2, 0xF2, 0xF2) in colours(picture(displayed)), "code stands on gray"
    diff = await ok(box, "show_diff", diff=DIFF, kind="diff", title="Change")
    assert DIFF in f"{diff.text}\n"
    assert "+new &lt;b&gt;" in diff.page
    assert {(0xE2, 0xF7, 0xE5), (0xFD, 0xE7, 0xE7)} <= colours(picture(diff))
    await refused(box, "show", "bad_input", content="no diff", kind="diff")


async def test_every_script_is_drawn(box: Toolbox) -> None:
    content = "Größe, señor, 字体 大小, \U0001f600 \U000e0001 \x01\u202e"
    for kind, given in (("markdown", content), ("table", [{content: content}])):
        displayed = await ok(box, "show", content=given, kind=kind)
        assert len(colours(picture(displayed))) > 1


async def test_long_contents_are_cut_in_the_picture_alone(box: Toolbox, ws: Path) -> None:
    rows = [{"n": n, "text": "words " * 40} for n in range(3000)]
    displayed = await ok(box, "show", content=rows, kind="table")
    assert "The picture shows the beginning" in displayed.text
    assert picture(displayed).height <= 4000
    assert displayed.next is not None, "the rest of the text is read on"
    assert displayed.next.tool == "read_more"
    assert (ws / "table.html").read_text().count("<tr>") == 3001
    assert displayed.page == "", "too long for a host"
    words = await ok(box, "show", content="x" * 300_000)
    assert picture(words).height <= 4000
    await refused(box, "show", "too_large", content="x" * 2_000_001)


@pytest.mark.skipif(not has_browser(), reason="needs a browser and the extra browser")
async def test_html_with_a_browser(box: Toolbox, ws: Path) -> None:
    html = "<h1 style='background:#ff0000'>Hi</h1><script>document.title='x'</script>"
    displayed = await ok(box, "show", content=html, kind="html", title="Page")
    assert html in displayed.text
    assert (255, 0, 0) in colours(picture(displayed))
    assert POLICY in (ws / "page.html").read_text()


async def test_html_without_a_browser(ws: Path) -> None:
    config = {"browser": {"executable": str(ws / "none")}}
    async with Toolbox(config, workspace=ws) as box:
        displayed = await ok(box, "show", content="<h1>Hi</h1>", kind="html")
        assert "There is no picture" in displayed.text
        assert "<h1>Hi</h1>" in displayed.text
        assert displayed.images == ()


@each_case(
    ("content", "kind"),
    [
        *(("", "markdown"), ([], "table"), ({}, "chart"), ([{}], "table"), ({"a": 1}, "markdown")),
        *(("[[[[", "table"), ([[]], "table"), (5, "chart"), (None, "html"), (["a"], "diff")),
    ],
)
async def test_what_cannot_be_shown(box: Toolbox, ws: Path, content: Any, kind: str) -> None:
    result = await box.call("show", {"content": content, "kind": kind})
    assert result.error is not None
    assert result.error.code in ("bad_input", "unsupported_content")
    assert result.error.hint
    assert list(ws.iterdir()) == []


async def test_it_asks_nobody_and_taints_nothing(box: Toolbox) -> None:
    await ok(box, "show", content="# a")
    reported = await ok(box, "show", content="# a", title="../../etc/passwd")
    assert reported.data["path"] == "etc-passwd.html"
