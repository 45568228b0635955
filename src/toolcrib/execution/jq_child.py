"""Runs in a worker process (see `execution.workers`): jq itself, for one filter."""

from __future__ import annotations

from typing import Any

import jq  # type: ignore[import-not-found]

from toolcrib.core.errors import BadInput


def prepare() -> None:
    """Run jq once, so that all of it is loaded."""
    run({"program": "."}, b"0")


def run(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The results of `program` over a JSON text, one a line.

    Raises:
        BadInput: it is no program, or it failed on this input.
    """
    try:
        text: str = jq.compile(request["program"]).input_text(data.decode()).text()
    except ValueError as error:
        raise BadInput(str(error)[:2000]) from None
    except RecursionError:
        raise MemoryError from None
    return {}, text.encode()
