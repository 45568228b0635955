"""OpenAPI descriptions: fetched, parsed and kept; what `$ref` means in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard
from urllib.parse import unquote

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, HttpStatus, TooLarge, ToolError, UnsupportedContent
from toolcrib.files.content.encodings import detect
from toolcrib.net.cache import Cache
from toolcrib.net.egress.client import PAGES, Egress
from toolcrib.net.egress.redirects import Redirect
from toolcrib.net.egress.response import Response
from toolcrib.system.threads import in_thread
from toolcrib.tools.http.description.plain_yaml import load_yaml

ACCEPT = "application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5"
KIND = "openapi"
KEPT = 20
MISSING_SECONDS = 60
MAX_STEPS = 20
"""References that are followed one after the other."""
MAX_DEPTH = 200
MAX_NAME = 200
WANTED = "Give the URL of an OpenAPI 3 or Swagger 2 description, in JSON or YAML."


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
                hint=WANTED,
                status=response.status,
            )
        root = await in_thread(lambda _: _parsed(response), ctx.deadline)
        hops = [[step.source, step.target, step.status] for step in response.redirects]
        return {"url": response.url, "root": root, "redirects": hops}

    kept = await ctx.use(Cache).fetch(
        KIND,
        url,
        make,
        ttl=ctx.config.web.fetch.cache_seconds,
        negative_ttl=MISSING_SECONDS,
        max_entries=KEPT,
    )
    if kept.hit:
        hops = (Redirect(*step) for step in kept.value["redirects"])
        ctx.use(Egress).retrace(hops, PAGES, ctx)
    return Description(kept.value["url"], kept.value["root"])


def _parsed(response: Response) -> dict[str, Any]:
    body = response.body
    text = detect(body, complete=True, declared=response.charset, lenient=True).decode(body)
    try:
        root = _value(text)
        _check_depth(root)
    except ToolError as error:
        raise UnsupportedContent(f"The description cannot be read. {error}", hint=WANTED) from None
    known = isinstance(root, dict) and isinstance(root.get("paths"), dict)
    version = str(root.get("openapi") or root.get("swagger") or "") if known else ""
    if not version.startswith(("2", "3")):
        raise UnsupportedContent(
            f"{response.url[:500]} is no OpenAPI description.",
            hint=WANTED,
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
