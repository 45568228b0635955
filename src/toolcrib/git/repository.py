"""One repository as a call uses it: opened, judged, and worked on by git under our settings."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Busy, Denied, NotFound, ToolError, Unavailable
from toolcrib.files.handles import read_plain
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import real_path
from toolcrib.files.repositories.credentials import MAX_SETTINGS_BYTES, holds_credentials
from toolcrib.files.repositories.index import HASH_SIZES
from toolcrib.files.repositories.settings import Setting
from toolcrib.git.confinement import OBEYED, GitConfinement, confinement_of
from toolcrib.git.layout import (
    Layout,
    check_layout,
    find_layout,
    make_view,
    read_own,
    refuse_pipes,
    stored_file,
)
from toolcrib.git.program import (
    GLOBAL_BY_VARIABLE,
    HARDENED,
    QUIET,
    SECONDS,
    GitProgram,
    GitSetup,
    checked,
    ended,
    remove_view,
)
from toolcrib.git.revisions import range_ends, revision
from toolcrib.git.user_settings import forced, written
from toolcrib.system.processes import PASSED_ON, Finished
from toolcrib.system.threads import random_id

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
KNOWN_EXTENSIONS = frozenset(
    {
        *("objectformat", "refstorage", "worktreeconfig", "partialclone", "preciousobjects"),
        *("relativeworktrees", "noop", "noop-v1"),
    }
)
MAX_PUBLISHED_BYTES = 10_000_000
READABLE_EXTENSIONS = frozenset({"objectformat", "refstorage"})


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out: a branch, or "" for none, and its commit, or "" before the first."""

    branch: str
    commit: str

    @property
    def name(self) -> str:
        """In words."""
        return self.branch or (f"{self.commit[:8]} (detached)" if self.commit else "(nothing)")


