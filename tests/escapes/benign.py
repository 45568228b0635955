"""Ordinary tasks, which must all work in the sandbox."""

from __future__ import annotations

import sys

PY = sys.executable
GIT = """
git -c init.defaultBranch=main init -q project && cd project && echo x > f && git add f &&
git -c user.name=n -c user.email=e@example.com commit -qm first && git log --format=%s
"""
BENIGN: dict[str, tuple[list[str], str]] = {
    "python hello": ([PY, "-c", "print('hello')"], "hello"),
    "standard library": (
        [
            PY,
            "-c",
            (
                "import json, sqlite3, zlib, ssl, hashlib, decimal, tempfile, uuid\n"
                "c = sqlite3.connect('t.db'); c.execute('create table t (a)')\n"
                "c.execute('insert into t values (1)'); c.commit()\n"
                "print(json.dumps(c.execute('select * from t').fetchall()))"
            ),
        ],
        "[[1]]",
    ),
    "numpy": (
        [PY, "-c", ("import numpy as n\nprint(int((n.arange(9).reshape(3, 3) @ n.eye(3)).sum()))")],
        "36",
    ),
    "pandas": (
        [
            PY,
            "-c",
            (
                "import pandas as p\n"
                "p.DataFrame({'a': [1, 2]}).to_csv('a.csv'); print(p.read_csv('a.csv').a.sum())"
            ),
        ],
        "3",
    ),
    "subprocess": (
        [
            PY,
            "-c",
            (
                "import subprocess as s\n"
                "print(s.run('echo a | tr a b', shell=True, capture_output=True).stdout)"
            ),
        ],
        "b'b\\n'",
    ),
    "threads": (
        [
            PY,
            "-c",
            (
                "from concurrent.futures import ThreadPoolExecutor as P\n"
                "with P(8) as p: print(sum(p.map(abs, range(100))))"
            ),
        ],
        "4950",
    ),
    "multiprocessing": (
        [
            PY,
            "-c",
            (
                "from multiprocessing import Pool\n"
                "if __name__ == '__main__':\n"
                "    with Pool(2) as p: print(sum(p.map(abs, range(10))))"
            ),
        ],
        "45",
    ),
    "asyncio": (
        [
            PY,
            "-c",
            (
                "import asyncio\n"
                "async def f():\n"
                "    p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1)\n"
                "    return (await p.communicate())[0].decode().strip()\n"
                "print(asyncio.run(f()))"
            ),
        ],
        "hi",
    ),
    "node hello": (["node", "-e", "console.log([1, 2].map(x => x * 2).join())"], "2,4"),
    "node files": (
        [
            "node",
            "-e",
            (
                "const fs = require('fs'); fs.mkdirSync('d');"
                "fs.writeFileSync('d/a', 'x'); console.log(fs.readdirSync('d') + '')"
            ),
        ],
        "a",
    ),
    "shell pipes": (["/bin/sh", "-c", "printf 'b\\na\\nb\\n' | sort | uniq -c | wc -l"], "2"),
    "git": (["/bin/sh", "-c", GIT], "first"),
}
