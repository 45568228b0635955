"""LM Studio on this machine: its ports, its home folder, and the Deno and the Python in there."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from toolcrib.execution.interpreters.programs import is_program
from toolcrib.execution.toolchains import home
from toolcrib.files.handles import read_plain

LMSTUDIO_PORTS = (41343, 52993, 16141, 39414, 22931)
"""Those at which it answers its plugins, the usual one first."""
POINTER = ".lmstudio-home-pointer"
"""A file in the home folder that says where it is, if it is not where it usually is."""
MAX_POINTER_BYTES = 10_000
USUAL = (".cache/lm-studio", ".lmstudio")
UTILS = ".internal/utils"
PYTHONS = "extensions/backends/vendor/_amphibian"


def lmstudio_home() -> Path | None:
    """The folder of LM Studio; None where it is not installed."""
    own = home()
    places = [own / place for place in USUAL]
    with suppress(OSError):
        named = read_plain(own / POINTER, MAX_POINTER_BYTES).decode("utf-8", "replace").strip()
        if Path(named).is_absolute():
            places.insert(0, Path(named))
    return next((place for place in places if place.is_dir()), None)


def lmstudio_utils() -> list[Path]:
    """The folder of its programs, Deno among them."""
    found = lmstudio_home()
    return [] if found is None else [found / UTILS]


def lmstudio_python() -> str:
    """The newest of its Pythons; empty where it has none."""
    found = lmstudio_home()
    if found is None:
        return ""
    programs = [str(path) for path in (found / PYTHONS).glob("cpython3*/bin/python3")]
    usable = [program for program in programs if is_program(program)]
    return max(usable, key=lambda name: [int(n) for n in re.findall(r"\d+", name)], default="")
