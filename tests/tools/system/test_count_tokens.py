# ruff: noqa: RUF001 - words of other scripts
"""Tokens: exact where the tables are, told as estimated where they are not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import bpe_openai
import pytest

from tests.servers.scripted import Answer, scripted
from tests.tools.system.conftest import Machine
from tests.tools.system.older_texts import OLDER_COUNTS
from toolcrib import Toolbox

ROOT = Path(__file__).parents[3]
TEXTS = [
    (ROOT / "README.md").read_text(),
    (ROOT / "docs" / "agents.md").read_text(),
    (ROOT / "src" / "toolcrib" / "toolbox.py").read_text(),
    '{"name": "Anna", "values": [1, 2.5, -3e10, null, true], "nested": {"a": "b"}}\n' * 50,
    "2026-11-23T10:04:11Z INFO [worker-3] 192.0.2.7 GET /api/v1/items?id=42 200 13ms\n" * 40,
    "今天天气很好,我们去公园散步吧。日本語のテキストも含まれています。한국어 문장도 있습니다." * 20,
    # Sentences made of rare words are the worst for an estimate.
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. " * 30,
    "<|endoftext|> is plain text here",
]


@pytest.mark.parametrize("name", ["o200k", "cl100k"])
async def test_long_files_are_exact_too(machine: Machine, ws: Path, name: str) -> None:
    encoding = bpe_openai.get_encoding(f"{name}_base")
    for line in (
        "The quick  brown fox, 12 345 times;   again!\n",
        "a-b/c " * 9 + "\n",
        "好,天。\n",
    ):
        copies = 1_300_000 // len(line)
        (ws / "long.txt").write_text(line * copies)
        found = (await machine("count_tokens", path="long.txt", encoding=name)).data
        assert found["tokens"] == copies * len(encoding.encode(line)), line
        assert found["exact"]
    (ws / "long.txt").write_text("[" * 2_500_000)
    found = (await machine("count_tokens", path="long.txt", encoding=name)).data
    assert 0 < found["tokens"] < 2_500_000
    assert not found["exact"], "cut where a token may lie"


@pytest.mark.rows("C111")
async def test_o200k_and_cl100k_are_exact(machine: Machine) -> None:
    for name in ("o200k", "cl100k"):
        encoding = bpe_openai.get_encoding(f"{name}_base")
        for text in TEXTS:
            found = (await machine("count_tokens", text=text, encoding=name)).data
            wanted = len(encoding.encode(text, disallowed_special=()))
            assert found["tokens"] == wanted, text[:40]
            assert (found["exact"], found["counted_by"]) == (True, "table")
    assert (await machine("count_tokens", text="a", encoding="gpt-4o")).data["encoding"] == "o200k"
    assert (await machine("count_tokens", text="a", model="gpt-4")).data["encoding"] == "cl100k"


async def test_others_are_told_as_estimated(machine: Machine) -> None:
    encoding = bpe_openai.get_encoding("o200k_base")
    for name in ("p50k", "r50k", "gpt2", "llama3", "qwen"):
        found = await machine("count_tokens", text="a b c", encoding=name)
        assert "estimated" in found.text
        assert (found.data["exact"], found.data["counted_by"]) == (False, "estimate")
    for text in TEXTS[:-2]:
        found = (await machine("count_tokens", text=text, encoding="another")).data["tokens"]
        wanted = len(encoding.encode(text, disallowed_special=()))
        assert abs(found - wanted) <= 0.1 * wanted, (text[:30], found, wanted)


@pytest.mark.rows("C111")
async def test_older_encodings_are_estimated_as_what_they_are(machine: Machine) -> None:
    for text, counts in OLDER_COUNTS.items():
        for name, wanted in {**counts, "gpt2": counts["r50k"]}.items():
            found = await machine("token_count", text=text, encoding=name)
            assert "estimated" in found.text
            off = 0.13 if "ä" in text else 0.1
            assert abs(found.data["tokens"] / wanted - 1) <= off, (name, text[:20])
    assert (await machine("count_tokens", text="a b", encoding="gpt2")).data["tokens"] == 2


async def test_a_family_that_reads_digit_by_digit(machine: Machine) -> None:
    async def estimated(text: str, model: str) -> int:
        return int((await machine("count_tokens", text=text, encoding=model)).data["tokens"])

    numbers = "id 123456789, " * 100
    assert await estimated(numbers, "Qwen/Qwen3-8B") == await estimated(numbers, "llama3") + 600
    words = "\u4eca\u5929\u5929\u6c14\u5f88\u597d" * 100
    assert await estimated(words, "qwen3") < await estimated(words, "llama3")


@pytest.mark.rows("C111")
async def test_other_languages_cost_more_in_tables_made_for_english(machine: Machine) -> None:
    """What was counted by the models' own tables; see bench/token_counts.py."""
    german = (
        "Die Gärtner gießen früh am Morgen die Beete hinter dem großen Haus, und die Kinder "
        "helfen ihnen gern dabei, weil es dann nicht so heiß ist. "
    )
    spanish = (
        "Los jardineros riegan por la mañana las flores que están detrás de la casa, y los niños "
        "les ayudan con mucho gusto cuando no hace calor. "
    )
    ukrainian = (
        "Садівники поливають квіти за будинком рано вранці, і діти допомагають їм, якщо це не "
        "важко і коли ще не так жарко, як удень. "
    )
    greek = (
        "Οι κηπουροί ποτίζουν το πρωί τα λουλούδια πίσω από το σπίτι και τα παιδιά τους βοηθούν "
        "με χαρά όταν δεν έχει πολλή ζέστη. "
    )
    counts = [(german, 741, 721), (spanish, 681, 681), (ukrainian, 881, 1281), (greek, 921, 1960)]
    for text, llama, qwen in counts:
        for model, wanted in (("llama3", llama), ("Qwen/Qwen3-8B", qwen)):
            found = await machine("count_tokens", text=text * 20, encoding=model)
            assert abs(found.data["tokens"] / wanted - 1) <= 0.12, (model, text[:20])


