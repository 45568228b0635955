"""What kind of document some bytes are: their first bytes decide, then labels and names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolcrib.core.package_data import package_table

_TABLE = package_table("documents/kinds.toml")
NAMES: Mapping[str, str] = _TABLE["names"]
MEDIA_TYPES: Mapping[str, str] = {
    media_type: kind
    for kind, listed in _TABLE["media_types"].items()
    for media_type in listed.split()
}
BY_MEDIA_TYPE = {kind: listed.split()[0] for kind, listed in _TABLE["media_types"].items()}
_ENDINGS: Mapping[str, str] = {
    **{name: name for name in NAMES if name not in ("text", "image")},
    **dict.fromkeys(("docm", "dotx", "dotm"), "docx"),
    **dict.fromkeys(("pptm", "ppsx", "potx", "pps"), "pptx"),
    **dict.fromkeys(("xlsm", "xltx"), "xlsx"),
    **dict.fromkeys(("htm", "xhtml"), "html"),
    **dict.fromkeys(("jsonl", "ndjson", "md", "txt"), "text"),
    "mbox": "eml",
    "rdf": "xml",
    "tab": "tsv",
}
OFFICE_KINDS = frozenset(
    ("docx", "pptx", "xlsx", "doc", "ppt", "xls", "msg", "odt", "ods", "odp", "rtf", "epub")
)
"""Kinds that need the extra `documents`."""
BINARY_KINDS = OFFICE_KINDS | {"pdf"}
"""Kinds that nothing but a reader of documents can show."""
TEXT_KINDS = frozenset(("ipynb", "eml", "csv", "tsv", "json", "xml", "rss", "atom", "html", "text"))
_FAMILY = {"docx": "doc", "pptx": "ppt", "xlsx": "xls"}

_PARTS = (
    (b"word/document", "docx"),
    (b"ppt/presentation", "pptx"),
    (b"xl/workbook", "xlsx"),
    (b"word/", "docx"),
    (b"ppt/", "pptx"),
    (b"xl/", "xlsx"),
)
_STORED = (
    (b"application/epub+zip", "epub"),
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
)
_STREAMS = (
    ("__substg1.0_", "msg"),
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
)
_IMAGES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"BM")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_MARKUP = re.compile(rb"<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_ROOT = re.compile(rb"<(?:[\w-]+:)?(rss|feed|RDF|html)\b", re.IGNORECASE)
_NOTEBOOK = re.compile(rb'"(?:nbformat|cells)"\s*:')
_MAIL = re.compile(
    rb"(?:(?:received|return-path|from|to|subject|date|message-id|mime-version|content-type|"
    rb"delivered-to|reply-to|cc|x-[\w-]+|dkim-signature)[ \t]*:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*"
    rb"\r?\n){3}",
    re.IGNORECASE,
)
_MAILBOX = re.compile(rb"From (?![0-9a-f]{40} )[^\r\n]+\r?\n" + _MAIL.pattern, re.IGNORECASE)
"""Not a patch of git, which begins with the hash of a commit."""
_ENCODED = re.compile(
    rb"^content-transfer-encoding:[ \t]*(?:base64|quoted)", re.IGNORECASE | re.MULTILINE
)
EDGE_BYTES = 400_000
"""Bytes of both ends of an archive in which the names of its parts are looked for."""
HEAD_BYTES = 4096


def kind_of_document(data: bytes, name: str = "", media_type: str = "") -> str:
    """The kind of a document, a key of `NAMES`; empty for what is none.

    Unmistakable first bytes win over the media type, that over the ending of the name,
    and that over what a text looks like.
    """
    head = data[:HEAD_BYTES]
    labelled = labelled_kind(name, media_type)
    sure = _kind_by_magic(data, head, labelled)
    if sure is not None:
        return sure
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    looks = _kind_by_content(head)
    if labelled in TEXT_KINDS - {"text"}:
        # A feed is XML and a notebook is JSON; the more exact name is right.
        finer = {"xml": ("rss", "atom", "html"), "json": ("ipynb",), "html": ()}
        return looks if looks in finer.get(labelled, ()) else labelled
    return looks


def labelled_kind(name: str = "", media_type: str = "") -> str:
    """The kind by media type, else by the ending of the name."""
    base = media_type.partition(";")[0].strip().lower()
    if base in MEDIA_TYPES:
        return MEDIA_TYPES[base]
    if base.startswith("image/") and base != "image/svg+xml":
        return "image"
    return _ENDINGS.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def is_document(what: str | bytes) -> bool:
    """Whether only the reader of documents can show this: PDF, office files, books, mail files.

    Args:
        what: first bytes, a media type, a kind as `pdf`, or the name of one as
            `files.content.kinds` has it ("PDF document").
    """
    if isinstance(what, bytes):
        return kind_of_document(what) in BINARY_KINDS
    base = what.partition(";")[0].strip().lower()
    if MEDIA_TYPES.get(base, base) in BINARY_KINDS:
        return True
    return base in _LONG_NAMES


def is_coded_mail(head: bytes, name: str) -> bool:
    """Whether it is a file of mail, by its name too, whose text is coded: no reader's eye sees it.

    Args:
        head: its first bytes.
        name: its name.
    """
    is_mail = labelled_kind(name) == "eml" and kind_of_document(head, name) == "eml"
    return is_mail and _ENCODED.search(head) is not None


_LONG_NAMES = {NAMES[kind].lower() for kind in BINARY_KINDS} | {
    "old office document",
    "opendocument file",
}


def _kind_by_magic(data: bytes, head: bytes, labelled: str) -> str | None:
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(_ZIP):
        return _archive_kind(data)
    if head.startswith(_OLE):
        return _compound_kind(data, labelled)
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        return "rtf"
    if head.startswith(_IMAGES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return "image"
    return None


def _archive_kind(data: bytes) -> str:
    """The kind of a zip archive; the names of its parts stand at its end and at its start."""
    for sign, kind in _STORED:
        if sign in data[:200]:
            return kind
    for edge in (data[-EDGE_BYTES:], data[:EDGE_BYTES]):
        for sign, kind in _PARTS:
            if b"PK" in edge and sign in edge:
                return kind
    return ""


def _compound_kind(data: bytes, labelled: str) -> str:
    """The kind of a compound file: its streams have names in UTF-16."""
    for stream, kind in _STREAMS:
        if stream.encode("utf-16-le") in data:
            return kind
    return labelled if labelled in OFFICE_KINDS else _FAMILY.get(labelled, "doc")


def _kind_by_content(head: bytes) -> str:
    text = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    if text.startswith(b"{"):
        return "ipynb" if b'"nbformat"' in text or _is_notebook(text) else "json"
    if text.startswith(b"<"):
        root = _ROOT.search(text)
        if root is not None:
            found = root[1].lower()
            return {b"rss": "rss", b"feed": "atom", b"rdf": "rss"}.get(found, "html")
        return "html" if _MARKUP.search(text) else ("xml" if text.startswith(b"<?xml") else "text")
    return "eml" if _MAIL.match(text) or _MAILBOX.match(text) else "text"


def _is_notebook(text: bytes) -> bool:
    return _NOTEBOOK.search(text) is not None and b'"cell_type"' in text
