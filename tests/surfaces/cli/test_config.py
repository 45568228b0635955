"""The settings, and where each comes from."""

from __future__ import annotations

import json
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.scripted import Answer, scripted
from tests.surfaces.cli.program import Program
from toolcrib.core.config import Config
from toolcrib.surfaces.cli.config import document

# Each test runs the program several times, each with a time limit of its own.
pytestmark = pytest.mark.timeout(180)

KEYS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=("Cs",))),
)
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        st.one_of(SCALARS, st.lists(SCALARS, max_size=3)),
        lambda inner: st.one_of(
            st.dictionaries(KEYS, inner, max_size=3),
            st.lists(st.dictionaries(KEYS, inner, min_size=1, max_size=2), max_size=2),
        ),
        max_leaves=8,
    ),
    max_size=4,
)


@given(TREES)
def test_any_tree_comes_back_from_its_toml(tree: dict[str, Any]) -> None:
    assert tomllib.loads(document(tree, lambda _: "default")) == tree


def file_of(tmp_path: Path) -> Path:
    file = tmp_path / "state" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    return file


@pytest.mark.rows("B27", "D33")
def test_each_layer_wins_over_the_one_below(program: Program, tmp_path: Path) -> None:
    file_of(tmp_path).write_text(
        'profile = "web"\n[web.search]\nlimit = 3\ncache_seconds = 1\ngap_seconds = 9\n'
        '[web.providers.searxng]\nbase_url = "http://127.0.0.1:8888"\n'
    )
    env = {"TOOLCRIB_WEB__SEARCH__CACHE_SECONDS": "2", "TOOLCRIB_WEB__SEARCH__LIMIT": "4"}
    env |= {"LLM_CHAT_WEB_SEARCH_CONCURRENCY": "2", "LLM_CHAT_WEB_SEARCH_MAX_RESULTS": "8"}
    done = program("config", "--set", "web.search.limit=5", env=env)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == f"# {file_of(tmp_path)}"
    for expected in (
        "limit = 5  # flag",
        "cache_seconds = 2  # env",
        "gap_seconds = 9.0  # file",
        "concurrency = 2  # LLM_CHAT_WEB_*",
        "timeout = 15.0  # default",
        'profile = "web"  # file',
        'base_url = "http://127.0.0.1:8888"  # file',
        "# default is not set",
    ):
        assert expected in lines


def test_what_is_shown_is_a_valid_file(program: Program, tmp_path: Path) -> None:
    rules = 'policy.rules=[{"action":"deny","tool":"x*"},{"action":"ask","rights":["net"]}]'
    done = program("config", "--set", rules, "--set", "results.per_tool.read_file=99")
    tree = tomllib.loads(done.out)
    copy = tmp_path / "copy.toml"
    copy.write_text(done.out)
    config = Config.load(path=copy)
    assert [rule.tool for rule in config.policy.rules] == ["x*", "*"]
    assert config.results.per_tool == {"read_file": 99}
    assert tree["http"]["port"] == 8722


def test_no_secret_is_shown(program: Program) -> None:
    done = program(
        "config",
        *("--set", "egress.proxy=http://user:hunter2@proxy:3128"),
        *("--set", 'egress.headers={"Authorization": "Bearer abc.def", "X-Api-Key": "k3y"}'),
        *("--set", "web.providers.brave.api_key_env=BSAabcdef123"),
        *("--set", "web.providers.other.api_key_env=OTHER_KEY"),
        *("--set", "store.url=sqlite:////tmp/x.db?key=s3cret"),
        env={"OTHER_KEY": "value-of-the-key"},
    )
    assert done.code == 0
    for secret in ("hunter2", "abc.def", "k3y", "BSAabcdef123", "s3cret", "value-of-the-key"):
        assert secret not in done.out
    assert 'api_key_env = "OTHER_KEY"  # flag' in done.out


def test_path(program: Program, tmp_path: Path) -> None:
    assert program("config", "path").out == f"{file_of(tmp_path)}\n"
    assert program("config", "path", "--config", "x.toml").out == "x.toml\n"


