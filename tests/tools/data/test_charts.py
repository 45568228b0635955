"""Charts of every kind, from every form of data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cases import each_case
from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.core.errors import BadInput
from toolcrib.data.charts import PALETTE, chart_data, vega_spec
from toolcrib.data.svg_chart import svg_chart
from toolcrib.toolbox import Toolbox

SALES = [{"month": m, "Bonn": n, "Köln": n * 2} for n, m in enumerate(("Jan", "Feb", "Mar"), 1)]


@pytest.mark.rows("C087")
async def test_kinds(box: Toolbox, ws: Path) -> None:
    pytest.importorskip("vl_convert")
    for kind in (
        *("bar", "line", "area", "pie", "doughnut", "scatter", "histogram", "heatmap", "radar"),
    ):
        made = await ok(
            box, "make_chart", kind=kind, data=SALES, title="Sales & more", output=f"{kind}.svg"
        )
        assert made.images[0].data.startswith(b"\x89PNG"), kind
        drawing = (ws / f"{kind}.svg").read_text()
        assert ET.fromstring(drawing).tag.endswith("svg")
        assert "Sales &amp; more" in drawing
        marks = len(re.findall(r"<path", drawing))
        assert marks > 2, kind
    made = await ok(box, "make_chart", type="bar", data=json.dumps(SALES), colors=["red"])
    assert made.data["path"] == "chart.png"
    assert (ws / "chart.png").read_bytes() == made.images[0].data
    assert "3 points; Bonn from 1 to 3, Köln from 2 to 6." in made.text
    again = await ok(box, "make_chart", data={"a": 1, "b": 2})
    assert again.data["path"] == "chart-2.png"
    await ok(box, "undo_changes")
    assert not (ws / "chart-2.png").exists()


async def test_a_table_and_a_specification(box: Toolbox, ws: Path) -> None:
    pytest.importorskip("vl_convert")
    (ws / "t.csv").write_text("day;amount\n02.01.2026;1,5\n03.01.2026;2,5\n")
    made = await ok(box, "make_chart", kind="line", path="t.csv", output="t.svg")
    assert "amount from 1.5 to 2.5" in made.text
    spec = {
        "data": {"values": [{"a": 1, "b": 2}]},
        "mark": "point",
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
    }
    assert (await ok(box, "make_chart", spec=spec)).images
    outside = {**spec, "data": {"url": "http://127.0.0.1:9/x.csv"}}
    await refused(box, "make_chart", "bad_input", spec=outside)
    (ws / "secret.csv").write_text("a,b\n4711,1\n")
    own = {**spec, "data": {"url": f"file://{ws}/secret.csv"}, "mark": "text"}
    own["encoding"] = {"text": {"field": "a"}}
    result = await box.call("make_chart", {"spec": own, "output": "s.svg"})
    assert result.error or "4711" not in (ws / "s.svg").read_text()


async def test_what_cannot_be_drawn(box: Toolbox, ws: Path) -> None:
    for data in ([], "[", [{"a": "x"}], {"labels": ["a"], "values": ["x"]}, 5, [[]]):
        await refused(box, "make_chart", "bad_input", data=data)
    await refused(box, "make_chart", "bad_input")
    file = await refused(box, "make_chart", "bad_input", data="data/sales.csv")
    assert "'path'" in file.render()
    await refused(box, "make_chart", "bad_input", kind="pie", data={"a": -1, "b": 2})
    await refused(box, "make_chart", "bad_input", kind="radar", data={"a": 1, "b": 2})
    await refused(box, "make_chart", "bad_input", data=SALES, y=["Rome"])
    await refused(box, "make_chart", "bad_input", data=SALES, colors=['red"/><script>'])
    await refused(box, "make_chart", "bad_input", data=SALES, output="x.gif")
    inside = {"layer": [{"mark": "bar", "data": {"url": "file:///etc/hostname"}}]}
    await refused(box, "make_chart", "bad_input", spec=inside)


@pytest.mark.parametrize("kind", ["bar", "line", "heatmap", "pie", "area"])
async def test_very_many_points(box: Toolbox, kind: str) -> None:
    """Of names, which take a place each on their axis."""
    data = {"labels": [f"n{n}" for n in range(20_000)], "values": list(range(20_000))}
    drawn = await ok(box, "make_chart", kind=kind, data=data, output=f"{kind}.svg")
    assert "of 20,000 points are drawn, taken evenly" in drawn.text


async def test_a_long_table_is_drawn_over_its_whole_length(box: Toolbox, ws: Path) -> None:
    lines = "".join(f"{n},{n}\n" for n in range(250_000))
    (ws / "long.csv").write_text(f"n,v\n{lines}")
    drawn = await ok(box, "make_chart", kind="scatter", path="long.csv", x="n", output="l.svg")
    assert "5,000 of 250,000 points are drawn, taken evenly." in drawn.text
    highest = re.search(r"v from 0 to (\d+)", drawn.text)
    assert highest
    assert int(highest[1]) > 249_000


async def test_a_histogram_counts_the_column_that_is_named(box: Toolbox) -> None:
    data = [{"id": 1, "val": 50}, {"id": 2, "val": 60}]
    drawn = await ok(box, "make_chart", kind="histogram", data=data, x="val", output="h.svg")
    assert "val from 50 to 60" in drawn.text
    assert "id" not in drawn.text


def test_forms_of_data() -> None:
    expected = {"v": [1.0, 2.5]}
    for data in (
        [{"n": "a", "v": 1}, {"n": "b", "v": 2.5}],
        [["n", "v"], ["a", 1], ["b", 2.5]],
        {"labels": ["a", "b"], "datasets": [{"label": "v", "data": [1, "2.5"]}]},
    ):
        found = chart_data(data)
        assert (found.labels, found.series) == (["a", "b"], expected), data
    assert chart_data({"a": 1, "b": None}).series == {"value": [1.0, None]}
    assert chart_data([3, 4]).labels == ["1", "2"]
    bare = chart_data([["a", 1], ["b", 2.5]])
    assert (bare.labels, [*bare.series.values()]) == (["a", "b"], [[1.0, 2.5]])
    assert list(chart_data([["town", 2019, 2020], ["Bonn", 5, 7]]).series) == ["2019", "2020"]
    assert len(chart_data([["Bonn", 2019, 2020], ["Rome", 2001, 1999]]).labels) == 2
    with pytest.raises(BadInput, match="no numbers"):
        chart_data(["red", "blue"])
    american = chart_data([{"day": "01/13/2026", "v": 1}, {"day": "02/03/2026", "v": 2}])
    assert american.labels == ["2026-01-13", "2026-02-03"]
    many = chart_data([{"n": n, "v": n % 7} for n in range(100_000)])
    assert len(many.labels) == 5000
    assert "100,000" in many.notes[0]


def test_our_own_drawings() -> None:
    for kind in ("bar", "line", "pie", "doughnut"):
        data = chart_data([{"n": "<a>", "v": 3, "w": None}, {"n": "b & c", "v": 1, "w": 2}])
        drawing = svg_chart(kind, data, "T <x>", PALETTE)
        root = ET.fromstring(drawing)
        texts = [e.text for e in root.iter() if e.tag.endswith("text")]
        assert "T <x>" in texts
        assert any("b & c" in (text or "") for text in texts)
    single = svg_chart("pie", chart_data({"all": 5}), "", PALETTE)
    assert "circle" in single
    below = svg_chart("bar", chart_data({"a": -2, "b": 1e-9, "c": 1e12}), "", PALETTE)
    assert "nan" not in below
    spec = vega_spec("bar", chart_data(SALES), "", ["red"])
    assert spec["encoding"]["xOffset"]["field"] == "series"


async def test_points_are_counted_as_they_are_drawn(box: Toolbox) -> None:
    short = {"labels": ["a", "b", "c"], "values": [1, 2]}
    await refused(box, "make_chart", "bad_input", data=short)
    given = {"labels": ["1", "2"], "values": [1, "x"]}
    drawn = await ok(box, "make_chart", kind="scatter", data=given, output="a.svg")
    assert "1 point, 1 without a number left out; value from 1 to 1." in drawn.text


def test_columns_by_name_are_drawn_and_must_be_of_one_length() -> None:
    drawn = chart_data({"month": ["May", "June"], "sales": [3, 5]})
    assert (drawn.labels, drawn.series) == (["May", "June"], {"sales": [3.0, 5.0]})
    with pytest.raises(BadInput, match="differ in their length"):
        chart_data({"month": ["May"], "sales": [3, 5]})


async def test_bars_of_one_label_are_told_as_their_sum(box: Toolbox) -> None:
    data = [{"city": "Bonn", "amount": 10.5}, {"city": "Ulm", "amount": 20}]
    data += [{"city": "Bonn", "amount": 30}, {"city": "Kiel", "amount": None}]
    made = await ok(box, "make_chart", kind="bar", data=data, output="b.svg")
    assert "city has values more than once: each bar is their sum." in made.text
    assert "amount from 20 to 40.5" in made.text
    made = await ok(box, "make_chart", kind="line", data=data, output="l.svg")
    assert "amount from 10.5 to 30" in made.text


@pytest.mark.parametrize("kind", ["pie", "doughnut"])
async def test_slices_of_one_label_are_told_as_their_sum(box: Toolbox, kind: str) -> None:
    data = [{"city": "Bonn", "amount": 10.5}, {"city": "Ulm", "amount": 20}]
    data += [{"city": "Bonn", "amount": 30}]
    made = await ok(box, "make_chart", kind=kind, data=data, output="p.svg")
    assert "city has values more than once: each slice is their sum." in made.text
    assert "2 points; amount from 20 to 40.5." in made.text


@each_case(
    ("given", "place"),
    [
        ({"data": "city,amount\nUlm,2\nKiel,4.5", "path": "a.svg"}, "a.svg"),
        ({"values": [{"city": "Ulm", "amount": 2}, {"amount": 4.5}], "path": "b.svg"}, "b.svg"),
        ({"labels": ["Ulm", "Kiel"], "values": [2, 4.5], "output": "c.svg"}, "c.svg"),
    ],
)
async def test_data_as_models_send_it(box: Toolbox, given: dict[str, Any], place: str) -> None:
    made = await ok(box, "make_chart", **given)
    assert made.data["path"] == place
    assert "2 points" in made.text
    assert "from 2 to 4.5" in made.text
