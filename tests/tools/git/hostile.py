"""Hostile repositories: what is planted in one, and what plain git does with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.indexes import index_naming, packs_naming
from tests.tools.git.made import commit, git, make_repository, on_a_side, write

Plant = Callable[[Path, str], None]


@dataclass(frozen=True)
class Payload:
    """One way to make git run, read or write something.

    Attributes:
        name: of what is used.
        plant: prepares a repository so that a shell command is run, or another effect is had.
        control: commands of plain git by which it happens.
        effect: what tells that it happened, beside the mark that the command leaves.
        terminal: whether plain git does it only where a person looks.
    """

    name: str
    plant: Plant
    control: tuple[tuple[str, ...], ...]
    effect: Callable[[Path], bool] | None = None
    terminal: bool = False


def setting(*names: str, value: str = "{run}", **more: str) -> Plant:
    """Settings of the repository; `{run}` in a value is the command that leaves the mark.

    `{script}` is a program that does.
    """

    def plant(repo: Path, run: str) -> None:
        script = repo / ".git" / "run-it"
        script.write_text(f"#!/bin/sh\n{run}\n")
        script.chmod(0o755)
        both_names = {**dict.fromkeys(names, value), **more}
        for name, text in both_names.items():
            filled = text.replace("{run}", run).replace("{script}", str(script))
            git(repo, "config", "--add", name.replace("__", "."), filled)

    return plant


def attribute(line: str, then: Plant) -> Plant:
    def plant(repo: Path, run: str) -> None:
        with (repo / ".gitattributes").open("a") as file:
            file.write(f"{line}\n")
        commit(repo, "attributes")
        then(repo, run)
        write(repo, **{"a.txt": "changed\n"})

    return plant


def hook(name: str) -> Plant:
    def plant(repo: Path, run: str) -> None:
        place = repo / ".git" / "hooks" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\n{run}\nexit 0\n")
        place.chmod(0o755)

    return plant


def both(*plants: Plant) -> Plant:
    def plant(repo: Path, run: str) -> None:
        for each in plants:
            each(repo, run)

    return plant


def changed(repo: Path, run: str) -> None:
    del run
    write(repo, **{"a.txt": "changed\n"})


def hooks_folder(repo: Path, run: str) -> None:
    write(repo, **{"tracked-hooks/pre-commit": f"#!/bin/sh\n{run}\n"})
    (repo / "tracked-hooks" / "pre-commit").chmod(0o755)
    git(repo, "config", "core.hooksPath", "tracked-hooks")


def included(repo: Path, run: str) -> None:
    (repo / "more.config").write_text(f'[core]\n\tfsmonitor = "{run}; false"\n')
    git(repo, "config", "include.path", "../more.config")


def included_if(repo: Path, run: str) -> None:
    (repo / "more.config").write_text(f'[core]\n\tfsmonitor = "{run}; false"\n')
    git(repo, "config", "includeIf.gitdir:/.path", str(repo / "more.config"))


def of_working_tree(repo: Path, run: str) -> None:
    git(repo, "config", "extensions.worktreeConfig", "true")
    (repo / ".git" / "config.worktree").write_text(f'[core]\n\tfsmonitor = "{run}; false"\n')


def conflicting(then: Plant) -> Plant:
    """Two branches that change one file."""

    def plant(repo: Path, run: str) -> None:
        with (repo / ".gitattributes").open("a") as file:
            file.write("a.txt merge=evil\n")
        commit(repo, "attributes")
        on_a_side(repo, **{"a.txt": "side\n"})
        write(repo, **{"a.txt": "main\n"})
        commit(repo, "main")
        then(repo, run)

    return plant


def commondir(repo: Path, run: str) -> None:
    """`.git/commondir` leads to a tracked folder with settings of its own."""
    other = repo / "tracked"
    subprocess.run(["cp", "-r", str(repo / ".git"), str(other)], check=True)
    git(repo, "config", "--file", str(other / "config"), "core.fsmonitor", f"{run}; false")
    (repo / ".git" / "commondir").write_text("../tracked\n")


def git_file(repo: Path, run: str) -> None:
    """`.git` is a file that leads to a tracked folder."""
    os.rename(repo / ".git", repo / "tracked")
    git(repo, "config", "--file", str(repo / "tracked/config"), "core.fsmonitor", f"{run}; false")
    (repo / ".git").write_text("gitdir: tracked\n")


def bare_in_tree(repo: Path, run: str) -> None:
    """The repository is a bare one in its own tree, found where the call works."""
    inner = repo
    for name in ("HEAD", "objects", "refs", "config"):
        subprocess.run(["cp", "-r", str(repo / ".git" / name), str(inner / name)], check=True)
    subprocess.run(["rm", "-rf", str(repo / ".git")], check=True)
    config = str(inner / "config")
    git(repo.parent, "config", "--file", config, "core.fsmonitor", f"{run}; false")
    git(repo.parent, "config", "--file", config, "core.bare", "false")
    git(repo.parent, "config", "--file", config, "core.worktree", str(inner))


def submodule(repo: Path, run: str) -> None:
    """A folder in it with a repository of its own."""
    inner = make_repository(repo / "inner")
    commit(repo, "a submodule")
    git(inner, "config", "core.fsmonitor", f"{run}; false")
    write(inner, **{"a.txt": "changed\n"})


def submodule_never_ignored(repo: Path, run: str) -> None:
    """The same, and what the repository says of it goes before what git is told by settings."""
    (repo / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\tignore = none\n')
    submodule(repo, run)
    git(repo, "config", "submodule.inner.ignore", "none")


def submodule_unborn(repo: Path, run: str) -> None:
    """One that stands in an index before the first commit; its settings lie in `.git/modules`."""
    submodule(repo, run)
    settled = repo / ".git" / "modules" / "inner"
    settled.parent.mkdir()
    os.rename(repo / "inner" / ".git", settled)
    (repo / "inner" / ".git").write_text("gitdir: ../.git/modules/inner\n")
    git(repo, "--git-dir", str(settled), "config", "core.worktree", "../../../inner")
    git(repo, "update-ref", "-d", "refs/heads/main")


def outside_of(repo: Path) -> Path:
    return repo.parent / "outside"


def working_tree_outside(repo: Path, run: str) -> None:
    del run
    outside_of(repo).mkdir()
    git(repo, "config", "core.worktree", str(outside_of(repo)))


def linked(name: str) -> Plant:
    """A file of `.git` is a link to one outside of the workspace."""

    def plant(repo: Path, run: str) -> None:
        del run
        target = outside_of(repo)
        target.write_text("precious\n")
        place = repo / ".git" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(target)
        write(repo, **{"a.txt": "changed\n"})

    return plant


def was_written(repo: Path) -> bool:
    place = outside_of(repo)
    return place.read_text() != "precious\n" if place.is_file() else any(place.iterdir())


def elsewhere(repo: Path) -> Path:
    """Another repository outside of the workspace, with a file that is not for everybody."""
    other = outside_of(repo)
    if not other.exists():
        make_repository(other, **{"secret.txt": "canary-4711\n"})
    return other


def alternates(repo: Path, run: str) -> None:
    del run
    other = elsewhere(repo)
    (repo / ".git/objects/info").mkdir(exist_ok=True)
    (repo / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    (repo / ".git/refs/heads/main").write_text(git(other, "rev-parse", "HEAD"))


def quoted_alternates(repo: Path, run: str) -> None:
    """The same in quotes and escapes, which git takes off."""
    alternates(repo, run)
    place = repo / ".git/objects/info/alternates"
    place.write_text(f'"{place.read_text().strip()}"\n'.replace("/objects", "/objec\\164s"))


def parted_alternates(repo: Path, run: str) -> None:
    """The same, with a line separator that ends no line for git; the first part lies here."""
    alternates(repo, run)
    place = repo / ".git/objects/info/alternates"
    (repo / "near\u2028by").mkdir()
    place.write_text(f"{repo}/near\u2028by/../../{elsewhere(repo).name}/.git/objects\n")


def listed_packs(repo: Path, run: str) -> None:
    """A list of packs that names one of another repository."""
    del run
    other = elsewhere(repo)
    git(other, "repack", "-qad")
    (pack,) = (other / ".git/objects/pack").glob("*.idx")
    rows = (line.split() for line in git(other, "verify-pack", "-v", str(pack)).splitlines())
    objects = {row[0]: int(row[4]) for row in rows if len(row) == 5 and len(row[0]) == 40}
    place = repo / ".git/objects/pack/multi-pack-index"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(packs_naming(os.path.relpath(pack, place.parent), objects))
    (repo / ".git/refs/heads/main").write_text(git(other, "rev-parse", "HEAD"))


def linked_alternates(kind: str) -> Plant:
    """Objects in a folder of the tree, where links lead to those of another repository."""

    def plant(repo: Path, run: str) -> None:
        alternates(repo, run)
        objects = elsewhere(repo) / ".git/objects"
        near = repo / "near"
        near.mkdir()
        if kind == "pack":
            git(elsewhere(repo), "repack", "-qad")
            (near / "pack").symlink_to(objects / "pack")
        else:
            for folder in objects.iterdir():
                if kind == "folders":
                    (near / folder.name).symlink_to(folder)
                else:
                    (near / folder.name).mkdir()
                    for file in folder.iterdir():
                        (near / folder.name / file.name).symlink_to(file)
        (repo / ".git/objects/info/alternates").write_text(f"{near}\n")

    return plant


def shows_secret(repo: Path) -> bool:
    return "canary-4711" in git(repo, "show", "main:secret.txt", ok=False)


def instead_of(repo: Path, run: str) -> None:
    del run
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    git(repo, "config", f"url.{elsewhere(repo)}/.insteadOf", "https://example.invalid/x.git")


def remote_ref(repo: Path) -> bool:
    return bool(git(repo, "rev-parse", "-q", "--verify", "origin/main", ok=False))


def push_elsewhere(name: str) -> Plant:
    def plant(repo: Path, run: str) -> None:
        del run
        other = outside_of(repo)
        git(repo.parent, "init", "-q", "--bare", str(other))
        git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
        if name == "pushurl":
            git(repo, "config", "remote.origin.pushurl", str(other))
        else:
            git(repo, "config", f"url.{other}.pushInsteadOf", "https://example.invalid/x.git")

    return plant


def pushed(repo: Path) -> bool:
    return bool(git(outside_of(repo), "for-each-ref"))


def rebase_in_progress(repo: Path, run: str, before: str = "") -> None:
    state = repo / ".git" / "rebase-merge"
    state.mkdir()
    head = git(repo, "rev-parse", "HEAD").strip()
    for name, text in {
        "git-rebase-todo": f"{before}exec {run}\n",
        "head-name": "refs/heads/main",
        "onto": head,
        "orig-head": head,
        "interactive": "",
        "msgnum": "1",
        "end": "1",
    }.items():
        (state / name).write_text(text)


def rebase_indented(repo: Path, run: str) -> None:
    """git skips spaces and tabs before an order."""
    rebase_in_progress(repo, run, " \t")


def linked_objects(repo: Path, run: str) -> None:
    """Objects are links to those of another repository, one by one."""
    del run
    objects = elsewhere(repo) / ".git" / "objects"
    for place in (place for place in objects.glob("??/*") if place.is_file()):
        link = repo / ".git" / "objects" / place.parent.name / place.name
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(place)
    (repo / ".git/refs/heads/main").write_text(git(elsewhere(repo), "rev-parse", "HEAD"))


def index_that_leads_out(*names: str) -> Plant:
    """An index whose names git trusts: what they lead to is written, or shown."""

    def plant(repo: Path, run: str) -> None:
        del run
        outside_of(repo).mkdir()
        data = index_naming(*names, blob=bytes.fromhex(git(repo, "rev-parse", "HEAD:a.txt")))
        (repo / ".git" / "index").write_bytes(data)

    return plant


def displayed_by_diff(repo: Path, run: str) -> None:
    index_that_leads_out("../outside/secret.txt")(repo, run)
    (outside_of(repo) / "secret.txt").write_text("canary-4711\n")


def shows_canary(repo: Path) -> bool:
    return "canary-4711" in git(repo, "diff", ok=False)


def folder_in_disguise(disguise: str) -> Plant:
    """A branch with a folder that other systems take for `.git`."""

    def plant(repo: Path, run: str) -> None:
        del run
        name = repo / "settings"
        name.write_text("[core]\n")
        blob = git(repo, "hash-object", "-w", "settings").strip()
        name.unlink()
        trees = [line.partition("\t")[0] for line in git(repo, "ls-tree", "HEAD").splitlines()]
        inner = made_tree(repo, f"100644 blob {blob}\tconfig\n")
        top = made_tree(repo, f"{trees[0]}\ta.txt\n040000 tree {inner}\t{disguise}\n")
        made = git(repo, "commit-tree", "-p", "HEAD", "-m", "x", top).strip()
        git(repo, "branch", "side", made)
        git(repo, "config", "core.protectNTFS", "false")

    return plant


IGNORED_LETTER = ".g\u200cit"
"""macOS takes it for `.git`."""
SHORT_NAME = "git~1"
"""Windows does."""


def made_tree(repo: Path, lines: str) -> str:
    done = subprocess.run(
        ["git", "mktree"], cwd=repo, input=lines.encode(), capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def is_disguised(repo: Path) -> bool:
    return any((repo / name).exists() for name in (IGNORED_LETTER, SHORT_NAME))


def has_hook(repo: Path) -> bool:
    return (repo / ".git/hooks/post-checkout").exists()


def promisor(repo: Path, run: str) -> None:
    """An object is missing, and the settings name where to fetch it, and by which program."""
    blob = git(repo, "rev-parse", "HEAD:a.txt").strip()
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    settings = {"remote__origin__promisor": "true", "extensions__partialClone": "origin"}
    setting("remote.origin.uploadpack", **LOCAL, **settings)(repo, run)
    git(repo, "config", "core.repositoryFormatVersion", "1")


def alternate_refs(repo: Path, run: str) -> None:
    """A program that lists what objects elsewhere are reachable from; they lie in the tree."""
    other = make_repository(repo / "tracked")
    (repo / ".git/objects/info").mkdir(exist_ok=True)
    (repo / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    setting("core.alternateRefsCommand", value="{run}; true #", **LOCAL)(repo, run)
    git(repo, "config", "remote.origin.url", str(make_repository(repo / "new", b="b\n")))


def old_place(folder: str, text: str) -> Plant:
    """Settings of a remote where git kept them once."""

    def plant(repo: Path, run: str) -> None:
        setting("core.unused", protocol__ext__allow="always")(repo, run)
        place = repo / ".git" / folder / "origin"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text.replace("{script}", str(repo / ".git" / "run-it")))

    return plant


def followed_branch(repo: Path, run: str) -> None:
    """The branch follows an address instead of a remote."""
    script = repo / ".git" / "run-it"
    setting(
        "branch.main.merge", value="refs/heads/main", branch__main__remote=f"ext::{script}",
        protocol__ext__allow="always",
    )(repo, run)  # fmt: skip


def updated_submodule(repo: Path, run: str) -> None:
    inner = make_repository(repo / "inner")
    (repo / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')
    commit(repo, "a submodule")
    commit(inner, "another")
    git(repo, "config", "submodule.inner.url", str(inner))
    git(repo, "config", "submodule.inner.active", "true")
    git(repo, "config", "submodule.inner.update", f"!{run};")


def fetched_submodule(repo: Path, run: str) -> None:
    """One that is fetched with what holds it."""
    updated_submodule(repo, run)
    script = repo / ".git" / "run-it"
    setting("fetch.recurseSubmodules", value="true", **LOCAL)(repo, run)
    for name, value in (("url", "."), ("uploadpack", str(script)), ("fetch", "+refs/*:refs/x/*")):
        git(repo / "inner", "config", f"remote.origin.{name}", value)


def displayed_submodule(repo: Path, run: str) -> None:
    """A diff that enters it."""
    submodule(repo, run)
    git(repo / "inner", "config", "--unset", "core.fsmonitor")
    git(repo / "inner", "config", "diff.external", f"{run}; false")
    git(repo, "config", "diff.submodule", "diff")


def packed_twice(repo: Path, run: str) -> None:
    """More packs than the settings want: garbage is collected, and a hook asked before."""
    hook("pre-auto-gc")(repo, run)
    for name in ("b", "c", "d"):
        write(repo, **{f"{name}.txt": name})
        commit(repo, name)
        git(repo, "repack", "-q")
    git(repo, "config", "gc.autoPackLimit", "1")
    git(repo, "config", "gc.autoDetach", "false")


def signed(repo: Path, run: str) -> None:
    """A commit with a signature, which is looked at whenever it is shown."""
    text = git(repo, "cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    mark = "-----{0} PGP SIGNATURE-----"
    signature = f"gpgsig {mark.format('BEGIN')}\n x\n {mark.format('END')}"
    (repo / ".git" / "signed").write_text(f"{head}\n{signature}\n\n{message}")
    made = git(repo, "hash-object", "-t", "commit", "-w", ".git/signed").strip()
    git(repo, "update-ref", "HEAD", made)
    setting("gpg.program", value="{script}", log__showSignature="true")(repo, run)


NO_REFS = b"001e# service=git-upload-pack\n00000000"


class Listener:
    """A server of HTTP that notes what it is sent, and refuses all but an empty repository."""

    def __init__(self) -> None:
        seen: list[str] = []

        class Refusal(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(f"{self.path} {self.headers}")
                self.send_response(200 if self.path.startswith("/open") else 401)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.send_header("Set-Cookie", "planted=1; Max-Age=1000")
                self.send_header("Content-Length", str(len(NO_REFS)))
                self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
                self.end_headers()
                self.wfile.write(NO_REFS)

            def log_message(self, *_: object) -> None:
                pass

        self.seen = seen
        server = ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
        self.port = server.server_address[1]
        Thread(target=server.serve_forever, daemon=True).start()


@lru_cache(maxsize=1)
def listener() -> Listener:
    """One for all tests of a process."""
    return Listener()


def by_http(*names: str, value: str = "{run}", **more: str) -> Plant:
    """The same with a remote that wants a password; `{port}` is that of the server."""

    def plant(repo: Path, run: str) -> None:
        listener().seen.clear()
        (repo.parent / "cookies").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tcanary-4711\n")
        url = {"remote__origin__url": f"http://127.0.0.1:{listener().port}/x.git", **REMOTE}
        filled = {
            key: text.replace("{port}", str(listener().port)).replace("{near}", str(repo.parent))
            for key, text in {"": value, **more}.items()
        }
        own = [name.replace("{port}", str(listener().port)) for name in names]
        setting(*own, value=filled.pop(""), **{**url, **filled})(repo, run)

    return plant


def was_sent(text: str) -> Callable[[Path], bool]:
    return lambda _: any(text in each for each in listener().seen)


def cookies_written(repo: Path) -> bool:
    return "planted" in (repo.parent / "cookies").read_text()


MON = "{run}; false"
REMOTE = {"remote__origin__fetch": "+refs/heads/*:refs/remotes/origin/*"}
LOCAL = {"remote__origin__url": ".", **REMOTE}
SSH = {"remote__origin__url": "ssh://127.0.0.1:1/x", **REMOTE}
EXT = {"protocol__ext__allow": "always"}
GO, DIFF, ADD = (("status",),), (("diff",),), (("add", "."),)
COMMIT = (("add", "."), ("commit", "-m", "x"))
FETCH, PUSH = (("fetch", "origin"),), (("push", "origin", "HEAD:refs/heads/new"),)
FILTERED = "*.txt filter=evil"

RUNNING = (
    Payload("core.fsmonitor", setting("core.fsmonitor", value=MON), GO),
    Payload("include.path", included, GO),
    Payload("includeIf", included_if, GO),
    Payload("config.worktree", of_working_tree, GO),
    Payload("core.hooksPath", both(hooks_folder, changed), COMMIT),
    *(
        Payload(f"hook {name}", both(hook(name), changed), commands)
        for name, commands in {
            "pre-commit": COMMIT,
            "prepare-commit-msg": COMMIT,
            "commit-msg": COMMIT,
            "post-commit": COMMIT,
            "post-index-change": ADD,
            "post-checkout": (("checkout", "-b", "new"),),
            "post-merge": (("stash",), ("merge", "--no-ff", "HEAD")),
            "pre-rebase": (("stash",), ("rebase", "--force-rebase", "HEAD")),
            "reference-transaction": (("branch", "new"),),
            "post-rewrite": (("commit", "--amend", "-m", "y"),),
        }.items()
        if name != "post-merge"  # needs commits to merge: see `merge` below
    ),
    Payload("filter clean", attribute(FILTERED, setting("filter.evil.clean")), ADD),
    Payload(
        "filter smudge",
        attribute(FILTERED, setting("filter.evil.smudge")),
        (("checkout", "--", "a.txt"),),
    ),
    Payload("filter process", attribute(FILTERED, setting("filter.evil.process")), ADD),
    Payload("textconv", attribute("*.txt diff=evil", setting("diff.evil.textconv")), DIFF),
    Payload("diff command", attribute("*.txt diff=evil", setting("diff.evil.command")), DIFF),
    Payload("diff.external", both(setting("diff.external"), changed), DIFF),
    Payload("merge driver", conflicting(setting("merge.evil.driver")), (("merge", "side"),)),
    Payload(
        "hook post-merge",
        both(conflicting(setting("merge.evil.name", value="x")), hook("post-merge")),
        (("merge", "-s", "ours", "side"),),
    ),
    Payload(
        "gpg.program",
        both(setting("gpg.program", value="{script}", commit__gpgSign="true"), changed),
        COMMIT,
    ),
    Payload(
        "gpg.ssh.program",
        both(
            setting(
                "gpg.ssh.program",
                value="{script}",
                gpg__format="ssh",
                commit__gpgSign="true",
                user__signingKey="x",
            ),
            changed,
        ),
        COMMIT,
    ),
    Payload("core.sshCommand", setting("core.sshCommand", value=MON, **SSH), FETCH),
    Payload("remote.uploadpack", setting("remote.origin.uploadpack", **LOCAL), FETCH),
    Payload("remote.receivepack", setting("remote.origin.receivepack", **LOCAL), PUSH),
    Payload(
        "ext::",
        setting(
            "remote.origin.url", value="ext::{script}", protocol__ext__allow="always", **REMOTE
        ),
        FETCH,
    ),
    Payload(
        "core.gitProxy",
        setting(
            "core.gitProxy", value="{script}", remote__origin__url="git://127.0.0.1:1/x", **REMOTE
        ),
        FETCH,
    ),
    Payload("core.editor", both(setting("core.editor"), changed), (("commit", "-a"),)),
    Payload("sequence.editor", setting("sequence.editor"), (("rebase", "-i", "--root"),)),
    Payload("alias", setting("alias.st", value="!{run}"), (("st",),)),
    Payload(
        "trailer",
        both(setting("trailer.x.command", trailer__x__key="X"), changed),
        (("commit", "-am", "x", "--trailer", "x=y"),),
    ),
    Payload("commondir", commondir, GO),
    Payload("gitdir file", git_file, GO),
    Payload("bare repository in the tree", bare_in_tree, GO),
    Payload("submodule", submodule, GO),
    Payload("submodule, never ignored", submodule_never_ignored, (("commit", "-am", "x"),)),
    Payload("submodule, unborn", submodule_unborn, (("rm", "-r", "--cached", "inner"),)),
    Payload("rebase under way", rebase_in_progress, (("rebase", "--continue"),)),
    Payload("rebase under way, indented", rebase_indented, (("rebase", "--continue"),)),
    Payload("core.askPass", by_http("core.askPass", value="{script}"), FETCH),
    Payload("credential.helper", by_http("credential.helper", value="!{run};"), FETCH),
    Payload(
        "credential.helper of an address",
        by_http("credential.http://127.0.0.1:{port}.helper", value="!{run};"),
        FETCH,
    ),
    Payload("core.pager", setting("core.pager"), (("log",),), terminal=True),
    Payload("pager of a command", setting("pager.status"), GO, terminal=True),
    Payload(
        "gpg.x509.program",
        both(
            setting(
                "gpg.x509.program", value="{script}", gpg__format="x509", commit__gpgSign="true"
            ),
            changed,
        ),
        COMMIT,
    ),
    Payload("log.showSignature", signed, (("log",),)),
    Payload("promisor", promisor, (("log", "-p"),)),
    Payload("core.alternateRefsCommand", alternate_refs, FETCH),
    Payload(
        "remote.vcs",
        setting("remote.origin.vcs", value="ext", remote__origin__url="{script}", **EXT, **REMOTE),
        FETCH,
    ),
    Payload("remote in .git/remotes", old_place("remotes", "URL: ext::{script}\n"), FETCH),
    Payload("remote in .git/branches", old_place("branches", "ext::{script}\n"), FETCH),
    Payload("branch.remote", followed_branch, (("pull",),)),
    Payload("submodule.update", updated_submodule, (("submodule", "update"),)),
    Payload("fetch.recurseSubmodules", fetched_submodule, FETCH),
    Payload("diff.submodule", displayed_submodule, DIFF),
    Payload("hook pre-auto-gc", packed_twice, (("gc", "--auto"),)),
    Payload("hook pre-push", both(setting("x.y", **LOCAL), hook("pre-push")), PUSH),
    Payload(
        "hook pre-merge-commit",
        both(conflicting(setting("merge.evil.name", value="x")), hook("pre-merge-commit")),
        (("merge", "-s", "ours", "side"),),
    ),
)
"""By each of these plain git runs a command."""

LEADING = (
    Payload("core.worktree", working_tree_outside, (("checkout", "-f", "main"),), was_written),
    Payload("link COMMIT_EDITMSG", linked("COMMIT_EDITMSG"), COMMIT, was_written),
    Payload("link logs/HEAD", linked("logs/HEAD"), COMMIT, was_written),
    Payload("alternates", alternates, (), shows_secret),
    Payload("alternates in quotes", quoted_alternates, (), shows_secret),
    Payload("alternates in parts", parted_alternates, (), shows_secret),
    Payload("alternates, linked pack", linked_alternates("pack"), (), shows_secret),
    Payload("alternates, linked folders", linked_alternates("folders"), (), shows_secret),
    Payload("alternates, linked objects", linked_alternates("objects"), (), shows_secret),
    Payload("packs of another repository", listed_packs, (), shows_secret),
    Payload("linked objects", linked_objects, (), shows_secret),
    Payload("url.insteadOf", instead_of, FETCH, remote_ref),
    Payload("remote.pushurl", push_elsewhere("pushurl"), PUSH, pushed),
    Payload("url.pushInsteadOf", push_elsewhere("insteadOf"), PUSH, pushed),
    Payload(
        "index beside the tree",
        index_that_leads_out("../outside/x.txt"),
        (("checkout", "."),),
        was_written,
    ),
    Payload(
        "index in .git",
        index_that_leads_out(".git/hooks/post-checkout"),
        (("checkout", "."),),
        has_hook,
    ),
    Payload(
        ".git in disguise",
        folder_in_disguise(IGNORED_LETTER),
        (("merge", "side"),),
        is_disguised,
    ),
    Payload("git~1", folder_in_disguise(SHORT_NAME), (("merge", "side"),), is_disguised),
    Payload("index that shows", displayed_by_diff, (), shows_canary),
    Payload(
        "http.extraHeader",
        by_http("http.extraHeader", value="X: planted"),
        FETCH,
        was_sent("planted"),
    ),
    Payload(
        "http.cookieFile",
        by_http("http.cookieFile", value="{near}/cookies"),
        FETCH,
        was_sent("canary-4711"),
    ),
    Payload(
        "http.saveCookies",
        by_http(
            "http.cookieFile",
            value="{near}/cookies",
            http__saveCookies="true",
            remote__origin__url="http://127.0.0.1:{port}/open.git",
        ),
        FETCH,
        cookies_written,
    ),
    Payload(
        "http.proxy",
        by_http(
            "http.proxy",
            value="http://127.0.0.1:{port}",
            remote__origin__url="http://example.invalid/x.git",
        ),
        FETCH,
        was_sent("example.invalid"),
    ),
)
"""By each of these plain git reads or writes outside, or sends elsewhere."""

ALONE = frozenset(
    {"commondir", "gitdir file", "bare repository in the tree", "rebase under way"}
    | {"rebase under way, indented"}
    | {"hook post-merge"}
    | {"submodule", "submodule, never ignored", "submodule, unborn"}
)
"""Those that need a repository of their own; the others can stand in one."""

APART = frozenset(
    {"core.askPass", "credential.helper", "credential.helper of an address", "log.showSignature"}
    | {"promisor", "core.alternateRefsCommand", "remote.vcs", "remote in .git/remotes"}
    | {"remote in .git/branches", "branch.remote", "submodule.update", "fetch.recurseSubmodules"}
    | {"diff.submodule", "hook pre-auto-gc", "hook pre-merge-commit"}
    | {"http.extraHeader", "http.cookieFile", "http.saveCookies", "http.proxy"}
)
"""The same, tried one by one at night, by those of the tools that could fall for them."""

DRIVERS = {
    "filter clean": "filter.evil.clean",
    "filter smudge": "filter.evil.smudge",
    "filter process": "filter.evil.process",
    "textconv": "diff.evil.textconv",
    "diff command": "diff.evil.command",
    "merge driver": "merge.evil.driver",
}


def combined(repo: Path, run: str) -> None:
    """All the others at once: first what is committed, then what would run on a commit."""
    (repo / ".gitattributes").write_text("*.txt filter=evil diff=evil merge=evil\n")
    conflicting(changed)(repo, run)
    for name in DRIVERS.values():
        setting(name)(repo, run)
    for payload in RUNNING:
        if payload.name not in ALONE | APART and payload.name not in DRIVERS:
            payload.plant(repo, run)
