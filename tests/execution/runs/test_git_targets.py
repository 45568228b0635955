"""What the settings of git name is held for the user, however git comes to it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.execution.runs.conftest import Opened, RunBench, need_overlay

pytestmark = pytest.mark.timeout(180)
Cases = dict[str, tuple[str, str]]
IN_A_REPOSITORY: Cases = {
    "an included file": (
        "printf '[core]\\n\\thooksPath = inc/hooks\\n' > ../inc; git config include.path ../../inc",
        "inc/hooks/pre-commit",
    ),
    "an include of the user's own": (
        (
            "printf '[include]\\n\\tpath = ~/.gitwork ; work\\n' > ~/.gitconfig;"
            "printf '[core]\\n\\thooksPath = own/hooks\\n' > ~/.gitwork"
        ),
        "own/hooks/pre-commit",
    ),
    "a condition that does not hold now": (
        (
            "printf '[includeIf \"onbranch:other\"]\\n\\tpath = other.inc\\n' >> .git/config;"
            "printf '[core]\\n\\thooksPath = branch/hooks\\n' > .git/other.inc"
        ),
        "branch/hooks/pre-commit",
    ),
    "a name with a space": ("git config --add core.hooksPath 'my hooks'", "my hooks/pre-commit"),
    "an escape": (
        "printf '[core]\\n\\thooksPath = \"tab\\\\thooks\"\\n' >> .git/config",
        "tab\thooks/pre-commit",
    ),
    "from the home folder": ("git config --add core.hooksPath '~/ws/home'", "home/pre-commit"),
    "a nested repository": (
        "git init -q lib; git -C lib config core.hooksPath hk; mkdir -p lib/hk",
        "lib/hk/pre-commit",
    ),
    "a nested repository that names what lies elsewhere": (
        "git init -q lib2; git -C lib2 config core.fsmonitor ../shared/fsm; mkdir -p shared",
        "shared/fsm",
    ),
    "the side of a remote": ("git config --add remote.o.uploadpack ./tools/up", "tools/up"),
    "the side of a remote for pushes": (
        "git config --add remote.o.receivepack tools/rp",
        "tools/rp",
    ),
    "a monitor that is not there yet": ("git config --add core.fsmonitor ./tools/fsm", "tools/fsm"),
    "an alias": ("git config alias.st '!./tools/st'", "tools/st"),
    "an alias in an interpreter": ("git config alias.p '!python3 p.py'", "p.py"),
    "an alias with the top folder": (
        "git config alias.q '!\"$(git rev-parse --show-toplevel)\"/tools/q'",
        "tools/q",
    ),
    "one command in another": (
        'git config filter.n.clean \'sh "$(dirname "$(git rev-parse --git-dir)")/nested/c.sh"\'',
        "nested/c.sh",
    ),
    "an alias called as a command": ("git config alias.fetch '!tools/fetch'", "tools/fetch"),
    "a filter": ("git config filter.x.clean \"'tools/my clean' %f\"", "tools/my clean"),
    "an update of a module": ("git config submodule.s.update '!./tools/su'", "tools/su"),
    "a variable": ("git config alias.v '!$HOME/ws/tools/v'", "tools/v"),
    "an option": ("git config diff.x.textconv 'convert --filter=tools/conv'", "tools/conv"),
    "a pattern": ("git config alias.g '!for f in checks/*.sh; do sh $f; done'", "checks/b.sh"),
    "a pattern of folders": ("git config filter.g.clean 'sh g?obs*/f.sh'", "globs2/f.sh"),
    "a pattern with braces": (
        "git config alias.b 'run-parts {ci,qa}/[a-z]*/parts/'",
        "qa/x/parts/y",
    ),
    "a default": ("git config alias.d '!sh ${D:-defaults}/a.sh'", "defaults/a.sh"),
    "a variable in a word": ("git config alias.w '!sh words/$1/run.sh'", "words/x/run.sh"),
    "a pattern by a link": (
        "mkdir -p linked; ln -s linked ln; git config alias.l '!cat ln/*.md'",
        "linked/new.md",
    ),
    "a hook that is a link": ("ln -s ../../checks/pre-push .git/hooks/pre-push", "checks/pre-push"),
    "settings that are long": (
        (
            "for i in $(seq 4000); do echo '[branch \"b'$i'\"]'; echo ' remote = origin';"
            " echo ' merge = refs/heads/a-name-that-fills-it-up'; done >> .git/config;"
            "git config --add core.hooksPath last/hooks"
        ),
        "last/hooks/pre-commit",
    ),
}
PLAIN = (
    "main", "current", "origin/x", "vim", "https/h.org", "tools/other", "lib/plain",
    "refs/heads/main", "store", "me",
)  # fmt: skip
USUAL = {
    "init.defaultBranch": "main", "push.default": "current", "core.editor": "vim -u x",
    "remote.origin.url": "https://h.org/x", "remote.origin.fetch": "+refs/heads/*:refs/remotes/*",
    "credential.helper": "store", "user.name": "me", "safe.directory": "*", "color.ui": "auto",
    "branch.main.merge": "refs/heads/main", "lfs.fetchinclude": "tools/**", "alias.a": "!ls */* *",
    "alias.l": "!git log --format='%h %s' $1 -- */ ./*", "diff.x.xfuncname": "^[ \\t]*(a|b)/.*$",
    "log.excludeDecoration": "refs/remotes/*/HEAD", "alias.v": "!$SHELL ${1} $(x)/$2",
}  # fmt: skip


@pytest.fixture
def home(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(root.parent))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return root.parent


@pytest.fixture
async def bench(home: Path, opened: Opened) -> RunBench:
    """As elsewhere, with the home folder above the workspace."""
    made = opened()
    await need_overlay(made)
    return made


def prepare(folder: Path, script: str) -> None:
    subprocess.run(["/bin/sh", "-ec", script], cwd=folder, check=True)


def making(name: str) -> str:
    quoted = name.replace("\t", "$(printf '\\t')")
    return f'mkdir -p "$(dirname "{quoted}")"; echo x > "{quoted}"'


async def missed(bench: RunBench, root: Path, cases: Cases) -> list[str]:
    found = []
    for case, (script, name) in cases.items():
        prepare(root, script)
        if (await bench.changed(making(name))).state != "held":
            found.append(case)
    return found


async def test_it_is_held(bench: RunBench, root: Path) -> None:
    prepare(root, "git init -q")
    assert await missed(bench, root, IN_A_REPOSITORY) == []


async def test_it_is_held_where_git_is_not_there(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(root, "git init -q")
    programs = root.parent / "programs"
    programs.mkdir()
    cases = dict(list(IN_A_REPOSITORY.items())[::4])
    for script, _ in cases.values():
        prepare(root, script)
    monkeypatch.setenv("PATH", str(programs))
    for name in ("sh", "mkdir", "dirname", "bwrap"):
        (programs / name).symlink_to(Path("/usr/bin", name))
    names = [name for _, name in cases.values()]
    states = {name: (await bench.changed(making(name))).state for name in names}
    assert set(states.values()) == {"held"}, states


async def test_what_is_usual_in_settings_holds_nothing(bench: RunBench, root: Path) -> None:
    prepare(root, "git init -q; git init -q lib; mkdir store main")
    for key, value in USUAL.items():
        subprocess.run(["git", "config", key, value], cwd=root, check=True)
        subprocess.run(["git", "config", "--global", key, value], check=True)
    outcome = await bench.changed("; ".join([*map(making, PLAIN[:-2]), making("store/me")]))
    assert outcome.state == "applied", outcome.notes


async def test_a_repository_above_the_workspace(bench: RunBench, root: Path, home: Path) -> None:
    prepare(home, "git init -q; git config --add core.hooksPath ws/githk")
    assert (await bench.changed(making("githk/pre-commit"))).state == "held"
    assert (await bench.changed(making("other/pre-commit"))).state == "applied"


async def test_settings_where_variables_lead(
    bench: RunBench, root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(root, "git init -q; mkdir -p ../xdg/git")
    (home / "xdg/git/config").write_text("[core]\n\thooksPath = xh\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "tools/monitor")
    assert (await bench.changed(making("xh/pre-commit"))).state == "held"
    assert (await bench.changed(making("tools/monitor"))).state == "held"


async def test_settings_of_the_user_that_lie_in_the_workspace(
    bench: RunBench, root: Path, home: Path
) -> None:
    (root / "gitconfig").write_text("[user]\n\tname = me\n")
    (home / ".gitconfig").symlink_to(root / "gitconfig")
    assert (await bench.changed("echo x >> gitconfig")).state == "held"


async def test_listing_them_runs_nothing(bench: RunBench, root: Path) -> None:
    prepare(root, "git init -q")
    for key in ("core.fsmonitor", "core.pager", "pager.config", "alias.config", "core.sshCommand"):
        subprocess.run(["git", "config", key, "!touch owned"], cwd=root, check=True)
    os.mkfifo(root / ".git/pipe")
    prepare(root, "printf '[include]\\n\\tpath = pipe\\n' >> .git/config")
    assert (await bench.changed("echo x > plain")).state == "applied"
    assert not list(root.rglob("owned"))
