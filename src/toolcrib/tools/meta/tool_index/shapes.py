# ruff: noqa: RUF001 - marks of several scripts
"""What a question shows rather than says: addresses, file names, quotations, source code."""

from __future__ import annotations

import re

_KINDS = {
    "python": "py ipynb pyw",
    "javascript": "js mjs cjs ts jsx tsx",
    "source": "c h cc cpp hpp go rs java kt swift rb php cs scala lua sh sql vue "
    "py js mjs cjs ts jsx tsx",
    "document": "pdf docx doc pptx ppt xlsx xls odt ods odp epub eml msg rtf mobi",
    "picture": "png jpg jpeg gif webp svg bmp tif tiff heic",
    "archive": "zip tar gz tgz bz2 xz 7z rar zst",
    "patch": "patch diff",
    "text": "txt md log csv json toml yaml yml ini cfg conf xml html htm env rst tex",
}
_AT_URLS = frozenset({"picture", "document", "archive"})
"""Kinds that matter of an address: `.html` and `.com` say nothing."""
_BY_ENDING: dict[str, list[str]] = {}
for _kind, _endings in _KINDS.items():
    for _ending in _endings.split():
        _BY_ENDING.setdefault(_ending, []).append(_kind)

# A letter or digit of a name: none of those that stand without spaces between words.
_C = r"[^\W\u2e80-\ud7af]"
_ENDINGS = "|".join(sorted(_BY_ENDING, key=len, reverse=True))
_URL = re.compile(r"(?:https?://|www\.)[^\s,;。，；)）」』”\"'\u2e80-\ud7af]+", re.IGNORECASE)
_FILE = re.compile(
    rf"(?<!{_C})(?<![./-])(?:[~/]|\.\.?/)?(?:(?:{_C}|[.-])+/)*"
    rf"((?:{_C}|-)+(?:\.(?:{_C}|-)+)*)\.(?:{_ENDINGS})"
    r"(?![A-Za-z0-9_/])",
    re.IGNORECASE,
)
_ENDING = re.compile(rf"(?<![A-Za-z0-9/.])\*?\.({_ENDINGS})(?![A-Za-z0-9_])")
_FOLDER = re.compile(
    rf"(?<![A-Za-z0-9.<])(?:(?:\.\.?|~)/(?:{_C}|[./-])*|/(?:{_C}|[.-])+(?:/(?:{_C}|[.-])*)*"
    rf"|(?:{_C}|[.-])+/(?![A-Za-z0-9]))"
)
_SYMBOL = re.compile(
    r"(?<![A-Za-z0-9_])(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"
    r"|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Za-z_]\w*(?=\(\)))(?:\(\))?(?![A-Za-z0-9_])"
)
_QUOTED = re.compile(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|「([^」]{1,200})」|『([^』]{1,200})』"
    r"|„([^“”]{1,200})[“”]|«([^»]{1,200})»|`([^`]{1,200})`|(?<!\w)'([^']{2,200})'(?!\w)"
    r"|(?<!\w)s/[^/]+/[^/]*/\w*"
)


def shapes(text: str) -> tuple[str, str]:
    """The text with a shape such as `<url>` for what it only shows; and what it quotes.

    A file name gives `<file>` and what kinds of file it can be; without its ending it
    stands with what is quoted.
    """
    quoted: list[str] = []

    def quotation(match: re.Match[str]) -> str:
        inner = next((group for group in match.groups() if group), "")
        if "<file>" in inner or "<url>" in inner:
            return f" {inner} "
        quoted.append(inner)
        return " <quote> "

    text = _URL.sub(lambda m: f" <url> {_kinds(m.group(), _AT_URLS)} ", text)
    named = [match[1] for match in _FILE.finditer(text)]
    for pattern in (_FILE, _ENDING):
        text = pattern.sub(lambda m: f" <file> {_kinds(m.group())} ", text)
    text = _QUOTED.sub(quotation, text)
    text = _FOLDER.sub(" <path> ", text)
    return _SYMBOL.sub(" <symbol> ", text), " ".join([*quoted, *named])


def _kinds(name: str, wanted: frozenset[str] = frozenset(_KINDS)) -> str:
    kinds = _BY_ENDING.get(name.rpartition(".")[2].lower(), ())
    return " ".join(f"<{kind}>" for kind in kinds if kind in wanted)
