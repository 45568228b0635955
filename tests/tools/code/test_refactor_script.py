"""`refactor_code` for JavaScript: programs run before and after by node, and every refusal."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.tools.code.programs import contents, fill, node
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C083", "E41")
MODULE = '{"type": "module"}'


def written(ws: Path, files: dict[str, str], package: str = MODULE) -> None:
    fill(ws, {"package.json": package, **{k: dedent(v).lstrip("\n") for k, v in files.items()}})


async def call(box: Toolbox, path: str, operation: str, **more: Any) -> Any:
    return await box.call("refactor_code", {"path": path, "operation": operation, **more})


async def same(box: Toolbox, ws: Path, path: str, operation: str, **more: Any) -> dict[str, str]:
    """Change a program, and see that it prints the same; its files."""
    main = more.pop("main", "main.js")
    before, texts = node(ws, main), contents(ws)
    displayed = await call(box, path, operation, dry_run=True, **more)
    assert displayed.error is None, displayed.render()
    assert contents(ws) == texts
    result = await call(box, path, operation, **more)
    assert result.error is None, result.render()
    assert result.data["diff"] == displayed.data["diff"]
    after = contents(ws)
    assert after != texts
    assert node(ws, main) == before, after
    undone = await box.call("undo_changes", {})
    assert undone.error is None, undone.render()
    assert contents(ws) == texts
    return after


async def refused(box: Toolbox, ws: Path, path: str, operation: str, **more: Any) -> str:
    before = contents(ws)
    result = await call(box, path, operation, **more)
    assert result.error is not None, result.text
    assert result.error.hint
    assert contents(ws) == before
    return f"{result.error.code}: {result.error.message}"


# Unused imports

UNUSED = {
    "quiet.js": "export const one = 1, two = 2;\nexport default function three() { return 3; }\n",
    "loud.js": "console.log('loud');\nexport const loud = 1;\n",
    "indirect.js": "import './loud.js';\nexport const indirect = 1;\n",
}
UNUSED_CASES = [
    (
        "import { one, two } from './quiet.js';\nconsole.log(one);\n",
        "import { one } from './quiet.js';\nconsole.log(one);\n",
    ),
    (
        "import three, { one } from './quiet.js';\nconsole.log(one);\n",
        "import { one } from './quiet.js';\nconsole.log(one);\n",
    ),
    (
        "import three, { one } from './quiet.js';\nconsole.log(three());\n",
        "import three from './quiet.js';\nconsole.log(three());\n",
    ),
    ("import * as q from './quiet.js';\nconsole.log(1);\n", "console.log(1);\n"),
    (
        "import three, * as q from './quiet.js';\nconsole.log(q.one);\n",
        "import * as q from './quiet.js';\nconsole.log(q.one);\n",
    ),
    (
        "import { one as uno, two as dos } from './quiet.js'; // why\nconsole.log(dos);\n",
        "import { two as dos } from './quiet.js'; // why\nconsole.log(dos);\n",
    ),
    (
        "import {\n  one,\n  two,\n} from './quiet.js';\nconsole.log(two);\n",
        "import {\n  two,\n} from './quiet.js';\nconsole.log(two);\n",
    ),
    (
        "import { loud } from './loud.js';\nconsole.log(1);\n",
        "import './loud.js';\nconsole.log(1);\n",
    ),
    (
        "import { indirect } from './indirect.js';\nconsole.log(1);\n",
        "import './indirect.js';\nconsole.log(1);\n",
    ),
    (
        "import fs from 'node:fs';\nimport path from 'path';\nconsole.log(path.sep);\n",
        "import path from 'path';\nconsole.log(path.sep);\n",
    ),
    (
        "import { one } from './quiet.js'\nimport { two } from './quiet.js'\n{ const one = 5; console.log(one, two) }\n",
        "import { two } from './quiet.js'\n{ const one = 5; console.log(one, two) }\n",
    ),
    (
        "import { one } from './quiet.js';\nconsole.log({ one: 1 }.one, 'one');\n",
        "console.log({ one: 1 }.one, 'one');\n",
    ),
    (
        "#!/usr/bin/env node\nimport { one } from './quiet.js';\nimport './loud.js';\n",
        "#!/usr/bin/env node\nimport './loud.js';\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), UNUSED_CASES)
async def test_unused_imports_go(ws: Path, box: Toolbox, before: str, after: str) -> None:
    written(ws, {**UNUSED, "main.js": before})
    assert (await same(box, ws, "main.js", "unused_import_cleanup"))["main.js"] == after


@pytest.mark.parametrize(
    "stored",
    [
        "import './quiet.js';\nconsole.log(1);\n",
        "import { one } from './quiet.js';\nexport { one };\n",
        "import { one } from './quiet.js';\nexport default one;\n",
        "import { one } from './quiet.js';\nconsole.log({ one });\n",
        "import { one } from './quiet.js';\nconst f = (a = one) => `${a}`;\n",
        "import { one } from './quiet.js';\nclass A { [one]() {} }\n",
        "import { one } from './quiet.js'; // eslint-disable-line no-unused-vars\nconsole.log(1);\n",
        "import { one } from './quiet.js';\n/** @type {one} */\nexport const a = 1;\n",
        "export * from './quiet.js';\nexport { one } from './quiet.js';\n",
        "export { one as uno } from './quiet.js';\n",
    ],
)
async def test_used_imports_stay(ws: Path, box: Toolbox, stored: str) -> None:
    written(ws, {**UNUSED, "main.js": stored})
    assert (await refused(box, ws, "main.js", "unused_import_cleanup")).startswith("no_results")


async def test_names_of_jsx_are_used(ws: Path, box: Toolbox) -> None:
    text = (
        "import React from 'react';\nimport { A, B, c, D } from './a';\nimport * as N from './a';\n"
        "export const x = () => <A b={c}><N.Part /><B/></A>;\n"
    )
    written(ws, {"main.jsx": text})
    result = await call(box, "main.jsx", "unused_import_cleanup")
    assert result.error is None, result.render()
    assert result.data["removed"] == ["D"]
    assert "import { A, B, c } from './a';" in contents(ws)["main.jsx"]


async def test_unused_require(ws: Path, box: Toolbox) -> None:
    text = (
        "const fs = require('fs');\nconst { one, two } = require('./quiet');\n"
        "const loud = require('./loud');\nvar path = require('path'), other = 1;\n"
        "const used = require('./quiet');\nconsole.log(two, other, used.one);\nmodule.exports = {};\n"
    )
    written(
        ws,
        {
            "main.js": text,
            "quiet.js": "exports.one = 1;\nexports.two = 2;\n",
            "loud.js": "console.log('loud');\nmodule.exports = 1;\n",
        },
        "{}",
    )
    after = (await same(box, ws, "main.js", "unused_import_cleanup"))["main.js"]
    assert after == (
        "const { two } = require('./quiet');\n"
        "require('./loud');\nvar path = require('path'), other = 1;\n"
        "const used = require('./quiet');\nconsole.log(two, other, used.one);\nmodule.exports = {};\n"
    )


async def test_a_file_stays_a_module(ws: Path, box: Toolbox) -> None:
    written(
        ws,
        {
            "a.ts": "import { B } from './b';\nconst x = 1;\nconsole.log(x);\n",
            "b.ts": "export const B = 1;\n",
        },
    )
    result = await call(box, "a.ts", "unused_import_cleanup")
    assert result.error is None, result.render()
    assert contents(ws)["a.ts"] == "export {};\nconst x = 1;\nconsole.log(x);\n"


async def test_eval_and_syntax_errors_are_refused(ws: Path, box: Toolbox) -> None:
    written(
        ws,
        {
            "a.js": "import { b } from 'b';\neval('b');\n",
            "c.js": "import { b } from 'b';\nconst = (\n",
        },
    )
    assert "eval" in await refused(box, ws, "a.js", "unused_import_cleanup")
    assert "syntax error" in await refused(box, ws, "c.js", "unused_import_cleanup")


# Moving

SHOP = {
    "main.js": """
        import { total, label as name } from './lib/shop.js';
        import * as shop from './lib/shop.js';
        import { report } from './lib/report.js';
        console.log(total([1, 2]), name('x'), shop.label('y'), report([3]));
    """,
    "lib/shop.js": """
        import { rate } from './rates.js';
        import pad from '../pad.js';

        export const RATE = 2;

        /** The sum, with the rate. */
        export function total(items) {
          return items.reduce((sum, item) => sum + item * rate(), 0) * RATE;
        }

        export function label(text) {
          return pad(text) + '!';
        }

        function hidden() {
          return 'hidden';
        }

        export const shown = () => hidden();
        export class Basket {
          items = [];
          add(item) { this.items.push(item); return this; }
          get size() { return this.items.length; }
        }
    """,
    "lib/report.js": """
        import { total, Basket } from './shop.js';
        export { shown } from './shop.js';
        export function report(items) {
          return `total ${total(items)} ${new Basket().add(1).size}`;
        }
    """,
    "lib/rates.js": "export const rate = () => 3;\n",
    "pad.js": "export default (text) => text.padStart(4, '.');\n",
    "lib/other.js": "export const other = 1;\n",
}


async def test_a_function_moves_with_its_imports(ws: Path, box: Toolbox) -> None:
    written(ws, SHOP)
    after = await same(
        box, ws, "lib/shop.js", "move_function", name="label", target="text/labels.js"
    )
    assert after["text/labels.js"] == (
        "import pad from '../pad.js';\n\nexport function label(text) {\n  return pad(text) + '!';\n}\n"
    )
    assert "import { label as name } from './text/labels.js';" in after["main.js"]
    assert "export { label } from '../text/labels.js';" in after["lib/shop.js"], "shop.label"


async def test_a_class_moves_to_a_file_that_is_there(ws: Path, box: Toolbox) -> None:
    written(ws, SHOP)
    after = await same(
        box, ws, "lib/shop.js", "move_function", name="Basket", target="lib/other.js"
    )
    assert "import { Basket } from './other.js';" in after["lib/report.js"]
    assert after["lib/other.js"].startswith("export const other = 1;\n\nexport class Basket {")


async def test_what_it_needs_of_its_module_is_imported(ws: Path, box: Toolbox) -> None:
    written(
        ws,
        {
            **SHOP,
            "main.js": "import { total } from './lib/shop.js';\nconsole.log(total([1, 2]));\n",
        },
    )
    after = await same(box, ws, "lib/shop.js", "move_function", name="total", target="lib/sums.js")
    assert after["lib/sums.js"].startswith(
        "import { RATE } from './shop.js';\nimport { rate } from './rates.js';\n\n/** The sum"
    )
    assert after["main.js"].startswith("import { total } from './lib/sums.js';")


async def test_a_hidden_function_is_imported_back(ws: Path, box: Toolbox) -> None:
    written(
        ws, {**SHOP, "main.js": "import { shown } from './lib/report.js';\nconsole.log(shown());\n"}
    )
    after = await same(
        box, ws, "lib/shop.js", "move_function", name="hidden", target="lib/hidden.js"
    )
    assert after["lib/hidden.js"] == "export function hidden() {\n  return 'hidden';\n}\n"
    assert "import { hidden } from './hidden.js';" in after["lib/shop.js"]


@pytest.mark.parametrize(
    ("files", "name", "why"),
    [
        ({"a.js": "export function f() { return this; }"}, "f", "`this` depends"),
        ({"a.js": "export const f = () => this;"}, "f", "`this` depends"),
        ({"a.js": "let n = 0;\nexport function f() { return n; }"}, "f", "keeps to itself"),
        ({"a.js": "export let n = 0;\nexport function f() { n += 1; }"}, "f", "it changes n"),
        ({"a.js": "export let n = 0;\nexport function f() { [n] = [1]; }"}, "f", "it changes n"),
        ({"a.js": "export default function f() {}"}, "f", "default export"),
        ({"a.js": "export const f = () => import.meta.url;"}, "f", "import.meta"),
        ({"a.js": "export const f = () => import('./b.js');"}, "f", "looked up"),
        ({"a.js": "export function f() { return eval('1'); }"}, "f", "eval"),
        ({"a.js": "function f() {}\nmodule.exports = { f };"}, "f", "no ES module"),
        ({"a.js": "function f() {}\n"}, "f", "no ES module"),
        ({"a.js": "export function f() {}", "b.js": "exports.a = 1;"}, "f", "no ES module"),
        ({"a.js": "export function f() {}", "b.js": "export const f = 1;"}, "f", "there already"),
        (
            {"a.js": "export function f() {}", "b.js": "const g = 1;\nexport { g as f };"},
            "f",
            "exports a f",
        ),
        (
            {"a.js": "export function f() {}", "b.js": "export const g = () => f();"},
            "f",
            "global one",
        ),
        (
            {
                "a.js": "import { x } from './x.js';\nexport const f = () => x;",
                "b.js": "export const x = 5;",
                "x.js": "export const x = 1;",
            },
            "f",
            "something else",
        ),
        (
            {
                "a.js": "export function f() { return 1; }\nexport const g = f();",
                "b.js": "import { g } from './a.js';\nexport const h = g;",
            },
            "f",
            "cycle",
        ),
        (
            {
                "a.js": "export const k = 1;\nexport function f() { return k; }\nexport const g = () => f();"
            },
            "f",
            "cycle",
        ),
        ({"a.js": "export class f { static x = console.log(1); }"}, "f", "when it is defined"),
        ({"a.js": "export const f = 1;"}, "f", "no function"),
        ({"a.js": "export const f = () => 1, g = 2;"}, "f", "no function"),
        (
            {
                "a.js": "export function f() {}",
                "b.js": "console.log('loud');\nexport const q = 1;",
                "c.js": "import { f } from './a.js';\nf();",
            },
            "f",
            "loading it does something",
        ),
        (
            {
                "a.js": "export function f() {}",
                "c.test.js": "import { f } from './a.js';\njest.mock('./a.js');\nf();",
            },
            "f",
            "named in a call",
        ),
        (
            {
                "a.js": "export function f() {}",
                "b.js": "export const q = 1;",
                "c.js": "import * as b from './b.js';\nimport { f } from './a.js';\nconsole.log(Object.keys(b), f);",
            },
            "f",
            "as a whole",
        ),
        (
            {
                "a.js": "export function f() {}",
                "b.js": "export const q = 1;",
                "o.js": "export const f = 2;",
                "c.js": "export * from './b.js';\nexport * from './o.js';",
            },
            "f",
            "another f",
        ),
        (
            {"a.js": "export function f() {}", "c.js": "import { f, /* why */ g } from './a.js';"},
            "f",
            "comments",
        ),
        (
            {"a.js": "export function f() {}", "c.js": "import { f } from './a.js';\nconst = ;"},
            "f",
            "syntax error",
        ),
        (
            {"a.js": "export function f() {}\nexport function g() {}\nfunction g() {}"},
            "g",
            "several times",
        ),
    ],
)
async def test_moves_that_are_refused(
    ws: Path, box: Toolbox, files: dict[str, str], name: str, why: str
) -> None:
    written(ws, files)
    assert why in await refused(box, ws, "a.js", "move_function", name=name, target="b.js")


async def test_users_of_every_kind_after_a_move(ws: Path, box: Toolbox) -> None:
    written(
        ws,
        {
            "main.js": """
                import { f as one } from './a.js';
                import { f } from './index.js';
                import * as all from './index.js';
                import { g } from './star.js';
                import d from './dflt.js';
                const late = await import('./a.js');
                console.log(one(1), f(2), all.f(3), g(4), late.f(5), d(6));
            """,
            "a.js": "import { k } from './k.js';\nexport const f = (x) => x + k;\nexport const g = (x) => f(x) * 2;\n",
            "index.js": "export * from './a.js';\n",
            "star.js": "import { f } from './a.js';\nexport { g } from './a.js';\nexport const h = f;\n",
            "dflt.js": "export { f as default } from './a.js';\n",
            "k.js": "export const k = 100;\n",
        },
    )
    after = await same(box, ws, "a.js", "move_function", name="f", target="deep/er/b.js")
    assert (
        after["deep/er/b.js"]
        == "import { k } from '../../k.js';\n\nexport const f = (x) => x + k;\n"
    )
    assert after["star.js"].startswith("import { f } from './deep/er/b.js';\n")


async def test_a_loud_source_is_still_loaded_first(ws: Path, box: Toolbox) -> None:
    written(
        ws,
        {
            "main.js": "import { f } from './a.js';\nconsole.log('main', f());\n",
            "a.js": "console.log('a is loaded');\nexport function f() { return 1; }\n",
        },
    )
    after = await same(box, ws, "a.js", "move_function", name="f", target="b.js")
    assert after["main.js"].startswith("import './a.js';\nimport { f } from './b.js';\n")


async def test_the_target_drops_its_own_import(ws: Path, box: Toolbox) -> None:
    written(
        ws,
        {
            "main.js": "import { h } from './b.js';\nimport { f } from './a.js';\nconsole.log(h(), f());\n",
            "a.js": "export function f() { return 1; }\nexport const g = 2;\n",
            "b.js": "import { f } from './a.js';\nexport const h = () => f() + 1;\n",
        },
    )
    after = await same(box, ws, "a.js", "move_function", name="f", target="b.js")
    assert after["b.js"] == "export const h = () => f() + 1;\n\nexport function f() { return 1; }\n"


# Extracting


def lines_of(text: str) -> tuple[str, int, int]:
    """A program, and the lines between its marks."""
    lines = dedent(text).lstrip("\n").split("\n")
    start = next(n for n, line in enumerate(lines) if line.strip() == "//<")
    end = next(n for n, line in enumerate(lines) if line.strip() == "//>")
    del lines[end], lines[start]
    return "\n".join(lines), start + 1, end - 1


EXTRACTED = [
    ("""
        function f(a, b) {
          //<
          const sum = a + b;
          console.log(sum);
          //>
          return sum * 2;
        }
        console.log(f(1, 2));
     """, "function done(a, b) {\n  const sum = a + b;\n  console.log(sum);\n  return sum;\n}\n\nfunction f(a, b) {\n  const sum = done(a, b);\n  return sum * 2;\n}\n"),
    ("""
        const base = 10;
        export function f(items) {
          let total = 0;
          for (const item of items) {
            //<
            total += item * base;
            if (item > 2) console.log('big', item);
            //>
          }
          return total;
        }
        console.log(f([1, 2, 3]));
     """, "    total = done(total, item);\n"),
    ("""
        class A {
          run(x) {
            const y = x + 1;
            //<
            const text = `a
              ${y} b`;
            const size = text.length;
            //>
            return [text, size];
          }
        }
        console.log(new A().run(1));
     """, "    const { text, size } = done(y);\n"),
    ("""
        function f(n) {
          let a;
          let b = 1;
          //<
          a = n + b;
          b = a * 2;
          //>
          return a + b;
        }
        console.log(f(3));
     """, "  ({ a, b } = done(n, b));\n"),
    ("""
        function f(n) {
          let count = 0
          //<
          count = count + n
          const twice = count * 2
          //>
          return [count, twice]
        }
        console.log(f(3))
     """, "  let twice;\n  ({ count, twice } = done(n, count));\n"),
    ("""
        //<
        const greeting = 'hello';
        const name = 'x';
        //>
        console.log(greeting, name);
     """, "const { greeting, name } = done();\nconsole.log"),
    ("""
        async function f(items) {
          const out = await Promise.all(items.map(async (i) => i + 1));
          //<
          const names = out.map((o) => { if (o > 2) { return 'big'; } return 'small'; });
          names.sort(function () { return this === undefined ? 0 : 1; });
          for (const n of names) { if (n === 'big') break; }
          //>
          return names.join();
        }
        console.log(await f([1, 2]));
     """, "  const names = done(out);\n"),
    ("""
        const make = (k) => {
          const inner = (x) => {
            //<
            const r = x * k;
            //>
            return r;
          };
          return inner(2);
        };
        console.log(make(5));
     """, "    const r = done(k, x);\n"),
    ("""
        function f(x) {
          switch (x) {
            case 1: {
              //<
              console.log('one', x);
              //>
              break;
            }
            default:
              console.log('other');
          }
        }
        f(1); f(2);
     """, "      done(x);\n"),
    ("""
        function f(o) {
          //<
          const { a, ...rest } = o;
          const [b = 5] = [];
          //>
          return JSON.stringify([a, rest, b]);
        }
        console.log(f({ a: 1, c: 2 }));
     """, "  const { a, rest, b } = done(o);\n"),
    ("""
        function f(xs) {
          let i = 0;
          while (i < xs.length) {
            //<
            const x = xs[i];
            i++;
            //>
            if (x > 1) continue;
            console.log(x, i);
          }
        }
        f([1, 2, 3]);
     """, "    let x;\n    ({ i, x } = done(xs, i));\n"),
    ("""
        function f(list) {
          try {
            //<
            const first = list[0].name;
            //>
            return first;
          } catch (error) {
            return error.constructor.name;
          }
        }
        console.log(f([{ name: 'x' }]), f([]));
     """, "    const first = done(list);\n"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "part"), EXTRACTED)
async def test_lines_become_a_function(ws: Path, box: Toolbox, program: str, part: str) -> None:
    text, start, end = lines_of(program)
    written(ws, {})
    fill(ws, {"main.js": text})
    more = {"start": start, "end": end, "new_name": "done"}
    assert part in (await same(box, ws, "main.js", "extract_function", **more))["main.js"]


REFUSED = [
    ("function f(a) {\n//<\nif (a) return 1;\n//>\nreturn 2;\n}", "return belongs"),
    ("async function f(a) {\n//<\nconst b = await a;\n//>\nreturn b;\n}", "await belongs"),
    ("async function f(a) {\n//<\nfor await (const b of a) console.log(b);\n//>\n}", "for await"),
    ("function* f(a) {\n//<\nyield a;\n//>\n}", "yield belongs"),
    ("function f(a) {\nfor (;;) {\n//<\nif (a) break;\n//>\n}\n}", "leaves the lines"),
    ("function f(a) {\nfor (;;) {\n//<\nif (a) continue;\n//>\n}\n}", "leaves the lines"),
    (
        "function f(a) {\nout: for (;;) {\nfor (;;) {\n//<\nfor (;;) { break out; }\n//>\n}\n}\n}",
        "leaves the lines",
    ),
    ("function f(a) {\n//<\nconsole.log(this.x);\n//>\n}", "this is that"),
    ("function f(a) {\n//<\nconst g = () => this.x;\ng();\n//>\n}", "this is that"),
    ("function f(a) {\n//<\nconsole.log(arguments.length);\n//>\n}", "arguments"),
    ("class A extends B { m() {\n//<\nsuper.m();\n//>\n} }", "super is that"),
    ("function f() {\n//<\nif (new.target) g();\n//>\n}", "new.target is that"),
    ("class A { #x = 1; m(o) {\n//<\nconsole.log(o.#x);\n//>\n} }", "#x is known"),
    (
        "function f() { let n = 0; const g = () => n++;\n//<\ng();\nconsole.log(n);\n//>\n}",
        "a function changes n",
    ),
    (
        "function f() { let n = 0; const g = () => n;\n//<\nn = 1;\ng();\n//>\nreturn n;\n}",
        "a function shares n",
    ),
    (
        "function f(n) {\n//<\nsetTimeout(() => console.log(n));\n//>\nn = 2;\n}",
        "a function keeps n",
    ),
    (
        "function f() {\n//<\nlet n = 0;\nconst g = () => n;\n//>\nn = 2;\nreturn g();\n}",
        "a function keeps n",
    ),
    (
        "function f() {\n//<\nlet n = 0;\nconst g = () => n++;\n//>\nreturn g() + n;\n}",
        "a function keeps n",
    ),
    ("function f() {\n//<\nfunction g() {}\n//>\nreturn g();\n}", "is used outside"),
    (
        "function f() {\nh();\n//<\nconst n = 1;\nh();\n//>\nfunction h() { return n; }\n}",
        "too early",
    ),
    ("//<\nexport const a = 1;\n//>\n", "imports and exports"),
    ("function f() {\n//<\nx = 1;\n//>\n}", "it would be global"),
    ("function f() {\n//<\neval('1');\n//>\n}", "eval may use"),
    ("function done() {}\nfunction f(a) {\n//<\nconsole.log(a);\n//>\n}", "done is used already"),
    ("function f(a) {\nfor (;;) {\n//<\nvar x = x || a;\n//>\nif (x) return x;\n}\n}", "lives on"),
    (
        "function f(a) { const g = () => late;\n//<\nconsole.log(late, a);\n//>\nlet late = 1;\n}",
        "bound further down",
    ),
]


@pytest.mark.parametrize(("program", "why"), REFUSED)
async def test_lines_that_stay(ws: Path, box: Toolbox, program: str, why: str) -> None:
    text, start, end = lines_of(program)
    fill(ws, {"package.json": MODULE, "a.js": text})
    reported = await refused(
        box, ws, "a.js", "extract_function", start=start, end=end, new_name="done"
    )
    assert why in reported


@pytest.mark.parametrize("lines", [(1, 2), (2, 2), (3, 9), (0, 1), (4, 2)])
async def test_lines_that_are_no_statements(ws: Path, box: Toolbox, lines: tuple[int, int]) -> None:
    fill(ws, {"a.js": "if (a) {\n  b(\n    c);\n}\n", "package.json": MODULE})
    await refused(
        box, ws, "a.js", "extract_function", start=lines[0], end=lines[1], new_name="done"
    )
