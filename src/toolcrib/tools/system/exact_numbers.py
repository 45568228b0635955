"""Expressions of arithmetic, computed exactly as far as that goes, with a bound on every number.

Numbers are integers and fractions until a root or a function of analysis makes them floats. No
value has more than `MAX_BITS` binary digits, and that is seen before it is computed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from toolcrib.core.errors import BadInput

Number: TypeAlias = int | Fraction | float

MAX_CHARS = 2_000
MAX_NODES = 600
MAX_BITS = 13_000
"""Binary digits of a number: some 3,900 decimal ones."""
FLOAT_DIGITS = 15
"""Digits of a number that is not shown in full."""
EXACT_DIGITS = 40
"""Digits of a decimal fraction that is shown in full."""
TOO_LARGE = f"A number in it has more than {int(MAX_BITS * 0.30103):,} digits."
FORMS = "It takes numbers, + - * / // % **, brackets, comparisons, and functions such as sqrt."

DATES = "Dates and times: run_python, with the module datetime."
_DAY = re.compile(r"(?<![\w.])(?:(?:19|20)\d\d-[01]\d-[0-3]\d|[0-3]?\d\.[01]?\d\.\d{4})(?![\w.])")
_TIME = re.compile(r"\d:\d\d\b")
_WITH_UNIT = re.compile(r"[$€£¥]\s?\d|\d\s?(?:[$€£¥]|[a-zµ]+[\d²³]*\b(?!\())", re.IGNORECASE)
_SIGNS = str.maketrans("\u00d7\u00b7\u00f7\u2212\u2013", "**/--")
"""How people write times, over and minus."""
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_PERCENT = re.compile(
    r"(?:(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(?<!\w)(\([^()]*\))|(?<=\)))"
    r"%(?=\s*(?:$|[-+*/),]))"
)
_PERCENT_MORE = re.compile(r"(?<!\(1)(?<!^1)(?<=[\d.)])\s*([-+])\s*([\d.]+)%(?!\s*[\w.(*/])")
_ONE_NUMBER = re.compile(r"-?[\d.,]+|\([^()]*\)")

_SPELLINGS = (
    (re.compile(r"(\d+(?:\.\d+)?)\s*(?:°|deg\b|degrees\b)"), r"radians(\1)"),
    (re.compile(r"(?<=[\d)])\s+x\s+(?=[\d(.])", re.IGNORECASE), "*"),
    (re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*(?=\()"), r"\1*"),
    (re.compile(r"\)\s*\("), ")*("),
    (re.compile(r"(?<=[\d)])\s*mod(?=[\s(\d-])", re.IGNORECASE), "%"),
    (re.compile(r"(?<![\w.])(\d+)!(?!=)"), r"factorial(\1)"),
    (re.compile(r"(?<![\w.])(\([^()]*\))!(?!=)"), r"factorial\1"),
    (re.compile(r"\u221a\s*(\d+(?:\.\d+)?)"), r"sqrt(\1)"),
    (re.compile(r"\u221a\s*(?=\()"), "sqrt"),
)
"""How people write degrees, a product, a remainder, a factorial and a root."""
_PERCENT_OF = re.compile(r"%\s*of\b", re.IGNORECASE)


def evaluate(expression: str) -> Number | bool:
    """The value of an expression.

    Raises:
        BadInput: it is none, divides by zero, or is too large.
    """
    if len(expression) > MAX_CHARS:
        raise BadInput(f"The expression has more than {MAX_CHARS:,} characters.", hint=FORMS)
    text = expression.translate(_SIGNS).strip().rstrip("=").strip()
    percent = _PERCENT_MORE.search(text)
    if percent is not None:
        raise _percent_of_what(text, percent)
    if day := _DAY.search(text):  # of numbers alone it would be a difference
        is_all = text == day[0] and "-" in text
        meant = f" If a difference is meant, write {text.replace('-', ' - ')}." if is_all else ""
        raise BadInput(f"This is no expression, but a date: {day[0]}", hint=f"{DATES}{meant}")
    text = _respelled(text)
    if not text:
        raise BadInput("There is nothing to compute.", hint=FORMS)
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadInput(f"This is no expression: {expression[:100]}", hint=_hint(text)) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise BadInput(f"The expression has more than {MAX_NODES} parts.", hint="Send it in parts.")
    try:
        return _number_or_truth(_Expression(text).value(tree))
    except ZeroDivisionError:
        raise BadInput("It divides by zero.") from None
    except OverflowError:
        raise BadInput("A number in it is too large for this function.") from None
    except (ValueError, TypeError, statistics.StatisticsError) as error:
        reason = str(error).rstrip(".")
        raise BadInput(f"It cannot be computed: {reason}.", hint=FORMS) from None


def _hint(text: str) -> str:
    """The forms, and for dates, times, units and currencies what computes with them."""
    if _TIME.search(text):
        return DATES
    if _WITH_UNIT.search(text):
        return f"{FORMS} convert_units knows units: send numbers of one unit, without its name."
    return FORMS


def _percent_of_what(text: str, found: re.Match[str]) -> BadInput:
    """The error for a percentage that is added: its hint has the numbers of the expression."""
    sign, share = found[1], found[2]
    base, rest = text[: found.start()].strip(), text[found.end() :]
    if not _ONE_NUMBER.fullmatch(base):
        base, rest = "PART", ""
    more = "more" if sign == "+" else "less"
    of_base = "" if base != "PART" else ", with PART for what it is a share of"
    return BadInput(
        f"Percent of what? {sign} {share}% can be a share of what is before it, or {share}/100.",
        hint=f"Write {base} * (1 {sign} {share}%){rest} for {share}% {more}{of_base}; "
        f"or {share}/100.",
    )


def _respelled(text: str) -> str:
    """An expression as Python writes it."""
    if "(" not in text:  # in the brackets of a function a comma parts two numbers
        text = _GROUPED.sub(lambda found: found[0].replace(",", ""), text)
    text = _PERCENT.sub(_hundredths, _PERCENT_OF.sub("% *", text)).replace("^", "**")
    for pattern, plain in _SPELLINGS:
        text = pattern.sub(plain, text)
    return text


def _hundredths(found: re.Match[str]) -> str:
    share = found[1] or found[2]
    return f"({share}/100)" if share else "/100"


def spelled(value: Number | bool) -> tuple[str, bool]:
    """A value in words, and whether that is all of it."""
    if isinstance(value, bool):
        return ("true" if value else "false"), True
    if isinstance(value, int) or (isinstance(value, Fraction) and value.denominator == 1):
        return str(value), True
    if isinstance(value, float):
        return _rounded(Decimal(value)), False
    digits = _places(value.denominator)
    if digits is not None and digits <= EXACT_DIGITS:
        scaled = value.numerator * 10**digits // value.denominator
        text = str(abs(scaled)).rjust(digits + 1, "0")
        return f"{'-' * (scaled < 0)}{text[:-digits]}.{text[-digits:]}", True
    near = _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return _rounded(near), False


_CONTEXT = Context(prec=40)


def _rounded(value: Decimal) -> str:
    short = Context(prec=FLOAT_DIGITS).plus(value).normalize()
    exponent = short.adjusted()
    return f"{short:f}" if -7 < exponent < 21 else f"{short:e}"


def _places(denominator: int) -> int | None:
    """Decimal places of a fraction; None where they have no end."""
    twos = fives = 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    return max(twos, fives) if denominator == 1 else None


class _Expression:
    """The parts of one expression; `text` is needed for decimals as they were written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
            value = _number(self.value(node.operand))
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(item) for item in node.elts]
        if isinstance(node, ast.Name):
            if node.id.lower() in _CONSTANTS:
                return _CONSTANTS[node.id.lower()]
            raise BadInput(f"'{node.id[:40]}' is no number here.", hint=f"It knows {_NAMES}.")
        raise BadInput(f"{type(node).__name__} is not arithmetic.", hint=FORMS)

    def _constant(self, node: ast.Constant) -> Number:
        if type(node.value) is int:
            return _bounded(node.value)  # type: ignore[no-any-return]
        if type(node.value) is float:
            # As it is written, not as the nearest binary number: 0.1 + 0.2 is 0.3.
            written = ast.get_source_segment(self._text, node) or ""
            mantissa, _, exponent = written.lower().partition("e")
            if abs(int(exponent or 0)) + len(mantissa) > MAX_BITS // 4:
                raise BadInput(TOO_LARGE)
            return _bounded(_plain(Fraction(written)))  # type: ignore[no-any-return]
        raise BadInput("Only numbers can be computed with.", hint=FORMS)

    def _binary(self, node: ast.BinOp) -> Number:
        left, right = _number(self.value(node.left)), _number(self.value(node.right))
        kind = type(node.op)
        if kind is ast.Pow:
            return _power(left, right)
        function = _OPERATORS.get(kind)
        if function is None:
            raise BadInput(f"{kind.__name__} is not arithmetic.", hint=FORMS)
        if kind is ast.Div and not isinstance(left, float) and not isinstance(right, float):
            return _bounded(_plain(Fraction(left) / Fraction(right)))  # type: ignore[no-any-return]
        return _bounded(_plain(function(left, right)))  # type: ignore[no-any-return]

    def _compared(self, node: ast.Compare) -> bool:
        values = [_number(self.value(part)) for part in (node.left, *node.comparators)]
        for number, operation in enumerate(node.ops):
            function = _COMPARISONS.get(type(operation))
            if function is None:
                raise BadInput(f"{type(operation).__name__} compares no numbers.", hint=FORMS)
            if not function(values[number], values[number + 1]):
                return False
        return True

    def _called(self, node: ast.Call) -> Any:
        name = node.func.id.lower() if isinstance(node.func, ast.Name) else ""
        function = _FUNCTIONS.get(name)
        if function is None or node.keywords:
            named = f"no function {name[:40]}" if name else "no such form of a function"
            raise BadInput(f"There is {named}.", hint=f"It knows {_NAMES}.")
        given = [self.value(argument) for argument in node.args]
        for value in given:
            for number in value if isinstance(value, list) else [value]:
                _number(number)
        return _bounded(_plain(function(*given)))


