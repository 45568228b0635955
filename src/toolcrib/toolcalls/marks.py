"""Marks of the formats as data: what opens and closes calls and reasoning; one pattern of all.

A block is opened by a mark, holds one or more items, and is closed by one of its marks. What
an item is (JSON, tags, a name and JSON, Python, Gemma's own) is seen from how it begins, so
that formats which share a mark need not be distinguished.
"""

# ruff: noqa: RUF001 - the marks of some formats have such characters

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from toolcrib.toolcalls.growing_text import MarkSet, branches, joined

# Marks that people write about too: where no call follows, they are text like any other.
TAG_BLOCKS: dict[str, tuple[str, ...]] = {
    "<tool_call>": ("</tool_call>", "<|/tool_call|>"),  # Hermes, Qwen, GLM, Nemotron, Granite 4
    "<tool_calls>": ("</tool_calls>",),  # MiniMax M1, Apriel, Jamba
    "<TOOLCALL>": ("</TOOLCALL>",),  # Nemotron Nano v2
    "<tools>": ("</tools>",),
    "<tool>": ("</tool>",),
    "<function-call>": ("</function-call>",),
    "<function_call>": ("</function_call>",),  # Granite 20B
    "<function_calls>": ("</function_calls>",),  # OLMo 3, Anthropic
    "<toolcall>": ("</toolcall>",),
    "<tool-call>": ("</tool-call>",),
    "<seed:tool_call>": ("</seed:tool_call>",),  # Seed-OSS
    "<minimax:tool_call>": ("</minimax:tool_call>",),  # MiniMax M2
    "<atem:function_calls>": ("</atem:function_calls>",),  # muse
    "<dots_function_call>": ("</dots_function_call>",),
    "<iquest_tool_call>": ("</iquest_tool_call>",),
    "<start_function_call>": ("<end_function_call>",),  # FunctionGemma
}

