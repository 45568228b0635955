"""The page at /docs: what each tool takes, made from the OpenAPI document.

One answer holds all of it. Nothing is loaded from elsewhere and nothing runs in it; the content
security policy says so to the browser.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from itertools import groupby
from operator import itemgetter
from typing import Any

from starlette.responses import HTMLResponse

STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: .9em ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); border-radius: .3rem; }
details { border-top: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; }
summary code { font-weight: bold; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }
"""
_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
EXAMPLE_VALUES: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": []}


def docs_page(description: Mapping[str, Any], address: str) -> HTMLResponse:
    """The page for an OpenAPI document of `openapi.describe`, as it is reached at an address."""
    return HTMLResponse(
        "".join(_lines(description, address)),
        headers={
            "content-security-policy": POLICY,
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        },
    )


def _lines(description: Mapping[str, Any], address: str) -> Iterator[str]:
    info = description["info"]
    title = escape(f"{info['title']} {info['version']}")
    yield (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>{_marked(info['description'])}</p>"
        '<p>For programs: <a href="openapi.json">openapi.json</a>; MCP is at <code>/mcp</code>. '
        "With a token, send <code>Authorization: Bearer TOKEN</code>.</p>"
    )
    operations = [(path, item["post"]) for path, item in description["paths"].items()]
    tagged = sorted(((o["tags"][0], path, o) for path, o in operations), key=itemgetter(0))
    for tag, members in groupby(tagged, key=itemgetter(0)):
        yield f"<h2>{escape(tag)}</h2>"
        for _, path, operation in members:
            yield from _operation(f"{address}{path}", operation)
    yield "</body></html>"


def _operation(url: str, operation: Mapping[str, Any]) -> Iterator[str]:
    name = escape(operation["operationId"])
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    required = schema.get("required", ())
    yield (
        f'<details id="{name}"><summary><code>{name}</code> '
        f"{_marked(operation['summary'])}</summary>"
    )
    if operation["description"] != operation["summary"]:
        yield f"<p>{_marked(operation['description'])}</p>"
    if schema["properties"]:
        yield "<table><tr><th>argument<th>type<th>meaning</tr>"
        for argument, node in schema["properties"].items():
            yield _row(argument, node, argument in required)
        yield "</table>"
    sent = {
        argument: _example(node)
        for argument, node in schema["properties"].items()
        if argument in required
    }
    body = json.dumps(sent, ensure_ascii=False).replace("'", "'\\''")
    command = f"curl -H 'Content-Type: application/json' -d '{body}' {url}"
    yield f"<pre>{escape(command)}</pre></details>"


def _row(argument: str, node: Mapping[str, Any], required: bool) -> str:
    kind = node["type"]
    if kind == "array":
        kind = f"list of {node['items'].get('type', 'any')}"
    notes = [_marked(node["description"])] if node.get("description") else []
    if "enum" in node:
        notes.append("One of " + ", ".join(f"<code>{escape(str(v))}</code>" for v in node["enum"]))
    if required:
        notes.append("Required.")
    elif node.get("default") not in (None, "", []):
        notes.append(f"Default: <code>{escape(json.dumps(node['default']))}</code>")
    return f"<tr><td><code>{escape(argument)}</code><td>{escape(kind)}<td>{' '.join(notes)}</tr>"


def _example(node: Mapping[str, Any]) -> Any:
    return node["enum"][0] if "enum" in node else EXAMPLE_VALUES.get(node["type"], "...")


def _marked(text: str) -> str:
    """Text with what stands between back quotes as code."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:  # one that has no other
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
