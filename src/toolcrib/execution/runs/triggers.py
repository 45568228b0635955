"""Triggers: files of a workspace on which a program outside of the boundary acts by itself.

What a run leaves in them is executed, or obeyed, when the user opens the folder in an editor,
enters it in a shell or asks git for its status. No list of them is complete: repositories are
recognised by their form, and what the user's own settings and PATH point at is found there.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from toolcrib.core.context import Ctx, conversation_of
from toolcrib.core.errors import ToolError
from toolcrib.core.package_data import package_table
from toolcrib.execution.interpreters.programs import find_program
from toolcrib.execution.runs.environment import SearchPath, Variables
from toolcrib.execution.runs.ignore_files import folder_of, uncovered
from toolcrib.execution.toolchains import MARKS_OF_ENVIRONMENT, is_among
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.links import RunLinks
from toolcrib.files.changes.sources import read_content
from toolcrib.files.mercurial import STORES_OTHERS, loses_its_state, stores_others
from toolcrib.files.names import entry_points
from toolcrib.files.names.branch_names import names_an_option
from toolcrib.files.names.dot_names import (
    DOT_NAME,
    MAX_VERSION_BYTES,
    find_dot_name,
    is_hidden,
    is_version,
    names_version,
)
from toolcrib.files.names.option_names import LIKE_AN_OPTION, is_like_an_option
from toolcrib.files.names.python_modules import stands_for_module
from toolcrib.files.other_repositories import (
    OTHER_REPOSITORY,
    SubversionHooks,
    acts_by_content,
    database_of,
)
from toolcrib.files.own_folders import home_links, own_folders
from toolcrib.files.own_links import BY_A_LINK, OwnLinks
from toolcrib.files.path_rules import (
    DEPENDENCY_FOLDERS,
    PathPattern,
    PatternSet,
    fold,
)
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.repositories.index import INDEX
from toolcrib.files.repositories.index_changes import staged
from toolcrib.files.repositories.membership import new_bare_repositories, repository_depth
from toolcrib.files.repositories.objects import blob_hashes, shows_others
from toolcrib.files.repositories.places import (
    has_other_name,
    is_own_name,
    is_repository,
    names_of_repository,
)
from toolcrib.files.repositories.targets import find_git_targets
from toolcrib.files.start_files import START_FILE, find_start_targets
from toolcrib.files.targets import Targets
from toolcrib.files.trees import names_beneath
from toolcrib.text.display import printable, some_of

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

KINDS: dict[str, tuple[str, ...]] = {
    kind: tuple(texts.split())
    for kind, texts in package_table("execution/runs/triggers.toml").items()
}
"""By what acts on them, patterns as in `path_rules`."""

BARE_REPOSITORY = "a repository without files, whose settings git obeys in its folder"
DEPENDENCIES = "what programs of the user import"
ON_PATH = "programs on PATH"
IN_VARIABLES = "what a variable of the environment names"
FOR_A_MODULE = "what Python, started in that folder, loads in place of a module of its own"
WITHOUT_IT = "without it, git runs or filters something no more"
WITHOUT_INDEX = "without it, git forgets what it was to leave alone, and what is staged"
CLOSED = "its owner could not read it any more, so programs would take it for empty or gone"
ATTRIBUTES = ".gitattributes"
GIT_SETTINGS = "what the settings of git point at"
SUPER_JOURNAL = "a journal whose database, once opened, has SQLite delete the file named in it"
IN_REPOSITORY = "a name in a repository that programs beside git obey, or by which git stops"
STAGED = "what git keeps, or writes at its next command, by its index"
SHOWS_OTHERS = "by it, git shows other contents or parents of commits than there are"
UNCOVERED = "by it, what is protected from reading is taken up, as by `git add -A`"
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a journal that names another; see pager.c of SQLite."""
MAX_COMPARED_BYTES = 1_000_000
ENVIRONMENT_PARTS = frozenset(
    {"bin", "lib", "lib64", "include", "share", "etc", "man", "scripts", "ssl", "conda-meta"}
    | {"compiler_compat", "pkgs", "pyvenv.cfg", "pip-selfcheck.json", ".gitignore", "libexec"}
    | {"condabin", "envs", "sbin", "local", "opt"}
)
"""What environments of Python have at their top."""
Question = tuple[str, str]
"""A kind, and the absolute path of a folder."""
Settings = Mapping[str, Targets]
"""What they name, by their kind."""
MAX_FOLDERS, MAX_SECONDS, MAX_DEPTH = 500, 0.5, 100
"""How far beneath a new link is looked."""
ONLY_THE_USER = "programs outside of the boundary may act on that, so only the user can make it"

