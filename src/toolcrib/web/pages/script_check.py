"""Whether a page shows its text only in a browser that runs its scripts.

The place where a browser comes in: `pages.read_page` asks here before it hands a page
out, and a page for which the answer is yes is one to be rendered.
"""

from __future__ import annotations

import re

from toolcrib.web.conversion.document import Document

LITTLE = 200
"""Characters of text below which a page with scripts is looked at."""
LOOK = 300_000
UNRENDERED = "The page builds its text with scripts, which are not run here: this is all it has."
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_APP = re.compile(
    rb"<(?:div|main|section|body|app-root)\b[^>]{0,300}\bid=[\"']?(?:root|app|__next|__nuxt|"
    rb"___gatsby|svelte|main-app|react-root|application|q-app|ember\w*)\b"
    rb"|<app-root\b|\bng-app\b|\bdata-reactroot\b|\bng-version=|window\.__[A-Z_]+__\s*=",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rb"<noscript\b[^>]{0,200}>(?:(?!</noscript).){0,600}?\b(?:java\s?script|scripts)\b"
    rb"|(?:enable|activate|turn on|requires?|needs?) java\s?script"
    rb"|java\s?script (?:is|must be|to be) (?:enabled|required|disabled)",
    re.IGNORECASE | re.DOTALL,
)


def is_unrendered(document: Document, body: bytes) -> bool:
    """Whether an HTML page has next to no text, and signs that scripts would make it."""
    if document.kind != "html" or len(document.text.strip()) >= LITTLE:
        return False
    face = body[:LOOK]
    if not _SCRIPT.search(face):
        return False
    return not document.text.strip() or bool(_APP.search(face) or _ASKS.search(face))
