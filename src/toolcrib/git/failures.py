"""What git says when it fails, as errors with what to do next."""

from __future__ import annotations

import re
from collections.abc import Callable

from toolcrib.core.errors import (
    BadInput,
    Conflict,
    ConnectionFailed,
    Denied,
    NotConfigured,
    NotFound,
    StorageFailure,
    TlsFailure,
    ToolError,
    Unavailable,
)
from toolcrib.text.cleaner import one_line

IDENTITY_HINT = (
    'The user sets both: git config --global user.name "Name" and '
    'git config --global user.email "name@host".'
)
LOCK_HINT = (
    "If no other git runs, one was killed there: delete that file with delete_path, then send "
    "the call again."
)
NOTHING_TO_COMMIT = "There is nothing to commit."
MAX_CHARS = 600
_URL_SECRET = re.compile(r"(://)[^/@\s]+@")

_CASES: tuple[tuple[str, type[ToolError], str, str], ...] = (
    ((r"(?:Please tell me who you are|empty ident name|no (?:name|email) was given|auto-detection "
     r"is disabled|useConfigOnly)"), NotConfigured, "git does not know who commits.",
     IDENTITY_HINT),
    (r"Unable to create '([^']*\.lock)': File exists", Conflict,
     "The repository is locked: {1} exists.", LOCK_HINT),
    (r"cannot lock ref '([^']*)'", Conflict, "The reference {1} is locked or changed meanwhile.",
     "Look with git_status and git_log, then send the call again."),
    (r"local changes to the following files would be overwritten by (\w+)", Conflict,
     "Changes that are not committed would be overwritten: {lines}",
     "Commit them with git_commit, or put them aside with git_stash."),
    (r"untracked working tree files would be (?:overwritten|removed) by (\w+)", Conflict,
     "Files that git does not know would be overwritten: {lines}",
     "Move them, add them, or git_stash with untracked=true."),
    ((r"(?:Please commit your changes or stash them|cannot (?:pull with )?rebase: You have "
     r"|Your index contains uncommitted|your local changes would be overwritten)"), Conflict,
     "There are changes that are not committed.",
     "Commit them with git_commit, or put them aside with git_stash."),
    ((r"(?:Committing is not possible because you have unmerged|you need to resolve your current "
     r"index first|not possible because you have unmerged|You have not concluded|unmerged files"
     r"|fix conflicts and then commit|: needs merge$|in the middle of a (?:merge|cherry-pick))"),
     Conflict, "A merge is not finished.",
     "git_conflicts shows what is open, and takes choices or aborts it."),
    ((r"(?:unknown revision|bad revision|ambiguous argument|Not a valid object name|invalid "
     r"reference|did not match any file\(s\) known|not a valid ref|does not point to a valid "
     r"object|unknown commit|invalid upstream|not something we can merge)[^']*'?([^'\n]*)"),
     NotFound, "There is no '{1}'.", "git_branch and git_log show what there is."),
    (r"no such path '?([^'\n]*)'? in", NotFound, "There is no {1} in that commit.",
     "git_log with its path shows where it was; git_add and git_commit add a new one."),
    (r"bad (?:object|tree)|missing (?:blob|tree)|unable to read (?:tree|sha1 file)", NotFound,
     "Objects of it are missing: the clone is shallow, partial, or damaged.",
     "git_fetch may bring them."),
    ((r"does not have any commits yet|bad default revision 'HEAD'|unborn|no such ref: HEAD"
     r"|do not have the initial commit yet"), NotFound,
     "There is no commit yet.", "git_add and git_commit make the first."),
    (r"(?:tag|branch) '([^']*)' not found", NotFound, "There is no '{1}'.",
     "git_branch and git_tag list what there is."),
    ((r"'([^']*)' (?:is already )?(?:checked out|used by worktree) at"), Conflict,
     "The branch {1} is checked out in another working tree of the repository.",
     "Name another branch, or change_directory to that working tree."),
    (r"Entry '([^']*)' not up.?to.?date", Conflict, "{1} is not as it was staged.",
     "git_add it, or git_reset with its path, then send the call again."),
    (r"'([^']*)' is beyond a symbolic link", Conflict,
     "A folder of {1} is a link now.", "Restore the folder, or git_add the change."),
    (r"already exists", Conflict, "{text}", "Choose another name, or delete the old one first."),
    (r"is not fully merged", Conflict, "{text}",
     "Merge it first, or force=true: git_log of it shows what would be left."),
    (r"Not possible to fast-forward|Need to specify how to reconcile|divergent branches", Conflict,
     "Both sides have commits of their own.",
     "git_pull with rebase=true, or git_fetch and git_merge."),
    (r"non-fast-forward|fetch first|stale info|\[rejected\]", Conflict,
     "The remote has commits that are not here: it rejected the push.",
     "git_pull first, then push again."),
    (r"\[remote rejected\] ?([^\n]*)", Denied, "The remote rejected the push: {1}{remote}",
     "It has rules of its own: another branch, or its owner."),
    (r"Host key verification failed|host key is known", Denied,
     "The ssh host key is not known or another than before.",
     "The user connects once with ssh and compares the key, so that it stands in known_hosts."),
    ((r"terminal prompts disabled|Authentication failed|Invalid username or|could not read "
     r"(?:Username|Password)|HTTP (?:Basic: )?Access denied|returned error: 40[13]"), Denied,
     "The remote wants a sign-in that git does not have.",
     ("The user sets up a credential helper (git config --global credential.helper), or an ssh key "
     "in the agent.")),
    (r"Permission denied \(", Denied, "The remote did not take the ssh key.",
     "The user adds a key to the ssh agent, and to the account there."),
    ((r"[Rr]epository '?([^'\n]*)'? not found|returned error: 404|does not appear to be a git "
     r"repository"), NotFound, "There is no such repository, or no right to see it.",
     "Check the address; a private one needs a sign-in."),
    (r"transport '([^']*)' not allowed", Denied, "git may not use the protocol {1} here.",
     "https and ssh are open; the user opens a folder with git.local_remotes."),
    (r"Error downloading object: (\S+)", Unavailable,
     "git-lfs has no copy of {1} here, and its filter reaches no server.",
     "The user runs git lfs fetch in a terminal; then send the call again."),
    (r"SSL|certificate", TlsFailure, "{text}", ""),
    ((r"unable to access|Could not resolve host|Connection (?:refused|reset|closed|timed out)"
     r"|early EOF|Could not read from remote|Operation too slow|unexpected disconnect"
     r"|hung up unexpectedly|CONNECT tunnel failed"), ConnectionFailed, "{text}", ""),
    (r"No space left on device|Disk quota", StorageFailure, "The disk is full.",
     "Make room, then send the call again."),
    (r"unknown option|usage: git|unrecognized argument|is not a git command|unknown switch",
     Unavailable, "This git is too old for that, or is none.",
     "Install git 2.32 or newer."),
    (r"pathspec '([^']*)'", NotFound, "git knows no file '{1}'.", "git_status shows the names."),
    (r"nothing (?:added )?to commit|no changes added", Conflict, NOTHING_TO_COMMIT,
     "git_add what belongs into it, or all=true."),
    (r"No stash entries|is not a valid reference|only has \d+ entries", NotFound,
     "There is no such stash.", "git_stash with action=list shows them."),
    (r"not a git repository", NotFound, "It is no git repository that this git reads.", ""),
)  # fmt: skip
_COMPILED = tuple((re.compile(case[0], re.MULTILINE), case[1], case[2], case[3]) for case in _CASES)


