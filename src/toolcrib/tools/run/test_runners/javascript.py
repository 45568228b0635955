"""The output of jest, vitest and mocha as JSON, and of Node's own runner as TAP."""

from __future__ import annotations

import json
import re
from typing import Any

from toolcrib.tools.run.test_runners.totals import Failure, Totals

TAP_COUNT = re.compile(r"^# (pass|fail|skipped|todo|cancelled) (\d+)$", re.MULTILINE)
NOT_OK = re.compile(r"^( *)not ok \d+ - (.+?)(?: # (?:SKIP|TODO).*)?$", re.MULTILINE)
TAP_ERROR = re.compile(r"^\s*error: (?:'(.*)'|\|-\n((?:\s{4,}.*\n)+))", re.MULTILINE)
FOREIGN = re.compile(r"^ +at .*(?:node_modules/|node:internal|<anonymous>\)).*\n?", re.MULTILINE)
SUMMARY = re.compile(r"^ *Tests:? +(\d+ [a-z]+(?:(?: \||,) \d+ [a-z]+)*)", re.MULTILINE)
COUNT = re.compile(r"(\d+) (passed|failed|skipped|todo|pending)\b")
MOCHA = re.compile(r"^ +(\d+) (passing|failing|pending)\b", re.MULTILINE)
HEADS = re.compile(r"^ +● (.+)$|^ *FAIL  (\S.* > .+)$", re.MULTILINE)
SEVERAL = re.compile(r"\d+ subtests? failed")


def jest(text: str) -> Totals:
    """Of jest and of vitest, which says it alike."""
    totals = Totals()
    said = _object(text, "numTotalTests")
    totals.passed = int(said.get("numPassedTests") or 0)
    totals.failed = int(said.get("numFailedTests") or 0)
    totals.skipped = int(said.get("numPendingTests") or 0) + int(said.get("numTodoTests") or 0)
    for suite in said.get("testResults") or []:
        cases = suite.get("assertionResults") or []
        for case in cases:
            if case.get("status") == "failed":
                name = case.get("fullName") or case.get("title") or ""
                message = "\n".join(case.get("failureMessages") or [])
                totals.failures.append(Failure(name, own_frames(message)))
        if not cases and suite.get("status") == "failed":
            totals.failed += 1
            totals.failures.append(Failure(str(suite.get("name")), str(suite.get("message") or "")))
    return totals


def mocha(text: str) -> Totals:
    """Of mocha."""
    said = _object(text, "stats")
    stats = said.get("stats") or {}
    totals = Totals(
        int(stats.get("passes") or 0),
        int(stats.get("failures") or 0),
        int(stats.get("pending") or 0),
    )
    for case in said.get("failures") or []:
        error = case.get("err") or {}
        totals.failures.append(
            Failure(
                str(case.get("fullTitle")),
                own_frames(str(error.get("stack") or error.get("message") or "")),
            )
        )
    return totals


def tap(text: str) -> Totals:
    """Of `node --test`."""
    counts = {name: int(number) for name, number in TAP_COUNT.findall(text)}
    totals = Totals(
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
            totals.failures.append(Failure(head[2], message))
    return totals


def own_frames(message: str) -> str:
    """A message without the frames of its stack that are of other people's packages."""
    return FOREIGN.sub("", message)


def told(text: str) -> Totals:
    """Of jest, vitest and mocha as they speak to people."""
    totals = Totals()
    line = SUMMARY.findall(text)
    for number, what in COUNT.findall(line[-1]) if line else MOCHA.findall(text):
        if what in ("passed", "passing"):
            totals.passed = int(number)
        elif what in ("failed", "failing"):
            totals.failed = int(number)
        else:
            totals.skipped += int(number)
    names = dict.fromkeys(one or other for one, other in HEADS.findall(text))
    totals.failures = [Failure(name) for name in names]
    return totals


def _object(text: str, key: str) -> dict[str, Any]:
    """The JSON object with a key, wherever it stands in the output."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and key in value:
            return value
        at = text.find("\n{", at + 1)
        at = at + 1 if at >= 0 else -1
    return {}
