"""Resources: files of the workspace, kept results, jobs, and the page of `show`.

Reading one is the call of the tool that reads such a thing, with its rights, its protected
names, its fence and its budget; there is no other way to what stands behind a URI. Where that
tool cannot be called, there are no such resources.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.core.result import ErrorInfo, Result
from toolcrib.execution.jobs import Jobs
from toolcrib.state.results import Results
from toolcrib.surfaces.mcp import apps
from toolcrib.surfaces.mcp.calls import Context, HostCalls, session_of
from toolcrib.text.cleaner import one_line
from toolcrib.toolbox import Toolbox

SCHEME = "toolcrib://"
MAX_LISTED = 50
"""Resources of each kind in a list, the newest first."""
MAX_URI = 5_000
MAX_TITLE = 120
RESOURCE_NOT_FOUND = -32002
"""What the handshake revisions have for it; 2026-07-28 has the code of wrong parameters."""


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """What is read by one tool: `toolcrib://<name>/<the argument>`."""

    name: str
    title: str
    about: str
    variable: str
    tool: str
    argument: str
    fixed: Mapping[str, Any]

    @property
    def prefix(self) -> str:
        """What its URIs begin with."""
        return f"{SCHEME}{self.name}/"

    @property
    def template(self) -> str:
        """The template of its URIs, by RFC 6570."""
        return f"{self.prefix}{{{self.variable}}}"


FILE = ResourceKind(
    "file",
    "File of the workspace",
    "A file by its path in the workspace: text, a picture, or a document as Markdown.",
    "+path",
    "read_file",
    "path",
    {},
)
RESULT = ResourceKind(
    "result",
    "Kept result",
    "A result of this conversation that was too long to be shown whole.",
    "handle",
    "read_more",
    "handle",
    {},
)
JOB = ResourceKind(
    "job",
    "Background job",
    "The state and the output of a background job as they are now.",
    "id",
    "read_job",
    "id",
    {"wait": "none"},
)
KINDS = (FILE, RESULT, JOB)


def kinds(toolbox: Toolbox) -> tuple[ResourceKind, ...]:
    """The kinds whose tool may be called here."""
    return tuple(kind for kind in KINDS if toolbox.tool(kind.tool) is not None)


def templates(toolbox: Toolbox) -> types.ListResourceTemplatesResult:
    """The templates of URIs that can be read."""
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=kind.template,
                name=kind.name,
                title=kind.title,
                description=kind.about,
            )
            for kind in kinds(toolbox)
        ]
    )


async def listing(toolbox: Toolbox, ctx: Context) -> types.ListResourcesResult:
    """What this conversation left: its kept results and its jobs. Files go by their template."""
    session = toolbox.conversation(session_of(ctx))
    there = kinds(toolbox)
    found: list[types.Resource] = []
    if RESULT in there:
        found += [
            _resource(RESULT, handle, f"Result {handle}", source)
            for handle, source in await stored_results(toolbox, session)
        ]
    if JOB in there:
        jobs = await toolbox.use(Jobs).list(session, MAX_LISTED)
        found += [
            _resource(JOB, job.id, f"Job {job.id}, {job.state}", job.title)
            for job in (view.record for view in jobs)
        ]
    if apps.is_offered(toolbox):
        found.append(apps.resource())
    return types.ListResourcesResult(resources=found)


async def stored_results(toolbox: Toolbox, session: str) -> list[tuple[str, str]]:
    """The handles of a conversation's kept results and where each came from, newest first."""
    try:
        return await toolbox.use(Results).list(session, MAX_LISTED)
    except (StorageFailure, ConfigError):  # reading one says why
        return []


def _resource(kind: ResourceKind, key: str, title: str, about: str) -> types.Resource:
    return types.Resource(
        uri=f"{kind.prefix}{key}",
        name=key,
        title=title,
        description=one_line(about, MAX_TITLE) or None,
        mime_type="text/plain",
    )


async def contents(
    calls: HostCalls, ctx: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult | types.InputRequiredResult:
    """What a URI stands for.

    Raises:
        MCPError: there is nothing, or it may not be read; the message says why.
    """
    uri = params.uri
    if uri == apps.URI and apps.is_offered(calls.toolbox):
        return apps.contents()
    kind = next((k for k in KINDS if uri.startswith(k.prefix) and len(uri) > len(k.prefix)), None)
    if kind is None or len(uri) > MAX_URI:
        known = ", ".join(k.template for k in kinds(calls.toolbox)) or "none"
        message = f"There is no resource of this URI. What can be read: {known}"
        raise _failure(ctx, uri, ErrorInfo("not_found", message))
    arguments = {kind.argument: unquote(uri.removeprefix(kind.prefix)), **kind.fixed}
    result = await calls.send(ctx, params, kind.tool, arguments)
    if not isinstance(result, Result):
        return result
    if result.error is not None and not result.text:
        raise _failure(ctx, uri, result.error)
    return types.ReadResourceResult(contents=_parts(uri, result))


def _parts(uri: str, result: Result) -> list[Any]:
    parts: list[Any] = []
    text = result.render()
    if text or not result.images:
        parts.append(types.TextResourceContents(uri=uri, mime_type="text/plain", text=text))
    parts += [
        types.BlobResourceContents(
            uri=uri, mime_type=image.mime_type, blob=b64encode(image.data).decode("ascii")
        )
        for image in result.images
    ]
    return parts


def _failure(ctx: Context, uri: str, error: ErrorInfo) -> MCPError:
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    code = types.INVALID_PARAMS
    if error.code == "not_found" and not modern:
        code = RESOURCE_NOT_FOUND
    text = f"{error.message}\n{error.hint}" if error.hint else error.message
    return MCPError(code, text, {"uri": uri[:MAX_URI], "code": error.code})
