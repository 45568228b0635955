"""OpenAPI descriptions: fetched, parsed (JSON or YAML) and cached, and their operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard
from urllib.parse import unquote, urljoin, urlsplit

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, HttpStatus, TooLarge, ToolError, UnsupportedContent
from toolcrib.core.names import nearest
from toolcrib.files.content.kinds import detect
from toolcrib.net.cache import Cache
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.egress.response import Response
from toolcrib.system.threads import in_thread
from toolcrib.text.yaml_events import yaml_events
from toolcrib.tools.http.service_request import FORM, JSON

ACCEPT = "application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5"
KIND = "openapi"
MAX_CACHED_DESCRIPTIONS = 20
MISSING_SECONDS = 60
MAX_STEPS = 20
"""References that are followed one after the other."""
MAX_DEPTH = 200
MAX_NAME = 200
URL_HINT = "Give the URL of an OpenAPI 3 or Swagger 2 description, in JSON or YAML."


@dataclass(frozen=True, slots=True)
class Description:
    """A description. `url` is where it was really found."""

    url: str
    root: Mapping[str, Any]

    @property
    def is_swagger(self) -> bool:
        """Whether it is of version 2."""
        return "swagger" in self.root

    @property
    def title(self) -> str:
        """Title and version of the service."""
        info = as_object(self.root.get("info"))
        return " ".join(t for t in (text_of(info.get("title")), text_of(info.get("version"))) if t)

    def resolved(self, node: Any) -> Mapping[str, Any]:
        """An object of the description, its references followed; empty for anything else."""
        for _ in range(MAX_STEPS):
            if not isinstance(node, Mapping):
                return {}
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            node = self._at(reference)
        return {}

    def _at(self, reference: str) -> Any:
        """What a local reference leads to. None is followed to another document."""
        if not reference.startswith("#/"):
            return None
        node: Any = self.root
        for part in reference[2:].split("/"):
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping):
                node = node.get(name)
            elif isinstance(node, list) and name.isdecimal() and len(name) < 7:
                node = node[int(name)] if int(name) < len(node) else None
            else:
                return None
        return node


async def load_description(url: str, ctx: Ctx) -> Description:
    """A description, from the cache while it is fresh.

    Raises:
        UnsupportedContent: what is there is no description.
        Denied: a redirect on the way there is not allowed to this call.
        ToolError: what the network or the server says.
    """
    url = url.partition("#")[0]

    async def make() -> dict[str, Any]:
        await ctx.progress(f"Fetching {url[:200]}")
        response = await ctx.use(Egress).fetch(
            url,
            headers={"accept": ACCEPT},
            component=PAGES,
            max_bytes=ctx.config.web.fetch.max_bytes,
            timeout=ctx.config.web.requests.timeout,
            retries=ctx.config.egress.retry.retries,
            ctx=ctx,
        )
        if response.status != 200:
            raise HttpStatus(
                f"{url[:500]} answered with HTTP {response.status} {response.phrase}".rstrip()
                + ".",
                hint=URL_HINT,
                status=response.status,
            )
        root = await in_thread(lambda _: _parsed(response), ctx.deadline)
        hops = [[step.source, step.target, step.status] for step in response.redirects]
        return {"url": response.url, "root": root, "redirects": hops}

    cached = await ctx.use(Cache).fetch(
        KIND,
        url,
        make,
        ttl=ctx.config.web.fetch.cache_seconds,
        negative_ttl=MISSING_SECONDS,
        max_entries=MAX_CACHED_DESCRIPTIONS,
    )
    if cached.hit:
        hops = (Redirect(*step) for step in cached.value["redirects"])
        ctx.use(Egress).retrace(hops, PAGES, ctx)
    return Description(cached.value["url"], cached.value["root"])


def _parsed(response: Response) -> dict[str, Any]:
    body = response.body
    text = detect(body, complete=True, declared=response.charset, lenient=True).decode(body)
    try:
        root = _value(text)
        _check_depth(root)
    except ToolError as error:
        raise UnsupportedContent(
            f"The description cannot be read. {error}", hint=URL_HINT
        ) from None
    known = isinstance(root, dict) and isinstance(root.get("paths"), dict)
    version = str(root.get("openapi") or root.get("swagger") or "") if known else ""
    if not version.startswith(("2", "3")):
        raise UnsupportedContent(
            f"{response.url[:500]} is no OpenAPI description.",
            hint=URL_HINT,
            content_type=response.media_type[:80],
        )
    assert isinstance(root, dict)
    return root


def _value(text: str) -> Any:
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        try:
            return json.loads(text.lstrip("\ufeff"), parse_constant=lambda _: None)
        except RecursionError:
            raise TooLarge("It is nested too deep.") from None
        except ValueError as error:
            try:
                return load_yaml(text)  # YAML may begin with a brace, too
            except ToolError:
                raise BadInput(f"It is not valid JSON: {error}.") from None
    if text.lstrip()[:1] in ("<", ""):
        raise BadInput("It is a web page." if text.strip() else "It is empty.")
    return load_yaml(text)


def _check_depth(root: Any) -> None:
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (
                node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
            )
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise TooLarge(f"It is nested more than {MAX_DEPTH} levels deep.")


def as_object(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def is_name(value: Any) -> TypeGuard[str]:
    """Whether a value can be the name of a parameter or a field, on the line where it is shown."""
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable()


def text_of(value: Any) -> str:
    """Text on one line; numbers too, since versions are written as such."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return " ".join(str(value).split())
    return ""


