"""The context guard: when it acts, what it leaves, and what the person is told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from toolcrib.chatflow.flow import run_stages
from toolcrib.chatflow.groups import ChatEntry, without_orphans
from toolcrib.chatflow.guard import guard
from toolcrib.chatflow.prompt import Prompt, StageContext, text_of
from toolcrib.chatflow.token_count import (
    Calibration,
    count_messages,
    learn_overflow,
    learn_usage,
    window_in,
)
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, Unavailable
from toolcrib.state.results import Results
from toolcrib.state.store import Store

Message = dict[str, Any]
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]
SYSTEM = {"role": "system", "content": "You help."}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def answer(text: str) -> Message:
    return {"role": "assistant", "content": text}


def step(number: int, result: str, path: str = "") -> list[Message]:
    function = {"name": "read_file", "arguments": json.dumps({"path": path or f"{number}.py"})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def listing(number: int, lines: int = 60) -> str:
    return "\n".join(f"{number}.{line} value {number * line} of the table" for line in range(lines))


def tool_chat(steps: int, lines: int = 60) -> list[Message]:
    messages = [SYSTEM, user("Mend the build. My name is Ada and the port is 8123.")]
    for number in range(steps):
        messages += step(number, listing(number, lines))
    return messages


async def guarded(services: Services, messages: list[Message], **more: Any) -> Prompt:
    complete = more.pop("complete", None)
    more = {"tools": TOOLS, "window": 8_000} | more
    context = StageContext(services, complete=complete)
    return await run_stages(Prompt(messages, **more), context, (guard,))


def handles(prompt: Prompt) -> list[str]:
    return re.findall(r'handle=\\?"(\w+)', json.dumps(prompt.messages))


async def summary(messages: Any, *, model: str, max_tokens: int) -> str:
    return "## Goal\nTo mend the build on port 8123.\n## Open steps\nRun it again."


async def refusing(messages: Any, *, model: str, max_tokens: int) -> str:
    raise Unavailable("The model is loading.")


async def test_below_the_trigger_nothing_is_done(services: Services) -> None:
    messages = tool_chat(3)
    prompt = await guarded(services, messages)
    assert prompt.messages == messages
    assert not prompt.changed
    assert not prompt.report
    assert not prompt.offers_read_more


@pytest.mark.rows("C174", "C175")
async def test_old_results_are_taken_out_in_one_step(services: Services) -> None:
    messages = tool_chat(11)
    prompt = await guarded(services, messages)
    assert prompt.tokens < 0.75 * 8_000
    results = [m["content"] for m in prompt.messages if m["role"] == "tool"]
    sent = [m["content"] for m in messages if m["role"] == "tool"]
    assert results[-3:] == sent[-3:]
    assert results[0].startswith('[Taken out to save room: result of read_file(path="0.py")')
    for handle, text in zip(handles(prompt), sent, strict=False):
        assert (await services.use(Results).read(handle, prompt.conversation)).text == text
    assert prompt.offers_read_more
    assert re.search(r"\[ContextGuard\] Budget: \d+\.\dk/8\.0k tokens \(\d+% used\)", prompt.report)
    # Turn after turn what stands before stays as it is, until the window is full again.
    prefix = prompt.messages
    for number in range(11, 14):
        messages = [*messages, *step(number, "fine")]
        prompt = await guarded(services, messages)
        assert prompt.messages[: len(prefix)] == prefix
        assert prompt.offers_read_more
        assert not prompt.report
        prefix = prompt.messages


@pytest.mark.rows("C167", "C168")
async def test_a_model_sums_up_the_rest(services: Services) -> None:
    chat = [user("My name is Ada and the port is 8123.")]
    for number in range(30):
        chat += [answer(f"{number}: " + "words of an answer " * 60), user(f"And part {number}?")]
    prompt = await guarded(services, chat, complete=summary)
    assert prompt.messages[0] == chat[0]
    assert prompt.messages[-10:] == chat[-10:] or len(prompt.messages) < 12
    assert "To mend the build on port 8123." in text_of(prompt.messages[1])
    assert "- And part 3?" in text_of(prompt.messages[1])
    lines = prompt.report.splitlines()
    assert lines[0] == lines[-1] == "---"
    saved = re.search(
        r"(\d+) messages compressed, tokens ([\d.]+)k -> ([\d.]+)k, saved ([\d.]+)k", lines[1]
    )
    assert saved
    before, after, freed = (float(saved[n]) for n in (2, 3, 4))
    assert abs(before - after - freed) < 0.11
    assert f"### CONTEXT SUMMARY (from {saved[1]} messages)" in lines
    assert abs(count_messages(chat) * 1.25 / 1000 - before) < 0.2
    whole = await services.use(Results).read(handles(prompt)[0], prompt.conversation)
    left = "\n".join(text_of(m) for m in prompt.messages)
    assert all(text_of(m) in whole.text or text_of(m) in left for m in chat)


@pytest.mark.rows("C169", "X17")
async def test_without_a_model_rules_sum_up_and_say_so(services: Services) -> None:
    chat = [user("Please help.")]
    for number in range(30):
        words = f"Result {number}: the file src/part{number}.py has {number + 40} errors. "
        chat += [answer(words * 25), user(f"The limit {number} must be {number * 11}.")]
    chat.append(answer("Good."))
    chat.append(user("What about src/part7.py?"))
    for complete in (None, refusing):
        prompt = await guarded(services, chat, complete=complete, owner=str(complete))
        text = text_of(prompt.messages[1])
        assert "The limit 9 must be 99." in text
        assert "src/part7.py has 47 errors" in text
        assert "without a model: by rules" in prompt.report
    assert any("The model is loading." in trace.line for trace in prompt.trace)


@pytest.mark.rows("C173")
async def test_a_file_read_again_counts_as_new(services: Services) -> None:
    messages = [user("Watch the file.")]
    for number in range(8):
        messages += step(number, listing(number, 120), "same.py")
    prompt = await guarded(services, messages)
    results = [m["content"] for m in prompt.messages if m["role"] == "tool"]
    assert results[0].startswith('[An older result of read_file(path="same.py")')
    assert results[-1] == listing(7, 120)
    again = [*messages, *step(8, listing(1, 120), "same.py")]
    later = await guarded(services, again)
    assert later.messages[-1]["content"] == listing(1, 120)


@pytest.mark.rows("C176")
async def test_growth_within_one_turn_is_guarded(services: Services) -> None:
    messages = [SYSTEM, user("First."), answer("Yes."), user("Read all of it.")]
    for number in range(40):
        messages += step(number, listing(number))
        prompt = await guarded(services, messages)
        assert prompt.tokens <= 8_000
        assert user("Read all of it.") in prompt.messages
        assert prompt.messages[-1] == messages[-1]


async def test_errors_stay_whole(services: Services) -> None:
    error = "Error: the module has no name\n" + listing(3, 30)
    messages = [user("Go."), *step(0, error)]
    for number in range(1, 12):
        messages += step(number, listing(number))
    prompt = await guarded(services, messages, window=8_000)
    results = [m["content"] for m in prompt.messages if m["role"] == "tool"]
    assert results[0] == error
    assert results[1].startswith("[Taken out")


@pytest.mark.rows("C166")
async def test_the_real_window_wins(services: Services) -> None:
    messages = tool_chat(11)
    services.config = Config.load({"guard": {"limit": 4_000}})
    assert (await guarded(services, messages, window=None, model="a")).changed
    assert not (await guarded(services, messages, window=64_000, model="a")).changed
    prompt = await guarded(services, messages, window=64_000, model="b")
    error = '{"error":{"message":"the request exceeds the available context size (6144 tokens)"}}'
    context = StageContext(services)
    assert await learn_overflow(prompt, context, error) == 6_144
    assert await services.use(Calibration).window("b") == 6_144
    assert await learn_overflow(prompt, context, "out of context") == int(prompt.tokens * 0.9)
    for limit in (999, 200_001):
        with pytest.raises(ConfigError, match=r"guard\.limit"):
            Config.load({"guard": {"limit": limit}})


def test_windows_in_errors() -> None:
    assert window_in("This model's maximum context length is 4096 tokens. You sent 5000.") == 4096
    assert window_in('{"error": {"n_prompt_tokens": 9000, "n_ctx": 8192}}') == 8192
    assert window_in("the model is loaded with context length of only 4096 tokens") == 4096
    assert window_in("prompt is too long: 210000 tokens > 200000 maximum") == 200_000
    assert window_in("context window of 131,072 tokens") == 131_072
    assert window_in("you sent 7000 tokens, too long") is None


@pytest.mark.rows("C170", "X16")
async def test_counts_are_learned_from_usage(services: Services) -> None:
    messages = tool_chat(6)
    context = StageContext(services)
    prompt = await guarded(services, messages, model="m")
    assert prompt.tokens == round(prompt.estimated_tokens * 1.25)
    await learn_usage(prompt, context, int(prompt.estimated_tokens * 1.4))
    again = await guarded(services, [*messages, *step(9, listing(9))], model="m")
    assert again.tokens == pytest.approx(again.estimated_tokens * 1.4, abs=3)
    other = await guarded(services, [user("Else"), *messages[1:]], model="m")
    assert other.tokens == pytest.approx(other.estimated_tokens * 1.4, abs=3)
    with_image = [user("x"), {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]
    assert count_messages(with_image) > 500


async def test_what_was_done_outlives_a_restart_and_the_results(
    services: Services, other_services: Services
) -> None:
    messages = tool_chat(30)
    prompt = await guarded(services, messages)
    await (
        services.use(Store).area(results_schema()).write(lambda c: c.execute("DELETE FROM result"))
    )
    again = await guarded(other_services, messages)
    assert again.messages == prompt.messages
    for handle in handles(prompt):
        await other_services.use(Results).read(handle, prompt.conversation)
    stranger = await guarded(other_services, messages, owner="another")
    assert stranger.conversation != prompt.conversation
    assert not set(handles(stranger)) & set(handles(prompt))


def results_schema() -> Any:
    from toolcrib.state.results import SCHEMA

    return SCHEMA


async def test_a_branch_has_what_the_trunk_had(services: Services) -> None:
    messages = [SYSTEM]
    for number in range(14):
        messages += [user(f"Part {number}?"), *step(number, listing(number)), answer("Done.")]
    trunk = await guarded(services, messages)
    assert trunk.changed
    branch = await guarded(services, [*messages[:-4], user("Something else?")])
    known = [m for m in branch.messages if m in trunk.messages]
    assert len(known) >= len(branch.messages) - 2


async def test_where_it_is_off(services: Services) -> None:
    messages = tool_chat(11)
    prompt = await guarded(services, messages, server_keeps_history=True)
    assert prompt.messages == messages
    assert prompt.trace[-1].line == "off: the server keeps the history"
    services.config = Config.load({"guard": {"enabled": False}})
    assert (await guarded(services, messages)).messages == messages


async def test_without_read_more_the_lines_that_fit_the_question_stay(services: Services) -> None:
    messages = tool_chat(11)
    needle = listing(1, 30) + "\nThe kestrel valve opens at 417 bar\n" + listing(2, 30)
    messages[3] = {**messages[3], "content": needle}
    messages += [answer("Read."), user("At what pressure does the kestrel valve open?")]
    for more in ({"has_tool_choice": True}, {"tools": []}):
        prompt = await guarded(services, messages, window=7_500, owner=str(more), **more)
        assert prompt.changed
        assert not prompt.offers_read_more
        assert "read_more" not in json.dumps(prompt.messages)
        assert "The kestrel valve opens at 417 bar" in json.dumps(prompt.messages)


async def test_bad_input(services: Services) -> None:
    huge = [user("Read."), *step(0, "line of text\n" * 800_000), answer("So."), user("And?")]
    prompt = await guarded(services, huge, window=2_048)
    assert prompt.tokens <= 2_048
    assert prompt.messages[-1] == user("And?")
    system = {"role": "system", "content": "rule " * 9_000}
    beyond = await guarded(services, [system, user("a"), answer("b"), user("c")], window=2_048)
    assert beyond.messages[0] == system
    assert beyond.messages[-1] == user("c")
    two = [SYSTEM, {"role": "developer", "content": "More."}, *tool_chat(14)[1:]]
    stored = await guarded(services, two)
    assert stored.messages[:3] == two[:3]
    assert (await guarded(services, [])).messages == []


def test_orphans_are_mended() -> None:
    messages = [
        user("a"),
        step(1, "x")[0],
        user("b"),
        step(1, "late")[1],
        answer("c"),
        step(2, "nobody asked")[1],
        user("d"),
        step(3, "")[0],
    ]
    entries = [ChatEntry(str(at), message) for at, message in enumerate(messages)]
    done, count = without_orphans(entries)
    assert count == 2
    roles = [entry.role for entry in done]
    assert roles == ["user", "assistant", "tool", "user", "assistant", "user", "assistant"]
    assert text_of(done[2].message) == "late"
    assert "nobody asked" in text_of(done[4].message)
    again, none = without_orphans(done)
    assert (again, none) == (done, 0)


async def test_a_pass_that_frees_little_rests(services: Services) -> None:
    calls = []

    async def counting(messages: Any, *, model: str, max_tokens: int) -> str:
        calls.append(messages)
        return await summary(messages, model=model, max_tokens=max_tokens)

    system = {"role": "system", "content": "rule number one " * 1_700}
    messages: list[Message] = [system]
    for number in range(25):
        messages += [user(f"Question {number} " + "and so on " * 10), answer("An answer. " * 20)]
        await guarded(services, [*messages, user("Go on.")], complete=counting)
    assert 0 < len(calls) <= 5


async def test_large_results_may_go_before_the_trigger(services: Services) -> None:
    services.config = Config.load({"guard": {"offload": True, "offload_bytes": 2_000}})
    messages = [user("Read.")]
    for number in range(9):
        messages += step(number, listing(number, 100))
    prompt = await guarded(services, messages, window=20_000)
    results = [m["content"] for m in prompt.messages if m["role"] == "tool"]
    assert [text.startswith("[Taken out") for text in results] == [True] * 6 + [False] * 3
    assert "0.0 value 0" in results[0]
    small = await guarded(services, messages[:7], window=20_000)
    assert not small.report


async def test_a_model_is_not_asked_with_every_request(services: Services) -> None:
    calls = []

    async def counting(messages: Any, *, model: str, max_tokens: int) -> str:
        calls.append(messages)
        return await summary(messages, model=model, max_tokens=max_tokens)

    chat = [user("Begin.")]
    for number in range(40):
        chat += [answer("An answer of some length. " * 40), user(f"Go on with {number}.")]
    grown = []
    for number in range(8):
        # The client writes another time into an early message with every request.
        changed = [chat[0], answer(f"It is {number} o'clock."), *chat[2:]]
        prompt = await guarded(services, changed, complete=counting)
        assert prompt.tokens <= 8_000
        grown.append(len(calls))
    assert 1 < len(set(grown)) <= 3
