"""References and states of a repository by which git would change or show something else."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from tests.execution.runs.conftest import RunBench
from tests.execution.runs.test_background import lines_of

WHO = "git config user.name n; git config user.email e@example.org"
COMMITTED = f"git init -qb main; {WHO}; echo one > a; git add a; git commit -qm one"
STASHED = """t=$(mktemp -d); export GIT_INDEX_FILE=$t/i; git read-tree HEAD
b=$(echo evil | git hash-object -w --stdin)
git update-index --add --cacheinfo 100755,$b,AGENTS.md
tree=$(git write-tree); unset GIT_INDEX_FILE
i=$(git commit-tree HEAD^{tree} -p HEAD -m i); w=$(git commit-tree $tree -p HEAD -p $i -m w)
"""
TAGGED = "git tag false $(echo false | git hash-object -w --stdin)"
REPLACED = "o=$(git rev-parse HEAD:a); b=$(echo false | git hash-object -w --stdin);"
MISLED = {
    "an autostash": f"{STASHED} echo $w > .git/MERGE_AUTOSTASH",
    "an autostash of another name": f"{STASHED} echo $w > .git/CHECKOUT_AUTOSTASH",
    "a replacement": f"{REPLACED} git replace $o $b",
    "a replacement in a folder": f"{REPLACED} git update-ref refs/replace/x/y/$o $b",
    "a replacement by another name": (
        f"{REPLACED} git symbolic-ref refs/replace/x/$o refs/tags/false"
    ),
    "a stash that is a branch": "git symbolic-ref refs/stash refs/heads/main",
    "a branch that is another": "git symbolic-ref refs/heads/feat refs/heads/rel",
    "a tag that is a branch": "git symbolic-ref refs/tags/latest refs/heads/main",
    "a head that is a replacement": "git symbolic-ref HEAD refs/replace/$(git rev-parse HEAD)",
    "a head that is a note": "git symbolic-ref HEAD refs/notes/commits",
    "a remote branch that is a branch": (
        "git symbolic-ref refs/remotes/origin/HEAD refs/heads/main"
    ),
    "an old head that is a branch": "echo 'ref: refs/heads/rel' > .git/ORIG_HEAD",
}  # fmt: skip


def shell(place: Path, script: str) -> str:
    """What the user's own programs say."""
    done = subprocess.run(
        ["/bin/sh", "-ec", script], cwd=place, check=True, capture_output=True, text=True
    )
    return done.stdout


def references(root: Path) -> str:
    """What the user sees of a repository, and what its next commands take up."""
    (root / "a").write_text("mine\n")
    shell(root, "git stash -q; git stash pop -q")
    places = (path.relative_to(root).as_posix() for path in root.glob(".git/*AUTOSTASH"))
    listed = "git for-each-ref --format='%(refname) %(symref)'; git symbolic-ref HEAD; git log -p"
    return "\n".join((*sorted(places), shell(root, f"{listed}; git reset -q; git diff")))


def prepared(root: Path) -> tuple[dict[str, str], str]:
    """A repository for each case, what the user sees of it, and a script that misleads in all."""
    before, script = {}, []
    for number, misled in enumerate(MISLED.values()):
        name = f"r{number}"
        (root / name).mkdir()
        shell(root / name, f"{COMMITTED}; git branch rel; {TAGGED}")
        before[name] = references(root / name)
        script.append(f"(cd {name}; {misled}; echo x > note)")
    return before, "\n".join(script)


def check(root: Path, before: dict[str, str], notes: tuple[str, ...]) -> None:
    for (name, seen), case in zip(before.items(), MISLED, strict=True):
        assert (root / name / "note").exists(), case
        assert any(f"{name}/.git" in note and "git would" in note for note in notes), (case, notes)
        assert references(root / name) == seen, case


async def test_git_is_led_to_nothing_else(each: RunBench, root: Path) -> None:
    before, script = prepared(root)
    check(root, before, (await each.changed(script)).notes)


@pytest.mark.parametrize("ends", [False, True])
async def test_git_is_led_to_nothing_else_by_a_job(bench: RunBench, root: Path, ends: bool) -> None:
    before, script = prepared(root)
    running = await bench.start(f"{script}; echo made; {'true' if ends else 'sleep 60'}")
    await lines_of(running, "made")
    if not ends:
        async with asyncio.timeout(20):
            while "r11/" not in str(running.guard.notes):
                await asyncio.sleep(0.02)
    notes = (await running.finish()).notes
    assert ".refused.refused" not in str(notes)
    check(root, before, notes)


