"""Arguments in forms that small models give them: the same as if they were written well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cases import each_case
from tests.servers.scripted import Answer, scripted
from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox

ALLOWED = {"policy": {"rules": [{"action": "allow"}]}}


async def answer(folder: Path, name: str, given: dict[str, Any]) -> Result:
    config = {**ALLOWED, "store": {"url": f"sqlite:///{folder}/store.db"}}
    root = folder / "work"
    root.mkdir(exist_ok=True)
    (root / "a.csv").write_text("x,y\n1,2\n")
    (root / "b.csv").write_text("x,y\n3,4\n")
    async with Toolbox(config, workspace=root) as box:
        return await box.call(name, given)


@each_case(
    ("name", "given", "says"),
    [
        ("markdown_table", {"data": "[[1, 2]]", "headers": "x, y"}, "| x | y |"),
        ("markdown_table", {"data": "[[1, 2]]", "headers": ["x, z", "y"]}, "| x, z | y |"),
        ("make_ui_component", {"kind": "form", "parts": "Name, Age: number"}, 'type="number"'),
        (
            "make_ui_component",
            {"kind": "form", "fields": [{"name": "Mail", "type": "email"}]},
            'type="email"',
        ),
        ("query_json", {"query": "a", "input": {"a": 5}}, "5"),
        ("read_file", {"path": ["a.csv", "b.csv"]}, "3,4"),
        ("query_database", {"source": "`a.csv`", "sql": "select 7 as one"}, "7"),
        ("count_tokens", {"text": "a", "path": ""}, "1"),
        ("check_port", {"port": "#9", "timeout": "500ms"}, "Port 9 "),
        ("start_terminal", {"command": "```bash\necho hi-$((1+1))\n```", "height": 30}, "hi-2"),
    ],
)
async def test_what_is_meant_is_done(
    tmp_path: Path, name: str, given: dict[str, Any], says: str
) -> None:
    result = await answer(tmp_path, name, given)
    assert result.error is None, result.render()
    assert says in result.text


async def test_a_source_as_an_address_of_a_file(tmp_path: Path) -> None:
    for source in (f"file://{tmp_path}/work/a.csv", "sqlite:///a.csv"):
        result = await answer(tmp_path, "query_database", {"source": source, "sql": "select 7"})
        assert result.error is None, result.render()
    remote = {"source": "postgres://a.csv", "sql": "select 7"}
    refused = await answer(tmp_path, "query_database", remote)
    assert refused.error
    assert "not an address" in refused.error.message


async def test_a_file_of_variables_is_where_it_was_meant(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for number, path in enumerate((f"file://{work}/.env", "`.env`", '".env"')):
        given = {"key": f"A{number}", "value": "1", "path": path}
        result = await answer(tmp_path, "update_env_file", given)
        assert result.error is None, result.render()
    assert (work / ".env").read_text() == "A0=1\nA1=1\nA2=1\n"
    assert {place.name for place in work.iterdir()} == {".env", "a.csv", "b.csv"}


@each_case("form", ["`{}`", "[the page]({})", "<{}>", '"{}"', "[{}]({})"])
async def test_an_address_as_markdown_has_it(tmp_path: Path, form: str) -> None:
    with scripted() as web:
        web["/a_(b)"] = Answer("<h1>Heron</h1><p>It stands in the water.</p>")
        address = f"{web.url}/a_(b)"
        config = {**ALLOWED, "egress": {"allow_hosts": [web.origin]}}
        config["web"] = {"fetch": {"allow_hosts": [web.origin], "render": "never"}}
        async with Toolbox(config, workspace=tmp_path) as box:
            result = await box.call("fetch_url", {"url": form.format(address, address)})
        assert result.error is None, result.render()
        assert "Heron" in result.text
        assert web.count("/a_(b)") == 1
