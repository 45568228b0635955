"""Heads of pages, piece by piece."""

from __future__ import annotations

import json

from turbohtml import parse

from toolcrib.documents.reader.page_metadata import PageMetadata, read_meta

CONTEXT = "https://schema.org"
STORY = (
    "<p>The first paragraph of the story, which is long enough to count as one, says this.</p>"
    "<p>And the second, which goes on about the same, with commas, clauses, and more.</p>"
)


def meta(body: str) -> PageMetadata:
    return read_meta(parse(body, positions=False))


def linked(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def article(**more: object) -> str:
    return linked({"@context": "https://schema.org", "@type": "NewsArticle", **more})


def name_meta(name: str, content: str) -> str:
    return f'<meta name="{name}" content="{content}">'


def property_meta(name: str, content: str) -> str:
    return f'<meta property="{name}" content="{content}">'