HONEST = (
    "git checkout -qb a/b; echo two > b; git add b; git commit -qm two; git checkout -q main",
    "echo 3 > c; git add c; git commit -qm three; git merge -q --no-edit a/b; git tag -am v v1",
    "echo x >> a; git stash -q; echo y >> a; git stash -q; git stash pop -q; git checkout -q a",
    "git stash pop -q; git checkout -q a; git notes add -m note; git notes --ref=x add -m more",
    "git checkout -qb topic HEAD~1; echo t > t; git add t; git commit -qm t; git rebase -q main",
    "git checkout -q main; git branch -m a/b a/c; git remote set-head origin -a",
    "(cd ../up; echo up >> u; git commit -qam up); git fetch -q; git pull -q --rebase; git push -q",
    "git bisect start -q; git bisect bad; git bisect good HEAD~2; git bisect reset",
    "git pack-refs --all; git -c gc.writeCommitGraph=false gc -q",
    "git clone -q --no-hardlinks . ../copy",
)


async def test_what_git_does_itself_is_taken_over(each: RunBench, root: Path) -> None:
    shell(root, f"git init -qb main up; cd up; {WHO}; echo u > u; git add u; git commit -qm up")
    shell(root, f"git clone -q up own; cd own; {WHO}; echo one > a; git add a; git commit -qm one")
    shell(root / "up", "git config receive.denyCurrentBranch ignore")
    for script in HONEST:
        outcome = await each.changed(f"set -e; cd own; {{ {script}; }} >&2")
        assert outcome.state == "applied", (script, outcome.notes)
        assert not any("git would" in note for note in outcome.notes), (script, outcome.notes)
    own = root / "own"
    assert shell(own, "git symbolic-ref HEAD") == "refs/heads/main\n"
    assert shell(own, "git symbolic-ref refs/remotes/origin/HEAD") == "refs/remotes/origin/main\n"
    assert shell(own, "git status --porcelain; git stash list; git rev-list ..@{u}") == ""
    shell(own, "git fsck --strict; git -C ../copy fsck --strict")


async def test_what_the_user_had_stays_beside_a_run(bench: RunBench, root: Path) -> None:
    """A job looks at all that is there, and finds the user in the middle of something."""
    shell(root, f"{COMMITTED}; git checkout -qb side; echo two > a; git commit -qam two")
    shell(
        root, "git checkout -q main; echo three > a; git commit -qam three; git rebase side || true"
    )
    shell(root, "git symbolic-ref refs/heads/master refs/heads/main")
    for script in ("sleep 1; echo x > b", "git symbolic-ref refs/heads/master refs/heads/side"):
        running = await bench.start(f"{script}; echo made; sleep 60")
        await lines_of(running, "made")
        notes = (await running.finish()).notes
        assert ("put back as it was" in str(notes)) == ("symbolic" in script), notes
        assert "left as it is" not in str(notes)
    assert shell(root, "git symbolic-ref refs/heads/master") == "refs/heads/main\n"
    shell(root, "echo both > a; git add a; GIT_EDITOR=true git rebase --continue")
    assert shell(root, "git log --format=%s").split() == ["three", "two", "one"]


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
async def test_git_shows_what_a_run_has_changed(each: RunBench, root: Path, flag: str) -> None:
    """Files at which git does not look, but for those that were so before."""
    shell(root, f"{COMMITTED}; echo b > b; git add b; git commit -qm b")
    shell(root, "git update-index --skip-worktree b")
    outcome = await each.changed(f"echo evil > a; git update-index --{flag} a; echo mine > b")
    assert shell(root, "git status --porcelain") == " M a\n"
    assert (root / "b").read_text() == "mine\n"
    in_place = "no change of a" in str(outcome.notes)
    assert in_place == ("put back" in str(outcome.notes))
    await each.changed("echo c > c; git add c")
    assert shell(root, "git ls-files -t b; git status --porcelain") == "S b\n M a\nA  c\n"


async def test_a_job_that_hides_what_it_changed_is_told(bench: RunBench, root: Path) -> None:
    shell(root, COMMITTED)
    running = await bench.start(
        "echo evil > a; git update-index --assume-unchanged a; echo made; sleep 60"
    )
    await lines_of(running, "made")
    notes = (await running.finish()).notes
    assert any("git would show no change of a" in note for note in notes), notes
    await bench.undo()
    assert shell(root, "git status --porcelain") == ""
    assert (root / "a").read_text() == "one\n"