def test_check_finds_a_key_in_the_place_of_its_name(program: Program) -> None:
    done = program(
        *("config", "check", "--set", "web.providers.brave.api_key_env=bsa-123"),
        env={"TOOLCRIB_PROFIEL": "web"},
    )
    assert done.code == 0
    assert "web.providers.brave.api_key_env wants the name" in done.out
    assert "TOOLCRIB_PROFIEL is not a setting. Did you mean TOOLCRIB_PROFILE?" in done.out
    assert "bsa-123" not in done.out
    assert "warning" not in program("config", "check").out


def test_a_rule_for_a_tool_that_there_is_not_is_told(program: Program, tmp_path: Path) -> None:
    file_of(tmp_path).write_text(
        '[[policy.rules]]\naction = "deny"\ntool = "fetch_ulr"\n'
        '[[policy.rules]]\naction = "ask"\ntool = "git_*"\n'
        '[[policy.rules]]\naction = "ask"\ntool = "later_*"\n'
        '[[policy.rules]]\naction = "ask"\ntool = "tracker_send"\n'
        '[mcp.servers.tracker]\ncommand = "tracker"\n'
    )
    done = program("config", "check")
    first = "Rule 1 of policy.rules fits no tool: fetch_ulr. Did you mean fetch_url?"
    assert done.code == 0
    assert f"warning: {first}" in done.out
    assert "Rule 2" not in done.out
    assert "Rule 3" in done.out
    assert "Rule 4" not in done.out
    found = {c["name"]: c for c in program("doctor", "--offline", "--json").json["checks"]}
    assert found["configuration"]["state"] == "ok"
    assert first in found["configuration"]["detail"]


WRONG = [
    ("[web.searcher]\nlimit = 3\n", "unknown key web.searcher.\nDid you mean web.search?"),
    ("[run]\nlevel = 'strog'\n", "run.level: "),
    ("profile = \n", "is not valid TOML"),
    (b"profile = '\xff'\n", "cannot be read"),
]


def test_one_wrong_value_does_not_keep_the_rest(program: Program, tmp_path: Path) -> None:
    file_of(tmp_path).write_text("[web.search]\nlimit = 300\nat_once = 2\n")
    displayed = program("config")
    assert displayed.code == 0
    assert "web.search.limit: " in displayed.err
    assert "at_once = 2  # file" in displayed.out
    check = program("config", "check")
    assert (check.code, "web.search.limit: " in check.out) == (1, True)
    found = {c["name"]: c for c in program("doctor", "--offline", "--json").json["checks"]}
    assert found["configuration"]["state"] == "broken"
    assert "Note: Settings: web.search.limit: " in program("call", "join_words", "words=a").out


