"""What git is told of the user's and the system's own settings: harmless ones, by value.

They are read once, outside of any repository, and handed to git in a file of ours. What is not
listed here stays unknown to it: aliases, editors, pagers, hooks, filters, drivers, includes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcrib.files.repositories.settings import Setting, listed_settings

_PLAIN = {
    section: frozenset(keys.split())
    for section, keys in {
        "user": "name email useconfigonly signingkey",
        "author": "name email",
        "committer": "name email",
        "core": "autocrlf eol safecrlf excludesfile attributesfile quotepath whitespace abbrev "
        "precomposeunicode trustctime compression longpaths",
        "diff": "renames renamelimit algorithm context interhunkcontext indentheuristic "
        "wordregex suppressblankempty statgraphwidth",
        "merge": "renames renamelimit ff conflictstyle directoryrenames stat",
        "rebase": "autosquash autostash updaterefs",
        "pull": "rebase ff",
        "push": "default autosetupremote followtags",
        "fetch": "prune prunetags",
        "branch": "autosetupmerge autosetuprebase",
        "status": "renames renamelimit",
        "init": "defaultbranch",
        "commit": "cleanup gpgsign",
        "tag": "gpgsign",
        "i18n": "commitencoding",
        "safe": "directory",
        "apply": "whitespace",
        "versionsort": "suffix",
        "checkout": "defaultremote guess",
        "http": "sslcainfo sslcapath sslbackend schannelusesslcainfo version postbuffer",
    }.items()
}
_OF_URLS = {
    "url": frozenset({"insteadof", "pushinsteadof"}),
    "http": frozenset({"sslcainfo", "sslcapath"}),
}
_CREDENTIAL_KEY = re.compile(r"[a-z][a-z0-9]*\Z")

FORCED = (
    ("core", "hookspath", "/dev/null"),
    ("core", "fsmonitor", "false"),
    ("core", "pager", "cat"),
    ("core", "quotepath", "false"),
    ("core", "editor", ":"),
    ("core", "protecthfs", "true"),
    ("core", "protectntfs", "true"),
    ("core", "logallrefupdates", "true"),
    ("core", "preloadindex", "true"),
    ("core", "multipackindex", "false"),  # it may name packs of another repository
    ("core", "usereplacerefs", "false"),  # what is sent is not what they show in its place
    ("core", "commitgraph", "false"),  # a run may have written it: it would hide what is merged
    ("commit", "gpgsign", "false"),
    ("tag", "gpgsign", "false"),
    ("push", "gpgsign", "false"),
    ("push", "recursesubmodules", "no"),
    ("fetch", "recursesubmodules", "false"),
    ("submodule", "recurse", "false"),
    ("diff", "ignoresubmodules", "dirty"),
    ("status", "submodulesummary", "false"),
    ("log", "showsignature", "false"),
    ("gc", "auto", "0"),
    ("maintenance", "auto", "false"),
    ("rerere", "enabled", "false"),
    ("advice", "detachedhead", "false"),
    ("user", "useconfigonly", "true"),
    ("safe", "barerepository", "explicit"),
    ("i18n", "logoutputencoding", "UTF-8"),
    ("transfer", "bundleuri", "false"),
    ("transfer", "credentialsinurl", "allow"),
    ("http", "lowspeedlimit", "200"),
    ("http", "lowspeedtime", "30"),
    ("http", "followredirects", "initial"),
    ("core", "askpass", ""),
)
"""What holds whatever anybody set."""


def is_passed_on(setting: Setting) -> bool:
    """Whether one of the user's own settings is handed on."""
    if setting.section == "credential":
        return bool(_CREDENTIAL_KEY.match(setting.key))
    if setting.of:
        return setting.key in _OF_URLS.get(setting.section, ())
    return setting.key in _PLAIN.get(setting.section, ())


def passed_on(output: bytes) -> list[Setting]:
    """Those of `git config --list -z` that are handed on, in their order."""
    return [setting for setting in listed_settings(output) if is_passed_on(setting)]


def forced() -> list[Setting]:
    """`FORCED` as settings."""
    return [Setting(section, "", key, value) for section, key, value in FORCED]


def written(settings: Iterable[Setting]) -> bytes:
    """The text of a file with these settings, as git reads it."""
    lines = []
    for setting in settings:
        of = _escaped(setting.of)
        lines.append(f'[{setting.section} "{of}"]' if of else f"[{setting.section}]")
        value = _escaped(setting.value).replace("\n", "\\n").replace("\t", "\\t")
        lines.append(f'\t{setting.key} = "{value}"')
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