def _number_or_truth(value: Any) -> Number | bool:
    return value if isinstance(value, bool) else _number(value)


def _number(value: Any) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | Fraction | float):
        raise BadInput(
            "A list or a comparison stands where a number is needed.",
            hint="A decimal has a point: 1.5, not 1,5.",
        )
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def _bounded(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadInput("The value is not a finite number.")
        return value
    parts = (value.numerator, value.denominator)
    if max(part.bit_length() for part in parts) > MAX_BITS:
        raise BadInput(TOO_LARGE, hint="Ask for its logarithm, or for it modulo something.")
    return value


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, float) or isinstance(exponent, float | Fraction):
        exact = _exact_root(base, exponent)
        if exact is not None:
            return exact
        result = float(base) ** float(exponent)
        if isinstance(result, complex):
            raise BadInput("The root of a negative number is no real number.")
        return float(_bounded(result))
    size = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    if abs(base) != 1 and base and (size - 1 or 1) * abs(exponent) > MAX_BITS:
        raise BadInput(TOO_LARGE, hint="pow(base, exponent, modulus) works with large exponents.")
    return _bounded(_plain(Fraction(base) ** exponent))  # type: ignore[no-any-return]


def _exact_root(base: Number, exponent: Number) -> Number | None:
    """The square root of a square, which people expect to be exact."""
    if exponent != Fraction(1, 2) or isinstance(base, float) or base < 0:
        return None
    over, under = math.isqrt(base.numerator), math.isqrt(base.denominator)
    if over * over == base.numerator and under * under == base.denominator:
        return _plain(Fraction(over, under))  # type: ignore[no-any-return]
    return None


