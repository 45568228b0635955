"""Figures, units and times: computed exactly, refused where they are none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from tests.tools.system.conftest import Machine


@each_case(
    ("expression", "answer"),
    [
        ("0.1 + 0.2", "= 0.3"),
        ("2**10/3", "≈ 341.333333333333 (1024/3)"),
        ("123456789012345678901234567890.5 * 2", "= 246913578024691357802469135781"),
        ("sqrt(16)", "= 4"),
        ("sqrt(2)", "≈ 1.4142135623731"),
        ("15% * 80", "= 12"),
        ("200 * (1 + 10%)", "= 220"),
        ("5 / 10% + 10%**2 + 50%/50%", "= 51.01"),
        ("1/(1 + 1)% + max(1,300%)", "= 53"),
        ("1,000% + 0", "= 10"),
        ("200 - 10% * 80", "= 192"),
        ("10 % 3", "= 1"),
        ("10 mod 3", "= 1"),
        ("mod(10, 3)", "= 1"),
        ("5! + (1+2)!", "= 126"),
        ("3!=6", "= true"),
        ("2 * \u221a16", "= 8"),
        ("\u221a(9)", "= 3"),
        ("2^8", "= 256"),
        ("1,234 + 1", "= 1235"),
        ("7 × 6 ÷ 2", "= 21"),  # noqa: RUF001 - as people write it
        ("round(2.5)", "= 3"),
        ("round(1.005, 2)", "= 1.01"),
        ("pow(3, 10**30, 7)", "= 4"),
        ("comb(52, 5)", "= 2598960"),
        ("mean([1, 2, 4])", "≈ 2.33333333333333 (7/3)"),
        ("3 < 4 < 5", "= true"),
        ("-0.5", "= -0.5"),
        ("1e-3000 * 1e3000", "= 1"),
    ],
)
async def test_what_is_computed(machine: Machine, expression: str, answer: str) -> None:
    assert await machine.text("calculate", expression=expression) == answer


@each_case(
    "expression",
    [
        *("9**9**9", "10**10**10", "1e9999", "factorial(99999)", "comb(10**6, 5*10**5)"),
        *("2**13000*2**13000", "perm(10**9, 10**9)", "0.1**99999", "1e999999999999"),
        *("__class__", "(1).__class__", "__import__('os')", "'a'*9", "[1]*9", "lambda: 1"),
        *("x := 3", "1 if 2 else 3", "{1: 2}", "True", "f'{1}'", "open('a')", "max.__doc__"),
        *("-" * 1500 + "1", "(" * 300 + "1" + ")" * 300, "", " ", "1 +", "\0", "1\n2", "1,5"),
        *("5/0", "0**-1", "log(0)", "sqrt(-1)", "(-8)**(1/3)", "cos(10**400)", "e**700*e**700"),
        *("200 + 10%", "max()", "mean([])", "sum([1,[2]])", "round(1, 2, 3)", "gcd(1.5, 2)"),
        *("1" * 3000, "1+" * 900 + "1"),
    ],
    ids=lambda text: text[:20],
)
async def test_what_is_refused_is_refused_at_once(machine: Machine, expression: str) -> None:
    assert "Error (bad_input)" in await machine.refused("calculate", expression=expression)


@each_case(
    ("expression", "answer"),
    [
        ("15% of 80", "= 12"),
        ("200 + 15% of 80", "= 212"),
        ("sin(30°)", "≈ 0.5"),
        ("2(3+4)", "= 14"),
        ("(1+2)(3+4)", "= 21"),
        ("2 x 3", "= 6"),
        ("0x10", "= 16"),
        ("sin(30)", "radians: write 30° for degrees)"),
        ("sin(pi)", "≈ 1.22464679914735e-16"),
        ("log(100)", "natural one: log10 is to the base of 10)"),
    ],
)
async def test_expressions_as_people_write_them(
    machine: Machine, expression: str, answer: str
) -> None:
    assert (await machine.text("calculate", expression=expression)).endswith(answer)


@each_case(
    ("expression", "instead"),
    [
        ("200 - 10%", "Write 200 * (1 - 10%) for 10% less"),
        ("100 + 2.5% + 7", "Write 100 * (1 + 2.5%) + 7 for 2.5% more"),
        ("(50 + 50) - 10%", "Write (50 + 50) * (1 - 10%) for 10% less"),
        ("50 + 200 - 10%", "Write PART * (1 - 10%) for 10% less, with PART for"),
    ],
)
async def test_an_added_percentage_is_asked_about(
    machine: Machine, expression: str, instead: str
) -> None:
    assert instead in await machine.refused("calculate", expression=expression)


@each_case(
    ("value", "unit", "to", "answer"),
    [
        (100, "km/h", "mph", "≈ 62.1371192237334"),
        (98.6, "°F", "°C", "= 37 "),
        (72, "F", "celsius", "≈ 22.2222222222222"),
        (0, "C", "K", "= 273.15"),
        ("5,5", "km", "m", "5.5 km = 5500 m"),
        ("1,500", "m", "km", "= 1.5 km"),
        (1, "GiB", "MB", "= 1073.741824"),
        (100, "Mbps", "MB/s", "= 12.5"),
        (30, "mpg", "L/100km", "≈ 7.84048611111111"),
        (2, "square feet", "m^2", "= 0.18580608"),
        (1, "light year", "km", "= 9460730472580.8"),
        (60, "rpm", "rad/s", "≈ 6.28318530717959"),
        (12, "inches", "feet", "= 1 "),
        (1, "kg*m^2/s^2", "J", "= 1 "),
        (1, "J/degC", "J/K", "= 1 "),
        (1, "KB", "B", "= 1000 "),
        (5, "pounds", "kg", "= 2.26796185"),
        (1, "Mm", "m", "= 1000000 "),
        (1, "mm", "m", "= 0.001 "),
    ],
)
async def test_units(machine: Machine, value: float | str, unit: str, to: str, answer: str) -> None:
    assert answer in await machine.text("convert_units", value=value, unit=unit, to=to)


@each_case(
    ("unit", "to", "part"),
    [
        ("m", "s", "One measures m, the other s"),
        ("ton", "kg", "can be several units"),
        ("USD", "EUR", "Rates of currencies change"),
        ("mb", "B", "can be several units"),
        ("mbps", "B/s", "no unit"),
        ("foo", "m", "no unit"),
        ("cm^999", "m", "powers up to"),
        ("m^", "m", "no unit"),
        ("m//s", "m", "no unit"),
        ("", "m", "no unit"),
        ("m" * 200, "m", "too long"),
    ],
)
async def test_units_that_are_none(machine: Machine, unit: str, to: str, part: str) -> None:
    assert part in await machine.refused("convert_units", value=1, unit=unit, to=to)


@each_case(
    ("given", "answer"),
    [
        ({"value": "100 km", "to": "m"}, "= 100000 m"),
        ({"value": "72F", "to": "degC"}, "degC"),
        ({"value": "1,500 g", "to": "kg"}, "= 1.5 kg"),
        ({"value": "3 km", "unit": "km", "to": "m"}, "must be a number"),
        ({"value": "5'11\"", "to": "cm"}, "71 in = 180.34 cm"),
        ({"value": "6 feet, 2 inches", "to": "cm"}, "= 187.96 cm"),
        ({"value": "10 lb and 2 oz", "to": "oz"}, "= 162 oz"),
        ({"value": "1h30m", "to": "s"}, "90 min = 5400 s"),
        ({"value": "2 km 30 m", "to": "m"}, "= 2030 m"),
        ({"value": "5 kg 3 m", "to": "g"}, "One measures kg, the other m"),
    ],
)
async def test_a_value_with_its_unit(machine: Machine, given: dict[str, Any], answer: str) -> None:
    result = await machine.box.call("convert_units", given)
    assert answer in (result.text if result.error is None else result.error.message)


async def test_units_as_people_write_them(machine: Machine) -> None:
    for value, unit, to, answer in (
        (212, "f", "c", "= 100 c"),
        (98.6, "degrees Fahrenheit", "deg C", "= 37 deg C"),
        (100, "KM/H", "MPH", "62.137"),
        (5, "ML", "L", "ML is a million L; mL is a thousandth"),
        (8, "Mbit", "MB", "= 1 MB"),
    ):
        assert answer in await machine.text("convert_units", value=value, unit=unit, to=to)
    cold = await machine.refused("convert_units", value=-300, unit="°C", to="K")
    assert "Nothing is colder" in cold
    for name, meant in (("kb", "kbit for kilobits"), ("gb", "GB for gigabytes")):
        assert meant in await machine.refused("convert_units", value=1, unit=name, to="bytes")


async def test_what_a_unit_leaves_open_is_said(machine: Machine) -> None:
    assert "the US gallon" in await machine.text("convert_units", value=1, unit="gallon", to="l")


BERLIN = {"zone": "Europe/Berlin"}


@each_case(
    ("arguments", "parts"),
    [
        (
            {**BERLIN, "at": "2026-03-29 02:30", "to": "UTC"},
            ["03:30:00 Sunday", "01:30:00 Sunday (UTC", "does not exist there"],
        ),
        (
            {"zone": "berlin", "at": "2026-10-25 02:30", "to": "new york"},
            ["UTC+02:00", "20:30:00 Saturday", "comes twice", "+01:00", "2026-11-01 01:00 EST"],
        ),
        ({"zone": "Pacific/Apia", "at": "2011-12-30 12:00"}, ["Taken as 2011-12-31 12:00"]),
        ({"zone": "UTC+5:30", "at": "12:00 pm"}, ["12:00:00", "UTC+05:30"]),
        ({"zone": "Asia/Kathmandu", "at": "2026-01-01"}, ["00:00:00 Thursday", "+05:45"]),
        ({"zone": "UTC", "at": "1700000000"}, ["2023-11-14 22:13:20 Tuesday"]),
        ({"zone": "utc", "at": "2026-01-01T12:00:00+02:00"}, ["10:00:00"]),
        (
            {"zone": "est", "at": "2026-07-01 12:00", "to": "PST"},
            ["12:00:00", "America/New_York, EDT", "09:00:00", "EST is read as America/New_York"],
        ),
        (
            {"zone": "UTC", "at": "2026-01-01 9:00 CST"},
            ["15:00:00", "Note: CST is read as America/Chicago"],
        ),
    ],
)
async def test_times(machine: Machine, arguments: dict[str, Any], parts: list[str]) -> None:
    reply = await machine.text("current_time", **arguments)
    assert not [part for part in parts if part not in reply], reply


@each_case(
    ("arguments", "part"),
    [
        ({"zone": "Mars/Olympus"}, "no time zone"),
        ({"zone": "../../etc/passwd"}, "no time zone"),
        ({"zone": "Tokio"}, "Did you mean Asia/Tokyo?"),
        ({"zone": "UTC-99"}, "more than any offset"),
        ({"zone": "IST"}, "IST stands for several zones: Asia/Kolkata, Europe/Dublin, Asia/Jerus"),
        ({"zone": "UTC", "at": "3pm IST"}, "IST stands for several zones"),
        ({"zone": "Germany"}, "Germany is a country.\nIts zones: Europe/Berlin, Europe/Busingen."),
        ({"to": "india"}, "Its zones: Asia/Kolkata."),
        ({"zone": "United States"}, "Its zones: America/New_York, "),
        ({"at": "25:00"}, "no time"),
        ({"at": "13:00 pm"}, "no time"),
        ({"at": "2026-02-30"}, "no time"),
        ({"at": "tomorrow"}, "no time"),
        ({"zone": "UTC", "at": "9999-12-31 23:59", "to": "Asia/Tokyo"}, "out of range"),
        ({"zone": "UTC", "at": "0001-01-01", "to": "America/Los_Angeles"}, "out of range"),
        ({"at": "999999999999"}, "no time"),
    ],
)
async def test_times_that_are_none(machine: Machine, arguments: dict[str, Any], part: str) -> None:
    assert part in await machine.refused("current_time", **arguments)


async def test_now_is_that_of_the_machine(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    found = (await machine("current_time")).data
    assert found["zone"] == "Asia/Kolkata"
    assert found["time"].endswith("+05:30")


async def test_figures_raise_no_flags(machine: Machine) -> None:
    """Neither private nor from outside: nothing is asked about afterwards because of them."""
    await machine("calculate", expression="1+1")
    await machine("convert_units", value=1, unit="m", to="km")
    await machine("current_time")
    from toolcrib.state.sessions import Sessions

    state = await machine.box.use(Sessions).load("one")
    assert not state.private
    assert not state.untrusted


@each_case(
    "expression",
    ["2024-12-24 - 2024-02-28", "8:30 + 2:45", "1.3.2024 + 5", "2024-12-24 - 2023-11-28"],
)
async def test_dates_and_times_are_left_to_python(machine: Machine, expression: str) -> None:
    refused = await machine.refused("calculate", expression=expression)
    assert refused.endswith("Dates and times: run_python, with the module datetime.")


async def test_a_date_alone_may_be_a_difference(machine: Machine) -> None:
    refused = await machine.refused("calculate", expression="2000-10-20")
    assert refused.endswith("If a difference is meant, write 2000 - 10 - 20.")
    assert "1970" in (await machine("calculate", expression="2000 - 10 - 20")).text


@each_case("expression", ["5 km + 300 m", "$45.50*1.19", "3 kg * 2"])
async def test_units_are_left_to_their_tool(machine: Machine, expression: str) -> None:
    refused = await machine.refused("calculate", expression=expression)
    assert refused.endswith(
        "convert_units knows units: send numbers of one unit, without its name."
    )
    plain = await machine.refused("calculate", expression="2 * * sqrt(3")
    assert "convert_units" not in plain
