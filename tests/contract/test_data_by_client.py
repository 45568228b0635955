"""The tools of the group data, used by a real client: asked, described, charted, written."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.contract.doors import MODERN, Outcome, stdio

pytestmark = pytest.mark.timeout(180)


async def test_a_model_works_with_data_over_stdio(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with sqlite3.connect(folder / "shop.db") as connection:
        connection.executescript(
            "CREATE TABLE sale(day TEXT, city TEXT, amount REAL);"
            "INSERT INTO sale VALUES ('2026-01-02', 'Bonn', 2.5), ('2026-01-03', 'Köln', 4);"
        )
    connection.close()
    config = {
        "store": {"url": f"sqlite:///{tmp_path}/store.db"},
        "workspace": {"roots": [str(folder)]},
    }
    async with stdio(config, tmp_path, MODERN) as send:

        async def asks(name: str, /, **arguments: Any) -> Outcome:
            outcome: Outcome = await send(name, arguments)
            assert outcome.code is None, (name, arguments, outcome.text)
            return outcome

        described = await asks("describe_database", source="shop.db")
        assert "sale, 2 rows" in described.text
        sql = "SELECT day, city, amount FROM sale ORDER BY day"
        found = await asks("query_database", source="shop.db", sql=sql, save_to="sales.csv")
        assert "2026-01-03 | Köln | 4" in found.text
        summed = await asks("query_table", path="sales.csv", aggregate=["sum(amount)"])
        assert summed.text.endswith("6.5")
        drawn = await asks("make_chart", path="sales.csv", x="city", output="sales.svg")
        assert "amount from 2.5 to 4" in drawn.text
        assert "<svg" in (folder / "sales.svg").read_text()
        as_json = await asks("convert_format", path="sales.csv", to="json", output="sales.json")
        assert "Saved to sales.json" in as_json.text
        assert (await asks("query_json", path="sales.json", query="[1].city")).text == '"Köln"'
        changed = await send("change_database", {"source": "shop.db", "sql": "DELETE FROM sale"})
        assert changed.code == "needs_approval"
        assert "removes 2 of sale" in changed.text
        await asks("undo_changes", count=3)
        assert sorted(path.name for path in folder.iterdir()) == ["shop.db"]
