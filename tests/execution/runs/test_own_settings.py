"""A workspace that holds the folder of our own settings: no run makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import Toolbox


async def test_no_background_run_makes_our_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    own = home / ".config/toolcrib"
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(own / "config.toml"))
    evil = "mkdir -p t/tools; echo evil > t/tools/evil.py; mkdir -p .config; mv t .config/toolcrib"
    script = f"{evil} 2>&1; cp -r t .config/toolcrib/tools 2>&1; echo tried"
    config = {"store": {"url": f"sqlite:///{tmp_path}/store.db"}}
    async with Toolbox(config, workspace=home) as box:
        started = await box.call("run_command", {"command": script, "background": True})
        assert started.error is None, started.render()
        assert isinstance(started.data, dict)
        arguments = {"id": started.data["id"], "wait": "exit", "timeout": 30}
        done = (await box.call("read_job", arguments)).render()
    assert "tried" in done, done
    assert not list(own.rglob("*"))
