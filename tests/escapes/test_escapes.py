"""What gets out of the sandbox: attempts at every level, as root and as an ordinary user."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import absent
from tests.escapes.battery import ATTEMPTS, ROUNDS, SECOND, THIRD
from tests.escapes.known import FURTHER_GAPS, GAPS
from tests.escapes.start import SECONDS, start

IDS = [attempt.id for attempt in ATTEMPTS]
USERS = ("root", "ordinary") if os.getuid() == 0 else ("ordinary",)


@pytest.fixture
def place() -> Iterator[Path]:
    # Where everybody may walk: the folders of pytest are their maker's alone.
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-escapes-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _need_tools() -> None:
    for name in ("node", "git", "unshare", "setpriv", "perl", "bash"):
        if not shutil.which(name):
            absent(f"{name} is not installed")


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("level", ["strong", "kernel"])
async def test_what_gets_out(place: Path, level: str, user: str) -> None:
    _need_tools()
    answers = await start(place, level, user)
    benign = {
        name: a["twin"] for name, a in answers.items() if name.startswith("benign") and a["twin"]
    }
    assert benign == {}
    tried = {name: a for name, a in answers.items() if not name.startswith("benign")}
    assert len(tried) >= 0.95 * len(IDS)
    out = {
        name: a["evidence"] or a["twin"] for name, a in tried.items() if a["evidence"] or a["twin"]
    }
    assert {name: why for name, why in out.items() if name not in GAPS[level]} == {}
    aim = 0.99 if level == "strong" else 0.90
    assert len(tried) - len(out) >= aim * len(tried)


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("level", ["strong", "kernel"])
@pytest.mark.parametrize("round_", ["second", "third"])
async def test_what_gets_out_of_further_rounds(
    place: Path, round_: str, level: str, user: str
) -> None:
    _need_tools()
    answers = await start(place, level, user, "--round", round_)
    wrong = {name: a["evidence"] or a["twin"] for name, a in answers.items()}
    gaps = FURTHER_GAPS[level]
    assert {name: why for name, why in wrong.items() if why and name not in gaps} == {}
    assert len(answers) >= 0.95 * len(ROUNDS[round_])


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("round_", ROUNDS)
async def test_without_a_sandbox_they_get_out(place: Path, round_: str) -> None:
    """An attempt that fails without a sandbox too shows nothing."""
    _need_tools()
    answers = await start(place, "bare", USERS[0], "--round", round_)
    inert = [name for name, answer in answers.items() if not answer["evidence"]]
    assert len(answers) - len(inert) >= 0.95 * len(answers), inert


def test_there_are_enough_and_each_has_a_twin() -> None:
    assert len(set(IDS)) == len(IDS) >= 108
    assert all(attempt.twin.place or attempt.twin.body for attempt in ATTEMPTS)
    assert all(set(gaps) <= set(IDS) for gaps in GAPS.values())
    for attempts, least in ((SECOND, 100), (THIRD, 40)):
        assert len({attempt.id for attempt in attempts}) == len(attempts) >= least
