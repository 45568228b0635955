"""Charts by Vega-Lite as PNG and SVG, in a worker's child that may read fonts and nothing else."""

from __future__ import annotations

from typing import Any

import vl_convert

from toolcrib.core.errors import BadInput

SCALE = 1.5


def draw(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A Vega-Lite `spec` as PNG; its SVG is in the answer.

    Raises:
        BadInput: it is no specification, or reaches for data that is not in it.
    """
    del data
    spec = request["spec"]
    try:
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
        png = vl_convert.vegalite_to_png(spec, scale=SCALE, allowed_base_urls=[])
    except ValueError as error:
        reason = " ".join(str(error).split())[:300]
        raise BadInput(
            f"The chart cannot be drawn: {reason}",
            hint="Mend the specification of Vega-Lite, or leave it out and send data.",
        ) from None
    return {"svg": svg}, png
