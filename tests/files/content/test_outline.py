"""Headings and definitions of many languages, each with its line."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.files.content.outline import (
    OutlineEntry,
    ending_of,
    is_definition,
    outermost,
    outline,
)

SAMPLES = {
    "a.py": (
        (
            "import os\n\n@deco\nclass A(B):\n    def one(self) -> int:\n        return 1\n\n"
            "async def two():\n    if x:\n        pass\n"
        ),
        [4, 5, 8],
    ),
    "a.ts": (
        (
            "import x from 'y'\nexport default class A {\n  private run(a: number): void {\n"
            "    if (a) {\n    }\n  }\n}\nexport const go = async (x) => {\n}\n"
            "interface I {\n}\nfunction f() {\n  return call(1)\n}\n"
        ),
        [2, 3, 8, 10, 12],
    ),
    "a.go": (
        "package main\n\ntype T struct {\n}\n\nfunc (t *T) Run() error {\n\treturn nil\n}\n",
        [1, 3, 6],
    ),
    "a.rs": (
        "use x;\npub struct S {\n}\nimpl S {\n    pub(crate) async fn go(&self) {}\n}\n",
        [2, 4, 5],
    ),
    "A.java": (
        (
            "import a;\npublic class A {\n    private static int f(int x) {\n        return g(x);\n"
            "    }\n}\n"
        ),
        [2, 3],
    ),
    "a.c": (
        (
            "#include <a.h>\nstruct s {\n};\nstatic int add(int a, int b)\n{\n  return a + b;\n}\n"
            "int declared(void);\n"
        ),
        [2, 4],
    ),
    "a.rb": ("module M\n  class C\n    def go\n    end\n  end\nend\n", [1, 2, 3]),
    "a.sql": (
        "CREATE TABLE users (\n  id int\n);\ncreate or replace view v as select 1;\n",
        [1, 4],
    ),
    "a.md": ("# One\ntext\n```\n# no\n```\n## Two\nThree\n=====\n- item\n", [1, 6, 7]),
    "a.txt": ("CHAPTER I\n\nIt was.\n\nChapter 2. The end\n\nchapter one of it was read\n", [1, 5]),
    "a.tex": ("\\section{A}\ntext\n\\subsection{B}\n", [1, 3]),
    "a.toml": ("[tool]\na = 1\n[[x]]\nb = [1]\n", [1, 3]),
    "a.yaml": ("a: 1\nb:\n  c: 2\n- d\n", [1, 2, 3]),
    "a.json": ('{\n  "a": 1,\n  "b": {\n    "c": 2\n  }\n}\n', [2, 3, 4]),
    "a.html": ("<html>\n<h1>A</h1>\n<p>x</p>\n<h2>B</h2>\n", [2, 4]),
    "a.csv": ("def a,b\n1,2\n", []),
    "a.log": ("# one\n# two\n", []),
}


@each_case("name", SAMPLES)
def test_the_lines_that_head_something(name: str) -> None:
    text, lines = SAMPLES[name]
    assert [entry.line for entry in outline(text.split("\n"), name)] == lines


def test_entries_say_what_and_how_deep() -> None:
    found = outline(SAMPLES["a.py"][0].split("\n"), "src/a.py")
    assert found == [
        OutlineEntry(4, 0, "class A(B):"),
        OutlineEntry(5, 4, "def one(self) -> int:"),
        OutlineEntry(8, 0, "async def two():"),
    ]


def test_the_outer_ones_are_kept() -> None:
    entries = [OutlineEntry(n, 0 if n % 10 == 1 else 4, f"e{n}") for n in range(1, 101)]
    stored = outermost(entries, 15)
    assert [e.line for e in stored if e.level == 0] == list(range(1, 101, 10))
    assert len(stored) == 15
    assert stored == sorted(stored, key=lambda e: e.line)
    # Of what does not fit, some from everywhere.
    assert len({e.line // 50 for e in stored if e.level == 4}) == 2
    assert outermost(entries, 200) == entries


@each_case(
    ("name", "ending"), [("a.PY", "py"), ("Makefile", ""), (".env", ""), ("x/y.tar.gz", "gz")]
)
def test_endings(name: str, ending: str) -> None:
    assert ending_of(name) == ending


@given(st.lists(st.text(max_size=80), max_size=30), st.sampled_from(sorted(SAMPLES)))
def test_any_text_has_an_outline(lines: list[str], name: str) -> None:
    found = outline(lines, name)
    assert all(1 <= entry.line <= len(lines) for entry in found)
    assert all(len(entry.text) <= 100 for entry in found)


@each_case(
    "line",
    ["public " * 60, "public " + "a " * 140, "a" * 290 + "(", "@a" * 140, "const x: " + "y" * 280],
)
def test_lines_made_to_be_slow(line: str) -> None:
    began = time.process_time()
    for name in ("a.py", "a.c", "a.md", "a.yaml", "a.html"):
        outline([line] * 100, name)
    is_definition(line)
    assert time.process_time() - began < 20  # the exponential way would take years
