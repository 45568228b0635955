"""`ask_user` at the library, and at a real terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.surfaces.cli.real_terminal import on_terminal
from tests.tools.files.test_tree_changes import refused
from toolcrib.core.context import Caller, Form
from toolcrib.toolbox import Toolbox


async def ask(box: Toolbox, answers: Mapping[str, Any] | None, **arguments: Any) -> Any:
    async def fill(form: Form) -> Mapping[str, Any] | None:
        assert form.message
        return answers

    return await box.call("ask_user", arguments, caller=Caller("test", fill=fill))


async def test_answers(box: Toolbox) -> None:
    done = await ask(box, {"answer1": " Blue "}, question="Which?", options=["Red", "Blue"])
    assert (done.text, done.data) == ("Blue", {"answers": ["Blue"]})
    none = await ask(box, None, questions=["Which?"])
    assert none.error.code == "needs_approval"
    await refused(box, "ask_user", "needs_approval", questions=["Which?"])
    alone = await box.call(
        "ask_user", {"questions": ["Which?"]}, caller=Caller("test", unattended=True)
    )
    assert alone.error is not None
    assert (alone.error.code, "yourself" in alone.error.hint) == ("denied", True)


@each_case(
    "choices",
    ["red, blue", "red,blue", "red; blue", "1. red\n2. blue", "red | blue", '["red", "blue"]'],
)
async def test_choices_in_one_text(box: Toolbox, choices: str) -> None:
    seen: list[Form] = []

    async def fill(form: Form) -> Mapping[str, Any] | None:
        seen.append(form)
        return {"answer1": "red"}

    for name in ("choices", "options"):
        arguments = {"question": "Which?", name: choices}
        await box.call("ask_user", arguments, caller=Caller("test", fill=fill))
        assert seen.pop().schema["properties"]["answer1"]["enum"] == ["red", "blue"]
    for one in ("1,5", ["Yes, delete it"]):
        arguments = {"question": "Which?", "choices": one}
        await box.call("ask_user", arguments, caller=Caller("test", fill=fill))
        assert len(seen.pop().schema["properties"]["answer1"]["enum"]) == 1


@each_case(
    "arguments",
    [
        {"questions": []},
        {"questions": [" "]},
        {"questions": ["x"] * 11},
        {"questions": ["x" * 1001]},
        {"questions": ["a", "b"], "choices": ["c"]},
        {"questions": ["What is your password?"]},
        {"questions": ["Enter the API key"]},
        {"questions": ["Wie lautet dein Passwort?"]},
        {"questions": ["\u4f60\u7684\u5bc6\u7801\u662f\u4ec0\u4e48\uff1f"]},
    ],
)
async def test_what_is_not_asked(box: Toolbox, arguments: dict[str, Any]) -> None:
    result = await ask(box, {"answer1": "x"}, **arguments)
    assert result.error is not None
    assert result.error.code == "bad_input"
    assert result.error.hint


async def test_words_about_secrets_are_asked(box: Toolbox) -> None:
    for question in ("Should the form have a password field?", "Which token should win?"):
        assert (await ask(box, {"answer1": "yes"}, questions=[question])).text == "yes"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.timeout(120)
def test_at_a_terminal(tmp_path: Path) -> None:
    env = {
        "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TOOLCRIB_DATA": str(tmp_path / "data"),
        "TOOLCRIB_CONFIG": str(tmp_path / "config.toml"), "LANG": "C.UTF-8",
    }  # fmt: skip
    command = [sys.executable, "-I", "-m", "toolcrib", "call", "ask_user", "--json-args"]
    given = '{"questions": ["Which colour?"], "choices": ["Red", "Blue"]}'
    with on_terminal([*command, given], tmp_path, env) as terminal:
        terminal.until("1. Red")
        terminal.until("Answer: ")
        terminal.type("9\n")
        terminal.until("A number from 1 to 2")
        terminal.until("Answer: ")
        terminal.type("2\n")
        terminal.until("Blue")
        assert terminal.process.wait() == 0
    with on_terminal([*command, '{"questions": ["Who?", "When?"]}'], tmp_path, env) as terminal:
        terminal.until("Who?: ")
        terminal.type("Ann\n")
        terminal.until("When?: ")
        terminal.type("\n")
        terminal.until("- (no answer)")
        assert terminal.process.wait() == 0
