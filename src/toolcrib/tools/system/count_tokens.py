"""`count_tokens`: how much of a model's context a text takes."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.files.edits.text_loader import load
from toolcrib.files.new_names import refuse_file_name
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
BREAK = re.compile(r"(?<=\S)(?= )|(?<=\n)(?=\w)")
"""Between these no token of either encoding lies: a word takes the space before it, a line end is
the end of what it belongs to."""


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
    await refuse_file_name(text, "text", ctx)
    name = _encoding(encoding)
    content = text or (await in_thread(lambda _: load(path).text, ctx.deadline) if path else "")
    counted_by, is_exact = "table" if name in EXACT else "estimate", True
    served = None if name in EXACT else await _counted_by_server(content, encoding, ctx)
    if served is not None:
        count, name = served
        counted_by = "server"
        summary = f"{count:,} tokens ({name}, counted by its server), {len(content):,} characters"
    elif name in EXACT:
        count, is_exact = await in_thread(lambda _: _exact(content, EXACT[name]), ctx.deadline)
        about = "" if is_exact else "about "
        summary = f"{about}{count:,} tokens ({name}), {len(content):,} characters"
    else:
        count = await in_thread(lambda _: estimate_for(content, encoding), ctx.deadline)
        summary = f"about {count:,} tokens, estimated; {len(content):,} characters"
    data: dict[str, Any] = {
        "tokens": count,
        "exact": counted_by != "estimate" and is_exact,
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


def _exact(text: str, name: str) -> tuple[int, bool]:
    """The count, and whether it is the exact one: a long text without a place to cut may be not."""
    encoding = _loaded(name)
    clean = text.encode("utf-8", "replace").decode()
    count, start, is_exact = 0, 0, True
    while start < len(clean):
        end, at_break = _cut(clean, start)
        count += len(encoding.encode(clean[start:end], disallowed_special=()))
        start, is_exact = end, is_exact and at_break
    return count, is_exact


def _cut(text: str, start: int) -> tuple[int, bool]:
    """Where the part that begins there ends, and whether no token can go on behind that."""
    end = start + MAX_PART_CHARS
    if end >= len(text):
        return len(text), True
    for reach in (MAX_PART_CHARS // 40, MAX_PART_CHARS - 1):
        if found := [match.start() for match in BREAK.finditer(text[end - reach : end])]:
            return end - reach + found[-1], True
    return end, False


@cache
def _loaded(name: str) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # type: ignore[import-untyped]

        return bpe_openai.get_encoding(name)
