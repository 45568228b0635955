"""Which tests run when: the day set always, the night set where it is asked for."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
SHARES = 10
DAY_EXAMPLES = 20
NIGHT = tuple(
    line
    for line in (HERE / "night.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
"""The beginnings of the names of tests that run at night only."""
SECOND = re.compile(r"[\[-](kernel|aiohttp)[-\]]")
"""The second level of the sandbox and the second transport: of tests of tools, nightly too."""

LONGEST = (
    "escapes/test_escapes.py",
    "surfaces/cli/test_chat.py",
    "surfaces/cli/test_install.py",
    "tools/browser/test_tasks.py",
    "tools/git/test_local.py",
    "execution/sandbox/test_ending.py",
    "tools/files/test_directory.py",
    "documents/test_office.py",
    "surfaces/mcp/test_clients.py",
    "execution/sandbox/test_measuring.py",
    "tools/run/test_terminals.py",
    "surfaces/mcp/test_prompts_resources.py",
    "contract/test_compat_calls.py",
    "surfaces/cli/test_doctor.py",
    "contract/test_targets.py",
    "surfaces/cli/test_chat_terminal.py",
)
"""Files that take the longest: they start first, so that none is left to one worker at the end."""


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--set",
        default="day",
        help=f"day, all, or a share of the night set: 0 to {SHARES - 1}",
    )


def load_profile(config: pytest.Config) -> None:
    """By day a property is tried on few examples, unless its test names a number."""
    # Shared machines are slow now and then; that says nothing about the code.
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    settings.register_profile("night", deadline=None, suppress_health_check=checks)
    settings.register_profile("day", settings.get_profile("night"), max_examples=DAY_EXAMPLES)
    settings.load_profile("day" if config.getoption("--set") == "day" else "night")


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave only the tests of the set that was asked for, and those named one by one."""
    items.sort(key=turn_of)
    which = config.getoption("--set")
    if which == "all":
        return
    named = any("::" in argument for argument in config.args)
    if which == "day":
        chosen = items if named else [item for item in items if not is_nightly(item)]
    else:
        at_night = [item for item in items if is_nightly(item) or is_property(item)]
        chosen = [item for item in at_night if share_of(item) == int(which)]
    left = set(items) - set(chosen)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = chosen


def turn_of(item: pytest.Item) -> int:
    """The place of a test's file among the longest; those of others come after them."""
    name = item.nodeid.removeprefix("tests/")
    return next((n for n, file in enumerate(LONGEST) if name.startswith(file)), len(LONGEST))


def is_nightly(item: pytest.Item) -> bool:
    name = item.nodeid.removeprefix("tests/")
    if name.startswith("tools/") and SECOND.search(name):
        return True
    return name.startswith(NIGHT)


def is_property(item: pytest.Item) -> bool:
    """Whether hypothesis makes up the examples of a test."""
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def share_of(item: pytest.Item) -> int:
    """A fixed share for each test, whatever else is collected."""
    return zlib.crc32(item.nodeid.encode()) % SHARES
