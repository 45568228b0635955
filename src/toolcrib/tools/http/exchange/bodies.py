"""What a call gives as headers and body, as it goes over the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from toolcrib.core.errors import BadInput

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MAX_HEADERS = 50
MAX_HEADER_CHARS = 8192
_FORM = re.compile(r"[\w.\-~%+*\[\]]+=[^&\s]*(?:&[\w.\-~%+*\[\]]+=[^&\s]*)*", re.ASCII)


def header_texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Headers as texts, names in lower case.

    Raises:
        BadInput: a value that is no text, or too much in all.
    """
    texts: dict[str, str] = {}
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, str | int | float):
            raise BadInput(
                f"The header '{name[:60]}' must be a string.",
                hint='Give headers as {"Name": "text"}; several values go into one, with commas.',
            )
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            shown.encode("latin-1")
        except UnicodeEncodeError:
            raise BadInput(
                f"The header '{name[:60]}' has characters that a header cannot have.",
                hint="Encode them as the service asks, as with %C3%A9, or put them into the body.",
            ) from None
        texts[name.strip().lower()] = shown
    if len(texts) > MAX_HEADERS or sum(map(len, texts.values())) > MAX_HEADER_CHARS:
        raise BadInput(
            f"At most {MAX_HEADERS} headers with {MAX_HEADER_CHARS:,} characters.",
            hint="Leave out what the service does not ask for.",
        )
    return texts


def encoded(body: Any, content_type: str) -> tuple[bytes | None, str]:
    """A body as bytes, with its content type; None for no body.

    An object is JSON, or a form where the content type says so. Text that holds a JSON
    object or array, or reads like a form, is sent as such; other text is plain.

    Raises:
        BadInput: it cannot be encoded so.
    """
    if body is None or body == "":
        return None, content_type
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("multipart/"):
        raise BadInput(f"Bodies of type {kind[:60]} cannot be sent.", hint="Send JSON or a form.")
    if isinstance(body, str):
        return body.encode("utf-8", "replace"), content_type or _kind_of(body)
    if kind == FORM:
        return _form(body), content_type
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"), (
            content_type or JSON
        )
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"The body cannot be written as JSON: {error}.",
            hint="Give finite numbers and less nesting, or the body as text.",
        ) from None


def _kind_of(text: str) -> str:
    if text.lstrip().startswith(("{", "[")):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return JSON
    return FORM if _FORM.fullmatch(text) else "text/plain; charset=utf-8"


def _form(body: Any) -> bytes:
    if not isinstance(body, Mapping):
        raise BadInput(
            "A form must be a JSON object of fields.",
            hint='Give the body as {"field": "value"}, or as text such as field=value.',
        )
    fields: list[tuple[str, str]] = []
    for name, value in body.items():
        items = value if isinstance(value, list) else [value]
        fields += [(name, plain_text(item)) for item in items if item is not None]
    return urlencode(fields, errors="replace").encode("ascii")


def plain_text(value: Any) -> str:
    """A JSON value as it stands in a URL or a form."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