@dataclass(slots=True)
class Repository:
    """An open one; `open_repository` makes it.

    Attributes:
        ctx: the call.
        program: git.
        folder: the top of its working tree.
        layout: its folders.
        settings: those of its own that are obeyed.
        ignored: the names of its own settings that are not.
        is_trusted: whether the user lets git use it as it is.
        environment: what git is told by variables.
        view: the folder that stands in for the shared one; None where git uses it as it is.
        confinement: how git is run in one that is trusted; None where no sandbox holds.
        outside: what git is told where it is not run so.
        known_published: of protected files, whether they are as in the last commit.
        until_closed: what ends with the call.
    """

    ctx: Ctx
    program: GitProgram
    setup: GitSetup
    folder: SafePath
    layout: Layout
    settings: list[Setting] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    is_trusted: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    view: Path | None = None
    confinement: GitConfinement | None = None
    outside: dict[str, str] = field(default_factory=dict)
    known_published: dict[str, bool] = field(default_factory=dict)
    until_closed: ExitStack = field(default_factory=ExitStack)

    @property
    def temporary(self) -> Path:
        """A folder for files that git reads or writes in the course of a call."""
        return self.view or self.program.views

    async def attempt(
        self,
        *args: str,
        stdin: bytes | str | None = None,
        env: dict[str, str] | None = None,
        reads: bool = False,
        seconds: float = SECONDS,
        passed_on: Sequence[str] = PASSED_ON,
        unobeyed: bool = False,
        plain: bool = False,
    ) -> Finished:
        """Run git in it, whatever its exit code.

        A text as `stdin` keeps the bytes of names that are none. `reads` says that nothing may be
        written, `unobeyed` that nothing of the repository's own
        runs, even of one that is trusted; for `plain` see `GitProgram.run`.
        """
        confined = None if unobeyed else self.confinement
        own = self.environment if confined or not self.confinement else self.outside
        variables = {**own, **(env or {})}
        if reads:
            variables["GIT_OPTIONAL_LOCKS"] = "0"
        given = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
        if confined is not None and self.view is not None:
            done = await confined.run(
                [self.setup.path, "--no-pager", *args],
                cwd=self.folder,
                env=variables,
                view=self.view,
                stdin=given,
                seconds=self.ctx.remaining(seconds),
            )
            return ended(args, done)
        return await self.program.run(
            self.ctx,
            args,
            cwd=self.folder,
            env=variables,
            stdin=given,
            seconds=seconds,
            passed_on=passed_on,
            plain=plain,
            published=self.published,
        )

    async def published(self, paths: Sequence[str]) -> set[str]:
        """Those files that are as in the last commit or the index, which any run may read."""
        names = {path: path.removeprefix(f"{self.layout.top}/") for path in paths}
        fresh = {p: n for p, n in names.items() if p not in self.known_published and n != p}
        plain = [path for path, name in fresh.items() if "\n" not in name]
        if plain:
            given = "".join(f"HEAD:{names[path]}\n:{names[path]}\n" for path in plain)
            done = await self.program.run(
                self.ctx,
                ["cat-file", "--batch-check=%(objectname)"],
                cwd=self.folder,
                env=self.outside or self.environment,
                stdin=os.fsencode(given),
            )
            known = lines_of(bytes(done.stdout))
            digits = 2 * HASH_SIZES[self.value("extensions.objectformat").lower() == "sha256"]
            now = await asyncio.to_thread(lambda: [blob_hash(path, digits) for path in plain])
            pairs = zip(plain, now, known[::2], known[1::2], strict=False)
            self.known_published.update((path, digest in two) for path, digest, *two in pairs)
        return {path for path in paths if self.known_published.get(path)}

    async def run(
        self, *args: str, stdin: bytes | str | None = None, env: dict[str, str] | None = None
    ) -> bytes:
        """What git prints that changes something.

        Raises:
            ToolError: it failed.
        """
        return checked(args, await self.attempt(*args, stdin=stdin, env=env))

    async def read(self, *args: str, stdin: bytes | str | None = None) -> bytes:
        """What git prints that changes nothing.

        Raises:
            ToolError: it failed.
        """
        return checked(args, await self.attempt(*args, stdin=stdin, reads=True))

    async def line(self, *args: str) -> str:
        """One line of a command that reads; "" where it failed."""
        done = await self.attempt(*args, reads=True)
        return text_of(bytes(done.stdout)).strip() if not done.exit_code else ""

    async def hash_of(self, name: str) -> str:
        """What a name leads to; "" where there is none."""
        return await self.line("rev-parse", "-q", "--verify", "--end-of-options", name)

    async def head(self) -> Head:
        """What is checked out."""
        commit = await self.hash_of("HEAD^{commit}")
        ref = await self.line("symbolic-ref", "-q", "HEAD")
        return Head(ref.removeprefix("refs/heads/"), commit)

    async def commit(self, text: str) -> str:
        """The hash of a commit.

        Raises:
            NotFound: there is none of that name.
        """
        name = revision(text)
        found = await self.hash_of(name + "^{commit}")
        if not found:
            if name == "HEAD":
                raise NotFound("There is no commit yet.", hint="git_commit makes the first.")
            raise NotFound(
                f"There is no commit '{name}'.", hint="git_branch and git_log show what there is."
            )
        if await self.line("for-each-ref", f"--points-at={found}", "refs/toolcrib"):
            # It holds files as they were, also those that are protected from reading.
            raise Denied(
                f"'{name}' is what undo_changes keeps, and is not shown.",
                hint="undo_changes goes back to it; git_log shows the other commits.",
            )
        return found

    async def commits_among(self, names: Iterable[str]) -> list[str]:
        """Those of some names that are commits, or tags of one, as hashes, each once."""
        given = "".join(f"{name}^{{commit}}\n" for name in dict.fromkeys(names))
        if not given:
            return []
        output = await self.read("cat-file", "--batch-check=%(objectname)", stdin=given)
        return list(dict.fromkeys(filter(_HASH.fullmatch, lines_of(output))))

    async def references(self, *under: str) -> dict[str, str]:
        """References, each with its object."""
        output = await self.read("for-each-ref", "--format=%(objectname) %(refname)", *under)
        pairs = (line.split(" ", 1) for line in lines_of(output))
        return {name: target for target, name in pairs}

    async def range(self, text: str) -> str:
        """A range, or one commit, by hashes."""
        first, dots, second = range_ends(text)
        return await self.commit(first) + (dots and dots + await self.commit(second))

    def value(self, name: str) -> str:
        """The last value that its own settings give and are let to, else the user's; or ""."""
        own = next((s.value for s in reversed(self.settings) if s.name == name), "")
        return own or self.setup.user_value(name)

    def name_of(self, path: SafePath) -> str:
        """A path as git names it; "" for the top.

        Raises:
            BadInput: it lies in another repository.
        """
        settled = path.settled()
        depth = len(self.folder.parts)
        if settled.root != self.folder.root or settled.parts[:depth] != self.folder.parts:
            raise BadInput(f"{path.display} is not in the repository {self.folder.display}.")
        return "/".join(settled.parts[depth:])

    def path_of(self, name: str) -> SafePath:
        """The file that git names so."""
        return self.folder.at((*self.folder.parts, *name.split("/")))

    def display(self, name: str) -> str:
        """A file as a call would name it."""
        return (
            self.path_of(name)
            .named_from(self.ctx.use(Workspace).start(self.ctx.session.directory))
            .display
        )

    def is_hidden(self, name: str) -> bool:
        """Whether the content of a file is protected from reading, by this name or another."""
        path = self.path_of(name)
        if path.gate.pattern(path, "read"):
            return True
        with suppress(OSError):
            return bool(path.gate.second_name(path, os.lstat(path.absolute)))
        return False

    def is_protected(self, name: str) -> bool:
        """Whether a file is protected from being written."""
        path = self.path_of(name)
        return bool(path.gate.pattern(path, "write"))

    @property
    def names_filters(self) -> bool:
        """Whether its own settings or the user's name a filter, which does not run here."""
        return self.setup.has_filters or any(name.startswith("filter.") for name in self.ignored)

    def has_hook(self, name: str) -> bool:
        """Whether there is a hook where git looks for one that is not named in settings."""
        return Path(self.layout.common_dir, "hooks", name).is_file()

    async def save_branch_settings(self) -> None:
        """Write what git noted about branches, such as what they follow, into the real settings."""
        if self.view is None:
            return
        before = [*self.setup.settings, *self.settings]
        if self.confinement is not None:
            await self._save_branches(self.view, self.confinement.own)
            now = await self._save_branches(Path(self.outside["GIT_COMMON_DIR"]), before)
        else:
            now = await self._save_branches(self.view, before)
        self.settings = [s for s in self.settings if s.section != "branch"]
        self.settings += [
            Setting("branch", *name.removeprefix("branch.").rpartition(".")[::2], value)
            for name, values in now.items()
            for value in values
        ]

    async def _save_branches(self, view: Path, settings: Sequence[Setting]) -> dict[str, list[str]]:
        """Save those of one folder that git worked with; all that it has of branches."""
        data = await asyncio.to_thread(read_own, str(view / "config"), MAX_SETTINGS_BYTES)
        now, before = (
            _of_branches(await self.program.settings_of(self.ctx, data)),
            _of_branches(settings),
        )
        names = [*now, *(n for n in before if n not in now)]
        changed = [name for name in names if now.get(name) != before.get(name)]
        with without_runs() as is_alone:
            if changed and not is_alone:
                await asyncio.to_thread(self._refuse_to_show_credentials)
            for name in changed:
                await self._write_setting(name, name in before, now.get(name, []))
        return now

    async def _write_setting(self, name: str, was_there: bool, values: Sequence[str]) -> None:
        """Write one into the real settings, which no run can lead elsewhere."""
        command = ("config", "--file", f"{self.layout.common_dir}/config")
        if was_there:
            await self.attempt(*command, "--unset-all", name, unobeyed=True, plain=True)
        for value in values:
            add = (*command, "--add", name, value)
            checked(add, await self.attempt(*add, unobeyed=True, plain=True))

    def _refuse_to_show_credentials(self) -> None:
        """Refuse to write settings anew that a run would see before they are covered again."""
        if holds_credentials(read_own(f"{self.layout.common_dir}/config", MAX_SETTINGS_BYTES)):
            raise Busy(
                "What the branch follows was not noted: a program that runs in the background "
                "would see the credentials in .git/config.",
                hint="Stop it first (list_jobs, stop_job), then do that again.",
            )


