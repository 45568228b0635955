"""New links of a run are judged by where they lead: the user's own programs follow them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import Opened, RunBench, need_overlay
from toolcrib.execution.runs.triggers import BY_A_LINK, GIT_SETTINGS, ON_PATH
from toolcrib.files.changes.links import (
    LEADS_OUT,
    LEADS_TO_HOLDER,
    LEADS_TO_PROTECTED,
    TOO_LONG,
)

TO_WHAT_IS_PROTECTED = {
    "a secret": "ln -s .env made",
    "a secret from a folder": "mkdir pub; ln -s ../conf/server.key pub/made",
    "a secret that is not there": "ln -s conf/.env.local made",
    "an absolute path": 'ln -s "$PWD/.env" made',
    "settings of git": "ln -s .git/config made",
    "hooks": "ln -s .git/hooks/pre-commit made",
    "a repository": "ln -s .git made",
    "what git keeps": "ln -s .git/refs/heads/main made",
    "a folder of an editor": "ln -s .vscode/tasks.json made",
    "by another link of the run": "ln -s step made; ln -s conf/server.key step",
    "by a folder of the run": "ln -s step/server.key made; ln -s conf step",
    "by a link that was there": "ln -s there/made/../server.key x; ln -s there/server.key made",
    "in the place of a file": "rm plain; ln -s .env plain",
    "in the place of a link": "ln -sfn .env to_plain",
    "by one that is not made": "ln -sfn .aws there; ln -s there/server.key made",
    "in the scratch of dependencies": "mkdir -p venv/.cache; ln -s ../../.env venv/.cache/x",
}
TO_A_HOLDER = {
    "the folder itself": "ln -s conf made",
    "all": "ln -s . made",
    "what lies above": "mkdir sub; ln -s .. sub/made",
    "by a link that was there": "ln -s there made",
    "in the scratch of dependencies": "mkdir -p venv/.cache; ln -s ../.. venv/.cache/x",
}
HARMLESS = {
    "a file": "ln -s plain made",
    "a folder": "mkdir -p new/a; ln -s new/a made",
    "a file that is to come": "ln -s later made",
    "a file beside a secret": "ln -s conf/app.toml made",
    "a folder with a secret that begins with a dot": "mkdir dots; ln -s dots made",
    "a link of the user, moved": "mv there made",
    "a package of the workspace": "mkdir vendor; ln -s ../conf vendor/conf; ln -s plain made",
    "a circle": "ln -s other made; ln -s made other",
    "the same link anew": "rm to_env; ln -s .env to_env; ln -s plain made",
    "a program of the system": "ln -s /usr/bin/env made",
}


@pytest.fixture
def full(root: Path) -> Path:
    """A workspace with what is protected in it, and links of the user's own."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in ("conf", ".vscode"):
        (root / name).mkdir()
    for name in (".env", "top.pem", "conf/server.key", "conf/app.toml", "plain"):
        (root / name).write_text(f"{name}\n")
    for name, target in {"there": "conf", "to_env": ".env", "to_plain": "plain"}.items():
        (root / name).symlink_to(target)
    return root


def links(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_symlink())
    return {str(path.relative_to(root)): os.readlink(path) for path in found}


@each_case("script", TO_WHAT_IS_PROTECTED.values(), ids=TO_WHAT_IS_PROTECTED)
async def test_to_what_is_protected(bench: RunBench, full: Path, script: str) -> None:
    before = links(full)
    outcome = await bench.changed(f"{script}; echo 1 > beside")
    assert LEADS_TO_PROTECTED.removeprefix("a ") in str(outcome.notes).replace("links", "link")
    assert (full / "beside").exists()
    assert not os.path.lexists(full / "made")
    assert links(full).items() <= before.items()


@each_case("script", TO_A_HOLDER.values(), ids=TO_A_HOLDER)
async def test_to_a_folder_that_holds_it(bench: RunBench, full: Path, script: str) -> None:
    before = links(full)
    outcome = await bench.changed(script)
    assert LEADS_TO_HOLDER in str(outcome.notes)
    assert links(full) == before