async def test_files_that_settings_leave_out_stay_so(each: RunBench, root: Path) -> None:
    shell(root, f"{COMMITTED}; mkdir in out; touch in/a out/a; git add .; git commit -qm two")
    shell(root, "git config core.sparseCheckout true; git config core.sparseCheckoutCone true")
    shell(root, "printf '/*\\n!/*/\\n/in/\\n' > .git/info/sparse-checkout; git read-tree -mu HEAD")
    outcome = await each.changed(
        "git checkout -qb more; b=$(git hash-object -w a); git update-index --add --cacheinfo "
        "100644,$b,out/b; git update-index --skip-worktree out/b; git commit -qm three"
    )
    assert outcome.state == "applied", outcome.notes
    assert shell(root, "git status --porcelain; git ls-files -t out") == "S out/a\nS out/b\n"


UNSORTED = (
    "head -1 .git/packed-refs > p; grep -v '^[#^]' .git/packed-refs | sort -rk2 >> p; "
    "mv p .git/packed-refs"
)


async def test_no_packed_branch_seems_to_be_gone(each: RunBench, root: Path) -> None:
    shell(root, f"{COMMITTED}; git tag -am v1 v1; echo two > a; git commit -qam two")
    shell(root, "git branch b; git branch c; git pack-refs --all")
    before = references(root)
    twice, unknown = "sed -i 2p .git/packed-refs", "echo x >> .git/packed-refs"
    for script in (UNSORTED, twice, unknown):
        outcome = await each.changed(f"{script}; echo x > note")
        assert any("packed-refs" in note for note in outcome.notes), (script, outcome.notes)
        assert references(root) == before, script


async def test_no_packed_branch_seems_to_be_gone_by_a_job(bench: RunBench, root: Path) -> None:
    shell(root, f"{COMMITTED}; git branch b; git branch c; git pack-refs --all")
    before = references(root)
    running = await bench.start(f"{UNSORTED}; echo made; sleep 60")
    await lines_of(running, "made")
    notes = (await running.finish()).notes
    assert any("put back as it was: it is not sorted" in note for note in notes), notes
    assert references(root) == before


async def test_what_packed_tags_lead_to_is_found_out_by_git(bench: RunBench, root: Path) -> None:
    shell(root, f"{COMMITTED}; git tag -am v1 v1; git pack-refs --all; echo two > a")
    shell(root, "git commit -qam two")
    outcome = await bench.changed(
        'sed -i "s/^^.*/^$(git rev-parse HEAD)/" .git/packed-refs; git describe HEAD | grep -x v1'
    )
    assert outcome.state == "applied", outcome.notes
    assert shell(root, "git describe HEAD").startswith("v1-1-g")
    shell(root, "git pack-refs --all; git fsck --strict")
    assert "peeled" in (root / ".git/packed-refs").read_text()


async def test_a_rebase_that_stops_says_what_to_do(each: RunBench, root: Path) -> None:
    """Its commits, index and files are there, and nobody can go on with it."""
    shell(root, f"{COMMITTED}; git checkout -qb side; echo two > a; git commit -qam two")
    shell(root, "git checkout -q main; echo three > a; git commit -qam three")
    before = shell(root, "git status; git log")
    outcome = await each.changed("git rebase side || true")
    assert any("or undo that run" in note for note in outcome.notes), outcome.notes
    await each.undo()
    assert shell(root, "git status; git log") == before
    resolved = "echo both > a; git add a; GIT_EDITOR=true git rebase --continue"
    outcome = await each.changed(f"git rebase side || {{ {resolved}; }}")
    assert not any("undo" in note for note in outcome.notes), outcome.notes
    assert shell(root, "git log --format=%s").split() == ["three", "two", "one"]


async def test_a_submodule_of_the_user_is_looked_at_too(
    bare: RunBench, root: Path, tmp_path: Path
) -> None:
    shell(tmp_path, f"mkdir up; cd up; {COMMITTED}")
    allowed = "git -c protocol.file.allow=always submodule --quiet add"
    shell(root, f"git init -qb main; {allowed} {tmp_path}/up sub; {WHO}; git commit -qm sub")
    running = await bare.start(
        "git -C sub symbolic-ref refs/heads/feat refs/heads/main; echo made; sleep 60"
    )
    await lines_of(running, "made")
    notes = (await running.finish()).notes
    assert any("feat was removed" in note for note in notes), notes
    assert shell(root / "sub", "git for-each-ref --format='%(refname)' refs/heads") == (
        "refs/heads/main\n"
    )
