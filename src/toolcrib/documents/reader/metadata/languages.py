"""The language of a page: as it declares it, else as its text shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.documents.reader.metadata.head import Metas
from toolcrib.documents.reader.metadata.phrases import text_of

if TYPE_CHECKING:
    from turbohtml import Document as Tree

_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")
_LEAST = 120
"""Characters of text under which its language is not guessed."""
_ENOUGH = 2_000
_SURE = 0.5
_PARAGRAPHS = 30
_SHORT = {
    "afr": "af", "amh": "am", "ara": "ar", "aze": "az", "bel": "be", "ben": "bn", "bul": "bg",
    "cat": "ca", "ces": "cs", "cmn": "zh", "cym": "cy", "dan": "da", "deu": "de", "ell": "el",
    "eng": "en", "epo": "eo", "est": "et", "eus": "eu", "fin": "fi", "fra": "fr", "gle": "ga",
    "glg": "gl", "guj": "gu", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy",
    "ind": "id", "isl": "is", "ita": "it", "jav": "jv", "jpn": "ja", "kan": "kn", "kat": "ka",
    "kaz": "kk", "khm": "km", "kor": "ko", "lat": "la", "lav": "lv", "lit": "lt", "mal": "ml",
    "mar": "mr", "mkd": "mk", "mya": "my", "nep": "ne", "nld": "nl", "nob": "no", "nor": "no",
    "ori": "or", "pan": "pa", "pes": "fa", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru",
    "sin": "si", "slk": "sk", "slv": "sl", "sna": "sn", "spa": "es", "sqi": "sq", "srp": "sr",
    "swe": "sv", "swh": "sw", "tam": "ta", "tel": "te", "tgl": "tl", "tuk": "tk", "tur": "tr",
    "ukr": "uk", "urd": "ur", "uzb": "uz", "yid": "yi", "zho": "zh", "zul": "zu",
    "som": "so", "tha": "th", "vie": "vi",  # codespell:ignore som,tha,vie
}  # fmt: skip
"""ISO 639-1 for 639-3."""


def language_of(tree: Tree, metas: Metas) -> str:
    """A language tag such as "de-CH", or empty where neither the page nor its text tells."""
    root = tree.root
    declared = [metas.get("content-language", "og:locale", "dc.language", "language")]
    if root is not None:
        declared[:0] = [root.attr("lang") or "", root.attr("xml:lang") or ""]
    for text in declared:
        tag = text[:60].strip().replace("_", "-")
        if _TAG.fullmatch(tag):
            return tag
    return _guessed(tree)


def _guessed(tree: Tree) -> str:
    parts: list[str] = []
    size = 0
    for element in tree.find_all("p")[:_PARAGRAPHS]:
        parts.append(text_of(element, _ENOUGH))
        size += len(parts[-1])
        if size > _ENOUGH:
            break
    body = tree.find("body")
    text = " ".join(parts) if size >= _LEAST or body is None else text_of(body, _ENOUGH)
    text = " ".join(text.split())
    if len(text) < _LEAST:
        return ""
    from turbohtml.detect import LanguageDetection, detect_language

    code = detect_language(text[:_ENOUGH], LanguageDetection(threshold=_SURE)).language or ""
    return _SHORT.get(code, code)
