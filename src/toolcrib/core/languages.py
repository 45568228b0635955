"""Languages of what people read: the settings panel, names and descriptions of tools, labels.

The sources are English; `translations/LANGUAGE.toml` has the same texts under the same keys. What
a model reads stays English, but for what stages write into a chat, which has the chat's language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from toolcrib.core.package_data import package_table

ENGLISH = "en"
LANGUAGES = (ENGLISH, "de", "es", "zh-CN", "zh-TW")
LABELS = {
    "as_configured": "As configured: {value}",
    "profile": "Profile {profile}: {count} of {total} tools.",
    "switched_off": "Switched off by {setting}: {tools}.",
    "profiles": "Profiles: {names}.",
}
"""Labels of ours, by their keys."""
_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})


def nearest_language(tag: str) -> str:
    """The language of ours for a tag such as `de_AT.UTF-8` or `zh-Hant-HK`; else English."""
    name, *rest = re.split(r"[-_.@]", tag.lower())
    if name == "zh":
        is_traditional = "hans" not in rest and not _TRADITIONAL.isdisjoint(rest)
        return "zh-TW" if is_traditional else "zh-CN"
    return name if name in LANGUAGES else ENGLISH


def translated(english: str, language: str, *keys: str) -> str:
    """A text in a language; in English where it has none.

    Args:
        english: the text of the source.
        language: of ours.
        keys: where the translation stands, such as `"titles", "read_file"`.
    """
    found: Any = _table(language)
    for key in keys:
        found = found.get(key, {})
    return found if isinstance(found, str) else english


def label(name: str, language: str, **values: object) -> str:
    """A label of ours with values, in a language."""
    return translated(LABELS[name], language, "labels", name).format(**values)


def tool_title(name: str, language: str) -> str:
    """What a tool is called in lists for people."""
    return translated(name.replace("_", " ").capitalize(), language, "titles", name)


@cache
def _table(language: str) -> Mapping[str, Any]:
    return {} if language == ENGLISH else package_table(f"translations/{language}.toml")
