"""The operations of a description: what each is called, takes, and where it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from toolcrib.core.errors import BadInput, UnsupportedContent
from toolcrib.core.names import nearest
from toolcrib.tools.http.description.descriptions import (
    MAX_NAME,
    Description,
    as_list,
    as_object,
    is_name,
    text_of,
)
from toolcrib.tools.http.exchange.bodies import FORM, JSON

METHODS = ("get", "post", "put", "delete", "patch", "head", "options")
MAX_OPERATIONS = 3000
_VARIABLE = re.compile(r"\{([^{}/]*)\}")
# What a header parameter of these names says does not count, by the specification.
OTHERWISE_SET = frozenset({"accept", "content-type", "authorization"})


@dataclass(frozen=True)
class Input:
    """A parameter. `place` is path, query, header or cookie; `raw` all that is said of it."""

    name: str
    place: str
    required: bool
    schema: Mapping[str, Any]
    raw: Mapping[str, Any]

    @property
    def description(self) -> str:
        """What it means."""
        return text_of(self.raw.get("description"))


@dataclass(frozen=True)
class BodyForm:
    """The body that an operation takes, in the one form that is used."""

    content_type: str
    schema: Mapping[str, Any]
    required: bool


@dataclass(frozen=True)
class Operation:
    """One operation."""

    description: Description
    method: str
    path: str
    raw: Mapping[str, Any]
    item: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its own name, or method and path."""
        return text_of(self.raw.get("operationId"))[:MAX_NAME] or self.call

    @property
    def call(self) -> str:
        """`GET /pets/{id}`."""
        return f"{self.method.upper()} {text_of(self.path)[: 2 * MAX_NAME]}"

    @property
    def summary(self) -> str:
        """What it does, in short."""
        return text_of(self.raw.get("summary")) or text_of(self.raw.get("description"))

    @property
    def tags(self) -> list[str]:
        """The groups that it is in."""
        return [text_of(tag) for tag in as_list(self.raw.get("tags"))]

    @cached_property
    def inputs(self) -> list[Input]:
        """Its parameters, those of the path included; no body and no form."""
        found = {
            (i.place, i.name): i
            for i in map(self._input, self._listed())
            if i is not None and i.place in ("path", "query", "header", "cookie")
        }
        return [
            i
            for i in found.values()
            if not (i.place == "header" and i.name.lower() in OTHERWISE_SET)
        ]

    def _listed(self) -> Iterator[Mapping[str, Any]]:
        for node in (self.item, self.raw):
            for parameter in as_list(node.get("parameters")):
                yield self.description.resolved(parameter)

    def _input(self, raw: Mapping[str, Any]) -> Input | None:
        name, place = raw.get("name"), raw.get("in")
        if not is_name(name) or not isinstance(place, str):
            return None
        schema = raw if self.description.is_swagger else self._schema_of(raw)
        required = raw.get("required") is True or place == "path"
        return Input(name, place, required, schema, raw)

    def _schema_of(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        if "schema" in raw:
            return self.description.resolved(raw["schema"])
        media = next(iter(as_object(raw.get("content")).values()), None)
        return self.description.resolved(as_object(media).get("schema"))

    @cached_property
    def body(self) -> BodyForm | None:
        """The body that it takes: JSON where it can be, else a form, else plain text."""
        if self.description.is_swagger:
            return self._swagger_body()
        body = self.description.resolved(self.raw.get("requestBody"))
        content = {text_of(k).lower(): v for k, v in as_object(body.get("content")).items()}
        if not content:
            return None
        chosen = _preferred(list(content))
        schema = self.description.resolved(as_object(content[chosen]).get("schema"))
        return BodyForm(chosen, schema, body.get("required") is True)

    def _swagger_body(self) -> BodyForm | None:
        listed = list(self._listed())
        for raw in listed:
            if raw.get("in") == "body":
                takes = self.raw.get("consumes") or self.description.root.get("consumes")
                chosen = _preferred([text_of(t).lower() for t in as_list(takes)] or [JSON])
                schema = self.description.resolved(raw.get("schema"))
                return BodyForm(chosen, schema, raw.get("required") is True)
        fields = {str(raw.get("name")): raw for raw in listed if raw.get("in") == "formData"}
        if not fields:
            return None
        required = [name for name, raw in fields.items() if raw.get("required") is True]
        schema = {"type": "object", "properties": fields, "required": required}
        return BodyForm(FORM, schema, bool(required))

    @property
    def logins(self) -> list[str]:
        """What proves who asks, in words; empty where nothing is needed."""
        root = self.description.root
        wanted = self.raw.get("security", root.get("security"))
        if self.description.is_swagger:
            schemes = as_object(root.get("securityDefinitions"))
        else:
            schemes = as_object(as_object(root.get("components")).get("securitySchemes"))
        names = [name for option in as_list(wanted) for name in as_object(option)]
        return [
            _login(self.description.resolved(schemes.get(n))) or text_of(n)
            for n in dict.fromkeys(names)
        ]

    @property
    def server(self) -> str:
        """The URL below which its path is, without a final slash.

        Raises:
            UnsupportedContent: the description names none that can be used.
        """
        try:
            url = self._server()
            parts = urlsplit(url)
        except ValueError:
            url, parts = "", urlsplit("")
        if not parts.netloc or parts.query or parts.fragment or "{" in url:
            raise UnsupportedContent(
                f"The description names no usable server for {self.call}.",
                hint="Send the request with http_request.",
            )
        return url.rstrip("/")

    def _server(self) -> str:
        base = self.description.url.partition("#")[0].partition("?")[0]
        if self.description.is_swagger:
            return urljoin(base, _swagger_server(self.description.root, base))
        listed = self.raw.get("servers") or self.item.get("servers")
        listed = as_list(listed) or as_list(self.description.root.get("servers"))
        return urljoin(base, _server_text(as_object(listed[0])) if listed else "/")

    def haystack(self) -> str:
        """All in which a search looks."""
        parts = [self.id, self.call, self.summary, *self.tags]
        return " ".join([*parts, text_of(self.raw.get("description"))]).lower()


def operations_of(description: Description) -> list[Operation]:
    """All operations in the order of the description."""
    found: list[Operation] = []
    for path, node in as_object(description.root.get("paths")).items():
        item = description.resolved(node)
        for method in METHODS:
            raw = item.get(method)
            if isinstance(raw, Mapping) and len(found) < MAX_OPERATIONS:
                found.append(Operation(description, method, str(path), raw, item))
    return found


def operation_named(description: Description, name: str) -> Operation:
    """The operation of an id, or of a method and a path.

    Raises:
        BadInput: there is none, or several.
    """
    wanted = " ".join(name.split())
    found = operations_of(description)
    for fits in (
        lambda o: wanted in (o.id, o.call),
        lambda o: wanted.lower() in (o.id.lower(), o.call.lower()),
        lambda o: wanted == o.path,
    ):
        same = [operation for operation in found if fits(operation)]
        if len(same) == 1:
            return same[0]
        if same:
            calls = ", ".join(operation.call for operation in same[:10])
            raise BadInput(f"'{wanted[:80]}' is the name of several operations.", hint=calls)
    names = {o.id: o for o in found} | {o.call: o for o in found}
    near = nearest(wanted, names, 3, 0.5)
    guess = f"Did you mean {' or '.join(near)}? " if near else ""
    raise BadInput(
        f"The description has no operation '{wanted[:80]}'.",
        hint=f"{guess}list_operations shows all {len(found)}.",
    )


def _preferred(kinds: list[str]) -> str:
    def rank(kind: str) -> int:
        plain = kind.partition(";")[0].strip()
        if plain == JSON:
            return 0
        if plain.endswith("+json"):
            return 1
        return {FORM: 2, "text/plain": 3, "*/*": 4}.get(plain, 5)

    best = min(kinds, key=rank)
    return JSON if best in ("*/*", "application/*") else best


def _login(scheme: Mapping[str, Any]) -> str:
    kind = text_of(scheme.get("type"))
    if kind == "apiKey":
        return f"key in {text_of(scheme.get('in'))} {text_of(scheme.get('name'))}"
    if kind == "http":
        return text_of(scheme.get("scheme")).lower()
    return kind


def _server_text(server: Mapping[str, Any]) -> str:
    variables = as_object(server.get("variables"))

    def default(match: re.Match[str]) -> str:
        value = as_object(variables.get(match[1])).get("default")
        return text_of(value) if value is not None else match[0]

    return _VARIABLE.sub(default, text_of(server.get("url")) or "/")


def _swagger_server(root: Mapping[str, Any], base: str) -> str:
    own = urlsplit(base)
    host = text_of(root.get("host")) or own.netloc
    schemes = [text_of(s).lower() for s in as_list(root.get("schemes"))]
    fit = [s for s in schemes if s in ("http", "https")] or [own.scheme]
    scheme = "https" if "https" in fit else fit[0]
    if host == own.netloc and own.scheme in fit:
        scheme = own.scheme
    return f"{scheme}://{host}/{text_of(root.get('basePath')).lstrip('/')}"
