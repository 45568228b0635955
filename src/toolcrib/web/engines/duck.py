"""What the pages of DuckDuckGo take: region, period, safe search, words with a bang."""

from __future__ import annotations

import re

from toolcrib.core.errors import BadInput
from toolcrib.web.engines.engine import LETTER_OF
from toolcrib.web.provider_api.provider import SHORTER, Ask, Provider

SAFE = {"strict": ("1", "1"), "moderate": ("", "-1"), "off": ("-1", "-2")}
"""Safe search as the form takes it, and as the settings do."""

# Country and language, as its own list has them.
REGIONS = frozenset(
    (  # noqa: SIM905 - a list of words reads best as one
        "ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr ct-ca cl-es cn-zh co-es hr-hr cz-cs"
        " dk-da ee-et fi-fi fr-fr de-de gr-el hk-tzh hu-hu is-is in-en id-en ie-en il-en it-it"
        " jp-jp kr-kr lv-lv lt-lt my-en mx-es nl-nl nz-en no-no pk-en pe-es ph-en pl-pl pt-pt ro-ro"
        " ru-ru xa-ar sg-en sk-sk sl-sl za-en es-ca es-es se-sv ch-de ch-fr tw-tzh th-en tr-tr"
        " us-en us-es ua-uk uk-en vn-en"
    ).split()
)
EVERYWHERE = "wt-wt"
_ODD = {
    "gb": "uk-en", "jp": "jp-jp", "kr": "kr-kr", "si": "sl-sl", "tw": "tw-tzh", "hk": "hk-tzh",
    "no": "no-no", "sa": "xa-ar", "ae": "xa-ar", "eg": "xa-ar",
}  # fmt: skip
_SPOKEN = {
    "en": "us-en", "ja": "jp-jp", "ko": "kr-kr", "zh": "cn-zh", "cs": "cz-cs", "da": "dk-da",
    "sv": "se-sv", "el": "gr-el", "uk": "ua-uk", "et": "ee-et", "nb": "no-no", "ar": "xa-ar",
    "ca": "ct-ca",
}  # fmt: skip
_BANG = re.compile(r"(?<!\S)(!\S+|\S+!)(?!\S)")
LONGEST = 499


def region(ask: Ask) -> str:
    """The region as DuckDuckGo writes it: `de-de`, `us-en`; `wt-wt` for all."""
    country, language = ask.country.lower(), ask.language
    if not country:
        same = f"{language}-{language}"
        return same if same in REGIONS else _SPOKEN.get(language, EVERYWHERE)
    exact = f"{country}-{language}"
    if exact in REGIONS:
        return exact
    only = [r for r in REGIONS if r.startswith(f"{country}-")]
    return _ODD.get(country) or (only[0] if len(only) == 1 else EVERYWHERE)


def words(ask: Ask) -> str:
    """The query; a word like !w would send it on to another site, so it is quoted."""
    return _BANG.sub(r'"\1"', ask.words)


def fields(ask: Ask) -> dict[str, str]:
    """The form of the first page, or of the one that `cursor` leads to."""
    if ask.cursor:
        return {"q": words(ask), **ask.cursor}
    form = {"q": words(ask), "b": "", "kl": region(ask), "df": LETTER_OF[ask.freshness]}
    if ask.page > 1:
        offset = 10 + (ask.page - 2) * 15
        del form["b"]
        form |= {"s": str(offset), "dc": str(offset + 1), "nextParams": "", "v": "l", "o": "json"}
        form |= {"api": "d.js"}
    return form


def cookies(ask: Ask) -> dict[str, str]:
    """What the form leaves in the browser."""
    place = region(ask)
    return {"kl": "" if place == EVERYWHERE else place, "df": LETTER_OF[ask.freshness]}


def limited(provider: Provider, ask: Ask) -> None:
    """Refuse what is too long once it is written for DuckDuckGo.

    Raises:
        BadInput: it is.
    """
    if len(words(ask)) > LONGEST:
        raise BadInput(f"{provider.name} takes at most {LONGEST} characters a query.", hint=SHORTER)
