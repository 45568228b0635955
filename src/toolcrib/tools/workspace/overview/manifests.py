"""Manifests of projects: name, version and what can be run, by the file that says so."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_COMMANDS = 12


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one file says. `commands` are ready to be typed, tests and checks first."""

    kind: str
    name: str = ""
    version: str = ""
    commands: tuple[str, ...] = ()


def manifest_of(file: str, text: str) -> Manifest | None:
    """Read a manifest; None where the file is none or cannot be read as one."""
    reader = READERS.get(file)
    if reader is None:
        return None
    try:
        return reader(text)
    except (ValueError, RecursionError, TypeError, AttributeError):
        return Manifest(f"{file} (cannot be read)")


def _python(text: str) -> Manifest:
    tree = tomllib.loads(text)
    project = _table(tree, "project") or _table(tree, "tool", "poetry")
    tools = _table(tree, "tool")
    commands = ["pytest"] if "pytest" in tools or "pytest" in text else []
    commands += [name for name in ("ruff check", "mypy") if name.split()[0] in tools]
    scripts = _table(project, "scripts") or _table(tools, "poetry", "scripts")
    return Manifest(
        "Python", _text(project, "name"), _text(project, "version"), (*commands, *scripts)
    )


def _node(text: str) -> Manifest:
    tree = json.loads(text)
    scripts = sorted(_table(tree, "scripts"), key=_importance)
    commands = tuple(f"npm run {name}" for name in scripts if isinstance(name, str))
    return Manifest("Node", _text(tree, "name"), _text(tree, "version"), commands)


def _rust(text: str) -> Manifest:
    package = _table(tomllib.loads(text), "package")
    commands = ("cargo test", "cargo clippy", "cargo build")
    return Manifest("Rust", _text(package, "name"), _text(package, "version"), commands)


def _go(text: str) -> Manifest:
    module = re.search(r"^module\s+(\S{1,200})", text, re.MULTILINE)
    version = re.search(r"^go\s+(\S{1,20})", text, re.MULTILINE)
    commands = ("go test ./...", "go vet ./...", "go build ./...")
    name = module[1] if module else ""
    return Manifest("Go", name, f"go {version[1]}" if version else "", commands)


def _maven(text: str) -> Manifest:
    before, _, rest = text[:200_000].partition("<parent>")
    own = before + rest.partition("</parent>")[2] if rest else before
    own = min((own.partition(f"<{part}>")[0] for part in _INNER), key=len)
    name = re.search(r"<artifactId>\s*([^<\s]{1,200})", own)
    version = re.search(r"<version>\s*([^<\s]{1,100})", own)
    commands = ("mvn test", "mvn package")
    return Manifest("Maven", name[1] if name else "", version[1] if version else "", commands)


_INNER = ("dependencies", "dependencyManagement", "build", "profiles", "modules")
"""Parts of a pom.xml that have names of their own in them."""


def _php(text: str) -> Manifest:
    tree = json.loads(text)
    scripts = sorted(_table(tree, "scripts"), key=_importance)
    commands = tuple(f"composer {name}" for name in scripts)
    return Manifest("PHP", _text(tree, "name"), _text(tree, "version"), commands)


def _deno(text: str) -> Manifest:
    tree = json.loads(text)
    tasks = tuple(f"deno task {name}" for name in sorted(_table(tree, "tasks"), key=_importance))
    return Manifest("Deno", _text(tree, "name"), _text(tree, "version"), tasks)


def _make(text: str) -> Manifest:
    targets = re.findall(r"^([A-Za-z][\w-]{0,40}):(?!=)", text, re.MULTILINE)
    commands = tuple(f"make {name}" for name in sorted(dict.fromkeys(targets), key=_importance))
    return Manifest("Make", commands=commands)


def _only(kind: str, *commands: str) -> Callable[[str], Manifest]:
    return lambda _: Manifest(kind, commands=commands)


READERS: Mapping[str, Callable[[str], Manifest]] = {
    "pyproject.toml": _python,
    "package.json": _node,
    "Cargo.toml": _rust,
    "go.mod": _go,
    "pom.xml": _maven,
    "composer.json": _php,
    "deno.json": _deno,
    "Makefile": _make,
    "setup.py": _only("Python (setup.py)", "pytest"),
    "requirements.txt": _only("Python requirements"),
    "build.gradle": _only("Gradle", "gradle test", "gradle build"),
    "build.gradle.kts": _only("Gradle", "gradle test", "gradle build"),
    "CMakeLists.txt": _only("CMake", "cmake -B build", "ctest --test-dir build"),
    "Gemfile": _only("Ruby", "bundle exec rake"),
    "mix.exs": _only("Elixir", "mix test"),
    "Package.swift": _only("Swift", "swift test"),
    "tox.ini": _only("tox", "tox"),
    "Dockerfile": _only("Docker"),
}


def _importance(name: Any) -> tuple[bool, str]:
    return not re.match(r"test|lint|check|build|typecheck|format", str(name)), str(name)


def _table(tree: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


def _text(tree: Mapping[str, Any], key: str) -> str:
    value = tree.get(key)
    return value[:200] if isinstance(value, str) else ""
