"""Protected names: what no tool reads or writes, whatever folder it is in; one list for all.

A pattern is one or more names joined by `/`, each a glob, compared without regard to
case (see `rules.fold`). It protects what it matches and everything beneath, at any
depth. A pattern that starts with `/` counts from the top of the file system.
"""

from __future__ import annotations

import copy
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Literal, Self

from toolcrib.files.path_rules import fold

Use = Literal["read", "write"]

READ_PATTERNS = (
    # Settings and keys of programs.
    ".env*", "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.keystore", "*.kdbx", "id_rsa*",
    "id_dsa*", "id_ecdsa*", "id_ed25519*",
    # Credentials that tools keep for their user.
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".config/gh", ".config/glab-cli",
    ".config/gcloud", ".config/git/credentials", ".git-credentials", ".netrc", "_netrc", ".npmrc",
    ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".vault-token",
    ".docker/config.json", ".cargo/credentials*", ".gem/credentials", ".terraform.d",
    ".password-store", ".local/share/keyrings", "library/keychains",
    # What a person typed or browsed.
    ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history",
    ".mozilla", ".thunderbird", ".config/google-chrome*", ".config/chromium",
    ".config/microsoft-edge*", ".config/bravesoftware", ".config/vivaldi", ".config/opera",
    "library/application support/google/chrome", "library/application support/firefox",
    "library/application support/microsoft edge", "library/application support/bravesoftware",
    "library/safari", "appdata/local/google/chrome", "appdata/local/microsoft/edge",
    "appdata/roaming/mozilla",
    # The machine's own, where a root is as wide as that.
    "/etc/shadow*", "/etc/gshadow*", "/etc/ssh/ssh_host_*_key", "/run/secrets",
    "/var/run/secrets", "/proc/*/environ", "/proc/*/mem", "/proc/*/task/*/environ",
    "/proc/*/task/*/mem", "/proc/kcore",
)  # fmt: skip

OWN_FILES_RULE = "toolcrib's own settings and state"

EXCEPTIONS = (".env.example", ".env.sample", ".env.template", ".env.dist", "id_*.pub", "cacert.pem")

WRITE_PATTERNS = (
    # What git runs.
    ".git/hooks", "*.git/hooks", ".git/config", "*.git/config", ".git/config.worktree",
    ".git/commondir", "*.git/commondir", ".git/info/attributes", ".git/rebase-merge",
    ".git/rebase-apply", ".git/sequencer", ".git/modules", ".git/worktrees", ".githooks",
    ".husky", ".gitmodules", ".gitconfig", ".config/git",
    # What editors and hosts run.
    ".vscode", ".idea", ".cursor", ".windsurf", ".zed", ".claude", ".continue", ".lmstudio",
    ".mcp.json", "mcp.json", "claude_desktop_config.json",
    # What a shell or a login runs.
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
    ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
    ".login", ".inputrc", ".direnvrc", ".tmux.conf", ".xprofile", ".xinitrc", ".xsession",
    ".xsessionrc", ".config/fish", ".config/nushell", ".config/powershell", "*profile.ps1",
    ".config/autostart", ".config/systemd", ".config/environment.d", "library/launchagents",
    ".config/pip", ".pip",
)  # fmt: skip
"""Written to, these make another program run something. What is not read is not written."""


@dataclass(frozen=True, slots=True)
class PathPattern:
    """One protected name: the glob of each part, and the words it was written in."""

    text: str
    names: tuple[str, ...]
    anchored: bool

    @classmethod
    def of(cls, text: str) -> PathPattern:
        """Read one pattern as a person writes it."""
        plain = text.strip().replace("\\", "/")
        names = tuple(fold(name) for name in plain.split("/") if name not in ("", ".", "**"))
        return cls(text.strip(), names, plain.startswith("/"))

    def ends_at(self, names: Sequence[str], end: int) -> bool:
        """Whether the pattern matches the names just before the index `end`."""
        start = end - len(self.names)
        if not self.names or start < 0 or (self.anchored and start > 0):
            return False
        return all(_fits(g, n) for g, n in zip(self.names, names[start:end], strict=True))


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def _fits(glob: str, name: str) -> bool:
    return _compiled(glob).match(name) is not None