@each_case("script", HARMLESS.values(), ids=HARMLESS)
async def test_links_that_do_no_harm(bench: RunBench, full: Path, script: str) -> None:
    outcome = await bench.changed(f"rm -f made; {script}")
    assert outcome.state == "applied", outcome.notes
    assert "made" in links(full), outcome.notes
    assert links(full)["to_env"] == ".env"


async def test_from_one_release_to_the_next(bench: RunBench, full: Path) -> None:
    (full / "next").mkdir()
    (full / "next/server.key").write_text("a key\n")
    assert (await bench.changed("ln -sfn next there")).state == "applied"
    assert links(full)["there"] == "next"


async def test_very_long_ones(bench: RunBench, bare: RunBench, full: Path) -> None:
    """Of more names than anything here goes through by recursion."""
    script = "python3 -c \"import os; os.symlink('a/' * 2000 + 'x', 'made')\"; echo 1 > AGENTS.md"
    outcome = await bench.changed(script)
    assert outcome.state == "held"
    assert TOO_LONG in str(outcome.notes)
    outcome = await bare.changed(script)
    assert "instructions of coding agents" in str(outcome.notes)
    assert not os.path.lexists(full / "made")


async def test_packages_of_a_workspace_are_linked(bench: RunBench, full: Path) -> None:
    outcome = await bench.changed("mkdir node_modules; ln -s ../conf node_modules/conf")
    assert outcome.state == "held"
    assert LEADS_TO_HOLDER not in str(outcome.notes)


