# ruff: noqa: E501 - programs that read best on one line
"""`refactor_code` for Python: real programs, run before and after, and every refusal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.core.result import Result
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.rows("C083", "E41")


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path / "ws"


@pytest.fixture
async def box(ws: Path) -> AsyncIterator[Toolbox]:
    async with Toolbox(workspace=ws) as opened:
        yield opened


def write(ws: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (ws / name).parent.mkdir(parents=True, exist_ok=True)
        (ws / name).write_text(dedent(text).lstrip("\n"))


def run(ws: Path, name: str = "main.py") -> str:
    done = subprocess.run(
        [sys.executable, "-B", name], cwd=ws, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def texts(ws: Path) -> dict[str, str]:
    return {str(p.relative_to(ws)): p.read_text() for p in sorted(ws.rglob("*.py"))}


async def call(box: Toolbox, path: str, operation: str, **more: object) -> Result:
    return await box.call("refactor_code", {"path": path, "operation": operation, **more})


async def renamed(box: Toolbox, ws: Path, path: str, name: str, new: str, **more: object) -> Result:
    """Rename, and see that the program still says the same."""
    before = run(ws)
    result = await call(box, path, "rename_identifier", name=name, new_name=new, **more)
    assert result.error is None, result.render()
    assert run(ws) == before
    return result


async def refused(box: Toolbox, ws: Path, path: str, operation: str, **more: object) -> str:
    before = texts(ws)
    result = await call(box, path, operation, **more)
    assert result.error is not None, result.text
    assert result.error.hint
    assert texts(ws) == before
    return result.error.message


PROJECT = {
    "main.py": """
        from shop import Order, tax as vat
        import shop.prices
        from shop.prices import *

        orders = [Order("é", 3), Order("b", amount=4)]
        for order in orders:
            print(f"é {order.total(rate=2)!r:>{shop.prices.WIDTH}} {vat(1)}")
        print({o.name: o.double for o in orders}, shop.prices.tax(5, extra=1))
    """,
    "shop/__init__.py": """
        from .prices import tax
        from .orders import Order

        __all__ = ["Order", "tax"]
    """,
    "shop/prices.py": '''
        """Prices; see tax."""
        WIDTH = 8
        __all__ = ["WIDTH"]


        def tax(amount, *, extra=0):
            """The tax of tax."""
            def inner(tax):
                return tax + extra
            return inner(amount) * 2
    ''',
    "shop/orders.py": """
        from __future__ import annotations

        from . import prices


        class Thing:
            def total(self, rate):
                raise NotImplementedError


        class Order(Thing):
            def __init__(self, name, amount: int):
                self.name, self.amount = name, amount

            def total(self, rate):
                total = prices.tax(self.amount) * rate
                return total

            @property
            def double(self) -> "int":
                return self.total(2)

            def same(self, other: "Order") -> bool:
                return self.amount == other.amount
    """,
}


class TestRename:
    async def test_a_function_in_all_files(self, box: Toolbox, ws: Path) -> None:
        write(ws, PROJECT)
        await renamed(box, ws, "shop/prices.py", "tax", "levy")
        after = texts(ws)
        assert "import Order, levy as vat" in after["main.py"]
        assert "shop.prices.levy(5" in after["main.py"]
        assert '__all__ = ["Order", "levy"]' in after["shop/__init__.py"]
        assert "def inner(tax):\n        return tax + extra" in after["shop/prices.py"]
        assert '"""The tax of tax."""' in after["shop/prices.py"]
        assert "prices.levy(self.amount)" in after["shop/orders.py"]

    async def test_a_use_leads_to_the_definition(self, box: Toolbox, ws: Path) -> None:
        write(ws, PROJECT)
        await renamed(box, ws, "shop/__init__.py", "tax", "levy", start=1)
        assert "def levy(amount" in texts(ws)["shop/prices.py"]

    async def test_a_method_with_its_family(self, box: Toolbox, ws: Path) -> None:
        write(ws, PROJECT)
        await renamed(box, ws, "shop/orders.py", "Order.total", "summed")
        after = texts(ws)
        assert after["shop/orders.py"].count("def summed(self, rate)") == 2
        assert (
            "total = prices.tax(self.amount) * rate\n        return total"
            in after["shop/orders.py"]
        )
        assert "order.summed(rate=2)" in after["main.py"]
        assert "self.summed(2)" in after["shop/orders.py"]

    async def test_a_parameter_with_keywords(self, box: Toolbox, ws: Path) -> None:
        write(ws, PROJECT)
        await renamed(box, ws, "shop/orders.py", "rate", "factor", start=7)
        assert "order.total(factor=2)" in texts(ws)["main.py"]
        await renamed(box, ws, "shop/orders.py", "amount", "count", start=12)
        after = texts(ws)
        assert 'Order("b", count=4)' in after["main.py"]
        assert "self.name, self.amount = name, count" in after["shop/orders.py"]

    async def test_attributes_properties_and_classes(self, box: Toolbox, ws: Path) -> None:
        write(ws, PROJECT)
        await renamed(box, ws, "shop/orders.py", "Order.amount", "number")
        await renamed(box, ws, "shop/orders.py", "Order.double", "twice")
        await renamed(box, ws, "shop/orders.py", "Order", "Purchase")
        after = texts(ws)
        assert "self.name, self.number = name, amount" in after["shop/orders.py"]
        assert 'other: "Purchase"' in after["shop/orders.py"]
        assert '__all__ = ["Purchase", "tax"]' in after["shop/__init__.py"]
        assert "o.twice for o" in after["main.py"]

    async def test_undo_and_dry_run(self, box: Toolbox, ws: Path) -> None:
        write(ws, PROJECT)
        before = texts(ws)
        dry = await call(
            box, "shop/prices.py", "rename_identifier", name="tax", new_name="levy", dry_run=True
        )
        assert dry.error is None
        assert "-def tax(amount" in dry.text
        assert "+def levy(amount" in dry.text
        assert texts(ws) == before
        await renamed(box, ws, "shop/prices.py", "tax", "levy")
        assert (await box.call("undo_changes", {})).error is None
        assert texts(ws) == before

    async def test_line_ends_and_marks_are_kept(self, box: Toolbox, ws: Path) -> None:
        (ws / "main.py").write_bytes("\ufeffdef f():\r\n\treturn 'é'\r\nprint(f())\r\n".encode())
        await renamed(box, ws, "main.py", "f", "g")
        assert (ws / "main.py").read_bytes() == (
            "\ufeffdef g():\r\n\treturn 'é'\r\nprint(g())\r\n".encode()
        )

    async def test_scopes(self, box: Toolbox, ws: Path) -> None:
        write(
            ws,
            {
                "main.py": """
                    import re as x
                    class A:
                        y = x.escape(".")
                        def x(self): return self.y
                    def f(y, *, z=[x.I for y in "a"]):
                        global w
                        w = [(x, v) for x in y if (v := x)]
                        try:
                            raise KeyError
                        except KeyError as x:
                            print(type(x))
                        match y:
                            case [x, *v]: print(x, v)
                        return lambda x=y: (x, w)
                    print(A().x(), f("ab")(), x.escape("-"), w)
                """
            },
        )
        await renamed(box, ws, "main.py", "x", "regex", start=1)
        await renamed(box, ws, "main.py", "y", "text", start=5)
        await renamed(box, ws, "main.py", "w", "kept")
        await renamed(box, ws, "main.py", "A.x", "method")
        text = (ws / "main.py").read_text()
        assert "import re as regex" in text
        assert "y = regex.escape" in text
        assert "def f(text, *, z=[regex.I for y in" in text
        assert "kept = [(x, v) for x in text if (v := x)]" in text
        assert "except KeyError as x:" in text

    async def test_private_names_stay_in_their_class(self, box: Toolbox, ws: Path) -> None:
        write(
            ws,
            {
                "main.py": """
                    class A:
                        def __init__(self): self.__n = 1
                        def get(self, other): return self.__n + other.__n
                    class B(A):
                        __n = 5
                    print(A().get(A()), B()._B__n)
                """
            },
        )
        await renamed(box, ws, "main.py", "A.__n", "__count")
        text = (ws / "main.py").read_text()
        assert "self.__count + other.__count" in text
        assert "    __n = 5" in text

    async def test_fields_of_a_dataclass(self, box: Toolbox, ws: Path) -> None:
        write(
            ws,
            {
                "main.py": """
                    from dataclasses import dataclass, replace
                    @dataclass(repr=False)
                    class P:
                        x: int
                        y: int = 0
                    p = replace(P(x=1), x=2)
                    match p:
                        case P(x=3): print("no")
                        case P(x=v): print(v)
                    print(p.x, [q.x for q in [p, P(3, y=1)]])
                """
            },
        )
        await renamed(box, ws, "main.py", "P.x", "left")
        assert "replace(P(left=1), left=2)" in (ws / "main.py").read_text()

    async def test_src_layout_and_fallbacks(self, box: Toolbox, ws: Path) -> None:
        write(
            ws,
            {
                "src/lib/__init__.py": "",
                "src/lib/one.py": "def load():\n    return 1\n",
                "src/lib/two.py": """
                    try:
                        from lib.one import load
                    except ImportError:
                        def load():
                            return 2
                    def use():
                        return load()
                """,
                "src/main.py": "from lib import two, one\nprint(two.use(), two.load(), one.load())\n",
                "main.py": "import runpy\nimport sys\nsys.path.insert(0, 'src')\nrunpy.run_path('src/main.py')\n",
            },
        )
        await renamed(box, ws, "src/lib/one.py", "load", "fetch")
        assert "def fetch():\n        return 2" in (ws / "src/lib/two.py").read_text()


@pytest.mark.parametrize(
    ("text", "name", "new", "says"),
    [
        ("def f(): pass\ng = 1\n", "f", "g", "defined in the same scope"),
        ("def f(): pass\nprint(len('a'))\nf()\n", "f", "len", "means something else"),
        ("def f(): pass\ndef h(g): return f(), g\n", "f", "g", "name of its own"),
        ("def f(): pass\n", "f", "class", "not a name"),
        ("def f(): pass\n", "f", "1x", "not a name"),
        ("def f(): pass\nprint(globals()['f'])\n", "f", "g", "globals()"),
        ("def f(): pass\neval(input())\n", "f", "g", "eval()"),
        ("def h():\n    f = 1\n    return locals()\n", "f", "g", "locals()"),
        ("class A:\n    def f(self): pass\ndef u(x): x.f()\n", "A.f", "g", "what x is"),
        ("class A:\n    def f(self): pass\ngetattr(A(), input())\n", "A.f", "g", "getattr()"),
        ("class A:\n    def f(self): pass\n    g = 1\n", "A.f", "g", "has g already"),
        ("import x\nclass A(x.B):\n    def f(self): pass\n", "A.f", "g", "outside of the project"),
        ("class A(Exception):\n    def f(self): pass\n", "A.f", "args", "has args already"),
        (
            "from unittest import TestCase as T\nclass A(T):\n    def setUp(self): pass\n",
            "A.setUp",
            "g",
            "has setUp too",
        ),
        ("class A:\n    def __len__(self): return 1\n", "A.__len__", "g", "Python itself"),
        ("class A:\n    def f(self): pass\n'{0.f}'.format(A())\n", "A.f", "g", "a format"),
        ("class A:\n    if 1:\n        x = 1\n    y = x\nx = 2\n", "x", "z", "of the module there"),
        ("import os\nos.path\n", "os", "g", "outside of the project"),
        ("def f(a): pass\nf(**{input(): 1})\n", "a", "b", "mapping"),
        ("def f(a): pass\ndef u(g): g(a=1)\nu(f)\n", "a", "b", "cannot be told"),
        ("from functools import wraps\nfrom x import d\n@d\ndef f(a): pass\n", "a", "b", "@d"),
        ("from pytest import fixture\n@fixture\ndef f(): pass\n", "f", "g", "fixture"),
        (
            "from typing import Protocol\nclass P(Protocol):\n    def f(self): ...\nclass A:\n    def f(self): pass\n",
            "A.f",
            "g",
            "protocol",
        ),
    ],
)
async def test_refused(box: Toolbox, ws: Path, text: str, name: str, new: str, says: str) -> None:
    (ws / "m.py").write_text(text)
    reply = await refused(box, ws, "m.py", "rename_identifier", name=name, new_name=new)
    assert says in reply


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("from m import *\nf()\n", "import *"),
        ("from m import f\nf(\n", "not valid Python"),
        ("import m\ngetattr(m, input())()\n", "getattr()"),
        ("import m\nh = m\ndef u(x): x.f()\nu(h)\n", "handed on"),
        ("import importlib\nimportlib.import_module('m').f()\n", "loaded by its name"),
        ("from m import f\ng = 1\n", "defined in the same scope"),
    ],
)
async def test_refused_for_another_file(box: Toolbox, ws: Path, other: str, says: str) -> None:
    (ws / "m.py").write_text("def f(): pass\n")
    (ws / "o.py").write_text(other)
    reply = await refused(box, ws, "m.py", "rename_identifier", name="f", new_name="g")
    assert says in reply
    assert "o.py:" in reply


class TestUnusedImports:
    async def test_only_what_nothing_uses(self, box: Toolbox, ws: Path) -> None:
        write(
            ws,
            {
                "main.py": '''
                    """Doc.

                    >>> textwrap.dedent("")
                    """
                    from __future__ import annotations
                    import os, sys
                    import json
                    import textwrap
                    import re  # noqa: F401
                    import effects
                    import plain
                    from typing import (
                        TYPE_CHECKING,
                        Dict,  # gone
                        List,
                    )
                    try:
                        import fast
                    except ImportError:
                        fast = None
                    if TYPE_CHECKING:
                        from decimal import Decimal
                    if sys:
                        import shutil
                    from given import fixture_value, shared
                    from given import kept as kept
                    def f(x: "Decimal", fixture_value=1) -> List[int]:
                        from given import inner
                        return sys.byteorder
                    __all__ = ["f", "listed"]
                    from given import listed
                    print(f(1))
                ''',
                "given.py": "fixture_value = shared = kept = inner = listed = 1\n",
                "effects.py": "print('loaded')\n",
                "plain.py": "X = 1\n",
                "user.py": "from main import shared\n",
            },
        )
        before = run(ws)
        result = await call(box, "main.py", "unused_import_cleanup")
        assert result.error is None, result.render()
        assert result.data is not None
        assert result.data["removed"] == ["os", "json", "plain", "Dict", "shutil", "inner"]
        assert run(ws) == before
        text = (ws / "main.py").read_text()
        assert "import sys\nimport textwrap\n" in text
        assert "if sys:\n    pass\n" in text
        assert "    TYPE_CHECKING,\n    List,\n)" in text

    async def test_nothing_to_remove(self, box: Toolbox, ws: Path) -> None:
        write(ws, {"pkg/__init__.py": "import os\nfrom json import loads\n"})
        assert "plainly unused" in await refused(
            box, ws, "pkg/__init__.py", "unused_import_cleanup"
        )
        write(ws, {"a.py": "import os\nprint(eval(input()))\n"})
        assert "plainly unused" in await refused(box, ws, "a.py", "unused_import_cleanup")


EXTRACTS = [
    (
        "def f(a, b):\n    c = a + b\n    # why\n    d = c * 2\n    e = d - a\n    return e + d\nprint(f(1, 2))\n",
        3,
        5,
    ),
    (
        "def f(xs):\n    s = 0\n    for x in xs:\n        if x > 1:\n            s += x\n    return s\nprint(f([1, 2, 3]))\n",
        4,
        5,
    ),
    (
        "def f(xs):\n    n = t = 0\n    for x in xs:\n        n = t\n        t = x\n    return n, t\nprint(f([1, 2, 3]))\n",
        4,
        5,
    ),
    (
        "class A:\n    k = 2\n    def f(self, x):\n        y = x * self.k\n        return y + 1\n    @classmethod\n    def g(cls, x):\n        z = cls.k + x\n        return z\n    @staticmethod\n    def h(x):\n        w = x + 1\n        return w\nprint(A().f(3), A.g(4), A.h(1))\n",
        12,
        12,
    ),
    (
        "class A:\n    k = 2\n    def f(self, x):\n        y = x * self.k\n        return y + 1\n    @classmethod\n    def g(cls, x):\n        z = cls.k + x\n        return z\nprint(A().f(3), A.g(4))\n",
        8,
        8,
    ),
    (
        "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    y = x + 1\n    return y\nprint(asyncio.run(f(1)))\n",
        3,
        4,
    ),
    ("x = 1\ny = x + 1\nx += y\nprint(x, y)\n", 2, 3),
    (
        "def f(x):\n    if x:\n        y = '''a\n  b'''\n        z = y\n    else:\n        z = 0\n    return z\nprint(f(1))\n",
        3,
        5,
    ),
    ("def f(x):\n    y = 0\n    if x:\n        y = 1\n    return y\nprint(f(1), f(0))\n", 3, 4),
    (
        "def outer(k):\n    def inner(x):\n        y = x + k\n        return y\n    return inner(2)\nprint(outer(1))\n",
        3,
        3,
    ),
    (
        "def f(p):\n    with open(p) as h:\n        t = h.read()\n    n = len(t)\n    return n > 0\nprint(f(__file__))\n",
        4,
        4,
    ),
]

BRANCHES = """def f(x):
    if x > 1:
        y = 1
    else:
        y = 2
    z = y + 1
    return z
