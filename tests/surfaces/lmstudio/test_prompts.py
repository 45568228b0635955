"""Messages in LM Studio: what stages add, attached files, the guard, cancelling."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from tests.servers.lmstudio_host import HostedPlugin, LmStudioHost, attached, message, text
from tests.servers.model import Raw, model_server
from tests.surfaces.lmstudio.plugins import hosted

FACT = "The number of the locker is 4711."
FILLER = "A line of the log that nobody needs, with some words in it.\n"


def settings(tmp_path: Path, **more: Any) -> dict[str, Any]:
    (tmp_path / "work").mkdir(exist_ok=True)
    return {"workspace": {"roots": [str(tmp_path / "work")]}, **more}


async def processed(plugin: HostedPlugin, task: str, *content: Any, **on: Any) -> dict[str, Any]:
    await plugin.preprocess(task, *content, **on)
    return dict((await plugin.hears("complete", taskId=task))["processed"])


def words(sent: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in sent["content"] if part["type"] == "text")


@pytest.mark.rows("F01", "C161")
async def test_the_time_stands_at_the_end_and_pictures_stay(tmp_path: Path) -> None:
    picture = attached("a.png", "image")
    async with hosted(settings(tmp_path)) as plugin:
        sent = await processed(plugin, "t1", picture, text("What is this?"))
        style = await processed(plugin, "t2", text("Hello there."), dateFormatStyle="iso")
        off = await processed(plugin, "t3", text("Hi"), temporalAwareness=False)
        assert plugin.updates == []
    assert sent["content"][0] == picture
    assert re.fullmatch(r"What is this\?\n\n\[Time: .*\]", words(sent))
    assert re.search(r"\[20\d\d-", words(style))
    assert off == {"role": "user", "content": [text("Hi")]}


@pytest.mark.rows("F01", "C163", "E140")
async def test_an_attached_file_is_read_whole_and_by_its_handle(tmp_path: Path) -> None:
    (tmp_path / "stored-1.txt").write_text(f"# Notes\n\n{FACT}\n" + "More words follow.\n" * 40)
    host = LmStudioHost(files={"notes.txt": str(tmp_path / "stored-1.txt")})
    chat = str(tmp_path / "chat")
    async with hosted(settings(tmp_path), host) as plugin:
        requested = text("What is the number?")
        sent = await processed(plugin, "t1", attached("notes.txt"), requested, folder=chat)
        assert FACT in words(sent)
        assert [part["type"] for part in sent["content"]] == ["text"]
        handle = re.search(r'notes\.txt: .*read_more\(handle="([^"]+)"\)', words(sent))
        assert handle is not None
        await plugin.open_session("s1", chat)
        more = await plugin.result("c1", "read_more", handle=handle[1])
        assert FACT in more
        status = plugin.updates[-1]
        assert (status["type"], status["state"]["status"]) == ("status.update", "done")


@pytest.mark.rows("E140", "C164")
async def test_of_a_long_file_each_turn_gets_the_passages_that_fit(tmp_path: Path) -> None:
    paragraphs = [f"Chapter {n}: the weather of day {n} was mild and dry.\n\n" for n in range(900)]
    paragraphs.insert(500, f"{FACT}\n\n")
    (tmp_path / "long.txt").write_text("".join(paragraphs))
    host = LmStudioHost(files={"long.txt": str(tmp_path / "long.txt")}, model="m", window=8_000)
    async with hosted(settings(tmp_path, profile="read_more"), host) as plugin:
        requested = text("Which number has the locker?")
        chat = str(tmp_path / "chat")
        sent = await processed(plugin, "t1", attached("long.txt"), requested, folder=chat)
        assert FACT in words(sent)
        assert len(words(sent)) < 20_000
        # Whichever form of the message the host has kept, it is the same conversation.
        for number, stored in enumerate((sent, message("user", requested))):
            host.history = [stored, message("assistant", text("4711."))]
            later = await processed(
                plugin, f"n{number}", text("And the number of the locker again?"), folder=chat
            )
            assert FACT in words(later)


async def test_a_file_that_cannot_be_read_is_left_to_lm_studio(tmp_path: Path) -> None:
    host = LmStudioHost(files={"gone.txt": str(tmp_path / "gone.txt")})
    async with hosted(settings(tmp_path), host) as plugin:
        sent = await processed(
            plugin, "t1", attached("gone.txt"), attached("unknown.pdf"), text("Read it.")
        )
        off = await processed(plugin, "t2", attached("gone.txt"), text("x"), documentRAG=False)
    stored = [part.get("name") for part in sent["content"]]
    assert stored == ["gone.txt", "unknown.pdf", None]
    assert off["content"][0]["name"] == "gone.txt"


@pytest.mark.rows("F01")
async def test_memories_that_fit(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path, profile="default,save_memory")) as plugin:
        before = await processed(plugin, "t1", text("Which locker is mine?"))
        await plugin.open_session()
        await plugin.result("c1", "save_memory", text="My locker has the number 4711.")
        sent = await processed(plugin, "t2", text("Which locker is mine?"))
        off = await processed(plugin, "t3", text("Which locker is mine?"), memory=False)
    assert "4711" not in words(before)
    assert "4711" in words(sent)
    assert "4711" not in words(off)


@pytest.mark.rows("E147", "E148")
async def test_status_lines_have_the_language_of_the_chat(tmp_path: Path) -> None:
    (tmp_path / "stored-1.txt").write_text("Der Umzug ist am Freitag.\n")
    host = LmStudioHost(files={"plan.txt": str(tmp_path / "stored-1.txt")})
    requested = text("Wann ist der Umzug?")
    async with hosted(settings(tmp_path), host) as plugin:
        await processed(plugin, "t1", attached("plan.txt"), requested)
        lines = [update["state"]["text"] for update in plugin.updates]
    assert lines[0] == "plan.txt wird gelesen"
    assert lines[-1].startswith("toolcrib hat ergänzt: ")


def long_chat() -> list[dict[str, Any]]:
    request = {"type": "function", "name": "read_log", "id": "c1", "arguments": {"day": 1}}
    chat = [message("user", text(f"Look at the logs, please. {FACT}"))]
    for number in range(12):
        call = {"type": "toolCallRequest", "toolCallRequest": {**request, "id": f"c{number}"}}
        result = {"type": "toolCallResult", "content": FILLER * 30, "toolCallId": f"c{number}"}
        chat += [
            message("assistant", text("I look."), call),
            message("tool", result),
            message("assistant", text(f"Nothing on day {number}.")),
            message("user", text(f"And on day {number + 1}?")),
        ]
    return [*chat, message("assistant", text("Nothing."))]


@pytest.mark.rows("F01", "C168", "C174")
async def test_the_guard_sums_up_what_lm_studio_will_cut_off(tmp_path: Path) -> None:
    host = LmStudioHost(model="small", window=4_096, history=long_chat())
    tree = settings(tmp_path, guard={"summary": "extract"}, profile="read_more")
    async with hosted(tree, host) as plugin:
        sent = await processed(plugin, "t1", text("What is the number of the locker?"))
        reported = plugin.updates[-1]["state"]
        off = await processed(plugin, "t2", text("And now?"), contextGuardEnabled=False)
    assert FACT in words(sent)
    assert "What was said before in this chat" in words(sent)
    assert "Budget:" in reported["text"]
    assert "summed up in this one" in reported["text"]
    assert reported["status"] == "done"
    assert len(words(sent)) < 4_096 * 3
    assert FACT not in words(off)


@pytest.mark.rows("S8.13")
async def test_a_message_that_is_cancelled(tmp_path: Path) -> None:
    host = LmStudioHost(model="small", window=4_096, history=long_chat())
    with model_server(Raw(mute=True)) as server:
        agent = {"base_url": server.url}
        async with hosted(settings(tmp_path, agent=agent, profile="read_more"), host) as plugin:
            await plugin.preprocess("t1", text("What is the number?"))
            await until(lambda: server.requested)
            await plugin.send("setPromptPreprocessor", {"type": "abort", "taskId": "t1"})
            await plugin.hears("aborted", taskId="t1")
            await plugin.send("setPromptPreprocessor", {"type": "abort", "taskId": "unknown"})
            host.history = []
            await processed(plugin, "t2", text("Hello"))
            assert not plugin.heard("complete", taskId="t1")
            assert not plugin.heard("aborted", taskId="unknown")


async def test_what_goes_wrong_leaves_the_message_as_it_is(tmp_path: Path) -> None:
    async with hosted(settings(tmp_path, stages={"use": ["nonsense"]})) as plugin:
        sent = await processed(plugin, "t1", text("Hello"))
        assert sent == {"role": "user", "content": [text("Hello")]}
        assert plugin.updates[-1]["state"]["status"] == "error"
        assert "nonsense" in plugin.updates[-1]["state"]["text"]
    async with hosted(settings(tmp_path)) as plugin:
        await plugin.send("setPromptPreprocessor", {"type": "preprocess", "taskId": "t1"})
        await plugin.hears("complete", taskId="t1")
        for number in range(4):
            await plugin.preprocess("same", text(f"{number}"))
        await plugin.hears("error", taskId="same")


@pytest.mark.rows("C171", "F01")
async def test_a_long_file_is_read_by_what_the_message_is_about(tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    lines = [f"filler line {number}" for number in range(1, 5001)]
    lines[2999] = "def parse_ledger(text):"
    (tmp_path / "work" / "a.txt").write_text("\n".join(lines))
    for folder in (str(tmp_path / "chat"), None):
        async with hosted(chosen) as plugin:
            await processed(plugin, "t1", text("Why does parse_ledger fail?"), folder=folder)
            await plugin.open_session("s1", folder)
            found = await plugin.result("c1", "read_file", path="a.txt")
            await plugin.open_session("s2", folder, smartReading=False)
            plain = await plugin.result("c2", "read_file", "s2", path="a.txt")
        assert "3000|def parse_ledger(text):" in found
        assert "filler line 60" not in found
        assert "filler line 60" in plain
