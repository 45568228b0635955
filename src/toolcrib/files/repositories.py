"""Git repositories read without git: what a run may leave in them, their branch and commits.

The names in them are protected since git runs programs by their content. A new one as
`git init` and `git clone` make it has no such content, and is taken over. What is checked
is what is written then: of the settings, the very bytes. Settings are read more strictly
than git does: what is not understood here is not harmless.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from toolcrib.core.errors import ToolError
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.changes.step import Source
from toolcrib.files.git_index import (
    INDEX,
    MAX_INDEX_BYTES,
    SIGNATURE,
    UNREADABLE,
    index_trouble,
)
from toolcrib.files.handles import Root, read_plain
from toolcrib.files.path_rules import fold, parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.state.blobs import digest_of
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import printable

GIT = ".git"
LINK = "a link in a repository, through which git would write"
MAX_CONFIG_BYTES = 65_536
CONFIG, HOOKS = "config", "hooks"
ALTERNATES = (("objects", "info", "alternates"), ("objects", "info", "http-alternates"))
PARTS = {"HEAD", "objects", "refs"}
LEGACY = ("remotes", "branches")
"""Old places of settings."""
USUAL = (
    "one as git init and git clone make it, without hooks and with plain settings, is taken "
    "over; the user can make any"
)
Key = tuple[str, tuple[str, ...]]
_LEADS = re.compile(rb"(?:gitdir:)?\s*([^\0]+?)\s*(?:\Z|\0)")
"""Git reads up to a NUL."""


def led_to(file: str, *, follow: bool = False) -> str:
    """The folder that a `.git` file or a `commondir` names; "" for none.

    Args:
        file: absolute.
        follow: whether links on the way are followed, as git does.
    """
    with suppress(OSError):
        led = _LEADS.match(read_plain(file, MAX_CONFIG_BYTES, follow=follow))
        if led is not None:
            folder = os.path.dirname(file)  # noqa: PTH120
            return os.path.realpath(os.path.join(folder, os.fsdecode(led[1])))  # noqa: PTH118
    return ""


@dataclass(frozen=True, slots=True)
class BytesSource:
    """A content in memory: what was checked is what is written."""

    data: bytes

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        yield self.data


@dataclass(slots=True)
class RunRepository:
    """One that a run made, or something of one that was there.

    Attributes:
        top: its own folder, `.git` or `NAME.git`.
        place: what is checked: the same, or one file in it.
        why: what git could run of it, or where it leads; "" for nothing.
        config: its settings.
        added_settings: the names of what is new in the settings of one that was there.
        holds: the names in its folder.
    """

    top: SafePath
    place: SafePath
    why: str = ""
    config: bytes | None = None
    added_settings: list[str] = field(default_factory=list)
    holds: set[str] = field(default_factory=set)

    @property
    def is_bare(self) -> bool:
        """Whether it is one without files, or a folder that only has such a name."""
        return self.top.parts[-1] != GIT

    @property
    def explanation(self) -> str:
        """Why it is left out, and what can be done."""
        return f"{self.why}; {USUAL if self.place == self.top else 'the user can change it'}"

    @property
    def is_refused(self) -> bool:
        """Whether all of it is left out."""
        return bool(self.why) and (not self.is_bare or self.holds >= PARTS)


@dataclass(slots=True)
class RunRepositories:
    """All of them.

    Args:
        roots: of the workspace.
    """

    roots: Sequence[Root]
    _found: dict[Key, RunRepository] = field(default_factory=dict)

    @classmethod
    def among(cls, deltas: Iterable[Delta], roots: Sequence[Root]) -> RunRepositories:
        """Judge all that is new; folders come before what they hold."""
        found = cls(roots)
        for delta in deltas:
            found._examine(delta)
        return found

    def of(self, path: SafePath) -> RunRepository | None:
        """The one that a path belongs to."""
        found = None
        if self._found and any(name[-4:] == GIT for name in path.parts):
            for depth in range(1, len(path.parts) + 1):
                known = self._found.get((path.root.real, path.parts[:depth]))
                if known is not None:
                    found = known
                    if not known.is_bare:
                        break
        return found

    def allowed(self, delta: Delta) -> Delta:
        """A change as it may be made: with leave where it was found harmless."""
        found = self.of(delta.path)
        if found is None or found.why or not _pattern(delta.path):
            return delta
        inner = _inner(found, delta)
        if inner == (CONFIG,) and found.config is not None:
            return replace(delta, path=delta.path.granted(), new=BytesSource(found.config))
        if delta.before or not _is_gits_own(inner):
            return delta
        return replace(delta, path=delta.path.granted())

    @property
    def notes(self) -> list[str]:
        """What is new in settings that were there."""
        return [
            f"{printable(known.place.display)}: added {printable(', '.join(known.added_settings))}"
            for known in self._found.values()
            if known.added_settings and not known.why
        ]

    def _examine(self, delta: Delta) -> None:
        found, after = self.of(delta.path), delta.after
        if _is_new_top(delta) and (found is None or found.is_bare):
            self._add(delta, RunRepository(delta.path, delta.path))
        elif found is not None:
            found.holds.update(_inner(found, delta)[:1])
            found.why = found.why or self._trouble(found, delta)
        elif after is not None and after.kind == "file":
            self._examine_existing(delta)

    def _examine_existing(self, delta: Delta) -> None:
        """Files of a repository that was there by which git finds others, and its settings."""
        if GIT not in delta.path.parts[:-1]:
            return
        depth = delta.path.parts.index(GIT) + 1
        found = RunRepository(delta.path.ancestor(depth), delta.path)
        inner = delta.path.parts[depth:]
        if inner == (CONFIG,) and delta.before and not delta.replaces:
            found.why = self._changed(found, delta)
        elif _folded(inner) in ALTERNATES:
            found.why = self._leads(delta)
        elif _folded(inner)[0] in LEGACY:
            found.why = "git reads settings there"
        elif INDEX.match(_folded(inner)[-1]):
            found.why = _index_trouble(delta)
        if not found.why and inner != (CONFIG,):
            return
        self._add(delta, found)

    def _add(self, delta: Delta, found: RunRepository) -> None:
        self._found[delta.path.root.real, delta.path.parts] = found

    def _trouble(self, found: RunRepository, delta: Delta) -> str:
        inner, after = _inner(found, delta), delta.after
        display, folded = printable("/".join(inner))[:100], _folded(inner)
        if after is None or delta.before:
            return f"{display} was there"
        if after.kind not in ("file", "folder"):
            return f"{display} in it is {'a link' if after.kind == 'link' else 'no plain file'}"
        if inner == (CONFIG,) and after.kind == "file":
            return self._settled(found, delta)
        if folded in ALTERNATES:
            return self._leads(delta)
        if folded[0] in LEGACY and len(inner) > 1:
            return f"it has settings in {display}"
        if INDEX.match(folded[-1]) and after.kind == "file" and (why := _index_trouble(delta)):
            return why
        if not _pattern(delta.path) or delta.path.gate.pattern(delta.path, "read"):
            return ""  # what must not be read is left out alone
        if _is_gits_own(inner):
            return "" if (after.kind == "folder") == (len(inner) == 1) else f"it has {display}"
        return f"it has {'the hook ' if folded[0] == HOOKS else ''}{display}"

    def _settled(self, found: RunRepository, delta: Delta) -> str:
        found.config = _content(delta.new, delta.after.digest if delta.after else "")
        if found.config is None:
            return "its config cannot be read"
        return trouble(found.config, self._inside)

    def _changed(self, found: RunRepository, delta: Delta) -> str:
        old = _content(delta.old, delta.before[0].digest)
        new = _content(delta.new, delta.after.digest if delta.after else "")
        if old is None or new is None:
            return "its config cannot be read"
        found.config = new
        why, found.added_settings = trouble_of_change(old, new, self._inside)
        return why

    def _leads(self, delta: Delta) -> str:
        """Objects of another repository."""
        content = _content(delta.new) or b"?"
        for line in content.decode("utf-8", "replace").splitlines():
            if line and not self._inside(line):
                return "it uses objects outside of the workspace"
        return ""

    def _inside(self, path: str) -> bool:
        tops = {top for root in self.roots for top in (root.real, root.name)}
        return path.startswith("/") and any(parts_beneath(path, t) is not None for t in tops)


def lies_in_repository(path: SafePath) -> bool:
    """Whether a path lies in the folder of a repository that is there, whatever it is called."""
    if GIT in map(fold, path.parts[:-1]):
        return True
    above = [path.ancestor(depth).absolute for depth in range(len(path.parts))]
    return any(all(os.path.lexists(f"{top}/{name}") for name in PARTS) for top in above)


def without_hooks(paths: Collection[str]) -> list[str]:
    """Where the hooks of repositories would be that have no folder for them.

    Args:
        paths: all names of a tree, each its path from the top.
    """
    return [
        f"{path}/{HOOKS}"
        for path in paths
        if path.endswith(GIT) and f"{path}/HEAD" in paths and f"{path}/{HOOKS}" not in paths
    ]


def _inner(found: RunRepository, delta: Delta) -> tuple[str, ...]:
    return delta.path.parts[len(found.top.parts) :]


def _is_new_top(delta: Delta) -> bool:
    """Whether a new folder is that of a repository, spelt as git spells it."""
    after = delta.after
    if after is None or after.kind != "folder" or delta.before:
        return False
    # Not against what the user protects.
    return delta.path.parts[-1].endswith(GIT) and not _pattern(delta.path.granted())


def _folded(inner: Sequence[str]) -> tuple[str, ...]:
    """As a file system takes it that does not tell capitals apart."""
    return tuple(map(fold, inner))


def _is_gits_own(inner: tuple[str, ...]) -> bool:
    """Whether it is the folder itself or an example of a hook, as each new repository has."""
    if inner in ((), (HOOKS,)):
        return True
    return len(inner) == 2 and inner[0] == HOOKS and inner[1].endswith(".sample")


def _pattern(path: SafePath) -> str:
    return path.gate.pattern(path, "write")


def _index_trouble(delta: Delta) -> str:
    data = _content(delta.new, delta.after.digest if delta.after else "", MAX_INDEX_BYTES)
    if data is not None and not data.startswith(SIGNATURE):
        return ""  # a branch of that name, or what git does not read
    return UNREADABLE if data is None else index_trouble(data)


def _content(
    source: Source | None, digest: str = "", max_bytes: int = MAX_CONFIG_BYTES
) -> bytes | None:
    """A small content; None where it cannot be had, or is not the one of that digest."""
    if source is None:
        return None
    data = bytearray()
    with suppress(ToolError, OSError):
        for chunk in source.chunks():
            data += chunk
            if len(data) > max_bytes:
                return None
        if digest:
            hasher = digest_of()
            hasher.update(data)
            if hasher.hexdigest() != digest:
                return None
        return bytes(data)
    return None


MAX_CONFIG_LINE_CHARS = 500
"""Characters of a line: git once read longer ones as several."""
IDENTITY = frozenset({"user.name", "user.email"})

_HEAD = re.compile(
    r'\[([a-z][a-z0-9-]*)(?:[ \t]+"((?:[^"\\]|\\["\\])*)")?\]\Z', re.IGNORECASE | re.ASCII
)
_LINE = re.compile(
    r"([a-z][a-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?\Z", re.IGNORECASE | re.ASCII | re.DOTALL
)
_VALUE = re.compile(r'(?:[^\\"]|\\[ntb"\\]|"(?:[^\\"]|\\[ntb"\\])*")*\Z')
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]")
_URL = re.compile(r"(?:https?|ssh|git)://[\w\[][\w.\[\]@:~/%+,=-]*\Z", re.ASCII)
_SCP = re.compile(r"(?:\w[\w.-]*@)?\w[\w.-]*:[\w.~/%+-]+\Z", re.ASCII)
_REFS = re.compile(r"\+?refs/[\w./*@+-]+:refs/(?:remotes|tags)/[\w./*@+-]+\Z", re.ASCII)
_NAME = re.compile(r"\w[\w./@+-]*\Z|\.\Z", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_OFF = re.compile(r"(?:false|no|off|0)\Z", re.IGNORECASE)

Check = Callable[[str], object]
Inside = Callable[[str], bool]
"""Whether an absolute path lies in the workspace."""


def _free(value: str) -> bool:
    del value
    return True


_CORE = (
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
    "autocrlf",
    "eol",
    "safecrlf",
    "quotepath",
    "sparsecheckout",
    "sparsecheckoutcone",
)
_ALLOWED: dict[str, dict[str, Check]] = {
    "core": {"repositoryformatversion": re.compile(r"[01]\Z").match, **dict.fromkeys(_CORE, _free)},
    "extensions": {
        "objectformat": re.compile(r"sha1\Z|sha256\Z").match,
        "refstorage": re.compile(r"files\Z|reftable\Z").match,
    },
    "user": dict.fromkeys(("name", "email", "useconfigonly"), _free),
    "author": dict.fromkeys(("name", "email"), _free),
    "committer": dict.fromkeys(("name", "email"), _free),
    "branch": {
        **dict.fromkeys(("rebase", "description"), _free),
        "remote": _NAME.match,
        "merge": re.compile(r"refs/[\w./@+-]+\Z", re.ASCII).match,
    },
    "remote": {"fetch": _REFS.match, **dict.fromkeys(("tagopt", "prune"), _free)},
    "init": {"defaultbranch": _free},
    "pull": dict.fromkeys(("rebase", "ff"), _free),
    "push": {"default": _free, "autosetupremote": _free},
    "fetch": dict.fromkeys(("prune", "prunetags"), _free),
    "color": dict.fromkeys(("ui", "branch", "diff", "status"), _free),
    "advice": dict.fromkeys(("detachedhead", "addignoredfile", "statushints"), _free),
    "merge": {"ff": _free, "conflictstyle": _free},
    "commit": {"gpgsign": _OFF.match},
    "tag": {"gpgsign": _OFF.match},
    "gc": {"auto": _NUMBER.match},
    "lfs": {"repositoryformatversion": _NUMBER.match},
}
"""Settings by section, in lower case, and what their value must be like."""
_NAMED = frozenset({"branch", "remote"})
"""Sections that are always of something."""


class NotPlain(Exception):
    """It has something that is not understood here."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        section, key: in lower case.
        of: the branch or remote that it is about; "" for none.
        value: as it is written.
    """

    section: str
    of: str
    key: str
    value: str

    @property
    def name(self) -> str:
        """As git names it."""
        return ".".join(filter(None, (self.section, self.of, self.key)))

    def is_harmless(self, inside: Inside) -> bool:
        """Whether it runs nothing, and reads nothing from outside of the workspace."""
        if bool(self.of) != (self.section in _NAMED):
            return False
        if self.of and _NAME.match(self.of) is None:
            return False  # git hands the name of a remote on as an argument
        if (self.section, self.key) == ("remote", "url"):
            return is_plain_url(self.value, inside)
        check = _ALLOWED.get(self.section, {}).get(self.key)
        return check is not None and bool(check(self.value))


def is_plain_url(url: str, inside: Inside) -> bool:
    """Whether git reaches it by a usual transport of its own, or it is a path in the workspace."""
    if "@-" in url or "//-" in url or "::" in url:
        return False
    path = url.removeprefix("file://")
    if path.startswith("/"):
        return ".." not in path.split("/") and '"' not in path and inside(path)
    return bool(_URL.match(url) or ("://" not in url and _SCP.match(url)))


def settings(data: bytes) -> Iterator[Setting]:
    """The settings in a file.

    Raises:
        NotPlain: it has something that is not understood.
    """
    if len(data) > MAX_CONFIG_BYTES:
        raise NotPlain("it is very large")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotPlain("it is not text") from None
    section, of = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.removesuffix("\r").strip(" \t")
        if len(line) > MAX_CONFIG_LINE_CHARS or _CONTROL.search(plain):
            raise NotPlain(f"its line {number} is unusual")
        if not plain or plain[0] in "#;":
            continue
        if head := _HEAD.match(plain):
            section, of = head[1].lower(), head[2] or ""
            continue
        found = _LINE.match(plain)
        value = (found[2] or "") if found else ""
        if not found or not section or _VALUE.match(value) is None:
            raise NotPlain(f"its line {number} is unusual")
        yield Setting(section, of, found[1].lower(), value)


def listed_settings(output: bytes) -> list[Setting]:
    """What `git config --list -z` printed of one file, in its order."""
    found = []
    for entry in output.decode("utf-8", "surrogateescape").split("\0"):
        name, has_value, value = entry.partition("\n")
        section, _, rest = name.partition(".")
        of, _, key = rest.rpartition(".")
        if key:
            found.append(Setting(section.lower(), of, key.lower(), value if has_value else "true"))
    return found


def trouble(data: bytes, inside: Inside) -> str:
    """Why the settings of a new repository are not harmless; "" where they are."""
    try:
        for setting in settings(data):
            if not setting.is_harmless(inside):
                return f"its config sets {setting.name[:100]}"
    except NotPlain as error:
        return f"of its config, {error}"
    return ""


def trouble_of_change(old: bytes, new: bytes, inside: Inside) -> tuple[str, list[str]]:
    """Why settings of a repository that was there may not be changed so, and what is new.

    Only who commits may change, and remotes be added with the branches that follow them:
    what the user set stays, and what is pushed goes nowhere else than before.
    """
    try:
        before, after = list(settings(old)), list(settings(new))
    except NotPlain as error:
        return f"of its config, {error}", []
    remotes = {setting.of for setting in before if setting.section == "remote"}
    follow = {setting.of for setting in before if setting.section == "branch"}

    def is_free(setting: Setting) -> bool:
        return setting.is_harmless(inside) and _is_additional(setting, remotes, follow)

    fixed = [s for s in before if not is_free(s)]
    if [s for s in after if not is_free(s)] != fixed:
        changed = [s for s in after if not is_free(s) and s not in fixed]
        changed += [s for s in fixed if s not in after]
        return f"its config has another {changed[0].name[:100] if changed else 'order'}", []
    return "", [setting.name for setting in after if setting not in before]


def _is_additional(setting: Setting, remotes: Collection[str], follow: Collection[str]) -> bool:
    if setting.section == "remote":
        return setting.of not in remotes
    if setting.section == "branch":
        led = setting.key != "remote" or setting.value in {".", *remotes} or not remotes
        return setting.of not in follow and setting.key in ("remote", "merge") and led
    return setting.name in IDENTITY


MAX_GIT_FILE_BYTES = 1_000_000
MAX_LOG_BYTES = 8_000_000
SUBJECT_CHARS = 100
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/[\w./@+-]{1,250}")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: its short id, the first line of its message, who made it."""

    id: str
    subject: str
    author: str


