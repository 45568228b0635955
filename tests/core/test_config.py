"""Layers of the configuration, and what is said when one is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.config import NEW_NAMES, Config, secret, setting
from toolcrib.core.errors import ConfigError, NotConfigured


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("TOOLCRIB_CONFIG", str(path))
    return path


def test_the_defaults_know_which_file_they_stand_in_for(file: Path) -> None:
    tree = Config.instead_of(file)
    assert tree.file == file
    assert tree.model_dump() == Config().model_dump()


@pytest.mark.rows("B27", "B28", "D33")
def test_layers_override_field_by_field(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('[web.search]\nlimit = 3\ntimeout = 7\nproviders = ["brave"]\n')
    monkeypatch.setenv("TOOLCRIB_WEB__SEARCH__TIMEOUT", "8")
    monkeypatch.setenv("TOOLCRIB_WEB__SEARCH__PROVIDERS", "searxng, duckduckgo")
    config = Config.load({"web": {"search": {"providers": ["mine"]}}})
    assert config.web.search.limit == 3
    assert config.web.search.timeout == 8
    assert config.web.search.providers == ["mine"]
    assert config.web.fetch == Config().web.fetch
    assert Config.load().web.search.providers == ["searxng", "duckduckgo"]


@pytest.mark.rows("E131")
def test_lists_are_json_or_commas_or_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ('["a", "b"]', "a,b", "a\nb\n"):
        monkeypatch.setenv("TOOLCRIB_WORKSPACE__PROTECT_WRITE", text)
        assert Config.load().workspace.protect_write == ["a", "b"]


def test_quotes_around_a_text_are_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `toolcrib config set`: what is quoted is read as JSON or TOML."""
    for given, value in (
        ('"SHOP_PASSWORD"', "SHOP_PASSWORD"),
        ("'SHOP_PASSWORD'", "SHOP_PASSWORD"),
        ('"a\\"b"', 'a"b'),
        ('"open', '"open'),
        ("it's", "it's"),
        ("'a'\nb = 'c'", "'a'\nb = 'c'"),
    ):
        assert setting(["x"], given, "x") == {"x": value}
    assert setting(["x"], "{ a = [1] }", "x") == {"x": {"a": [1]}}
    monkeypatch.setenv("TOOLCRIB_WEB__SEARCH__REGION", '"de-DE"')
    assert Config.load().web.search.region == "de-DE"


def test_a_provider_is_configured_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_WEB__PROVIDERS__SEARXNG__BASE_URL", "http://127.0.0.1:8888")
    assert Config.load().web.providers["searxng"].base_url == "http://127.0.0.1:8888"


@pytest.mark.parametrize(
    ("text", "says", "hints"),
    [
        ("[web.serch]\n", "unknown key web.serch", "Did you mean web.search?"),
        ("[store]\ncache_bytes = 0\n", "store.cache_bytes", "TOOLCRIB_*"),
        ('[policy]\ndefault = "maybe"\n', "policy.default", ""),
        ('[[policy.rules]]\naction = "allow"\ntol = "x"\n', "policy.rules.0.tol", ""),
        ("not toml", "not valid TOML", ""),
    ],
)
def test_a_wrong_file_is_explained(file: Path, text: str, says: str, hints: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        Config.load()
    assert says in caught.value.message
    assert hints in caught.value.hint


def test_a_misspelt_variable_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_WEB__SERCH__LIMIT", "3")
    with pytest.raises(ConfigError, match=r"web\.serch"):
        Config.load()


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        Config.load(path=tmp_path / "none.toml")


def test_the_tree_is_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        Config().profile = "all"  # type: ignore[misc]


@pytest.mark.rows("D09", "D11")
@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("", None, "none is configured"),
        ("TOOLCRIB_TEST_KEY", None, "not set"),
        ("TOOLCRIB_TEST_KEY", "  ", "is empty"),
    ],
)
def test_a_missing_secret_says_which_piece(
    name: str, value: str | None, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLCRIB_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TOOLCRIB_TEST_KEY", value)
    with pytest.raises(NotConfigured, match=says):
        secret(name, "Brave")


def test_a_secret_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_TEST_KEY", " s3cret ")
    assert secret("TOOLCRIB_TEST_KEY", "Brave") == "s3cret"


def test_nothing_secret_is_in_a_dump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_KEY", "s3cret")
    config = Config.load({"web": {"providers": {"brave": {"api_key_env": "BRAVE_KEY"}}}})
    dump: dict[str, Any] = config.model_dump()
    assert "s3cret" not in str(dump)


@pytest.mark.parametrize(("old", "new"), NEW_NAMES.items())
def test_a_setting_is_read_by_its_old_name(old, new, tmp_path, monkeypatch):
    *path, name = old.split(".")

    def value(config: Config, last: str) -> Any:
        for part in (*path, last):
            config = getattr(config, part)
        return config

    def tree(last: str, number: int) -> dict[str, Any]:
        return setting([*path, last], str(number), "test")

    kind = type(value(Config(), new))
    file = tmp_path / "old.toml"
    file.write_text(f"[{'.'.join(path)}]\n{name} = {'true' if kind is bool else 17}\n")
    config = Config.load(path=file)
    assert value(config, new) == kind(17)
    assert config.renamed == (f"{old} is {'.'.join([*path, new])} now",)

    variable = f"TOOLCRIB_{'__'.join([*path, name]).upper()}"
    monkeypatch.setenv(variable, "1" if kind is bool else "15")
    assert value(Config.load(path=file), new) == kind(15)
    if kind is not bool:
        assert value(Config.load(tree(name, 13), path=file), new) == 13
        assert value(Config.model_validate(tree(name, 14)), new) == 14
        earlier, later = tree(name, 15)[path[0]], tree(new, 16)[path[0]]
        both = {**earlier, **later} if len(path) == 1 else None
        if both:
            assert value(Config.load({path[0]: both}), new) == 16


def test_names_of_now_are_not_told(tmp_path):
    file = tmp_path / "new.toml"
    file.write_text("[run]\npending_hours = 2\n")
    assert Config.load(path=file).renamed == ()
