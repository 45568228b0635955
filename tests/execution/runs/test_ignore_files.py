"""A run that has git take up what is protected from reading waits for the user."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.execution.runs.conftest import RunBench
from toolcrib.execution.runs.triggers import UNCOVERED

TAKES_UP = {
    "a line is gone": "echo build > .gitignore",
    "the file is gone": "rm .gitignore",
    "the file is a folder": "rm .gitignore; mkdir .gitignore",
    "an exception": "echo '!.env' >> .gitignore",
    "an exception by signs": "echo '!*.e?v*' >> .gitignore",
    "another order": "printf '!.env*\\nbuild\\n' > .gitignore",
    "one further down": "echo '!x.pem' > conf/.gitignore",
    "the folder above": "sed -i /keys/d .gitignore",
    "a long one": "(cat .gitignore; seq 100000) > x; mv x .gitignore",
    "the list of the repository": ": > .git/info/exclude",
    "its folder is gone": "rm -rf .git/info",
    "its folder has another name": "mv .git/info .git/other",
    "a file that git may not read": "chmod 000 .gitignore",
    "a folder that git may not read": "chmod 000 .git/info",
    "behind a mark of the order of bytes": "printf '\\357\\273\\277!.env\\n' > sub/.gitignore",
    "with a sign of the end of a line": "sed -i 's/^.env/x\\r.env/' .gitignore",
    "an exception that comes last": "printf '!.env\\n' >> sub/.gitignore",
    "an exception with a class": "echo '!.en[[:lower:]]' >> .gitignore",
    "an exception with an escape": "echo '!.en\\v' >> .gitignore",
    "a long exception": "echo '!/**/**/.env'$(printf '/%0600d' 1) >> .gitignore",
    "a class in its place": "sed -i 's/^.env.*/[.]env/' .gitignore",
    "two stars in a name": "sed -i 's/^.env.*/s**.env/' .gitignore",
    "two slashes": "sed -i 's/^.env.*/.\\/\\/.env/' .gitignore",
    "in other letters": "echo '!.ENV' >> .gitignore",
    "the list of npm": "echo build > .npmignore",
    "that of docker": "echo build > .dockerignore",
    "that of one dockerfile": "echo build > prod.Dockerfile.dockerignore",
    "that of one dockerfile further down": "echo build > conf/Dockerfile.dockerignore",
    "that of podman": "echo build > .containerignore",
    "that of elastic beanstalk": "echo build > .ebignore",
    "that of mercurial": "sed -i /env/d .hgignore",
    "that of an agent": "rm .cursorignore",
    "what a build holds": "sed -i /build/d .gitignore",
    "what a build holds further down": "echo '!dist/' > sub/.gitignore",
}
TAKES_UP |= {
    "a list of any program": "sed -i /env/d .toolignore",
    "a list that is included": "sed -i /include/d .gcloudignore",
}
PLAIN = {
    "one more line": "echo dist >> .gitignore",
    "a line for these files": "sed -i 's/^.env.*/**\\/.env/' .gitignore",
    "a first list of docker": "echo build > sub/.dockerignore",
    "a list of npm with all": "(cat .gitignore; echo '*.key') > sub/.npmignore",
    "ends of lines": "sed -i 's/$/\\r/' .gitignore",
    "another line is gone": "sed -i /cache/d .gitignore",
    "a list of podman with all": "cp .dockerignore .containerignore",
    "a list of one dockerfile with all": "cp .dockerignore conf/Dockerfile.dockerignore",
    "one more line of mercurial": "echo x >> .hgignore",
    "what was fetched": "sed -i /node_modules/d .gitignore",
    "an exception of others": "echo '!build/x' >> .gitignore",
    "a comment": "sed -i '1i # ours' .gitignore",
    "one where nothing is": "mkdir -p new; echo '!.env' > new/.gitignore",
    "no change": "touch .gitignore",
}
IGNORED = ".env*\nbuild\ndist\n*.pem\n/keys/\n.cache\nnode_modules\n"


@pytest.fixture
def full(root: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in (
        *(".env", "conf/x.pem", "keys/id_rsa", "server.key", "sub/.env", "build/prod.p12"),
        *("sub/dist/prod.p12", "node_modules/x/test.p12"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("a secret\n")
    (root / ".hgignore").write_text("syntax: regexp\nenv\n")
    (root / ".cursorignore").write_text(IGNORED)
    (root / ".toolignore").write_text(IGNORED)
    (root / ".gcloudignore").write_text("#!include:.gitignore\n")
    (root / ".gitignore").write_text(IGNORED)
    (root / ".dockerignore").write_text(IGNORED)
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("*.key\n")
    return root


@each_case("script", TAKES_UP.values(), ids=TAKES_UP)
async def test_it_is_held(bench: RunBench, full: Path, script: str) -> None:
    outcome = await bench.changed(script)
    assert outcome.state == "held", outcome.notes
    assert f"{UNCOVERED}: " in str(outcome.notes), "the file is named"
    assert await bench.runs.is_for_user(outcome.pending_id, bench.ctx())
    assert (full / ".gitignore").read_text() == IGNORED


@each_case("script", PLAIN.values(), ids=PLAIN)
async def test_other_changes_are_made(bench: RunBench, full: Path, script: str) -> None:
    (full / ".gitignore").write_text(IGNORED)
    outcome = await bench.changed(script)
    assert outcome.state in ("applied", "unchanged"), outcome
    assert UNCOVERED not in str(outcome.notes)


async def test_what_git_took_up_before(bench: RunBench, full: Path) -> None:
    (full / ".gitignore").write_text("cache\n!.env\n")
    (full / ".git/info/exclude").unlink()
    for script in ("echo other >> .gitignore", "echo '!.env' >> .gitignore", "rm .gitignore"):
        outcome = await bench.changed(script)
        assert outcome.state == "applied", outcome.notes


async def test_a_repository_within_another_is_held(bench: RunBench, full: Path) -> None:
    """In it, the ignore files above count no more."""
    for script in ("git init -q sub", "mkdir sub/.git; cp -r .git/* sub/.git/"):
        outcome = await bench.changed(script)
        assert outcome.state == "held", outcome.notes
        assert UNCOVERED in str(outcome.notes)
    (full / "sub/.gitignore").write_text(".env*\ndist\n")
    assert (await bench.changed("git init -q sub")).state == "applied"


async def test_what_a_link_in_a_repository_leads_to(bench: RunBench, full: Path) -> None:
    (full / "mine").write_text("*.key\n")
    (full / ".git/info/exclude").unlink()
    (full / ".git/info/exclude").symlink_to("../../mine")
    assert (await bench.changed("echo > mine")).state == "held"


async def test_a_repository_where_nothing_is_protected(bench: RunBench, full: Path) -> None:
    assert (await bench.changed("git init -q other")).state == "applied"
    assert (full / "other/.git").exists()


async def test_the_first_repository(bench: RunBench, root: Path) -> None:
    """No ignore file counted before."""
    (root / ".env").write_text("a secret\n")
    assert (await bench.changed("git init -q .")).state == "applied"