# YAML as JSON values: no tags, and bounded in depth and size.
#
# The events of the parser are put together here and not by its own loader, which a deep
# document crashes and a small one full of aliases fills the memory with.

MAX_YAML_NODES = 500_000
_INT = re.compile(r"[-+]?\d{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.\d{1,40}|\d{1,40}(?:\.\d{0,40})?)(?:[eE][-+]?\d{1,3})?")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)


def load_yaml(text: str) -> Any:
    """The first document of a YAML text.

    Raises:
        BadInput: it is no YAML, or an alias that leads nowhere or to itself.
        TooLarge: it is too deep, or too large once its aliases are followed.
    """
    import yaml  # type: ignore[import-untyped]

    try:
        return _YamlBuilder().build(yaml_events(text))
    except ValueError as error:
        raise TooLarge(f"It cannot be read as YAML: {error}.") from None
    except yaml.YAMLError as error:
        message = " ".join(str(error).split())[:200]
        raise BadInput(f"It is not valid YAML: {message}.") from None


@dataclass(slots=True)
class _OpenNode:
    """A collection that is not complete: its value, anchor, and how many nodes it has."""

    value: Any
    anchor: str | None
    key: str | None = None
    nodes: int = 1


class _YamlBuilder:
    def __init__(self) -> None:
        self._stack: list[_OpenNode] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._total = 0
        self._root: Any = None

    def build(self, events: Iterator[Any]) -> Any:
        for event in events:
            name = type(event).__name__
            if name == "ScalarEvent":
                self._add(_scalar(event), 1, event.anchor)
            elif name == "AliasEvent":
                self._alias(event.anchor)
            elif name in ("MappingStartEvent", "SequenceStartEvent"):
                self._stack.append(_OpenNode({} if name[0] == "M" else [], event.anchor))
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                done = self._stack.pop()
                _merge(done.value)
                self._add(done.value, done.nodes, done.anchor, counted=True)
            elif name == "DocumentEndEvent":
                break
        return self._root

    def _alias(self, anchor: str) -> None:
        if anchor not in self._anchors:
            raise BadInput(f"It is not valid YAML: the alias '{anchor[:40]}' leads nowhere.")
        value, nodes = self._anchors[anchor]
        self._add(value, nodes, None)

    def _add(self, value: Any, nodes: int, anchor: str | None, *, counted: bool = False) -> None:
        self._total += 1 if counted else nodes
        if self._total > MAX_YAML_NODES:
            raise TooLarge(f"It has more than {MAX_YAML_NODES:,} values.")
        if anchor:
            self._anchors[anchor] = (value, nodes)
        if not self._stack:
            self._root = value
            return
        top = self._stack[-1]
        top.nodes += nodes
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is None:
            top.key = "" if isinstance(value, dict | list) else _key_name(value)
        else:
            top.value[top.key] = value
            top.key = None


def _merge(value: Any) -> None:
    """Carry out `<<`: its members count where the mapping has none of the name."""
    if not isinstance(value, dict) or "<<" not in value:
        return
    merged = value.pop("<<")
    for part in merged if isinstance(merged, list) else [merged]:
        for name, item in part.items() if isinstance(part, dict) else ():
            value.setdefault(name, item)


def _key_name(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0]:
        return text  # quoted
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


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