_PATTERNS = PatternSet(text for texts in KINDS.values() for text in texts)
_MAX_NAMES = max(len(pattern.names) for pattern in _PATTERNS.patterns)
_NAMES_A_FOLDER = PatternSet((".jj/repo",))
"""What may also be a file, which says where the folder is on whose content programs act."""
_KIND_OF = {text: kind for kind, texts in KINDS.items() for text in texts}


@dataclass(frozen=True, slots=True)
class TriggerReport:
    """What has to be asked about.

    Attributes:
        lines: one for each kind.
        paths: the changes of which a person has to see what they are, but for dependencies.
    """

    lines: Sequence[str] = ()
    paths: frozenset[SafePath] = frozenset()


class Triggers:
    """Finds them among changes, and remembers which folders the user has let pass.

    Args:
        workspace: its roots.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._passed: set[tuple[str, Question]] = set()
        protected = workspace.gate.protection.patterns("write")
        self._leading = _beginnings([*_PATTERNS.patterns, *protected])

    async def among(self, deltas: Sequence[Delta], ctx: Ctx) -> TriggerReport:
        """What has to be asked about."""
        changed = [delta.path.real_absolute for delta in deltas]
        git, start, links = Targets(), Targets(), list[str]()
        if changed:
            roots = [root.real for root in self._workspace.roots]
            own = await asyncio.to_thread(own_folders, roots)
            git = await find_git_targets(ctx, find_program(ctx, "git"), changed, own.repositories)
            starting = [*own.with_start_files, *own.repositories]
            start = await asyncio.to_thread(find_start_targets, roots, starting)
            links = [*own.links, *await asyncio.to_thread(home_links)]
        settings = {GIT_SETTINGS: git, START_FILE: start}
        return await asyncio.to_thread(self._report, deltas, ctx.session.id, settings, links)

    def _report(
        self, deltas: Sequence[Delta], session: str, settings: Settings, links: Sequence[str]
    ) -> TriggerReport:
        found: dict[str, list[str]] = defaultdict(list)
        paths: set[SafePath] = set()
        session = conversation_of(session)  # its agents are of it
        for delta, kind, place in self._all(deltas, settings, links):
            is_itself = place == delta.path.absolute  # of another kind than the folder that was
            if is_itself or (session, (kind, place)) not in self._passed:
                found[kind].append(printable(_display(delta, place)))
                paths |= {delta.path} if kind != DEPENDENCIES else set()
        lines = [
            f"{some_of(list(dict.fromkeys(places)), 5)} ({kind}): {ONLY_THE_USER}"
            for kind, places in found.items()
        ]
        return TriggerReport(lines, frozenset(paths))

    def question_folders(self, deltas: Sequence[Delta]) -> set[Question]:
        """Those that are one question each and in which something is new; blocking."""
        made = [delta for delta in deltas if _may_act(delta) and not _is_folder(delta)]
        dependencies, found = _DependencyFolders(), set[Question]()
        for path in (delta.path for delta in made):
            if folder := dependencies.of(path):
                inner = path.absolute[len(folder) + 1 :].partition("/")[0]
                # What makes an environment of a folder lets nothing pass that comes there later.
                if inner not in ("", *MARKS_OF_ENVIRONMENT, ".gitignore"):
                    found.add((DEPENDENCIES, folder))
            elif (folder := _dot_name(path)) not in ("", path.absolute):
                found.add((DOT_NAME, folder))
        return found

    def let_pass(self, folders: Iterable[Question], session: str) -> None:
        """Ask no more about these folders in this conversation, nor its agents."""
        conversation = conversation_of(session)
        self._passed.update((conversation, folder) for folder in folders)

    def _all(
        self, deltas: Sequence[Delta], settings: Settings, links: Sequence[str]
    ) -> Iterable[tuple[Delta, str, str]]:
        """The changes that are some, each with its kind and the absolute path to ask about."""
        for delta in deltas:
            if file := uncovered(self._workspace, delta):
                yield delta, f"{UNCOVERED}: {printable(file)}", delta.path.absolute
        named = _Named(self._workspace, settings, links, self._leads_to_more)
        for delta in deltas:
            if kind := named.kind_of_removal(delta):
                yield delta, kind, delta.path.absolute
        yield from self._acting(deltas, named)

    def _acting(self, deltas: Sequence[Delta], named: _Named) -> Iterator[tuple[Delta, str, str]]:
        """Those by which something is there that was not."""
        made = list(filter(_may_act, deltas))
        bare = new_bare_repositories(made)
        links = RunLinks(deltas, self._workspace.roots)
        dependencies, subversion = _DependencyFolders(), SubversionHooks(made)
        for delta in made:
            if (end := links.place(delta)) is not None:
                named.add_link(delta.path, end)
        for delta in made:
            place = delta.path.absolute
            if bare and is_among(place, bare):
                yield delta, BARE_REPOSITORY, place
            elif _closes(delta):
                yield delta, CLOSED, place
            elif _is_new(delta) and is_like_an_option(
                delta.path.name, delta.path.parts, is_file=not _is_folder(delta)
            ):
                yield delta, LIKE_AN_OPTION, place
            elif _is_folder(delta):  # what others hold is here too; few act by an empty one
                acts = _is_new(delta) and has_other_name(delta.path, is_folder=True)
                yield from [(delta, IN_REPOSITORY, place)] * acts
            elif folder := dependencies.of(delta.path):
                yield delta, DEPENDENCIES, folder
            elif subversion.has(delta):
                yield delta, OTHER_REPOSITORY, place
            else:
                kinds = self._kinds(delta, named, links)
                yield from ((delta, kind, each) for kind, each in kinds)

    def _kinds(self, delta: Delta, named: _Named, links: RunLinks) -> Iterator[tuple[str, str]]:
        """By name, place or content: each kind with the path to ask about."""
        place, after = delta.path.absolute, delta.after
        if kind := _kind_of(delta.path):
            yield kind, place
        elif after and self._leads_to_more(place, after.kind):
            yield BY_A_LINK, place
        elif kind := named.kind(delta):
            yield kind, place
        elif (folder := _dot_name(delta.path, is_file=not delta.is_link)) and not _says_version(
            delta
        ):
            yield DOT_NAME, folder
        elif has_other_name(delta.path):
            yield IN_REPOSITORY, place
        elif delta.is_link:
            yield from ((kind, place) for kind in _kinds_by_link(delta, links, named))
        else:
            yield from _by_content(delta, named)

    def _leads_to_more(self, place: str, kind: str) -> bool:
        """Whether it stands for a folder, and names beneath it are triggers or protected.

        What lies there already, and is none, would be one by the name of a link.
        """
        names = [fold(name) for name in place.split("/") if name]
        leads = {"link": self._leading, "file": _NAMES_A_FOLDER}.get(kind)
        return leads is not None and bool(leads.find(names, len(names)))


class _Named:
    """What the user's settings, environment and links name.

    Args:
        workspace: its roots.
        settings: what those of git, and start files, name.
        links: of the user.
        leads: whether names beneath a place are triggers or protected.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        links: Sequence[str],
        leads: Callable[[str, str], bool],
    ) -> None:
        self._settings, self._git = settings, settings[GIT_SETTINGS]
        self._path, self._variables = SearchPath(workspace), Variables(workspace)

        def kind_of(place: SafePath) -> str:
            return self.kind_by_place(place) or (UNCOVERED if folder_of(place) else "")

        def acts(link: SafePath) -> bool:
            by_name = kind_of(link) or _dot_name(link, is_file=False)
            return bool(by_name) or leads(link.absolute, "link")

        self._links = OwnLinks(workspace, links, acts, kind_of)

    def kind_by_place(self, path: SafePath) -> str:
        """What acts on whatever stands at a path; "" for nothing."""
        if kind := _any_kind_of(path) or path.gate.pattern(path, "write"):
            return kind
        if not DEPENDENCY_FOLDERS.isdisjoint(path.parts):
            return DEPENDENCIES
        if kind := self.kind_by_settings(path):
            return kind
        return ON_PATH if self._path.contains(path) else ""

    def kind_by_settings(self, path: SafePath) -> str:
        """Which settings name a place; "" for none."""
        place = path.real_absolute
        return next((kind for kind, named in self._settings.items() if named.has(place)), "")

    def leads_beneath(self, path: SafePath) -> bool:
        """Whether settings name what lies beneath a place."""
        return any(named.has_beneath(path.real_absolute) for named in self._settings.values())

    def add_link(self, link: SafePath, end: SafePath) -> None:
        """Judge what lies where a new link leads by the names that it has through that."""
        if is_hidden(end):
            self._links.add(link, end.real_absolute)

    def kind(self, delta: Delta) -> str:
        """What acts on a change; "" for nothing."""
        if kind := self.kind_by_settings(delta.path):
            return kind
        if self._path.matches(delta):
            return ON_PATH
        if self._variables.match(delta):
            return IN_VARIABLES
        if stands_for_module(delta):
            return FOR_A_MODULE
        database = database_of(delta.path)
        return self._links.kind(delta) or (self.kind_by_place(database) if database else "")

    def kind_of_removal(self, delta: Delta) -> str:
        """What acts otherwise without what is gone; "" for nothing.

        A repository that goes as a whole takes along what its settings name.
        """
        if (delta.after is not None and not delta.replaces) or not delta.before:
            return ""
        path, place = delta.path, delta.path.real_absolute
        if path.name == ATTRIBUTES and DEPENDENCY_FOLDERS.isdisjoint(path.parts):
            return WITHOUT_IT
        if INDEX.match(fold(path.name)) and repository_depth(path) is not None:
            return WITHOUT_INDEX
        if loses_its_state(delta):
            return STORES_OTHERS
        if is_repository({image.path for image in delta.before}):
            return ""
        return WITHOUT_IT if self._git.has(place) or self._git.has_beneath(place) else ""


