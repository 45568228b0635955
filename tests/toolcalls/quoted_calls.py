"""A hundred texts of prose that quote calls: talk about models, logs and formats, no call."""

# ruff: noqa: RUF001 - texts as people write them

from __future__ import annotations

STRANGE = '{"name": "book_flight", "arguments": {"to": "Oslo"}}'
OFFERED = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
FORMS = (
    f"<tool_call>{STRANGE}</tool_call>",
    f"[TOOL_CALLS][{STRANGE}]",
    "<function=book_flight><parameter=to>Oslo</parameter></function>",
    '<tool_call name="book_flight"><args>{"to": "Oslo"}</args></tool_call>',
    "<tool_call>book_flight<arg_key>to</arg_key><arg_value>Oslo</arg_value></tool_call>",
    '<invoke name="book_flight"><parameter name="to">Oslo</parameter></invoke>',
    "<|tool_call_start|>[book_flight(to='Oslo')]<|tool_call_end|>",
    '<function_call>{"name": "book_flight", "arguments": {}}</function_call>',
    f"<|python_tag|>{STRANGE}<|eom_id|>",
    f"<tool_call>{STRANGE}</tool_call><tool_call>{STRANGE}</tool_call>",
)
"""Calls of a tool that is not offered."""
KNOWN_FORMS = (
    f"<tool_call>{OFFERED}</tool_call>",
    "<function=get_weather><parameter=city>Oslo</parameter></function>",
    f"<tools>{OFFERED}</tools>",
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>",
    '<tool_call name="get_weather"><args>{"city": "Oslo"}</args></tool_call>',
)
"""Calls of a tool that is offered, so that only quotation marks or code tell them apart."""
SENTENCES = (
    "A model that was trained on it writes {} when it wants a flight.",
    "In the log of yesterday I found {}, and then nothing for an hour.",
    "The answer began with {} and went on in prose.",
    "What you see there, {}, is not run by anybody.",
    "Why does it print {} instead of calling the tool?",
    "First comes {}; the result follows on the next line.",
    "{} is how older models ask for a flight.",
    "Two years ago this was {} – today it is plain JSON.",
    "Our parser took {} for text, which was a mistake!",
    "Das Modell schreibt {} und wartet dann.",
    "El modelo escribe {} y espera la respuesta.",
    "I said:\n\nIt wrote {} three times.\n\nThen it stopped.",
    "- the first line is {} as a rule\n- the second one is empty",
    "Nobody offered that tool (it wrote {} all the same), so it failed.",
    "An example of the format: {}",
)
QUOTING = (
    'The log says "{}" and nothing else.',
    "It printed “{}” to the screen.",
    "Es schrieb „{}“ in die Datei.",
    "Write `{}` and nothing else.",
    "The text («{}») was copied by hand.",
)
PROSE: list[str] = [
    *(
        sentence.format(FORMS[(3 * number + step) % len(FORMS)])
        for number, sentence in enumerate(SENTENCES)
        for step in range(5)
    ),
    *(sentence.format(form) for sentence in QUOTING for form in KNOWN_FORMS),
]