async def test_a_file_and_bad_input(machine: Machine) -> None:
    (machine.folder / "a.txt").write_text("one two three")
    (machine.folder / "b.bin").write_bytes(b"\x7fELF\0\0\0")
    assert "3 tokens" in await machine.text("count_tokens", path="a.txt")
    for arguments in ({}, {"text": "a", "path": "a.txt"}, {"path": "b.bin"}, {"path": "."}):
        await machine.refused("count_tokens", **arguments)
    assert (await machine("count_tokens", text="\ud800 half")).data["tokens"] > 0


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['bpe_openai'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'bpe_openai' else real(name, *a)\n"
        "from toolcrib import Toolbox\n"
        "with Toolbox({'store': {'url': 'sqlite://'}}, workspace=sys.argv[1]) as box:\n"
        "    print(box.call_sync('count_tokens', {'text': 'a b', 'encoding': 'o200k'}).render())\n"
        "    print(box.call_sync('count_tokens', {'text': 'a b'}).render())\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert "missing_extra" in done.stdout, done.stderr
    assert "toolcrib[tokens]" in done.stdout
    assert "about 2 tokens, estimated" in done.stdout


MODELS = Answer('{"data": [{"id": "own-model"}]}', kind="application/json")
COUNTS = {
    "as llama.cpp": lambda r: json.dumps({"tokens": json.loads(r.body)["content"].split()}),
    "as vLLM": lambda r: json.dumps({"count": len(json.loads(r.body)["prompt"].split())}),
}


@pytest.mark.rows("C111")
@pytest.mark.parametrize("form", COUNTS)
async def test_the_server_of_a_model_counts(tmp_path: Path, form: str) -> None:
    with scripted() as server:
        server["/v1/models"] = MODELS
        server["/tokenize"] = lambda request: Answer(COUNTS[form](request), kind="application/json")
        config = {"agent": {"base_url": f"{server.url}/v1"}}
        async with Toolbox(config, workspace=tmp_path) as box:
            own = await box.call("count_tokens", {"text": "a b c", "encoding": "own-model"})
            assert own.text == "3 tokens (own-model, counted by its server), 5 characters"
            assert own.data["counted_by"] == "server"
            other = await box.call("count_tokens", {"text": "a b c", "encoding": "llama3"})
            assert "estimated" in other.text
            assert server.count("/tokenize") == 1


@pytest.mark.parametrize("answer", [Answer(status=404), Answer("{}"), Answer('{"tokens": 5}')])
async def test_a_server_that_does_not_count_leaves_the_estimate(
    tmp_path: Path, answer: Answer
) -> None:
    with scripted() as server:
        server["/v1/models"] = MODELS
        server["/tokenize"] = answer
        config = {"agent": {"base_url": f"{server.url}/v1"}}
        async with Toolbox(config, workspace=tmp_path) as box:
            found = await box.call("count_tokens", {"text": "a b c", "encoding": "own-model"})
    assert "estimated" in found.text
