"""`calculate`: an expression, computed and not guessed."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import Param, tool
from toolcrib.tools.system.exact_numbers import evaluate, spelled

MAX_FRACTION_CHARS = 40
_READINGS = (
    (
        re.compile(r"\b(?:sin|cos|tan)\((?!.*(?:pi|tau|°|deg|rad))", re.IGNORECASE),
        "angles are in radians: write 30° for degrees",
    ),
    (re.compile(r"\blog\([^,]*$"), "log is the natural one: log10 is to the base of 10"),
)
"""What an expression leaves open, and how it was read."""


@tool(
    group="system",
    keywords=("math", "arithmetic", "sum", "compute", "evaluate", "percent", "square root"),
    aliases=("calculator", "calc", "evaluate_expression", "math"),
    argument_aliases={"expr": "expression", "formula": "expression", "input": "expression"},
)
async def calculate(
    expression: Annotated[str, Param("As 2**10/3, sqrt(2), 15% * 80.")], *, ctx: Ctx
) -> Result:
    """Compute an arithmetic expression exactly.

    Use it for any arithmetic beyond the obvious. Decimals and fractions are exact: 0.1 + 0.2
    is 0.3. It knows roots, logarithms, trigonometry in radians, factorials, means; no names
    and no code, for which there is run_python.
    """
    del ctx
    value = evaluate(expression)
    text, whole = spelled(value)
    listed = f"{'=' if whole else '≈'} {text}"
    data = {"value": text, "exact": whole}
    if isinstance(value, Fraction) and not whole:
        fraction = f"{value.numerator}/{value.denominator}"
        if len(fraction) <= MAX_FRACTION_CHARS:
            listed += f" ({fraction})"
            data["fraction"] = fraction
    notes = [note for sign, note in _READINGS if sign.search(expression)]
    listed += f" ({'; '.join(notes)})" if notes else ""
    return Result(listed, data)
