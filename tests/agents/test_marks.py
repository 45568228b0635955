"""Marks in an answer count where they are meant, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.agents.reply import read_markers

pytestmark = pytest.mark.rows("E117", "E124")


@each_case(
    ("content", "end", "text"),
    [
        ("done\nTASK_COMPLETED", "completed", "done"),
        ("done\n**TASK_COMPLETED**\n", "completed", "done"),
        ("TASK_FAILED: no access", "failed", "no access"),
        ("a\nTASK_FAILED\nb\nTASK_COMPLETED", "completed", "a\nb"),
        ("I write TASK_COMPLETED at the end", "", "I write TASK_COMPLETED at the end"),
        ("```\nTASK_COMPLETED\n```", "", "```\nTASK_COMPLETED\n```"),
        ("~~~\nTASK_FAILED", "", "~~~\nTASK_FAILED"),
        ("````\n```\nTASK_FAILED\n````\nok", "", "````\n```\nTASK_FAILED\n````\nok"),
        ("`TASK_COMPLETED`", "", "`TASK_COMPLETED`"),
        ("> TASK_COMPLETED", "", "> TASK_COMPLETED"),
        ("TASK_COMPLETEDLY", "", "TASK_COMPLETEDLY"),
    ],
)
def test_the_end(content: str, end: str, text: str) -> None:
    marked = read_markers(content)
    assert (marked.end, marked.text) == (end, text)


@each_case(
    ("content", "handoff", "text"),
    [
        ("a [HANDOFF_MESSAGE]x[/HANDOFF_MESSAGE] b", "x", "a  b"),
        ("a [HANDOFF_MESSAGE] to the end", "to the end", "a"),
        ("[handoff_message]x[/handoff_message]", "x", ""),
        (
            "[HANDOFF_MESSAGE]1[/HANDOFF_MESSAGE]a[HANDOFF_MESSAGE]2[/HANDOFF_MESSAGE]",
            "2",
            "a",
        ),
        ("[HANDOFF_MESSAGE]1 [HANDOFF_MESSAGE]2[/HANDOFF_MESSAGE]b", "2", "b"),
        ("[HANDOFF_MESSAGE]1[/HANDOFF_MESSAGE][HANDOFF_MESSAGE]  ", "1", ""),
        ('{"handoff_message": "x"}', "x", '{"handoff_message": "x"}'),
        ('{"result": "r", "handoff": "x"}', "x", "r"),
        ('a\n```json\n{"handoff": "x"}\n```', "x", 'a\n```json\n{"handoff": "x"}\n```'),
        ('{"handoff": 3}', "", '{"handoff": 3}'),
    ],
)
def test_the_handoff(content: str, handoff: str, text: str) -> None:
    marked = read_markers(content)
    assert (marked.handoff, marked.text) == (handoff, text)


PARTS = st.sampled_from(
    [
        "[HANDOFF_MESSAGE]",
        "[/HANDOFF_MESSAGE]",
        "\nTASK_FAILED\n",
        "```",
        "\n",
        "text",
        "{",
        '"handoff"',
    ]
)


@given(st.lists(PARTS, max_size=30).map("".join))
def test_nothing_raises_and_marks_never_stay(content: str) -> None:
    marked = read_markers(content)
    assert "[HANDOFF_MESSAGE]" not in marked.text


def test_long_answers_take_no_long_time() -> None:
    for piece in ("[HANDOFF_MESSAGE]", "```\n", "TASK_COMPLETED\n", "[/HANDOFF_MESSAGE]", "* "):
        read_markers(piece * (300_000 // len(piece)))