@dataclass(frozen=True, slots=True)
class RepositorySummary:
    """The branch that is checked out, or "" where none is, and the last commits."""

    branch: str
    commits: tuple[Commit, ...]


def repository_of(folder: SafePath, limit: int = 5) -> RepositorySummary | None:
    """The repository whose top folder this is; None for none that can be read. It blocks."""
    git = folder.child(".git")
    head = _text(git, "HEAD").strip()
    if not head:
        return None
    ref = head.removeprefix("ref:").strip()
    if ref == head:
        sha, branch = (head if _SHA.fullmatch(head) else ""), ""
    else:
        branch = ref.removeprefix("refs/heads/")
        sha = _resolved(git, ref)
    return RepositorySummary(one_line(branch, SUBJECT_CHARS), tuple(_commits(git, sha, limit)))


def _resolved(git: SafePath, ref: str) -> str:
    if not _REF.fullmatch(ref) or ".." in ref:
        return ""
    sha = _text(git, *ref.split("/")).strip()
    if _SHA.fullmatch(sha):
        return sha
    for line in _text(git, "packed-refs").splitlines():
        sha, _, name = line.partition(" ")
        if name == ref and _SHA.fullmatch(sha):
            return sha
    return ""


def _commits(git: SafePath, sha: str, limit: int) -> list[Commit]:
    """By first parents, as long as commits lie in files of their own; then by the log."""
    found: list[Commit] = []
    while sha and len(found) < limit:
        body = _object(git, sha)
        if body is None:
            return found + _logged(git, sha, limit - len(found))
        header, _, message = body.partition("\n\n")
        author = re.search(r"^author (.*?) <", header, re.MULTILINE)
        parent = re.search(r"^parent ([0-9a-f]+)$", header, re.MULTILINE)
        found.append(_commit(sha, message, author[1] if author else ""))
        sha = parent[1] if parent else ""
    return found


