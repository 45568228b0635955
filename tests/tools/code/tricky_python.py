"""Tricky programs of Python, each with a change: it must keep what they print, or be refused."""

# ruff: noqa: E501 - programs of one line each

from __future__ import annotations

from typing import Any

Program = tuple[str, dict[str, str], str, str, dict[str, Any]]
PROGRAMS: list[Program] = []


def renames(
    label: str,
    text: str,
    name: str,
    new: str = "renamed",
    line: int = 0,
    path: str = "main.py",
    **files: str,
) -> None:
    given: dict[str, Any] = {"name": name, "new_name": new, **({"start": line} if line else {})}
    PROGRAMS.append((label, _files(text, files), path, "rename_identifier", given))


def extracts(label: str, text: str, **files: str) -> None:
    lines = text.split("\n")
    start = next(n for n, line in enumerate(lines) if line.strip() == "#<")
    end = next(n for n, line in enumerate(lines) if line.strip() == "#>")
    del lines[end], lines[start]
    given = {"start": start + 1, "end": end - 1, "new_name": "extracted"}
    PROGRAMS.append((label, _files("\n".join(lines), files), "main.py", "extract_function", given))


def moves(
    label: str, name: str, files: dict[str, str], path: str = "a.py", target: str = "b.py"
) -> None:
    PROGRAMS.append((label, files, path, "move_function", {"name": name, "target": target}))


def cleans(label: str, text: str, **files: str) -> None:
    PROGRAMS.append((label, _files(text, files), "main.py", "unused_import_cleanup", {}))


def _files(text: str, files: dict[str, str]) -> dict[str, str]:
    return {"main.py": text, **{f"{name}.py": content for name, content in files.items()}}


