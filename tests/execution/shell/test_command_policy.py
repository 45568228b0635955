"""Judging commands: both corpora, the rules, and what hides a command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.execution.shell.corpora import HOSTILE, READING, WORKING
from toolcrib.core.settings import CommandRule
from toolcrib.core.tool import Decision
from toolcrib.execution.command_policy import shell_decision
from toolcrib.execution.shell_parser import read_script

pytestmark = pytest.mark.rows("C183", "X15")
OPEN = "it runs without a boundary"


def may_read(word: str) -> bool:
    """Whether a word names a file of a workspace without protected ones but .env."""
    parts = word.split("/")
    return not word.startswith(("/", "~")) and ".." not in parts and not parts[-1].startswith(".e")


def decision_on(text: str, *rules: CommandRule, why: str = "") -> Decision:
    return shell_decision(text, rules, open_why=why, may_read=may_read)


def rule(action: str, *pattern: str | list[str]) -> CommandRule:
    return CommandRule.model_validate({"pattern": list(pattern), "action": action})


def test_the_corpora_are_large() -> None:
    assert len(set(HOSTILE)) >= 150
    assert len(set(READING + WORKING)) >= 100


@pytest.mark.parametrize("text", HOSTILE)
def test_what_may_do_harm_is_asked_about_without_a_boundary(text: str) -> None:
    assert decision_on(text, why=OPEN).action == "ask"


@pytest.mark.parametrize("text", READING)
def test_what_only_reads_runs_without_a_boundary(text: str) -> None:
    decision = decision_on(text, why=OPEN)
    assert decision.action == "allow", decision.reason


@pytest.mark.parametrize("text", [*HOSTILE, *READING, *WORKING])
def test_a_boundary_decides_alone(text: str) -> None:
    assert decision_on(text).action == "allow"


@pytest.mark.parametrize("text", WORKING)
def test_no_word_is_refused(text: str) -> None:
    deny = rule("deny", ["sudo", "shutdown"])
    assert decision_on(text, deny).action != "deny"
    assert decision_on(text, why=OPEN).action == "ask"


PUSHES = r"""
git push
git push origin main
/usr/bin/git push
git -C . push
git -c a=b --no-pager push origin
git --git-dir=.git -p push
ls && git push
ls; git push
ls | git push
(git push)
$(git push)
echo `git push`
echo "$(git push)"
cat <(git push)
sudo git push
sudo -u bob git push
env X=1 git push
X=1 git push
timeout 5 git push
nohup git push &
time git push
xargs git push
sh -c 'git push'
bash -lc "ls && git push"
sudo bash -c 'git push'
eval git push
eval 'git push'
trap 'git push' EXIT
find . -exec git push \;
find . -exec sh -c 'git push' \;
if true; then git push; fi
for i in 1; do git push; done
f() { git push; }; f
case x in x) git push;; esac
coproc git push
g''it push
\git push
$'\x67it' push
"git" 'push'
git \
  push
su -c 'git push'
""".strip("\n")


@pytest.mark.parametrize("text", PUSHES.replace("git \\\n", "git ").split("\n"))
def test_deny_matches_anywhere(text: str) -> None:
    decision = decision_on(text, rule("deny", "git", "push"), rule("allow", "git"))
    assert decision == Decision("deny", "rule 1 of run.rules (git push)", explicit=True)


@pytest.mark.parametrize(
    "text",
    [
        "$X push",
        "git $X",
        'git "$(echo push)"',
        "$(echo git) push",
        "eval $X",
        'sh -c "$X"',
        "echo push | xargs git",
        "echo git push | sh",
        "bash <<EOF\n$X\nEOF",
        "gi\\\nt push",
        "git push '",
        "g? push",
        "source <(echo git push)",
    ],
)
def test_what_may_be_denied_is_asked_about(text: str) -> None:
    decision = decision_on(text, rule("deny", "git", "push"))
    assert decision.action in ("ask", "deny")
    assert decision.explicit


@pytest.mark.parametrize(
    "text", ["git pull", "git status", "echo git push", "pushgit", "git -h push"]
)
def test_what_is_not_denied_runs(text: str) -> None:
    assert decision_on(text, rule("deny", "git", "push")).action == "allow"


def test_the_strictest_rule_holds() -> None:
    rules = [
        rule("allow", "git"),
        rule("ask", "git", "push"),
        rule("deny", "git", "push", ["-f", "--force"]),
    ]
    assert decision_on("git push", *rules).action == "ask"
    assert decision_on("git push -f", *rules).action == "deny"
    assert decision_on("git push --force", *rules).action == "deny"
    assert decision_on("git pull", *rules, why=OPEN).action == "allow"
    assert decision_on("git pull && rm x", *rules, why=OPEN).action == "ask"


def test_an_allowed_command_is_still_looked_at_around() -> None:
    allow = rule("allow", "npm", ["test", "run"])
    assert decision_on("npm test", allow, why=OPEN) == Decision(
        "allow", "it only reads, or a rule allows it", explicit=True
    )
    assert decision_on("npm test > out.txt", allow, why=OPEN).action == "ask"
    assert decision_on("X=1 npm test", allow, why=OPEN).action == "ask"
    assert decision_on("npm test $(rm x)", allow, why=OPEN).action == "ask"
    assert decision_on("sudo npm test", allow, why=OPEN).action == "ask"
    assert decision_on("./npm test", allow, why=OPEN).action == "ask"


CHARS = ["\u00e9", "\u0100", "\u2603", "\uffff", "\U0001f600", "\U0010ffff"]


@pytest.mark.parametrize("char", CHARS)
@pytest.mark.parametrize(
    "text",
    ["echo {%}", "echo {%,b}", "a%b <<%\nx\n%\n", "cat '%' \"%\" >%", "%=% $% ${%}", "{%..5}"],
)
def test_characters_beyond_the_tables_of_c(text: str, char: str) -> None:
    """The scanner of the grammar reads beyond them: the process must not get to that."""
    script = read_script(text.replace("%", char))
    plain = read_script(text.replace("%", "\u00e9"))
    values = [[(v or "").replace(char, "\u00e9") for v in c.values] for c in script.commands]
    assert values == [[v or "" for v in c.values] for c in plain.commands]


def test_words_keep_their_characters() -> None:
    (command,) = read_script("echo a\U0001f600b '\u2603 \u00e9' \"x\u0100\" end").commands
    assert command.values == ("echo", "a\U0001f600b", "\u2603 \u00e9", "x\u0100", "end")


@given(st.text(max_size=200))
def test_nothing_makes_it_fail(text: str) -> None:
    read_script(text)
    assert decision_on(text, rule("deny", "x"), why=OPEN).action in ("allow", "ask", "deny")


@given(st.text(alphabet="ab'\"\\$(){}|;&<>` \n*?[]!#=~-", max_size=60))
def test_shell_signs_do_not_make_it_fail(text: str) -> None:
    read_script(text)


def test_deep_texts_end() -> None:
    for text in ("$(" * 3000, "(" * 3000, "sh -c '" * 50, "sudo " * 5000, "{" * 3000, '"$(' * 2000):
        assert decision_on(f"{text}x", why=OPEN).action == "ask"
