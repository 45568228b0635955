"""The output of `go test -json` and of `cargo test`."""

from __future__ import annotations

import json
import re

from toolcrib.tools.run.test_runners.totals import Failure, Totals

RESULT = re.compile(r"^test result: \S+ (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
STDOUT = re.compile(r"^---- (.+?) stdout ----\n([\s\S]*?)(?=^---- |^failures:|\Z)", re.MULTILINE)
BROKEN = re.compile(r"^error(?:\[E\d+\])?: .+(?:\n(?:\s+.*|$))*", re.MULTILINE)
MOST_LINES = 60


def cargo(text: str) -> Totals:
    """Of cargo."""
    totals = Totals()
    for passed, failed, ignored in RESULT.findall(text):
        totals.passed += int(passed)
        totals.failed += int(failed)
        totals.skipped += int(ignored)
    totals.failures = [Failure(m[1], m[2].strip("\n")) for m in STDOUT.finditer(text)]
    if not totals.count and not totals.failures:
        totals.failures = [Failure("build", m[0].strip()) for m in BROKEN.finditer(text)][:5]
    return totals


def go(text: str) -> Totals:
    """Of go."""
    totals = Totals()
    written: dict[tuple[str, str], list[str]] = {}
    failed: list[tuple[str, str]] = []
    for line in text.splitlines():
        event = _event(line)
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
            failed.append(key)
        elif action in ("fail", "build-fail") and not any(k[0] == key[0] for k in failed):
            failed.append(key)
    for package, test in failed:
        lines = [line for line in written.get((package, test), []) if not line.startswith("=== ")]
        if not test and any(k[0] == package and k[1] for k in failed):
            continue
        totals.failed += not test
        name = f"{package}.{test}" if test else package
        totals.failures.append(Failure(name, "".join(lines[-MOST_LINES:]).strip("\n")))
    return totals


def _event(line: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
