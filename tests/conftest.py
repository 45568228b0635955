"""What every test stands on: state in a folder of its own, and honest skips."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import night
from tests.node.tools import installed as node_tools_are_installed
from tests.services import other_services, services, spawn

__all__ = ["other_services", "services", "spawn"]

STORED = ("TOOLCRIB_WCXB", "TOOLCRIB_RUN__LEVEL")
"""What a person may set for the tests: a folder of pages, the level at which programs run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    night.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    night.load_profile(config)
    # Under nohup and some CI Ctrl-C is ignored, and what is started there would ignore it too.
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(
                number,
                signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL,
            )
    config.addinivalue_line("markers", "rows(*ids): the inventory rows that this test shows")
    config.addinivalue_line("markers", "needs_node: runs what scripts/install-node-tools installs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    night.choose(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_node") and not node_tools_are_installed():
        absent("scripts/install-node-tools has not been run")


def absent(reason: str) -> None:
    """Skip a test for what this machine lacks; in CI, where nothing may lack, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def git_identity(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own settings of git name a committer, which a fresh machine does not."""
    settings = tmp_path_factory.mktemp("git") / "config"
    settings.write_text("[user]\n\tname = Ann\n\temail = ann@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))


@pytest.fixture
def hint(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Says what would make a tool better; the summary of the run prints it, nothing fails."""
    return lambda text: record_property("hint", text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    texts = {
        str(value)
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "hint"
    }
    if texts:
        terminalreporter.section("hints")
        for text in sorted(texts):
            terminalreporter.write_line(text)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the user's configuration nor their data is touched by a test."""
    for name in list(os.environ):
        if name.startswith("TOOLCRIB_") and name not in STORED:
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(tmp_path / "state" / "config.toml"))
    monkeypatch.setenv("TOOLCRIB_DATA", str(tmp_path / "state"))
