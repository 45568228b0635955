"""What a search asks of its names at once: it finds every one that is protected."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from toolcrib.core.errors import ToolError
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import Workspace
from toolcrib.files.search.scope import SearchScope, _barred, _sieve, scope_of, suspects

FOLDERS = st.lists(st.sampled_from(["remotes", ".git", "a", "é", "src"]), max_size=2)
NAMES = st.sampled_from(
    ["a", "b", "x", "src", "main.py", "configure", ".git", "remotes", "Remotes. ", "origin", ".ssh",
     "config", "config.lock", "hgrc~", ".gitconfig", ".env", ".ENV. ", ".env.example", ".env\udcff",
     "#a\nb.pem#", "b.pem\n", "é", "\u212aey", "a.\u212aey", "id_rsa", "id_rsa.pub", "cacert.pem",
     "{a}", "{a,b}", "[a", "a]", "-", ".var", "app", "google-chrome", "...", "a\\b"]
)  # fmt: skip
PATTERNS = st.sampled_from(
    ["a", "a/*", "*/b", "*/*", "*", "/*", "src/*/*", "src/*/x", "[ab]", "[!a]", "[a", "[]a]", "{a}",
     "{a,b}", "é/*", "???", "*.py", "a*/**", "**/b", "***"]
)  # fmt: skip


def scope_beneath(top: Path, above: list[str], inside: list[str], lists: list[str]) -> SearchScope:
    """A scope of a folder `inside` of a workspace whose root lies in folders `above`."""
    root = top.joinpath("root", *above)
    root.joinpath(*inside).mkdir(parents=True, exist_ok=True)
    workspace = Workspace([str(root)])
    workspace.gate.protection.add(lists)
    try:
        return scope_of(workspace.resolve("/".join(inside) or "."))
    except ToolError:
        assume(False)  # nothing in a protected folder is searched
        raise


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("top")


@settings(max_examples=400)
@example(above=["remotes"], inside=[], lists=[], paths=[["origin"]])
@example(above=[".git", "remotes"], inside=[], lists=[], paths=[["origin"]])
@example(above=[".git"], inside=[], lists=[], paths=[["remotes", "origin"], ["src", "x"]])
@example(above=[], inside=["a"], lists=["a/*/*"], paths=[["b", "x"]])
@example(above=[], inside=[], lists=[], paths=[[".env\udcff"], ["#a\nb.pem#"]])
@given(
    above=FOLDERS,
    inside=FOLDERS,
    lists=st.lists(PATTERNS, max_size=3),
    paths=st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=6),
)
def test_no_protected_path_is_missed(
    top: Path, above: list[str], inside: list[str], lists: list[str], paths: list[list[str]]
) -> None:
    scope = scope_beneath(top, above, inside, lists)
    joined = list(map("/".join, paths))
    assert suspects(scope, joined) == {path for path in joined if scope.protected(path)}


@settings(max_examples=400)
@example(above=[".git"], inside=[], lists=[], prefix=["remotes"], names=["origin"])
@example(above=["remotes"], inside=[], lists=[], prefix=[], names=["x"])
@given(
    above=FOLDERS,
    inside=FOLDERS,
    lists=st.lists(PATTERNS, max_size=3),
    prefix=st.lists(NAMES, max_size=2),
    names=st.lists(NAMES, max_size=6),
)
def test_no_protected_name_of_a_folder_is_missed(
    top: Path,
    above: list[str],
    inside: list[str],
    lists: list[str],
    prefix: list[str],
    names: list[str],
) -> None:
    scope = scope_beneath(top, above, inside, lists)
    folder = "".join(f"{name}/" for name in prefix)
    assume(not (prefix and scope.protected(folder)))
    expected = {name for name in names if scope.protected(f"{folder}{name}")}
    assert _barred(scope, folder, names, _sieve(scope)) == expected


def test_our_own_places_are_found(top: Path) -> None:
    scope = scope_beneath(top, [], [], [])
    protection = scope.real.gate.protection
    protection._hidden.append([*map(fold, scope.real.root.real_parts), "store{1}", "a[b]"])
    paths = ["store{1}/a[b]/x", "store{1}/a", "x/a[b]/x"]
    assert suspects(scope, paths) == {paths[0]}


def test_ordinary_names_are_not_asked_one_by_one(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For `.git/remotes/*`, whose last name fits every one, each of them was asked."""
    questions: list[str] = []
    monkeypatch.setattr(SearchScope, "protected", lambda _, path: questions.append(path) or "")
    scope = scope_beneath(top, [], ["src"], [])
    names = [f"m{number}.py" for number in range(1_000)]
    assert not suspects(scope, [f"deep/{name}" for name in names])
    assert not _barred(scope, "deep/", names, _sieve(scope))
    assert not questions
    suspects(scope, [*names, "remotes/origin", "b.pem"])
    assert questions == ["remotes/origin", "b.pem"]
