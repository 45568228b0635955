"""Repositories that a run makes, changes or tampers with."""

from __future__ import annotations

import os
import shlex
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import Opened, RunBench, need_overlay, picture
from tests.indexes import index_naming, packs_naming
from toolcrib.files.repositories import judgement

WHO = "git config user.name n && git config user.email e@example.org"
MAKE = f"git init -q && {WHO} && git add . && git commit -qm first"


def git(root: Path, *words: str) -> str:
    """What the user's own git says."""
    done = subprocess.run(
        ["git", "--no-optional-locks", "-C", str(root), *words],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def left_out(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "not taken over" in note]


async def test_a_repository_is_made_committed_to_and_undone(each: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    before = picture(root)
    outcome = await each.changed(MAKE)
    assert outcome.state == "applied"
    assert not any(".git" in note and "taken over" in note for note in outcome.notes)
    assert git(root, "log", "--format=%s") == "first\n"
    assert git(root, "status", "--porcelain") == ""
    git(root, "fsck", "--strict")
    made = picture(root)
    await each.undo()
    assert picture(root) == before
    await each.undo()
    assert picture(root) == made
    await each.undo()
    assert picture(root) == before


async def test_it_is_made_in_several_runs(each: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    before = picture(root)
    for script in ("git init -q", WHO, "git add a && git commit -qm first"):
        outcome = await each.changed(script)
        assert outcome.state == "applied", outcome
        assert not left_out(outcome.notes)
    assert git(root, "log", "--format=%s %an") == "first n\n"
    outcome = await each.changed("git remote add origin https://example.org/x.git")
    fetch = "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*"
    added = f".git/config: added remote.origin.url=https://example.org/x.git, {fetch}"
    assert added in outcome.notes
    assert git(root, "remote", "get-url", "origin") == "https://example.org/x.git\n"
    await each.undo(4)
    assert picture(root) == before


async def test_a_remote_beside_the_repository_is_taken_over(bench: RunBench, root: Path) -> None:
    await bench.changed("git init -q r && git init -q --bare o.git")
    outcome = await bench.changed("git -C r remote add origin ../o.git")
    assert not left_out(outcome.notes)
    assert git(root / "r", "remote", "get-url", "origin") == "../o.git\n"
    outcome = await bench.changed("git -C r remote add far ../../elsewhere")
    assert "its config sets remote.far.url" in left_out(outcome.notes)[0]


async def test_clones_and_scaffolds(bench: RunBench, root: Path) -> None:
    (root / "a").mkdir()
    (root / "a/f").write_text("f\n")
    before = picture(root)
    outcome = await bench.changed(
        f"cd a && {MAKE} && git tag v1 && cd .. && git clone -q a b && git clone -q --bare a c.git "
        "&& git clone -q --mirror a m.git; git init -q --object-format=sha256 d; "
        "git -C b checkout -qb topic; echo g > b/g; git -C b add g; "
        "git -C b -c user.name=n -c user.email=e commit -qm second; git -C b push -q origin topic"
    )
    assert outcome.state == "applied"
    (mirror,) = left_out(outcome.notes)
    assert "m.git, since its config sets remote.origin.fetch" in mirror
    assert git(root / "b", "log", "--format=%s") == "second\nfirst\n"
    assert git(root / "a", "log", "--format=%s", "topic") == "second\nfirst\n"
    assert git(root / "c.git", "tag") == "v1\n"
    assert git(root / "d", "status", "--porcelain") == ""
    for name in ("a", "b", "c.git"):
        git(root / name, "fsck", "--strict")
    await bench.undo()
    assert picture(root) == before


async def test_work_in_a_repository_is_one_step_each(bench: RunBench, root: Path) -> None:
    (root / "a").write_text("a\n")
    for words in (["init", "-q"], ["config", "user.name", "n"], ["config", "user.email", "e"]):
        git(root, *words)
    git(root, "add", "."), git(root, "commit", "-qm", "zero")
    before = picture(root)
    for script in (
        "echo b > b && git add b && git commit -qm one",
        "git checkout -qb topic && echo c > c && git add c && git commit -qm two",
        "git checkout -q master || git checkout -q main; git merge -q --no-ff -m merged topic",
        "git tag -a v1 -m v1 && git branch -d topic && echo x >> a && git stash -q",
        "git pack-refs --all && git gc -q",
        "git mv a renamed && git commit -qm three",
    ):
        outcome = await bench.changed(script)
        assert outcome.state == "applied", outcome
        assert not left_out(outcome.notes), outcome.notes
        git(root, "fsck", "--strict")
        assert git(root, "status", "--porcelain") == ""
        now = picture(root)
        await bench.undo()
        assert picture(root) == before, script
        await bench.undo()
        assert picture(root) == now, script
        before = now


HOSTILE = {
    "core.hooksPath": "../evil",
    "core.fsmonitor": "../evil",
    "core.sshCommand": "sh -c evil",
    "core.pager": "evil",
    "core.editor": "evil",
    "core.askPass": "evil",
    "core.gitProxy": "evil",
    "core.attributesFile": "../evil",
    "core.excludesFile": "/etc/passwd",
    "core.worktree": "/",
    "core.alternateRefsCommand": "evil",
    "alias.st": "!evil",
    "filter.x.clean": "evil",
    "filter.x.process": "evil",
    "diff.x.command": "evil",
    "diff.x.textconv": "evil",
    "diff.external": "evil",
    "merge.x.driver": "evil",
    "mergetool.x.cmd": "evil",
    "difftool.x.cmd": "evil",
    "pager.log": "evil",
    "include.path": "../evil",
    "includeIf.gitdir:/.path": "../evil",
    "credential.helper": "!evil",
    "credential.https://example.org.helper": "!evil",
    "url.https://evil.example/.insteadOf": "https://example.org/",
    "gpg.program": "evil",
    "gpg.ssh.defaultKeyCommand": "evil",
    "commit.gpgSign": "true",
    "protocol.ext.allow": "always",
    "extensions.worktreeConfig": "true",
    "http.proxy": "http://evil.example",
    "http.sslVerify": "false",
    "uploadpack.packObjectsHook": "evil",
    "receive.procReceiveRefs": "refs/",
    "remote.origin.url": "ext::sh -c evil",
    "remote.origin.uploadpack": "evil",
    "remote.origin.receivepack": "evil",
    "remote.origin.vcs": "evil",
    "remote.origin.proxy": "evil",
    "remote.origin.fetch": "+refs/heads/*:refs/heads/*",
    "remote.origin.promisor": "true",
    "branch.main.remote": "ext::sh -c evil",
    "branch.main.pushRemote": "https://evil.example",
    "submodule.x.update": "!evil",
    "sequence.editor": "evil",
    "sendemail.smtpserver": "/evil",
    "man.x.cmd": "evil",
    "browser.x.cmd": "evil",
    "trailer.x.command": "evil",
    "interactive.diffFilter": "evil",
    "safe.directory": "*",
    "init.templateDir": "../evil",
    "web.browser": "evil",
    "guitool.x.cmd": "evil",
    "instaweb.browser": "evil",
    "ssh.variant": "simple",
    "notes.x": "y",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("level", ["auto", "none"])
async def test_hostile_settings_are_each_left_out_with_a_word(
    opened: Opened, root: Path, level: str
) -> None:
    bench = opened(level)
    if level == "auto":
        await need_overlay(bench)
    lines = ["set -e", "echo ok > ok", "git init -q plain"]
    for number, (key, value) in enumerate(HOSTILE.items()):
        lines += [
            f"cp -r plain r{number}; echo f > r{number}/f",
            f"git config -f r{number}/.git/config {shlex.quote(key)} {shlex.quote(value)}",
        ]
    outcome = await bench.changed("\n".join(lines))
    assert outcome.state == "applied"
    assert (root / "plain/.git/config").exists()
    for number, key in enumerate(HOSTILE):
        assert os.listdir(root / f"r{number}") == ["f"], key
        (note,) = (n for n in outcome.notes if f"r{number}/.git" in n)
        section, _, rest = key.partition(".")
        output = f"{section.lower()}.{rest[: rest.rfind('.') + 1]}{rest.rpartition('.')[2].lower()}"
        assert f"its config sets {output}" in note
        assert "git init" in note


EVIL_INDEX = b64encode(index_naming("a", ".git/hooks/pre-commit")).decode()
TAMPERED = {
    "a hook": "echo evil > .git/hooks/pre-commit",
    "a hook in capitals": "mkdir .git/HOOKS; echo evil > .git/HOOKS/pre-commit",
    "hooks that are a link": "rm -r .git/hooks; mkdir h; ln -s ../h .git/hooks",
    "a sample that is a link": "ln -s ../../f .git/hooks/x.sample",
    "a sample that is a folder": "mkdir .git/hooks/x.sample",
    "settings in capitals": "echo '[core]' > .git/CONFIG",
    "settings with a joiner": "printf x > \"$(printf '.git/con\\342\\200\\215fig')\"",
    "settings that are a link": "mv .git/config c; ln -s ../c .git/config",
    "settings of a worktree": "echo '[core]' > .git/config.worktree",
    "a common folder": "echo ../x > .git/commondir",
    "attributes": "echo '* filter=x' > .git/info/attributes",
    "a submodule": "mkdir -p .git/modules/x; cp .git/config .git/modules/x/config",
    "a worktree": "mkdir -p .git/worktrees/x; echo x > .git/worktrees/x/gitdir",
    "a rebase": "mkdir .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo",
    "a repository in it": "mkdir .git/x; cp -r .git/hooks .git/x/.git",
    "objects elsewhere": "echo /etc > .git/objects/info/alternates",
    "objects elsewhere by steps": "echo ../../../../x > .git/objects/info/alternates",
    "objects elsewhere by http": "echo http://x/ > .git/objects/info/http-alternates",
    "settings of old": "mkdir .git/remotes; echo 'URL: ext::evil' > .git/remotes/origin",
    "branches of old": "mkdir -p .git/branches; echo ext::evil > .git/branches/origin",
    "a head that is a link": "rm .git/HEAD; ln -s refs/heads/main .git/HEAD",
    "objects that are a link": "rm -r .git/objects; mkdir o; ln -s ../o .git/objects",
    "too large settings": "head -c 70000 /dev/zero | tr '\\0' '#' >> .git/config",
    "settings that are none": "rm .git/config; mkdir .git/config",
    "an index that leads out": f"echo {EVIL_INDEX} | base64 -d > .git/index",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("level", ["auto", "none"])
async def test_other_ways_to_run_something_are_left_out(
    opened: Opened, root: Path, level: str
) -> None:
    bench = opened(level)
    if level == "auto":
        await need_overlay(bench)
    lines = ["git init -q plain"]
    for number, script in enumerate(TAMPERED.values()):
        lines.append(f"cp -r plain r{number}; (cd r{number}; echo f > f; {script})")
    outcome = await bench.changed("\n".join(lines))
    assert outcome.state == "applied"
    for number, what in enumerate(TAMPERED):
        assert "f" in os.listdir(root / f"r{number}")
        assert ".git" not in os.listdir(root / f"r{number}"), what
        if level == "auto":
            assert any(f"r{number}/.git, since" in note for note in outcome.notes), what


async def test_what_leads_elsewhere_is_not_made(bench: RunBench, root: Path) -> None:
    outcome = await bench.changed(
        """
        git init -q real; mkdir file link caps joiner u; echo 'gitdir: ../real/.git' > file/.git
        ln -s ../real/.git link/.git; cp -r real/.git caps/.GIT
        cp -r real/.git "$(printf 'joiner/.g\\342\\200\\215it')"
        """
    )
    assert os.listdir(root / "real") == [".git"]
    for name in ("file", "link", "caps", "joiner"):
        assert os.listdir(root / name) == [], name
    assert len(outcome.notes) >= 1
    other = await bench.changed("git init -q --separate-git-dir=elsewhere sub")
    assert other.state == "held", "git takes a folder of any name for a repository"


MESSAGE = "[core]\\n\\tfsmonitor = touch owned; false\\n#"


@pytest.mark.parametrize("target", ["config", "hooks/pre-commit", "../AGENTS.md"])
async def test_git_writes_through_no_link_of_a_run(each: RunBench, root: Path, target: str) -> None:
    """Git writes the message of a commit, which a run may have prepared, to where a link leads."""
    git(root, "init", "-q")
    (root / "a").write_text("a\n")
    (root / "AGENTS.md").write_text("mine\n")
    hook = root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    git(root, "add", "-A")
    place = (root / ".git" / target).resolve()
    before = place.read_bytes()
    outcome = await each.changed(
        f"ln -s {target} .git/COMMIT_EDITMSG; printf '{MESSAGE}' > .git/MERGE_MSG"
    )
    assert any("a link in a repository" in note for note in outcome.notes), outcome.notes
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example", "-c", "core.editor=true"]
    git(root, *who, "commit", "-q")
    git(root, "status")
    assert place.read_bytes() == before
    assert not (root / "owned").exists()


@pytest.mark.parametrize("name", ["ORIG_HEAD", "refs/heads/other"])
@pytest.mark.parametrize("target", ["commondir", "refs/../commondir", "70000 spaces"])
async def test_git_writes_through_no_reference_of_a_run(
    each: RunBench, root: Path, name: str, target: str
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    target = "printf '%70000s' commondir" if "70000" in target else f"printf {target}"
    outcome = await each.changed(f"(printf 'ref: '; {target}) > .git/{name}; echo 'ref: a' > note")
    assert not (root / ".git" / name).exists()
    assert (root / "note").exists()
    assert any("no branch or tag" in note for note in outcome.notes), outcome.notes


async def test_a_commit_in_a_further_working_tree(each: RunBench, root: Path) -> None:
    """What git keeps for it lies in the repository, and is taken over with the branch."""
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
    git(root, "init", "-q", "main")
    git(root / "main", *who, "commit", "-q", "--allow-empty", "-m", "first")
    git(root / "main", "worktree", "add", "-q", "../tree")
    commit = f"git {' '.join(who)} commit -qm second"
    outcome = await each.changed(f"cd tree; echo x > file; git add file; {commit}")
    assert outcome.state == "applied", outcome.notes

    assert git(root / "tree", "status", "--porcelain") == ""
    assert "second" in git(root / "tree", "log", "--oneline")
    switched = await each.changed("cd tree; git checkout -q -b other")
    assert switched.state == "applied", switched.notes
    assert git(root / "tree", "branch", "--show-current").strip() == "other"
    place = root / "main/.git/worktrees/tree/index"
    await each.changed(f"rm {place}; ln -s ../../../../mine {place}; echo x > note")
    assert not place.is_symlink()
    gitdir = await each.changed("echo x > main/.git/worktrees/tree/gitdir; echo x > note")
    assert (root / "note").exists()
    assert any("worktrees" in note for note in gitdir.notes), gitdir.notes
    assert "tree/.git" in (root / "main/.git/worktrees/tree/gitdir").read_text()


NOT_OF_A_COMMIT = {
    "settings": "echo '[core]' >> .git/modules/a/sub/config",
    "hooks": "mkdir -p .git/modules/a/sub/hooks; echo x > .git/modules/a/sub/hooks/pre-commit",
    "objects elsewhere": "echo /tmp > .git/modules/a/sub/objects/info/alternates",
    "what leads elsewhere": "echo ../.. > .git/modules/a/sub/commondir",
    "attributes": "echo x > .git/modules/a/sub/info/attributes",
    "a reference elsewhere": "echo 'ref: config' > .git/modules/a/sub/ORIG_HEAD",
    "a link": "ln -sf ../../../../mine .git/modules/a/sub/COMMIT_EDITMSG",
    "a repository": "cp -r .git/modules/a/sub .git/modules/b",
    "a changed object": "find .git/modules -path '*objects/??/*' -exec sed -i 1d {} +",
}


async def test_a_commit_in_a_submodule(each: RunBench, root: Path, tmp_path: Path) -> None:
    """The repository around it names that commit."""
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "other")
    (other / "file").write_text("first\n")
    git(other, "add", "file")
    git(other, *who, "commit", "-qm", "first")
    git(root, "init", "-q")
    allow = ["-c", "protocol.file.allow=always"]
    git(root, *allow, "submodule", "--quiet", "add", "--name", "a/sub", str(other), "sub")
    git(root, *who, "commit", "-qm", "around")
    commit = f"git {' '.join(who)} commit -qam second"
    outcome = await each.changed(f"cd sub; echo x >> file; {commit}; cd ..; {commit}")
    assert outcome.state == "applied", outcome.notes
    assert not any("modules" in note for note in outcome.notes), outcome.notes
    assert "second" in git(root / "sub", "log", "--oneline")
    assert git(root, "status", "--porcelain") == ""
    git(root / "sub", "fsck", "--strict")
    modules = root / ".git/modules"

    def images() -> dict[str, bytes]:
        files = filter(Path.is_file, modules.rglob("*"))
        return {str(path): path.read_bytes() for path in files}

    before = images()
    for name, script in NOT_OF_A_COMMIT.items():
        refused = await each.changed(f"echo {name} > note; {script}")
        assert images() == before, name
        assert any("modules" in note for note in refused.notes), (name, refused.notes)
    branch = await each.changed("cd sub; git checkout -q -b next/one; git pack-refs --all")
    assert branch.state == "applied", branch.notes
    assert git(root / "sub", "branch", "--show-current").strip() == "next/one"


async def test_a_merge_with_a_conflict_in_a_submodule(
    each: RunBench, root: Path, tmp_path: Path
) -> None:
    """The commit that ends it has two parents; what is staged in there is judged in there."""
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "other")
    for name in ("file", "AGENTS.md"):
        (other / name).write_text("first\n")
    git(other, "add", "file")
    git(other, *who, "commit", "-qm", "first")
    git(root, "init", "-q")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(root, *who, "commit", "-qm", "around")
    commit = f"git {' '.join(who)} commit -qam"
    sides = f"git checkout -q -b a; echo a > file; {commit} a; git checkout -q -b b HEAD~1"
    outcome = await each.changed(
        f"cd sub; {sides}; echo b > file; {commit} b; git {' '.join(who)} merge -q a; true"
    )
    assert outcome.state == "applied", outcome.notes
    assert not any("modules" in note for note in outcome.notes), outcome.notes
    (root / "sub/file").write_text("both\n")
    git(root / "sub", *who, "commit", "-qam", "merged")
    assert len(git(root / "sub", "log", "-1", "--format=%P").split()) == 2
    (root / "sub/AGENTS.md").write_text("own\n")
    staged = await each.changed("cd sub; git add AGENTS.md")
    assert staged.state == "applied", staged.notes


ENDINGS = {
    "its head is gone": "rm sub/.git/HEAD",
    "its head says nothing": "echo x > sub/.git/HEAD",
    "its references are gone": "rm -r sub/.git/refs",
    "its objects are elsewhere": "mv sub/.git/objects sub/.git/other",
    "its objects are a file": "rm -r sub/.git/objects; echo x > sub/.git/objects",
}


@each_case("script", ENDINGS.values(), ids=ENDINGS)
async def test_a_repository_within_another_stays_one(
    each: RunBench, root: Path, script: str
) -> None:
    """Else the outer one takes up what the inner one left out."""
    for folder in (root, root / "sub"):
        git(root, "init", "-q", str(folder))
    (root / "sub/.git/info").mkdir(exist_ok=True)
    (root / "sub/.git/info/exclude").write_text(".env\n")
    outcome = await each.changed(f"echo x > note; {script}")
    assert any("a repository around it" in note for note in outcome.notes), outcome.notes
    assert "note" not in git(root / "sub", "status", "--porcelain")
    for change in ("git checkout -q -b new", "git checkout -q --detach || true"):
        outcome = await each.changed(f"cd sub; {change}")
        assert not any("around it" in note for note in outcome.notes), outcome.notes


CONFLICT = "a" * 40
PACKS = packs_naming("../../../other/x.idx", {})


async def test_git_copies_no_file_that_a_run_names(
    each: RunBench, root: Path, tmp_path: Path
) -> None:
    """Conflicts that `git rerere` takes for its own: the next commit copies their files."""
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    secret = tmp_path / "secret"
    secret.write_text("canary")
    made = f"mkdir -p .git/rr-cache/{CONFLICT}; echo > .git/rr-cache/{CONFLICT}/preimage"
    outcome = await each.changed(
        f"{made}; printf '{CONFLICT}\\t../{secret.name}\\0' > .git/MERGE_RR; echo x > note"
    )
    assert (root / "note").exists()
    assert any("copy the files" in note for note in outcome.notes), outcome.notes
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
    git(root, *who, "commit", "-q", "--allow-empty", "-m", "mine")
    copies = [path.read_text() for path in root.glob(".git/rr-cache/*/*")]
    assert "canary" not in copies


async def test_commits_of_a_run_where_git_remembers_conflicts(each: RunBench, root: Path) -> None:
    """Its file is there then, with nothing in it."""
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    git(root, "config", "rerere.enabled", "true")
    who = "-c user.name=A -c user.email=a@a.example"
    outcome = await each.changed(f"echo x > a; git add a; git {who} commit -qm one")
    assert (root / ".git/MERGE_RR").exists()
    assert not any("MERGE_RR" in note for note in outcome.notes), outcome.notes


STAGE = """stage() {
  hash=$(printf "$2" | git hash-object -w --stdin)
  git update-index --add --cacheinfo "100644,$hash,$1"
}
"""


async def test_what_a_run_stages_is_asked_about(each: RunBench, root: Path) -> None:
    """Git would store what no run reads, or write what makes other programs act."""
    git(root, "init", "-q")
    (root / ".env").write_text("SECRET=1")
    (root / "AGENTS.md").write_text("mine")
    git(root, "add", "AGENTS.md")
    (root / "AGENTS.md").write_text("mine, changed")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    added = await each.changed("echo x > a; git add a AGENTS.md CLAUDE.md")
    assert added.state == "applied", added.notes
    assert git(root, "status", "--porcelain").splitlines()[:2] == ["A  AGENTS.md", "A  CLAUDE.md"]
    for name in (".env", "x/.vscode/tasks.json", ".gitmodules", ".github/workflows/x.yml"):
        outcome = await each.changed(f"{STAGE} stage {name} '%s' evil")
        if outcome.state == "held":
            assert any(name in note for note in outcome.notes), outcome.notes
        else:  # on the files themselves
            assert any(name in note for note in outcome.notes), outcome.notes
            git(root, "rm", "-q", "--cached", name)


async def test_what_git_would_show_in_place_of_commits_is_asked_about(
    bench: RunBench, root: Path
) -> None:
    await need_overlay(bench)
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
    git(root, "init", "-q")
    for text in "ab":
        (root / "a").write_text(text)
        git(root, "add", "a")
        git(root, *who, "commit", "-qm", text)
    head, first = git(root, "rev-parse", "HEAD").strip(), git(root, "rev-parse", "HEAD^").strip()
    for script in (
        f"printf '{first}\\trefs/replace/{head}\\n' >> .git/packed-refs",
        f"echo {head} > .git/shallow",
    ):
        outcome = await bench.changed(script)
        assert outcome.state == "held", (script, outcome)
        assert any("git shows other contents" in note for note in outcome.notes), outcome.notes
    # What the user has replaced is packed with the rest.
    git(root, "replace", head, first)
    git(root, "branch", "new")
    packed = await bench.changed(
        f"git {' '.join(who)} commit -qm c --allow-empty; git pack-refs --all"
    )
    assert packed.state == "applied", packed.notes
    assert git(root, "branch", "--list").split() == ["*", "master", "new"]
    assert git(root, "log", "-1", "--format=%s").strip() == "c"
    assert git(root, "replace", "-l").strip() == head


async def test_objects_that_are_there_stay_as_they_are(bench: RunBench, root: Path) -> None:
    await need_overlay(bench)
    git(root, "init", "-q")
    (root / "a").write_text("mine")
    digest = git(root, "hash-object", "-w", "a").strip()
    place = f".git/objects/{digest[:2]}/{digest[2:]}"
    before = (root / place).read_bytes()
    outcome = await bench.changed(f"chmod +w {place}; echo x > {place}; echo x > b")
    assert (root / place).read_bytes() == before
    assert any("never changes an object" in note for note in outcome.notes), outcome.notes
    assert (root / "b").exists()


async def test_a_large_file_of_git_lfs_has_the_content_that_its_name_says(
    bench: RunBench, root: Path
) -> None:
    """git-lfs puts it into the working tree at the next checkout, and asks no hash."""
    await need_overlay(bench)
    git(root, "init", "-q")

    def place(data: bytes) -> Path:
        digest = sha256(data).hexdigest()
        return root / ".git/lfs/objects" / digest[:2] / digest[2:4] / digest

    there, false, true = map(place, (b"there\n", b"false\n", b"true\n"))
    there.parent.mkdir(parents=True)
    there.write_bytes(b"there\n")
    folders = f"mkdir -p {false.parent} {true.parent}"
    outcome = await bench.changed(
        f"{folders}; echo other > {there}; echo other > {false}; echo true > {true}"
    )
    assert there.read_bytes() == b"there\n"
    assert not false.exists(), outcome.notes
    assert true.read_bytes() == b"true\n"
    assert any("its name says" in note for note in outcome.notes), outcome.notes


async def test_an_object_is_what_its_name_says(
    bench: RunBench, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await need_overlay(bench)
    git(root, "init", "-q")
    false = "x=$(printf false | git hash-object -w --stdin); f() { echo .git/objects/$(echo $1 | "
    false += "sed 's,^..,&/,'); }; mkdir -p .git/objects/aa; cp $(f $x) .git/objects/aa/"
    outcome = await bench.changed(f"{false}{'b' * 38}; echo y | git hash-object -w --stdin")
    assert "not the object that its name says" in str(outcome.notes)
    assert not (root / ".git/objects/aa").exists() or not list((root / ".git/objects/aa").iterdir())
    assert git(root, "cat-file", "-p", "975fbec8256d3e8a3797e7a3611380f27c49f4ac") == "y\n"
    # A small file may unpack to very much: they are looked at up to a bound, however many.
    monkeypatch.setattr(judgement, "MAX_OBJECTS_BYTES", 500_000)
    zeros = "head -c {} /dev/zero | git hash-object -w --stdin"
    assert (await bench.changed(zeros.format(400_000))).state == "applied"
    both = await bench.changed(f"{zeros.format(300_000)}; {zeros.format(300_001)}")
    assert "unpack to so much" in str(both.notes)
    outcome = await bench.changed("mkdir -p .git/objects/info; pwd > .git/objects/info/alternates")
    assert "objects from elsewhere" in str(outcome.notes)


async def test_what_git_makes_of_its_objects_is_left_to_it(bench: RunBench, root: Path) -> None:
    """It believes what a commit-graph says of commits, and needs none."""
    await need_overlay(bench)
    who = "-c user.name=A -c user.email=a@a.example"
    git(root, "init", "-q")
    outcome = await bench.changed(
        f"echo x > a; git add a; git {who} commit -qm one; git gc -q; git commit-graph write; "
        "touch $(echo .git/objects/pack/*.idx | sed s/idx/bitmap/); "
        "git multi-pack-index write; test -e .git/objects/info/commit-graph"
    )
    assert outcome.state == "applied", outcome.notes
    assert "since git makes it" in str(outcome.notes)
    names = [path.suffix for path in (root / ".git/objects/pack").iterdir()]
    assert sorted(names) == [".idx", ".pack"]
    assert not (root / ".git/objects/info/commit-graph").exists()
    assert git(root, "log", "--format=%s", "-p").startswith("one\n")


async def test_an_index_that_forgets(bench: RunBench, root: Path) -> None:
    """What it was to leave alone would be stored by `git add`."""
    await need_overlay(bench)
    git(root, "init", "-q")
    (root / "secrets.yml").write_text("sample\n")
    (root / "a").write_text("a\n")
    git(root, "add", ".")
    git(root, "update-index", "--skip-worktree", "secrets.yml")
    (root / ".env").write_text("SECRET=1\n")
    git(root, "add", "-f", ".env")
    assert (await bench.changed("git read-tree --empty")).state == "held"
    assert (await bench.changed("git rm -q --cached a")).state == "applied"
    git(root, "add", "a")
    git(root, "update-index", "--split-index")
    assert (await bench.changed("rm .git/index")).state == "held"
    for script in ("--no-skip-worktree secrets.yml", "--cacheinfo 100644,$x,secrets.yml"):
        outcome = await bench.changed(
            f"x=$(git hash-object -w a); git update-index --add {script}; echo"
        )
        assert outcome.state == "held", (script, outcome)


async def test_the_index_of_a_repository_that_a_run_made(bench: RunBench, root: Path) -> None:
    """Its settings say how long hashes are, and are made by the same run."""
    await need_overlay(bench)
    (root / ".env").write_text("SECRET=1")
    outcome = await bench.changed(f"{STAGE} git init -q --object-format=sha256; stage .env x")
    assert outcome.state == "held", outcome.notes
    assert any(".env" in note for note in outcome.notes), outcome.notes


async def test_a_shared_index_stays_as_git_wrote_it(bench: RunBench, root: Path) -> None:
    await need_overlay(bench)
    git(root, "init", "-q")
    who = "-c user.name=A -c user.email=a@a.example -c index.threads=2"
    for number in range(50):
        (root / f"{number}").write_text(f"{number}")
    outcome = await bench.changed(
        f"git add .; git {who} update-index --split-index; git {who} commit -qm one; echo x > 1; "
        f"git {who} add 1"
    )
    assert outcome.state == "applied", outcome.notes
    assert git(root, "status", "--porcelain") == "M  1\n"


async def test_an_index_is_taken_over_by_its_entries(bench: RunBench, root: Path) -> None:
    """A run could note a tree in it that holds more than the entries say: the user commits it."""
    await need_overlay(bench)
    git(root, "init", "-q")
    outcome = await bench.changed(
        "mkdir b; echo x > b/a; git add b; git update-index --untracked-cache; "
        "git write-tree; git status; grep -q TREE .git/index"
    )
    assert outcome.state == "applied", outcome.notes
    data = (root / ".git/index").read_bytes()
    assert b"TREE" not in data
    assert b"UNTR" not in data
    assert git(root, "status", "--porcelain", "-uall") == "A  b/a\n"


TREE_TAMPERED = {
    "index": index_naming("../../mine"),
    "sharedindex.0a": index_naming("../../mine"),
    "ORIG_HEAD": b"ref: commondir",
    "MERGE_RR": b"0\t../x",
    "rebase-merge/git-rebase-todo": b"exec touch owned",
}


@pytest.mark.parametrize("name", TREE_TAMPERED)
@pytest.mark.parametrize("top", ["x", "x.git"])
async def test_a_working_tree_of_a_repository_of_any_name(
    each: RunBench, root: Path, top: str, name: str
) -> None:
    """What leads git to other files lies there beside its files, wherever the tree itself is."""
    who = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
    store, tree = root / top / ".bare", root / "tree"
    git(root, "init", "-q", "--bare", str(store))
    git(root, "clone", "-q", str(store), "seed")
    git(root / "seed", *who, "commit", "-qm", "x", "--allow-empty")
    git(root / "seed", "push", "-q", "origin", "HEAD")
    git(store, "worktree", "add", "-q", str(tree))
    data = b64encode(TREE_TAMPERED[name]).decode()
    place = store / "worktrees/tree" / name
    before = place.read_bytes() if place.exists() else None
    place.parent.mkdir(exist_ok=True)
    outcome = await each.changed(f"echo {data} | base64 -d > {place}; echo x > note")
    assert (root / "note").exists()
    assert (place.read_bytes() if place.exists() else None) == before, outcome.notes
    leads = ("objects/info/alternates", "refs/heads/other")
    await each.changed(f"cd {store}; mkdir -p objects/info; echo /etc > {leads[0]}; "
                       f"echo 'ref: config' > {leads[1]}")  # fmt: skip
    assert not [path for path in leads if (store / path).exists()]
    commit = f"git {' '.join(who)} commit -qm second"
    added = await each.changed(f"cd tree; echo x > file; git add file; echo x > {name}; {commit}")
    assert added.state == "applied", added.notes
    assert git(tree, "log", "--format=%s").split() == ["second", "x"]
    assert "file" not in git(tree, "status", "--porcelain").split()


BARE_TAMPERED = {
    "objects/pack/multi-pack-index": PACKS,
    "objects/pack/multi-pack-index.d/x.midx": PACKS,
    "refs/heads/objects/x": "ref: config",
    "objects/info/alternates": "/etc",
    "remotes/origin": "URL: ext::evil",
    "branches/origin": "ext::evil",
    "info/attributes": "* filter=x",
    "refs/heads/other": "ref: config",
    f"refs/replace/{CONFLICT}": "b" * 40,
    "info/grafts": CONFLICT,
    f"rr-cache/{CONFLICT}/postimage": "x",
}


@pytest.mark.parametrize("name", BARE_TAMPERED)
async def test_a_bare_repository_that_was_there_leads_nowhere_else(
    each: RunBench, root: Path, name: str
) -> None:
    git(root, "init", "-q", "--bare", "old.git")
    place, content = root / "old.git" / name, BARE_TAMPERED[name]
    data = b64encode(content if isinstance(content, bytes) else content.encode()).decode()
    outcome = await each.changed(
        f"mkdir -p {place.parent}; echo {data} | base64 -d > {place}; echo x > note"
    )
    assert not place.exists()
    assert (root / "note").exists()
    assert any(f"old.git/{name}" in note for note in outcome.notes), outcome.notes


async def test_what_the_user_set_stays(bench: RunBench, root: Path) -> None:
    git(root, "init", "-q")
    git(root, "config", "alias.st", "status")
    git(root, "remote", "add", "origin", "https://example.org/x")
    before = picture(root)
    for script in (
        "git config alias.st '!evil'",
        "git config core.fsmonitor evil",
        "git remote set-url origin https://evil.example/x",
        "git config --unset alias.st",
        "git remote rename origin other",
        "rm -f .git/config",
        "echo evil > .git/hooks/pre-commit",
        "mkdir -p .git/worktrees/x && echo '[core]' > .git/worktrees/x/config.worktree",
        "mkdir -p .git/modules/x && echo '[core]' > .git/modules/x/config",
        "echo /etc > .git/objects/info/alternates",
        "mkdir .git/remotes; echo 'URL: ext::evil' > .git/remotes/origin",
        f"echo {EVIL_INDEX} | base64 -d > .git/index",
        "rm -rf .git",
    ):
        outcome = await bench.changed(f"{script}; true")
        assert left_out(outcome.notes), script
        now = {key: value for key, value in picture(root).items() if key != ".git/remotes"}
        assert {k: v for k, v in now.items() if v[0] == "file"} == {
            k: v for k, v in before.items() if v[0] == "file"
        }, script


async def test_a_repository_that_the_user_protects_is_not_made(opened: Opened, root: Path) -> None:
    bench = opened(workspace={"roots": [str(root)], "protect_write": [".git"]})
    await need_overlay(bench)
    outcome = await bench.changed("git init -q; echo f > f")
    assert os.listdir(root) == ["f"]
    assert any(".git is protected (.git)" in note for note in outcome.notes)


async def test_a_held_repository_is_judged_when_it_is_applied(
    bench: RunBench, root: Path, tmp_path: Path
) -> None:
    pending = await bench.changed("git init -q", "ask")
    (config,) = (tmp_path / "state/runs").glob("*/*/*/upper/.git/config")
    config.write_text("[core]\n\tfsmonitor = evil\n")
    outcome = await bench.apply_pending(pending.pending_id)
    assert not (root / ".git").exists()
    assert "core.fsmonitor" in str(outcome.notes)


async def test_undo_leaves_what_the_user_did_in_it(bench: RunBench, root: Path) -> None:
    from toolcrib.core.errors import Conflict

    (root / "a").write_text("a\n")
    await bench.changed(MAKE)
    git(root, "config", "alias.x", "y")
    with pytest.raises(Conflict):
        await bench.undo()
    git(root, "config", "--remove-section", "alias")
    (root / ".git/hooks/pre-commit").write_text("mine\n")
    await bench.undo()
    assert (root / ".git/hooks/pre-commit").read_text() == "mine\n"


async def test_a_look_at_the_status_does_not_keep_a_step_from_being_undone(
    each: RunBench, root: Path
) -> None:
    from toolcrib.core.errors import Conflict

    (root / "a").write_text("a\n")
    before = picture(root)
    await each.changed(MAKE)
    subprocess.run(["git", "-C", str(root), "status"], check=True, capture_output=True)
    await each.undo()
    assert picture(root) == before
    await each.undo()
    assert git(root, "log", "--format=%s") == "first\n"
    await each.changed("echo b > b && git add b && git commit -qm second")
    os.utime(root / "a", (1, 1))
    subprocess.run(["git", "-C", str(root), "status"], check=True, capture_output=True)
    await each.undo()
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "log", "--format=%s") == "first\n"
    await each.changed("echo c > c && git add c && git commit -qm third")
    (root / "mine").write_text("m\n")
    git(root, "add", "mine")
    with pytest.raises(Conflict, match="index"):
        await each.undo()
