"""An agent on a real small model: every run ends, in time and with a word that is true.

What such a model can do is measured by `python -m bench.small_models`; here nothing may break,
whatever it writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.small_models import MAX_STEPS, MAX_TOKENS, TASKS, Counted, Task, by_agent
from tests.cases import each_case
from tests.servers.local_model import local_model, missing

MODEL = "qwen2.5-coder-0.5b"
SECONDS = 30.0
pytestmark = [
    pytest.mark.skipif(bool(missing(MODEL)), reason=missing(MODEL) or "the model is there"),
    pytest.mark.timeout(180),
]
CHOSEN = [
    next(task for task in TASKS if task.text.startswith(start))
    for start in (
        "What is the door code",
        "Compute 1234",
        "Create hello.txt",
        "Which file mentions",
    )
]


@pytest.fixture(scope="module")
def server() -> Iterator[Counted]:
    with local_model(MODEL) as url:
        yield Counted(url)


@each_case("task", CHOSEN, ids=lambda task: task.kind)
@pytest.mark.rows("E101", "E111", "E117", "E127")
def test_a_run_ends_with_a_true_word(server: Counted, task: Task, tmp_path: Path) -> None:
    for name, text in task.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    ending = asyncio.run(by_agent(server, task, tmp_path, SECONDS))
    assert not ending.failure.startswith("broken"), ending
    assert ending.steps <= MAX_STEPS + 1
    assert ending.tokens <= MAX_TOKENS + 1_000
    assert ending.reason, ending
