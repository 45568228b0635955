"""The output of pytest and of unittest."""

from __future__ import annotations

import re

from toolcrib.tools.run.test_runners.totals import Failure, Totals

COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")
SUMMARY = re.compile(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.MULTILINE)
SECTION = re.compile(r"^_{3,} (.+?) _{3,}$", re.MULTILINE)
RULE = re.compile(r"^={3,} ?.*$", re.MULTILINE)
SHORT = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - (.*))?$", re.MULTILINE)
BLOCK = re.compile(
    r"^(?:FAIL|ERROR): (.+)\n(?:.+\n)??-{10,}\n([\s\S]*?)(?=^={10,}|^-{10,}|\Z)", re.MULTILINE
)
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
ENDED = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")
PASSED = {"passed", "xfailed", "xpassed"}


def pytest(text: str) -> Totals:
    """Of pytest, with `-q` or without."""
    totals = Totals()
    found = list(SUMMARY.finditer(text))
    for number, what in COUNT.findall(found[-1][1]) if found else ():
        if what in PASSED:
            totals.passed += int(number)
        elif what.startswith(("failed", "error")):
            totals.failed += int(number)
        elif what == "skipped":
            totals.skipped += int(number)
    whys = _sections(text)
    for name, short in SHORT.findall(text):
        last = name.rpartition("::")[2]
        path = name.partition("::")[0]
        key = ".".join(name.split("::")[1:])
        why = whys.get(key) or whys.get(last) or whys.get(f"ERROR collecting {path}", "")
        totals.failures.append(Failure(name, why or short))
    return totals


def _sections(text: str) -> dict[str, str]:
    """The part of the output about each failure, by its headline."""
    found: dict[str, str] = {}
    heads = list(SECTION.finditer(text))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        rule = RULE.search(text, head.end(), end)
        name = re.sub(r"^ERROR at (?:setup|teardown) of ", "", head[1])
        found[name] = text[head.end() : rule.start() if rule else end].strip("\n")
    return found


def unittest(text: str) -> Totals:
    """Of unittest."""
    totals = Totals()
    ran = RAN.search(text)
    total = int(ran[1]) if ran else 0
    tail = text[ran.end() :] if ran else ""
    said = {name: int(number) for name, number in ENDED.findall(tail)}
    totals.failed = sum(said.get(n, 0) for n in ("failures", "errors", "unexpected successes"))
    totals.skipped = said.get("skipped", 0)
    totals.passed = max(total - totals.failed - totals.skipped, 0)
    totals.failures = [Failure(m[1].strip(), m[2].strip("\n")) for m in BLOCK.finditer(text)]
    return totals
