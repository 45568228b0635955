"""Write what a release has beside its wheel into dist/: bundle, notes, server.json.

    python scripts/release.py                 the bundle for hosts that install .mcpb files
    python scripts/release.py --tag v1.2.3    the notes too; fails where tag, version and
                                              changelog are not of one release

server.json, for the registry of MCP servers, is written once pyproject.toml has the address of
the project.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from toolcrib.core.registry import Registry
from toolcrib.core.version import VERSION
from toolcrib.toolbox import installed

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from hatch_build import registry_name, urls  # noqa: E402 - it stands beside pyproject.toml

OLDEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the bundle: the same content is the same bundle."""


def main() -> int:
    """Write the files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tag", help="the tag of the release, as v1.2.3")
    parser.add_argument("--to", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    if options.tag:
        if options.tag != f"v{VERSION}":
            print(f"The tag is {options.tag} and the version {VERSION}.", file=sys.stderr)
            return 1
        notes = notes_of(VERSION, (ROOT / "CHANGELOG.md").read_text("utf-8"))
        if not notes:
            print(f"CHANGELOG.md has no section [{VERSION}] with a date.", file=sys.stderr)
            return 1
        (options.to / "notes.md").write_text(notes, "utf-8")
    bundle = options.to / f"toolcrib-{VERSION}.mcpb"
    write_bundle(bundle)
    print(f"wrote {bundle}")
    repository = project()["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    if repository:
        entry = json.dumps(server(repository, bundle), indent=2)
        (options.to / "server.json").write_text(f"{entry}\n", "utf-8")
        print(f"wrote {options.to / 'server.json'}")
    return 0


def project() -> dict[str, Any]:
    """What pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def notes_of(version: str, changelog: str) -> str:
    """The section of a version that has a date; empty where there is none."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    found = re.search(rf"{heading}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() + "\n" if found else ""


def manifest() -> dict[str, Any]:
    """The manifest of the bundle."""
    told = project()
    repository = told["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    addresses = urls(repository) if repository else {}
    links: dict[str, Any] = {
        "repository": {"type": "git", "url": f"{repository}.git"},
        "documentation": addresses.get("Documentation"),
        "support": addresses.get("Issues"),
    }
    return {
        "manifest_version": "0.4",
        "name": told["project"]["name"],
        "version": VERSION,
        "description": told["project"]["description"],
        "author": {"name": "the toolcrib contributors"},
        **(links if repository else {}),
        "license": told["project"]["license"],
        "keywords": told["project"]["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "src/toolcrib/__main__.py",
            "mcp_config": {
                "command": "uv",
                "args": [
                    *("run", "--quiet", "--project", "${__dirname}"),
                    *("toolcrib", "mcp", "--workspace", "${user_config.workspace}"),
                ],
            },
        },
        "tools": [
            {"name": tool.name, "description": tool.description}
            for tool in Registry(installed()).listed("default")
        ],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": told["project"]["requires-python"]},
        },
        "user_config": {
            "workspace": {
                "type": "directory",
                "title": "Folder",
                "description": "The folder that the model may work in. Changes can be undone.",
                "required": True,
            }
        },
    }


def write_bundle(path: Path) -> None:
    """The manifest and the source, which the host's uv installs."""
    files = [ROOT / name for name in ("LICENSE", "README.md", "hatch_build.py", "pyproject.toml")]
    files += [
        file
        for file in (ROOT / "src").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        described = json.dumps(manifest(), indent=2, ensure_ascii=False)
        contents = {"manifest.json": described.encode()}
        contents |= {f.relative_to(ROOT).as_posix(): f.read_bytes() for f in sorted(files)}
        for name, content in contents.items():
            bundle.writestr(zipfile.ZipInfo(name, OLDEST), content, zipfile.ZIP_DEFLATED)


def server(repository: str, bundle: Path) -> dict[str, Any]:
    """The entry in the registry of MCP servers."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": registry_name(repository),
        "title": "toolcrib",
        "description": project()["project"]["description"].partition(":")[
            0
        ],  # 100 characters at most
        "version": VERSION,
        "repository": {"url": repository, "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "toolcrib",
                "version": VERSION,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
            },
            {
                "registryType": "mcpb",
                "identifier": f"{repository}/releases/download/v{VERSION}/{bundle.name}",
                "version": VERSION,
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
            },
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