async def test_out_by_a_link_that_was_there(bench: RunBench, full: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (full / "data").symlink_to(tmp_path / "elsewhere")
    outcome = await bench.changed("ln -s data/log.txt made")
    assert LEADS_OUT in str(outcome.notes)
    assert "made" not in links(full)


async def test_a_program_that_its_user_may_change(
    bench: RunBench, full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a Python in the home folder: what is written to such a link changes it."""
    prefix = tmp_path / "python"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python3").write_text("")
    monkeypatch.setattr("toolcrib.files.changes.links.sys.base_prefix", str(prefix))
    outcome = await bench.changed(
        f"mkdir -p env/bin; ln -s {prefix}/bin/python3 env/bin/python3;"
        f"ln -s {prefix}/lib/os.py log.txt; ln -s {prefix}/bin/python3 also"
    )
    assert set(links(full)) == {"there", "to_env", "to_plain", "env/bin/python3"}
    assert LEADS_OUT.replace("a link", "links") in str(outcome.notes)


async def test_they_are_removed_where_a_run_sees_the_files(bare: RunBench, full: Path) -> None:
    before = links(full)
    outcome = await bare.changed("ln -s .env made; ln -s . all; ln -s plain fine")
    assert links(full) == before | {"fine": "plain"}
    assert LEADS_TO_PROTECTED in str(outcome.notes)
    assert "taken away" in str(outcome.notes)


HELD = {
    "to instructions": ("ln -s AGENTS.md notes.md", "by a link: instructions of coding agents"),
    "to a program of git": ("ln -s tools/monitor log.txt", f"by a link: {GIT_SETTINGS}"),
    "in the place of a folder of hooks": ("ln -s own own_hooks", GIT_SETTINGS),
    "above a folder of hooks": ("mkdir payload; ln -s payload deep", BY_A_LINK),
    "in the place of a folder on PATH": ("mkdir payload; ln -s payload bin", ON_PATH),
    "above a folder on PATH": ("mkdir payload; ln -s payload far", ON_PATH),
    "in the place of a relative one": ("mkdir payload sub; ln -s ../payload sub/scripts", ON_PATH),
    "above a relative one": ("mkdir payload; ln -s payload vendor", ON_PATH),
    "in one above": ("mkdir -p up/tools; echo 1 > up/tools/ls", ON_PATH),
    "in a relative folder on PATH": ("mkdir -p sub/scripts; echo 1 > sub/scripts/ls", ON_PATH),
}


@pytest.fixture
async def aimed(
    opened: Opened, full: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> RunBench:
    """One whose user has programs of git, and folders on PATH, that are not there yet."""
    for key, value in {
        "core.hooksPath": "own_hooks",
        "core.fsmonitor": "tools/monitor",
        "alias.x": "!deep/down/x",
    }.items():
        subprocess.run(["git", "-C", str(full), "config", key, value], check=True)
    folders = (
        f"{full}/bin",
        f"{full}/far/bin",
        "scripts",
        "vendor/bin",
        "../up/tools",
        os.environ["PATH"],
    )
    monkeypatch.setenv("PATH", ":".join(folders))
    (tmp_path / "linked").symlink_to(full)
    bench = opened()
    await need_overlay(bench)
    return bench


@each_case("script, kind", HELD.values(), ids=HELD)
async def test_links_by_which_programs_act(aimed: RunBench, script: str, kind: str) -> None:
    outcome = await aimed.changed(script)
    assert outcome.state == "held", outcome.notes
    assert f"({kind}): " in str(outcome.notes)


LINKED = {
    "hooks": ("core.hooksPath", "hk"),
    "included settings": ("include.path", "../hk/settings"),
    "a monitor": ("core.fsmonitor", "./hk/monitor"),
}


@each_case("key, value", LINKED.values(), ids=LINKED)
async def test_links_on_the_way_to_what_git_runs(
    bench: RunBench, full: Path, key: str, value: str
) -> None:
    """The user's own link leads by another one, which the run exchanges."""
    for name in ("v1/k", "v2/k"):
        (full / name).mkdir(parents=True, exist_ok=True)
    for name, target in {"hk": "a/k", "a": "v1"}.items():
        if not (full / name).is_symlink():
            (full / name).symlink_to(target)
    subprocess.run(["git", "-C", str(full), "config", key, value], check=True)
    outcome = await bench.changed("ln -sfn v2 a")
    assert outcome.state == "held", outcome.notes
    assert GIT_SETTINGS in str(outcome.notes)
    subprocess.run(["git", "-C", str(full), "config", "--unset", key], check=True)
    assert (await bench.changed("ln -sfn v2 a; ln -sfn v1 a")).state != "held"


async def test_a_link_on_the_way_of_path(
    opened: Opened, full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("v1", "v2"):
        (full / name / "bin").mkdir(parents=True)
    (full / "current").symlink_to("v1")
    monkeypatch.setenv("PATH", f"{full}/current/bin:{os.environ['PATH']}")
    bench = opened()
    await need_overlay(bench)
    outcome = await bench.changed("ln -sfn v2 current")
    assert outcome.state == "held"
    assert ON_PATH in str(outcome.notes)


async def test_plain_ones_beside_them(aimed: RunBench, full: Path) -> None:
    outcome = await aimed.changed(
        "mkdir other; ln -s other also; echo 1 > other/ls; chmod +x other/ls"
    )
    assert outcome.state == "applied", outcome.notes


async def test_a_search_path_with_the_current_folder(
    opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:")
    bench = opened()
    await need_overlay(bench)
    assert (await bench.changed("mkdir a; echo 1 > a/plain")).state == "applied"
    outcome = await bench.changed("echo 1 > a/sl; chmod +x a/sl")
    assert outcome.state == "held"
    assert ON_PATH in str(outcome.notes)


async def test_a_root_that_is_a_link(root: Path, tmp_path: Path) -> None:
    """What settings of git name is compared by where it is, not by how the user spells it."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "config", "core.hooksPath", "hk"], check=True)
    (tmp_path / "linked").symlink_to(root)
    bench = RunBench.on(tmp_path / "linked")
    assert isinstance(bench, RunBench)
    try:
        await need_overlay(bench)
        outcome = await bench.changed("mkdir hk; echo 1 > hk/pre-commit")
        assert outcome.state == "held"
        assert GIT_SETTINGS in str(outcome.notes)
    finally:
        await bench.services.close()


OWN_LINKS = {
    "a folder of an editor": (".theia", "real", "date +%N > real/settings.json"),
    "a protected one": (".vscode", "real", "echo x > real/tasks.json"),
    "a folder above": (".github", "gh", "mkdir -p gh/workflows; echo x > gh/workflows/ci.yml"),
    "a file": ("AGENTS.md", "docs/rules.md", "mkdir -p docs; echo x > docs/rules.md"),
    "one in a folder": ("app/.idea", "../real", "date +%N > real/workspace.xml"),
    "an ignore file": (".dockerignore", "real/ign", "echo x > real/ign"),
    "dependencies": ("node_modules", "real", "echo x > real/p.js"),
    "led on": (".theia", "step", "mkdir -p other; ln -sfn other step"),
    "a link in the place of a folder above": ("AGENTS.md", "d/r.md", "mkdir -p e; ln -s e d"),
    "by another": (".theia", "step", "date +%N > real/settings.json"),
}


@each_case("name,target,script", OWN_LINKS.values(), ids=OWN_LINKS)
async def test_where_the_users_links_lead_is_held(
    bench: RunBench, root: Path, name: str, target: str, script: str
) -> None:
    """Programs act on it by the name of the link."""
    (root / "real").mkdir(exist_ok=True)
    (root / "app").mkdir(exist_ok=True)
    (root / "step").unlink(missing_ok=True)
    (root / "step").symlink_to("real")
    (root / name).symlink_to(target)
    outcome = await bench.changed(script)
    (root / name).unlink()
    assert outcome.state == "held", outcome.notes
    assert f"by the link {name}" in str(outcome.notes) or BY_A_LINK in str(outcome.notes)
    assert (await bench.changed(script)).state == "applied"


async def test_where_links_of_a_folder_on_path_lead_is_held(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{root}/bin{os.pathsep}{os.environ['PATH']}")
    for name in ("bin", "src"):
        (root / name).mkdir()
    (root / "bin/tool").symlink_to("../src/tool.py")
    outcome = await bench.changed("echo x > src/tool.py")
    assert outcome.state == "held", outcome
    assert f"by the link bin/tool: {ON_PATH}" in str(outcome.notes)
    assert (await bench.changed("echo x > src/other.py")).state == "applied"


async def test_a_question_says_where_a_link_leads(bench: RunBench, root: Path) -> None:
    outcome = await bench.changed("echo x > notes.md; ln -s notes.md AGENTS.md; chmod +x notes.md")
    lines = outcome.preview.splitlines()
    assert "created AGENTS.md (a link to notes.md)" in lines
    assert "created notes.md (+1 -0, it can be run now)" in lines
    (root / "CLAUDE.md").write_text("x\n")
    outcome = await bench.changed("chmod +x CLAUDE.md")
    assert "changed CLAUDE.md (it can be run now)" in outcome.preview.splitlines()


async def test_where_links_of_the_home_folder_lead_is_held(
    bench: RunBench, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As people have their settings in a repository of their own."""
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for name in ("rc", "fish", "notes"):
        (root / name).mkdir()
    (home / ".bashrc").symlink_to(root / "rc/bashrc")
    (home / ".config/fish").symlink_to(root / "fish")
    (home / "notes").symlink_to(root / "notes")
    (home / ".ssh").mkdir()
    (home / ".ssh/config").symlink_to(root / "rc/ssh")
    (home / ".config/Code/User").mkdir(parents=True)
    (home / ".config/Code/User/settings.json").symlink_to(root / "rc/code")
    # Developers link whole projects there, for a package manager or an editor.
    (home / ".config/yarn/link").mkdir(parents=True)
    (home / ".config/yarn/link/notes").symlink_to(root / "notes")
    for place in ("rc/bashrc", "fish/config.fish", "rc/ssh", "rc/code"):
        outcome = await bench.changed(f"echo x > {place}")
        assert outcome.state == "held", outcome
        assert "by the link" in str(outcome.notes)
    assert (await bench.changed("echo x > notes/a; echo x > rc/other")).state == "applied"


async def test_two_links_to_one_folder(bench: RunBench, root: Path) -> None:
    (root / "shared").mkdir()
    for name in (".github", ".config"):
        (root / name).symlink_to("shared")
    outcome = await bench.changed("mkdir shared/workflows; echo x > shared/workflows/ci.yml")
    assert outcome.state == "held", outcome
    outcome = await bench.changed("mkdir shared/git; echo x > shared/git/config")
    assert outcome.state == "held", outcome
