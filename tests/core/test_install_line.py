"""The command that adds a part, by how toolcrib was installed."""

from __future__ import annotations

import sys

import pytest

from tests.cases import each_case
from toolcrib.core.errors import MissingExtra, install_line

PLACES = {
    "/home/a/.local/share/uv/tools/toolcrib": (
        "uv tool install",
        "uv tool install toolcrib --with",
    ),
    "C:\\Users\\a\\AppData\\Roaming\\uv\\tools\\toolcrib": ("uv tool install", "--with jq"),
    "/home/a/.local/share/pipx/venvs/toolcrib": ("pipx install --force", "pipx inject toolcrib"),
    "/home/a/.cache/uv/archive-v0/x": ("uvx --from", "uvx --with jq toolcrib"),
    "/home/a/project/.venv": ("pip install", "pip install jq"),
    "/usr": ("pip install", "pip install jq"),
}


@each_case(("prefix", "lines"), PLACES.items())
def test_it_fits_the_installation(prefix: str, lines: tuple[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "prefix", prefix)
        assert install_line("toolcrib[documents]").startswith(lines[0])
        assert '"toolcrib[documents]"' in MissingExtra("documents", "Reading it").hint
        assert lines[1] in install_line("jq")


def test_it_is_for_the_user_and_not_for_a_run() -> None:
    assert MissingExtra("create", "Writing it").hint.startswith("The user can install it")