def _beginnings(patterns: Iterable[PathPattern]) -> PatternSet:
    """What the folders above their names are called, where that says something."""
    found: set[str] = set()
    for pattern in patterns:
        for end in range(1, len(pattern.names)):
            names = pattern.names[:end]
            if set(names) != {"*"}:
                found.add("/" * pattern.anchored + "/".join(names))
    return PatternSet(sorted(found))


def _may_act(delta: Delta) -> bool:
    """Whether something is there that was not: content, or leave to be run."""
    after, before = delta.after, delta.before
    return after is not None and not (delta.same and before and after.mode == before[0].mode)


def _is_new(delta: Delta) -> bool:
    return not delta.before or delta.replaces


def _is_folder(delta: Delta) -> bool:
    return delta.after is not None and delta.after.kind == "folder"


def _closes(delta: Delta) -> bool:
    """Whether the user loses the right to read a file, or to look into a folder, that was there."""
    after, before = delta.after, delta.before
    if after is None or not before or after.kind == "link" or before[0].kind == "link":
        return False
    needed = 0o500 if after.kind == "folder" else 0o400
    return bool(before[0].mode & needed & ~after.mode)


def _display(delta: Delta, place: str) -> str:
    """A place as the user names it: that of the change, a folder above it, or another one."""
    if not is_among(delta.path.absolute, [place]):
        return place.removeprefix(f"{delta.path.root.real}/")
    up = delta.path.absolute.count("/") - place.count("/")
    return delta.path.ancestor(len(delta.path.parts) - up).display if up else delta.path.display