def failure(command: str, code: int, stderr: str, stdout: str = "") -> ToolError:
    """The error for a git command that ended with an exit code."""
    text = _URL_SECRET.sub(r"\1", f"{stderr}\n{stdout}" if stderr.strip() else stdout)
    for pattern, kind, message, hint in _COMPILED:
        found = pattern.search(text)
        if found:
            return _of(kind, found, message, hint, text)
    summary = _summary(text)
    if command == "commit" and not summary:
        return Denied(
            f"git commit ended with code {code} and printed nothing, as where a hook refuses it.",
            hint="The user looks at the hooks pre-commit and commit-msg of the repository.",
        )
    return BadInput(f"git {command}: {summary or f'it ended with code {code}'}")


def _of(
    kind: Callable[..., ToolError], found: re.Match[str], message: str, hint: str, text: str
) -> ToolError:
    parts = [part or "" for part in found.groups()]
    lines = [line.strip() for line in text[found.end() :].splitlines() if line.startswith("\t")]
    first = one_line(parts[0], 200) if parts else ""
    words = message.replace("{1}", first.strip(" '")).replace("{text}", _summary(text))
    lines_of_remote = [
        line.removeprefix("remote:").strip() for line in text.splitlines() if line[:7] == "remote:"
    ]
    remote = one_line(" ".join(filter(None, lines_of_remote)), MAX_CHARS)
    words = words.replace("{remote}", f". It says: {remote}" if remote else "")
    words = words.replace("{lines}", one_line(", ".join(lines[:5]), MAX_CHARS) or "some files")
    return kind(words if words.endswith((".", "!")) else f"{words}.", hint=hint)


def _summary(text: str) -> str:
    lines = [re.sub(r"^(?:fatal|error|warning): ", "", line) for line in text.splitlines()]
    wanted = [line for line in lines if line.strip() and not line.startswith(("hint:", "From "))]
    return one_line(" ".join(wanted[:4]), MAX_CHARS)
