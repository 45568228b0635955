"""The events of YAML that others wrote: what is read of it where its values are not needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 100
"""What the parser needs grows with the square of the depth."""


def yaml_events(text: str) -> Iterator[Any]:
    """The events of the parser, one after the other.

    Raises:
        yaml.YAMLError: it is no YAML.
        ValueError: it is too deep.
    """
    import yaml  # type: ignore[import-untyped]

    depth = 0
    for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
        yield event