def _sqrt(value: Number) -> Number:
    if value < 0:
        raise BadInput("The root of a negative number is no real number.")
    return _power(value, Fraction(1, 2))


def _log(value: Number, base: Number | None = None) -> float:
    if value <= 0:
        raise BadInput("Only positive numbers have a logarithm.")
    return math.log(value) if base is None else _ratio(value, base)


def _ratio(value: Number, base: Number) -> float:
    if base == 10 and not isinstance(value, Fraction):
        return math.log10(value)
    if base == 2 and not isinstance(value, Fraction):
        return math.log2(value)
    return math.log(value) / math.log(base)


def _factorial(number: Number) -> int:
    if not isinstance(number, int) or number < 0:
        raise BadInput("The factorial is of whole numbers from 0.")
    if number > 1 and number * (math.log2(number) - 1.45) > MAX_BITS:
        raise BadInput(TOO_LARGE)
    return math.factorial(number)


def _chosen(count: int, picked: int) -> int:
    _need_small(count, picked)
    return math.comb(count, picked)


def _ordered(count: int, picked: int | None = None) -> int:
    if picked is None:
        return _factorial(count)
    _need_small(count, picked)
    return math.perm(count, picked)


def _need_small(count: int, picked: int) -> None:
    fewer = min(picked, max(count - picked, 0)) if count >= picked else 0
    if fewer > MAX_BITS or (count.bit_length() + 1) * picked > 8 * MAX_BITS:
        raise BadInput(TOO_LARGE)


