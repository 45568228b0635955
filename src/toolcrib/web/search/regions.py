"""Language and country of results, as callers write them."""

from __future__ import annotations

import re

from toolcrib.core.config import Config
from toolcrib.core.errors import BadInput, ConfigError

_REGION = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{2}|\d{3}))?", re.IGNORECASE)
_ANYWHERE = ("", "all", "any", "none", "global", "worldwide", "wt-wt", "us-all", "xx")
# The country alone, and "us-en" as DuckDuckGo writes it: the language that most expect.
_LANGUAGES = {
    **dict.fromkeys(("US", "GB", "UK", "AU", "CA", "NZ", "IE", "IN", "ZA", "SG"), "en"),
    **dict.fromkeys(("DE", "AT", "CH"), "de"),
    **dict.fromkeys(("ES", "MX", "AR", "CL", "CO", "PE"), "es"),
    **dict.fromkeys(("BR", "PT"), "pt"),
    **dict.fromkeys(("FR", "BE"), "fr"),
    **dict.fromkeys(("CN", "TW", "HK"), "zh"),
    "IT": "it",
    "NL": "nl",
    "PL": "pl",
    "RU": "ru",
    "JP": "ja",
    "KR": "ko",
    "SE": "sv",
    "DK": "da",
    "NO": "no",
    "FI": "fi",
    "CZ": "cs",
    "GR": "el",
    "TR": "tr",
    "UA": "uk",
}
_NO_LANGUAGE = {"us", "gb", "au", "nz", "ie", "in", "za", "mx", "cl", "pe", "be", "cn", "tw"} | {
    *("hk", "jp", "kr", "dk", "cz", "gr", "ua", "at", "ch", "br")
}


def region_of(text: str) -> str:
    """A region like "de-DE", a language like "de", or nothing for everywhere.

    A country in capitals and the order of DuckDuckGo ("us-en") are understood too.

    Raises:
        BadInput: it is neither.
    """
    text = text.strip()
    if text.lower() in _ANYWHERE:
        return ""
    parts = _REGION.fullmatch(text)
    if not parts:
        raise BadInput(f"'region' must be a language and a country like de-DE, not '{text[:40]}'.")
    first, second = parts[1], parts[2] or ""
    if not second:
        language = _LANGUAGES.get(first) if first.isupper() else None
        return _joined(language, first) if language else first.lower()
    if first.lower() in _NO_LANGUAGE and second.isalpha() and not second.isupper():
        first, second = second, first
    return _joined(first, second)


def usual_region(config: Config) -> str:
    """The region that is configured, where a call names none.

    Raises:
        ConfigError: it is none.
    """
    given = config.web.search.region
    try:
        return region_of(given)
    except BadInput:
        raise ConfigError(
            "web.search.region must be a language and a country like de-DE, "
            f"not '{given.strip()[:40]}'.",
            hint="The user corrects web.search.region in the configuration, or empties it.",
        ) from None


def _joined(language: str, country: str) -> str:
    country = country.upper()
    return f"{language.lower()}-{'GB' if country == 'UK' else country}"
