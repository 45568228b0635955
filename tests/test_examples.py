"""The examples run as they stand."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.cases import each_case
from tests.servers.scripted import Answer, scripted
from toolcrib import Toolbox

EXAMPLES = Path(__file__).parents[1] / "examples"


@each_case("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_it_compiles(path: Path) -> None:
    compile(path.read_text(encoding="utf-8"), path.name, "exec")


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], check=False, capture_output=True, text=True, timeout=25
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    (folder / "b.bin").write_bytes(bytes(100))
    out = run(str(EXAMPLES / "library.py"), str(folder))
    assert "inner/" in out
    assert "\na.txt\none\ntwo\nthree\n[lines 1-3 of 4]\n" in out
    assert "(b.bin: binary file, 100 bytes; it is not text.)" in out


def test_a_loop_of_your_own() -> None:
    call = {"id": "c1", "function": {"name": "list_directory", "arguments": "{}"}}
    turns = [{"role": "assistant", "tool_calls": [call]}, {"content": "Done."}]
    answer = runpy.run_path(str(EXAMPLES / "own_loop.py"))["answer"]
    with scripted() as server:

        def serve(_: object) -> Answer:
            message = turns[server.count("/v1/chat/completions") - 1]
            return Answer(json.dumps({"choices": [{"message": message}]}), kind="application/json")

        server["/v1/chat/completions"] = serve
        assert answer(f"{server.url}/v1", "m", "What is here?") == "Done."
        assert server.count("/v1/chat/completions") == 2


def test_web_research(tmp_path: Path) -> None:
    with scripted() as server:
        found = {"title": "Lichens", "url": f"{server.url}/lichens", "content": "On lichens."}
        server["/search"] = Answer(json.dumps({"results": [found]}), kind="application/json")
        text = "<h1>Lichens</h1><h2>Water</h2><p>Lichens on bare rock live of dew.</p>"
        server["/lichens"] = Answer(f"<title>All on lichens</title>{text}")
        config = tmp_path / "config.toml"
        config.write_text(
            f"""
            [egress]
            allow_hosts = ["{server.origin}"]
            [web.search]
            providers = ["searxng"]
            gap_seconds = 0
            [web.providers.searxng]
            base_url = "{server.url}"
            """
        )
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "web_research.py"), "How do lichens live on rock?"],
            check=False,
            capture_output=True,
            text=True,
            timeout=50,
            env={**os.environ, "TOOLCRIB_CONFIG": str(config)},
        )
    assert done.returncode == 0, done.stderr
    assert f"[1] All on lichens \n    {server.url}/lichens\n" in done.stdout
    assert "    Lichens > Water: Lichens on bare rock live of dew.\n" in done.stdout


@each_case("name", ["langchain_tools", "pydantic_ai_agent"])
def test_bridges_hand_the_tools_over(name: str) -> None:
    """They need the other library; without it only their form is looked at."""
    module = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    if find_spec({"langchain_tools": "langchain_core"}.get(name, "pydantic_ai")) is not None:
        box = Toolbox(profile="files")
        assert {tool.name for tool in module["tools_of"](box)} >= {"read_file"}


def test_a_model_that_cannot_be_had_is_said(tmp_path: Path) -> None:
    for words, reply in (
        ([str(tmp_path / "none.gguf")], ("There is no file", "pip install xllamacpp")),
        ([], ("GGUF",)),
    ):
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "local_model.py"), *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=25,
        )
        assert done.returncode == 1
        assert any(part in done.stderr for part in reply)
        assert "Traceback" not in done.stderr
