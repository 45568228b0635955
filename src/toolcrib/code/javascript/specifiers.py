"""Which file of the project the text of an import means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from posixpath import dirname, join, normpath
from typing import Any

from toolcrib.code.project import Project
from toolcrib.core.errors import ToolError

ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript imports a file by the name that it will have."""
LITERAL = re.compile(r"""["'`]([^"'`\s\\]{1,300})["'`]""")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
MAX_SETTINGS = 200_000


class Specifiers:
    """Resolves what imports say; it remembers. It blocks."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[tuple[str, str], str | None] = {}
        self._settings: dict[str, tuple[str, dict[str, list[str]], str | None]] = {}

    def resolve(self, path: str, said: str) -> str | None:
        """The file that an import in a file means; None for what is not of the project."""
        key = (dirname(path) if said.startswith(".") else path, said)
        if key not in self._found:
            self._found[key] = self._resolve(path, said)
        return self._found[key]

    def _resolve(self, path: str, said: str) -> str | None:
        said = said.partition("?")[0]
        if said.startswith("."):
            return self._file(join(dirname(path), said))
        for candidate in self._mapped(path, said):
            found = self._file(candidate)
            if found is not None:
                return found
        return None

    def _file(self, place: str) -> str | None:
        place = normpath(place)
        if place.startswith(".."):
            return None
        stem, dot, ending = place.rpartition(".")
        written = WRITTEN.get(f".{ending}", ()) if dot and stem else ()
        candidates = [
            place,
            *(stem + other for other in written),
            *(place + other for other in ENDINGS),
            *(join(place, f"index{other}") for other in ENDINGS),
        ]
        return next((normpath(c) for c in candidates if normpath(c) in self._project), None)

    def may_mean(self, path: str, said: str, files: Iterable[str]) -> bool:
        """Whether a name without a known place may still mean one of some files."""
        if said.startswith(".") or self.resolve(path, said) is not None:
            return False
        tail = [part for part in said.lstrip("@~#/").split("/") if part]
        if not tail:
            return False
        for file in files:
            stem = re.sub(r"(\.d)?\.\w+$", "", file)
            parts = stem.removesuffix("/index").split("/")
            last = re.sub(r"\.\w+$", "", tail[-1])
            if len(tail) > 1 and last == parts[-1]:
                return True
            if said in self._packages(file):
                return True
        return False

    def _packages(self, file: str) -> Iterator[str]:
        folder = dirname(file)
        while True:
            with suppress(ToolError, ValueError):
                name = self._json(join(folder, "package.json")).get("name")
                if isinstance(name, str):
                    yield name
            if not folder:
                return
            folder = dirname(folder)

    def _mapped(self, path: str, said: str) -> Iterator[str]:
        folder = dirname(path)
        while True:
            base, paths, root = self._settings_of(folder)
            for pattern, targets in paths.items():
                head, star, tail = pattern.partition("*")
                if (star and said.startswith(head) and said.endswith(tail)) or said == pattern:
                    inner = said[len(head) : len(said) - len(tail)] if star else ""
                    yield from (join(folder, base, t.replace("*", inner)) for t in targets)
            if root is not None:
                yield join(folder, root, said)
            if not folder:
                return
            folder = dirname(folder)

    def _settings_of(self, folder: str) -> tuple[str, dict[str, list[str]], str | None]:
        known = self._settings.get(folder)
        if known is None:
            known = (".", {}, None)
            for name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
                with suppress(ToolError, ValueError, AttributeError):
                    options = self._json(join(folder, name)).get("compilerOptions") or {}
                    base = options.get("baseUrl")
                    paths = {k: list(v) for k, v in (options.get("paths") or {}).items()}
                    if paths or base is not None:
                        known = (base or ".", paths, base)
                        break
            self._settings[folder] = known
        return known

    def _json(self, path: str) -> Any:
        data = self._project.scope.file(path).read_bytes(MAX_SETTINGS)
        text = data.decode("utf-8-sig", "replace")
        try:
            return json.loads(text)
        except ValueError:
            return json.loads(_COMMENT.sub(lambda m: m[1] or "", text))


def literals(text: str) -> set[str]:
    """Every short string of a text that may name a module."""
    return set(LITERAL.findall(text))
