"""Names of other systems act with their own arguments, values and fixed arguments."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.contract.compat_calls import CALLS, FILES, LINES, Seen, fill
from tests.documents import pdfs
from tests.servers.github import DIFF, TOKEN, GitHub, github
from tests.servers.model import Turn, model_server
from tests.servers.scripted import Scripted, scripted
from tests.tools.web.pictures import png
from toolcrib import Toolbox
from toolcrib.core.compat import compat_tables
from toolcrib.core.errors import ToolError
from toolcrib.core.names import plain
from toolcrib.core.registry import Registry
from toolcrib.memory.activity import Activity
from toolcrib.toolbox import installed

pytestmark = pytest.mark.timeout(240)
TOOLS = {tool.name for tool in installed()}
TOGETHER = (
    *("run_background_command", "watch_directory", "list_watches", "get_sub_agent_result"),
    *("consult_secondary_agent", "interrupt_sub_agent", "browser_session_open"),
    *("browser_session_control", "browser_session_close"),
)
"""Names that are called in one conversation with those before them."""
LATER = ("get_session_summary", "list_sessions", "search_sessions", "restore_session_context")
"""Names that are about the conversation before theirs."""
SYSTEMS = compat_tables().systems


def test_each_name_of_a_tool_that_is_here_is_called(hint: Callable[[str], None]) -> None:
    """Who adds a tool adds a call of the names of it to `compat_calls.py`."""
    for system, namings in SYSTEMS.items():
        here = {short for short, naming in namings.items() if naming.tool in TOOLS}
        called = {plain(name) for name in CALLS[system]}
        assert called <= here, system
        for short in sorted(here - called):
            hint(f"tests/contract/compat_calls.py: a call of {namings[short].name}")


def test_each_name_of_a_tool_that_is_not_here_says_what_there_is_instead() -> None:
    registry = Registry(installed())
    for system, namings in SYSTEMS.items():
        for naming in namings.values():
            if naming.tool in TOOLS:
                continue
            for one in (registry, Registry(installed(), (), (system,))):
                error = one.unknown(naming.name, list(one))
                assert error.message.startswith("toolcrib has no "), naming.name
                assert error.hint == naming.instead or "run_command" in error.hint, naming.name


@pytest.mark.usefixtures("git_identity")
@pytest.mark.parametrize("listed", [True, False], ids=["listed", "as they come"])
@pytest.mark.parametrize("system", list(CALLS))
async def test_each_call_does_what_it_does_there(
    system: str, listed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The linter of lint_project is the one beside this interpreter.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    root = tmp_path / "work"
    failed: list[str] = []
    monkeypatch.setenv("TOOLCRIB_TEST_TOKEN", TOKEN)
    with scripted() as web, model_server(Turn("the model's answer")) as model, github() as hub:
        fill(web)
        profile = f"compat:{system},jobs,meta" if listed else "all"
        config = settings(web, tmp_path, {**model.config(), **on_github(hub)})
        async with Toolbox(config, profile=profile, workspace=root) as box:
            known = ""
            for name, steps in CALLS[system].items():
                if SYSTEMS[system][plain(name)].group == "browser" and not has_browser():
                    continue
                lay_out(root, anew=SYSTEMS[system][plain(name)].group == "git")
                if SYSTEMS[system][plain(name)].group == "documents":
                    (root / "report.pdf").write_bytes(pdfs.report())
                session = "all" if name in TOGETHER or "$id" in str(steps) else name
                if name == "save_session_summary":  # the last conversation, not one noted late
                    await box.use(Activity).flush()
                session = "later" if name in LATER else session
                for arguments, *checks in steps:
                    given = json.loads(
                        json.dumps(arguments).replace("$web", web.url).replace("$id", known)
                    )
                    result = await box.call(name, given, session=session)
                    code = result.error.code if result.error else ""
                    wanted = next((c for c in checks if isinstance(c, str)), "")
                    seen = Seen(result, root, web, model)
                    bad = [
                        at
                        for at, check in enumerate(checks)
                        if not isinstance(check, str) and not check(seen)
                    ]
                    if code != wanted or bad:
                        failed.append(f"{name} {given}: {code} {bad} {result.render()[:600]}")
                    if isinstance(result.data, dict):
                        known = str(result.data.get("id", known))
                if name == "run_in_terminal":  # beside it protected files stay as they are
                    ended = await box.call("stop_job", {"id": known}, session=session)
                    assert ended.error is None, ended.render()
    assert not failed, "\n".join(failed)


def has_browser() -> bool:
    """Whether this machine has a browser and what steers it."""
    if find_spec("playwright") is None:
        return False
    from toolcrib.browser.program import find_program

    try:
        return bool(find_program(""))
    except ToolError:
        return False


def on_github(hub: GitHub) -> dict[str, Any]:
    """Settings for a repository with an issue and a pull request."""
    repo = hub.repo("ann/x")
    repo.issue("A bug", labels=[{"name": "bug"}])
    repo.comment(1, "a remark")
    repo.diffs[repo.pull("A change")["number"]] = DIFF
    own = {"base_url": hub.api, "token_env": "TOOLCRIB_TEST_TOKEN", "repository": "ann/x"}
    return {"github": own}


def settings(web: Scripted, folder: Path, agent: dict[str, Any]) -> dict[str, Any]:
    own = {"base_url": web.url}
    return {
        **agent,
        "store": {"url": f"sqlite:///{folder}/store.db"},
        "policy": {"rules": [{"action": "allow"}]},
        "git": {"local_remotes": [f"{folder}/work/origin.git"]},
        "egress": {"allow_hosts": [web.origin], "retry": {"retries": 0}},
        "web": {
            "search": {"providers": ["searxng"], "gap_seconds": 0, "cache_seconds": 0},
            "images": {"providers": ["searxng_images"]},
            "fetch": {"host_gap_seconds": 0, "allow_hosts": [web.origin]},
            "providers": {"searxng": own, "searxng_images": own, "wikipedia": own},
        },
    }


def lay_out(root: Path, *, anew: bool) -> None:
    """The files of a call, in a repository with two commits and one change."""
    root.mkdir(exist_ok=True)
    if anew and (root / ".git").exists():
        shutil.rmtree(root / ".git")
    for old in root.iterdir():
        shutil.rmtree(old) if old.is_dir() and old.name != ".git" else None
        old.unlink() if old.is_file() else None
    for name, text in FILES.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (root / "dot.png").write_bytes(png())
    (root / "wide.png").write_bytes(png(8, 8))
    with closing(sqlite3.connect(root / "t.db")) as database, database:
        database.execute("CREATE TABLE t (name, age)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [("Anna", 30), ("Bert", 40)])
    if not (root / ".git").exists():
        (root / "a.txt").write_text(LINES.replace("two", "2"))
        (root / "b.txt").write_text(FILES["b.txt"].replace("five", "5"))
        git(root, "init", "-q")
        for message in ("first", "second"):
            git(root, "add", "b.txt" if message == "first" else ".")
            git(root, "commit", "-qm", message)
            git(root, "branch", "-f", "side")
        (root / "a.txt").write_text(LINES)
        (root / "b.txt").write_text(FILES["b.txt"])
        git(root, "add", "b.txt")
        git(root, "clone", "-q", "--bare", ".", "origin.git")
        git(root, "remote", "add", "origin", str(root / "origin.git"))


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