def _of_branches(settings: Sequence[Setting]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for setting in settings:
        if setting.section == "branch" and setting.of:
            found.setdefault(setting.name, []).append(setting.value)
    return found


def blob_hash(path: str, digits: int) -> str:
    """The hash by which git knows the content of a file, without conversions; "" for none."""
    with suppress(OSError):
        data = read_plain(path, MAX_PUBLISHED_BYTES, follow=False)
        kind = "sha256" if digits == 2 * HASH_SIZES[True] else "sha1"
        return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return ""


def text_of(data: bytes) -> str:
    """What git printed, as text; names that are none keep their bytes."""
    return data.decode("utf-8", "surrogateescape")


def lines_of(data: bytes) -> list[str]:
    """The lines that git printed. `str.splitlines` knows more ends, which names may hold."""
    return text_of(data).removesuffix("\n").split("\n") if data else []


def entries_of(data: bytes) -> list[str]:
    """What git printed with a NUL behind each."""
    return [entry for entry in text_of(data).split("\0") if entry]


def _real(names: Sequence[str]) -> list[str]:
    return [real_path(os.path.expanduser(name)) for name in names]  # noqa: PTH111


def inside_of(ctx: Ctx) -> Callable[[str], bool]:
    """Whether git may be let to an absolute path: in the workspace, or where the user said."""
    workspace, git = ctx.use(Workspace), ctx.config.git
    more = _real([*git.local_remotes, *git.trusted])

    def inside(path: str) -> bool:
        real = real_path(path)
        return workspace.holds(real) or any(
            real == top or real.startswith(f"{top.rstrip('/')}/") for top in more
        )

    return inside


@asynccontextmanager
async def open_repository(ctx: Ctx, path: SafePath | None = None) -> AsyncIterator[Repository]:
    """The repository that holds a path, or the current directory.

    Raises:
        NotFound: there is none.
        PathDenied: git could be led elsewhere by it.
        Unavailable: there is no git, or its settings cannot be read.
    """
    inside = inside_of(ctx)
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    folder, layout = await asyncio.to_thread(find_layout, start, inside)
    async with opened(ctx, folder, layout) as repository:
        yield repository


async def open_place(ctx: Ctx, paths: Sequence[SafePath] | None) -> SafePath | None:
    """Which path decides on the repository of a call with paths; None for the current directory.

    A submodule is a file of the repository that the call stands in, and one of its own only for
    a call that stands elsewhere.
    """
    if not paths:
        return None
    path = paths[0].settled()
    here, inner = await repository_or_none(ctx), await repository_or_none(ctx, path)
    if not here or not inner or inner.parts != path.parts or inner.parts == here.parts:
        return paths[0]
    outer = await repository_or_none(ctx, path.parent)
    return None if outer and outer.parts == here.parts else paths[0]


@asynccontextmanager
async def opened(ctx: Ctx, folder: SafePath, layout: Layout) -> AsyncIterator[Repository]:
    """The same for one whose folders are known."""
    program = ctx.use(GitProgram)
    await asyncio.to_thread(refuse_pipes, layout.top)
    repository = Repository(ctx, program, await program.setup(ctx), folder, layout)
    with repository.until_closed:
        async with _judged(repository):
            yield repository


@asynccontextmanager
async def _judged(repository: Repository) -> AsyncIterator[None]:
    """Let git obey what it may, as long as this is entered."""
    ctx, program, layout = repository.ctx, repository.program, repository.layout
    repository.is_trusted = layout.top in _real(ctx.config.git.trusted)
    place = {"GIT_DIR": layout.git_dir, "GIT_WORK_TREE": layout.top}
    if repository.is_trusted:
        listing = await program.settings_with_scopes(ctx, layout.git_dir)
        version = repository.setup.version
        repository.confinement = await confinement_of(ctx, layout, version, listing)
        repository.environment = {**QUIET, "GIT_ALLOW_PROTOCOL": "none", **place}
        if repository.confinement is None:
            yield
            return
    if not repository.is_trusted:
        await asyncio.to_thread(check_layout, layout, inside_of(ctx))
    await judge(repository)
    hash_size = HASH_SIZES[repository.value("extensions.objectformat").lower() == "sha256"]
    view = program.views / random_id(16)
    data = written([*repository.setup.settings, *repository.settings, *forced()])

    def make_ready() -> None:
        if not repository.is_trusted:
            program.indexes.check(layout, hash_size)
        make_view(view, layout.common_dir, data)
        if layout.git_dir != layout.common_dir:
            # What the main working tree has checked out is nobody's to delete or to check out.
            (view / "HEAD").symlink_to(f"{layout.common_dir}/HEAD")

    try:
        await asyncio.to_thread(make_ready)
        environment = {**hardened(ctx, repository.setup, view), **place}
        environment |= {"GIT_COMMON_DIR": str(view), "GIT_EXEC_PATH": repository.setup.exec_path}
        if repository.confinement is not None:
            async with _confined(repository, repository.confinement, environment):
                yield
            return
        repository.view, repository.environment = view, environment
        yield
    finally:
        with suppress(OSError):
            await asyncio.to_thread(remove_view, view)


@asynccontextmanager
async def _confined(
    repository: Repository, confinement: GitConfinement, outside: dict[str, str]
) -> AsyncIterator[None]:
    """Let git obey a trusted repository in the sandbox, by a second folder in place of its own."""
    layout, view = repository.layout, repository.program.views / random_id(16)
    repository.outside, repository.view = outside, view
    repository.environment["GIT_COMMON_DIR"] = str(view)

    def make_ready() -> None:
        make_view(view, layout.common_dir, written(confinement.own), OBEYED)
        stored_file(view / "users", written(confinement.users))

    try:
        await asyncio.to_thread(make_ready)
        yield
    finally:
        await asyncio.to_thread(remove_view, view)


@asynccontextmanager
async def fresh_environment(ctx: Ctx) -> AsyncIterator[dict[str, str]]:
    """Variables for git where there is no repository yet: of settings it has what it may have."""
    program = ctx.use(GitProgram)
    setup = await program.setup(ctx)
    view = program.views / random_id(16)
    data = written([*setup.settings, *forced()])
    try:
        file = await asyncio.to_thread(stored_file, view / ".gitconfig", data)
        yield {**hardened(ctx, setup, view), "GIT_CONFIG_GLOBAL": file}
    finally:
        await asyncio.to_thread(remove_view, view)


def hardened(ctx: Ctx, setup: GitSetup, view: Path) -> dict[str, str]:
    """The variables that hold for every repository that is not trusted."""
    # What git starts, such as ssh, is never a program that lies in the workspace.
    found = {**HARDENED, "PATH": os.pathsep.join(ctx.use(Workspace).search_path())}
    if setup.version[:2] >= GLOBAL_BY_VARIABLE:
        return found
    return {**found, "HOME": str(view), "XDG_CONFIG_HOME": str(view)}


async def judge(repository: Repository) -> None:
    """Find which of a repository's own settings are obeyed.

    Raises:
        Unavailable: it is of a form that we do not know.
    """
    ctx, layout = repository.ctx, repository.layout
    inside = inside_of(ctx)
    found = await _settings_of(repository, f"{layout.common_dir}/config")
    if any(s.name == "extensions.worktreeconfig" and s.value.lower() != "false" for s in found):
        found = [*found, *await _settings_of(repository, f"{layout.git_dir}/config.worktree")]
    for setting in found:
        is_unknown = setting.section == "extensions" and setting.key not in KNOWN_EXTENSIONS
        if is_unknown and not repository.is_trusted:
            raise Unavailable(
                f"The repository uses the extension {setting.key}, which is not known here.",
                hint=f"The user can let git use it as it is: add {layout.top} to git.trusted.",
            )
        obeyed = setting.is_harmless(inside, layout.top)
        if setting.section == "extensions":
            obeyed = is_unknown or (obeyed and setting.key in READABLE_EXTENSIONS)
        elif setting.name == "core.repositoryformatversion" and not obeyed:
            raise Unavailable(
                "The repository has a format that is not known here.",
                hint="A newer git made it; the user works on it with that.",
            )
        if obeyed:
            repository.settings.append(setting)
        else:
            repository.ignored.append(setting.name)


async def _settings_of(repository: Repository, place: str) -> list[Setting]:
    data = await asyncio.to_thread(read_own, place, MAX_SETTINGS_BYTES)
    return await repository.program.settings_of(repository.ctx, data) if data.strip() else []


async def repository_or_none(ctx: Ctx, path: SafePath | None = None) -> SafePath | None:
    """The top of the repository of a path; None where there is none that may be used."""
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    try:
        return (await asyncio.to_thread(find_layout, start, inside_of(ctx)))[0]
    except ToolError:
        return None


def default_branch(ctx: Ctx, setup: GitSetup) -> str:
    """The first branch of new repositories."""
    return ctx.config.git.default_branch or setup.user_value("init.defaultbranch") or "main"