class PatternSet:
    """Many patterns, asked at once: only those whose last glob fits are looked at."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(p for p in map(PathPattern.of, patterns) if p.names)
        lasts = "|".join(f"(?:{translate(p.names[-1])})" for p in self.patterns)
        self._any = re.compile(lasts or r"(?!)")

    def may_match(self, name: str) -> bool:
        """Whether some pattern ends with a name like this, folded."""
        return self._any.match(name) is not None

    def find(self, names: Sequence[str], end: int) -> list[PathPattern]:
        """The patterns that match the names just before the index `end`."""
        if not self.may_match(names[end - 1]):
            return []
        return [p for p in self.patterns if p.ends_at(names, end)]


class Protection:
    """The lists of one toolbox.

    Args:
        protect_read: more patterns that are never read.
        protect_write: more patterns that are never written.
        unprotect: patterns that lift built-in ones: one as listed, or something narrower
            (`.env.test`, `.vscode/settings.json`). They do not lift the user's own.
        own: absolute paths of toolcrib's own configuration and state, never written.
        hidden: those that are never read either: contents kept for undo, and backups.
    """

    def __init__(
        self,
        protect_read: Iterable[str] = (),
        protect_write: Iterable[str] = (),
        unprotect: Iterable[str] = (),
        own: Iterable[str] = (),
        hidden: Iterable[str] = (),
    ) -> None:
        unprotect = tuple(unprotect)
        lifted = {PathPattern.of(text).names for text in unprotect}
        read = [text for text in READ_PATTERNS if PathPattern.of(text).names not in lifted]
        write = [text for text in WRITE_PATTERNS if PathPattern.of(text).names not in lifted]
        self._built_in = {"read": PatternSet(read), "write": PatternSet([*read, *write])}
        self._exceptions = PatternSet((*EXCEPTIONS, *unprotect))
        own_read, own_write = list(protect_read), [*protect_read, *protect_write]
        self._added = {"read": PatternSet(own_read), "write": PatternSet(own_write)}
        self._hidden = [[fold(name) for name in path.split("/") if name] for path in hidden]
        self._own = [[fold(name) for name in path.split("/") if name] for path in own]
        self._own += self._hidden
        self._granted: tuple[tuple[str, ...], ...] = ()

    def granting(self, places: Iterable[Sequence[str]]) -> Self:
        """The same lists, under which these very names and those above them may be written.

        That lifts only what a built-in pattern protects from writing alone: not what must
        not be read either, nor the user's own patterns, nor toolcrib's own files.

        Args:
            places: the names of absolute paths, as they are spelt.
        """
        found = copy.copy(self)  # patterns that are added later are added to both
        found._granted = tuple(tuple(names) for names in places)  # noqa: SLF001 - its own class
        return found

    def patterns(self, use: Use) -> tuple[PathPattern, ...]:
        """All patterns that forbid a use, whatever exceptions say."""
        return (*self._built_in[use].patterns, *self._added[use].patterns)

    def add(self, patterns: Iterable[str]) -> None:
        """Protect more names from reading and writing, for as long as this object lives."""
        more = [p.text for p in map(PathPattern.of, patterns) if p.names]
        for use, known in self._added.items():
            texts = [p.text for p in known.patterns]
            self._added[use] = PatternSet(dict.fromkeys([*texts, *more]))

    @property
    def exceptions(self) -> tuple[PathPattern, ...]:
        """What is lifted from the built-in patterns."""
        return self._exceptions.patterns

    def match(self, parts: Sequence[str], inside: int, use: Use) -> str:
        """The pattern that forbids a path, as written; "" where none does.

        Args:
            parts: the names of the absolute path.
            inside: how many of them, from the end, lie beneath the root. A pattern
                must end there: what leads to the root was the user's own choice.
            use: what is about to happen. What must not be read must not be written.
        """
        names = [fold(part) for part in parts]
        granted = use == "write" and self._is_granted(parts)
        built_in = self._built_in["read" if granted else use]
        for end in range(max(len(names) - inside, 0) + 1, len(names) + 1):
            found = self._added[use].find(names, end)
            if not found:
                found = built_in.find(names, end)
                found = found if found and not self._is_lifted(names, end) else []
            if found:
                return found[0].text
        if use == "read":
            return OWN_FILES_RULE if _leads_into(names, self._hidden) else ""
        return self._never_written(names, 0 if granted else inside)

    def of_folder(self, parts: Sequence[str], use: Use) -> Callable[[str], str]:
        """Tells of each name in a folder the pattern that forbids it, as `match` would.

        Args:
            parts: the names of the folder's absolute path, which nothing forbids.
            use: what is about to happen.
        """
        above = [fold(part) for part in parts]
        places = self._hidden if use == "read" else self._own
        closed = _leads_into(above, places)
        lasts = {place[-1] for place in places if place and place[:-1] == above}
        sets = (self._added[use], self._built_in[use])

        def pattern(name: str) -> str:
            folded = fold(name)
            plain = not (closed or folded in lasts or folded == ".git")
            if plain and not any(known.may_match(folded) for known in sets):
                return ""
            return self.match([*parts, name], 1, use)

        return pattern

    def _is_granted(self, parts: Sequence[str]) -> bool:
        names = tuple(parts) if self._granted else ()
        return any(place[: len(names)] == names for place in self._granted)

    def _is_lifted(self, names: list[str], index: int) -> bool:
        """Whether an exception speaks of the name before `index`, alone or with what follows."""
        return any(
            end - len(pattern.names) < index
            for end in range(index, len(names) + 1)
            for pattern in self._exceptions.find(names, end)
        )

    def _never_written(self, names: list[str], inside: int) -> str:
        if inside and names[-1] == ".git":
            return ".git"
        return OWN_FILES_RULE if _leads_into(names, self._own) else ""


def _leads_into(names: list[str], places: Iterable[list[str]]) -> bool:
    return any(names[: len(place)] == place for place in places if place)


MAX_LINK_ENTRIES = 20_000
"""Names looked at, those nearest to the root first."""
LINK_SEARCH_SECONDS = 0.5
"""How long the look may take."""
LINK_CACHE_SECONDS = 2.0
"""Seconds for which what was found is used again."""


class HardLinks:
    """Tells whether a file is a protected one under another name (a hard link).

    Nothing in a file says what other names it has. So when a file with more than one name
    is opened, the names beneath the root are searched for a protected one of the same file.
    That is bounded and cached for a moment: a protected name beyond the bounds, outside
    the root, or made within that moment is not noticed.
    """

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._known: dict[str, tuple[float, dict[tuple[int, int], str]]] = {}

    def pattern(self, root: str, status: os.stat_result) -> str:
        """The pattern that protects another name of a file beneath a root; "" for none.

        Args:
            root: absolute, without links.
            status: that of the open file.
        """
        if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return ""
        until, found = self._known.get(root, (0.0, {}))
        if time.monotonic() > until:
            found = dict(self._protected(root))
            self._known[root] = (time.monotonic() + LINK_CACHE_SECONDS, found)
        return found.get((status.st_dev, status.st_ino), "")

    def _protected(self, root: str) -> Iterator[tuple[tuple[int, int], str]]:
        """Device and inode of each protected file that has several names."""
        top = tuple(part for part in root.split("/") if part)
        folders: deque[tuple[tuple[str, ...], bool]] = deque([((), False)])
        stop, seen = time.monotonic() + LINK_SEARCH_SECONDS, 0
        while folders and seen < MAX_LINK_ENTRIES and time.monotonic() < stop:
            parts, inherited = folders.popleft()
            try:
                # By name: what a race can add here is one more file that is not read.
                with os.scandir("/".join((root.rstrip("/"), *parts)) or "/") as scan:
                    entries = list(scan)
            except OSError:
                continue
            seen += len(entries)
            for entry in entries:
                way = (*parts, entry.name)
                depth = len(way) if inherited else 1
                pattern = self._protection.match((*top, *way), depth, "read")
                if entry.is_dir(follow_symlinks=False):
                    folders.append((way, inherited or bool(pattern)))
                elif pattern:
                    yield from _names(entry, pattern)


def _names(entry: os.DirEntry[str], pattern: str) -> Iterator[tuple[tuple[int, int], str]]:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if status.st_nlink > 1:
        yield (status.st_dev, status.st_ino), pattern
