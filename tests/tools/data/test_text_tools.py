"""JSON paths, extraction, replacement, Markdown tables and conversions."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest

from tests.tools.files.test_tree_changes import ok, refused
from toolcrib.toolbox import Toolbox

PEOPLE = {"users": [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 25}], "a.b": {"c": [1]}}


@pytest.mark.rows("C116", "E90")
async def test_query_json(box: Toolbox, ws: Path) -> None:
    (ws / "p.json").write_text(json.dumps(PEOPLE))
    for query, results in {
        "users[0].name": ["Ada"],
        "$.users[*].name": ["Ada", "Bob"],
        "users.1.age": [25],
        ".users[-1].name": ["Bob"],
        '["a.b"].c[0]': [1],
        "users[*].*": ["Ada", 36, "Bob", 25],
        "[.users[] | select(.age > 30) | .name]": [["Ada"]],
        ".users | length": [2],
        "$.users.name": [],
        "users[7]": [],
    }.items():
        found = await ok(box, "query_json", path="p.json", query=query)
        assert found.data["results"] == results, query
        assert found.data["found"] == bool(results)
    missing = await ok(box, "query_json", path="p.json", query="users[0].surname")
    assert "an object with name, age" in missing.text
    assert (await ok(box, "query_json", input='{"a": 1}\n{"a": 2}', query="[1].a")).text == "2"
    await refused(box, "query_json", "bad_input", path="p.json", query=".users | nonsense(")
    await refused(box, "query_json", "bad_input", input="{", query="a")
    await refused(box, "query_json", "bad_input", query="a")
    (ws / "big.json").write_bytes(b" " * 10_000_001)
    await refused(box, "query_json", "too_large", path="big.json", query="a")


async def test_programs_that_look_like_names(box: Toolbox) -> None:
    value = json.dumps({"a": 1, "b": 7, "x-y": 3, "type": {"length": 5}})
    for query, results in {
        "keys": [["a", "b", "type", "x-y"]],
        "length": [4],
        ".a+1": [2],
        "$.a+1": [2],
        ".a==5": [False],
        ".b/2": [3.5],
        ".c//7": [7],
        "x-y": [3],
        "type": [{"length": 5}],
        "type.length": [5],
        ".c-d": [],
        "[-3]": [],
        '["c-d"]': [],
        "nothing": [],
    }.items():
        found = await ok(box, "query_json", input=value, query=query)
        assert found.data["results"] == results, query
        assert bool(results) or "The top is an object with a, b" in found.text, query


async def test_programs_keep_all_digits_of_numbers(box: Toolbox) -> None:
    value = '{"id": 175928847299117063, "list": [12345678901234567891, 2.50]}'
    for query, results in {
        "{g: .id}": [{"g": 175928847299117063}],
        ".list[] | select(. > 3)": [12345678901234567891],
        "[.list[]]": [[12345678901234567891, 2.5]],
        ".id, (.id | tostring)": [175928847299117063, "175928847299117063"],
        "empty": [],
        '"a\\nb"': ["a\nb"],
        ".id == 175928847299117063": [True],
    }.items():
        found = await ok(box, "query_json", input=value, query=query)
        assert found.data["results"] == results, query
    await refused(
        box, "query_json", "too_large", input="0", query="reduce range(9000) as $i (0; [.])"
    )


async def test_what_json_has_no_numbers_for(box: Toolbox, ws: Path) -> None:
    found = await ok(box, "query_json", input='{"a": 1e400, "b": [NaN]}', query=".")
    assert found.data["results"] == [{"a": None, "b": [None]}]
    assert json.loads(found.text) == {"a": None, "b": [None]}
    (ws / "n.toml").write_text("a = nan\nb = [inf, 1.5]\n")
    made = await ok(box, "convert_format", path="n.toml", to="json")
    assert json.loads(made.data["content"]) == {"a": None, "b": [None, 1.5]}
    assert "NaN and infinities are null" in made.text
    yaml = await ok(box, "convert_format", path="n.toml", to="yaml")
    assert ".nan" in yaml.text


async def test_what_a_format_cannot_hold_is_told(box: Toolbox) -> None:
    async def converted(text: str, source: str, target: str) -> tuple[str, str]:
        made = await ok(box, "convert_format", input=text, from_format=source, to=target)
        return made.data["content"], made.text

    found, text = await converted("<p>Hello <b>world</b>, again</p>", "xml", "json")
    assert json.loads(found) == {"p": {"b": "world", "#text": "Hello , again"}}
    assert "between elements" in text
    assert "between" not in (await converted("<p>\n<b>x</b>\n</p>", "xml", "json"))[1]
    found, text = await converted('{"a": null, "b": [1, null, {"c": null}]}', "json", "toml")
    assert found == "b = [1, {}]"
    assert "3 nulls left out" in text
    found, text = await converted('{"e": [], "n": [[1], []], "#y": 5}', "json", "xml")
    assert "<e>" in found
    assert 'name="#y">5<' in found
    assert "empty element" in text


async def test_yaml_of_times_and_codes(box: Toolbox, ws: Path) -> None:
    (ws / "t.yaml").write_text("t: 22:22\nlong: 1:30:05\nzip: 01234\nn: [12, -1.5, 0, 0x1F]\n")
    made = await ok(box, "convert_format", path="t.yaml", to="json")
    assert json.loads(made.data["content"]) == {
        "t": "22:22",
        "long": "1:30:05",
        "zip": "01234",
        "n": [12, -1.5, 0, 31],
    }


@pytest.mark.rows("C081")
async def test_extract_text(box: Toolbox, ws: Path) -> None:
    (ws / "l.log").write_text("GET\t/a\t200\nPUT\t/b\t500\nGET\t/c\t404\n")
    got = await ok(box, "extract_text", path="l.log", pattern=r"^(\w+)\t(\S+)", format="csv")
    assert got.text == "GET,/a\nPUT,/b\nGET,/c"
    fields = await ok(box, "extract_text", path="l.log", pattern="GET", fields=[2, 1])
    assert fields.data["rows"] == [["200", "/a"], ["404", "/c"]]
    (ws / "c.txt").write_text('a,"b,c",d\n')
    comma = await ok(box, "extract_text", path="c.txt", fields=[1, 9], delimiter=",", format="json")
    assert json.loads(comma.text) == [["b,c", ""]]
    words = await ok(box, "extract_text", path="c.txt", pattern=r"^(\w*)")
    assert words.data["rows"] == [["a"]]
    await refused(box, "extract_text", "no_results", path="l.log", pattern="DELETE")
    await refused(box, "extract_text", "bad_input", path="l.log")
    await refused(box, "extract_text", "bad_input", path="l.log", pattern="(")


async def test_extract_text_of_what_was_meant(box: Toolbox, ws: Path) -> None:
    (ws / "l.log").write_text("a,Error 5,x\nb,fine,y\n")
    got = await ok(box, "extract_text", path="l.log", pattern="/error \\d/i")
    assert got.data["rows"] == [["Error 5"]]
    fields = await ok(
        box, "extract_text", path="l.log", pattern="/ERR/i", fields=[0], delimiter=","
    )
    assert fields.data["rows"] == [["a"]]
    far = await refused(box, "extract_text", "bad_input", path="l.log", fields=[9], delimiter=",")
    assert "3 fields" in far.render()
    assert "0 to 2" in far.render()


@pytest.mark.rows("C080")
async def test_transform_text(box: Toolbox, ws: Path) -> None:
    file = ws / "t.txt"
    before = b"one two\r\nOne two\r\none two\r\n"
    file.write_bytes(before)
    call = {"path": "t.txt", "pattern": r"(one) (two)", "replacement": "$2 $1"}
    dry = await ok(box, "transform_text", **call, dry_run=True)
    assert "2 places" in dry.text
    assert file.read_bytes() == before
    for more, after in (
        ({}, b"two one\r\nOne two\r\ntwo one\r\n"),
        ({"flags": "i"}, b"two one\r\ntwo One\r\ntwo one\r\n"),
        ({"flags": ""}, b"two one\r\nOne two\r\none two\r\n"),
        ({"flags": "gi"}, b"two one\r\ntwo One\r\ntwo one\r\n"),
        ({"lines": {"start": 2, "end": 3}, "backup": True}, b"one two\r\nOne two\r\ntwo one\r\n"),
        ({"start": -1}, b"one two\r\nOne two\r\ntwo one\r\n"),
    ):
        await ok(box, "transform_text", **call, **more)
        assert file.read_bytes() == after, more
        await ok(box, "undo_changes")
        assert file.read_bytes() == before
    for more, after in (
        ({"start": 1, "end": 2}, b"# one two\r\n# One two\r\none two\r\n"),
        ({"start": -1}, b"one two\r\nOne two\r\n# one two\r\n"),
    ):
        await ok(box, "transform_text", path="t.txt", pattern="^", replacement="# ", **more)
        assert file.read_bytes() == after
        await ok(box, "undo_changes")
    first = await ok(box, "transform_text", **call, flags="", dry_run=True)
    assert "1 place replaced" in first.text
    assert "1 more fits: flags=g replaces all." in first.text
    await refused(box, "transform_text", "bad_input", **call, flags="x")
    await refused(box, "transform_text", "bad_input", **call, start=9)
    await refused(box, "transform_text", "no_results", **{**call, "pattern": "three"})


@pytest.mark.rows("C082")
async def test_markdown_table(box: Toolbox, ws: Path) -> None:
    rows = [{"a": "x|y", "b": 1}, {"a": "z" * 20, "b": 2.50}]
    made = await ok(box, "markdown_table", data=rows, align=["left", "right"], truncate=10)
    assert made.text == f"| a | b |\n| :--- | ---: |\n| x\\|y | 1 |\n| {'z' * 9}… | 2.5 |"
    listed = await ok(box, "markdown_table", data='[["h", "i"], [1, 2], [3]]')
    assert listed.text == "| h | i |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |"
    headed = await ok(box, "markdown_table", data=[[1, 2]], headers=["p", "q"], output="m.md")
    assert (ws / "m.md").read_text() == "| p | q |\n| --- | --- |\n| 1 | 2 |\n"
    assert headed.data["step"]
    slip = '{"a": 1, "b": 2},\n{"a": 3, "b": 4},'
    for bad in ("[", "3", "[]", "words", "a, b\nc", "one\ntwo", slip):
        await refused(box, "markdown_table", "bad_input", data=bad)
    broken = await ok(box, "markdown_table", data='h,i\n"in\ntwo lines",2\n\n')
    assert broken.data["rows"] == 1
    assert "in" in broken.text
    assert "intwo" not in broken.text
    objects = '{"h": "1, 5", "i": 2}\n' * 2
    for text in ('h, i\n"1, 5", 2\n', "h\ti\n1, 5\t2", "h; i\n1, 5; 2", objects):
        lines = (await ok(box, "markdown_table", csv=text)).text.split("\n")
        assert lines[0] == "| h | i |"
        assert set(lines[2:]) == {"| 1, 5 | 2 |"}


@pytest.mark.rows("C112")
async def test_a_notebook_is_no_table(box: Toolbox, ws: Path) -> None:
    (ws / "a.ipynb").write_text('{"cells": [], "nbformat": 4}')
    call = {"path": "a.ipynb", "to": "markdown"}
    result = await refused(box, "convert_format", "bad_input", **call)
    assert 'read_document path="a.ipynb"' in result.render()


async def test_convert_format(box: Toolbox, ws: Path) -> None:
    value = [{"a": 1, "b": "x, ü"}, {"a": 2.5, "b": 'q"'}]
    (ws / "v.json").write_text(json.dumps(value))
    for form in ("csv", "tsv", "jsonl", "yaml", "toml", "xml", "markdown"):
        ending = "md" if form == "markdown" else form
        await ok(box, "convert_format", path="v.json", to=form, output=f"v.{ending}")
        back = await ok(box, "convert_format", path=f"v.{ending}", to="json")
        found = json.loads(back.data["content"])
        rows = found if isinstance(found, list) else next(iter(found.values()))
        rows = rows if isinstance(rows, list) else rows["item"]
        texts = [{k: str(v) for k, v in row.items()} for row in rows]
        assert texts == [{k: str(v) for k, v in row.items()} for row in value], form
    typed = await ok(box, "convert_format", input="a;b\n1,5;007\n", from_format="csv", to="json")
    assert json.loads(typed.text) == [{"a": 1.5, "b": "007"}]
    old = await ok(box, "convert_format", action="base64_encode", input="hé")
    assert old.text == base64.b64encode("hé".encode()).decode()
    assert (await ok(box, "convert_format", action="base64_decode", input=old.text)).text == "hé"
    await ok(box, "convert_format", action="compress", path="v.json", output="v.json.gz")
    assert gzip.decompress((ws / "v.json.gz").read_bytes()) == (ws / "v.json").read_bytes()
    packed = await ok(box, "convert_format", action="decompress", path="v.json.gz")
    assert json.loads(packed.text) == value
    risky = await ok(box, "convert_format", input='[{"a": "=1+1"}]', to="csv")
    assert "formulas" in risky.text


async def test_conversions_that_cannot_be(box: Toolbox, ws: Path) -> None:
    (ws / "bomb.gz").write_bytes(gzip.compress(bytes(100_000_000)))
    await refused(box, "convert_format", "too_large", path="bomb.gz", to="text")
    level = "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(9)
    )
    (ws / "laughs.yaml").write_text("a: &a [x, x]\n" + level)
    result = await box.call("convert_format", {"path": "laughs.yaml", "to": "json"})
    assert result.error
    assert result.error.code in ("too_large", "timeout")
    (ws / "xxe.xml").write_text('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>')
    await refused(box, "convert_format", "unsupported_content", path="xxe.xml", to="json")
    (ws / "cut.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    for name, form in {"cut.gz": "gzip", "xxe.xml": "json"}.items():
        await refused(
            box,
            "convert_format",
            "unsupported_content",
            path=name,
            to="text" if form == "gzip" else "csv",
            from_format=form,
        )
    for text, form in (("a: [", "yaml"), ("a = ", "toml"), ("§", "base64"), ("a\n", "markdown")):
        await refused(
            box, "convert_format", "unsupported_content", input=text, from_format=form, to="json"
        )
    await refused(box, "convert_format", "bad_input", to="json")
    await refused(box, "convert_format", "bad_input", input="x", from_format="doc", to="json")
    await refused(box, "convert_format", "bad_input", input="x", to="gzip")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("convert_format", {"input": "q1.csv", "to": "json"}),
        ("query_json", {"input": "notes/q2.json", "query": "a"}),
        ("extract_html_data", {"html": "./p.html"}),
        ("preview_html", {"content": "p.html", "show": False}),
        ("create_document", {"path": "x.html", "content": "q1.csv"}),
        ("count_tokens", {"text": " q1.csv\n"}),
        ("show", {"content": "q1.csv"}),
    ],
)
async def test_the_name_of_a_file_is_not_its_content(
    box: Toolbox, ws: Path, tool: str, arguments: dict[str, object]
) -> None:
    (ws / "q1.csv").write_text("a,b\n1,2\n")
    (ws / "p.html").write_text("<p>text</p>")
    (ws / "notes").mkdir()
    (ws / "notes" / "q2.json").write_text('{"a": 1}')
    result = await box.call(tool, arguments)
    assert result.error is not None
    assert "is a file, and '" in result.error.message
    assert ("Send it as 'path'" in result.error.hint) == (tool not in ("create_document", "show"))


async def test_text_that_names_no_file_is_text(box: Toolbox, ws: Path) -> None:
    (ws / "folder.d").mkdir()
    (ws / "word").write_text("x")
    for text in ("folder.d", "word", "no.such", "../out.txt", "~/.env", "https://a.example/b", "."):
        assert (await ok(box, "count_tokens", text=text)).data["characters"] == len(text)


async def test_converting_a_head_alone_is_told(box: Toolbox) -> None:
    made = await ok(box, "convert_format", input="no_such.csv", to="json")
    assert made.text == "There is a head and no row.\n[]"
    escaped = r"a,b\n1,2\r\n007,x"
    made = await ok(box, "convert_format", input=escaped, from_format="csv", to="json")
    assert json.loads(made.data["content"]) == [{"a": "1", "b": "2"}, {"a": "007", "b": "x"}]
    assert r"Each \n was taken for a line end." in made.text
    made = await ok(box, "convert_format", input=escaped, to="base64")
    assert base64.b64decode(made.data["content"]).decode() == escaped


async def test_formats_of_settings_are_guessed(box: Toolbox) -> None:
    for text, value, form in (
        ("name: X\nage: 5\n", {"name": "X", "age": 5}, "YAML"),
        ("# mine\n\n- a\n- b: 1\n", ["a", {"b": 1}], "YAML"),
        ("---\nlist:\n  - 1, 2\n", {"list": ["1, 2"]}, "YAML"),
        ('name = "X"\n[a.b]\nage = 5\n', {"name": "X", "a": {"b": {"age": 5}}}, "TOML"),
        ("# mine\n[[tool]]\nage = 5\n", {"tool": [{"age": 5}]}, "TOML"),
    ):
        made = await ok(box, "convert_format", input=text, to="json")
        assert json.loads(made.data["content"]) == value
        assert made.data["notes"] == [f"Read as {form}: from_format names another."]
    for text, value in (
        ("a,b\n1,x: y\n", [{"a": 1, "b": "x: y"}]),
        ("time: s,b\n1,2\n", [{"time: s": 1, "b": 2}]),
        ("Prices: all\na,b\n1,2\n", None),
        ("name\nX\n", [{"name": "X"}]),
        ("[1, 2]", [1, 2]),
    ):
        made = await ok(box, "convert_format", input=text, to="json")
        assert value is None or json.loads(made.data["content"]) == value
        assert "Read as" not in made.text


async def test_words_of_yaml_are_no_booleans(box: Toolbox) -> None:
    text = "country: NO\non: push\nlist: [yes, off]\nis: true\nnot: False\nnote: 'no'\n"
    made = await ok(box, "convert_format", input=text, from_format="yaml", to="json")
    assert json.loads(made.data["content"]) == {
        "country": "NO", "on": "push", "list": ["yes", "off"], "is": True, "not": False,
        "note": "no",
    }  # fmt: skip
    assert "NO is a text, as of YAML 1.2" in made.text
    plain = await ok(
        box, "convert_format", input="a: nothing is on\n", from_format="yaml", to="json"
    )
    assert "YAML 1.2" not in plain.text


async def test_queries_as_models_write_them(box: Toolbox, ws: Path) -> None:
    people = [{"name": "A", "age": 20}, {"name": "B", "age": 40}]
    (ws / "p.json").write_text(json.dumps({"users": people, "/x": 1, "a/b": 2}))
    for query, results in {
        "`.users[0].name`": ["A"],
        "jq -r '.users[1].name'": ["B"],
        "/users/0/name": ["A"],
        "/a~1b": [2],
        "/x": [1],
        "users[0:1]": [people[:1]],
        "$.users[0:2].name": ["A", "B"],
        "$.users[?(@.age > 30)].name": ["B"],
        "$.users[?(@.name=='A' && @.age<30)]": people[:1],
    }.items():
        got = await ok(box, "query_json", path="p.json", query=query)
        assert got.data["results"] == results, query
