"""Checks of a project that need nothing run: circular imports, many imports, broken settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath

from toolcrib.files.search.scope import SearchScope, walk
from toolcrib.system.threads import Checkpoint
from toolcrib.text.display import counted
from toolcrib.text.toml_values import toml_value
from toolcrib.text.yaml_events import yaml_events

MAX_FILE_BYTES = 1_000_000
MAX_FILES = 20_000
MAX_LISTED = 20
PYTHON = (".py", ".pyi")
JAVASCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs")
SETTINGS = (".json", ".toml", ".yaml", ".yml")
WITH_COMMENTS = ("tsconfig", "jsconfig", ".eslintrc", "devcontainer")
"""How files of JSON begin that may hold comments."""
_PYTHON_IMPORT = re.compile(
    r"^(?:from[ \t]+(?P<module>\.*[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n;#]+)"
    r"|import[ \t]+(?P<modules>[^\n;#]+))",
    re.MULTILINE,
)
_JAVASCRIPT_IMPORT = re.compile(
    r"^[ \t]*(?:import|export)\b[^;\"'`]*?[\"']([^\"'\n]+)[\"']"
    r"|\brequire\([ \t]*[\"']([^\"'\n]+)[\"']",
    re.MULTILINE,
)


@dataclass(slots=True)
class ProjectSources:
    """What the checks look at: imports of each source by the file imported, broken settings.

    `counts` are all imports of a file, `imports` those of files of the project.
    """

    counts: dict[str, int] = field(default_factory=dict)
    imports: dict[str, set[str]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    partly: bool = False


def sources_of(scope: SearchScope, check: Checkpoint) -> ProjectSources:
    """Read the sources and settings of a project. It blocks."""
    texts: dict[str, str] = {}
    found = ProjectSources()
    with scope.real.open() as top:
        for level in walk(scope, top, check):
            for name in level.files:
                if not name.endswith((*PYTHON, *JAVASCRIPT, *SETTINGS)):
                    continue
                data = level.read(name, MAX_FILE_BYTES)
                if data is not None:
                    texts[f"{level.prefix}{name}"] = data.decode("utf-8", "replace")
            if len(texts) > MAX_FILES:
                found.partly = True
                break
    for path, text in texts.items():
        check()
        if path.endswith(SETTINGS):
            reason = _fault(path, text)
            if reason:
                found.broken[path] = reason
            continue
        named = list(_python(path, text) if path.endswith(PYTHON) else _javascript(path, text))
        found.counts[path] = len({tuple(candidates) for candidates in named})
        found.imports[path] = {
            hit for candidates in named for hit in candidates if hit in texts and hit != path
        }
    return found


def _python(path: str, text: str) -> Iterator[list[str]]:
    """For each import of a Python file, the paths that it may mean."""
    for match in _PYTHON_IMPORT.finditer(text):
        if match["modules"] is not None:
            for module in match["modules"].split(","):
                yield _modules("", module.split(" as ")[0].strip().split("."), path)
            continue
        module = match["module"]
        level = len(module) - len(module.lstrip("."))
        parts = [part for part in module[level:].split(".") if part]
        base = dirname(path)
        for _ in range(level - 1):
            base = dirname(base)
        inner = [n.split(" as ")[0].strip(" ()\n\t") for n in match["names"].split(",")]
        whole = _modules(base if level else "", parts, path)
        deeper = [p for n in inner if n for p in _modules(base if level else "", [*parts, n], path)]
        yield [p for p in deeper if p not in whole] + (whole if parts else [])


def _modules(base: str, parts: list[str], path: str) -> list[str]:
    """The files of a module: beneath a folder, or any folder above the file that imports it."""
    bases = [base] if base else ["", "src", *_above(path)]
    found = []
    for start in dict.fromkeys(bases):
        place = join(start, *parts) if parts else start
        found += [f"{place}.py", f"{place}/__init__.py"]
    return found


def _above(path: str) -> Iterator[str]:
    here = dirname(path)
    while here:
        yield here
        here = dirname(here)


def _javascript(path: str, text: str) -> Iterator[list[str]]:
    for match in _JAVASCRIPT_IMPORT.finditer(text):
        named = match[1] or match[2]
        if not named.startswith("."):
            yield [named]
            continue
        place = normpath(join(dirname(path), named))
        stem = re.sub(r"\.[cm]?[jt]sx?$", "", place)
        files = [place, *(f"{stem}{end}" for end in JAVASCRIPT)]
        yield files + [f"{place}/index{end}" for end in JAVASCRIPT]


def _fault(path: str, text: str) -> str:
    """Why a file of settings cannot be read; empty where it can."""
    import yaml  # type: ignore[import-untyped]

    name = path.rpartition("/")[2]
    try:
        if name.endswith(".toml"):
            toml_value(text)
        elif name.endswith(".json") and not name.startswith(WITH_COMMENTS):
            json.loads(text)
        elif name.endswith((".yaml", ".yml")):
            for _ in yaml_events(text):
                pass
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        return " ".join(str(error).split())[:160]
    return ""


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Files that import each other, each group in order, the largest group first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    held: set[str] = set()
    groups: list[list[str]] = []
    for root in imports:
        if root in index:
            continue
        work = [(root, iter(sorted(imports[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        held.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    groups.append(_popped(stack, held, node))
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                held.add(following)
                work.append((following, iter(sorted(imports.get(following, ())))))
            elif following in held:
                low[node] = min(low[node], index[following])
    return sorted((sorted(g) for g in groups if len(g) > 1), key=lambda g: (-len(g), g))


def _popped(stack: list[str], held: set[str], node: str) -> list[str]:
    at = stack.index(node)
    group = stack[at:]
    del stack[at:]
    held.difference_update(group)
    return group


def findings_of(check: str, sources: ProjectSources, max_imports: int) -> tuple[str, list[str]]:
    """What a check found: a heading, and its findings."""
    if check == "circular":
        found = [" <-> ".join(group[:8]) for group in circles(sources.imports)]
        head = f"circular: {len(found):,} circles of imports" if found else "circular: none"
    elif check == "imports":
        many = sorted(
            ((count, path) for path, count in sources.counts.items() if count > max_imports),
            reverse=True,
        )
        found = [f"{path}: {counted(count, 'import')}" for count, path in many]
        head = f"imports: {counted(len(found), 'file')} with more than {max_imports}"
    else:
        found = [f"{path}: {reason}" for path, reason in sorted(sources.broken.items())]
        head = (
            f"config: {counted(len(found), 'file')} that cannot be read"
            if found
            else "config: all read"
        )
    return head + (" (of a part of the project)" if sources.partly else ""), found
