"""`code_outline`, `find_symbol` and `find_usages` over real projects."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.code.programs import fill
from toolcrib.code.symbols import PYTHON_ONLY_NOTE, python_symbols, symbols
from toolcrib.toolbox import Toolbox

PROJECT = {
    "app/reader.py": (
        "LIMIT = 3\n\n\nclass Reader:\n    def __init__(self, path: str) -> None:\n        self.path = path\n\n"
        "    async def read(\n        self, size: int = 1\n    ) -> bytes:\n        return b''\n\n\n"
        "def parse_http_header(line):\n    limit = LIMIT\n    return limit\n"
    ),
    "web/view.ts": (
        "export interface Reader { read(): void }\n"
        "export const parseHttpHeader = async (line: string): Promise<number> => 1;\n"
        "export class View<T> extends Object { #x = 1; render(): T { return null as T } }\n"
    ),
    "src/lib.rs": "pub struct Reader;\nimpl Reader {\n    pub fn read(&self) -> u8 { 1 }\n}\n",
    "node_modules/x/i.js": "function Reader() {}\n",
    "notes.md": "# Reader\n\n## Use\n",
}


SMALL = {
    "A.java": "class A {\n  static final int LIMIT = 1;\n  enum E { RED }\n  void go() { int local = 1; }\n}\n",
    "b.cs": "class B {\n  const int Limit = 1;\n  string Title { get { var inner = 1; return null; } }\n  enum E { Red }\n}\n",
    "c.php": "<?php\nconst TOP = 1;\nclass C { const DEEP = 1; private $name = 1; }\nenum S { case Hearts; }\n",
    "d.rb": "LIMIT = 1\nclass D\n  MAX = 2\n  def run\n    local = 1\n  end\nend\n",
    "e.cpp": "#define LIMIT 1\nint counter = 0;\nstruct S { int size; static const int K = 1; };\nenum E { RED };\nint run() { int local = 1; return local; }\n",
    "f.kt": "const val LIMIT = 1\nclass F {\n  val area = 1\n  fun run() { val local = 1 }\n}\nenum class E { RED }\n",
    "g.go": "package g\ntype Stack[T any] struct { Size int }\nfunc (s *Stack[T]) Push(x T) { local := x; _ = local }\ntype Goer interface { Go() }\n",
    "h.rs": "struct P { size: i32 }\nenum E { Red }\nfn run() { let local = 1; }\n",
    "i.swift": "let limit = 1\nclass C { var name = 1\n func run() { let local = 1 } }\nenum E { case red }\n",
    "j.scala": "object O { val Limit = 1\n def run = { val local = 1 } }\n",
}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("A.java", ["A.LIMIT", "E.RED"]),
        ("b.cs", ["B.Limit", "B.Title", "E.Red"]),
        ("c.php", ["TOP", "C.DEEP", "C.name", "S.Hearts"]),
        ("d.rb", ["LIMIT", "D.MAX"]),
        ("e.cpp", ["LIMIT", "counter", "S.size", "S.K", "E.RED"]),
        ("f.kt", ["LIMIT", "F.area", "E.RED"]),
        ("g.go", ["Stack.Size", "Stack.Push", "Goer.Go"]),
        ("h.rs", ["P.size", "E.Red"]),
        ("i.swift", ["limit", "C.name", "E.red"]),
        ("j.scala", ["O.Limit"]),
    ],
)
async def test_fields_and_constants_are_found(
    ws: Path, box: Toolbox, file: str, names: list[str]
) -> None:
    fill(ws, {file: SMALL[file]})
    for name in names:
        found = await box.call("find_symbol", {"name": name})
        assert found.error is None, (name, found.error)
        assert found.data["exact"], name
    for name in ("local", "inner"):
        assert (await box.call("find_symbol", {"name": name})).error is not None


async def test_uses_by_another_name_are_found(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "a.ts": "export const make = (n: number) => n;\n",
            "b.ts": "import { make as build } from './a';\nbuild(1);\n"
            "export { build as construct };\nlet other: any; const made = (other as build);\n",
            "c.ts": "import { construct } from './b';\nconstruct(3);\n",
            "p.py": "def make(n):\n    return n\n",
            "q.py": "from p import make as build\nx = build(1)\n",
        },
    )
    for path, expected in (
        ("a.ts", ["a.ts:1", "b.ts:1", "b.ts:2", "b.ts:3", "c.ts:1", "c.ts:2"]),
        ("p.py", ["p.py:1", "q.py:1", "q.py:2"]),
    ):
        found = await box.call("find_usages", {"name": "make", "path": path})
        places = [f"{row['path']}:{row['line']}" for row in found.data["certain"]]
        assert [each for each in places if each != "b.ts:4"] == expected
        renamed = await box.call(
            "rename_symbol", {"name": "make", "path": path, "new_name": "do_it"}
        )
        assert renamed.error is None, renamed.error
        assert "build(1)" in (ws / f"{'b.ts' if path == 'a.ts' else 'q.py'}").read_text()


async def test_a_name_of_another_kind_is_offered(ws: Path, box: Toolbox) -> None:
    fill(ws, {"g.py": "def helper():\n    pass\n"})
    error = (await box.call("find_symbol", {"name": "helper", "kind": "class"})).error
    assert error is not None
    assert "No class called helper" in error.message
    assert "function helper (g.py:1)" in error.hint


@pytest.mark.rows("E39")
async def test_outline_of_a_file(ws: Path, box: Toolbox) -> None:
    fill(ws, PROJECT)
    result = await box.call("code_outline", {"path": "app/reader.py"})
    assert result.text.split("\n") == [
        "app/reader.py: 4 definitions",
        "4: class Reader",
        "5:   def __init__(self, path: str) -> None",
        "8:   async def read( self, size: int = 1 ) -> bytes",
        "14: def parse_http_header(line)",
    ]
    result = await box.call("code_outline", {"path": "notes.md"})
    assert "3:   ## Use" in result.text


async def test_outline_of_a_folder_goes_on_where_it_stopped(ws: Path, box: Toolbox) -> None:
    many = "".join(f"def function_{n}(argument_one, argument_two):\n    pass\n" for n in range(900))
    fill(ws, {**PROJECT, "z/many.py": many})
    seen, call = [], {"path": "."}
    for _ in range(30):
        result = await box.call("code_outline", call)
        assert result.error is None, result.error
        seen += [row["name"] for row in result.data["definitions"]]
        if result.next is None:
            break
        call = result.next.arguments
    assert len(seen) == len(set(zip(seen, range(len(seen)), strict=True)))
    assert [name for name in seen if name.startswith("function_")] == [
        f"function_{n}" for n in range(900)
    ]
    assert seen.count("Reader") == 4
    assert len(seen) == result.data["total"]


@pytest.mark.rows("E39", "C194")
async def test_find_symbol_exactly_then_loosely(ws: Path, box: Toolbox) -> None:
    fill(ws, PROJECT)
    result = await box.call("find_symbol", {"name": "Reader"})
    assert {(s["path"], s["line"], s["kind"]) for s in result.data["symbols"]} == {
        ("app/reader.py", 4, "class"),
        ("src/lib.rs", 1, "struct"),
        ("src/lib.rs", 2, "impl"),
        ("web/view.ts", 1, "interface"),
    }
    assert {s["confidence"] for s in result.data["symbols"]} == {"AMBIGUOUS"}
    result = await box.call("find_symbol", {"name": "Reader.read", "path": "app"})
    assert [s["confidence"] for s in result.data["symbols"]] == ["EXTRACTED"]
    assert [(s["line"], s["kind"], s["end"]) for s in result.data["symbols"]] == [(8, "method", 11)]
    result = await box.call("find_symbol", {"name": "PARSE_HTTP_HEADER"})
    assert not result.data["exact"]
    assert {s["confidence"] for s in result.data["symbols"]} == {"INFERRED"}
    assert [s["name"] for s in result.data["symbols"]] == ["parse_http_header", "parseHttpHeader"]
    result = await box.call("find_symbol", {"name": "header", "kind": "function"})
    assert {s["name"] for s in result.data["symbols"]} == {"parseHttpHeader", "parse_http_header"}
    result = await box.call("find_symbol", {"name": "LIMIT", "kind": "variable"})
    assert [(s["path"], s["line"]) for s in result.data["symbols"]] == [("app/reader.py", 1)]
    result = await box.call("find_symbol", {"name": "nothing_like_it"})
    assert result.error is not None
    assert result.error.code == "no_results"
    assert "is defined in the workspace." in result.error.message
    assert "Near names" not in result.error.hint
    result = await box.call("find_symbol", {"name": "Raeder.parse_htpp_header"})
    assert result.error is not None
    assert "Near names: parse_http_header (app/reader.py:" in result.error.hint


@pytest.mark.rows("E40", "C194")
async def test_find_usages_keeps_certain_and_possible_apart(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "a.ts": "export function go(n: number) { return n; }\n// go is text\nconst s = 'go';\n",
            "b.ts": "import { go as run } from './a';\nimport * as a from './a';\nrun(1); a.go(2); ({ go: 1 }).go;\n",
            "c.ts": "function go() {}\ngo();\n",
            "d.go": "package d\nfunc Run() {}\nfunc main() { Run() }\n",
        },
    )
    result = await box.call("find_usages", {"name": "go", "definition_file": "a.ts"})
    assert result.error is None, result.error
    certain = {(p["path"], p["line"], p["column"]) for p in result.data["certain"]}
    assert certain == {("a.ts", 1, 17), ("b.ts", 1, 10), ("b.ts", 3, 11)}
    assert {(p["path"], p["line"]) for p in result.data["possible"]} == {("a.ts", 2), ("a.ts", 3)}
    assert {p["confidence"] for p in result.data["certain"]} == {"EXTRACTED"}
    assert {p["confidence"] for p in result.data["possible"]} == {"AMBIGUOUS"}
    result = await box.call("find_usages", {"name": "go"})
    assert result.error is not None
    assert "a.ts:1, c.ts:1" in result.error.message
    result = await box.call("find_usages", {"name": "Run", "path": "d.go"})
    assert [(p["line"], p["column"]) for p in result.data["possible"]] == [(2, 6), (3, 15)]
    result = await box.call("find_usages", {"name": "go", "path": "../x.ts"})
    assert result.error is not None


async def test_broken_and_odd_files(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {"a.py": "def f(:\n  class\n" * 50, "deep.js": "(" * 20_000 + ")" * 20_000, "empty.ts": ""},
    )
    (ws / "b.js").write_bytes(b"\xff\xfefunction f() {}")
    (ws / "c.js").write_bytes(
        "const \U0001f600 = 1; function g\u00e9() {} \udcff".encode("utf-8", "surrogatepass")
    )
    (ws / "d.js").write_bytes(b"\0\1\2function f() {}")
    for name in ("a.py", "deep.js", "empty.ts", "b.js", "c.js", "d.js", "."):
        result = await box.call("code_outline", {"path": name})
        assert result.error is None or result.error.code != "internal", (name, result.error)
    result = await box.call("rename_symbol", {"name": "f", "new_name": "g", "path": "deep.js"})
    assert result.error is not None
    assert result.error.code != "internal"


WITHOUT_EXTRA = """
import asyncio, json, sys
sys.modules["ast_grep_py"] = None
from toolcrib.toolbox import Toolbox

