"""Allow, ask, deny, and taint."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.middleware.conftest import Make
from toolcrib.core.context import Caller, Ctx, Question, SiteApproval
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Decision, tool
from toolcrib.middleware.known_links import canonical, links_of
from toolcrib.net.egress.url import complete_url, parse_url
from toolcrib.state.approvals import Approvals
from toolcrib.state.redaction import redact_question
from toolcrib.state.results import Results
from toolcrib.state.sessions import Sessions
from toolcrib.toolbox import Toolbox


def code(result: Any) -> str | None:
    return result.error.code if result.error else None


class Person:
    """Answers questions as told, and remembers them."""

    def __init__(self, answer: bool | None) -> None:
        self.answer = answer
        self.requested: list[Question] = []

    async def ask(self, question: Question) -> bool | None:
        self.requested.append(question)
        return self.answer

    @property
    def caller(self) -> Caller:
        return Caller("test", ask=self.ask)


@pytest.mark.rows("D32")
async def test_a_denied_call_says_which_rule(make: Make) -> None:
    box = make(policy={"rules": [{"action": "deny", "tool": "echo"}]})
    result = await box.call("echo", {"text": "hi"})
    assert code(result) == "denied"
    assert result.error is not None
    assert "rule 1 of policy.rules" in result.error.message


async def test_a_target_rule_sees_the_url(make: Make) -> None:
    box = make(policy={"rules": [{"action": "deny", "target": "https://example.org/*"}]})
    assert code(await box.call("page", {"url": "https://example.org/x"})) == "denied"
    assert code(await box.call("page", {"url": "https://example.com/x"})) is None


@pytest.mark.parametrize(
    ("answer", "expected"), [(True, None), (False, "denied"), (None, "needs_approval")]
)
async def test_a_person_is_asked(box: Toolbox, answer: bool | None, expected: str | None) -> None:
    person = Person(answer)
    result = await box.call("post", {"to": "example.org"}, caller=person.caller)
    assert code(result) == expected
    (question,) = person.requested
    assert question.tool == "post"
    assert "example.org" in question.summary


async def test_an_answer_holds_for_one_call(box: Toolbox) -> None:
    person = Person(answer=True)
    for _ in range(2):
        await box.call("post", {"to": "example.org"}, caller=person.caller)
    assert len(person.requested) == 2


@pytest.mark.parametrize(
    ("scope", "after"),
    [
        ("once", [None, "needs_approval", "needs_approval"]),
        ("session", [None, None, "needs_approval"]),
        ("rule", [None, None, None]),
    ],
)
async def test_approval_lets_the_same_call_through(
    box: Toolbox, scope: Any, after: list[str | None]
) -> None:
    first = await box.call("post", {"to": "example.org"})
    assert code(first) == "needs_approval"
    assert first.error is not None
    request = first.error.details["id"]
    assert f"toolcrib approve {request}" in first.error.hint
    await box.use(Approvals).grant(request, scope)
    found = [
        code(await box.call("post", {"to": "example.org"})),
        code(await box.call("post", {"to": "example.org"})),
        code(await box.call("post", {"to": "example.org"}, session="another")),
    ]
    assert found == after


async def test_approval_is_for_that_call_alone(box: Toolbox) -> None:
    first = await box.call("post", {"to": "example.org"})
    assert first.error is not None
    await box.use(Approvals).grant(first.error.details["id"], "once")
    assert code(await box.call("post", {"to": "evil.example"})) == "needs_approval"


async def test_approval_is_for_the_folder_in_which_it_was_asked_for(tmp_path: Path) -> None:
    """The same words do something else where other files lie."""
    (tmp_path / "sub").mkdir()
    config = {
        "policy": {"rules": [{"action": "ask", "tool": "append_file"}]},
        "store": {"url": "sqlite://"},
    }
    call = ("append_file", {"path": "a.txt", "content": "x"})
    async with Toolbox(config, workspace=tmp_path) as box:
        first = await box.call(*call, session="s")
        assert first.error is not None
        await box.use(Approvals).grant(first.error.details["id"], "once")
        await box.call("change_directory", {"path": "sub"}, session="s")
        assert code(await box.call(*call, session="s")) == "needs_approval"
        await box.call("change_directory", {"path": ".."}, session="s")
        assert code(await box.call(*call, session="s")) is None
    assert (tmp_path / "a.txt").exists()


async def taint(box: Toolbox) -> None:
    text = "see https://example.org/known?a=%26 for more"
    await box.call("page", {"url": "https://example.org/", "text": text})
    await box.call("echo", {"text": "something private"})


async def test_taint_asks_before_a_url_that_nobody_named(box: Toolbox) -> None:
    await taint(box)
    assert code(await box.call("page", {"url": "https://example.org/known?a=%26"})) is None
    assert code(await box.call("page", {"url": "https://example.org/"})) is None
    result = await box.call("page", {"url": "https://example.org/?stolen=private"})
    assert code(result) == "needs_approval"
    assert result.error is not None
    assert "outside text and private files" in result.error.message


async def test_taint_needs_both_flags(box: Toolbox) -> None:
    await box.call("page", {"url": "https://example.org/", "text": "hello"})
    assert code(await box.call("page", {"url": "https://example.org/new"})) is None


async def test_taint_belongs_to_one_conversation(box: Toolbox) -> None:
    await taint(box)
    assert code(await box.call("page", {"url": "https://new.example/"}, session="other")) is None


async def test_taint_stays_in_the_store(make: Make) -> None:
    box = make()
    await box.call("echo", {"text": "private"}, session="s1")
    await box.call("page", {"url": "https://example.org/", "text": "x"}, session="s1")
    again = make()
    result = await again.call("page", {"url": "https://new.example/"}, session="s1")
    assert code(result) == "needs_approval"


async def test_what_a_person_typed_is_their_own(box: Toolbox) -> None:
    await taint(box)
    typed = Caller("cli", typed_by_user=True)
    assert code(await box.call("page", {"url": "https://new.example/"}, caller=typed)) is None


async def test_taint_can_be_switched_off(make: Make) -> None:
    box = make(policy={"taint": False})
    await taint(box)
    assert code(await box.call("page", {"url": "https://new.example/"})) is None


async def test_call_tool_is_no_way_around(make: Make) -> None:
    box = make(policy={"rules": [{"action": "deny", "tool": "echo"}]})
    result = await box.call("call_tool", {"name": "echo", "arguments": {"text": "hi"}})
    assert code(result) == "denied"


async def test_untrusted_text_taints_whatever_the_right_of_its_tool(box: Toolbox) -> None:
    stored = await box.call("page", {"url": "https://example.org/", "text": "word " * 9000})
    assert stored.next is not None
    await box.call("echo", {"text": "private"}, session="other")
    handle = await box.use(Results).keep("from outside", "other", "https://example.org/")
    await box.call("read_more", {"handle": handle}, session="other")
    result = await box.call("page", {"url": "https://new.example/"}, session="other")
    assert code(result) == "needs_approval"


async def test_a_rule_made_by_approval_speaks_of_targets(make: Make) -> None:
    box = make(policy={"rules": [{"action": "ask", "tool": "page"}]})
    first = await box.call("page", {"url": "https://example.org/a"})
    assert first.error is not None
    await box.use(Approvals).grant(
        first.error.details["id"], "rule", target="https://example.org/*"
    )
    assert code(await box.call("page", {"url": "https://example.org/b"})) is None
    assert code(await box.call("page", {"url": "https://example.com/b"})) == "needs_approval"


async def test_an_error_from_outside_taints_as_well(make: Make) -> None:
    box = make()
    await box.call("scold", {"url": "https://example.org/"})
    await box.call("echo", {"text": "private"})
    assert code(await box.call("page", {"url": "https://new.example/"})) == "needs_approval"


async def test_a_person_says_yes_with_true_alone() -> None:
    from mcp_types import ElicitResult

    from toolcrib.surfaces.mcp.calls import answer_in, form_for

    question = Question("id", "fetch_url", "", "", site="https://a.example")
    for content, yes in (({"allow": True}, True), ({"allow": "false"}, False), (None, False)):
        assert answer_in(ElicitResult(action="accept", content=content), question) is yes
    assert not answer_in(ElicitResult(action="decline", content={"allow": True}), question)
    both = ElicitResult(action="accept", content={"allow": True, "site": True})
    assert answer_in(both, question) == SiteApproval()
    assert answer_in(both, replace(question, site="")) is True
    alone = ElicitResult(action="accept", content={"site": True})
    assert answer_in(alone, question) is False
    assert "https://a.example" in form_for(question)["properties"]["site"]["title"]
    assert form_for(replace(question, site=""))["properties"].keys() == {"allow"}


async def test_an_error_of_our_own_does_not_taint(box: Toolbox) -> None:
    assert code(await box.call("page", {"url": "http://10.0.0.1/"})) == "blocked_address"
    assert code(await box.call("page", {})) == "bad_input"
    await box.call("echo", {"text": "private"})
    assert code(await box.call("page", {"url": "https://new.example/"})) is None


async def test_what_is_allowed_whatever_it_does_is_not_asked_about_for_ever(make: Make) -> None:
    """Where a call would do something else at each look, as in a folder that programs write to."""
    by_host = make(policy={"ask": "host"})
    assert code(await by_host.call("changing", {}, caller=Caller("mcp"))) is None
    box = make()
    first = await box.call("changing", {})
    assert first.error is not None
    await box.use(Approvals).grant(first.error.details["id"], "session")
    assert code(await box.call("changing", {})) is None


async def test_an_approval_holds_for_what_was_judged() -> None:
    """Not for what looks the same in the question, as commits whose first digits are."""
    commits = ["1" * 40]

    async def judge(arguments: Mapping[str, Any], ctx: Ctx) -> Decision:
        return Decision("ask", "it sends", preview=commits[-1][:12], judged=commits[-1])

    @tool(group="test", rights=WRITE, policy_check=judge)
    async def send(*, ctx: Ctx) -> Result:
        """Send it.

        For tests.
        """
        return Result(text=ctx.judged)

    async with Toolbox({}, tools=[send]) as box:
        first = await box.call("send", {}, session="one")
        assert first.error is not None
        await box.use(Approvals).grant(first.error.details["id"])
        commits.append("1" * 12 + "2" * 28)
        assert code(await box.call("send", {}, session="one")) == "needs_approval"
        commits.append(commits[0])
        assert (await box.call("send", {}, session="one")).text == commits[0]


async def test_an_approval_holds_for_what_was_given_empty_or_not() -> None:
    @tool(group="test", rights=WRITE)
    async def wipe(only: str = "old", names: list[str] | None = None, *, ctx: Ctx) -> Result:
        """Wipe things.

        For tests.
        """
        del ctx
        return Result(text=f"{only} {names}")

    policy = {"rules": [{"action": "ask", "tool": "wipe"}]}
    person = Person(None)
    given = ({}, {"only": ""}, {"names": []}, {"names": ["a", "b"]}, {"names": ["a, b"]})
    async with Toolbox({"policy": policy}, tools=[wipe]) as box:
        for arguments in given:
            result = await box.call("wipe", arguments, session="one", caller=person.caller)
            assert code(result) == "needs_approval", result.render()
    assert len({question.id for question in person.requested}) == len(given)
    assert [question.summary for question in person.requested] == [
        *("", 'only=""', "names=[]", 'names=["a", "b"]', 'names=["a, b"]')
    ]


@each_case(
    ("name", "value"),
    [
        ("body", '{"token": "MARK and all the rest of it"}'),
        ("body", "password=MARK&x=1"),
        ("body", "Authorization: MARK and more"),
        ("url", "https://example.org/?api_key=MARK"),
        ("token", "MARK " * 60),
        ("command", "API_KEY='MARK' x"),
    ],
)
def test_what_is_sent_is_seen_by_whoever_decides(name: str, value: str) -> None:
    """A model could choose a name by which any text is hidden."""
    assert "MARK" in redact_question({name: value}, 1000)[name]


@each_case(
    ("name", "value", "displayed"),
    [
        ("token", "abcdefgh", "[redacted: 8 characters]"),
        ("headers", "x: ghp_" + "a" * 30, "x: [redacted: 34 characters]"),
        ("body", "sk-" + "a" * 3000, "[redacted: 3,003 characters]"),
    ],
)
def test_of_a_secret_its_length_is_seen(name: str, value: str, displayed: str) -> None:
    assert redact_question({name: value}, 1000) == {name: displayed}


async def test_a_failure_that_may_quote_files_marks(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"pin": "SECRET9"}')
    for number in range(25):
        (tmp_path / f"SECRET{number}").touch()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(".git/SECRET9", "")
    async with Toolbox({"store": {"url": "sqlite://"}}, workspace=tmp_path) as box:
        for session, (name, given, is_private) in enumerate(
            (
                ("query_json", {"path": "a.json", "query": ".pin|tostring|error"}, True),
                ("read_file", {"path": "b.json"}, True),
                ("move_path", {"source": "b.json", "destination": "c"}, True),
                ("delete_path", {"pattern": "*", "permanent": True}, True),
                ("delete_path", {"path": "a.json", "permanent": True}, True),
                ("archive_files", {"action": "unpack", "archive": "a.zip"}, True),
                ("read_file", {"path": ".env"}, False),
                ("run_command", {"command": "ls", "network": ["example.com"]}, False),
                ("fetch_url", {"url": "http://10.0.0.1/"}, False),
            )
        ):
            failed = await box.call(name, given, session=str(session))
            assert failed.error is not None
            live = await box.use(Sessions).load(str(session))
            assert live.private is is_private, failed.render()


async def test_the_names_that_undo_tells_mark(tmp_path: Path) -> None:
    async with Toolbox({"store": {"url": "sqlite://"}}, workspace=tmp_path) as box:
        await box.call("write_file", {"path": "a", "content": "x"}, session="one")
        await box.call("undo_changes", {}, session="two")
        assert (await box.use(Sessions).load("two")).private


async def test_a_refusal_is_remembered_where_nobody_can_be_asked(box: Toolbox) -> None:
    first = await box.call("post", {"to": "example.org"})
    assert first.error is not None
    await box.use(Approvals).refuse(first.error.details["id"])
    again = await box.call("post", {"to": "example.org"})
    assert code(again) == "denied"
    assert again.error is not None
    assert "Do not send it again" in again.error.hint
    assert code(await box.call("post", {"to": "other.example"})) == "needs_approval"
    person = Person(answer=True)
    assert code(await box.call("post", {"to": "example.org"}, caller=person.caller)) is None


URLS = st.builds(
    "".join,
    st.lists(
        st.sampled_from(
            [
                *("http://", "https://", "example.org", "a.b-c.de", "xn--bcher-kva.example"),
                *("1.2.3.4", ":80", ":443", ":8080", ":0808", "/", "//", "/.", "/..", "/a", "."),
                *("%2e", "%2F", "%zz", "?", "a=b", "&", "'", "(", ")", "~", "@", "user@", "#x"),
                *("Ü", "A", " ", "-", "localhost", "0x7f.com", "org", ".."),
            ]
        ),
        max_size=12,
    ).map(lambda parts: ["https://", "example.org", "/", *parts] if len(parts) % 2 else parts),
)


@given(URLS)
def test_a_link_that_is_not_parsed_is_what_parsing_gives(url: str) -> None:
    """The shortcut for plain links never gives another spelling than the parser."""
    try:
        parsed = parse_url(complete_url(url)).href
    except ToolError:
        parsed = url
    assert canonical(url) == parsed


@each_case(
    ("text", "url"),
    [
        (
            "[x](https://en.wikipedia.org/wiki/Crib_(tool)) and",
            "https://en.wikipedia.org/wiki/Crib_(tool)",
        ),
        ("see (https://a.example/b).", "https://a.example/b"),
        ("**https://a.example/b**", "https://a.example/b"),
        ("`https://a.example/b`", "https://a.example/b"),
        ("| https://a.example/b|c |", "https://a.example/b|c"),
        ("   https://a.example/b)c", "https://a.example/b)c"),
        ("on www.a.example/b, or", "www.a.example/b"),
        ("\u89c1https://a.example/b\u3002", "https://a.example/b"),
        ("https://a.example/?a=1&amp;b=2", "https://a.example/?a=1&b=2"),
    ],
)
def test_a_link_is_known_however_it_stands_in_a_text(text: str, url: str) -> None:
    assert url in set(links_of(text))
