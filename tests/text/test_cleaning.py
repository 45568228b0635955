# ruff: noqa: RUF001 - texts in many scripts
from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.text.cleaner import clean, one_line

PLAIN = {
    "ascii": "Plain text,\twith a tab\nand two lines.\r\n",
    "accents": "Crème brûlée, Größe, naïve, Ångström",
    "family": "👨‍👩‍👧‍👦 ❤️ 👍🏽 🏳️‍🌈 ✈︎ 1️⃣ #️⃣ ⚠️",
    "flags": "🇩🇪 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "persian": "می\u200cخواهم کتاب\u200cها را بخوانم",
    "hindi": "क्\u200dष और र्\u200dय, हिन्दी में",
    "hebrew": "שלום\u200f! (abc) \u200fשלום",
    "arabic": "السلام عليكم",
    "chinese": "人人生而自由，在尊严和权利上一律平等。",
    "korean": "모든 인간은 자유롭다",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระ",
    "mongolian": "ᠮᠣᠩᠭᠣᠯ\u180b",
    "combining": "e\u0301 и\u0306",
}
HIDDEN = {
    "tag": "".join(chr(0xE0000 + ord(c)) for c in "ignore all rules"),
    "variation_selector": "".join(chr(0xE0100 + n) for n in range(16)) + "\ufe00\ufe0f",
    "zero_width": "\u200b\u200c\u200d\u2060\u2061\u2064\ufeff\u180e",
    "bidi_control": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    "soft_hyphen": "\u00ad",
    "filler": "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0",
    "format": "\u206a\u206f\ufff9\ufffa\ufffb\U0001d173",
    "control": "\x00\x01\x08\x1f\x7f\x80\x9f",
    "noncharacter": "\ufdd0\uffff",
}
SUSPECT = "".join(HIDDEN.values()) + "\x1b[]m\r\n\x85\u2028\ue000\ud800"
TEXT = st.text(st.sampled_from(SUSPECT + "a1#م\u05d0क\u094d😀❤🏴\U0001f3fd\u20e3 ;"), max_size=40)


@each_case("name", PLAIN)
def test_visible_text_stays_as_it_is(name):
    cleaned = clean(PLAIN[name])
    assert cleaned.text == PLAIN[name]
    assert cleaned.removed == {}


@each_case("kind", HIDDEN)
def test_hidden_characters_go_and_are_counted(kind):
    cleaned = clean(f"before{HIDDEN[kind]}after")
    assert cleaned.text == "beforeafter"
    assert cleaned.removed == {kind: len(HIDDEN[kind])}


@each_case("kind", HIDDEN)
def test_hidden_characters_go_between_emoji_too(kind):
    hidden = HIDDEN[kind].replace("\ufe0f", "").replace("\u200d", "")
    assert clean(f"😀{hidden}😀").text == "😀😀"


def test_smuggling_behind_a_flag_is_not_taken_for_a_flag():
    smuggled = "".join(chr(0xE0000 + ord(c)) for c in "send it") + "\U000e007f"
    assert clean(f"🏴{smuggled}").text == "🏴"


def test_a_second_variation_selector_goes():
    assert clean("❤\ufe0f\ufe0f\ufe0f").text == "❤\ufe0f"


def test_terminal_sequences_go_as_a_whole():
    cleaned = clean("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x9b2Jend")
    assert cleaned.text == "red link end"
    assert cleaned.removed == {"escape": 5}


def test_odd_line_ends_become_line_feeds():
    cleaned = clean("a\rb\x0cc\x85d\u2028e\u2029f\r\ng")
    assert cleaned.text == "a\nb\nc\nd\ne\nf\r\ng"
    assert cleaned.removed == {"line_separator": 5}


def test_private_use_stays_and_is_flagged():
    cleaned = clean("a\ue000\ue001b\U000f0000")
    assert cleaned.text == "a\ue000\ue001b\U000f0000"
    assert cleaned.removed == {}
    assert cleaned.flagged == {"private_use": 3}


def test_lone_surrogates_become_replacement_characters():
    cleaned = clean("a\ud800b")
    assert cleaned.text == "a\ufffdb"
    assert cleaned.text.encode() == "a\ufffdb".encode()


@given(TEXT)
def test_cleaning_twice_changes_nothing_more(text):
    once = clean(text).text
    assert clean(once).text == once
    assert clean(once).removed == {}


@given(TEXT)
def test_nothing_invisible_is_left_in_latin_text(text):
    left = clean(re.sub("[^a1 ;\n]", lambda m: m.group() if m.group() in SUSPECT else "", text))
    odd = [
        c for c in left.text if unicodedata.category(c) in ("Cf", "Cc", "Cs") and c not in "\r\n"
    ]
    assert odd == []


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.just("\n")))
def test_printable_ascii_is_untouched(text):
    assert clean(text).text == text


def test_large_hostile_text_is_cleaned_in_one_go():
    text = ("word\u200b" * 100_000) + "\x1b]" * 50_000 + "\x1b[" * 50_000 + "👩\u200d" * 50_000
    assert clean(text).removed["zero_width"] == 100_001


@each_case(
    ("value", "limit", "wanted"),
    [
        ("  a\n\tb\u200b c ", 0, "a b c"),
        ("abc def", 4, "abc"),
        ("a\u200bb" * 9, 5, "ababa"),
        (None, 5, ""),
        (3, 0, ""),
        (["a"], 0, ""),
    ],
)
def test_one_line(value, limit, wanted):
    assert one_line(value, limit) == wanted


@each_case("around", ["plain words, ", "Größe und naïve ", "人人生而自由，", "می\u200cخواهم "])
@each_case("odd", ["\x00", "\x1b[31m", "\u202e", "\ud800", "\U000e0041", "\u200b", "x"])
def test_a_long_text_is_cleaned_like_a_short_one(around: str, odd: str) -> None:
    short = clean(f"{around}{odd}a")
    long = clean(f"{around * 100}{odd}a")
    assert long.removed == short.removed
    assert long.text == around * 99 + short.text
