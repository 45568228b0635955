"""What is protected cannot be read by a run, wherever it may read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from toolcrib import Toolbox

pytestmark = pytest.mark.timeout(120)
SECRET = "s3cr3t-t0k3n"
COMMIT = ("-c", "user.email=x@y", "commit", "-qm", "one")


@pytest.fixture(autouse=True)
def strong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_RUN__LEVEL", "strong")


def program(folder: Path, name: str = "hello") -> Path:
    """A folder of programs, on the user's PATH."""
    folder.mkdir(parents=True)
    (folder / name).write_text("#!/bin/sh\necho hello\n")
    (folder / name).chmod(0o755)
    return folder


def on_path(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]))


async def output(box: Toolbox, command: str) -> str:
    return (await box.call("run_command", {"command": command})).render()


async def test_in_an_application_only_what_is_protected_is_hidden(
    box: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = tmp_path / "app"
    on_path(monkeypatch, program(app / "bin"))
    (app / "settings.txt").write_text("plain\n")
    (app / "deep/er").mkdir(parents=True)
    for place in (".env", "deep/er/server.key", "deep/id_rsa", "deep/.credentials.json.swp"):
        (app / place).write_text(SECRET)
    assert "hello" in await output(box, "hello")
    found = await output(box, f"cat {app}/settings.txt; find {app} -type f -exec cat {{}} +")
    assert "plain" in found
    assert SECRET not in found


async def test_a_project_in_the_home_folder_is_not_readable_for_its_bin(
    box: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    other, environment = home / "other", home / "elsewhere/env"
    on_path(
        monkeypatch,
        program(other / "bin"),
        program(environment / "bin", "python-tool"),
        program(home / ".cargo/bin", "cargo-tool"),
    )
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (other / "customers.csv").write_text(SECRET)
    (home / ".cargo/credentials.toml").write_text(SECRET)
    found = await output(box, f"python-tool && cargo-tool; find {home} -type f -exec cat {{}} +")
    assert found.count("hello") >= 2, "known toolchains work"
    assert SECRET not in found
    assert "customers" not in await output(box, f"ls -R {home}")


async def test_in_a_folder_that_the_user_opened(tmp_path: Path) -> None:
    folder, work = tmp_path / "data", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    (folder / "table.csv").write_text("1,2\n")
    (folder / ".env").write_text(SECRET)
    settings = {"run": {"readable": [str(folder)]}, "store": {"url": "sqlite://"}}
    async with Toolbox(settings, workspace=work) as box:
        found = await output(box, f"cat {folder}/table.csv {folder}/.env")
    assert "1,2" in found
    assert SECRET not in found


async def test_a_folder_is_read_by_the_name_that_the_user_gave(tmp_path: Path) -> None:
    folder, link, work = tmp_path / "data", tmp_path / "links" / "name", tmp_path / "work"
    for each in (folder, link.parent, work):
        each.mkdir()
    (folder / "table.csv").write_text("one,two")
    link.symlink_to("../data")
    settings = {"run": {"readable": [str(link)]}, "store": {"url": "sqlite://"}}
    async with Toolbox(settings, workspace=work) as box:
        for place in (link, folder):
            assert "one,two" in await output(box, f"cat {place}/table.csv")


async def test_a_link_that_comes_before_the_first_run_is_not_followed(tmp_path: Path) -> None:
    folder, secrets, work = tmp_path / "data", tmp_path / "secrets", tmp_path / "work"
    for each in (folder, secrets, work):
        each.mkdir()
    (secrets / "table.csv").write_text(SECRET)
    settings = {"run": {"readable": [str(folder)]}, "store": {"url": "sqlite://"}}
    async with Toolbox(settings, workspace=work) as box:
        folder.rmdir()
        folder.symlink_to(secrets)
        found = await output(box, f"cat {folder}/table.csv {secrets}/table.csv")
    assert SECRET not in found
    assert "of run.readable is left out" in found


async def test_git_works_without_the_tokens_in_its_settings(box: Toolbox) -> None:
    work = Path(box.config.workspace.roots[0])
    for place, line in (
        (work, f"[remote 'origin']\n\turl = https://me:{SECRET}@example.com/x.git\n"),
        (work / "sub", f"[http]\n\textraheader = AUTHORIZATION: basic {SECRET}\n"),
    ):
        subprocess.run(["git", "init", "-q", place], check=True)
        with (place / ".git/config").open("a") as file:
            file.write(line.replace("'", '"') + "[user]\n\tname = A\n\temail = a@example.com\n")
    command = (
        "cat .git/config sub/.git/config; git config remote.origin.url; "
        "echo x > f; git add f; git commit -qm one; git log --oneline"
    )
    found = await output(box, command)
    assert SECRET not in found
    assert "https://example.com/x.git" in found
    assert " one" in found
    assert "hold credentials" in await output(box, "git remote add other https://example.com/y")
    assert SECRET in (work / ".git/config").read_text()
    log = subprocess.run(["git", "log", "--oneline"], cwd=work, capture_output=True, text=True)
    assert " one" in log.stdout


async def test_nor_do_programs_on_in_the_background_read_them(box: Toolbox) -> None:
    work = Path(box.config.workspace.roots[0])
    subprocess.run(["git", "init", "-q", work], check=True)
    with (work / ".git/config").open("a") as file:
        file.write(f'[url "https://{SECRET}@example.com/"]\n\tinsteadOf = x:\n')
    command = "cat .git/config; git status; echo done"
    started = await box.call("run_command", {"command": command, "background": True})
    job = started.data["id"]
    ended = await box.call("read_job", {"id": job, "wait": "exit"})
    assert "insteadOf" in ended.render()
    assert "done" in ended.render()
    assert SECRET not in ended.render()


# Settings of git as people and CI systems write them: the token stands in each, and the rest stays.
FORMS = {
    "a remote": '[remote "o"]\n\turl = https://me:{}@example.com/x.git\n\tpushurl = x:y\n',
    "an odd password": '[remote "o"]\n\turl = "https://me:p w@{}@example.com/x.git"\n',
    "insteadOf": '[url "https://me:{}@example.com/"]\n\tinsteadOf = https://example.com/\n',
    "a proxy": "[http]\n\tproxy = me:{}@proxy.example.com:3128\n",
    "a header on the line of its section": "[http] extraHeader = AUTHORIZATION: basic {}\n",
    "a header of a host": '[http "https://x/"]\n\textraheader = "A: \\\n{}"\n',
    "a helper": '[credential "https://x"]\n\thelper = "!f() {{ echo password={}; }}; f"\n',
    "a helper in lines": '[credential]\n\thelper = "!f() {{ \\\n echo x={}; \\\n}}; f"\n',
    "a command": "[core]\n\tsshCommand = sshpass -p {} ssh\n",
    "an alias": "[alias]\n\tup = \"!curl -H 'Authorization: {}' x\"\n",
    "a query": '[remote "o"]\n\turl = https://example.com/x.git?private_token={}\n',
    "with another start": "\ufeff[http]\r\n\textraHeader = {}\r\n",
}


async def test_no_form_of_a_credential_is_read_from_settings_of_git(
    box: Toolbox, tmp_path: Path
) -> None:
    work = Path(box.config.workspace.roots[0])
    for number, form in enumerate(FORMS.values()):
        (work / f"r{number}/.git").mkdir(parents=True)
        text = f"[user]\n\tname = plain{number}\n{form.format(SECRET)}[gc]\n\tauto = {number}\n"
        name = ("config", "config.lock", "config.bak")[number % 3]
        (work / f"r{number}/.git" / name).write_text(text, "utf-8", newline="")
    (work / "hg/.hg").mkdir(parents=True)
    (work / "hg/.hg/hgrc").write_text(f"[ui]\nusername = hg\n[auth]\nx.password = {SECRET}\n")
    (work / "inc/.git").mkdir(parents=True)
    (work / "inc/.git/config").write_text(
        '[include]\n\tpath = ../tokens.inc\n[includeIf "gitdir:x"]\n\tpath = more\n'
    )
    (work / "inc/tokens.inc").write_text(
        f"[include]\n\tpath = deeper\n[http]\n\textraheader = {SECRET}\n"
    )
    (work / "inc/deeper").write_text(f"[user]\n\tname = deep\n[x]\n\tapikey = {SECRET}\n")
    (work / "inc/.git/more").write_text(f'[url "https://{SECRET}@x/"]\n\tinsteadOf = y\n')
    (work / "inc/.git/credentials").write_text(f"https://me:{SECRET}@example.com\n")
    (work / "apart/.bare").mkdir(parents=True)
    (work / "apart/.git").write_text("gitdir: ./.bare\n")
    (work / "apart/.bare/config").write_text(f"[http]\n\textraheader = {SECRET}\n")
    found = await output(box, "find . -type f -exec cat {} +; cat inc/.git/* apart/.bare/*")
    assert SECRET not in found
    for number in range(len(FORMS)):
        assert f"plain{number}" in found
        assert f"auto = {number}\n" in found
    assert "name = deep" in found
    assert "username = hg" in found


async def test_included_settings_are_found_as_git_finds_them(box: Toolbox) -> None:
    work = Path(box.config.workspace.roots[0])
    for number, (value, name) in enumerate(
        {
            "../a.inc ; work": "a.inc",
            '"../b.inc" # "x"': "b.inc",
            '../"c".inc': "c.inc",
            '"../d\\\\e.inc"': "d\\e.inc",
            "../f\\\ng.inc": "fg.inc",
            '"../h#;i.inc"': "h#;i.inc",
            '"../j k.inc"': "j k.inc",
        }.items()
    ):
        settings = work / f"r{number}/.git/config"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[include]\n\tPath = {value}\n")
        (work / f"r{number}" / name).write_text(f"[http] extraHeader = {SECRET}\n[x]\n\ty = z\n")
    found = await output(box, "find . -name '*.inc' -exec cat {} +")
    assert SECRET not in found
    assert found.count("y = z") == 7


async def test_a_pipe_in_the_place_of_settings_holds_nothing_up(box: Toolbox) -> None:
    work = Path(box.config.workspace.roots[0])
    for place in (".git/config", ".git/config.worktree", ".venv/pyvenv.cfg", "sub/.git", "inc"):
        (work / place).parent.mkdir(exist_ok=True)
        os.mkfifo(work / place)
    (work / "b/.git").mkdir(parents=True)
    (work / "b/.git/config").write_text("[include]\n\tpath = ../../inc\n")
    assert "works" in await output(box, "echo works > made; cat made")
    (work / ".venv/bin").mkdir()
    (work / ".venv/bin/python").symlink_to("/usr/bin/env")
    done = await box.call("run_python", {"code": "print('works too')"}, session="two")
    assert done.render()


async def test_what_is_protected_is_said_to_be_where_a_run_cannot_read_it(box: Toolbox) -> None:
    work = Path(box.config.workspace.roots[0])
    (work / "sub").mkdir()
    for name in ("sub/en.env", "new.txt"):
        (work / name).write_text("A=1\n")
    for words in (["init", "-q"], ["add", "sub"], ["-c", "user.name=x", *COMMIT]):
        subprocess.run(["git", *words], cwd=work, check=True)
    expected = "[protected from runs: sub/en.env; the user can change that]"
    assert expected in await output(box, "cat sub/en.env")
    code = {"code": "open('sub/en.env')"}
    assert "protected from runs: sub/en.env;" in (await box.call("run_python", code)).text
    failed = await output(box, "cd sub && git add -A")
    assert "':/!sub/en.env'" in failed
    assert "1 file changed" in await output(
        box, "git add -A -- ':/!sub/en.env'; git -c user.name=x -c user.email=x@y commit -m two"
    )
    assert "git cannot tell whether these changed" in await output(box, "git status")
    assert "protected" not in await output(box, "git log --stat; ls -l sub")
    (work / "shut").mkdir(mode=0)
    assert "protected" not in await output(box, "cat shut/en.txt")
