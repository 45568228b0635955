"""Runs in a worker process (see `execution.workers`): jq itself, for one filter."""

from __future__ import annotations

import json
from typing import Any

import jq  # type: ignore[import-not-found]

from toolcrib.core.errors import BadInput


def prepare() -> None:
    """Run jq once, so that all of it is loaded."""
    run({"program": "tojson"}, b"0")


def run(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The results of `program` over a JSON text, which are texts of JSON, one a line.

    Raises:
        BadInput: it is no program, or it failed on this input.
    """
    try:
        text: str = jq.compile(request["program"]).input_text(data.decode()).text()
        results = [json.loads(line) for line in text.split("\n")] if text else []
        for result in results:  # what is nested too deep is no JSON
            json.loads(result)
    except ValueError as error:
        raise BadInput(str(error)[:2000]) from None
    except RecursionError:
        raise MemoryError from None
    return {}, "\n".join(results).encode()
