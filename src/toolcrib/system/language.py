"""The language that the user's system speaks."""

from __future__ import annotations

import sys
from pathlib import Path

from toolcrib.core.config import environment
from toolcrib.core.languages import nearest_language

AUTO = "auto"
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Which of them counts before which."""
PREFERENCES = Path("Library/Preferences/.GlobalPreferences.plist")


def chosen_language(setting: str) -> str:
    """The language of a setting: one of ours, or that of the system."""
    return system_language() if setting == AUTO else setting


def system_language() -> str:
    """The language of the system, of ours; English where it speaks another."""
    found = environment(VARIABLES)
    tags = [found[name] for name in VARIABLES if found.get(name)]
    return nearest_language(tags[0] if tags else _preferred_tag())


def _preferred_tag() -> str:
    """What systems say that set no variables, or set none for programs with windows."""
    try:
        if sys.platform == "win32":
            import ctypes
            import locale

            number = ctypes.windll.kernel32.GetUserDefaultUILanguage()
            return locale.windows_locale.get(number, "")
        if sys.platform == "darwin":
            import plistlib

            content = (Path.home() / PREFERENCES).read_bytes()
            return str(plistlib.loads(content)["AppleLanguages"][0])
    except Exception:  # noqa: BLE001 - whatever it is: English is better than no start
        return ""
    return ""