@pytest.mark.parametrize(
    ("content", "message", "words"),
    [
        *((content, message, ("config",)) for content, message in WRONG),
        (*WRONG[0], ("config", "check")),
        (*WRONG[0], ("mcp",)),
        (*WRONG[0], ("call", "join_words", "words=a")),
    ],
)
def test_a_wrong_file_is_one_clear_message(
    program: Program, tmp_path: Path, content: str | bytes, message: str, words: tuple[str, ...]
) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    file_of(tmp_path).write_bytes(raw)
    done = program(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("toolcrib: ")
    assert message in done.err
    assert str(file_of(tmp_path)) in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "web.search.limit"), "--set web.search.limit is not understood"),
        (("--set", "=3"), "is not understood"),
        (("--set", "policy.rules=[{"), "--set policy.rules looks like JSON"),
        (("--set", "web.search.limits=3"), "Did you mean web.search.limit?"),
        (("--config", "none.toml"), "none.toml does not exist"),
    ],
)
def test_wrong_flags(program: Program, words: tuple[str, ...], message: str) -> None:
    done = program("config", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_variables_that_contradict_each_other(program: Program) -> None:
    done = program("config", env={"TOOLCRIB_WEB": "x", "TOOLCRIB_WEB__SEARCH__LIMIT": "3"})
    assert "Traceback" not in done.err
    assert done.code in (0, 2)


def test_a_file_in_the_workspace_is_never_read(program: Program) -> None:
    for name in ("config.toml", "toolcrib.toml", ".toolcrib.toml"):
        (program.folder / name).write_text("profile = 'nope'\n")
    assert "nope" not in program("config").out


def test_settings_are_changed_and_comments_stay(program: Program, tmp_path: Path) -> None:
    file = file_of(tmp_path)
    assert program("config", "init").code == 0
    assert "There is one already" in program("config", "init").out
    file.write_text("# mine\n[web.search] # of the web\nlimit = 3 # few\n")
    for key, value in {
        "web.search.limit": "5",
        "web.search.region": "de-DE",
        "workspace.roots": '["/tmp"]',
        "pin.fetch_url.max_tokens": "300",
    }.items():
        done = program("config", "set", key, value)
        assert done.code == 0, done
    text = file.read_text()
    assert text.startswith("# mine\n[web.search] # of the web\nlimit = 5 # few\n")
    tree = tomllib.loads(text)
    assert tree["web"]["search"] == {"limit": 5, "region": "de-DE"}
    assert tree["workspace"]["roots"] == ["/tmp"]
    assert tree["pin"] == {"fetch_url": {"max_tokens": 300}}
    assert program("config", "get", "web.search.region").out == '"de-DE"\n'
    before = file.read_bytes()
    for words in (
        ("set", "web.search.limit", "500"),
        ("set", "web.serch.limit", "5"),
        ("set", "web.search.limit"),
        ("get", "web.serch"),
        ("unset", "web.search.limitt"),
    ):
        assert program("config", *words).code == 2, words
    assert file.read_bytes() == before
    assert program("config", "unset", "web.search.limit").code == 0
    assert program("config", "get", "web.search.limit").out == "10\n"
    assert file.read_text().startswith("# mine\n[web.search] # of the web\n")


@pytest.mark.rows("F04", "A45")
def test_the_cache_is_shown_and_cleared(program: Program) -> None:
    with scripted() as server:
        server["/page"] = Answer("<p>Hello there</p>")
        fetch = ("call", "fetch_url", f"url={server.url}/page")
        opened = ("--set", f"web.fetch.allow_hosts={server.origin}")
        for _ in range(2):
            assert "Hello there" in program(*fetch, *opened).out
        assert server.count("/page") == 1
        displayed = program("cache").out
        assert re.search(r"body: \d+ entr(y|ies)", displayed)
        assert displayed.rstrip().endswith("toolcrib.db")
        assert program("cache", "clear").code == 0
        assert program("cache").out.startswith("0 bytes of ")
        program(*fetch, *opened)
        assert server.count("/page") == 2


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("profile", "default,fils", "fils"),
        ("workspace.roots", "/nonexistent", "/nonexistent is no folder"),
        ("web.search.providers", "duckduckgo,googel", "googel"),
    ],
)
def test_what_does_not_exist_is_refused_and_found(
    program: Program, key: str, value: str, word: str
) -> None:
    refused = program("config", "set", key, value)
    assert refused.code == 2
    assert word in refused.err
    file = Path(program("config", "path").out.strip())
    assert not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    written = f'["{value}"]' if key == "workspace.roots" else f'"{value}"'
    if key == "web.search.providers":
        written = json.dumps(value.split(","))
    section, _, name = key.rpartition(".")
    file.write_text((f"[{section}]\n" if section else "") + f"{name} = {written}\n")
    checked = program("config", "check")
    assert checked.code == 1
    assert word in checked.out
    assert word in program("doctor", "--offline").out


def test_several_at_once_lose_nothing(program: Program, tmp_path: Path) -> None:
    settings = {"limit": 7, "timeout": 9, "max_chars": 333, "region": "de-DE"}

    def set_one(name: str) -> int:
        return program("config", "set", f"web.search.{name}", str(settings[name])).code

    with ThreadPoolExecutor(len(settings)) as pool:
        assert set(pool.map(set_one, settings)) == {0}
    written = tomllib.loads(file_of(tmp_path).read_text())["web"]["search"]
    assert written == settings


def test_folders_that_cannot_be_used(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for folder, hint in {
        tmp_path / "none": "mkdir -p",
        tmp_path / "a.txt": "Name the folder that it is in.",
        tmp_path / "a.txt/b": "Name a folder that you may read.",
    }.items():
        done = program("--workspace", str(folder), "call", "current_time")
        assert done.code, folder
        assert hint in done.err
