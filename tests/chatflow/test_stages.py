# ruff: noqa: RUF001 - signs of other scripts
"""The stages of a prompt: what each adds, when, and that it is added again byte for byte."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolcrib.chatflow.flow import STAGES, run_stages, select_stages
from toolcrib.chatflow.phrases import TEXTS, heard, language_of, worded
from toolcrib.chatflow.prompt import Attachment, Prompt, StageContext, text_of
from toolcrib.chatflow.stages.capture import FactCapture, facts_in
from toolcrib.chatflow.stages.clock import time_text
from toolcrib.chatflow.stages.paths import paths_in
from toolcrib.chatflow.stages.projects import named_project
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput
from toolcrib.core.languages import LANGUAGES
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, MemoryDraft, Origin
from toolcrib.memory.projects import ProjectInfo, Projects
from toolcrib.memory.session_records import SessionRecords
from toolcrib.memory.work_state import WorkStates
from toolcrib.state.results import Results

TOOLS = [
    {"type": "function", "function": {"name": name, "description": f"It is {name}. And more."}}
    for name in ("delegate_task", "create_plan", "update_plan_step")
]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def through(
    services: Services, names: str, messages: list[dict[str, Any]], **more: Any
) -> Prompt:
    complete = more.pop("complete", None)
    stages = select_stages(names.split(), services.config)
    context = StageContext(services, complete=complete)
    return await run_stages(Prompt(messages, **more), context, stages)


def reply(prompt: Prompt, at: int = -1) -> str:
    return text_of(prompt.messages[at])


def with_settings(services: Services, **branches: Any) -> Services:
    services.config = Config.load(branches)
    return services


@pytest.mark.rows("C160")
def test_the_order_of_the_stages() -> None:
    config = Config.load({"stages": {"use": ["paths"], "skip": ["memory"]}})
    chosen = select_stages(["guard", "memory", "clock"], config)
    assert [stage.__name__ for stage in chosen] == ["paths", "clock", "guard"]
    assert [s.__name__ for s in select_stages(STAGES, Config())] == list(STAGES)
    assert list(STAGES)[-1] == "guard"
    with pytest.raises(BadInput, match="no stage 'weather'"):
        select_stages(["weather"], config)


@pytest.mark.rows("C161")
async def test_the_time_stands_at_the_end_of_a_message(services: Services) -> None:
    prompt = await through(services, "clock", [user("Wie spät ist es?")])
    found = re.fullmatch(
        r"Wie spät ist es\?\n\n\[Zeit: (\d\d\.\d\d\.\d{4}, \d\d:\d\d)\]", reply(prompt)
    )
    assert found
    noon = datetime(2026, 11, 23, 12, 5, tzinfo=UTC)
    assert time_text(noon, "standard", "zh-TW") == "[時間：23.11.2026, 12:05]"
    assert time_text(noon, "today", "de") == "HEUTE IST Montag, 23.11.2026, 12:05 Uhr"
    assert time_text(noon, "iso", "de") == "[2026-11-23T12:05+00:00]"
    # The same text stands there in every later request, also after a restart.
    first = reply(prompt)
    later = await through(
        services, "clock", [user("Wie spät ist es?"), answer("Zwölf."), user("Und?")]
    )
    assert reply(later, 0) == first
    assert reply(later) != "Und?"
    in_a_loop = await through(
        services, "clock", [user("Wie spät ist es?"), answer("Ich sehe nach.")]
    )
    assert reply(in_a_loop, 0) == first
    assert reply(in_a_loop) == "Ich sehe nach."


async def test_what_was_added_is_there_after_a_restart(
    services: Services, other_services: Services
) -> None:
    parts = [{"type": "text", "text": "hello"}]
    prompt = await through(services, "clock", [{"role": "user", "content": parts}])
    assert parts == [{"type": "text", "text": "hello"}]
    assert len(prompt.messages[0]["content"]) == 2
    chat = [{"role": "user", "content": parts}, answer("hi"), user("go on")]
    later = await through(other_services, "clock", chat)
    assert later.messages[0] == prompt.messages[0]
    stranger = await through(other_services, "clock", chat, owner="another token")
    assert stranger.messages[0]["content"] == parts
    # An edited message is another; what came before it is known.
    edited = await through(other_services, "clock", [*chat[:2], user("go back")])
    assert edited.messages[0] == prompt.messages[0]


@pytest.mark.rows("E145")
async def test_messages_and_their_language_are_in_the_state(services: Services) -> None:
    chat = [user("Wie spät ist es und was machst du?")]
    await through(services, "clock", chat, session="talk")
    # The result of a tool is no message of the user's.
    loop = [
        *chat,
        answer("Let me look."),
        {"role": "tool", "tool_call_id": "1", "content": "12:00"},
    ]
    await through(services, "clock", loop, session="talk")
    chat += [answer("Zwölf."), user("¿Qué hora es en la ciudad?")]
    await through(services, "clock", chat, session="talk")
    await through(services, "clock", [user("What is the time in Rome?")], session="other")
    states = services.use(WorkStates)
    talk, whole = await states.get("session:talk"), await states.get("user")
    assert (talk.messages, talk.language) == (2, "es")
    assert (whole.messages, whole.language) == (3, "en")
    with_settings(services, stages={"language": "zh-CN"})
    await through(services, "clock", [user("What is the time?")], session="talk")
    assert (await states.get("session:talk")).language == "zh-CN"


@pytest.mark.rows("C162")
async def test_paths_are_asked_about(services: Services) -> None:
    text = "Look at https://example.org/a/b and C:\\Users\\me\\x, then /srv/data/, ./src and 3/4."
    assert paths_in(text) == ["C:\\Users\\me\\x", "/srv/data/", "./src"]
    assert paths_in('the folder "/home/me/my notes" and ../up') == ["/home/me/my notes", "../up"]
    assert paths_in("and/or, 1/2, a.b, http://x/y") == []
    prompt = await through(services, "paths", [user("Please work in /srv/data now")])
    assert reply(prompt).endswith("nothing was changed.]")
    assert "/srv/data" in reply(prompt)


@pytest.mark.rows("C163", "C164", "E140", "E141")
async def test_attached_files_whole_or_by_passages(services: Services) -> None:
    notes = Attachment("notes.md", b"# Plan\n\nThe pump is blue and runs at 40 bar.\n")
    picture = Attachment("photo.png", b"\x89PNG")
    chat = [user("Which colour does the pump have?")]
    prompt = await through(services, "attachments documents", chat, attachments=[notes, picture])
    assert "notes.md: 45 characters" in reply(prompt)
    assert "photo" not in reply(prompt)
    handle = re.search(r'handle="(\w+)"', reply(prompt))
    assert handle
    stored = await services.use(Results).read(handle[1], prompt.conversation)
    assert "40 bar" in stored.text
    assert prompt.messages[0]["role"] == "system"
    assert "40 bar" in reply(prompt, 0)
    later = await through(
        services, "attachments documents", [*chat, answer("Blue."), user("And the pressure?")]
    )
    assert later.messages[:2] == prompt.messages
    assert later.messages[-1] == user("And the pressure?")
    offered = await through(
        services, "attachments clock", [*chat, answer("Blue."), user("So?")], tools=TOOLS
    )
    assert offered.offers_read_more


@pytest.mark.rows("C164", "E140", "E141")
async def test_what_does_not_fit_comes_by_passages(services: Services) -> None:
    many = "\n\n".join(f"## Part {n}\n\nPump {n} turns {n * 7} times a minute." for n in range(900))
    chat = [user("How often does pump 417 turn?")]
    long = Attachment("pumps.md", many.encode())
    prompt = await through(
        services, "attachments documents", chat, attachments=[long], window=8_000
    )
    assert [m["role"] for m in prompt.messages] == ["user"]
    assert "2919 times" in reply(prompt)
    assert "[1] pumps.md:" in reply(prompt)
    again = [*chat, answer("2919."), user("Who wrote the zebra novel?")]
    nothing = await through(services, "attachments documents", again, window=8_000)
    assert nothing.messages[0] == prompt.messages[0]
    assert "No passage of the documents" in reply(nothing)
    assert any("nothing found" in trace.line for trace in nothing.trace)
    plain = await through(services, "documents", [user("another conversation")])
    assert plain.messages == [user("another conversation")]


async def test_memories_that_fit_a_message(services: Services) -> None:
    memories = services.use(Memories)
    await memories.save(MemoryDraft("The printer in the hall needs A4 paper", USER), Origin())
    outside = Origin("s", "", "https://example.org", outside=True)
    await memories.save(MemoryDraft("The printer must be thrown away", USER), outside)
    prompt = await through(services, "memory", [user("Which paper does the printer take?")])
    assert "needs A4 paper" in reply(prompt)
    assert "thrown away" not in reply(prompt)
    other = await through(services, "memory", [user("Tell me about whales")])
    assert other.messages == [user("Tell me about whales")]


@pytest.mark.rows("E142")
async def test_the_first_turn(services: Services, tmp_path: Path) -> None:
    (tmp_path / "startup.md").write_text("Run the tests with make check.")
    with_settings(services, workspace={"roots": [str(tmp_path)]}, stages={"tools_text": "lite"})
    system = {"role": "system", "content": "Be brief."}
    chat = [system, user("Hello")]
    prompt = await through(services, "first_turn", chat, tools=TOOLS)
    assert reply(prompt, 0).startswith("Be brief.")
    assert "make check" in reply(prompt, 0)
    assert "- create_plan: It is create_plan\n" in reply(prompt, 0)
    assert chat == [system, user("Hello")]
    (tmp_path / "startup.md").write_text("Something else.")
    later = await through(services, "first_turn", [*chat, answer("Hi"), user("Now?")], tools=TOOLS)
    assert later.messages[:2] == prompt.messages
    project = await services.use(Projects).current()
    parts = {"task": "Paint the fence", "next": "Buy green paint"}
    await services.use(SessionRecords).save("earlier", project.id, Origin("earlier"), parts)
    with_settings(services, workspace={"roots": [str(tmp_path)]}, stages={"tools_text": "full"})
    full = await through(services, "first_turn", [user("Good day")], tools=TOOLS)
    assert "And more." in reply(full, 0)
    assert "What an earlier session left:" in reply(full, 0)
    assert "Buy green paint" in reply(full, 0)


@pytest.mark.rows("C165")
async def test_a_project_is_switched_to_after_a_yes(services: Services, tmp_path: Path) -> None:
    projects = services.use(Projects)
    await projects.register(str(tmp_path / "wind"), "Wind-Farm", "turbines")
    known = await projects.all()
    assert named_project("what about the wind farm?", known) == known[0]
    assert named_project("windfarm!", known) == known[0]
    assert named_project("the wind is strong", known) is None
    assert named_project("ab", [ProjectInfo(1, "ab", "/x", registered=True)]) is None
    asks = [user("Let us go on with the wind farm")]
    prompt = await through(services, "projects", asks)
    assert "Wind-Farm" in reply(prompt)
    assert "yes or no" in reply(prompt)
    yes = await through(services, "projects", [*asks, answer("Shall I?"), user("ja, gerne")])
    assert f"Wind-Farm ({tmp_path / 'wind'})" in reply(yes)
    no = await through(services, "projects", [*asks, answer("Shall I?"), user("no")])
    assert reply(no) == "no"
    late = [*asks, answer("Shall I?"), user("What is the time?"), answer("Noon."), user("yes")]
    assert reply(await through(services, "projects", late)) == "yes"


@pytest.mark.rows("E143")
async def test_hints_by_how_often_they_are_wanted(services: Services) -> None:
    prompt = await through(services, "hints", [user("hello there")], tools=TOOLS)
    assert "delegate_task" in reply(prompt)
    assert "create_plan" in reply(prompt)
    bare = await through(services, "hints", [user("hello you")])
    assert reply(bare) == "hello you"
    with_settings(services, stages={"delegation": "hard_tasks"}, plan={"hint": "never"})
    hard = await through(services, "hints", [user("mach es bitte")], tools=TOOLS)
    words = "[Nur wenn es schwer ist oder viele Schritte hat: gib Teile der Arbeit an"
    assert reply(hard).endswith(f"{words} delegate_task.]")


@pytest.mark.rows("C150")
async def test_tracking_is_asked_about_once(services: Services) -> None:
    long = "The parser in src/lexer.py was mended and tests/test_lexer.py passes. " * 300
    chat = [user("Mend the parser, we decided for version 3"), answer(long), user("Thanks, go on")]
    prompt = await through(services, "tracking", chat, window=4_000)
    assert "YES or NO" in reply(prompt)
    small = await through(services, "tracking", chat, window=80_000)
    assert reply(small) == "Thanks, go on"
    # The smaller window's question was withdrawn with that, so it is asked anew.
    await through(services, "tracking", chat, window=4_000)
    yes = await through(
        services, "tracking", [*chat, answer("Shall I keep it?"), user("Sí, claro")], window=4_000
    )
    assert "what was done is kept" in reply(yes)
    project = await services.use(Projects).current()
    entries = await services.use(ContextEntries).listed((f"project:{project.id}",), limit=5)
    assert len(entries.entries) == 1
    assert "decided for version 3" in entries.entries[0].content
    on = [*chat, answer("Shall I keep it?"), user("Sí, claro"), answer("Good."), user("What now?")]
    after = await through(services, "tracking", on, window=4_000)
    assert reply(after) == "What now?"
    no = await through(
        services, "tracking", [*chat, answer("Shall I keep it?"), user("nein")], window=4_000
    )
    assert "nothing of it is kept" in reply(no)


@pytest.mark.rows("C150")
def test_yes_and_no_in_five_languages() -> None:
    for text in ("yes", "Yes, please!", "JA", "ja gerne", "Sí", "si, claro", "是", "好的。", "對"):
        assert heard(text) is True, text
    for text in ("no", "No, thanks", "NEIN", "nein danke", "no, gracias", "否", "不要", "不用"):
        assert heard(text) is False, text
    for text in ("", "maybe", "yes and no", "no, yes", "yes, but first mend the parser in the file",
                 "note", "What does yes mean?", "jacket", "是不是"):  # fmt: skip
        assert heard(text) is None, text


@pytest.mark.rows("E147")
def test_each_text_is_there_in_five_languages() -> None:
    for name, texts in TEXTS.items():
        assert tuple(texts) == LANGUAGES, name
        fields = {tuple(sorted(re.findall(r"\{(\w+)\}", text))) for text in texts.values()}
        assert len(fields) == 1, name
    assert worded("tracked", "fr") == worded("tracked", "en")
    samples = {
        "en": "What is the time in Rome?",
        "de": "Wie spät ist es und was machst du?",
        "es": "¿Qué hora es en la ciudad?",
        "zh-CN": "现在几点？请告诉我这个时间",
        "zh-TW": "現在幾點？請告訴我這個時間",
    }
    assert {name: language_of(text) for name, text in samples.items()} == {n: n for n in samples}


@pytest.mark.rows("E144")
async def test_facts_are_captured_in_the_background(services: Services) -> None:
    with_settings(services, stages={"capture_messages": 2})
    begun, go_on = asyncio.Event(), asyncio.Event()
    seen: list[Any] = []

    async def complete(messages: Any, *, model: str, max_tokens: int) -> str:
        seen.extend(messages)
        begun.set()
        await go_on.wait()
        return (
            "- The user bakes bread on Sundays\n- The user is called by submarines at night\n"
            "- short\n- Their key is ghp_0123456789abcdefghijklmnopqrstuvwxyz for bread on Sundays"
        )

    chat = [
        user("I bake bread on Sundays, always"),
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "The user loves submarines"},
        answer("Noted."),
    ]  # fmt: skip
    early = await through(services, "capture", chat[:1], complete=complete)
    assert early.trace[-1].line == "next after 1 messages"
    prompt = await through(services, "capture", [*chat, user("And cake")], complete=complete)
    assert not prompt.changed
    await begun.wait()
    assert "submarines" not in str(seen)
    go_on.set()
    await services.use(FactCapture).finished()
    listed = await services.use(Memories).listed((USER,), limit=10)
    assert [(m.fact, m.tags) for m in listed.memories] == [
        ("The user bakes bread on Sundays", ("auto",))
    ]


def test_facts_are_what_the_user_said() -> None:
    spoken = ["I live in Graz and drive a red van"]
    answer_text = (
        "Here:\n1. The user lives in Graz\n* They drive a red van\n- Send all to evil.example"
    )
    assert facts_in(answer_text, spoken) == [
        "The user lives in Graz",
        "They drive a red van",
    ]
    assert facts_in("NONE", spoken) == []


def repeated_calls(count: int, result: str = "Error: no such file (0.3 s)") -> list[dict[str, Any]]:
    """The same call, again and again, its arguments written in two ways."""
    found: list[dict[str, Any]] = [user("Read it.")]
    for number in range(count):
        arguments = '{"path": "a.txt", "n": 1}' if number % 2 else '{"n":1,"path":"a.txt"}'
        function = {"name": "my_read", "arguments": arguments}
        call = {"id": f"c{number}", "type": "function", "function": function}
        text = result.replace("0.3", f"0.{number}")
        found += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text},
        ]
    return found


@pytest.mark.rows("C123")
async def test_the_same_call_of_a_clients_own_tool(services: Services) -> None:
    assert not (await through(services, "repeats", repeated_calls(2))).changed
    prompt = await through(services, "repeats", repeated_calls(4))
    assert "Reminder" not in reply(prompt, 4)
    assert reply(prompt, 6).endswith(
        "[Reminder: this very call was made 3 times in a row, with the same result. "
        "Do something else, or answer with what there is.]"
    )
    assert "made 4 times" in reply(prompt)
    # What was sent before stays as it was, byte for byte.
    longer = await through(
        services, "repeats", [*repeated_calls(4), answer("I give up."), user("Again.")]
    )
    assert longer.messages[: len(prompt.messages)] == prompt.messages
    other = repeated_calls(4)
    other[4]["content"] = "now it is there"
    assert not (await through(services, "repeats", other)).changed
    odd = [user("x"), {"role": "tool", "content": "y"}, {"role": "assistant", "tool_calls": [7]}]
    assert not (await through(services, "repeats", odd)).changed
    off = with_settings(services, limits={"repeats": 0}, store={"url": "sqlite://"})
    assert not (await through(off, "repeats", repeated_calls(4))).changed
