"""The output of test runners, understood: the totals and failures of each."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from toolcrib.text.json_values import json_object


@dataclass(frozen=True, slots=True)
class SuiteFailure:
    """A test that failed, and why: the message and, behind it, the last lines of its trace."""

    name: str
    message: str = ""


@dataclass(slots=True)
class SuiteTotals:
    """Counts of tests; `errors` are those that could not be run, and count as failed too."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[SuiteFailure] = field(default_factory=list)

    @property
    def count(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.skipped

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


# The output of jest, vitest and mocha as JSON, and of Node's own runner as TAP.

TAP_COUNT = re.compile(r"^# (pass|fail|skipped|todo|cancelled) (\d+)$", re.MULTILINE)
NOT_OK = re.compile(r"^( *)not ok \d+ - (.+?)(?: # (?:SKIP|TODO).*)?$", re.MULTILINE)
TAP_ERROR = re.compile(r"^[ \t]*error: (?:'(.*)'|\|-\n((?:(?:[ \t]{4,}.*)?\n)+))", re.MULTILINE)
FOREIGN = re.compile(r"^ +at .*(?:node_modules/|node:internal|<anonymous>\)).*\n?", re.MULTILINE)
TAP_SUMMARY = re.compile(r"^ *Tests:? +(\d+ [a-z]+(?:(?: \||,) \d+ [a-z]+)*)", re.MULTILINE)
MOCHA_COUNT = re.compile(r"(\d+) (passed|failed|skipped|todo|pending)\b")
MOCHA = re.compile(r"^ +(\d+) (passing|failing|pending)\b", re.MULTILINE)
HEADS = re.compile(r"^ +● (.+)$|^ *FAIL  (\S.* > .+)$", re.MULTILINE)
SEVERAL = re.compile(r"\d+ subtests? failed")
MAX_NO_JSON = 1_000
"""Lines with a brace first that are no JSON: each is told by counting the lines before it."""


def jest(text: str) -> SuiteTotals:
    """Of jest and of vitest, which says it alike."""
    totals = SuiteTotals()
    counts = _object(text, "numTotalTests")
    totals.passed = int(counts.get("numPassedTests") or 0)
    totals.failed = int(counts.get("numFailedTests") or 0)
    totals.skipped = int(counts.get("numPendingTests") or 0) + int(counts.get("numTodoTests") or 0)
    for suite in counts.get("testResults") or []:
        cases = suite.get("assertionResults") or []
        for case in cases:
            if case.get("status") == "failed":
                name = case.get("fullName") or case.get("title") or ""
                message = "\n".join(case.get("failureMessages") or [])
                totals.failures.append(SuiteFailure(name, own_frames(message)))
        if not cases and suite.get("status") == "failed":
            totals.failed += 1
            totals.failures.append(
                SuiteFailure(str(suite.get("name")), str(suite.get("message") or ""))
            )
    return totals


def mocha(text: str) -> SuiteTotals:
    """Of mocha."""
    counts = _object(text, "stats")
    stats = counts.get("stats") or {}
    totals = SuiteTotals(
        int(stats.get("passes") or 0),
        int(stats.get("failures") or 0),
        int(stats.get("pending") or 0),
    )
    for case in counts.get("failures") or []:
        error = case.get("err") or {}
        totals.failures.append(
            SuiteFailure(
                str(case.get("fullTitle")),
                own_frames(str(error.get("stack") or error.get("message") or "")),
            )
        )
    return totals


def tap(text: str) -> SuiteTotals:
    """Of `node --test`."""
    counts = {name: int(number) for name, number in TAP_COUNT.findall(text)}
    totals = SuiteTotals(
        counts.get("pass", 0),
        counts.get("fail", 0) + counts.get("cancelled", 0),
        counts.get("skipped", 0) + counts.get("todo", 0),
    )
    heads = list(NOT_OK.finditer(text))
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        error = TAP_ERROR.search(text, head.end(), end)
        message = (error[1] or error[2] or "").strip() if error else ""
        if not SEVERAL.search(message):
            totals.failures.append(SuiteFailure(head[2], message))
    return totals


def own_frames(message: str) -> str:
    """A message without the frames of its stack that are of other people's packages."""
    return FOREIGN.sub("", message)


def summary(text: str) -> SuiteTotals:
    """Of jest, vitest and mocha as they speak to people."""
    totals = SuiteTotals()
    line = TAP_SUMMARY.findall(text)
    for number, what in MOCHA_COUNT.findall(line[-1]) if line else MOCHA.findall(text):
        if what in ("passed", "passing"):
            totals.passed = int(number)
        elif what in ("failed", "failing"):
            totals.failed = int(number)
        else:
            totals.skipped += int(number)
    names = dict.fromkeys(one or other for one, other in HEADS.findall(text))
    totals.failures = [SuiteFailure(name) for name in names]
    return totals


def _object(text: str, key: str) -> dict[str, Any]:
    """The JSON object with a key, wherever it stands in the output."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    failures = 0
    while at >= 0 and failures < MAX_NO_JSON:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
            failures += 1
        if isinstance(value, dict) and key in value:
            return value
        at = text.find("\n{", end) + 1 or -1
    return {}


# The output of `go test -json` and of `cargo test`.

RESULT = re.compile(r"^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
STDOUT = re.compile(r"^---- (.+?) stdout ----\n([\s\S]*?)(?=^---- |^failures:|\Z)", re.MULTILINE)
BROKEN = re.compile(r"^error(?:\[E\d+\])?: .+(?:\n(?:\s+.*|$))*", re.MULTILINE)
MAX_FAILURE_LINES = 60


def cargo(text: str) -> SuiteTotals:
    """Of cargo."""
    totals = SuiteTotals()
    for passed, failed, ignored in RESULT.findall(text):
        totals.passed += int(passed)
        totals.failed += int(failed)
        totals.skipped += int(ignored)
    totals.failures = [SuiteFailure(m[1], m[2].strip("\n")) for m in STDOUT.finditer(text)]
    if not totals.count and not totals.failures:
        totals.failures = [SuiteFailure("build", m[0].strip()) for m in BROKEN.finditer(text)][:5]
    return totals


def go(text: str) -> SuiteTotals:
    """Of go."""
    totals = SuiteTotals()
    written: dict[tuple[str, str], list[str]] = {}
    failed: dict[tuple[str, str], None] = {}  # in order
    packages: set[str] = set()
    for line in text.splitlines():
        event = (json_object(line) if line.startswith("{") else None) or {}
        action = event.get("Action")
        key = (
            str(event.get("Package") or event.get("ImportPath") or ""),
            str(event.get("Test") or ""),
        )
        if action in ("output", "build-output"):
            written.setdefault(key, []).append(str(event.get("Output") or ""))
        elif key[1] and action == "pass":
            totals.passed += 1
        elif key[1] and action == "skip":
            totals.skipped += 1
        elif action == "fail" and key[1]:
            totals.failed += 1
            failed[key] = None
            packages.add(key[0])
        elif action in ("fail", "build-fail") and key[0] not in packages:
            failed[key] = None
            packages.add(key[0])
    with_tests = {package for package, test in failed if test}
    for package, test in failed:
        lines = [line for line in written.get((package, test), []) if not line.startswith("=== ")]
        if not test and package in with_tests:
            continue
        totals.failed += not test
        name = f"{package}.{test}" if test else package
        totals.failures.append(SuiteFailure(name, "".join(lines[-MAX_FAILURE_LINES:]).strip("\n")))
    return totals


# The output of pytest and of unittest.

COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")
SUMMARY = re.compile(r"^=*[ \t]*(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s", re.MULTILINE)
SECTION = re.compile(r"^_{3,} (.+?) _{3,}$", re.MULTILINE)
RULE = re.compile(r"^={3,} ?.*$", re.MULTILINE)
SUMMARY_LINE = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - (.*))?$", re.MULTILINE)
BLOCK = re.compile(
    r"^(?:FAIL|ERROR): (.+)\n(?:.+\n)??-{10,}\n([\s\S]*?)(?=^={10,}|^-{10,}|\Z)", re.MULTILINE
)
RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
ENDED = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")
PASSED = {"passed", "xpassed"}
SKIPPED = {"skipped", "xfailed"}
"""What was expected to fail has not passed: as the XML for CI has it."""


def pytest(text: str) -> SuiteTotals:
    """Of pytest, with `-q` or without."""
    totals = SuiteTotals()
    found = list(SUMMARY.finditer(text))
    for number, what in COUNT.findall(found[-1][1]) if found else ():
        if what in PASSED:
            totals.passed += int(number)
        elif what.startswith(("failed", "error")):
            totals.failed += int(number)
        elif what in SKIPPED:
            totals.skipped += int(number)
    whys = _sections(text)
    for name, short in SUMMARY_LINE.findall(text):
        last = name.rpartition("::")[2]
        path = name.partition("::")[0]
        key = ".".join(name.split("::")[1:])
        why = whys.get(key) or whys.get(last) or whys.get(f"ERROR collecting {path}", "")
        totals.failures.append(SuiteFailure(name, why or short))
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


def unittest(text: str) -> SuiteTotals:
    """Of unittest."""
    totals = SuiteTotals()
    ran = RAN.search(text)
    total = int(ran[1]) if ran else 0
    tail = text[ran.end() :] if ran else ""
    counts = {name: int(number) for name, number in ENDED.findall(tail)}
    totals.failed = sum(counts.get(n, 0) for n in ("failures", "errors", "unexpected successes"))
    totals.skipped = counts.get("skipped", 0) + counts.get("expected failures", 0)
    totals.passed = max(total - totals.failed - totals.skipped, 0)
    totals.failures = [SuiteFailure(m[1].strip(), m[2].strip("\n")) for m in BLOCK.finditer(text)]
    return totals
