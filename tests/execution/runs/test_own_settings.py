"""Settings of our own in the workspace, and what the user's start files name there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import RunBench
from toolcrib import Toolbox
from toolcrib.files.start_files import START_FILE


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


@pytest.fixture
def start_files(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    (home / ".bashrc").write_text(
        f". {root}/aliases.sh\nalias w='cd {root}/src'\nexport PROJECT={root}/src/a.txt\n"
        f'export PATH="{root}/tools:$PATH"\n'
    )
    (home / ".ssh/config").write_text(f"Host x\n  ProxyCommand {root}/px.sh %h\n")
    for folder in ("src", "bin", "env", "sub"):
        (root / folder).mkdir()
    (root / ".envrc").write_text(
        ". ./env/dev.sh\nsource_env_if_exists env/local.sh\nPATH_add bin\ndotenv env/dev.vars\n"
        'watch_file package.json\ncd src\nexport A=Makefile\neval "$(python3 env/gen.py)"\n'
    )
    starts = {
        ".zshenv": 'export ZDOTDIR="$HOME/.config/zsh"\n',
        ".config/zsh/.zshrc": f"path=({root}/zbin $path)\nsource {root}/z.zsh\n",
        ".config/fish/conf.d/p.fish": f"source {root}/e.fish\nfish_add_path {root}/fbin\n",
        ".emacs.d/init.el": f'(load "{root}/t.el")\n(add-to-list \'load-path "{root}/lisp")\n',
        ".vim/vimrc": f"set rtp+={root}/plug\n",
        ".config/nvim/init.lua": f'dofile("{root}/n.lua")\n',
        ".gdbinit": f'python sys.path.insert(0, os.path.expanduser("{root}/gdb"))\n',
        ".bash_profile": f"cd {root}/at && . ./in.sh\n",
        ".profile": f"cd {root}/at\nif true; then . lib/p.sh; fi\n",
    }
    for name, text in starts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    with (home / ".ssh/config").open("a") as config:
        config.write("Include ../../ws/ssh.conf\n")
    (root / "apps/web").mkdir(parents=True)
    (root / "apps/web/.envrc").write_text("source ./deep.sh\n")
    (root / "sub/.envrc").write_text("source x.sh\nlayout python3\n")


NAMED = ["aliases.sh", "px.sh", "env/dev.sh", "env/local.sh", "bin/git", "env/dev.vars"]
NAMED += ["env/gen.py", "sub/x.sh", "tools/ls", "z.zsh", "zbin/ls", "e.fish", "fbin/ls", "t.el"]
NAMED += ["lisp/a.el", "plug/plugin/x.vim", "n.lua", "gdb/printers.py", "at/in.sh", "at/lib/p.sh"]
NAMED += ["ssh.conf", "apps/web/deep.sh"]


@each_case("name", NAMED)
@pytest.mark.usefixtures("start_files")
async def test_what_start_files_name_is_held(bench: RunBench, name: str) -> None:
    folder = Path(name).parent
    held = await bench.changed(f"mkdir -p {folder}; echo x > {name}")
    assert START_FILE in str(held.notes)
    by_a_link = await bench.changed(f"mkdir -p {folder}; echo x > y; ln -s $PWD/y {name}")
    assert by_a_link.state == "held"


@pytest.mark.usefixtures("start_files")
async def test_what_they_do_not_run_is_made(bench: RunBench) -> None:
    names = "package.json Makefile src/a.txt env/other.sh sub/package.json x.sh python3"
    names += " apps/web/other.sh at/out.sh apps/deep.sh in.sh zsh.txt"
    outcome = await bench.changed(f"mkdir -p at; for n in {names}; do echo x > $n; done")
    assert outcome.state == "applied", outcome.notes
    moved = await bench.changed("mkdir new; mv env old; ln -s new env")
    assert moved.state == "held"
