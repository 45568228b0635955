"""What a package says of its project: all of it from one line of pyproject.toml.

With `repository` under `[tool.hatch.metadata.hooks.custom]` the package has addresses, and the
links of README.md lead there; without it there are none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


class ProjectMetadata(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = self.config.get("repository", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if repository:
            metadata["urls"] = urls(repository)
            text = with_absolute_links(text, repository)
            text += f"\n<!-- mcp-name: {registry_name(repository)} -->\n"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def urls(repository: str) -> dict[str, str]:
    """The addresses of a project on GitHub."""
    return {
        "Repository": repository,
        "Documentation": f"{repository}/tree/main/docs",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Security": f"{repository}/security",
    }


def with_absolute_links(text: str, repository: str) -> str:
    """Markdown whose links into the project lead to its address."""
    return RELATIVE.sub(rf"]({repository}/blob/main/\1)", text)


def registry_name(repository: str) -> str:
    """The name in the registry of MCP servers, which belongs to the owner on GitHub."""
    owner, name = repository.removeprefix("https://github.com/").split("/")
    return f"io.github.{owner}/{name}"
