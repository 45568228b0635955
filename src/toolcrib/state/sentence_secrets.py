# ruff: noqa: RUF001 - words and quotation marks of several languages
"""Secrets that people tell in a sentence: "my password is …", "la contraseña del wifi es …".

Only a value that is made like a password, or stands in quotes, is taken for one: "my password is
safe" says nothing, and "my password manager is …" is about another thing. So a password that is
nothing but a word of letters is found only in quotes, or alone after a colon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MIN_CHARS = 6
MIN_QUOTED_CHARS = 4
_PASSWORDS = (
    r"pass[ -]?words?|passwd|pwd|pass[ -]?phrases?|pass[ -]?codes?|log-?in codes?|access codes?"
    r"|security codes?|cvv|cvc|geheimzahl|losungswort|zugangscode"
    r"|\w{0,20}(?:passw[oö]rt(?:er)?|kennw[oö]rt(?:er)?|wachtwoord(?:en)?|lösenord(?:et)?|passord(?:et)?)"
    r"|mots? de passe|mdp|phrase secrète|code (?:secret|d'accès)|contraseñas?"
    r"|clave (?:de acceso|secreta|del? wi-?fi)"
    r"|parola d'ordine|parola|chiave d'accesso|codice (?:segreto|di accesso)|senha|palavra[ -]passe"
    r"|código de acesso|código de acceso|wachtzin|toegangscode|hasło|hasła|heslo"
    r"|adgangskode(?:n)?|kodeord(?:et)?|salasana(?:ni)?|jelszó|jelszava?m?"
    r"|geslo|lozinka|şifre(?:m|si)?|парол[ьяи]|κωδικός|lykilorð|parool|parole|slaptažodis"
)
_PINS = (
    r"pin|pin[ -]?codes?|pin[ -]?nummer|code pin|codice pin|código pin|tunnusluku|пин(?:-?код)?"
    r"|(?:alarm|door|gate|entry|unlock)[ -]code|türcode|clave(?! de acceso| secreta| del? wi)"
)
_BELONGING = (
    r"for|of|to|at|on|in|für|fürs|von|vom|zum|zur|des|der|am|im|beim|pour|du|de|d'\w+|del|della"
    r"|dello|para|per|di|da|do|dos|voor|van|na|pro|för|til|till|på|для|от|к|на"
)
_IS = (
    r"is|are|was|set to|reads|ist|lautet|heißt|est|es|è|é|jest|to|je|är|er|on|ovat"
    r"|este|это|είναι"
)
_AS = r"as|als|comme|como|come|som|jako|como|как"
_VALUE = r"[\"'`«„“‘‹](?P<quoted>[^\"'`«»„“”‘’‹›\n]{4,100})[\"'`»“”‘’›]|(?P<bare>\S{4,200})"
_NAMED = re.compile(
    rf"(?<!\w)(?:(?P<pin>{_PINS})|{_PASSWORDS})(?!\w)"
    rf"(?:\s{{1,3}}(?:{_BELONGING})(?!\w)(?:\s{{1,3}}[\w'’.@-]{{1,40}}){{0,5}}?)?"
    rf"(?:\s{{0,3}}(?P<sign>[:=→]|->|=>)\s{{0,3}}|\s{{0,3}}[,–—-]?\s{{1,3}}(?:{_IS})\s{{0,3}}:?\s{{1,3}}"
    rf"|\s{{1,3}}[–—-]\s{{1,3}}|(?<=[nN])\s{{1,3}}(?=\d))(?:{_VALUE})",
    re.IGNORECASE,
)
_NAMED_AFTER = re.compile(
    rf"(?<!\S)(?:{_VALUE})\s{{1,3}}(?:{_IS}|{_AS})\s{{1,3}}(?:[\w'’-]{{1,30}}\s{{1,3}}){{0,3}}"
    rf"(?:(?P<pin>{_PINS})|{_PASSWORDS})(?=\s{{0,3}}(?:[.,;:!?)]|$)|\s{{1,3}}(?:{_BELONGING})(?!\w))",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED_WITHOUT_BLANKS = re.compile(
    r"(?:(?P<pin>暗証番号|暗证)|密[码碼]|口令|パスワード|비밀번호|암호)[^\s\x21-\x7e。，、]{0,8}?\s?"
    r"(?:(?P<sign>[:：])|[是为為は은는])\s?"
    r"(?:[「『“\"'](?P<quoted>[^\n」』”\"']{4,100})|(?P<bare>[\x21-\x7e]{4,100}))"
)
"""The same in Chinese, Japanese and Korean."""
_NAMES = re.compile(rf"(?:{_PINS}|{_PASSWORDS})", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\$|%\w+%$|\{|\[|<|https?:|[a-z]+://|[~.]{0,2}/|[A-Za-z]:\\|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|[\w-]+\.(?:com|org|net|io|txt|md|kdbx|env|json|ya?ml|toml|py)$"
)
"""What only says where a secret is, by its begin or as a whole."""
_NO_VALUE = re.compile(
    r"1password|(?:sha|md|argon|pbkdf|base|bcrypt|scrypt|rsa|aes|utf|oauth|ipv|win)[-_]?\d|"
    r"\d{1,4}[-+ ]{0,2}(?:or|to|bis|à|char|sign|zeich|stell|ziffer|bit|byte|day|tag|jour|d[ií]a"
    r"|hour|min|letter|digit|word|wort|mot|car[aá]c|caratt|cifr|chiffr|teken|znak|tecken|tegn|merk|times|mal)",
    re.IGNORECASE,
)
_EDGES = ".,;:!?)*_`\"'»”’"


SIGNS = (
    *("pass", "pwd", "code", "cvv", "cvc", "zahl", "wort", "wört", "woord", "wachtzin"),
    *("senord", "mdp", "phrase", "contrase", "clave", "paro", "chiave", "codice"),
    *("senha", "código", "kod", "has", "heslo", "salasana", "jelsz", "geslo"),
    *("lozinka", "fre", "парол", "κωδικ", "lykilor", "slapta", "pin", "tunnusluku"),
    *("пин", "密", "口令", "暗", "パスワード", "비밀번호", "암호"),
)
"""One of these, in small letters, is in every text in which something is found."""


def find_in_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where a sentence says what a password or a PIN is: from where to where in the text."""
    for pattern in (_NAMED, _NAMED_AFTER, _NAMED_WITHOUT_BLANKS):
        for match in pattern.finditer(text):
            group = "bare" if match["quoted"] is None else "quoted"
            if _is_secret(match, match[group], group):
                yield match.span(group)


def _is_secret(match: re.Match[str], value: str, group: str) -> bool:
    plain = value.strip(_EDGES)
    if _REFERENCE.match(value) or _NO_VALUE.match(plain) or _NAMES.fullmatch(plain):
        return False
    if len(set(plain)) < 2 and not plain.isdigit():
        return False  # as many stars as it has characters
    if match["pin"]:
        return plain.isdigit() and 4 <= len(plain) <= 12
    if group == "quoted":
        return len(value) >= MIN_QUOTED_CHARS
    is_alone = match.groupdict().get("sign") and not _rest_of_line(match)
    return is_alone or _is_made_up(plain, value)


def _rest_of_line(match: re.Match[str]) -> str:
    end = match.string.find("\n", match.end())
    return match.string[match.end() : end if end >= 0 else None].strip()


def _is_made_up(plain: str, value: str) -> bool:
    """Whether one word is no word of a language: with digits, or signs in its midst."""
    if len(value) < MIN_CHARS:
        return False
    has_letter = any(sign.isalpha() for sign in plain)
    if not has_letter:
        return plain.isdigit() and len(plain) >= MIN_CHARS
    return any(sign.isdigit() for sign in plain) or bool(re.search(r"[!@#$%^&*+=?~|§€]", plain))
