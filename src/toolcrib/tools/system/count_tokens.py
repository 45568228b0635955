"""`count_tokens`: how much of a model's context a text takes."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from math import ceil
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
from toolcrib.text.tokens import estimate

EXACT = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
SLICE_CHARS = 200_000
MODELS = {
    "o200k": ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "o1", "o3", "o4", "chatgpt-4o", "gpt-oss"),
    "cl100k": ("gpt-4", "gpt-3.5", "text-embedding-3", "text-embedding-ada"),
}
DIGIT_BY_DIGIT = ("qwen", "qwq", "qvq")
"""Models for which each digit is a token, and words of Chinese are cheaper."""
ENGLISH_TABLES = (*DIGIT_BY_DIGIT, "llama-3", "llama3", "meta-llama-3")
"""Models whose tables hold shorter words of other languages than those of o200k."""
LANGUAGES = {
    "de": ("der die und ist nicht mit den das ein eine zu von für auf sich werden", 0.23),
    "es": ("el los las del para con una por que se como más la es en su al", 0.15),
    "fr": ("les des une est pour dans que pas sur avec du ce le la et par", 0.12),
    "it": ("il di che per non una del della con sono le un si gli alla nel", 0.27),
    "nl": ("de het een van en niet voor op te dat zijn met wordt aan bij", 0.4),
    "pl": ("nie się na jest że dla od są przez lub tego to po jak", 0.42),
    "pt": ("os não para uma com da em são mais por que um na dos ao", 0.12),
    "sv": ("och att det som för på är inte med av den till ett kan", 0.27),
    "fi": ("ja ei on että se kun tai voi ovat joka sen olla ole myös", 0.45),
    "hu": ("az és nem egy hogy van meg ez vagy csak kell ha lesz", 0.39),
}
"""Frequent words of languages, and the share by which their texts cost more there."""
MIN_LANGUAGE_SHARE = 0.08
"""Of all words, so many are frequent ones of a language in a text of that language."""
O200K_DIGITS = 3
HAN_DISCOUNT = 0.15
"""Tokens by which a Han character is cheaper there; by bench/token_counts.py."""
OLDER = ("r50k", "gpt2", "p50k")
"""Encodings with a smaller table, in which code and other languages than English cost more."""
OLDER_SHARE = 1.1
OLDER_SPACE = {"r50k": 1.0, "gpt2": 1.0, "p50k": 0.0}
"""For each space of an indentation after the second; p50k has tokens for those."""
OLDER_LINE_END = 1.8
"""For a line that ends with a sign, which newer tables join with the line end."""
OLDER_EAST_ASIAN = 1.0
OLDER_NON_ASCII = 1.5
OLDER_DIGIT = -0.25
"""By bench/token_counts.py, as the others."""
_INDENTATION = re.compile(" {3,}")
_SIGN_AT_END = re.compile(r"[^\w\s]\n")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_DIGITS = re.compile("[0-9]+")
_WORD = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u3400-\u9fff]")


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
        count = await in_thread(lambda _: _estimated(content, encoding), ctx.deadline)
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


def _estimated(text: str, model: str) -> int:
    """An estimate by the tables of o200k, and by what is known of a family besides."""
    count = estimate(text)
    older = model.strip().lower().replace("_base", "").replace("-", "")
    if older in OLDER:
        return _estimated_older(text, older, count)
    family = model.strip().lower().rpartition("/")[2]
    if family.startswith(ENGLISH_TABLES):
        count += round(count * _language_share(text))
    if family.startswith(DIGIT_BY_DIGIT):
        count += sum(len(run) - ceil(len(run) / O200K_DIGITS) for run in _DIGITS.findall(text))
        count -= round(HAN_DISCOUNT * len(_HAN.findall(text)))
    return count


def _language_share(text: str) -> float:
    """The share by which a text costs more as it is in another language than English."""
    words = Counter(_WORD.findall(text.lower()))
    shares = {
        language: sum(words[word] for word in {*frequent.split()}) / max(words.total(), 1)
        for language, (frequent, _) in LANGUAGES.items()
    }
    language = max(shares, key=lambda name: shares[name])
    return LANGUAGES[language][1] if shares[language] >= MIN_LANGUAGE_SHARE else 0.0


def _estimated_older(text: str, name: str, count: int) -> int:
    """The same for the tables of GPT-2 and GPT-3."""
    indented = sum(len(run) - 2 for run in _INDENTATION.findall(text))
    east_asian = len(_EAST_ASIAN.findall(text))
    other = len(_NON_ASCII.findall(text)) - east_asian
    tokens = (
        OLDER_SHARE * count
        + OLDER_SPACE[name] * indented
        + OLDER_LINE_END * len(_SIGN_AT_END.findall(text))
        + OLDER_EAST_ASIAN * east_asian
        + OLDER_NON_ASCII * other
        + OLDER_DIGIT * sum(map(len, _DIGITS.findall(text)))
    )
    return max(round(tokens), min(count, 1))


def _exact(text: str, name: str) -> int:
    encoding = _loaded(name)
    return len(encoding.encode(text.encode("utf-8", "replace").decode(), disallowed_special=()))


@cache
def _loaded(name: str) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai  # type: ignore[import-untyped]

        return bpe_openai.get_encoding(name)