# rename
renames(
    "match capture",
    "def f(v):\n    match v:\n        case [first, *rest]:\n            return first, rest\n        case {'k': val, **kw}:\n            return val, kw\n        case str() as s:\n            return s\n        case int(real=n) | float(real=n):\n            return n\n        case _:\n            return None\nprint(f([1,2]), f({'k':1,'z':2}), f('q'), f(3))\n",
    "rest",
    line=3,
)
renames(
    "match class attr",
    "class P:\n    __match_args__=('x','y')\n    def __init__(self,x,y):\n        self.x=x; self.y=y\ndef f(p):\n    match p:\n        case P(x=1,y=q): return q\n        case P(a,b): return a+b\nprint(f(P(1,2)),f(P(3,4)))\n",
    "x",
    line=4,
)
renames(
    "match class name",
    "class P:\n    pass\ndef f(p):\n    match p:\n        case P(): return 1\n        case _: return 2\nprint(f(P()), f(1), P.__name__ == 'P')\n",
    "P",
    "Q",
)
renames(
    "match value dotted",
    "class C:\n    RED=1\ndef f(p):\n    match p:\n        case C.RED: return 'r'\n    return 'n'\nprint(f(1),f(2))\n",
    "RED",
    "ROT",
    line=2,
)
renames(
    "walrus in comp",
    "def f(xs):\n    ys=[last := x for x in xs if x]\n    return last, ys\nprint(f([1,2]))\n",
    "last",
    line=2,
)
renames(
    "walrus cond",
    "data=[1,2,3]\nif (n := len(data)) > 2:\n    print(n)\nprint([m for d in data if (m := d*2) > 2], m, n)\n",
    "n",
)
renames(
    "walrus module from comp",
    "xs=[y := 1, y**2]\nprint(any((hit := v) > 1 for v in [1,2]), hit, y, xs)\n",
    "hit",
)
renames(
    "class scope skip",
    "x=1\nclass A:\n    x=2\n    y=[x for _ in range(2)]\n    def m(self): return x\nprint(A.y, A().m(), A.x, x)\n",
    "x",
    line=1,
)
renames(
    "class attr x",
    "x=1\nclass A:\n    x=2\n    z=x\n    def m(self): return x, self.x\nprint(A.z, A().m(), A.x, x)\n",
    "x",
    line=3,
)
renames("global stmt", "n=0\ndef inc():\n    global n\n    n+=1\ninc()\nprint(n)\n", "n")
renames("global new", "def mk():\n    global made\n    made=5\nmk()\nprint(made)\n", "made", line=2)
renames(
    "nonlocal",
    "def f():\n    n=0\n    def g():\n        nonlocal n\n        n+=1\n        return n\n    g()\n    return n\nprint(f())\n",
    "n",
    line=2,
)
renames(
    "nested global shadow",
    "n=0\ndef f():\n    n=1\n    def g():\n        global n\n        n=5\n    g()\n    return n\nprint(f(), n)\n",
    "n",
    line=1,
)
renames(
    "nested local shadow",
    "n=0\ndef f():\n    n=1\n    def g():\n        global n\n        n=5\n    g()\n    return n\nprint(f(), n)\n",
    "n",
    line=3,
)
renames(
    "all",
    "from lib import *\nprint(pub(), __name__)\n",
    "pub",
    path="lib.py",
    lib="__all__=['pub','other']\ndef pub(): return 1\ndef other(): return pub()\n",
)
renames(
    "all plus",
    "import lib\nfrom lib import *\nprint(sorted(lib.__all__) and two())\n",
    "two",
    path="lib.py",
    lib="__all__=['one']\n__all__ += ['two']\ndef one(): return 1\ndef two(): return 2\n",
)
renames(
    "star of star",
    "import lib2\nfrom lib2 import *\nprint(f(), lib2.f(), lib2.g())\n",
    "f",
    path="lib.py",
    lib="__all__ = ['f']\ndef f(): return 1\n",
    lib2="from lib import *\n__all__ = ['f', 'g']\ndef g(): return f()\n",
)
renames(
    "star of all made elsewhere",
    "from lib import *\nprint(f())\n",
    "f",
    path="lib.py",
    lib="import lib2\n__all__ = ['f'] + lib2.names\ndef f(): return 1\n",
    lib2="names = []\n",
)
renames(
    "star with new name there",
    "from lib import *\nrenamed = 5\nprint(f(), renamed)\n",
    "f",
    path="lib.py",
    lib="__all__ = ['f']\ndef f(): return 1\n",
)
renames(
    "two stars",
    "from lib import *\nfrom lib2 import *\nprint(f())\n",
    "f",
    path="lib.py",
    lib="__all__ = ['f']\ndef f(): return 1\n",
    lib2="__all__ = ['f']\ndef f(): return 2\n",
)
renames(
    "two stars and one gives",
    "from lib import *\nfrom lib2 import *\nprint(f(), g())\n",
    "f",
    path="lib.py",
    lib="__all__ = ['f']\ndef f(): return 1\n",
    lib2="__all__ = ['g']\ndef f(): return 2\ndef g(): return f()\n",
)
renames(
    "star in a try",
    "try:\n    from lib import *\nexcept ImportError:\n    pass\nprint(f())\n",
    "f",
    path="lib.py",
    lib="__all__ = ['f']\ndef f(): return 1\n",
)
renames(
    "star no all",
    "from lib import *\nfrom lib2 import *\nprint(f())\n",
    "f",
    path="lib.py",
    lib="def f(): return 1\n",
    lib2="def f(): return 2\n",
)
renames(
    "star then shadow",
    "from lib import *\ndef f(): return 9\nprint(f())\n",
    "f",
    path="lib.py",
    lib="def f(): return 1\n",
)
renames(
    "star capture",
    "from lib import *\nprint(abs(-2), f())\n",
    "f",
    "abs",
    path="lib.py",
    lib="def f(): return 1\n",
)
renames(
    "cond import",
    "try:\n    import json as j\nexcept ImportError:\n    j=None\nprint(j.dumps(1))\n",
    "j",
    "js",
)
renames(
    "cond import name",
    "try:\n    from fast import run\nexcept ImportError:\n    from slow import run\nprint(run())\n",
    "run",
    path="slow.py",
    slow="def run(): return 's'\n",
)
renames(
    "cond def",
    "import sys\nif sys.version_info > (3,):\n    def f(): return 3\nelse:\n    def f(): return 2\nprint(f())\n",
    "f",
)
renames(
    "decorated",
    "import functools\ndef deco(fn):\n    @functools.wraps(fn)\n    def inner(*a, **k): return fn(*a, **k)+1\n    return inner\n@deco\ndef f(a): return a\nprint(f(1), f(a=2))\n",
    "a",
    line=7,
)
renames("decorator name", "def deco(fn): return fn\n@deco\ndef f(): return 1\nprint(f())\n", "deco")
renames(
    "property",
    "class A:\n    def __init__(self): self._v=1\n    @property\n    def v(self): return self._v\n    @v.setter\n    def v(self, n): self._v=n\na=A()\na.v=3\nprint(a.v, A.v.fget(a))\n",
    "v",
    line=4,
)
renames(
    "kwargs call",
    "def f(*, key=1): return key\nargs={'key':2}\nprint(f(key=3), f(**args))\n",
    "key",
    line=1,
)
renames("kw only plain", "def f(*, key=1): return key\nprint(f(key=3), f())\n", "key", line=1)
renames("lambda default", "f=lambda a, b=1: a+b\nprint(f(1), f(1,b=2), f(a=2))\n", "b", line=1)
renames(
    "fstring", "name='x'\nwidth=5\nprint(f'{name:>{width}} {name!r} {name=} {{name}}')\n", "width"
)
renames("fstring eq", "name='x'\nprint(f'{name=}')\n", "name")
renames(
    "fstring nested quotes", "d={'k':1}\nk='k'\nprint(f\"{d['k']} {d[k]} {f'{k}'}\")\n", "k", line=2
)
renames("fstring triple", "v=3\nprint(f'''a\n{v\n:>4}\n''')\n", "v")
renames("locals()", "def f():\n    a=1\n    return locals()\nprint(f())\n", "a", line=2)
renames("globals str", "def f(): return 1\nprint(globals()['f']())\n", "f")
renames(
    "getattr str",
    "class A:\n    def go(self): return 1\nprint(getattr(A(),'go')())\n",
    "go",
    line=2,
)
renames(
    "slots",
    "class A:\n    __slots__=('v',)\n    def __init__(self): self.v=1\nprint(A().v)\n",
    "v",
    line=3,
)
renames(
    "dataclass field",
    "from dataclasses import dataclass, asdict\n@dataclass\nclass A:\n    v:int=1\nprint(A(v=2).v, asdict(A()))\n",
    "v",
    line=4,
)
renames(
    "namedtuple",
    "from typing import NamedTuple\nclass A(NamedTuple):\n    v:int\nprint(A(v=1).v, A(1)._asdict())\n",
    "v",
    line=3,
)
renames(
    "enum member",
    "import enum\nclass E(enum.Enum):\n    A=1\nprint(E.A, E['A'], E.A.name)\n",
    "A",
    "B",
    line=3,
)
renames(
    "name mangled",
    "class A:\n    def __init__(self): self.__x=1\n    def g(self): return self.__x\nprint(A().g(), A()._A__x)\n",
    "__x",
    "__y",
    line=2,
)
renames(
    "name mangled ok",
    "class A:\n    def __init__(self): self.__x=1\n    def g(self): return self.__x\nprint(A().g())\n",
    "__x",
    "__y",
    line=2,
)
renames(
    "mangle new",
    "class A:\n    def f(self): return helper()\ndef helper(): return 1\nprint(A().f())\n",
    "helper",
    "__helper",
)
renames(
    "super method",
    "class A:\n    def go(self): return 1\nclass B(A):\n    def go(self): return super().go()+1\nprint(B().go())\n",
    "go",
    line=2,
)
renames(
    "multi inherit",
    "class A:\n    def go(self): return 1\nclass M:\n    def go(self): return 5\nclass B(A,M): pass\nprint(B().go(), M().go())\n",
    "go",
    line=4,
)
renames(
    "duck",
    "class A:\n    def go(self): return 1\nclass C:\n    def go(self): return 2\nprint([o.go() for o in (A(),C())])\n",
    "go",
    line=2,
)
renames(
    "except as",
    "try:\n    1/0\nexcept ZeroDivisionError as err:\n    print(type(err).__name__)\nerr='x'\nprint(err)\n",
    "err",
    line=3,
)
renames(
    "with as",
    "import io\nwith io.StringIO('a') as h, io.StringIO('b') as k:\n    print(h.read(), k.read())\n",
    "h",
    "q",
)
renames("del", "x=1\ny=x\ndel x\nprint(y)\n", "x")
renames(
    "for else",
    "for i in range(3):\n    pass\nelse:\n    print(i)\nprint([i for i in 'ab'], i)\n",
    "i",
    line=1,
)
renames(
    "aug class",
    "class A:\n    n=0\n    n+=1\n    def __init__(self): A.n+=1\nA()\nprint(A.n)\n",
    "n",
    line=2,
)
renames(
    "type hint str",
    "class Foo: pass\ndef f(a: 'Foo') -> 'list[Foo]': return [a]\nprint(len(f(Foo())))\n",
    "Foo",
    "Bar",
)
renames(
    "cast str",
    "from typing import cast\nclass Foo: pass\nx=cast('Foo', Foo())\nprint(type(x) is Foo)\n",
    "Foo",
    "Bar",
)
renames(
    "import module rename alias",
    "import lib\nimport lib as L\nprint(lib.f(), L.f())\n",
    "f",
    path="lib.py",
    lib="def f(): return 1\n",
)
PROGRAMS.append(
    (
        "reexport",
        {
            "main.py": "from pkg import f\nimport pkg.inner\nprint(f(), pkg.inner.f(), pkg.f())\n",
            "pkg/__init__.py": "from .inner import f\n",
            "pkg/inner.py": "def f(): return 1\n",
        },
        "pkg/inner.py",
        "rename_identifier",
        {"name": "f", "new_name": "renamed"},
    )
)
PROGRAMS.append(
    (
        "submodule same as attr",
        {
            "main.py": "import pkg\nprint(pkg.f())\n",
            "pkg/__init__.py": "from . import f as _m\ndef f(): return _m.v\n",
            "pkg/f.py": "v=3\n",
        },
        "pkg/__init__.py",
        "rename_identifier",
        {"name": "f", "new_name": "renamed"},
    )
)
renames(
    "class body function call",
    "def f(): return 1\nclass A:\n    f=f()\n    g=f\nprint(A.f,A.g,f())\n",
    "f",
    line=1,
)
renames(
    "comp in class", "class A:\n    n=3\n    xs=[i*2 for i in range(n)]\nprint(A.xs)\n", "n", line=2
)
renames(
    "param shadow new",
    "def f(a):\n    def g(b): return a+b\n    return g(1)\nprint(f(2))\n",
    "a",
    "b",
    line=1,
)
renames("builtin shadow", "def go(x): return x\nprint(go(len('ab')))\n", "go", "len")
renames("keyword new", "def go(x): return x\nprint(go(1))\n", "go", "match")
renames("unicode norm", "ﬁ=1\nprint(fi)\n", "fi", "fl")
renames(
    "async",
    "import asyncio\nasync def go(n):\n    async with asyncio.timeout(5):\n        return [x async for x in gen(n)]\nasync def gen(n):\n    for i in range(n): yield i\nprint(asyncio.run(go(3)))\n",
    "gen",
)
renames(
    "mutual recursion",
    "def a(n): return n and b(n-1)\ndef b(n): return n and a(n-1)\nprint(a(3))\n",
    "b",
    "c",
)
renames(
    "__getattr__",
    "class A:\n    def __getattr__(self, n): return n\n    def go(self): return 1\nprint(A().go(), A().went)\n",
    "go",
    "went",
    line=3,
)
renames(
    "annotation only",
    "class A:\n    x: int\n    def __init__(self): self.x=1\nprint(A().x, A.__annotations__)\n",
    "x",
    line=2,
)
renames("star expr", "first, *others = [1,2,3]\nprint(first, others)\n", "others")
renames("global in class", "class A:\n    global zed\n    zed=3\nprint(zed)\n", "zed", line=3)
renames("chained compare walrus lambda", "f=(lambda q: (w := q) + w)\nprint(f(2))\n", "w", line=1)
renames(
    "import in function",
    "def f():\n    from lib import g\n    return g()\nprint(f())\n",
    "g",
    path="lib.py",
    lib="def g(): return 1\n",
)
renames(
    "importlib",
    "import importlib\nprint(importlib.import_module('lib').g())\n",
    "g",
    path="lib.py",
    lib="def g(): return 1\n",
)
renames("pickle-ish name", "def f(): return 1\nprint(f.__name__, f.__qualname__)\n", "f")
renames(
    "doctest",
    "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1\nimport doctest\nprint(doctest.testmod())\n",
    "f",
)
# extract
extracts(
    "cond assign",
    "def f(a):\n    #<\n    if a:\n        b=1\n    #>\n    try:\n        return b\n    except UnboundLocalError:\n        return 'u'\nprint(f(1), f(0))\n",
)
extracts(
    "walrus out",
    "def f(a):\n    #<\n    if (n := a+1) > 1:\n        print(n)\n    #>\n    return n\nprint(f(1))\n",
)
extracts(
    "comp walrus out",
    "def f(a):\n    #<\n    t=[(last := i) for i in a]\n    #>\n    return last, t\nprint(f([1]))\n",
)
extracts(
    "match out",
    "def f(v):\n    #<\n    match v:\n        case [p, *q]:\n            pass\n        case p:\n            q=None\n    #>\n    return p,q\nprint(f([1,2]), f(3))\n",
)
extracts(
    "del inside",
    "def f(a):\n    b=a\n    #<\n    del b\n    c=a\n    #>\n    return c\nprint(f(1))\n",
)
extracts(
    "nonlocal",
    "def f():\n    n=0\n    def g():\n        nonlocal n\n        #<\n        n+=1\n        m=n\n        #>\n        return m\n    return g(), n\nprint(f())\n",
)
extracts(
    "global",
    "n=0\ndef g():\n    global n\n    #<\n    n+=1\n    m=n\n    #>\n    return m\nprint(g(), n)\n",
)
extracts(
    "loop carry",
    "def f(xs):\n    t=0\n    for x in xs:\n        #<\n        t+=x\n        y=t\n        #>\n        print(y)\n    return t\nprint(f([1,2]))\n",
)
extracts(
    "maybe bound in loop",
    "def f(xs):\n    for x in xs:\n        #<\n        if x==1:\n            seen=x\n        #>\n        if x==2: print(seen)\nf([1,2])\n",
)
extracts(
    "closure late",
    "def f():\n    n=1\n    #<\n    g=lambda: n\n    #>\n    n=2\n    return g()\nprint(f())\n",
)
extracts(
    "except var",
    "def f():\n    try:\n        1/0\n    except ZeroDivisionError as e:\n        #<\n        s=str(e)\n        #>\n    return s\nprint(f())\n",
)
extracts("with yield", "def f():\n    #<\n    yield 1\n    #>\nprint(list(f()))\n")
extracts(
    "break",
    "def f(xs):\n    for x in xs:\n        #<\n        if x: break\n        #>\n    return x\nprint(f([0,1]))\n",
)
extracts(
    "super",
    "class A:\n    def g(self): return 1\nclass B(A):\n    def g(self):\n        #<\n        v=super().g()\n        #>\n        return v\nprint(B().g())\n",
)
extracts("locals", "def f(a):\n    #<\n    d=locals()\n    #>\n    return d\nprint(f(1))\n")
extracts("class in class scope", "class A:\n    n=1\n    #<\n    m=n+1\n    #>\nprint(A.m)\n")
extracts(
    "star import in fn",
    "import sys\ndef f():\n    #<\n    v=sys._getframe().f_code.co_name\n    #>\n    return v\nprint(f())\n",
)
extracts(
    "multi-line string",
    "def f():\n    #<\n    s='''a\n  b\n'''\n    t=f'''{s}\n x'''\n    #>\n    return s,t\nprint(f())\n",
)
extracts(
    "async body",
    "import asyncio\nasync def f():\n    #<\n    await asyncio.sleep(0)\n    v=1\n    #>\n    return v\nprint(asyncio.run(f()))\n",
)
extracts(
    "mangled",
    "class A:\n    __v=3\n    def f(self):\n        #<\n        x=self.__v\n        #>\n        return x\nprint(A().f())\n",
)
extracts(
    "import inside",
    "def f():\n    #<\n    import json\n    v=json.dumps(1)\n    #>\n    return json.loads(v)\nprint(f())\n",
)
extracts(
    "nested def used",
    "def f():\n    #<\n    def g(n): return n and g(n-1)\n    #>\n    return g(2)\nprint(f())\n",
)
extracts("module level", "a=1\n#<\nb=a+1\nc=[b for _ in range(2)]\n#>\nprint(b,c)\n")
extracts(
    "module def sees", "def show(): return later\n#<\nlater=1\nv=show()\n#>\nprint(v, later)\n"
)
# moves
moves(
    "plain",
    "f",
    {
        "main.py": "from a import f\nprint(f())\n",
        "a.py": "import os\ndef f(): return os.sep\n",
        "b.py": "x=1\n",
    },
)
moves(
    "global stmt",
    "f",
    {"main.py": "import a\na.f()\nprint(a.n)\n", "a.py": "n=0\ndef f():\n    global n\n    n+=1\n"},
)
moves(
    "decorator local",
    "f",
    {
        "main.py": "from a import f\nprint(f())\n",
        "a.py": "def d(g): return lambda: g()+1\n@d\ndef f(): return 1\n",
    },
)
moves(
    "default arg",
    "f",
    {"main.py": "from a import f\nprint(f())\n", "a.py": "K=3\ndef f(x=K): return x\n"},
)
moves(
    "default mutable order",
    "f",
    {
        "main.py": "from a import f\nprint(f())\n",
        "a.py": "K=[]\nK.append(1)\ndef f(x=len(K)): return x\nK.append(2)\n",
    },
)
moves(
    "star import user",
    "f",
    {"main.py": "from a import *\nprint(f())\n", "a.py": "def f(): return 1\n"},
)
moves(
    "all",
    "f",
    {"main.py": "from a import *\nprint(f())\n", "a.py": "__all__=['f']\ndef f(): return 1\n"},
)
moves(
    "cycle",
    "f",
    {
        "main.py": "from a import f,g\nprint(f(),g())\n",
        "a.py": "def f(): return g()\ndef g(): return 1\nV=f()\n",
    },
)
moves(
    "__name__",
    "f",
    {"main.py": "from a import f\nprint(f())\n", "a.py": "def f(): return __name__\n"},
)
moves(
    "target shadows builtin",
    "f",
    {
        "main.py": "from a import f\nprint(f([1]))\n",
        "a.py": "def f(x): return len(x)\n",
        "b.py": "def len(x): return 'mine'\n",
    },
)
moves(
    "relative pkg",
    "f",
    {
        "main.py": "from p.a import f\nprint(f())\n",
        "p/__init__.py": "",
        "p/a.py": "from .c import k\ndef f(): return k\n",
        "p/c.py": "k=4\n",
    },
    "p/a.py",
    "p/q/b.py",
)
moves(
    "class base",
    "B",
    {
        "main.py": "from a import B\nprint(B().g())\n",
        "a.py": "class A:\n    def g(self): return 1\nclass B(A): pass\n",
    },
)
moves(
    "conditional import",
    "f",
    {
        "main.py": "from a import f\nprint(f())\n",
        "a.py": "try:\n    import nope as j\nexcept ImportError:\n    import json as j\ndef f(): return j.dumps(1)\n",
    },
)
moves(
    "rebound",
    "f",
    {"main.py": "import a\nprint(a.f())\n", "a.py": "def f(): return 1\nf=lambda: 2\n"},
)
moves(
    "patched",
    "f",
    {
        "main.py": "import a\na.f=lambda: 5\nprint(a.g())\n",
        "a.py": "def f(): return 1\ndef g(): return f()\n",
    },
)
moves(
    "walrus default",
    "f",
    {"main.py": "from a import f,w\nprint(f(),w)\n", "a.py": "def f(x=(w:=3)): return x\n"},
)
moves(
    "lazy import of target",
    "f",
    {
        "main.py": "from a import f\nprint(f())\n",
        "a.py": "def f():\n    import b\n    return b.v\n",
        "b.py": "v=1\n",
    },
)
# unused
cleans(
    "try import", "try:\n    import json\nexcept ImportError:\n    json=None\nimport os\nprint(1)\n"
)
cleans(
    "submodule",
    "import os\nimport os.path\nimport xml.dom\nimport xml.sax\nprint(xml.dom.__name__)\n",
)
cleans("all", "import json\nimport os\n__all__=['json']\nprint(1)\n")
cleans(
    "string annotation",
    "from typing import List\nimport json\ndef f(a: 'List[int]'): return a\nprint(f([1]))\n",
)
cleans("fstring use", "import os\nimport json\nprint(f'{os.sep!r:>{3}}')\n")
cleans("del", "import os\nimport json\ndel os\nprint('x')\n")
cleans("shadow", "import os\ndef f(os): return os\nimport json\nprint(f(1))\n")
cleans("global", "def f():\n    global json\n    import json\nf()\nprint(json.dumps(1))\n")
cleans("class scope", "class A:\n    import json\n    import os\nprint(hasattr(A,'json'))\n")
cleans(
    "match",
    "import json\nimport enum\nmatch 1:\n    case enum.Enum(): print(1)\n    case _: print(2)\n",
)
cleans("decorator", "import functools, os\n@functools.cache\ndef f(): return 1\nprint(f())\n")
cleans("effects", "import lib\nprint(1)\n", lib="print('loaded')\n")
cleans("walrus", "import json, os\nif (n := json.dumps(1)): print(n)\n")
cleans("future", "from __future__ import annotations\nimport json\nprint(1)\n")
cleans("star", "from lib import *\nimport json\nprint(v)\n", lib="v=1\n")
cleans("only in block", "if True:\n    import json\nprint(1)\n")
cleans("semi", "import json; import os; print(os.sep)\n")
cleans("backslash", "from os import path, \\\n    sep\nprint(sep)\n")

