"""E-mail files: who, when, what, and the names of what is attached."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import cast

from toolcrib.documents.markup.visible_text import page
from toolcrib.documents.text import MAX_TEXT, DocumentText, Page
from toolcrib.text.cleaner import one_line

HEADERS = ("From", "To", "Cc", "Date", "Subject")
MAX_PARTS = 500
MAX_LISTED = 50


def convert(data: bytes) -> DocumentText:
    """A message: its headers, its text (or its HTML as Markdown), its attachments by name."""
    message = message_from_bytes(data, policy=policy.default)
    lines = []
    for name in HEADERS:
        value = _header(message, name)
        if value:
            lines.append(f"{name}: {value}")
    parts = ["\n".join(lines), _body(message)]
    attached = _attached(message)
    if attached:
        parts.append("Attachments:\n" + "\n".join(f"- {line}" for line in attached))
    text = "\n\n".join(filter(None, parts))
    return DocumentText(
        "eml",
        _header(message, "Subject"),
        pages=(Page(1, text[:MAX_TEXT]),),
        metadata={
            "from": _header(message, "From"),
            "date": _header(message, "Date"),
            "attachments": len(attached),
        },
        warnings=("It was cut.",) if len(text) > MAX_TEXT else (),
    )


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message.get(name, "")), 500)
    except (ValueError, LookupError, AttributeError, IndexError, TypeError):
        # Some broken headers make the parser itself fail.
        return ""


def _body(message: EmailMessage) -> str:
    try:
        part = message.get_body(preferencelist=("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        part = None
    if part is None:
        return "" if message.is_multipart() else _content(message)
    return _content(cast("EmailMessage", part))


def _content(part: EmailMessage) -> str:
    raw = part.get_payload(decode=True)
    data = raw if isinstance(raw, bytes) else str(part.get_payload()).encode("utf-8", "replace")
    charset = part.get_content_charset() or "utf-8"
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        return page(text)
    return text.replace("\r\n", "\n").strip()


def _attached(message: EmailMessage) -> list[str]:
    """What is attached: name, type and size."""
    found: list[str] = []
    for number, part in enumerate(message.walk()):
        if number > MAX_PARTS or len(found) == MAX_LISTED:
            found.append("and more")
            break
        name = part.get_filename()
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            continue
        if not name and part.get_content_disposition() != "attachment":
            continue
        raw = part.get_payload(decode=True)
        size = f", {len(raw):,} bytes" if isinstance(raw, bytes) else ""
        shown = one_line(name or "(no name)", 200)
        found.append(f"{shown} ({one_line(part.get_content_type(), 80)}{size})")
    return found
