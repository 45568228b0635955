"""What stages write into a chat, in five languages, and the yes and no that they hear."""

from __future__ import annotations

import re

from toolcrib.core.package_data import package_table

TEXTS: dict[str, dict[str, str]] = package_table("chatflow/phrases.toml")
"""Each text in each language, by its name."""
_YES_WORDS = (
    "yes y yep yeah sure ok okay please ja jo jawohl klar gerne gern bitte sí si claro vale "
    "是 是的 好 好的 可以 要 对 對 行"
)
_NO_WORDS = (
    "no n nope not don't never nein nee ne nicht niemals nunca tampoco "
    "否 不 不是 不要 不用 不必 不行 不可以 没有 沒有"
)
_YES, _NO = frozenset(_YES_WORDS.split()), frozenset(_NO_WORDS.split())
MAX_ANSWER_WORDS = 6
_WORD = re.compile(r"[\w']+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_TRADITIONAL = re.compile("[這個們對時會說來還沒開關種樣國學過後與為無當發經點問題請資訊檔]")
_GERMAN = re.compile(
    r"\b(?:der|die|das|und|ist|nicht|ich|du|wir|ein|eine|mit|für|bitte|wie|was|den|dem|zu|auf)\b|[äöß]",
    re.IGNORECASE,
)
_SPANISH = re.compile(
    r"\b(?:el|los|las|que|una|por|con|para|como|qué|cómo|está|es|del|y|mi|lo|se)\b|[ñ¿¡]",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:the|is|and|of|to|a|in|what|how|please|you|it|for|on|with|my|this|that)\b", re.IGNORECASE
)


def language_of(text: str) -> str:
    """The language of a text, of the five; English where it is not clear."""
    sample = text[:2_000]
    if len(_HAN.findall(sample)) > len(sample) / 8:
        return "zh-TW" if _TRADITIONAL.search(sample) else "zh-CN"
    counts = {
        "en": len(_ENGLISH.findall(sample)),
        "de": len(_GERMAN.findall(sample)),
        "es": len(_SPANISH.findall(sample)),
    }
    return max(counts, key=lambda name: counts[name])


def worded(name: str, language: str, /, **values: str) -> str:
    """A text in a language; values may hold anything."""
    texts = TEXTS[name]
    return texts.get(language, texts["en"]).format_map(values)


def heard(text: str) -> bool | None:
    """Whether a short message says yes or no in any of the five languages; None for neither.

    A message with words of both, or with more to say, is no answer.
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    if not words or len(words) > MAX_ANSWER_WORDS or len(text) > 80:
        return None
    yes, no = any(word in _YES for word in words), any(word in _NO for word in words)
    if words[0] not in _YES and words[0] not in _NO:
        return None
    return None if yes == no else yes
