"""Documents on their way out of a process: JSON values and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toolcrib.web.conversion.document import Choice, Document, Facts, Link, Picture


def packed(document: Document) -> tuple[dict[str, Any], bytes]:
    """A document as JSON values, and its text."""
    told = asdict(document)
    return told, str(told.pop("text")).encode("utf-8", "surrogatepass")


def unpacked(told: Mapping[str, Any], text: bytes) -> Document:
    """The document that was packed."""
    given = dict(told)
    given["links"] = [Link(**link) for link in given["links"]]
    given["pictures"] = [Picture(**picture) for picture in given["pictures"]]
    given["facts"] = Facts(**given["facts"])
    given["choice"] = Choice(**given["choice"]) if given["choice"] else None
    return Document(text.decode("utf-8", "surrogatepass"), **given)