REFUSED = frozenset(
    [
        "rename:submodule same as attr",
        "rename:match class name",
        "rename:star of all made elsewhere",
        "rename:star with new name there",
        "rename:two stars",
        "rename:star no all",
        "rename:star then shadow",
        "rename:star capture",
        "rename:decorated",
        "rename:kwargs call",
        "rename:lambda default",
        "rename:fstring eq",
        "rename:locals()",
        "rename:globals str",
        "rename:getattr str",
        "rename:dataclass field",
        "rename:namedtuple",
        "rename:enum member",
        "rename:name mangled",
        "rename:mangle new",
        "rename:duck",
        "rename:param shadow new",
        "rename:builtin shadow",
        "rename:unicode norm",
        "rename:__getattr__",
        "rename:annotation only",
        "rename:importlib",
        "rename:pickle-ish name",
        "rename:doctest",
        "extract:cond assign",
        "extract:comp walrus out",
        "extract:match out",
        "extract:del inside",
        "extract:nonlocal",
        "extract:global",
        "extract:maybe bound in loop",
        "extract:closure late",
        "extract:with yield",
        "extract:break",
        "extract:locals",
        "extract:class in class scope",
        "extract:star import in fn",
        "extract:nested def used",
        "extract:module def sees",
        "move:global stmt",
        "move:default mutable order",
        "move:cycle",
        "move:__name__",
        "move:target shadows builtin",
        "move:rebound",
        "move:walrus default",
        "unused:global",
        "unused:class scope",
        "unused:effects",
    ]
)
"""Those that are refused now, by the first word of the operation; more would be a loss."""
