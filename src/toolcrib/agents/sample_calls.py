"""Arguments of tools that need some although their schemas ask for none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.core.package_data import package_table

SAMPLES: Mapping[str, Mapping[str, Any]] = package_table("agents/sample_calls.toml")
