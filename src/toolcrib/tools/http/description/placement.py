"""Arguments of an operation in the places where they belong: path, query, headers, body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from toolcrib.core.errors import BadInput, UnsupportedContent
from toolcrib.tools.http.description.checks import MAX_LISTED, Schemas, unknown
from toolcrib.tools.http.description.descriptions import as_object
from toolcrib.tools.http.description.operations import Input, Operation
from toolcrib.tools.http.exchange.bodies import FORM, encoded, header_texts, plain_text
from toolcrib.tools.http.exchange.exchange import Request

RESERVED = ":/?#[]@!$&'()*+,;="
BODY = "body"
_VARIABLE = re.compile(r"\{([^{}/]*)\}")
_BETWEEN = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|"}
_STYLES = {"spaceDelimited": " ", "pipeDelimited": "|"}


def placed(operation: Operation, arguments: Mapping[str, Any], auth: str) -> Request:
    """The request that an operation with these arguments is.

    Raises:
        BadInput: an argument is missing, unknown or does not fit.
        UnsupportedContent: the operation takes something that cannot be sent.
    """
    schemas = Schemas(operation.description)
    given = {name: value for name, value in arguments.items() if value is not None}
    body = _body(operation, given, schemas)
    inputs = operation.inputs
    values: dict[tuple[str, str], Any] = {}
    for item in inputs:
        if item.name in given:
            values[item.place, item.name] = schemas.fitted(given[item.name], item.schema, item.name)
        elif item.required and item.place != "cookie":
            raise _missing(operation, item, schemas)
    named = {item.name for item in inputs}
    for name in given:
        if name not in named:
            raise unknown(name, _takes(operation, schemas), operation.id)
    if any(place == "cookie" for place, _ in values):
        raise UnsupportedContent(
            "Cookies are not sent.", hint="Leave the cookie out; 'auth' names a login."
        )
    headers = header_texts(
        {i.name: _simple(v) for i in inputs if (v := values.get(("header", i.name))) is not None}
    )
    content, kind = _encoded(operation, body)
    if content is not None:
        headers["content-type"] = kind
    url = operation.server + _path(operation, values)
    query = "&".join(_query(inputs, values))
    whole = f"{url}{'&' if '?' in url else '?'}{query}" if query else url
    return Request(operation.method.upper(), whole, headers, content, auth)


def _takes(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    takes: dict[str, Any] = {item.name: item for item in operation.inputs}
    if operation.body is not None:
        takes |= schemas.properties(operation.body.schema) or {BODY: {}}
    return takes


def _missing(operation: Operation, item: Input, schemas: Schemas) -> BadInput:
    kind = " or ".join(schemas.types(item.schema)) or "any"
    about = f": {item.description[:150]}" if item.description else ""
    return BadInput(
        f"{operation.id} needs '{item.name}' ({item.place}, {kind}{about}).",
        hint=f"It takes: {', '.join(list(_takes(operation, schemas))[:MAX_LISTED])}.",
    )


def _body(operation: Operation, given: dict[str, Any], schemas: Schemas) -> Any:
    """The body, taken out of the arguments: as `body`, or field by field."""
    form = operation.body
    if form is None:
        return None
    fields = schemas.properties(form.schema)
    own = {item.name for item in operation.inputs}
    if BODY in given and BODY not in fields and BODY not in own:
        body = given.pop(BODY)
    else:
        more = schemas.is_open(form.schema)
        names = [n for n in given if n not in own and (n in fields or more)]
        body = {name: given.pop(name) for name in names} or None
        # A name that stands in two places is meant in both.
        shared = {n: given[n] for n in given if n in own and n in fields}
        body = {**shared, **(body or {})} if shared else body
    if body is None:
        if form.required:
            needed = ", ".join(schemas.required(form.schema)[:MAX_LISTED]) or BODY
            hint = (
                f"Fields: {', '.join(list(fields)[:MAX_LISTED])}."
                if fields
                else f"Give it as '{BODY}'."
            )
            raise BadInput(f"{operation.id} needs a body: {needed}.", hint=hint)
        return None
    return schemas.fitted(body, form.schema, BODY)


def _encoded(operation: Operation, body: Any) -> tuple[bytes | None, str]:
    form = operation.body
    if body is None or form is None:
        return None, ""
    plain = form.content_type.partition(";")[0]
    known = plain.endswith(("/json", "+json")) or plain == FORM or plain.startswith("text/")
    if not known:
        raise UnsupportedContent(
            f"{operation.id} takes a body of type {plain[:80]}, which cannot be sent.",
            hint="Use another operation.",
        )
    if plain.startswith("text/") and not isinstance(body, str):
        body = plain_text(body)
    if plain.endswith("json") and isinstance(body, str):
        return plain_text([body])[1:-1].encode(), form.content_type
    return encoded(body, form.content_type)


def _path(operation: Operation, values: Mapping[tuple[str, str], Any]) -> str:
    def fill(match: re.Match[str]) -> str:
        value = values.get(("path", match[1]))
        if value is None:
            raise BadInput(f"{operation.id} does not say what '{match[1][:60]}' in its path is.")
        text = _simple(value)
        if not text:
            raise BadInput(f"'{match[1][:60]}' must not be empty: it is part of the path.")
        return quote(text, safe="")

    path = _VARIABLE.sub(fill, operation.path)
    if any(unquote(part) in (".", "..") for part in path.split("/")):
        raise BadInput("'.' and '..' cannot be part of the path.")
    return quote(path, safe=RESERVED.replace("#", "") + "%-._~")


def _query(inputs: list[Input], values: Mapping[tuple[str, str], Any]) -> Iterator[str]:
    for item in inputs:
        value = values.get(("query", item.name))
        if value is None:
            continue
        free = RESERVED.translate({ord(c): None for c in "&#+"}) if _is_free(item) else ""
        for name, text in _pairs(item, value):
            yield f"{quote(name, safe='[]')}={quote(text, safe=free)}"


def _is_free(item: Input) -> bool:
    return item.raw.get("allowReserved") is True


def _pairs(item: Input, value: Any) -> Iterator[tuple[str, str]]:
    """A query parameter as pairs of names and texts, in the style that it says."""
    raw, name = item.raw, item.name
    if "content" in raw and "schema" not in raw:
        yield name, plain_text(value)
        return
    style = str(raw.get("style") or "form")
    together = str(raw.get("collectionFormat") or "") if "schema" not in raw else ""
    explode = raw.get("explode", style == "form" and together in ("", "multi"))
    if together == "" and "collectionFormat" not in raw and "schema" not in raw:
        explode = raw.get("type") != "array"  # Swagger 2: csv unless it says otherwise
    if isinstance(value, list):
        texts = [plain_text(part) for part in value]
        if explode:
            yield from ((name, text) for text in texts)
        else:
            between = _STYLES.get(style) or _BETWEEN.get(together, ",")
            yield name, between.join(texts)
    elif isinstance(value, dict):
        parts = {key: plain_text(part) for key, part in as_object(value).items()}
        if style == "deepObject":
            yield from ((f"{name}[{key}]", text) for key, text in parts.items())
        elif explode:
            yield from parts.items()
        else:
            yield name, ",".join(f"{key},{text}" for key, text in parts.items())
    else:
        yield name, plain_text(value)


def _simple(value: Any) -> str:
    """A value in a path or a header: lists and objects joined by commas."""
    if isinstance(value, list):
        return ",".join(plain_text(part) for part in value)
    if isinstance(value, dict):
        return ",".join(f"{key},{plain_text(part)}" for key, part in value.items())
    return plain_text(value)
