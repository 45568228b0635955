"""The steps of the Dockerfile, run in an empty folder in the place of an image."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.conditions import until
from tests.conftest import absent
from tests.deploy.files import ROOT, steps

SYSTEM = ("apt-get ", "useradd ")
"""Beginnings of steps that are the system's: they take root and change it."""
PLACES = re.compile(r"(?<![\w.])/(?=(?:build|opt|workspace|data)\b)")
TOKEN = "0123456789abcdef0123"


class Image:
    """A folder that stands for the root of an image, and what the steps have set so far."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root
        self.left: list[str] = []
        self.variables = {
            name: value for name, value in os.environ.items() if not name.startswith("TOOLCRIB_")
        }
        # The interpreter of the base image.
        base = root / "usr" / "bin"
        base.mkdir(parents=True)
        (base / "python3").symlink_to(Path(sys.executable).resolve())
        self.variables["PATH"] = f"{base}{os.pathsep}{os.environ['PATH']}"

    def here(self, text: str) -> str:
        """A text with the places of the image as those of the folder."""
        return PLACES.sub(f"{self.root}/", text)

    def command(self, word: str, rest: str) -> list[str] | None:
        """What an instruction says to run, else None."""
        if word in ("ENTRYPOINT", "CMD"):
            words: list[str] = json.loads(rest)
            return words
        if word == "HEALTHCHECK":
            found: list[str] = json.loads(rest.removeprefix("CMD "))
            return found
        return None

    def take(self, word: str, rest: str) -> None:
        """Do one step."""
        if word == "FROM":
            assert rest.startswith("python:3.")
            self.folder = self.root
        elif word == "WORKDIR":
            self.folder = Path(self.here(rest))
            self.folder.mkdir(parents=True, exist_ok=True)
        elif word == "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                value = value.replace("$PATH", self.variables["PATH"])
                self.variables[name] = self.here(value)
        elif word == "COPY":
            self._copy(rest)
        elif word == "RUN":
            if rest.startswith(SYSTEM):
                self.left.append(rest)
                return
            ran = subprocess.run(
                ["sh", "-c", self.here(rest)],
                cwd=self.folder,
                env=self.variables,
                capture_output=True,
                text=True,
            )
            if ran.returncode and "No matching distribution" in ran.stderr:
                absent(f"nothing can be installed here: {ran.stderr[-300:]}")
            assert ran.returncode == 0, f"{rest}\n{ran.stderr[-2000:]}"
        else:
            assert word in ("USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD", "HEALTHCHECK")

    def _copy(self, rest: str) -> None:
        *sources, target = rest.split()
        if sources[0].startswith("--from"):
            assert Path(self.here(sources[1])).is_dir()
            assert sources[1] == target
            return
        for source in sources:
            place = self.folder / (target if (ROOT / source).is_dir() else source)
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, place, ignore=ignored)
            else:
                shutil.copy(ROOT / source, place)


@pytest.mark.timeout(900)
async def test_its_steps_make_a_server_that_is_healthy(tmp_path: Path) -> None:
    image = Image(tmp_path)
    reported = steps((ROOT / "Dockerfile").read_text("utf-8"))
    for word, rest in reported:
        image.take(word, rest)
    assert [step.split()[0] for step in image.left] == ["apt-get", "useradd"]
    # The step that makes the user makes these too.
    for folder in ("workspace", "data"):
        (tmp_path / folder).mkdir(exist_ok=True)
    commands = {word: image.command(word, rest) or [] for word, rest in reported}
    variables = {
        **image.variables,
        "TOOLCRIB_TOKEN": TOKEN,
        "TOOLCRIB_HTTP__PORT": "0",
        "TOOLCRIB_HTTP__HOST": "127.0.0.1",
        "TOOLCRIB_CONFIG": str(tmp_path / "none.toml"),
    }
    (tmp_path / "none.toml").touch()
    program = shutil.which(commands["ENTRYPOINT"][0], path=variables["PATH"])
    assert program == f"{tmp_path}/opt/toolcrib/bin/toolcrib"
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(
            program, *commands["CMD"], cwd=image.folder, env=variables, stderr=file
        )
    try:
        await until(lambda: "/docs" in log.read_text() or process.returncode is not None)
        assert process.returncode is None, log.read_text()
        found = re.search(r"http://127.0.0.1:\d+", log.read_text())
        assert found
        check = [
            part.replace("http://127.0.0.1:8722", found[0]) for part in commands["HEALTHCHECK"]
        ]
        assert found[0] in " ".join(check)
        healthy = await asyncio.create_subprocess_exec(*check, env=variables)
        assert await healthy.wait() == 0
        async with httpx2.AsyncClient(
            base_url=found[0], headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ) as client:
            arguments = {"path": "a.txt", "content": "from the image"}
            answer = await client.post("/tools/write_file", json=arguments)
            assert answer.status_code == 200, answer.text
        assert (tmp_path / "workspace" / "a.txt").read_text() == "from the image"
        assert list((tmp_path / "data").iterdir())
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
