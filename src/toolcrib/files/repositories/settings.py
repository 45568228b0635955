"""The settings of a repository, and which of them are harmless: read more strictly than git does.

What is not understood here is not harmless.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from toolcrib.core.package_data import package_table
from toolcrib.files.repositories.credentials import without_logins
from toolcrib.files.repositories.places import MAX_CONFIG_BYTES

MAX_CONFIG_LINE_CHARS = 500
"""Characters of a line: git once read longer ones as several."""
MAX_VALUE_CHARS = 100
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
_FOLLOWED = re.compile(r"\+?refs/heads/([\w./@+-]+|\*):refs/remotes/([\w.@+-]+)/\1\Z", re.ASCII)
_NAME = re.compile(r"\w[\w./@+-]*\Z|\.\Z", re.ASCII)

Inside = Callable[[str], bool]
"""Whether an absolute path lies in the workspace."""

_ALLOWED: dict[str, dict[str, str]] = package_table("files/repositories/settings.toml")
"""Settings by section, in lower case, and an expression for their value; "" for any."""
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

    def is_harmless(self, inside: Inside, top: str = "") -> bool:
        """Whether it runs nothing, and reads nothing from outside of the workspace.

        `top` is the folder that git takes relative addresses from.
        """
        if bool(self.of) != (self.section in _NAMED):
            return False
        if self.of and _NAME.match(self.of) is None:
            return False  # git hands the name of a remote on as an argument
        if (self.section, self.key) == ("remote", "url"):
            return is_plain_url(self.value, inside, top)
        form = _ALLOWED.get(self.section, {}).get(self.key)
        return form is not None and bool(not form or re.fullmatch(form, self.value, re.ASCII))


def is_plain_url(url: str, inside: Inside, top: str = "") -> bool:
    """Whether git reaches it by a usual transport of its own, or it is a path in the workspace.

    A path with `..` has to be there as it is written too, whatever links on it lead to.
    """
    if "@-" in url or "//-" in url or "::" in url:
        return False
    is_relative = bool(top) and url[:1] not in ("", "-", "~", "/") and ":" not in url
    path = f"{top}/{url}" if is_relative else url.removeprefix("file://")
    if path.startswith("/"):
        return '"' not in path and inside(path) and inside(os.path.normpath(path))
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


def trouble(data: bytes, inside: Inside, top: str = "") -> str:
    """Why the settings of a new repository are not harmless; "" where they are."""
    try:
        for setting in settings(data):
            if not setting.is_harmless(inside, top):
                return f"its config sets {setting.name[:100]}"
    except NotPlain as error:
        return f"of its config, {error}"
    return ""


def trouble_of_change(
    old: bytes, new: bytes, inside: Inside, top: str = ""
) -> tuple[str, list[str]]:
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
        return setting.is_harmless(inside, top) and _is_additional(setting, remotes, follow)

    fixed = [s for s in before if not is_free(s)]
    if [s for s in after if not is_free(s)] != fixed:
        changed = [s for s in after if not is_free(s) and s not in fixed]
        changed += [s for s in fixed if s not in after]
        name = changed[0].name if changed else "order"
        is_new = bool(changed) and all(s.name != name for s in before)
        return f"its config {'sets' if is_new else 'has another'} {name[:100]}", []
    added = (setting for setting in after if setting not in before)
    return "", [f"{each.name}={_without_login(each.value)}" for each in added]


def _without_login(value: str) -> str:
    return without_logins(value.encode()).decode("utf-8", "replace")[:MAX_VALUE_CHARS]


def _keeps_to_itself(setting: Setting) -> bool:
    """Whether a new remote writes no branch of another one, and no tag."""
    if setting.key != "fetch":
        return True
    found = _FOLLOWED.match(setting.value)
    # Beneath the name of `a/b` branches of a remote `a` would stand.
    return found is not None and found[2] == setting.of and "/" not in setting.of


def _is_additional(setting: Setting, remotes: Collection[str], follow: Collection[str]) -> bool:
    if setting.section == "remote":
        return setting.of not in remotes and _keeps_to_itself(setting)
    if setting.section == "branch":
        led = setting.key != "remote" or setting.value in {".", *remotes} or not remotes
        return setting.of not in follow and setting.key in ("remote", "merge") and led
    return setting.name in IDENTITY