def _modular_power(base: Number, exponent: Number, modulus: Number | None = None) -> Number:
    if modulus is None:
        return _power(base, exponent)
    if not all(isinstance(part, int) for part in (base, exponent, modulus)):
        raise BadInput("A power modulo something is of whole numbers.")
    return pow(base, exponent, modulus)  # type: ignore[arg-type]


def _total(*values: Any) -> Number:
    return sum(_list(values), 0)


def _mean(*values: Any) -> Number:
    found = _list(values)
    if any(isinstance(value, float) for value in found):
        return statistics.fmean(found)
    return _plain(statistics.mean([Fraction(value) for value in found]))  # type: ignore[no-any-return]


def _median(*values: Any) -> Number:
    found = _list(values)
    low, high = statistics.median_low(found), statistics.median_high(found)
    return low if low == high else _mean(low, high)


def _deviation(*values: Any) -> float:
    return statistics.stdev(map(float, _list(values)))


def _list(values: tuple[Any, ...]) -> list[Number]:
    found = values[0] if len(values) == 1 and isinstance(values[0], list) else list(values)
    if not found:
        raise BadInput("The list is empty.")
    return [_number(value) for value in found]


def _round(value: Number, digits: int = 0) -> Number:
    """To the nearest, a half away from zero, as people round."""
    if not isinstance(digits, int) or abs(digits) > 300:
        raise BadInput("round takes up to 300 places.")
    exact = Fraction(value) if not isinstance(value, float) else Fraction(repr(value))
    scale = Fraction(10) ** digits
    whole = math.floor(abs(exact) * scale + Fraction(1, 2))
    return _plain(Fraction(whole if exact >= 0 else -whole) / scale)  # type: ignore[no-any-return]


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": _sqrt,
    "cbrt": math.cbrt,
    "abs": abs,
    "round": _round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "exp": math.exp,
    "ln": _log,
    "log": _log,
    "log10": lambda value: _log(value, 10),
    "log2": lambda value: _log(value, 2),
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: getattr(math, name) for name in ("atan2", "sinh", "cosh", "tanh", "hypot")},
    **{name: getattr(math, name) for name in ("degrees", "radians", "gcd", "lcm")},
    "factorial": _factorial,
    "mod": operator.mod,
    "comb": _chosen,
    "perm": _ordered,
    "pow": _modular_power,
    "min": lambda *values: min(_list(values)),
    "max": lambda *values: max(_list(values)),
    "sum": _total,
    "mean": _mean,
    "avg": _mean,
    "median": _median,
    "stdev": _deviation,
}
_NAMES = ", ".join([*_CONSTANTS, *_FUNCTIONS])
