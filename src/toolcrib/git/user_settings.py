"""What git is told of the user's and the system's own settings: harmless ones, by value.

They are read once, outside of any repository, and handed to git in a file of ours. What is not
listed here stays unknown to it: aliases, editors, pagers, hooks, filters, drivers, includes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcrib.core.package_data import package_table
from toolcrib.files.repositories.settings import Setting, listed_settings

_TABLE = package_table("git/user_settings.toml")
_CREDENTIAL_KEY = re.compile(r"[a-z][a-z0-9]*\Z")


def is_passed_on(setting: Setting) -> bool:
    """Whether one of the user's own settings is handed on."""
    if setting.section == "credential":
        return bool(_CREDENTIAL_KEY.match(setting.key))
    keys = _TABLE["passed_on_of_addresses" if setting.of else "passed_on"]
    return setting.key in keys.get(setting.section, "").split()


def passed_on(output: bytes) -> list[Setting]:
    """Those of `git config --list -z` that are handed on, in their order."""
    return [setting for setting in listed_settings(output) if is_passed_on(setting)]


def forced() -> list[Setting]:
    """What holds whatever anybody set."""
    return [
        Setting(section, "", key, value)
        for section, values in _TABLE["forced"].items()
        for key, value in values.items()
    ]


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