async def main():
    async with Toolbox(workspace=sys.argv[1]) as box:
        for tool, arguments in json.loads(sys.argv[2]):
            result = await box.call(tool, arguments)
            error = result.error
            print(json.dumps(f"{error.code} {error.hint}" if error else result.text))

asyncio.run(main())
"""


def _without_extra(ws: Path, *calls: tuple[str, dict[str, object]]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, str(ws), json.dumps(calls)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_python_works_without_the_extra(ws: Path) -> None:
    large = "".join(f"def large_{n}(argument):\n    return argument\n\n\n" for n in range(200))
    fill(ws, {**PROJECT, "app/large.py": large, "app/use.py": "from app.reader import Reader\n"})
    outline, big, exact, loose, script, usages, renamed, unused = _without_extra(
        ws,
        ("code_outline", {"path": "app/reader.py"}),
        ("find_symbol", {"name": "large_199"}),
        ("find_symbol", {"name": "Reader"}),
        ("find_symbol", {"name": "parseHttpHeader", "path": "app"}),
        ("find_symbol", {"name": "View"}),
        ("find_usages", {"name": "Reader", "path": "app/reader.py"}),
        ("rename_symbol", {"name": "Reader", "new_name": "Source", "path": "app/reader.py"}),
        ("refactor_code", {"path": "app/use.py", "operation": "unused_import_cleanup"}),
    )
    assert outline.split("\n")[:5] == [
        "app/reader.py: 4 definitions",
        "4: class Reader",
        "5:   def __init__(self, path: str) -> None",
        "8:   async def read( self, size: int = 1 ) -> bytes",
        "14: def parse_http_header(line)",
    ]
    assert big.startswith("1 found\n")
    assert exact.split("\n")[1] == PYTHON_ONLY_NOTE
    assert "app/reader.py:4  class  class Reader" in exact
    assert "app/reader.py:14" in loose
    assert PYTHON_ONLY_NOTE not in loose
    assert script.startswith('missing_extra The user can install it: pip install "toolcrib[code]"')
    assert "class Reader: 1 certain use in 2 files" in usages
    assert "2 places in 2 files" in renamed
    assert "remove 1 unused import from app/use.py: Source" in unused


def test_scripts_need_the_extra(ws: Path) -> None:
    fill(ws, PROJECT)
    outline, renamed = _without_extra(
        ws,
        ("code_outline", {"path": "web/view.ts"}),
        ("rename_symbol", {"name": "View", "new_name": "Pane", "path": "web/view.ts"}),
    )
    assert 'Found by patterns only; for exact outlines: pip install "toolcrib[code]"' in outline
    assert renamed.startswith("missing_extra")


def test_both_parsers_of_python_find_the_same() -> None:
    tricky = (
        "import a\n\u00e9, b = 1, 2\n(c) = 3\nd: int\ne = f = 4; g = 5\n\n"
        "@deco(lambda: 1)\nasync  def \\\n    h(x,  # why\n      y): pass\n"
        "if a:\n    i = 1\n    class J(a.B,\n            metaclass=C): # note\n"
        "        k: str = 'x'; l = [\n            1]\n        @deco\n        def m(self): return 1\n"
        "        class N:\n            @deco\n            class O: o = 1\n"
        "        def p(self):\n            '\u00e9'; q = 1\n            def r(): yield\n"
        "try: pass\nexcept E:\n    def s(): ...\nelse:\n    def t(): ...\n"
        "match a:\n    case 1:\n        def u(): ...\nwith a as v:\n    def w(): ...\n"
    )
    sources = [tricky, *(p.read_text() for p in Path("src/toolcrib/code").rglob("*.py"))]
    for source in sources:
        assert python_symbols(source) == symbols(source, "python")
    assert python_symbols("def broken(:\n") is None


CART = """export class Cart { total() { return 1 } }
// total of the cart
// total again
"""
UNKNOWN = """import { Cart } from './a.js';
export function show(x, y) {
  return x.total()
    + y.items.total();
}
console.log(new Cart().total());
"""


@pytest.mark.rows("E40")
async def test_uses_of_members_whose_owner_is_unknown_stand_before_comments(
    ws: Path, box: Toolbox
) -> None:
    fill(ws, {"a.js": CART, "b.js": UNKNOWN})
    result = await box.call("find_usages", {"name": "total", "path": "a.js", "limit": 5})
    assert result.error is None, result.render()
    assert [(p["path"], p["line"]) for p in result.data["certain"]] == [("a.js", 1), ("b.js", 6)]
    places = [(p["path"], p["line"], p["confidence"]) for p in result.data["possible"]]
    assert places == [
        ("b.js", 3, "INFERRED"), ("b.js", 4, "INFERRED"), ("a.js", 2, "AMBIGUOUS")
    ]  # fmt: skip
    assert "2 possible, 2 mentions in text" in result.text
    assert "b.js:4  + y.items.total();" in result.text


TOTALS = {
    "m.py": (
        "class A:\n    def total(self):\n        return 1\n\n\n"
        "class B:\n    def total(self):\n        return 2\n\n\n"
        "def total():\n    return A().total() + B().total()\n"
    ),
    "m.js": (
        "class A { total() { return 1; } }\nclass B { total() { return 2; } }\n"
        "console.log(new A().total() + new B().total());\n"
    ),
}


@pytest.mark.rows("E40", "E41")
@pytest.mark.parametrize("path", list(TOTALS))
async def test_a_member_by_the_name_of_its_class_in_a_file(
    ws: Path, box: Toolbox, path: str
) -> None:
    fill(ws, TOTALS)
    given = {"name": "B.total", "path": path}
    found = await box.call("find_usages", given)
    assert found.error is None, found.render()
    assert len(found.data["certain"]) == 2
    done = await box.call("rename_symbol", {**given, "new_name": "sum"})
    assert done.error is None, done.render()
    text = (ws / path).read_text()
    assert text.count("sum") == 2
    assert "B().sum()" in text


@pytest.mark.rows("E41")
async def test_the_certain_part_of_a_rename(ws: Path, box: Toolbox) -> None:
    fill(ws, {"a.js": CART, "b.js": UNKNOWN})
    given = {"name": "total", "path": "a.js", "new_name": "sum"}
    refused = await box.call("rename_symbol", given)
    assert refused.error is not None
    assert refused.error.code == "conflict"
    assert "certain_only=true" in refused.error.hint
    assert (ws / "a.js").read_text() == CART
    done = await box.call("rename_symbol", {**given, "certain_only": True})
    assert done.error is None, done.render()
    assert "b.js:3" in done.text
    assert "b.js:4" in done.text
    assert len(done.data["left"]) == 2
    assert (ws / "a.js").read_text() == CART.replace("total()", "sum()")
    assert (ws / "b.js").read_text() == UNKNOWN.replace("Cart().total", "Cart().sum")
    await box.call("undo_changes", {})
    assert (ws / "b.js").read_text() == UNKNOWN
    fill(ws, {"a.js": CART.replace("total() {", "sum() {} total() {")})
    taken = await box.call("rename_symbol", {**given, "certain_only": True})
    assert taken.error is not None, "a name that is taken is no question of certainty"


@pytest.mark.parametrize("limit", [0, 70, 1000])
async def test_usages_in_pages(ws: Path, box: Toolbox, limit: int) -> None:
    calls = "".join(f"print(wanted({n}), 'of the many calls')\n" for n in range(600))
    fill(ws, {"a.py": "def wanted(n):\n    return n\n\n\n" + calls, "b.py": "# wanted here\n"})
    given: dict[str, object] = {"name": "wanted", "path": "a.py"}
    given |= {"limit": limit} if limit else {}
    lines: list[int] = []
    possible = 0
    pages = 0
    while True:
        result = await box.call("find_usages", given)
        assert result.error is None, result.render()
        assert result.data["total"] == 602
        assert len(result.data["certain"]) <= (limit or 100)
        lines += [row["line"] for row in result.data["certain"]]
        possible += len(result.data["possible"])
        pages += 1
        if result.next is None:
            break
        assert result.next.tool == "find_usages"
        given = dict(result.next.arguments)
    assert pages > 2
    assert lines == [1, *range(5, 605)]
    assert possible == 1
    beyond = await box.call("find_usages", {**given, "start": 9999})
    assert beyond.error is not None
    assert beyond.error.code == "no_results"


async def test_a_folder_as_path_is_where_the_symbol_is_looked_for(ws: Path, box: Toolbox) -> None:
    files = {"one/shop.py": "def price():\n    return 1\n", "one/use.py": "import one.shop\n"}
    fill(ws, {**files, "two/shop.py": "def price():\n    return 2\n\n\nprice()\n"})
    found = await box.call("find_usages", {"name": "price", "path": "two"})
    assert found.error is None, found.render()
    assert "two/shop.py:5" in found.text and "one/shop.py:1" not in found.text
    renamed = await box.call("rename_symbol", {"name": "price", "new_name": "cost", "path": "two"})
    assert renamed.error is None, renamed.render()
    assert "def price" in (ws / "one/shop.py").read_text()
    assert "def cost" in (ws / "two/shop.py").read_text()
