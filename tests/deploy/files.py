"""What docs/deploy.md shows, and the files that it leads to."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "deploy.md"


def displayed(language: str) -> str:
    """The one block of this language in the guide."""
    blocks = re.findall(
        rf"^```{language}\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 1, language
    return str(blocks[0])


def steps(dockerfile: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with what each is given, in one line."""
    lines = [line for line in dockerfile.splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.split("\n"))]
