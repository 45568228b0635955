"""Small JavaScript programs made by chance, full of names that hide each other."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

from random import Random

NAMES = ("a", "b", "c", "d")


class Maker:
    """Writes one module; it never fails to parse, and what it throws is caught."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def module(self, exports: bool) -> tuple[str, list[str]]:
        taken: set[str] = set()
        lines = ["const out = [];"]
        for _ in range(self.random.randint(3, 6)):
            lines += self.statement(0, taken)
        tail = "\n".join(lines)
        return tail, sorted(taken) if exports else []

    def name(self) -> str:
        return self.random.choice(NAMES)

    def fresh(self, taken: set[str]) -> str:
        left = [n for n in NAMES if n not in taken]
        if not left:
            return ""
        chosen = self.random.choice(left)
        taken.add(chosen)
        return chosen

    def value(self, depth: int = 0) -> str:
        r, n = self.random, self.name
        kind = r.randint(0, 11 if depth < 2 else 3)
        deeper = lambda: self.value(depth + 1)  # noqa: E731
        return [
            lambda: str(r.randint(0, 9)),
            lambda: f"get(() => {n()})",
            lambda: f"get(() => typeof {n()})",
            lambda: f"'{n()}'",
            lambda: f"({{ {n()}: {deeper()}, b: 2 }})",
            lambda: f"get(() => ({{ {n()} }}))",
            lambda: f"(({n()}) => {deeper()})({deeper()})",
            lambda: f"(({{ {n()} = {deeper()} }} = {{}}) => {deeper()})({{ {n()}: 1 }})",
            lambda: f"(function {n()}({n()}) {{ return {deeper()}; }})({deeper()})",
            lambda: f"`${{{deeper()}}} {n()}`",
            lambda: f"[{deeper()}, {deeper()}].map(({n()}) => {deeper()})",
            lambda: f"get(() => {n()}.{n()})",
        ][kind]()

    def statement(self, depth: int, taken: set[str]) -> list[str]:  # noqa: C901, PLR0912
        r = self.random
        kind = r.randint(0, 13 if depth < 3 else 5)
        if kind <= 2:
            name = self.fresh(taken)
            if name:
                return [f"{r.choice(['let', 'const', 'let'])} {name} = {self.value()};"]
        if kind == 3:
            return [f"log({self.value()}, {self.value()});"]
        if kind == 4:
            return [f"get(() => {{ {self.name()} = {self.value()}; }});"]
        if kind == 5:
            one = self.fresh(taken)
            if one:
                other = self.name()
                return [
                    f"let {{ {one} = {self.value()}, ...rest{one}{depth} }} = {{ {other}: 4 }};"
                ]
        if kind in (6, 7):
            name = self.fresh(taken)
            if name:
                first, second = self.name(), r.choice(["p", "q"])
                inner = {first, second}
                body = self.block(depth + 1, inner)
                return [
                    f"function {name}({first}, {second} = {self.value()}) {{",
                    *body,
                    "}",
                    f"log(get(() => {name}({self.value()})));",
                ]
        if kind == 8:
            return ["{", *self.block(depth + 1, set()), "}"]
        if kind == 9:
            name = self.name()
            return [
                f"for (const {name} of [{self.value()}, 2]) {{",
                *self.block(depth + 1, set()),
                "}",
            ]
        if kind == 10:
            name = self.name()
            return [
                f"try {{ throw {{ {name}: 1 }}; }} catch ({{ {name} }}) {{",
                *self.block(depth + 1, {name}),
                "}",
            ]
        if kind == 11:
            name = self.fresh(taken)
            if name:
                return [
                    f"class {name} {{ static {self.name()} = {self.value()}; #{self.name()[0]}p = 1;",
                    f"  {self.name()}({self.name()}) {{ return {self.value()}; }} }}",
                    f"log(get(() => Object.keys({name})), get(() => new {name}() instanceof {name}));",
                ]
        if kind == 12:
            return [f"{{ var v{depth} = {self.value()}; log(v{depth}); }}"]
        return ["switch (1) { case 1: {", *self.block(depth + 1, set()), "} }"]

    def block(self, depth: int, taken: set[str]) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += [f"  {line}" for line in self.statement(depth, taken)]
        return lines


PRELUDE = (
    "const show = (x) => typeof x === 'function' ? 'fn' : x;\n"
    "const log = (...all) => console.log(JSON.stringify(all.map(show)));\n"
    "const get = (f) => { try { return show(f()); } catch (e) { return 'error'; } };\n"
)


def program(seed: int) -> dict[str, str]:
    """The files of a program; `main.mjs` is run."""
    random = Random(seed)
    maker = Maker(random)
    lib, offered = maker.module(exports=True)
    renamed = [f"{n} as {n}2" if random.random() < 0.3 else n for n in offered]
    lib = (
        f"import {{ log, get }} from './prelude.mjs';\n{lib}\nexport {{ {', '.join(renamed)} }};\n"
    )
    taken: set[str] = set()
    wanted = []
    for each in renamed:
        there = each.split(" as ")[-1]
        if random.random() < 0.5 and there not in taken:
            taken.add(there)
            wanted.append(there)
    lines = [
        "import { log, get } from './prelude.mjs';",
        f"import {{ {', '.join(wanted)} }} from './index.mjs';",
        "import * as ns from './lib.mjs';",
        *(f"log(get(() => ns.{e.split(' as ')[-1]}));" for e in renamed),
    ]
    for _ in range(random.randint(2, 5)):
        lines += maker.statement(0, taken)
    return {
        "prelude.mjs": PRELUDE.replace("const log", "export const log").replace(
            "const get", "export const get"
        ),
        "index.mjs": random.choice(
            [
                "export * from './lib.mjs';\n",
                f"export {{ {', '.join(wanted)} }} from './lib.mjs';\n",
            ]
        ),
        "lib.mjs": lib,
        "main.mjs": "\n".join(lines) + "\n",
    }
