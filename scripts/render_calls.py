"""Write tests/toolcalls/corpus.json: what models would write, with the calls that it means.

    python scripts/render_calls.py FOLDER [--out FILE]

FOLDER holds chat templates (`*.jinja`), as the source package of llama-cpp-python on PyPI has
them under vendor/llama.cpp/models/templates. Each of our own scenarios (tests/toolcalls/
scenarios.py) is rendered as a message of the assistant; less the prompt, that is the raw text
of a model, and the calls that it means are known. Nothing is typed by hand, and nothing of a
template is kept. Needs jinja2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import SandboxedEnvironment

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.toolcalls.renderers import RENDERERS
from tests.toolcalls.scenarios import SCENARIOS, TOOLS, Scenario

OUT = Path(__file__).parents[1] / "tests" / "toolcalls" / "corpus.json"
USER = {"role": "user", "content": "Please."}
UNSAYABLE = {("lfm-2.5", "lines")}
"""Where a template quotes a string so that nobody can tell its end."""
TURN_ENDS = ("<|END_OF_TURN_TOKEN|>",)
"""What follows is the next turn, which some templates begin at once."""
# One template for each way of writing; others differ from these in their prompts alone.
CHOSEN = {
    "apertus": "Apertus-8B-Instruct",
    "apriel": "Apriel-1.6-15b-Thinker-fixed",
    "bielik": "Bielik-11B-v3.0-Instruct",
    "cohere-2": "Cohere2MoE",
    "cohere-r7b": "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "deepseek-r1": "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "deepseek-v3.1": "deepseek-ai-DeepSeek-V3.1",
    "deepseek-v3.2": "deepseek-ai-DeepSeek-V3.2",
    "deepseek-v4": "deepseek-ai-DeepSeek-V4",
    "functionary-3.1": "meetkai-functionary-medium-v3.1",
    "functionary-3.2": "meetkai-functionary-medium-v3.2",
    "gemma-4": "google-gemma-4-31B-it",
    "gemma-4-interleaved": "google-gemma-4-31B-it-interleaved",
    "gigachat-3": "GigaChat3-10B-A1.8B",
    "gigachat-3.1": "GigaChat3.1-10B-A1.8B",
    "glm-4.6": "GLM-4.6",
    "glm-4.7": "GLM-4.7-Flash",
    "gpt-oss": "openai-gpt-oss-120b",
    "granite-4": "ibm-granite-granite-4.0",
    "hermes-3": "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "hunyuan-3": "tencent-Hy3",
    "kimi-k2": "Kimi-K2-Instruct",
    "kimi-k2-thinking": "Kimi-K2-Thinking",
    "kimi-k3": "Kimi-K3",
    "laguna": "poolside-Laguna-XS.2",
    "lfm-2.5": "LFM2.5-8B-A1B",
    "ling-3": "inclusionai-ling-3.0-flash",
    "llama-3.1": "meta-llama-Llama-3.1-8B-Instruct",
    "mimo-vl": "MiMo-VL",
    "minicpm-5": "openbmb-MiniCPM5-1B",
    "minimax-m1": "MiniMax-M1",
    "minimax-m2": "MiniMax-M2",
    "minimax-m3": "MiniMax-M3",
    "ministral": "mistralai-Ministral-3-14B-Reasoning-2512",
    "mistral-nemo": "mistralai-Mistral-Nemo-Instruct-2407",
    "mistral-small-3.2": "Mistral-Small-3.2-24B-Instruct-2506",
    "muse": "muse-glimmer",
    "nemotron-3": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "nemotron-nano-2": "NVIDIA-Nemotron-Nano-v2",
    "qwen-3": "Qwen-Qwen3-0.6B",
    "qwen-3-coder": "Qwen3-Coder",
    "qwen-3.5": "Qwen3.5-4B",
    "reka": "Reka-Edge",
    "seed-oss": "ByteDance-Seed-OSS",
    "solar": "upstage-Solar-Open-100B",
    "spark-2.5": "Spark2.5",
    "step-3.5": "StepFun3.5-Flash",
}


class Generation(Extension):
    """`{% generation %}`, which marks a part for training, says nothing here."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


def environment() -> SandboxedEnvironment:
    """Jinja as the hosts of models set it up."""
    made = SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
    )

    def tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **more: Any):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **more)

    def refuse(message: str) -> None:
        raise ValueError(message)

    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = datetime(2026, 1, 2, tzinfo=UTC).strftime
    return made


def outputs(source: str, scenario: Scenario) -> str | None:
    """What a model with this template would have written; None where it cannot say it."""
    template = environment().from_string(source)
    # Templates differ in whether they want arguments as an object or as text, and in which
    # of the missing fields they mind.
    for as_text in (False, True):
        for content in dict.fromkeys((scenario.content, scenario.content or None)):
            message = scenario.message(as_text=as_text, content=content)
            try:
                prompt = rendered(template, [USER], prompt=True)
                whole = rendered(template, [USER, message], prompt=False)
            except Exception:  # noqa: BLE001 - a template's own complaint
                continue
            raw = whole[shared(prompt, whole) :]
            for end in TURN_ENDS:
                raw = "".join(raw.partition(end)[:2])
            if all(call.name in raw for call in scenario.calls):
                return raw
    return None


def shared(prompt: str, whole: str) -> int:
    """How much of the prompt the conversation begins with, in whole marks."""
    common = os.path.commonprefix([prompt, whole])  # noqa: RUF071 - of characters
    if len(common) == len(prompt):
        return len(common)
    opened = common.rfind("<")
    return opened if opened > common.rfind(">") else len(common)


def rendered(template: Any, messages: list[dict[str, Any]], *, prompt: bool) -> str:
    return template.render(
        messages=messages,
        tools=TOOLS,
        add_generation_prompt=prompt,
        bos_token="",
        eos_token="</s>",
        enable_thinking=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    cases = []
    for family, name in CHOSEN.items():
        source = (options.folder / f"{name}.jinja").read_text(encoding="utf-8")
        for scenario in SCENARIOS:
            raw = outputs(source, scenario)
            if raw is not None and (family, scenario.name) not in UNSAYABLE:
                cases.append({"family": family, "scenario": scenario.name, "text": raw})
    for family, render in RENDERERS.items():
        for scenario in SCENARIOS:
            raw = render(scenario)
            if raw is not None:
                cases.append({"family": family, "scenario": scenario.name, "text": raw})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    options.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(cases)} texts of {len({case['family'] for case in cases})} families")


if __name__ == "__main__":
    main()
