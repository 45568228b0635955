"""Settings of other systems, taken over from files and variables."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.surfaces.cli.program import Program
from toolcrib.memory.takeover import FOREIGN
from toolcrib.surfaces.cli.config_file import add_values

pytestmark = pytest.mark.timeout(180)


def test_settings_of_plugins_are_found_shown_and_written(program: Program, tmp_path: Path) -> None:
    home = tmp_path / "person"
    plugins = home / ".lmstudio" / ".internal" / "plugins"
    plugins.mkdir(parents=True)
    fields = [
        {"key": "protectedPaths", "value": "secret.txt\nnotes, other"},
        {"key": "subAgentLoopLimit", "value": 12},
        {"key": "subAgentProfiles", "value": json.dumps({"poet": "You write verse."})},
        {"key": "embeddingModel", "value": "x"},
    ]
    (plugins / "toolbox.json").write_text(json.dumps({"fields": fields}))
    (plugins / "web.json").write_text(
        json.dumps({"webMaxResults": 90, "contentLimit": 8000, "safeSearch": "auto"})
    )
    (plugins / "unrelated.json").write_text(json.dumps({"retries": 3, "name": "x"}))
    file = tmp_path / "state" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    mine = "# mine\n[agent]  # of agents\nreview = true\n"
    file.write_text(mine)
    env = {
        "HOME": str(home),
        "LLM_CHAT_WEB_SEARCH_PROVIDER": "tavily",
        "LLM_CHAT_WEB_SEARCH_API_KEY": "tvly-secret",
        "LLM_CHAT_WEB_FETCH_TIMEOUT_MS": "7000",
    }
    displayed = program("import", env=env)
    assert displayed.code == 0, displayed.err
    assert "embeddingModel" in displayed.out
    assert "left out: web.search.limit" in displayed.out
    assert "unrelated" not in displayed.out
    assert "tvly-secret" not in displayed.out
    assert file.read_text() == mine
    done = program("import", "--write", env=env)
    assert done.code == 0, done.err
    text = file.read_text()
    assert text.startswith("# mine\n[agent]  # of agents\n")
    settings = tomllib.loads(text)
    assert settings["agent"]["steps"] == 12
    assert settings["agent"]["roles"]["poet"]["persona"] == "You write verse."
    assert settings["workspace"]["protect_write"] == ["secret.txt", "notes", "other"]
    assert settings["workspace"]["protect_read"] == ["secret.txt", "notes", "other"]
    assert settings["web"]["fetch"] == {"max_tokens": 2000, "timeout": 7}
    assert settings["web"]["search"] == {"safe_search": "moderate", "providers": ["tavily"]}
    assert settings["web"]["providers"]["tavily"]["api_key_env"] == "LLM_CHAT_WEB_SEARCH_API_KEY"
    again = program("import", "--write", env=env)
    assert "Nothing to write." in again.out
    assert program("config", "check", env=env).code == 0


def test_a_file_that_is_named_is_read_whatever_it_is(program: Program, tmp_path: Path) -> None:
    named = tmp_path / "mcp-config.json"
    named.write_text(json.dumps({"toolbox": {"disabledTools": ["git_push"], "showFullCode": 1}}))
    done = program("import", str(named))
    assert 'tools.disabled = ["git_push"]' in done.out
    assert "no setting here: showFullCode" in done.out
    named.write_text("{")
    assert program("import", str(named)).code == 2
    assert program("import", env={"HOME": str(tmp_path / "nobody")}).code == 1


def test_a_list_of_memories_is_taken_as_that(program: Program, tmp_path: Path) -> None:
    entries = [{"content": "The sluice is in Ulm.", "tags": ["place"]}]
    for name, content in (("mem.json", entries), ("more.json", {"memories": entries})):
        file = tmp_path / name
        file.write_text(json.dumps(content))
        found = program("import", str(file))
        assert "1 memory, taken over with --write." in found.out, found.err
    assert "1 memory taken over" in program("import", str(file), "--write").out
    assert "The sluice is in Ulm." in program("memory", "list").out
    nothing = tmp_path / "nothing.json"
    nothing.write_text(json.dumps({"colour": "green"}))
    done = program("import", str(nothing), "--write")
    assert done.code == 1
    assert "Nothing to write. Files of memories: toolcrib memory import FILE." in done.out
    both = program("import", str(file), str(nothing), "--write")
    assert both.code == 0, "one of them was taken over"
    helped = program("import", "--help").out
    assert [name for name in FOREIGN if name not in helped] == []


DOTTED = "web.search.limit = 5\nagent.review = true\n"
BRACES = "web = { search = { limit = 5 } }\n"


@pytest.mark.parametrize("before", [DOTTED, BRACES])
def test_what_cannot_be_added_is_to_be_written_by_hand(
    program: Program, tmp_path: Path, before: str
) -> None:
    file = tmp_path / "state" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(before)
    done = program("import", "--write", env={"LLM_CHAT_WEB_FETCH_TIMEOUT_MS": "7000"})
    assert done.code != 0
    assert "write it by hand" in done.err
    assert "web.fetch.timeout = 7" in done.err.splitlines()
    assert "Traceback" not in done.err
    assert file.read_text() == before
    done = program("config", "set", "web.fetch.render", "never")
    assert 'web.fetch.render = "never"' in done.err.splitlines()
    done = program("config", "set", "web.fetch.pdf_images", "true")
    assert "Traceback" not in done.err
    assert file.read_text() == before
    assert program("config", "set", "web.search.limit", "6").code == 0
    assert file.read_text() == before.replace("5", "6")


def test_a_role_without_a_name_is_left_out(program: Program, tmp_path: Path) -> None:
    named = tmp_path / "roles.json"
    named.write_text(json.dumps({"subAgentProfiles": {"": "You wait.", "poet": "You write."}}))
    done = program("import", str(named), "--write")
    assert done.code == 0, done.err
    assert "left out: agent.roles..persona lacks a name" in done.out
    settings = tomllib.loads((tmp_path / "state" / "config.toml").read_text())
    assert settings == {"agent": {"roles": {"poet": {"persona": "You write."}}}}


def test_comments_and_order_stay(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# top\nprofile = 'web'\n\n[web.search]  # mine\nlimit = 3\n")
    add_values(file, {"web.search.region": "de-DE", "a": 1, "agent.steps": 3})
    added = file.read_text()
    assert added == (
        "# top\nprofile = 'web'\na = 1\n\n[web.search]  # mine\nlimit = 3\nregion = \"de-DE\"\n"
        "\n[agent]\nsteps = 3\n"
    )
    assert tomllib.loads(added)["web"]["search"] == {"region": "de-DE", "limit": 3}
