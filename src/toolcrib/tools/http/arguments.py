"""Arguments of an operation: checked against its schemas, placed in path, query and body."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from toolcrib.core.errors import BadInput, UnsupportedContent
from toolcrib.core.names import nearest
from toolcrib.tools.http.openapi import (
    Description,
    Input,
    Operation,
    as_list,
    as_object,
    is_name,
)
from toolcrib.tools.http.service_request import (
    FORM,
    ServiceRequest,
    encoded,
    header_texts,
    plain_text,
)

MAX_VALUE_DEPTH = 12
"""Levels of a value that are looked at; schemas may go in a circle."""
MAX_LISTED = 50
"""Names that an error lists."""
MAX_PARTS = 100
"""Schemas that one may be put together from."""
_IS: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: (
        isinstance(v, int | float) and not isinstance(v, bool) and v == math.floor(v)
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


class Schemas:
    """Checks values against the schemas of one description. What it does not know passes."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._properties: dict[int, tuple[Any, dict[str, Mapping[str, Any]]]] = {}

    def parts(self, schema: Any) -> list[Mapping[str, Any]]:
        """A schema and all that its `allOf` brings, each once, however they refer."""
        found: dict[int, Mapping[str, Any]] = {}
        waiting = [schema]
        while waiting and len(found) < MAX_PARTS:
            part = self._description.resolved(waiting.pop())
            if id(part) not in found:
                found[id(part)] = part
                waiting += reversed(as_list(part.get("allOf")))
        return list(found.values())

    def properties(self, schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """The properties of an object, those of `allOf` included."""
        schema = self._description.resolved(schema)
        # Known by its place in memory, where it stays because it is kept here.
        known = self._properties.get(id(schema))
        if known is not None:
            return known[1]
        found: dict[str, Mapping[str, Any]] = {}
        for part in self.parts(schema):
            for name, node in as_object(part.get("properties")).items():
                if is_name(name):
                    found.setdefault(name, self._description.resolved(node))
        if schema:
            self._properties[id(schema)] = (schema, found)
        return found

    def required(self, schema: Mapping[str, Any]) -> list[str]:
        """The names of the properties that an object must have."""
        listed = [name for part in self.parts(schema) for name in as_list(part.get("required"))]
        return list(dict.fromkeys(name for name in listed if is_name(name)))

    def is_open(self, schema: Mapping[str, Any]) -> bool:
        """Whether an object may have other properties than those it lists."""
        schema = self._description.resolved(schema)
        mixed = any(as_list(schema.get(word)) for word in ("oneOf", "anyOf"))
        listed = self.properties(schema)
        return mixed or not listed or bool(schema.get("additionalProperties"))

    def inner(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the items of an array are; anything else is its own."""
        return self._description.resolved(schema["items"]) if "items" in schema else schema

    def types(self, schema: Mapping[str, Any]) -> list[str]:
        """The JSON types that are allowed; empty for any."""
        declared = schema.get("type")
        types = [
            t
            for t in (declared if isinstance(declared, list) else [declared])
            if isinstance(t, str) and t in _IS
        ]
        if not types and self.properties(schema):
            types = ["object"]
        if types and (schema.get("nullable") is True or schema.get("x-nullable") is True):
            types.append("null")
        return types

    def fitted(self, value: Any, schema: Any, where: str, depth: int = 0) -> Any:
        """The value, with "3" made 3 where a number is wanted.

        Raises:
            BadInput: it does not fit; the message says where and what is wanted.
        """
        schema = self._description.resolved(schema)
        if depth > MAX_VALUE_DEPTH or not schema:
            return value
        for part in self.parts(schema):
            types = self.types(part)
            value = _converted(value, types)
            if types and not any(_IS[t](value) for t in types):
                wanted = " or ".join(types)
                raise BadInput(f"'{where}' must be of type {wanted}, not {_excerpt(value)}.")
            _check_choices(value, part, where)
        if isinstance(value, dict):
            return self._object(value, schema, where, depth)
        if isinstance(value, list) and "items" in schema:
            items = enumerate(value)
            return [self.fitted(v, schema["items"], f"{where}[{n}]", depth + 1) for n, v in items]
        return value

    def _object(
        self, value: dict[str, Any], schema: Mapping[str, Any], where: str, depth: int
    ) -> dict[str, Any]:
        known = self.properties(schema)
        missing = [name for name in self.required(schema) if name not in value]
        if missing:
            raise BadInput(f"'{where}' needs {', '.join(missing[:MAX_LISTED])}.")
        if schema.get("additionalProperties") is False and not self._has_parts(schema):
            for name in value:
                if name not in known:
                    raise BadInput(f"'{where}' has no field '{name[:60]}'.", hint=_fields(known))
        return {
            name: self.fitted(item, known[name], f"{where}.{name}", depth + 1)
            if name in known
            else item
            for name, item in value.items()
        }

    def _has_parts(self, schema: Mapping[str, Any]) -> bool:
        return any(as_list(schema.get(word)) for word in ("allOf", "oneOf", "anyOf"))


def _check_choices(value: Any, schema: Mapping[str, Any], where: str) -> None:
    choices = as_list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    if choices and value not in choices and value is not None:
        listed = ", ".join(_excerpt(choice) for choice in choices[:30])
        raise BadInput(f"'{where}' must be one of {listed}, not {_excerpt(value)}.")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if isinstance(low, int | float) and value < low:
            raise BadInput(f"'{where}' must be at least {low}, not {_excerpt(value)}.")
        if isinstance(high, int | float) and value > high:
            raise BadInput(f"'{where}' must be at most {high}, not {_excerpt(value)}.")


def unknown(name: str, known: Mapping[str, Any], operation: str) -> BadInput:
    """The error for an argument that an operation does not take."""
    near = nearest(name, known, 1, 0.6)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    return BadInput(
        f"{operation} has no argument '{name[:60]}'.",
        hint=f"{guess}It takes: {', '.join(list(known)[:MAX_LISTED]) or 'nothing'}.",
    )


def _fields(known: Mapping[str, Any]) -> str:
    return f"Fields: {', '.join(list(known)[:MAX_LISTED])}."


def _converted(value: Any, types: list[str]) -> Any:
    """Text as the number or truth value that is meant, where text itself is not."""
    if "string" in types and isinstance(value, int | float) and len(types) == 1:
        return json.dumps(value)
    if not isinstance(value, str) or "string" in types:
        return value
    text = value.strip()
    if "boolean" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    wanted = {"integer", "number", "array", "object"} & set(types)
    if not wanted:
        return value
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return [value] if wanted == {"array"} else value
    if any(_IS[t](found) for t in wanted):
        return found
    return [found] if wanted == {"array"} else value


def _excerpt(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


RESERVED = ":/?#[]@!$&'()*+,;="
BODY = "body"
_VARIABLE = re.compile(r"\{([^{}/]*)\}")
_BETWEEN = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|"}
_STYLES = {"spaceDelimited": " ", "pipeDelimited": "|"}


def placed(operation: Operation, arguments: Mapping[str, Any], auth: str) -> ServiceRequest:
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
    return ServiceRequest(operation.method.upper(), whole, headers, content, auth)


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
            hint = _fields(fields) if fields else f"Give it as '{BODY}'."
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