"""


class TestExtract:
    @pytest.mark.parametrize(("text", "start", "end"), EXTRACTS)
    async def test_the_program_stays(
        self, box: Toolbox, ws: Path, text: str, start: int, end: int
    ) -> None:
        (ws / "main.py").write_text(text)
        before = run(ws)
        result = await call(
            box, "main.py", "extract_function", new_name="part", start=start, end=end
        )
        assert result.error is None, result.render()
        after = (ws / "main.py").read_text()
        assert "def part(" in after
        assert run(ws) == before

    async def test_comments_and_strings_are_kept(self, box: Toolbox, ws: Path) -> None:
        (ws / "main.py").write_text(EXTRACTS[0][0])
        await call(box, "main.py", "extract_function", new_name="part", start=3, end=5)
        assert (ws / "main.py").read_text() == (
            "def part(c, a):\n    # why\n    d = c * 2\n    e = d - a\n    return d, e\n\n\n"
            "def f(a, b):\n    c = a + b\n    d, e = part(c, a)\n    return e + d\nprint(f(1, 2))\n"
        ).replace("part(c, a)", "part(a, c)")

    @pytest.mark.parametrize(
        ("text", "start", "end", "says"),
        [
            ("def f(x):\n    y = x\n    return y\n", 2, 3, "`return`"),
            ("def f(x):\n    yield x\n", 2, 2, "`yield`"),
            ("for x in 'a':\n    if x:\n        break\n", 2, 3, "`break`"),
            ("for x in 'a':\n    if x:\n        continue\n", 2, 3, "`continue`"),
            ("n = 1\ndef f():\n    global n\n    n = 2\n", 4, 4, "not a name of this function"),
            ("def f():\n    n = 1\n    del n\n", 3, 3, "`del`"),
            ("def f(x):\n    if x:\n        y = 1\n    return y\n", 2, 3, "may not be bound"),
            ("def f(x):\n    y = x\n    print(locals())\n", 2, 2, "locals()"),
            ("def f(x):\n    g = lambda: y\n    y = x\n    return g\n", 3, 3, "sees y"),
            ("def f(x):\n    g = lambda: x\n    x = 2\n    return g\n", 2, 2, "change later"),
            ("def part(): pass\ndef f(x):\n    y = x\n    return y\n", 3, 3, "used already"),
            ("def f(x):\n    y = (x +\n        1)\n    return y\n", 2, 2, "whole statements"),
            ("def f(a):\n    for i in a:\n        r = i\n    return r\n", 3, 4, "whole statements"),
            (BRANCHES, 2, 3, "whole statements"),
            (BRANCHES, 3, 4, "whole statements"),
            (BRANCHES, 3, 5, "whole statements"),
            (BRANCHES, 4, 5, "whole statements"),
            (BRANCHES, 5, 6, "whole statements"),
            ("def f(x):\n    y = x; z = y\n    return z\n", 9, 9, "not in"),
            ("def f(x):\n    'doc'\n    return x\n", 2, 2, "docstring"),
            ("class A:\n    x = 1\n", 2, 2, "class body"),
            ("y = 1\ndef f():\n    return y\n", 1, 1, "which these lines bind"),
        ],
    )
    async def test_refused(
        self, box: Toolbox, ws: Path, text: str, start: int, end: int, says: str
    ) -> None:
        (ws / "main.py").write_text(text)
        reply = await refused(
            box, ws, "main.py", "extract_function", new_name="part", start=start, end=end
        )
        assert says in reply


MOVE = {
    "main.py": "import pkg.use\nfrom pkg import a\nprint(a.area(3), a.twice(1))\n",
    "pkg/__init__.py": "",
    "pkg/a.py": '''
        """A."""
        import math
        from .c import helper as h

        LIMIT = 3


        # The area.
        def area(r):
            """Area."""
            return math.pi * h(r)


        def twice(x):
            return area(x) * 2


        def bounded(x):
            return min(x, LIMIT)
    ''',
    "pkg/c.py": "def helper(x):\n    return x\n",
    "pkg/use.py": "from .a import area, bounded as b\nprint(area(1), b(9))\n",
}


class TestMove:
    async def test_with_imports_and_importers(self, box: Toolbox, ws: Path) -> None:
        write(ws, MOVE)
        before = run(ws)
        result = await call(box, "pkg/a.py", "move_function", name="area", target="pkg/shapes.py")
        assert result.error is None, result.render()
        assert run(ws) == before
        after = texts(ws)
        assert after["pkg/shapes.py"].startswith(
            "import math\nfrom .c import helper as h\n\n\n# The area.\ndef area"
        )
        assert "from .shapes import area\n" in after["pkg/a.py"]
        assert "from .a import bounded as b\nfrom .shapes import area\n" in after["pkg/use.py"]
        await box.call("undo_changes", {})
        assert "pkg/shapes.py" not in texts(ws)

    async def test_state_is_imported_where_no_cycle_follows(self, box: Toolbox, ws: Path) -> None:
        write(ws, MOVE)
        before = run(ws)
        result = await call(box, "pkg/a.py", "move_function", name="bounded", target="pkg/use.py")
        assert result.error is not None  # it is imported there under another name
        result = await call(box, "pkg/a.py", "move_function", name="bounded", target="pkg/c2.py")
        assert result.error is None, result.render()
        assert run(ws) == before
        assert "from .a import LIMIT" in texts(ws)["pkg/c2.py"]
        assert "from .c2 import bounded as b" in texts(ws)["pkg/use.py"]

    @pytest.mark.parametrize(
        ("a", "b", "name", "says"),
        [
            ("X = 1\ndef f(): return X\ndef g(): return f()\n", "", "f", "cycle"),
            ("n = 0\ndef f():\n    global n\n    n += 1\n", "", "f", "it changes n"),
            (
                "n = 0\ndef f(): return n\ndef g():\n    global n\n    n = 1\n",
                "",
                "f",
                "bound anew",
            ),
            ("def f(): return __name__\n", "", "f", "__name__"),
            ("def f(): pass\n", "f = 1\n", "f", "there already"),
            ("import os\ndef f(): return os\n", "os = 1\n", "f", "something else"),
            ("from os import *\ndef f(): return path\n", "", "f", "import *"),
            ("class A:\n    def f(self): pass\n", "", "f", "top level"),
            ("def f(): pass\ndef f(): pass\n", "", "f", "several times"),
            ("import b\ndef f(): return g()\ndef g(): return 1\n", "", "f", ""),
        ],
    )
    async def test_refused(
        self, box: Toolbox, ws: Path, a: str, b: str, name: str, says: str
    ) -> None:
        write(ws, {"a.py": a, "b.py": b})
        reply = await refused(box, ws, "a.py", "move_function", name=name, target="b.py")
        assert says in reply


NAMES = st.sampled_from(["a", "b", "c", "d", "len"])


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A module that runs, with few names in many scopes."""
    lines = ["a = b = c = d = 1", "len = max"]
    for index in range(draw(st.integers(1, 5))):
        one, two, three = draw(NAMES), draw(NAMES), draw(NAMES)
        shape = draw(st.integers(0, 6))
        lines += [
            [
                f"def f{index}({one}):",
                f"    {two} = [{one} for {one} in [{one}]]",
                f"    return {one}, {two}",
                f"print(f{index}(2), f{index}({one}=5))",
            ],
            [
                f"def f{index}():",
                f"    global {one}",
                f"    {one} = 7",
                f"    return lambda {two}=3: ({one}, {two})",
                f"print(f{index}()())",
            ],
            [
                f"class C{index}:",
                f"    {one} = {two}",
                f"    {three} = 4",
                f"    def m(self): return self.{one}, {two} is not None",
                f"print(C{index}().m(), C{index}.{one} is not None)",
            ],
            [
                f"def f{index}({one}=1):",
                "    def g():",
                f"        nonlocal {one}",
                f"        {one} = 9",
                f"        return {one}",
                f"    return g(), {one}",
                f"print(f{index}())",
            ],
            [f"for {one} in range(2):", f"    {two} = {one}", f"print({one}, {two} is not None)"],
            [f"{one} = {{k: {two} for k in 'x'}}", f"print(f'{{{one}}} {{len}}'[:9])"],
            [
                "try:",
                "    raise ValueError(1)",
                "except ValueError as e:",
                f"    {one} = str(e)",
                f"print({one})",
            ],
        ][shape]
    return "\n".join(["MARK = 1", *lines, "print(MARK)", ""])


@settings(max_examples=40)
@given(text=programs(), name=NAMES, data=st.data())
async def test_any_rename_keeps_what_a_program_says(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str, data: st.DataObject
) -> None:
    ws = tmp_path_factory.mktemp("ws")
    (ws / "main.py").write_text(text)
    try:
        before = run(ws)
    except AssertionError:
        return
    lines = [n for n, line in enumerate(text.split("\n"), 1) if name in line.replace("print", "")]
    line = data.draw(st.sampled_from(lines))
    async with Toolbox(workspace=ws) as box:
        result = await call(
            box,
            "main.py",
            "rename_identifier",
            name=name,
            new_name=data.draw(st.sampled_from(["fresh", "a", "print"])),
            start=line,
        )
    if result.error is None:
        assert (ws / "main.py").read_text() != text
        assert run(ws) == before
    else:
        assert result.error.code in ("conflict", "not_found", "bad_input")
        assert (ws / "main.py").read_text() == text
