"""`ask_user`: questions to the person behind the call."""

from __future__ import annotations

import re
from typing import Annotated, Any

from toolcrib.core.context import Ctx, Form
from toolcrib.core.errors import BadInput, Denied, NeedsApproval
from toolcrib.core.result import Result
from toolcrib.core.tool import NONE, Param, other_names, tool

MAX_QUESTIONS = 10
MAX_CHOICES = 50
MAX_CHARS = 1000
IN_YOUR_ANSWER = "Put the question into your answer and end your turn: the user answers there."
NOBODY = "Nobody is there. Decide yourself, and say so in your answer."
_PRIVATE = (
    r"(?:password|passwort|passphrase|kennwort|contrase\u00f1a|\u5bc6[\u7801\u78bc]|cvv|pin code|"
    r"(?:api|private|secret|access)[ -]?(?:key|token)|credit card number)s?"
)
# A question for a secret itself: no form asks for one, as the host and its model would see it.
_YOUR_SECRET = re.compile(
    r"(?:\b(?:your|dein\w*|ihr\w*|tus?|sus?)\s+(?:\S+\s+){0,3}|[\u4f60\u60a8]\u7684?\S{0,8})"
    + _PRIVATE,
    re.IGNORECASE,
)
_BARE_SECRET = re.compile(
    rf"(?:(?:enter|type|paste|give me|send)\s+)?(?:(?:the|a|an)\s+)?{_PRIVATE}\W*$", re.IGNORECASE
)


_MARK = re.compile(r"^(?:[-*\u2022]|\d{1,2}[.)])\s+")
_BETWEEN = (r"\n", r";", r"\|", r",\s+|,(?=\D)")


def _adapt(arguments: dict[str, Any]) -> None:
    """Choices that stand in one text: a line each, or between semicolons, bars or commas."""
    for name in ("choices", "options", "suggestions"):
        text = arguments.get(name)
        if not isinstance(text, str) or text.lstrip().startswith("["):
            continue
        mark = next((mark for mark in _BETWEEN if re.search(mark, text.strip())), None)
        if mark:
            parts = re.split(mark, text)
            arguments[name] = [_MARK.sub("", part.strip()) for part in parts if part.strip()]


@tool(
    group="ui",
    rights=NONE,
    keywords=("question", "answer", "choose", "confirm", "clarify", "human", "input", "form"),
    aliases=("ask_question", "ask_followup_question", "ask_human", "request_user_input"),
    argument_aliases=other_names(
        questions=("question", "prompt", "message"), choices=("options", "follow_up", "suggestions")
    ),
    argument_adapter=_adapt,
)
async def ask_user(
    questions: Annotated[list[str], Param("One or a few.")],
    choices: Annotated[list[str] | None, Param("Answers to choose from.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Ask the user and wait for the answer.

    Use it where going on the wrong way would cost much. `choices` is for a single question.
    Never ask for passwords or keys.
    """
    wanted = [" ".join(question.split()) for question in questions]
    wanted = [question for question in wanted if question]
    options = list(dict.fromkeys(choice.strip() for choice in choices or () if choice.strip()))
    _check(wanted, options)
    if ctx.caller.fill is None:
        if ctx.caller.unattended:
            raise Denied("The user cannot be asked from here.", hint=NOBODY)
        raise NeedsApproval("The user cannot be asked from here.", hint=IN_YOUR_ANSWER)
    answers = await ctx.caller.fill(_form(wanted, options))
    if answers is None:
        raise NeedsApproval("The user did not answer.", hint=IN_YOUR_ANSWER)
    given = [
        str(answers.get(f"answer{number}", "")).strip() for number in range(1, len(wanted) + 1)
    ]
    if len(wanted) == 1:
        text = given[0] or "(an empty answer)"
    else:
        pairs = zip(wanted, given, strict=True)
        text = "\n".join(f"{question}\n- {answer or '(no answer)'}" for question, answer in pairs)
    return Result(text, {"answers": given})


def _check(questions: list[str], choices: list[str]) -> None:
    if not questions:
        raise BadInput("There is no question.", hint='Such as questions=["Which colour?"].')
    if len(questions) > MAX_QUESTIONS or len(choices) > MAX_CHOICES:
        raise BadInput(
            f"Up to {MAX_QUESTIONS} questions or {MAX_CHOICES} choices are asked at once.",
            hint="Ask what matters most.",
        )
    if any(len(text) > MAX_CHARS for text in (*questions, *choices)):
        raise BadInput(f"A question has up to {MAX_CHARS:,} characters.", hint="Ask more briefly.")
    if choices and len(questions) > 1:
        raise BadInput("Choices are for one question.", hint="Ask them one call after the other.")
    if any(_BARE_SECRET.match(text) or _YOUR_SECRET.search(text) for text in questions):
        raise BadInput(
            "Secrets are not asked for here: the host and the model would see them.",
            hint="Tell the user which variable or file to put it into, and go on by its name.",
        )


def _form(questions: list[str], choices: list[str]) -> Form:
    fields: dict[str, Any] = {}
    for number, question in enumerate(questions, 1):
        title = "Answer" if len(questions) == 1 else question
        fields[f"answer{number}"] = {"type": "string", "title": title}
    if choices:
        fields["answer1"]["enum"] = choices
    message = questions[0] if len(questions) == 1 else "Some questions:"
    return Form(message, {"type": "object", "properties": fields, "required": ["answer1"]})
