"""Rules for commands: prefixes, and examples that are checked when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.core.command_prefixes import covers, example_commands
from toolcrib.core.config import Config
from toolcrib.core.errors import ConfigError


def load(**rule: Any) -> Config:
    return Config.load({"run": {"rules": [rule]}})


@each_case(
    ("pattern", "words", "fits"),
    [
        (["git"], ["git", "push"], True),
        (["git", "push"], ["git"], False),
        (["git", ["push", "pull"]], ["git", "pull", "x"], True),
        (["git", ["push", "pull"]], ["git", "status"], False),
        (["git", "push"], ["git", None], None),
        (["git", "push"], [None, "pull"], False),
    ],
)
def test_prefixes(pattern: Any, words: Any, fits: bool | None) -> None:
    assert covers(pattern, words) is fits


def test_examples_are_split_like_commands() -> None:
    assert list(example_commands("a 'b c' && d|e;f")) == [["a", "b c"], ["d"], ["e"], ["f"]]


def test_right_examples_are_taken() -> None:
    config = load(
        pattern=["git", ["push", "pull"]],
        action="deny",
        match=["git push", "ls && git pull origin", "git 'push' x"],
        not_match=["git status", "echo git push", "gitk push"],
    )
    assert config.run.rules[0].action == "deny"


@each_case(
    ("examples", "reply"),
    [
        ({"match": ["git pull"]}, "'git pull' is not matched"),
        ({"not_match": ["ls; git push -f"]}, "'ls; git push -f' is matched"),
        ({"match": ["git 'push"]}, "cannot be read"),
    ],
)
def test_a_wrong_example_is_named(examples: dict[str, list[str]], reply: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(pattern=["git", "push"], action="ask", **examples)
    assert reply in caught.value.message
    assert "run.rules.0" in caught.value.message


@pytest.mark.parametrize("rule", [{"pattern": [], "action": "ask"}, {"pattern": ["x"]}])
def test_a_rule_is_whole(rule: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        load(**rule)


def test_rules_are_read_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[[run.rules]]\npattern = ["rm", ["-rf", "-fr"]]\naction = "deny"\n')
    assert Config.load(path=file).run.rules[0].pattern == ["rm", ["-rf", "-fr"]]
