"""The engine that only computes."""

from __future__ import annotations

import pytest

from toolcrib.core.errors import TimedOut, TooLarge
from toolcrib.execution.interpreters.quickjs import run

pytestmark = pytest.mark.rows("C072", "C186", "X19")


def out(code: str, seconds: float = 5.0) -> tuple[str, str]:
    answer, data = run({"code": code, "seconds": seconds}, b"")
    return data.decode(), answer["failed"]


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("1 + 1", "2\n"),
        ("console.log('a', [1, {b: 'c'}]); 5", 'a [ 1, { b: "c" } ]\n'),
        ("2n ** 64n", "18446744073709551616n\n"),
        ("const x = await Promise.resolve(3); console.log(x)", "3\n"),
        ("setTimeout(() => console.log('later'), 5000); console.log('now')", "now\nlater\n"),
        ("(async () => 7)()", "7\n"),
        ("const a = []; a[0] = a; a", "[ [Circular] ]\n"),
        ("new Map([[1, new Set([2])]])", "Map(1) {1 => Set(1) {2}}\n"),
        ("undefined", ""),
    ],
)
def test_it_computes(code: str, written: str) -> None:
    assert out(code) == (written, "")


@pytest.mark.parametrize(
    "code",
    [
        "require('fs')",
        "process.exit()",
        "fetch('http://127.0.0.1')",
        "import('fs').then(m => console.log(m))",
        "std.open('/etc/passwd')",
        "os.exec(['ls'])",
        "throw new Error('x')",
        "(async () => { throw new Error('x') })()",
        "(function f() { f() })()",
    ],
)
def test_what_it_has_not_fails(code: str) -> None:
    written, failed = out(code)
    assert failed
    assert written == ""


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("while (true);", TimedOut),
        ("/(a+)+$/.test('a'.repeat(40) + 'b')", TimedOut),
        ("setInterval(() => 1, 1)", TimedOut),
        ("Promise.resolve().then(() => { while (true); })", TimedOut),
        ("const a = []; while (true) a.push(new Array(1000).fill(1))", TooLarge),
        ("'x'.repeat(1e9)", TooLarge),
        ("for (;;) console.log('x'.repeat(1000))", TooLarge),
    ],
)
def test_it_is_bounded(code: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        out(code, 0.5 if error is TimedOut else 20.0)


def test_an_error_tells_the_line_and_nothing_of_ours() -> None:
    _, failed = out("let a = 1;\nnothing.here")
    assert "ReferenceError" in failed
    assert ":2:" in failed
    assert "native" not in failed
