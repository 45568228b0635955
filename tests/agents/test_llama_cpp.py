"""A real llama.cpp server, with a model of random weights that a grammar makes say our text.

Asked for by two environment variables: `TOOLCRIB_LLAMA_PYTHON` is an interpreter that has the
packages xllamacpp and gguf, `TOOLCRIB_LLAMA_VOCAB` a vocabulary of llama.cpp's sources
(`models/ggml-vocab-llama-spm.gguf`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.boxes import box_of
from toolcrib.agents.runs import AgentRuns

PYTHON = os.environ.get("TOOLCRIB_LLAMA_PYTHON", "")
VOCABULARY = os.environ.get("TOOLCRIB_LLAMA_VOCAB", "")
SERVER = Path(__file__).parents[1] / "servers" / "llama.py"
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not (PYTHON and VOCABULARY), reason="TOOLCRIB_LLAMA_PYTHON and _VOCAB are not set"
    ),
]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llama")
    with subprocess.Popen(
        [PYTHON, str(SERVER), VOCABULARY, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield f"{address}/v1"
        process.kill()


def saying(url: str, text: str, **agent: Any) -> dict[str, Any]:
    grammar = f"root ::= {json.dumps(text)}"
    return {"base_url": url, "seconds": 200, "extra": {"grammar": grammar}, **agent}


async def test_an_answer(llama: str, tmp_path: Path) -> None:
    async with box_of(None, tmp_path, agent=saying(llama, "It is plum.")) as box:
        result = await box.call("delegate_task", {"task": "which word?", "tools": ["none"]})
    assert (result.data["status"], result.data["answer"]) == ("completed", "It is plum.")
    assert result.data["model"].endswith("random.gguf")
    assert result.data["tokens"] > 0


async def test_a_call_in_the_text_after_tools_were_refused(llama: str, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("the word is plum\n")
    call = {"name": "read_file", "arguments": {"path": "notes.md"}}
    text = f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
    async with box_of(None, tmp_path, agent=saying(llama, text, steps=2)) as box:
        given = {"task": "which word?", "tools": ["read_file"]}
        result = await box.call("delegate_task", given)
        events = await box.use(AgentRuns).events(result.data["trace_id"])
    assert (result.data["status"], result.data["reason"]) == ("stalled", "step_limit"), (
        result.render()
    )
    assert result.data["tool_calls"] == 1
    assert "the word is plum" in result.data["answer"]
    assert [e.kind for e in events].count("result") == 1
    assert "tool_call" not in result.data["answer"]


async def test_a_deadline_in_mid_answer(llama: str, tmp_path: Path) -> None:
    long = "word " * 2000
    async with box_of(None, tmp_path, agent=saying(llama, long)) as box:
        given = {"task": "x", "tools": ["none"], "time_limit": 5}
        result = await box.call("delegate_task", given)
    assert result.data["status"] == "timeout"
    assert result.data["answer"].startswith("word")


def test_the_chat(llama: str, tmp_path: Path) -> None:
    grammar = json.dumps({"grammar": 'root ::= "It is plum."'})
    settings = (f"agent.base_url={llama}", f"agent.extra={grammar}")
    words = ["chat", "-p", "which word?", "--tools", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "toolcrib", *words, "--set", settings[0], "--set", settings[1]],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (done.returncode, done.stdout) == (0, "It is plum.\n"), done.stderr
