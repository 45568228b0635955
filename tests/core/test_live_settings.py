"""What the user sets holds: against the model, at once where it can, and told where it is wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.config import Config
from toolcrib.core.context import Caller
from toolcrib.core.errors import ConfigError
from toolcrib.toolbox import Toolbox


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(path))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 400)))
    monkeypatch.chdir(folder)
    return path


@pytest.mark.rows("F02", "A15", "A16", "A29")
async def test_what_the_user_pins_a_model_cannot_override(file: Path) -> None:
    file.write_text("[pin]\nread_file.lines = 2\nlist_directory = {depth = 0, sort = 'Auto'}\n")
    async with Toolbox() as box:
        for sent in ({}, {"lines": 300}, {"limit": 300}):
            result = await box.call("read_file", {"path": "a.txt", **sent})
            assert "line 2" in result.text
            assert "line 3\n" not in result.text, sent
        assert "the user has set it (pin.read_file)" in result.text
        assert (await box.call("list_directory", {"sort": "size", "depth": 2})).error is None
        # A call by another name, or through another tool, is the same call.
        result = await box.call(
            "call_tool", {"name": "cat", "arguments": {"path": "a.txt", "lines": 9}}
        )
        assert "line 3\n" not in result.text
        file.write_text("[pin]\nread_file.nonesuch = 2\n")
        result = await box.call("read_file", {"path": "a.txt"})
        assert result.error is not None
        assert "pin.read_file.nonesuch is no argument" in result.error.message


@pytest.mark.rows("A46")
async def test_settings_of_content_count_with_the_next_call_and_others_are_told(
    file: Path,
) -> None:
    async with Toolbox(workspace=file.parent / "work") as box:
        call: dict[str, Any] = {"path": "a.txt"}
        whole = await box.call("read_file", call)
        assert "line 300" in whole.text
        file.write_text(
            "results.max_tokens = 100\n"
            "egress.connect_timeout = 3\nweb.search.gap_seconds = 1\nweb.search.limit = 3\n"
        )
        short = await box.call("read_file", call)
        assert "line 300" not in short.text
        assert "again: egress.connect_timeout, web.search.gap_seconds." in short.text
        assert box.config.web.search.limit == 3
        assert box.config.egress.connect_timeout == Config().egress.connect_timeout
        assert "started again" not in (await box.call("read_file", call)).text, "told once"
        # Rules of the policy hold at once as well.
        file.write_text('[[policy.rules]]\naction = "deny"\ntool = "read_file"\n')
        denied = await box.call("read_file", call)
        assert denied.error is not None
        assert denied.error.code == "denied"
        # What cannot be read changes nothing.
        file.write_text('[[policy.rules]]\naction = "dney"\n')
        denied = await box.call("read_file", call)
        assert denied.error is not None
        assert "The settings of before hold on." in denied.text
        file.unlink()
        assert "line 300" in (await box.call("read_file", call)).text


async def test_a_wrong_value_is_told_and_the_default_is_used(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('limits.concurrency = 0\nresults.max_tokens = "many"\nweb.search.limit = 3\n')
    monkeypatch.setenv("TOOLCRIB_WEB__FETCH__LINKS", "-5")
    config = Config.load()
    assert config.limits == Config().limits
    assert (config.results.max_tokens, config.web.search.limit) == (4000, 3)
    reported = " ".join(config.problems)
    for name in ("limits.concurrency", "results.max_tokens", "web.fetch.links"):
        assert f"{name}: " in reported
    async with Toolbox() as box:
        result = await box.call("list_directory")
        assert "Settings: limits.concurrency: " in result.text
        assert "Settings:" not in (await box.call("list_directory")).text


@pytest.mark.parametrize(
    "text",
    [
        '[[policy.rules]]\naction = "dney"\n',
        "workspace.protect_read = {a = 1}\n",
        "egress.deny_hosts = 3\n",
        'run.level = "strog"\n',
        "web.search.providers = 3\n",
        "store.cache_bytes = 0\n",
        "[agent.roles.mine]\nrights = 3\n",
    ],
)
def test_a_default_never_stands_in_for_what_protects(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError):
        Config.load()


def test_a_wrong_flag_is_an_error(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"limits\.concurrency"):
        Config.load({"limits": {"concurrency": 0}})


@pytest.mark.rows("B27")
def test_the_variables_of_llm_chat_are_settings(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "SEARCH_PROVIDER": "tavily",
        "SEARCH_API_KEY": "s3cret",
        "SEARCH_MAX_RESULTS": "7",
        "SEARCH_MAX_CHARS_PER_RESULT": "900",
        "SEARCH_TIMEOUT_MS": "2500",
        "SEARCH_CONCURRENCY": "2",
        "MAX_CHARS_PER_FETCH": "8000",
        "MAX_CHARS_PER_FETCH_LIMIT": "40000",
        "FETCH_TIMEOUT_MS": "7000",
        "MAX_CONTENT_LENGTH_BYTES": "123456",
        "FETCH_CONCURRENCY": "0",
    }.items():
        monkeypatch.setenv(f"LLM_CHAT_WEB_{name}", value)
    file.write_text("web.search.limit = 9\n")
    config = Config.load()
    search, fetch = config.web.search, config.web.fetch
    assert search.providers == ["tavily"]
    assert config.web.providers["tavily"].api_key_env == "LLM_CHAT_WEB_SEARCH_API_KEY"
    assert (search.max_chars, search.timeout, search.concurrency) == (900, 2.5, 2)
    assert (fetch.max_tokens, fetch.ceiling, fetch.timeout) == (2000, 10_000, 7)
    assert fetch.max_bytes == 123_456
    assert search.limit == 9, "a setting of toolcrib goes before"
    assert fetch.concurrency == Config().web.fetch.concurrency
    assert "LLM_CHAT_WEB_FETCH_CONCURRENCY is no whole number" in config.problems[0]
    assert "s3cret" not in str(config.model_dump())


@pytest.mark.rows("C123")
async def test_equal_calls_in_a_row_are_told(file: Path) -> None:
    async with Toolbox() as box:
        call, host = ("read_file", {"path": "gone.txt"}), Caller("mcp")
        for number in range(1, 5):
            result = await box.call(*call, caller=host)
            assert ("in a row" in result.text) == (number >= 3)
        assert "sent 4 times in a row, with the same result" in result.text
        await box.call("list_directory", caller=host)
        assert "in a row" not in (await box.call(*call, caller=host)).text
        # Calls that were sent at once are one time: none had an answer yet.
        for number in (1, 2, 3):
            sent = [box.call("list_directory", caller=host) for _ in range(3)]
            texts = [result.text for result in await asyncio.gather(*sent)]
            assert ["in a row" in text for text in texts] == [number == 3] * 3
        # A call that finds something new each time is no repetition.
        for number in range(5):
            Path("a.txt").write_text(f"{number}\n")
            found = await box.call("read_file", {"path": "a.txt"}, caller=host)
            assert "in a row" not in found.text
        file.write_text("limits.repeats = 0\n")
        for _ in range(4):
            assert "in a row" not in (await box.call(*call, caller=host)).text
