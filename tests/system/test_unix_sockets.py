"""Sockets that are bound to files, by the kernel's table."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tests.cases import each_case

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="by /proc")

if sys.platform == "linux":
    from toolcrib.system.unix_sockets import is_named


@each_case("name", ["plain", "re\rturn", " space", "\x0cfeed", "\u2028separator"])
def test_a_name_is_found_whatever_it_holds(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        assert is_named(path)
    assert not is_named(path)
