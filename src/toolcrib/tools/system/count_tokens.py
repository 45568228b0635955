"""`count_tokens`: how much of a model's context a text takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.files.edits.text_loader import load
from toolcrib.files.paths import WorkspacePath
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.endpoint import find_endpoint
from toolcrib.net.models.token_count import server_token_count
from toolcrib.system.threads import in_thread
from toolcrib.text.token_families import estimate_for

EXACT = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
MODELS = {
    "o200k": ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "o1", "o3", "o4", "chatgpt-4o", "gpt-oss"),
    "cl100k": ("gpt-4", "gpt-3.5", "text-embedding-3", "text-embedding-ada"),
}
MAX_PART_CHARS = 40_000
"""Of a text that is counted at once: the library refuses more than 200,000 tokens, and a character
has up to four."""


@tool(
    group="system",
    rights=READ,
    keywords=("tokenizer", "context length", "how long", "prompt size", "tiktoken", "budget"),
    aliases=("token_count", "tokens", "estimate_tokens"),
    argument_aliases={"content": "text", "file_path": "path", "file": "path", "model": "encoding"},
)
async def count_tokens(
    text: str = "",
    path: WorkspacePath | None = None,
    encoding: Annotated[str, Param("o200k, cl100k or a model; else an estimate.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Count the tokens of a text or a file.

    o200k and cl100k are exact (extra tokens); a model of the server at agent.base_url is counted
    by that, where it can (llama.cpp, vLLM). Otherwise it is an estimate, which it says.
    """
    if bool(text) == (path is not None):
        raise BadInput("Send either text or path.")
    name = _encoding(encoding)
    content = text or (await in_thread(lambda _: load(path).text, ctx.deadline) if path else "")
    counted_by = "table" if name in EXACT else "estimate"
    served = None if name in EXACT else await _counted_by_server(content, encoding, ctx)
    if served is not None:
        count, name = served
        counted_by = "server"
        summary = f"{count:,} tokens ({name}, counted by its server), {len(content):,} characters"
    elif name in EXACT:
        count = await in_thread(lambda _: _exact(content, EXACT[name]), ctx.deadline)
        summary = f"{count:,} tokens ({name}), {len(content):,} characters"
    else:
        count = await in_thread(lambda _: estimate_for(content, encoding), ctx.deadline)
        summary = f"about {count:,} tokens, estimated; {len(content):,} characters"
    data: dict[str, Any] = {
        "tokens": count,
        "exact": counted_by != "estimate",
        "counted_by": counted_by,
        "encoding": name or "estimate",
        "characters": len(content),
    }
    return Result(summary, data, impersonal=path is None)


async def _counted_by_server(text: str, model: str, ctx: Ctx) -> tuple[int, str] | None:
    """The count and the model, where the user's own server has it and counts; else None."""
    agent = ctx.config.agent
    wanted = model.strip()
    if not agent.base_url or not wanted:
        return None
    try:
        endpoint = await find_endpoint(ctx.config, ctx.use(Egress), wanted)
    except ToolError:
        return None
    if endpoint.model not in endpoint.models:
        return None
    count = await server_token_count(text, endpoint, ctx.config, ctx.use(Egress))
    return None if count is None else (count, endpoint.model)


def _encoding(given: str) -> str:
    """The name of an encoding, of itself or of a model; "" for an estimate."""
    name = given.strip().lower().replace("_base", "").rpartition("/")[2]
    if not name or name in ("auto", "estimate"):
        return "o200k" if not name and find_spec("bpe_openai") else ""
    if name in EXACT:
        if find_spec("bpe_openai") is None:
            raise MissingExtra("tokens", f"Counting by {name}")
        return name
    for known, prefixes in MODELS.items():
        if name.startswith(prefixes):
            return known if find_spec("bpe_openai") else ""
    return ""


def _exact(text: str, name: str) -> int:
    encoding = _loaded(name)
    clean = text.encode("utf-8", "replace").decode()
    return sum(len(encoding.encode(part, disallowed_special=())) for part in _parts(clean))


def _parts(text: str) -> Iterator[str]:
    """A text in parts that the library takes.

    A word and the space before it are never in one token with what comes before them, so the sum
    is exact; only a part without any space is cut anywhere.
    """
    start = 0
    while len(text) - start > MAX_PART_CHARS:
        cut = text.rfind(" ", start + 1, start + MAX_PART_CHARS)
        while cut > 0 and text[cut - 1].isspace():
            cut = text.rfind(" ", start + 1, cut)
        end = cut if cut > 0 else start + MAX_PART_CHARS
        yield text[start:end]
        start = end
    yield text[start:]


@cache
def _loaded(name: str) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # type: ignore[import-untyped]

        return bpe_openai.get_encoding(name)
