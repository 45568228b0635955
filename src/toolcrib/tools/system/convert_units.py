"""`convert_units`: a quantity in another unit."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import Param, other_names, tool
from toolcrib.tools.system.exact_numbers import MAX_BITS, spelled
from toolcrib.tools.system.unit_table import convert, pair

MIN_PARTS = 2
_QUANTITY = re.compile(r"\s*([-+]?[0-9][0-9.,]*(?:e[-+]?[0-9]+)?)\s*([^\s0-9.,].*)", re.IGNORECASE)


_PART = re.compile(r"\s*(?:and\s+|,\s*)?([0-9]+(?:\.[0-9]+)?)\s*([^\W\d_]+|['\u2032\"\u2033])")
_MARKS = {"'": "ft", "\u2032": "ft", '"': "in", "\u2033": "in"}


def _adapt(arguments: dict[str, Any]) -> None:
    """A value with its unit, as `100 km` or `5 ft 11 in`, where no unit is named."""
    name = next((n for n in ("value", "amount", "quantity") if n in arguments), "value")
    given = str(arguments.get(name, ""))
    if {"unit", "from", "fromunit", "source"}.intersection(arguments):
        return
    if parts := _parts(given):
        unit = parts[-1][1]
        total = sum(convert(Fraction(number), *pair(each, unit)) for number, each in parts)
        arguments[name], arguments["unit"] = float(total), unit
    elif found := _QUANTITY.fullmatch(given):
        arguments[name], arguments["unit"] = found[1], found[2].strip()


def _parts(given: str) -> list[tuple[str, str]]:
    """The numbers and units of a quantity in several units; [] where it is none."""
    found = list(_PART.finditer(given))
    if len(found) < MIN_PARTS or "".join(part[0] for part in found) != given.rstrip():
        return []
    names = dict(_MARKS)
    if {"h", "hr", "hrs", "s", "sec"} & {part[2].lower() for part in found}:
        names["m"] = "min"
    return [(part[1], names.get(part[2], part[2])) for part in found]


@tool(
    group="system",
    keywords=("metric", "imperial", "miles", "fahrenheit", "celsius", "kilograms", "gallons"),
    aliases=("unit_convert", "unit_converter", "convert_unit"),
    argument_aliases=other_names(
        unit=("from", "from_unit", "source"), to=("to_unit", "target"), value=("amount", "quantity")
    ),
    argument_adapter=_adapt,
)
async def convert_units(
    value: Annotated[float, Param("How much.", plain=True)],
    unit: Annotated[str, Param("As km/h, degF, MiB.")],
    to: Annotated[str, Param("The other unit.", plain=True)],
    *,
    ctx: Ctx,
) -> Result:
    """Convert a quantity to another unit.

    Length, area, volume, mass, time, speed, temperature, pressure, energy, power, data,
    angles, fuel consumption, and products of units. Not currencies, whose rates change.
    """
    del ctx
    source, target = pair(unit, to)
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - not a number
        raise BadInput("The value is no finite number.")
    found = convert(Fraction(repr(value)), source, target)
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > MAX_BITS:
        raise BadInput("The result is too large to be written.")
    text, exact = spelled(found.numerator if found.denominator == 1 else found)
    sign = "=" if exact else "≈"
    notes = "; ".join(dict.fromkeys(n for n in (source.note, target.note) if n))
    listed = f"{spelled(Fraction(repr(value)))[0]} {unit.strip()} {sign} {text} {to.strip()}"
    data = {"value": float(found), "text": text, "exact": exact, "unit": to.strip()}
    return Result(f"{listed} ({notes})" if notes else listed, data)