# Marks that only ever stand at a call: where none follows, they are dropped.
TOKEN_BLOCKS: dict[str, tuple[str, ...]] = {
    "[TOOL_CALLS]": ("[/TOOL_CALLS]",),  # Mistral
    "[TOOL_CALL]": ("[/TOOL_CALL]",),  # LM Studio
    "[TOOL_REQUEST]": ("[END_TOOL_REQUEST]", "[/TOOL_REQUEST]"),
    "<|tool_call>": ("<tool_call|>",),  # Gemma 4
    "<|tool_call|>": ("<|/tool_call|>", "<|end_tool_call|>"),  # Granite 3
    "<|python_tag|>": ("<|eom_id|>",),  # Llama
    "<|tool_call_start|>": ("<|tool_call_end|>",),  # LFM2
    "<|tool_call_begin|>": ("<|tool_call_end|>",),  # Kimi K2
    "<｜tool▁call▁begin｜>": ("<｜tool▁call▁end｜>",),  # DeepSeek
    "<｜tool_call_begin｜>": ("<｜tool_call_end｜>",),  # DeepSeek R1, Step-3
    "<｜tool call begin｜>": ("<｜tool call end｜>",),
    "<|tool▁call▁begin|>": ("<|tool▁call▁end|>",),  # DeepSeek, the bars in ASCII
    # Around calls, but R1 and Kimi K2 leave out the mark of the first call now and then.
    "<｜tool▁calls▁begin｜>": ("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
    "<|tool_calls_section_begin|>": ("<|tool_call_end|>", "<|tool_calls_section_end|>"),
    "<|python_start|>": ("<|python_end|>",),  # Llama 4
    "<|START_ACTION|>": ("<|END_ACTION|>",),  # Cohere
    "<|tools_prefix|>": ("<|tools_suffix|>",),  # Apertus
    "<|action_start|>": ("<|action_end|>",),  # InternLM
    "<|tool_call:begin|>": ("<|tool_call:end|>",),  # Solar
    "<tool_call:opensource>": ("</tool_call:opensource>",),  # Hunyuan
    "<ifm|tool_call>": ("</ifm|tool_call>",),
    "<|function_call|>": ("<|message_sep|>",),  # GigaChat
    "function call<|role_sep|>": ("<|message_sep|>",),
    "<|content_invoke_tool_json|>": ("<|end_message|>",),
    "✿FUNCTION✿:": ("✿RESULT✿", "✿RETURN✿"),  # Qwen-Agent
    "✿FUNCTION✿：": ("✿RESULT✿", "✿RETURN✿"),
    "functools[": (),  # Phi-4; the bracket belongs to the item
}
OPENING_ITEMS = {"functools["}
"""Marks whose last character is the first of the item."""

# What may close a call that is written as tags without a block.
AFTER_TAGS = (
    "</tool_call>", "</tool_calls>", "</seed:tool_call>", "</minimax:tool_call>",
    "</function_calls>",
)  # fmt: skip

# Around blocks and messages. They say nothing that their content does not.
WRAPPERS = (
    "<|tool_calls_section_end|>", "<|tool_call_section_begin|>", "<|tool_call_section_end|>",
    "<｜tool▁calls▁end｜>", "<|tool▁calls▁begin|>", "<|tool▁calls▁end|>", "<|tool_calls_begin|>",
    "<|tool_calls_end|>", "<｜tool_calls_begin｜>", "<｜tool_calls_end｜>",
    "<｜tool calls begin｜>", "<｜tool calls end｜>",
    "<｜tool\\_calls\\_begin｜>", "<｜tool▁calls｜>",
    "<tool_calls:opensource>", "</tool_calls:opensource>",
    "<｜DSML｜function_calls>", "</｜DSML｜function_calls>",
    "<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", "<|DSML|function_calls>",
    "</|DSML|function_calls>", "<|DSML|tool_calls>", "</|DSML|tool_calls>", "<｜DSML｜ calls>",
    "</｜DSML｜ calls>", "<｜GCML｜tool_calls>", "</｜GCML｜tool_calls>", "<ifm|tool_calls>",
    "</ifm|tool_calls>", "<|tool_calls|>", "<|calls|>", "]<]minimax[>[<tool_call>",
    "]<]minimax[>[</tool_call>", "<|open|>tools<|sep|>", "<|close|>tools<|sep|>",
    "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>",
    "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>",
    "<|message_model|>", "<|begin|>assistant", "<SPECIAL_11>Assistant",
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "<|content_text|>",
)  # fmt: skip

# Ends of a turn: dropped where only such follow, or a call went before.
TURN_ENDS = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>",
    "<|end_of_msg|>", "<|END_OF_TURN_TOKEN|>", "<|role_end|>", "<|eot|>", "<|eom|>",
    "<|message_sep|>", "<|end_message|>", "<|tool_response>", "<|observation|>", "<|user|>",
    "<end_of_turn>", "<end_of_sentence>", "<turn|>", "<seed:eos>", "<｜end▁of▁sentence｜>",
    "<｜hy_eos:opensource｜>", "<SPECIAL_12>", "[e~[", "[END FINAL RESPONSE]", "<sep>",
    "</assistant>", "</s>",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TagFormat:
    """A call written as tags.

    The header of the call and of an argument stands between `opening` and `end`.
    """

    opening: str
    close: str
    argument: str
    argument_close: str
    end: str = ">"
    exact: bool = False  # white space of a value is the value's own
    plain: bool = False  # the form has no mark of its own: only for offered tools
    nested: str = ""  # before each tag where values are elements themselves


def _invoke(prefix: str, *, exact: bool = False, plain: bool = False, gap: str = "") -> TagFormat:
    return TagFormat(
        f"<{prefix}{gap}invoke name=",
        f"</{prefix}{gap}invoke>",
        f"<{prefix}{gap}parameter name=",
        f"</{prefix}{gap}parameter>",
        exact=exact,
        plain=plain,
    )


TAG_FORMATS = (
    TagFormat(
        "<function=", "</function>", "<parameter=", "</parameter>"
    ),  # Qwen, Seed, Functionary
    # The name as an attribute of the block's own tag.
    TagFormat("<tool_call name=", "</tool_call>", "<parameter name=", "</parameter>", plain=True),
    TagFormat(
        "<function_call name=", "</function_call>", "<parameter name=", "</parameter>", plain=True
    ),
    TagFormat("<function name=", "</function>", "<param name=", "</param>", plain=True),  # MiniCPM
    _invoke("", plain=True),  # MiniMax M2, dots, Anthropic
    _invoke("antml:"),
    _invoke("atem:"),
    _invoke("steptml:", exact=True),
    _invoke("｜DSML｜", exact=True),  # DeepSeek V3.2, V4
    _invoke("|DSML|", exact=True),
    _invoke("｜DSML｜", exact=True, gap=" "),
    _invoke("｜GCML｜", exact=True),
    TagFormat(
        "<|open|>call tool=",
        "<|close|>call<|sep|>",
        "<|open|>argument key=",
        "<|close|>argument<|sep|>",
        end="<|sep|>",
        exact=True,
    ),  # Kimi K3
    TagFormat(
        "]<]minimax[>[<invoke name=", "]<]minimax[>[</invoke>", "", "", nested="]<]minimax[>["
    ),  # MiniMax M3
)


@dataclass(frozen=True, slots=True)
class PairFormat:
    """Arguments written as a key and a value after the name."""

    key: str
    key_close: str
    value: str
    value_close: str


PAIR_FORMATS = (
    PairFormat("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),  # GLM, Ling, Laguna
    PairFormat(
        "<arg_key:opensource>",
        "</arg_key:opensource>",
        "<arg_value:opensource>",
        "</arg_value:opensource>",
    ),  # Hunyuan
    PairFormat("<ifm|arg_key>", "</ifm|arg_key>", "<ifm|arg_value>", "</ifm|arg_value>"),  # K2 v3
)
NAME_ENDS = ("<tool_sep:opensource>", "<tool_sep>", "<｜tool▁sep｜>", "<｜tool_sep｜>")
"""What may stand between a name and the pairs."""

# Between a name and its JSON.
NAME_FIRST = (
    "<｜tool▁sep｜>", "<｜tool_sep｜>", "<｜tool sep｜>", "<|tool▁sep|>", "<|tool_sep|>",
)  # fmt: skip
"""After these a name may still follow: `function<｜tool▁sep｜>NAME`."""
NAME_SEPARATORS = (
    *NAME_FIRST, "<|tool_call_argument_begin|>", "<|tool_call:args|>", "[ARGS]", "✿ARGS✿:",
    "✿ARGS✿：",
)  # fmt: skip

# Reasoning, from its opening to its closing mark.
REASONING_MARKS: dict[str, tuple[str, ...]] = {
    "<think>": ("</think>",),
    "<thinking>": ("</thinking>",),
    "<thought>": ("</thought>",),
    "<reasoning>": ("</reasoning>",),
    "<seed:think>": ("</seed:think>",),
    "<mm:think>": ("</mm:think>",),
    "<think:opensource>": ("</think:opensource>",),
    "<ifm|think>": ("</ifm|think>",),
    "<ifm|think_fast>": ("</ifm|think_fast>",),
    "<ifm|think_faster>": ("</ifm|think_faster>",),
    "[THINK]": ("[/THINK]",),
    "◁think▷": ("◁/think▷",),
    "<|START_THINKING|>": ("<|END_THINKING|>",),
    "<|begin_of_thought|>": ("<|end_of_thought|>",),
    "<|inner_prefix|>": ("<|inner_suffix|>",),
    "<|channel>thought": ("<channel|>",),
    "<|open|>think<|sep|>": ("<|close|>think<|sep|>",),
    "<|think|>": ("<|end|>",),
    "<|content_thinking|>": ("<|end_message|>",),
}
REASONING_ENDS = (
    "</think>", "</thinking>", "</seed:think>", "</mm:think>", "</think:opensource>",
    "</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>", "[/THINK]", "◁/think▷",
    "<|END_THINKING|>", "<|close|>think<|sep|>", "<channel|>", "[BEGIN FINAL RESPONSE]",
)  # fmt: skip
"""Closing marks that say, without an opening one, that all before them was reasoning."""

# Headers of gpt-oss whose marks a server has taken out: `analysisHm.assistantfinalHello`.
STRIPPED = ("assistantfinal", "assistantcommentary", "assistantanalysis")
STRIPPED_FIRST = "analysis"

# Messages of gpt-oss, and of muse, whose messages have no channel.
HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>")
HARMONY_ENDS = ("<|end|>", "<|call|>", "<|return|>", "<|eom|>", "<|eot|>")


Kind = Literal[
    "block", "tags", "thought", "orphan", "around", "ending", "closer", "harmony", "arrow",
    "stripped",
]  # fmt: skip


def _kinds() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for group in (TAG_BLOCKS, TOKEN_BLOCKS, REASONING_MARKS):
        for closers in group.values():
            kinds |= dict.fromkeys(closers, "closer")
    kinds |= dict.fromkeys(("</function>", "</invoke>", "</tool_call>"), "closer")
    kinds |= dict.fromkeys(TURN_ENDS, "ending")
    kinds |= dict.fromkeys(REASONING_ENDS, "orphan")
    kinds |= dict.fromkeys(WRAPPERS, "around")
    kinds |= dict.fromkeys(REASONING_MARKS, "thought")
    kinds |= dict.fromkeys((*HARMONY, *HARMONY_ENDS), "harmony")
    kinds |= dict.fromkeys((*TAG_BLOCKS, *TOKEN_BLOCKS), "block")
    kinds |= dict.fromkeys(STRIPPED, "stripped")
    kinds[">>>"] = "arrow"
    return kinds | dict.fromkeys((tags.opening for tags in TAG_FORMATS), "tags")


MARK_KINDS = _kinds()
IS_TAG = frozenset(mark for mark in MARK_KINDS if re.fullmatch(r"</?[a-z_:\-A-Z]+[>=]?.*", mark))
"""Marks that look like tags of some document: people write about them."""
CLOSERS = {mark: joined(*ends) for mark, ends in (TAG_BLOCKS | TOKEN_BLOCKS).items()}

LINE = r"\n[ \t]{0,40}(?:```|~~~|Action:"
ANY = "|".join(branches(MARK_KINDS))
TRIGGER = re.compile(rf"{ANY}|{LINE}|[\[{{])")
LATER = re.compile(f"{ANY}|{LINE})")
"""After a long text no brackets at the beginning of a line are calls."""
MARKS = MarkSet((*MARK_KINDS, *(tags.close for tags in TAG_FORMATS)))
"""All of them. Who looks for some looks for all and passes over the others: to make a pattern
of so many takes longer than to read a text."""
LINE_START = re.compile(r"\n[ \t]{0,40}(?:`{1,2}|~{1,2}|A(?:c(?:t(?:i(?:on?)?)?)?)?)?\Z")


def partial_mark_start(text: str, at: int) -> int:
    """The place from which on the text may be the beginning of a mark."""
    start, size = MARKS.begun(text, at), len(text)
    if start < size:
        return start
    line = text.rfind("\n", max(at, size - 64))
    return line if line >= 0 and LINE_START.match(text, line) else size
