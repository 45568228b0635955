"""The charset of a page, where header, mark, page and bytes may contradict each other."""

from __future__ import annotations

import re

from toolcrib.files.content.encodings import Encoding, decodes, detect

MAX_TELLING = 250_000
"""How many bytes of a longer page tell its charset."""
SNIFFED = 4096
"""How many first bytes are searched for the zeros of UTF-16."""
_DECLARED = re.compile(rb"charset|encoding", re.IGNORECASE)
_NOT_ASCII = bytes(range(128, 256))
_ASCII = bytes(range(128))
# The escapes of ISO-2022-JP are ASCII.
_PLAIN = _ASCII.replace(b"\x1b", b"")
_UTF8 = Encoding("utf-8", label="utf-8")
_UTF8_NAMES = frozenset({"", "utf-8", "utf8"})
"""What is declared of nearly all pages."""
_SURE = 6
"""So many characters of valid UTF-8 are no accident of another charset."""


def decoded(body: bytes, declared: str = "") -> str:
    """The text of a whole page, in the encoding that `charset_of` finds.

    What is plainly UTF-8 is read once, rather than looked at and then read.
    """
    if _may_be_plain(body, declared):
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            if "\ufffd" not in text:
                return text
    return charset_of(body, declared).decode(body)


def charset_of(body: bytes, declared: str = "") -> Encoding:
    """The encoding of a whole page, as browsers find it, but not against its bytes.

    A byte order mark comes first, then what the headers declare, then what the page
    says, then how the bytes look. A declaration is passed over where the bytes are
    mostly valid UTF-8 and it says otherwise, or where they are not valid in it.

    Args:
        body: all of it, or as much as arrived.
        declared: the charset that the headers name, in lower case; empty for none.
    """
    body = _telling(body)
    if _may_be_plain(body, declared) and _is_plain(body):
        return _UTF8
    found = detect(body, complete=len(body) < MAX_TELLING, declared=declared, lenient=True)
    if found.mark:
        return found
    wide = _wide(body[:SNIFFED])
    if wide:
        return found if found.name == wide else Encoding(wide, label=wide.replace("-16-", "-16"))
    if found.wide or body.isascii():
        return found
    valid, broken = _utf8_characters(body)
    if valid and valid >= 5 * broken and (valid >= _SURE or found.guessed):
        return _UTF8
    candidates = [found]
    if _share_broken(found, body) > 0.05:
        complete = len(body) < MAX_TELLING
        candidates += [detect(body, complete=complete, lenient=True), _by_look(body)]
    return min(candidates, key=lambda encoding: _share_broken(encoding, body))


def _may_be_plain(body: bytes, declared: str) -> bool:
    """Whether valid UTF-8 would settle it: no mark, no wide characters, no escapes."""
    return (
        declared in _UTF8_NAMES
        and b"\x1b" not in body
        and b"\0" not in body[:SNIFFED]
        and not body.startswith(b"\xef\xbb\xbf")
    )


def _is_plain(body: bytes) -> bool:
    """Whether the start of a page is UTF-8 without a replacement character, from any tool."""
    if body.isascii():
        return True
    return b"\xef\xbf\xbd" not in body and decodes(body, "utf-8", complete=len(body) < MAX_TELLING)


def _telling(body: bytes) -> bytes:
    """The start of a long page, and what follows on the first byte that is not ASCII."""
    if len(body) <= MAX_TELLING:
        return body
    strange = len(body) - len(body.lstrip(_PLAIN))
    if strange < MAX_TELLING - SNIFFED:
        return body[:MAX_TELLING]
    return body[:SNIFFED] + body[strange : strange + MAX_TELLING - SNIFFED]


def _wide(head: bytes) -> str:
    """UTF-16 without a mark, by the zeros that Latin letters and markup have in it."""
    half = len(head) // 2
    even, odd = head[: 2 * half : 2].count(0), head[1 : 2 * half : 2].count(0)
    if half < 4 or b"\0\0\0" in head:
        return ""
    if odd * 4 > half and even * 50 < half:
        return "utf-16-le"
    return "utf-16-be" if even * 4 > half and odd * 50 < half else ""


def _utf8_characters(body: bytes) -> tuple[int, int]:
    """How many characters beyond ASCII are valid UTF-8, and how many bytes or so are not."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return len(text) - len(body.translate(None, _NOT_ASCII)) - broken, broken


def _share_broken(encoding: Encoding, body: bytes) -> float:
    """How much of what is not ASCII has no meaning in an encoding."""
    strange = len(body.translate(None, _ASCII)) or 1
    return encoding.decode(body).count("\ufffd") / strange


def _by_look(body: bytes) -> Encoding:
    """The encoding by the bytes alone, whatever the page says of itself."""
    head = _DECLARED.sub(b"xxxxxxx", body[:1024])
    found = detect(head + body[1024:], complete=len(body) < MAX_TELLING, lenient=True)
    return Encoding(found.name, guessed=True, label=found.label)
