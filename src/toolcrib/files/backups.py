"""Backups of trees: made, compared, and restored as one step that can be undone."""

from __future__ import annotations

import json
import re
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Self

from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotFound, TooLarge, ToolError
from toolcrib.files.archives import (
    Archive,
    ArchiveLimits,
    ArchiveMember,
    MemberContent,
    PackedEntry,
    collect_entries,
    open_archive,
    pack,
)
from toolcrib.files.changes.cached_code import is_cached_code
from toolcrib.files.changes.copies import writable
from toolcrib.files.changes.step import Step
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.trees import CHUNK_BYTES
from toolcrib.state.vault import Stored, Vault
from toolcrib.system.threads import content_id
from toolcrib.text.display import some_of

MAX_BACKUP_ENTRIES = 100_000
NEWEST = ("latest", "last", "newest")


@dataclass(frozen=True, slots=True)
class BackupContents:
    """What a backup would hold."""

    root: str
    members: list[PackedEntry]
    left_out: list[str]

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(member.size for member in self.members)

    @property
    def files(self) -> int:
        """How many files."""
        return sum(member.kind == "file" for member in self.members)


@dataclass(slots=True)
class BackupRestore:
    """What a restored backup would change."""

    new: list[str]
    changed: list[str]
    same: int
    step: Step


class Backups:
    """The backups of a workspace. A service; see `Backups.open`."""

    def __init__(self, workspace: Workspace, config: Config) -> None:
        self._workspace = workspace
        self._limits = config.backup
        first = workspace.roots[0].real if workspace.roots else ""
        own = data_folder() / "backups" / content_id(first)
        self.vault = Vault(Path(config.backup.folder).expanduser() if config.backup.folder else own)

    @classmethod
    def open(cls, services: Services) -> Self:
        """For the workspace of a toolbox; `config.backup` says where."""
        return cls(services.use(Workspace), services.config)

    def collect(self, paths: Sequence[SafePath], check: Callable[[], None]) -> BackupContents:
        """What a backup of these would hold.

        Raises:
            BadInput: they lie beneath different roots.
            TooLarge: more than the configuration allows.
        """
        roots = {path.root for path in paths}
        if len(roots) != 1:
            raise BadInput("A backup has one workspace folder.", hint="Make one for each.")
        names = ["/".join(path.settled().parts) if path.parts else "" for path in paths]
        members, left_out = collect_entries(paths, names, check, "write", MAX_BACKUP_ENTRIES)
        unique = {member.name: member for member in members}
        found = BackupContents(roots.pop().real, list(unique.values()), left_out)
        if found.size > self._limits.max_bytes:
            raise TooLarge(
                f"The files have {found.size:,} bytes, more than {self._limits.max_bytes:,}.",
                hint="Name parts of it. The user can change backup.max_bytes.",
            )
        return found

    def make(self, name: str, contents: BackupContents, check: Callable[[], None]) -> Stored:
        """Make a backup."""
        comment = json.dumps({"root": contents.root}, ensure_ascii=True)
        return self.vault.add(name, pack("zip", contents.members, check, comment))

    def named(self, name: str) -> str:
        """The name of a stored backup: as it is spelled, or the newest for "latest"."""
        spelled = spelled_name(name)
        if spelled.lower() in NEWEST:
            stored = self.vault.stored()
            if stored and all(each.name != spelled for each in stored):
                return stored[0].name
        return spelled

    def restoring(
        self,
        name: str,
        paths: Sequence[SafePath],
        tool: str,
        file: BinaryIO,
        check: Callable[[], None],
    ) -> BackupRestore:
        """Compare a backup with what stands there now.

        Args:
            name: of the backup.
            paths: the files and folders that are wanted; all where there are none.
            tool: who asks, for the log.
            file: the backup, open as long as the step is used.
            check: called between two steps.

        Raises:
            NotFound: the folder that it was made of is not in the workspace, or it holds nothing
                of a path.
        """
        root = self._root_of(name, file)
        size = self.vault.find(name).size
        limits = ArchiveLimits(MAX_BACKUP_ENTRIES, self._limits.max_bytes, ratio=2000)
        archive = open_archive(file, size, limits, check)
        found = BackupRestore([], [], 0, Step(tool))
        missing = {path.display for path in paths}
        for member in archive.members:
            if is_cached_code(member.parts):
                continue  # Python makes it again
            target = self._workspace.at(root, member.parts)
            fitting = [path for path in paths if _is_at(target, path)]
            if paths and not fitting:
                continue
            missing.difference_update(path.display for path in fitting)
            if member.kind == "folder":
                mode = None if member.mode is None else writable(member.mode)
                found.step.make_folder(target, mode=mode)
                continue
            state = _compare(archive, member, target, check)
            if state == "same":
                found.same += 1
            else:
                (found.new if state == "new" else found.changed).append(member.name)
                found.step.write(target, MemberContent(archive, member), mode=member.mode)
        if missing:
            raise NotFound(
                f"{name} holds nothing at {some_of(sorted(missing))}.",
                hint="restore_backup without paths and confirm shows what it would bring back.",
            )
        return found

    def _root_of(self, name: str, file: BinaryIO) -> str:
        try:
            with zipfile.ZipFile(file) as archive:
                root = str(json.loads(archive.comment)["root"])
        except (ValueError, KeyError, TypeError, zipfile.BadZipFile, OSError):
            raise BadInput(
                f"{name} is not a backup, or is damaged.", hint="list_backups shows others."
            ) from None
        if not self._workspace.holds(root):
            raise NotFound(
                f"{name} is a backup of {root}, which is not in this workspace.",
                hint="Use a backup of this workspace: list_backups shows them.",
            )
        return root


def _is_at(target: SafePath, path: SafePath) -> bool:
    return parts_beneath(target.absolute, path.absolute) is not None


def _compare(
    archive: Archive, member: ArchiveMember, target: SafePath, check: Callable[[], None]
) -> str:
    """Whether a file is "new", "changed" or the "same" as in the backup."""
    try:
        with target.open_read() as handle:
            if handle.size != member.size:
                return "changed"
            here = sha256()
            while chunk := handle.file.read(CHUNK_BYTES):
                check()
                here.update(chunk)
    except NotFound:
        return "new"
    except ToolError:
        return "changed"
    there = sha256()
    for chunk in archive.content(member):
        there.update(chunk)
    return "same" if here.digest() == there.digest() else "changed"


def spelled_name(name: str) -> str:
    """A name as backups have them: without quotation marks, with dashes in place of spaces."""
    return re.sub(r"\s+", "-", name.strip(" \t\r\n`'\""))


def default_name() -> str:
    """A name for a backup that is made now."""
    return time.strftime("%Y%m%d-%H%M%S")