def _commit(sha: str, message: str, author: str) -> Commit:
    lines = message.strip().splitlines() or [""]
    return Commit(sha[:8], one_line(lines[0], SUBJECT_CHARS), one_line(author, SUBJECT_CHARS))


def _object(git: SafePath, sha: str) -> str | None:
    if not _SHA.fullmatch(sha):
        return None
    packed = _bytes(git, MAX_GIT_FILE_BYTES, "objects", sha[:2], sha[2:])
    if not packed:
        return None
    with suppress(zlib.error):
        raw = zlib.decompressobj().decompress(packed, MAX_GIT_FILE_BYTES)
        kind, _, body = raw.partition(b"\0")
        if kind.startswith(b"commit "):
            return body.decode("utf-8", "replace")
    return None


def _logged(git: SafePath, sha: str, limit: int) -> list[Commit]:
    """Commits of the log of HEAD that lead to one; those in packs have no file of their own."""
    lines = _bytes(git, MAX_LOG_BYTES, "logs", "HEAD").decode("utf-8", "replace").splitlines()
    found: list[Commit] = []
    for line in reversed(lines):
        state, _, message = line.partition("\t")
        words = state.split(" ", 2)
        action, _, subject = message.partition(": ")
        if len(words) != 3 or not action.startswith(("commit", "merge", "pull", "clone")):
            continue
        if words[1] == sha and len(found) < limit:
            found.append(_commit(sha, subject or message, words[2].partition(" <")[0]))
            sha = words[0]
    return found


def _text(git: SafePath, *parts: str) -> str:
    return _bytes(git, MAX_GIT_FILE_BYTES, *parts).decode("utf-8", "replace")


def _bytes(git: SafePath, limit: int, *parts: str) -> bytes:
    path = git
    try:
        for part in parts:
            path = path.child(part)
        return path.read_bytes(limit)
    except ToolError:
        return b""
