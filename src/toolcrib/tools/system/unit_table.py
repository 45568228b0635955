"""Units: names, exact factors to the base units, and what they measure.

A unit is a factor and the powers of the base quantities in it. pint has more, in 5 MB and half
a second of its own. What a name leaves open (a gallon, a mile) is said with the answer.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cache

from toolcrib.core.errors import BadInput
from toolcrib.core.package_data import package_table

BASES = ("m", "kg", "s", "A", "K", "mol", "cd", "B", "rad")
Powers = tuple[int, ...]
NONE: Powers = (0,) * len(BASES)
MAX_POWER = 12
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459")


@dataclass(frozen=True, slots=True)
class Unit:
    """A factor to the base units, what is added to reach their zero, and their powers."""

    factor: Fraction
    powers: Powers
    offset: Fraction = Fraction(0)
    note: str = ""

    def times(self, other: Unit, sign: int = 1) -> Unit:
        """The product with another, or the quotient."""
        powers = tuple(a + sign * b for a, b in zip(self.powers, other.powers, strict=True))
        notes = "; ".join(dict.fromkeys(n for n in (self.note, other.note) if n))
        return Unit(self.factor * other.factor**sign, powers, Fraction(0), notes)

    def power(self, exponent: int) -> Unit:
        """The unit so many times."""
        if abs(exponent) > MAX_POWER:
            raise BadInput(f"A unit has powers up to {MAX_POWER}.")
        powers = tuple(a * exponent for a in self.powers)
        return Unit(self.factor**exponent, powers, Fraction(0), self.note)


UNITS: dict[str, str] = package_table("tools/system/units.toml")


def _exponents(pairs: str) -> dict[str, int]:
    return {name: int(power) for name, _, power in (p.partition("=") for p in pairs.split())}


PREFIXES = _exponents(
    "Q=30 R=27 Y=24 Z=21 E=18 P=15 T=12 G=9 M=6 k=3 h=2 da=1 "
    "d=-1 c=-2 m=-3 µ=-6 u=-6 n=-9 p=-12 f=-15 a=-18 z=-21 y=-24"
)
LONG_PREFIXES = _exponents(
    "yotta=24 zetta=21 exa=18 peta=15 tera=12 giga=9 mega=6 kilo=3 hecto=2 deca=1 "
    "deci=-1 centi=-2 milli=-3 micro=-6 nano=-9 pico=-12 femto=-15 atto=-18"
)
BINARY = _exponents("Ki=10 Mi=20 Gi=30 Ti=40 Pi=50 Ei=60")
LONG_BINARY = _exponents("kibi=10 mebi=20 gibi=30 tebi=40 pebi=50 exbi=60")
OPEN = {
    "kb": "kB for kilobytes, or kbit for kilobits",
    "mb": "MB for megabytes, or Mbit for megabits",
    "gb": "GB for gigabytes, or Gbit for gigabits",
    "tb": "TB for terabytes, or Tbit for terabits",
    "ton": "t (1,000 kg), shortton (US) or longton (UK)",
    "tons": "t (1,000 kg), shortton (US) or longton (UK)",
    "barrel": "bbl, for oil; other barrels differ",
}
MONEY = {"usd", "eur", "gbp", "jpy", "cny", "chf", "dollar", "euro", "yen", "btc", "$", "€", "£"}

_LINE = re.compile(r"(.+?) = (\S+) (\S+)(?: \+ (\S+))?(?: \| (.*))?$")
_PART = re.compile(r"\s*([*/·]|per\b)?\s*([^\s*/·^\d²³-]+)(?:\s*(?:\^|\*\*)?\s*(-?\d+|[²³]))?")
_RARELY_MEGA = frozenset({"m", "g", "l", "L", "s"})
_DEGREES = re.compile(
    r"(?:degrees?|deg\.?|°)\s*(?:(c)(?:elsius)?|(f)(?:ahrenheit)?|k(?:elvin)?)", re.IGNORECASE
)
_DEGREE_LETTERS = {"C": "degC", "F": "degF", "K": "K"}
_WORDS = {"squared": "^2", "cubed": "^3"}


def unit_of(text: str) -> Unit:
    """The unit that a text means: `km/h`, `fl oz`, `kg*m^2/s^2`, `square feet`, `°F`.

    Raises:
        BadInput: it is none, or leaves open which.
    """
    spelled = " ".join(text.split())
    if not spelled or len(spelled) > 80:
        raise BadInput("There is no unit." if not spelled else "This unit is too long.")
    degrees = _DEGREES.fullmatch(spelled)
    if degrees:
        spelled = "degC" if degrees[1] else "degF" if degrees[2] else "K"
    known = _named(spelled.replace(" ", ""))
    if known is not None:
        return known
    inverse = re.fullmatch(r"[lL](?:itres?|iters?)?\s?(?:/|per)\s?100\s?km", spelled)
    if inverse:
        return Unit(Fraction(1, 10**8), _unit("m").power(2).powers)
    return _product(_plain_words(spelled), text)


def _plain_words(text: str) -> str:
    for word, power in _WORDS.items():
        text = re.sub(rf"\s{word}\b", power, text)
    return re.sub(
        r"\b(square|sq|cubic|cu)\.?\s+([A-Za-z]+)",
        lambda found: f"{found[2]}^{2 if found[1].startswith('s') else 3}",
        text,
    )


def _product(spelled: str, text: str) -> Unit:
    result, at = Unit(Fraction(1), NONE), 0
    if spelled.startswith("1/"):
        at = 1
    while at < len(spelled):
        part = _PART.match(spelled, at)
        if part is None or part.end() == at:
            raise _unknown(text)
        unit = _named(part[2])
        if unit is None:
            raise _unknown(part[2])
        if unit.offset:  # a difference of temperatures
            unit = Unit(unit.factor, unit.powers, Fraction(0), "degrees as a difference")
        exponent = {"²": 2, "³": 3}.get(part[3] or "", int(part[3]) if _is_whole(part[3]) else 1)
        result = result.times(unit.power(exponent), -1 if part[1] in ("/", "per") else 1)
        at = part.end()
    return result


def _is_whole(text: str | None) -> bool:
    return bool(text) and text not in ("²", "³")


def _unknown(name: str) -> BadInput:
    short = name.strip()[:40]
    if short.lower().rstrip("s") in MONEY:
        return BadInput("Rates of currencies change.", hint="Look for one with web_search.")
    near = get_close_matches(short.lower(), [n for n in _table() if len(n) > 2], 3, 0.7)
    hint = f"Did you mean {' or '.join(near)}?" if near else "Write it as km, ft, kWh, m/s^2."
    return BadInput(f"'{short}' is no unit that is known here.", hint=hint)


def _named(name: str) -> Unit | None:
    """A single unit: as it stands, then with a prefix, then in any case where that is clear."""
    open_name = name if len(name) == 2 else name.lower()
    if open_name in OPEN:
        raise BadInput(f"'{name}' can be several units.", hint=f"Write {OPEN[open_name]}.")
    exact = _exact(name)
    if exact is not None:
        return exact
    lower = name.lower()
    found = _exact(lower) if len(name) > 2 else None
    if found is None and name.startswith("K"):
        found = _exact(f"k{name[1:]}") or _exact(lower)
    if found is None and len(lower) > 3 and lower.endswith("s"):
        found = _exact(name[:-1]) or _exact(lower[:-1])
    if found is None:
        candidates = {unit for known, unit in _table().items() if known.lower() == lower}
        found = candidates.pop() if len(candidates) == 1 else None
    return found


def _exact(name: str) -> Unit | None:
    found = _table().get(name)
    if found is not None:
        return found
    for prefixes, base in ((LONG_PREFIXES, 10), (LONG_BINARY, 2), (BINARY, 2), (PREFIXES, 10)):
        for prefix, exponent in prefixes.items():
            if not name.startswith(prefix):
                continue
            rest = name[len(prefix) :]
            long = prefixes is LONG_PREFIXES or prefixes is LONG_BINARY
            unit = _prefixed().get(rest)
            if unit is None or (len(rest) < 3 if long else len(rest) > 3):
                continue
            # A thousandth of a bit is no amount: `mb` is rather a slip for one of `Mb` and `MB`.
            if exponent > 0 or not unit.powers[BASES.index("B")]:
                is_mega = prefix == "M" and rest in _RARELY_MEGA
                note = f"{name} is a million {rest}; m{rest} is a thousandth" * is_mega or unit.note
                return Unit(unit.factor * Fraction(base) ** exponent, unit.powers, note=note)
    return None


def _unit(name: str) -> Unit:
    powers = list(NONE)
    powers[BASES.index(name)] = 1
    return Unit(Fraction(1), tuple(powers))


@cache
def _table() -> dict[str, Unit]:
    """All names of units without a prefix."""
    return {**_prefixed(), **_read(UNITS["plain"])}


@cache
def _prefixed() -> dict[str, Unit]:
    return _read(UNITS["prefixed"])


def _read(lines: str) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for line in lines.strip().splitlines():
        found = _LINE.match(line)
        assert found is not None, line
        powers = Unit(Fraction(1), NONE)
        for sign, base, exponent in re.findall(r"([*/]?)([A-Za-z]+)\^?(\d?)", found[3]):
            powers = powers.times(_unit(base).power(int(exponent or 1)), -1 if sign == "/" else 1)
        offset = Fraction(found[4] or 0)
        unit = Unit(_factor(found[2]), powers.powers, offset, found[5] or "")
        for name in found[1].split():
            units[name] = unit
            if len(name) > 3 and name.isalpha():
                units[f"{name}s"] = unit
    return units


def _factor(text: str) -> Fraction:
    value = Fraction(1)
    for sign, number in re.findall(r"([*/]?)([\d.e-]+|PI)", text):
        part = PI if number == "PI" else Fraction(number)
        value = value / part if sign == "/" else value * part
    return value


def quantity(powers: Powers) -> str:
    """What base units of these powers measure, as `m/s^2`."""
    names = [f"{b}^{p}" if p != 1 else b for b, p in zip(BASES, powers, strict=True) if p]
    return "*".join(names) or "a plain number"


def convert(value: Fraction, source: Unit, target: Unit) -> Fraction:
    """A value in another unit; consumption and range per fuel are each other's inverse.

    Raises:
        BadInput: they measure different things, or the inverse of 0 is wanted.
    """
    if source.powers == target.powers:
        if (source.offset or target.offset) and (value + source.offset) * source.factor < 0:
            raise BadInput("Nothing is colder than -273.15 °C, which is 0 K.")
        return (value + source.offset) * source.factor / target.factor - target.offset
    fuel = tuple(-p for p in source.powers) == target.powers and abs(sum(target.powers)) == 2
    if not fuel:
        raise BadInput(
            f"One measures {quantity(source.powers)}, the other {quantity(target.powers)}.",
            hint="Only units of the same quantity can be converted.",
        )
    if not value:
        raise BadInput("Nothing per nothing cannot be converted.")
    return 1 / (value * source.factor * target.factor)


def pair(source: str, target: str) -> tuple[Unit, Unit]:
    """Both units. C, F and K are degrees where the other is a temperature, or such a letter.

    Capitals are small letters where only so both measure the same: KM/H and MPH.

    Raises:
        BadInput: as `unit_of`.
    """
    names = [source.strip(), target.strip()]
    found = [unit_of(source), unit_of(target)]
    letters = [name.upper() in _DEGREE_LETTERS for name in names]
    kelvin = _unit("K").powers
    for number, name in enumerate(names):
        if found[0].powers == found[1].powers:
            break
        if letters[number] and (all(letters) or found[1 - number].powers == kelvin):
            found[number] = unit_of(_DEGREE_LETTERS[name.upper()])
        elif name.isupper():
            with suppress(BadInput):
                small = unit_of(name.lower())
                if small.powers == found[1 - number].powers:
                    found[number] = small
    return found[0], found[1]
