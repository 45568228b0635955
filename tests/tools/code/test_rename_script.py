"""Renames in JavaScript and TypeScript: every reference, nothing else, or a refusal."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tools.code.programs import contents, fill, node
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("E41", "C083")

ESM: dict[str, str] = {
    "package.json": '{"type": "module", "name": "demo"}',
    "lib/price.js": (
        "// total is a word here\n"
        "export const RATE = 2;\n"
        "export function total(items, total_ = 0) {\n"
        "  const total2 = items.reduce((sum, item) => sum + item.total, total_);\n"
        "  return total2 * RATE;\n"
        "}\n"
        "export const twice = (items) => total(items) + total(items);\n"
        "export default total;\n"
    ),
    "lib/index.js": "export { total, twice as doubled } from './price.js';\nexport * from './other.js';\n",
    "lib/other.js": "import { total as sum } from './price.js';\nexport const other = (a) => sum(a) + 'total';\n",
    "main.js": (
        "import { total, doubled, other } from './lib/index.js';\n"
        "import * as price from './lib/price.js';\n"
        "import standard from './lib/price.js';\n"
        "const data = [{ total: 1 }, { total: 2 }];\n"
        "function inner() { const total = 5; return { total, x: `${total}` }; }\n"
        "const bag = { total };\n"
        "const { total: picked } = bag;\n"
        "console.log(total(data), doubled(data), other(data), price.total(data), standard(data));\n"
        "console.log(inner().total, inner().x, picked(data), `${total(data)} total`);\n"
        "const late = await import('./lib/price.js');\n"
        "const { total: t2, twice } = await import('./lib/price.js');\n"
        "console.log(late.total(data), t2(data), twice(data));\n"
    ),
}


async def rename(box: Toolbox, name: str, new: str, path: str = "", **more: Any) -> Any:
    given = {"name": name, "new_name": new, **({"path": path} if path else {}), **more}
    return await box.call("rename_symbol", given)


async def refused(box: Toolbox, ws: Path, name: str, new: str, path: str, **more: Any) -> str:
    before = contents(ws)
    result = await rename(box, name, new, path, **more)
    assert result.error is not None, result.text
    assert contents(ws) == before
    return f"{result.error.code}: {result.error.message}"


async def test_esm_function_everywhere(ws: Path, box: Toolbox) -> None:
    fill(ws, ESM)
    before = node(ws, "main.js")
    result = await rename(box, "total", "grandSum", "lib/price.js")
    assert result.error is None, result.error
    assert node(ws, "main.js") == before
    after = contents(ws)
    assert "export function grandSum(items, total_ = 0)" in after["lib/price.js"]
    assert "item.total" in after["lib/price.js"]
    assert "// total is a word here" in after["lib/price.js"]
    assert "export { grandSum, twice as doubled }" in after["lib/index.js"]
    assert "import { grandSum as sum } from './price.js'" in after["lib/other.js"]
    assert "'total'" in after["lib/other.js"]
    main = after["main.js"]
    assert "import { grandSum, doubled, other }" in main
    assert "const bag = { total: grandSum };" in main
    assert "function inner() { const total = 5; return { total, x: `${total}` }; }" in main
    assert "price.grandSum(data), standard(data)" in main
    assert "const { grandSum: t2, twice } = await import" in main
    assert "`${grandSum(data)} total`" in main
    assert result.data["kind"] == "function"


async def test_dry_run_shows_the_difference_and_undo_takes_it_back(ws: Path, box: Toolbox) -> None:
    fill(ws, ESM)
    before = contents(ws)
    result = await rename(box, "total", "grandSum", dry_run=True)
    assert result.error is None, result.error
    assert contents(ws) == before
    assert "+export function grandSum" in result.text
    assert "+++ b/lib/other.js" in result.text
    result = await rename(box, "total", "grandSum")
    assert contents(ws) != before
    assert (await box.call("undo_changes", {})).error is None
    assert contents(ws) == before


async def test_commonjs(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "a.js": (
                "function make(x) { return x + 1; }\n"
                "const other = 1;\n"
                "exports.early = make;\n"
                "module.exports = { make, other, also: make };\n"
            ),
            "b.js": "exports.make = function () { return 9; };\nexports.use = () => exports.make();\n",
            "main.js": (
                "const a = require('./a');\nconst { make } = require('./a');\n"
                "const { make: again, ...rest } = { make: 3, z: 1 };\n"
                "const b = require('./b');\n"
                "console.log(a.make(1), make(2), a['make'](3), require('./a').make(4), again, rest.z);\n"
                "console.log(b.make(), b.use(), a.also(7));\n"
            ),
        },
    )
    before = node(ws, "main.js")
    result = await rename(box, "make", "build", "a.js")
    assert result.error is None, result.error
    assert node(ws, "main.js") == before
    after = contents(ws)
    assert "module.exports = { build, other, also: build };" in after["a.js"]
    assert "const { build } = require('./a');" in after["main.js"]
    assert "a.build(1), build(2), a['build'](3), require('./a').build(4)" in after["main.js"]
    assert "b.make()" in after["main.js"]
    assert "exports.make" in after["b.js"]
    result = await rename(box, "make", "create", "b.js")
    assert result.error is None, result.error
    assert node(ws, "main.js") == before
    assert "b.create(), b.use(), a.also(7)" in contents(ws)["main.js"]


async def test_scopes_hoisting_and_patterns(ws: Path, box: Toolbox) -> None:
    text = (
        "var x = 1;\n"
        "function f(x) { { let x = 2; log(x); } log(x); var y = x; return () => { x = x + 1; return x + y; }; }\n"
        "function g() { log(x); if (true) { var z = x; } return z; var unused; }\n"
        "function log(...all) { console.log(...all); }\n"
        "class C { x = x; static x = 5; m({ x = 3, y: { x: q } = { x }, ...r } = {}) { return [x, q, r]; } }\n"
        "for (const x of [1, 2]) log(x);\n"
        "for (let i = 0, x = 4; i < 1; i++) log(x);\n"
        "try { throw { x: 8 }; } catch ({ x }) { log(x); }\n"
        "let a, b; ({ x, a = x } = { x: 10 }); [b = x] = [];\n"
        "const o = { x, ['x' + x]: x, get y() { return x; }, f(x) { return x; } };\n"
        "log(f(1)(), g(), JSON.stringify(new C().m({ x: 1 })), C.x, new C().x, a, b, JSON.stringify(o), o.y, o.f(2));\n"
        "label: for (;;) { for (;;) { break label; } }\n"
        "const fe = function x() { return typeof x; }; log(fe());\n"
        "switch (x) { case 10: let x = 1; }\n"
    ).replace("switch (x) { case 10: let x = 1; }", "switch (1) { case 10: let x = 1; }")
    fill(ws, {"main.js": text, "package.json": '{"type":"module"}', "e.js": "export {};\n"})
    before = node(ws, "main.js")
    result = await rename(box, "x", "outer", "main.js", line=1)
    assert result.error is None, result.error
    assert node(ws, "main.js") == before
    after = contents(ws)["main.js"]
    assert "({ x: outer, a = outer } = { x: 10 })" in after
    assert (
        "const o = { x: outer, ['x' + outer]: outer, get y() { return outer; }, f(x) { return x; } };"
        in after
    )
    assert (
        "class C { x = outer; static x = 5; m({ x = 3, y: { x: q } = { x }, ...r } = {})" in after
    )
    assert "function x() { return typeof x; }" in after
    for line, new in ((2, "p"), (6, "each"), (8, "caught"), (13, "named")):
        result = await rename(box, "x", new, "main.js", line=line)
        assert result.error is None, (line, result.error)
        assert node(ws, "main.js") == before, line
    result = await rename(box, "label", "away", "main.js", line=12)
    assert result.error is None, result.error
    assert "away: for (;;) { for (;;) { break away; } }" in contents(ws)["main.js"]


async def test_typescript(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "tsconfig.json": '{ // comment\n "compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["src/lib/*"],}}}',
            "src/lib/shape.ts": (
                "export interface Shape<T> { kind: Kind; value: T }\n"
                "export enum Kind { Round = 1, Square = Round + 1 }\n"
                "export type Pair = [Shape<number>, Shape<string>];\n"
                "export function area(s: Shape<number>): number;\n"
                "export function area(s: Shape<string>): string;\n"
                "export function area(s: any): any { return s.value as Shape<any>; }\n"
                "export namespace Units { export const one = 1; export function pick() { return one; } }\n"
                "export class Holder<Shape> { constructor(readonly held: Shape) {} }\n"
            ),
            "src/app.tsx": (
                "import type { Shape } from '@lib/shape';\n"
                "import { Kind, area, Units, type Pair } from '@lib/shape';\n"
                "const s: Shape<number> = { kind: Kind.Round, value: Units.one };\n"
                "type A = ReturnType<typeof area>; let p: Pair | null = null;\n"
                "function is(x: unknown): x is Shape<number> { return x === s; }\n"
                "export const view = <T,>(x: T) => <div title={String(area(s))}>{Units.pick()} area</div>;\n"
            ),
            "src/index.ts": "export type { Shape } from './lib/shape.js';\nexport { Kind as K } from './lib/shape.js';\n",
        },
    )
    result = await rename(box, "Shape", "Form", "src/lib/shape.ts", line=1)
    assert result.error is None, result.error
    after = contents(ws)
    assert after["src/lib/shape.ts"].count("Form") == 6
    assert (
        "class Holder<Shape> { constructor(readonly held: Shape) {} }" in after["src/lib/shape.ts"]
    )
    assert "import type { Form } from '@lib/shape';" in after["src/app.tsx"]
    assert "x is Form<number>" in after["src/app.tsx"]
    assert "export type { Form } from" in after["src/index.ts"]
    result = await rename(box, "area", "size", "src/lib/shape.ts", line=4)
    assert result.error is None, result.error
    after = contents(ws)
    assert after["src/lib/shape.ts"].count("function size(") == 3
    assert "typeof size" in after["src/app.tsx"]
    assert "{String(size(s))}>{Units.pick()} area</div>" in after["src/app.tsx"]
    result = await rename(box, "Kind", "Sort", "src/app.tsx")
    assert result.error is None, result.error
    after = contents(ws)
    assert "kind: Sort;" in after["src/lib/shape.ts"]
    assert "Sort.Round" in after["src/app.tsx"]
    assert "{ Sort as K }" in after["src/index.ts"]
    result = await rename(box, "Round", "Circle", "src/lib/shape.ts")
    assert result.error is None, result.error
    after = contents(ws)
    assert "enum Sort { Circle = 1, Square = Circle + 1 }" in after["src/lib/shape.ts"]
    assert "Sort.Circle" in after["src/app.tsx"]
    result = await rename(box, "one", "unit", "src/lib/shape.ts", line=7)
    assert result.error is None, result.error
    assert "Units.unit" in contents(ws)["src/app.tsx"]


async def test_members_of_classes(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "package.json": '{"type": "module"}',
            "base.js": (
                "export class Base {\n  #secret = 1;\n  run() { return this.step() + this.#secret; }\n"
                "  step() { return 1; }\n  static of() { return new this(); }\n  has(o) { return #secret in o; }\n}\n"
            ),
            "main.js": (
                "import { Base } from './base.js';\n"
                "class Sub extends Base { step() { return super.step() + 1; } run() { return super.run(); } }\n"
                "class Other { step() { return 'x'; } go() { return this.step(); } }\n"
                "const sub = new Sub();\nconsole.log(sub.step(), sub.run(), new Base().step(), Sub.of().run(), new Other().go());\n"
                "console.log(sub.has(sub));\n"
            ),
        },
    )
    before = node(ws, "main.js")
    result = await rename(box, "step", "advance", "base.js")
    assert result.error is None, result.error
    assert node(ws, "main.js") == before
    after = contents(ws)
    assert "this.advance()" in after["base.js"]
    assert "class Sub extends Base { advance() { return super.advance() + 1; }" in after["main.js"]
    assert "class Other { step() { return 'x'; } go() { return this.step(); } }" in after["main.js"]
    assert "sub.advance(), sub.run(), new Base().advance()" in after["main.js"]
    result = await rename(box, "#secret", "#hidden", "base.js")
    assert result.error is None, result.error
    assert node(ws, "main.js") == before
    assert contents(ws)["base.js"].count("#hidden") == 3
    result = await rename(box, "of", "make", "base.js")
    assert result.error is None, result.error
    assert node(ws, "main.js") == before


REFUSALS: list[tuple[str, dict[str, str], tuple[str, str, str, int], str]] = [
    (
        "shadow",
        {"a.js": "const a = 1; function f(b) { return a + b; }"},
        ("a", "b", "a.js", 0),
        "a.js:1",
    ),
    (
        "capture",
        {"a.js": "const a = 1; function f(c) { return b; }"},
        ("c", "b", "a.js", 1),
        "captured",
    ),
    ("same scope", {"a.js": "const a = 1; let b = a;"}, ("a", "b", "a.js", 0), "same scope"),
    (
        "parameter and body",
        {"a.js": "function f(a) { let b = a; return b; }"},
        ("a", "b", "a.js", 1),
        "a.js:1",
    ),
    (
        "eval",
        {"a.js": "const a = 1; function f() { return eval('a'); }"},
        ("a", "b", "a.js", 0),
        "eval",
    ),
    ("with", {"a.js": "var a = 1; with (o) { a; }"}, ("a", "b", "a.js", 0), "with"),
    (
        "namespace escapes",
        {"a.mjs": "export const a = 1;", "b.mjs": "import * as n from './a.mjs'; f(n);"},
        ("a", "b", "a.mjs", 0),
        "b.mjs:1",
    ),
    (
        "computed member of a module",
        {"a.js": "exports.a = 1;", "b.js": "const n = require('./a'); n[k];"},
        ("a", "b", "a.js", 0),
        "b.js:1",
    ),
    (
        "module in a short property",
        {"a.js": "exports.a = 1;", "b.js": "const n = require('./a'); f({ n });"},
        ("a", "c", "a.js", 0),
        "b.js:1",
    ),
    (
        "default of a CommonJS module passed on",
        {"a.cjs": "exports.a = 1;", "b.mjs": "import * as n from './a.cjs'; f(n.default);"},
        ("a", "c", "a.cjs", 0),
        "b.mjs:1",
    ),
    (
        "method taken out of an instance",
        {"a.js": "class A { m() {} }\nconst { m } = new A();"},
        ("m", "n", "a.js", 1),
        "a.js:2",
    ),
    ("escape in a name", {"a.js": "const a = 1; \\u0061;"}, ("a", "b", "a.js", 0), "a.js:1"),
    (
        "field whose name is listed",
        {"a.js": "class A { m = 1; }\nconsole.log(JSON.stringify(new A()));"},
        ("m", "n", "a.js", 1),
        "a.js:2",
    ),
    ("caught name", {"a.js": "try {} catch (a) { let b = a; }"}, ("a", "b", "a.js", 1), "a.js:1"),
    ("var through", {"a.js": "{ let a = 1; { var b = 2; } }"}, ("a", "b", "a.js", 1), "a.js:1"),
    ("var into let", {"a.js": "{ let b = 1; { var a = 2; } }"}, ("a", "b", "a.js", 1), "a.js:1"),
    (
        "spread of a module",
        {"a.js": "exports.a = 1;", "b.js": "module.exports = { ...require('./a') };"},
        ("a", "b", "a.js", 0),
        "b.js:1",
    ),
    (
        "import without await",
        {"a.mjs": "export const a = 1;", "b.mjs": "import('./a.mjs').then(m => m.a);"},
        ("a", "b", "a.mjs", 0),
        "b.mjs:1",
    ),
    (
        "syntax error",
        {"a.mjs": "export const a = 1;", "b.mjs": "import { a } from './a.mjs'; a +* ;"},
        ("a", "b", "a.mjs", 0),
        "syntax error",
    ),
    (
        "exported name taken by a star",
        {
            "a.mjs": "export const a = 1;",
            "b.mjs": "export const b = 1;",
            "i.mjs": "export * from './a.mjs'; export * from './b.mjs';",
        },
        ("a", "b", "a.mjs", 0),
        "i.mjs",
    ),
    (
        "importer has the name",
        {"a.mjs": "export const a = 1;", "b.mjs": "import { a } from './a.mjs'; const b = a;"},
        ("a", "b", "a.mjs", 0),
        "b.mjs:1",
    ),
    (
        "mocked module",
        {"a.js": "exports.a = 1;", "b.js": "jest.mock('./a', () => ({ a: 2 }));"},
        ("a", "b", "a.js", 0),
        "b.js:1",
    ),
    (
        "vue",
        {"a.mjs": "export const aa = 1;", "b.vue": "<script>import { aa } from './a.mjs'</script>"},
        ("aa", "b", "a.mjs", 0),
        "b.vue:1",
    ),
    (
        "global script in a page",
        {"a.js": "function go() {}", "b.html": '<p>go</p><a onclick="go()">x</a>'},
        ("go", "run", "a.js", 0),
        "b.html:1",
    ),
    (
        "unknown receiver",
        {"a.js": "class A { m() {} }\nfunction f(x) { x.m(); }"},
        ("m", "n", "a.js", 1),
        "a.js:2",
    ),
    ("unknown base", {"a.js": "class A extends X { m() {} }"}, ("m", "n", "a.js", 1), "extends X"),
    ("object property", {"a.js": "const o = { m: 1 }; o.m;"}, ("m", "n", "a.js", 1), "a.js:1"),
    (
        "computed this",
        {"a.js": "class A { m() {} go(k) { this[k](); } }"},
        ("m", "n", "a.js", 1),
        "computed",
    ),
    ("member exists", {"a.js": "class A { m() {} n() {} }"}, ("m", "n", "a.js", 1), "already"),
    (
        "name as text",
        {"a.js": "function f() {}\nconsole.log(f.name);"},
        ("f", "g", "a.js", 1),
        "a.js:2",
    ),
    (
        "jsx",
        {"a.jsx": "const Foo = () => null; const e = <Foo />;"},
        ("Foo", "foo", "a.jsx", 0),
        "capital",
    ),
    ("keyword", {"a.js": "const a = 1;"}, ("a", "class", "a.js", 0), "word of the language"),
    ("builtin", {"a.js": "const a = 1;"}, ("a", "Promise", "a.js", 0), "language gives"),
    ("invalid", {"a.js": "const a = 1;"}, ("a", "a-b", "a.js", 0), "not a name"),
    (
        "several",
        {"a.js": "function f(a) {} function g(a) {}\nfunction h(a) {}"},
        ("a", "b", "a.js", 0),
        "several",
    ),
    ("wrong line", {"a.js": "const a = 1;\n\n"}, ("a", "b", "a.js", 2), "line 2"),
    ("go", {"a.go": "package a\nfunc F() {}"}, ("F", "G", "a.go", 0), "only"),
    (
        "enum as a whole",
        {"a.ts": "enum E { A }\nconsole.log(Object.values(E));"},
        ("A", "B", "a.ts", 1),
        "a.ts:2",
    ),
    (
        "alias that may be the file",
        {"src/util.ts": "export const a = 1;", "b.ts": "import { a } from '@app/util';"},
        ("a", "b", "src/util.ts", 0),
        "b.ts:1",
    ),
    (
        "function of a block",
        {"a.js": "if (1) { function f() {} }\nf();"},
        ("f", "g", "a.js", 1),
        "a.js:2",
    ),
]


@pytest.mark.parametrize(
    ("files", "requested", "says"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS]
)
async def test_refused(
    ws: Path, box: Toolbox, files: dict[str, str], requested: tuple[str, str, str, int], says: str
) -> None:
    fill(ws, files)
    name, new, path, line = requested
    reply = await refused(box, ws, name, new, path, **({"line": line} if line else {}))
    assert says in reply


async def test_external_and_default_imports_stay(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "package.json": '{"type": "module"}',
            "a.js": "import { join, sep as s } from 'node:path';\nimport d from './d.js';\nexport { join };\nconsole.log(join('a', 'b'), s, d());\n",
            "d.js": "export default function d() { return 1; }\n",
            "b.js": "import { join } from './a.js';\nconsole.log(join('x', 'y'));\n",
        },
    )
    before = node(ws, "b.js")
    result = await rename(box, "join", "glue", "a.js")
    assert result.error is None, result.error
    assert node(ws, "b.js") == before
    after = contents(ws)
    assert "import { join as glue, sep as s } from 'node:path';" in after["a.js"]
    assert "import { glue } from './a.js';" in after["b.js"]
    result = await rename(box, "d", "thing", "a.js")
    assert result.error is None, result.error
    assert node(ws, "b.js") == before
    assert contents(ws)["d.js"] == after["d.js"]


async def test_encoding_and_line_ends_are_kept(ws: Path, box: Toolbox) -> None:
    raw = "\ufeffconst na\u00efve = '\U0001f600'; let a = na\u00efve;\r\n// x\r\n".encode()
    (ws / "a.js").write_bytes(raw)
    result = await rename(box, "na\u00efve", "plain", "a.js")
    assert result.error is None, result.error
    assert (ws / "a.js").read_bytes() == raw.decode().replace("na\u00efve", "plain").encode()


async def test_only_the_alias_is_renamed_where_there_is_one(ws: Path, box: Toolbox) -> None:
    fill(
        ws,
        {
            "a.mjs": "function inner() { return 1; }\nexport { inner as outer };\n",
            "c.cjs": "exports.add = () => 2;\n",
            "main.mjs": (
                "import { outer } from './a.mjs';\nimport c, { add } from './c.cjs';\n"
                "import * as n from './c.cjs';\n"
                "console.log(outer(), c.add(), add(), n.add(), n.default.add());\n"
            ),
        },
    )
    before = node(ws, "main.mjs")
    result = await rename(box, "outer", "public_", "a.mjs", line=2)
    assert result.error is None, result.error
    assert node(ws, "main.mjs") == before
    assert "function inner()" in contents(ws)["a.mjs"]
    assert "{ inner as public_ }" in contents(ws)["a.mjs"]
    result = await rename(box, "add", "plus", "c.cjs")
    assert result.error is None, result.error
    assert node(ws, "main.mjs") == before
    assert "n.plus(), n.default.plus()" in contents(ws)["main.mjs"]


async def test_a_protected_or_ignored_file_is_not_touched(ws: Path, box: Toolbox) -> None:
    (ws / ".git").mkdir()
    fill(
        ws,
        {
            ".gitignore": "gen.mjs\n",
            "a.mjs": "export const one = 1;\n",
            "gen.mjs": "import { one } from './a.mjs';\n",
            "node_modules/x/i.mjs": "import { one } from '../../a.mjs';\n",
        },
    )
    before = contents(ws)
    result = await rename(box, "one", "uno", "a.mjs")
    assert result.error is None, result.error
    after = contents(ws)
    assert after["gen.mjs"] == before["gen.mjs"]
    assert after["node_modules/x/i.mjs"] == before["node_modules/x/i.mjs"]
    assert "uno" in after["a.mjs"]
    for path in ("../a.mjs", "/etc/passwd", "a\0.mjs", "gen.mjs", "missing.mjs"):
        result = await rename(box, "one", "two", path)
        assert result.error is not None
        assert result.error.code != "internal"
