"""Tool calls out of models' texts: how many are exact, how many are false, how long it takes.

    python -m bench.toolcalls [--peers PYTHON]

The texts are those of tests/toolcalls (corpus.json: rendered by models' templates; silent.py:
texts without a call). PYTHON is an interpreter whose environment has llm-router-utils
0.8.1 (SGLang's detectors, here asked in a fixed order until one finds calls). No parser is
told of which model a text is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.toolcalls.corpus import CASES  # noqa: E402
from tests.toolcalls.scenarios import TOOLS  # noqa: E402
from tests.toolcalls.texts_without_calls import SILENT  # noqa: E402

Calls = list[tuple[str, Any]]
Parse = Callable[[str], Calls]
SGLANG = (
    "deepseekv3", "deepseekv31", "deepseekv32", "deepseekv4", "kimik2", "kimik3", "gpt_oss",
    "gemma4", "mistral", "glm4_moe", "glm47_moe", "qwen3_coder", "qwen25", "hermes", "lfm2",
    "minicpm5", "internlm", "step3", "hunyuan", "gigachat3", "cohere_command4", "apertus2509",
    "dots", "pythonic", "llama32",
)  # fmt: skip
GROWING = (
    '<tool_call>{"name": "write_file", "arguments": {"path": "', "<tool_call>{", "word ",
    "<function=f><parameter=a>", "[TOOL_CALLS]", "[TOOL_CALLS]f", "```\n", "\\", "<think>x",
    "<tool_call>f<arg_key>a</arg_key><arg_value>", "<|tool_call>call:f{a:", "<tool_call>[f(a=x), ",
)  # fmt: skip
PIECE = 64
"""Characters that a stream is fed with at once."""


def ours() -> Parse:
    from toolcrib.toolcalls import parse_tool_calls

    return lambda text: [(c.name, c.arguments) for c in parse_tool_calls(text, TOOLS).calls]


def sglang() -> Parse:
    from importlib import import_module

    from llm_router_utils.sglang.srt.entrypoints.openai.protocol import Tool

    room = "llm_router_utils.sglang.srt.function_call"
    kinds = []
    for name in SGLANG:
        module = import_module(f"{room}.{name}_detector")
        kinds += [
            value
            for key, value in vars(module).items()
            if key.endswith("Detector") and getattr(value, "__module__", "") == module.__name__
        ][:1]
    tools = [Tool(**tool) for tool in TOOLS]

    def parse(text: str) -> Calls:
        for kind in kinds:
            try:
                detector = kind()
                if not detector.has_tool_call(text):
                    continue
                found = detector.detect_and_parse(text, tools)
            except Exception:  # noqa: BLE001 - counted as no call
                continue
            if found.calls:
                return [(c.name, json.loads(c.parameters)) for c in found.calls]
        return []

    return parse


PARSERS: dict[str, Callable[[], Parse]] = {"toolcrib": ours, "sglang": sglang}


def score(parse: Parse) -> dict[str, Any]:
    """Exact texts, false calls and times of one parser."""
    exact, false, families, times = 0, 0, {}, []
    for case in CASES:
        best = 9.0
        for _ in range(3):
            started = time.perf_counter()
            try:
                got = parse(case.text)
            except Exception:  # noqa: BLE001 - counted as no call
                got = []
            best = min(best, time.perf_counter() - started)
        times.append(best)
        right = got == case.wanted
        exact += right
        one, of = families.get(case.family, (0, 0))
        families[case.family] = (one + right, of + 1)
    for text in SILENT.values():
        try:
            false += bool(parse(text))
        except Exception:  # noqa: BLE001 - no call
            continue
    return {
        "exact": exact,
        "of": len(CASES),
        "false": false,
        "silent": len(SILENT),
        "median_us": 1e6 * median(times),
        "slowest_ms": 1e3 * max(times),
        "whole": sum(one == of for one, of in families.values()),
        "families": len(families),
    }


def streamed(text: str) -> None:
    from toolcrib.toolcalls import ToolCallStream

    stream = ToolCallStream(TOOLS)
    for start in range(0, len(text), PIECE):
        stream.feed(text[start : start + PIECE])
    stream.close()


def growth(parse: Parse) -> None:
    """How the time grows from a quarter of a million characters to a million."""
    for unit in GROWING:
        displayed = []
        for read in (parse, streamed):
            times = []
            for size in (250_000, 1_000_000):
                text = unit * (size // len(unit))
                started = time.process_time()
                read(text)
                times.append(time.process_time() - started)
            displayed.append(f"{times[1]:.2f} s, {times[1] / times[0]:.1f} times 250 KB")
        print(f"  {unit!r:.40}: 1 MB {displayed[0]}; streamed {displayed[1]}")


def show(name: str, found: dict[str, Any], base: float) -> None:
    print(
        f"{name}: {found['exact']} of {found['of']} texts exact, {found['whole']} of"
        f" {found['families']} families without a miss, {found['false']} false in"
        f" {found['silent']}; median {found['median_us'] / base:.2f}, slowest"
        f" {found['slowest_ms'] * 1000 / base:.1f} times toolcrib's median ({base:.0f} us)"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers")
    parser.add_argument("--as", dest="name", choices=list(PARSERS))
    options = parser.parse_args()
    if options.name:
        print(json.dumps(score(PARSERS[options.name]())))
        return
    parse = ours()
    found = score(parse)
    show("toolcrib", found, found["median_us"])
    for name in PARSERS if options.peers else ():
        if name == "toolcrib":
            continue
        done = subprocess.run(
            [options.peers, __file__, "--as", name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"{name}: not there ({done.stderr.strip().splitlines()[-1]})")
        else:
            show(name, json.loads(done.stdout.splitlines()[-1]), found["median_us"])
    growth(parse)


if __name__ == "__main__":
    main()