def _kind_of(path: SafePath) -> str:
    """The kind of a trigger that a place is or lies in; "" for none."""
    above = tuple(path.root.real.split("/"))[1 - _MAX_NAMES :]
    return _kind_of_folder(above, path.parts[:-1]) or _last_kind(above, path.parts)


def _any_kind_of(path: SafePath) -> str:
    return _kind_of(path) or (DOT_NAME if _dot_name(path) else "")


def _dot_name(path: SafePath, *, is_file: bool = True) -> str:
    """The file or folder that is taken for settings by its name, absolute; "" for none."""
    depth = find_dot_name(path, is_file=is_file)
    place = path.ancestor(depth).absolute if depth else ""
    if place and is_repository(names_of_repository(place)):
        # Of a repository, as `.bare`, there are rules already.
        return "" if len(path.parts) == depth or is_own_name(path.parts[depth or 0]) else place
    return place


def _says_version(delta: Delta) -> bool:
    """Whether a file does nothing but to name a version, as of Python."""
    if not names_version(delta.path) or delta.new is None:
        return False
    return is_version(_end_of(delta, MAX_VERSION_BYTES + 1))


@lru_cache(maxsize=10_000)
def _kind_of_folder(above: tuple[str, ...], parts: tuple[str, ...]) -> str:
    """The same of a folder: the topmost on the way to it counts. Paths may be long."""
    found = (_last_kind(above, parts[:depth]) for depth in range(1, len(parts) + 1))
    return next(filter(None, found), "")


class _DependencyFolders:
    """Finds the dependency folder of a path; what holds for a folder is found out once."""

    def __init__(self) -> None:
        self._holders: dict[str, str] = {}
        self._found: dict[str, bool] = {}

    def of(self, path: SafePath) -> str:
        """The dependency folder that a path is or lies in, absolute; "" for none."""
        holder = self._holder(path.parent)
        if not holder:
            return path.absolute if path.name in DEPENDENCY_FOLDERS else ""
        inner = path.absolute[len(holder) + 1 :].partition("/")[0]
        is_named = holder.rpartition("/")[2] in DEPENDENCY_FOLDERS
        if not is_named and fold(inner) not in ENVIRONMENT_PARTS:
            return ""  # sources of the user's, in a folder with the mark of an environment
        return holder

    def _holder(self, folder: SafePath) -> str:
        place = folder.absolute
        if place not in self._holders:
            folders = (folder.ancestor(depth) for depth in range(1, len(folder.parts) + 1))
            self._holders[place] = next(
                (each.absolute for each in folders if self._is_one(each)), ""
            )
        return self._holders[place]

    def _is_one(self, folder: SafePath) -> bool:
        place = folder.absolute
        if place not in self._found:
            marks = (f"{place}/{mark}" for mark in MARKS_OF_ENVIRONMENT)
            self._found[place] = folder.name in DEPENDENCY_FOLDERS or any(
                map(os.path.lexists, marks)
            )
        return self._found[place]


def _last_kind(above: tuple[str, ...], parts: tuple[str, ...]) -> str:
    """The kind of the last of some names beneath a root, which may itself be called `.config`."""
    if not _PATTERNS.may_match([fold(name) for name in (*above, *parts)[-2:]]):
        return ""
    names = [fold(name) for name in (*above, *parts)]
    found = _PATTERNS.find(names, len(names))
    return _KIND_OF[found[0].text] if found else ""


def _by_content(delta: Delta, named: _Named) -> Iterator[tuple[str, str]]:
    """What of a change acts by its content: each with its kind and the path to ask about."""
    place = delta.path.absolute
    if place.endswith("-journal") and _end_of(delta, len(JOURNAL_MAGIC)) == JOURNAL_MAGIC:
        yield SUPER_JOURNAL, place
    if acts_by_content(delta):
        yield OTHER_REPOSITORY, place
    if stores_others(delta):
        yield STORES_OTHERS, place
    if names_an_option(delta):
        yield LIKE_AN_OPTION, place
    if entry_points.holds_entry_points(delta.path):
        content = read_content(delta.new, max_bytes=entry_points.MAX_BYTES)
        yield from [(entry_points.PLUGINS, place)] * entry_points.names_plugins(content)
    if shows_others(delta):
        yield SHOWS_OTHERS, place
    for path in _acting_staged(delta, named):
        yield STAGED, path.absolute


def _acting_staged(delta: Delta, named: _Named) -> Iterator[SafePath]:
    """What a run put into an index that git would store though no run reads it, or would write.

    But for what the user has in that file, which `git add` stages.
    """
    for path, digest in staged(delta):
        if not digest or path.gate.pattern(path, "read"):  # in a folder may be anything
            yield path
        elif not names_version(path) and named.kind_by_place(path):
            with suppress(ToolError, OSError):
                if digest in blob_hashes(_user_content(path), len(digest)):
                    continue
            yield path


def _user_content(path: SafePath) -> bytes:
    """What the user has there: the content of a file, or where a link leads."""
    with suppress(OSError):
        return os.fsencode(os.readlink(path.absolute))  # noqa: PTH115
    return path.read_bytes(MAX_COMPARED_BYTES)


def _end_of(delta: Delta, size: int) -> bytes:
    """The last bytes of a new content; what cannot be read is not taken over either."""
    end = b""
    with suppress(ToolError, OSError):
        for chunk in delta.new.chunks() if delta.new is not None else ():
            end = (end + chunk)[-size:]
    return end


def _kinds_by_link(delta: Delta, links: RunLinks, named: _Named) -> Iterator[str]:
    """What acts on the file that a link leads to, or on a folder in whose place it is."""
    path = delta.path
    if named.leads_beneath(path):
        yield BY_A_LINK
    elif entry_points.is_of_package(path) or entry_points.holds_entry_points(path):
        yield f"by a link: {entry_points.PLUGINS}"
    elif (place := links.place(delta)) is not None:
        kind = _any_kind_of(place) or named.kind_by_settings(place)
        if not kind and is_hidden(place):
            top = place.real_absolute
            found = names_beneath(
                [top], max_folders=MAX_FOLDERS, max_seconds=MAX_SECONDS, max_depth=MAX_DEPTH
            )
            names = (each[len(top) + 1 :].split("/") for each in found)
            inner = (path.at((*path.parts, *each)) for each in names)
            kind = next(filter(None, map(_any_kind_of, inner)), "")
        if kind:
            yield f"by a link: {kind}"
